"""The ranking metrics by name: which truth each needs, its influences, and the scale of its interval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uqassay.metrics.ranking import ARGUMENTS, SAMPLES, checked_gap, g_auc_linearised, h_auc_linearised
from uqassay.predictions._base import Array
from uqassay.statistics import Estimate
from uqassay.statistics.delong import IMAGINARY, auc_linearised, checked, noted, sample_counts
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.u_statistics import concordance_linearised

__all__ = ["RANKING_METRICS", "RankingMetric"]


@dataclass(frozen=True)
class RankingMetric:
    """One number for how well an uncertainty ranks.

    Attributes
    ----------
    name : str
    truth : str
        "errors" or "gap".
    higher_is_better : bool
    statistic : callable
        (truth, uncertainty, weights or None), checked arrays → `Linearised`.
    scale, method : str
        Scale of the interval and what an estimate says about it.
    """

    name: str
    truth: str
    higher_is_better: bool
    statistic: Callable[[Array, Array, Array | None], Linearised]
    scale: str
    method: str

    def linearised_of(
        self, truth: ArrayLike, uncertainty: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> tuple[Linearised, Array | None]:
        """The statistic of unchecked arrays, and the weights as an array."""
        check = checked if self.truth == "errors" else checked_gap
        t, s, w = check(truth, uncertainty, sample_weight, (self.truth, ARGUMENTS[1]))
        return self.statistic(t, s, w), w

    def estimate(
        self, truths: Array, uncertainties: Array, *, groups: ArrayLike | None = None, level: float = 0.95
    ) -> Estimate:
        """Mean over training runs, ``(R, n)`` each, with its interval; one run claims no spread between runs."""
        statistics = self.runs(truths, uncertainties)
        found = linearised_estimate(
            statistics if len(statistics) > 1 else statistics[0],
            groups=groups,
            level=level,
            scale=self.scale,
            method=self.method,
        )
        if self.truth == "gap":
            counts: list[tuple[float, str]] = [(float(np.shape(truths)[1]), "instances")]
        else:
            each = [sample_counts(e, None, groups, SAMPLES) for e in truths]
            counts = [(float(np.mean([run[k][0] for run in each])), each[0][k][1]) for k in range(2)]
            counts = [(count, name) for count, name in counts if count > 0 or np.isnan(found)]
        return noted(found, counts, constant=bool((uncertainties == uncertainties[:, :1]).all()))

    def runs(self, truths: Array, uncertainties: Array) -> Sequence[Linearised]:
        """The statistic of each run."""
        return [self.statistic(t, s, None) for t, s in zip(truths, uncertainties, strict=True)]


def _auc(e: Array, s: Array, w: Array | None) -> Linearised:
    return auc_linearised(e, s, w, imaginary=IMAGINARY)


def _c_index(g: Array, s: Array, w: Array | None) -> Linearised:
    return concordance_linearised(g, s, w, imaginary=IMAGINARY)


_ALL = (
    RankingMetric("uq-auc", "errors", True, _auc, "logit", "delong, adjusted, logit scale"),
    RankingMetric("uq-c-index", "gap", True, _c_index, "logit", "u-statistic, logit scale"),
    RankingMetric("g-auc", "errors", True, g_auc_linearised, "identity", "linearised"),
    RankingMetric("h-auc", "errors", True, h_auc_linearised, "identity", "linearised"),
)

RANKING_METRICS: dict[str, RankingMetric] = {metric.name: metric for metric in _ALL}
