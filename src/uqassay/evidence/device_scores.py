"""Scores of an assay that are computed on the device that a prediction was copied from; only the scores move to the host."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array
from uqassay._array_support import SUPPORT
from uqassay.losses.errors import is_correct, probability_gap
from uqassay.losses.proper_scores import brier_loss, log_loss
from uqassay.losses.unified import unified_terms
from uqassay.measures.hartley import Nonspecificity
from uqassay.measures.scores import score_columns
from uqassay.predictions import Prediction, held_elsewhere
from uqassay.predictions.device_labels import labels_on_device

__all__ = ["columns_on_device", "terms_on_device"]

Array = NDArray[np.float64]


def terms_on_device(
    y: NDArray[Any], run: Prediction, *, floor: float | None, rng: int, tolerance: float | None, **options: Any
) -> tuple[tuple[Array, Array, int], Nonspecificity] | None:
    """Both terms of E as `unified_terms` gives them; None for a prediction or options that the host computes."""
    probs = held_elsewhere(run)
    native = SUPPORT["losses.unified_loss"].computes_natively(options, one_label_each=y.ndim == 1)
    if probs is None or not native or tolerance is not None:
        return None
    there: Any = probs
    (d, gap, floored), ns = unified_terms(labels_on_device(y, probs), there, floor=floor, rng=rng, **options)
    moved = replace(ns, values=_on_host(ns.values), standard_error=_on_host(ns.standard_error))
    return (_on_host(d), _on_host(gap), floored), moved


def columns_on_device(y: NDArray[Any], run: Prediction, measures: Sequence[str], floor: float) -> dict[str, Array]:
    """Losses and those measures that are computed on the device, ``(n,)`` each; empty for a prediction of the host."""
    probs = held_elsewhere(run)
    if probs is None:
        return {}
    there: Any = probs
    xp, labels = probs.xp, labels_on_device(y, probs)
    found = {
        "correct": is_correct(labels, there),
        "confidence": xp.minimum(xp.max(probs.label_probs(), axis=1), 1.0),
        "label": probs.labels(),
        "log-loss": log_loss(labels, there, floor=floor),
        "brier": brier_loss(labels, there),
        "gap": probability_gap(labels, there),
    }
    if y.ndim == 1:
        found["upper-label"] = probs.upper_of_label(labels)
    native = SUPPORT["measures.uncertainty_score"].only["name"]
    found |= score_columns(there, [measure for measure in measures if measure in native])
    return {name: _on_host(values) for name, values in found.items()}


def _on_host(values: Any) -> Array:
    return np.asarray(as_array(values, "scores"), dtype=np.float64)
