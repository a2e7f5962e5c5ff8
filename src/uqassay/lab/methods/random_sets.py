"""Random-set networks: a belief for each set of a chosen family, and the masses behind them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from uqassay.checks import fail, number, whole
from uqassay.credal import as_focal_sets, budget_from_confusion, budget_from_embeddings, family_moebius, paper_masses
from uqassay.errors import InputError
from uqassay.lab.methods.backbones import Backbone
from uqassay.lab.methods.ensembles import StandardNetwork
from uqassay.lab.methods.layers import Dense, Draws, Network
from uqassay.lab.methods.networks import NetworkClassifier, dense_layers
from uqassay.lab.methods.training import Batch
from uqassay.notes import Note
from uqassay.predictions import Masses

__all__ = [
    "BeliefHead",
    "budget_from_network",
    "principal_components",
]


# Choice of the sets of classes of a random-set network, from the features of a standard network.

DIMENSIONS = 3  # of the embedding, as in the paper


def budget_from_network(
    network: NetworkClassifier, x: NDArray[np.float32], y: NDArray[np.int64], n_sets: int
) -> tuple[NDArray[np.bool_], str]:
    """The single classes and the sets of classes that overlap most in the penultimate features.

    Parameters
    ----------
    network : NetworkClassifier
        Fitted to x, without standardising, and y.
    x : array (n, …)
    y : int array (n,)
        Indices of the classes.

    Returns
    -------
    focal_sets : bool array (F, K)
    how : {"ellipsoids", "confusion"}
        Overlap of the classes' 95 % ellipsoids in three principal components; or the network's probabilities for the training
        instances, if a class has too few instances or too flat a cloud for an ellipsoid.
    """
    features = network._evaluate(x, lambda network, x, draws: network.features(x))[:, 0]  # (n, d)
    n_classes = len(network.classes_)
    embeddings = principal_components(features, DIMENSIONS)
    try:
        return budget_from_embeddings(embeddings, y, n_sets, n_classes=n_classes), "ellipsoids"
    except InputError:  # a class without an ellipsoid, the one rule that these arguments can break
        return budget_from_confusion(network.predict_proba(x), y, n_sets, max_size=None), "confusion"


def principal_components(x: NDArray[np.float64], n_components: int) -> NDArray[np.float64]:
    """Coordinates ``(n, n_components)`` on the axes of greatest variance, fewer where x has fewer columns."""
    centred = x - x.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]  # by falling variance
    return centred @ axes[:, :n_components]


# The family holds every class alone and the sets of classes that a standard network confuses most. The target of a set
# is 1 where it contains the label; two small terms in the loss lead the beliefs towards those of a belief function.

STREAM = 3  # of the seed, apart from those of `NetworkClassifier._seeds`


@dataclass(kw_only=True, eq=False, repr=False)
class RSNN(NetworkClassifier):
    """A network whose outputs are the beliefs of sets of classes; states `Masses`.

    Parameters
    ----------
    n_sets : int
        Number of sets of two or more classes, in addition to the single classes; sets without overlap are left out; 20
        in the unified evaluation paper for ten classes.
    focal_sets : sequence of collections of class indices, or bool array (F, K), optional
        The family itself, with every single class in it; indices are those of `classes_`.
    negative_weight, sum_weight : float
        Of mean max(0, −m), and of max(0, mean Σ m − 1), in the loss; 1e-3 in the unified evaluation paper.
    repair : bool
        Repair masses as the authors do (negative ones set to 0, the rest to 1 put on Ω, divided by their sum), with a note on
        the number of changed rows. With False the masses may be negative; `predict` and `predict_proba` repair them
        nevertheless.
    backbone, epochs, …
        See `NetworkClassifier`.

    Attributes
    ----------
    focal_sets_ : bool array (F, K)
        Single classes first, then sets by falling overlap, unless the family was given.
    budget_ : str
        How the family was chosen: "ellipsoids", "confusion" or "given"; see Notes.

    Notes
    -----
    One of the eight predictors of the unified evaluation (App. E). The family: a standard network with the
    same options is trained, its penultimate features are reduced to three principal components, each class gets a
    Gaussian, and sets of classes are ranked by the volume of the intersection of the classes' 95 % ellipsoids over that of
    their union. The authors reduce by t-SNE, where distances between clusters say little and the seed decides; principal
    components keep distances. Where a class has fewer than four instances, or features in a plane, sets are ranked by the
    network's own probabilities for the training instances (`uqassay.credal.budget_from_confusion`).

    Masses sum to the belief of Ω where the family holds Ω, so that the second term of the loss is then 0 throughout.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import RSNN
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> net = RSNN(focal_sets=[[0], [1], [0, 1]], backbone=(8,), epochs=60, learning_rate=0.02)
    >>> said = net.fit(x, [0, 0, 1, 1] * 8).predict_uncertainty([[-2.0], [2.0]])
    >>> said, said.labels().tolist()
    (Masses(masses=(2, 3)), [0, 1])
    """

    n_sets: int = 20
    focal_sets: Any = None
    negative_weight: float = 1e-3
    sum_weight: float = 1e-3
    repair: bool = True

    _stackable: ClassVar[bool] = False  # families differ in size from one training set to the next

    def _check_options(self) -> None:
        whole(self.n_sets, "n_sets", "for example 20", least=0)
        sets = self.focal_sets
        if sets is not None and not (isinstance(sets, (list, tuple, np.ndarray)) and all(map(_is_set, sets))):
            rule = "must be a list of sets of classes"
            fail("focal_sets", rule, f"got {sets!r}", "for example [[0], [1], [0, 1]]", code="type")
        for name in ("negative_weight", "sum_weight"):
            value = getattr(self, name)
            number(value, name, "for example 0.001", low=0, ends="[)")

    def _check_classes(self, n_classes: int) -> None:
        if self.focal_sets is not None:
            given_family(self.focal_sets, n_classes)

    def _before_training(self, x: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        if self.focal_sets is not None:
            self.focal_sets_, self.budget_ = given_family(self.focal_sets, self._n_classes), "given"
            return
        seed = np.random.SeedSequence(self.seed_.entropy, spawn_key=(*self.seed_.spawn_key, STREAM))
        common = {name: getattr(self, name) for name in StandardNetwork().get_params(deep=False)}
        own = {
            "standardise": False,
            "random_state": int(seed.generate_state(1)[0]),
            "classes": range(self._n_classes),  # y are indices here
        }
        network = StandardNetwork(**common | own).fit(x, y)
        self.focal_sets_, self.budget_ = budget_from_network(network, x, y, self.n_sets)

    def _new_network(self, backbone: Backbone) -> Network:
        return Network(backbone.extractor(), dense_layers(backbone), BeliefHead(backbone.n_features, self.focal_sets_))

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        head: Any = network.head
        targets = head.members[0, :, batch.y].movedim(0, -1)  # (M, B, F): 1 where the set contains the label
        each = binary_cross_entropy_with_logits(outputs, targets, reduction="none").mean(dim=-1)
        masses = head.masses(torch.sigmoid(outputs))  # (M, B, F)
        negative = torch.relu(-masses).mean(dim=-1)
        excess = torch.relu(masses.sum(dim=-1).mean(dim=1, keepdim=True) - 1.0)  # (M, 1)
        return each + self.negative_weight * negative + self.sum_weight * excess

    def predict_uncertainty(self, X: ArrayLike) -> Masses:
        """Masses of each instance, repaired or as they come."""
        return self._statement(self._prepared(self._checked_inputs(X)))

    def _statement(self, x: NDArray[np.float32]) -> Masses:
        beliefs = self._evaluate(x, lambda network, x, draws: torch.sigmoid(network(x)))[:, 0]
        said = Masses.from_beliefs(beliefs, self.focal_sets_, class_names=self.class_names_)
        return _repaired(said) if self.repair else said

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable label of each instance by the pignistic probability of the repaired masses, ``(n,)``."""
        labels = self._belief_functions(X).labels()
        chosen: NDArray[Any] = self.classes_[labels]
        return chosen

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Pignistic probabilities of the repaired masses, ``(n, K)``."""
        return self._belief_functions(X).mean_probs()

    def _belief_functions(self, X: ArrayLike) -> Masses:
        said = self.predict_uncertainty(X)
        return said if self.repair else _repaired(said)


@final
class BeliefHead(nn.Module):
    """Logits of the beliefs of F sets of classes.

    Parameters
    ----------
    focal_sets : bool array (F, K)
    """

    def __init__(self, inputs: int, focal_sets: NDArray[np.bool_]) -> None:
        super().__init__()
        n_sets = len(focal_sets)
        self.dense = Dense(inputs, n_sets)
        self.members: Tensor
        self.moebius: Tensor
        self.register_buffer("members", torch.from_numpy(focal_sets.astype(np.float32))[None])  # (M, F, K)
        inverse = family_moebius(np.eye(n_sets), focal_sets)  # m = beliefs @ inverse, as the inverse is linear
        self.register_buffer("moebius", torch.from_numpy(inverse.astype(np.float32))[None])  # (M, F, F)

    def forward(self, x: Tensor, draws: Draws | None = None) -> Tensor:
        """``(M, B, inputs)`` to ``(M, B, F)``."""
        logits: Tensor = self.dense(x)
        return logits

    def masses(self, beliefs: Tensor) -> Tensor:
        """Möbius inverse inside the family, ``(M, B, F)``; whole numbers in the matrix keep it exact."""
        return beliefs @ self.moebius


def given_family(focal_sets: Sequence[Iterable[int]] | NDArray[Any], n_classes: int) -> NDArray[np.bool_]:
    """A family as bool array ``(F, K)``, with every class alone in it."""
    sets = as_focal_sets(focal_sets, n_classes)
    alone = sets[sets.sum(axis=1) == 1].any(axis=0)  # (K,)
    if not alone.all():
        missing = int(np.flatnonzero(~alone)[0])
        rule = "must hold every class alone, so that each can be predicted"
        fail("focal_sets", rule, f"class {missing} is missing", f"add [{missing}]", code="missing")
    return sets


def _is_set(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _repaired(said: Masses) -> Masses:
    """The authors' repair, always with Ω among the sets, so that slices of the instances have the same family."""
    masses, sets, changed = paper_masses(said.masses, said.focal_sets)
    count = int(changed.sum())
    note = Note(
        "repaired",
        f"{count} of {len(changed)} rows of masses were repaired (negative masses set to 0, rows renormalised)",
        {"rows": count, "n": len(changed)},
    )
    return Masses(masses, sets, class_names=said.class_names, notes=(note,))
