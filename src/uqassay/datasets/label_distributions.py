"""Votes of several annotators on the same instances: CIFAR-10H, ReaL-ImageNet and OASST2.

The files of the cache folder hold the votes alone, in the order of the instances (of CIFAR-10, ImageNet, the messages).
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_labels
from uqassay.datasets.cache import Progress, fetch
from uqassay.errors import FileFormatError
from uqassay.predictions.file_numpy import read_npz
from uqassay.predictions.file_opening import problems_named

__all__ = ["LabelDistributions", "read_cifar10h", "read_oasst2", "read_real_labels", "read_real_scores"]

CIFAR10H = "https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-counts.npy"
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FEWEST_VOTES = 30  # CIFAR-10H has 47 to 63 per image
REAL = "https://raw.githubusercontent.com/google-research/reassessed-imagenet/master/"
IMAGENET_CLASSES = 1000
OASST2 = (
    "https://huggingface.co/datasets/OpenAssistant/oasst2/resolve/"
    "179dd21fc55192153d94adb0e0ce8f69e222bf75/2023-11-05_oasst2_ready.messages.jsonl.gz"
)
OASST2_POSITIVE = ("quality", "helpfulness", "creativity", "humor")


@final
@dataclass(frozen=True, eq=False)
class LabelDistributions:
    """Votes or label distributions of n instances.

    Attributes
    ----------
    name : str
    votes : array (n, K)
        Vote counts or weights, not negative, at least one in each row.
    ids : array (n,)
        Instance of each row: its place in the test set, the number of the image, the id of the message.
    class_names : tuple of K str
    source, licence : str
    """

    name: str
    votes: NDArray[Any]
    ids: NDArray[Any]
    class_names: tuple[str, ...]
    source: str
    licence: str

    def probs(self) -> NDArray[np.float64]:
        """Label distributions, ``(n, K)``: the votes of each row divided by their sum."""
        return np.asarray(as_labels(self.votes, len(self.class_names), name=self.name), dtype=np.float64)


def read_cifar10h(folder: Path | None = None, progress: Progress | None = None) -> LabelDistributions:
    """Votes on the 10,000 test images of CIFAR-10, in their order (Peterson et al. 2019).

    ``cifar-10h/cifar10h-counts.npy`` in the cache folder. Its checksum is not published, so the first file is trusted.

    Raises
    ------
    InputError
        No file, or not (10000, 10) whole votes with at least 30 to a row.
    """
    file = "cifar-10h/cifar10h-counts.npy"
    path = fetch(file, CIFAR10H, folder=folder, progress=progress)
    with problems_named(path):
        votes = np.load(path, allow_pickle=False)
        if votes.shape != (10_000, 10) or votes.dtype.kind not in "iuf":
            raise FileFormatError(
                "votes", "must be numbers (10000, 10)", f"got {votes.dtype} {votes.shape}", "get it again", code="shape"
            )
        if not ((votes >= 0).all() and (votes == np.round(votes)).all() and votes.sum(axis=1).min() >= FEWEST_VOTES):
            raise FileFormatError(
                "votes",
                f"must be whole numbers, {FEWEST_VOTES} or more to a row",
                f"the smallest row has {votes.sum(axis=1).min():g}",
                "get the counts, not shares",
                code="range",
            )
    votes = votes.astype(np.int64)
    return LabelDistributions("cifar-10h", votes, np.arange(len(votes)), CIFAR10, CIFAR10H, "CC BY-NC-SA 4.0")


def read_real_labels(folder: Path | None = None, progress: Progress | None = None) -> LabelDistributions:
    """The labels that ReaL finds valid for the validation images of ImageNet, one vote each (Beyer et al. 2020).

    ``real/real.json`` in the cache folder. Images without a valid label are left out, as its authors require; `ids` has the
    places of the others, from 0, among the images sorted by name.
    """
    path = fetch("real/real.json", f"{REAL}real.json", folder=folder, progress=progress)
    with problems_named(path):
        lists = json.loads(path.read_text(encoding="utf-8"))
        valid = isinstance(lists, list) and all(
            isinstance(labels, list) and all(type(k) is int and 0 <= k < IMAGENET_CLASSES for k in labels)
            for labels in lists
        )
        if not valid or not any(lists):
            raise FileFormatError(
                "labels",
                f"must be one list of labels 0 … {IMAGENET_CLASSES - 1} for each image",
                "something else was found",
                "get it again",
                code="type",
            )
    ids = np.array([i for i, labels in enumerate(lists) if labels])
    votes = np.zeros((len(ids), IMAGENET_CLASSES), dtype=np.uint8)
    for row, i in enumerate(ids):
        votes[row, lists[i]] = 1
    return LabelDistributions("real", votes, ids, _numbers(IMAGENET_CLASSES), REAL, "Apache-2.0")


def read_real_scores(folder: Path | None = None, progress: Progress | None = None) -> LabelDistributions:
    """ReaL's scores of rated (image, label) pairs, which paper 003 normalises to label distributions.

    ``real/scores.npz`` in the cache folder, with the arrays ``scores`` (n,) and ``info`` (n, 2): file name of the image
    and label. Images are sorted by name; `ids` has the names. Images whose scores are all 0 are left out.
    """
    path = fetch("real/scores.npz", f"{REAL}scores.npz", folder=folder, progress=progress)
    with problems_named(path):
        held = read_npz(path).arrays
        scores, info = np.asarray(held["scores"].read(), dtype=np.float64), held["info"].read()
        if scores.ndim != 1 or info.shape != (len(scores), 2) or not (np.isfinite(scores) & (scores >= 0)).all():
            raise FileFormatError(
                "arrays",
                "must be scores (n,) from 0 up and info (n, 2)",
                f"got {scores.shape} and {info.shape}, or negative scores",
                "get it again",
                code="shape",
            )
        labels = info[:, 1].astype(np.int64)
        if ((labels < 0) | (labels >= IMAGENET_CLASSES)).any():
            raise FileFormatError(
                "labels",
                f"must lie in 0 … {IMAGENET_CLASSES - 1}",
                f"got {labels.min()} … {labels.max()}",
                "get it again",
                code="range",
            )
    images, place = np.unique(info[:, 0], return_inverse=True)
    votes = np.zeros((len(images), IMAGENET_CLASSES))
    np.add.at(votes, (place, labels), scores)
    rated = votes.sum(axis=1) > 0
    return LabelDistributions(
        "real-scores", votes[rated], images[rated], _numbers(IMAGENET_CLASSES), REAL, "Apache-2.0"
    )


def read_oasst2(
    folder: Path | None = None,
    *,
    positive: Sequence[str] = OASST2_POSITIVE,
    file: str = "2023-11-05_oasst2_ready.messages.jsonl.gz",
    progress: Progress | None = None,
) -> LabelDistributions:
    """Weights of negative and positive ratings of each message of OASST2 (Köpf et al. 2023).

    Paper 003 sorts the 15 categories of content into negative and positive ones and does not print which is which. Here the
    weight of a rating is its value in [0, 1] times the number of annotators; the two columns are the sums over the other and
    over the positive categories. Messages without weight are left out.

    Parameters
    ----------
    folder : Path, optional
        The cache folder with ``oasst2/<file>``.
    positive : sequence of str
        Categories of the class "positive".
    file : str
        Messages, one JSON object per line, packed by gzip; only the default file can be downloaded.
    progress : callable, optional
    """
    url = OASST2 if OASST2.endswith(file) else None
    path = fetch(f"oasst2/{file}", url, folder=folder, progress=progress)
    ids, votes = [], []
    with problems_named(path):
        with gzip.open(path, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                name, weights = _rating(line, positive, number)
                if sum(weights) > 0:
                    ids.append(name)
                    votes.append(weights)
        if not votes:
            raise FileFormatError(
                "messages", "must have ratings", "none has", "get the file of rated messages", code="empty"
            )
    return LabelDistributions("oasst2", np.array(votes), np.array(ids), ("negative", "positive"), OASST2, "Apache-2.0")


def _rating(line: bytes, positive: Sequence[str], number: int) -> tuple[str, tuple[float, float]]:
    """Id of a message, and the weights of its negative and of its positive categories."""
    try:
        message = json.loads(line)
        weights = [0.0, 0.0]
        for category, rating in (message.get("labels") or {}).items():
            value, count = float(rating["value"]), float(rating["count"])
            if not (0.0 <= value <= 1.0 and count >= 0):
                raise ValueError(f"{category} has value {value} and count {count}")
            weights[category in positive] += value * count
        return str(message["message_id"]), (weights[0], weights[1])
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise FileFormatError(
            f"line {number}",
            "must be a message with ratings",
            f"{type(problem).__name__}: {problem}",
            "get the file of messages",
            code="type",
        ) from problem


def _numbers(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))
