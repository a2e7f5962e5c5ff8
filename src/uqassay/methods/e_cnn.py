"""Evidential classification by prototypes: masses on single classes and Ω from distances of features (Tong et al., 2021).

Close to a prototype there is evidence for its classes; far from all prototypes the mass goes to Ω, which is total ignorance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from uqassay.errors import InputError
from uqassay.methods.backbones import Backbone
from uqassay.methods.base import check_count
from uqassay.methods.dempster_shafer_layer import DempsterShafer, log_normaliser, masses_of_evidence
from uqassay.methods.layers import Draws, Network
from uqassay.methods.network_classifier import NetworkClassifier, dense_layers
from uqassay.methods.training import Batch
from uqassay.predictions import Masses

__all__ = ["ECNN", "hurwicz_cross_entropy"]

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
        200 in paper 000.
    nu : float
        Pessimism ν of the decision in the loss, 0.9 in paper 000.
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
    One of the eight predictors of the unified evaluation (paper 000, App. E). With pessimism ν the utility of deciding for
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
    >>> from uqassay.methods import ECNN
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = ECNN(n_prototypes=4, backbone=(8,), epochs=60, learning_rate=0.02).fit(x, [0, 0, 1, 1] * 8)
    >>> said = net.predict_uncertainty([[-1.0], [1.0]])
    >>> said, said.labels().tolist()
    (Masses(masses=(2, 3)), [0, 1])
    """

    n_prototypes: int = 200
    nu: float = 0.9

    def _check_options(self) -> None:
        check_count("n_prototypes", self.n_prototypes)
        if not 0 <= self.nu < 1:
            raise InputError("nu", "must lie in [0, 1)", f"got {self.nu!r}", "for example 0.9", code="range")

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
