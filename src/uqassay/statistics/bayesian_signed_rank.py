"""The Bayesian signed-rank test: probabilities that one model is practically better, equal or worse on a new data set."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import generator
from uqassay.errors import InputError
from uqassay.statistics.samples import Floats, as_floats, check_draws, is_number

__all__ = ["BayesianSignedRank", "bayesian_signed_rank_test"]

CHUNK = 2**22  # weights that are drawn together


@final
@dataclass(frozen=True, eq=False)
class BayesianSignedRank:
    """Result of a Bayesian signed-rank test.

    Attributes
    ----------
    left, rope, right : float
        Posterior probabilities that the differences lie mostly below −`width`, inside, or above `width`; they sum to 1.
    shares : array (B, 3)
        For each draw of the posterior, the share of the means of two differences that lies in each region.
    width : float
        Half the width of the region of practical equivalence, which is [−`width`, `width`]; 0 for none.
    strength : float
        Weight of the pseudo-observation.
    n : int
        Number of differences.
    """

    left: float
    rope: float
    right: float
    shares: Floats
    width: float
    strength: float
    n: int

    @property
    def n_draws(self) -> int:
        """B."""
        return len(self.shares)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer, without the draws."""
        fields = ("left", "rope", "right", "width", "strength", "n", "n_draws")
        return {name: getattr(self, name) for name in fields}


def bayesian_signed_rank_test(
    differences: ArrayLike,
    *,
    rope: float = 0.0,
    strength: float = 0.5,
    n_draws: int = 50_000,
    rng: int | np.random.Generator | None = None,
) -> BayesianSignedRank:
    """Posterior probabilities that differences lie mostly below, inside or above a region of practical equivalence.

    Parameters
    ----------
    differences : array_like, shape (N,)
        One for each independent unit, such as a data set.
    rope : float
        Differences between −rope and rope are practically none. With 0 there are two regions, which share the means that are 0.
    strength : float
        Weight s of the prior's pseudo-observation 0, in numbers of data sets.
    n_draws : int
        B.
    rng : int or Generator, optional
        None means seed 0.

    Returns
    -------
    test : BayesianSignedRank

    Raises
    ------
    InputError
        A difference is nan or infinite, a negative rope, a strength that is not positive, too few draws.

    Notes
    -----
    With z₀ = 0 and w drawn from a Dirichlet distribution with the weights (s, 1, …, 1), the shares are Σᵢₖ wᵢ wₖ [(zᵢ + zₖ) / 2
    in the region]; a mean at an edge counts half on each side, as in the authors' package baycomp. `left`, `rope` and `right`
    are the parts of the draws in which each share is the greatest. The probabilities are of one pair of models by itself: no
    error rate is promised, and none is adjusted for several pairs.

    References
    ----------
    Benavoli, Corani, Demšar, Zaffalon (2017), Time for a change: a tutorial for comparing multiple classifiers through Bayesian
    analysis, J. Mach. Learn. Res. 18, section 4.2; Benavoli, Mangili, Corani, Zaffalon, Ruggeri (2014), A Bayesian Wilcoxon
    signed-rank test based on the Dirichlet process, ICML.

    Examples
    --------
    >>> test = bayesian_signed_rank_test([0.03, 0.02, 0.04, 0.005, 0.03, 0.02], rope=0.01, n_draws=2000)
    >>> [round(p, 1) for p in (test.left, test.rope, test.right)]
    [0.0, 0.0, 1.0]
    """
    d = as_floats(differences, "differences", ndim=(1,), shape="(N,)")
    if np.isinf(d).any():
        row = int(np.flatnonzero(np.isinf(d))[0])
        raise InputError(
            "differences", "must be finite", f"row {row} has {d[row]}", "leave out that unit", code="finite"
        )
    if not is_number(rope) or not 0 <= rope < np.inf:
        raise InputError("rope", "must be 0 or a positive number", f"got {rope!r}", "pass 0.01, say", code="range")
    if not is_number(strength) or not 0 < strength < np.inf:
        raise InputError("strength", "must be positive", f"got {strength!r}", "pass 0.5, say", code="range")
    check_draws(n_draws)
    z = np.concatenate([[0.0], d])
    sums = z[:, np.newaxis] + z
    below, above = _beyond(-sums, 2 * rope), _beyond(sums, 2 * rope)
    shares = np.empty((n_draws, 3))
    random, step = generator(rng), max(1, CHUNK // z.size)
    for start in range(0, n_draws, step):
        weights = random.standard_gamma([strength, *np.ones(d.size)], size=(min(step, n_draws - start), z.size))
        weights /= weights.sum(axis=1, keepdims=True)
        part = shares[start : start + step]
        part[:, 0] = ((weights @ below) * weights).sum(axis=1)
        part[:, 2] = ((weights @ above) * weights).sum(axis=1)
    shares[:, 1] = np.maximum(1 - shares[:, 0] - shares[:, 2], 0.0) if rope > 0 else 0.0
    left, inside, right = _most(shares)
    return BayesianSignedRank(left, inside, right, shares, float(rope), float(strength), d.size)


def _beyond(sums: Floats, edge: float) -> Floats:
    """1 beyond the edge, ½ on it."""
    near = 1e-12 * np.abs(sums).max()
    return np.where(np.abs(sums - edge) <= near, 0.5, np.where(sums > edge, 1.0, 0.0))


def _most(shares: Floats) -> tuple[float, float, float]:
    """Part of the draws in which each share is the greatest; equal ones divide the draw."""
    most: NDArray[np.bool_] = shares >= shares.max(axis=1, keepdims=True)
    left, inside, right = (most / most.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return left, inside, right
