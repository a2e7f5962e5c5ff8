"""Label-wise decomposition: the entropies of K two-class problems, each class against the rest, and their sum."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay._namespaces import namespace
from uqassay.measures.entropies import (
    ROUNDING,
    TEMPORARIES,
    Decomposition,
    digamma_excess,
    divergence_terms,
    entropy_decomposition,
    second_order_members,
)
from uqassay.measures.two_class_logits import is_two_class_gaussian, minus_p_log_p
from uqassay.predictions import (
    DeviceProbs,
    Dirichlet,
    Members,
    OrderFreeSum,
    PredictionLike,
    as_prediction,
    keeps_arrays,
    member_rows,
    member_shares,
    not_negative,
    sum_over_classes,
)

__all__ = ["label_wise_decomposition", "label_wise_parts"]

Array = NDArray[np.float64]
CHUNK_BYTES = 8 * 2**20
MOST_SORTED = 128  # classes of a row that the kernel sorts
OF_16_BITS = 5e-7  # rows that miss the sum 1 by more than this were rounded to few bits


@keeps_arrays("measures.label_wise_decomposition")
def label_wise_decomposition(prediction: PredictionLike) -> Decomposition:
    """Sum over the classes of the entropy decompositions of "class k or not", in nats.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet` (closed form), `GaussianLogits` (passes;
        with epistemic variance exactly for two classes, otherwise draws).

    Returns
    -------
    Decomposition
        Total and aleatoric part in [0, K ln 2] and below 1 + ln K; for two classes, twice those of `entropy_decomposition`.

    Raises
    ------
    InputError
        Sets without a distribution over their elements.

    Notes
    -----
    Source: Sale, Hofman, Wimmer, Hüllermeier and Nagler, Label-wise aleatoric and epistemic uncertainty quantification
    (2024), with entropy. With the variance of "class k or not", the sum is `variance_decomposition`.

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.measures.label_wise_decomposition(uq.Members([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> d.total.round(4).tolist(), d.aleatoric.tolist(), d.epistemic.round(4).tolist()
    ([1.3863], [0.0], [1.3863])
    """
    parts = label_wise_parts(prediction)
    return Decomposition(*(sum_over_classes(part) for part in (parts.total, parts.aleatoric, parts.epistemic)))


@keeps_arrays("measures.label_wise_parts")
def label_wise_parts(prediction: PredictionLike) -> Decomposition:
    """Entropy decomposition of "class k or not" for every class, in nats.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        As for `label_wise_decomposition`.

    Returns
    -------
    Decomposition
        Arrays (n, K), each part in [0, ln 2]. The epistemic part of a class is exactly 0 where the members agree in it.

    Raises
    ------
    InputError
        Sets without a distribution over their elements.

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.measures.label_wise_parts(uq.Members([[[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]]))
    >>> d.epistemic.round(4).tolist()
    [[0.0, 0.2158, 0.2158]]
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Dirichlet):
        return _of_dirichlet(prediction)
    if is_two_class_gaussian(prediction):  # both classes are the same two-class problem
        exact = entropy_decomposition(prediction)
        both = (np.repeat(part[:, None], 2, axis=1) for part in (exact.total, exact.aleatoric, exact.epistemic))
        return Decomposition(*both)
    members = second_order_members(prediction)
    if isinstance(members, DeviceProbs):
        return Decomposition(
            *members.by_chunks(_on_device, members.n_classes * (2 * TEMPORARIES + 2 * members.n_members))
        )
    parts = np.empty((3, members.n_instances, members.n_classes))

    def work(rows: slice, part: Members) -> None:
        parts[:, rows] = _of_members(part)

    bytes_per_row = 8 * members.n_classes * (2 * TEMPORARIES + 2 * members.n_members)
    members.for_each_chunk(work, bytes_per_row, chunk_bytes=CHUNK_BYTES)
    return Decomposition(*parts)


def _of_members(members: Members) -> Array:
    """Total, aleatoric and epistemic part of each class, ``(3, n, K)``."""
    compiled = kernel("label_wise_sums")
    if compiled is not None and members.n_classes <= MOST_SORTED:
        return np.stack(compiled(member_rows(members.probs), member_shares(members.probs, members.weights)))
    shares = list(member_shares(members.probs, members.weights).T[:, :, None])
    both = [_class_and_rest(not_negative(members.probs[:, m])) for m in range(members.n_members)]  # (2, n, K) each
    total, aleatoric, epistemic = _sums(shares, both)
    parts = np.stack([total, aleatoric, epistemic])
    agree = _agree(shares, both)
    parts[1][agree], parts[2][agree] = total[agree], 0.0
    return parts


def _sums(shares: list[Any], both: list[Any]) -> tuple[Any, Any, Any]:
    """The three parts of each class before members that agree are told, ``(n, K)`` each."""
    xp, summed = namespace(both[0]), OrderFreeSum(both[0].shape, both[0])
    for share, p in zip(shares, both, strict=True):
        summed.add(share * p)
    mean, terms = summed.value(), divergence_terms(summed.value())
    aleatoric, epistemic = OrderFreeSum(mean.shape, mean), OrderFreeSum(mean.shape, mean)
    for share, p in zip(shares, both, strict=True):
        p_log_p, divergence = terms(p)
        aleatoric.add(share * p_log_p)
        epistemic.add(share * divergence)
    total, of_members = xp.sum(minus_p_log_p(mean), axis=0), xp.abs(xp.sum(aleatoric.value(), axis=0))
    return total, of_members, xp.maximum(xp.sum(epistemic.value(), axis=0), 0.0)


def _on_device(part: DeviceProbs) -> tuple[Any, Any, Any]:
    xp, both = part.xp, [_class_and_rest_on_device(part, m) for m in range(part.n_members)]
    total, aleatoric, epistemic = _sums([1.0 / part.n_members] * part.n_members, both)
    least = most = both[0]
    for p in both[1:]:
        least, most = xp.minimum(least, p), xp.maximum(most, p)
    agree = xp.all(most - least <= 4 * float(xp.finfo(most.dtype).eps) * most, axis=0)
    return total, xp.where(agree, total, aleatoric), xp.where(agree, 0.0, epistemic)


def _class_and_rest_on_device(part: DeviceProbs, m: int) -> Any:
    """As `_class_and_rest`, without rows that are picked."""
    xp, p = part.xp, part.member(m)
    event = xp.minimum(p, 1.0)
    others = xp.sum(xp.sort(p, axis=1)[:, :-1], axis=1, keepdims=True)
    top = xp.max(event, axis=1, keepdims=True)
    is_top = part.whole(np.arange(part.n_classes))[None, :] == xp.argmax(p, axis=1, keepdims=True)
    summed = is_top & (top > 0.5) & (xp.abs(top + others - 1.0) <= OF_16_BITS)
    return xp.stack([event, xp.where(summed, others, 1.0 - event)])


def _class_and_rest(p: Array) -> Array:
    """Probabilities of each class and of all others, ``(2, n, K)``, from ``(n, K)``.

    The rest of a class above ½ is the sum of the others, because 1 − p would lose its digits.
    """
    event = np.minimum(p, 1.0)
    rest = 1.0 - event
    rows, k = np.flatnonzero(p.max(axis=1) > 0.5), p.argmax(axis=1)
    if rows.size:
        others = np.sort(p[rows], axis=1)[:, :-1].sum(axis=1)
        whole = np.abs(event[rows, k[rows]] + others - 1.0) <= OF_16_BITS
        rest[rows[whole], k[rows[whole]]] = others[whole]
    return np.stack([event, rest])


def _agree(shares: list[Array], both: list[Array]) -> NDArray[np.bool_]:
    """Classes in which all members of a positive weight agree to the last few bits, ``(n, K)``."""
    least, most = np.full(both[0].shape, np.inf), np.zeros(both[0].shape)
    for share, p in zip(shares, both, strict=True):
        counted = np.broadcast_to(np.asarray(share) > 0.0, p.shape)
        np.minimum(least, p, out=least, where=counted)
        np.maximum(most, p, out=most, where=counted)
    return np.asarray((most - least <= ROUNDING * most).all(axis=0))


def _of_dirichlet(prediction: Dirichlet) -> Decomposition:
    """Closed form: "class k or not" follows a Beta distribution with the concentrations α_k and Σ_{c≠k} α_c."""
    alpha = np.ascontiguousarray(prediction.alpha, dtype=np.float64)
    if prediction.unit_concentration:
        alpha = alpha / alpha.sum(axis=1, keepdims=True)
    concentration = alpha.sum(axis=1, keepdims=True)
    rest = concentration - alpha
    rows, k = np.arange(len(alpha)), alpha.argmax(axis=1)
    rest[rows, k] = np.sort(alpha, axis=1)[:, :-1].sum(axis=1)
    event, other = alpha / concentration, rest / concentration
    total = minus_p_log_p(event) + minus_p_log_p(other)
    # as for the whole entropy: the large logarithms of H(μ) cancel in this form
    epistemic = event * digamma_excess(alpha) + other * digamma_excess(rest) - digamma_excess(concentration)
    epistemic = np.clip(epistemic, 0.0, total)
    return Decomposition(total, total - epistemic, epistemic)
