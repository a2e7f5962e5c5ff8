"""Features that a user has: npz files, tables of text, svmlight; the last for the tf-idf sets of paper 001.

Whole numbers in images ``(n, C, H, W)`` of bytes become [0, 1]; other whole numbers stay as they are, as float64.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState
from uqassay._optional import optional_package
from uqassay.datasets.dataset import Dataset, as_features, shares_of_bytes
from uqassay.datasets.splits import stratified_split
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.file_opening import problems_named

__all__ = ["load_features", "load_npz"]

Arrays = dict[str, NDArray[Any]]
SVMLIGHT = (".svmlight", ".svm", ".libsvm")
FORMATS = (".npz", ".csv", *SVMLIGHT)


def load_npz(path: Path, *, name: str | None = None, test_size: float | int = 0.2, rng: RandomState = None) -> Dataset:
    """A data set from npz files; nothing pickled is ever loaded.

    Parameters
    ----------
    path : Path
        A folder with ``train.npz`` and ``test.npz`` (arrays ``X``, ``y``, and ``groups`` if there are any), a folder with
        one npz file, or that file: ``X_train``, ``y_train``, ``X_test``, ``y_test``, or ``X`` and ``y``, which are
        split. ``class_names`` may stand in any of them, ``votes_test`` (in ``test.npz``: ``votes``) where there is a test.
        With names or votes, labels are class indices 0, 1, …, K − 1, and a class may lack instances. Without either, the
        classes are the whole numbers that occur, in their order and with their digits as names.
    name : str, optional
    test_size : float or int
    rng : int, SeedSequence, Generator or None

    Raises
    ------
    FileFormatError
        Files or arrays that are missing, or that cannot be read.
    """
    arrays = _arrays(path)
    split = {"X_train", "y_train", "X_test", "y_test"}
    if not split <= set(arrays):
        if not {"X", "y"} <= set(arrays):
            raise FileFormatError(
                path.name,
                "must hold X_train, y_train, X_test and y_test, or X and y",
                f"got {', '.join(sorted(arrays)) or 'nothing'}",
                "rename the arrays",
                code="type",
            )
        n = len(_indices(arrays["y"], "y", path))
        for key in ("X", "groups"):
            if key in arrays and arrays[key].shape[:1] != (n,):
                raise FileFormatError(
                    path.name,
                    f"{key} must have one row for each of {n} labels",
                    f"got shape {arrays[key].shape}",
                    "save arrays that belong together",
                    code="shape",
                )
        if arrays["X"].dtype.kind == "f":  # named as the user's array and row, not as those of the split
            as_features(arrays["X"], "X")
        try:
            train, test = stratified_split(arrays["y"], test_size, rng)
        except InputError as problem:
            raise FileFormatError(
                path.name,
                f"X and y cannot be split ({str(problem).rstrip('.')})",
                "",
                "add instances, or save a split of your own as X_train, y_train, X_test and y_test",
                code="undefined",
            ) from problem
        for key in ("X", "y", "groups"):
            if key in arrays:
                arrays |= {f"{key}_train": arrays[key][train], f"{key}_test": arrays[key][test]}
    fields: dict[str, Any] = {key: arrays[key] for key in split}
    fields |= {key: arrays[key] for key in ("votes_test", "groups_train", "groups_test") if key in arrays}
    for key in ("X_train", "X_test"):
        if fields[key].dtype == np.uint8 and fields[key].ndim == 4:
            fields[key] = shares_of_bytes(fields[key])
    names = arrays.get("class_names")
    if names is None and "votes_test" in fields and fields["votes_test"].ndim == 2:
        names = np.arange(fields["votes_test"].shape[1])
    if names is None:
        parts = {key: _indices(fields[key], key, path) for key in ("y_train", "y_test")}
        names = np.unique(np.concatenate(list(parts.values())))
        if len(names) < 2 or (names != np.rint(names)).any():
            raise FileFormatError(
                path.name,
                "labels must be whole numbers of at least two classes",
                f"got {', '.join(map(str, names[:3]))}",
                "number the classes, and save their names as class_names",
                code="range",
            )
        for key, labels in parts.items():
            if labels.size and not -(2**63) <= int(labels.min()) <= int(labels.max()) < 2**63:
                raise FileFormatError(
                    path.name,
                    "labels must be whole numbers that fit 64 bits with a sign",
                    f"got {labels.min()} … {labels.max()}",
                    "number the classes, and save their names as class_names",
                    code="type",
                )
            fields[key] = labels.astype(np.int64)
        names, numbers = np.unique(np.concatenate([fields["y_train"], fields["y_test"]]), return_inverse=True)
        fields |= {"y_train": numbers[: len(fields["y_train"])], "y_test": numbers[len(fields["y_train"]) :]}
    return Dataset(name or path.stem, class_names=tuple(map(str, names)), source=path.name, **fields)


def load_features(name: str, folder: Path, *, source: str = "", licence: str = "") -> Dataset:
    """Training and test features from ``<name>/train.*`` and ``<name>/test.*`` in the cache folder.

    Formats: ``.npz`` (X, y), ``.csv`` (a header with one column ``label``, the others numbers), ``.svmlight`` (read by
    scikit-learn). Labels may be any numbers or text; classes are numbered in their order. Features become float32,
    since tf-idf sets are wide.

    Raises
    ------
    InputError
        No such files: they cannot be downloaded.
    """
    for suffix in FORMATS:
        train, test = (folder / name / f"{part}{suffix}" for part in ("train", "test"))
        if train.is_file() and test.is_file():
            break
    else:
        raise InputError(
            name,
            "cannot be downloaded",
            "",
            f"put its features at {folder / name / 'train.npz'} and test.npz (X, y), or as {', '.join(FORMATS[1:])}",
            code="unreadable",
        )
    if suffix in SVMLIGHT:
        sklearn = optional_package("sklearn.datasets", "datasets", "reading svmlight files")
        with problems_named(train):
            x_train, labels_train, x_test, labels_test = sklearn.load_svmlight_files((train, test))
            x_train, x_test = (x.astype(np.float32).toarray() for x in (x_train, x_test))
    else:
        read = _csv if suffix == ".csv" else _npz
        of_train, of_test = read(train), read(test)
        if not all({"X", "y"} <= set(part) for part in (of_train, of_test)):
            raise FileFormatError(
                train.name, "both files must hold X and y", f"got {', '.join(of_train)}", "rename them", code="type"
            )
        x_train, labels_train, x_test, labels_test = of_train["X"], of_train["y"], of_test["X"], of_test["y"]
    classes, number = np.unique(np.concatenate([labels_train, labels_test]), return_inverse=True)
    n = len(labels_train)
    names = [f"{c:g}" if isinstance(c, np.floating) else str(c) for c in classes]
    return Dataset(
        name, x_train.astype(np.float32), number[:n], x_test.astype(np.float32), number[n:], tuple(names),
        source=source, licence=licence,
    )  # fmt: skip


# -- reading ----------------------------------------------------------------------------------------------------------


def _arrays(path: Path) -> Arrays:
    """All arrays of a file or of a folder, by the names that a file with a split has."""
    if path.is_file():
        return _npz(path)
    parts = {part: path / f"{part}.npz" for part in ("train", "test")}
    if all(file.is_file() for file in parts.values()):
        arrays: Arrays = {}
        for part, file in parts.items():
            for key, array in _npz(file).items():
                arrays[key if key == "class_names" else f"{key}_{part}"] = array
        return arrays
    files = sorted(path.glob("*.npz")) if path.is_dir() else []
    if len(files) != 1:
        raise FileFormatError(
            "npz",
            "needs a file, or a folder with train.npz and test.npz or one npz file",
            f"{path} has {len(files)}",
            "check the path",
            code="missing",
        )
    return _npz(files[0])


def _indices(y: NDArray[Any], name: str, path: Path) -> NDArray[Any]:
    """Labels that may be class indices."""
    if y.ndim != 1 or y.dtype.kind not in "biuf" or not np.isfinite(y).all():
        raise FileFormatError(
            path.name,
            f"{name} must hold one class index 0, 1, … for each instance",
            f"got {y.dtype} of shape {y.shape}{(', or NaN among them' if y.dtype.kind == 'f' else '')}",
            "number the classes, and save their names as class_names",
            code="finite",
        )
    return y


def _npz(path: Path) -> Arrays:
    try:
        with problems_named(path), path.open("rb") as stream, np.load(stream, allow_pickle=False) as held:
            return {key: held[key] for key in held.files}
    except MemoryError as problem:
        raise FileFormatError(
            path.name, f"does not fit into memory ({problem})", "", "check what it holds", code="mismatch"
        ) from problem


def _csv(path: Path) -> Arrays:
    with problems_named(path):
        with path.open(encoding="utf-8-sig") as lines:  # spreadsheets put a mark of the encoding first
            header = [column.strip() for column in lines.readline().split(",")]
            if header.count("label") != 1:
                raise FileFormatError("must have one column named label; name it in the first line.")
            rows = [line.strip().split(",") for line in lines if line.strip()]
        at = header.index("label")
        if any(len(row) != len(header) for row in rows):
            raise FileFormatError(f"every line must have {len(header)} columns; write it again.")
        x = np.array([row[:at] + row[at + 1 :] for row in rows], dtype=np.float32)
        return {"X": x, "y": np.array([row[at].strip() for row in rows])}
