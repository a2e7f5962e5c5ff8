"""CIFAR-10H by linear probes on given features of pre-trained networks.

Paper 003, sections 4 and 17.2: a linear layer with a softmax is trained on the penultimate features of each network, and the
metrics are those of the validation folds. NumPy suffices for one linear layer.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from uqassay.errors import InputError
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.cifar10h import NOTES, labels_and_votes
from uqassay.experiments.ranking.human_labels import correlate_with_votes
from uqassay.experiments.ranking.saved_models import HumanLabels, SavedModel, check_folder
from uqassay.experiments.reproduction import Reproduction
from uqassay.predictions import Point
from uqassay.predictions.file_opening import problems_named

__all__ = ["probe_logits", "progress_steps", "reproduce_ranking_cifar10h_probes", "train_probe"]

RATE, MOMENTUM, EPOCHS, BATCH_SIZE = 0.002, 0.9, 10, 32  # section 17.2
FOLDS = 5
NOT_FEATURES = ("labels.npy", "human_counts.npy")
NEEDED = (
    "put there labels.npy (10,000 classes) and one file NAME.npy for each network, its penultimate features (10,000, d), in "
    "the order of the CIFAR-10 test set; the votes are human_counts.npy (10,000 × 10) there, or CIFAR-10H of the cache folder"
)
CHOICES = (
    f"linear probes by SGD, learning rate {RATE:g}, momentum {MOMENTUM:g}, {EPOCHS} epochs, batches of {BATCH_SIZE}, softmax, "
    "as printed; the last batch of an epoch holds the remaining images",
    f"the paper takes another work's folds and prints neither them nor the targets: here {FOLDS} random folds with equal "
    "shares of the classes, each predicted by a probe that learnt the others; initial weights are uniform in ±1/√d; "
    "features are used as given",
)

Floats = NDArray[np.float64]
Progress = Callable[[str], None]


def reproduce_ranking_cifar10h_probes(
    *,
    data: str | os.PathLike[str] | None = None,
    seed: int = 0,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Train linear probes on the features of several networks, and correlate the ranking metrics with CIFAR-10H's votes.

    Parameters
    ----------
    data : path
        Folder with labels.npy and one file of features (n, d), ``NAME.npy``, for each network, and human_counts.npy; without
        that file the votes are those of `read_cifar10h`.
    seed : int
        Seed of the folds, the initial weights and the batches.
    figures : path, optional
        Folder for Figure 1 as a PNG file; needs matplotlib.
    progress : callable, optional
        Called with a line of text at every step.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`.

    Raises
    ------
    InputError
        No folder, files that are missing or do not fit together, features that are not finite numbers or too large for SGD to
        converge, fewer than four networks.
    """
    folder = check_folder(data, NEEDED)
    check_figures(figures)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(
            "seed", "must be a whole number of at least 0", f"got {seed!r}", "0 is the default", code="range"
        )
    labels, votes = labels_and_votes(folder, NEEDED)
    rows = np.arange(len(labels))
    human = HumanLabels("CIFAR10-H", labels, votes, rows, len(rows), models="linear probes of ImageNet networks")
    return correlate_with_votes(
        "ranking-cifar10h-probes",
        _probes(folder, human, int(seed), progress or (lambda step: None)),
        human,
        needed=NEEDED,
        notes=(*CHOICES, *NOTES),
        figures=figures,
        progress=progress,
    )


def progress_steps(*, data: str | os.PathLike[str] | None = None, **_: object) -> int:
    """Number of calls of ``progress`` without a figure."""
    return 1 if data is None else max(1, 3 * len(_feature_files(Path(data))))


def probe_logits(
    features: NDArray[Any], labels: NDArray[Any], n_classes: int, *, seed: int, n_folds: int = FOLDS
) -> Floats:
    """Logits of every instance by a probe that was trained on the folds without it, ``(n, K)``.

    Parameters
    ----------
    features : array (n, d)
    labels : int array (n,)
    n_classes : int
    seed : int
    n_folds : int
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
    n_classes : int
    seed : int or list of int

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


def _probes(folder: Path, human: HumanLabels, seed: int, say: Progress) -> Iterator[SavedModel]:
    """One model for each file of features, trained when it is asked for."""
    for path in _feature_files(folder):
        say(f"training the probe of {path.stem}")
        features = _features(path, len(human.labels))
        logits = probe_logits(features, human.labels, human.votes.shape[1], seed=seed)
        if not np.isfinite(logits).all():
            raise InputError(
                "features",
                "must be of a scale at which SGD with the printed learning rate converges",
                "the weights became infinite",
                "standardise them",
                code="range",
                source=path.name,
            )
        yield SavedModel(path.stem, Point.from_logits(logits), human.labels, human.votes)


def _feature_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.npy") if path.name not in NOT_FEATURES)


def _features(path: Path, n: int) -> NDArray[Any]:
    with problems_named(path):
        features: NDArray[Any] = np.load(path, allow_pickle=False, mmap_mode="r")
        numbers = features.dtype.kind in "iuf"
        if not (numbers and features.ndim == 2 and len(features) == n and np.isfinite(features).all()):
            raise InputError(
                "features",
                f"must be finite numbers ({n}, d)",
                f"got {features.dtype} {features.shape}" + ("" if not numbers else ", or nan or infinite ones"),
                "save one row for each image",
                code="shape",
            )
    return features
