"""Does the uncertainty rank the mistakes: the metrics with their intervals, and risk-coverage curves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.mistake_ranking import METRICS
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.notes import reason
from uqassay.report.definitions import DEFINITIONS, score_label
from uqassay.report.figures.style import (
    GREY,
    Look,
    axes_for,
    axes_points,
    draw_legend,
    headline,
    interval_level,
    looks,
    named_model,
    plain,
    resampled_units,
    swatch,
    text_width,
    window,
)
from uqassay.report.mistakes import COVERAGES, best_scores, ranked_scores, risk_curve
from uqassay.wording import decimals_for, number, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay
    from uqassay.statistics import Estimate

__all__ = [
    "candidate_names",
    "models_with",
    "no_score",
    "plot_mistake_ranking",
    "plot_risk_coverage",
    "reason_of",
]

WIDTH = 3.2  # inches of the intervals alone
NEAR_CHANCE = 0.7  # the line at ½ is drawn where an interval reaches below this


def plot_mistake_ranking(
    assay: "Assay",
    *,
    metric: str = "uq-auc",
    scores: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Forest plot of a ranking metric over models and scores, with intervals.

    Parameters
    ----------
    assay : Assay
    metric : str
        "uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc" or "prediction-rejection".
    scores : sequence of str, optional
        Uncertainty scores, one group of rows each; by default each model's score of the highest UQ-AUC, and the total
        entropy.
    models : sequence of str, optional
        By default all.
    ax : matplotlib Axes, optional
        Where to draw; the numbers stand to the right of it.

    Returns
    -------
    Axes
        Within a group the best row stands at the top. The dashed line at ½ (UQ-AUC, UQ-C-index), the value of a
        random ordering, is drawn where an interval comes near it. Scores that are the same in every
        instance are left out and counted in the title; what is undefined says why.

    Raises
    ------
    InputError
        A metric, a model or a score that is not there.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Notes
    -----
    The best score is chosen on the instances that it is judged on, which flatters it a little.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]])}, [0, 0, 1, 0])
    >>> ax = plot_mistake_ranking(a, scores=["total-entropy"], ax=Figure().subplots())
    >>> [t.get_text() for t in ax.get_yticklabels()], ax.get_xlabel()
    (['m'], 'UQ-AUC')
    """
    if metric not in METRICS:
        raise InputError(
            "metric", f"must be one of {', '.join(METRICS)}", f"got {metric!r}", "choose one of them", code="choice"
        )
    shown = candidate_names(assay, models)
    groups = _forest_groups(assay, metric, scores, shown)
    rows = [row for group in groups for row in group.rows]
    places = decimals_for((row.estimate.low, row.estimate.high) for row in rows)
    table = [
        f"{plain(DEFINITIONS[metric].title)} [{interval_level(assay)}]",
        *(_cell(r.estimate, places) for r in rows),
    ]
    names = [row.label for row in rows]
    n_lines = len(rows) + sum(group.title != "" for group in groups)
    size = WIDTH + (text_width(table, "small") + text_width(names, "medium")) / 72, 1.1 + 0.27 * n_lines
    given = ax is not None
    ax = axes_for(ax, size)
    better = 1 if RANKING_METRICS[metric].higher_is_better else -1
    at, ticks = 0.0, []
    for group in groups:
        if group.title:
            ax.annotate(group.title, (0.0, at), (4, 0), **_IN_ROW, fontweight="bold", ha="left")
            at += 1
        for row in sorted(group.rows, key=lambda r: -better * np.nan_to_num(float(r.estimate), nan=-better * np.inf)):
            _forest_row(ax, at, row, _cell(row.estimate, places))
            ticks.append((at, row.label))
            at += 1
    ends = np.array([x for row in rows for x in (float(row.estimate), row.estimate.low, row.estimate.high)])
    chance = 0.5 if metric in ("uq-auc", "uq-c-index") else 0.0 if metric == "prediction-rejection" else None
    if chance is not None and (ends[np.isfinite(ends)] < chance + NEAR_CHANCE - 0.5).any():
        ax.axvline(chance, color=GREY, linewidth=1.0, linestyle="--", zorder=0)
        ends = np.append(ends, chance)
    ax.set_xlim(*window(ends, from_zero=False))
    ax.set_ylim(max(at, 1.0) - 0.4, -0.8)
    ax.set_yticks([place for place, _ in ticks], [label for _, label in ticks])
    if rows:
        ax.annotate(table[0], (1.0, -0.6), (10, 2), **_BESIDE, fontweight="bold", va="bottom")
    ax.set_xlabel(plain(DEFINITIONS[metric].title) + ("" if better > 0 else ", lower is better"))
    constant = sum(s not in ranked_scores(assay, m) for m in shown for s in assay.uncertainty_names(m))
    left_out = f"left out: {constant} that are the same in every instance" if constant and scores is None else ""
    taken = 0.0 if given else max(axes_points(ax) - 72 * WIDTH, 0.0)
    headline(ax, resampled_units(assay), left_out, taken=taken)
    return ax


class _Row(NamedTuple):
    label: str
    look: Look
    estimate: "Estimate"


class _Group(NamedTuple):
    title: str
    rows: list[_Row]


_IN_ROW: dict[str, Any] = {
    "xycoords": ("axes fraction", "data"),
    "textcoords": "offset points",
    "va": "center",
    "fontsize": "small",
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.0},
}
_BESIDE: dict[str, Any] = {
    "xycoords": ("axes fraction", "data"),
    "textcoords": "offset points",
    "fontsize": "small",
    "annotation_clip": False,
}


def _forest_groups(assay: "Assay", metric: str, scores: Sequence[str] | None, models: list[str]) -> list[_Group]:
    look = looks(assay)
    found = {(r.model, r.score): r.estimate for r in assay.mistake_ranking() if r.run is None and r.metric == metric}
    best = best_scores(assay)
    groups = []
    if scores is None:
        chosen = [(m, best[m]) for m in models]
        rows = [_Row(f"{plain(m)} ({plain(score_label(s))})", look[m], found[m, s]) for m, s in chosen if s is not None]
        title = "each model's best score" if len(models) > 1 else "best score"
        groups = [_Group(title, rows)] if rows else []
    for score in ("total-entropy",) if scores is None else tuple(scores):
        having = [m for m in models if (m, score) in found]
        if not having and scores is not None:
            raise no_score(assay, score)
        rows = [_Row(plain(m), look[m], found[m, score]) for m in having if score in ranked_scores(assay, m)]
        groups += [_Group(plain(score_label(score)), rows)] if rows else []
    return groups if len(groups) > 1 or scores is None else [group._replace(title="") for group in groups]


def _forest_row(ax: Any, at: float, row: _Row, text: str) -> None:
    e, look = row.estimate, row.look
    if np.isnan(e):
        ax.annotate(reason_of(e), (0.0, at), (4, 0), **_IN_ROW, color=GREY, ha="left")
        return
    if np.isfinite(e.low) and np.isfinite(e.high):
        ax.plot([e.low, e.high], [at, at], color=look.colour, linewidth=2.0, solid_capstyle="butt")
    ax.plot([float(e)], [at], color=look.colour, marker=look.marker, markersize=5, linestyle="none")
    ax.annotate(text, (1.0, at), (10, 0), **_BESIDE, va="center")


def _cell(e: "Estimate", places: int) -> str:
    if np.isnan(e):
        return ""
    interval = f" [{number(e.low, places)}, {number(e.high, places)}]" if e.high > e.low else ""
    return number(float(e), places) + interval


def plot_risk_coverage(
    assay: "Assay",
    score: str | None = "total-entropy",
    *,
    models: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Risk-coverage curves: the error rate of what is kept when the most uncertain instances are refused.

    Parameters
    ----------
    assay : Assay
    score : str or None
        The uncertainty score; None: each model by its score of the highest UQ-AUC.
    models : sequence of str, optional
        By default all that have the score.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        One line per model, averaged over its runs, with pointwise intervals: each holds at its coverage, not for the whole
        curve. The axis is cut where few instances make a band wide. The legend gives the area under the curve (AURC).

    Raises
    ------
    InputError
        A score that no model (or one of the models named) has.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]])}, [0, 0, 1, 0])
    >>> ax = plot_risk_coverage(a, ax=Figure().subplots())
    >>> float(ax.lines[0].get_ydata()[-1]), ax.get_xlabel()
    (0.25, 'coverage: share of the instances kept, least uncertain first')
    """
    chosen = models_with(assay, score, models)
    area = {(r.model, r.score): r.estimate for r in assay.mistake_ranking() if r.run is None and r.metric == "aurc"}
    labels = [
        f"{plain(m)}{'' if score else f' ({plain(score_label(s))})'}  AURC {significant(float(area[m, s]))}"
        for m, s in chosen
    ]
    ax = axes_for(ax, (5.4, 3.8), names=labels)
    coverages = np.array([c for c in COVERAGES if c * assay.n_instances >= 1])
    tops, handles = [0.0], []
    for (model, own), label in zip(chosen, labels, strict=True):
        look = looks(assay)[model]._replace(marker="")
        risk, low, high = risk_curve(assay, model, own, coverages.tolist())
        ax.plot(coverages, risk, color=look.colour, linestyle=look.line, linewidth=1.6, label=label)
        ax.fill_between(coverages, low, high, color=look.colour, alpha=0.18, linewidth=0)
        tops += [np.nanmax(risk[coverages >= 0.05]), np.nan_to_num(high[coverages >= 0.2]).max()]
        handles.append(swatch(look, label))
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.05 * max(tops) or 1.0)
    ax.set_xlabel("coverage: share of the instances kept, least uncertain first")
    votes = assay.labels.ndim == 2
    ax.set_ylabel("risk: votes against the prediction" if votes else "risk: error rate of what is kept")
    by = "each model's best score" if score is None else plain(score_label(score))
    headline(ax, resampled_units(assay), f"uncertainty: {by}", f"bands: pointwise {interval_level(assay)} intervals")
    if handles:
        draw_legend(ax, handles, "right")
    return ax


# -- arguments --------------------------------------------------------------------------------------------------------


def candidate_names(assay: "Assay", models: Sequence[str] | None) -> list[str]:
    """Names of the models asked for, by default all; never a baseline."""
    if models is None:
        return list(assay.model_names)
    if not models:
        raise InputError("models", "needs at least one model", "got none", "leave it out for all of them", code="empty")
    return [named_model(assay, name).name for name in models]


def no_score(assay: "Assay", score: str, model: str | None = None) -> InputError:
    """The refusal of a score that no model, or one model, has."""
    held = list(dict.fromkeys(s for m in ([model] if model else assay.model_names) for s in assay.uncertainty_names(m)))
    known = ", ".join(held) or "no score"
    rule = f"{model!r} has {known}" if model else f"the models have {known}"
    return InputError(
        "score", rule, f"got {score!r}", "choose one of them", code="choice", facts={"known": tuple(held)}
    )


def models_with(assay: "Assay", score: str | None, models: Sequence[str] | None) -> list[tuple[str, str]]:
    """Models and scores of the curves."""
    names = candidate_names(assay, models)
    if score is None:
        return [(m, s) for m, s in best_scores(assay).items() if s is not None and m in names]
    having = [m for m in names if score in assay.uncertainty_names(m)]
    if not having:
        raise no_score(assay, score)
    for m in names if models is not None else ():
        if m not in having:
            raise no_score(assay, score, m)
    return [(m, score) for m in having]


def reason_of(e: "Estimate") -> str:
    """Why an estimate is undefined."""
    return reason(e.notes) or "undefined"
