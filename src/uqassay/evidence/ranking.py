"""Models and baselines by their mean E at one λ, with how sure that order is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from uqassay.errors import InputError
from uqassay.evidence.findings import one_run, widened
from uqassay.evidence.loss_lines import LossReading, loss_lines
from uqassay.evidence.order_errors import order_error
from uqassay.evidence.pair_margins import detectable_at, margin_test_at, no_worse_at, smallest_shown
from uqassay.evidence.prior_of_the_others import has_held_out, loss_of
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.metrics.choice_of_tradeoff import tradeoff_scale
from uqassay.notes import Note
from uqassay.statistics import Estimate, PairedComparison, paired_mean_test, student_draws

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["Ranked", "compare_at", "draws_of", "draws_of_means", "ranked_at", "scale_of_tradeoff", "with_order_error"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """One model's place at one λ.

    Attributes
    ----------
    model : str
    rank : int or None
        1 for the lowest mean E; None for a baseline.
    rank_low, rank_high : int or None
        First and last rank that the model can have, see `Assay.rank_sets`; None for a baseline.
    top : bool or None
        Whether no model is significantly better; None for a baseline.
    estimate : Estimate
        Mean E with its interval.
    win_share : float or None
        Share of resamples in which the model has the lowest mean E; None for a baseline.
    difference : Estimate
        Mean E minus that of the best model.
    pvalue, pvalue_adjusted : float
        Test of that difference; adjusted for all pairs of models and baselines. nan for the best model.
    limited_by : str
        What alone keeps the difference from being significant: "skewness", "unseen" losses, too few "runs", or "".
    below : tuple of str
        Baselines with a lower mean E: the model is no better than saying that.
    detectable : float
        The smallest difference from the best model that these tests could have shown with probability 0.8; nan for models that
        are shown to be worse, and for baselines.
    pvalue_no_worse : float
        Of the claim that the model is no worse than any other by more than the assay's margin, adjusted for all models; nan
        without a margin, and for baselines.
    """

    model: str
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    top: bool | None
    estimate: Estimate
    win_share: float | None
    difference: Estimate
    pvalue: float
    pvalue_adjusted: float
    limited_by: str
    below: tuple[str, ...]
    detectable: float = float("nan")
    pvalue_no_worse: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, the intervals spread out."""
        return {
            "model": self.model,
            "rank": self.rank,
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
            "top": self.top,
            "estimate": float(self.estimate),
            "low": self.estimate.low,
            "high": self.estimate.high,
            "win_share": self.win_share,
            "difference": float(self.difference),
            "difference_low": self.difference.low,
            "difference_high": self.difference.high,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "limited_by": self.limited_by,
            "below": self.below,
            "detectable": self.detectable,
            "pvalue_no_worse": self.pvalue_no_worse,
        }


def ranked_at(assay: "Assay", tradeoff: float) -> tuple[Ranked, ...]:
    """Models and baselines by their mean E at one λ, best first; see `Assay.ranked`."""
    check_tradeoff(tradeoff)
    return assay.shared.once(("ranked", float(tradeoff)), lambda: _ranked_at(assay, float(tradeoff)))


def _ranked_at(assay: "Assay", tradeoff: float) -> tuple[Ranked, ...]:
    models, n = assay.models, len(assay.candidates)
    found = loss_lines(assay).estimates(models, tradeoff)
    estimates = [widened(e, m, tradeoff) for e, m in zip(found, models, strict=True)]
    means = np.array([float(e) for e in estimates])
    best = int(np.argmin(np.where(np.isnan(means[:n]), np.inf, means[:n])))  # argmin alone would choose a nan
    wins, ranks = assay.win_shares([tradeoff])[0], assay.rank_sets(tradeoff)
    tests = ranks.comparisons
    differences = _differences(assay, best, tradeoff)
    level_with = [m.name for j, m in enumerate(models[:n]) if j != best and tests.adjusted[j, best] > 1 - tests.level]
    detectable = smallest_shown(assay, models[best].name, level_with, tradeoff)
    margin = assay.settings.margin
    no_worse = {} if margin is None else no_worse_at(assay, tradeoff, margin)
    order = sorted(range(len(models)), key=lambda j: (means[j], j))
    places = {j: 1 + i for i, j in enumerate(j for j in order if j < n)}
    rows = []
    for j in order:
        candidate = j < n
        below = [m.name for m, mean in zip(models[n:], means[n:], strict=True) if mean < means[j]]
        rows.append(
            Ranked(
                model=models[j].name,
                rank=places.get(j),
                rank_low=int(ranks.low[j]) if candidate else None,
                rank_high=int(ranks.high[j]) if candidate else None,
                top=bool(ranks.top[j]) if candidate else None,
                estimate=estimates[j],
                win_share=float(wins[j]) if candidate else None,
                difference=differences[j],
                pvalue=float(tests.pvalue[j, best]),
                pvalue_adjusted=float(tests.adjusted[j, best]),
                limited_by=str(tests.limited_by[j, best]),
                below=tuple(below) if candidate else (),
                detectable=detectable.get(models[j].name, np.nan),
                pvalue_no_worse=no_worse.get(models[j].name, np.nan),
            )
        )
    return tuple(rows)


def _differences(assay: "Assay", best: int, tradeoff: float) -> list[Estimate]:
    """The mean E of each model minus that of the best; of the best itself 0 without width, whatever its runs."""
    found = [test.difference for test in _compared(assay, assay.models, assay.models[best], tradeoff)]
    zero = found[best]
    if not np.isnan(zero):
        found[best] = Estimate(0.0, low=0.0, high=0.0, level=zero.level, n=zero.n, method=zero.method, notes=zero.notes)
    return found


def compare_at(
    assay: "Assay",
    a: str,
    b: str,
    tradeoff: float = DEFAULT_TRADEOFF,
    method: str = "student-t",
    margin: float | None = None,
) -> PairedComparison:
    """Paired test of the mean E of two models at one λ; see `Assay.compare`."""
    test = _compared(assay, [assay[a]], assay[b], tradeoff, method)[0]
    wanted = assay.settings.margin if margin is None else margin
    within = None if wanted is None else margin_test_at(assay, a, b, tradeoff, wanted)
    return replace(test, margin=within, detectable=detectable_at(assay, a, b, tradeoff))


def _compared(
    assay: "Assay", models: Sequence[ModelScores], other: ModelScores, tradeoff: float, method: str = "student-t"
) -> list[PairedComparison]:
    """Paired tests of the mean E of several models against another one."""

    def tested(held_out: bool, several: Sequence[ModelScores]) -> list[PairedComparison]:
        if method == "student-t":
            readings = [LossReading(m, held_out=held_out and has_held_out(m)) for m in (*several, other)]
            tests = loss_lines(assay).differences(readings[:-1], readings[-1], tradeoff)
        else:
            tests = [_resampled(assay, m, other, tradeoff, method, held_out=held_out) for m in several]
        return [_with_error(assay, test, m, other, tradeoff) for test, m in zip(tests, several, strict=True)]

    found = tested(False, models)
    twice = [k for k, m in enumerate(models) if has_held_out(m) != has_held_out(other)]
    for k, second in zip(twice, tested(True, [models[k] for k in twice]), strict=True):
        found[k] = _agreeing(found[k], second)
    return found


def _resampled(
    assay: "Assay", one: ModelScores, other: ModelScores, tradeoff: float, method: str, *, held_out: bool
) -> PairedComparison:
    return paired_mean_test(
        one_run(loss_of(one, tradeoff, held_out=held_out)),
        one_run(loss_of(other, tradeoff, held_out=held_out)),
        groups=assay.groups,
        level=assay.settings.level,
        method=method,
        rng=assay.settings.seed,
    )


def _with_error(
    assay: "Assay", test: PairedComparison, one: ModelScores, other: ModelScores, tradeoff: float
) -> PairedComparison:
    """A test with the error that random orders of the classes add to it."""
    error = order_error(one.order_deviations, other.order_deviations, tradeoff)
    difference, pvalue = with_order_error(test.difference, test.pvalue, error, assay.groups)
    return test if difference is test.difference else replace(test, difference=difference, pvalue=pvalue)


def _agreeing(first: PairedComparison, second: PairedComparison) -> PairedComparison:
    """See `statistics.agreeing_comparisons`."""
    one, other = first.difference, second.difference
    if np.isnan(first.pvalue) or np.isnan(second.pvalue):
        return first
    ends = {"low": float(np.fmin(one.low, other.low)), "high": float(np.fmax(one.high, other.high))}
    difference = Estimate(float(one), **ends, level=one.level, n=one.n, method=one.method, notes=one.notes)
    pvalue = max(first.pvalue, second.pvalue) if float(one) * float(other) > 0 else 1.0
    return replace(first, difference=difference, pvalue=pvalue)


def scale_of_tradeoff(assay: "Assay") -> float:
    """Factor by which λ shrinks from KL to the assay's distance; see `Assay.tradeoff_scale`."""
    if assay.labels.ndim == 2:
        raise InputError(
            "y_true",
            "the scale of λ needs one label per instance",
            "got label distributions",
            "use KL itself",
            code="undefined",
        )
    if assay.settings.distance == "kl":
        return 1.0
    kl = [-np.log(np.maximum(m.columns["upper-label"], m.floor)) for m in assay.candidates]
    return tradeoff_scale([m.columns["distance"] for m in assay.candidates], kl)


def draws_of(assay: "Assay") -> Array:
    """`draws_of_means` of the models of an assay."""
    s = assay.settings

    def drawn() -> Array:
        return draws_of_means(assay.candidates, n_draws=s.n_draws, groups=assay.groups, seed=s.seed)

    return assay.shared.once("draws", drawn)


def draws_of_means(models: Sequence[ModelScores], *, n_draws: int, groups: NDArray[Any] | None, seed: int) -> Array:
    """Draws of each model's mean distance and mean non-specificity, ``(n_draws, J, 2)``, see `statistics.student_draws`."""
    stacked = [np.stack([m.columns["distance"], m.columns["nonspecificity"]], axis=2) for m in models]
    draws = student_draws(stacked, n_draws=n_draws, groups=groups, rng=seed)
    deviations = [np.asarray(m.order_deviations) for m in models]
    size = max(len(d) for d in deviations)
    if size:  # resample the random orders behind estimated non-specificities, the same for all models
        chosen = np.random.default_rng([seed, 1]).integers(size, size=(n_draws, size))
        for j, d in enumerate(deviations):
            if len(d):
                draws[:, j, 1] += d[chosen].mean(axis=1)
    return draws


def with_order_error(
    difference: Estimate, pvalue: float, error: float, groups: NDArray[Any] | None
) -> tuple[Estimate, float]:
    """A difference and its p-value (t test) with the error of an estimated non-specificity added."""
    if error == 0 or not np.isfinite(pvalue):
        return difference, pvalue
    dof = (difference.n if groups is None else len(np.unique(groups))) - 1
    spread = (difference.high - difference.low) / (2 * stdtrit(dof, 0.5 + difference.level / 2))
    text = f"the interval includes the error of an estimated non-specificity, {error:.2g} in the difference"
    wider = difference.widened(error, Note("widened", text, {"standard_error": error}))
    return wider, float(2 * stdtr(dof, -abs(float(difference)) / np.hypot(spread, error)))
