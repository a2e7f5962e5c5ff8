"""Tests of one distribution per instance by several measures, on the same draws of labels, with p-values below 1 / (D + 1)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from uqassay.calibration.monte_carlo import (
    ENOUGH,
    LabelDraws,
    draws_before_stop,
    monte_carlo_pvalue,
    smallest_pvalue,
)
from uqassay.calibration.shared_members import IN_GROUPS
from uqassay.calibration.sign_null import sign_test
from uqassay.evidence.calibration_cost import choose_instances, point_draws
from uqassay.metrics.calibration.group_signs import Groupwise
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.metrics.calibration.measures import CalibrationMeasure
from uqassay.notes import Note

__all__ = ["PARTS", "PART_DRAWS", "PointTest", "fine_tests", "given_tests", "grouped_test", "parts_of", "point_tests"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Seed = tuple[int, ...]

PARTS = 3  # of the instances, where no draw of all of them reaches the statistic
PART_DRAWS = 299
MANY_GROUPS = 60  # from here on parts of the groups are tested apart
SIGN_DRAWS, PART_SIGNS, MORE_SIGNS = (
    499,
    99,
    2999,
)  # of signs of groups: of all, of a part, and where there are few groups
ONE_GROUP = Note("no-test", "1 group: no p-value")
CHUNK_BYTES = 32 * 2**20  # of labels drawn at a time, at most
CACHE_BYTES = 2**20  # of labels, which random numbers, bins and sums share the cache with
FEWEST_DRAWS, MOST_DRAWS = 8, 48  # at a time; after them a test may stop


class PointTest(NamedTuple):
    """A statistic, its p-value, the null draws (D,), and how many parts of the instances the p-value combines (or 0).

    The kind of the null is "single" for drawn labels and "signs" for random signs of groups.
    """

    statistic: float
    pvalue: float
    null: Floats
    n_parts: int = 0
    null_kind: str = "single"
    notes: tuple[Note, ...] = ()


def fine_tests(
    labels: Rows, probs: Floats, measures: Sequence[CalibrationMeasure], groups: NDArray[Any] | None, seed: int
) -> list[PointTest]:
    """Test one distribution per instance by each measure, with groups by their signs, and with p-values below 1 / (D + 1).

    A measure that is no function of sums over groups takes the labels as independent, and a note says so.
    """
    by_signs = _by_signs(probs, measures, groups)
    drawn = [measure for measure, signed in zip(measures, by_signs, strict=True) if not signed]
    found = iter(
        point_tests(
            labels,
            probs,
            drawn,
            point_draws(len(labels)),
            seed=(seed, 23),
            stop=True,
            parts=parts_of(len(labels), groups, seed),
        )
        if drawn
        else ()
    )
    alone = () if groups is None else (IN_GROUPS,)
    return [
        grouped_test(labels, probs, measure, groups, seed)
        if signed and groups is not None
        else next(found)._replace(notes=alone)
        for measure, signed in zip(measures, by_signs, strict=True)
    ]


def given_tests(
    labels: Rows,
    probs: Floats,
    measures: Sequence[CalibrationMeasure],
    groups: NDArray[Any] | None,
    n_draws: int,
    seed: int,
) -> list[PointTest]:
    """As `fine_tests`, with exactly D draws of labels, or of signs of the groups."""
    by_signs = _by_signs(probs, measures, groups)
    found = point_tests(
        labels,
        probs,
        [measure for measure, signed in zip(measures, by_signs, strict=True) if not signed],
        n_draws,
        seed=(seed, 23),
    )
    if groups is None:
        return found
    rest = iter(found)
    return [
        _signs(labels, probs, measure, groups, n_draws, (seed, 26, 0))
        if signed
        else next(rest)._replace(notes=(IN_GROUPS,))
        for measure, signed in zip(measures, by_signs, strict=True)
    ]


def _by_signs(probs: Floats, measures: Sequence[CalibrationMeasure], groups: NDArray[Any] | None) -> list[bool]:
    """Which measures are tested by signs of the groups."""
    if groups is None:
        return [False] * len(measures)
    by_class = classes_apart(probs)
    return [isinstance(measure.prepare(by_class), Groupwise) for measure in measures]


def _signs(
    labels: Rows, probs: Floats, measure: CalibrationMeasure, groups: NDArray[Any], n_draws: int, seed: Seed
) -> PointTest:
    """One test by random signs of the groups."""
    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    found = sign_test(labels, probs, measure, codes, n_draws, np.random.default_rng(list(seed)))
    notes = (ONE_GROUP,) if not codes.any() else ()
    return PointTest(found.statistic, found.pvalue, found.null, null_kind="signs", notes=notes)


def grouped_test(
    labels: Rows, probs: Floats, measure: CalibrationMeasure, groups: NDArray[Any], seed: int
) -> PointTest:
    """Test one distribution per instance by random signs of the groups.

    Where the p-value is as small as the draws allow, parts of many groups are tested apart and combined by Fisher's method; few
    groups get more draws.
    """

    def test(rows: Rows, n_draws: int, part: int) -> PointTest:
        return _signs(labels[rows], probs[rows], measure, groups[rows], n_draws, (seed, 26, part))

    n, n_groups = len(labels), len(np.unique(groups))
    first = test(np.arange(n), SIGN_DRAWS, 0)
    if not first.pvalue <= smallest_pvalue(SIGN_DRAWS, measure.sides) * (1 + 1e-12):
        return first
    if n_groups < MANY_GROUPS:
        more = test(np.arange(n), MORE_SIGNS, 0)
        return more if more.pvalue < first.pvalue else first
    pvalues = [test(rows, PART_SIGNS, 1 + i).pvalue for i, rows in enumerate(parts_of(n, groups, seed))]
    combined = _fisher(np.log(pvalues).sum(), len(pvalues))
    return first._replace(pvalue=combined, n_parts=len(pvalues)) if combined < first.pvalue else first


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
        Clifford); of a measure with two sides, on both. The last of them is left out, so that (1 + reached) / (1 + draws) is
        their p-value too.
    parts : sequence of int array
        Disjoint rows. Where no draw reaches the statistic, these parts are tested apart, and their p-values are combined by
        Fisher's method.

    Notes
    -----
    The smaller of the smallest p-value of D draws and the combined one keeps every level exactly: from the smallest p-value of
    D draws on it rejects with these draws alone; below, only where the combined p-value would.

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    """
    found = _monte_carlo(labels, probs, measures, n_draws, np.random.default_rng(list(seed)), stop=stop)
    floors = [smallest_pvalue(n_draws, measure.sides) * (1 + 1e-12) for measure in measures]
    at_floor = [j for j, test in enumerate(found) if len(parts) and test.pvalue <= floors[j]]
    if at_floor:
        finer = _combined_parts(labels, probs, [measures[j] for j in at_floor], parts, seed=seed)
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


def _combined_parts(
    labels: Rows, probs: Floats, measures: Sequence[CalibrationMeasure], parts: Sequence[Rows], *, seed: Seed
) -> list[float]:
    """p-values of separate tests of disjoint parts, combined by Fisher's method; nan where one is undefined."""
    logs = np.zeros(len(measures))
    for i, rows in enumerate(parts):
        generator = np.random.default_rng([*seed, 1 + i])
        part = np.take(probs.T, rows, axis=1).T  # class after class in memory, as the measures need it
        tests = _monte_carlo(labels[rows], part, measures, PART_DRAWS, generator, stop=True)
        logs += np.log([test.pvalue for test in tests])
    return [_fisher(total, len(parts)) for total in logs.tolist()]


def _fisher(log_sum: float, n: int) -> float:
    """Fisher's p-value of n independent ones, from the sum of their logarithms: chi-squared with 2n degrees of freedom."""
    return float(gammaincc(n, -log_sum))


def _monte_carlo(
    labels: Rows,
    probs: Floats,
    measures: Sequence[CalibrationMeasure],
    n_draws: int,
    generator: np.random.Generator,
    *,
    stop: bool,
) -> list[PointTest]:
    by_class = classes_apart(probs)
    with np.errstate(all="ignore"):  # 0/0 in some measures, and infinity if an event of probability 0 happens
        prepared = [measure.prepare(by_class) for measure in measures]
        statistics = [float(one.values(labels)) for one in prepared]
        nulls = [np.empty(n_draws) for _ in measures]
        going, enough = set(range(len(measures))), int(ENOUGH * (n_draws + 1)) if stop else n_draws + 1
        draws, made = LabelDraws(probs), 0
        most, fits = (max(1, size // (8 * len(labels))) for size in (CHUNK_BYTES, CACHE_BYTES))
        step = min(most, max(FEWEST_DRAWS, fits), MOST_DRAWS)
        while going and made < n_draws:
            size = min(step, n_draws - made)
            drawn = draws.draw(size, generator)
            for j in sorted(going):
                nulls[j][made : made + size] = prepared[j].values(drawn)
                at = draws_before_stop(statistics[j], nulls[j][: made + size], enough, measures[j].sides)
                if at is not None:
                    nulls[j] = nulls[j][:at]
                    going.discard(j)
            made += size
    return [
        PointTest(t, monte_carlo_pvalue(t, null, measure.sides), null)
        for t, null, measure in zip(statistics, nulls, measures, strict=True)
    ]
