"""Concordance of two orders: the share of pairs that both order in the same way, and the influence of each instance on it.

A pair is comparable if its two truth values differ. It is concordant if the scores differ in the same direction, and counts ½
if the scores tie. Counting takes O(n log n): the instances are sorted by score, then partitioned (stably) by the bits of the
truth's rank, highest bit first. The partition gives, for each instance, the number of earlier instances with a smaller truth.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, available_cores
from uqassay._kernels import kernel
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.linearised import Linearised, undefined
from uqassay.statistics.placements import MOST_COUNTED
from uqassay.statistics.samples import Floats, as_floats, scaled_weights

__all__ = ["Concordance", "concordance", "concordance_linearised", "dense_ranks", "dominance_sums"]

Ints = NDArray[np.int64]
Block = NDArray[Any]

_LEAF = 64  # ranks in a block that is counted pair by pair; with 64, a count fits into uint8
_LEAVES_AT_ONCE = 512  # such blocks that fit into the cache of a core
# Ranks that fit into the cache. Blocks up to this size are counted together, level by level; larger blocks one by one.
_CACHED = 2**16


@final
@dataclass(frozen=True, eq=False)
class Concordance:
    """Concordant, comparable and tied pairs of every instance.

    Attributes
    ----------
    concordant : array (n,)
        For each instance, the total weight of the concordant other instances. Ties of the score count ½.
    comparable : array (n,)
        Total weight of the other instances whose truth differs.
    tied : array (n,)
        Total weight of the other instances whose truth differs and whose score is equal.
    weights : array (n,) or None
        Weights of the instances; None means all 1.
    """

    concordant: Floats
    comparable: Floats
    tied: Floats
    weights: Floats | None

    @property
    def pairs(self) -> float:
        """Total weight of all comparable ordered pairs."""
        return float(_dot(self.weights, self.comparable))

    @property
    def share(self) -> float:
        """Concordant share of the comparable pairs; nan if there are none."""
        return min(float(_dot(self.weights, self.concordant)) / self.pairs, 1.0) if self.pairs > 0 else np.nan


@in_one_order("truth", "scores", "sample_weight")
def concordance(truth: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Concordance:
    """Concordant and comparable pairs of every instance.

    Parameters
    ----------
    truth, scores : array_like, shape (n,)
        Real numbers, infinite ones included.
    sample_weight : array_like, shape (n,), optional
        The weight of a pair is the product of its two weights. An integer weight equals that many copies.

    Returns
    -------
    Concordance

    Raises
    ------
    InputError
        When the lengths differ, a value is nan, or a weight is negative.

    Examples
    --------
    >>> concordance([0.1, 0.2, 0.3], [1.0, 3.0, 3.0]).share.__round__(4)
    0.8333
    """
    g = as_floats(truth, "truth", ndim=(1,), shape="(n,)")
    s = as_floats(scores, "scores", ndim=(1,), shape="(n,)")
    if s.shape != g.shape:
        raise InputError(
            "scores",
            f"needs one value for each of the {len(g)} instances",
            f"got {len(s)}",
            "align them",
            code="mismatch",
        )
    if sample_weight is None:
        return _count(g, s, None)
    weights = as_numeric(sample_weight, "sample_weight").astype(np.float64)
    greatest = float(weights.max()) if weights.size else 1.0
    found = _count(g, s, scaled_weights(weights, len(g)))
    columns = (found.concordant * greatest, found.comparable * greatest, found.tied * greatest)
    return Concordance(*columns, weights)


def concordance_linearised(
    g: Floats, s: Floats, w: Floats | None, codes: NDArray[np.intp] | None = None, *, imaginary: float = 0.0
) -> Linearised:
    """Concordant share of checked arrays and its influences, by Hájek's projection of the ratio of two U-statistics.

    Parameters
    ----------
    g, s : array (n,)
        Truth and scores.
    w : array (n,) or None
    codes : int array (n,), optional
        Group of each instance. An imaginary instance is then an imaginary group of average size.
    imaginary : float
        Number of imaginary instances (groups) added for the centre and the spread of the interval. All their pairs count
        ½.
    """
    found = _count(g, s, w)
    pairs = found.pairs
    n = len(g)
    if not pairs > 0:
        return undefined(n, (Note("undefined", "no two instances differ in the truth"),))
    value = found.share
    size = n if w is None else float(w.sum())
    units = n if codes is None else np.count_nonzero(np.bincount(codes, weights=w))
    if w is not None and codes is None:
        units = int(np.count_nonzero(w))
    a = imaginary * size / units  # total weight of the imaginary instances
    more = pairs + 2 * a * size  # ordered pairs, including those with an imaginary instance
    centre = (value * pairs + a * size) / more
    influence = (found.concordant + 0.5 * a - centre * (found.comparable + a)) * (2 * size / more)
    shadows = (2 * (0.5 - centre) * size**2 / (more * units),) if imaginary else ()
    every = np.ones(n, dtype=bool)
    return Linearised(value, influence, (influence,), (every,), centre, imaginary, shadows, uneven=True)


def dense_ranks(values: Floats) -> tuple[Ints, int, Ints]:
    """Dense ranks from 0 (ties share a rank), the number of ranks, and an order that sorts the values."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.empty(len(values), dtype=bool)
    new[0] = False
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    level = np.cumsum(new)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = level
    return ranks, int(level[-1]) + 1, order


def dominance_sums(ranks: NDArray[np.integer], weights: Floats | None = None) -> Floats | NDArray[np.int32]:
    """For each entry of a permutation, the total weight of the earlier entries that are smaller.

    Parameters
    ----------
    ranks : int array (n,)
        A permutation of 0 … n − 1.
    weights : array (n,), optional
        Weights by position; None means all 1.

    Returns
    -------
    sums : array (n,)
        Ordered by rank: entry r belongs to the position that holds rank r.

    Notes
    -----
    Radix partition from the highest bit down. On each level, a block of 2h consecutive ranks, with its entries in the
    order of their positions, is divided stably into the lower and the upper h ranks. An upper entry counts the lower
    entries that precede it in the block; their number is its place in the block minus its place among the upper entries.

    Examples
    --------
    >>> import numpy as np
    >>> dominance_sums(np.array([1, 0, 2])).tolist()
    [0, 0, 2]
    """
    n = len(ranks)
    padded = -(-n // _LEAF) * _LEAF
    a = np.arange(padded, dtype=np.int32)  # padding ranks are the greatest and come last, so they change no count
    a[:n] = ranks
    sums = np.zeros(padded, dtype=np.int32 if weights is None else np.float64)
    w = None
    if weights is not None:
        w = np.zeros(padded)
        w[:n] = weights
    half = _LEAF << (padded // _LEAF - 1).bit_length() >> 1
    cores = available_cores()
    if padded <= _CACHED or cores == 1:
        _descend(a, sums, w, half)
    else:
        with ThreadPoolExecutor(cores) as pool:
            _descend(a, sums, w, half, pool, threads=cores)
    out = np.empty_like(sums)
    out[a] = sums
    return out[:n]


def _descend(
    a: Block, sums: Block, w: Block | None, half: int, pool: ThreadPoolExecutor | None = None, threads: int = 1
) -> None:
    """Count within each block of 2·half ranks, and partition the block, down to the leaves. Works in place."""
    while half >= _LEAF:
        upper = (a & np.int32(half)).astype(bool)
        ones, zeros = np.flatnonzero(upper), np.flatnonzero(~upper)
        k = np.arange(len(ones))
        start = k & -half  # earlier blocks hold `half` upper and `half` lower entries each: k rounded down to `half`
        before = ones - k  # lower entries before this upper one, in all blocks …
        before -= start  # … and in its block
        counted = sums[ones]
        if w is None:
            np.add(counted, before, out=counted, casting="unsafe")
        else:
            running = np.concatenate([[0.0], np.cumsum(w[zeros])])
            counted += running[start + before] - running[start]
            _part(w, w[zeros], w[ones], half)
        _part(sums, sums[zeros], counted, half)
        _part(a, a[zeros], a[ones], half)
        if 2 * half > _CACHED:  # a single block, larger than the cache: recurse into its two halves
            both = [(a[p], sums[p], None if w is None else w[p], half // 2) for p in (slice(half), slice(half, None))]
            if threads > 1 and pool is not None:
                later = pool.submit(_descend, *both[0])
                _descend(*both[1], pool, threads // 2)
                later.result()
            else:
                for part in both:
                    _descend(*part)
            return
        half //= 2
    _count_leaves(a, sums, w)


def _part(into: Block, lower: Block, upper: Block, half: int) -> None:
    """Write, block by block, `half` lower entries and then the upper entries. The last block may be shorter."""
    blocks = len(upper) // half
    full = into[: 2 * half * blocks].reshape(blocks, 2, half)
    full[:, 0] = lower[: half * blocks].reshape(blocks, half)
    full[:, 1] = upper[: half * blocks].reshape(blocks, half)
    tail, rest = into[2 * half * blocks :], len(lower) - half * blocks
    tail[:rest] = lower[half * blocks :]
    tail[rest:] = upper[half * blocks :]


def _count_leaves(a: Block, sums: Block, w: Block | None) -> None:
    """Add the pairs inside each block of `_LEAF` consecutive ranks, by comparing all pairs of positions."""
    low = (a & np.int32(_LEAF - 1)).astype(np.uint8).reshape(-1, _LEAF)
    into = sums.reshape(-1, _LEAF)
    for first in range(0, len(low), _LEAVES_AT_ONCE):
        part = slice(first, first + _LEAVES_AT_ONCE)
        rows = np.ascontiguousarray(low[part].T)  # (_LEAF, blocks): position first
        found = np.zeros(rows.shape, dtype=np.uint8 if w is None else np.float64)
        weights = None if w is None else np.ascontiguousarray(w.reshape(-1, _LEAF)[part].T)
        for i in range(1, _LEAF):
            smaller = rows[:i] < rows[i]
            if weights is None:
                np.add.reduce(smaller.view(np.uint8), axis=0, dtype=np.uint8, out=found[i])
            else:
                np.add.reduce(np.where(smaller, weights[:i], 0.0), axis=0, out=found[i])
        into[part] += found.T


def _count(g: Floats, s: Floats, w: Floats | None) -> Concordance:
    count = kernel("concordant_pairs") if w is None and len(g) < MOST_COUNTED else None
    if count is not None:
        concordant, comparable, tied = count(np.ascontiguousarray(g), np.ascontiguousarray(s))
        return Concordance(concordant, comparable, tied, None)
    order = np.argsort(s)
    if w is None and _distinct(s[order]):
        ordered = g[order]
        by_truth = np.argsort(ordered)
        if _distinct(ordered[by_truth]):
            return _count_without_ties(order, by_truth)
    return _count_with_ties(g, s, w)


def _distinct(ordered: Floats) -> bool:
    return not bool((ordered[1:] == ordered[:-1]).any())


def _count_without_ties(order: Ints, by_truth: Ints) -> Concordance:
    n = len(order)
    position = np.arange(n)
    rank = np.empty(n, dtype=np.int32)
    rank[by_truth] = position  # of the truth, by position
    twice = dominance_sums(rank)[rank].astype(np.int64)
    # with p entries smaller in position, r in truth and b in both, n − 1 − p − r + b entries are greater in both:
    # the concordant partners are 2 b + n − 1 − r − p
    twice *= 2
    twice += n - 1
    twice -= rank
    twice -= position
    concordant = np.empty(n)
    concordant[order] = twice
    return Concordance(concordant, np.full(n, n - 1.0), np.zeros(n), None)


def _count_with_ties(g: Floats, s: Floats, w: Floats | None) -> Concordance:
    n = len(g)
    position = np.arange(n)
    rank_g, levels_g, _ = dense_ranks(g)
    if levels_g == 1:
        return Concordance(np.zeros(n), np.zeros(n), np.zeros(n), w)
    rank_s, levels_s, order = dense_ranks(s)
    # sort by score, and ties of the score by falling truth: a tie then never precedes a greater truth, and so never
    # counts as smaller in both
    if levels_s < n:
        order = np.argsort(rank_s * levels_g + (levels_g - 1 - rank_g))
    truth, score = rank_g[order], rank_s[order]
    ordered = None if w is None else w[order]
    distinct = truth
    # make the truth's ranks distinct; ties get falling ranks with the position, so that none counts as smaller
    if levels_g < n:
        by_truth = np.argsort(truth * n + (n - 1 - position))
        distinct = np.empty(n, dtype=np.int64)
        distinct[by_truth] = position
    below = dominance_sums(distinct, ordered)[distinct]  # smaller score and smaller truth

    weight_by_position = _cumulative(ordered, n)
    if w is None:
        weight_by_truth = weight_by_position
    else:
        sorted_by_truth = np.empty(n)
        sorted_by_truth[distinct] = ordered
        weight_by_truth = _cumulative(sorted_by_truth, n)
    total = weight_by_position[-1]
    ends_g = np.cumsum(np.bincount(truth, minlength=levels_g))
    starts_g = ends_g - np.bincount(truth, minlength=levels_g)
    up_to_g, under_g = weight_by_truth[ends_g][truth], weight_by_truth[starts_g][truth]
    ends_s = np.cumsum(np.bincount(score, minlength=levels_s))
    starts_s = ends_s - np.bincount(score, minlength=levels_s)
    up_to_s, under_s = weight_by_position[ends_s][score], weight_by_position[starts_s][score]

    # a cell is a set of instances that tie in both truth and score: consecutive positions and consecutive ranks
    first = last = position
    if levels_s < n and levels_g < n:
        new = np.flatnonzero((truth[1:] != truth[:-1]) | (score[1:] != score[:-1])) + 1
        edges = np.concatenate([[0], new, [n]])
        lengths = np.diff(edges)
        first, last = np.repeat(edges[:-1], lengths), np.repeat(edges[1:] - 1, lengths)
    cell_end = weight_by_position[last + 1]
    cell = cell_end - weight_by_position[first]
    same_truth_up_to = up_to_g - weight_by_truth[distinct[last]]  # same truth, score smaller or equal
    same_score_below = up_to_s - cell_end  # same score, smaller truth
    # greater score and greater truth
    if ordered is None:
        above = total - up_to_g - up_to_s + below + same_truth_up_to + same_score_below
    else:  # a difference of float sums would leave rounding errors where the count is 0, so count from the other end
        backwards = n - 1 - distinct
        above = dominance_sums(backwards[::-1], ordered[::-1])[backwards]
    tied = up_to_s - under_s - cell
    comparable = total - (up_to_g - under_g)
    columns = []
    for column in (below + above + 0.5 * tied, comparable, tied):
        back = np.empty(n)
        back[order] = column
        columns.append(back)
    return Concordance(columns[0], columns[1], columns[2], w)


def _cumulative(weights: Floats | None, n: int) -> Floats | Ints:
    """Total weight of the first k entries for k = 0 … n."""
    return np.arange(n + 1) if weights is None else np.concatenate([[0.0], np.cumsum(weights)])


def _dot(weights: Floats | None, values: Floats) -> float:
    return float(values.sum() if weights is None else (weights * values).sum())
