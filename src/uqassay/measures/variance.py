"""Total, aleatoric and epistemic variance of the one-hot label, summed over the classes."""

import numpy as np

from uqassay.measures.entropy import Decomposition, second_order_members
from uqassay.predictions import Dirichlet, Prediction

__all__ = ["variance_decomposition"]


def variance_decomposition(prediction: Prediction) -> Decomposition:
    """Σ_c p̄(1 − p̄) = Σ_c E[p(1 − p)] + Σ_c Var[p]: total, aleatoric and epistemic variance of the label.

    Parameters
    ----------
    prediction : Prediction
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet` (closed form), `GaussianLogits`.

    Returns
    -------
    Decomposition
        Each part in [0, 1 − 1/K].

    Raises
    ------
    InputError
        For sets without a distribution over their elements.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> two = uq.Members(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> d = uq.measures.variance_decomposition(two)
    >>> d.total.tolist(), d.aleatoric.tolist(), d.epistemic.tolist()
    ([0.5], [0.0], [0.5])
    """
    if isinstance(prediction, Dirichlet):
        mean = prediction.mean_probs()
        concentration = np.asarray(prediction.alpha, dtype=np.float64).sum(axis=1)
        if prediction.unit_concentration:
            concentration = np.ones_like(concentration)
        total = (mean * (1.0 - mean)).sum(axis=1)
        epistemic = total / (concentration + 1.0)
        return Decomposition(total, total - epistemic, epistemic)
    members = second_order_members(prediction)
    mean = members.mean_probs()
    total = (mean * (1.0 - mean)).sum(axis=1)
    epistemic = np.zeros(members.n_instances)
    for m in range(members.n_members):
        spread = ((np.asarray(members.probs[:, m], dtype=np.float64) - mean) ** 2).sum(axis=1)
        epistemic += spread / members.n_members if members.weights is None else spread * members.weights[..., m]
    return Decomposition(total, total - epistemic, epistemic)
