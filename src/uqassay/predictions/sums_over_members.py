"""Sums over the members of each instance, weighted by their shares."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import CACHE_BYTES, row_chunks, still_whole
from uqassay._kernels import kernel
from uqassay.predictions.probabilities import not_negative
from uqassay.predictions.summation import OrderFreeSum

__all__ = ["member_rows", "member_shares", "member_sums"]

Array = NDArray[np.float64]


def member_sums(
    probs: Any, weights: Array | None, terms: Callable[[Any], tuple[Any, ...]], twin: str = "", *given: Array
) -> list[Any]:
    """Σ_m w_m t(p_m) for each term t, independent of the order of the members.

    Parameters
    ----------
    probs : array (n, M, K)
    weights : array (M,) or (n, M), optional
        The shares w_m; 1/M unless given.
    terms : callable
        From the probabilities p (n, K) of one member to the terms t(p), such as (n, K) or (n, 1).
    twin : str
        Name of the compiled kernel of these terms; "" if there is none.
    *given : array (n, K)
        What the terms depend on, for the kernel.

    Examples
    --------
    >>> probs = np.array([[[0.5, 0.5], [1.0, 0.0]]])
    >>> [mean] = member_sums(probs, None, lambda p: (p,))
    >>> mean.tolist()
    [[0.75, 0.25]]
    """
    compiled = kernel(twin) if isinstance(probs, np.ndarray) else None
    if compiled is not None:
        shares = member_shares(probs, weights)
        parts = [
            compiled(
                member_rows(probs[rows]), shares[rows] if len(shares) > 1 else shares, *(one[rows] for one in given)
            )
            for rows in _pieces(probs)
        ]
        return [np.concatenate(found) if len(found) > 1 else found[0] for found in zip(*parts, strict=True)]
    sums: list[OrderFreeSum] = []
    for m in range(probs.shape[1]):
        share: Any = 1.0 / probs.shape[1] if weights is None else weights[..., m, None]
        values = terms(not_negative(probs[:, m, :]))
        sums = sums or [OrderFreeSum(value.shape, value) for value in values]
        for total, value in zip(sums, values, strict=True):
            total.add(share * value)
    return [total.value() for total in sums]


def member_rows(probs: NDArray[Any]) -> NDArray[Any]:
    """Members (n, M, K) as kernels take them: contiguous, float32 or float64."""
    still_whole(probs)
    return np.require(np.asarray(probs), np.float32 if probs.dtype == np.float32 else np.float64, ["C", "A"])


def _pieces(probs: NDArray[Any]) -> Iterable[slice]:
    """All rows at once if a kernel reads them where they are; else pieces, so that their copies stay small."""
    if probs.dtype in (np.float32, np.float64) and probs.flags.c_contiguous and probs.flags.aligned:
        return [slice(0, len(probs))]
    return row_chunks(len(probs), 8 * probs[:1].size, chunk_bytes=CACHE_BYTES)


def member_shares(probs: NDArray[Any], weights: Array | None) -> Array:
    """Shares of the members, ``(1, M)`` or ``(n, M)``: `weights`, or 1/M."""
    if weights is None:
        return np.full((1, probs.shape[1]), 1.0 / probs.shape[1])
    return np.ascontiguousarray(np.atleast_2d(weights))
