"""Layers with a Lipschitz constant of at most c: weights are divided by max(1, σ / c), σ being the largest singular value.

While training, σ comes from one step of the power iteration for each batch (Miyato et al., 2018); in evaluation it is exact.
A convolution, as a matrix of kernels (outputs, inputs × kernel) with the singular value σ, changes distances by at most
√r σ, where r is the number of patches in which one value of the input can occur: k along an axis for a kernel of k steps and
stride 1. That bound takes the place of σ; it holds for padding by zeros or in a circle.
"""

import math
from copy import deepcopy
from typing import final

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import normalize

from uqassay.methods.layers import Dense, Draws

__all__ = ["ResidualBlock", "SpectralDense", "SpectralLayer", "spectrally_normalised"]

FIRST_STEPS = 20  # of the power iteration, before training
LARGEST_FACTORED = 64  # rows or columns; for larger matrices the eigenvalues of W Wᵀ take a fraction of the time
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


@final
class SpectralDense(Dense):
    """A dense layer with a Lipschitz constant of at most `coefficient` in each of M networks."""

    def __init__(self, inputs: int, outputs: int, *, coefficient: float) -> None:
        super().__init__(inputs, outputs)
        self.coefficient = coefficient
        self.register_buffer("direction", first_direction(self.weight))

    def normalised_weight(self) -> Tensor:
        """The weights in use, ``(M, inputs, outputs)``."""
        sigma = largest_singular_value(self.weight, self.direction, exact=not self.training)
        return self.weight / (sigma / self.coefficient).clamp(min=1.0)[:, None, None]

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, inputs)`` to ``(M, B, outputs)``."""
        return torch.baddbmm(self.bias, x, self.normalised_weight())


@final
class ResidualBlock(nn.Module):
    """x + ReLU(layer(x)), which with a coefficient below 1 cannot bring two different inputs together."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, width)``."""
        return x + torch.relu(self.layer(x, draws))


@final
class SpectralLayer(nn.Module):
    """A linear or convolutional layer of one network with a Lipschitz constant of at most `coefficient`."""

    def __init__(self, layer: nn.Module, *, coefficient: float) -> None:
        super().__init__()
        self.layer = layer
        self.coefficient = coefficient / math.sqrt(patches_of_one_value(layer))
        self.register_buffer("direction", first_direction(layer.weight.flatten(1)))

    def normalised_weight(self) -> Tensor:
        """The weights in use, of the layer's own shape."""
        weight = self.layer.weight
        sigma = largest_singular_value(weight.flatten(1), self.direction, exact=not self.training)
        return weight / (sigma / self.coefficient).clamp(min=1.0)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer with its normalised weights."""
        done: Tensor = functional_call(self.layer, {"weight": self.normalised_weight()}, (x,))
        return done


def spectrally_normalised(module: nn.Module, coefficient: float) -> nn.Module:
    """A copy of a module in which every linear and convolutional layer is a `SpectralLayer`.

    Other layers are unchanged; the Lipschitz constant of batch norm, for example, is not bounded here.
    """
    if isinstance(module, (nn.Linear, *CONVOLUTIONS)):
        return SpectralLayer(deepcopy(module), coefficient=coefficient)
    copy = deepcopy(module)
    for parent in list(copy.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, (nn.Linear, *CONVOLUTIONS)) and not isinstance(parent, SpectralLayer):
                setattr(parent, name, SpectralLayer(child, coefficient=coefficient))
    return copy


def largest_singular_value(weight: Tensor, direction: Tensor, *, exact: bool) -> Tensor:
    """σ of matrices ``(…, a, b)``, ``(…)``; otherwise than exactly by one step from directions ``(…, b)``, kept in place."""
    if exact and min(weight.shape[-2:]) > LARGEST_FACTORED:
        wide = weight if weight.shape[-2] < weight.shape[-1] else weight.mT
        return torch.linalg.eigvalsh(wide @ wide.mT)[..., -1].sqrt()
    if exact:
        sigma: Tensor = torch.linalg.matrix_norm(weight, ord=2)
        return sigma
    # sums of products, not matrix products, stay in single precision under mixed precision
    with torch.no_grad():
        left, right = power_step(weight, direction)
        direction.copy_(right)
    return (left[..., :, None] * weight * right[..., None, :]).sum(dim=(-2, -1))


def power_step(weight: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
    """Unit vectors ``(…, a)`` and ``(…, b)`` nearer to the first singular vectors."""
    left = normalize((weight * direction[..., None, :]).sum(dim=-1), dim=-1)
    right = normalize((weight * left[..., :, None]).sum(dim=-2), dim=-1)
    return left, right


def first_direction(weight: Tensor) -> Tensor:
    """Where the power iteration of matrices ``(…, a, b)`` starts, ``(…, b)``."""
    with torch.no_grad():
        direction = normalize(torch.randn_like(weight[..., 0, :]), dim=-1)
        for _ in range(FIRST_STEPS):
            _, direction = power_step(weight, direction)
    return direction


def patches_of_one_value(layer: nn.Module) -> int:
    """In how many patches of a convolution one value of its input can occur; 1 for a linear layer."""
    if isinstance(layer, nn.Linear):
        return 1
    axes = zip(layer.kernel_size, layer.stride, layer.dilation, strict=True)
    return math.prod(-(-kernel * math.gcd(stride, dilation) // stride) for kernel, stride, dilation in axes)
