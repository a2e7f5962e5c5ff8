"""Inverted test of a binned calibration error: which errors could have given the gaps that were found?

The true gaps are taken to be a multiple of those found. For each multiple, the bin sums are drawn as if it were true, and the
error of the draws is compared with the error found. With the multiple 0 the classifier is calibrated, so the draws have its
distribution, a mixture of chi-squares for squares; with large multiples they have the normal distribution of a miscalibrated
one. One interval therefore serves both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray

from uqassay.metrics.calibration.group_signs import summed

__all__ = ["BinnedHits", "DrawnSums", "Inversion", "binned_hits", "drawn_of_groups", "drawn_of_instances"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

FEW_GROUPS = 200  # more are drawn as normal sums, fewer by their signs
HALVINGS = 10  # of the bracket of a multiple
DOUBLINGS = 12  # of a multiple, until the gaps reach their limits
SAME = 1e-9  # errors this close are equal
LUCK = 0.1  # least share of calibrated data sets with as small an error that the upper end takes into account
UNSURE = 0.25  # share of the variance of a gap that is added to its square, so that no gap is taken to be exactly 0


@final
@dataclass(frozen=True, eq=False)
class BinnedHits:
    """Sums in the filled bins.

    Attributes
    ----------
    place : int array (n,)
        Filled bin of each instance.
    difference : array (n,)
        Confidence minus hit, d.
    size, expected, excess : array (B,)
        Number of instances, sum of the confidences, and sum of d in each bin.
    chance : array (B,)
        Sum of c (1 − c): the variance of the sum of d if the classifier is calibrated.
    binary : bool
        Whether every hit is 0 or 1.
    """

    place: Rows
    difference: Floats
    size: Floats
    expected: Floats
    excess: Floats
    chance: Floats
    binary: bool

    @property
    def n(self) -> int:
        """Number of instances."""
        return len(self.place)

    def error(self, sums: Floats, norm: str) -> Floats:
        """Σ |E_b| / n, or Σ E_b² / (n_b n), of bin sums (..., B)."""
        if norm == "l1":
            return np.asarray(np.abs(sums) @ np.full(len(self.size), 1 / self.n))
        return np.asarray(sums**2 @ (1 / (self.size * self.n)))


def binned_hits(hits: Floats, confidence: Floats, place: Rows) -> BinnedHits:
    """Sums over the bins at `place` (n,), leaving out empty ones."""
    filled, at = np.unique(place, return_inverse=True)
    at, n_bins = at.reshape(-1), len(filled)

    def over_bins(amounts: Floats | None = None) -> Floats:
        return np.bincount(at, amounts, n_bins).astype(np.float64, copy=False)

    d = confidence - hits
    binary = bool(((hits == 0) | (hits == 1)).all())
    chance = over_bins(confidence * (1 - confidence))
    return BinnedHits(at, d, over_bins(), over_bins(confidence), over_bins(d), np.maximum(chance, 0.0), binary)


class DrawnSums(Protocol):
    """Bin sums of d for given true gaps."""

    independent: ClassVar[bool]

    @property
    def variance(self) -> Floats:
        """Variance of the bin sums (B,), at the gaps found or without gaps."""
        ...

    def sums(self, gaps: Floats) -> Floats:
        """Draws (D, B) of the bin sums if the true gaps are these (B,)."""
        ...

    def spread_of_sizes(self, terms: Floats) -> float:
        """Standard deviation of Σ_b n_b terms_b / n as the shares n_b / n of the bins vary, for terms (B,)."""
        ...


# -- draws ------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class _OfInstances:
    """Independent instances: hits are Bernoulli variables, other hits have the variance found."""

    independent: ClassVar[bool] = True
    bins: BinnedHits
    normal: Floats  # (D, B)
    bent: Floats  # (D, B) normal² − 1
    squares: Floats  # (B,) sums of d²

    @property
    def variance(self) -> Floats:
        return np.maximum(self.bins.chance, 1.0)

    def sums(self, gaps: Floats) -> Floats:
        b = self.bins
        if not b.binary:
            variance = np.maximum(self.squares - 2 * gaps * b.excess + b.size * gaps**2, 0.0)
            return np.asarray(b.size * gaps + self.normal * np.sqrt(variance))
        # each instance has the accuracy c − gap; the sum of their variances needs sums over bins only
        variance = np.maximum(b.chance + gaps * (2 * b.expected - b.size) - b.size * gaps**2, 0.0)
        mean = b.expected - b.size * gaps
        skewed = np.where(
            variance > 0, (1 - 2 * mean / b.size) / 6, 0.0
        )  # Cornish-Fisher: third cumulant over the variance
        hits = self.normal * np.asarray(variance) ** 0.5
        hits += self.bent * skewed
        hits += mean
        np.rint(hits, out=hits)
        np.maximum(hits, 0.0, out=hits)
        np.minimum(hits, b.size, out=hits)
        return np.subtract(b.expected, hits, out=hits)

    def spread_of_sizes(self, terms: Floats) -> float:
        mean = float(self.bins.size @ terms) / self.bins.n
        return float(np.sqrt(self.bins.size @ (terms - mean) ** 2)) / self.bins.n


@final
@dataclass(frozen=True, eq=False)
class _OfGroups:
    """Whole groups: signs of their deviations from the gaps (few), or normal sums with their covariance (many)."""

    independent: ClassVar[bool] = False
    size: Floats  # (B,)
    excess: Floats  # (B,)
    signed: tuple[Floats, Floats] | None  # (D, B) each: signs times the groups' sums of d, and times their sizes
    normal: Floats | None  # (D, B)
    moments: tuple[Floats, Floats, Floats]  # (B, B): SᵀS, SᵀN, NᵀN

    @property
    def variance(self) -> Floats:
        gaps = self.excess / self.size
        ss, sn, nn = (np.diagonal(each) for each in self.moments)
        return np.asarray(ss - 2 * gaps * sn + gaps**2 * nn)

    def sums(self, gaps: Floats) -> Floats:
        return np.asarray(self.size * gaps + self._deviations(gaps))

    def _deviations(self, gaps: Floats) -> Floats:
        if self.signed is not None:
            return np.asarray(self.signed[0] - self.signed[1] * gaps)
        assert self.normal is not None
        ss, sn, nn = self.moments
        cross = sn * gaps
        covariance = ss - cross - cross.T + nn * np.outer(gaps, gaps)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.asarray(np.maximum(values, 0.0)) ** 0.5
        return np.asarray(self.normal @ root.T)

    def spread_of_sizes(self, terms: Floats) -> float:
        n = float(self.size.sum())
        centred = terms - float(self.size @ terms) / n
        return max(float(centred @ self.moments[2] @ centred), 0.0) ** 0.5 / n


def drawn_of_instances(bins: BinnedHits, n_draws: int, rng: np.random.Generator) -> DrawnSums:
    """Draws for independent instances."""
    squares = np.asarray(np.bincount(bins.place, bins.difference**2, len(bins.size)), dtype=np.float64)
    normal = rng.standard_normal((n_draws, len(bins.size)))
    return _OfInstances(bins, normal, normal**2 - 1, squares)


def drawn_of_groups(bins: BinnedHits, groups: Rows, n_groups: int, n_draws: int, rng: np.random.Generator) -> DrawnSums:
    """Draws for whole groups, numbered 0 … G − 1."""
    shape = (n_groups, len(bins.size))
    sums = summed(groups, bins.place, bins.difference, shape)
    sizes = summed(groups, bins.place, np.ones(bins.n), shape)
    ss, sn, nn = (_dense(a.T @ b) for a, b in ((sums, sums), (sums, sizes), (sizes, sizes)))
    if n_groups <= FEW_GROUPS:
        signs = 2.0 * rng.integers(0, 2, (n_draws, n_groups)) - 1.0
        return _OfGroups(bins.size, bins.excess, (_dense(signs @ sums), _dense(signs @ sizes)), None, (ss, sn, nn))
    return _OfGroups(bins.size, bins.excess, None, rng.standard_normal((n_draws, len(bins.size))), (ss, sn, nn))


def _dense(matrix: object) -> Floats:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


# -- inversion --------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Inversion:
    """The errors that a two-sided test does not reject.

    Attributes
    ----------
    bins : BinnedHits
    drawn : DrawnSums
    norm : {"l1", "squared"}
    shaken : array (D,)
        Standard normal draws for the shares of the bins.
    """

    bins: BinnedHits
    drawn: DrawnSums
    norm: str
    shaken: Floats

    @property
    def found(self) -> float:
        """The error found, with the part that noise adds."""
        return float(self.bins.error(self.bins.excess, self.norm))

    def of_calibrated(self) -> float:
        """Mean error found of a calibrated classifier."""
        return float(self.bins.error(self.drawn.sums(np.zeros(len(self.bins.size))), self.norm).mean())

    def interval(self, level: float) -> tuple[float, float]:
        """Least and greatest error that is not rejected at (1 − level) / 2 on its side."""
        tail = (1 - level) / 2
        return self._low(tail), self._high(tail)

    def _patterns(self) -> list[Mask]:
        """Signs that the true gaps may have, True for too confident; a gap that can be noise may have either sign."""
        b = self.bins
        found, noise = b.excess > 0, b.excess**2 <= 4 * self.drawn.variance
        if self.drawn.independent:
            # the bins of a sure classifier that makes no error are clipped at once on the side found: take the side with room
            return [np.where(noise, b.expected > 0.5 * b.size, found)]
        return [found, found | noise, found & ~noise]  # with groups the errors of bins go together

    def _gaps(self, multiple: float, pattern: Mask) -> Floats:
        """True gaps of this multiple, at most so large that accuracies stay in [0, 1]."""
        b = self.bins
        confidence = b.expected / b.size
        unsure = UNSURE * (b.chance + 1) / (b.size + 1) ** 2  # "+ 1": a bin of certain hits is not certain
        length = np.asarray((b.excess / (b.size + 1)) ** 2 + unsure) ** 0.5
        return np.clip(multiple * np.where(pattern, length, -length), np.minimum(confidence - 1, 0.0), confidence)

    def _at(self, multiple: float, pattern: Mask) -> tuple[float, Floats]:
        """The true error of a multiple of the gaps, and draws of the error found (D,)."""
        gaps = self._gaps(multiple, pattern)
        truth = float(self.bins.error(self.bins.size * gaps, self.norm))
        terms = np.abs(gaps) if self.norm == "l1" else gaps**2
        draws = self.bins.error(self.drawn.sums(gaps), self.norm)
        return truth, draws + self.drawn.spread_of_sizes(terms) * self.shaken

    def _low(self, tail: float) -> float:
        found, pattern = self.found, self._patterns()[0]

        def rejected(multiple: float) -> bool:
            draws = self._at(multiple, pattern)[1]
            return bool((1 + (draws >= found - SAME).sum()) / (1 + len(draws)) < tail)

        if not rejected(0.0):
            return 0.0
        return self._at(_last(rejected), pattern)[0]

    def _high(self, tail: float) -> float:
        return max(self._high_of(tail, pattern) for pattern in self._patterns())

    def _high_of(self, tail: float, pattern: Mask) -> float:
        found = self.found

        def reached(multiple: float) -> float:
            draws = self._at(multiple, pattern)[1]
            return float((1 + (draws <= found + SAME).sum()) / (1 + len(draws)))

        # Gaps that are small by luck would give an end near 0, or none: the share among calibrated data sets with gaps as small
        # counts (Read 2002), which makes the interval wider near 0 and nowhere else
        least = tail * max(reached(0.0), LUCK)
        return self._at(_last(lambda multiple: reached(multiple) >= least), pattern)[0]


def _last(holds: Callable[[float], bool]) -> float:
    """The greatest multiple for which a statement still holds; it holds for 0."""
    low, high = 0.0, 1.0
    for _ in range(DOUBLINGS):
        if not holds(high):
            break
        low, high = high, 2 * high
    else:
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
