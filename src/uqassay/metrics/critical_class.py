"""What refusing costs and saves for the class that matters: how many of its cases are passed on, and how many stay missed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail, same_length, whole
from uqassay.ids import in_one_order
from uqassay.metrics.risk import check_coverage, rank_errors
from uqassay.notes import Note
from uqassay.results import Plain
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.linearised import Linearised, linearised_estimate, undefined
from uqassay.statistics.units import as_floats, as_runs, check_level, scaled_weights

__all__ = ["CRITICAL_SHARES", "CriticalRefusal", "critical_class_refusal"]


@final
@dataclass(frozen=True)
class CriticalRefusal(Plain):
    """Shares of the cases of one class, without refusing and where the most uncertain cases of all classes are refused."""

    coverage: float  #: Share of all cases that is kept.
    n: int  #: Cases of the class.
    recall: Estimate  #: Share of the class's cases that are predicted right, without refusing.
    recall_kept: Estimate  #: The same among those of the class that are kept.
    missed: Estimate  #: Share of the class's cases that are kept and predicted wrong: the misses that remain.
    caught: Estimate  #: Share of the class's misses that are refused.
    refused: Estimate  #: Share of the class's cases that are refused.
    refused_others: Estimate  #: Share of the cases of other classes that are refused.


CRITICAL_SHARES = ("recall", "recall_kept", "missed", "caught", "refused", "refused_others")


@in_one_order(
    "y_true", "predicted", "uncertainty", "groups", "sample_weight", axes={"predicted": -1, "uncertainty": -1}
)
def critical_class_refusal(
    y_true: ArrayLike,
    predicted: ArrayLike,
    uncertainty: ArrayLike,
    *,
    critical: int,
    coverage: float = 0.9,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
) -> CriticalRefusal:
    """What happens to the cases of one class where the most uncertain cases are refused.

    Parameters
    ----------
    y_true : int array (n,)
        Classes of the instances.
    predicted : int array (n,) or (R, n)
        Predicted classes, of R training runs.
    uncertainty : array (n,) or (R, n)
        Greater is less certain, such as `measures.probability_moments(p).contributions[:, critical]`.
    critical : int
        The class that matters.
    coverage : float
        Share of all instances that is kept. Of instances that tie at the threshold the same share is kept of each.
    groups, sample_weight, level
        As in `mean_estimate`.

    Notes
    -----
    Every interval is Wilson's, by itself, with the number of independent cases that gives the variance of the linearised
    share. That variance holds the threshold too, which is found from these instances: a case that is refused lets others be
    kept, at the rate of the cases near the threshold. docs/evidence-ranking.md has the measured coverage. A share without
    cases is nan, with a note.

    Examples
    --------
    >>> found = critical_class_refusal([1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0.1, 0.9, 0.2, 0.1, 0.3], critical=1, coverage=0.8)
    >>> [round(float(getattr(found, name)), 2) for name in CRITICAL_SHARES]
    [0.33, 0.5, 0.33, 0.5, 0.33, 0.0]
    """
    check_level(level)
    check_coverage(coverage)
    y = as_floats(y_true, "y_true", ndim=(1,), shape="(n,)")
    whole(critical, "critical", "give the index of a class", least=0)
    doubts, labels = as_runs(uncertainty, "uncertainty"), as_runs(predicted, "predicted")
    for name, classes in (("y_true", y), ("predicted", labels)):
        none = (classes != np.floor(classes)) | (classes < 0)
        if none.any():
            rule, got = "must hold indices of classes", f"got {classes[none][0]:g}"
            fail(name, rule, got, "give whole numbers from 0 on", code="type")
    same_length(doubts.T, "uncertainty", len(y), "align them first", of="label")
    same_length(labels.T, "predicted", len(y), "align them first", of="label")
    if len(doubts) != len(labels) and 1 not in (len(doubts), len(labels)):
        rule, got = "must have as many runs as predicted, or one", f"got {len(doubts)} and {len(labels)} runs"
        fail("uncertainty", rule, got, "give a row for each run", code="mismatch")
    w = np.ones(len(y)) if sample_weight is None else scaled_weights(sample_weight, len(y))
    mine = y == critical
    runs = [
        _Run(one, coverage, w, mine, label == y)
        for one, label in zip(*np.broadcast_arrays(doubts, labels), strict=True)
    ]

    def share(of: Callable[[_Run], Linearised]) -> Estimate:
        each = [of(run) for run in runs]
        options: dict[str, Any] = {"groups": groups, "sample_weight": sample_weight, "level": level}
        return linearised_estimate(each if len(each) > 1 else each[0], **options, scale="wilson", method="wilson")

    none = "no case is of this class"
    return CriticalRefusal(
        coverage=float(coverage),
        n=int((mine & (w > 0)).sum()),
        recall=share(lambda run: run.ratio((mine & run.right, ALL), (mine, ALL), none)),
        recall_kept=share(
            lambda run: run.ratio((mine & run.right, KEPT), (mine, KEPT), "no case of this class is kept")
        ),
        missed=share(lambda run: run.ratio((mine & ~run.right, KEPT), (mine, ALL), none)),
        caught=share(
            lambda run: run.ratio(
                (mine & ~run.right, REFUSED), (mine & ~run.right, ALL), "no case of this class is missed"
            )
        ),
        refused=share(lambda run: run.ratio((mine, REFUSED), (mine, ALL), none)),
        refused_others=share(lambda run: run.ratio((~mine, REFUSED), (~mine, ALL), "all cases are of this class")),
    )


ALL, KEPT, REFUSED = 0, 1, -1  # what counts of some instances: all, those kept, those refused
Counted = tuple[NDArray[np.bool_], int]


class _Run:
    """One training run: how much of each instance is kept, and ratios of what is kept or refused."""

    def __init__(
        self, doubt: Floats, coverage: float, w: Floats, mine: NDArray[np.bool_], right: NDArray[np.bool_]
    ) -> None:
        self.doubt, self.coverage, self.w, self.right = doubt, coverage, w, right
        self.kept = kept_shares(doubt, coverage, w)
        self.by_class = rank_errors(mine.astype(np.float64), doubt, w)

    def ratio(self, part: Counted, whole: Counted, without: str) -> Linearised:
        """Σ w of the one over Σ w of the other, with the influence of every instance, also on the threshold."""
        (a, of_a), (b, of_b) = (self._moved(*one) for one in (part, whole))
        total = float(np.average(b, weights=self.w))
        if total == 0:
            return undefined(len(b), (Note("undefined", f"undefined, because {without}"),))
        value = float(np.average(a, weights=self.w)) / total
        influence = (a + of_a - value * (b + of_b)) / total
        return Linearised(min(value, 1.0), influence, parts=(influence,), inside=(b > 0,))

    def _moved(self, who: NDArray[np.bool_], way: int) -> tuple[Floats, Floats]:
        """What counts of each instance, and its influence on what counts by way of the threshold."""
        x = who.astype(np.float64)
        if way == ALL:
            return x, np.zeros_like(x)
        near = float(rank_errors(x, self.doubt, self.w, like=self.by_class).local_rate(np.array([self.coverage]))[0])
        moved = (
            -way * near * (self.kept - self.coverage)
        )  # a threshold that keeps too many of the others keeps fewer of these
        return x * (self.kept if way == KEPT else 1 - self.kept), moved


def kept_shares(uncertainty: Floats, coverage: float, weights: Floats | None = None) -> Floats:
    """How much of each instance is kept, ``(n,)``: 1 below the threshold, 0 above it, a share of those that tie at it.

    Examples
    --------
    >>> kept_shares(np.array([0.1, 0.5, 0.5, 0.9]), 0.5).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    values, place = np.unique(uncertainty, return_inverse=True)
    sizes = np.bincount(place, weights=weights, minlength=len(values)).astype(np.float64)
    before = np.cumsum(sizes) - sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.clip((coverage * sizes.sum() - before) / sizes, 0.0, 1.0)
    shares[np.abs(shares - np.round(shares)) < 1e-9] = np.round(shares[np.abs(shares - np.round(shares)) < 1e-9])
    return np.asarray(np.nan_to_num(shares)[place])
