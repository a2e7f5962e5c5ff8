"""Tests of calibration of one classifier: with labels drawn from its probabilities, and asymptotic."""

import math
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState
from uqassay._array import generator as as_generator
from uqassay._json import plain
from uqassay.calibration.hosmer_lemeshow import hosmer_lemeshow_test
from uqassay.calibration.kernel_hypothesis import skce_pvalue
from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.monte_carlo import (
    CALIBRATED,
    check_alpha,
    monte_carlo_pvalue,
    null_threshold,
)
from uqassay.calibration.parts import hard_labels
from uqassay.calibration.random_null import known_mixture_null, random_mixture_null
from uqassay.calibration.shared_members import mean_probs
from uqassay.errors import InputError
from uqassay.metrics.calibration.hosmer_lemeshow import PrepareHosmerLemeshow
from uqassay.metrics.calibration.kernel_error import PrepareKernel
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure
from uqassay.notes import Note, reason
from uqassay.predictions import as_prediction
from uqassay.statistics.samples import check_choice, check_draws
from uqassay.wording import pvalue_text

__all__ = ["CalibrationTest", "calibration_test"]

Floats = NDArray[np.float64]
Method = Literal["resampled", "asymptotic"]


@final
@dataclass(frozen=True, eq=False)
class CalibrationTest:
    """Result of `calibration_test`.

    Attributes
    ----------
    measure, notion : str
        Name of the measure, and the notion of calibration that it tests: "confidence", "classwise" or "strong".
    statistic : float
        The measure for the observed labels.
    pvalue : float
        Small if the classifier is not calibrated; nan if undefined, see `notes`.
    null : array (D,)
        The measure for labels drawn from the probabilities; empty for an asymptotic test.
    method : {"resampled", "asymptotic"}
    n_instances, n_classes : int
    notes : tuple of Note
        Limits of the result.
    n_draws : int
        Number of draws: of labels D, or of signs in the asymptotic test of "skce-uq" and "skce-biased"; 0 in the others.
    """

    measure: str
    notion: str
    statistic: float
    pvalue: float
    null: Floats
    method: str
    n_instances: int
    n_classes: int
    notes: tuple[Note, ...]
    n_draws: int

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that `n_draws` draws can reach, 1 / (n_draws + 1); 0 without draws."""
        return 1 / (self.n_draws + 1) if self.n_draws else 0.0

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the test rejects, at this level, that the classifier is calibrated. An undefined p-value never rejects.

        Raises
        ------
        InputError
            The number of draws is too small for this level.
        """
        check_alpha(alpha, self.n_draws or 2**62)
        return self.pvalue <= alpha + 1e-12

    def threshold(self, alpha: float = 0.05) -> float:
        """Critical value: the test rejects if the statistic exceeds it; nan for an asymptotic test."""
        return null_threshold(self.null, alpha) if self.method == "resampled" else float("nan")

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what, p = CALIBRATED.get(self.notion, self.notion), pvalue_text(self.pvalue)
        if math.isnan(self.pvalue):
            return f"Whether the classifier is {what} is undefined: {reason(self.notes)}."
        if self.smallest_pvalue > alpha + 1e-12:
            return f"{self.n_draws} draws are too few to tell at this level whether the classifier is {what} ({p})."
        if self.reject(alpha):
            return f"The classifier is not {what} ({p})."
        return f"The test could not tell the classifier from one that is {what} ({p})."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "measure": self.measure,
            "notion": self.notion,
            "statistic": plain(self.statistic),
            "pvalue": plain(self.pvalue),
            "null": plain(self.null),
            "method": self.method,
            "n_instances": self.n_instances,
            "n_classes": self.n_classes,
            "n_draws": self.n_draws,
            "smallest_pvalue": self.smallest_pvalue,
            "notes": [note.to_dict() for note in self.notes],
        }


def calibration_test(
    y_true: ArrayLike,
    probs: Any,
    *,
    measure: str | CalibrationMeasure = "ece-confidence",
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
        Any of `CALIBRATION_MEASURES`.
    n_draws : int
        Number of draws of labels D. The p-value is (1 + the number of draws that reach the statistic) / (D + 1). Ties count
        against rejection, so the test keeps its level exactly.
    resample : bool
        Draw instances with replacement before their labels; not with method="asymptotic". Repeated instances leave more bins
        empty. Measures that depend on thinly filled bins are then smaller than in the data, and the p-value too small.
    method : {"resampled", "asymptotic"}
        "asymptotic" draws no labels. It exists for the kernel calibration error, with the kernel of the measure (see
        `skce_pvalue`; "skce-uq" and "skce-biased" draw signs `n_draws` times), and for the Hosmer-Lemeshow statistic
        (chi-squared with (K − 1) B degrees of freedom, for data that the classifier was not fitted to).
    rng : int, Generator or None
        None means seed 0.

    Returns
    -------
    CalibrationTest

    Raises
    ------
    InputError
        Shapes that do not fit, labels out of range, a measure without an asymptotic test.

    References
    ----------
    Vaicenavicius et al. (2019), Evaluating model calibration in classification. Widmann, Lindsten, Zachariah (2019),
    Calibration tests in multi-class classification. Paper 001, section 2.2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> probs = rng.dirichlet([1.0, 1.0, 1.0], 300)
    >>> labels = np.array([rng.choice(3, p=p) for p in probs])
    >>> calibration_test(labels, probs).sentence()
    'The test could not tell the classifier from one that is confidence calibrated (p = .34).'
    >>> sharpened = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    >>> calibration_test(labels, sharpened).sentence()
    'The classifier is not confidence calibrated (p = .001).'
    """
    check_choice(method, "method", ("resampled", "asymptotic"))
    check_draws(n_draws)
    if resample and method == "asymptotic":
        raise InputError(
            "resample",
            "cannot be set for an asymptotic test, which draws no instances",
            'got resample=True with method="asymptotic"',
            "leave one of the two out",
            code="conflict",
        )
    chosen = calibration_measure(measure)
    prediction = as_prediction(probs, "probs")
    p = mean_probs(prediction)
    n, n_classes = p.shape
    labels = hard_labels(y_true, n, n_classes, members=prediction)
    if method == "asymptotic":
        statistic, pvalue, notes, drawn = _asymptotic(labels, p, chosen, n_draws, rng)
        null = np.empty(0)
        return CalibrationTest(chosen.name, chosen.notion, statistic, pvalue, null, method, n, n_classes, notes, drawn)
    statistic, null = statistic_and_null(labels, p, chosen, n_draws, resample, as_generator(rng))
    pvalue = monte_carlo_pvalue(statistic, null)
    notes = undefined_notes(statistic, pvalue, n)
    return CalibrationTest(chosen.name, chosen.notion, statistic, pvalue, null, method, n, n_classes, notes, n_draws)


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
        statistic = float(measure.prepare(np.ascontiguousarray(probs.T).T).values(labels))
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
        case PrepareHosmerLemeshow(n_bins=n_bins, binning="mass", form="counts"):
            chi_squared = hosmer_lemeshow_test(labels, probs, n_bins=n_bins)
            return chi_squared.statistic, chi_squared.pvalue, chi_squared.notes, 0
    raise InputError(
        "method",
        'can be "asymptotic" only for skce-ul, skce-uq, skce-biased and hosmer-lemeshow',
        f"got measure {measure.name!r}",
        'pass method="resampled"',
        code="conflict",
    )
