"""Reports from the stored results of a benchmark, its status, and its methods over all data sets."""

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from uqassay.checks import fail
from uqassay.evidence import FINDING_COLUMNS, Assay, assay, compare_over_data_sets
from uqassay.lab.bench.cell import Cell, canonical_json
from uqassay.lab.bench.conditions import has_report
from uqassay.lab.bench.config import BenchConfig, to_toml
from uqassay.lab.bench.disentanglement import PAGE as DISENTANGLEMENT
from uqassay.lab.bench.store import (
    CellState,
    Store,
    count_older,
    holds_benchmark,
    json_object,
    named_labels,
    reason_of,
    write_text,
)
from uqassay.losses import DEFAULT_TRADEOFF
from uqassay.notes import Note
from uqassay.results import plain
from uqassay.text import counted, visible

if TYPE_CHECKING:
    from uqassay.evidence import DataSetComparison

__all__ = [
    "BenchStatus",
    "Comparison",
    "check_places",
    "compare_benchmark",
    "comparisons",
    "read_status",
    "report_places",
    "unjudged",
    "write_comparison",
    "write_config",
]


# Reports from the stored results of a benchmark: one for each data set and condition, with the seeds as training runs.

PAGE, TABLE, SAVED, CELLS = "report.html", "findings.csv", "assay", "cells.json"
OURS = re.compile(rb"<pre[^>]*>uqassay bench ")  # our pages contain the command that made them


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """The methods on one data set under one condition."""

    dataset: str
    condition: dict[str, Any]
    assay: "Assay"  #: Its models are the methods, its runs the seeds that are done
    seeds: dict[str, tuple[int, ...]]  #: Seeds of each method, in the order of the runs
    folder: Path  #: Folder for its report

    @property
    def name(self) -> str:
        """Data set and condition for a reader."""
        return ", ".join([self.dataset, *(f"{key} {value}" for key, value in sorted(self.condition.items()))])


def comparisons(
    cells: Sequence[Cell],
    folder: Path,
    *,
    common_members: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Comparison]:
    """Assess the methods by their stored results; cells that are not done are left out.

    Parameters
    ----------
    cells : sequence of Cell
        The benchmark.
    folder : Path
        Of the results. A single report is written there, several into folders inside it.
    common_members : int, optional
        As in `uqassay.assay`.
    progress : callable, optional
        Called with the name of what is being computed.

    Returns
    -------
    list of Comparison
        In the order of the cells; a data set without results is left out, and so are conditions whose test labels differ from
        seed to seed, see `unjudged`.
    """
    store = Store(folder, create=False)
    done = {found.key for found in store.states([cell.key for cell in cells]) if found.state == "done"}
    groups = _groups(cells)
    folders = _folders(folder, groups)
    found = []
    for place, ((dataset, condition), members) in zip(folders, groups.items(), strict=True):
        kept = [cell for cell in members if cell.key in done]
        if kept and not _labels_differ(members):
            judged, seeds = _judged(store, kept, common_members, progress)
            found.append(Comparison(dataset, json.loads(condition), judged, seeds, place))
    return found


def report_places(cells: Sequence[Cell], folder: Path) -> list[tuple[str, dict[str, Any], Path]]:
    """Data set, condition and folder of each report that `comparisons` can make; `unjudged` names the others."""
    groups = _groups(cells)
    return [
        (dataset, json.loads(condition), place)
        for place, ((dataset, condition), members) in zip(_folders(folder, groups), groups.items(), strict=True)
        if not _labels_differ(members)
    ]


def unjudged(cells: Sequence[Cell]) -> tuple[Note, ...]:
    """For each data set, the conditions that have no report because each seed permutes the test labels in its own way.

    An assay compares methods on the same labels in all runs. The page on disentanglement takes each run with its own labels.
    """
    groups = [(members[0], condition) for (_, condition), members in _groups(cells).items() if _labels_differ(members)]
    notes = []
    for dataset in dict.fromkeys(cell.dataset for cell, _ in groups):
        levels = [cell.condition["label_noise"] for cell, _ in groups if cell.dataset == dataset]
        text = (
            f"no report on {counted(len(levels), 'condition')} of {dataset} with label noise, because each seed has its own "
            "test labels"
        )
        notes.append(Note("left-out", text, {"dataset": dataset, "levels": levels}))
    return tuple(notes)


def check_places(cells: Sequence[Cell], folder: Path, *, studied: bool = False) -> None:
    """Refuse to replace a report, findings or a saved assay that no benchmark wrote.

    Parameters
    ----------
    cells : sequence of Cell
        Those with reports.
    studied : bool
        Whether there is a page on disentanglement.
    folder : Path
        If it holds a benchmark, its files may be replaced, except a page that does not name the command.
    """
    known = holds_benchmark(folder)
    places = _folders(folder, _groups(cells))
    written = [[place / PAGE, place / TABLE, place / SAVED, folder / CELLS] for place in places]
    if studied:
        written.append([folder / DISENTANGLEMENT])
    for page, *more in written:
        foreign = [path for path in (page, *more) if path.exists() and not known]
        if page.is_file() and not OURS.search(page.read_bytes()):
            foreign.append(page)
        if foreign:
            rule = "must not replace files that uqassay bench did not write"
            fail("output", rule, f"{foreign[0]} is one", "move it, or choose another folder", code="unwritable")


def write_comparison(
    comparison: Comparison, *, command: str | None = None, progress: Callable[[str], None] | None = None
) -> Path:
    """Write report.html, findings.csv (one row per model and metric, over all seeds and for each) and the saved assay.

    `progress` is called with the name of each part of the page when it begins.

    Returns
    -------
    Path
        Of the page.
    """
    folder = comparison.folder
    folder.mkdir(parents=True, exist_ok=True)
    table = io.StringIO()
    writer = csv.DictWriter(table, FINDING_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in comparison.assay.rows("findings"):
        writer.writerow({name: visible(value) if isinstance(value, str) else value for name, value in row.items()})
    write_text(folder / TABLE, table.getvalue())
    comparison.assay.save(folder / SAVED)
    return comparison.assay.to_html(folder / PAGE, command=command, progress=progress)


def write_config(config: BenchConfig, cells: Sequence[Cell], folder: Path) -> Path:
    """Write config.toml, which gives the same cells again, and cells.json with their fields and keys.

    Returns
    -------
    Path
        Of config.toml.
    """
    resolved = {
        "schema": "uqassay.bench-cells/1",
        "config": config.to_dict(),
        "cells": [{"key": cell.key, **json.loads(cell.to_json())} for cell in cells],
    }
    write_text(folder / CELLS, json.dumps(plain(resolved), allow_nan=False, indent=1) + "\n")
    write_text(folder / "config.toml", to_toml(config) + "\n")
    return folder / "config.toml"


# -- helpers ----------------------------------------------------------------------------------------------------------


def _judged(
    store: Store, cells: Sequence[Cell], common_members: int | None, progress: Callable[[str], None] | None
) -> "tuple[Assay, dict[str, tuple[int, ...]]]":
    """The assay of the results, and the seeds of each method."""
    say = progress or (lambda step: None)
    runs: dict[str, list[Any]] = {}
    scores: dict[str, list[dict[str, Any]]] = {}
    seeds: dict[str, list[int]] = {}
    counts: list[Any] = []
    labels = class_names = None
    for cell in sorted(cells, key=lambda cell: cell.seed):
        say(f"reading {cell.name}")
        result = store.result(cell.key)
        if labels is None:
            labels, class_names = result.labels, result.class_names
        elif not np.array_equal(labels, result.labels):
            rule = "must be the same in all cells, or methods cannot be compared"
            remedy = "use the same test instances in all cells"
            fail("labels", rule, f"those of {cell.name} differ", remedy, code="mismatch")
        counts.append(result.metadata["facts"].get("train_counts"))
        runs.setdefault(cell.method, []).append(result.prediction)
        scores.setdefault(cell.method, []).append(result.scores)
        seeds.setdefault(cell.method, []).append(cell.seed)
    order = [name for name in dict.fromkeys(cell.method for cell in cells) if name in runs]
    shared = {name: set.intersection(*map(set, scores[name])) for name in order}
    uncertainties = {
        name: {score: np.stack([run[score] for run in scores[name]]) for score in sorted(shared[name])}
        for name in order
        if shared[name]
    }
    judged = assay(
        {name: runs[name] for name in order},
        () if labels is None else named_labels(labels, class_names),
        class_names=class_names,
        uncertainties=uncertainties or None,
        prior=None if None in counts else np.sum(counts, axis=0) / np.sum(counts),
        common_members=common_members,
        progress=progress,
    )
    return judged, {name: tuple(seeds[name]) for name in order}


def _labels_differ(cells: Sequence[Cell]) -> bool:
    """Whether the cells of one condition have other test labels for each seed."""
    condition = cells[0].condition
    by_seed = condition.get("subsets_by_seed") and condition.get("label_noise")
    return bool(by_seed) and len({cell.seed for cell in cells}) > 1


def _groups(cells: Sequence[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """The cells of each report, by data set and condition."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.dataset, canonical_json(cell.condition)), []).append(cell)
    return groups


def _folders(folder: Path, groups: Collection[tuple[str, str]]) -> list[Path]:
    """The folder itself for one report; for several, folders in it with names that are valid on every file system."""
    if len(groups) == 1:
        return [folder]
    several = len({condition for _, condition in groups}) > 1
    names: list[str] = []
    for dataset, condition in groups:
        words = [f"{key}={value}" for key, value in sorted(json.loads(condition).items())] if several else []
        name = re.sub(r"[^A-Za-z0-9._=-]+", "-", " ".join([dataset, *words])).strip(".-") or "data"
        reserved = ("cells", "plans", SAVED)
        while name.lower() in (*map(str.lower, names), *reserved):
            name += "_"
        names.append(name)
    return [folder / name for name in names]


# The status of a benchmark: how many cells are done, running, queued and failed, from the files of its folder.

SHOWN = 10  # failed cells in the sentences


@final
@dataclass(frozen=True)
class StatusRow:
    """The cells of one method on one data set."""

    dataset: str
    method: str
    #: A cell whose claim has lapsed counts as queued
    done: int
    failed: int
    running: int
    queued: int
    #: Means over the cells that are done
    accuracy: float | None
    seconds: float | None


@final
@dataclass(frozen=True)
class BenchStatus:
    """All cells of a folder, including those of other versions."""

    folder: str
    rows: tuple[StatusRow, ...]
    #: ``key``, ``dataset``, ``method``, ``seed`` and ``traceback`` of each failed cell
    failures: tuple[dict[str, Any], ...]
    older: int = 0  #: How many of the cells that are done were made by another version than the present one

    def count(self, state: str) -> int:
        """How many cells are in a state."""
        return sum(getattr(row, state) for row in self.rows)

    def sentences(self) -> list[str]:
        """The counts, and the reason of each failure."""
        counts = [f"{self.count(state)} {word}" for state, word in STATES.items()]
        said = [f"{', '.join(counts)}."]
        if self.older:
            said.append(
                f"Made by another version of uqassay, and made again when the run goes on: {self.older} of the done."
            )
        for failure in self.failures[:SHOWN]:
            reason = reason_of(failure["traceback"])
            said.append(f"Failed: {failure['dataset']}, {failure['method']}, seed {failure['seed']}: {reason}")
        if len(self.failures) > SHOWN:
            said.append(f"… and {len(self.failures) - SHOWN} more; --json shows all with their tracebacks.")
        if self.failures:
            said.append("Run failed cells again by uqassay bench with --retry-failed.")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "counts": {state: self.count(state) for state in STATES}}


STATES = {"done": "done", "failed": "failed", "running": "running", "queued": "to do"}


def read_status(folder: str | os.PathLike[str]) -> BenchStatus:
    """The status of a benchmark. Nothing is changed, and other processes may be at work."""
    store = Store(folder, create=False)
    groups: dict[tuple[str, str], list[CellState]] = {}
    failures = []
    for cell in store.states():
        groups.setdefault((cell.dataset, cell.method), []).append(cell)
        if cell.state == "failed":
            failures.append({name: getattr(cell, name) for name in ("key", "dataset", "method", "seed", "traceback")})
    rows = tuple(_row(*group, cells) for group, cells in sorted(groups.items()))
    return BenchStatus(str(folder), rows, tuple(failures), count_older(folder))


def _row(dataset: str, method: str, cells: Sequence[CellState]) -> StatusRow:
    states: list[str] = [cell.state for cell in cells]
    return StatusRow(
        dataset,
        method,
        **{state: states.count(state) for state in STATES},
        accuracy=_mean([cell.accuracy for cell in cells]),
        seconds=_mean([cell.seconds for cell in cells]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


# The methods of a benchmark compared over its data sets, from the assays that its reports saved.


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
    """
    place = Path(folder)
    if not holds_benchmark(place):
        fail("folder", "must hold a benchmark", f"got {place}", "check the path", code="missing")
    assays: dict[str, Assay] = {}
    data_sets: list[str] = []
    for dataset, condition, report in report_places(_reported(place), place):
        name = ", ".join([dataset, *(f"{key} {value}" for key, value in sorted(condition.items()))])
        if not (report / SAVED).is_dir():
            remedy = f"run uqassay bench -o {place} again"
            fail("folder", "needs a report on each data set", f"{name} has none", remedy, code="missing")
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
        rule = "needs the list of its cells"
        fail("folder", rule, f"{folder / CELLS} has none", "run the benchmark again", code="missing")
    return [cell for cell in cells if has_report(cell.condition, asked)]
