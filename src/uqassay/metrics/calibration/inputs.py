"""Validation of labels and probabilities for calibration measures, for one data set or a batch of them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_array, as_numeric, check_class_count, check_rows, tolerance_of
from uqassay.errors import InputError
from uqassay.metrics.calibration.edges import HALF, SINGLE, significant_bits
from uqassay.predictions import Members, Prediction, PredictionLike, as_prediction
from uqassay.predictions.class_sets import refuse_class_sets
from uqassay.predictions.labels import labels_for
from uqassay.predictions.pandas_input import take_table
from uqassay.predictions.swapped import refuse_swapped
from uqassay.statistics.samples import scaled_weights

__all__ = ["as_probs", "classes_apart", "instance_weights", "labels_and_probs"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


def labels_and_probs(
    y_true: ArrayLike, probs: PredictionLike, *, batched: bool | None = None, apart: bool = True
) -> tuple[Labels, Floats]:
    """Validated labels (n,) and probabilities (n, K), for members their mean.

    Parameters
    ----------
    y_true : array (n,)
        Labels 0 … K − 1, or names of the classes where the prediction has them.
    probs : Prediction, mapping, or array (n, K) or (n, M, K)
    batched : bool, optional
        True: labels (..., n) and an array (..., n, K), whose leading axes are data sets and broadcast. None: the function has
        no such option.
    apart : bool
        As in `as_probs`.

    Raises
    ------
    InputError
        Input that `as_prediction` refuses, no instances, labels that do not fit.
    """
    if batched:
        p = as_probs(probs, batched=True, apart=apart)
        labels = _labels(as_numeric(y_true, "y_true"), *p.shape[-2:])
        try:
            np.broadcast_shapes(p.shape[:-2], labels.shape[:-1])
        except ValueError as problem:
            raise InputError(
                "y_true",
                "must have leading axes that broadcast with those of probs",
                f"got shapes {labels.shape} and {p.shape}",
                "add an axis of length 1 where values repeat",
                code="shape",
            ) from problem
        return labels, p
    refuse_swapped(y_true, probs, other="probs")
    prediction = as_prediction(probs, "probs")
    n, n_classes = prediction.n_instances, prediction.n_classes
    shape = as_array(y_true, "y_true").shape
    if len(shape) != 1:
        raise InputError(
            "y_true",
            f"must be one class for each instance, shape ({n},)",
            f"got shape {shape}",
            "pass class indices" + ("" if batched is None else "; pass batched=True if leading axes are data sets"),
            code="shape",
        )
    labels = labels_for(
        y_true,
        n_instances=n,
        n_classes=n_classes,
        ids=prediction.ids,
        class_names=prediction.class_names,
        class_order=prediction.class_order,
    )
    return labels.astype(np.intp, copy=False), as_probs(prediction, apart=apart)


def _mean_probs(probs: PredictionLike) -> Floats:
    prediction = as_prediction(probs, "probs")
    refuse_class_sets(prediction, "probs")
    mean = prediction.mean_probs()
    # The mean of float32 members is a float32 number, as that of one member is: else rounding decides on which side of an
    # edge it lies. Members in half precision have exact means in float64, which rounding would move by up to 1e-3.
    if isinstance(prediction, Members) and HALF[-1] < significant_bits(prediction.probs) <= SINGLE:
        return mean.astype(np.float32)
    return mean


def as_probs(probs: PredictionLike, *, batched: bool = False, apart: bool = True) -> Floats:
    """Probabilities (n, K), for members their mean, in memory as `classes_apart`, or as they come if not `apart`.

    Row sums may differ from 1 within the tolerance of the dtype; rounding below 0 or above 1 is clipped. With `batched` an
    array (..., n, K) is a batch of data sets.
    """
    is_batch = batched and not isinstance(probs, Prediction)
    given = _batch(probs) if is_batch else _mean_probs(probs)
    if given.size == 0:
        raise InputError(
            "probs", "must hold at least one instance", f"got shape {given.shape}", "check the selection", code="shape"
        )
    if not apart:
        given = given.astype(np.float64, copy=False)
        return given if given.min() >= 0.0 and given.max() <= 1.0 else np.clip(given, 0.0, 1.0)
    by_class = np.clip(np.swapaxes(given, -1, -2), 0.0, 1.0, dtype=np.float64, order="C")
    return np.swapaxes(by_class, -1, -2)


def classes_apart(probs: Floats) -> Floats:
    """Probabilities (..., n, K) with the instances of one class next to each other in memory.

    Measures sort and sum the instances of each class: neighbours in memory are faster, and sums do not depend on the layout of
    what was passed. Arrays that lie so already are not copied.
    """
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(probs, -1, -2)), -1, -2)


def _batch(probs: ArrayLike) -> NDArray[Any]:
    """Checked probabilities of a batch of data sets, (..., n, K)."""
    given = as_numeric(take_table(probs, "probs")[0], "probs")
    if given.ndim < 2:
        raise InputError(
            "probs",
            "must have shape (..., n, K)",
            f"got shape {given.shape}",
            "pass one row per instance",
            code="shape",
        )
    check_class_count(given.shape[-1], "probs")
    if given.size:
        check_rows(
            given,
            "probs",
            tolerance=tolerance_of(probs),
            remedy="apply softmax to logits; divide rounded probabilities by their sum",
        )
    return given


def instance_weights(sample_weight: ArrayLike | None, n: int) -> Floats | None:
    """Weights divided by the greatest one, (n,), the same for every data set of a batch."""
    return None if sample_weight is None else scaled_weights(sample_weight, n)


def _labels(labels: NDArray[Any], n: int, n_classes: int) -> Labels:
    if labels.ndim == 0 or labels.shape[-1] != n:
        raise InputError(
            "y_true",
            f"must have one label for each of the {n} instances in its last axis",
            f"got shape {labels.shape}",
            "check that labels and probabilities come from the same split in the same order",
            code="mismatch",
        )
    if labels.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            broken = ~(labels == np.floor(labels)) | np.isinf(labels)
        if broken.any():
            at = tuple(np.argwhere(broken)[0].tolist())
            raise InputError(
                "y_true",
                "must be whole numbers",
                f"{_row(at)} holds {float(labels[at]):g}",
                "pass class indices (0, 1, …); for soft labels, one draw from each",
                code="type",
            )
    outside = (labels < 0) | (labels >= n_classes)
    if outside.any():
        at = tuple(np.argwhere(outside)[0].tolist())
        raise InputError(
            "y_true",
            f"must lie in 0 … {n_classes - 1}",
            f"{_row(at)} holds {labels[at]:g}",
            "recode the labels so that they index the columns of probs",
            code="range",
        )
    return labels.astype(np.intp, copy=False)


def _row(at: tuple[int, ...]) -> str:
    return f"row {at[0]}" if len(at) == 1 else f"index {at}"
