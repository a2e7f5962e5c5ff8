"""Two independent samples of one score, ranked together: what ROC and precision-recall curves are made of."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import Floats, as_floats, make_units

__all__ = ["RankedSamples", "TwoSamples", "rank_samples", "two_samples"]

ROUNDING = 1e-12  # relative; shares closer than this are one


@final
@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Checked scores inside and outside, with weights and groups of all instances, those inside first.

    Attributes
    ----------
    inside, outside : array (m,), (n,)
    weights : array (m + n,) or None
    groups : int array (m + n,) or None
        No group reaches from one sample into the other.
    """

    inside: Floats
    outside: Floats
    weights: Floats | None
    groups: NDArray[np.intp] | None

    @property
    def is_out(self) -> NDArray[np.bool_]:
        """Which rows are outside, (m + n,)."""
        return np.arange(len(self.inside) + len(self.outside)) >= len(self.inside)

    @property
    def constant(self) -> bool:
        """Whether all scores are equal: nothing is ranked."""
        return bool((self.inside == self.inside[0]).all() and (self.outside == self.inside[0]).all())


def two_samples(
    uncertainty_in: ArrayLike,
    uncertainty_out: ArrayLike,
    *,
    groups_in: ArrayLike | None = None,
    groups_out: ArrayLike | None = None,
    sample_weight_in: ArrayLike | None = None,
    sample_weight_out: ArrayLike | None = None,
) -> TwoSamples:
    """Check two samples.

    Raises
    ------
    InputError
        nan by name and count, an empty sample, weights or groups of another length.

    Examples
    --------
    >>> found = two_samples([0.1, 0.2], [0.3], groups_in=["a", "a"])
    >>> found.groups.tolist(), found.is_out.tolist()
    ([0, 0, 1], [False, False, True])
    """
    inside = as_floats(uncertainty_in, "uncertainty_in", ndim=(1,), shape="(n,)")
    outside = as_floats(uncertainty_out, "uncertainty_out", ndim=(1,), shape="(n,)")
    sizes = len(inside), len(outside)
    weights = groups = None
    if sample_weight_in is not None or sample_weight_out is not None:
        given = (sample_weight_in, sample_weight_out)
        weights = np.concatenate([_weights(w, n, i) for i, (w, n) in enumerate(zip(given, sizes, strict=True))])
        weights = weights / weights.max()
    if groups_in is not None or groups_out is not None:
        groups = joined_groups(groups_in, groups_out, *sizes)
    return TwoSamples(inside, outside, weights, groups)


def joined_groups(
    groups_in: ArrayLike | None, groups_out: ArrayLike | None, n_in: int, n_out: int
) -> NDArray[np.intp] | None:
    """Groups of all instances as numbers, those inside first; a label of both samples names two groups.

    Without groups of a sample each of its instances is its own; without any the answer is None.
    """
    if groups_in is None and groups_out is None:
        return None
    codes = []
    for labels, n, side in ((groups_in, n_in, "in"), (groups_out, n_out, "out")):
        try:
            found = make_units(n, labels, None).codes
        except InputError as problem:
            raise InputError(str(problem).replace("groups:", f"groups_{side}:", 1)) from problem
        codes.append(np.arange(n) if found is None else found)
    return np.concatenate([codes[0], codes[1] + codes[0].max() + 1])


def _weights(given: ArrayLike | None, n: int, sample: int) -> Floats:
    if given is None:
        return np.ones(n)
    try:
        make_units(n, None, given)
    except InputError as problem:
        name = f"sample_weight_{('in', 'out')[sample]}:"
        raise InputError(str(problem).replace("sample_weight:", name, 1)) from problem
    return np.asarray(given, dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class RankedSamples:
    """Two samples by descending score; instances of equal score are one block. Build it with `rank_samples`.

    Attributes
    ----------
    detected, passed : array (B,)
        Weight of the positives and of the negatives in this block and all before it.
    block : int array (N,)
        Block of every row.
    is_positive : bool array (N,)
    weights : array (N,)
    """

    detected: Floats
    passed: Floats
    block: NDArray[np.intp]
    is_positive: NDArray[np.bool_]
    weights: Floats

    @property
    def n_positive(self) -> float:
        """Number of positives as far as the variance of their mean is concerned, (Σ w)² / Σ w²."""
        w = self.weights[self.is_positive]
        return float(w.sum() ** 2 / (w**2).sum())

    def place(self, tpr: float) -> tuple[int, float]:
        """Block in which a share of the positives is reached, and how much of it that takes."""
        need = tpr * self.detected[-1]
        k = min(int(np.searchsorted(self.detected, need * (1 - ROUNDING))), len(self.detected) - 1)
        before = self.detected[k - 1] if k else 0.0
        return k, min(max((need - before) / (self.detected[k] - before), 0.0), 1.0)

    def fpr(self, tpr: float) -> float:
        """False-positive rate where a share of the positives is detected; 0 at none, 1 where more than all would be."""
        if tpr <= 0 or tpr > 1:
            return 0.0 if tpr <= 0 else 1.0
        k, share = self.place(tpr)
        before = self.passed[k - 1] if k else 0.0
        return float((before + share * (self.passed[k] - before)) / self.passed[-1])

    def above(self, tpr: float) -> Floats:
        """1 for what lies above that threshold, 0 for what lies below, a share for what ties with it, (N,)."""
        k, share = self.place(tpr)
        return np.where(self.block < k, 1.0, np.where(self.block == k, share, 0.0))

    def tied_at(self, tpr: float) -> bool:
        """Whether several positives stand at that threshold."""
        k, _ = self.place(tpr)
        return int(np.count_nonzero(self.is_positive & (self.block == k) & (self.weights > 0))) > 1

    def linearised(self, value: float, positive: Floats, negative: Floats) -> Linearised:
        """A statistic from what one instance of each sample adds to the mean of its sample, (N,) each.

        Both are centred: the sizes of the samples are chosen, not drawn.
        """
        parts = []
        for influence, inside in ((positive, self.is_positive), (negative, ~self.is_positive)):
            w = np.where(inside, self.weights, 0.0)
            centred = influence - influence[np.argmax(inside)]  # so that equal influences are 0 exactly
            centred = centred - float((w * centred).sum()) / float(w.sum())
            parts.append(np.where(inside, centred * (self.weights.sum() / w.sum()), 0.0))
        return Linearised(value, parts[0] + parts[1], (parts[0], parts[1]), (self.is_positive, ~self.is_positive))


def rank_samples(samples: TwoSamples, positive: str) -> RankedSamples:
    """Sort two samples by how positive they are; positives of "out" are those of great, of "in" those of small scores.

    Examples
    --------
    >>> ranked = rank_samples(two_samples([0.1, 0.2, 0.2], [0.2, 0.3]), "out")
    >>> ranked.detected.tolist(), ranked.passed.tolist(), ranked.fpr(0.75)
    ([1.0, 2.0, 2.0], [0.0, 2.0, 3.0], 0.33...)
    """
    s = np.concatenate([samples.inside, samples.outside])
    is_positive = samples.is_out
    if positive == "out":
        s = -s
    else:
        is_positive = ~is_positive
    w = np.ones(len(s)) if samples.weights is None else samples.weights
    # within a tie the sums of weights would round by the order of rows
    order = np.argsort(s) if samples.weights is None else np.lexsort((w, s))
    ordered = s[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    ends = np.append(np.flatnonzero(new)[1:] - 1, len(s) - 1)
    block = np.empty(len(s), dtype=np.intp)
    block[order] = np.cumsum(new) - 1
    by_order, positive_first = w[order], is_positive[order]
    detected = np.cumsum(np.where(positive_first, by_order, 0.0))[ends]
    passed = np.cumsum(np.where(positive_first, 0.0, by_order))[ends]
    return RankedSamples(detected, passed, block, is_positive, w)
