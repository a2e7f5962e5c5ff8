"""Table 1 of the ranking experiments as printed, its intervals computed again, and its cells beside our correlations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uqassay.arrays import Floats
from uqassay.lab.papers.paper_tables import Column, PaperTable, Part, PrintedCell, printed_table
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.metrics import CorrelationStudy
from uqassay.text import number

__all__ = [
    "HALF_UNIT",
    "LAYOUTS",
    "METRICS",
    "SOURCE",
    "TABLE",
    "TRUTHS",
    "implied_counts",
    "printed_cells",
    "reproduce_ranking_intervals",
]

SOURCE = "Pignet, Regniez and Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring"
TABLE = "ground_truth_free_table1"
METRICS = ("UQ-AUC", "UQ-C-index")
TRUTHS = ("misclassification", "misalignment")  # φ and ψ
HALF_UNIT = 0.005  # of the last printed digit of a correlation in percent

LAYOUTS: Mapping[str, PaperTable] = {
    "table1": PaperTable(
        "Table 1: correlation with the ground truth rankings, in percent (95 % interval)",
        TABLE,
        {"dataset": "Dataset", "metric": "Metric"},
        (
            Column("misclassification", "φ, misclassification", ("corr_misclassification_percent", "low", "high")),
            Column("misalignment", "ψ, misalignment", ("corr_misalignment_percent", "low2", "high2")),
        ),
        (
            Part(("table1/{dataset}/{metric}/{column}/r", "table1/{dataset}/{metric}/{column}")),
            Part(("table1/{dataset}/{metric}/{column}/low",), "low_limit"),
            Part(("table1/{dataset}/{metric}/{column}/high",), "high_limit"),
        ),
        "{} ({}; {})",
    ),
}


def printed_cells(
    dataset: str,
    found: CorrelationStudy,
    why: Callable[[str, str, float], str] = lambda *_: "",
    *,
    compared: bool = True,
) -> list[PrintedCell]:
    """The printed correlations of a data set in Table 1 with ours, in percent.

    Parameters
    ----------
    dataset : str
        As it is printed; another one makes a row that the paper does not have.
    found : CorrelationStudy
        Its intervals are those of the cells, widened by `HALF_UNIT`.
    why : callable
        (metric, truth, printed value) → the reason; called for cells that disagree, or are not compared.
    compared : bool
        Whether the models are the printed ones; else a printed value is context, and ``agrees`` is None.
    """
    rows = {row["metric"]: row for row in printed_table(TABLE) if row["dataset"] == dataset}
    cells = []
    for metric in METRICS:
        for truth in TRUTHS:
            r = found[metric, truth]
            name = f"table1/{dataset}/{metric}/{truth}"
            if metric not in rows:
                cells.append(PrintedCell(name, nan, 100 * float(r), 100 * r.low, 100 * r.high, None))
                continue
            printed = float(rows[metric][f"corr_{truth}_percent"])
            low, high = 100 * r.low - HALF_UNIT, 100 * r.high + HALF_UNIT
            cell = PrintedCell.within(name, printed, 100 * float(r), low, high)
            if not compared:
                cell = replace(cell, agrees=None, note=f"context only: {why(metric, truth, printed)}")
            elif cell.agrees is False:
                cell = replace(cell, note=why(metric, truth, printed))
            cells.append(cell)
    return cells


# The printed intervals of the ranking experiments: their formula, the number of scorings behind them, and misprints.
#
# The paper does not state how the intervals of its Table 1 were computed. They are Fisher's z: from the printed
# correlation and one number n of scorings per data set, artanh r ± 1.96/√(n − 3) gives nearly all limits to the last
# digit. So the limits tell n, which the paper does not print, and a number that is half a unit of its last digit and
# more away from what the other two allow is a misprint.

UNIT = 0.01  # of the last printed digit, in percent: numbers may have been truncated, or rounded twice
MARGIN = 0.005  # a number that misses by less is no misprint, because the paper does not state the formula itself
QUANTILE = float(ndtri(0.975))
COUNTS = np.arange(20.0, 1200.0)
PARTS = {"r": 0, "low": -1, "high": 1}  # the sign of the half width in each
SETS = (tuple(PARTS), *combinations(PARTS, 2))
DESCRIBED = {
    "Synth": "the grid as described makes 1,044",
    "CIFAR10-H": "116 models are described",
    "R-ImageNet": "116 models are described",
    "OASST2": "70 models are described",
}


@final
@dataclass(frozen=True, slots=True)
class Triple:
    """A printed correlation and its limits, in percent, by the keys of `PARTS`."""

    name: str
    printed: dict[str, float]

    def range_of_r(self, part: str, n: Floats) -> tuple[Floats, Floats]:
        """The correlations that round to one of the three numbers, at each n."""
        return _moved(self.printed[part] - UNIT, -PARTS[part], n), _moved(self.printed[part] + UNIT, -PARTS[part], n)

    def common_r(self, parts: tuple[str, ...], n: Floats) -> tuple[Floats, Floats]:
        """The correlations that fit all of these numbers, at each n; empty if the first end exceeds the second."""
        ranges = [self.range_of_r(part, n) for part in parts]
        return np.max([low for low, _ in ranges], axis=0), np.min([high for _, high in ranges], axis=0)

    def n_agreeing(self, n: Floats) -> NDArray[np.int64]:
        """How many of the three numbers fit one correlation, at each n."""
        found = np.ones(len(n), dtype=np.int64)
        for parts in SETS:
            low, high = self.common_r(parts, n)
            found = np.where(low <= high, np.maximum(found, len(parts)), found)
        return found

    def agreeing(self, n: Floats) -> tuple[tuple[str, ...], float, float]:
        """The largest set of the numbers that fit one correlation at some n, and its range; r if no two do."""
        common = {parts: self.common_r(parts, n) for parts in SETS}
        widths = {parts: float((high - low).max()) for parts, (low, high) in common.items()}
        largest = max(SETS, key=lambda parts: (widths[parts] >= 0, len(parts), widths[parts]))
        parts = largest if widths[largest] >= 0 else ("r",)
        low, high = self.common_r(parts, n)
        fits = low <= high
        return parts, float(low[fits].min()), float(high[fits].max())


def reproduce_ranking_intervals() -> Reproduction:
    """Recompute the intervals of Table 1 from their correlations.

    Returns
    -------
    Reproduction
        For every printed correlation the cells ``…/r``, ``…/low`` and ``…/high``, in percent. If two of the three numbers fit
        together and the third is at least half a unit of its last digit away from fitting, the third disagrees; if no two
        fit, both limits disagree.

    Examples
    --------
    >>> result = reproduce_ranking_intervals()
    >>> [cell.name for cell in result.misprints][:2]
    ['table1/Synth/UQ-AUC/misalignment/high', 'table1/CIFAR10-H/UQ-AUC/misclassification/low']
    >>> cell = result.misprints[2]
    >>> cell.name, cell.paper, round(cell.ours, 2)
    ('table1/CIFAR10-H/UQ-C-index/misclassification/r', -0.04, -3.93)
    """
    cells: list[PrintedCell] = []
    notes = [
        "the paper does not say how its intervals were found; they are Fisher's z, which takes the scorings as independent"
    ]
    for dataset, described in DESCRIBED.items():
        counts = implied_counts(dataset)
        cells += [cell for triple in _triples(dataset) for cell in _cells(triple, counts)]
        shown = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        notes.append(f"{dataset}: the intervals are those of {shown} scorings; {described}")
    return Reproduction("ranking-intervals", SOURCE, tuple(cells), tuple(notes), layouts=LAYOUTS)


def implied_counts(dataset: str) -> tuple[int, ...]:
    """Numbers of scorings with which most of a data set's printed limits follow from their correlations.

    Examples
    --------
    >>> implied_counts("OASST2"), implied_counts("CIFAR10-H")
    ((69,), (111,))
    """
    fitting = sum(triple.n_agreeing(COUNTS) for triple in _triples(dataset))
    return tuple(COUNTS[fitting == np.max(fitting)].astype(int).tolist())


def _triples(dataset: str) -> list[Triple]:
    rows = {row["metric"]: row for row in printed_table(TABLE) if row["dataset"] == dataset}
    found = []
    for metric in METRICS:
        for truth, suffix in zip(TRUTHS, ("", "2"), strict=True):
            keys = (f"corr_{truth}_percent", f"low{suffix}", f"high{suffix}")
            printed = {part: float(rows[metric][key]) for part, key in zip(PARTS, keys, strict=True)}
            found.append(Triple(f"table1/{dataset}/{metric}/{truth}", printed))
    return found


def _cells(triple: Triple, counts: tuple[int, ...]) -> list[PrintedCell]:
    every = np.array(counts, dtype=np.float64)
    agreeing, low_r, high_r = triple.agreeing(every)
    n = counts[len(counts) // 2]
    cells = []
    for part, sign in PARTS.items():
        low, high = float(_moved(low_r, sign, every).min()) - UNIT, float(_moved(high_r, sign, every).max()) + UNIT
        low, high = low - MARGIN, high + MARGIN
        ours = float(_moved((low_r + high_r) / 2, sign, np.array(n)))
        note = ""
        if part not in agreeing:
            others = " and ".join(f"{other} = {number(triple.printed[other], 2)}" for other in agreeing)
            note = f"{others} with n = {n} {'make' if len(agreeing) > 1 else 'makes'} it {number(ours, 2)}"
            if len(agreeing) == 1:
                note += "; no two of the three numbers fit together"
        name, printed = f"{triple.name}/{part}", triple.printed[part]
        cell = PrintedCell.within(name, printed, ours, low, high, note=note)
        cells.append(PrintedCell.within(name, printed, ours, low, high) if cell.agrees else cell)
    return cells


def _moved(percent: float, sign: int, n: Floats) -> Floats:
    """A correlation moved by the half width of Fisher's interval, in percent."""
    return np.asarray(100.0 * np.tanh(np.arctanh(percent / 100.0) + sign * QUANTILE / np.sqrt(n - 3)))
