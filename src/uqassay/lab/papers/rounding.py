"""Arithmetic of rounded numbers: intervals carried through sums, mixtures, standard deviations and ranks.

A printed number stands for every number that rounds to it. Each function here returns the interval of results that the
printed ingredients allow, so that a disagreement is never an artefact of rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

__all__ = [
    "CommonLine",
    "Rounded",
    "common_line",
    "implied_share",
    "mixture_mean",
    "mixture_sd",
    "rank_bounds",
    "sd_bounds",
]

SLACK = 1e-9  # of the comparisons: 0.407 - 0.4055 is not 0.0015 in binary


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number known to lie between two others."""

    #: The number as it stands, and the least and greatest it may be; nan where nothing is printed
    value: float
    low: float
    high: float

    @classmethod
    def read(cls, text: str) -> "Rounded":
        """Read a printed number: half a unit of its last place either way.

        Examples
        --------
        >>> half_a_unit = Rounded.read("0.25").high - 0.25
        >>> round(half_a_unit, 6)
        0.005
        """
        if not text:
            return cls(np.nan, np.nan, np.nan)
        decimals = len(text.partition(".")[2])
        return cls(float(text), float(text) - 0.5 * 10.0**-decimals, float(text) + 0.5 * 10.0**-decimals)

    @property
    def half(self) -> float:
        """Half the width."""
        return 0.5 * (self.high - self.low)

    def widened(self, by: float) -> "Rounded":
        """Open the interval on both sides."""
        return Rounded(self.value, self.low - by, self.high + by)

    def scaled(self, factor: float) -> "Rounded":
        """Multiply by a number that is not negative."""
        return Rounded(factor * self.value, factor * self.low, factor * self.high)


@dataclass(frozen=True, slots=True)
class CommonLine:
    """The lines intercept + slope · λ that pass through as many rounded points as any line does."""

    fits: tuple[bool, ...]  #: For each point, whether these lines pass through it
    corners: np.ndarray  #: (C, 2) array of float: Corners of the polygon of such (intercept, slope)

    def at(self, tradeoff: float) -> Rounded:
        """Return what the lines give at a trade-off: the middle and the ends of their range."""
        heights = self.corners @ np.array([1.0, tradeoff])  # (C,)
        low, high = float(heights.min()), float(heights.max())
        return Rounded(0.5 * (low + high), low, high)


def common_line(
    tradeoffs: Sequence[float],
    totals: Sequence[Rounded],
    *,
    intercept: Rounded | None = None,
    slope: Rounded | None = None,
) -> CommonLine:
    """Find the lines that pass through the most rounded points.

    E = d + λ·NS is a line in λ, so the values that a table prints for one model at several λ must admit one. The best
    line can be moved until two of the interval ends touch it: all such lines are tried.

    Parameters
    ----------
    tradeoffs : sequence of float
        λ of each point.
    totals : sequence of Rounded
        Printed E of each point.
    intercept, slope : Rounded, optional
        Ranges of the line that hold independently of the points.

    Returns
    -------
    CommonLine
        The points that fit, and the polygon of lines through them.

    Examples
    --------
    >>> points = [Rounded.read(text) for text in ("0.40", "0.41", "0.31", "0.43")]
    >>> common_line([0.1, 0.2, 0.3, 0.4], points).fits
    (True, True, False, True)
    """
    rows = [(1.0, t, e.low, e.high) for t, e in zip(tradeoffs, totals, strict=True)]
    fixed = [(1.0, 0.0, r.low, r.high) for r in (intercept,) if r] + [(0.0, 1.0, r.low, r.high) for r in (slope,) if r]
    strips = np.array(rows + fixed)  # (P + F, 4)
    normals = np.repeat(strips[:, :2], 2, axis=0)  # (2(P + F), 2): each strip has two edges
    edges = strips[:, 2:].ravel()
    i, j = np.triu_indices(len(edges), k=1)
    det = normals[i, 0] * normals[j, 1] - normals[i, 1] * normals[j, 0]
    i, j, det = i[np.abs(det) > SLACK], j[np.abs(det) > SLACK], det[np.abs(det) > SLACK]
    lines = np.column_stack(
        [
            (edges[i] * normals[j, 1] - edges[j] * normals[i, 1]) / det,
            (edges[j] * normals[i, 0] - edges[i] * normals[j, 0]) / det,
        ]
    )  # (L, 2): intercept and slope where two edges meet
    heights = lines @ strips[:, :2].T  # (L, P + F)
    inside = (heights >= strips[:, 2] - SLACK) & (heights <= strips[:, 3] + SLACK)
    lines, inside = lines[inside[:, len(rows) :].all(axis=1)], inside[inside[:, len(rows) :].all(axis=1), : len(rows)]
    fits = inside[inside.sum(axis=1).argmax()]
    return CommonLine(tuple(map(bool, fits)), lines[(inside >= fits).all(axis=1)])


def sd_bounds(first: Rounded, second: Rounded) -> Rounded:
    """Bound the standard deviation of a sum by those of its terms (triangle inequality).

    Examples
    --------
    >>> bounds = sd_bounds(Rounded.read("1.895"), Rounded.read("0.052"))
    >>> round(bounds.low, 3), round(bounds.high, 3)
    (1.842, 1.948)
    """
    low = max(0.0, first.low - second.high, second.low - first.high)
    exact = first.value if second.value == 0 else np.nan  # a term that is constant at zero adds nothing
    return Rounded(exact, low, first.high + second.high)


def mixture_mean(share: Rounded, inside: Rounded, outside: Rounded) -> Rounded:
    """Mean over all instances from the means over two parts, the first of which is a given share."""
    corners = [s * a + (1 - s) * b for s, a, b in _box(share, inside, outside)]
    value = share.value * inside.value + (1 - share.value) * outside.value
    return Rounded(value, min(corners), max(corners))


def mixture_sd(share: Rounded, means: tuple[Rounded, Rounded], sds: tuple[Rounded, Rounded]) -> Rounded:
    """Standard deviation (divisor n) over all instances from means and standard deviations over two parts.

    The law of total variance: s·σ₁² + (1 − s)·σ₂² + s·(1 − s)·(μ₁ − μ₂)², which rises in both σ and in the gap and is
    concave in s, so its greatest value may lie inside the range of s.
    """
    middle = abs(means[0].value - means[1].value)
    gap = Rounded(middle, max(0.0, middle - means[0].half - means[1].half), middle + means[0].half + means[1].half)
    one, two = (Rounded(sd.value, max(0.0, sd.low), sd.high) for sd in sds)
    variances = []
    for a, b, g in _box(one, two, gap):
        peak = share.low if g == 0 else float(np.clip(0.5 + (a**2 - b**2) / (2 * g**2), share.low, share.high))
        variances += [_total_variance(s, a, b, g) for s in (share.low, share.high, peak)]
    value = _total_variance(share.value, one.value, two.value, gap.value)
    return Rounded(*(float(np.sqrt(v)) for v in (value, min(variances), max(variances))))


def implied_share(whole: Rounded, inside: Rounded, outside: Rounded) -> Rounded | None:
    """Share of the first part at which the means of two parts make the mean of the whole; None where it is anybody's.

    Examples
    --------
    >>> share = implied_share(Rounded.read("1.518"), Rounded.read("0.042"), Rounded.read("4.539"))
    >>> round(share.low, 4), round(share.high, 4)
    (0.6716, 0.672)
    """
    if inside.low <= outside.high + SLACK and outside.low <= inside.high + SLACK:
        return None
    corners = [(b - m) / (b - a) for m, a, b in _box(whole, inside, outside)]
    value = (outside.value - whole.value) / (outside.value - inside.value)
    return Rounded(value, max(0.0, min(corners)), min(1.0, max(corners)))


def rank_bounds(totals: Sequence[Rounded]) -> list[Rounded]:
    """Rank of each total, the least being first, with the ranks that rounding allows.

    Examples
    --------
    >>> ranks = rank_bounds([Rounded(0.31, 0.30, 0.32), Rounded(0.30, 0.29, 0.31), Rounded(0.9, 0.8, 1.0)])
    >>> [(int(rank.value), int(rank.low), int(rank.high)) for rank in ranks]
    [(2, 1, 2), (1, 1, 2), (3, 3, 3)]
    """
    value, low, high = (np.array([getattr(total, end) for total in totals]) for end in ("value", "low", "high"))
    below = (high[None, :] < low[:, None] - SLACK).sum(axis=1)  # surely before
    above = (low[None, :] > high[:, None] + SLACK).sum(axis=1)  # surely after
    rank = 1 + (value[None, :] < value[:, None]).sum(axis=1)
    ranks = np.column_stack([rank, 1 + below, len(totals) - above]).astype(np.float64)  # (T, 3)
    ranks[np.isnan(value)] = np.nan
    return [Rounded(*map(float, row)) for row in ranks]


def _box(*sides: Rounded) -> product:
    return product(*((side.low, side.high) for side in sides))


def _total_variance(share: float, one: float, two: float, gap: float) -> float:
    return share * one**2 + (1 - share) * two**2 + share * (1 - share) * gap**2
