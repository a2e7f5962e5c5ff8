"""A valid test and bound of an error rate where instances come in groups: the product of bets on the groups.

Groups are independent; instances of one group may depend on each other in any way. With W_g errors among the K_g instances of
group g that are kept, the error rate of the instances kept is R = E ΣW_g / E ΣK_g. If R ≥ r, then Σ E[W_g − r K_g] ≥ 0. For a
bet b that is fixed beforehand,

    E Π_g (1 − b (W_g − r K_g)) = Π_g (1 − b E[W_g − r K_g]) ≤ exp(−b Σ_g E[W_g − r K_g]) ≤ 1,

because the groups are independent. No factor is negative if b ≤ 1 / ((1 − r) m), where m is the size of the largest group. By
Markov's inequality, 1 / product is a p-value. With groups of one instance and no error it equals that of the binomial test.
"""

import numpy as np
from numpy.typing import NDArray

from uqassay.statistics.samples import Floats

__all__ = ["BETS", "bet_pvalues", "chosen_bets", "log_growth", "upper_rate_of_groups"]

BETS = np.array(
    [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]
)  # shares of the greatest bet
DOUBT = 0.5  # groups that are wrong as a whole, added when a bet is chosen


def log_growth(errors: Floats, kept: Floats, risk: float, bets: Floats, largest: float) -> Floats:
    """Logarithm of the factor of each group, (G, T).

    Parameters
    ----------
    errors, kept : array (G, T)
        Errors and instances kept of each group at each of T thresholds.
    risk : float
    bets : array (T,)
        As shares of the greatest bet allowed, 1 / ((1 − risk) · largest).
    largest : float
        Size of the largest group.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(1 - _greatest(risk, largest) * bets * (errors - risk * kept), 0.0)))


def bet_pvalues(errors: Floats, kept: Floats, risk: float, bets: Floats, largest: float) -> Floats:
    """p-values against an error rate above `risk` at each threshold, (T,); parameters as in `log_growth`.

    References
    ----------
    Waudby-Smith, Ramdas (2024), Estimating means of bounded random variables by betting, J. R. Stat. Soc. B 86.
    Vovk, Wang (2021), E-values: calibration, combination and applications, Ann. Stat. 49.

    Examples
    --------
    >>> none = np.zeros((40, 1))
    >>> bet_pvalues(none, none + 2.0, 0.05, np.ones(1), 2.0).round(4).tolist(), round(0.95**40, 4)
    ([0.1285], 0.1285)
    """
    return np.asarray(np.exp(-np.maximum(log_growth(errors, kept, risk, bets, largest).sum(axis=0), 0.0)))


def chosen_bets(errors: Floats, kept: Floats, risk: float, largest: float) -> tuple[Floats, Floats]:
    """The bets with the greatest mean growth on other groups, and this growth for each group, (T,) each.

    Half a group that is wrong as a whole, of mean size, is added, so that few groups without an error do not stake everything.
    """
    mean = np.maximum(kept.mean(axis=0), np.finfo(np.float64).tiny)[np.newaxis]
    best = np.full(kept.shape[1], -np.inf)
    bets = np.full(kept.shape[1], BETS[0])
    with np.errstate(invalid="ignore"):
        for share in BETS:
            tried = np.full(kept.shape[1], share)
            total = log_growth(errors, kept, risk, tried, largest).sum(axis=0)
            total += DOUBT * log_growth(mean, mean, risk, tried, largest)[0]
            growth = total / (len(kept) + DOUBT)
            better = growth > best
            bets, best = np.where(better, share, bets), np.where(better, growth, best)
    return bets, best


def upper_rate_of_groups(errors: Floats, kept: Floats, risk: float, bet: float, largest: float, alpha: float) -> float:
    """Upper bound of the error rate of the instances kept, of one threshold, from W_g and K_g (G,).

    The bound is at most `risk` exactly if the p-value of `bet_pvalues` is at most `alpha`.

    Examples
    --------
    >>> none = np.zeros(59)
    >>> round(upper_rate_of_groups(none, none + 1.0, 0.05, 1.0, 1.0, 0.05), 4)
    0.0495
    """

    def rejected(rate: float) -> bool:
        # the greatest bet shrinks with the rate, and one chosen for `risk` may be too great for a smaller rate
        share = min(bet * (1 - rate) / (1 - risk), 1.0) if risk < 1 else bet
        return (
            float(bet_pvalues(errors[:, np.newaxis], kept[:, np.newaxis], rate, np.array([share]), largest)[0]) <= alpha
        )

    low, high = 0.0, 1.0 - 1e-12
    if not rejected(high):
        return 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if rejected(middle) else (middle, high)
    return risk if rejected(risk) and high > risk else high


def sums_by_group(codes: NDArray[np.intp], n_groups: int, values: Floats) -> Floats:
    """Sum of the values of each group, (n,) -> (G,)."""
    return np.asarray(np.bincount(codes, weights=values, minlength=n_groups))


def _greatest(risk: float, largest: float) -> float:
    return 1.0 / (max(1.0 - risk, np.finfo(np.float64).eps) * largest)
