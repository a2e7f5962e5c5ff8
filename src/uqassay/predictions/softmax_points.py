"""Points of softmax(z) for independent Gaussian logits: the same standard normals for all rows, and the exact mean."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax

from uqassay.predictions.softmax_normal import WIDEST, softmax_normal

__all__ = ["normal_points", "softmax_points"]

Array = NDArray[np.float64]
OFFSET_STEPS = 4
CHUNK_BYTES = 2**22  # of points at a time
TINY = np.finfo(np.float64).tiny


def softmax_points(mean: Array, variance: Array, n: int, *, seed: int = 0) -> Array:
    """n points of softmax(z), z ~ N(μ, diag σ²), with the exact mean, ``(rows, n, K)``.

    They are softmax(μ + σ z_m + δ) at the points z_m of `normal_points`, which all rows share. Newton's method finds the small
    offsets δ of a row for which the mean is that of `softmax_normal`. What is left after `OFFSET_STEPS` is corrected in the
    points: a class whose mean is too great loses the same share of its probability in every point, the others receive it.
    Rows with a σ above `WIDEST` keep the mean of the points. A mean of −inf gives the probability 0.

    Examples
    --------
    >>> points = softmax_points(np.array([[0.0, 1.0, 2.0]]), np.array([[0.0, 1.0, 9.0]]), 128)
    >>> points.mean(axis=1).round(4).tolist()
    [[0.1181, 0.3152, 0.5668]]
    """
    deviation = np.sqrt(variance)
    points = np.empty((len(mean), n, mean.shape[1]))
    narrow = deviation.max(axis=1, initial=0.0) <= WIDEST
    exact = np.full(mean.shape, np.nan)
    exact[narrow] = softmax_normal(mean[narrow], deviation[narrow])
    exact[np.isneginf(mean)] = 0.0  # the quadrature has 1e-14
    z = normal_points(n, mean.shape[1], seed=seed)
    rows = max(1, CHUNK_BYTES // (8 * z.size))
    for start in range(0, len(mean), rows):
        part = slice(start, start + rows)
        logits = mean[part, None] + deviation[part, None] * z
        found = softmax(logits, axis=2)
        exact[part] = np.where(narrow[part, None], exact[part], found.mean(axis=1))
        for _ in range(OFFSET_STEPS):
            logits += _offset(found, exact[part])[:, None]
            found = softmax(logits, axis=2)
        points[part] = _with_mean(found, exact[part])
    return points


def _offset(points: Array, mean: Array) -> Array:
    """Newton's step of the offsets of the logits, ``(rows, K)``, towards points with this mean."""
    now, k = points.mean(axis=1), points.shape[2]
    slope = -(np.swapaxes(points, 1, 2) @ points) / points.shape[1]
    slope += 1.0 / k  # an equal offset of all logits changes nothing, so the derivative is singular
    slope[:, range(k), range(k)] += now + 1e-6
    step: Array = np.linalg.solve(slope, (mean - now)[..., None])[..., 0]
    return np.clip(step, -1.0, 1.0)


def _with_mean(points: Array, mean: Array) -> Array:
    """Distributions near the points, with this mean up to rounding."""
    found = points.mean(axis=1)
    kept = np.minimum(mean / np.maximum(found, TINY), 1.0)
    lacking = np.maximum(mean - found, 0.0)
    share = lacking / np.maximum(lacking.sum(axis=1, keepdims=True), TINY)
    taken = (points * (1.0 - kept)[:, None]).sum(axis=2, keepdims=True)
    return np.asarray(points * kept[:, None] + taken * share[:, None])


def normal_points(n: int, d: int, *, seed: int = 0) -> Array:
    """The first n points of a scrambled Sobol sequence of standard normals, ``(n, d)``; always the same for a seed."""
    from scipy.stats import qmc  # takes half a second to import

    # seed= was renamed to rng= in SciPy 1.15; a generator is accepted by place in neither, so the old name stays
    uniform = qmc.Sobol(d, scramble=True, seed=seed).random_base2(max(int(n - 1).bit_length(), 0))[:n]
    return ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12))
