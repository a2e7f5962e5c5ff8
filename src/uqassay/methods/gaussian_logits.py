"""Predictions of methods with several networks, or several passes of one: softmax members, or Gaussian logits of each.

The head of Gaussian logits has two layers, mean μ and variance σ² of the logits; training draws logits z ~ N(μ, σ²) and takes
the cross-entropy of their mean softmax (Kendall and Gal, 2017; App. A of the paper on disentanglement).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import softplus

from uqassay.methods.backbones import Backbone
from uqassay.methods.base import check_choice
from uqassay.methods.layers import Dense, Draws, Network
from uqassay.methods.network_classifier import NetworkClassifier
from uqassay.methods.training import Batch
from uqassay.predictions import GaussianLogits, Members

__all__ = ["GaussianHead", "SampledClassifier", "sampled_logits_loss"]

N_DRAWS = 100  # of the logits of an instance in training, the paper's number
LEAST_VARIANCE = 1e-6  # keeps the gradient of the standard deviation finite


@final
class GaussianHead(nn.Module):
    """Mean and variance of the logits, each ``(M, B, K)``, from two layers of the same features."""

    def __init__(self, mean: nn.Module, raw_variance: nn.Module) -> None:
        super().__init__()
        self.mean, self.raw_variance = mean, raw_variance

    def forward(self, x: Tensor, draws: Draws | None = None) -> tuple[Tensor, Tensor]:
        """The variance is the softplus of its layer."""
        return self.mean(x, draws), softplus(self.raw_variance(x, draws)) + LEAST_VARIANCE


@dataclass(kw_only=True, eq=False, repr=False)
class SampledClassifier(NetworkClassifier):
    """Base of the methods that state a sample of networks: `Members`, or `GaussianLogits` of each.

    Parameters
    ----------
    head : {"softmax", "gaussian-logits"}
        "softmax" states `Members`, "gaussian-logits" mean and variance of the logits of every network or pass.
    convention : {"exact", "paper-code"}
        For Gaussian logits: "paper-code" uses the second head as a standard deviation in training and as a variance in
        prediction, as the code of the paper on disentanglement does.

    Notes
    -----
    Probabilities from Gaussian logits are the mean softmax of draws that depend on the position of a row in X: a slice of X
    has the same means and variances, but its probabilities differ by the error of 100 draws.
    """

    head: str = "softmax"
    convention: str = "exact"

    def _check_options(self) -> None:
        check_choice("head", self.head, ("softmax", "gaussian-logits"))
        check_choice("convention", self.convention, ("exact", "paper-code"))

    def _new_head(self, backbone: Backbone, layer: Callable[[int, int], nn.Module] = Dense) -> nn.Module:
        """The head chosen, of layers ``layer(inputs, outputs)``."""
        sizes = (backbone.n_features, self._n_classes)
        return layer(*sizes) if self.head == "softmax" else GaussianHead(layer(*sizes), layer(*sizes))

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        if self.head == "softmax":
            return super()._loss(network, outputs, batch)
        mean, variance = outputs
        spread = variance.sqrt() if self.convention == "exact" else variance
        return sampled_logits_loss(mean, spread, batch.y, batch.draws)

    def _stated(self, outputs: Any) -> Members | GaussianLogits:
        """The prediction from what `_evaluate` gives: logits ``(n, M, K)``, or their means and variances."""
        if self.head == "softmax":
            return Members.from_logits(outputs, class_names=self.class_names_)
        mean, variance = outputs
        return GaussianLogits(mean, variance, variance_is="aleatoric", n_draws=N_DRAWS, class_names=self.class_names_)

    def _statement(self, x: NDArray[np.float32]) -> Members | GaussianLogits:
        return self._stated(self._evaluate(x, lambda network, x, draws: network(x, draws), n_passes=self._n_passes()))

    def _n_passes(self) -> int | None:
        """Stochastic passes through one network; None where the networks themselves are the sample."""
        return None


def sampled_logits_loss(mean: Tensor, spread: Tensor, y: Tensor, draws: Draws, n_draws: int = N_DRAWS) -> Tensor:
    """−ln of the mean over draws z ~ N(μ, σ²) of softmax(z) at the label, ``(M, B)``.

    Parameters
    ----------
    mean, spread : tensor (M, B, K)
        μ and the standard deviation σ.
    y : int tensor (M, B)
    draws : Draws
    n_draws : int
    """
    m, b, k = mean.shape
    noise = draws.normal_units(k * n_draws).view(m, b, k, n_draws)
    logits = torch.addcmul(
        mean[..., None], spread[..., None], noise
    )  # (M, B, K, S), draws last: sums over K are then fast
    label = y[..., None]
    noise_at_label = noise.gather(2, label[..., None].expand(m, b, 1, n_draws))[:, :, 0]  # (M, B, S)
    at_label = mean.gather(2, label) + spread.gather(2, label) * noise_at_label
    return math.log(n_draws) - torch.logsumexp(at_label - torch.logsumexp(logits, dim=2), dim=-1)
