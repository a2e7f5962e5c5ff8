"""Refinement of the best mixtures of a search: gradient steps, steps with momentum, exchanges of weight between two members."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from uqassay.calibration.mixture_populations import onto_simplex
from uqassay.calibration.row_numbers import RowNumbers

__all__ = ["refined", "step_lengths"]

Floats = NDArray[np.float64]

PROBE = 1e-6  # step of the difference quotients
FINER = 1 / 16  # smallest step of a round of refinement, relative to the round before


def refined(
    values_of: Callable[[Floats], Floats],
    weights: Floats,
    values: Floats,
    moved: Floats,
    lengths: Floats,
    numbers: RowNumbers,
) -> tuple[Floats, Floats, Floats]:
    """One round of refinement for weights (T, S, M) with values (T, S).

    `values_of` gives values (T, S, P) of mixtures (T, S, P, M), `moved` is the last step of each mixture, `lengths`
    (T, S, 2 n, 1) are those of the exchanges and of the gradient steps.
    """
    m, n_steps = weights.shape[-1], lengths.shape[2] // 2
    here = weights[:, :, np.newaxis]
    exchanged = _exchanges(weights, lengths[:, :, :n_steps], numbers)
    probes = here + PROBE * (np.eye(m) - here)
    found = values_of(np.concatenate([probes, exchanged], axis=2))
    direction = _downhill(found[..., :m], values)[:, :, np.newaxis]
    momentum = 1.5 * numbers.random((*weights.shape[:2], n_steps, 1))
    momentum[:, :, ::2] = 0.0  # half of the gradient steps have no momentum
    down = onto_simplex(here + lengths[:, :, n_steps:] * direction + momentum * moved[:, :, np.newaxis])
    tried = np.concatenate([exchanged, down], axis=2)
    found = np.concatenate([found[..., m:], values_of(down)], axis=2)
    best = found.argmin(axis=-1)[..., np.newaxis]
    least = np.take_along_axis(found, best, axis=-1)[..., 0]
    there = np.take_along_axis(tried, best[..., np.newaxis], axis=2)[:, :, 0]
    better = (least < values)[..., np.newaxis]
    return np.where(better, there, weights), np.minimum(values, least), np.where(better, there - weights, moved / 2)


def step_lengths(r: int | NDArray[np.intp], random: Floats) -> Floats:
    """Step lengths of round r at uniform random numbers, log-uniform between FINER^(r + 1) and FINER^(r / 2)."""
    return FINER ** (r / 2 + (r / 2 + 1) * random)


def _downhill(probed: Floats, values: Floats) -> Floats:
    """Unit direction of steepest descent from difference quotients towards each member, (T, S, M), or 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = (probed - values[..., np.newaxis]) / PROBE
        slopes -= slopes.mean(axis=-1, keepdims=True)
        direction = -slopes / np.maximum(np.linalg.norm(slopes, axis=-1, keepdims=True), 1e-300)
    return np.nan_to_num(direction, nan=0.0, posinf=0.0, neginf=0.0)


def _exchanges(weights: Floats, amounts: Floats, numbers: RowNumbers) -> Floats:
    """Random exchanges of weight between two members, (T, S, M) -> (T, S, n, M).

    In every second exchange, the member that receives has positive weight already, if there is one: zeros then stay zero.
    """
    n = amounts.shape[2]
    here = np.repeat(weights[:, :, np.newaxis], n, axis=2)
    held = here > 0
    first, second = numbers.random((2, *here.shape), axis=1)
    giver = (first * held).argmax(axis=-1)[..., np.newaxis]
    second[:, :, ::2] += held[:, :, ::2]
    np.put_along_axis(second, giver, -1.0, axis=-1)
    taker = second.argmax(axis=-1)[..., np.newaxis]
    has = np.take_along_axis(here, giver, axis=-1)
    amounts = np.minimum(amounts, has)
    np.put_along_axis(here, giver, has - amounts, axis=-1)
    np.put_along_axis(here, taker, np.take_along_axis(here, taker, axis=-1) + amounts, axis=-1)
    return here
