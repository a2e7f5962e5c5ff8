"""Spreads of the differences of many pairs of linearised statistics, from products of their influences.

The variance of a difference is Σ (u − v)² over the influences u and v of the units. All pairs of J statistics need the J × J
products Σ u v, which one matrix product gives, and Σ u³ v and Σ u² v² for degrees of freedom from the fourth moment. Where u
and v are so similar that such a sum would cancel, the differences themselves are summed (`spread_of_difference`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay._kernels import kernel
from uqassay.statistics.independent_parts import (
    LEAST_DOF,
    LEAST_UNEVEN_DOF,
    PartSum,
    Sums,
    is_plain,
    sample_factor,
    sum_of_squares,
)
from uqassay.statistics.linearised import AveragedStatistic, Linearised, spread_of_difference
from uqassay.statistics.samples import Floats, Units

__all__: list[str] = []

Places = NDArray[np.intp]
CELLS = 2**20  # influences of all statistics that are held at once
CACHED = 512  # units of all statistics that stay in the cache
CANCELLED = 1e-3  # of the squares of both: a smaller sum of squared differences is not taken from products


class PairSpreads(NamedTuple):
    """Standard errors and degrees of freedom of the differences of P pairs, (P,) each."""

    standard_error: Floats
    dof: Floats


class Products(NamedTuple):
    """Σ u v over the units for each part and for the sums of all parts, and of these Σ u³ v and Σ u² v², (J, J) each."""

    parts: Floats
    whole: Floats
    cubes: Floats
    squares: Floats


def pair_spreads(statistics: Sequence[AveragedStatistic], a: Places, b: Places, units: Units) -> PairSpreads | None:
    """Spread of statistic a minus statistic b for pairs ``(P,)``; None where they are not made of the same parts."""
    sums = [one.sums or _whole_sums(one.whole, units) for one in statistics]
    if not _alike(statistics, sums):
        return None
    uneven = np.array([one.whole.uneven for one in statistics])
    found = _products(sums, units.n_units, moments=bool(uneven.any()))
    imaginary = statistics[0].whole.imaginary
    apart, cancelled = _apart(found.whole, a, b)
    extra, between, weighted, spare = (np.zeros(a.size) for _ in range(4))
    for p, product in enumerate(found.parts):
        square, dof, hidden, count = (
            np.array([getattr(parts[p], name) for parts in sums]) for name in ("square", "dof", "hidden", "count")
        )
        own, lost = _apart(product, a, b)
        shadow = imaginary * (hidden[a] - hidden[b]) ** 2
        both, inverse = square[a] + square[b], square / np.maximum(dof, LEAST_DOF)
        weighted += (own + shadow) ** 2 * np.divide(inverse[a] + inverse[b], both, out=np.zeros(a.size), where=both > 0)
        between += own + shadow
        extra += shadow
        spare += count[a] + count[b] - 2
        cancelled |= lost
    dof = np.maximum(spare, LEAST_DOF)
    np.divide(between**2, weighted, out=dof, where=(between > 0) & (weighted > 0))
    dof = np.where(uneven[a] | uneven[b], np.minimum(dof, _uneven_dof(found, apart, a, b, units.n_units)), dof)
    # an instance may be in parts of several strata, whose covariance is in the square of the sum alone
    spreads = _with_runs(apart + extra, dof, statistics, a, b)
    for k in np.flatnonzero(cancelled | ~(weighted > 0)).tolist():
        one, other = statistics[a[k]], statistics[b[k]]
        spread = spread_of_difference(one, other, units)
        spreads.standard_error[k], spreads.dof[k] = spread.standard_error, spread.dof
    return spreads


def _alike(statistics: Sequence[AveragedStatistic], sums: Sequence[Sums]) -> bool:
    """True if all have the same parts, each of which is a stratum, and the same imaginary instances."""
    kinds = {(one.whole.imaginary, *(p.stratum for p in parts)) for one, parts in zip(statistics, sums, strict=True)}
    strata = [part.stratum for part in sums[0]]
    return len(kinds) == 1 and len(strata) == len(set(strata)) > 0


def _whole_sums(statistic: Linearised, units: Units) -> Sums:
    """A statistic without parts as one part of all units; none where units are not alike."""
    if statistic.parts or not is_plain(units):
        return ()
    n = units.n_units
    sums = statistic.influence * (sample_factor(n) ** 0.5 / n)
    return (PartSum(0, sums, 0.0, sum_of_squares(sums), n - 1.0, float(n)),)


def _products(sums: Sequence[Sums], n_units: int, *, moments: bool) -> Products:
    j = len(sums)
    parts = np.zeros((len(sums[0]), j, j))
    whole, cubes, squares = np.zeros((3, j, j))
    step = max(CELLS // j, 256)
    for start in range(0, n_units, step):
        total = np.zeros((j, min(step, n_units - start)))
        for p, product in enumerate(parts):
            u = np.stack([own[p].sums[start : start + step] for own in sums])
            product += row_products(u, u)
            total += u
        whole += row_products(total, total)
        if moments:
            square = total * total
            squares += row_products(square, square)
            cubes += row_products(square * total, total)
    return Products(parts, whole, cubes, squares)


def row_products(u: Floats, v: Floats) -> Floats:
    """u v' without BLAS, whose last bits depend on the number of its threads."""
    products = kernel("row_products")
    if products is not None:
        return np.asarray(products(u, v))
    blocks = (slice(start, start + CACHED) for start in range(0, u.shape[1], CACHED))
    return np.asarray(sum(np.einsum("in,jn->ij", u[:, block], v[:, block]) for block in blocks))


def _apart(product: Floats, a: Places, b: Places) -> tuple[Floats, NDArray[np.bool_]]:
    """Σ (u − v)² of pairs from Σ u v, and where too much of it cancels."""
    own = np.diagonal(product)
    both = own[a] + own[b]
    found = np.maximum(both - 2 * product[a, b], 0.0)
    return found, (found < CANCELLED * both)


def _uneven_dof(found: Products, apart: Floats, a: Places, b: Places, count: int) -> Floats:
    """`uneven_dof` of u − v, with its fourth moment from products."""
    fourth = np.diagonal(found.squares)
    moment = fourth[a] + fourth[b] + 6 * found.squares[a, b] - 4 * (found.cubes[a, b] + found.cubes[b, a])
    second = apart**2
    excess = moment - second / count
    dof = np.full(a.size, np.inf)
    np.divide(2 * second, excess, out=dof, where=excess > 0)
    return np.maximum(dof, LEAST_UNEVEN_DOF)


def _with_runs(
    variance: Floats, dof: Floats, statistics: Sequence[AveragedStatistic], a: Places, b: Places
) -> PairSpreads:
    """Add the variance between the training runs of both statistics, with Satterthwaite's degrees of freedom."""
    counts = np.array([one.values.size for one in statistics])
    among = np.array(
        [float(one.values.var(ddof=1)) / one.values.size if one.values.size > 1 else 0.0 for one in statistics]
    )
    whole = variance + among[a] + among[b]
    spare = np.maximum(counts - 1.0, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = ((variance / whole) ** 2 / dof, (among[a] / whole) ** 2 / spare[a], (among[b] / whole) ** 2 / spare[b])
        total = 1.0 / sum(shares)
    several = (counts[a] > 1) | (counts[b] > 1)
    return PairSpreads(np.sqrt(whole), np.where(several & (whole > 0), total, dof))
