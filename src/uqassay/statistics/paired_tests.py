"""Paired tests of means and of other statistics, for one pair or for all pairs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, as_numeric, generator
from uqassay.checks import different, fail, is_number, mapping, number, one_of, same_length
from uqassay.ids import in_one_order
from uqassay.notes import Note, distinct
from uqassay.statistics.adjustments import Adjust, benjamini_hochberg, in_families, shaffer, shaffer_factor
from uqassay.statistics.estimate import Estimate, mean_estimate, single_unit, unit_notes
from uqassay.statistics.linearised import AveragedStatistic, Runs, centre_of
from uqassay.statistics.resampling import run_means, sign_flip_pvalue
from uqassay.statistics.spreads import (
    PairSample,
    PairSpreads,
    Places,
    combination,
    satterthwaite,
    snap,
    statistic_spreads,
)
from uqassay.statistics.units import (
    Spread,
    Units,
    as_floats,
    as_runs,
    check_draws,
    check_inside,
    check_level,
    hall_inverse,
    make_units,
    spread_of_mean,
)
from uqassay.text import counted

__all__ = [
    "POWER",
    "DetectableDifference",
    "MarginTest",
    "MeanLines",
    "PairedComparison",
    "PairwiseComparisons",
    "agreeing_comparisons",
    "agreeing_pvalues",
    "check_alpha",
    "check_margin",
    "checked_bound",
    "detectable_difference",
    "no_worse_than_best",
    "noncentrality",
    "paired_margin_test",
    "paired_mean_test",
    "paired_statistic_test",
    "pairs_tested",
    "pairwise_mean_tests",
    "pairwise_statistic_tests",
]

POWER = 0.8
PAIRS_AT_ONCE = 2**15  # of all combinations: a block of their results stays in the cache
ROUNDING = 1e-12  # statistics that differ by less count as equal

# Searches for the smallest difference and for the data that would show the one observed.
MOST = 1e6  # times the instances or runs that there are: the search stops here
STEPS, CLOSE = 30, 1e-7  # of the search, and the logarithm of a ratio of numbers that are the same
HALVINGS_OF_FACTOR = 12  # of at most GREATEST: to a tenth of a per cent
GREATEST = 5.0
NODES = 32  # quantiles of an unknown standard error
# degrees of freedom from which a standard error is taken as true, and the normal approximation as exact
WELL_KNOWN = 200.0


# -- results -----------------------------------------------------------------------------------------------------------

MarginVerdict = Literal["better", "equivalent", "no worse", "worse", "cannot tell"]


@final
@dataclass(frozen=True, slots=True)
class DetectableDifference:
    """The smallest difference that a paired test of two means, or of two other statistics, could have shown."""

    #: A true difference of this size is shown by the test with probability `power`. Infinite: no difference could be shown,
    #: whatever its size. nan: there is no test.
    difference: float
    power: float
    #: The test is two-sided at 1 − level.
    level: float
    #: The difference that was found.
    observed: float
    #: How many instances, with the same runs, show a true difference of the size observed with this power; infinite where no
    #: number does. They are not fewer than there are.
    instances: float
    #: How many times the runs of each model, with the same instances, show it.
    times_runs: float
    #: How many groups the instances are, if they come in groups as they do here; nan without groups.
    groups: float = nan


@final
@dataclass(frozen=True, slots=True)
class MarginTest:
    """Whether a mean loss is no more than a margin above another one; made by `paired_margin_test`."""

    #: Mean of a − b with its 1 − 2α interval of Student's t, which lies inside the margins where the t tests show equivalence.
    difference: Estimate
    #: δ > 0.
    margin: float
    #: Of the hypothesis that a is worse than b by the margin or more. Rejected: a is no worse than b by more than δ.
    pvalue_no_worse: float
    #: Of the hypothesis that b is worse than a by the margin or more.
    pvalue_no_better: float
    #: Two-sided, of equal means, with the same guards.
    pvalue_difference: float
    #: 1 − level.
    alpha: float
    #: What keeps a from being shown no worse where Student's t alone would show it: "skewness", "unseen" losses, too few
    #: "runs", or "".
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


@final
@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Result of a paired test of two means."""

    #: Mean of a − b with its confidence interval, which is Student's t for permutation tests too.
    difference: Estimate
    #: t statistic of the difference.
    statistic: float
    #: Two-sided; nan where a note says why.
    pvalue: float
    method: str
    #: Number of instances.
    n: int
    notes: tuple[Note, ...] = ()
    #: Whether the difference is below a margin, where one was given.
    margin: MarginTest | None = None
    #: The smallest difference that these instances could have shown; of `Assay.compare` and of tests of rankings.
    detectable: DetectableDifference | None = None

    def reject(self, alpha: float = 0.05) -> bool:
        """True if equal means are rejected at level alpha. A p-value of nan rejects nothing."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha)


@final
@dataclass(frozen=True, eq=False)
class PairwiseComparisons:
    """Paired tests of all pairs of J values on the same instances. Tables have the shape ``(J, J)``."""

    names: tuple[str, ...]
    #: (J,)
    values: Floats
    #: Value of the row minus value of the column, with the interval of Student's t, which is not adjusted.
    difference: Floats
    low: Floats
    high: Floats
    #: Two-sided and unadjusted. nan on the diagonal and where a note says why.
    pvalue: Floats
    #: The probability of any false rejection is below α: among the pairs by Shaffer's procedure, and, as a family of their own,
    #: among the pairs with a reference by Holm's.
    adjusted: Floats
    #: Adjusted for the false discovery rate instead.
    benjamini_hochberg: Floats
    level: float
    #: What keeps a pair from being significant at 1 − level where `paired_mean_test` alone would make it so: "skewness",
    #: "unseen" losses or too few "runs", see `pairwise_mean_tests`; "" elsewhere.
    limited_by: NDArray[np.str_]
    #: Members that are not compared with each other.
    references: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    #: The smallest true difference that the adjusted test of a pair that is not rejected shows with probability 0.8; nan where
    #: there is no test. Of rankings alone.
    detectable: Floats | None = None

    def reject(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Pairs whose difference is significant at family-wise level alpha, ``(J, J)``."""
        check_alpha(alpha)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.adjusted <= alpha)


# -- means -------------------------------------------------------------------------------------------------------------


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

    Notes
    -----
    The variance is the variance of the mean difference of the run-averaged values, plus s²/R between the runs of each
    model. It is too large by the interaction of runs and instances.

    The type-I error is nominal, except for skewed differences in small samples: 7.5 % at nominal 5 % for exponential
    differences and n = 30 (docs/evidence-comparisons.md).

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
    one_of(method, "method", ("student-t", "permutation"))
    check_draws(n_draws)
    first, second = as_runs(a, "a"), as_runs(b, "b")
    same_length(second.T, "b", first.shape[1], "align them first", of="instance of a")
    several = first.shape[0] > 1 or second.shape[0] > 1
    if method == "permutation" and several:
        rule = "'permutation' takes one run per model, because sign flips do not include the variation between runs"
        got = f"got {first.shape[0]} and {second.shape[0]} runs"
        fail("method", rule, got, "use 'student-t' or test the runs one by one", code="conflict")
    units = make_units(first.shape[1], groups, sample_weight)
    first, second = units.keep(first), units.keep(second)
    notes = unit_notes(units, [first.shape[0], second.shape[0]] if np.ndim(a) == 2 or np.ndim(b) == 2 else [])
    n = units.n_instances

    infinite = int((np.isinf(first).any(axis=0) | np.isinf(second).any(axis=0)).sum())
    with np.errstate(invalid="ignore"):
        means = [first.mean(axis=0), second.mean(axis=0)]
        pair = [[x] for x in means]
        snap(pair)
        differences = pair[0][0] - pair[1][0]  # (n,)
        value = units.mean(differences)
    low = high = statistic = pvalue = np.nan
    if infinite:
        with np.errstate(invalid="ignore"):
            value = units.mean(first.mean(axis=0)) - units.mean(second.mean(axis=0))
        notes.append(Note("no-test", f"infinite values in {infinite} of {n} cases: no interval and no test"))
    elif units.n_units == 1:
        notes.append(single_unit(units, "no interval and no test", "no-test"))
    else:
        spread = spread_of_mean(differences - value, units, [run_means(first, units), run_means(second, units)])
        equal = bool((differences == differences[0]).all())
        if spread.standard_error == 0.0 or (not several and equal):
            value = low = high = float(differences[0]) if equal else value
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
    bound : float or array_like (J,) or (J, J), optional
        Greatest possible excess of a value over another model's value on one instance: of all models, of each, or of that of
        the row over that of the column. By default there is no guard against losses that have not been seen. Infinite: no
        pair can be significant.
    extra_error : array_like (J, J), optional
        Standard errors that another source adds to the differences.
    references : sequence of str
        Models that are compared with all others but not with each other. Their pairs are a family of tests of their own.

    Returns
    -------
    PairwiseComparisons

    Notes
    -----
    The p-value of a pair is the greatest of three:

    * that of `paired_mean_test`, with groups, weights and runs;
    * that of Hall's transformation of the same t statistic, against skewness;
    * the probability that the sample shows nothing of a share q of instances on which the better model is worse by B and
      which would turn the order around: q ≥ d/(d + B) for a difference d, and (1 − q)^n = (B/(B + d))^n.

    For the third, n is the number of independent instances that groups and weights leave, with the correlation inside groups
    estimated from the differences: losses not yet seen are taken to be as correlated as those seen. Of weights w it is
    Σ w / max w, because such losses may strike the instances of the greatest weight alone.

    With several runs, the first two have the fewer degrees of freedom that Satterthwaite's formula gives with the variance of
    each model's runs at its upper 80 % limit (two runs: 90 %). A run variance that is underestimated by chance gives too many
    degrees of freedom, which tests of many pairs cannot afford: with 20 models of 3 runs they err in up to 21 % of data sets.
    Measured error rates: docs/evidence-comparisons.md.

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
    columns = {name: (value,) for name, value in mapping(values, "values", 'write {"a": losses_of_a, …}').items()}
    lines = MeanLines(columns, groups=groups, sample_weight=sample_weight)
    return lines.tests((1.0,), level=level, bound=bound, extra_error=extra_error, references=references)


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
    options: dict[str, Any] = {"margin": margin, "level": level, "bounds": (most, most), "extra": np.zeros(1)}
    return lines.margin_tests((1.0,), ("a",), "b", **options)[0]


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
    return lines.detectable((1.0,), ("a",), "b", **options)[0]


# -- pairs that two readings of the same values tell apart in the same order -------------------------------------------


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
    given = {name: as_numeric(values, name) for name, values in given.items()}
    first = given.pop("first")
    for name, values in given.items():
        if values.shape != first.shape:
            got = f"got {values.shape} and {first.shape}"
            fail(name, "must have the shape of first", got, "give one number for each difference", code="mismatch")
    pvalue, second, second_pvalue = given.values()
    alike = np.sign(first) * np.sign(second) > 0
    both = ~np.isnan(pvalue) & ~np.isnan(second_pvalue)
    return np.where(both, np.where(alike, np.fmax(pvalue, second_pvalue), 1.0), pvalue)


def agreeing_comparisons(
    first: PairwiseComparisons, second: PairwiseComparisons, *, adjust: Adjust | None = None
) -> PairwiseComparisons:
    """Paired tests of the first reading in which a pair is told apart only if the second one tells it apart the same way.

    A value that is only known to lie between two others has two readings, and what holds for both of them holds for the value.

    Parameters
    ----------
    first, second : PairwiseComparisons
        Of the same names. Pairs that the second one has not tested are those of the first.
    adjust : callable, optional
        Table of p-values → adjusted ones, by default as in `pairwise_mean_tests`.

    Returns
    -------
    PairwiseComparisons
        Values and differences of the first. p-value: the greater of both, and 1 where the differences have different signs, or
        one of them is 0. Interval: from the lower of both ends to the upper. Adjusted again for all pairs.

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
        got = f"got {', '.join(second.names)} against {', '.join(first.names)}"
        fail("second", "needs the names of the first", got, "compare the same values", code="mismatch")
    both = ~np.isnan(first.pvalue) & ~np.isnan(second.pvalue)
    pvalue = agreeing_pvalues(first.difference, first.pvalue, second.difference, second.pvalue)
    adjusted = (adjust or in_families(np.isin(first.names, first.references)))(pvalue)
    with np.errstate(invalid="ignore"):
        limits = np.where(adjusted <= 1 - first.level, "", first.limited_by)
    return replace(
        first,
        low=np.where(both, np.fmin(first.low, second.low), first.low),
        high=np.where(both, np.fmax(first.high, second.high), first.high),
        pvalue=pvalue,
        adjusted=adjusted,
        benjamini_hochberg=benjamini_hochberg(pvalue),  # each pair stands in the table twice, which changes nothing
        limited_by=limits,
    )


# -- means that are linear in a coefficient: estimates and paired tests at any value of it ------------------------------


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
        self.names, self._runs = _models(values)
        self._groups, self._weights = groups, sample_weight
        self._places = {name: k for k, name in enumerate(self.names)}
        self._with_runs = [any(np.ndim(column) == 2 for column in columns) for columns in values.values()]
        self._units = units = make_units(self._runs[0][0].shape[1], groups, sample_weight)
        kept = [[units.keep(column) for column in columns] for columns in self._runs]
        # a last model of zeros, whose differences from the others are their means
        self._sample = PairSample([*kept, [np.zeros((1, units.n_instances))] * len(kept[0])], units)

    def values(self, name: str, coefficients: Sequence[float]) -> Floats:
        """The combination of one model's columns, ``(n,)``, or ``(R, n)`` of several runs."""
        found = combination(coefficients, self._runs[self._places[name]])
        return found if self._with_runs[self._places[name]] else found[0]

    # -- estimates and tests against one model

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

    def margin_tests(
        self,
        coefficients: Sequence[float],
        names: Sequence[str],
        other: str,
        *,
        margin: float,
        level: float,
        bounds: tuple[Floats, Floats],
        extra: Floats,
    ) -> list[MarginTest]:
        """`paired_margin_test` of a combination of the columns of several models against another model.

        Parameters
        ----------
        coefficients, names, other
            As in `differences`.
        margin, level
        bounds : two arrays (P,)
            Greatest excess of each model over the other, and of the other over each.
        extra : array (P,)
            Standard errors of another source.
        """
        delta, alpha = check_margin(margin, level), 1 - level
        tests = self.differences(coefficients, names, other, level=1 - 2 * alpha)
        tested, spreads = self._tested(coefficients, names, other)
        numbers, limits = np.full((4, len(names)), nan), np.full(len(names), "", dtype="<U8")
        if tested.any():
            over, under, error = bounds[0][tested], bounds[1][tested], extra[tested]
            above = margins_tested(spreads, error, over, delta)
            turned = spreads._replace(difference=-spreads.difference, third=-spreads.third)
            apart = pairs_tested(spreads, error, over, under)
            below = margins_tested(turned, error, under, delta)
            reach = apart.reach(2 * level - 1)
            numbers[:, tested] = above.pvalue, below.pvalue, apart.pvalue, reach
            lost = (above.student <= alpha) & ~(above.pvalue <= alpha)
            limits[tested] = np.where(lost, above.obstacle, "")
        results = []
        for test, row, limited_by in zip(tests, numbers.T.tolist(), limits.tolist(), strict=True):
            d, (no_worse, no_better, difference, half) = test.difference, row
            ends: dict[str, Any] = {"low": float(d) - half, "high": float(d) + half, "level": 1 - 2 * alpha}
            estimate = Estimate(float(d), **ends, n=d.n, method="student-t", notes=d.notes)
            results.append(
                MarginTest(estimate, delta, no_worse, no_better, difference, alpha, limited_by, test.n, d.notes)
            )
        return results

    def detectable(
        self,
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
        """`detectable_difference` of a combination of the columns of several models from another model.

        Parameters
        ----------
        coefficients, names, other
            As in `differences`.
        alphas : sequence of P float
            One minus the level of each test.
        bounds : array (P,)
            Greatest excess of one model over the other.
        extra : array (P,)
            Standard errors of another source.
        power : float
        plans : bool
            Whether the numbers of instances and runs are found, too; else they are nan.
        """
        found = [DetectableDifference(nan, power, 1 - alpha, nan, nan, nan) for alpha in alphas]
        tested, spreads = self._tested(coefficients, names, other)
        if tested.any():
            places = np.flatnonzero(tested).tolist()
            alpha = np.array([alphas[k] for k in places])
            few = _detectable(spreads, extra[tested], bounds[tested], alpha, power, units=self._units, plans=plans)
            for k, one in zip(places, few, strict=True):
                found[k] = one
        return found

    def _tested(
        self, coefficients: Sequence[float], names: Sequence[str], other: str
    ) -> tuple[NDArray[np.bool_], PairSpreads]:
        """Which of several models can be tested against another one, and the differences of these."""
        places, b = np.array([self._places[name] for name in names], dtype=np.intp), self._places[other]
        tested = self._sample.finite[places] & self._sample.finite[b] & (self._units.n_units > 1)
        places = places[tested]
        return tested, self._sample.spreads(coefficients, places, np.full(places.size, b))

    def _notes(self, names: Sequence[str]) -> list[Note]:
        places = [self._places[name] for name in names]
        several = any(self._with_runs[j] for j in places)
        return unit_notes(self._units, [len(self._runs[j][0]) for j in places] if several else [])

    # -- tests of all pairs

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
        adjust: Adjust | None = None,
    ) -> list[PairwiseComparisons]:
        """`tests` of several combinations, with the bounds and errors (J, J) of each; those of all pairs at once.

        `adjust` takes a table of p-values to adjusted ones; by default `in_families`.
        """
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
            columns, obstacles = np.empty((len(t), 4, 0)), np.empty((len(t), 0), dtype="<U8")
            if a.size:
                spreads = self._sample.spreads(np.repeat(t.T, a.size, axis=1), *np.tile(chosen[[a, b]], len(t)))
                tested = pairs_tested(spreads, error[:, a, b].ravel(), bound[:, a, b].ravel(), bound[:, b, a].ravel())
                tables = np.stack([spreads.difference, tested.reach(level), tested.pvalue, tested.student])
                columns = tables.reshape(len(tables), len(t), -1).swapaxes(0, 1)
                obstacles = tested.obstacle.reshape(len(t), -1)
            for coefficients, of_pairs, obstacle in zip(t, columns, obstacles, strict=True):
                means = self._means(coefficients, chosen)
                found.append(
                    self._comparisons(
                        names,
                        chosen,
                        means,
                        (a, b),
                        of_pairs,
                        obstacle,
                        level=level,
                        references=references,
                        adjust=adjust,
                    )
                )
        return found

    def _comparisons(
        self,
        names: Sequence[str],
        chosen: Places,
        means: Floats,
        tested: tuple[Places, Places],
        columns: Floats,
        obstacle: NDArray[np.str_],
        *,
        level: float,
        references: Sequence[str],
        adjust: Adjust | None,
    ) -> PairwiseComparisons:
        """Tables of one combination: of the pairs tested, the differences, half widths and p-values (4, P), and obstacles."""
        (a, b), (value, reach, p, p_student), j = tested, columns, len(names)
        adjust = adjust or in_families(np.isin(names, references))
        finite = self._sample.finite[chosen]
        counts = [len(self._runs[k][0]) for k in chosen.tolist()]
        notes = unit_notes(self._units, counts if max(counts) > 1 else [])
        if not finite.all():
            text = f"infinite values of {int((~finite).sum())} of {j} models: no test of them"
            infinite = [name for name, f in zip(names, finite, strict=True) if not f]
            notes.append(Note("no-test", text, {"models": infinite}))
        if self._units.n_units == 1:
            notes.append(single_unit(self._units, "no interval and no test", "no-test"))
        with np.errstate(invalid="ignore"):
            difference = np.subtract.outer(means, means)
        np.fill_diagonal(difference, 0.0)
        difference[a, b], difference[b, a] = value, -value
        low, high, pvalue, student = (_square(j, a, b, one) for one in (value - reach, value + reach, p, p_student))
        low[b, a], high[b, a] = -value - reach, reach - value
        np.fill_diagonal(low, 0.0)
        np.fill_diagonal(high, 0.0)
        adjusted = adjust(pvalue)
        limits = np.full((j, j), "", dtype="<U8")
        limits[a, b] = limits[b, a] = obstacle
        with np.errstate(invalid="ignore"):
            limits[~((adjust(student) <= 1 - level) & ~(adjusted <= 1 - level))] = ""
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

    def of_pairs(
        self,
        coefficients: ArrayLike,
        first: Sequence[str],
        second: Sequence[str],
        *,
        bounds: tuple[ArrayLike, ArrayLike] = (0.0, 0.0),
        extra_error: ArrayLike = 0.0,
    ) -> tuple[Floats, Floats]:
        """Means of first models minus those of second ones, and p-values as in `tests`, not adjusted, ``(..., P)`` each.

        Parameters
        ----------
        coefficients : array_like (..., 1, C) or (..., P, C)
            Of all pairs, or of each.
        first, second : sequence of P str
        bounds : two array_like (..., P)
            Greatest excess of each first model over the second, and of the second over the first; 0 for no guard.
        extra_error : array_like (..., P)
            Standard errors that another source adds to the differences.
        """
        a, b = (np.array([self._places[name] for name in names], dtype=np.intp) for names in (first, second))
        t = np.asarray(coefficients, dtype=np.float64)
        t = np.broadcast_to(t, (*t.shape[:-2], a.size, t.shape[-1]))  # (..., P, C)
        with np.errstate(invalid="ignore"):
            difference = self._means_of_each(t, a) - self._means_of_each(t, b)
        shape, pvalue = difference.shape, np.full(difference.shape, np.nan)
        errors = np.broadcast_to(np.asarray(extra_error, dtype=np.float64), shape)
        over, under = (np.broadcast_to(np.asarray(one, dtype=np.float64), shape) for one in bounds)
        tested = np.broadcast_to(self._sample.finite[a] & self._sample.finite[b], shape)
        if self._units.n_units > 1 and tested.any():
            places, others = (np.broadcast_to(each, shape)[tested] for each in (a, b))
            spreads = self._sample.spreads(t[tested].T, places, others)
            found = pairs_tested(spreads, errors[tested], over[tested], under[tested])
            difference[tested] = spreads.difference
            pvalue[tested] = found.pvalue
        return difference, pvalue

    def _means(self, coefficients: ArrayLike, places: Places) -> Floats:
        """Means of the combinations, ``(J,)``."""
        return self._means_of_each(np.asarray(coefficients, dtype=np.float64)[np.newaxis], places)

    def _means_of_each(self, coefficients: Floats, places: Places) -> Floats:
        """Means with coefficients (..., P, C) of each model, ``(..., P)``; a column whose coefficient is 0 may be infinite."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(coefficients != 0, coefficients * self._sample.means[places], 0.0).sum(axis=-1))


def _square(j: int, a: Places, b: Places, values: Floats) -> Floats:
    """A symmetric table with values of the pairs a, b, and nan elsewhere."""
    table = np.full((j, j), nan)
    table[a, b] = table[b, a] = values
    return table


# -- other statistics --------------------------------------------------------------------------------------------------


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
    >>> from uqassay.statistics import Linearised
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> paired_statistic_test(Linearised(x.mean(), x - x.mean()), Linearised(1.0, np.zeros(4))).pvalue.__round__(3)
    0.495
    """
    check_level(level)
    (one, other), units = _averaged({"a": a, "b": b}, groups, sample_weight)
    notes = unit_notes(units, [] if one.n_runs is other.n_runs is None else [one.values.size, other.values.size])
    notes += distinct(one.whole.notes, other.whole.notes)
    found = _statistics_tested([one, other], np.array([0]), np.array([1]), units, level, bound)
    value, low, high, statistic, pvalue = (float(x[0]) for x in found[:5])
    detectable = None
    if np.isnan(value):
        notes.append(Note("no-test", "a statistic is undefined: no test"))
    elif units.n_units == 1:
        notes.append(single_unit(units, "no test", "no-test"))
    elif found.spreads.regular[0]:
        detectable = _detectable_statistic(found.spreads, units, level, bound)
    elif pvalue == 1.0:
        notes.append(Note("no-width", "the two agree on every case"))
    else:
        notes.append(Note("no-test", "the difference does not vary over the cases: no test"))
    n = units.n_instances
    difference = Estimate(value, low=low, high=high, level=level, n=n, method="linearised", notes=notes)
    return PairedComparison(difference, statistic, pvalue, "linearised", n, difference.notes, detectable=detectable)


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
    >>> from uqassay.statistics import Linearised
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> found = pairwise_statistic_tests({"x": Linearised(1.5, x - 1.5), "one": Linearised(1.0, 0 * x)})
    >>> found.difference.tolist(), found.pvalue.round(3).tolist()
    ([[0.0, 0.5], [-0.5, 0.0]], [[nan, 0.495], [0.495, nan]])
    """
    check_level(level)
    if not statistics:
        remedy = "pass a dict from names to statistics"
        fail("statistics", "needs at least one statistic", "got none", remedy, code="empty")
    given = {f"statistics[{name!r}]": statistic for name, statistic in statistics.items()}
    means, units = _averaged(given, groups, sample_weight)
    j = len(means)
    a, b = np.tril_indices(j, -1)
    found = _statistics_tested(means, a, b, units, level, bound)
    difference, low, high, pvalue = (
        _square(j, a, b, x) for x in (found.difference, found.low, found.high, found.pvalue)
    )
    difference[b, a], low[b, a], high[b, a] = -found.difference, -found.high, -found.low
    for table in (difference, low, high):
        np.fill_diagonal(table, 0.0)
    tested, alpha = found.places[found.spreads.regular], (1 - level) / shaffer_factor(pvalue, 1 - level)
    detectable = np.full((j, j), nan)
    smallest = _possible(_smallest(found.spreads, alpha=alpha), bound)[found.spreads.regular]
    detectable[a[tested], b[tested]] = detectable[b[tested], a[tested]] = smallest
    return PairwiseComparisons(
        names=tuple(str(name) for name in statistics),
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


def _averaged(
    statistics: Mapping[str, Runs], groups: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[list[AveragedStatistic], Units]:
    """Averages over runs, and units, of statistics on the same instances; the keys are the parameters in errors."""
    rows = {}
    for parameter, given in statistics.items():
        if isinstance(given, Sequence) and not given:
            fail(parameter, "needs at least one run", "got none", "pass a Linearised or a list of them", code="empty")
        rows[parameter] = (given[0] if isinstance(given, Sequence) else given).n_rows
    n = next(iter(rows.values()))
    for parameter, found in rows.items():
        if found != n:
            rule = f"needs the same {n} instances as the others"
            fail(parameter, rule, f"got {found}", "compute all on one test set", code="mismatch")
    units = make_units(n, groups, sample_weight)
    return [AveragedStatistic.of(given, units) for given in statistics.values()], units


class _StatisticTests(NamedTuple):
    """Tests of P pairs, (P,) each; `spreads` of the pairs at `places`, those that have a spread being regular."""

    difference: Floats
    low: Floats
    high: Floats
    statistic: Floats
    pvalue: Floats
    places: Places
    spreads: PairSpreads


def _statistics_tested(
    means: Sequence[AveragedStatistic], a: Places, b: Places, units: Units, level: float, bound: float
) -> _StatisticTests:
    """Student's t tests of statistics a minus statistics b."""
    values, centres = (np.array([of(mean.whole) for mean in means]) for of in (lambda whole: whole.value, centre_of))
    value = values[a] - values[b]
    low, high, statistic, pvalue = np.full((4, a.size), nan)
    places = np.flatnonzero(~np.isnan(value) & (units.n_units > 1))
    a, b = a[places], b[places]
    spreads = statistic_spreads(means, a, b, units)
    centre, error, dof, known = centres[a] - centres[b], np.sqrt(spreads.variance), spreads.total_dof, value[places]
    reach = special.stdtrit(dof, 0.5 + level / 2) * error
    low[places] = np.maximum(np.minimum(centre - reach, known), -bound)
    high[places] = np.minimum(np.maximum(centre + reach, known), bound)
    spreads = spreads._replace(regular=error > ROUNDING)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(spreads.regular, centre / error, np.where(np.abs(known) <= ROUNDING, 0.0, nan))
    statistic[places] = t
    pvalue[places] = np.where(t == 0.0, 1.0, 2 * special.stdtr(dof, -np.abs(t)))
    return _StatisticTests(value, low, high, statistic, pvalue, places, spreads)


def _detectable_statistic(spreads: PairSpreads, units: Units, level: float, bound: float) -> DetectableDifference:
    """Of the test of two statistics, with the numbers of instances and runs that show the difference observed."""
    (found,) = _detectable(spreads, 0.0, 0.0, np.array([1 - level]), POWER, units=units)
    return replace(found, difference=float(_possible(np.array(found.difference), bound)))


def _possible(difference: Floats, bound: float) -> Floats:
    """A difference beyond the bound is infinite."""
    return np.where(difference <= bound, difference, np.inf)


# -- tests of differences with their spreads: Student's, Hall's for skewed values, and what instances not seen could turn ---


class PairTests(NamedTuple):
    """Tests of P pairs, two-sided of equality or one-sided against a margin, (P,) each."""

    error: Floats  # standard errors
    dof: Floats
    student: Floats  # p-values: with Satterthwaite's degrees of freedom, and with fewer for few runs
    student_of_runs: Floats
    hall: Floats
    hall_of_runs: Floats
    unseen: Floats

    @property
    def pvalue(self) -> Floats:
        """The greatest of the tests with the fewer degrees of freedom."""
        return np.maximum(np.maximum(self.student_of_runs, self.hall_of_runs), self.unseen)

    @property
    def obstacle(self) -> NDArray[np.str_]:
        """What most of all keeps a pair from being shown where Student's test alone shows it."""
        seen = np.where(self.student_of_runs > self.hall, "runs", "skewness")
        return np.where(self.unseen >= np.fmax(self.student_of_runs, self.hall), "unseen", seen)

    def reach(self, level: float) -> Floats:
        """Half the widths of the intervals."""
        dof = self.dof[:1] if (self.dof == self.dof[:1]).all() else self.dof
        return np.asarray(special.stdtrit(dof, 0.5 + level / 2) * self.error)


def pairs_tested(s: PairSpreads, extra: Floats, bound_a: Floats, bound_b: Floats) -> PairTests:
    """Two-sided tests of equality.

    `extra` are standard errors of another source, the bounds the greatest excess of either model over the other on one
    instance, 0 for no guard; (P,) each. With a bound B, n instances show nothing of what could turn the order around with
    probability (B/(B + |d|))^n.
    """
    d, bound = s.difference, np.where(s.difference < 0, bound_a, bound_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.exp(-s.independent * np.log1p(np.abs(d) / bound))
    unseen = np.where(bound > 0, np.where(d == 0, 1.0, p), 0.0)
    return _tests(s, extra, 0.0, unseen, two_sided=True)


def margins_tested(s: PairSpreads, extra: Floats, bound: Floats, margin: float) -> PairTests:
    """One-sided tests of a − b ≥ margin against a − b < margin; arguments as of `pairs_tested`, the bound of a over b."""
    d = s.difference
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # a share q of instances with the excess B, of which n independent ones show nothing: q ≥ (margin − d)/(B − d)
        shown = np.exp(s.independent * (np.log(np.maximum(bound - margin, 0.0)) - np.log(bound - d)))
    shown = np.where(np.isinf(bound), 1.0, shown)
    unseen = np.where(bound > 0, np.where(margin > d, np.where(bound > margin, shown, 0.0), 1.0), 0.0)
    return _tests(s, extra, margin, unseen, two_sided=False)


def _tests(s: PairSpreads, extra: Floats, margin: float, unseen: Floats, *, two_sided: bool) -> PairTests:
    """Student's and Hall's tests of the difference less the margin; g(t) = t + kt²/3 + k²t³/27 + k/6 is monotone."""
    d = s.difference
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        variance = s.variance + (extra / s.scale) ** 2
        error = s.scale * np.sqrt(variance)
        still = ((error == 0) | (s.equal & ~s.several)) & (extra == 0)
        t = np.where(still, np.where(d == margin, 0.0, np.copysign(np.inf, d - margin)), (d - margin) / error)
        skewness = np.where(still, 0.0, s.third / variance**1.5)
        g = t * (1 + skewness * t / 3 * (1 + skewness * t / 9)) + skewness / 6
    g = np.where(np.isfinite(t), g, t)
    dof = s.total_dof

    def pvalues(dof: Floats) -> tuple[Floats, Floats]:
        sides, tails = (2.0, (-np.abs(t), -np.abs(g))) if two_sided else (1.0, (t, g))
        student, hall = (np.asarray(sides * special.stdtr(dof, tail)) for tail in tails)
        return student, hall

    student, hall = student_of_runs, hall_of_runs = pvalues(dof)
    if s.several.any():
        limits = satterthwaite(s.inside, s.dof, s.run_limits * s.between, s.run_dofs)
        student_of_runs, hall_of_runs = pvalues(np.minimum(dof, limits))
    return PairTests(np.where(still, 0.0, error), dof, student, student_of_runs, hall, hall_of_runs, unseen)


# -- the smallest differences that tests of pairs could have shown, and how much data would show those observed ------------


def _detectable(
    spreads: PairSpreads,
    extra: Floats | float,
    bound: Floats | float,
    alpha: Floats,
    power: float,
    *,
    units: Units,
    plans: bool = True,
) -> list[DetectableDifference]:
    """`detectable_difference` of P pairs, each at its level; arrays (P,) as in `pairs_tested`."""
    one = np.ones(alpha.size)
    smallest = _smallest(spreads, extra, bound, alpha=alpha, power=power)
    goal = np.abs(spreads.difference)

    def needed(of_runs: bool) -> Floats:
        """The factor by which instances or runs grow until the observed difference is the smallest one."""

        def excess(x: Floats) -> Floats:
            factor = {"runs" if of_runs else "units": np.exp(x)}
            found = _smallest(spreads, extra, bound, alpha=alpha, power=power, **factor)
            with np.errstate(divide="ignore", invalid="ignore"):  # 0 for models that agree
                return np.asarray(np.log(found) - np.log(goal))

        few, many = 0.0 * one, np.log(MOST) * one
        first, last = excess(few), excess(many)
        factor = np.exp(_root(excess, few, many, first, last))
        return np.where(np.isnan(first), nan, np.where(first <= 0, 1.0, np.where(last <= 0, factor, inf)))

    instances = needed(False) if plans else nan * one
    runs = np.where(spreads.several, needed(True), nan) if plans and spreads.several.any() else nan * one
    rows = zip(smallest, alpha, spreads.difference, instances, runs, strict=True)
    return [
        DetectableDifference(
            difference=float(d),
            power=power,
            level=float(1 - a),
            observed=float(o),
            instances=_whole(i * units.n_instances),
            times_runs=float(r),
            groups=nan if units.codes is None else _whole(i * units.n_units),
        )
        for d, a, o, i, r in rows
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


def _whole(number: float) -> float:
    return float(np.ceil(number - 1e-9)) if number < inf else float(number)


def _smallest(
    s: PairSpreads,
    extra: Floats | float = 0.0,
    bound: Floats | float = 0.0,
    *,
    alpha: Floats | float,
    power: float = POWER,
    units: Floats | float = 1.0,
    runs: Floats | float = 1.0,
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
        threshold = np.maximum(q, np.maximum(hall_inverse(q, skewness), -hall_inverse(-q, skewness)))
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


# -- arguments ---------------------------------------------------------------------------------------------------------


def check_alpha(alpha: float) -> None:
    """Raise InputError for a significance level outside (0, 1)."""
    number(alpha, "alpha", "pass 0.05 for 5 %", low=0, high=1, ends="()")


def check_margin(margin: float, level: float) -> float:
    """The margin, which must be a positive and finite number; the level must be above ½."""
    if not level > 0.5:
        rule = "must be above 0.5 where a margin is given"
        fail("level", rule, f"got {level}", "pass 0.95 for 95 %", code="range")
    if not (is_number(margin) and 0.0 < margin < np.inf):
        remedy = "pass the greatest difference that does not matter, in units of the loss"
        fail("margin", "must be a positive number", f"got {margin!r}", remedy, code="range")
    return float(margin)


def checked_bound(bound: float) -> float:
    """A bound, which must be a number that is not negative."""
    return number(bound, "bound", "pass the loss's range", low=0)


def _models(values: Mapping[str, Sequence[ArrayLike]]) -> tuple[tuple[str, ...], list[list[Floats]]]:
    """Names, and the columns (R_j, n) of each model."""
    if not values:
        fail("values", "must map at least one name to values", "got none", 'write {"a": losses_of_a, …}', code="empty")
    names = tuple(str(name) for name in values)
    different(names, "values", "each model needs a name that no other one has", "rename some")
    runs = [
        [as_runs(column, f"values[{name!r}]") for column in values[key]]
        for name, key in zip(names, values, strict=True)
    ]
    n, c = runs[0][0].shape[1], len(runs[0])
    for name, columns in zip(names, runs, strict=True):
        for column in columns:
            if column.shape[1] != n:
                rule = f"all models need the same {n} instances"
                fail(f"values[{name!r}]", rule, f"got {column.shape[1]}", "align them first", code="mismatch")
        if len(columns) != c or len({len(column) for column in columns}) > 1:
            rule = f"needs {counted(c, 'column')} with the same runs, as the other models have"
            got = f"got shapes {', '.join(str(column.shape) for column in columns)}"
            fail(f"values[{name!r}]", rule, got, "align them first", code="mismatch")
    return names, runs


def _bounds(bound: ArrayLike | None, j: int) -> Floats:
    """Checked bounds of the row's model over the column's, (J, J)."""
    if bound is None:
        return np.zeros((j, j))
    array = as_floats(bound, "bound", ndim=(0, 1, 2), shape=f"(), ({j},) or ({j}, {j})")
    if array.shape not in ((), (j,), (j, j)):
        rule = f"needs one number, one for each of {j} models, or one for each pair"
        fail("bound", rule, f"got shape {array.shape}", "pass one", code="shape")
    checked_bound(array.min())
    return np.broadcast_to(array[:, np.newaxis] if array.ndim == 1 else array, (j, j))


def _errors(extra_error: ArrayLike | None, j: int) -> Floats:
    if extra_error is None:
        return np.zeros((j, j))
    array = as_floats(extra_error, "extra_error", ndim=(2,), shape=f"({j}, {j})")
    if array.shape != (j, j):
        rule, got = f"needs one number for each pair, shape ({j}, {j})", f"got shape {array.shape}"
        fail("extra_error", rule, got, "write 0 where nothing is added", code="shape")
    number(array.min(), "extra_error", "pass standard errors", low=0)
    return array


def _pairs(names: Sequence[str], references: Sequence[str]) -> Places:
    """The pairs to test, (P, 2)."""
    for name in references:
        one_of(name, "references", names, "choose some of the names")
    held = np.isin(names, list(references))
    a, b = np.triu_indices(len(names), 1)
    keep = ~(held[a] & held[b])
    return np.stack([a[keep], b[keep]], axis=1)
