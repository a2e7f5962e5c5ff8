"""Null distribution of a calibration measure with groups: the deviations of every group get a random sign (wild bootstrap)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.monte_carlo import ROUNDING, monte_carlo_pvalue, smallest_pvalue, steps_reached
from uqassay.errors import InputError
from uqassay.metrics.calibration.group_signs import Groupwise, Signed, SignedMeasure
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.metrics.calibration.measures import CalibrationMeasure, Sides

__all__ = ["SignTest", "n_patterns", "sign_test"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

CHUNK_BYTES = 2**24
N_SCALE = 64  # signs for the mean and standard deviation of a measure
ENOUGH = 25  # draws that reach the statistic, of which the sequential p-value is known to a fifth


@final
@dataclass(frozen=True, eq=False)
class SignTest:
    """The measure with its draws and p-value.

    Attributes
    ----------
    statistic : float
    null : array (D,)
        The measure for random signs of the groups.
    pvalue : float
        The greater of `sign_pvalue` and `dependent_pvalue`; nan if undefined.
    sign_pvalue : float
        From the signs alone, which take the deviations of groups as symmetric.
    dependent_pvalue : float
        From labels that depend on each other inside groups as much as they can, see `sign_test`.
    """

    statistic: float
    null: Floats
    pvalue: float
    sign_pvalue: float
    dependent_pvalue: float


def sign_test(
    labels: Rows,
    probs: Floats,
    measure: CalibrationMeasure,
    groups: Rows,
    n_draws: int,
    generator: np.random.Generator,
) -> SignTest:
    """Test calibration for labels (n,) that may depend on each other inside groups, and probabilities (n, K).

    Parameters
    ----------
    labels : int array (n,)
    probs : array (n, K)
    measure : CalibrationMeasure
    groups : int array (n,)
        Numbers from 0.
    n_draws : int
        Number of draws of signs. If all other patterns of signs are no more, they are enumerated.
    generator : Generator

    Raises
    ------
    InputError
        A measure that is not a function of sums over groups.

    Notes
    -----
    Signs take the deviations of a group as symmetric. Few groups whose labels go together have skewed ones: of nine groups out
    of ten all labels are as predicted, of the tenth none is. Signs alone then reject too often. The second p-value keeps the
    skewness: labels are drawn from the probabilities with one common random number for all instances of a group, which orders
    the classes from the most probable one on. The measure, minus its mean over random signs and divided by its standard
    deviation over them, is compared with that of the draws. It scarcely depends on how strongly labels really go together.
    Draws stop when 25 of them reach the statistic (Besag, Clifford, 1991, Sequential Monte Carlo p-values).
    """
    prepared = measure.prepare(classes_apart(probs))
    n_groups = int(groups.max()) + 1
    if not isinstance(prepared, Groupwise):
        raise InputError(
            "groups",
            f"cannot be used with {measure.name}, which is not a function of sums over groups",
            f"got {n_groups} groups",
            "choose another measure, such as 'kuiper-confidence'",
            code="missing",
        )
    patterns = n_patterns(n_groups, n_draws, measure.sides)
    size = n_draws if patterns is None else patterns
    with np.errstate(all="ignore"):
        statistic = float(prepared.values(labels))
        if size == 0 or np.isnan(statistic):
            return SignTest(statistic, np.full(size, np.nan), np.nan, np.nan, np.nan)
        if np.isinf(
            statistic
        ):  # a label of probability 0 contradicts the probabilities, however labels depend on each other
            least = smallest_pvalue(size, measure.sides)
            return SignTest(statistic, np.full(size, np.nan), least, least, least)
        signed = prepared.by_groups(groups, n_groups)
        own = signed(labels)
        width = _width(prepared, probs)
        null = np.concatenate([own.values(signs) for signs in _signs(n_groups, n_draws, patterns, width, generator)])
        first = monte_carlo_pvalue(statistic, null, measure.sides)
        few = next(_signs(n_groups, N_SCALE, None, 0, generator))
        second = _dependent_pvalue(own, signed, probs, groups, few, n_draws, measure.sides, generator)
    return SignTest(statistic, null, float(np.maximum(first, second)), first, second)


def _dependent_pvalue(
    own: SignedMeasure,
    signed: Signed,
    probs: Floats,
    groups: Rows,
    signs: Floats,
    n_draws: int,
    sides: Sides,
    generator: np.random.Generator,
) -> float:
    """Sequential p-value of the measure in standard deviations over signs, among draws of labels that go together."""
    aim = _standardised(own, signs)
    order = np.argsort(-probs, axis=1, kind="stable")
    cumulated = np.cumsum(np.take_along_axis(probs, order, axis=1), axis=1)
    cumulated /= cumulated[:, -1:]
    steps, rows = np.ascontiguousarray(cumulated[:, :-1].T), np.arange(len(probs))
    above = below = 0
    for drawn in range(1, n_draws + 1):
        common = generator.random(len(signs[0]))[groups]
        labels = order[rows, steps_reached(steps, common[np.newaxis])[0]]
        value = _standardised(signed(labels), signs)
        margin = ROUNDING * (1 + abs(aim))
        above += not value < aim - margin  # undefined draws count against rejection
        below += not value > aim + margin
        reached = above if sides == "upper" else min(above, below)
        if reached >= ENOUGH:
            return min(1.0, reached / drawn * (1 if sides == "upper" else 2))
    reached = above if sides == "upper" else min(above, below)
    return min(1.0, (1 + reached) / (n_draws + 1) * (1 if sides == "upper" else 2))


def _standardised(measure: SignedMeasure, signs: Floats) -> float:
    """The measure minus its mean over signs, in standard deviations over signs; 0 if no sign changes it."""
    over = measure.values(signs)
    spread = float(over.std())
    value = float(measure.values(np.ones((1, signs.shape[1])))[0]) - float(over.mean())
    return value / spread if spread > ROUNDING * float(np.abs(over).max()) else 0.0


def n_patterns(n_groups: int, n_draws: int, sides: Sides) -> int | None:
    """Number of patterns of signs other than the observed one, if they are to be enumerated; None if they are drawn.

    A measure with a direction changes if all signs change, so it has 2^G patterns; the others have half as many.
    """
    exponent = n_groups if sides == "both" else n_groups - 1
    return 2**exponent - 1 if exponent < 40 and 2**exponent - 1 <= n_draws else None


def _signs(
    n_groups: int, n_draws: int, patterns: int | None, width: int, generator: np.random.Generator
) -> Iterator[Floats]:
    """Signs (d, G) in chunks of draws."""
    step = max(1, CHUNK_BYTES // (8 * (n_groups + width)))
    total = n_draws if patterns is None else patterns
    for start in range(0, total, step):
        size = min(step, total - start)
        if patterns is None:
            yield 2.0 * generator.integers(0, 2, (size, n_groups), dtype=np.int8).astype(np.float64) - 1.0
        else:  # pattern j has the binary digits of j; 0, the observed one, is left out
            numbers = np.arange(start + 1, start + size + 1)[:, np.newaxis]
            yield 1.0 - 2.0 * (numbers >> np.arange(n_groups) & 1).astype(np.float64)


def _width(prepared: Groupwise, probs: Floats) -> int:
    """About how many numbers one draw needs."""
    bins = getattr(prepared, "bins", None)
    return probs.size if bins is None else int(bins.expected.size)
