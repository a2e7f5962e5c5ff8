"""Paired tests of means and of other statistics, for one pair or for all pairs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import as_numeric, generator
from uqassay.checks import is_number
from uqassay.errors import InputError
from uqassay.native import kernel
from uqassay.notes import Note, distinct
from uqassay.one_order import in_one_order
from uqassay.statistics.adjustments import benjamini_hochberg, shaffer, shaffer_factor
from uqassay.statistics.estimate import Estimate, mean_estimate, run_means, sign_flip_pvalue, single_unit, unit_notes
from uqassay.statistics.linearised import (
    LEAST_DOF,
    LEAST_UNEVEN_DOF,
    AveragedStatistic,
    Linearised,
    PartSum,
    Runs,
    Sums,
    centre_of,
    is_plain,
    sample_factor,
    scaled_interval,
    spread_of_difference,
    sum_of_squares,
)
from uqassay.statistics.units import (
    Floats,
    Spread,
    Units,
    as_floats,
    as_runs,
    bell_mccaffrey,
    check_choice,
    check_draws,
    check_inside,
    check_level,
    make_units,
    spread_of_mean,
    working_variances,
)
from uqassay.text import counted

__all__ = [
    "MOST_SIZES",
    "POWER",
    "DetectableDifference",
    "GroupMoments",
    "MarginTest",
    "MeanLines",
    "PairMoments",
    "PairSample",
    "PairedComparison",
    "PairwiseComparisons",
    "agreeing_comparisons",
    "agreeing_pvalues",
    "check_margin",
    "checked_bound",
    "detectable_difference",
    "detectable_differences",
    "greatest",
    "margin_tests",
    "margins_tested",
    "mean_estimates",
    "no_worse_than_best",
    "noncentrality",
    "paired_margin_test",
    "paired_mean_test",
    "paired_statistic_test",
    "pairs_tested",
    "pairwise_mean_tests",
    "pairwise_statistic_tests",
]


# Moments of the differences of all pairs of models, by which means that are linear in a coefficient need one pass.

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


# Moments of the differences of pairs of models over groups of instances, by the sizes of the groups.

# Differences that are held at once: a block stays in the cache.
_GROUP_CELLS = 2**17

MOST_SIZES = 64  # distinct sizes of groups; with more, a sum by sizes saves nothing


class GroupMoments:
    """Moments of the differences of J models in one or two columns, of each pair when it is first asked for.

    All groups of one size have the same factor in the variance, so that their squares are summed once.

    Parameters
    ----------
    columns : sequence of C = 1 or 2 sequences of J arrays (n,)
        Finite values, but for models that are in no pair; the rows of a group lie together.
    starts : int array (G,)
        First row of each group.
    """

    def __init__(self, columns: Sequence[Sequence[Floats]], starts: NDArray[np.intp]) -> None:
        self._columns, self._starts = columns, starts
        j, self._n = len(columns[0]), columns[0][0].size
        members = np.diff(np.append(starts, self._n))
        self._by_size = np.argsort(members, kind="stable")
        self._sizes, firsts, self._counts = np.unique(members[self._by_size], return_index=True, return_counts=True)
        self._firsts = firsts
        self._fellows = np.repeat(members - 1.0, members)  # of each instance in its group
        self._terms = [(0, 0)] if len(columns) == 1 else [(0, 0), (0, 1), (1, 1)]
        with np.errstate(invalid="ignore"):
            self._scales = np.array([[max(x.max(), -x.min(), 0.0) for x in column] for column in columns])
        c, t = len(columns), len(self._terms)
        self._known = np.zeros((j, j), dtype=bool)
        self._first = np.zeros((c, j, j))  # mean differences
        self._alone, self._pairs = np.zeros((t, j, j)), np.zeros((t, j, j))  # Σ e², Σ (n_g − 1) e² over the instances
        self._second = np.zeros((t, j, j, self._sizes.size))  # Σ u² over the groups of each size
        self._third = np.zeros((t + c - 1 if c == 2 else 1, j, j))  # Σ u³ over the groups

    def spread(self, coefficients: ArrayLike, a: NDArray[np.intp], b: NDArray[np.intp]) -> MomentSpread:
        """Spread of the combined differences of model a minus model b, for pairs ``(P,)``.

        The coefficients are ``(C,)``, or ``(C, P)``, those of each pair.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # which is not reliable then
            self._learn(a, b)
            return self._spread(of_pairs(coefficients, a.size), a, b)

    def _spread(self, t: Floats, a: NDArray[np.intp], b: NDArray[np.intp]) -> MomentSpread:
        quadratic = np.stack([t[i] * t[k] if i == k else 2 * t[i] * t[k] for i, k in self._terms])  # (T, P)
        alone, pairs = ((quadratic * table[:, a, b]).sum(axis=0) for table in (self._alone, self._pairs))
        second = (quadratic[..., np.newaxis] * self._second[:, a, b]).sum(axis=0)  # (P, S)
        third = self._third[:, a, b]
        cubes = t[0] ** 3 * third[0]
        if len(t) == 2:
            cubes += 3 * t[0] * t[1] * (t[0] * third[1] + t[1] * third[2]) + t[1] ** 3 * third[3]
        squares, sizes, weight = second.sum(axis=1), self._sizes.astype(np.float64), float(self._n)
        excess = squares - alone
        rho = np.clip(np.divide(excess, pairs, out=np.zeros(a.size), where=pairs > 0), 0.0, 1.0)[:, np.newaxis]
        tau = (1 - rho) * sizes + rho * sizes**2
        factors, dof = bell_mccaffrey(tau, sizes, self._counts)
        scale = (np.abs(t) * np.maximum(self._scales[:, a], self._scales[:, b])).sum(axis=0)
        own = [k for k, (i, j) in enumerate(self._terms) if i == j]
        by_instance, by_group = (
            (quadratic[own] * table[own][:, a, b]).sum(axis=0) for table in (self._alone, self._second.sum(axis=-1))
        )
        reliable = is_reliable(alone, by_instance, self._n, scale)
        reliable &= is_reliable(squares, by_group, self._n, scale)
        return MomentSpread(
            mean=(t * self._first[:, a, b]).sum(axis=0),
            inside=(factors * second).sum(axis=1) / weight**2,
            third=cubes / weight**3,
            dof=dof,
            independent=weight**2 / (tau @ self._counts),
            reliable=reliable,
        )

    def _learn(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> None:
        new = ~self._known[a, b]
        a, b = a[new], b[new]
        step = max(1, _GROUP_CELLS // self._n)
        for i in range(0, a.size, step):
            self._learn_pairs(a[i : i + step], b[i : i + step])

    def _learn_pairs(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> None:
        e = np.empty((len(self._columns), a.size, self._n))
        for column, apart in zip(self._columns, e, strict=True):
            for row, i, k in zip(apart, a.tolist(), b.tolist(), strict=True):
                np.subtract(column[i], column[k], out=row)
        first = e.mean(axis=2)
        e -= first[..., np.newaxis]
        u = np.add.reduceat(e, self._starts, axis=2)[..., self._by_size]  # (C, P, G)
        squares = np.stack([u[i] * u[k] for i, k in self._terms])
        products = [(0, 0)] if len(e) == 1 else [(0, 0), (0, 1), (2, 0), (2, 1)]  # xxx, xxy, yyx, yyy
        tables = (
            (self._first, first, -1.0),
            (self._alone, np.stack([np.einsum("pn,pn->p", e[i], e[k]) for i, k in self._terms]), 1.0),
            (self._pairs, np.stack([np.einsum("pn,pn,n->p", e[i], e[k], self._fellows) for i, k in self._terms]), 1.0),
            (self._second, np.add.reduceat(squares, self._firsts, axis=2), 1.0),
            (self._third, np.stack([np.einsum("pg,pg->p", squares[i], u[k]) for i, k in products]), -1.0),
        )
        for table, value, sign in tables:
            table[:, a, b], table[:, b, a] = value, sign * value
        self._known[a, b] = self._known[b, a] = True


# Differences of the means of pairs of models, with their variances and skewness, at any combination of columns.

# Differences of the pairs that are held at once: a block stays in the cache.
_SPREAD_CELLS = 2**17

# One minus the level of the upper limits of run variances, of three runs or more and of two.
_LIMIT, _LIMIT_OF_TWO = 0.8, 0.9


class PairSpreads(NamedTuple):
    """Differences of P pairs of means and their spread, (P,) each unless stated."""

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


class PairSample:
    """Columns of several models on the same instances, whose combinations are compared in pairs.

    Parameters
    ----------
    runs : sequence of J sequences of C arrays (R_j, n)
        Without the instances of weight zero.
    units : Units
    """

    def __init__(self, runs: Sequence[Sequence[Floats]], units: Units) -> None:
        self.units = units
        self._sizes = units.sizes
        with np.errstate(invalid="ignore"):
            averaged = [[_average(column) for column in model] for model in runs]  # J × C of (n,)
            self.means = np.array([[units.mean(column) for column in model] for model in averaged])  # (J, C)
            self._run_means = [np.array([[units.mean(x) for x in column] for column in model]) for model in runs]
        self.finite = np.array([all(bool(np.isfinite(column).all()) for column in model) for model in runs])
        self._weights, self._starts = units.weights, None
        order: NDArray[np.intp] | slice = slice(None)
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

    def spreads(self, coefficients: ArrayLike, a: NDArray[np.intp], b: NDArray[np.intp]) -> PairSpreads:
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

    def _run_errors(self, t: Floats, places: NDArray[np.intp]) -> Floats:
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

    def _of_runs(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> dict[str, NDArray]:
        return {
            "run_dofs": np.stack([self._run_dofs[a], self._run_dofs[b]]),
            "run_limits": np.stack([self._run_limits[a], self._run_limits[b]]),
            "several": self._several[a] | self._several[b],
        }

    # -- from the instances ----------------------------------------------------------------------------------------------

    def _direct(self, t: Floats, a: NDArray[np.intp], b: NDArray[np.intp], run_errors: Floats) -> PairSpreads:
        """In blocks of pairs of the same coefficients."""
        step = max(1, _SPREAD_CELLS // self.units.n_instances)
        new = np.flatnonzero((t[:, 1:] != t[:, :-1]).any(axis=0)) + 1
        alike = np.split(np.arange(a.size), new)
        blocks = [pairs[i : i + step] for pairs in alike for i in range(0, max(pairs.size, 1), step)]
        found = [self._block(t[:, s], a[s], b[s], run_errors[:, s]) for s in blocks]
        return PairSpreads(*(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True)))

    def _combined(self, coefficients: Floats, j: int) -> Floats:
        """Combination of the columns of one model, (n,)."""
        terms = [t * column[j] for t, column in zip(coefficients.tolist(), self._columns, strict=True) if t != 0]
        return sum(terms[1:], start=terms[0]) if terms else np.zeros(self.units.n_instances)

    def _block(self, t: Floats, a: NDArray[np.intp], b: NDArray[np.intp], run_errors: Floats) -> PairSpreads:
        # differences first: expanding their moments into those of the models would cancel
        models = {j: self._combined(t[:, 0], j) for j in np.union1d(a, b).tolist()}
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
        if self._starts is None:
            if self._weights is None:
                return g / (g - 1), np.full(p, g - 1.0), np.full(p, float(g))
            tau = working_variances(self.units, 0.0)
        else:
            counts = np.diff(np.append(self._starts, self.units.n_instances))
            scale = np.abs(weighted).max(axis=1, keepdims=True)
            e2 = (weighted / np.where(scale > 0, scale, 1.0)) ** 2
            s2 = (sums / np.where(scale > 0, scale, 1.0)) ** 2
            pairs = e2 @ np.repeat(counts - 1.0, counts)
            excess = s2.sum(axis=1) - e2.sum(axis=1)
            rho = np.clip(np.divide(excess, pairs, out=np.zeros(p), where=pairs > 0), 0.0, 1.0)
            tau = working_variances(self.units, rho)
        a, dof = bell_mccaffrey(tau, self._sizes)
        independent = self._sizes.sum() ** 2 / tau.sum(axis=-1)
        return a, np.broadcast_to(dof, p), np.broadcast_to(independent, p)


def _average(runs: Floats) -> Floats:
    return runs[0] if len(runs) == 1 else runs.mean(axis=0)


def satterthwaite(inside: Floats, dof: Floats, between: Floats, run_dofs: Floats) -> Floats:
    """Degrees of freedom of a variance between units (P,) plus those of the runs of two models (2, P)."""
    variance = inside + between.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = variance**2 / (inside**2 / dof + (between**2 / run_dofs).sum(axis=0))
    return np.where(variance > 0, found, dof)


# The smallest differences that tests of pairs could have shown, and how much data would show those observed.

POWER = 0.8
MOST = 1e6  # times the instances or runs that there are: the search stops here
STEPS, CLOSE = 30, 1e-7  # of the search, and the logarithm of a ratio of numbers that are the same
HALVINGS_OF_FACTOR = 12  # of at most GREATEST: to a tenth of a per cent
GREATEST = 5.0
NODES = 32  # quantiles of an unknown standard error
# degrees of freedom from which a standard error is taken as true, and the normal approximation as exact
WELL_KNOWN = 200.0


@final
@dataclass(frozen=True, slots=True)
class DetectableDifference:
    """The smallest difference that a paired test of two means, or of two other statistics, could have shown.

    Attributes
    ----------
    difference : float
        A true difference of this size is shown by the test with probability `power`. Infinite: no difference could be shown,
        whatever its size. nan: there is no test.
    power, level : float
        The test is two-sided at 1 − level.
    observed : float
        The difference that was found.
    instances, times_runs : float
        How many instances, with the same runs, or how many times the runs of each model, with the same instances, show a true
        difference of the size observed with this power; infinite where no number does. They are not fewer than there are.
    groups : float
        How many groups the instances are, if they come in groups as they do here; nan without groups.
    """

    difference: float
    power: float
    level: float
    observed: float
    instances: float
    times_runs: float
    groups: float = nan


def detectable_of_pairs(
    spreads: PairSpreads,
    extra: Floats | float,
    bound: Floats,
    *,
    alphas: Sequence[float],
    power: float,
    sizes: tuple[int, int | None],
    plans: bool = True,
) -> list[DetectableDifference]:
    """`detectable_difference` of P pairs, each at its own level; for use inside this room.

    Parameters
    ----------
    spreads : PairSpreads
    extra : array (P,) or float
        Standard errors of another source.
    bound : array (P,)
        Greatest excess of either model.
    alphas : sequence of P float
    power : float
    sizes : tuple of int
        Numbers of instances, and of groups or None.
    plans : bool
        Whether the numbers of instances and runs are found, too; else they are nan.
    """
    alpha, n, g = np.asarray(alphas, dtype=np.float64), *sizes
    extra = np.broadcast_to(np.asarray(extra, dtype=np.float64), alpha.shape)
    one = np.ones(alpha.size)
    smallest = _smallest(spreads, extra, bound, alpha, power, one, one)
    goal = np.abs(spreads.difference)

    def needed(of_runs: bool) -> Floats:
        """The factor by which instances or runs grow until the observed difference is the smallest one."""

        def excess(x: Floats) -> Floats:
            factor = np.exp(x)
            units, runs = (one, factor) if of_runs else (factor, one)
            found = _smallest(spreads, extra, bound, alpha, power, units, runs)
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(found) - np.log(goal))

        few, many = 0.0 * one, np.log(MOST) * one
        first, last = excess(few), excess(many)
        factor = np.exp(_root(excess, few, many, first, last))
        return np.where(np.isnan(first), nan, np.where(first <= 0, 1.0, np.where(last <= 0, factor, inf)))

    none = np.full(alpha.size, nan)
    instances = needed(False) if plans else none
    runs = np.where(spreads.several, needed(True), nan) if plans and spreads.several.any() else none
    return [
        DetectableDifference(
            difference=float(d),
            power=power,
            level=float(1 - a),
            observed=float(o),
            instances=_whole(i * n),
            times_runs=float(r),
            groups=nan if g is None else _whole(i * g),
        )
        for d, a, o, i, r in zip(smallest, alpha, spreads.difference, instances, runs, strict=True)
    ]


def _root(excess: Callable[[Floats], Floats], low: Floats, high: Floats, above: Floats, below: Floats) -> Floats:
    """Zeros of falling functions, (P,), between places where they are positive and negative (Illinois)."""
    place, before = high, np.full(high.size, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(STEPS):
            place = high - below * (high - low) / (below - above)
            place = np.where((place > low) & (place < high), place, (low + high) / 2)
            found = excess(place)
            if not ((np.abs(found) > CLOSE) & (high - low > CLOSE)).any():
                break
            positive = found > 0
            again = positive == before  # the same end moves twice: the other one counts half
            above = np.where(positive, found, np.where(again, above / 2, above))
            below = np.where(positive, np.where(again, below / 2, below), found)
            low, high, before = np.where(positive, place, low), np.where(positive, high, place), positive
    return place


def smallest_differences(spreads: PairSpreads, *, alpha: float, power: float = POWER) -> Floats:
    """The differences of `detectable_of_pairs` at one level, (P,), without another source of errors and without a bound."""
    one = np.ones(spreads.difference.size)
    return _smallest(spreads, 0.0 * one, 0.0 * one, alpha * one, power, one, one)


def _whole(number: float) -> float:
    return float(np.ceil(number - 1e-9)) if number < inf else float(number)


def _smallest(
    s: PairSpreads,
    extra: Floats,
    bound: Floats,
    alpha: Floats,
    power: float,
    units: Floats,
    runs: Floats,
) -> Floats:
    """Smallest differences with so many times the units and the runs, (P,)."""
    inside, between = s.inside / units, s.between / runs
    dof, run_dofs = np.maximum(s.dof * units, 1.0), np.maximum((s.run_dofs + 1) * runs - 1, 1.0)
    variance = inside + between.sum(axis=0) + (extra / s.scale) ** 2
    known = nu = satterthwaite(inside, dof, between, run_dofs)
    if s.several.any():
        limits = 1 + (s.run_limits - 1) / np.sqrt(runs)  # towards 1, as a variance is known better
        nu = np.minimum(nu, satterthwaite(inside, dof, limits * between, run_dofs))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        error = s.scale * np.sqrt(variance)
        skewness = np.where(variance > 0, s.third / units**2 / variance**1.5, 0.0)
        q = special.stdtrit(nu, 1 - alpha / 2)
        threshold = np.maximum(q, np.maximum(_hall_inverse(q, skewness), -_hall_inverse(-q, skewness)))
        losses = np.where(bound > 0, bound * np.expm1(-np.log(alpha) / (s.independent * units)), 0.0)
        reach = np.where(error > 0, noncentrality(threshold, nu, power, known) * error, 0.0)
        return np.asarray(np.maximum(reach, losses + np.where(losses > 0, special.ndtri(power) * error, 0.0)))


def noncentrality(threshold: Floats, dof: Floats, power: float, known: Floats | None = None) -> Floats:
    """Noncentrality with which a noncentral t exceeds a threshold with this power. For use inside this room.

    Parameters
    ----------
    threshold, dof : arrays (P,)
    power : float
    known : array (P,), optional
        Degrees of freedom of the standard error s that the noncentrality is a multiple of. The true one is s √(ν/χ²) with a χ²
        of ν degrees of freedom, and the power is the mean over it. By default s is taken as true.

    Examples
    --------
    >>> threshold, dof = np.array([1.96, 4.3]), np.array([1e6, 2.0])
    >>> noncentrality(threshold, dof, 0.8).round(2).tolist(), noncentrality(threshold, dof, 0.8, dof).round(2).tolist()
    ([2.8, 5.65], [2.8, 8.69])
    """
    # Johnson and Welch's normal approximation: exact enough for a ratio, and defined everywhere
    centre, spread = threshold * (1 - 1 / (4 * dof)), np.sqrt(1 + threshold**2 / (2 * dof))
    rough = centre + special.ndtri(power) * spread
    exact, few = rough.copy(), dof <= WELL_KNOWN
    found = special.nctdtrinc(dof[few], 1 - power, threshold[few])
    exact[few] = np.where(np.isfinite(found) & (found > 0), found, rough[few])
    if known is None or (known > WELL_KNOWN).all():
        return exact
    places = (np.arange(NODES) + 0.5) / NODES
    ratio = np.sqrt(special.chdtri(known[:, np.newaxis], places) / known[:, np.newaxis])  # s / σ, (P, NODES)
    low, high = np.zeros(rough.size), np.full(rough.size, GREATEST)  # of the factor, as its logarithm
    for _ in range(HALVINGS_OF_FACTOR):
        middle = (low + high) / 2
        shown = special.ndtr(
            ((rough * np.exp(middle))[:, np.newaxis] * ratio - centre[:, np.newaxis]) / spread[:, np.newaxis]
        )
        enough = shown.mean(axis=1) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(known > WELL_KNOWN, exact, exact * np.exp((low + high) / 2))


def _hall_inverse(y: Floats, skewness: Floats) -> Floats:
    """See `samples.Spread`."""
    shifted = y - skewness / 6
    root = np.cbrt(1 + skewness * shifted)
    return np.asarray(3 * shifted / (root**2 + root + 1))


# Tests of differences of means against a margin, and what they say of a pair: better, equivalent, no worse, worse.

MarginVerdict = Literal["better", "equivalent", "no worse", "worse", "cannot tell"]


@final
@dataclass(frozen=True, slots=True)
class MarginTest:
    """Whether a mean loss is no more than a margin above another one; made by `paired_margin_test`.

    Attributes
    ----------
    difference : Estimate
        Mean of a − b with its 1 − 2α interval of Student's t, which lies inside the margins where the t tests show equivalence.
    margin : float
        δ > 0.
    pvalue_no_worse : float
        Of the hypothesis that a is worse than b by the margin or more. Rejected: a is no worse than b by more than δ.
    pvalue_no_better : float
        Of the hypothesis that b is worse than a by the margin or more.
    pvalue_difference : float
        Two-sided, of equal means, with the same guards.
    alpha : float
        1 − level.
    limited_by : str
        What keeps a from being shown no worse where Student's t alone would show it: "skewness", "unseen" losses, too few
        "runs", or "".
    n : int
    notes : tuple of Note
    """

    difference: Estimate
    margin: float
    pvalue_no_worse: float
    pvalue_no_better: float
    pvalue_difference: float
    alpha: float
    limited_by: str
    n: int
    notes: tuple[Note, ...] = ()

    @property
    def pvalue_equivalent(self) -> float:
        """Of the hypothesis that the means differ by the margin or more: the greater of both one-sided p-values."""
        return float(np.maximum(self.pvalue_no_worse, self.pvalue_no_better))

    @property
    def verdict(self) -> MarginVerdict:
        """The first of these that is shown at level α.

        "better": a has the lower mean. "equivalent": the means differ by less than the margin. "no worse": a is worse by less
        than the margin, if at all. "worse": a has the greater mean. Else "cannot tell".
        """
        apart = self.pvalue_difference <= self.alpha
        if apart and self.difference < 0:
            return "better"
        if self.pvalue_equivalent <= self.alpha:
            return "equivalent"
        if self.pvalue_no_worse <= self.alpha:
            return "no worse"
        return "worse" if apart and self.difference > 0 else "cannot tell"


class MarginPairs(NamedTuple):
    """One-sided p-values of P pairs, (P,) each."""

    student: Floats  # Student's alone
    skew: Floats  # Hall's
    runs: Floats  # Student's and Hall's with the fewer degrees of freedom of few runs
    both: Floats
    unseen: Floats

    @property
    def pvalue(self) -> Floats:
        """The greatest."""
        return np.maximum(np.maximum(self.runs, self.both), self.unseen)

    def limits(self, alpha: float) -> list[str]:
        """What alone keeps each pair from being shown."""
        lost = (self.student <= alpha) & ~(self.pvalue <= alpha)
        seen = np.where(self.runs > self.skew, "runs", "skewness")
        why = np.where(self.unseen >= np.maximum(self.runs, self.skew), "unseen", seen)
        return [str(reason) for reason in np.where(lost, why, "")]


def margins_tested(s: PairSpreads, extra: Floats, bound: Floats, margin: float) -> MarginPairs:
    """One-sided tests of a − b ≥ margin against a − b < margin, for P pairs; for use inside this room and by `evidence`.

    Parameters
    ----------
    s : PairSpreads
    extra : array (P,)
        Standard errors of another source.
    bound : array (P,)
        Greatest excess of a over b on one instance; 0 for no guard.
    margin : float
        May be negative or 0.
    """
    d = s.difference
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        variance = s.variance + (extra / s.scale) ** 2
        error = s.scale * np.sqrt(variance)
        still = ((error == 0) | (s.equal & ~s.several)) & (extra == 0)
        t = np.where(still, np.where(d == margin, 0.0, np.copysign(np.inf, d - margin)), (d - margin) / error)
        skewness = np.where(still, 0.0, s.third / variance**1.5)
        g = t * (1 + skewness * t / 3 * (1 + skewness * t / 9)) + skewness / 6
        g = np.where(np.isfinite(t), g, t)
        gap = margin - d
        # a share q of instances with the excess B, of which n independent ones show nothing: q ≥ (margin − d)/(B − d)
        shown = np.exp(s.independent * (np.log(np.maximum(bound - margin, 0.0)) - np.log(bound - d)))
        shown = np.where(np.isinf(bound), 1.0, shown)
    dof = s.total_dof
    careful = dof
    if s.several.any():
        careful = np.minimum(dof, satterthwaite(s.inside, s.dof, s.run_limits * s.between, s.run_dofs))
    unseen = np.where(bound > 0, np.where(gap > 0, np.where(bound > margin, shown, 0.0), 1.0), 0.0)
    return MarginPairs(
        np.asarray(special.stdtr(dof, t)),
        np.asarray(special.stdtr(dof, g)),
        np.asarray(special.stdtr(careful, t)),
        np.asarray(special.stdtr(careful, g)),
        np.asarray(unseen),
    )


def check_margin(margin: float, level: float) -> float:
    """The margin, which must be a positive and finite number; the level must be above ½.

    Raises
    ------
    InputError
    """
    if not level > 0.5:
        raise InputError(
            "level", "must be above 0.5 where a margin is given", f"got {level}", "pass 0.95 for 95 %", code="range"
        )
    if not (is_number(margin) and 0.0 < margin < np.inf):
        raise InputError(
            "margin",
            "must be a positive number",
            f"got {margin!r}",
            "pass the greatest difference that does not matter, in units of the loss",
            code="range",
        )
    return float(margin)


def checked_bound(bound: float) -> float:
    """A bound, which must be a number that is not negative. For use inside this room.

    Raises
    ------
    InputError
    """
    if not (is_number(bound) and bound >= 0):
        raise InputError("bound", "must not be negative", f"got {bound!r}", "pass the loss's range", code="range")
    return float(bound)


# Paired tests of two means, and the results of paired tests.

_METHODS = ("student-t", "permutation")


@final
@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Result of a paired test of two means.

    Attributes
    ----------
    difference : Estimate
        Mean of a − b with its confidence interval, which is Student's t for permutation tests too.
    statistic : float
        t statistic of the difference.
    pvalue : float
        Two-sided; nan where a note says why.
    method : str
    n : int
        Number of instances.
    notes : tuple of Note
    margin : MarginTest or None
        Whether the difference is below a margin, where one was given.
    detectable : DetectableDifference or None
        The smallest difference that these instances could have shown; of `Assay.compare` and of tests of rankings.
    """

    difference: Estimate
    statistic: float
    pvalue: float
    method: str
    n: int
    notes: tuple[Note, ...] = ()
    margin: MarginTest | None = None
    detectable: DetectableDifference | None = None

    def reject(self, alpha: float = 0.05) -> bool:
        """True if equal means are rejected at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)


@final
@dataclass(frozen=True, eq=False)
class PairwiseComparisons:
    """Paired tests of all pairs of several values on the same instances.

    Attributes
    ----------
    names : tuple of str, length J
    values : array (J,)
    difference, low, high : array (J, J)
        Value of the row minus value of the column, with the interval of Student's t, which is not adjusted.
    pvalue : array (J, J)
        Two-sided and unadjusted. nan on the diagonal and where a note says why.
    adjusted : array (J, J)
        By Shaffer's procedure, for the number of pairs: the probability of any false rejection is below α.
    benjamini_hochberg : array (J, J)
        Adjusted for the false discovery rate instead.
    level : float
    limited_by : array of str (J, J)
        What keeps a pair from being significant at 1 − level where `paired_mean_test` alone would make it so: "skewness",
        "unseen" losses or too few "runs", see `pairwise_mean_tests`; "" elsewhere.
    references : tuple of str
        Members that are not compared with each other.
    notes : tuple of Note
    detectable : array (J, J) or None
        The smallest true difference that the adjusted test of a pair that is not rejected shows with probability 0.8; nan where
        there is no test. Of rankings alone.
    """

    names: tuple[str, ...]
    values: Floats
    difference: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    adjusted: Floats
    benjamini_hochberg: Floats
    level: float
    limited_by: NDArray[np.str_]
    references: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    detectable: Floats | None = None

    def reject(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Pairs whose difference is significant at family-wise level alpha, ``(J, J)``."""
        check_alpha(alpha)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.adjusted <= alpha)


@in_one_order("a", "b", "groups", "sample_weight", axes={"a": -1, "b": -1})
def paired_mean_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "student-t",
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> PairedComparison:
    """Test whether two models have the same mean on the same instances.

    Parameters
    ----------
    a, b : array_like, shape (n,) or (R, n)
        Values of the two models per instance; (R, n) for R training runs of a model. The two models may have
        different numbers of runs, which are taken as independent.
    groups, sample_weight
        As in `mean_estimate`.
    level : float
        Confidence level of the interval of the difference.
    method : {"student-t", "permutation"}
        "student-t": the paired t test, cluster-robust with groups. "permutation": a sign-flip test, which flips the
        signs of the differences (of whole groups) at random. It is exact if the differences are symmetric about zero
        under the null hypothesis, and takes one run per model.
    n_draws : int
        Number of sign flips B; the p-value is (1 + count) / (1 + B).
    rng : int or numpy Generator, optional
        For "permutation"; None means seed 0.

    Returns
    -------
    result : PairedComparison
        If all differences are zero, the statistic is 0 and the p-value 1. With one instance, one group or infinite
        values the statistic, the p-value and the interval are nan, and a note gives the reason.

    Raises
    ------
    InputError
        As `mean_estimate`; also when a and b differ in n, or for "permutation" with several runs.

    Notes
    -----
    The variance is the variance of the mean difference of the run-averaged values, plus s²/R between the runs of each
    model. It is too large by the interaction of runs and instances.

    The type-I error is nominal, except for skewed differences in small samples: 7.5 % at nominal 5 % for exponential
    differences and n = 30 (docs/measured-coverage.md).

    Hall's transformation is not offered here. It helps with skewed differences but does harm with symmetric heavy-tailed
    differences, which two good models on the same instances give.

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter 3 (sign flips).
    Phipson, Smyth (2010), Permutation p-values should never be zero (the added 1).

    Examples
    --------
    >>> result = paired_mean_test([0.1, 0.4, 0.2, 0.3], [0.3, 0.5, 0.5, 0.4])
    >>> round(float(result.difference), 3), round(result.statistic, 3), round(result.pvalue, 4)
    (-0.175, -3.656, 0.0354)
    >>> result.reject(0.05), result.reject(0.01)
    (True, False)
    """
    check_level(level)
    check_choice(method, "method", _METHODS)
    check_draws(n_draws)
    first, second = as_runs(a, "a"), as_runs(b, "b")
    if first.shape[1] != second.shape[1]:
        raise InputError(
            "b",
            "must hold the same instances as a",
            f"got {second.shape[1]} against {first.shape[1]}",
            "align them first",
            code="mismatch",
        )
    several = first.shape[0] > 1 or second.shape[0] > 1
    if method == "permutation" and several:
        raise InputError(
            "method",
            "'permutation' takes one run per model, because sign flips do not include the variation between runs",
            f"got {first.shape[0]} and {second.shape[0]} runs",
            "use 'student-t' or test the runs one by one",
            code="conflict",
        )
    units = make_units(first.shape[1], groups, sample_weight)
    first, second = units.keep(first), units.keep(second)
    notes = unit_notes(units, [first.shape[0], second.shape[0]] if np.ndim(a) == 2 or np.ndim(b) == 2 else [])
    n = units.n_instances

    infinite = int((np.isinf(first).any(axis=0) | np.isinf(second).any(axis=0)).sum())
    with np.errstate(invalid="ignore"):
        differences = first.mean(axis=0) - second.mean(axis=0)  # (n,)
        value = units.mean(differences)
    low = high = statistic = pvalue = np.nan
    if infinite:
        with np.errstate(invalid="ignore"):
            value = units.mean(first.mean(axis=0)) - units.mean(second.mean(axis=0))
        notes.append(Note("no-test", f"infinite values in {infinite} of {n} instances: no interval and no test"))
    elif units.n_units == 1:
        notes.append(single_unit(units, "no interval and no test", "no-test"))
    else:
        spread = spread_of_mean(differences - value, units, [run_means(first, units), run_means(second, units)])
        if spread.standard_error == 0.0 or (not several and (differences == differences[0]).all()):
            value = low = high = float(differences[0]) if (differences == differences[0]).all() else value
            statistic = 0.0 if value == 0.0 else np.copysign(np.inf, value)
            notes.append(Note("no-width", "all differences are equal"))
        else:
            low, high = spread.interval(value, level, "student-t")
            statistic = value / spread.standard_error
        if method == "permutation":
            pvalue = sign_flip_pvalue(differences, units, n_draws, generator(rng))
        else:
            pvalue = spread.pvalue(statistic)
    difference = Estimate(value, low=low, high=high, level=level, n=n, method="student-t", notes=notes)
    return PairedComparison(difference, float(statistic), float(pvalue), method, n, difference.notes)


def check_alpha(alpha: float) -> None:
    """Raise InputError for a significance level outside (0, 1). For use inside this room."""
    if not 0.0 < alpha < 1.0:
        raise InputError(
            "alpha", "must lie strictly between 0 and 1", f"got {alpha}", "pass 0.05 for 5 %", code="range"
        )


# Pairs that two readings of the same values tell apart in the same order.


@in_one_order("first", "pvalue", "second", "second_pvalue")
def agreeing_pvalues(first: Floats, pvalue: Floats, second: Floats, second_pvalue: Floats) -> Floats:
    """p-values of two readings of the same differences; see `agreeing_comparisons`. For use by other rooms too.

    Examples
    --------
    >>> first, second = np.array([0.2, 0.2, 0.2]), np.array([0.3, -0.1, np.nan])
    >>> agreeing_pvalues(first, np.array([0.01, 0.01, 0.01]), second, np.array([0.02, 0.02, np.nan])).tolist()
    [0.02, 1.0, 0.01]
    """
    given = {"first": first, "pvalue": pvalue, "second": second, "second_pvalue": second_pvalue}
    first, pvalue, second, second_pvalue = (as_numeric(values, name) for name, values in given.items())
    alike = np.sign(first) * np.sign(second) > 0
    both = ~np.isnan(pvalue) & ~np.isnan(second_pvalue)
    return np.where(both, np.where(alike, np.fmax(pvalue, second_pvalue), 1.0), pvalue)


def agreeing_comparisons(first: PairwiseComparisons, second: PairwiseComparisons) -> PairwiseComparisons:
    """Paired tests of the first reading in which a pair is told apart only if the second one tells it apart the same way.

    A value that is only known to lie between two others has two readings, and what holds for both of them holds for the value.

    Parameters
    ----------
    first, second : PairwiseComparisons
        Of the same names. Pairs that the second one has not tested are those of the first.

    Returns
    -------
    PairwiseComparisons
        Values and differences of the first. p-value: the greater of both, and 1 where the differences have different signs, or
        one of them is 0. Interval: from the lower of both ends to the upper. Adjusted again for all pairs.

    Raises
    ------
    InputError
        When the names differ.

    Examples
    --------
    >>> from uqassay.statistics import pairwise_mean_tests
    >>> losses = {"a": [0.1, 0.4, 0.2, 0.3], "b": [0.3, 0.5, 0.5, 0.4]}
    >>> low = pairwise_mean_tests(losses)
    >>> high = pairwise_mean_tests(losses | {"a": [0.2, 0.5, 0.4, 0.4]})
    >>> [float(t.pvalue[0, 1].round(3)) for t in (low, high, agreeing_comparisons(low, high))]
    [0.035, 0.182, 0.182]
    """
    if first.names != second.names:
        raise InputError(
            "second",
            "needs the names of the first",
            f"got {', '.join(second.names)} against {', '.join(first.names)}",
            "compare the same values",
            code="mismatch",
        )
    both = ~np.isnan(first.pvalue) & ~np.isnan(second.pvalue)
    pvalue = agreeing_pvalues(first.difference, first.pvalue, second.difference, second.pvalue)
    upper = np.triu_indices(len(first.names), 1)
    discovery = np.full(pvalue.shape, np.nan)
    discovery[upper] = discovery.T[upper] = benjamini_hochberg(pvalue[upper])
    adjusted = shaffer(pvalue)
    with np.errstate(invalid="ignore"):
        limits = np.where(adjusted <= 1 - first.level, "", first.limited_by)
    return replace(
        first,
        low=np.where(both, np.fmin(first.low, second.low), first.low),
        high=np.where(both, np.fmax(first.high, second.high), first.high),
        pvalue=pvalue,
        adjusted=adjusted,
        benjamini_hochberg=discovery,
        limited_by=limits,
    )


# Tests of the differences of pairs of means: Student's, Hall's for skewed values, and what instances not seen could
# turn.


class PairTests(NamedTuple):
    """Results of P pairs, (P,) each."""

    error: Floats  # standard errors
    dof: Floats
    student: Floats  # p-values: with Satterthwaite's degrees of freedom, and with fewer for few runs
    student_of_runs: Floats
    hall: Floats
    hall_of_runs: Floats
    unseen: Floats

    @property
    def pvalues(self) -> tuple[Floats, ...]:
        """Those of each test, (P,)."""
        return (self.student, self.student_of_runs, self.hall, self.hall_of_runs, self.unseen)

    def reach(self, level: float) -> Floats:
        """Half the widths of the intervals."""
        dof = self.dof[:1] if (self.dof == self.dof[:1]).all() else self.dof
        return np.asarray(special.stdtrit(dof, 0.5 + level / 2) * self.error)


def pairs_tested(s: PairSpreads, extra: Floats, bound_a: Floats, bound_b: Floats) -> PairTests:
    """Tests of pairs, with the standard errors of another source and the greatest excess of either model, (P,) each."""
    dof, value = s.total_dof, s.difference
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = s.variance + (extra / s.scale) ** 2
        skewness = s.third / variance**1.5
        error = s.scale * np.sqrt(variance)
        still = ((error == 0) | (s.equal & ~s.several)) & (extra == 0)
        error = np.where(still, 0.0, error)
        t = np.where(still, np.where(value == 0, 0.0, np.copysign(np.inf, value)), value / error)
    skewness = np.where(still, 0.0, skewness)
    student, hall = _student(t, dof), _hall(t, dof, skewness)
    student_of_runs, hall_of_runs = student, hall
    if s.several.any():
        fewer = np.minimum(dof, satterthwaite(s.inside, s.dof, s.run_limits * s.between, s.run_dofs))
        student_of_runs, hall_of_runs = _student(t, fewer), _hall(t, fewer, skewness)
    unseen = _unseen(value, np.where(value < 0, bound_a, bound_b), s.independent)
    return PairTests(error, dof, student, student_of_runs, hall, hall_of_runs, unseen)


def greatest(*pvalues: Floats) -> Floats:
    """The greatest of several p-values that is defined."""
    found = pvalues[0]
    for p in pvalues[1:]:
        found = np.fmax(found, p)
    return found


def _student(t: Floats, dof: Floats) -> Floats:
    return np.asarray(2.0 * special.stdtr(dof, -np.abs(t)))


def _hall(t: Floats, dof: Floats, skewness: Floats) -> Floats:
    """Two-sided p-value of Hall's transform g(t) = t + kt²/3 + k²t³/27 + k/6, which is monotone."""
    with np.errstate(invalid="ignore", over="ignore"):
        g = t * (1 + skewness * t / 3 * (1 + skewness * t / 9)) + skewness / 6
    g = np.where(np.isfinite(t), g, t)
    return np.asarray(2.0 * special.stdtr(dof, -np.abs(g)))


def _unseen(difference: Floats, bound: Floats, independent: Floats) -> Floats:
    """Probability (B/(B + |d|))^n that n instances show nothing of what could turn the order around; 0 without a bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.exp(-independent * np.log1p(np.abs(difference) / bound))
    return np.where(bound > 0, np.where(difference == 0, 1.0, p), 0.0)


# Means of several models that are linear in a coefficient: their estimates and paired tests at any value of it.

PAIRS_AT_ONCE = 2**15  # of all combinations: a block of their results stays in the cache


@final
class MeanLines:
    """Means of one or two columns of several models on the same instances, in combinations t_1 x_1 + t_2 x_2.

    What the tests of all combinations share, such as the moments of the differences, is computed once.

    Parameters
    ----------
    values : dict of str to sequence of array_like, each of shape (n,) or (R_j, n)
        One or two columns of each model, such as the two terms of a loss; (R_j, n) for R_j training runs.
    groups, sample_weight
        As in `paired_mean_test`.

    Raises
    ------
    InputError
        As `paired_mean_test`; also when there is no model, or models differ in their columns.

    Examples
    --------
    >>> lines = MeanLines({"a": ([0.1, 0.4, 0.2, 0.3], [0.0, 0.1, 0.0, 0.3]), "b": ([0.3, 0.5, 0.5, 0.4], [0.0] * 4)})
    >>> [float(lines.tests((1.0, t)).pvalue[0, 1].round(3)) for t in (0.0, 1.0)]
    [0.035, 0.563]
    """

    @in_one_order("values", "groups", "sample_weight", axes={"values": -1})
    def __init__(
        self,
        values: Mapping[str, Sequence[ArrayLike]],
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self.names, runs = _models(values)
        self._groups, self._weights = groups, sample_weight
        n = runs[0][0].shape[1]
        self._runs = runs
        self._places = {name: k for k, name in enumerate(self.names)}
        self._with_runs = [any(np.ndim(column) == 2 for column in columns) for columns in values.values()]
        self._units = units = make_units(n, groups, sample_weight)
        kept = [[units.keep(column) for column in columns] for columns in runs]
        # a last model of zeros, whose differences from the others are their means
        self._sample = PairSample([*kept, [np.zeros((1, units.n_instances))] * len(runs[0])], units)

    def values(self, name: str, coefficients: Sequence[float]) -> Floats:
        """The combination of one model's columns, ``(n,)``, or ``(R, n)`` of several runs."""
        columns = self._runs[self._places[name]]
        terms = [t * column for t, column in zip(coefficients, columns, strict=True) if t != 0]
        found = sum(terms[1:], start=terms[0]) if terms else np.zeros_like(columns[0])
        return found if self._with_runs[self._places[name]] else found[0]

    # -- estimates -------------------------------------------------------------------------------------------------------

    def estimates(
        self, coefficients: Sequence[float], names: Sequence[str], *, level: float = 0.95, method: str = "student-t"
    ) -> list[Estimate]:
        """`mean_estimate` of a combination of the columns of several models; not by "bca"."""
        found = self._spreads(coefficients, names, len(self.names))
        estimates = []
        for name in names:
            if name not in found:
                values = self.values(name, coefficients)
                estimates.append(
                    mean_estimate(values, groups=self._groups, sample_weight=self._weights, level=level, method=method)
                )
                continue
            value, spread = found[name]
            low, high = spread.interval(value, level, method)
            n, notes = self._units.n_instances, self._notes([name])
            estimates.append(Estimate(value, low=low, high=high, level=level, n=n, method=method, notes=notes))
        return estimates

    def differences(
        self, coefficients: Sequence[float], names: Sequence[str], other: str, *, level: float = 0.95
    ) -> list[PairedComparison]:
        """`paired_mean_test` of a combination of the columns of several models against another model, by Student's t."""
        found = self._spreads(coefficients, names, self._places[other])
        tests = []
        for name in names:
            if name not in found:
                a, b = (self.values(one, coefficients) for one in (name, other))
                tests.append(paired_mean_test(a, b, groups=self._groups, sample_weight=self._weights, level=level))
                continue
            value, spread = found[name]
            low, high = spread.interval(value, level, "student-t")
            statistic, n, notes = value / spread.standard_error, self._units.n_instances, self._notes([name, other])
            difference = Estimate(value, low=low, high=high, level=level, n=n, method="student-t", notes=notes)
            pvalue = spread.pvalue(statistic)
            tests.append(PairedComparison(difference, statistic, pvalue, "student-t", n, difference.notes))
        return tests

    def _spreads(
        self, coefficients: Sequence[float], names: Sequence[str], other: int
    ) -> dict[str, tuple[float, Spread]]:
        """Differences of models from another one, without those that need a look at their instances."""
        finite = self._sample.finite
        if not finite[other] or self._units.n_units == 1:
            return {}
        tested = [name for name in names if finite[self._places[name]]]
        if not tested:
            return {}
        a = np.array([self._places[name] for name in tested], dtype=np.intp)
        found = self._sample.spreads(coefficients, a, np.full(a.size, other))
        variance = found.variance
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = (found.scale * np.sqrt(variance), found.total_dof, found.third / variance**1.5)
        rows = zip(
            tested, found.regular.tolist(), found.difference.tolist(), *(c.tolist() for c in columns), strict=True
        )
        return {name: (value, Spread(*spread)) for name, regular, value, *spread in rows if regular}

    def spreads(self, coefficients: Sequence[float], names: Sequence[str], other: str) -> PairSpreads:
        """Differences of models from another one, of those that can be tested; for use inside this room."""
        places, b = np.array([self._places[name] for name in names], dtype=np.intp), self._places[other]
        tested = places[self.testable(names, other)]
        return self._sample.spreads(coefficients, tested, np.full(tested.size, b))

    def testable(self, names: Sequence[str], other: str) -> NDArray[np.bool_]:
        """Which of several models can be tested against another one."""
        finite = self._sample.finite[[self._places[name] for name in (*names, other)]]
        return finite[:-1] & finite[-1] & (self._units.n_units > 1)

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Numbers of instances, and of groups or None."""
        return self._units.n_instances, None if self._units.codes is None else self._units.n_units

    def _notes(self, names: Sequence[str]) -> list[Note]:
        places = [self._places[name] for name in names]
        several = any(self._with_runs[j] for j in places)
        return unit_notes(self._units, [len(self._runs[j][0]) for j in places] if several else [])

    # -- tests of all pairs ----------------------------------------------------------------------------------------------

    def tests(
        self,
        coefficients: Sequence[float],
        *,
        names: Sequence[str] | None = None,
        level: float = 0.95,
        bound: ArrayLike | None = None,
        extra_error: ArrayLike | None = None,
        references: Sequence[str] = (),
    ) -> PairwiseComparisons:
        """`pairwise_mean_tests` of a combination of the columns.

        Parameters
        ----------
        coefficients : sequence of float
            t, one for each column.
        names : sequence of str, optional
            The models to compare, by default all.
        level, bound, extra_error, references
            As in `pairwise_mean_tests`, of these models.
        """
        names = self.names if names is None else tuple(names)
        j = len(names)
        options: dict[str, Any] = {"names": names, "level": level, "references": references}
        (found,) = self.tests_at(
            [coefficients], bounds=[_bounds(bound, j)], extra_errors=[_errors(extra_error, j)], **options
        )
        return found

    def tests_at(
        self,
        combinations: Sequence[Sequence[float]],
        *,
        names: Sequence[str],
        level: float,
        bounds: Sequence[Floats],
        extra_errors: Sequence[Floats],
        references: Sequence[str],
    ) -> list[PairwiseComparisons]:
        """`tests` of several combinations, with the bounds (J,) and errors (J, J) of each; those of all pairs at once."""
        check_level(level)
        chosen = np.array([self._places[name] for name in names], dtype=np.intp)
        finite = self._sample.finite[chosen]
        pairs = _pairs(names, references)
        if self._units.n_units == 1:
            pairs = pairs[:0]
        a, b = pairs[finite[pairs].all(axis=1)].T
        found: list[PairwiseComparisons] = []
        step = max(1, PAIRS_AT_ONCE // max(a.size, 1))
        for first in range(0, len(combinations), step):
            several = slice(first, first + step)
            t, bound, error = (np.stack(part[several]) for part in (combinations, bounds, extra_errors))
            columns = np.empty((len(t), 7, 0))
            if a.size:
                spreads = self._sample.spreads(np.repeat(t.T, a.size, axis=1), *np.tile(chosen[[a, b]], len(t)))
                tested = pairs_tested(spreads, error[:, a, b].ravel(), bound[:, a].ravel(), bound[:, b].ravel())
                tables = np.stack([spreads.difference, tested.reach(level), *tested.pvalues])
                columns = tables.reshape(len(tables), len(t), -1).swapaxes(0, 1)
            found += [
                self._comparisons(coefficients, names, chosen, (a, b), of_pairs, level, references)
                for coefficients, of_pairs in zip(t, columns, strict=True)
            ]
        return found

    def _comparisons(
        self,
        coefficients: Floats,
        names: Sequence[str],
        chosen: NDArray[np.intp],
        tested: tuple[NDArray[np.intp], NDArray[np.intp]],
        columns: Floats,
        level: float,
        references: Sequence[str],
    ) -> PairwiseComparisons:
        """Tables of one combination, from the differences, half widths and p-values of the pairs tested, (7, P)."""
        (a, b), (value, reach, *pvalues), j = tested, columns, len(names)
        finite = self._sample.finite[chosen]
        counts = [len(self._runs[k][0]) for k in chosen.tolist()]
        notes = unit_notes(self._units, counts if max(counts) > 1 else [])
        if not finite.all():
            text = f"infinite values of {int((~finite).sum())} of {j} models: no test of them"
            infinite = [name for name, f in zip(names, finite, strict=True) if not f]
            notes.append(Note("no-test", text, {"models": infinite}))
        if self._units.n_units == 1:
            notes.append(single_unit(self._units, "no interval and no test", "no-test"))
        means = self._means(coefficients, chosen)
        with np.errstate(invalid="ignore"):
            difference = np.subtract.outer(means, means)
        np.fill_diagonal(difference, 0.0)
        low, high, student, of_runs, skew, careful, p_unseen = (np.full((j, j), np.nan) for _ in range(7))
        np.fill_diagonal(low, 0.0)
        np.fill_diagonal(high, 0.0)
        difference[a, b], difference[b, a] = value, -value
        low[a, b], high[a, b], low[b, a], high[b, a] = value - reach, value + reach, -value - reach, reach - value
        for table, p in zip((student, of_runs, skew, careful, p_unseen), pvalues, strict=True):
            table[a, b] = table[b, a] = p
        pvalue = greatest(of_runs, careful, p_unseen)
        adjusted = shaffer(pvalue)
        with np.errstate(invalid="ignore"):
            lost = (shaffer(student) <= 1 - level) & ~(adjusted <= 1 - level)
            seen = np.where(of_runs > skew, "runs", "skewness")
            limits = np.where(lost, np.where(p_unseen >= np.fmax(of_runs, skew), "unseen", seen), "")
        return PairwiseComparisons(
            names=tuple(names),
            values=means,
            difference=difference,
            low=low,
            high=high,
            pvalue=pvalue,
            adjusted=adjusted,
            benjamini_hochberg=benjamini_hochberg(pvalue),  # each pair stands in the table twice, which changes nothing
            level=float(level),
            limited_by=limits,
            references=tuple(references),
            notes=tuple(notes),
        )

    def against(
        self,
        coefficients: ArrayLike,
        one: str,
        others: Sequence[str],
        *,
        bound: ArrayLike | None = None,
        extra_error: ArrayLike = 0.0,
    ) -> tuple[Floats, Floats]:
        """Means of others minus that of one model, and their p-values as in `tests`, not adjusted, ``(..., P)`` each.

        Parameters
        ----------
        coefficients : array_like (..., C)
        one, others : str, sequence of P str
        bound : array_like (..., 1 + P), optional
            As in `pairwise_mean_tests`, that of the one model first.
        extra_error : array_like (..., P)
            Standard errors that another source adds to the differences.
        """
        t = np.asarray(coefficients, dtype=np.float64)
        a, b = np.array([self._places[name] for name in others], dtype=np.intp), self._places[one]
        with np.errstate(invalid="ignore"):
            difference = self._means(t, a) - self._means(t, np.array([b]))
        shape, pvalue = difference.shape, np.full(difference.shape, np.nan)
        errors = np.broadcast_to(np.asarray(extra_error, dtype=np.float64), shape)
        bounds = np.broadcast_to(_bounds(bound, 1 + a.size, (0, 1, 2)), (*shape[:-1], 1 + a.size))
        tested = np.broadcast_to(self._sample.finite[a] & self._sample.finite[b], shape)
        if self._units.n_units > 1 and tested.any():
            places = np.broadcast_to(a, shape)[tested]
            each = np.broadcast_to(t[..., np.newaxis, :], (*shape, t.shape[-1]))[tested].T  # (C, pairs)
            spreads = self._sample.spreads(each, places, np.full(places.size, b))
            of_one = np.broadcast_to(bounds[..., :1], shape)[tested]
            found = pairs_tested(spreads, errors[tested], bounds[..., 1:][tested], of_one)
            difference[tested] = spreads.difference
            pvalue[tested] = greatest(found.student_of_runs, found.hall_of_runs, found.unseen)
        return difference, pvalue

    def _means(self, coefficients: ArrayLike, places: NDArray[np.intp]) -> Floats:
        """Means of the combinations, ``(..., J)``; a column whose coefficient is 0 may be infinite."""
        t = np.asarray(coefficients, dtype=np.float64)[..., np.newaxis]  # (..., C, 1)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(t != 0, t * self._sample.means[places].T, 0.0).sum(axis=-2))


# -- arguments ----------------------------------------------------------------------------------------------------------


def _models(values: Mapping[str, Sequence[ArrayLike]]) -> tuple[tuple[str, ...], list[list[Floats]]]:
    """Names, and the columns (R_j, n) of each model."""
    names = tuple(str(name) for name in values)
    if len(set(names)) < len(names):
        got = f"got {counted(len(set(names)), 'name')} for {len(names)} models"
        raise InputError("values", "needs a name of its own for each model", got, "rename some", code="duplicate")
    runs = [
        [as_runs(column, f"values[{name!r}]") for column in values[key]]
        for name, key in zip(names, values, strict=True)
    ]
    n, c = runs[0][0].shape[1], len(runs[0])
    for name, columns in zip(names, runs, strict=True):
        for column in columns:
            if column.shape[1] != n:
                raise InputError(
                    f"values[{name!r}]",
                    f"all models need the same {n} instances",
                    f"got {column.shape[1]}",
                    "align them first",
                    code="mismatch",
                )
        if len(columns) != c or len({len(column) for column in columns}) > 1:
            shapes = ", ".join(str(column.shape) for column in columns)
            raise InputError(
                f"values[{name!r}]",
                f"needs {counted(c, 'column')} with the same runs, as the other models have",
                f"got shapes {shapes}",
                "align them first",
                code="mismatch",
            )
    return names, runs


def _bounds(bound: ArrayLike | None, j: int, ndim: tuple[int, ...] = (0, 1)) -> Floats:
    """Checked bounds, (J,) or (..., J)."""
    if bound is None:
        return np.zeros(j)
    array = as_floats(bound, "bound", ndim=ndim, shape=f"() or ({j},)")
    if array.ndim and array.shape[-1] != j:
        raise InputError(
            "bound", f"needs one number, or one for each of {j} models", f"got {array.size}", "pass one", code="shape"
        )
    if (array < 0).any():
        raise InputError("bound", "must not be negative", f"got {array.min()}", "pass the loss's range", code="range")
    return np.broadcast_to(array, (*array.shape[:-1], j))


def _errors(extra_error: ArrayLike | None, j: int) -> Floats:
    if extra_error is None:
        return np.zeros((j, j))
    array = as_floats(extra_error, "extra_error", ndim=(2,), shape=f"({j}, {j})")
    if array.shape != (j, j):
        raise InputError(
            "extra_error",
            f"needs one number for each pair, shape ({j}, {j})",
            f"got shape {array.shape}",
            "write 0 where nothing is added",
            code="shape",
        )
    if (array < 0).any():
        raise InputError(
            "extra_error", "must not be negative", f"got {array.min()}", "pass standard errors", code="range"
        )
    return array


def _pairs(names: Sequence[str], references: Sequence[str]) -> NDArray[np.intp]:
    """The pairs to test, (P, 2)."""
    unknown = [name for name in references if name not in names]
    if unknown:
        raise InputError(
            "references", "must be among the names", f"got {unknown[0]!r}", "choose some of them", code="choice"
        )
    held = np.isin(names, list(references))
    a, b = np.triu_indices(len(names), 1)
    keep = ~(held[a] & held[b])
    return np.stack([a[keep], b[keep]], axis=1)


# The smallest difference of two means that a test set could have shown.


@in_one_order("a", "b", "groups", "sample_weight", axes={"a": -1, "b": -1})
def detectable_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    power: float = POWER,
    bound: float | None = None,
) -> DetectableDifference:
    """The smallest difference of two means that these instances could have shown.

    Parameters
    ----------
    a, b, groups, sample_weight
        As in `paired_mean_test`.
    level : float
        The test is two-sided at 1 − level.
    power : float
        Probability with which a difference of this size is shown.
    bound : float, optional
        As in `pairwise_mean_tests`.

    Returns
    -------
    DetectableDifference

    Raises
    ------
    InputError
        As `paired_mean_test`; a power outside (0, 1).

    Notes
    -----
    The test is that of `pairwise_mean_tests`, with its guards. Its threshold for the t statistic is c, the greater of Student's
    and Hall's. The difference is δ·s, where s is the standard error, and a noncentral t with noncentrality δ exceeds c with
    the power; with few degrees of freedom, on average over the true standard errors that s leaves open (the "assurance" of
    O'Hagan et al. 2005). With a bound B, the observed difference must also exceed u = B(α^(−1/n) − 1) for losses that have
    not been seen, which u + z·s does with the power.

    The observed difference has no part in it, unlike in "observed power" (Hoenig, Heisey 2001). It has in `instances` and
    `times_runs`, which are rough for that reason: the observed difference is as uncertain as its interval says.

    References
    ----------
    Hoenig, Heisey (2001), The abuse of power, The American Statistician 55.
    O'Hagan, Stevens, Campbell (2005), Assurance in clinical trial design, Pharmaceutical Statistics 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(0.0, 1.0, 400), rng.normal(0.05, 1.0, 400)
    >>> found = detectable_difference(a, b)
    >>> round(found.difference, 2), round(found.observed, 2), round(found.instances)
    (0.19, -0.07, 2871)
    """
    check_level(level)
    check_inside(power, "power")
    most = np.array([0.0 if bound is None else checked_bound(bound)])
    lines = MeanLines({"a": (a,), "b": (b,)}, groups=groups, sample_weight=sample_weight)
    options: dict[str, Any] = {"alphas": [1 - level], "bounds": most, "extra": np.zeros(1), "power": power}
    return detectable_differences(lines, (1.0,), ("a",), "b", **options)[0]


def detectable_differences(
    lines: MeanLines,
    coefficients: Sequence[float],
    names: Sequence[str],
    other: str,
    *,
    alphas: Sequence[float],
    bounds: Floats,
    extra: Floats,
    power: float = POWER,
    plans: bool = True,
) -> list[DetectableDifference]:
    """`detectable_difference` of combinations of several models from another one, each at its own level.

    Parameters
    ----------
    lines : MeanLines
    coefficients, names, other
        As in `MeanLines.differences`.
    alphas : sequence of P float
    bounds : array (P,)
        Greatest excess of one model over the other.
    extra : array (P,)
        Standard errors of another source.
    power : float
    plans : bool
        Whether the numbers of instances and runs are found, too; else they are nan.
    """
    tested = lines.testable(names, other)
    found = [DetectableDifference(nan, power, 1 - alpha, nan, nan, nan) for alpha in alphas]
    if tested.any():
        places = np.flatnonzero(tested).tolist()
        spreads = lines.spreads(coefficients, names, other)
        options: dict[str, Any] = {"alphas": [alphas[k] for k in places], "power": power, "sizes": lines.sizes}
        options["plans"] = plans
        for k, one in zip(places, detectable_of_pairs(spreads, extra[tested], bounds[tested], **options), strict=True):
            found[k] = one
    return found


# The smallest differences of linearised statistics that their paired tests could have shown.

Places = NDArray[np.intp]


def detectable_statistic(
    first: AveragedStatistic, second: AveragedStatistic, units: Units, level: float, bound: float
) -> DetectableDifference:
    """`DetectableDifference` of the test of two statistics, with the numbers of instances and runs that show the one observed.

    For use inside this room. `statistic_comparisons` has the test. A difference beyond the bound is infinite.
    """
    runs = [first.values, second.values]
    inside = spread_of_difference(replace(first, values=runs[0][:1]), replace(second, values=runs[1][:1]), units)
    between = np.array([[v.var(ddof=1) / v.size if v.size > 1 else 0.0] for v in runs])
    spreads = _spreads(
        np.array([first.whole.value - second.whole.value]),
        variance=np.array([inside.standard_error**2]),
        dof=np.array([inside.dof]),
        between=between,
        run_dofs=np.array([[max(v.size - 1.0, 1.0)] for v in runs]),
        several=np.array([any(v.size > 1 for v in runs)]),
        n_units=units.n_units,
    )
    (found,) = detectable_of_pairs(
        spreads,
        0.0,
        np.zeros(1),
        alphas=[1 - level],
        power=POWER,
        sizes=(units.n_instances, None if units.codes is None else units.n_units),
    )
    return replace(found, difference=float(_possible(np.array(found.difference), bound)))


def detectable_statistics(
    statistics: Sequence[AveragedStatistic],
    a: Places,
    b: Places,
    *,
    standard_error: Floats,
    dof: Floats,
    alpha: float,
    n_units: int,
    bound: float,
) -> Floats:
    """The smallest differences of statistics a and b of P pairs that tests at level α could have shown, (P,).

    For use inside this room. Standard errors and degrees of freedom are those of the tests, runs included.
    """
    none = np.zeros((2, a.size))
    spreads = _spreads(
        none[0],
        variance=standard_error**2,
        dof=dof,
        between=none,
        run_dofs=none + 1.0,
        several=none[0] > 0,
        n_units=n_units,
    )
    return _possible(smallest_differences(spreads, alpha=alpha), bound)


def _possible(difference: Floats, bound: float) -> Floats:
    return np.where(difference <= bound, difference, np.inf)


def _spreads(
    difference: Floats,
    *,
    variance: Floats,
    dof: Floats,
    between: Floats,
    run_dofs: Floats,
    several: np.ndarray,
    n_units: int,
) -> PairSpreads:
    """Without skewness and without a guard for few runs, which these tests do not have."""
    one = np.ones(difference.size)
    return PairSpreads(
        difference=difference,
        equal=one < 0,
        scale=one,
        inside=variance,
        third=0.0 * one,
        dof=dof,
        independent=n_units * one,
        between=between,
        run_dofs=run_dofs,
        run_limits=np.ones((2, difference.size)),
        several=several,
        regular=one > 0,
    )


# Equivalence and non-inferiority: two one-sided paired tests of two means with a margin.


@in_one_order("a", "b", "groups", "sample_weight", axes={"a": -1, "b": -1})
def paired_margin_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    margin: float,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: float | None = None,
) -> MarginTest:
    """Test whether a mean loss is no worse than another one, or equivalent to it, by a margin.

    Parameters
    ----------
    a, b : array_like, shape (n,) or (R, n)
        Losses of the two models per instance, lower is better; (R, n) for R training runs. Pass negative values of a score
        that is better when it is greater.
    margin : float
        δ, the greatest difference that does not matter, in units of the loss. Choose it before you look at the losses.
    groups, sample_weight
        As in `paired_mean_test`.
    level : float
        1 − α; each one-sided test has level α.
    bound : float, optional
        Greatest possible excess of a loss over the other model's on one instance, as in `pairwise_mean_tests`. By default there
        is no guard against losses that have not been seen. Infinite: nothing can be shown.

    Returns
    -------
    MarginTest

    Raises
    ------
    InputError
        As `paired_mean_test`; also when the margin is not positive and finite, or the bound is negative.

    Notes
    -----
    "a is no worse than b by more than δ" is shown if the hypothesis μ_a − μ_b ≥ δ is rejected by a one-sided t test at level α,
    "equivalent" if μ_b − μ_a ≥ δ is rejected, too (Schuirmann's two one-sided tests). The verdict is false in at most a share α
    of data sets at any true difference: its statements are nested in one-sided intervals of level 1 − α.

    Each p-value is the greatest of three, as in `pairwise_mean_tests`:

    * Student's t with Bell and McCaffrey's degrees of freedom for groups, and careful ones for few runs;
    * Hall's transformation of it, against skewness: a model with rare huge losses often looks no worse because none has
      occurred yet;
    * the probability that n independent instances show nothing of a share q of instances on which a is worse by the bound B
      and which would lift the difference d to the margin: q ≥ (δ − d)/(B − d), and (1 − q)^n = ((B − δ)/(B − d))^n.

    By the third, equal losses are shown no worse by δ only from n = ln α/ln(1 − δ/B) instances on, about 3 B/δ at 5 %: 10,800
    for a log loss in float64 (B = 36) and δ = .01; 600 for a Brier loss (B = 2).

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach, J. Pharmacokinet. Biopharm. 15.
    Hall (1992), On the removal of skewness by transformation, J. R. Stat. Soc. B 54, equation 2.2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.random(500)
    >>> b = a + rng.normal(0.0, 0.05, 500)
    >>> found = paired_margin_test(a, b, margin=0.01)
    >>> found.verdict, round(found.difference.low, 3), round(found.difference.high, 3)
    ('equivalent', -0.0, 0.007)
    >>> paired_margin_test(a, b, margin=0.01, bound=36.0).verdict  # 500 instances cannot exclude a rare loss of 36
    'cannot tell'
    """
    check_level(level)
    most = np.zeros(1) if bound is None else np.array([checked_bound(bound)])
    lines = MeanLines({"a": (a,), "b": (b,)}, groups=groups, sample_weight=sample_weight)
    (found,) = margin_tests(
        lines, (1.0,), ("a",), "b", margin=margin, level=level, bounds=(most, most), extra=np.zeros(1)
    )
    return found


def margin_tests(
    lines: MeanLines,
    coefficients: Sequence[float],
    names: Sequence[str],
    other: str,
    *,
    margin: float,
    level: float,
    bounds: tuple[Floats, Floats],
    extra: Floats,
) -> list[MarginTest]:
    """`paired_margin_test` of combinations of several models against another one.

    Parameters
    ----------
    lines : MeanLines
    coefficients, names, other
        As in `MeanLines.differences`.
    margin, level
    bounds : two arrays (P,)
        Greatest excess of each model over the other, and of the other over each.
    extra : array (P,)
        Standard errors of another source.
    """
    delta, alpha = check_margin(margin, level), 1 - level
    tests = lines.differences(coefficients, names, other, level=1 - 2 * alpha)
    tested = lines.testable(names, other)
    over, under, error = bounds[0][tested], bounds[1][tested], extra[tested]
    spreads = lines.spreads(coefficients, names, other)
    found: Iterator[tuple[float, float, float, str, float]] = iter(())
    if tested.any():
        above = margins_tested(spreads, error, over, delta)
        turned = spreads._replace(difference=-spreads.difference, third=-spreads.third)
        below = margins_tested(turned, error, under, delta)
        apart = pairs_tested(spreads, error, over, under)
        p = greatest(apart.student_of_runs, apart.hall_of_runs, apart.unseen)
        limits = above.limits(alpha)
        reach = special.stdtrit(apart.dof, level) * apart.error
        found = zip(above.pvalue, below.pvalue, p, limits, reach, strict=True)
    results = []
    for test, has_test in zip(tests, tested, strict=True):
        d = test.difference
        no_worse, no_better, difference, limited_by, half = next(found) if has_test else (np.nan,) * 3 + ("", np.nan)
        notes: tuple[Note, ...] = d.notes
        ends = {"low": float(d) - half, "high": float(d) + half}
        estimate = Estimate(float(d), **ends, level=1 - 2 * alpha, n=d.n, method="student-t", notes=notes)
        results.append(
            MarginTest(
                estimate,
                delta,
                float(no_worse),
                float(no_better),
                float(difference),
                alpha,
                str(limited_by),
                test.n,
                notes,
            )
        )
    return results


def no_worse_than_best(pvalues: Floats) -> Floats:
    """Adjusted p-values of "no worse than any other model by more than the margin", for all of J models at once.

    Parameters
    ----------
    pvalues : array (J, J)
        One-sided, of the row against the column, as `MarginTest.pvalue_no_worse`; the diagonal is ignored.

    Returns
    -------
    array (J,)
        The probability that any of the statements with p ≤ α is false is at most α, whichever model is then looked at.

    Notes
    -----
    The p-value of a model is its greatest against any other, which holds for the truly best model whichever that is, and so
    for a model that was chosen for its low mean. At most J − 1 of the statements can be false, as the best model is no worse
    than any: Holm's factors are J − 1, J − 1, J − 2, …, 1 (Shaffer 1986; compare Hsu 1984).

    References
    ----------
    Hsu (1984), Constrained simultaneous confidence intervals for multiple comparisons with the best, Ann. Stat. 12.

    Examples
    --------
    >>> p = np.array([[0.0, 0.01, 0.001], [0.02, 0.0, 0.01], [0.6, 0.5, 0.0]])
    >>> no_worse_than_best(p).tolist()
    [0.02, 0.04, 0.6]
    """
    j = len(pvalues)
    if j == 1:
        return np.zeros(1)
    others = np.where(np.eye(j, dtype=bool), -np.inf, pvalues)
    worst = others.max(axis=1)  # nan where a pair has no test
    order = np.argsort(worst, kind="stable")
    factors = np.minimum(j - 1, np.arange(j, 0, -1))
    adjusted = np.empty(j)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(worst[order] * factors))
    return adjusted


# Spreads of the differences of many pairs of linearised statistics, from products of their influences.
#
# The variance of a difference is Σ (u − v)² over the influences u and v of the units. All pairs of J statistics need
# the J × J products Σ u v, which one matrix product gives, and Σ u³ v and Σ u² v² for degrees of freedom from the
# fourth moment. Where u and v are so similar that such a sum would cancel, the differences themselves are summed
# (`spread_of_difference`).

CELLS = 2**20  # influences of all statistics that are held at once
CACHED = 512  # units of all statistics that stay in the cache
CANCELLED = 1e-3  # of the squares of both: a smaller sum of squared differences is not taken from products


class InfluenceSpreads(NamedTuple):
    """Standard errors and degrees of freedom of the differences of P pairs, (P,) each."""

    standard_error: Floats
    dof: Floats


class Products(NamedTuple):
    """Σ u v over the units for each part and for the sums of all parts, and of these Σ u³ v and Σ u² v², (J, J) each."""

    parts: Floats
    whole: Floats
    cubes: Floats
    squares: Floats


def pair_spreads(
    statistics: Sequence[AveragedStatistic], a: Places, b: Places, units: Units
) -> InfluenceSpreads | None:
    """Spread of statistic a minus statistic b for pairs ``(P,)``; None where they are not made of the same parts."""
    sums = [one.sums or _whole_sums(one.whole, units) for one in statistics]
    if not _alike(statistics, sums):
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
    spreads = _with_runs(apart + extra, dof, statistics, a, b)
    for k in np.flatnonzero(cancelled | ~(weighted > 0)).tolist():
        one, other = statistics[a[k]], statistics[b[k]]
        spread = spread_of_difference(one, other, units)
        spreads.standard_error[k], spreads.dof[k] = spread.standard_error, spread.dof
    return spreads


def _alike(statistics: Sequence[AveragedStatistic], sums: Sequence[Sums]) -> bool:
    """True if all have the same parts, each of which is a stratum, and the same imaginary instances."""
    kinds = {(one.whole.imaginary, *(p.stratum for p in parts)) for one, parts in zip(statistics, sums, strict=True)}
    strata = [part.stratum for part in sums[0]]
    return len(kinds) == 1 and len(strata) == len(set(strata)) > 0


def _whole_sums(statistic: Linearised, units: Units) -> Sums:
    """A statistic without parts as one part of all units; none where units are not alike."""
    if statistic.parts or not is_plain(units):
        return ()
    n = units.n_units
    sums = statistic.influence * (sample_factor(n) ** 0.5 / n)
    return (PartSum(0, sums, 0.0, sum_of_squares(sums), n - 1.0, float(n)),)


def _influence_products(sums: Sequence[Sums], n_units: int, *, moments: bool) -> Products:
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
    return Products(parts, whole, cubes, squares)


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


def _uneven_dof(found: Products, apart: Floats, a: Places, b: Places, count: int) -> Floats:
    """`uneven_dof` of u − v, with its fourth moment from products."""
    fourth = np.diagonal(found.squares)
    moment = fourth[a] + fourth[b] + 6 * found.squares[a, b] - 4 * (found.cubes[a, b] + found.cubes[b, a])
    second = apart**2
    excess = moment - second / count
    dof = np.full(a.size, np.inf)
    np.divide(2 * second, excess, out=dof, where=excess > 0)
    return np.maximum(dof, LEAST_UNEVEN_DOF)


def _with_runs(
    variance: Floats, dof: Floats, statistics: Sequence[AveragedStatistic], a: Places, b: Places
) -> InfluenceSpreads:
    """Add the variance between the training runs of both statistics, with Satterthwaite's degrees of freedom."""
    counts = np.array([one.values.size for one in statistics])
    among = np.array(
        [float(one.values.var(ddof=1)) / one.values.size if one.values.size > 1 else 0.0 for one in statistics]
    )
    whole = variance + among[a] + among[b]
    spare = np.maximum(counts - 1.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = ((variance / whole) ** 2 / dof, (among[a] / whole) ** 2 / spare[a], (among[b] / whole) ** 2 / spare[b])
        total = 1.0 / sum(shares)
    several = (counts[a] > 1) | (counts[b] > 1)
    return InfluenceSpreads(np.sqrt(whole), np.where(several & (whole > 0), total, dof))


# Means of many columns of the same instances, each with its interval, in a few passes over all of them.

ROW_CELLS = 2**17  # values that are held at once: a block stays in the cache


def mean_estimates(rows: Sequence[Floats], *, level: float = 0.95, method: str = "student-t") -> list[Estimate]:
    """`mean_estimate` of each row, to the last bit.

    Parameters
    ----------
    rows : sequence of C arrays (n,)
        Values of the same independent instances of equal weight, such as several losses of one model.
    level, method
        As in `mean_estimate`, but no "bca".

    Returns
    -------
    list of C Estimate

    Raises
    ------
    InputError
        As in `mean_estimate`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 1.0, 1.0])
    >>> mean_estimates([x, 2 * x]) == [mean_estimate(x), mean_estimate(2 * x)]
    True
    """
    check_level(level)
    step = max(ROW_CELLS // len(rows[0]), 1) if len(rows) else 1
    blocks = (rows[k : k + step] for k in range(0, len(rows), step))
    return [one for block in blocks for one in _of_block(block, level, method)]


def _of_block(rows: Sequence[Floats], level: float, method: str) -> list[Estimate]:
    n = len(rows[0])
    if n == 1 or len(rows) == 1:
        return [mean_estimate(row, level=level, method=method) for row in rows]
    x = np.array(rows, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        means = x.mean(axis=1)
    special = ~np.isfinite(means) | (x == x[:, :1]).all(axis=1)  # infinite, undefined or equal values
    with np.errstate(invalid="ignore", divide="ignore"):
        x -= means[:, np.newaxis]
        x /= float(n)
        scales = np.maximum(x.max(axis=1), -x.min(axis=1))
        x /= scales[:, np.newaxis]
        squared = x * x
        squares = n / (n - 1) * squared.sum(axis=1)
        squared *= x
        cubes = squared.sum(axis=1)
    dof = 1.0 / (1.0 / (n - 1.0))  # as Satterthwaite's formula rounds it
    found = []
    for row, value, is_special, *sums in zip(
        rows, means.tolist(), special.tolist(), scales.tolist(), squares.tolist(), cubes.tolist(), strict=True
    ):
        scale, variance, third = sums
        if is_special or scale == 0.0:
            found.append(mean_estimate(row, level=level, method=method))
            continue
        spread = Spread(scale * variance**0.5, dof, third / variance**1.5)
        low, high = spread.interval(value, level, method)
        found.append(Estimate(value, low=low, high=high, level=level, n=n, method=method))
    return found


# Paired tests of all pairs of several means, with guards against skewness and losses that have not been seen.


@in_one_order("values", "groups", "sample_weight", axes={"values": -1})
def pairwise_mean_tests(
    values: Mapping[str, ArrayLike],
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: ArrayLike | None = None,
    extra_error: ArrayLike | None = None,
    references: Sequence[str] = (),
) -> PairwiseComparisons:
    """Test every pair of several means on the same instances.

    Parameters
    ----------
    values : dict of str to array_like, each of shape (n,) or (R_j, n)
        Values of each model per instance, such as losses; (R_j, n) for R_j training runs.
    groups, sample_weight, level
        As in `paired_mean_test`.
    bound : float or array_like (J,), optional
        Greatest possible excess of a value over another model's value on one instance, of all models or of each. By default
        there is no guard against losses that have not been seen. Infinite: no pair can be significant.
    extra_error : array_like (J, J), optional
        Standard errors that another source adds to the differences.
    references : sequence of str
        Models that are compared with all others but not with each other.

    Returns
    -------
    PairwiseComparisons

    Raises
    ------
    InputError
        As `paired_mean_test`; also when there is no model, or a bound or error is negative.

    Notes
    -----
    The p-value of a pair is the greatest of three:

    * that of `paired_mean_test`, with groups, weights and runs;
    * that of Hall's transformation of the same t statistic, against skewness;
    * the probability that the sample shows nothing of a share q of instances on which the better model is worse by B and
      which would turn the order around: q ≥ d/(d + B) for a difference d, and (1 − q)^n = (B/(B + d))^n.

    For the third, n is the number of independent instances that groups and weights leave, with the correlation inside groups
    estimated from the differences: losses not yet seen are taken to be as correlated as those seen.

    With several runs, the first two have the fewer degrees of freedom that Satterthwaite's formula gives with the variance of
    each model's runs at its upper 80 % limit (two runs: 90 %). A run variance that is underestimated by chance gives too many
    degrees of freedom, which tests of many pairs cannot afford: with 20 models of 3 runs they err in up to 21 % of data sets.
    Measured error rates: docs/measured-coverage.md.

    References
    ----------
    Hall (1992), On the removal of skewness by transformation, J. R. Stat. Soc. B 54, equation 2.2.

    Examples
    --------
    >>> losses = {"a": [0.1, 0.4, 0.2, 0.3], "b": [0.3, 0.5, 0.5, 0.4], "c": [0.4, 0.9, 0.6, 0.6]}
    >>> found = pairwise_mean_tests(losses)
    >>> found.pvalue[0].round(3).tolist(), found.adjusted[0].round(3).tolist()
    ([nan, 0.035, 0.004], [nan, 0.035, 0.013])
    >>> pairwise_mean_tests(losses, bound=1.0).pvalue[0].round(3).tolist()  # four instances cannot exclude a rare loss of 1
    [nan, 0.525, 0.28]
    """
    check_level(level)
    if not isinstance(values, Mapping) or not values:
        got = "got none" if isinstance(values, Mapping) else f"got {type(values).__name__}"
        raise InputError(
            "values", "must map at least one name to values", got, 'write {"a": losses_of_a, …}', code="empty"
        )
    lines = MeanLines({name: (value,) for name, value in values.items()}, groups=groups, sample_weight=sample_weight)
    return lines.tests((1.0,), level=level, bound=bound, extra_error=extra_error, references=references)


# Paired tests of linearised statistics: one pair, or all pairs of several statistics.

# Statistics that differ by less count as equal (rounding error).
_ROUNDING = 1e-12


@in_one_order("groups", "sample_weight")
def paired_statistic_test(
    a: Runs,
    b: Runs,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: float = np.inf,
) -> PairedComparison:
    """Test whether two statistics on the same instances have the same expectation.

    Parameters
    ----------
    a, b : Linearised, a sequence of them, or AveragedStatistic
        The two statistics, or one statistic per training run. The runs of a and b are taken as independent.
    groups, sample_weight
        As in `mean_estimate`. Pass the weights with which the statistics were computed.
    level : float
        Confidence level of the interval of the difference.
    bound : float
        Greatest possible difference of two values. The interval is cut there.

    Returns
    -------
    result : PairedComparison
        With `detectable`, the smallest difference that these instances could have shown.

    Notes
    -----
    This is Student's t test with the difference of the influences as the influences of the difference, and the degrees of
    freedom of `linearised_estimate`. For two areas under the ROC curve on one sample it is the test of DeLong et al.;
    imaginary instances, if there are any, are part of the difference too. If statistics and influences are equal, the
    statistic is 0 and the p-value 1.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> paired_statistic_test(Linearised(x.mean(), x - x.mean()), Linearised(1.0, np.zeros(4))).pvalue.__round__(3)
    0.495
    """
    check_level(level)
    first, second = _given(a, "a"), _given(b, "b")
    n = first.n_rows
    if second.n_rows != n:
        raise InputError(
            "b",
            f"needs the same {n} instances as a",
            f"got {second.n_rows}",
            "compute both on one test set",
            code="mismatch",
        )
    units = make_units(n, groups, sample_weight)
    one, other = AveragedStatistic.of(a, units), AveragedStatistic.of(b, units)
    several = [] if one.n_runs is None and other.n_runs is None else [one.values.size, other.values.size]
    return _test(one, other, units, level, bound, unit_notes(units, several))


@in_one_order("groups", "sample_weight")
def pairwise_statistic_tests(
    statistics: Mapping[str, Runs],
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: float = np.inf,
) -> PairwiseComparisons:
    """Test every pair of several statistics on the same instances.

    Parameters
    ----------
    statistics : dict of str to Linearised, a sequence of them, or AveragedStatistic
    groups, sample_weight, level, bound
        As in `paired_statistic_test`.

    Returns
    -------
    PairwiseComparisons
        With `detectable`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> found = pairwise_statistic_tests({"x": Linearised(1.5, x - 1.5), "one": Linearised(1.0, 0 * x)})
    >>> found.difference.tolist(), found.pvalue.round(3).tolist()
    ([[0.0, 0.5], [-0.5, 0.0]], [[nan, 0.495], [0.495, nan]])
    """
    check_level(level)
    if not statistics:
        raise InputError(
            "statistics",
            "needs at least one statistic",
            "got none",
            "pass a dict from names to statistics",
            code="empty",
        )
    names = tuple(str(name) for name in statistics)
    first = [_given(statistic, f"statistics[{name!r}]") for name, statistic in statistics.items()]
    n = first[0].n_rows
    for name, one in zip(names, first, strict=True):
        if one.n_rows != n:
            raise InputError(
                "statistics",
                f"all need the same {n} instances",
                f"{name!r} has {one.n_rows}",
                "compute them on one test set",
                code="mismatch",
            )
    units = make_units(n, groups, sample_weight)
    means = [AveragedStatistic.of(statistic, units) for statistic in statistics.values()]
    j = len(names)
    rows, columns = np.tril_indices(j, -1)
    found = _pair_tests(means, rows, columns, units, level, bound)
    tables = np.zeros((3, j, j))
    pvalue, detectable = np.full((2, j, j), np.nan)
    tables[:, rows, columns] = found[:3]
    tables[:, columns, rows] = -found[[0, 2, 1]]
    pvalue[rows, columns] = pvalue[columns, rows] = found[3]
    tested = np.flatnonzero(found[4] > 0)
    a, b, (error, dof) = rows[tested], columns[tested], found[4:, tested]
    detectable[a, b] = detectable[b, a] = detectable_statistics(
        means,
        a,
        b,
        standard_error=error,
        dof=dof,
        alpha=(1 - level) / shaffer_factor(pvalue, 1 - level),
        n_units=units.n_units,
        bound=bound,
    )
    difference, low, high = tables
    return PairwiseComparisons(
        names=names,
        values=np.array([mean.whole.value for mean in means]),
        difference=difference,
        low=low,
        high=high,
        pvalue=pvalue,
        adjusted=shaffer(pvalue),
        benjamini_hochberg=benjamini_hochberg(pvalue),  # each pair stands in the table twice, which changes nothing
        level=level,
        limited_by=np.full((j, j), "", dtype="<U8"),
        detectable=detectable,
    )


def _given(statistic: Runs, name: str) -> Linearised | AveragedStatistic:
    """The statistic, or that of its first run."""
    if isinstance(statistic, Linearised | AveragedStatistic):
        return statistic
    if not statistic:
        raise InputError(
            name, "needs at least one run", "got none", "pass a Linearised or a list of them", code="empty"
        )
    return statistic[0]


def _pair_tests(
    means: Sequence[AveragedStatistic], rows: Places, columns: Places, units: Units, level: float, bound: float
) -> Floats:
    """Difference, its ends, p-value, standard error (0: no test) and degrees of freedom of each pair, ``(6, P)``."""
    found = np.full((6, rows.size), np.nan)
    defined = np.array([not np.isnan(mean.whole.value) for mean in means])
    every = np.arange(rows.size)
    if units.n_units > 1 and defined.any():
        kept = np.flatnonzero(defined)
        place = np.cumsum(defined) - 1
        inside = every[defined[rows] & defined[columns]]
        a, b = place[rows[inside]], place[columns[inside]]
        chosen = [means[k] for k in kept.tolist()]
        spreads = pair_spreads(chosen, a, b, units)
        if spreads is not None:
            found[:, inside] = _tests_of(chosen, a, b, spreads, level, bound)
            every = every[~(defined[rows] & defined[columns])]
    for k in every.tolist():
        one, other = means[rows[k]], means[columns[k]]
        test = _test(one, other, units, level, bound, [], plans=False)
        found[:4, k] = float(test.difference), test.difference.low, test.difference.high, test.pvalue
        if test.statistic != 0 and not np.isnan(test.pvalue):
            spread = spread_of_difference(one, other, units)
            found[4:, k] = spread.standard_error, spread.dof
    return found


def _tests_of(
    means: Sequence[AveragedStatistic], a: Places, b: Places, spreads: InfluenceSpreads, level: float, bound: float
) -> Floats:
    """`_test` of many pairs, ``(6, P)``."""
    values, centres = (np.array([of(mean.whole) for mean in means]) for of in (_value_of, centre_of))
    value, centre, error = values[a] - values[b], centres[a] - centres[b], spreads.standard_error
    quantile = special.stdtrit(spreads.dof, 0.5 + level / 2)
    low = np.maximum(np.minimum(centre - quantile * error, value), -bound)
    high = np.minimum(np.maximum(centre + quantile * error, value), bound)
    with np.errstate(invalid="ignore", divide="ignore"):
        pvalue = 2 * special.stdtr(spreads.dof, -np.abs(centre / error))
    no_test = np.where(np.abs(value) <= _ROUNDING, 1.0, np.nan)
    tested = error > _ROUNDING
    return np.stack([value, low, high, np.where(tested, pvalue, no_test), np.where(tested, error, 0.0), spreads.dof])


def _value_of(statistic: Linearised) -> float:
    return statistic.value


def _test(
    first: AveragedStatistic,
    second: AveragedStatistic,
    units: Units,
    level: float,
    bound: float,
    notes: list[Note],
    *,
    plans: bool = True,
) -> PairedComparison:
    a, b = first.whole, second.whole
    detectable = None
    notes = [*notes, *distinct(a.notes, b.notes)]
    value, low, high = a.value - b.value, np.nan, np.nan
    statistic = pvalue = np.nan
    if np.isnan(value):
        notes.append(Note("no-test", "a statistic is undefined: no test"))
    elif units.n_units == 1:
        notes.append(single_unit(units, "no test", "no-test"))
    else:
        spread = spread_of_difference(first, second, units)
        centre = centre_of(a) - centre_of(b)
        low, high = scaled_interval(centre, spread, level, "identity", units.n_units)
        low, high = max(min(low, value), -bound), min(max(high, value), bound)
        if spread.standard_error > _ROUNDING:
            statistic = centre / spread.standard_error
            pvalue = spread.pvalue(statistic)
            detectable = detectable_statistic(first, second, units, level, bound) if plans else None
        elif abs(value) <= _ROUNDING:
            statistic, pvalue = 0.0, 1.0
            notes.append(Note("no-width", "the two agree on every instance"))
        else:
            notes.append(Note("no-test", "the difference does not vary over the instances: no test"))
    n = units.n_instances
    difference = Estimate(value, low=low, high=high, level=level, n=n, method="linearised", notes=notes)
    test = PairedComparison(difference, float(statistic), float(pvalue), "linearised", n, difference.notes)
    return replace(test, detectable=detectable)
