"""Distance of a label, or of a label distribution, to the credal set of each instance."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._namespaces import namespace
from uqassay.credal.distance import divergence, nearest_in_box, nearest_in_core, nearest_in_hull, one_hot_distance
from uqassay.credal.vertices import outermost_permutations, permutation_vertices
from uqassay.measures.clipped_masses import ClippedMasses, for_each_clipped, for_each_clipped_sum
from uqassay.predictions import Box, DeviceProbs, Masses, Point, Prediction, not_negative
from uqassay.predictions.device_labels import labels_on_device
from uqassay.predictions.labels import labels_for

__all__ = ["FLOORS", "from_upper", "label_distance", "labels_of"]

Array = NDArray[np.float64]
# Least probability in a logarithm. It does not depend on the number type, so the same predictions cost the same in each:
# 2⁻⁵², the machine epsilon of float64, in which losses are computed. A probability that float16 stores as 0 (below 3e-8)
# then costs 36 nats as a 0 in float64 does; a floor by type (6.9 nats for float16, 16 for float32) would favour models
# that were stored with fewer bits. "paper" is the number in the code of paper 000's authors.
FLOORS = {"exact": float(np.finfo(np.float64).eps), "paper": 1e-10}
CHUNK_BYTES = 64 * 2**20


def labels_of(y_true: Any, prediction: Prediction) -> NDArray[Any]:
    """Validated labels in the order of the instances; a Series is aligned to the ids of the prediction."""
    if isinstance(prediction, DeviceProbs):
        return labels_on_device(y_true, prediction)
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
) -> tuple[Array, Array, int]:
    """Distance of validated labels to each set, its certified gap, each ``(n,)``, and the number of floored rows."""
    least = FLOORS[convention] if floor is None else floor
    n = prediction.n_instances
    d, gap = np.empty(n), np.zeros(n)
    one_hot = y.ndim == 1
    if one_hot and convention == "paper" and distance in ("js", "js_distance"):
        return _clipped_jensen_shannon(y, prediction, distance, focal_sets, least), gap, 0
    if one_hot and distance != "brier":
        return from_upper(_upper_of_label(y, prediction, convention, focal_sets), distance, least)
    low = np.zeros(n, dtype=bool)

    def work(rows: slice, part: Prediction) -> None:
        target = np.eye(prediction.n_classes)[y[rows]] if one_hot else y[rows]
        d[rows], gap[rows] = _nearest(target, part, distance, least)
        if distance == "kl":
            low[rows] = ((target > 0) & _below(part.upper_probs(), least)).any(axis=1)

    _for_each_set(prediction, work, convention, focal_sets)
    return d, gap, int(low.sum())


def from_upper(upper: Array, distance: str, floor: float) -> tuple[Array, Array, int]:
    """Distances in closed form, gaps of 0, and the number of floored rows."""
    xp = namespace(upper)
    floored = int(xp.count_nonzero(_below(upper, floor))) if distance == "kl" else 0
    return one_hot_distance(upper, distance, floor=floor), xp.zeros_like(upper), floored


def _below(upper: Array, floor: float) -> NDArray[np.bool_]:
    return upper < floor if floor > 0 else upper <= 0


def _clipped_jensen_shannon(
    y: NDArray[Any], prediction: Prediction, distance: str, focal_sets: Any, floor: float
) -> Array:
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


def _upper_of_label(y: NDArray[Any], prediction: Prediction, convention: str, focal_sets: Any) -> Array:
    if isinstance(prediction, DeviceProbs):
        return prediction.upper_of_label(y)
    upper = np.empty(prediction.n_instances)
    if convention == "paper" and not isinstance(prediction, Point):

        def of_clipped(rows: slice, _: Array, plausibility: Array) -> None:
            upper[rows] = plausibility[np.arange(len(plausibility)), y[rows]]

        for_each_clipped_sum(prediction, "korner", of_clipped, focal_sets)
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


def _nearest(target: Array, part: Prediction, distance: str, floor: float) -> tuple[Array, Array]:
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
