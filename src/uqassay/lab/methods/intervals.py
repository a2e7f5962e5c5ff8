"""Credal-set interval networks (CreINN): every weight is an interval, and so is every class probability."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import conv2d, softplus

from uqassay.checks import fail, number
from uqassay.lab.methods.backbones import Backbone
from uqassay.lab.methods.layers import Draws, Network
from uqassay.lab.methods.networks import NetworkClassifier
from uqassay.lab.methods.training import Batch
from uqassay.predictions import Intervals

__all__ = [
    "Halves",
    "IntervalBatchNorm",
    "IntervalConvolution",
    "IntervalDense",
    "IntervalImageNetwork",
    "IntervalReLU",
    "intersection_probability",
    "interval_softmax",
    "reachable",
]


# Layers with interval weights, for M networks side by side, and the map from interval logits to probability intervals.
#
# An interval of activations is a pair of tensors (lower, upper), each ``(M, B, width)``. What enters the first layer is
# a tensor of points. Activations that enter later layers are not negative, after `IntervalReLU`, so that four matrix
# products give the exact range of a layer.

Bounds = tuple[Tensor, Tensor]
MOMENTUM = 0.1  # of the running statistics, PyTorch's default
LEAST_VARIANCE = 1e-5  # added to a variance, PyTorch's default


@final
class IntervalDense(nn.Module):
    """The range of x W + b over all weights W and biases b within centre ± radius, and over all x in their interval.

    Parameters
    ----------
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


# Convolutions with interval weights: the image networks of `uqassay.lab.methods.backbones`, from points to intervals.


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


# Credal-set interval networks: every weight is an interval, and so is every class probability (Wang et al., 2024).
#
# Interval arithmetic maps the inputs through the layers to interval logits, and an interval softmax maps these to
# probability intervals. The loss is the cross-entropy of the intersection probability of the reachable intervals.

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
        All other convolutions have point weights, and only the dense layers after them have interval weights: with "resnet50"
        the head alone.

    Notes
    -----
    One of the eight predictors of the unified evaluation (App. E), where all layers of a ResNet-50 are intervals;
    here, with "resnet50", only the last one is.
    The bounds of the activations are exact for each layer. Through several layers they may be wider than the range of the
    network, since a unit that is used twice counts as two independent intervals. The interval softmax is that of the paper:
    each bound takes the other logits at their centres, so the bounds do not hold for every network within the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import CreINN
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = CreINN(backbone=(8,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> said = net.predict_uncertainty([[-2.0], [2.0]])
    >>> said, said.labels().tolist()
    (Intervals(lower=(2, 2), upper=(2, 2)), [0, 1])
    """

    initial_radius: float | None = None
    batch_norm: bool = True

    def _check_options(self) -> None:
        if self.initial_radius is not None:
            number(self.initial_radius, "initial_radius", "for example 0.03", low=0, ends="()")
        if self.batch_norm and self.batch_size == 1:
            rule = "must be at least 2 for batch norm"
            fail("batch_size", rule, "got 1", "raise it or give batch_norm=False", code="range")

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
