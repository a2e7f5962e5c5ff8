"""A latent Gaussian process with inducing points as a GPyTorch model, whose natural-gradient steps have a closed form."""

import warnings
from typing import Any

import torch
from torch import Tensor

from uqassay.files import optional_package
from uqassay.lab.methods.polya_gamma import expected_log_likelihood

__all__ = ["SparseLatent"]


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
    gpytorch = optional_package("gpytorch", "lab", "SparseGaussianProcess")


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
