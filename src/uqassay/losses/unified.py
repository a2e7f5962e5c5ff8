"""The unified loss E = d + λ·NS, its distances, errors and gaps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, RandomState
from uqassay.credal.distances import DISTANCES
from uqassay.credal.nearest import (
    divergence,
    nearest_in_box,
    nearest_in_core,
    nearest_in_hull,
    one_hot_distance,
)
from uqassay.credal.vertices import outermost_permutations, permutation_vertices
from uqassay.errors import InputError
from uqassay.measures.nonspecificities import (
    NONSPECIFICITIES,
    OF_SIZES,
    ClippedMasses,
    Nonspecificity,
    check_convention,
    for_each_clipped,
    for_each_clipped_sum,
    hartley_weights,
    imprecision_and_label,
)
from uqassay.predictions import (
    Box,
    ClassSets,
    Masses,
    Point,
    Prediction,
    PredictionLike,
    as_prediction,
    not_negative,
)
from uqassay.predictions.labels import labels_for
from uqassay.predictions.swapped import refuse_swapped

__all__ = [
    "DEFAULT_TRADEOFF",
    "FLOORS",
    "UnifiedLoss",
    "brier_loss",
    "is_correct",
    "label_distance",
    "label_losses",
    "labels_of",
    "log_loss",
    "point_losses",
    "prediction_errors",
    "probability_gap",
    "set_nonspecificity",
    "unified_loss",
    "unified_terms",
]


# Distance of a label, or of a label distribution, to the credal set of each instance.

# Least probability in a logarithm. It does not depend on the number type, so the same predictions cost the same in each:
# 2⁻⁵², the machine epsilon of float64, in which losses are computed. A probability that float16 stores as 0 (below 3e-8)
# then costs 36 nats as a 0 in float64 does; a floor by type (6.9 nats for float16, 16 for float32) would favour models
# that were stored with fewer bits. "paper" is the number in the code of the authors of unified evaluation.
FLOORS = {"exact": float(np.finfo(np.float64).eps), "paper": 1e-10}
CHUNK_BYTES = 64 * 2**20


def labels_of(y_true: Any, prediction: Prediction) -> NDArray[Any]:
    """Validated labels in the order of the instances; a Series is aligned to the ids of the prediction."""
    return labels_for(
        y_true,
        n_instances=prediction.n_instances,
        n_classes=prediction.n_classes,
        ids=prediction.ids,
        keys=prediction.keys,
        class_names=prediction.class_names,
        class_order=prediction.class_order,
        n_members=getattr(prediction, "n_members", None),
    )


def label_distance(
    y: NDArray[Any],
    prediction: Prediction,
    *,
    distance: str = "kl",
    convention: str = "exact",
    focal_sets: Any = None,
    floor: float | None = None,
) -> tuple[Floats, Floats, int]:
    """Distance of validated labels to each set, its certified gap, each ``(n,)``, and the number of floored rows."""
    entry, least = DISTANCES[distance], FLOORS[convention] if floor is None else floor
    n = prediction.n_instances
    d, gap = np.empty(n), np.zeros(n)
    one_hot = y.ndim == 1
    if one_hot and convention == "paper" and entry.over_vertices:
        return _clipped_jensen_shannon(y, prediction, distance, focal_sets, least), gap, 0
    if one_hot and entry.of_label is not None:
        return from_upper(_upper_of_label(y, prediction, convention, focal_sets), distance, least)
    low = np.zeros(n, dtype=bool)

    def work(rows: slice, part: Prediction) -> None:
        target = np.eye(prediction.n_classes)[y[rows]] if one_hot else y[rows]
        d[rows], gap[rows] = _nearest(target, part, distance, least)
        if entry.floored:
            low[rows] = ((target > 0) & _below(part.upper_probs(), least)).any(axis=1)

    _for_each_set(prediction, work, convention, focal_sets)
    return d, gap, int(low.sum())


def label_losses(prediction: Prediction, distance: str, floor: float) -> Floats | None:
    """Distance of each label to each set, ``(n, K)``; None where it has no closed form."""
    if DISTANCES[distance].of_label is not None:
        return one_hot_distance(not_negative(prediction.credal().upper_probs()), distance, floor=floor)
    return point_losses(prediction.mean_probs(), distance, floor) if isinstance(prediction, Point) else None


def point_losses(probs: Floats, distance: str, floor: float) -> Floats | None:
    """Distance of each label to each distribution, ``(n, K)``; None where it has no closed form."""
    if DISTANCES[distance].of_label is not None:
        return one_hot_distance(probs, distance, floor=floor)
    if distance == "brier":
        return (probs**2).sum(axis=1, keepdims=True) + 1.0 - 2.0 * probs
    return None


def from_upper(upper: Floats, distance: str, floor: float) -> tuple[Floats, Floats, int]:
    """Distances in closed form, gaps of 0, and the number of floored rows."""
    floored = int(np.count_nonzero(_below(upper, floor))) if DISTANCES[distance].floored else 0
    return one_hot_distance(upper, distance, floor=floor), np.zeros_like(upper), floored


def _below(upper: Floats, floor: float) -> NDArray[np.bool_]:
    return upper < floor if floor > 0 else upper <= 0


def _clipped_jensen_shannon(
    y: NDArray[Any], prediction: Prediction, distance: str, focal_sets: Any, floor: float
) -> Floats:
    """Distance as in the paper's code: the least over the 2K outermost vertices, clipped from below and renormalised.

    The square root makes the clipping visible: a certain and right prediction has distance of about 2e-5 instead of 0.
    """
    d = np.empty(prediction.n_instances)
    orders = outermost_permutations(prediction.n_classes)

    def work(rows: slice, part: Prediction) -> None:
        if isinstance(part, Masses):
            vertices = permutation_vertices(part.masses, part.focal_sets, permutations=orders)  # (n, 2K, K)
        else:
            vertices = part.mean_probs()[:, None, :]
        clipped = np.maximum(vertices, floor)
        clipped /= clipped.sum(axis=2, keepdims=True)
        of_label = np.take_along_axis(clipped, y[rows, None, None], axis=2)[:, :, 0]
        d[rows] = one_hot_distance(of_label, distance).min(axis=1)

    _for_each_set(prediction, work, "paper", focal_sets)
    return d


def _upper_of_label(y: NDArray[Any], prediction: Prediction, convention: str, focal_sets: Any) -> Floats:
    upper = np.empty(prediction.n_instances)
    if convention == "paper" and not isinstance(prediction, Point):

        def of_clipped(rows: slice, _: Floats, plausibility: Floats) -> None:
            upper[rows] = plausibility[np.arange(len(plausibility)), y[rows]]

        for_each_clipped_sum(prediction, OF_SIZES["korner"], of_clipped, focal_sets)
    else:

        def of_set(rows: slice, part: Prediction) -> None:
            if _has_hull(part):  # the largest among the points, of the label alone
                points = part.hull_points()
                upper[rows] = not_negative(points[np.arange(len(points)), :, y[rows]].max(axis=1))
            else:
                upper[rows] = np.take_along_axis(part.upper_probs(), y[rows, None], axis=1)[:, 0]

        _for_each_set(prediction, of_set, "exact", None)
    return upper


def _for_each_set(
    prediction: Prediction, work: Callable[[slice, Prediction], None], convention: str, focal_sets: Any
) -> None:
    """Call ``work(rows, part)`` with the prediction's own sets, or the paper's clipped masses as `Masses`."""
    if convention == "paper" and not isinstance(prediction, Point):

        def of_clipped(rows: slice, part: ClippedMasses) -> None:
            full = part.focal_sets.any(axis=1)  # all but the empty set
            work(rows, Masses(part.masses[full].T, part.focal_sets[full]))

        for_each_clipped(prediction, of_clipped, focal_sets)
        return
    per_row = 8 * int(np.prod(prediction[:1].credal().hull_points().shape[1:])) if _has_hull(prediction) else 256
    prediction.for_each_chunk(lambda rows, part: work(rows, part.credal()), per_row, chunk_bytes=CHUNK_BYTES)


def _has_hull(prediction: Prediction) -> bool:
    return not isinstance(prediction, (Box, Masses))


def _nearest(target: Floats, part: Prediction, distance: str, floor: float) -> tuple[Floats, Floats]:
    if isinstance(part, Point):
        d = divergence(target, part.mean_probs(), distance, floor=floor)
        return d, np.zeros(len(d))
    if isinstance(part, Box):
        found = nearest_in_box(target, *part.bounds(), distance, floor=floor)
    elif isinstance(part, Masses):
        found = nearest_in_core(target, part.checked_masses(), part.focal_sets, distance, floor=floor)
    else:
        found = nearest_in_hull(target, not_negative(part.hull_points()), distance, floor=floor)
    return found.distance, found.gap


# The loss of unified evaluation: E = distance of the label to the credal set + λ · non-specificity of the set.

DEFAULT_TRADEOFF = 0.5  # default λ
GREATEST_TRADEOFF = 1e100  # third powers of greater losses overflow in the tests


@dataclass(frozen=True, eq=False)
class UnifiedLoss:
    """The two terms of E for every instance, with their numerical errors.

    Attributes
    ----------
    distance, nonspecificity : array (n,)
        Nats for "kl", "js" and "hartley"; see `unified_loss` for the others.
    tradeoff : float
        λ.
    floored : int
        Number of rows whose upper probability of the label was below the floor.
    gap : array (n,)
        Certified upper bound of `distance` minus the minimum; 0 in closed form.
    nonspecificity_error : array (n,)
        Standard error of the non-specificity; 0 if exact.
    mean_nonspecificity_error : float
        Standard error that the estimated non-specificity adds to its mean; 0 if exact.
    """

    distance: Floats
    nonspecificity: Floats
    tradeoff: float
    floored: int
    gap: Floats
    nonspecificity_error: Floats
    mean_nonspecificity_error: float = 0.0

    @property
    def total(self) -> Floats:
        """E = distance + λ · non-specificity, ``(n,)``."""
        return self.at(self.tradeoff)

    def at(self, tradeoff: float) -> Floats:
        """E at another λ, ``(n,)``."""
        check_tradeoff(tradeoff)
        return self.distance + tradeoff * self.nonspecificity


def unified_loss(
    y_true: ArrayLike,
    prediction: PredictionLike,
    *,
    tradeoff: float = DEFAULT_TRADEOFF,
    distance: str = "kl",
    nonspecificity: str = "hartley",
    convention: Literal["exact", "paper"] = "exact",
    focal_sets: Any = None,
    floor: float | None = None,
) -> UnifiedLoss:
    """Distance of the label to the credal set plus λ times the set's non-specificity, for every instance; lower is better.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, or label distributions / vote counts (divided by their sums).
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    tradeoff : float
        λ ≥ 0: the cost of a nat of imprecision relative to a nat of distance.
    distance : {"kl", "js", "js_distance", "tv", "hellinger", "brier"}, or another one of `credal.DISTANCES`
        KL(y‖p), Jensen-Shannon divergence, its square root, total variation, Hellinger distance, Σ(p − y)²; each minimised
        over the set. For a label, all except "brier" have a closed form in the upper probability of the label. "brier" and
        label distributions take a convex solver, whose certified gap is reported.
    nonspecificity : {"hartley", "korner", "pal", "credal-uncertainty", "credal-uncertainty-box"}
        See `measures.nonspecificity` and `measures.credal_uncertainty`, which is over the set or, as "credal-uncertainty-box",
        over its box; "pal" enters as 1 − specificity. Smets' measure is not allowed: it grows with information and is
        unbounded for precise sets.
    convention : {"exact", "paper"}
        "exact": all events, without clipping. "paper": clipped and renormalised masses, as in the authors' code.
    focal_sets : bool array (F, K), optional
        Family of events for ``convention="paper"``; all 2^K by default (K ≤ 16).
    floor : float, optional
        Least upper probability in the logarithm of KL: by default 2.2e-16 for every number type ("paper": 1e-10).
        0 gives inf.

    Returns
    -------
    UnifiedLoss
        ``.distance``, ``.nonspecificity``, ``.total``, each (n,).

    Raises
    ------
    InputError
        Labels out of range or of the wrong length, unknown names, a negative λ.

    Examples
    --------
    >>> import uqassay as uq
    >>> loss = uq.losses.unified_loss([0], uq.Intervals([[0.5, 0.25]], [[0.75, 0.5]]), tradeoff=0.5)
    >>> loss.distance.round(4).tolist(), loss.nonspecificity.round(4).tolist(), loss.total.round(4).tolist()
    ([0.2877], [0.1733], [0.3743])
    """
    check_tradeoff(tradeoff)
    check_options(distance, nonspecificity, convention, focal_sets, floor)
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    (d, gap, floored), ns = unified_terms(
        y,
        prediction,
        distance=distance,
        nonspecificity=nonspecificity,
        convention=convention,
        focal_sets=focal_sets,
        floor=floor,
    )
    return UnifiedLoss(d, ns.values, float(tradeoff), floored, gap, ns.standard_error, ns.mean_standard_error)


def check_options(distance: str, nonspecificity: str, convention: str, focal_sets: Any, floor: float | None) -> None:
    """Refuse unknown names and options that exclude each other."""
    if not isinstance(distance, str) or distance not in DISTANCES:
        raise InputError(
            "distance",
            f"must be one of {', '.join(DISTANCES)}",
            f"got {distance!r}",
            "choose one of them",
            code="choice",
        )
    if not isinstance(nonspecificity, str) or nonspecificity not in NONSPECIFICITIES:
        raise InputError(
            "nonspecificity",
            f"must be one of {', '.join(NONSPECIFICITIES)}",
            f"got {nonspecificity!r}",
            "choose one of them",
            code="choice",
        )
    check_convention(convention, focal_sets)
    if floor is not None and not (isinstance(floor, (int, float, np.number)) and 0 <= floor < 1):
        raise InputError(
            "floor",
            "must lie in [0, 1)",
            f"got {floor!r}",
            "pass 0 for infinite distances, or a small probability",
            code="range",
        )


def check_tradeoff(tradeoff: float) -> None:
    """Refuse a λ that is not a number, negative, or so large that sums overflow."""
    # a comparison, because np.isfinite fails on integers beyond 64 bits
    if not (isinstance(tradeoff, (int, float, np.number)) and 0 <= tradeoff <= GREATEST_TRADEOFF):
        raise InputError(
            "tradeoff",
            f"must be a number from 0 to {GREATEST_TRADEOFF:g}",
            f"got {tradeoff!r}",
            "pass 0.5, or another cost of a nat of imprecision",
            code="range",
        )


def check_tradeoffs(tradeoffs: Sequence[float]) -> tuple[float, ...]:
    """One λ or several as numbers, in the order given; anything else is refused."""
    several = isinstance(tradeoffs, (Sequence, np.ndarray)) and not isinstance(tradeoffs, str)
    values: list[Any] = list(tradeoffs) if several else [tradeoffs]
    if not values:
        raise InputError("tradeoffs", "needs at least one λ", "got none", "(0.1, 0.5, 1.0) is a start", code="empty")
    for value in values:
        try:
            check_tradeoff(value)
        except InputError as problem:
            raise problem.replace(parameter="tradeoffs") from problem
    return tuple(float(value) for value in values)


def unified_terms(
    y: NDArray[Any],
    prediction: Prediction,
    *,
    distance: str,
    nonspecificity: str,
    convention: Literal["exact", "paper"],
    focal_sets: Any,
    floor: float | None,
    rng: RandomState = None,
    tolerance: float | None = None,
) -> tuple[tuple[Floats, Floats, int], Nonspecificity]:
    """Both terms of E for validated labels, from one pass over the masses or the points where that is possible."""
    least = FLOORS[convention] if floor is None else floor
    entry, size = DISTANCES[distance], NONSPECIFICITIES[nonspecificity]
    of_label = y.ndim == 1 and entry.of_label is not None
    closed = of_label and not entry.over_vertices
    if convention == "paper" and closed and size.of_sizes is not None and not isinstance(prediction, Point):
        upper, values = np.empty(len(y)), np.empty(len(y))

        def work(rows: slice, sums: Floats, plausibility: Floats) -> None:
            upper[rows] = plausibility[np.arange(len(plausibility)), y[rows]]
            values[rows] = sums

        for_each_clipped_sum(prediction, size.of_sizes, work, focal_sets)
        return from_upper(upper, distance, least), size.of_sum(Nonspecificity(values, np.zeros(len(y))))
    if convention == "exact" and nonspecificity == "hartley" and of_label:
        both = imprecision_and_label(prediction, hartley_weights(prediction.n_classes), y)
        if both is not None:
            return from_upper(both[1], distance, least), both[0]
    found = label_distance(y, prediction, distance=distance, convention=convention, focal_sets=focal_sets, floor=least)
    ns = set_nonspecificity(
        prediction, nonspecificity, convention=convention, focal_sets=focal_sets, rng=rng, tolerance=tolerance
    )
    return found, ns


def set_nonspecificity(
    prediction: Prediction,
    measure: str = "hartley",
    *,
    convention: Literal["exact", "paper"] = "exact",
    focal_sets: Any = None,
    rng: RandomState = None,
    tolerance: float | None = None,
) -> Nonspecificity:
    """The non-specificity in E by name; greater is less precise."""
    return NONSPECIFICITIES[measure].compute(prediction, convention, focal_sets, rng, tolerance)


# Errors of a prediction that an uncertainty score should rank: wrong or right, and the probability gap.


def is_correct(y_true: ArrayLike, prediction: PredictionLike) -> Floats:
    """1 if the predicted class is the label, else 0, ``(n,)``; for label distributions the share of the predicted class.

    Class sets predict no single class. They are right as often as a class of the set that is taken at random: 1/s if the label
    is one of the s classes, which is Zaffalon, Corani and Mauá's discounted accuracy (2012).

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.losses.is_correct([0, 0], uq.Point([[0.9, 0.1], [0.2, 0.8]])).tolist()
    [1.0, 0.0]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    if isinstance(prediction, ClassSets):
        return 1.0 - probability_gap(y, prediction)
    label = prediction.labels()
    if y.ndim == 2:
        return np.take_along_axis(y, label[:, None], axis=1)[:, 0]
    return np.asarray(label == y, dtype=np.float64)


def prediction_errors(y_true: ArrayLike, prediction: PredictionLike) -> Floats:
    """1 if the predicted class is wrong, mis(x, y) = 1[ŷ(x) ≠ y], ``(n,)``; for label distributions its probability.

    Parameters
    ----------
    y_true : int array (n,), or array (n, K)
        Labels, or label distributions / vote counts.
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)

    Raises
    ------
    InputError
        Class sets that do not all have a single class.

    Examples
    --------
    >>> import uqassay as uq
    >>> prediction_errors([0, 0], uq.Point([[0.9, 0.1], [0.2, 0.8]])).tolist()
    [0.0, 1.0]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    if isinstance(prediction, ClassSets):
        prediction.labels()  # refuses sets without a single class
    return 1.0 - is_correct(y_true, prediction)


def probability_gap(y_true: ArrayLike, prediction: PredictionLike) -> Floats:
    """One minus the mean probability of the label, gap(x, y) = 1 − f_y(x), ``(n,)``; with label distributions 1 − Σ q_k f_k.

    Parameters
    ----------
    y_true, prediction
        As in `prediction_errors`.

    Examples
    --------
    >>> import uqassay as uq
    >>> probability_gap([0, 0], uq.Point([[0.75, 0.25], [0.25, 0.75]])).tolist()
    [0.25, 0.75]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    f = prediction.mean_probs()
    kept = (y * f).sum(axis=1) if y.ndim == 2 else np.take_along_axis(f, y[:, None], axis=1)[:, 0]
    return np.clip(1.0 - kept, 0.0, 1.0)


# Log loss and Brier loss of the mean prediction, instance by instance.


def log_loss(y_true: ArrayLike, prediction: PredictionLike, *, floor: float | None = None) -> Floats:
    """−Σ_c y_c ln p̄_c of the mean prediction, nats, ``(n,)``, with the floor of `unified_loss`.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.losses.log_loss([0], uq.Point([[0.5, 0.5]])).round(4).tolist()
    [0.6931]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    p = prediction.mean_probs()
    least = FLOORS["exact"] if floor is None else floor
    of_labels = np.take_along_axis(p, y[:, None], axis=1)[:, 0] if y.ndim == 1 else p
    with np.errstate(divide="ignore", invalid="ignore"):  # −∞ with a floor of 0
        logs = np.log(np.maximum(of_labels, least))
        return -logs if y.ndim == 1 else -np.where(y > 0, y * logs, 0.0).sum(axis=1)


def brier_loss(y_true: ArrayLike, prediction: PredictionLike) -> Floats:
    """Σ_c (p̄_c − y_c)² of the mean prediction, from 0 to 2, ``(n,)``.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.losses.brier_loss([0], uq.Point([[0.5, 0.5]])).tolist()
    [0.5]
    """
    refuse_swapped(y_true, prediction)
    prediction = as_prediction(prediction)
    y = labels_of(y_true, prediction)
    target = y if y.ndim == 2 else np.eye(prediction.n_classes)[y]
    return np.asarray(((prediction.mean_probs() - target) ** 2).sum(axis=1))
