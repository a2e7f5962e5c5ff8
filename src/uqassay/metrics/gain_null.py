"""Chance deviations of the mean gain in each bin, if the estimates of epistemic uncertainty are perfectly calibrated.

A mean estimate of .02 does not say how often gains are ±1: P(+1) = .02 and P(−1) = 0 give the same mean as .12 and .10. The
rates are therefore estimated from the gains in each bin, under the condition that their difference is the mean estimate.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from uqassay.statistics.matched_proportions import rates_given_difference
from uqassay.statistics.samples import Units

__all__ = ["GainNull", "gain_null"]

Floats = NDArray[np.float64]
TINY = np.finfo(np.float64).tiny
LEAST_DOF = 1.0
LEAST_GROUPS = 5.0  # effective number of groups with gains; with fewer the test of calibration rejects too often
MOST_GROUPS = 500  # more of them add up to normal deviations


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
        Intraclass correlation ρ of the deviations in a group; 0 without groups.
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
    members: Floats | None
    dof: float
    spread: float

    @property
    def shared(self) -> Floats:
        """Σ_g n_gm n_gk, (M, M); diagonal without groups."""
        return np.diag(self.count) if self.members is None else self.members.T @ self.members

    @property
    def design_effect(self) -> Floats:
        """Factor by which groups raise the variance of the mean in each bin, (M,)."""
        return np.asarray(1 + self.correlation * (np.diag(self.shared) / self.count - 1))

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
        few = len(self.members) <= MOST_GROUPS
        common = self._in_common if self.rates is not None and few else self._normal
        return np.asarray(
            np.sqrt(1 - self.correlation) * alone + np.sqrt(self.correlation) * stretch * common(n_draws, rng)
        )

    def _in_common(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Deviations if one uniform number decides the gains of all instances of a group; skewed where gains are rare."""
        assert self.members is not None
        assert self.rates is not None
        u = rng.random((n_draws, len(self.members)))
        rows = [
            ((u < p).astype(np.float64) - (u > 1 - q)) @ held / n - (p - q)
            for p, q, held, n in zip(*self.rates, self.members.T, self.count, strict=True)
        ]
        return np.stack(rows, axis=1)

    def _normal(self, n_draws: int, rng: np.random.Generator) -> Floats:
        scale = np.sqrt(self.variance) / self.count
        values, vectors = np.linalg.eigh(self.shared * scale[:, None] * scale)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(rng.standard_normal((n_draws, len(scale))) @ root.T)

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
        return GainNull(n, rates, variance, own, 0.0, None, np.inf, np.inf)
    members = (
        np.bincount(units.codes * len(n) + place, minlength=units.n_units * len(n))
        .reshape(-1, len(n))
        .astype(np.float64)
    )
    sizes = members.sum(axis=1)
    dof = max(_effective(sizes**2) - 1, LEAST_DOF)
    spread = _effective(np.bincount(units.codes, np.abs(gain)))
    correlation = _correlation(deviation, _greatest(rates, variance), members, units.codes)
    return GainNull(n, rates, variance, own, correlation, members, dof, spread)


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


def _greatest(rates: tuple[Floats, Floats] | None, variance: Floats) -> Floats:
    """Covariance of two instances of bins m and k, (M, M), if one number decides both."""
    if rates is None:
        scale = np.sqrt(variance)
        return np.outer(scale, scale)
    p, q = rates
    return np.asarray(np.minimum.outer(p, p) + np.minimum.outer(q, q) - np.outer(p - q, p - q))


def _correlation(deviation: Floats, greatest: Floats, members: Floats, codes: NDArray[np.intp]) -> float:
    """Intraclass correlation by moments, from 0 to 1: covariance in the groups over the greatest one."""
    # Centred as a whole and not by bin: where a bin has few groups, its mean would remove most of their variance. Not
    # standardised: rare events have smaller correlations, and the bins of great variance are those that matter.
    z = deviation - deviation.mean()
    covariance = float((np.bincount(codes, z) ** 2).sum() - z @ z)
    sizes = members.sum(axis=1)
    n, squares, cubes = sizes.sum(), (sizes**2).sum(), (sizes**3).sum()
    centred = (
        1 - 2 * cubes / (n * squares) + squares / n**2
    )  # what the common mean leaves of the variance of group sums
    most = centred * float((greatest * (members.T @ members - np.diag(members.sum(axis=0)))).sum())
    return min(max(covariance / most, 0.0), 1.0) if most > 0 else 0.0


def _effective(amounts: NDArray[Any]) -> float:
    """Kish's effective number of equal amounts; 0 if all are 0."""
    total = float((amounts**2).sum())
    return float(amounts.sum()) ** 2 / total if total > 0 else 0.0
