"""The check of the methods: accuracy beside a plain network, and the promises of their papers, on data for a CPU.

| preset | data sets | epochs | trainings of each method | classes left out in turn |
|---|---|---|---|---|
| smoke | digits, and mnist-10k where a folder is given; 300 / 200 instances | 2 | 1 | 1 |
| cpu | digits; mnist-10k, 8,000 / 2,000 images, where its files are there | 100; 30 | 3 | all |

All networks have the hidden layers (64, 64) and learn by Adam with the defaults of `uqassay.lab.methods`.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from benchmarks.method_check.signatures import Signature, signatures_of
from benchmarks.method_check.tables import (
    accuracy_cells,
    accuracy_lines,
    accuracy_rows,
    left_out_cells,
    signature_cells,
    signature_lines,
)
from benchmarks.method_check.training import LEFT_OUT
from uqassay.errors import InputError
from uqassay.lab.bench.cell import MAX_SEED, Cell
from uqassay.lab.bench.config import BenchConfig
from uqassay.lab.bench.methods import cells_of
from uqassay.lab.bench.store import StoredResult, older_notes
from uqassay.lab.papers.paper_tables import PrintedCell
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.lab.papers.trainings import all_failed, train_cells, trained_cells
from uqassay.lab.papers.unified.plan import trained_data
from uqassay.text import listed, number

__all__ = ["PRESETS", "VARIANTS", "Variant", "check_methods"]

Progress = Callable[[str], None]
ByMethod = dict[str, list[StoredResult]]
Longer = dict[str, tuple[str, list[StoredResult]]]

SOURCE = "accuracy of the methods of uqassay.lab.methods beside a plain network, and the promises of their papers"
FUNCTION = "benchmarks.method_check.training:train_and_measure"
PRESETS = ("smoke", "cpu")
DATA_VARIABLE = "UQASSAY_DATA"  # of `uqassay.lab.datasets`; worker processes inherit it
RUNS = {"smoke": 1, "cpu": 3}
CLASSES = {"smoke": 1, "cpu": 10}  # that are left out in turn
EPOCHS = {"digits": 100, "mnist-10k": 30}
EFFORT = 3  # factor on the epochs, or members, of a method that lags
GAUSSIAN_MEMBERS = 5  # a training step with 100 drawn logits takes many times as long
WITHOUT_A_CLASS = ("evidential", "ddu")


@final
@dataclass(frozen=True)
class Variant:
    """A method with options.

    Attributes
    ----------
    name : str
        In the tables.
    method : str
        Key of `uqassay.lab.methods.METHODS`.
    params : dict
        Options that differ from the defaults.
    network : bool
        Whether it is trained in epochs.
    """

    name: str
    method: str
    params: dict[str, Any]
    network: bool = True


VARIANTS = (
    Variant("snn", "snn", {}),
    Variant("deep-ensemble", "deep-ensemble", {}),
    *(Variant(f"mc-dropout-{rate:g}", "mc-dropout", {"rate": rate}) for rate in (0.1, 0.3, 0.5, 0.7)),
    *(Variant(f"dropout-last-{rate:g}", "mc-dropout", {"rate": rate, "where": "last"}) for rate in (0.1, 0.6)),
    Variant("mc-dropconnect", "mc-dropconnect", {}),
    Variant("flipout", "flipout", {}),
    Variant("evidential", "evidential", {}),
    Variant("ddu", "ddu", {}),
    Variant("laplace-bridge", "laplace-bridge", {}),
    Variant("creinn", "creinn", {}),
    Variant("e-cnn", "e-cnn", {}),
    Variant("rs-nn", "rs-nn", {}),
    Variant("deep-ensemble-gaussian", "deep-ensemble-gaussian", {"n_members": GAUSSIAN_MEMBERS}),
    Variant("mc-dropout-gaussian", "mc-dropout-gaussian", {}),
    Variant("mc-dropconnect-gaussian", "mc-dropconnect-gaussian", {}),
    Variant("flipout-gaussian", "flipout-gaussian", {}),
    Variant("random-forest", "random-forest", {"n_members": 100}, network=False),
    Variant("bagging", "bagging", {"n_members": 10}, network=False),
)

NOTES = (
    "accuracies are means over test instances and trainings, and their 95 % intervals cover both; differences are paired by "
    "test instance",
    "evidential and ddu are also trained once without each class; the test instances of that class are then out of "
    "distribution, all others in distribution",
    "spread: mutual information of label and pass in nats; vacuity: K / Σ α; size: root mean square of the standardised inputs",
    "flipout is trained for as many epochs as the others (500 in its paper); deep-ensemble-gaussian has "
    f"{GAUSSIAN_MEMBERS} members, deep-ensemble 10",
)


def check_methods(
    *,
    preset: str = "cpu",
    data: str | os.PathLike[str] | None = None,
    methods: Sequence[str] | None = None,
    runs: int | None = None,
    seed: int = 0,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Train every method, compare its accuracy with a plain network's, and test the promises of its paper.

    Parameters
    ----------
    preset : {"smoke", "cpu"}
        "smoke" only checks that the code runs.
    data : path, optional
        Folder with the files of the data sets, instead of the cache folder; see `uqassay.lab.datasets`.
    methods : sequence of str, optional
        Names of `VARIANTS`; all by default. Without "snn" there is no comparison.
    runs : int, optional
        Number of trainings of each method, instead of the preset's.
    seed : int
        Seed of the first training; the next ones count up from it.
    workers : int
        Number of processes; the results do not depend on it. A script that starts several needs the guard
        ``if __name__ == "__main__":``.
    resume : path, optional
        Folder for the predictions; predictions that are there are not trained again.
    progress : callable, optional
        Called with a line of text at every step.

    Returns
    -------
    Reproduction
        Cells without printed values: ``accuracy/<data set>/<method>/mean``, ``…/ahead`` and ``…/seconds``;
        ``signature/<data set>/<promise>/<figure>`` with the verdict in its note; ``left-out/<data set or training>`` with the
        reason in its note.

    Raises
    ------
    InputError
        An option out of range, a missing folder, or no method that could be trained.
    MissingDependencyError
        PyTorch or scikit-learn is missing; with several workers, Dask.
    """
    folder = _check(preset, data, runs, seed, workers)
    chosen = _chosen(methods)
    seeds = [seed + i for i in range(RUNS[preset] if runs is None else runs)]
    rows: list[PrintedCell] = []
    lines: list[str] = []
    signatures: dict[str, list[Signature]] = {}
    with ExitStack() as stack:
        stack.enter_context(_files_in(folder))
        names, left_out = _data_sets(preset, folder)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()) if resume is None else resume)
        run = _Run(place, workers, progress or (lambda step: None))
        cells = {name: _cells(name, preset, seeds, chosen) for name in names}
        run([cell for own in cells.values() for cell in own])
        older = older_notes([cell for own in cells.values() for cell in own], place)
        for name, own in cells.items():
            run.say(f"judging {name}")
            found, without, longer = _results(run, own)
            if not found:
                continue
            accuracies = accuracy_rows(found, longer)
            signatures[name] = signatures_of(found, without)
            rows += [*accuracy_cells(name, accuracies), *signature_cells(name, signatures[name])]
            lines += ["", *accuracy_lines(name, accuracies, found), f"  {run.effort()}"]
    if not rows:
        raise all_failed("methods", run.failed)
    left_out |= run.failed
    rows += left_out_cells(left_out)
    notes = [*NOTES, *older, *(f"{name} is left out: {reason}" for name, reason in left_out.items())]
    if preset == "smoke":
        notes.append("a smoke run only checks that the code runs; it is no evidence")
    reading = (*lines, "", *signature_lines(signatures))
    return Reproduction("methods", SOURCE, tuple(rows), tuple(notes), reading)


# ---- what is trained -------------------------------------------------------------------------------------------------


def _chosen(methods: Sequence[str] | None) -> tuple[Variant, ...]:
    """The chosen variants, in the order of the tables."""
    known = {v.name: v for v in VARIANTS}
    asked = list(known) if methods is None else list(methods)
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        raise InputError(
            "methods",
            f"must be among {', '.join(known)}",
            f"got {unknown[0]!r}" if unknown else "got none",
            "leave it out for all",
            code="choice",
        )
    return tuple(v for v in VARIANTS if v.name in asked)


def _data_sets(preset: str, folder: Path | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Names of the data sets at hand, and the reason for each other one; a smoke run downloads nothing."""
    if preset == "smoke" and folder is None:
        return ("digits",), {"mnist-10k": "the preset smoke takes it from a folder only"}
    found, missing = trained_data("cpu")
    return tuple(data.dataset for data in found), {name: str(problem) for name, problem in missing.items()}


def _cells(dataset: str, preset: str, seeds: Sequence[int], variants: Sequence[Variant] = VARIANTS) -> list[Cell]:
    """Every method with every seed, then the trainings without a class."""
    options = {"progress": False, "device": "cpu"} | ({} if preset == "smoke" else {"epochs": EPOCHS[dataset]})
    config = BenchConfig(
        dataset=[dataset],
        method=[f"{v.name}={v.method}" for v in variants],
        seeds=list(seeds),
        preset=preset,
        params={v.name: v.params | (options if v.network else {}) for v in variants},
    )
    cells = [replace(cell, function=FUNCTION) for cell in cells_of(config)]
    first = [cell for cell in cells if cell.method in WITHOUT_A_CLASS and cell.seed == seeds[0]]
    return cells + [
        replace(cell, condition={**cell.condition, LEFT_OUT: k}) for cell in first for k in range(CLASSES[preset])
    ]


def _with_more(cell: Cell) -> Cell:
    """The same cell with more epochs, or more members if it has no epochs."""
    params, option = cell.params["params"], _effort_option(cell)
    return replace(cell, params={**cell.params, "params": {**params, option: EFFORT * params[option]}})


def _effort_option(cell: Cell) -> str:
    return "epochs" if "epochs" in cell.params["params"] else "n_members"


def _results(run: "_Run", cells: Sequence[Cell]) -> tuple[ByMethod, dict[str, dict[int, StoredResult]], Longer]:
    """Results on one data set: with all classes, without one class, and with more effort for methods that lag."""
    whole = [cell for cell in cells if LEFT_OUT not in cell.condition]
    found: ByMethod = {}
    for cell, result in run.there(whole):
        found.setdefault(cell.method, []).append(result)
    without: dict[str, dict[int, StoredResult]] = {}
    for cell, result in run.there([cell for cell in cells if LEFT_OUT in cell.condition]):
        without.setdefault(cell.method, {})[cell.condition[LEFT_OUT]] = result
    lagging = {row.method for row in accuracy_rows(found, {}) if row.lags}
    more = [_with_more(cell) for cell in whole if cell.method in lagging]
    if more:
        run(more)
    longer: Longer = {}
    for cell, result in run.there(more):
        option = _effort_option(cell)
        words = f"{cell.params['params'][option]} {option.removeprefix('n_')}"
        longer.setdefault(cell.method, (words, []))[1].append(result)
    return found, without, longer


# ---- helpers ---------------------------------------------------------------------------------------------------------


@final
class _Run:
    """Trains cells into a folder and finds their results there."""

    def __init__(self, folder: Path, workers: int, say: Progress) -> None:
        self.folder, self.workers, self.say = folder, workers, say
        self.failed: dict[str, str] = {}
        self.seconds: list[float] = []

    def __call__(self, cells: Sequence[Cell]) -> None:
        """Train the cells that have no result yet."""
        self.failed |= train_cells(cells, self.folder, workers=self.workers, say=self.say)

    def there(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, StoredResult]]:
        """Cells that have been trained, with their results."""
        for cell, result in trained_cells(cells, self.folder):
            self.seconds.append(result.metadata["facts"]["fit_seconds"])
            yield cell, result

    def effort(self) -> str:
        """Time of the trainings found since the last call, in words."""
        words = f"all {len(self.seconds)} trainings took {number(sum(self.seconds), 0)} s of a core together"
        self.seconds = []
        return words


def _check(preset: str, data: str | os.PathLike[str] | None, runs: int | None, seed: int, workers: int) -> Path | None:
    if preset not in PRESETS:
        raise InputError(
            "preset", f"must be {listed(PRESETS, last='or')}", f"got {preset!r}", "cpu is the default", code="choice"
        )
    for name, value, least in (("runs", 1 if runs is None else runs, 1), ("seed", seed, 0), ("workers", workers, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= MAX_SEED // 2:
            raise InputError(
                name,
                f"must be a whole number in {least} … {MAX_SEED // 2}",
                f"got {value!r}",
                "leave it out for the default",
                code="range",
            )
    folder = None if data is None else Path(data).expanduser().absolute()
    if folder is not None and not folder.is_dir():
        raise InputError(
            "data",
            "must be a folder with the files of the data sets",
            f"got {folder}",
            "check the path",
            code="missing",
        )
    return folder


@contextmanager
def _files_in(folder: Path | None) -> Iterator[None]:
    """Make this folder the cache folder, for this process and its workers."""
    before = os.environ.get(DATA_VARIABLE)
    if folder is not None:
        os.environ[DATA_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is not None:
            os.environ[DATA_VARIABLE] = before
        elif folder is not None:
            del os.environ[DATA_VARIABLE]
