"""Deep deterministic uncertainty: one network that keeps distances, and a density of its features."""

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf
from torch import nn

from uqassay.arrays import Floats
from uqassay.checks import number, true_or_false
from uqassay.lab.methods.backbones import Backbone
from uqassay.lab.methods.layers import Dense, Network, ReLU, ResidualBlock, SpectralDense, spectrally_normalised
from uqassay.lab.methods.networks import NetworkClassifier
from uqassay.predictions import Point

__all__ = [
    "ClassGaussians",
]


# One Gaussian for each class on the features of a network: the density of the training instances around a new one.
#
# The covariance of a class is shrunk towards the one shared by all classes, so that it exists for small classes too:
#
#     Σ_c = (n_c S_c + ν S) / (n_c + ν),
#
# the mode of an inverse Wishart posterior whose prior has the weight of ν instances. S_c is the covariance within class
# c, and S the one within all classes, shrunk by Ledoit and Wolf (2004).

FLOOR = 1e-6  # variance of features that are constant within classes, as a share of the mean variance


@final
@dataclass(frozen=True)
class ClassGaussians:
    """A mixture of Gaussians, one for each class, weighted by the class's share of the training instances."""

    means: Floats  #: (K, d)
    covariances: Floats  #: (K, d, d)
    log_shares: Floats  #: (K,)
    roots: Floats  #: (K, d, d): Lower Cholesky factors of the covariances

    @classmethod
    def fit(
        cls, features: Floats, codes: NDArray[np.int64], n_classes: int, *, prior_instances: float = 10.0
    ) -> "ClassGaussians":
        """Fit to features ``(n, d)`` and class indices ``(n,)``; a class without instances has share 0.

        Parameters
        ----------
        prior_instances : float
            ν ≥ 0. With 0 only the floor of the variances keeps the covariance of a class regular.
        """
        n, d = features.shape
        counts = np.bincount(codes, minlength=n_classes)
        means = np.stack([features[codes == c if counts[c] else slice(None)].mean(axis=0) for c in range(n_classes)])
        residuals = features - means[codes]
        shared, _ = ledoit_wolf(residuals, assume_centered=True)
        floor = FLOOR * (float(features.var(axis=0).mean()) or 1.0) * np.eye(d)
        covariances = np.empty((n_classes, d, d))
        for c in range(n_classes):
            within = residuals[codes == c]
            covariances[c] = (within.T @ within + prior_instances * shared) / (
                (counts[c] + prior_instances) or 1.0
            ) + floor
        roots = np.stack([cholesky(covariance, lower=True) for covariance in covariances])
        log_shares = np.log(counts / n, out=np.full(n_classes, -np.inf), where=counts > 0)
        return cls(means, covariances, log_shares, roots)

    def log_joint(self, features: Floats) -> Floats:
        """ln of share times density of each class at features ``(n, d)``, ``(n, K)``."""
        out = np.empty((len(features), len(self.means)))
        constant = features.shape[1] * np.log(2 * np.pi)
        for c, (mean, root) in enumerate(zip(self.means, self.roots, strict=True)):
            whitened = solve_triangular(root, (features - mean).T, lower=True)  # (d, n)
            log_det = 2 * np.log(np.diagonal(root)).sum()
            out[:, c] = self.log_shares[c] - 0.5 * ((whitened**2).sum(axis=0) + log_det + constant)
        return out

    def log_density(self, features: Floats) -> Floats:
        """ln of the density of the mixture at features ``(n, d)``, ``(n,)``."""
        density: Floats = logsumexp(self.log_joint(features), axis=1)
        return density


# Deep deterministic uncertainty: one network that keeps distances, and a density of its features (Mukhoti et al.,
# 2023).
#
# The softmax expresses uncertainty between classes. The density of the features expresses the distance from the
# training set. An ordinary network may map distant instances to the features of known ones; layers with a bounded
# Lipschitz constant and residual connections keep them apart.


@dataclass(kw_only=True, eq=False, repr=False)
class DDU(NetworkClassifier):
    """A spectrally normalised network and a Gaussian for each class on its features; states a `Point`, scores by density.

    Parameters
    ----------
    coefficient : float
        Largest Lipschitz constant c of each linear and convolutional layer before the head; 3 as in the authors' code.
    residual : bool
        Dense layers of equal width are x + ReLU(W x + b), so that distances cannot collapse where c < 1.
    prior_instances : float
        Weight of the covariance shared by all classes, in instances; see `uqassay.lab.methods.ddu`.
    backbone, epochs, …
        See `NetworkClassifier`. Residual connections inside convolutional networks are those of the backbone given.

    Attributes
    ----------
    gaussians_ : ClassGaussians
        Of the features that the head sees, over all training instances.

    Notes
    -----
    The prediction is the softmax alone, as in the paper on unified evaluation. `uncertainty_scores` returns the density as a
    score, in the form that `uqassay.assay` takes:
    ``uq.assay({"ddu": net.predict_uncertainty(X)}, y, uncertainties={"ddu": net.uncertainty_scores(X)})``.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import DDU
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = DDU(backbone=(8,), epochs=60, learning_rate=0.02).fit(x, ["cold", "cold", "hot", "hot"] * 8)
    >>> net.predict([[-2.0], [2.0]]).tolist()
    ['cold', 'hot']
    >>> near, far = net.feature_density([[0.9], [50.0]])
    >>> bool(near > far)
    True
    """

    coefficient: float = 3.0
    residual: bool = True
    prior_instances: float = 10.0

    def feature_density(self, X: ArrayLike) -> Floats:
        """ln of the density of each instance's features under the class Gaussians, ``(n,)``, in nats."""
        features = self._features(self._prepared(self._checked_inputs(X)))
        return self.gaussians_.log_density(features)

    def uncertainty_scores(self, X: ArrayLike) -> dict[str, Floats]:
        """Epistemic score "negative-log-density" of each instance, ``(n,)``: greater is farther from the training set."""
        return {"negative-log-density": -self.feature_density(X)}

    def _check_options(self) -> None:
        number(self.coefficient, "coefficient", "for example 3", low=0, ends="()")
        true_or_false(self.residual, "residual")
        number(self.prior_instances, "prior_instances", "for example 10", low=0, ends="[)")

    def _new_network(self, backbone: Backbone) -> Network:
        extractor = backbone.extractor(partial(spectrally_normalised, coefficient=self.coefficient))
        layers: list[nn.Module] = []
        for inputs, outputs in backbone.dense_sizes():
            layer = SpectralDense(inputs, outputs, coefficient=self.coefficient)
            layers += [ResidualBlock(layer)] if self.residual and inputs == outputs else [layer, ReLU()]
        return Network(extractor, layers, Dense(backbone.n_features, self._n_classes))

    def _after_training(self, x: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        self.gaussians_: ClassGaussians = ClassGaussians.fit(
            self._features(x), y, self._n_classes, prior_instances=self.prior_instances
        )

    def _statement(self, x: NDArray[np.float32]) -> Point:
        logits = self._evaluate(x, lambda network, x, draws: network(x))  # (n, 1, K)
        return Point.from_logits(logits[:, 0], class_names=self.class_names_)

    def _features(self, x: NDArray[np.float32]) -> Floats:
        """Features that enter the head, ``(n, d)``."""
        features: Floats = self._evaluate(x, lambda network, x, draws: network.features(x))[:, 0]
        return features
