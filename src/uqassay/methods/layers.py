"""Layers of M networks side by side: the network is the first axis of every parameter, of inputs and of outputs.

Inputs and outputs are ``(M, B, …)``, B instances for each of M networks; a single network is the case M = 1. Inputs and
parameters with a first axis of 1 are broadcast, so one network is evaluated under T drawn masks at once.
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.func import functional_call

from uqassay.methods.image_batches import resized

__all__ = ["Dense", "Draws", "Dropout", "Lifted", "Network", "ReLU", "affine"]


@final
class Draws:
    """Random numbers for M networks; each network has its own generator, so its numbers do not depend on the others.

    Parameters
    ----------
    generators : sequence of M torch.Generator
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
    module : torch.nn.Module
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
