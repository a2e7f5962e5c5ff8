"""Prototypes as pieces of evidence, and Dempster's rule for masses on single classes and Ω (Denœux, 2000; Tong et al., 2021).

Prototype i says, of an instance at the squared distance d_i², m_i({k}) = s_i h_ik and m_i(Ω) = 1 − s_i, with the support
s_i = sigmoid(ξ_i) exp(−η_i² d_i²) and its membership h_ik of class k. Dempster's rule over all prototypes has a closed form:
with b_k = Σ_i ln(1 + s_i h_ik / (1 − s_i)), the weight of evidence for class k,

    m({k}) = (e^{b_k} − 1) / S,   m(Ω) = 1 / S,   S = 1 + Σ_j (e^{b_j} − 1).
"""

from typing import final

import torch
from torch import Tensor, nn

from uqassay.methods.layers import Draws

__all__ = ["DempsterShafer", "combined_evidence", "log_normaliser", "masses_of_evidence"]

LEAST_DOUBT = 1e-6  # 1 − s at least, as single precision can tell it from 0


@final
class DempsterShafer(nn.Module):
    """Weights of evidence for the classes from the distances to prototypes.

    Parameters
    ----------
    prototypes : tensor (I, d)
        Where they stand at first.
    memberships : tensor (I, K)
        h at first, positive; rows sum to 1.
    scale : float
        η² of all prototypes at first.
    support : float
        sigmoid(ξ) of all prototypes at first.
    """

    def __init__(self, prototypes: Tensor, memberships: Tensor, scale: float, support: float) -> None:
        super().__init__()
        one_each = (1, 1, len(prototypes))
        self.prototypes = nn.Parameter(prototypes.detach().clone()[None])
        self.beta = nn.Parameter(memberships.detach().sqrt()[None])
        self.eta = nn.Parameter(torch.full(one_each, scale**0.5))
        self.xi = nn.Parameter(torch.logit(torch.full(one_each, support)))

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """Features ``(M, B, d)`` to weights of evidence b ``(M, B, K)``."""
        return combined_evidence(self.supports(x), self.memberships())

    def supports(self, x: Tensor) -> Tensor:
        """s, ``(M, B, I)``."""
        towards = x @ self.prototypes.mT
        lengths = self.prototypes.square().sum(dim=-1)[:, None]  # (M, 1, I)
        squared = (x.square().sum(dim=-1, keepdim=True) + lengths - 2.0 * towards).clamp(min=0.0)
        return torch.sigmoid(self.xi) * torch.exp(-self.eta.square() * squared)

    def memberships(self) -> Tensor:
        """h_ik = β_ik² / Σ_j β_ij², ``(M, I, K)``."""
        squares = self.beta.square()
        return squares / squares.sum(dim=-1, keepdim=True)


def combined_evidence(supports: Tensor, memberships: Tensor) -> Tensor:
    """Dempster's rule in logarithms: b_k = Σ_i ln(1 + s_i h_ik / (1 − s_i)).

    Parameters
    ----------
    supports : tensor (M, B, I)
        s in [0, 1].
    memberships : tensor (M, I, K)
        h; rows sum to 1.

    Returns
    -------
    tensor (M, B, K)
        Not negative; 0 says nothing.
    """
    odds = supports / (1.0 - supports).clamp(min=LEAST_DOUBT)
    return torch.log1p(odds[..., None] * memberships[:, None]).sum(dim=-2)


def masses_of_evidence(evidence: Tensor) -> Tensor:
    """Masses of the K single classes and, last, of Ω: ``(…, K)`` to ``(…, K + 1)``; they sum to 1."""
    peak = evidence.amax(dim=-1, keepdim=True)
    singletons = -torch.expm1(-evidence) * torch.exp(evidence - peak)  # (e^{b_k} − 1) e^{−peak}
    raw = torch.cat([singletons, torch.exp(-peak)], dim=-1)
    return raw / raw.sum(dim=-1, keepdim=True)


def log_normaliser(evidence: Tensor) -> Tensor:
    """ln S, ``(…, K)`` to ``(…,)``; the sum in the logarithm is at least 1."""
    peak = evidence.amax(dim=-1, keepdim=True)
    singletons = -torch.expm1(-evidence) * torch.exp(evidence - peak)
    return peak[..., 0] + torch.log(singletons.sum(dim=-1) + torch.exp(-peak[..., 0]))
