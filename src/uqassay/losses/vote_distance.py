"""Squared distance of the true label probabilities from a prediction, without bias, from two or more votes per instance.

One vote per instance shows only the mean of the label. Two independent votes of one instance agree on class k with probability
p*_k², so pairs of votes also show the second moment of the true probabilities p* among the instances.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.losses.vote_counts import FewVotes, VoteCounts, VotesAre, checked_votes
from uqassay.measures.label_moments import probability_moments
from uqassay.predictions import Prediction, PredictionLike, as_prediction

__all__ = ["second_order_gap", "squared_truth_distance"]

Array = NDArray[np.float64]


def squared_truth_distance(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: PredictionLike,
    *,
    votes_are: VotesAre | None = None,
    few_votes: FewVotes = "refuse",
) -> Array:
    """Squared distance of the true label probabilities from the mean prediction, ‖p* − p̄‖², without bias, ``(n,)``.

    D = Σ_k c_k (c_k − 1) / (m (m − 1)) − 2 p̄_k c_k / m + p̄_k² with c_k of the m votes of an instance for class k. Single
    values scatter and may be negative; means over instances are meant.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
        Numbers of votes for each class, at least two in a row, independent given the instance; see `votes_are`.
    prediction : Prediction, or array (n, K) or (n, M, K)
        Only its mean counts here.
    votes_are : {"counts", "single"}, optional
        By default counts, unless the table may be either, see `checked_votes`.
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
    counted = checked_votes(votes, prediction, votes_are=votes_are, few_votes=few_votes)
    return _spread(counted.squared_distance(counted.select(prediction).mean_probs()), counted, prediction)


def second_order_gap(
    votes: ArrayLike | Sequence[ArrayLike],
    prediction: PredictionLike,
    *,
    votes_are: VotesAre | None = None,
    few_votes: FewVotes = "refuse",
) -> Array:
    """Observed minus stated epistemic variance, D − Σ_k Var[p_k], ``(n,)``.

    D is `squared_truth_distance`. For a model that is second-order calibrated, the expected gap is 0 among the instances with
    the same statement. It is positive on average if the truth lies further from the mean of the model than the model states.

    Parameters
    ----------
    votes : array_like, shape (n, K), or single votes of n instances
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a second-order distribution; a point states the variance 0.
    votes_are : {"counts", "single"}, optional
        By default counts, unless the table may be either, see `checked_votes`.
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
    counted = checked_votes(votes, prediction, votes_are=votes_are, few_votes=few_votes)
    stated = probability_moments(counted.select(prediction))
    return _spread(counted.squared_distance(stated.mean) - stated.epistemic, counted, prediction)


def _spread(values: Array, counted: VoteCounts, prediction: Prediction) -> Array:
    if counted.rows is None:
        return values
    spread = np.full(prediction.n_instances, np.nan)
    spread[counted.rows] = values
    return spread
