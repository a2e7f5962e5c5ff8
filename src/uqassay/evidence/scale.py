"""Lens: does E reward knowledge or the width of the sets?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_numeric, row_chunks
from uqassay.checks import fail
from uqassay.credal.distances import DISTANCES
from uqassay.credal.undominated import CLASS_RULES, admissible_in_hull
from uqassay.evidence.data import Judged, ScaledScores, one_run
from uqassay.evidence.findings import estimate_fields
from uqassay.evidence.kept_rows import Kept, random_keys, rows_of, sample_within
from uqassay.evidence.pair_tests import greatest_excess, order_error, order_errors
from uqassay.evidence.scoring import ModelScores, Settings, points_of_sets
from uqassay.ids import in_one_order
from uqassay.losses.unified import check_tradeoff, label_distance, labels_of, unified_terms
from uqassay.measures import Nonspecificity
from uqassay.measures.nonspecificities import NONSPECIFICITIES, generalised_hartley, not_ruled_out
from uqassay.metrics.sets import share_covered
from uqassay.notes import Note
from uqassay.predictions import (
    Box,
    ClassSets,
    Intervals,
    Masses,
    Members,
    Prediction,
    PredictionLike,
    Vertices,
    as_prediction,
    not_negative,
)
from uqassay.results import Plain, Shown, ShownCell, ShownRow, ShownTable, estimate_cell, plain, row_of
from uqassay.statistics import (
    Estimate,
    MeanLines,
    RankSets,
    holm,
    mean_estimate,
    pairwise_mean_tests,
    percentile_interval,
    proportion_estimate,
    rank_sets,
    student_draws,
)
from uqassay.statistics.spreads import row_products
from uqassay.text import (
    count,
    counted,
    level_text,
    listed,
    listed_names,
    number,
    percent,
    pvalue,
    significant,
    tradeoff,
)

__all__ = [
    "COVERAGE_CURVE_COLUMNS",
    "COVERED_ROWS",
    "SCALES",
    "SCALE_COLUMNS",
    "CoverageCurve",
    "ModelScale",
    "ScaleCheck",
    "affordable_rows",
    "can_be_covered",
    "check_scales",
    "coverage_curve",
    "coverage_curve_rows",
    "labels_covered",
    "scale_check_of",
    "scale_models",
    "scaled_coverage",
    "scaled_prediction",
]


# What a scale check found: E of each model with its spread scaled, and the ranking at every model's own best scale.

SHOWN = 3  # models that the sentence names before it counts the others
SCALE_COLUMNS = (
    "model",
    "tradeoff",
    "n",
    "loss",
    "best",
    "best_low",
    "best_high",
    "best_loss",
    "scale",
    "scale_loss",
    "difference",
    "difference_low",
    "difference_high",
    "pvalue",
    "wider",
    "clipped",
    "own_loss",
    "own_rank_low",
    "own_rank_high",
    "notes",
)


@final
@dataclass(frozen=True, eq=False)
class ModelScale:
    """E of one model with its spread scaled."""

    model: str
    n: int  #: Instances that were scaled.
    #: scales, losses, clipped: Mean E at each scale s, and the share of the sets that would leave the simplex there.
    scales: Floats
    losses: Floats
    clipped: Floats
    loss: float  #: Mean E at s = 1.
    #: best, best_low, best_high: The scale of lowest mean E, by a parabola through the lowest of the grid and its
    #: neighbours, and its interval.
    best: float
    best_low: float
    best_high: float
    best_loss: float  #: Mean E at `best`, by the same parabola.
    #: The scale of the test: of those significantly better than s = 1 the one with the lowest mean E; if there is none,
    #: the lowest of the grid.
    scale: float
    difference: Estimate  #: Mean E at `scale` minus that at s = 1, with the interval of this one difference.
    pvalue: float  #: Of this difference, adjusted for all scales and models of the check; nan if there is no test.
    #: Whether sets scaled by `scale` are shown to score better, it is above 1, and the best scale is not near 1.
    wider: bool
    own_loss: float  #: Mean E when one half of the instances has the scale that is best on the other.
    notes: tuple[Note, ...] = ()

    @property
    def scale_loss(self) -> float:
        """Mean E at `scale`."""
        return float(self.losses[self.scales == self.scale][0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class ScaleCheck(Shown):
    """Scale check of all models at one λ."""

    _shown_more: ClassVar[str] = "summary(), rows(), models"

    tradeoff: float
    level: float
    models: tuple[ModelScale, ...]  #: The models that state sets.
    #: Of all models when each has its own best scale, which is chosen on the other half of the instances; None without
    #: a model that states sets.
    ranking: RankSets | None
    notes: tuple[Note, ...] = ()  #: Among them the models without sets.

    @property
    def wider(self) -> tuple[ModelScale, ...]:
        """The models whose sets are shown to score better when they are widened; all hold at once with `level`."""
        return tuple(m for m in self.models if m.wider)

    def sentence(self) -> str:
        """What follows for E at this λ; empty where nothing is shown."""
        found = self.wider
        if not found:
            return ""
        by_scale: dict[str, list[str]] = {}
        for m in found[:SHOWN]:
            by_scale.setdefault(tradeoff(m.scale), []).append(m.model)
        wide = [f"{scale} times the spread of {listed_names(names)}" for scale, names in by_scale.items()]
        if len(found) > SHOWN:
            wide.append(f"a greater spread of {counted(len(found) - SHOWN, 'other')}")
        what = f"{listed(wide)} would score better"
        if len(found) == 1:
            before, after = (number(x) for x in (found[0].loss, found[0].scale_loss))
            sampled = any(
                note.code == "sample" for note in found[0].notes
            )  # the means then differ from those of all instances
            of = f" on {counted(found[0].n, 'case')} chosen at random" if sampled else ""
            what += f", E = {after} in place of {before}{of}"
        return f"At λ = {tradeoff(self.tradeoff)} wider sets would win, so do not read E as quality: {what}."

    def _shown_title(self) -> str:
        who = f"{counted(len(self.models), 'model')} with sets"
        return f"Scale check of {who} at λ = {tradeoff(self.tradeoff)}: would wider sets score better?"

    def _shown_sentences(self) -> Sequence[str]:
        return (self.sentence() or "It is not shown that wider sets would score better.",)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]

    def _shown_table(self) -> ShownTable:
        rows = []
        for m in self.models:
            best = estimate_cell(m.best, m.best_low, m.best_high, 2)
            change = estimate_cell(float(m.difference), m.difference.low, m.difference.high)
            tested = (ShownCell(number(m.scale, 2)), change, ShownCell(pvalue(m.pvalue)))
            rows.append(ShownRow((ShownCell(m.model), ShownCell(number(m.loss)), best, *tested)))
        said = (
            "Mean E as stated; the scale of the spread with the lowest mean E; the scale that is tested against 1, the change "
            f"of mean E there and its p-value, adjusted for all scales and models. {level_text(self.level)} intervals."
        )
        return ShownTable(("model", "mean E", "best scale", "tested", "change", "p (adjusted)"), tuple(rows), said)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model that states sets, with the columns of `SCALE_COLUMNS`."""
        return [self._row(m) for m in self.models]

    def _row(self, m: ModelScale) -> dict[str, Any]:
        first = ("n", "loss", "best", "best_low", "best_high", "best_loss", "scale", "scale_loss")
        row = {
            "model": m.model,
            "tradeoff": self.tradeoff,
            **row_of(m, *first, "difference", "pvalue", "wider"),
            "clipped": float(m.clipped[m.scales == m.scale][0]),
            "own_loss": m.own_loss,
            "own_rank_low": None,
            "own_rank_high": None,
            "notes": plain(m.notes),
        }
        if self.ranking is not None:
            place = self.ranking.names.index(m.model)
            row |= {"own_rank_low": int(self.ranking.low[place]), "own_rank_high": int(self.ranking.high[place])}
        return row

    def to_dict(self) -> dict[str, Any]:
        """Plain values: rows and curves of the models, the ranking at their own best scales, the sentence."""
        curves = [
            {"scales": m.scales.tolist(), "losses": m.losses.tolist(), "clipped_share": m.clipped.tolist()}
            for m in self.models
        ]
        return {
            "tradeoff": self.tradeoff,
            "level": self.level,
            "models": [row | curve for row, curve in zip(self.rows(), curves, strict=True)],
            "ranking": None if self.ranking is None else self.ranking.to_dict(),
            "sentence": self.sentence(),
            "notes": plain(self.notes),
        }


# Whether sets with their spread scaled leave the label: coverage against non-specificity, model by model.

COVERED_ROWS = 1000  # instances of a model of which scaled sets are judged
MOST_CLASSES = 16  # more take too long, except with one label for each instance and sets of points
MOST_CLASSES_OF_POINTS = 100
RULE = CLASS_RULES[2]  # clipping at 0 makes ties, in which the other rules leave many improbable classes
COVERAGE_CURVE_COLUMNS = ("model", "scale", "metric", "estimate", "low", "high", "level", "n", "method", "notes")


def can_be_covered(y: NDArray[Any], prediction: Prediction) -> bool:
    """Whether the coverage of scaled sets takes a short time; class sets leave the same classes at every scale above 0."""
    if isinstance(prediction, ClassSets):
        return False
    fast = y.ndim == 1 and isinstance(prediction.credal(), Members | Vertices)
    return prediction.n_classes <= (MOST_CLASSES_OF_POINTS if fast else MOST_CLASSES)


def labels_covered(y: NDArray[Any], prediction: Prediction) -> Floats:
    """Whether E-admissibility leaves each label, ``(n,)``; of label distributions, the share that it leaves.

    Examples
    --------
    >>> import uqassay as uq
    >>> three = uq.Members([[[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]]] * 2)
    >>> labels_covered(np.array([1, 2]), three).tolist(), labels_covered(np.array([[0.5, 0, 0.5]] * 2), three).tolist()
    ([1.0, 0.0], [0.5, 0.5])
    """
    credal = prediction.credal()
    if y.ndim == 1 and isinstance(credal, Members | Vertices):
        return admissible_in_hull(not_negative(credal.hull_points()), y).astype(np.float64)
    return share_covered(y, not_ruled_out(prediction, rule=RULE))


def scaled_coverage(assay: Judged, model: str) -> list[tuple[float, Estimate, Estimate]]:
    """Each scale with the coverage and the mean non-specificity of the scaled sets; none where they were not judged.

    Both rest on the same instances, at most `COVERED_ROWS` of a random part.
    """
    scaled = assay.scaled[model]
    if not scaled.covered.size:
        return []
    rows = scaled.rows[scaled.judged]
    options: dict[str, Any] = {**assay.sample(rows), "level": assay.settings.level}
    sizes = scaled.nonspecificity[:, :, scaled.judged]

    def found() -> list[tuple[float, Estimate, Estimate]]:
        return [
            (
                scale,
                proportion_estimate(one_run(scaled.covered[:, s]), **options),
                mean_estimate(one_run(sizes[:, s]), **options),
            )
            for s, scale in enumerate(scaled.scales.tolist())
        ]

    return assay.shared.once(("scaled-coverage", model), found)


def coverage_curve_rows(assay: Judged) -> list[dict[str, Any]]:
    """Two rows for each model with sets and each scale: coverage and mean non-specificity."""
    return [
        {"model": model, "scale": scale, "metric": metric, **estimate_fields(estimate)}
        for model in assay.scaled
        for scale, *both in scaled_coverage(assay, model)
        for metric, estimate in zip(("coverage", "nonspecificity"), both, strict=True)
    ]


# Credal sets with their spread scaled about the centre, and both terms of E for them.

SCALES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
WORK = 1e8  # additions to a model: half a second
FEWEST_ROWS = 300
MOST_VALUES = 20_000  # instances times runs
SOLVED = 1e5  # additions that take as long as one solved distance or entropy
ORDERS = 64  # random orders of the classes and their reverses, above 16 classes
ROUNDING = 1e-9
NEAR_BYTES = 2**19  # of points that several passes go through


def check_scales(scales: Any) -> tuple[float, ...]:
    """Sorted scales with 1 among them; () for no scale check.

    Examples
    --------
    >>> check_scales([3, 0.5])
    (0.5, 1.0, 3.0)
    """
    values = as_numeric(scales, "scales", ndim=1) if np.size(scales) else np.empty(0)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        fail("scales", "must be finite and at least 0", f"got {scales!r}", "(0.5, 2, 3) is a start", code="range")
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
        fail("prediction", "must be a set", "got points", "pass members or bounds", code="undefined")
    credal = prediction.credal()
    return _scaled(credal, scale, credal.mean_probs())


@singledispatch
def _scaled(credal: Prediction, scale: float, centre: Floats) -> tuple[Prediction, NDArray[np.bool_]]:
    points, clipped = _scaled_points(credal.hull_points(), scale, centre)
    return (Vertices(points) if isinstance(credal, Vertices) else Members(points)), clipped


@_scaled.register
def _(credal: Box, scale: float, centre: Floats) -> tuple[Prediction, NDArray[np.bool_]]:
    lower, upper = (centre + scale * (bound - centre) for bound in credal.bounds())
    clipped = np.asarray(((lower < -ROUNDING) | (upper > 1 + ROUNDING)).any(axis=1))
    lower = np.clip(lower, 0.0, 1.0)
    return Intervals(lower, np.clip(np.maximum(upper, lower), 0.0, 1.0)), clipped


@_scaled.register
def _(credal: Masses, scale: float, centre: Floats) -> tuple[Prediction, NDArray[np.bool_]]:
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


def _scaled_points(points: NDArray[Any], scale: float, centre: Floats) -> tuple[Floats, NDArray[np.bool_]]:
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
    groups: NDArray[Any] | None = None,
    kept: Mapping[str, Kept] | None = None,
    *,
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
    if y.ndim == 2 or DISTANCES[settings.distance].of_label is None:
        work += SOLVED * len(scales)
    return min(max(FEWEST_ROWS, int(WORK / (work * len(runs)))), max(FEWEST_ROWS, MOST_VALUES // len(runs)))


def _scores(
    model: ModelScores,
    parts: Sequence[Prediction],
    y: NDArray[Any],
    settings: Settings,
    rows: NDArray[np.int64],
    scales: Floats,
    judged: NDArray[np.int64],
) -> ScaledScores:
    """The scores of the runs' instances in `rows`, which are `parts` and have the labels y."""
    shape = (len(parts), len(scales), len(rows))
    d, ns, clipped = np.empty(shape), np.empty(shape), np.zeros(shape[1])
    covered = np.empty((*shape[:2], len(judged)))
    deviations: list[list[Floats]] = []
    size = NONSPECIFICITIES[settings.nonspecificity]
    linear = settings.convention == "exact" and size.of_sizes is not None
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
                ns[r, s] = size.least + scale * (known - size.least)
                deviations[-1].append(scale * by_orders)
            else:
                d[r, s], sized = _terms(y, moved, settings, model.floor)
                ns[r, s] = sized.values
                deviations[-1].append(sized.order_deviations)
            clipped[s] += outside.mean() / len(parts)
    by_orders = np.mean(deviations, axis=0).reshape(len(scales), -1)
    return ScaledScores(rows, scales, d, ns, clipped, by_orders, judged, covered)


def _terms(y: NDArray[Any], part: Prediction, settings: Settings, floor: float) -> tuple[Floats, Nonspecificity]:
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


# Scale check: does E reward knowledge or the width of the sets? E of every model with its spread scaled about the
# centre.

N_DRAWS = 1000
NEAR = 1.25  # no sentence about a best scale below
OWN = "1"  # name of the set as it is among the scales


def scale_check_of(assay: Judged, tradeoff: float) -> ScaleCheck:
    """E of every model over s · (set − centre) + centre, clipped to the simplex; see `Assay.scale_check`."""
    check_tradeoff(tradeoff)
    at = float(tradeoff)
    return assay.shared.once(("scale-check", at), lambda: _checked(assay, at))


def _checked(assay: Judged, tradeoff: float) -> ScaleCheck:
    models = [m for m in assay.candidates if m.name in assay.scaled]
    curves = [_curves(assay, m, tradeoff) for m in models]
    tests = [_tests(assay, m, c, tradeoff) for m, c in zip(models, curves, strict=True)]
    adjusted = holm(np.concatenate([t.pvalues for t in tests])) if tests else np.empty(0)
    parts = np.split(adjusted, np.cumsum([len(t.pvalues) for t in tests])[:-1]) if tests else []
    own = {m.name: _at_own_scale(assay, m, c, assay.scaled[m.name].rows) for m, c in zip(models, curves, strict=True)}
    found = [_of_model(assay, m, c, t, p, own[m.name]) for m, c, t, p in zip(models, curves, tests, parts, strict=True)]
    notes = []
    without = [m.name for m in assay.candidates if m.name not in assay.scaled]
    if without:
        text = f"left out, because they have no sets: {listed_names(without)}"
        notes.append(Note("left-out", text, {"models": without}))
    return ScaleCheck(
        tradeoff=float(tradeoff),
        level=assay.settings.level,
        models=tuple(found),
        ranking=_own_ranking(assay, tradeoff, own) if models else None,
        notes=tuple(notes),
    )


# -- curves and tests of one model ---------------------------------------------------------------------------------------


class _Tests(NamedTuple):
    places: NDArray[np.intp]  # of the scales other than 1
    pvalues: Floats  # two-sided, of the differences from s = 1


def _curves(assay: Judged, model: ModelScores, tradeoff: float) -> Floats:
    """E of every run, scale and instance, ``(R, S, n')``."""
    scaled = assay.scaled[model.name]
    return scaled.distance + tradeoff * scaled.nonspecificity


def _tests(assay: Judged, model: ModelScores, curves: Floats, tradeoff: float) -> _Tests:
    """Paired tests of every other scale against s = 1."""
    places = np.flatnonzero(assay.scaled[model.name].scales != 1)
    if not np.isfinite(curves).all() or not len(places):
        return _Tests(places, np.full(len(places), np.nan))
    several = sorted({tradeoff, *assay.tradeoffs})  # those of the report together
    found = assay.shared.each(("scale-tests", model.name), several, lambda new: _pvalues(assay, model, places, new))
    return _Tests(places, found[several.index(tradeoff)])


def _pvalues(assay: Judged, model: ModelScores, places: NDArray[np.intp], tradeoffs: Sequence[float]) -> Floats:
    """Of the tests of these scales at each λ, ``(T, S')``."""
    scaled, t = assay.scaled[model.name], np.array(tradeoffs)
    at, scales = scaled.own, scaled.scales[places]
    names = [str(s) for s in scales]
    from_one = scaled.order_deviations - scaled.order_deviations[at]  # (S, 32) or (S, 0); of s = 1 itself 0
    errors = np.multiply.outer(t, [order_error(from_one[s], from_one[at]) for s in places])
    under = greatest_excess(assay, model, "unified", t)[:, np.newaxis]
    over = np.stack([_greatest_loss_by_scaling(assay, model, s, t) for s in scales.tolist()], axis=1)
    combinations = np.stack([np.ones_like(t), t], axis=1)[:, np.newaxis]  # (T, 1, 2)
    lines = _lines(assay, scaled, names, places)
    return lines.of_pairs(combinations, names, [OWN] * len(names), bounds=(over, under), extra_error=errors)[1]


def _lines(assay: Judged, scaled: ScaledScores, names: Sequence[str], places: NDArray[np.intp]) -> MeanLines:
    """Mean E at the scales as lines in λ; of several runs its gains over s = 1, whose runs come in pairs."""
    terms, at = (scaled.distance, scaled.nonspecificity), scaled.own
    if len(scaled.distance) == 1:
        columns = {name: tuple(x[0, s] for x in terms) for name, s in ((OWN, at), *zip(names, places, strict=True))}
    else:
        columns = {OWN: (np.zeros(len(scaled.rows)),) * 2}
        columns |= {name: tuple(x[:, s] - x[:, at] for x in terms) for name, s in zip(names, places, strict=True)}
    return MeanLines(columns, **assay.sample(scaled.rows))


def _greatest_loss_by_scaling(assay: Judged, model: ModelScores, scale: float, tradeoffs: Floats) -> Floats:
    """How much greater E at this scale than at 1 can be on one instance, at each λ.

    For s > 1 clipping divides a member by at most s, so that it leaves the label at least 1/s of its upper probability; for
    s < 1 the upper probability is c + s(u − c) ≥ s·u. So the KL distance of a label grows by |ln s| at most.
    """
    settings = assay.settings
    anything = greatest_excess(assay, model, "unified", tradeoffs)
    if settings.convention == "paper" or settings.distance != "kl" or assay.labels.ndim != 1 or scale == 0:
        return anything
    width = float(greatest_excess(assay, model, "nonspecificity")) if scale > 1 else 0.0
    return np.minimum(anything, abs(float(np.log(scale))) + tradeoffs * width)


def _of_model(
    assay: Judged, model: ModelScores, curves: Floats, tests: _Tests, pvalues: Floats, own: "_AtOwnScale"
) -> ModelScale:
    scaled = assay.scaled[model.name]
    losses = curves.mean(axis=(0, 2)) if assay.weights is None else assay.mean(curves, scaled.rows).mean(axis=0)
    level, at = assay.settings.level, scaled.own
    better = [k for k, s in enumerate(tests.places) if losses[s] < losses[at] and pvalues[k] <= 1 - level]
    lowest = int(np.argmin(losses))
    among = better or [k for k, s in enumerate(tests.places) if s == lowest]  # none where 1 is lowest
    chosen = min(among, key=lambda k: losses[tests.places[k]], default=None)
    notes = []
    if not np.isfinite(losses).all():
        notes.append(Note("infinite", "infinite losses: no best scale and no test"))
        best, best_loss, low, high = (np.nan,) * 4
    else:
        ((best, best_loss),) = _lowest(scaled.scales, losses[None])
        low, high = _interval_of_best(assay, scaled, curves)
        if assay.n_units == 1:
            notes.append(Note("no-test", "a single unit: no interval and no test"))
        if lowest == len(losses) - 1:
            text = f"the best scale is the largest tried, {significant(best)}, so a larger one may be better"
            notes.append(Note("edge", text))
    if chosen is None:
        scale, difference, p = 1.0, _nothing(level, len(scaled.rows)), 1.0 if np.isfinite(best) else np.nan
    else:
        place = int(tests.places[chosen])
        scale, p = float(scaled.scales[place]), float(pvalues[chosen])
        difference = _difference(assay, scaled, curves, place)
    if len(scaled.rows) < assay.n_instances:
        sizes = {"used": len(scaled.rows), "n": assay.n_instances}
        text = f"{count(sizes['used'])} of {count(sizes['n'])} cases"
        notes.append(Note("sample", text, sizes))
    return ModelScale(
        model=model.name,
        n=len(scaled.rows),
        scales=scaled.scales,
        losses=losses,
        clipped=scaled.clipped,
        loss=float(losses[at]),
        best=float(best),
        best_low=low,
        best_high=high,
        best_loss=float(best_loss),
        scale=scale,
        difference=difference,
        pvalue=p,
        wider=bool(better) and scale > 1 and best >= NEAR and low > 1,
        own_loss=assay.overall(own.losses, scaled.rows),
        notes=tuple(notes),
    )


def _nothing(level: float, n: int) -> Estimate:
    return Estimate(0.0, low=0.0, high=0.0, level=level, n=n, method="student-t", notes=())


def _difference(assay: Judged, scaled: ScaledScores, curves: Floats, place: int) -> Estimate:
    """Mean E at one of the scales minus that at s = 1; undefined if any loss is infinite."""
    level = assay.settings.level
    if not np.isfinite(curves).all():
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=curves.shape[2], method="student-t")
    gains = curves[:, place] - curves[:, scaled.own]
    return mean_estimate(gains, level=level, **assay.sample(scaled.rows))


def _lowest(scales: Floats, curves: Floats) -> Floats:
    """Scale and value of the minimum of each curve (C, S): vertex of the parabola around the lowest point, ``(C, 2)``."""
    k = curves.argmin(axis=1)
    rows = np.arange(len(curves))
    found = np.stack([scales[k], curves[rows, k]], axis=1)
    inner = (k > 0) & (k < len(scales) - 1)
    if inner.any():
        r, m = rows[inner], k[inner]
        x0, x1, x2 = (scales[m + i] for i in (-1, 0, 1))
        y0, y1, y2 = (curves[r, m + i] for i in (-1, 0, 1))
        left, right = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
        bend = (right - left) / (x2 - x0)  # of the Newton form y0 + left (x − x0) + bend (x − x0)(x − x1)
        vertex = np.where(bend > 0, (x0 + x1) / 2 - left / (2 * np.where(bend > 0, bend, 1.0)), x1)
        vertex = np.clip(vertex, x0, x2)
        found[inner] = np.stack([vertex, y0 + (left + bend * (vertex - x1)) * (vertex - x0)], axis=1)
    return found


def _interval_of_best(assay: Judged, scaled: ScaledScores, curves: Floats) -> tuple[float, float]:
    """Percentiles of the best scale over draws of the whole curve."""
    if assay.n_units == 1:
        return np.nan, np.nan
    by_instance = curves.swapaxes(1, 2)  # (R, n', S)
    options: dict[str, Any] = {"n_draws": N_DRAWS, "rng": assay.settings.seed, **assay.sample(scaled.rows)}
    draws = student_draws([by_instance], **options)[:, 0]
    low, high = percentile_interval(_lowest(scaled.scales, draws)[:, 0], level=assay.settings.level)
    return float(low), float(high)


# -- ranking when every model has its own best scale ---------------------------------------------------------------------


class _AtOwnScale(NamedTuple):
    """E of one model at the scale that is best on the other half of the instances."""

    losses: Floats  # (R, n')
    order_deviations: Floats


def _own_ranking(assay: Judged, tradeoff: float, own: Mapping[str, _AtOwnScale]) -> RankSets:
    rows = min((s.rows for s in assay.scaled.values()), key=len)
    values, deviations = {}, {}
    for m in assay.models:
        found = own.get(m.name)
        if found is None:
            values[m.name], deviations[m.name] = assay.loss(m.name, tradeoff)[:, rows], np.empty(0)
            continue
        if found.losses.shape[1] > len(rows):  # models of fewer instances are compared on theirs
            found = _at_own_scale(assay, m, _curves(assay, m, tradeoff), rows)
        values[m.name], deviations[m.name] = found
    references = [m.name for m in assay.models if m.baseline]
    return rank_sets(
        pairwise_mean_tests(
            {name: one_run(v) for name, v in values.items()},
            **assay.sample(rows),
            level=assay.settings.level,
            bound=[greatest_excess(assay, m, "unified", tradeoff) for m in assay.models],
            extra_error=order_errors(deviations, tradeoff, references=references),
            references=references,
        )
    )


def _at_own_scale(assay: Judged, model: ModelScores, curves: Floats, rows: NDArray[np.int64]) -> _AtOwnScale:
    """E of every run and some of the instances at the scale that is best on the other half of them."""
    scaled = assay.scaled[model.name]
    if len(rows) < len(scaled.rows):
        curves = curves[:, :, np.isin(scaled.rows, rows)]
    second = assay.shared.once(("second-half", len(rows)), lambda: _second_half(assay, rows))
    found = np.empty((curves.shape[0], curves.shape[2]))
    deviations = np.zeros(scaled.order_deviations.shape[1])
    for half in (second, ~second):
        if not half.any():
            continue
        s = _lowest_on(curves, ~half if (~half).any() else half, assay.sample(rows)["sample_weight"])
        found[:, half] = curves[:, s, half]
        deviations += half.mean() * scaled.order_deviations[s]
    return _AtOwnScale(found, deviations)


def _lowest_on(curves: Floats, rows: NDArray[np.bool_], weights: Floats | None) -> int:
    """Place of the scale with the lowest mean E over these instances ``(n',)``."""
    inside = (rows if weights is None else rows * weights).astype(np.float64)[np.newaxis]
    with np.errstate(invalid="ignore"):
        sums = sum(row_products(np.ascontiguousarray(run), inside)[:, 0] for run in curves)
    if not np.isfinite(sums).all():  # infinite losses of other instances do not count
        sums = (curves if weights is None else curves * weights)[:, :, rows].sum(axis=(0, 2))
    return int(np.argmin(sums))


def _second_half(assay: Judged, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Half of the units at random, ``(n',)``."""
    labels = np.arange(assay.n_instances) if assay.groups is None else assay.groups
    codes = np.unique(labels[rows], return_inverse=True)[1].reshape(-1)
    n = codes.max() + 1
    return np.asarray((np.random.default_rng([assay.settings.seed, 17]).permutation(n) >= n / 2)[codes])


# Coverage against size: label coverage and non-specificity of the sets s · (set − centre) + centre, for several s.


@final
@dataclass(frozen=True, eq=False, repr=False)
class CoverageCurve(Shown, Plain):
    """Coverage and size of the sets of one model at S scales; made by `coverage_curve`."""

    _plain: ClassVar = "rule scales clipped coverage nonspecificity size"

    scales: NDArray[np.float64]  #: s, ascending; 1 is among them.
    coverage: tuple[Estimate, ...]  #: Share of the labels that the scaled sets do not rule out.
    nonspecificity: tuple[Estimate, ...]  #: Mean generalised Hartley measure, nats.
    size: tuple[Estimate, ...]  #: Mean number of classes that are not ruled out.
    clipped: NDArray[np.float64]  #: Share of the sets that would leave the simplex.
    rule: str
    notes: tuple[Note, ...] = ()

    @property
    def own(self) -> int:
        """Place of s = 1, the sets as they were given."""
        return int(np.flatnonzero(self.scales == 1)[0])

    def scale_for(self, coverage: float) -> float:
        """The smallest of the scales with at least this coverage; nan if none has it."""
        reached = [s for s, c in zip(self.scales.tolist(), self.coverage, strict=True) if c >= coverage]
        return min(reached, default=float("nan"))

    def _shown_title(self) -> str:
        return f"Coverage by {self.rule} and size of scaled sets on {counted(self.coverage[0].n, 'case')}"

    def _shown_sentences(self) -> Sequence[str]:
        c = self.coverage[self.own]
        return (
            f"The sets as they are leave {percent(c, in_sentence=True)} of the labels, with "
            f"{significant(float(self.size[self.own]))} classes in the mean.",
        )

    def _shown_table(self) -> ShownTable:
        level = level_text(self.coverage[0].level)
        columns = zip(self.coverage, self.nonspecificity, self.size, strict=True)
        rows = [
            ShownRow((ShownCell(significant(s)), *(estimate_cell(e, e.low, e.high) for e in estimates)))
            for s, estimates in zip(self.scales.tolist(), columns, strict=True)
        ]
        caption = f"Sets s · (set − centre) + centre, clipped to the simplex; {level} intervals."
        return ShownTable(("s", "coverage", "non-specificity", "classes"), tuple(rows), caption, n_words=0)

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


@in_one_order("prediction", "y_true", "groups")
def coverage_curve(
    y_true: ArrayLike,
    prediction: PredictionLike,
    *,
    scales: Sequence[float] = SCALES,
    rule: str = "e-admissibility",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    rng: int | None = None,
) -> CoverageCurve:
    """Coverage of labels or votes against the size of the sets, as the sets are stretched about their centres.

    A wider set rules out fewer classes, so coverage alone rewards width. Two models are compared along the whole curve: the
    better one covers more at the same non-specificity.

    Parameters
    ----------
    y_true : int array (n,), class names (n,), or array (n, K)
        Labels, or votes, of which the share that is not ruled out counts.
    prediction : Prediction of a kind with sets, or array (n, M, K)
    scales : sequence of float
        Factors s of the spread; 1 is added.
    rule : {"interval-dominance", "maximality", "e-admissibility"}
        See `measures.not_ruled_out`. Clipping at 0 makes ties in which the first two rules leave many improbable classes.
    groups : array (n,), optional
        As in `mean_estimate`. By default those of the prediction.
    level : float
        Level of each interval; they do not hold jointly.
    rng : int, optional
        Seed of the estimated non-specificity of more than 16 classes.

    Returns
    -------
    CoverageCurve

    Examples
    --------
    >>> import uqassay as uq
    >>> pair = uq.Members([[[0.6, 0.4], [0.55, 0.45]]] * 4)
    >>> curve = coverage_curve([0, 0, 0, 1], pair, scales=(1, 5))
    >>> [float(c) for c in curve.coverage], [round(float(u), 3) for u in curve.nonspecificity]
    ([0.75, 1.0], [0.035, 0.173])
    """
    given = as_prediction(prediction)
    values = check_scales(scales)
    if not values:
        fail("scales", "needs at least one scale", "got none", "leave it out for the default", code="empty")
    y = labels_of(y_true, given)
    units = given.groups if groups is None else groups
    found: list[tuple[Estimate, Estimate, Estimate]] = []
    shares = []
    for scale in values:
        scaled, clipped = scaled_prediction(given, scale)
        sets = not_ruled_out(scaled, rule=rule)
        sizes = generalised_hartley(scaled, rng=rng)
        found.append(
            (
                proportion_estimate(share_covered(y, sets), groups=units, level=level),
                mean_estimate(sizes.values, groups=units, level=level),
                mean_estimate(sets.sum(axis=1), groups=units, level=level),
            )
        )
        shares.append(float(clipped.mean()))
    coverage, nonspecificity, size = zip(*found, strict=True)
    return CoverageCurve(
        scales=np.array(values),
        coverage=coverage,
        nonspecificity=nonspecificity,
        size=size,
        clipped=np.array(shares),
        rule=rule,
        notes=coverage[0].notes,
    )
