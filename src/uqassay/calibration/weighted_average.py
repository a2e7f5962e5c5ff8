"""Effect of calibrated weights on held-out instances, compared with the plain average of the members."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats, RandomState, as_numeric
from uqassay.arrays import generator as as_generator
from uqassay.calibration.credal import CredalCalibrationTest, Null, credal_calibration_test
from uqassay.calibration.mixtures import groups_of, hard_labels, member_array
from uqassay.calibration.weights import Parts, two_parts
from uqassay.checks import fail, whole
from uqassay.ids import in_one_order
from uqassay.metrics.measures import CalibrationMeasure, calibration_measure
from uqassay.notes import Note
from uqassay.statistics import Estimate, PairedComparison, bootstrap_weights, paired_mean_test, proportion_estimate
from uqassay.statistics.estimate import single_unit, unit_notes
from uqassay.statistics.units import Units, check_level, make_units
from uqassay.text import counted

__all__ = ["WeightedAverageEffect", "weighted_average_effect"]

Rows = NDArray[np.intp]

NO_WEIGHTS = (Note("undefined", "the measure is undefined on the calibration part: no weights"),)


@final
@dataclass(frozen=True, eq=False)
class WeightedAverageEffect:
    """One row of Table 1 of the paper on credal calibration, with intervals."""

    test: CredalCalibrationTest  #: test on the calibration part of whether some combination is calibrated
    weights: Floats  #: (M,): weights with the least calibration error there
    #: accuracy on the held-out part, of the plain and of the weighted average of the members
    accuracy: Estimate
    accuracy_weighted: Estimate
    accuracy_difference: PairedComparison  #: weighted minus plain
    #: the calibration measure on the held-out part
    error: Estimate
    error_weighted: Estimate
    error_difference: Estimate  #: weighted minus plain; negative if the weights improve calibration
    measure: str
    #: int arrays: Row numbers of the two parts
    calibration_rows: Rows
    held_out_rows: Rows


@in_one_order("members", "y_true", "groups")
def weighted_average_effect(
    y_true: ArrayLike,
    members: Any,
    *,
    measure: str | CalibrationMeasure = "ece-confidence",
    null: Null = "minimised",
    fraction: float = 0.5,
    calibration_rows: Sequence[int] | NDArray[Any] | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    n_draws: int = 400,
    null_draws: int = 99,
    rng: RandomState = None,
) -> WeightedAverageEffect:
    """Fit weights on one part of the instances and measure their effect on accuracy and calibration on the other part.

    Parameters
    ----------
    y_true : array_like of int, shape (n,)
    members : Members, or array (n, M, K)
    measure : str or CalibrationMeasure
        Measure of the test, of the weights and of the effect.
    null : {"minimised", "random", "berger-boos"}
        Null of the test, see `credal_calibration_test`.
    fraction : float
        Share of the instances on which the weights are fitted. The parts are drawn at random, with equal shares of every
        predicted class; the labels are not used.
    calibration_rows : int or bool array, optional
        The instances on which the weights are fitted, in place of a random part.
    groups : array_like of labels, shape (n,), optional
        Each group stays in one part, and groups are resampled; by default the groups of the members.
    level : float
    n_draws : int
        Bootstrap draws, at least 2.
    null_draws : int
        Draws of the null distribution of the test.
    rng : int or numpy Generator, optional
        Used for the parts, the test and the bootstrap; None means seed 0.

    Notes
    -----
    Credal calibration, Table 1. Accuracies have Wilson intervals, their difference a Student interval. Calibration errors
    have the interval value ± t · bootstrap standard error over instances (or groups), clipped to the range of the measure.
    Percentiles of the bootstrap draws would cover as little as 0 %, because resampling adds noise to a binned error.

    The intervals are for the expected error on a held-out part of this size. On n instances the binned error of a calibrated
    classifier is above 0, so the expected difference is smaller than with infinitely many instances. A debiased measure
    avoids most of this bias. 95 % intervals of the difference cover 92 to 100 of 100
    (tests/calibration/test_weighted_average.py).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(1)
    >>> truth = generator.dirichlet(np.ones(3), 600)
    >>> members = np.stack([truth, 0.2 * truth + 0.8 / 3], axis=1)
    >>> labels = (generator.random((600, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    >>> effect = weighted_average_effect(labels, members)
    >>> bool(effect.weights[0] > 0.8), bool(effect.error_difference.high < 0), effect.test.reject(0.05)
    (True, True, False)
    """
    check_level(level)
    whole(n_draws, "n_draws", "pass 400, say", least=2)
    whole(null_draws, "null_draws", "pass 99, say", least=1)
    chosen = calibration_measure(measure)
    probs = member_array(members)
    labels = hard_labels(y_true, len(probs), probs.shape[2], members=members)
    units = groups_of(members, groups)
    generator = as_generator(rng)
    plain = probs.mean(axis=1)
    if calibration_rows is None:
        parts = two_parts(plain.argmax(axis=1), fraction, units, generator)
    else:
        parts = _given_parts(calibration_rows, len(probs), units)
    first, rest = parts
    test = credal_calibration_test(
        labels[first], probs[first], measure=chosen, null=null, n_draws=null_draws, rng=generator
    )
    both = np.stack([plain[rest], test.weights @ probs[rest]])  # (2, n, K)
    y = labels[rest]
    held_groups = None if units is None else np.asarray(units)[rest]
    hits = (both.argmax(axis=2) == y).astype(np.float64)
    error, error_weighted, error_difference = _errors(both, y, chosen, held_groups, level, n_draws, generator)
    accuracy_weighted = proportion_estimate(hits[1], groups=held_groups, level=level)
    accuracy_difference = paired_mean_test(hits[1], hits[0], groups=held_groups, level=level)
    if np.isnan(test.weights).any():  # the argmax above was then taken over nan
        accuracy_weighted = _undefined(accuracy_weighted)
        accuracy_difference = replace(
            accuracy_difference,
            difference=_undefined(accuracy_difference.difference),
            statistic=np.nan,
            pvalue=np.nan,
            notes=NO_WEIGHTS,
        )
    return WeightedAverageEffect(
        test=test,
        weights=test.weights,
        accuracy=proportion_estimate(hits[0], groups=held_groups, level=level),
        accuracy_weighted=accuracy_weighted,
        accuracy_difference=accuracy_difference,
        error=error,
        error_weighted=error_weighted,
        error_difference=error_difference,
        measure=chosen.name,
        calibration_rows=first,
        held_out_rows=rest,
    )


def _given_parts(rows: Sequence[int] | NDArray[Any], n: int, groups: ArrayLike | None) -> Parts:
    """The given part and the rest."""
    array = as_numeric(rows, "calibration_rows")
    rule, remedy = f"must be row numbers in 0 … {n - 1} or {n} booleans", "leave it out to draw the parts at random"
    inside = np.zeros(n, dtype=bool)
    if array.dtype == bool and array.shape == (n,):
        inside = array
    elif array.ndim == 1 and array.dtype.kind in "iu" and array.size:
        outside = np.flatnonzero((array < 0) | (array >= n))
        if outside.size:
            fail("calibration_rows", rule, f"entry {outside[0]} is {array[outside[0]]}", remedy, code="range")
        inside[array] = True
    else:
        got = f"got dtype {array.dtype} and shape {array.shape}"
        fail("calibration_rows", rule, got, remedy, code="shape")
    if inside.all() or not inside.any():
        got = f"got {int(inside.sum())} of {n}"
        fail(
            "calibration_rows", "must leave instances for both parts", got, "pass about half of the rows", code="empty"
        )
    codes = make_units(n, groups, None).codes
    if codes is not None:
        shared = np.intersect1d(codes[inside], codes[~inside])
        if shared.size:
            row = int(np.flatnonzero((codes == shared[0]) & inside)[0])
            fail(
                "calibration_rows",
                "must not divide a group between the parts",
                f"got {counted(shared.size, 'group')} in both, such as that of row {row}",
                "put whole groups into one part",
                code="conflict",
            )
    return Parts(np.flatnonzero(inside), np.flatnonzero(~inside))


def _errors(
    both: Floats,
    labels: Rows,
    measure: CalibrationMeasure,
    groups: ArrayLike | None,
    level: float,
    n_draws: int,
    generator: np.random.Generator,
) -> list[Estimate]:
    """Measure of each of two classifiers (2, n, K), and the difference, second minus first."""
    n = len(labels)
    by_class = np.ascontiguousarray(both.transpose(0, 2, 1))  # (2, K, n): classes before instances, see Mixtures
    units = make_units(n, groups, None)
    draws = np.empty((n_draws, 3))
    with np.errstate(all="ignore"):  # 0/0 in some measures, and infinity if an event of probability 0 happens
        found = _with_difference(by_class, labels, measure)
        for d, counts in enumerate(bootstrap_weights(n, groups=groups, n_draws=n_draws, rng=generator)):
            rows = np.repeat(np.arange(n), counts.astype(np.intp))
            draws[d] = _with_difference(by_class[:, :, rows], labels[rows], measure)
    low, high = measure.bounds
    bounds = (low, high), (low, high), (low - high, high - low)
    return [_estimate(*part, units, level, n) for part in zip(found.tolist(), draws.T, bounds, strict=True)]


def _estimate(value: float, draws: Floats, bounds: tuple[float, float], units: Units, level: float, n: int) -> Estimate:
    """A value with the interval from its bootstrap draws, clipped to the bounds of the measure."""
    notes: list[Note] = []
    low = high = np.nan
    if np.isinf(value):
        why = "the measure is infinite, for example because a label had probability 0: no interval"
        notes.append(Note("infinite", why))
    elif np.isnan(value):
        notes.append(Note("undefined", "the measure is undefined or infinite: no interval"))
    elif units.n_units == 1:
        notes.append(single_unit(units))
    elif not np.isfinite(draws).all():
        share = f"{int((~np.isfinite(draws)).sum())} of {len(draws)} resamples"
        notes.append(Note("no-interval", f"the measure is infinite or undefined in {share}: no interval"))
    else:
        notes += unit_notes(units)
        # √(u / (u − 1)) corrects the bootstrap over u units, whose variance is too small by (u − 1) / u.
        spread = float(draws.std(ddof=1)) * (units.n_units / (units.n_units - 1)) ** 0.5
        reach = spread * float(special.stdtrit(units.n_units - 1, 0.5 + level / 2))
        low, high = min(value, max(value - reach, bounds[0])), max(value, min(value + reach, bounds[1]))
    return Estimate(value, low=low, high=high, level=level, n=n, method="bootstrap standard error", notes=notes)


def _undefined(estimate: Estimate) -> Estimate:
    return Estimate(
        np.nan, low=np.nan, high=np.nan, level=estimate.level, n=estimate.n, method=estimate.method, notes=NO_WEIGHTS
    )


def _with_difference(by_class: Floats, labels: Rows, measure: CalibrationMeasure) -> Floats:
    first, second = measure.prepare(np.swapaxes(by_class, 1, 2)).values(labels)
    return np.array([first, second, second - first])
