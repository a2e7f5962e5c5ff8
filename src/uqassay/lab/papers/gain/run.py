"""The epistemic gain trained here: the models of one run, runs as cells of a benchmark, and the protocol."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import different, fail, one_of
from uqassay.errors import InputError
from uqassay.evidence import GAIN_SCORES, GainRun, GainSample, GainStudy, default_gain_scores
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.store import StoredResult, older_notes
from uqassay.lab.datasets.dataset import TRAINING, run_stream
from uqassay.lab.methods.registry import build_method
from uqassay.lab.papers.estimators import unfitted_copy
from uqassay.lab.papers.figure_files import check_figures
from uqassay.lab.papers.gain.plan import (
    PRESETS,
    AskedGain,
    GainData,
    GainMethod,
    GainSlice,
    choice_notes,
    chosen,
    method_options,
)
from uqassay.lab.papers.gain.printed import LAYOUTS, SOURCE
from uqassay.lab.papers.gain.tables import (
    GainRow,
    finding_lines,
    gain_cells,
    mismatch_lines,
    run_notes,
    size_line,
    table_lines,
    truth_lines,
)
from uqassay.lab.papers.gain.worlds import (
    GainTask,
    RunDivision,
    Trio,
    World,
    content_of,
    divided_run,
    make_world,
    noted,
    world_params,
)
from uqassay.lab.papers.options import (
    Figures,
    FirstSeed,
    NamedOptions,
    OwnMethod,
    Progress,
    check_whole,
    named_options,
    taken_by,
)
from uqassay.lab.papers.reproduction import NO_EVIDENCE, Reproduction
from uqassay.lab.papers.trainings import all_failed, failure_notes, folder_of, record_of, train_cells, trained_cells
from uqassay.measures import SCORES, score_columns
from uqassay.metrics import GAIN_LOSSES, gain, true_uncertainty
from uqassay.notes import Note, distinct
from uqassay.predictions import Point, Prediction, as_prediction
from uqassay.text import counted, listed, number

__all__ = [
    "FUNCTION",
    "PRESETS",
    "Estimates",
    "checked_losses",
    "chosen_estimates",
    "measured_run",
    "packed_run",
    "planned",
    "reproduce_epistemic_gain",
    "run_world",
    "slice_of",
    "steps_of_epistemic_gain",
    "study_of",
    "world_cells",
]

# Estimates of epistemic uncertainty that a study compares with the gain: scores by name, and functions of a prediction.

Compute = Callable[[Prediction], Any]
Range = tuple[float, float]

KNOWN = (*GAIN_SCORES, *SCORES)


@final
@dataclass(frozen=True, eq=False)
class Estimates:
    """The chosen estimates; call it with a prediction."""

    #: "mutual-information", "entropy", names of `uqassay.measures.SCORES`, or functions prediction → (n,). None takes the
    #: first two as far as the prediction offers them.
    chosen: Mapping[str, str | Compute] | None = None
    #: By name: Stated least and greatest value of an estimate
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def __call__(self, prediction: Prediction, where: str) -> dict[str, Floats]:
        """Estimates of every instance by name, ``(n,)`` each; entropies in nats.

        Parameters
        ----------
        where : str
            Estimator and run, for errors.
        """
        named = {name: name for name in default_gain_scores(prediction)} if self.chosen is None else self.chosen
        chosen: dict[str, Any] = {
            name: GAIN_SCORES.get(one, one) if isinstance(one, str) else one for name, one in named.items()
        }
        names = [one for one in chosen.values() if isinstance(one, str)]
        for one in names:
            if not SCORES[one].offered_by(prediction):
                got = f"got {type(prediction).__name__} from {where}"
                remedy = "leave it out, or use an estimator that offers it"
                fail("scores", f"{one} needs {SCORES[one].needs}", got, remedy, code="no-distribution")
        columns = score_columns(prediction, names)
        found = {}
        for name, one in chosen.items():
            values = columns[one] if isinstance(one, str) else one(prediction)
            found[name] = self._checked(name, values, prediction.n_instances, where)
        return found

    def _checked(self, name: str, values: Any, n: int, where: str) -> Floats:
        parameter = f"scores[{name!r}]"
        array = np.asarray(values)
        if array.shape != (n,) or array.dtype.kind not in "fiu":
            got = f"got shape {array.shape} of {array.dtype} from {where}"
            fail(parameter, f"must give {n} numbers, one for each instance", got, "mend the function", code="shape")
        array = array.astype(np.float64)
        low, high = self.ranges.get(name, (-np.inf, np.inf))
        rules = [("finite", ~np.isfinite(array), "must be finite")]
        if np.isfinite([low, high]).any():
            outside = (array < low) | (array > high)
            rules.append(("range", outside, f"must lie between {number(low)} and {number(high)}, as stated"))
        for code, wrong, rule in rules:
            if wrong.any():
                at = int(np.flatnonzero(wrong)[0])
                got = f"row {at} of the test instances is {array[at]:g}, from {where}"
                fail(parameter, rule, got, "mend the estimate or the stated range", code=code)
        return array


def chosen_estimates(scores: NamedOptions) -> Estimates:
    """The estimates of the option `scores`.

    Parameters
    ----------
    scores : str, callable, several, dict or None
        Names and functions; a value of a dict may be a pair of one of these and its range (low, high).

    Examples
    --------
    >>> chosen_estimates({"mine": (len, (0, 1))}).ranges
    {'mine': (0.0, 1.0)}
    """
    ranges: dict[str, Range] = {}
    if isinstance(scores, Mapping):
        ranges = {name: _range(name, one[1]) for name, one in scores.items() if _is_pair(one)}
        scores = {name: one[0] if _is_pair(one) else one for name, one in scores.items()}
    return Estimates(named_options(scores, "scores", KNOWN), ranges)


def _is_pair(one: Any) -> bool:
    return isinstance(one, (tuple, list)) and len(one) == 2


def _range(name: str, given: Any) -> Range:
    """Least and greatest value; infinite ones are allowed."""
    kinds = (int, float, np.integer, np.floating)
    pair = list(given) if isinstance(given, (tuple, list)) else []
    if len(pair) != 2 or not all(isinstance(end, kinds) for end in pair) or not pair[0] < pair[1]:
        rule = "a range must be a pair (low, high) with low < high"
        remedy = f"for example {listed(['(0, 1)', '(0, math.inf)'], last='or')}"
        fail(f"scores[{name!r}]", rule, f"got {given!r}", remedy, code="range")
    return float(pair[0]), float(pair[1])


# Train the models of one run and keep the gains and the estimates of its test and of its calibration instances.
#
# A run has one seed of the learner, so that the models before and after more data differ by their data alone.

PREDICT = ("predict_uncertainty", "predict_proba")


@final
@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """One run, with the mean probabilities from which its gains were computed."""

    run: GainRun
    labels: NDArray[np.int64]  #: (n,): Of the test instances, then of the calibration instances
    #: (n, K): Mean probabilities without and with more data, in this order
    before: Floats
    after: Floats
    rows: NDArray[np.intp]  #: (n,): Rows of X


def measured_run(
    estimator: Any,
    task: GainTask,
    division: RunDivision,
    *,
    estimates: Estimates,
    losses: Sequence[str],
    step: Callable[[], None] = lambda: None,
) -> MeasuredRun:
    """Train the two or four models of one run.

    Parameters
    ----------
    estimator : object
        An unfitted template; it is copied and stays as it is.
    estimates : Estimates
        Computed from the predictions of the model without more data.
    step : callable
        Called after each training.
    """
    learner = _Learner(estimator, task, division, step)
    evaluation = _Measured.of(learner, division.evaluation, "D_train", "D_aug", estimates, losses)
    parts, notes = [evaluation], [division.evaluation.notes]
    if division.calibration is not None:
        parts.append(_Measured.of(learner, division.calibration, "D_train2", "D_aug2", estimates, losses))
        notes.append(division.calibration.notes)
    run = GainRun(
        division.seed,
        evaluation.sample,
        parts[1].sample if len(parts) > 1 else None,
        division.sizes,
        distinct(*notes, learner.notes()),
    )
    rows = np.concatenate([part.rows for part in parts])
    before, after = (np.concatenate([getattr(part, name) for part in parts]) for name in ("before", "after"))
    return MeasuredRun(run, task.y[rows], before, after, rows)


def checked_losses(losses: Any) -> tuple[str, ...]:
    """Names of losses, one or several."""
    given = (losses,) if isinstance(losses, str) else tuple(losses) if isinstance(losses, Sequence) else (losses,)
    for name in given:
        one_of(name, "losses", GAIN_LOSSES, "choose one or several")
    different(given, "losses", "must be different", "remove one")
    if not given:
        fail("losses", "must hold at least one", "got none", 'give ("zero-one",)', code="empty")
    return given


# -- one learner, several data sets ---------------------------------------------------------------------------------------


@final
class _Learner:
    """The estimator with the seed of a run: the same training data give the same model."""

    def __init__(self, estimator: Any, task: GainTask, division: RunDivision, step: Callable[[], None]) -> None:
        self.estimator, self.task, self.step = estimator, task, step
        self.seed, self.run = division.seed, division.name
        self.padded: dict[str, list[str]] = {}  # names of the absent classes by the name of the training data

    def said(self, train: NDArray[np.intp], test: NDArray[np.intp], name: str) -> tuple[Prediction, Floats]:
        """What a model trained on some rows predicts for others, and its mean probabilities with a column for each class."""
        options = {
            "random_state": int(run_stream(self.seed, TRAINING).generate_state(1)[0]),
            "classes": tuple(range(self.task.n_classes)),
            "progress": False,
        }
        model = unfitted_copy(self.estimator, options)
        with noted(f"This was {self.where(name)}."):
            fitted = model.fit(self.task.X[train], self.task.y[train])
            if any(callable(getattr(fitted, method, None)) for method in PREDICT):  # not so the history of a network
                model = fitted
            predict = getattr(model, PREDICT[0], None) or getattr(model, PREDICT[1])
            said = predict(self.task.X[test])
        self.step()
        return self._checked(said, np.unique(self.task.y[train]), len(test), name)

    def where(self, name: str) -> str:
        """Model and run, for errors."""
        return f"{type(self.estimator).__name__} trained on {name} in {self.run}"

    def notes(self) -> tuple[Note, ...]:
        """A note where predictions had no column for a class."""
        return tuple(
            Note(
                "left-out",
                f"predictions had no column for {counted(len(absent), 'class', 'classes')} without instances in {name} "
                f"({listed(absent, most=5)}), which then {'has' if len(absent) == 1 else 'have'} probability 0",
                {"classes": len(absent), "training": name},
            )
            for name, absent in self.padded.items()
        )

    def _checked(self, said: Any, present: NDArray[np.int64], n: int, name: str) -> tuple[Prediction, Floats]:
        try:
            prediction = as_prediction(said)
        except InputError as problem:
            got = f"{problem.got}, from {self.where(name)}" if problem.got else f"from {self.where(name)}"
            raise problem.replace(parameter="estimator", got=got) from problem
        k = self.task.n_classes
        if prediction.n_instances != n or prediction.n_classes not in (k, len(present)):
            columns = f"{k} classes" if len(present) == k else f"{k} classes, or the {len(present)} in {name}"
            fail(
                "estimator",
                f"must predict {counted(n, 'instance')} and {columns}",
                f"{prediction.n_instances} and {prediction.n_classes}, from {self.where(name)}",
                "give one row for each row of X, and one column for each class",
                code="shape",
            )
        probs = np.zeros((n, k))
        if prediction.n_classes < k:
            absent = np.setdiff1d(np.arange(k), present)
            self.padded[name] = [self.task.class_names[c] for c in absent]
            probs[:, present] = prediction.mean_probs()
        else:
            probs[:] = prediction.mean_probs()
        probs /= probs.sum(axis=1, keepdims=True)  # rows of single precision sum to 1 with a greater tolerance
        return prediction, probs


@final
@dataclass(frozen=True, eq=False)
class _Measured:
    """The sample of one trio, with its probabilities."""

    sample: GainSample
    before: Floats
    after: Floats
    rows: NDArray[np.intp]

    @classmethod
    def of(
        cls, learner: _Learner, trio: Trio, less: str, more: str, estimates: Estimates, losses: Sequence[str]
    ) -> "_Measured":
        task, y = learner.task, learner.task.y[trio.test]
        prediction, before = learner.said(trio.train, trio.test, less)
        with noted(f"This was an estimate of {learner.where(less)}."):
            epistemic = estimates(prediction, learner.where(less))
        del prediction  # all members of all instances
        after = learner.said(trio.augmented, trio.test, more)[1]
        chosen = before.argmax(axis=1), after.argmax(axis=1)
        gains = {
            loss: gain(y, *(chosen if loss == "zero-one" else (Point(before), Point(after))), loss=loss)  # type: ignore[arg-type]
            for loss in losses
        }
        truth = None
        if task.label_probs is not None:
            truth = true_uncertainty(task.label_probs[trio.test], chosen[0])
        sample = GainSample(gains, epistemic, chosen[0] == y, chosen[1] == y, truth)
        return cls(sample, before, after, trio.test)


# Runs of a study as results of cells, and the way back.


def packed_run(measured: MeasuredRun, facts: Mapping[str, Any]) -> CellResult:
    """One run as the result of a cell: its record, and the predictions without more data.

    Parameters
    ----------
    facts : dict
        Plain values; `study_of` needs ``method`` and ``dataset``.
    """
    return CellResult(Point(measured.before), measured.labels, facts=facts, record=measured.run)


def study_of(
    results: Sequence[CellResult | StoredResult], *, method: str | None = None, dataset: str | None = None
) -> GainStudy:
    """The study of the runs of one method on one data set, from the results of their cells.

    Parameters
    ----------
    method, dataset : str, optional
        Names for the reader, by default those of the results.
    """
    results = list(results)
    if not results:
        fail("results", "must hold at least one run", "got none", "run one first", code="empty")
    facts = _facts(results[0])
    return GainStudy(
        facts["method"] if method is None else method,
        facts["dataset"] if dataset is None else dataset,
        tuple(record_of(result, GainRun) for result in results),
        facts.get("study", {}),
    )


# -- helpers -------------------------------------------------------------------------------------------------------------


def _facts(result: CellResult | StoredResult) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = result.facts if isinstance(result, CellResult) else result.metadata["facts"]
    return facts


# Runs of the reproduction as cells of a benchmark: one method on one data set with one seed.

FUNCTION = "uqassay.lab.papers.gain.run:run_world"
ROOM = "uqassay.lab.papers.gain"
DATA = ("ball_split", "dataset", "discs", "merged")
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
        A name of `uqassay.lab.methods.METHODS`.
    world : dict
        Of `uqassay.lab.papers.gain.worlds.world_params`.
    options : dict
        Of the method.
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
        )
        for seed in seeds
    ]


def run_world(cell: Cell) -> CellResult:
    """Train the four models of one run; `uqassay.lab.papers.gain.run.study_of` reads the results of several."""
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


# From the options of the reproduction of the paper to its runs, and from their results to the rows of its tables.


@final
@dataclass(frozen=True, kw_only=True)
class Planned:
    """A method on a data set before its runs."""

    plan: GainData
    method: GainMethod
    slice_: GainSlice
    spread: float | None  #: Of the toy data
    data: str  #: File with the images
    seeds: tuple[int, ...]

    @property
    def label(self) -> str:
        """Data set for the reader."""
        name = self.plan.name if self.spread is None else f"{self.plan.name} {self.spread:g}"
        return name if self.plan.train_share is None else f"{name}, p = {self.plan.train_share}"

    @property
    def cells(self) -> list[Cell]:
        """One for each run."""
        world = world_params(self.plan, limit=self.slice_.limit, spread=self.spread, data=self.data)
        options = method_options(self.method, self.plan, self.slice_)
        return world_cells(
            self.label,
            self.method.of or self.method.name,
            world=world,
            options=options,
            seeds=self.seeds,
            content_hash=content_of(world),
        )

    def row(self, folder: Path) -> GainRow | None:
        """The row of the tables with the runs that have a result; None if there are none."""
        results = [kept for _, kept in trained_cells(self.cells, folder)]
        if not results:
            return None
        return GainRow(
            plan=self.plan,
            method=self.method,
            study=study_of(results, method=self.method.label, dataset=self.label),
            spread=self.spread,
            compared=self.slice_.as_printed and self.method.in_paper,
        )


def slice_of(plan: GainData, preset: str, runs: int | None) -> GainSlice:
    """How much is run of a data set."""
    slice_ = plan.slices[preset]
    return slice_ if runs is None else replace(slice_, runs=runs)


def planned(asked: AskedGain, runs: int | None, seed: int) -> list[Planned]:
    """Every method on every data set, toy data at every spread.

    Parameters
    ----------
    runs : int or None
        In place of the preset's.
    seed : int
        Of the first run; the next ones count up from it.
    """
    found = []
    for plan in asked.plans:
        slice_ = slice_of(plan, asked.preset, runs)
        spreads: Sequence[float | None] = asked.spreads if plan.is_toy else (None,)
        found += [
            Planned(
                plan=plan,
                method=method,
                slice_=slice_,
                spread=spread,
                data=asked.data if plan.needs_data else "",
                seeds=tuple(range(seed, seed + slice_.runs)),
            )
            for spread in spreads
            for method in asked.methods_of(slice_)
        ]
    return found


# The experiments of the paper: Tables 1 and 2, Figures 1 to 4, and the two studies of a mismatch of the calibration.
#
# A classifier is trained without most of the data of some regions, and with them. The gain in accuracy on the test
# instances of these regions is held against the epistemic uncertainty that the first classifier states.


PAPER_SAYS = {
    "toy-mismatch-1": 'the paper: "the results do not change dramatically; both EU estimators still perform relatively well"',
    "toy-mismatch-2": "the paper: the performance of the entropy decreases, and the mutual information is comparatively better",
}


def reproduce_epistemic_gain(
    *,
    preset: Annotated[
        str,
        'How many instances, runs and inducing points. "smoke" only checks that the code runs; "paper" is as printed.',
    ] = "cpu",
    dataset: Annotated[
        str | Sequence[str] | None,
        '"toy" (by default), "toy-mismatch-1", "toy-mismatch-2", "digits", "mnist-10k", "emnist-bymerge", "emnist-'
        'bymerge-balanced", "emnist-balanced", "kuzushiji-49". A mismatch study also runs "toy", for the comparison.',
    ] = None,
    method: Annotated[
        str | Sequence[str] | None,
        '"local-gp", "local-gp-learnt", "sparse-gp", "random-forest", "deep-ensemble"; by default those of the preset. '
        f"{OwnMethod}",
    ] = None,
    spread: Annotated[
        float | Sequence[float] | None,
        "Standard deviation of the clusters of the toy data; by default .35 and .25. The paper prints 1, which "
        "contradicts its figure.",
    ] = None,
    train_share: Annotated[
        float | str | Sequence[float | str] | None,
        'p, the share of the instances of every disc of the toy data that stays in the training set, in [0, .7); "random" '
        "draws one for each disc, uniformly from 0 to .5. By default the discs have different shares, from .01 to .5. The "
        "paper prints none.",
    ] = None,
    data: Annotated[str | os.PathLike[str] | None, "The .npz file with the images of EMNIST ByMerge."] = None,
    runs: Annotated[int | None, "Number of runs, instead of the preset's."] = None,
    seed: FirstSeed = 0,
    workers: Annotated[int, "Number of processes."] = 1,
    resume: Annotated[
        str | os.PathLike[str] | None,
        "Folder for the results of the runs; those that are there are not run again.",
    ] = None,
    figures: Figures = None,
    progress: Progress = None,
) -> Reproduction:
    """Run the protocol of the paper and compare with its tables.

    Returns
    -------
    Reproduction
        The rows of `tables.gain_cells`. Printed values are compared only where data and classifier are the paper's.

    Raises
    ------
    InputError
        An unknown name, an option out of range, missing data, or no run that could be finished.
    MissingDependencyError
        scikit-learn is missing; PyTorch or GPyTorch, for methods that need them; with several workers, Dask; for figures,
        matplotlib.

    Notes
    -----
    A script that starts several workers needs the guard ``if __name__ == "__main__":``.

    Examples
    --------
    >>> result = reproduce_epistemic_gain(preset="smoke", spread=0.35, runs=1)
    >>> result.rows[0].name, result.rows[0].paper, result.rows[0].agrees
    ('table1/toy/spread=0.35/local-gp/mutual-information/correlation', 0.108, None)
    """
    asked = chosen(preset=preset, dataset=dataset, method=method, spread=spread, data=data, train_share=train_share)
    check_whole(1, runs=runs, workers=workers)
    check_whole(0, seed=seed)
    check_figures(figures)
    say = progress or (lambda step: None)
    plans = planned(asked, runs, seed)
    cells = [cell for one in plans for cell in one.cells]
    notes = [plan.words(preset, slice_of(plan, preset, runs)) for plan in asked.plans]
    notes += choice_notes(asked)
    with folder_of(resume) as folder:
        failed = train_cells(cells, folder, workers=workers, say=say)
        notes += [*failure_notes(failed), *older_notes(cells, folder)]
        rows = [row for one in plans if (row := one.row(folder)) is not None]
    if not rows:
        raise all_failed("method", failed)
    say("judging")
    notes += run_notes(rows)
    if preset == "smoke":
        notes.append(NO_EVIDENCE)
    reading = _reading(rows)
    if figures is not None:
        from uqassay.lab.papers.gain.figures import write_gain_figures

        say("figures")
        written = write_gain_figures(figures, rows, seed=seed)
        reading += ["", *(f"figure: {path}" for path in written)]
    return Reproduction(
        "epistemic-gain", SOURCE, tuple(gain_cells(rows)), tuple(notes), tuple(reading), layouts=LAYOUTS
    )


def steps_of_epistemic_gain(*, runs: int | None = None, figures: object = None, **options: Any) -> int:
    """Number of calls of ``progress`` with these options of `reproduce_epistemic_gain`."""
    check_whole(1, runs=runs)
    plans = planned(chosen(**taken_by(chosen, options)), runs, 0)
    return sum(len(one.seeds) for one in plans) + 2 + (figures is not None)


# ---- text --------------------------------------------------------------------------------------------------------------


def _reading(rows: Sequence[GainRow]) -> list[str]:
    """The tables of each data set with what is known and found, and what each mismatch changes."""
    lines: list[str] = []
    for label in dict.fromkeys(row.label for row in rows):
        here = [row for row in rows if row.label == label]
        truth = truth_lines(here)
        lines += ["", size_line(here[0]), "", *table_lines(here)]
        lines += ["", *truth] if truth else []
        for row in here:
            found = finding_lines(row)
            lines += ["", f"{row.method.label}:", *found] if found else []
            lines += _mismatch(row, rows)
    return lines[1:]


def _mismatch(row: GainRow, rows: Sequence[GainRow]) -> list[str]:
    """What the mismatch changes against the same method and spread without it."""
    for other in rows:
        same = _setting(other) == _setting(row)
        if row.plan.reference and same and other.plan.name == row.plan.reference:
            found = mismatch_lines(row, other)
            if found:
                return [
                    f"  compared with {other.label}; {PAPER_SAYS[row.plan.name]}:",
                    *(f"  {line}" for line in found),
                ]
    return []


def _setting(row: GainRow) -> tuple[object, ...]:
    return row.method.name, row.spread, row.plan.train_share
