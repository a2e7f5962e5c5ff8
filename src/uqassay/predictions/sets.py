"""Sets of distributions: `Intervals`, `ClassSets`, `Masses` and `Vertices`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import (
    Floats,
    as_numeric,
    check_class_count,
    check_rows,
    release,
    row_chunks,
    still_whole,
    tolerance_of,
)
from uqassay.checks import fail, whole
from uqassay.credal.events import as_focal_sets, family_moebius, mass_event_bounds, paper_masses, sum_over
from uqassay.credal.intervals import reachable
from uqassay.errors import InputError
from uqassay.frames import Frame, as_frame
from uqassay.notes import Note
from uqassay.predictions.base import Prediction, checked_class_names
from uqassay.predictions.labels import class_indices
from uqassay.predictions.points import (
    Box,
    event_and_rest,
    normalised,
    not_negative,
    refuse_truth_values,
    take_probabilities,
)
from uqassay.text import shown

__all__ = [
    "NO_CLASS",
    "ClassSets",
    "empty_sets_note",
    "refuse_class_sets",
]


# Intervals: a lower and an upper probability of each class, per instance.


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Box):
    """Probability intervals; the credal set holds every distribution p with l ≤ p ≤ u.

    Parameters
    ----------
    lower, upper : array (n, K)
        Bounds with l ≤ u and Σ l ≤ 1 ≤ Σ u. Methods use the reachable bounds. One of the two may be a number, the same bound
        for every class.

    Raises
    ------
    InputError
        Bounds out of order, or an empty set (Σ l > 1 or Σ u < 1).

    Examples
    --------
    >>> import uqassay as uq
    >>> i = uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]])
    >>> i.lower_probs().round(3).tolist(), i.upper_probs().round(3).tolist()
    ([[0.2, 0.5]], [[0.5, 0.8]])
    """

    lower: NDArray[Any]
    upper: NDArray[Any]

    def __post_init__(self) -> None:
        for name, other in (("lower", "upper"), ("upper", "lower")):
            if isinstance(getattr(self, name), (int, float, np.floating, np.integer)):
                self._set_everywhere(name, other)
        self._take_table("lower", "upper")
        lower = take_probabilities(self.lower, "lower", 2)
        upper = take_probabilities(self.upper, "upper", 2)
        if lower.dtype == bool:
            got = "got truth values"
            fail("lower", "must hold numbers", got, "write sets of classes as ClassSets(sets)", code="class-sets")
        upper = upper.astype(np.float64) if upper.dtype == bool else upper
        if lower.shape != upper.shape:
            remedy = "give two bounds for every class"
            fail("upper", f"must have the shape of lower, {lower.shape}", f"got {upper.shape}", remedy, code="shape")
        check_class_count(lower.shape[1], "lower")
        tolerance = tolerance_of(self.lower, self.upper, lower, upper)
        for bound, name in ((lower, "lower"), (upper, "upper")):
            check_rows(bound, name, tolerance=tolerance, unit_sum=False, remedy="give probabilities, not logits")
        _check_bounds(lower, upper, tolerance)
        self._set("lower", lower)
        self._set("upper", upper)
        self._finish(class_axis_of="lower")

    def _set_everywhere(self, name: str, other: str) -> None:
        """Broadcast a number to the shape of the other bounds."""
        like = take_probabilities(getattr(self, other), other, 2)
        value = getattr(self, name)
        if not abs(value) <= 1e300:
            fail(name, "values must be between 0 and 1", f"got {shown(value)}", "give a bound", code="range")
        self._set(name, np.broadcast_to(np.float64(value), like.shape))

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.lower.shape[1])

    def bounds(self) -> tuple[Floats, Floats]:
        """Reachable lower and upper bounds, each ``(n, K)``."""
        lower = not_negative(self.lower)
        return reachable(lower, np.maximum(lower, not_negative(self.upper)))

    def label_probs(self) -> Floats:
        """Reachable upper bounds; the class with the greatest one is predicted (unified evaluation)."""
        return self.upper_probs()

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("lower", "upper")

    def _one_versus_rest(self, k: int) -> "Intervals":
        lower, upper = (np.minimum(bound[:, k], 1.0) for bound in self.bounds())
        return Intervals(np.stack([1.0 - upper, lower], axis=1), np.stack([1.0 - lower, upper], axis=1))


def _check_bounds(lower: NDArray[Any], upper: NDArray[Any], tolerance: float) -> None:
    """Refuse bounds out of order and empty sets; the error names the row."""
    for rows in row_chunks(len(lower), 32 * lower.shape[1]):
        l, u = not_negative(lower[rows]), not_negative(upper[rows])
        crossed = l > u + tolerance
        if crossed.any():
            row, c = np.argwhere(crossed)[0]
            rule = "must not exceed upper"
            got = f"row {rows.start + row} has lower {l[row, c]:.6g} > upper {u[row, c]:.6g} for class {c}"
            fail("lower", rule, got, "swap or repair the bounds", code="bounds", facts={"row": int(rows.start + row)})
        _refuse_empty(
            l.sum(axis=1) - 1, lower, tolerance, rows.start, "lower", "the lower bounds of a row must sum to at most 1"
        )
        _refuse_empty(
            1 - u.sum(axis=1), upper, tolerance, rows.start, "upper", "the upper bounds of a row must sum to at least 1"
        )
        release(lower)
        release(upper)


def _refuse_empty(excess: Floats, bounds: NDArray[Any], tolerance: float, start: int, name: str, rule: str) -> None:
    """Refuse rows whose `excess` beyond the sum of 1, ``(rows,)``, is larger than the tolerance."""
    empty = excess > tolerance
    if empty.any():
        row = int(np.flatnonzero(empty)[0])
        total = not_negative(bounds[start + row]).sum()
        fail(
            name,
            f"{rule}, or no distribution lies between the bounds",
            f"row {start + row} sums to {total:.6g}",
            "widen the bounds" if total else "write sets of classes, of which some are empty, as ClassSets(sets)",
            code="bounds",
            facts={"row": start + row},
        )


# ClassSets: the classes that a model considers possible, per instance, such as the sets of conformal prediction.

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
            remedy = "choose a level, as in sets[:, :, 0], or give each level as a model of its own"
            fail("sets", "must be those of one level, (n, K)", f"got shape {sets.shape}", remedy, code="shape")
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
                got = f"row {rows[at]} holds {indices[at]}"
                remedy = "give the number of all classes as n_classes, or their names as class_names"
                fail("sets", f"classes must be 0 … {k - 1}", got, remedy, code="range", facts={"row": int(rows[at])})
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

    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper probability of each class, ``(n, K)`` each; both are 1 for the only class of a set."""
        filled = self.filled()
        single = filled.sum(axis=1, keepdims=True) == 1
        return (filled & single).astype(np.float64), filled.astype(np.float64)

    def mean_probs(self) -> Floats:
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
            rule = "must predict one class, which class sets do only where a set has a single class"
            got = f"row {row} has {int(self.sets[row].sum())}"
            remedy = "use .sets, metrics.class_set_scores, or the probabilities behind the sets"
            fail("prediction", rule, got, remedy, code="undefined", facts={"row": row})
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
        remedy = "use metrics.class_set_scores for their coverage and size, or pass the probabilities behind them"
        fail(parameter, "must state the probabilities of the classes", "got ClassSets", remedy, code="undefined")


def _number_of_classes(n_classes: int | None, names: tuple[str, ...] | None) -> int:
    if n_classes is None and names is None:
        rule, got = "must be given, because sets may leave classes out", "got None"
        fail("n_classes", rule, got, "pass n_classes=K, or class_names", code="missing")
    if n_classes is None:
        return len(names or ())
    whole(n_classes, "n_classes", "give K", least=2)
    if names is not None and len(names) != n_classes:
        rule, got = f"must be the number of class_names, {len(names)}", f"got {n_classes}"
        fail("n_classes", rule, got, "leave it out", code="mismatch")
    return int(n_classes)


def _checked_lists(sets: Any) -> list[list[Any]]:
    """One list of classes per instance; refused are other containers, and truth values, which are no class numbers."""
    remedy = "give one list of classes for each instance; truth values and numbers (n, K) are ClassSets(sets)"
    if isinstance(sets, (str, bytes, Mapping)) or not isinstance(sets, (Sequence, np.ndarray)):
        rule, got = "must be a list of lists of classes", f"got {type(sets).__name__}"
        fail("sets", rule, got, remedy, code="type")
    lists = []
    for row, one in enumerate(sets):
        several = (
            isinstance(one, Iterable) and getattr(one, "ndim", 1) > 0 and not isinstance(one, (str, bytes, Mapping))
        )
        classes = list(one) if several else [one]
        odd = [each for each in classes if isinstance(each, (bool, np.bool_)) or np.ndim(each) > 0]
        if odd or not several:
            rule, got = "must hold a list of classes for each instance", f"row {row} holds {shown([*odd, one][0])}"
            fail("sets", rule, got, remedy, code="type", facts={"row": row})
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
        rule = "a set must hold each class once"
        got = f"row {row} has {listed[row]} entries of {held[row].sum()} classes"
        remedy = "pass rows of 0 and 1 to ClassSets(sets), or drop the repeats"
        fail("sets", rule, got, remedy, code="duplicate", facts={"row": row})


def _as_truth_values(sets: NDArray[Any]) -> NDArray[np.bool_]:
    """Numbers that are 0 or 1 as truth values; the error names the row."""
    found = np.empty(sets.shape, dtype=bool)
    for rows in row_chunks(len(sets), sets[:1].nbytes):
        block = sets[rows]
        odd = ~((block == 0) | (block == 1))
        if odd.any():
            at = np.argwhere(odd)[0]
            got = f"row {rows.start + at[0]} holds {shown(block[tuple(at)].item())} for class {at[1]}"
            remedy = "compare conformity scores with their threshold first; probabilities are a Point"
            fail("sets", "values must be 0 or 1", got, remedy, code="range", facts={"row": int(rows.start + at[0])})
        found[rows] = block == 1
    return found


# Masses: masses on sets of classes per instance, from belief functions, random sets or evidential classifiers.

BELIEF_TOLERANCE = 1e-6  # a mass may be this far below 0, and a sum this far from 1
MOST_CLASSES = 10**7
MOST_MASS = np.float64(1e300)  # of signed masses, so that their sums are finite
FocalSets = NDArray[Any] | Sequence[Iterable[int]]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Masses(Prediction):
    """A mass function on F focal sets; the credal set holds every distribution that dominates its belief function.

    Parameters
    ----------
    masses : array (n, F)
        Non-negative masses; rows sum to 1.
    focal_sets : bool array (F, K), or F collections of class indices
        Sets that carry the masses; K is not limited.
    n_classes : int, optional
        K; needed for focal sets given by indices.
    signed : bool
        Accept masses that do not form a belief function. Methods that need a belief function refuse them; see `repaired`.

    Raises
    ------
    InputError
        Masses that are negative or do not sum to 1; empty, repeated or out-of-range focal sets.

    See Also
    --------
    Masses.from_beliefs : from beliefs of the sets instead of masses, also from the raw beliefs of a network.

    Examples
    --------
    >>> import uqassay as uq
    >>> m = uq.Masses([[0.5, 0.3, 0.2]], [[0], [0, 1], [0, 1, 2]], n_classes=3)
    >>> m.lower_probs().tolist(), m.upper_probs().round(3).tolist()
    ([[0.5, 0.0, 0.0]], [[1.0, 0.5, 0.2]])
    >>> m.mean_probs().round(3).tolist()
    [[0.717, 0.217, 0.067]]
    """

    masses: NDArray[Any]
    focal_sets: NDArray[np.bool_]
    signed: bool = False

    def __init__(
        self,
        masses: ArrayLike,
        focal_sets: FocalSets,
        *,
        n_classes: int | None = None,
        signed: bool = False,
        **carried: Any,  # class_names, ids, groups, notes
    ) -> None:
        unknown = set(carried) - {f.name for f in fields(Prediction)}
        if unknown:
            raise TypeError(f"Masses got an unexpected keyword argument {sorted(unknown)[0]!r}")
        for f in fields(Prediction):
            object.__setattr__(self, f.name, carried.get(f.name, {} if f.name == "keys" else f.default))
        object.__setattr__(self, "signed", signed)
        self._set("masses", masses)
        self._take_rows("masses")
        given = self.masses
        masses = take_probabilities(given, "masses", 2)
        refuse_truth_values(masses, "masses", "give numbers, such as 0.0 and 1.0")
        tolerance = tolerance_of(given, masses)
        sets = _family(focal_sets, n_classes)
        if masses.shape[1] != len(sets):
            rule = f"needs one column for each of the {len(sets)} focal sets"
            got = f"got {masses.shape[1]}"
            fail("masses", rule, got, "check that masses and focal_sets have the same order", code="mismatch")
        check_class_count(sets.shape[1], "focal_sets")
        check_rows(
            masses,
            "masses",
            tolerance=tolerance,
            unit_sum=not signed,
            low=-MOST_MASS if signed else 0.0,
            high=MOST_MASS if signed else 1.0,
            remedy="for beliefs use Masses.from_beliefs, and .repaired() to clip and renormalise",
        )
        self._set("masses", masses)
        self._set("focal_sets", sets)
        self._finish(class_axis_of="focal_sets")

    @classmethod
    def from_beliefs(
        cls, beliefs: ArrayLike, focal_sets: FocalSets, *, n_classes: int | None = None, **metadata: Any
    ) -> "Masses":
        """Masses from the belief of each set, by the Möbius inverse inside the family.

        The raw beliefs of a network need not form a belief function: masses may be negative, or not sum to 1. They are kept.
        Methods that need a belief function refuse them and name the rows. `repaired` repairs them, and
        ``convention="paper"`` includes this repair.

        Examples
        --------
        >>> import uqassay as uq
        >>> m = uq.Masses.from_beliefs([[0.5, 0.2, 1.0]], [[0], [1], [0, 1]], n_classes=2)
        >>> m.masses.round(3).tolist()
        [[0.5, 0.2, 0.3]]
        """
        given = as_frame(beliefs, "beliefs")
        values = take_probabilities(given or beliefs, "beliefs", 2)
        refuse_truth_values(values, "beliefs", "give numbers, such as 0.0 and 1.0")
        tolerance = tolerance_of(beliefs, values)
        sets = _family(focal_sets, n_classes)
        if values.shape[1] != len(sets):
            rule = f"needs one column for each of the {len(sets)} focal sets"
            got = f"got {values.shape[1]}"
            fail("beliefs", rule, got, "check that beliefs and focal_sets have the same order", code="mismatch")
        check_rows(values, "beliefs", tolerance=tolerance, unit_sum=False, remedy="give beliefs between 0 and 1")
        masses = family_moebius(np.asarray(values, dtype=np.float64), sets)
        signed = bool(broken_rows(masses, tolerance).any())
        rows = masses if given is None else Frame(masses, (given.index, None))
        return cls(rows, sets, signed=signed, **metadata)

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.focal_sets.shape[1])

    def repaired(self) -> "Masses":
        """Repair of the paper's authors: set negative masses to 0, add missing mass to the set of all classes, normalise.

        Returns
        -------
        Masses
            Its focal sets include the set of all classes, and a note counts the rows that changed.
        """
        if not self.signed:
            return self
        raw = np.asarray(self.masses, dtype=np.float64)
        count = int(broken_rows(raw, BELIEF_TOLERANCE).sum())
        masses, sets, _ = paper_masses(raw, self.focal_sets)
        note = repair_note(count, self.n_instances)
        return replace(self, masses=masses, focal_sets=sets, signed=False, notes=(*self.notes, note))

    def mean_probs(self) -> Floats:
        """Pignistic probability, Σ_{A∋c} m(A) / |A|, ``(n, K)``."""
        shares = self.checked_masses() / self.focal_sets.sum(axis=1)  # (n, F) share of each class in a set
        return np.stack(
            [sum_over(shares, s) for s in self.focal_sets.T],  # sets that contain class c
            axis=1,
        )

    def lower_probs(self) -> Floats:
        """Belief of each class, ``(n, K)``."""
        return mass_event_bounds(self.checked_masses(), self.focal_sets, np.eye(self.n_classes, dtype=bool))[0]

    def upper_probs(self) -> Floats:
        """Plausibility of each class, ``(n, K)``."""
        return mass_event_bounds(self.checked_masses(), self.focal_sets, np.eye(self.n_classes, dtype=bool))[1]

    def checked_masses(self) -> Floats:
        """Masses in float64, ``(n, F)``; refused unless every row is a belief function."""
        still_whole(self.masses)
        masses = np.asarray(self.masses, dtype=np.float64)
        if self.signed:
            broken = broken_rows(masses, BELIEF_TOLERANCE)
            if broken.any():
                row = int(np.flatnonzero(broken)[0])
                shown = row if self.row_numbers is None else int(self.row_numbers[row])
                fail(
                    "beliefs",
                    "each row must be a belief function",
                    f"{int(broken.sum())} of {len(broken)} rows are not (first row {shown}"
                    f": least mass {masses[row].min():.4g}, sum {masses[row].sum():.4g})",
                    'use .repaired() (repair=True in uq.assay), or convention="paper"',
                    code="not-belief-functions",
                    facts={"row": shown, "rows": int(broken.sum())},
                )
        return not_negative(masses)

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("masses",)

    def _one_versus_rest(self, k: int) -> "Masses":
        # coarsened to {rest, k}: a focal set without k becomes {rest}, {k} stays, k with others becomes both
        masses = np.ascontiguousarray(self.masses, dtype=np.float64) if self.signed else not_negative(self.masses)
        with_k, alone = self.focal_sets[:, k], self.focal_sets.sum(axis=1) == 1
        says = (~with_k, with_k & alone, with_k & ~alone)
        sums = np.stack([sum_over(masses, chosen) for chosen in says], axis=1)  # (n, 3)
        if not self.signed:  # rows of 16-bit numbers fail the float64 tolerance of the sum
            total = sums.sum(axis=1, keepdims=True)
            sums = np.where(np.abs(total - 1.0) > 5e-7, sums / total, sums)
        sets = np.array([[True, False], [False, True], [True, True]])
        return Masses(sums, sets, signed=self.signed)


def _family(focal_sets: Any, n_classes: int | None) -> NDArray[np.bool_]:
    """The focal sets as a checked matrix (F, K)."""
    if hasattr(focal_sets, "__array__") or hasattr(focal_sets, "shape"):  # also tensors and tables
        focal_sets = as_numeric(focal_sets, "focal_sets")
    if n_classes is not None:
        whole(n_classes, "n_classes", "give K", least=1, most=MOST_CLASSES)
    return as_focal_sets(focal_sets, n_classes)


def repair_note(count: int, n: int) -> Note:
    """How many rows were repaired."""
    text = f"{count} of {n} rows of masses were repaired (negative masses set to 0, rows renormalised)"
    return Note("repaired", text, {"rows": count, "n": n})


def broken_rows(masses: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Rows with a negative mass or a sum other than 1, ``(n,)``."""
    return (masses < -tolerance).any(axis=1) | (np.abs(masses.sum(axis=1) - 1.0) > tolerance)


# Vertices: the vertices of a credal set, per instance.


@dataclass(frozen=True, eq=False, repr=False)
class Vertices(Prediction):
    """V vertices per instance; the credal set is their convex hull. Pad shorter lists with one of their vertices.

    Parameters
    ----------
    vertices : array (n, V, K)
        Distributions; rows of the last axis sum to 1.
    normalise : bool
        Divide non-negative rows by their sums first.

    Examples
    --------
    >>> import uqassay as uq
    >>> v = uq.Vertices([[[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]])
    >>> v.mean_probs().tolist()
    [[0.5, 0.25, 0.25]]
    """

    vertices: NDArray[Any]
    normalise: InitVar[bool] = False

    def __post_init__(self, normalise: bool) -> None:
        self._take_table("vertices")
        vertices = as_numeric(self.vertices, "vertices", ndim=3)
        tolerance = tolerance_of(self.vertices, vertices)
        check_class_count(vertices.shape[2], "vertices")
        if vertices.shape[1] == 0:
            fail("vertices", "needs at least one vertex", f"got shape {vertices.shape}", "check the axes", code="shape")
        if normalise:
            vertices = normalised(vertices, "vertices")
        check_rows(vertices, "vertices", tolerance=tolerance)
        self._set("vertices", vertices)
        self._finish(class_axis_of="vertices")

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.vertices.shape[2])

    def mean_probs(self) -> Floats:
        """Mean of the different vertices, ``(n, K)``: repeats, such as padding, count once, in any order."""
        vertices = not_negative(self.vertices)
        order = np.lexsort(np.moveaxis(vertices, 2, 0), axis=-1)  # repeats follow each other, and sums round alike
        vertices = np.take_along_axis(vertices, order[:, :, None], axis=1)
        counts = np.ones(vertices.shape[:2])  # (n, V), 0 for repeats
        counts[:, 1:] = (vertices[:, 1:] != vertices[:, :-1]).any(axis=2)
        return (vertices * counts[:, :, None]).sum(axis=1) / counts.sum(axis=1, keepdims=True)

    def lower_probs(self) -> Floats:
        """Least probability of each class at a vertex, ``(n, K)``."""
        still_whole(self.vertices)
        return not_negative(self.vertices.min(axis=1))

    def upper_probs(self) -> Floats:
        """Greatest probability of each class at a vertex, ``(n, K)``."""
        still_whole(self.vertices)
        return not_negative(self.vertices.max(axis=1))

    def hull_points(self) -> NDArray[Any]:
        """The vertices, ``(n, V, K)``."""
        return self.vertices

    def array_names(self) -> tuple[str, ...]:
        """Names of the fields whose first axis is the instance."""
        return ("vertices",)

    def _one_versus_rest(self, k: int) -> "Vertices":
        return Vertices(event_and_rest(self.vertices, k))
