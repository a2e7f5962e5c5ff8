"""Labelled sets of images or numbers of the Hugging Face Hub, by the package ``datasets``."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState
from uqassay._optional import optional_package
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.splits import stratified_split
from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["load_hugging_face"]

LABELS = ("label", "labels", "target", "fine_label")
TESTS = ("test", "validation")
GREY = ("1", "L", "LA")


def load_hugging_face(
    name: str,
    folder: Path,
    *,
    test_size: float | int = 0.2,
    rng: RandomState = None,
    image_size: int | None = None,
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
    rng : int, SeedSequence, Generator or None
    image_size : int, optional
        Height and width; None keeps the size of the images, which must then be the same for all.

    Returns
    -------
    Dataset
        Images ``(n, 1 or 3, H, W)`` float32 in [0, 1] if there is a column of images, else all columns of numbers.

    Raises
    ------
    InputError
        No network, no such set, no column of labels, or neither images nor numbers.
    MissingDependencyError
        The package ``datasets`` is not installed.
    """
    hub = optional_package("datasets", "huggingface", f"hf:{name}")
    place = folder / "huggingface"
    try:
        held = hub.load_dataset(name, cache_dir=str(place))
    except (OSError, ValueError, RuntimeError, hub.exceptions.DatasetsError) as problem:
        reason = " ".join(str(problem).split())[:200].rstrip(".")
        raise InputError(
            "hf",
            f"{name} cannot be read from https://huggingface.co",
            reason,
            f"download it once where there is a network, and copy the folder {place}",
            code="unreadable",
        ) from problem
    parts = dict(held)
    if "train" not in parts:
        raise InputError(
            "hf",
            f"{name} must have a part train",
            f"it has {listed(list(parts))}",
            "choose another set",
            code="missing",
        )
    column = _label_column(parts["train"], name, hub)
    classes, y = _labels(parts["train"], column, hub)
    x = _features(parts["train"], column, image_size, name, hub)
    test = next((p for p in TESTS if p in parts and column in parts[p].features and min(parts[p][column]) != -1), None)
    if test is not None:
        of_test, y_test = _labels(parts[test], column, hub)
        x_test = _features(parts[test], column, image_size, name, hub)
        if of_test != classes:
            raise InputError(
                "hf",
                f"the parts train and {test} of {name} must have the same classes",
                f"got {len(classes)} and {len(of_test)}",
                "choose another set",
                code="mismatch",
            )
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
    raise InputError(
        "hf",
        f"{name} must have one column of classes",
        f"it has {listed(list(part.features))}",
        "choose another set",
        code="missing",
    )


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
        raise InputError(
            "hf",
            f"{name} must have images or numbers",
            f"it has {listed(list(part.features))}",
            "choose another set",
            code="missing",
        )
    return np.column_stack([np.asarray(part[c][:], dtype=np.float64) for c in numbers])


def _images(part: Any, column: str, image_size: int | None, name: str) -> NDArray[np.float32]:
    first = part[0][column]
    mode = "L" if first.mode in GREY else "RGB"
    shape = first.size if image_size is None else (image_size, image_size)  # width, height
    out = np.empty((len(part), len(mode) if mode == "RGB" else 1, shape[1], shape[0]), dtype=np.float32)
    for i, row in enumerate(part):
        image = row[column].convert(mode)
        if image.size != shape and image_size is None:
            raise InputError(
                "image_size",
                f"must be given if the images of {name} differ in size",
                f"got {shape} and {image.size}",
                "give one size",
                code="shape",
            )
        pixels = np.asarray(image if image.size == shape else image.resize(shape), dtype=np.float32)
        out[i] = pixels.reshape(shape[1], shape[0], -1).transpose(2, 0, 1)
    out /= np.float32(255)
    return out
