"""Total, aleatoric and epistemic entropy, in nats."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, entr

from uqassay._array import as_numeric, check_rows, tolerance_of
from uqassay._kernels import kernel
from uqassay._namespaces import detached, is_foreign, namespace, smallest_normal
from uqassay.errors import InputError
from uqassay.measures.two_class_logits import is_two_class_gaussian, two_class_parts
from uqassay.predictions import (
    Box,
    DeviceProbs,
    Dirichlet,
    Masses,
    Members,
    Point,
    Prediction,
    PredictionLike,
    Vertices,
    as_prediction,
    keeps_arrays,
    member_sums,
    not_negative,
    probs_on_device,
    sum_over_classes,
)
from uqassay.predictions.base import CORE_BYTES

__all__ = [
    "Decomposition",
    "agreeing_rows",
    "decomposed",
    "decomposed_points",
    "digamma_excess",
    "divergence_terms",
    "entropy",
    "entropy_decomposition",
    "log_ratio",
    "second_order_members",
    "shannon_entropy",
    "varied_members",
]

Array = NDArray[np.float64]
ROUNDING = 4 * np.finfo(np.float64).eps
NO_SPREAD = 1e-18  # above the rounding error of the mean of a million equal members
TEMPORARIES = 8  # arrays (n, K) alive at once
NEAR = 0.0294372515228594  # (3 − √8)²: artanh(3 − √8) = ln(√2) / 2


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Total, aleatoric and epistemic uncertainty of each instance, each ``(n,)``.

    Total = aleatoric + epistemic, except for Gaussian logits and for decompositions by a function of the user.
    """

    total: Array
    aleatoric: Array
    epistemic: Array


@keeps_arrays("measures.entropy")
def entropy(probs: PredictionLike) -> Array:
    """Shannon entropy −Σ p ln p in nats, with 0 ln 0 = 0, of distributions or of the mean of a prediction.

    Parameters
    ----------
    probs : array (..., K), Prediction or mapping
        An array has distributions on its last axis and may have any shape: (n, M, K) gives the entropy of every member,
        (n, M). Of a `Prediction`, or a mapping that describes one, the entropy of the mean is taken, (n,).

    Raises
    ------
    InputError
        Input that is neither numbers nor a prediction, or rows that are no distributions.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> float(entropy(np.array([0.5, 0.5])).round(4))
    0.6931
    >>> entropy(uq.Members([[[1.0, 0.0], [0.0, 1.0]]])).round(4).tolist()
    [0.6931]
    """
    if isinstance(probs, Mapping) or callable(getattr(probs, "mean_probs", None)):
        return shannon_entropy(as_prediction(probs, "probs").mean_probs())
    array: Any = detached(probs, "probs") if is_foreign(probs) else as_numeric(probs, "probs")
    if array.ndim == 0:
        raise InputError(
            "probs", "must have one distribution on its last axis", f"got {array}", "pass all classes", code="shape"
        )
    if is_foreign(array):
        probs_on_device(namespace(array).reshape(array, (-1, array.shape[-1])), "probs")  # checks
    else:
        check_rows(np.atleast_2d(array), "probs", tolerance=tolerance_of(array))
    return shannon_entropy(array)


def shannon_entropy(probs: NDArray[Any]) -> Array:
    """`entropy` of an array (..., K) of numbers."""
    p = not_negative(probs)
    if isinstance(p, np.ndarray):
        compiled = kernel("entropy_terms")
        terms = entr(p) if compiled is None else compiled(np.ravel(p)).reshape(p.shape)
        return np.abs(sum_over_classes(terms))  # abs turns the -0.0 of a one-hot p into 0.0
    xp = namespace(p)
    return xp.abs(sum_over_classes(-p * xp.log(xp.maximum(p, smallest_normal(p)))))


@keeps_arrays("measures.entropy_decomposition")
def entropy_decomposition(prediction: PredictionLike) -> Decomposition:
    """Entropy of the mean, mean of the entropies, and their difference (mutual information), in nats.

    Paper 000, Eq. 14-17; paper 003, section 7. For a Dirichlet in closed form, E[H(p)] = ψ(α₀ + 1) − Σ (α/α₀) ψ(α + 1);
    for members with their weights; for a point the epistemic part is 0. For Gaussian logits with aleatoric variance over the
    passes; with epistemic variance exactly for two classes (`uqassay.predictions.logistic_normal`), else over the seeded draws.

    The epistemic part is computed as the mean divergence of the members from their mean, and is exactly 0 if they agree to
    the last few bits. The difference of the two entropies is the same number plus a rounding error, which would decide the
    ranking of confident instances.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet`, `GaussianLogits`.

    Returns
    -------
    Decomposition

    Raises
    ------
    InputError
        Sets without a distribution over their elements: use `upper_entropy` and `lower_entropy`.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> two = uq.Members(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> d = uq.measures.entropy_decomposition(two)
    >>> d.total.round(4).tolist(), d.aleatoric.tolist()
    ([0.6931], [0.0])
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Point):
        return decomposed_points(shannon_entropy(prediction.mean_probs()))
    if isinstance(prediction, Dirichlet):
        return _of_dirichlet(prediction)
    if is_two_class_gaussian(prediction):
        parts = two_class_parts(prediction)
        return Decomposition(parts.total, parts.aleatoric, parts.epistemic)
    return decomposed(second_order_members(prediction), _of_members)


def decomposed_points(total: Array) -> Decomposition:
    """The decomposition of one distribution per instance: all uncertainty is aleatoric."""
    return Decomposition(total, total.copy(), np.zeros_like(total))


def decomposed(members: Members, kernel: Callable[[Members], tuple[Array, Array, Array]]) -> Decomposition:
    """Total, aleatoric and epistemic part of chunks of the members; epistemic is 0 where the members agree."""
    if isinstance(members, DeviceProbs):
        return Decomposition(
            *members.by_chunks(lambda part: _agreed(part, *kernel(part)), TEMPORARIES * members.n_classes)
        )
    total, aleatoric, epistemic = np.empty((3, members.n_instances))

    def work(rows: slice, part: Members) -> None:
        total[rows], aleatoric[rows], epistemic[rows] = kernel(part)

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    agree = agreeing_rows(members, epistemic)
    aleatoric[agree], epistemic[agree] = total[agree], 0.0
    return Decomposition(total, aleatoric, np.maximum(epistemic, 0.0))


def _agreed(part: DeviceProbs, total: Any, aleatoric: Any, epistemic: Any) -> tuple[Any, Any, Any]:
    """The three parts; epistemic is 0 where the members agree."""
    xp, agree = part.xp, part.agree()
    return total, xp.where(agree, total, aleatoric), xp.where(agree, 0.0, xp.maximum(epistemic, 0.0))


def second_order_members(prediction: Prediction) -> Members:
    """The second-order distribution as `Members`; kinds that are only a set are refused."""
    if isinstance(prediction, (Box, Masses, Vertices)):
        raise InputError(
            "prediction",
            "must contain a distribution over distributions",
            f"got {type(prediction).__name__}, a set without such a distribution",
            "use upper_entropy, lower_entropy and credal_uncertainty",
            code="no-distribution",
        )
    credal = prediction.credal()
    if isinstance(credal, (Members, DeviceProbs)):
        return credal
    return Members(credal.hull_points(), row_numbers=credal.row_numbers)


def varied_members(prediction: Prediction) -> Members:
    """Like `second_order_members`; also refuses `Point`, which has one member."""
    if isinstance(prediction, Point) or (isinstance(prediction, DeviceProbs) and prediction.is_point):
        raise InputError(
            "prediction",
            "must contain several distributions per instance",
            "got Point, which contains one",
            "use Members, Dirichlet or GaussianLogits, or a score of one distribution such as total-entropy",
            code="no-members",
        )
    return second_order_members(prediction)


def agreeing_rows(
    members: Members, spread: Array, label: NDArray[np.int64] | None = None, *, below: float = NO_SPREAD
) -> NDArray[np.int64]:
    """Row numbers of instances whose members agree to the last few bits; only rows with a `spread` < `below` are checked.

    The spread of such rows is the rounding error of their mean, so a ranking by it would be arbitrary. Members of weight 0
    are ignored; with `label` ``(n,)`` only that class is compared.
    """
    candidates = np.flatnonzero(spread < below)
    if not candidates.size or members.n_members == 1:
        return candidates
    part = members[candidates]
    counted = np.ones((1, part.n_members), bool) if part.weights is None else np.atleast_2d(part.weights) > 0
    first = not_negative(part.probs[np.arange(len(part)), counted.argmax(axis=1)])
    bound, differ = ROUNDING * first, np.zeros(first.shape, bool)
    for m in range(part.n_members):
        differ |= (np.abs(not_negative(part.probs[:, m]) - first) > bound) & counted[:, m, None]
    if label is not None:
        return candidates[~differ[np.arange(len(part)), label[candidates]]]
    return candidates[~differ.any(axis=1)]


def _of_members(members: Members) -> tuple[Array, Array, Array]:
    """Entropy of the mean, mean entropy, and mean divergence of the members from the mean, each ``(n,)``."""
    mean = members.mean_probs()
    p_log_p, divergence = member_sums(members.probs, members.weights, divergence_terms(mean), "member_entropies", mean)
    return shannon_entropy(mean), namespace(mean).abs(sum_over_classes(p_log_p)), sum_over_classes(divergence)


def divergence_terms(mean: Array) -> Callable[[Array], tuple[Array, Array]]:
    """A function p → (p ln p, p ln(p / p̄) − p + p̄), elementwise.

    The added p̄ − p sums to 0 over the members and makes every term ≥ 0, so nothing cancels.
    """
    xp, least = namespace(mean), smallest_normal(mean)
    log_mean = xp.log(xp.where(mean > 0.0, xp.maximum(mean, least), 1.0))  # if p̄ = 0, the share of every p > 0 is 0

    def terms(p: Array) -> tuple[Array, Array]:
        p_log_p = p * xp.log(xp.maximum(p, least))  # 0 ln 0 = 0
        d, s, excess = log_ratio(p, mean)
        # p (2 s + s excess) − d without its cancellation, because d = s (p + p̄)
        return p_log_p, xp.where(s * s > NEAR, p_log_p - p * log_mean - d, s * (d + p * excess))

    return terms


def log_ratio(p: Array, mean: Array) -> tuple[Array, Array, Array]:
    """p − p̄, s = (p − p̄) / (p + p̄), and ln(p / p̄) / s − 2 for s² ≤ `NEAR`.

    ln(p / p̄) = 2 artanh s = s (2 + 2 s²/3 + 2 s⁴/5 + …) keeps the digits where p ≈ p̄; elsewhere the difference of the
    logarithms is exact enough.
    """
    d = p - mean
    s = d / namespace(mean).maximum(p + mean, smallest_normal(mean))
    z = s * s
    excess = z * (2.0 / 19.0)
    for odd in range(17, 1, -2):
        excess = z * (2.0 / odd + excess)
    return d, s, excess


def _of_dirichlet(prediction: Dirichlet) -> Decomposition:
    alpha = np.ascontiguousarray(prediction.alpha, dtype=np.float64)
    total_alpha = alpha.sum(axis=1)
    if prediction.unit_concentration:
        alpha, total_alpha = alpha / total_alpha[:, None], np.ones_like(total_alpha)
    mean = alpha / total_alpha[:, None]
    total = shannon_entropy(mean)
    # Inserting H(μ) = ln α₀ − Σ μ ln α leaves a difference of small positive numbers: large logarithms cancel exactly
    epistemic = (mean * digamma_excess(alpha)).sum(axis=1) - digamma_excess(total_alpha)
    epistemic = np.clip(epistemic, 0.0, total)
    return Decomposition(total, total - epistemic, epistemic)


def digamma_excess(x: Array) -> Array:
    """ψ(x + 1) − ln x, about 1 / 2x for large x, without cancellation."""
    # from 16 on the asymptotic series 1/2x − 1/12x² + 1/120x⁴ − … has full double precision
    inverse = 1.0 / np.maximum(x, 16.0)
    square = inverse * inverse
    tail = 1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))
    series = inverse * (0.5 - inverse * (1 / 12 - square * tail))
    return np.where(x < 16.0, digamma(np.minimum(x, 16.0) + 1.0) - np.log(np.minimum(x, 16.0)), series)
