"""Error rates of the instances kept and of those refused at one coverage, with the influence of every instance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from uqassay.metrics.risk.ranked_errors import LEAST, RankedErrors, whole_errors
from uqassay.statistics.samples import Floats

__all__ = ["KeptPart", "Products", "kept_parts"]


class Products(NamedTuple):
    """Sums of squares of the influences on the error rates kept and refused, and of their products."""

    kept: float
    refused: float
    both: float


@final
@dataclass(frozen=True, eq=False)
class KeptPart:
    """Error rates of the instances kept and refused, the error rate near the threshold, and the influences on the first.

    Build it with `kept_parts`.

    Attributes
    ----------
    ranked : RankedErrors
    coverage, threshold : float
    risk, refused_risk, rate : float
    share : float
        Share of the block at the threshold that is kept.
    first, last : int
        First sorted instance of this block, and the first after it.
    masses : tuple of float
        Error mass of the blocks before, of this one and of those after.
    """

    ranked: RankedErrors
    coverage: float
    threshold: float
    risk: float
    refused_risk: float
    rate: float
    share: float
    first: int
    last: int
    masses: tuple[float, float, float]

    @property
    def _slices(self) -> tuple[tuple[slice, float], ...]:
        """Rows that are kept, those of the block at the threshold, and those refused, with the share m that is kept."""
        first, last = self.first, self.last
        return (slice(first), 1.0), (slice(first, last), self.share), (slice(last, None), 0.0)

    def _constant(self, m: float) -> float:
        """The influence on the risk kept is (e m + this) / c."""
        return self.rate * (self.coverage - m) - self.coverage * self.risk

    @property
    def influence(self) -> Floats:
        """Influences on the error rate kept, (n,)."""
        own = np.empty(self.ranked.errors.size)
        for rows, m in self._slices:
            own[rows] = (self.ranked.errors[rows] * m + self._constant(m)) / self.coverage
        return self.ranked.unranked(own)

    @property
    def products(self) -> Products:
        """Sums over instances of weight 1, from the mean and the spread of the errors of those kept and refused."""
        kept = refused = both = 0.0
        c, ranked = self.coverage, self.ranked
        for (rows, m), mass in zip(self._slices, self.masses, strict=True):
            errors = ranked.errors[rows]
            n = errors.size
            if n == 0:
                continue
            square = mass if whole_errors(ranked) else float((errors * errors).sum())
            mean, spread = mass / n, max(square - mass**2 / n, 0.0)
            u = (m * mean + self._constant(m)) / c
            v = ((1 - m) * mean - ranked.error_rate - self._constant(m)) / (1 - c)
            by_error, by_error_refused = m / c, (1 - m) / (1 - c)
            kept += n * u * u + by_error**2 * spread
            refused += n * v * v + by_error_refused**2 * spread
            both += n * u * v + by_error * by_error_refused * spread
        return Products(kept, refused, both)


def kept_parts(ranked: RankedErrors, coverages: Sequence[float]) -> list[KeptPart]:
    """Error rates of the instances kept at coverages in (0, 1) and of those refused, with the influences on the first."""
    coverage = np.maximum(np.asarray(coverages, dtype=np.float64), LEAST)
    blocks, shares = ranked.place(coverage)
    risk = ranked.inside(ranked.wrong, blocks, shares) / ranked.kept[-1] / coverage
    refused = np.clip((ranked.error_rate - coverage * risk) / (1 - coverage), 0.0, 1.0)
    columns = (coverage, ranked.thresholds[blocks], risk, refused, ranked.local_rate(coverage), shares)
    end, before = ranked.wrong[blocks], np.where(blocks > 0, ranked.wrong[blocks - 1], 0.0)
    masses = zip(before.tolist(), (end - before).tolist(), (ranked.wrong[-1] - end).tolist(), strict=True)
    places = [(*_rows_of_block(ranked, block), mass) for block, mass in zip(blocks.tolist(), masses, strict=True)]
    return [KeptPart(ranked, *part, *at) for *part, at in zip(*(c.tolist() for c in columns), places, strict=True)]


def _rows_of_block(ranked: RankedErrors, block: int) -> tuple[int, int]:
    """First sorted instance of a block, and the first after it."""
    if ranked.block is None:
        return block, block + 1
    first, last = np.searchsorted(ranked.block, [block, block + 1])
    return int(first), int(last)
