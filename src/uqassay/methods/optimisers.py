"""Steps of AdamW and of SGD with momentum, for M networks side by side.

All parameters are one vector, so that a step costs a few operations however many layers there are. The networks of a stack
may have different learning rates.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, final

import torch
from torch import Tensor

from uqassay.methods.layers import Network

__all__ = ["OPTIMISERS", "AdamWSteps", "MomentumSteps", "OptimiserSteps", "new_optimiser"]

BETAS, EPSILON = (0.9, 0.999), 1e-8  # of Adam
OPTIMISERS = ("adam", "sgd")


class OptimiserSteps(ABC):
    """Updates of a stack of networks, which it holds as one vector.

    Parameters
    ----------
    network : Network
        Its parameters become views of the vector.
    weight_decay : float
    """

    _kept: ClassVar[tuple[str, ...]]  # names of the vectors, one number for each parameter

    def __init__(self, network: Network, weight_decay: float) -> None:
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self.fixed = [p for p in network.parameters() if not p.requires_grad]
        self.decay = weight_decay
        self.values = _joined([p.data for p in self.parameters])
        self._place()
        self._last_rates: tuple[tuple[float, ...], Tensor] | None = None

    def step(self, loss: Tensor, rates: Sequence[float]) -> None:
        """Update all parameters by the gradient of a loss, with the learning rate of each network."""
        gradients = torch.autograd.grad(loss, self.parameters, materialize_grads=True, allow_unused=True)
        same = min(rates) == max(rates)
        self._move(_joined(gradients), rates[0] if same else self._of_each_parameter(tuple(rates)))

    def keep(self, places: Sequence[int]) -> None:
        """Only the networks at these places stay."""
        shapes = [p.shape for p in self.parameters]
        for name in self._kept:
            parts = getattr(self, name).split([math.prod(shape) for shape in shapes])
            kept = [part.view(shape)[places] for part, shape in zip(parts, shapes, strict=True)]
            setattr(self, name, _joined(kept))
        for p in self.fixed:
            p.data = p.data[places]
        self._place(len(places))
        self._last_rates = None

    @abstractmethod
    def _move(self, gradient: Tensor, rate: float | Tensor) -> None:
        """Change `values` in place; the rate is one number, or one for each parameter."""

    def _of_each_parameter(self, rates: tuple[float, ...]) -> Tensor:
        """The rate of each parameter's network, made again when a rate changes."""
        if self._last_rates is None or self._last_rates[0] != rates:
            each = self.values.new_tensor(rates)
            whole = _joined([each.repeat_interleave(math.prod(p.shape[1:])) for p in self.parameters])
            self._last_rates = (rates, whole)
        return self._last_rates[1]

    def _place(self, n_networks: int | None = None) -> None:
        """Make the parameters views of the vector."""
        shapes = [(n_networks or len(p), *p.shape[1:]) for p in self.parameters]
        parts = self.values.split([math.prod(shape) for shape in shapes])
        for p, part, shape in zip(self.parameters, parts, shapes, strict=True):
            p.data = part.view(shape)


@final
class AdamWSteps(OptimiserSteps):
    """The operations of `torch.optim.AdamW`, in its order; the decay is decoupled from the gradient."""

    _kept = ("values", "first", "second")

    def __init__(self, network: Network, weight_decay: float) -> None:
        super().__init__(network, weight_decay)
        self.n_steps = 0
        self.first, self.second = torch.zeros_like(self.values), torch.zeros_like(self.values)

    def _move(self, gradient: Tensor, rate: float | Tensor) -> None:
        self.n_steps += 1
        bias = [1 - beta**self.n_steps for beta in BETAS]
        if self.decay:
            self.values.mul_(1 - rate * self.decay)
        self.first.lerp_(gradient, 1 - BETAS[0])
        self.second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        denominator = torch.sqrt(self.second, out=gradient).div_(math.sqrt(bias[1])).add_(EPSILON)
        if isinstance(rate, Tensor):
            self.values.addcdiv_(self.first * rate, denominator, value=-1 / bias[0])
        else:
            self.values.addcdiv_(self.first, denominator, value=-rate / bias[0])


@final
class MomentumSteps(OptimiserSteps):
    """The operations of `torch.optim.SGD` without dampening: g + λ θ is added to μ times the last step, times the rate.

    Parameters
    ----------
    network : Network
    weight_decay : float
        λ, of the squared norm of the weights in the loss: it is part of the gradient.
    momentum : float
        μ.
    """

    _kept = ("values", "velocity")

    def __init__(self, network: Network, weight_decay: float, momentum: float) -> None:
        super().__init__(network, weight_decay)
        self.momentum = momentum
        self.velocity = torch.zeros_like(self.values)

    def _move(self, gradient: Tensor, rate: float | Tensor) -> None:
        if self.decay:
            gradient.add_(self.values, alpha=self.decay)
        self.velocity.mul_(self.momentum).add_(gradient)
        if isinstance(rate, Tensor):
            self.values.addcmul_(self.velocity, rate, value=-1)
        else:
            self.values.add_(self.velocity, alpha=-rate)


def new_optimiser(name: str, network: Network, *, weight_decay: float, momentum: float) -> OptimiserSteps:
    """AdamW for "adam", SGD with momentum for "sgd"."""
    return MomentumSteps(network, weight_decay, momentum) if name == "sgd" else AdamWSteps(network, weight_decay)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])
