"""ClassSets: the classes that a model considers possible, per instance, such as the sets of conformal prediction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_numeric, check_class_count, row_chunks, shown
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.base import Array, Prediction
from uqassay.predictions.box import Box
from uqassay.predictions.intervals import Intervals
from uqassay.predictions.labels import class_indices
from uqassay.predictions.metadata import checked_class_names

__all__ = ["NO_CLASS", "ClassSets", "empty_sets_note", "refuse_class_sets"]

NO_CLASS = -1  # in the place of the predicted class, where a set does not have a single class


@dataclass(frozen=True, eq=False, repr=False)
class ClassSets(Box):
    """A set of classes per instance, one of which is the label; the credal set holds every distribution on these classes.

    The prediction says nothing about the probabilities of the classes in the set. So its mean is uniform on the set, and it is
    right with probability 1/s if the label is one of its s classes. An empty set, which conformal prediction can give, says
    nothing at all: as a credal set it is that of all classes. Its coverage and its size are 0.

    Parameters
    ----------
    sets : bool array (n, K), or (n, K, 1)
        Whether the set holds the class; numbers must be 0 or 1. The last axis of one level, as of MAPIE, is dropped.

    Raises
    ------
    InputError
        Values other than 0 and 1; several levels on a third axis.

    See Also
    --------
    metrics.class_set_scores : coverage, size and utility.

    Examples
    --------
    >>> import uqassay as uq
    >>> c = uq.ClassSets([[1, 1, 0], [0, 0, 1]])
    >>> c.mean_probs().tolist(), c.upper_probs().tolist()
    ([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """

    sets: NDArray[np.bool_]

    def __post_init__(self) -> None:
        self._take_table("sets")
        sets = as_numeric(self.sets, "sets")
        if sets.ndim == 3 and sets.shape[2] != 1:
            raise InputError(
                "sets",
                "must be those of one level, (n, K)",
                f"got shape {sets.shape}",
                "choose a level, as in sets[:, :, 0], or give each level as a model of its own",
                code="shape",
            )
        sets = as_numeric(sets[:, :, 0] if sets.ndim == 3 else sets, "sets", ndim=2)
        check_class_count(sets.shape[1], "sets")
        self._set("sets", sets if sets.dtype == bool else _as_truth_values(sets))
        self._finish(class_axis_of="sets")

    @classmethod
    def from_lists(
        cls,
        sets: Sequence[Sequence[Any]],
        n_classes: int | None = None,
        *,
        class_names: Sequence[str] | None = None,
        **metadata: Any,
    ) -> "ClassSets":
        """Class sets from one list of classes per instance.

        Parameters
        ----------
        sets : sequence of n sequences
            The classes of each set: numbers from 0 up, or class names. A set may be empty.
        n_classes : int, optional
            Number of classes K; not needed with `class_names`.
        class_names, **metadata
            As in `Prediction`.

        Raises
        ------
        InputError
            Neither `n_classes` nor `class_names`, or two that differ; a class that is not among them; no lists.

        Examples
        --------
        >>> import uqassay as uq
        >>> uq.ClassSets.from_lists([[0, 2], [], [1]], 3).sets.astype(int).tolist()
        [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
        >>> uq.ClassSets.from_lists([["owl"], ["cat", "owl"]], class_names=["cat", "owl"]).sets.astype(int).tolist()
        [[0, 1], [1, 1]]
        """
        names = None if class_names is None else checked_class_names(class_names, len(class_names))
        k = _number_of_classes(n_classes, names)
        lists = _checked_lists(sets)
        rows = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
        held = np.zeros((len(lists), k), dtype=bool)
        if len(rows):
            indices = _indices(lists, names)
            outside = (indices < 0) | (indices >= k)
            if outside.any():
                at = int(np.flatnonzero(outside)[0])
                raise InputError(
                    "sets",
                    f"classes must be 0 … {k - 1}",
                    f"row {rows[at]} holds {indices[at]}",
                    "give the number of all classes as n_classes, or their names as class_names",
                    code="range",
                    facts={"row": int(rows[at])},
                )
            held[rows, indices] = True
            _refuse_repeats(held, rows)
        return cls(held, class_names=names, **metadata)

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.sets.shape[1])

    def is_empty(self) -> NDArray[np.bool_]:
        """Whether each set is empty, ``(n,)``."""
        return np.asarray(~self.sets.any(axis=1))

    def filled(self) -> NDArray[np.bool_]:
        """The sets, all classes in place of an empty one, ``(n, K)``."""
        return np.asarray(self.sets | self.is_empty()[:, None])

    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper probability of each class, ``(n, K)`` each; both are 1 for the only class of a set."""
        filled = self.filled()
        single = filled.sum(axis=1, keepdims=True) == 1
        return (filled & single).astype(np.float64), filled.astype(np.float64)

    def mean_probs(self) -> Array:
        """The uniform distribution on each set, ``(n, K)``."""
        filled = self.filled()
        return filled / filled.sum(axis=1, keepdims=True)

    def labels(self) -> NDArray[np.int64]:
        """The only class of each set, ``(n,)``.

        Raises
        ------
        InputError
            A set with several classes or none.
        """
        found = self.only_classes()
        if (found == NO_CLASS).any():
            row = int(np.flatnonzero(found == NO_CLASS)[0])
            raise InputError(
                "prediction",
                "must predict one class, which class sets do only where a set has a single class",
                f"row {row} has {int(self.sets[row].sum())}",
                "use .sets, metrics.class_set_scores, or the probabilities behind the sets",
                code="undefined",
                facts={"row": row},
            )
        return found

    def only_classes(self) -> NDArray[np.int64]:
        """The only class of each set, -1 for a set with several classes or none, ``(n,)``."""
        return np.where(self.sets.sum(axis=1) == 1, self.sets.argmax(axis=1), NO_CLASS)

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("sets",)

    def _one_versus_rest(self, k: int) -> Prediction:
        lower, upper = (bound[:, k] for bound in self.bounds())
        return Intervals(np.stack([1.0 - upper, lower], axis=1), np.stack([1.0 - lower, upper], axis=1))


def empty_sets_note(empty: int, n: int) -> Note:
    """How many of the sets are empty, and how they count."""
    text = (
        f"{empty} of {n} class sets are empty; coverage and size count them as such, "
        "E and scores count them as sets of all classes"
    )
    return Note("empty-sets", text, {"rows": empty, "n": n})


def refuse_class_sets(prediction: Prediction, parameter: str) -> None:
    """Refuse class sets where probabilities are judged."""
    if isinstance(prediction, ClassSets):
        raise InputError(
            parameter,
            "must state the probabilities of the classes",
            "got ClassSets",
            "use metrics.class_set_scores for their coverage and size, or pass the probabilities behind them",
            code="undefined",
        )


def _number_of_classes(n_classes: int | None, names: tuple[str, ...] | None) -> int:
    if n_classes is None and names is None:
        rule, got = "must be given, because sets may leave classes out", "got None"
        raise InputError("n_classes", rule, got, "pass n_classes=K, or class_names", code="missing")
    if n_classes is None:
        return len(names or ())
    if isinstance(n_classes, bool) or not isinstance(n_classes, (int, np.integer)) or n_classes < 2:
        rule, got = "must be a whole number of at least 2", f"got {shown(n_classes)}"
        raise InputError("n_classes", rule, got, "give K", code="range")
    if names is not None and len(names) != n_classes:
        rule, got = f"must be the number of class_names, {len(names)}", f"got {n_classes}"
        raise InputError("n_classes", rule, got, "leave it out", code="mismatch")
    return int(n_classes)


def _checked_lists(sets: Any) -> list[list[Any]]:
    """One list of classes per instance; refused are other containers, and truth values, which are no class numbers."""
    remedy = "give one list of classes for each instance; truth values and numbers (n, K) are ClassSets(sets)"
    if isinstance(sets, (str, bytes, Mapping)) or not isinstance(sets, (Sequence, np.ndarray)):
        rule, got = "must be a list of lists of classes", f"got {type(sets).__name__}"
        raise InputError("sets", rule, got, remedy, code="type")
    lists = []
    for row, one in enumerate(sets):
        several = (
            isinstance(one, Iterable) and getattr(one, "ndim", 1) > 0 and not isinstance(one, (str, bytes, Mapping))
        )
        classes = list(one) if several else [one]
        odd = [each for each in classes if isinstance(each, (bool, np.bool_)) or np.ndim(each) > 0]
        if odd or not several:
            rule, got = "must hold a list of classes for each instance", f"row {row} holds {shown([*odd, one][0])}"
            raise InputError("sets", rule, got, remedy, code="type", facts={"row": row})
        lists.append(classes)
    return lists


def _indices(lists: list[list[Any]], names: tuple[str, ...] | None) -> NDArray[np.int64]:
    """Class index of each entry, row after row; an error names the row."""
    try:
        return class_indices(np.asarray([each for one in lists for each in one]), names, name="sets")
    except InputError:
        for row, one in enumerate(lists):
            if one:
                class_indices(np.asarray(one), names, name=f"sets[{row}]")
        raise


def _refuse_repeats(held: NDArray[np.bool_], rows: NDArray[np.intp]) -> None:
    """Refuse a set that lists a class twice, as a row of 0 and 1 does that was meant as truth values."""
    listed = np.bincount(rows, minlength=len(held))
    odd = listed != held.sum(axis=1)
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        rule, got = (
            "a set must hold each class once",
            f"row {row} has {listed[row]} entries of {held[row].sum()} classes",
        )
        remedy = "pass rows of 0 and 1 to ClassSets(sets), or drop the repeats"
        raise InputError("sets", rule, got, remedy, code="duplicate", facts={"row": row})


def _as_truth_values(sets: NDArray[Any]) -> NDArray[np.bool_]:
    """Numbers that are 0 or 1 as truth values; the error names the row."""
    found = np.empty(sets.shape, dtype=bool)
    for rows in row_chunks(len(sets), sets[:1].nbytes):
        block = sets[rows]
        odd = ~((block == 0) | (block == 1))
        if odd.any():
            at = np.argwhere(odd)[0]
            raise InputError(
                "sets",
                "values must be 0 or 1",
                f"row {rows.start + at[0]} holds {shown(block[tuple(at)].item())} for class {at[1]}",
                "compare conformity scores with their threshold first; probabilities are a Point",
                code="range",
                facts={"row": int(rows.start + at[0])},
            )
        found[rows] = block == 1
    return found
