"""Passes of coordinate ascent over all instances, for sparse Gaussian processes with kernel and inducing points fixed.

A pass needs S = K_zx diag(ω) K_xz and, for each instance, the moments

    μ = k_xzᵀ α,   v = s² − k_xzᵀ M k_xz

where q(u) = N(K α, K (K + S)⁻¹ K) has α = (K + S)⁻¹ K_zx κ and M = K⁻¹ − (K + S)⁻¹, with K = K_zz and S of the pass before.
An RBF covariance over more than `REACH` length scales is below 2e-14 of s². So an instance needs only the inducing points
within this reach. `LocalAscent` makes use of it; the cost of its pass depends on their number, and no longer on the square of
the number of all. Where most inducing points are within reach, `DenseAscent` takes the steps of `SparseLatent` in whitened
coordinates, whose rounding errors are smaller.
"""

from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from uqassay.methods.local_gaussian_process import cells
from uqassay.methods.polya_gamma import expected_log_likelihood

__all__ = ["DenseAscent", "LocalAscent", "Neighbourhood", "ascent", "neighbourhoods"]

REACH = 8.0  # length scales
CELL = 256  # instances that share their inducing points
WORTHWHILE = 0.1  # of the multiplications of a dense pass


@final
@dataclass(frozen=True)
class Neighbourhood:
    """Instances that lie together, and the inducing points within `REACH` length scales of their box.

    Attributes
    ----------
    rows : tensor (b,)
    near : tensor (j,)
    """

    rows: Tensor
    near: Tensor


def neighbourhoods(latent: Any, x: Tensor) -> list[Neighbourhood] | None:
    """All instances in neighbourhoods; None where they have too many inducing points in common to save time.

    Parameters
    ----------
    latent : SparseLatent
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
    parts : list of Neighbourhood
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
