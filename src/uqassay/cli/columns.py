"""Values given with the predictions (labels, groups, subgroups), put in the order of the ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.cli.arguments import file_and_column
from uqassay.errors import FileFormatError
from uqassay.predictions import Prediction
from uqassay.predictions.files import load_column, load_labels
from uqassay.wording import count

__all__ = ["Rows", "in_order", "read_labels", "values_of_instances"]


@dataclass(frozen=True, eq=False)
class Rows:
    """How the rows of the predictions are identified.

    Attributes
    ----------
    ids : array (n,) or None
        Those of the first prediction that has any.
    unnamed : Path or None
        A prediction file without ids.
    n_instances : int or None
        Number of rows; None where the predictions differ in it.
    """

    ids: NDArray[Any] | None
    unnamed: Path | None
    n_instances: int | None = None

    @classmethod
    def of(cls, files: Mapping[str, Sequence[Path]], runs: Mapping[str, Sequence[Prediction]]) -> "Rows":
        """The rows of predictions, from the files and runs of each model."""
        paths = [path for name in files for path in files[name]]
        predictions = [run for name in files for run in runs[name]]
        ids = next((run.ids for run in predictions if run.ids is not None), None)
        unnamed = next((path for path, run in zip(paths, predictions, strict=True) if run.ids is None), None)
        sizes = {run.n_instances for run in predictions}
        return cls(ids, unnamed, sizes.pop() if len(sizes) == 1 else None)


def read_labels(path: Path, rows: Rows, class_names: tuple[str, ...] | None) -> NDArray[Any]:
    """Labels from a separate file, or from ``FILE:COLUMN``, in the order of the predictions.

    Raises
    ------
    FileFormatError
        A file that cannot be read, or whose ids do not match those of the predictions.
    """
    path, column = file_and_column(path)
    values = load_labels(path, column, class_names=class_names)
    own = load_column(path, ("labels", "label") if column is None else (column,))[1]
    if own is not None and len(own) != len(values):
        own = None  # the error will be about the length of the labels
    return in_order(values, own, rows, path)


def values_of_instances(path: Path, keys: Sequence[str], rows: Rows) -> NDArray[Any]:
    """One value for each instance, such as its group, from a separate file or from ``FILE:COLUMN``.

    As in `assay`, predictions without ids are in the order of those that have them, unless labels speak against it.

    Raises
    ------
    FileFormatError
        A file that cannot be read, has too few or too many values or an instance without one, or whose ids do not match
        those of the predictions.
    """
    path, column = file_and_column(path)
    values, own = load_column(path, keys if column is None else (column,))
    _check_complete(values, keys[0], path)
    values = in_order(values, own, rows if rows.ids is None else replace(rows, unnamed=None), path)
    if rows.n_instances is not None and values.shape != (rows.n_instances,):
        raise FileFormatError(
            keys[0],
            f"needs one value for each of the {count(rows.n_instances)} instances",
            f"got shape {values.shape}",
            "give one value for each row of the predictions",
            code="mismatch",
            source=path.name,
        )
    return values


def in_order(values: NDArray[Any], own: NDArray[Any] | None, rows: Rows, path: Path) -> NDArray[Any]:
    """Values in the order of the ids of the predictions; `own` are the ids in the same file."""
    ids = rows.ids
    if own is None or (ids is not None and np.array_equal(own, ids)):
        return values
    if rows.unnamed is not None:
        if ids is None and np.array_equal(own, np.arange(len(own))):
            return values
        raise FileFormatError(
            "ids",
            f"are given here, and {rows.unnamed.name} has none, so which row belongs to which is unknown",
            "",
            f"put the ids into {rows.unnamed.name} too, or leave them out of {path.name} if the order is the same",
            code="mismatch",
            source=path.name,
        )
    assert ids is not None  # since no prediction is without
    place = {value: i for i, value in enumerate(own.tolist())}
    missing = [value for value in ids.tolist() if value not in place]
    if missing or len(place) < len(own):
        raise FileFormatError(
            "ids",
            "must match those of the predictions",
            f"{len(missing)} are missing, {missing[0]!r} first" if missing else "some occur twice",
            "give it for every instance, or pass --common-instances where a model lacks answers",
            code="mismatch",
            source=path.name,
        )
    return values[[place[value] for value in ids.tolist()]]


# -- helpers ------------------------------------------------------------------------------------------------------------


def _check_complete(values: NDArray[Any], key: str, path: Path) -> None:
    """Refuse nan and empty text: as a value they would make one group of instances that have nothing in common."""
    if values.ndim != 1:
        return  # the error will be about the shape
    if values.dtype.kind == "f":
        absent = np.isnan(values)
    elif values.dtype.kind == "U":
        absent = np.isin(np.char.lower(np.char.strip(values)), ("", "nan"))
    else:
        return
    if absent.any():
        rows = np.flatnonzero(absent)
        raise FileFormatError(
            key,
            "every instance needs a value",
            f"{len(rows)} of {len(values)} have none, row {rows[0]} first",
            "give each of them a value, or leave those instances out",
            code="missing",
            source=path.name,
        )
