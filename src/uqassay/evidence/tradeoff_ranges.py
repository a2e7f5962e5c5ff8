"""Ranges of λ in which one model is shown to be better than others: fixed sequences of tests, outwards from anchors."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.evidence.loss_lines import LossLines, loss_lines
from uqassay.evidence.rank_sets import compare_with_one
from uqassay.losses.unified import DEFAULT_TRADEOFF

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = [
    "FARTHEST",
    "GREATEST_USUAL",
    "GRID",
    "Range",
    "TestsAgainst",
    "anchored",
    "inwards",
    "joined",
    "limit",
]

Array = NDArray[np.float64]

FARTHEST = 1e6  # stands for λ = ∞
GREATEST_USUAL = 2.0  # λ, with KL
STEPS = [round(float(x), 4) for x in np.geomspace(0.01, 10, 25)]
GRID = tuple(sorted({0.0, DEFAULT_TRADEOFF, GREATEST_USUAL, *STEPS, 30.0, 100.0, 1e3, FARTHEST}))
HALVINGS = 8


class Range(NamedTuple):
    """A range of λ and the greatest p-value found in it."""

    low: float
    high: float
    pvalue: float


class TestsAgainst:
    """Paired tests of the mean E of one model against each of several others, at any λ.

    Parameters
    ----------
    assay : Assay
    one : str
    others : sequence of str
    rows : bool array (n,), optional
        The instances, by default all.
    guard : bool
        Whether losses that have not been seen count, see `statistics.pairwise_mean_tests`.
    grid : sequence of float
        λ that are looked at together.
    """

    __test__ = False  # no test class for pytest

    def __init__(
        self,
        assay: "Assay",
        one: str,
        others: Sequence[str],
        *,
        rows: ArrayLike | None = None,
        guard: bool = True,
        grid: Sequence[float] = (),
    ) -> None:
        self.one, self.others, self.guard, self._grid = one, tuple(others), guard, tuple(grid)
        self._assay = assay
        self._lines = loss_lines(assay) if rows is None else LossLines(assay, np.asarray(rows))
        self._known: dict[float, tuple[Array, Array]] = {}

    def at(self, tradeoff: float) -> tuple[Array, Array]:
        """Mean E of the others minus that of the one, and two-sided p-values, not adjusted, ``(J,)``; nan without a test."""
        if tradeoff not in self._known:
            several = self._grid if tradeoff in self._grid else (tradeoff,)
            found = compare_with_one(self._assay, self.one, self.others, several, lines=self._lines, guard=self.guard)
            self._known |= zip(several, zip(*found, strict=True), strict=True)
        return self._known[tradeoff]

    def better(self, tradeoff: float) -> Array:
        """p-value of each other for the claim that the one model is better: 1 where its mean is not lower, ``(J,)``.

        0 for an infinite mean of the other: an infinite loss that has occurred makes the true mean infinite.
        """
        difference, p = self.at(tradeoff)
        return np.where(np.isposinf(difference), 0.0, np.where((difference > 0) & ~np.isnan(p), p, 1.0))

    def worse(self, tradeoff: float) -> Array:
        """p-value of each other for the claim that the one model is worse, ``(J,)``."""
        difference, p = self.at(tradeoff)
        return np.where(np.isneginf(difference), 0.0, np.where((difference < 0) & ~np.isnan(p), p, 1.0))


def anchored(
    pvalue: Callable[[float], float],
    anchors: Iterable[float],
    alpha: float,
    *,
    grid: Sequence[float] = GRID,
    halvings: int = HALVINGS,
) -> tuple[Range, ...]:
    """Ranges of λ around the anchors in which a p-value stays at or below alpha.

    Parameters
    ----------
    pvalue : callable
        The p-value of a claim at one λ, for everything that it has to be adjusted for.
    anchors : iterable of float
        Where the sequences of tests begin; among `grid`.
    alpha : float
    grid : sequence of float
        λ that are looked at, sorted.
    halvings : int
        Steps by which the end is found between the last λ that passes and the first that does not; 0: the last that passes.

    Returns
    -------
    tuple of Range
        Without overlap, from below.

    Notes
    -----
    From an anchor, the tests go outwards to the first that fails. If the claim is false somewhere, the nearest λ at which it
    is false has to be rejected before anything beyond it can be claimed. So one direction needs no adjustment for the number
    of λ. The difference of two lines has one zero, so that for a pair of models both directions together need none either: a
    wrong sign at the anchor and a step across the zero each have one tail of a two-sided test. Several anchors share alpha.
    """
    found = []
    for anchor in anchors:
        start = grid.index(anchor)
        if pvalue(anchor) > alpha:
            continue
        low, high = (_end(pvalue, alpha, grid[start::step], halvings) for step in (-1, 1))
        inside = [t for t in grid if low <= t <= high] + [low, high]
        found.append(Range(low, high, max(pvalue(t) for t in inside)))
    return joined(found)


def _end(pvalue: Callable[[float], float], alpha: float, ahead: Sequence[float], halvings: int) -> float:
    """The last λ that passes, of a sequence whose first does."""
    failing = next((i for i, t in enumerate(ahead) if pvalue(t) > alpha), None)
    if failing is None:
        return ahead[-1]
    passed, failed = ahead[failing - 1], ahead[failing]
    for _ in range(halvings):
        middle = (passed + failed) / 2
        if pvalue(middle) <= alpha:
            passed = middle
        else:
            failed = middle
    return passed


def joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Ranges without overlap, from below.

    Examples
    --------
    >>> joined([Range(0.5, 2.0, 0.01), Range(0.0, 0.1, 0.02), Range(1.0, 3.0, 0.03)])
    (Range(low=0.0, high=0.1, pvalue=0.02), Range(low=0.5, high=3.0, pvalue=0.03))
    """
    found: list[Range] = []
    for one in sorted(ranges):
        if found and one.low <= found[-1].high:
            last = found.pop()
            one = Range(last.low, max(last.high, one.high), max(last.pvalue, one.pvalue))
        found.append(one)
    return tuple(found)


def limit(tradeoff: float) -> float:
    """λ, infinite from `FARTHEST` on."""
    return float("inf") if tradeoff >= FARTHEST else tradeoff


def inwards(low: float, high: float) -> tuple[float, float]:
    """A range of λ with ends that have two decimals or two digits, and lie inside it; the range itself if it is too short.

    Examples
    --------
    >>> inwards(0.2418, float("inf")), inwards(0.0, 0.1972), inwards(0.0123, 0.0187), inwards(0.501, 0.503)
    ((0.25, inf), (0.0, 0.19), (0.013, 0.018), (0.501, 0.503))
    """
    first, last = _rounded(low, np.ceil), _rounded(high, np.floor)
    return (first, last) if first <= last else (low, high)


def _rounded(tradeoff: float, towards: Callable[[float], float]) -> float:
    if tradeoff == 0 or np.isinf(tradeoff):
        return tradeoff
    decimals = 2 if tradeoff >= 0.1 else 1 - int(np.floor(np.log10(tradeoff)))
    exact = round(tradeoff, decimals)
    if abs(exact - tradeoff) <= 1e-9 * tradeoff:
        return exact
    return float(round(float(towards(tradeoff * 10**decimals)) / 10**decimals, decimals))
