"""Evidential networks: a Dirichlet distribution, or masses from prototypes by Dempster's rule."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus

from uqassay.checks import number, one_of, whole
from uqassay.lab.methods.backbones import Backbone
from uqassay.lab.methods.layers import Draws, Network
from uqassay.lab.methods.networks import NetworkClassifier, dense_layers
from uqassay.lab.methods.training import Batch
from uqassay.predictions import Dirichlet, Masses

__all__ = [
    "DempsterShafer",
    "combined_evidence",
    "expected_squared_error",
    "hurwicz_cross_entropy",
    "kl_to_uniform",
    "log_normaliser",
    "masses_of_evidence",
]


# Evidential deep learning: one network states a Dirichlet distribution (Sensoy et al., 2018).
#
# The outputs e ≥ 0 are evidence, α = e + 1 the parameters. The loss of an instance with label y is the expected squared
# error of the class probabilities under Dir(α), their equation 5, plus the divergence of the evidence for wrong classes
# from the uniform Dirichlet, with a weight that grows to 1.

EVIDENCE: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "softplus": softplus,
    "exp": lambda z: torch.exp(z.clamp(-10.0, 10.0)),  # as the authors' code, since e^z overflows
}


@dataclass(kw_only=True, eq=False, repr=False)
class Evidential(NetworkClassifier):
    """A network whose outputs are evidence for the classes; states a `Dirichlet`.

    Parameters
    ----------
    evidence : {"exp", "softplus", "relu"}
        Function from output to evidence. The paper has "relu", with which a class without evidence gets no gradient; "exp",
        from the authors' code, comes closest to the accuracy of a standard network in the same number of epochs.
    annealing_epochs : int
        Epochs until the divergence has its full weight: min(1, epoch / annealing_epochs), 10 in the paper.
    backbone, epochs, …
        See `NetworkClassifier`. With early stopping, the loss on held-out instances always has the full weight.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import Evidential
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = Evidential(backbone=(8,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> net.predict_uncertainty([[-2.0], [2.0]])
    Dirichlet(alpha=(2, 2))
    """

    evidence: str = "exp"
    annealing_epochs: int = 10

    def _check_options(self) -> None:
        one_of(self.evidence, "evidence", tuple(EVIDENCE), "choose one")
        whole(self.annealing_epochs, "annealing_epochs", "for example 10", least=1)

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        alpha = EVIDENCE[self.evidence](outputs) + 1.0
        hit = one_hot(batch.y, self._n_classes).to(alpha.dtype)
        weight = (batch.epoch / self.annealing_epochs).clamp(max=1.0)  # (M, 1)
        return expected_squared_error(alpha, hit) + weight * kl_to_uniform(hit + (1.0 - hit) * alpha)

    def _statement(self, x: NDArray[np.float32]) -> Dirichlet:
        evidence = self._evaluate(x, lambda network, x, draws: EVIDENCE[self.evidence](network(x)))  # (n, 1, K)
        return Dirichlet(evidence[:, 0] + 1.0, class_names=self.class_names_)


def expected_squared_error(alpha: Tensor, hit: Tensor) -> Tensor:
    """E ‖y − p‖² under p ~ Dir(α): Σ (y_k − α_k/S)² + α_k (S − α_k) / (S² (S + 1)), S = Σ α; ``(…, K)`` to ``(…,)``."""
    total = alpha.sum(dim=-1, keepdim=True)
    mean = alpha / total
    return ((hit - mean) ** 2 + mean * (1.0 - mean) / (total + 1.0)).sum(dim=-1)


def kl_to_uniform(alpha: Tensor) -> Tensor:
    """KL(Dir(α) ‖ Dir(1, …, 1)) in nats, ``(…, K)`` to ``(…,)``."""
    total = alpha.sum(dim=-1, keepdim=True)
    slope = torch.digamma(alpha) - torch.digamma(total)
    constant = torch.lgamma(total[..., 0]) - math.lgamma(alpha.shape[-1])
    return constant + ((alpha - 1.0) * slope - torch.lgamma(alpha)).sum(dim=-1)


# Prototypes as pieces of evidence, and Dempster's rule for masses on single classes and Ω (Denœux, 2000; Tong et al.,
# 2021).
#
# Prototype i says, of an instance at the squared distance d_i², m_i({k}) = s_i h_ik and m_i(Ω) = 1 − s_i, with the
# support s_i = sigmoid(ξ_i) exp(−η_i² d_i²) and its membership h_ik of class k. Dempster's rule over all prototypes has
# a closed form: with b_k = Σ_i ln(1 + s_i h_ik / (1 − s_i)), the weight of evidence for class k,
#
#     m({k}) = (e^{b_k} − 1) / S,   m(Ω) = 1 / S,   S = 1 + Σ_j (e^{b_j} − 1).

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


# Evidential classification by prototypes: masses on single classes and Ω from distances of features (Tong et al.,
# 2021).
#
# Close to a prototype there is evidence for its classes; far from all prototypes the mass goes to Ω, which is total
# ignorance.

ROWS_AT_ONCE = 1024  # in prediction; memory per instance grows with prototypes × classes
LABEL_MEMBERSHIP = 0.9  # initial membership of a prototype in the class of its instance
FIRST_SUPPORT = 0.5
STREAM = 3  # of the seed, apart from those of `NetworkClassifier._seeds`


@dataclass(kw_only=True, eq=False, repr=False)
class ECNN(NetworkClassifier):
    """A network whose features are compared with prototypes, combined by Dempster's rule; states `Masses`.

    Parameters
    ----------
    n_prototypes : int
        200 in the unified evaluation paper.
    nu : float
        Pessimism ν of the decision in the loss, 0.9 in the unified evaluation paper.
    backbone, epochs, …
        See `NetworkClassifier`.

    Attributes
    ----------
    start_instances_ : array (I, …)
        Standardised training instances; their features are the initial prototypes.
    start_labels_ : int array (I,)
        Indices of their classes.

    Notes
    -----
    One of the eight predictors of the unified evaluation (App. E). With pessimism ν the utility of deciding for
    class k is ν Bel + (1 − ν) Pl = m_k + (1 − ν) m_Ω; the loss is minus its logarithm at the label. These utilities sum to 1
    for ν = 1 − 1/K, such as 0.9 with ten classes. With more classes than 1/(1 − ν) the sum is greater, so that mass on Ω is
    rewarded: choose ν of at least 1 − 1/K there.

    The prototypes start at the features of training instances, an equal number from every class, and belong to the
    class of their instance for the greater part; where instances are fewer than prototypes they are used again. The
    paper makes 1,023 utilities of sets of decisions from the masses and normalises them; here the masses themselves are
    stated, on K single classes and Ω. The published code of E-CNN divides the supports of an instance by the greatest of
    them, so that no instance is far from all prototypes, and takes m_Ω m_Ω three times into each combination; here is
    Dempster's rule.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import ECNN
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = ECNN(n_prototypes=4, backbone=(8,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> said = net.predict_uncertainty([[-1.0], [1.0]])
    >>> said, said.labels().tolist()
    (Masses(masses=(2, 3)), [0, 1])
    """

    n_prototypes: int = 200
    nu: float = 0.9

    def _check_options(self) -> None:
        whole(self.n_prototypes, "n_prototypes", "for example 10", least=1)
        number(self.nu, "nu", "for example 0.9", low=0, high=1, ends="[)")

    def _before_training(self, x: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        rng = np.random.default_rng(
            np.random.SeedSequence(self.seed_.entropy, spawn_key=(*self.seed_.spawn_key, STREAM))
        )
        chosen = balanced_sample(y, self.n_prototypes, rng)
        self.start_instances_, self.start_labels_ = x[chosen], y[chosen]

    def _new_network(self, backbone: Backbone) -> Network:
        network = Network(backbone.extractor(), dense_layers(backbone), nn.Identity())
        with torch.no_grad():
            features = self._start_features(network)  # (I, d)
        spread = float(features.var(dim=0, correction=0).sum())  # mean squared distance to their mean
        hit = one_hot(torch.from_numpy(self.start_labels_), self._n_classes).float()
        memberships = hit * LABEL_MEMBERSHIP + (1.0 - hit) * (1.0 - LABEL_MEMBERSHIP) / (self._n_classes - 1)
        network.head = DempsterShafer(features, memberships, 1.0 / spread if spread > 0 else 1.0, FIRST_SUPPORT)
        return network.train()

    def _start_features(self, network: Network) -> Tensor:
        """Features of the start instances, ``(I, d)``; by statistics of batches, as in training, where there is batch norm."""
        x = torch.from_numpy(self.start_instances_)
        batch_norm = any("running_mean" in name for name, _ in network.named_buffers())
        n_pieces = max(1, len(x) // max(2, self.batch_size)) if batch_norm or self.image_size is not None else 1
        network.train(batch_norm and len(x) > 1)
        return torch.cat([network.features(part[None])[0] for part in torch.tensor_split(x, n_pieces)])

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        return hurwicz_cross_entropy(outputs, batch.y, self.nu)

    def _statement(self, x: NDArray[np.float32]) -> Masses:
        def masses(network: Network, x: Tensor, draws: Draws | None) -> Tensor:
            parts = [masses_of_evidence(network(part)) for part in x.split(ROWS_AT_ONCE, dim=1)]
            return torch.cat(parts, dim=1)

        sets = np.concatenate([np.eye(self._n_classes, dtype=bool), np.ones((1, self._n_classes), dtype=bool)])
        return Masses(self._evaluate(x, masses)[:, 0], sets, class_names=self.class_names_)


def hurwicz_cross_entropy(evidence: Tensor, y: Tensor, nu: float) -> Tensor:
    """−ln(m_y + (1 − ν) m_Ω) = ln S − ln(e^{b_y} − ν), from weights of evidence b ``(M, B, K)`` and labels ``(M, B)``."""
    of_label = evidence.gather(-1, y[..., None])[..., 0]
    return log_normaliser(evidence) - of_label - torch.log1p(-nu * torch.exp(-of_label))


def balanced_sample(y: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows ``(n,)``: of every class in turn, each instance as often as the others of its class, to one."""
    turns = [rng.permutation(np.flatnonzero(y == c)) for c in rng.permutation(np.unique(y))]
    return np.array([turns[i % len(turns)][i // len(turns) % len(turns[i % len(turns)])] for i in range(n)])
