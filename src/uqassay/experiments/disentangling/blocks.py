"""Blocks of runs as cells of a benchmark: all conditions of several runs of one method on one data set.

The result of a cell is one table of all instances, experiment by experiment, run by run and condition by condition: mean
probabilities, labels, and each part of each decomposition as a score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from uqassay.bench.cell import Cell, CellResult
from uqassay.bench.conditions import changed_data
from uqassay.bench.results import StoredResult
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.registry import load_dataset
from uqassay.errors import InputError
from uqassay.evidence.disentanglement import DisentanglementStudy, Measured
from uqassay.experiments.disentangling.conditions import Conditions, check_data
from uqassay.experiments.disentangling.reduction import PARTS
from uqassay.experiments.disentangling.trainings import has_dense_networks, measure_runs
from uqassay.measures import Decomposition
from uqassay.methods.registry import METHODS, build_method
from uqassay.notes import Note
from uqassay.predictions import Point

__all__ = ["FUNCTION", "block_cells", "blocks_of", "packed", "study_of", "train_block"]

FUNCTION = "uqassay.experiments.disentangling.blocks:train_block"
RUNS_PER_BLOCK = 10  # of dense networks, which are trained side by side; other estimators have one run in a block
OPTIONS = ("decompositions", "convention")


def block_cells(
    dataset: str,
    method: str,
    params: Mapping[str, Any],
    seeds: Sequence[int],
    *,
    source: str = "",
    label: str = "",
    conditions: Conditions | None = None,
    options: Mapping[str, Any] | None = None,
    limits: Mapping[str, int] | None = None,
) -> list[Cell]:
    """The cells of one method on one data set, each with a block of runs.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    method : str
        A name of `uqassay.methods.METHODS`.
    params : dict
        Options of the method.
    seeds : sequence of int
        One for each run.
    source : str
        Argument of `uqassay.datasets.load_dataset`, by default `dataset`.
    label : str
        Name of the method for the reader, by default `method`.
    conditions : Conditions, optional
    options : dict, optional
        ``decompositions`` and ``convention`` of `measure_runs`, and ``runs_per_block``.
    limits : dict, optional
        ``train_limit`` and ``test_limit``: the greatest numbers of instances.

    Raises
    ------
    InputError
        An unknown data set, method or option, or data on which a condition is not defined.

    Examples
    --------
    >>> cells = block_cells("wine", "random-forest", {"n_members": 10}, range(3), options={"runs_per_block": 2})
    >>> [cell.params["seeds"] for cell in cells]
    [[0, 1], [2]]
    """
    conditions = Conditions() if conditions is None else conditions
    options = dict(options or {})
    loaded = _loaded(source or dataset)
    data = changed_data(loaded, limits or {})
    check_data(data, conditions)
    estimator = _built(method, params)
    estimator.check_options(data.X_train.shape[1:], data.n_classes)
    size = options.pop("runs_per_block", None)
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise InputError(
            "options",
            'must be "decompositions", "convention" or "runs_per_block"',
            f"got {unknown[0]!r}",
            "remove it",
            code="choice",
        )
    return [
        Cell(
            FUNCTION,
            dataset=dataset,
            method=label or method,
            seed=block[0],
            params={
                "method": method,
                "params": dict(params),
                "seeds": block,
                "conditions": conditions.to_dict(),
                "options": options,
            },
            condition=dict(limits or {}),
            data_hash=loaded.content_hash,
            source=source,
            rests_on=(f"uqassay.methods.{METHODS[method].module}", "uqassay.methods.together"),
        )
        for block in blocks_of(seeds, estimator, data.X_train.shape[1:], size)
    ]


def train_block(cell: Cell) -> CellResult:
    """Train the runs of one cell of `block_cells`; `study_of` reads the result.

    Raises
    ------
    InputError
        The data are not those of the cell.
    """
    place = cell.source or cell.dataset
    data = _loaded(place)
    if data.content_hash != cell.data_hash:
        _loaded.cache_clear()
        data = _loaded(place)
    if data.content_hash != cell.data_hash:
        raise InputError(
            "dataset",
            "must hold the same data at the worker and at the driver",
            f"those of {cell.dataset} differ",
            "copy the same files",
            code="mismatch",
        )
    data = replace(data, name=cell.dataset)
    given = cell.params
    study = measure_runs(
        _built(given["method"], given["params"]),
        changed_data(data, cell.condition),
        Conditions.from_dict(given["conditions"]),
        given["seeds"],
        method=cell.method,
        **given["options"],
    )
    return packed(study)


def study_of(result: CellResult | StoredResult) -> DisentanglementStudy:
    """The study of a block of runs, from the result of its cell; `uqassay.evidence.disentanglement.joined` joins blocks."""
    facts = result.facts if isinstance(result, CellResult) else result.metadata["facts"]
    probs, labels = result.prediction.mean_probs(), np.asarray(result.labels)
    n_runs, measured, start = len(facts["seeds"]), {}, 0
    for one in facts["experiments"]:
        shape = (n_runs, len(one["conditions"]), facts["instances"])
        rows = slice(start, start + int(np.prod(shape)))
        start = rows.stop
        parts = {
            name: Decomposition(*(result.scores[f"{name}/{part}"][rows].reshape(shape) for part in PARTS))
            for name in one["decompositions"]
        }
        measured[one["name"]] = Measured(
            tuple(one["conditions"]), labels[rows].reshape(shape), probs[rows].reshape(*shape, -1), parts
        )
    return DisentanglementStudy(
        facts["method"],
        facts["dataset"],
        tuple(facts["seeds"]),
        tuple(facts["class_names"]),
        measured,
        facts["study"],
        tuple(Note.from_dict(note) for note in facts["notes"]),
    )


def packed(study: DisentanglementStudy) -> CellResult:
    """All instances of a study as rows, experiment by experiment, run by run and condition by condition."""
    names = dict.fromkeys(name for measured in study.measured.values() for name in measured.parts)
    scores = {
        f"{name}/{part}": np.concatenate(
            [
                getattr(m.parts[name], part).ravel() if name in m.parts else np.full(m.labels.size, np.nan)
                for m in study.measured.values()
            ]
        )
        for name in names
        for part in PARTS
    }
    first = next(iter(study.measured.values()))
    facts = {
        "method": study.method,
        "dataset": study.dataset,
        "seeds": list(study.seeds),
        "class_names": list(study.class_names),
        "instances": first.labels.shape[2],
        "experiments": [
            {"name": name, "conditions": list(m.conditions), "decompositions": list(m.parts)}
            for name, m in study.measured.items()
        ],
        "study": dict(study.facts),
        "notes": [note.to_dict() for note in study.notes],
    }
    probs = np.concatenate([m.probs.reshape(-1, m.probs.shape[-1]) for m in study.measured.values()])
    labels = np.concatenate([m.labels.ravel() for m in study.measured.values()])
    return CellResult(Point(probs, class_names=study.class_names), labels, scores, facts)


def blocks_of(seeds: Sequence[int], estimator: Any, shape: tuple[int, ...], size: int | None = None) -> list[list[int]]:
    """The seeds in blocks whose runs are trained together; without a size, one that suits the estimator."""
    if size is None:
        size = RUNS_PER_BLOCK if has_dense_networks(estimator, shape) else 1
    return [[int(seed) for seed in seeds[i : i + size]] for i in range(0, len(seeds), size)]


# -- helpers -------------------------------------------------------------------------------------------------------------


def _built(method: str, params: Mapping[str, Any]) -> Any:
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}
    return build_method(method, **options)


@lru_cache(maxsize=2)
def _loaded(source: str) -> Dataset:
    return load_dataset(source)
