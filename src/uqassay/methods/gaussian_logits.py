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
CACHE_BYTES = 2**19  # of the draws of a few networks
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
    loss: Tensor = _SampledLoss.apply(mean, spread, y, draws, n_draws)
    return loss


class _SampledLoss(torch.autograd.Function):
    """The loss of `sampled_logits_loss` with its gradient in closed form.

    With p the softmax of a draw and w the draws' shares of the mean probability of the label, the gradient in μ is
    Σ w (p − e_y) and that in σ is Σ w (p − e_y) ε. A CPU takes a few networks at a time, whose draws stay in its cache:
    allocating all of them anew in each step costs more than the arithmetic.
    """

    @staticmethod
    def forward(ctx: Any, mean: Tensor, spread: Tensor, y: Tensor, draws: Draws, n_draws: int) -> Tensor:
        m, b, k = mean.shape
        size = m if mean.is_cuda else max(1, CACHE_BYTES // (4 * b * k * n_draws))
        parts = []
        for start in range(0, m, size):
            some = slice(start, start + size)
            noise = draws.of(some).normal_units(k * n_draws).view(-1, b, k, n_draws)
            parts.append(_loss_and_gradient(mean[some], spread[some], y[some], noise))
        loss, *gradients = parts[0] if len(parts) == 1 else map(torch.cat, zip(*parts, strict=True))
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        to_mean, to_spread = ctx.saved_tensors
        outer = given[0][..., None]
        return to_mean * outer, to_spread * outer, None, None, None


def _loss_and_gradient(mean: Tensor, spread: Tensor, y: Tensor, noise: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The loss ``(M, B)`` and its gradients in mean and spread; noise ``(M, B, K, S)``, draws last: sums over K are fast."""
    n_draws = noise.shape[3]
    label = y[..., None, None].expand(*y.shape, 1, n_draws)
    p = torch.addcmul(mean[..., None], spread[..., None], noise)  # logits
    p -= p.amax(dim=2, keepdim=True)
    at_label = p.gather(2, label)[:, :, 0]  # (M, B, S)
    normaliser = p.exp_().sum(dim=2)
    log_probs = at_label - normaliser.log()  # of the label in each draw
    log_sum = torch.logsumexp(log_probs, dim=-1)
    w = (log_probs - log_sum[..., None]).exp_()
    p *= (w / normaliser)[:, :, None]  # w p
    own, minus = y[..., None], -w
    to_mean = p.sum(dim=-1).scatter_add_(2, own, minus.sum(dim=-1, keepdim=True))
    minus *= noise.gather(2, label)[:, :, 0]
    to_spread = p.mul_(noise).sum(dim=-1).scatter_add_(2, own, minus.sum(dim=-1, keepdim=True))
    return math.log(n_draws) - log_sum, to_mean, to_spread
