"""Folders of images, one sub-folder per class: Caltech-101, Caltech-256, PlantCLEF 2015, or a folder of the user.

Listing a folder opens no image, and images can be read in parts, for example to compute features by a frozen network.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import RandomState
from uqassay.checks import whole
from uqassay.errors import FileFormatError
from uqassay.files import optional_package, problems_named
from uqassay.lab.datasets.dataset import Dataset, stratified_split

__all__ = [
    "PUBLISHED",
    "ImageFolder",
    "PublishedFolder",
    "has_own_split",
    "list_images",
    "load_image_folder",
    "split_images",
]

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
PARTS = ("train", "test")


@final
@dataclass(frozen=True)
class PublishedFolder:
    """A folder of images as its archive unpacks it."""

    home: str  #: Its place in the cache folder
    inside: str = ""  #: Name of the folder in the archive
    leave_out: tuple[str, ...] = ()  #: Sub-folders that are no class
    merged: Mapping[str, str] = field(default_factory=dict)  #: Class of a sub-folder that has not its own

    def place(self, cache: Path) -> Path | None:
        """The folder that is there: in the archive's folder, that of the data set, or the cache folder itself."""
        places = (cache / self.home / self.inside, cache / self.inside if self.inside else None, cache / self.home)
        return next((place for place in places if place is not None and place.is_dir()), None)


# The four kinds of object that Caltech-101 has in two classes each; as one class each they leave 97.
PAIRS = {
    "Faces_easy": "Faces",
    "cougar_face": "cougar_body",
    "crocodile_head": "crocodile",
    "flamingo_head": "flamingo",
}
CALTECH = ("caltech-101", "101_ObjectCategories", ("BACKGROUND_Google",))
PUBLISHED: Mapping[str, PublishedFolder] = MappingProxyType(
    {
        "caltech-101": PublishedFolder(*CALTECH),
        "caltech-97": PublishedFolder(*CALTECH, merged=PAIRS),
        "caltech-256": PublishedFolder("caltech-256", "256_ObjectCategories", ("257.clutter",)),
        "plantclef": PublishedFolder("plantclef", "plantclef-2015"),
    }
)


@final
@dataclass(frozen=True, eq=False)
class ImageFolder:
    """Images by class."""

    paths: tuple[Path, ...]  #: n files
    labels: NDArray[np.int64]  #: (n,)
    class_names: tuple[str, ...]  #: Names of the sub-folders, sorted

    def read(self, rows: Sequence[int] | NDArray[np.integer] | None = None, size: int = 64) -> NDArray[np.float32]:
        """Images ``(n, 3, size, size)`` in [0, 1], in RGB, resized (bilinear); proportions are not kept.

        Parameters
        ----------
        rows : sequence of int, optional
            Which images; None reads all.
        size : int
            Height and width in pixels.
        """
        whole(size, "image_size", "64 is common, 224 for ImageNet networks", least=1)
        pillow = optional_package("PIL.Image", "lab", "reading images")
        chosen = range(len(self.paths)) if rows is None else rows
        out = np.empty((len(chosen), 3, size, size), dtype=np.float32)
        for i, row in enumerate(chosen):
            path = self.paths[row]
            with problems_named(path), pillow.open(path) as image:
                pixels = image.convert("RGB").resize((size, size), pillow.Resampling.BILINEAR)
                out[i] = np.asarray(pixels, dtype=np.float32).transpose(2, 0, 1)
        out /= np.float32(255)
        return out

    def batches(self, size: int = 64, batch_size: int = 256) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        """Images and labels, `batch_size` at a time, in the order of `paths`."""
        for start in range(0, len(self.paths), batch_size):
            rows = np.arange(start, min(start + batch_size, len(self.paths)))
            yield self.read(rows, size), self.labels[rows]


def list_images(folder: Path, *, leave_out: Sequence[str] = (), merged: Mapping[str, str] | None = None) -> ImageFolder:
    """The images in the sub-folders of a folder, sorted by name; hidden files and files of other kinds are skipped.

    Parameters
    ----------
    leave_out : sequence of str
        Sub-folders that are no class, such as Caltech's pictures of clutter.
    merged : mapping of str to str, optional
        Class of a sub-folder that has not its own.
    """
    if not folder.is_dir():
        raise FileFormatError(
            "folder", "must exist", f"got {folder}", "put one sub-folder of images per class there", code="missing"
        )
    classes = sorted(
        d for d in folder.iterdir() if d.is_dir() and not d.name.startswith(".") and d.name not in leave_out
    )
    found: dict[str, list[Path]] = {}
    for d in classes:
        paths = sorted(p for p in d.iterdir() if _is_image(p))
        if paths:
            found.setdefault((merged or {}).get(d.name, d.name), []).extend(paths)
    found = dict(sorted(found.items()))
    if len(found) < 2:
        rule = "must have at least two sub-folders with images"
        raise FileFormatError("folder", rule, f"{folder} has {len(found)}", "put one per class there", code="empty")
    labels = np.repeat(np.arange(len(found)), [len(paths) for paths in found.values()])
    return ImageFolder(tuple(p for paths in found.values() for p in paths), labels.astype(np.int64), tuple(found))


def has_own_split(folder: Path) -> bool:
    """Whether a folder of images has the sub-folders ``train`` and ``test``."""
    return all((folder / part).is_dir() for part in PARTS)


def split_images(
    folder: Path,
    *,
    test_size: float | int = 0.5,
    rng: RandomState = None,
    leave_out: Sequence[str] = (),
    merged: Mapping[str, str] | None = None,
) -> tuple[ImageFolder, ImageFolder]:
    """Training and test images of a folder: those of its ``train`` and ``test`` if it has both, else a stratified split.

    No image is opened.

    Parameters
    ----------
    folder : Path
        One sub-folder per class, or ``train`` and ``test`` with the same classes each.
    test_size : float or int
        Of the stratified split; ignored if the folder has ``train`` and ``test``.
    leave_out, merged
        As `list_images`.
    """
    if not has_own_split(folder):
        images = list_images(folder, leave_out=leave_out, merged=merged)
        rows = stratified_split(images.labels, test_size, rng)
        train, test = (
            ImageFolder(tuple(images.paths[row] for row in part), images.labels[part], images.class_names)
            for part in rows
        )
        return train, test
    train, test = (list_images(folder / part, leave_out=leave_out, merged=merged) for part in PARTS)
    unknown = sorted(set(test.class_names) - set(train.class_names))
    if unknown:
        rule = "must have every class of test in train"
        got = f"{unknown[0]} is in test alone"
        raise FileFormatError("folder", rule, got, f"add it to {folder / 'train'}", code="mismatch")
    number = np.array([train.class_names.index(c) for c in test.class_names])
    return train, ImageFolder(test.paths, number[test.labels], train.class_names)


def load_image_folder(
    name: str,
    folder: Path,
    *,
    size: int = 64,
    test_size: float | int = 0.5,
    rng: RandomState = None,
    leave_out: Sequence[str] = (),
    merged: Mapping[str, str] | None = None,
    licence: str = "",
) -> Dataset:
    """A data set from a folder of images, split as by `split_images`.

    Parameters
    ----------
    size : int
        Images become ``(3, size, size)``.
    test_size, rng, leave_out, merged
        As `split_images`.
    """
    train, test = split_images(folder, test_size=test_size, rng=rng, leave_out=leave_out, merged=merged)
    return Dataset(
        name,
        X_train=train.read(size=size),
        y_train=train.labels,
        X_test=test.read(size=size),
        y_test=test.labels,
        class_names=train.class_names,
        source=folder.name,
        licence=licence,
    )


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
