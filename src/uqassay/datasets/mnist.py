"""MNIST and the data sets in its form: Fashion-MNIST, Kuzushiji-MNIST, Kuzushiji-49 and EMNIST.

The checksums are those of the publishers and of torchvision for the packed files, and for MNIST also those of the unpacked
files, so that a copy that was packed again is recognised.
"""

import gzip
import string
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState
from uqassay.datasets.cache import Progress, fetch
from uqassay.datasets.dataset import Dataset, shares_of_bytes
from uqassay.datasets.idx import MOST_PACKED, read_idx, read_idx_stream
from uqassay.datasets.splits import stratified_split
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.arrays_on_disk import read_npz
from uqassay.predictions.files import problems_named
from uqassay.wording import listed

__all__ = ["EMNIST_SPLITS", "load_emnist", "load_kuzushiji_49", "load_mnist", "load_mnist_10k"]

Images = NDArray[np.float32]
Labels = NDArray[np.int64]

FILES = {
    ("train", "images"): "train-images-idx3-ubyte.gz",
    ("train", "labels"): "train-labels-idx1-ubyte.gz",
    ("test", "images"): "t10k-images-idx3-ubyte.gz",
    ("test", "labels"): "t10k-labels-idx1-ubyte.gz",
}
PACKED = ".gz"


@final
@dataclass(frozen=True)
class Family:
    """A data set of four idx files: address, MD5 of the packed and of the unpacked files in the order of FILES."""

    address: str
    digests: tuple[str, str, str, str]
    class_names: tuple[str, ...]
    licence: str
    contents: tuple[str, str, str, str] | None = None


FAMILIES: Mapping[str, Family] = {
    "mnist": Family(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        (
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "d53e105ee54ea40749a09fcbcd1e9432",
            "9fb629c4189551a2d022fa330f9573f3",
            "ec29112dd5afa0611ce80d1b7f02629c",
        ),
        tuple(string.digits),
        "CC BY-SA 3.0",
        (
            "6bbc9ace898e44ae57da46a324031adb",
            "a25bea736e30d166cdddb491f175f624",
            "2646ac647ad5339dbf082846283269ea",
            "27ae3e4e09519cfbb04c329615203637",
        ),
    ),
    "fashion-mnist": Family(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        (
            "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "25c81989df183df01b3e8a0aad5dffbe",
            "bef4ecab320f06d8554ea6380940ec79",
            "bb300cfdad3c16e7a12a480ee83cd310",
        ),
        ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"),
        "MIT",
    ),
    "k-mnist": Family(
        "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
        (
            "bdb82020997e1d708af4cf47b453dcf7",
            "e144d726b3acfaa3e44228e80efcd344",
            "5c965bf0a639b31b8f53240b1b52f4d7",
            "7320c461ea6c1c855c0b718fb2a4b134",
        ),
        ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"),
        "CC BY-SA 4.0",
    ),
}

KUZUSHIJI_49 = "http://codh.rois.ac.jp/kmnist/dataset/k49/"
KUZUSHIJI_49_DIGESTS = {
    "k49-train-imgs.npz": "7ac088b20481cf51dcd01ceaab89d821",
    "k49-train-labels.npz": "44a8e1b893f81e63ff38d73cad420f7a",
    "k49-test-imgs.npz": "d352e201d846ce6b94f42c990966f374",
    "k49-test-labels.npz": "4da6f7a62e67a832d5eb1bd85c5ee448",
}
KANA = (
    "a", "i", "u", "e", "o", "ka", "ki", "ku", "ke", "ko", "sa", "shi", "su", "se", "so", "ta", "chi", "tsu", "te",
    "to", "na", "ni", "nu", "ne", "no", "ha", "hi", "fu", "he", "ho", "ma", "mi", "mu", "me", "mo", "ya", "yu", "yo",
    "ra", "ri", "ru", "re", "ro", "wa", "wi", "we", "wo", "n", "iteration mark",
)  # fmt: skip

EMNIST = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"
EMNIST_DIGEST = "58c8d27c78d21e728a6bc7b3cc06412e"
MERGED = tuple(string.digits + string.ascii_uppercase + "abdefghnqrt")  # cases that look alike are one class
EMNIST_SPLITS: Mapping[str, tuple[str, ...]] = {
    "byclass": tuple(string.digits + string.ascii_uppercase + string.ascii_lowercase),
    "bymerge": MERGED,
    "balanced": MERGED,
    "letters": tuple(string.ascii_lowercase),
    "digits": tuple(string.digits),
    "mnist": tuple(string.digits),
}


def load_mnist(name: str, folder: Path, progress: Progress | None = None) -> Dataset:
    """60,000 training and 10,000 test images of 1 × 28 × 28 as published.

    Parameters
    ----------
    name : {"mnist", "fashion-mnist", "k-mnist"}
    folder : Path
        The cache folder; its sub-folder of that name has the four idx files, packed or not.
    progress : callable, optional
    """
    family = FAMILIES[name]
    parts: dict[str, Any] = {}
    for part in ("train", "test"):
        parts[f"X_{part}"], parts[f"y_{part}"] = _part(name, part, folder, progress)
    return Dataset(name, class_names=family.class_names, source=family.address, licence=family.licence, **parts)


def load_mnist_10k(
    folder: Path, test_size: float | int = 0.2, rng: RandomState = None, progress: Progress | None = None
) -> Dataset:
    """The 10,000 test images of MNIST as a small data set, split so that every class keeps its share.

    The two ``t10k`` files are read from the cache folder or from its sub-folder ``mnist``.
    """
    x, y = _part("mnist", "test", folder, progress)
    train, test = stratified_split(y, test_size, rng)
    family = FAMILIES["mnist"]
    return Dataset(
        "mnist-10k",
        X_train=x[train],
        y_train=y[train],
        X_test=x[test],
        y_test=y[test],
        class_names=family.class_names,
        source=family.address,
        licence=family.licence,
    )


def load_kuzushiji_49(folder: Path, progress: Progress | None = None) -> Dataset:
    """232,365 training and 38,547 test images of 1 × 28 × 28 in 49 classes of very unequal size, from four npz files."""
    arrays = {}
    for file, digest in KUZUSHIJI_49_DIGESTS.items():
        path = fetch(f"kuzushiji-49/{file}", KUZUSHIJI_49 + file, f"md5:{digest}", folder=folder, progress=progress)
        with problems_named(path):
            arrays[file.split("-", 1)[1].removesuffix(".npz")] = read_npz(path).arrays["arr_0"].read()
    parts: dict[str, Any] = {}
    for part in ("train", "test"):
        parts[f"X_{part}"] = _scaled(arrays[f"{part}-imgs"], f"k49-{part}-imgs.npz")
        parts[f"y_{part}"] = arrays[f"{part}-labels"].astype(np.int64)
    return Dataset("kuzushiji-49", class_names=KANA, source=KUZUSHIJI_49, licence="CC BY-SA 4.0", **parts)


def load_emnist(split: str, folder: Path, progress: Progress | None = None) -> Dataset:
    """One of the six splits of EMNIST (Cohen et al. 2017), upright, the letters numbered from 0.

    Parameters
    ----------
    split : {"byclass", "bymerge", "balanced", "letters", "digits", "mnist"}
    folder : Path
        The cache folder; ``emnist`` in it has the published ``gzip.zip``, which is read in place, or the split's idx
        files.
    progress : callable, optional
    """
    if split not in EMNIST_SPLITS:
        raise InputError(
            "split", f"must be {listed(list(EMNIST_SPLITS), last='or')}", f"got {split!r}", "choose one", code="choice"
        )
    parts: dict[str, Any] = {}
    for part in ("train", "test"):
        names = [f"emnist-{split}-{part}-{what}-ubyte.gz" for what in ("images-idx3", "labels-idx1")]
        given = [_given(folder / "emnist" / name) for name in names]
        if all(given):
            x, y = (read_idx(path) for path in given if path)
        else:
            archive = fetch("emnist/gzip.zip", EMNIST, f"md5:{EMNIST_DIGEST}", folder=folder, progress=progress)
            x, y = (_member(archive, f"gzip/{name}") for name in names)
        first = 1 if split == "letters" else 0  # the letters' labels begin with 1
        parts[f"X_{part}"] = _scaled(x.swapaxes(-1, -2), names[0])  # stored by columns
        parts[f"y_{part}"] = y.astype(np.int64) - first
    return Dataset(
        f"emnist-{split}", class_names=EMNIST_SPLITS[split], source=EMNIST, licence="none stated (NIST)", **parts
    )


# -- reading ----------------------------------------------------------------------------------------------------------


def _part(name: str, part: str, folder: Path, progress: Progress | None) -> tuple[Images, Labels]:
    family = FAMILIES[name]
    read = {}
    for at, ((of_part, what), file) in enumerate(FILES.items()):
        if of_part != part:
            continue
        bare = name == "mnist" and _given(folder / name / file) is None and _given(folder / file) is not None
        path = fetch(
            file if bare else f"{name}/{file}",
            family.address + file,
            f"md5:{family.digests[at]}",
            content_digest=f"md5:{family.contents[at]}" if family.contents else None,
            folder=folder,
            progress=progress,
        )
        read[what] = read_idx(path)
    labels = read["labels"]
    if labels.ndim != 1 or len(labels) != len(read["images"]):
        raise FileFormatError(
            "labels",
            "must be one for each image",
            f"got shapes {read['images'].shape} and {labels.shape}",
            "get both files again",
            code="mismatch",
            source=name,
        )
    return _scaled(read["images"], name), labels.astype(np.int64)


def _given(path: Path) -> Path | None:
    """The file, packed or not; None if there is none."""
    return next((p for p in (path, path.with_name(path.name.removesuffix(PACKED))) if p.is_file()), None)


def _scaled(images: NDArray[Any], name: str) -> Images:
    """Bytes ``(n, H, W)`` as ``(n, 1, H, W)`` in [0, 1]."""
    if images.ndim != 3 or images.dtype != np.uint8:
        raise FileFormatError(
            "images",
            "must be bytes (n, H, W)",
            f"got {images.dtype} {images.shape}",
            "get it again",
            code="shape",
            source=name,
        )
    return shares_of_bytes(images[:, None])


def _member(archive: Path, name: str) -> NDArray[Any]:
    """An idx file inside the zip archive, unpacked while it is read."""
    with problems_named(archive), zipfile.ZipFile(archive) as held:
        if name not in held.namelist():
            raise FileFormatError(
                "archive", f"must hold {name}", "it does not", "get the published archive", code="missing"
            )
        with held.open(name) as packed, gzip.open(packed, "rb") as stream:
            return read_idx_stream(stream, held.getinfo(name).file_size * MOST_PACKED)
