"""Predictions of many models in one folder, matched to instances that people have labelled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.predictions import Masses, Members, Point, Prediction
from uqassay.predictions.files import load

__all__ = ["HumanLabels", "SavedModel", "check_folder", "each_model", "model_files", "sub_ensembles", "usable"]

LARGEST_ENSEMBLE = 5  # members of which all sub-ensembles are formed


@final
@dataclass(frozen=True, slots=True, eq=False)
class HumanLabels:
    """Instances with a label and with the votes of several people.

    Attributes
    ----------
    dataset : str
        As the paper's Table 1 prints it.
    labels : int array (n,)
        What the metrics see.
    votes : array (n, K)
        What the truths are made of.
    places : int array (n,)
        Row of each instance in a prediction file without ids.
    n_rows : int
        Rows of such a file.
    ids : array (n,), optional
        Names of the instances. A file with ids may hold any of them, in any order.
    instances : str
        What an instance is, in the plural.
    models : str
        What the paper's models are.
    """

    dataset: str
    labels: NDArray[Any]
    votes: NDArray[Any]
    places: NDArray[np.int64]
    n_rows: int
    ids: NDArray[Any] | None = None
    instances: str = "images"
    models: str = "networks"


@final
@dataclass(frozen=True, slots=True, eq=False)
class SavedModel:
    """A model's prediction, the labels and votes of the same instances, and scores that the prediction does not contain."""

    name: str
    prediction: Prediction
    labels: NDArray[Any]
    votes: NDArray[Any]
    scores: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def check_folder(data: Any, needed: str, *, parameter: str = "data") -> Path:
    """The folder of an option.

    Parameters
    ----------
    data : path or None
    needed : str
        What belongs there, for errors.
    parameter : str
        Name of the option, for errors.

    Raises
    ------
    InputError
        Nothing is given, or it is no folder.
    """
    if data is None:
        raise InputError(parameter, "must be a folder", "got none", needed, code="missing")
    folder = Path(data)
    if not folder.is_dir():
        raise InputError(parameter, "must be a folder", f"got {folder}", needed, code="missing")
    return folder


def model_files(folder: Path) -> list[Path]:
    """The prediction files of a folder, by name."""
    return sorted(folder.glob("*.npz"))


def each_model(folder: Path, human: HumanLabels, repaired: list[str]) -> Iterator[SavedModel]:
    """Every model of the prediction files in a folder, one file after another, so that one file is in memory at a time.

    A file of members gives each member and their mean. Beliefs that are no belief functions are repaired.

    Parameters
    ----------
    folder : Path
    human : HumanLabels
    repaired : list of str
        Takes a line for each repaired prediction.

    Raises
    ------
    InputError
        A file with other classes, other rows, or without any of the instances.
    """
    for path in model_files(folder):
        prediction, labels, votes = _matched(load(path), human, path.name)
        prediction = usable(prediction, path.stem, repaired)
        if isinstance(prediction, Members):
            for m in range(prediction.n_members):
                yield SavedModel(f"{path.stem}, member {m + 1}", Point(prediction.probs[:, m]), labels, votes)
            yield SavedModel(f"{path.stem}, mean", prediction, labels, votes)
        else:
            yield SavedModel(path.stem, prediction, labels, votes)


def usable(prediction: Prediction, name: str, repaired: list[str]) -> Prediction:
    """The prediction; beliefs that are no belief functions are repaired.

    Parameters
    ----------
    prediction : Prediction
    name : str
        Of the model.
    repaired : list of str
        Takes a line for a repaired prediction.
    """
    if not (isinstance(prediction, Masses) and prediction.signed):
        return prediction
    mended = prediction.repaired()
    repaired.append(f"{name}: {mended.notes[-1]}")
    return mended


def sub_ensembles(model: SavedModel) -> Iterator[SavedModel]:
    """All proper subsets of two and more members of an ensemble of at most five; none of another model."""
    prediction = model.prediction
    if not isinstance(prediction, Members) or prediction.n_members > LARGEST_ENSEMBLE:
        return
    for size in range(2, prediction.n_members):
        for chosen in combinations(range(prediction.n_members), size):
            name = f"{model.name.removesuffix(', mean')}, members {' and '.join(str(m + 1) for m in chosen)}"
            yield SavedModel(name, Members(prediction.probs[:, list(chosen)]), model.labels, model.votes)


def _matched(prediction: Prediction, human: HumanLabels, source: str) -> tuple[Prediction, NDArray[Any], NDArray[Any]]:
    """The rows of a prediction that have votes, with their labels and votes."""
    n_classes = human.votes.shape[1]
    by_ids = human.ids is not None and prediction.ids is not None
    if prediction.n_classes != n_classes or not (by_ids or prediction.n_instances == human.n_rows):
        raise InputError(
            "prediction",
            f"must have the {human.n_rows} instances and {n_classes} classes of the votes",
            f"got {prediction.n_instances} and {prediction.n_classes}",
            "leave the file out" if human.ids is None else "name the instances by ids, or leave the file out",
            code="mismatch",
            source=source,
        )
    if not by_ids:
        whole = len(human.places) == human.n_rows
        return (prediction if whole else prediction[human.places]), human.labels, human.votes
    assert human.ids is not None
    assert prediction.ids is not None
    _, rows, places = np.intersect1d(prediction.ids.astype(str), human.ids.astype(str), return_indices=True)
    if not len(rows):
        raise InputError(
            "ids",
            f"must name {human.instances} that people have rated",
            f"none of the {len(prediction.ids)} does, such as {prediction.ids[0]!s}",
            f"name them as {human.ids[0]!s}",
            code="ids",
            source=source,
        )
    return prediction[rows], human.labels[places], human.votes[places]
