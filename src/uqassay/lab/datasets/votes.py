"""Votes of several annotators on the same instances: CIFAR-10H, ReaL-ImageNet and OASST2.

The files of the cache folder hold the votes, in the order of the instances (of CIFAR-10, ImageNet, the messages). Those of
OASST2 hold the text of the messages too.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import as_labels
from uqassay.checks import one_of
from uqassay.errors import FileFormatError
from uqassay.files import optional_package, problems_named
from uqassay.lab.datasets.cache import Progress, fetch
from uqassay.predictions import read_npz
from uqassay.text import listed

__all__ = [
    "OASST2_CATEGORIES",
    "OASST2_FILES",
    "OASST2_POSITIVE",
    "LabelDistributions",
    "read_cifar10h",
    "read_oasst2",
    "read_real_labels",
    "read_real_scores",
]

CIFAR10H = "https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-counts.npy"
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FEWEST_VOTES = 30  # CIFAR-10H has 47 to 63 per image
REAL = "https://raw.githubusercontent.com/google-research/reassessed-imagenet/master/"
IMAGENET_CLASSES = 1000
REAL_SCORES = ("tensor", "scores")  # the published file has the first name, the authors' README says the second
OASST2 = "https://huggingface.co/datasets/OpenAssistant/oasst2/resolve/179dd21fc55192153d94adb0e0ce8f69e222bf75/"
OASST2_ALL = "2023-11-05_oasst2_ready.messages.jsonl.gz"
OASST2_FILES = {  # the part: its name in the cache folder, its address
    "all": (OASST2_ALL, f"{OASST2}{OASST2_ALL}"),
    "train": ("train.parquet", f"{OASST2}data/train-00000-of-00001-88ba0162028a73fc.parquet"),
    "validation": ("validation.parquet", f"{OASST2}data/validation-00000-of-00001-1deeef95c3248fe0.parquet"),
}
OASST2_CATEGORIES = (
    *("spam", "fails_task", "lang_mismatch", "pii", "not_appropriate", "hate_speech", "sexual_content", "quality"),
    *("toxicity", "humor", "helpfulness", "creativity", "violence", "moral_judgement", "political_content"),
)
OASST2_POSITIVE = ("quality", "helpfulness", "creativity", "humor")


@final
@dataclass(frozen=True, eq=False)
class LabelDistributions:
    """Votes or label distributions of n instances."""

    name: str
    votes: NDArray[Any]  #: (n, K): Vote counts or weights, not negative, at least one in each row
    #: (n,): Instance of each row: its place in the test set, the number of the image, the id of the message
    ids: NDArray[Any]
    class_names: tuple[str, ...]  #: K names
    source: str
    licence: str
    #: What was rated and its language, such as "en"; empty where the instances are images
    texts: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    def probs(self) -> NDArray[np.float64]:
        """Label distributions, ``(n, K)``: the votes of each row divided by their sum."""
        return np.asarray(as_labels(self.votes, len(self.class_names), name=self.name), dtype=np.float64)


def read_cifar10h(folder: Path | None = None, progress: Progress | None = None) -> LabelDistributions:
    """Votes on the 10,000 test images of CIFAR-10, in their order (Peterson et al. 2019).

    ``cifar-10h/cifar10h-counts.npy`` in the cache folder. Its checksum is not published, so the first file is trusted.
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
            rule = f"must be whole numbers, {FEWEST_VOTES} or more to a row"
            got = f"the smallest row has {votes.sum(axis=1).min():g}"
            raise FileFormatError("votes", rule, got, "get the counts, not shares", code="range")
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
            rule = f"must be one list of labels 0 … {IMAGENET_CLASSES - 1} for each image"
            raise FileFormatError("labels", rule, "something else was found", "get it again", code="type")
    ids = np.array([i for i, labels in enumerate(lists) if labels])
    votes = np.zeros((len(ids), IMAGENET_CLASSES), dtype=np.uint8)
    for row, i in enumerate(ids):
        votes[row, lists[i]] = 1
    return LabelDistributions("real", votes, ids, _numbers(IMAGENET_CLASSES), REAL, "Apache-2.0")


def read_real_scores(folder: Path | None = None, progress: Progress | None = None) -> LabelDistributions:
    """ReaL's scores of rated (image, label) pairs, which the ranking metrics paper normalises to label distributions.

    ``real/scores.npz`` in the cache folder, as published: ``tensor`` holds the scores (n,), in [0, 1], and ``info`` the pairs
    of file name and label, as text (n, 2) or as records of two fields. The authors' README calls the scores ``scores``; that
    name is read too. Images are sorted by name; `ids` has the names. Images whose scores are all 0 are left out.

    Raises
    ------
    InputError
        No file, arrays of other names or forms, or ``info`` as pickled objects. These are never loaded; the error has the line
        that converts a file which you trust.
    """
    path = fetch("real/scores.npz", f"{REAL}scores.npz", folder=folder, progress=progress)
    with problems_named(path):
        held = read_npz(path).arrays
        key = next((name for name in REAL_SCORES if name in held), None)
        if key is None or "info" not in held:
            rule = "must be tensor (the scores) and info (the pairs of image and label)"
            remedy = "get scores.npz of google-research/reassessed-imagenet again"
            raise FileFormatError("arrays", rule, f"got {listed(list(held)) or 'none'}", remedy, code="missing")
        scores = np.asarray(held[key].read(), dtype=np.float64)
        names, labels = _rated_pairs(_pairs(held["info"].dtype, held["info"].read))
        if scores.shape != names.shape or not ((scores >= 0) & (scores <= 1)).all():
            rule = "must be scores (n,) from 0 to 1 and info (n, 2)"
            got = f"got shapes {scores.shape} and {(len(names), 2)}, or scores outside [0, 1]"
            raise FileFormatError("arrays", rule, got, "get it again", code="shape")
    rated = scores > 0
    images, place = np.unique(names[rated], return_inverse=True)
    votes = np.zeros((len(images), IMAGENET_CLASSES))
    np.add.at(votes, (place, labels[rated]), scores[rated])
    return LabelDistributions("real-scores", votes, images, _numbers(IMAGENET_CLASSES), REAL, "Apache-2.0")


def read_oasst2(
    folder: Path | None = None,
    *,
    part: str = "all",
    positive: Sequence[str] = OASST2_POSITIVE,
    file: str | None = None,
    progress: Progress | None = None,
) -> LabelDistributions:
    """Weights of negative and positive ratings of each message of OASST2, its text and its language (Köpf et al. 2023).

    Ranking metrics sorts the 15 categories of content into negative and positive ones and does not print which is which. Here
    the weight of a rating is its value in [0, 1] times the number of annotators; the two columns are the sums over the other
    and over the positive categories. Messages without weight are left out, and so are ratings without a value.

    Parameters
    ----------
    folder : Path, optional
        The cache folder with ``oasst2/<file>``.
    part : {"all", "train", "validation"}
        "validation" is the publisher's validation part, 6,599 messages, which the paper uses, "train" the other 128,575.
        Their files are Parquet tables and need pyarrow.
    positive : sequence of str
        Categories of the class "positive".
    file : str, optional
        Another file of messages in the folder: a Parquet table if its name ends so, else one JSON object per line, packed by
        gzip. It can only be put in place by hand.
    """
    one_of(part, "part", OASST2_FILES, "all is the default")
    name, url = OASST2_FILES[part]
    path = fetch(f"oasst2/{file or name}", url if file in (None, name) else None, folder=folder, progress=progress)
    kept = []
    with problems_named(path):
        messages = _table_rows(path) if path.suffix == ".parquet" else _json_lines(path)
        for number, message in enumerate(messages, start=1):
            rated = _rated_message(message, positive, number)
            if sum(rated[1]) > 0:
                kept.append(rated)
        if not kept:
            raise FileFormatError(
                "messages", "must have ratings", "none has", "get the file of rated messages", code="empty"
            )
    ids, votes, texts, languages = zip(*kept, strict=True)
    return LabelDistributions(
        "oasst2", np.array(votes), np.array(ids), ("negative", "positive"), url, "Apache-2.0", texts, languages
    )


def _pairs(dtype: str, read: Callable[[], Any]) -> NDArray[Any]:
    """The array of pairs; one of pickled objects is refused with the line that converts it."""
    if dtype == "object":
        raise FileFormatError(
            "info",
            "pickled Python objects are never loaded",
            "the pairs of image and label are such objects",
            "convert a file that you trust: d = np.load(f, allow_pickle=True); np.savez(f, tensor=d['tensor'], "
            "info=np.array(d['info'].tolist(), str))",
            code="pickle",
        )
    return np.asarray(read())


def _rated_pairs(info: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """File names and labels of the rated pairs: text or bytes (n, 2), or records (n,) of two fields."""
    if info.dtype.names is not None and len(info.dtype.names) == 2 and info.ndim == 1:
        columns = [info[field] for field in info.dtype.names]
    elif info.dtype.kind in "US" and info.ndim == 2 and info.shape[1] == 2:
        columns = [info[:, 0], info[:, 1]]
    else:
        rule = "must be text (n, 2), or records of two fields"
        remedy = "get scores.npz of google-research/reassessed-imagenet again"
        raise FileFormatError("info", rule, f"got {info.dtype} {info.shape}", remedy, code="shape")
    names = np.char.decode(columns[0], "ascii") if columns[0].dtype.kind == "S" else columns[0].astype(str)
    labels = columns[1].astype(np.int64)
    if ((labels < 0) | (labels >= IMAGENET_CLASSES)).any():
        rule = f"must lie in 0 … {IMAGENET_CLASSES - 1}"
        raise FileFormatError("labels", rule, f"got {labels.min()} … {labels.max()}", "get it again", code="range")
    return names, labels


def _json_lines(path: Path) -> Iterator[Any]:
    """The messages of a file of JSON lines, packed by gzip."""
    with gzip.open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield json.loads(line)
            except ValueError as problem:
                raise _no_message(number, problem) from problem


def _table_rows(path: Path) -> Iterable[Any]:
    """The messages of a Parquet table, with the columns that are needed."""
    parquet = optional_package("pyarrow.parquet", "files", "a part of OASST2")
    rows: list[Any] = parquet.read_table(path, columns=["message_id", "text", "lang", "labels"]).to_pylist()
    return rows


def _rated_message(message: Any, positive: Sequence[str], number: int) -> tuple[str, tuple[float, float], str, str]:
    """Id of a message, the weights of its negative and of its positive categories, its text and its language."""
    try:
        weights = [0.0, 0.0]
        for category, rated, annotators in _ratings(message.get("labels") or {}):
            if rated is None:
                continue
            value, count = float(rated), float(annotators)
            if not (0.0 <= value <= 1.0 and count >= 0):
                raise ValueError(f"{category} has value {value} and count {count}")
            weights[category in positive] += value * count
        text, language = str(message.get("text") or ""), str(message.get("lang") or "")
        return str(message["message_id"]), (weights[0], weights[1]), text, language
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise _no_message(number, problem) from problem


def _ratings(labels: Any) -> Iterable[tuple[str, Any, Any]]:
    """(Category, value, count) of a message's ratings.

    JSON has a mapping of category to value and count, the table three lists of equal length: ``name``, ``value``, ``count``.
    """
    if (
        isinstance(labels, Mapping)
        and set(labels) == {"name", "value", "count"}
        and not isinstance(labels["name"], Mapping)
    ):
        return list(zip(*(labels[column] or () for column in ("name", "value", "count")), strict=True))
    return [(category, rating["value"], rating["count"]) for category, rating in labels.items()]


def _no_message(number: int, problem: Exception) -> FileFormatError:
    return FileFormatError(
        f"line {number}",
        "must be a message with ratings",
        f"{type(problem).__name__}: {problem}",
        "get the file of messages",
        code="type",
    )


def _numbers(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))
