"""The scores of every model, run and instance: distance, non-specificity, losses, uncertainties."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats, release, row_chunks
from uqassay.checks import fail, number, whole
from uqassay.credal.distances import DISTANCES, Distance
from uqassay.credal.undominated import CLASS_RULES
from uqassay.errors import InputError
from uqassay.evidence.kept_rows import Kept, joined_notes, rows_of
from uqassay.losses.unified import (
    FLOORS,
    brier_loss,
    check_options,
    is_correct,
    log_loss,
    probability_gap,
    unified_terms,
)
from uqassay.measures.nonspecificities import Nonspecificity, class_sets_by_rule, joined_nonspecificities
from uqassay.measures.registry import score_columns, score_names
from uqassay.measures.variance import probability_moments
from uqassay.metrics.sets import share_covered
from uqassay.notes import Note
from uqassay.predictions import (
    Answers,
    Box,
    ClassSets,
    GaussianLogits,
    Masses,
    Members,
    Point,
    Prediction,
    Vertices,
)
from uqassay.predictions.points import check_draws
from uqassay.predictions.second_order import Drawn
from uqassay.predictions.sets import empty_sets_note
from uqassay.records import Shape
from uqassay.statistics import check_margin

__all__ = [
    "CRITICAL_SCORES",
    "ERROR",
    "SET_COLUMNS",
    "ModelScores",
    "ScoredPart",
    "SetSample",
    "Settings",
    "able_to_hold",
    "covered_column",
    "digests_of_rows",
    "fingerprint",
    "holding",
    "joined_scores",
    "points_of_sets",
    "rules_for",
    "sample_sets",
    "score_model",
    "score_part",
    "set_columns",
    "size_column",
    "with_draws_held",
]


# SHA-256 of the predictions of a model: of its kind and of the SHA-256 of each instance, so that parts can be joined.


def digests_of_rows(run: Prediction) -> bytes:
    """The SHA-256 of the numbers of each instance, one after another, 32 bytes each.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.9, 0.1], [0.2, 0.8]])
    >>> digests_of_rows(p) == digests_of_rows(p[:1]) + digests_of_rows(p[1:])
    True
    """
    arrays = [getattr(run, name) for name in run.array_names()]
    found = []
    for rows in row_chunks(run.n_instances, sum(array[:1].nbytes for array in arrays)):
        parts = [
            np.ascontiguousarray(array[rows]).reshape(rows.stop - rows.start, -1).view(np.uint8) for array in arrays
        ]
        whole = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        width, raw = whole.shape[1], whole.reshape(-1).data
        found += [sha256(raw[start : start + width]).digest() for start in range(0, len(raw), width)]
        for array in arrays:
            release(array)
    return b"".join(found)


def fingerprint(runs: Iterable[tuple[Prediction, bytes]]) -> str:
    """SHA-256 of a model, in hexadecimal, from each run (its first rows suffice) and the digests of all its rows."""
    digest = sha256()
    for run, digests in runs:
        digest.update(type(run).__name__.encode())
        if isinstance(run, GaussianLogits) and run.variance_is == "aleatoric":
            digest.update(run.variance_is.encode())
        digest.update(digests)
    return digest.hexdigest()


# Columns of the classes that a model's sets do not rule out: whether the label is among them, and how many they are.

# Most classes at which an assay uses a rule. The time grows with the square of the classes that are left, and for
# E-admissibility with a linear program for each of them: at most 2 s for 10,000 instances of vague sets.
MOST_CLASSES = {"maximality": 32, "e-admissibility": 16}


def rules_for(n_classes: int) -> tuple[str, ...]:
    """Rules that an assay of so many classes uses.

    Examples
    --------
    >>> rules_for(10), rules_for(100)
    (('interval-dominance', 'maximality', 'e-admissibility'), ('interval-dominance',))
    """
    return tuple(rule for rule in CLASS_RULES if n_classes <= MOST_CLASSES.get(rule, n_classes))


def covered_column(rule: str) -> str:
    """Name of the column of coverage: 1 if the label is not ruled out, of label distributions the share that is not."""
    return f"covered-by-{rule}"


def size_column(rule: str) -> str:
    """Name of the column of sizes, the numbers of classes that are not ruled out."""
    return f"set-size-by-{rule}"


SET_COLUMNS = tuple(name(rule) for rule in CLASS_RULES for name in (covered_column, size_column))


def set_columns(y: NDArray[Any], prediction: Prediction) -> dict[str, NDArray[np.float64]]:
    """The columns of a prediction and its labels, ``(n,)`` each, by name; of the rules for so many classes.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> found = set_columns(np.array([1]), uq.Members([[[0.7, 0.3], [0.4, 0.6]]]))
    >>> found["covered-by-maximality"].tolist(), found["set-size-by-maximality"].tolist()
    ([1.0], [2.0])
    """
    found = {}
    for rule, sets in class_sets_by_rule(prediction, last=rules_for(prediction.n_classes)[-1]).items():
        found[covered_column(rule)] = share_covered(y, sets)
        found[size_column(rule)] = sets.sum(axis=1).astype(np.float64)
    return found


# Answers are judged by whether they are right, which takes the place of the distance: the mean of this loss is the error rate.


def _no_distribution(*_: Floats) -> Floats:
    raise LookupError("answers have no distribution whose distance from a label could be found")


ERROR = Distance(
    name="error",
    metric="error-rate",
    unit="",
    greatest=1.0,
    axis="error rate",
    heading="error rate",
    short="wrong answers",
    sentence="Share of the answers that are wrong.",
    equation="1 − mean of correct",
    source="",
    f_divergence=False,
    square_root=False,
    floored=False,
    over_vertices=False,
    objective=_no_distribution,
    direction=_no_distribution,
    curvature=_no_distribution,
    of_label=None,
)

# Scores of one model: distance, non-specificity, losses and uncertainty measures of every training run and instance.

PART_BYTES = 32 * 2**20
# Of the class that matters: variance of its probability, and what it adds to the mutual information (to second order).
CRITICAL_SCORES = ("critical-variance", "critical-information")
DRAWS_HELD_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Settings:
    """How an assay is computed; all of it is written into the report."""

    #: distance, nonspecificity, convention: As in `unified_loss`; the distance "error" is that of answers, see `ERROR`.
    distance: str = "kl"
    nonspecificity: str = "hartley"
    convention: str = "exact"
    focal_sets: Annotated[NDArray[np.bool_], Shape("F", "K")] | None = None
    floor: float | None = None  #: Least probability in logarithms; None: that of the convention.
    #: Uncertainty scores: those of `measures.SCORES` asked for or offered by a model, and those given.
    measures: tuple[str, ...] = ("total-entropy", "epistemic-entropy", "credal-width")
    tolerance: float | None = None  #: Standard error wanted of an estimated non-specificity.
    level: float = 0.95  #: Confidence level of all intervals.
    n_draws: int = 2000  #: Draws behind the shares of resamples.
    seed: int = 0
    margin: float | None = None  #: Greatest difference of mean E that does not matter.
    critical: int | None = None  #: The class that matters.

    @property
    def distance_metric(self) -> str:
        """Name of the distance among the findings; Brier's is told apart from the Brier score of the mean prediction."""
        return self.distance_entry.metric

    @property
    def distance_entry(self) -> Distance:
        """What is known of the distance: an entry of `DISTANCES`, or `ERROR`."""
        return ERROR if self.distance == ERROR.name else DISTANCES[self.distance]

    def _check_read(self) -> None:
        distance = "kl" if self.distance == ERROR.name else self.distance
        check_options(distance, self.nonspecificity, self.convention, self.focal_sets, self.floor)
        check_draws(self.n_draws, "n_draws")
        number(self.level, "level", "", low=0, high=1, ends="()")
        whole(self.seed, "seed", "", least=0)
        if self.margin is not None:
            check_margin(self.margin, self.level)
        if self.critical is not None:
            whole(self.critical, "critical", "", least=0)


@dataclass(frozen=True, eq=False)
class SetSample:
    """Credal sets of some instances, for pictures."""

    rows: Annotated[NDArray[np.int64], Shape("m", below="n")]  #: The instances.
    lower: Annotated[NDArray[np.float32], Shape("m", "K")]
    upper: Annotated[NDArray[np.float32], Shape("m", "K")]
    mean: Annotated[NDArray[np.float32], Shape("m", "K")]
    #: Points whose hull is the set, for the first k' of the rows; empty for intervals and masses.
    points: Annotated[NDArray[np.float32], Shape("k'", "p", "K")]

    def _check_read(self) -> None:
        if len(self.points) > len(self.rows):
            fail("points", "must be points of the rows", f"got {len(self.points)} of {len(self.rows)}", code="shape")


# Columns that every model has, and those of them that hold a number everywhere.
ALWAYS = ("distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label")
FINITE = ("correct", "confidence", "label")


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Scores of one model on every instance."""

    name: str
    kind: str
    baseline: bool
    n_points: int | None  #: Points that span each set; None for intervals and masses.
    #: (R, n): "distance", "nonspecificity", "correct", "confidence", "label", "log-loss", "brier", "gap", "upper-
    #: label", and the measures; of models with sets `SET_COLUMNS`; nan where a measure does not apply. "label" is -1
    #: where a class set does not have a single class.
    columns: dict[str, Annotated[Floats, Shape("R", "n")]] = field(repr=False)
    nonspecificity_error: float  #: Standard error that the estimator adds to the mean non-specificity (0 where exact).
    order_deviations: Sequence[float] = field(repr=False)  #: See `measures.Nonspecificity`; empty where exact.
    floored: int  #: Rows (of all runs) whose upper probability of the label was below the floor.
    floor: float
    gap: float  #: Largest certified gap of a solved distance.
    fingerprint: str  #: SHA-256 of the predictions, see `fingerprint`.
    notes: tuple[Note, ...]  #: What was done to the predictions on their way in.
    spanned_by: str = ""  #: "draws" or "passes" of second-order distributions; empty for other kinds.

    @property
    def n_runs(self) -> int:
        """Number of training runs R."""
        return len(self.columns["distance"])

    @property
    def predicts_classes(self) -> bool:
        """Whether the model predicts one class per instance, as all but `ClassSets` do."""
        return self.kind != "ClassSets"

    @property
    def states_confidence(self) -> bool:
        """Whether every prediction comes with a confidence: not of `ClassSets`, nor of `Answers` that state none."""
        return self.predicts_classes and self.has("confidence")

    def has(self, column: str) -> bool:
        """False where the column of this name holds no number for any run and instance."""
        values = self.columns.get(column)
        if values is None or not values.size:
            return values is None
        return not np.isnan(values.flat[0]) or not np.isnan(values).all()  # the first number mostly tells

    def _check_read(self) -> None:
        number(self.floor, "floor", "", low=0, high=1, ends="[)")
        for name in ALWAYS:
            if name not in self.columns:
                fail(f"columns/{name}", "is missing", code="missing")
        if not self.n_runs:
            fail("columns", "needs at least one run", "got none", code="empty")
        for name in FINITE:
            column = self.columns[name]
            if name == "confidence" and self.kind == "Answers" and not self.has(name):
                continue
            if not (np.isfinite(column) & (column >= -1)).all():
                fail(f"columns/{name}", "must hold finite numbers from -1 up", code="finite")


def score_model(
    name: str,
    runs: tuple[Prediction, ...],
    y: NDArray[Any],
    settings: Settings,
    *,
    given: Mapping[str, Floats] | None = None,
    baseline: bool = False,
    progress: Callable[[str], None] | None = None,
) -> ModelScores:
    """Compute every column for every run; `given` holds further uncertainty scores by name, ``(R, n)`` each."""
    return joined_scores([score_part(name, runs, y, settings, given=given, progress=progress)], baseline=baseline)


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """Scores of one model on consecutive instances; `joined_scores` makes those of all instances from several parts."""

    name: str
    heads: tuple[Prediction, ...]  #: The first instance of every run, which shows its kind.
    columns: dict[str, Floats]  #: (R, n): As in `ModelScores`.
    nonspecificities: tuple[Nonspecificity, ...]
    #: floored, floor, gap, notes: As in `ModelScores`.
    floored: int
    floor: float
    gap: float
    notes: tuple[Note, ...]
    digests: tuple[bytes, ...]  #: See `fingerprint.digests_of_rows`.


def score_part(
    name: str,
    runs: tuple[Prediction, ...],
    y: NDArray[Any],
    settings: Settings,
    *,
    given: Mapping[str, Floats] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ScoredPart:
    """Compute every column of consecutive instances; arguments as for `score_model`."""
    parts, sizes, digests, notes = [], [], [], [note for run in runs for note in run.notes]
    floored, gap = 0, 0.0
    with_sets = any(points_of_sets(run) != 1 for run in runs)  # a run of one member has the columns of the others
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
        if isinstance(run, Answers):
            columns, sure = _columns_of_answers(run, settings)
            parts.append(columns | {score: values[r] for score, values in (given or {}).items()})
            floored += sure
            sizes.append(Nonspecificity(np.zeros(run.n_instances), np.zeros(run.n_instances)))
            continue
        place = f"models[{name!r}]{f'[{r}]' if len(runs) > 1 else ''}"
        try:
            named = ("distance", "nonspecificity", "convention", "focal_sets", "floor", "tolerance")
            options: dict[str, Any] = {key: getattr(settings, key) for key in named} | {"rng": settings.seed}
            (d, gaps, low_rows), ns = unified_terms(y, run, **options)
            columns = _other_columns(run, y, settings) | (set_columns(y, run) if with_sets else {})
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
        columns={key: _joined([p.columns[key] for p in parts]) for key in first.columns},
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


def _joined(parts: list[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


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


def _other_columns(run: Prediction, y: NDArray[Any], settings: Settings) -> dict[str, Floats]:
    n = run.n_instances
    names = ("correct", "confidence", "label", "log-loss", "brier", "gap", "upper-label", *settings.measures)
    out = {name: np.full(n, np.nan) for name in names}
    offered = score_names(run, on_request=True)
    measures = [m for m in settings.measures if m in offered]
    floor = FLOORS["exact"] if settings.floor is None else settings.floor
    k = settings.critical if set(CRITICAL_SCORES) <= set(names) and states_moments(run) else None

    def work(rows: slice, part: Prediction) -> None:
        for measure, values in score_columns(part, measures).items():
            out[measure][rows] = values
        if k is not None:
            stated = probability_moments(part)
            for name, values in zip(CRITICAL_SCORES, (stated.variance, stated.contributions), strict=True):
                out[name][rows] = values[:, k]
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


def states_moments(run: Prediction) -> bool:
    """Whether a prediction is a distribution over distributions that are not all the same."""
    return isinstance(run, (Members, Drawn, GaussianLogits))


def _columns_of_answers(run: Answers, settings: Settings) -> tuple[dict[str, Floats], int]:
    """The columns of answers, and how many are the opposite of what was stated as certain.

    Their "label" is 1, right, or 0, and the confidence is judged against it on its whole scale.

    The Brier score is (confidence − right)², from 0 to 1, as for one event. The gap, which speaks of the probability of the
    label among the classes, is not defined.
    """
    n, right = run.n_instances, run.correct.astype(np.float64)
    names = ("confidence", "log-loss", "brier", "gap", "upper-label", *settings.measures)
    out, sure = {name: np.full(n, np.nan) for name in names}, 0
    if run.confidence is not None:
        floor = FLOORS["exact"] if settings.floor is None else settings.floor
        said = run.confidence.astype(np.float64)
        happened = np.where(run.correct, said, 1.0 - said)  # probability of what happened
        with np.errstate(divide="ignore"):  # infinite with a floor of 0
            out |= {"confidence": said, "log-loss": 0.0 - np.log(np.maximum(happened, floor))}
        sure = int((happened < floor).sum() if floor else (happened == 0).sum())
        out["brier"] = (said - right) ** 2
        if "least-confidence" in out:
            out["least-confidence"] = 1.0 - said
    judged = {"distance": 1.0 - right, "nonspecificity": np.zeros(n), "correct": right, "label": right}
    return judged | out, sure


def points_of_sets(run: Prediction) -> int | None:
    """Number of points that span each credal set; None for intervals and masses, whose vertices are not listed."""
    if isinstance(run, (Box, Masses)):
        return None
    if isinstance(run, Members):
        return run.n_members
    if isinstance(run, Drawn):
        return run.n_points
    return int(run.vertices.shape[1]) if isinstance(run, Vertices) else 1


# Mean, lower and upper probabilities that runs keep once they are found, because several parts of an assay ask for
# them.

PROBS_HELD_BYTES = 256 * 2**20  # of all models and runs together


def able_to_hold(models: Mapping[str, tuple[Prediction, ...]]) -> dict[str, tuple[Prediction, ...]]:
    """Models whose runs keep their probabilities when they are found, where those of all fit into `PROBS_HELD_BYTES`.

    Where they do not fit, each pass through the instances keeps those of its chunk.
    """
    size = sum(3 * 8 * run.n_instances * run.n_classes for runs in models.values() for run in runs)
    if size > PROBS_HELD_BYTES:
        return dict(models)
    return {name: tuple(_able(run) for run in runs) for name, runs in models.items()}


def _able(run: Prediction) -> Prediction:
    """Masses that are no probabilities may still have to be repaired, and answers have no probabilities."""
    return run if isinstance(run, Answers) or (isinstance(run, Masses) and run.signed) else run.remembering()


def holding(run: Prediction) -> Prediction:
    """The same run; if it is able to keep its probabilities, they are found now, chunk by chunk.

    Lower and upper probabilities of draws are found where the draws are held, see `scoring.with_draws_held`. Those of
    points are the mean.
    """
    if not run.remembers:
        return run
    names = ("mean_probs",) if isinstance(run, (Drawn, Point)) else ("mean_probs", "lower_probs", "upper_probs")
    return run.remembering(*names, chunk_bytes=PART_BYTES)
