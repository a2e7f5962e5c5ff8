"""Values beside the predictions (labels, groups, subgroups), read from files and put in the order of the ids."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import FileFormatError, InputError
from uqassay.predictions import Prediction
from uqassay.predictions.file_formats import Contents, read_npy, read_npz
from uqassay.predictions.file_opening import open_contents, problems_named
from uqassay.predictions.file_tables import read_csv, read_parquet
from uqassay.predictions.files import inspect_file, load_labels

__all__ = ["Rows", "beside", "in_order", "read_column", "read_labels"]

_COLUMN_READERS: dict[str, Callable[[Path], Contents]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".csv": read_csv,
    ".parquet": read_parquet,
}


@dataclass(frozen=True, eq=False)
class Rows:
    """How the rows of the predictions are identified.

    Attributes
    ----------
    ids : array (n,) or None
        Those of the first prediction that has any.
    unnamed : Path or None
        A prediction file without ids.
    """

    ids: NDArray[Any] | None
    unnamed: Path | None

    @classmethod
    def of(cls, predictions: dict[Path, Prediction]) -> "Rows":
        """The rows of predictions by file."""
        ids = next((run.ids for run in predictions.values() if run.ids is not None), None)
        return cls(ids, next((path for path, run in predictions.items() if run.ids is None), None))


def read_column(path: Path, keys: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """One array, and the ids beside it where the file has them: the array of a .npy file, or the first of the keys.

    A file that holds a single array (or column) beside its ids is read whatever that is called.

    Raises
    ------
    FileFormatError
        A file that cannot be read, or has none of the keys.
    """
    inspect_file(path)  # says what is wrong with a file that is missing, damaged or of another format
    if path.suffix.lower() not in _COLUMN_READERS:
        raise FileFormatError(
            path.name,
            f"must be one of {', '.join(_COLUMN_READERS)} for {keys[0]}",
            "",
            "convert the file",
            code="choice",
        )
    try:
        contents = _COLUMN_READERS[path.suffix.lower()](path)
        arrays = contents.arrays | contents.other
        found = [key for key in arrays if key not in ("ids", "id")]
        wanted = next((key for key in keys if key in arrays), found[0] if len(found) == 1 else None)
        if wanted is None:
            raise InputError(
                keys[0],
                f"the file holds {', '.join(found) or 'nothing'}",
                "",
                f"name one of them {keys[0]}",
                code="undefined",
            )
        ids = next((np.asarray(arrays[key].read()) for key in ("ids", "id") if key in arrays), None)
        return np.asarray(arrays[wanted].read()), ids
    except InputError as problem:
        raise problem.replace(source=path.name) from problem


def read_labels(path: Path, rows: Rows, class_names: tuple[str, ...] | None) -> NDArray[Any]:
    """Labels from a file of their own, in the order of the predictions.

    Raises
    ------
    FileFormatError
        A file that cannot be read, or whose ids do not match those of the predictions.
    """
    values = load_labels(path, class_names=class_names)
    own = _ids_beside(path)
    if own is not None and len(own) != len(values):
        own = None  # the labels' own length is what will be complained about
    return in_order(values, own, rows, path)


def beside(path: Path, keys: Sequence[str], rows: Rows) -> NDArray[Any]:
    """One value for each instance, from a file of its own.

    As in `assay`, predictions without ids are in the order of those that have them, unless labels speak against it.
    """
    values, own = read_column(path, keys)
    return in_order(values, own, rows if rows.ids is None else Rows(rows.ids, None), path)


def in_order(values: NDArray[Any], own: NDArray[Any] | None, rows: Rows, path: Path) -> NDArray[Any]:
    """Values whose ids stand beside them, in the order of the ids of the predictions."""
    ids = rows.ids
    if own is None or (ids is not None and np.array_equal(own, ids)):
        return values
    if rows.unnamed is not None:
        if ids is None and np.array_equal(own, np.arange(len(own))):
            return values
        raise FileFormatError(
            path.name,
            f"has ids and {rows.unnamed.name} has none, so which row belongs to which is unknown",
            "",
            f"put the ids into {rows.unnamed.name} too, or leave them out of {path.name} if the order is the same",
            code="choice",
        )
    assert ids is not None  # since no prediction is without
    place = {value: i for i, value in enumerate(own.tolist())}
    missing = [value for value in ids.tolist() if value not in place]
    if missing or len(place) < len(own):
        what = f"{len(missing)} are missing, {missing[0]!r} first" if missing else "some occur twice"
        raise FileFormatError(
            path.name,
            f"its ids do not match those of the predictions: {what}",
            "",
            "select the common rows first",
            code="mismatch",
        )
    return values[[place[value] for value in ids.tolist()]]


# -- helpers ------------------------------------------------------------------------------------------------------------


def _ids_beside(path: Path) -> NDArray[Any] | None:
    """The ids in a file of labels, where it has them."""
    with problems_named(path):
        arrays = open_contents(path).arrays
        return next((np.asarray(arrays[key].read()) for key in ("ids", "id") if key in arrays), None)
