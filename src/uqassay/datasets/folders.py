"""Folders of images, one sub-folder per class: Caltech-101, Caltech-256, PlantCLEF 2015, or a folder of the user.

Listing a folder opens no image, and images can be read in parts, for example to compute features by a frozen network.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState
from uqassay._optional import optional_package
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.splits import stratified_split
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.file_opening import problems_named

__all__ = ["ImageFolder", "list_images", "load_image_folder"]

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


@final
@dataclass(frozen=True, eq=False)
class ImageFolder:
    """Images by class.

    Attributes
    ----------
    paths : tuple of n Path
    labels : int array (n,)
    class_names : tuple of K str
        Names of the sub-folders, sorted.
    """

    paths: tuple[Path, ...]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]

    def read(self, rows: Sequence[int] | NDArray[np.integer] | None = None, size: int = 64) -> NDArray[np.float32]:
        """Images ``(n, 3, size, size)`` in [0, 1], in RGB, resized (bilinear); proportions are not kept.

        Parameters
        ----------
        rows : sequence of int, optional
            Which images; None reads all.
        size : int
            Height and width in pixels.

        Raises
        ------
        FileFormatError
            An image that cannot be decoded, by name.
        MissingDependencyError
            Pillow is not installed.
        """
        if size < 1:
            raise InputError(
                "image_size",
                "must be at least 1 pixel",
                f"got {size}",
                "64 is common, 224 for ImageNet networks",
                code="range",
            )
        pillow = optional_package("PIL.Image", "datasets", "reading images")
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


def list_images(folder: Path, *, leave_out: Sequence[str] = ()) -> ImageFolder:
    """The images in the sub-folders of a folder, sorted by name; hidden files and files of other kinds are skipped.

    Parameters
    ----------
    folder : Path
    leave_out : sequence of str
        Sub-folders that are no class, such as Caltech's pictures of clutter.

    Raises
    ------
    FileFormatError
        No such folder, or fewer than two sub-folders with images.
    """
    if not folder.is_dir():
        raise FileFormatError(
            "folder", "must exist", f"got {folder}", "put one sub-folder of images per class there", code="missing"
        )
    classes = sorted(
        d for d in folder.iterdir() if d.is_dir() and not d.name.startswith(".") and d.name not in leave_out
    )
    found = {d.name: sorted(p for p in d.iterdir() if _is_image(p)) for d in classes}
    found = {name: paths for name, paths in found.items() if paths}
    if len(found) < 2:
        raise FileFormatError(
            "folder",
            "must have at least two sub-folders with images",
            f"{folder} has {len(found)}",
            "put one per class there",
            code="empty",
        )
    labels = np.repeat(np.arange(len(found)), [len(paths) for paths in found.values()])
    return ImageFolder(tuple(p for paths in found.values() for p in paths), labels.astype(np.int64), tuple(found))


def load_image_folder(
    name: str,
    folder: Path,
    *,
    size: int = 64,
    test_size: float | int = 0.5,
    rng: RandomState = None,
    leave_out: Sequence[str] = (),
    licence: str = "",
) -> Dataset:
    """A data set from a folder of images: from its sub-folders ``train`` and ``test`` if it has both, else split.

    Parameters
    ----------
    name : str
    folder : Path
        One sub-folder per class, or ``train`` and ``test`` with the same classes each.
    size : int
        Images become ``(3, size, size)``.
    test_size : float or int
        Of the stratified split; ignored if the folder has ``train`` and ``test``.
    rng : int, SeedSequence, Generator or None
    leave_out : sequence of str
    licence : str
    """
    if (folder / "train").is_dir() and (folder / "test").is_dir():
        train = list_images(folder / "train", leave_out=leave_out)
        test = list_images(folder / "test", leave_out=leave_out)
        unknown = sorted(set(test.class_names) - set(train.class_names))
        if unknown:
            raise FileFormatError(
                "folder",
                "must have every class of test in train",
                f"{unknown[0]} is in test alone",
                f"add it to {folder / 'train'}",
                code="mismatch",
            )
        number = np.array([train.class_names.index(c) for c in test.class_names])
        x_train, y_train, names = train.read(size=size), train.labels, train.class_names
        x_test, y_test = test.read(size=size), number[test.labels]
    else:
        images = list_images(folder, leave_out=leave_out)
        in_train, in_test = stratified_split(images.labels, test_size, rng)
        names, y_train, y_test = images.class_names, images.labels[in_train], images.labels[in_test]
        x_train, x_test = images.read(in_train, size), images.read(in_test, size)
    return Dataset(name, x_train, y_train, x_test, y_test, names, source=str(folder.name), licence=licence)


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
