"""Street View House Numbers, the cropped digits (Netzer et al. 2011), from MATLAB files, which hold no code."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.datasets.cache import Progress, fetch
from uqassay.datasets.dataset import Dataset, shares_of_bytes
from uqassay.errors import FileFormatError
from uqassay.predictions.files import problems_named
from uqassay.wording import listed

__all__ = ["load_svhn", "read_svhn"]

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
    """Images ``(n, 3, H, W)`` in [0, 1] and labels of one file; the file's label 10 is the digit 0.

    Raises
    ------
    FileFormatError
        No such file, or other arrays than images and labels.
    """
    from scipy.io import loadmat

    with problems_named(path):
        held = {name: array for name, array in loadmat(path).items() if not name.startswith("__")}
        if not {"X", "y"} <= set(held):
            raise FileFormatError(
                "arrays", "must be X and y", f"got {listed(sorted(held)) or 'none'}", FORMAT, code="missing"
            )
        x, y = held["X"], held["y"]
        if x.ndim != 4 or x.shape[2] != 3 or x.dtype != np.uint8 or y.shape != (x.shape[3], 1):
            raise FileFormatError(
                "arrays",
                "must be X of bytes (H, W, 3, n) and y (n, 1)",
                f"got {x.dtype} {x.shape} and {y.shape}",
                FORMAT,
                code="shape",
            )
        if not ((y >= 1) & (y <= 10)).all():
            raise FileFormatError("y", "must lie in 1 … 10", f"got {y.min()} … {y.max()}", FORMAT, code="range")
    return shares_of_bytes(x.transpose(3, 2, 0, 1)), y[:, 0].astype(np.int64) % 10
