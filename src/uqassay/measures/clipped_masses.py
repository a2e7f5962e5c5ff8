"""Masses of ``convention="paper"``: those that the code of the unified evaluation derives from any prediction.

The steps: lower probabilities of a family of events, Möbius inverse inside the family, negative masses set to zero, the
missing mass given to the set Ω of all classes, division by the total (paper 000, Sec. 4, and its code). Clipping distorts:
the resulting set need not contain the credal set of the prediction, and its non-specificity is not monotone in that set.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.credal.focal_sets import as_focal_sets, paper_masses
from uqassay.credal.lower_probability import (
    fold_sum,
    hull_event_bounds,
    interval_event_bounds,
    lattice_lower,
    mass_event_bounds,
)
from uqassay.credal.moebius import check_enumerable, event_sizes, family_moebius, moebius_transform
from uqassay.measures.hartley import LATTICE_BYTES, lattice, lattice_bytes
from uqassay.measures.hull_kernels import for_each_hull, hull_kernel
from uqassay.predictions import Box, Masses, Prediction

__all__ = ["ClippedMasses", "for_each_clipped", "for_each_clipped_sum"]

Array = NDArray[np.float64]


class ClippedMasses(NamedTuple):
    """Masses of the paper's convention for some instances.

    Attributes
    ----------
    masses : array (F, n)
        Event axis first; columns sum to 1.
    sizes : int array (F,)
        Number of classes |A| of each set (1 for the empty set, which has no mass).
    focal_sets : bool array (F, K)
        The sets; for all events in binary order, with the empty one first.
    lower, upper : array (K, n)
        Belief and plausibility of each class.
    """

    masses: Array
    sizes: NDArray[np.int64]
    focal_sets: NDArray[np.bool_]
    lower: Array
    upper: Array


def for_each_clipped(
    prediction: Prediction,
    work: Callable[[slice, ClippedMasses], None],
    focal_sets: NDArray[np.bool_] | None = None,
    *,
    chunk_bytes: int | None = None,
) -> None:
    """Call ``work(rows, clipped)`` for consecutive chunks of the instances.

    Parameters
    ----------
    prediction : Prediction
        Any kind. `Masses` keep their own focal sets unless others are given.
    work : callable
        Function of the rows and their clipped masses; chunks may run on several threads.
    focal_sets : bool array (F, K), optional
        The family; all 2^K events by default (K ≤ 16).
    """
    if focal_sets is None and not isinstance(prediction, Masses):
        bytes_per_row, most = lattice_bytes(prediction), chunk_bytes or LATTICE_BYTES
        prediction.for_each_chunk(lambda rows, part: work(rows, _on_all_events(part)), bytes_per_row, chunk_bytes=most)
        return
    family = None if focal_sets is None else as_focal_sets(focal_sets, prediction.n_classes)
    prediction.for_each_chunk(
        lambda rows, part: work(rows, _on_family(part, family)),
        _bytes_per_row(prediction),
        chunk_bytes=chunk_bytes or 16 * LATTICE_BYTES,
    )


def for_each_clipped_sum(
    prediction: Prediction,
    measure: str,
    work: Callable[[slice, Array, Array], None],
    focal_sets: NDArray[np.bool_] | None = None,
) -> None:
    """Call ``work(rows, values, upper)`` for consecutive chunks: Σ_A m(A) g(|A|) and the plausibility of each class.

    Parameters
    ----------
    prediction, focal_sets
        As in `for_each_clipped`.
    measure : {"hartley", "korner", "pal"}
        g(|A|) is ln|A|, |A| or 1/|A|.
    work : callable
        Function of the rows, the sums (n,) and the plausibilities (n, K); chunks may run on several threads.
    """
    compiled = hull_kernel("clipped_hull", prediction) if focal_sets is None else None
    if compiled is not None:
        check_enumerable(prediction.n_classes)
        weights = _of_sizes(np.maximum(event_sizes(prediction.n_classes), 1), measure)

        def points(rows: slice, part: NDArray[Any]) -> None:
            work(rows, *compiled(part, weights))

        for_each_hull(prediction, points)
        return

    def masses(rows: slice, part: ClippedMasses) -> None:
        work(rows, fold_sum(part.masses * _of_sizes(part.sizes, measure)[:, None]), part.upper.T)

    for_each_clipped(prediction, masses, focal_sets)


def _of_sizes(sizes: NDArray[np.int64], measure: str) -> Array:
    """g(|A|) for numbers of classes |A|."""
    g: Array = {"hartley": np.log(sizes), "korner": sizes.astype(np.float64), "pal": 1.0 / sizes}[measure]
    return g


def _on_family(part: Prediction, family: NDArray[np.bool_] | None) -> ClippedMasses:
    if isinstance(part, Masses) and family is None:
        raw, family = np.asarray(part.masses, dtype=np.float64), part.focal_sets
    else:
        assert family is not None  # only masses have a family already
        raw = family_moebius(_family_lower(part, family), family)
    masses, sets, _ = paper_masses(raw, family)
    lower, upper = mass_event_bounds(masses, sets, np.eye(part.n_classes, dtype=bool))
    return ClippedMasses(masses.T, sets.sum(axis=1), sets, lower.T, upper.T)


def _on_all_events(part: Prediction) -> ClippedMasses:
    masses, n_classes = moebius_transform(lattice_lower(lattice(part))), part.n_classes
    np.maximum(masses, 0.0, out=masses)
    total = fold_sum(masses)
    masses[-1] += np.maximum(0.0, 1.0 - total)
    masses /= np.maximum(total, 1.0)  # the total is at least 1 by now
    upper = np.empty((n_classes, masses.shape[1]))
    folded = masses
    for c in reversed(range(n_classes)):  # plausibility of c; then merge sets that differ only in c
        with_c = folded[2**c :]
        upper[c] = fold_sum(with_c)
        folded = folded[: 2**c] + with_c
    lower = masses[2 ** np.arange(n_classes)]
    sets = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 > 0
    return ClippedMasses(masses, np.maximum(event_sizes(n_classes), 1), sets, lower, upper)


def _family_lower(part: Prediction, family: NDArray[np.bool_]) -> Array:
    if isinstance(part, Masses):
        return mass_event_bounds(part.repaired().checked_masses(), part.repaired().focal_sets, family)[0]
    if isinstance(part, Box):
        return interval_event_bounds(*part.bounds(), family)[0]
    return hull_event_bounds(part.hull_points(), family)[0]


def _bytes_per_row(prediction: Prediction) -> int:
    if isinstance(prediction, Masses):
        return 16 * len(prediction.focal_sets)
    if isinstance(prediction, Box):
        return 16 * prediction.n_classes
    return 16 * int(np.prod(prediction[:1].hull_points().shape[1:]))
