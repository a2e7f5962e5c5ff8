"""Image data sets in their publishers' files: the MNIST family, CIFAR, SVHN, and images packed into one file."""

import gzip
import io
import os
import string
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import RandomState
from uqassay.checks import one_of
from uqassay.errors import FileFormatError
from uqassay.files import optional_package, problems_named
from uqassay.lab.datasets.cache import Progress, fetch
from uqassay.lab.datasets.dataset import Dataset, shares_of_bytes, stratified_split
from uqassay.predictions import read_npz
from uqassay.text import counted, listed, said

__all__ = [
    "EMNIST_SPLITS",
    "holds_packed_images",
    "load_cifar",
    "load_emnist",
    "load_kuzushiji_49",
    "load_mnist",
    "load_mnist_10k",
    "load_svhn",
    "read_cifar_records",
    "read_idx",
    "read_svhn",
    "unpacked_images",
]


# The idx format of the MNIST family: two zero bytes, a type, a number of axes, their sizes, then the values.

TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
MOST_AXES = 8
MOST_PACKED = 1040  # deflate packs no more than 1032 bytes into one


def read_idx(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The array in an idx file, packed by gzip (``.gz``) or not.

    Returns
    -------
    array
        In the byte order of the machine.
    """
    path = Path(path)
    packed = path.suffix.lower() == ".gz"
    if not path.is_file():
        raise FileFormatError(
            "path", "must be a file", f"got {path.absolute()}", "check it", code="missing", source=path.name
        )
    with problems_named(path):
        held = path.stat().st_size * (MOST_PACKED if packed else 1)
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            return read_idx_stream(stream, held)


def read_idx_stream(stream: IO[bytes] | gzip.GzipFile, held: int) -> NDArray[Any]:
    """The array in a stream that has at most `held` bytes."""
    magic = _exactly(stream, 4)
    kind, axes = magic[2], magic[3]
    if magic[:2] != b"\0\0" or kind not in TYPES or not 1 <= axes <= MOST_AXES:
        raise FileFormatError(
            "file", "must be an idx file", f"it begins with {magic.hex()}", "get the right file", code="unreadable"
        )
    shape = tuple(np.frombuffer(_exactly(stream, 4 * axes), dtype=">u4").tolist())
    dtype = np.dtype(TYPES[kind])
    size = prod(shape) * dtype.itemsize
    if size > held:  # checked before memory is reserved
        rule = f"must hold the {size} bytes that it announces for shape {shape}"
        raise FileFormatError("file", rule, f"it can hold at most {held}", "get it again", code="size")
    values = np.frombuffer(_exactly(stream, size), dtype=dtype).reshape(shape)
    if stream.read(1):
        raise FileFormatError(
            "file", f"must end after the {size} bytes that it announces", "it goes on", "get it again", code="size"
        )
    return values.astype(dtype.newbyteorder("="))


def _exactly(stream: IO[bytes] | gzip.GzipFile, size: int) -> bytes:
    got = stream.read(size)
    if len(got) != size:
        raise FileFormatError(
            "file", f"must have {size} more bytes", f"it ends after {len(got)}", "get it again", code="size"
        )
    return got


# MNIST and the data sets in its form: Fashion-MNIST, Kuzushiji-MNIST, Kuzushiji-49 and EMNIST.
#
# The checksums are those of the publishers and of torchvision for the packed files, and for MNIST also those of the
# unpacked files, so that a copy that was packed again is recognised.

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
    """
    one_of(split, "split", EMNIST_SPLITS, "choose one")
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
        rule = "must be one for each image"
        got = f"got shapes {read['images'].shape} and {labels.shape}"
        raise FileFormatError("labels", rule, got, "get both files again", code="mismatch", source=name)
    return _scaled(read["images"], name), labels.astype(np.int64)


def _given(path: Path) -> Path | None:
    """The file, packed or not; None if there is none."""
    return next((p for p in (path, path.with_name(path.name.removesuffix(PACKED))) if p.is_file()), None)


def _scaled(images: NDArray[Any], name: str) -> Images:
    """Bytes ``(n, H, W)`` as ``(n, 1, H, W)`` in [0, 1]."""
    if images.ndim != 3 or images.dtype != np.uint8:
        got = f"got {images.dtype} {images.shape}"
        raise FileFormatError("images", "must be bytes (n, H, W)", got, "get it again", code="shape", source=name)
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


# CIFAR-10 and CIFAR-100 (Krizhevsky 2009) in their binary version; the pickled version is never read.

PAGE = "https://www.cs.toronto.edu/~kriz/"
PIXELS = 3 * 32 * 32


@final
@dataclass(frozen=True)
class Layout:
    """Files of the archive; before each image, its records hold one label, or a coarse and a fine one."""

    inside: str
    train: tuple[str, ...]
    test: str
    names: str
    n_classes: int
    n_labels: int
    digest: str
    size: int
    most: int = 256 * 2**20  # bytes of a file inside


LAYOUTS: Mapping[str, Layout] = {
    "cifar-10": Layout(
        "cifar-10-batches-bin",
        tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
        "test_batch.bin",
        "batches.meta.txt",
        n_classes=10,
        n_labels=1,
        digest="md5:c32a1d4ab5d03f1284b67883e8d87530",
        size=170_052_171,
    ),
    "cifar-100": Layout(
        "cifar-100-binary",
        ("train.bin",),
        "test.bin",
        "fine_label_names.txt",
        n_classes=100,
        n_labels=2,
        digest="md5:03b5dce01913d631647c71ecec9e9cb8",
        size=168_513_733,
    ),
}


def load_cifar(name: str, folder: Path, progress: Progress | None = None) -> Dataset:
    """50,000 training and 10,000 test images of 3 × 32 × 32, in the order of the files; CIFAR-100 by its fine labels.

    Parameters
    ----------
    name : {"cifar-10", "cifar-100"}
    folder : Path
        The cache folder. ``<name>/<archive>.tar.gz`` is read in place; if the unpacked folder
        ``<name>/cifar-10-batches-bin`` (``cifar-100-binary``) is there, it is read instead.
    """
    layout = LAYOUTS[name]
    unpacked = folder / name / layout.inside
    wanted = {*layout.train, layout.test, layout.names}
    if unpacked.is_dir():
        files = {file: _whole(unpacked / file, layout.most) for file in wanted}
    else:
        archive = f"{name}-binary.tar.gz"
        path = fetch(f"{name}/{archive}", PAGE + archive, layout.digest, layout.size, folder=folder, progress=progress)
        files = _members(path, {f"{layout.inside}/{file}" for file in wanted}, layout.most)
    parts: dict[str, Any] = {}
    for part, of_part in (("train", layout.train), ("test", (layout.test,))):
        read = [read_cifar_records(files[file], file, layout.n_classes, layout.n_labels) for file in of_part]
        parts[f"X_{part}"] = shares_of_bytes(np.concatenate([x for x, _ in read]))
        parts[f"y_{part}"] = np.concatenate([y for _, y in read])
    names = tuple(files[layout.names].decode("utf-8").split())
    if len(names) != layout.n_classes:
        rule = f"must be {layout.n_classes}"
        got = f"got {len(names)}"
        raise FileFormatError("classes", rule, got, "get it again", code="mismatch", source=layout.names)
    return Dataset(
        name, class_names=names, source=f"{PAGE}cifar.html", licence="none stated; cite Krizhevsky 2009", **parts
    )


def read_cifar_records(
    data: bytes, name: str, n_classes: int, n_labels: int = 1
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images ``(n, 3, 32, 32)`` and labels of one binary file: for each image its labels, then 3,072 bytes."""
    record = n_labels + PIXELS
    if not data or len(data) % record:
        rule = f"must hold whole records of {record} bytes"
        raise FileFormatError("file", rule, f"got {len(data)} bytes", "get it again", code="size", source=name)
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, record)
    labels = rows[:, n_labels - 1].astype(np.int64)  # the last label is the fine one
    if labels.max() >= n_classes:
        rule = f"must lie in 0 … {n_classes - 1}"
        raise FileFormatError("labels", rule, f"got {labels.max()}", "get it again", code="range", source=name)
    return rows[:, n_labels:].reshape(-1, 3, 32, 32), labels


def _members(path: Path, wanted: set[str], most: int) -> dict[str, bytes]:
    """The named files of a tar.gz by their last name, read in one pass and never written to the disk."""
    found = {}
    with problems_named(path):
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                stream = archive.extractfile(member) if name in wanted and member.isreg() else None
                if stream is None:
                    continue
                if member.size > most:
                    raise _too_long(name, member.size, most)
                found[name.rpartition("/")[2]] = stream.read()
        missing = sorted(name for name in wanted if name.rpartition("/")[2] not in found)
        if missing:
            rule = f"must hold {listed(missing)}"
            got = "this is another archive, perhaps the pickled version, which is never read"
            raise FileFormatError("archive", rule, got, "get the binary version", code="missing")
    return found


def _whole(path: Path, most: int) -> bytes:
    with problems_named(path):
        if not path.is_file():
            raise FileFormatError("file", "must be there", "it is not", f"put it at {path}", code="missing")
        if path.stat().st_size > most:
            raise _too_long(path.name, path.stat().st_size, most)
        return path.read_bytes()


def _too_long(name: str, size: int, most: int) -> FileFormatError:
    return FileFormatError(name, f"must have at most {most} bytes", f"got {size}", "get the right file", code="size")


# Street View House Numbers, the cropped digits (Netzer et al. 2011), from MATLAB files, which hold no code.

FORMAT = "get the cropped digits, format 2"
ADDRESS = "http://ufldl.stanford.edu/housenumbers/"
DIGESTS = {"train": "md5:e26dedcc434d2e4c54c9b2d4a06d8373", "test": "md5:eb5a983be6a315427106f1b164d9cef3"}


def load_svhn(folder: Path, progress: Progress | None = None) -> Dataset:
    """73,257 training and 26,032 test images of 3 × 32 × 32 from ``svhn/train_32x32.mat`` and ``test_32x32.mat``."""
    parts: dict[str, Any] = {}
    for part, digest in DIGESTS.items():
        file = f"{part}_32x32.mat"
        path = fetch(f"svhn/{file}", ADDRESS + file, digest, folder=folder, progress=progress)
        parts[f"X_{part}"], parts[f"y_{part}"] = read_svhn(path)
    return Dataset("svhn", class_names=tuple("0123456789"), source=ADDRESS, licence="non-commercial use only", **parts)


def read_svhn(path: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Images ``(n, 3, H, W)`` in [0, 1] and labels of one file; the file's label 10 is the digit 0."""
    from scipy.io import loadmat

    with problems_named(path):
        held = {name: array for name, array in loadmat(path).items() if not name.startswith("__")}
        if not {"X", "y"} <= set(held):
            raise FileFormatError(
                "arrays", "must be X and y", f"got {listed(sorted(held)) or 'none'}", FORMAT, code="missing"
            )
        x, y = held["X"], held["y"]
        if x.ndim != 4 or x.shape[2] != 3 or x.dtype != np.uint8 or y.shape != (x.shape[3], 1):
            rule = "must be X of bytes (H, W, 3, n) and y (n, 1)"
            raise FileFormatError("arrays", rule, f"got {x.dtype} {x.shape} and {y.shape}", FORMAT, code="shape")
        if not ((y >= 1) & (y <= 10)).all():
            raise FileFormatError("y", "must lie in 1 … 10", f"got {y.min()} … {y.max()}", FORMAT, code="range")
    return shares_of_bytes(x.transpose(3, 2, 0, 1)), y[:, 0].astype(np.int64) % 10


# Images as JPEG or PNG files inside an npz file.
#
# | array | content |
# |---|---|
# | jpeg | bytes of all files, one after another |
# | offsets | n + 1 numbers: file i lies in offsets[i] … offsets[i + 1] |
# | labels | n classes |
# | n_train | number of training images, which come first; without it, the images are split |
# | test_rows | optional: for each further image its row in the test part |
# | class_names | optional |

Arrays = dict[str, NDArray[Any]]
MOST_PIXELS = 2**20  # of an image; a small file may state a size that no memory has


def holds_packed_images(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether the arrays of a file are packed images."""
    return {"jpeg", "offsets", "labels"} <= set(arrays)


def unpacked_images(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Packed images as X and y, or X_train, y_train, X_test and y_test; bytes ``(n, 3, H, W)`` in RGB."""
    data, offsets, labels = (np.asarray(arrays[key]) for key in ("jpeg", "offsets", "labels"))
    _check(data, offsets, labels)
    images = _decoded(data, offsets.astype(np.int64))
    kept = {"class_names": np.asarray(arrays["class_names"])} if "class_names" in arrays else {}
    if "n_train" not in arrays:
        return kept | {"X": images, "y": labels}
    n_train = int(arrays["n_train"])
    if not 0 < n_train <= len(labels):
        raise FileFormatError(
            "n_train", f"must lie in 1 … {len(labels)}", f"got {n_train}", "write the file again", code="range"
        )
    rows = np.asarray(arrays["test_rows"]) if "test_rows" in arrays else np.arange(len(labels) - n_train)
    if not np.array_equal(np.sort(rows), np.arange(len(labels) - n_train)):
        rule = f"must be the rows 0 … {len(labels) - n_train - 1} in some order"
        got = f"got {counted(rows.size, 'number')}"
        raise FileFormatError("test_rows", rule, got, "write the file again", code="mismatch")
    order = n_train + np.argsort(rows)
    return kept | {
        "X_train": images[:n_train],
        "y_train": labels[:n_train],
        "X_test": images[order],
        "y_test": labels[order],
    }


def _check(data: NDArray[Any], offsets: NDArray[Any], labels: NDArray[Any]) -> None:
    if data.dtype != np.uint8 or data.ndim != 1:
        raise FileFormatError(
            "jpeg", "must be bytes on one axis", f"got {data.dtype} {data.shape}", "write the file again", code="type"
        )
    whole = offsets.dtype.kind in "iu" and offsets.ndim == 1 and labels.ndim == 1 and len(offsets) == len(labels) + 1
    good = whole and len(labels) > 0 and offsets[0] == 0 and offsets[-1] == len(data)
    if not good or (np.diff(offsets.astype(np.int64)) <= 0).any():
        rule = f"must rise from 0 to {len(data)}, one more than there are labels"
        got = f"got shape {offsets.shape} for {counted(labels.size, 'label')}"
        raise FileFormatError("offsets", rule, got, "write the file again", code="mismatch")


def _decoded(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    pillow = optional_package("PIL.Image", "lab", "reading images")
    found: list[NDArray[np.uint8]] = []
    for i, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        try:
            with pillow.open(io.BytesIO(data[start:end].tobytes()), formats=("JPEG", "PNG")) as image:
                width, height = image.size
                if width * height > MOST_PIXELS:
                    rule = f"must hold images of at most {MOST_PIXELS} pixels"
                    got = f"image {i} has {width} × {height}"
                    raise FileFormatError("jpeg", rule, got, "make them smaller", code="size")
                pixels = np.asarray(image.convert("RGB")).transpose(2, 0, 1)
        except FileFormatError:
            raise
        except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as problem:  # damaged files
            rule = f"image {i} must be a JPEG or PNG file"
            raise FileFormatError("jpeg", rule, said(problem), "write the file again", code="unreadable") from problem
        if found and pixels.shape != found[0].shape:
            got = f"image {i} has {pixels.shape[1:]}, the first {found[0].shape[1:]}"
            raise FileFormatError("jpeg", "must hold images of one size", got, "resize them", code="shape")
        found.append(pixels)
    return np.stack(found)
