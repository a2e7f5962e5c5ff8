"""Two independent samples of one score, and their joint ranking, from which ROC and precision-recall curves follow."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import Floats, as_floats, make_units, scaled_weights

__all__ = ["RankedSamples", "Ties", "TwoSamples", "joined_groups", "rank_samples", "two_samples"]

Ties = Literal["shared", "whole"]
ROUNDING = 1e-12  # relative; shares closer than this count as equal


@final
@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Checked scores of two samples, rows in the order given. Build it with `two_samples`.

    Attributes
    ----------
    is_out : bool array (n,)
        True for an out-of-distribution instance, False for an in-distribution one.
    uncertainty : array (n,)
    weights : array (n,) or None
    groups : int array (n,) or None
        No group has instances in both samples.
    """

    is_out: NDArray[np.bool_]
    uncertainty: Floats
    weights: Floats | None = None
    groups: NDArray[np.intp] | None = None

    @property
    def constant(self) -> bool:
        """True if all scores are equal, so that nothing is ranked."""
        return bool((self.uncertainty == self.uncertainty[0]).all())


def two_samples(
    is_out: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> TwoSamples:
    """Check the arrays of two samples.

    Raises
    ------
    InputError
        When a value is nan, a sample is empty, lengths differ, or `is_out` has other values than 0 and 1.

    Examples
    --------
    >>> found = two_samples([False, False, True], [0.1, 0.2, 0.3], groups=["a", "a", "a"])
    >>> found.groups.tolist()
    [0, 0, 1]
    """
    out = _as_sides(is_out)
    scores = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(n,)")
    if scores.shape != out.shape:
        raise InputError(
            "uncertainty",
            f"needs one value for each of the {out.size} instances of is_out",
            f"got {scores.size}",
            "align them first",
            code="mismatch",
        )
    weights = None
    if sample_weight is not None:
        weights = scaled_weights(sample_weight, out.size)
        for side, name in ((out, "out of"), (~out, "in")):
            if not weights[side].any():
                raise InputError(
                    "sample_weight",
                    "needs a positive weight in each sample",
                    f"all weights {name} distribution are 0",
                    "pass None for equal weights",
                    code="empty",
                )
    codes = make_units(out.size, groups, None).codes
    return TwoSamples(out, scores, weights, None if codes is None else 2 * codes + out)


def _as_sides(is_out: ArrayLike) -> NDArray[np.bool_]:
    sides = as_floats(is_out, "is_out", ndim=(1,), shape="(n,)")
    other = np.flatnonzero((sides != 0) & (sides != 1))
    if other.size:
        raise InputError(
            "is_out",
            "must be True or 1 for an instance out of distribution, False or 0 for one in distribution",
            f"row {other[0]} is {sides[other[0]]:g}",
            "pass is_out first and the uncertainty second",
            code="range",
        )
    out = sides == 1
    if out.all() or not out.any():
        raise InputError(
            "is_out",
            "needs instances of both kinds",
            f"all {out.size} are {'out of' if out.all() else 'in'} distribution",
            "concatenate both samples",
            code="empty",
        )
    return out


def joined_groups(
    groups_in: ArrayLike | None, groups_out: ArrayLike | None, n_in: int, n_out: int
) -> NDArray[np.intp] | None:
    """Groups of two samples as integers, in-distribution rows first. A label in both samples counts as two groups.

    If one sample has no groups, each of its instances is a group. If neither has groups, the result is None.
    """
    if groups_in is None and groups_out is None:
        return None
    codes = []
    for labels, n, name in ((groups_in, n_in, "groups_in"), (groups_out, n_out, "groups_out")):
        try:
            found = make_units(n, labels, None).codes
        except InputError as problem:
            raise problem.replace(parameter=name) from problem
        codes.append(np.arange(n) if found is None else found)
    return np.concatenate([codes[0], codes[1] + codes[0].max() + 1])


@final
@dataclass(frozen=True, eq=False)
class RankedSamples:
    """Two samples sorted by descending score. A block is a set of instances of equal score. Built by `rank_samples`.

    Attributes
    ----------
    detected, passed : array (B,)
        Total weight of the positives and of the negatives in each block and all earlier ones.
    block : int array (N,)
        Block of every row.
    is_positive : bool array (N,)
    weights : array (N,)
    ties : {"shared", "whole"}
        Whether the needed share of the block at a threshold passes, or the whole block.
    """

    detected: Floats
    passed: Floats
    block: NDArray[np.intp]
    is_positive: NDArray[np.bool_]
    weights: Floats
    ties: Ties = "shared"

    @property
    def n_positive(self) -> float:
        """Effective number of positives, (Σ w)² / Σ w²."""
        w = self.weights[self.is_positive]
        return float(w.sum() ** 2 / (w**2).sum())

    def place(self, tpr: float) -> tuple[int, float]:
        """Block in which the true-positive rate is reached, and the share of this block that passes."""
        need = tpr * self.detected[-1]
        k = min(int(np.searchsorted(self.detected, need * (1 - ROUNDING))), len(self.detected) - 1)
        if self.ties == "whole":
            return k, 1.0
        before = self.detected[k - 1] if k else 0.0
        return k, min(max((need - before) / (self.detected[k] - before), 0.0), 1.0)

    def fpr(self, tpr: float) -> float:
        """False-positive rate at a true-positive rate; 0 for rates of 0 or less, 1 for rates above 1."""
        if tpr <= 0 or tpr > 1:
            return 0.0 if tpr <= 0 else 1.0
        k, share = self.place(tpr)
        before = self.passed[k - 1] if k else 0.0
        return float((before + share * (self.passed[k] - before)) / self.passed[-1])

    def above(self, tpr: float) -> Floats:
        """1 for rows above the threshold, 0 for rows below, and a share for rows that tie with it, (N,)."""
        k, share = self.place(tpr)
        return np.where(self.block < k, 1.0, np.where(self.block == k, share, 0.0))

    def tied_at(self, tpr: float) -> bool:
        """True if several positives tie at the threshold."""
        k, _ = self.place(tpr)
        return int(np.count_nonzero(self.is_positive & (self.block == k) & (self.weights > 0))) > 1

    def linearised(self, value: float, positive: Floats, negative: Floats) -> Linearised:
        """Linearised statistic from the contribution of each instance to the mean of its sample, (N,) each.

        Both samples are centred separately, because their sizes are chosen, not drawn.
        """
        parts = []
        for influence, inside in ((positive, self.is_positive), (negative, ~self.is_positive)):
            w = np.where(inside, self.weights, 0.0)
            centred = influence - influence[np.argmax(inside)]  # equal influences become exactly 0
            centred = centred - float((w * centred).sum()) / float(w.sum())
            parts.append(np.where(inside, centred * (self.weights.sum() / w.sum()), 0.0))
        return Linearised(value, parts[0] + parts[1], (parts[0], parts[1]), (self.is_positive, ~self.is_positive))


def rank_samples(samples: TwoSamples, positive: str, ties: Ties = "shared") -> RankedSamples:
    """Sort two samples, positives first: by descending score for "out", by ascending score for "in".

    Examples
    --------
    >>> ranked = rank_samples(two_samples([0, 0, 0, 1, 1], [0.1, 0.2, 0.2, 0.2, 0.3]), "out")
    >>> ranked.detected.tolist(), ranked.passed.tolist(), ranked.fpr(0.75)
    ([1.0, 2.0, 2.0], [0.0, 2.0, 3.0], 0.33...)
    """
    s = samples.uncertainty
    is_positive = samples.is_out
    if positive == "out":
        s = -s
    else:
        is_positive = ~is_positive
    w = np.ones(len(s)) if samples.weights is None else samples.weights
    # sums of weights round differently in another order, so rows within a tie are sorted by weight
    order = np.argsort(s) if samples.weights is None else np.lexsort((w, s))
    ordered = s[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    ends = np.append(np.flatnonzero(new)[1:] - 1, len(s) - 1)
    block = np.empty(len(s), dtype=np.intp)
    block[order] = np.cumsum(new) - 1
    by_order, positive_first = w[order], is_positive[order]
    detected = np.cumsum(np.where(positive_first, by_order, 0.0))[ends]
    passed = np.cumsum(np.where(positive_first, 0.0, by_order))[ends]
    return RankedSamples(detected, passed, block, is_positive, w, ties)
