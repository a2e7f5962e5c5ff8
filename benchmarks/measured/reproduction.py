"""The papers again: printed numbers, ours with an interval, and why they differ."""

from collections import Counter

from benchmarks.measured.registry import measured
from benchmarks.stored_tables import Table
from uqassay.lab import papers
from uqassay.lab.papers import PrintedCell, Reproduction
from uqassay.text import ABSENT, count, interval, number

COLUMNS = ("where", "printed", "ours (interval)", "why they differ")
ESTIMATES = ("misclassification", "misalignment")


def _ours(cell: PrintedCell, decimals: int) -> str:
    span = interval(cell.low, cell.high, decimals)
    value = number(cell.ours, decimals)
    return span if value == ABSENT else f"{value} ({span})"


def _where(cell: PrintedCell) -> str:
    table, *place = cell.name.split("/")
    return f"Table {table.removeprefix('table')}, {', '.join(place).replace('lambda=', 'λ = ')}"


def _misprints(result: Reproduction, decimals: int, *, without: tuple[str, ...] = ()) -> list[list[str]]:
    """A row for each cell that disagrees."""
    return [
        [_where(cell), number(cell.paper, decimals), _ours(cell, decimals), cell.note]
        for cell in result.misprints
        if not cell.name.startswith(without)
    ]


@measured("unified-misprints", page="")
def unified_misprints(size: int = 0) -> Table:
    """Cells of the unified evaluation that its own numbers contradict; those of Table 7 are counted."""
    result = papers.reproduce("unified-tables")
    parts = [cell for cell in result.misprints if cell.name.startswith("table7")]
    models = Counter(tuple(cell.name.split("/")[1:3]) for cell in parts)
    named: dict[str, list[str]] = {}
    for dataset, model in models:
        named.setdefault(dataset, []).append(model)
    places = "; ".join(f"{dataset}: {', '.join(some)}" for dataset, some in named.items())
    why = "correct and incorrect parts do not recombine to the whole of Table 1 at the printed accuracy"
    lines = [cell for cell in result.misprints if cell.name.startswith("table5")]
    rows = _misprints(result, 3, without=("table5", "table7"))
    rows.append(
        [
            f"Table 5, JS, λ = 1.0, {', '.join(cell.name.split('/')[3] for cell in lines)}",
            ", ".join(number(cell.paper) for cell in lines),
            ", ".join(_ours(cell, 3) for cell in lines),
            "the other nine rows of each model lie on one line in λ, which gives our value",
        ]
    )
    rows.append([f"Table 7, {places}", f"{len(parts)} cells", "", why])
    return Table(COLUMNS, rows)


@measured("ranking-misprints", page="")
def ranking_misprints(size: int = 0) -> Table:
    """Printed correlations and limits that do not fit together, in percent."""
    return Table(COLUMNS, _misprints(papers.reproduce("ranking-intervals"), 2))


@measured("ranking-synthetic", page="", golden=lambda: papers.reproduce("ranking-synthetic", preset="smoke").rows)
def ranking_synthetic(size: int = 0) -> Table:
    """Correlations on the synthetic data, in percent; a size other than 0 only checks that the code runs."""
    result = papers.reproduce("ranking-synthetic", preset="smoke" if size else "cpu")
    rows = []
    for cell in result.rows:
        if cell.name.startswith("table1"):
            metric, truth = cell.name.split("/")[2:]
            place = f"{metric}, {'φψ'[ESTIMATES.index(truth)]}"
            rows.append([place, number(cell.paper, 2), _ours(cell, 2), cell.note or "they agree"])
    return Table(COLUMNS, rows)


@measured("disentanglement-printed", page="")
def disentanglement_printed(size: int = 0) -> Table:
    """How many cells of each table agree with the other tables, and the worst of each."""
    result = papers.reproduce("disentanglement-tables")
    rows = []
    for table in dict.fromkeys(cell.name.split("/")[0] for cell in result.rows):
        cells = [cell for cell in result.rows if cell.name.startswith(f"{table}/")]
        wrong = [cell for cell in cells if cell.agrees is False]
        worst = max(wrong, key=lambda cell: abs(cell.paper - cell.ours), default=None)
        shown = ["–", "–", "they agree"]
        if worst is not None:
            shown = [f"{_where(worst)}: {number(worst.paper)}", _ours(worst, 3), worst.note]
        rows.append([table.removeprefix("table"), count(len(cells)), count(len(wrong)), *shown])
    columns = ("table", "cells", "disagree", "furthest off, printed", "ours (interval)", "why they differ")
    return Table(columns, rows)
