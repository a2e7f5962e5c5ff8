"""Tests of calibration of one classifier: with labels drawn from its probabilities, and asymptotic."""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from uqassay._array import RandomState
from uqassay._array import generator as as_generator
from uqassay._one_order import in_one_order
from uqassay.calibration.classifier_verdict import CalibrationTest
from uqassay.calibration.direction import confidence_gap, unseen_notes
from uqassay.calibration.hosmer_lemeshow import hosmer_lemeshow_test
from uqassay.calibration.kernel_hypothesis import skce_pvalue
from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.monte_carlo import (
    ROUNDING,
    monte_carlo_pvalue,
)
from uqassay.calibration.parts import groups_of, hard_labels
from uqassay.calibration.random_null import known_mixture_null, random_mixture_null
from uqassay.calibration.shared_members import mean_probs
from uqassay.calibration.sign_null import SignTest, sign_test
from uqassay.errors import InputError
from uqassay.metrics.calibration.hosmer_lemeshow import PrepareHosmerLemeshow
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.metrics.calibration.kernel_error import PrepareKernel
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure
from uqassay.metrics.calibration.proper_score_parts import PreparedScore, prepare_brier, prepare_log_score
from uqassay.notes import Note
from uqassay.predictions import as_prediction
from uqassay.statistics.samples import Units, check_choice, check_draws, make_units

__all__ = ["calibration_test"]

Floats = NDArray[np.float64]
Method = Literal["resampled", "asymptotic"]


@in_one_order("probs", "y_true", "groups")
def calibration_test(
    y_true: ArrayLike,
    probs: Any,
    *,
    measure: str | CalibrationMeasure = "kuiper-confidence",
    groups: ArrayLike | None = None,
    n_draws: int = 999,
    resample: bool = False,
    method: Method = "resampled",
    rng: RandomState = None,
) -> CalibrationTest:
    """Test whether a classifier is calibrated.

    Parameters
    ----------
    y_true : int array (n,)
        Labels.
    probs : Prediction, or array (n, K) or (n, M, K)
        Class probabilities, or members, whose mean is tested; `credal_calibration_test` tests their mixtures. Rows stored in
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

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        Shapes that do not fit, labels out of range, a measure without an asymptotic test or without a test of groups.

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
    check_choice(method, "method", ("resampled", "asymptotic"))
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
        raise InputError(
            "resample",
            "cannot be set for an asymptotic test, which draws no instances",
            'got resample=True with method="asymptotic"',
            "leave one of the two out",
            code="conflict",
        )
    if units.codes is not None and (resample or method == "asymptotic"):
        raise InputError(
            "groups",
            "are tested by random signs of the groups, without drawn instances or an asymptotic distribution",
            f"got {units.n_units} groups with {'resample=True' if resample else f'method={method!r}'}",
            "leave one of the two out",
            code="conflict",
        )


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
    labels: NDArray[np.intp],
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
    labels: NDArray[np.intp], probs: Floats, measure: CalibrationMeasure, n_draws: int, rng: RandomState
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
    raise InputError(
        "method",
        'can be "asymptotic" only for brier, log-loss, skce-ul, skce-uq, skce-biased and hosmer-lemeshow',
        f"got measure {measure.name!r}",
        'pass method="resampled"',
        code="conflict",
    )


def _spiegelhalter(
    labels: NDArray[np.intp], probs: Floats, prepare: Callable[[Floats], PreparedScore]
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
