"""The Pólya-Gamma augmentation of the logistic likelihood, and mean-field inference with it (Wenzel et al., 2019)."""

from typing import NamedTuple

import numpy as np
import torch
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from torch import Tensor

from uqassay.arrays import Floats

__all__ = [
    "expected_log_likelihood",
    "log_two_cosh",
    "logistic_sites",
    "polya_gamma_mean",
    "precision",
    "site_precisions",
]


# The logistic likelihood of a Gaussian latent value under Pólya-Gamma augmentation (Wenzel et al., 2019).
#
# With ω ~ PG(1, 0), σ(a) = ½ E exp(a/2 − a² ω/2): given ω, the likelihood is Gaussian in the latent value. The best
# q(ω) is PG(1, c) with c² = E g², in closed form. The bound is that of Jaakkola and Jordan (1997).

SERIES = 1e-2  # below, tanh(c/2) / (2c) is 1/4 − c²/48 to 1e-10


def polya_gamma_mean(c: Tensor) -> Tensor:
    """E ω = tanh(c/2) / (2c) of ω ~ PG(1, c), at most 1/4, for c ≥ 0."""
    small = c < SERIES
    safe = torch.where(small, torch.ones_like(c), c)
    return torch.where(small, 0.25 - c**2 / 48, torch.tanh(safe / 2) / (2 * safe))


def log_two_cosh(a: Tensor) -> Tensor:
    """ln(2 cosh a) without overflow."""
    return a.abs() + torch.log1p(torch.exp(-2 * a.abs()))


def expected_log_likelihood(target: Tensor, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
    """Lower bound of E ln p(y | g) over g ~ N(μ, v), maximised over q(ω), and the weights E ω.

    Parameters
    ----------
    target : tensor (n,)
        κ = y − ½, which is ½ for the positive class and −½ for the other.
    mean, variance : tensor (n,)
        μ and v of the latent values.

    Returns
    -------
    bound, weight : tensor (n,)
        κ μ − ln(2 cosh(c/2)) with c² = μ² + v, in nats, and E ω at c, without gradient. The gradient of the bound holds q(ω)
        fixed; as q(ω) is optimal, it is the whole one.
    """
    second = mean**2 + variance
    c = second.detach().sqrt()
    weight = polya_gamma_mean(c)
    bound = target * mean - weight / 2 * (second - second.detach()) - log_two_cosh(c / 2)
    return bound, weight


# Mean-field Pólya-Gamma inference for a Gaussian process with a logistic likelihood, in closed form.
#
# The approximation of the likelihood of each instance is Gaussian in its latent value g_i: exp(κ_i g_i − θ_i g_i² / 2),
# a "site". κ_i = y_i − ½ is fixed by the label; the precisions θ_i are found here. Given the sites, everything else is
# Gaussian regression with targets κ_i / θ_i and noise variances 1 / θ_i.

TOLERANCE = 0.01  # largest change of ln θ in the last step
NEWTON_STEPS, PLAIN_STEPS = 25, 500
SMALL = 1e-4


class Sites(NamedTuple):
    """Sites of n instances, and the posterior of their latent values."""

    precision: Floats  #: (n,): θ, in (0, ¼]
    #: (n,): Of the latent values under the posterior N(m, S) that these sites make
    mean: Floats
    variance: Floats
    log_evidence: float  #: The variational lower bound of ln p(y), in nats
    n_steps: int


def logistic_sites(kernel: Floats, y: Floats, *, tolerance: float = TOLERANCE) -> Sites:
    """Sites at the fixpoint θ_i = tanh(c_i / 2) / (2 c_i), c_i² = m_i² + S_ii, with S = (K⁻¹ + diag θ)⁻¹ and m = S κ.

    Parameters
    ----------
    kernel : array (n, n)
        Covariance K of the latent values; it may be singular.
    y : array (n,)
        0 or 1.
    tolerance : float
        The search ends when no ln θ changes by more than this in one step.

    Notes
    -----
    The fixpoint maximises the variational bound of Jaakkola and Jordan (2000), which Wenzel et al. (2019) derive by
    Pólya-Gamma augmentation. The plain iteration is an EM algorithm; its rate is near 1 where the labels agree. So the mean
    takes Newton steps, with S as it stands; their fixpoint is the same. If Newton's method has not settled after 25 steps,
    plain steps follow, which never lower the bound.
    """
    theta, n_steps = site_precisions(kernel, y, tolerance=tolerance)
    kappa = y - 0.5
    inverse, log_determinant = _inverse(kernel, theta)
    mean, variance = _posterior_mean(inverse, theta, kappa), _variances(inverse, theta)
    c = np.sqrt(mean**2 + variance)
    # the bound at N(m, S) with its best c: ½ κᵀ S κ − ½ ln |B| + Σ (½ θ c² − ln 2 cosh(c / 2))
    bound = 0.5 * (kappa @ mean - log_determinant) + (0.5 * theta * c**2 - np.logaddexp(c / 2.0, -c / 2.0)).sum()
    return Sites(theta, mean, variance, float(bound), n_steps)


def site_precisions(kernel: Floats, y: Floats, *, tolerance: float = TOLERANCE) -> tuple[Floats, int]:
    """The θ of `logistic_sites`, ``(n,)``, and the number of steps."""
    kappa = y - 0.5
    mean, log_theta = np.zeros(len(y)), np.full(len(y), np.log(0.25))
    step = 0
    for step in range(1, NEWTON_STEPS + PLAIN_STEPS + 1):
        theta = np.exp(log_theta)
        inverse, _ = _inverse(kernel, theta)
        variance = _variances(inverse, theta)
        newton = step <= NEWTON_STEPS
        mean = _newton_step(kernel, kappa, mean, variance) if newton else _posterior_mean(inverse, theta, kappa)
        updated = np.log(precision(np.sqrt(mean**2 + variance)))
        change = np.abs(updated - log_theta).max()
        log_theta = updated
        if change <= tolerance:
            break
    return np.exp(log_theta), step


def precision(c: Floats) -> Floats:
    """θ(c) = tanh(c / 2) / (2 c), with θ(0) = ¼."""
    safe = np.maximum(c, SMALL)
    return np.where(c > SMALL, np.tanh(safe / 2.0) / (2.0 * safe), 0.25 - c * c / 48.0)


def _inverse(kernel: Floats, theta: Floats) -> tuple[Floats, float]:
    """Lower triangle of B⁻¹, and ln |B|, with B = I + W^½ K W^½, W = diag θ. All eigenvalues of B are ≥ 1."""
    factor = _factor(kernel, np.sqrt(theta))
    log_determinant = 2.0 * float(np.log(factor.diagonal()).sum())
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    return np.asarray(inverse), log_determinant


def _factor(kernel: Floats, root: Floats) -> Floats:
    system = (root[:, None] * kernel * root).T  # symmetric, and in the order of LAPACK without a copy
    np.einsum("ii->i", system)[:] += 1.0
    factor, _ = dpotrf(system, lower=1, clean=0, overwrite_a=1)
    return np.asarray(factor)


def _variances(inverse: Floats, theta: Floats) -> Floats:
    """S_ii = (1 − (B⁻¹)_ii) / θ_i."""
    return np.maximum(1.0 - inverse.diagonal(), 0.0) / theta


def _posterior_mean(inverse: Floats, theta: Floats, kappa: Floats) -> Floats:
    """m = S κ = W^−½ (I − B⁻¹) W^−½ κ."""
    root = np.sqrt(theta)
    scaled = kappa / root
    return np.asarray((scaled - dsymv(1.0, inverse, scaled, lower=1)) / root)


def _newton_step(kernel: Floats, kappa: Floats, mean: Floats, variance: Floats) -> Floats:
    """(K⁻¹ + H)⁻¹ (κ − θ m + H m): Newton's step to the zero of κ − θ(√(m² + S)) m − K⁻¹ m, where S is held fixed."""
    c = np.sqrt(mean**2 + variance)
    theta = precision(c)
    safe = np.maximum(c, SMALL)
    slope = np.where(c > SMALL, (0.25 / np.cosh(np.minimum(safe, 700.0) / 2.0) ** 2 - theta) / safe, 0.0)  # dθ / dc
    curvature = np.maximum(theta + slope * mean**2 / safe, 1e-10)
    root = np.sqrt(curvature)
    pushed = kernel @ (kappa - theta * mean + curvature * mean)
    solved, _ = dpotrs(_factor(kernel, root), root * pushed, lower=1)
    return np.asarray(pushed - kernel @ (root * solved))
