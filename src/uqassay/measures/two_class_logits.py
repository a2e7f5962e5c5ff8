"""Exact expectations over Gaussian logits of two classes whose variance is doubt about the function.

The second-order distribution is a mixture, with equal weights, of one logistic normal distribution for each pass.
"""

from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from uqassay._namespaces import namespace
from uqassay.measures.confidence import least_confidence
from uqassay.predictions import GaussianLogits
from uqassay.predictions.base import CORE_BYTES
from uqassay.predictions.logistic_normal import expected_regret, logistic_normal

__all__ = [
    "TwoClassParts",
    "is_two_class_gaussian",
    "minus_p_log_p",
    "two_class_parts",
    "two_class_regrets",
    "two_class_votes",
]

Array = NDArray[np.float64]


class TwoClassParts(NamedTuple):
    """Expectations over the probability p of class 1, each ``(n,)``; entropies and divergences in nats.

    Attributes
    ----------
    total, aleatoric, epistemic : array (n,)
        H(E[p]), E[H(p)] and the mutual information.
    within, among : array (n,)
        E[p (1 − p)] and Var[p].
    pairwise : array (n,)
        Expected KL divergence between two independent draws of p.
    """

    total: Array
    aleatoric: Array
    epistemic: Array
    within: Array
    among: Array
    pairwise: Array


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


def _mixture(mean: Array, deviation: Array) -> Array:
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


def _average(values: Array) -> Array:
    """Mean over the passes, ``(n,)``, independent of their order."""
    return np.asarray(np.sort(values, axis=1).mean(axis=1))


def _equal(mean: Array, deviation: Array) -> NDArray[np.bool_]:
    """Rows whose passes are all equal, in which they add nothing to the epistemic part."""
    return np.asarray((mean == mean[:, :1]).all(axis=1) & (deviation == deviation[:, :1]).all(axis=1))


def minus_p_log_p(p: Array) -> Array:
    """−p ln p of each entry, 0 for p = 0, in nats."""
    xp = namespace(p)
    return xp.abs(p * xp.log(xp.where(p > 0.0, p, 1.0)))


def _divergence(p: Array, mean: Array) -> Array:
    """p ln(p / p̄) − p + p̄ ≥ 0."""
    safe = np.where(mean > 0.0, mean, 1.0)
    ratio = (p - mean) / safe
    far = np.log(np.where(p > 0.0, p, 1.0)) - np.log(safe)
    return p * np.where(ratio < -0.5, far, np.log1p(np.maximum(ratio, -0.5))) - (p - mean)


def _covariance(p: Array, mean: Array) -> Array:
    """Covariance over the passes of the mean probability and the mean logit, ``(n,)``; infinite if some means are."""
    infinite = np.isinf(mean)
    finite = np.where(infinite, 0.0, mean)
    centre = _average(finite)[:, None]
    found = _average((p - _average(p)[:, None]) * (finite - centre))
    mixed = infinite.any(axis=1) & ~(mean == mean[:, :1]).all(axis=1)
    return np.where(mixed, np.inf, np.where(infinite.any(axis=1), 0.0, found))


def two_class_regrets(prediction: GaussianLogits) -> tuple[Array, Array]:
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


def two_class_votes(prediction: GaussianLogits) -> Array:
    """P(z < 0) and P(z > 0) under the Gaussian logit difference z, summed over the passes, ``(n, 2)``; a tie counts half."""
    mean, deviation = prediction.two_class_logits()
    certain = np.where(mean == 0.0, 0.0, np.copysign(np.inf, mean))
    with np.errstate(over="ignore"):
        ratio = np.divide(mean, deviation, out=certain, where=(deviation > 0.0) & np.isfinite(mean))
    ratio.sort(axis=1)  # so that the order of the passes changes no bit
    return np.stack([ndtr(-ratio[:, ::-1]).sum(axis=1), ndtr(ratio).sum(axis=1)], axis=1)
