"""A confidence region for the mixture weights λ, exact for every number of instances.

For any prior π, the ratio of the marginal likelihood ∫ L dπ to the likelihood L(λ0) of the truth has expectation 1, so it
exceeds 1/β with probability at most β (Markov). The set of λ with L(λ) ≥ β ∫ L dπ therefore contains the true λ with
probability at least 1 − β. The argument needs only the expectation, so an unbiased estimate may replace the integral.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["LikelihoodRegion", "likelihood_region"]

Floats = NDArray[np.float64]

PRIOR = 0.5  # Dir(½, …, ½) puts mass near the faces of the simplex, where the most likely λ often lies
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # concentrations of the proposals around the best λ, as shares of n
N_POINTS = 300  # points drawn from each proposal
BISECTIONS = 30
CHUNK = 2**21  # numbers in one block of the largest array


@final
@dataclass(frozen=True, eq=False)
class LikelihoodRegion:
    """The set of λ with log-likelihood of at least `threshold`. It is convex because the log-likelihood is concave.

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
        """Point where the segment from the most likely λ to each target leaves the region, (L, M) -> (L, M)."""
        low, high = np.zeros(len(targets)), np.ones(len(targets))
        low[self.contains(targets)] = 1.0
        # p_λ(y) is linear along the segment, so the products with `given` are needed only at its two ends.
        from_best, to = self.given @ self.best, targets @ self.given.T  # (n,), (L, n)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            share = middle[:, np.newaxis]
            inside = _log_sum((1 - share) * from_best + share * to) >= self.threshold
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return self.best + low[:, np.newaxis] * (targets - self.best)


def likelihood_region(given: Floats, best: Floats, beta: float, generator: np.random.Generator) -> LikelihoodRegion:
    """Region that contains the true λ with probability at least 1 − β if the labels come from p_λ.

    Parameters
    ----------
    given : array (n, M)
        Probability that each member gave to the observed label.
    best : array (M,)
        The most likely λ, see `log_loss_weights`. Any other λ gives a valid but larger region.
    beta : float
        Probability that the region misses the true λ.
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
    """Logarithm of an unbiased estimate of ∫ L dπ, from draws of π and of Dirichlets around the best λ."""
    n, m = given.shape
    alphas = np.array([np.full(m, PRIOR), *(PRIOR + share * n * best for share in SHARES)])  # (P, M)
    points = np.concatenate([generator.dirichlet(alpha, N_POINTS) for alpha in alphas])
    points = np.maximum(points, 1e-300)
    logs = np.log(points) @ (alphas - 1).T + special.gammaln(alphas.sum(axis=1)) - special.gammaln(alphas).sum(axis=1)
    # Importance sampling from the equal mixture of all proposals: π itself is one of them, so no ratio π / q exceeds P.
    proposal = special.logsumexp(logs, axis=1) - np.log(len(alphas))
    return special.logsumexp(_log_likelihood(given, points) + logs[:, 0] - proposal) - np.log(len(points))


def _log_likelihood(given: Floats, weights: Floats) -> Floats:
    step = max(1, CHUNK // len(given))
    parts = [_log_sum(weights[i : i + step] @ given.T) for i in range(0, len(weights), step)]
    return np.concatenate(parts)


def _log_sum(probs: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(probs).sum(axis=-1)
