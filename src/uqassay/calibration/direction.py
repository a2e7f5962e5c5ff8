"""Is a classifier overconfident or underconfident? A test of mean confidence against accuracy, and what other tests miss."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import argmax_of_rows
from uqassay.metrics.calibration.bins import bins_of_classes
from uqassay.metrics.calibration.hosmer_lemeshow import PrepareHosmerLemeshow, merged_bins
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.metrics.calibration.measures import CalibrationMeasure
from uqassay.notes import Note
from uqassay.statistics.pairwise_means import pairwise_mean_tests

__all__ = [
    "ONE_SIDE",
    "UPPER_ALONE",
    "ConfidenceGap",
    "Direction",
    "confidence_gap",
    "single_bins_note",
    "unseen_notes",
]

Floats = NDArray[np.float64]
Direction = Literal["overconfident", "underconfident", ""]

UPPER_ALONE = Note(
    "assumption",
    "with several members this score can show overconfidence alone: test kuiper-confidence to look for underconfidence",
)
ONE_SIDE = "; of mixtures, this score shows overconfidence alone"  # what a sentence adds
MANY = 0.5  # share of the classes with a single bin from which on a note tells of them


class ConfidenceGap(NamedTuple):
    """Mean confidence minus accuracy.

    Attributes
    ----------
    value, low, high : float
        The difference with its 95 % interval.
    pvalue : float
        Two-sided p-value of a difference of 0; it does not assume that the classifier is calibrated. nan for one unit.
    """

    value: float
    low: float
    high: float
    pvalue: float

    def direction(self, alpha: float = 0.05) -> Direction:
        """The direction if it can be told at this level; the wrong one is told in at most α / 2 of the data sets."""
        if not self.pvalue <= alpha:
            return ""
        return "overconfident" if self.value > 0 else "underconfident"


def confidence_gap(labels: NDArray[np.intp], probs: Floats, groups: ArrayLike | None = None) -> ConfidenceGap:
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
    correct = (argmax_of_rows(probs) == labels).astype(np.float64)
    found = pairwise_mean_tests({"confidence": confidence, "accuracy": correct}, groups=groups, bound=1.0)
    value, low, high, p = (float(table[0, 1]) for table in (found.difference, found.low, found.high, found.pvalue))
    return ConfidenceGap(value, low, high, p)


def unseen_notes(measure: CalibrationMeasure, probs: Floats, n_members: int = 1) -> tuple[Note, ...]:
    """What a measure cannot see in these data: probabilities (n, K), of several members those of their mean.

    Examples
    --------
    >>> from uqassay.metrics.calibration.measures import calibration_measure
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
