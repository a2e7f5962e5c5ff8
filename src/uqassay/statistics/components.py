"""Runs and instances as sources of variance, and mean absolute values without bias."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.special import ndtr

from uqassay.arrays import Floats
from uqassay.checks import fail, number, same_length
from uqassay.ids import in_one_order
from uqassay.native import kernel
from uqassay.notes import Note
from uqassay.statistics import Estimate, mean_correlation_estimate, mean_estimate
from uqassay.statistics.correlation import LARGEST
from uqassay.statistics.estimate import single_unit, unit_notes
from uqassay.statistics.many_data_sets import tied_ranks
from uqassay.statistics.paired_tests import POWER, noncentrality
from uqassay.statistics.resampling import run_means
from uqassay.statistics.units import Units, as_floats, as_runs, check_inside, check_level, make_units, spread_of_mean
from uqassay.text import counted

__all__ = [
    "MoreData",
    "VarianceComponents",
    "VarianceShare",
    "bias_of_debiased",
    "correlation_over_runs",
    "debiased_absolute",
    "excess_scale",
    "finite_array",
    "folded_mean",
    "greatest_bias",
    "mean_over_runs",
    "midranks",
    "sign_flip_pvalues",
    "spearman",
    "variance_components",
    "variance_of_absolute",
    "variance_of_debiased",
]


# Training runs and test instances as separate components of the variance of a mean.

FEW_RUNS = 5  # with fewer, the variance between runs is known to within a factor of five or worse
MOST = 1e6  # times the data that there are: the search stops here
HALVINGS = 40


class VarianceShare(NamedTuple):
    """Share of the variance of a mean, with its interval; nan where it cannot be known."""

    share: float
    low: float
    high: float


class MoreData(NamedTuple):
    """Data in all, not in addition, that reach a goal; infinite where no number does."""

    #: Instances, with the runs that there are.
    instances: float
    #: Groups that these are, if they come in groups as they do here; nan without groups.
    groups: float
    #: Runs of each model, with the instances that there are; nan for a model of one run, () if both have one.
    runs: tuple[float, ...]


@final
@dataclass(frozen=True)
class VarianceComponents:
    """Components of the variance of a mean over training runs and test instances; made by `variance_components`."""

    #: The mean, or the difference of two means.
    value: float
    #: What differences between the runs, between the instances (whole groups) and their interaction add to the variance of
    #: the mean. Unbiased, so that an estimate near 0 may be negative; nan where it cannot be known.
    runs: float
    instances: float
    interaction: float
    #: Of "runs", "instances" and "interaction" in their sum; negative components count as 0.
    shares: dict[str, VarianceShare]
    n_instances: int
    n_groups: int | None
    #: Of the model, or of both.
    n_runs: tuple[int, ...]
    level: float
    notes: tuple[Note, ...]
    _parts: "_Parts"

    def half_width(self, *, instances: float | None = None, times_runs: float = 1.0) -> float:
        """Half the width of the interval of `mean_estimate` or `paired_mean_test` with other numbers of instances and runs.

        Parameters
        ----------
        instances : float, optional
            By default, those that there are.
        times_runs : float
            How many times the runs that there are.
        """
        more = 1.0 if instances is None else instances / self.n_instances
        error, dof = self._parts.error(more, times_runs)
        return float(special.stdtrit(dof, 0.5 + self.level / 2)) * error

    def for_half_width(self, half_width: float) -> MoreData:
        """Instances or runs for an interval that reaches so far to each side."""
        number(half_width, "half_width", "pass 0.01, say", low=0, ends="(]")

        def reached(more: float, times_runs: float) -> bool:
            error, dof = self._parts.error(more, times_runs)
            return float(special.stdtrit(dof, 0.5 + self.level / 2)) * error <= half_width

        return self._more_data(reached)

    def to_show(self, difference: float, *, power: float = POWER) -> MoreData:
        """Instances or runs for a paired test that shows a true difference of this size with this power."""
        check_inside(power, "power")
        if not abs(difference) > 0:
            fail("difference", "must not be 0", f"got {difference}", "give the least that matters", code="range")

        def reached(more: float, times_runs: float) -> bool:
            error, dof = self._parts.error(more, times_runs)
            q = special.stdtrit(dof, 0.5 + self.level / 2)
            return float(noncentrality(np.array([q]), np.array([dof]), power)[0]) * error <= abs(difference)

        return self._more_data(reached)

    def _more_data(self, reached: Callable[[float, float], bool]) -> MoreData:
        if not isfinite(self._parts.inside):
            return MoreData(nan, nan, ())
        units = self.n_instances if self.n_groups is None else self.n_groups
        more = _least(lambda factor: reached(factor, 1.0), 2 / units)
        several = [r for r in self.n_runs if r > 1]
        times = _least(lambda factor: reached(1.0, factor), 2 / min(several)) if several else nan
        runs = tuple(_up(r * times) if r > 1 else nan for r in self.n_runs) if several else ()
        groups = nan if self.n_groups is None else _up(self.n_groups * more)
        return MoreData(_up(self.n_instances * more), groups, runs)


class _Parts(NamedTuple):
    """What the variance of the mean and its degrees of freedom rest on."""

    inside: float  # V_b: of the instances
    dof: float
    models: tuple[tuple[int, float, float], ...]  # R, V_a and V_ab of each model with several runs

    def error(self, more: float, times_runs: float) -> tuple[float, float]:
        """Standard error as `spread_of_mean` expects it, in which the interaction counts twice, and degrees of freedom."""
        inside = (max(self.inside, 0.0) + sum(ab for _, _, ab in self.models) / times_runs) / more
        parts = [(inside, max(self.dof * more, 1.0))]
        for r, a, ab in self.models:
            parts.append(((max(a, 0.0) + ab / more) / times_runs, max(r * times_runs - 1.0, 1.0)))
        variance = sum(part for part, _ in parts)
        if variance == 0:
            return 0.0, self.dof
        return float(variance**0.5), float(variance**2 / sum(part**2 / dof for part, dof in parts))


@in_one_order("values", "other", "groups", "sample_weight", axes={"values": -1, "other": -1})
def variance_components(
    values: ArrayLike,
    other: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> VarianceComponents:
    """How much of the variance of a mean comes from the training runs, and how much from the test instances.

    Parameters
    ----------
    values : array_like, shape (n,) or (R, n)
        Values of each of R training runs per instance, such as losses.
    other : array_like, shape (n,) or (R', n), optional
        Those of a second model on the same instances: the components are those of the difference of both means. The runs of
        both models are taken as independent.
    groups, sample_weight
        As in `mean_estimate`; whole groups are the units of the instances.
    level : float
        Of the intervals.

    Returns
    -------
    VarianceComponents
        With one run the component of the runs and the interaction are nan; with one instance or group, all are. Fewer than five
        runs have a note that says how little they tell.

    Notes
    -----
    Crossed random effects, y_ri = μ + a_r + b_i + e_ri, by moments. With the variance s² of the run means, the linearised
    cluster variance V(·) of a mean over the instances (`mean_estimate`), and the residuals ê_ri = y_ri − ȳ_r − ȳ_i + ȳ:

    * interaction: ω/R with ω = Σ_r V(ê_r)/(R − 1);
    * runs: (s² − ω)/R;
    * instances: V(ȳ_i) − ω/R.

    Their sum is the variance of the mean over new runs *and* new instances. Without groups and weights these are the estimates
    of the analysis of variance, such as σ̂_a² = (MS_a − MS_e)/n. `mean_estimate` takes s²/R + V(ȳ_i), which counts the
    interaction twice.

    The interval of the shares is that of the ratio (s²/R)/V(ȳ_i), which has an F distribution up to its true value, with R − 1
    degrees of freedom and those of V(ȳ_i), which are fewer for heavy tails; the share ω/R in V(ȳ_i) is taken as known.

    References
    ----------
    Searle, Casella, McCulloch (1992), Variance Components, chapters 3 and 4.
    Bouthillier et al. (2021), Accounting for variance in machine learning benchmarks, MLSys.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.normal(size=(10, 1)) * 0.1 + rng.normal(size=400) + 0.5 * rng.normal(size=(10, 400))
    >>> found = variance_components(losses)
    >>> {name: tuple(round(x, 2) for x in share) for name, share in found.shares.items()}
    {'runs': (0.17, 0.08, 0.43), 'instances': (0.81, 0.56, 0.9), 'interaction': (0.02, 0.01, 0.02)}
    >>> round(found.half_width(), 3), found.for_half_width(0.1)
    (0.111, MoreData(instances=523.0, groups=nan, runs=(101.0,)))
    """
    check_level(level)
    given = [as_runs(values, "values"), *([] if other is None else [as_runs(other, "other")])]
    if len(given) == 2:
        same_length(given[1].T, "other", given[0].shape[1], "align them first", of="instance of values")
    units = make_units(given[0].shape[1], groups, sample_weight)
    models = [units.keep(runs) for runs in given]
    counts = tuple(len(runs) for runs in models)
    notes = unit_notes(units, counts)
    sizes: dict[str, Any] = {
        "n_instances": units.n_instances,
        "n_groups": None if units.codes is None else units.n_units,
        "n_runs": counts,
        "level": level,
    }
    infinite = sum(int(np.isinf(runs).sum()) for runs in models)
    if infinite or units.n_units == 1:
        text = f"infinite values: {infinite} of {sum(runs.size for runs in models)}, no components"
        notes.append(Note("infinite", text) if infinite else single_unit(units, "no components", "undefined"))
        with np.errstate(invalid="ignore"):
            value = units.mean(models[0].mean(axis=0)) - (
                units.mean(models[1].mean(axis=0)) if other is not None else 0
            )
        none = dict.fromkeys(("runs", "instances", "interaction"), VarianceShare(nan, nan, nan))
        return VarianceComponents(value, nan, nan, nan, none, **sizes, notes=tuple(notes), _parts=_Parts(nan, nan, ()))
    averaged = models[0].mean(axis=0) - (models[1].mean(axis=0) if len(models) == 2 else 0.0)
    value = units.mean(averaged)
    spread = spread_of_mean(averaged - value, units)
    between = [_of_runs(runs, units) for runs in models if len(runs) > 1]  # (R, s²/R, ω/R)
    inside = spread.standard_error**2
    interaction = sum(ab for _, _, ab in between)
    parts = _Parts(inside - interaction, spread.dof, tuple((r, a - ab, ab) for r, a, ab in between))
    few = min((r for r, _, _ in between), default=0)
    if few == 0:
        notes.append(Note("undefined", "1 run shows no variance between runs; a second one is needed"))
    elif few < FEW_RUNS:
        low, high = ((few - 1) / special.chdtri(few - 1, p) for p in ((1 - level) / 2, (1 + level) / 2))
        text = f"{few} runs say little: the variance of such means may be {low:.1f} to {high:,.0f} times what they show"
        notes.append(Note("few", text, {"runs": few}))
    runs_part = sum(a - ab for _, a, ab in between) if between else nan
    return VarianceComponents(
        value,
        runs_part,
        inside - interaction,
        interaction if between else nan,
        _shares(between, inside, interaction, _dof(averaged - value, units, spread.dof), level),
        **sizes,
        notes=tuple(notes),
        _parts=parts,
    )


# -- helpers -----------------------------------------------------------------------------------------------------------


def _of_runs(runs: Floats, units: Units) -> tuple[int, float, float]:
    """R, s²/R and ω/R of one model (R, n)."""
    r, means = len(runs), run_means(runs, units)
    residuals = runs - runs.mean(axis=0)
    residuals -= (means - means.mean())[:, np.newaxis]
    omega = sum(spread_of_mean(one, units).standard_error ** 2 for one in residuals) / (r - 1)
    return r, float(means.var(ddof=1)) / r, float(omega) / r


def _dof(residuals: Floats, units: Units, dof: float) -> float:
    """Degrees of freedom of the variance between units, fewer for heavy tails: 2/ν = 2/ν_0 + κ/G, κ the excess kurtosis."""
    u = units.sums(residuals[:, np.newaxis])[:, 0]
    square = float((u**2).mean())
    excess = float((u**4).mean()) / square**2 - 3.0 if square > 0 else 0.0
    return 2.0 / (2.0 / dof + max(excess, 0.0) / units.n_units)


def _shares(
    between: Sequence[tuple[int, float, float]], inside: float, interaction: float, dof: float, level: float
) -> dict[str, VarianceShare]:
    names = ("runs", "instances", "interaction")
    of_runs = sum(a for _, a, _ in between)
    if not between or inside + of_runs == 0:
        return dict.fromkeys(names, VarianceShare(nan, nan, nan))
    run_dof = of_runs**2 / sum(a**2 / (r - 1) for r, a, _ in between) if of_runs > 0 else between[0][0] - 1.0
    quantiles = (special.fdtri(run_dof, dof, p) for p in ((1 + level) / 2, (1 - level) / 2))
    ratio = of_runs / inside if inside > 0 else inf
    c = min(interaction / inside, 1.0) if inside > 0 else 0.0
    rows = []
    for theta in (ratio, *(ratio / q if q > 0 else inf for q in quantiles)):
        runs = max(theta - c, 0.0)
        whole = 1.0 + runs
        rows.append((1.0 if np.isinf(runs) else runs / whole, (1 - c) / whole, c / whole))
    point, *ends = np.array(rows)
    return {
        name: VarianceShare(float(point[k]), float(min(e[k] for e in ends)), float(max(e[k] for e in ends)))
        for k, name in enumerate(names)
    }


def _least(reached: Callable[[float], bool], least: float) -> float:
    """The least factor from `least` on that reaches a goal, which greater factors reach, too."""
    if not reached(MOST):
        return inf
    if reached(least):
        return least
    low, high = float(np.log(least)), float(np.log(MOST))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))


def _up(number: float) -> float:
    return float(ceil(number - 1e-6)) if isfinite(number) else number


# Absolute value of a mean that is known up to a normal error: without the excess that the error adds, and its variance.

BUMP = float(2 / np.sqrt(np.pi))  # E [BUMP exp(−z²/2)] = E |z| for a standard normal z
HALF_NORMAL_MEAN = float(np.sqrt(2 / np.pi))
WORST = 1.01  # true value, in standard errors, at which the bias of `debiased_absolute` is greatest
DOUBT = 2.0  # standard errors by which the true value may differ from the estimate in `greatest_bias`
TINY = np.finfo(np.float64).tiny


def folded_mean(mean: NDArray[np.float64] | float, sd: NDArray[np.float64] | float) -> Floats:
    """E |N(mean, sd²)|.

    Examples
    --------
    >>> float(folded_mean(0.0, 1.0).round(4)), float(folded_mean(2.0, 0.0))
    (0.7979, 2.0)
    """
    ratio = np.abs(mean) / np.maximum(sd, TINY)
    with np.errstate(over="ignore"):
        return np.asarray(sd * HALF_NORMAL_MEAN * np.exp(-(ratio**2) / 2) + np.abs(mean) * (1 - 2 * ndtr(-ratio)))


def debiased_absolute(value: Floats, standard_error: Floats, scale: Floats | float = 1.0) -> Floats:
    """|value| − scale (2/√π) s exp(−value²/2 s²), whose mean is 0 if the true value is 0.

    Parameters
    ----------
    value, standard_error : arrays
        Normal estimates of true values, and their standard errors s.
    scale : array or float
        1 for normal errors, or that of `excess_scale`.

    Notes
    -----
    No function of the estimate has the mean |true value| everywhere, since |·| has a corner. The bias of this one is 0 at 0,
    −.35, −.45, −.40, −.28, −.08 and −.01 s at true values of .5, 1, 1.5, 2, 3 and 4 s.

    Examples
    --------
    >>> debiased_absolute(np.array([0.0, 1.0, 5.0]), np.ones(3)).round(3).tolist()
    [-1.128, 0.316, 5.0]
    """
    with np.errstate(over="ignore"):
        bump = np.exp(-((value / np.maximum(standard_error, TINY)) ** 2) / 2)
    return np.asarray(np.abs(value) - scale * BUMP * standard_error * bump)


def excess_scale(draws: Floats) -> Floats:
    """The scale for `debiased_absolute` that makes the mean 0 for errors distributed as the draws, (B, M) -> (M,)."""
    size = np.sqrt((draws**2).mean(axis=0))
    z = draws / np.where(size > 0, size, 1.0)
    return np.asarray(np.abs(z).mean(axis=0) / (BUMP * np.exp(-(z**2) / 2).mean(axis=0)))


def variance_of_absolute(true_ratio: Floats) -> Floats:
    """Variance of |N(δ, 1)|.

    Examples
    --------
    >>> variance_of_absolute(np.array([0.0, 9.0])).round(3).tolist()
    [0.363, 1.0]
    """
    return np.asarray(1 + true_ratio**2 - folded_mean(true_ratio, 1.0) ** 2)


def variance_of_debiased(true_ratio: Floats) -> Floats:
    """Variance of `debiased_absolute` of N(δ, 1).

    Examples
    --------
    >>> variance_of_debiased(np.array([0.0, 9.0])).round(3).tolist()
    [0.835, 1.0]
    """
    fade = np.exp(-(true_ratio**2) / 4) / np.sqrt(2)  # E exp(−z²/2)
    square = BUMP**2 * np.exp(-(true_ratio**2) / 3) / np.sqrt(3)
    product = BUMP * fade * folded_mean(true_ratio / 2, float(np.sqrt(0.5)))  # E |z| exp(−z²/2)
    mean = folded_mean(true_ratio, 1.0) - BUMP * fade
    return np.asarray(1 + true_ratio**2 + square - 2 * product - mean**2)


def bias_of_debiased(true_ratio: Floats) -> Floats:
    """Mean of `debiased_absolute` of N(δ, 1) minus δ, for δ ≥ 0. Never positive.

    Examples
    --------
    >>> bias_of_debiased(np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.0])).round(2).tolist()
    [0.0, -0.35, -0.45, -0.28, -0.08, -0.01]
    """
    fade = np.exp(-(true_ratio**2) / 4) / np.sqrt(2)
    return np.asarray(folded_mean(true_ratio, 1.0) - true_ratio - BUMP * fade)


def greatest_bias(ratio: Floats) -> Floats:
    """Greatest |bias| of `debiased_absolute`, in standard errors, over true values within 2 of an estimate.

    Examples
    --------
    >>> greatest_bias(np.array([0.0, 3.0, 5.0, 9.0])).round(3).tolist()
    [0.455, 0.455, 0.083, 0.0]
    """
    nearest = np.maximum(np.abs(ratio) - DOUBT, WORST)
    return -bias_of_debiased(nearest)


# Summaries of repeated training runs: means and correlations with intervals, sign flips, ranks.
#
# Runs are the independent units. Instances of one run are not, because one network states all of them.


EXACT_RUNS = 20  # 2^20 sums of flipped signs take 8 MB
N_FLIPS = 2**17  # random flips for more runs
TIE = 1e-12  # sums this close, relative to the sum of absolute values, are equal up to rounding


def finite_array(values: ArrayLike, name: str, axes: str) -> Floats:
    """Real and finite values as float64 with the axes named, such as "(R, C, n)"."""
    array = as_floats(values, name, ndim=(axes.count(",") + 1,), shape=axes)
    infinite = np.isinf(array)
    if infinite.any():
        got = f"index {tuple(int(i) for i in np.argwhere(infinite)[0])} holds {array[infinite][0]}"
        fail(name, "values must be finite", got, "repair the estimate first", code="finite")
    return array


def mean_over_runs(per_run: ArrayLike, *, level: float = 0.95, bounds: tuple[float, float] | None = None) -> Estimate:
    """Mean over R runs with Student's t interval.

    Parameters
    ----------
    per_run : array (R,)
        nan where a run has no value; the mean then is nan too, with a note.
    level : float
    bounds : tuple of float, optional
        Range of the quantity; the interval is cut to it, and a note says so.

    Examples
    --------
    >>> mean_over_runs([0.1, 0.2, 0.3, 0.2])
    Estimate(0.2, low=0.07008, high=0.3299, level=0.95, n=4, method='student-t')
    """
    values = np.asarray(per_run, dtype=np.float64)
    notes: list[Note] = []
    value, low, high = float(values.mean()), np.nan, np.nan
    missing = int(np.isnan(values).sum())
    if missing:
        notes.append(Note("undefined", f"undefined in {missing} of {counted(values.size, 'run')}"))
    elif values.size == 1:
        notes.append(Note("no-interval", "1 run: no interval"))
    else:
        found = mean_estimate(values, level=level)
        value, low, high, notes = float(found), found.low, found.high, list(found.notes)
        if bounds is not None and (low < bounds[0] or high > bounds[1]):
            low, high = max(low, bounds[0]), min(high, bounds[1])
            notes.append(Note("edge", "the interval ends at the least or greatest possible value", {"bounds": bounds}))
    return Estimate(value, low=low, high=high, level=level, n=values.size, method="student-t", notes=notes)


def correlation_over_runs(
    per_run: ArrayLike,
    *,
    level: float = 0.95,
    n_instances: int | None = None,
    instance_variance: float | None = None,
    notes: Sequence[Note] = (),
) -> Estimate:
    """Correlation of R runs: tanh of the mean of Fisher's z = artanh r, with its interval.

    Parameters
    ----------
    per_run : array (R,)
        nan where a run has no correlation; the mean then is nan too, with a note.
    level : float
    n_instances : int, optional
        Number of instances that each rank correlation is computed from. The interval then is for other runs and other
        instances: the variance (1 + r²/2) / (n − 3) of the z of Spearman's r is added to that of the runs (Bonett and
        Wright, 2000), with Satterthwaite's degrees of freedom. None: for other runs on the same instances.
    instance_variance : float, optional
        Variance of the mean r over other instances, where it is known better: used with `n_instances` in place of Bonett and
        Wright's.
    notes : sequence of Note
        Put first.

    Returns
    -------
    Estimate
        n is the number of runs. Rules for equal correlations and for ±1 are those of
        `uqassay.statistics.mean_correlation_estimate`.

    References
    ----------
    Bonett, Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman correlations.

    Examples
    --------
    >>> correlation_over_runs([0.88, 0.9, 0.85, 0.91])
    Estimate(0.8871, low=0.8392, high=0.9213, level=0.95, n=4, method="Fisher's z over runs")
    >>> correlation_over_runs([0.88, 0.9, 0.85, 0.91], n_instances=100)
    Estimate(0.8871, low=0.8142, high=0.9324, level=0.95, n=4, method="Fisher's z over runs and instances")
    """
    r = np.asarray(per_run, dtype=np.float64)
    remarks = list(notes)
    method = "Fisher's z over runs" + ("" if n_instances is None else " and instances")
    missing = int(np.isnan(r).sum())
    if missing:
        remarks = remarks or [Note("undefined", f"undefined in {missing} of {counted(r.size, 'run')}")]
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=r.size, method=method, notes=remarks)
    found = mean_correlation_estimate(r, level=level)
    value, low, high = float(found), found.low, found.high
    if r.size == 1:
        remarks.append(Note("no-interval", "1 run: no interval"))
    else:
        remarks += found.notes
    if n_instances is not None and np.isfinite(low) and abs(value) < 1:
        low, high = _for_other_instances(r, value, (n_instances, instance_variance), level)
        remarks = [note for note in remarks if note.code != "no-width"]
        if np.isnan(low):
            remarks.append(Note("no-interval", f"{counted(n_instances, 'instance')}: no interval"))
    return Estimate(value, low=low, high=high, level=level, n=r.size, method=method, notes=remarks)


def _for_other_instances(
    r: Floats, value: float, instances: tuple[int, float | None], level: float
) -> tuple[float, float]:
    n, known = instances
    if n <= 3:
        return np.nan, np.nan
    z = np.arctanh(np.clip(r, -LARGEST, LARGEST))
    of_runs = float(z.var(ddof=1)) / r.size
    of_instances = (
        (1 + value**2 / 2) / (n - 3) if known is None else known / (1 - value**2) ** 2
    )  # of z, dz = dr / (1 − r²)
    variance = of_runs + of_instances
    terms = of_runs**2 / (r.size - 1) + of_instances**2 / (n - 2)
    dof = min(variance**2 / terms, 1e9) if terms > 0 else 1e9
    reach = float(special.stdtrit(dof, 0.5 + level / 2)) * variance**0.5
    return float(np.tanh(z.mean() - reach)), float(np.tanh(z.mean() + reach))


def sign_flip_pvalues(per_run: ArrayLike) -> tuple[float, float]:
    """One-sided p-values of the hypothesis that R independent values are symmetric about 0.

    Exact over all 2^R signs up to 20 runs; 131,072 random signs (seed 0), with 1 added to both counts, for more.

    Parameters
    ----------
    per_run : array (R,)

    Returns
    -------
    below, above : float
        Against values below 0, and above 0. The least possible p-value is 2^−R.

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter 3.

    Examples
    --------
    >>> sign_flip_pvalues([-1.0, -2.0, -0.5, -3.0])
    (0.0625, 1.0)
    """
    d = np.asarray(per_run, dtype=np.float64)
    total, slack = float(d.sum()), TIE * float(np.abs(d).sum())
    if d.size <= EXACT_RUNS:
        sums = np.zeros(1)
        for value in d:
            sums = np.concatenate([sums + value, sums - value])
        added = 0
    else:
        rng = np.random.default_rng(0)
        sums = np.concatenate([rng.choice([-1.0, 1.0], (N_FLIPS // 64, d.size)) @ d for _ in range(64)])
        added = 1
    counts = (int((sums <= total + slack).sum()), int((sums >= total - slack).sum()))
    below, above = ((count + added) / (sums.size + added) for count in counts)
    return below, above


def midranks(values: ArrayLike) -> Floats:
    """Ranks 1 … n along the last axis; tied values have the mean of their ranks.

    Examples
    --------
    >>> midranks([3.0, 1.0, 3.0, 2.0])
    array([3.5, 1. , 3.5, 2. ])
    """
    array = np.asarray(values)
    n = array.shape[-1]
    rank = kernel("midranks")
    if rank is not None and array.size and array.dtype in (np.float32, np.float64) and not np.isnan(array).any():
        rows = np.ascontiguousarray(array).reshape(-1, n)
        return np.array([rank(row) for row in rows]).reshape(array.shape)
    return tied_ranks(array, 0.0)


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's rank correlation along the last axis, ties by midranks, (…, n) and (…, n) -> (…); nan for constant values.

    Examples
    --------
    >>> float(spearman([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]))
    0.8
    """
    a, b = (ranks - (ranks.shape[-1] + 1) / 2 for ranks in (midranks(x), midranks(y)))
    squares = (a * a).sum(axis=-1) * (b * b).sum(axis=-1)
    # sums of ranks are exact, so only the root is rounded
    found = (a * b).sum(axis=-1) / np.sqrt(np.where(squares > 0, squares, np.nan))
    return np.asarray(np.clip(found, -1.0, 1.0))
