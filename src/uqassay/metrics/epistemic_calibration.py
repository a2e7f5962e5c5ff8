"""EECE (gain): distance of estimates of epistemic uncertainty from the mean gain in bins, with a test of calibration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._array import RandomState, generator
from uqassay.errors import InputError
from uqassay.metrics.estimate_intervals import (
    GainBinning,
    checked_edges,
    finite_values,
    gain_bins,
    place_in_intervals,
)
from uqassay.metrics.gain_null import GainNull, gain_null
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
from uqassay.statistics.remarks import interval_notes
from uqassay.statistics.samples import Units, check_choice, check_level, make_units, spread_of_mean
from uqassay.wording import counted

__all__ = ["EpistemicCalibration", "GainNormalisation", "epistemic_calibration_error"]

Floats = NDArray[np.float64]
GainNormalisation = Literal["points", "printed"]

N_DRAWS = 2000
FEW = 20  # gains other than 0; fewer get a note
ROUNDING = 1e-12  # relative; a null draw this close to the observed value reaches it


@final
@dataclass(frozen=True, eq=False)
class EpistemicCalibration:
    """Calibration of estimates of epistemic uncertainty in M bins.

    Attributes
    ----------
    error : Estimate
        EECE (gain), which lies above 0 on average even for calibrated estimates. Its interval is for the mean of this value
        over test sets of n instances, which includes that excess.
    debiased : Estimate
        The same without the excess; it can be negative. Its interval is for the error of an infinite test set in these bins,
        and its upper end allows for the greatest bias.
    debiased_square : float
        Σ w_m d_m² without the excess, and without bias at any d_m; it can be negative. From products of different instances (or
        groups) of a bin; nan if no bin has two. Not scaled by the normalisation.
    null_band : tuple of float
        Where `error` of perfectly calibrated estimates lies with probability `level`.
    null_mean : float
        Mean of `error` of perfectly calibrated estimates.
    pvalue : float
        P-value of perfect calibration in the bins, against a greater `error`.
    edges : array (M + 1,)
        Interval m is [edge_m, edge_{m+1}); the last one includes its upper edge.
    count : int array (M,)
        Instances in each bin.
    mean_epistemic, mean_gain : array (M,)
        Means in each bin; nan where it is empty.
    gain_low, gain_high : array (M,)
        Confidence interval of the mean gain of each bin (pointwise).
    n_empty : int
        Empty bins, which are left out of the sum.
    binning, normalisation : str
        The options. Given edges have the binning "given".
    level : float
    notes : tuple of Note
    """

    error: Estimate
    debiased: Estimate
    debiased_square: float
    null_band: tuple[float, float]
    null_mean: float
    pvalue: float
    edges: Floats
    count: NDArray[np.intp]
    mean_epistemic: Floats
    mean_gain: Floats
    gain_low: Floats
    gain_high: Floats
    n_empty: int
    binning: str
    normalisation: str
    level: float
    notes: tuple[Note, ...] = ()

    @property
    def n_bins(self) -> int:
        """Number of bins M, with the empty ones."""
        return len(self.count)

    def reject(self, alpha: float = 0.05) -> bool:
        """True if perfect calibration is rejected at this level; False if there is no p-value."""
        return self.pvalue <= alpha


def epistemic_calibration_error(
    gain: ArrayLike,
    epistemic: ArrayLike,
    *,
    bins: int | ArrayLike = 20,
    binning: GainBinning = "equal-mass",
    normalisation: GainNormalisation = "points",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: RandomState = None,
) -> EpistemicCalibration:
    """EECE (gain): mean distance of the estimate of epistemic uncertainty from the gain, over bins of the estimate.

    Parameters
    ----------
    gain : array (n,)
        Gains of `metrics.gain`, under any loss.
    epistemic : array (n,)
        Estimates in the units of the gain: for the zero-one loss a loss of accuracy from 0 to 1. Entropies and mutual
        informations are in nats in the paper.
    bins : int or array (M + 1,)
        Greatest number of bins, as in `gain_bins`, or their edges, such as ``numpy.linspace(0, 1, 21)``.
    binning : {"equal-mass", "equal-width"}
        As in `gain_bins`. Ignored if edges are given.
    normalisation : {"points", "printed"}
        "points": (1/n) Σ n_m |d_m|, the mean over the points. "printed": (1/M) Σ n_m |d_m|, as in definition 5 of the paper,
        whose text and tables need the first; it is greater by the factor n/M.
    groups : array of labels (n,), optional
        Instances of one group may depend on each other; groups are independent.
    level : float
        Level of the intervals and of the null band.
    rng : int or numpy Generator, optional
        For the null draws; None means seed 0.

    Returns
    -------
    EpistemicCalibration

    Raises
    ------
    InputError
        Values that are nan or infinite, lengths that differ, or an estimate outside the given edges.

    Notes
    -----
    d_m is the mean gain minus the mean estimate in bin m, s_m its standard error, and w_m = n_m/n.

    **Null.** If the estimates are calibrated, d_m has the mean 0. Gains of −1, 0 and 1 are drawn with the maximum likelihood
    rates P(+1) and P(−1) of each bin, given that their difference is the mean estimate; other gains are normal with the mean
    of (gain − estimate)² as variance. With groups, deviations have a common intraclass correlation, estimated by the method
    of moments. `pvalue` counts the 2,000 draws of Σ w_m |d_m| that reach the observed one.

    **Debiased value.** Σ w_m (|d_m| − κ_m (2/√π) s_m exp(−d_m²/2 s_m²)). If d_m is normal with the true mean 0, the mean of the
    second term is that of the first with κ_m = 1; for counts κ_m is found from the null draws. So the mean is 0 for calibrated
    estimates. For true deviations of .5, 1, 2, 3 and 4 s_m the bias of a term is −.35, −.45, −.28, −.08 and −.01 s_m, that of
    |d_m| .40, .17, .02, .00 and .00 s_m. No estimate is without bias everywhere, because |·| has a corner. `debiased_square`
    has no bias anywhere.

    **The name.** Hoarau et al. (2026), "Epistemic calibration", use EECE for another quantity: whether the spread of a
    second-order prediction matches the spread of the truth, given the whole second-order prediction. Where both could be
    meant, write "EECE (gain)" for this one.

    Measured type-I errors and coverages are in docs/measured-coverage.md, section "Epistemic gain".

    References
    ----------
    Paper 002, definition 5 and section 5.2.

    Examples
    --------
    >>> gains, estimates = [0, 0, 0, 1, 1, -1, 1, 1], [0.1, 0.1, 0.1, 0.1, 0.5, 0.5, 0.5, 0.5]
    >>> found = epistemic_calibration_error(gains, estimates)
    >>> round(found.error, 3), found.edges.tolist(), found.mean_gain.tolist()
    (0.075, [0.1, 0.5, 0.5], [0.25, 0.5])
    """
    check_level(level)
    check_choice(normalisation, "normalisation", ("points", "printed"))
    e = finite_values(epistemic, "epistemic")
    g = finite_values(gain, "gain", e.size, "epistemic")
    units = make_units(e.size, groups, None)
    edges, binning_name = _edges(e, bins, binning)
    place = _placed(e, edges)
    count = np.bincount(place, minlength=len(edges) - 1)
    held = count > 0
    place = (np.cumsum(held) - 1)[place]  # numbers of the bins that hold an instance
    null = gain_null(g, e, place, units)
    n = null.count
    mean_e, mean_g = np.bincount(place, e) / n, np.bincount(place, g) / n
    factor = e.size / len(count) if normalisation == "printed" else 1.0
    notes = tuple(_notes(g, mean_e, count, null, units))
    draws = null.draws(N_DRAWS, generator(rng))
    deviations = _Deviations(g - e, mean_g - mean_e, place, null, units)
    plug_in, debiased = deviations.estimates(draws, factor, level, notes)
    low, high = _gain_intervals(g, place, mean_g, null, level)
    whole = units.n_units > 1
    by_chance = np.abs(draws) @ (n / e.size) * factor if whole else np.full(N_DRAWS, np.nan)
    band = np.quantile(by_chance, (0.5 - level / 2, 0.5 + level / 2))
    exceed = int((by_chance >= float(plug_in) * (1 - ROUNDING)).sum())
    return EpistemicCalibration(
        error=plug_in,
        debiased=debiased,
        debiased_square=_debiased_square(g - e, place, units),
        null_band=(float(band[0]), float(band[1])),
        null_mean=float(by_chance.mean()),
        pvalue=(1 + exceed) / (1 + N_DRAWS) if whole else np.nan,
        edges=edges,
        count=count,
        mean_epistemic=_spread_out(mean_e, held),
        mean_gain=_spread_out(mean_g, held),
        gain_low=_spread_out(low, held),
        gain_high=_spread_out(high, held),
        n_empty=int((~held).sum()),
        binning=binning_name,
        normalisation=normalisation,
        level=float(level),
        notes=notes,
    )


# -- bins -------------------------------------------------------------------------------------------------------------


def _edges(e: Floats, bins: int | ArrayLike | Sequence[float], binning: GainBinning) -> tuple[Floats, str]:
    if bins is None or np.ndim(bins) == 0:
        return gain_bins(e, bins, binning), binning  # type: ignore[arg-type]
    return checked_edges(bins), "given"


def _placed(e: Floats, edges: Floats) -> NDArray[np.intp]:
    place, outside = place_in_intervals(e, edges)
    if outside.any():
        row = int(outside.argmax())
        raise InputError(
            "epistemic",
            f"values must lie inside the edges, {edges[0]:g} to {edges[-1]:g}",
            f"{counted(int(outside.sum()), 'value')} outside, the first in row {row} is {e[row]:g}",
            "widen the edges, or pass a number of bins",
            code="range",
            facts={"row": row},
        )
    return place


def _spread_out(values: Floats, held: NDArray[np.bool_]) -> Floats:
    """Values of the bins that hold an instance among all bins; nan for the others."""
    out = np.full(held.shape, np.nan)
    out[held] = values
    return out


# -- errors and their intervals -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Deviations:
    """Gain minus estimate of each instance, (n,), its mean in each bin, (M,), and their standard errors."""

    values: Floats
    means: Floats
    place: NDArray[np.intp]
    null: GainNull
    units: Units

    @property
    def weights(self) -> Floats:
        return self.null.count / self.values.size

    @property
    def plug_in(self) -> float:
        return float(self.weights @ np.abs(self.means))

    def debiased(self, draws: Floats) -> float:
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


def _gain_intervals(
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


def _debiased_square(deviation: Floats, place: NDArray[np.intp], units: Units) -> float:
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


def _notes(g: Floats, mean_e: Floats, count: NDArray[np.intp], null: GainNull, units: Units) -> list[Note]:
    notes = interval_notes(units)
    empty = int((count == 0).sum())
    if empty:
        notes.append(Note("left-out", f"{empty} of {len(count)} bins are empty and left out", {"empty": empty}))
    if len(count) == 1 and g.size > 1:
        notes.append(Note("constant-scores", "all estimates are in one bin: only their mean is compared with the gain"))
    if null.rates is not None:
        changed = int((g != 0).sum())
        if changed < FEW:
            text = f"{counted(changed, 'gain')} other than 0: rough intervals"
            notes.append(Note("few" if changed else "none", text, {"count": changed}))
        beyond = int((np.abs(mean_e) > 1).sum())
        if beyond:
            text = f"the mean estimate lies outside [−1, 1] in {counted(beyond, 'bin')}: no gain can reach it"
            notes.append(Note("edge", text, {"bins": beyond}))
    return notes
