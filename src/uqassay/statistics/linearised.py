"""Value and influence of every instance: one variance for all statistics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from uqassay.arrays import Floats
from uqassay.checks import one_of
from uqassay.ids import in_one_order
from uqassay.notes import Note, distinct
from uqassay.statistics.estimate import Estimate, single_unit, unit_notes
from uqassay.statistics.units import Spread, Units, check_level, make_units, small_sample_correction, spread_of_mean

__all__ = [
    "AveragedStatistic",
    "Linearised",
    "linearised_estimate",
]


# Sums of a linearised statistic over its parts, the independent samples that it is made of, such as errors and right
# ones.

LEAST_DOF = 0.05  # degrees of freedom of a sample of one instance, where n − 1 would be 0
LEAST_UNEVEN_DOF = 3.0  # lower bound of the fourth-moment degrees of freedom, which few influences estimate poorly


@final
@dataclass(frozen=True, eq=False, slots=True)
class PartSum:
    """Weighted influences of the units inside one part (G,), their sum of squares, and what imaginary instances add."""

    stratum: int
    sums: Floats
    hidden: float
    square: float
    dof: float
    count: float

    def negative(self) -> "PartSum":
        return PartSum(self.stratum, -self.sums, -self.hidden, self.square, self.dof, self.count)


Sums: TypeAlias = tuple[PartSum, ...]


def sums_of_parts(statistic: "Linearised", units: Units) -> Sums:
    """Everything about the parts of one statistic that its differences from others need."""
    found, weight = [], float(units.sizes.sum())
    for p, part in enumerate(statistic.parts):
        count = units_in(statistic.inside[p], units) + statistic.imaginary
        factor, dof = _part_correction(statistic, p, units)
        sums = units.sums(units.keep(part)[:, np.newaxis])[:, 0] * (factor**0.5 / weight)
        hidden = sample_factor(count) ** 0.5 * statistic.shadows[p] if statistic.shadows else 0.0
        square = sum_of_squares(sums) + statistic.imaginary * hidden**2
        stratum = statistic.strata[p] if statistic.strata else p
        found.append(PartSum(stratum, sums, hidden, square, dof, count))
    return tuple(found)


def combined(parts: Sums, imaginary: float) -> tuple[Floats, float, float]:
    """Sums of the influences over each unit (G,), the variance, and its degrees of freedom."""
    strata: dict[int, list[PartSum]] = {}
    for part in parts:
        strata.setdefault(part.stratum, []).append(part)
    whole, extra, squares, dofs = np.zeros(parts[0].sums.size), 0.0, [], []
    for inside in strata.values():
        own, shadow = inside[0].sums, inside[0].hidden
        for part in inside[1:]:
            own, shadow = own + part.sums, shadow + part.hidden
        total = sum(part.square for part in inside)
        inverse = sum(part.square / max(part.dof, LEAST_DOF) for part in inside)
        whole += own
        extra += imaginary * shadow**2
        alone = len(inside) == 1
        squares.append(inside[0].square if alone else sum_of_squares(own) + imaginary * shadow**2)
        dofs.append(total / inverse if inverse > 0 else np.inf)
    between = sum(squares)
    dof = max(sum(part.count - 1 for part in parts), LEAST_DOF)
    if between > 0:
        dof = between**2 / sum(s * s / d for s, d in zip(squares, dofs, strict=True))
    # an instance may be in parts of several strata, whose covariance is in the square of the sum alone
    variance = squares[0] if len(squares) == 1 else sum_of_squares(whole) + extra
    return whole, variance, dof


def _part_correction(statistic: "Linearised", p: int, units: Units) -> tuple[Floats | float, float]:
    """Factors of the squared sums of the units (G,) in one part, and their degrees of freedom, with imaginary units."""
    count = units_in(statistic.inside[p], units)
    with_imaginary = sample_factor(count + statistic.imaginary)
    if is_plain(units) or count < 2:
        return with_imaginary, count + statistic.imaginary - 1
    inside = units.keep(np.asarray(statistic.inside[p], dtype=np.float64))
    members = np.flatnonzero(inside)
    share = inside[members]
    here, codes = members, None
    if units.codes is not None:
        here, codes = np.unique(units.codes[members], return_inverse=True)
    weights = share if units.weights is None else share * units.weights[members]
    own = Units(None, weights, codes, members.size, here.size)
    a, dof = small_sample_correction(units.keep(statistic.parts[p])[members] / share, own)
    factors = np.zeros(units.n_units)
    factors[here] = a * (with_imaginary / sample_factor(here.size))
    return factors, dof + statistic.imaginary


def is_plain(units: Units) -> bool:
    """True if all instances count alike."""
    return units.codes is None and units.weights is None


def sum_of_squares(u: Floats) -> float:
    return float((u * u).sum())


def variance_of_alike(influence: Floats, *, uneven: bool) -> tuple[float, float]:
    """As `spread_of_mean` and `uneven_dof` find variance and degrees of freedom, of instances of one weight each."""
    n = influence.size
    greatest = max(float(influence.max()), -float(influence.min()))
    if greatest == 0.0:
        return 0.0, n - 1.0
    squares = np.square(influence / greatest)
    total = float(squares.sum())
    dof = min(n - 1.0, _dof_of_squares(squares, total, n)) if uneven else n - 1.0
    return n / (n - 1) * total * (greatest / n) ** 2, dof


def uneven_dof(u: Floats, count: int | None = None) -> float:
    """Degrees of freedom of Σ u² from the fourth moment of u; few if a few large values make up most of the sum.

    `count` is the number of values that are not 0 by construction; the default is all.
    """
    squares = u * u
    greatest = float(squares.max())
    if greatest == 0.0:
        return np.inf
    squares /= greatest  # fourth powers of small influences would underflow
    return _dof_of_squares(squares, float(squares.sum()), u.size if count is None else count)


def _dof_of_squares(squares: Floats, total: float, count: int) -> float:
    """`uneven_dof` from the squares, of which the greatest is 1, and their sum."""
    second = total**2
    excess = sum_of_squares(squares) - second / count  # 0 where all squares are equal
    return max(2 * second / excess, LEAST_UNEVEN_DOF) if excess > 0 else np.inf


def sample_factor(count: float) -> float:
    """Factor n / (n − 1), which makes a mean of squared deviations unbiased; finite for n = 1."""
    return count / max(count - 1, LEAST_DOF)


def units_in(inside: Floats | NDArray[np.bool_], units: Units) -> float:
    """Number of units with an instance in this part (n,) of the statistic. For use by other rooms."""
    if units.rows is not None:
        inside = inside[units.rows]
    if units.codes is None:
        return float(np.count_nonzero(inside)) if inside.dtype == bool else float(inside.sum())
    return float(np.count_nonzero(np.bincount(units.codes, weights=inside)))


# Linearised statistics: the value of a statistic and the influence of every instance on it.
#
# A rank statistic is not a mean over instances, but near its expectation it behaves like one: θ̂ ≈ θ + Σ w_i ψ_i / Σ w,
# where ψ_i is the influence of instance i. The weighted mean of the influences is zero. One variance formula, with
# groups, weights and training runs, therefore serves all such statistics. The influence on a difference of two
# statistics is the difference of their influences.

SCALES = ("identity", "logit", "wilson")


@final
@dataclass(frozen=True, eq=False)
class Linearised:
    """A statistic of one sample and the influence of every instance on it."""

    #: nan where the statistic is undefined.
    value: float
    #: (n,) In the units of the value. The weighted mean is zero unless there are imaginary instances.
    influence: Floats
    #: For a statistic of several samples, such as errors and right predictions: the influence inside each sample, and 0
    #: outside. The degrees of freedom then depend on the size of each sample.
    parts: tuple[Floats, ...] = ()
    #: Membership of each instance in each part: 1, 0, or a share in between for an average over runs.
    inside: tuple[Floats | NDArray[np.bool_], ...] = ()
    #: Centre of the interval; nan means the value.
    centre: float = np.nan
    #: Number of imaginary instances added to each part for the centre and the influences.
    imaginary: float = 0.0
    #: Contribution w ψ / Σ w of one imaginary instance of each part to the statistic.
    shadows: tuple[float, ...] = ()
    #: Sample of each part. Parts with the same number describe the same kind of instance, such as the errors of two models.
    #: Empty means that every part is a sample by itself.
    strata: tuple[int, ...] = ()
    #: True if few instances may carry most of the variance. Its degrees of freedom then follow from the fourth moment.
    uneven: bool = False
    #: Remarks, such as the reason for an undefined value.
    notes: tuple[Note, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of instances, those of weight zero included."""
        return int(self.influence.shape[0])

    def __sub__(self, other: "Linearised") -> "Linearised":
        notes = distinct(self.notes, other.notes)
        if np.isnan(self.value) or np.isnan(other.value):
            return undefined(len(self.influence), notes)
        whole = joined([self, other], (1.0, -1.0))
        return replace(whole, value=self.value - other.value, notes=notes)

    def affine(self, factor: float, constant: float = 0.0) -> "Linearised":
        """The statistic factor · value + constant."""
        return replace(
            self,
            value=factor * self.value + constant,
            influence=factor * self.influence,
            parts=tuple(factor * part for part in self.parts),
            centre=factor * self.centre + constant,
            shadows=tuple(factor * shadow for shadow in self.shadows),
        )


@final
@dataclass(frozen=True, eq=False, slots=True)
class AveragedStatistic:
    """A statistic averaged over training runs, with what its interval and its tests against others take from it.

    Build it with `AveragedStatistic.of`.
    """

    #: The average.
    whole: Linearised
    #: (R,) The statistic of each run.
    values: Floats
    #: Sums over the units inside each part; empty with groups or weights.
    sums: Sums
    #: None for a single statistic, for which no spread between runs is claimed.
    n_runs: int | None

    @classmethod
    def of(cls, statistics: "Runs", units: Units) -> "AveragedStatistic":
        """Average the statistics of the runs, or take what is averaged already."""
        if isinstance(statistics, AveragedStatistic):
            return statistics
        n_runs = None if isinstance(statistics, Linearised) else len(statistics)
        runs = [statistics] if isinstance(statistics, Linearised) else list(statistics)
        mean = averaged(runs)
        values = np.array([run.value for run in runs])
        return cls(mean, values, sums_of_parts(mean, units) if is_plain(units) else (), n_runs)

    @property
    def n_rows(self) -> int:
        """Number of instances, those of weight zero included."""
        return self.whole.n_rows

    @property
    def counts(self) -> list[int]:
        """The number of runs, for notes; empty for a single statistic."""
        return [] if self.n_runs is None else [self.n_runs]


Runs: TypeAlias = Linearised | Sequence[Linearised] | AveragedStatistic


@in_one_order("groups", "sample_weight")
def linearised_estimate(
    statistics: Runs,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    scale: str = "identity",
    method: str = "",
) -> Estimate:
    """Estimate of a linearised statistic, with an interval from its influences.

    Parameters
    ----------
    statistics : Linearised, a sequence of them, or AveragedStatistic
        The statistic, or one statistic for each of R training runs of a model, which are averaged.
    groups, sample_weight
        As in `mean_estimate`. Pass the weights with which the statistic was computed.
    level : float
    scale : {"identity", "logit", "wilson"}
        "identity": symmetric around the centre. "logit": symmetric on the scale of ln θ/(1 − θ). "wilson": Wilson's
        interval for a share θ, with the number of independent instances that would give this variance.
    method : str
        Name of the method in the estimate. The default names the scale.

    Returns
    -------
    estimate : Estimate
        nan with a note where the statistic is undefined in some run.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.0, 1.0, 1.0, 1.0])
    >>> linearised_estimate(Linearised(values.mean(), values - values.mean()))
    Estimate(0.75, low=-0.04561, high=1.546, level=0.95, n=4, method='linearised')
    """
    check_level(level)
    one_of(scale, "scale", SCALES)
    n = (statistics[0] if isinstance(statistics, Sequence) else statistics).n_rows
    units = make_units(n, groups, sample_weight)
    mean = AveragedStatistic.of(statistics, units)
    whole = mean.whole
    notes = [*unit_notes(units, mean.counts), *distinct(whole.notes)]
    value, low, high = whole.value, np.nan, np.nan
    if np.isnan(value):
        pass
    elif units.n_units == 1:
        notes.append(single_unit(units))
    else:
        spread = spread_of(whole, units, [mean.values], mean.sums)
        low, high = scaled_interval(centre_of(whole), spread, level, scale, least_units(whole, units))
        low, high = min(low, value), max(high, value)
    method = method or ("linearised" if scale == "identity" else f"linearised, {scale} scale")
    return Estimate(value, low=low, high=high, level=level, n=units.n_instances, method=method, notes=notes)


def undefined(n: int, notes: tuple[Note, ...] = ()) -> Linearised:
    """A statistic without a value: nan with influences of 0."""
    return Linearised(np.nan, np.zeros(n), notes=notes)


def averaged(runs: Sequence[Linearised]) -> Linearised:
    """Mean over training runs, whose parts are averaged one by one. Undefined if any run is."""
    if len(runs) == 1:
        return runs[0]
    notes = distinct(*(run.notes for run in runs))
    if any(np.isnan(run.value) for run in runs):
        return undefined(len(runs[0].influence), notes)
    same = len({(len(run.parts), len(run.inside), len(run.shadows)) for run in runs}) == 1
    parts: tuple[Floats, ...] = ()
    inside: tuple[Floats, ...] = ()
    shadows: tuple[float, ...] = ()
    if same:
        parts = tuple(np.mean(part, axis=0) for part in zip(*(run.parts for run in runs), strict=True))
        sides = zip(*(run.inside for run in runs), strict=True)
        inside = tuple(np.asarray(np.mean(side, axis=0, dtype=np.float64)) for side in sides)
        shadows = tuple(float(np.mean(shadow)) for shadow in zip(*(run.shadows for run in runs), strict=True))
    return Linearised(
        value=float(np.mean([run.value for run in runs])),
        influence=np.mean([run.influence for run in runs], axis=0),
        parts=parts,
        inside=inside,
        centre=float(np.mean([centre_of(run) for run in runs])),
        imaginary=runs[0].imaginary,
        shadows=shadows,
        uneven=any(run.uneven for run in runs),
        notes=notes,
    )


def joined(statistics: Sequence[Linearised], factors: Sequence[float]) -> Linearised:
    """Σ factor · statistic, which keeps the parts of all, such as the errors of several models."""
    alike = len({len(s.parts) for s in statistics}) == 1
    parts, inside, shadows, strata = [], [], [], []
    for s, factor in zip(statistics, factors, strict=True):
        for p, part in enumerate(s.parts if alike else ()):
            parts.append(factor * part)
            inside.append(s.inside[p])
            shadows.append(factor * s.shadows[p] if s.shadows else 0.0)
            strata.append(s.strata[p] if s.strata else p)
    return Linearised(
        value=float(sum(factor * s.value for s, factor in zip(statistics, factors, strict=True))),
        influence=np.asarray(sum(factor * s.influence for s, factor in zip(statistics, factors, strict=True))),
        parts=tuple(parts),
        inside=tuple(inside),
        centre=float(sum(factor * centre_of(s) for s, factor in zip(statistics, factors, strict=True))),
        imaginary=max(s.imaginary for s in statistics),
        shadows=tuple(shadows),
        strata=tuple(strata),
        uneven=any(s.uneven for s in statistics),
        notes=distinct(*(s.notes for s in statistics)),
    )


def spread_of(statistic: Linearised, units: Units, run_values: Sequence[Floats] = (), known: Sums = ()) -> Spread:
    """Spread of a statistic, including the variance between independent run values (R,) each. For use inside this room.

    The variance of each part has the factor m/(m − 1) for its m units; groups and weights have the factors and degrees of
    freedom of Bell and McCaffrey for the sizes that they have inside the part. The parts of one stratum get one number of
    degrees of freedom, the harmonic mean weighted by their variances. `known` holds the `sums_of_parts`.
    """
    influence = units.keep(statistic.influence)
    if statistic.parts:
        u, variance, dof = combined(known or sums_of_parts(statistic, units), statistic.imaginary)
        if not is_plain(units) and any(units_in(inside, units) < 2 for inside in statistic.inside):
            # a part inside a single unit tells nothing of its variance
            robust = spread_of_mean(influence, units)
            variance, dof = max(variance, robust.standard_error**2), min(dof, robust.dof)
    elif is_plain(units):
        variance, dof = variance_of_alike(influence, uneven=statistic.uneven)
        return with_runs(Spread(variance**0.5, dof, 0.0), run_values)
    else:
        robust = spread_of_mean(influence, units)
        u = units.sums(influence[:, np.newaxis])[:, 0]
        variance, dof = robust.standard_error**2, robust.dof
    if statistic.uneven:
        dof = min(dof, uneven_dof(u))
    return with_runs(Spread(variance**0.5, dof, 0.0), run_values)


def with_runs(spread: Spread, run_values: Sequence[Floats]) -> Spread:
    """The spread including the variance between training runs, (R,) values each, with Satterthwaite's degrees of freedom."""
    variances = [(spread.standard_error**2, spread.dof)]
    variances += [(float(v.var(ddof=1)) / v.size, v.size - 1.0) for v in run_values if v.size > 1]
    whole = sum(variance for variance, _ in variances)
    if whole == 0.0:
        return spread
    return Spread(whole**0.5, 1.0 / sum((variance / whole) ** 2 / dof for variance, dof in variances), 0.0)


def spread_of_difference(a: AveragedStatistic, b: AveragedStatistic, units: Units) -> Spread:
    """`spread_of` a difference of two statistics, without the variance between runs."""
    if not a.sums or len(a.sums) != len(b.sums) or a.whole.imaginary != b.whole.imaginary:
        return spread_of(a.whole - b.whole, units)
    u, variance, dof = combined((*a.sums, *(part.negative() for part in b.sums)), a.whole.imaginary)
    if a.whole.uneven or b.whole.uneven:
        dof = min(dof, uneven_dof(u))
    return Spread(variance**0.5, dof, 0.0)


def least_units(statistic: Linearised, units: Units) -> int:
    """Number of units in the smallest part."""
    counts = [units_in(i, units) for i in statistic.inside]
    return max(1, round(min(counts))) if counts else units.n_units


def centre_of(statistic: Linearised) -> float:
    return statistic.value if np.isnan(statistic.centre) else statistic.centre


def spread_of_samples(squares: Sequence[float], counts: Sequence[float]) -> Spread:
    """Spread of a sum over independent samples, from the sum of squares and the size of each sample (Satterthwaite)."""
    variances = [sample_factor(count) * square for square, count in zip(squares, counts, strict=True)]
    variance = sum(variances)
    if variance == 0.0:
        return Spread(0.0, max(sum(counts) - len(counts), LEAST_DOF), 0.0)
    shares = [v / variance for v in variances]
    dof = 1.0 / sum(share**2 / max(count - 1, LEAST_DOF) for share, count in zip(shares, counts, strict=True))
    return Spread(variance**0.5, dof, 0.0)


def scaled_interval(centre: float, spread: Spread, level: float, scale: str, n_units: int) -> tuple[float, float]:
    """Interval of a statistic with this spread on a scale of `SCALES`. For use inside this room."""
    if scale == "identity":
        return spread.interval(centre, level, "student-t")
    q = float(special.stdtrit(spread.dof, 0.5 + level / 2))
    inside = 0.0 < centre < 1.0
    if scale == "logit" and inside:
        reach = q * spread.standard_error / (centre * (1 - centre))
        middle = float(special.logit(centre))
        return float(special.expit(middle - reach)), float(special.expit(middle + reach))
    # Wilson's interval, also on the logit scale at 0 and 1, where the logit is infinite
    n = centre * (1 - centre) / spread.standard_error**2 if inside and spread.standard_error > 0 else float(n_units)
    middle = (centre + q**2 / (2 * n)) / (1 + q**2 / n)
    half = q / (1 + q**2 / n) * float(np.sqrt(max(centre * (1 - centre), 0.0) / n + q**2 / (4 * n**2)))
    return max(0.0, middle - half), min(1.0, middle + half)
