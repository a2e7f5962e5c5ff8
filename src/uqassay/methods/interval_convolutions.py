"""Convolutions with interval weights: the image networks of `uqassay.methods.backbones`, from points to intervals."""

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, softplus

from uqassay.methods.layers import Draws

__all__ = ["Halves", "IntervalConvolution", "IntervalImageNetwork"]

Bounds = tuple[Tensor, Tensor]


@final
class IntervalConvolution(nn.Module):
    """The range of a convolution over weights and biases within centre ± radius, and over images in their interval.

    Parameters
    ----------
    centre : torch.nn.Conv2d
        Its weights and biases are the centres.
    initial_radius : float
        Of weights and biases at first, as a share of 1/√inputs, inputs being those of one output.
    """

    def __init__(self, centre: nn.Conv2d, initial_radius: float) -> None:
        super().__init__()
        self.centre = centre
        inputs = centre.weight[0].numel()
        raw = math.log(math.expm1(initial_radius * inputs**-0.5))  # softplus(raw) = radius
        self.raw_weight_radius = nn.Parameter(torch.full_like(centre.weight, raw))
        self.raw_bias_radius = nn.Parameter(torch.full_like(centre.bias, raw))

    def forward(self, x: Tensor | Bounds) -> Bounds:
        """Images of any sign ``(B, C, H, W)``, or an interval of non-negative ones, to an interval."""
        weight, bias = self.centre.weight, self.centre.bias
        radius, bias_radius = softplus(self.raw_weight_radius), softplus(self.raw_bias_radius)
        if isinstance(x, Tensor):
            middle, reach = self._convolved(x, weight, bias), self._convolved(x.abs(), radius, bias_radius)
            return middle - reach, middle + reach
        lower, upper = x
        least, most = weight - radius, weight + radius
        down = self._convolved(lower, least.clamp(min=0.0), bias - bias_radius)
        up = self._convolved(upper, most.clamp(min=0.0), bias + bias_radius)
        return (
            down + self._convolved(upper, least.clamp(max=0.0)),
            up + self._convolved(lower, most.clamp(max=0.0)),
        )

    def _convolved(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        made: Tensor = conv2d(x, weight, bias, self.centre.stride, self.centre.padding)
        return made


@final
class IntervalImageNetwork(nn.Module):
    """Convolutions and monotone layers in sequence, for one network: ``(B, …)`` to both bounds side by side, ``(B, 2 d)``.

    Parameters
    ----------
    network : torch.nn.Module
        A sequence of convolutions, each followed by ReLU; all others grow with their inputs, as ReLU and max pooling do.
    initial_radius : float
    """

    def __init__(self, network: nn.Module, initial_radius: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            IntervalConvolution(layer, initial_radius) if isinstance(layer, nn.Conv2d) else layer
            for layer in network.children()
        )

    def forward(self, x: Tensor) -> Tensor:
        """Points to intervals."""
        state: Tensor | Bounds = x
        for layer in self.layers:
            if isinstance(layer, IntervalConvolution) or isinstance(state, Tensor):
                state = layer(state)
            else:
                state = layer(state[0]), layer(state[1])
        return torch.cat(tuple(state), dim=1)


@final
class Halves(nn.Module):
    """Both bounds of ``(M, B, 2 d)``."""

    def forward(self, x: Tensor, draws: Draws | None = None) -> Bounds:
        """The lower and the upper bound, each ``(M, B, d)``."""
        lower, upper = x.chunk(2, dim=-1)
        return lower, upper
