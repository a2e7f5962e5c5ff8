"""Decomposition of the zero-one loss: how often the best guess is wrong, of the mean and of each member."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._namespaces import namespace
from uqassay.measures.confidence import least_confidence
from uqassay.measures.entropies import (
    TEMPORARIES,
    Decomposition,
    agreeing_rows,
    second_order_members,
)
from uqassay.measures.two_class_logits import is_two_class_gaussian, two_class_regrets
from uqassay.predictions import (
    CORE_BYTES,
    DeviceProbs,
    Members,
    PredictionLike,
    as_prediction,
    keeps_arrays,
    member_sums,
)

__all__ = ["regrets", "zero_one_decomposition"]

Array = NDArray[np.float64]
NO_REGRET = 8 * np.finfo(np.float64).eps  # below it, members are compared bit by bit


@keeps_arrays("measures.zero_one_decomposition")
def zero_one_decomposition(prediction: PredictionLike) -> Decomposition:
    """1 − max p̄ = E[1 − max p] + (E[max p] − max p̄): total, aleatoric and epistemic expected zero-one loss.

    The epistemic part is computed as the least over the classes c of E[max p − p(c)], which is ≥ 0 term by term. It is 0
    exactly if all members have a most probable class in common, and so also where they differ in their probabilities.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet` (by its seeded draws, because the maximum
        has no closed form) and `GaussianLogits` (passes; with epistemic variance exactly for two classes, otherwise draws).

    Returns
    -------
    Decomposition
        Each part in [0, 1 − 1/K]. Total is the score "least-confidence" of the mean of the members or draws.

    Raises
    ------
    InputError
        Sets without a distribution over their elements.

    Notes
    -----
    Source: Sale et al., Second-order uncertainty quantification: a distance-based approach (2024); Kotelevskii and Panov
    (2024), zero-one score.

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.measures.zero_one_decomposition(uq.Members([[[0.75, 0.25], [0.25, 0.75]], [[0.75, 0.25], [1.0, 0.0]]]))
    >>> d.total.tolist(), d.aleatoric.tolist(), d.epistemic.tolist()
    ([0.5, 0.125], [0.25, 0.125], [0.25, 0.0])
    """
    prediction = as_prediction(prediction)
    if is_two_class_gaussian(prediction):
        loss, regret = two_class_regrets(prediction)
        return Decomposition(least_confidence(prediction), loss, regret.min(axis=1))
    members = second_order_members(prediction)
    if isinstance(members, DeviceProbs):
        return Decomposition(*members.by_chunks(_on_device, TEMPORARIES * members.n_classes))
    loss, regret = regrets(members)
    total, epistemic = least_confidence(members), regret.min(axis=1)
    epistemic[agreeing_rows(members, np.where(epistemic > 0.0, epistemic, np.inf), below=NO_REGRET)] = 0.0
    return Decomposition(total, np.where(epistemic > 0.0, loss, total), epistemic)


def regrets(members: Members) -> tuple[Array, Array]:
    """E[1 − max p], ``(n,)``, and E[max p − p(c)] of each class c, ``(n, K)``."""
    loss, regret = np.empty(members.n_instances), np.empty((members.n_instances, members.n_classes))

    def work(rows: slice, part: Members) -> None:
        loss[rows], regret[rows] = _regrets(part, regret)

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    return loss, regret


def _regrets(part: Members, like: Array) -> tuple[Array, Array]:
    xp = namespace(like)

    def terms(p: Array) -> tuple[Array, Array]:
        top = xp.max(p, axis=1, keepdims=True)
        return 1.0 - top, top - p

    loss, lost = member_sums(part.probs, part.weights, terms, "member_regrets")
    return xp.maximum(loss[:, 0], 0.0), lost


def _on_device(part: Any) -> tuple[Any, Any, Any]:
    xp, total = part.xp, least_confidence(part)
    loss, regret = _regrets(part, total)
    epistemic = xp.where(part.agree(), 0.0, xp.min(regret, axis=1))
    return total, xp.where(epistemic > 0.0, loss, total), epistemic
