"""Upper and lower entropy over a box of probabilities, {p in the simplex: l ≤ p ≤ u}.

Entropy is concave. The maximum has a closed form. The minimum takes branch and bound, because no greedy order of the classes
finds it in general.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_rows, row_chunks
from uqassay._kernels import kernel
from uqassay.errors import InputError

__all__ = ["CertifiedEntropy", "box_lower_entropy", "box_upper_entropy", "phi", "shannon_entropy"]

Float = NDArray[np.float64]
Nodes = tuple[Float, Float, NDArray[np.int64], Float]  # boxes l and u (m, K), their instance (m,), a bound (m,)

SET_TOLERANCE = 1e-3  # half precision: the set counts as empty if sums or bounds are off by more
PRUNE_SLACK = 1e-12  # nats: a node that could improve the best value by less is closed
NODES_PER_ROUND = 16  # per instance; depth first, so the number of open nodes grows only with the depth
ELEMENTS_PER_ROUND = 2**18
CHUNK_BYTES = 2**18  # fits the cache: memory traffic costs more than the arithmetic


@dataclass(frozen=True)
class CertifiedEntropy:
    """Extreme entropies of n credal sets with certified gaps.

    Attributes
    ----------
    values : (n,) float64
        Entropy (nats) of a distribution in the set.
    gap : (n,) float64
        The true extreme is at most this far (nats) from `values`.
    steps : (n,) int64
        Number of nodes of the search tree, or of interior-point steps.
    """

    values: Float
    gap: Float
    steps: NDArray[np.int64]


def _bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two arrays of numbers of one shape (n, K), values unchecked."""
    l, u = (as_numeric(a, name, ndim=2) for a, name in ((lower, "lower"), (upper, "upper")))
    if l.shape != u.shape:
        raise InputError(
            "upper", f"must have the shape of lower, {l.shape}", f"got {u.shape}", "pass both as (n, K)", code="shape"
        )
    return l, u


def _as_box(l: NDArray[Any], u: NDArray[Any]) -> tuple[Float, Float]:
    """Reachable bounds."""
    for bound, name in ((l, "lower"), (u, "upper")):
        check_rows(bound, name, tolerance=SET_TOLERANCE, unit_sum=False, remedy="pass probabilities")
    l = np.maximum(np.ascontiguousarray(l, dtype=np.float64), 0.0)
    u = np.ascontiguousarray(u, dtype=np.float64)
    crossed = (l - u).max(axis=1)
    empty = np.maximum(np.maximum(l.sum(axis=1) - 1.0, 1.0 - u.sum(axis=1)), crossed) > SET_TOLERANCE
    if empty.any():
        i = int(np.flatnonzero(empty)[0])
        raise InputError(
            "lower, upper",
            "must contain a distribution between them",
            f"row {i} has lower probabilities that sum to {float(l[i].sum()):.6g}, upper ones to "
            f"{float(u[i].sum()):.6g} and max(lower - upper) {float(crossed[i]):.6g}",
            "widen the bounds of the row or drop it",
            code="range",
        )
    u = np.maximum(u, l)
    room = np.maximum(1.0 - l.sum(axis=1, keepdims=True), 0.0)  # (n, 1)
    excess = np.maximum(u.sum(axis=1, keepdims=True) - 1.0, 0.0)
    top = np.minimum(u, l + room)
    return np.minimum(np.maximum(l, u - excess), top), top  # reachable bounds: each is attained in the set


def box_upper_entropy(lower: ArrayLike, upper: ArrayLike) -> Float:
    """Largest entropy (nats) over {p: lower ≤ p ≤ upper, Σp = 1}, exact, by water-filling.

    Parameters
    ----------
    lower, upper : (n, K)

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        Bounds that are not probabilities, or that contain no distribution.

    Examples
    --------
    >>> box_upper_entropy([[0.5, 0.0, 0.0]], [[1.0, 0.1, 1.0]]).round(4).tolist()
    [0.9433]
    """
    given = _bounds(lower, upper)
    if (found := _compiled("box_upper_entropy", *given)) is not None:
        values: Float = found
        return values
    l, u = _as_box(*given)
    out = np.empty(l.shape[0])
    for rows in row_chunks(len(l), l[0].nbytes, chunk_bytes=CHUNK_BYTES):
        out[rows] = shannon_entropy(_water_fill(l[rows], u[rows]))
    return out


def box_lower_entropy(lower: ArrayLike, upper: ArrayLike, *, max_nodes: int | None = None) -> CertifiedEntropy:
    """Smallest entropy (nats) over {p: lower ≤ p ≤ upper, Σp = 1}, exact to 1e-12, by branch and bound.

    The relaxation replaces each −p ln p by its chord over [l, u]. Its minimum is a fractional knapsack: mass goes to the
    classes by ascending slope of the chord, and all classes except one end at a bound. The solution lies in the set, so it
    also gives an upper bound. The search branches at the value of that one class. If one of two classes has both bounds at
    least as high as the other, their values can be swapped into this order without changing the entropy. A branch therefore
    also tightens the bounds of all classes below or above its class, which keeps the trees small even for hundreds of classes
    with equal bounds.

    Parameters
    ----------
    lower, upper : (n, K)
    max_nodes : int, optional
        Stop an instance after about this many nodes; `gap` then bounds the error. By default every search is
        finished.

    Returns
    -------
    CertifiedEntropy
        `gap` is 0 if the search was finished; `steps` counts the nodes. The compiled search visits them in another order, so
        its count may differ a little.

    Raises
    ------
    InputError
        Bounds that are not probabilities, or that contain no distribution; `max_nodes` below 1.

    Examples
    --------
    >>> box_lower_entropy([[0.5, 0.0, 0.0]], [[0.9, 0.1, 0.5]]).values.round(4).tolist()
    [0.3251]
    """
    if max_nodes is not None and max_nodes < 1:
        raise InputError(
            "max_nodes", "must be at least 1", f"got {max_nodes}", "leave it out for the exact minimum", code="range"
        )
    given = _bounds(lower, upper)
    if max_nodes is None and (found := _compiled("box_lower_entropy", *given)) is not None:
        return CertifiedEntropy(found[0], np.zeros(len(found[0])), found[1])
    l, u = _as_box(*given)
    values, gap, steps = np.empty(len(l)), np.empty(len(l)), np.empty(len(l), dtype=np.int64)
    for rows in row_chunks(len(l), l[0].nbytes, chunk_bytes=CHUNK_BYTES):
        values[rows], gap[rows], steps[rows] = _branch_and_bound(l[rows], u[rows], max_nodes)
    return CertifiedEntropy(values, gap, steps)


def _compiled(name: str, l: NDArray[Any], u: NDArray[Any]) -> Any:
    """What the kernel returns; None if there is none, or if a row holds no distribution, which `_as_box` explains."""
    compiled = kernel(name)
    return compiled and compiled(*(np.ascontiguousarray(bound, dtype=np.float64) for bound in (l, u)))


# -- helpers: sums run along the last axis, so rounding does not depend on the other instances ------------------------


def phi(p: Float) -> Float:
    """φ(p) = −p ln p of each entry, 0 for p = 0."""
    return -p * np.log(np.maximum(p, np.finfo(np.float64).tiny))


def shannon_entropy(p: Float) -> Float:
    """−Σ p ln p over the last axis, in nats."""
    return np.abs(phi(p).sum(axis=-1))  # abs turns the -0.0 of a one-hot p into 0.0


def _water_fill(l: Float, u: Float) -> Float:
    # The maximiser is clip(s, l, u) with Σ = 1. The sum rises with s and is linear between the 2K bounds: bisection over
    # the sorted bounds finds the piece, and s within it is exact.
    n, K = l.shape
    knots = np.sort(np.concatenate([l, u], axis=1), axis=1)  # (n, 2K)
    rows, low, high = np.arange(n), np.zeros(n, dtype=np.int64), np.full(n, 2 * K)
    for _ in range((2 * K).bit_length()):
        middle = (low + high) >> 1
        s = knots[rows, np.minimum(middle, 2 * K - 1)][:, None]  # (n, 1)
        below = np.minimum(np.maximum(s, l), u).sum(axis=1) <= 1.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    s = knots[rows, np.minimum(low, 2 * K - 1)][:, None]
    missing = 1.0 - np.minimum(np.maximum(s, l), u).sum(axis=1, keepdims=True)
    free = np.count_nonzero((l <= s) & (s < u), axis=1)[:, None]  # (n, 1): the classes that rise with s
    return np.minimum(np.maximum(s + missing / np.maximum(free, 1), l), u)


def _branch_and_bound(l: Float, u: Float, max_nodes: int | None) -> tuple[Float, Float, NDArray[np.int64]]:
    # All instances advance together in one table of nodes; the nodes of an instance do not depend on the others.
    n, K = l.shape
    best, gap, count = np.full(n, np.inf), np.zeros(n), np.zeros(n, dtype=np.int64)
    table: Nodes = (l, u, np.arange(n), np.full(n, -np.inf))
    while table[2].size:
        (L, U, row, _), waiting = _next_round(table, n, max(NODES_PER_ROUND, ELEMENTS_PER_ROUND // K))
        count += np.bincount(row, minlength=n)
        bound, value, split, at = _relax(L, U)
        np.minimum.at(best, row, value)
        children = _branch(L, U, row, bound, split, at, bound < best[row] - PRUNE_SLACK)
        table = children if waiting is None else _join(waiting, children)
        open_ = table[3] < best[table[2]] - PRUNE_SLACK
        if max_nodes is not None:
            stop = open_ & (count >= max_nodes)[table[2]]
            np.maximum.at(gap, table[2][stop], best[table[2][stop]] - table[3][stop])
            open_ &= ~stop
        table = _pick(table, open_)
    return np.abs(best), gap, count


def _next_round(table: Nodes, n: int, limit: int) -> tuple[Nodes, Nodes | None]:
    # The newest nodes of each instance, at most NODES_PER_ROUND, for as many instances as fit the limit completely.
    row = table[2]
    count = np.bincount(row, minlength=n)
    if row.size <= limit and count.max() <= NODES_PER_ROUND:
        return table, None
    admitted = np.cumsum(np.minimum(count, NODES_PER_ROUND)) <= limit  # (n,)
    order = np.argsort(row, kind="stable")
    from_end = np.cumsum(count)[row[order]] - np.arange(row.size)
    now = np.zeros(row.size, dtype=bool)
    now[order] = admitted[row[order]] & (from_end <= NODES_PER_ROUND)
    return _pick(table, now), _pick(table, ~now)


def _relax(L: Float, U: Float) -> tuple[Float, Float, NDArray[np.int64], Float]:
    # Knapsack over the chords: value (a lower bound), entropy at the solution (an upper bound), split class, its value.
    m, K = L.shape
    nodes, width = np.arange(m), U - L
    phi_l = phi(L)
    rise = phi(U) - phi_l
    slope = np.where(width > 0, rise / np.where(width > 0, width, 1.0), 0.0)  # (m, K)
    order = np.argsort(slope, axis=1)
    filled = np.cumsum(np.take_along_axis(width, order, axis=1), axis=1)
    mass = 1.0 - L.sum(axis=1)  # (m,) mass to distribute
    k = np.minimum(np.count_nonzero(filled < mass[:, None], axis=1), K - 1)  # number of classes filled to u
    split = order[nodes, k]
    before = np.where(k > 0, filled[nodes, np.maximum(k - 1, 0)], 0.0)
    part = np.clip(mass - before, 0.0, width[nodes, split])
    full = np.arange(K) < k[:, None]
    base = phi_l.sum(axis=1) + np.where(full, np.take_along_axis(rise, order, axis=1), 0.0).sum(axis=1)
    at = L[nodes, split] + part
    value = base - phi_l[nodes, split] + phi(at)
    return base + slope[nodes, split] * part, value, split, at


def _branch(
    L: Float,
    U: Float,
    row: NDArray[np.int64],
    bound: Float,
    split: NDArray[np.int64],
    at: Float,
    live: NDArray[np.bool],
) -> Nodes:
    # Children p_f ≤ v and p_f ≥ v of each live node. Classes with bounds below (above) those of f get the same bound,
    # by the order argument; of classes with equal bounds the index decides.
    L, U, row, bound = _pick((L, U, row, bound), live)
    f, v, nodes, classes = split[live][:, None], at[live][:, None], np.arange(row.size), np.arange(L.shape[1])
    l_f, u_f = L[nodes, f[:, 0]][:, None], U[nodes, f[:, 0]][:, None]  # (m, 1)
    alike = (l_f == L) & (u_f == U)
    below = (l_f >= L) & (u_f >= U) & (~alike | (classes >= f))
    above = (l_f <= L) & (u_f <= U) & (~alike | (classes <= f))
    down = (L, np.where(below, np.minimum(U, v), U), row, bound)
    up = (np.where(above, np.maximum(L, v), L), U, row, bound)
    rounding = np.finfo(np.float64).eps * L.shape[1]
    return _join(
        _pick(down, down[1].sum(axis=1) >= 1.0 - rounding),
        _pick(up, up[0].sum(axis=1) <= 1.0 + rounding),
    )


def _pick(table: Nodes, which: NDArray[np.bool]) -> Nodes:
    return table[0][which], table[1][which], table[2][which], table[3][which]


def _join(a: Nodes, b: Nodes) -> Nodes:
    L, U, row, bound = (np.concatenate(pair) for pair in zip(a, b, strict=True))
    return L, U, row, bound
