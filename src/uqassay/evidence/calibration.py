"""Lens: can a model, or some mixture of its members, be told from a calibrated one?"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from uqassay._workers import Workers, wanted_processes
from uqassay.arrays import Floats, argmax_of_rows, release, row_chunks
from uqassay.calibration.credal import (
    Convention,
    CredalCalibrationTest,
    Null,
    credal_calibration_test,
    credal_calibration_tests,
)
from uqassay.calibration.mixtures import IN_GROUPS, MixtureObjective, Mixtures, SharedMembers, shared_members
from uqassay.calibration.nulls import (
    ENOUGH,
    LabelDraws,
    draws_before_stop,
    least_reaching,
    monte_carlo_pvalue,
    sign_test,
    smallest_pvalue,
)
from uqassay.calibration.one_classifier import (
    Direction,
    gap_of_hits,
    statistic_and_null,
    undefined_notes,
    unseen_notes,
)
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.evidence.data import Judged, ModelCalibration
from uqassay.evidence.kept_rows import Kept, random_keys, rows_of, sample_reaching
from uqassay.evidence.scoring import PART_BYTES, holding
from uqassay.metrics.calibration import Groupwise
from uqassay.metrics.kernel_error import PrepareKernel
from uqassay.metrics.measures import CALIBRATION_MEASURES, CalibrationMeasure, calibration_measure
from uqassay.metrics.reliability_diagrams import Reliability, bins_of_classes, classes_apart, reliability
from uqassay.native import kernel
from uqassay.notes import Note, distinct, has_note
from uqassay.predictions import Answers, Box, ClassSets, Drawn, Masses, Members, Prediction, Vertices
from uqassay.statistics import holm
from uqassay.text import count

__all__ = [
    "NOT_STATED",
    "PART_DRAWS",
    "CalibrationClaim",
    "CalibrationPlan",
    "ForeseenTest",
    "Gaps",
    "JudgedTest",
    "TestedSample",
    "adjusted_pvalues",
    "adjusted_tests",
    "afforded",
    "calibration_claims",
    "calibration_tests",
    "check_measures",
    "choose_instances",
    "classwise_errors",
    "classwise_gaps",
    "errors_of_gaps",
    "errors_of_weighted_gaps",
    "fine_tests",
    "foreseen_tests",
    "given_tests",
    "judged_tests",
    "model_groups",
    "n_points",
    "no_test",
    "outcome_of",
    "parts_of",
    "point_draws",
    "point_models",
    "point_tests",
    "reached_by_further_draws",
    "tested_part",
    "tested_run",
    "weighted_gaps",
]


# How many instances, runs and draws the calibration tests of one model can afford, and whether its set is tested by its
# mean.
#
# The budget is that of one model and one measure: no result depends on the other models or measures of an assay.

Rows = NDArray[np.intp]

SET_WORK = 3e5  # n K (M + 16) of one test of a set
SET_SECONDS = 0.25  # of such a test, from a tenth where a mixture is calibrated to a third where none is
WITHOUT_KERNELS = 5  # times as long
RUNS_WORK = 6e5  # the same over the runs of a model
FEWEST = 300  # least number of instances of a test of a set, at any cost
LARGEST_WORK = 9e5  # a set whose test of `FEWEST` instances costs more is tested by its mean
SEARCH = 16  # mixtures that a round of the search judges, in addition to one for each member
POINT_WORK = 1e7  # n D of one test of a single distribution: a third of a second
POINT_DRAWS = (999, 499, 199)
MOST_PAIRED = 2000  # instances of a point of which all pairs are compared
MOST_VALUES = 2e7  # numbers of a model's predictions that tests of its mean take: 0.16 GB


class Afforded(NamedTuple):
    """Instances tested, the number of runs tested, and whether the model's set is tested by its mean."""

    n_tested: int
    n_runs: int
    by_mean: bool


def afforded(runs: tuple[Prediction, ...], measure: CalibrationMeasure, n: int) -> Afforded:
    """How many of the n instances and of the runs of one model are tested by one measure.

    Single distributions are tested in all runs and on all instances that hold at most `MOST_VALUES` numbers; measures that
    compare all pairs of instances take a smaller part. Of sets, the runs share a budget.
    """
    work, all_pairs = _work(runs[0]), _compares_all_pairs(measure)
    by_mean = FEWEST * work > LARGEST_WORK
    if n_points(runs[0]) == 1 or by_mean:
        values = sum(getattr(runs[0], name)[:1].size for name in runs[0].array_names())
        return Afforded(_round(MOST_PAIRED if all_pairs else int(MOST_VALUES / values), n), len(runs), by_mean)
    n_runs = int(min(len(runs), max(1, RUNS_WORK // (min(n, FEWEST) * work))))
    size = FEWEST if all_pairs else max(FEWEST, min(SET_WORK, RUNS_WORK / n_runs) / work)
    return Afforded(_round(int(size), n), n_runs, False)


def point_draws(n_tested: int) -> int:
    """Draws of labels for a test of a single distribution on so many instances."""
    return next((d for d in POINT_DRAWS if n_tested * d <= POINT_WORK), POINT_DRAWS[-1])


def estimated_seconds(run: Prediction, afforded: Afforded, n_measures: int) -> float:
    """Rough time of the tests of one run by so many measures, to decide whether it is shared among processes."""
    n, k = afforded.n_tested, run.n_classes
    if n_points(run) == 1 or afforded.by_mean:
        return n_measures * n * point_draws(n) * max(1.0, k / 10) / (3 * POINT_WORK)
    seconds = n_measures * SET_SECONDS * n * _work(run) / SET_WORK
    return seconds if kernel("searched") else WITHOUT_KERNELS * seconds


def _round(size: int, n: int) -> int:
    """At most n; a part in two digits, which read better."""
    step = 10 ** max(len(str(size)) - 2, 0) if size < n else 1
    return min(n, size // step * step)


def _compares_all_pairs(measure: CalibrationMeasure) -> bool:
    return isinstance(measure.prepare, PrepareKernel) and measure.prepare.estimator in ("quadratic", "biased")


def _work(prediction: Prediction) -> float:
    """Cost of one test of a set for each instance: mixtures that a round of the search judges times classes."""
    m, k = n_points(prediction), prediction.n_classes
    return k * (m + SEARCH) + 2 * m if m > 1 else 0.0


def n_points(prediction: Prediction) -> int:
    """Number of points that can be mixed, M; 1 where only the mean can be tested."""
    if isinstance(prediction, Members):
        return prediction.n_members
    if isinstance(prediction, Drawn):
        return prediction.n_points if prediction.has_shared_points else 1
    if isinstance(prediction, Vertices):
        return int(prediction.vertices.shape[1])
    return 2 * prediction.n_classes if isinstance(prediction, (Box, Masses)) else 1


def choose_instances(n: int, n_tested: int, groups: NDArray[Any] | None, seed: int) -> Rows:
    """Instances at random, or whole groups until there are enough, in ascending order."""
    return sample_reaching(random_keys(n, groups, seed), n_tested)


# Tests of one distribution per instance by several measures, on the same draws of labels, with p-values below 1 / (D +
# 1).

Seed = tuple[int, ...]

PARTS = 3  # of the instances, where no draw of all of them reaches the statistic
PART_DRAWS = 299
MANY_GROUPS = 60  # from here on parts of the groups are tested apart
SIGN_DRAWS, PART_SIGNS, MORE_SIGNS = (
    499,
    99,
    2999,
)  # of signs of groups: of all, of a part, and where there are few groups
ONE_GROUP = Note("no-test", "1 group: no p-value")
CHUNK_BYTES = 32 * 2**20  # of labels drawn at a time, at most
CACHE_BYTES = 2**20  # of labels, which random numbers, bins and sums share the cache with
FEWEST_DRAWS, MOST_DRAWS = 8, 48  # at a time; after them a test may stop


class PointTest(NamedTuple):
    """A statistic, its p-value, the null draws (D,), and how many parts of the instances the p-value combines (or 0).

    The kind of the null is "single" for drawn labels and "signs" for random signs of groups.
    """

    statistic: float
    pvalue: float
    null: Floats
    n_parts: int = 0
    null_kind: str = "single"
    notes: tuple[Note, ...] = ()


def fine_tests(
    labels: Rows, probs: Floats, measures: Sequence[CalibrationMeasure], groups: NDArray[Any] | None, seed: int
) -> list[PointTest]:
    """Test one distribution per instance by each measure, with groups by their signs, and with p-values below 1 / (D + 1).

    A measure that is no function of sums over groups takes the labels as independent, and a note says so.
    """
    by_signs = _by_signs(probs, measures, groups)
    drawn = [measure for measure, signed in zip(measures, by_signs, strict=True) if not signed]
    found = iter(
        point_tests(
            labels,
            probs,
            drawn,
            point_draws(len(labels)),
            seed=(seed, 23),
            stop=True,
            parts=parts_of(len(labels), groups, seed),
        )
        if drawn
        else ()
    )
    alone = () if groups is None else (IN_GROUPS,)
    return [
        grouped_test(labels, probs, measure, groups, seed)
        if signed and groups is not None
        else next(found)._replace(notes=alone)
        for measure, signed in zip(measures, by_signs, strict=True)
    ]


def given_tests(
    labels: Rows,
    probs: Floats,
    measures: Sequence[CalibrationMeasure],
    groups: NDArray[Any] | None,
    n_draws: int,
    seed: int,
) -> list[PointTest]:
    """As `fine_tests`, with exactly D draws of labels, or of signs of the groups."""
    by_signs = _by_signs(probs, measures, groups)
    found = point_tests(
        labels,
        probs,
        [measure for measure, signed in zip(measures, by_signs, strict=True) if not signed],
        n_draws,
        seed=(seed, 23),
    )
    if groups is None:
        return found
    rest = iter(found)
    return [
        _signs(labels, probs, measure, groups, n_draws, (seed, 26, 0))
        if signed
        else next(rest)._replace(notes=(IN_GROUPS,))
        for measure, signed in zip(measures, by_signs, strict=True)
    ]


def _by_signs(probs: Floats, measures: Sequence[CalibrationMeasure], groups: NDArray[Any] | None) -> list[bool]:
    """Which measures are tested by signs of the groups."""
    if groups is None:
        return [False] * len(measures)
    by_class = classes_apart(probs)
    return [isinstance(measure.prepare(by_class), Groupwise) for measure in measures]


def _signs(
    labels: Rows, probs: Floats, measure: CalibrationMeasure, groups: NDArray[Any], n_draws: int, seed: Seed
) -> PointTest:
    """One test by random signs of the groups."""
    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    found = sign_test(labels, probs, measure, codes, n_draws, np.random.default_rng(list(seed)))
    notes = (ONE_GROUP,) if not codes.any() else ()
    return PointTest(found.statistic, found.pvalue, found.null, null_kind="signs", notes=notes)


def grouped_test(
    labels: Rows, probs: Floats, measure: CalibrationMeasure, groups: NDArray[Any], seed: int
) -> PointTest:
    """Test one distribution per instance by random signs of the groups.

    Where the p-value is as small as the draws allow, parts of many groups are tested apart and combined by Fisher's method; few
    groups get more draws.
    """

    def test(rows: Rows, n_draws: int, part: int) -> PointTest:
        return _signs(labels[rows], probs[rows], measure, groups[rows], n_draws, (seed, 26, part))

    n, n_groups = len(labels), len(np.unique(groups))
    first = test(np.arange(n), SIGN_DRAWS, 0)
    if not first.pvalue <= smallest_pvalue(SIGN_DRAWS, measure.sides) * (1 + 1e-12):
        return first
    if n_groups < MANY_GROUPS:
        more = test(np.arange(n), MORE_SIGNS, 0)
        return more if more.pvalue < first.pvalue else first
    pvalues = [test(rows, PART_SIGNS, 1 + i).pvalue for i, rows in enumerate(parts_of(n, groups, seed))]
    combined = _fisher(np.log(pvalues).sum(), len(pvalues))
    return first._replace(pvalue=combined, n_parts=len(pvalues)) if combined < first.pvalue else first


def point_tests(
    labels: Rows,
    probs: Floats,
    measures: Sequence[CalibrationMeasure],
    n_draws: int,
    *,
    seed: Seed,
    stop: bool = False,
    parts: Sequence[Rows] = (),
) -> list[PointTest]:
    """Test one distribution per instance by each measure.

    Parameters
    ----------
    labels : int array (n,)
    probs : array (n, K)
    measures : sequence of CalibrationMeasure
    n_draws : int
        Draws of labels D, the same for all measures.
    seed : tuple of int
        Seed of the draws.
    stop : bool
        Whether draws end once a tenth of D has reached the statistic, counted in the order in which they are made (Besag and
        Clifford); of a measure with two sides, on both. The last of them is left out, so that (1 + reached) / (1 + draws) is
        their p-value too.
    parts : sequence of int array
        Disjoint rows. Where no draw reaches the statistic, these parts are tested apart, and their p-values are combined by
        Fisher's method.

    Notes
    -----
    The smaller of the smallest p-value of D draws and the combined one keeps every level exactly: from the smallest p-value of
    D draws on it rejects with these draws alone; below, only where the combined p-value would.

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    """
    found = _monte_carlo(labels, probs, measures, n_draws, np.random.default_rng(list(seed)), stop=stop)
    floors = [smallest_pvalue(n_draws, measure.sides) * (1 + 1e-12) for measure in measures]
    at_floor = [j for j, test in enumerate(found) if len(parts) and test.pvalue <= floors[j]]
    if at_floor:
        finer = _combined_parts(labels, probs, [measures[j] for j in at_floor], parts, seed=seed)
        for j, pvalue in zip(at_floor, finer, strict=True):
            if pvalue < found[j].pvalue:
                found[j] = found[j]._replace(pvalue=pvalue, n_parts=len(parts))
    return found


def parts_of(n: int, groups: NDArray[Any] | None, seed: int) -> list[Rows]:
    """Three parts of n instances at random, groups kept whole; none where there are too few groups."""
    units = n if groups is None else len(np.unique(groups))
    if units < PARTS:
        return []
    left, found = np.arange(n), []
    for still in range(PARTS, 1, -1):
        chosen = choose_instances(len(left), len(left) // still, None if groups is None else groups[left], seed)
        if len(chosen) in (0, len(left)):
            return []
        found.append(left[chosen])
        left = np.delete(left, chosen)
    return [*found, left]


def _combined_parts(
    labels: Rows, probs: Floats, measures: Sequence[CalibrationMeasure], parts: Sequence[Rows], *, seed: Seed
) -> list[float]:
    """p-values of separate tests of disjoint parts, combined by Fisher's method; nan where one is undefined."""
    logs = np.zeros(len(measures))
    for i, rows in enumerate(parts):
        generator = np.random.default_rng([*seed, 1 + i])
        part = np.take(probs.T, rows, axis=1).T  # class after class in memory, as the measures need it
        tests = _monte_carlo(labels[rows], part, measures, PART_DRAWS, generator, stop=True)
        logs += np.log([test.pvalue for test in tests])
    return [_fisher(total, len(parts)) for total in logs.tolist()]


def _fisher(log_sum: float, n: int) -> float:
    """Fisher's p-value of n independent ones, from the sum of their logarithms: chi-squared with 2n degrees of freedom."""
    return float(gammaincc(n, -log_sum))


def _monte_carlo(
    labels: Rows,
    probs: Floats,
    measures: Sequence[CalibrationMeasure],
    n_draws: int,
    generator: np.random.Generator,
    *,
    stop: bool,
) -> list[PointTest]:
    by_class = classes_apart(probs)
    with np.errstate(all="ignore"):  # 0/0 in some measures, and infinity if an event of probability 0 happens
        prepared = [measure.prepare(by_class) for measure in measures]
        statistics = [float(one.values(labels)) for one in prepared]
        nulls = [np.empty(n_draws) for _ in measures]
        going, enough = set(range(len(measures))), int(ENOUGH * (n_draws + 1)) if stop else n_draws + 1
        draws, made = LabelDraws(probs), 0
        most, fits = (max(1, size // (8 * len(labels))) for size in (CHUNK_BYTES, CACHE_BYTES))
        step = min(most, max(FEWEST_DRAWS, fits), MOST_DRAWS)
        while going and made < n_draws:
            size = min(step, n_draws - made)
            drawn = draws.draw(size, generator)
            for j in sorted(going):
                nulls[j][made : made + size] = prepared[j].values(drawn)
                at = draws_before_stop(statistics[j], nulls[j][: made + size], enough, measures[j].sides)
                if at is not None:
                    nulls[j] = nulls[j][:at]
                    going.discard(j)
            made += size
    return [
        PointTest(t, monte_carlo_pvalue(t, null, measure.sides), null)
        for t, null, measure in zip(statistics, nulls, measures, strict=True)
    ]


# How the calibration tests of an assay are made, and by which measures.


class CalibrationPlan(NamedTuple):
    """How tests are made."""

    #: null, resample, convention: Of `credal_calibration_test`.
    null: Null = "minimised"
    resample: bool = False
    convention: Convention = "exact"
    #: Draws in which the minimum over all mixtures is taken again, and those of the tests of single members.
    n_draws: int = 99
    #: Further draws for the smallest p-values of sets. With 0, p-values come from `n_draws` draws alone, those of
    #: single distributions too; otherwise these take `point_draws`, and finer p-values where no draw reaches the
    #: statistic.
    n_more: int = 19_900
    level: float = 0.95  #: Of the intervals in reliability diagrams.
    seed: int = 0
    members: bool = True  #: Whether single members are tested too.


def check_measures(measures: Sequence[str | CalibrationMeasure], name: str) -> tuple[CalibrationMeasure, ...]:
    """The measures of these names, each once."""
    if isinstance(measures, str) or not isinstance(measures, Sequence):
        fail(
            name,
            "must be a sequence of names of measures",
            f"got {measures!r}",
            "write ('ece-classwise',), or () for none",
            code="type",
        )
    chosen = {}
    for measure in measures:
        try:
            found = calibration_measure(measure)
        except InputError as problem:
            known = ", ".join(CALIBRATION_MEASURES)
            raise InputError(
                name, f"must be among {known}", f"got {measure!r}", "choose from them, or () for none", code="choice"
            ) from problem
        chosen[found.name] = found
    return tuple(chosen.values())


# One calibration test of one run of one model, and its p-value among all others.


def adjusted_pvalues(tests: Sequence[ModelCalibration]) -> Floats:
    """p-values adjusted by Holm for all of these tests, of all models, runs and measures, (T,); nan stays nan.

    The least over the runs of a model is the adjusted p-value of the claim that not all of them are calibrated.
    """
    return holm([test.pvalue for test in tests])


def adjusted_tests(tests: Sequence[ModelCalibration]) -> dict[ModelCalibration, float]:
    """Every test with its adjusted p-value."""
    return dict(zip(tests, adjusted_pvalues(tests).tolist(), strict=True))


def model_groups(tests: Sequence[ModelCalibration]) -> dict[tuple[str, str], list[ModelCalibration]]:
    """The tests of all runs, by model and measure."""
    found: dict[tuple[str, str], list[ModelCalibration]] = {}
    for test in tests:
        found.setdefault((test.model, test.measure), []).append(test)
    return found


# Further draws of labels for the smallest p-values of sets, which are judged at a few mixtures only.

STEPS = (1.0, 0.3, 0.1, 0.03)  # how far further mixtures lie from the fitted one
NEARBY = 15  # number of further mixtures at each of these steps
TOGETHER = 2e5  # random numbers that are made at a time: 1.6 MB, which the cache holds
MOST_WAITING = 5e6  # labels of those that the fitted mixture leaves open, which other mixtures judge together


def reached_by_further_draws(
    members: Floats,
    tests: Sequence[CredalCalibrationTest],
    measures: Sequence[CalibrationMeasure],
    n_more: int,
    seed: int,
) -> list[int]:
    """At most how many of further draws, from the fitted mixture of each test, have a minimum that reaches the statistic.

    The minimum over all mixtures is no greater than that over some of them: draws that one of these brings below the statistic
    are settled, and all others are counted. This is asked only where none of the first D draws reached the statistic. The
    smaller of 1/(D + 1) and the new p-value then keeps every level: from 1/(D + 1) on it rejects with the first draws alone,
    below only where all draws together would. The tests share the random numbers, which are those of each test alone.
    """
    generator = np.random.default_rng([seed, 22])
    mixtures, (n, m, _) = Mixtures(members), members.shape
    apart = [generator.dirichlet(np.ones(m), NEARBY) for _ in STEPS]
    open_draws = [_OpenDraws(mixtures, test, measure, apart) for test, measure in zip(tests, measures, strict=True)]
    step = max(1, int(TOGETHER / n))
    for begin in range(0, n_more, step):
        aims = generator.random((min(step, n_more - begin), n))
        for one in open_draws:
            one.judge(aims)
    return [one.count() for one in open_draws]


@final
class _OpenDraws:
    """Further draws of one test that no mixture has settled so far."""

    def __init__(
        self, mixtures: Mixtures, test: CredalCalibrationTest, measure: CalibrationMeasure, apart: Sequence[Floats]
    ) -> None:
        m = mixtures.n_members
        self._mixtures, self._measure, self._least = mixtures, measure, least_reaching(test.statistic)
        near = [(1 - step) * test.weights + step * other for step, other in zip(STEPS, apart, strict=True)]
        self._few = np.concatenate([np.full((1, m), 1 / m), np.eye(m)]), np.concatenate(near)
        fitted = classes_apart(mixtures.probs(test.weights))
        self._draws, self._prepared = LabelDraws(fitted), measure.prepare(fitted)
        self._waiting: list[Rows] = []
        self._reached = 0

    def judge(self, aims: Floats) -> None:
        """Draw labels at these random numbers (D, n); the fitted mixture itself settles most draws."""
        drawn = self._draws.at(aims)
        with np.errstate(all="ignore"):  # 0/0 in some measures
            above = self._prepared.values(drawn) >= self._least
        self._waiting.append(drawn[above])
        if sum(labels.size for labels in self._waiting) > MOST_WAITING:
            self._judge_waiting()

    def count(self) -> int:
        """Draws that no mixture settles."""
        self._judge_waiting()
        return self._reached

    def _judge_waiting(self) -> None:
        drawn = np.concatenate(self._waiting)
        for weights in self._few:
            if len(drawn):
                found = MixtureObjective(self._mixtures, drawn, self._measure).shared(weights).min(axis=1)
                drawn = drawn[found >= self._least]
        self._reached += len(drawn)
        self._waiting = [drawn[:0]]


# Can one run of a model, or some mixture of its members, be told from a calibrated one?

N_BINS = 10  # of the reliability diagrams
DRAWS = Note("mean", "only the mean is tested: draw number m means something different in every case")
GIVEN_WEIGHTS = Note("assumption", "the mean uses the given weights of the members, and a mixture may use any weights")


def tested_part(n_tested: int, n_instances: int) -> Note:
    """How many of the instances were tested."""
    return Note("sample", f"tested on {count(n_tested)} of {count(n_instances)} cases", {"tested": n_tested})


class TestedSample(NamedTuple):
    """One run of a model on the instances to test."""

    model: str
    run: int  #: 0 for the first.
    prediction: Prediction
    labels: NDArray[Any]  #: (n,)
    groups: NDArray[Any] | None  #: (n,)
    n_instances: int  #: Number of instances from which those tested were chosen.


def tested_run(
    sample: TestedSample,
    measures: Sequence[CalibrationMeasure],
    plan: CalibrationPlan,
    *,
    notes: Sequence[Note],
    mixed: bool,
) -> list[ModelCalibration]:
    """Test one run by every measure.

    Parameters
    ----------
    sample : TestedSample
    measures : sequence of CalibrationMeasure
    plan : CalibrationPlan
    notes : sequence of Note
        Notes that every result carries.
    mixed : bool
        False for sets with too many mixtures to search: the mean is tested instead.
    """
    prediction, stated = sample.prediction, isinstance(sample.prediction, Answers)
    if isinstance(prediction, Answers):
        sample = sample._replace(labels=prediction.correct)
        prediction, measures = prediction.as_point(), [measure.of_stated() for measure in measures]
    y = sample.labels.astype(np.intp)
    if isinstance(prediction, Drawn) and prediction.has_shared_points:
        prediction = prediction.members()
    prediction = holding(prediction)
    width, mean = _width(prediction), _mean(prediction)
    shared = shared_members(prediction) if n_points(prediction) > 1 and mixed else None
    notes = [*notes, *_notes_on_sets(prediction, shared)]
    before, hits = _diagram(mean, sample, plan.level, stated=stated)
    gap = gap_of_hits(*_hits(mean, y, stated=stated), sample.groups)
    means = _of_one(mean, y, measures, plan, fine=shared is None, groups=sample.groups)
    # members and vertices are distributions of the model itself; the corners of a box are not, and are not tested alone
    listed = shared is not None and plan.members and isinstance(prediction, (Members, Vertices))
    points = shared.probs.transpose(1, 0, 2) if shared is not None and listed else mean[:0]
    singles = [_of_one(point, y, measures, plan, fine=False) for point in points]
    of_sets = means if shared is None else _of_set(prediction, shared, y, measures, plan)
    after: Reliability | None
    found = []
    for j, (measure, alone, facts) in enumerate(zip(measures, means, of_sets, strict=True)):
        members = [single[j] for single in singles]
        after, hits_after = (before, hits) if shared is None else _after(shared, facts.weights, sample, plan.level)
        undefined = () if has_note(facts.notes, "no-test") else undefined_notes(facts.statistic, facts.pvalue, len(y))
        assumed = () if shared is None or sample.groups is None else (IN_GROUPS,)
        unseen = unseen_notes(measure, mean) if shared is None else ()  # of mixtures the test itself says so
        found.append(
            ModelCalibration(
                model=sample.model,
                run=sample.run,
                measure=facts.measure,
                notion=measure.notion,
                tested="mean" if shared is None else "mixtures",
                n_instances=sample.n_instances,
                n_tested=len(y),
                n_members=len(facts.weights),
                statistic=facts.statistic,
                pvalue=facts.pvalue,
                n_draws=facts.n_draws,
                null=facts.null,
                null_kind=facts.null_kind,
                weights=facts.weights,
                mean_value=alone.statistic,
                mean_pvalue=alone.pvalue,
                member_values=np.array([member.statistic for member in members], dtype=np.float64),
                member_pvalues=np.array([member.pvalue for member in members], dtype=np.float64),
                accuracy_mean=hits,
                accuracy_weighted=hits_after,
                before=before,
                after=after,
                width=width,
                notes=distinct(notes, assumed, unseen, undefined, _notes_on_infinity(facts, shared), facts.notes),
                noun="members" if shared is None else shared.noun,
                n_parts=facts.n_parts,
                gap=gap.value,
                gap_pvalue=gap.pvalue,
            )
        )
    return found


def _notes_on_sets(prediction: Prediction, shared: SharedMembers | None) -> list[Note]:
    """What is tested of a set, where it is not every mixture with the weights that the model takes."""
    m, k = n_points(prediction), prediction.n_classes
    if shared is None and m > 1:
        text = (
            f"only the mean is tested, because mixtures of {count(m)} points over {count(k)} classes take too long here: "
            "uqassay calibration-test tests them"
        )
        return [Note("mean", text, {"points": m, "classes": k})]
    if isinstance(prediction, Drawn):
        return [DRAWS]
    weighted = isinstance(prediction, Members) and prediction.weights is not None
    return [GIVEN_WEIGHTS] if shared is not None and weighted else []


def _notes_on_infinity(facts: "_Facts", shared: SharedMembers | None) -> list[Note]:
    if not math.isinf(facts.statistic):
        return []
    whose = "the model" if shared is None else f"every one of the {shared.noun}"
    text = f"{facts.measure} is infinite, because a label occurred to which {whose} gives probability 0"
    return [Note("infinite", text, {"measure": facts.measure})]


# -- one test ---------------------------------------------------------------------------------------------------------


class _Facts(NamedTuple):
    measure: str
    statistic: float
    pvalue: float
    n_draws: int
    null: Floats
    null_kind: str
    weights: Floats
    notes: tuple[Note, ...] = ()
    n_parts: int = 0


def _of_set(
    prediction: Prediction,
    shared: SharedMembers,
    labels: Rows,
    measures: Sequence[CalibrationMeasure],
    plan: CalibrationPlan,
) -> list[_Facts]:
    """The tests of all mixtures, with further draws where the p-value is small."""
    tests = credal_calibration_tests(
        labels,
        prediction,
        measures=measures,
        null="sequential" if plan.null == "minimised" and plan.n_more else plan.null,
        n_draws=plan.n_draws,
        resample=plan.resample,
        convention=plan.convention,
        rng=np.random.default_rng([plan.seed, 21]),
    )
    facts = [_facts_of(test) for test in tests]
    if plan.null == "minimised" and plan.n_more:
        least = [j for j, test in enumerate(tests) if test.pvalue <= test.smallest_pvalue]
        chosen = [tests[j] for j in least], [measures[j] for j in least]
        reached = reached_by_further_draws(shared.probs, *chosen, plan.n_more, plan.seed) if least else []
        for j, n in zip(least, reached, strict=True):
            all_draws = facts[j].n_draws + plan.n_more
            if (finer := (1 + n) / (1 + all_draws)) < facts[j].pvalue:
                facts[j] = facts[j]._replace(pvalue=finer, n_draws=all_draws)
    return facts


def _facts_of(test: CredalCalibrationTest) -> _Facts:
    return _Facts(
        measure=test.measure,
        statistic=test.statistic,
        pvalue=test.pvalue,
        n_draws=test.n_draws,
        null=test.null,
        null_kind=test.null_kind,
        weights=np.full_like(test.weights, math.nan) if math.isnan(test.statistic) else test.weights,
        notes=tuple(note for note in test.notes if note.code != "option"),  # an assay does not have those options
    )


def _of_one(
    probs: Floats,
    labels: Rows,
    measures: Sequence[CalibrationMeasure],
    plan: CalibrationPlan,
    *,
    fine: bool,
    groups: NDArray[Any] | None = None,
) -> list[_Facts]:
    """The tests of one distribution per instance, (n, K); `fine` ones with groups and p-values below 1 / (D + 1)."""
    p = probs if probs.min() >= 0 else np.maximum(probs, 0.0)
    if plan.convention == "paper-code" or plan.resample:
        assumed = () if groups is None else (IN_GROUPS,)
        return [_by_another_null(p, labels, measure, plan)._replace(notes=assumed) for measure in measures]
    if fine and plan.n_more:
        tests = fine_tests(labels, p, measures, groups, plan.seed)
    else:
        tests = given_tests(labels, p, measures, groups if fine else None, plan.n_draws, plan.seed)
    return [
        _Facts(
            measure=measure.name,
            statistic=test.statistic,
            pvalue=test.pvalue,
            n_draws=len(test.null),
            null=test.null,
            null_kind=test.null_kind,
            weights=np.ones(1),
            n_parts=test.n_parts,
            notes=test.notes,
        )
        for measure, test in zip(measures, tests, strict=True)
    ]


def _by_another_null(p: Floats, labels: Rows, measure: CalibrationMeasure, plan: CalibrationPlan) -> _Facts:
    """The test of the authors' code, or with instances that are drawn again."""
    generator = np.random.default_rng([plan.seed, 23])
    if plan.convention == "paper-code":
        members = (p / p.sum(axis=1, keepdims=True))[:, np.newaxis]
        test = credal_calibration_test(
            labels,
            members,
            measure=measure,
            null="random",
            n_draws=plan.n_draws,
            convention="paper-code",
            rng=generator,
        )
        name, statistic, pvalue, null = test.measure, test.statistic, test.pvalue, test.null
    else:
        statistic, null = statistic_and_null(labels, p, measure, plan.n_draws, True, generator)
        name, pvalue = measure.name, monte_carlo_pvalue(statistic, null, measure.sides)
    return _Facts(
        measure=name,
        statistic=statistic,
        pvalue=pvalue,
        n_draws=len(null),
        null=null,
        null_kind="single",
        weights=np.ones(1),
    )


def _after(
    shared: SharedMembers, weights: Floats, sample: TestedSample, level: float
) -> tuple[Reliability | None, float]:
    """Reliability diagram and accuracy of the mixture with the least value; of none where no value is defined."""
    if np.isnan(weights).any():
        return None, math.nan
    return _diagram(np.einsum("nmk,m->nk", shared.probs, weights), sample, level)


def _hits(probs: Floats, labels: NDArray[Any], *, stated: bool = False) -> tuple[Floats, Floats]:
    """What was right, and the confidence in it, (n,) each: of a stated one the probability of the second class."""
    if stated:
        return labels.astype(np.float64), probs[:, 1]
    return (argmax_of_rows(probs) == labels).astype(np.float64), np.minimum(probs.max(axis=1), 1.0)


def _diagram(probs: Floats, sample: TestedSample, level: float, *, stated: bool = False) -> tuple[Reliability, float]:
    """Reliability diagram and accuracy."""
    correct, confidence = _hits(probs, sample.labels, stated=stated)
    found = reliability(correct, confidence, n_bins=N_BINS, groups=sample.groups, level=level)
    return found, float(correct.mean())


def _width(prediction: Prediction) -> float:
    """Mean over instances and classes of the upper minus the lower probability."""
    total, n_held = 0.0, prediction.n_points if isinstance(prediction, Drawn) else n_points(prediction)
    for rows in row_chunks(prediction.n_instances, 16 * n_held * prediction.n_classes):
        part = prediction[rows]
        held = part.with_draws() if isinstance(part, Drawn) else part
        total += float((held.upper_probs() - held.lower_probs()).sum())
        _release(prediction)
    return total / (prediction.n_instances * prediction.n_classes)


def _mean(prediction: Prediction) -> Floats:
    """Mean prediction (n, K); a large one by chunks, and class after class in memory, as the measures need it."""
    n, k = prediction.n_instances, prediction.n_classes
    chunks = list(row_chunks(n, 8 * k * n_points(prediction)))
    if prediction.remembers or len(chunks) == 1:
        return prediction.mean_probs()
    by_class = np.empty((k, n))
    for rows in chunks:
        by_class[:, rows] = prediction[rows].mean_probs().T
        _release(prediction)
    return by_class.T


def _release(prediction: Prediction) -> None:
    for name in prediction.array_names():
        release(getattr(prediction, name))


# What the calibration tests of an assay say of its models, as data: outcomes after adjusting for all tests.

Outcome = Literal["rejected", "passed", "undefined"]

MARGIN = 1e-12  # rounding of p-values next to alpha


@final
@dataclass(frozen=True, eq=False)
class JudgedTest:
    """A test with what follows from it."""

    test: ModelCalibration
    adjusted: float  #: The p-value adjusted for all tests that were made together; nan where the test is undefined.
    outcome: Outcome  #: See `outcome_of`.
    #: Whether the model says more than one distribution, so that a test of one is a test of its mean.
    of_mean: bool = False
    #: Of a rejected single distribution: the sign of mean confidence minus accuracy, where it differs from 0 at the
    #: same level, adjusted by Holm for all models and runs.
    direction: Direction = ""

    @property
    def mixed(self) -> bool:
        """Whether all mixtures of the members were tested, rather than one distribution."""
        return self.test.tested == "mixtures"


def outcome_of(adjusted: float, alpha: float) -> Outcome:
    """ "rejected" if the adjusted p-value is at most alpha, else "passed"; "undefined" without a p-value.

    Examples
    --------
    >>> [outcome_of(p, 0.05) for p in (0.02, 0.06, float("nan"))]
    ['rejected', 'passed', 'undefined']
    """
    if math.isnan(adjusted):
        return "undefined"
    return "rejected" if adjusted <= alpha + MARGIN else "passed"


def judged_tests(
    tests: Sequence[ModelCalibration], alpha: float, *, points: Collection[str] | None = None
) -> tuple[JudgedTest, ...]:
    """Every test with its outcome at level `alpha`, adjusted by Holm for all of these tests.

    Parameters
    ----------
    tests : sequence of ModelCalibration
    alpha : float
        Probability of any false rejection.
    points : collection of str, optional
        Models that predict a single distribution; of the others a test without mixtures is called a test of the mean. By
        default all are taken to.
    """
    signs = _directions(tests, alpha)
    judged = []
    for test, p in zip(tests, adjusted_pvalues(tests).tolist(), strict=True):
        outcome = outcome_of(p, alpha)
        found = signs.get((test.model, test.run), "") if outcome == "rejected" and test.tested == "mean" else ""
        of_mean = points is not None and test.model not in points
        judged.append(JudgedTest(test, adjusted=p, outcome=outcome, of_mean=of_mean, direction=found))
    return tuple(judged)


def _directions(tests: Sequence[ModelCalibration], alpha: float) -> dict[tuple[str, int], Direction]:
    """Whether each run of each model is more or less confident than accurate."""
    gaps = {(test.model, test.run): (test.gap, test.gap_pvalue) for test in tests if test.tested == "mean"}
    adjusted = holm([p for _, p in gaps.values()])
    return {
        key: ("overconfident" if gap > 0 else "underconfident") if p <= alpha + MARGIN else ""
        for (key, (gap, _)), p in zip(gaps.items(), adjusted.tolist(), strict=True)
    }


def point_models(assay: Judged) -> frozenset[str]:
    """Names of the models that predict a single distribution."""
    return frozenset(model.name for model in assay.candidates if model.n_points == 1)


@final
@dataclass(frozen=True, eq=False)
class CalibrationClaim:
    """What the tests of one model by one measure say, over all runs that were tested."""

    model: str
    measure: str
    notion: str
    #: The single distribution that the model predicts, the mean of its set, or every mixture of its members (vertices).
    tested: str
    #: "rejected": at least one run is not calibrated, at the level of the assay and for all tests together. "passed"
    #: claims nothing.
    outcome: Outcome
    #: The adjusted p-value: the least over the runs of those adjusted by Holm for all tests of the assay.
    pvalue: float
    #: n_tested, n_instances: Instances tested, and all.
    n_tested: int
    n_instances: int
    #: n_runs, n_runs_given: Runs tested, and all.
    n_runs: int
    n_runs_given: int
    runs_rejected: tuple[int, ...]  #: Runs that are rejected, 0 for the first; each of them is claimed.
    direction: Direction  #: The same in all rejected runs, see `JudgedTest`.
    n_members: int  #: What was mixed, M; 1 where one distribution was tested.
    noun: str
    reason: str  #: Why a test is undefined; empty if none is.
    ignores_groups: bool = False  #: Whether there are groups, but the test takes labels as independent.

    def to_dict(self) -> dict[str, Any]:
        """Plain values, the runs counted from 1."""
        return {**vars(self), "runs_rejected": [run + 1 for run in self.runs_rejected]}


def calibration_claims(assay: Judged) -> tuple[CalibrationClaim, ...]:
    """One record for each model and measure that was tested, in the order of the models.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1]] * 9)}, [1] * 9, calibration=["ece-confidence"])
    >>> [(c.model, c.measure, c.tested, c.outcome, c.n_tested, c.runs_rejected) for c in calibration_claims(a)]
    [('m', 'ece-confidence', 'point', 'rejected', 9, (0,))]
    """
    judged = {j.test: j for j in judged_tests(assay.calibration, 1 - assay.settings.level, points=point_models(assay))}
    runs = {model.name: model.n_runs for model in assay.candidates}
    return tuple(
        _claim([judged[test] for test in tests], runs[model])
        for (model, _), tests in model_groups(assay.calibration).items()
    )


def _claim(runs: Sequence[JudgedTest], n_given: int) -> CalibrationClaim:
    first = runs[0].test
    rejected = [j.test for j in runs if j.outcome == "rejected"]
    directions = {j.direction for j in runs if j.outcome == "rejected"}
    outcomes: list[Outcome] = ["rejected", "passed", "undefined"]
    return CalibrationClaim(
        model=first.model,
        measure=first.measure,
        notion=first.notion,
        tested="point" if first.tested == "mean" and not runs[0].of_mean else first.tested,
        outcome=next(outcome for outcome in outcomes if outcome in {j.outcome for j in runs}),
        pvalue=min((j.adjusted for j in runs if not math.isnan(j.adjusted)), default=math.nan),
        n_tested=first.n_tested,
        n_instances=first.n_instances,
        n_runs=len(runs),
        n_runs_given=n_given,
        runs_rejected=tuple(test.run for test in rejected),
        direction=directions.pop() if len(directions) == 1 else "",
        n_members=first.n_members,
        noun=first.noun,
        reason=next((j.test.reason for j in runs if j.outcome == "undefined"), ""),
        ignores_groups=any(j.test.ignores_groups for j in runs),
    )


# Can a model, or some mixture of its members, be told from a calibrated one? Calibration tests of every model and run.

NO_PROBABILITIES = Note("no-test", "class sets state no probabilities that could be calibrated")
NOT_STATED = Note("no-test", "no confidence is stated that could be calibrated")
SOFT = Note("no-test", "label distributions are not tested: a test takes one label for each case")
WEIGHTED = Note("no-test", "weighted cases are not tested: a test draws labels as if all cases counted alike")


def calibration_tests(
    models: Mapping[str, tuple[Prediction, ...]],
    labels: NDArray[Any],
    measures: Sequence[CalibrationMeasure],
    *,
    groups: NDArray[Any] | None,
    weighted: bool = False,
    plan: CalibrationPlan,
    workers: Workers,
    kept: Mapping[str, Kept] | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[ModelCalibration, ...]:
    """Test every run of every model by every measure, on as many instances as this model can afford.

    The result of a model depends neither on the other models nor on the other measures, nor on the number of workers. Single
    distributions are tested on all instances, up to `calibration_cost.MOST_VALUES` numbers. Sets share a budget over their
    runs: large test sets are tested on a random part, many runs on the first few. Sets with so many members and classes that
    even a few hundred instances would take too long are tested by their mean. `kept` names, for models of a stream, the rows
    that their runs hold.
    """
    if not measures:
        return ()
    reasons = {name: why for name, runs in models.items() if (why := no_test(runs[0], labels, weighted=weighted))}
    found = {
        (name, 0, measure): _untested(name, measure, len(labels), n_points(models[name][0]), reason)
        for name, reason in reasons.items()
        for measure in measures
    }
    work = _work_on({name: runs for name, runs in models.items() if name not in reasons}, measures, len(labels))
    n_processes = wanted_processes()
    if n_processes > 1:  # the last ones apart, so that no process waits long for another
        work = [*work[:-n_processes], *(part for one in work[-n_processes:] for part in _apart(one))]
    calls = []
    for one in work:
        run = models[one.model][one.run]
        rows = choose_instances(len(labels), one.afforded.n_tested, groups, plan.seed)
        held = None if kept is None else kept[one.model]
        calls.append((one, _sample(one.model, one.run, run, labels, groups, rows, held), plan))
    seconds = sum(estimated_seconds(sample.prediction, one.afforded, len(one.measures)) for one, sample, _ in calls)
    found |= {
        (one.model, one.run, measure): test
        for one, tests in zip(work, workers.share(_tested, calls, seconds=seconds, progress=progress), strict=True)
        for measure, test in zip(one.measures, tests, strict=True)
    }
    keys = ((name, r, measure) for name, runs in models.items() for r in range(len(runs)) for measure in measures)
    return tuple(found[key] for key in keys if key in found)


class ForeseenTest(NamedTuple):
    """What is known of a test before it is made."""

    model: str
    n_tested: int
    n_instances: int
    ignores_groups: bool  #: As `ModelCalibration.ignores_groups`.


SEEN = 8  # instances that show how a measure is tested


def foreseen_tests(
    models: Mapping[str, tuple[Prediction, ...]],
    labels: NDArray[Any],
    measures: Sequence[CalibrationMeasure],
    *,
    groups: NDArray[Any] | None,
    weighted: bool = False,
    seed: int,
) -> tuple[ForeseenTest, ...]:
    """The tests that `calibration_tests` will make, but for those of which it knows that they are undefined.

    Of the models, some instances are enough.
    """
    tested = {name: runs for name, runs in models.items() if not no_test(runs[0], labels, weighted=weighted)}
    found = {}
    for one in _work_on(tested, measures, len(labels)):
        n_tested = len(choose_instances(len(labels), one.afforded.n_tested, groups, seed))
        by_signs = [False] * len(one.measures)
        if groups is not None and not one.is_set:
            seen = tested[one.model][one.run][:SEEN]
            seen = seen.as_point() if isinstance(seen, Answers) else seen
            by_signs = _by_signs(seen.mean_probs(), one.measures, groups)
        for measure, signed in zip(one.measures, by_signs, strict=True):
            ignored = groups is not None and not signed
            found[one.model, one.run, measure] = ForeseenTest(one.model, n_tested, len(labels), ignored)
    keys = ((name, r, measure) for name, runs in tested.items() for r in range(len(runs)) for measure in measures)
    return tuple(found[key] for key in keys if key in found)


class _Work(NamedTuple):
    """Measures by which one of the runs given of a model is tested on the same instances."""

    model: str
    run: int
    measures: tuple[CalibrationMeasure, ...]
    afforded: Afforded
    n_given: int
    is_set: bool


def _work_on(
    models: Mapping[str, tuple[Prediction, ...]], measures: Sequence[CalibrationMeasure], n: int
) -> list[_Work]:
    """What is tested together: measures on the same instances share their draws of labels."""
    found = []
    for name, runs in models.items():
        can = {measure: afforded(runs, measure, n) for measure in measures}
        is_set = n_points(runs[0]) > 1
        for r in range(len(runs)):
            for each in dict.fromkeys(c for c in can.values() if r < c.n_runs):
                those = tuple(measure for measure, c in can.items() if c == each)
                found.append(_Work(name, r, those, each, len(runs), is_set and not each.by_mean))
    return found


def _apart(work: _Work) -> list[_Work]:
    """One test for each measure of a set; most of the time goes into the searches, which share nothing."""
    return [work._replace(measures=(measure,)) for measure in work.measures] if work.is_set else [work]


def _tested(
    work: _Work, sample: TestedSample, plan: CalibrationPlan, *, progress: Callable[[str], None]
) -> list[ModelCalibration]:
    progress(f"calibration of {work.model}")
    notes = _notes(len(sample.labels), sample.n_instances, work.afforded.n_runs, work.n_given)
    try:
        return tested_run(sample, work.measures, plan, notes=notes, mixed=not work.afforded.by_mean)
    except InputError as problem:
        raise problem.inside(f"models[{work.model!r}]") from problem
    finally:
        for name in sample.prediction.array_names():
            release(getattr(sample.prediction, name))


def _sample(
    model: str,
    r: int,
    run: Prediction,
    labels: NDArray[Any],
    groups: NDArray[Any] | None,
    rows: NDArray[np.intp],
    kept: Kept,
) -> TestedSample:
    n = len(labels)
    if len(rows) == n == run.n_instances:
        return TestedSample(model, r, run, labels, groups, n)
    part = rows_of(run, rows, kept)
    return TestedSample(model, r, part, labels[rows], None if groups is None else groups[rows], n)


def _notes(n_tested: int, n: int, n_runs: int, n_given: int) -> list[Note]:
    notes = []
    if n_tested < n:
        notes.append(tested_part(n_tested, n))
    if n_runs < n_given:
        text = (
            f"only run 1 of {n_given} is tested" if n_runs == 1 else f"only runs 1 to {n_runs} of {n_given} are tested"
        )
        notes.append(Note("first-run", text, {"runs": n_given, "tested": n_runs}))
    return notes


def no_test(run: Prediction, labels: NDArray[Any], *, weighted: bool = False) -> Note | None:
    """Why a model cannot be tested."""
    if labels.ndim == 2:
        return SOFT
    if isinstance(run, Answers) and run.confidence is None:
        return NOT_STATED
    if isinstance(run, ClassSets):
        return NO_PROBABILITIES
    return WEIGHTED if weighted else None


def _untested(model: str, measure: CalibrationMeasure, n: int, n_points: int, reason: Note) -> ModelCalibration:
    nothing, nan = np.empty(0), math.nan
    return ModelCalibration(
        model=model,
        run=0,
        measure=measure.name,
        notion=measure.notion,
        tested="nothing",
        n_instances=n,
        n_tested=0,
        n_members=n_points,
        statistic=nan,
        pvalue=nan,
        n_draws=0,
        null=nothing,
        null_kind="",
        weights=nothing,
        mean_value=nan,
        mean_pvalue=nan,
        member_values=nothing,
        member_pvalues=nothing,
        accuracy_mean=nan,
        accuracy_weighted=nan,
        before=None,
        after=None,
        width=nan,
        notes=(reason,),
    )


# Classwise calibration error of a model's mean predictions, over all of its runs and of each.

UNIT = (
    2.0**26
)  # sums are kept in units of 1/UNIT, their remainders in units of 1/UNIT², so that they are exact in any order

Gaps = NDArray[np.int64]


def classwise_errors(
    runs: Sequence[Prediction], labels: NDArray[Any], weights: Floats | None = None
) -> tuple[float, ...]:
    """Classwise calibration error of the means: of all runs together, then of each.

    Mean over the classes of Σ_b |observed − expected| / n over 10 equally wide bins; labels (n,), or distributions (n, K) of
    which each class's share is what is observed.

    References
    ----------
    Credal calibration, equation 4.

    Examples
    --------
    >>> import uqassay as uq
    >>> classwise_errors([uq.Point([[0.75, 0.25], [0.75, 0.25]])], np.array([0, 1]))
    (0.25, 0.25)
    """
    if weights is not None:
        return errors_of_weighted_gaps([weighted_gaps(run, labels, weights) for run in runs], float(weights.sum()))
    return errors_of_gaps([classwise_gaps(run, labels) for run in runs], len(labels))


def classwise_gaps(run: Prediction, labels: NDArray[Any]) -> Gaps:
    """Observed minus expected number of each class in each bin, ``(2, K, 10)`` in units of 1/UNIT and 1/UNIT².

    The gaps of parts of the instances add up to those of all.
    """
    gap = np.zeros((2, run.n_classes, N_BINS), dtype=np.int64)
    n_held = run.n_points if isinstance(run, Drawn) else n_points(run) + 3
    for rows in row_chunks(run.n_instances, 8 * run.n_classes * n_held, chunk_bytes=PART_BYTES):
        mean = np.ascontiguousarray(run[rows].mean_probs().T)  # (K, n)
        bins = bins_of_classes(mean.T, N_BINS, "width")
        y = labels[rows]
        for part, amounts in zip(gap, _in_units(mean), strict=True):
            part -= bins.sums(amounts).astype(np.int64)
        if y.ndim == 1:
            gap[0] += (bins.observed(y.astype(np.intp)) * UNIT).astype(np.int64)
        else:
            for part, amounts in zip(gap, _in_units(np.ascontiguousarray(y.T)), strict=True):
                part += bins.sums(amounts).astype(np.int64)
        for name in run.array_names():
            release(getattr(run, name))
    return gap


def weighted_gaps(run: Prediction, labels: NDArray[Any], weights: Floats) -> Floats:
    """Weight observed minus weight expected of each class in each bin, ``(K, 10)``; those of parts add up to those of all."""
    gap = np.zeros((run.n_classes, N_BINS))
    n_held = run.n_points if isinstance(run, Drawn) else n_points(run) + 3
    for rows in row_chunks(run.n_instances, 8 * run.n_classes * n_held, chunk_bytes=PART_BYTES):
        mean, y = run[rows].mean_probs(), labels[rows]
        happened = np.eye(run.n_classes)[y] if y.ndim == 1 else y
        bins = bins_of_classes(mean, N_BINS, "width")
        gap += bins.sums(np.ascontiguousarray((weights[rows, np.newaxis] * (happened - mean)).T))
        for name in run.array_names():
            release(getattr(run, name))
    return gap


def errors_of_weighted_gaps(gaps: Sequence[Floats], weight: float) -> tuple[float, ...]:
    """`errors_of_gaps` from weighted gaps of instances of this weight together."""
    found = [float(np.abs(gap).sum(axis=1).mean()) / weight for gap in (np.mean(gaps, axis=0), *gaps)]
    return tuple(found)


def errors_of_gaps(gaps: Sequence[Gaps], n: int) -> tuple[float, ...]:
    """The error of all runs together, then of each, from the gaps of each run over n instances."""
    found = [_mean_gap(gap) / n for gap in gaps]
    return (_mean_gap(np.sum(gaps, axis=0)) / (n * len(gaps)), *found)


def _mean_gap(gap: Gaps) -> float:
    return float(np.abs(gap[0] / UNIT + gap[1] / UNIT**2).sum(axis=1).mean())


def _in_units(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whole units of 1/UNIT in each value, and the remainder in units of 1/UNIT², rounded."""
    rest = values * UNIT
    whole = np.floor(rest)
    rest -= whole
    rest *= UNIT
    return whole, np.rint(rest, out=rest)
