"""What is said of results in a folder that other code made: one sentence, for every kind of stored result."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from uqassay.bench.cell import Cell
from uqassay.bench.files import METADATA, json_object
from uqassay.errors import InputError
from uqassay.wording import counted

__all__ = ["count_older", "older_notes", "older_sentence"]


def older_sentence(n: int, noun: str, folder: str | os.PathLike[str]) -> str:
    """That results of other code are not used, and what to do with them.

    Parameters
    ----------
    n : int
        Number of results.
    noun : str
        What one of them is.
    folder : path

    Examples
    --------
    >>> older_sentence(1, "training", "run")
    '1 training in run was made by other code and is not used; it is made again, and the older files may be deleted'
    """
    was, told, they = ("was", "is", "it is") if n == 1 else ("were", "are", "they are")
    return (
        f"{counted(n, noun)} in {os.fspath(folder)} {was} made by other code and {told} not used; "
        f"{they} made again, and the older files may be deleted"
    )


def older_notes(cells: Sequence[Cell], folder: str | os.PathLike[str], *, noun: str = "training") -> list[str]:
    """A note if the folder has results of the same cells that other code made, which are not used.

    Parameters
    ----------
    cells : sequence of Cell
        With the keys of the present code.
    folder : path
        As in `uqassay.bench.store.Store`; it need not be there.
    noun : str
        What a result is called.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    keys = {cell.key for cell in cells}
    wanted = {_without_place(json.loads(cell.to_json())) for cell in cells}
    n = sum(key not in keys and _without_place(cell) in wanted for key, cell in _stored_cells(folder))
    return [older_sentence(n, noun, folder)] if n else []


def count_older(folder: str | os.PathLike[str]) -> int:
    """How many results of a folder were made by other code than the present one."""
    return sum(_present_key(cell) != key for key, cell in _stored_cells(folder))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _stored_cells(folder: str | os.PathLike[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The key of each result in a folder, and the fields of its cell."""
    for path in Path(folder).glob(f"cells/??/*/{METADATA}"):
        cell = (json_object(path) or {}).get("cell")
        if isinstance(cell, dict):
            yield path.parent.name, cell


def _present_key(cell: dict[str, Any]) -> str:
    """The key of a cell by the present code; empty if that cannot be found, or the cell has other fields."""
    try:
        return Cell.from_json(json.dumps(cell)).key
    except (InputError, TypeError, KeyError):
        return ""


def _without_place(cell: dict[str, Any]) -> str:
    """The fields of a cell without those that say where its data and its code lie."""
    return json.dumps(
        {name: value for name, value in cell.items() if name not in ("source", "rests_on")}, sort_keys=True
    )
