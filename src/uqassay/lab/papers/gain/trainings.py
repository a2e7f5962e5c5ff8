"""The models of one run of the paper: their estimates and gains, as cells of a benchmark."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import different, fail, one_of
from uqassay.errors import InputError
from uqassay.evidence import GAIN_SCORES, GainRun, GainSample, GainStudy, default_gain_scores
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.store import StoredResult
from uqassay.lab.datasets.dataset import TRAINING, run_stream
from uqassay.lab.methods.registry import build_method
from uqassay.lab.papers.gain.worlds import GainTask, RunDivision, Trio, World, divided_run, make_world, noted
from uqassay.lab.papers.identity import unfitted_copy
from uqassay.lab.papers.options import NamedOptions, named_options
from uqassay.lab.papers.trainings import record_of
from uqassay.measures import SCORES, score_columns
from uqassay.metrics import GAIN_LOSSES, gain, true_uncertainty
from uqassay.notes import Note, distinct
from uqassay.predictions import Point, Prediction, as_prediction
from uqassay.text import counted, listed, number

__all__ = [
    "FUNCTION",
    "Estimates",
    "checked_losses",
    "chosen_estimates",
    "measured_run",
    "packed_run",
    "run_world",
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

FUNCTION = "uqassay.lab.papers.gain.trainings:run_world"
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
    """Train the four models of one run; `uqassay.lab.papers.gain.trainings.study_of` reads the results of several."""
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
