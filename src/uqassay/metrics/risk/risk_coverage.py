"""The risk-coverage curve: the error rate of the instances kept, when the most uncertain ones are refused."""

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.risk.ranked_errors import RankedErrors, once_for_errors, rank_errors, whole_errors
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.independent_parts import is_plain
from uqassay.statistics.proportion import proportion_estimate
from uqassay.statistics.remarks import interval_notes
from uqassay.statistics.samples import Floats, Units, as_floats, check_level, make_units, spread_of_mean

__all__ = ["RiskCoverage", "risk_coverage_curve"]

CHUNK = 2**15  # thresholds processed at once, so that they stay in the cache
WIDEST = 1e8  # upper bound of the quantile, beyond which the interval does not change


@final
@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """Risk-coverage curve with pointwise intervals. Build it with `risk_coverage_curve`.

    Attributes
    ----------
    coverage : array (B,)
        Share of the weight that is kept, ascending. The last coverage is 1.
    risk : array (B,)
        Error rate of the instances kept.
    low, high : array (B,)
        Pointwise interval of the risk at each coverage.
    thresholds : array (B,)
        Instances up to this uncertainty are kept. A coverage inside a tie (see `at`) keeps the same share of each tied
        instance.
    n_kept : array (B,)
        Number of instances of positive weight that are kept (expected number inside a tie).
    level : float
    notes : tuple of Note
        Remarks, such as the number of groups.
    """

    coverage: Floats
    risk: Floats
    low: Floats
    high: Floats
    thresholds: Floats
    n_kept: Floats
    level: float
    notes: tuple[Note, ...]
    _bands: "Bands" = field(repr=False)

    @property
    def generalised_risk(self) -> Floats:
        """Share of all instances that are kept and wrong, (B,)."""
        return self.risk * self.coverage

    def at(self, coverage: ArrayLike) -> "RiskCoverage":
        """The same curve at other coverages in (0, 1], without sorting again. Ties are shared evenly.

        Examples
        --------
        >>> curve = risk_coverage_curve([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
        >>> curve.at([0.5, 0.75]).risk.round(4).tolist()
        [0.0, 0.3333]
        """
        grid = as_floats(coverage, "coverage", ndim=(1,), shape="(B,)")
        outside = np.flatnonzero((grid <= 0) | (grid > 1))
        if outside.size:
            raise InputError(
                "coverage",
                "must lie in (0, 1]",
                f"entry {outside[0]} is {grid[outside[0]]:g}",
                "give shares of the instances",
                code="range",
            )
        return self._bands.curve(grid, self.level, self.notes)


@in_one_order("errors", "uncertainty", "sample_weight", "groups")
def risk_coverage_curve(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> RiskCoverage:
    """Risk of the instances kept at every threshold of the uncertainty.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed.
    sample_weight : array (n,), optional
        An integer weight equals that many copies.
    groups : array of labels (n,), optional
        Instances of one group (patient, site, video) may depend on each other; groups are independent.
    level : float
        Confidence level of each pointwise interval. It is not the level of a band around the whole curve.

    Returns
    -------
    curve : RiskCoverage
        The curve at the distinct thresholds, so it does not depend on the order of rows. `curve.at(coverages)` gives it on
        a grid.

    Raises
    ------
    InputError
        When a value is nan, errors lie outside [0, 1], or shapes do not match.

    Notes
    -----
    Let m_i be the kept share of each instance (1, 0, or the share of a tie), A = Σ w e m / Σ w and c = Σ w m / Σ w. The
    risk R = A / c has the influence ((e m − A) + ε (c − m)) / c. The second term accounts for the estimated threshold, with
    the error rate ε of the instances near it (a window of ranks of at most ± 5 %).

    The interval contains the risks R' that differ from R by at most t standard deviations under R'. The variance under R'
    is d · (R'(1 − R') / c + (R − ε)² (1 − c) / c) / n, with the design effect d of groups, weights and soft labels. The
    small-sample correction and the degrees of freedom are those of the error rate of all instances. If no error is kept,
    the interval follows from the number kept. At coverage 1 it is that of `proportion_estimate`.

    References
    ----------
    El-Yaniv, Wiener (2010), On the foundations of noise-free selective classification.
    Geifman, El-Yaniv (2017), Selective classification for deep neural networks.

    Examples
    --------
    >>> curve = risk_coverage_curve([0, 0, 1, 0], [0.1, 0.2, 0.2, 0.9])
    >>> curve.coverage.tolist(), curve.risk.round(4).tolist(), curve.thresholds.tolist()
    ([0.25, 0.75, 1.0], [0.0, 0.3333, 0.25], [0.1, 0.2, 0.9])
    """
    ranked = rank_errors(errors, uncertainty, sample_weight)
    check_level(level)
    units = make_units(ranked.n, groups, sample_weight)
    return Bands.of(ranked, units).curve(None, level, (*interval_notes(units), *ranked.notes(units)))


@final
@dataclass(frozen=True, eq=False, slots=True)
class Bands:
    """Running sums over groups g (or instances), which give the variance of the risk at any coverage.

    Let w_g be the weight of a group, and a_g and m_g its error mass and weight that are kept. If the share f of block k is
    kept, a_g = a_g⁰ + f·Δa_g. A sum over groups of squares or products is then `start` + f·`linear` + f²·`square` in that
    block, so that no coverage needs a pass over the groups.
    """

    ranked: RankedErrors
    units: Units
    dof: float
    factor: float  # small-sample correction of the variance
    sum_ww: float  # Σ w_g² / (Σ w)²
    start: Floats  # (3, B): Σ a_g², Σ a_g m_g, Σ m_g², all over (Σ w)²
    linear: Floats
    square: Floats
    with_size: Floats  # (2, B + 1): Σ a_g w_g, Σ m_g w_g at the ends of the blocks, with a leading 0

    @classmethod
    def of(cls, ranked: RankedErrors, units: Units) -> "Bands":
        """Compute the running sums, in O(n log n)."""
        alike = is_plain(units) and whole_errors(ranked)
        sums = _sums_of_alike(ranked) if alike else _sums(ranked, units)
        dof = factor = np.nan
        if units.n_units > 1:
            factor, dof = small_sample_of(ranked, units)
        sum_ww = float(((units.sizes / ranked.kept[-1]) ** 2).sum())
        return cls(ranked, units, dof, factor, sum_ww, *sums)

    def curve(self, coverage: Floats | None, level: float, notes: tuple[Note, ...]) -> RiskCoverage:
        """Risk and interval at coverages in (0, 1], or at every threshold if `coverage` is None."""
        ranked = self.ranked
        sizes = ranked.kept
        if ranked.weights is not None:
            counts = np.ones(sizes.size) if ranked.block is None else np.bincount(ranked.block)
            sizes = np.cumsum(counts, dtype=np.float64)
        size = ranked.kept.size if coverage is None else coverage.size
        columns = np.empty((6, size))
        for first in range(0, size, CHUNK):
            chunk = slice(first, min(first + CHUNK, size))
            if coverage is None:
                k = np.arange(chunk.start, chunk.stop)
                f = np.ones(k.size)
            else:
                k, f = ranked.place(coverage[chunk])
            c, risk, low, high = self._at(k, f, level)
            columns[:, chunk] = c, risk, low, high, ranked.thresholds[k], ranked.inside(sizes, k, f)
        c, risk, low, high, thresholds, n_kept = columns
        everything = c == 1
        if everything.any():
            rate = _rate_of_all(ranked, self.units, level)
            low[everything], high[everything] = rate.low, rate.high
        return RiskCoverage(
            coverage=c,
            risk=risk,
            low=low,
            high=high,
            thresholds=thresholds,
            n_kept=n_kept,
            level=level,
            notes=notes,
            _bands=self,
        )

    def _at(self, k: NDArray[np.intp], f: Floats, level: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Coverage, risk and its interval if the share f of block k is kept."""
        ranked = self.ranked
        wrong, kept = ranked.inside(ranked.wrong, k, f), ranked.inside(ranked.kept, k, f)
        a, c, risk = wrong / ranked.kept[-1], kept / ranked.kept[-1], wrong / kept
        if self.units.n_units == 1:
            return c, risk, np.full_like(c, np.nan), np.full_like(c, np.nan)
        rate = ranked.local_rate(c)
        aa, am, mm = self.start[:, k] + f * (self.linear[:, k] + f * self.square[:, k])
        aw, mw = self.with_size[:, k] + f * (self.with_size[:, k + 1] - self.with_size[:, k])
        # Σ_g u_g² with u_g = a_g − ε m_g − b w_g, the influence times c, expanded into the running sums
        b = a - rate * c
        squares = aa + rate**2 * mm + b**2 * self.sum_ww - 2 * (rate * am + b * aw - rate * b * mw)
        variance = self.factor * np.maximum(squares, 0.0) / c**2
        low, high = risk_interval(
            risk, rate, c, variance, n_units=self.units.n_units, sum_ww=self.sum_ww, dof=self.dof, level=level
        )
        return c, risk, low, high


@once_for_errors
def _rate_of_all(ranked: RankedErrors, units: Units, level: float) -> Estimate:
    """The error rate of all instances."""
    codes = None if units.codes is None else _ranked_codes(ranked, units)
    return proportion_estimate(ranked.errors, groups=codes, sample_weight=ranked.weights, level=level)


@once_for_errors
def small_sample_of(ranked: RankedErrors, units: Units) -> tuple[float, float]:
    """`small_sample` of the error rate."""
    return small_sample(ranked.residuals, units)


def small_sample(residuals: Floats, units: Units) -> tuple[float, float]:
    """Factor that makes Σ u² / (Σ w)² over the units an unbiased variance, and its degrees of freedom, of residuals (n,)."""
    kept = units.keep(residuals)
    spread = spread_of_mean(kept, units)
    plain = float((units.sums(kept[:, np.newaxis]) ** 2).sum() / units.sizes.sum() ** 2)
    return spread.standard_error**2 / plain if plain > 0 else units.n_units / (units.n_units - 1), spread.dof


def risk_interval(
    risk: Floats | float,
    rate: Floats | float,
    coverage: Floats | float,
    variance: Floats | float,
    *,
    n_units: int,
    sum_ww: float,
    dof: Floats | float,
    level: float,
) -> tuple[Floats, Floats]:
    """Interval of the risks R' that differ from the observed R by at most t standard deviations under R'.

    `rate` is the error rate near the threshold, `variance` the estimated variance of R, and `sum_ww` is Σ w_g² / (Σ w)².
    """
    risk, spare = np.asarray(risk), (1 - coverage) / coverage
    quantile = np.minimum(special.stdtrit(dof, 0.5 + level / 2), WIDEST)
    plain = (risk * (1 - risk) / coverage + (risk - rate) ** 2 * spare) / n_units
    with np.errstate(invalid="ignore", divide="ignore"):
        # without variance the design effect is undefined; 1 / Σ w_g² is then the effective number of units. A risk of 0 or 1
        # may be off by rounding, which depends on the unit of the weights
        varies = (plain * n_units > 1e-12) & (variance > 1e-12 * plain)
        design = np.where(varies, variance / plain, n_units * sum_ww)
    k = np.minimum(quantile**2 * design / n_units, WIDEST**2)
    # (R − R')² = k (R'(1 − R') / c + (R − ε)² (1 − c) / c) is quadratic in R'
    wilson = k / coverage
    half = risk + wilson / 2
    root = np.sqrt(np.maximum(half**2 - (1 + wilson) * (risk**2 - k * (risk - rate) ** 2 * spare), 0.0))
    low, high = (half - root) / (1 + wilson), (half + root) / (1 + wilson)
    return np.clip(low, 0.0, risk), np.clip(high, risk, 1.0)


def _sums_of_alike(ranked: RankedErrors) -> tuple[Floats, Floats, Floats, Floats]:
    """`_sums` of single instances of weight 1 with errors of 0 and 1, whose squares are the errors themselves."""
    running = np.stack([ranked.wrong, ranked.wrong, ranked.kept]) / ranked.kept[-1] ** 2
    before = np.concatenate([np.zeros((3, 1)), running], axis=1)
    start = before[:, :-1]
    return start, np.zeros_like(start), running - start, before[1:]


def _sums(ranked: RankedErrors, units: Units) -> tuple[Floats, Floats, Floats, Floats]:
    """`start`, `linear`, `square` and `with_size` of `Bands`."""
    total = ranked.kept[-1]
    w = np.ones_like(ranked.errors) if ranked.weights is None else ranked.weights
    delta = np.stack([w * ranked.errors, w]) / total  # (2, m)
    blocks, n_blocks = ranked.block, ranked.kept.size
    before = None
    if units.codes is not None:
        delta, before, blocks, size = _cells(delta, ranked, units, units.sizes / total)

    def by_block(values: Floats) -> Floats:
        return values if blocks is None else np.bincount(blocks, values, n_blocks).astype(np.float64, copy=False)

    a, m = delta
    square = np.stack([by_block(a * a), by_block(a * m), by_block(m * m)])
    linear, with_size = np.zeros_like(square), np.zeros((2, n_blocks + 1))
    if before is None:
        running = np.cumsum(square, axis=1)
        start = running - square
        with_size[:, 1:] = running[1:]  # the size of a group of one instance is m
    else:
        a0, m0 = before
        linear = np.stack([by_block(2 * a0 * a), by_block(a0 * m + m0 * a), by_block(2 * m0 * m)])
        start = np.cumsum(square + linear, axis=1) - (square + linear)
        np.cumsum([by_block(a * size), by_block(m * size)], axis=1, out=with_size[:, 1:])
    return start, linear, square, with_size


def _cells(
    delta: Floats, ranked: RankedErrors, units: Units, sizes: Floats
) -> tuple[Floats, Floats, NDArray[np.intp], Floats]:
    """Cells (sums over each group within each block), sums of the group over earlier blocks, block and group size."""
    codes = _ranked_codes(ranked, units)
    by_group = np.argsort(codes, kind="stable")
    codes = codes[by_group]
    blocks = by_group if ranked.block is None else ranked.block[by_group]
    new = np.flatnonzero((codes[1:] != codes[:-1]) | (blocks[1:] != blocks[:-1])) + 1
    first = np.concatenate([[0], new])
    cells = np.add.reduceat(delta[:, by_group], first, axis=1)
    codes, blocks = codes[first], blocks[first]
    running = np.cumsum(cells, axis=1) - cells
    group_start = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    base = np.repeat(running[:, group_start], np.diff(np.append(group_start, codes.size)), axis=1)
    return cells, running - base, blocks, sizes[codes]


def _ranked_codes(ranked: RankedErrors, units: Units) -> NDArray[np.intp]:
    """Group of each sorted instance."""
    assert units.codes is not None
    codes = np.empty(ranked.n, dtype=np.intp)
    codes[slice(None) if units.rows is None else units.rows] = units.codes
    return codes[ranked.order]
