"""Classes that a credal set does not rule out: interval dominance, maximality and E-admissibility under 0/1 loss.

The three rules are nested: each E-admissible class is maximal, and each maximal class is undominated by intervals. Each rule
also rules out a class that has probability 0 everywhere in the set, though another class may only tie with it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats, row_chunks
from uqassay.credal.convex_hull import in_hull

__all__ = ["CLASS_RULES", "admissible_in_hull", "undominated_in_box", "undominated_in_core", "undominated_in_hull"]

Bools = NDArray[np.bool_]

CLASS_RULES = ("interval-dominance", "maximality", "e-admissibility")
CHUNK_BYTES = 2**21
ROUNDING = 1e-9


def undominated_in_hull(
    points: NDArray[np.floating],
    *,
    bounds: tuple[NDArray[np.floating], NDArray[np.floating]] | None = None,
    last: str = CLASS_RULES[-1],
) -> list[Bools]:
    """Classes that the convex hull of some points does not rule out, by each rule from the widest to `last`.

    Parameters
    ----------
    points : array (n, M, K)
        Distributions.
    bounds : pair of arrays (n, K), optional
        Their least and greatest probabilities, if known.
    last : {"interval-dominance", "maximality", "e-admissibility"}
        The last rule.

    Returns
    -------
    list of (n, K) bool
        True for a class that is not ruled out.

    Notes
    -----
    For closed convex sets and 0/1 loss, class j is ruled out

    * by interval dominance, if max_k min_p p_k > max_p p_j;
    * by maximality, if some k has p_k > p_j for every p of the set;
    * by E-admissibility, if no p of the set has p_j ≥ p_k for all k.

    Minima over the hull lie at its points. E-admissibility is a linear program in the weights w of the points: with
    D_mk = p_mj − p_mk it asks for w ≥ 0 with Σ_m w_m D_mk ≥ 0. Such a w exists if and only if 0 lies in the convex hull of the
    rows D_m and the negative unit vectors, which stand for the slack. It is solved where no point has its mode at j.

    References
    ----------
    Troffaes (2007), Decision making under uncertainty using imprecise probabilities, Int. J. Approx. Reason. 45.

    Examples
    --------
    >>> import numpy as np
    >>> three = np.array([[[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]]])
    >>> [found[0].tolist() for found in undominated_in_hull(three)]
    [[True, True, True], [True, True, True], [True, True, False]]
    """
    known = (points.min(axis=1), points.max(axis=1)) if bounds is None else bounds
    lower, upper = (one.astype(np.float64, copy=False) for one in known)
    found = [_by_intervals(lower, upper)]
    if last == CLASS_RULES[0]:
        return found
    maximal = found[0].copy()
    several = np.flatnonzero(np.count_nonzero(maximal, axis=1) > 1)
    admissible = maximal.copy()
    for rows, classes in _compact(maximal, several, points.shape[1]):
        part = np.take_along_axis(points[rows].astype(np.float64), classes[:, None, :], axis=2)  # (r, M, c)
        kept = maximal[rows[:, None], classes] & ~_ruled_out(part)
        maximal[rows[:, None], classes] = kept
        if last == CLASS_RULES[2]:
            admissible[rows[:, None], classes] = kept & _admissible(part, kept)
    return [*found, maximal] if last == CLASS_RULES[1] else [*found, maximal, admissible]


def admissible_in_hull(points: NDArray[np.floating], classes: NDArray[np.integer]) -> Bools:
    """Whether E-admissibility leaves one class of each instance, without the others, ``(n,)``.

    Parameters
    ----------
    points : array (n, M, K)
        As in `undominated_in_hull`.
    classes : int array (n,)

    Examples
    --------
    >>> import numpy as np
    >>> three = np.array([[[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]]] * 2)
    >>> admissible_in_hull(three, np.array([1, 2])).tolist()
    [True, False]
    """
    found = np.empty(len(points), dtype=bool)
    for rows in row_chunks(len(points), 16 * points[:1].size, chunk_bytes=CHUNK_BYTES):
        p, j = points[rows].astype(np.float64), classes[rows].astype(np.intp)
        own = np.take_along_axis(p, j[:, None, None], axis=2)
        ahead = own >= p
        left = np.asarray(np.asarray(ahead.all(axis=2)).any(axis=1))  # the mode of some point
        maximal = np.asarray(ahead.any(axis=1)).all(axis=1) & (own > 0.0).any(axis=(1, 2))
        at = np.flatnonzero(maximal & ~left)
        left[at] = _ahead_at_some_mixture(p, at, j[at])
        found[rows] = left
    return found


def undominated_in_box(lower: Floats, upper: Floats, *, last: str = CLASS_RULES[-1]) -> list[Bools]:
    """Classes that probability intervals do not rule out, by each rule from the widest to `last`.

    Parameters
    ----------
    lower, upper : array (n, K)
        Reachable bounds, see `reachable`.
    last : str
        As in `undominated_in_hull`.

    Returns
    -------
    list of (n, K) bool

    Notes
    -----
    Some p of the set has p_j = u_j and p_k = l_k, so that maximality is interval dominance. Class j is E-admissible if
    p_j = u_j leaves room for a distribution with p_k ≤ u_j for all others: max_k l_k ≤ u_j and Σ_k min(u_k, u_j) ≥ 1. No
    smaller p_j is better, because it lowers both the probability of j and the room of the others.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = np.array([[0.3, 0.3, 0.1]]), np.array([[0.5, 0.5, 0.3]])
    >>> [found[0].tolist() for found in undominated_in_box(*bounds)]
    [[True, True, True], [True, True, True], [True, True, False]]
    """
    found = [_by_intervals(lower, upper, ROUNDING)] * 2
    if last == CLASS_RULES[2]:
        room = np.empty(upper.shape)
        for rows in row_chunks(len(upper), 8 * upper.shape[1] ** 2, chunk_bytes=CHUNK_BYTES):
            room[rows] = np.minimum(upper[rows, :, None], upper[rows, None, :]).sum(axis=2)
        found = [*found, found[0] & (room >= 1 - ROUNDING)]
    return found[: CLASS_RULES.index(last) + 1]


def undominated_in_core(masses: Floats, focal_sets: Bools, *, last: str = CLASS_RULES[-1]) -> list[Bools]:
    """Classes that the core of a belief function does not rule out, by each rule from the widest to `last`.

    Parameters
    ----------
    masses : array (n, F)
        Non-negative, with sums of 1.
    focal_sets : bool array (F, K)
        Without the empty set.
    last : str
        As in `undominated_in_hull`.

    Returns
    -------
    list of (n, K) bool

    Notes
    -----
    Each p of the core gives the mass of every focal set to classes in it. If all sets that hold j give their masses to j, and
    only {k} gives its mass to k, then p_j = Pl(j) and p_k = Bel(k); so maximality is interval dominance. Class j is
    E-admissible if the sets without j can give their masses to their classes such that none gets more than Pl(j): a transport
    problem, solved where equal parts give some class more.

    Examples
    --------
    >>> import numpy as np
    >>> masses, sets = np.array([[0.45, 0.45, 0.1]]), np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]], dtype=bool)
    >>> [found[0].tolist() for found in undominated_in_core(masses, sets)]
    [[True, True, False], [True, True, False], [True, True, False]]
    """
    k, sizes = focal_sets.shape[1], focal_sets.sum(axis=1)
    lower = np.zeros((len(masses), k))
    lower[:, focal_sets[sizes == 1].argmax(axis=1)] = masses[:, sizes == 1]
    upper = masses @ focal_sets.astype(np.float64)
    found = [_by_intervals(lower, upper, ROUNDING)] * 2
    if last == CLASS_RULES[2]:
        admissible = found[0].copy()
        for j in range(k):
            rows = np.flatnonzero(admissible[:, j] & (upper[:, j] < upper.max(axis=1)))
            without = ~focal_sets[:, j]
            parts = masses[np.ix_(rows, without)]
            equal = parts @ (focal_sets[without] / sizes[without, None])
            hard = equal.max(axis=1, initial=0.0) > upper[rows, j] + ROUNDING
            if hard.any():
                several = sizes[without] > 1
                rest = np.delete(lower[rows[hard]], j, axis=1)
                sets = np.delete(focal_sets[without][several], j, axis=1)
                admissible[rows[hard], j] = _fits(parts[hard][:, several], sets, upper[rows[hard], j, None] - rest)
        found = [*found, admissible]
    return found[: CLASS_RULES.index(last) + 1]


# -- helpers -------------------------------------------------------------------------------------------------------------


def _by_intervals(lower: Floats, upper: Floats, rounding: float = 0.0) -> Bools:
    return np.asarray((upper >= lower.max(axis=1, keepdims=True) - rounding) & (upper > 0.0))


def _compact(kept: Bools, rows: NDArray[np.intp], n_points: int) -> Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows with the classes that matter to them, (rows, (r, c) classes); only a class that is kept can rule out others."""
    counts = np.count_nonzero(kept[rows], axis=1)
    order = rows[np.argsort(counts, kind="stable")]
    counts = np.sort(counts)
    parts, start = [], 0
    while start < len(order):
        stop = int(np.searchsorted(counts, counts[start], side="right"))  # rows with as many classes
        c = int(counts[start])
        for part in row_chunks(stop - start, 8 * c * (c + n_points), chunk_bytes=CHUNK_BYTES):
            chosen = order[start:stop][part]
            parts.append((chosen, np.nonzero(kept[chosen])[1].reshape(len(chosen), c)))
        start = stop
    return parts


def _ruled_out(points: Floats) -> Bools:
    """Whether another class has a greater probability at every point, (r, M, c) -> (r, c)."""
    p = np.ascontiguousarray(points.transpose(1, 2, 0))  # (M, c, r): long last axes are fast
    c, r = p.shape[1:]
    out = np.zeros((c, r), dtype=bool)
    for j in range(1, c):
        for k in range(j):
            ahead = p[:, k] > p[:, j]
            out[j] |= ahead.all(axis=0)
            out[k] |= (p[:, k] < p[:, j]).all(axis=0)
    return out.T


def _admissible(points: Floats, candidates: Bools) -> Bools:
    """Whether a class has the greatest probability at some mixture of the points, (r, M, c) -> (r, c)."""
    modes = (points >= points.max(axis=2, keepdims=True)).any(axis=1)
    row, j = np.nonzero(candidates & ~modes)
    modes[row, j] = _ahead_at_some_mixture(points, row, j)
    return modes


def _ahead_at_some_mixture(points: Floats, row: NDArray[np.intp], j: NDArray[np.intp]) -> Bools:
    """Whether class j has the greatest probability at some mixture of the points (M, c) of a row, ``(q,)`` for q pairs."""
    n_points, c = points.shape[1:]
    found = np.empty(len(row), dtype=bool)
    others = np.arange(c - 1) + (np.arange(c - 1) >= j[:, None])  # (q, c − 1)
    for part in row_chunks(len(row), 16 * (n_points + c) * c, chunk_bytes=CHUNK_BYTES):
        p = points[row[part]]
        own = np.take_along_axis(p, j[part, None, None], axis=2)
        lead = own - np.take_along_axis(p, others[part, None, :], axis=2)  # D, (q, M, c − 1)
        slack = np.broadcast_to(-np.eye(c - 1), (len(lead), c - 1, c - 1))
        found[part] = in_hull(np.concatenate([lead, slack], axis=1), np.zeros((len(lead), c - 1)), tolerance=ROUNDING)
    return found


def _fits(masses: Floats, sets: Bools, room: Floats) -> Bools:
    """Whether the sets (F, C) can give their masses (r, F) to their classes without exceeding their room (r, C), ``(r,)``.

    Pairs of a set and a class in it, and the room that is left in a class, are the columns of a linear program whose rows are
    the sets and the classes. With amounts divided by the whole room it asks whether a point lies in the hull of the columns.
    """
    n_sets, k = sets.shape
    owner, to = np.nonzero(sets)
    pairs = np.zeros((len(owner), n_sets + k))
    pairs[np.arange(len(owner)), owner] = 1.0
    pairs[np.arange(len(owner)), n_sets + to] = 1.0
    left = np.concatenate([np.zeros((k, n_sets)), np.eye(k)], axis=1)
    columns = np.concatenate([pairs, left])
    fits = np.asarray((room >= -ROUNDING).all(axis=1) & (room.sum(axis=1) >= masses.sum(axis=1) - ROUNDING))
    rows = np.flatnonzero(fits & (room.sum(axis=1) > ROUNDING))
    for part in row_chunks(len(rows), 8 * columns.size, chunk_bytes=8 * CHUNK_BYTES):
        at = rows[part]
        open_room = np.maximum(room[at], 0.0)
        target = np.concatenate([masses[at], open_room], axis=1) / open_room.sum(axis=1, keepdims=True)
        fits[at] = in_hull(np.broadcast_to(columns, (len(at), *columns.shape)), target, tolerance=10 * ROUNDING)
    return fits
