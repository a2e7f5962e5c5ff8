"""Is one classifier calibrated? Tests of several measures, and their null distributions."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincc, ndtr

from uqassay.arrays import Floats, RandomState, argmax_of_rows
from uqassay.arrays import generator as as_generator
from uqassay.calibration.kernel_tests import skce_pvalue
from uqassay.calibration.mixtures import IN_GROUPS, Mixtures, groups_of, hard_labels, mean_probs
from uqassay.calibration.nulls import (
    ROUNDING,
    Labels,
    SignTest,
    check_alpha,
    known_mixture_null,
    monte_carlo_pvalue,
    n_patterns,
    null_threshold,
    random_mixture_null,
    sign_test,
    smallest_pvalue,
)
from uqassay.checks import fail, one_of
from uqassay.ids import in_one_order
from uqassay.metrics.calibration import (
    Bins,
    PrepareHosmerLemeshow,
    bins_of_events,
    check_least_expected,
    merged_bins,
    statistic_of_bins,
)
from uqassay.metrics.kernel_error import (
    PrepareKernel,
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
from uqassay.notes import Note, reason
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.results import Plain, Shown, ShownCell, ShownRow, ShownTable
from uqassay.statistics.paired_tests import pairwise_mean_tests
from uqassay.statistics.units import Units, check_draws, make_units
from uqassay.text import count, counted, pvalue, pvalue_text, significant

__all__ = [
    "ONE_SIDE",
    "PROPERTIES",
    "SURE",
    "UPPER_ALONE",
    "CalibrationTest",
    "Direction",
    "HosmerLemeshowTest",
    "ShownVerdict",
    "calibration_test",
    "confidence_gap",
    "gap_of_hits",
    "hosmer_lemeshow_test",
    "is_off",
    "numbers_of_test",
    "property_of",
    "statistic_and_null",
    "undefined_notes",
    "unseen_notes",
]


PROPERTIES = {  # what is right if a model is calibrated, by the notion
    "confidence": "confidence",
    "classwise": "probabilities of single classes",
    "strong": "probabilities as a whole",
}
SURE = {"overconfident": "too sure", "underconfident": "too unsure"}


def property_of(notion: str) -> str:
    """What a notion of calibration asks to be right.

    Examples
    --------
    >>> property_of("classwise"), property_of("my own")
    ('probabilities of single classes', 'probabilities (my own)')
    """
    return PROPERTIES.get(notion, f"probabilities ({notion})")


def is_off(notion: str, whose: str) -> str:
    """The statement that a model is not calibrated.

    Examples
    --------
    >>> is_off("confidence", "m"), is_off("strong", "m")
    ('The confidence of m is off', 'The probabilities as a whole of m are off')
    """
    what = property_of(notion)
    return f"The {what} of {whose} {'is' if what == PROPERTIES['confidence'] else 'are'} off"


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
    text = f"{single} of {n_classes} classes are too rare to show underconfidence: test more cases, or confidence alone"
    return (Note("assumption", text, {"single": single, "classes": n_classes}),)


# Is a classifier overconfident or underconfident? Mean confidence against accuracy.

Direction = Literal["overconfident", "underconfident", ""]


class ConfidenceGap(NamedTuple):
    """Mean confidence minus accuracy."""

    #: the difference with its 95 % interval
    value: float
    low: float
    high: float
    #: two-sided p-value of a difference of 0; it does not assume that the classifier is calibrated. nan for one unit.
    pvalue: float

    def direction(self, alpha: float = 0.05) -> Direction:
        """The direction if it can be told at this level; the wrong one is told in at most α / 2 of the data sets."""
        if not self.pvalue <= alpha:
            return ""
        return "overconfident" if self.value > 0 else "underconfident"


def confidence_gap(
    labels: NDArray[np.intp], probs: NDArray[np.float64], groups: ArrayLike | None = None
) -> ConfidenceGap:
    """Test mean confidence against accuracy by `pairwise_mean_tests`; of equally probable classes the first is predicted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = np.tile([0.9, 0.1], (200, 1))
    >>> gap = confidence_gap((rng.random(200) < 0.2).astype(int), probs)
    >>> round(gap.value, 3), gap.direction()
    (0.085, 'overconfident')
    """
    confidence = np.minimum(probs.max(axis=1), 1.0)
    return gap_of_hits((argmax_of_rows(probs) == labels).astype(np.float64), confidence, groups)


def gap_of_hits(
    correct: NDArray[np.float64], confidence: NDArray[np.float64], groups: ArrayLike | None = None
) -> ConfidenceGap:
    """The same from what was right (n,) and the confidence in it (n,)."""
    found = pairwise_mean_tests({"confidence": confidence, "accuracy": correct}, groups=groups, bound=1.0)
    value, low, high, p = (float(table[0, 1]) for table in (found.difference, found.low, found.high, found.pvalue))
    return ConfidenceGap(value, low, high, p)


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
        what, p = property_of(self.notion), pvalue_text(self.pvalue)
        if math.isnan(self.pvalue):
            return f"Whether the classifier has the right {what} is undefined: {reason(self.notes)}."
        if self.smallest_pvalue > alpha + 1e-12:
            few = f"{self.n_groups} groups" if self._few_groups else f"{self.n_draws} draws"
            return f"{few} are too few to tell at this level whether the classifier has the right {what} ({p})."
        if self.reject(alpha):
            direction = self.direction_at(alpha)
            return f"{is_off(self.notion, 'the classifier')} ({p}){f'; it is {SURE[direction]}' if direction else ''}."
        return f"The test could not tell the classifier from one with the right {what} ({p})."

    def _shown_title(self) -> str:
        on = f"{counted(self.n_instances, 'case')} of {counted(self.n_classes, 'class', 'classes')}"
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
    α = .05; the number for held-out data rejects 2 to 5 % (tests/calibration/test_hosmer_lemeshow.py).

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
        as tests/calibration/test_measures_power.py shows. The Brier score and the log loss are tested on both sides, which is
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
    at 5 %. Measured error rates: docs/evidence-calibration.md.

    References
    ----------
    Vaicenavicius et al. (2019), Evaluating model calibration in classification. Widmann, Lindsten, Zachariah (2019),
    Calibration tests in multi-class classification. Credal calibration, section 2.2. Spiegelhalter (1986), Probabilistic
    prediction in patient management and clinical trials. Cameron, Gelbach, Miller (2008), Bootstrap-based improvements for
    inference with clustered errors (signs of groups).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> probs = rng.dirichlet([1.0, 1.0, 1.0], 300)
    >>> labels = np.array([rng.choice(3, p=p) for p in probs])
    >>> calibration_test(labels, probs).sentence()
    'The test could not tell the classifier from one with the right confidence (p = .39).'
    >>> sharpened = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    >>> calibration_test(labels, sharpened).sentence()
    'The confidence of the classifier is off (p = .001); it is too sure.'
    >>> calibration_test(labels, sharpened, groups=np.arange(300) // 10).sentence()
    'The confidence of the classifier is off (p = .001); it is too sure.'
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
    cases = counted(n_instances, "case")
    return (Note("undefined", f"the measure is undefined {which} with {cases}"),)


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
