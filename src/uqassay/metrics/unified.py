"""Unified evaluation (paper 000): E = distance of the label to the credal set + λ · non-specificity of the set."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState
from uqassay.credal.distance import (
    DISTANCES,
    divergence,
    nearest_in_box,
    nearest_in_core,
    nearest_in_hull,
    one_hot_distance,
)
from uqassay.credal.vertices import outermost_permutations, permutation_vertices
from uqassay.errors import InputError
from uqassay.measures.clipped_masses import ClippedMasses, for_each_clipped
from uqassay.measures.credal_entropy import credal_uncertainty
from uqassay.measures.hartley import Nonspecificity
from uqassay.measures.nonspecificity import check_convention
from uqassay.measures.nonspecificity import nonspecificity as named_nonspecificity
from uqassay.predictions import Intervals, Masses, Point, Prediction
from uqassay.predictions._base import as_prediction, not_negative
from uqassay.predictions.pandas_input import labels_for

__all__ = ["UnifiedLoss", "label_distance", "set_nonspecificity", "unified_loss"]

Array = NDArray[np.float64]
Distance = Literal["kl", "js", "js_distance", "tv", "hellinger", "brier"]
NONSPECIFICITIES = ("hartley", "korner", "pal", "credal-uncertainty")
PAPER_FLOOR = 1e-10
CHUNK_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class UnifiedLoss:
    """The two ingredients of E per instance, and how surely they were computed.

    Attributes
    ----------
    distance, nonspecificity : array (n,)
        Nats for "kl", "js" and "hartley"; see `unified_loss` for the others.
    tradeoff : float
        λ.
    floored : int
        Rows whose upper probability of the label was below the floor.
    gap : array (n,)
        Certified bound on how far `distance` may lie above the minimum: 0 in closed form.
    nonspecificity_error : array (n,)
        Standard error of the non-specificity: 0 where exact.
    mean_nonspecificity_error : float
        Standard error that the estimate of the non-specificity adds to its mean: 0 where exact.
    """

    distance: Array
    nonspecificity: Array
    tradeoff: float
    floored: int
    gap: Array
    nonspecificity_error: Array
    mean_nonspecificity_error: float = 0.0

    @property
    def total(self) -> Array:
        """E = distance + λ · non-specificity, ``(n,)``."""
        return self.at(self.tradeoff)

    def at(self, tradeoff: float) -> Array:
        """E at another λ, ``(n,)``."""
        check_tradeoff(tradeoff)
        return self.distance + tradeoff * self.nonspecificity


def unified_loss(
    y_true: ArrayLike,
    prediction: Prediction,
    *,
    tradeoff: float = 1.0,
    distance: Distance = "kl",
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
    prediction : Prediction
        Any kind.
    tradeoff : float
        λ ≥ 0: what a nat of imprecision costs against a nat of distance.
    distance : {"kl", "js", "js_distance", "tv", "hellinger", "brier"}
        KL(y‖p), Jensen-Shannon divergence, its square root, total variation, Hellinger distance, Σ(p − y)²; the least over
        the set. For a label all but "brier" follow from the upper probability of the label; "brier" and label
        distributions take a convex solver, whose certified gap is reported.
    nonspecificity : {"hartley", "korner", "pal", "credal-uncertainty"}
        See `measures.nonspecificity` and `measures.credal_uncertainty`; "pal" enters as 1 − specificity. Smets' measure
        grows with information, without bound for precise sets, and so cannot enter E.
    convention : {"exact", "paper"}
        "exact": every event, nothing clipped. "paper": clipped and renormalised masses, as the authors' code does.
    focal_sets : bool array (F, K), optional
        Family of events for ``convention="paper"``; all 2^K by default (K ≤ 16).
    floor : float, optional
        Least upper probability in the logarithm of KL: by default the machine epsilon of the input's dtype ("paper":
        1e-10). 0 gives inf.

    Returns
    -------
    UnifiedLoss
        ``.distance``, ``.nonspecificity``, ``.total``, each (n,).

    Raises
    ------
    InputError
        Labels out of range or of another length, unknown names, a negative λ.

    Examples
    --------
    >>> import uqassay as uq
    >>> loss = uq.metrics.unified_loss([0], uq.Intervals([[0.5, 0.25]], [[0.75, 0.5]]), tradeoff=0.5)
    >>> loss.distance.round(4).tolist(), loss.nonspecificity.round(4).tolist(), loss.total.round(4).tolist()
    ([0.2877], [0.1733], [0.3743])
    """
    check_tradeoff(tradeoff)
    check_options(distance, nonspecificity, convention, focal_sets, floor)
    y = labels_of(y_true, prediction)
    d, gap, floored = label_distance(
        y, prediction, distance=distance, convention=convention, focal_sets=focal_sets, floor=floor
    )
    ns = set_nonspecificity(prediction, nonspecificity, convention=convention, focal_sets=focal_sets)
    return UnifiedLoss(d, ns.values, float(tradeoff), floored, gap, ns.standard_error, ns.mean_standard_error)


def check_options(distance: str, nonspecificity: str, convention: str, focal_sets: Any, floor: float | None) -> None:
    """Refuse unknown names, and what does not go together."""
    if distance not in DISTANCES:
        raise InputError(f"distance: must be one of {', '.join(DISTANCES)}; got {distance!r}; choose one of them.")
    if nonspecificity not in NONSPECIFICITIES:
        raise InputError(
            f"nonspecificity: must be one of {', '.join(NONSPECIFICITIES)}; got {nonspecificity!r}; choose one of them."
        )
    check_convention(convention, focal_sets)
    if floor is not None and not (isinstance(floor, (int, float, np.number)) and 0 <= floor < 1):
        raise InputError(
            f"floor: must lie in [0, 1); got {floor!r}; pass 0 for infinite distances, or a small probability."
        )


def labels_of(y_true: Any, prediction: Prediction) -> NDArray[Any]:
    """Checked labels in the order of the prediction's instances; a Series is aligned to its ids."""
    as_prediction(prediction)
    return labels_for(
        y_true,
        n_instances=prediction.n_instances,
        n_classes=prediction.n_classes,
        ids=prediction.ids,
        class_names=prediction.class_names,
    )


def check_tradeoff(tradeoff: float) -> None:
    """Refuse a λ that is no number, negative, or not finite."""
    if not (isinstance(tradeoff, (int, float, np.number)) and np.isfinite(tradeoff) and tradeoff >= 0):
        raise InputError(
            f"tradeoff: must be finite and at least 0; got {tradeoff}; choose λ by how costly imprecision is."
        )


def default_floor(prediction: Prediction, convention: str) -> float:
    """Least probability in a logarithm: 1e-10 in the paper's code, else the precision that the input is stored in."""
    if convention == "paper":
        return PAPER_FLOOR
    if isinstance(prediction, Masses) and prediction.precision is not None:
        return prediction.precision
    dtype = getattr(prediction, prediction._arrays()[0]).dtype
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


def label_distance(
    y: NDArray[Any],
    prediction: Prediction,
    *,
    distance: str = "kl",
    convention: str = "exact",
    focal_sets: Any = None,
    floor: float | None = None,
) -> tuple[Array, Array, int]:
    """Distance of checked labels to each set, its certified gap, each ``(n,)``, and the number of floored rows."""
    least = default_floor(prediction, convention) if floor is None else floor
    n = prediction.n_instances
    d, gap = np.empty(n), np.zeros(n)
    one_hot = y.ndim == 1
    if one_hot and convention == "paper" and distance in ("js", "js_distance"):
        return _clipped_jensen_shannon(y, prediction, distance, focal_sets, least), gap, 0
    if one_hot and distance != "brier":
        upper = _upper_of_label(y, prediction, convention, focal_sets)
        floored = int(_below(upper, least).sum()) if distance == "kl" else 0
        return one_hot_distance(upper, distance, floor=least), gap, floored
    low = np.zeros(n, dtype=bool)

    def work(rows: slice, part: Prediction) -> None:
        target = np.eye(prediction.n_classes)[y[rows]] if one_hot else y[rows]
        d[rows], gap[rows] = _nearest(target, part, distance, least)
        if distance == "kl":
            low[rows] = ((target > 0) & _below(part.upper_probs(), least)).any(axis=1)

    _for_each_set(prediction, work, convention, focal_sets)
    return d, gap, int(low.sum())


def set_nonspecificity(
    prediction: Prediction,
    measure: str = "hartley",
    *,
    convention: Literal["exact", "paper"] = "exact",
    focal_sets: Any = None,
    rng: RandomState = None,
    tolerance: float | None = None,
) -> Nonspecificity:
    """The non-specificity that enters E, by name; greater is less precise."""
    if measure == "credal-uncertainty":
        values = credal_uncertainty(prediction, convention=convention)
        return Nonspecificity(values, np.zeros(len(values)))
    ns = named_nonspecificity(
        prediction,
        measure,  # type: ignore[arg-type]
        convention=convention,
        focal_sets=focal_sets,
        rng=rng,
        tolerance=tolerance,
    )
    if measure == "pal":
        return replace(ns, values=1.0 - ns.values, order_deviations=-ns.order_deviations)
    return ns


def _below(upper: Array, floor: float) -> NDArray[np.bool_]:
    return upper < floor if floor > 0 else upper <= 0


def _clipped_jensen_shannon(
    y: NDArray[Any], prediction: Prediction, distance: str, focal_sets: Any, floor: float
) -> Array:
    """The paper's code: vertices clipped from below and renormalised, the least distance of the 2K outermost ones.

    The square root makes the clipping show: a sure and right prediction is at about 2e-5 instead of 0.
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


def _upper_of_label(y: NDArray[Any], prediction: Prediction, convention: str, focal_sets: Any) -> Array:
    upper = np.empty(prediction.n_instances)
    if convention == "paper" and not isinstance(prediction, Point):

        def of_clipped(rows: slice, part: ClippedMasses) -> None:
            upper[rows] = part.upper[y[rows], np.arange(part.upper.shape[1])]

        for_each_clipped(prediction, of_clipped, focal_sets)
    else:

        def of_set(rows: slice, part: Prediction) -> None:
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
    return not isinstance(prediction, (Intervals, Masses))


def _nearest(target: Array, part: Prediction, distance: str, floor: float) -> tuple[Array, Array]:
    if isinstance(part, Point):
        d = divergence(target, part.mean_probs(), distance, floor=floor)
        return d, np.zeros(len(d))
    if isinstance(part, Intervals):
        found = nearest_in_box(target, *part.bounds(), distance, floor=floor)
    elif isinstance(part, Masses):
        found = nearest_in_core(target, part.checked_masses(), part.focal_sets, distance, floor=floor)
    else:
        found = nearest_in_hull(target, not_negative(part.hull_points()), distance, floor=floor)
    return found.distance, found.gap
