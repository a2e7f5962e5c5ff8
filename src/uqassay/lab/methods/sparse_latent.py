"""A latent Gaussian process with inducing points as a GPyTorch model, and its training."""

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uqassay.checks import fail
from uqassay.files import optional_package
from uqassay.lab.methods.gaussian_process import expected_log_likelihood
from uqassay.lab.methods.local_gaussian_process import cells
from uqassay.notes import Note
from uqassay.text import count, number, percent

__all__ = [
    "DenseAscent",
    "LocalAscent",
    "SparseLatent",
    "SparseRecord",
    "SparseSchedule",
    "ascent",
    "n_steps",
    "neighbourhoods",
    "train_latent",
    "training_notes",
]


# A latent Gaussian process with inducing points, as a GPyTorch model, and its natural-gradient steps in closed form.
#
# In whitened coordinates u = L v with L Lᵀ = K_zz the prior of v is N(0, I), and q(v) has natural parameters: the
# precision P and the vector h = P m. Under Pólya-Gamma augmentation the step of natural gradient descent with rate ρ is
# the convex combination
#
#     P ← (1 − ρ) P + ρ (I + s A diag(ω) Aᵀ),   h ← (1 − ρ) h + ρ s A κ,   A = L⁻¹ K_zx,  s = N / |batch|
#
# (Wenzel et al., 2019). Both terms of the first are at least I, so that P stays positive definite for ρ ≤ 1. Automatic
# differentiation through GPyTorch's `NaturalVariationalDistribution` gives the same step at greater cost, with the
# rounding errors of a Cholesky factor's gradient.

with (
    warnings.catch_warnings()
):  # linear_operator compiles a function when it is imported, by a call that PyTorch deprecates
    warnings.filterwarnings("ignore", message=r"`torch\.jit\.script", category=DeprecationWarning)
    gpytorch = optional_package("gpytorch", "gp", "SparseGaussianProcess")


ApproximateGP: Any = gpytorch.models.ApproximateGP
JITTER = {torch.float64: 1e-6, torch.float32: 1e-4}  # on the diagonal of K_zz, over the prior variance
MOST_JITTER = 1.0
MOST_HALVINGS = 40
RANGE = 10.0  # logarithm of the factor by which training may change a hyper-parameter
CHUNK_BYTES = 2**27  # of A in one piece of a pass over all instances


class SparseLatent(ApproximateGP):
    """One latent function g with prior N(0, K), scaled RBF kernel, and inducing points.

    Calls work as in GPyTorch: ``latent(x)`` in evaluation mode is the posterior of g. `moments` gives the same marginals, but
    without the jitter that GPyTorch adds to the variance of g.

    Parameters
    ----------
    inducing : tensor (m, d)
    lengthscale : tensor (1,) or (d,)
        One for each feature (ARD), or a common one.
    """

    def __init__(self, inducing: Tensor, lengthscale: Tensor, signal_variance: float) -> None:
        m, dtype = len(inducing), inducing.dtype
        distribution = gpytorch.variational.NaturalVariationalDistribution(m)
        super().__init__(
            gpytorch.variational.VariationalStrategy(self, inducing, distribution, learn_inducing_locations=True)
        )
        self.mean_module = gpytorch.means.ZeroMean()
        ard = len(lengthscale) if len(lengthscale) > 1 else None
        rbf = gpytorch.kernels.RBFKernel(ard_num_dims=ard, lengthscale_constraint=_positive())
        self.covar_module = gpytorch.kernels.ScaleKernel(rbf, outputscale_constraint=_positive())
        self.to(inducing.device, dtype)
        rbf.lengthscale = lengthscale.to(dtype)
        self.covar_module.outputscale = signal_variance
        self.first_ = [p.detach().clone() for p in self.kernel_parameters()]
        # always in double precision: in single, great eigenvalues of the data would drown those of the prior, which are 1
        self.natural.natural_vec.data = self.natural.natural_vec.data.double()
        self.natural.natural_mat.data = self.natural.natural_mat.data.double()
        for p in self.natural.parameters():
            p.requires_grad_(False)
        # else GPyTorch's first call would replace q by the prior
        self.variational_strategy.variational_params_initialized.fill_(1)
        self.root, self.whitened_mean = torch.empty(0), torch.empty(0)
        self._take(self.natural.natural_vec.data, -2 * self.natural.natural_mat.data, None)

    @property
    def natural(self) -> Any:
        """The `NaturalVariationalDistribution`: h is ``natural_vec`` and P is −2 ``natural_mat``."""
        return self.variational_strategy._variational_distribution

    @property
    def inducing(self) -> Tensor:
        """Inducing points, ``(m, d)``."""
        points: Tensor = self.variational_strategy.inducing_points
        return points

    def kernel_parameters(self) -> list[Tensor]:
        """Logarithms of the length scales and of the prior variance."""
        return [self.covar_module.base_kernel.raw_lengthscale, self.covar_module.raw_outputscale]

    def forward(self, x: Tensor) -> Any:
        """Prior of g at x, as GPyTorch expects it."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def keep_in_range(self) -> None:
        """Clip hyper-parameters to a factor of e^10 around their first values, so that nothing overflows."""
        for p, first in zip(self.kernel_parameters(), self.first_, strict=True):
            p.data = torch.clamp(p.data, first.to(p) - RANGE, first.to(p) + RANGE)

    def projection(self, x: Tensor) -> Tensor:
        """A = L⁻¹ K_zx, ``(m, n)``, with gradients in hyper-parameters and inducing points."""
        z = self.inducing
        factor = self.prior_factor()
        between = self.covar_module(z, x).to_dense()
        return torch.linalg.solve_triangular(factor, between, upper=False)

    def moments(self, x: Tensor, a: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Mean and variance of g at x, ``(n,)`` each; `a` is `projection` of x if that is known."""
        a = self.projection(x) if a is None else a
        spread = torch.linalg.solve_triangular(self.root.to(a.dtype), a, upper=False)
        prior = self.covar_module.outputscale.expand(a.shape[1])
        unexplained = (prior - (a**2).sum(dim=0)).clamp(min=0.0)
        return a.mT @ self.whitened_mean.to(a.dtype), unexplained + (spread**2).sum(dim=0)

    def natural_step(self, a: Tensor, weight: Tensor, target: Tensor, *, scale: float, rate: float) -> float:
        """One step of natural gradient descent on the augmented bound, from a batch.

        Parameters
        ----------
        a : tensor (m, b)
            `projection` of the batch.
        weight, target : tensor (b,)
            E ω and κ.
        scale : float
            s = N / b.
        rate : float
            ρ. At most 1 it keeps P positive definite; a greater one is halved until P is.

        Returns
        -------
        float
            The rate of the step taken; 0 if no step gives a positive definite P, for instance after an overflow.
        """
        vector, precision = self.targets(a, weight, target, scale)
        return self.move(vector, precision, rate)

    def targets(self, a: Tensor, weight: Tensor, target: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        """s A κ and s A diag(ω) Aᵀ, in double precision."""
        a, weight, target = a.detach().double(), weight.double(), target.double()
        weighted = a * (scale * weight).sqrt()
        return scale * (a @ target), weighted @ weighted.mT  # a product with its own transpose is exactly symmetric

    def move(self, vector: Tensor, precision: Tensor, rate: float) -> float:
        """Step towards h = vector and P = I + precision; see `natural_step`."""
        goal = precision.clone()
        goal.diagonal().add_(1.0)
        h, p = self.natural.natural_vec.data, -2 * self.natural.natural_mat.data
        for _ in range(MOST_HALVINGS):
            # the form with ρ (goal − P) would leave rounding errors of P behind at ρ = 1
            new = (1 - rate) * p + rate * goal
            root, problem = torch.linalg.cholesky_ex(new)
            if not problem and torch.isfinite(root).all():
                self._take((1 - rate) * h + rate * vector, new, root)
                return rate
            rate /= 2
        return 0.0

    def divergence(self) -> Tensor:
        """KL(q(v) ‖ p(v)), in nats."""
        eye = torch.eye(len(self.root), dtype=self.root.dtype, device=self.root.device)
        inverse = torch.linalg.solve_triangular(self.root, eye, upper=False)
        log_det = 2 * self.root.diagonal().log().sum()  # of P, so minus that of the covariance
        return ((inverse**2).sum() + (self.whitened_mean**2).sum() - len(eye) + log_det) / 2

    @torch.no_grad()
    def full_pass(self, x: Tensor, target: Tensor) -> tuple[float, Tensor, Tensor, Tensor]:
        """The bound on ln p(y) over all instances in nats, and what a step from all of them needs.

        Returns
        -------
        vector, precision : tensor (m,) and (m, m)
            A κ and A diag(ω) Aᵀ.
        mean : tensor (n,)
            Of g.
        """
        bound = -self.divergence()
        vector, precision = torch.zeros_like(self.whitened_mean), torch.zeros_like(self.root)
        means = []
        rows = max(1, CHUNK_BYTES // (8 * len(self.inducing)))
        for part, kappa in zip(x.split(rows), target.split(rows), strict=True):
            a = self.projection(part)
            mean, variance = self.moments(part, a)
            each, weight = expected_log_likelihood(kappa, mean, variance)
            add_vector, add_precision = self.targets(a, weight, kappa, 1.0)
            vector += add_vector
            precision += add_precision
            bound = bound + each.sum().double()
            means.append(mean)
        return float(bound), vector, precision, torch.cat(means)

    def in_double(self) -> "SparseLatent":
        """The model in double precision on the CPU, in evaluation mode and without gradients."""
        self.double().eval().requires_grad_(False)
        return self.on("cpu")

    def on(self, device: Any) -> "SparseLatent":
        """The model, moved to a device."""
        self.root, self.whitened_mean = self.root.to(device), self.whitened_mean.to(device)
        return self.to(device)

    def _take(self, vector: Tensor, precision: Tensor, root: Tensor | None) -> None:
        self.natural.natural_vec.data = vector
        self.natural.natural_mat.data = precision / -2
        self.root = torch.linalg.cholesky(precision) if root is None else root
        self.whitened_mean = torch.cholesky_solve(vector[:, None], self.root)[:, 0]

    def prior_factor(self) -> Tensor:
        """Cholesky factor L of K_zz, with as little jitter as it needs; found in double precision."""
        z = self.inducing
        k = self.covar_module(z).to_dense()
        scale = self.covar_module.outputscale.detach().double()
        jitter = JITTER[z.dtype]
        while True:
            wide = k.double() + jitter * scale * torch.eye(len(z), dtype=torch.float64, device=z.device)
            factor, problem = torch.linalg.cholesky_ex(wide)
            if not problem or jitter > MOST_JITTER:
                lower: Tensor = factor.to(z.dtype)
                return lower
            jitter *= 10.0


def _positive() -> Any:
    """A positive hyper-parameter is learnt as its logarithm, so that a rate means the same for any unit of X."""
    return gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)


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
