"""Ranking metrics against the ground truths of CIFAR-10H, for saved models.

Paper 003, section 4, Table 1 (rows CIFAR10-H): the votes of about fifty people on each test image are its label distribution.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_labels
from uqassay.datasets.label_distributions import read_cifar10h
from uqassay.errors import InputError
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.human_labels import correlate_saved, saved_steps
from uqassay.experiments.ranking.saved_models import HumanLabels, check_folder
from uqassay.experiments.reproduction import Reproduction
from uqassay.predictions.files import load_labels
from uqassay.wording import percent

__all__ = ["NOTES", "check_agreement", "labels_and_votes", "progress_steps", "reproduce_ranking_cifar10h"]

NEEDED = (
    "put there labels.npy (10,000 classes) and prediction files (.npz) in the order of the CIFAR-10 test set; the votes are "
    "human_counts.npy (10,000 × 10) there, or CIFAR-10H of the cache folder, from github.com/jcpeterson/cifar-10h"
)
NOTES = (
    "of the printed row UQ-C-index, φ, the estimate −0.04 is a share where all others are percent: its interval is that of "
    "−3.93 % (see ranking-intervals)",
    "the metrics see the label of the data set, the truths the votes; the paper does not say which its metrics saw",
)

Progress = Callable[[str], None]


def reproduce_ranking_cifar10h(
    *,
    data: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Correlate the ranking metrics with the votes of CIFAR-10H over saved models.

    Parameters
    ----------
    data : path
        Folder with labels.npy and prediction files (.npz) as `uqassay.load` reads them, and human_counts.npy; without that file
        the votes are those of `read_cifar10h`. A file of members gives each member and their mean; beliefs that are no belief
        functions are repaired.
    figures : path, optional
        Folder for Figure 1 as a PNG file; needs matplotlib.
    progress : callable, optional
        Called with a line of text at every step.

    Returns
    -------
    Reproduction
        As of `human_labels.correlate_with_votes`, with the labels of the data set.

    Raises
    ------
    InputError
        No folder, files that are missing or do not fit together, labels that do not belong to the votes, fewer than four
        models.
    """
    folder = check_folder(data, NEEDED)
    check_figures(figures)
    labels, votes = labels_and_votes(folder, NEEDED)
    rows = np.arange(len(labels))
    human = HumanLabels("CIFAR10-H", labels, votes, rows, len(rows), models="linear probes of ImageNet networks")
    return correlate_saved(
        "ranking-cifar10h", folder, human, needed=NEEDED, notes=NOTES, figures=figures, progress=progress
    )


def progress_steps(*, data: str | os.PathLike[str] | None = None, **_: object) -> int:
    """About how often the protocol reports its progress."""
    return saved_steps(data)


def labels_and_votes(folder: Path, needed: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """labels.npy of a folder, and its human_counts.npy or the votes of `read_cifar10h`, if they belong together.

    Parameters
    ----------
    folder : Path
    needed : str
        What belongs there, for errors.

    Raises
    ------
    InputError
    """
    if not (folder / "labels.npy").is_file():
        raise InputError("data", "must hold labels.npy", f"{folder} does not", needed, code="missing")
    labels, counts = load_labels(folder / "labels.npy"), folder / "human_counts.npy"
    votes = load_labels(counts) if counts.is_file() else read_cifar10h().votes
    if labels.ndim != 1 or votes.ndim != 2 or len(labels) != len(votes):
        raise InputError(
            "data",
            "labels.npy must be (n,) and human_counts.npy (n, K)",
            f"got shapes {labels.shape} and {votes.shape}",
            needed,
            code="shape",
        )
    n_classes = votes.shape[1]
    labels = as_labels(labels, n_classes, name="data: labels.npy")
    as_labels(votes, n_classes, name="data: human_counts.npy")
    check_agreement(labels, votes)
    return labels, votes


def check_agreement(labels: NDArray[Any], votes: NDArray[Any]) -> None:
    """Refuse labels that name the most frequent class of the votes in fewer than half of the rows."""
    agreeing = float((votes.argmax(axis=1) == labels).mean())
    if agreeing < 0.5:
        raise InputError(
            "data",
            "labels.npy must belong to the votes",
            f"it names their most frequent class in only {percent(agreeing, 0)} of the rows",
            "use the same order of instances and of classes in both",
            code="mismatch",
        )
