"""Differences of the means of pairs of models, with their variances and skewness, at any combination of columns."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.statistics.group_moments import MOST_SIZES, GroupMoments
from uqassay.statistics.pair_moments import PairMoments, of_pairs
from uqassay.statistics.samples import Floats, Units, bell_mccaffrey, working_variances

__all__ = ["PairSample", "PairSpreads", "satterthwaite"]

# Differences of the pairs that are held at once: a block stays in the cache.
_CELLS = 2**17

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
        step = max(1, _CELLS // self.units.n_instances)
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
