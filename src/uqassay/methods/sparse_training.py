"""Training of a sparse latent Gaussian process: natural gradients for q, Adam for the rest, then passes over all instances."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uqassay.errors import InputError
from uqassay.methods.polya_gamma import expected_log_likelihood
from uqassay.methods.sparse_passes import ascent
from uqassay.notes import Note
from uqassay.wording import count, number, percent

__all__ = ["SparseRecord", "SparseSchedule", "n_steps", "train_latent", "training_notes"]

EPSILON = 1e-8  # of Adam
MOVED = 0.1  # change of a latent mean by the last pass that deserves a note; a probability changes by a quarter at most
CHANGED = 0.1  # change of the logarithm of a hyper-parameter in the last epoch that deserves a note
WORSE = 0.01  # nats for each instance; less is the noise of the batches
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
    first_bound : float
        The bound at the kernel and the inducing points of the start, after one step of coordinate ascent from the prior; nan
        where nothing is learnt but q.
    last_move : float
        Greatest change of the mean of g of an instance by the last of the final passes.
    last_change : float
        Greatest change of the logarithm of a length scale or of the signal variance in the last epoch; 0 where they are fixed.
    """

    n_steps: int
    n_shortened: int
    bounds: tuple[float, ...]
    settled: bool
    first_bound: float
    last_move: float
    last_change: float


def n_steps(n: int, schedule: SparseSchedule) -> int:
    """Batches and final passes of a training on n instances."""
    return schedule.epochs * -(-n // schedule.batch_size) + schedule.final_passes


def training_notes(records: Sequence[SparseRecord]) -> tuple[Note, ...]:
    """A note for each thing that had not settled when training ended, in the worst of several latent functions."""
    moved, passes = max((record.last_move, len(record.bounds) - 1) for record in records)
    changed = max(record.last_change for record in records)
    found = []
    if moved > MOVED:
        found.append(
            Note(
                "not-settled",
                f"the prediction may still change, by up to {number(moved, 2)} in a latent mean: raise final_passes above "
                f"{count(passes)}",
                {"moved": moved, "passes": passes},
            )
        )
    if changed > CHANGED:
        share = percent(float(np.expm1(changed)), 0)
        found.append(
            Note(
                "not-settled",
                f"the kernel may still change, by up to {share} in its length scale or signal variance: raise epochs",
                {"changed": changed},
            )
        )
    return tuple(found)


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
        Hyper-parameters or inducing points that are no longer finite, or a bound on ln p(y) below that of the start.
    """
    rng = np.random.default_rng(seed)
    n, done, shortened, last_change = len(x), 0, 0, 0.0
    optimiser = _optimiser(latent, schedule)
    first_bound = _first_bound(latent, x, target) if optimiser is not None and schedule.epochs else np.nan
    for _ in range(schedule.epochs):
        before = _hyperparameters(latent)
        for rows in _batches(rng, n, schedule.batch_size):
            chosen = torch.from_numpy(rows).to(x.device)
            # a batch of all instances has no noise: with rate 1 the step is that of coordinate ascent
            rate = schedule.natural_rate if len(rows) < n else 1.0
            shortened += _step(latent, x[chosen], target[chosen], optimiser, scale=n / len(rows), rate=rate) < rate
            done += 1
            show()
        last_change = float((_hyperparameters(latent) - before).abs().max())
    # always in double precision: q belongs to the factor of K_zz and its jitter, which is that of predictions from here on
    bounds, settled, last_move = _full_passes(latent.double(), x.double(), target.double(), schedule.final_passes, show)
    if bounds[-1] < first_bound - WORSE * n:
        raise InputError(
            "learning_rate",
            "training must not lower the bound on ln p(y)",
            f"got {schedule.learning_rate:g}, and {number(bounds[-1], 0)} nats after {number(first_bound, 0)}",
            "lower the rate",
            code="range",
        )
    return SparseRecord(done, shortened, tuple(bounds), settled, first_bound, last_move, last_change)


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
) -> tuple[list[float], bool, float]:
    """Coordinate ascent in q over all instances, kernel and inducing points fixed: each pass raises the bound."""
    bounds: list[float] = []
    before: Tensor | None = None
    settled, moved = False, np.nan
    passes = ascent(latent, x, target)
    for done in range(most + 1):
        bound, mean = passes.measure()
        bounds.append(bound)
        if before is not None:
            moved = float((mean - before).abs().max())
            settled = moved <= SETTLED * (1 + float(mean.abs().max()))
        if settled or done == most:
            break
        passes.step()
        before = mean
        show()
    passes.finish()
    return bounds, settled, moved


@torch.no_grad()
def _first_bound(latent: Any, x: Tensor, target: Tensor) -> float:
    """The bound over all instances after one step of coordinate ascent from the prior, on a copy in double precision."""
    passes = ascent(copy.deepcopy(latent).double(), x.double(), target.double())
    passes.measure()
    passes.step()
    return passes.measure()[0]


def _hyperparameters(latent: Any) -> Tensor:
    """Logarithms of the length scales and of the signal variance, in one vector."""
    return torch.cat([p.detach().reshape(-1) for p in latent.kernel_parameters()])


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
