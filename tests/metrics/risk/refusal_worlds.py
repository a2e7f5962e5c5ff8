"""Populations whose risk at every threshold is known, from which data sets of a certified refusal are drawn."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special
from tests.metrics.risk.test_error_rates import Population

SIZES = np.array([1, 2, 4, 8])  # of groups, all equally frequent: half of the instances are in the largest
HARDER = 1e-9  # by which the risk at a threshold exceeds the limit in the hard cases


@dataclass(frozen=True)
class World:
    """Independent instances; scores of `Population`.

    Attributes
    ----------
    rate, auc : float
    kind : str
        Of ties, as in `Population`.
    risk : float
        The limit; 0 stands for the true risk at the fourth of five levels, which exceeds it by a hair.
    n_scores : int
        With several, all useless and independent, the choosing part takes one.
    """

    rate: float
    auc: float
    kind: str = ""
    risk: float = 0.05
    n_scores: int = 1

    @cached_property
    def population(self):
        return Population(self.rate, self.auc, self.kind)

    @cached_property
    def limit(self):
        if self.risk:
            return self.risk
        return float(self.population.wrong[3] / self.population.kept[3]) * (1 - HARDER)

    def draw(self, rng, n):
        """Errors, scores (S, n) and groups."""
        errors, scores, _ = self.population.draw(rng, n)
        more = [rng.normal(size=n) for _ in range(self.n_scores - 1)]
        return errors, np.stack([scores, *more]), None

    def risk_at(self, threshold):
        """True error rate of the cases kept, and the share kept."""
        p = self.population
        if p.cuts.size:
            inside = np.arange(p.cuts.size + 1) <= threshold  # values of np.digitize
            kept, wrong = np.diff(p.kept, prepend=0.0)[inside].sum(), np.diff(p.wrong, prepend=0.0)[inside].sum()
        else:
            wrong = p.rate * special.ndtr(threshold - p.shift)
            kept = (1 - p.rate) * special.ndtr(threshold) + wrong
        return (wrong / kept if kept > 0 else 0.0), kept


@dataclass(frozen=True)
class Groups:
    """Groups of 1 to 8 instances.

    Attributes
    ----------
    rate, shift : float
        Error rate, and the shift of the scores of errors.
    correlation : float
        Of errors, and of scores, inside groups; 1: a group is wrong or right as a whole.
    harder : float
        By which the larger half of the groups is harder than the smaller, on the normal scale.
    risk : float
    """

    rate: float
    shift: float
    correlation: float = 0.5
    harder: float = 0.0
    risk: float = 0.1
    n_scores: int = 1

    @property
    def limit(self):
        return self.risk

    def draw(self, rng, n):
        """Errors, scores (1, n) and groups; at least three groups."""
        sizes = rng.choice(SIZES, max(round(n / SIZES.mean()), 3))
        errors, scores, groups = self._draw(rng, sizes)
        return errors, scores[np.newaxis], groups

    def _draw(self, rng, sizes):
        groups = np.repeat(np.arange(sizes.size), sizes)
        own, common = rng.normal(size=(2, groups.size)), rng.normal(size=(2, sizes.size))[:, groups]
        z, u = np.sqrt(self.correlation) * common + np.sqrt(1 - self.correlation) * own
        large, small = self._cuts
        errors = (z < np.where(sizes[groups] > SIZES[1], large, small)).astype(float)
        return errors, u + self.shift * errors, groups

    @cached_property
    def _cuts(self):
        """Normal quantiles of the error rates of large and of small groups, whose mean over instances is the rate."""
        large = SIZES[2:].sum() / SIZES.sum()
        low, high = -9.0, 9.0
        for _ in range(80):
            middle = (low + high) / 2
            rate = large * special.ndtr(middle + self.harder) + (1 - large) * special.ndtr(middle)
            low, high = (middle, high) if rate < self.rate else (low, middle)
        return low + self.harder, low

    def risk_at(self, threshold):
        """True error rate of the cases kept, and the share kept."""
        # errors and scores are normal given an error, whatever the group: the risk is that of the margins
        wrong = self.rate * special.ndtr(threshold - self.shift)
        kept = (1 - self.rate) * special.ndtr(threshold) + wrong
        return (wrong / kept if kept > 0 else 0.0), kept
