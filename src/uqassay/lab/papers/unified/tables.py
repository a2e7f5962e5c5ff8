"""Tables 1, 2 and 4 to 8 for predictors trained here, in both conventions with the printed rows, and the paper's findings."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.lab.papers.paper_tables import PrintedCell, printed_table
from uqassay.lab.papers.unified.judging import VERTICES, FourClasses, JudgedDataSet
from uqassay.lab.papers.unified.printed import LAYOUTS, RANKINGS, TERMS, PrintedData, printed
from uqassay.statistics import PairedComparison, holm, paired_mean_test
from uqassay.text import ABSENT, count, counted, listed, number, percent, significant, text_table

if TYPE_CHECKING:
    from uqassay.evidence import Assay

__all__ = [
    "LINE",
    "PARTS",
    "TRADEOFFS",
    "Value",
    "ablation_cells",
    "ablation_lines",
    "claim_lines",
    "grouped_orders",
    "interval_text",
    "means_by_part",
    "ranked_means",
    "table_cells",
    "table_lines",
    "three",
    "vertex_notes",
]

TRADEOFFS = tuple(round(0.1 * i, 1) for i in range(1, 11))
PARTS = {"correct": "correct", "wrong": "incorrect"}
METRICS = {
    "accuracy": "accuracy_percent",
    "ece": "ece",
    "kl": "kl",
    "js": "js",
    "js-distance": "js",
    "nonspecificity": "ns",
    "unified": "e",
}
OF_ACCURACY = {"accuracy", "ece"}
LEAST = 1e-9  # smaller values are rounding error
LINE = {"exact": "exact", "paper": "paper's convention"}


class Value(NamedTuple):
    """A mean with its interval; the ends are nan without an interval."""

    mean: float
    low: float
    high: float


Means = dict[tuple[Any, ...], Value]


# ---- rows ------------------------------------------------------------------------------------------------------------


def table_cells(
    dataset: str, assays: "Mapping[str, Assay]", ranked: "Mapping[str, Assay]", beside: PrintedData
) -> list[PrintedCell]:
    """One row for each cell of the four tables and each convention.

    Parameters
    ----------
    assays, ranked : dict of str to Assay
        By convention: all models, and the models of Tables 2 and 8; with a subgroup "all" of all instances.
    """
    cells = []
    for convention, found in assays.items():
        place = _RowPlace(dataset, convention, beside)
        whole, parts = means_by_part(found, "all"), means_by_part(found, "correct", terms=True)
        six = ranked[convention]
        for (model, _, metric), value in whole.items():
            if metric in METRICS.values():
                cells.append(place.cell("table1", f"{model}/{metric}", value))
        for tradeoff in TRADEOFFS if six.candidates else ():
            order = [r.model for r in six.ranked(tradeoff) if r.rank is not None]
            for rank, model in enumerate(order, start=1):
                where, value = f"lambda={tradeoff}/{model}/rank", Value(rank, math.nan, math.nan)
                cells.append(place.cell("table2", where, value))
        for (model, part, metric), value in parts.items():
            if part in PARTS and metric in TERMS:
                quantity = f"{metric}_{PARTS[part]}"
                cells.append(place.cell("table7", f"{model}/{quantity}", value))
        for tradeoff in TRADEOFFS:
            for m in six.models:
                value = whole[m.name, "0", f"e@{tradeoff}"]
                cells.append(place.cell("table8", f"lambda={tradeoff}/{m.name}/e", value))
    return sorted(cells, key=lambda cell: cell.name.split("/")[0])  # stable: within a table as built


class _RowPlace(NamedTuple):
    """Data set and convention of rows, and the printed data set."""

    dataset: str
    convention: str
    beside: PrintedData

    def cell(self, table: str, place: str, value: Value) -> PrintedCell:
        """The row of a value, with the printed value."""
        context = self.beside.name
        paper, *others = (printed(table, name, place) for name in (context, *_others(context)))
        name = f"{table}/{self.dataset}/{self.convention}/{place}"
        if self.beside.compared and self.convention == "paper" and not math.isnan(value.low):
            cell = PrintedCell.within(name, paper, *value)
            return replace(cell, note=self.beside.differences) if cell.agrees is False else cell
        note = "" if math.isnan(paper) else _context_note(self.beside, paper, others)
        return PrintedCell(name, paper, *value, None, note)


def means_by_part(found: "Assay", by: str, *, terms: bool = False) -> Means:
    """Means by (model, part, quantity): accuracy_percent, ece, kl or js, ns, e (λ = 1) and e@λ.

    Parameters
    ----------
    by : str
        As in `Assay.rows`.
    terms : bool
        Without accuracy_percent and ece, whose interval takes longer than all others together.
    """
    values: Means = {}
    metrics = METRICS.keys() - OF_ACCURACY if terms else METRICS
    for row in found.rows("subsets", by=by, ranking=False, metrics=metrics):
        key = row["model"], row["subset"]
        value = Value(row["estimate"], row["low"], row["high"])
        if row["metric"] == "unified":
            values[*key, f"e@{row['tradeoff']:g}".replace("@1", "@1.0")] = value
        elif row["metric"] == "accuracy":
            values[*key, "accuracy_percent"] = Value(*(100 * x for x in value))
        elif row["metric"] in METRICS:
            values[*key, METRICS[row["metric"]]] = value
        if row["metric"] == "unified" and row["tradeoff"] == 1.0:
            values[*key, "e"] = value
    return values


def _others(context: str) -> tuple[str, ...]:
    return tuple(name for name in ("CIFAR-10", "MNIST") if name != context)


def _context_note(beside: PrintedData, paper: float, others: Sequence[float]) -> str:
    also = [f"{x:g} for {name}" for name, x in zip(_others(beside.name), others, strict=True) if not math.isnan(x)]
    more = f"; it prints {listed(also)}" if also else ""
    return f"context only: the paper's {paper:g} is of {beside.name}, {beside.relation}{more}"


# ---- text ------------------------------------------------------------------------------------------------------------


def table_lines(
    dataset: str, assays: "Mapping[str, Assay]", ranked: "Mapping[str, Assay]", beside: PrintedData
) -> list[str]:
    """The four tables of one data set as text.

    Parameters
    ----------
    dataset, assays, ranked, beside
        As in `table_cells`.
    """
    shown = (beside.name, *_others(beside.name))
    first = next(iter(assays.values()))
    whole = {convention: means_by_part(found, "all") for convention, found in assays.items()}
    parts = {convention: means_by_part(found, "correct", terms=True) for convention, found in assays.items()}
    columns = ("accuracy_percent", "ece", *TERMS)
    lines = [f"Table 1, {dataset} (λ = 1; mean [95 % interval]; printed rows are of the data sets that they name):"]
    body: list[list[str]] = []
    for m in first.models:
        body += _block(m.name, {c: [whole[c].get((m.name, "0", q)) for q in columns] for c in whole})
        body += _printed_rows("table1", shown, [f"{m.name}/{q}" for q in columns])
    lines += text_table(("model", "accuracy %", "ECE", *TERMS.values()), body)
    if next(iter(ranked.values())).candidates:
        lines += ["", *_ranking_lines(dataset, ranked, shown)]
    lines += ["", f"Table 7, {dataset}: correct and incorrect predictions apart:"]
    keys = [f"{quantity}_{part}" for quantity in TERMS for part in PARTS.values()]
    body = []
    for m in first.candidates:
        values = {c: [parts[c].get((m.name, part, quantity)) for quantity in TERMS for part in PARTS] for c in parts}
        body += _block(m.name, values)
        body += _printed_rows("table7", shown, [f"{m.name}/{key}" for key in keys])
    lines += text_table(("model", *(f"{name} {part}" for name in TERMS.values() for part in PARTS.values())), body)
    lines += ["", f"Table 8, {dataset}: mean E against λ:"]
    body = []
    for m in next(iter(ranked.values())).models:
        for c in ranked:
            at = [whole[c][m.name, "0", f"e@{t}"].mean for t in TRADEOFFS]
            body.append([f"{m.name}, {LINE[c]}", *map(three, at)])
        body += _printed_rows("table8", shown, [f"lambda={t}/{m.name}/e" for t in TRADEOFFS])
    return [*lines, *text_table(("λ", *(f"{t:.1f}" for t in TRADEOFFS)), body)]


def _block(model: str, values: Mapping[str, Sequence[Value | None]]) -> Iterator[list[str]]:
    """One line for each convention."""
    for convention, found in values.items():
        yield [f"{model}, {LINE[convention]}", *(interval_text(value) for value in found)]


def _printed_rows(table: str, datasets: Sequence[str], places: Sequence[str]) -> list[list[str]]:
    """One line for each data set of which the table prints any of these cells."""
    found = [(name, [printed(table, name, place) for place in places]) for name in datasets]
    return [[f"  printed, {name}", *map(three, values)] for name, values in found if not all(map(math.isnan, values))]


def _ranking_lines(dataset: str, ranked: "Mapping[str, Assay]", shown: Sequence[str]) -> list[str]:
    """The order of the models at each λ; neighbouring λ with the same order share a line."""
    lines = [f"Table 2, {dataset}: models that state sets by mean E, best first (baselines in brackets):"]
    for convention, found in ranked.items():
        lines.append(f"  {LINE[convention]}")
        orders = [
            (t, ", ".join(r.model if r.rank is not None else f"[{r.model}]" for r in found.ranked(t)))
            for t in TRADEOFFS
        ]
        lines += grouped_orders(orders)
        winners = [f"{_reach(low, high)} {' = '.join(names)}" for low, high, names in found.winners()]
        lines.append(f"    exactly, lowest mean E: {'; '.join(winners)}")
        shares = found.win_shares([0.1, 0.5, 1.0])
        for t, row in zip((0.1, 0.5, 1.0), shares.tolist(), strict=True):
            sure = sorted(zip(row, found.model_names, strict=True), reverse=True)
            wins = ", ".join(f"{name} {percent(p, 0)}" for p, name in sure if p >= 0.005)
            lines.append(f"    λ = {t}: of the bootstrap draws win {wins}")
    for name in shown:
        layout = LAYOUTS[RANKINGS[name]]
        lines.append(f"  printed, {name} ({layout.title.partition(':')[0]})")
        rows = printed_table(layout.source)
        orders = [
            (float(t), ", ".join(row["model"] for row in sorted(group, key=lambda row: int(row["rank"]))))
            for t, group in groupby(rows, key=lambda row: row["tradeoff"])
        ]
        lines += grouped_orders(orders)
    return lines


def grouped_orders(orders: Sequence[tuple[float, str]]) -> Iterator[str]:
    """One line for each run of neighbouring λ with the same order."""
    for order, group in groupby(orders, key=lambda pair: pair[1]):
        tradeoffs = [t for t, _ in group]
        reach = f"λ = {tradeoffs[0]:.1f}" + (f" to {tradeoffs[-1]:.1f}" if len(tradeoffs) > 1 else "")
        yield f"    {reach.ljust(14)} {order}"


def _reach(low: float, high: float) -> str:
    if math.isinf(high):
        return "all λ" if low == 0 else f"λ > {low:.3g}"
    return f"λ < {high:.3g}" if low == 0 else f"λ from {low:.3g} to {high:.3g}"


def interval_text(value: Value | None) -> str:
    """A mean with its interval as text."""
    if value is None or math.isnan(value.mean):
        return ABSENT
    if math.isnan(value.low):
        return three(value.mean)
    return f"{three(value.mean)} [{three(value.low)}, {three(value.high)}]"


def three(x: float) -> str:
    """Three decimals as the paper prints, two from ten on as in its percentages, one digit of what is very small."""
    if math.isnan(x):
        return ABSENT
    if LEAST < abs(x) < 0.0005:
        return f"{x:.0e}".replace("e-0", "e-")
    return number(x, 2 if abs(x) >= 9.5 else 3)


# Tables 4, 5 and 6 for predictors trained here: other vertices, JS in place of KL, credal uncertainty for NS.

Ranking = dict[float, list[tuple[str, Value]]]  # models with their mean E, by λ


NONE = Value(math.nan, math.nan, math.nan)
CIFAR_10 = "CIFAR-10"  # the only printed data set of these tables
SHOWN = (0.1, 0.5, 1.0)  # λ in the text; the rows have all ten
ROUNDING = 1e-9
COLUMNS = {"table5": ("KL", "JS"), "table6": ("NS", "CU")}
MEANING = {
    "JS": {"exact": "JS divergence", "paper": "square root of the JS divergence"},
    "CU": {"exact": "credal uncertainty over the box, nats", "paper": "credal uncertainty of the authors' code, bits"},
}


def ablation_cells(judged: JudgedDataSet, beside: PrintedData) -> list[PrintedCell]:
    """One row for each cell of Tables 4, 5 and 6 and each convention.

    Parameters
    ----------
    beside : PrintedData
        As of the other tables; where it is not CIFAR-10, the values of CIFAR-10 are context.

    Returns
    -------
    list of PrintedCell
        ``table4/<data set>/<convention>/<model>/<vertices>/<part>/<term>``, ``table5/…/<KL or JS>/lambda=…/<model>/<rank or
        e>`` and ``table6/…/<NS or CU>/…``. Table 4 is never compared, because the paper does not name its four classes.
    """
    context = beside if beside.name == CIFAR_10 else PrintedData(CIFAR_10)
    cells = []
    if judged.four_classes is not None:
        cells += list(_vertex_cells(judged.dataset, judged.four_classes, context._replace(compared=False)))
    for table in COLUMNS:
        for convention in judged.assays:
            place = _RowPlace(judged.dataset, convention, context)
            for column, by_tradeoff in _rankings(judged, table, convention).items():
                cells += list(_ranking_cells(place, table, column, by_tradeoff))
    return cells


def ranked_means(found: "Assay", undefined: Iterable[str] = ()) -> Ranking:
    """Models of an assay, without baselines, by their mean E at each λ, least first; then those without, with nan."""
    means = means_by_part(found, "all", terms=True)
    by_tradeoff = {}
    for tradeoff in TRADEOFFS:
        at = [(name, means[name, "0", f"e@{tradeoff}"]) for name in found.model_names]
        by_tradeoff[tradeoff] = sorted(at, key=lambda pair: pair[1].mean) + [(name, NONE) for name in undefined]
    return by_tradeoff


# ---- rows ------------------------------------------------------------------------------------------------------------


def _variants(judged: JudgedDataSet, table: str, convention: str) -> "dict[str, Assay]":
    """The assays of both columns of Table 5 or 6."""
    other = judged.jensen_shannon if table == "table5" else judged.credal_uncertainty
    first, second = COLUMNS[table]
    return {first: judged.assays[convention], second: other[convention]}


def _rankings(judged: JudgedDataSet, table: str, convention: str) -> dict[str, Ranking]:
    """Models by mean E, for both columns of Table 5 or 6."""
    without = judged.undefined.get(convention, {})
    variants = _variants(judged, table, convention)
    return {column: ranked_means(found, without if column == "CU" else ()) for column, found in variants.items()}


def _ranking_cells(place: _RowPlace, table: str, column: str, by_tradeoff: Ranking) -> Iterator[PrintedCell]:
    for tradeoff, order in by_tradeoff.items():
        for rank, (model, value) in enumerate(order, start=1):
            where = f"{column}/lambda={tradeoff}/{model}"
            known = math.nan if math.isnan(value.mean) else float(rank)
            yield place.cell(table, f"{where}/rank", Value(known, math.nan, math.nan))
            yield place.cell(table, f"{where}/e", value)


def _vertex_cells(dataset: str, four: FourClasses, context: PrintedData) -> Iterator[PrintedCell]:
    for convention, by_choice in four.assays.items():
        place = _RowPlace(dataset, convention, context)
        for choice, found in by_choice.items():
            for (model, part, term), value in means_by_part(found, "correct", terms=True).items():
                if part in PARTS and term in TERMS:
                    yield place.cell("table4", f"{model}/{choice}/{PARTS[part]}/{term}", value)


# ---- text ------------------------------------------------------------------------------------------------------------


def ablation_lines(judged: JudgedDataSet) -> list[str]:
    """Tables 4, 5 and 6 of one data set as text."""
    lines = [] if judged.four_classes is None else [*_vertex_lines(judged, judged.four_classes), ""]
    lines += [f"Table 5, {judged.dataset}: models by mean E with KL and with JS (λ = 0.1, 0.5 and 1 of ten):"]
    lines += _variant_lines(judged, "table5")
    lines += ["", f"Table 6, {judged.dataset}: models by mean E with NS and with credal uncertainty (CU):"]
    return [*lines, *_variant_lines(judged, "table6"), *_undefined(judged)]


def vertex_notes(judged: JudgedDataSet) -> list[str]:
    """A note on the classes of Table 4, which the paper does not name."""
    if judged.four_classes is None:
        return []
    names = listed([judged.class_names[c] for c in judged.four_classes.classes])
    return [
        f"{judged.dataset}: Table 4 is of the test instances of the classes {names}, and every member or draw is conditioned "
        "on these classes; which four the paper takes, and how, it does not say"
    ]


def _variant_lines(judged: JudgedDataSet, table: str) -> list[str]:
    lines = []
    for convention in judged.assays:
        for column, by_tradeoff in _rankings(judged, table, convention).items():
            meaning = MEANING.get(column, {}).get(convention, column)
            lines.append(f"  {LINE[convention]}, {meaning}")
            lines += [_order(t, [(name, value.mean) for name, value in by_tradeoff[t]]) for t in SHOWN]
            if column == "JS":
                lines.append(_scale_line(judged.assays[convention], judged.jensen_shannon[convention]))
    for column in COLUMNS[table]:
        lines.append(f"  printed, {CIFAR_10}, {column}")
        lines += [_order(t, _printed_order(judged, table, column, t)) for t in SHOWN]
    return lines


def _order(tradeoff: float, order: Sequence[tuple[str, float]]) -> str:
    return f"    λ = {tradeoff:.1f}  {', '.join(f'{name} {three(mean)}' for name, mean in order)}"


def _printed_order(judged: JudgedDataSet, table: str, column: str, tradeoff: float) -> list[tuple[str, float]]:
    places = {name: f"{column}/lambda={tradeoff}/{name}" for name in judged.assays["exact"].model_names}
    found = sorted((printed(table, CIFAR_10, f"{place}/rank"), name) for name, place in places.items())
    return [(name, printed(table, CIFAR_10, f"{places[name]}/e")) for rank, name in found if not math.isnan(rank)]


def _scale_line(kl: "Assay", js: "Assay") -> str:
    """The λ of JS that corresponds to one of KL by the greatest values (App. F.1)."""
    greatest = [max(float(m.columns["distance"].max()) for m in found.candidates) for found in (js, kl)]
    if greatest[1] == 0:
        return "    every KL is 0, so that no scale of λ follows"
    return f"    on the scale of KL, λ of JS is λ · {significant(greatest[0] / greatest[1])}, the ratio of the greatest values"


def _undefined(judged: JudgedDataSet) -> list[str]:
    """Models whose credal uncertainty is undefined in some instances."""
    return [
        f"  {LINE[convention]}: CU is undefined where all lower probabilities are 0, so no mean is given for "
        f"{listed([f'{name} ({count(n)})' for name, n in missing.items()])}"
        for convention, missing in judged.undefined.items()
        if missing
    ]


def _vertex_lines(judged: JudgedDataSet, four: FourClasses) -> list[str]:
    first = four.assays["exact"]["naive"]
    names = listed([judged.class_names[c] for c in four.classes])
    n = counted(first.n_instances, "test instance")
    lines = [f"Table 4, {judged.dataset}, classes {names}, {n}: KL to the nearest of 8 and of all 24 vertices:"]
    keys = [(term, part) for term in TERMS for part in PARTS]
    means = {
        (convention, choice): means_by_part(found, "correct", terms=True)
        for convention, by_choice in four.assays.items()
        for choice, found in by_choice.items()
    }
    body: list[list[str]] = []
    for model in first.model_names:
        for convention in four.assays:
            for choice in VERTICES:
                of_choice = means[convention, choice]
                cells = [interval_text(of_choice.get((model, part, term))) for term, part in keys]
                body.append([f"{model}, {choice}, {LINE[convention]}", *cells])
        for choice in VERTICES:
            places = [f"{model}/{choice}/{PARTS[part]}/{term}" for term, part in keys]
            for row in _printed_rows("table4", (CIFAR_10,), places):
                body.append([f"{row[0]}, {choice}", *row[1:]])
    lines += text_table(("model", *(f"{TERMS[term]} {PARTS[part]}" for term, part in keys)), body)
    return [*lines, *_vertex_findings(four)]


def _vertex_findings(four: FourClasses) -> list[str]:
    """What the two choices of vertices share."""
    gaps = [f"{LINE[convention]}, {_greatest_gap(by_choice)}" for convention, by_choice in four.assays.items()]
    lines = [
        "  NS is a sum over masses and knows no vertices. No vertex gives the label more than its upper probability,",
        f"  and one of the 8 gives as much, so that KL is the same too ({'; '.join(gaps)})",
    ]
    if four.left_out:
        one = counted(four.left_out, "instance")
        lines.append(f"  left out: {one} where some member gives these classes no probability")
    return lines


def _greatest_gap(by_choice: "Mapping[str, Assay]") -> str:
    gaps = [
        np.abs(m.columns["distance"] - by_choice["naive"][m.name].columns["distance"]).max()
        for m in by_choice["approximated"].candidates
    ]
    return f"greatest difference {significant(max(gaps))}" if max(gaps) > ROUNDING else "no difference beyond rounding"


# The paper's qualitative findings, tested on predictors trained here: each with the paired intervals that decide it.

ALPHA = 0.05
Verdict = Literal["holds", "does not hold", "open"]


def claim_lines(
    dataset: str,
    assays: "Mapping[str, Assay]",
    ranked: "Mapping[str, Assay]",
    members: "Mapping[str, Mapping[str, Mapping[int, Assay]]]",
) -> list[str]:
    """One sentence for each finding of the paper and convention.

    Parameters
    ----------
    assays, ranked : dict of str to Assay
        As in `table_cells`.
    members : dict of str to dict of str to dict of int to Assay
        By convention, model and number of members (Figure 13).

    Notes
    -----
    A finding that orders two means holds if the paired 95 % interval of their difference lies on its side of 0, does not hold
    if it lies on the other side, and is open if it contains 0; several comparisons are adjusted by Holm.
    """
    lines = [
        f"Findings of the paper, on {dataset} (paired tests over instances and runs, Holm at 5 %; intervals are not adjusted):"
    ]
    for convention, found in ranked.items():
        lines.append(f"  {LINE[convention]}")
        claims = [
            _first(found, "DE", 0.1),
            _first(found, "RS-NN", 1.0),
            _extreme(found, ("RS-NN",), least=True),
            _extreme(found, ("EDL", "E-CNN"), least=False),
            _correct_below(assays[convention], "kl", "KL"),
            _correct_below(found, "ns", "NS"),
            *(_grows(name, by_size) for name, by_size in members[convention].items()),
        ]
        lines += [f"    {claim}" for claim in claims if claim]
    return lines


# ---- findings --------------------------------------------------------------------------------------------------------


def _first(found: "Assay", model: str, tradeoff: float) -> str:
    """Whether a model has the lowest mean E of those that state sets."""
    if model not in found.model_names or len(found.model_names) < 2:
        return ""
    others = [name for name in found.model_names if name != model]
    tests = [found.compare(model, other, tradeoff=tradeoff).alone for other in others]
    place = next(r.rank for r in found.ranked(tradeoff) if r.model == model)
    rival = min(range(len(others)), key=lambda j: found.loss(others[j], tradeoff).mean())
    verdict = _verdict(tests, lower=True)
    return (
        f"{model} has the lowest E at λ = {tradeoff:g}: {verdict}; place {place} of {len(found.model_names)}, "
        f"E minus that of {others[rival]} {_words(tests[rival])}"
    )


def _extreme(found: "Assay", chosen: Sequence[str], *, least: bool) -> str:
    """Whether some models have lower, or greater, mean NS than all others."""
    others = [name for name in found.model_names if name not in chosen]
    if not others or any(name not in found for name in chosen):
        return ""
    pairs = [(a, b) for a in chosen for b in others]
    tests = [_of_columns(found, a, b) for a, b in pairs]
    # the comparison that tells least in favour of the finding
    nearest = max(range(len(tests)), key=lambda i: float(tests[i].difference) * (1 if least else -1))
    a, b = pairs[nearest]
    what = "the least NS" if least else "greater NS than all others"
    return (
        f"{' and '.join(chosen)} {'has' if len(chosen) == 1 else 'have'} {what}: {_verdict(tests, lower=least)}; "
        f"nearest to the contrary, NS of {a} minus that of {b} {_words(tests[nearest])}"
    )


def _correct_below(found: "Assay", quantity: str, name: str) -> str:
    """In how many models a quantity is lower where the prediction is correct; intervals of the two parts, not paired."""
    means = means_by_part(found, "correct", terms=True)
    below, above, unclear = [], [], []
    for model in found.model_names:
        right, wrong = (means.get((model, part, quantity)) for part in ("correct", "wrong"))
        if right is None or wrong is None or (quantity == "ns" and right.mean == wrong.mean == 0):
            continue
        if right.high < wrong.low:
            below.append(model)
        elif wrong.high < right.low:
            above.append(model)
        else:
            unclear.append(model)
    total = len(below) + len(above) + len(unclear)
    if total == 0:
        return ""
    verdict: Verdict = "does not hold" if above else "open" if unclear else "holds"
    rest = [f"contrary {', '.join(above)}"] * bool(above) + [f"open {', '.join(unclear)}"] * bool(unclear)
    tail = f" ({'; '.join(rest)})" if rest else ""
    return (
        f"{name} is lower for correct than for incorrect predictions: {verdict}; the intervals lie apart in "
        f"{len(below)} of {total} models{tail}"
    )


def _grows(model: str, by_size: "Mapping[int, Assay]") -> str:
    """Whether mean E at λ = 1 grows with the number of members or draws (Figure 13)."""
    if len(by_size) < 2:
        return ""
    few, many = min(by_size), max(by_size)
    test = paired_mean_test(_one_run(by_size[many].loss(model, 1.0)), _one_run(by_size[few].loss(model, 1.0)))
    verdict = _verdict([test], lower=False)
    return f"E of {model} at λ = 1 grows with its members: {verdict}; with {many} minus with {few} {_words(test)}"


# ---- tests -----------------------------------------------------------------------------------------------------------


def _of_columns(found: "Assay", a: str, b: str) -> PairedComparison:
    """Paired test of the mean NS of two models."""
    one, other = (_one_run(found[name].columns["nonspecificity"]) for name in (a, b))
    return paired_mean_test(one, other, groups=found.groups, level=found.settings.level)


def _verdict(tests: Sequence[PairedComparison], *, lower: bool) -> Verdict:
    """Whether all differences are significantly below 0, or above; or one is significantly on the other side."""
    adjusted = holm([test.pvalue for test in tests]).tolist()
    signs = [float(test.difference) * (1 if lower else -1) for test in tests]
    if any(sign > 0 and p <= ALPHA for sign, p in zip(signs, adjusted, strict=True)):
        return "does not hold"
    return "holds" if all(s < 0 and p <= ALPHA for s, p in zip(signs, adjusted, strict=True)) else "open"


def _words(test: PairedComparison) -> str:
    d = test.difference
    return f"{float(d):+.4f} [{d.low:+.4f}, {d.high:+.4f}]"


def _one_run(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values ``(R, n)`` of a single run as ``(n,)``, for which no spread between runs is claimed."""
    return values if len(values) > 1 else values[0]
