"""The numbers of one run: correlation, calibration error, map and delay curve of one estimate of epistemic uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.epistemic_cross_fit import CrossFittedMap, cross_fitted_map
from uqassay.calibration.epistemic_map import EpistemicMap
from uqassay.evidence.gain_sample import GainRun, GainSample
from uqassay.metrics.delay import DelayCurve, delay_curve_of_gains
from uqassay.metrics.epistemic_calibration import (
    EpistemicCalibration,
    epistemic_calibration_error,
    mapped_calibration_error,
)
from uqassay.metrics.epistemic_correlation import epistemic_correlation_score
from uqassay.metrics.estimate_intervals import place_in_intervals
from uqassay.notes import Note, distinct
from uqassay.statistics import Estimate, mean_estimate
from uqassay.statistics.samples import make_units
from uqassay.wording import counted

__all__ = ["FOLDS", "SHARES", "GainOptions", "RunGain", "gain_of_run"]

Array = NDArray[np.float64]

FOLDS = 5
SHARES = tuple(i / 20 for i in range(21))
OF_SPLIT = ("parts", "overlap", "skipped")  # notes of a division, which `GainRun.notes` keeps
LEAST_OF_FOLD = 2  # instances or groups
COUNTED = ("left-out", "assumption")  # notes of a map that are told once for all runs


@final
@dataclass(frozen=True)
class GainOptions:
    """What is computed, and how.

    Attributes
    ----------
    score, loss : str
    bins : int
        Number of intervals of the estimates.
    binning : {"equal-mass", "equal-width"}
    map_bins : {"paper", "own"}
        Intervals of the calibration map; see `uqassay.calibration.EpistemicMap`.
    level : float
        Confidence level of all intervals.
    shares : tuple of float
        Of the cases that wait, on the delay curve.
    cross_fit : int
        Folds of the test instances on which the map is cross-fitted in a run without a calibration sample; 0 for no map.
    """

    score: str
    loss: str = "zero-one"
    bins: int = 20
    binning: Literal["equal-mass", "equal-width"] = "equal-mass"
    map_bins: Literal["paper", "own"] = "paper"
    level: float = 0.95
    shares: tuple[float, ...] = SHARES
    cross_fit: int = FOLDS


@final
@dataclass(frozen=True, eq=False)
class RunGain:
    """The numbers of one run and one score; intervals are over its instances or groups.

    Attributes
    ----------
    seed, n_instances : int
    mean_gain, mean_epistemic : Estimate
    excess : Estimate
        Mean of estimate − gain: positive where the estimates are too large on average.
    correlation : Estimate
        Spearman's correlation of estimate and gain.
    raw : EpistemicCalibration
        EECE (gain) of the estimates.
    calibrated : EpistemicCalibration or None
        EECE (gain) of the mapped estimates: in the same intervals of instances if the map is of a calibration sample, in fewer
        intervals of each fold if it is cross-fitted. None without a map.
    excess_calibrated : Estimate or None
        Mean of mapped estimate − gain; None also for a cross-fitted map, where it is near 0 for any estimates.
    gain_map : EpistemicMap or None
        Of the calibration sample; of all test instances if it is cross-fitted.
    cross_fit : CrossFittedMap or None
        The maps of the folds, without a calibration sample.
    delay : DelayCurve
    above_random : tuple of S Estimate
        Gain above that of a random choice at each share of the delay curve.
    means : dict of str to array (M,)
        In the intervals of the estimates: "epistemic", "gain", "calibrated" (with a map), "true" (true epistemic uncertainty,
        where P(y|x) is known).
    notes : tuple of Note
    """

    seed: int
    n_instances: int
    mean_gain: Estimate
    mean_epistemic: Estimate
    excess: Estimate
    correlation: Estimate
    raw: EpistemicCalibration
    calibrated: EpistemicCalibration | None
    excess_calibrated: Estimate | None
    gain_map: EpistemicMap | None
    cross_fit: CrossFittedMap | None
    delay: DelayCurve
    above_random: tuple[Estimate, ...]
    means: Mapping[str, Array]
    notes: tuple[Note, ...]


def gain_of_run(run: GainRun, options: GainOptions) -> RunGain:
    """Compute everything for one run; the map is fitted on its calibration sample, or cross-fitted."""
    test, level = run.test, options.level
    g, e = test.gain[options.loss], test.epistemic[options.score]
    common: dict[str, Any] = {"groups": test.groups, "level": level}
    raw = epistemic_calibration_error(g, e, bins=options.bins, binning=options.binning, **common)
    place = place_in_intervals(e, raw.edges)[0]
    values = {"epistemic": e, "gain": g}
    gain_map, calibrated, excess_calibrated, cross_fit = None, None, None, None
    notes = [note for note in run.notes if note.code not in OF_SPLIT]
    if run.calibration is not None:
        gain_map = _fitted(run.calibration, e, options)
        mapped = values["calibrated"] = gain_map.transform(e)
        calibrated = mapped_calibration_error(g, mapped, e, edges=raw.edges, **common)
        excess_calibrated = mean_estimate(mapped - g, **common)
    elif options.cross_fit:
        n_units = make_units(e.size, test.groups, None).n_units
        if n_units >= LEAST_OF_FOLD * options.cross_fit:
            cross_fit = cross_fitted_map(g, e, bins=options.bins, n_folds=options.cross_fit, **common)
            gain_map, calibrated, values["calibrated"] = cross_fit.gain_map, cross_fit.calibration, cross_fit.mapped
        else:
            notes.append(_too_few(n_units, "instance" if test.groups is None else "group", options.cross_fit))
    if gain_map is not None:
        notes += [note for note in gain_map.notes if note.code not in COUNTED]
    if test.truth is not None and options.loss == "zero-one":
        values["true"] = test.truth.epistemic
    correlation = epistemic_correlation_score(g, e, **common)
    delay = delay_curve_of_gains(g, e, shares=options.shares, **common)
    count = np.bincount(place, minlength=raw.n_bins)
    return RunGain(
        seed=run.seed,
        n_instances=test.n_instances,
        mean_gain=mean_estimate(g, **common),
        mean_epistemic=mean_estimate(e, **common),
        excess=mean_estimate(e - g, **common),
        correlation=correlation,
        raw=raw,
        calibrated=calibrated,
        excess_calibrated=excess_calibrated,
        gain_map=gain_map,
        cross_fit=cross_fit,
        delay=delay,
        above_random=tuple(delay.above_random(share) for share in options.shares),
        means={name: _means(array, place, count) for name, array in values.items()},
        # the correlation counts the same gains in other words
        notes=distinct(notes, raw.notes, [note for note in correlation.notes if note.code != "few"], delay.notes),
    )


def _fitted(sample: GainSample, evaluation: Array, options: GainOptions) -> EpistemicMap:
    found = EpistemicMap(bins=options.map_bins, n_bins=options.bins)
    own = options.map_bins == "own"
    return found.fit(sample.epistemic[options.score], sample.gain[options.loss], evaluation=None if own else evaluation)


def _too_few(n_units: int, what: str, n_folds: int) -> Note:
    text = f"no map: {counted(n_units, what)} for {n_folds} folds, and each needs {LEAST_OF_FOLD}: take fewer folds"
    return Note("left-out", text, {"units": n_units, "folds": n_folds})


def _means(values: Array, place: NDArray[np.intp], count: NDArray[np.int64]) -> Array:
    sums = np.bincount(place, values, minlength=len(count))
    return np.divide(sums, count, out=np.full(len(count), np.nan), where=count > 0)
