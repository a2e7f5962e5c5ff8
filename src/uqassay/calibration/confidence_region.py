"""Which mixtures of members the labels leave possible: a confidence region for λ that holds for every number of instances.

For any prior π, the ratio of the marginal likelihood ∫ L dπ to the likelihood L(λ0) of the truth has expectation 1, so it
exceeds 1/β with probability at most β (Markov). The λ with L(λ) ≥ β ∫ L dπ are therefore a region that holds the truth with
probability at least 1 − β. An unbiased estimate in place of the integral keeps that exact.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["LikelihoodRegion", "likelihood_region"]

Floats = NDArray[np.float64]

PRIOR = 0.5  # Dir(½, …, ½) wastes least near the faces
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # concentrations of the proposals around the best λ, as shares of n
N_POINTS = 300  # points of each proposal
BISECTIONS = 30
CHUNK = 2**21  # numbers at once


@final
@dataclass(frozen=True, eq=False)
class LikelihoodRegion:
    """The λ whose log-likelihood is at least `threshold`; a convex set, as the log-likelihood is concave.

    Attributes
    ----------
    given : array (n, M)
        Probability that each member gave to the label of each instance.
    best : array (M,)
        The most likely λ.
    threshold : float
        ln ∫ L dπ − ln(1/β), in nats; −inf where no mixture gives every label a positive probability.
    """

    given: Floats
    best: Floats
    threshold: float

    def log_likelihood(self, weights: Floats) -> Floats:
        """Σ ln p_λ(y), (L, M) -> (L,), in nats."""
        return _log_likelihood(self.given, weights)

    def contains(self, weights: Floats) -> NDArray[np.bool_]:
        """Whether λ lies in the region, (L, M) -> (L,)."""
        return self.log_likelihood(weights) >= self.threshold

    def towards(self, targets: Floats) -> Floats:
        """The last point of the region on the way from the most likely λ to each target, (L, M) -> (L, M)."""
        low, high = np.zeros(len(targets)), np.ones(len(targets))
        low[self.contains(targets)] = 1.0
        from_best, to = self.given @ self.best, targets @ self.given.T  # (n,), (L, n)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            share = middle[:, np.newaxis]
            inside = _log_sum((1 - share) * from_best + share * to) >= self.threshold
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return self.best + low[:, np.newaxis] * (targets - self.best)


def likelihood_region(given: Floats, best: Floats, beta: float, generator: np.random.Generator) -> LikelihoodRegion:
    """Region that holds the true λ with probability at least 1 − β where labels come from p_λ.

    Parameters
    ----------
    given : array (n, M)
        Probability that each member gave to the label that came.
    best : array (M,)
        The most likely λ, see `log_loss_weights`; any other λ gives a valid region too, only a larger one.
    beta : float
        Probability of missing the truth.
    generator : numpy Generator
        For the estimate of ∫ L dπ.

    References
    ----------
    Wasserman, Ramdas, Balakrishnan (2020), Universal inference. Robbins (1970), Statistical methods related to the law of
    the iterated logarithm.

    Examples
    --------
    >>> given = np.tile([0.8, 0.2], (50, 1))  # 50 labels, each four times as likely under member 0
    >>> region = likelihood_region(given, np.array([1.0, 0.0]), 0.001, np.random.default_rng(0))
    >>> region.contains(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [True, False]
    """
    threshold = _log_marginal(given, best, generator) - np.log(1 / beta)
    return LikelihoodRegion(given, best, float(threshold))


def _log_marginal(given: Floats, best: Floats, generator: np.random.Generator) -> Floats:
    """Unbiased estimate of ∫ L dπ, as its logarithm: points from π and from Dirichlets around the best λ, together."""
    n, m = given.shape
    alphas = np.array([np.full(m, PRIOR), *(PRIOR + share * n * best for share in SHARES)])  # (P, M)
    points = np.concatenate([generator.dirichlet(alpha, N_POINTS) for alpha in alphas])
    points = np.maximum(points, 1e-300)
    logs = np.log(points) @ (alphas - 1).T + special.gammaln(alphas.sum(axis=1)) - special.gammaln(alphas).sum(axis=1)
    proposal = special.logsumexp(logs, axis=1) - np.log(len(alphas))
    return special.logsumexp(_log_likelihood(given, points) + logs[:, 0] - proposal) - np.log(len(points))


def _log_likelihood(given: Floats, weights: Floats) -> Floats:
    step = max(1, CHUNK // len(given))
    parts = [_log_sum(weights[i : i + step] @ given.T) for i in range(0, len(weights), step)]
    return np.concatenate(parts)


def _log_sum(probs: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(probs).sum(axis=-1)
