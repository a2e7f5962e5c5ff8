"""One estimate of epistemic uncertainty against the gain, over the runs of a study."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay._shown import Shown
from uqassay._shown_table import ShownTable
from uqassay.evidence.gain_of_run import GainOptions, RunGain
from uqassay.evidence.gain_rows import gain_shown_table
from uqassay.evidence.gain_verdict import result_sentences
from uqassay.evidence.over_runs import Curve, OverRuns, curve_over_runs, estimate_over_runs
from uqassay.notes import Note, distinct
from uqassay.statistics import Estimate
from uqassay.wording import counted

__all__ = ["GainBins", "GainDelay", "GainResult", "gain_result"]

Array = NDArray[np.float64]

RARE = ("few", "none")  # notes on gains other than 0


@final
@dataclass(frozen=True, eq=False)
class GainBins:
    """Means in M intervals of the estimates, from the least to the greatest; see `Curve` for their bands.

    Attributes
    ----------
    epistemic : Curve
        Mean estimate.
    gain : Curve
        Mean gain; for one run its interval is over the instances of the interval.
    calibrated : Curve or None
        Mean mapped estimate; None without a map.
    true : Curve or None
        Mean true epistemic uncertainty, where P(y|x) is known.
    count : array (R, M)
        Instances. A run with fewer intervals than others, because of ties, has none in the first ones.
    """

    epistemic: Curve
    gain: Curve
    calibrated: Curve | None
    true: Curve | None
    count: NDArray[np.int64]

    @property
    def n_bins(self) -> int:
        """M."""
        return len(self.epistemic.mean)


@final
@dataclass(frozen=True, eq=False)
class GainDelay:
    """Gain in mean loss over all instances where the most uncertain share of them waits for more data.

    Attributes
    ----------
    shares : array (S,)
    gained : Curve
        For the zero-one loss: gain in accuracy.
    random : Curve
        The same for a random choice of as many.
    above : Curve
        The difference of the two.
    """

    shares: Array
    gained: Curve
    random: Curve
    above: Curve

    def at(self, share: float) -> tuple[float, float, float]:
        """Gain with the ends of its interval at the nearest share of the curve."""
        at = int(np.abs(self.shares - share).argmin())
        return float(self.gained.mean[at]), float(self.gained.low[at]), float(self.gained.high[at])


@final
@dataclass(frozen=True, eq=False, repr=False)
class GainResult(Shown):
    """The numbers of one score under one loss: means over the runs, with their intervals.

    With several runs an interval is Student's t over the runs; with one run it is over the instances or groups of that run.
    `Estimate.method` says which.

    Attributes
    ----------
    method, dataset : str
    options : GainOptions
    runs : tuple of R RunGain
    correlation : OverRuns
        Epistemic correlation: Spearman's correlation of estimate and gain.
    error, debiased : OverRuns
        EECE (gain) of the estimates, and the same without its bias.
    calibrated_error, calibrated_debiased : OverRuns or None
        Those of the mapped estimates; None without a map. In the same intervals as `error` if the map is of calibration
        samples; in fewer intervals of each fold if it is cross-fitted (`n_folds`).
    reduction : OverRuns or None
        Error before the map, in the intervals of `calibrated_error`, − calibrated_error. One run gives no interval.
    mean_gain, mean_epistemic, excess : OverRuns
        `excess` is the mean of estimate − gain.
    excess_calibrated : OverRuns or None
        None also for a cross-fitted map.
    bins : GainBins
    delay : GainDelay
    notes : tuple of Note
    """

    _shown_more: ClassVar[str] = "summary(), correlation, error, bins, delay"

    method: str
    dataset: str
    options: GainOptions
    runs: tuple[RunGain, ...]
    correlation: OverRuns
    error: OverRuns
    debiased: OverRuns
    calibrated_error: OverRuns | None
    calibrated_debiased: OverRuns | None
    reduction: OverRuns | None
    mean_gain: OverRuns
    mean_epistemic: OverRuns
    excess: OverRuns
    excess_calibrated: OverRuns | None
    bins: GainBins
    delay: GainDelay
    notes: tuple[Note, ...]

    @property
    def score(self) -> str:
        """Name of the estimate."""
        return self.options.score

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.options.loss

    @property
    def level(self) -> float:
        """Confidence level."""
        return self.options.level

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.runs)

    @property
    def n_folds(self) -> int:
        """Folds on which the map is cross-fitted; 0 for a map of calibration samples, and without a map."""
        return max((one.n_folds for run in self.runs if (one := run.cross_fit) is not None), default=0)

    @property
    def label(self) -> str:
        """Method and score, for tables and legends."""
        return f"{self.method}, {self.score}"

    def _shown_title(self) -> str:
        on = f" on {self.dataset}" if self.dataset else ""
        return f"Gain from more data and {self.score} of {self.method}{on}: {counted(self.n_runs, 'run')}"

    def _shown_sentences(self) -> Sequence[str]:
        return result_sentences(self)

    def _shown_table(self) -> ShownTable:
        return gain_shown_table([self])

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


def gain_result(method: str, dataset: str, options: GainOptions, runs: Sequence[RunGain]) -> GainResult:
    """Gather the numbers of the runs of one score."""
    runs, level = tuple(runs), options.level

    def over(value: Callable[[RunGain], Estimate | None], **more: Any) -> OverRuns | None:
        found = [value(run) for run in runs]
        there = [one for one in found if one is not None]
        return estimate_over_runs(there, level=level, **more) if len(there) == len(found) else None

    def always(value: Callable[[RunGain], Estimate], **more: Any) -> OverRuns:
        return estimate_over_runs([value(run) for run in runs], level=level, **more)

    positive = {"bounds": (0.0, np.inf)}
    bins, notes = _bins(runs, level)
    return GainResult(
        method=method,
        dataset=dataset,
        options=options,
        runs=runs,
        correlation=always(lambda run: run.correlation, bounds=(-1.0, 1.0)),
        error=always(lambda run: run.raw.error, **positive),
        debiased=always(lambda run: run.raw.debiased),
        calibrated_error=over(lambda run: None if run.calibrated is None else run.calibrated.error, **positive),
        calibrated_debiased=over(lambda run: None if run.calibrated is None else run.calibrated.debiased),
        reduction=over(lambda run: _reduction(run, level)),
        mean_gain=always(lambda run: run.mean_gain),
        mean_epistemic=always(lambda run: run.mean_epistemic),
        excess=always(lambda run: run.excess),
        excess_calibrated=over(lambda run: run.excess_calibrated),
        bins=bins,
        delay=_delay(runs, level),
        notes=distinct(_run_notes(runs), notes, _map_notes(runs)),
    )


def _run_notes(runs: Sequence[RunGain]) -> list[Note]:
    """Notes of the runs. Few gains are told once for all runs."""
    notes = [note for run in runs for note in run.notes]
    changed = [note.facts["count"] for note in notes if note.code in RARE and "count" in note.facts]
    if len(runs) == 1 or not changed:
        return notes
    low, high = min(changed), max(changed)
    gains = f"{low} to {high}" if low < high else str(low)
    text = f"{len(changed)} of {len(runs)} runs have only {gains} gains other than 0: rough intervals"
    return [*(note for note in notes if note.code not in RARE), Note("few", text, {"runs": len(changed)})]


def _reduction(run: RunGain, level: float) -> Estimate | None:
    """How much smaller the error is after the map; one run alone has no interval for it."""
    if run.calibrated is None:
        return None
    before = run.raw.error if run.cross_fit is None else run.cross_fit.before
    value = float(before) - float(run.calibrated.error)
    nothing: dict[str, Any] = {"low": np.nan, "high": np.nan, "level": level, "n": run.n_instances}
    return Estimate(value, method="difference", notes=[Note("no-interval", "1 run: no interval")], **nothing)


def _bins(runs: Sequence[RunGain], level: float) -> tuple[GainBins, list[Note]]:
    most = max(run.raw.n_bins for run in runs)
    fewer = [run for run in runs if run.raw.n_bins < most]

    def padded(values: Array, fill: float = np.nan) -> Array:
        """Values at the end of M: ties, such as estimates of 0, are among the least estimates."""
        return np.concatenate([np.full(most - len(values), fill), values])

    def curve(name: str, ends: tuple[Array, Array] | None = None) -> Curve | None:
        if any(name not in run.means for run in runs):
            return None
        return curve_over_runs([padded(run.means[name]) for run in runs], level=level, ends=ends)

    epistemic, gain = curve("epistemic"), curve("gain", (runs[0].raw.gain_low, runs[0].raw.gain_high))
    assert epistemic is not None
    assert gain is not None
    count = np.stack([padded(run.raw.count.astype(np.float64), 0.0) for run in runs]).astype(np.int64)
    notes = []
    if fewer:
        text = (
            f"{counted(len(fewer), 'run')} of {len(runs)} with fewer than {most} intervals, because of equal estimates"
        )
        notes.append(Note("left-out", text, {"runs": len(fewer), "bins": most}))
    return GainBins(epistemic, gain, curve("calibrated"), curve("true"), count), notes


def _map_notes(runs: Sequence[RunGain]) -> list[Note]:
    """Intervals without calibration instances, and calibration instances outside all intervals, over the runs."""
    maps = [run.gain_map for run in runs if run.gain_map is not None and run.cross_fit is None]
    empty, outside = (sum(getattr(one, name) for one in maps) for name in ("n_empty", "n_outside"))
    intervals, points = sum(len(one.edges) - 1 for one in maps), sum(one.n_instances for one in maps)
    over = f" over {len(maps)} runs" if len(maps) > 1 else ""
    notes = []
    if empty:
        text = f"map: {empty} of {counted(intervals, 'interval')}{over} without calibration instances, left out"
        notes.append(Note("left-out", text, {"empty": empty, "intervals": intervals}))
    if outside:
        text = (
            f"map: {outside:,} of {counted(points, 'calibration instance')}{over} outside all intervals, counted in the outer "
            "ones"
        )
        notes.append(Note("assumption", text, {"outside": outside, "instances": points}))
    return notes


def _delay(runs: Sequence[RunGain], level: float) -> GainDelay:
    first, above = runs[0].delay, [np.array([float(one) for one in run.above_random]) for run in runs]
    ends = tuple(np.array([getattr(one, end) for one in runs[0].above_random]) for end in ("low", "high"))
    return GainDelay(
        first.shares,
        curve_over_runs([run.delay.gained for run in runs], level=level, ends=(first.low, first.high)),
        curve_over_runs([run.delay.random for run in runs], level=level),
        curve_over_runs(above, level=level, ends=(ends[0], ends[1])),
    )
