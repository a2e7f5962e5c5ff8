"""Variance and skewness of the differences of many pairs of models: of means, and of other linearised statistics.

A ranking tests all pairs of J models, at many trade-offs. The variances of all pairs therefore come from tables over pairs
that are filled once, and only pairs for which those tables lose too much to rounding look at their instances again.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats
from uqassay.native import kernel
from uqassay.statistics.linearised import (
    LEAST_DOF,
    LEAST_UNEVEN_DOF,
    AveragedStatistic,
    Linearised,
    PartSum,
    Sums,
    is_plain,
    sample_factor,
    spread_of_difference,
    sum_of_squares,
)
from uqassay.statistics.units import Units, bell_mccaffrey, working_variances

__all__ = ["GroupMoments", "PairMoments", "PairSample", "PairSpreads", "row_products", "statistic_spreads"]

Places: TypeAlias = NDArray[np.intp]

# One minus the level of the upper limits of run variances, of three runs or more and of two.
_LIMIT, _LIMIT_OF_TWO = 0.8, 0.9

# Differences that are held at once, from moments of instances, of groups, and without moments: a block stays in the cache.
_CELLS, _GROUP_CELLS, _SPREAD_CELLS = 2**15, 2**17, 2**17
MOST_SIZES = 64  # distinct sizes of groups; with more, a sum by sizes saves nothing

# Instead of its moments, the sample itself is needed for a combination that cancels, for one that may be constant, and for
# squares near the ends of the range of numbers.
_CANCELLED, _CONSTANT, _LEAST, _GREATEST = 1e-4, 1e-10, 1e-60, 1e60

CELLS = 2**20  # influences of all statistics that are held at once
CACHED = 512  # units of all statistics that stay in the cache
CANCELLED = 1e-3  # of the squares of both: a smaller sum of squared differences is not taken from products


class PairSpreads(NamedTuple):
    """Differences of P pairs of means or other statistics and their spread, (P,) each unless stated."""

    difference: Floats
    equal: NDArray[np.bool_]  # the same difference in every instance
    scale: Floats  # of the spread: squares of residuals near 1e-200 would underflow
    inside: Floats  # variance of the mean over the units, in squares of the scale
    third: Floats  # third cumulant of the mean over the units, in cubes of the scale
    dof: Floats  # degrees of freedom of `inside`
    independent: Floats  # number of independent instances
    between: Floats  # (2, P) variance of the run means of both models, in squares of the scale
    run_dofs: Floats  # (2, P) and its degrees of freedom, 1 for one run
    run_limits: Floats  # (2, P) upper limits of the run variances over their estimates
    several: NDArray[np.bool_]  # some model has more than one run
    regular: NDArray[np.bool_]  # there is a spread, and the difference is not the same in every instance

    @property
    def variance(self) -> Floats:
        """Variance of the difference, in squares of the scale."""
        return self.inside + self.between.sum(axis=0)

    @property
    def total_dof(self) -> Floats:
        """Satterthwaite's degrees of freedom of the variance."""
        return satterthwaite(self.inside, self.dof, self.between, self.run_dofs)


def satterthwaite(inside: Floats, dof: Floats, between: Floats, run_dofs: Floats) -> Floats:
    """Degrees of freedom of a variance between units (P,) plus those of the runs of two models (2, P)."""
    variance = inside + between.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # shares first: the square of a small variance would underflow
        found = 1.0 / ((inside / variance) ** 2 / dof + ((between / variance) ** 2 / run_dofs).sum(axis=0))
    return np.where(variance > 0, found, dof)


# -- means -------------------------------------------------------------------------------------------------------------


class PairSample:
    """Columns of several models on the same instances, whose combinations are compared in pairs.

    `runs` holds J sequences of C arrays (R_j, n), without the instances of weight zero.
    """

    def __init__(self, runs: Sequence[Sequence[Floats]], units: Units) -> None:
        self.units = units
        self._sizes = units.sizes
        with np.errstate(invalid="ignore"):
            averaged = [[x[0] if len(x) == 1 else x.mean(axis=0) for x in model] for model in runs]  # J × C of (n,)
            snap(averaged)
            self.means = np.array([[units.mean(column) for column in model] for model in averaged])  # (J, C)
            self._run_means = [np.array([[units.mean(x) for x in column] for column in model]) for model in runs]
        self.finite = np.array([all(bool(np.isfinite(column).all()) for column in model) for model in runs])
        self._weights, self._starts = units.weights, None
        order: Places | slice = slice(None)
        if units.codes is not None and units.n_units < units.n_instances:
            order = np.argsort(units.codes, kind="stable")
            self._weights = None if units.weights is None else units.weights[order]
            self._starts = np.searchsorted(units.codes[order], np.arange(units.n_units))
        self._columns = [[model[c][order] for model in averaged] for c in range(len(averaged[0]))]  # C × J of (n,)
        counts = np.array([len(model[0]) for model in runs])
        self._several = counts > 1
        self._run_dofs = np.maximum(counts - 1.0, 1.0)
        quantiles = special.chdtri(self._run_dofs, np.where(self._run_dofs > 1, _LIMIT, _LIMIT_OF_TWO))
        self._run_limits = self._run_dofs / quantiles
        self._moments: PairMoments | GroupMoments | None = None
        if self._weights is None and len(self._columns) <= 2:
            if self._starts is None:
                self._moments = PairMoments(self._columns)
            elif np.unique(self._sizes).size <= MOST_SIZES:
                self._moments = GroupMoments(self._columns, self._starts)

    def spreads(self, coefficients: ArrayLike, a: Places, b: Places) -> PairSpreads:
        """Differences of the combination Σ_c t_c x_c, of models `a` minus models `b`, (P,) places each of finite models.

        The coefficients t are ``(C,)``, or ``(C, P)``, those of each pair.
        """
        t = of_pairs(coefficients, a.size)
        parts = np.stack([self._run_errors(t, a), self._run_errors(t, b)])  # (2, P)
        if self._moments is None:
            return self._direct(t, a, b, parts)
        found = self._moments.spread(t, a, b)
        spreads = PairSpreads(
            difference=found.mean,
            equal=np.zeros(a.size, dtype=bool),
            scale=np.ones(a.size),
            inside=found.inside,
            third=found.third,
            dof=found.dof,
            independent=found.independent,
            between=parts**2,
            regular=found.reliable,
            **self._of_runs(a, b),
        )
        rest = np.flatnonzero(~found.reliable)
        if rest.size:
            exact = self._direct(t[:, rest], a[rest], b[rest], parts[:, rest])
            for table, values in zip(spreads, exact, strict=True):
                table[..., rest] = values
        return spreads

    def _run_errors(self, t: Floats, places: Places) -> Floats:
        """s/√R of the run means of the model of every pair, 0 for one run and for infinite values, (P,)."""
        found = np.zeros(places.size)
        for j in np.unique(places[self._several[places] & self.finite[places]]).tolist():
            mine = places == j
            means = t[:, mine].T @ self._run_means[j]  # (pairs, R)
            means -= means[:, :1]
            scale = np.abs(means).max(axis=1)
            safe = np.where(scale > 0, scale, 1.0)
            found[mine] = scale * (means / safe[:, np.newaxis]).std(axis=1, ddof=1) / means.shape[1] ** 0.5
        return found

    def _of_runs(self, a: Places, b: Places) -> dict[str, NDArray]:
        return {
            "run_dofs": np.stack([self._run_dofs[a], self._run_dofs[b]]),
            "run_limits": np.stack([self._run_limits[a], self._run_limits[b]]),
            "several": self._several[a] | self._several[b],
        }

    def _direct(self, t: Floats, a: Places, b: Places, run_errors: Floats) -> PairSpreads:
        """From the instances, in blocks of pairs of the same coefficients."""
        step = max(1, _SPREAD_CELLS // self.units.n_instances)
        new = np.flatnonzero((t[:, 1:] != t[:, :-1]).any(axis=0)) + 1
        alike = np.split(np.arange(a.size), new)
        blocks = [pairs[i : i + step] for pairs in alike for i in range(0, max(pairs.size, 1), step)]
        found = [self._block(t[:, s], a[s], b[s], run_errors[:, s]) for s in blocks]
        return PairSpreads(*(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True)))

    def _block(self, t: Floats, a: Places, b: Places, run_errors: Floats) -> PairSpreads:
        # differences first: expanding their moments into those of the models would cancel
        models = {j: combination(t[:, 0].tolist(), [x[j] for x in self._columns]) for j in np.union1d(a, b).tolist()}
        d = np.empty((a.size, self.units.n_instances))
        for row, i, j in zip(d, a.tolist(), b.tolist(), strict=True):
            np.subtract(models[i], models[j], out=row)
        first = d[:, 0].copy()
        equal = (d == first[:, np.newaxis]).all(axis=1)
        if self._weights is None:
            value = d.mean(axis=1)
            d -= value[:, np.newaxis]
        else:
            value = (self._weights * d).sum(axis=1) / self._weights.sum()
            d -= value[:, np.newaxis]
            d *= self._weights
        sums = d if self._starts is None else np.add.reduceat(d, self._starts, axis=1)  # (P, G)
        factors, dof, independent = self._working_model(d, sums)
        sums = sums / self._sizes.sum()
        scale = np.maximum(np.abs(sums).max(axis=1), run_errors.max(axis=0))
        safe = np.where(scale > 0, scale, 1.0)
        sums /= safe[:, np.newaxis]
        squares = sums * sums
        return PairSpreads(
            difference=np.where(equal, first, value),  # exactly
            equal=equal,
            scale=safe,
            inside=(factors * squares).sum(axis=1),
            third=(squares * sums).sum(axis=1),
            dof=dof,
            independent=independent,
            between=(run_errors / safe) ** 2,
            regular=(scale > 0) & ~equal,
            **self._of_runs(a, b),
        )

    def _working_model(self, weighted: Floats, sums: Floats) -> tuple[Floats | float, Floats, Floats]:
        """Factors a_g, their degrees of freedom and the number of independent instances, see `bell_mccaffrey`."""
        g, p = self.units.n_units, len(sums)
        if g < 2:
            return 1.0, np.full(p, np.nan), np.ones(p)  # a single unit tells no variance, and is not tested
        if self._starts is None:
            if self._weights is None:
                return g / (g - 1), np.full(p, g - 1.0), np.full(p, float(g))
            tau = working_variances(self.units, 0.0)
        else:
            counts = np.diff(np.append(self._starts, self.units.n_instances))
            scale = np.abs(weighted).max(axis=1, keepdims=True)
            e2 = (weighted / np.where(scale > 0, scale, 1.0)) ** 2
            s2 = (sums / np.where(scale > 0, scale, 1.0)) ** 2
            tau = working_variances(
                self.units, _correlation(s2.sum(axis=1) - e2.sum(axis=1), e2 @ np.repeat(counts - 1.0, counts))
            )
        a, dof = bell_mccaffrey(tau, self._sizes)
        weight = self._sizes.sum()
        independent = weight**2 / tau.sum(axis=-1)
        if self._weights is not None:  # wherever rare losses strike, see `independent_number`; 1 is the greatest weight
            independent = independent * ((self._weights**2).sum() / (weight * self._weights.max()))
        return a, np.broadcast_to(dof, p), np.broadcast_to(independent, p)


ROUNDING = 1e-12  # of the greatest value: columns that differ by less are equal, and rounded differently


def snap(models: list[list[Floats]]) -> None:
    """Make columns that differ by rounding alone the same, so that no test tells them apart; J lists of C columns (n,).

    The same statements in another order, in other runs or as logits have losses that differ in the last digits, by constant
    amounts at times, which would be significant.
    """
    scales = [max((float(np.abs(x).max(initial=0.0)) for x in model), default=0.0) for model in models]
    near = ROUNDING * np.maximum.outer(scales, scales)
    for c in range(max(map(len, models), default=0)):
        means = np.array([model[c].mean() if model[c].size else 0.0 for model in models])
        with np.errstate(invalid="ignore"):  # ∞ − ∞
            close = np.isfinite(near) & (np.abs(np.subtract.outer(means, means)) <= near)
        for j, i in np.argwhere(np.tril(close, -1)).tolist():
            column, other = models[j][c], models[i][c]
            if column is not other and np.abs(column - other).max() <= near[j, i]:
                models[j][c] = other


def of_pairs(coefficients: ArrayLike, n_pairs: int) -> Floats:
    """Coefficients ``(C,)`` or ``(C, P)`` as those of each pair, ``(C, P)``."""
    t = np.asarray(coefficients, dtype=np.float64)
    return np.broadcast_to(t.reshape(len(t), -1), (len(t), n_pairs))


def combination(coefficients: Sequence[float], columns: Sequence[Floats]) -> Floats:
    """Σ t x of the columns whose coefficient is not 0: the others may be infinite."""
    terms = [t * column for t, column in zip(coefficients, columns, strict=True) if t != 0]
    return sum(terms[1:], start=terms[0]) if terms else np.zeros_like(columns[0])


def _correlation(excess: Floats, pairs: Floats) -> Floats:
    """Correlation of residuals inside a group, from Σ (Σ e)² − Σ e² and Σ (n_g − 1) e²."""
    return np.clip(np.divide(excess, pairs, out=np.zeros(excess.size), where=pairs > 0), 0.0, 1.0)


# -- moments of the differences of all pairs, by which means that are linear in a coefficient need one pass -------------


class MomentSpread(NamedTuple):
    """Means of combined differences of P pairs and their spread, (P,) each; fields as in `PairSpreads`."""

    mean: Floats
    inside: Floats
    third: Floats
    dof: Floats
    independent: Floats
    reliable: NDArray[np.bool_]  # False: too much is lost to rounding


class _Moments(ABC):
    """Moments of the differences of J models in one or two columns, of each pair when it is first asked for.

    The columns are C = 1 or 2 sequences of J arrays (n,), finite but for models that are in no pair.
    """

    def __init__(self, columns: Sequence[Sequence[Floats]]) -> None:
        self._columns, self.n, j = columns, columns[0][0].size, len(columns[0])
        with np.errstate(invalid="ignore"):
            self._scales = np.array([[max(x.max(), -x.min(), 0.0) for x in column] for column in columns])  # (C, J)
        self._known = np.zeros((j, j), dtype=bool)
        #: Pairs of columns of the second moments, xx or xx, xy, yy, and which are squares of one column.
        self._terms = [(0, 0)] if len(columns) == 1 else [(0, 0), (0, 1), (1, 1)]
        self._own = [k for k, (i, j) in enumerate(self._terms) if i == j]
        self._first = np.zeros((len(columns), j, j))  # mean differences
        self._third = np.zeros((1 if len(columns) == 1 else 4, j, j))  # Σ xxx or Σ xxx, xxy, xyy, yyy

    def spread(self, coefficients: ArrayLike, a: Places, b: Places) -> MomentSpread:
        """Spread of the means of the combined differences of model a minus model b, for pairs ``(P,)``.

        The coefficients are ``(C,)``, or ``(C, P)``, those of each pair.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # which is not reliable then
            new = ~self._known[a, b]
            if new.any():
                self._learn(a[new], b[new])
            return self._spread(of_pairs(coefficients, a.size), a, b)

    @abstractmethod
    def _learn(self, a: Places, b: Places) -> None:
        """Find the moments of pairs that are new."""

    @abstractmethod
    def _spread(self, t: Floats, a: Places, b: Places) -> MomentSpread:
        """Spread of pairs whose moments are known."""

    def _keep(self, a: Places, b: Places, tables: Sequence[tuple[Floats, Floats, float]]) -> None:
        """Enter values of pairs a, b, and with the sign those of b, a."""
        for table, value, sign in tables:
            table[:, a, b], table[:, b, a] = value, sign * value
        self._known[a, b] = self._known[b, a] = True

    def _quadratic(self, t: Floats) -> Floats:
        """Coefficients of the second moments, (T, P)."""
        return np.stack([t[i] * t[k] if i == k else 2 * t[i] * t[k] for i, k in self._terms])

    def _cubes(self, t: Floats, a: Places, b: Places) -> Floats:
        third = self._third[:, a, b]
        if len(t) == 1:
            return np.asarray(t[0] ** 3 * third[0])
        s, u = t
        return np.asarray(s**3 * third[0] + 3 * s * u * (s * third[1] + u * third[2]) + u**3 * third[3])

    def _reliable(self, squares: Floats, own: Floats, t: Floats, a: Places, b: Places) -> NDArray[np.bool_]:
        """Whether sums of n squares of combined differences tell the spread, given those of the columns alone."""
        scale = (np.abs(t) * np.maximum(self._scales[:, a], self._scales[:, b])).sum(axis=0)
        constant = self.n * (_CONSTANT * scale) ** 2
        return (squares > _CANCELLED * own) & (squares > constant) & (squares > _LEAST) & (squares < _GREATEST)


@final
class PairMoments(_Moments):
    """Over independent instances."""

    def __init__(self, columns: Sequence[Sequence[Floats]]) -> None:
        super().__init__(columns)
        with np.errstate(invalid="ignore"):
            self._means = np.array([[x.mean() for x in column] for column in columns])  # (C, J)
        self._second = np.zeros((len(self._terms), *self._known.shape))  # Σ xx or Σ xx, xy, yy

    def _spread(self, t: Floats, a: Places, b: Places) -> MomentSpread:
        second, quadratic, n = self._second[:, a, b], self._quadratic(t), float(self.n)
        own = (quadratic * second)[self._own].sum(axis=0)
        squares = own + (quadratic[1] * second[1] if len(t) == 2 else 0.0)
        return MomentSpread(
            mean=(t * self._first[:, a, b]).sum(axis=0),
            inside=squares / (n * (n - 1)),
            third=self._cubes(t, a, b) / n**3,
            dof=np.full(a.size, n - 1.0),
            independent=np.full(a.size, n),
            reliable=self._reliable(squares, own, t, a, b),
        )

    def _learn(self, a: Places, b: Places) -> None:
        """In chunks of instances."""
        used, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        first, second = np.split(places.reshape(-1), 2)
        apart = np.ascontiguousarray(self._means[:, a] - self._means[:, b])  # (C, P)
        sums = np.zeros((len(self._first) + len(self._second) + len(self._third), a.size))
        # by the number of all models: sums do not depend on the pairs that are asked for together
        step = max(_CELLS // len(self._columns[0]), 256)
        sum_differences = kernel("difference_sums") or _difference_sums
        for start in range(0, self.n, step):
            values = np.array([[column[k][start : start + step] for k in used.tolist()] for column in self._columns])
            sums += sum_differences(values, apart, first, second)
        rest, squares, cubes = np.split(sums, [len(apart), len(sums) - len(self._third)])
        means = apart + rest / self.n  # with the rounding errors of the means
        self._keep(a, b, ((self._first, means, -1.0), (self._second, squares, 1.0), (self._third, cubes, -1.0)))


def _difference_sums(values: Floats, shift: Floats, first: Places, second: Places) -> Floats:
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
    # not a matrix product, nor einsum: their last bits may depend on the number of threads, or of rows
    return np.asarray(np.multiply(x, y, order="C").sum(axis=1))


@final
class GroupMoments(_Moments):
    """Over groups of instances.

    All groups of one size have the same factor in the variance, so that their squares are summed once. The rows of a group
    lie together; `starts` (G,) holds the first row of each.
    """

    def __init__(self, columns: Sequence[Sequence[Floats]], starts: Places) -> None:
        super().__init__(columns)
        self._starts = starts
        members = np.diff(np.append(starts, self.n))
        self._by_size = np.argsort(members, kind="stable")
        self._sizes, firsts, self._counts = np.unique(members[self._by_size], return_index=True, return_counts=True)
        self._firsts = firsts
        self._fellows = np.repeat(members - 1.0, members)  # of each instance in its group
        shape = (len(self._terms), *self._known.shape)
        self._alone, self._pairs = np.zeros(shape), np.zeros(shape)  # Σ e², Σ (n_g − 1) e² over the instances
        self._second = np.zeros((*shape, self._sizes.size))  # Σ u² over the groups of each size

    def _spread(self, t: Floats, a: Places, b: Places) -> MomentSpread:
        quadratic, own = self._quadratic(t), self._own
        by_instance, by_size = quadratic * self._alone[:, a, b], quadratic[..., np.newaxis] * self._second[:, a, b]
        alone, second = by_instance.sum(axis=0), by_size.sum(axis=0)  # (P,) and (P, S)
        squares, sizes, weight = second.sum(axis=1), self._sizes.astype(np.float64), float(self.n)
        rho = _correlation(squares - alone, (quadratic * self._pairs[:, a, b]).sum(axis=0))[:, np.newaxis]
        tau = (1 - rho) * sizes + rho * sizes**2
        factors, dof = bell_mccaffrey(tau, sizes, self._counts)
        reliable = self._reliable(alone, by_instance[own].sum(axis=0), t, a, b)
        reliable &= self._reliable(squares, by_size[own].sum(axis=(0, 2)), t, a, b)
        return MomentSpread(
            mean=(t * self._first[:, a, b]).sum(axis=0),
            inside=(factors * second).sum(axis=1) / weight**2,
            third=self._cubes(t, a, b) / weight**3,
            dof=dof,
            independent=weight**2 / (tau @ self._counts),
            reliable=reliable,
        )

    def _learn(self, a: Places, b: Places) -> None:
        step = max(1, _GROUP_CELLS // self.n)
        for i in range(0, a.size, step):
            self._learn_pairs(a[i : i + step], b[i : i + step])

    def _learn_pairs(self, a: Places, b: Places) -> None:
        e = np.empty((len(self._columns), a.size, self.n))
        for column, apart in zip(self._columns, e, strict=True):
            for row, i, k in zip(apart, a.tolist(), b.tolist(), strict=True):
                np.subtract(column[i], column[k], out=row)
        first = e.mean(axis=2)
        e -= first[..., np.newaxis]
        u = np.take(np.add.reduceat(e, self._starts, axis=2), self._by_size, axis=2)  # (C, P, G), and contiguous
        squares = np.stack([u[i] * u[k] for i, k in self._terms])
        products = [(0, 0)] if len(e) == 1 else [(0, 0), (0, 1), (2, 0), (2, 1)]  # xxx, xxy, yyx, yyy
        alone = np.stack([_products(e[i], e[k]) for i, k in self._terms])
        pairs = np.stack([_products(e[i] * e[k], self._fellows) for i, k in self._terms])
        tables = (
            (self._first, first, -1.0),
            (self._alone, alone, 1.0),
            (self._pairs, pairs, 1.0),
            (self._second, np.add.reduceat(squares, self._firsts, axis=2), 1.0),
            (self._third, np.stack([_products(squares[i], u[k]) for i, k in products]), -1.0),
        )
        self._keep(a, b, tables)


# -- other linearised statistics ---------------------------------------------------------------------------------------


def statistic_spreads(statistics: Sequence[AveragedStatistic], a: Places, b: Places, units: Units) -> PairSpreads:
    """Spreads of statistic a minus statistic b for pairs ``(P,)`` of defined statistics.

    Without skewness and without a guard for few runs, which tests of linearised statistics do not have.
    """
    used, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    statistics = [statistics[k] for k in used.tolist()]
    a, b = np.split(places.reshape(-1), 2)
    variance, dof, alone = np.zeros(a.size), np.zeros(a.size), np.ones(a.size, dtype=bool)
    if a.size > 1 and (found := _by_products(statistics, a, b, units)) is not None:
        variance, dof, alone = found
    for k in np.flatnonzero(alone).tolist():
        spread = spread_of_difference(statistics[a[k]], statistics[b[k]], units)
        variance[k], dof[k] = spread.standard_error**2, spread.dof
    values = np.array([one.whole.value for one in statistics])
    counts = np.array([one.values.size for one in statistics])
    among = np.array([one.values.var(ddof=1) / one.values.size if one.values.size > 1 else 0.0 for one in statistics])
    run_dofs = np.maximum(counts - 1.0, 1.0)
    one = np.ones(a.size)
    return PairSpreads(
        difference=values[a] - values[b],
        equal=one < 0,
        scale=one,
        inside=variance,
        third=0.0 * one,
        dof=dof,
        independent=units.n_units * one,
        between=np.stack([among[a], among[b]]),
        run_dofs=np.stack([run_dofs[a], run_dofs[b]]),
        run_limits=np.ones((2, a.size)),
        several=(counts[a] > 1) | (counts[b] > 1),
        regular=one > 0,
    )


def _by_products(
    statistics: Sequence[AveragedStatistic], a: Places, b: Places, units: Units
) -> tuple[Floats, Floats, NDArray[np.bool_]] | None:
    """Variances, degrees of freedom, and the pairs that need `spread_of_difference`; None where parts differ.

    The variance of a difference is Σ (u − v)² over the influences u and v of the units. All pairs of J statistics need the
    J × J products Σ u v, which one matrix product gives, and Σ u³ v and Σ u² v² for degrees of freedom from the fourth
    moment. Where u and v are so similar that such a sum would cancel, the differences themselves are summed.
    """
    sums = [one.sums or _whole_sums(one.whole, units) for one in statistics]
    kinds = {(one.whole.imaginary, *(p.stratum for p in parts)) for one, parts in zip(statistics, sums, strict=True)}
    strata = [part.stratum for part in sums[0]]
    if len(kinds) > 1 or not strata or len(strata) > len(set(strata)):
        return None
    uneven = np.array([one.whole.uneven for one in statistics])
    found = _influence_products(sums, units.n_units, moments=bool(uneven.any()))
    imaginary = statistics[0].whole.imaginary
    apart, cancelled = _apart(found.whole, a, b)
    extra, between, weighted, spare = (np.zeros(a.size) for _ in range(4))
    for p, product in enumerate(found.parts):
        square, dof, hidden, count = (
            np.array([getattr(parts[p], name) for parts in sums]) for name in ("square", "dof", "hidden", "count")
        )
        own, lost = _apart(product, a, b)
        shadow = imaginary * (hidden[a] - hidden[b]) ** 2
        both, inverse = square[a] + square[b], square / np.maximum(dof, LEAST_DOF)
        weighted += (own + shadow) ** 2 * np.divide(inverse[a] + inverse[b], both, out=np.zeros(a.size), where=both > 0)
        between += own + shadow
        extra += shadow
        spare += count[a] + count[b] - 2
        cancelled |= lost
    dof = np.maximum(spare, LEAST_DOF)
    np.divide(between**2, weighted, out=dof, where=(between > 0) & (weighted > 0))
    dof = np.where(uneven[a] | uneven[b], np.minimum(dof, _uneven_dof(found, apart, a, b, units.n_units)), dof)
    # an instance may be in parts of several strata, whose covariance is in the square of the sum alone
    return apart + extra, dof, cancelled | ~(weighted > 0)


def _whole_sums(statistic: Linearised, units: Units) -> Sums:
    """A statistic without parts as one part of all units; none where units are not alike."""
    if statistic.parts or not is_plain(units):
        return ()
    n = units.n_units
    sums = statistic.influence * (sample_factor(n) ** 0.5 / n)
    return (PartSum(0, sums, 0.0, sum_of_squares(sums), n - 1.0, float(n)),)


class _Products(NamedTuple):
    """Σ u v over the units for each part and for the sums of all parts, and of these Σ u³ v and Σ u² v², (J, J) each."""

    parts: Floats
    whole: Floats
    cubes: Floats
    squares: Floats


def _influence_products(sums: Sequence[Sums], n_units: int, *, moments: bool) -> _Products:
    j = len(sums)
    parts = np.zeros((len(sums[0]), j, j))
    whole, cubes, squares = np.zeros((3, j, j))
    step = max(CELLS // j, 256)
    for start in range(0, n_units, step):
        total = np.zeros((j, min(step, n_units - start)))
        for p, product in enumerate(parts):
            u = np.stack([own[p].sums[start : start + step] for own in sums])
            product += row_products(u, u)
            total += u
        whole += row_products(total, total)
        if moments:
            square = total * total
            squares += row_products(square, square)
            cubes += row_products(square * total, total)
    return _Products(parts, whole, cubes, squares)


def row_products(u: Floats, v: Floats) -> Floats:
    """u v' without BLAS, whose last bits depend on the number of its threads."""
    products = kernel("row_products")
    if products is not None:
        return np.asarray(products(u, v))
    blocks = (slice(start, start + CACHED) for start in range(0, u.shape[1], CACHED))
    return np.asarray(sum(np.einsum("in,jn->ij", u[:, block], v[:, block]) for block in blocks))


def _apart(product: Floats, a: Places, b: Places) -> tuple[Floats, NDArray[np.bool_]]:
    """Σ (u − v)² of pairs from Σ u v, and where too much of it cancels."""
    own = np.diagonal(product)
    both = own[a] + own[b]
    found = np.maximum(both - 2 * product[a, b], 0.0)
    return found, (found < CANCELLED * both)


def _uneven_dof(found: _Products, apart: Floats, a: Places, b: Places, count: int) -> Floats:
    """`uneven_dof` of u − v, with its fourth moment from products."""
    fourth = np.diagonal(found.squares)
    moment = fourth[a] + fourth[b] + 6 * found.squares[a, b] - 4 * (found.cubes[a, b] + found.cubes[b, a])
    second = apart**2
    excess = moment - second / count
    dof = np.full(a.size, np.inf)
    np.divide(2 * second, excess, out=dof, where=excess > 0)
    return np.maximum(dof, LEAST_UNEVEN_DOF)
