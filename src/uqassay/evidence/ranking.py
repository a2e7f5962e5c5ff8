"""Models and baselines by their mean E at one λ, with how sure that order is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from uqassay.evidence.scoring import ModelScores
from uqassay.notes import Note
from uqassay.statistics import Estimate, bootstrap_run_means, compare_to_best, holm, paired_mean_test

__all__ = ["Ranked", "draws_of_means", "order_error", "rank_models", "with_order_error"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """One model's place at one λ.

    Attributes
    ----------
    model : str
    rank : int or None
        1 for the lowest mean E; None for a baseline.
    estimate : Estimate
        Mean E with its interval.
    win_probability : float or None
        Share of paired bootstrap draws in which the model has the lowest mean E; None for a baseline.
    difference : Estimate
        Mean E minus that of the best model.
    pvalue, pvalue_holm : float
        Paired test of that difference; adjusted over the other models. nan for the best model.
    below : tuple of str
        Baselines with a lower mean E: the model is no better than saying that.
    """

    model: str
    rank: int | None
    estimate: Estimate
    win_probability: float | None
    difference: Estimate
    pvalue: float
    pvalue_holm: float
    below: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, the intervals spread out."""
        return {
            "model": self.model,
            "rank": self.rank,
            "estimate": float(self.estimate),
            "low": self.estimate.low,
            "high": self.estimate.high,
            "win_probability": self.win_probability,
            "difference": float(self.difference),
            "difference_low": self.difference.low,
            "difference_high": self.difference.high,
            "pvalue": self.pvalue,
            "pvalue_holm": self.pvalue_holm,
            "below": self.below,
        }


def rank_models(
    models: Sequence[ModelScores],
    losses: Sequence[Array],
    estimates: Sequence[Estimate],
    wins: Array,
    tradeoff: float,
    options: dict[str, Any],
) -> tuple[Ranked, ...]:
    """Models by their mean loss, best first.

    Parameters
    ----------
    models : sequence of ModelScores
        The candidates, then the baselines.
    losses : sequence of arrays, each (n,) or (R, n)
        Their loss on every instance.
    estimates : sequence of Estimate
        Their mean losses.
    wins : array (J,)
        Winning probabilities of the J candidates.
    tradeoff : float
        λ, by which the error of an estimated non-specificity counts.
    options : dict
        "groups" and "level" of the tests.
    """
    n = len(wins)
    best = int(np.argmin(estimates[:n]))
    compared = compare_to_best(losses[:n], [m.name for m in models[:n]], **options)
    differences, pvalues = [c.difference for c in compared], np.array([c.pvalue for c in compared])
    for j in range(n):
        if j != best:
            error = tradeoff * order_error(models[j], models[best])
            differences[j], pvalues[j] = with_order_error(differences[j], pvalues[j], error, options["groups"])
    adjusted = holm(pvalues)
    order = sorted(range(len(models)), key=lambda j: (float(estimates[j]), j))
    ranks = {j: 1 + i for i, j in enumerate(j for j in order if j < n)}
    rows = []
    for j in order:
        if j < n:
            difference, p, p_holm = differences[j], float(pvalues[j]), float(adjusted[j])
            below = tuple(
                m.name for m, e in zip(models[n:], estimates[n:], strict=True) if float(e) < float(estimates[j])
            )
        else:
            test = paired_mean_test(losses[j], losses[best], **options)
            error = tradeoff * order_error(models[j], models[best])
            difference, p = with_order_error(test.difference, test.pvalue, error, options["groups"])
            p_holm, below = float("nan"), ()
        win = float(wins[j]) if j < n else None
        rows.append(
            Ranked(
                model=models[j].name,
                rank=ranks.get(j),
                estimate=estimates[j],
                win_probability=win,
                difference=difference,
                pvalue=p,
                pvalue_holm=p_holm,
                below=below,
            )
        )
    return tuple(rows)


def draws_of_means(models: Sequence[ModelScores], *, n_draws: int, groups: NDArray[Any] | None, seed: int) -> Array:
    """Bootstrap draws of each model's mean distance and mean non-specificity, ``(n_draws, J, 2)``, the same for all."""
    stacked = [np.stack([m.columns["distance"], m.columns["nonspecificity"]], axis=2) for m in models]
    draws = bootstrap_run_means(stacked, n_draws=n_draws, groups=groups, rng=seed)
    deviations = [np.asarray(m.order_deviations) for m in models]
    size = max(len(d) for d in deviations)
    if size:  # resample the random orders behind estimated non-specificities, the same for all models
        chosen = np.random.default_rng([seed, 1]).integers(size, size=(n_draws, size))
        for j, d in enumerate(deviations):
            if len(d):
                draws[:, j, 1] += d[chosen].mean(axis=1)
    return draws


def order_error(a: ModelScores, b: ModelScores) -> float:
    """Standard error that estimated non-specificities add to the difference of two means; the orders are shared."""
    size = max(len(a.order_deviations), len(b.order_deviations))
    if size == 0:
        return 0.0
    first, second = (np.asarray(m.order_deviations) if len(m.order_deviations) else np.zeros(size) for m in (a, b))
    return float((first - second).std(ddof=1) / np.sqrt(size))


def with_order_error(
    difference: Estimate, pvalue: float, error: float, groups: NDArray[Any] | None
) -> tuple[Estimate, float]:
    """A difference and its p-value (t test) with the error of an estimated non-specificity added."""
    if error == 0 or not np.isfinite(pvalue):
        return difference, pvalue
    dof = (difference.n if groups is None else len(np.unique(groups))) - 1
    spread = (difference.high - difference.low) / (2 * stdtrit(dof, 0.5 + difference.level / 2))
    text = f"non-specificity estimated, standard error {error:.2g} in the difference"
    wider = difference.widened(error, Note("widened", text, {"standard_error": error}))
    return wider, float(2 * stdtr(dof, -abs(float(difference)) / np.hypot(spread, error)))
