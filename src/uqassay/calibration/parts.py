"""Shared inputs of the functions that fit weights: members and labels as arrays, and two disjoint parts of the data.

The split does not use the labels. If it were stratified by label, the labels of one part would determine the class counts of
the other part, and the test there would depend on the fit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._frames import is_frame
from uqassay.calibration.shared_members import shared_members
from uqassay.calibration.simplex_search import SimplexSearch
from uqassay.errors import InputError
from uqassay.predictions import Prediction, as_prediction
from uqassay.predictions.labels import labels_for
from uqassay.statistics.samples import is_number, make_units

__all__ = ["Parts", "check_search", "check_whole", "groups_of", "hard_labels", "member_array", "two_parts"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Parts(NamedTuple):
    """Rows of the two parts, each in ascending order."""

    first: Rows
    second: Rows


def member_array(members: Any) -> Floats:
    """Members (n, M, K) as float64: what `credal_calibration_test` mixes."""
    return shared_members(members).probs


def hard_labels(
    y: ArrayLike, n_instances: int, n_classes: int, name: str = "y_true", *, members: Any = None
) -> NDArray[np.intp]:
    """One class for each instance, (n,); ids and class names come from `members` if it is a prediction."""
    members = as_prediction(members, "members") if is_frame(members) else members
    shape: tuple[int, ...] = () if isinstance(members, Prediction) else np.shape(members)
    labels = labels_for(
        y,
        n_instances=n_instances,
        n_classes=n_classes,
        n_members=shape[1] if len(shape) == 3 else getattr(members, "n_members", None),
        ids=getattr(members, "ids", None),
        class_names=getattr(members, "class_names", None),
        class_order=getattr(members, "class_order", "stated"),
        name=name,
    )
    if labels.ndim == 2:
        raise InputError(
            name,
            f"must be one class for each instance, shape ({n_instances},)",
            f"got shape {labels.shape}",
            "pass one label per instance, for example the most frequent class of each distribution",
            code="shape",
        )
    return labels.astype(np.intp)


def check_search(search: object) -> None:
    """Refuse anything but a SimplexSearch or None."""
    if search is not None and not isinstance(search, SimplexSearch):
        raise InputError(
            "search",
            "must be a SimplexSearch or None",
            f"got {search!r}",
            "pass QUICK, THOROUGH or PATIENT",
            code="type",
        )


def check_whole(value: object, name: str, *, least: int = 1, remedy: str) -> None:
    """Refuse anything but a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(name, f"must be a whole number of at least {least}", f"got {value!r}", remedy, code="range")


def groups_of(members: Any, groups: ArrayLike | None) -> ArrayLike | None:
    """The given groups, else those of the prediction."""
    return getattr(members, "groups", None) if groups is None else groups


def two_parts(
    strata: NDArray[np.intp], fraction: float, groups: ArrayLike | None, generator: np.random.Generator
) -> Parts:
    """Split the instances at random into two parts, the first with this fraction of them.

    `strata` (n,) are the predicted classes: the fraction holds within each of them, up to rounding. With groups, whole
    groups join the first part, in random order, as long as that brings its size closer to the fraction.
    """
    if not (is_number(fraction) and 0.0 < fraction < 1.0):
        raise InputError(
            "fraction",
            "must lie strictly between 0 and 1",
            f"got {fraction!r}",
            "pass 0.5 for two halves",
            code="range",
        )
    n = strata.size
    units = make_units(n, groups, None)
    if units.n_units < 2:
        name, what = ("y_true", "instance") if units.codes is None else ("groups", "group")
        raise InputError(
            name, f"must have at least two {what}s, for two disjoint parts", "got 1", f"pass more {what}s", code="range"
        )
    if units.codes is None:
        shuffled = generator.permutation(n)
        order = shuffled[np.argsort(strata[shuffled], kind="stable")]  # by stratum, at random within each
        # a row joins the first part where the running sum of `fraction` passes a whole number
        passed = np.floor(np.arange(n + 1) * fraction + generator.random()).astype(np.intp)
        taken = np.diff(passed) > 0
        if taken.all() or not taken.any():
            taken[int(generator.integers(n))] ^= True
        inside = np.zeros(n, dtype=bool)
        inside[order[taken]] = True
    else:
        order = generator.permutation(units.n_units)
        sizes = np.bincount(units.codes)[order]
        reached = np.cumsum(sizes)
        n_taken = int(np.clip(np.abs(reached - fraction * n).argmin() + 1, 1, units.n_units - 1))
        inside = np.isin(units.codes, order[:n_taken])
    return Parts(np.flatnonzero(inside), np.flatnonzero(~inside))
