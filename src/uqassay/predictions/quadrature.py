"""Expectations of a softmax over Gaussian logits, by quadrature."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr, softmax

from uqassay.arrays import Floats, normal_points
from uqassay.checks import fail

__all__ = [
    "binary_entropy",
    "expected_regret",
    "logistic_normal",
    "softmax_normal",
    "softmax_points",
    "two_class_probs",
]


# Expectations of p = σ(z) over z ~ N(μ, s²), by quadrature: the mean, its entropy and its variance, with their parts.
#
# The difference of two independent Gaussian logits is Gaussian, so this is all that two classes need. In nats, accurate
# to about 1e-12 for all μ and s.
#
# The trapezoidal rule of step h on the whole line has the error exp(−2πd/h + d²/2s²) for an integrand that is analytic
# in a strip of half-width d. σ has poles at ±iπ, so d ≤ π; `_n_nodes` solves this for 1e-13. Beyond s = 12 nodes over
# all of the Gaussian would be many. There Φ(z/1.7), whose mean is known, is taken from σ(z); the rest vanishes outside
# ±36, as the entropy does.

TINY, WIDE = 1e-4, 12.0  # below TINY the first terms of a series are exact to 1e-8 of their value
DEVIATIONS = 8.3  # the density beyond is below 1e-15 of its peak
GROUPS = (0.5, 1.0, 2.0, 4.0, 8.0, WIDE)  # rows with s up to these have as many nodes as the widest of them needs
SMOOTH, REACH = 1.7, 36.0
CHUNK = 2**17  # nodes at a time, which stay in the cache


class LogisticNormal(NamedTuple):
    """Expectations over p = σ(z), z ~ N(μ, s²), each ``(n,)``."""

    #: E[p] for −|μ|, in [0, ½]: the probability of the less probable class, with the digits of small
    #: probabilities.
    low: Floats
    #: total, aleatoric, epistemic: H(E[p]), E[H(p)], and their difference, the mutual information, in nats.
    total: Floats
    aleatoric: Floats
    epistemic: Floats
    #: within, among: E[p (1 − p)] and Var[p].
    within: Floats
    among: Floats


def logistic_normal(mean: ArrayLike, deviation: ArrayLike) -> LogisticNormal:
    """`LogisticNormal` of n Gaussians; the mean may be infinite.

    Examples
    --------
    >>> found = logistic_normal([0.0, 2.0], [0.0, 3.0])
    >>> found.low.round(4).tolist(), found.epistemic.round(4).tolist()
    ([0.5, 0.2826], [0.0, 0.2863])
    """
    far = np.abs(np.asarray(mean, dtype=np.float64))
    deviation = np.broadcast_to(np.asarray(deviation, dtype=np.float64), far.shape)
    found = np.zeros((6, far.size))
    _fill(far, deviation, found, _narrow, _moments, _wide)
    return LogisticNormal(*found)


def two_class_probs(mean: ArrayLike, deviation: ArrayLike) -> Floats:
    """E[(1 − σ(z), σ(z))] for z ~ N(μ, s²), ``(n, 2)``; like `logistic_normal`, without the rest.

    Examples
    --------
    >>> two_class_probs([0.0, 2.0], [1.0, 3.0]).round(4).tolist()
    [[0.5, 0.5], [0.2826, 0.7174]]
    """
    mean = np.asarray(mean, dtype=np.float64)
    deviation = np.broadcast_to(np.asarray(deviation, dtype=np.float64), mean.shape)
    found = np.zeros((1, mean.size))
    _fill(np.abs(mean), deviation, found, lambda m, s: _narrow(m, s)[0], _mean, lambda m, s: _wide_mean(m, s)[0])
    low = found[0]
    return np.where((mean < 0.0)[:, None], np.stack([1.0 - low, low], axis=1), np.stack([low, 1.0 - low], axis=1))


def expected_regret(mean: ArrayLike, deviation: ArrayLike) -> Floats:
    """E[max(p, 1 − p)] − max(E[p], E[1 − p]) = E[max(0, tanh(z / 2))] for −|μ|: the epistemic zero-one loss, ``(n,)``."""
    far = np.abs(np.asarray(mean, dtype=np.float64))
    deviation = np.broadcast_to(np.asarray(deviation, dtype=np.float64), far.shape)
    found = np.zeros((1, far.size))
    _each(np.isfinite(far) & (deviation > 0.0), far, deviation, found, _half_line, len(_HALF_NODES))
    return found[0]


def binary_entropy(p: Floats) -> Floats:
    """H(p) in nats for p in [0, ½]."""
    return np.asarray(-p * np.log(np.where(p > 0.0, p, 1.0)) - (1.0 - p) * np.log1p(-p))


Kernel = Callable[[Floats, Floats], Any]


def _fill(far: Floats, s: Floats, found: Floats, narrow: Kernel, at_nodes: Callable[..., Any], wide: Kernel) -> None:
    """Fill `found` by the kernel for each row's s; rows with an infinite mean stay 0."""
    finite = np.isfinite(far)
    _each(finite & (s < TINY), far, s, found, narrow, 1)
    least = TINY
    for most in GROUPS:
        grid = np.linspace(0.0, 1.0, _n_nodes(most))
        _each(finite & (s >= least) & (s < most), far, s, found, partial(_on_grid, at_nodes, grid), len(grid))
        least = most
    _each(finite & (s >= WIDE), far, s, found, wide, len(_WIDE_NODES))
    found[0, far == 0.0] = 0.5  # a rounding error would prefer one of two equal classes


def _each(rows: NDArray[np.bool_], far: Floats, deviation: Floats, found: Floats, kernel: Kernel, n_nodes: int) -> None:
    """Fill the rows of `found` in chunks; every kernel takes −|μ| and s as columns."""
    chosen = np.flatnonzero(rows)
    step = max(1, CHUNK // n_nodes)
    for start in range(0, chosen.size, step):
        part = chosen[start : start + step]
        found[:, part] = kernel(-far[part, None], deviation[part, None])


def _narrow(mean: Floats, s: Floats) -> tuple[Floats, ...]:
    p = expit(mean[:, 0])
    square, slope = s[:, 0] ** 2, expit(mean[:, 0]) * expit(-mean[:, 0])
    low = np.minimum(p + 0.5 * square * slope * (1.0 - 2.0 * p), 0.5)
    total, epistemic, among = binary_entropy(low), 0.5 * square * slope, square * slope**2
    return low, total, total - epistemic, epistemic, slope + (low - p) * (1.0 - low - p) - among, among


def _n_nodes(s: float) -> int:
    """Nodes that the trapezoidal rule needs over the range of `_direct`."""
    step = 0.81 * s if s < 0.4 else 2.0 * np.pi**2 / (30.0 + 0.5 * (np.pi / s) ** 2)
    return int(np.ceil((2.0 * DEVIATIONS * s + s * s) / step)) + 1


def _on_grid(at_nodes: Callable[..., Any], grid: Floats, mean: Floats, s: Floats) -> Any:
    """The kernel at nodes z and weights of N(−|μ|, s²), ``(rows, n)`` each."""
    # where p is about exp(z), the mass of p is around μ + s²
    width = 2.0 * DEVIATIONS * s + np.minimum(s * s, -mean)
    z = mean - DEVIATIONS * s + width * grid
    weight = np.exp(-0.5 * ((z - mean) / s) ** 2)
    weight /= weight.sum(axis=1, keepdims=True)
    return at_nodes(s, z, weight)


def _mean(s: Floats, z: Floats, weight: Floats) -> Floats:
    return np.minimum(np.einsum("ij,ij->i", weight, expit(z)), 0.5)


def _moments(s: Floats, z: Floats, weight: Floats) -> tuple[Floats, ...]:
    small, p, entropy = _at(z)
    low = np.minimum(np.einsum("ij,ij->i", weight, p), 0.5)
    aleatoric = np.einsum("ij,ij->i", weight, entropy)
    within = np.einsum("ij,ij->i", weight, small * (1.0 - small))
    among = np.einsum("ij,ij->i", weight, (p - low[:, None]) ** 2)
    total = binary_entropy(low)
    if s[0, 0] >= GROUPS[0]:
        return low, total, aleatoric, np.maximum(total - aleatoric, 0.0), within, among
    # the difference would lose its digits; KL(p, E p) as a Bregman divergence is positive at every node
    held = low > 0.0  # below exp(−745) p is 0 in floating point, and so is the divergence
    delta = np.where(held[:, None], (np.log(np.where(held, low, 0.5)) - np.log1p(-low))[:, None] - z, 0.0)
    divergence = np.log1p(p * np.expm1(delta)) - p * delta
    return low, total, aleatoric, np.maximum(np.einsum("ij,ij->i", weight, divergence), 0.0), within, among


def _at(z: Floats) -> tuple[Floats, Floats, Floats]:
    """min(p, 1 − p), p = σ(z) and H(p), without cancellation."""
    size = np.abs(z)
    e = np.exp(-size)
    small = e / (1.0 + e)
    return small, np.where(z < 0.0, small, 1.0 - small), np.log1p(e) + size * small


_WIDE_NODES = np.linspace(-REACH, REACH, 112)


def _wide_mean(mean: Floats, s: Floats) -> tuple[Floats, Floats]:
    """E[p], ``(rows,)``, and the weights of the nodes, ``(rows, n)``."""
    t = (_WIDE_NODES - mean) / s
    weight = np.exp(-0.5 * t * t) * ((_WIDE_NODES[1] - _WIDE_NODES[0]) / (np.sqrt(2.0 * np.pi) * s))
    rest = np.einsum("ij,j->i", weight, expit(_WIDE_NODES) - ndtr(_WIDE_NODES / SMOOTH))
    return np.clip(ndtr(mean / np.hypot(s, SMOOTH))[:, 0] + rest, 0.0, 0.5), weight


def _wide(mean: Floats, s: Floats) -> tuple[Floats, ...]:
    low, weight = _wide_mean(mean, s)
    small, _, entropy = _at(_WIDE_NODES)
    total, variance = binary_entropy(low), low * (1.0 - low)
    aleatoric = np.minimum(np.einsum("ij,j->i", weight, entropy), total)
    within = np.minimum(np.einsum("ij,j->i", weight, small * (1.0 - small)), variance)
    return low, total, aleatoric, total - aleatoric, within, variance - within


def _legendre(edges: tuple[float, ...], n: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss's rule on each of the panels between the edges."""
    at, weight = np.polynomial.legendre.leggauss(n)
    half = 0.5 * np.diff(edges)
    middle = 0.5 * (np.array(edges[1:]) + np.array(edges[:-1]))
    return (middle[:, None] + half[:, None] * at).ravel(), (half[:, None] * weight).ravel()


_HALF_NODES, _HALF_WEIGHTS = _legendre((0.0, 0.1, 0.3, 1.0), 24)


def _half_line(mean: Floats, s: Floats) -> Floats:
    """∫ tanh(z / 2) N(z; μ, s²) dz over z > 0; where tanh is 1, the integral is known."""
    reach = np.minimum(DEVIATIONS * s, REACH + 4.0)
    z = reach * _HALF_NODES
    t = (z - mean) / s
    inside = np.einsum("ij,j->i", np.tanh(0.5 * z) * np.exp(-0.5 * t * t) * (reach / s), _HALF_WEIGHTS)
    return np.asarray(inside / np.sqrt(2.0 * np.pi) + ndtr((mean - reach) / s)[:, 0])


# Expectations of softmax(z) over independent Gaussian logits z_k ~ N(μ_k, s_k²), by quadrature in one dimension.
#
# With independent standard Gumbel variables G_k, softmax_k(z) = P(z_k + G_k is the greatest given z). So with the
# distribution function F_k of z_k + G_k
#
#     E softmax_k(z) = ∫ F_k'(u) Π_{j≠k} F_j(u) du,   F_k(u) = E exp(−exp(z_k − u)).
#
# Both integrals are trapezoidal sums on lattices of one step h, so that all rows share the values exp(−exp(z − u)).
# They are analytic in strips: the outer sum has an error of about exp(−π²/h), the inner one of exp(−2π² s²/h²). Where s
# < ½, Gauss's rule takes its place.

STEP = 0.375  # h; exp(−π²/h) is 4e-12
SOFTMAX_DEVIATIONS = 7.5  # the Gaussian has 6e-14 of its mass beyond
BELOW, ABOVE = 4.0, 30.0  # of the range of u, below and above the Gaussians: exp(−exp(4)) and exp(−30) are negligible
BEHIND = 32.0  # logits so far below the least u count as this one: exp(−32) is negligible
NARROW = 0.5  # s below which Gauss's rule is used
NARROW_NODES, NARROW_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
NARROW_WEIGHTS = NARROW_WEIGHTS / NARROW_WEIGHTS.sum()
WIDEST = 32.0  # greatest s; the lattice has some 1,500 nodes then
SOFTMAX_CHUNK = 2**18  # values of F at a time


def softmax_normal(mean: ArrayLike, deviation: ArrayLike) -> Floats:
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
        fail("deviation", f"must be at most {WIDEST:g}", got, "use draws", code="range")
    found = np.empty(mean.shape)
    top = (mean + SOFTMAX_DEVIATIONS * deviation).max(axis=1)
    low = (mean - SOFTMAX_DEVIATIONS * deviation).max(axis=1) - BELOW
    # rows of one chunk share their lattice; its size, a power of √2, is that of the row alone
    power = np.ceil(2.0 * np.log2(np.maximum(top - low, 1.0)))
    for size in np.unique(power):
        chosen = np.flatnonzero(power == size)
        n_nodes = int(np.ceil((2.0 ** (size / 2.0) + ABOVE) / STEP)) + 1
        step = max(1, SOFTMAX_CHUNK // (n_nodes * mean.shape[1]))
        for start in range(0, len(chosen), step):
            rows = chosen[start : start + step]
            found[rows] = _chunk(mean[rows] - low[rows, None], deviation[rows], n_nodes)
    return found


def _chunk(mean: Floats, deviation: Floats, n_nodes: int) -> Floats:
    """E softmax(z) for rows whose range of u begins at 0."""
    u: Floats = STEP * np.arange(n_nodes, dtype=np.float64)
    distribution, density = _softmax_wide(mean, deviation, u)
    narrow = deviation < NARROW
    if narrow.any():
        distribution[narrow], density[narrow] = _softmax_narrow(mean[narrow], deviation[narrow], u)
    log = np.log(np.maximum(distribution, 1e-300))
    others = np.exp(log.sum(axis=1, keepdims=True) - log)  # Π_{j≠k} F_j
    probs = (density * others).sum(axis=2)
    return np.asarray(probs / probs.sum(axis=1, keepdims=True))


def _softmax_wide(mean: Floats, deviation: Floats, u: Floats) -> tuple[Floats, Floats]:
    """F and F' at u, ``(n, K, nodes)`` each, from nodes z on the lattice of u; it goes on below by `BEHIND`."""
    n_below = int(np.ceil(BEHIND / STEP))
    z = STEP * np.arange(-n_below, len(u) - int(ABOVE / STEP))
    s = np.maximum(deviation, STEP)[..., None]
    weight = np.exp(-0.5 * ((z - mean[..., None]) / s) ** 2) * (STEP / (np.sqrt(2.0 * np.pi) * s))
    weight[..., 0] += np.maximum(1.0 - weight.sum(axis=2), 0.0)
    rate = np.exp(np.minimum(z[:, None] - u, 700.0))
    stays = np.exp(-rate)
    return weight @ stays, weight @ (rate * stays)


def _softmax_narrow(mean: Floats, deviation: Floats, u: Floats) -> tuple[Floats, Floats]:
    """F and F' at u for k logits with a small s, ``(k, nodes)`` each."""
    distribution: Any = 0.0
    density: Any = 0.0
    for node, share in zip(NARROW_NODES, NARROW_WEIGHTS, strict=True):
        rate = np.exp(np.minimum((mean + deviation * node)[:, None] - u, 700.0))
        stays = share * np.exp(-rate)
        distribution, density = distribution + stays, density + rate * stays
    return distribution, density


# Points of softmax(z) for independent Gaussian logits: the same standard normals for all rows, and the exact mean.

OFFSET_STEPS = 4
CHUNK_BYTES = 2**22  # of points at a time
LEAST_WEIGHT = np.finfo(np.float64).tiny


def softmax_points(mean: Floats, variance: Floats, n: int, *, seed: int = 0) -> Floats:
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


def _offset(points: Floats, mean: Floats) -> Floats:
    """Newton's step of the offsets of the logits, ``(rows, K)``, towards points with this mean."""
    now, k = points.mean(axis=1), points.shape[2]
    slope = -(np.swapaxes(points, 1, 2) @ points) / points.shape[1]
    slope += 1.0 / k  # an equal offset of all logits changes nothing, so the derivative is singular
    slope[:, range(k), range(k)] += now + 1e-6
    step: Floats = np.linalg.solve(slope, (mean - now)[..., None])[..., 0]
    return np.clip(step, -1.0, 1.0)


def _with_mean(points: Floats, mean: Floats) -> Floats:
    """Distributions near the points, with this mean up to rounding."""
    found = points.mean(axis=1)
    kept = np.minimum(mean / np.maximum(found, LEAST_WEIGHT), 1.0)
    lacking = np.maximum(mean - found, 0.0)
    share = lacking / np.maximum(lacking.sum(axis=1, keepdims=True), LEAST_WEIGHT)
    taken = (points * (1.0 - kept)[:, None]).sum(axis=2, keepdims=True)
    return np.asarray(points * kept[:, None] + taken * share[:, None])
