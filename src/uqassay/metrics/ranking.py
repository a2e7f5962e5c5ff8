"""UQ-AUC, UQ-C-index, G-AUC and H-AUC, with intervals and paired tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, as_numeric, generator
from uqassay.checks import fail, mapping, one_of, same_length
from uqassay.ids import in_one_order
from uqassay.metrics.names import metric_name
from uqassay.metrics.risk import (
    RankedErrors,
    area_estimate,
    augrc,
    augrc_linearised,
    aurc,
    e_aurc,
    once_for_errors,
    rank_errors,
    ranked_auc,
    ratio_of_auc,
    small_sample_ratio,
)
from uqassay.statistics import Estimate, PairedComparison, PairwiseComparisons
from uqassay.statistics.auc import FEW, IMAGINARY, auc_linearised, checked, named_auc, noted, sample_counts
from uqassay.statistics.components import midranks
from uqassay.statistics.correlation import concordance_linearised
from uqassay.statistics.linearised import LEAST_DOF, AveragedStatistic, Linearised, linearised_estimate, sample_factor
from uqassay.statistics.paired_tests import paired_statistic_test, pairwise_statistic_tests
from uqassay.statistics.units import Units, as_floats, check_draws, effective_number, make_units, scaled_weights

__all__ = [
    "RANKING_METRICS",
    "RankingMetric",
    "chance_pvalue",
    "g_auc_score",
    "h_auc_score",
    "is_constant",
    "paired_ranking_test",
    "pairwise_ranking_tests",
    "uq_auc_score",
    "uq_c_index_score",
]


# Ground-truth-free ranking metrics: UQ-AUC, UQ-C-index, G-AUC and H-AUC.
#
# They measure how well an uncertainty ranks the errors, or the gaps between prediction and label. Ranking metrics (Pignet,
# Regniez, Klein, Legitimate ground-truth-free metrics for deep uncertainty classification scoring). All metrics depend
# only on the order of the uncertainties, and count ties ½.

SAMPLES = ("errors", "right predictions")
DIFFERENT = "cases with a gap other than the most frequent one"
ARGUMENTS = ("errors", "uncertainty")


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def uq_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "adjusted",
) -> Estimate:
    """Probability that an error is more uncertain than a right prediction (ties ½): the ROC-AUC of s for the errors.

    P( s(X) < s(X') given mis(X, Y) < mis(X', Y') ). In the population it is maximised by the order of
    φ(x) = 1 − p(ŷ(x) | x), and by no other order (ranking metrics, Thm 2.3).

    Parameters
    ----------
    errors : array_like (n,)
        1 if the predicted class is wrong, 0 if it is right, or the probability that it is wrong (`prediction_errors`). An
        instance with probability .3 counts as .3 of an error and .7 of a right prediction, and its pair with itself ½.
    uncertainty : array_like (n,)
        Greater means less certain. Infinite values are allowed.
    sample_weight : array_like (n,), optional
        An integer weight equals that many copies.
    groups : array_like (n,), optional
        Patients, sites or videos. Groups are independent of each other; instances of one group may not be.
    level : float
    method : {"adjusted", "delong"}
        Method of the interval, as in `statistics.auc_estimate`.

    Returns
    -------
    estimate : Estimate
        ½ for an uncertainty that is unrelated to the errors. nan with a note if there are no errors or only errors. With
        fewer than 20 errors or right predictions a note gives their number.

    Examples
    --------
    >>> uq_auc_score([0, 0, 1, 0], [0.1, 0.3, 0.3, 0.2]).__round__(4)
    0.8333
    """
    return named_auc(
        errors,
        uncertainty,
        sample_weight=sample_weight,
        groups=groups,
        level=level,
        method=method,
        names=SAMPLES,
        arguments=ARGUMENTS,
    )


@in_one_order("gap", "uncertainty", "sample_weight", "groups")
def uq_c_index_score(
    gap: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Probability that, of two instances, the one with the greater gap has the greater uncertainty (ties ½).

    P( s(X) < s(X') given gap(X, Y) < gap(X', Y') ): Harrell's C-index of the uncertainty for the gap, without censoring.
    With two classes it is maximised in the population by the order of ψ(x) = 1 − f_y*(x), where y* is the most probable
    class (ranking metrics, Thm 2.5). With three or more classes another order may have a greater C-index.

    Parameters
    ----------
    gap : array_like (n,)
        1 − f_y of each instance (`probability_gap`). Pairs of equal gaps are left out.
    uncertainty, sample_weight, groups, level
        As in `uq_auc_score`.

    Returns
    -------
    estimate : Estimate
        nan with a note if all gaps are equal.

    Notes
    -----
    The C-index is a ratio of two U-statistics. The interval uses Hájek's projection, the logit scale and 0.3 of an
    imaginary instance whose pairs count ½ (see `statistics.auc_estimate`).

    The measured coverage of 95 % intervals is 94.7 to 97.1 % for n ≥ 40 (docs/evidence-ranking.md).

    References
    ----------
    Harrell, Lee, Mark (1996), Multivariable prognostic models, Stat. Med. 15.

    Examples
    --------
    >>> uq_c_index_score([0.1, 0.2, 0.9], [0.3, 0.5, 0.5]).__round__(4)
    0.8333
    """
    g, s, w = checked_gap(gap, uncertainty, sample_weight)
    codes = None if groups is None else make_units(len(g), groups, None).codes
    statistic = c_index_linearised(g, s, w, codes)
    estimate = linearised_estimate(
        statistic, groups=groups, sample_weight=w, level=level, scale="logit", method="u-statistic, logit scale"
    )
    count = untied(g if w is None else g[w > 0])
    return noted(estimate, [] if np.isnan(estimate) else [(count, DIFFERENT)], constant=bool((s == s[0]).all()))


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def g_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """G-AUC, the accuracy-coverage area of pairs, P(right given s ≤ s'): ACC² + 2 ACC (1 − ACC) UQ-AUC.

    Ranking metrics, Lemma 3.1 (after Geifman et al. 2019). G-AUC is ∫ 2c·Acc(c) dc, where Acc(c) is the accuracy on the share
    c of the least uncertain instances. The plain area ∫ Acc(c) dc, which is 1 − `aurc_loss`, is not a function of the
    accuracy and UQ-AUC.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `uq_auc_score`.

    Examples
    --------
    >>> g_auc_score([0, 0, 1, 0], [0.1, 0.3, 0.3, 0.2]).__round__(4)
    0.875
    """
    e, s, w = checked(errors, uncertainty, sample_weight, ARGUMENTS)
    estimate = g_auc_interval(g_auc_linearised(e, s, w), groups, level, w)
    return noted(estimate, sample_counts(e, w, groups, SAMPLES), constant=bool((s == s[0]).all()))


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def h_auc_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """H-AUC, the area under remaining accuracy against remaining error: ACC (1 − ACC) UQ-AUC.

    Ranking metrics, Lemma 3.1 (after Henne et al. 2020). Both rates are shares of all instances, at every threshold of the
    uncertainty.

    Parameters
    ----------
    errors, uncertainty, sample_weight, groups, level
        As in `uq_auc_score`.

    Examples
    --------
    >>> h_auc_score([0, 0, 1, 0], [0.1, 0.3, 0.3, 0.2]).__round__(4)
    0.1562
    """
    e, s, w = checked(errors, uncertainty, sample_weight, ARGUMENTS)
    estimate = h_auc_interval(h_auc_linearised(e, s, w), groups, level, w)
    return noted(estimate, sample_counts(e, w, groups, SAMPLES), constant=bool((s == s[0]).all()))


def c_index_linearised(g: Floats, s: Floats, w: Floats | None, codes: NDArray[np.intp] | None = None) -> Linearised:
    """UQ-C-index and its influences. Two values of the gap make two samples, so it is the UQ-AUC, with its interval."""
    known = g if w is None else g[w > 0]
    least, greatest = known.min(), known.max()
    if least < greatest and ((known == least) | (known == greatest)).all():
        return auc_linearised((g == greatest).astype(np.float64), s, w, codes, imaginary=IMAGINARY)
    return concordance_linearised(g, s, w, codes, imaginary=IMAGINARY)


def g_auc_linearised(e: Floats, s: Floats, w: Floats | None) -> Linearised:
    """G-AUC and its influences: 1 − 2 AUGRC."""
    area = augrc_linearised(e, s, w)
    return replace(area, value=1.0 - 2.0 * area.value, influence=-2.0 * area.influence)


def h_auc_linearised(e: Floats, s: Floats, w: Floats | None) -> Linearised:
    """H-AUC, ACC (1 − ACC) UQ-AUC, and its influences by the chain rule."""
    auc = auc_linearised(e, s, w)
    accuracy = 1.0 - float(np.average(e, weights=w))
    u = 0.5 if np.isnan(auc.value) else auc.value  # undefined only where its factor is 0
    factor = accuracy * (1.0 - accuracy)
    influence = (1.0 - 2.0 * accuracy) * u * (1.0 - e - accuracy) + factor * auc.influence
    return Linearised(factor * u, influence, uneven=True)


Statistics = Linearised | Sequence[Linearised]


def g_auc_interval(
    statistics: Statistics, groups: ArrayLike | None, level: float, sample_weight: ArrayLike | None = None
) -> Estimate:
    """Interval of G-AUC = 1 − 2 AUGRC from the interval of AUGRC."""
    runs = [statistics] if isinstance(statistics, Linearised) else list(statistics)
    areas = [replace(run, value=0.5 - 0.5 * run.value, influence=-0.5 * run.influence) for run in runs]
    area = area_estimate(
        areas if len(areas) > 1 else areas[0], "augrc", groups=groups, level=level, sample_weight=sample_weight
    )
    return _moved(area, lambda value: 1.0 - 2.0 * value)


def h_auc_interval(
    statistics: Statistics, groups: ArrayLike | None, level: float, sample_weight: ArrayLike | None = None
) -> Estimate:
    """Interval of H-AUC on the logit scale between 0 and ¼, its greatest value."""
    runs = [statistics] if isinstance(statistics, Linearised) else list(statistics)
    fourfold = [replace(run, value=4.0 * run.value, influence=4.0 * run.influence) for run in runs]
    found = linearised_estimate(
        fourfold if len(fourfold) > 1 else fourfold[0],
        groups=groups,
        sample_weight=sample_weight,
        level=level,
        scale="logit",
    )
    return _moved(found, lambda value: 0.25 * value)


def _moved(estimate: Estimate, function: Callable[[float], float]) -> Estimate:
    value = function(float(estimate))
    low, high = sorted((function(estimate.low), function(estimate.high)))
    fields = {name: getattr(estimate, name) for name in ("level", "n", "method", "notes")}
    return Estimate(value, low=min(low, value), high=max(high, value), **fields)


def untied(gap: Floats) -> int:
    """Number of instances whose gap is not the most frequent one; all instances if no two gaps are equal.

    Exact below `FEW`; above only a lower bound, because no note needs it.
    """
    # if fewer than FEW instances differ from the most frequent gap, it also holds most of the first 2 · FEW instances
    levels, counts = np.unique(gap[: 2 * FEW], return_counts=True)
    if gap.size > 2 * FEW:
        return int(np.count_nonzero(gap != levels[counts.argmax()]))
    return int(gap.size - counts.max()) if counts.max() > 1 else int(gap.size)


def checked_gap(
    gap: ArrayLike,
    uncertainty: ArrayLike,
    sample_weight: ArrayLike | None,
    arguments: tuple[str, str] = ("gap", "uncertainty"),
) -> tuple[Floats, Floats, Floats | None]:
    """Check the gap and the uncertainty, of one length and without nan, and the weights."""
    g = as_floats(gap, arguments[0], ndim=(1,), shape="(n,)")
    s = as_floats(uncertainty, arguments[1], ndim=(1,), shape="(n,)")
    same_length(s, arguments[1], len(g), "align both arrays")
    return g, s, None if sample_weight is None else scaled_weights(sample_weight, len(g))


# Registry of the ranking metrics: name, truth, influences and interval of each.

Codes = NDArray[np.intp]
OfRanked = Callable[[RankedErrors, Codes | None], Linearised]


class Statistic(Protocol):
    """Function (truth, uncertainty, weights or None, group codes or None) → `Linearised`."""

    def __call__(
        self, truth: Floats, uncertainty: Floats, weights: Floats | None, codes: Codes | None = None, /
    ) -> Linearised: ...


@dataclass(frozen=True)
class RankingMetric:
    """A metric of how well an uncertainty ranks the errors or the gaps."""

    name: str
    truth: str  #: "errors" or "gap": what the uncertainty should rank
    higher_is_better: bool
    #: function of checked arrays: (truth, uncertainty, weights or None, group codes or None) → `Linearised`
    statistic: Statistic
    #: (one statistic, one per training run, or for metrics that are no areas their `averaged`; groups, level, weights or None)
    #: → `Estimate`
    interval: Callable[[Any, ArrayLike | None, float, ArrayLike | None], Estimate]
    bound: float = 1.0  #: greatest possible difference of two values
    #: function (ranked errors, group codes or None) → the same `Linearised`, for metrics of errors in order of uncertainty:
    #: several of them share one `RankedErrors`
    of_ranked: OfRanked | None = None
    #: function (ranked errors of each run, `estimate` of UQ-AUC) → `Estimate`, or None where it does not follow from it
    of_auc: Callable[[Sequence[RankedErrors], Estimate], Estimate | None] | None = None

    def linearised_of(
        self,
        truth: ArrayLike,
        uncertainty: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[Linearised, Floats | None]:
        """Check the arrays; return the statistic and the scaled weights."""
        check = checked if self.truth == "errors" else checked_gap
        t, s, w = check(truth, uncertainty, sample_weight, (self.truth, ARGUMENTS[1]))
        return self.statistic(t, s, w, make_units(len(t), groups, None).codes), w

    def runs(
        self,
        truths: Floats,
        uncertainties: Floats,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ranked: Sequence[RankedErrors] | None = None,
    ) -> list[Linearised]:
        """The statistic of each training run, from arrays ``(R, n)``; `ranked` holds their errors in order, if known."""
        codes = make_units(np.shape(truths)[1], groups, None).codes
        if self.of_ranked is not None and ranked is not None:
            return [self.of_ranked(one, codes) for one in ranked]
        w = None if sample_weight is None else scaled_weights(sample_weight, np.shape(truths)[1])
        return [self.statistic(t, s, w, codes) for t, s in zip(truths, uncertainties, strict=True)]

    def averaged(
        self,
        truths: Floats,
        uncertainties: Floats,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ranked: Sequence[RankedErrors] | None = None,
    ) -> AveragedStatistic:
        """The mean of `runs`, for the interval of `estimate` and for tests against others (metrics that are no areas)."""
        runs = self.runs(truths, uncertainties, groups, sample_weight, ranked=ranked)
        units = make_units(np.shape(truths)[1], groups, sample_weight)
        return AveragedStatistic.of(runs if len(runs) > 1 else runs[0], units)

    def estimate(
        self,
        truths: ArrayLike,
        uncertainties: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        level: float = 0.95,
        ranked: Sequence[RankedErrors] | None = None,
        known: AveragedStatistic | None = None,
        auc: Estimate | None = None,
    ) -> Estimate:
        """Mean over training runs, from arrays ``(R, n)`` or ``(n,)``, with its interval.

        One run shows no variation between runs. `ranked` is as in `runs`, `known` the result of `averaged`, and `auc` the
        `estimate` of UQ-AUC with the same arguments.
        """
        if self.of_auc is not None and ranked is not None and auc is not None:
            following = self.of_auc(ranked, auc)
            if following is not None:
                return following
        if ranked is None and known is None:
            truths, uncertainties = self._runs_of(truths, uncertainties)
        truths, uncertainties = np.atleast_2d(truths), np.atleast_2d(uncertainties)
        statistics: Statistics | AveragedStatistic | None = known
        if statistics is None:
            runs = self.runs(truths, uncertainties, groups, sample_weight, ranked=ranked)
            statistics = runs if len(runs) > 1 else runs[0]
        found = self.interval(statistics, groups, level, sample_weight)
        constant = is_constant(uncertainties) if ranked is None else all(one.thresholds.size == 1 for one in ranked)
        if self.truth == "gap":
            count = min(untied(gap) for gap in truths)
            return noted(found, [] if np.isnan(found) else [(count, DIFFERENT)], constant=constant)
        if ranked is None:
            w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            each = [sample_counts(e, w, groups, SAMPLES) for e in truths]
        else:
            each = [_ranked_counts(one, groups) for one in ranked]
        worst = [min((run[k] for run in each), key=lambda count: count[0]) for k in range(2)]
        return noted(found, worst, constant=constant)

    def _runs_of(self, truths: ArrayLike, uncertainties: ArrayLike) -> tuple[Floats, Floats]:
        """Checked arrays (R, n)."""
        given = [
            np.atleast_2d(as_numeric(v, name)) for v, name in ((truths, self.truth), (uncertainties, ARGUMENTS[1]))
        ]
        if given[0].ndim > 2 or given[0].shape != given[1].shape:
            fail(
                ARGUMENTS[1],
                f"must have shape (R, n) or (n,), and that of the {self.truth}",
                f"got {given[1].shape} and {given[0].shape}",
                "pass one row for each training run",
                code="shape",
            )
        check = checked if self.truth == "errors" else checked_gap
        runs = [check(t, s, None, (self.truth, ARGUMENTS[1])) for t, s in zip(*given, strict=True)]
        return np.stack([t for t, _, _ in runs]), np.stack([s for _, s, _ in runs])


def is_constant(uncertainties: Floats) -> bool:
    """True if all uncertainties of each run are equal, ``(R, n)``: they rank nothing, whatever the labels are."""
    return bool((uncertainties == uncertainties[:, :1]).all())


@once_for_errors
def _ranked_counts(ranked: RankedErrors, groups: ArrayLike | None) -> list[tuple[float, str]]:
    return sample_counts(ranked.memberships[0], None, groups, SAMPLES)


def _ignoring_groups(
    statistic: Callable[[Floats, Floats, Floats | None], Linearised],
) -> Statistic:
    """Adapt a statistic that does not depend on groups because it has no imaginary instances."""

    def without_groups(
        truth: Floats, uncertainty: Floats, weights: Floats | None, codes: Codes | None = None
    ) -> Linearised:
        return statistic(truth, uncertainty, weights)

    return without_groups


def _area_metric(name: str, higher_is_better: bool, of_ranked: OfRanked, kind: str, **more: Any) -> RankingMetric:
    def statistic(truth: Floats, uncertainty: Floats, weights: Floats | None, codes: Codes | None = None) -> Linearised:
        return of_ranked(rank_errors(truth, uncertainty, weights), codes)

    return RankingMetric(name, "errors", higher_is_better, statistic, _area(kind), of_ranked=of_ranked, **more)


Interval = Callable[[Any, ArrayLike | None, float, ArrayLike | None], Estimate]


def _on_scale(scale: str, method: str) -> Interval:
    def interval(
        statistics: Statistics | AveragedStatistic,
        groups: ArrayLike | None,
        level: float,
        sample_weight: ArrayLike | None = None,
    ) -> Estimate:
        options: dict[str, Any] = {"groups": groups, "sample_weight": sample_weight, "level": level}
        return linearised_estimate(statistics, scale=scale, method=method, **options)

    return interval


def _area(kind: str) -> Interval:
    def interval(
        statistics: Statistics, groups: ArrayLike | None, level: float, sample_weight: ArrayLike | None = None
    ) -> Estimate:
        return area_estimate(statistics, kind, groups=groups, level=level, sample_weight=sample_weight)

    return interval


_ALL = (
    RankingMetric(
        "uq-auc",
        "errors",
        True,
        partial(auc_linearised, imaginary=IMAGINARY),
        _on_scale("logit", "delong, adjusted, logit scale"),
        of_ranked=ranked_auc,
    ),
    RankingMetric("uq-c-index", "gap", True, c_index_linearised, _on_scale("logit", "u-statistic, logit scale")),
    _area_metric("aurc", False, lambda ranked, codes: aurc(ranked), "aurc"),
    _area_metric("e-aurc", False, lambda ranked, codes: e_aurc(ranked), "e-aurc"),
    _area_metric("augrc", False, lambda ranked, codes: augrc(ranked), "augrc"),
    _area_metric(
        "prediction-rejection",
        True,
        lambda ranked, codes: small_sample_ratio(ranked, "generalised", codes),
        "prediction-rejection-generalised",
        bound=np.inf,
        of_auc=ratio_of_auc,
    ),
    RankingMetric("g-auc", "errors", True, _ignoring_groups(g_auc_linearised), g_auc_interval),
    RankingMetric("h-auc", "errors", True, _ignoring_groups(h_auc_linearised), h_auc_interval),
)

RANKING_METRICS: dict[str, RankingMetric] = {metric.name: metric for metric in _ALL}


# Paired tests of ranking metrics: two scores of one model, two models, or all pairs of several rankings.

Ranking = tuple[ArrayLike, ArrayLike]


@in_one_order("a", "b", "groups", "sample_weight")
def paired_ranking_test(
    a: Ranking,
    b: Ranking,
    *,
    metric: str = "uq-auc",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "linearised",
    n_draws: int = 999,
    rng: int | np.random.Generator | None = None,
) -> PairedComparison:
    """Test whether two uncertainties rank equally well on the same instances.

    Parameters
    ----------
    a, b : (truth, uncertainty), each of arrays (n,)
        The truth is the errors or the gap, depending on the metric (`prediction_errors`, `probability_gap`). Two scores of
        one model have the same truth; two models have different ones.
    metric : str
        A name in `RANKING_METRICS`.
    groups, sample_weight
        As in `uq_auc_score`.
    level : float
        Confidence level of the interval of the difference.
    method : {"linearised", "permutation"}
        "linearised": Student's t test on the difference of the influences. For "uq-auc" this is the test of DeLong et al.,
        with Satterthwaite's degrees of freedom and the imaginary instances of `statistics.auc_estimate`. "permutation": the
        scores are replaced by their ranks, and the two rankings are swapped in random instances (whole groups). It is exact
        if the two rankings are exchangeable. The swaps do not depend on the order of rows.
    n_draws, rng
        Number of draws and random state of the permutation test, whose p-value is (1 + count) / (1 + n_draws). An rng of
        None means seed 0.

    Returns
    -------
    result : PairedComparison
        The interval of the difference is the linearised one for both methods, and so is `detectable`, the smallest difference
        that these instances could have shown.

    Notes
    -----
    The type-I error is about nominal: up to 6 % at nominal 5 % with groups or ten errors. With few errors and a large area
    it is lower: 1.4 % with ten errors and an area of .95 (docs/evidence-ranking.md).

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44. Bandos, Rockette, Gur (2005), A permutation test sensitive to
    differences in areas for comparing ROC curves from a paired design, Stat. Med. 24.

    Examples
    --------
    >>> errors = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> good, poor = [1, 2, 3, 6, 4, 8, 5, 7], [3, 5, 6, 1, 8, 4, 2, 7]
    >>> round(float(paired_ranking_test((errors, good), (errors, poor)).difference), 4)
    0.6
    """
    one_of(method, "method", ("linearised", "permutation"))
    check_draws(n_draws)
    chosen = _metric(metric)
    for ranking, name in ((a, "a"), (b, "b")):
        _check_ranking(ranking, name)
    first, w = chosen.linearised_of(*a, sample_weight=sample_weight, groups=groups)
    second, _ = chosen.linearised_of(*b, sample_weight=sample_weight, groups=groups)
    found = paired_statistic_test(first, second, groups=groups, sample_weight=w, level=level, bound=chosen.bound)
    if method == "linearised" or np.isnan(found.pvalue):
        return found
    pvalue = _swap_pvalue(chosen, a, b, groups, w, n_draws, generator(rng))
    return replace(found, pvalue=pvalue, method="permutation")


@in_one_order("rankings", "groups", "sample_weight")
def pairwise_ranking_tests(
    rankings: Mapping[str, Ranking],
    *,
    metric: str = "uq-auc",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> PairwiseComparisons:
    """Test every pair of several rankings on the same instances, with p-values adjusted by Shaffer and Benjamini-Hochberg.

    Parameters
    ----------
    rankings : dict of str to (truth, uncertainty)
    metric, groups, sample_weight, level
        As in `paired_ranking_test`.

    Examples
    --------
    >>> errors = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> scores = {"good": [1, 2, 3, 6, 4, 8, 5, 7], "poor": [3, 5, 6, 1, 8, 4, 2, 7], "same": [1, 2, 3, 6, 4, 8, 5, 7]}
    >>> found = pairwise_ranking_tests({name: (errors, s) for name, s in scores.items()})
    >>> found.names, found.values.round(3).tolist(), float(found.pvalue[0, 2])
    (('good', 'poor', 'same'), [1.0, 0.4, 1.0], 1.0)
    """
    chosen = _metric(metric)
    remedy = 'write {"entropy": (errors, entropy)}'
    if not mapping(rankings, "rankings", remedy):
        fail("rankings", "must hold at least one ranking", "got none", remedy, code="empty")
    statistics: dict[str, Linearised] = {}
    w, n = None, None
    for name, ranking in rankings.items():
        _check_ranking(ranking, f"rankings[{name!r}]")
        n = n or len(np.asarray(ranking[0]))
        same_length(ranking[0], f"rankings[{name!r}]", n, "use one test set")
        statistics[str(name)], w = chosen.linearised_of(*ranking, sample_weight=sample_weight, groups=groups)
    return pairwise_statistic_tests(statistics, groups=groups, sample_weight=w, level=level, bound=chosen.bound)


def _metric(name: str) -> RankingMetric:
    name = metric_name(name)
    one_of(name, "metric", tuple(RANKING_METRICS))
    return RANKING_METRICS[name]


def _swap_pvalue(
    metric: RankingMetric,
    a: Ranking,
    b: Ranking,
    groups: ArrayLike | None,
    w: Floats | None,
    n_draws: int,
    rng: np.random.Generator,
) -> float:
    """Two-sided p-value of the difference under random swaps of the two rankings, unit by unit."""
    truths = [np.asarray(truth, dtype=np.float64) for truth, _ in (a, b)]
    ranks = [midranks(uncertainty) for _, uncertainty in (a, b)]  # the same scale for both
    n = len(truths[0])
    same_length(truths[1], "b", n, "use the test set of a")
    unit, n_units = _canonical_units([*truths, *ranks] if w is None else [*truths, *ranks, w], groups)

    def difference(swap: np.ndarray | None) -> float:
        t, r = truths, ranks
        if swap is not None:
            t = [np.where(swap, t[1], t[0]), np.where(swap, t[0], t[1])]
            r = [np.where(swap, r[1], r[0]), np.where(swap, r[0], r[1])]
        return metric.statistic(t[0], r[0], w).value - metric.statistic(t[1], r[1], w).value

    observed = abs(difference(None))
    count = 0
    for _ in range(n_draws):
        swap = rng.random(n_units) < 0.5
        value = difference(swap[unit])
        count += not abs(value) < observed - 1e-12  # a nan counts as a draw at least as extreme
    return (1 + count) / (1 + n_draws)


def _canonical_units(columns: list[Floats], groups: ArrayLike | None) -> tuple[NDArray[np.intp], int]:
    """Unit of each instance, and the number of units.

    Units are numbered by the values in the columns (n,), so that the random swaps do not depend on the order of rows.
    """
    n = len(columns[0])
    order = np.lexsort(columns)
    codes = make_units(n, groups, None).codes
    if codes is None:
        unit = np.empty(n, dtype=np.intp)
        unit[order] = np.arange(n)
        return unit, n
    # a group is compared by the sorted list of its instances; equal instances have the same number
    new = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    number = np.concatenate([[0], np.cumsum(new)]).astype(">u8")  # big-endian bytes sort as the numbers do
    by_group = np.argsort(codes[order], kind="stable")
    held = np.split(number[by_group], np.cumsum(np.bincount(codes))[:-1])
    place = np.empty(len(held), dtype=np.intp)
    place[sorted(range(len(held)), key=lambda group: held[group].tobytes())] = np.arange(len(held))
    return place[codes], len(held)


def _check_ranking(ranking: Ranking, name: str) -> None:
    """Raise InputError unless the ranking is a pair of arrays."""
    pair = isinstance(ranking, Sequence | np.ndarray) and not isinstance(ranking, str) and len(ranking) == 2
    if not pair or any(not hasattr(part, "__len__") for part in ranking):
        got = f"got {type(ranking).__name__}"
        fail(name, "must be a pair (truth, uncertainty)", got, "pass both as a tuple", code="type")


# Test of whether an order ranks errors better or worse than chance, with the variance that holds under chance.


def chance_pvalue(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Two-sided p-value of errors that are independent of the uncertainty (Wilcoxon's rank-sum test, ties corrected).

    The variance is that of chance, so it does not vanish if few instances are untied and none of them is an error. There
    DeLong's variance of UQ-AUC is far too small.

    Parameters
    ----------
    errors : array (n,) or (R, n)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong; (R, n) for R training runs.
    uncertainty : array, same shape
        Greater means less certain.
    groups : array of labels (n,), optional
        Errors may be correlated within a group.
    sample_weight : array (n,), optional
        Importance weights.

    Returns
    -------
    pvalue : float
        nan if all errors or all uncertainties of every run are equal, or with one instance or group.

    Notes
    -----
    With mid-ranks r and errors e, the statistic is Σ (e − ē)(r − r̄). Under exchangeable errors of variance s² its variance
    is s² Σ (r − r̄)². With groups and the correlation ρ of errors within them (its moment estimate, at least 0) it is
    s² ((1 − ρ) Σ (r − r̄)² + ρ Σ_g (Σ_{i in g} (r_i − r̄))²). Statistics of runs are averaged, and so are their standard
    deviations, which is an upper bound for any dependence between the runs. Student's t has n − 1 degrees of freedom for n
    instances or groups. With weights all sums are weighted, r is the weight below s plus half of that at s, the variance is
    s² Σ w² (r − r̄)², and n the effective number.

    Examples
    --------
    >>> round(chance_pvalue([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), 3)
    0.224
    """
    e, s = (np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (errors, uncertainty))
    units = make_units(e.shape[1], groups, sample_weight)
    if units.n_units < 2:
        return float("nan")
    dof = units.n_units - 1.0
    if units.weights is None:
        found = [_statistic(one, ranks, units) for one, ranks in zip(e, midranks(s), strict=True)]
    else:
        w = units.weights
        found = [_weighted_statistic(units.keep(a), units.keep(b), units, w) for a, b in zip(e, s, strict=True)]
        dof = max(effective_number(units.sizes, units.n_units) - 1.0, LEAST_DOF)
    value, deviation = (float(np.mean(column)) for column in zip(*found, strict=True))
    if deviation == 0:
        return float("nan")
    return 2 * float(special.stdtr(dof, -abs(value) / deviation))


def _statistic(errors: Floats, ranks: Floats, units: Units) -> tuple[float, float]:
    """Σ (e − ē)(r − r̄) and its standard deviation under chance."""
    n = errors.size
    e, r = errors - errors.mean(), ranks - ranks.mean()
    squares, own = float(e @ e), float(r @ r)
    if units.codes is None or squares == 0:
        return float(e @ r), float(np.sqrt(squares / (n - 1) * own))
    e_sums, r_sums = units.sums(np.stack([e, r], axis=1)).T
    pairs = float((np.bincount(units.codes) ** 2).sum()) - n  # ordered pairs within groups
    correlation = (float(e_sums @ e_sums) - squares) / pairs * n / squares if pairs else 0.0
    rho = min(max(correlation, 0.0), 1.0)
    variance = squares / (n - 1) * ((1 - rho) * own + rho * float(r_sums @ r_sums))
    return float(e @ r), float(np.sqrt(variance))


def _weighted_statistic(errors: Floats, scores: Floats, units: Units, w: Floats) -> tuple[float, float]:
    """Σ w (e − ē)(r − r̄) and its standard deviation under chance, of instances with weights w (n,)."""
    total = float(w.sum())
    place = np.unique(scores, return_inverse=True)[1].reshape(-1)
    mass = np.bincount(place, w)
    ranks = (np.cumsum(mass) - mass / 2)[place]
    e, r = errors - float(w @ errors) / total, ranks - float(w @ ranks) / total
    n = effective_number(w, w.size)
    spread = float(w @ e**2) / total * sample_factor(n)
    own, squares = float(((w * r) ** 2).sum()), (w * e) ** 2
    if units.codes is None or spread == 0:
        return float(w @ (e * r)), float(np.sqrt(spread * own))
    e_sums, r_sums = units.sums(np.stack([e, r], axis=1)).T
    pairs = float(((np.bincount(units.codes) - 1)[units.codes] * squares).sum())
    rho = min(max((float(e_sums @ e_sums) - float(squares.sum())) / pairs, 0.0), 1.0) if pairs else 0.0
    return float(w @ (e * r)), float(np.sqrt(spread * ((1 - rho) * own + rho * float(r_sums @ r_sums))))
