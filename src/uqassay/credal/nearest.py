"""The distribution of a credal set that is nearest to a label or to votes."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.credal.convex_hull import l1_projection
from uqassay.credal.distances import KL, Distance, distance_named, tv_direction
from uqassay.credal.events import as_focal_sets
from uqassay.errors import InputError

__all__ = [
    "NearestPoint",
    "divergence",
    "nearest_in_box",
    "nearest_in_core",
    "nearest_in_hull",
    "one_hot_distance",
]


def check_values(name: str, values: Floats, low: float, high: float) -> None:
    """Refuse values that are not finite or outside [low, high]; the error names the row."""
    bad = ~((values >= low) & (values <= high) & np.isfinite(values))
    if bad.any():
        at = np.unravel_index(int(bad.argmax()), bad.shape)
        rule = f"must lie in [{low:g}, {high:g}]"
        fail(name, rule, f"row {at[0]} has {values[at]:g}", "drop or repair the row", code="range")


def one_hot_distance(upper: ArrayLike, distance: str, *, floor: float = 0.0) -> Floats:
    """Return the distance of a one-hot target to the nearest point of a credal set, in closed form.

    With u the upper probability of the true class: KL -ln max(u, floor); JS divergence
    ½[ln(2/(1+u)) + u ln(2u/(1+u)) + (1-u) ln 2], at most ln 2; total variation 1 - u; Hellinger sqrt(1 - √u).

    Parameters
    ----------
    upper : (...)
        Upper probability of the true class; rounding above 1 counts as 1.
    distance : {"kl", "js", "js_distance", "tv", "hellinger"}
        KL and JS in nats; "js_distance" is the square root of "js". Brier's distance also depends on the other classes.
    floor : float
        Least probability in the logarithm of KL; with floor 0 an upper probability of 0 gives inf.

    Returns
    -------
    (...)

    Examples
    --------
    >>> one_hot_distance([1.0, 0.5, 0.0], "kl", floor=1e-3).round(4).tolist()
    [0.0, 0.6931, 6.9078]
    >>> one_hot_distance([1.0, 0.5, 0.0], "js").round(4).tolist()
    [0.0, 0.2158, 0.6931]
    """
    entry = distance_named(distance, floor)
    if entry.of_label is None:
        remedy = "use nearest_in_hull, nearest_in_box or nearest_in_core with one-hot rows as target"
        fail(
            "distance", "must have a closed form in the upper probability", f"got {distance!r}", remedy, code="missing"
        )
    u = np.atleast_1d(np.asarray(upper, dtype=np.float64))
    check_values("upper", u, 0.0, 1.001)
    u = np.minimum(u, 1.0).reshape(np.shape(upper))
    with np.errstate(divide="ignore"):
        return entry.of_label(np.maximum(u, floor) if entry.floored else u)


def divergence(target: ArrayLike, probs: ArrayLike, distance: str, *, floor: float = 0.0) -> Floats:
    """Return the distance between distributions on the last axis; the other axes broadcast.

    KL(y‖p) = Σ y ln(y/p), with 0 ln 0 = 0; JS divergence ½ KL(y‖m) + ½ KL(p‖m), m = (y + p)/2; "js_distance" its
    square root; total variation ½ Σ|y - p|; Hellinger sqrt(1 - Σ √(y p)); Brier Σ (p - y)².

    Parameters
    ----------
    target, probs : (..., K)
        Distributions; only their signs are checked.
    distance : one of DISTANCES
    floor : float
        Least probability in the logarithm of KL; with floor 0 a class that has positive probability only in `target`
        gives inf.

    Returns
    -------
    (...)

    Examples
    --------
    >>> float(divergence([0.5, 0.5, 0.0], [0.25, 0.5, 0.25], "kl").round(4))
    0.3466
    >>> float(divergence([0.5, 0.5, 0.0], [0.25, 0.5, 0.25], "tv"))
    0.25
    """
    entry = distance_named(distance, floor)
    y, p = np.asarray(target, dtype=np.float64), np.asarray(probs, dtype=np.float64)
    try:
        np.broadcast_shapes(y.shape, p.shape)
    except ValueError:
        raise InputError(
            "probs", f"must broadcast with target, {y.shape}", f"got {p.shape}", "add or drop an axis", code="shape"
        ) from None
    check_values("target", np.atleast_1d(y), 0.0, np.inf)
    check_values("probs", np.atleast_1d(p), 0.0, np.inf)
    f = entry.objective(y, np.maximum(p, floor) if entry.floored else p)
    return np.sqrt(f) if entry.square_root else f


# Primal-dual interior-point method for the point of a credal set nearest to a target, for many instances at once.
#
# The set is the linear image q = J x of one simplex (weights of members) or of several (shares of the mass of each
# focal set). The objective f is a sum over classes, so its Hessian in q is diagonal. Ten to twenty Newton steps reach a
# gap of 1e-6, even if many weights are zero at the minimum; multiplicative updates then need thousands. In every array
# the instance is the first axis, and no operation mixes instances.
#
# Scaling: q is divided by the largest value of each class in the set (`upper`), so that the Hessian of a class with
# probability 1e-200 does not overflow.

CENTRED = 10.0  # the barrier parameter is lowered when the gap is within this factor of that of the central path
LOWEST_BARRIER = 0.01  # relative to the gap per weight: a faster decrease would leave the central path
TO_BOUNDARY = 0.99


def minimise(
    y: Floats, blocks: HullWeights | MassShares, distance: Distance, *, tolerance: float, max_iterations: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the point (n, K), its gap (n,) in the units of f, and whether the tolerance was met (n,).

    `tolerance` refers to the distance; for square roots to sqrt(f) - sqrt(f - gap). The best point and the best bound are
    kept, so an unfinished row has a valid, larger gap. Total variation has no curvature. In a 2-monotone set the KL minimiser
    also minimises it (Huber and Strassen, 1973), so the Newton steps are those of KL, with the gap of total variation.
    """
    n = len(y)
    point = blocks.upper * blocks.collect(blocks.centre(n))
    least, bound = np.full(n, np.inf), np.full(n, -np.inf)  # min f lies between bound and least

    def judge(blocks: HullWeights | MassShares, at: _Iterate) -> NDArray[np.bool_]:
        """Record the point and the bound; (n_live,) true for instances that have not reached the tolerance."""
        p, rows = blocks.upper * at.q, at.rows
        f = _value(at.y, at.q, at.unit, smooth) if distance is KL else distance.objective(at.y, p)
        found = at.gap
        if distance.curvature is None:
            direction = tv_direction(at.y, p, tie=tolerance)
            found = _overshoot(at.x, blocks.costs(-blocks.upper * direction), blocks.valid)
            found = found + f - (direction * (at.y - p)).sum(axis=-1)  # the tie rule changes the linear bound by this
        bound[rows] = np.fmax(bound[rows], np.where(np.isfinite(f), f - found, -np.inf))
        if distance is not KL:
            bound[rows] = np.maximum(bound[rows], 0.0)
        better = f < least[rows]
        point[rows[better]], least[rows[better]] = p[better], f[better]
        return _short(least[rows], bound[rows], distance) > tolerance

    with np.errstate(all="ignore"):  # the line search rejects steps that are not finite
        # KL is the same in any units up to a constant, so it needs no scale.
        smooth = KL if distance.curvature is None else distance
        unit = np.ones_like(y) if smooth is KL else blocks.upper
        x, everyone = blocks.vertex(y, distance), np.arange(n)
        at = _Iterate(everyone, y, unit, x, x, np.full(n, np.inf), *_evaluate(blocks, x, y, unit, smooth))
        going = judge(blocks, at)  # for one-hot targets a vertex is the minimiser, except for Brier
        blocks, at = blocks.take(going), at.take(going)
        at = at.moved_to(blocks, blocks.centre(len(at.y)), smooth)
        at = at._replace(z=_first_multipliers(at, blocks.valid))
        for _ in range(max_iterations):
            going = judge(blocks, at)
            if not going.any():
                break
            if not going.all():
                blocks, at = blocks.take(going), at.take(going)
            at = _newton_step(blocks, at, smooth)
        short = _short(least, bound, distance)
        return point, np.maximum(least - bound, 0.0), short <= tolerance


def _short(least: Floats, bound: Floats, distance: Distance) -> Floats:
    """Upper bound of the distance found minus the minimum."""
    return np.sqrt(least) - np.sqrt(bound) if distance.square_root else least - bound


class _Iterate(NamedTuple):
    """State of the unfinished instances; B blocks of E variables."""

    rows: NDArray[np.intp]  # (n,) row number among all instances
    y: Floats  # (n, K)
    unit: Floats  # (n, K) probability in f that q = 1 stands for
    x: Floats  # (n, B, E) weights, each block summing to 1
    z: Floats  # (n, B, E) multipliers of x >= 0
    mu: Floats  # (n,) barrier parameter
    q: Floats  # (n, K) = J x
    c: Floats  # (n, B, E) derivative of f in x
    gap: Floats  # (n,)

    def take(self, keep: NDArray[Any]) -> _Iterate:
        return _Iterate(*(values[keep] for values in self))

    def moved_to(self, blocks: HullWeights | MassShares, x: Floats, distance: Distance) -> _Iterate:
        q, c, gap = _evaluate(blocks, x, self.y, self.unit, distance)
        return self._replace(x=x, q=q, c=c, gap=gap)


def _evaluate(
    blocks: HullWeights | MassShares, x: Floats, y: Floats, unit: Floats, distance: Distance
) -> tuple[Floats, Floats, Floats]:
    q = blocks.collect(x)
    c = blocks.costs(-unit * distance.direction(y, unit * q))
    return q, c, _overshoot(x, c, blocks.valid)


def _value(y: Floats, q: Floats, unit: Floats, distance: Distance) -> Floats:
    """Objective f; for KL up to a constant of the instance, which the scaling adds."""
    return rel_entr(y, q).sum(axis=-1) if distance is KL else distance.objective(y, unit * q)


def _overshoot(x: Floats, c: Floats, valid: NDArray[np.bool_]) -> Floats:
    """c·x minus its minimum over the blocks (n,)."""
    least = np.where(valid, c, np.inf).min(axis=-1, keepdims=True)
    return _total(x * (c - least), valid)


def _total(values: Floats, valid: NDArray[np.bool_]) -> Floats:
    return np.where(valid, values, 0.0).sum(axis=-1).sum(axis=-1)


def _first_multipliers(at: _Iterate, valid: NDArray[np.bool_]) -> Floats:
    """Multipliers that are feasible and not far from x z = constant, the central path."""
    surplus = at.c - np.where(valid, at.c, np.inf).min(axis=-1, keepdims=True)
    typical = np.maximum(at.gap / valid.shape[1], 1e-300)
    return np.where(valid, surplus + typical[:, None, None], 1.0)


def _newton_step(blocks: HullWeights | MassShares, at: _Iterate, distance: Distance) -> _Iterate:
    """One Newton step for  min f(J x) - μ Σ ln x,  with μ lowered by Mehrotra's predictor."""
    valid, size, x, z = blocks.valid, float(blocks.valid.sum()), at.x, at.z
    assert distance.curvature is not None
    h = np.where(at.q > 0, distance.curvature(at.y, at.unit * at.q) / at.q**2, 0.0)  # (n, K)
    to_face, to_centre = blocks.newton_directions(x, z, h, at.c)

    dual = -z - (z / x) * to_face
    now = _total(x * z, valid)
    then = _total((x + _reach(x, to_face, valid) * to_face) * (z + _reach(z, dual, valid) * dual), valid)
    wanted = np.maximum((then / now) ** 3 * now, LOWEST_BARRIER * at.gap) / size  # Mehrotra (1992)
    mu = np.where(at.gap > CENTRED * size * at.mu, at.mu, np.fmin(wanted, at.mu))
    pull = mu[:, None, None] / x

    dx = to_face + mu[:, None, None] * to_centre
    dz = pull - z - (z / x) * dx
    step = _line_search(blocks, at, dx, mu, _total((at.c - pull) * dx, valid), distance)
    x = np.where(valid, x + step * dx, 1.0)
    x = np.where(valid, x / np.where(valid, x, 0.0).sum(axis=-1, keepdims=True), 1.0)
    z = z + np.minimum(TO_BOUNDARY * _reach(z, dz, valid), 1.0) * dz
    pull = mu[:, None, None] / x
    z = np.where(valid, np.clip(z, 1e-4 * pull, 1e4 * pull), 1.0)
    return at.moved_to(blocks, x, distance)._replace(z=z, mu=mu)


def _line_search(
    blocks: HullWeights | MassShares, at: _Iterate, dx: Floats, mu: Floats, descent: Floats, distance: Distance
) -> Floats:
    """Halve the step (n, 1, 1) until f - μ Σ ln x decreases; 0 if it never does."""
    step = np.minimum(TO_BOUNDARY * _reach(at.x, dx, blocks.valid), 1.0)
    f = _value(at.y, at.q, at.unit, distance)
    trying = np.arange(len(f))
    for _ in range(30):
        part = blocks if len(trying) == len(f) else blocks.take(trying)
        moved = step[trying] * dx[trying]
        barrier = mu[trying] * _total(np.log1p(moved / at.x[trying]), blocks.valid)
        q = part.collect(at.x[trying] + moved)
        change = _value(at.y[trying], q, at.unit[trying], distance) - f[trying] - barrier
        enough = 1e-4 * step[trying, 0, 0] * descent[trying] + 1e-13 * (1.0 + np.abs(f[trying]))
        trying = trying[~(change <= enough)]
        if not len(trying):
            return step
        step[trying] *= 0.5
    step[trying] = 0.0
    dx[trying] = 0.0  # it may be inf or nan, and 0 · inf is nan
    return step


def _reach(x: Floats, dx: Floats, valid: NDArray[np.bool_]) -> Floats:
    """Largest step (n, 1, 1) of at most 1 / TO_BOUNDARY with x + step dx >= 0."""
    falling = valid & (dx < 0)
    longest = np.where(falling, x / np.where(falling, -dx, 1.0), np.inf).min(axis=-1).min(axis=-1)
    return np.minimum(longest, 1.0 / TO_BOUNDARY)[:, None, None]


class HullWeights:
    """q = Σ_m w_m p_m: one block, the weights of V points."""

    def __init__(self, points: Floats, upper: Floats, *, by_weights: bool) -> None:
        self.j = points / np.where(upper > 0, upper, 1.0)[:, None, :]  # (n, V, K)
        self.upper = upper  # (n, K)
        self.by_weights = by_weights  # solve V × V systems; False: K × K ones, faster if K < V but with more rounding
        self.valid = np.ones((1, 1, points.shape[1]), dtype=bool)

    def take(self, keep: NDArray[Any]) -> Self:
        """The same for a subset of the instances."""
        part = copy(self)
        part.j, part.upper = self.j[keep], self.upper[keep]
        return part

    def centre(self, n: int) -> Floats:
        """Equal weights in every block, for n instances."""
        return np.full((n, 1, self.j.shape[1]), 1.0 / self.j.shape[1])

    def vertex(self, y: Floats, distance: Distance) -> Floats:
        """Weights of the nearest single point."""
        f = distance.objective(y[:, None, :], self.j * self.upper[:, None, :])  # (n, V)
        return (np.arange(f.shape[1]) == f.argmin(axis=-1)[:, None])[:, None, :].astype(np.float64)

    def collect(self, x: Floats) -> Floats:
        """q = J x (n, K)."""
        return (x @ self.j)[:, 0, :]

    def costs(self, slope: Floats) -> Floats:
        """Jᵀ slope (n, B, E)."""
        return (self.j @ slope[..., None]).swapaxes(1, 2)

    def newton_directions(self, x: Floats, z: Floats, h: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Solve (J H Jᵀ + diag(z/x)) dx = r + ν 1, Σ dx = 0, for r = -c and for r = 1/x."""
        w, right = x[:, 0, :, None], np.stack([-c[:, 0], 1.0 / x[:, 0]], axis=-1)  # (n, V, 1), (n, V, 2)
        theta = w / z[:, 0, :, None]
        if self.by_weights:
            b = w * self.j  # with rows scaled by the weights the matrix stays bounded
            matrix = (b * h[:, None, :]) @ b.swapaxes(1, 2)
            matrix[:, range(w.shape[1]), range(w.shape[1])] += (w / theta * w)[..., 0]
            solved = w * _solve(matrix, w * np.concatenate([right, np.ones_like(w)], axis=-1))  # (n, V, 3)
            sums = solved.sum(axis=1, keepdims=True)
            d = solved[..., :2] - solved[..., 2:] * (sums[..., :2] / sums[..., 2:])
        else:  # Woodbury identity: a K x K system in √H J
            total = theta.sum(axis=1, keepdims=True)
            j = self.j - (theta / total).swapaxes(1, 2) @ self.j
            right = right - (theta / total * right).sum(axis=1, keepdims=True)
            root = np.sqrt(h)
            b = j * root[:, None, :]
            matrix = (theta * b).swapaxes(1, 2) @ b
            matrix[:, range(h.shape[1]), range(h.shape[1])] += 1.0
            d = theta * (right - b @ _solve(matrix, (theta * b).swapaxes(1, 2) @ right))
            d = d - theta / total * d.sum(axis=1, keepdims=True)  # removes rounding, so that Σ dx = 0
        return d[:, None, :, 0], d[:, None, :, 1]


class MassShares:
    """q = Σ_A m(A) x_A, each x_A a distribution on A: the core of a belief function, one block per focal set."""

    by_weights = False

    def __init__(self, masses: Floats, focal_sets: NDArray[np.bool_], upper: Floats) -> None:
        self.valid = focal_sets[None]  # (1, F, K)
        self.j = masses[:, :, None] * focal_sets / np.where(upper > 0, upper, 1.0)[:, None, :]
        self.upper = upper  # (n, K)

    def take(self, keep: NDArray[Any]) -> Self:
        """The same for a subset of the instances."""
        part = copy(self)
        part.j, part.upper = self.j[keep], self.upper[keep]
        return part

    def centre(self, n: int) -> Floats:
        """Equal weights in every block, for n instances."""
        shares = np.where(self.valid, 1.0 / self.valid.sum(axis=-1, keepdims=True), 1.0)
        return np.broadcast_to(shares, (n, *shares.shape[1:]))

    def vertex(self, y: Floats, distance: Distance) -> Floats:
        """Shares that give the mass of every focal set to its class with the largest target."""
        first = np.where(self.valid, y[:, None, :], -1.0).argmax(axis=-1)  # (n, F)
        return (np.arange(y.shape[1]) == first[..., None]).astype(np.float64)

    def collect(self, x: Floats) -> Floats:
        """q = J x (n, K)."""
        return (x * self.j).sum(axis=1)

    def costs(self, slope: Floats) -> Floats:
        """Jᵀ slope (n, B, E)."""
        return self.j * slope[:, None, :]

    def newton_directions(self, x: Floats, z: Floats, h: Floats, c: Floats) -> tuple[Floats, Floats]:
        """As in `HullWeights` by classes; J is diagonal in each block, so the K x K matrix is a sum of Laplacians."""
        theta = np.where(self.valid, x / z, 0.0)
        share = theta / theta.sum(axis=-1, keepdims=True)
        b = self.j * np.sqrt(h)[:, None, :]  # (n, F, K)
        matrix = -((b * share).swapaxes(1, 2) @ (b * theta))
        classes = range(h.shape[1])
        matrix[:, classes, classes] += (b * b * theta).sum(axis=1) + 1.0
        right = [r - (share * r).sum(axis=-1, keepdims=True) for r in (-c, 1.0 / x)]
        solved = _solve(matrix, np.stack([(b * theta * r).sum(axis=1) for r in right], axis=-1))  # (n, K, 2)
        directions = []
        for i, r in enumerate(right):
            back = b * solved[:, None, :, i]
            d = theta * (r - back + (share * back).sum(axis=-1, keepdims=True))
            # removes rounding, so that each block keeps its mass
            directions.append(d - share * d.sum(axis=-1, keepdims=True))
        return directions[0], directions[1]


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solve the system of each instance; nan if it is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError:  # a singular instance must not stop the others
        if len(matrix) == 1:
            return np.full_like(right, np.nan)
        half = len(matrix) // 2
        return np.concatenate([_solve(matrix[:half], right[:half]), _solve(matrix[half:], right[half:])])


# Distance of a one-hot or soft target to the nearest point of a credal set, with a certified gap.
#
# For a one-hot target every distance except Brier's depends only on the probability of the true class: the nearest
# point has the largest one, and the distance has a closed form. For a soft target (annotators' votes) the nearest point
# is in general not a vertex. It takes a convex problem per instance; all are solved together, and no result depends on
# other instances.
#
# With f the convex objective (KL, JS divergence, total variation, squared Hellinger or Brier) and p the point found,
#     f(p) - gap <= min f <= f(p),   gap = max over p' in the set of -∇f(p)·(p' - p),
# where ∇f is a subgradient for total variation. Distances that are square roots have the gap
# sqrt(f) - sqrt(max(f - gap, 0)).

SUM_TOLERANCE = 1e-3  # rounding of half precision, since the original dtype is unknown here
CHUNK = 1 << 19  # numbers in the largest array of a chunk of instances: 4 MB


def _distributions(name: str, values: ArrayLike, n_axes: int, like: Floats | None = None) -> Floats:
    """Validated distributions on the last axis, as float64 in C order; `like` has the same n (and K)."""
    p = np.ascontiguousarray(values, dtype=np.float64)
    if p.ndim != n_axes or 0 in p.shape[1:] or (like is not None and (len(p), p.shape[-1]) != like.shape):
        wanted = {2: "(n, K)", 3: "(n, V, K)"}[n_axes] + ("" if like is None else f" with (n, K) = {like.shape}")
        fail(name, f"must have shape {wanted}", f"got {p.shape}", "pass one row per instance", code="shape")
    check_values(name, p, 0.0, np.inf)
    off = np.abs(p.sum(axis=-1) - 1.0) > SUM_TOLERANCE
    if off.any():
        at = np.unravel_index(int(off.argmax()), off.shape)
        rule = f"must have rows that sum to 1 within {SUM_TOLERANCE:g}"
        fail(name, rule, f"row {at[0]} sums to {p[at].sum():.6g}", "divide the row by its sum", code="sum")
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

    Examples
    --------
    >>> votes, members = [[0.5, 0.5, 0.0]], [[[0.9, 0.0, 0.1], [0.0, 0.9, 0.1]]]
    >>> found = nearest_in_hull(votes, members, "kl")
    >>> found.distance.round(4).tolist(), found.point.round(4).tolist()
    ([0.1054], [[0.45, 0.45, 0.1]])
    """
    entry = distance_named(distance, floor)
    y = _distributions("target", target, 2)
    p = _distributions("points", points, 3, y)
    n_points, k = p.shape[1:]
    upper = p.max(axis=1)
    if entry.curvature is None:
        nearest = l1_projection(p, y)
        bound = 0.5 * ((nearest.dual * y).sum(axis=-1) - (p @ nearest.dual[..., None]).max(axis=1)[:, 0])
        gap = np.maximum(entry.objective(y, nearest.point) - bound, 0.0)
        return _found(y, nearest.point, gap, upper, entry, floor)
    seen = _seen(y, upper, entry, floor)
    point, gap = np.empty_like(y), np.empty(len(y))
    for rows in _chunks(len(y), n_points * k):
        blocks = HullWeights(p[rows], upper[rows], by_weights=n_points <= k)
        point[rows], gap[rows], met = minimise(
            seen[rows], blocks, entry, tolerance=tolerance, max_iterations=max_iterations
        )
        if n_points > k and not met.all():  # the faster K × K systems lost too many digits
            again = rows.start + np.flatnonzero(~met)
            blocks = HullWeights(p[again], upper[again], by_weights=True)
            other, smaller, _ = minimise(seen[again], blocks, entry, tolerance=tolerance, max_iterations=max_iterations)
            better = smaller < gap[again]
            point[again[better]], gap[again[better]] = other[better], smaller[better]
    return _found(y, point, gap, upper, entry, floor)


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

    Notes
    -----
    A box of reachable bounds is the core of a 2-monotone lower probability; Huber and Strassen (1973), Theorem 4.1.

    Examples
    --------
    >>> found = nearest_in_box([[0.7, 0.3, 0.0]], [[0.1, 0.1, 0.2]], [[0.5, 0.8, 0.8]], "tv")
    >>> found.point.round(4).tolist(), found.distance.round(4).tolist()
    ([[0.5, 0.3, 0.2]], [0.2])
    """
    entry = distance_named(distance, floor)
    y = _distributions("target", target, 2)
    l, u = (np.ascontiguousarray(bound, dtype=np.float64) for bound in (lower, upper))
    for name, bound in (("lower", l), ("upper", u)):
        if bound.shape != y.shape:
            fail(name, f"must have the shape of target, {y.shape}", f"got {bound.shape}", "reshape it", code="shape")
        check_values(name, bound, -SUM_TOLERANCE, 1.0 + SUM_TOLERANCE)
    bad = (l > u + SUM_TOLERANCE).any(axis=-1)
    bad |= (l.sum(axis=-1) > 1.0 + SUM_TOLERANCE) | (u.sum(axis=-1) < 1.0 - SUM_TOLERANCE)
    if bad.any():
        row = int(bad.argmax())
        got = f"none does in row {row}, where they sum to {l[row].sum():.6g} and {u[row].sum():.6g}"
        fail(
            "lower",
            "must leave a distribution between lower and upper",
            got,
            "correct the bounds of the row",
            code="range",
        )
    u = np.clip(u, 0.0, 1.0)
    l = np.clip(l, 0.0, u)
    seen = _seen(y, u, entry, floor)
    weight, offset = (seen, np.zeros_like(y)) if entry.f_divergence else (np.ones_like(y), y)
    point = _level(weight, offset, l, u)

    g = entry.direction(y if entry.curvature is None else seen, point)
    # Maximise g·p over the box greedily: the mass above l goes to the classes with the largest g.
    order = np.argsort(-g, axis=-1, kind="stable")
    room = np.take_along_axis(u - l, order, axis=-1)
    left = np.maximum(1.0 - l.sum(axis=-1, keepdims=True), 0.0)
    poured = np.clip(left - (np.cumsum(room, axis=-1) - room), 0.0, room)
    most = (g * l).sum(axis=-1) + (np.take_along_axis(g, order, axis=-1) * poured).sum(axis=-1)
    gap = np.maximum(most - (g * point).sum(axis=-1), 0.0)
    if entry.curvature is None:
        gap = np.maximum(entry.objective(y, point) + most - (g * y).sum(axis=-1), 0.0)
    return _found(y, point, gap, u, entry, floor)


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

    Notes
    -----
    Belief functions are 2-monotone, so the KL minimiser is nearest in total variation too (Huber and Strassen, 1973).

    Examples
    --------
    >>> found = nearest_in_core([[0.7, 0.3, 0.0]], [[0.4, 0.4, 0.2]], np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]]), "tv")
    >>> found.point.round(4).tolist(), found.distance.round(4).tolist()
    ([[0.4, 0.4, 0.2]], [0.3])
    """
    entry = distance_named(distance, floor)
    y = _distributions("target", target, 2)
    sets = as_focal_sets(focal_sets, y.shape[1])
    m = _distributions("masses", masses, 2)
    if m.shape != (len(y), len(sets)):
        rule = f"must have shape (n, F) = ({len(y)}, {len(sets)})"
        fail("masses", rule, f"got {m.shape}", "pass one mass per focal set", code="shape")
    upper = np.stack([(m * inside).sum(axis=-1) for inside in sets.T], axis=-1)  # (n, K) plausibility
    seen = _seen(y, upper, entry, floor)
    point, gap = np.empty_like(y), np.empty(len(y))
    for rows in _chunks(len(y), sets.size):
        blocks = MassShares(m[rows], sets, upper[rows])
        point[rows], gap[rows], _ = minimise(
            seen[rows], blocks, entry, tolerance=tolerance, max_iterations=max_iterations
        )
    return _found(y, point, gap, upper, entry, floor)


def _seen(y: Floats, upper: Floats, distance: Distance, floor: float) -> Floats:
    """The target, with 0 for classes that have probability 0 (or at most the floor) everywhere in the set."""
    return np.where(upper > (floor if distance.floored else 0.0), y, 0.0) if distance.f_divergence else y


def _found(y: Floats, point: Floats, gap: Floats, upper: Floats, distance: Distance, floor: float) -> NearestPoint:
    """Distance at the point, and the gap of f converted to the units of the distance."""
    f = distance.objective(y, np.where(upper > floor, point, floor) if distance.floored else point)
    gap = np.where(np.isfinite(f), np.minimum(gap, f), 0.0)
    if distance.square_root:
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
