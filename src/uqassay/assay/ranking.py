"""Models and baselines by their mean E at one λ, with how sure that order is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.assay.scoring import ModelScores
from uqassay.statistics import Estimate, compare_to_best, paired_mean_test

__all__ = ["Ranked", "rank_models"]

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
    options : dict
        "groups" and "level" of the tests.
    """
    n = len(wins)
    best = int(np.argmin(estimates[:n]))
    compared = compare_to_best(losses[:n], [m.name for m in models[:n]], **options)
    order = sorted(range(len(models)), key=lambda j: (float(estimates[j]), j))
    ranks = {j: 1 + i for i, j in enumerate(j for j in order if j < n)}
    rows = []
    for j in order:
        if j < n:
            difference, p, p_holm = compared[j].difference, compared[j].pvalue, compared[j].pvalue_holm
            below = tuple(
                m.name for m, e in zip(models[n:], estimates[n:], strict=True) if float(e) < float(estimates[j])
            )
        else:
            test = paired_mean_test(losses[j], losses[best], **options)
            difference, p, p_holm, below = test.difference, test.pvalue, float("nan"), ()
        win = float(wins[j]) if j < n else None
        rows.append(Ranked(models[j].name, ranks.get(j), estimates[j], win, difference, p, p_holm, below))
    return tuple(rows)
