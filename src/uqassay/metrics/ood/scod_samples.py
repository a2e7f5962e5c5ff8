"""Errors and out-of-distribution inputs in one risk: the losses of two samples, and their areas with influences.

A kept instance costs β if it is in distribution and wrong, 1 − β if it is out of distribution, and 0 if it is right. Areas
and risks are those of `metrics.risk` for these losses. The two samples are independent, so each is centred separately.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.metrics.ood.two_samples import TwoSamples, two_samples
from uqassay.metrics.risk.ranked_errors import RankedErrors, rank_errors
from uqassay.metrics.risk.risk_area_influences import augrc, aurc
from uqassay.statistics.linearised import Linearised
from uqassay.statistics.samples import Floats, as_floats

__all__ = ["ScodSamples", "Statistic", "augrc_of", "aurc_of", "risk_at", "scod_samples"]

# an area or a risk of ranked losses, with the influence of every instance
Statistic = Callable[[RankedErrors], Linearised]


@final
@dataclass(frozen=True, eq=False)
class ScodSamples:
    """Checked scores and losses of two samples, rows in the order given. Build it with `scod_samples`.

    Attributes
    ----------
    samples : TwoSamples
    errors : array (n,)
        1 for a wrong prediction in distribution, 0 for a right one, or the probability that it is wrong; 0 for rows out of
        distribution.
    error_cost : float
        β, the cost of a kept error; a kept instance out of distribution costs 1 − β.
    share_out : float
        α, the share of the weight that is out of distribution.
    mixed : array (n,) or None
        Weights with which the samples have these shares; None if all are 1.
    """

    samples: TwoSamples
    errors: Floats
    error_cost: float
    share_out: float
    mixed: Floats | None

    @property
    def losses(self) -> Floats:
        """Cost of keeping each instance, (n,)."""
        return np.where(self.samples.is_out, 1.0 - self.error_cost, self.error_cost * self.errors)

    @cached_property
    def ranked(self) -> RankedErrors:
        """The losses sorted by uncertainty, once for all statistics."""
        return rank_errors(self.losses, self.samples.uncertainty, self.mixed)

    @cached_property
    def without_errors(self) -> "ScodSamples":
        """The same samples with right predictions alone."""
        return replace(self, errors=np.zeros_like(self.errors))

    def linearised(self, statistic: Statistic) -> Linearised:
        """A statistic of the losses, with influences that are centred in each sample, because its share is given."""
        whole = statistic(self.ranked)
        w = np.ones(self.errors.size) if self.mixed is None else self.mixed
        v = np.ones(self.errors.size) if self.samples.weights is None else self.samples.weights
        parts = []
        sides = (self.samples.is_out, ~self.samples.is_out)
        for side in sides:
            influence = whole.influence - whole.influence[np.argmax(side & (w > 0))]  # equal ones become exactly 0
            inside = np.where(side, w, 0.0)
            centred = influence - float((inside * influence).sum()) / float(inside.sum())
            # Σ w ψ / Σ w with the weights of the mixture, written with the weights that were given
            factor = float(inside.sum()) / float(w.sum()) * float(v.sum()) / float(v[side].sum())
            parts.append(np.where(side, centred * factor, 0.0))
        return Linearised(whole.value, parts[0] + parts[1], (parts[0], parts[1]), sides)

    def extremes(self, statistic: Statistic) -> tuple[float, float]:
        """Least and greatest value at these costs and shares.

        Least: no errors, and every instance in distribution is kept first. Greatest: errors alone, the dearest kept first.
        """
        return _extremes(statistic, self.error_cost, self.share_out)

    def contaminated(self, statistic: Statistic, share: float, *, out: bool, wrong: bool, first: bool) -> float:
        """The statistic after a share of one sample was replaced by an instance that is kept first, or last.

        Parameters
        ----------
        statistic : Statistic
        share : float
        out : bool
            The sample out of distribution, whose instances always cost 1 − β; else that in distribution.
        wrong : bool
            The instance is an error.
        first : bool
        """
        side = self.samples.is_out == out
        cost = 1.0 - self.error_cost if out else self.error_cost * wrong
        w = np.ones(self.errors.size) if self.mixed is None else self.mixed
        return statistic(
            rank_errors(
                np.append(self.losses, cost),
                np.append(self.samples.uncertainty, -np.inf if first else np.inf),
                np.append(np.where(side, w * (1 - share), w), share * float(w[side].sum())),
            )
        ).value


@lru_cache(maxsize=16)  # of all scores and runs
def _extremes(statistic: Statistic, error_cost: float, share_out: float) -> tuple[float, float]:
    shares, costs = [1.0 - share_out, share_out], np.array([error_cost, 1.0 - error_cost])
    best = statistic(rank_errors([0.0, costs[1]], [0.0, 1.0], shares)).value
    return best, statistic(rank_errors(costs, -costs, shares)).value


def scod_samples(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> ScodSamples:
    """Check the arrays of two samples, the cost and the share.

    Raises
    ------
    InputError
        As `two_samples`; also where errors in distribution are nan or lie outside [0, 1], the cost lies outside [0, 1], or the
        share outside (0, 1).

    Examples
    --------
    >>> found = scod_samples([0, 0, 1], [0, 1, 0], [0.1, 0.2, 0.3], error_cost=0.75)
    >>> found.losses.tolist(), round(found.share_out, 4)
    ([0.0, 0.75, 0.25], 0.3333)
    """
    samples = two_samples(is_out, uncertainty, sample_weight=sample_weight, groups=groups)
    return with_errors(samples, errors, error_cost=error_cost, share_out=share_out)


def with_errors(
    samples: TwoSamples, errors: ArrayLike, *, error_cost: float = 0.5, share_out: float | None = None
) -> ScodSamples:
    """`scod_samples` from two samples that are checked already."""
    check_costs(error_cost, share_out)
    w = samples.weights
    by_side = [float(side.sum() if w is None else w[side].sum()) for side in (~samples.is_out, samples.is_out)]
    share = by_side[1] / sum(by_side)
    if share_out is not None:
        factors = (1.0 - share_out) / (1.0 - share), share_out / share
        w = np.where(samples.is_out, factors[1], factors[0]) * (1.0 if w is None else w)
        share = float(share_out)
    return ScodSamples(samples, _checked(errors, samples), float(error_cost), share, w)


def _checked(errors: ArrayLike, samples: TwoSamples) -> Floats:
    """Errors in distribution, and 0 elsewhere, where they mean nothing."""
    given = np.asarray(errors)
    n = samples.is_out.size
    if given.shape != (n,):
        raise InputError(
            "errors",
            f"needs one value for each of the {n} instances of is_out",
            f"got shape {given.shape}",
            "align them first; out of distribution any value will do",
            code="mismatch",
        )
    found = np.zeros(n)
    found[~samples.is_out] = as_floats(given[~samples.is_out], "errors", ndim=(1,), shape="(n,)")
    outside = np.flatnonzero((found < 0) | (found > 1))
    if outside.size:
        raise InputError(
            "errors",
            "must lie in [0, 1] in distribution",
            f"row {outside[0]} is {found[outside[0]]:g}",
            "give 1 for a wrong prediction, 0 for a right one, or the probability that it is wrong",
            code="range",
        )
    return found


def check_costs(error_cost: float, share_out: float | None) -> None:
    """Refuse a cost outside [0, 1] and a share outside (0, 1)."""
    if not 0.0 <= error_cost <= 1.0:
        raise InputError(
            "error_cost",
            "must lie in [0, 1]",
            f"got {error_cost}",
            "pass 0.5 for equal costs of errors and of inputs out of distribution",
            code="range",
        )
    if share_out is not None and not 0.0 < share_out < 1.0:
        raise InputError(
            "share_out",
            "must lie strictly between 0 and 1",
            f"got {share_out}",
            "pass the share of inputs out of distribution expected in use, or None for that of the samples",
            code="range",
        )


# -- statistics of ranked losses --------------------------------------------------------------------------------------


def aurc_of(ranked: RankedErrors) -> Linearised:
    """Area under the risk-coverage curve."""
    return aurc(ranked)


def augrc_of(ranked: RankedErrors) -> Linearised:
    """Area under the generalised risk-coverage curve."""
    return augrc(ranked)


def risk_at(coverage: float) -> Statistic:
    """The mean loss of the instances kept at a coverage, as a statistic.

    With the kept share m of each instance, c = Σ w m / Σ w and A = Σ w ℓ m / Σ w, the risk A / c has the influence
    ((ℓ m − A) + ε (c − m)) / c, where ε is the mean loss near the threshold.
    """

    def risk(ranked: RankedErrors) -> Linearised:
        (k,), (f,) = ranked.place(np.array([coverage]))
        mass = float(ranked.inside(ranked.wrong, np.array([k]), np.array([f]))[0]) / float(ranked.kept[-1])
        block = np.arange(ranked.order.size) if ranked.block is None else ranked.block
        m = np.where(block < k, 1.0, np.where(block == k, f, 0.0))
        near = float(ranked.local_rate(np.array([coverage]))[0])
        influence = ((ranked.errors * m - mass) + near * (coverage - m)) / coverage
        return Linearised(mass / coverage, ranked.unranked(influence))

    return risk
