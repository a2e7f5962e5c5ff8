"""Dropout that stays on in prediction: MC dropout of units (`MCDropout`) and of weights (`MCDropConnect`)."""

from dataclasses import dataclass
from functools import partial
from typing import final

from torch import Tensor, nn

from uqassay.checks import number, one_of, whole
from uqassay.lab.methods.backbones import Backbone, check_where
from uqassay.lab.methods.layers import Dense, Draws, Dropout, Network, ReLU, affine
from uqassay.lab.methods.networks import SampledClassifier, dense_layers

__all__ = ["DropConnectDense"]


@dataclass(kw_only=True, eq=False, repr=False)
class MCDropout(SampledClassifier):
    """A network with dropout, evaluated under drawn masks; states `Members`, or `GaussianLogits` of each pass.

    Parameters
    ----------
    rate : float
        Share of the units set to 0. DN(0.1) and DN(0.6) of the paper on calibration of credal predictors have 0.1 and 0.6,
        ``where="last"`` and ``n_samples=10``; the paper on disentanglement has 0.3 and 50.
    n_samples : int
        Passes in prediction.
    where : {"all", "last"}
        Dropout after every dense layer, or only before the head. Convolutions have none.
    head, convention
        See `SampledClassifier`.
    backbone, epochs, …
        See `NetworkClassifier`.

    Notes
    -----
    In training each instance has its own mask. In prediction a pass has one mask for all instances, so each member is one
    network. The distribution of an instance's members is the same, and a slice of X has the same members as the whole.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import MCDropout
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = MCDropout(n_samples=20, backbone=(16,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> net.predict_uncertainty([[-2.0], [2.0]])
    Members(probs=(2, 20, 2), log_partition=(2, 20))
    """

    rate: float = 0.3
    n_samples: int = 50
    where: str = "all"

    def _check_options(self) -> None:
        super()._check_options()
        number(self.rate, "rate", "0 drops nothing", low=0, high=1, ends="[)")
        whole(self.n_samples, "n_samples", "for example 10", least=1)
        one_of(self.where, "where", ("all", "last"), "choose one")

    def _new_network(self, backbone: Backbone) -> Network:
        if self.where == "all" and backbone.hidden:
            layers = dense_layers(backbone, after_each=lambda width: [Dropout(self.rate)])
        else:
            layers = [*dense_layers(backbone), Dropout(self.rate)]
        return Network(backbone.extractor(), layers, self._new_head(backbone))

    def _n_passes(self) -> int:
        return self.n_samples


@dataclass(kw_only=True, eq=False, repr=False)
class MCDropConnect(SampledClassifier):
    """A network whose last dense layers lose weights at random, in prediction too; states `Members`, or `GaussianLogits`.

    Parameters
    ----------
    rate : float
        Share of the weights set to 0; the paper on disentanglement has 0.3.
    n_samples : int
        Passes in prediction, 50 in the paper.
    where : {"hidden", "all"}
        "hidden" drops weights of the last dense layer before the head, as the code of the paper does; "all" those of the head
        too, as its text says ("before and after the fully connected hidden layer"). Biases stay.
    head, convention
        See `SampledClassifier`.
    backbone, epochs, …
        See `NetworkClassifier`.

    Notes
    -----
    In training all instances of a batch share the weights dropped; in prediction a pass drops the same for all instances.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import MCDropConnect
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = MCDropConnect(n_samples=20, backbone=(16, 8), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> net.predict_uncertainty([[-2.0], [2.0]])
    Members(probs=(2, 20, 2), log_partition=(2, 20))
    """

    rate: float = 0.3
    n_samples: int = 50
    where: str = "hidden"

    def _check_options(self) -> None:
        super()._check_options()
        number(self.rate, "rate", "0 drops nothing", low=0, high=1, ends="[)")
        whole(self.n_samples, "n_samples", "for example 10", least=1)
        one_of(self.where, "where", ("hidden", "all"), "choose one")

    def _check_backbone(self, backbone: Backbone) -> None:
        check_where(self.where, backbone)

    def _new_network(self, backbone: Backbone) -> Network:
        dropping = partial(DropConnectDense, rate=self.rate)
        layers: list[nn.Module] = []
        for i, (inputs, outputs) in enumerate(backbone.dense_sizes(), start=1):
            layer = dropping if i == len(backbone.hidden) else Dense
            layers += [layer(inputs, outputs), ReLU()]
        head = self._new_head(backbone, dropping if self.where == "all" else Dense)
        return Network(backbone.extractor(), layers, head)

    def _n_passes(self) -> int:
        return self.n_samples


@final
class DropConnectDense(Dense):
    """A dense layer whose weights are set to 0 with probability `rate`, the others scaled up by 1/(1 − rate)."""

    def __init__(self, inputs: int, outputs: int, *, rate: float) -> None:
        super().__init__(inputs, outputs)
        self.rate = rate

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, inputs)`` to ``(M, B, outputs)``."""
        if draws is None:
            return super().forward(x)
        kept = draws.keep_weights(self.rate, *self.weight.shape[1:])
        return affine(x, self.weight * kept, self.bias)
