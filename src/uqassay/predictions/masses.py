"""Masses: masses on sets of classes per instance, from belief functions, random sets or evidential classifiers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_class_count, check_rows, shown, still_whole, tolerance_of
from uqassay._frames import Frame, as_frame
from uqassay.credal.focal_sets import as_focal_sets, paper_masses
from uqassay.credal.lower_probability import mass_event_bounds, sum_over
from uqassay.credal.moebius import family_moebius
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions.base import Array, Prediction
from uqassay.predictions.probabilities import not_negative, refuse_truth_values, take_probabilities

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
            raise InputError(
                "masses",
                f"needs one column for each of the {len(sets)} focal sets",
                f"got {masses.shape[1]}",
                "check that masses and focal_sets have the same order",
                code="mismatch",
            )
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
            raise InputError(
                "beliefs",
                f"needs one column for each of the {len(sets)} focal sets",
                f"got {values.shape[1]}",
                "check that beliefs and focal_sets have the same order",
                code="mismatch",
            )
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

    def mean_probs(self) -> Array:
        """Pignistic probability, Σ_{A∋c} m(A) / |A|, ``(n, K)``."""
        shares = self.checked_masses() / self.focal_sets.sum(axis=1)  # (n, F) share of each class in a set
        return np.stack(
            [sum_over(shares, s) for s in self.focal_sets.T],  # sets that contain class c
            axis=1,
        )

    def lower_probs(self) -> Array:
        """Belief of each class, ``(n, K)``."""
        return mass_event_bounds(self.checked_masses(), self.focal_sets, np.eye(self.n_classes, dtype=bool))[0]

    def upper_probs(self) -> Array:
        """Plausibility of each class, ``(n, K)``."""
        return mass_event_bounds(self.checked_masses(), self.focal_sets, np.eye(self.n_classes, dtype=bool))[1]

    def checked_masses(self) -> Array:
        """Masses in float64, ``(n, F)``; refused unless every row is a belief function."""
        still_whole(self.masses)
        masses = np.asarray(self.masses, dtype=np.float64)
        if self.signed:
            broken = broken_rows(masses, BELIEF_TOLERANCE)
            if broken.any():
                row = int(np.flatnonzero(broken)[0])
                shown = row if self.row_numbers is None else int(self.row_numbers[row])
                raise InputError(
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
    if n_classes is not None and not (isinstance(n_classes, (int, np.integer)) and 1 <= n_classes <= MOST_CLASSES):
        raise InputError(
            "n_classes", "must be a whole number of at least 1", f"got {shown(n_classes)}", "give K", code="range"
        )
    return as_focal_sets(focal_sets, n_classes)


def repair_note(count: int, n: int) -> Note:
    """How many rows were repaired."""
    text = f"{count} of {n} rows of masses were repaired (negative masses set to 0, rows renormalised)"
    return Note("repaired", text, {"rows": count, "n": n})


def broken_rows(masses: Array, tolerance: float) -> NDArray[np.bool_]:
    """Rows with a negative mass or a sum other than 1, ``(n,)``."""
    return (masses < -tolerance).any(axis=1) | (np.abs(masses.sum(axis=1) - 1.0) > tolerance)
