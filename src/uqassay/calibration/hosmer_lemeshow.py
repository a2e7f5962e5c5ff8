"""Asymptotic test of calibration by the Hosmer-Lemeshow statistic."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincc

from uqassay._one_order import in_one_order
from uqassay.calibration.direction import single_bins_note
from uqassay.calibration.shared_members import IN_GROUPS
from uqassay.errors import InputError
from uqassay.metrics.calibration.bins import CalibrationBins, check_bins
from uqassay.metrics.calibration.hosmer_lemeshow import (
    Bins,
    Labels,
    bins_of_events,
    check_least_expected,
    merged_bins,
    statistic_of_bins,
)
from uqassay.metrics.calibration.inputs import labels_and_probs
from uqassay.notes import Note
from uqassay.predictions import PredictionLike
from uqassay.statistics.samples import check_choice

__all__ = ["HosmerLemeshowTest", "hosmer_lemeshow_test"]

FEW_EXPECTED = 1.0  # below this expected count the chi-squared approximation is poor


@final
@dataclass(frozen=True)
class HosmerLemeshowTest:
    """Result of `hosmer_lemeshow_test`.

    Attributes
    ----------
    statistic : float
        Σ (O − E)² / E.
    pvalue : float
        Probability that a chi-squared variable exceeds the statistic.
    degrees_of_freedom : int
    n_bins : int
        Requested number of bins.
    bins : {"classwise", "common"}
    fitted : bool
    notes : tuple of Note
        How the degrees of freedom were counted; events of probability 0; expected counts that are too small.
    """

    statistic: float
    pvalue: float
    degrees_of_freedom: int
    n_bins: int
    bins: Bins
    fitted: bool
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

    Returns
    -------
    HosmerLemeshowTest

    Raises
    ------
    InputError
        `fitted` with classwise bins or with fewer than 3 bins; invalid labels or probabilities.

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
    check_choice(bins, "bins", ("classwise", "common"))
    labels, checked = labels_and_probs(y_true, probs)
    if fitted and bins != "common":
        raise InputError(
            "fitted",
            'the distribution is known only for bins="common"',
            'got bins="classwise"',
            'pass bins="common", or test on held-out data',
            code="conflict",
        )
    check_least_expected(least_expected, "counts")
    if fitted and least_expected:
        raise InputError(
            "least_expected",
            "cannot be set for a fitted model, whose distribution is known for common bins only",
            f"got {least_expected:g}",
            "leave it out",
            code="conflict",
        )
    counted = bins_of_events(checked, int(n_bins), bins)
    n_classes = checked.shape[-1]
    of_class = (counted.size > 0).sum(axis=-1)
    if least_expected:
        of_class = merged_bins(counted.expected, least_expected).max(axis=-1) + 1
    filled = int(np.ceil(of_class.sum() / n_classes))
    if fitted and filled < 3:
        raise InputError(
            "n_bins",
            "must leave at least 3 bins with instances if the model is fitted",
            f"got {filled}",
            "pass more bins",
            code="range",
        )
    freedom = (n_classes - 1) * (filled - 2 if fitted else filled)
    statistic = float(statistic_of_bins(counted, labels, "counts", least_expected))
    pvalue = float(gammaincc(freedom / 2, statistic / 2)) if np.isfinite(statistic) else 0.0
    return HosmerLemeshowTest(
        statistic,
        pvalue,
        freedom,
        int(n_bins),
        bins,
        bool(fitted),
        (*_notes(counted, labels, bool(fitted), filled), *_on_merged(counted, least_expected), *_on_groups(probs)),
    )


def _on_merged(bins: CalibrationBins, least_expected: float) -> tuple[Note, ...]:
    return single_bins_note(bins.expected, least_expected) if least_expected else ()


def _on_groups(probs: PredictionLike) -> tuple[Note, ...]:
    return () if getattr(probs, "groups", None) is None else (IN_GROUPS,)


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
