"""Trained models of a benchmark's folder, matched to instances that people have labelled.

`reproduce unified --resume FOLDER` and `bench -o FOLDER` store the prediction and the labels of each training as a cell.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.bench.cell import Cell, canonical_json
from uqassay.bench.files import METADATA, json_object
from uqassay.bench.results import StoredResult
from uqassay.bench.store import Store
from uqassay.errors import InputError
from uqassay.experiments.ranking.saved_models import SavedModel, usable
from uqassay.predictions import Members, Point, Prediction
from uqassay.wording import counted, listed

__all__ = ["StoredTraining", "n_trainings", "stored_labels", "stored_trainings", "trained_models"]

PLACES = ("source", "rests_on")  # fields of a cell that say where its data and its code lie


@final
@dataclass(frozen=True, slots=True)
class StoredTraining:
    """A training that is done.

    Attributes
    ----------
    key : str
        Of its cell.
    cell : Cell
    finished : str
        When, as the store wrote it.
    """

    key: str
    cell: Cell
    finished: str


def n_trainings(folder: Path) -> int:
    """Number of results in a benchmark's folder, by the names of their files."""
    return sum(1 for _ in folder.glob(f"cells/??/*/{METADATA}"))


def stored_trainings(folder: Path) -> tuple[list[StoredTraining], list[str]]:
    """The trainings that are done, by data set, method and seed, and notes on those that are left out.

    Of several results of one training, which other code has made, the latest is taken.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        A folder without a benchmark.
    """
    store = Store(folder, create=False)
    latest: dict[str, StoredTraining] = {}
    n = 0
    for key in [found.key for found in store.states(verify=True) if found.state == "done"]:
        metadata = json_object(store.place(key) / METADATA) or {}  # the state has seen that it is there
        training = StoredTraining(key, Cell.from_json(json.dumps(metadata["cell"])), str(metadata.get("finished", "")))
        same = canonical_json({name: metadata["cell"][name] for name in metadata["cell"] if name not in PLACES})
        n += 1
        if same not in latest or latest[same].finished < training.finished:
            latest[same] = training
    kept = sorted(latest.values(), key=lambda t: (t.cell.dataset, t.cell.method, t.cell.seed, t.key))
    older = n - len(kept)
    notes = [f"{counted(older, 'older result')} of the same trainings in {folder} left out"] if older else []
    return kept, notes


def stored_labels(folder: Path, trainings: Sequence[StoredTraining], shape: tuple[int, ...]) -> NDArray[Any]:
    """Labels of the first training whose prediction has this number of instances and classes.

    Raises
    ------
    InputError
        There is none.
    """
    store = Store(folder, create=False)
    for training in trainings:
        result = store.result(training.key)
        if _fits(result, shape):
            return result.labels
    raise _none_fits(folder, trainings, shape)


def trained_models(
    folder: Path, trainings: Sequence[StoredTraining], labels: NDArray[Any], votes: NDArray[Any], notes: list[str]
) -> Iterator[SavedModel]:
    """Every training as a model, one after another, then every ensemble whose members were trained one by one.

    A member that predicts the same as another model, since it is the same network from the same seed, is no model alone.

    Parameters
    ----------
    folder : Path
    trainings : sequence of StoredTraining
    labels : int array (n,)
    votes : array (n, K)
    notes : list of str
        Takes a line for each repaired prediction, and one about trainings of other instances.

    Raises
    ------
    InputError
        Labels of a training that differ from those of the votes; no training of these instances.
    """
    store = Store(folder, create=False)
    others: list[StoredTraining] = []
    ensembles: dict[str, dict[int, Members]] = {}
    known: dict[str, str] = {}
    named = zip(trainings, _names(trainings), strict=True)
    for training, name in sorted(named, key=lambda pair: _first_member(pair[0].cell) is not None):  # members last
        result = store.result(training.key)
        if not _fits(result, votes.shape):
            others.append(training)
            continue
        wrong = np.flatnonzero(np.asarray(result.labels) != labels)
        if len(wrong):
            raise InputError(
                "data",
                "labels of the trained models must be those of the votes, in their order",
                f"{training.cell.name} differs in {counted(len(wrong), 'row')}, first in row {wrong[0]}",
                "train on the whole test set in its order, without permuted labels",
                code="mismatch",
            )
        prediction = usable(result.prediction, name, notes)
        first = _first_member(training.cell)
        if first is not None and isinstance(prediction, Members):
            ensembles.setdefault(name.replace(training.cell.method, _whole(training.cell)), {})[first] = prediction
        same = known.setdefault(hashlib.sha256(prediction.mean_probs().tobytes()).hexdigest(), name)
        if first is not None and same != name:
            notes.append(f"{name} predicts the same as {same} and is no model alone")
            continue
        yield SavedModel(name, _single(prediction), labels, votes, result.scores)
    for name, parts in ensembles.items():
        if len(parts) > 1:
            whole = _joined([parts[first] for first in sorted(parts)])
            notes.append(f"{name} has {whole.n_members} members")
            yield SavedModel(name, whole, labels, votes)
    if len(others) == len(trainings):
        raise _none_fits(folder, trainings, votes.shape)
    if others:
        sets = listed(list(dict.fromkeys(training.cell.dataset for training in others)))
        notes.append(
            f"{counted(len(others), 'training')} of {sets} left out: other instances or classes than the votes"
        )


# -- helpers -----------------------------------------------------------------------------------------------------------


def _fits(result: StoredResult, shape: tuple[int, ...]) -> bool:
    return result.labels.ndim == 1 and (result.prediction.n_instances, result.prediction.n_classes) == shape


def _none_fits(folder: Path, trainings: Sequence[StoredTraining], shape: tuple[int, ...]) -> InputError:
    got = listed(list(dict.fromkeys(training.cell.dataset for training in trainings))) or "no training that is done"
    return InputError(
        "data",
        f"must hold trainings with the {shape[0]} test instances and {shape[1]} classes of the votes",
        f"{folder} has {got}",
        "train on the whole test set, or give the folder of other trainings",
        code="mismatch",
    )


def _first_member(cell: Cell) -> int | None:
    """Number of the first member that a training makes, if it makes a part of an ensemble."""
    options = cell.params.get("params")
    first = options.get("first_member") if isinstance(options, dict) else None
    return first if isinstance(first, int) else None


def _whole(cell: Cell) -> str:
    """Name of the ensemble of which a training is a part: "DE member 3" is one of DE."""
    return cell.method.partition(" member ")[0]


def _single(prediction: Prediction) -> Prediction:
    """The prediction; an ensemble of one as a point, since scores of several members are constant for it."""
    if not isinstance(prediction, Members) or prediction.n_members > 1:
        return prediction
    partition = prediction.log_partition
    return Point(prediction.probs[:, 0], log_partition=None if partition is None else partition[:, 0])


def _joined(parts: Sequence[Members]) -> Members:
    partitions = [part.log_partition for part in parts if part.log_partition is not None]
    return Members(
        np.concatenate([part.probs for part in parts], axis=1),
        log_partition=np.concatenate(partitions, axis=1) if len(partitions) == len(parts) else None,
    )


def _names(trainings: Sequence[StoredTraining]) -> list[str]:
    """The method, and what distinguishes the training from others of that method."""
    cells = [training.cell for training in trainings]
    several = {
        "dataset": len({cell.dataset for cell in cells}) > 1,
        "condition": len({canonical_json(dict(cell.condition)) for cell in cells}) > 1,
        "seed": len({cell.seed for cell in cells}) > 1,
    }
    names = []
    for cell in cells:
        parts = [cell.method]
        parts += [cell.dataset] if several["dataset"] else []
        parts += [f"{key} {value}" for key, value in sorted(cell.condition.items())] if several["condition"] else []
        parts += [f"seed {cell.seed}"] if several["seed"] else []
        names.append(", ".join(parts))
    counts = Counter(names)  # trainings with other options
    return [f"{name}, {t.key[:6]}" if counts[name] > 1 else name for name, t in zip(names, trainings, strict=True)]
