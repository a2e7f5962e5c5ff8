"""Moments of the differences of all pairs of models, by which means that are linear in a coefficient need one pass."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._kernels import kernel
from uqassay.statistics.samples import Floats

__all__ = ["Combined", "MomentSpread", "PairMoments", "is_reliable", "of_pairs"]

# Differences that are held at once: a block stays in the cache.
_CELLS = 2**15

# Instead of its moments, the sample itself is needed for a combination that cancels, for one that may be constant, and for
# squares near the ends of the range of numbers.
_CANCELLED, _CONSTANT, _LEAST, _GREATEST = 1e-4, 1e-10, 1e-60, 1e60


class Combined(NamedTuple):
    """Combined differences x = Σ_c t_c x_c of P pairs, (P,) each."""

    mean: Floats
    squares: Floats  # Σ (x − mean)²
    cubes: Floats  # Σ (x − mean)³
    reliable: NDArray[np.bool_]  # False: too much is lost to rounding


class MomentSpread(NamedTuple):
    """Means of combined differences of P pairs and their spread, (P,) each."""

    mean: Floats
    inside: Floats  # variance of the mean
    third: Floats  # third cumulant of the mean
    dof: Floats
    independent: Floats  # number of independent instances
    reliable: NDArray[np.bool_]  # False: too much is lost to rounding


class PairMoments:
    """Moments of the differences of J models in one or two columns, of each pair when it is first asked for.

    Parameters
    ----------
    columns : sequence of C = 1 or 2 sequences of J arrays (n,)
        Finite values, but for models that are in no pair.
    """

    def __init__(self, columns: Sequence[Sequence[Floats]]) -> None:
        self._columns = columns
        j, c = len(columns[0]), len(columns)
        with np.errstate(invalid="ignore"):
            self._means = np.array([[x.mean() for x in column] for column in columns])  # (C, J)
        self._scales = np.array([[max(x.max(), -x.min(), 0.0) for x in column] for column in columns])
        self._known = np.zeros((j, j), dtype=bool)
        self._first = np.zeros((c, j, j))  # mean differences
        self._second = np.zeros((c + 1 if c == 2 else 1, j, j))  # Σ xx, Σ xy, Σ yy
        self._third = np.zeros((c + 2 if c == 2 else 1, j, j))  # Σ xxx, Σ xxy, Σ xyy, Σ yyy

    @property
    def n(self) -> int:
        """Number of instances."""
        return self._columns[0][0].size

    def spread(self, coefficients: ArrayLike, a: NDArray[np.intp], b: NDArray[np.intp]) -> MomentSpread:
        """Spread of the means of the combined differences of model a minus model b, for pairs ``(P,)``.

        The coefficients are ``(C,)``, or ``(C, P)``, those of each pair.
        """
        found = self.combined(coefficients, a, b)
        n = float(self.n)
        inside, full = found.squares / (n * (n - 1)), np.full(a.size, n)
        return MomentSpread(found.mean, inside, found.cubes / n**3, full - 1.0, full, found.reliable)

    def combined(self, coefficients: ArrayLike, a: NDArray[np.intp], b: NDArray[np.intp]) -> Combined:
        """Moments of the combined differences of model a minus model b, arguments as of `spread`."""
        with np.errstate(over="ignore", invalid="ignore"):  # which is not reliable then
            self._learn(a, b)
            return self._combined(of_pairs(coefficients, a.size), a, b)

    def _combined(self, t: Floats, a: NDArray[np.intp], b: NDArray[np.intp]) -> Combined:
        first, second, third = (table[:, a, b] for table in (self._first, self._second, self._third))
        mean = (t * first).sum(axis=0)
        if len(t) == 1:
            own = squares = t[0] ** 2 * second[0]
            cubes = t[0] ** 3 * third[0]
        else:
            s, t2 = t
            own = s**2 * second[0] + t2**2 * second[2]
            squares = own + 2 * s * t2 * second[1]
            cubes = s**3 * third[0] + 3 * s * t2 * (s * third[1] + t2 * third[2]) + t2**3 * third[3]
        scale = (np.abs(t) * np.maximum(self._scales[:, a], self._scales[:, b])).sum(axis=0)
        return Combined(mean, squares, cubes, is_reliable(squares, own, self.n, scale))

    def _learn(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> None:
        """Find the moments of the pairs that are new, in chunks of instances."""
        new = ~self._known[a, b]
        if not new.any():
            return
        a, b = a[new], b[new]
        used, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        first, second = np.split(places.reshape(-1), 2)
        apart = np.ascontiguousarray(self._means[:, a] - self._means[:, b])  # (C, P)
        sums = np.zeros((len(self._first) + len(self._second) + len(self._third), a.size))
        step = max(_CELLS // used.size, 256)
        sum_differences = kernel("difference_sums") or _difference_sums
        for start in range(0, self.n, step):
            values = np.array([[column[k][start : start + step] for k in used.tolist()] for column in self._columns])
            sums += sum_differences(values, apart, first, second)
        rest, squares, cubes = np.split(sums, [len(apart), len(sums) - len(self._third)])
        for table, value, sign in (
            (self._first, apart + rest / self.n, -1.0),  # with the rounding errors of the means
            (self._second, squares, 1.0),
            (self._third, cubes, -1.0),
        ):
            table[:, a, b], table[:, b, a] = value, sign * value
        self._known[a, b] = self._known[b, a] = True


def of_pairs(coefficients: ArrayLike, n_pairs: int) -> Floats:
    """Coefficients ``(C,)`` or ``(C, P)`` as those of each pair, ``(C, P)``."""
    t = np.asarray(coefficients, dtype=np.float64)
    return np.broadcast_to(t.reshape(len(t), -1), (len(t), n_pairs))


def is_reliable(squares: Floats, own: Floats, n: int, scale: Floats) -> NDArray[np.bool_]:
    """Whether sums of n squares of combined differences tell the spread, given those of the parts and the values' scale."""
    constant = n * (_CONSTANT * scale) ** 2
    return (squares > _CANCELLED * own) & (squares > constant) & (squares > _LEAST) & (squares < _GREATEST)


def _difference_sums(values: Floats, shift: Floats, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
    """Sums over m of the monomials up to degree 3 of the differences first − second − shift, ``(3 or 9, P)``.

    From values ``(C, J, m)``, shifts ``(C, P)`` and places ``(P,)`` among the J.
    """
    # differences first: expanding their moments into those of the models would cancel
    size = max(_CELLS // values.shape[2], 1)
    blocks = [slice(start, start + size) for start in range(0, first.size, size)]
    return np.concatenate(
        [_sums(values[:, first[p]] - values[:, second[p]] - shift[:, p, np.newaxis]) for p in blocks], axis=1
    )


def _sums(x: Floats) -> Floats:
    """Sums of the monomials of one or two columns of differences (C, P, m), ``(3 or 9, P)``."""
    xx = x[0] * x[0]
    if len(x) == 1:
        return np.stack([x[0].sum(axis=1), xx.sum(axis=1), _products(xx, x[0])])
    yy = x[1] * x[1]
    found = [x[0].sum(axis=1), x[1].sum(axis=1), xx.sum(axis=1), _products(x[0], x[1]), yy.sum(axis=1)]
    return np.stack([*found, _products(xx, x[0]), _products(xx, x[1]), _products(yy, x[0]), _products(yy, x[1])])


def _products(x: Floats, y: Floats) -> Floats:
    # not a matrix product, whose last bits may depend on the number of threads
    return np.asarray(np.einsum("pm,pm->p", x, y))
