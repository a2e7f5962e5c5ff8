"""Shared steps of the Monte-Carlo tests of calibration: labels drawn from probabilities, p-values, thresholds."""

import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import CACHE_BYTES, row_chunks
from uqassay._kernels import kernel
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import Sides
from uqassay.statistics.samples import is_number

__all__ = [
    "CALIBRATED",
    "ENOUGH",
    "LabelDraws",
    "check_alpha",
    "draws_before_stop",
    "labels_from",
    "least_reaching",
    "monte_carlo_pvalue",
    "null_threshold",
    "smallest_pvalue",
    "steps_reached",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

CALIBRATED = {
    "confidence": "confidence calibrated",
    "classwise": "classwise calibrated",
    "strong": "calibrated in the strong sense",
}
FEW_CLASSES = 48  # up to here counting the steps of the distribution function is faster than a binary search
STRETCH = 8192  # instances
ENOUGH = 0.1  # share of the draws that reach the statistic after which a sequential test makes no more
ROUNDING = 1e-9  # relative; closer values count as ties, because equal mixtures may be summed in different orders


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
    if not (is_number(alpha) and 0.0 < alpha < 1.0):
        raise InputError(
            "alpha", "must lie strictly between 0 and 1", f"got {alpha!r}", "pass 0.05 for 5 %", code="range"
        )
    smallest = share / (n_draws + 1) + offset
    if smallest > alpha + 1e-12:
        facts: dict[str, float] = {"n_draws": n_draws, "smallest": smallest, "offset": offset}
        if alpha <= offset:
            remedy = f"choose alpha above {offset:g}, the share of the confidence set"
        else:
            facts["needed"] = math.ceil(share / (alpha - offset) - 1e-9) - 1
            remedy = f"pass n_draws={facts['needed']} or more"
        raise InputError(
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
