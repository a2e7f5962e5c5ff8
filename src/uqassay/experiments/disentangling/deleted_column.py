"""The authors' estimates for a class left out of the training: its column is deleted, and the rest is not renormalised."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from uqassay.measures import Decomposition
from uqassay.predictions import GaussianLogits, Members, Prediction

__all__ = ["WITHOUT_COLUMN"]

Array = NDArray[np.float64]


def _information_theoretic(prediction: Prediction, k: int, convention: str) -> Decomposition:
    """−Σ p ln p of the mean over the other classes, its mean over the members, and the difference, which is ≥ 0 here too."""
    members = prediction.credal()
    if not isinstance(members, Members):
        members = Members(members.hull_points())
    probs = np.asarray(members.probs, dtype=np.float64)
    shares = np.full((1, probs.shape[1]), 1 / probs.shape[1]) if members.weights is None else members.weights
    total = _entropy(members.mean_probs(), k)
    aleatoric = (np.atleast_2d(shares) * _entropy(probs, k)).sum(axis=1)
    return Decomposition(total, aleatoric, np.maximum(total - aleatoric, 0.0))


def _gaussian_logits(prediction: GaussianLogits, k: int, convention: str) -> Decomposition:
    """As `uqassay.measures.gaussian_logits_decomposition`, each entropy over the other classes."""
    mean, variance = (np.asarray(values, dtype=np.float64) for values in (prediction.mean, prediction.variance))
    aleatoric = np.sqrt(variance).mean(axis=1) ** 2 if convention == "paper-code" else variance.mean(axis=1)
    epistemic = mean.var(axis=1)
    centre = mean.mean(axis=1)

    def entropy(of: Array) -> Array:
        one = GaussianLogits(
            centre[:, None],
            of[:, None],
            variance_is="epistemic",
            n_draws=prediction.n_draws,
            seed=prediction.seed,
        )
        return _entropy(one.mean_probs(), k)

    return Decomposition(entropy(aleatoric + epistemic), entropy(aleatoric), entropy(epistemic))


def _entropy(probs: Array, k: int) -> Array:
    """−Σ p ln p over all classes but k, in nats; p are probabilities ``(…, K)``."""
    others = np.delete(probs, k, axis=-1)
    logs = np.log(others, out=np.zeros_like(others), where=others > 0)
    return -np.asarray((others * logs).sum(axis=-1)) + 0.0


# by the name of the decomposition: (prediction, class left out, convention of the decomposition) → Decomposition
WITHOUT_COLUMN: dict[str, Callable[..., Decomposition]] = {
    "information-theoretic": _information_theoretic,
    "gaussian-logits": _gaussian_logits,
}
