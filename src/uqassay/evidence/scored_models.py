"""Everything of an assay that passes through all instances of one model: its scores, the scale check, the classwise error."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._array import available_cores
from uqassay._threads import share_on_threads
from uqassay.evidence.classwise_error import classwise_errors
from uqassay.evidence.held_probs import holding
from uqassay.evidence.scaled_sets import ScaledScores, scale_models
from uqassay.evidence.scoring import ModelScores, Settings, score_model
from uqassay.predictions import Masses, Prediction, held_elsewhere

__all__ = ["ScoredModel", "score_models", "valid_runs"]

Array = NDArray[np.float64]

LARGEST_SHARED = 2**27  # bytes of a model; with larger ones, models are scored one after another, to bound memory


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
    progress: Callable[[str], None] | None = None,
) -> list[ScoredModel]:
    """Score every model; threads share the models, and their number does not change a result.

    `given` holds further uncertainty scores by model and name, ``(R, n)`` each.
    """
    calls = [(name, runs, y, settings, given.get(name), tuple(scales), groups) for name, runs in models.items()]
    # the device computes, or the threads share the chunks of a model instead
    elsewhere = any(held_elsewhere(run) is not None for runs in models.values() for run in runs)
    large = any(sum(_bytes(run) for run in runs) > LARGEST_SHARED for runs in models.values())
    threads = 1 if elsewhere or large else available_cores()
    return share_on_threads(_scored, calls, threads=threads, progress=progress)


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
