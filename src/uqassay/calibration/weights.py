"""Weights of an ensemble's members that are fitted, and what they do to its predictions."""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple, Self, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState, row_chunks
from uqassay.arrays import generator as as_generator
from uqassay.calibration.mixtures import MixtureObjective, Mixtures, hard_labels, member_array
from uqassay.calibration.search import THOROUGH, SimplexSearch, check_search, minimise_over_simplex
from uqassay.checks import fail, number
from uqassay.metrics.measures import CalibrationMeasure, calibration_measure
from uqassay.metrics.smooth import prepare_brier, prepare_log_score
from uqassay.predictions import Point, as_prediction
from uqassay.statistics.units import make_units

__all__ = [
    "EnsembleWeights",
    "Parts",
    "log_loss_weights",
    "predictive_weights",
    "two_parts",
]


# Mixture weights with the least log loss or Brier score: convex problems, solved with a certified gap.
#
# A primal-dual interior-point method takes ten to twenty Newton steps for any number of instances. Multiplicative
# updates (EM) take thousands if some optimal weights are zero.

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


# Estimator of the convex combination of members with the least calibration error or the best proper score.


@final
class EnsembleWeights:
    """Weights λ of an ensemble's members, the same for every instance, that minimise a measure of Σ_m λ_m p_m.

    Parameters
    ----------
    measure : str or CalibrationMeasure
        The measure to minimise: a calibration measure, or the proper score "log-loss" or "brier".
    search : SimplexSearch, optional
        Effort of the search for the least calibration error; `THOROUGH` by default. The scores are convex and need none.
    rng : int or numpy Generator, optional
        For the search; None means seed 0.

    Notes
    -----
    A calibration measure selects the combination that is best calibrated on the given labels (credal calibration, line 7 of
    algorithm 1) and ignores accuracy: an uninformative combination may win. A proper score weighs both. Measure the effect
    on other instances, as `weighted_average_effect` does. Permuting the members permutes the weights.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.tile([[0.8, 0.2]], (10, 1))
    >>> members = np.stack([truth, np.tile([[0.3, 0.7]], (10, 1))], axis=1)
    >>> labels = [0, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    >>> fitted = EnsembleWeights("log-loss").fit(members, labels)
    >>> fitted.weights_.tolist(), fitted.predict(members[:1]).probs.round(3).tolist()
    ([1.0, 0.0], [[0.8, 0.2]])
    """

    #: (M,): not negative, with sum 1. Members that are equal in every instance share their weight equally.
    weights_: Floats
    #: the measure at these weights, on the instances of `fit`. The log loss is infinite if every member gives some label the
    #: probability 0; the weights are then fitted to the other instances.
    value_: float
    #: upper bound of `value_` minus the least value, proven for the scores; nan for calibration measures, whose many local
    #: minima allow no such bound
    gap_: float

    def __init__(
        self,
        measure: str | CalibrationMeasure = "ece-confidence",
        *,
        search: SimplexSearch | None = None,
        rng: RandomState = None,
    ) -> None:
        self.measure, self.search, self.rng = measure, search, rng

    def fit(self, members: Any, y: ArrayLike) -> Self:
        """Find the weights.

        Parameters
        ----------
        members : Members, or array (n, M, K)
        y : array_like of int, shape (n,)
            Class of each instance.
        """
        chosen = calibration_measure(self.measure)
        check_search(self.search)
        probs = member_array(members)
        labels = hard_labels(y, len(probs), probs.shape[2], "y", members=members)
        distinct, copy_of = _distinct(probs)
        weights, self.value_, self.gap_ = self._best(probs[:, distinct], labels, chosen)
        self.weights_ = weights[copy_of] / np.bincount(copy_of)[copy_of]
        return self

    def predict(self, members: Any) -> Point:
        """The combination with these weights as a prediction; class names, ids and groups come from the members."""
        probs = self.predict_proba(members)
        members = as_prediction(members, "members")
        names = ("class_names", "ids", "groups", "row_numbers")
        kept: dict[str, Any] = {name: getattr(members, name, None) for name in names}
        return Point(probs, notes=getattr(members, "notes", ()), **kept)

    def predict_proba(self, members: Any) -> Floats:
        """Class probabilities of the combination, (n, K)."""
        if not hasattr(self, "weights_"):
            fail("weights_", "exists only after fit", "not fitted yet", "call fit(members, y) first", code="missing")
        probs = member_array(members)
        if probs.shape[1] != self.weights_.size:
            rule, remedy = f"must be the {self.weights_.size} members of fit", "pass all of them in the same order"
            fail("members", rule, f"got {probs.shape[1]}", remedy, code="shape")
        mixed = np.empty((len(probs), probs.shape[2]))
        for rows in row_chunks(len(probs), probs[:1].nbytes):
            mixed[rows] = self.weights_ @ probs[rows]
        return mixed / mixed.sum(axis=1, keepdims=True)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The arguments of the constructor, which scikit-learn uses to clone."""
        return {"measure": self.measure, "search": self.search, "rng": self.rng}

    def __repr__(self) -> str:
        name = self.measure if isinstance(self.measure, str) else self.measure.name
        return f"EnsembleWeights({name!r})"

    def _best(self, members: Floats, labels: Labels, measure: CalibrationMeasure) -> ScoreWeights:
        if measure.prepare is prepare_log_score:
            return log_loss_weights(members, labels)
        if measure.prepare is prepare_brier:
            return brier_weights(members, labels)
        objective = MixtureObjective(Mixtures(members), labels[np.newaxis], measure)
        generator = as_generator(self.rng)
        values, weights = minimise_over_simplex(objective, self.search or THOROUGH, generator)
        return weights[0], float(values[0]), np.nan


def _distinct(members: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the distinct members, and for each member the distinct one that it equals, (M,).

    The distinct members are sorted by a hash of their content, so the search does not depend on the order of the members.
    """
    digests = []
    for m in range(members.shape[1]):
        digest = hashlib.blake2b(digest_size=16)
        for rows in row_chunks(len(members), members[:1, 0].nbytes):
            digest.update(np.ascontiguousarray(members[rows, m]).data)
        digests.append(digest.hexdigest())
    _, first, copy_of = np.unique(digests, return_index=True, return_inverse=True)
    return first, copy_of.reshape(-1)


# Mixture weights that predict unseen labels: the most likely weights, shrunk towards equal weights by cross-validation.
#
# With many members the most likely weights overfit: they concentrate on few members, and labels drawn from them are
# less random than those of the truth. Cross-validation chooses how strongly to shrink them.

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


# Two disjoint parts of the data: weights are fitted on the one and judged on the other.
#
# The split does not use the labels. If it were stratified by label, the labels of one part would determine the class
# counts of the other part, and the test there would depend on the fit.


class Parts(NamedTuple):
    """Labels of the two parts, each in ascending order."""

    first: Labels
    second: Labels


def two_parts(strata: Labels, fraction: float, groups: ArrayLike | None, generator: np.random.Generator) -> Parts:
    """Split the instances at random into two parts, the first with this fraction of them.

    `strata` (n,) are the predicted classes: the fraction holds within each of them, up to rounding. With groups, whole
    groups join the first part, in random order, as long as that brings its size closer to the fraction.
    """
    number(fraction, "fraction", "pass 0.5 for two halves", low=0, high=1, ends="()")
    n = strata.size
    units = make_units(n, groups, None)
    if units.n_units < 2:
        name, what = ("y_true", "instance") if units.codes is None else ("groups", "group")
        fail(
            name, f"must have at least two {what}s, for two disjoint parts", "got 1", f"pass more {what}s", code="range"
        )
    if units.codes is None:
        shuffled = generator.permutation(n)
        order = shuffled[np.argsort(strata[shuffled], kind="stable")]  # by stratum, at random within each
        # a row joins the first part where the running sum of `fraction` passes a whole number
        passed = np.floor(np.arange(n + 1) * fraction + generator.random()).astype(np.intp)
        taken = np.diff(passed) > 0
        if taken.all() or not taken.any():
            taken[int(generator.integers(n))] ^= True
        inside = np.zeros(n, dtype=bool)
        inside[order[taken]] = True
    else:
        order = generator.permutation(units.n_units)
        sizes = np.bincount(units.codes)[order]
        reached = np.cumsum(sizes)
        n_taken = int(np.clip(np.abs(reached - fraction * n).argmin() + 1, 1, units.n_units - 1))
        inside = np.isin(units.codes, order[:n_taken])
    return Parts(np.flatnonzero(inside), np.flatnonzero(~inside))
