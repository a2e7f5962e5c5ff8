"""Weights with a distribution, learnt by variational inference with the Flipout estimator (Wen et al., 2018).

Each weight of a variational layer has the posterior N(μ, σ²), σ = softplus(ρ). For an instance x, with one draw
ΔW = σ ∘ ε for the whole batch and signs r, s of the instance's own, the layer gives

    x μ + b + ((x ∘ s) ΔW) ∘ r,

so that instances see weights of the same distribution that are pairwise uncorrelated. The loss is the cross-entropy plus
KL(posterior ‖ prior) / N for N training instances.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from uqassay.checks import fail, number, one_of, whole
from uqassay.lab.methods.backbones import Backbone, check_where
from uqassay.lab.methods.layers import Dense, Draws, Network, ReLU, affine
from uqassay.lab.methods.networks import SampledClassifier
from uqassay.lab.methods.training import Batch

__all__ = ["Flipout", "FlipoutDense", "kl_to_prior"]


@dataclass(kw_only=True, eq=False, repr=False)
class Flipout(SampledClassifier):
    """A network whose last dense layers have random weights; states `Members`, or `GaussianLogits` of each pass.

    Parameters
    ----------
    n_samples : int
        Networks drawn in prediction, 50 in the paper on disentanglement.
    where : {"hidden", "all"}
        "hidden" makes the last dense layer before the head variational, as the paper does; "all" every dense layer and the
        head. Biases and convolutions are ordinary parameters.
    prior_scales : tuple of float
        Standard deviations of the prior of a weight, a mixture in equal parts of Gaussians around 0; the paper has (5, 2). A
        single value means a single Gaussian.
    initial_rho : float
        Initial ρ; −3 is a standard deviation of 0.05.
    kl_weight : float
        Factor of KL / N; 1 is the evidence lower bound. The paper does not print it; the code of its authors has 32.
    head, convention
        See `SampledClassifier`.
    epochs : int
        500 as in the paper.
    backbone, batch_size, …
        See `NetworkClassifier`.

    Notes
    -----
    In training each instance has independent signs; in prediction a pass is one draw of the weights for all instances. With a
    mixture the divergence is estimated from one draw of the weights in every step, with a single Gaussian it is exact.

    The layer is written here because the one of bayesian-torch draws from PyTorch's global random numbers, holds a single
    network, and knows neither a mixture as the prior nor a divergence that is a sum over weights.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import Flipout
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = Flipout(n_samples=20, backbone=(16, 8), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> net.predict_uncertainty([[-2.0], [2.0]])
    Members(probs=(2, 20, 2), log_partition=(2, 20))
    """

    n_samples: int = 50
    where: str = "hidden"
    prior_scales: tuple[float, ...] = (5.0, 2.0)
    initial_rho: float = -3.0
    kl_weight: float = 1.0
    epochs: int = 500

    def _check_options(self) -> None:
        super()._check_options()
        whole(self.n_samples, "n_samples", "for example 10", least=1)
        one_of(self.where, "where", ("hidden", "all"), "choose one")
        scales = self.prior_scales
        if not isinstance(scales, (tuple, list)) or not scales or not all(_positive(scale) for scale in scales):
            rule = "must be positive standard deviations in a tuple"
            fail("prior_scales", rule, f"got {scales!r}", "for example (5.0, 2.0)", code="range")
        number(self.initial_rho, "initial_rho", "for example -3", low=-20, high=20)
        number(self.kl_weight, "kl_weight", "1 is the evidence lower bound", low=0, ends="[)")

    def _check_backbone(self, backbone: Backbone) -> None:
        check_where(self.where, backbone)

    def _new_network(self, backbone: Backbone) -> Network:
        variational = partial(FlipoutDense, initial_rho=self.initial_rho)
        everywhere = self.where == "all"
        layers: list[nn.Module] = []
        for i, (inputs, outputs) in enumerate(backbone.dense_sizes(), start=1):
            layer = variational if everywhere or i == len(backbone.hidden) else Dense
            layers += [layer(inputs, outputs), ReLU()]
        head = self._new_head(backbone, variational if everywhere else Dense)
        return Network(backbone.extractor(), layers, head)

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        each = super()._loss(network, outputs, batch)  # (M, B)
        random_layers = [module for module in network.modules() if isinstance(module, FlipoutDense)]
        kl = sum(kl_to_prior(layer.weight, layer.scale, self.prior_scales, batch.draws) for layer in random_layers)
        return each + self.kl_weight * kl[:, None] / batch.n_train

    def _n_passes(self) -> int:
        return self.n_samples


@final
class FlipoutDense(Dense):
    """A dense layer with weights N(μ, softplus(ρ)²) and a fixed bias; without draws the weights are their means.

    Attributes
    ----------
    weight : tensor (M, inputs, outputs)
        μ.
    rho : tensor (M, inputs, outputs)
    """

    def __init__(self, inputs: int, outputs: int, *, initial_rho: float) -> None:
        super().__init__(inputs, outputs)
        self.rho = nn.Parameter(torch.full_like(self.weight, initial_rho))

    @property
    def scale(self) -> Tensor:
        """Standard deviations σ of the weights, ``(M, inputs, outputs)``."""
        return softplus(self.rho)

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, inputs)`` to ``(M, B, outputs)``."""
        mean = super().forward(x)
        if draws is None:
            return mean
        _, inputs, outputs = self.weight.shape
        deviation = self.scale * draws.normal_weights(inputs, outputs)  # ΔW
        signed = x * draws.sign_units(inputs)
        return mean + affine(signed, deviation, torch.zeros_like(self.bias)) * draws.sign_units(outputs)


def kl_to_prior(mean: Tensor, scale: Tensor, prior_scales: Sequence[float], draws: Draws) -> Tensor:
    """KL(N(μ, σ²) ‖ prior) in nats, summed over the weights of each network.

    Parameters
    ----------
    mean, scale : tensor (M, inputs, outputs)
        μ and σ.
    prior_scales : sequence of float
        Standard deviations of Gaussians around 0, mixed in equal parts. For one the result is exact; for more, the entropy
        of the posterior is, and the mean of the prior's log-density is that at one draw, without bias.

    Returns
    -------
    tensor (M,)
    """
    if len(prior_scales) == 1:
        (tau,) = prior_scales
        each = math.log(tau) - scale.log() + (scale.square() + mean.square()) / (2 * tau**2) - 0.5
    else:
        weights = mean + scale * draws.normal_weights(*mean.shape[1:])
        log_parts = [-0.5 * (weights / tau).square() - math.log(tau) for tau in prior_scales]
        log_prior = torch.logsumexp(torch.stack(log_parts), dim=0) - math.log(len(prior_scales))
        each = -scale.log() - 0.5 - log_prior  # ½ ln 2π of both densities cancels
    return each.sum(dim=(1, 2))


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 < value < math.inf
