"""Labels for predictions on another device: checked where they lie, or moved there from the host."""

from typing import Any

import numpy as np

from uqassay._array import as_labels
from uqassay._namespaces import compute_dtype, device_of, is_foreign, lies_on_host, namespace
from uqassay.errors import InputError
from uqassay.predictions.device_probs import DeviceProbs, first_true
from uqassay.predictions.labels import labels_for

__all__ = ["labels_on_device"]


def labels_on_device(y_true: Any, prediction: DeviceProbs, name: str = "y_true") -> Any:
    """Labels ``(n,)`` or label distributions ``(n, K)`` on the device of the prediction.

    Raises
    ------
    InputError
        As for `labels_for`; labels on another device than the prediction.
    """
    n, n_classes = prediction.n_instances, prediction.n_classes
    sizes = {
        "n_instances": n,
        "n_classes": n_classes,
        "n_members": None if prediction.is_point else prediction.n_members,
    }
    if not is_foreign(y_true) or lies_on_host(y_true):
        y = labels_for(y_true, name=name, **sizes)  # type: ignore[arg-type]
        return prediction.whole(y) if y.ndim == 1 else prediction.given(y)
    here, there = (device_of(values) for values in (y_true, prediction.probs))
    if namespace(y_true) is not prediction.xp or here != there:
        raise InputError(
            name,
            f"must be on the host or on the device of the predictions, {there}",
            f"got {type(y_true).__name__} on {here}",
            "move the labels there",
            code="mismatch",
        )
    if tuple(y_true.shape) not in ((n,), (n, n_classes)):
        kind = np.float64 if namespace(y_true).isdtype(y_true.dtype, "real floating") else np.int64
        labels_for(np.zeros(tuple(y_true.shape), dtype=kind), name=name, **sizes)  # type: ignore[arg-type]
    return _indices(y_true, prediction, name) if y_true.ndim == 1 else _distributions(y_true, prediction, name)


def _indices(y_true: Any, prediction: DeviceProbs, name: str) -> Any:
    xp, dtype = prediction.xp, prediction.whole([0]).dtype
    if xp.isdtype(y_true.dtype, "real floating"):
        valid = (y_true == xp.round(y_true)) & (y_true >= 0) & (y_true < prediction.n_classes)
    else:
        y_true = xp.astype(y_true, dtype)
        valid = (y_true >= 0) & (y_true < prediction.n_classes)
    row = first_true(xp, ~valid)
    if row is not None:
        as_labels([float(y_true[i]) for i in range(y_true.shape[0])], prediction.n_classes, name=name)
    return xp.astype(y_true, dtype)


def _distributions(y_true: Any, prediction: DeviceProbs, name: str) -> Any:
    xp = prediction.xp
    counts = xp.astype(y_true, compute_dtype(prediction.probs))
    with np.errstate(over="ignore"):
        totals = xp.sum(counts, axis=1, keepdims=True)
    valid = xp.all(xp.isfinite(counts) & (counts >= 0), axis=1) & (totals[:, 0] > 0)
    row = first_true(xp, ~valid)
    if row is not None:
        shares = np.array([[float(counts[row, k]) for k in range(prediction.n_classes)]])
        as_labels(shares, prediction.n_classes, name=name, first_row=row)
    counts = xp.where(xp.isinf(totals), counts / xp.max(counts, axis=1, keepdims=True), counts)
    return counts / xp.sum(counts, axis=1, keepdims=True)
