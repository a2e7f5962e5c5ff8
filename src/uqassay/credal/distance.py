"""Distance of a one-hot or soft target to the nearest point of a credal set, with a certified gap.

For a one-hot target every distance except Brier's depends only on the probability of the true class: the nearest point
has the largest one, and the distance has a closed form. For a soft target (annotators' votes) the nearest point is in general
not a vertex. It takes a convex problem per instance; all are solved together, and no result depends on other instances.

With f the convex objective (KL, JS divergence, total variation, squared Hellinger or Brier) and p the point found,
    f(p) - gap <= min f <= f(p),   gap = max over p' in the set of -∇f(p)·(p' - p),
where ∇f is a subgradient for total variation. Distances that are square roots have the gap
sqrt(f) - sqrt(max(f - gap, 0)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.credal.divergences import (
    DISTANCES,
    SQUARE_ROOTS,
    certificate_direction,
    check_distance,
    check_values,
    divergence,
    objective,
    one_hot_distance,
)
from uqassay.credal.focal_sets import as_focal_sets
from uqassay.credal.hull import l1_projection
from uqassay.credal.interior_point import HullWeights, MassShares, minimise
from uqassay.errors import InputError

__all__ = [
    "DISTANCES",
    "NearestPoint",
    "divergence",
    "nearest_in_box",
    "nearest_in_core",
    "nearest_in_hull",
    "one_hot_distance",
]

Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-3  # rounding of half precision, since the original dtype is unknown here
CHUNK = 1 << 19  # numbers in the largest array of a chunk of instances: 4 MB


def _distributions(name: str, values: ArrayLike, n_axes: int, like: Floats | None = None) -> Floats:
    """Validated distributions on the last axis, as float64 in C order; `like` has the same n (and K)."""
    p = np.ascontiguousarray(values, dtype=np.float64)
    if p.ndim != n_axes or 0 in p.shape[1:] or (like is not None and (len(p), p.shape[-1]) != like.shape):
        wanted = {2: "(n, K)", 3: "(n, V, K)"}[n_axes] + ("" if like is None else f" with (n, K) = {like.shape}")
        raise InputError(name, f"must have shape {wanted}", f"got {p.shape}", "pass one row per instance", code="shape")
    check_values(name, p, 0.0, np.inf)
    off = np.abs(p.sum(axis=-1) - 1.0) > SUM_TOLERANCE
    if off.any():
        at = np.unravel_index(int(off.argmax()), off.shape)
        raise InputError(
            name,
            f"must have rows that sum to 1 within {SUM_TOLERANCE:g}",
            f"row {at[0]} sums to {p[at].sum():.6g}",
            "divide the row by its sum",
            code="sum",
        )
    return p


@dataclass(frozen=True)
class NearestPoint:
    """The nearest point of each instance's credal set."""

    distance: Floats  # (n,)
    point: Floats  # (n, K)
    gap: Floats  # (n,) in the distance's own units: the minimum lies in [distance - gap, distance]


def nearest_in_hull(
    target: ArrayLike,
    points: ArrayLike,
    distance: str,
    *,
    floor: float = 0.0,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> NearestPoint:
    """Return the nearest point to each target in the convex hull of its points (members or vertices).

    KL, JS, Hellinger and Brier use a primal-dual interior-point method on the weights. Total variation is a linear
    program, solved exactly by the simplex method.

    Parameters
    ----------
    target : (n, K)
        Rows that sum to 1: one-hot, or votes divided by their number.
    points : (n, V, K)
        Distributions.
    distance : one of DISTANCES
    floor : float
        For KL, a class whose largest probability in the set is at most `floor` contributes y ln(y / floor); the other
        classes are minimised without a floor. With floor 0 the distance of a row with such a class is inf, its gap is 0,
        and its point minimises over the other classes.
    tolerance : float
        Gap, in the units of the distance, at which an instance is finished.
    max_iterations : int
        Most Newton steps; an unfinished instance reports its larger gap.

    Returns
    -------
    NearestPoint

    Raises
    ------
    InputError
        Wrong shapes, rows that are not distributions, an unknown distance.

    Examples
    --------
    >>> votes, members = [[0.5, 0.5, 0.0]], [[[0.9, 0.0, 0.1], [0.0, 0.9, 0.1]]]
    >>> found = nearest_in_hull(votes, members, "kl")
    >>> found.distance.round(4).tolist(), found.point.round(4).tolist()
    ([0.1054], [[0.45, 0.45, 0.1]])
    """
    check_distance(distance, floor)
    y = _distributions("target", target, 2)
    p = _distributions("points", points, 3, y)
    n_points, k = p.shape[1:]
    upper = p.max(axis=1)
    if distance == "tv":
        nearest = l1_projection(p, y)
        bound = 0.5 * ((nearest.dual * y).sum(axis=-1) - (p @ nearest.dual[..., None]).max(axis=1)[:, 0])
        gap = np.maximum(objective(y, nearest.point, "tv") - bound, 0.0)
        return _found(y, nearest.point, gap, upper, distance, floor)
    seen = _seen(y, upper, distance, floor)
    point, gap = np.empty_like(y), np.empty(len(y))
    for rows in _chunks(len(y), n_points * k):
        blocks = HullWeights(p[rows], upper[rows], by_weights=n_points <= k)
        point[rows], gap[rows], met = minimise(
            seen[rows], blocks, distance, tolerance=tolerance, max_iterations=max_iterations
        )
        if n_points > k and not met.all():  # the faster K × K systems lost too many digits
            again = rows.start + np.flatnonzero(~met)
            blocks = HullWeights(p[again], upper[again], by_weights=True)
            other, smaller, _ = minimise(
                seen[again], blocks, distance, tolerance=tolerance, max_iterations=max_iterations
            )
            better = smaller < gap[again]
            point[again[better]], gap[again[better]] = other[better], smaller[better]
    return _found(y, point, gap, upper, distance, floor)


def nearest_in_box(
    target: ArrayLike, lower: ArrayLike, upper: ArrayLike, distance: str, *, floor: float = 0.0
) -> NearestPoint:
    """Return the nearest point to each target among the distributions with l <= p <= u, in closed form.

    The point p = clip(s y, l, u) with Σp = 1 is nearest in KL, JS, total variation and Hellinger; for Brier it is
    p = clip(y + s, l, u). Classes with y = 0 keep l_c unless all others are at their upper bound.

    Parameters
    ----------
    target : (n, K)
        Rows that sum to 1.
    lower, upper : (n, K)
        Reachable bounds: each is attained by some distribution within the bounds.
    distance : one of DISTANCES
    floor : float
        As in `nearest_in_hull`, where u are the largest probabilities.

    Returns
    -------
    NearestPoint
        The gap contains only rounding.

    Raises
    ------
    InputError
        Wrong shapes, a target that is not a distribution, bounds that contain no distribution, an unknown distance.

    Notes
    -----
    A box of reachable bounds is the core of a 2-monotone lower probability; Huber and Strassen (1973), Theorem 4.1.

    Examples
    --------
    >>> found = nearest_in_box([[0.7, 0.3, 0.0]], [[0.1, 0.1, 0.2]], [[0.5, 0.8, 0.8]], "tv")
    >>> found.point.round(4).tolist(), found.distance.round(4).tolist()
    ([[0.5, 0.3, 0.2]], [0.2])
    """
    check_distance(distance, floor)
    y = _distributions("target", target, 2)
    l, u = (np.ascontiguousarray(bound, dtype=np.float64) for bound in (lower, upper))
    for name, bound in (("lower", l), ("upper", u)):
        if bound.shape != y.shape:
            raise InputError(
                name, f"must have the shape of target, {y.shape}", f"got {bound.shape}", "reshape it", code="shape"
            )
        check_values(name, bound, -SUM_TOLERANCE, 1.0 + SUM_TOLERANCE)
    bad = (l > u + SUM_TOLERANCE).any(axis=-1)
    bad |= (l.sum(axis=-1) > 1.0 + SUM_TOLERANCE) | (u.sum(axis=-1) < 1.0 - SUM_TOLERANCE)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            "lower",
            "must leave a distribution between lower and upper",
            f"none does in row {row}, where they sum to {l[row].sum():.6g} and {u[row].sum():.6g}",
            "correct the bounds of the row",
            code="range",
        )
    u = np.clip(u, 0.0, 1.0)
    l = np.clip(l, 0.0, u)
    seen = _seen(y, u, distance, floor)
    weight, offset = (np.ones_like(y), y) if distance == "brier" else (seen, np.zeros_like(y))
    point = _level(weight, offset, l, u)

    g = certificate_direction(y if distance == "tv" else seen, point, distance)
    # Maximise g·p over the box greedily: the mass above l goes to the classes with the largest g.
    order = np.argsort(-g, axis=-1, kind="stable")
    room = np.take_along_axis(u - l, order, axis=-1)
    left = np.maximum(1.0 - l.sum(axis=-1, keepdims=True), 0.0)
    poured = np.clip(left - (np.cumsum(room, axis=-1) - room), 0.0, room)
    most = (g * l).sum(axis=-1) + (np.take_along_axis(g, order, axis=-1) * poured).sum(axis=-1)
    gap = np.maximum(most - (g * point).sum(axis=-1), 0.0)
    if distance == "tv":
        gap = np.maximum(objective(y, point, "tv") + most - (g * y).sum(axis=-1), 0.0)
    return _found(y, point, gap, u, distance, floor)


def nearest_in_core(
    target: ArrayLike,
    masses: ArrayLike,
    focal_sets: ArrayLike,
    distance: str,
    *,
    floor: float = 0.0,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> NearestPoint:
    """Return the nearest point to each target in the core of a belief function, p = Σ_A m(A) x_A with x_A on A.

    Uses a primal-dual interior-point method on the shares x_A. The gap uses max g·p over the core = Σ_A m(A) max_A g.

    Parameters
    ----------
    target : (n, K)
        Rows that sum to 1.
    masses : (n, F)
        Masses m(A) >= 0 that sum to 1.
    focal_sets : (F, K) bool
        The sets A, not empty.
    distance : one of DISTANCES
    floor : float
        As in `nearest_in_hull`, where the largest probability of a class is its plausibility.
    tolerance, max_iterations
        As in `nearest_in_hull`.

    Returns
    -------
    NearestPoint

    Raises
    ------
    InputError
        Wrong shapes, a target or masses that are not distributions, an empty focal set, an unknown distance.

    Notes
    -----
    Belief functions are 2-monotone, so the KL minimiser is nearest in total variation too (Huber and Strassen, 1973).

    Examples
    --------
    >>> found = nearest_in_core([[0.7, 0.3, 0.0]], [[0.4, 0.4, 0.2]], np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]]), "tv")
    >>> found.point.round(4).tolist(), found.distance.round(4).tolist()
    ([[0.4, 0.4, 0.2]], [0.3])
    """
    check_distance(distance, floor)
    y = _distributions("target", target, 2)
    sets = as_focal_sets(focal_sets, y.shape[1])
    m = _distributions("masses", masses, 2)
    if m.shape != (len(y), len(sets)):
        raise InputError(
            "masses",
            f"must have shape (n, F) = ({len(y)}, {len(sets)})",
            f"got {m.shape}",
            "pass one mass per focal set",
            code="shape",
        )
    upper = np.stack([(m * inside).sum(axis=-1) for inside in sets.T], axis=-1)  # (n, K) plausibility
    seen = _seen(y, upper, distance, floor)
    point, gap = np.empty_like(y), np.empty(len(y))
    for rows in _chunks(len(y), sets.size):
        blocks = MassShares(m[rows], sets, upper[rows])
        point[rows], gap[rows], _ = minimise(
            seen[rows], blocks, distance, tolerance=tolerance, max_iterations=max_iterations
        )
    return _found(y, point, gap, upper, distance, floor)


def _seen(y: Floats, upper: Floats, distance: str, floor: float) -> Floats:
    """The target, with 0 for classes that have probability 0 (or at most the floor) everywhere in the set."""
    return y if distance == "brier" else np.where(upper > (floor if distance == "kl" else 0.0), y, 0.0)


def _found(y: Floats, point: Floats, gap: Floats, upper: Floats, distance: str, floor: float) -> NearestPoint:
    """Distance at the point, and the gap of f converted to the units of the distance."""
    f = objective(y, np.where(upper > floor, point, floor) if distance == "kl" else point, distance)
    gap = np.where(np.isfinite(f), np.minimum(gap, f), 0.0)
    if distance in SQUARE_ROOTS:
        f, gap = np.sqrt(f), np.sqrt(f) - np.sqrt(f - gap)
    return NearestPoint(distance=f, point=point, gap=gap)


def _level(w: Floats, o: Floats, l: Floats, u: Floats) -> Floats:
    """p = clip(o + w s, l, u) with Σp = 1: bisection finds the linear piece, and s within it is exact."""
    n, k = w.shape
    rows, rising = np.arange(n), w > 0
    with np.errstate(over="ignore"):
        start, stop = (
            np.where(rising, np.minimum((bound - o) / np.where(rising, w, 1.0), 1e300), 0.0) for bound in (l, u)
        )
    bends = np.sort(np.concatenate([start, stop], axis=-1), axis=-1)  # (n, 2K)

    def at(s: Floats) -> Floats:
        return np.clip(o + w * s[:, None], l, u)

    low, high = np.zeros(n, dtype=np.intp), np.full(n, 2 * k - 1)
    for _ in range((2 * k).bit_length()):
        middle = (low + high) // 2
        below = at(bends[rows, middle]).sum(axis=-1) <= 1.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    a, b = bends[rows, low], bends[rows, high]
    free = rising & (start <= a[:, None]) & (stop >= b[:, None]) & (a < b)[:, None]
    fixed = np.where(free, o, at(a)).sum(axis=-1)
    slope = np.where(free, w, 0.0).sum(axis=-1)
    s = np.clip(np.divide(1.0 - fixed, slope, out=a.copy(), where=slope > 0), a, b)
    p = at(np.where(at(b).sum(axis=-1) < 1.0, b, s))
    left = np.maximum(1.0 - p.sum(axis=-1, keepdims=True), 0.0)  # if all rising classes are at u, the others take it
    room = np.where(rising, 0.0, u - p)
    total = room.sum(axis=-1, keepdims=True)
    return p + room * np.minimum(np.divide(left, total, out=np.zeros_like(left), where=total > 0), 1.0)


def _chunks(n: int, size: int) -> list[slice]:
    step = max(1, CHUNK // size)
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]
