"""Error rates of the instances kept and of those refused at one coverage, with the influence of every instance."""

from dataclasses import dataclass

import numpy as np

from uqassay.metrics.risk.ranked_errors import LEAST, RankedErrors
from uqassay.statistics.samples import Floats
from uqassay.statistics.tied_samples import TiedSample

__all__ = ["KeptPart", "kept_part", "refused_part"]


@dataclass(frozen=True, eq=False, slots=True)
class KeptPart:
    """Error rate of the instances kept (or refused), its influences (n,), and the error rate near the threshold."""

    risk: float
    rate: float
    influence: Floats
    tied: tuple[TiedSample, ...] = ()


def kept_part(ranked: RankedErrors, coverage: float) -> KeptPart:
    """Error rate of the instances kept at a coverage, and the influence of every instance on it."""
    coverage = max(coverage, LEAST)
    at = np.array([coverage])
    k, f = ranked.place(at)
    a = float(ranked.inside(ranked.wrong, k, f)[0]) / float(ranked.kept[-1])
    rate, share, errors = float(ranked.local_rate(at)[0]), float(f[0]), ranked.errors
    # instances that are kept, those of the block at the threshold, and those refused
    first, last = _rows_of_block(ranked, int(k[0]))
    own = np.empty(errors.size)
    tied: tuple[TiedSample, ...] = ()
    for rows, m in ((slice(first), 1.0), (slice(first, last), share), (slice(last, None), 0.0)):
        own[rows] = ((errors[rows] * m - a) + rate * (coverage - m)) / coverage
    if ranked.block is not None:
        kept = np.repeat([1.0, share, 0.0], [first, last - first, errors.size - last])
        threshold = rate * (coverage - kept)
        tied = ranked.tied_samples((kept + threshold) / coverage, threshold / coverage)
    return KeptPart(a / coverage, rate, ranked.unranked(own), tied)


def _rows_of_block(ranked: RankedErrors, block: int) -> tuple[int, int]:
    """First sorted instance of a block, and the first after it."""
    if ranked.block is None:
        return block, block + 1
    first, last = np.searchsorted(ranked.block, [block, block + 1])
    return int(first), int(last)


def refused_part(ranked: RankedErrors, coverage: float, kept: KeptPart) -> KeptPart:
    """Error rate of the instances refused, from that of all and that of those kept."""
    risk = min(max((ranked.error_rate - coverage * kept.risk) / (1 - coverage), 0.0), 1.0)
    return KeptPart(risk, kept.rate, (ranked.residuals - coverage * kept.influence) / (1 - coverage))
