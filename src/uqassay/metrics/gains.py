"""Gain from more data: the loss of a model minus the loss of the same learner with more data, instance by instance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr, xlogy

from uqassay._array import as_array, as_labels, check_rows, tolerance_of
from uqassay._frames import positions
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.losses.label_distance import FLOORS
from uqassay.losses.proper_scores import brier_loss, log_loss
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.predictions.class_order import classes_in_order
from uqassay.predictions.labels import CLASS_ORDERS, class_indices, labels_for
from uqassay.predictions.pandas_input import take_table
from uqassay.statistics.samples import check_choice

__all__ = ["GAIN_LOSSES", "GainLoss", "TrueUncertainty", "gain", "true_uncertainty"]

Floats = NDArray[np.float64]
GainLoss = Literal["zero-one", "log", "brier"]
ANY_CLASS = int(np.iinfo(np.int64).max)  # number of classes where predicted labels alone are given
GAIN_LOSSES: tuple[GainLoss, ...] = ("zero-one", "log", "brier")


@final
@dataclass(frozen=True, eq=False)
class TrueUncertainty:
    """Uncertainty of a prediction where the label probabilities P(y|x) are known.

    Attributes
    ----------
    total : array (n,)
        U: expected loss of the prediction. Equals aleatoric + epistemic.
    aleatoric : array (n,)
        A: least expected loss of any prediction.
    epistemic : array (n,)
        EU: the difference, which more data can remove. Never negative.
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats


@in_one_order("before", "y_true", "after")
def gain(
    y_true: ArrayLike,
    before: PredictionLike,
    after: PredictionLike,
    *,
    loss: GainLoss = "zero-one",
) -> Floats:
    """Loss of the model minus loss of the model with more data, (n,). Positive if more data helped.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, or label distributions and vote counts, which give the expected gain.
    before, after : Prediction, array (n, K) or (n, M, K), or int array (n,)
        Predictions without and with more data. Predicted labels (n,) are enough for the zero-one loss.
    loss : {"zero-one", "log", "brier"}
        "zero-one": 1[after = y] − 1[before = y], which is −1, 0 or 1. "log": in nats. "brier": the sum of squares, from
        −2 to 2. Log loss and Brier loss are those of the mean prediction.

    Returns
    -------
    gain : array (n,)

    Raises
    ------
    InputError
        Labels or predictions that are invalid or do not fit together; predicted labels with another loss.

    Notes
    -----
    Where `after` is the best possible prediction, the expected gain given x is the epistemic uncertainty of
    `true_uncertainty`. Both logarithms have the same least probability: the machine epsilon of the coarser input.

    References
    ----------
    Paper 002, definition 4. Lahlou et al. (2021), DEUP: Direct epistemic uncertainty prediction (other losses).

    Examples
    --------
    >>> gain([0, 1, 1], before=[0, 0, 1], after=[0, 1, 0]).tolist()
    [0.0, 1.0, -1.0]
    >>> gain([1], [[0.5, 0.5]], [[0.2, 0.8]], loss="log").round(4).tolist()
    [0.47]
    """
    without, with_more = losses_of_both(y_true, before, after, loss)
    return without - with_more


@in_one_order("predicted", "label_probs")
def true_uncertainty(
    label_probs: ArrayLike, predicted: PredictionLike, *, loss: GainLoss = "zero-one"
) -> TrueUncertainty:
    """Total, aleatoric and epistemic uncertainty of a prediction under known label probabilities.

    Parameters
    ----------
    label_probs : array (n, K)
        P(y|x). The rows must sum to 1.
    predicted : Prediction, array (n, K) or (n, M, K), or int array (n,)
        Predicted labels (n,) are enough for the zero-one loss.
    loss : {"zero-one", "log", "brier"}
        "zero-one": U = 1 − P(ŷ|x), A = 1 − max P(y|x), EU = max P(y|x) − P(ŷ|x). "log", in nats: cross-entropy, entropy
        and Kullback-Leibler divergence of the mean prediction. "brier": EU = Σ (p̄ − P)² and A = 1 − Σ P².

    Returns
    -------
    TrueUncertainty

    Raises
    ------
    InputError
        As in `gain`; label probabilities that do not sum to 1.

    References
    ----------
    Paper 002, definitions 1 to 3.

    Examples
    --------
    >>> true = true_uncertainty([[0.75, 0.25], [0.75, 0.25]], [0, 1])
    >>> true.total.tolist(), true.aleatoric.tolist(), true.epistemic.tolist()
    ([0.25, 0.75], [0.25, 0.25], [0.0, 0.5])
    """
    check_choice(loss, "loss", GAIN_LOSSES)
    statement = _statement(predicted, "predicted", loss)
    table, names, _ = take_table(label_probs, "label_probs")
    given = as_array(table, "label_probs")
    if given.ndim != 2:
        raise InputError(
            "label_probs", "must have shape (n, K)", f"got shape {given.shape}", "give P(y|x) in rows", code="shape"
        )
    check_rows(given, "label_probs", tolerance=tolerance_of(label_probs))
    true = as_labels(given, given.shape[1], n_instances=_size(statement), name="label_probs")
    if isinstance(statement, np.ndarray):
        labels = _predicted_labels(statement, {"n_classes": true.shape[1], "class_names": names}, "predicted")
    else:
        if statement.n_classes != true.shape[1]:
            raise InputError(
                "predicted",
                f"must have the {true.shape[1]} classes of label_probs",
                f"got {statement.n_classes}",
                "give both with the same columns",
                code="mismatch",
            )
        if names is not None and statement.class_names is not None:
            true = true[:, positions(names, statement.class_names, "label_probs", part="columns", of="predicted")]
        labels = statement.labels()
    if loss == "zero-one":
        greatest = true.max(axis=1)
        aleatoric, epistemic = 1.0 - greatest, greatest - np.take_along_axis(true, labels[:, None], axis=1)[:, 0]
    else:
        p = statement.mean_probs()
        if loss == "log":
            floored = np.maximum(p, FLOORS["exact"])
            aleatoric = -xlogy(true, true).sum(axis=1)
            epistemic = np.maximum(rel_entr(true, floored).sum(axis=1), 0.0)  # a floor can raise Σ p above 1
        else:
            aleatoric, epistemic = 1.0 - (true**2).sum(axis=1), ((p - true) ** 2).sum(axis=1)
    return TrueUncertainty(aleatoric + epistemic, aleatoric, epistemic)


# -- parts ------------------------------------------------------------------------------------------------------------


def losses_of_both(
    y_true: ArrayLike, before: PredictionLike, after: PredictionLike, loss: str
) -> tuple[Floats, Floats]:
    """Losses (n,) of both predictions, checked as in `gain`. For use inside this room."""
    check_choice(loss, "loss", GAIN_LOSSES)
    first, second = _statement(before, "before", loss), _statement(after, "after", loss)
    if _size(first) != _size(second):
        raise InputError(
            "after",
            f"must have one prediction for each of the {_size(first)} of before",
            f"got {_size(second)}",
            "take both for the same instances in the same order",
            code="mismatch",
        )
    columns = [one.n_classes for one in (first, second) if not isinstance(one, np.ndarray)]
    if len(set(columns)) > 1:
        raise InputError(
            "after",
            f"must have the {columns[0]} classes of before",
            f"got {columns[1]}",
            "give both with the same columns",
            code="mismatch",
        )
    if len(columns) == 2:
        second = classes_in_order(second, first.class_names, "after", of="before")
    return _losses(y_true, (first, second), loss)


def _statement(value: Any, name: str, loss: str) -> Any:
    """A prediction, or an array of predicted labels (n,) for the zero-one loss."""
    if value is None or isinstance(value, Mapping) or callable(getattr(value, "upper_probs", None)):
        return as_prediction(value, name)
    array = as_array(value, name)
    if array.ndim != 1:
        return as_prediction(value, name)
    if loss != "zero-one":
        raise InputError(
            name,
            f'must be probabilities for loss="{loss}"',
            f"got predicted labels of shape {array.shape}",
            'give (n, K) probabilities, or take loss="zero-one"',
            code="one-column",
        )
    return array


def _size(statement: Any) -> int:
    return len(statement) if isinstance(statement, np.ndarray) else int(statement.n_instances)


def _losses(y_true: ArrayLike, statements: tuple[Any, Any], loss: str) -> tuple[Floats, Floats]:
    """Losses (n,) of both statements; predicted labels have the classes of the other statement."""
    predictions = [one for one in statements if not isinstance(one, np.ndarray)]
    if loss == "brier":
        first, second = (brier_loss(y_true, one) for one in predictions)
        return first, second
    if loss == "log":
        first, second = (log_loss(y_true, one) for one in predictions)
        return first, second
    known: dict[str, Any] = {"n_classes": ANY_CLASS}
    if predictions:
        known = {name: getattr(predictions[0], name) for name in ("n_classes", "ids", "class_names")}
        orders = [one.class_order for one in predictions]
        known["class_order"] = next((order for order in orders if CLASS_ORDERS[order]), orders[0])
    elif len(shape := np.shape(as_array(y_true, "y_true") if y_true is not None else ())) == 2:
        known = {"n_classes": shape[1]}
    y = labels_for(y_true, n_instances=_size(statements[0]), **known)
    first, second = (
        1.0 - _hits(y, one, name, known) for one, name in zip(statements, ("before", "after"), strict=True)
    )
    return first, second


def _hits(y: NDArray[Any], statement: Any, name: str, known: Mapping[str, Any]) -> Floats:
    """1 if the label is predicted, else 0, (n,); for label distributions the share of the predicted class."""
    labels = _predicted_labels(statement, known, name) if isinstance(statement, np.ndarray) else statement.labels()
    if y.ndim == 2:
        return np.asarray(np.take_along_axis(y, labels[:, None], axis=1)[:, 0])
    return (labels == y).astype(np.float64)


def _predicted_labels(labels: NDArray[Any], known: Mapping[str, Any], name: str) -> NDArray[np.int64]:
    indices = class_indices(labels, known.get("class_names"), name=name, class_order=known.get("class_order", "stated"))
    return as_labels(indices, known["n_classes"], name=name)
