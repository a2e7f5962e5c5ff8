"""Scores of one model: distance, non-specificity, losses and uncertainty measures of every training run and instance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.evidence.device_scores import columns_on_device, terms_on_device
from uqassay.evidence.fingerprint import digests_of_rows, fingerprint
from uqassay.evidence.joined_notes import joined_notes
from uqassay.evidence.kept_rows import Kept, rows_of
from uqassay.evidence.set_columns import set_columns
from uqassay.losses.errors import is_correct, probability_gap
from uqassay.losses.label_distance import FLOORS
from uqassay.losses.proper_scores import brier_loss, log_loss
from uqassay.losses.unified import unified_terms
from uqassay.measures.hartley import Nonspecificity, joined_nonspecificities
from uqassay.measures.scores import score_columns, score_names
from uqassay.notes import Note
from uqassay.predictions import Box, ClassSets, Intervals, Masses, Members, Point, Prediction, Vertices
from uqassay.predictions.class_sets import empty_sets_note
from uqassay.predictions.drawn import Drawn

__all__ = [
    "ModelScores",
    "ScoredPart",
    "SetSample",
    "Settings",
    "joined_scores",
    "points_of_sets",
    "sample_sets",
    "score_baselines",
    "score_model",
    "score_part",
    "with_draws_held",
]

Array = NDArray[np.float64]
PART_BYTES = 32 * 2**20
DRAWS_HELD_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Settings:
    """How an assay is computed; all of it is written into the report.

    Attributes
    ----------
    distance, nonspecificity, convention
        As in `unified_loss`.
    focal_sets : bool array (F, K) or None
    floor : float or None
        Least probability in logarithms; None: that of the convention.
    measures : tuple of str
        Uncertainty scores: those of `measures.SCORES` asked for or offered by a model, and those given.
    tolerance : float or None
        Standard error wanted of an estimated non-specificity.
    level : float
        Confidence level of all intervals.
    n_draws : int
        Draws behind the shares of resamples.
    seed : int
    margin : float or None
        Greatest difference of mean E that does not matter.
    """

    distance: str = "kl"
    nonspecificity: str = "hartley"
    convention: str = "exact"
    focal_sets: NDArray[np.bool_] | None = None
    floor: float | None = None
    measures: tuple[str, ...] = ("total-entropy", "epistemic-entropy", "credal-width")
    tolerance: float | None = None
    level: float = 0.95
    n_draws: int = 2000
    seed: int = 0
    margin: float | None = None

    @property
    def distance_metric(self) -> str:
        """Name of the distance among the findings; Brier's is told apart from the Brier score of the mean prediction."""
        return "brier-distance" if self.distance == "brier" else self.distance.replace("_", "-")


@dataclass(frozen=True, eq=False)
class SetSample:
    """Credal sets of some instances, for pictures.

    Attributes
    ----------
    rows : int array (k,)
        The instances.
    lower, upper, mean : float32 array (k, K)
    points : float32 array (k', V, K)
        Points whose hull is the set, for the first k' of the rows; empty for intervals and masses.
    """

    rows: NDArray[np.int64]
    lower: NDArray[np.float32]
    upper: NDArray[np.float32]
    mean: NDArray[np.float32]
    points: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Scores of one model on every instance.

    Attributes
    ----------
    name, kind : str
    baseline : bool
    n_points : int or None
        Points that span each set; None for intervals and masses.
    columns : dict of str to array (R, n)
        "distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label", and the
        measures; of models with sets `SET_COLUMNS`; nan where a measure does not apply. "label" is -1 where a class set does
        not have a single class.
    nonspecificity_error : float
        Standard error that the estimator adds to the mean non-specificity (0 where exact).
    order_deviations : sequence of float
        See `measures.Nonspecificity`; empty where exact.
    floored : int
        Rows (of all runs) whose upper probability of the label was below the floor.
    floor : float
    gap : float
        Largest certified gap of a solved distance.
    fingerprint : str
        SHA-256 of the predictions, see `fingerprint`.
    notes : tuple of Note
        What was done to the predictions on their way in.
    spanned_by : str
        "draws" or "passes" of second-order distributions; empty for other kinds.
    """

    name: str
    kind: str
    baseline: bool
    n_points: int | None
    columns: dict[str, Array] = field(repr=False)
    nonspecificity_error: float
    order_deviations: Sequence[float] = field(repr=False)
    floored: int
    floor: float
    gap: float
    fingerprint: str
    notes: tuple[Note, ...]
    spanned_by: str = ""

    @property
    def n_runs(self) -> int:
        """Number of training runs R."""
        return len(self.columns["distance"])

    @property
    def predicts_classes(self) -> bool:
        """Whether the model predicts one class per instance, as all but `ClassSets` do."""
        return self.kind != "ClassSets"

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Names of the columns that hold no number for any run and instance."""
        return frozenset(name for name, column in self.columns.items() if np.isnan(column).all())


def score_model(
    name: str,
    runs: tuple[Prediction, ...],
    y: NDArray[Any],
    settings: Settings,
    *,
    given: Mapping[str, Array] | None = None,
    baseline: bool = False,
    progress: Callable[[str], None] | None = None,
) -> ModelScores:
    """Compute every column for every run; `given` holds further uncertainty scores by name, ``(R, n)`` each."""
    return joined_scores([score_part(name, runs, y, settings, given=given, progress=progress)], baseline=baseline)


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """Scores of one model on consecutive instances; `joined_scores` makes those of all instances from several parts.

    Attributes
    ----------
    name : str
    heads : tuple of R Prediction
        The first instance of every run, which shows its kind.
    columns : dict of str to array (R, n)
        As in `ModelScores`.
    nonspecificities : tuple of R Nonspecificity
    floored, floor, gap, notes
        As in `ModelScores`.
    digests : tuple of R bytes
        See `fingerprint.digests_of_rows`.
    """

    name: str
    heads: tuple[Prediction, ...]
    columns: dict[str, Array]
    nonspecificities: tuple[Nonspecificity, ...]
    floored: int
    floor: float
    gap: float
    notes: tuple[Note, ...]
    digests: tuple[bytes, ...]


def score_part(
    name: str,
    runs: tuple[Prediction, ...],
    y: NDArray[Any],
    settings: Settings,
    *,
    given: Mapping[str, Array] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ScoredPart:
    """Compute every column of consecutive instances; arguments as for `score_model`."""
    parts, sizes, digests, notes = [], [], [], [note for run in runs for note in run.notes]
    floored, gap = 0, 0.0
    for r, run in enumerate(runs):
        if progress is not None:
            progress(f"{name}, run {r + 1} of {len(runs)}" if len(runs) > 1 else name)
        digests.append(digests_of_rows(run))
        if settings.convention == "paper" and isinstance(run, Masses):
            run = run.repaired()
            notes += run.notes
        if isinstance(run, ClassSets):
            notes.append(empty_sets_note(int(run.is_empty().sum()), run.n_instances))
        run = with_draws_held(run)
        place = f"models[{name!r}]{f'[{r}]' if len(runs) > 1 else ''}"
        try:
            named = ("distance", "nonspecificity", "convention", "focal_sets", "floor", "tolerance")
            options: dict[str, Any] = {key: getattr(settings, key) for key in named} | {"rng": settings.seed}
            (d, gaps, low_rows), ns = terms_on_device(y, run, **options) or unified_terms(y, run, **options)
            columns = _other_columns(run, y, settings) | (set_columns(y, run) if points_of_sets(run) != 1 else {})
        except InputError as problem:
            raise problem.inside(place) from problem
        for score, values in (given or {}).items():
            columns[score] = values[r]
        parts.append({"distance": d, "nonspecificity": ns.values, **columns})
        sizes.append(ns)
        floored += low_rows
        gap = max(gap, float(gaps.max()))
    return ScoredPart(
        name=name,
        heads=tuple(run[np.zeros(1, dtype=np.intp)] for run in runs),
        columns={key: np.stack([p[key] for p in parts]) for key in parts[0]},
        nonspecificities=tuple(sizes),
        floored=floored,
        floor=FLOORS[settings.convention] if settings.floor is None else settings.floor,
        gap=gap,
        notes=tuple(notes),
        digests=tuple(digests),
    )


def joined_scores(parts: Sequence[ScoredPart], *, baseline: bool = False) -> ModelScores:
    """Scores of one model on all instances from those of consecutive parts."""
    first, heads = parts[0], parts[0].heads
    sizes = [joined_nonspecificities([p.nonspecificities[r] for p in parts]) for r in range(len(heads))]
    digests = [b"".join(p.digests[r] for p in parts) for r in range(len(heads))]
    return ModelScores(
        name=first.name,
        kind=type(heads[0]).__name__,
        baseline=baseline,
        n_points=points_of_sets(heads[0]),
        spanned_by=heads[0].spanned_by if isinstance(heads[0], Drawn) else "",
        columns={key: np.concatenate([p.columns[key] for p in parts], axis=1) for key in first.columns},
        nonspecificity_error=float(
            np.mean([ns.mean_standard_error for ns in sizes])
        ),  # all runs share the random orders
        order_deviations=tuple(np.mean([ns.order_deviations for ns in sizes], axis=0).tolist()),
        floored=sum(p.floored for p in parts),
        floor=first.floor,
        gap=max(p.gap for p in parts),
        fingerprint=fingerprint(zip(heads, digests, strict=True)),
        notes=joined_notes([p.notes for p in parts]),
    )


def score_baselines(
    y: NDArray[Any],
    n_classes: int,
    prior: Array,
    settings: Settings,
    *,
    held_out: Mapping[str, Array] | None = None,
) -> list[ModelScores]:
    """Scores of the vacuous statement (anything may happen) and of the class frequencies.

    Both say the same of every instance, so for labels they are scored once per class. `held_out` holds further columns of the
    class frequencies, see `prior_of_the_others.held_out_columns`.
    """
    each = np.arange(n_classes) if y.ndim == 1 else y
    shape = (len(each), n_classes)
    statements = {
        "vacuous": Intervals(np.broadcast_to(0.0, shape), np.broadcast_to(1.0, shape)),
        "class-prior": Point(np.broadcast_to(prior, shape)),
    }
    scored = [score_model(name, (s,), each, settings, baseline=True) for name, s in statements.items()]
    scored = [m for m in scored if not np.isnan(m.columns["nonspecificity"]).any()]
    if y.ndim == 1:
        scored = [
            replace(
                m,
                columns={key: column[:, y] for key, column in m.columns.items()},
                floored=int(np.isin(y, np.flatnonzero(prior < m.floor)).sum()) if m.floored else 0,
            )
            for m in scored
        ]
    further = {"class-prior": held_out or {}}
    return [replace(m, columns={**m.columns, **further.get(m.name, {})}) for m in scored]


def sample_sets(run: Prediction, rows: NDArray[np.int64], n_pictured: int, *, kept: Kept = None) -> SetSample:
    """Credal sets of chosen instances; the points of the first `n_pictured` of them."""
    part = rows_of(run, rows, kept).credal()
    head = part[: min(n_pictured, len(rows))] if n_pictured else None
    has_points = head is not None and not isinstance(part, (Box, Masses))
    mean = part.mean_probs().astype(np.float32)
    same = isinstance(part, Point)
    return SetSample(
        rows,
        mean if same else part.lower_probs().astype(np.float32),
        mean if same else part.upper_probs().astype(np.float32),
        mean,
        np.asarray(head.hull_points(), dtype=np.float32)  # type: ignore[union-attr]
        if has_points
        else np.empty((0, 0, run.n_classes), np.float32),
    )


def with_draws_held(run: Prediction) -> Prediction:
    """Draw once where the points of the sets fit into memory: a `Dirichlet` is asked several times for the same ones."""
    if isinstance(run, Drawn) and 8 * run.n_instances * run.n_points * run.n_classes <= DRAWS_HELD_BYTES:
        held = run.with_draws()
        if held.remembers:
            held = held.remembering("lower_probs", "upper_probs", chunk_bytes=PART_BYTES)
        return held
    return run


def _other_columns(run: Prediction, y: NDArray[Any], settings: Settings) -> dict[str, Array]:
    n = run.n_instances
    names = ("correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label", *settings.measures)
    out = {name: np.full(n, np.nan) for name in names}
    offered = score_names(run, on_request=True)
    measures = [m for m in settings.measures if m in offered]
    floor = FLOORS["exact"] if settings.floor is None else settings.floor
    done = columns_on_device(y, run, measures, floor)
    out |= done
    measures = [m for m in measures if m not in done]
    if done and not measures:
        return out

    def work(rows: slice, part: Prediction) -> None:
        for measure, values in score_columns(part, measures).items():
            out[measure][rows] = values
        if done:
            return
        target = y[rows]
        out["correct"][rows] = is_correct(target, part)
        out["confidence"][rows] = np.minimum(part.label_probs().max(axis=1), 1.0)
        out["label"][rows] = part.only_classes() if isinstance(part, ClassSets) else part.labels()
        out["log-loss"][rows] = log_loss(target, part, floor=floor)
        out["brier"][rows] = brier_loss(target, part)
        out["gap"][rows] = probability_gap(target, part)
        if target.ndim == 1:
            out["upper-label"][rows] = np.take_along_axis(part.upper_probs(), target[:, None], axis=1)[:, 0]

    run.for_each_chunk(work, 8 * run.n_classes * (points_of_sets(run) or 3), chunk_bytes=PART_BYTES)
    return out


def points_of_sets(run: Prediction) -> int | None:
    """Number of points that span each credal set; None for intervals and masses, whose vertices are not listed."""
    if isinstance(run, (Box, Masses)):
        return None
    if isinstance(run, Members):
        return run.n_members
    if isinstance(run, Drawn):
        return run.n_points
    return int(run.vertices.shape[1]) if isinstance(run, Vertices) else 1
