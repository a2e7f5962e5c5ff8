"""Writing a prediction to a file, and saying what its format leaves out."""

import os
import warnings
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uqassay._array import lone_surrogates, still_whole
from uqassay._files import draft_of
from uqassay.errors import FileFormatError, InputError
from uqassay.notes import Note
from uqassay.predictions.base import Prediction
from uqassay.predictions.file_contents import Arrays
from uqassay.predictions.file_csv import check_sums
from uqassay.predictions.file_opening import as_path, format_of, problems_named
from uqassay.predictions.file_zarr import ZARR_MARKERS
from uqassay.predictions.named_arrays import arrays_from_prediction
from uqassay.wording import listed

__all__ = ["LossyFormatWarning", "save", "what_is_lost"]

# what a format leaves out with a warning, in words; what else it cannot hold is refused
_PARTS = {
    "notes": "notes",
    "note_codes": "",
    "row_numbers": "",
    "bfloat16": "",
    "log_partition": "log-partitions, on which measures of logits are based",
}
_LEFT_OUT = dict.fromkeys((".npy", ".csv", ".parquet", ".jsonl"), _PARTS)
_HELD = {
    ".npy": {"probs"},
    ".csv": {"probs", "class_names", "ids", "groups", "labels"},
    ".parquet": {"probs", "class_names", "ids", "groups", "labels"},
    ".jsonl": {"probs", "weights", "class_names", "ids", "groups", "labels"},
}


class LossyFormatWarning(UserWarning):
    """A format cannot hold a part of a prediction, which is left out."""


def save(prediction: Prediction, path: str | os.PathLike[str], *, labels: ArrayLike | None = None) -> None:
    """Write a prediction, and labels with it, so that `load` gives it back as it is.

    Parameters
    ----------
    prediction : Prediction
        Any of the eight kinds; `.npy` and `.jsonl` take `Point` and `Members`, `.csv` and `.parquet` take `Point`. Numbers
        in text (`.csv`, `.jsonl`) come back as float64, and ids that are plain whole numbers as int64.
    path : str or path
        The extension decides the format. The file appears whole or not at all: it is written under another name in the
        same folder first, and an older file stays intact until then. A symbolic link stays, and what it leads to is
        replaced; a pipe, a device, a folder or a file that may not be written is not.
    labels : array (n,) or (n, K), optional
        Class indices or names, or votes and label distributions; not in `.npy`.

    Warns
    -----
    LossyFormatWarning
        The format leaves a part of the prediction out; `what_is_lost` says which.

    Raises
    ------
    FileFormatError
        The format cannot hold the prediction, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "edl.npz")
    >>> uq.save(uq.Dirichlet([[8.0, 1.0, 1.0]], n_draws=50), path, labels=[0])
    >>> uq.load(path).n_draws, uq.load_labels(path).tolist()
    (50, [0])
    >>> folder.cleanup()
    """
    path = as_path(path)
    if not isinstance(prediction, Prediction):
        raise _no_prediction(prediction)
    with problems_named(path, "written"):
        write = format_of(path, to_write=True).write
        if not path.parent.is_dir():
            raise FileFormatError("folder", f"{path.parent} does not exist", "", "create it first", code="missing")
        arrays = arrays_from_prediction(prediction, labels)
        suffix = path.suffix.lower()
        _check_held(arrays, suffix)
        _check_text(arrays, suffix)
        _check_sums(prediction, suffix)
        lost = _lost(arrays, suffix)
        arrays = {key: value for key, value in arrays.items() if key not in _LEFT_OUT.get(suffix, ())}
        folder = suffix == ".zarr"
        if folder and path.exists() and not any((path / marker).exists() for marker in ZARR_MARKERS):
            raise FileFormatError(
                "path",
                "only a zarr store is replaced by one",
                f"it is {'another folder' if path.is_dir() else 'a file'}",
                "choose another name",
                code="conflict",
            )
        for value in arrays.values():  # a map may be of a file that has become shorter since it was loaded
            still_whole(value)
        with draft_of(path, folder=folder) as draft:
            write(draft, arrays)
    for note in lost:
        warnings.warn(f"{path.name}: {note}; save it as .npz to keep them.", LossyFormatWarning, stacklevel=2)


def what_is_lost(prediction: Prediction, path: str | os.PathLike[str]) -> tuple[Note, ...]:
    """What the format of a file would leave out of a prediction.

    Parameters
    ----------
    prediction : Prediction
    path : str or path
        The extension decides.

    Returns
    -------
    tuple of Note
        Empty for the formats that hold everything.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point.from_logits([[0.0, 1.0]])
    >>> [note.code for note in what_is_lost(p, "p.csv")], what_is_lost(p, "p.npz")
    (['log-partition-lost'], ())
    """
    suffix = as_path(path).suffix.lower()
    if not isinstance(prediction, Prediction):
        raise _no_prediction(prediction)
    return _lost({f.name: getattr(prediction, f.name) for f in fields(prediction)}, suffix)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _no_prediction(value: Any) -> InputError:
    return InputError(
        "prediction",
        "must be a prediction such as Point or Members",
        f"got {type(value).__name__}",
        "make one by from_object",
        code="type",
    )


def _check_held(arrays: Arrays, suffix: str) -> None:
    """Refuse a prediction whose statement itself the format cannot hold."""
    if suffix not in _HELD:
        return
    beyond = sorted(set(arrays) - _HELD[suffix] - set(_LEFT_OUT[suffix]))
    if "probs" not in arrays or beyond:
        raise InputError(
            "prediction",
            f"{suffix} holds {listed(sorted(_HELD[suffix]))}, and no more",
            f"this prediction has {listed(beyond or sorted(arrays))}",
            "save it as .npz",
            code="format",
        )


def _check_text(arrays: Arrays, suffix: str) -> None:
    """Refuse text with lone surrogates, such as those of a file name that is not UTF-8, where the format is UTF-8."""
    if suffix not in _HELD:
        return
    for key, value in arrays.items():
        if (broken := lone_surrogates(value)).any():
            got = f"got {str(np.atleast_1d(value)[broken][0])!r}"
            raise InputError(
                key, f"{suffix} is UTF-8, which has no lone surrogates", got, "save it as .npz", code="encoding"
            )


def _check_sums(prediction: Prediction, suffix: str) -> None:
    """Refuse probabilities whose type the format does not keep, if their sums are then too far from 1."""
    probs = getattr(prediction, "probs", None)
    if probs is not None and suffix in _HELD:
        check_sums(probs, suffix, np.float64 if suffix in (".csv", ".jsonl") else probs.dtype.type)


def _lost(arrays: Any, suffix: str) -> tuple[Note, ...]:
    """One note for each part that is there and that the format leaves out."""
    lost = []
    for key, part in _LEFT_OUT.get(suffix, {}).items():
        value = arrays.get(key)
        if part and value is not None and len(value):
            lost.append(Note(f"{key.replace('_', '-')}-lost", f"{suffix} does not hold {part}", {"key": key}))
    return tuple(lost)
