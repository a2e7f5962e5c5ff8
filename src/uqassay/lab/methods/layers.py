"""Layers of M networks side by side: the network is the first axis of every parameter."""

import math
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import interpolate, normalize

__all__ = [
    "AUGMENTATIONS",
    "Dense",
    "Draws",
    "Dropout",
    "Lifted",
    "Network",
    "ReLU",
    "ResidualBlock",
    "SpectralDense",
    "SpectralLayer",
    "affine",
    "resized",
    "shift_flip_places",
    "shifted_and_flipped",
    "spectrally_normalised",
]


# Changes of images in a batch: random shifts and flips in training, and another size in front of the backbone.

AUGMENTATIONS = ("shift-flip",)
LARGEST_SHIFT = 10  # a tenth of height and width, rounded down to pixels
Places = NDArray[np.int64]


def shift_flip_places(
    height: int, width: int, counts: Sequence[int], generators: Sequence[np.random.Generator]
) -> tuple[Places, Places]:
    """Draw for each image which line and which column of it stands at each place.

    An image is shifted by whole pixels, uniformly up to a tenth of its height and of its width in both directions; what is
    uncovered repeats the nearest pixel. With probability 1/2 it is then mirrored from left to right.

    Parameters
    ----------
    counts : sequence of M int
        Images of each network; the longest decides B, and places after a network's own images leave the image as it is.
    generators : sequence of M numpy.random.Generator
        Each draws as much as its own images need, so that a network's images do not depend on the others.

    Returns
    -------
    lines : int array (M, B, H)
    columns : int array (M, B, W)
    """
    down, right = height // LARGEST_SHIFT, width // LARGEST_SHIFT
    shifts = np.zeros((len(counts), max(counts), 2), dtype=np.int64)
    flips = np.zeros((len(counts), max(counts)), dtype=bool)
    for m, (count, generator) in enumerate(zip(counts, generators, strict=True)):
        shifts[m, :count] = generator.integers([-down, -right], [down + 1, right + 1], size=(count, 2))
        flips[m, :count] = generator.integers(2, size=count) == 1
    lines = np.clip(np.arange(height) - shifts[..., :1], 0, height - 1)
    columns = np.clip(np.arange(width) - shifts[..., 1:], 0, width - 1)
    return lines, np.where(flips[..., None], columns[..., ::-1], columns)


def shifted_and_flipped(x: Tensor, rows: Tensor, lines: Tensor, columns: Tensor) -> Tensor:
    """Images at chosen rows, with their lines and columns in another order.

    Parameters
    ----------
    x : tensor (N, C, H, W) or (N, H, W)
    rows : int tensor (M, B)
    lines : int tensor (M, B, H)
    columns : int tensor (M, B, W)

    Returns
    -------
    tensor (M, B, C, H, W) or (M, B, H, W)
    """
    if x.ndim == 3:
        return x[rows[..., None, None], lines[..., None], columns[..., None, :]]
    channels = torch.arange(x.shape[1], device=x.device)[:, None, None]
    return x[
        rows[..., None, None, None], channels, lines[..., None, :, None], columns[..., None, None, :]
    ]  # one pass through the batch


def resized(x: Tensor, size: int) -> Tensor:
    """Images ``(…, H, W)`` at ``(…, size, size)``, bilinear, with averages over the pixels that a smaller image merges."""
    planes = x.reshape(-1, 1, *x.shape[-2:])
    done: Tensor = interpolate(planes, size=(size, size), mode="bilinear", align_corners=False, antialias=True)
    return done.reshape(*x.shape[:-2], size, size)


# Layers of M networks side by side: the network is the first axis of every parameter, of inputs and of outputs.
#
# Inputs and outputs are ``(M, B, …)``, B instances for each of M networks; a single network is the case M = 1. Inputs
# and parameters with a first axis of 1 are broadcast, so one network is evaluated under T drawn masks at once.


@final
class Draws:
    """Random numbers for M networks; each network has its own generator, so its numbers do not depend on the others.

    Parameters
    ----------
    rows : sequence of M int, optional
        Instances of each network in the batch; units are drawn for each instance, as in training. None draws units once for
        all instances, as in prediction, where each draw is one network.
    n_rows : int, optional
        B, the length to which units are filled up, by default the greatest of `rows`.
    """

    def __init__(
        self, generators: Sequence[torch.Generator], rows: Sequence[int] | None = None, n_rows: int | None = None
    ) -> None:
        self.generators = generators
        self.rows = rows
        self.n_rows = n_rows or (1 if rows is None else max(rows))

    def of(self, some: slice) -> "Draws":
        """The draws of some of the networks."""
        return Draws(self.generators[some], self.rows if self.rows is None else self.rows[some], self.n_rows)

    def keep_units(self, rate: float, width: int) -> Tensor:
        """Factors of units, 0 with probability `rate`, else 1/(1 − rate): ``(M, B, width)``, or ``(M, 1, width)``."""
        return self._kept(rate, self._rows(), self.n_rows, width)

    def sign_units(self, width: int) -> Tensor:
        """−1 or 1 for each unit, ``(M, B, width)``, or ``(M, 1, width)``."""
        return (self._bits(self._rows(), self.n_rows, width) >= 0).float().mul_(2.0).sub_(1.0)

    def normal_units(self, width: int) -> Tensor:
        """A standard normal number for each unit, ``(M, B, width)``, or ``(M, 1, width)``."""
        return self._normals(self._rows(), self.n_rows, width)

    def keep_weights(self, rate: float, *shape: int) -> Tensor:
        """Factors of weights, 0 with probability `rate`, else 1/(1 − rate), ``(M, *shape)``."""
        return self._kept(rate, [1] * len(self.generators), 1, math.prod(shape)).view(-1, *shape)

    def normal_weights(self, *shape: int) -> Tensor:
        """A standard normal number for each weight, ``(M, *shape)``."""
        return self._normals([1] * len(self.generators), 1, math.prod(shape)).view(-1, *shape)

    def _rows(self) -> Sequence[int]:
        return [1] * len(self.generators) if self.rows is None else self.rows

    def _kept(self, rate: float, rows: Sequence[int], n_rows: int, width: int) -> Tensor:
        dropped = round(rate * 2**32) - 2**31  # as many of the 2³² numbers are less
        return (self._bits(rows, n_rows, width) >= dropped).float().mul_(1.0 / (1.0 - rate))

    def _bits(self, rows: Sequence[int], n_rows: int, width: int) -> Tensor:
        """Uniform 32-bit integers, ``(M, n_rows, width)``: several times faster than Bernoulli or uniform numbers."""
        n = n_rows * width
        pairs = self._room(rows, n_rows, (n + 1) // 2, torch.int64)
        for one, count, generator in zip(pairs, rows, self.generators, strict=True):
            one[: (count * width + 1) // 2].random_(-(2**63), None, generator=generator)
        return pairs.view(torch.int32)[:, :n].view(len(rows), n_rows, width)

    def _normals(self, rows: Sequence[int], n_rows: int, width: int) -> Tensor:
        out = self._room(rows, n_rows, n_rows * width, torch.float32)
        for one, count, generator in zip(out, rows, self.generators, strict=True):
            one[: count * width].normal_(generator=generator)
        return out.view(len(rows), n_rows, width)

    def _room(self, rows: Sequence[int], n_rows: int, width: int, dtype: torch.dtype) -> Tensor:
        """Memory for the numbers of each network; zeros where a network has fewer rows than others."""
        make = torch.empty if min(rows) == n_rows else torch.zeros
        return make(len(rows), width, dtype=dtype, device=self.generators[0].device)


class Dense(nn.Module):
    """x W + b, with weights ``(M, inputs, outputs)`` and biases ``(M, 1, outputs)``, uniform in ±1/√inputs at first."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        reach = inputs**-0.5
        self.weight = nn.Parameter(torch.empty(1, inputs, outputs).uniform_(-reach, reach))
        self.bias = nn.Parameter(torch.empty(1, 1, outputs).uniform_(-reach, reach))

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, inputs)`` to ``(M, B, outputs)``."""
        return affine(x, self.weight, self.bias)


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x W + b for x ``(M, B, inputs)``, W ``(M, inputs, outputs)``, b ``(M, 1, outputs)``; any M may be 1."""
    if len(x) == len(weight):
        return torch.baddbmm(bias, x, weight)
    return x @ weight + bias


@final
class ReLU(nn.Module):
    """max(x, 0)."""

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """Any shape."""
        return torch.relu(x)


@final
class Dropout(nn.Module):
    """Sets units to 0 with probability `rate` and scales the others up; without draws it passes them on unchanged."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, width)``."""
        return x if draws is None else x * draws.keep_units(self.rate, x.shape[-1])


@final
class Lifted(nn.Module):
    """Any module for one network, ``(B, …) → (B, d)``, lifted to M networks ``(M, B, …) → (M, B, d)``.

    Its parameters and buffers gain a first axis; the module itself stays behind as a template without values.

    Parameters
    ----------
    image_size : int, optional
        Images are resized to this height and width before the module sees them.
    vectorised : bool, optional
        Run the M networks as one (`torch.vmap`) or one after another; None does the former on a GPU alone, since
        convolutions of several networks as one are slower on a CPU.
    """

    def __init__(self, module: nn.Module, *, image_size: int | None = None, vectorised: bool | None = None) -> None:
        super().__init__()
        self.image_size = image_size
        self.vectorised = vectorised
        self._names: dict[str, str] = {}  # of the template, by the name here, which may not hold a dot
        self._greatest_norms = {
            _flat(f"{name}.weight"): layer.greatest_norm
            for name, layer in module.named_modules()
            if hasattr(layer, "greatest_norm")
        }
        for name, p in module.named_parameters():
            self._names[_flat(name)] = name
            self.register_parameter(_flat(name), nn.Parameter(p.detach().clone()[None], p.requires_grad))
        for name, b in module.named_buffers():
            self._names[_flat(name)] = name
            self.register_buffer(_flat(name), b.detach().clone()[None])
        self._template = (deepcopy(module).to("meta"),)  # a tuple hides the module from PyTorch's list of parameters

    def train(self, mode: bool = True) -> "Lifted":
        """Training or evaluation, for layers that differ between them."""
        self._template[0].train(mode)
        super().train(mode)
        return self

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, …)`` to ``(M, B, d)``; an x of M = 1 serves all networks."""
        state = {name: getattr(self, flat) for flat, name in self._names.items()}
        n_networks = next((len(value) for value in state.values()), len(x))
        vectorised = x.is_cuda if self.vectorised is None else self.vectorised
        if vectorised and n_networks > 1:
            x = self._resized(x)
            shared = None if len(x) == 1 else 0
            done: Tensor = torch.vmap(self._one, (0, shared), randomness="different")(state, x[0] if len(x) == 1 else x)
            return done
        whole = self._resized(x[0]) if len(x) == 1 else None  # else one network's batch after another, to save memory
        return torch.stack(
            [
                self._one({k: v[m] for k, v in state.items()}, self._resized(x[m]) if whole is None else whole)
                for m in range(n_networks)
            ]
        )

    def bound_norms(self) -> None:
        """Shorten filters that are longer than the `greatest_norm` of their layer, where it has one (max-norm)."""
        for name, greatest in self._greatest_norms.items():
            weight = getattr(self, name).data  # (M, filters, …)
            lengths = weight.flatten(2).norm(dim=2).view(*weight.shape[:2], *[1] * (weight.ndim - 2))
            weight.mul_(greatest / lengths.clamp(min=greatest))

    def _resized(self, x: Tensor) -> Tensor:
        return x if self.image_size is None else resized(x, self.image_size)

    def _one(self, state: dict[str, Tensor], x: Tensor) -> Tensor:
        features: Tensor = functional_call(self._template[0], state, (x,))
        return features


@final
class Network(nn.Module):
    """Feature extractor, dense layers, head.

    Parameters
    ----------
    extractor : Lifted or None
        Convolutions or a given module; None where the inputs are features already.
    trunk : sequence of torch.nn.Module
        Stacked layers ``layer(x, draws)``, applied in turn.
    head : torch.nn.Module
        Stacked; ``head(features, draws)`` is a tensor ``(M, B, …)`` or a tuple of them.
    """

    def __init__(self, extractor: Lifted | None, trunk: Sequence[nn.Module], head: nn.Module) -> None:
        super().__init__()
        self.extractor = extractor
        self.trunk = nn.ModuleList(trunk)
        self.head = head

    @property
    def n_networks(self) -> int:
        """M."""
        return len(next(self.parameters()))

    def features(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """Inputs of the head, ``(M, B, d)``."""
        x = x.flatten(2) if self.extractor is None else self.extractor(x)
        for layer in self.trunk:
            x = layer(x, draws)
        return x

    def forward(self, x: Tensor, draws: Draws | None = None) -> Any:
        """Head of the features; without draws every random layer passes its mean on."""
        return self.head(self.features(x, draws), draws)


def _flat(name: str) -> str:
    return name.replace(".", "/")


# Layers with a Lipschitz constant of at most c: weights are divided by max(1, σ / c), σ being the largest singular
# value.
#
# While training, σ comes from one step of the power iteration for each batch (Miyato et al., 2018); in evaluation it is
# exact. A convolution, as a matrix of kernels (outputs, inputs × kernel) with the singular value σ, changes distances
# by at most √r σ, where r is the number of patches in which one value of the input can occur: k along an axis for a
# kernel of k steps and stride 1. That bound takes the place of σ; it holds for padding by zeros or in a circle.

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
