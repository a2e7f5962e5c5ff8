"""Sums of a linearised statistic over its parts, the independent samples that it is made of, such as errors and right ones."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from uqassay.statistics.samples import Floats, Units, small_sample_correction

if TYPE_CHECKING:
    from uqassay.statistics.linearised import Linearised

__all__: list[str] = []

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


def reusable_sums(statistic: "Linearised", units: Units) -> Sums:
    """Everything about the parts of one statistic that its differences from others need; none where units are not alike."""
    return sums_of_parts(statistic, units) if is_plain(units) else ()


def sums_of_parts(statistic: "Linearised", units: Units) -> Sums:
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
