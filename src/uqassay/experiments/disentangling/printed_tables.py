"""The tables of the paper on disentanglement, recomputed from their own ingredients.

The disentanglement error of Table 2 is the mean of four deviations of correlations, which Tables 3 and 4 print. Average rows
are means of the rows above them, Table 1 repeats a part of Table 5. Contradictions of the tables with each other and with the
text are named.
"""

from collections.abc import Sequence
from dataclasses import replace

from uqassay.experiments.disentangling.contradictions import contradictions
from uqassay.experiments.disentangling.printed_values import (
    DATASETS,
    DECOMPOSITIONS,
    IDEALS,
    METHODS,
    PARTS,
    SOURCE,
    PrintedValues,
    mean,
    place_of,
    printed_values,
    terms,
)
from uqassay.experiments.reproduction import PrintedCell, Reproduction, Tables
from uqassay.experiments.rounding import Rounded
from uqassay.wording import number

__all__ = ["reproduce_disentanglement_tables"]


def reproduce_disentanglement_tables(*, tables: Tables | None = None) -> Reproduction:
    """Recompute the printed tables on disentanglement without training, and name their contradictions.

    Parameters
    ----------
    tables : mapping of str to sequence of dict, optional
        Rows by table (a key of `TABLES`), as from `printed_table`, instead of those in the package.

    Returns
    -------
    Reproduction
        ``table2/<data set>/<method>/<GL or IT>`` with ``…/ci95`` for the ±, ``table1/…`` and ``table3/…`` to ``table5/…``
        with the estimate at the end, and the average rows under ``average``.

    Raises
    ------
    InputError
        If a table in ``tables`` is not one of `TABLES`, or it lacks a cell.

    Notes
    -----
    A cell of Table 2 agrees if it lies within its own ± of the mean of the four deviations in Tables 3 and 4, rounding
    included. Averages and Table 1 agree within rounding. A cell of Tables 3 to 5, and a ±, is compared with the value that
    its average and the other data sets need; these five cells share one equation.

    Examples
    --------
    >>> found = reproduce_disentanglement_tables()
    >>> len(found.rows), len(found.misprints), found.misprints[0].name
    (336, 18, 'table2/fashion-mnist/MC-Dropout/GL')
    """
    values = printed_values(tables)
    cells = [
        *_table1_cells(values),
        *_table2_cells(values),
        *(cell for table in ("table3", "table4", "table5") for cell in _part_cells(table, values)),
    ]
    return Reproduction("disentanglement-tables", SOURCE, tuple(cells), contradictions(values, cells))


# ---- cells -----------------------------------------------------------------------------------------------------------


def _table1_cells(values: PrintedValues) -> list[PrintedCell]:
    """Table 1 against the CIFAR-10 part of Table 5."""
    cells = []
    for method in METHODS:
        for short in DECOMPOSITIONS:
            for part in PARTS:
                first, again = (values.at(table, "cifar-10", method, short, part) for table in ("table1", "table5"))
                name = f"table1/cifar-10/{method}/{short}/{part}"
                cell = PrintedCell.within(name, first.value, again.value, again.low, again.high)
                cells.append(replace(cell, note="" if cell.agrees else f"table5 prints {again.value:.3f}"))
    return cells


def _table2_cells(values: PrintedValues) -> list[PrintedCell]:
    """Errors against Tables 3 and 4; each ± against its average column."""
    cells = []
    for short in DECOMPOSITIONS:
        for method in METHODS:
            for dataset in DATASETS.values():
                name = f"table2/{dataset}/{method}/{short}"
                error, ci95 = (values.at("table2", dataset, method, short, key) for key in ("error", "ci95"))
                cells.append(_recombined(name, error, ci95, terms(values, dataset, method, short)))
                cells.append(_implied(f"{name}/ci95", values, dataset, absolute=False))
            cells += [_averaged(f"table2/average/{method}/{short}{end}", values) for end in ("", "/ci95")]
    return cells


def _part_cells(table: str, values: PrintedValues) -> list[PrintedCell]:
    """The cells of Tables 3 to 5 against the average row, and the average row."""
    cells = []
    for dataset in (*DATASETS.values(), "average"):
        for method in METHODS:
            for short in DECOMPOSITIONS:
                for part in PARTS:
                    name = f"{table}/{dataset}/{method}/{short}/{part}"
                    absolute = IDEALS.get((table, part)) == 0
                    if dataset == "average":
                        cells.append(_averaged(name, values, absolute=absolute))
                    else:
                        cells.append(_implied(name, values, dataset, absolute=absolute))
    return cells


def _recombined(name: str, error: Rounded, ci95: Rounded, deviations: Sequence[Rounded]) -> PrintedCell:
    """The mean of the four terms; the printed error should lie within its ± of it."""
    ours = mean(deviations)
    cell = _within(name, error, ours.widened(ci95.value))
    if cell.agrees is not False:
        return cell
    gap = abs(error.value - ours.value)
    reason = (
        f"tables 3 and 4 give {number(ours.value)}, {number(gap)} away, "
        f"{number(gap / ci95.value, 1)} times the printed ± {number(ci95.value)}"
    )
    return replace(cell, note=reason)


def _averaged(name: str, values: PrintedValues, *, absolute: bool = False) -> PrintedCell:
    """An average against the cells above it."""
    paper, above = values.row(name, absolute=absolute)
    cell = _within(name, paper, mean(list(above.values())))
    return replace(cell, note="" if cell.agrees else f"the rows above average to {number(cell.ours, 4)}")


def _implied(name: str, values: PrintedValues, dataset: str, *, absolute: bool) -> PrintedCell:
    """A cell against the average and the other data sets: n · average minus the others.

    In a column that is averaged by absolute values, the sign is the printed one.
    """
    average, above = values.row(name, absolute=absolute)
    others = [value for key, value in above.items() if key != dataset]
    n = len(above)
    value, low, high = (
        n * getattr(average, end) - sum(getattr(other, opposite) for other in others)
        for end, opposite in (("value", "value"), ("low", "high"), ("high", "low"))
    )
    paper = values.at(*place_of(name))
    ours = Rounded(-value, -high, -low) if absolute and paper.value < 0 else Rounded(value, low, high)
    cell = _within(name, paper, ours)
    reason = f"the average and the other data sets need {number(cell.ours, 4)}"
    return replace(cell, note="" if cell.agrees else reason)


def _within(name: str, paper: Rounded, ours: Rounded) -> PrintedCell:
    allowed = ours.widened(paper.half)
    return PrintedCell.within(name, paper.value, ours.value, allowed.low, allowed.high)
