"""Fast zeta and Möbius transforms on the lattice of all 2^K events, and the inverse inside a family of focal sets.

Events are numbered in binary: class c belongs to event A iff bit c of A is set; event 0 is empty, event 2^K − 1 is Ω.
The event axis comes first, so that each step adds whole rows of instances.
"""

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError, TooManyClassesError

__all__ = [
    "MAX_ENUMERATED_CLASSES",
    "check_enumerable",
    "event_sizes",
    "family_moebius",
    "moebius_transform",
    "zeta_transform",
]

MAX_ENUMERATED_CLASSES = 16


def check_enumerable(n_classes: int) -> None:
    """Refuse to enumerate 2^K events for K > 16."""
    if n_classes > MAX_ENUMERATED_CLASSES:
        raise TooManyClassesError(
            "focal_sets",
            f"must have at most {MAX_ENUMERATED_CLASSES} classes to enumerate all 2^K events",
            f"got K = {n_classes}",
            "pass a budgeted family of focal sets, or use generalised_hartley, which estimates without enumeration",
            code="size",
        )


def event_sizes(n_classes: int) -> NDArray[np.int64]:
    """Number of classes |A| of each of the 2^K events, in binary order, shape ``(2^K,)``.

    Examples
    --------
    >>> event_sizes(2).tolist()
    [0, 1, 1, 2]
    """
    check_enumerable(n_classes)
    return np.bitwise_count(np.arange(2**n_classes, dtype=np.uint32)).astype(np.int64)


def zeta_transform(masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Belief of every event, Bel(A) = Σ_{B⊆A} m(B).

    Parameters
    ----------
    masses : array (2^K, …)
        Masses in binary order of events.

    Returns
    -------
    array (2^K, …)

    Examples
    --------
    >>> zeta_transform(np.array([0.0, 0.25, 0.25, 0.5])).tolist()
    [0.0, 0.25, 0.25, 1.0]
    """
    return _subset_sums(masses, np.add)


def moebius_transform(beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Masses of every event, m(A) = Σ_{B⊆A} (−1)^{|A−B|} Bel(B): the inverse of `zeta_transform`.

    Parameters
    ----------
    beliefs : array (2^K, …)
        Any set function in binary order of events, for example a lower probability.

    Returns
    -------
    array (2^K, …)
        The masses; some are negative if the set function is not totally monotone.

    Examples
    --------
    >>> moebius_transform(np.array([0.0, 0.25, 0.25, 1.0])).tolist()
    [0.0, 0.25, 0.25, 0.5]
    """
    return _subset_sums(beliefs, np.subtract)


def family_moebius(beliefs: NDArray[np.float64], focal_sets: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Masses from beliefs on a family of sets: m(A) = Bel(A) − Σ m(B) over the sets B ⊂ A of the family.

    Parameters
    ----------
    beliefs : array (n, F)
        Belief of each set of the family.
    focal_sets : bool array (F, K)
        The family, without duplicates.

    Returns
    -------
    array (n, F)

    Notes
    -----
    The authors of the unified evaluation use this inverse. It equals `moebius_transform` if the masses outside the family
    are zero.

    Examples
    --------
    >>> family = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    >>> family_moebius(np.array([[0.25, 0.25, 1.0]]), family).tolist()
    [[0.25, 0.25, 0.5]]
    """
    sets = np.asarray(focal_sets, dtype=bool)
    included: NDArray[np.bool_] = np.all(sets[:, None, :] <= sets[None, :, :], axis=2)  # (F, F): entry [B, A] is B ⊆ A
    np.fill_diagonal(included, False)
    masses = np.array(beliefs, dtype=np.float64)
    for a in np.argsort(sets.sum(axis=1), kind="stable"):
        inside = included[:, a]
        if inside.any():
            masses[:, a] -= np.compress(inside, masses, axis=1).sum(axis=1)
    return masses


def _subset_sums(values: NDArray[np.float64], combine: np.ufunc) -> NDArray[np.float64]:
    out = np.array(values, dtype=np.float64)
    n_events = out.shape[0]
    n_classes = n_events.bit_length() - 1
    if n_events != 2**n_classes or n_events < 2:
        raise InputError(
            "values",
            "must have all 2^K events on the first axis",
            f"got length {n_events}",
            "number the events in binary",
            code="shape",
        )
    for c in range(n_classes):
        pairs = out.reshape(2 ** (n_classes - 1 - c), 2, 2**c, *out.shape[1:])  # [.., bit c, ..]
        combine(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
    return out
