"""Data of the user: features in files, and sets of the Hugging Face Hub."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import RandomState
from uqassay.checks import fail
from uqassay.errors import FileFormatError, InputError
from uqassay.files import optional_package, problems_named
from uqassay.lab.datasets.dataset import Dataset, as_features, shares_of_bytes, stratified_split
from uqassay.lab.datasets.images import holds_packed_images, unpacked_images
from uqassay.predictions import read_npz
from uqassay.text import listed, said

__all__ = [
    "feature_files",
    "load_features",
    "load_hugging_face",
    "load_npz",
]


# Features in files of the user: npz, csv and svmlight (for the tf-idf sets of the credal calibration paper).
#
# Images ``(n, C, H, W)`` of bytes become float32 in [0, 1]; other whole numbers become float64.

Arrays = dict[str, NDArray[Any]]
SPLIT = ("X_train", "y_train", "X_test", "y_test")
SVMLIGHT = (".svmlight", ".svm", ".libsvm")
FORMATS = (".npz", ".csv", *SVMLIGHT)


def load_npz(path: Path, *, name: str | None = None, test_size: float | int = 0.2, rng: RandomState = None) -> Dataset:
    """A data set from npz files; nothing pickled is ever loaded.

    Parameters
    ----------
    path : Path
        A folder with ``train.npz`` and ``test.npz`` (arrays ``X``, ``y`` and optionally ``groups``), a folder with one npz
        file, or that file: ``X_train``, ``y_train``, ``X_test``, ``y_test``, or ``X`` and ``y``, which are split. Every file
        may hold ``class_names``, and a file with a test part ``votes_test`` (in ``test.npz``: ``votes``). With names or votes,
        labels are class indices 0, 1, …, K − 1, and a class may have no instances. Without either, the classes are the whole
        numbers in the labels, sorted, with their digits as names. A file may hold packed images in place of ``X`` and ``y``,
        see `uqassay.lab.datasets.images`.
    """
    with problems_named(path):
        arrays = _arrays(path)
        if holds_packed_images(arrays):
            arrays = unpacked_images(arrays)
        if not set(SPLIT) <= set(arrays):
            arrays = _split(arrays, test_size, rng)
        fields: dict[str, Any] = {key: arrays[key] for key in SPLIT}
        fields |= {key: arrays[key] for key in ("votes_test", "groups_train", "groups_test") if key in arrays}
        for key in ("X_train", "X_test"):
            if fields[key].dtype == np.uint8 and fields[key].ndim == 4:
                fields[key] = shares_of_bytes(fields[key])
        names = arrays.get("class_names")
        if names is None and "votes_test" in fields and fields["votes_test"].ndim == 2:
            names = np.arange(fields["votes_test"].shape[1])
        if names is None:
            names, fields["y_train"], fields["y_test"] = _numbered(fields["y_train"], fields["y_test"])
    return Dataset(name or path.stem, class_names=tuple(map(str, names)), source=path.name, **fields)


def load_features(name: str, folder: Path, *, source: str = "", licence: str = "") -> Dataset:
    """Training and test features from ``<name>/train.*`` and ``<name>/test.*`` in the cache folder.

    Formats: ``.npz`` (X, y), ``.csv`` (a header, one column ``label``, numbers in the others), ``.svmlight`` (read by
    scikit-learn). Labels may be numbers or text; the sorted labels are the classes. Features become float32, because tf-idf
    sets are wide.
    """
    files = feature_files(name, folder)
    if not files:
        fail(
            name,
            "cannot be downloaded",
            "",
            f"put its features at {folder / name / 'train.npz'} and test.npz (X, y), or as {listed(FORMATS[1:], last='or')}; "
            f"or its sequences at {folder / name / 'sequences.fasta'}, .txt or .csv",
            code="missing",
        )
    (train, test), suffix = files, files[0].suffix
    if suffix in SVMLIGHT:
        sklearn = optional_package("sklearn.datasets", "lab", "reading svmlight files")
        with problems_named(train):
            x_train, labels_train, x_test, labels_test = sklearn.load_svmlight_files((train, test))
            x_train, x_test = (x.astype(np.float32).toarray() for x in (x_train, x_test))
    else:
        read = _csv if suffix == ".csv" else _npz
        of_train, of_test = read(train), read(test)
        if not all({"X", "y"} <= set(part) for part in (of_train, of_test)):
            rule = "must be X and y in both files"
            got = f"got {listed(sorted({*of_train, *of_test}))}"
            raise FileFormatError("arrays", rule, got, "rename them", code="missing", source=train.name)
        x_train, labels_train, x_test, labels_test = of_train["X"], of_train["y"], of_test["X"], of_test["y"]
    classes, number = np.unique(np.concatenate([labels_train, labels_test]), return_inverse=True)
    n = len(labels_train)
    names = [f"{c:g}" if isinstance(c, np.floating) else str(c) for c in classes]
    return Dataset(
        name,
        X_train=x_train.astype(np.float32),
        y_train=number[:n],
        X_test=x_test.astype(np.float32),
        y_test=number[n:],
        class_names=tuple(names),
        source=source,
        licence=licence,
    )


def feature_files(name: str, folder: Path) -> tuple[Path, ...]:
    """The training and the test file of `load_features`, or none."""
    for suffix in FORMATS:
        files = tuple(folder / name / f"{part}{suffix}" for part in ("train", "test"))
        if all(file.is_file() for file in files):
            return files
    return ()


# -- reading ----------------------------------------------------------------------------------------------------------


def _arrays(path: Path) -> Arrays:
    """All arrays of a file or of a folder, named as in a file with a split."""
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
        rule = "must be a file, or a folder with train.npz and test.npz or one npz file"
        raise FileFormatError("npz", rule, f"{path} has {len(files)} npz files", "check the path", code="missing")
    return _npz(files[0])


def _split(arrays: Arrays, test_size: float | int, rng: RandomState) -> Arrays:
    """The arrays with X, y and groups split into a training and a test part."""
    if not {"X", "y"} <= set(arrays):
        rule = "must be X_train, y_train, X_test and y_test, or X and y"
        got = f"got {listed(sorted(arrays)) or 'none'}"
        raise FileFormatError("arrays", rule, got, "rename the arrays", code="missing")
    n = len(_indices(arrays["y"], "y"))
    for key in ("X", "groups"):
        if key in arrays and arrays[key].shape[:1] != (n,):
            rule = f"must have one row for each of {n} labels"
            got = f"got shape {arrays[key].shape}"
            raise FileFormatError(key, rule, got, "save arrays that belong together", code="mismatch")
    if arrays["X"].dtype.kind == "f":  # before the split, so that an error names the user's row
        as_features(arrays["X"], "X")
    try:
        train, test = stratified_split(arrays["y"], test_size, rng)
    except InputError as problem:
        remedy = "add instances, or save a split as X_train, y_train, X_test and y_test"
        raise problem.replace(remedy=remedy) from problem
    found = {key: array for key, array in arrays.items() if key == "class_names"}
    for key in ("X", "y", "groups"):
        if key in arrays:
            found |= {f"{key}_train": arrays[key][train], f"{key}_test": arrays[key][test]}
    return found


def _numbered(y_train: NDArray[Any], y_test: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The whole numbers in the labels, sorted, and the labels as their indices."""
    parts = [_indices(y_train, "y_train"), _indices(y_test, "y_test")]
    found = np.unique(np.concatenate(parts))
    if len(found) < 2 or (found != np.rint(found)).any():
        rule = "must be whole numbers of at least two classes"
        remedy = "number the classes, and save their names as class_names"
        raise FileFormatError("labels", rule, f"got {', '.join(map(str, found[:3]))}", remedy, code="range")
    for labels in parts:
        if labels.size and not -(2**63) <= int(labels.min()) <= int(labels.max()) < 2**63:
            rule = "must be whole numbers that fit 64 bits with a sign"
            remedy = "number the classes, and save their names as class_names"
            raise FileFormatError("labels", rule, f"got {labels.min()} … {labels.max()}", remedy, code="range")
    names, numbers = np.unique(np.concatenate([labels.astype(np.int64) for labels in parts]), return_inverse=True)
    return names, numbers[: len(y_train)], numbers[len(y_train) :]


def _indices(y: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels that may be class indices."""
    if y.ndim != 1 or y.dtype.kind not in "biuf" or not np.isfinite(y).all():
        got = f"got {y.dtype} of shape {y.shape}{', or NaN among them' if y.dtype.kind == 'f' else ''}"
        remedy = "number the classes, and save their names as class_names"
        raise FileFormatError(name, "must hold one class index 0, 1, … for each instance", got, remedy, code="type")
    return y


def _npz(path: Path) -> Arrays:
    with problems_named(path):
        return {name: np.asarray(stored.read()) for name, stored in read_npz(path).arrays.items()}


def _csv(path: Path) -> Arrays:
    with problems_named(path):
        with path.open(encoding="utf-8-sig") as lines:  # spreadsheets write a byte order mark
            header = [column.strip() for column in lines.readline().split(",")]
            if header.count("label") != 1:
                rule = "must have one named label"
                got = f"got {header.count('label')}"
                raise FileFormatError("columns", rule, got, "name it in the first line", code="missing")
            rows = [line.strip().split(",") for line in lines if line.strip()]
        at = header.index("label")
        wrong = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
        if wrong is not None:
            rule = f"must be {len(header)} in every line"
            got = f"got {len(rows[wrong])} in row {wrong}"
            raise FileFormatError("columns", rule, got, "write the file again", code="shape")
        x = np.array([row[:at] + row[at + 1 :] for row in rows], dtype=np.float32)
        return {"X": x, "y": np.array([row[at].strip() for row in rows])}


# Labelled sets of images or numbers of the Hugging Face Hub, by the package ``datasets``.

LABELS = ("label", "labels", "target", "fine_label")
TESTS = ("test", "validation")
GREY = ("1", "L", "LA")


def load_hugging_face(
    name: str, folder: Path, *, test_size: float | int = 0.2, rng: RandomState = None, image_size: int | None = None
) -> Dataset:
    """A data set of the Hugging Face Hub, or of a local folder in its form.

    Parameters
    ----------
    name : str
        For example ``ylecun/mnist``. No code of a data set is run.
    folder : Path
        The cache folder; downloads go to ``huggingface`` in it.
    test_size : float or int
        Used if the set has no part ``test`` or ``validation`` with labels.
    image_size : int, optional
        Height and width; None keeps the size of the images, which must then be the same for all.

    Returns
    -------
    Dataset
        Images ``(n, 1 or 3, H, W)`` float32 in [0, 1] if there is a column of images, else all columns of numbers.
    """
    hub = optional_package("datasets", "datasets>=2.20", f"hf:{name}")
    place = folder / "huggingface"
    try:
        held = hub.load_dataset(name, cache_dir=str(place))
    except (OSError, ValueError, RuntimeError, hub.exceptions.DatasetsError) as problem:
        rule = f"{name} cannot be read from https://huggingface.co"
        remedy = f"download it once where there is a network, and copy the folder {place}"
        raise InputError("hf", rule, said(problem), remedy, code="unreadable") from problem
    parts = dict(held)
    if "train" not in parts:
        rule = f"{name} must have a part train"
        fail("hf", rule, f"it has {listed(list(parts))}", "choose another set", code="missing")
    column = _label_column(parts["train"], name, hub)
    classes, y = _labels(parts["train"], column, hub)
    x = _features(parts["train"], column, image_size, name, hub)
    test = next((p for p in TESTS if p in parts and column in parts[p].features and min(parts[p][column]) != -1), None)
    if test is not None:
        of_test, y_test = _labels(parts[test], column, hub)
        x_test = _features(parts[test], column, image_size, name, hub)
        if of_test != classes:
            rule = f"the parts train and {test} of {name} must have the same classes"
            fail("hf", rule, f"got {len(classes)} and {len(of_test)}", "choose another set", code="mismatch")
    else:
        train, left = stratified_split(y, test_size, rng)
        x, y, x_test, y_test = x[train], y[train], x[left], y[left]
    licence = str(getattr(parts["train"].info, "license", "") or "")
    return Dataset(
        f"hf:{name}",
        X_train=x,
        y_train=y,
        X_test=x_test,
        y_test=y_test,
        class_names=classes,
        source=f"https://huggingface.co/datasets/{name}",
        licence=licence,
    )


def _label_column(part: Any, name: str, hub: Any) -> str:
    stated = [c for c, feature in part.features.items() if isinstance(feature, hub.ClassLabel)]
    named = [c for c in LABELS if c in part.features]
    if len(stated) == 1:
        return str(stated[0])
    if named:
        return named[0]
    rule = f"{name} must have one column of classes"
    fail("hf", rule, f"it has {listed(list(part.features))}", "choose another set", code="missing")


def _labels(part: Any, column: str, hub: Any) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    feature, values = part.features[column], np.asarray(part[column][:])
    if isinstance(feature, hub.ClassLabel):
        return tuple(map(str, feature.names)), values.astype(np.int64)
    classes, y = np.unique(values, return_inverse=True)
    return tuple(map(str, classes)), y.astype(np.int64)


def _features(part: Any, label: str, image_size: int | None, name: str, hub: Any) -> NDArray[Any]:
    images = [c for c, feature in part.features.items() if isinstance(feature, hub.Image)]
    if images:
        return _images(part, images[0], image_size, name)
    numbers = [
        c for c, f in part.features.items() if c != label and str(getattr(f, "dtype", "")).startswith(("int", "float"))
    ]
    if not numbers:
        got = f"it has {listed(list(part.features))}"
        fail("hf", f"{name} must have images or numbers", got, "choose another set", code="missing")
    return np.column_stack([np.asarray(part[c][:], dtype=np.float64) for c in numbers])


def _images(part: Any, column: str, image_size: int | None, name: str) -> NDArray[np.float32]:
    first = part[0][column]
    mode = "L" if first.mode in GREY else "RGB"
    shape = first.size if image_size is None else (image_size, image_size)  # width, height
    out = np.empty((len(part), len(mode) if mode == "RGB" else 1, shape[1], shape[0]), dtype=np.float32)
    for i, row in enumerate(part):
        image = row[column].convert(mode)
        if image.size != shape and image_size is None:
            rule = f"must be given if the images of {name} differ in size"
            fail("image_size", rule, f"got {shape} and {image.size}", "give one size", code="shape")
        pixels = np.asarray(image if image.size == shape else image.resize(shape), dtype=np.float32)
        out[i] = pixels.reshape(shape[1], shape[0], -1).transpose(2, 0, 1)
    out /= np.float32(255)
    return out
