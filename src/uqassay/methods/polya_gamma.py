"""The logistic likelihood of a Gaussian latent value under Pólya-Gamma augmentation (Wenzel et al., 2019).

With ω ~ PG(1, 0), σ(a) = ½ E exp(a/2 − a² ω/2): given ω, the likelihood is Gaussian in the latent value. The best q(ω) is
PG(1, c) with c² = E g², in closed form. The bound is that of Jaakkola and Jordan (1997).
"""

import torch
from torch import Tensor

__all__ = ["expected_log_likelihood", "log_two_cosh", "polya_gamma_mean"]

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
