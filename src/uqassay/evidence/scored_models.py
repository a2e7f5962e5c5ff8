"""Everything of an assay that passes through all instances of one model: its scores, the scale check, the classwise error."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._workers import Workers
from uqassay.evidence.classwise_error import classwise_errors
from uqassay.evidence.held_probs import holding
from uqassay.evidence.scaled_sets import ScaledScores, additions, scale_models
from uqassay.evidence.scoring import ModelScores, Settings, points_of_sets, score_model
from uqassay.predictions import Masses, Prediction, held_elsewhere

__all__ = ["ScoredModel", "score_models", "valid_runs"]

Array = NDArray[np.float64]

ADDITIONS = 2e8  # of lattices of sets in a second
PASSES = 12  # over all probabilities, for losses and uncertainty scores
PASSED = 1e8  # probabilities in a second
LARGEST_SENT = 2**27  # bytes of a model that are copied to another process


class ScoredModel(NamedTuple):
    """Scores, those of scaled sets (None for points), and the classwise error of all runs together and of each."""

    scores: ModelScores
    scaled: ScaledScores | None
    classwise_error: tuple[float, ...]


def score_models(
    models: Mapping[str, tuple[Prediction, ...]],
    y: NDArray[Any],
    settings: Settings,
    *,
    given: Mapping[str, Mapping[str, Array]],
    scales: Sequence[float],
    groups: NDArray[Any] | None,
    workers: Workers,
    progress: Callable[[str], None] | None = None,
) -> list[ScoredModel]:
    """Score every model; the workers share the models, and their number does not change a result.

    `given` holds further uncertainty scores by model and name, ``(R, n)`` each.
    """
    calls = [(name, runs, y, settings, given.get(name), tuple(scales), groups) for name, runs in models.items()]
    seconds = sum(_estimated_seconds(run, bool(scales)) for runs in models.values() for run in runs)
    elsewhere = any(held_elsewhere(run) is not None for runs in models.values() for run in runs)
    if elsewhere or any(sum(_bytes(run) for run in runs) > LARGEST_SENT for runs in models.values()):
        seconds = 0.0  # the threads of this process share the chunks of such a model, or the device computes
    return workers.share(_scored, calls, seconds=seconds, progress=progress)


def valid_runs(runs: Sequence[Prediction], convention: str) -> tuple[Prediction, ...]:
    """Runs whose masses are those that the convention scores."""
    return tuple(run.repaired() if convention == "paper" and isinstance(run, Masses) else run for run in runs)


def _scored(
    name: str,
    runs: tuple[Prediction, ...],
    y: NDArray[Any],
    settings: Settings,
    given: Mapping[str, Array] | None,
    scales: Sequence[float],
    groups: NDArray[Any] | None,
    *,
    progress: Callable[[str], None],
) -> ScoredModel:
    runs = tuple(holding(run) for run in runs)
    scores = score_model(name, runs, y, settings, given=given, progress=progress)
    scaled = scale_models([scores], {name: runs}, y, settings, scales, groups=groups, progress=progress)
    return ScoredModel(scores, scaled.get(name), classwise_errors(valid_runs(runs, settings.convention), y))


def _bytes(run: Prediction) -> int:
    return sum(getattr(run, name).nbytes for name in run.array_names())


def _estimated_seconds(run: Prediction, with_scales: bool) -> float:
    """Rough time of one run, to decide whether the models are shared among processes."""
    n, points = run.n_instances, points_of_sets(run) or 3
    passes = PASSES * n * points * run.n_classes / PASSED
    if points_of_sets(run) == 1:
        return passes
    lattices = n * additions(run.n_classes, points) / ADDITIONS
    return passes + lattices * (2 if with_scales else 1)
