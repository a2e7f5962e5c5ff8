"""Binned calibration errors with a confidence interval that holds for calibrated and for miscalibrated classifiers."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import generator
from uqassay._one_order import in_one_order
from uqassay.metrics.calibration.bins import Binning, bins_of_confidence, check_bins
from uqassay.metrics.calibration.error_inversion import (
    BinnedHits,
    Inversion,
    binned_hits,
    drawn_of_groups,
    drawn_of_instances,
)
from uqassay.metrics.calibration.group_signs import summed
from uqassay.metrics.calibration.inputs import labels_and_probs
from uqassay.metrics.calibration.reliability import bins_of_hits
from uqassay.notes import Note
from uqassay.predictions import PredictionLike
from uqassay.statistics import Estimate
from uqassay.statistics.remarks import single_unit, unit_notes
from uqassay.statistics.samples import Units, check_choice, check_level, make_units
from uqassay.wording import number

__all__ = ["ErrorNorm", "calibration_error_estimate", "error_estimate_of_hits"]

Floats = NDArray[np.float64]
ErrorNorm = Literal["l1", "l2", "squared"]

NORMS = ("l1", "l2", "squared")
N_DRAWS = 999
WORDS = {"width": "equal-width", "mass": "equal-mass"}


@in_one_order("probs", "y_true", "groups")
def calibration_error_estimate(
    y_true: ArrayLike,
    probs: PredictionLike,
    *,
    norm: ErrorNorm = "l1",
    n_bins: int = 10,
    binning: Binning = "width",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> Estimate:
    """Calibration error of the confidence in bins, with a confidence interval.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1.
    probs : Prediction, or array (n, K) or (n, M, K)
        Probabilities, or members, whose mean is taken. The confidence is the greatest of a row; of equally probable classes
        the first is predicted.
    norm : {"l1", "l2", "squared"}
        With the true gap g_b = confidence − accuracy of bin b and its share w_b of the instances: "l1" Σ w_b |g_b|, the
        expected calibration error; "squared" Σ w_b g_b²; "l2" its root.
    n_bins : int
    binning : {"width", "mass"}
        As in `confidence_calibration_error`. The interval takes bins of equal mass as given.
    groups : array (n,), optional
        Whole groups (patients, sites, videos) are the units.
    level : float
        Confidence level.
    rng : int or numpy Generator, optional
        Random state of the draws; None means seed 0.

    Returns
    -------
    Estimate
        The value for "l1" is that of `confidence_calibration_error`, which noise makes too large: a note ("bias") gives the
        value that a calibrated classifier has on average on these instances. The value for "squared" is the debiased one; for
        "l2" the root of it, and 0 with a note ("edge") if it is negative. With groups the debiased value takes pairs of
        instances of different groups only. The interval always includes the value and is nan for a single group.

    Raises
    ------
    InputError
        Invalid labels, probabilities or groups, or unknown options.

    Notes
    -----
    The interval is for the error in these bins, which is at most the error without bins. It is an inverted test: it keeps an
    error if neither more nor less than a share (1 − level) / 2 of draws from it reach the value found. The draws take the
    true gaps as a multiple t of the gaps found. Their hits are Bernoulli variables with the probabilities c − t g, so that
    t = 0 gives the exact distribution of a calibrated classifier up to an expansion of the binomial distribution: for squares
    a mixture of chi-squares at the rate 1 / n. At t > 0 the error is approximately normal at the rate 1 / √n. The lower end
    is 0 where calibration is not rejected. The upper end takes the share of draws relative to that of a calibrated
    classifier (Read 2002), so that gaps that are small by luck do not make it small. Groups are drawn by random signs of
    their deviations from the gaps; more than 200 groups as normal sums with the covariance of the bins.

    Sun, Chaudhari, Barnett and Dobriban (2024) have two limits for a growing number of bins and choose between them by a test.
    Here the number of bins is fixed, and one family of distributions has both limits.

    The taken direction of the gaps matters little for squares, and more for "l1" with a small error in many bins
    (docs/coverage-calibration-further.md has the measured coverage).

    References
    ----------
    Sun, Chaudhari, Barnett, Dobriban (2024), A confidence interval for the l2 expected calibration error; Kumar, Liang, Ma
    (2019), Verified uncertainty calibration (debiased squares); Read (2002), Presentation of search results: the CLs technique.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> p = rng.uniform(0.5, 1, 400)
    >>> y = (rng.random(400) < p - 0.1).astype(int)  # the truth is .1 lower
    >>> error = calibration_error_estimate(y, np.stack([1 - p, p], axis=1))
    >>> round(error, 3), error.low < 0.1 < error.high, error.notes[0].code
    (0.123, True, 'bias')
    """
    check_choice(norm, "norm", NORMS)
    check_bins(n_bins, binning)
    check_level(level)
    labels, checked = labels_and_probs(y_true, probs)
    bins = bins_of_confidence(checked, int(n_bins), binning)
    hits = np.asarray(bins.event == labels, dtype=np.float64)
    found = binned_hits(hits, bins.values, bins.place.astype(np.intp))
    return _estimate(found, norm, make_units(len(labels), groups, None), level, _method(n_bins, binning), rng)


def error_estimate_of_hits(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    norm: ErrorNorm = "l1",
    n_bins: int = 10,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> Estimate:
    """The same from hits (n,), or shares in between, and confidences (n,), in bins of equal width. For other rooms.

    Examples
    --------
    >>> error_estimate_of_hits([1, 0, 1, 1] * 20, [0.75] * 80)
    ... # doctest: +ELLIPSIS
    Estimate(0, low=0, high=0.1..., level=0.95, n=80, method='inverted test, 10 equal-width bins', notes=['...'])
    """
    bins, hits = bins_of_hits(correct, confidence, n_bins)
    found = binned_hits(hits, bins.values, bins.place.astype(np.intp))
    return _estimate(found, norm, make_units(len(hits), groups, None), level, _method(n_bins, "width"), rng)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _method(n_bins: int, binning: Binning) -> str:
    return f"inverted test, {int(n_bins)} {WORDS[binning]} bin{'s' if n_bins > 1 else ''}"


def _estimate(
    bins: BinnedHits,
    norm: ErrorNorm,
    units: Units,
    level: float,
    method: str,
    rng: int | np.random.Generator | None,
) -> Estimate:
    value, notes = _value(bins, norm, units)
    notes += unit_notes(units)
    low = high = np.nan
    if units.codes is not None and units.n_units == 1:
        notes.append(single_unit(units))
    elif not np.isnan(value):
        inversion = _inversion(bins, norm, units, generator(rng))
        low, high = inversion.interval(level)
        if norm == "l2":
            low, high = low**0.5, high**0.5
        low, high = min(low, value), max(high, value)
        if norm == "l1":
            calibrated = inversion.of_calibrated()
            text = (
                f"noise is included: a calibrated classifier has {number(calibrated, 3)} on average on these instances"
            )
            notes.insert(0, Note("bias", text, {"calibrated": calibrated}))
    return Estimate(value, low=low, high=high, level=level, n=bins.n, method=method, notes=notes)


def _inversion(bins: BinnedHits, norm: ErrorNorm, units: Units, rng: np.random.Generator) -> Inversion:
    shaken = rng.standard_normal(N_DRAWS)
    if units.codes is None:
        drawn = drawn_of_instances(bins, N_DRAWS, rng)
    else:
        drawn = drawn_of_groups(bins, units.codes, units.n_units, N_DRAWS, rng)
    return Inversion(bins, drawn, "l1" if norm == "l1" else "squared", shaken)


def _value(bins: BinnedHits, norm: ErrorNorm, units: Units) -> tuple[float, list[Note]]:
    if norm == "l1":
        return float(bins.error(bins.excess, "l1")), []
    squared = _debiased_square(bins, units)
    if np.isnan(squared):
        what = "groups" if units.codes is not None else "instances"
        return squared, [Note("undefined", f"no bin has two {what}")]
    if norm == "squared":
        return squared, []
    if squared < 0:
        return 0.0, [Note("edge", "the debiased square is below 0, as it can be for a calibrated classifier")]
    return squared**0.5, []


def _debiased_square(bins: BinnedHits, units: Units) -> float:
    """Σ_b w_b × the mean of d d′ over the pairs of different units of bin b; nan without a pair."""
    n_bins = len(bins.size)
    if units.codes is None:
        own, own_pairs = np.bincount(bins.place, bins.difference**2, n_bins), bins.size
    else:
        shape = (units.n_units, n_bins)
        sums = summed(units.codes, bins.place, bins.difference, shape)
        sizes = summed(units.codes, bins.place, np.ones(bins.n), shape)
        own, own_pairs = (np.asarray((x * x).sum(axis=0)).reshape(-1) for x in (sums, sizes))
    pairs = bins.size**2 - own_pairs
    some = pairs > 0.5
    if not some.any():
        return float("nan")
    means = (bins.excess**2 - own)[some] / pairs[some]
    return float(bins.size[some] @ means) / bins.n
