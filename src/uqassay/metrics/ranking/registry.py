"""Registry of the ranking metrics: name, truth, influences and interval of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay.errors import InputError
from uqassay.metrics.ranking.auc_and_c_index import (
    ARGUMENTS,
    DIFFERENT,
    SAMPLES,
    Statistics,
    c_index_linearised,
    checked_gap,
    g_auc_interval,
    g_auc_linearised,
    h_auc_interval,
    h_auc_linearised,
    untied,
)
from uqassay.metrics.risk.ranked_errors import RankedErrors, once_for_errors, rank_errors
from uqassay.metrics.risk.risk_area_influences import (
    area_estimate,
    augrc,
    aurc,
    e_aurc,
    ranked_auc,
    ratio_of_auc,
    small_sample_ratio,
)
from uqassay.predictions.base import Array
from uqassay.statistics import Estimate
from uqassay.statistics.delong import IMAGINARY, auc_linearised, checked, noted, sample_counts
from uqassay.statistics.linearised import AveragedStatistic, Linearised, linearised_estimate
from uqassay.statistics.samples import make_units

__all__ = ["RANKING_METRICS", "RankingMetric"]


Codes = NDArray[np.intp]
OfRanked = Callable[[RankedErrors, Codes | None], Linearised]


class Statistic(Protocol):
    """Function (truth, uncertainty, weights or None, group codes or None) → `Linearised`."""

    def __call__(
        self, truth: Array, uncertainty: Array, weights: Array | None, codes: Codes | None = None, /
    ) -> Linearised: ...


@dataclass(frozen=True)
class RankingMetric:
    """A metric of how well an uncertainty ranks the errors or the gaps.

    Attributes
    ----------
    name : str
    truth : str
        "errors" or "gap": what the uncertainty should rank.
    higher_is_better : bool
    statistic : callable
        Function of checked arrays: (truth, uncertainty, weights or None, group codes or None) → `Linearised`.
    interval : callable
        (one statistic, one per training run, or for metrics that are no areas their `averaged`; groups, level) → `Estimate`.
    bound : float
        Greatest possible difference of two values.
    of_ranked : callable or None
        Function (ranked errors, group codes or None) → the same `Linearised`, for metrics of errors in order of uncertainty:
        several of them share one `RankedErrors`.
    of_auc : callable or None
        Function (ranked errors of each run, `estimate` of UQ-AUC) → `Estimate`, or None where it does not follow from it.
    """

    name: str
    truth: str
    higher_is_better: bool
    statistic: Statistic
    interval: Callable[[Any, ArrayLike | None, float], Estimate]
    bound: float = 1.0
    of_ranked: OfRanked | None = None
    of_auc: Callable[[Sequence[RankedErrors], Estimate], Estimate | None] | None = None

    def linearised_of(
        self,
        truth: ArrayLike,
        uncertainty: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[Linearised, Array | None]:
        """Check the arrays; return the statistic and the scaled weights."""
        check = checked if self.truth == "errors" else checked_gap
        t, s, w = check(truth, uncertainty, sample_weight, (self.truth, ARGUMENTS[1]))
        return self.statistic(t, s, w, make_units(len(t), groups, None).codes), w

    def runs(
        self,
        truths: Array,
        uncertainties: Array,
        groups: ArrayLike | None = None,
        *,
        ranked: Sequence[RankedErrors] | None = None,
    ) -> list[Linearised]:
        """The statistic of each training run, from arrays ``(R, n)``; `ranked` holds their errors in order, if known."""
        codes = make_units(np.shape(truths)[1], groups, None).codes
        if self.of_ranked is not None and ranked is not None:
            return [self.of_ranked(one, codes) for one in ranked]
        return [self.statistic(t, s, None, codes) for t, s in zip(truths, uncertainties, strict=True)]

    def averaged(
        self,
        truths: Array,
        uncertainties: Array,
        groups: ArrayLike | None = None,
        *,
        ranked: Sequence[RankedErrors] | None = None,
    ) -> AveragedStatistic:
        """The mean of `runs`, for the interval of `estimate` and for tests against others (metrics that are no areas)."""
        runs = self.runs(truths, uncertainties, groups, ranked=ranked)
        units = make_units(np.shape(truths)[1], groups, None)
        return AveragedStatistic.of(runs if len(runs) > 1 else runs[0], units)

    def estimate(
        self,
        truths: ArrayLike,
        uncertainties: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        level: float = 0.95,
        ranked: Sequence[RankedErrors] | None = None,
        known: AveragedStatistic | None = None,
        auc: Estimate | None = None,
    ) -> Estimate:
        """Mean over training runs, from arrays ``(R, n)`` or ``(n,)``, with its interval.

        One run shows no variation between runs. `ranked` is as in `runs`, `known` the result of `averaged`, and `auc` the
        `estimate` of UQ-AUC with the same arguments.
        """
        if self.of_auc is not None and ranked is not None and auc is not None:
            following = self.of_auc(ranked, auc)
            if following is not None:
                return following
        if ranked is None and known is None:
            truths, uncertainties = self._runs_of(truths, uncertainties)
        truths, uncertainties = np.atleast_2d(truths), np.atleast_2d(uncertainties)
        statistics: Statistics | AveragedStatistic | None = known
        if statistics is None:
            runs = self.runs(truths, uncertainties, groups, ranked=ranked)
            statistics = runs if len(runs) > 1 else runs[0]
        found = self.interval(statistics, groups, level)
        constant = is_constant(uncertainties) if ranked is None else all(one.thresholds.size == 1 for one in ranked)
        if self.truth == "gap":
            count = min(untied(gap) for gap in truths)
            return noted(found, [] if np.isnan(found) else [(count, DIFFERENT)], constant=constant)
        if ranked is None:
            each = [sample_counts(e, None, groups, SAMPLES) for e in truths]
        else:
            each = [_ranked_counts(one, groups) for one in ranked]
        worst = [min((run[k] for run in each), key=lambda count: count[0]) for k in range(2)]
        return noted(found, worst, constant=constant)

    def _runs_of(self, truths: ArrayLike, uncertainties: ArrayLike) -> tuple[Array, Array]:
        """Checked arrays (R, n)."""
        given = [
            np.atleast_2d(as_numeric(v, name)) for v, name in ((truths, self.truth), (uncertainties, ARGUMENTS[1]))
        ]
        if given[0].ndim > 2 or given[0].shape != given[1].shape:
            raise InputError(
                ARGUMENTS[1],
                f"must have shape (R, n) or (n,), and that of the {self.truth}",
                f"got {given[1].shape} and {given[0].shape}",
                "pass one row for each training run",
                code="shape",
            )
        check = checked if self.truth == "errors" else checked_gap
        runs = [check(t, s, None, (self.truth, ARGUMENTS[1])) for t, s in zip(*given, strict=True)]
        return np.stack([t for t, _, _ in runs]), np.stack([s for _, s, _ in runs])


def is_constant(uncertainties: Array) -> bool:
    """True if all uncertainties of each run are equal, ``(R, n)``."""
    return bool((uncertainties == uncertainties[:, :1]).all())


@once_for_errors
def _ranked_counts(ranked: RankedErrors, groups: ArrayLike | None) -> list[tuple[float, str]]:
    return sample_counts(ranked.memberships[0], None, groups, SAMPLES)


def _auc(e: Array, s: Array, w: Array | None, codes: Codes | None = None) -> Linearised:
    return auc_linearised(e, s, w, codes, imaginary=IMAGINARY)


def _ignoring_groups(
    statistic: Callable[[Array, Array, Array | None], Linearised],
) -> Statistic:
    """Adapt a statistic that does not depend on groups because it has no imaginary instances."""

    def without_groups(
        truth: Array, uncertainty: Array, weights: Array | None, codes: Codes | None = None
    ) -> Linearised:
        return statistic(truth, uncertainty, weights)

    return without_groups


def _area_metric(name: str, higher_is_better: bool, of_ranked: OfRanked, kind: str, **more: Any) -> RankingMetric:
    def statistic(truth: Array, uncertainty: Array, weights: Array | None, codes: Codes | None = None) -> Linearised:
        return of_ranked(rank_errors(truth, uncertainty, weights), codes)

    return RankingMetric(name, "errors", higher_is_better, statistic, _area(kind), of_ranked=of_ranked, **more)


def _on_scale(scale: str, method: str) -> Callable[[Any, ArrayLike | None, float], Estimate]:
    def interval(statistics: Statistics | AveragedStatistic, groups: ArrayLike | None, level: float) -> Estimate:
        return linearised_estimate(statistics, groups=groups, level=level, scale=scale, method=method)

    return interval


def _area(kind: str) -> Callable[[Statistics, ArrayLike | None, float], Estimate]:
    def interval(statistics: Statistics, groups: ArrayLike | None, level: float) -> Estimate:
        return area_estimate(statistics, kind, groups=groups, level=level)

    return interval


_ALL = (
    RankingMetric(
        "uq-auc", "errors", True, _auc, _on_scale("logit", "delong, adjusted, logit scale"), of_ranked=ranked_auc
    ),
    RankingMetric("uq-c-index", "gap", True, c_index_linearised, _on_scale("logit", "u-statistic, logit scale")),
    _area_metric("aurc", False, lambda ranked, codes: aurc(ranked), "aurc"),
    _area_metric("e-aurc", False, lambda ranked, codes: e_aurc(ranked), "e-aurc"),
    _area_metric("augrc", False, lambda ranked, codes: augrc(ranked), "augrc"),
    _area_metric(
        "prediction-rejection",
        True,
        lambda ranked, codes: small_sample_ratio(ranked, "generalised", codes),
        "prediction-rejection-generalised",
        bound=np.inf,
        of_auc=ratio_of_auc,
    ),
    RankingMetric("g-auc", "errors", True, _ignoring_groups(g_auc_linearised), g_auc_interval),
    RankingMetric("h-auc", "errors", True, _ignoring_groups(h_auc_linearised), h_auc_interval),
)

RANKING_METRICS: dict[str, RankingMetric] = {metric.name: metric for metric in _ALL}
