"""The data of one run of the paper, divided into D_train, D_aug and D_test, and again inside D_train."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import as_array
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.datasets import (
    BallDivision,
    BallSplit,
    MergedBinary,
    cluster_grid,
    merged_binary,
    suggested_radius,
    thinned_test,
)
from uqassay.lab.datasets.dataset import SUBSET, run_stream
from uqassay.lab.papers.gain.plan import GainData, Regions, ToyPlan
from uqassay.notes import Note
from uqassay.predictions import Point
from uqassay.text import counted, listed

__all__ = [
    "GainTask",
    "RunDivision",
    "Trio",
    "World",
    "check_splitter",
    "content_of",
    "dense_balls",
    "divided_run",
    "known_label_probs",
    "make_world",
    "noted",
    "world_params",
]


# The divisions of one run: D_train, D_aug and D_test, and the same again inside D_train for the calibration.

Rows = NDArray[np.intp]

EVALUATION, CALIBRATION = range(2)  # streams of the random numbers of the two divisions
PARTS = ("train", "test", "augmented")


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GainTask:
    """What is divided and learnt."""

    X: NDArray[Any]  #: (n, …)
    y: NDArray[np.int64]  #: (n,): Class indices
    class_names: tuple[str, ...]  #: K names
    split: Any  #: With ``divide(X, random_state=int)``, which gives `train`, `test` and `augmented`, row numbers of X
    calibration: Any = None  #: The same for the division of D_train; None leaves the calibration out
    label_probs: NDArray[np.float64] | None = None  #: (n, K): P(y|x) where it is known

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.class_names)


@final
@dataclass(frozen=True, eq=False)
class Trio:
    """Row numbers of X."""

    #: `augmented` contains `train`, and `test` shares no row with either
    train: Rows
    test: Rows
    augmented: Rows
    notes: tuple[Note, ...] = ()  #: Of the splitter


@final
@dataclass(frozen=True, eq=False)
class RunDivision:
    """The divisions of one run."""

    seed: int
    evaluation: Trio  #: D_train, D_test, D_aug
    calibration: Trio | None  #: D_train2, D_test2, D_aug2, all inside D_train
    name: str  #: What errors call the run

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of instances by the paper's names."""
        named = {"D_train": "train", "D_aug": "augmented", "D_test": "test"}
        found = {name: len(getattr(self.evaluation, part)) for name, part in named.items()}
        if self.calibration is not None:
            found |= {f"{name}2": len(getattr(self.calibration, part)) for name, part in named.items()}
        return found

    @property
    def n_trainings(self) -> int:
        """Two for each trio."""
        return 2 if self.calibration is None else 4


def check_splitter(splitter: Any, parameter: str) -> None:
    """Refuse an object without ``divide(X, random_state=int)``."""
    if isinstance(splitter, type) or not callable(getattr(splitter, "divide", None)):
        got = f"the class {splitter.__name__}" if isinstance(splitter, type) else f"got {type(splitter).__name__}"
        fail(
            parameter, "must have divide(X, random_state=…)", got, "give uqassay.lab.datasets.BallSplit(…)", code="type"
        )
    try:
        signature = inspect.signature(splitter.divide)
    except ValueError:  # compiled code need not have one
        return
    try:
        signature.bind(None, random_state=0)
    except TypeError as problem:
        got = f"got {type(splitter).__name__}.divide{signature}"
        remedy = "give divide these two arguments, and others defaults"
        raise InputError(parameter, "must have divide(X, random_state=…)", got, remedy, code="type") from problem


def divided_run(
    task: GainTask, seed: int, *, losses: Sequence[str] = ("zero-one",), name: str | None = None
) -> RunDivision:
    """The divisions of one run, checked; nothing is trained.

    Parameters
    ----------
    seed : int
        Of the run.
    losses : sequence of str
        The log loss needs every class of D_test in D_train.
    name : str, optional
        What errors call the run, such as "run 1"; by default it is named by its seed.
    """
    n = len(task.X)
    name = f"the run of seed {seed}" if name is None else name
    evaluation = _trio(task.split, task.X, _stream(seed, EVALUATION), "split", name)
    _check(evaluation, n, "split", name)
    _check_classes(evaluation, task, losses, "split", name)
    if task.calibration is None:
        return RunDivision(seed, evaluation, None, name)
    where = f"D_train of {name}"
    inside = _trio(task.calibration, task.X[evaluation.train], _stream(seed, CALIBRATION), "calibration", where)
    _check(inside, len(evaluation.train), "calibration", where)
    rows = {part: evaluation.train[getattr(inside, part)] for part in PARTS}
    told = tuple(Note(note.code, f"inside D_train: {note.text}", note.facts) for note in inside.notes)
    calibration = Trio(**rows, notes=told)
    _check_classes(calibration, task, losses, "calibration", where)
    return RunDivision(seed, evaluation, calibration, name)


# -- helpers -------------------------------------------------------------------------------------------------------------


@contextmanager
def noted(note: str) -> Iterator[None]:
    """Exceptions of the user's own code, which can be of any class, carry this note; a traceback shows it."""
    try:
        yield
    except Exception as problem:
        problem.add_note(note)
        raise


def _stream(seed: int, which: int) -> int:
    return int(run_stream(seed, SUBSET, which).generate_state(1)[0])


def _trio(splitter: Any, X: NDArray[Any], seed: int, parameter: str, where: str) -> Trio:
    """The division of X, with row numbers in ascending order; errors of the splitter name the option and the run."""
    try:
        with noted(f"This was {type(splitter).__name__}.divide for {where}."):
            division = splitter.divide(X, random_state=seed)
    except InputError as problem:
        got = f"{problem.got}, in {where}" if problem.got else f"in {where}"
        raise problem.replace(parameter=f"{parameter}.{problem.parameter}", got=got) from problem
    parts = {part: _rows(getattr(division, part, None), part, parameter) for part in PARTS}
    return Trio(**parts, notes=tuple(getattr(division, "notes", ())))


def _rows(values: Any, part: str, parameter: str) -> Rows:
    rule = f"divide must give row numbers of {listed(PARTS)}"
    try:
        rows = as_array(() if values is None else values, parameter)
    except InputError as problem:
        raise problem.replace(rule=rule, got=f"{problem.got} for {part}", remedy="return such an object") from problem
    whole = rows.dtype.kind in "iu" or not rows.size
    if values is None or rows.ndim != 1 or not whole:
        got = "got none" if values is None else f"got shape {rows.shape} of {rows.dtype}"
        remedy = "take np.flatnonzero of it" if rows.dtype.kind == "b" else "return such an object"
        fail(parameter, rule, f"{got} for {part}", remedy, code="shape")
    return np.sort(rows.astype(np.intp))


def _check(trio: Trio, n: int, parameter: str, where: str) -> None:
    """Refuse empty parts, rows that X does not have, and rows in two parts."""
    for part in PARTS:
        rows = getattr(trio, part)
        if not len(rows):
            remedy = "choose other regions or shares"
            fail(parameter, f"must give {part} instances", f"got none in {where}", remedy, code="empty")
        if rows[0] < 0 or rows[-1] >= n or (np.diff(rows) == 0).any():
            got = f"got {part} rows from {rows[0]} to {rows[-1]} in {where}"
            fail(parameter, f"must give each of the rows 0 … {n - 1} at most once", got, "mend divide", code="range")
    shared = np.intersect1d(trio.test, np.union1d(trio.train, trio.augmented), assume_unique=True)
    if len(shared):
        got = f"{counted(len(shared), 'row')} in both in {where}"
        fail(parameter, "must keep test instances out of the training", got, "mend divide", code="conflict")
    missing = len(np.setdiff1d(trio.train, trio.augmented, assume_unique=True))
    extra = len(trio.augmented) - len(trio.train)
    if missing or extra <= 0:
        got = (
            f"{counted(missing, 'row')} of D_train {'is' if missing == 1 else 'are'} missing" if missing else "got none"
        )
        remedy = "choose smaller shares for the training and the test"
        fail(parameter, "D_aug must hold D_train and more instances", f"{got} in {where}", remedy, code="empty")


def _check_classes(trio: Trio, task: GainTask, losses: Sequence[str], parameter: str, where: str) -> None:
    """Refuse one class alone in D_train, and under the log loss a class of D_test that D_train lacks."""
    present = np.unique(task.y[trio.train])
    if len(present) < 2:
        rule = "must leave instances of at least two classes in D_train"
        got = f"only {task.class_names[present[0]]!r} in {where}"
        fail(parameter, rule, got, "choose greater shares for the training", code="empty")
    lacking = np.setdiff1d(task.y[trio.test], present)
    if "log" in losses and len(lacking):
        names = listed([repr(task.class_names[k]) for k in lacking], most=5)
        fail(
            parameter,
            "must leave instances of each class of D_test in D_train under the log loss, which the least probability "
            "would decide otherwise",
            f"D_train lacks {names} in {where}",
            "leave out the log loss, or choose greater shares for the training",
            code="empty",
        )


# Everything comes from plain values and a seed, so that a worker can make it again. Toy data are drawn anew in every
# run; real data stay the same, and every run has its own balls.

Array = NDArray[np.floating[Any]]


@final
@dataclass(frozen=True, eq=False)
class World:
    """Data and splits of one run."""

    #: (n, d), int array (n,)
    X: Array
    y: NDArray[np.int64]
    #: With ``divide(X, random_state=…)``
    split: Any
    calibration: Any
    truth: Callable[[Array], Array] | None  #: X (n, d) → P(y|x), (n, 2), where it is known
    facts: Mapping[str, Any]  #: Sizes and choices, as plain values


def world_params(plan: GainData, *, limit: int | None, spread: float | None = None, data: str = "") -> dict[str, Any]:
    """Plain values that `make_world` needs, for the key of a stored result."""
    if isinstance(plan.plan, ToyPlan):
        return {"kind": "toy", "size": limit, "spread": spread, **asdict(plan.plan)}
    regions = {**asdict(plan.plan), "train_shares": list(plan.plan.train_shares)}
    return {
        "kind": "images",
        "source": plan.source,
        "data": data,
        "balanced": plan.balanced,
        "limit": limit,
        "regions": regions,
    }


def make_world(params: Mapping[str, Any], seed: int) -> World:
    """The data and splits of a run.

    Parameters
    ----------
    params : dict
        Of `world_params`.
    """
    return _toy_world(params, seed) if params["kind"] == "toy" else _image_world(params)


# ---- toy data ----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Thinned:
    """A split whose test instances of low aleatoric uncertainty are removed in some of the discs (section 5.3.2)."""

    splitter: BallSplit
    label_probs: Callable[[Array], Array]  #: X (n, d) → P(y|x)

    def divide(self, X: Array, random_state: int | None = None, *, y: NDArray[np.int64] | None = None) -> BallDivision:
        """The division of the splitter with fewer test instances."""
        division = self.splitter.divide(X, random_state, y=y)
        aleatoric = 1.0 - self.label_probs(X).max(axis=1)
        return thinned_test(division, np.maximum(aleatoric, 0.0))  # rounding gives −2e-16


def _toy_world(params: Mapping[str, Any], seed: int) -> World:
    size = {} if params["size"] is None else {"n": params["size"]}
    toy = cluster_grid(spread=params["spread"], rng=np.random.SeedSequence([seed, 0]), **size)
    evaluation, calibration = ToyPlan(**{field.name: params[field.name] for field in fields(ToyPlan)}).discs(seed)
    split: Any = evaluation.splitter()
    if params["thinned"]:
        split = Thinned(split, toy.label_probs)
    facts = {"instances": len(toy.y), "spread": toy.spread, "bayes_error": float(toy.aleatoric.mean())}
    return World(toy.X, toy.y, split, calibration.splitter(), toy.label_probs, facts)


# ---- images ------------------------------------------------------------------------------------------------------------


def _image_world(params: Mapping[str, Any]) -> World:
    data = _loaded(params["source"], params["data"], params["balanced"])
    X, y = data.X, data.y
    if params["limit"] is not None and len(y) > params["limit"]:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[: params["limit"]])
        X, y = X[rows], y[rows]
    regions = Regions(**{**params["regions"], "train_shares": tuple(params["regions"]["train_shares"])})
    neighbours = regions.neighbours(len(y))
    radius = suggested_radius(X, neighbours, quantile=regions.dense_share)
    facts = {
        "instances": len(y),
        "share_of_class_1": float(y.mean()),
        "radius": radius,
        "neighbours": neighbours,
        "data": data.note,
        "content_hash": data.content_hash,
    }
    split = dense_balls(regions, radius, regions.least(len(y)))
    return World(X, y, split, split, None, facts)


def dense_balls(regions: Regions, radius: float, least: int) -> BallSplit:
    """The split of real data into balls of a radius about dense regions; the calibration takes the same one inside D_train."""
    turns = -(-regions.n_balls // len(regions.train_shares))
    return BallSplit(
        radius,
        centres="dense",
        n_balls=regions.n_balls,
        train_share=(regions.train_shares * turns)[: regions.n_balls],
        test_share=regions.test_share,
        min_neighbours=least,
    )


def content_of(params: Mapping[str, Any]) -> str:
    """Digest of the images of `world_params`; "" for toy data, which a seed makes."""
    if params["kind"] == "toy":
        return ""
    return _loaded(params["source"], params["data"], params["balanced"]).content_hash


@lru_cache(maxsize=1)
def _loaded(source: str, data: str, balanced: bool) -> MergedBinary:
    return merged_binary(source, data=data or None, balanced=balanced)


# Label probabilities that the user knows.


def known_label_probs(truth: Any, X: NDArray[Any], n_classes: int) -> NDArray[np.float64] | None:
    """P(y|x) of every row of X, ``(n, K)``, from a function or an array; None stays None.

    Examples
    --------
    >>> known_label_probs(lambda X: np.full((len(X), 2), 0.5), np.zeros((1, 3)), 2).tolist()
    [[0.5, 0.5]]
    """
    if truth is None:
        return None
    given = truth(X) if callable(truth) else truth
    try:
        probs = Point(given).probs
    except InputError as problem:
        raise problem.replace(parameter="truth") from problem
    if probs.shape != (len(X), n_classes):
        rule = f"must give a probability for each of {n_classes} classes and each row of X"
        remedy = "give P(y|x) as (n, K), with the classes in sorted order"
        fail("truth", rule, f"got shape {probs.shape} for {len(X)} rows", remedy, code="shape")
    return np.asarray(probs, dtype=np.float64)
