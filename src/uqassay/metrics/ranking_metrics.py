"""The ranking metrics by name: which truth each needs, its influences, and the scale of its interval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uqassay.metrics.ranking import ARGUMENTS, SAMPLES, checked_gap, g_auc_linearised, h_auc_linearised
from uqassay.metrics.risk_area_influences import (
    area_estimate,
    augrc_linearised,
    aurc_linearised,
    e_aurc_linearised,
    prediction_rejection_linearised,
)
from uqassay.predictions._base import Array
from uqassay.statistics import Estimate
from uqassay.statistics.delong import IMAGINARY, auc_linearised, checked, noted, sample_counts
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.u_statistics import concordance_linearised

__all__ = ["RANKING_METRICS", "RankingMetric"]


Statistics = Linearised | Sequence[Linearised]


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
    interval : callable
        (statistic or those of several runs, groups, level) → `Estimate`.
    """

    name: str
    truth: str
    higher_is_better: bool
    statistic: Callable[[Array, Array, Array | None], Linearised]
    interval: Callable[[Statistics, ArrayLike | None, float], Estimate]

    def linearised_of(
        self, truth: ArrayLike, uncertainty: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> tuple[Linearised, Array | None]:
        """The statistic of unchecked arrays, and the weights as an array."""
        check = checked if self.truth == "errors" else checked_gap
        t, s, w = check(truth, uncertainty, sample_weight, (self.truth, ARGUMENTS[1]))
        return self.statistic(t, s, w), w

    def runs(self, truths: Array, uncertainties: Array) -> list[Linearised]:
        """The statistic of each training run, ``(R, n)`` each."""
        return [self.statistic(t, s, None) for t, s in zip(truths, uncertainties, strict=True)]

    def estimate(
        self, truths: Array, uncertainties: Array, *, groups: ArrayLike | None = None, level: float = 0.95
    ) -> Estimate:
        """Mean over training runs, ``(R, n)`` each, with its interval; one run claims no spread between runs."""
        statistics = self.runs(truths, uncertainties)
        found = self.interval(statistics if len(statistics) > 1 else statistics[0], groups, level)
        constant = is_constant(uncertainties) and not np.isnan(found)
        if self.truth == "gap":
            return noted(found, [(float(np.shape(truths)[1]), "instances")], constant=constant)
        each = [sample_counts(e, None, groups, SAMPLES) for e in truths]
        counts = [(float(np.mean([run[k][0] for run in each])), each[0][k][1]) for k in range(2)]
        counts = [(count, name) for count, name in counts if count > 0 or np.isnan(found)]
        return noted(found, counts, constant=constant)


def is_constant(uncertainties: Array) -> bool:
    """Whether every run gives all its instances one value, ``(R, n)``."""
    return bool((uncertainties == uncertainties[:, :1]).all())


def _auc(e: Array, s: Array, w: Array | None) -> Linearised:
    return auc_linearised(e, s, w, imaginary=IMAGINARY)


def _c_index(g: Array, s: Array, w: Array | None) -> Linearised:
    return concordance_linearised(g, s, w, imaginary=IMAGINARY)


def _on_scale(scale: str, method: str) -> Callable[[Statistics, ArrayLike | None, float], Estimate]:
    def interval(statistics: Statistics, groups: ArrayLike | None, level: float) -> Estimate:
        return linearised_estimate(statistics, groups=groups, level=level, scale=scale, method=method)

    return interval


def _area(kind: str) -> Callable[[Statistics, ArrayLike | None, float], Estimate]:
    def interval(statistics: Statistics, groups: ArrayLike | None, level: float) -> Estimate:
        return area_estimate(statistics, kind, groups=groups, level=level)

    return interval


_ALL = (
    RankingMetric("uq-auc", "errors", True, _auc, _on_scale("logit", "delong, adjusted, logit scale")),
    RankingMetric("uq-c-index", "gap", True, _c_index, _on_scale("logit", "u-statistic, logit scale")),
    RankingMetric("aurc", "errors", False, aurc_linearised, _area("aurc")),
    RankingMetric("e-aurc", "errors", False, e_aurc_linearised, _area("e-aurc")),
    RankingMetric("augrc", "errors", False, augrc_linearised, _area("augrc")),
    RankingMetric(
        "prediction-rejection",
        "errors",
        True,
        prediction_rejection_linearised,
        _area("prediction-rejection-generalised"),
    ),
    RankingMetric("g-auc", "errors", True, g_auc_linearised, _on_scale("identity", "linearised")),
    RankingMetric("h-auc", "errors", True, h_auc_linearised, _on_scale("identity", "linearised")),
)

RANKING_METRICS: dict[str, RankingMetric] = {metric.name: metric for metric in _ALL}
