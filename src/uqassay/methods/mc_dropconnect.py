"""DropConnect that stays on in prediction: single weights, not units, are set to 0 (Mobiny et al., 2021)."""

from dataclasses import dataclass
from functools import partial
from typing import final

from torch import Tensor, nn

from uqassay.methods.backbones import Backbone, check_where
from uqassay.methods.base import check_choice, check_count, check_rate
from uqassay.methods.gaussian_logits import SampledClassifier
from uqassay.methods.layers import Dense, Draws, Network, ReLU, affine

__all__ = ["DropConnectDense", "MCDropConnect"]


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
    >>> from uqassay.methods import MCDropConnect
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
        check_rate(self.rate)
        check_count("n_samples", self.n_samples)
        check_choice("where", self.where, ("hidden", "all"))

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
