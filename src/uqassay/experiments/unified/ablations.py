"""Tables 4, 5 and 6 of paper 000 for predictors trained here: other vertices, JS in place of KL, credal uncertainty for NS."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.experiments.reproduction import PrintedCell
from uqassay.experiments.unified.four_classes import VERTICES, FourClasses
from uqassay.experiments.unified.judging import JudgedDataSet
from uqassay.experiments.unified.tables import (
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
from uqassay.wording import count, counted, listed, significant, text_table

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

Ranking = dict[float, list[tuple[str, Value]]]  # models with their mean E, by λ

__all__ = ["ablation_cells", "ablation_lines", "ranked_means", "vertex_notes"]

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
    judged : JudgedDataSet
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
    """Tables 4, 5 and 6 of one data set as text.

    Parameters
    ----------
    judged : JudgedDataSet
    """
    lines = [] if judged.four_classes is None else [*_vertex_lines(judged, judged.four_classes), ""]
    lines += [f"Table 5, {judged.dataset}: models by mean E with KL and with JS (λ = 0.1, 0.5 and 1 of ten):"]
    lines += _ranking_lines(judged, "table5")
    lines += ["", f"Table 6, {judged.dataset}: models by mean E with NS and with credal uncertainty (CU):"]
    return [*lines, *_ranking_lines(judged, "table6"), *_undefined(judged)]


def vertex_notes(judged: JudgedDataSet) -> list[str]:
    """A note on the classes of Table 4, which the paper does not name.

    Parameters
    ----------
    judged : JudgedDataSet
    """
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
