"""Models by several metrics beside each other, as the main table of a paper, with the best of each metric marked."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from uqassay._shown_table import ShownCell, ShownRow, ShownTable
from uqassay.errors import InputError
from uqassay.evidence.rank_sets import mean_metrics
from uqassay.evidence.ranking import ranked_at
from uqassay.evidence.ranking_result import Spread, run_deviations, spread_text
from uqassay.evidence.ranking_words import metric_label
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.statistics import Estimate
from uqassay.wording import ABSENT, decimals_for, level_text, number, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["metric_table"]

DISTANCES = {
    "kl": "KL distance",
    "js": "JS divergence",
    "js_distance": "JS distance",
    "tv": "total variation",
    "hellinger": "Hellinger distance",
    "brier": "Brier distance",
}
WITHOUT_A_BEST = ("nonspecificity",)  # a smaller set is better only if it is right


def metric_table(
    assay: "Assay", at: float, metrics: Sequence[str] | None, score: str | None, spread: Spread
) -> ShownTable:
    """Means of the models and baselines by several metrics; see `Assay.to_latex`."""
    chosen = ("accuracy", assay.settings.distance_metric, "nonspecificity", "unified") if metrics is None else metrics
    columns = [_column(assay, metric, at, score, spread) for metric in chosen]
    rows = []
    for m in assay.models:
        rows.append(ShownRow((ShownCell(m.name), *(column[m.name] for column in columns)), reference=m.baseline))
    level = level_text(assay.settings.level)
    after = f"{level} intervals" if spread == "interval" else "± standard deviation over the training runs"
    marks = f"Bold: the best model; underlined: no model is shown to be better ({level} for all pairs of a column)."
    header = ("model", *(_header(assay, metric, at, score) for metric in chosen))
    return ShownTable(header, tuple(rows), f"Means with {after}.", marks)


def _header(assay: "Assay", metric: str, at: float, score: str | None) -> str:
    ranking = RANKING_METRICS.get(metric)
    name = metric_label(metric, score or "") if ranking else metric_label(metric)
    name = DISTANCES[assay.settings.distance] if metric == assay.settings.distance_metric else name
    if metric == "unified":
        name += f", λ = {tradeoff(at)}"
    if metric in WITHOUT_A_BEST:
        return name
    return f"{name} {'↑' if metric == 'accuracy' or (ranking and ranking.higher_is_better) else '↓'}"


def _column(assay: "Assay", metric: str, at: float, score: str | None, spread: Spread) -> Mapping[str, ShownCell]:
    """Cells of all models and baselines."""
    ranking = metric in tuple(RANKING_METRICS)
    if not ranking and metric not in mean_metrics(assay):
        raise InputError(
            "metrics",
            f"must be among {', '.join((*mean_metrics(assay), *RANKING_METRICS))}",
            f"got {metric!r}",
            "choose from them",
            code="choice",
        )
    ranks = assay.rank_sets(at, metric=metric, score=score if ranking else None)
    found, runs = _estimates(assay, metric, at, score if ranking else "")
    deviations = run_deviations(spread, runs)
    places = decimals_for((found[name].low, found[name].high) for name in ranks.names if name in found)
    marked = len(ranks.names) > 1 and metric not in WITHOUT_A_BEST
    values = {
        name: value for name, value in zip(ranks.names, ranks.values.tolist(), strict=True) if math.isfinite(value)
    }
    best = (max if ranks.greater_is_better else min)(values.values(), default=math.nan)
    cells = {}
    for m in assay.models:
        if m.name not in found or math.isnan(found[m.name]):
            cells[m.name] = ShownCell(ABSENT)
            continue
        after = spread_text(found[m.name], deviations.get(m.name), places, spread)
        first = marked and values.get(m.name) == best
        tied = marked and not first and m.name in ranks.top_names
        cells[m.name] = ShownCell(number(float(found[m.name]), places), first, tied, after)
    return cells


def _estimates(
    assay: "Assay", metric: str, at: float, score: str | None
) -> tuple[dict[str, Estimate], dict[str, list[float]]]:
    """The mean of each model with its interval, and its value in each run."""
    if metric == "unified":
        runs = {m.name: assay.loss(m.name, at).mean(axis=1).tolist() for m in assay.models}
        return {r.model: r.estimate for r in ranked_at(assay, at)}, runs
    found: dict[str, Estimate] = {}
    each: dict[str, list[float]] = {}
    for row in assay.rows("findings"):
        if row["metric"] == metric and (not score or row["score"] == score):
            if row["run"] == "all":
                ends = {key: row[key] for key in ("low", "high", "level", "n", "method", "notes")}
                found[row["model"]] = Estimate(row["estimate"], **ends)
            else:
                each.setdefault(row["model"], []).append(row["estimate"])
    return found, each
