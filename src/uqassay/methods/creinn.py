"""Credal-set interval networks: every weight is an interval, and so is every class probability (Wang et al., 2024).

Interval arithmetic maps the inputs through the layers to interval logits, and an interval softmax maps these to probability
intervals. The loss is the cross-entropy of the intersection probability of the reachable intervals.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from uqassay.errors import InputError
from uqassay.methods.backbones import Backbone
from uqassay.methods.interval_convolutions import Halves, IntervalImageNetwork
from uqassay.methods.interval_layers import (
    IntervalBatchNorm,
    IntervalDense,
    IntervalReLU,
    intersection_probability,
    interval_softmax,
    reachable,
)
from uqassay.methods.layers import Network
from uqassay.methods.network_classifier import NetworkClassifier
from uqassay.methods.training import Batch
from uqassay.predictions import Intervals

__all__ = ["CreINN"]

INTERVAL_BACKBONES = ("cnn", "cnn-small")
# initial radii with which digits are learnt; ten times as much is too wide
DENSE_RADIUS, CONVOLUTIONAL_RADIUS = 0.03, 1e-4
LEAST_PROBABILITY = 1e-30  # before its logarithm, in single precision


@dataclass(kw_only=True, eq=False, repr=False)
class CreINN(NetworkClassifier):
    """A network with interval weights, centre ± radius; states `Intervals`.

    Parameters
    ----------
    initial_radius : float, optional
        Initial radius of weights and biases, as a share of 1/√inputs of their layer; 0.03 by default, 0.0001 with interval
        convolutions. Training changes it slowly. Intervals widen from layer to layer, and more so with many inputs. If the
        radius is too large, all upper bounds are near 1, and the predicted class, that with the greatest one, is arbitrary.
    batch_norm : bool
        Interval batch norm after every dense layer but the last: the centres of the activations are normalised by their mean
        and variance in the batch, and the radii are multiplied by the same factor. These layers then have no biases.
    backbone, epochs, …
        See `NetworkClassifier`. The convolutions of "cnn" and "cnn-small" have interval weights as well, without batch norm.
        The convolutions of "resnet50", "eeg" and a given module have point weights, and only the dense layers after them,
        which is the head alone for "resnet50", have interval weights.

    Notes
    -----
    One of the eight predictors of the unified evaluation (paper 000, App. E), where all layers of a ResNet-50 are intervals;
    here, with "resnet50", only the last one is.
    The bounds of the activations are exact for each layer. Through several layers they may be wider than the range of the
    network, since a unit that is used twice counts as two independent intervals. The interval softmax is that of the paper:
    each bound takes the other logits at their centres, so the bounds do not hold for every network within the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.methods import CreINN
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = CreINN(backbone=(8,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> said = net.predict_uncertainty([[-2.0], [2.0]])
    >>> said, said.labels().tolist()
    (Intervals(lower=(2, 2), upper=(2, 2)), [0, 1])
    """

    initial_radius: float | None = None
    batch_norm: bool = True

    def _check_options(self) -> None:
        if self.initial_radius is not None and not 0 < self.initial_radius < np.inf:
            raise InputError(
                "initial_radius", "must be positive", f"got {self.initial_radius!r}", "for example 0.03", code="range"
            )
        if self.batch_norm and self.batch_size == 1:
            raise InputError(
                "batch_size",
                "must be at least 2 for batch norm",
                "got 1",
                "raise it or give batch_norm=False",
                code="range",
            )

    def _new_network(self, backbone: Backbone) -> Network:
        everywhere = isinstance(self.backbone, str) and self.backbone in INTERVAL_BACKBONES
        radius = self.initial_radius or (CONVOLUTIONAL_RADIUS if everywhere else DENSE_RADIUS)
        extractor, layers = backbone.extractor(), list[nn.Module]()
        if everywhere:  # a second draw of weights; to draw once would change the networks of every seed
            extractor, layers = backbone.extractor(partial(IntervalImageNetwork, initial_radius=radius)), [Halves()]
        for inputs, outputs in backbone.dense_sizes():
            layers.append(IntervalDense(inputs, outputs, radius, bias=not self.batch_norm))
            layers += [IntervalBatchNorm(outputs)] if self.batch_norm else []
            layers.append(IntervalReLU())
        head = IntervalDense(backbone.n_features, self._n_classes, radius)
        return Network(extractor, layers, head)

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        probs = intersection_probability(*reachable(*interval_softmax(*outputs)))  # (M, B, K)
        of_label = probs.gather(-1, batch.y[..., None])[..., 0]
        return -of_label.clamp(min=LEAST_PROBABILITY).log()

    def _statement(self, x: NDArray[np.float32]) -> Intervals:
        lower, upper = self._evaluate(x, lambda network, x, draws: reachable(*interval_softmax(*network(x))))
        return Intervals(lower[:, 0], upper[:, 0], class_names=self.class_names_)
