"""The result of a reproduction: one row for each printed cell of a paper, and the printed tables themselves.

A row holds the printed value, our value, the interval in which the printed value agrees with ours, whether it lies there, and
the reason if it does not.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from uqassay.errors import InputError
from uqassay.experiments.rounding import SLACK
from uqassay.wording import ABSENT, counted, listed, number, text_table

__all__ = ["NO_EVIDENCE", "PrintedCell", "Reproduction", "Tables", "printed_table", "tables_by_name"]

Tables = Mapping[str, Sequence[Mapping[str, str]]]

NO_EVIDENCE = "a smoke run only checks that the code runs, it is no evidence"


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed cell of a paper's table, with our value.

    Attributes
    ----------
    name : str
        Where the cell is printed, for example ``"table2/lambda=0.2/RS-NN/e"``.
    paper : float
        The printed value; nan where the paper prints none.
    ours : float
        Our value; nan if the paper's numbers give only bounds for the cell.
    low, high : float
        The interval in which the printed value agrees with ours; nan if there is none.
    agrees : bool or None
        Whether the printed value lies in the interval; None without a printed value or without an interval.
    note : str
        The reason for a disagreement.
    """

    name: str
    paper: float
    ours: float
    low: float
    high: float
    agrees: bool | None
    note: str = ""

    @classmethod
    def within(cls, name: str, paper: float, ours: float, low: float, high: float, *, note: str = "") -> "PrintedCell":
        """Compare a printed value with an interval.

        Parameters
        ----------
        name, paper, ours, low, high, note
            As the attributes; ``paper``, ``low`` or ``high`` may be nan.

        Returns
        -------
        PrintedCell
            Its ``agrees`` compares ``paper`` with the interval.

        Examples
        --------
        >>> PrintedCell.within("table1/DE/e", 0.415, 0.416, 0.4145, 0.4175).agrees
        True
        """
        known = not any(math.isnan(value) for value in (paper, low, high))
        agrees = low - SLACK <= paper <= high + SLACK if known else None
        return cls(name, paper, ours, low, high, agrees, note)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The result of a protocol.

    Attributes
    ----------
    name : str
        The protocol's name, as `reproduce` takes it.
    source : str
        The paper.
    rows : tuple of PrintedCell
        One per printed cell, in the order of the paper's tables.
    notes : tuple of str
        Remarks for the reader that belong to no single cell: choices that the paper leaves open, findings.
    reading : tuple of str
        Further results as lines of text, printed last.
    listed : bool
        Whether the summary shows every cell; otherwise it shows those that disagree.
    """

    name: str
    source: str
    rows: tuple[PrintedCell, ...]
    notes: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    listed: bool = False

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
        return [{field: _none_for_nan(value) for field, value in asdict(cell).items()} for cell in self.rows]

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


def printed_table(name: str) -> list[dict[str, str]]:
    """Read one of the papers' tables that come with the package.

    Parameters
    ----------
    name : str
        The table's name, for example ``"unified_table1"``.

    Returns
    -------
    list of dict
        One dictionary per row, by column name. Values are text, so that no printed digit is lost; the text is empty if the
        paper prints no value.

    Raises
    ------
    InputError
        If there is no table of that name.

    Examples
    --------
    >>> printed_table("unified_table2_cifar10_ranking")[0]
    {'tradeoff': '0.1', 'rank': '1', 'model': 'DE', 'e_mean': '0.069'}
    """
    folder = resources.files(__package__) / "printed"
    known = sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv"))
    if name not in known:
        raise InputError(
            "name", "must be a printed table", f"got {name!r}", f"choose {listed(known, last='or')}", code="choice"
        )
    with (folder / f"{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _cell_table(cells: Sequence[PrintedCell]) -> list[str]:
    """One line for each cell: the printed value, ours and its interval."""
    verdicts = {True: "yes", False: "no", None: ABSENT}
    body = [
        (cell.name, *(number(v, 2) for v in (cell.paper, cell.ours, cell.low, cell.high)), verdicts[cell.agrees])
        for cell in cells
    ]
    return text_table(("cell", "paper", "ours", "low", "high", "agrees"), body)


def _none_for_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def tables_by_name(known: Mapping[str, str], given: Tables | None = None) -> Tables:
    """The rows of printed tables by short name.

    Parameters
    ----------
    known : mapping of str to str
        Name for `printed_table` by short name.
    given : mapping of str to sequence of dict, optional
        Rows by short name, instead of those in the package.

    Raises
    ------
    InputError
        If a table in ``given`` is not one of `known`.

    Examples
    --------
    >>> len(tables_by_name({"table1": "unified_table1"}, {"table1": []})["table1"])
    0
    """
    for table in given or ():
        if table not in known:
            raise InputError(
                "tables",
                "must be named as in TABLES",
                f"got {table!r}",
                f"use {listed(list(known), last='or')}",
                code="choice",
            )
    return {table: printed_table(name) for table, name in known.items()} | dict(given or {})
