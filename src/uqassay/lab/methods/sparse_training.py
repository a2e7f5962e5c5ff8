"""Training of a sparse latent Gaussian process: steps of natural gradient, then passes over all instances."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uqassay.checks import fail
from uqassay.lab.methods.local_gaussian_process import cells
from uqassay.lab.methods.polya_gamma import expected_log_likelihood
from uqassay.notes import Note
from uqassay.text import count, number, percent

__all__ = [
    "DenseAscent",
    "LocalAscent",
    "SparseRecord",
    "SparseSchedule",
    "ascent",
    "n_steps",
    "neighbourhoods",
    "train_latent",
    "training_notes",
]


# Passes of coordinate ascent over all instances, for sparse Gaussian processes with kernel and inducing points fixed.
#
# A pass needs S = K_zx diag(ω) K_xz and, for each instance, the moments
#
#     μ = k_xzᵀ α,   v = s² − k_xzᵀ M k_xz
#
# where q(u) = N(K α, K (K + S)⁻¹ K) has α = (K + S)⁻¹ K_zx κ and M = K⁻¹ − (K + S)⁻¹, with K = K_zz and S of the pass
# before. An RBF covariance over more than `REACH` length scales is below 2e-14 of s². So an instance needs only the
# inducing points within this reach. `LocalAscent` makes use of it; the cost of its pass depends on their number, and no
# longer on the square of the number of all. Where most inducing points are within reach, `DenseAscent` takes the steps
# of `SparseLatent` in whitened coordinates, whose rounding errors are smaller.

REACH = 8.0  # length scales
CELL = 256  # instances that share their inducing points
WORTHWHILE = 0.1  # of the multiplications of a dense pass


@final
@dataclass(frozen=True)
class Neighbourhood:
    """Instances that lie together, and the inducing points within `REACH` length scales of their box."""

    rows: Tensor  #: tensor (b,)
    near: Tensor  #: tensor (j,)


def neighbourhoods(latent: Any, x: Tensor) -> list[Neighbourhood] | None:
    """All instances in neighbourhoods; None where they have too many inducing points in common to save time.

    Parameters
    ----------
    x : tensor (n, d)
    """
    scale = latent.covar_module.base_kernel.lengthscale.detach()
    z, scaled = latent.inducing.detach() / scale, x / scale
    found, cost = [], 0
    for part in cells(scaled.cpu().numpy(), CELL):
        rows = torch.from_numpy(part).to(x.device)
        box = scaled[rows]
        outside = torch.clamp(torch.maximum(box.amin(dim=0) - z, z - box.amax(dim=0)), min=0.0)
        near = torch.nonzero(outside.square().sum(dim=1) <= REACH**2)[:, 0]
        found.append(Neighbourhood(rows, near))
        cost += len(rows) * len(near) ** 2
        if cost > WORTHWHILE * len(x) * len(z) ** 2:
            return None
    return found


class DenseAscent:
    """Coordinate ascent in q over all instances, with all inducing points; see `LocalAscent`."""

    def __init__(self, latent: Any, x: Tensor, target: Tensor) -> None:
        self.latent, self.x, self.target = latent, x, target
        self.goal = latent.whitened_mean, latent.root

    def measure(self) -> tuple[float, Tensor]:
        """The bound on ln p(y) in nats, and the mean of g at each instance; the next `step` starts from here."""
        bound, vector, precision, mean = self.latent.full_pass(self.x, self.target)
        self.goal = vector, precision
        return bound, mean

    def step(self) -> None:
        """The best q for the weights at the last measure."""
        self.latent.move(*self.goal, 1.0)

    def finish(self) -> None:
        """Nothing: each step moves the q of the latent process."""


class LocalAscent:
    """Coordinate ascent in q over all instances by neighbourhoods, with kernel and inducing points fixed.

    Parameters
    ----------
    latent : SparseLatent
        In double precision; `finish` moves its q.
    x : tensor (n, d)
    target : tensor (n,)
        κ = y − ½.
    """

    def __init__(self, latent: Any, x: Tensor, target: Tensor, parts: list[Neighbourhood]) -> None:
        self.latent, self.x, self.target, self.parts = latent, x, target, parts
        with torch.no_grad():
            self.factor = latent.prior_factor()
            self.prior = self.factor @ self.factor.mT
            self.inverse = torch.cholesky_inverse(self.factor)
            eye = torch.eye(len(self.factor), dtype=x.dtype, device=x.device)
            half = torch.linalg.solve_triangular(self.factor.mT, eye - torch.cholesky_inverse(latent.root), upper=True)
            self.explained = torch.linalg.solve_triangular(self.factor.mT, half.mT, upper=True)  # M
            mean = latent.whitened_mean[:, None]
            self.slope = torch.linalg.solve_triangular(self.factor.mT, mean, upper=True)[:, 0]  # α
            self.divergence = float(latent.divergence())
        self.vector, self.gram = torch.zeros_like(self.slope), torch.zeros_like(self.prior)
        self.taken: Tensor | None = None  # S of the last step

    @torch.no_grad()
    def measure(self) -> tuple[float, Tensor]:
        """The bound on ln p(y) in nats, and the mean of g at each instance; the next `step` starts from here."""
        latent, bound = self.latent, -self.divergence
        variance_before = latent.covar_module.outputscale
        vector, gram = torch.zeros_like(self.vector), torch.zeros_like(self.gram)
        means = torch.zeros_like(self.target)
        for part in self.parts:
            rows, near = part.rows, part.near
            pairs = near[:, None], near
            target = self.target[rows]
            between = latent.covar_module(latent.inducing[near], self.x[rows]).to_dense()
            mean = between.mT @ self.slope[near]
            unexplained = variance_before - (between * (self.explained[pairs] @ between)).sum(dim=0)
            each, weight = expected_log_likelihood(target, mean, unexplained.clamp(min=0.0))
            vector[near] += between @ target
            gram[pairs] += (between * weight) @ between.mT
            bound += float(each.sum())
            means[rows] = mean
        self.vector, self.gram = vector, gram
        return bound, means

    @torch.no_grad()
    def step(self) -> None:
        """The best q for the weights at the last measure: α = (K + S)⁻¹ K_zx κ and M = K⁻¹ − (K + S)⁻¹."""
        root = torch.linalg.cholesky(self.prior + self.gram)
        inverse = torch.cholesky_inverse(root)
        self.slope = torch.cholesky_solve(self.vector[:, None], root)[:, 0]
        self.explained = self.inverse - inverse
        # KL(q ‖ p) of N(K α, K (K + S)⁻¹ K) from N(0, K)
        log_det = 2.0 * float((root.diagonal() / self.factor.diagonal()).log().sum())
        mean = float(self.slope @ (self.prior @ self.slope))
        self.divergence = (float((self.prior * inverse).sum()) + mean - len(root) + log_det) / 2
        self.taken = self.gram

    @torch.no_grad()
    def finish(self) -> None:
        """Give the q of the last step to the latent process."""
        if self.taken is None:
            return
        half = torch.linalg.solve_triangular(self.factor, self.taken, upper=False)
        precision = torch.linalg.solve_triangular(self.factor, half.mT, upper=False)
        vector = torch.linalg.solve_triangular(self.factor, self.vector[:, None], upper=False)[:, 0]
        self.latent.move(vector, (precision + precision.mT) / 2, 1.0)


def ascent(latent: Any, x: Tensor, target: Tensor) -> DenseAscent | LocalAscent:
    """The faster one for a latent process in double precision."""
    parts = neighbourhoods(latent, x)
    return DenseAscent(latent, x, target) if parts is None else LocalAscent(latent, x, target, parts)


# Training of a sparse latent Gaussian process: natural gradients for q, Adam for the rest, then passes over all
# instances.

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
    """The course of the training of one latent process."""

    n_steps: int  #: Batches
    n_shortened: int  #: Steps of q that were halved because the precision was not positive definite
    #: Lower bound on ln p(y) over all instances, in nats, before each of the final passes and after the last
    bounds: tuple[float, ...]
    settled: bool  #: Whether the final passes ended because the mean of g no longer changed
    #: The bound at the kernel and the inducing points of the start, after one step of coordinate ascent from the prior; nan
    #: where nothing is learnt but q
    first_bound: float
    last_move: float  #: Greatest change of the mean of g of an instance by the last of the final passes
    #: Greatest change of the logarithm of a length scale or of the signal variance in the last epoch; 0 where they are
    #: fixed
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
    x : tensor (n, d)
    target : tensor (n,)
        κ = y − ½.
    seed : numpy.random.SeedSequence
        Of the order of the batches.
    show : callable
        Called after each step.
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
        got = f"got {schedule.learning_rate:g}, and {number(bounds[-1], 0)} nats after {number(first_bound, 0)}"
        fail("learning_rate", "training must not lower the bound on ln p(y)", got, "lower the rate", code="range")
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
            rule = "the hyper-parameters overflowed in training"
            fail("learning_rate", rule, f"got {optimiser.defaults['lr']:g}", "lower the rate", code="finite")
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
