"""What the Gaussian-process classifiers share: targets, options, and the way from latent Gaussians to a prediction."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, ndtri
from scipy.stats import qmc

from uqassay.errors import InputError
from uqassay.methods.base import check_choice
from uqassay.predictions import GaussianLogits, Members

__all__ = ["MULTICLASS", "check_multiclass", "check_positive", "latent_prediction", "latent_targets", "normal_points"]

Array = NDArray[np.float64]
MULTICLASS = ("one-versus-rest", "softmax")


def check_multiclass(value: Any) -> None:
    """Refuse a treatment of more than two classes other than those of `MULTICLASS`."""
    check_choice("multiclass", value, MULTICLASS)


def check_positive(name: str, value: Any, example: str) -> None:
    """Refuse an option that is not a finite number above 0."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number:
        raise InputError(name, "must be a number above 0", f"got {value!r}", f"for example {example}", code="type")
    if not (0 < float(value) < np.inf):
        raise InputError(name, "must be a number above 0", f"got {value!r}", f"for example {example}", code="range")


def latent_targets(codes: NDArray[np.int64], n_classes: int) -> Array:
    """Binary target of each latent function, ``(n, L)``.

    Two classes have one latent function (L = 1), which is positive for class 1; K > 2 classes have one for each (L = K), for
    the class against the rest.
    """
    if n_classes == 2:
        return (codes == 1).astype(np.float64)[:, None]
    return (codes[:, None] == np.arange(n_classes)).astype(np.float64)


def latent_prediction(
    mean: Array,
    variance: Array,
    *,
    multiclass: str = "one-versus-rest",
    n_draws: int = 128,
    class_names: Sequence[str] | None = None,
) -> GaussianLogits | Members:
    """The prediction that independent latent Gaussians N(μ, σ²) make.

    Parameters
    ----------
    mean, variance : array (n, L)
        μ and σ² of the latent functions. L = 1: two classes, p(class 1) = σ(g). L ≥ 3: one latent function for each class.
    multiclass : {"one-versus-rest", "softmax"}
        For L ≥ 3. "softmax": the latent functions are logits. "one-versus-rest": probabilities are σ(g_k) / Σ_j σ(g_j).
    n_draws : int
        Members for "one-versus-rest" with L ≥ 3.
    class_names : sequence of str, optional

    Returns
    -------
    GaussianLogits or Members
        Two classes: `GaussianLogits` with logits (0, g) and epistemic variance. "softmax": `GaussianLogits` with epistemic
        variance. "one-versus-rest": `Members`, one for each of `n_draws` points of a Sobol sequence of standard normals.
        All instances share these points, so a row has the same members wherever it stands. Member m is not a draw of the
        whole function: it has the same standard normals everywhere.
    """
    if mean.shape[1] == 1:
        zero = np.zeros_like(mean)
        return GaussianLogits(
            np.hstack([zero, mean]),
            np.hstack([zero, variance]),
            variance_is="epistemic",
            class_names=_names(class_names),
        )
    if multiclass == "softmax":
        return GaussianLogits(mean, variance, variance_is="epistemic", class_names=_names(class_names))
    probs = np.empty((len(mean), n_draws, mean.shape[1]))
    deviation = np.sqrt(variance)
    for m, z in enumerate(normal_points(n_draws, mean.shape[1])):
        share = log_expit(mean + deviation * z)  # in logarithms, so that the sum of tiny σ(g) does not vanish
        share = np.exp(share - share.max(axis=1, keepdims=True))
        probs[:, m] = share / share.sum(axis=1, keepdims=True)
    return Members(probs, class_names=_names(class_names))


def normal_points(n: int, d: int) -> Array:
    """The first n points of a scrambled Sobol sequence of standard normals, ``(n, d)``; always the same."""
    # seed= was renamed to rng= in SciPy 1.15; a generator is accepted by place in neither, so the old name stays
    uniform = qmc.Sobol(d, scramble=True, seed=0).random_base2(max(int(n - 1).bit_length(), 0))[:n]
    return ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12))


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
