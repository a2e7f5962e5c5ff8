"""Mixture weights that predict unseen labels: the most likely weights, shrunk towards equal weights by cross-validation.

With many members the most likely weights overfit: they concentrate on few members, and labels drawn from them are less
random than those of the truth. Cross-validation chooses how strongly to shrink them.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks
from uqassay.calibration.score_weights import log_loss_weights

__all__ = ["predictive_weights"]

Floats = NDArray[np.float64]
F = TypeVar("F", np.float32, np.float64)

# pseudo-instances added to each member; equal weights, the limit ∞, are tried as well
STRENGTHS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
N_FOLDS = 10
N_STEPS = 300
SETTLED = 1e-5  # the iteration stops when no weight changes by more
LEAST = 1e-30  # in products with the likelihoods, of which each instance has a 1: no ratio is divided by 0


def predictive_weights(members: Floats, labels: NDArray[np.intp], generator: np.random.Generator) -> Floats:
    """Weights (M,) from which labels of a null hypothesis are drawn.

    They maximise Σ_i ln p_λ(y_i) + c Σ_m ln λ_m by the EM algorithm. Tenfold cross-validation chooses c from eight values:
    c = 0 gives the most likely weights, c = ∞ equal weights.

    Parameters
    ----------
    members : array (n, M, K)
    labels : int array (n,)
    generator : numpy Generator
        Deals the instances to the folds.

    Examples
    --------
    >>> members = np.array([[[0.9, 0.1], [0.2, 0.8]]] * 40)  # labels as of the first member, nine in ten of class 0
    >>> predictive_weights(members, np.array([0] * 36 + [1] * 4), np.random.default_rng(0)).round(2).tolist()
    [1.0, 0.0]
    """
    given = np.take_along_axis(members, labels[:, np.newaxis, np.newaxis], axis=2)[..., 0]  # (n, M)
    top = given.max(axis=1)
    # Scaling a row of likelihoods does not change the maximiser, and its greatest entry 1 prevents underflow.
    shares = given[top > 0] / top[top > 0, np.newaxis]
    n, m = shares.shape
    equal = np.full(m, 1 / m)
    if n < 2:
        return equal if n == 0 else log_loss_weights(members, labels)[0]
    n_folds = min(N_FOLDS, n)
    folds = np.arange(n) % n_folds
    shares = shares[generator.permutation(n)]
    strengths = np.repeat(STRENGTHS, n_folds)
    learning = np.tile(np.arange(n_folds)[:, np.newaxis] != folds, (len(STRENGTHS), 1))  # (C F, n)
    # only the order of the losses counts, for which single precision is enough
    fitted = _fitted(shares.astype(np.float32), learning, strengths).reshape(len(STRENGTHS), n_folds, m)
    losses = [_left_out_loss(shares, folds, weights) for weights in [*fitted, np.tile(equal, (n_folds, 1))]]
    best = int(np.argmin(losses))
    if best == 0:
        return log_loss_weights(members, labels)[0]
    return equal if best == len(STRENGTHS) else _fitted(shares, np.ones((1, n), bool), strengths[[best * n_folds]])[0]


def _fitted(shares: NDArray[F], learning: NDArray[np.bool_], strengths: Floats) -> NDArray[F]:
    """Penalised weights (R, M) of R simultaneous fits; row r of `learning` (R, n) selects the instances (n, M) of fit r."""
    (n, m), dtype = shares.shape, shares.dtype
    weights, added = np.full((len(strengths), m), 1 / m, dtype), strengths[:, np.newaxis].astype(dtype)
    parts = list(row_chunks(n, 3 * dtype.itemsize * len(strengths)))
    room = np.empty((len(strengths), max(part.stop - part.start for part in parts)), dtype)
    chosen = learning.astype(dtype) if len(parts) == 1 else learning
    for _ in range(N_STEPS):
        before, explained = weights, np.zeros_like(weights)
        positive = np.maximum(weights, LEAST)
        for rows in parts:
            block, ratios = shares[rows], room[:, : rows.stop - rows.start]
            np.matmul(positive, block.T, out=ratios)
            np.divide(chosen[:, rows], ratios, out=ratios)
            explained += ratios @ block
        weights = weights * explained + added
        weights /= weights.sum(axis=1, keepdims=True)
        if np.abs(weights - before).max() <= SETTLED:
            break
    return weights


def _left_out_loss(shares: Floats, folds: NDArray[np.intp], weights: NDArray[np.floating[Any]]) -> float:
    """Σ −ln p_λ(y) over instances (n, M), each with the weights (F, M) fitted without its fold."""
    with np.errstate(divide="ignore"):
        return -float(np.log((shares * weights[folds]).sum(axis=1)).sum())
