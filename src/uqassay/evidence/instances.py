"""Which instances are worth looking at: the most epistemic, the most wrong, the most disputed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.scoring import ModelScores

__all__ = ["extreme_instances"]


def extreme_instances(models: Sequence[ModelScores], k: int) -> dict[str, NDArray[np.int64]]:
    """Rows of the k most extreme instances of each kind, the most extreme first; see `Assay.extreme_instances`."""
    d = np.stack([m.columns["distance"].mean(axis=0) for m in models])
    ns = np.stack([m.columns["nonspecificity"].mean(axis=0) for m in models])
    # infinite distances stay greatest, and their mean and spread stay numbers
    d = np.where(np.isinf(d), np.finfo(np.float64).max / (2 * len(d)), d)
    picks = {"most epistemic": ns.max(axis=0), "most wrong": d.mean(axis=0), "most disputed": np.ptp(d, axis=0)}
    if len(d) == 1:
        del picks["most disputed"]
    return {name: np.argsort(-value, kind="stable")[:k] for name, value in picks.items()}
