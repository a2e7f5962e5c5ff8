"""EECE (gain) from the deviations of mean gain and mean estimate in bins: plug-in and debiased, with intervals."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay.metrics.gain_null import GainNull
from uqassay.notes import Note
from uqassay.statistics.absolute_values import (
    debiased_absolute,
    excess_scale,
    greatest_bias,
    variance_of_absolute,
    variance_of_debiased,
)
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.matched_proportions import matched_difference_interval
from uqassay.statistics.samples import Units, spread_of_mean

__all__ = ["GainDeviations", "debiased_square", "gain_intervals"]

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class GainDeviations:
    """Gain minus estimate of each instance, (n,), its mean in each bin, (M,), and their standard errors."""

    values: Floats
    means: Floats
    place: NDArray[np.intp]
    null: GainNull
    units: Units

    @property
    def weights(self) -> Floats:
        """n_m / n, ``(M,)``."""
        return self.null.count / self.values.size

    @property
    def plug_in(self) -> float:
        """Σ w_m |d_m|."""
        return float(self.weights @ np.abs(self.means))

    def debiased(self, draws: Floats) -> float:
        """Σ w_m |d_m| without its excess; the null draws ``(B, M)`` give the scale of the excess of counts."""
        scale = excess_scale(draws) if self.null.rates is not None else 1.0
        return float(self.weights @ debiased_absolute(self.means, self.null.standard_error, scale))

    def reaches(self, level: float) -> Floats:
        """Half widths of the intervals of the plug-in and the debiased error, and the greatest bias of the latter."""
        if self.units.n_units == 1:
            return np.full(3, np.nan)
        w, se = self.weights, self.null.standard_error
        z = self.means / np.where(se > 0, se, 1.0)
        ratio = np.sqrt(np.maximum(z**2 - 1, 0.0))  # d² − s² estimates the square of the true mean
        between = float(w @ (np.abs(self.means) - self.plug_in) ** 2) / self.values.size
        within = [float((w * se) ** 2 @ of(ratio)) for of in (variance_of_absolute, variance_of_debiased)]
        # influence on the plug-in error where all true means are far from 0
        influence = np.sign(self.means)[self.place] * self.values - self.plug_in
        spread, effect = spread_of_mean(influence, self.units), 1.0
        if self.units.codes is not None:  # groups in several bins
            alone = float((w * se) @ (w * se)) + between
            effect = max(spread.standard_error**2 / alone, 1.0) if alone > 0 else 1.0
            within[0] = max(
                within[0], alone - between
            )  # an error in common makes |d_m| of all bins small or great together
        quantile = float(special.stdtrit(spread.dof, 0.5 + level / 2))
        half = quantile * np.sqrt((np.array(within) + between) * effect)
        return np.append(half, w @ (se * greatest_bias(z)))

    def estimates(
        self, draws: Floats, factor: float, level: float, notes: tuple[Note, ...]
    ) -> tuple[Estimate, Estimate]:
        """The plug-in and the debiased error, times the factor of the normalisation."""
        half, half_debiased, bias = self.reaches(level).tolist()
        value, debiased, n = self.plug_in, self.debiased(draws), self.values.size
        low = half if np.isnan(half) else max(value - half, 0.0)
        return Estimate(
            value * factor,
            low=low * factor,
            high=(value + half) * factor,
            level=level,
            n=n,
            method="folded normal",
            notes=notes,
        ), Estimate(
            debiased * factor,
            low=(debiased - half_debiased) * factor,
            high=(debiased + half_debiased + bias) * factor,
            level=level,
            n=n,
            method="debiased folded normal",
            notes=notes,
        )


def gain_intervals(
    g: Floats, place: NDArray[np.intp], mean: Floats, null: GainNull, level: float
) -> tuple[Floats, Floats]:
    """Interval of the mean gain in each bin: Tango's for gains of −1, 0 and 1, else Student's t."""
    n, m = null.count, len(null.count)
    if null.rates is not None:
        # groups leave fewer independent instances
        plus, minus = (np.bincount(place[sign * g > 0], minlength=m) / null.design_effect for sign in (1, -1))
        return matched_difference_interval(plus, minus, n / null.design_effect, level=level)
    square = np.bincount(place, (g - mean[place]) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        se = np.sqrt(square / (n - 1) / n * null.design_effect)  # nan for one instance
        reach = special.stdtrit(np.maximum(n - 1, 1.0), 0.5 + level / 2) * se
    return mean - reach, mean + reach


def debiased_square(deviation: Floats, place: NDArray[np.intp], units: Units) -> float:
    """Σ w_m d_m² from the products of different instances (groups) of each bin."""
    n, total = np.bincount(place).astype(np.float64), np.bincount(place, deviation)
    if units.codes is None:
        own, sizes = np.bincount(place, deviation**2), n
    else:
        m = len(n)
        cell = units.codes * m + place
        sums = np.bincount(cell, deviation, minlength=units.n_units * m).reshape(-1, m)
        counts = np.bincount(cell, minlength=units.n_units * m).reshape(-1, m)
        own, sizes = (sums**2).sum(axis=0), (counts.astype(np.float64) ** 2).sum(axis=0)
    pairs = n**2 - sizes
    held = pairs > 0
    if not held.any():
        return float("nan")
    terms = (total[held] ** 2 - own[held]) / pairs[held]
    return float(n[held] @ terms / n.sum())
