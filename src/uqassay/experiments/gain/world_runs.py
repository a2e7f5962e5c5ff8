"""Runs of the reproduction as cells of a benchmark: one method on one data set with one seed."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uqassay.bench.cell import Cell, CellResult
from uqassay.experiments.gain.divisions import GainTask, divided_run
from uqassay.experiments.gain.estimates import Estimates
from uqassay.experiments.gain.runs import packed_run
from uqassay.experiments.gain.trainings import measured_run
from uqassay.experiments.gain.worlds import World, make_world
from uqassay.methods.registry import METHODS, build_method

__all__ = ["FUNCTION", "run_world", "world_cells"]

FUNCTION = "uqassay.experiments.gain.world_runs:run_world"
ROOM = "uqassay.experiments.gain"
DATA = ("ball_division", "ball_split", "cluster_grids", "disc_layouts", "merged", "neighbours", "preparation")
RESTS_ON = (
    *(f"{ROOM}.{name}" for name in ("divisions", "estimates", "regions", "runs", "trainings", "worlds")),
    *(f"uqassay.datasets.{name}" for name in DATA),
)
CLASSES = ("0", "1")


def world_cells(
    dataset: str,
    method: str,
    *,
    world: Mapping[str, Any],
    options: Mapping[str, Any],
    seeds: Sequence[int],
    content_hash: str = "",
) -> list[Cell]:
    """One cell for each run of a method on a data set.

    Parameters
    ----------
    dataset : str
        For the reader.
    method : str
        A name of `uqassay.methods.METHODS`.
    world : dict
        Of `uqassay.experiments.gain.worlds.world_params`.
    options : dict
        Of the method.
    seeds : sequence of int
    content_hash : str
        Of the images; their place is no part of the key.

    Examples
    --------
    >>> toy = {"kind": "toy", "size": 5000, "spread": 0.35}
    >>> cells = world_cells("toy", "random-forest", world=toy, options={"n_members": 5}, seeds=range(3))
    >>> [cell.name for cell in cells][:2]
    ['toy, random-forest, seed 0', 'toy, random-forest, seed 1']
    """
    return [
        Cell(
            FUNCTION,
            dataset=dataset,
            method=method,
            seed=int(seed),
            data_hash=content_hash,
            source=world.get("data", ""),
            params={"world": {key: value for key, value in world.items() if key != "data"}, "options": dict(options)},
            rests_on=(*RESTS_ON, f"uqassay.methods.{METHODS[method].module}"),
        )
        for seed in seeds
    ]


def run_world(cell: Cell) -> CellResult:
    """Train the four models of one run; `uqassay.experiments.gain.runs.study_of` reads the results of several."""
    start = time.perf_counter(), time.process_time()
    world = make_world({**cell.params["world"], "data": cell.source}, cell.seed)
    task = _task(world)
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in cell.params["options"].items()}
    measured = measured_run(
        build_method(cell.method, **options),
        task,
        divided_run(task, cell.seed),
        estimates=Estimates(),
        losses=("zero-one",),
    )
    spent = {"seconds": time.perf_counter() - start[0], "cpu_seconds": time.process_time() - start[1]}
    return packed_run(
        measured, {"method": cell.method, "dataset": cell.dataset, "study": dict(world.facts), "spent": spent}
    )


def _task(world: World) -> GainTask:
    return GainTask(
        X=world.X,
        y=world.y,
        class_names=CLASSES,
        split=world.split,
        calibration=world.calibration,
        label_probs=None if world.truth is None else np.asarray(world.truth(world.X), dtype=np.float64),
    )
