"""One printed cell of a paper's table with our value, and the printed tables that come with the package."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from uqassay.checks import one_of
from uqassay.lab.papers.rounding import SLACK

__all__ = ["PrintedCell", "Tables", "printed_table", "tables_by_name"]

Tables = Mapping[str, Sequence[Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed cell of a paper's table, with our value."""

    name: str  #: Where the cell is printed, for example ``"table2/lambda=0.2/RS-NN/e"``
    paper: float  #: The printed value; nan where the paper prints none
    ours: float  #: Our value; nan if the paper's numbers give only bounds for the cell
    #: The interval in which the printed value agrees with ours; nan if there is none
    low: float
    high: float
    #: Whether the printed value lies in the interval; None without a printed value or without an interval
    agrees: bool | None
    note: str = ""  #: The reason for a disagreement

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

    Examples
    --------
    >>> printed_table("unified_table2_cifar10_ranking")[0]
    {'tradeoff': '0.1', 'rank': '1', 'model': 'DE', 'e_mean': '0.069'}
    """
    folder = resources.files(__package__) / "printed"
    known = sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv"))
    one_of(name, "name", known)
    with (folder / f"{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def tables_by_name(known: Mapping[str, str], given: Tables | None = None) -> Tables:
    """The rows of printed tables by short name.

    Parameters
    ----------
    known : mapping of str to str
        Name for `printed_table` by short name.
    given : mapping of str to sequence of dict, optional
        Rows by short name, instead of those in the package.

    Examples
    --------
    >>> len(tables_by_name({"table1": "unified_table1"}, {"table1": []})["table1"])
    0
    """
    for table in given or ():
        one_of(table, "tables", known)
    return {table: printed_table(name) for table, name in known.items()} | dict(given or {})
