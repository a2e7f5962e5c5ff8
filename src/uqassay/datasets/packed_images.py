"""Images as JPEG or PNG files inside an npz file.

| array | content |
|---|---|
| jpeg | bytes of all files, one after another |
| offsets | n + 1 numbers: file i lies in offsets[i] … offsets[i + 1] |
| labels | n classes |
| n_train | number of training images, which come first; without it, the images are split |
| test_rows | optional: for each further image its row in the test part |
| class_names | optional |
"""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._optional import optional_package
from uqassay.errors import FileFormatError
from uqassay.wording import counted

__all__ = ["holds_packed_images", "unpacked_images"]

Arrays = dict[str, NDArray[Any]]
MOST_PIXELS = 2**20  # of an image; a small file may state a size that no memory has


def holds_packed_images(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether the arrays of a file are packed images."""
    return {"jpeg", "offsets", "labels"} <= set(arrays)


def unpacked_images(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Packed images as X and y, or X_train, y_train, X_test and y_test; bytes ``(n, 3, H, W)`` in RGB.

    Raises
    ------
    FileFormatError
        Arrays that do not fit together, images of different sizes, or an image that cannot be decoded.
    MissingDependencyError
        Pillow is not installed.
    """
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
        raise FileFormatError(
            "test_rows",
            f"must be the rows 0 … {len(labels) - n_train - 1} in some order",
            f"got {counted(rows.size, 'number')}",
            "write the file again",
            code="mismatch",
        )
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
        raise FileFormatError(
            "offsets",
            f"must rise from 0 to {len(data)}, one more than there are labels",
            f"got shape {offsets.shape} for {counted(labels.size, 'label')}",
            "write the file again",
            code="mismatch",
        )


def _decoded(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    pillow = optional_package("PIL.Image", "datasets", "reading images")
    found: list[NDArray[np.uint8]] = []
    for i, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        try:
            with pillow.open(io.BytesIO(data[start:end].tobytes()), formats=("JPEG", "PNG")) as image:
                width, height = image.size
                if width * height > MOST_PIXELS:
                    raise FileFormatError(
                        "jpeg",
                        f"must hold images of at most {MOST_PIXELS} pixels",
                        f"image {i} has {width} × {height}",
                        "make them smaller",
                        code="size",
                    )
                pixels = np.asarray(image.convert("RGB")).transpose(2, 0, 1)
        except FileFormatError:
            raise
        except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as problem:  # damaged files
            reason = " ".join(str(problem).split())
            raise FileFormatError(
                "jpeg", f"image {i} must be a JPEG or PNG file", reason, "write the file again", code="unreadable"
            ) from problem
        if found and pixels.shape != found[0].shape:
            raise FileFormatError(
                "jpeg",
                "must hold images of one size",
                f"image {i} has {pixels.shape[1:]}, the first {found[0].shape[1:]}",
                "resize them",
                code="shape",
            )
        found.append(pixels)
    return np.stack(found)
