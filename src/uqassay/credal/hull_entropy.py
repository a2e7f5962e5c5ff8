"""Upper and lower entropy over the convex hull of points, that is, over all mixtures of members or vertices.

Entropy is concave: the minimum is at one of the points. An interior-point method finds the maximum with a certified gap.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_rows, row_chunks, tolerance_of
from uqassay.credal.box_entropy import CHUNK_BYTES, SET_TOLERANCE, CertifiedEntropy, shannon_entropy
from uqassay.errors import InputError

__all__ = ["hull_lower_entropy", "hull_upper_entropy"]

Float = NDArray[np.float64]
MAX_STEPS = 100


def _as_points(points: ArrayLike) -> NDArray[Any]:
    array = as_numeric(points, "points", ndim=3)
    if array.shape[1] == 0:
        raise InputError(
            "points",
            "must have at least one point per instance",
            f"got shape {array.shape}",
            "pass shape (n, V, K)",
            code="shape",
        )
    tolerance = max(SET_TOLERANCE, tolerance_of(array))
    check_rows(array, "points", tolerance=tolerance, remedy="pass points that are distributions")
    return array


def hull_upper_entropy(points: ArrayLike, tolerance: float = 1e-9) -> CertifiedEntropy:
    """Largest entropy (nats) over the mixtures of each instance's points, with a certified gap.

    Parameters
    ----------
    points : (n, V, K)
    tolerance : float
        An instance is finished when its gap is at most this (nats, at least 1e-12).

    Returns
    -------
    CertifiedEntropy
        `steps` counts interior-point steps, at most 100.

    Raises
    ------
    InputError
        Points that are not distributions, or a tolerance below 1e-12.

    Notes
    -----
    Entropy is concave, so with q = Σ_m w_m p_m no mixture exceeds H(q) by more than
    the gap max_m CE(p_m, q) − H(q), where CE(p, q) = −Σ_k p_k ln q_k.

    Examples
    --------
    >>> hull_upper_entropy([[[0.9, 0.1], [0.3, 0.7]]]).values.round(4).tolist()
    [0.6931]
    """
    if not tolerance >= 1e-12:
        raise InputError(
            "tolerance",
            "must be at least 1e-12 nats",
            f"got {tolerance}",
            "pass 1e-12 or more: rounding allows no smaller gap",
            code="range",
        )
    array = _as_points(points)
    n = array.shape[0]
    values, gap, steps = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    for rows in row_chunks(n, 8 * array[0].size, chunk_bytes=4 * CHUNK_BYTES):
        P, n_different = _in_one_order(np.maximum(np.ascontiguousarray(array[rows], dtype=np.float64), 0.0))
        for v in np.unique(n_different):
            some = np.flatnonzero(n_different == v)
            of = np.arange(rows.start, rows.start + len(P))[some]
            values[of], gap[of], steps[of] = _interior_point(P[some, :v], tolerance)
    return CertifiedEntropy(values, gap, steps)


def hull_lower_entropy(points: ArrayLike) -> Float:
    """Smallest entropy (nats) over the mixtures of each instance's points ``(n, V, K)``, which is that of one of the points.

    Raises `InputError` for points that are not distributions.

    Examples
    --------
    >>> hull_lower_entropy([[[0.9, 0.1], [0.3, 0.7]]]).round(4).tolist()
    [0.3251]
    """
    array = _as_points(points)
    out = np.empty(array.shape[0])
    for rows in row_chunks(len(array), 8 * array[0].size, chunk_bytes=4 * CHUNK_BYTES):
        out[rows] = shannon_entropy(np.maximum(np.ascontiguousarray(array[rows], dtype=np.float64), 0.0)).min(axis=1)
    return out


# -- helpers: sums run along the last axis, so rounding does not depend on the other instances ------------------------


def _in_one_order(P: Float) -> tuple[Float, NDArray[np.int64]]:
    # Each instance's different points in lexical order, then those that repeat another, and the number of the former: so
    # that equal sets have equal entropies to the last bit, in whatever order and how often their points are given.
    order = np.lexsort(P.transpose(2, 0, 1)[::-1])  # (n, V)
    P = np.take_along_axis(P, order[:, :, None], axis=1)
    repeated = np.zeros(P.shape[:2], dtype=bool)
    repeated[:, 1:] = (P[:, 1:] == P[:, :-1]).all(axis=2)
    last = np.argsort(repeated, axis=1, kind="stable")
    return np.take_along_axis(P, last[:, :, None], axis=1), P.shape[1] - repeated.sum(axis=1)


def _interior_point(P: Float, tolerance: float) -> tuple[Float, Float, NDArray[np.int64]]:
    # Primal-dual steps for max H(Σ_m w_m p_m) over the weights w, with multipliers z of w ≥ 0 and ν of Σw = 1.
    n, V, _ = P.shape
    at_point = shannon_entropy(P).max(axis=1)
    best, ceiling, steps = at_point.copy(), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    rows, w, z = np.arange(n), np.full((n, V), 1.0 / V), np.empty((n, V))
    spare = 1.0 - P.sum(axis=2)  # (n, V): in low precision members do not sum to 1 exactly
    for step in range(MAX_STEPS + 1):
        q = np.matmul(w[:, None, :], P)[:, 0, :]  # (n, K)
        q = np.where(q > 0, q, 1.0)  # a class without mass in all members then contributes 0
        g = spare - np.matmul(P, np.log(q)[:, :, None])[:, :, 0]  # (n, V): CE(p_m, q), or exactly ∂H/∂w_m + 1
        h = shannon_entropy(q)
        best[rows] = np.maximum(best[rows], h)
        top = g.max(axis=1, keepdims=True)
        ceiling[rows] = np.minimum(ceiling[rows], h + np.maximum(top[:, 0] - (w * g).sum(axis=1), 0.0))
        steps[rows] = step
        live = ceiling[rows] - best[rows] > tolerance
        if step == 0:
            z = 2.0 * top - (w * g).sum(axis=1, keepdims=True) - g
        if step == MAX_STEPS or not live.any():
            break
        P, w, z, q, g, top, spare, rows = (a[live] for a in (P, w, z, q, g, top, spare, rows))
        w, z = _newton_step(P, w, z, q, g - top)
    best = np.where(ceiling - at_point <= tolerance, at_point, best)  # without rounding of the weights
    return best, ceiling - best, steps


def _newton_step(P: Float, w: Float, z: Float, q: Float, g: Float) -> tuple[Float, Float]:
    # (P diag(1/q) Pᵀ + D) dw + ν = g + σμ/w with Σdw = 0, then dz = σμ/w − z − D dw; both steps have one length,
    # because the problem is not linear. g is relative to its maximum, which keeps the digits of its small differences.
    D = np.maximum(z / w, 1e-13)  # (n, V)
    mu = (w * z).mean(axis=1, keepdims=True)  # (n, 1)
    X = _solve(P / np.sqrt(q)[:, None, :], D, np.stack([g, 1.0 / w, np.ones_like(w)], axis=2))  # (n, V, 3)
    by_g, by_w, by_1 = X[:, :, 0], X[:, :, 1], X[:, :, 2]
    norm = by_1.sum(axis=1, keepdims=True)
    d_g = by_g - by_g.sum(axis=1, keepdims=True) / norm * by_1
    d_w = by_w - by_w.sum(axis=1, keepdims=True) / norm * by_1

    def move(target: Float | float) -> tuple[Float, Float]:
        dw = d_g + target * d_w
        dz = target / w - z - D * dw
        longest = np.maximum((-dw / w).max(axis=1, keepdims=True), (-dz / z).max(axis=1, keepdims=True))
        length = np.minimum(1.0, 0.95 / np.maximum(longest, 1e-300))
        return w + length * dw, z + length * dz

    w_0, z_0 = move(0.0)
    sigma = np.clip(((w_0 * z_0).mean(axis=1, keepdims=True) / mu) ** 3, 0.05, 0.9)  # Mehrotra's centring
    w, z = move(sigma * mu)
    return w / w.sum(axis=1, keepdims=True), z


def _solve(B: Float, D: Float, right: Float) -> Float:
    # (B Bᵀ + diag D)⁻¹ right, by the V × V system or, if K is smaller, the K × K system of the Woodbury identity.
    _, V, K = B.shape
    if V <= K:
        M = np.matmul(B, B.transpose(0, 2, 1))
        M[:, np.arange(V), np.arange(V)] += D
        return np.asarray(np.linalg.solve(M, right), dtype=np.float64)
    scaled = B / D[:, :, None]
    M = np.matmul(B.transpose(0, 2, 1), scaled)
    M[:, np.arange(K), np.arange(K)] += 1.0
    inner = np.asarray(np.linalg.solve(M, np.matmul(scaled.transpose(0, 2, 1), right)), dtype=np.float64)
    return right / D[:, :, None] - np.matmul(scaled, inner)
