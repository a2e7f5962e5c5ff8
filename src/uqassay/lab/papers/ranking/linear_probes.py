"""CIFAR-10H by linear probes on given features of pre-trained networks.

Ranking metrics, sections 4 and 17.2: a linear layer with a softmax is trained on the penultimate features of each network,
and the metrics are those of the validation folds. NumPy suffices for one linear layer.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from uqassay.arrays import Floats
from uqassay.checks import whole
from uqassay.errors import InputError
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.options import FirstFigure, Progress, Say
from uqassay.lab.papers.ranking.classifiers import PAPER, NetworkLibrary, NetworkNames, NetworkWeights, n_asked
from uqassay.lab.papers.ranking.human_labels import (
    NOTES,
    PROBES,
    HumanLabels,
    SavedModel,
    check_folder,
    correlate_with_votes,
    labels_and_votes,
)
from uqassay.lab.papers.ranking.made_predictions import NetworkOptions, feature_files, make_features, read_features
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.predictions import Point

__all__ = ["probe_logits", "reproduce_ranking_cifar10h_probes", "steps_of_ranking_cifar10h_probes", "train_probe"]

RATE, MOMENTUM, EPOCHS, BATCH_SIZE = 0.002, 0.9, 10, 32  # section 17.2
FOLDS = 5
NEEDED = (
    "put there labels.npy (10,000 classes) and one file NAME.npy for each network, its penultimate features (10,000, d), in "
    "the order of the CIFAR-10 test set, or give the images and the networks that make these files; the votes are "
    "human_counts.npy (10,000 × 10) there, or CIFAR-10H of the cache folder"
)
CHOICES = (
    f"linear probes by SGD, learning rate {RATE:g}, momentum {MOMENTUM:g}, {EPOCHS} epochs, batches of {BATCH_SIZE}, softmax, "
    "as printed; the last batch of an epoch holds the remaining images",
    f"the paper takes another work's folds and prints neither them nor the targets: here {FOLDS} random folds with equal "
    "shares of the classes, each predicted by a probe that learnt the others; initial weights are uniform in ±1/√d; "
    "features are used as given",
)


def reproduce_ranking_cifar10h_probes(
    *,
    data: Annotated[
        str | os.PathLike[str] | None,
        "Folder with labels.npy and one file of features (n, d), NAME.npy, for each network, and human_counts.npy; "
        "without that file the votes are those of CIFAR-10H in the cache folder.",
    ] = None,
    seed: Annotated[int, "Seed of the folds, the initial weights and the batches."] = 0,
    images: Annotated[
        str | os.PathLike[str] | None,
        '"cifar-10", or a folder with train.npz and test.npz such as a copy of CIFAR-10. With it the networks compute '
        "features of the test images first, and the files are written to data, where finished ones are kept.",
    ] = None,
    networks: NetworkNames = None,
    library: NetworkLibrary = "torchvision",
    weights: NetworkWeights = "all",
    batch_size: Annotated[int, "Images that a network takes at once; the probes are trained in batches of 32."] = 64,
    device: Annotated[str, '"auto", "cpu", "cuda", …'] = "auto",
    figures: FirstFigure = None,
    progress: Progress = None,
) -> Reproduction:
    """Train linear probes on the features of several networks, and correlate the ranking metrics with CIFAR-10H's votes.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`.
    """
    check_figures(figures)
    whole(seed, "seed", "0 is the default", least=0)
    notes = [*CHOICES, *NOTES]
    say = progress or (lambda step: None)
    if images is not None and data is not None:
        notes += make_features(
            Path(data), images, NetworkOptions(library, networks, weights, batch_size, device), say=say
        )
    folder = check_folder(data, NEEDED)
    labels, votes = labels_and_votes(folder, NEEDED)
    rows = np.arange(len(labels))
    human = HumanLabels("CIFAR10-H", labels, votes, rows, len(rows), models=PROBES, paper_models=PAPER)
    return correlate_with_votes(
        "ranking-cifar10h-probes",
        _probes(folder, human, int(seed), say),
        human,
        needed=NEEDED,
        notes=notes,
        figures=figures,
        progress=progress,
    )


def steps_of_ranking_cifar10h_probes(
    *,
    data: str | os.PathLike[str] | None = None,
    images: object = None,
    networks: str | Sequence[str] | None = None,
    library: str = "torchvision",
    **_: object,
) -> int:
    """About how often the protocol reports its progress."""
    n_made = 0 if images is None else n_asked(networks, library)
    return max(1, n_made + (0 if data is None else 3 * len(feature_files(Path(data)))))


def probe_logits(
    features: NDArray[Any], labels: NDArray[Any], n_classes: int, *, seed: int, n_folds: int = FOLDS
) -> Floats:
    """Logits of every instance by a probe that was trained on the folds without it, ``(n, K)``.

    Parameters
    ----------
    features : array (n, d)
    labels : int array (n,)
    """
    rng = np.random.default_rng([seed, 0])
    fold = np.empty(len(labels), dtype=np.int64)
    for k in range(n_classes):  # the folds have equally many of a class, give or take one
        rows = rng.permutation(np.flatnonzero(labels == k))
        fold[rows] = (np.arange(len(rows)) + k) % n_folds
    logits = np.empty((len(labels), n_classes))
    for i in range(n_folds):
        inside, outside = fold == i, fold != i
        weights, bias = train_probe(features[outside], labels[outside], n_classes, seed=[seed, 1, i])
        with np.errstate(over="ignore", invalid="ignore"):
            logits[inside] = np.asarray(features[inside], dtype=np.float64) @ weights.T + bias
    return logits


def train_probe(
    features: NDArray[Any], labels: NDArray[Any], n_classes: int, *, seed: int | list[int]
) -> tuple[Floats, Floats]:
    """Weights ``(K, d)`` and bias ``(K,)`` of a linear layer that minimises the log loss of its softmax by SGD with momentum.

    Parameters
    ----------
    features : array (n, d)
    labels : int array (n,)

    Notes
    -----
    As PyTorch's ``SGD``: v ← μ v + g, w ← w − η v, with g the mean gradient of the batch.
    """
    x = np.column_stack([np.asarray(features, dtype=np.float64), np.ones(len(features))])  # the last weight is the bias
    rng = np.random.default_rng(seed)
    reach = 1.0 / np.sqrt(max(x.shape[1] - 1, 1))
    w = rng.uniform(-reach, reach, (n_classes, x.shape[1]))
    v = np.zeros_like(w)
    with np.errstate(over="ignore", invalid="ignore"):  # features of a great scale diverge, and the caller sees it
        for _ in range(EPOCHS):
            order = rng.permutation(len(x))
            for start in range(0, len(x), BATCH_SIZE):
                rows = order[start : start + BATCH_SIZE]
                error = softmax(x[rows] @ w.T, axis=1)  # (batch, K)
                error[np.arange(len(rows)), labels[rows]] -= 1.0
                v = MOMENTUM * v + error.T @ x[rows] / len(rows)
                w -= RATE * v
    return w[:, :-1], w[:, -1]


def _probes(folder: Path, human: HumanLabels, seed: int, say: Say) -> Iterator[SavedModel]:
    """One model for each file of features, trained when it is asked for."""
    for path in feature_files(folder):
        say(f"training the probe of {path.stem}")
        features = read_features(path, len(human.labels))
        logits = probe_logits(features, human.labels, human.votes.shape[1], seed=seed)
        if not np.isfinite(logits).all():
            rule = "must be of a scale at which SGD with the printed learning rate converges"
            got = "the weights became infinite"
            raise InputError("features", rule, got, "standardise them", code="range", source=path.name)
        yield SavedModel(path.stem, Point.from_logits(logits), human.labels, human.votes)
