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

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import FileFormatError, InputError, UqassayError
from uqassay.predictions import fd_shifts, file_formats, file_tables
from uqassay.predictions._base import Prediction
from uqassay.predictions.file_formats import Arrays, Contents, StoredArray
from uqassay.predictions.named_arrays import (
    ALIASES,
    KNOWN_KEYS,
    arrays_from_prediction,
    choose_form,
    key_of_bare_array,
    labels_as_indices,
    needed_keys,
    prediction_from_arrays,
)

__all__ = ["file_hash", "inspect_file", "load", "load_labels", "save"]


@dataclass(frozen=True)
class _Format:
    read: Callable[[Path], Contents]
    write: Callable[[Path, Arrays], None]


_FORMATS = {
    ".npz": _Format(file_formats.read_npz, file_formats.write_npz),
    ".npy": _Format(file_formats.read_npy, file_formats.write_npy),
    ".csv": _Format(file_tables.read_csv, file_tables.write_csv),
    ".parquet": _Format(file_tables.read_parquet, file_tables.write_parquet),
    ".safetensors": _Format(file_formats.read_safetensors, file_formats.write_safetensors),
    ".zarr": _Format(file_formats.read_zarr, file_formats.write_zarr),
    ".pt": _Format(file_formats.read_pt, file_formats.write_pt),
}
_PICKLES = (".pkl", ".pickle", ".joblib", ".dill")


# -- the public functions ---------------------------------------------------------------------------------------------


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
        The file is missing, damaged, of an unknown kind or holds pickled objects; or its values break a rule of the kind.
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
    with _problems_named(path):
        contents = _contents(path, kind)
        kind = None if _asks_fd_shifts(kind) else kind
        if contents.bare:
            stored = contents.arrays["array"]
            arrays = {key_of_bare_array(kind, stored.shape): stored.read()}
        else:
            if path.suffix.lower() in (".csv", ".parquet") and "probs" not in contents.arrays:
                found = ", ".join([*contents.arrays, *contents.other])
                raise InputError(
                    f"columns: proba_0, proba_1, … (or proba_<name of the class>) are needed; found {found}; "
                    "rename the columns."
                )
            arrays = {key: contents.arrays[key].read() for key in needed_keys(contents.arrays, kind)}
        prediction = prediction_from_arrays(arrays, kind=kind, member_axis=member_axis, normalise=normalise)
        return _with_notes(prediction, contents.notes)


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
    with _problems_named(path):
        contents = _contents(path, None)
        stored, name = _labels_in(contents, key)
        values = np.array(stored.read())
        if class_names is None:
            named = next((contents.arrays[k] for k in ("class_names", "classes") if k in contents.arrays), None)
            class_names = None if named is None else tuple(str(text) for text in np.asarray(named.read()).tolist())
        return labels_as_indices(values, class_names, name)


def save(prediction: Prediction, path: str | os.PathLike[str], *, labels: ArrayLike | None = None) -> None:
    """Write a prediction, and labels with it, so that `load` gives it back as it is.

    Parameters
    ----------
    prediction : Prediction
        Any of the seven kinds; `.npy` takes `Point` and `Members`, `.csv` and `.parquet` take `Point`. Text (`.csv`)
        comes back as float64, and ids that are plain whole numbers as int64; tables and `.npy` drop `notes`.
    path : str or path
        The extension decides the format. The file appears whole or not at all: it is written under another name in the
        same folder first, and an older file stays intact until then.
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
            f"prediction: must be a prediction such as Point or Members; got {type(prediction).__name__}; "
            "make one by from_object."
        )
    with _problems_named(path, "written"):
        write = _format_of(path).write
        if not path.parent.is_dir():
            raise FileFormatError(f"folder: {path.parent} does not exist; create it first.")
        if path.is_dir() and path.suffix.lower() != ".zarr":
            raise FileFormatError("path: is a folder; give the name of a file.")
        _replace_whole(path, write, arrays_from_prediction(prediction, labels))


def inspect_file(path: str | os.PathLike[str], *, kind: str | None = None, member_axis: int = 1) -> dict[str, Any]:
    """What a file holds, from the shapes and names alone where the format allows; JSON-able.

    Returns
    -------
    dict
        `file`, `format`, `bytes`; `kind` of the prediction (None where there is none, and then `problem` says why);
        `n_instances`, `n_classes`, `n_members`, `n_vertices`, `n_focal_sets` (None where not applicable); `class_names`;
        whether `labels`, `ids` and `groups` are inside; `arrays` with shape and dtype by key; `ignored` keys; `notes`.

    Examples
    --------
    >>> import pathlib, tempfile, uqassay as uq
    >>> from uqassay.predictions.files import inspect_file
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "ensemble.npz")
    >>> uq.save(uq.Members([[[0.6, 0.4], [0.9, 0.1]]]), path)
    >>> found = inspect_file(path)
    >>> found["kind"], found["n_members"], found["arrays"]
    ('members', 2, {'probs': {'shape': [1, 2, 2], 'dtype': 'float64'}})
    >>> folder.cleanup()
    """
    path = Path(path)
    with _problems_named(path):
        contents = _contents(path, kind)
        kind = None if _asks_fd_shifts(kind) else kind
        everything = contents.arrays | contents.other
        found: dict[str, Any] = {
            "file": path.name,
            "format": path.suffix.lower().removeprefix("."),
            "bytes": sum(part.stat().st_size for part in _files(path)),
            "kind": None,
            "problem": None,
            **dict.fromkeys(("n_instances", "n_classes", "n_members", "n_vertices", "n_focal_sets")),
            "class_names": None,
            **{key: any(ALIASES.get(k, k) == key for k in contents.arrays) for key in ("labels", "ids", "groups")},
            "arrays": {key: {"shape": list(a.shape), "dtype": a.dtype} for key, a in everything.items()},
            "ignored": [key for key in everything if key in contents.other or key not in KNOWN_KEYS | {"array"}],
            "notes": list(contents.notes),
        }
        try:
            found |= _sizes(contents, kind, member_axis)
        except InputError as problem:
            found["problem"] = str(problem)
        for key in ("class_names", "classes", "notes"):
            if key in contents.arrays:
                texts = [str(text) for text in np.asarray(contents.arrays[key].read()).reshape(-1).tolist()]
                found["class_names" if key == "classes" else key] = texts + (found["notes"] if key == "notes" else [])
        return found


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, in hexadecimal; of a folder (zarr) over the sorted names and contents of its files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from uqassay.predictions.files import file_hash
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "labels.csv")
    >>> _ = path.write_text("label\\n0\\n")
    >>> file_hash(path)[:12]
    '2dd9b0a0a0b2'
    >>> folder.cleanup()
    """
    path = Path(path)
    with _problems_named(path):
        if not path.exists():
            raise FileFormatError(f"path: there is no such file in {path.absolute().parent}; check the path.")
        digest = hashlib.sha256()
        for part in _files(path):
            if path.is_dir():
                digest.update(
                    part.relative_to(path).as_posix().encode() + b"\0" + str(part.stat().st_size).encode() + b"\0"
                )
            with part.open("rb") as stream:
                while block := stream.read(2**20):
                    digest.update(block)
        return digest.hexdigest()


# -- helpers ----------------------------------------------------------------------------------------------------------


@contextmanager
def _problems_named(path: Path, done: str = "read") -> Iterator[None]:
    """Every problem with a file becomes one sentence that begins with the file's name."""
    try:
        yield
    except InputError as problem:
        raise FileFormatError(f"{path.name}: {problem}") from problem
    except (UqassayError, MemoryError):
        raise
    except Exception as problem:  # whatever a damaged file makes its reader raise
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0].split(". ")[0].rstrip(".")
        remedy = (
            "it is damaged, incomplete or of another kind, so write it again" if done == "read" else "check the disk"
        )
        raise FileFormatError(f"{path.name}: cannot be {done} as {path.suffix} ({reason}); {remedy}.") from problem


def _format_of(path: Path) -> _Format:
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        raise FileFormatError(
            f"extension: {suffix} files are pickles, which can run any code and are never loaded; "
            "save the arrays as .npz, for example np.savez(path, probs=probs)."
        )
    if suffix not in _FORMATS:
        raise FileFormatError(
            f"extension: must be one of {', '.join(_FORMATS)}; got {suffix or 'none'!r}; convert or rename the file."
        )
    return _FORMATS[suffix]


def _contents(path: Path, kind: str | None) -> Contents:
    read = _format_of(path).read
    if not path.exists():
        raise FileFormatError(f"path: there is no such file in {path.absolute().parent}; check the path.")
    if path.is_dir() != (path.suffix.lower() == ".zarr"):
        is_what, should_be = ("a folder", "a file") if path.is_dir() else ("a file", "a folder")
        raise FileFormatError(f"path: is {is_what}, and {path.suffix} is {should_be}; check the path.")
    if path.is_file() and path.stat().st_size == 0:
        raise FileFormatError("size: the file is empty (0 bytes); write it again.")
    contents = read(path)
    if _asks_fd_shifts(kind) or fd_shifts.is_fd_shifts(path, contents):
        return fd_shifts.read_fd_shifts(path, contents)
    return contents


def _asks_fd_shifts(kind: str | None) -> bool:
    return isinstance(kind, str) and kind.lower().replace("_", "-") == "fd-shifts"


def _labels_in(contents: Contents, key: str | None) -> tuple[StoredArray, str]:
    if contents.bare and key is None:
        return contents.arrays["array"], "labels"
    everything = contents.other | contents.arrays
    wanted = ("labels", "label") if key is None else (key, ALIASES.get(key, key))
    for name in wanted:
        if name in everything:
            return everything[name], name
    found = ", ".join(everything) or "nothing"
    what = "labels or label" if key is None else repr(key)
    raise InputError(f"key: the file has no {what}; found {found}; give one of them as key, or labels of their own.")


def _with_notes(prediction: Prediction, notes: tuple[str, ...]) -> Prediction:
    return replace(prediction, notes=(*prediction.notes, *notes)) if notes else prediction


def _sizes(contents: Contents, kind: str | None, member_axis: int) -> dict[str, Any]:
    """Kind and sizes by the shapes alone."""
    if contents.bare:
        shape = contents.arrays["array"].shape
        form = choose_form([key_of_bare_array(kind, shape)], kind)
    else:
        form = choose_form(contents.arrays, kind)
        first = {"probs": "probs", "dirichlet": "alpha", "intervals": "lower", "gaussian-logits": "mean"}.get(
            form, form
        )
        shape = contents.arrays[first].shape
    if len(shape) not in (2, 3):
        raise InputError(f"shape: must have two or three axes; got {shape}; reshape the array.")
    axis = member_axis % 3 if form in ("probs", "logits", "gaussian-logits") and len(shape) == 3 else 1
    sizes: dict[str, Any] = {"kind": form, "n_instances": shape[1 if axis == 0 else 0], "n_classes": shape[-1]}
    if form in ("probs", "logits"):
        sizes["kind"] = "point" if len(shape) == 2 else "members"
    if form in ("masses", "beliefs"):
        sets = contents.arrays["focal_sets"].shape
        sizes |= {"kind": "masses", "n_focal_sets": shape[1], "n_classes": sets[1] if len(sets) == 2 else None}
    if len(shape) == 3:
        sizes["n_vertices" if form == "vertices" else "n_members"] = shape[axis]
    return sizes


def _files(path: Path) -> list[Path]:
    return sorted(part for part in path.rglob("*") if part.is_file()) if path.is_dir() else [path]


def _replace_whole(path: Path, write: Callable[[Path, Arrays], None], arrays: Arrays) -> None:
    """Write under another name in the same folder, then put it in place; on failure nothing is left behind."""
    folder = path.suffix.lower() == ".zarr"
    draft = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")
    try:
        if folder:
            write(draft, arrays)
        else:
            draft.touch()
            permissions = draft.stat().st_mode  # some writers make files that only the owner may read
            write(draft, arrays)
            draft.chmod(permissions)
        _put_in_place(draft, path)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True) if folder else draft.unlink(missing_ok=True)
        raise


def _put_in_place(draft: Path, path: Path) -> None:
    if not path.is_dir():
        os.replace(draft, path)
        return
    if not any((path / marker).exists() for marker in ("zarr.json", ".zgroup", ".zarray")):
        raise FileFormatError("path: is a folder that is not a zarr store, so it is not replaced; choose another name.")
    older = draft.with_suffix(".old")
    os.replace(path, older)
    try:
        os.replace(draft, path)
    except BaseException:
        os.replace(older, path)
        raise
    shutil.rmtree(older)
