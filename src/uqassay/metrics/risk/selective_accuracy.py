"""Selective accuracy: the accuracy after the most uncertain instances are refused, and its gain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.risk.kept_parts import KeptPart, Products, kept_parts
from uqassay.metrics.risk.ranked_errors import LEAST, RankedErrors, rank_errors
from uqassay.metrics.risk.risk_coverage import Bands, RiskCoverage, risk_interval, small_sample, small_sample_of
from uqassay.notes import Note, distinct
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.independent_parts import is_plain
from uqassay.statistics.proportion import proportion_estimate
from uqassay.statistics.remarks import interval_notes
from uqassay.statistics.samples import Floats, Units, check_level, is_number, make_units

__all__ = ["SelectiveGain", "accuracy_at_coverage_score", "selective_gain"]


@final
@dataclass(frozen=True)
class SelectiveGain:
    """Gain in accuracy from refusing the most uncertain instances.

    Attributes
    ----------
    coverage : float
        Share of the instances that is kept.
    threshold : float
        Instances up to this uncertainty are kept. Ties at the threshold are shared evenly.
    accuracy_all, accuracy_kept : Estimate
        Accuracy of all instances (`proportion_estimate`) and of the instances kept. Both are equal at coverage 1.
    gain : Estimate
        Accuracy of the instances kept minus accuracy of all, on the same instances.
    """

    coverage: float
    threshold: float
    accuracy_all: Estimate
    accuracy_kept: Estimate
    gain: Estimate


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def accuracy_at_coverage_score(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    coverage: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Accuracy of the least uncertain share of the instances. Higher is better.

    Parameters
    ----------
    errors, uncertainty
        As in `risk_coverage_curve`. The accuracy is 1 minus the risk of that curve.
    coverage : float
        Share that is kept, in (0, 1]. Ties at the threshold are shared evenly, which equals the mean over random orders of
        the tied instances.
    sample_weight, groups, level
        As in `risk_coverage_curve`.

    Returns
    -------
    estimate : Estimate
        The interval is that of `risk_coverage_curve`, which accounts for the estimated threshold. If no error is kept, it
        follows from the number kept.

    Raises
    ------
    InputError
        When a value is nan, errors lie outside [0, 1] or the coverage outside (0, 1], or shapes do not match.

    Notes
    -----
    See `selective_gain` for the measured coverage of the interval.

    References
    ----------
    Geifman, El-Yaniv (2017), Selective classification for deep neural networks.

    Examples
    --------
    >>> errors, uncertainty = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(accuracy_at_coverage_score(errors, uncertainty, coverage=0.5), 4)
    1.0
    >>> round(accuracy_at_coverage_score(errors, uncertainty, coverage=0.8), 4)
    0.7917
    """
    runs = [rank_errors(errors, uncertainty, sample_weight)]
    return Refusals(runs, sample_weight=sample_weight, groups=groups, level=level).accuracy(coverage)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def selective_gain(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    coverage: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> SelectiveGain:
    """Gain in accuracy when the most uncertain instances are refused.

    Parameters
    ----------
    errors, uncertainty, coverage, sample_weight, groups, level
        As in `accuracy_at_coverage_score`.

    Returns
    -------
    gain : SelectiveGain

    Raises
    ------
    InputError
        As in `accuracy_at_coverage_score`.

    Notes
    -----
    With the error rates R of the instances kept and ρ of those refused, the gain is (1 − c)(ρ − R). Its interval combines
    the intervals of the two rates and their correlation (Newcombe's method for a difference of two proportions).

    The measured coverage of 95 % intervals is 92 to 98 %. It is lowest if UQ-AUC is near 1 and scores have few levels, and
    highest if few errors are kept (docs/measured-coverage.md).

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, Stat. Med. 17.
    Zou, Donner (2008), Construction of confidence limits about effect measures (with correlation), Stat. Med. 27.

    Examples
    --------
    >>> found = selective_gain([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], coverage=0.5)
    >>> round(found.accuracy_all, 4), round(found.accuracy_kept, 4), round(found.gain, 4), found.threshold
    (0.6667, 1.0, 0.3333, 0.3)
    """
    runs = [rank_errors(errors, uncertainty, sample_weight)]
    found = Refusals(runs, sample_weight=sample_weight, groups=groups, level=level)
    gain, kept = found.gain(coverage), found.accuracy(coverage)
    right = 1 - np.asarray(errors, dtype=np.float64)
    every = proportion_estimate(right, level=level, sample_weight=sample_weight, groups=groups)
    return SelectiveGain(float(coverage), found.threshold(coverage), every, kept, gain)


# -- for other rooms: estimates over several runs ------------------------------------------------------------------------


@final
class Refusals:
    """Accuracy and gain at any number of coverages, averaged over training runs. For use by other rooms.

    Parameters
    ----------
    runs : sequence of RankedErrors
        One per training run.
    sample_weight, groups, level
        As in `risk_coverage_curve`.
    """

    def __init__(
        self,
        runs: Sequence[RankedErrors],
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        level: float = 0.95,
    ) -> None:
        check_level(level)
        self.runs, self.level = tuple(runs), level
        self._options: dict[str, Any] = {"sample_weight": sample_weight, "groups": groups, "level": level}
        self._units = make_units(runs[0].n, groups, sample_weight)
        self._known: dict[float, _Split] = {}  # at the coverages prepared last

    def prepare(self, coverages: Sequence[float]) -> None:
        """Find the accuracy and the gain at several coverages at once, in less time than one after the other."""
        inner = [coverage for coverage in coverages if coverage < 1]
        parts = list(zip(*(kept_parts(ranked, inner) for ranked in self.runs), strict=True))
        products = [self._products(runs) for runs in parts]
        both = list(zip(parts, inner, products, strict=True))
        sides = [_Side([p.risk for p in part], c, of.kept) for part, c, of in both]
        sides += [_Side([p.refused_risk for p in part], 1 - c, of.refused) for part, c, of in both]
        near = np.array([[part.rate for part in runs] for runs in (*parts, *parts)])
        found = _rates(sides, near, self._units, self.level, self._correction) if inner else []
        splits = zip(parts, products, found[: len(inner)], found[len(inner) :], strict=True)
        self._known = {c: _Split(*split) for c, split in zip(inner, splits, strict=True)}

    def _products(self, parts: Sequence[KeptPart]) -> Products:
        """Products of the influences of the units, averaged over runs."""
        if len(parts) == 1 and is_plain(self._units):
            return parts[0].products
        c, influence = parts[0].coverage, _averaged([part.influence for part in parts])
        both = np.stack([influence, (self._residuals - c * influence) / (1 - c)])
        u, v = self._units.sums(self._units.keep(both).T).T
        return Products(float(u @ u), float(v @ v), float(u @ v))

    def threshold(self, coverage: float) -> float:
        """Uncertainty of the last instance kept, averaged over runs."""
        if coverage == 1:
            return float(np.mean([ranked.thresholds[-1] for ranked in self.runs]))
        return float(np.mean([part.threshold for part in self._split(coverage).parts]))

    def accuracy(self, coverage: float) -> Estimate:
        """`accuracy_at_coverage_score`."""
        check_coverage(coverage)
        notes = list(self._notes)
        if coverage == 1:
            right = np.stack([ranked.unranked(1 - ranked.errors) for ranked in self.runs])
            every = proportion_estimate(right, **self._options)
            value, low, high = float(every), every.low, every.high
        else:
            found = self._split(coverage).kept
            value, low, high = 1 - found.risk, 1 - found.high, 1 - found.low
        if value == 1:
            notes.append(Note("edge", f"no error among the {coverage * self._units.n_instances:.4g} kept"))
        return self._estimate(value, low, high, "score", notes)

    def gain(self, coverage: float) -> Estimate:
        """The gain of `selective_gain`."""
        check_coverage(coverage)
        if coverage == 1:
            return self._estimate(0.0, 0.0, 0.0, "newcombe", [*self._notes, Note("edge", "nothing is refused")])
        _, products, kept, out = self._split(coverage)
        p, r = out.risk, kept.risk
        few, many = sorted((products.kept, products.refused))
        correlation = (
            products.both / (few * many) ** 0.5 if few > 1e-24 * many else 0.0
        )  # few: rounding where all are right

        def reach(a: float, b: float) -> float:
            return float(np.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0)))

        refuse = 1 - coverage
        value = refuse * (p - r)
        low, high = (
            value - refuse * reach(p - out.low, kept.high - r),
            value + refuse * reach(out.high - p, r - kept.low),
        )
        notes = [*self._notes, *distinct(*(ranked.notes_of_ties for ranked in self.runs))]
        return self._estimate(value, max(low, -refuse), min(high, refuse), "newcombe", notes)

    def curve(self, coverages: Floats) -> RiskCoverage:
        """The risk-coverage curve of the only run at coverages in (0, 1]."""
        (ranked,) = self.runs
        return Bands.of(ranked, self._units).curve(coverages, self.level, tuple(self._notes))

    @cached_property
    def _notes(self) -> list[Note]:
        return _notes(self._units, self.runs)

    @cached_property
    def _residuals(self) -> Floats:
        """Influences on the error rate of all, averaged over runs, (n,)."""
        return _averaged([ranked.residuals for ranked in self.runs])

    @cached_property
    def _correction(self) -> "_Correction":
        sizes = self._units.sizes
        total = float(sizes.sum())
        return _Correction(*_small_sample(self.runs, self._units), total, float((sizes**2).sum()) / total**2)

    def _split(self, coverage: float) -> "_Split":
        if coverage not in self._known:
            self.prepare([coverage])
        return self._known[coverage]

    def _estimate(self, value: float, low: float, high: float, method: str, notes: Sequence[Note]) -> Estimate:
        n = self._units.n_instances
        return Estimate(value, low=low, high=high, level=self.level, n=n, method=method, notes=notes)


# -- parts ---------------------------------------------------------------------------------------------------------------


class _Side(NamedTuple):
    """Error rate of the instances kept or refused in every run, their share, and Σ u² of its influences over the units."""

    risks: Sequence[float]
    coverage: float
    square: float


class _Rate(NamedTuple):
    """Error rate over all runs with its interval."""

    risk: float
    low: float
    high: float


class _Split(NamedTuple):
    """Instances kept and refused at one coverage, in every run."""

    parts: Sequence[KeptPart]
    products: Products
    kept: _Rate
    refused: _Rate


class _Correction(NamedTuple):
    """Small-sample factor and degrees of freedom of a risk, Σ w_g and Σ w_g² / (Σ w)² over the units."""

    factor: float
    dof: float
    total: float
    sum_ww: float


def _averaged(values: Sequence[Floats]) -> Floats:
    """Mean over runs."""
    return values[0] if len(values) == 1 else np.asarray(np.mean(values, axis=0))


def _small_sample(runs: Sequence[RankedErrors], units: Units) -> tuple[float, float]:
    """`small_sample` of the error rate, averaged over runs, as in the risk-coverage curve."""
    if units.n_units == 1:
        return np.nan, np.nan
    if len(runs) == 1:
        return small_sample_of(runs[0], units)
    return small_sample(np.mean([ranked.residuals for ranked in runs], axis=0), units)


def _rates(sides: Sequence[_Side], near: Floats, units: Units, level: float, correction: _Correction) -> list[_Rate]:
    """Error rates with their intervals, from the rates near the thresholds (sides, R); all are found at once."""
    risk = np.array([side.risks for side in sides]).mean(axis=1)
    if units.n_units == 1:
        return [_Rate(value, np.nan, np.nan) for value in risk.tolist()]
    coverage = np.array([max(side.coverage, LEAST) for side in sides])
    variance, dof = np.array([_variance(side, correction) for side in sides]).T
    interval = partial(risk_interval, n_units=units.n_units, sum_ww=correction.sum_ww, level=level)
    low, high = interval(risk, near.mean(axis=1), coverage, variance, dof=dof)
    if len(sides[0].risks) > 1:
        # if no run kept an error, averaging R runs must not shorten the interval: all see the same instances
        _, least = interval(0.0, 0.0, coverage, 0.0, dof=correction.dof)
        high = np.maximum(high, least)
    return [_Rate(*found) for found in zip(risk.tolist(), low.tolist(), high.tolist(), strict=True)]


def _variance(side: _Side, correction: _Correction) -> tuple[float, float]:
    """Variance of an error rate and its degrees of freedom."""
    factor, dof, total, _ = correction
    variance = within = factor * side.square / total**2
    if len(side.risks) > 1:
        among = float(np.var(side.risks, ddof=1)) / len(side.risks)
        variance = within + among
        if among > 0:
            dof = 1 / ((within / variance) ** 2 / dof + (among / variance) ** 2 / (len(side.risks) - 1))
    return variance, dof


def _notes(units: Units, runs: Sequence[RankedErrors]) -> list[Note]:
    notes = interval_notes(units, [len(runs)] if len(runs) > 1 else [])
    extremes = (min(runs, key=_error_rate), max(runs, key=_error_rate))
    return [*notes, *distinct(*(ranked.notes(units) for ranked in extremes))]


def _error_rate(ranked: RankedErrors) -> float:
    return ranked.error_rate


def check_coverage(coverage: float) -> None:
    if not (is_number(coverage) and 0.0 < coverage <= 1.0):
        raise InputError(
            "coverage",
            "must lie in (0, 1]",
            f"got {coverage}",
            "pass 0.9 to refuse the most uncertain tenth",
            code="range",
        )
