"""Upper and lower entropy over probability intervals, the core of a belief function, and a convex hull."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_numeric, check_rows, row_chunks, tolerance_of
from uqassay.checks import fail
from uqassay.credal.events import check_enumerable, event_sizes, zeta_transform
from uqassay.native import kernel

__all__ = [
    "box_lower_entropy",
    "box_upper_entropy",
    "core_lower_entropy",
    "core_upper_entropy",
    "hull_lower_entropy",
    "hull_upper_entropy",
    "shannon_entropy",
]


# Upper and lower entropy over a box of probabilities, {p in the simplex: l ≤ p ≤ u}.
#
# Entropy is concave. The maximum has a closed form. The minimum takes branch and bound, because no greedy order of the
# classes finds it in general.

Float = NDArray[np.float64]
Nodes = tuple[Float, Float, NDArray[np.int64], Float]  # boxes l and u (m, K), their instance (m,), a bound (m,)

SET_TOLERANCE = 1e-3  # half precision: the set counts as empty if sums or bounds are off by more
PRUNE_SLACK = 1e-12  # nats: a node that could improve the best value by less is closed
NODES_PER_ROUND = 16  # per instance; depth first, so the number of open nodes grows only with the depth
ELEMENTS_PER_ROUND = 2**18
CHUNK_BYTES = 2**18  # fits the cache: memory traffic costs more than the arithmetic


@dataclass(frozen=True)
class CertifiedEntropy:
    """Extreme entropies of n credal sets with certified gaps."""

    #: (n,) Entropy (nats) of a distribution in the set.
    values: Float
    #: (n,) The true extreme is at most this far (nats) from `values`.
    gap: Float
    #: (n,) Number of nodes of the search tree, or of interior-point steps.
    steps: NDArray[np.int64]


def _bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two arrays of numbers of one shape (n, K), values unchecked."""
    l, u = (as_numeric(a, name, ndim=2) for a, name in ((lower, "lower"), (upper, "upper")))
    if l.shape != u.shape:
        fail("upper", f"must have the shape of lower, {l.shape}", f"got {u.shape}", "pass both as (n, K)", code="shape")
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
        rule = "must contain a distribution between them"
        got = (
            f"row {i} has lower probabilities that sum to {float(l[i].sum()):.6g}, upper ones to "
            f"{float(u[i].sum()):.6g} and max(lower - upper) {float(crossed[i]):.6g}"
        )
        fail("lower, upper", rule, got, "widen the bounds of the row or drop it", code="range")
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
        fail("max_nodes", "must be at least 1", f"got {max_nodes}", "leave it out for the exact minimum", code="range")
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


# Upper and lower entropy over the core of a belief function, {p : p(A) ≥ Bel(A) for every event A}, exact for K ≤ 16.
#
# Entropy is concave and symmetric. Its minimum lies at a vertex of the core, and each vertex gives the classes of some
# order the increments of the belief along it: the minimum is a shortest path through the events. The maximum is the
# most equal distribution of the core, which a greedy choice of events with the greatest mean belief finds.

CORE_CHUNK_BYTES = 2**24


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
    for rows in row_chunks(len(masses), 8 * 2**k, chunk_bytes=CORE_CHUNK_BYTES):
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


# Upper and lower entropy over the convex hull of points, that is, over all mixtures of members or vertices.
#
# Entropy is concave: the minimum is at one of the points. An interior-point method finds the maximum with a certified
# gap.

MAX_STEPS = 100


def _as_points(points: ArrayLike) -> NDArray[Any]:
    array = as_numeric(points, "points", ndim=3)
    if array.shape[1] == 0:
        rule = "must have at least one point per instance"
        fail("points", rule, f"got shape {array.shape}", "pass shape (n, V, K)", code="shape")
    tolerance = max(SET_TOLERANCE, tolerance_of(array))
    check_rows(array, "points", tolerance=tolerance, remedy="pass points that are distributions")
    return array


def hull_upper_entropy(points: ArrayLike, tolerance: float = 1e-9) -> CertifiedEntropy:
    """Largest entropy (nats) over the mixtures of each instance's points, with a certified gap.

    Parameters
    ----------
    points : (n, V, K)
    tolerance : float
        An instance is finished when its gap is at most this (nats, at least 1e-12).

    Returns
    -------
    CertifiedEntropy
        `steps` counts interior-point steps, at most 100.

    Raises
    ------
    InputError
        Points that are not distributions, or a tolerance below 1e-12.

    Notes
    -----
    Entropy is concave, so with q = Σ_m w_m p_m no mixture exceeds H(q) by more than
    the gap max_m CE(p_m, q) − H(q), where CE(p, q) = −Σ_k p_k ln q_k.

    Examples
    --------
    >>> hull_upper_entropy([[[0.9, 0.1], [0.3, 0.7]]]).values.round(4).tolist()
    [0.6931]
    """
    if not tolerance >= 1e-12:
        remedy = "pass 1e-12 or more: rounding allows no smaller gap"
        fail("tolerance", "must be at least 1e-12 nats", f"got {tolerance}", remedy, code="range")
    array = _as_points(points)
    n = array.shape[0]
    values, gap, steps = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    for rows in row_chunks(n, 8 * array[0].size, chunk_bytes=4 * CHUNK_BYTES):
        P, n_different = _in_one_order(np.maximum(np.ascontiguousarray(array[rows], dtype=np.float64), 0.0))
        for v in np.unique(n_different):
            some = np.flatnonzero(n_different == v)
            of = np.arange(rows.start, rows.start + len(P))[some]
            values[of], gap[of], steps[of] = _interior_point(P[some, :v], tolerance)
    return CertifiedEntropy(values, gap, steps)


def hull_lower_entropy(points: ArrayLike) -> Float:
    """Smallest entropy (nats) over the mixtures of each instance's points ``(n, V, K)``, which is that of one of the points.

    Raises `InputError` for points that are not distributions.

    Examples
    --------
    >>> hull_lower_entropy([[[0.9, 0.1], [0.3, 0.7]]]).round(4).tolist()
    [0.3251]
    """
    array = _as_points(points)
    out = np.empty(array.shape[0])
    for rows in row_chunks(len(array), 8 * array[0].size, chunk_bytes=4 * CHUNK_BYTES):
        out[rows] = shannon_entropy(np.maximum(np.ascontiguousarray(array[rows], dtype=np.float64), 0.0)).min(axis=1)
    return out


# -- helpers: sums run along the last axis, so rounding does not depend on the other instances ------------------------


def _in_one_order(P: Float) -> tuple[Float, NDArray[np.int64]]:
    # Each instance's different points in lexical order, then those that repeat another, and the number of the former: so
    # that equal sets have equal entropies to the last bit, in whatever order and how often their points are given.
    order = np.lexsort(P.transpose(2, 0, 1)[::-1])  # (n, V)
    P = np.take_along_axis(P, order[:, :, None], axis=1)
    repeated = np.zeros(P.shape[:2], dtype=bool)
    repeated[:, 1:] = (P[:, 1:] == P[:, :-1]).all(axis=2)
    last = np.argsort(repeated, axis=1, kind="stable")
    return np.take_along_axis(P, last[:, :, None], axis=1), P.shape[1] - repeated.sum(axis=1)


def _interior_point(P: Float, tolerance: float) -> tuple[Float, Float, NDArray[np.int64]]:
    # Primal-dual steps for max H(Σ_m w_m p_m) over the weights w, with multipliers z of w ≥ 0 and ν of Σw = 1.
    n, V, _ = P.shape
    at_point = shannon_entropy(P).max(axis=1)
    best, ceiling, steps = at_point.copy(), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    rows, w, z = np.arange(n), np.full((n, V), 1.0 / V), np.empty((n, V))
    spare = 1.0 - P.sum(axis=2)  # (n, V): in low precision members do not sum to 1 exactly
    for step in range(MAX_STEPS + 1):
        q = np.matmul(w[:, None, :], P)[:, 0, :]  # (n, K)
        q = np.where(q > 0, q, 1.0)  # a class without mass in all members then contributes 0
        g = spare - np.matmul(P, np.log(q)[:, :, None])[:, :, 0]  # (n, V): CE(p_m, q), or exactly ∂H/∂w_m + 1
        h = shannon_entropy(q)
        best[rows] = np.maximum(best[rows], h)
        top = g.max(axis=1, keepdims=True)
        ceiling[rows] = np.minimum(ceiling[rows], h + np.maximum(top[:, 0] - (w * g).sum(axis=1), 0.0))
        steps[rows] = step
        live = ceiling[rows] - best[rows] > tolerance
        if step == 0:
            z = 2.0 * top - (w * g).sum(axis=1, keepdims=True) - g
        if step == MAX_STEPS or not live.any():
            break
        P, w, z, q, g, top, spare, rows = (a[live] for a in (P, w, z, q, g, top, spare, rows))
        w, z = _newton_step(P, w, z, q, g - top)
    best = np.where(ceiling - at_point <= tolerance, at_point, best)  # without rounding of the weights
    return best, ceiling - best, steps


def _newton_step(P: Float, w: Float, z: Float, q: Float, g: Float) -> tuple[Float, Float]:
    # (P diag(1/q) Pᵀ + D) dw + ν = g + σμ/w with Σdw = 0, then dz = σμ/w − z − D dw; both steps have one length,
    # because the problem is not linear. g is relative to its maximum, which keeps the digits of its small differences.
    D = np.maximum(z / w, 1e-13)  # (n, V)
    mu = (w * z).mean(axis=1, keepdims=True)  # (n, 1)
    X = _solve(P / np.sqrt(q)[:, None, :], D, np.stack([g, 1.0 / w, np.ones_like(w)], axis=2))  # (n, V, 3)
    by_g, by_w, by_1 = X[:, :, 0], X[:, :, 1], X[:, :, 2]
    norm = by_1.sum(axis=1, keepdims=True)
    d_g = by_g - by_g.sum(axis=1, keepdims=True) / norm * by_1
    d_w = by_w - by_w.sum(axis=1, keepdims=True) / norm * by_1

    def move(target: Float | float) -> tuple[Float, Float]:
        dw = d_g + target * d_w
        dz = target / w - z - D * dw
        longest = np.maximum((-dw / w).max(axis=1, keepdims=True), (-dz / z).max(axis=1, keepdims=True))
        length = np.minimum(1.0, 0.95 / np.maximum(longest, 1e-300))
        return w + length * dw, z + length * dz

    w_0, z_0 = move(0.0)
    sigma = np.clip(((w_0 * z_0).mean(axis=1, keepdims=True) / mu) ** 3, 0.05, 0.9)  # Mehrotra's centring
    w, z = move(sigma * mu)
    return w / w.sum(axis=1, keepdims=True), z


def _solve(B: Float, D: Float, right: Float) -> Float:
    # (B Bᵀ + diag D)⁻¹ right, by the V × V system or, if K is smaller, the K × K system of the Woodbury identity.
    _, V, K = B.shape
    if V <= K:
        M = np.matmul(B, B.transpose(0, 2, 1))
        M[:, np.arange(V), np.arange(V)] += D
        return np.asarray(np.linalg.solve(M, right), dtype=np.float64)
    scaled = B / D[:, :, None]
    M = np.matmul(B.transpose(0, 2, 1), scaled)
    M[:, np.arange(K), np.arange(K)] += 1.0
    inner = np.asarray(np.linalg.solve(M, np.matmul(scaled.transpose(0, 2, 1), right)), dtype=np.float64)
    return right / D[:, :, None] - np.matmul(scaled, inner)
