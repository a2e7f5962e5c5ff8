"""Image data as epistemic gain prepares them: both parts together, 50 principal components, odd classes against even ones."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import RandomState, generator, row_chunks
from uqassay.checks import fail, one_of, whole
from uqassay.errors import FileFormatError
from uqassay.files import problems_named
from uqassay.lab.datasets.dataset import fit_components
from uqassay.lab.datasets.registry import load_dataset
from uqassay.predictions import read_npz
from uqassay.text import count, counted, listed, shown

__all__ = ["SOURCES", "MergedBinary", "merged_binary"]

Labels = NDArray[np.int64]

BYTE = 255.0
# largest value of a pixel as it is loaded, and what the paper has under that name
SOURCES: Mapping[str, tuple[float, str]] = MappingProxyType(
    {
        "digits": (1.0, "not in the paper"),
        "mnist-10k": (1.0, "not in the paper"),
        "emnist-bymerge": (1.0, "the paper has EMNIST-Balanced, 131,600 images of the same 47 classes"),
        "emnist-balanced": (1.0, "the paper calls it EMNIST-Letters"),
        "kuzushiji-49": (1.0, "the data of the paper"),
    }
)


@final
@dataclass(frozen=True, eq=False)
class MergedBinary:
    """Instances of two classes, without a split."""

    X: NDArray[np.float32]  #: (n, n_components): Scores on the principal components, for pixels in [0, 1]
    y: Labels  #: (n,): 1 for an odd class number, 0 for an even one
    classes: Labels  #: (n,): Class numbers before
    name: str
    note: str  #: Which instances these are, and their relation to the data of the paper
    #: SHA-256 over pixels, classes and the number of components, in hexadecimal. The scores themselves may differ between
    #: machines in their last bits.
    content_hash: str

    def __repr__(self) -> str:
        return f"MergedBinary({self.name!r}: {len(self.y)} instances of {self.X.shape[1]})"


def merged_binary(
    name: str,
    *,
    n_components: int = 50,
    data: str | os.PathLike[str] | None = None,
    balanced: bool | int = False,
    rng: RandomState = None,
) -> MergedBinary:
    """Image data of two classes as in the epistemic gain paper (Sec. 5.4).

    Training and test part are merged first. Pixels are in [0, 1]. The principal components are those of all instances together,
    by the eigenvectors of the exact covariance; the scores are centred and not scaled, so distances are those of the images up
    to the components that are left out. Odd class numbers become 1, even ones 0.

    Parameters
    ----------
    name : {"digits", "mnist-10k", "emnist-bymerge", "emnist-balanced", "kuzushiji-49"}
    n_components : int
    data : path, optional
        The cache folder with the files of the data set. For "emnist-bymerge" also one npz file (or a folder with one) with
        ``X``, bytes (n, 28, 28), and ``y``; then these are all instances.
    balanced : bool or int
        True draws as many instances of every class as the smallest class has; a number draws so many of every class.
    rng : int, SeedSequence, Generator or None
        Draws the balanced sample.

    Returns
    -------
    MergedBinary
        The training part of `load_dataset` comes first, then its test part.

    Examples
    --------
    >>> digits = merged_binary("digits")
    >>> digits, digits.classes[:5].tolist(), digits.y[:5].tolist()
    (MergedBinary('digits': 1797 instances of 50), [8, 7, 8, 7, 7], [0, 1, 0, 1, 1])
    """
    one_of(name, "name", SOURCES, "choose one")
    n_components = whole(n_components, "n_components", "the paper has 50")
    unit, relation = SOURCES[name]
    given = _given_file(name, data)
    if given is not None:
        parts, classes, unit = *_read(given), BYTE
        origin = f"{counted(len(classes), 'instance')} of {given.name}"
    else:
        loaded = load_dataset(name, cache=data)
        parts = [loaded.X_train, loaded.X_test]
        classes = np.concatenate([loaded.y_train, loaded.y_test])
        origin = f"{counted(len(classes), 'instance')}, both parts together"
    rows = _balanced_rows(classes, balanced, rng)
    if rows is not None:
        ends = np.cumsum([0, *map(len, parts)])
        parts = [part[rows[(rows >= a) & (rows < b)] - a] for part, a, b in zip(parts, ends, ends[1:], strict=False)]
        classes = classes[rows]
        per_class = len(rows) // len(np.unique(classes))
        origin += f", of them a sample of {count(len(rows))} with {count(per_class)} of each class"
    components = fit_components(parts, n_components)
    scores = np.concatenate([components.scores(part, unit=unit, dtype=np.float32) for part in parts])
    return MergedBinary(
        X=scores,
        y=classes % 2,
        classes=classes,
        name=name,
        note=f"{origin} ({relation})",
        content_hash=_hash(parts, classes, n_components),
    )


def _given_file(name: str, data: str | os.PathLike[str] | None) -> Path | None:
    """The npz file that `data` names or that is alone in this folder; None for a cache folder."""
    if name != "emnist-bymerge" or data is None:
        return None
    path = Path(data).expanduser()
    if path.is_file() or path.suffix == ".npz":
        return path
    files = sorted(path.glob("*.npz"))
    return files[0] if len(files) == 1 else None


def _read(path: Path) -> tuple[list[NDArray[Any]], Labels]:
    """Images and class numbers of an npz file."""
    with problems_named(path):
        if not path.is_file():
            raise FileFormatError("data", "must be a file", f"got {path}", "check the path", code="missing")
        stored = read_npz(path).arrays
        if not {"X", "y"} <= set(stored):
            raise FileFormatError(
                "data", "must hold X and y", f"got {listed(sorted(stored))}", "rename the arrays", code="missing"
            )
        images, labels = (np.asarray(stored[key].read()) for key in ("X", "y"))
        if images.dtype != np.uint8 or images.ndim != 3 or not images.size:
            raise FileFormatError(
                "X", "must be bytes (n, H, W)", f"got {images.dtype} {images.shape}", "get it again", code="shape"
            )
        if labels.shape != images.shape[:1] or labels.dtype.kind not in "iu" or labels.min() < 0:
            rule = f"must hold one class number for each of {len(images)} images"
            raise FileFormatError("y", rule, f"got {labels.dtype} {labels.shape}", "get it again", code="mismatch")
    return [images], labels.astype(np.int64)


def _balanced_rows(classes: Labels, balanced: bool | int, rng: RandomState) -> NDArray[np.intp] | None:
    """Rows of a sample with equally many of every class, in rising order; None for all rows."""
    if balanced is False or balanced is None:
        return None
    found, counts = np.unique(classes, return_counts=True)
    least = int(counts.min())
    number = least if balanced is True else balanced
    if not isinstance(number, (int, np.integer)) or not 1 <= number <= least:
        rule = f"must lie in 1 … {least}, the size of the smallest class"
        got = f"got {shown(balanced)}, and class {found[counts.argmin()]} has {least}"
        fail("balanced", rule, got, "True takes that many of every class", code="range")
    g = generator(rng)
    chosen = [g.choice(np.flatnonzero(classes == k), size=int(number), replace=False) for k in found]
    return np.sort(np.concatenate(chosen))


def _hash(parts: list[NDArray[Any]], classes: Labels, n_components: int) -> str:
    digest = hashlib.sha256(f"components {n_components}\n".encode())
    for array in (*parts, classes):
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        for rows in row_chunks(len(array), array[:1].nbytes):
            digest.update(array[rows].tobytes())
    return digest.hexdigest()
