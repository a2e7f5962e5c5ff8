"""Chance deviations of the mean gain in each bin, if the estimates of epistemic uncertainty are perfectly calibrated.

A mean estimate of .02 does not say how often gains are ±1: P(+1) = .02 and P(−1) = 0 give the same mean as .12 and .10. The
rates are therefore estimated from the gains in each bin, under the condition that their difference is the mean estimate.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, xlogy

from uqassay.statistics.matched_proportions import rates_given_difference
from uqassay.statistics.samples import Units

__all__ = ["GainNull", "gain_null"]

Floats = NDArray[np.float64]
TINY = np.finfo(np.float64).tiny
LEAST_DOF = 1.0
LEAST_GROUPS = 5.0  # effective number of groups with gains; with fewer the test of calibration rejects too often
MOST_GROUPS = 500  # more of them add up to normal deviations
N_LEVELS = 256  # equally probable values of what a group has in common
HALVINGS = 14  # of the range of a correlation
GREATEST = 0.999  # correlation


@final
@dataclass(frozen=True, eq=False)
class GainNull:
    """Distribution of the deviation D_m, mean gain − mean estimate, in M bins, none of them empty.

    Attributes
    ----------
    count : array (M,)
        Instances n_m.
    rates : tuple of two arrays (M,), or None
        P(+1) and P(−1) of a calibrated estimate; None for gains other than −1, 0 and 1.
    variance : array (M,)
        Variance of gain − estimate of one instance, if the estimate is calibrated.
    own_variance : array (M,)
        The same without this condition: between the variance above, which is right if the bin is calibrated, and that of the
        instances in the bin; the likelihood ratio of the two is the weight of the first.
    correlation : float
        Correlation in a group; 0 without groups. For gains of −1, 0 and 1 that of normal scores, else that of the deviations.
    together : array (M, M)
        Covariance of two instances of a group in bins m and k.
    levels : array (M, L), or None
        Deviation of the expected gain in each bin at L equally probable values of what a group has in common; None for other
        gains and without groups.
    members : array (G, M), or None
        Instances n_gm of group g in bin m; None without groups.
    dof : float
        Degrees of freedom of the correlation: (Σ n_g²)² / Σ n_g⁴ − 1 for groups of n_g instances; infinite without groups.
    spread : float
        Effective number of groups that have the gains, (Σ a_g)² / Σ a_g² with a_g = Σ |gain| in group g; infinite without
        groups. Ten gains in one group are one event, and say little about the chance of another.
    """

    count: Floats
    rates: tuple[Floats, Floats] | None
    variance: Floats
    own_variance: Floats
    correlation: float
    together: Floats
    levels: Floats | None
    members: Floats | None
    dof: float
    spread: float

    @property
    def shared(self) -> Floats:
        """Σ_g n_gm n_gk, (M, M); diagonal without groups."""
        return np.diag(self.count) if self.members is None else self.members.T @ self.members

    @property
    def in_bins(self) -> Floats:
        """Intraclass correlation of each bin, (M,)."""
        return np.asarray(np.clip(np.diag(self.together) / np.maximum(self.variance, TINY), 0.0, 1.0))

    @property
    def design_effect(self) -> Floats:
        """Factor by which groups raise the variance of the mean in each bin, (M,)."""
        return np.asarray(1 + self.in_bins * (np.diag(self.shared) / self.count - 1))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean deviation in each bin, without the condition that it is calibrated, (M,)."""
        return np.asarray(np.sqrt(self.own_variance / self.count * self.design_effect))

    def draws(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Deviations D_m of a calibrated estimate, (B, M)."""
        alone = self._independent(n_draws, rng)
        if self.correlation == 0.0 or self.members is None:
            return alone
        # ρ is estimated from few groups, so their part has the tails of Student's t
        stretch = np.sqrt(self.dof / rng.chisquare(self.dof, (n_draws, 1)))
        common = self._in_common if len(self.members) <= MOST_GROUPS else self._normal
        return np.asarray(np.sqrt(1 - self.in_bins) * alone + stretch * common(n_draws, rng))

    def _in_common(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """What the groups add to the mean of each bin: skewed where gains are rare."""
        if self.levels is None or self.members is None:
            return self._normal(n_draws, rng)
        drawn = rng.integers(N_LEVELS, size=(n_draws, len(self.members)))
        rows = [level[drawn] @ held / n for level, held, n in zip(self.levels, self.members.T, self.count, strict=True)]
        return np.stack(rows, axis=1)

    def _normal(self, n_draws: int, rng: np.random.Generator) -> Floats:
        values, vectors = np.linalg.eigh(self.shared * self.together / np.outer(self.count, self.count))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(rng.standard_normal((n_draws, len(self.count))) @ root.T)

    def _independent(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Deviations with independent instances: of counts of +1 and −1, or normal ones."""
        n, size = self.count, (n_draws, len(self.count))
        if self.rates is None:
            return np.asarray(rng.standard_normal(size) * np.sqrt(self.variance / n))
        p, q = self.rates
        changed = rng.binomial(n.astype(np.int64), np.minimum(p + q, 1.0), size)
        better = rng.binomial(changed, np.where(p + q > 0, p / np.maximum(p + q, TINY), 0.0))
        # estimates that differ within a bin leave less variance than equal ones
        plain = np.maximum(p + q - (p - q) ** 2, TINY)
        return np.asarray(((2 * better - changed) / n - (p - q)) * np.sqrt(np.minimum(self.variance / plain, 1.0)))


def gain_null(gain: Floats, epistemic: Floats, place: NDArray[np.intp], units: Units) -> GainNull:
    """Estimate the distribution of the deviations from gains and estimates (n,) in bins 0 … M − 1, none of them empty."""
    n = np.bincount(place).astype(np.float64)
    deviation = gain - epistemic
    mean = np.bincount(place, deviation) / n
    square = np.bincount(place, deviation**2) / n
    within = np.maximum(square - mean**2, 0.0)  # with divisor n_m
    unbiased = np.where(n > 1, within * n / np.maximum(n - 1, 1.0), np.nan)
    rates = None
    if bool(np.isin(gain, (-1.0, 0.0, 1.0)).all()):
        rates, variance, log_ratio = _of_counts(gain, epistemic, place, n)
    else:
        variance = square
        log_ratio = n / 2 * np.log(np.maximum(within, TINY) / np.maximum(square, TINY))
    weight = np.where(n > 1, np.exp(np.minimum(log_ratio, 0.0)), 1.0)
    own = np.where(n > 1, weight * variance + (1 - weight) * unbiased, variance)
    if units.codes is None:
        return GainNull(n, rates, variance, own, 0.0, np.zeros((len(n), len(n))), None, None, np.inf, np.inf)
    members = (
        np.bincount(units.codes * len(n) + place, minlength=units.n_units * len(n))
        .reshape(-1, len(n))
        .astype(np.float64)
    )
    dof = max(_effective(members.sum(axis=1) ** 2) - 1, LEAST_DOF)
    spread = _effective(np.bincount(units.codes, np.abs(gain)))
    covariance, pairs = _covariance(deviation, members, units.codes), members.T @ members - np.diag(n)
    if rates is None:
        scale = np.outer(np.sqrt(variance), np.sqrt(variance))
        most = float((pairs * scale).sum())
        correlation = min(max(covariance / most, 0.0), 1.0) if most > 0 else 0.0
        together, levels = correlation * scale, None
    else:
        correlation, levels = _of_scores(rates, covariance, pairs)
        together = levels @ levels.T / N_LEVELS
    return GainNull(n, rates, variance, own, correlation, together, levels, members, dof, spread)


def _of_counts(
    gain: Floats, epistemic: Floats, place: NDArray[np.intp], n: Floats
) -> tuple[tuple[Floats, Floats], Floats, Floats]:
    """Rates of +1 and −1 whose difference is the mean estimate, the variance they give, and ln of the likelihood ratio."""
    m = len(n)
    plus, minus = np.bincount(place[gain > 0], minlength=m), np.bincount(place[gain < 0], minlength=m)
    estimate = np.bincount(place, epistemic) / n
    p, q = rates_given_difference(plus, minus, n, np.clip(estimate, -1.0, 1.0))
    # Σ (gain − e)² has the mean Σ P(±1) − Σ e² if e is calibrated
    variance = np.maximum(p + q - np.bincount(place, epistemic**2) / n, 0.0)
    zero = n - plus - minus
    with np.errstate(divide="ignore"):
        log_ratio = sum(
            xlogy(count, rate) - xlogy(count, count / n)
            for count, rate in ((plus, p), (minus, q), (zero, np.maximum(1 - p - q, 0.0)))
        )
    return (p, q), variance, np.where(np.abs(estimate) > 1, -np.inf, log_ratio)


def _covariance(deviation: Floats, members: Floats, codes: NDArray[np.intp]) -> float:
    """Sum of the covariances of all pairs of instances of a group, by moments."""
    # Centred as a whole and not by bin: where a bin has few groups, its mean would remove most of their variance.
    z = deviation - deviation.mean()
    sizes = members.sum(axis=1)
    n, squares, cubes = sizes.sum(), (sizes**2).sum(), (sizes**3).sum()
    centred = (
        1 - 2 * cubes / (n * squares) + squares / n**2
    )  # what the common mean leaves of the variance of group sums
    pairs = float((np.bincount(codes, z) ** 2).sum() - z @ z)
    return pairs / centred if centred > 0 else 0.0


def _of_scores(rates: tuple[Floats, Floats], covariance: float, pairs: Floats) -> tuple[float, Floats]:
    """Correlation of normal scores that gives the covariance, and the levels: rare gains have smaller covariances."""

    def levels(correlation: float) -> Floats:
        common = np.sqrt(correlation) * ndtri((np.arange(N_LEVELS) + 0.5) / N_LEVELS)
        alone = np.sqrt(1 - correlation)
        plus, minus = (
            ndtr((ndtri(rate)[:, None] + side * common) / alone) for rate, side in zip(rates, (-1, 1), strict=True)
        )
        return np.asarray(plus - minus - (plus - minus).mean(axis=1, keepdims=True))

    low, high = 0.0, GREATEST
    if covariance <= 0:
        return 0.0, levels(0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        at = levels(middle)
        if float((pairs * (at @ at.T)).sum()) / N_LEVELS < covariance:
            low = middle
        else:
            high = middle
    return high, levels(high)


def _effective(amounts: NDArray[Any]) -> float:
    """Kish's effective number of equal amounts; 0 if all are 0."""
    total = float((amounts**2).sum())
    return float(amounts.sum()) ** 2 / total if total > 0 else 0.0
