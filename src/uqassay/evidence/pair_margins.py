"""Models compared by their mean E with a margin, and the smallest difference that the test set could have shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.loss_lines import LossReading, loss_lines
from uqassay.evidence.prior_of_the_others import has_held_out
from uqassay.evidence.rank_sets import greatest_excess
from uqassay.statistics import DetectableDifference, Estimate, MarginTest, no_worse_than_best, shaffer_factor

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["detectable_at", "margin_test_at", "no_worse_at", "smallest_shown"]

Array = NDArray[np.float64]


def margin_test_at(assay: "Assay", a: str, b: str, tradeoff: float, margin: float) -> MarginTest:
    """`statistics.paired_margin_test` of the mean E of two models at one λ, with the greatest losses as bounds.

    Of the class frequencies of the test labels both readings are tested, see `rank_sets.pair_tests`, and the weaker evidence
    counts.
    """
    tests = [_margins(assay, [one], other, tradeoff, margin)[0] for one, other in _readings(assay, a, b)]
    if len(tests) == 1:
        return tests[0]
    first, second = (test.difference for test in tests)
    pvalues: dict[str, Any] = {
        name: float(np.fmax(*(getattr(test, name) for test in tests)))
        for name in ("pvalue_no_worse", "pvalue_no_better", "pvalue_difference")
    }
    if float(first) * float(second) <= 0:
        pvalues["pvalue_difference"] = 1.0
    low, high = float(np.fmin(first.low, second.low)), float(np.fmax(first.high, second.high))
    both = Estimate(
        float(first), low=low, high=high, level=first.level, n=first.n, method=first.method, notes=first.notes
    )
    return replace(tests[0], difference=both, **pvalues)


def detectable_at(assay: "Assay", a: str, b: str, tradeoff: float) -> DetectableDifference:
    """The smallest difference of the mean E of two given models that a test at the assay's level could have shown.

    Of the class frequencies of the test labels that of the reading with the greater one.
    """
    alpha = 1 - assay.settings.level
    found = [
        _detectable(assay, [one], other, tradeoff, [alpha], plans=True)[0] for one, other in _readings(assay, a, b)
    ]
    return max(found, key=lambda d: d.difference)


def smallest_shown(assay: "Assay", one: str, others: Sequence[str], tradeoff: float) -> dict[str, float]:
    """The smallest differences of several models from one that the tests of all pairs could have shown, by name.

    Each at the level that Shaffer's procedure leaves the pairs that it does not reject.
    """
    if not others:
        return {}
    alpha, tests = 1 - assay.settings.level, assay.rank_sets(tradeoff).comparisons
    each = [alpha / shaffer_factor(tests.pvalue, alpha)] * len(others)
    found = _detectable(
        assay, [LossReading(assay[name]) for name in others], LossReading(assay[one]), tradeoff, each, plans=False
    )
    return {name: d.difference for name, d in zip(others, found, strict=True)}


def no_worse_at(assay: "Assay", tradeoff: float, margin: float) -> dict[str, float]:
    """Adjusted p-values of "no worse than any other model by more than the margin", by name; see `no_worse_than_best`."""

    def found() -> dict[str, float]:
        names = assay.model_names
        pvalues = np.zeros((len(names), len(names)))
        for k, name in enumerate(names[:-1]):
            rest = [LossReading(assay[other]) for other in names[k + 1 :]]
            tests = _margins(assay, rest, LossReading(assay[name]), tradeoff, margin)
            pvalues[k + 1 :, k] = [test.pvalue_no_worse for test in tests]
            pvalues[k, k + 1 :] = [test.pvalue_no_better for test in tests]
        return dict(zip(names, no_worse_than_best(pvalues).tolist(), strict=True))

    return assay.shared.once(("no-worse", float(tradeoff), float(margin)), found)


# -- helpers -----------------------------------------------------------------------------------------------------------


def _readings(assay: "Assay", a: str, b: str) -> list[tuple[LossReading, LossReading]]:
    """The two models, and once more with the second reading of the class frequencies where one of them has it."""
    one, other = assay[a], assay[b]
    found = [(LossReading(one), LossReading(other))]
    if has_held_out(one) != has_held_out(other):
        found.append((LossReading(one, held_out=has_held_out(one)), LossReading(other, held_out=has_held_out(other))))
    return found


def _bounds(assay: "Assay", readings: Sequence[LossReading], tradeoff: float) -> Array:
    each = [greatest_excess(assay, m, "unified", tradeoff, held_out=held_out) for m, held_out in readings]
    return np.array([float(bound) for bound in each])


def _margins(
    assay: "Assay", readings: Sequence[LossReading], other: LossReading, tradeoff: float, margin: float
) -> list[MarginTest]:
    over = _bounds(assay, readings, tradeoff)
    under = np.full(over.shape, _bounds(assay, [other], tradeoff)[0])
    return loss_lines(assay).margins(readings, other, tradeoff, margin=margin, bounds=(over, under))


def _detectable(
    assay: "Assay",
    readings: Sequence[LossReading],
    other: LossReading,
    tradeoff: float,
    alphas: Sequence[float],
    *,
    plans: bool,
) -> list[DetectableDifference]:
    bounds = np.maximum(_bounds(assay, readings, tradeoff), _bounds(assay, [other], tradeoff))
    return loss_lines(assay).detectable(readings, other, tradeoff, bounds=bounds, alphas=alphas, plans=plans)
