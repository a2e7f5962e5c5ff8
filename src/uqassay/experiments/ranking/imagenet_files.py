"""The validation part of ImageNet (ILSVRC 2012) in the publisher's files: images, and labels in the order of WordNet ids."""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.files import problems_named
from uqassay.wording import count

__all__ = ["N_CLASSES", "N_IMAGES", "image_number", "labels_of", "validation_images"]

N_IMAGES, N_CLASSES = 50_000, 1000
NAME = re.compile(r"ILSVRC2012_val_(\d{8})(\.JPEG)?")
WORDNET = re.compile(r"n\d{8}")
META, TRUTH = "meta.mat", "ILSVRC2012_validation_ground_truth.txt"  # of the development kit, in its folder data


def image_number(name: str) -> int | None:
    """Number of a validation image by its file name, from 1; None for any other name.

    Examples
    --------
    >>> image_number("ILSVRC2012_val_00000293.JPEG"), image_number("n01440764_10026.JPEG")
    (293, None)
    """
    match = NAME.fullmatch(name)
    return int(match[1]) if match is not None and 1 <= int(match[1]) <= N_IMAGES else None


def validation_images(folder: Path) -> list[Path]:
    """Validation images in a folder, or in folders inside it, by number.

    Parameters
    ----------
    folder : Path
        As published, ``ILSVRC2012_val_00000001.JPEG`` …, or sorted into folders named by WordNet ids. Some of the images
        suffice.

    Raises
    ------
    InputError
        No folder, no image, or an image twice.
    """
    found: dict[int, Path] = {}
    paths = [*folder.glob("*.JPEG"), *folder.glob("*/*.JPEG")] if folder.is_dir() else []
    for path in paths:
        number = image_number(path.name)
        if number is None:
            continue
        if number in found:
            raise InputError(
                "images",
                "must hold each image once",
                f"got {found[number]} and {path}",
                "give the folder with one copy of them",
                code="duplicate",
            )
        found[number] = path
    if not found:
        raise InputError(
            "images",
            "must be a folder with validation images, ILSVRC2012_val_00000001.JPEG …",
            f"got {folder}",
            "unpack ILSVRC2012_img_val.tar there",
            code="missing",
        )
    return [found[number] for number in sorted(found)]


def labels_of(images: list[Path], devkit: Path | None) -> NDArray[np.int64] | None:
    """Labels of all 50,000 images, 0 … 999 in the order of the WordNet ids, as torchvision and timm have them.

    Parameters
    ----------
    images : list of Path
        As of `validation_images`.
    devkit : Path, optional
        The folder of the development kit, ILSVRC2012_devkit_t12. Without it all images must lie in the 1,000 folders named by
        their WordNet ids.

    Returns
    -------
    int array (50000,) or None
        None without a development kit and without such folders.

    Raises
    ------
    InputError
        A development kit with other files.
    """
    if devkit is not None:
        return _of_devkit(devkit / "data" if (devkit / "data").is_dir() else devkit)
    names = sorted({path.parent.name for path in images})
    if len(images) != N_IMAGES or len(names) != N_CLASSES or not all(map(WORDNET.fullmatch, names)):
        return None
    places = {name: i for i, name in enumerate(names)}
    return np.array([places[path.parent.name] for path in images])


def _of_devkit(folder: Path) -> NDArray[np.int64]:
    """Labels by the files of the development kit, whose class numbers have an order of their own."""
    for name in (META, TRUTH):
        if not (folder / name).is_file():
            raise InputError(
                "devkit",
                f"must hold {META} and {TRUTH}",
                f"{folder} has no {name}",
                "unpack ILSVRC2012_devkit_t12.tar.gz and give its folder",
                code="missing",
            )
    with problems_named(folder / META):
        records = loadmat(folder / META, squeeze_me=True)["synsets"]
        leaves = {int(r["ILSVRC2012_ID"]): str(r["WNID"]) for r in records if int(r["num_children"]) == 0}
        if len(leaves) != N_CLASSES or len(set(leaves.values())) != N_CLASSES:
            raise FileFormatError(
                "synsets",
                f"must have {count(N_CLASSES)} classes without children",
                f"got {count(len(leaves))}",
                "get the development kit of ILSVRC 2012 again",
                code="shape",
            )
    with problems_named(folder / TRUTH):
        numbers = [line.strip() for line in (folder / TRUTH).read_text(encoding="ascii").splitlines() if line.strip()]
        if len(numbers) != N_IMAGES or not all(n.isdigit() and int(n) in leaves for n in numbers):
            raise FileFormatError(
                "labels",
                f"must be {count(N_IMAGES)} class numbers of {META}",
                f"got {count(len(numbers))} lines, or other numbers",
                "get the development kit of ILSVRC 2012 again",
                code="shape",
            )
    order = {wordnet: i for i, wordnet in enumerate(sorted(leaves.values()))}
    return np.array([order[leaves[int(n)]] for n in numbers])
