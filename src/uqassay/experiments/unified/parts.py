"""Predictors that are trained in parts: each member of an ensemble has a cell, so that an interrupted run loses one at most."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from uqassay.bench.cell import Cell
from uqassay.bench.results import StoredResult
from uqassay.experiments.trainings import trained_cells
from uqassay.experiments.unified.predictors import PREDICTORS
from uqassay.predictions import Members, Prediction

__all__ = ["incomplete_notes", "whole_predictions"]

NAMES = {p.method: p.name for p in PREDICTORS}


def whole_predictions(cells: Sequence[Cell], folder: Path) -> Iterator[tuple[str, Prediction, StoredResult]]:
    """Name, prediction and result of every predictor and run of which all parts have a result.

    The prediction of several parts has the members of all of them, in order; the result is that of the first part.
    """
    for (name, _), parts in _grouped(cells).items():
        kept = [result for _, result in trained_cells(parts, folder)]
        if len(kept) == len(parts):
            yield name, joined([one.prediction for one in kept]), kept[0]


def joined(parts: Sequence[Prediction]) -> Prediction:
    """The members of all parts, in order; one part as it is."""
    if len(parts) == 1:
        return parts[0]
    members = [part for part in parts if isinstance(part, Members)]
    partitions = [part.log_partition for part in members if part.log_partition is not None]
    return Members(
        np.concatenate([part.probs for part in members], axis=1),
        log_partition=np.concatenate(partitions, axis=1) if len(partitions) == len(members) else None,
    )


def incomplete_notes(cells: Sequence[Cell], failed: Collection[str]) -> list[str]:
    """A note on each predictor and run that is left out because of some of its parts.

    Parameters
    ----------
    cells : sequence of Cell
        The trainings on one data set.
    failed : collection of str
        Names of those that failed.
    """
    notes = []
    for (name, seed), parts in _grouped(cells).items():
        n = sum(cell.name in failed for cell in parts)
        if n and len(parts) > 1:
            notes.append(
                f"{name} with seed {seed} on {parts[0].dataset} is left out, because {n} of its {len(parts)} parts failed"
            )
    return notes


def _grouped(cells: Sequence[Cell]) -> dict[tuple[str, int], list[Cell]]:
    """The cells of each predictor and seed."""
    found: dict[tuple[str, int], list[Cell]] = {}
    for cell in cells:
        found.setdefault((NAMES[cell.params["method"]], cell.seed), []).append(cell)
    return found
