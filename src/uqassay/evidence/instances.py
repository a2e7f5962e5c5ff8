"""Which instances are worth looking at: the most epistemic, the most wrong, the most disputed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.scoring import ModelScores

__all__ = ["extreme_instances", "extremeness"]

Array = NDArray[np.float64]


def extreme_instances(models: Sequence[ModelScores], k: int) -> dict[str, NDArray[np.int64]]:
    """Rows of the k most extreme instances of each kind, the most extreme first; see `Assay.extreme_instances`."""
    picks = extremeness([m.columns for m in models])
    return {name: np.argsort(-value, kind="stable")[:k] for name, value in picks.items()}


def extremeness(columns: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, Array]:
    """How extreme each instance is in each way, ``(n,)``, from the columns (R, n) of every model; equal ones by row."""
    d = np.stack([c["distance"].mean(axis=0) for c in columns])
    ns = np.stack([c["nonspecificity"].mean(axis=0) for c in columns])
    # infinite distances stay greatest, and their mean and spread stay numbers
    d = np.where(np.isinf(d), np.finfo(np.float64).max / (2 * len(d)), d)
    picks = {"most epistemic": ns.max(axis=0), "most wrong": d.mean(axis=0), "most disputed": np.ptp(d, axis=0)}
    if len(d) == 1:
        del picks["most disputed"]
    return picks
