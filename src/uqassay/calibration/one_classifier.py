"""Is one classifier calibrated? Tests of several measures, and their null distributions."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.special import gammaincc, ndtr

from uqassay.arrays import CACHE_BYTES, Floats, RandomState, generator, row_chunks
from uqassay.arrays import generator as as_generator
from uqassay.calibration.direction import ConfidenceGap, Direction, confidence_gap
from uqassay.calibration.mixtures import IN_GROUPS, Mixtures, mean_probs, shared_members
from uqassay.calibration.search import SimplexSearch
from uqassay.checks import a, fail, number, one_of
from uqassay.frames import is_frame
from uqassay.ids import in_one_order
from uqassay.metrics.calibration import (
    Bins,
    Groupwise,
    PrepareHosmerLemeshow,
    Signed,
    SignedMeasure,
    bins_of_events,
    check_least_expected,
    merged_bins,
    statistic_of_bins,
)
from uqassay.metrics.kernel_error import (
    Bandwidth,
    Estimator,
    Kernel,
    PrepareKernel,
    SettledKernel,
    block_terms,
    checked_block_size,
    default_block_size,
    kernel_calibration_error,
    settle_kernel,
)
from uqassay.metrics.measures import CalibrationMeasure, Sides, calibration_measure
from uqassay.metrics.reliability_diagrams import (
    CalibrationBins,
    bins_of_classes,
    check_bins,
    classes_apart,
    labels_and_probs,
)
from uqassay.metrics.smooth import PreparedScore, prepare_brier, prepare_log_score
from uqassay.native import kernel
from uqassay.notes import Note, reason
from uqassay.predictions import Prediction, PredictionLike, as_prediction
from uqassay.predictions.labels import labels_for
from uqassay.results import Plain, Shown, ShownCell, ShownRow, ShownTable
from uqassay.statistics.estimate import Estimate, mean_estimate
from uqassay.statistics.units import Units, check_draws, check_level, make_units
from uqassay.text import count, counted, pvalue, pvalue_text, significant

__all__ = [
    "CALIBRATED",
    "ENOUGH",
    "ONE_SIDE",
    "UPPER_ALONE",
    "CalibrationTest",
    "HosmerLemeshowTest",
    "KernelCalibrationTest",
    "LabelDraws",
    "Parts",
    "ShownVerdict",
    "calibration_test",
    "check_alpha",
    "check_search",
    "draws_before_stop",
    "groups_of",
    "hard_labels",
    "hosmer_lemeshow_test",
    "kernel_calibration_estimate",
    "labels_from",
    "least_reaching",
    "member_array",
    "monte_carlo_pvalue",
    "null_threshold",
    "numbers_of_test",
    "random_mixture_null",
    "sign_test",
    "skce_pvalue",
    "smallest_pvalue",
    "statement_kernel_test",
    "statements_of",
    "steps_reached",
    "two_parts",
    "unseen_notes",
]


# Shared steps of the Monte-Carlo tests of calibration: labels drawn from probabilities, p-values, thresholds.

Labels = NDArray[np.intp]

CALIBRATED = {
    "confidence": "confidence calibrated",
    "classwise": "classwise calibrated",
    "strong": "calibrated in the strong sense",
}
FEW_CLASSES = 48  # up to here counting the steps of the distribution function is faster than a binary search
STRETCH = 8192  # instances
ENOUGH = 0.1  # share of the draws that reach the statistic after which a sequential test makes no more
ROUNDING = 1e-9  # relative; closer values count as ties, because equal mixtures may be summed in different orders


@final
class LabelDraws:
    """Draws of labels from the same probabilities (n, K), by inversion of the distribution function.

    The steps of the distribution functions are computed once if they fit the cache, otherwise in each draw.

    Examples
    --------
    >>> draws = LabelDraws(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> draws.draw(3, np.random.default_rng(0)).tolist()
    [[1, 0], [1, 0], [1, 0]]
    """

    def __init__(self, probs: Floats) -> None:
        self._probs = probs
        self._chunks = list(row_chunks(len(probs), probs[:1].nbytes, chunk_bytes=CACHE_BYTES))
        self._steps = _steps_of(probs) if len(self._chunks) == 1 else None

    def draw(self, n_draws: int, generator: np.random.Generator) -> Labels:
        """D labels for each instance, (D, n)."""
        aims = generator.random((n_draws, len(self._probs)))
        return self._labels(aims, aims.view(np.int64))  # the labels of a chunk take the place of its random numbers

    def at(self, aims: Floats) -> Labels:
        """Labels at random numbers (D, n) in [0, 1)."""
        return self._labels(aims, np.empty(aims.shape, dtype=np.int64))

    def _labels(self, aims: Floats, labels: NDArray[np.int64]) -> Labels:
        n_classes = self._probs.shape[1]
        if self._steps is not None:
            return _labels_at(self._steps, n_classes, 0, aims)
        for rows in self._chunks:
            labels[:, rows] = _labels_at(_steps_of(self._probs[rows]), n_classes, rows.start, aims[:, rows])
        return labels.astype(np.intp, copy=False)


def labels_from(probs: Floats, n_draws: int, generator: np.random.Generator) -> Labels:
    """D labels for each instance, drawn from its probabilities (n, K), as (D, n)."""
    return LabelDraws(probs).draw(n_draws, generator)


def _steps_of(probs: Floats) -> Floats:
    """Distribution functions of (n, K) without their last value: (K − 1, n) of few classes, otherwise (n, K − 1)."""
    cumulated = np.cumsum(probs, axis=1)
    cumulated /= cumulated[:, -1:]
    steps = cumulated[:, :-1]
    return np.ascontiguousarray(steps.T if probs.shape[1] <= FEW_CLASSES else steps)


def _labels_at(steps: Floats, n_classes: int, first: int, aims: Floats) -> Labels:
    """Labels at random numbers (D, n); `first` is the number of the first of these instances."""
    aims = np.ascontiguousarray(aims)
    if n_classes <= FEW_CLASSES:
        return steps_reached(steps, aims)
    found = kernel("found_steps")
    return _found_steps(steps, first, aims) if found is None else np.asarray(found(steps, aims, first), dtype=np.intp)


def steps_reached(steps: Floats, aims: Floats) -> Labels:
    """How many of the steps (S, n) each aim (D, n) reaches, as (D, n).

    Examples
    --------
    >>> steps_reached(np.array([[0.2, 0.5], [0.6, 0.5]]), np.array([[0.1, 0.5], [0.7, 0.4]])).tolist()
    [[0, 2], [2, 0]]
    """
    counted = kernel("counted_steps")
    if counted is not None:
        return np.asarray(counted(steps, aims), dtype=np.intp)
    labels, small = np.empty(aims.shape, dtype=np.intp), np.min_scalar_type(len(steps))
    for aim, draw in zip(aims, labels, strict=True):
        for begin in range(0, len(aim), STRETCH):  # which fits the cache
            part = slice(begin, begin + STRETCH)
            reached = np.zeros(len(aim[part]), dtype=small)
            for step in steps[:, part]:
                reached += (step <= aim[part]).view(np.uint8)
            draw[part] = reached
    return labels


def _found_steps(steps: Floats, first: int, aims: Floats) -> Labels:
    """How many of the steps (n, K − 1) each aim (D, n) reaches, by one binary search.

    Instance i is shifted to [i, i + 1], so that the search over the joined line finds all labels.
    """
    n, n_steps = steps.shape
    start = np.arange(first, first + n, dtype=np.float64)
    line = (steps + start[:, np.newaxis]).ravel()  # ascending
    # i + u can round up to i + 1, which belongs to the next instance: keep the point below it.
    end = np.nextafter(start + 1, 0.0)
    before = np.arange(n) * n_steps
    labels = np.empty(aims.shape, dtype=np.intp)
    for aim, draw in zip(aims, labels, strict=True):  # ascending search points make `searchsorted` fast
        draw[:] = line.searchsorted(np.minimum(start + aim, end), side="right") - before
    return labels


def monte_carlo_pvalue(statistic: float, null: Floats, sides: Sides = "upper") -> float:
    """(1 + #{null ≥ statistic}) / (D + 1), (D,) -> one number; nan if any value is undefined.

    With two sides it is twice the smaller p-value of the two, at most 1.

    References
    ----------
    Davison, Hinkley (1997), Bootstrap Methods and their Application, equation 4.11.
    """
    if np.isnan(statistic) or np.isnan(null).any():
        return float("nan")
    above = int((null >= least_reaching(statistic)).sum())
    if sides == "upper":
        return (1 + above) / (len(null) + 1)
    below = int((null <= -least_reaching(-statistic)).sum())
    return min(1.0, 2 * (1 + min(above, below)) / (len(null) + 1))


def least_reaching(statistic: float) -> float:
    """The least value that counts as reaching the statistic."""
    return statistic - (ROUNDING * abs(statistic) + 1e-15 if np.isfinite(statistic) else 0.0)


def draws_before_stop(statistic: float, null: Floats, enough: int, sides: Sides = "upper") -> int | None:
    """Number of draws before the one with which enough have reached the statistic, on both sides; None if there is none.

    Without that last one, (1 + reached) / (1 + draws) is the p-value of a sequential test.

    Examples
    --------
    >>> draws_before_stop(0.5, np.array([0.7, 0.1, 0.6, 0.9]), 2), draws_before_stop(0.5, np.array([0.7, 0.1]), 2)
    (2, None)

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    """
    above = null >= least_reaching(statistic)
    if np.count_nonzero(above) < enough:
        return None
    reached = np.cumsum(above)
    if sides == "both":
        reached = np.minimum(reached, np.cumsum(null <= -least_reaching(-statistic)))
    return int(reached.searchsorted(enough)) if reached[-1] >= enough else None


def smallest_pvalue(n_draws: int, sides: Sides = "upper") -> float:
    """The smallest p-value that this many draws can reach; 0 without draws.

    Examples
    --------
    >>> smallest_pvalue(99), smallest_pvalue(99, "both")
    (0.01, 0.02)
    """
    return (1 if sides == "upper" else 2) / (n_draws + 1) if n_draws else 0.0


def check_alpha(alpha: float, n_draws: int, *, offset: float = 0.0, sides: Sides = "upper") -> None:
    """Refuse a level outside (0, 1) or below the smallest p-value that `n_draws` draws can reach."""
    share = 1 if sides == "upper" else 2
    number(alpha, "alpha", "pass 0.05 for 5 %", low=0, high=1, ends="()")
    smallest = share / (n_draws + 1) + offset
    if smallest > alpha + 1e-12:
        facts: dict[str, float] = {"n_draws": n_draws, "smallest": smallest, "offset": offset}
        if alpha <= offset:
            remedy = f"choose alpha above {offset:g}, the share of the confidence set"
        else:
            facts["needed"] = math.ceil(share / (alpha - offset) - 1e-9) - 1
            remedy = f"pass n_draws={facts['needed']} or more"
        fail(
            "alpha",
            f"the smallest p-value that n_draws={n_draws} can reach is {smallest:.4g}",
            f"got {alpha:g}",
            remedy,
            code="needs-draws",
            facts=facts,
        )


def null_threshold(null: Floats, alpha: float, *, offset: float = 0.0) -> float:
    """Critical value of the statistic for p ≤ α: the ⌊(α − offset)(D + 1)⌋-th greatest draw."""
    check_alpha(alpha, len(null), offset=offset)
    rank = math.floor((alpha - offset) * (len(null) + 1) + 1e-9)
    return float(np.sort(null)[len(null) - rank]) if rank <= len(null) else -math.inf


# Null distribution of a calibration measure with groups: the deviations of every group get a random sign (wild
# bootstrap).

CHUNK_BYTES = 2**24
N_SCALE = 64  # signs for the mean and standard deviation of a measure
ENOUGH_SIGNS = 25  # draws that reach the statistic, of which the sequential p-value is known to a fifth


@final
@dataclass(frozen=True, eq=False)
class SignTest:
    """The measure with its draws and p-value."""

    statistic: float
    null: Floats  #: (D,): the measure for random signs of the groups
    pvalue: float  #: the greater of `sign_pvalue` and `dependent_pvalue`; nan if undefined
    sign_pvalue: float  #: from the signs alone, which take the deviations of groups as symmetric
    dependent_pvalue: float  #: from labels that depend on each other inside groups as much as they can, see `sign_test`


def sign_test(
    labels: Labels,
    probs: Floats,
    measure: CalibrationMeasure,
    groups: Labels,
    n_draws: int,
    generator: np.random.Generator,
) -> SignTest:
    """Test calibration for labels (n,) that may depend on each other inside groups, and probabilities (n, K).

    `groups` (n,) are numbers from 0. If all other patterns of signs are no more than `n_draws`, they are enumerated.

    Notes
    -----
    Signs take the deviations of a group as symmetric. Few groups whose labels go together have skewed ones: of nine groups out
    of ten all labels are as predicted, of the tenth none is. Signs alone then reject too often. The second p-value keeps the
    skewness: labels are drawn from the probabilities with one common random number for all instances of a group, which orders
    the classes from the most probable one on. The measure, minus its mean over random signs and divided by its standard
    deviation over them, is compared with that of the draws. It scarcely depends on how strongly labels really go together.
    Draws stop when 25 of them reach the statistic (Besag, Clifford, 1991, Sequential Monte Carlo p-values).
    """
    prepared = measure.prepare(classes_apart(probs))
    n_groups = int(groups.max()) + 1
    if not isinstance(prepared, Groupwise):
        rule = f"cannot be used with {measure.name}, which is not a function of sums over groups"
        remedy = "choose another measure, such as 'kuiper-confidence'"
        fail("groups", rule, f"got {n_groups} groups", remedy, code="missing")
    patterns = n_patterns(n_groups, n_draws, measure.sides)
    size = n_draws if patterns is None else patterns
    with np.errstate(all="ignore"):
        statistic = float(prepared.values(labels))
        if size == 0 or np.isnan(statistic):
            return SignTest(statistic, np.full(size, np.nan), np.nan, np.nan, np.nan)
        # a label of probability 0 contradicts the probabilities, however labels depend on each other
        if np.isinf(statistic):
            least = smallest_pvalue(size, measure.sides)
            return SignTest(statistic, np.full(size, np.nan), least, least, least)
        signed = prepared.by_groups(groups, n_groups)
        own = signed(labels)
        width = _width(prepared, probs)
        null = np.concatenate([own.values(signs) for signs in _signs(n_groups, n_draws, patterns, width, generator)])
        first = monte_carlo_pvalue(statistic, null, measure.sides)
        few = next(_signs(n_groups, N_SCALE, None, 0, generator))
        second = _dependent_pvalue(own, signed, probs, groups, few, n_draws, measure.sides, generator)
    return SignTest(statistic, null, float(np.maximum(first, second)), first, second)


def _dependent_pvalue(
    own: SignedMeasure,
    signed: Signed,
    probs: Floats,
    groups: Labels,
    signs: Floats,
    n_draws: int,
    sides: Sides,
    generator: np.random.Generator,
) -> float:
    """Sequential p-value of the measure in standard deviations over signs, among draws of labels that go together."""
    aim = _standardised(own, signs)
    order = np.argsort(-probs, axis=1, kind="stable")
    cumulated = np.cumsum(np.take_along_axis(probs, order, axis=1), axis=1)
    cumulated /= cumulated[:, -1:]
    steps, rows = np.ascontiguousarray(cumulated[:, :-1].T), np.arange(len(probs))
    above = below = 0
    for drawn in range(1, n_draws + 1):
        common = generator.random(len(signs[0]))[groups]
        labels = order[rows, steps_reached(steps, common[np.newaxis])[0]]
        value = _standardised(signed(labels), signs)
        margin = ROUNDING * (1 + abs(aim))
        above += not value < aim - margin  # undefined draws count against rejection
        below += not value > aim + margin
        reached = above if sides == "upper" else min(above, below)
        if reached >= ENOUGH_SIGNS:
            return min(1.0, reached / drawn * (1 if sides == "upper" else 2))
    reached = above if sides == "upper" else min(above, below)
    return min(1.0, (1 + reached) / (n_draws + 1) * (1 if sides == "upper" else 2))


def _standardised(measure: SignedMeasure, signs: Floats) -> float:
    """The measure minus its mean over signs, in standard deviations over signs; 0 if no sign changes it."""
    over = measure.values(signs)
    spread = float(over.std())
    value = float(measure.values(np.ones((1, signs.shape[1])))[0]) - float(over.mean())
    return value / spread if spread > ROUNDING * float(np.abs(over).max()) else 0.0


def n_patterns(n_groups: int, n_draws: int, sides: Sides) -> int | None:
    """Number of patterns of signs other than the observed one, if they are to be enumerated; None if they are drawn.

    A measure with a direction changes if all signs change, so it has 2^G patterns; the others have half as many.
    """
    exponent = n_groups if sides == "both" else n_groups - 1
    return 2**exponent - 1 if exponent < 40 and 2**exponent - 1 <= n_draws else None


def _signs(
    n_groups: int, n_draws: int, patterns: int | None, width: int, generator: np.random.Generator
) -> Iterator[Floats]:
    """Signs (d, G) in chunks of draws."""
    step = max(1, CHUNK_BYTES // (8 * (n_groups + width)))
    total = n_draws if patterns is None else patterns
    for start in range(0, total, step):
        size = min(step, total - start)
        if patterns is None:
            yield 2.0 * generator.integers(0, 2, (size, n_groups), dtype=np.int8).astype(np.float64) - 1.0
        else:  # pattern j has the binary digits of j; 0, the observed one, is left out
            numbers = np.arange(start + 1, start + size + 1)[:, np.newaxis]
            yield 1.0 - 2.0 * (numbers >> np.arange(n_groups) & 1).astype(np.float64)


def _width(prepared: Groupwise, probs: Floats) -> int:
    """About how many numbers one draw needs."""
    bins = getattr(prepared, "bins", None)
    return probs.size if bins is None else int(bins.expected.size)


UPPER_ALONE = Note(
    "assumption",
    "with several members this score can show overconfidence alone: test kuiper-confidence to look for underconfidence",
)
ONE_SIDE = "; of mixtures, this score shows overconfidence alone"  # what a sentence adds
MANY = 0.5  # share of the classes with a single bin from which on a note tells of them


def unseen_notes(measure: CalibrationMeasure, probs: Floats, n_members: int = 1) -> tuple[Note, ...]:
    """What a measure cannot see in these data: probabilities (n, K), of several members those of their mean.

    Examples
    --------
    >>> from uqassay.metrics.measures import calibration_measure
    >>> probs = np.random.default_rng(0).dirichlet(np.ones(40), 50)
    >>> (note,) = unseen_notes(calibration_measure("hosmer-lemeshow"), probs)
    >>> note.text[:54]
    '40 of 40 classes are too rare to show underconfidence:'
    """
    found = (UPPER_ALONE,) if measure.sides == "both" and n_members > 1 else ()
    match measure.prepare:
        case PrepareHosmerLemeshow(n_bins=n_bins, binning=binning, form="counts", least_expected=least) if least:
            bins = bins_of_classes(classes_apart(probs), n_bins, binning)
            return (*found, *single_bins_note(bins.expected, least))
    return found


def single_bins_note(expected: Floats, least: float) -> tuple[Note, ...]:
    """Note on classes with one bin that is filled or merged, for expected events (K, B); empty if these are few."""
    n_bins, n_classes = expected.shape[-1], len(expected)
    single = int((merged_bins(expected, least).max(axis=-1) == 0).sum())
    if n_bins == 1 or single < MANY * n_classes:
        return ()
    text = f"{single} of {n_classes} classes are too rare to show underconfidence: test more instances, or confidence alone"
    return (Note("assumption", text, {"single": single, "classes": n_classes}),)


# How the result of a test of calibration is shown: its sentence, statistic and p-value.


class ShownVerdict(Shown):
    """A test with a sentence about its result, and notes on what limits it."""

    _shown_more: ClassVar[str] = "summary(), reject(alpha), notes"

    notes: tuple[Note, ...]

    @abstractmethod
    def sentence(self) -> str:
        """The result in plain words."""

    def _shown_sentences(self) -> Sequence[str]:
        return (self.sentence(),)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


def numbers_of_test(statistic: float, p: float, n_draws: int, *others: tuple[str, ShownCell]) -> ShownTable:
    """The numbers of one test in a row; `others` are further headers with their cells.

    Examples
    --------
    >>> print(*numbers_of_test(0.0513, 0.012, 999).as_text(), sep="\\n")
      statistic  p-value  draws
         0.0513      .01    999
    """
    texts = {"statistic": significant(statistic), "p-value": pvalue(p), "draws": count(n_draws)}
    cells = [(name, ShownCell(text)) for name, text in texts.items()]
    header, row = zip(*cells, *others, strict=True)
    return ShownTable(header, (ShownRow(row),), n_words=0)


# Result of the test of calibration of one classifier.

UNKNOWN_GAP = ConfidenceGap(math.nan, math.nan, math.nan, math.nan)


@final
@dataclass(frozen=True, eq=False, repr=False)
class CalibrationTest(ShownVerdict, Plain):
    """Result of `calibration_test`."""

    _plain: ClassVar = (
        "measure notion statistic pvalue null method n_instances n_classes n_draws sides n_groups "
        "smallest_pvalue direction gap notes"
    )

    #: name of the measure, and the notion of calibration that it tests: "confidence", "classwise" or "strong"
    measure: str
    notion: str
    statistic: float  #: the measure for the observed labels
    pvalue: float  #: small if the classifier is not calibrated; nan if undefined, see `notes`
    #: (D,): the measure for labels drawn from the probabilities, or random signs of the groups; empty for an asymptotic test
    null: Floats
    method: str  #: "resampled", "signs" or "asymptotic": "signs" if there are groups
    n_instances: int
    n_classes: int
    notes: tuple[Note, ...]  #: limits of the result
    #: number of draws: of labels D; of signs of groups, or how many other patterns of signs there are; of signs in the
    #: asymptotic test of "skce-uq" and "skce-biased"; 0 in the other asymptotic tests
    n_draws: int
    #: "upper" or "both": "both" if values below the expected one reject too, as for the Brier score and the log loss
    sides: Sides = "upper"
    n_groups: int = 0  #: 0 without groups
    gap: ConfidenceGap = UNKNOWN_GAP  #: mean confidence minus accuracy, with an interval and a p-value

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that can be reached: 1 / (n_draws + 1), twice that with two sides; 0 without draws.

        With G groups it is at least 2 / 2^G.
        """
        return smallest_pvalue(self.n_draws, self.sides)

    @property
    def direction(self) -> Direction:
        """ "overconfident", "underconfident" or "": the sign of `gap`, if the test rejects and the sign can be told, both at
        5 %."""
        return self.direction_at(0.05)

    def direction_at(self, alpha: float) -> Direction:
        """The direction at another level. Of classifiers whose accuracy is their mean confidence a share α gets one at most."""
        return self.gap.direction(alpha) if self.pvalue <= alpha + 1e-12 else ""

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects, at this level, that the classifier is calibrated. An undefined p-value never rejects."""
        self._check(alpha)
        return self.pvalue <= alpha + 1e-12

    def threshold(self, alpha: float = 0.05) -> float:
        """Critical value: the test rejects if the statistic exceeds it; with two sides the upper one of `thresholds`.

        nan for an asymptotic test.
        """
        return self.thresholds(alpha)[1]

    def thresholds(self, alpha: float = 0.05) -> tuple[float, float]:
        """Critical values: the test rejects if the statistic is below the first or above the second; nan if asymptotic."""
        self._check(alpha)
        if self.method == "asymptotic" or np.isnan(self.null).any():
            return float("nan"), float("nan")
        if self.sides == "upper":
            return -math.inf, null_threshold(self.null, alpha)
        return -null_threshold(-self.null, alpha / 2), null_threshold(self.null, alpha / 2)

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what, p = CALIBRATED.get(self.notion, self.notion), pvalue_text(self.pvalue)
        if math.isnan(self.pvalue):
            return f"Whether the classifier is {what} is undefined: {reason(self.notes)}."
        if self.smallest_pvalue > alpha + 1e-12:
            few = f"{self.n_groups} groups" if self._few_groups else f"{self.n_draws} draws"
            return f"{few} are too few to tell at this level whether the classifier is {what} ({p})."
        if self.reject(alpha):
            direction = self.direction_at(alpha)
            return f"The classifier is not {what} ({p}){f'; it is {direction}' if direction else ''}."
        return f"The test could not tell the classifier from one that is {what} ({p})."

    def _shown_title(self) -> str:
        on = f"{counted(self.n_instances, 'instance')} of {counted(self.n_classes, 'class', 'classes')}"
        return f"Calibration test by {self.measure} on {on}"

    def _shown_table(self) -> ShownTable:
        return numbers_of_test(self.statistic, self.pvalue, self.n_draws)

    @property
    def _few_groups(self) -> bool:
        """Whether all patterns of signs were enumerated, so that more draws would not help."""
        return self.method == "signs" and n_patterns(self.n_groups, self.n_draws, self.sides) == self.n_draws

    def _check(self, alpha: float) -> None:
        if self._few_groups and self.smallest_pvalue > alpha + 1e-12:
            rule = f"the smallest p-value that {self.n_groups} groups can reach is {self.smallest_pvalue:.4g}"
            facts = {"n_groups": self.n_groups, "smallest": self.smallest_pvalue}
            fail("alpha", rule, f"got {alpha:g}", "test on more groups", code="range", facts=facts)
        check_alpha(alpha, self.n_draws or 2**62, sides=self.sides)


# Tests of strong calibration of one classifier: p-values and intervals of its kernel calibration error.

Method = Literal["asymptotic", "bound"]

Notes = tuple[Note, ...]

LARGEST_TERM = 2.0  # |k (p − e_y) · (p′ − e_y′)| ≤ √2 √2 for kernels up to 1
TILE_BYTES = 2**21
KERNEL_ROUNDING = 1e-12
UPPER_BOUND = (Note("method", "the p-value is an upper bound, so the test rejects less often than it may"),)


@final
@dataclass(frozen=True, slots=True)
class KernelCalibrationTest:
    """Result of `skce_pvalue`."""

    statistic: float  #: the squared kernel calibration error
    pvalue: float  #: one-sided: small if the classifier is not calibrated; nan if undefined
    estimator: str
    method: str
    n: int  #: number of instances
    notes: tuple[Note, ...]  #: why a value is nan, or how the p-value was computed
    n_draws: int = 0  #: number of draws of signs; 0 if the p-value needs none

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that `n_draws` draws can reach, 1 / (n_draws + 1); 0 without draws."""
        return smallest_pvalue(self.n_draws)

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects, at this level, that the classifier is calibrated. An undefined p-value never rejects."""
        check_alpha(alpha, self.n_draws or 2**62)
        return self.pvalue <= alpha + KERNEL_ROUNDING


@in_one_order("probs", "y_true")
def skce_pvalue(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    estimator: Estimator = "quadratic",
    method: Method = "asymptotic",
    kernel: Kernel = "tv",
    bandwidth: Bandwidth = None,
    block_size: int | None = None,
    n_draws: int = 1000,
    rng: RandomState = None,
) -> KernelCalibrationTest:
    """Test whether a classifier is calibrated in the strong sense by its squared kernel calibration error.

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    estimator : {"quadratic", "linear", "block", "biased"}
        See `kernel_calibration_error`.
    method : {"asymptotic", "bound"}
        "asymptotic": for "linear" and "block" the central limit theorem, 1 − Φ(mean √m / s) over the m pairs or blocks. For
        "quadratic" and "biased" the limit is a weighted sum of χ². A wild bootstrap simulates it: the error of every
        instance gets a random sign. These two estimators have the same p-value.
        "bound": an upper bound of the p-value that is valid for every n but rarely small: exp(−m t²/8) with m independent
        pairs for the unbiased estimators, exp(−½ max(0, √(n t/2) − 1)²) for the biased one. Only for named kernels.
    kernel, bandwidth, block_size
        As in `kernel_calibration_error`. The median bandwidth depends only on the predictions, so the test stays valid.
    n_draws : int
        Number of draws of signs; the smallest p-value is 1/(n_draws + 1).
    rng : int, Generator or None
        None means seed 0.

    Notes
    -----
    The asymptotic tests keep their level to within 2 points at α = 5 %; "block" and "linear" are cautious with few terms
    (docs/measured-coverage.md). The printed kernel is wide: a narrower one finds miscalibration with far fewer instances.

    References
    ----------
    Widmann, Lindsten, Zachariah (2019), Calibration tests in multi-class classification: a unifying framework (bounds,
    limits). Arcones, Giné (1992), On the bootstrap of U and V statistics. Hoeffding (1963), section 5a (blocks).
    Leucht, Neumann (2013), Dependent wild bootstrap for degenerate U- and V-statistics.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.dirichlet([1, 1, 1], 300)
    >>> labels = (probs.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    >>> skce_pvalue(labels, probs).pvalue > 0.05, skce_pvalue(np.zeros(300, dtype=int), probs).pvalue < 0.01
    (True, True)
    """
    one_of(method, "method", ("asymptotic", "bound"))
    check_draws(n_draws)
    labels, p = labels_and_probs(y_true, probs)
    size = checked_block_size(block_size, estimator, len(p))
    settled = settle_kernel(kernel, bandwidth, p)
    n_signs = n_draws if method == "asymptotic" and estimator in ("quadratic", "biased") else 0
    if method == "bound" and not isinstance(kernel, str):
        rule = "must be a name, since a bound needs the greatest value of the kernel"
        fail("kernel", rule, "got a function", 'use method="asymptotic"', code="conflict")
    if estimator in ("linear", "block"):
        size = 2 if estimator == "linear" else size or default_block_size(len(p))
        terms = block_terms(labels, p, settled, size)
        statistic = float(terms.mean()) if terms.size else float("nan")
        pvalue, notes = _from_terms(terms) if method == "asymptotic" else _bound(statistic, len(terms) * (size // 2))
    elif method == "asymptotic":
        statistic, pvalue, notes = _wild(labels, p, settled, estimator == "biased", n_draws, generator(rng))
    else:
        statistic = float(
            np.asarray(kernel_calibration_error(labels, p, estimator=estimator, kernel=kernel, bandwidth=bandwidth))
        )
        pvalue, notes = _bound_biased(statistic, len(p)) if estimator == "biased" else _bound(statistic, len(p) // 2)
    if getattr(probs, "groups", None) is not None:
        notes = (*notes, IN_GROUPS)
    return KernelCalibrationTest(statistic, pvalue, estimator, method, len(p), notes, n_signs)


@in_one_order("probs", "y_true")
def kernel_calibration_estimate(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    kernel: Kernel = "tv",
    bandwidth: Bandwidth = None,
    block_size: int = 2,
    level: float = 0.95,
) -> Estimate:
    """Squared kernel calibration error from independent pairs or blocks, with a confidence interval.

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    kernel, bandwidth
        As in `kernel_calibration_error`.
    block_size : int
        Instances in a block; 2 gives the linear estimator.
    level : float

    Returns
    -------
    estimate : Estimate
        Student's interval for the mean over the ⌊n/B⌋ blocks; `n` is the number of blocks.

    Notes
    -----
    With fewer than about 20 blocks the intervals cover too little (docs/measured-coverage.md).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.dirichlet([1, 1, 1], 1000)
    >>> found = kernel_calibration_estimate(np.zeros(1000, dtype=int), probs)
    >>> found.low > 0, found.n
    (True, 500)
    """
    labels, p = labels_and_probs(y_true, probs)
    check_level(level)
    size = cast(int, checked_block_size(block_size, "block", len(p)))
    terms = block_terms(labels, p, settle_kernel(kernel, bandwidth, p), size)
    if len(terms) == 0:
        notes = [Note("undefined", "fewer than two instances")]
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=0, method="student-t", notes=notes)
    return mean_estimate(terms, level=level)


def _from_terms(terms: Floats) -> tuple[float, Notes]:
    """p-value of the mean of independent terms."""
    m = len(terms)
    if m < 2:
        return float("nan"), (Note("no-test", "too few instances for a p-value"),)
    mean, spread = float(terms.mean()), float(terms.std(ddof=1))
    if spread <= KERNEL_ROUNDING * float(np.abs(terms).max()):
        if mean <= 0:
            return 1.0, (Note("no-width", "all terms are equal"),)
        return float("nan"), (Note("no-test", "all terms are equal: no p-value"),)
    method = Note("method", f"the p-value is approximate (normal approximation over {m} terms)")
    return float(special.ndtr(-mean * m**0.5 / spread)), (method,)


def _bound(statistic: float, n_pairs: int) -> tuple[float, Notes]:
    """Hoeffding's bound exp(−2 m t² / (b − a)²) for the mean of m pairs with values between a = −2 and b = 2."""
    if n_pairs == 0:
        return float("nan"), (Note("no-test", "fewer than two instances: no p-value"),)
    exponent = n_pairs * max(statistic, 0.0) ** 2 / (2 * LARGEST_TERM**2)
    return float(np.exp(-exponent)), UPPER_BOUND


def _bound_biased(statistic: float, n: int) -> tuple[float, Notes]:
    # Widmann et al. (2019): exp(−½ max(0, √(n t / B) − 1)²), where B bounds every term.
    excess = max(0.0, (n * max(statistic, 0.0) / LARGEST_TERM) ** 0.5 - 1.0)
    return float(np.exp(-(excess**2) / 2)), UPPER_BOUND


def _wild(
    labels: Labels, probs: Floats, kernel: SettledKernel, biased: bool, n_draws: int, rng: np.random.Generator
) -> tuple[float, float, Notes]:
    """Statistic, p-value and notes from Σ_{i≠j} s_i s_j h_ij with random signs s, computed in tiles of pairs."""
    n, k = probs.shape
    if n < 2 and not biased:
        return float("nan"), float("nan"), (Note("undefined", "fewer than two instances"),)
    errors = probs.copy()
    errors[np.arange(n), labels] -= 1.0
    signs = rng.integers(0, 2, (n, n_draws), dtype=np.int8) * 2.0 - 1.0
    off, diagonal, size, drawn = 0.0, 0.0, 0.0, np.zeros(n_draws)
    for part in row_chunks(n, n * (8 + kernel.bytes_per_pair * k), chunk_bytes=TILE_BYTES):
        h = kernel.table(probs[part], probs[part.start :])
        h *= errors[part] @ errors[part.start :].T
        own = np.arange(part.stop - part.start)
        diagonal += float(h[own, own].sum())
        h[own, own] = 0.0
        h[:, len(own) :] *= 2.0  # both orders of a pair
        off += float(h.sum())
        size += float(np.abs(h).sum())
        drawn += np.einsum("rd,rd->d", signs[part], h @ signs[part.start :])
    pvalue = (1 + int((drawn >= off - KERNEL_ROUNDING * size).sum())) / (n_draws + 1)
    statistic = (off + diagonal) / n**2 if biased else off / (n * (n - 1))
    return statistic, pvalue, (Note("method", f"wild bootstrap, {n_draws} draws"),)


# Asymptotic test of calibration by the Hosmer-Lemeshow statistic.

FEW_EXPECTED = 1.0  # below this expected count the chi-squared approximation is poor


@final
@dataclass(frozen=True)
class HosmerLemeshowTest:
    """Result of `hosmer_lemeshow_test`."""

    statistic: float  #: Σ (O − E)² / E
    pvalue: float  #: probability that a chi-squared variable exceeds the statistic
    degrees_of_freedom: int
    n_bins: int  #: requested number of bins
    bins: Bins  #: "classwise" or "common"
    fitted: bool
    #: how the degrees of freedom were counted; events of probability 0; expected counts that are too small
    notes: tuple[Note, ...]


@in_one_order("probs", "y_true")
def hosmer_lemeshow_test(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    n_bins: int = 5,
    bins: Bins = "classwise",
    fitted: bool = False,
    least_expected: float = 0.0,
) -> HosmerLemeshowTest:
    """Test of calibration by the chi-squared distribution of the Hosmer-Lemeshow statistic with counts.

    Parameters
    ----------
    y_true : array (n,)
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken.
    n_bins : int
    bins : {"classwise", "common"}
    fitted : bool
        True if the model was fitted to these instances. The bins must then be common to all classes.
    least_expected : float
        As in `hosmer_lemeshow_statistic`: bins that expect fewer events are merged; not with `fitted`.

    Notes
    -----
    On held-out data there are (K − 1) B degrees of freedom, where B is the number of bins that contain instances. Equal
    probabilities can leave bins empty; if each class has its own bins, B is the mean over the classes, rounded up. A model
    fitted to the same instances has fewer: (K − 1) (B − 2) for a multinomial logistic regression with an intercept and common
    bins (Fagerland et al., 2008). On held-out data that smaller number would reject up to 67 % of calibrated models at
    α = .05; the number for held-out data rejects 2 to 5 % (docs/measured-coverage.md).

    The mean of the statistic is Σ (1 − Σ p² / Σ p) over bins and classes. It is below the degrees of freedom if the
    probabilities within a bin differ much. Small expected counts make the upper tail heavier; a note says how many are
    below 1. `calibration_test` draws labels from the probabilities and has neither problem.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.dirichlet([1, 1, 1], 600)
    >>> labels = (rng.random((600, 1)) > probs.cumsum(axis=1)).sum(axis=1)
    >>> test = hosmer_lemeshow_test(labels, probs)
    >>> test.degrees_of_freedom, test.notes[0].text
    (10, 'held-out data: (K − 1) B degrees of freedom')
    """
    check_bins(n_bins, "mass")
    one_of(bins, "bins", ("classwise", "common"))
    labels, checked = labels_and_probs(y_true, probs)
    if fitted and bins != "common":
        rule = 'the distribution is known only for bins="common"'
        fail("fitted", rule, 'got bins="classwise"', 'pass bins="common", or test on held-out data', code="conflict")
    check_least_expected(least_expected, "counts")
    if fitted and least_expected:
        rule = "cannot be set for a fitted model, whose distribution is known for common bins only"
        fail("least_expected", rule, f"got {least_expected:g}", "leave it out", code="conflict")
    counted = bins_of_events(checked, int(n_bins), bins)
    n_classes = checked.shape[-1]
    of_class = (counted.size > 0).sum(axis=-1)
    if least_expected:
        of_class = merged_bins(counted.expected, least_expected).max(axis=-1) + 1
    filled = int(np.ceil(of_class.sum() / n_classes))
    if fitted and filled < 3:
        rule = "must leave at least 3 bins with instances if the model is fitted"
        fail("n_bins", rule, f"got {filled}", "pass more bins", code="range")
    freedom = (n_classes - 1) * (filled - 2 if fitted else filled)
    statistic = float(statistic_of_bins(counted, labels, "counts", least_expected))
    pvalue = float(gammaincc(freedom / 2, statistic / 2)) if np.isfinite(statistic) else 0.0
    notes = _notes(counted, labels, bool(fitted), filled)
    if least_expected:
        notes += single_bins_note(counted.expected, least_expected)
    if getattr(probs, "groups", None) is not None:
        notes += (IN_GROUPS,)
    return HosmerLemeshowTest(statistic, pvalue, freedom, int(n_bins), bins, bool(fitted), notes)


def _notes(bins: CalibrationBins, labels: Labels, fitted: bool, filled: int) -> tuple[Note, ...]:
    freedom = "fitted to these instances: (K − 1) (B − 2)" if fitted else "held-out data: (K − 1) B"
    freedom += " degrees of freedom"
    if filled < bins.n_bins:
        freedom += f" with {filled} of {bins.n_bins} bins that have instances"
    notes = [Note("method", freedom)]
    impossible = (bins.expected == 0) & (bins.observed(labels) > 0)
    if impossible.any():
        k, b = np.argwhere(impossible)[0].tolist()
        text = f"class {k} occurred in bin {b}, where all its probabilities are 0, so the statistic is infinite"
        notes.append(Note("infinite", text, {"class": k, "bin": b}))
    few = (bins.size > 0) & (bins.expected < FEW_EXPECTED)
    if few.any():
        of = int((bins.size > 0).sum())
        text = f"{int(few.sum())} of {of} expected counts are below {FEW_EXPECTED:g}, so the p-value is rough: take fewer bins"
        notes.append(Note("few", text, {"count": int(few.sum())}))
    return tuple(notes)


# Shared inputs of the functions that fit weights: members and labels as arrays, and two disjoint parts of the data.
#
# The split does not use the labels. If it were stratified by label, the labels of one part would determine the class
# counts of the other part, and the test there would depend on the fit.


class Parts(NamedTuple):
    """Labels of the two parts, each in ascending order."""

    first: Labels
    second: Labels


def member_array(members: Any) -> Floats:
    """Members (n, M, K) as float64: what `credal_calibration_test` mixes."""
    return shared_members(members).probs


def hard_labels(y: ArrayLike, n_instances: int, n_classes: int, name: str = "y_true", *, members: Any = None) -> Labels:
    """One class for each instance, (n,); ids and class names come from `members` if it is a prediction."""
    members = as_prediction(members, "members") if is_frame(members) else members
    shape: tuple[int, ...] = () if isinstance(members, Prediction) else np.shape(members)
    labels = labels_for(
        y,
        n_instances=n_instances,
        n_classes=n_classes,
        n_members=shape[1] if len(shape) == 3 else getattr(members, "n_members", None),
        ids=getattr(members, "ids", None),
        class_names=getattr(members, "class_names", None),
        class_order=getattr(members, "class_order", "stated"),
        name=name,
    )
    if labels.ndim == 2:
        rule = f"must be one class for each instance, shape ({n_instances},)"
        remedy = "pass one label per instance, for example the most frequent class of each distribution"
        fail(name, rule, f"got shape {labels.shape}", remedy, code="shape")
    return labels.astype(np.intp)


def check_search(search: object) -> None:
    """Refuse anything but a SimplexSearch or None."""
    if search is not None:
        a(SimplexSearch, search, "search", "pass QUICK, THOROUGH or PATIENT", rule="must be a SimplexSearch or None")


def groups_of(members: Any, groups: ArrayLike | None) -> ArrayLike | None:
    """The given groups, else those of the prediction."""
    return getattr(members, "groups", None) if groups is None else groups


def two_parts(strata: Labels, fraction: float, groups: ArrayLike | None, generator: np.random.Generator) -> Parts:
    """Split the instances at random into two parts, the first with this fraction of them.

    `strata` (n,) are the predicted classes: the fraction holds within each of them, up to rounding. With groups, whole
    groups join the first part, in random order, as long as that brings its size closer to the fraction.
    """
    number(fraction, "fraction", "pass 0.5 for two halves", low=0, high=1, ends="()")
    n = strata.size
    units = make_units(n, groups, None)
    if units.n_units < 2:
        name, what = ("y_true", "instance") if units.codes is None else ("groups", "group")
        fail(
            name, f"must have at least two {what}s, for two disjoint parts", "got 1", f"pass more {what}s", code="range"
        )
    if units.codes is None:
        shuffled = generator.permutation(n)
        order = shuffled[np.argsort(strata[shuffled], kind="stable")]  # by stratum, at random within each
        # a row joins the first part where the running sum of `fraction` passes a whole number
        passed = np.floor(np.arange(n + 1) * fraction + generator.random()).astype(np.intp)
        taken = np.diff(passed) > 0
        if taken.all() or not taken.any():
            taken[int(generator.integers(n))] ^= True
        inside = np.zeros(n, dtype=bool)
        inside[order[taken]] = True
    else:
        order = generator.permutation(units.n_units)
        sizes = np.bincount(units.codes)[order]
        reached = np.cumsum(sizes)
        n_taken = int(np.clip(np.abs(reached - fraction * n).argmin() + 1, 1, units.n_units - 1))
        inside = np.isin(units.codes, order[:n_taken])
    return Parts(np.flatnonzero(inside), np.flatnonzero(~inside))


# Null distribution of a measure at mixtures that are calibrated by construction: labels are drawn from them.

Instances = Literal["kept", "resampled", "permuted"]

DRAWS_BYTES = 8 * 2**20


def known_mixture_null(
    probs: Floats, measure: CalibrationMeasure, n_draws: int, generator: np.random.Generator
) -> Floats:
    """The measure of probabilities (n, K) for D draws of labels from them, (D,)."""
    n, n_classes = probs.shape
    prepared = measure.prepare(classes_apart(probs))
    null, draws = np.empty(n_draws), LabelDraws(probs)
    for part in row_chunks(n_draws, int(40.0 * n + 80.0 * n_classes), chunk_bytes=DRAWS_BYTES):
        null[part] = prepared.values(draws.draw(part.stop - part.start, generator))
    return null


def random_mixture_null(
    mixtures: Mixtures,
    truths: Floats,
    measure: CalibrationMeasure,
    generator: np.random.Generator,
    *,
    instances: Instances = "kept",
) -> Floats:
    """The measure at each of D mixtures (D, M), with labels drawn from it, (D,): paper 001, algorithm 1, lines 2 to 5.

    `instances` are kept as they are, resampled with replacement (line 2 as printed), or permuted (the authors' code).
    """
    n, n_classes = mixtures.n_instances, mixtures.n_classes
    null = np.empty(len(truths))
    seed = generator.integers(2**63)  # apart: chunks then change no draw
    of_instances = None if instances == "kept" else np.random.default_rng(seed)
    per_draw = (measure.bytes_per_entry + 24.0) * n * n_classes
    for part in row_chunks(len(truths), int(per_draw), chunk_bytes=DRAWS_BYTES):
        by_class = np.swapaxes(mixtures.probs(truths[part]), -1, -2)  # (d, K, n)
        if of_instances is not None:
            rows = _chosen_instances(len(by_class), n, instances, of_instances)
            by_class = np.take_along_axis(by_class, rows[:, np.newaxis, :], axis=-1)
        labels = _labels_from(by_class, generator.random((len(by_class), n)))
        null[part] = measure.values(np.swapaxes(by_class, -1, -2), labels)
    return null


def _labels_from(by_class: Floats, uniform: Floats) -> Labels:
    """Labels (D, n) of distributions (D, K, n), by inversion at random numbers (D, n)."""
    compiled = kernel("inverted_labels")
    if compiled is not None:
        return np.asarray(compiled(np.ascontiguousarray(by_class), uniform), dtype=np.intp)
    cumulated = np.cumsum(by_class, axis=-2)
    aim = uniform * cumulated[:, -1]
    return (cumulated[:, :-1] <= aim[:, np.newaxis]).sum(axis=-2)


def _chosen_instances(n_draws: int, n: int, instances: Instances, generator: np.random.Generator) -> Labels:
    if instances == "resampled":
        return generator.integers(0, n, (n_draws, n))
    return generator.permuted(np.broadcast_to(np.arange(n), (n_draws, n)), axis=1)


# Tests of calibration of one classifier: with labels drawn from its probabilities, and asymptotic.

TestMethod = Literal["resampled", "asymptotic"]


@in_one_order("probs", "y_true", "groups")
def calibration_test(
    y_true: ArrayLike,
    probs: Any,
    *,
    measure: str | CalibrationMeasure = "kuiper-confidence",
    groups: ArrayLike | None = None,
    n_draws: int = 999,
    resample: bool = False,
    method: TestMethod = "resampled",
    rng: RandomState = None,
) -> CalibrationTest:
    """Test whether a classifier is calibrated.

    Parameters
    ----------
    y_true : int array (n,)
        Labels.
    probs : Prediction, or array (n, K) or (n, M, K)
        Class probabilities, or members, whose mean is tested; `credal_calibration_test` tests their mixtures. Labels stored in
        low precision are divided by their sum.
    measure : str or CalibrationMeasure
        Any of `CALIBRATION_MEASURES`. The default, without bins, sees over- and underconfidence better than "ece-confidence",
        as docs/measured-coverage.md shows. The Brier score and the log loss are tested on both sides, which is
        Spiegelhalter's test: an underconfident classifier has a lower score than its probabilities predict. They see over- and
        underconfidence best, and wrong frequencies of classes hardly.
    groups : array (n,), optional
        Instances of the same group, such as images of one patient, may have dependent labels; groups are independent. By
        default those of the prediction, if it has any. Then the deviations of events from their probabilities, summed over a
        group, get one random sign for each group (wild bootstrap), and no labels are drawn.
    n_draws : int
        Number of draws of labels or signs D. The p-value is (1 + the number of draws that reach the statistic) / (D + 1), and
        with two sides twice the smaller one of both sides. Ties count against rejection, so the test of independent labels
        keeps its level exactly. Few groups have few patterns of signs; if these are no more than D, all are taken.
    resample : bool
        Draw instances with replacement before their labels; not with method="asymptotic" or groups. Repeated instances leave
        more bins empty. Measures that depend on thinly filled bins are then smaller than in the data, and the p-value too
        small.
    method : {"resampled", "asymptotic"}
        "asymptotic" draws no labels. It exists for the kernel calibration error, with the kernel of the measure (see
        `skce_pvalue`; "skce-uq" and "skce-biased" draw signs `n_draws` times), for the Hosmer-Lemeshow statistic
        (chi-squared with (K − 1) B degrees of freedom, for data that the classifier was not fitted to), and for the Brier
        score and the log loss (normal distribution, Spiegelhalter's Z). Not with groups.
    rng : int, Generator or None
        None means seed 0.

    Notes
    -----
    The test with groups is approximate: it needs deviations of groups that are about symmetric, and at least 6 groups to reject
    at 5 %. Measured error rates: docs/measured-coverage.md.

    References
    ----------
    Vaicenavicius et al. (2019), Evaluating model calibration in classification. Widmann, Lindsten, Zachariah (2019),
    Calibration tests in multi-class classification. Paper 001, section 2.2. Spiegelhalter (1986), Probabilistic prediction in
    patient management and clinical trials. Cameron, Gelbach, Miller (2008), Bootstrap-based improvements for inference with
    clustered errors (signs of groups).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> probs = rng.dirichlet([1.0, 1.0, 1.0], 300)
    >>> labels = np.array([rng.choice(3, p=p) for p in probs])
    >>> calibration_test(labels, probs).sentence()
    'The test could not tell the classifier from one that is confidence calibrated (p = .39).'
    >>> sharpened = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    >>> calibration_test(labels, sharpened).sentence()
    'The classifier is not confidence calibrated (p = .001); it is overconfident.'
    >>> calibration_test(labels, sharpened, groups=np.arange(300) // 10).sentence()
    'The classifier is not confidence calibrated (p = .001); it is overconfident.'
    """
    one_of(method, "method", ("resampled", "asymptotic"))
    check_draws(n_draws)
    chosen = calibration_measure(measure)
    prediction = as_prediction(probs, "probs")
    p = mean_probs(prediction)
    n, n_classes = p.shape
    labels = hard_labels(y_true, n, n_classes, members=prediction)
    units = make_units(n, groups_of(prediction, groups), None)
    _check_together(resample, method, units)
    gap = confidence_gap(labels, p, units.codes)

    def result(
        statistic: float, pvalue: float, null: Floats, how: str, notes: tuple[Note, ...], drawn: int
    ) -> CalibrationTest:
        n_groups = 0 if units.codes is None else units.n_units
        return CalibrationTest(
            measure=chosen.name,
            notion=chosen.notion,
            statistic=statistic,
            pvalue=pvalue,
            null=null,
            method=how,
            n_instances=n,
            n_classes=n_classes,
            notes=(*notes, *unseen_notes(chosen, p)),
            n_draws=drawn,
            sides=chosen.sides,
            n_groups=n_groups,
            gap=gap,
        )

    if method == "asymptotic":
        statistic, pvalue, notes, drawn = _asymptotic(labels, p, chosen, n_draws, rng)
        return result(statistic, pvalue, np.empty(0), method, notes, drawn)
    if units.codes is not None:
        found = sign_test(labels, p, chosen, units.codes, n_draws, as_generator(rng))
        notes = _notes_on_signs(found, units.n_units, n)
        return result(found.statistic, found.pvalue, found.null, "signs", notes, len(found.null))
    statistic, null = statistic_and_null(labels, p, chosen, n_draws, resample, as_generator(rng))
    pvalue = monte_carlo_pvalue(statistic, null, chosen.sides)
    return result(statistic, pvalue, null, method, undefined_notes(statistic, pvalue, n), n_draws)


def _check_together(resample: bool, method: str, units: Units) -> None:
    if resample and method == "asymptotic":
        rule = "cannot be set for an asymptotic test, which draws no instances"
        fail(
            "resample", rule, 'got resample=True with method="asymptotic"', "leave one of the two out", code="conflict"
        )
    if units.codes is not None and (resample or method == "asymptotic"):
        rule = "are tested by random signs of the groups, without drawn instances or an asymptotic distribution"
        got = f"got {units.n_units} groups with {'resample=True' if resample else f'method={method!r}'}"
        fail("groups", rule, got, "leave one of the two out", code="conflict")


def _notes_on_signs(found: SignTest, n_groups: int, n: int) -> tuple[Note, ...]:
    if n_groups == 1:
        return (Note("no-test", "1 group: no p-value"),)
    notes = [Note("groups", f"{n_groups} groups, tested as wholes", {"groups": n_groups})]
    if math.isinf(found.statistic):
        notes.append(Note("infinite", "a label occurred to which the classifier gives probability 0"))
    elif len(found.null) and found.statistic != 0.0 and np.ptp(found.null) <= ROUNDING * abs(found.statistic):
        text = "the measure compares instances within a group alone, so it cannot reject here: test another measure"
        notes.append(Note("assumption", text))
    return (*notes, *undefined_notes(found.statistic, found.pvalue, n))


def statistic_and_null(
    labels: Labels,
    probs: Floats,
    measure: CalibrationMeasure,
    n_draws: int,
    resample: bool,
    generator: np.random.Generator,
) -> tuple[float, Floats]:
    """The measure for the labels (n,) and for D draws of labels from the probabilities (n, K)."""
    with np.errstate(all="ignore"):
        statistic = float(measure.prepare(classes_apart(probs)).values(labels))
        if resample:
            mixtures, truths = Mixtures(probs[:, np.newaxis]), np.ones((n_draws, 1))
            return statistic, random_mixture_null(mixtures, truths, measure, generator, instances="resampled")
        return statistic, known_mixture_null(probs, measure, n_draws, generator)


def undefined_notes(statistic: float, pvalue: float, n_instances: int) -> tuple[Note, ...]:
    """Reason why the p-value is undefined; empty if it is defined."""
    if not math.isnan(pvalue):
        return ()
    which = "for these labels" if math.isnan(statistic) else "for some draws of labels"
    instances = f"{n_instances} instance{'s' if n_instances != 1 else ''}"
    return (Note("undefined", f"the measure is undefined {which} with {instances}"),)


def _asymptotic(
    labels: Labels, probs: Floats, measure: CalibrationMeasure, n_draws: int, rng: RandomState
) -> tuple[float, float, tuple[Note, ...], int]:
    """Statistic, p-value, notes and number of draws of signs of the asymptotic test."""
    match measure.prepare:  # by what the measure computes: a user's measure may have any name
        case PrepareKernel(estimator=estimator, kernel=kernel, bandwidth=bandwidth, block_size=size):
            signed = skce_pvalue(
                labels,
                probs,
                estimator=estimator,
                kernel=kernel,
                bandwidth=bandwidth,
                block_size=size,
                n_draws=n_draws,
                rng=rng,
            )
            return signed.statistic, signed.pvalue, signed.notes, signed.n_draws
        case score if score in (prepare_brier, prepare_log_score):
            return _spiegelhalter(labels, probs, score)
        case PrepareHosmerLemeshow(n_bins=n_bins, binning="mass", form="counts", least_expected=least):
            chi_squared = hosmer_lemeshow_test(labels, probs, n_bins=n_bins, least_expected=least)
            return chi_squared.statistic, chi_squared.pvalue, chi_squared.notes, 0
    fail(
        "method",
        'can be "asymptotic" only for brier, log-loss, skce-ul, skce-uq, skce-biased and hosmer-lemeshow',
        f"got measure {measure.name!r}",
        'pass method="resampled"',
        code="conflict",
    )


def _spiegelhalter(
    labels: Labels, probs: Floats, prepare: Callable[[Floats], PreparedScore]
) -> tuple[float, float, tuple[Note, ...], int]:
    """Spiegelhalter's Z: the score minus its mean for labels drawn from the probabilities, over its standard deviation."""
    with np.errstate(all="ignore"):
        prepared = prepare(probs)
        statistic = float(prepared.values(labels))
        mean, variance = prepared.moments()
    if math.isinf(statistic):
        note = Note("infinite", "a label occurred to which the classifier gives probability 0")
        return statistic, 0.0, (note,), 0
    if variance <= ROUNDING**2:
        if abs(statistic - mean) <= ROUNDING:
            return statistic, 1.0, (Note("no-width", "the score does not depend on the labels"),), 0
        return statistic, 0.0, (Note("infinite", "the score is impossible under the probabilities"),), 0
    z = (statistic - mean) / variance**0.5
    return statistic, float(2 * ndtr(-abs(z))), (Note("method", f"Spiegelhalter's Z = {z:.3g}", {"z": z}),), 0


# A kernel test without bins: do residuals have mean 0 among the instances where a model states the same?
#
# Each pair of instances contributes h = k(s, s′) r · r′ with residuals r and a similarity k of the statements s. Its
# expectation is 0 if E[r | s] = 0, and positive if similar statements have similar residuals.

STATEMENT_TILE_BYTES = 2**23
STATEMENT_ROUNDING = 1e-12


class KernelOutcome(NamedTuple):
    """Statistic and p-value; both nan if there is no pair of independent instances."""

    statistic: float
    pvalue: float


def statements_of(mean: Floats, variance: Floats) -> Floats:
    """What a model states as points (n, 2K): means and standard deviations, each divided by its median distance.

    With the kernel exp(−‖s − s′‖₁) means and standard deviations then count alike, even where the latter are small.
    """
    spread = np.sqrt(variance)
    parts = [values / settle_kernel("laplacian", "median", values).bandwidth.item() for values in (mean, spread)]
    return np.concatenate(parts, axis=1)


def statement_kernel_test(
    residuals: Floats,
    statements: Floats,
    *,
    units: Labels | None,
    n_draws: int,
    rng: np.random.Generator,
) -> KernelOutcome:
    """Mean of k(s, s′) r · r′ over the pairs of independent instances, with a p-value by wild bootstrap.

    Parameters
    ----------
    residuals : array (n, F)
    statements : array (n, S)
        Points from `statements_of`.
    units : int array (n,) or None
        Unit of each instance. Pairs inside a unit are left out, and a unit has one random sign. None: each is a unit.
    n_draws : int
        Draws of signs D; p = (1 + number of draws that reach the sum) / (D + 1).
    rng : numpy Generator

    References
    ----------
    Arcones, Giné (1992), On the bootstrap of U and V statistics.
    Leucht, Neumann (2013), Dependent wild bootstrap for degenerate U- and V-statistics.
    """
    n = len(residuals)
    codes = np.arange(n) if units is None else units
    n_units = int(codes.max()) + 1
    if n_units < 2:
        return KernelOutcome(float("nan"), float("nan"))
    signs = (rng.integers(0, 2, (n_units, n_draws), dtype=np.int8) * 2.0 - 1.0)[codes]
    kernel = SettledKernel("laplacian", np.array(1.0))
    total, size, drawn = 0.0, 0.0, np.zeros(n_draws)
    for part in row_chunks(n, 16 * n, chunk_bytes=STATEMENT_TILE_BYTES):
        h = kernel.table(statements[part], statements[part.start :])
        h *= residuals[part] @ residuals[part.start :].T
        h[codes[part, np.newaxis] == codes[part.start :]] = 0.0
        h[:, part.stop - part.start :] *= 2.0  # both orders of a pair
        total += float(h.sum())
        size += float(np.abs(h).sum())
        drawn += np.einsum("rd,rd->d", signs[part], h @ signs[part.start :])
    n_pairs = n**2 - int((np.bincount(codes) ** 2).sum())
    pvalue = (1 + int((drawn >= total - STATEMENT_ROUNDING * size).sum())) / (n_draws + 1)
    return KernelOutcome(total / n_pairs, pvalue)
