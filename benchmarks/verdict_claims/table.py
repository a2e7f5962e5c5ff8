"""The measured rates as the tables of the guide."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.stored_tables import Table
from benchmarks.verdict_claims.cells import CELLS, NOT_HELD
from benchmarks.verdict_claims.claimed import claimed
from benchmarks.verdict_claims.counting import Rate, any_false, former_false, results, share_told
from benchmarks.verdict_claims.judging import KINDS
from benchmarks.verdict_claims.worlds import Cell

__all__ = ["tables"]

NAMED = 8  # cells of a list
MOST, LEAST = 0.05, 20  # rate of false sentences; data sets of a cell that has its own row
Held = Mapping[str, tuple[Cell, Sequence[dict[str, Any]]]]
Row = Sequence[str]
KIND_COLUMNS = (
    "sentence",
    "such as",
    "cells that print it",
    "false in all of them, %",
    "worst cell",
    "cells above 5 %",
)
LOST_COLUMNS = ("cell", "data sets", "any false sentence, %", "false by kind, %")
CELL_COLUMNS = (
    *LOST_COLUMNS[:3],
    "most often false",
    "rank sets of E: false, %",
    "formerly: false, %",
    "worse than the winner: told, %",
    "formerly told, %",
    "pairs told, %",
    "top group",
)


def tables(folder: Path, code: str = "") -> dict[str, Table]:
    """Tables by their names in the guide, of the data sets that this code judged; by default the present one."""
    held = {name: (cell, results(cell, folder, code)[0]) for name, cell in CELLS.items()}
    held = {name: (cell, rows) for name, (cell, rows) in held.items() if rows}
    kept = {name: found for name, found in held.items() if name not in NOT_HELD}
    lost = {name: found for name, found in held.items() if name in NOT_HELD}
    kinds = Table(KIND_COLUMNS, list(_kinds(kept)), list(_unadjusted(kept)))
    return {
        "verdict-claims-kinds": kinds,
        "verdict-claims-chosen": claimed(kinds),
        "verdict-claims-not-held": Table(LOST_COLUMNS, list(_not_held(lost))),
        "verdict-claims-cells": Table(CELL_COLUMNS, list(_cells(held))),
    }


def _percent(x: float) -> str:
    return "" if np.isnan(x) else f"{100 * x:.1f}"


def _rate(rate: Rate) -> str:
    return f"{_percent(rate.value)} ({_percent(rate.low)}-{_percent(rate.high)})"


def _kinds(held: Held) -> Iterator[Row]:
    """By kind of sentence: the worst cell, and the cells whose rate lies above 5 % beyond chance."""
    for kind, sentence in KINDS.items():
        printing = {name: rows for name, (_, rows) in held.items() if any(kind in row["made"] for row in rows)}
        if not printing:
            continue
        rates = {name: any_false(rows, [kind]) for name, rows in printing.items()}
        worst = max(rates, key=lambda name: rates[name].value)
        above = [f"`{name}`" for name, rate in rates.items() if rate.low > MOST]
        total = Rate(sum(r.count for r in rates.values()), sum(r.of for r in rates.values()))
        told = f"{_rate(rates[worst])} `{worst}`" if rates[worst].count else "none"
        which = ", ".join(above) if len(above) <= NAMED else f"{len(above)} cells"
        yield kind, sentence, str(len(printing)), _percent(total.value), told, which or "none"


def _unadjusted(held: Held) -> Iterator[str]:
    """What another procedure for the best model would tell."""
    told = [
        row["unadjusted_best"] for _, rows in held.values() for row in rows if row.get("unadjusted_best", [False])[0]
    ]
    if told:
        false, same = sum(not true for _, true, _ in told), sum(by_ranks for _, _, by_ranks in told)
        yield (
            f"By the largest unadjusted p-value against any rival alone (Hung and Fithian 2019) A would be the best in "
            f"{len(told):,} data sets, falsely in {false:,}; its rank set is 1 alone in {same:,} of them."
        )


def _not_held(held: Held) -> Iterator[Row]:
    """Of the cells that are not held: how often each kind of sentence is false."""
    for name, (cell, rows) in held.items():
        rates = {kind: any_false(rows, [kind]) for kind in KINDS}
        each = "; ".join(f"{kind}: {_percent(rate.value)}" for kind, rate in rates.items() if rate.count)
        yield f"{cell.about} (`{name}`)", str(len(rows)), _rate(any_false(rows)), each or "none"


def _cells(held: Held) -> Iterator[Row]:
    """By cell: any false sentence, the former procedure, and power."""
    for name, (cell, rows) in held.items():
        if len(rows) >= LEAST:
            yield _cell(name, cell, rows)


def _cell(name: str, cell: Cell, rows: Sequence[dict[str, Any]]) -> Row:
    kinds = {kind: any_false(rows, [kind]) for kind in KINDS}
    worst = max(kinds, key=lambda kind: kinds[kind].count)
    told = f"{worst}: {_percent(kinds[worst].value)}" if kinds[worst].count else "none"
    several = len(cell.models) > 1
    columns = [
        f"{cell.about} (`{name}`)",
        str(len(rows)),
        _rate(any_false(rows)),
        told,
        _percent(kinds["rank sets of E"].value) if several else "",
        _percent(former_false(rows).value) if several else "",
        *(_percent(share_told(rows, key)) for key in ("rivals", "former", "pairs")),
        f"{np.mean([row['top'] for row in rows]):.1f} of {len(cell.models)}" if several else "",
    ]
    for key, what in (("backward", "backward scores"), ("miscalibrated", "miscalibrated models")):
        share = share_told(rows, key)
        if not np.isnan(share):
            columns[0] += f"; {_percent(share)} % of the {what} told"
    of_procedures = [row["false_of_procedures"] for row in rows if "false_of_procedures" in row]
    if of_procedures:
        columns[0] += f"; {_rate(Rate(sum(of_procedures), len(of_procedures)))} % false of the procedures"
    return columns
