"""The result of a reproduction: one row for each printed cell, and the range of the mean of further runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from uqassay.lab.papers.paper_tables import PaperTable, PrintedCell, table_named
from uqassay.results import plain_of
from uqassay.text import ABSENT, counted, number, text_table

__all__ = [
    "NO_EVIDENCE",
    "Reproduction",
    "compared_with_runs",
    "further_runs",
]


# The result of a reproduction: one row for each printed cell of a paper, and the printed tables themselves.
#
# A row holds the printed value, our value, the interval in which the printed value agrees with ours, whether it lies
# there, and the reason if it does not.

NO_EVIDENCE = "a smoke run only checks that the code runs, it is no evidence"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The result of a protocol."""

    name: str  #: The protocol's name, as `reproduce` takes it
    source: str  #: The paper
    rows: tuple[PrintedCell, ...]  #: One per printed cell, in the order of the paper's tables
    #: Remarks for the reader that belong to no single cell: choices that the paper leaves open, findings
    notes: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()  #: Further results as lines of text, printed last
    listed: bool = False  #: Whether the summary shows every cell; otherwise it shows those that disagree
    layouts: Mapping[str, PaperTable] = field(
        default_factory=dict, repr=False, compare=False
    )  #: The paper's tables by name

    @property
    def misprints(self) -> tuple[PrintedCell, ...]:
        """The cells that disagree, each with its reason in ``note``."""
        return tuple(cell for cell in self.rows if cell.agrees is False)

    def to_json(self) -> list[dict[str, Any]]:
        """One dictionary per cell, with None for nan, ready for `json.dumps`.

        Examples
        --------
        >>> nan = float("nan")
        >>> Reproduction("demo", "a paper", (PrintedCell.within("table1/A/e", nan, 0.5, 0.4, 0.6),)).to_json()
        [{'name': 'table1/A/e', 'paper': None, 'ours': 0.5, 'low': 0.4, 'high': 0.6, 'agrees': None, 'note': ''}]
        """
        return [plain_of(cell) for cell in self.rows]

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the paper's tables that `table` prints."""
        return tuple(self.layouts)

    def table(self, name: str | int, *, format: str = "text", width: int | None = None) -> str:
        """One of the paper's tables in the paper's layout, with our numbers under the printed ones.

        Parameters
        ----------
        name : str or int
            One of `tables`, or its number.
        format : {"text", "csv", "markdown", "latex"}
            CSV has one line for each row of the table, and ``…_paper``, ``…_ours``, ``…_low``, ``…_high`` and ``…_agrees``
            for each number. LaTeX uses booktabs.
        width : int, optional
            Characters of a line of text; columns for which there is no room stand in further blocks.

        Examples
        --------
        >>> from uqassay.lab.papers.unified.printed import LAYOUTS
        >>> cell = PrintedCell.within("table3/lambda=0.1/A/e", 0.259, 0.2596, 0.25855, 0.26065)
        >>> print(Reproduction("demo", "a paper", (cell,), layouts=LAYOUTS).table(3).partition("B")[0])
        Table 3: E of four models at three λ
          Model               KL     NS  E and rank, λ = 0.1  E and rank, λ = 0.5  E and rank, λ = 2
          A       printed  0.243  0.166             0.259, 3             0.326, 2           0.575, 2
                     ours      –      –                0.260                    –                  –
                 interval      –      –       0.259 to 0.261                    –                  –
        <BLANKLINE>
        """
        return table_named(self.layouts, name, self.name).filled(self.rows).written(format, width)

    def summary(self) -> str:
        """Plain text: how many cells of each table agree, every cell that does not with the reason, notes and reading.

        With `listed`, every cell is shown.

        Examples
        --------
        >>> cell = PrintedCell.within("table1/A/e", 0.5, 0.7, 0.6, 0.8, note="why")
        >>> print(Reproduction("demo", "a paper", (cell,)).summary())
        demo: a paper
        table1: 1 cell, 0 agree, 1 disagrees
          table1/A/e: paper 0.5, ours 0.7, allowed 0.6 to 0.8: why
        """
        lines = [f"{self.name}: {self.source}"]
        for table in dict.fromkeys(cell.name.split("/")[0] for cell in self.rows):
            cells = [cell for cell in self.rows if cell.name.split("/")[0] == table]
            wrong = [cell for cell in cells if cell.agrees is False]
            silent = sum(cell.agrees is None for cell in cells)
            lines.append(
                f"{table}: {counted(len(cells), 'cell')}, {len(cells) - len(wrong) - silent} agree, "
                f"{len(wrong)} {'disagrees' if len(wrong) == 1 else 'disagree'}"
                + (f", {silent} not compared" if silent else "")
            )
            if self.listed:
                lines += _cell_table(cells)
                lines += [f"  {cell.name}: {cell.note}" for cell in cells if cell.note]
                continue
            for cell in wrong:
                ours = "" if math.isnan(cell.ours) else f"ours {cell.ours:.6g}, "
                values = f"paper {cell.paper:.6g}, {ours}allowed {cell.low:.6g} to {cell.high:.6g}"
                lines.append(f"  {cell.name}: {values}: {cell.note}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), *self.reading])


def _cell_table(cells: Sequence[PrintedCell]) -> list[str]:
    """One line for each cell: the printed value, ours and its interval."""
    verdicts = {True: "yes", False: "no", None: ABSENT}
    body = [
        (cell.name, *(number(v, 2) for v in (cell.paper, cell.ours, cell.low, cell.high)), verdicts[cell.agrees])
        for cell in cells
    ]
    return text_table(("cell", "paper", "ours", "low", "high", "agrees"), body)


# Printed means of runs: the range where the mean of as many further runs falls, and the comparison with it.

NAN = float("nan")


def further_runs(
    per_run: NDArray[np.floating[Any]], n: int, *, level: float = 0.95, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[float, float]:
    """Range in which the mean of n further runs falls: mean ± t √(s² (1/R + 1/n)).

    Parameters
    ----------
    per_run : array (R,)
    bounds : tuple of float
        Of the quantity; the range is cut to them.

    Returns
    -------
    tuple of float
        nan for a single run.

    Examples
    --------
    >>> [round(end, 3) for end in further_runs(np.array([0.2, 0.4, 0.3]), 3)]
    [-0.051, 0.651]
    """
    if len(per_run) < 2:
        return NAN, NAN
    half = stats.t.ppf(0.5 + level / 2, len(per_run) - 1) * per_run.std(ddof=1) * math.sqrt(1 / len(per_run) + 1 / n)
    mean = float(per_run.mean())
    return max(mean - float(half), bounds[0]), min(mean + float(half), bounds[1])


def compared_with_runs(
    name: str, paper: float, ours: float, span: tuple[float, float], *, runs: int, paper_runs: int
) -> PrintedCell:
    """A printed mean of `paper_runs` runs against a range of further runs, with the reason of a disagreement.

    Examples
    --------
    >>> compared_with_runs("table1/a", 0.9, 0.5, (0.4, 0.6), runs=4, paper_runs=5).note
    'outside the range of 5 further runs, from our 4 runs'
    """
    found = PrintedCell.within(name, paper, ours, *span)
    if found.agrees is not False:
        return found
    return replace(found, note=f"outside the range of {paper_runs} further runs, from our {counted(runs, 'run')}")
