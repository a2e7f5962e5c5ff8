"""Deep deterministic uncertainty: one network that keeps distances, and a density of its features (Mukhoti et al., 2023).

The softmax expresses uncertainty between classes. The density of the features expresses the distance from the training set. An
ordinary network may map distant instances to the features of known ones; layers with a bounded Lipschitz constant and residual
connections keep them apart.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import nn

from uqassay.errors import InputError
from uqassay.methods.backbones import Backbone
from uqassay.methods.class_gaussians import ClassGaussians
from uqassay.methods.layers import Dense, Network, ReLU
from uqassay.methods.network_classifier import NetworkClassifier
from uqassay.methods.spectral_norm import ResidualBlock, SpectralDense, spectrally_normalised
from uqassay.predictions import Point

__all__ = ["DDU"]

Array = NDArray[np.float64]


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
        Weight of the covariance shared by all classes, in instances; see `uqassay.methods.class_gaussians`.
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
    >>> from uqassay.methods import DDU
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

    def feature_density(self, X: ArrayLike) -> Array:
        """ln of the density of each instance's features under the class Gaussians, ``(n,)``, in nats."""
        features = self._features(self._prepared(self._checked_inputs(X)))
        return self.gaussians_.log_density(features)

    def uncertainty_scores(self, X: ArrayLike) -> dict[str, Array]:
        """Epistemic score "negative-log-density" of each instance, ``(n,)``: greater is farther from the training set."""
        return {"negative-log-density": -self.feature_density(X)}

    def _check_options(self) -> None:
        if not 0 < self.coefficient < np.inf:
            raise InputError(
                "coefficient", "must be positive", f"got {self.coefficient!r}", "for example 3", code="range"
            )
        if not isinstance(self.residual, bool):
            raise InputError("residual", "must be True or False", f"got {self.residual!r}", "choose one", code="type")
        if not 0 <= self.prior_instances < np.inf:
            raise InputError(
                "prior_instances", "must be at least 0", f"got {self.prior_instances!r}", "for example 10", code="range"
            )

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

    def _features(self, x: NDArray[np.float32]) -> Array:
        """Features that enter the head, ``(n, d)``."""
        features: Array = self._evaluate(x, lambda network, x, draws: network.features(x))[:, 0]
        return features
