"""Entropies of predictions, in nats: total, aleatoric, epistemic, credal and label-wise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, entr, ndtr

from uqassay.arrays import Floats, as_numeric, check_rows, tolerance_of
from uqassay.checks import fail, one_of
from uqassay.credal.entropy import (
    box_lower_entropy,
    box_upper_entropy,
    core_lower_entropy,
    core_upper_entropy,
    hull_lower_entropy,
    hull_upper_entropy,
)
from uqassay.credal.entropy import shannon_entropy as entropy_of_rows
from uqassay.credal.events import MAX_ENUMERATED_CLASSES
from uqassay.errors import TooManyClassesError
from uqassay.native import kernel
from uqassay.predictions import (
    Box,
    Dirichlet,
    GaussianLogits,
    Masses,
    Members,
    OrderFreeSum,
    Point,
    Prediction,
    PredictionLike,
    Vertices,
    as_prediction,
    member_rows,
    member_shares,
    member_sums,
    not_negative,
    sum_over_classes,
)
from uqassay.predictions.base import CORE_BYTES
from uqassay.predictions.quadrature import expected_regret, logistic_normal

__all__ = [
    "Decomposition",
    "agreeing_rows",
    "credal_uncertainty",
    "decomposed",
    "decomposed_points",
    "entropy",
    "entropy_decomposition",
    "is_two_class_gaussian",
    "label_wise_decomposition",
    "label_wise_parts",
    "least_confidence",
    "log_ratio",
    "lower_entropy",
    "margin_uncertainty",
    "second_order_members",
    "shannon_entropy",
    "two_class_parts",
    "two_class_regrets",
    "two_class_votes",
    "upper_entropy",
    "varied_members",
]


# Uncertainty from the largest probabilities of the mean prediction.


def least_confidence(prediction: PredictionLike) -> NDArray[np.float64]:
    """1 − max p̄ of the mean prediction, ``(n,)``, from 0 to 1 − 1/K.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.least_confidence(uq.Point([[0.5, 0.25, 0.25]])).tolist()
    [0.5]
    """
    return np.asarray(1.0 - as_prediction(prediction).mean_probs().max(axis=1))


def margin_uncertainty(prediction: PredictionLike) -> NDArray[np.float64]:
    """1 − (largest − second largest probability) of the mean prediction, ``(n,)``, from 0 to 1.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.measures.margin_uncertainty(uq.Point([[0.5, 0.25, 0.25]])).tolist()
    [0.75]
    """
    top = np.partition(as_prediction(prediction).mean_probs(), -2, axis=1)
    return 1.0 - (top[:, -1] - top[:, -2])


# Exact expectations over Gaussian logits of two classes whose variance is doubt about the function.
#
# The second-order distribution is a mixture, with equal weights, of one logistic normal distribution for each pass.


class TwoClassParts(NamedTuple):
    """Expectations over the probability p of class 1, each ``(n,)``; entropies and divergences in nats."""

    #: total, aleatoric, epistemic: H(E[p]), E[H(p)] and the mutual information.
    total: Floats
    aleatoric: Floats
    epistemic: Floats
    #: within, among: E[p (1 − p)] and Var[p].
    within: Floats
    among: Floats
    pairwise: Floats  #: Expected KL divergence between two independent draws of p.


def is_two_class_gaussian(prediction: Any) -> TypeGuard[GaussianLogits]:
    """True for `GaussianLogits` of two classes with epistemic variance."""
    return (
        isinstance(prediction, GaussianLogits) and prediction.n_classes == 2 and prediction.variance_is == "epistemic"
    )


def two_class_parts(prediction: GaussianLogits) -> TwoClassParts:
    """All of `TwoClassParts` at once, by quadrature."""
    parts = np.empty((6, prediction.n_instances))

    def work(rows: slice, part: GaussianLogits) -> None:
        mean, deviation = part.two_class_logits()
        parts[:, rows] = _mixture(mean, deviation)

    prediction.for_each_chunk(work, 8 * 16 * prediction.n_passes, chunk_bytes=CORE_BYTES)
    return TwoClassParts(*parts)


def _mixture(mean: Floats, deviation: Floats) -> Floats:
    """`TwoClassParts` of ``(n, M)`` Gaussians, ``(6, n)``."""
    each = [part.reshape(mean.shape) for part in logistic_normal(mean.ravel(), deviation.ravel())]
    low, total, aleatoric, epistemic, within, among = each
    # Stein's lemma: E[p ln p/q + (1 − p) ln (1 − p)/(1 − q)] over independent p, q is Cov(p, z) = s² E[p (1 − p)]
    pairwise = np.where(within > 0.0, deviation, 0.0) * within * deviation  # the square alone may overflow
    if mean.shape[1] == 1:
        settled = epistemic == 0.0
        return np.stack([total, np.where(settled, total, aleatoric), epistemic, within, among, pairwise])[:, :, 0]
    p = np.where(mean < 0.0, low, 1.0 - low)
    q = np.where(mean < 0.0, 1.0 - low, low)
    p_mean, q_mean = _average(p), _average(q)
    whole = minus_p_log_p(p_mean) + minus_p_log_p(q_mean)
    spread = _divergence(p, p_mean[:, None]) + _divergence(q, q_mean[:, None])
    epistemic = np.where(
        _equal(mean, deviation), epistemic[:, 0], _average(epistemic) + np.maximum(_average(spread), 0.0)
    )
    aleatoric = np.where(epistemic == 0.0, whole, _average(aleatoric))
    among = _average(among) + _average((p - p_mean[:, None]) ** 2)
    return np.stack([whole, aleatoric, epistemic, _average(within), among, _average(pairwise) + _covariance(p, mean)])


def _average(values: Floats) -> Floats:
    """Mean over the passes, ``(n,)``, independent of their order."""
    return np.asarray(np.sort(values, axis=1).mean(axis=1))


def _equal(mean: Floats, deviation: Floats) -> NDArray[np.bool_]:
    """Rows whose passes are all equal, in which they add nothing to the epistemic part."""
    return np.asarray((mean == mean[:, :1]).all(axis=1) & (deviation == deviation[:, :1]).all(axis=1))


def minus_p_log_p(p: Floats) -> Floats:
    """−p ln p of each entry, 0 for p = 0, in nats."""
    return np.abs(p * np.log(np.where(p > 0.0, p, 1.0)))


def _divergence(p: Floats, mean: Floats) -> Floats:
    """p ln(p / p̄) − p + p̄ ≥ 0."""
    safe = np.where(mean > 0.0, mean, 1.0)
    ratio = (p - mean) / safe
    far = np.log(np.where(p > 0.0, p, 1.0)) - np.log(safe)
    return p * np.where(ratio < -0.5, far, np.log1p(np.maximum(ratio, -0.5))) - (p - mean)


def _covariance(p: Floats, mean: Floats) -> Floats:
    """Covariance over the passes of the mean probability and the mean logit, ``(n,)``; infinite if some means are."""
    infinite = np.isinf(mean)
    finite = np.where(infinite, 0.0, mean)
    centre = _average(finite)[:, None]
    found = _average((p - _average(p)[:, None]) * (finite - centre))
    mixed = infinite.any(axis=1) & ~(mean == mean[:, :1]).all(axis=1)
    return np.where(mixed, np.inf, np.where(infinite.any(axis=1), 0.0, found))


def two_class_regrets(prediction: GaussianLogits) -> tuple[Floats, Floats]:
    """E[1 − max p], ``(n,)``, and E[max p − p(c)] of both classes c, ``(n, 2)``."""
    regret = np.empty((prediction.n_instances, 2))

    def work(rows: slice, part: GaussianLogits) -> None:
        mean, deviation = part.two_class_logits()
        less = expected_regret(mean.ravel(), deviation.ravel()).reshape(mean.shape)  # of the more probable class
        low = logistic_normal(mean.ravel(), deviation.ravel()).low.reshape(mean.shape)
        more = less + (1.0 - 2.0 * low)
        regret[rows, 0] = _average(np.where(mean <= 0.0, less, more))
        regret[rows, 1] = _average(np.where(mean <= 0.0, more, less))

    prediction.for_each_chunk(work, 8 * 16 * prediction.n_passes, chunk_bytes=CORE_BYTES)
    return np.maximum(least_confidence(prediction) - regret.min(axis=1), 0.0), regret


def two_class_votes(prediction: GaussianLogits) -> Floats:
    """P(z < 0) and P(z > 0) under the Gaussian logit difference z, summed over the passes, ``(n, 2)``; a tie counts half."""
    mean, deviation = prediction.two_class_logits()
    certain = np.where(mean == 0.0, 0.0, np.copysign(np.inf, mean))
    with np.errstate(over="ignore"):
        ratio = np.divide(mean, deviation, out=certain, where=(deviation > 0.0) & np.isfinite(mean))
    ratio.sort(axis=1)  # so that the order of the passes changes no bit
    return np.stack([ndtr(-ratio[:, ::-1]).sum(axis=1), ndtr(ratio).sum(axis=1)], axis=1)


# Total, aleatoric and epistemic entropy, in nats.

ROUNDING = 4 * np.finfo(np.float64).eps
SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)
NO_SPREAD = 1e-18  # above the rounding error of the mean of a million equal members
TEMPORARIES = 8  # arrays (n, K) alive at once
NEAR = 0.0294372515228594  # (3 − √8)²: artanh(3 − √8) = ln(√2) / 2


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Total, aleatoric and epistemic uncertainty of each instance, each ``(n,)``.

    Total = aleatoric + epistemic, except for Gaussian logits and for decompositions by a function of the user.
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats


def entropy(probs: PredictionLike) -> Floats:
    """Shannon entropy −Σ p ln p in nats, with 0 ln 0 = 0, of distributions or of the mean of a prediction.

    Parameters
    ----------
    probs : array (..., K), Prediction or mapping
        An array has distributions on its last axis and may have any shape: (n, M, K) gives the entropy of every member,
        (n, M). Of a `Prediction`, or a mapping that describes one, the entropy of the mean is taken, (n,).

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
    array = as_numeric(probs, "probs")
    if array.ndim == 0:
        fail("probs", "must have one distribution on its last axis", f"got {array}", "pass all classes", code="shape")
    check_rows(np.atleast_2d(array), "probs", tolerance=tolerance_of(array))
    return shannon_entropy(array)


def shannon_entropy(probs: NDArray[Any]) -> Floats:
    """`entropy` of an array (..., K) of numbers."""
    p = not_negative(probs)
    compiled = kernel("entropy_terms")
    terms = entr(p) if compiled is None else compiled(np.ravel(p)).reshape(p.shape)
    return np.abs(sum_over_classes(terms))  # abs turns the -0.0 of a one-hot p into 0.0


def entropy_decomposition(prediction: PredictionLike) -> Decomposition:
    """Entropy of the mean, mean of the entropies, and their difference (mutual information), in nats.

    Unified evaluation, Eq. 14-17; ranking metrics, section 7. For a Dirichlet in closed form, E[H(p)] = ψ(α₀ + 1) − Σ (α/α₀)
    ψ(α + 1); for members with their weights; for a point the epistemic part is 0. For Gaussian logits with aleatoric variance
    over the passes; with epistemic variance exactly for two classes (`uqassay.predictions.quadrature`), else over the seeded
    draws.

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


def decomposed_points(total: Floats) -> Decomposition:
    """The decomposition of one distribution per instance: all uncertainty is aleatoric."""
    return Decomposition(total, total.copy(), np.zeros_like(total))


def decomposed(members: Members, kernel: Callable[[Members], tuple[Floats, Floats, Floats]]) -> Decomposition:
    """Total, aleatoric and epistemic part of chunks of the members; epistemic is 0 where the members agree."""
    total, aleatoric, epistemic = np.empty((3, members.n_instances))

    def work(rows: slice, part: Members) -> None:
        total[rows], aleatoric[rows], epistemic[rows] = kernel(part)

    members.for_each_chunk(work, 8 * TEMPORARIES * members.n_classes, chunk_bytes=CORE_BYTES)
    agree = agreeing_rows(members, epistemic)
    aleatoric[agree], epistemic[agree] = total[agree], 0.0
    return Decomposition(total, aleatoric, np.maximum(epistemic, 0.0))


def second_order_members(
    prediction: Prediction, remedy: str = "use upper_entropy, lower_entropy and credal_uncertainty"
) -> Members:
    """The second-order distribution as `Members`; kinds that are only a set are refused."""
    if isinstance(prediction, (Box, Masses, Vertices)):
        rule = "must contain a distribution over distributions"
        got = f"got {type(prediction).__name__}, a set without such a distribution"
        fail("prediction", rule, got, remedy, code="no-distribution")
    credal = prediction.credal()
    if isinstance(credal, Members):
        return credal
    return Members(credal.hull_points(), row_numbers=credal.row_numbers)


def varied_members(prediction: Prediction) -> Members:
    """Like `second_order_members`; also refuses `Point`, which has one member."""
    if isinstance(prediction, Point):
        got = "got Point, which contains one"
        remedy = "use Members, Dirichlet or GaussianLogits, or a score of one distribution such as total-entropy"
        fail("prediction", "must contain several distributions per instance", got, remedy, code="no-members")
    return second_order_members(prediction)


def agreeing_rows(
    members: Members, spread: Floats, label: NDArray[np.int64] | None = None, *, below: float = NO_SPREAD
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


def _of_members(members: Members) -> tuple[Floats, Floats, Floats]:
    """Entropy of the mean, mean entropy, and mean divergence of the members from the mean, each ``(n,)``."""
    mean = members.mean_probs()
    p_log_p, divergence = member_sums(members.probs, members.weights, divergence_terms(mean), "member_entropies", mean)
    return shannon_entropy(mean), np.abs(sum_over_classes(p_log_p)), sum_over_classes(divergence)


def divergence_terms(mean: Floats) -> Callable[[Floats], tuple[Floats, Floats]]:
    """A function p → (p ln p, p ln(p / p̄) − p + p̄), elementwise.

    The added p̄ − p sums to 0 over the members and makes every term ≥ 0, so nothing cancels.
    """
    log_mean = np.log(
        np.where(mean > 0.0, np.maximum(mean, SMALLEST_NORMAL), 1.0)
    )  # if p̄ = 0, the share of every p > 0 is 0

    def terms(p: Floats) -> tuple[Floats, Floats]:
        p_log_p = p * np.log(np.maximum(p, SMALLEST_NORMAL))  # 0 ln 0 = 0
        d, s, excess = log_ratio(p, mean)
        # p (2 s + s excess) − d without its cancellation, because d = s (p + p̄)
        return p_log_p, np.where(s * s > NEAR, p_log_p - p * log_mean - d, s * (d + p * excess))

    return terms


def log_ratio(p: Floats, mean: Floats) -> tuple[Floats, Floats, Floats]:
    """p − p̄, s = (p − p̄) / (p + p̄), and ln(p / p̄) / s − 2 for s² ≤ `NEAR`.

    ln(p / p̄) = 2 artanh s = s (2 + 2 s²/3 + 2 s⁴/5 + …) keeps the digits where p ≈ p̄; elsewhere the difference of the
    logarithms is exact enough.
    """
    d = p - mean
    s = d / np.maximum(p + mean, SMALLEST_NORMAL)
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


def digamma_excess(x: Floats) -> Floats:
    """ψ(x + 1) − ln x, about 1 / 2x for large x, without cancellation."""
    # from 16 on the asymptotic series 1/2x − 1/12x² + 1/120x⁴ − … has full double precision
    inverse = 1.0 / np.maximum(x, 16.0)
    square = inverse * inverse
    tail = 1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))
    series = inverse * (0.5 - inverse * (1 / 12 - square * tail))
    return np.where(x < 16.0, digamma(np.minimum(x, 16.0) + 1.0) - np.log(np.minimum(x, 16.0)), series)


# Upper and lower entropy of a credal set, and their difference, credal uncertainty.
#
# "set" is the credal set of the prediction: the hull of members, draws or vertices, the box of intervals, and the core
# of masses, which holds every distribution that dominates their belief function. "box" contains all distributions
# between the lower and upper probabilities of the classes, {p in the simplex: l ≤ p ≤ u}; hull and core lie inside it.

CHOICES = ("set", "hull", "box")
GAP = 1e-12  # nats; the sets of sure instances are small, and their differences count


def upper_entropy(prediction: PredictionLike, *, over: str = "set") -> Floats:
    """Largest entropy in the credal set of each instance, in nats; measures total uncertainty.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    over : {"set", "hull", "box"}
        "set" (default): the hull of members, draws or vertices (certified to 1e-12), the box of `Intervals`, the core of
        `Masses` (exact; K ≤ 16). "hull": the same, for sets that are given by points only. "box": all distributions between
        the lower and upper probabilities of the classes.

    Returns
    -------
    (n,) float64, nats, between 0 and ln K

    Notes
    -----
    Source: Wang et al. (2024), in the unified evaluation paper eq. (20). The maximiser over the box is
    p = clip(s, l, u) with the level s at which it sums to 1 (Abellán and Moral, 2003).

    Examples
    --------
    >>> import uqassay as uq
    >>> members = uq.Members([[[0.9, 0.1, 0.0], [0.5, 0.0, 0.5]]])
    >>> upper_entropy(members).round(4).tolist(), upper_entropy(members, over="box").round(4).tolist()
    ([0.7691], [0.9433])
    """
    prediction = as_prediction(prediction)
    kind = _kind(prediction, over)
    if kind == "hull":
        return hull_upper_entropy(prediction.hull_points(), GAP).values
    if isinstance(prediction, Masses) and kind == "core":
        return core_upper_entropy(prediction.checked_masses(), prediction.focal_sets)
    return box_upper_entropy(prediction.lower_probs(), prediction.upper_probs())


def lower_entropy(prediction: PredictionLike, *, over: str = "set") -> Floats:
    """Smallest entropy in the credal set of each instance, in nats; measures aleatoric uncertainty.

    Parameters, errors and source are those of `upper_entropy`; the minimum is exact (to 1e-12) over both sets.

    Returns
    -------
    (n,) float64, nats

    Examples
    --------
    >>> import uqassay as uq
    >>> lower_entropy(uq.Intervals([[0.5, 0.1]], [[0.9, 0.5]])).round(4).tolist()
    [0.3251]
    """
    prediction = as_prediction(prediction)
    kind = _kind(prediction, over)
    if kind == "hull":
        return hull_lower_entropy(prediction.hull_points())
    if isinstance(prediction, Masses) and kind == "core":
        return core_lower_entropy(prediction.checked_masses(), prediction.focal_sets)
    return box_lower_entropy(prediction.lower_probs(), prediction.upper_probs()).values


def credal_uncertainty(prediction: PredictionLike, *, over: str = "set", convention: str = "exact") -> Floats:
    """Credal uncertainty: upper minus lower entropy of the credal set of each instance.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    over : {"set", "hull", "box"}
        See `upper_entropy`.
    convention : {"exact", "paper"}
        "exact" is the difference, in nats. "paper" gives the numbers printed as CU in the unified evaluation paper. They
        are a different quantity, in bits: log2 K − H2(singleton lower probabilities normalised to sum 1). It is 0 for a
        uniform prediction and **largest for confident ones**, so it is not an uncertainty. It is nan if all lower
        probabilities are 0, because the normalised vector is then undefined.

    Returns
    -------
    (n,) float64, nats ("exact") or bits ("paper")

    Notes
    -----
    Source: unified evaluation paper, App. F.2, eq. (20); the paper's numbers, Table 6, follow the authors' code.

    Examples
    --------
    >>> import uqassay as uq
    >>> prediction = uq.Intervals([[0.5, 0.1]], [[0.9, 0.5]])
    >>> credal_uncertainty(prediction).round(4).tolist()
    [0.3681]
    >>> credal_uncertainty(prediction, convention="paper").round(4).tolist()
    [0.35]
    """
    one_of(convention, "convention", ("exact", "paper"))
    prediction = as_prediction(prediction)
    if convention == "exact":
        return _difference(prediction, over)
    one_of(over, "over", CHOICES)
    if over == "hull":
        rule = 'must not be "hull" with convention="paper"'
        fail("over", rule, 'got "hull"', "leave over out: the paper uses only lower bounds", code="conflict")
    if isinstance(prediction, Masses):
        prediction = prediction.repaired()
    l = np.maximum(np.asarray(prediction.lower_probs(), dtype=np.float64), 0.0)
    total = l.sum(axis=1, keepdims=True)
    q = np.divide(l, total, out=np.full_like(l, np.nan), where=total > 0)  # (n, K)
    return np.log2(l.shape[1]) - entropy_of_rows(q) / np.log(2.0)


def _kind(prediction: Prediction, over: str) -> str:
    """The set: "hull", "core" or "box"."""
    one_of(over, "over", CHOICES)
    if over != "set":
        return over
    if isinstance(prediction, Masses):
        if prediction.n_classes > MAX_ENUMERATED_CLASSES:
            raise TooManyClassesError(
                "over",
                f"the core of masses takes at most {MAX_ENUMERATED_CLASSES} classes",
                f"got K = {prediction.n_classes}",
                'use over="box", or the score or non-specificity with -box in its name',
                code="size",
            )
        return "core"
    return "box" if isinstance(prediction, Box) else "hull"


def _difference(prediction: Prediction, over: str) -> Floats:
    """Upper minus lower entropy; exactly 0 if the set is one distribution up to the last few bits."""
    difference = upper_entropy(prediction, over=over) - lower_entropy(prediction, over=over)
    l, u = (np.asarray(p, dtype=np.float64) for p in (prediction.lower_probs(), prediction.upper_probs()))
    single = (u - l <= ROUNDING * u).all(axis=1)
    return np.where(single, 0.0, np.maximum(difference, 0.0))


# Label-wise decomposition: the entropies of K two-class problems, each class against the rest, and their sum.

CHUNK_BYTES = 8 * 2**20
MOST_SORTED = 128  # classes of a row that the kernel sorts
OF_16_BITS = 5e-7  # rows that miss the sum 1 by more than this were rounded to few bits


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

    Examples
    --------
    >>> import uqassay as uq
    >>> d = uq.measures.label_wise_parts(uq.Members([[[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]]))
    >>> d.epistemic.round(4).tolist()
    [[0.0, 0.2158, 0.2158]]
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Dirichlet):
        return _label_wise_of_dirichlet(prediction)
    if is_two_class_gaussian(prediction):  # both classes are the same two-class problem
        exact = entropy_decomposition(prediction)
        both = (np.repeat(part[:, None], 2, axis=1) for part in (exact.total, exact.aleatoric, exact.epistemic))
        return Decomposition(*both)
    members = second_order_members(prediction)
    parts = np.empty((3, members.n_instances, members.n_classes))

    def work(rows: slice, part: Members) -> None:
        parts[:, rows] = _label_wise_of_members(part)

    bytes_per_row = 8 * members.n_classes * (2 * TEMPORARIES + 2 * members.n_members)
    members.for_each_chunk(work, bytes_per_row, chunk_bytes=CHUNK_BYTES)
    return Decomposition(*parts)


def _label_wise_of_members(members: Members) -> Floats:
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


def _sums(shares: list[Floats], both: list[Floats]) -> tuple[Floats, Floats, Floats]:
    """The three parts of each class before members that agree are told, ``(n, K)`` each."""
    summed = OrderFreeSum(both[0].shape)
    for share, p in zip(shares, both, strict=True):
        summed.add(share * p)
    mean, terms = summed.value(), divergence_terms(summed.value())
    aleatoric, epistemic = OrderFreeSum(mean.shape), OrderFreeSum(mean.shape)
    for share, p in zip(shares, both, strict=True):
        p_log_p, divergence = terms(p)
        aleatoric.add(share * p_log_p)
        epistemic.add(share * divergence)
    total, of_members = minus_p_log_p(mean).sum(axis=0), np.abs(aleatoric.value().sum(axis=0))
    return total, of_members, np.maximum(epistemic.value().sum(axis=0), 0.0)


def _class_and_rest(p: Floats) -> Floats:
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


def _agree(shares: list[Floats], both: list[Floats]) -> NDArray[np.bool_]:
    """Classes in which all members of a positive weight agree to the last few bits, ``(n, K)``."""
    least, most = np.full(both[0].shape, np.inf), np.zeros(both[0].shape)
    for share, p in zip(shares, both, strict=True):
        counted = np.broadcast_to(np.asarray(share) > 0.0, p.shape)
        np.minimum(least, p, out=least, where=counted)
        np.maximum(most, p, out=most, where=counted)
    return np.asarray((most - least <= ROUNDING * most).all(axis=0))


def _label_wise_of_dirichlet(prediction: Dirichlet) -> Decomposition:
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
