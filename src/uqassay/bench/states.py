"""The state of one cell, as the files of a benchmark's folder give it."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, final

__all__ = ["CellState", "named", "reason_of"]


@final
@dataclass(frozen=True, kw_only=True)
class CellState:
    """The state of one cell, with its facts.

    Attributes
    ----------
    key : str
    state : {"queued", "running", "done", "failed"}
        A cell whose claim has lapsed is queued.
    dataset, method : str
        Empty if neither a result nor a plan names them.
    seed : int or None
    seconds, accuracy : float or None
        Of a cell that is done.
    hash : str
        Digest of the files of a cell that is done.
    traceback : str
        Of a cell that failed.
    """

    key: str
    state: Literal["queued", "running", "done", "failed"] = "queued"
    dataset: str = ""
    method: str = ""
    seed: int | None = None
    seconds: float | None = None
    accuracy: float | None = None
    hash: str = ""
    traceback: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the cell is still to be finished."""
        return self.state in ("queued", "running")

    @property
    def reason(self) -> str:
        """The exception of the traceback, as `reason_of` writes it."""
        return reason_of(self.traceback)


def reason_of(traceback: str) -> str:
    r"""The exception of a traceback with its notes in parentheses, on one line: the lines below the last frame.

    Examples
    --------
    >>> reason_of("Traceback:\n  File a\nValueError: no\nIn the run of seed 0.\n")
    'ValueError: no (In the run of seed 0.)'
    """
    lines = [line for line in traceback.splitlines() if line.strip()]
    below = list(takewhile(lambda line: not line.startswith(" "), reversed(lines)))[::-1]
    first, *notes = [line.strip() for line in below or lines[-1:]] or [""]
    return f"{first} ({' '.join(notes)})" if notes else first


def named(cell: object) -> dict[str, Any]:
    """Data set, method and seed from the JSON fields of a cell; malformed fields are left empty.

    Examples
    --------
    >>> named({"dataset": "digits", "method": "snn", "seed": 3})
    {'dataset': 'digits', 'method': 'snn', 'seed': 3}
    """
    facts: Mapping[str, Any] = cell if isinstance(cell, Mapping) else {}
    seed = facts.get("seed")
    return {
        "dataset": str(facts.get("dataset", "")),
        "method": str(facts.get("method", "")),
        "seed": seed if isinstance(seed, int) else None,
    }
