"""What a result of the gain shows: conclusions that an interval or a test holds, as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from uqassay.evidence.over_runs import OverRuns
from uqassay.metrics.epistemic_calibration import EpistemicCalibration
from uqassay.statistics import Estimate

if TYPE_CHECKING:
    from uqassay.evidence.gain_result import GainResult

__all__ = ["DELAYED", "CalibrationReading", "DelayReading", "GainReading", "Side", "read_gain", "side_of"]

Side = Literal["above", "below", "unclear", "undefined"]

DELAYED = 0.1  # share of the cases that wait, in the sentence
GREATEST = 0.99  # p-value in a combination


@final
@dataclass(frozen=True)
class CalibrationReading:
    """Whether estimates are calibrated within what the test sets can show.

    Attributes
    ----------
    error : OverRuns
    debiased : OverRuns
    null_low, null_high, null_mean : float
        Where the error of perfectly calibrated estimates lies in a run, means over the runs.
    pvalue : float
        Of perfect calibration in all runs; nan if no run has an interval. P-values of several runs are combined by the Cauchy
        test of Liu and Xie (2020), which allows small ones to depend on each other: the runs of a study split the same
        instances.
    shown : bool
        True if the estimates are shown not to be calibrated: a p-value of at most 1 − level.
    excess : Side
        "above" if the estimates are shown to be too large on average, "below" if too small; "undefined" for a cross-fitted map.
    """

    error: OverRuns
    debiased: OverRuns
    null_low: float
    null_high: float
    null_mean: float
    pvalue: float
    shown: bool
    excess: Side


@final
@dataclass(frozen=True)
class DelayReading:
    """Gain where a share of the cases waits for more data.

    Attributes
    ----------
    share : float
    gained : Estimate
    random : float
        Gain of a random choice of as many cases.
    side : Side
        "above" if the gain is shown to be greater than that of the random choice.
    """

    share: float
    gained: Estimate
    random: float
    side: Side


@final
@dataclass(frozen=True)
class GainReading:
    """The conclusions from one result.

    Attributes
    ----------
    gain : Side
        "above" if more data are shown to help on average.
    order : Side
        "above" if the estimates are shown to order the gain, "below" if in the wrong direction.
    raw : CalibrationReading
    mapped : CalibrationReading or None
        Of the mapped estimates.
    reduction : Side
        "above" if the map is shown to lower the error; "undefined" for one run, and without a map.
    delay : DelayReading
    """

    gain: Side
    order: Side
    raw: CalibrationReading
    mapped: CalibrationReading | None
    reduction: Side
    delay: DelayReading


def read_gain(result: "GainResult", *, share: float = DELAYED) -> GainReading:
    """Conclusions from one result; each holds at the level of the result by itself."""
    mapped = None
    if result.calibrated_error is not None and result.calibrated_debiased is not None:
        mapped = _calibration(
            result,
            (result.calibrated_error, result.calibrated_debiased, result.excess_calibrated),
            [run.calibrated for run in result.runs if run.calibrated is not None],
        )
    return GainReading(
        gain=side_of(result.mean_gain.estimate),
        order=side_of(result.correlation.estimate),
        raw=_calibration(result, (result.error, result.debiased, result.excess), [run.raw for run in result.runs]),
        mapped=mapped,
        reduction="undefined" if result.reduction is None else side_of(result.reduction.estimate),
        delay=_delay(result, share),
    )


def side_of(estimate: Estimate) -> Side:
    """On which side of 0 an interval lies."""
    if not (np.isfinite(estimate.low) and np.isfinite(estimate.high)):
        return "undefined"
    return "above" if estimate.low > 0 else "below" if estimate.high < 0 else "unclear"


def _calibration(
    result: "GainResult", numbers: tuple[OverRuns, OverRuns, OverRuns | None], runs: Sequence[EpistemicCalibration]
) -> CalibrationReading:
    error, debiased, excess = numbers
    pvalue = _together([run.pvalue for run in runs])
    low, high = np.mean([run.null_band for run in runs], axis=0)
    return CalibrationReading(
        error=error,
        debiased=debiased,
        null_low=float(low),
        null_high=float(high),
        null_mean=float(np.mean([run.null_mean for run in runs])),
        pvalue=pvalue,
        shown=pvalue <= 1 - result.level,
        excess="undefined" if excess is None else side_of(excess.estimate),
    )


def _together(pvalues: Sequence[float]) -> float:
    """Cauchy combination of several p-values; nan is left out."""
    known = np.array([p for p in pvalues if p == p])
    if len(known) < 2:
        return float(known[0]) if len(known) else float("nan")
    # a p-value of 1 has the tangent −∞ and would outweigh all others
    mean = np.tan((0.5 - np.minimum(known, GREATEST)) * np.pi).mean()
    return float(0.5 - np.arctan(mean) / np.pi)


def _delay(result: "GainResult", share: float) -> DelayReading:
    delay = result.delay
    at = int(np.abs(delay.shares - share).argmin())
    values: dict[str, Any] = {"level": result.level, "n": result.n_runs, "method": result.mean_gain.estimate.method}
    gained, above = (
        Estimate(float(curve.mean[at]), low=float(curve.low[at]), high=float(curve.high[at]), **values)
        for curve in (delay.gained, delay.above)
    )
    return DelayReading(float(delay.shares[at]), gained, float(delay.random.mean[at]), side_of(above))
