"""Mean, lower and upper probabilities that runs keep once they are found, because several parts of an assay ask for them."""

from collections.abc import Mapping

from uqassay.evidence.scoring import PART_BYTES
from uqassay.predictions import Masses, Point, Prediction
from uqassay.predictions.drawn import Drawn

__all__ = ["able_to_hold", "holding"]

PROBS_HELD_BYTES = 256 * 2**20  # of all models and runs together


def able_to_hold(models: Mapping[str, tuple[Prediction, ...]]) -> dict[str, tuple[Prediction, ...]]:
    """Models whose runs keep their probabilities when they are found, where those of all fit into `PROBS_HELD_BYTES`.

    Where they do not fit, each pass through the instances keeps those of its chunk.
    """
    size = sum(3 * 8 * run.n_instances * run.n_classes for runs in models.values() for run in runs)
    if size > PROBS_HELD_BYTES:
        return dict(models)
    return {name: tuple(_able(run) for run in runs) for name, runs in models.items()}


def _able(run: Prediction) -> Prediction:
    """Masses that are no probabilities may still have to be repaired."""
    return run if isinstance(run, Masses) and run.signed else run.remembering()


def holding(run: Prediction) -> Prediction:
    """The same run; if it is able to keep its probabilities, they are found now, chunk by chunk.

    Lower and upper probabilities of draws are found where the draws are held, see `scoring.with_draws_held`. Those of
    points are the mean.
    """
    if not run.remembers:
        return run
    names = ("mean_probs",) if isinstance(run, (Drawn, Point)) else ("mean_probs", "lower_probs", "upper_probs")
    return run.remembering(*names, chunk_bytes=PART_BYTES)
