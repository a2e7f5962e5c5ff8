"""Primal-dual interior-point method for the point of a credal set nearest to a target, for many instances at once.

The set is the linear image q = J x of one simplex (weights of members) or of several (shares of the mass of each focal
set). The objective f is a sum over classes, so its Hessian in q is diagonal. Ten to twenty Newton steps reach a gap of
1e-6, even if many weights are zero at the minimum; multiplicative updates then need thousands. In every array the instance
is the first axis, and no operation mixes instances.

Scaling: q is divided by the largest value of each class in the set (`upper`), so that the Hessian of a class with
probability 1e-200 does not overflow.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from uqassay.credal.divergences import SQUARE_ROOTS, certificate_direction, curvature, objective

__all__ = ["HullWeights", "MassShares", "minimise"]

Floats = NDArray[np.float64]

CENTRED = 10.0  # the barrier parameter is lowered when the gap is within this factor of that of the central path
LOWEST_BARRIER = 0.01  # relative to the gap per weight: a faster decrease would leave the central path
TO_BOUNDARY = 0.99


def minimise(
    y: Floats, blocks: HullWeights | MassShares, distance: str, *, tolerance: float, max_iterations: int
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
        f = _value(at.y, at.q, at.unit, smooth) if distance == "kl" else objective(at.y, p, distance)
        found = at.gap
        if distance == "tv":
            direction = certificate_direction(at.y, p, "tv", tie=tolerance)
            found = _overshoot(at.x, blocks.costs(-blocks.upper * direction), blocks.valid)
            found = found + f - (direction * (at.y - p)).sum(axis=-1)  # the tie rule changes the linear bound by this
        bound[rows] = np.fmax(bound[rows], np.where(np.isfinite(f), f - found, -np.inf))
        if distance != "kl":
            bound[rows] = np.maximum(bound[rows], 0.0)
        better = f < least[rows]
        point[rows[better]], least[rows[better]] = p[better], f[better]
        return _short(least[rows], bound[rows], distance) > tolerance

    with np.errstate(all="ignore"):  # the line search rejects steps that are not finite
        # KL is the same in any units up to a constant, so it needs no scale.
        unit = np.ones_like(y) if distance in ("kl", "tv") else blocks.upper
        smooth = "kl" if distance == "tv" else distance
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


def _short(least: Floats, bound: Floats, distance: str) -> Floats:
    """Upper bound of the distance found minus the minimum."""
    return np.sqrt(least) - np.sqrt(bound) if distance in SQUARE_ROOTS else least - bound


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

    def moved_to(self, blocks: HullWeights | MassShares, x: Floats, distance: str) -> _Iterate:
        q, c, gap = _evaluate(blocks, x, self.y, self.unit, distance)
        return self._replace(x=x, q=q, c=c, gap=gap)


def _evaluate(
    blocks: HullWeights | MassShares, x: Floats, y: Floats, unit: Floats, distance: str
) -> tuple[Floats, Floats, Floats]:
    q = blocks.collect(x)
    c = blocks.costs(-unit * certificate_direction(y, unit * q, distance))
    return q, c, _overshoot(x, c, blocks.valid)


def _value(y: Floats, q: Floats, unit: Floats, distance: str) -> Floats:
    """Objective f; for KL up to a constant of the instance, which the scaling adds."""
    return rel_entr(y, q).sum(axis=-1) if distance == "kl" else objective(y, unit * q, distance)


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


def _newton_step(blocks: HullWeights | MassShares, at: _Iterate, distance: str) -> _Iterate:
    """One Newton step for  min f(J x) - μ Σ ln x,  with μ lowered by Mehrotra's predictor."""
    valid, size, x, z = blocks.valid, float(blocks.valid.sum()), at.x, at.z
    h = np.where(at.q > 0, curvature(at.y, at.unit * at.q, distance) / at.q**2, 0.0)  # (n, K)
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
    blocks: HullWeights | MassShares, at: _Iterate, dx: Floats, mu: Floats, descent: Floats, distance: str
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

    def vertex(self, y: Floats, distance: str) -> Floats:
        """Weights of the nearest single point."""
        f = objective(y[:, None, :], self.j * self.upper[:, None, :], distance)  # (n, V)
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

    def vertex(self, y: Floats, distance: str) -> Floats:
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
