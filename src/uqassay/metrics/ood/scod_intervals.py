"""Intervals of areas and risks that count errors and out-of-distribution inputs together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import special

from uqassay.metrics.ood.intervals import SAMPLES, known_units, tail_dof, two_sample_estimate
from uqassay.metrics.ood.scod_samples import ScodSamples, Statistic
from uqassay.metrics.risk.ranked_errors import FEW
from uqassay.metrics.risk.risk_area_influences import TINY, interval_of_loss
from uqassay.notes import Note
from uqassay.statistics import Estimate
from uqassay.statistics.linearised import Linearised, averaged, spread_of, units_in, with_runs
from uqassay.statistics.samples import Spread, Units, check_level

__all__ = ["scod_estimate"]

METHOD = "linearised, logit scale between best and worst"


def scod_estimate(runs: Sequence[ScodSamples], statistic: Statistic, *, level: float = 0.95) -> Estimate:
    """Mean of a statistic of the losses over training runs on the same instances, with its interval.

    Parameters
    ----------
    runs : sequence of ScodSamples
        The runs have the same instances, weights, groups, cost and share.
    statistic : callable
        `aurc_of`, `augrc_of` or `risk_at` a coverage.
    level : float

    Notes
    -----
    The costs and the shares of the samples are given, so the value lies between those of the best and the worst order
    (`ScodSamples.extremes`). The interval is symmetric on the logit scale between these two.

    A few confident errors skew the value to the right. The upper end is therefore at least that of the value without errors
    and of the remainder, which the errors add, on the log scale; the two distances add by their squares (Zou and Donner 2008).
    With fewer than 20 errors the remainder need not exceed the value at Wilson's upper limit of
    the error rate, with the further errors kept first. Without errors this alone bounds it.

    A sample whose influences are equal (every instance out of distribution is refused last, say) shows no variance. The share
    q² / (m + q²) of its m instances (groups), Wilson's upper limit after none of m, is then replaced by the instance that
    changes the value most, and the distance is added by squares too.
    """
    check_level(level)
    first = runs[0]
    statistics = [run.linearised(statistic) for run in runs]
    whole = averaged(statistics)
    units, counts, notes = known_units([run.samples for run in runs])
    notes += _of_errors(runs, units)
    value, low, high = whole.value, np.nan, np.nan
    best, worst = first.extremes(statistic)
    if worst - best <= TINY:
        low = high = value
        notes.append(Note("no-width", "the given share and costs decide this number"))
    elif min(counts) > 1:
        at = _At(runs, statistic, units, counts, (best, worst), level)
        right = [run.without_errors.linearised(statistic) for run in runs]
        low, high = at.between(statistics)
        _, without = at.between(right)
        further = float(np.hypot(without - averaged(right).value, at.of_errors(statistics, right)))
        high = max(high, value + further)
        below, above = at.not_shown(whole)
        low = max(value - float(np.hypot(value - low, below)), best)
        high = min(value + float(np.hypot(high - value, above)), worst)
    return two_sample_estimate([run.samples for run in runs], value, low, high, level, METHOD, notes)


@final
@dataclass(frozen=True, eq=False)
class _At:
    """Parts of the interval of one statistic of several runs."""

    runs: Sequence[ScodSamples]
    statistic: Statistic
    units: Units
    counts: tuple[int, int]  # units out of and in distribution
    ends: tuple[float, float]
    level: float

    def between(self, statistics: Sequence[Linearised]) -> tuple[float, float]:
        """Interval on the logit scale between the ends; the value itself if it is at one of them."""
        best, worst = self.ends
        whole, width = averaged(statistics), worst - best
        place = (whole.value - best) / width
        if not TINY < place < 1 - TINY:
            return whole.value, whole.value
        low, high = interval_of_loss(place, self._reach(whole, statistics) / width, 1.0)
        return best + width * low, best + width * high

    def of_errors(self, statistics: Sequence[Linearised], right: Sequence[Linearised]) -> float:
        """How far above its value the remainder that errors add may lie."""
        added = [_remainder(a, b) for a, b in zip(statistics, right, strict=True)]
        whole, further = averaged(added), np.inf
        if whole.value > TINY:
            further = interval_of_loss(whole.value, self._reach(whole, added), np.inf)[1] - whole.value
        if _errors_in(self.runs, self.units) < FEW:
            further = min(further, self._with_more_errors() - averaged(statistics).value)
        return max(further, 0.0)

    def not_shown(self, whole: Linearised) -> tuple[float, float]:
        """Distances below and above that samples without variance do not show."""
        best, worst = self.ends
        at_end = not best + TINY < whole.value < worst - TINY
        below = above = 0.0
        q = float(special.ndtri(0.5 + self.level / 2))
        for out, part, count in zip((True, False), whole.parts, self.counts, strict=True):
            if np.abs(part).max() > TINY and not at_end:
                continue
            share = q**2 / (count + q**2)
            # kept in the other order; errors not seen are in `of_errors`
            good, bad = (self._replaced(share, out=out, wrong=False, first=first) for first in (not out, out))
            below, above = np.hypot(below, max(whole.value - good, 0.0)), np.hypot(above, max(bad - whole.value, 0.0))
        return float(below), float(above)

    def _with_more_errors(self) -> float:
        """The value at Wilson's upper limit of the error rate, with all further errors kept first."""
        samples, q = self.runs[0].samples, float(special.ndtri(0.5 + self.level / 2))
        w = np.where(samples.is_out, 0.0, 1.0 if samples.weights is None else samples.weights)
        rate = float(np.average(np.mean([run.errors for run in self.runs], axis=0), weights=w))
        k = q**2 / self.counts[1]
        limit = (rate + k / 2 + float(np.sqrt(k * rate * (1 - rate) + k**2 / 4))) / (1 + k)
        share = (limit - rate) / (1 - rate) if rate < 1 else 0.0
        return self._replaced(share, out=False, wrong=True, first=True)

    def _replaced(self, share: float, *, out: bool, wrong: bool, first: bool) -> float:
        values = [run.contaminated(self.statistic, share, out=out, wrong=wrong, first=first) for run in self.runs]
        return float(np.mean(values))

    def _reach(self, whole: Linearised, runs: Sequence[Linearised]) -> float:
        spread = spread_of(whole, self.units)
        dof = min(spread.dof, tail_dof(whole, self.units, self.counts))
        spread = with_runs(Spread(spread.standard_error, dof, 0.0), [np.array([run.value for run in runs])])
        return float(special.stdtrit(spread.dof, 0.5 + self.level / 2)) * spread.standard_error


def _remainder(a: Linearised, b: Linearised) -> Linearised:
    """a − b, whose parts are the same two samples."""
    parts = tuple(x - y for x, y in zip(a.parts, b.parts, strict=True))
    return replace(a, value=a.value - b.value, influence=a.influence - b.influence, parts=parts)


def _errors_in(runs: Sequence[ScodSamples], units: Units) -> float:
    """Number of errors in distribution, of groups with errors where there are groups; the mean over runs."""
    return units_in(np.mean([run.errors for run in runs], axis=0), units)


def _of_errors(runs: Sequence[ScodSamples], units: Units) -> list[Note]:
    """Notes on few errors in distribution; which errors there are is of no account where they cost nothing."""
    first = runs[0]
    if first.error_cost == 0.0:
        return []
    wrong = _errors_in(runs, units)
    if wrong == 0:
        return [Note("none", f"no errors among the {SAMPLES[1]}")]
    if wrong < FEW:
        what = "error" if f"{wrong:.3g}" == "1" else "errors"
        return [Note("few", f"only {wrong:.3g} {what} among the {SAMPLES[1]}: a rough interval", {"count": wrong})]
    return []
