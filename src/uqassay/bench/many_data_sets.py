"""The methods of a benchmark compared over its data sets, from the assays that its reports saved."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uqassay.bench.cell import Cell, canonical_json
from uqassay.bench.conditions import has_report
from uqassay.bench.files import holds_benchmark, json_object
from uqassay.bench.report import CELLS, SAVED, report_places
from uqassay.errors import InputError
from uqassay.evidence import Assay, compare_over_data_sets
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence.data_sets_result import DataSetComparison

__all__ = ["compare_benchmark"]


def compare_benchmark(
    folder: str | os.PathLike[str],
    *,
    metric: str = "unified",
    tradeoff: float = DEFAULT_TRADEOFF,
    score: str | None = None,
    models: Sequence[str] | None = None,
    level: float = 0.95,
    rope: float | None = None,
    rng: int | None = None,
) -> "DataSetComparison":
    """Compare the methods of a benchmark over its data sets by one metric.

    Parameters
    ----------
    folder : path
        In which `uqassay bench` has written its reports. The number of a method on a data set is its mean over all seeds; of
        several conditions of a data set, the mean over them is taken, because they are no independent data sets.
    metric, tradeoff, score, models, level, rope, rng
        As in `uqassay.evidence.compare_over_data_sets`.

    Returns
    -------
    DataSetComparison

    Raises
    ------
    InputError
        A folder without a benchmark, a data set without its report or without one of the methods, fewer than two data sets.
    """
    place = Path(folder)
    if not holds_benchmark(place):
        raise InputError("folder", "must hold a benchmark", f"got {place}", "check the path", code="missing")
    assays: dict[str, Assay] = {}
    data_sets: list[str] = []
    for dataset, condition, report in report_places(_reported(place), place):
        name = ", ".join([dataset, *(f"{key} {value}" for key, value in sorted(condition.items()))])
        if not (report / SAVED).is_dir():
            raise InputError(
                "folder",
                "needs a report on each data set",
                f"{name} has none",
                f"run uqassay bench -o {place} again",
                code="missing",
            )
        assays[name] = Assay.load(report / SAVED)
        data_sets.append(dataset)
    several = len(set(data_sets)) < len(data_sets)
    return compare_over_data_sets(
        assays,
        metric=metric,
        tradeoff=tradeoff,
        score=score,
        models=models,
        groups=data_sets if several else None,
        level=level,
        rope=rope,
        rng=rng,
    )


def _reported(folder: Path) -> list[Cell]:
    """The cells of the last run that have reports."""
    held: dict[str, Any] = json_object(folder / CELLS) or {}
    asked = held.get("config", {}).get("condition", [])
    cells = [
        Cell.from_json(canonical_json({key: value for key, value in cell.items() if key != "key"}))
        for cell in held.get("cells", [])
    ]
    if not cells:
        raise InputError(
            "folder",
            "needs the list of its cells",
            f"{folder / CELLS} has none",
            "run the benchmark again",
            code="missing",
        )
    return [cell for cell in cells if has_report(cell.condition, asked)]
