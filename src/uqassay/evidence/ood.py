"""Lens: do the scores tell inputs of another distribution?"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.evidence.align import Aligned, align_models, first_difference, given_scores, labels_in_order, spanned_by
from uqassay.evidence.data import Judged
from uqassay.evidence.findings import FINDING_COLUMNS, estimate_fields
from uqassay.evidence.mistakes import stated_scores
from uqassay.evidence.scoring import PART_BYTES, Settings, points_of_sets, with_draws_held
from uqassay.losses.unified import prediction_errors, set_nonspecificity
from uqassay.measures.registry import SCORES, score_columns, score_names
from uqassay.metrics.ood import (
    OOD_METRICS,
    SCOD_METRICS,
    OodMetric,
    Positive,
    ScodMetric,
    ScodSamples,
    Ties,
    TwoSamples,
    check_costs,
    joined_groups,
    with_errors,
)
from uqassay.notes import Note
from uqassay.predictions import ClassSets, Drawn, Masses, Members, Prediction
from uqassay.predictions.labels import labels_for
from uqassay.results import Bar, Shown, ShownCell, ShownRow, ShownTable, as_table, estimate_cell
from uqassay.statistics import Estimate, PairedComparison
from uqassay.statistics.paired_tests import paired_statistic_test
from uqassay.statistics.units import check_choice, check_level
from uqassay.text import counted, level_text, listed, listed_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "QUESTION",
    "OodDetection",
    "detect_ood",
    "detect_ood_in_predictions",
    "noted_detection",
    "ood_figures",
]


# Scores of several models on one sample of inputs, with or without labels.


@dataclass(frozen=True, eq=False)
class SideModel:
    """Scores of one model on one sample."""

    kind: str
    n_points: int | None  #: Points that span each set; None for intervals and masses.
    n_runs: int
    columns: dict[str, Floats] = field(repr=False)  #: (R, n)
    #: Scores that could be asked for, also those outside the default list.
    offered: tuple[str, ...] = field(default=(), repr=False)
    spanned_by: str = ""  #: As in `ModelScores`.
    #: (R, n): 1 where the predicted class is wrong, 0 where it is right, or the share of the other labels; None without
    #: labels.
    errors: Floats | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Side:
    """Scores of several models on the same inputs."""

    models: dict[str, SideModel]
    n_instances: int
    n_classes: int
    class_names: tuple[str, ...] | None
    groups: NDArray[Any] | None  #: (n,)

    @classmethod
    def of_assay(cls, judged: Judged, scores: Mapping[str, Sequence[str]]) -> "Side":
        """What an assay holds of the scores named for each model."""
        models = {
            m.name: SideModel(
                m.kind,
                m.n_points,
                m.n_runs,
                {name: m.columns[name] for name in scores[m.name]},
                spanned_by=m.spanned_by,
                errors=1.0 - m.columns["correct"] if m.predicts_classes else None,
            )
            for m in judged.candidates
        }
        if judged.weights is not None:
            rule, got = "has no meaning for the detection of other inputs", "got an assay with weights"
            fail("sample_weight", rule, got, "make the assay without them", code="conflict")
        counted = judged.class_names == tuple(
            str(c) for c in range(judged.n_classes)
        )  # classes that were given no names
        return cls(models, judged.n_instances, judged.n_classes, None if counted else judged.class_names, judged.groups)


def score_side(
    predictions: Mapping[str, Any],
    settings: Settings,
    *,
    argument: str,
    measures: Sequence[str] | None = None,
    like: "Side | None" = None,
    class_names: Sequence[str] | None = None,
    order_of_classes: Sequence[str] | None = None,
    groups: ArrayLike | None = None,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    labels: ArrayLike | None = None,
    votes_are: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Side:
    """Compute scores of predictions alone, as `assay` does.

    Parameters
    ----------
    predictions : dict of str to Prediction, or to a list of Prediction
    settings : Settings
        How the non-specificity is computed.
    argument : str
        What errors call the predictions.
    measures : sequence of str, optional
        Names of `measures.SCORES`, of which each model gets those that it offers, and "nonspecificity"; by default every
        one of the default list that some model offers, and the non-specificity. Scores of the spread inside the sets are
        left out where the sets are points.
    like : Side, optional
        The other sample: its order of the classes is taken, and the number of members or draws that span each model's sets,
        where more of them are given.
    class_names : sequence of str, optional
        Stated order of the classes, where `like` is not given.
    order_of_classes : sequence of str, optional
        Order in which named classes are put, where `class_names` and `like` are not given.
    groups : array (n,), optional
        By default those that a prediction carries.
    uncertainties
        As in `assay`.
    labels : int array (n,), array of names (n,), or array (n, K), optional
        From which the errors are found.
    votes_are : {"counts", "single"}, optional
        As in `assay`.
    progress : callable, optional
        Called with the name of each model.

    Examples
    --------
    >>> import uqassay as uq
    >>> side = score_side({"m": uq.Point([[0.5, 0.5]])}, Settings(), argument="inside", measures=["margin", "credal-width"])
    >>> side.models["m"].columns
    {'margin': array([[1.]])}
    """
    order = order_of_classes if like is None else like.class_names
    stated = class_names if like is None else None
    found = align_models(predictions, groups=groups, class_names=stated, order_of_classes=order, argument=argument)
    aligned = _spanned_alike(found, like, settings)
    given = given_scores(uncertainties, aligned)
    known = None if labels is None else _labels(labels, aligned, votes_are)
    if measures is None:
        offered = {name for runs in aligned.models.values() for name in score_names(runs[0])}
        measures = [*(name for name in SCORES if name in offered), "nonspecificity"]
    models = {}
    for name, runs in aligned.models.items():
        if progress is not None:
            progress(name)
        first, count = runs[0], points_of_sets(runs[0])
        can = score_names(first, on_request=True)
        own = [m for m in measures if m in can]
        if count == 1:
            own = [m for m in own if not SCORES[m].needs_spread]
        try:
            parts = [_columns(run, own, settings) for run in runs]
        except InputError as problem:
            raise problem.inside(f"{argument}[{name!r}]") from problem
        columns = {m: np.stack([part[m] for part in parts]) for m in own}
        models[name] = SideModel(
            kind=type(first).__name__,
            n_points=count,
            n_runs=len(runs),
            columns=columns | given.get(name, {}),
            offered=tuple(s for s in can if count != 1 or not SCORES[s].needs_spread),
            spanned_by=first.spanned_by if isinstance(first, Drawn) else "",
            errors=None if known is None or any(isinstance(run, ClassSets) for run in runs) else _errors(known, runs),
        )
    first = next(iter(aligned.models.values()))[0]
    return Side(
        models=models,
        n_instances=first.n_instances,
        n_classes=first.n_classes,
        class_names=aligned.class_names if aligned.named else None,
        groups=aligned.groups,
    )


def _spanned_alike(found: Aligned, like: Side | None, settings: Settings) -> Aligned:
    """The same models, each set spanned by as many points as on the other side."""
    points = {} if like is None else {name: model.n_points for name, model in like.models.items()}
    models = {
        name: tuple(_spanned(run, points.get(name), settings) for run in runs) for name, runs in found.models.items()
    }
    return replace(found, models=models)


def _labels(labels: ArrayLike, aligned: Aligned, votes_are: str | None) -> NDArray[Any]:
    ordered, _ = labels_in_order(labels, aligned, votes_are=votes_are, name="labels")
    return labels_for(
        ordered,
        n_instances=aligned.n_instances,
        n_classes=len(aligned.class_names),
        class_names=aligned.class_names if aligned.named else None,
        class_order=aligned.class_order,
        n_members=next((r.n_members for runs in aligned.models.values() for r in runs if isinstance(r, Members)), None),
        name="labels",
    )


def _errors(labels: NDArray[Any], runs: Sequence[Prediction]) -> Floats:
    """Errors of each run, (R, n)."""
    # the labels are indices, also where the names of the classes are whole numbers
    return np.stack([np.asarray(prediction_errors(labels, run.without_class_names())) for run in runs])


def _spanned(run: Prediction, n_points: int | None, settings: Settings) -> Prediction:
    """As many members or draws as on the other side, where there are more; repaired where the convention does so."""
    if n_points is not None:
        run = spanned_by(run, n_points, settings.seed)
    return run.repaired() if settings.convention == "paper" and isinstance(run, Masses) else run


def _columns(run: Prediction, measures: Sequence[str], settings: Settings) -> dict[str, Floats]:
    """Scores of one run, (n,) each."""
    run = with_draws_held(run)
    out = {name: np.empty(run.n_instances) for name in measures if name != "nonspecificity"}

    def work(rows: slice, part: Prediction) -> None:
        for name, values in score_columns(part, list(out)).items():
            out[name][rows] = values

    run.for_each_chunk(work, 8 * run.n_classes * (points_of_sets(run) or 3), chunk_bytes=PART_BYTES)
    if "nonspecificity" in measures:
        out["nonspecificity"] = set_nonspecificity(
            run,
            settings.nonspecificity,
            convention=settings.convention,  # type: ignore[arg-type]
            focal_sets=settings.focal_sets,
            rng=settings.seed,
            tolerance=settings.tolerance,
        ).values
    return out


# Do two samples belong together: the same models, classes, members and settings on both sides?


def check_sides(inside: Side, outside: Side) -> None:
    """Refuse two samples of other models, classes, kinds, runs or members."""
    check_names(inside.models, set(outside.models))
    if inside.n_classes != outside.n_classes:
        fail(
            "outside",
            "needs the same classes",
            f"K = {inside.n_classes} in distribution, K = {outside.n_classes} out of it",
            "use predictions of the same models",
            code="mismatch",
        )
    if inside.class_names and outside.class_names and inside.class_names != outside.class_names:
        fail(
            "outside",
            "needs the same class names in the same order",
            first_difference(outside.class_names, "out of distribution", inside.class_names, "in distribution"),
            "pass class_names= to assay",
            code="mismatch",
        )
    for name, model in inside.models.items():
        other = outside.models[name]
        for what, own_value, other_value in (
            ("kind", model.kind, other.kind),
            ("number of runs", model.n_runs, other.n_runs),
            # assays of earlier versions do not tell draws from passes
            ("kind of points", model.spanned_by or other.spanned_by, other.spanned_by or model.spanned_by),
            ("number of members or draws", model.n_points, other.n_points),
        ):
            if own_value != other_value:
                fail(
                    "outside",
                    f"{name!r} needs the same {what} as in distribution",
                    f"{own_value} in distribution, {other_value} out of it",
                    "use predictions of the same model",
                    code="mismatch",
                )


def check_offered(scores: Sequence[str], inside: Side, outside: Side) -> None:
    """Refuse a score that no model has on either side."""
    models = [model for side in (inside, outside) for model in side.models.values()]
    absent = [name for name in scores if not any(name in model.columns for model in models)]
    if absent:
        known = ", ".join(name for name in SCORES if any(name in model.offered for model in models))
        fail(
            "scores",
            "must be scores that some model has",
            f"got {absent[0]!r}, and the scores there are {known}",
            "choose from them",
            code="choice",
        )


def check_names(models: Mapping[str, Any], names: set[str]) -> None:
    """Refuse names of models out of distribution that differ from those in distribution."""
    missing = [name for name in models if name not in names]
    if missing:
        fail(
            "outside",
            "needs every model that is judged in distribution",
            f"it lacks {listed([repr(name) for name in missing])}",
            "give predictions of every model on both samples",
            code="mismatch",
        )
    extra = sorted(names - set(models))
    if extra:
        fail(
            "outside",
            "must have no model that is missing in distribution",
            f"it has {listed([repr(name) for name in extra])}; those are {listed([repr(name) for name in models])}",
            "use the same names, or leave it out",
            code="mismatch",
        )


def check_settings(inside: Settings, outside: Settings) -> None:
    """Refuse two assays whose non-specificities mean different things."""
    for name in ("nonspecificity", "convention"):
        own, other = getattr(inside, name), getattr(outside, name)
        if own != other:
            fail(
                "outside",
                "needs the settings used in distribution",
                f"{name} is {own!r} in distribution, {other!r} out of it",
                "judge both alike",
                code="mismatch",
            )
    families = [s.focal_sets for s in (inside, outside) if s.focal_sets is not None]
    if len(families) == 1 or (families and not np.array_equal(families[0], families[1])):
        fail(
            "outside",
            "needs the settings used in distribution",
            "focal_sets differ",
            "judge both with the same family of events",
            code="mismatch",
        )


# How well the scores of several models tell two samples apart: metrics with intervals, paired tests, rows.

NAN = float("nan")
NAME, QUESTION = "ood", "Do the scores tell inputs of another distribution?"
SHOWN = 15  # scores in a figure


@dataclass(frozen=True, eq=False, repr=False)
class OodDetection(Shown):
    """How well each score of each model tells two samples apart; made by `detect_ood`."""

    _shown_more: ClassVar[str] = "summary(), table(), estimate(model, score), compare(a, b)"

    #: inside, outside: Every score of every model on both samples.
    inside: Side
    outside: Side
    #: What a false-positive rate and an average precision take for positive, see `metrics.fpr_at_tpr_error`.
    positive: Positive
    level: float  #: Confidence level of the intervals.
    convention: str  #: That of the non-specificity.
    ties: Ties = "shared"  #: How the false-positive rate takes ties at its threshold, see `metrics.fpr_at_tpr_error`.
    #: What a kept error costs; a kept input out of distribution costs 1 minus that, see `metrics.scod_aurc_loss`.
    error_cost: float = 0.5
    share_out: float | None = None  #: Share of inputs out of distribution in use; None for that of the samples.

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.inside.models)

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics of `rows`: ROC-AUC, false-positive rate at 95 % true positives, average precision.

        With labels in distribution, also the areas and the risk that count errors and these inputs together.
        """
        whole = "-whole" if self.ties == "whole" else ""
        return (
            *("ood-auc", f"fpr95-{self.positive}{whole}", f"aupr-{self.positive}"),
            *(SCOD_METRICS if self.has_errors else ()),
        )

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """Those of `metric_names` that a table has room for."""
        return self.metric_names[:4]

    @property
    def has_errors(self) -> bool:
        """Whether the labels in distribution are known."""
        return all(model.errors is not None for model in self.inside.models.values())

    def score_names(self, model: str) -> tuple[str, ...]:
        """Names of the scores of a model, those that only one of the samples has among them."""
        self._check_model(model)
        return tuple(dict.fromkeys([*self.inside.models[model].columns, *self.outside.models[model].columns]))

    def rows(self) -> list[dict[str, Any]]:
        """One row per model (and run), score and metric, as plain values with the keys of `FINDING_COLUMNS`."""
        return [
            self._row(model, run, score, metric)
            for model in self.model_names
            for run in self._runs(model)
            for score in self.score_names(model)
            for metric in self.metric_names
        ]

    def table(self) -> "pd.DataFrame":
        """The rows as a table."""
        return as_table(self.rows(), FINDING_COLUMNS)

    def estimate(self, model: str, score: str, metric: str = "ood-auc", *, run: int | None = None) -> Estimate:
        """One metric over all runs of a model, or of one run counted from 0.

        Parameters
        ----------
        model, score : str
        metric : str
            A name of `metrics.OOD_METRICS`, or of `metrics.SCOD_METRICS` where the labels in distribution are known.
        run : int, optional
        """
        chosen = self._metric(metric)
        problem = self._problem(model, score)
        if problem:
            return Estimate(
                NAN, low=NAN, high=NAN, level=self.level, n=0, method="", notes=[Note("undefined", problem)]
            )
        runs = slice(None) if run is None else slice(run, run + 1)
        if isinstance(chosen, ScodMetric):
            return chosen.interval(self._with_errors(model, score)[runs], level=self.level)
        return chosen.interval(self._samples(model, score)[runs], level=self.level)

    def compare(self, a: tuple[str, str], b: tuple[str, str], metric: str = "ood-auc") -> PairedComparison:
        """Paired test of two scores on the same two samples, each given by (model, score).

        Parameters
        ----------
        a, b : (str, str)
        metric : str
            As in `estimate`.
        """
        chosen = self._metric(metric)
        statistic = chosen.statistic
        if statistic is None:
            fail(
                "metric",
                "needs a metric whose differences can be tested",
                f"{metric} jumps where ties pass whole",
                f"compare {metric.removesuffix('-whole')}, which shares ties",
                code="conflict",
            )
        found = []
        for name, (model, score) in (("a", a), ("b", b)):
            problem = self._problem(model, score)
            if problem:
                fail(
                    name,
                    "must be a score that is defined on both sides",
                    f"{score} of {model!r} is not: {problem}",
                    "choose another score",
                    code="undefined",
                )
            samples = self._with_errors(model, score) if isinstance(chosen, ScodMetric) else self._samples(model, score)
            runs = [statistic(one) for one in samples]  # type: ignore[arg-type]
            found.append(runs if len(runs) > 1 else runs[0])
        return paired_statistic_test(*found, groups=self._groups, level=self.level)

    @cached_property
    def _groups(self) -> NDArray[np.intp] | None:
        return joined_groups(self.inside.groups, self.outside.groups, self.inside.n_instances, self.outside.n_instances)

    def _runs(self, model: str) -> tuple[int | None, ...]:
        """All runs together, then each where there are several."""
        n_runs = self.inside.models[model].n_runs
        return (None, *range(n_runs)) if n_runs > 1 else (None,)

    def _row(self, model: str, run: int | None, score: str, metric: str) -> dict[str, Any]:
        found = self.estimate(model, score, metric, run=run)
        return {
            "model": model,
            "run": "all" if run is None else str(run + 1),
            "metric": metric,
            "score": score,
            "tradeoff": NAN,
            "convention": self.convention,
            **estimate_fields(found),
        }

    def _samples(self, model: str, score: str) -> list[TwoSamples]:
        """Both samples of each run."""
        inside, outside = (side.models[model].columns[score] for side in (self.inside, self.outside))
        is_out = np.repeat([False, True], [inside.shape[1], outside.shape[1]])
        runs = np.concatenate([inside, outside], axis=1)
        return [TwoSamples(is_out, run, None, self._groups) for run in runs]

    def _with_errors(self, model: str, score: str) -> list[ScodSamples]:
        """The samples of each run with its errors in distribution; those of the last score are kept for further metrics."""
        if (model, score) in self._last:
            return self._last[model, score]
        errors = self.inside.models[model].errors
        assert errors is not None
        unused = np.zeros(self.outside.n_instances)
        self._last.clear()
        self._last[model, score] = [
            with_errors(samples, np.append(own, unused), error_cost=self.error_cost, share_out=self.share_out)
            for samples, own in zip(self._samples(model, score), errors, strict=True)
        ]
        return self._last[model, score]

    @cached_property
    def _last(self) -> dict[tuple[str, str], list[ScodSamples]]:
        return {}

    def _problem(self, model: str, score: str) -> str:
        """Why a score of a model cannot be judged; empty where it can."""
        if score not in self.score_names(model):
            fail(
                "score",
                f"must be one that {model!r} has: {', '.join(self.score_names(model)) or 'none'}",
                f"got {score!r}",
                "choose one of them",
                code="choice",
            )
        for side, where in ((self.inside, "in"), (self.outside, "out of")):
            column = side.models[model].columns.get(score)
            if column is None:
                return f"{score} is not known for the cases {where} distribution"
            undefined = int(np.isnan(column).sum())
            if undefined:
                return f"{undefined} of {column.size} values {where} distribution are nan"
        return ""

    def _shown_title(self) -> str:
        m, n = self.inside.n_instances, self.outside.n_instances
        who = f"{counted(len(self.model_names), 'model')} ({listed_names(self.model_names, most=3)})"
        return f"Out-of-distribution detection by {who}: {counted(m, 'case')} in distribution, {counted(n, 'case')} out"

    def _shown_sentences(self) -> Sequence[str]:
        return ()

    def _shown_table(self) -> ShownTable:
        each = [(model, score) for model in self.model_names for score in self.score_names(model)]
        found = [(name, [self.estimate(*name, metric) for metric in self.shown_metrics]) for name in each]
        found.sort(key=lambda row: math.inf if math.isnan(row[1][0]) else -float(row[1][0]))
        rows = []
        for (model, score), (area, *others) in found:
            cells = [estimate_cell(float(e), e.low, e.high) for e in (area, *others)]
            rows.append(
                ShownRow((ShownCell(model), ShownCell(score), *cells), bar=Bar(float(area), area.low, area.high))
            )
        said = f"By ROC-AUC, the greatest first. {level_text(self.level)} intervals."
        return ShownTable(("model", "score", *self.shown_metrics), tuple(rows), said, n_words=2)

    def _check_model(self, model: str) -> None:
        if model not in self.inside.models:
            fail(
                "model",
                f"must be one of {', '.join(self.model_names)}",
                f"got {model!r}",
                "choose one of them",
                code="choice",
            )

    def _metric(self, name: str) -> OodMetric | ScodMetric:
        if name in SCOD_METRICS and not self.has_errors:
            fail(
                "metric", f"{name} needs the labels in distribution", remedy="pass labels=, or an assay", code="missing"
            )
        check_choice(name, "metric", (*OOD_METRICS, *(SCOD_METRICS if self.has_errors else ())))
        return OOD_METRICS[name] if name in OOD_METRICS else SCOD_METRICS[name]


# Do the scores tell inputs of another distribution? The models of an assay on inputs in and out of distribution.
#
# Labels are needed for neither side: inputs of another distribution seldom have labels that mean something to the
# model. With labels in distribution, errors and inputs of another distribution are judged together too.


def detect_ood(
    inside: Judged,
    outside: Any,
    *,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    groups: ArrayLike | None = None,
    level: float | None = None,
    positive: Positive = "out",
    ties: Ties = "shared",
    error_cost: float = 0.5,
    share_out: float | None = None,
) -> OodDetection:
    """Judge how well the scores of an assay tell out-of-distribution inputs from its instances.

    The assay notes the result: its page and its Markdown show the newest.

    Parameters
    ----------
    inside : Assay
    outside : Assay, or dict of str to Prediction, or to a list of Prediction
        The same models on inputs of another distribution: an assay where there are labels, else predictions (a list holds
        the training runs, in the order of those inside), whose scores are computed with the settings of `inside`.
    uncertainties : dict of str to dict of str to array (n,) or (R, n), optional
        Further scores of these inputs, under the names they have inside; for predictions.
    groups : array (n,), optional
        Groups of these inputs; by default those that a prediction carries. For predictions.
    level : float, optional
        Confidence level of the intervals; that of `inside` by default.
    positive : {"out", "in"}
    ties : {"shared", "whole"}
        See `metrics.fpr_at_tpr_error`.
    error_cost : float
    share_out : float, optional
        See `metrics.scod_aurc_loss`.

    Returns
    -------
    OodDetection

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> rng = np.random.default_rng(0)
    >>> known = uq.Point(rng.dirichlet([8.0, 1.0, 1.0], 200))
    >>> found = detect_ood(uq.assay({"m": known}, np.zeros(200, int)), {"m": uq.Point(rng.dirichlet([2.0, 2.0, 2.0], 100))})
    >>> [(row["metric"], round(row["estimate"], 2)) for row in found.rows() if row["score"] == "margin"]
    [('ood-auc', 0.9), ('fpr95-out', 0.36), ('aupr-out', 0.81), ('scod-aurc', 0.05), ('scod-augrc', 0.04), ('scod-risk80', 0.1)]
    """
    s = inside.settings
    own = Side.of_assay(inside, {m.name: stated_scores(m, inside) for m in inside.candidates})
    if isinstance(outside, Judged):
        if uncertainties is not None or groups is not None:
            fail(
                "uncertainties" if groups is None else "groups",
                "mean nothing where outside is an assay, which has its scores and groups",
                remedy="pass them to assay",
                code="conflict",
            )
        check_settings(s, outside.settings)
        other = Side.of_assay(outside, {m.name: stated_scores(m, outside) for m in outside.candidates})
    elif isinstance(outside, Mapping):
        check_names(own.models, {str(name) for name in outside})
        other = score_side(
            outside,
            s,
            argument="outside",
            measures=[*(name for name in s.measures if name in SCORES), "nonspecificity"],
            like=own,
            groups=groups,
            uncertainties=uncertainties,
        )
    else:
        fail(
            "outside",
            "must be an assay, or map the names of the models to predictions",
            f"got {type(outside).__name__}",
            'write {"my model": prediction}',
            code="type",
        )
    options = _Options(positive, ties, s.level if level is None else level, s.convention, error_cost, share_out)
    found = _matched(own, other, options)
    inside.shared.note(NAME, found)
    return found


def noted_detection(judged: Judged) -> OodDetection | None:
    """The newest result of `Assay.ood`; None before it is called."""
    found: OodDetection | None = judged.shared.noted(NAME)
    return found


def ood_figures(found: OodDetection) -> dict[str, Callable[["Axes"], None]]:
    """ROC-AUC of the scores with their intervals; of very many the greatest."""
    each = [(m, score, found.estimate(m, score)) for m in found.model_names for score in found.score_names(m)]
    defined = sorted((row for row in each if not math.isnan(row[2])), key=lambda row: -float(row[2]))

    def draw(ax: "Axes") -> None:
        rows = defined[:SHOWN][::-1]
        places = np.arange(len(rows))
        areas = np.array([float(area) for _, _, area in rows])
        ends = np.array([(area.low, area.high) for _, _, area in rows])
        ax.errorbar(areas, places, xerr=np.abs(ends.T - areas), fmt="o", color="black", capsize=3)
        ax.axvline(0.5, color="grey", linestyle=":")
        ax.set_yticks(places, [f"{model}: {score}" for model, score, _ in rows])
        ax.set_xlabel(f"ROC-AUC, {level_text(found.level)} interval (0.5: no knowledge)")

    return {"How well each score tells the inputs of another distribution": draw} if defined else {}


def detect_ood_in_predictions(
    inside: Mapping[str, Any],
    outside: Mapping[str, Any],
    *,
    scores: Sequence[str] | None = None,
    groups_in: ArrayLike | None = None,
    groups_out: ArrayLike | None = None,
    level: float = 0.95,
    positive: Positive = "out",
    ties: Ties = "shared",
    labels: ArrayLike | None = None,
    error_cost: float = 0.5,
    share_out: float | None = None,
    votes_are: str | None = None,
    class_names: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> OodDetection:
    """Judge how well scores tell two samples apart from predictions alone.

    Parameters
    ----------
    inside, outside : dict of str to Prediction, or to a list of Prediction
        The same models on both samples, as in `uqassay.assay`.
    scores : sequence of str, optional
        Names of `measures.SCORES`; by default every one of the default list that some model offers.
    groups_in, groups_out : array (m,), (n,), optional
        By default those that the predictions carry.
    level, positive, ties
        As in `detect_ood`.
    labels : int array (m,), array of names (m,), or array (m, K), optional
        Of the inputs in distribution. With them, errors and inputs out of distribution are judged together too.
    error_cost, share_out
        As in `detect_ood`.
    votes_are, class_names
        As in `uqassay.assay`.
    progress : callable, optional
        Called with the name of what is being computed.

    Returns
    -------
    OodDetection

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> rng = np.random.default_rng(0)
    >>> known, other = (uq.Point(rng.dirichlet(a, 100)) for a in ([8.0, 1.0], [2.0, 2.0]))
    >>> found = detect_ood_in_predictions({"m": known}, {"m": other}, scores=["total-entropy"])
    >>> round(float(found.estimate("m", "total-entropy")), 2)
    0.9
    """
    unknown = [name for name in scores or () if name not in SCORES]
    if unknown:
        fail("scores", f"must be among {', '.join(SCORES)}", f"got {unknown[0]!r}", "choose from them", code="choice")
    settings = Settings(level=level)
    check_names({str(name): None for name in inside}, {str(name) for name in outside})
    with _groups_named("groups_in"):
        own = score_side(
            inside,
            settings,
            argument="inside",
            measures=scores,
            class_names=class_names,
            groups=groups_in,
            labels=labels,
            votes_are=votes_are,
            progress=progress,
        )
    with _groups_named("groups_out"):
        other = score_side(
            outside,
            settings,
            argument="outside",
            measures=scores,
            class_names=class_names,
            order_of_classes=own.class_names,
            groups=groups_out,
            progress=progress,
        )
    check_offered(scores or (), own, other)
    return _matched(own, other, _Options(positive, ties, level, settings.convention, error_cost, share_out))


@contextmanager
def _groups_named(argument: str) -> Iterator[None]:
    """Give errors about groups the name of this argument."""
    try:
        yield
    except InputError as problem:
        raise (problem.replace(parameter=argument) if problem.parameter == "groups" else problem) from problem


@dataclass(frozen=True)
class _Options:
    positive: Positive
    ties: Ties
    level: float
    convention: str
    error_cost: float
    share_out: float | None


def _matched(inside: Side, outside: Side, options: _Options) -> OodDetection:
    check_choice(options.positive, "positive", ("out", "in"))
    check_choice(options.ties, "ties", ("shared", "whole"))
    check_level(options.level)
    check_costs(options.error_cost, options.share_out)
    check_sides(inside, outside)
    ordered = {name: outside.models[name] for name in inside.models}
    return OodDetection(
        inside=inside,
        outside=replace(outside, models=ordered),
        positive=options.positive,
        level=float(options.level),
        convention=options.convention,
        ties=options.ties,
        error_cost=float(options.error_cost),
        share_out=options.share_out,
    )
