"""Imprecision of the members' hull on another device: the formulas of `hartley` for whole blocks of members."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._namespaces import compute_dtype
from uqassay.credal.moebius import MAX_ENUMERATED_CLASSES
from uqassay.predictions import DeviceProbs

__all__ = ["estimated_imprecision", "imprecision_of_all_events", "imprecision_on_device"]

Array = NDArray[np.float64]
BLOCK = 8  # members whose events are enumerated together: few launches, and little memory


def imprecision_on_device(
    prediction: DeviceProbs,
    weights: Array,
    event_weights: Callable[[Array], tuple[Array, Array]],
    orders: Sequence[NDArray[np.int64]],
) -> tuple[Any, Any, list[int]]:
    """Values and standard errors ``(n,)``; if they are estimated, the sum of each order in units of 2^-52, else none."""
    none = prediction.zeros(len(prediction))
    if prediction.is_point:
        return none, none, []
    if prediction.n_classes <= MAX_ENUMERATED_CLASSES:
        return imprecision_of_all_events(prediction, *event_weights(weights)), none, []
    return estimated_imprecision(prediction, weights, orders)


def imprecision_of_all_events(prediction: DeviceProbs, below: Array, above: Array) -> Any:
    """Σ over the half lattice of below · (P − L) + above · (U − P), ``(n,)``; the reference P is member 0."""
    weights = [prediction.given(side)[:, None] for side in (below, above)]
    numbers = len(below) * (2 * min(BLOCK, prediction.n_members) + 6)

    def work(part: DeviceProbs) -> tuple[Any]:
        xp = part.xp
        sums = _event_sums(part, 0)  # (2^(K−1), members of the block, n)
        reference, lower, upper = sums[:, 0, :], xp.min(sums, axis=1), xp.max(sums, axis=1)
        for start in range(BLOCK, part.n_members, BLOCK):
            sums = _event_sums(part, start)
            lower = xp.minimum(lower, xp.min(sums, axis=1))
            upper = xp.maximum(upper, xp.max(sums, axis=1))
        return (xp.sum((reference - lower) * weights[0] + (upper - reference) * weights[1], axis=0),)

    return prediction.by_chunks(work, numbers)[0]


def _event_sums(part: DeviceProbs, start: int) -> Any:
    """Probability of every event without the last class for a block of members; each class doubles the table."""
    xp = part.xp
    stop = min(start + BLOCK, part.n_members)
    block = xp.astype(part.probs[:, start:stop, :], compute_dtype(part.probs), copy=False)
    by_class = xp.permute_dims(block, (2, 1, 0))  # (K, members, n)
    sums = part.zeros(1, by_class.shape[1], len(part))
    for c in range(part.n_classes - 1):
        sums = xp.concat([sums, sums + by_class[c : c + 1, :, :]], axis=0)
    return sums


def estimated_imprecision(
    prediction: DeviceProbs, weights: Array, orders: Sequence[NDArray[np.int64]]
) -> tuple[Any, Any, list[int]]:
    """Mean over the orders and its standard error, ``(n,)``, and the sum of each order in units of 2^-52."""
    draws, xp, n_orders = _draws(prediction, weights, orders), prediction.xp, len(orders)
    mean = xp.mean(draws, axis=1, keepdims=True)
    errors = xp.sqrt(xp.sum((draws - mean) ** 2, axis=1) / (n_orders * (n_orders - 1)))
    totals = xp.sum(draws, axis=0)
    return mean[:, 0], errors, [round(float(totals[i]) * 2.0**52) for i in range(n_orders)]


def _draws(prediction: DeviceProbs, weights: Array, orders: Sequence[NDArray[np.int64]]) -> Any:
    """One unbiased value per instance and order, ``(n, B)``, from the prefixes of each order and of its reverse."""
    below, above = (prediction.given(0.5 * side) for side in (weights, weights[::-1]))
    places = [prediction.whole(order) for order in orders]

    def work(part: DeviceProbs) -> tuple[Any]:
        xp = part.xp
        points = xp.astype(part.probs, compute_dtype(part.probs), copy=False)
        draws = []
        for place in places:
            sums = xp.cumulative_sum(xp.take(points, place, axis=2), axis=2)[:, :, :-1]  # (n, M, K − 1)
            reference = sums[:, 0, :]
            gap = (reference - xp.min(sums, axis=1)) * below + (xp.max(sums, axis=1) - reference) * above
            draws.append(xp.sum(gap, axis=1))
        return (xp.stack(draws, axis=1),)

    return prediction.by_chunks(work, 4 * prediction.n_members * prediction.n_classes)[0]
