"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009) in their binary version; the pickled version is never read."""

import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.datasets.cache import Progress, fetch
from uqassay.datasets.dataset import Dataset, shares_of_bytes
from uqassay.errors import FileFormatError
from uqassay.predictions.files import problems_named
from uqassay.wording import listed

__all__ = ["load_cifar", "read_cifar_records"]

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
    progress : callable, optional

    Returns
    -------
    Dataset
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
        raise FileFormatError(
            "classes",
            f"must be {layout.n_classes}",
            f"got {len(names)}",
            "get it again",
            code="mismatch",
            source=layout.names,
        )
    return Dataset(
        name, class_names=names, source=f"{PAGE}cifar.html", licence="none stated; cite Krizhevsky 2009", **parts
    )


def read_cifar_records(
    data: bytes, name: str, n_classes: int, n_labels: int = 1
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images ``(n, 3, 32, 32)`` and labels of one binary file: for each image its labels, then 3,072 bytes.

    Raises
    ------
    FileFormatError
        A length that is no multiple of a record, or a label that is no class.
    """
    record = n_labels + PIXELS
    if not data or len(data) % record:
        raise FileFormatError(
            "file",
            f"must hold whole records of {record} bytes",
            f"got {len(data)} bytes",
            "get it again",
            code="size",
            source=name,
        )
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, record)
    labels = rows[:, n_labels - 1].astype(np.int64)  # the last label is the fine one
    if labels.max() >= n_classes:
        raise FileFormatError(
            "labels",
            f"must lie in 0 … {n_classes - 1}",
            f"got {labels.max()}",
            "get it again",
            code="range",
            source=name,
        )
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
            raise FileFormatError(
                "archive",
                f"must hold {listed(missing)}",
                "this is another archive, perhaps the pickled version, which is never read",
                "get the binary version",
                code="missing",
            )
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
