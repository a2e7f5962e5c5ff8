"""Ensembles with their labels from a folder of prediction files; a folder of training data is recognised."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_labels
from uqassay.errors import InputError
from uqassay.predictions import Members, Point
from uqassay.predictions.files import inspect_file, load, load_labels, problems_named
from uqassay.wording import listed

__all__ = ["LabelledEnsemble", "holds_training_data", "prediction_files", "read_ensembles"]

NEEDED = (
    "put there, or in folders of it, prediction files (.npz) of members, probs (n, M, K), with labels in the file or in a "
    "labels.npy in its folder or the one above; or probs (M, n, L) with gold (n, L), L yes-or-no questions"
)


@final
@dataclass(frozen=True, eq=False)
class LabelledEnsemble:
    """Members (n, M, K) with their names and the label of each instance."""

    name: str
    members: NDArray[np.float64]
    labels: NDArray[np.intp]
    member_names: tuple[str, ...]


def holds_training_data(data: str | os.PathLike[str]) -> bool:
    """Whether a path holds instances to train on, not predictions: an .npz file with X, X_train or packed images.

    Parameters
    ----------
    data : path
        A file, or a folder, of which only its own .npz files count.

    Raises
    ------
    InputError
        A folder with both, or with half of ``train.npz`` and ``test.npz``.
    """
    place = Path(data)
    files = [place] if place.is_file() else sorted(place.glob("*.npz"))
    found = [path.name for path in files if path.suffix == ".npz" and _has_instances(path)]
    if not found:
        return False
    remedy = "give a folder with train.npz and test.npz (X, y) and nothing else, or one with prediction files (probs)"
    if len(found) < len(files):
        others = listed([path.name for path in files if path.name not in found])
        got = f"{place} has instances in {listed(found)} and none in {others}"
        raise InputError("data", "must hold instances or predictions, not both", got, remedy, code="conflict")
    if place.is_dir() and found in (["train.npz"], ["test.npz"]):
        raise InputError("data", "must hold train.npz and test.npz", f"got {found[0]} alone", remedy, code="missing")
    return True


def prediction_files(data: str | os.PathLike[str] | None) -> list[Path]:
    """The .npz files of a folder and of the folders in it.

    Raises
    ------
    InputError
        No folder, or no such files in it.
    """
    if data is None:
        raise InputError("data", "must be a folder", "got none", NEEDED, code="missing")
    folder = Path(data)
    if not folder.is_dir():
        raise InputError("data", "must be a folder", f"got {folder}", NEEDED, code="missing")
    paths = sorted([*folder.glob("*.npz"), *folder.glob("*/*.npz")])
    if not paths:
        raise InputError("data", "must hold prediction files", f"{folder} has none", NEEDED, code="empty")
    return paths


def read_ensembles(data: str | os.PathLike[str] | None) -> tuple[list[LabelledEnsemble], list[str]]:
    """Every ensemble and single classifier in the files of a folder, and lines on files that are left out.

    Parameters
    ----------
    data : path

    Returns
    -------
    ensembles : list of LabelledEnsemble
        A file with L yes-or-no questions gives L ensembles with two classes.
    left_out : list of str

    Raises
    ------
    InputError
        No folder, no files, labels that do not fit, or nothing that can be used.
    """
    paths = prediction_files(data)
    root = Path(data) if data is not None else Path()
    found: list[LabelledEnsemble] = []
    left_out: list[str] = []
    for path in paths:
        name = path.relative_to(root).with_suffix("").as_posix()
        binary = list(_binary(path, name))
        if binary:
            found += binary
            continue
        prediction = load(path)
        if not isinstance(prediction, Members | Point):
            left_out.append(f"{name}: {type(prediction).__name__} is left out, because Table 1 is about ensembles")
            continue
        labels = _labels(path, root)
        if labels is None:
            left_out.append(f"{name}: left out, because no labels go with it")
            continue
        members = np.maximum(prediction.hull_points().astype(np.float64), 0.0)
        checked = as_labels(labels, prediction.n_classes, n_instances=len(members), name=f"data: labels of {name}")
        if checked.ndim == 2:
            left_out.append(f"{name}: left out, because calibration tests need one label for each instance")
            continue
        found.append(LabelledEnsemble(name, members, checked.astype(np.intp), _names(path, members.shape[1])))
    if not found:
        first = f", first {left_out[0]}" if left_out else ""
        raise InputError("data", "must give an ensemble", f"{root} gives none{first}", NEEDED, code="empty")
    return found, left_out


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _has_instances(path: Path) -> bool:
    if not is_zipfile(path):
        raise InputError(
            "data",
            "must hold arrays in NumPy's npz format",
            f"{path} does not",
            "give files in that format",
            code="unreadable",
        )
    with problems_named(path), np.load(path, allow_pickle=False) as arrays:
        return bool({"X", "X_train", "jpeg"} & set(arrays.files))


def _binary(path: Path, name: str) -> Iterator[LabelledEnsemble]:
    """One ensemble for each yes-or-no question of a file with probs (M, n, L) and gold (n, L)."""
    with problems_named(path), np.load(path, allow_pickle=False) as arrays:
        if not {"probs", "gold"} <= set(arrays.files):
            return
        probs, gold = np.asarray(arrays["probs"], dtype=np.float64), np.asarray(arrays["gold"])
    if probs.ndim != 3 or gold.shape != probs.shape[1:] or not np.isin(gold, (0, 1)).all():
        raise InputError(
            "arrays",
            "must be probs (M, n, L) and gold (n, L) of zeros and ones",
            f"got shapes {probs.shape} and {gold.shape}",
            "mend or remove the file",
            code="shape",
            source=path.name,
        )
    for question in range(gold.shape[1]):
        members = Members.from_binary(probs[:, :, question], member_axis=0)
        yield LabelledEnsemble(
            f"{name}, question {question + 1}",
            np.asarray(members.probs, dtype=np.float64),
            gold[:, question].astype(np.intp),
            _names(path, probs.shape[0]),
        )


def _labels(path: Path, root: Path) -> NDArray[Any] | None:
    """Labels in the file, else those of the nearest labels.npy up to the root."""
    if inspect_file(path)["labels"]:
        return load_labels(path)
    for folder in dict.fromkeys((path.parent, root)):
        if (folder / "labels.npy").is_file():
            return load_labels(folder / "labels.npy")
    return None


def _names(path: Path, n_members: int) -> tuple[str, ...]:
    """Names of the members in the file, or numbers."""
    with np.load(path, allow_pickle=False) as arrays:
        given = arrays["members"] if "members" in arrays.files else np.array([])
    if given.shape == (n_members,) and given.dtype.kind == "U":
        return tuple(map(str, given))
    return ("classifier",) if n_members == 1 else tuple(f"member {m + 1}" for m in range(n_members))
