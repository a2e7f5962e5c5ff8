"""Total, aleatoric and epistemic variance of the one-hot label, and the variance of one probability among members."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.measures.entropies import (
    TEMPORARIES,
    Decomposition,
    agreeing_rows,
    decomposed,
    decomposed_points,
    second_order_members,
    varied_members,
)
from uqassay.measures.two_class_logits import is_two_class_gaussian, two_class_parts
from uqassay.predictions import (
    DeviceProbs,
    Dirichlet,
    Members,
    OrderFreeSum,
    Point,
    PredictionLike,
    as_prediction,
    keeps_arrays,
    member_sums,
    not_negative,
    sum_over_classes,
)

__all__ = ["member_variances", "predicted_class_variance", "total_variance", "variance_decomposition"]

Array = NDArray[np.float64]

# Mean probabilities this close to the greatest one count as ties.
_TIE = 1e-12


@keeps_arrays("measures.variance_decomposition")
def variance_decomposition(prediction: PredictionLike) -> Decomposition:
    """Σ_c p̄(1 − p̄) = Σ_c E[p(1 − p)] + Σ_c Var[p]: total, aleatoric and epistemic variance of the label.

    Parameters
    ----------
    prediction : Prediction, or array (n, K) or (n, M, K)
        A kind with a distribution over distributions: `Point`, `Members`, `Dirichlet` (closed form), `GaussianLogits` (passes;
        with epistemic variance exactly for two classes, otherwise draws).

    Returns
    -------
    Decomposition
        Each part in [0, 1 − 1/K].

    Raises
    ------
    InputError
        Sets without a distribution over their elements.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> two = uq.Members(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    >>> d = uq.measures.variance_decomposition(two)
    >>> d.total.tolist(), d.aleatoric.tolist(), d.epistemic.tolist()
    ([0.5], [0.0], [0.5])
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Point):
        return decomposed_points(total_variance(prediction))
    if isinstance(prediction, Dirichlet):
        total, concentration = total_variance(prediction), _concentration(prediction)
        return Decomposition(total, total * (concentration / (concentration + 1.0)), total / (concentration + 1.0))
    if is_two_class_gaussian(prediction):
        parts = two_class_parts(prediction)
        return Decomposition(2.0 * (parts.within + parts.among), 2.0 * parts.within, 2.0 * parts.among)
    return decomposed(second_order_members(prediction), _of_members)


def _of_members(members: Members) -> tuple[Array, Array, Array]:
    """Total, mean and variance over the members, each ``(n,)``."""
    mean = members.mean_probs()
    within, among = member_variances(members, mean)
    return _gini(mean), sum_over_classes(within), sum_over_classes(among)


def member_variances(members: Members, mean: Array) -> tuple[Array, Array]:
    """Σ_m w_m p(1 − p) and Σ_m w_m (p − p̄)² of each class, ``(n, K)``."""

    def terms(p: Array) -> tuple[Array, Array]:
        return p * (1.0 - p), (p - mean) ** 2

    within, among = member_sums(members.probs, members.weights, terms, "member_variances", mean)
    return within, among


@keeps_arrays("measures.total_variance")
def total_variance(prediction: PredictionLike) -> Array:
    """Σ_c p̄(1 − p̄) of the mean prediction, ``(n,)``, from 0 to 1 − 1/K; the Gini index of p̄.

    Any kind of prediction. For two classes it is twice the variance p(1 − p) of the label.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.variance import total_variance
    >>> total_variance(uq.Point([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    return _gini(as_prediction(prediction).mean_probs())


@keeps_arrays("measures.predicted_class_variance")
def predicted_class_variance(prediction: PredictionLike) -> Array:
    """Variance over the members of the probability of the predicted class of the mean, ``(n,)``, from 0 to 1/4.

    Parameters
    ----------
    prediction : Members, Dirichlet or GaussianLogits, or array (n, M, K)
        Members enter with their weights, a Dirichlet with mean μ in closed form, μ(1 − μ) / (α₀ + 1). Gaussian logits enter by
        their passes if the variance is aleatoric; if it is epistemic, exactly for two classes, otherwise by the seeded draws.

    Raises
    ------
    InputError
        A kind without several distributions per instance.

    Notes
    -----
    Source: paper 003, section 7 and its experiments ("the variance of the predicted class"). The variance divides by the
    number of members, not by one less. If several classes have the greatest mean (within 1e-12), it is averaged over them, so
    the result does not depend on the order of the classes.

    Examples
    --------
    >>> import uqassay as uq
    >>> from uqassay.measures.variance import predicted_class_variance
    >>> predicted_class_variance(uq.Members([[[0.5, 0.5], [1.0, 0.0]]])).tolist()
    [0.0625]
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Dirichlet):
        mean = prediction.mean_probs().max(axis=1)
        return np.asarray(mean * (1.0 - mean) / (_concentration(prediction) + 1.0), dtype=np.float64)
    if is_two_class_gaussian(prediction):
        return two_class_parts(prediction).among
    members = varied_members(prediction)
    if isinstance(members, DeviceProbs):
        return members.by_chunks(_predicted_on_device, TEMPORARIES * members.n_classes)[0]
    mean = members.mean_probs()
    best = mean >= mean.max(axis=1, keepdims=True) - _TIE  # (n, K)
    variance = _class_variance(members, mean, best.argmax(axis=1))
    tied = np.flatnonzero(best.sum(axis=1) > 1)
    if tied.size:
        total, best = OrderFreeSum(tied.size), best[tied]
        for label in np.flatnonzero(best.any(axis=0)):
            among, held = np.zeros(tied.size), np.flatnonzero(best[:, label])
            part = members[tied[held]]
            among[held] = _class_variance(part, mean[tied[held]], np.full(held.size, label))
            total.add(among)
        variance[tied] = total.value() / best.sum(axis=1)
    return variance


def _predicted_on_device(part: DeviceProbs) -> tuple[Any]:
    """As above, from the variances of all classes."""
    xp, mean = part.xp, part.mean_probs()
    best = mean >= xp.max(mean, axis=1, keepdims=True) - max(_TIE, 4 * float(xp.finfo(mean.dtype).eps))
    spread = OrderFreeSum(mean.shape, mean)
    for m in range(part.n_members):
        spread.add((part.member(m) - mean) ** 2 / part.n_members)
    of_best = xp.where(best & ~part.agree_in_class(), spread.value(), 0.0)
    return (sum_over_classes(of_best) / xp.sum(xp.astype(best, mean.dtype), axis=1),)


def _class_variance(members: Members, mean: Array, label: NDArray[np.intp]) -> Array:
    """Variance of the probability of one class of each instance, ``(n,)``."""
    rows = np.arange(members.n_instances)
    centre, spread = mean[rows, label], OrderFreeSum(members.n_instances)
    for m in range(members.n_members):
        share: Any = 1.0 / members.n_members if members.weights is None else members.weights[..., m]
        spread.add(share * (not_negative(members.probs[rows, m, label]) - centre) ** 2)
    variance = spread.value()
    variance[agreeing_rows(members, variance, label)] = 0.0
    return variance


def _concentration(prediction: Dirichlet) -> Array:
    """Concentration α₀ of the distribution that is sampled, ``(n,)``."""
    if prediction.unit_concentration:
        return np.ones(prediction.n_instances)
    return np.asarray(np.ascontiguousarray(prediction.alpha, dtype=np.float64).sum(axis=1))


def _gini(mean: Array) -> Array:
    return sum_over_classes(mean * (1.0 - mean))
