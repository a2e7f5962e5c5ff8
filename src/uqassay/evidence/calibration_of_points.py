"""Tests of one distribution per instance by several measures, on the same draws of labels, with p-values below 1 / (D + 1)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from uqassay.calibration.monte_carlo import ROUNDING, labels_from, monte_carlo_pvalue
from uqassay.evidence.calibration_cost import choose_instances
from uqassay.metrics.calibration.measures import CalibrationMeasure

__all__ = ["PARTS", "PART_DRAWS", "PointTest", "combined_parts", "parts_of", "point_tests"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Seed = tuple[int, ...]

PARTS = 3  # of the instances, where no draw of all of them reaches the statistic
PART_DRAWS = 299
ENOUGH = 0.1  # share of the draws that reach the statistic after which no more are made
CHUNK_BYTES = 32 * 2**20


class PointTest(NamedTuple):
    """A statistic, its p-value, the null draws (D,), and how many parts of the instances the p-value combines (or 0)."""

    statistic: float
    pvalue: float
    null: Floats
    n_parts: int = 0


def point_tests(
    labels: Rows,
    probs: Floats,
    measures: Sequence[CalibrationMeasure],
    n_draws: int,
    *,
    seed: Seed,
    stop: bool = False,
    parts: Sequence[Rows] = (),
) -> list[PointTest]:
    """Test one distribution per instance by each measure.

    Parameters
    ----------
    labels : int array (n,)
    probs : array (n, K)
    measures : sequence of CalibrationMeasure
    n_draws : int
        Draws of labels D, the same for all measures.
    seed : tuple of int
        Seed of the draws.
    stop : bool
        Whether draws end once a tenth of D has reached the statistic, counted in the order in which they are made (Besag and
        Clifford). The last of them is left out, so that (1 + reached) / (1 + draws) is their p-value too.
    parts : sequence of int array
        Disjoint rows. Where no draw reaches the statistic, these parts are tested apart, and their p-values are combined by
        Fisher's method.

    Notes
    -----
    The smaller of 1 / (D + 1) and the combined p-value keeps every level exactly: from 1 / (D + 1) on it rejects with the
    first draws alone; below, only where the combined p-value would.

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    """
    found = _monte_carlo(labels, probs, measures, n_draws, np.random.default_rng(list(seed)), stop=stop)
    floor = 1 / (n_draws + 1)
    at_floor = [j for j, test in enumerate(found) if len(parts) and test.pvalue <= floor * (1 + 1e-12)]
    if at_floor:
        finer = combined_parts(labels, probs, [measures[j] for j in at_floor], parts, seed=seed)
        for j, pvalue in zip(at_floor, finer, strict=True):
            if pvalue < found[j].pvalue:
                found[j] = found[j]._replace(pvalue=pvalue, n_parts=len(parts))
    return found


def parts_of(n: int, groups: NDArray[Any] | None, seed: int) -> list[Rows]:
    """Three parts of n instances at random, groups kept whole; none where there are too few groups."""
    units = n if groups is None else len(np.unique(groups))
    if units < PARTS:
        return []
    left, found = np.arange(n), []
    for still in range(PARTS, 1, -1):
        chosen = choose_instances(len(left), len(left) // still, None if groups is None else groups[left], seed)
        if len(chosen) in (0, len(left)):
            return []
        found.append(left[chosen])
        left = np.delete(left, chosen)
    return [*found, left]


def combined_parts(
    labels: Rows, probs: Floats, measures: Sequence[CalibrationMeasure], parts: Sequence[Rows], *, seed: Seed
) -> list[float]:
    """p-values of separate tests of disjoint parts, combined by Fisher's method; nan where one is undefined."""
    logs = np.zeros(len(measures))
    for i, rows in enumerate(parts):
        generator = np.random.default_rng([*seed, 1 + i])
        tests = _monte_carlo(labels[rows], probs[rows], measures, PART_DRAWS, generator, stop=True)
        logs += np.log([test.pvalue for test in tests])
    return [float(p) for p in chi2.sf(-2 * logs, 2 * len(parts))]


def _monte_carlo(
    labels: Rows,
    probs: Floats,
    measures: Sequence[CalibrationMeasure],
    n_draws: int,
    generator: np.random.Generator,
    *,
    stop: bool,
) -> list[PointTest]:
    by_class = np.ascontiguousarray(probs.T).T
    with np.errstate(all="ignore"):  # 0/0 in some measures, and infinity if an event of probability 0 happens
        prepared = [measure.prepare(by_class) for measure in measures]
        statistics = [float(one.values(labels)) for one in prepared]
        nulls = [np.empty(0) for _ in measures]
        going, enough = set(range(len(measures))), int(ENOUGH * (n_draws + 1)) if stop else n_draws + 1
        step, made = max(1, int(CHUNK_BYTES / (8.0 * len(labels)))), 0
        while going and made < n_draws:
            size = min(step, n_draws - made, 50)
            drawn = labels_from(probs, size, generator)
            made += size
            for j in sorted(going):
                nulls[j] = np.append(nulls[j], prepared[j].values(drawn))
                at = _stopped(statistics[j], nulls[j], enough)
                if at is not None:
                    nulls[j] = nulls[j][:at]
                    going.discard(j)
    return [PointTest(t, monte_carlo_pvalue(t, null), null) for t, null in zip(statistics, nulls, strict=True)]


def _stopped(statistic: float, null: Floats, enough: int) -> int | None:
    """Number of draws before the one with which enough have reached the statistic; None if there is none yet."""
    margin = ROUNDING * abs(statistic) + 1e-15 if np.isfinite(statistic) else 0.0
    reached = np.flatnonzero(null >= statistic - margin)
    return int(reached[enough - 1]) if len(reached) >= enough else None
