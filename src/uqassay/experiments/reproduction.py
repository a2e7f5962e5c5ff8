"""A printed cell beside our own value, and the register of protocols that produce them.

Every reproduction, whatever the paper, ends in the same rows: one per printed cell, with the paper's value, ours, the
interval that the printed value may lie in, whether it does, and the reason where it does not.
"""

import csv
import inspect
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module, resources
from typing import Any

from uqassay.errors import InputError
from uqassay.experiments.rounding import SLACK

__all__ = ["PROTOCOLS", "PrintedCell", "Reproduction", "options_of", "printed_table", "reproduce", "steps_of"]


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed cell and what we find for it.

    Attributes
    ----------
    name : str
        Where the cell is printed, for example ``"table2/lambda=0.2/RS-NN/e"``.
    paper : float
        The printed value; nan where the paper prints none.
    ours : float
        Our value; nan where the paper's numbers bound the cell without fixing it.
    low, high : float
        The interval in which the printed value agrees with ours; nan where nothing can be said.
    agrees : bool or None
        Whether the printed value lies in it; None where the paper prints none or nothing can be said.
    note : str
        The reason, where they disagree.
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
            With ``agrees`` filled in.

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
    """What came of running one protocol again.

    Attributes
    ----------
    name : str
        The protocol's name, as `reproduce` takes it.
    source : str
        The paper.
    rows : tuple of PrintedCell
        One per printed cell, in the order of the paper's tables.
    notes : tuple of str
        What was found that belongs to no single cell; what the paper leaves open, and how it was filled in.
    reading : tuple of str
        What the numbers say, line by line as it is printed last.
    listed : bool
        Whether the summary shows every cell, rather than those alone that disagree.
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
        """Plain text: how many cells of each table agree, then every cell that does not, with the reason.

        Where `listed` is set, every cell stands in a table first; the notes and the reading follow.

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
                f"{table}: {len(cells)} cell{'s' * (len(cells) != 1)}, {len(cells) - len(wrong) - silent} agree, "
                f"{len(wrong)} disagree{'s' * (len(wrong) == 1)}" + (f", {silent} not compared" if silent else "")
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
        One dictionary per row, by column name. The values stay text, so that no printed digit is lost; an empty text
        stands where the paper prints no value.

    Raises
    ------
    InputError
        If there is no table of that name.

    Examples
    --------
    >>> printed_table("unified_table2_cifar10_ranking")[0]
    {'tradeoff': '0.1', 'rank': '1', 'model': 'DE', 'e_mean': '0.069'}
    """
    folder = resources.files("uqassay.experiments") / "printed"
    known = sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv"))
    if name not in known:
        raise InputError(
            "name", "must be a printed table", f"{name!r} is none", f"choose one of {', '.join(known)}", code="type"
        )
    with (folder / f"{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def reproduce(name: str, **options: Any) -> Reproduction:
    """Run a protocol of `PROTOCOLS` by its name.

    Parameters
    ----------
    name : str
        A key of `PROTOCOLS`.
    **options
        The protocol's own keyword-only options.

    Returns
    -------
    Reproduction
        One cell per printed cell of the paper.

    Raises
    ------
    InputError
        If there is no such protocol, or it has no such option.

    Examples
    --------
    >>> reproduce("unified-tables").misprints[0].name
    'table1/CIFAR-10/RS-NN/e_sd'
    """
    return _known(name)(**options)


def options_of(name: str) -> tuple[str, ...]:
    """Names of the options that a protocol takes.

    Examples
    --------
    >>> options_of("unified-tables")
    ('tables',)
    """
    module, function = _known(name).args
    return tuple(inspect.signature(getattr(import_module(module), function)).parameters)


def steps_of(name: str, **options: Any) -> int:
    """How often a protocol with these options will say what it is at, for a progress bar."""
    count = getattr(import_module(_known(name).args[0]), "progress_steps", None)
    return 1 if count is None else int(count(**options))


def _known(name: str) -> "partial[Reproduction]":
    if name not in PROTOCOLS:
        raise InputError(
            "name", "must be a protocol", f"{name!r} is none", f"choose one of {', '.join(PROTOCOLS)}", code="type"
        )
    return PROTOCOLS[name]


def _run(module: str, function: str, /, **options: Any) -> Reproduction:
    """Import a protocol only now that it is asked for, and call it."""
    protocol = getattr(import_module(module), function)
    accepted = list(inspect.signature(protocol).parameters)
    for option in options:
        if option not in accepted:
            takes = f"it takes {', '.join(accepted)}" if accepted else "it takes none"
            raise InputError("options", "must be known to the protocol", f"{option!r} is not", takes, code="type")
    result: Reproduction = protocol(**options)
    return result


def _cell_table(cells: Sequence[PrintedCell]) -> list[str]:
    """Every cell on a line, the printed value beside ours and its interval."""
    header = ("cell", "paper", "ours", "low", "high", "agrees")
    verdicts = {True: "yes", False: "no", None: "–"}
    body = [
        (cell.name, *map(_decimals, (cell.paper, cell.ours, cell.low, cell.high)), verdicts[cell.agrees])
        for cell in cells
    ]
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    return [
        "  " + "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in (header, *body)
    ]


def _decimals(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _none_for_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


PROTOCOLS: dict[str, "partial[Reproduction]"] = {
    "unified-tables": partial(_run, "uqassay.experiments.unified.printed_tables", "reproduce_unified_tables"),
    "unified": partial(_run, "uqassay.experiments.unified.protocol", "reproduce_unified"),
    "methods": partial(_run, "uqassay.experiments.method_check", "reproduce_methods"),
    "ranking-intervals": partial(_run, "uqassay.experiments.ranking.printed_intervals", "reproduce_ranking_intervals"),
    "ranking-synthetic": partial(_run, "uqassay.experiments.ranking.synthetic", "reproduce_ranking_synthetic"),
    "ranking-cifar10h": partial(_run, "uqassay.experiments.ranking.cifar10h", "reproduce_ranking_cifar10h"),
    "credal-calibration": partial(
        _run, "uqassay.experiments.credal_calibration.protocol", "reproduce_credal_calibration"
    ),
}
