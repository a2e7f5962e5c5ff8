"""Upper and lower entropy over the core of a belief function, {p : p(A) ≥ Bel(A) for every event A}, exact for K ≤ 16.

Entropy is concave and symmetric. Its minimum lies at a vertex of the core, and each vertex gives the classes of some order the
increments of the belief along it: the minimum is a shortest path through the events. The maximum is the most equal
distribution of the core, which a greedy choice of events with the greatest mean belief finds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks
from uqassay.credal.box_entropy import phi
from uqassay.credal.moebius import check_enumerable, event_sizes, zeta_transform

__all__ = ["core_lower_entropy", "core_upper_entropy"]

Float = NDArray[np.float64]
CHUNK_BYTES = 2**24


def core_lower_entropy(masses: Float, focal_sets: NDArray[np.bool_]) -> Float:
    """Smallest entropy (nats) over the core of each belief function.

    Parameters
    ----------
    masses : array (n, F)
        Non-negative, with sums of 1.
    focal_sets : bool array (F, K)

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        More than 16 classes.

    Notes
    -----
    The vertices of the core of a belief function are p(c_i) = Bel({c_1 … c_i}) − Bel({c_1 … c_{i−1}}) over all orders of the
    classes (Shapley, 1971), so the least sum of −p ln p is found by dynamic programming over the 2^K events.

    Examples
    --------
    >>> core_lower_entropy(np.array([[0.5, 0.3, 0.2]]), np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]], dtype=bool)).round(4)
    array([0.6109])
    """
    return _in_chunks(masses, focal_sets, _shortest_path)


def core_upper_entropy(masses: Float, focal_sets: NDArray[np.bool_]) -> Float:
    """Largest entropy (nats) over the core of each belief function; parameters and errors as for `core_lower_entropy`.

    Notes
    -----
    Of the events, one with the greatest mean belief Bel(A) / |A| gets its belief in equal parts. Then the same is done with
    what events add to it, until all classes have their part (Meyerowitz, Richman and Walker, 1994).

    Examples
    --------
    >>> core_upper_entropy(np.array([[0.5, 0.3, 0.2]]), np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]], dtype=bool)).round(4)
    array([1.0297])
    """
    return _in_chunks(masses, focal_sets, _most_equal)


# -- helpers: events along the first axis, so rounding does not depend on the other instances ---------------------------


def _in_chunks(masses: Float, focal_sets: NDArray[np.bool_], extreme: Any) -> Float:
    k = focal_sets.shape[1]
    check_enumerable(k)
    events = focal_sets @ (1 << np.arange(k))
    out = np.empty(len(masses))
    for rows in row_chunks(len(masses), 8 * 2**k, chunk_bytes=CHUNK_BYTES):
        part = np.asarray(masses[rows], dtype=np.float64)
        lattice = np.zeros((2**k, len(part)))
        lattice[events] = (part / part.sum(axis=1, keepdims=True)).T
        out[rows] = extreme(zeta_transform(lattice), k)
    return np.abs(out)  # without -0.0


def _shortest_path(belief: Float, k: int) -> Float:
    """Least Σ φ(increments of belief) over the paths from ∅ to Ω, (2^K, n) -> (n,)."""
    events, sizes = np.arange(2**k), event_sizes(k)
    least = np.full_like(belief, np.inf)
    least[0] = 0.0
    for size in range(1, k + 1):
        level = events[sizes == size]
        for c in range(k):
            reached = level[(level >> c) & 1 == 1]
            before = reached ^ (1 << c)
            step = phi(np.maximum(belief[reached] - belief[before], 0.0))
            least[reached] = np.minimum(least[reached], least[before] + step)
    return np.asarray(least[-1])


def _most_equal(belief: Float, k: int) -> Float:
    """Entropy of the most equal distribution of the core, (2^K, n) -> (n,)."""
    events, sizes, n = np.arange(2**k), event_sizes(k), belief.shape[1]
    done, entropy, live = np.zeros(n, dtype=np.int64), np.zeros(n), np.arange(n)
    while live.size:
        held = done[live]
        more = sizes[:, None] - sizes[held]  # classes that an event adds
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (belief[:, live] - belief[held, live]) / more
        share[((events[:, None] & held) != held) | (more <= 0)] = -1.0
        chosen = share.argmax(axis=0)
        each = np.maximum(share[chosen, np.arange(live.size)], 0.0)
        entropy[live] += more[chosen, np.arange(live.size)] * phi(each)
        done[live] = chosen
        live = live[chosen != 2**k - 1]
    return entropy
