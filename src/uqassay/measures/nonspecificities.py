"""Non-specificity, how imprecise a set is: generalised Hartley and relatives, their table of entries, widths, class sets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, binom, gammaln

from uqassay.arrays import CHUNK_BYTES as ROWS_CHUNK_BYTES
from uqassay.arrays import Floats, RandomState, generator
from uqassay.checks import fail, number, one_of
from uqassay.credal.events import (
    MAX_ENUMERATED_CLASSES,
    EventBounds,
    as_focal_sets,
    check_enumerable,
    event_sizes,
    family_moebius,
    fold_sum,
    hull_event_bounds,
    hull_lattice,
    hull_prefixes,
    interval_event_bounds,
    interval_lattice,
    interval_prefixes,
    lattice_lower,
    mass_event_bounds,
    moebius_transform,
    paper_masses,
    zeta_transform,
)
from uqassay.credal.intervals import intersection_probability
from uqassay.credal.undominated import CLASS_RULES, undominated_in_box, undominated_in_core, undominated_in_hull
from uqassay.measures.entropies import credal_uncertainty
from uqassay.native import kernel
from uqassay.predictions import (
    Box,
    ClassSets,
    Masses,
    Point,
    Prediction,
    PredictionLike,
    as_prediction,
    not_negative,
    sum_over_classes,
)

__all__ = [
    "NONSPECIFICITIES",
    "OF_SIZES",
    "ClippedMasses",
    "Convention",
    "Nonspecificity",
    "OfSizes",
    "SetSize",
    "check_convention",
    "class_sets_by_rule",
    "credal_width",
    "for_each_clipped",
    "for_each_clipped_sum",
    "for_each_hull",
    "generalised_hartley",
    "hartley_weights",
    "hull_kernel",
    "imprecision",
    "imprecision_and_label",
    "imprecision_of_class_sets",
    "joined_nonspecificities",
    "nonspecificity",
    "not_ruled_out",
    "set_sizes",
]


# Imprecision of class sets, which follows from their sizes: exact for any number of classes.


def set_sizes(prediction: ClassSets) -> NDArray[np.int64]:
    """Number of classes of each set, ``(n,)``; an empty set counts as that of all classes.

    Examples
    --------
    >>> set_sizes(ClassSets([[1, 1, 0], [0, 0, 0]])).tolist()
    [2, 3]
    """
    return prediction.filled().sum(axis=1)


def imprecision_of_class_sets(prediction: ClassSets, weights: Floats) -> Floats:
    """Σ_k w_k (k/K − share of the events of size k that hold the set), ``(n,)``, for weights ``(K − 1,)``.

    See `imprecision`. An event has the lower probability 1 if it holds the set, else 0. Of the C(K, k) events of size
    k, C(K − s, k − s) hold a set of s classes.

    Examples
    --------
    >>> imprecision_of_class_sets(ClassSets([[1, 1, 0], [1, 0, 0]]), np.array([1.0, 1.0])).round(4).tolist()
    [0.6667, 0.0]
    """
    n_classes = len(weights) + 1
    k, s = np.arange(1, n_classes), np.arange(1, n_classes + 1)[:, None]
    log_share = gammaln(k + 1) - gammaln(np.maximum(k - s, 0) + 1) + gammaln(n_classes - s + 1) - gammaln(n_classes + 1)
    share = np.where(k >= s, np.exp(log_share), 0.0)
    of_size = (weights * (k / n_classes - share)).sum(axis=1)
    of_size[0] = 0.0  # a single class, without rounding
    return np.asarray(of_size[set_sizes(prediction) - 1])


# Compiled kernels over the points of credal sets: which kinds of predictions they take, and their input chunk by chunk.

CHUNK_BYTES = 2**23  # points of the chunks of all threads: few chunks, because a kernel fetches its next points itself
COMPILED = ("float32", "float64")  # dtypes that kernels take; others are converted to float64


def hull_kernel(name: str, prediction: Prediction) -> Callable[..., Any] | None:
    """The kernel of this name; None if there is none, or if the sets of this kind are not given by points."""
    return None if isinstance(prediction, (Box, Masses)) else kernel(name)


def compiled_points(part: Prediction) -> NDArray[Any]:
    """The points of the sets as kernels take them: (n, V, K), float32 or float64, contiguous."""
    points = part.hull_points()
    return np.ascontiguousarray(points, dtype=points.dtype if points.dtype in COMPILED else np.float64)


def for_each_hull(prediction: Prediction, work: Callable[[slice, NDArray[Any]], None]) -> None:
    """Call ``work(rows, points)`` for consecutive chunks, with the points of `compiled_points`."""

    def one(rows: slice, part: Prediction) -> None:
        work(rows, compiled_points(part))

    points = 8 * int(np.prod(prediction[:1].hull_points().shape[1:]))
    # the lattice counts, too: rows of few bytes may take long
    per_row = max(points, 2**prediction.n_classes // 4)
    prediction.for_each_chunk(one, per_row, chunk_bytes=CHUNK_BYTES)


# Generalised Hartley measure: imprecision of a credal set in nats; 0 for one distribution, ln K for all of them.
#
# With the Möbius inverse m of the lower probability L, the generalised Hartley measure is GH = Σ_A m(A) ln|A|. It can
# be computed without masses: from ln n = ∫₀¹ (tⁿ⁻¹ − 1) / ln t dt and Σ_A m(A) t^|A| = E L(B), where B keeps each class
# with probability t,
#
#     GH = Σ_{k=1}^{K−1} c_k (k/K − mean of L(B) over the sets B with |B| = k),
#     c_k = ∫₀¹ C(K,k) t^{k−1} (1−t)^{K−k} / (−ln t) dt > 0.
#
# k/K is the mean of P(B) for any distribution P, so with one P of the set every term is a difference P(B) − L(B) ≥ 0,
# and no digits cancel. The same weights give an unbiased estimate for any K from random orders of the classes.

LATTICE_BYTES = 2**19  # half lattice of one chunk: four of them fit the cache of a core
FIRST_ORDERS = 32
MOST_ORDERS = 2**14
UNIT_BITS = 52  # the values of each order are added up in units of 2^-52 nats, so that their sum is exact in any order


@dataclass(frozen=True, eq=False)
class Nonspecificity:
    """Non-specificity of each instance with its numerical error."""

    values: Floats  #: (n,): Nats.
    standard_error: Floats  #: (n,): Standard error of each value; 0 if the value is exact.
    #: Standard error that the estimator adds to the mean of ``values``; all instances share the random orders. An upper
    #: bound if a tolerance asked for more orders.
    mean_standard_error: float = 0.0
    n_orders: int = 0  #: Number of random orders of the classes (the most for any instance); 0 if exact.
    #: (32,): Deviation of the mean of ``values`` with each of the first random orders alone, scaled so that their
    #: standard error is `mean_standard_error`. All models use the same orders, so these give the error of a difference
    #: of two models.
    order_deviations: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    #: Sum of ``values`` with each of the first random orders alone, in units of 2^-52; see `joined_nonspecificities`.
    order_sums: tuple[int, ...] = field(default=(), repr=False)

    def complement(self) -> "Nonspecificity":
        """The same for ``1 − values``."""
        one = self.values.shape[0] << UNIT_BITS
        return _with_orders(1.0 - self.values, self.standard_error, self.n_orders, [one - s for s in self.order_sums])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


@lru_cache(maxsize=32)
def hartley_weights(n_classes: int) -> Floats:
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
    Unified evaluation, Eq. 7 is the same sum over clipped masses of a family (`nonspecificity` with ``convention="paper"``);
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
    weights: Floats,
    *,
    rng: RandomState = None,
    tolerance: float | None = None,
    chunk_bytes: int | None = None,
) -> Nonspecificity:
    """Σ_k w_k (k/K − mean of L(B) over |B| = k) for weights ``(K − 1,)`` ≥ 0, exactly up to K = 16, else estimated.

    Every Σ_A m(A) g(|A|) has this form up to a constant; parameters as for `generalised_hartley`. For all kinds but `Masses`.
    """
    n = prediction.n_instances
    if isinstance(prediction, (Point, ClassSets)):
        values = np.zeros(n) if isinstance(prediction, Point) else imprecision_of_class_sets(prediction, weights)
        return Nonspecificity(values, np.zeros(n))
    if prediction.n_classes <= MAX_ENUMERATED_CLASSES:
        return Nonspecificity(_exact(prediction, weights, chunk_bytes), np.zeros(n))
    return _estimated(prediction, weights, rng, tolerance, chunk_bytes)


def _exact(prediction: Prediction, weights: Floats, chunk_bytes: int | None) -> Floats:
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


def _event_weights(weights: Floats) -> tuple[Floats, Floats]:
    """Weights of the gaps below and above the reference, for every event of the half lattice, ``(2^(K−1),)``."""
    n_classes = len(weights) + 1
    sizes = event_sizes(n_classes - 1)
    # the mean over the sets of size k divides by C(K, k); Ω and ∅ have weight 0
    k = np.arange(n_classes + 1)
    per_event = np.concatenate([[0.0], weights, [0.0]]) / binom(n_classes, k)
    # an event A of the half lattice has gap P(A) − L(A), its complement 1 − P(A) − (1 − U(A)) = U(A) − P(A)
    return per_event[sizes], per_event[n_classes - sizes]


def imprecision_and_label(
    prediction: Prediction, weights: Floats, y: NDArray[np.int64]
) -> tuple[Nonspecificity, Floats] | None:
    """`imprecision` and the upper probability of each label from one pass; None if no kernel computes both."""
    enumerable = not isinstance(prediction, Point) and prediction.n_classes <= MAX_ENUMERATED_CLASSES
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
    prediction: Prediction, weights: Floats, rng: RandomState, tolerance: float | None, chunk_bytes: int | None
) -> Nonspecificity:
    if tolerance is not None:
        number(tolerance, "tolerance", f"leave it out for {FIRST_ORDERS} orders", low=0, ends="(]")
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

    n_points = 3 if isinstance(prediction, Box) else prediction[:1].hull_points().shape[1]
    bytes_per_row = 8 * prediction.n_classes * n_points
    prediction.for_each_chunk(work, bytes_per_row, chunk_bytes=chunk_bytes or ROWS_CHUNK_BYTES)
    return _with_orders(values, errors, max(most), [sum(one) for one in zip(*sums, strict=True)])


def _exact_sums(draws: Floats) -> list[int]:
    """Sums over the last axis (32, n), each value rounded to a multiple of 2^-52."""
    scaled = draws * 2.0**20
    high = np.floor(scaled)
    low = np.rint((scaled - high) * 2.0 ** (UNIT_BITS - 20))
    sums = (part.sum(axis=1, dtype=np.int64).tolist() for part in (high.astype(np.int64), low.astype(np.int64)))
    return [(above << (UNIT_BITS - 20)) + below for above, below in zip(*sums, strict=True)]


def _with_orders(values: Floats, errors: Floats, n_orders: int, sums: Sequence[int]) -> Nonspecificity:
    """The error of the mean and the deviations of the orders, from the sums over all instances."""
    if not sums:
        return Nonspecificity(values, errors, n_orders=n_orders)
    by_order = np.array([one / (values.shape[0] << UNIT_BITS) for one in sums])
    first_error = float(_mean_and_error(by_order[:, None])[1][0])
    # later orders serve only some instances; the error of the mean is at most the mean of the errors
    mean_error = min(first_error, float(errors.mean()))
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
    part: Prediction, weights: Floats, seed: int, tolerance: float, draws: Floats, values: Floats, errors: Floats
) -> int:
    """Double the orders of the instances whose standard error is above the tolerance; values and errors are views."""
    missing = np.flatnonzero(errors > tolerance)
    draws = draws[:, missing]
    while missing.size and len(draws) < MOST_ORDERS:
        more = _hartley_draws(part[missing], weights, seed, range(len(draws), 2 * len(draws)))
        draws = np.concatenate([draws, more])
        values[missing], errors[missing] = _mean_and_error(draws)
        still = errors[missing] > tolerance
        missing, draws = missing[still], draws[:, still]
    return len(draws)


def order_of_classes(seed: int, i: int, n_classes: int) -> NDArray[np.int64]:
    """Random order number i, the same for all instances and models, ``(K,)``."""
    return np.random.default_rng([seed, i]).permutation(n_classes)


def _prefix_source(part: Prediction) -> Callable[[NDArray[np.int64]], Iterator[tuple[slice, EventBounds]]]:
    if isinstance(part, Box):
        lower, upper = part.bounds()
        by_class = [np.ascontiguousarray(a.T) for a in (intersection_probability(lower, upper), lower, upper)]
        return lambda order: interval_prefixes(by_class[0], by_class[1], by_class[2], order)
    points = np.array(part.hull_points().transpose(2, 1, 0), dtype=np.float64, order="C")  # (K, V, n)
    return lambda order: hull_prefixes(points, order)


def _first_draws(part: Prediction, weights: Floats, seed: int) -> Floats:
    """`_hartley_draws` of the first orders. A set in which every class can be certain allows all distributions, so L(B) = 0."""
    vacuous = part.upper_probs().min(axis=1) >= 1.0
    if not vacuous.any():
        return _hartley_draws(part, weights, seed, range(FIRST_ORDERS))
    draws = np.full((FIRST_ORDERS, len(vacuous)), weights @ np.arange(1, len(weights) + 1) / (len(weights) + 1))
    others = np.flatnonzero(~vacuous)
    if others.size:
        draws[:, others] = _hartley_draws(part[others], weights, seed, range(FIRST_ORDERS))
    return draws


def _hartley_draws(part: Prediction, weights: Floats, seed: int, numbers: range) -> Floats:
    """One unbiased value per order and instance, from the prefixes of the order and of its reverse (antithetic)."""
    orders = [order_of_classes(seed, i, part.n_classes) for i in numbers]
    compiled = hull_kernel("hull_orders", part)
    if compiled is not None:
        found: Floats = compiled(compiled_points(part), np.array(orders), weights)
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


def _mean_and_error(draws: Floats) -> tuple[Floats, Floats]:
    """Mean over the first axis and its standard error; rounding does not depend on the number of columns."""
    n = len(draws)
    mean = fold_sum(draws) / n
    return mean, np.sqrt(fold_sum((draws - mean) ** 2) / (n * (n - 1)))


# Masses of ``convention="paper"``: those that the code of the unified evaluation derives from any prediction.
#
# The steps: lower probabilities of a family of events, Möbius inverse inside the family, negative masses set to zero,
# the missing mass given to the set Ω of all classes, division by the total (unified evaluation, Sec. 4, and its code). Clipping
# distorts: the resulting set need not contain the credal set of the prediction, and its non-specificity is not monotone
# in that set.


class ClippedMasses(NamedTuple):
    """Masses of the paper's convention for some instances."""

    masses: Floats  #: (F, n): Event axis first; columns sum to 1.
    sizes: NDArray[np.int64]  #: (F,): Number of classes |A| of each set (1 for the empty set, which has no mass).
    focal_sets: NDArray[np.bool_]  #: (F, K): The sets; for all events in binary order, with the empty one first.
    #: lower, upper: (K, n): Belief and plausibility of each class.
    lower: Floats
    upper: Floats


def for_each_clipped(
    prediction: Prediction,
    work: Callable[[slice, ClippedMasses], None],
    focal_sets: NDArray[np.bool_] | None = None,
    *,
    chunk_bytes: int | None = None,
) -> None:
    """Call ``work(rows, clipped)`` for consecutive chunks of the instances.

    `Masses` keep their own focal sets unless others are given; other kinds have all 2^K by default (K ≤ 16). Chunks may run
    on several threads.
    """
    if focal_sets is None and not isinstance(prediction, Masses):
        bytes_per_row, most = lattice_bytes(prediction), chunk_bytes or LATTICE_BYTES
        prediction.for_each_chunk(lambda rows, part: work(rows, _on_all_events(part)), bytes_per_row, chunk_bytes=most)
        return
    family = None if focal_sets is None else as_focal_sets(focal_sets, prediction.n_classes)
    prediction.for_each_chunk(
        lambda rows, part: work(rows, _on_family(part, family)),
        _bytes_per_row(prediction),
        chunk_bytes=chunk_bytes or 16 * LATTICE_BYTES,
    )


OfSizes = Callable[[NDArray[np.int64]], Floats]
OF_SIZES: dict[str, OfSizes] = {  # g(|A|) of the sums Σ m(A) g(|A|)
    "hartley": np.log,
    "korner": lambda sizes: sizes.astype(np.float64),
    "pal": lambda sizes: 1.0 / sizes,
}


def for_each_clipped_sum(
    prediction: Prediction,
    of_sizes: OfSizes,
    work: Callable[[slice, Floats, Floats], None],
    focal_sets: NDArray[np.bool_] | None = None,
) -> None:
    """Call ``work(rows, values, upper)`` for consecutive chunks: Σ_A m(A) g(|A|) and the plausibility of each class.

    `of_sizes` gives g for numbers of classes |A|; other arguments as in `for_each_clipped`.
    """
    compiled = hull_kernel("clipped_hull", prediction) if focal_sets is None else None
    if compiled is not None:
        check_enumerable(prediction.n_classes)
        weights = of_sizes(np.maximum(event_sizes(prediction.n_classes), 1))

        def points(rows: slice, part: NDArray[Any]) -> None:
            work(rows, *compiled(part, weights))

        for_each_hull(prediction, points)
        return

    def masses(rows: slice, part: ClippedMasses) -> None:
        work(rows, fold_sum(part.masses * of_sizes(part.sizes)[:, None]), part.upper.T)

    for_each_clipped(prediction, masses, focal_sets)


def _on_family(part: Prediction, family: NDArray[np.bool_] | None) -> ClippedMasses:
    if isinstance(part, Masses) and family is None:
        raw, family = np.asarray(part.masses, dtype=np.float64), part.focal_sets
    else:
        assert family is not None  # only masses have a family already
        raw = family_moebius(_family_lower(part, family), family)
    masses, sets, _ = paper_masses(raw, family)
    lower, upper = mass_event_bounds(masses, sets, np.eye(part.n_classes, dtype=bool))
    return ClippedMasses(masses.T, sets.sum(axis=1), sets, lower.T, upper.T)


def _on_all_events(part: Prediction) -> ClippedMasses:
    masses, n_classes = moebius_transform(lattice_lower(lattice(part))), part.n_classes
    np.maximum(masses, 0.0, out=masses)
    total = fold_sum(masses)
    masses[-1] += np.maximum(0.0, 1.0 - total)
    masses /= np.maximum(total, 1.0)  # the total is at least 1 by now
    upper = np.empty((n_classes, masses.shape[1]))
    folded = masses
    for c in reversed(range(n_classes)):  # plausibility of c; then merge sets that differ only in c
        with_c = folded[2**c :]
        upper[c] = fold_sum(with_c)
        folded = folded[: 2**c] + with_c
    lower = masses[2 ** np.arange(n_classes)]
    sets = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 > 0
    return ClippedMasses(masses, np.maximum(event_sizes(n_classes), 1), sets, lower, upper)


def _family_lower(part: Prediction, family: NDArray[np.bool_]) -> Floats:
    if isinstance(part, Masses):
        return mass_event_bounds(part.repaired().checked_masses(), part.repaired().focal_sets, family)[0]
    if isinstance(part, Box):
        return interval_event_bounds(*part.bounds(), family)[0]
    return hull_event_bounds(part.hull_points(), family)[0]


def _bytes_per_row(prediction: Prediction) -> int:
    if isinstance(prediction, Masses):
        return 16 * len(prediction.focal_sets)
    if isinstance(prediction, Box):
        return 16 * prediction.n_classes
    return 16 * int(np.prod(prediction[:1].hull_points().shape[1:]))


# Non-specificity by name: imprecision of the credal set of each instance.

Measure = Literal["hartley", "smets", "korner", "pal"]
Convention = Literal["exact", "paper"]


def nonspecificity(
    prediction: PredictionLike,
    measure: Measure = "hartley",
    *,
    convention: Convention = "exact",
    focal_sets: Any = None,
    rng: RandomState = None,
    tolerance: float | None = None,
) -> Nonspecificity:
    """Non-specificity of every instance.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    measure : {"hartley", "smets", "korner", "pal"}
        With masses m and commonality Q(A) = Σ_{B⊇A} m(B) (unified evaluation, Eq. 7 and 9-11):

        * ``"hartley"``: Σ m(A) ln|A|, nats (Dubois-Prade; generalised Hartley where masses may be negative);
        * ``"smets"``: Σ_A ln(1 / Q(A)), nats; infinite if some set is contained in no focal set, and nan if an unclipped
          commonality is negative (K ≤ 16);
        * ``"korner"``: Σ m(A) |A|, from 1 to K;
        * ``"pal"``: Σ m(A) / |A|, a specificity: from 1 (precise) down to 1/K.
    convention : {"exact", "paper"}
        "exact" does not clip: all events, or the estimator for K > 16. "paper" clips and renormalises the masses.
    focal_sets : bool array (F, K), optional
        Family of events for ``convention="paper"``; all 2^K by default (K ≤ 16).
    rng, tolerance
        As in `generalised_hartley`.

    Returns
    -------
    Nonspecificity

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> m = uq.Masses([[0.5, 0.5]], [[0], [0, 1, 2]], n_classes=3)
    >>> float(uq.measures.nonspecificity(m).values[0].round(4)), float(uq.measures.nonspecificity(m, "korner").values[0])
    (0.5493, 2.0)
    """
    one_of(measure, "measure", get_args(Measure))
    check_convention(convention, focal_sets)
    prediction = as_prediction(prediction)
    if convention == "paper" and not isinstance(prediction, Point):
        values = np.empty(prediction.n_instances)

        def smets(rows: slice, part: ClippedMasses) -> None:
            values[rows] = _smets_of_family(part.masses, part.focal_sets)

        def sums(rows: slice, found: Floats, _: Floats) -> None:
            values[rows] = found

        if measure == "smets":
            for_each_clipped(prediction, smets, focal_sets)
        else:
            for_each_clipped_sum(prediction, OF_SIZES[measure], sums, focal_sets)
        return Nonspecificity(values, np.zeros(len(values)))
    if measure == "hartley":
        return generalised_hartley(prediction, rng=rng, tolerance=tolerance)
    if measure == "smets":
        return _exactly(_smets(prediction))
    if measure == "korner":  # Σ_A m(A) |A| = Σ_c Pl({c})
        return _exactly(prediction.upper_probs().sum(axis=1))
    if isinstance(prediction, Masses):
        return _exactly((prediction.checked_masses() / prediction.focal_sets.sum(axis=1)).sum(axis=1))
    # 1/|A| = ∫₀¹ t^(|A|−1) dt leads to the weights 1/k
    part_of = imprecision(prediction, 1.0 / np.arange(1, prediction.n_classes), rng=rng, tolerance=tolerance)
    return part_of.complement()


def check_convention(convention: str, focal_sets: Any) -> None:
    """Refuse an unknown convention, and a family of events with the exact convention."""
    one_of(convention, "convention", ("exact", "paper"))
    if convention == "exact" and focal_sets is not None:
        rule = "can be set only with the paper's convention, since the exact one uses all events"
        got = 'got a family with convention="exact"'
        fail("focal_sets", rule, got, 'pass convention="paper", or leave focal_sets out', code="needs-paper-convention")


def _exactly(values: Floats) -> Nonspecificity:
    return Nonspecificity(values, np.zeros_like(values))


def _smets(prediction: Prediction) -> Floats:
    if isinstance(prediction, Masses):
        return _smets_of_family(prediction.checked_masses().T, prediction.focal_sets)
    n_classes = prediction.n_classes
    check_enumerable(n_classes)
    sizes = event_sizes(n_classes)
    sign = np.where(sizes % 2 == 1, 1.0, -1.0)[:, None]  # (−1)^(|B|+1)
    rounding = (n_classes * np.finfo(np.float64).eps * 2.0**sizes)[:, None]  # of a sum of 2^|A| terms up to 1
    values = np.empty(prediction.n_instances)

    def work(rows: slice, part: Prediction) -> None:
        upper = 1.0 - lattice_lower(lattice(part))[::-1]  # U(B) = 1 − L(Ω∖B); the reversed order is that of complements
        # Q(A) = Σ_{∅≠B⊆A} (−1)^(|B|+1) U(B) directly from upper probabilities: going through masses would round twice
        commonality = zeta_transform(sign * upper)
        # a commonality of 0 is computed as rounding noise of either sign; its logarithm would be arbitrary
        commonality[np.abs(commonality) <= rounding] = 0.0
        values[rows] = _sum_of_logs(commonality)

    prediction.for_each_chunk(work, lattice_bytes(prediction), chunk_bytes=LATTICE_BYTES)
    return values


def _smets_of_family(masses: Floats, focal_sets: NDArray[np.bool_]) -> Floats:
    n_classes = focal_sets.shape[1]
    check_enumerable(n_classes)
    lattice = np.zeros((2**n_classes, masses.shape[1]))
    lattice[focal_sets @ (1 << np.arange(n_classes))] = masses
    # superset sums are subset sums over the events in reverse order
    return _sum_of_logs(zeta_transform(lattice[::-1])[::-1])


def _sum_of_logs(commonality: Floats) -> Floats:
    """Σ_A ln(1/Q(A)) over all events but the empty one, ``(2^K, n)`` → ``(n,)``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.0 - fold_sum(np.log(commonality[1:]))


# The classes that a prediction does not rule out, and those of a predicted class set.

Bools = NDArray[np.bool_]
CLASS_SETS_CHUNK_BYTES = 32 * 2**20


def not_ruled_out(prediction: PredictionLike | ArrayLike, *, rule: str = "maximality") -> Bools:
    """Classes that the credal set of each instance does not rule out.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    rule : {"interval-dominance", "maximality", "e-admissibility"}
        When class j is ruled out, for distributions p of the set and the loss 0 for the true class and 1 for another:

        * "interval-dominance": the lower probability of some class exceeds the upper probability of j;
        * "maximality": some class is more probable than j under every p;
        * "e-admissibility": j is the most probable class, or tied with it, under no p.

        Each rule leaves a subset of the one before it. All three agree for two classes, the first two for intervals and
        masses. Each also rules out a class that has probability 0 under every p.

    Returns
    -------
    (n, K) bool
        At least one class in each row, except for empty `ClassSets`, which are returned as they are. Of a point: the mode, with
        ties.

    References
    ----------
    Troffaes (2007), Decision making under uncertainty using imprecise probabilities, Int. J. Approx. Reason. 45.
    Zaffalon, Corani, Mauá (2012), Evaluating credal classifiers by utility-discounted predictive accuracy, same journal 53.

    Examples
    --------
    >>> three = [[[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]]]
    >>> not_ruled_out(three).tolist(), not_ruled_out(three, rule="e-admissibility").tolist()
    ([[True, True, True]], [[True, True, False]])
    >>> not_ruled_out([[0.5, 0.2, 0.3]]).tolist()
    [[True, False, False]]
    """
    one_of(rule, "rule", CLASS_RULES)
    return class_sets_by_rule(as_prediction(prediction), last=rule)[rule]


def class_sets_by_rule(prediction: Prediction, *, last: str = CLASS_RULES[-1]) -> dict[str, Bools]:
    """`not_ruled_out` by each rule up to `last`, in one pass over the instances.

    Examples
    --------
    >>> import uqassay as uq
    >>> {rule: int(found.sum()) for rule, found in class_sets_by_rule(uq.Point([[0.5, 0.5, 0.0]])).items()}
    {'interval-dominance': 2, 'maximality': 2, 'e-admissibility': 2}
    """
    rules = CLASS_RULES[: CLASS_RULES.index(last) + 1]
    if isinstance(prediction, ClassSets):
        return dict.fromkeys(rules, prediction.sets)
    found = {rule: np.empty((prediction.n_instances, prediction.n_classes), dtype=bool) for rule in rules}

    def work(rows: slice, part: Prediction) -> None:
        for rule, sets in zip(rules, _undominated(part.credal(), last), strict=True):
            found[rule][rows] = sets

    size = sum(getattr(prediction, name)[:1].nbytes for name in prediction.array_names())
    prediction.for_each_chunk(work, size + 32 * prediction.n_classes, chunk_bytes=CLASS_SETS_CHUNK_BYTES)
    return found


def _undominated(credal: Any, last: str) -> list[Bools]:
    if isinstance(credal, Box):
        return undominated_in_box(*credal.bounds(), last=last)
    if isinstance(credal, Masses):
        return undominated_in_core(credal.checked_masses(), credal.focal_sets, last=last)
    if isinstance(credal, Point):
        probs = credal.mean_probs()
        modes = np.asarray(probs >= probs.max(axis=1, keepdims=True))
        return [modes] * (CLASS_RULES.index(last) + 1)
    bounds = credal.lower_probs(), credal.upper_probs()
    return undominated_in_hull(not_negative(credal.hull_points()), bounds=bounds, last=last)


# Width of a credal set: the difference of upper and lower probabilities.


def credal_width(prediction: PredictionLike, *, of: str = "mean") -> NDArray[np.float64]:
    """Upper minus lower probability of each instance: 0 for a point prediction, 1 for a vacuous one.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    of : {"mean", "predicted", "max"}
        The mean over all K classes, impossible ones too (Fig. 18 of the unified evaluation paper), the predicted class alone
        (`prediction.labels()`, Fig. 14), or the widest class.

    Returns
    -------
    (n,) float64, a difference of probabilities, between 0 and 1

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> prediction = SimpleNamespace(
    ...     lower_probs=lambda: [[0.5, 0.1, 0.1]], upper_probs=lambda: [[0.8, 0.2, 0.3]], labels=lambda: [0]
    ... )
    >>> [round(float(credal_width(prediction, of=of)[0]), 4) for of in ("mean", "predicted", "max")]
    [0.2, 0.3, 0.3]
    """
    one_of(of, "of", ("mean", "predicted", "max"))
    prediction = as_prediction(prediction)
    if isinstance(prediction, Point):
        return np.zeros(prediction.n_instances)
    l, u = (np.asarray(p, dtype=np.float64) for p in (prediction.lower_probs(), prediction.upper_probs()))
    width = np.ascontiguousarray(u - l)  # (n, K); a fixed memory layout, so that rounding does not depend on the chunk
    if of == "mean":
        return sum_over_classes(width) / width.shape[1]
    if of == "max":
        return np.asarray(width.max(axis=1), dtype=np.float64)
    return np.asarray(width[np.arange(len(width)), np.asarray(prediction.labels())], dtype=np.float64)


# The non-specificities that E can price: one entry of one table each, with formulas, bounds and words. Whatever computes,
# names, bounds, draws or explains a non-specificity reads `NONSPECIFICITIES`: a new one is one more entry.


@final
@dataclass(frozen=True)
class SetSize:
    """A non-specificity of a credal set: greater is less precise.

    Most are sums Σ m(A) g(|A|) over the masses m, the Möbius inverse of the set's lower probability; these are linear in the
    set as long as nothing is clipped.
    """

    name: str  #: As users pass it.
    axis: str  #: Name with the unit, as of an axis.
    sentence: str  #: Definition for the page: one sentence, the formula and the source.
    equation: str
    source: str
    greatest: Callable[[int], float]  #: Of the set of all distributions of K classes.
    greatest_text: str  #: The same in symbols, as a factor.
    #: (prediction, convention, focal sets, rng, tolerance) → one number per instance, with its error.
    compute: "Compute"
    unit: str = ""  #: "nats" or "".
    of_sizes: OfSizes | None = None  #: g, of numbers of classes; None for other measures.
    complemented: bool = False  #: Whether the sum is one of specificity s, and 1 − s enters E.
    least: float = 0.0  #: Of a single distribution.

    def of_sum(self, values: Nonspecificity) -> Nonspecificity:
        """The non-specificity for the sums Σ m(A) g(|A|)."""
        return values.complement() if self.complemented else values


Compute = Callable[[Prediction, Convention, Any, RandomState, float | None], Nonspecificity]


def _sum_over_masses(name: str) -> Compute:
    def compute(
        p: Prediction, convention: Convention, focal_sets: Any, rng: RandomState, tolerance: float | None
    ) -> Nonspecificity:
        return NONSPECIFICITIES[name].of_sum(
            nonspecificity(p, name, convention=convention, focal_sets=focal_sets, rng=rng, tolerance=tolerance)  # type: ignore[arg-type]
        )

    return compute


def _credal_uncertainty(over: str) -> Compute:
    def compute(p: Prediction, convention: Convention, *_: Any) -> Nonspecificity:
        values = credal_uncertainty(p, over=over, convention=convention)
        return Nonspecificity(values, np.zeros(len(values)))

    return compute


MASSES = "m are the masses, the Möbius inverse of the set's lower probability."

NONSPECIFICITIES: dict[str, SetSize] = {
    entry.name: entry
    for entry in (
        SetSize(
            "hartley",
            "non-specificity (nats)",
            "How large the credal set is: 0 for a point prediction, ln K for a prediction that says nothing (Hartley, in "
            f"nats). {MASSES}",
            "NS(ŷ) = Σ over A ⊆ Ω of m(A) ln |A|",
            "unified evaluation, equation 7",
            greatest=lambda k: float(np.log(k)),
            greatest_text="ln K",
            compute=_sum_over_masses("hartley"),
            unit="nats",
            of_sizes=OF_SIZES["hartley"],
        ),
        SetSize(
            "korner",
            "Körner non-specificity",
            "Mean size of the events that carry mass (Körner): 1 for a point prediction, K for one that says nothing. "
            f"{MASSES}",
            "NS(ŷ) = Σ over A ⊆ Ω of m(A) |A|",
            "unified evaluation, equation 10",
            greatest=float,
            greatest_text="K",
            compute=_sum_over_masses("korner"),
            of_sizes=OF_SIZES["korner"],
            least=1.0,
        ),
        SetSize(
            "pal",
            "1 − Pal's specificity",
            f"One minus Pal's specificity: 0 for a point prediction, 1 − 1/K for one that says nothing. {MASSES}",
            "NS(ŷ) = 1 − Σ over A ⊆ Ω of m(A) / |A|",
            "unified evaluation, equation 11",
            greatest=lambda k: 1 - 1 / k,
            greatest_text="(1 − 1/K)",
            compute=_sum_over_masses("pal"),
            of_sizes=OF_SIZES["pal"],
            complemented=True,
        ),
        SetSize(
            "credal-uncertainty",
            "credal uncertainty (nats)",
            "Credal uncertainty: highest minus lowest entropy in the credal set, in nats; 0 for a point prediction.",
            "NS(ŷ) = max over p in ŷ of H(p) − min over p in ŷ of H(p)",
            "unified evaluation, equation 20",
            greatest=lambda k: float(np.log(k)),
            greatest_text="ln K",
            compute=_credal_uncertainty("set"),
            unit="nats",
        ),
        SetSize(
            "credal-uncertainty-box",
            "credal uncertainty over the box (nats)",
            "Credal uncertainty of the box: highest minus lowest entropy among all distributions between the lower and upper "
            "probabilities of the classes, in nats; 0 for a point prediction.",
            "NS(ŷ) = max of H(p) − min of H(p), both over P̲ ≤ p ≤ P̄",
            "unified evaluation, equation 20",
            greatest=lambda k: float(np.log(k)),
            greatest_text="ln K",
            compute=_credal_uncertainty("box"),
            unit="nats",
        ),
    )
}
