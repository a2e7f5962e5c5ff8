"""What the Gaussian-process classifiers share: targets, options, and the way from latent values to labels."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, softmax

from uqassay.arrays import Floats, normal_points
from uqassay.checks import one_of, whole
from uqassay.lab.methods.base import UncertaintyClassifier
from uqassay.predictions import GaussianLogits, Members

__all__ = [
    "GaussianProcess",
    "latent_prediction",
    "latent_targets",
    "unit_of",
]


# What the Gaussian-process classifiers share: targets, options, and the way from latent Gaussians to a prediction.

ORDINARY = (1e-75, 1e75)
MULTICLASS = ("one-versus-rest", "softmax")


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianProcess(UncertaintyClassifier):
    """Options of all Gaussian-process classifiers, and their prediction from Gaussian latent values.

    Parameters
    ----------
    multiclass : {"one-versus-rest", "softmax"}
        More than two classes have one latent function each, fitted for the class against the rest. "one-versus-rest": the
        prediction is `Members` of normalised σ(g_k). "softmax": the latent functions are taken for logits, in `GaussianLogits`;
        then probabilities are more extreme than those of the single classes against the rest.
    n_draws : int
        Points of a prediction of more than two classes, the same for all instances; see `latent_prediction` for the errors.
    classes : sequence, optional
        All labels, where y may lack some. By default those of y.
    random_state : int, generator or None
        None means seed 0.
    """

    multiclass: str = "one-versus-rest"
    n_draws: int = 128
    classes: Any = None
    random_state: Any = None

    @abstractmethod
    def latent(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Means and variances of the latent functions, ``(n, L)`` each: L = 1 for two classes, otherwise K."""

    def predict_uncertainty(self, X: ArrayLike) -> GaussianLogits | Members:
        """Two classes and "softmax": `GaussianLogits` with epistemic variance; "one-versus-rest": `Members`."""
        mean, variance = self.latent(X)
        return latent_prediction(
            mean, variance, multiclass=self.multiclass, n_draws=self.n_draws, class_names=self.class_names_
        )

    def _check_classes_options(self) -> None:
        one_of(self.multiclass, "multiclass", MULTICLASS, "choose one")
        whole(self.n_draws, "n_draws", "for example 10", least=1)


def unit_of(x: Floats) -> float:
    """A power of two in which the coordinates x have squares that neither overflow nor vanish; 1 for ordinary ones.

    Multiplication by a power of two is exact, so a unit changes no result.
    """
    largest = float(np.abs(x).max(initial=0.0))
    if largest == 0.0 or ORDINARY[0] <= largest <= ORDINARY[1]:
        return 1.0
    return float(2.0 ** np.floor(np.log2(largest)))


def latent_targets(codes: NDArray[np.int64], n_classes: int) -> Floats:
    """Binary target of each latent function, ``(n, L)``.

    Two classes have one latent function (L = 1), which is positive for class 1; K > 2 classes have one for each (L = K), for
    the class against the rest.
    """
    if n_classes == 2:
        return (codes == 1).astype(np.float64)[:, None]
    return (codes[:, None] == np.arange(n_classes)).astype(np.float64)


def latent_prediction(
    mean: Floats,
    variance: Floats,
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
        Points of the prediction for L ≥ 3.

    Returns
    -------
    GaussianLogits or Members
        Two classes: `GaussianLogits` with logits (0, g) and epistemic variance. "softmax": `GaussianLogits` with epistemic
        variance and `n_draws` shared draws, whose mean is exact. "one-versus-rest": `Members`, one for each of `n_draws`
        points of a Sobol sequence of standard normals. All instances share these points, so equal rows have equal points
        wherever they stand. Point m is not a draw of the whole function: it has the same standard normals everywhere.

    Notes
    -----
    Error of mean probabilities and of the mutual information, greatest of 60 random rows with s² up to 9, 128 points: two
    classes 1e-12; "softmax" 1e-9, and .009 nats with three classes, .044 with ten; "one-versus-rest" .002, and .005 nats. With
    512 points it is .003 and .027 nats, and .0009 and .002
    (`python benchmarks/bench_gaussian_processes.py classes`).
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
        return GaussianLogits(
            mean, variance, variance_is="epistemic", n_draws=n_draws, shared_draws=True, class_names=_names(class_names)
        ).with_draws()
    probs, deviation = np.empty((len(mean), n_draws, mean.shape[1])), np.sqrt(variance)
    for m, z in enumerate(normal_points(n_draws, mean.shape[1])):
        # in logarithms, so that the sum of tiny σ(g) does not vanish
        probs[:, m] = softmax(log_expit(mean + deviation * z), axis=1)
    return Members(probs, class_names=_names(class_names))


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
