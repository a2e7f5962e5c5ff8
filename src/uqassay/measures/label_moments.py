"""Mean and variance of the probability of each class under a second-order prediction."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.measures.entropies import TEMPORARIES, agreeing_rows, second_order_members
from uqassay.measures.two_class_logits import is_two_class_gaussian, two_class_parts
from uqassay.measures.variance import member_variances
from uqassay.predictions import (
    Box,
    DeviceProbs,
    Dirichlet,
    Masses,
    Members,
    PredictionLike,
    Vertices,
    as_prediction,
    keeps_arrays,
    sum_over_classes,
)
from uqassay.predictions.base import CORE_BYTES

__all__ = ["ProbabilityMoments", "probability_moments"]

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class ProbabilityMoments:
    """First two moments of the probability of each class, under the stated second-order distribution.

    Attributes
    ----------
    mean : array (n, K)
        p̄_k = E[p_k].
    variance : array (n, K)
        Var[p_k]; 0 where all members agree.
    """

    mean: Array
    variance: Array

    @property
    def epistemic(self) -> Array:
        """Σ_k Var[p_k] = E‖p − p̄‖², ``(n,)``: the epistemic variance that is stated."""
        return sum_over_classes(self.variance)


@keeps_arrays("measures.probability_moments")
def probability_moments(prediction: PredictionLike) -> ProbabilityMoments:
    """Mean and variance of the probability of each class, as stated by a second-order prediction.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        `Members` enter with their weights, a `Dirichlet` in closed form, α̂(1 − α̂)/(α₀ + 1) with α̂ = α/α₀, `GaussianLogits`
        of two classes with epistemic variance by quadrature, other `GaussianLogits` by their members. A `Point` has variance 0.

    Returns
    -------
    ProbabilityMoments
        The variance divides by the number of members, not by one less: the members are the distribution, not a sample.

    Raises
    ------
    InputError
        Sets without a distribution over their elements.

    Examples
    --------
    >>> import uqassay as uq
    >>> stated = uq.measures.probability_moments(uq.Members([[[0.5, 0.5], [1.0, 0.0]]]))
    >>> stated.mean.tolist(), stated.variance.tolist(), stated.epistemic.tolist()
    ([[0.75, 0.25]], [[0.0625, 0.0625]], [0.125])
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Dirichlet):
        return _of_dirichlet(prediction)
    if isinstance(prediction, (Box, Masses, Vertices)):
        raise InputError(
            "prediction",
            "must contain a distribution over distributions",
            f"got {type(prediction).__name__}, a set without such a distribution",
            "give members, a Dirichlet or Gaussian logits",
            code="no-distribution",
        )
    if is_two_class_gaussian(prediction):
        among = two_class_parts(prediction).among
        return ProbabilityMoments(prediction.mean_probs(), np.stack([among, among], axis=1))
    members = second_order_members(prediction)
    if isinstance(members, DeviceProbs):
        return ProbabilityMoments(*members.by_chunks(_on_device, TEMPORARIES * members.n_classes))
    mean, variance = np.empty((2, members.n_instances, members.n_classes))

    def work(rows: slice, part: Members) -> None:
        mean[rows], variance[rows] = _of_members(part)

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    variance[agreeing_rows(members, sum_over_classes(variance))] = 0.0
    return ProbabilityMoments(mean, variance)


def _of_members(members: Members) -> tuple[Array, Array]:
    mean = members.mean_probs()
    return mean, member_variances(members, mean)[1]


def _on_device(part: Any) -> tuple[Any, Any]:
    mean, variance = _of_members(part)
    return mean, part.xp.where(part.agree()[:, None], 0.0, variance)


def _of_dirichlet(prediction: Dirichlet) -> ProbabilityMoments:
    mean = prediction.mean_probs()
    if prediction.unit_concentration:
        concentration = np.ones(prediction.n_instances)
    else:
        concentration = np.asarray(np.ascontiguousarray(prediction.alpha, dtype=np.float64).sum(axis=1))
    return ProbabilityMoments(mean, mean * (1.0 - mean) / (concentration + 1.0)[:, np.newaxis])
