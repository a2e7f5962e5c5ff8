"""Null distributions of calibration tests: labels drawn from predictions or mixtures, random signs of groups, and p-values."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import CACHE_BYTES, Floats, row_chunks
from uqassay.calibration.mixtures import Mixtures
from uqassay.checks import fail, number
from uqassay.metrics.calibration import Groupwise, Signed, SignedMeasure
from uqassay.metrics.measures import CalibrationMeasure, Sides
from uqassay.metrics.reliability_diagrams import classes_apart
from uqassay.native import kernel

__all__ = [
    "ENOUGH",
    "ROUNDING",
    "LabelDraws",
    "SignTest",
    "check_alpha",
    "draws_before_stop",
    "known_mixture_null",
    "labels_from",
    "least_reaching",
    "monte_carlo_pvalue",
    "n_patterns",
    "null_threshold",
    "random_mixture_null",
    "sign_test",
    "smallest_pvalue",
    "steps_reached",
]


Labels = NDArray[np.intp]


# Labels drawn from probabilities, by inversion of the distribution function.

FEW_CLASSES = 48  # up to here counting the steps of the distribution function is faster than a binary search
STRETCH = 8192  # instances


@final
class LabelDraws:
    """Draws of labels from the same probabilities (n, K), by inversion of the distribution function.

    The steps of the distribution functions are computed once if they fit the cache, otherwise in each draw.

    Examples
    --------
    >>> draws = LabelDraws(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> draws.draw(3, np.random.default_rng(0)).tolist()
    [[1, 0], [1, 0], [1, 0]]
    """

    def __init__(self, probs: Floats) -> None:
        self._probs = probs
        self._chunks = list(row_chunks(len(probs), probs[:1].nbytes, chunk_bytes=CACHE_BYTES))
        self._steps = _steps_of(probs) if len(self._chunks) == 1 else None

    def draw(self, n_draws: int, generator: np.random.Generator) -> Labels:
        """D labels for each instance, (D, n)."""
        aims = generator.random((n_draws, len(self._probs)))
        return self._labels(aims, aims.view(np.int64))  # the labels of a chunk take the place of its random numbers

    def at(self, aims: Floats) -> Labels:
        """Labels at random numbers (D, n) in [0, 1)."""
        return self._labels(aims, np.empty(aims.shape, dtype=np.int64))

    def _labels(self, aims: Floats, labels: NDArray[np.int64]) -> Labels:
        n_classes = self._probs.shape[1]
        if self._steps is not None:
            return _labels_at(self._steps, n_classes, 0, aims)
        for rows in self._chunks:
            labels[:, rows] = _labels_at(_steps_of(self._probs[rows]), n_classes, rows.start, aims[:, rows])
        return labels.astype(np.intp, copy=False)


def labels_from(probs: Floats, n_draws: int, generator: np.random.Generator) -> Labels:
    """D labels for each instance, drawn from its probabilities (n, K), as (D, n)."""
    return LabelDraws(probs).draw(n_draws, generator)


def _steps_of(probs: Floats) -> Floats:
    """Distribution functions of (n, K) without their last value: (K − 1, n) of few classes, otherwise (n, K − 1)."""
    cumulated = np.cumsum(probs, axis=1)
    cumulated /= cumulated[:, -1:]
    steps = cumulated[:, :-1]
    return np.ascontiguousarray(steps.T if probs.shape[1] <= FEW_CLASSES else steps)


def _labels_at(steps: Floats, n_classes: int, first: int, aims: Floats) -> Labels:
    """Labels at random numbers (D, n); `first` is the number of the first of these instances."""
    aims = np.ascontiguousarray(aims)
    if n_classes <= FEW_CLASSES:
        return steps_reached(steps, aims)
    found = kernel("found_steps")
    return _found_steps(steps, first, aims) if found is None else np.asarray(found(steps, aims, first), dtype=np.intp)


def steps_reached(steps: Floats, aims: Floats) -> Labels:
    """How many of the steps (S, n) each aim (D, n) reaches, as (D, n).

    Examples
    --------
    >>> steps_reached(np.array([[0.2, 0.5], [0.6, 0.5]]), np.array([[0.1, 0.5], [0.7, 0.4]])).tolist()
    [[0, 2], [2, 0]]
    """
    counted = kernel("counted_steps")
    if counted is not None:
        return np.asarray(counted(steps, aims), dtype=np.intp)
    labels, small = np.empty(aims.shape, dtype=np.intp), np.min_scalar_type(len(steps))
    for aim, draw in zip(aims, labels, strict=True):
        for begin in range(0, len(aim), STRETCH):  # which fits the cache
            part = slice(begin, begin + STRETCH)
            reached = np.zeros(len(aim[part]), dtype=small)
            for step in steps[:, part]:
                reached += (step <= aim[part]).view(np.uint8)
            draw[part] = reached
    return labels


def _found_steps(steps: Floats, first: int, aims: Floats) -> Labels:
    """How many of the steps (n, K − 1) each aim (D, n) reaches, by one binary search.

    Instance i is shifted to [i, i + 1], so that the search over the joined line finds all labels.
    """
    n, n_steps = steps.shape
    start = np.arange(first, first + n, dtype=np.float64)
    line = (steps + start[:, np.newaxis]).ravel()  # ascending
    # i + u can round up to i + 1, which belongs to the next instance: keep the point below it.
    end = np.nextafter(start + 1, 0.0)
    before = np.arange(n) * n_steps
    labels = np.empty(aims.shape, dtype=np.intp)
    for aim, draw in zip(aims, labels, strict=True):  # ascending search points make `searchsorted` fast
        draw[:] = line.searchsorted(np.minimum(start + aim, end), side="right") - before
    return labels


# The measure of one classifier, or of mixtures, that is calibrated by construction: labels are drawn from it.

Instances = Literal["kept", "resampled", "permuted"]
DRAWS_BYTES = 8 * 2**20


def known_mixture_null(
    probs: Floats, measure: CalibrationMeasure, n_draws: int, generator: np.random.Generator
) -> Floats:
    """The measure of probabilities (n, K) for D draws of labels from them, (D,)."""
    n, n_classes = probs.shape
    prepared = measure.prepare(classes_apart(probs))
    null, draws = np.empty(n_draws), LabelDraws(probs)
    for part in row_chunks(n_draws, int(40.0 * n + 80.0 * n_classes), chunk_bytes=DRAWS_BYTES):
        null[part] = prepared.values(draws.draw(part.stop - part.start, generator))
    return null


def random_mixture_null(
    mixtures: Mixtures,
    truths: Floats,
    measure: CalibrationMeasure,
    generator: np.random.Generator,
    *,
    instances: Instances = "kept",
) -> Floats:
    """The measure at each of D mixtures (D, M), with labels drawn from it, (D,): credal calibration, algorithm 1, lines 2 to 5.

    `instances` are kept as they are, resampled with replacement (line 2 as printed), or permuted (the authors' code).
    """
    n, n_classes = mixtures.n_instances, mixtures.n_classes
    null = np.empty(len(truths))
    seed = generator.integers(2**63)  # apart: chunks then change no draw
    of_instances = None if instances == "kept" else np.random.default_rng(seed)
    per_draw = (measure.bytes_per_entry + 24.0) * n * n_classes
    for part in row_chunks(len(truths), int(per_draw), chunk_bytes=DRAWS_BYTES):
        by_class = np.swapaxes(mixtures.probs(truths[part]), -1, -2)  # (d, K, n)
        if of_instances is not None:
            rows = _chosen_instances(len(by_class), n, instances, of_instances)
            by_class = np.take_along_axis(by_class, rows[:, np.newaxis, :], axis=-1)
        labels = _labels_from(by_class, generator.random((len(by_class), n)))
        null[part] = measure.values(np.swapaxes(by_class, -1, -2), labels)
    return null


def _labels_from(by_class: Floats, uniform: Floats) -> Labels:
    """Labels (D, n) of distributions (D, K, n), by inversion at random numbers (D, n)."""
    compiled = kernel("inverted_labels")
    if compiled is not None:
        return np.asarray(compiled(np.ascontiguousarray(by_class), uniform), dtype=np.intp)
    cumulated = np.cumsum(by_class, axis=-2)
    aim = uniform * cumulated[:, -1]
    return (cumulated[:, :-1] <= aim[:, np.newaxis]).sum(axis=-2)


def _chosen_instances(n_draws: int, n: int, instances: Instances, generator: np.random.Generator) -> Labels:
    if instances == "resampled":
        return generator.integers(0, n, (n_draws, n))
    return generator.permuted(np.broadcast_to(np.arange(n), (n_draws, n)), axis=1)


# With groups the deviations of every group get a random sign (wild bootstrap).

CHUNK_BYTES = 2**24
N_SCALE = 64  # signs for the mean and standard deviation of a measure
ENOUGH_SIGNS = 25  # draws that reach the statistic, of which the sequential p-value is known to a fifth


@final
@dataclass(frozen=True, eq=False)
class SignTest:
    """The measure with its draws and p-value."""

    statistic: float
    null: Floats  #: (D,): the measure for random signs of the groups
    pvalue: float  #: the greater of `sign_pvalue` and `dependent_pvalue`; nan if undefined
    sign_pvalue: float  #: from the signs alone, which take the deviations of groups as symmetric
    dependent_pvalue: float  #: from labels that depend on each other inside groups as much as they can, see `sign_test`


def sign_test(
    labels: Labels,
    probs: Floats,
    measure: CalibrationMeasure,
    groups: Labels,
    n_draws: int,
    generator: np.random.Generator,
) -> SignTest:
    """Test calibration for labels (n,) that may depend on each other inside groups, and probabilities (n, K).

    `groups` (n,) are numbers from 0. If all other patterns of signs are no more than `n_draws`, they are enumerated.

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
        rule = f"cannot be used with {measure.name}, which is not a function of sums over groups"
        remedy = "choose another measure, such as 'kuiper-confidence'"
        fail("groups", rule, f"got {n_groups} groups", remedy, code="missing")
    patterns = n_patterns(n_groups, n_draws, measure.sides)
    size = n_draws if patterns is None else patterns
    with np.errstate(all="ignore"):
        statistic = float(prepared.values(labels))
        if size == 0 or np.isnan(statistic):
            return SignTest(statistic, np.full(size, np.nan), np.nan, np.nan, np.nan)
        # a label of probability 0 contradicts the probabilities, however labels depend on each other
        if np.isinf(statistic):
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
    groups: Labels,
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
        if reached >= ENOUGH_SIGNS:
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


# P-values and thresholds from a null distribution.

ENOUGH = 0.1  # share of the draws that reach the statistic after which a sequential test makes no more
ROUNDING = 1e-9  # relative; closer values count as ties, because equal mixtures may be summed in different orders


def monte_carlo_pvalue(statistic: float, null: Floats, sides: Sides = "upper") -> float:
    """(1 + #{null ≥ statistic}) / (D + 1), (D,) -> one number; nan if any value is undefined.

    With two sides it is twice the smaller p-value of the two, at most 1.

    References
    ----------
    Davison, Hinkley (1997), Bootstrap Methods and their Application, equation 4.11.
    """
    if np.isnan(statistic) or np.isnan(null).any():
        return float("nan")
    above = int((null >= least_reaching(statistic)).sum())
    if sides == "upper":
        return (1 + above) / (len(null) + 1)
    below = int((null <= -least_reaching(-statistic)).sum())
    return min(1.0, 2 * (1 + min(above, below)) / (len(null) + 1))


def least_reaching(statistic: float) -> float:
    """The least value that counts as reaching the statistic."""
    return statistic - (ROUNDING * abs(statistic) + 1e-15 if np.isfinite(statistic) else 0.0)


def draws_before_stop(statistic: float, null: Floats, enough: int, sides: Sides = "upper") -> int | None:
    """Number of draws before the one with which enough have reached the statistic, on both sides; None if there is none.

    Without that last one, (1 + reached) / (1 + draws) is the p-value of a sequential test.

    Examples
    --------
    >>> draws_before_stop(0.5, np.array([0.7, 0.1, 0.6, 0.9]), 2), draws_before_stop(0.5, np.array([0.7, 0.1]), 2)
    (2, None)

    References
    ----------
    Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.
    """
    above = null >= least_reaching(statistic)
    if np.count_nonzero(above) < enough:
        return None
    reached = np.cumsum(above)
    if sides == "both":
        reached = np.minimum(reached, np.cumsum(null <= -least_reaching(-statistic)))
    return int(reached.searchsorted(enough)) if reached[-1] >= enough else None


def smallest_pvalue(n_draws: int, sides: Sides = "upper") -> float:
    """The smallest p-value that this many draws can reach; 0 without draws.

    Examples
    --------
    >>> smallest_pvalue(99), smallest_pvalue(99, "both")
    (0.01, 0.02)
    """
    return (1 if sides == "upper" else 2) / (n_draws + 1) if n_draws else 0.0


def check_alpha(alpha: float, n_draws: int, *, offset: float = 0.0, sides: Sides = "upper") -> None:
    """Refuse a level outside (0, 1) or below the smallest p-value that `n_draws` draws can reach."""
    share = 1 if sides == "upper" else 2
    number(alpha, "alpha", "pass 0.05 for 5 %", low=0, high=1, ends="()")
    smallest = share / (n_draws + 1) + offset
    if smallest > alpha + 1e-12:
        facts: dict[str, float] = {"n_draws": n_draws, "smallest": smallest, "offset": offset}
        if alpha <= offset:
            remedy = f"choose alpha above {offset:g}, the share of the confidence set"
        else:
            facts["needed"] = math.ceil(share / (alpha - offset) - 1e-9) - 1
            remedy = f"pass n_draws={facts['needed']} or more"
        fail(
            "alpha",
            f"the smallest p-value that n_draws={n_draws} can reach is {smallest:.4g}",
            f"got {alpha:g}",
            remedy,
            code="needs-draws",
            facts=facts,
        )


def null_threshold(null: Floats, alpha: float, *, offset: float = 0.0) -> float:
    """Critical value of the statistic for p ≤ α: the ⌊(α − offset)(D + 1)⌋-th greatest draw."""
    check_alpha(alpha, len(null), offset=offset)
    rank = math.floor((alpha - offset) * (len(null) + 1) + 1e-9)
    return float(np.sort(null)[len(null) - rank]) if rank <= len(null) else -math.inf
