"""Paired tests of all pairs of several means, with guards against skewness and losses that have not been seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.comparisons import PairwiseComparisons
from uqassay.statistics.estimate import run_means
from uqassay.statistics.multiple_tests import benjamini_hochberg, shaffer
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import (
    Floats,
    Units,
    as_floats,
    as_runs,
    bell_mccaffrey,
    check_level,
    make_units,
    working_variances,
)
from uqassay.wording import counted

__all__ = ["pairwise_mean_tests"]

# Differences of the pairs that are held at once: a block stays in the cache.
_CELLS = 2**17

# One minus the level of the upper limits of run variances, of three runs or more and of two.
_LIMIT, _LIMIT_OF_TWO = 0.8, 0.9


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
    names, runs = _models(values)
    j, n = len(names), runs[0].shape[1]
    units = make_units(n, groups, sample_weight)
    runs = [units.keep(run) for run in runs]
    bounds = _bounds(bound, j)
    errors = _errors(extra_error, j)
    pairs = _pairs(names, references)
    notes = unit_notes(units, [len(run) for run in runs] if any(len(run) > 1 for run in runs) else [])
    finite = np.array([bool(np.isfinite(run).all()) for run in runs])
    if not finite.all():
        text = f"infinite values of {int((~finite).sum())} of {j} models: no test of them"
        notes.append(Note("no-test", text, {"models": [name for name, f in zip(names, finite, strict=True) if not f]}))
    with np.errstate(invalid="ignore"):
        averaged = np.stack([run.mean(axis=0) for run in runs])  # (J, n)
        means = np.array([units.mean(row) for row in averaged])
        difference = np.subtract.outer(means, means)
    np.fill_diagonal(difference, 0.0)
    low, high, student, of_runs, skew, careful, p_unseen = (np.full((j, j), np.nan) for _ in range(7))
    np.fill_diagonal(low, 0.0)
    np.fill_diagonal(high, 0.0)
    if units.n_units == 1:
        notes.append(single_unit(units, "no interval and no test", "no-test"))
        pairs = pairs[:0]
    sample = _Sample.of(averaged, runs, units)
    tested = pairs[finite[pairs].all(axis=1)]
    for rows in _blocks(tested, n):
        a, b = rows.T
        found = sample.test(a, b, errors[a, b], level)
        unseen = _unseen(found.difference, np.where(found.difference < 0, bounds[a], bounds[b]), found.independent)
        difference[a, b], difference[b, a] = found.difference, -found.difference
        low[a, b], high[a, b], low[b, a], high[b, a] = found.low, found.high, -found.high, -found.low
        pvalues = (found.student, found.student_of_runs, found.hall, found.hall_of_runs, unseen)
        for table, p in zip((student, of_runs, skew, careful, p_unseen), pvalues, strict=True):
            table[a, b] = table[b, a] = p
    pvalue = np.fmax(np.fmax(of_runs, careful), p_unseen)
    adjusted = shaffer(pvalue)
    with np.errstate(invalid="ignore"):
        lost = (shaffer(student) <= 1 - level) & ~(adjusted <= 1 - level)
        seen = np.where(of_runs > skew, "runs", "skewness")
        limits = np.where(lost, np.where(p_unseen >= np.fmax(of_runs, skew), "unseen", seen), "")
    return PairwiseComparisons(
        names=names,
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


# -- arguments ----------------------------------------------------------------------------------------------------------


def _models(values: Mapping[str, ArrayLike]) -> tuple[tuple[str, ...], list[Floats]]:
    if not isinstance(values, Mapping) or not values:
        got = "got none" if isinstance(values, Mapping) else f"got {type(values).__name__}"
        raise InputError(
            "values", "must map at least one name to values", got, 'write {"a": losses_of_a, …}', code="empty"
        )
    names = tuple(str(name) for name in values)
    if len(set(names)) < len(names):
        got = f"got {counted(len(set(names)), 'name')} for {len(names)} models"
        raise InputError("values", "needs a name of its own for each model", got, "rename some", code="duplicate")
    runs = [as_runs(value, f"values[{name!r}]") for name, value in zip(names, values.values(), strict=True)]
    n = runs[0].shape[1]
    for name, run in zip(names, runs, strict=True):
        if run.shape[1] != n:
            raise InputError(
                f"values[{name!r}]",
                f"all models need the same {n} instances",
                f"got {run.shape[1]}",
                "align them first",
                code="mismatch",
            )
    return names, runs


def _bounds(bound: ArrayLike | None, j: int) -> Floats:
    if bound is None:
        return np.zeros(j)
    array = as_floats(bound, "bound", ndim=(0, 1), shape=f"() or ({j},)")
    if array.ndim == 1 and array.shape != (j,):
        raise InputError(
            "bound", f"needs one number, or one for each of {j} models", f"got {array.size}", "pass one", code="shape"
        )
    if (array < 0).any():
        raise InputError("bound", "must not be negative", f"got {array.min()}", "pass the loss's range", code="range")
    return np.broadcast_to(array, j)


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


def _pairs(names: tuple[str, ...], references: Sequence[str]) -> NDArray[np.intp]:
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


def _blocks(pairs: NDArray[np.intp], n: int) -> list[NDArray[np.intp]]:
    step = max(1, _CELLS // n)
    return [pairs[i : i + step] for i in range(0, len(pairs), step)]


# -- tests of a block of pairs -------------------------------------------------------------------------------------------


class _Tested(NamedTuple):
    """Results of P pairs, (P,) each."""

    difference: Floats
    low: Floats
    high: Floats
    student: Floats  # p-values: with Satterthwaite's degrees of freedom, and with fewer for few runs
    student_of_runs: Floats
    hall: Floats
    hall_of_runs: Floats
    independent: Floats  # number of independent instances


@dataclass(frozen=True)
class _Sample:
    """Run averages of all models, with the rows sorted by unit."""

    averaged: Floats  # (J, n)
    weights: Floats | None  # (n,)
    starts: NDArray[np.intp] | None  # (G,) first row of each group; None: every row is a unit
    units: Units
    sizes: Floats  # (G,)
    run_errors: Floats  # (J,) s/√R of the run means, 0 for one run
    run_dofs: Floats  # (J,) R − 1, 1 for one run
    run_limits: Floats  # (J,) upper limit of a run variance over its estimate
    several: NDArray[np.bool_]  # (J,) more than one run

    @classmethod
    def of(cls, averaged: Floats, runs: Sequence[Floats], units: Units) -> "_Sample":
        weights, starts = units.weights, None
        if units.codes is not None and units.n_units < units.n_instances:
            order = np.argsort(units.codes, kind="stable")
            averaged = averaged[:, order]
            weights = None if weights is None else weights[order]
            starts = np.searchsorted(units.codes[order], np.arange(units.n_units))
        several = np.array([len(run) > 1 for run in runs])
        run_dofs = np.array([max(len(run) - 1.0, 1.0) for run in runs])
        limits = run_dofs / special.chdtri(run_dofs, np.where(run_dofs > 1, _LIMIT, _LIMIT_OF_TWO))
        return cls(
            averaged=averaged,
            weights=weights,
            starts=starts,
            units=units,
            sizes=units.sizes,
            run_errors=np.array([_run_error(run, units) for run in runs]),
            run_dofs=run_dofs,
            run_limits=limits,
            several=several,
        )

    def test(self, a: NDArray[np.intp], b: NDArray[np.intp], extra: Floats, level: float) -> _Tested:
        # differences first: expanding their moments into those of the models would cancel
        d = self.averaged[a] - self.averaged[b]  # (P, n)
        first = d[:, 0].copy()
        equal = (d == first[:, np.newaxis]).all(axis=1)
        if self.weights is None:
            value = d.mean(axis=1)
            d -= value[:, np.newaxis]
        else:
            value = (self.weights * d).sum(axis=1) / self.weights.sum()
            d -= value[:, np.newaxis]
            d *= self.weights
        sums = d if self.starts is None else np.add.reduceat(d, self.starts, axis=1)  # (P, G)
        factors, dof, independent = self._working_model(d, sums)
        sums = sums / self.sizes.sum()
        parts = np.stack([self.run_errors[a], self.run_errors[b]])  # (2, P)
        scale = np.maximum(np.abs(sums).max(axis=1), parts.max(axis=0))
        safe = np.where(scale > 0, scale, 1.0)
        sums /= safe[:, np.newaxis]  # squares of residuals near 1e-200 would underflow
        squares = sums * sums
        inside = (factors * squares).sum(axis=1)
        between = (parts / safe) ** 2
        variance = inside + between.sum(axis=0)
        run_dofs, limits = (
            np.stack([self.run_dofs[a], self.run_dofs[b]]),
            np.stack([self.run_limits[a], self.run_limits[b]]),
        )
        own = dof
        dof = _satterthwaite(inside, own, between, run_dofs)
        fewer = np.minimum(dof, _satterthwaite(inside, own, limits * between, run_dofs))
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = variance + (extra / safe) ** 2
            skewness = (squares * sums).sum(axis=1) / variance**1.5
        error = safe * np.sqrt(variance)
        still = ((error == 0) | (equal & ~self.several[a] & ~self.several[b])) & (extra == 0)
        value = np.where(equal, first, value)  # exactly
        error = np.where(still, 0.0, error)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(still, np.where(value == 0, 0.0, np.copysign(np.inf, value)), value / error)
        reach = special.stdtrit(dof, 0.5 + level / 2) * error
        skewness = np.where(still, 0.0, skewness)
        return _Tested(
            difference=value,
            low=value - reach,
            high=value + reach,
            student=_student(t, dof),
            student_of_runs=_student(t, fewer),
            hall=_hall(t, dof, skewness),
            hall_of_runs=_hall(t, fewer, skewness),
            independent=independent,
        )

    def _working_model(self, weighted: Floats, sums: Floats) -> tuple[Floats | float, Floats, Floats]:
        """Factors a_g, their degrees of freedom and the number of independent instances, see `bell_mccaffrey`."""
        g, p = self.units.n_units, len(sums)
        if self.starts is None:
            if self.weights is None:
                return g / (g - 1), np.full(p, g - 1.0), np.full(p, float(g))
            tau = working_variances(self.units, 0.0)
        else:
            counts = np.diff(np.append(self.starts, self.units.n_instances))
            scale = np.abs(weighted).max(axis=1, keepdims=True)
            e2 = (weighted / np.where(scale > 0, scale, 1.0)) ** 2
            s2 = (sums / np.where(scale > 0, scale, 1.0)) ** 2
            pairs = e2 @ np.repeat(counts - 1.0, counts)
            excess = s2.sum(axis=1) - e2.sum(axis=1)
            rho = np.clip(np.divide(excess, pairs, out=np.zeros(p), where=pairs > 0), 0.0, 1.0)
            tau = working_variances(self.units, rho)
        a, dof = bell_mccaffrey(tau, self.sizes)
        independent = self.sizes.sum() ** 2 / tau.sum(axis=-1)
        return a, np.broadcast_to(dof, p), np.broadcast_to(independent, p)


def _run_error(runs: Floats, units: Units) -> float:
    """s/√R of the run means, 0 for one run and for infinite values."""
    if len(runs) == 1 or not np.isfinite(runs).all():
        return 0.0
    means = run_means(runs, units)
    means = means - means[0]
    scale = float(np.abs(means).max())
    return scale * float((means / scale).std(ddof=1)) / len(runs) ** 0.5 if scale > 0 else 0.0


def _satterthwaite(inside: Floats, dof: Floats, between: Floats, run_dofs: Floats) -> Floats:
    """Degrees of freedom of a variance between units (P,) plus those of the runs of two models (2, P)."""
    variance = inside + between.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = variance**2 / (inside**2 / dof + (between**2 / run_dofs).sum(axis=0))
    return np.where(variance > 0, found, dof)


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
