"""EECE (gain): distance of estimates of epistemic uncertainty from the mean gain in bins, with a test of calibration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, generator
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.estimate_intervals import (
    GainBinning,
    checked_edges,
    finite_values,
    gain_bins,
    place_in_intervals,
)
from uqassay.metrics.gain_deviations import GainDeviations, debiased_square, gain_intervals
from uqassay.metrics.gain_null import LEAST_GROUPS, GainNull, gain_null
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.remarks import interval_notes
from uqassay.statistics.samples import Units, check_choice, check_level, make_units
from uqassay.wording import counted, number

__all__ = [
    "EpistemicCalibration",
    "GainNormalisation",
    "calibration_notes",
    "epistemic_calibration_error",
    "mapped_calibration_error",
]

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
        Where `error` of perfectly calibrated estimates lies with probability `level`; nan where there is no test.
    null_mean : float
        Mean of `error` of perfectly calibrated estimates.
    pvalue : float
        P-value of perfect calibration in the bins, against a greater `error`. nan if the gains lie in few groups.
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


@in_one_order("gain", "epistemic", "groups")
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
    of (gain − estimate)² as variance. With groups, the normal scores of gains of −1, 0 and 1 have a common correlation in a
    group, estimated by the method of moments; so the gains themselves are more correlated in bins that have more of them, and
    rare ones are skewed. Other gains have a common intraclass correlation. `pvalue` counts the 2,000 draws of
    Σ w_m |d_m| that reach the observed one.

    **Few groups.** There is no test where the gains lie in fewer than 5 groups, by Kish's effective number
    (Σ a_g)² / Σ a_g² with a_g = Σ |gain| in group g: the correlation cannot be estimated from so few. Where gains are rare and
    go together in groups of hundreds of instances, the test rejects calibrated estimates in up to 14 % at 5 %.

    **Debiased value.** Σ w_m (|d_m| − κ_m (2/√π) s_m exp(−d_m²/2 s_m²)). If d_m is normal with the true mean 0, the mean of the
    second term is that of the first with κ_m = 1; for counts κ_m is found from the null draws. So the mean is near 0 for
    calibrated estimates, and above 0 in bins of few instances. For true deviations of .5, 1, 2, 3 and 4 s_m the bias of a term
    is −.35, −.45, −.28, −.08 and −.01 s_m, that of |d_m| .40, .17, .02, .00 and .00 s_m. No estimate is without bias
    everywhere, because |·| has a corner. `debiased_square` has no bias anywhere.

    **The name.** Hoarau et al. (2026), "Epistemic calibration", use EECE for another quantity: whether the spread of a
    second-order prediction matches the spread of the truth, given the whole second-order prediction. Where both could be
    meant, write "EECE (gain)" for this one.

    Measured type-I errors and coverages are in docs/coverage-epistemic-gain.md.

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
    return _in_bins(g, e, _placed(e, edges), _Options(edges, binning_name, normalisation, units, float(level), rng))


@in_one_order("gain", "mapped", "epistemic", "groups")
def mapped_calibration_error(
    gain: ArrayLike,
    mapped: ArrayLike,
    epistemic: ArrayLike,
    *,
    edges: ArrayLike,
    normalisation: GainNormalisation = "points",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: RandomState = None,
) -> EpistemicCalibration:
    """EECE (gain) of mapped estimates, in the intervals of the estimates before the map.

    A map can make estimates of several intervals equal; these intervals stay apart here, as in the paper.

    Parameters
    ----------
    gain : array (n,)
    mapped : array (n,)
        Estimates after the map, such as those of `calibration.EpistemicMap`.
    epistemic : array (n,)
        Estimates before the map.
    edges : array (M + 1,)
        Intervals of `epistemic`, such as ``EpistemicCalibration.edges``; they are the edges of the result.
    normalisation, groups, level, rng
        As in `epistemic_calibration_error`.

    Returns
    -------
    EpistemicCalibration

    Raises
    ------
    InputError
        As `epistemic_calibration_error`.

    References
    ----------
    Paper 002, section 5.2, steps 3 to 5.

    Examples
    --------
    >>> gains, estimates = [0, 0, 0, 1], [0.1, 0.2, 0.6, 0.8]
    >>> found = mapped_calibration_error(gains, [0.25] * 4, estimates, edges=[0.0, 0.5, 1.0])
    >>> found.mean_epistemic.tolist(), found.mean_gain.tolist()
    ([0.25, 0.25], [0.0, 0.5])
    """
    check_level(level)
    check_choice(normalisation, "normalisation", ("points", "printed"))
    e = finite_values(epistemic, "epistemic")
    g, after = (finite_values(a, name, e.size, "epistemic") for a, name in ((gain, "gain"), (mapped, "mapped")))
    units, checked = make_units(e.size, groups, None), checked_edges(edges, "edges")
    options = _Options(checked, "given", normalisation, units, float(level), rng)
    return _in_bins(g, after, _placed(e, checked), options)


@dataclass(frozen=True, eq=False)
class _Options:
    edges: Floats
    binning: str
    normalisation: str
    units: Units
    level: float
    rng: RandomState


def _in_bins(g: Floats, e: Floats, place: NDArray[np.intp], options: _Options) -> EpistemicCalibration:
    """Calibration of estimates e in given bins."""
    units, level = options.units, options.level
    count = np.bincount(place, minlength=len(options.edges) - 1)
    held = count > 0
    place = (np.cumsum(held) - 1)[place]  # numbers of the bins that hold an instance
    null = gain_null(g, e, place, units)
    n = null.count
    mean_e, mean_g = np.bincount(place, e) / n, np.bincount(place, g) / n
    factor = e.size / len(count) if options.normalisation == "printed" else 1.0
    notes = tuple(calibration_notes(g, mean_e, count, null, units))
    draws = null.draws(N_DRAWS, generator(options.rng))
    deviations = GainDeviations(g - e, mean_g - mean_e, place, null, units)
    plug_in, debiased = deviations.estimates(draws, factor, level, notes)
    low, high = gain_intervals(g, place, mean_g, null, level)
    told = units.n_units > 1 and null.spread >= LEAST_GROUPS
    by_chance = np.abs(draws) @ (n / e.size) * factor if told else np.full(N_DRAWS, np.nan)
    band = np.quantile(by_chance, (0.5 - level / 2, 0.5 + level / 2))
    exceed = int((by_chance >= float(plug_in) * (1 - ROUNDING)).sum())
    return EpistemicCalibration(
        error=plug_in,
        debiased=debiased,
        debiased_square=debiased_square(g - e, place, units),
        null_band=(float(band[0]), float(band[1])),
        null_mean=float(by_chance.mean()),
        pvalue=(1 + exceed) / (1 + N_DRAWS) if told else np.nan,
        edges=options.edges,
        count=count,
        mean_epistemic=_spread_out(mean_e, held),
        mean_gain=_spread_out(mean_g, held),
        gain_low=_spread_out(low, held),
        gain_high=_spread_out(high, held),
        n_empty=int((~held).sum()),
        binning=options.binning,
        normalisation=options.normalisation,
        level=level,
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


# -- notes ------------------------------------------------------------------------------------------------------------


def calibration_notes(g: Floats, mean_e: Floats, count: NDArray[np.intp], null: GainNull, units: Units) -> list[Note]:
    """Remarks on a calibration in bins, from the gains, the mean estimates, the instances of all bins, and the null."""
    notes = interval_notes(units)
    if units.n_units > 1 and null.spread < LEAST_GROUPS:
        text = (
            f"no test of calibration, because the gains other than 0 lie in few groups (they count like "
            f"{number(null.spread, 1)}, and {number(LEAST_GROUPS, 0)} are needed)"
        )
        notes.append(Note("no-test", text, {"groups": null.spread}))
    empty = int((count == 0).sum())
    if empty:
        notes.append(Note("left-out", f"{empty} of {len(count)} bins are empty and left out", {"empty": empty}))
    if len(count) == 1 and g.size > 1:
        notes.append(Note("constant-scores", "all estimates are in one bin: only their mean is compared with the gain"))
    if null.rates is not None:
        changed = int((g != 0).sum())
        if changed < FEW:
            text = f"{counted(changed, 'gain') if changed else 'no gain'} other than 0: rough intervals"
            notes.append(Note("few" if changed else "none", text, {"count": changed}))
        beyond = int((np.abs(mean_e) > 1).sum())
        if beyond:
            text = f"the mean estimate lies outside [−1, 1] in {counted(beyond, 'bin')}: no gain can reach it"
            notes.append(Note("edge", text, {"bins": beyond}))
    return notes
