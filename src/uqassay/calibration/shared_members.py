"""Members or vertices that have the same meaning in every instance, so that one λ can mix them in all instances."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.vertices import outermost_permutations, permutation_vertices
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions import (
    Box,
    Drawn,
    Masses,
    Members,
    Point,
    Prediction,
    Vertices,
    as_prediction,
    not_negative,
)
from uqassay.predictions.class_sets import refuse_class_sets

__all__ = ["IN_GROUPS", "SharedMembers", "independence", "interval_vertices", "mean_probs", "shared_members"]

Floats = NDArray[np.float64]

IN_GROUPS = Note(
    "assumption", "labels count as independent, so p-values are too small if those of one group depend on each other"
)
OFF = 5e-7  # a sum further than this from 1 comes from a precision lower than double


@final
@dataclass(frozen=True, eq=False)
class SharedMembers:
    """Distributions (n, M, K) where index m has the same meaning in every instance.

    Attributes
    ----------
    probs : array (n, M, K)
    noun : str
        "members" or "vertices".
    width : float
        Mean over instances and classes of upper minus lower probability of the credal set.
    notes : tuple of Note
        Limits of the test for this kind of prediction.
    """

    probs: Floats
    noun: str
    width: float
    notes: tuple[Note, ...]


def shared_members(members: Any) -> SharedMembers:
    """The members of an ensemble, vertices, or the class-first and class-last vertices of intervals and masses.

    Raises
    ------
    InputError
        A kind without such members, or input that `as_prediction` refuses.
    """
    members = as_prediction(members, "members")
    refuse_class_sets(members, "members")
    if isinstance(members, Drawn) and members.has_shared_points:  # passes of Gaussian logits
        members = members.members()
    notes = []
    if members.groups is not None:
        notes.append(IN_GROUPS)
    match members:
        case Point() | Members() | Vertices():
            probs, noun = not_negative(members.hull_points()), "members"
            if isinstance(members, Vertices):
                noun = "vertices"
                shared = "the test makes sense only if vertex m has the same meaning in every instance"
                notes.append(Note("assumption", shared))
        case Box():
            probs, noun = interval_vertices(*members.bounds()), "vertices"
        case Masses():
            probs = permutation_vertices(members.checked_masses(), members.focal_sets, permutations="outermost")
            noun = "vertices"
        case _:
            has = "draws" if isinstance(members, Drawn) else "no members"
            raise InputError(
                "members",
                "must have members with the same meaning in every instance",
                f"got {type(members).__name__}, which has {has}",
                "test the mean with calibration_test(y_true, prediction)",
                code="type",
            )
    if noun == "vertices" and not isinstance(members, Vertices):
        outermost = (
            "a rejection is about mixtures of 2K vertices, so other distributions in the sets may still be calibrated"
        )
        notes.append(Note("assumption", outermost))
    probs = _summing_to_one(probs)
    width = 0.0 if probs.shape[1] == 1 else float(np.ptp(probs, axis=1).mean())
    return SharedMembers(probs, noun, width, tuple(notes))


def independence(notes: Iterable[Note]) -> str:
    """What a sentence with a p-value adds if there are groups that the test does not account for; else empty."""
    return ", labels taken as independent" if IN_GROUPS in notes else ""


def mean_probs(prediction: Prediction) -> Floats:
    """Probabilities (n, K) of the mean, whose rows sum to 1; InputError for class sets, which state none."""
    refuse_class_sets(prediction, "probs")
    return _summing_to_one(prediction.mean_probs())


def _summing_to_one(probs: Floats) -> Floats:
    """Divide rows by their sum if it is off by the rounding of a precision lower than double."""
    sums = probs.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1.0) > OFF
    return np.where(off, probs / np.where(off, sums, 1.0), probs) if off.any() else probs


def interval_vertices(lower: Floats, upper: Floats) -> Floats:
    """Vertices of reachable intervals that take each class first and each class last, (n, K) -> (n, 2K, K).

    Vertex k gives class k its upper probability, and vertex K + k its lower one. The other classes follow in index order;
    each gets the increment of the upper probability of events, U(A) = min(Σ_A u, 1 − Σ_Aᶜ l).

    Examples
    --------
    >>> interval_vertices(np.array([[0.25, 0.5]]), np.array([[0.5, 0.75]])).tolist()
    [[[0.5, 0.5], [0.25, 0.75], [0.25, 0.75], [0.5, 0.5]]]
    """
    orders = outermost_permutations(lower.shape[1])  # (2K, K)
    most = np.cumsum(upper[:, orders], axis=-1)
    rest = lower.sum(axis=1)[:, np.newaxis, np.newaxis] - np.cumsum(lower[:, orders], axis=-1)
    reached = np.minimum(most, 1.0 - rest)  # (n, 2K, K) upper probability of the first classes
    reached[..., -1] = 1.0
    gained = np.diff(reached, axis=-1, prepend=0.0)
    return np.take_along_axis(gained, np.argsort(orders, axis=1)[np.newaxis], axis=-1)
