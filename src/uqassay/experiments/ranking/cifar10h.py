"""Ranking metrics against the ground truths of CIFAR-10H, for saved models.

Paper 003, section 4, Table 1 (rows CIFAR10-H): the votes of about fifty people on each test image are its label distribution.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_labels
from uqassay.bench.files import holds_benchmark
from uqassay.datasets.label_distributions import read_cifar10h
from uqassay.errors import InputError
from uqassay.experiments.figure_files import check_figures
from uqassay.experiments.ranking.human_labels import correlate_saved, correlate_with_votes, progress_steps
from uqassay.experiments.ranking.saved_models import HumanLabels, check_folder
from uqassay.experiments.ranking.trained_models import stored_labels, stored_trainings, trained_models
from uqassay.experiments.reproduction import Reproduction
from uqassay.predictions.files import load_labels
from uqassay.wording import listed, percent

__all__ = ["NOTES", "check_agreement", "labels_and_votes", "progress_steps", "reproduce_ranking_cifar10h"]

NEEDED = (
    "put there labels.npy (10,000 classes) and prediction files (.npz) in the order of the CIFAR-10 test set, or give the "
    "folder of trainings that reproduce unified --resume or bench -o wrote; the votes are human_counts.npy (10,000 × 10) "
    "there, or CIFAR-10H of the cache folder, from github.com/jcpeterson/cifar-10h"
)
TEST_LABELS = "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5"  # SHA-256 of CIFAR-10's, one byte each
NOTES = (
    "of the printed row UQ-C-index, φ, the estimate −0.04 is a share where all others are percent: its interval is that of "
    "−3.93 % (see ranking-intervals)",
    "the metrics see the label of the data set, the truths the votes; the paper does not say which its metrics saw",
)

Progress = Callable[[str], None]


def reproduce_ranking_cifar10h(
    *,
    data: str | os.PathLike[str] | None = None,
    votes: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Correlate the ranking metrics with the votes of CIFAR-10H over saved or trained models.

    Parameters
    ----------
    data : path
        Folder with labels.npy and prediction files (.npz) with ``probs`` or ``logits`` (n, K) or another saved prediction. A
        file of members gives each member and their mean; beliefs that are no belief functions are repaired. Or the folder of
        a benchmark, whose trainings have predicted the whole test set in its order; each is one model, and every score of it
        is shown.
    votes : path, optional
        Folder with human_counts.npy and labels.npy, by default `data`. Without human_counts.npy the votes are those of
        CIFAR-10H in the cache folder; a benchmark then needs no labels.npy, because its labels are compared with those of
        CIFAR-10.
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
    place = folder if votes is None else check_folder(votes, "leave it out for the folder of data", parameter="votes")
    check_figures(figures)
    if holds_benchmark(folder):
        return _of_trainings(folder, place, figures, progress)
    human = _human(*labels_and_votes(place, NEEDED))
    return correlate_saved(
        "ranking-cifar10h", folder, human, needed=NEEDED, notes=NOTES, figures=figures, progress=progress
    )


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
    labels, votes = np.asarray(load_labels(folder / "labels.npy")), _votes(folder)
    if labels.ndim != 1 or len(labels) != len(votes):
        raise InputError(
            "data",
            "labels.npy must be (n,) and human_counts.npy (n, K)",
            f"got shapes {labels.shape} and {votes.shape}",
            needed,
            code="shape",
        )
    labels = as_labels(labels, votes.shape[1], name="data: labels.npy")
    check_agreement(labels, votes)
    return labels, votes


def _votes(folder: Path) -> NDArray[Any]:
    """human_counts.npy of a folder, or the votes of `read_cifar10h`."""
    path = folder / "human_counts.npy"
    if not path.is_file():
        return read_cifar10h().votes
    votes = np.asarray(load_labels(path))
    if votes.ndim != 2:
        got = f"got shape {votes.shape}"
        raise InputError("data", "human_counts.npy must be (n, K)", got, "save one row for each image", code="shape")
    as_labels(votes, votes.shape[1], name="data: human_counts.npy")
    return votes


def _human(labels: NDArray[Any], votes: NDArray[Any]) -> HumanLabels:
    rows = np.arange(len(labels))
    return HumanLabels("CIFAR10-H", labels, votes, rows, len(rows), models="linear probes of ImageNet networks")


def _of_trainings(
    folder: Path, place: Path, figures: str | os.PathLike[str] | None, progress: Progress | None
) -> Reproduction:
    """The protocol for the trainings of a benchmark's folder."""
    trainings, notes = stored_trainings(folder)
    if (place / "labels.npy").is_file():
        labels, votes = labels_and_votes(place, NEEDED)
    else:
        votes = _votes(place)
        labels = stored_labels(folder, trainings, votes.shape)
        _check_test_labels(labels, folder)
        check_agreement(labels, votes)
    names = listed(sorted({training.cell.dataset for training in trainings}))
    said = [*NOTES, f"the models are trainings on {names}, one for each method, condition and seed", *notes]
    return correlate_with_votes(
        "ranking-cifar10h",
        trained_models(folder, trainings, labels, votes, said),
        _human(labels, votes),
        needed=f"{folder} has too few trainings of these images; {NEEDED}",
        notes=said,
        every_score=True,
        figures=figures,
        progress=progress,
    )


def _check_test_labels(labels: NDArray[Any], folder: Path) -> None:
    """Refuse labels that are not those of CIFAR-10's test set in its order."""
    if hashlib.sha256(labels.astype(np.uint8).tobytes()).hexdigest() != TEST_LABELS:
        raise InputError(
            "data",
            "labels of the trained models must be the 10,000 test labels of CIFAR-10 in their order",
            f"those in {folder} are others",
            "train on the whole test set in its order; for other instances give the folder of their labels.npy and "
            "human_counts.npy as votes",
            code="mismatch",
        )


def check_agreement(labels: NDArray[Any], votes: NDArray[Any]) -> None:
    """Refuse labels that name the most frequent class of the votes in fewer than half of the rows."""
    agreeing = float((votes.argmax(axis=1) == labels).mean())
    if agreeing < 0.5:
        raise InputError(
            "data",
            "the labels must belong to the votes",
            f"it names their most frequent class in only {percent(agreeing, 0)} of the rows",
            "use the same order of instances and of classes in both",
            code="mismatch",
        )
