"""Points within a radius of centres, and distances to the n-th neighbour, by products of matrices in any number of dimensions.

In fifty dimensions a tree visits nearly every point, and a product of matrices is many times faster; in the plane both take
less than a second. Benchmark: ``benchmarks/bench_ball_split.py``.
"""

from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, as_numeric, generator, row_chunks, shown
from uqassay.datasets.dataset import as_features
from uqassay.errors import InputError

__all__ = ["RadiusSearch", "as_points", "neighbour_distances", "suggested_radius"]

Array = NDArray[np.float64]
Points = NDArray[np.floating[Any]]

BLOCK_BYTES = 2**20  # of distances at a time, which stay in the cache
PAIR_BYTES = 2**23
CENTRES_AT_ONCE = 64
FIRST_SAMPLED = 500
SAFE_EXPONENT = 400  # squares of values up to 2^400, summed over dimensions, lie well inside double precision


def as_points(values: Any, name: str = "X") -> Points:
    """Finite points ``(n, d)`` in their own precision; `name` is for errors."""
    return as_features(as_numeric(values, name, ndim=2), name)


@final
class RadiusSearch:
    """Which points lie within a radius of a centre: exactly those whose squared distance in double precision is at most R².

    Distances are first found in single precision. Those within the rounding error of R² are found again in double precision, so
    the result depends neither on the library of linear algebra nor on its number of threads.

    Parameters
    ----------
    points : array (n, d)
        Finite.
    radius : float
        Positive.
    """

    def __init__(self, points: Points, radius: float) -> None:
        self.points, self.radius = points, float(radius)
        self._exponent = int(np.frexp(self.radius)[1])
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values are unsure, and so found again
            shift = points.mean(axis=0, dtype=np.float64)
            self._shift = np.where(np.isfinite(shift), shift, 0.0)
            self._scaled = np.empty(points.shape, dtype=np.float32)
            for rows in row_chunks(len(points), 8 * points.shape[1]):
                self._scaled[rows] = self._in_radii(points[rows])
            self._squares = np.einsum("ij,ij->i", self._scaled, self._scaled)

    def each(self, centres: Points) -> Iterator[NDArray[np.bool_]]:
        """Membership ``(n,)`` of the ball about each centre in turn; the members of some balls are found together."""
        for start in range(0, len(centres), CENTRES_AT_ONCE):
            yield from self.within(centres[start : start + CENTRES_AT_ONCE])

    def within(self, centres: ArrayLike) -> NDArray[np.bool_]:
        """Membership ``(B, n)`` of the points in the closed balls about B centres ``(B, d)``."""
        at = np.asarray(centres, dtype=np.float64)
        inside = np.empty((len(at), len(self.points)), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self._in_radii(at).astype(np.float32)
            squares = np.einsum("ij,ij->i", scaled, scaled)[:, None]  # (B, 1)
            # |c|² + |x|² − 2 c·x in single precision is wrong by at most about (d + 8) ε (|c| + |x|)²
            unit = np.float32(self.points.shape[1] + 8) * np.finfo(np.float32).eps
            for rows in row_chunks(len(self.points), 4 * len(at), chunk_bytes=BLOCK_BYTES):
                own = self._squares[rows]
                distance = scaled @ self._scaled[rows].T  # (B, rows)
                distance *= np.float32(-2.0)
                distance += own
                distance += squares
                margin = unit * (np.sqrt(squares) + np.sqrt(own.max())) ** 2
                sure = distance <= np.float32(1.0) - margin
                unsure = ~(sure | (distance > np.float32(1.0) + margin))  # nan is unsure as well
                if unsure.any():
                    ball, row = np.divmod(np.flatnonzero(unsure), len(own))
                    sure[ball, row] = self._exactly(at, ball, row + rows.start)
                inside[:, rows] = sure
        return inside

    def _in_radii(self, points: Points) -> Array:
        return np.asarray((points - self._shift) / self.radius)

    def _exactly(self, centres: Array, ball: NDArray[np.intp], row: NDArray[np.intp]) -> NDArray[np.bool_]:
        inside = np.empty(len(ball), dtype=bool)
        for pairs in row_chunks(len(ball), 8 * centres.shape[1], chunk_bytes=PAIR_BYTES):
            apart = self.points[row[pairs]].astype(np.float64) - centres[ball[pairs]]
            # powers of two change no digit, and with a radius in [0.5, 1) no square that matters over- or underflows
            apart = np.ldexp(apart, -self._exponent)
            inside[pairs] = (apart**2).sum(axis=1) <= np.ldexp(self.radius, -self._exponent) ** 2
        return inside


def neighbour_distances(
    X: ArrayLike, n_neighbours: int, *, n_sampled: int = FIRST_SAMPLED, rng: RandomState = None
) -> Array:
    """Distances of sampled points to their n-th neighbour.

    Parameters
    ----------
    X : array (n, d)
    n_neighbours : int
        In 1 … n − 1; the point itself does not count.
    n_sampled : int
        Number of points; all n if there are fewer.
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    array (n_sampled,)
        Euclidean distances in rising order.

    Raises
    ------
    InputError
        More neighbours than other points, values that are not finite, or distances beyond double precision.
    """
    points = as_points(X)
    n = len(points)
    if n < 2:
        raise InputError("X", "must hold at least two points", f"got {n}", "add instances", code="empty")
    if not _is_whole(n_neighbours) or not 1 <= n_neighbours < n:
        raise InputError(
            "n_neighbours",
            f"must be a whole number in 1 … {n - 1}",
            f"got {shown(n_neighbours)} for {n} points",
            "choose fewer than there are other points",
            code="range",
        )
    if not _is_whole(n_sampled) or n_sampled < 1:
        raise InputError(
            "n_sampled", "must be a whole number from 1 up", f"got {shown(n_sampled)}", "500, say", code="range"
        )
    sampled = generator(rng).choice(n, size=min(n, n_sampled), replace=False)
    points, exponent = _within_squares(points)
    centred = points - points.mean(axis=0, dtype=np.float64)  # double precision, (n, d)
    squares = np.einsum("ij,ij->i", centred, centred)
    found = np.empty(len(sampled))
    for part in row_chunks(len(sampled), 8 * n):
        at = sampled[part]
        distance = centred[at] @ centred.T
        distance *= -2.0
        distance += squares
        distance[np.arange(len(at)), at] = -np.inf  # first in the order, so that the n-th neighbour is at place n
        nth = np.partition(distance, n_neighbours, axis=1)[:, n_neighbours] + squares[at]
        found[part] = np.sqrt(np.maximum(nth, 0.0))
    with np.errstate(over="ignore"):
        distances = np.ldexp(np.sort(found), exponent)
    if not np.isfinite(distances[-1]):
        raise InputError(
            "X",
            "must have distances that double precision can hold",
            f"got values up to {np.ldexp(np.abs(points).max(), exponent):.3g}",
            "divide X by a constant",
            code="range",
        )
    return distances


def _within_squares(points: Points) -> tuple[Points, int]:
    """The points divided by 2^e, and e: not 0 where the squares of their values would over- or underflow."""
    exponent = int(np.frexp(np.abs(points).max())[1])
    if abs(exponent) <= SAFE_EXPONENT:
        return points, 0
    return np.ldexp(points.astype(np.float64), -exponent - 1), exponent + 1


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def suggested_radius(X: ArrayLike, n_neighbours: int, *, quantile: float = 0.5, rng: RandomState = None) -> float:
    """A radius with which a ball about a typical point has `n_neighbours` others.

    It is a quantile of the distance of 500 sampled points to their n-th neighbour. With the median, half of the points have at
    least that many neighbours in their ball; a lower quantile keeps the balls to denser regions.

    Parameters
    ----------
    X : array (n, d)
    n_neighbours : int
    quantile : float
        In [0, 1].
    rng : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        As of `neighbour_distances`; a quantile outside [0, 1]; so many equal points that the radius would be 0.

    Examples
    --------
    >>> line = np.arange(100.0)[:, None]
    >>> suggested_radius(line, 10)
    5.0
    """
    number = isinstance(quantile, (int, float, np.integer, np.floating)) and not isinstance(quantile, bool)
    if not number or not 0.0 <= quantile <= 1.0:
        raise InputError("quantile", "must lie in [0, 1]", f"got {shown(quantile)}", "0.5 is the median", code="range")
    radius = float(np.quantile(neighbour_distances(X, n_neighbours, rng=rng), quantile))
    if radius == 0.0:
        raise InputError(
            "X",
            "must have distinct points",
            f"a typical point has {n_neighbours} equal ones",
            "ask for more neighbours",
            code="undefined",
        )
    return radius
