"""Do all methods learn, and do they show what their papers promise? One command on data sets that are small enough for a CPU.

| preset | data sets | epochs | trainings of each method | classes left out in turn |
|---|---|---|---|---|
| smoke | digits, and mnist-10k where a folder is given; 300 / 200 instances | 2 | 1 | 1 |
| cpu | digits; mnist-10k, 8,000 / 2,000 images, where its files are there | 100; 30 | 3 | all |

All networks have the hidden layers (64, 64) and learn by Adam with the defaults of `uqassay.methods`.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from uqassay.bench.cell import MAX_SEED, Cell
from uqassay.bench.config import BenchConfig
from uqassay.bench.methods import cells_of
from uqassay.bench.runner import run_cells
from uqassay.bench.store import Store, StoredResult
from uqassay.errors import InputError
from uqassay.experiments.method_check_tables import (
    accuracy_cells,
    accuracy_lines,
    accuracy_rows,
    left_out_cells,
    signature_cells,
    signature_lines,
)
from uqassay.experiments.method_check_training import LEFT_OUT
from uqassay.experiments.method_signatures import Signature, signatures_of
from uqassay.experiments.reproduction import PrintedCell, Reproduction
from uqassay.experiments.unified.predictors import available_data_sets

__all__ = ["VARIANTS", "Variant", "progress_steps", "reproduce_methods"]

Progress = Callable[[str], None]
ByMethod = dict[str, list[StoredResult]]
Longer = dict[str, tuple[str, list[StoredResult]]]

SOURCE = (
    "what the methods of uqassay.methods reach beside a plain network, and whether they show what their papers promise"
)
FUNCTION = "uqassay.experiments.method_check_training:train_and_measure"
DATA_VARIABLE = "UQASSAY_DATA"  # of `uqassay.datasets`; worker processes inherit it
RUNS = {"smoke": 1, "cpu": 3}
CLASSES = {"smoke": 1, "cpu": 10}  # that are left out in turn
EPOCHS = {"digits": 100, "mnist-10k": 30}
EFFORT = 3  # times the epochs, or members, of a method that lags
GAUSSIAN_MEMBERS = 5  # a step with 100 drawn logits takes many times as long
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
        Of `uqassay.methods.METHODS`.
    params : dict
        What is not its default.
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
    "accuracies are means over test instances and trainings, their 95 % intervals cover both; differences are paired by test "
    "instance",
    "evidential and ddu are trained once more for each class that is left out of the training; its test instances are then "
    "out of distribution, those of the other classes in it",
    "spread: mutual information of label and pass in nats; vacuity: K / Σ α; size: root mean square of the standardised inputs",
    f"flipout learns as long as the others here, where its paper has 500 epochs; deep-ensemble-gaussian has {GAUSSIAN_MEMBERS} "
    "members, deep-ensemble 10",
)


def reproduce_methods(
    *,
    preset: str = "cpu",
    data: str | os.PathLike[str] | None = None,
    predictors: Sequence[str] | None = None,
    runs: int | None = None,
    seed: int = 0,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Train every method, set its accuracy beside that of a plain network, and look for what its paper promises.

    Parameters
    ----------
    preset : {"smoke", "cpu"}
        "smoke" is a check that the code runs, and no evidence.
    data : path, optional
        Folder with the files of the data sets in place of the cache folder, see `uqassay.datasets`.
    predictors : sequence of str, optional
        Some of `VARIANTS` by name; all by default. Without snn nothing is set beside it.
    runs : int, optional
        Number of trainings of each method in place of the preset's.
    seed : int
        Of the first; the others count on from it.
    workers : int
        Processes that train; the results do not depend on it. A script that starts several needs the guard
        ``if __name__ == "__main__":``.
    resume : path, optional
        Folder that keeps the predictions; what is there is not trained again.
    progress : callable, optional
        Takes what is being done.

    Returns
    -------
    Reproduction
        ``accuracy/<data set>/<method>/mean``, ``…/ahead`` and ``…/seconds``; ``signature/<data set>/<promise>/<figure>`` with
        the verdict in its note; ``left-out/<data set or training>`` with the reason in its note.

    Raises
    ------
    InputError
        An option out of range, a folder that is not there, or no method that could be trained.
    MissingDependencyError
        No PyTorch or scikit-learn; no Dask with several workers.

    Examples
    --------
    >>> result = reproduce_methods(preset="smoke", predictors=["bagging"])
    >>> [cell.name for cell in result.rows]
    ['accuracy/digits/bagging/mean', 'accuracy/digits/bagging/seconds']
    """
    folder = _check(preset, data, runs, seed, workers)
    chosen = _chosen(predictors)
    seeds = [seed + i for i in range(RUNS[preset] if runs is None else runs)]
    rows: list[PrintedCell] = []
    lines: list[str] = []
    signatures: dict[str, list[Signature]] = {}
    with ExitStack() as stack:
        stack.enter_context(_files_in(folder))
        names, notes = _data_sets(preset, folder)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()) if resume is None else resume)
        run = _Run(place, 0 if workers == 1 else workers, progress or (lambda step: None))
        cells = {name: _cells(name, preset, seeds, chosen) for name in names}
        run([cell for own in cells.values() for cell in own])
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
        raise InputError(
            "preset",
            "no method could be trained",
            "; ".join(run.failed.values()),
            "mend it and run it again",
            code="undefined",
        )
    notes += [f"{name} failed and is left out: {reason}" for name, reason in run.failed.items()]
    rows += left_out_cells(notes)
    if preset == "smoke":
        notes.append("a smoke run is a check that the code runs, and no evidence")
    reading = (*lines, "", *signature_lines(signatures))
    return Reproduction("methods", SOURCE, tuple(rows), (*NOTES, *notes), reading)


def progress_steps(*, preset: str = "cpu", data: object = None, runs: int | None = None, **_: Any) -> int:
    """How often the protocol reports its progress with all methods, where all data sets are there and none lags.

    Examples
    --------
    >>> progress_steps(preset="smoke")
    26
    """
    n_data_sets = 2 if preset == "cpu" or data is not None else 1
    trained = len(VARIANTS) * (RUNS.get(preset, 1) if runs is None else runs)
    without = len(WITHOUT_A_CLASS) * CLASSES.get(preset, 1)
    return n_data_sets * (trained + without + 1) + 1


# ---- what is trained -------------------------------------------------------------------------------------------------


def _chosen(predictors: Sequence[str] | None) -> tuple[Variant, ...]:
    """The variants asked for, in the order of the tables."""
    known = {v.name: v for v in VARIANTS}
    asked = list(known) if predictors is None else list(predictors)
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        got = repr(unknown[0]) if unknown else "none"
        raise InputError(
            "predictors", f"must be among {', '.join(known)}", f"got {got}", "leave it out for all", code="choice"
        )
    return tuple(v for v in VARIANTS if v.name in asked)


def _data_sets(preset: str, folder: Path | None) -> tuple[tuple[str, ...], list[str]]:
    """Names of the data sets that are there, and notes on the others; a smoke run asks no network."""
    if preset == "smoke" and folder is None:
        return ("digits",), ["mnist-10k is left out by the preset smoke where no folder is given"]
    return available_data_sets("cpu", None)


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
    cells = [
        replace(cell, function=FUNCTION, rests_on=(*cell.rests_on, cell.function.partition(":")[0]))
        for cell in cells_of(config)
    ]
    first = [cell for cell in cells if cell.method in WITHOUT_A_CLASS and cell.seed == seeds[0]]
    return cells + [
        replace(cell, condition={**cell.condition, LEFT_OUT: k}) for cell in first for k in range(CLASSES[preset])
    ]


def _with_more(cell: Cell) -> Cell:
    """The same with more epochs, or members where there are no epochs."""
    params, option = cell.params["params"], _effort_option(cell)
    return replace(cell, params={**cell.params, "params": {**params, option: EFFORT * params[option]}})


def _effort_option(cell: Cell) -> str:
    return "epochs" if "epochs" in cell.params["params"] else "n_members"


def _results(run: "_Run", cells: Sequence[Cell]) -> tuple[ByMethod, dict[str, dict[int, StoredResult]], Longer]:
    """What one data set gave: with all classes, without one, and with more effort where a method lagged."""
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
        """Train what is not there yet."""

        def progress(done: Any) -> None:
            self.say(f"trained {done.finished} of {done.total}" + (f": {done.cell}" * bool(done.cell)))

        summary = run_cells(cells, self.folder, workers=self.workers, retry_failed=True, progress=progress)
        self.failed |= summary.failed

    def there(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, StoredResult]]:
        """The cells that could be trained, with their results."""
        store = Store(self.folder)
        for cell in cells:
            if store.checked_metadata(cell.key) is not None:
                result = store.result(cell.key)
                self.seconds.append(result.metadata["facts"]["fit_seconds"])
                yield cell, result

    def effort(self) -> str:
        """How long the trainings took that were found since the last call."""
        words = f"all {len(self.seconds)} trainings together took {sum(self.seconds):,.0f} s of a core"
        self.seconds = []
        return words


def _check(preset: str, data: str | os.PathLike[str] | None, runs: int | None, seed: int, workers: int) -> Path | None:
    if preset not in RUNS:
        raise InputError(
            "preset",
            "methods has smoke and cpu",
            f"got {preset!r}",
            "the papers' own data are those of unified --preset paper",
            code="undefined",
        )
    for name, value, least in (("runs", 1 if runs is None else runs, 1), ("seed", seed, 0), ("workers", workers, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= MAX_SEED // 2:
            raise InputError(
                name,
                f"must be a whole number in {least} … {MAX_SEED // 2}",
                f"got {value!r}",
                "leave it out",
                code="type",
            )
    folder = None if data is None else Path(data).expanduser().absolute()
    if folder is not None and not folder.is_dir():
        raise InputError(
            "data",
            "must be a folder with the files of the data sets",
            f"got {folder}, which is none",
            "check the path",
            code="type",
        )
    return folder


@contextmanager
def _files_in(folder: Path | None) -> Iterator[None]:
    """Let the data sets be found in a folder, by this process and those that it starts."""
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
