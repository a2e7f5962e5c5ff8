"""Expected cost of class sets as decisions, for a matrix of costs and a price for each further class."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.sets.class_set_scores import labels_and_sets
from uqassay.predictions import PredictionLike, as_prediction
from uqassay.predictions.class_order import values_of_classes
from uqassay.predictions.swapped import refuse_swapped
from uqassay.statistics.estimate import Estimate, mean_estimate
from uqassay.statistics.samples import check_choice, is_number

__all__ = ["set_decision_cost"]

RESOLVED = ("mean", "best", "worst")


@in_one_order("prediction", "y_true", "groups")
def set_decision_cost(
    y_true: ArrayLike,
    prediction: PredictionLike | ArrayLike,
    *,
    costs: ArrayLike | None = None,
    resolved: str = "mean",
    price: float = 0.0,
    rule: str = "maximality",
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean cost of acting on class sets, with an interval; lower is better.

    Parameters
    ----------
    y_true, prediction, rule, groups, level
        As in `class_set_scores`.
    costs : array (K, K), optional
        ``costs[y, a]`` of deciding class a where y is true; by default 0 for the true class and 1 for another.
        Rows and columns of a DataFrame are named by the classes.
    resolved : {"mean", "best", "worst"}
        How one class of the set is decided: by chance, by someone who always finds the cheapest one (a person who looks at the
        set), or by the worst luck.
    price : float
        Cost of each class in the set beyond the first, such as the time of that person.

    Returns
    -------
    Estimate
        Of an empty set all classes are open, at the price of K − 1 further ones.

    Raises
    ------
    InputError
        Costs of another shape or not finite, a price that is no number ≥ 0, or an argument that `class_set_scores` refuses.

    Examples
    --------
    >>> import numpy as np
    >>> sets = np.array([[1, 0, 0], [1, 1, 0]], dtype=bool)
    >>> [float(set_decision_cost([0, 1], sets, resolved=r, price=0.125)) for r in ("best", "mean", "worst")]
    [0.0625, 0.3125, 0.5625]
    """
    check_choice(resolved, "resolved", RESOLVED)
    if not (is_number(price) and 0 <= price < np.inf):
        raise InputError("price", "must be a number of at least 0", f"got {price!r}", "give a cost", code="range")
    refuse_swapped(y_true, prediction)
    given = as_prediction(prediction)
    y, sets, units = labels_and_sets(y_true, given, rule, groups)
    matrix = _checked(costs, given.class_names, sets.shape[1])
    # costs (n, K) of each decision, averaged over the label distribution where there is one
    by_decision = matrix[y] if y.ndim == 1 else y @ matrix
    open_sets = sets | ~sets.any(axis=1, keepdims=True)
    size = open_sets.sum(axis=1)
    if resolved == "mean":
        cost = np.where(open_sets, by_decision, 0.0).sum(axis=1) / size
    elif resolved == "worst":
        cost = np.where(open_sets, by_decision, -np.inf).max(axis=1)
    elif y.ndim == 1:
        cost = np.where(open_sets, by_decision, np.inf).min(axis=1)
    else:  # the person finds out which class is true
        cheapest = np.stack(
            [np.where(open_sets, row, np.inf).min(axis=1) for row in matrix], axis=1
        )  # (n, K) by true class
        cost = (y * cheapest).sum(axis=1)
    return mean_estimate(cost + price * (size - 1), groups=units, level=level)


def _checked(costs: ArrayLike | None, class_names: Sequence[str] | None, k: int) -> NDArray[np.float64]:
    if costs is None:
        return 1.0 - np.eye(k)
    matrix = values_of_classes(costs, class_names, k, "costs").astype(np.float64)
    rule = f"must be finite, one row for each true class and one column for each decision, ({k}, {k})"
    remedy = "give the cost of each pair of true class and decision"
    if matrix.shape != (k, k):
        raise InputError("costs", rule, f"got shape {matrix.shape}", remedy, code="shape")
    if not np.isfinite(matrix).all():
        raise InputError("costs", rule, "got values that are not finite", remedy, code="finite")
    return matrix
