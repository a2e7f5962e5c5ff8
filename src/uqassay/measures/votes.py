"""Votes of the members: measures of their disagreement."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay._namespaces import namespace
from uqassay.measures.entropies import TEMPORARIES, shannon_entropy, varied_members
from uqassay.measures.two_class_logits import is_two_class_gaussian, two_class_votes
from uqassay.predictions import (
    DeviceProbs,
    Members,
    OrderFreeSum,
    Prediction,
    PredictionLike,
    as_prediction,
    keeps_arrays,
)
from uqassay.predictions.base import CORE_BYTES

__all__ = ["variation_ratio", "vote_entropy", "vote_shares"]

Array = NDArray[np.float64]


@keeps_arrays("measures.variation_ratio")
def variation_ratio(prediction: PredictionLike) -> Array:
    """Share of the votes for classes other than the one with the most votes, ``(n,)``, from 0 to 1 − 1/K.

    Each member votes with its weight for its most probable class. If several classes are most probable, they share the vote
    equally, so the result does not depend on the order of the classes. (Paper 003, section 7.)

    Parameters
    ----------
    prediction : Members, Dirichlet or GaussianLogits, or array (n, M, K)
        A Dirichlet votes through its seeded draws, Gaussian logits through their passes if the variance is aleatoric. If it
        is epistemic, the shares are exact for two classes, and those of the seeded draws otherwise.

    Raises
    ------
    InputError
        A kind without several distributions per instance.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.votes import variation_ratio
    >>> variation_ratio(uq.Members([[[0.6, 0.4], [0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]])).tolist()
    [0.25]
    """
    votes, total = _count(as_prediction(prediction))
    xp = namespace(votes)
    if votes.shape[1] == 2:
        return xp.min(votes, axis=1) / total
    return (total - xp.max(votes, axis=1)) / total  # exactly 0 if the votes are unanimous, unlike 1 − max / total


@keeps_arrays("measures.vote_entropy")
def vote_entropy(prediction: PredictionLike) -> Array:
    """Entropy of the distribution of the votes, ``(n,)``, in nats, from 0 to ln K.

    Votes as in `variation_ratio`. If the members are predictions for augmented copies of an input, this is the
    test-time-augmentation entropy (Wang et al., 2019; paper 003, section 7).

    Parameters
    ----------
    prediction : Members, Dirichlet or GaussianLogits, or array (n, M, K)
        A Dirichlet votes through its seeded draws, Gaussian logits through their passes if the variance is aleatoric. If it
        is epistemic, the shares are exact for two classes, and those of the seeded draws otherwise.

    Raises
    ------
    InputError
        A kind without several distributions per instance.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.votes import vote_entropy
    >>> vote_entropy(uq.Members([[[0.6, 0.4], [0.3, 0.7]]])).round(4).tolist()
    [0.6931]
    """
    return shannon_entropy(vote_shares(prediction))


def vote_shares(prediction: PredictionLike) -> Array:
    """Share of the votes that each class received, ``(n, K)``; rows sum to 1, exactly if one class has all votes.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.votes import vote_shares
    >>> vote_shares(uq.Members([[[0.6, 0.4], [0.5, 0.5]]], weights=[1, 3])).tolist()
    [[0.625, 0.375]]
    """
    votes, total = _count(as_prediction(prediction))
    return votes / total[:, None]


def _count(prediction: Prediction) -> tuple[Array, Array]:
    """Votes for each class, ``(n, K)``, and total votes, ``(n,)``: numbers of members, or sums of weights.

    Votes are summed before the division, so instances with the same votes tie exactly.
    """
    if is_two_class_gaussian(prediction):
        votes = two_class_votes(prediction)
        return votes, votes.sum(axis=1)
    members = varied_members(prediction)
    if isinstance(members, DeviceProbs):
        return members.by_chunks(_count_on_device, TEMPORARIES * members.n_classes)
    votes = np.empty((members.n_instances, members.n_classes))
    total = np.empty(members.n_instances)

    counted = kernel("untied_votes") if members.weights is None else None

    def work(rows: slice, part: Members) -> None:
        if counted is not None and part.probs.dtype in (np.float32, np.float64):
            found = counted(np.ascontiguousarray(part.probs))
            if found is not None:
                votes[rows], total[rows] = found, part.n_members
                return
        counts, all_votes = OrderFreeSum(votes[rows].shape), OrderFreeSum(len(part))
        for m in range(part.n_members):
            probs = part.probs[:, m]
            best = probs == probs.max(axis=1, keepdims=True)
            ballot = best.astype(np.float64)
            if np.count_nonzero(best) > len(part):  # some row has tied classes
                ballot /= ballot.sum(axis=1, keepdims=True)
            weight = 1.0 if part.weights is None else part.weights[..., m]
            counts.add(ballot * np.reshape(weight, (-1, 1)))
            all_votes.add(np.broadcast_to(weight, len(part)))
        votes[rows], total[rows] = counts.value(), all_votes.value()

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    return votes, total


def _count_on_device(part: DeviceProbs) -> tuple[Any, Any]:
    xp, votes = part.xp, OrderFreeSum((len(part), part.n_classes), part.zeros(0))
    for m in range(part.n_members):
        probs = part.probs[:, m, :]
        ballot = xp.astype(probs == xp.max(probs, axis=1, keepdims=True), part.zeros(0).dtype)
        votes.add(ballot / xp.sum(ballot, axis=1, keepdims=True))
    return votes.value(), part.zeros(len(part)) + part.n_members
