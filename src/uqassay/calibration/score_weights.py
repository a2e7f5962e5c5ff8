"""Mixture weights with the least log loss or Brier score: convex problems, solved with a certified gap.

A primal-dual interior-point method takes ten to twenty Newton steps for any number of instances. Multiplicative updates (EM)
take thousands if some optimal weights are zero.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from uqassay._array import row_chunks

__all__ = ["ScoreWeights", "brier_weights", "log_loss_weights"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Oracle = Callable[[Floats], tuple[float, Floats, Floats]]  # weights -> value, gradient, Hessian
ScoreWeights = tuple[Floats, float, float]  # weights (M,), mean score, upper bound of its distance from the least score

GAP = 1e-10
NEWTON_STEPS = 200
TO_BOUNDARY = 0.99
NEGLIGIBLE = (1e-3, 1e-5, 1e-7)  # thresholds for setting weights to 0, tried in this order until the gap is kept


def log_loss_weights(members: Floats, labels: Labels) -> ScoreWeights:
    """Weights that minimise the mean of −ln Σ_m λ_m p_m(y) over instances (n, M, K), nats.

    If every member gives the label of an instance probability 0, the loss is infinite for all weights. The weights are then
    fitted to the other instances.
    """
    given = np.take_along_axis(members, labels[:, np.newaxis, np.newaxis], axis=2)[..., 0]  # (n, M)
    top = given.max(axis=1)
    possible = top > 0
    n, m = int(possible.sum()), given.shape[1]
    if n == 0:
        return np.full(m, 1 / m), np.inf, 0.0
    # Scaled rows have the same minimiser and a greatest entry of 1, so products with weights do not underflow.
    shares = given[possible] / top[possible, np.newaxis]
    shift = -float(np.log(top[possible]).mean())

    def oracle(weights: Floats) -> tuple[float, Floats, Floats]:
        mixed = shares @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = shares / mixed[:, np.newaxis]
            value = shift - float(np.log(mixed).mean())
        return value, -ratios.mean(axis=0), ratios.T @ ratios / n

    weights, value, gap = _least_on_simplex(oracle, m)
    return weights, value if n == len(members) else np.inf, gap


def brier_weights(members: Floats, labels: Labels) -> ScoreWeights:
    """Weights that minimise the mean of Σ_c (Σ_m λ_m p_mc − y_c)² over instances (n, M, K)."""
    n, m, k = members.shape
    products, target = np.zeros((m, m)), np.zeros(m)
    for rows in row_chunks(n, 8 * m * k):
        block = members[rows]
        flat = block.transpose(1, 0, 2).reshape(m, -1)
        products += flat @ flat.T
        target += np.take_along_axis(block, labels[rows, np.newaxis, np.newaxis], axis=2)[..., 0].sum(axis=0)
    products, target = products / n, target / n

    def oracle(weights: Floats) -> tuple[float, Floats, Floats]:
        slope = products @ weights
        return float(weights @ slope - 2 * weights @ target + 1), 2 * (slope - target), 2 * products

    return _least_on_simplex(oracle, m)


def _least_on_simplex(oracle: Oracle, m: int) -> ScoreWeights:
    """Minimise a convex function over the simplex; the gap λ·∇f − min ∇f is an upper bound of f(λ) − min f."""
    weights = np.full(m, 1 / m)
    value, slope, curvature = oracle(weights)
    best = weights, value, _gap(weights, slope)
    if m == 1:
        return best
    dual = slope - slope.min() + max(best[2], 1e-3)
    for _ in range(NEWTON_STEPS):
        if best[2] <= GAP:
            break
        barrier = 0.1 * float(weights @ dual) / m
        residuals = _residuals(slope, weights, dual, barrier)
        matrix = np.zeros((m + 1, m + 1))
        matrix[:m, :m] = curvature + np.diag(dual / weights)
        matrix[:m, m] = matrix[m, :m] = 1.0
        right = np.append(-(residuals[:m] + residuals[m:] / weights), 0.0)
        # least squares, because equal members make the matrix singular
        step = np.linalg.lstsq(matrix, right, rcond=None)[0][:m]
        dual_step = -(residuals[m:] + dual * step) / weights
        length = min(_reach(weights, step), _reach(dual, dual_step))
        size = np.linalg.norm(residuals)
        for _ in range(40):
            there = weights + length * step
            there /= there.sum()
            value, new_slope, new_curvature = oracle(there)
            if np.linalg.norm(_residuals(new_slope, there, dual + length * dual_step, barrier)) <= size:
                break
            length /= 2
        weights, dual, slope, curvature = there, dual + length * dual_step, new_slope, new_curvature
        gap = _gap(weights, slope)
        if gap < best[2]:
            best = weights, value, gap
    return _without_traces(oracle, best)


def _residuals(slope: Floats, weights: Floats, dual: Floats, barrier: float) -> Floats:
    """Residuals of the conditions ∇f + ν = z, with the best ν, and λ z = μ, (2M,)."""
    level = float((dual - slope).mean())
    return np.concatenate([slope + level - dual, weights * dual - barrier])


def _reach(values: Floats, step: Floats) -> float:
    """Greatest step of at most 1 that keeps all values positive."""
    down = step < 0
    return min(1.0, TO_BOUNDARY * float((values[down] / -step[down]).min())) if down.any() else 1.0


def _gap(weights: Floats, slope: Floats) -> float:
    return float(weights @ slope - slope.min())


def _without_traces(oracle: Oracle, found: ScoreWeights) -> ScoreWeights:
    """Set weights to 0 that are positive only because of the barrier, if the gap stays as small."""
    for least in NEGLIGIBLE:
        kept = np.where(found[0] < least, 0.0, found[0])
        if kept.any():
            kept /= kept.sum()
            value, slope, _ = oracle(kept)
            gap = _gap(kept, slope)
            if gap <= max(found[2], GAP):
                return kept, value, gap
    return found
