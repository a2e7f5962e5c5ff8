"""Models by several metrics side by side, each with its interval and the best marked: the main table of an assay."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

import numpy as np

from uqassay.checks import fail
from uqassay.evidence.data import Judged
from uqassay.evidence.findings import CALIBRATION_ERRORS, OF_ESTIMATE, estimate_fields, model_rows, widened
from uqassay.evidence.mistakes import mistake_estimate, scores_of
from uqassay.evidence.order import loss_name, order_of, rank_sets_of
from uqassay.evidence.pair_tests import loss_lines, mean_metrics
from uqassay.evidence.ranking import Spread, intervals_text, metric_label, run_deviations, size_text, spread_text
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.measures.registry import SCORES
from uqassay.metrics.names import metric_name
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.notes import Note
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable, Text, as_table
from uqassay.statistics import Estimate
from uqassay.text import ABSENT, decimals_for, level_text, listed, number, tradeoff

if TYPE_CHECKING:
    import pandas as pd

    from uqassay.evidence.scoring import ModelScores

__all__ = ["MANY", "METRIC_COLUMNS", "MeasuredMetric", "Metrics", "metric_rows"]

PLAIN = ("accuracy", "log-loss", "brier", "ece")
OF_A_SCORE = ("uq-auc", "aurc")
OF_ANSWERS = ("accuracy", "ece", "brier", "log-loss")  # without a stated confidence the first alone
NO_PREDICTION = "a baseline that allows every distribution makes no single prediction"
CHANCE = {"uq-auc": 0.5, "uq-c-index": 0.5}  # of a random order, which is never the best
MANY = 10  # with more models the best stand first; with fewer they stand as given
METRIC_COLUMNS = (
    *("model", "baseline", "metric", "score", "tradeoff", "estimate", *OF_ESTIMATE),
    *("deviation", "best", "tied"),
)
MEANINGS = {  # of metrics whose names do not say it
    "ece": "ECE: mean gap between confidence and accuracy.",
    "rms-calibration-error": "RMS calibration error: root of the mean squared gap between confidence and accuracy.",
    "uq-auc": "Error AUROC (UQ-AUC): chance that a mistake is more uncertain than a right prediction.",
    "aurc": "AURC: error rate of what is kept, averaged over all shares kept.",
    "unified": "E: distance to the label + λ · size of the set.",
}


@final
@dataclass(frozen=True)
class MeasuredMetric:
    """One metric of one model or baseline."""

    model: str
    baseline: bool
    metric: str
    score: str  #: The uncertainty that ranks the mistakes; "" of other metrics.
    tradeoff: float  #: λ of E; nan of other metrics.
    estimate: Estimate  #: nan, with a note, where the metric is undefined.
    runs: tuple[float, ...]  #: The metric of each training run; empty where the model has one.
    #: Whether no model has a better value; None of baselines, of a single model, and of metrics that have no better value.
    best: bool | None
    #: Whether the model is not the best, and no model is shown to be better; None as above, and of metrics without a test.
    tied: bool | None

    def row(self) -> dict[str, Any]:
        """Plain values, with the interval and the standard deviation over the runs (nan of one run)."""
        named = {name: getattr(self, name) for name in METRIC_COLUMNS[:5]}
        marks = {"best": self.best, "tied": self.tied}
        with np.errstate(invalid="ignore"):  # of infinite values
            deviation = float(np.std(self.runs, ddof=1)) if self.runs else math.nan
        return {**named, **estimate_fields(self.estimate), "deviation": deviation, **marks}


@final
@dataclass(frozen=True, eq=False, repr=False)
class Metrics(Shown):
    """Models and baselines by several metrics; made by `Assay.metrics`."""

    _shown_more: ClassVar[str] = "table(), rows(), to_latex(), to_markdown()"

    tradeoff: float  #: λ of E.
    metrics: tuple[str, ...]  #: Their names in this package.
    score: str | None  #: The uncertainty that ranks the mistakes; None where no metric needs one.
    #: By model, then by metric. Up to 10 models stand in the order given, more by their mean E; baselines stand last.
    measured: tuple[MeasuredMetric, ...]
    assay: Judged = field(repr=False)

    @classmethod
    def of(cls, assay: Judged, at: float, metrics: str | Sequence[str] | None, score: str | None) -> "Metrics":
        """The metrics of an assay; see `Assay.metrics`."""
        check_tradeoff(at)
        at = float(at)
        ranking = score if score is not None else _common_score(assay)
        chosen = _default_metrics(assay, ranking) if metrics is None else _checked(assay, metrics, ranking)
        by_score = [metric for metric in chosen if metric in RANKING_METRICS]
        if score is not None and not by_score:
            remedy = f"leave it out, or choose one of {', '.join(RANKING_METRICS)}"
            fail("score", f"has no effect on {', '.join(chosen)}", f"got {score!r}", remedy, code="conflict")
        used = ranking if by_score else None
        columns = [_column(assay, metric, at, used) for metric in chosen]
        return cls(at, chosen, used, tuple(column[name] for name in _order(assay) for column in columns), assay)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model or baseline and metric."""
        return [one.row() for one in self.measured]

    def table(self) -> "pd.DataFrame":
        """The rows as a table."""
        return table_of_metrics(self.rows())

    def to_latex(self, *, spread: Spread = "interval") -> Text:
        """The table for LaTeX with booktabs: the best of each metric in bold, those not shown to be worse underlined.

        Parameters
        ----------
        spread : {"interval", "runs"}
            What stands after each number: its confidence interval, or ± the standard deviation over the training runs.
        """
        return Text(self.shown_table(spread).as_latex())

    def to_markdown(self, *, spread: Spread = "interval") -> Text:
        """The table for Markdown; `spread` as in `to_latex`."""
        return Text(self.shown_table(spread).as_markdown())

    def by_model(self) -> dict[str, tuple[MeasuredMetric, ...]]:
        """The metrics of each model and baseline that has one, in the order of the table."""
        wide = len(self.metrics)
        rows = [self.measured[i : i + wide] for i in range(0, len(self.measured), wide)]
        # the distance of the vacuous statement is 0, which means nothing where its size is not counted
        nothing = self.assay.settings.distance_metric
        kept = [row for row in rows if any(not (math.isnan(m.estimate) or m.metric == nothing) for m in row)]
        return {row[0].model: row for row in rows if row in kept or not row[0].baseline}

    def headings(self) -> tuple[str, ...]:
        """A heading for each metric, with the direction that is better."""
        return tuple(heading(self.assay, m, self.tradeoff, self.score) + direction(self.assay, m) for m in self.metrics)

    def explained(self, metrics: Sequence[str]) -> str:
        """Sentences on those of these metrics whose names do not say what they are, and on the baselines."""
        said = [MEANINGS[metric] for metric in metrics if metric in MEANINGS]
        stated = {
            "vacuous": "vacuous allows every distribution",
            "class-prior": "class-prior gives the class frequencies",
        }
        baselines = [stated[row[0].model] for row in self.by_model().values() if row[0].baseline]
        if baselines:
            said.append(f"{'Baseline' if len(baselines) == 1 else 'Baselines'}: {'; '.join(baselines)}.")
        return " ".join(said)

    def caption(self, spread: Spread = "interval") -> str:
        """What the numbers are, and in which order the models stand."""
        of_runs = "with ± standard deviation over the training runs"
        after = intervals_text(self.assay) if spread == "interval" else of_runs
        first = f" The lowest {loss_name(self.assay)} stands first." if len(self.assay.candidates) > MANY else ""
        return f"{after[0].upper()}{after[1:]}.{first}"

    def marks(self, best: str = "Bold", tied: str = "underlined") -> str:
        """What the marks mean; "" without marks. A metric without a test has only its lowest marked."""
        if len(self.assay.candidates) == 1:
            return ""
        level = level_text(self.assay.settings.level)
        said = f"{best}: the best model; {tied}: no model is shown to be better ({level} for all pairs of a column)."
        untested = [heading(self.assay, m, self.tradeoff, None) for m in self.metrics if m in CALIBRATION_ERRORS]
        return f"{said} Of {listed(untested)}, not tested, only the lowest is marked." if untested else said

    def shown_table(self, spread: Spread = "interval", *, explained: bool = False) -> ShownTable:
        """Models in rows, metrics in columns; `explained` with sentences on the metrics and baselines."""
        by_model = self.by_model()
        runs = {(m.model, m.metric): m.runs for m in self.measured if m.runs}
        deviations = {metric: run_deviations(spread, _of_metric(runs, metric)) for metric in self.metrics}
        places = self.decimals()
        rows = []
        for name, measured in by_model.items():
            cells = [_cell(m, deviations[m.metric].get(name), places[m.metric], spread) for m in measured]
            rows.append(ShownRow((ShownCell(name), *cells), reference=measured[0].baseline))
        header = ("model", *self.headings())
        return ShownTable(
            header,
            tuple(rows),
            self.caption(spread),
            self.marks(),
            plain_marks=self.marks("*", "°"),
            more=self.explained(self.metrics) if explained else "",
            below=True,
        )

    def decimals(self) -> dict[str, int]:
        """Decimals of each metric, which follow the intervals of the models."""
        return {
            metric: decimals_for(
                (m.estimate.low, m.estimate.high) for m in self.measured if m.metric == metric and not m.baseline
            )
            for metric in self.metrics
        }

    def _shown_title(self) -> str:
        return f"Metrics of {size_text(self.assay)}"

    def _shown_sentences(self) -> Sequence[str]:
        return ()

    def _shown_table(self) -> ShownTable:
        return self.shown_table(explained=True)


def metrics_of(assay: Judged, tradeoff: float, metrics: str | Sequence[str] | None, score: str | None) -> Metrics:
    """The metrics of an assay, found once; see `Assay.metrics`."""
    asked = ("metrics", repr((tradeoff, metrics, score)))
    return assay.shared.once(asked, lambda: Metrics.of(assay, tradeoff, metrics, score))


def table_of_metrics(rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Rows of metrics as a table."""
    return as_table(rows, METRIC_COLUMNS).astype({"best": "boolean", "tied": "boolean"})


def metric_rows(
    assay: Judged,
    *,
    tradeoff: float = DEFAULT_TRADEOFF,
    metrics: str | Sequence[str] | None = None,
    score: str | None = None,
) -> list[dict[str, Any]]:
    """One row for each model or baseline and metric; see `Assay.metrics`."""
    return metrics_of(assay, tradeoff, metrics, score).rows()


# -- which metrics, and by which score ------------------------------------------------------------------------------------


def _default_metrics(assay: Judged, score: str | None) -> tuple[str, ...]:
    """Accuracy, log loss, Brier score, ECE, error AUROC, AURC, and E at λ.

    Without sets E is the mean distance, whatever λ is. That distance stands in the place of E, unless it is the log loss or
    the Brier score and stands there already.
    """
    by_score = () if score is None else OF_A_SCORE
    if assay.of_answers:
        stated = any(m.states_confidence for m in assay.candidates)
        return (*(OF_ANSWERS if stated else OF_ANSWERS[:1]), *by_score)
    columns = [m.columns for m in assay.candidates]
    if order_of(assay).priced:
        return (*PLAIN, *by_score, "unified")
    told = any(all(np.allclose(c["distance"], c[name]) for c in columns) for name in ("log-loss", "brier"))
    return (*PLAIN, *by_score, *(() if told else (assay.settings.distance_metric,)))


def _common_score(assay: Judged) -> str | None:
    """The uncertainty that the most models have, of several the total entropy or else the first; None where none has one."""
    having = Counter(score for m in assay.candidates for score in scores_of(m, assay))
    if not having:
        return None
    shared = [score for score, n in having.items() if n == max(having.values())]
    return "total-entropy" if "total-entropy" in shared else shared[0]


def _checked(assay: Judged, metrics: str | Sequence[str], score: str | None) -> tuple[str, ...]:
    """Names in this package, each once."""
    known = (*mean_metrics(assay), *CALIBRATION_ERRORS, *RANKING_METRICS, *assay.settings.measures)
    if assay.of_answers:
        known = tuple(name for name in known if name not in ("unified", "ece-classwise"))
    given = [metrics] if isinstance(metrics, str) else list(metrics)
    chosen = [metric_name(metric) for metric in given]
    for metric in chosen:
        if metric not in known:
            rule = f"must be among {', '.join(dict.fromkeys(known))}"
            fail("metrics", rule, f"got {metric!r}", "choose from them", code="choice")
        if metric in RANKING_METRICS and score is None:
            what = "a confidence" if assay.of_answers else "probabilities"
            got, remedy = f"no model states {what}, so none has such a score", "leave it out"
            fail("metrics", f"{metric!r} needs an uncertainty score", got, remedy, code="undefined")
    if not chosen:
        fail("metrics", "must name a metric", "got none", 'write ["accuracy", "ece"]', code="empty")
    return tuple(dict.fromkeys(chosen))


def heading(assay: Judged, metric: str, at: float, score: str | None) -> str:
    """Name of a metric, with the λ of E and the score that ranks the mistakes.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0])
    >>> heading(a, "unified", 0.5, None), heading(a, "uq-auc", 0.5, "total-entropy"), heading(a, "kl", 0.5, None)
    ('E at λ = 0.5', 'error AUROC by total entropy', 'KL distance')
    """
    if metric == "unified":
        return f"E at λ = {tradeoff(at)}"
    if metric == assay.settings.distance_metric:
        return assay.settings.distance_entry.heading
    name = {"uq-auc": "error AUROC"}.get(metric, SCORES[metric].label if metric in SCORES else metric_label(metric))
    by = score if metric in RANKING_METRICS else None
    return name if by is None else f"{name} by {SCORES[by].label if by in SCORES else by}"


def direction(assay: Judged, metric: str) -> str:
    """An arrow in the direction that is better; "" where neither is: a smaller set is better only if it is right."""
    greater = _greater_is_better(assay, metric)
    return "" if greater is None else " ↑" if greater else " ↓"


def _greater_is_better(assay: Judged, metric: str) -> bool | None:
    if metric == "nonspecificity" or metric in assay.settings.measures:
        return None
    return metric == "accuracy" or (metric in RANKING_METRICS and RANKING_METRICS[metric].higher_is_better)


def _order(assay: Judged) -> list[str]:
    if len(assay.candidates) <= MANY:
        return [m.name for m in assay.models]
    means = np.array([assay.overall(assay.loss(name)) for name in assay.model_names])
    best_first = [assay.model_names[j] for j in np.argsort(means, kind="stable")]
    return [*best_first, *(m.name for m in assay.models if m.baseline)]


# -- one metric of all models ---------------------------------------------------------------------------------------------


class _Of(NamedTuple):
    """A metric over all runs and of each."""

    estimate: Estimate
    runs: tuple[float, ...]


def _column(assay: Judged, metric: str, at: float, score: str | None) -> dict[str, MeasuredMetric]:
    """One metric of all models and baselines, by name."""
    by = score if score is not None and metric in RANKING_METRICS else ""
    found = {m.name: _found(assay, m, metric, at, by) for m in assay.models}
    best, top = _marked(assay, metric, at, by, {name: float(of.estimate) for name, of in found.items()})
    measured = {}
    for m in assay.models:
        estimate, runs = found[m.name]
        ranked = not m.baseline and not math.isnan(estimate)
        first = m.name in best if ranked and best is not None else None
        tied = m.name in top and not first if ranked and top is not None else None
        lambda_ = at if metric == "unified" else math.nan
        measured[m.name] = MeasuredMetric(m.name, m.baseline, metric, by, lambda_, estimate, runs, first, tied)
    return measured


def _found(assay: Judged, model: "ModelScores", metric: str, at: float, score: str) -> _Of:
    several = range(model.n_runs) if model.n_runs > 1 else ()
    if metric == "unified":
        (estimate,) = loss_lines(assay).estimates([model], at)
        each = assay.mean(assay.loss(model.name, at)).tolist()
        return _Of(widened(estimate, model, at), tuple(each) if several else ())
    if score:
        if model.baseline:
            return _Of(_absent(assay, "a baseline says the same of every case, which ranks nothing"), ())
        if score not in scores_of(model, assay):
            return _Of(_absent(assay, f"{model.name} has no {SCORES[score].label if score in SCORES else score}"), ())
        runs = tuple(float(mistake_estimate(assay, model, score, metric, run=run)) for run in several)
        return _Of(mistake_estimate(assay, model, score, metric), runs)
    rows = [row for run in (None, *several) for row in model_rows(assay, model, run, None, (metric,))]
    if not rows:
        why = f"{model.name} states no confidence" if assay.of_answers else NO_PREDICTION
        return _Of(_absent(assay, why), ())
    whole, *rest = rows
    ends = {key: whole[key] for key in OF_ESTIMATE}
    return _Of(Estimate(whole["estimate"], **ends), tuple(row["estimate"] for row in rest))


def _absent(assay: Judged, why: str) -> Estimate:
    nan = math.nan
    return Estimate(nan, low=nan, high=nan, level=assay.settings.level, n=0, method="", notes=[Note("undefined", why)])


def _marked(
    assay: Judged, metric: str, at: float, score: str, values: Mapping[str, float]
) -> tuple[set[str] | None, set[str] | None]:
    """The best models, and those that no model is shown to be better than; None where that has no meaning or no test."""
    greater = _greater_is_better(assay, metric)
    finite = {name: values[name] for name in assay.model_names if math.isfinite(values[name])}
    if score:
        finite = {name: value for name, value in finite.items() if _ranks(assay, name, score)}
    if greater is None or len(assay.candidates) == 1:
        return None, None
    first = (max if greater else min)(finite.values(), default=math.nan)
    best = {name for name, value in finite.items() if value == first and not value <= CHANCE.get(metric, -math.inf)}
    if metric in CALIBRATION_ERRORS:
        return best, None
    return best, set(rank_sets_of(assay, at, metric, score or None).top_names) & finite.keys()


def _ranks(assay: Judged, name: str, score: str) -> bool:
    """Whether a score of a model differs between cases: one that does not ranks nothing, and is as good as chance."""
    values = assay[name].columns[score]
    return bool((values != values[:, :1]).any())


def _of_metric(runs: Mapping[tuple[str, str], tuple[float, ...]], metric: str) -> dict[str, tuple[float, ...]]:
    return {name: values for (name, of), values in runs.items() if of == metric}


def _cell(measured: MeasuredMetric, deviation: float | None, places: int, spread: Spread) -> ShownCell:
    if math.isnan(measured.estimate):
        return ShownCell(ABSENT)
    after = spread_text(measured.estimate, deviation, places, spread)
    return ShownCell(number(float(measured.estimate), places), bool(measured.best), bool(measured.tied), after)
