"""Calibration of an uncertainty score: the error rate at each score, by isotonic regression and in bins, with its band."""

from dataclasses import dataclass
from typing import Annotated, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import one_of
from uqassay.ids import in_one_order
from uqassay.metrics.calibration import ErrorNorm, error_estimate_of_bins
from uqassay.metrics.reliability_diagrams import bands_of_bins, bins_of_values, check_bins
from uqassay.metrics.risk import checked_errors, rank_errors
from uqassay.records import Shape
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.units import as_floats, check_level, make_units

__all__ = ["ScoreCalibration", "score_calibration"]

Map = Literal["isotonic", "bins"]

MAPS = ("isotonic", "bins")
SLACK = 1e-12  # relative; a sum of weights this close to the share of a bin has reached it


@final
@dataclass(frozen=True, eq=False)
class ScoreCalibration:
    """The error rate that an uncertainty score stands for. Build it with `score_calibration`.

    The score may have any scale. Bins have equal mass and are not empty; instances of equal score share a bin.
    """

    least: Annotated[Floats, Shape("B")]  #: Least and greatest score of each bin, ascending.
    greatest: Annotated[Floats, Shape("B")]
    count: Annotated[NDArray[np.int64], Shape("B", low=0)]  #: Number of instances, whatever their weights.
    rate: Annotated[Floats, Shape("B")]  #: Error rate in the bin.
    #: Interval of the error rate of each bin by itself: Wilson's, or that of `proportion_estimate` with groups or weights.
    low: Annotated[Floats, Shape("B")]
    high: Annotated[Floats, Shape("B")]
    #: Intervals that hold for the error rates of all bins together.
    band_low: Annotated[Floats, Shape("B")]
    band_high: Annotated[Floats, Shape("B")]
    scores: Annotated[Floats, Shape("L")]  #: The distinct scores, ascending.
    isotonic: Annotated[Floats, Shape("L")]  #: Isotonic error rate of each, which does not fall.

    def predict(self, uncertainty: ArrayLike, *, by: Map = "isotonic") -> Floats:
        """Error rate of scores (m,), in [0, 1].

        Both maps are step functions: a score between two known ones has the rate of the lower one, and a score below all known
        ones the rate of the lowest. So the rate depends on the order of the scores only.
        """
        one_of(by, "by", MAPS)
        s = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(m,)")
        starts, rates = (self.scores, self.isotonic) if by == "isotonic" else (self.least, self.rate)
        return rates[np.maximum(np.searchsorted(starts, s, side="right") - 1, 0)]

    def band(self, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
        """Ends (m,), (m,) of intervals that hold for the error rates at all scores together, if the rate rises with the score.

        The rate at a score is then at least that of every bin below it, and at most that of every bin above it.
        """
        s = as_floats(uncertainty, "uncertainty", ndim=(1,), shape="(m,)")
        low = np.append(0.0, np.maximum.accumulate(self.band_low))
        high = np.append(np.minimum.accumulate(self.band_high[::-1])[::-1], 1.0)
        return (
            low[np.searchsorted(self.greatest, s, side="right")],  # bins that end at this score or below
            high[np.searchsorted(self.least, s, side="left")],  # bins that begin at this score or above
        )

    @in_one_order("errors", "uncertainty", "sample_weight", "groups")
    def calibration_error(
        self,
        errors: ArrayLike,
        uncertainty: ArrayLike,
        *,
        by: Map = "isotonic",
        norm: ErrorNorm = "l1",
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        level: float = 0.95,
        rng: int | np.random.Generator | None = None,
    ) -> Estimate:
        """Calibration error of the predicted error rates, in 10 bins of equal width, with the interval of an inverted test.

        Parameters
        ----------
        errors, uncertainty : array (m,)
            Of other instances than those of the map: on its own instances the isotonic map has nearly no error.
        by : {"isotonic", "bins"}
        norm, level, rng
            As in `calibration_error_estimate`.
        sample_weight, groups
            As in `score_calibration`.
        """
        e, s = checked_errors(errors, uncertainty)
        check_level(level)
        bins = bins_of_values(self.predict(s, by=by), 10, "width")
        units = make_units(e.size, groups, sample_weight)
        return error_estimate_of_bins(bins, e, units, norm=norm, level=level, rng=rng)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def score_calibration(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    n_bins: int = 10,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> ScoreCalibration:
    """Map an uncertainty score of any scale to an error rate, with intervals and a band.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed.
    n_bins : int
        Greatest number of bins of equal mass, which carry the intervals.
    sample_weight : array (n,), optional
        Importance weights.
    groups : array of labels (n,), optional
        Whole groups (patients, sites, videos) are the units of the intervals.
    level : float
        Confidence level of the single intervals, and of all intervals of the band together.

    Notes
    -----
    The isotonic map has the least squared distance to the errors of all maps that do not fall; tied scores count as one point
    with their error rate.

    **Band.** The joint intervals of the bins are those of `reliability_diagram`. Given the scores of independent instances,
    they hold the mean error rates of all bins with probability `level` at least. Where the true rate does not fall with the
    score, they bound it at every score, and no smoothness is assumed. If it falls somewhere, `band` does not hold there.
    Dimitriadis et al. take all stretches of scores as bins, which makes a narrower band of many instances.

    The measured coverage is in docs/evidence-ranking.md. With groups or weights the joint intervals are approximate.


    References
    ----------
    Zadrozny, Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates (isotonic map).
    Dimitriadis, Dümbgen, Henzi, Puke, Ziegel (2023), Honest calibration assessment for binary outcome predictions (band).

    Examples
    --------
    >>> errors, uncertainty = [0, 0, 1, 0, 1, 1], [0.3, 0.5, 0.7, 1.1, 1.6, 2.0]
    >>> found = score_calibration(errors, uncertainty, n_bins=2)
    >>> found.isotonic.tolist(), found.rate.round(3).tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], [0.333, 0.667])
    >>> found.predict([0.1, 0.9, 5.0]).tolist()
    [0.0, 0.5, 1.0]
    >>> low, high = found.band([0.9])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.004], [0.996])
    """
    from scipy.optimize import isotonic_regression

    check_bins(n_bins, "mass")
    check_level(level)
    ranked = rank_errors(errors, uncertainty, sample_weight)
    units = make_units(ranked.n, groups, sample_weight)
    mass, wrong = np.diff(ranked.kept, prepend=0.0), np.diff(ranked.wrong, prepend=0.0)
    isotonic = np.clip(isotonic_regression(np.clip(wrong / mass, 0.0, 1.0), weights=mass).x, 0.0, 1.0)
    # bin j starts with the block that holds the share j / B of the mass; bins that would be empty are left out
    shares = np.arange(1, n_bins) / n_bins * (1 + SLACK)
    inner = np.searchsorted(ranked.kept, shares * ranked.kept[-1], side="right")
    starts = np.unique(np.append(0, inner[inner < ranked.kept.size]))
    n_filled = starts.size
    place = np.searchsorted(starts, ranked.level, side="right") - 1
    place = place if units.rows is None else place[units.rows]
    e = units.keep(ranked.memberships[0])
    low, high, band_low, band_high = bands_of_bins(e, e, place, units.codes, n_filled, level, units.weights)
    return ScoreCalibration(
        least=ranked.thresholds[starts],
        greatest=ranked.thresholds[np.append(starts[1:], ranked.kept.size) - 1],
        count=np.bincount(place, minlength=n_filled),
        rate=np.clip(np.add.reduceat(wrong, starts) / np.add.reduceat(mass, starts), 0.0, 1.0),
        low=low,
        high=high,
        band_low=band_low,
        band_high=band_high,
        scores=ranked.thresholds,
        isotonic=isotonic,
    )
