"""The conditions of the three experiments: the rows and labels on which each condition trains and tests.

Every run has its own subsets and its own permuted rows. Within a run conditions are nested: the 5 % of the instances contain
the 1 %, and the 20 % of the rows with permuted labels contain the 10 %. The test instances are the same in all runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from uqassay.datasets.dataset import Dataset
from uqassay.datasets.splits import NOISE, STEPS, SUBSET, TRAINING, class_shares, run_stream
from uqassay.errors import InputError
from uqassay.wording import counted, listed

__all__ = ["CONVENTIONS", "Conditions", "TrainingSet", "training_sets"]

Labels = NDArray[np.int64]
Rows = NDArray[np.intp]

CONVENTIONS = ("exact", "paper-code")
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
LEVELS = {"exact": 11, "paper-code": 10}  # the paper prints 0, 10, …, 100 %; the authors' code has linspace(0, 1, 10)
LEAST = 3  # conditions: the correlation of two points is always 1 or −1
ROUNDING = 1e-9  # 100 / 0.05 must not become 1999


@final
@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The conditions of the three experiments.

    Parameters
    ----------
    shares : tuple of float in (0, 1]
        Shares of the training instances of each class, at least one instance of each; () leaves the experiment out.
    noise_levels : tuple of float in [0, 1], optional
        Shares of the rows whose labels are permuted; () leaves the experiment out. None means 0, .1, …, 1, with the
        convention "paper-code" ten levels from 0 to 1.
    left_out : "all" or tuple of int
        Classes left out of the training, one at a time; () leaves the experiment out, and so does "all" of two classes.
    epochs_by_share : bool
        Train ⌊epochs / share⌋ epochs on a share of the instances, so that the number of steps hardly changes.
    convention : {"exact", "paper-code"}
        "paper-code" takes the authors' ten noise levels, the first ⌊share · n_k⌋ instances of each class in the given order,
        the same in every run, and deletes the column of the class left out without renormalising.

    Raises
    ------
    InputError
        Values out of range or repeated, or one or two of them only.

    Examples
    --------
    >>> conditions = Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0), left_out=())
    >>> conditions.values(3)
    {'dataset-size': (0.1, 0.5, 1.0), 'label-noise': (0.0, 0.5, 1.0)}
    """

    shares: tuple[float, ...] = SHARES
    noise_levels: tuple[float, ...] | None = None
    left_out: str | tuple[int, ...] = "all"
    epochs_by_share: bool = True
    convention: str = "exact"

    def __post_init__(self) -> None:
        if self.convention not in CONVENTIONS:
            names = listed([f'"{name}"' for name in CONVENTIONS], last="or")
            raise InputError("convention", f"must be {names}", f"got {self.convention!r}", "choose one", code="choice")
        if not isinstance(self.epochs_by_share, (bool, np.bool_)):
            got = f"got {self.epochs_by_share!r}"
            raise InputError("epochs_by_share", "must be True or False", got, "choose one", code="type")
        object.__setattr__(self, "epochs_by_share", bool(self.epochs_by_share))
        if self.noise_levels is None:
            n_levels = LEVELS[self.convention]
            object.__setattr__(self, "noise_levels", tuple(float(v) for v in np.linspace(0, 1, n_levels).round(12)))
        object.__setattr__(self, "shares", _checked_shares("shares", self.shares, least_open=True))
        object.__setattr__(self, "noise_levels", _checked_shares("noise_levels", self.noise_levels))
        object.__setattr__(self, "left_out", _checked_classes(self.left_out))
        if not (self.shares or self.noise_levels or self.left_out):
            raise InputError(
                "shares", "must leave at least one experiment", "all three are empty", "give shares", code="empty"
            )

    def values(self, n_classes: int) -> dict[str, tuple[float, ...]]:
        """The values of each experiment that is not left out, by its name.

        Raises
        ------
        InputError
            A class left out that does not exist.
        """
        classes = self.left_out
        if classes == "all":  # one of two classes alone is nothing to learn from
            classes = tuple(range(n_classes)) if n_classes > 2 else ()
        for k in classes:
            if not 0 <= int(k) < n_classes:
                raise InputError(
                    "left_out", f"must hold classes 0 … {n_classes - 1}", f"got {k}", "see class_names", code="range"
                )
        found = {
            "dataset-size": self.shares,
            "label-noise": self.noise_levels or (),
            "left-out-class": tuple(float(k) for k in classes),
        }
        return {name: values for name, values in found.items() if values}

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """The conditions that `to_dict` gave."""
        given: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in fields.items()}
        return cls(**given)


@final
@dataclass(frozen=True, eq=False)
class TrainingSet:
    """One condition of one run.

    Attributes
    ----------
    experiment : str
    place : int
        Of the condition in its experiment.
    value : float
        Share, level, or class left out.
    rows : int array (n_train,)
        Training instances.
    y_train : int array (n_train,)
        Their labels.
    y_test : int array (n_test,)
        Labels of all test instances.
    share : float
        Of the training instances; epochs are divided by it.
    seed : numpy.random.SeedSequence
        Of the training, fixed by the run's seed, the experiment and the value alone.
    """

    experiment: str
    place: int
    value: float
    rows: Rows
    y_train: Labels
    y_test: Labels
    share: float
    seed: np.random.SeedSequence

    @property
    def left_out(self) -> int | None:
        """The class left out, if any."""
        return int(self.value) if self.experiment == "left-out-class" else None

    @property
    def name(self) -> str:
        """The condition for a reader."""
        return f"{self.experiment} {self.value:g}"

    def epochs(self, epochs: int) -> int:
        """Epochs for this share of the instances: ⌊epochs / share⌋."""
        return int(epochs / self.share + ROUNDING)


def training_sets(data: Dataset, conditions: Conditions, seed: int) -> Iterator[TrainingSet]:
    """The conditions of one run, experiment by experiment.

    Parameters
    ----------
    data : Dataset
    conditions : Conditions
    seed : int
        Of the run.

    Raises
    ------
    InputError
        A class without a training instance; a class left out that has no test instance, or that leaves one class only.
    """
    check_data(data, conditions)
    make = {"dataset-size": _smaller, "label-noise": _noisy, "left-out-class": _without_class}
    for experiment, values in conditions.values(data.n_classes).items():
        for place, value in enumerate(values):
            rows, y_train, y_test, share = make[experiment](data, conditions, seed, value)
            key = (list(make).index(experiment), round(value * STEPS))
            own = run_stream(seed, TRAINING, *key)
            yield TrainingSet(experiment, place, value, rows, y_train, y_test, share, own)


def check_data(data: Dataset, conditions: Conditions) -> None:
    """Refuse data on which a condition is not defined."""
    counts = np.bincount(data.y_train, minlength=data.n_classes)
    if not counts.all():
        k = int(np.flatnonzero(counts == 0)[0])
        raise InputError(
            "y",
            "every class needs at least one training instance, which the smallest share then holds",
            f"class {data.class_names[k]!r} has none in {counted(len(data.y_train), 'training instance')}",
            "add instances of it, or leave the class out of class_names",
            code="empty",
        )
    if not len(data.y_test):
        raise InputError(
            "X_test", "must hold test instances", "got none", "split the data or give a test part", code="empty"
        )
    classes = conditions.values(data.n_classes).get("left-out-class", ())
    if classes and data.n_classes < 3:
        raise InputError(
            "left_out",
            "needs at least three classes, so that the training still has two",
            f"got {data.n_classes}",
            "leave this experiment out by left_out=()",
            code="conflict",
        )
    in_test = np.bincount(data.y_test, minlength=data.n_classes)
    for k in map(int, classes):
        if in_test[k] in (0, len(data.y_test)):
            here = "no test instance" if in_test[k] == 0 else "all test instances"
            raise InputError(
                "left_out",
                "a class left out, and the others, need test instances that can be told apart",
                f"class {data.class_names[k]!r} has {here}",
                "leave only other classes out, or give another test part",
                code="empty",
            )


# -- the three experiments -----------------------------------------------------------------------------------------------

Changed = tuple[Rows, Labels, Labels, float]


def _smaller(data: Dataset, conditions: Conditions, seed: int, share: float) -> Changed:
    """A share of the training instances of every class; n_k = max(1, ⌊share · n_k⌋)."""
    y = data.y_train
    if conditions.convention == "paper-code":
        by_class = [np.flatnonzero(y == k) for k in range(data.n_classes)]
        rows = np.sort(np.concatenate([of_k[: max(1, int(share * len(of_k)))] for of_k in by_class]))
    else:
        rows = class_shares(y, data.n_classes, share, run_stream(seed, SUBSET))
    return rows, y[rows], data.y_test, share if conditions.epochs_by_share else 1.0


def _noisy(data: Dataset, conditions: Conditions, seed: int, level: float) -> Changed:
    """Labels of a share of the rows permuted among each other, in the training and the test part separately."""
    noisy = data.with_label_noise(level, rng=run_stream(seed, NOISE))
    return np.arange(len(data.y_train)), noisy.y_train, noisy.y_test, 1.0


def _without_class(data: Dataset, conditions: Conditions, seed: int, k: float) -> Changed:
    rows = np.flatnonzero(data.y_train != int(k))
    return rows, data.y_train[rows], data.y_test, 1.0


# -- checks --------------------------------------------------------------------------------------------------------------


def _checked_shares(name: str, values: Any, *, least_open: bool = False) -> tuple[float, ...]:
    """Numbers in [0, 1] or (0, 1], each once, none or at least three."""
    span = "(0, 1]" if least_open else "[0, 1]"
    given = tuple(values) if isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str) else (values,)
    for value in given:
        if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
            raise InputError(name, f"must hold numbers in {span}", f"got {value!r}", "for example 0.1", code="type")
        if not ((value > 0 if least_open else value >= 0) and value <= 1):
            raise InputError(name, f"must lie in {span}", f"got {value!r}", "1 is all of them", code="range")
    found = tuple(float(value) for value in given)
    if len(set(found)) < len(found):
        twice = next(value for value in found if found.count(value) > 1)
        raise InputError(name, "must hold each value once", f"got {twice:g} twice", "remove one", code="duplicate")
    if 0 < len(found) < LEAST:
        raise InputError(
            name,
            f"must hold at least {LEAST} conditions, because the correlation of two points is always 1 or -1",
            f"got {counted(len(found), 'condition')}",
            "add some, or give () to leave this experiment out",
            code="empty",
        )
    return found


def _checked_classes(left_out: Any) -> str | tuple[int, ...]:
    if isinstance(left_out, str):
        if left_out != "all":
            raise InputError(
                "left_out",
                'must be "all" or a tuple of classes',
                f"got {left_out!r}",
                "for example (0, 2)",
                code="choice",
            )
        return left_out
    classes = tuple(left_out) if isinstance(left_out, (Sequence, np.ndarray, range)) else (left_out,)
    for k in classes:
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
            raise InputError(
                "left_out", "must hold indices of classes", f"got {k!r}", "for example (0, 2)", code="type"
            )
    if len(set(classes)) < len(classes):
        twice = next(k for k in classes if classes.count(k) > 1)
        raise InputError("left_out", "must hold each class once", f"got {twice} twice", "remove one", code="duplicate")
    return tuple(int(k) for k in classes)
