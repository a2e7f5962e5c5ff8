"""Bounds of a risk: binomial bounds, bets on groups, and matched proportions by Tango."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.ids import in_one_order
from uqassay.statistics.units import check_level

__all__ = [
    "BETS",
    "bet_pvalues",
    "binomial_pvalues",
    "chosen_bets",
    "least_kept",
    "log_growth",
    "matched_difference_interval",
    "most_errors",
    "rates_given_difference",
    "rejection_power",
    "upper_error_rate",
    "upper_rate_of_groups",
]


# Exact tests and bounds of an error rate from counts of independent instances, at many thresholds at once.


MOST_KEPT = 10**9
GROWTH = 1.01  # from one size tried to the next


def binomial_pvalues(errors: ArrayLike, kept: ArrayLike, risk: float) -> Floats:
    """p-values against an error rate above `risk`: P(Binomial(kept, risk) ≤ errors).

    Parameters
    ----------
    errors, kept : array_like of whole numbers
        Errors among so many instances. Without instances the p-value is 1.
    risk : float
        In [0, 1].

    Examples
    --------
    >>> binomial_pvalues([0, 1, 0], [58, 100, 0], 0.05).round(4).tolist()
    [0.051, 0.0371, 1.0]
    """
    k, n = np.floor(np.asarray(errors, dtype=np.float64)), np.asarray(kept).astype(np.int64)
    return np.asarray(np.where(n > 0, special.bdtr(k, np.maximum(n, 1), risk), 1.0))


def upper_error_rate(errors: ArrayLike, kept: ArrayLike, confidence: float) -> Floats:
    """Clopper-Pearson upper bounds of error rates, one-sided; 1 without instances.

    The bound is at most `risk` exactly if the p-value of `binomial_pvalues` is at most 1 − confidence.

    References
    ----------
    Clopper, Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26.

    Examples
    --------
    >>> upper_error_rate([0, 1], [59, 100], 0.95).round(4).tolist()
    [0.0495, 0.0466]
    """
    k, n = np.asarray(errors, dtype=np.float64), np.asarray(kept, dtype=np.float64)
    right = n - k
    found = special.betaincinv(k + 1, np.maximum(right, 1.0), confidence)
    return np.asarray(np.where(right > 0, found, 1.0))


def most_errors(kept: ArrayLike, risk: float, alpha: float) -> Floats:
    """Most errors among so many instances that still reject an error rate above `risk`; −1 if not even 0 errors do.

    Examples
    --------
    >>> most_errors([58, 59, 100], 0.05, 0.05).tolist()
    [-1.0, 0.0, 1.0]
    """
    n = np.asarray(kept).astype(np.int64)
    with np.errstate(invalid="ignore"):
        near = np.floor(special.bdtrik(alpha, np.maximum(n, 1).astype(np.float64), risk))
    near = np.clip(np.nan_to_num(near, nan=-1.0), -1.0, n)
    found = np.full(n.shape, -1.0)
    for step in (-1.0, 0.0, 1.0):  # the inverse is continuous, so its floor may be off by one
        tried = np.clip(near + step, 0, n)
        found = np.where(binomial_pvalues(tried, n, risk) <= alpha, np.maximum(found, tried), found)
    return found


def rejection_power(rate: ArrayLike, kept: ArrayLike, risk: float, alpha: float) -> Floats:
    """Probability that an error rate above `risk` is rejected at level `alpha` if the error rate is `rate`.

    Examples
    --------
    >>> rejection_power([0.0, 0.01, 0.05], [59, 59, 59], 0.05, 0.05).round(3).tolist()
    [1.0, 0.553, 0.048]
    """
    n = np.asarray(kept).astype(np.int64)
    most = most_errors(n, risk, alpha)
    power = special.bdtr(np.maximum(most, 0.0), np.maximum(n, 1), np.asarray(rate, dtype=np.float64))
    return np.asarray(np.where(most >= 0, power, 0.0))


def least_kept(rate: float, risk: float, alpha: float, *, start: int = 1) -> int | None:
    """About how many instances kept would reject an error rate above `risk` if a share `rate` of them is wrong.

    None if `rate` is not below `risk`, or if more than 10⁹ would be needed.

    Examples
    --------
    >>> least_kept(0.0, 0.05, 0.05), least_kept(0.02, 0.05, 0.05), least_kept(0.05, 0.05, 0.05)
    (59, 181, None)
    """
    if not rate < risk:
        return None
    first = start
    while first <= MOST_KEPT:
        sizes = np.unique(np.ceil(first * GROWTH ** np.arange(256))).astype(np.int64)
        met = np.flatnonzero(binomial_pvalues(np.ceil(rate * sizes), sizes, risk) <= alpha)
        if met.size:
            return int(sizes[met[0]])
        first = int(sizes[-1]) + 1
    return None


# A valid test and bound of an error rate where instances come in groups: the product of bets on the groups.
#
# Groups are independent; instances of one group may depend on each other in any way. With W_g errors among the K_g
# instances of group g that are kept, the error rate of the instances kept is R = E ΣW_g / E ΣK_g. If R ≥ r, then Σ
# E[W_g − r K_g] ≥ 0. For a bet b that is fixed beforehand,
#
#     E Π_g (1 − b (W_g − r K_g)) = Π_g (1 − b E[W_g − r K_g]) ≤ exp(−b Σ_g E[W_g − r K_g]) ≤ 1,
#
# because the groups are independent. No factor is negative if b ≤ 1 / ((1 − r) m), where m is the size of the largest
# group. By Markov's inequality, 1 / product is a p-value. With groups of one instance and no error it equals that of
# the binomial test.

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


# Difference of two matched proportions, p₊ − p₋, from counts of +1, 0 and −1: Tango's score interval.
#
# It holds where few values differ from 0, where the interval of Student's t has no width or covers too little.

HALVINGS = 45  # of an interval of at most length 2: ends are exact to 1e-13


def rates_given_difference(
    plus: ArrayLike, minus: ArrayLike, n: ArrayLike, difference: ArrayLike
) -> tuple[Floats, Floats]:
    """Maximum likelihood rates p₊ and p₋ of the values +1 and −1, given their difference.

    Parameters
    ----------
    plus, minus, n : array_like, broadcast
        Counts of +1 and −1, and of all values; effective counts can be fractions.
    difference : array_like in [−1, 1]
        p₊ − p₋.

    Returns
    -------
    plus, minus : arrays
        p₊ ≥ 0 and p₋ ≥ 0 with p₊ + p₋ ≤ 1.

    Notes
    -----
    p₋ = p is the greater root of n₊ p (1 − 2p − d) + n₋ (p + d)(1 − 2p − d) = 2 n₀ p (p + d), which follows from the derivative
    of the log-likelihood n₊ ln(p + d) + n₋ ln p + n₀ ln(1 − 2p − d).

    References
    ----------
    Tango (1998), Equivalence test and confidence interval for the difference in proportions for the paired-sample design,
    Stat. Med. 17.

    Examples
    --------
    >>> plus, minus = rates_given_difference(3, 1, 10, 0.2)
    >>> print(plus.round(4), minus.round(4))
    0.3 0.1
    """
    a, b, total, d = (np.asarray(v, dtype=np.float64) for v in (plus, minus, n, difference))
    p = _minus_rate(a, b, total, d)
    return p + d, p


def _minus_rate(a: Floats, b: Floats, total: Floats, d: Floats) -> Floats:
    zero = np.maximum(total - a - b, 0.0)
    # a p (1 − 2p − d) + b (p + d)(1 − 2p − d) − 2 zero p (p + d) = 0, as −2n p² + B p + C = 0
    slope = (a + b) * (1 - d) - 2 * d * (b + zero)
    constant = b * d * (1 - d)
    root = np.sqrt(np.maximum(slope * slope + 8 * total * constant, 0.0))
    p = (slope + root) / (4 * np.maximum(total, np.finfo(np.float64).tiny))
    return np.asarray(np.minimum(np.maximum(p, np.maximum(-d, 0.0)), (1 - d) / 2))


@in_one_order("plus", "minus", "n")
def matched_difference_interval(
    plus: ArrayLike, minus: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Confidence interval of p₊ − p₋ by inversion of the score test.

    Parameters
    ----------
    plus, minus, n : array_like, broadcast
        As in `rates_given_difference`. n = 0 gives nan.
    level : float

    Returns
    -------
    low, high : arrays
        Inside [−1, 1]. They contain (n₊ − n₋)/n.

    Examples
    --------
    >>> low, high = matched_difference_interval(0, 0, 50)
    >>> print(low.round(4), high.round(4))
    -0.0713 0.0713
    """
    check_level(level)
    counts = [np.asarray(v, dtype=np.float64) for v in (plus, minus, n)]
    try:
        a, b, total = np.broadcast_arrays(*counts)
    except ValueError:
        got = f"got {', '.join(str(each.shape) for each in counts)}"
        fail("plus", "must have the shape of minus and n", got, "count the same parts three times", code="mismatch")
    if (a < 0).any() or (b < 0).any() or (a + b > total * (1 + 1e-9)).any():
        got = f"got {a.ravel()[:3]}, {b.ravel()[:3]} of {total.ravel()[:3]}"
        remedy = "count the values +1 and −1 of the same instances"
        fail("plus", "counts must be at least 0 and sum to at most n", got, remedy, code="range")
    some = total > 0
    a, b, total = (np.where(some, values, other) for values, other in ((a, 0.0), (b, 0.0), (total, 1.0)))
    value = (a - b) / total
    limit = float(special.ndtri(0.5 + level / 2)) ** 2 / total
    inside, outside = np.stack([value, value]), np.stack([np.full(value.shape, side) for side in (-1.0, 1.0)])
    for _ in range(HALVINGS):  # for the differences furthest below and above that the score test does not reject
        d = (inside + outside) / 2
        variance = np.maximum(2 * _minus_rate(a, b, total, d) + d - d * d, 0.0)
        kept = (value - d) ** 2 <= limit * variance
        inside, outside = np.where(kept, d, inside), np.where(kept, outside, d)
    low, high = np.where(some, inside, np.nan)
    return low, high
