"""Expectations of softmax(z) over independent Gaussian logits z_k ~ N(μ_k, s_k²), by quadrature in one dimension.

With independent standard Gumbel variables G_k, softmax_k(z) = P(z_k + G_k is the greatest given z). So with the distribution
function F_k of z_k + G_k

    E softmax_k(z) = ∫ F_k'(u) Π_{j≠k} F_j(u) du,   F_k(u) = E exp(−exp(z_k − u)).

Both integrals are trapezoidal sums on lattices of one step h, so that all rows share the values exp(−exp(z − u)). They are
analytic in strips: the outer sum has an error of about exp(−π²/h), the inner one of exp(−2π² s²/h²). Where s < ½, Gauss's rule
takes its place.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError

__all__ = ["WIDEST", "softmax_normal"]

Array = NDArray[np.float64]
STEP = 0.375  # h; exp(−π²/h) is 4e-12
DEVIATIONS = 7.5  # the Gaussian has 6e-14 of its mass beyond
BELOW, ABOVE = 4.0, 30.0  # of the range of u, below and above the Gaussians: exp(−exp(4)) and exp(−30) are negligible
BEHIND = 32.0  # logits so far below the least u count as this one: exp(−32) is negligible
NARROW = 0.5  # s below which Gauss's rule is used
NARROW_NODES, NARROW_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
NARROW_WEIGHTS = NARROW_WEIGHTS / NARROW_WEIGHTS.sum()
WIDEST = 32.0  # greatest s; the lattice has some 1,500 nodes then
CHUNK = 2**18  # values of F at a time


def softmax_normal(mean: ArrayLike, deviation: ArrayLike) -> Array:
    """E softmax(z) of n rows of K independent Gaussian logits, ``(n, K)``.

    Parameters
    ----------
    mean, deviation : array (n, K)
        μ, finite, and s in [0, `WIDEST`].

    Notes
    -----
    The absolute error is below 1e-9. Time of a row grows with K and the square of the greatest s: some 30 µs at K = 3 and
    s = 3. Equal rows have equal results, whatever the other rows.

    Examples
    --------
    >>> softmax_normal([[0.0, 1.0, 2.0]], [[0.0, 1.0, 3.0]]).round(4).tolist()
    [[0.1181, 0.3152, 0.5668]]
    """
    mean, deviation = np.asarray(mean, dtype=np.float64), np.asarray(deviation, dtype=np.float64)
    if deviation.max(initial=0.0) > WIDEST:
        got = f"got {deviation.max():g}"
        raise InputError("deviation", f"must be at most {WIDEST:g}", got, "use draws", code="range")
    found = np.empty(mean.shape)
    top = (mean + DEVIATIONS * deviation).max(axis=1)
    low = (mean - DEVIATIONS * deviation).max(axis=1) - BELOW
    # rows of one chunk share their lattice; its size, a power of √2, is that of the row alone
    power = np.ceil(2.0 * np.log2(np.maximum(top - low, 1.0)))
    for size in np.unique(power):
        chosen = np.flatnonzero(power == size)
        n_nodes = int(np.ceil((2.0 ** (size / 2.0) + ABOVE) / STEP)) + 1
        step = max(1, CHUNK // (n_nodes * mean.shape[1]))
        for start in range(0, len(chosen), step):
            rows = chosen[start : start + step]
            found[rows] = _chunk(mean[rows] - low[rows, None], deviation[rows], n_nodes)
    return found


def _chunk(mean: Array, deviation: Array, n_nodes: int) -> Array:
    """E softmax(z) for rows whose range of u begins at 0."""
    u: Array = STEP * np.arange(n_nodes, dtype=np.float64)
    distribution, density = _wide(mean, deviation, u)
    narrow = deviation < NARROW
    if narrow.any():
        distribution[narrow], density[narrow] = _narrow(mean[narrow], deviation[narrow], u)
    log = np.log(np.maximum(distribution, 1e-300))
    others = np.exp(log.sum(axis=1, keepdims=True) - log)  # Π_{j≠k} F_j
    probs = (density * others).sum(axis=2)
    return np.asarray(probs / probs.sum(axis=1, keepdims=True))


def _wide(mean: Array, deviation: Array, u: Array) -> tuple[Array, Array]:
    """F and F' at u, ``(n, K, nodes)`` each, from nodes z on the lattice of u; it goes on below by `BEHIND`."""
    n_below = int(np.ceil(BEHIND / STEP))
    z = STEP * np.arange(-n_below, len(u) - int(ABOVE / STEP))
    s = np.maximum(deviation, STEP)[..., None]
    weight = np.exp(-0.5 * ((z - mean[..., None]) / s) ** 2) * (STEP / (np.sqrt(2.0 * np.pi) * s))
    weight[..., 0] += np.maximum(1.0 - weight.sum(axis=2), 0.0)
    rate = np.exp(np.minimum(z[:, None] - u, 700.0))
    stays = np.exp(-rate)
    return weight @ stays, weight @ (rate * stays)


def _narrow(mean: Array, deviation: Array, u: Array) -> tuple[Array, Array]:
    """F and F' at u for k logits with a small s, ``(k, nodes)`` each."""
    distribution: Any = 0.0
    density: Any = 0.0
    for node, share in zip(NARROW_NODES, NARROW_WEIGHTS, strict=True):
        rate = np.exp(np.minimum((mean + deviation * node)[:, None] - u, 700.0))
        stays = share * np.exp(-rate)
        distribution, density = distribution + stays, density + rate * stays
    return distribution, density
