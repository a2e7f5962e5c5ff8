"""Second-order calibration, and people's votes against stated sets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState, as_array, generator
from uqassay.arrays import generator as as_generator
from uqassay.calibration.kernel_tests import statement_kernel_test, statements_of
from uqassay.calibration.mixtures import groups_of
from uqassay.calibration.nulls import check_alpha
from uqassay.calibration.one_classifier import ShownVerdict, numbers_of_test
from uqassay.checks import fail, one_of, whole
from uqassay.credal.nearest import NearestPoint, divergence, nearest_in_box, nearest_in_core, nearest_in_hull
from uqassay.losses.unified import FLOORS
from uqassay.losses.votes import FewVotes, VoteCounts, VotesAre, checked_votes, of_same_rows
from uqassay.measures.variance import ProbabilityMoments, probability_moments
from uqassay.notes import Note, distinct, reason
from uqassay.predictions import Box, Masses, Members, Point, Prediction, PredictionLike, as_prediction, not_negative
from uqassay.predictions.labels import in_order_of_ids, take_index
from uqassay.results import Plain, ShownTable, estimate_cell, plain_of
from uqassay.statistics.estimate import Estimate, interval_notes, mean_estimate, proportion_estimate
from uqassay.statistics.paired_tests import paired_mean_test
from uqassay.statistics.units import (
    Units,
    check_draws,
    check_inside,
    check_level,
    make_units,
    spread_of_mean,
)
from uqassay.text import counted, estimate_text, level_text, number, percent, percent_interval, pvalue_text, significant

__all__ = [
    "SecondOrderBuckets",
    "SecondOrderTest",
    "VoteCompatibility",
    "check_second_order_level",
    "second_order_test",
    "vote_compatibility_test",
]


# Buckets of instances that state a similar epistemic variance: stated against observed.


@final
@dataclass(frozen=True, eq=False)
class SecondOrderBuckets:
    """Buckets of instances that state a similar epistemic variance."""

    #: (B + 1,): least stated variance of each bucket, and the greatest of all. Equal statements are never divided.
    edges: Floats
    count: NDArray[np.intp]  #: (B,): number of instances
    stated: Floats  #: (B,): mean stated epistemic variance
    observed: tuple[Estimate, ...]  #: mean observed epistemic variance of each bucket, with its interval

    def rows(self) -> list[dict[str, Any]]:
        """One row for each bucket: `from` and `to` of the stated variance, `n`, `stated`, and the fields of `observed`."""
        ends = zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True)
        numbers = zip(ends, self.count.tolist(), self.stated.tolist(), self.observed, strict=True)
        return [
            {"from": low, "to": high, "n": n, "stated": stated, "observed": observed.to_dict()}
            for (low, high), n, stated, observed in numbers
        ]


def buckets_by_statement(
    observed: Floats, stated: Floats, wanted: int, *, groups: ArrayLike | None = None, level: float = 0.95
) -> SecondOrderBuckets:
    """At most `wanted` buckets of nearly equal size; fewer where many instances state the same.

    Parameters
    ----------
    observed, stated : array (n,)
        Per instance; single observed values scatter and may be negative.
    wanted : int
    groups, level
        Of the intervals.

    Examples
    --------
    >>> found = buckets_by_statement(np.array([0.1, 0.0, 0.5, 0.3]), np.array([0.0, 0.0, 0.2, 0.4]), 2)
    >>> found.edges.tolist(), found.count.tolist(), [round(float(x), 3) for x in found.observed]
    ([0.0, 0.2, 0.4], [2, 2], [0.05, 0.4])
    """
    labels = None if groups is None else np.asarray(groups)
    values, counts = np.unique(stated, return_counts=True)
    below = np.cumsum(counts)[:-1]  # instances below each possible cut
    targets = len(stated) * np.arange(1, wanted) / wanted if below.size else np.zeros(0)
    cuts = np.unique(np.array([np.abs(below - target).argmin() for target in targets], dtype=np.intp))
    edges = np.concatenate([values[:1], values[cuts + 1], values[-1:]])
    place = np.searchsorted(edges[1:-1], stated, side="right")
    rows = [np.flatnonzero(place == b) for b in range(len(edges) - 1)]

    def mean(r: NDArray[np.intp]) -> Estimate:
        return mean_estimate(observed[r], groups=None if labels is None else labels[r], level=level, method="hall")

    return SecondOrderBuckets(
        edges=edges,
        count=np.array([len(r) for r in rows], dtype=np.intp),
        stated=np.array([stated[r].mean() for r in rows]),
        observed=tuple(mean(r) for r in rows),
    )


# Second-order calibration from two or more votes per instance: is the epistemic variance that a model states the true
# one?

By = Literal["overall", "kernel", "moments"]

N_DRAWS = 999
MANY_MEMBERS = 40  # from here on a truth outside the ensemble changes the ratio by less than 5 %
INDEPENDENT = Note(
    "assumption",
    "the votes of an instance count as independent, so this needs people who did not see each other's votes",
)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SecondOrderTest(ShownVerdict):
    """Result of `second_order_test`."""

    by: str  #: "overall", "kernel" or "moments": What was tested
    #: of that test; nan where a note says why
    statistic: float
    pvalue: float
    stated: Estimate  #: mean over the instances of Σ_k Var[p_k], the epistemic variance that the model states
    observed: Estimate  #: mean of the unbiased estimate of ‖p* − p̄‖². May be negative in small samples.
    ratio: Estimate  #: observed over stated; nan if none is stated
    gap: Estimate  #: observed minus stated
    #: slope of the least-squares line of the observed on the stated variance: 1 under second-order calibration, 0 if the
    #: statement does not tell instances apart. nan if all statements are equal.
    slope: Estimate
    buckets: SecondOrderBuckets
    n: int  #: number of instances used
    n_draws: int  #: draws of the wild bootstrap; 0 for "overall"
    notes: tuple[Note, ...]

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects second-order calibration at this level. An undefined p-value never rejects."""
        check_second_order_level(alpha, self.by)
        return self.pvalue <= alpha + 1e-12

    def sentence(self, alpha: float = 0.05, *, name: str = "the model") -> str:
        """The result in plain words: what the test of `by` rejects, or could not reject.

        A test that does not reject is no evidence for calibration, and the sentence does not say so.
        """
        subject, p = "The model" if name == "the model" else name, pvalue_text(self.pvalue)
        if math.isnan(self.pvalue):
            return f"Whether {name} is second-order calibrated cannot be tested: {reason(self.notes)}."
        if not self.reject(alpha):
            return self._not_rejected(name, p)
        if self.by == "kernel":
            return f"{subject} states a wrong epistemic variance for some kinds of instances ({self._size()} overall, {p})."
        if self.by == "moments":
            return f"{subject} states a wrong mean or variance of the label probabilities for some kinds of instances ({p})."
        less = "less" if self.gap > 0 else "more"
        return f"{subject} states {less} epistemic variance than the votes show ({self._size()}, {p})."

    def _shown_title(self) -> str:
        return f"Test of second-order calibration by {self.by} on {counted(self.n, 'instance')}"

    def _shown_table(self) -> ShownTable:
        found = {
            "stated variance": (self.stated, 4),
            "observed": (self.observed, 4),
            "observed / stated": (self.ratio, 2),
        }
        others = [(name, estimate_cell(float(e), e.low, e.high, decimals)) for name, (e, decimals) in found.items()]
        return numbers_of_test(self.statistic, self.pvalue, self.n_draws, *others)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        names = ("by", "n", "statistic", "pvalue", "n_draws", "stated", "observed", "ratio", "gap", "slope")
        return {**plain_of(self, *names), "buckets": self.buckets.rows(), **plain_of(self, "notes")}

    def _not_rejected(self, name: str, p: str) -> str:
        if self.by == "overall":
            what = f"the mean epistemic variance that {name} states from the observed one"
            return f"The test could not tell {what} ({self._size()}, {p})."
        if self.by == "kernel":
            what = f"a kind of instances for which {name} states a wrong epistemic variance"
            return f"The test could not show {what} ({self._size()} overall, {p})."
        what = f"a kind of instances for which {name} states a wrong mean or variance of the label probabilities"
        return f"The test could not show {what} ({p})."

    def _size(self) -> str:
        if math.isnan(self.ratio):
            return f"observed {significant(float(self.observed))}, none stated"
        return (
            f"observed over stated {estimate_text(self.ratio, self.ratio.low, self.ratio.high, level=self.ratio.level)}"
        )


def second_order_test(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: PredictionLike,
    *,
    votes_are: VotesAre | None = None,
    by: By = "overall",
    buckets: int = 10,
    groups: ArrayLike | None = None,
    few_votes: FewVotes = "refuse",
    level: float = 0.95,
    rng: RandomState = None,
) -> SecondOrderTest:
    """Compare the epistemic variance that a model states with the variance of the true label probabilities.

    A model is second-order calibrated if the true label probabilities p* of the instances with the same statement are
    distributed as that statement says. Then the expected squared distance ‖p* − p̄‖² from the mean of the model equals the
    variance Σ_k Var[p_k] that it states. Two votes per instance give the distance without bias, `squared_truth_distance`.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
        Numbers of votes for each class, at least two for each instance, independent given the instance; see `votes_are`.
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a second-order distribution. A point states the variance 0.
    votes_are : {"counts", "single"}, optional
        "counts": numbers of votes for each class. "single": an array (n, m), or n sequences, of the class of each vote, as
        index or name. By default counts; a table that may be either is refused: one column for each class, class indices
        alone, and rows of different sums.
    by : {"overall", "kernel", "moments"}
        "overall": Student's t test of the mean gap between observed and stated variance. "kernel": the gap has mean 0 for
        every statement, tested without bins by a kernel on means and standard deviations of the classes. "moments": the same
        kernel for the mean and the second moment of every class at once.
    buckets : int
        Number of buckets of equal size by stated variance.
    groups : array_like of labels, shape (n,), optional
        Groups are independent; by default the groups of the prediction.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote.
    level : float
        Confidence level of the intervals.
    rng : int, Generator or None
        For the signs of the wild bootstrap, 999 draws; None means seed 0.

    Returns
    -------
    result : SecondOrderTest
        Estimates and buckets are the same for every `by`.

    Notes
    -----
    A small ensemble is taken at its word: the truth is one of its M members. If the truth scatters around the members as they
    scatter around each other, the ratio is (M + 1)/(M − 1) instead of 1, 2 for M = 3; a note says so.

    The observed variance contains the squared error of the mean: it is the variance of p* around p̄, not around the best mean
    for each statement. So a ratio above 1 may come from a wrong mean as well as from too little stated variance.

    The interval of the ratio is linearised, with Hall's transformation. Type-I error, power and coverage are measured
    (docs/evidence-calibration.md).

    References
    ----------
    Ahdritz, Gollakota, Gopalan, Peale, Wieder (2025), Provable uncertainty decomposition via higher-order calibration.
    Widmann, Lindsten, Zachariah (2019), Calibration tests in multi-class classification (kernel). Hall (1992), On the removal
    of skewness by transformation.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> g = np.random.default_rng(0)
    >>> members = g.dirichlet([2, 2, 2], (500, 5))
    >>> truth = members[np.arange(500), g.integers(0, 5, 500)]  # one of the members, as the ensemble states
    >>> found = second_order_test(g.multinomial(2, truth), uq.Members(members))
    >>> found.reject(), bool(found.ratio.low < 1 < found.ratio.high)
    (False, True)
    """
    one_of(by, "by", ("overall", "kernel", "moments"))
    whole(buckets, "buckets", "pass 10, for example", least=1)
    check_level(level)
    generator = as_generator(rng)
    votes, prediction, groups = of_same_rows(votes, prediction, groups)
    prediction = as_prediction(prediction)
    held = checked_votes(votes, prediction, votes_are=votes_are, few_votes=few_votes)
    labels = _of_rows(groups_of(prediction, groups), held, prediction)
    moments = probability_moments(held.select(prediction))
    units = make_units(len(held.counts), labels, None)
    observed, stated = held.squared_distance(moments.mean), moments.epistemic
    notes = [INDEPENDENT, *_left_out(held), *_one_more_member(prediction), *interval_notes(units)]
    if by == "overall":
        statistic, pvalue, why = _overall(observed, stated, labels)
        notes += why
    else:
        residuals = _second_moments(held, moments) if by == "moments" else (observed - stated)[:, np.newaxis]
        points = statements_of(moments.mean, moments.variance)
        statistic, pvalue = statement_kernel_test(residuals, points, units=units.codes, n_draws=N_DRAWS, rng=generator)
        notes += (
            [Note("method", f"wild bootstrap, {counted(N_DRAWS, 'draw')}")] if units.n_units > 1 else [_one_unit(units)]
        )
    ratio, slope = _ratio(observed, stated, units, level), _slope(observed, stated, units, level)
    notes += [note for note in distinct(ratio.notes, slope.notes) if note.code == "undefined"]
    return SecondOrderTest(
        by=by,
        statistic=statistic,
        pvalue=pvalue,
        stated=mean_estimate(stated, groups=labels, level=level, method="hall"),
        observed=mean_estimate(observed, groups=labels, level=level, method="hall"),
        ratio=ratio,
        gap=mean_estimate(observed - stated, groups=labels, level=level),
        slope=slope,
        buckets=buckets_by_statement(observed, stated, int(buckets), groups=labels, level=level),
        n=len(observed),
        n_draws=0 if by == "overall" else N_DRAWS,
        notes=distinct(notes),
    )


def check_second_order_level(alpha: float, by: str) -> None:
    """Refuse a level outside (0, 1), or below the smallest p-value that the draws of this test can reach."""
    check_alpha(alpha, 2**62)
    if by != "overall" and alpha < 1 / (N_DRAWS + 1):
        rule = f"the smallest p-value that {N_DRAWS} draws can reach is {1 / (N_DRAWS + 1):g}"
        fail("alpha", rule, f"got {alpha:g}", "choose at least this level", code="range")


# -- tests --------------------------------------------------------------------------------------------------------------


def _overall(observed: Floats, stated: Floats, labels: ArrayLike | None) -> tuple[float, float, list[Note]]:
    """t statistic and p-value of the mean gap."""
    gap = observed - stated
    if len(gap) > 1 and gap[0] != 0 and (gap == gap[0]).all():
        text = "all instances have the same gap: no test"
        return float("nan"), float("nan"), [Note("no-test", text)]
    test = paired_mean_test(observed, stated, groups=labels)
    return test.statistic, test.pvalue, [note for note in test.notes if note.code == "no-test"]


def _second_moments(held: VoteCounts, moments: ProbabilityMoments) -> Floats:
    """Residuals of the first and second moment of each class, (n, 2K)."""
    first = held.shares() - moments.mean
    second = held.agreement() - (moments.variance + moments.mean**2)
    return np.concatenate([first, second], axis=1)


# -- estimates ----------------------------------------------------------------------------------------------------------


def _ratio(observed: Floats, stated: Floats, units: Units, level: float) -> Estimate:
    """Mean observed over mean stated variance."""
    whole = float(stated.mean())
    if whole == 0.0:
        note = Note("undefined", "the model states no epistemic variance, so the ratio to it is undefined")
        return _without_interval(float("nan"), len(stated), level, [*interval_notes(units), note])
    value = float(observed.mean()) / whole
    return _linearised(value, (observed - value * stated) / whole, units, level, "linearised, hall")


def _slope(observed: Floats, stated: Floats, units: Units, level: float) -> Estimate:
    """Slope of the least-squares line of the observed on the stated variance."""
    centred = stated - stated.mean()
    square = float(centred @ centred) / len(stated)
    if square <= 1e-24 * float(stated.max()) ** 2:
        note = Note("undefined", "all instances state the same epistemic variance, so there is no slope")
        return _without_interval(float("nan"), len(stated), level, [*interval_notes(units), note])
    value = float(centred @ observed) / len(stated) / square
    residuals = observed - observed.mean() - value * centred
    return _linearised(value, centred * residuals / square, units, level, "linearised")


def _linearised(value: float, influence: Floats, units: Units, level: float, method: str) -> Estimate:
    notes = interval_notes(units)
    if units.n_units == 1:
        return _without_interval(value, len(influence), level, notes)
    spread = spread_of_mean(influence, units)
    low, high = spread.interval(value, level, "hall" if method.endswith("hall") else "student-t")
    return Estimate(value, low=low, high=high, level=level, n=len(influence), method=method, notes=notes)


def _without_interval(value: float, n: int, level: float, notes: list[Note]) -> Estimate:
    return Estimate(value, low=np.nan, high=np.nan, level=level, n=n, method="linearised", notes=notes)


def _of_rows(groups: ArrayLike | None, held: VoteCounts, prediction: Prediction) -> NDArray[np.generic] | None:
    """Labels of the groups of the rows that are used."""
    if groups is None:
        return None
    make_units(prediction.n_instances, groups, None)  # checks the labels of all rows
    labels, index = take_index(groups, "groups")
    labels = in_order_of_ids(as_array(labels, "groups"), index, prediction.ids, "groups")
    return labels if held.rows is None else labels[held.rows]


def _left_out(held: VoteCounts) -> list[Note]:
    if not held.n_left_out:
        return []
    text = f"{counted(held.n_left_out, 'instance')} with fewer than two votes left out"
    return [Note("sample", text, {"left_out": held.n_left_out})]


def _one_more_member(prediction: Prediction) -> list[Note]:
    """Ratio for a truth that is exchangeable with the members, which is not among them."""
    if (
        not isinstance(prediction, Members)
        or prediction.weights is not None
        or not 2 <= prediction.n_members <= MANY_MEMBERS
    ):
        return []
    m = prediction.n_members
    # E‖p* − p̄‖² = (1 + 1/M) σ², and the members state (1 − 1/M) σ²
    ratio = (m + 1) / (m - 1)
    text = f"for {m} members compare the ratio with {number(ratio, 2)}, its value if the truth scatters like one more member"
    return [Note("assumption", text, {"members": m, "ratio": ratio})]


def _one_unit(units: Units) -> Note:
    what = "case" if units.codes is None else "group"
    return Note("no-test", f"1 {what}: no test, which needs two")


# Whether the votes of an instance could come from some point of its credal set: a likelihood-ratio test for each
# instance.

TIED = 1e-4  # of statistics: twice the votes times the gap of a solved distance
TOLERANCE = 1e-6
TOGETHER = 20  # draws of each instance at a time, of which some may come after the last that counts
MOST_NUMBERS = 4_000_000  # of votes drawn at a time


@final
@dataclass(frozen=True, eq=False)
class VoteCompatibility(Plain):
    """Result of `vote_compatibility_test`."""

    _plain: ClassVar = "share kept alpha n_draws notes"

    #: (n,): −2 ln of the likelihood ratio: 2m · KL(votes / m ‖ nearest point of the set); nan for instances that are left out
    statistic: Floats
    pvalues: Floats  #: (n,): Monte-Carlo p-value of each instance; ties count as reached, so that few votes give large p-values
    #: (n,): instances that the test of level alpha does not reject, ties broken at random
    kept_instances: NDArray[np.bool_]
    #: share of the instances whose votes are compatible with the set, without the bias of a test of level alpha
    share: Estimate
    kept: Estimate  #: share of `kept_instances`
    alpha: float
    n_draws: int  #: largest number of draws for one instance
    notes: tuple[Note, ...]

    def sentence(self, *, name: str = "the model") -> str:
        """The share in plain words."""
        s = self.share
        ends = percent_interval(s.low, s.high, in_sentence=True)
        sure = "" if math.isnan(s.low) else f" ({level_text(s.level)} interval {ends})"
        return (
            f"The votes of an estimated {percent(s, in_sentence=True)}{sure} of {counted(s.n, 'instance')} could come from "
            f"some point of the set of {name}."
        )


def vote_compatibility_test(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: PredictionLike,
    *,
    votes_are: VotesAre | None = None,
    alpha: float = 0.1,
    n_draws: int = 199,
    groups: ArrayLike | None = None,
    few_votes: FewVotes = "refuse",
    level: float = 0.95,
    rng: RandomState = None,
) -> VoteCompatibility:
    """Test for each instance whether its votes could come from some point of the credal set.

    Whether the shares of the votes lie *inside* a set says little: m votes scatter around the true probabilities, and the set
    of M < K members has no inside. This test asks whether a point of the set explains the votes as well as their scatter
    allows.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
        Numbers of votes for each class, at least two for each instance, independent given the instance.
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
        Of a point, the test is whether the votes could come from it.
    votes_are : {"counts", "single"}, optional
        As in `second_order_test`.
    alpha : float
        Level of the test behind the share.
    n_draws : int
        Largest number of draws for an instance, at least 1/alpha − 1.
    groups : array_like of labels (n,), optional
        Groups are independent; by default those of the prediction. They widen the interval of the share.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote.
    level : float
    rng : int, Generator or None
        None means seed 0.

    Notes
    -----
    The statistic is −2 ln(max over the set / max over the simplex) of the multinomial likelihood of the votes. The null
    distribution is that of votes from the most likely point of the set, which is fitted anew to each draw (a parametric
    bootstrap). An instance gets draws until h = ⌈alpha (n_draws + 1)⌉ of them reach its statistic, at draw l; then p = h/l
    (Besag and Clifford, 1991).

    If ties are broken at random, p-values of compatible instances are close to uniform, so that a share 1 − alpha of the
    compatible instances is kept. The share is therefore kept / (1 − alpha), at most 1 (Storey, 2002). Incompatible instances
    that have too few votes to show it are kept as well, so it is an upper bound in expectation. A true point inside a wide set
    is rejected less often than alpha, and one at a corner of a set of many members more often; docs/evidence-calibration.md has
    the measured rates.

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    Storey (2002), A direct approach to false discovery rates, J. R. Stat. Soc. B 64, equation 6.

    Examples
    --------
    >>> pair = [[[0.9, 0.1], [0.5, 0.5]]] * 2
    >>> found = vote_compatibility_test([[7, 3], [1, 9]], pair)
    >>> found.pvalues.tolist(), float(found.kept)
    ([1.0, 0.015], 0.5)
    """
    check_level(level)
    check_inside(alpha, "alpha")
    check_draws(n_draws)
    reach = max(1, math.ceil(alpha * (n_draws + 1) - 1e-9))
    votes, prediction, groups = of_same_rows(votes, prediction, groups)
    prediction = as_prediction(prediction)
    counted_votes = checked_votes(votes, prediction, votes_are=votes_are, few_votes=few_votes)
    rows: Any = slice(None) if counted_votes.rows is None else counted_votes.rows
    part = counted_votes.select(prediction).credal()
    nearest = _nearest_of(part, FLOORS["exact"])
    found = _tested(counted_votes.counts, nearest, reach, n_draws, generator(rng))

    n = prediction.n_instances
    statistic, pvalues = (np.full(n, np.nan) for _ in range(2))
    statistic[rows], pvalues[rows] = found.statistic, found.pvalues
    labels = groups_of(prediction, groups)
    passed = found.randomised > alpha + 1e-12
    kept_instances = np.zeros(n, dtype=bool)
    kept_instances[rows] = passed
    share, kept = compatible_share(
        passed, alpha, groups=None if labels is None else np.asarray(labels)[rows], level=level
    )
    notes = [Note("assumption", "the votes of an instance count as independent")]
    if counted_votes.n_left_out:
        text = f"left out: {counted(counted_votes.n_left_out, 'instance')} with fewer than two votes"
        notes.append(Note("left-out", text, {"n": counted_votes.n_left_out}))
    return VoteCompatibility(
        statistic=statistic,
        pvalues=pvalues,
        kept_instances=kept_instances,
        share=share,
        kept=kept,
        alpha=alpha,
        n_draws=n_draws,
        notes=(*notes, *kept.notes),
    )


def compatible_share(
    passed: NDArray[np.bool_],
    alpha: float,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[Estimate, Estimate]:
    """The share of compatible instances, and the share of those kept by a test of level alpha.

    The first is the second, with its interval, divided by 1 − alpha; at most 1.

    Examples
    --------
    >>> share, kept = compatible_share(np.array([True, False] * 50), 0.1)
    >>> float(kept), round(float(share), 3)
    (0.5, 0.556)
    """
    kept = proportion_estimate(passed.astype(np.float64), groups=groups, sample_weight=sample_weight, level=level)
    value, low, high = (
        min(end / (1 - alpha), 1.0) if end == end else end for end in (float(kept), kept.low, kept.high)
    )
    return Estimate(value, low=low, high=high, level=kept.level, n=kept.n, method="wilson", notes=kept.notes), kept


@dataclass(frozen=True)
class _Found:
    statistic: Floats
    pvalues: Floats
    randomised: Floats  # ties broken at random


def _tested(
    counts: Floats, nearest: Callable[[Floats, Any], NearestPoint], reach: int, n_draws: int, rng: np.random.Generator
) -> _Found:
    n = len(counts)
    totals = counts.sum(axis=1)
    start = nearest(counts / totals[:, None], slice(None))
    statistic = 2.0 * totals * start.distance
    truth = np.maximum(start.point, 0.0)
    truth /= truth.sum(axis=1, keepdims=True)
    own = rng.random(n)  # place of the instance among ties
    above, tied, made = (np.zeros(n, dtype=np.int64) for _ in range(3))
    live = np.arange(n)
    whole = totals.astype(np.int64)
    done = 0
    while done < n_draws and len(live):
        room = max(1, MOST_NUMBERS // (len(live) * counts.shape[1]))
        several = (min(max(reach, TOGETHER), room, n_draws - done), len(live))
        done += several[0]
        drawn = rng.multinomial(whole[live], truth[live], size=several)
        places = rng.random(several)
        rows = np.tile(live, several[0])
        shares, m = drawn.reshape(len(rows), -1) / totals[rows, None], totals[rows]
        # no point of the set is further away than the true one, so few draws need a fit
        values = 2.0 * m * divergence(shares, truth[rows], "kl")
        near = np.flatnonzero(values >= statistic[rows] - TIED)
        if len(near):
            values[near] = np.minimum(2.0 * m[near] * nearest(shares[near], rows[near]).distance, values[near])
        values = values.reshape(several)
        tie = np.abs(values - statistic[live]) <= TIED
        reached = (values > statistic[live] + TIED) | (tie & (places > own[live]))
        counted = above[live] + np.cumsum(reached, axis=0) - reached < reach  # draws up to the one with which it stops
        above[live] += (reached & counted).sum(axis=0)
        tied[live] += (tie & (places <= own[live]) & counted).sum(axis=0)
        made[live] += counted.sum(axis=0)
        live = live[above[live] < reach]
    stopped = above >= reach
    randomised = np.where(stopped, above / np.maximum(made, 1), (above + 1) / (n_draws + 1))
    return _Found(statistic, np.maximum(randomised, (above + tied + 1) / (made + 1)), randomised)


def _nearest_of(part: Prediction, floor: float) -> Callable[[Floats, Any], NearestPoint]:
    """The nearest points of the sets of some rows to shares of votes, by KL: the most likely points."""
    if isinstance(part, Point):
        probs = _normalised(part.mean_probs())

        def of_point(shares: Floats, rows: Any) -> NearestPoint:
            p = probs[rows]
            return NearestPoint(divergence(shares, p, "kl", floor=floor), p, np.zeros(len(p)))

        return of_point
    if isinstance(part, Box):
        lower, upper = part.bounds()
        return lambda shares, rows: nearest_in_box(shares, lower[rows], upper[rows], "kl", floor=floor)
    if isinstance(part, Masses):
        masses, sets = part.checked_masses(), part.focal_sets
        return lambda shares, rows: nearest_in_core(shares, masses[rows], sets, "kl", floor=floor, tolerance=TOLERANCE)
    points = _normalised(not_negative(part.hull_points()))
    return lambda shares, rows: nearest_in_hull(shares, points[rows], "kl", floor=floor, tolerance=TOLERANCE)


def _normalised(probs: Floats) -> Floats:
    return np.asarray(probs / probs.sum(axis=-1, keepdims=True))
