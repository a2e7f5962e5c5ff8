"""SHA-256 of the predictions of a model: of its kind and of the SHA-256 of each instance, so that parts can be joined."""

from collections.abc import Iterable
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from uqassay._array import release, row_chunks
from uqassay._kernels import kernel
from uqassay.predictions import GaussianLogits, Prediction

__all__ = ["digests_of_rows", "fingerprint"]


def digests_of_rows(run: Prediction) -> bytes:
    """The SHA-256 of the numbers of each instance, one after another, 32 bytes each.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.9, 0.1], [0.2, 0.8]])
    >>> digests_of_rows(p) == digests_of_rows(p[:1]) + digests_of_rows(p[1:])
    True
    """
    arrays = [getattr(run, name) for name in run.array_names()]
    found = []
    for rows in row_chunks(run.n_instances, sum(array[:1].nbytes for array in arrays)):
        parts = [
            np.ascontiguousarray(array[rows]).reshape(rows.stop - rows.start, -1).view(np.uint8) for array in arrays
        ]
        found.append(_of_each(np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]))
        for array in arrays:
            release(array)
    return b"".join(found)


def _of_each(rows: NDArray[np.uint8]) -> bytes:
    """The SHA-256 of each row (n, B), one after another."""
    digests = kernel("row_digests")
    if digests is not None:
        return bytes(np.ascontiguousarray(digests(rows)).data)
    width, raw = rows.shape[1], rows.reshape(-1).data
    return b"".join(sha256(raw[start : start + width]).digest() for start in range(0, len(raw), width))


def fingerprint(runs: Iterable[tuple[Prediction, bytes]]) -> str:
    """SHA-256 of a model, in hexadecimal, from each run (its first rows suffice) and the digests of all its rows."""
    digest = sha256()
    for run, digests in runs:
        digest.update(type(run).__name__.encode())
        if isinstance(run, GaussianLogits) and run.variance_is == "aleatoric":
            digest.update(run.variance_is.encode())
        digest.update(digests)
    return digest.hexdigest()
