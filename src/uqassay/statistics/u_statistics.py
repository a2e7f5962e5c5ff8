"""Concordance of two orders: the share of pairs that both put the same way round, and how much each instance adds to it.

A pair counts where its two values of the truth differ; it is concordant where the scores differ in the same direction, and half
concordant where they tie. Counting costs O(n log n): instances are put in the order of the scores, and a stable partition by
the bits of the truth's rank, highest first, tells for each instance how many smaller ones came before it.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import available_cores
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.linearised import Linearised, undefined
from uqassay.statistics.samples import Floats, as_floats, scaled_weights

__all__ = ["Concordance", "concordance", "concordance_linearised", "dense_ranks", "dominance_sums"]

Ints = NDArray[np.int64]
Block = NDArray[Any]

# Number of ranks in a block that is counted pair by pair, and number of blocks that fit into the cache of a core.
_LEAF = 64
_LEAVES_AT_ONCE = 512
# Blocks up to this size are counted together, level by level; larger ones one by one.
_CACHED = 2**16


@final
@dataclass(frozen=True, eq=False)
class Concordance:
    """Pairs of every instance, by weight of the partner.

    Attributes
    ----------
    concordant : array (n,)
        Weight of the partners whose score differs from the instance's as their truth does; ties of the score count ½.
    comparable : array (n,)
        Weight of the partners whose truth differs.
    tied : array (n,)
        Weight of the partners whose truth differs and whose score ties, counted whole.
    weights : array (n,) or None
        Weights of the instances; None: all 1.
    """

    concordant: Floats
    comparable: Floats
    tied: Floats
    weights: Floats | None

    @property
    def pairs(self) -> float:
        """Weight of all ordered pairs whose truth differs."""
        return float(_dot(self.weights, self.comparable))

    @property
    def share(self) -> float:
        """Concordant share of the comparable pairs; nan where there are none."""
        return min(float(_dot(self.weights, self.concordant)) / self.pairs, 1.0) if self.pairs > 0 else np.nan


def concordance(truth: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Concordance:
    """Concordant and comparable pairs of every instance.

    Parameters
    ----------
    truth, scores : array_like, shape (n,)
        Real numbers, infinite ones included.
    sample_weight : array_like, shape (n,), optional
        Weight of a pair is the product of its two; an integer weight equals that many copies.

    Returns
    -------
    Concordance

    Raises
    ------
    InputError
        Different lengths, nan, or a negative weight.

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
    greatest = float(np.max(sample_weight)) if np.size(sample_weight) else 1.0
    found = _count(g, s, scaled_weights(sample_weight, len(g)))
    weights = np.asarray(sample_weight, dtype=np.float64)
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
        Group of each instance; an imaginary one then stands for a group of usual size.
    imaginary : float
        How many imaginary instances (groups), whose every pair is half concordant, are added for the centre and the spread
        of an interval.
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
    a = imaginary * size / units  # weight of the imaginary instances
    more = pairs + 2 * a * size  # ordered pairs, those with the imaginary instance included
    centre = (value * pairs + a * size) / more
    influence = (found.concordant + 0.5 * a - centre * (found.comparable + a)) * (2 * size / more)
    shadows = (2 * (0.5 - centre) * size**2 / (more * units),) if imaginary else ()
    every = np.ones(n, dtype=bool)
    return Linearised(value, influence, (influence,), (every,), centre, imaginary, shadows, uneven=True)


def dense_ranks(values: Floats) -> tuple[Ints, int, Ints]:
    """Ranks from 0 without gaps, ties sharing one; the number of levels; an order that sorts the values."""
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
    """Weight of the earlier and smaller entries of a permutation, for each rank.

    Parameters
    ----------
    ranks : int array (n,)
        A permutation of 0 … n − 1.
    weights : array (n,), optional
        By position; None: all 1.

    Returns
    -------
    sums : array (n,)
        Entry r belongs to the position that holds rank r.

    Notes
    -----
    Level by level each block of 2h consecutive ranks, its positions in order, is parted into its lower and its upper h
    ranks. For an upper entry the lower ones before it are those it has to count inside its block, and their number follows
    from the two positions alone.

    Examples
    --------
    >>> import numpy as np
    >>> dominance_sums(np.array([1, 0, 2])).tolist()
    [0, 0, 2]
    """
    n = len(ranks)
    padded = -(-n // _LEAF) * _LEAF
    a = np.arange(padded, dtype=np.int32)
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
    """Count inside each block of 2·half ranks and sort the block, in place."""
    while half >= _LEAF:
        upper = (a & np.int32(half)).astype(bool)
        ones, zeros = np.flatnonzero(upper), np.flatnonzero(~upper)
        k = np.arange(len(ones))
        start = k & -half  # upper (and lower) entries in the blocks before
        before = ones - k  # lower entries of the own block that came before
        before -= start
        counted = sums[ones]
        if w is None:
            np.add(counted, before, out=counted, casting="unsafe")
        else:
            running = np.concatenate([[0.0], np.cumsum(w[zeros])])
            counted += running[start + before] - running[start]
            _part(w, w[zeros], w[ones], half)
        _part(sums, sums[zeros], counted, half)
        _part(a, a[zeros], a[ones], half)
        if 2 * half > _CACHED:  # one block: its two halves are counted apart
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
    """Write blocks of `half` lower entries, each followed by its upper ones; the last block may be short."""
    blocks = len(upper) // half
    full = into[: 2 * half * blocks].reshape(blocks, 2, half)
    full[:, 0] = lower[: half * blocks].reshape(blocks, half)
    full[:, 1] = upper[: half * blocks].reshape(blocks, half)
    tail, rest = into[2 * half * blocks :], len(lower) - half * blocks
    tail[:rest] = lower[half * blocks :]
    tail[rest:] = upper[half * blocks :]


def _count_leaves(a: Block, sums: Block, w: Block | None) -> None:
    """Add the pairs inside each block of consecutive ranks."""
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
    twice *= 2  # as many entries are greater in both as are smaller in both, but for those that are so in one
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
    if levels_s < n:  # by score, and among its ties by falling truth, so that no tie comes before a smaller truth
        order = np.argsort(rank_s * levels_g + (levels_g - 1 - rank_g))
    truth, score = rank_g[order], rank_s[order]
    ordered = None if w is None else w[order]
    distinct = truth
    if levels_g < n:  # ties of the truth fall with the position, so that none counts as smaller
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

    # a cell holds what ties in both: a run of positions, and of ranks of the truth
    first = last = position
    if levels_s < n and levels_g < n:
        new = np.flatnonzero((truth[1:] != truth[:-1]) | (score[1:] != score[:-1])) + 1
        edges = np.concatenate([[0], new, [n]])
        lengths = np.diff(edges)
        first, last = np.repeat(edges[:-1], lengths), np.repeat(edges[1:] - 1, lengths)
    cell_end = weight_by_position[last + 1]
    cell = cell_end - weight_by_position[first]
    same_truth_up_to = up_to_g - weight_by_truth[distinct[last]]  # same truth, score not greater
    same_score_below = up_to_s - cell_end  # same score, smaller truth
    if ordered is None:
        above = (
            total - up_to_g - up_to_s + below + same_truth_up_to + same_score_below
        )  # greater score and greater truth
    else:  # sums of different weights would not cancel
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
    """Weight of the first k entries for k = 0 … n."""
    return np.arange(n + 1) if weights is None else np.concatenate([[0.0], np.cumsum(weights)])


def _dot(weights: Floats | None, values: Floats) -> float:
    return float(values.sum() if weights is None else (weights * values).sum())
