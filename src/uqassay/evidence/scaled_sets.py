"""Credal sets with their spread scaled about the centre, and both terms of E for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay._array import as_numeric, row_chunks
from uqassay.errors import InputError
from uqassay.evidence.kept_rows import Kept, rows_of
from uqassay.evidence.random_order import random_keys, sample_within
from uqassay.evidence.scaled_coverage import COVERED_ROWS, can_be_covered, labels_covered
from uqassay.evidence.scoring import ModelScores, Settings, points_of_sets
from uqassay.losses.label_distance import label_distance
from uqassay.losses.unified import unified_terms
from uqassay.measures import Nonspecificity
from uqassay.predictions import Box, Intervals, Masses, Members, Prediction, Vertices, not_negative

__all__ = [
    "SCALES",
    "ScaledScores",
    "additions",
    "affordable_rows",
    "check_scales",
    "scale_models",
    "scaled_prediction",
]

Array = NDArray[np.float64]

SCALES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
WORK = 1e8  # additions to a model: half a second
FEWEST_ROWS = 300
MOST_VALUES = 20_000  # instances times runs
SOLVED = 1e5  # additions that take as long as one solved distance or entropy
ORDERS = 64  # random orders of the classes and their reverses, above 16 classes
ROUNDING = 1e-9
NEAR_BYTES = 2**19  # of points that several passes go through


@dataclass(frozen=True, eq=False)
class ScaledScores:
    """Both terms of E of one model at S scales of the spread, on R runs and n' instances.

    Attributes
    ----------
    rows : int array (n',)
        The instances: all, or whole units in a random order that all models share.
    scales : array (S,)
    distance, nonspecificity : array (R, S, n')
    clipped : array (S,)
        Share of the sets that would leave the simplex at each scale.
    order_deviations : array (S, 32) or (S, 0)
        As `ModelScores.order_deviations`.
    judged : int array (c,)
        Places in `rows` of the instances of `covered`.
    covered : array (R, S, c)
        As `labels_covered`.
    """

    rows: NDArray[np.int64]
    scales: Array
    distance: Array = field(repr=False)
    nonspecificity: Array = field(repr=False)
    clipped: Array
    order_deviations: Array = field(repr=False)
    judged: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    covered: Array = field(default_factory=lambda: np.empty((0, 0, 0)), repr=False)

    @property
    def own(self) -> int:
        """Place of s = 1, the sets as they were given."""
        return int(np.flatnonzero(self.scales == 1)[0])


def check_scales(scales: Any) -> tuple[float, ...]:
    """Sorted scales with 1 among them; () for no scale check.

    Examples
    --------
    >>> check_scales([3, 0.5])
    (0.5, 1.0, 3.0)
    """
    values = as_numeric(scales, "scales", ndim=1) if np.size(scales) else np.empty(0)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError(
            "scales", "must be finite and at least 0", f"got {scales!r}", "(0.5, 2, 3) is a start", code="range"
        )
    return tuple(sorted({1.0, *(float(v) for v in values)})) if len(values) else ()


# -- geometry ----------------------------------------------------------------------------------------------------------


def scaled_prediction(prediction: Prediction, scale: float) -> tuple[Prediction, NDArray[np.bool_]]:
    """The set c + s · (set − c) of every instance, clipped to the simplex.

    Parameters
    ----------
    prediction : Prediction
        Of second-order distributions the draws or passes are scaled.
    scale : float
        s ≥ 0. 0 leaves the centre alone.

    Returns
    -------
    scaled : Prediction
    clipped : bool array (n,)
        Whether the scaled set would leave the simplex.

    Raises
    ------
    InputError
        A point, which has no spread.

    Notes
    -----
    The centre c is the mean prediction, of draws their mean.

    * Members, draws and vertices: each point is scaled, its negative probabilities are set to 0, and it is divided by its sum.
    * Intervals: both bounds are scaled about the intersection probability and cut to [0, 1].
    * Masses: those of sets of two classes or more are multiplied by s, and those of single classes keep the pignistic
      probability. This is the set of all c + s (p − c), as long as the masses of single classes stay ≥ 0. Beyond this scale
      the set of an instance does not grow.

    Examples
    --------
    >>> wide, clipped = scaled_prediction(Members([[[0.75, 0.25], [0.5, 0.5]]]), 2.0)
    >>> wide.probs.tolist(), clipped.tolist()
    ([[[0.875, 0.125], [0.375, 0.625]]], [False])
    """
    if points_of_sets(prediction) == 1:
        raise InputError("prediction", "must be a set", "got points", "pass members or bounds", code="undefined")
    credal = prediction.credal()
    return _scaled(credal, scale, credal.mean_probs())


@singledispatch
def _scaled(credal: Prediction, scale: float, centre: Array) -> tuple[Prediction, NDArray[np.bool_]]:
    points, clipped = _scaled_points(credal.hull_points(), scale, centre)
    return (Vertices(points) if isinstance(credal, Vertices) else Members(points)), clipped


@_scaled.register
def _(credal: Box, scale: float, centre: Array) -> tuple[Prediction, NDArray[np.bool_]]:
    lower, upper = (centre + scale * (bound - centre) for bound in credal.bounds())
    clipped = np.asarray(((lower < -ROUNDING) | (upper > 1 + ROUNDING)).any(axis=1))
    lower = np.clip(lower, 0.0, 1.0)
    return Intervals(lower, np.clip(np.maximum(upper, lower), 0.0, 1.0)), clipped


@_scaled.register
def _(credal: Masses, scale: float, centre: Array) -> tuple[Prediction, NDArray[np.bool_]]:
    masses, sets = credal.checked_masses(), credal.focal_sets
    single = sets.sum(axis=1) == 1
    of_class = np.zeros_like(centre)
    of_class[:, sets[single].argmax(axis=1)] = masses[:, single]
    room = centre - of_class  # (n, K) share of the larger sets in the pignistic probability
    most = np.divide(centre, room, out=np.full_like(room, np.inf), where=room > 0).min(axis=1)
    used = np.minimum(scale, most)[:, None]
    alone = np.maximum(centre - used * room, 0.0)
    scaled = np.concatenate([alone, used * masses[:, ~single]], axis=1)
    family = np.concatenate([np.eye(sets.shape[1], dtype=bool), sets[~single]])
    return Masses(scaled / scaled.sum(axis=1, keepdims=True), family), scale > most * (1 + ROUNDING)


def _scaled_points(points: NDArray[Any], scale: float, centre: Array) -> tuple[Array, NDArray[np.bool_]]:
    n, size = len(points), points.shape[1] * points.shape[2]
    centre = centre / centre.sum(axis=1, keepdims=True)
    scaled, clipped = np.empty(points.shape), np.empty(n, dtype=bool)
    for rows in row_chunks(n, 8 * size, chunk_bytes=NEAR_BYTES):
        moved, c = scaled[rows], centre[rows, None, :]  # (n, V, K), (n, 1, K)
        np.subtract(not_negative(np.asarray(points[rows], dtype=np.float64)), c, out=moved)
        moved *= scale
        moved += c
        clipped[rows] = moved.reshape(-1, size).min(axis=1) < -ROUNDING
        np.maximum(moved, 0.0, out=moved)
        moved /= np.einsum("nvk->nv", moved)[..., None]  # `sum` is slow for few classes
    return scaled, clipped


# -- both terms of E -----------------------------------------------------------------------------------------------------


def scale_models(
    models: Sequence[ModelScores],
    runs_of: dict[str, tuple[Prediction, ...]],
    y: NDArray[Any],
    settings: Settings,
    scales: Sequence[float],
    *,
    groups: NDArray[Any] | None = None,
    kept: Mapping[str, Kept] | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, ScaledScores]:
    """Scaled scores of every model that states sets, by name. Costly models are scaled on part of the instances.

    `kept` names, for models of a stream, the rows that their runs hold.
    """
    if not scales:
        return {}
    keys = random_keys(len(y), groups, settings.seed)
    found = {}
    for model in models:
        runs = runs_of.get(model.name, ())
        if not runs or any(points_of_sets(run) == 1 for run in runs):
            continue
        if progress is not None:
            progress(f"{model.name}, scale check")
        rows = sample_within(keys, affordable_rows(runs, y, settings, scales))
        held = None if kept is None else kept[model.name]
        parts = [_valid(rows_of(run, rows, held), settings.convention) for run in runs]
        judged = sample_within(keys[rows], COVERED_ROWS) if all(can_be_covered(y, part) for part in parts) else rows[:0]
        found[model.name] = _scores(model, parts, y[rows], settings, rows, np.array(scales), judged)
    return found


def _valid(part: Prediction, convention: str) -> Prediction:
    """Masses that the convention scores."""
    return part.repaired() if convention == "paper" and isinstance(part, Masses) else part


def additions(n_classes: int, n_points: int) -> float:
    """Additions for the non-specificity of one set: over all subsets, or above 16 classes over random orders."""
    return n_points * (2.0 ** (n_classes - 1) if n_classes <= 16 else 2.0 * ORDERS * n_classes)


def affordable_rows(runs: Sequence[Prediction], y: NDArray[Any], settings: Settings, scales: Sequence[float]) -> int:
    """Number of instances on which one model is scaled, if there are so many."""
    k, points = runs[0].n_classes, points_of_sets(runs[0]) or 3
    work = additions(k, points)
    if settings.nonspecificity.startswith("credal-uncertainty"):
        work = SOLVED
    stretched = sum(s > 1 for s in scales) if settings.convention == "exact" else len(scales)
    work *= max(stretched, 1)
    if y.ndim == 2 or settings.distance == "brier":
        work += SOLVED * len(scales)
    return min(max(FEWEST_ROWS, int(WORK / (work * len(runs)))), max(FEWEST_ROWS, MOST_VALUES // len(runs)))


def _scores(
    model: ModelScores,
    parts: Sequence[Prediction],
    y: NDArray[Any],
    settings: Settings,
    rows: NDArray[np.int64],
    scales: Array,
    judged: NDArray[np.int64],
) -> ScaledScores:
    """The scores of the runs' instances in `rows`, which are `parts` and have the labels y."""
    shape = (len(parts), len(scales), len(rows))
    d, ns, clipped = np.empty(shape), np.empty(shape), np.zeros(shape[1])
    covered = np.empty((*shape[:2], len(judged)))
    deviations: list[list[Array]] = []
    linear = settings.convention == "exact" and settings.nonspecificity in ("hartley", "korner", "pal")
    precise = 1.0 if settings.nonspecificity == "korner" else 0.0  # of a single distribution
    for r, part in enumerate(parts):
        part = part.credal()
        known = model.columns["nonspecificity"][r, rows]
        by_orders = np.empty(0)
        if len(model.order_deviations):
            again = _terms(y, part, settings, model.floor)[1]
            known, by_orders = again.values, again.order_deviations
        deviations.append([])
        for s, scale in enumerate(scales.tolist()):
            moved, outside = (part, np.zeros(1)) if scale == 1 else scaled_prediction(part, scale)
            if len(judged):
                covered[r, s] = labels_covered(y[judged], moved[judged])
            if scale == 1:
                d[r, s], ns[r, s] = model.columns["distance"][r, rows], known
                deviations[-1].append(by_orders)
                continue
            if linear and scale < 1:  # each measure is linear in the scale as long as nothing is clipped
                d[r, s] = label_distance(y, moved, distance=settings.distance, floor=model.floor)[0]
                ns[r, s] = precise + scale * (known - precise)
                deviations[-1].append(scale * by_orders)
            else:
                d[r, s], sized = _terms(y, moved, settings, model.floor)
                ns[r, s] = sized.values
                deviations[-1].append(sized.order_deviations)
            clipped[s] += outside.mean() / len(parts)
    by_orders = np.mean(deviations, axis=0).reshape(len(scales), -1)
    return ScaledScores(rows, scales, d, ns, clipped, by_orders, judged, covered)


def _terms(y: NDArray[Any], part: Prediction, settings: Settings, floor: float) -> tuple[Array, Nonspecificity]:
    (d, *_), ns = unified_terms(
        y,
        part,
        distance=settings.distance,
        nonspecificity=settings.nonspecificity,
        convention=settings.convention,  # type: ignore[arg-type]
        focal_sets=settings.focal_sets,
        floor=floor,
        rng=settings.seed,
        tolerance=settings.tolerance,
    )
    return d, ns
