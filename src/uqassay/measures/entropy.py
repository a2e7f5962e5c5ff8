"""Total, aleatoric and epistemic entropy, in nats."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, entr

from uqassay.errors import InputError
from uqassay.predictions import Dirichlet, Intervals, Masses, Members, Prediction, Vertices
from uqassay.predictions._base import as_prediction, not_negative

__all__ = ["Decomposition", "entropy", "entropy_decomposition", "second_order_members"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Total uncertainty of each instance and its two parts, each ``(n,)``; total = aleatoric + epistemic."""

    total: Array
    aleatoric: Array
    epistemic: Array


def entropy(probs: NDArray[Any]) -> Array:
    """Shannon entropy over the last axis, −Σ p ln p in nats, with 0 ln 0 = 0.

    Examples
    --------
    >>> import numpy as np
    >>> float(entropy(np.array([0.5, 0.5])).round(4))
    0.6931
    """
    return np.abs(entr(not_negative(probs)).sum(axis=-1))  # abs: -0.0 for a one-hot p


def entropy_decomposition(prediction: Prediction) -> Decomposition:
    """Entropy of the mean, mean of the entropies, and their difference (mutual information), in nats.

    Paper 000, Eq. 14-17. For a Dirichlet in closed form, E[H(p)] = ψ(α₀ + 1) − Σ (α/α₀) ψ(α + 1); for members with their
    weights; for Gaussian logits over the seeded draws; for a point the epistemic part is 0.

    Parameters
    ----------
    prediction : Prediction
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet`, `GaussianLogits`.

    Returns
    -------
    Decomposition

    Raises
    ------
    InputError
        For sets without a distribution over their elements; the message names `upper_entropy` and `lower_entropy`.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> two = uq.Members(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> d = uq.measures.entropy_decomposition(two)
    >>> d.total.round(4).tolist(), d.aleatoric.tolist()
    ([0.6931], [0.0])
    """
    if isinstance(prediction, Dirichlet):
        alpha = np.asarray(prediction.alpha, dtype=np.float64)
        total_alpha = alpha.sum(axis=1)
        if prediction.unit_concentration:
            alpha, total_alpha = alpha / total_alpha[:, None], np.ones_like(total_alpha)
        mean = alpha / total_alpha[:, None]
        aleatoric = digamma(total_alpha + 1.0) - (mean * digamma(alpha + 1.0)).sum(axis=1)
        total = entropy(mean)
    else:
        members = second_order_members(prediction)
        weights = members.weights
        total = entropy(members.mean_probs())
        aleatoric = np.zeros(members.n_instances)
        for m in range(members.n_members):
            each = entropy(members.probs[:, m])
            aleatoric += each / members.n_members if weights is None else each * weights[..., m]
    # concave: the difference is ≥ 0 up to rounding
    epistemic = np.maximum(total - aleatoric, 0.0)
    return Decomposition(total, total - epistemic, epistemic)


def second_order_members(prediction: Prediction) -> Members:
    """The distribution over distributions as `Members`, or an error for kinds that state only a set."""
    if isinstance(prediction, (Intervals, Masses, Vertices)):
        raise InputError(
            f"prediction: {type(prediction).__name__} states a set without a distribution over it, so its uncertainty has "
            "no mean part; use upper_entropy, lower_entropy and credal_uncertainty."
        )
    credal = as_prediction(prediction).credal()
    return credal if isinstance(credal, Members) else Members(credal.hull_points(), row_numbers=credal.row_numbers)
