"""Layers with interval weights, for M networks side by side, and the map from interval logits to probability intervals.

An interval of activations is a pair of tensors (lower, upper), each ``(M, B, width)``. What enters the first layer is a tensor
of points. Activations that enter later layers are not negative, after `IntervalReLU`, so that four matrix products give the
exact range of a layer.
"""

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from uqassay.methods.layers import Draws

__all__ = [
    "IntervalBatchNorm",
    "IntervalDense",
    "IntervalReLU",
    "intersection_probability",
    "interval_softmax",
    "reachable",
]

Bounds = tuple[Tensor, Tensor]
MOMENTUM = 0.1  # of the running statistics, PyTorch's default
LEAST_VARIANCE = 1e-5  # added to a variance, PyTorch's default


@final
class IntervalDense(nn.Module):
    """The range of x W + b over all weights W and biases b within centre ± radius, and over all x in their interval.

    Parameters
    ----------
    inputs, outputs : int
    initial_radius : float
        Of weights and biases at first, as a share of 1/√inputs, the reach of the initial centres.
    bias : bool
        Whether there are biases; before batch norm they would be of no effect.

    Notes
    -----
    The radius is the softplus of a parameter, hence positive.
    """

    def __init__(self, inputs: int, outputs: int, initial_radius: float, *, bias: bool = True) -> None:
        super().__init__()
        reach = inputs**-0.5
        raw = math.log(math.expm1(initial_radius * reach))  # softplus(raw) = radius
        self.weight = nn.Parameter(torch.empty(1, inputs, outputs).uniform_(-reach, reach))
        self.bias = nn.Parameter(torch.empty(1, 1, outputs).uniform_(-reach, reach)) if bias else None
        self.raw_weight_radius = nn.Parameter(torch.full((1, inputs, outputs), raw))
        self.raw_bias_radius = nn.Parameter(torch.full((1, 1, outputs), raw)) if bias else None

    def forward(self, x: Tensor | Bounds, draws: Draws | None = None) -> Bounds:
        """Points ``(M, B, inputs)`` of any sign, or an interval of non-negative ones, to ``(M, B, outputs)`` twice."""
        radius = softplus(self.raw_weight_radius)
        if isinstance(x, Tensor):
            centre, reach = x @ self.weight, x.abs() @ radius
            down, up = centre - reach, centre + reach
        else:
            lower, upper = x
            least, most = self.weight - radius, self.weight + radius
            down = lower @ least.clamp(min=0.0) + upper @ least.clamp(max=0.0)
            up = upper @ most.clamp(min=0.0) + lower @ most.clamp(max=0.0)
        if self.bias is None:
            return down, up
        bias_radius = softplus(self.raw_bias_radius)
        return down + (self.bias - bias_radius), up + (self.bias + bias_radius)


@final
class IntervalBatchNorm(nn.Module):
    """Batch norm of the centres; the radii are scaled alike.

    With mean μ and variance v of the centres in the batch, a centre c becomes γ (c − μ)/√(v + ε) + β and a radius r becomes
    |γ| r/√(v + ε): the exact range of that affine map. In evaluation μ and v are running means.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1, 1, width))
        self.shift = nn.Parameter(torch.zeros(1, 1, width))
        self.running_mean: Tensor
        self.running_variance: Tensor
        self.register_buffer("running_mean", torch.zeros(1, 1, width))
        self.register_buffer("running_variance", torch.ones(1, 1, width))

    def forward(self, x: Bounds, draws: Draws | None = None) -> Bounds:
        """``(M, B, width)`` twice; instances that only fill a batch up have no part in its statistics."""
        lower, upper = (bound.to(self.scale.dtype) for bound in x)
        centre, radius = (lower + upper) / 2, (upper - lower) / 2
        mean, variance = self.running_mean, self.running_variance
        if self.training:
            mean, variance = self._statistics(centre, draws)
        factor = self.scale * torch.rsqrt(variance + LEAST_VARIANCE)
        centre, radius = (centre - mean) * factor + self.shift, radius * factor.abs()
        return centre - radius, centre + radius

    def _statistics(self, centre: Tensor, draws: Draws | None) -> Bounds:
        """Mean and variance in the batch, ``(M, 1, width)``; the running ones follow."""
        m, b, _ = centre.shape
        rows = [b] * m if draws is None or draws.rows is None else list(draws.rows)
        counts = torch.tensor(rows, device=centre.device)[:, None, None]
        inside = torch.arange(b, device=centre.device)[:, None] < counts  # (M, B, 1)
        share = inside.to(centre.dtype) / counts
        mean = (share * centre).sum(dim=1, keepdim=True)
        variance = (share * (centre - mean).square()).sum(dim=1, keepdim=True)
        with torch.no_grad():
            unbiased = variance * counts / (counts - 1).clamp(min=1)
            self.running_mean += MOMENTUM * (mean - self.running_mean)
            self.running_variance += MOMENTUM * (unbiased - self.running_variance)
        return mean, variance


@final
class IntervalReLU(nn.Module):
    """max(x, 0) of both bounds."""

    def forward(self, x: Bounds, draws: Draws | None = None) -> Bounds:
        """Any shape, twice."""
        return torch.relu(x[0]), torch.relu(x[1])


def interval_softmax(lower: Tensor, upper: Tensor) -> Bounds:
    """Bounds of the class probabilities from bounds of the logits, the other logits at the middle of theirs.

    l_i = e^{lo_i} / (e^{lo_i} + Σ_{j≠i} e^{mid_j}), and u_i likewise with the upper bound.

    Parameters
    ----------
    lower, upper : tensor (…, K)

    Returns
    -------
    lower, upper : tensor (…, K)
        On both sides of the softmax of the middles, so that Σ l ≤ 1 ≤ Σ u.
    """
    middle = (lower + upper) / 2
    largest = torch.zeros_like(middle, dtype=torch.bool).scatter(-1, middle.argmax(dim=-1, keepdim=True), True)
    # ln Σ_{j≠i} e^{mid_j}: for the largest by the sum itself, for the others, at most half of the whole, by subtraction
    without_largest = middle.masked_fill(largest, -torch.inf).logsumexp(dim=-1, keepdim=True)
    part = middle.softmax(dim=-1).masked_fill(largest, 0.0)
    rest = torch.where(largest, without_largest, middle.logsumexp(dim=-1, keepdim=True) + torch.log1p(-part))
    return torch.sigmoid(lower - rest), torch.sigmoid(upper - rest)


def reachable(lower: Tensor, upper: Tensor) -> Bounds:
    """Bounds that some distribution attains: max(l, 1 − Σ_{j≠i} u_j) and min(u, 1 − Σ_{j≠i} l_j), ``(…, K)`` each.

    Where a sum of bounds rounds to 1 they stay between l and u, and in order.
    """
    spare = 1.0 - lower.sum(dim=-1, keepdim=True)
    short = 1.0 - upper.sum(dim=-1, keepdim=True)
    least = (upper + short).clamp(lower, upper)
    return least, torch.maximum(least, (lower + spare).clamp(lower, upper))


def intersection_probability(lower: Tensor, upper: Tensor) -> Tensor:
    """l + α (u − l) with α = (1 − Σ l)/Σ (u − l), ``(…, K)``; where no width is left, l itself."""
    width = upper - lower
    total = width.sum(dim=-1, keepdim=True)
    alpha = (1.0 - lower.sum(dim=-1, keepdim=True)) / total.where(total > 0, 1.0)
    return lower + alpha.clamp(0.0, 1.0) * width
