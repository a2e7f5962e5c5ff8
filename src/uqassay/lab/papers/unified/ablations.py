"""Tables 4, 5 and 6 of paper 000, and its qualitative findings, for predictors trained here."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from uqassay.lab.papers.printed_cells import PrintedCell
from uqassay.lab.papers.unified.judging import VERTICES, FourClasses, JudgedDataSet
from uqassay.lab.papers.unified.tables import (
    LINE,
    PARTS,
    TRADEOFFS,
    PrintedData,
    RowPlace,
    Value,
    interval_text,
    means_by_part,
    printed,
    printed_rows,
    three,
)
from uqassay.statistics import PairedComparison, holm, paired_mean_test
from uqassay.text import count, counted, listed, significant, text_table

if TYPE_CHECKING:
    from uqassay.evidence import Assay

__all__ = [
    "ablation_cells",
    "ablation_lines",
    "claim_lines",
    "ranked_means",
    "vertex_notes",
]


# Tables 4, 5 and 6 of paper 000 for predictors trained here: other vertices, JS in place of KL, credal uncertainty for
# NS.

Ranking = dict[float, list[tuple[str, Value]]]  # models with their mean E, by λ


NONE = Value(math.nan, math.nan, math.nan)
CIFAR_10 = "CIFAR-10"  # the only printed data set of these tables
TERMS = {"kl": "KL", "ns": "NS", "e": "E"}
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
            place = RowPlace(judged.dataset, convention, context)
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


def _ranking_cells(place: RowPlace, table: str, column: str, by_tradeoff: Ranking) -> Iterator[PrintedCell]:
    for tradeoff, order in by_tradeoff.items():
        for rank, (model, value) in enumerate(order, start=1):
            where, key = f"{column}/lambda={tradeoff}/{model}", f"{column}/{tradeoff}"
            known = math.nan if math.isnan(value.mean) else float(rank)
            yield place.cell(table, f"{where}/rank", (model, f"{key}/rank"), Value(known, math.nan, math.nan))
            yield place.cell(table, f"{where}/e", (model, f"{key}/e"), value)


def _vertex_cells(dataset: str, four: FourClasses, context: PrintedData) -> Iterator[PrintedCell]:
    for convention, by_choice in four.assays.items():
        place = RowPlace(dataset, convention, context)
        for choice, found in by_choice.items():
            for (model, part, term), value in means_by_part(found, "correct", terms=True).items():
                if part in PARTS and term in TERMS:
                    where = f"{model}/{choice}/{PARTS[part]}/{term}"
                    yield place.cell("table4", where, (f"{model}/{choice}", f"{term}_{PARTS[part]}"), value)


# ---- text ------------------------------------------------------------------------------------------------------------


def ablation_lines(judged: JudgedDataSet) -> list[str]:
    """Tables 4, 5 and 6 of one data set as text."""
    lines = [] if judged.four_classes is None else [*_vertex_lines(judged, judged.four_classes), ""]
    lines += [f"Table 5, {judged.dataset}: models by mean E with KL and with JS (λ = 0.1, 0.5 and 1 of ten):"]
    lines += _ranking_lines(judged, "table5")
    lines += ["", f"Table 6, {judged.dataset}: models by mean E with NS and with credal uncertainty (CU):"]
    return [*lines, *_ranking_lines(judged, "table6"), *_undefined(judged)]


def vertex_notes(judged: JudgedDataSet) -> list[str]:
    """A note on the classes of Table 4, which the paper does not name."""
    if judged.four_classes is None:
        return []
    names = listed([judged.class_names[c] for c in judged.four_classes.classes])
    return [
        f"{judged.dataset}: Table 4 is of the test instances of the classes {names}, and every member or draw is conditioned "
        "on these classes; which four the paper takes, and how, it does not say"
    ]


def _ranking_lines(judged: JudgedDataSet, table: str) -> list[str]:
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
    key = f"{column}/{tradeoff}"
    names = judged.assays["exact"].model_names
    found = [(printed(table, CIFAR_10, name, f"{key}/rank"), name) for name in names]
    return [(name, printed(table, CIFAR_10, name, f"{key}/e")) for rank, name in sorted(found) if not math.isnan(rank)]


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
            for row in printed_rows(
                (CIFAR_10,),
                lambda name, key, m=model, c=choice: printed("table4", name, f"{m}/{c}", key),
                [f"{term}_{PARTS[part]}" for term, part in keys],
            ):
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
    tests = [found.compare(model, other, tradeoff=tradeoff) for other in others]
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
