"""Numbers and curves over the runs of a study: mean, standard deviation and interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay.arrays import Floats
from uqassay.notes import Note
from uqassay.statistics import Estimate
from uqassay.statistics.components import mean_over_runs

__all__ = ["OVER_RUNS", "Curve", "OverRuns", "curve_over_runs", "estimate_over_runs"]


OVER_RUNS = "student-t over runs"


@final
@dataclass(frozen=True, eq=False)
class OverRuns:
    """One number of each of R runs, and its mean."""

    #: Mean with Student's t interval over the runs; for one run, the estimate with the interval over its instances.
    #: `method` says which.
    estimate: Estimate
    per_run: tuple[Estimate, ...]  #: With their intervals over the instances.

    def __float__(self) -> float:
        return float(self.estimate)

    @property
    def values(self) -> Floats:
        """One for each run, ``(R,)``."""
        return np.array([float(one) for one in self.per_run])

    @property
    def sd(self) -> float:
        """Standard deviation over the runs (R − 1 in the denominator); nan for one run."""
        return float(self.values.std(ddof=1)) if len(self.per_run) > 1 else float("nan")


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """One curve of M points for each of R runs, and its mean; nan where a run has no value."""

    per_run: Floats  #: (R, M)
    #: mean, sd: (M,): Over the runs that have a value; sd is nan for one.
    mean: Floats
    sd: Floats
    #: low, high: (M,): Student's t interval over the runs at each point; for one run, the interval over its instances
    #: if there is one.
    low: Floats
    high: Floats


def estimate_over_runs(
    per_run: Sequence[Estimate],
    *,
    level: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> OverRuns:
    """The mean of an estimate over the runs, with Student's t interval; one run keeps its own interval.

    Parameters
    ----------
    per_run : sequence of R Estimate
    level : float
    bounds : tuple of float, optional
        Range of the quantity; the interval over the runs is cut to it, and a note says so.

    Examples
    --------
    >>> runs = [Estimate(v, low=v, high=v, level=0.95, n=9, method="exact") for v in (0.1, 0.2, 0.3)]
    >>> found = estimate_over_runs(runs)
    >>> found.estimate, round(found.sd, 3)
    (Estimate(0.2, low=-0.04841, high=0.4484, level=0.95, n=3, method='student-t over runs'), 0.1)
    >>> estimate_over_runs(runs[:1]).estimate.method
    'exact over instances, 1 run'
    """
    runs = tuple(per_run)
    if len(runs) == 1:
        one = runs[0]
        return OverRuns(_relabelled(one, f"{one.method} over instances, 1 run"), runs)
    found = mean_over_runs([float(one) for one in runs], level=level, bounds=bounds)
    why = [note for one in runs for note in one.notes if note.code == "undefined"] if np.isnan(found) else []
    return OverRuns(_relabelled(found, OVER_RUNS, why), runs)


def curve_over_runs(
    per_run: Sequence[Floats],
    *,
    level: float = 0.95,
    ends: tuple[Floats, Floats] | None = None,
) -> Curve:
    """Mean, standard deviation and interval at each point of R curves of equal length.

    Parameters
    ----------
    per_run : sequence of R arrays (M,)
        nan where a run has no value.
    level : float
    ends : tuple of two arrays (M,), optional
        Interval over the instances, for one run.

    Examples
    --------
    >>> found = curve_over_runs([[0.0, 1.0], [0.2, float("nan")]])
    >>> found.mean, found.sd.round(3), found.low.round(3)
    (array([0.1, 1. ]), array([0.141,   nan]), array([-1.171,    nan]))
    """
    values = np.asarray(per_run, dtype=np.float64)  # (R, M)
    there = ~np.isnan(values)
    r = there.sum(axis=0)
    mean = _divided(np.where(there, values, 0.0).sum(axis=0), r)
    squares = np.where(there, (values - mean) ** 2, 0.0).sum(axis=0)
    sd = np.sqrt(_divided(squares, r - 1))
    reach = np.full(r.shape, np.nan)
    many = r > 1
    reach[many] = special.stdtrit(r[many] - 1, 0.5 + level / 2) * sd[many] / np.sqrt(r[many])
    low, high = mean - reach, mean + reach
    if len(values) == 1 and ends is not None:
        low, high = (np.asarray(end, dtype=np.float64) for end in ends)
    return Curve(values, mean, sd, low, high)


# -- helpers ------------------------------------------------------------------------------------------------------------


def _relabelled(one: Estimate, method: str, more: Sequence[Note] = ()) -> Estimate:
    notes = (*more, *one.notes)
    return Estimate(float(one), low=one.low, high=one.high, level=one.level, n=one.n, method=method, notes=notes)


def _divided(sums: Floats, counts: NDArray[np.int64]) -> Floats:
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
