"""Squared distance of the true label probabilities from a prediction, without bias, from two or more votes per instance.

One vote per instance shows only the mean of the label. Two independent votes of one instance agree on class k with probability
p*_k², so pairs of votes also show the second moment of the true probabilities p* among the instances.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_class_count, check_rows
from uqassay.errors import InputError
from uqassay.measures.label_moments import probability_moments
from uqassay.predictions import (
    Prediction,
    PredictionLike,
    as_prediction,
    class_indices,
    sum_over_classes,
)
from uqassay.predictions.pandas_input import positions, take_table
from uqassay.statistics.samples import check_choice

__all__ = ["FewVotes", "VoteCounts", "checked_votes", "counts_of_votes", "second_order_gap", "squared_truth_distance"]

Array = NDArray[np.float64]
FewVotes = Literal["refuse", "leave-out"]


@final
@dataclass(frozen=True, eq=False)
class VoteCounts:
    """Numbers of votes for each class, for the instances with at least two votes.

    Attributes
    ----------
    counts : array (n, K)
        Votes for each class, whole numbers.
    rows : int array (n,) or None
        Rows of these instances in the input; None: all of them.
    n_left_out : int
        Number of instances with no or one vote, which are left out.
    """

    counts: Array
    rows: NDArray[np.intp] | None
    n_left_out: int

    @property
    def totals(self) -> Array:
        """Votes m of each instance, ``(n,)``, at least 2."""
        return np.asarray(self.counts.sum(axis=1))

    def shares(self) -> Array:
        """f_k = c_k / m, without bias for p*_k, ``(n, K)``."""
        return self.counts / self.totals[:, np.newaxis]

    def agreement(self) -> Array:
        """c_k (c_k − 1) / (m (m − 1)), ``(n, K)``: share of the pairs of votes for class k, without bias for p*_k²."""
        return self.shares() * ((self.counts - 1.0) / (self.totals[:, np.newaxis] - 1.0))

    def squared_distance(self, mean: Array) -> Array:
        """Σ_k c_k (c_k − 1) / (m (m − 1)) − 2 p̄_k f_k + p̄_k², without bias for ‖p* − p̄‖², ``(n,)``."""
        f = self.shares()
        # the same sum as ‖f − p̄‖² minus the variance that the votes add, which cancels less
        noise = sum_over_classes(f * (1.0 - f)) / (self.totals - 1.0)
        return sum_over_classes((f - mean) ** 2) - noise

    def select(self, prediction: Prediction) -> Prediction:
        """The rows of the prediction that are kept."""
        return prediction if self.rows is None else prediction[self.rows]


def counts_of_votes(
    labels: Sequence[ArrayLike] | NDArray[Any], n_classes: int, *, class_names: Sequence[str] | None = None
) -> Array:
    """Numbers of votes for each class, ``(n, K)``, from single votes.

    Parameters
    ----------
    labels : array_like (n, m), or a sequence of n sequences
        The class of each vote, as index or name; instances may have different numbers of votes.
    n_classes : int
        K.
    class_names : sequence of str, optional
        Names of the classes in the order of the predictions.

    Raises
    ------
    InputError
        A label that is missing or unknown; rows that are no sequences.

    Examples
    --------
    >>> counts_of_votes([[0, 1, 1], [1, 1]], 2).tolist()
    [[1.0, 2.0], [0.0, 2.0]]
    """
    check_class_count(n_classes, "n_classes")
    rows = [np.asarray(row) for row in labels]
    odd = next((i for i, row in enumerate(rows) if row.ndim != 1), None)
    if odd is not None:
        raise InputError(
            "labels",
            "needs the votes of each instance as a sequence",
            f"row {odd} has shape {rows[odd].shape}",
            "give one row of single votes for each instance",
            code="shape",
        )
    lengths = [len(row) for row in rows]
    filled = [row for row in rows if len(row)]
    classes = class_indices(np.concatenate(filled), class_names, name="labels") if filled else np.zeros(0, np.int64)
    of = np.repeat(np.arange(len(rows)), lengths)
    outside = (classes < 0) | (classes >= n_classes)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise InputError(
            "labels",
            f"must lie in 0 … {n_classes - 1}",
            f"row {of[at]} holds {int(classes[at])}",
            "recode the labels so that they index the columns of the predictions",
            code="range",
            facts={"row": int(of[at])},
        )
    counts = np.bincount(of * n_classes + classes, minlength=len(rows) * n_classes)
    return counts.reshape(len(rows), n_classes).astype(np.float64)


def checked_votes(votes: ArrayLike, prediction: Prediction, *, few_votes: FewVotes = "refuse") -> VoteCounts:
    """Numbers of votes for the instances of a prediction, checked.

    Parameters
    ----------
    votes : array_like, shape (n, K)
        Numbers of votes for each class. The columns of a table with names are put in the order of the class names.
    prediction : Prediction
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote.

    Raises
    ------
    InputError
        Another shape, numbers that are negative or fractions; instances with fewer than two votes, unless they are left out;
        no instance with two.

    Examples
    --------
    >>> import uqassay as uq
    >>> checked_votes([[2, 1], [0, 1]], uq.Point([[0.5, 0.5], [0.2, 0.8]]), few_votes="leave-out").n_left_out
    1
    """
    check_choice(few_votes, "few_votes", ("refuse", "leave-out"))
    counts = _whole_counts(_in_order_of(votes, prediction), prediction.n_instances, prediction.n_classes)
    n, totals = len(counts), counts.sum(axis=1)
    few = int((totals < 2).sum())
    if few == 0:
        return VoteCounts(counts, None, 0)
    if few_votes == "refuse" or few == n:
        row = int(np.argmax(totals < 2))
        raise InputError(
            "votes",
            "every instance needs at least two votes, because one vote does not show how the truth scatters",
            f"row {row} has {int(totals[row])}, and {few} of {n} rows have fewer than two",
            "pass few_votes='leave-out' to leave such rows out" if few < n else "collect a second vote",
            code="empty",
            facts={"row": row, "few": few, "n": n},
        )
    return VoteCounts(counts[totals >= 2], np.flatnonzero(totals >= 2), few)


def squared_truth_distance(
    votes: ArrayLike,
    prediction: PredictionLike,
    *,
    few_votes: FewVotes = "refuse",
) -> Array:
    """Squared distance of the true label probabilities from the mean prediction, ‖p* − p̄‖², without bias, ``(n,)``.

    D = Σ_k c_k (c_k − 1) / (m (m − 1)) − 2 p̄_k c_k / m + p̄_k² with c_k of the m votes of an instance for class k. Single
    values scatter and may be negative; means over instances are meant.

    Parameters
    ----------
    votes : array_like, shape (n, K)
        Numbers of votes for each class, at least two in a row, independent given the instance (`counts_of_votes` counts
        single votes).
    prediction : Prediction, or array (n, K) or (n, M, K)
        Only its mean counts here.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote. Instances that are left out have the value nan.

    Raises
    ------
    InputError
        As `checked_votes`.

    Examples
    --------
    >>> import uqassay as uq
    >>> squared_truth_distance([[2, 0], [1, 1]], uq.Point([[0.5, 0.5], [0.5, 0.5]])).tolist()
    [0.5, -0.5]
    """
    prediction = as_prediction(prediction)
    counted = checked_votes(votes, prediction, few_votes=few_votes)
    return _spread(counted.squared_distance(counted.select(prediction).mean_probs()), counted, prediction)


def second_order_gap(
    votes: ArrayLike,
    prediction: PredictionLike,
    *,
    few_votes: FewVotes = "refuse",
) -> Array:
    """Observed minus stated epistemic variance, D − Σ_k Var[p_k], ``(n,)``.

    D is `squared_truth_distance`. For a model that is second-order calibrated, the expected gap is 0 among the instances with
    the same statement. It is positive on average if the truth lies further from the mean of the model than the model states.

    Parameters
    ----------
    votes : array_like, shape (n, K)
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a second-order distribution; a point states the variance 0.
    few_votes : {"refuse", "leave-out"}
        What happens to instances with no or one vote. Instances that are left out have the value nan.

    Raises
    ------
    InputError
        As `checked_votes`; a prediction that is a set without a distribution.

    References
    ----------
    Ahdritz, Gollakota, Gopalan, Peale, Wieder (2025), Provable uncertainty decomposition via higher-order calibration.

    Examples
    --------
    >>> import uqassay as uq
    >>> second_order_gap([[2, 0], [1, 1]], uq.Members([[[1.0, 0.0], [0.0, 1.0]]] * 2)).tolist()
    [0.0, -1.0]
    """
    prediction = as_prediction(prediction)
    counted = checked_votes(votes, prediction, few_votes=few_votes)
    stated = probability_moments(counted.select(prediction))
    return _spread(counted.squared_distance(stated.mean) - stated.epistemic, counted, prediction)


def _spread(values: Array, counted: VoteCounts, prediction: Prediction) -> Array:
    if counted.rows is None:
        return values
    spread = np.full(prediction.n_instances, np.nan)
    spread[counted.rows] = values
    return spread


def _in_order_of(votes: ArrayLike, prediction: Prediction) -> ArrayLike:
    """The votes; the columns of a table in the order of the prediction's class names."""
    table, names, _ = take_table(votes, "votes")
    own = prediction.class_names
    if names is None or own is None or names == own:
        return table
    return np.asarray(table)[:, positions(names, np.asarray(own), "votes", part="columns", of="the class names")]


def _whole_counts(votes: ArrayLike, n: int, n_classes: int) -> Array:
    counts: NDArray[Any] = as_numeric(votes, "votes")
    if counts.shape != (n, n_classes):
        raise InputError(
            "votes",
            f"must be numbers of votes for each class, shape ({n}, {n_classes})",
            f"got shape {counts.shape}",
            "count single votes by losses.counts_of_votes; one label for each instance is not enough",
            code="shape",
        )
    check_rows(
        counts,
        "votes",
        tolerance=0.0,
        unit_sum=False,
        high=np.inf,
        remedy="give numbers of votes, which are at least 0",
    )
    fractions = counts != np.round(counts) if counts.dtype.kind == "f" else np.zeros(counts.shape, dtype=bool)
    if fractions.any():
        row, k = np.argwhere(fractions)[0].tolist()
        raise InputError(
            "votes",
            "must be whole numbers, because shares do not tell how many votes there were",
            f"row {row} holds {float(counts[row, k]):g}",
            "multiply shares by the number of votes",
            code="type",
            facts={"row": row},
        )
    return np.asarray(counts, dtype=np.float64)
