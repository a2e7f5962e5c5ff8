"""Simultaneous confidence sets of ranks, and the group of models that none is better than, from all pairwise tests."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.statistics.paired_tests import PairwiseComparisons
from uqassay.statistics.units import check_level

__all__ = ["RankSets", "rank_sets"]


@final
@dataclass(frozen=True, eq=False)
class RankSets:
    """Which ranks each of J models can have."""

    #: (J,) The models, without the references of the comparisons.
    names: tuple[str, ...]
    #: (J,)
    values: Floats
    #: (J,) First and last rank that each model can have; all J sets hold at once with probability `level`.
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    #: (J,) Models that no model is significantly better than.
    top: NDArray[np.bool_]
    #: (J, J) Whether the model of the row is significantly better than that of the column.
    better: NDArray[np.bool_]
    level: float
    #: With the references.
    comparisons: PairwiseComparisons
    greater_is_better: bool = False

    @property
    def top_names(self) -> tuple[str, ...]:
        """Names of the models that no model is significantly better than."""
        return tuple(name for name, top in zip(self.names, self.top.tolist(), strict=True) if top)

    def is_better(self, a: str, b: str) -> bool:
        """Whether `a` is significantly better than `b`, two names of the comparisons, references among them."""
        i, j = (_place(self.comparisons.names, name) for name in (a, b))
        return bool(_better(self.comparisons, 1 - self.level, self.greater_is_better)[i, j])

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the ranks of each model, and every pair that is significant, the better one first."""
        names = self.comparisons.names
        found = _better(self.comparisons, 1 - self.level, self.greater_is_better)
        columns = (self.names, self.values.tolist(), self.low.tolist(), self.high.tolist(), self.top.tolist())
        return {
            "level": self.level,
            "models": [
                dict(zip(("model", "value", "rank_low", "rank_high", "top"), row, strict=True))
                for row in zip(*columns, strict=True)
            ],
            "better": [[names[i], names[j]] for i, j in np.argwhere(found).tolist()],
        }


def rank_sets(
    comparisons: PairwiseComparisons, *, level: float | None = None, greater_is_better: bool = False
) -> RankSets:
    """Confidence sets of ranks that hold for all models at once.

    Parameters
    ----------
    comparisons : PairwiseComparisons
        Of `pairwise_mean_tests` or `pairwise_statistic_tests`. Its references are compared but not ranked.
    level : float, optional
        By default that of the comparisons.
    greater_is_better : bool
        False for losses, True for scores.

    Returns
    -------
    RankSets

    Notes
    -----
    The set of model j is [1 + number of models significantly better, J − number significantly worse]. As long as no pair is
    separated falsely, which the adjustment of all pairs grants with probability `level`, every set holds the model's true
    rank, and all ranks that a tie leaves open. A pair without a test separates nothing.

    References
    ----------
    Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for ranks with applications to mobility across neighbourhoods and
    academic achievement across countries, Rev. Econ. Stud. 91, section 3.

    Examples
    --------
    >>> from uqassay.statistics import pairwise_mean_tests
    >>> losses = {"a": [0.1, 0.4, 0.2, 0.3], "b": [0.2, 0.4, 0.3, 0.2], "c": [0.6, 0.9, 0.8, 0.8]}
    >>> found = rank_sets(pairwise_mean_tests(losses))
    >>> found.low.tolist(), found.high.tolist(), found.top_names
    ([1, 1, 3], [2, 2, 3], ('a', 'b'))
    """
    if not isinstance(comparisons, PairwiseComparisons):
        remedy = "pass the result of pairwise_mean_tests"
        fail("comparisons", "must be tests of all pairs", f"got {type(comparisons).__name__}", remedy, code="type")
    level = comparisons.level if level is None else level
    check_level(level)
    ranked = ~np.isin(comparisons.names, comparisons.references)
    better = _better(comparisons, 1 - level, greater_is_better)[np.ix_(ranked, ranked)]
    losses, wins = better.sum(axis=0), better.sum(axis=1)
    return RankSets(
        names=tuple(name for name, r in zip(comparisons.names, ranked.tolist(), strict=True) if r),
        values=comparisons.values[ranked],
        low=1 + losses,
        high=int(ranked.sum()) - wins,
        top=losses == 0,
        better=better,
        level=float(level),
        comparisons=comparisons,
        greater_is_better=bool(greater_is_better),
    )


def _better(comparisons: PairwiseComparisons, alpha: float, greater_is_better: bool) -> NDArray[np.bool_]:
    sign = 1.0 if greater_is_better else -1.0
    with np.errstate(invalid="ignore"):
        return np.asarray((comparisons.adjusted <= alpha) & (sign * comparisons.difference > 0))


def _place(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        fail("model", f"must be one of {', '.join(names)}", f"got {name!r}", "choose one", code="choice")
    return names.index(name)
