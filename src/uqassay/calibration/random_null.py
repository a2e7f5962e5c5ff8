"""Null distribution of a measure at mixtures that are calibrated by construction: labels are drawn from them."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.calibration.mixtures import Mixtures
from uqassay.calibration.monte_carlo import LabelDraws
from uqassay.metrics.calibration.inputs import classes_apart
from uqassay.metrics.calibration.measures import CalibrationMeasure

__all__ = ["Instances", "known_mixture_null", "random_mixture_null"]

Floats = NDArray[np.float64]
Instances = Literal["kept", "resampled", "permuted"]

CHUNK_BYTES = 8 * 2**20


def known_mixture_null(
    probs: Floats, measure: CalibrationMeasure, n_draws: int, generator: np.random.Generator
) -> Floats:
    """The measure of probabilities (n, K) for D draws of labels from them, (D,)."""
    n, n_classes = probs.shape
    prepared = measure.prepare(classes_apart(probs))
    null, draws = np.empty(n_draws), LabelDraws(probs)
    for part in _parts(n_draws, 40.0 * n + 80.0 * n_classes):
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
    """The measure at each of D mixtures (D, M), with labels drawn from it, (D,): paper 001, algorithm 1, lines 2 to 5.

    `instances` are kept as they are, resampled with replacement (line 2 as printed), or permuted (the authors' code).
    """
    n, n_classes = mixtures.n_instances, mixtures.n_classes
    null = np.empty(len(truths))
    seed = generator.integers(2**63)  # apart: chunks then change no draw
    of_instances = None if instances == "kept" else np.random.default_rng(seed)
    per_draw = (measure.bytes_per_entry + 24.0) * n * n_classes
    for part in _parts(len(truths), per_draw):
        by_class = np.swapaxes(mixtures.probs(truths[part]), -1, -2)  # (d, K, n)
        if of_instances is not None:
            rows = _chosen_instances(len(by_class), n, instances, of_instances)
            by_class = np.take_along_axis(by_class, rows[:, np.newaxis, :], axis=-1)
        labels = _labels_from(by_class, generator.random((len(by_class), n)))
        null[part] = measure.values(np.swapaxes(by_class, -1, -2), labels)
    return null


def _labels_from(by_class: Floats, uniform: Floats) -> NDArray[np.intp]:
    """Labels (D, n) of distributions (D, K, n), by inversion at random numbers (D, n)."""
    compiled = kernel("inverted_labels")
    if compiled is not None:
        return np.asarray(compiled(np.ascontiguousarray(by_class), uniform), dtype=np.intp)
    cumulated = np.cumsum(by_class, axis=-2)
    aim = uniform * cumulated[:, -1]
    return (cumulated[:, :-1] <= aim[:, np.newaxis]).sum(axis=-2)


def _chosen_instances(n_draws: int, n: int, instances: Instances, generator: np.random.Generator) -> NDArray[np.intp]:
    if instances == "resampled":
        return generator.integers(0, n, (n_draws, n))
    return generator.permuted(np.broadcast_to(np.arange(n), (n_draws, n)), axis=1)


def _parts(n: int, bytes_each: float) -> Iterator[slice]:
    step = max(1, int(CHUNK_BYTES / bytes_each))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
