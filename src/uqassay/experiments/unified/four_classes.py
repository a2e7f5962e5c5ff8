"""Table 4 of paper 000: KL to the nearest of all 4! vertices and of the 2·4 outermost ones, on four classes.

The paper takes "a 4-class example of the CIFAR-10 dataset" and says no more. Here the test instances of four classes are
kept, and every member or draw is conditioned on these classes.

Both choices give the same numbers, unlike in the paper. NS is a sum over masses and knows no vertices. KL to a label depends
on the greatest probability that a vertex gives it: upper probabilities are subadditive, so that U(A ∪ {y}) − U(A) ≤ U({y}),
and the permutation with y first, one of the 2K, attains U({y}).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.credal import (
    all_focal_sets,
    family_moebius,
    hull_event_bounds,
    lower_probability_vertices,
    paper_masses,
    permutation_vertices,
)
from uqassay.errors import InputError
from uqassay.evidence import assay
from uqassay.experiments.unified.other_terms import with_terms
from uqassay.losses.label_distance import FLOORS
from uqassay.predictions import Dirichlet, Members, Prediction
from uqassay.wording import listed

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "FOUR_CLASSES",
    "VERTICES",
    "FourClasses",
    "check_four_classes",
    "given_classes",
    "judge_four_classes",
    "vertices_of",
]

Array = NDArray[np.float64]
FOUR_CLASSES = (0, 1, 2, 3)
VERTICES: dict[str, str | None] = {"approximated": "outermost", "naive": None}  # permutations of the classes


@final
@dataclass(frozen=True, eq=False)
class FourClasses:
    """KL and NS on four classes with both choices of vertices.

    Attributes
    ----------
    classes : tuple of int
    assays : dict of str to dict of str to Assay
        By convention and choice of vertices, "approximated" or "naive".
    left_out : int
        Instances of these classes that some member gives no probability to any of them.
    """

    classes: tuple[int, ...]
    assays: "dict[str, dict[str, Assay]]"
    left_out: int


def check_four_classes(classes: Sequence[int], n_classes: int) -> tuple[int, ...]:
    """Four classes as whole numbers.

    Raises
    ------
    InputError
        They are not four different ones of the data set.

    Examples
    --------
    >>> check_four_classes([3, 5, 0, 1], 10)
    (3, 5, 0, 1)
    """
    chosen = tuple(classes)
    whole = all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) and 0 <= c < n_classes for c in chosen)
    if not whole or len(chosen) != 4 or len(set(chosen)) != 4:
        raise InputError(
            "vertex_classes",
            f"must be four different classes from 0 to {n_classes - 1}",
            f"got {listed(list(map(repr, chosen)))}",
            "leave it out for the first four",
            code="choice",
        )
    return tuple(int(c) for c in chosen)


def judge_four_classes(
    said: Mapping[str, Sequence[Prediction]], labels: NDArray[Any], classes: Sequence[int] = FOUR_CLASSES
) -> FourClasses | None:
    """KL and NS of sampled predictors on the instances of four classes.

    Parameters
    ----------
    said : dict of str to sequence of Prediction
        `Members` or `Dirichlet` of each run.
    labels : (n,) integers
    classes : sequence of four int

    Returns
    -------
    FourClasses or None
        None without predictors or with fewer than four classes.

    Raises
    ------
    InputError
        Classes that are not four different ones of the data set.
    """
    if not said:
        return None
    n_classes = next(iter(said.values()))[0].n_classes
    if n_classes < 4:
        return None
    chosen = check_four_classes(classes, n_classes)
    rows = np.flatnonzero(np.isin(labels, chosen))
    possible = np.ones(len(rows), dtype=bool)
    for runs in said.values():
        for run in runs:
            possible &= _possible(run[rows], chosen)
    rows = rows[possible]
    if not len(rows):
        return None
    y = np.argmax(np.array(chosen)[:, None] == labels[rows], axis=0)
    given = {name: [given_classes(run[rows], chosen) for run in runs] for name, runs in said.items()}
    assays: dict[str, dict[str, Assay]] = {}
    for convention in ("exact", "paper"):
        found = assay(given, y, convention=convention, measures=(), calibration=(), scales=())
        columns: dict[str, dict[str, Any]] = {choice: {} for choice in VERTICES}
        for name, runs in given.items():
            points = {choice: [vertices_of(run, convention, choice) for run in runs] for choice in VERTICES}
            for choice, of_runs in points.items():
                distance = np.stack([_nearest(of_run, y, FLOORS[convention]) for of_run in of_runs])
                columns[choice][name] = {"distance": distance}
        assays[convention] = {choice: with_terms(found, terms) for choice, terms in columns.items()}
    return FourClasses(chosen, assays, int((~possible).sum()))


def given_classes(run: Prediction, classes: Sequence[int]) -> Prediction:
    """A sampled prediction given that one of some classes is true.

    Members and draws are divided by what they give these classes; of a Dirichlet that is the Dirichlet with the
    concentrations of these classes.

    Examples
    --------
    >>> import uqassay as uq
    >>> given_classes(uq.Members([[[0.2, 0.2, 0.6], [0.1, 0.3, 0.6]]]), (0, 1)).probs.round(3).tolist()
    [[[0.5, 0.5], [0.25, 0.75]]]
    """
    if isinstance(run, Dirichlet):
        chosen = run.alpha[:, list(classes)]
        return Dirichlet(
            chosen, unit_concentration=run.unit_concentration, n_draws=run.n_draws, seed=run.seed
        ).with_draws()
    part = np.asarray(run.hull_points(), dtype=np.float64)[:, :, list(classes)]
    return Members(part / part.sum(axis=2, keepdims=True))


def vertices_of(run: Prediction, convention: str, choice: str) -> Array:
    """Vertices of a sampled prediction of few classes, ``(n, P, K)``.

    Parameters
    ----------
    run : Prediction
        With members or draws.
    convention : {"exact", "paper"}
        "paper": of the clipped and renormalised masses. "exact": of the lower probability itself; as that of members need
        not be 2-monotone, its points can lie outside the credal set, though not outside the bounds of the classes.
    choice : {"approximated", "naive"}
        The 2K outermost permutations of the classes, or all K!.

    Examples
    --------
    >>> import uqassay as uq
    >>> run = uq.Members([[[0.2, 0.8], [0.6, 0.4]]])
    >>> vertices_of(run, "exact", "naive").round(3).tolist()
    [[[0.6, 0.4], [0.2, 0.8]]]
    """
    points, k = run.hull_points(), run.n_classes
    if convention == "exact":
        events = np.arange(2**k)[:, None] >> np.arange(k) & 1 > 0  # (2^K, K), bit c for class c
        lower = hull_event_bounds(points, events)[0]
        return lower_probability_vertices(lower, permutations=VERTICES[choice])
    sets = all_focal_sets(k)
    masses, sets, _ = paper_masses(family_moebius(hull_event_bounds(points, sets)[0], sets), sets)
    return permutation_vertices(masses, sets, permutations=VERTICES[choice])


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _nearest(vertices: Array, y: NDArray[Any], floor: float) -> Array:
    """KL from the label to the nearest vertex, ``(n,)``; a point beyond probability 1 counts as 1."""
    of_label = np.take_along_axis(vertices, y[:, None, None], axis=2)[:, :, 0]
    return -np.log(np.clip(of_label.max(axis=1), floor, 1.0))


def _possible(run: Prediction, classes: Sequence[int]) -> NDArray[np.bool_]:
    """Whether every member gives the classes some probability, ``(n,)``; a Dirichlet always does."""
    if isinstance(run, Dirichlet):
        return np.ones(run.n_instances, dtype=bool)
    return run.hull_points()[:, :, list(classes)].sum(axis=2, dtype=np.float64).min(axis=1) > 0
