"""Reading and writing predictions: load, save, load_labels, inspect_file, file_hash.

The extension decides the format and the named keys decide the kind of prediction; nothing is ever unpickled.

| format | holds | memory map |
|---|---|---|
| `.npz` | every kind, with labels, names, ids, groups | arrays of 16 MB and more, where the file is uncompressed |
| `.npy` | the array of a `Point` or `Members`, or labels | always |
| `.safetensors` | as `.npz` | tensors of 16 MB and more |
| `.zarr` | as `.npz` | no: an array is read whole; use `.npy` for what exceeds memory |
| `.pt` | as `.npz`, through PyTorch's weights-only loader | by PyTorch |
| `.csv`, `.parquet` | one `Point` with label, id and group columns | no |
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._files import draft_of
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.base import Prediction
from uqassay.predictions.file_formats import Contents, StoredArray
from uqassay.predictions.file_inspection import file_hash, inspect_file
from uqassay.predictions.file_opening import (
    TABLES,
    asks_fd_shifts,
    format_of,
    open_contents,
    problems_named,
)
from uqassay.predictions.named_arrays import (
    ALIASES,
    arrays_from_prediction,
    as_names,
    key_of_bare_array,
    labels_as_indices,
    needed_keys,
    prediction_from_arrays,
    shown_keys,
)

__all__ = ["file_hash", "inspect_file", "load", "load_labels", "save"]

ZARR_MARKERS = ("zarr.json", ".zgroup", ".zarray")


def load(
    path: str | os.PathLike[str], *, kind: str | None = None, member_axis: int = 1, normalise: bool = False
) -> Prediction:
    """Read a prediction from a file.

    Parameters
    ----------
    path : str or path
        A file of one of the formats above. The keys decide the kind: `probs` with two axes is a `Point`, with three
        (n, M, K) `Members` (optional `weights`); `alpha`; `lower` and `upper`; `masses` or `beliefs` with `focal_sets`;
        `vertices`; `mean` and `variance`; `logits`, which go through a softmax. A `.npy` file holds `probs`.
        Also read where present: `class_names` (or `classes`), `ids`, `groups`, and the settings of the kind. Other keys
        are ignored. Labels are read by `load_labels`.
    kind : str, optional
        "point", "members", "dirichlet", "intervals", "masses", "beliefs", "vertices", "gaussian-logits" or "logits",
        where a file holds several kinds or is an array without a name; "fd-shifts" for that package's output (files
        named ``raw_logits*.npz`` or ``raw_output*.npz`` are known by their name).
    member_axis : int
        Where the members stand in `probs` or `logits`; (M, n, K) has `member_axis=0`.
    normalise : bool
        Divide non-negative probabilities by their sums first.

    Returns
    -------
    Prediction
        Its large arrays are read-only memory maps where the format allows.

    Raises
    ------
    FileFormatError
        The file is missing, damaged, of an unknown kind or holds pickled objects; its values break a rule.
    MissingDependencyError
        The format needs a package that is not installed.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "ensemble.npz")
    >>> uq.save(uq.Members([[[0.6, 0.4], [0.9, 0.1]]]), path)
    >>> uq.load(path)
    Members(probs=(1, 2, 2))
    >>> folder.cleanup()
    """
    path = Path(path)
    with problems_named(path):
        contents = open_contents(path, kind)
        kind = None if asks_fd_shifts(kind) else kind
        if contents.bare:
            values = contents.arrays["array"].read()
            arrays = {key_of_bare_array(kind, np.shape(values)): values}
        else:
            if path.suffix.lower() in TABLES and "probs" not in contents.arrays:
                found = shown_keys(contents.other | contents.arrays)
                raise InputError(
                    "columns",
                    "proba_0, proba_1, … (or proba_<name of the class>) are needed",
                    f"found {found}",
                    "rename the columns",
                    code="missing",
                )
            arrays = {key: contents.arrays[key].read() for key in needed_keys(contents.arrays, kind)}
            if contents.notes:
                arrays["notes"] = np.array(contents.notes)
        return prediction_from_arrays(arrays, kind=kind, member_axis=member_axis, normalise=normalise)


def load_labels(
    path: str | os.PathLike[str], key: str | None = None, *, class_names: tuple[str, ...] | None = None
) -> NDArray[Any]:
    """Read labels from a file of their own or from a prediction's file.

    Parameters
    ----------
    path : str or path
        The array of a `.npy` file; the key `labels` or `label` of the other formats; the column `label` of a table.
    key : str, optional
        Another key or column.
    class_names : sequence of str, optional
        Names of the classes, for labels given as names; otherwise those in the file.

    Returns
    -------
    ndarray (n,) or (n, K)
        Class indices, or votes and label distributions; numbers come as they are, names as int64 indices.

    Raises
    ------
    FileFormatError
        As for `load`; the key is missing; a label is neither a number nor the name of a class.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "labels.csv")
    >>> _ = path.write_text("id,label\\na,cat\\nb,dog\\n")
    >>> uq.load_labels(path, class_names=("dog", "cat")).tolist()
    [1, 0]
    >>> folder.cleanup()
    """
    path = Path(path)
    with problems_named(path):
        contents = open_contents(path, None)
        stored, name = _labels_in(contents, key)
        values = np.array(stored.read())
        if class_names is None:
            named = next((contents.arrays[k] for k in ("class_names", "classes") if k in contents.arrays), None)
            class_names = None if named is None else as_names(named.read())
        if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
            row = int(np.flatnonzero((values > np.iinfo(np.int64).max).reshape(len(values), -1).any(axis=1))[0])
            raise InputError(
                name,
                "must be below 2^63",
                f"row {row} holds {values[row]}",
                "mark it otherwise or drop it",
                code="range",
            )
        return labels_as_indices(values, class_names, name)


def save(prediction: Prediction, path: str | os.PathLike[str], *, labels: ArrayLike | None = None) -> None:
    """Write a prediction, and labels with it, so that `load` gives it back as it is.

    Parameters
    ----------
    prediction : Prediction
        Any of the seven kinds; `.npy` takes `Point` and `Members`, `.csv` and `.parquet` take `Point`. Text (`.csv`)
        comes back as float64, and ids that are plain whole numbers as int64; tables and `.npy` drop `notes` and
        `log_partition`.
    path : str or path
        The extension decides the format. The file appears whole or not at all: it is written under another name in the
        same folder first, and an older file stays intact until then. A symbolic link stays, and what it leads to is
        replaced; a pipe, a device, a folder or a file that may not be written is not.
    labels : array (n,) or (n, K), optional
        Class indices, or votes and label distributions; not in `.npy`.

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
    path = Path(path)
    if not isinstance(prediction, Prediction):
        raise InputError(
            "prediction",
            "must be a prediction such as Point or Members",
            f"got {type(prediction).__name__}",
            "make one by from_object",
            code="type",
        )
    with problems_named(path, "written"):
        write = format_of(path).write
        if not path.parent.is_dir():
            raise FileFormatError("folder", f"{path.parent} does not exist", "", "create it first", code="missing")
        arrays = arrays_from_prediction(prediction, labels)
        folder = path.suffix.lower() == ".zarr"
        if folder and path.exists() and not any((path / marker).exists() for marker in ZARR_MARKERS):
            what = "a folder" if path.is_dir() else "a file"
            raise FileFormatError(
                "path",
                f"is {what} that is not a zarr store, so it is not replaced",
                "",
                "choose another name",
                code="undefined",
            )
        with draft_of(path, folder=folder) as draft:
            write(draft, arrays)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _labels_in(contents: Contents, key: str | None) -> tuple[StoredArray, str]:
    if contents.bare and key is None:
        return contents.arrays["array"], "labels"
    everything = contents.other | contents.arrays
    wanted = ("labels", "label") if key is None else (key, ALIASES.get(key, key))
    for name in wanted:
        if name in everything:
            return everything[name], name
    found = shown_keys(everything)
    what = "labels or label" if key is None else repr(key)
    raise InputError(
        "key",
        f"the file has no {what}",
        f"found {found}",
        "give one of them as key, or labels of their own",
        code="missing",
    )
