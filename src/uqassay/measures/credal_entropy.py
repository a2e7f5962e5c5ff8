"""Upper and lower entropy of a credal set, and credal uncertainty, their difference.

Two sets are offered. "box" is every distribution between the lower and upper probabilities of the classes, {p in the
simplex: l ≤ p ≤ u}; "hull" is every mixture of the members or vertices. The hull lies inside the box.

Entropy is concave. Its maximum over the box is found in closed form and over the hull by an interior-point method with
a certified gap; its minimum over the hull is at one of the points, and over the box it is found exactly by branch and
bound, as no order in which mass could be handed out greedily finds it.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_rows, row_chunks
from uqassay.errors import InputError

__all__ = [
    "CertifiedEntropy",
    "box_lower_entropy",
    "box_upper_entropy",
    "credal_uncertainty",
    "hull_lower_entropy",
    "hull_upper_entropy",
    "lower_entropy",
    "upper_entropy",
]

Float = NDArray[np.float64]
Nodes = tuple[Float, Float, NDArray[np.int64], Float]  # boxes l and u (m, K), their instance (m,), a bound (m,)

SET_TOLERANCE = 1e-3  # half precision: how far sums and bounds may be off before the set counts as empty
PRUNE_SLACK = 1e-12  # nats: a node that promises less than this is closed
NODES_PER_ROUND = 16  # of one instance; deeper nodes first, so that open nodes grow with the depth only
ELEMENTS_PER_ROUND = 2**18
CHUNK_BYTES = 2**18  # in and out of the processor's cache costs more than the arithmetic
MAX_STEPS = 100


# -- validation and results -------------------------------------------------------------------------------------------


class Credal(Protocol):
    """What is asked of a prediction."""

    def lower_probs(self) -> Any:
        """Lower probabilities of the classes, ``(n, K)``."""

    def upper_probs(self) -> Any:
        """Upper probabilities of the classes, ``(n, K)``."""

    def hull_points(self) -> Any:
        """Points whose mixtures are the credal set, ``(n, V, K)``."""


@dataclass(frozen=True)
class CertifiedEntropy:
    """Extreme entropies of n credal sets with the proof of how extreme they are.

    Attributes
    ----------
    values : (n,) float64
        Entropy (nats) of a distribution in the set.
    gap : (n,) float64
        The true extreme is at most this far (nats) from `values`.
    steps : (n,) int64
        Nodes of the search tree, or interior-point steps, that the instance took.
    """

    values: Float
    gap: Float
    steps: NDArray[np.int64]


def _as_box(lower: ArrayLike, upper: ArrayLike) -> tuple[Float, Float]:
    l, u = (as_numeric(a, name, ndim=2) for a, name in ((lower, "lower"), (upper, "upper")))
    if l.shape != u.shape:
        raise InputError(f"upper: must have the shape of lower, {l.shape}; got {u.shape}; give both (n, K).")
    for bound, name in ((l, "lower"), (u, "upper")):
        check_rows(bound, name, tolerance=SET_TOLERANCE, unit_sum=False, remedy="probabilities are needed")
    l = np.maximum(np.ascontiguousarray(l, dtype=np.float64), 0.0)
    u = np.ascontiguousarray(u, dtype=np.float64)
    crossed = (l - u).max(axis=1)
    empty = np.maximum(np.maximum(l.sum(axis=1) - 1.0, 1.0 - u.sum(axis=1)), crossed) > SET_TOLERANCE
    if empty.any():
        i = int(np.flatnonzero(empty)[0])
        raise InputError(
            f"lower, upper: some distribution must lie between them; row {i} has lower probabilities that sum to "
            f"{float(l[i].sum()):.6g}, upper ones to {float(u[i].sum()):.6g} and max(lower - upper) "
            f"{float(crossed[i]):.6g}; widen that row or drop it."
        )
    u = np.maximum(u, l)
    room = np.maximum(1.0 - l.sum(axis=1, keepdims=True), 0.0)  # (n, 1)
    excess = np.maximum(u.sum(axis=1, keepdims=True) - 1.0, 0.0)
    top = np.minimum(u, l + room)
    return np.minimum(np.maximum(l, u - excess), top), top  # reachable: every bound is attained in the set


def _as_points(points: ArrayLike) -> NDArray[Any]:
    array = as_numeric(points, "points", ndim=3)
    if array.shape[1] == 0:
        raise InputError(f"points: each instance needs at least one point; got shape {array.shape}; give (n, V, K).")
    check_rows(array, "points", tolerance=SET_TOLERANCE, remedy="each point must be a distribution")
    return array


def _check_choice(value: str, name: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name}: must be one of {', '.join(allowed)}; got {value!r}; choose one of these.")


# -- of a prediction --------------------------------------------------------------------------------------------------


def upper_entropy(prediction: Credal, *, over: str = "box") -> Float:
    """Largest entropy in the credal set of each instance, in nats: a measure of total uncertainty.

    Parameters
    ----------
    prediction : Members, Intervals, Masses, … with n instances and K classes
    over : {"box", "hull"}
        All distributions between the lower and upper probabilities, or the mixtures of the members or vertices
        (certified to 1e-9).

    Returns
    -------
    (n,) float64, nats, between 0 and ln K

    Raises
    ------
    InputError
        Unknown `over`, or "hull" for a kind of prediction without a finite hull.

    Notes
    -----
    Source: Wang et al. (2024), in the unified evaluation paper eq. (20). The maximiser over the box is
    p = clip(s, l, u) with the level s at which it sums to 1 (Abellán and Moral, 2003).

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> prediction = SimpleNamespace(lower_probs=lambda: [[0.5, 0.1]], upper_probs=lambda: [[0.9, 0.5]])
    >>> upper_entropy(prediction).round(4).tolist()
    [0.6931]
    """
    _check_choice(over, "over", ("box", "hull"))
    if over == "hull":
        return hull_upper_entropy(prediction.hull_points()).values
    return box_upper_entropy(prediction.lower_probs(), prediction.upper_probs())


def lower_entropy(prediction: Credal, *, over: str = "box") -> Float:
    """Smallest entropy in the credal set of each instance, in nats: uncertainty that more knowledge would not remove.

    Parameters, errors and source are those of `upper_entropy`; the minimum is exact (to 1e-12) over both sets.

    Returns
    -------
    (n,) float64, nats

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> prediction = SimpleNamespace(lower_probs=lambda: [[0.5, 0.1]], upper_probs=lambda: [[0.9, 0.5]])
    >>> lower_entropy(prediction).round(4).tolist()
    [0.3251]
    """
    _check_choice(over, "over", ("box", "hull"))
    if over == "hull":
        return hull_lower_entropy(prediction.hull_points())
    return box_lower_entropy(prediction.lower_probs(), prediction.upper_probs()).values


def credal_uncertainty(prediction: Credal, *, over: str = "box", convention: str = "exact") -> Float:
    """Credal uncertainty: upper minus lower entropy of the credal set of each instance.

    Parameters
    ----------
    prediction : Members, Intervals, Masses, … with n instances and K classes
    over : {"box", "hull"}
        See `upper_entropy`.
    convention : {"exact", "paper"}
        "exact" is the difference, in nats. "paper" gives the numbers printed as CU in the unified evaluation paper,
        which are another quantity, in bits: log2 K − H2(singleton lower probabilities normalised to sum 1). That is
        0 for a uniform prediction and **largest for confident ones**, so do not read it as an uncertainty; it is
        nan where all lower probabilities are 0, as the normalised vector is then undefined.

    Returns
    -------
    (n,) float64, nats ("exact") or bits ("paper")

    Raises
    ------
    InputError
        Unknown `over` or `convention`; "hull" together with the paper's convention, which uses no hull.

    Notes
    -----
    Source: unified evaluation paper, App. F.2, eq. (20); the paper's numbers, Table 6, follow the authors' code.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> prediction = SimpleNamespace(lower_probs=lambda: [[0.5, 0.1]], upper_probs=lambda: [[0.9, 0.5]])
    >>> credal_uncertainty(prediction).round(4).tolist()
    [0.3681]
    >>> credal_uncertainty(prediction, convention="paper").round(4).tolist()
    [0.35]
    """
    _check_choice(over, "over", ("box", "hull"))
    _check_choice(convention, "convention", ("exact", "paper"))
    if convention == "exact":
        return np.maximum(upper_entropy(prediction, over=over) - lower_entropy(prediction, over=over), 0.0)
    if over == "hull":
        raise InputError('over: must be "box" with convention="paper"; got "hull"; the paper uses lower bounds only.')
    l = np.maximum(np.asarray(prediction.lower_probs(), dtype=np.float64), 0.0)
    total = l.sum(axis=1, keepdims=True)
    q = np.divide(l, total, out=np.full_like(l, np.nan), where=total > 0)  # (n, K)
    return np.log2(l.shape[1]) - _entropy(q) / np.log(2.0)


# -- kernels: arrays in, arrays out -----------------------------------------------------------------------------------


def box_upper_entropy(lower: ArrayLike, upper: ArrayLike) -> Float:
    """Largest entropy (nats) over {p: lower ≤ p ≤ upper, Σp = 1}, by water-filling, exact.

    Parameters
    ----------
    lower, upper : (n, K)

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        Bounds that are no probabilities, or between which no distribution lies.

    Examples
    --------
    >>> box_upper_entropy([[0.5, 0.0, 0.0]], [[1.0, 0.1, 1.0]]).round(4).tolist()
    [0.9433]
    """
    l, u = _as_box(lower, upper)
    out = np.empty(l.shape[0])
    for rows in row_chunks(len(l), l[0].nbytes, chunk_bytes=CHUNK_BYTES):
        out[rows] = _entropy(_water_fill(l[rows], u[rows]))
    return out


def box_lower_entropy(lower: ArrayLike, upper: ArrayLike, *, max_nodes: int | None = None) -> CertifiedEntropy:
    """Smallest entropy (nats) over {p: lower ≤ p ≤ upper, Σp = 1}, exact to 1e-12, by branch and bound.

    Each −p ln p is replaced by its chord over [l, u]. The relaxed minimum is a fractional knapsack: mass goes to the
    classes by ascending slope of the chord and all classes but one end at a bound, so it is a distribution of the set
    too. The search branches at the value of that one class. Two classes of which one has both bounds at least as
    high can be swapped into that order without changing the entropy, so a branch also moves the bounds of all classes
    below or above its class; this keeps the trees small even for hundreds of classes with alike bounds.

    Parameters
    ----------
    lower, upper : (n, K)
    max_nodes : int, optional
        Stop an instance after about this many nodes; its `gap` then says what is still open. By default every
        search is finished.

    Returns
    -------
    CertifiedEntropy
        `gap` is 0 where the search was finished; `steps` counts the nodes.

    Raises
    ------
    InputError
        Bounds that are no probabilities, or between which no distribution lies; `max_nodes` below 1.

    Examples
    --------
    >>> box_lower_entropy([[0.5, 0.0, 0.0]], [[0.9, 0.1, 0.5]]).values.round(4).tolist()
    [0.3251]
    """
    if max_nodes is not None and max_nodes < 1:
        raise InputError(f"max_nodes: must be at least 1; got {max_nodes}; leave it out for the exact minimum.")
    l, u = _as_box(lower, upper)
    values, gap, steps = np.empty(len(l)), np.empty(len(l)), np.empty(len(l), dtype=np.int64)
    for rows in row_chunks(len(l), l[0].nbytes, chunk_bytes=CHUNK_BYTES):
        values[rows], gap[rows], steps[rows] = _branch_and_bound(l[rows], u[rows], max_nodes)
    return CertifiedEntropy(values, gap, steps)


def hull_upper_entropy(points: ArrayLike, tolerance: float = 1e-9) -> CertifiedEntropy:
    """Largest entropy (nats) over the mixtures of each instance's points, with a certified gap.

    Parameters
    ----------
    points : (n, V, K)
    tolerance : float
        An instance is done when its gap is at most this (nats, at least 1e-12).

    Returns
    -------
    CertifiedEntropy
        `steps` counts interior-point steps; at most 100 are taken.

    Raises
    ------
    InputError
        Points that are no distributions, or a tolerance below 1e-12.

    Notes
    -----
    Entropy is concave, so with q = Σ_m w_m p_m no mixture exceeds H(q) by more than
    max_m CE(p_m, q) − H(q), CE(p, q) = −Σ_k p_k ln q_k: that is the gap.

    Examples
    --------
    >>> hull_upper_entropy([[[0.9, 0.1], [0.3, 0.7]]]).values.round(4).tolist()
    [0.6931]
    """
    if not tolerance >= 1e-12:
        raise InputError(f"tolerance: must be at least 1e-12 nats; got {tolerance}; rounding allows no smaller gap.")
    array = _as_points(points)
    n = array.shape[0]
    values, gap, steps = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    for rows in row_chunks(n, 8 * array[0].size, chunk_bytes=4 * CHUNK_BYTES):
        P = np.ascontiguousarray(array[rows], dtype=np.float64)
        values[rows], gap[rows], steps[rows] = _interior_point(P, tolerance)
    return CertifiedEntropy(values, gap, steps)


def hull_lower_entropy(points: ArrayLike) -> Float:
    """Smallest entropy (nats) over the mixtures of each instance's points ``(n, V, K)``: that of one of the points.

    Raises `InputError` for points that are no distributions.

    Examples
    --------
    >>> hull_lower_entropy([[[0.9, 0.1], [0.3, 0.7]]]).round(4).tolist()
    [0.3251]
    """
    array = _as_points(points)
    out = np.empty(array.shape[0])
    for rows in row_chunks(len(array), 8 * array[0].size, chunk_bytes=4 * CHUNK_BYTES):
        out[rows] = _entropy(np.maximum(np.ascontiguousarray(array[rows], dtype=np.float64), 0.0)).min(axis=1)
    return out


# -- helpers: sums run along the last axis, so that no instance can touch the rounding of another ----------------------


def _phi(p: Float) -> Float:
    return -p * np.log(np.maximum(p, np.finfo(np.float64).tiny))


def _entropy(p: Float) -> Float:
    return np.abs(_phi(p).sum(axis=-1))  # abs: the sum is -0.0 for a one-hot p


def _water_fill(l: Float, u: Float) -> Float:
    # Σ clip(s, l, u) rises with s and is linear between the 2K bounds: find the piece by bisection over the sorted
    # bounds, then s in it exactly.
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
    # All instances advance together in one table of nodes. What an instance visits depends on that instance alone.
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
    # At most NODES_PER_ROUND nodes of an instance, the newest; and of so many instances as the limit lets in whole.
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
    # The knapsack over the chords: its value, the entropy at its solution, the split class and that class's value.
    m, K = L.shape
    nodes, width = np.arange(m), U - L
    phi_l = _phi(L)
    rise = _phi(U) - phi_l
    slope = np.where(width > 0, rise / np.where(width > 0, width, 1.0), 0.0)  # (m, K)
    order = np.argsort(slope, axis=1)
    filled = np.cumsum(np.take_along_axis(width, order, axis=1), axis=1)
    mass = 1.0 - L.sum(axis=1)  # (m,) to hand out
    k = np.minimum(np.count_nonzero(filled < mass[:, None], axis=1), K - 1)  # classes that are filled to u
    split = order[nodes, k]
    before = np.where(k > 0, filled[nodes, np.maximum(k - 1, 0)], 0.0)
    part = np.clip(mass - before, 0.0, width[nodes, split])
    full = np.arange(K) < k[:, None]
    base = phi_l.sum(axis=1) + np.where(full, np.take_along_axis(rise, order, axis=1), 0.0).sum(axis=1)
    at = L[nodes, split] + part
    value = base - phi_l[nodes, split] + _phi(at)
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
    # Children p_f ≤ v and p_f ≥ v of each live node. Classes whose box lies below (above) that of f follow.
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


def _interior_point(P: Float, tolerance: float) -> tuple[Float, Float, NDArray[np.int64]]:
    # Primal-dual steps for max H(Σ_m w_m p_m) over the weights w, with multipliers z of w ≥ 0 and ν of Σw = 1.
    n, V, _ = P.shape
    best, ceiling, steps = np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    rows, w, z = np.arange(n), np.full((n, V), 1.0 / V), np.empty((n, V))
    P = np.maximum(P, 0.0)
    spare = 1.0 - P.sum(axis=2)  # (n, V): members of low precision do not sum to 1 exactly
    for step in range(MAX_STEPS + 1):
        q = np.matmul(w[:, None, :], P)[:, 0, :]  # (n, K)
        q = np.where(q > 0, q, 1.0)  # a class that no member gives any mass has no part in anything
        g = spare - np.matmul(P, np.log(q)[:, :, None])[:, :, 0]  # (n, V): CE(p_m, q), the gradient of H but for 1
        h = _entropy(q)
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
    return best, ceiling - best, steps


def _newton_step(P: Float, w: Float, z: Float, q: Float, g: Float) -> tuple[Float, Float]:
    # (P diag(1/q) Pᵀ + D) dw + ν = g + σμ/w with Σdw = 0, then dz = σμ/w − z − D dw; both steps have one length, as
    # the problem is not linear. g is taken relative to its maximum: its small differences are what counts.
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
    # (B Bᵀ + diag D)⁻¹ right, through the smaller of the V × V and (Woodbury) K × K systems.
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
