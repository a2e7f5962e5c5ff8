"""Reading and writing predictions: load, save, what_is_lost, load_labels, load_column, inspect_file, file_hash.

The extension decides the format and the named keys decide the kind of prediction; nothing is ever unpickled.

| format | holds | memory map |
|---|---|---|
| `.npz` | every kind, with labels, names, ids, groups | arrays of 16 MB and more; compressed ones as `.zarr` |
| `.npy` | the array of a `Point` or `Members`, or labels | always |
| `.safetensors` | as `.npz` | tensors of 16 MB and more |
| `.zarr` | as `.npz` | of a temporary file, from 256 MiB on; see `file_unpacking` |
| `.pt` | as `.npz`, through PyTorch's weights-only loader | by PyTorch |
| `.csv`, `.parquet` | one `Point` with label, id and group columns | `.parquet` as `.zarr` |
| `.jsonl` | one `Point` or `Members`, one instance per line, rows with different numbers of options included | no |

Sizes that a file declares are checked before anything is allocated; see `file_limits`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array
from uqassay.errors import InputError
from uqassay.predictions.base import Prediction
from uqassay.predictions.file_contents import Contents, StoredArray
from uqassay.predictions.file_csv import refuse_empty_cell
from uqassay.predictions.file_inspection import file_hash, inspect_file
from uqassay.predictions.file_limits import check_expansion
from uqassay.predictions.file_opening import (
    TABLES,
    as_path,
    asks_fd_shifts,
    open_contents,
    parts_of,
    problems_named,
)
from uqassay.predictions.file_saving import LossyFormatWarning, save, what_is_lost
from uqassay.predictions.labels import portable_labels
from uqassay.predictions.metadata import checked_class_names
from uqassay.predictions.named_arrays import as_names, prediction_from_arrays
from uqassay.predictions.prediction_keys import ALIASES, key_of_bare_array, needed_keys, shown_keys

__all__ = [
    "LossyFormatWarning",
    "file_hash",
    "inspect_file",
    "load",
    "load_class_names",
    "load_column",
    "load_labels",
    "save",
    "what_is_lost",
]


def load(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    member_axis: int = 1,
    normalise: bool = False,
    variance_is: str | None = None,
) -> Prediction:
    """Read a prediction from a file.

    Parameters
    ----------
    path : str or path
        A file of one of the formats above. The keys decide the kind: `probs` with two axes is a `Point`, with three
        (n, M, K) `Members` (optional `weights`); `alpha`; `lower` and `upper`; `masses` or `beliefs` with `focal_sets`;
        `vertices`; `mean`, `variance` and `variance_is`; `logits`, which go through a softmax; `sets`. A `.npy` file holds
        `probs`, or `sets` as truth values.
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
    variance_is : {"aleatoric", "epistemic"}, optional
        Meaning of `variance` in a file that does not state it; see `GaussianLogits`.

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
    path = as_path(path)
    with problems_named(path):
        contents = open_contents(path, kind)
        kind = None if asks_fd_shifts(kind) else kind
        if contents.bare:
            values = contents.arrays["array"].read()
            arrays = {key_of_bare_array(kind, values): values}
        else:
            if path.suffix.lower() in TABLES and "probs" not in contents.arrays:
                found = shown_keys(contents.other | contents.arrays)
                raise InputError(
                    "columns",
                    "one of decimal numbers is needed for each class, named proba_<name of the class> or as you like",
                    f"found {found}",
                    "name the columns of probabilities proba_0, proba_1, …",
                    code="missing",
                )
            arrays = {
                key: contents.arrays[key].read() for key in needed_keys(contents.arrays, kind, others=contents.other)
            }
        if contents.notes:  # of the reader; formats that give such notes hold none themselves
            arrays["notes"] = contents.notes
        _check_draws_ordered(arrays, path)
        try:
            return prediction_from_arrays(
                arrays, kind=kind, member_axis=member_axis, normalise=normalise, variance_is=variance_is
            )
        except InputError as problem:
            if contents.classes and problem.code in ("sum", "not-probabilities"):
                problem = problem.replace(got=f"{problem.got}, in the columns {shown_keys(contents.classes)}")
            row = problem.facts.get("row")
            if contents.lines is None or not isinstance(row, (int, np.integer)) or row >= len(contents.lines):
                raise problem from None
            line = int(contents.lines[row])
            raise problem.replace(source=f"{path.name}, line {line}", facts=problem.facts | {"line": line}) from problem


def load_labels(
    path: str | os.PathLike[str], key: str | None = None, *, class_names: Sequence[str] | None = None
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
        Labels, votes or label distributions, to be given to `assay` together with the predictions. Names become int64
        indices; numbers come as they are. Where the class names are whole numbers (1, 2, 3), a number means the class of
        that name, here as everywhere, and a text such as "3" becomes that number.

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
    path = as_path(path)
    with problems_named(path):
        if not isinstance(key, (str, NoneType)):
            raise InputError("key", "must be text", f"got {type(key).__name__}", "leave it out", code="type")
        contents = open_contents(path, None)
        stored, name = _labels_in(contents, key, path.name)
        values = np.array(as_array(stored.read(), name))
        if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
            row = int(np.flatnonzero((values > np.iinfo(np.int64).max).reshape(len(values), -1).any(axis=1))[0])
            raise InputError(
                name,
                "must be below 2^63",
                f"row {row} holds {values[row]}",
                "mark it otherwise or drop it",
                code="range",
                facts={"row": row},
            )
        if values.ndim != 1 or (key is not None and values.dtype.kind in "iuf"):  # other columns may hold any numbers
            return values
        if class_names is None:
            named = next((contents.arrays[k] for k in ("class_names", "classes") if k in contents.arrays), None)
            class_names = None if named is None else as_names(named.read(), "class_names")
        else:
            listed = isinstance(class_names, (list, tuple))
            count = len(class_names) if listed else as_array(class_names, "class_names").size
            class_names = checked_class_names(class_names, count)
        return portable_labels(values, class_names, name=name)


def load_column(path: str | os.PathLike[str], names: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read one array, and the ids in the same file where it has any.

    Parameters
    ----------
    path : str or path
        A file of any of the formats.
    names : sequence of str
        Keys or columns, of which the first that is there is read. A `.npy` file, and a file with one array besides its
        ids, need none of these names.

    Returns
    -------
    values : ndarray
    ids : ndarray or None

    Raises
    ------
    FileFormatError
        The file cannot be read, or has none of the names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "sites.csv")
    >>> _ = path.write_text("id,site\\n7,north\\n9,south\\n")
    >>> values, ids = load_column(path, ["groups"])
    >>> values.tolist(), ids.tolist()
    (['north', 'south'], [7, 9])
    >>> folder.cleanup()
    """
    path = as_path(path)
    with problems_named(path):
        contents = open_contents(path)
        arrays = contents.arrays if contents.classes and names[0] == "probs" else contents.columns()
        others = [key for key in arrays if ALIASES.get(key, key) != "ids"]
        roles = [name for key in names for name in (key, ALIASES.get(key, key))]
        wanted = next((key for key in roles if key in arrays), others[0] if len(others) == 1 else None)
        if wanted is None:
            raise InputError(
                names[0],
                "must be a key or column of the file",
                f"found {shown_keys(others)}",
                f"name one of them {names[0]}",
                code="missing",
                facts={"file": path.name, "found": tuple(others)},
            )
        ids = next((arrays[key] for key in arrays if ALIASES.get(key, key) == "ids"), None)
        values = np.array(as_array(arrays[wanted].read(), wanted))
        if path.suffix.lower() == ".csv" and values.dtype.kind == "U":
            empty = np.flatnonzero(np.char.strip(values) == "")
            if empty.size:
                refuse_empty_cell(wanted, int(empty[0]))
        return values, None if ids is None else np.array(as_array(ids.read(), "ids"))


def load_class_names(path: str | os.PathLike[str]) -> tuple[str, ...] | None:
    """The class names that a file holds (`class_names` or `classes`); None if it has none.

    Raises
    ------
    FileFormatError
        The file cannot be read.
    """
    path = as_path(path)
    with problems_named(path):
        arrays = open_contents(path).arrays
        named = next((arrays[key] for key in ("class_names", "classes") if key in arrays), None)
        return None if named is None else tuple(map(str, as_names(named.read(), "class_names")))


# -- helpers ----------------------------------------------------------------------------------------------------------


def _check_draws_ordered(arrays: Mapping[str, Any], path: Path) -> None:
    """Refuse a number of draws for which those of one instance, which are held at once, take more memory than the file may."""
    n_draws, of_class = np.asarray(arrays.get("n_draws", 0)), arrays.get("alpha", arrays.get("mean"))
    if of_class is not None and n_draws.size == 1 and n_draws.dtype.kind in "iu":
        stored = sum(part.stat().st_size for part in parts_of(path))
        check_expansion(
            "n_draws", (max(int(n_draws.item()), 0), np.shape(of_class)[-1] if np.ndim(of_class) else 1), 8, stored
        )


def _labels_in(contents: Contents, key: str | None, file: str) -> tuple[StoredArray, str]:
    if contents.bare and key is None:
        return contents.arrays["array"], "labels"
    everything = contents.columns()
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
        facts={"file": file, "found": tuple(key for key in everything if ALIASES.get(key, key) != "ids")},
    )
