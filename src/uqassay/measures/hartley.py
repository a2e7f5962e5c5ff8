"""Generalised Hartley measure: imprecision of a credal set in nats; 0 for one distribution, ln K for all of them.

With the Möbius inverse m of the lower probability L, the generalised Hartley measure is GH = Σ_A m(A) ln|A|. It can be
computed without masses: from ln n = ∫₀¹ (tⁿ⁻¹ − 1) / ln t dt and Σ_A m(A) t^|A| = E L(B), where B keeps each class with
probability t,

    GH = Σ_{k=1}^{K−1} c_k (k/K − mean of L(B) over the sets B with |B| = k),
    c_k = ∫₀¹ C(K,k) t^{k−1} (1−t)^{K−k} / (−ln t) dt > 0.

k/K is the mean of P(B) for any distribution P, so with one P of the set every term is a difference P(B) − L(B) ≥ 0, and
no digits cancel. The same weights give an unbiased estimate for any K from random orders of the classes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, binom

from uqassay._array import CHUNK_BYTES, RandomState, generator
from uqassay._namespaces import namespace
from uqassay.credal.intervals import intersection_probability
from uqassay.credal.lower_probability import (
    EventBounds,
    fold_sum,
    hull_lattice,
    hull_prefixes,
    interval_lattice,
    interval_prefixes,
)
from uqassay.credal.moebius import MAX_ENUMERATED_CLASSES, check_enumerable, event_sizes
from uqassay.errors import InputError
from uqassay.measures.class_set_sizes import imprecision_of_class_sets
from uqassay.measures.device_sets import imprecision_on_device
from uqassay.measures.hull_kernels import compiled_points, for_each_hull, hull_kernel
from uqassay.predictions import (
    HOST_FIELD,
    Box,
    ClassSets,
    DeviceProbs,
    Masses,
    Point,
    Prediction,
    PredictionLike,
    as_prediction,
    keeps_arrays,
)

__all__ = [
    "Nonspecificity",
    "generalised_hartley",
    "hartley_weights",
    "imprecision",
    "imprecision_and_label",
    "joined_nonspecificities",
]

Array = NDArray[np.float64]
LATTICE_BYTES = 2**19  # half lattice of one chunk: four of them fit the cache of a core
FIRST_ORDERS = 32
MOST_ORDERS = 2**14
UNIT_BITS = 52  # the values of each order are added up in units of 2^-52 nats, so that their sum is exact in any order


@dataclass(frozen=True, eq=False)
class Nonspecificity:
    """Non-specificity of each instance with its numerical error.

    Attributes
    ----------
    values : array (n,)
        Nats.
    standard_error : array (n,)
        Standard error of each value; 0 if the value is exact.
    mean_standard_error : float
        Standard error that the estimator adds to the mean of ``values``; all instances share the random orders. An upper
        bound if a tolerance asked for more orders.
    n_orders : int
        Number of random orders of the classes (the most for any instance); 0 if exact.
    order_deviations : array (32,) or (0,)
        Deviation of the mean of ``values`` with each of the first random orders alone, scaled so that their standard error is
        `mean_standard_error`. All models use the same orders, so these give the error of a difference of two models.
    order_sums : tuple of 32 int, or ()
        Sum of ``values`` with each of the first random orders alone, in units of 2^-52; see `joined_nonspecificities`.
    """

    values: Array
    standard_error: Array
    mean_standard_error: float = 0.0
    n_orders: int = 0
    order_deviations: Array = field(default_factory=lambda: np.empty(0), repr=False, metadata=HOST_FIELD)
    order_sums: tuple[int, ...] = field(default=(), repr=False)

    def complement(self) -> "Nonspecificity":
        """The same for ``1 − values``."""
        one = self.values.shape[0] << UNIT_BITS
        return _with_orders(1.0 - self.values, self.standard_error, self.n_orders, [one - s for s in self.order_sums])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


@lru_cache(maxsize=32)
def hartley_weights(n_classes: int) -> Array:
    """Weights c_1 … c_{K−1} of the generalised Hartley measure, ``(K − 1,)``.

    The integral over t becomes one over x with t = 1/(1 + e^{−x}), where the trapezoidal rule converges geometrically.

    Examples
    --------
    >>> hartley_weights(10).round(4).tolist()
    [0.4053, 0.3009, 0.2716, 0.2695, 0.2862, 0.3245, 0.3991, 0.559, 1.0536]
    """
    k = np.arange(1, n_classes)[:, None]
    step = min(0.125, 1.0 / np.sqrt(n_classes))
    half_width = int(np.ceil(45.0 / step))
    x = step * np.arange(-half_width, half_width + 1)[None, :]
    log_t = -np.logaddexp(0.0, -x)
    log_s = -np.logaddexp(0.0, x)  # ln(1 − t)
    # C(K, k) = K / (k (K − k) B(k, K − k)), and dt = t (1 − t) dx
    log_binomial = np.log(n_classes) - np.log(k) - np.log(n_classes - k) - betaln(k, n_classes - k)
    integrand = np.exp(log_binomial + k * log_t + (n_classes - k + 1) * log_s - np.log(-log_t))
    weights = step * integrand.sum(axis=1)
    weights.flags.writeable = False
    return weights


# -- generalised Hartley ----------------------------------------------------------------------------------------------


@keeps_arrays("measures.generalised_hartley")
def generalised_hartley(
    prediction: PredictionLike,
    *,
    rng: RandomState = None,
    tolerance: float | None = None,
    chunk_bytes: int | None = None,
) -> Nonspecificity:
    """Generalised Hartley measure of every instance: exact if 2^K events can be enumerated, otherwise estimated without bias.

    Exact for points, masses and class sets (any K) and for K ≤ 16. For more classes, the prefixes of a random order of the
    classes and their complements give two random events of each size. The expectation of their weighted lower probabilities is
    the measure, so one order can serve all instances.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    rng : None, int or Generator
        Source of the random orders (K > 16); None means seed 0.
    tolerance : float, optional
        Wanted standard error of every instance, in nats: the number of orders is doubled for instances above it, up to
        16,384; `standard_error` shows the error reached. Stopping at a small estimated error biases the value by about a
        tenth of that error. By default 32 orders are drawn, without bias.
    chunk_bytes : int, optional
        Memory for one chunk of instances; it does not change the result.

    Returns
    -------
    Nonspecificity
        ``values`` (n,) in nats, ``standard_error`` (n,).

    Notes
    -----
    Paper 000, Eq. 7 is the same sum over clipped masses of a family (`nonspecificity` with ``convention="paper"``);
    without clipping it is monotone in the credal set. Negative masses need no special treatment.

    Examples
    --------
    >>> import uqassay as uq
    >>> vacuous = uq.Intervals([[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]])
    >>> float(uq.measures.generalised_hartley(vacuous).values[0].round(4))
    1.0986
    """
    prediction = as_prediction(prediction)
    if isinstance(prediction, Masses):
        sizes = np.log(prediction.focal_sets.sum(axis=1))
        values = (prediction.checked_masses() * sizes).sum(axis=1)
        return Nonspecificity(values, np.zeros(len(values)))
    weights = hartley_weights(prediction.n_classes)
    return imprecision(prediction, weights, rng=rng, tolerance=tolerance, chunk_bytes=chunk_bytes)


def imprecision(
    prediction: Prediction,
    weights: Array,
    *,
    rng: RandomState = None,
    tolerance: float | None = None,
    chunk_bytes: int | None = None,
) -> Nonspecificity:
    """Σ_k w_k (k/K − mean of L(B) over |B| = k) for weights ``(K − 1,)`` ≥ 0, exactly up to K = 16, else estimated.

    Every Σ_A m(A) g(|A|) has this form up to a constant; parameters as for `generalised_hartley`. For all kinds but `Masses`.
    """
    if isinstance(prediction, DeviceProbs):
        seed = int(generator(rng).integers(2**63))
        orders = [order_of_classes(seed, i, prediction.n_classes) for i in range(FIRST_ORDERS)]
        values, errors, sums = imprecision_on_device(prediction, weights, _event_weights, orders)
        return _with_orders(values, errors, FIRST_ORDERS if sums else 0, sums)
    n = prediction.n_instances
    if isinstance(prediction, (Point, ClassSets)):
        values = np.zeros(n) if isinstance(prediction, Point) else imprecision_of_class_sets(prediction, weights)
        return Nonspecificity(values, np.zeros(n))
    if prediction.n_classes <= MAX_ENUMERATED_CLASSES:
        return Nonspecificity(_exact(prediction, weights, chunk_bytes), np.zeros(n))
    return _estimated(prediction, weights, rng, tolerance, chunk_bytes)


def _exact(prediction: Prediction, weights: Array, chunk_bytes: int | None) -> Array:
    values = np.empty(prediction.n_instances)
    compiled = hull_kernel("hull_imprecision", prediction)
    below, above = _event_weights(weights)
    if compiled is not None:

        def points(rows: slice, part: NDArray[Any]) -> None:
            values[rows] = compiled(part, below, above)[0]

        for_each_hull(prediction, points)
        return values

    def work(rows: slice, part: Prediction) -> None:
        half = lattice(part)
        gap = half.reference - half.lower
        gap *= below[:, None]
        rest = half.upper - half.reference
        rest *= above[:, None]
        gap += rest
        values[rows] = fold_sum(gap)

    prediction.for_each_chunk(work, lattice_bytes(prediction), chunk_bytes=chunk_bytes or LATTICE_BYTES)
    return values


def _event_weights(weights: Array) -> tuple[Array, Array]:
    """Weights of the gaps below and above the reference, for every event of the half lattice, ``(2^(K−1),)``."""
    n_classes = len(weights) + 1
    sizes = event_sizes(n_classes - 1)
    # the mean over the sets of size k divides by C(K, k); Ω and ∅ have weight 0
    k = np.arange(n_classes + 1)
    per_event = np.concatenate([[0.0], weights, [0.0]]) / binom(n_classes, k)
    # an event A of the half lattice has gap P(A) − L(A), its complement 1 − P(A) − (1 − U(A)) = U(A) − P(A)
    return per_event[sizes], per_event[n_classes - sizes]


def imprecision_and_label(
    prediction: Prediction, weights: Array, y: NDArray[np.int64]
) -> tuple[Nonspecificity, Array] | None:
    """`imprecision` and the upper probability of each label from one pass; None if no kernel computes both."""
    enumerable = not isinstance(prediction, (Point, DeviceProbs)) and prediction.n_classes <= MAX_ENUMERATED_CLASSES
    compiled = hull_kernel("hull_imprecision", prediction) if enumerable else None
    if compiled is None:
        return None
    values, upper = np.empty(len(y)), np.empty(len(y))
    below, above = _event_weights(weights)

    def points(rows: slice, part: NDArray[Any]) -> None:
        values[rows], of_class = compiled(part, below, above)
        upper[rows] = np.maximum(of_class[np.arange(len(part)), y[rows]], 0.0)  # as `upper_probs`

    for_each_hull(prediction, points)
    return Nonspecificity(values, np.zeros(len(y))), upper


def lattice(part: Prediction) -> EventBounds:
    """Half lattice of all 2^K events (kinds other than `Masses`, K ≤ 16)."""
    return interval_lattice(*part.bounds()) if isinstance(part, Box) else hull_lattice(part.hull_points())


def lattice_bytes(prediction: Prediction) -> int:
    """Bytes of the half lattice of one instance."""
    check_enumerable(prediction.n_classes)
    return int(8 * 2 ** (prediction.n_classes - 1))


def _estimated(
    prediction: Prediction, weights: Array, rng: RandomState, tolerance: float | None, chunk_bytes: int | None
) -> Nonspecificity:
    if tolerance is not None and not tolerance > 0:
        raise InputError(
            "tolerance", "must be positive", f"got {tolerance}", f"leave it out for {FIRST_ORDERS} orders", code="range"
        )
    n = prediction.n_instances
    seed = int(generator(rng).integers(2**63))
    values, errors = np.empty(n), np.empty(n)
    most, sums = [FIRST_ORDERS], []

    def work(rows: slice, part: Prediction) -> None:
        draws = _first_draws(part, weights, seed)
        sums.append(_exact_sums(draws))
        values[rows], errors[rows] = _mean_and_error(draws)
        if tolerance is not None:
            most.append(_refine(part, weights, seed, tolerance, draws, values[rows], errors[rows]))

    bytes_per_row = 8 * prediction.n_classes * _points_per_row(prediction)
    prediction.for_each_chunk(work, bytes_per_row, chunk_bytes=chunk_bytes or CHUNK_BYTES)
    return _with_orders(values, errors, max(most), [sum(one) for one in zip(*sums, strict=True)])


def _exact_sums(draws: Array) -> list[int]:
    """Sums over the last axis (32, n), each value rounded to a multiple of 2^-52."""
    scaled = draws * 2.0**20
    high = np.floor(scaled)
    low = np.rint((scaled - high) * 2.0 ** (UNIT_BITS - 20))
    sums = (part.sum(axis=1, dtype=np.int64).tolist() for part in (high.astype(np.int64), low.astype(np.int64)))
    return [(above << (UNIT_BITS - 20)) + below for above, below in zip(*sums, strict=True)]


def _with_orders(values: Array, errors: Array, n_orders: int, sums: Sequence[int]) -> Nonspecificity:
    """The error of the mean and the deviations of the orders, from the sums over all instances."""
    if not sums:
        return Nonspecificity(values, errors, n_orders=n_orders)
    by_order = np.array([one / (values.shape[0] << UNIT_BITS) for one in sums])
    first_error = float(_mean_and_error(by_order[:, None])[1][0])
    # later orders serve only some instances; the error of the mean is at most the mean of the errors
    mean_error = min(first_error, float(namespace(errors).mean(errors)))
    deviations = (by_order - by_order.mean()) * (mean_error / first_error if first_error > 0 else 0.0)
    return Nonspecificity(values, errors, mean_error, n_orders, deviations, tuple(sums))


def joined_nonspecificities(parts: Sequence[Nonspecificity]) -> Nonspecificity:
    """The result for all instances from the results for parts of them, in the order of the parts.

    Equal to that of one call on all instances, bit for bit, if the parts had the same source of random orders.

    Examples
    --------
    >>> import uqassay as uq
    >>> prediction = uq.Members(np.random.default_rng(0).dirichlet(np.ones(20), (5, 3)))
    >>> whole = generalised_hartley(prediction)
    >>> joined = joined_nonspecificities([generalised_hartley(prediction[:2]), generalised_hartley(prediction[2:])])
    >>> joined.mean_standard_error == whole.mean_standard_error
    True
    """
    values, errors = (np.concatenate([getattr(p, name) for p in parts]) for name in ("values", "standard_error"))
    sums = [sum(one) for one in zip(*(p.order_sums for p in parts), strict=True)]
    return _with_orders(values, errors, max(p.n_orders for p in parts), sums)


def _refine(
    part: Prediction, weights: Array, seed: int, tolerance: float, draws: Array, values: Array, errors: Array
) -> int:
    """Double the orders of the instances whose standard error is above the tolerance; values and errors are views."""
    missing = np.flatnonzero(errors > tolerance)
    draws = draws[:, missing]
    while missing.size and len(draws) < MOST_ORDERS:
        more = _draws(part[missing], weights, seed, range(len(draws), 2 * len(draws)))
        draws = np.concatenate([draws, more])
        values[missing], errors[missing] = _mean_and_error(draws)
        still = errors[missing] > tolerance
        missing, draws = missing[still], draws[:, still]
    return len(draws)


def order_of_classes(seed: int, i: int, n_classes: int) -> NDArray[np.int64]:
    """Random order number i, the same for all instances and models, ``(K,)``."""
    return np.random.default_rng([seed, i]).permutation(n_classes)


def _points_per_row(prediction: Prediction) -> int:
    return 3 if isinstance(prediction, Box) else prediction[:1].hull_points().shape[1]


def _prefix_source(part: Prediction) -> Callable[[NDArray[np.int64]], Iterator[tuple[slice, EventBounds]]]:
    if isinstance(part, Box):
        lower, upper = part.bounds()
        by_class = [np.ascontiguousarray(a.T) for a in (intersection_probability(lower, upper), lower, upper)]
        return lambda order: interval_prefixes(by_class[0], by_class[1], by_class[2], order)
    points = np.array(part.hull_points().transpose(2, 1, 0), dtype=np.float64, order="C")  # (K, V, n)
    return lambda order: hull_prefixes(points, order)


def _first_draws(part: Prediction, weights: Array, seed: int) -> Array:
    """`_draws` of the first orders. A set in which every class can be certain allows all distributions, so L(B) = 0."""
    vacuous = part.upper_probs().min(axis=1) >= 1.0
    if not vacuous.any():
        return _draws(part, weights, seed, range(FIRST_ORDERS))
    draws = np.full((FIRST_ORDERS, len(vacuous)), weights @ np.arange(1, len(weights) + 1) / (len(weights) + 1))
    others = np.flatnonzero(~vacuous)
    if others.size:
        draws[:, others] = _draws(part[others], weights, seed, range(FIRST_ORDERS))
    return draws


def _draws(part: Prediction, weights: Array, seed: int, numbers: range) -> Array:
    """One unbiased value per order and instance, from the prefixes of the order and of its reverse (antithetic)."""
    orders = [order_of_classes(seed, i, part.n_classes) for i in numbers]
    compiled = hull_kernel("hull_orders", part)
    if compiled is not None:
        found: Array = compiled(compiled_points(part), np.array(orders), weights)
        return found
    prefixes = _prefix_source(part)
    half = 0.5 * weights[:, None]
    draws = np.zeros((len(numbers), part.n_instances))
    for total, order in zip(draws, orders, strict=True):
        for sizes, bounds in prefixes(order):
            gap = bounds.reference - bounds.lower
            gap *= half[sizes]
            rest = bounds.upper - bounds.reference
            rest *= half[::-1][sizes]  # the complement of a prefix of k classes has K − k
            gap += rest
            total += fold_sum(gap)
    return draws


def _mean_and_error(draws: Array) -> tuple[Array, Array]:
    """Mean over the first axis and its standard error; rounding does not depend on the number of columns."""
    n = len(draws)
    mean = fold_sum(draws) / n
    return mean, np.sqrt(fold_sum((draws - mean) ** 2) / (n * (n - 1)))
