"""The divisions of one run: D_train, D_aug and D_test, and the same again inside D_train for the calibration."""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_array
from uqassay.datasets.splits import SUBSET, run_stream
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.wording import counted, listed

__all__ = ["GainTask", "RunDivision", "Trio", "check_splitter", "divided_run", "noted"]

Rows = NDArray[np.intp]

EVALUATION, CALIBRATION = range(2)  # streams of the random numbers of the two divisions
PARTS = ("train", "test", "augmented")


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GainTask:
    """What is divided and learnt.

    Attributes
    ----------
    X : array (n, …)
    y : int array (n,)
        Class indices.
    class_names : tuple of K str
    split : object
        With ``divide(X, random_state=int)``, which gives `train`, `test` and `augmented`, row numbers of X.
    calibration : object, optional
        The same for the division of D_train; None leaves the calibration out.
    label_probs : array (n, K), optional
        P(y|x) where it is known.
    """

    X: NDArray[Any]
    y: NDArray[np.int64]
    class_names: tuple[str, ...]
    split: Any
    calibration: Any = None
    label_probs: NDArray[np.float64] | None = None

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.class_names)


@final
@dataclass(frozen=True, eq=False)
class Trio:
    """Row numbers of X.

    Attributes
    ----------
    train, test, augmented : int array
        `augmented` contains `train`, and `test` shares no row with either.
    notes : tuple of Note
        Of the splitter.
    """

    train: Rows
    test: Rows
    augmented: Rows
    notes: tuple[Note, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class RunDivision:
    """The divisions of one run.

    Attributes
    ----------
    seed : int
    evaluation : Trio
        D_train, D_test, D_aug.
    calibration : Trio or None
        D_train2, D_test2, D_aug2, all inside D_train.
    name : str
        What errors call the run.
    """

    seed: int
    evaluation: Trio
    calibration: Trio | None
    name: str

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
        raise InputError(
            parameter,
            "must have divide(X, random_state=…)",
            got,
            "give uqassay.datasets.BallSplit(…)",
            code="type",
        )
    try:
        signature = inspect.signature(splitter.divide)
    except ValueError:  # compiled code need not have one
        return
    try:
        signature.bind(None, random_state=0)
    except TypeError as problem:
        raise InputError(
            parameter,
            "must have divide(X, random_state=…)",
            f"got {type(splitter).__name__}.divide{signature}",
            "give divide these two arguments, and others defaults",
            code="type",
        ) from problem


def divided_run(
    task: GainTask, seed: int, *, losses: Sequence[str] = ("zero-one",), name: str | None = None
) -> RunDivision:
    """The divisions of one run, checked; nothing is trained.

    Parameters
    ----------
    task : GainTask
    seed : int
        Of the run.
    losses : sequence of str
        The log loss needs every class of D_test in D_train.
    name : str, optional
        What errors call the run, such as "run 1"; by default it is named by its seed.

    Raises
    ------
    InputError
        A part that is empty, rows that are in two parts, or classes without training instances.
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
        raise InputError(parameter, rule, f"{got} for {part}", remedy, code="shape")
    return np.sort(rows.astype(np.intp))


def _check(trio: Trio, n: int, parameter: str, where: str) -> None:
    """Refuse empty parts, rows that X does not have, and rows in two parts."""
    for part in PARTS:
        rows = getattr(trio, part)
        if not len(rows):
            raise InputError(
                parameter,
                f"must give {part} instances",
                f"got none in {where}",
                "choose other regions or shares",
                code="empty",
            )
        if rows[0] < 0 or rows[-1] >= n or (np.diff(rows) == 0).any():
            raise InputError(
                parameter,
                f"must give each of the rows 0 … {n - 1} at most once",
                f"got {part} rows from {rows[0]} to {rows[-1]} in {where}",
                "mend divide",
                code="range",
            )
    shared = np.intersect1d(trio.test, np.union1d(trio.train, trio.augmented), assume_unique=True)
    if len(shared):
        raise InputError(
            parameter,
            "must keep test instances out of the training",
            f"{counted(len(shared), 'row')} in both in {where}",
            "mend divide",
            code="conflict",
        )
    missing = len(np.setdiff1d(trio.train, trio.augmented, assume_unique=True))
    extra = len(trio.augmented) - len(trio.train)
    if missing or extra <= 0:
        got = (
            f"{counted(missing, 'row')} of D_train {'is' if missing == 1 else 'are'} missing" if missing else "got none"
        )
        raise InputError(
            parameter,
            "D_aug must hold D_train and more instances",
            f"{got} in {where}",
            "choose smaller shares for the training and the test",
            code="empty",
        )


def _check_classes(trio: Trio, task: GainTask, losses: Sequence[str], parameter: str, where: str) -> None:
    """Refuse one class alone in D_train, and under the log loss a class of D_test that D_train lacks."""
    present = np.unique(task.y[trio.train])
    if len(present) < 2:
        raise InputError(
            parameter,
            "must leave instances of at least two classes in D_train",
            f"only {task.class_names[present[0]]!r} in {where}",
            "choose greater shares for the training",
            code="empty",
        )
    lacking = np.setdiff1d(task.y[trio.test], present)
    if "log" in losses and len(lacking):
        names = listed([repr(task.class_names[k]) for k in lacking], most=5)
        raise InputError(
            parameter,
            "must leave instances of each class of D_test in D_train under the log loss, which the least probability "
            "would decide otherwise",
            f"D_train lacks {names} in {where}",
            "leave out the log loss, or choose greater shares for the training",
            code="empty",
        )
