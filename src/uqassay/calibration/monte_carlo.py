"""Shared steps of the Monte-Carlo tests of calibration: labels drawn from probabilities, p-values, thresholds."""

import math

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.statistics.samples import is_number

__all__ = [
    "CALIBRATED",
    "check_alpha",
    "labels_from",
    "monte_carlo_pvalue",
    "null_threshold",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

CALIBRATED = {
    "confidence": "confidence calibrated",
    "classwise": "classwise calibrated",
    "strong": "calibrated in the strong sense",
}
ROUNDING = 1e-9  # relative; closer values count as ties, because equal mixtures may be summed in different orders


def labels_from(probs: Floats, n_draws: int, generator: np.random.Generator) -> Labels:
    """D labels for each instance, drawn from its probabilities (n, K), as (D, n).

    The distribution function of instance i is shifted to [i, i + 1], so one binary search over the joined line finds all
    labels.
    """
    n, n_classes = probs.shape
    cumulated = np.cumsum(probs, axis=1)
    cumulated /= cumulated[:, -1:]
    start = np.arange(n, dtype=np.float64)
    line = (cumulated[:, :-1] + start[:, np.newaxis]).ravel()  # (n (K − 1),) ascending
    # i + u can round up to i + 1, which belongs to the next instance: keep the point below it.
    end = np.nextafter(start + 1, 0.0)
    labels = np.empty((n_draws, n), dtype=np.intp)
    for draw in labels:  # ascending search points make `searchsorted` fast
        draw[:] = line.searchsorted(np.minimum(start + generator.random(n), end), side="right")
    return labels - np.arange(n) * (n_classes - 1)


def monte_carlo_pvalue(statistic: float, null: Floats) -> float:
    """(1 + #{null ≥ statistic}) / (D + 1), (D,) -> one number; nan if any value is undefined.

    References
    ----------
    Davison, Hinkley (1997), Bootstrap Methods and their Application, equation 4.11.
    """
    if np.isnan(statistic) or np.isnan(null).any():
        return float("nan")
    margin = ROUNDING * abs(statistic) + 1e-15 if np.isfinite(statistic) else 0.0
    return (1 + int((null >= statistic - margin).sum())) / (len(null) + 1)


def check_alpha(alpha: float, n_draws: int, *, offset: float = 0.0) -> None:
    """Refuse a level outside (0, 1) or below the smallest p-value that `n_draws` draws can reach."""
    if not (is_number(alpha) and 0.0 < alpha < 1.0):
        raise InputError(
            "alpha", "must lie strictly between 0 and 1", f"got {alpha!r}", "pass 0.05 for 5 %", code="range"
        )
    smallest = 1 / (n_draws + 1) + offset
    if smallest > alpha + 1e-12:
        facts: dict[str, float] = {"n_draws": n_draws, "smallest": smallest, "offset": offset}
        if alpha <= offset:
            remedy = f"choose alpha above {offset:g}, the share of the confidence set"
        else:
            facts["needed"] = math.ceil(1 / (alpha - offset) - 1e-9) - 1
            remedy = f"pass n_draws={facts['needed']} or more"
        raise InputError(
            "alpha",
            f"the smallest p-value that n_draws={n_draws} can reach is {smallest:.4g}",
            f"got {alpha:g}",
            remedy,
            code="needs-draws",
            facts=facts,
        )


def null_threshold(null: Floats, alpha: float, *, offset: float = 0.0) -> float:
    """Critical value of the statistic for p ≤ α: the ⌊(α − offset)(D + 1)⌋-th greatest draw."""
    check_alpha(alpha, len(null), offset=offset)
    rank = math.floor((alpha - offset) * (len(null) + 1) + 1e-9)
    return float(np.sort(null)[len(null) - rank]) if rank <= len(null) else -math.inf
