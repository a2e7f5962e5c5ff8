"""ClassSets: the classes that a model considers possible, per instance, such as the sets of conformal prediction."""

from collections.abc import Sequence
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

__all__ = ["NO_CLASS", "ClassSets", "empty_sets_note"]

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
            Neither `n_classes` nor `class_names`; a class that is not among them.

        Examples
        --------
        >>> import uqassay as uq
        >>> uq.ClassSets.from_lists([[0, 2], [], [1]], 3).sets.astype(int).tolist()
        [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
        >>> uq.ClassSets.from_lists([["owl"], ["cat", "owl"]], class_names=["cat", "owl"]).sets.astype(int).tolist()
        [[0, 1], [1, 1]]
        """
        names = None if class_names is None else checked_class_names(class_names, len(class_names))
        if names is None and n_classes is None:
            raise InputError(
                "n_classes",
                "must be given, because sets may leave classes out",
                "got None",
                "pass n_classes=K, or class_names",
                code="missing",
            )
        k = len(names) if names is not None else int(n_classes or 0)
        rows = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
        classes = [each for one in sets for each in one]
        held = np.zeros((len(sets), k), dtype=bool)
        if classes:
            indices = class_indices(np.asarray(classes), names, name="sets")
            outside = (indices < 0) | (indices >= k)
            if outside.any():
                at = int(np.flatnonzero(outside)[0])
                raise InputError(
                    "sets",
                    f"classes must be 0 … {k - 1}",
                    f"row {rows[at]} holds {classes[at]}",
                    "give the number of all classes as n_classes",
                    code="range",
                    facts={"row": int(rows[at])},
                )
            held[rows, indices] = True
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
                code="class-sets",
                facts={"row": int(rows.start + at[0])},
            )
        found[rows] = block == 1
    return found
