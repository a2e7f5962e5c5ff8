"""Training of a sparse latent Gaussian process: natural gradients for q, Adam for the rest, then passes over all instances."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uqassay.errors import InputError
from uqassay.methods.polya_gamma import expected_log_likelihood

__all__ = ["SparseRecord", "SparseSchedule", "n_steps", "train_latent"]

EPSILON = 1e-8  # of Adam
SETTLED = 1e-6  # change of the mean of g, over 1 + its greatest size, at which the full passes end


@final
@dataclass(frozen=True)
class SparseSchedule:
    """How one latent process is trained; the fields are options of `SparseGaussianProcess`."""

    epochs: int
    batch_size: int
    learning_rate: float
    natural_rate: float
    final_passes: int
    learn_kernel: bool
    learn_inducing: bool


@final
@dataclass(frozen=True)
class SparseRecord:
    """The course of the training of one latent process.

    Attributes
    ----------
    n_steps : int
        Batches.
    n_shortened : int
        Steps of q that were halved because the precision was not positive definite.
    bounds : tuple of float
        Lower bound on ln p(y) over all instances, in nats, before each of the final passes and after the last.
    settled : bool
        Whether the final passes ended because the mean of g no longer changed.
    """

    n_steps: int
    n_shortened: int
    bounds: tuple[float, ...]
    settled: bool


def n_steps(n: int, schedule: SparseSchedule) -> int:
    """Batches and final passes of a training on n instances."""
    return schedule.epochs * -(-n // schedule.batch_size) + schedule.final_passes


def train_latent(
    latent: Any,
    x: Tensor,
    target: Tensor,
    schedule: SparseSchedule,
    *,
    seed: np.random.SeedSequence,
    show: Callable[[], None],
) -> SparseRecord:
    """Train in place.

    Parameters
    ----------
    latent : SparseLatent
    x : tensor (n, d)
    target : tensor (n,)
        κ = y − ½.
    schedule : SparseSchedule
    seed : numpy.random.SeedSequence
        Of the order of the batches.
    show : callable
        Called after each step.

    Raises
    ------
    InputError
        Hyper-parameters or inducing points that are no longer finite.
    """
    rng = np.random.default_rng(seed)
    n, done, shortened = len(x), 0, 0
    optimiser = _optimiser(latent, schedule)
    for _ in range(schedule.epochs):
        for rows in _batches(rng, n, schedule.batch_size):
            chosen = torch.from_numpy(rows).to(x.device)
            # a batch of all instances has no noise: with rate 1 the step is that of coordinate ascent
            rate = schedule.natural_rate if len(rows) < n else 1.0
            shortened += _step(latent, x[chosen], target[chosen], optimiser, scale=n / len(rows), rate=rate) < rate
            done += 1
            show()
    # always in double precision: q belongs to the factor of K_zz and its jitter, which is that of predictions from here on
    bounds, settled = _full_passes(latent.double(), x.double(), target.double(), schedule.final_passes, show)
    return SparseRecord(done, shortened, tuple(bounds), settled)


def _step(latent: Any, x: Tensor, target: Tensor, optimiser: Any, *, scale: float, rate: float) -> float:
    """One batch; returns the rate of the natural-gradient step."""
    with torch.set_grad_enabled(optimiser is not None):
        a = latent.projection(x)
        bound, weight = expected_log_likelihood(target, *latent.moments(x, a))
    # in whitened coordinates the divergence from the prior does not depend on the kernel
    if optimiser is not None:
        optimiser.zero_grad(set_to_none=True)
        (-bound.mean()).backward()
    taken: float = latent.natural_step(a, weight, target, scale=scale, rate=rate)
    if optimiser is not None:
        for group in optimiser.param_groups:
            if group["params"][0] is latent.inducing:
                group["lr"] = optimiser.defaults["lr"] * _unit(latent)
        optimiser.step()
        latent.keep_in_range()
        if not all(torch.isfinite(p).all() for p in [*latent.kernel_parameters(), latent.inducing]):
            raise InputError(
                "learning_rate",
                "the hyper-parameters overflowed in training",
                f"got {optimiser.defaults['lr']:g}",
                "lower the rate",
                code="finite",
            )
    return taken


def _full_passes(
    latent: Any, x: Tensor, target: Tensor, most: int, show: Callable[[], None]
) -> tuple[list[float], bool]:
    """Coordinate ascent in q over all instances, kernel and inducing points fixed: each pass raises the bound."""
    bounds: list[float] = []
    before: Tensor | None = None
    settled = False
    for done in range(most + 1):
        bound, vector, precision, mean = latent.full_pass(x, target)
        bounds.append(bound)
        if before is not None and float((mean - before).abs().max()) <= SETTLED * (1 + float(mean.abs().max())):
            settled = True
        if settled or done == most:
            break
        latent.move(vector, precision, 1.0)
        before = mean
        show()
    return bounds, settled


def _optimiser(latent: Any, schedule: SparseSchedule) -> torch.optim.Adam | None:
    """Adam for all that is learnt; the rate of inducing points is in units of the length scale, see `_step`."""
    groups: list[dict[str, Any]] = []
    kernel, inducing = latent.kernel_parameters(), latent.inducing
    for p in kernel:
        p.requires_grad_(schedule.learn_kernel)
    inducing.requires_grad_(schedule.learn_inducing)
    if schedule.learn_kernel:
        groups.append({"params": kernel})
    if schedule.learn_inducing:
        groups.append({"params": [inducing], "eps": EPSILON / _unit(latent)})  # gradients have the inverse unit
    return torch.optim.Adam(groups, lr=schedule.learning_rate, eps=EPSILON) if groups else None


def _unit(latent: Any) -> float:
    """The shortest length scale."""
    return float(latent.covar_module.base_kernel.lengthscale.detach().min())


def _batches(rng: np.random.Generator, n: int, size: int) -> list[NDArray[np.intp]]:
    """All rows in random order, in batches of nearly equal size."""
    return np.array_split(rng.permutation(n), -(-n // size))
