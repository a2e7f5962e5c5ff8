"""Mean E of all models as lines in λ, with what their tests at every λ share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.findings import one_run
from uqassay.evidence.order_errors import order_errors
from uqassay.evidence.prior_of_the_others import column_of, has_held_out
from uqassay.evidence.scoring import ModelScores
from uqassay.statistics import (
    DetectableDifference,
    Estimate,
    MarginTest,
    MeanLines,
    PairedComparison,
    PairwiseComparisons,
    detectable_differences,
    margin_tests,
)

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["LossLines", "LossReading", "loss_lines"]

Array = NDArray[np.float64]


class LossReading(NamedTuple):
    """Losses of a model or baseline; those of the class frequencies have two readings."""

    model: ModelScores
    held_out: bool = False


class LossLines:
    """Mean E of all models and baselines at any λ.

    Parameters
    ----------
    assay : Assay
    rows : bool array (n,), optional
        The instances, by default all; for those `loss_lines` keeps the lines of an assay.
    """

    def __init__(self, assay: "Assay", rows: NDArray[np.bool_] | None = None) -> None:
        chosen = slice(None) if rows is None else rows
        readings = [LossReading(m) for m in assay.models]
        self._names = {(m.name, False): m.name for m in assay.models}
        for m in filter(has_held_out, assay.models):
            readings.append(LossReading(m, held_out=True))
            self._names[m.name, True] = _new_name(f"{m.name} of the others", tuple(self._names.values()))
        self._places = {name: k for k, name in enumerate(self._names.values())}
        terms = ("distance", "nonspecificity")
        columns = {
            self._name(r): tuple(one_run(column_of(r.model, term, held_out=r.held_out)[:, chosen]) for term in terms)
            for r in readings
        }
        self._lines = MeanLines(columns, groups=None if assay.groups is None else assay.groups[chosen])
        self._errors = order_errors({self._name(r): r.model.order_deviations for r in readings}, 1.0)
        self._level = assay.settings.level

    def tests(
        self,
        readings: Sequence[LossReading],
        tradeoffs: Sequence[float],
        *,
        bounds: Array,
        references: Sequence[LossReading],
    ) -> list[PairwiseComparisons]:
        """`statistics.pairwise_mean_tests` of E at each of T λ, with bounds (T, J); the names are those of this object."""
        names = [self._name(r) for r in readings]
        places = [self._places[name] for name in names]
        return self._lines.tests_at(
            [(1.0, t) for t in tradeoffs],
            names=names,
            level=self._level,
            bounds=list(bounds),
            extra_errors=[t * self._errors[np.ix_(places, places)] for t in tradeoffs],
            references=[self._name(r) for r in references],
        )

    def against(
        self, one: LossReading, others: Sequence[LossReading], tradeoffs: Array, *, bounds: Array | None
    ) -> tuple[Array, Array]:
        """Mean E of others minus that of one, and the p-values of `tests`, not adjusted, ``(T, P)`` each at T λ."""
        names, at = [self._name(r) for r in others], self._places[self._name(one)]
        errors = np.multiply.outer(tradeoffs, self._errors[at, [self._places[name] for name in names]])
        combinations = np.stack([np.ones_like(tradeoffs), tradeoffs], axis=-1)
        return self._lines.against(combinations, self._name(one), names, bound=bounds, extra_error=errors)

    def estimates(self, models: Sequence[ModelScores], tradeoff: float) -> list[Estimate]:
        """Mean E of models at one λ, with Hall's interval for skewed losses."""
        names = [self._name(LossReading(m)) for m in models]
        return self._lines.estimates((1.0, tradeoff), names, level=self._level, method="hall")

    def differences(
        self, readings: Sequence[LossReading], other: LossReading, tradeoff: float
    ) -> list[PairedComparison]:
        """`statistics.paired_mean_test` of readings against another one at one λ."""
        names = [self._name(r) for r in readings]
        return self._lines.differences((1.0, tradeoff), names, self._name(other), level=self._level)

    def margins(
        self,
        readings: Sequence[LossReading],
        other: LossReading,
        tradeoff: float,
        *,
        margin: float,
        bounds: tuple[Array, Array],
    ) -> list[MarginTest]:
        """`statistics.paired_margin_test` of readings against another one, with bounds (P,) of these and of the other."""
        names, one = [self._name(r) for r in readings], self._name(other)
        extra = tradeoff * self._errors[self._places[one], [self._places[name] for name in names]]
        return margin_tests(
            self._lines, (1.0, tradeoff), names, one, margin=margin, level=self._level, bounds=bounds, extra=extra
        )

    def detectable(
        self,
        readings: Sequence[LossReading],
        other: LossReading,
        tradeoff: float,
        *,
        bounds: Array,
        alphas: Sequence[float],
        plans: bool,
    ) -> list[DetectableDifference]:
        """`statistics.detectable_difference` of readings from another one, each with its bound and level."""
        names, one = [self._name(r) for r in readings], self._name(other)
        extra = tradeoff * self._errors[self._places[one], [self._places[name] for name in names]]
        return detectable_differences(
            self._lines, (1.0, tradeoff), names, one, alphas=alphas, bounds=bounds, extra=extra, plans=plans
        )

    def _name(self, reading: LossReading) -> str:
        return self._names[reading.model.name, reading.held_out]


def loss_lines(assay: "Assay") -> LossLines:
    """Those of an assay, kept in `Assay.shared`."""
    return assay.shared.once("loss-lines", lambda: LossLines(assay))


def _new_name(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _new_name(f"{name}'", taken)
