"""Does the uncertainty rank the mistakes: the metrics with their intervals, and risk-coverage curves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.mistake_ranking import METRICS
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.notes import reason
from uqassay.report.definitions import DEFINITIONS, score_label
from uqassay.report.figures.columns import columns_width, fitting_columns, write_columns
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    fitting,
    headline,
    label_axes,
    legend_names,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.figures.style import (
    BANDED,
    GREY,
    Look,
    interval_level,
    looks,
    named_model,
    plain,
    resampled_units,
    swatch,
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

NEAR_CHANCE = 0.7  # the line at ½ is drawn where an interval reaches below this


def plot_mistake_ranking(
    assay: "Assay",
    *,
    metric: str = "uq-auc",
    scores: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    ax: "Axes | None" = None,
    width: Width = "text",
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
        Where to draw; the numbers stand to the right of it, where there is room.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

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
    better = 1 if RANKING_METRICS[metric].higher_is_better else -1
    lines = _in_order(groups, better)
    given = [row for _, row in lines if row is not None]
    room = room_for(ax, width)
    names = _row_names(given, 0.38 * room)
    head = f"{plain(DEFINITIONS[metric].title)} [{interval_level(assay)}]"
    numbers = [head, *("" if row is None else _cell(row.estimate, places) for _, row in lines)]
    taken = text_width(names) + 12
    columns = fitting_columns([numbers], room - taken, first=(0,))
    taken += columns_width(columns)
    ax = axes_for(ax, width, 0.95 + 0.17 * len(lines))
    for at, (title, row) in enumerate(lines):
        if row is None:
            ax.annotate(title, (0.0, at), (4, 0), **_in_row(), fontweight="bold")
        else:
            _forest_row(ax, at, row)
    if rows:
        write_columns(ax, columns, range(len(lines)), top=-0.6)
    ends = np.array([x for row in rows for x in (float(row.estimate), row.estimate.low, row.estimate.high)])
    chance = 0.5 if metric in ("uq-auc", "uq-c-index") else 0.0 if metric == "prediction-rejection" else None
    if chance is not None and (ends[np.isfinite(ends)] < chance + NEAR_CHANCE - 0.5).any():
        ax.axvline(chance, color=GREY, linewidth=1.0, linestyle="--", zorder=0)
        ends = np.append(ends, chance)
    ax.set_xlim(*window(ends, from_zero=False))
    ax.set_ylim(max(len(lines), 1) - 0.4, -0.6)
    ax.set_yticks([at for at, (_, row) in enumerate(lines) if row is not None], names)
    label_axes(ax, plain(DEFINITIONS[metric].title) + ("" if better > 0 else ", lower is better"), taken=taken)
    constant = sum(s not in ranked_scores(assay, m) for m in shown for s in assay.uncertainty_names(m))
    left_out = f"left out: {constant} that are the same in every instance" if constant and scores is None else ""
    headline(ax, resampled_units(assay), left_out, taken=taken)
    return ax


class _Row(NamedTuple):
    model: str
    more: str  # what follows the model
    look: Look
    estimate: "Estimate"


class _Group(NamedTuple):
    title: str
    rows: list[_Row]


def _in_row() -> dict[str, Any]:
    """Place and look of a text on a row of the axes."""
    return {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "va": "center",
        "ha": "left",
        "fontsize": text_size(),
        "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    }


def _in_order(groups: list[_Group], better: int) -> list[tuple[str, _Row | None]]:
    """Lines from above: the title of each group that has one, then its rows, the best first."""
    lines: list[tuple[str, _Row | None]] = []
    for group in groups:
        lines += [(group.title, None)] if group.title else []
        worst = -better * np.inf
        lines += [
            ("", row) for row in sorted(group.rows, key=lambda r: -better * np.nan_to_num(float(r.estimate), nan=worst))
        ]
    return lines


def _row_names(rows: list[_Row], points: float) -> list[str]:
    """Models, and the scores that follow them, as they have room."""
    more = [row.more for row in rows]
    if text_width(more) > points / 2:
        return fitting([f"{row.model}{row.more}" for row in rows], points)
    names = fitting([row.model for row in rows], points - text_width(more))
    return [f"{name}{score}" for name, score in zip(names, more, strict=True)]


def _forest_groups(assay: "Assay", metric: str, scores: Sequence[str] | None, models: list[str]) -> list[_Group]:
    look = looks(assay)
    found = {(r.model, r.score): r.estimate for r in assay.mistake_ranking() if r.run is None and r.metric == metric}
    best = best_scores(assay)
    groups = []
    if scores is None:
        chosen = [(m, best[m]) for m in models]
        rows = [_Row(m, f" ({plain(score_label(s))})", look[m], found[m, s]) for m, s in chosen if s is not None]
        title = "each model's best score" if len(models) > 1 else "best score"
        groups = [_Group(title, rows)] if rows else []
    for score in ("total-entropy",) if scores is None else tuple(scores):
        having = [m for m in models if (m, score) in found]
        if not having and scores is not None:
            raise no_score(assay, score)
        rows = [_Row(m, "", look[m], found[m, score]) for m in having if score in ranked_scores(assay, m)]
        groups += [_Group(plain(score_label(score)), rows)] if rows else []
    return groups if len(groups) > 1 or scores is None else [group._replace(title="") for group in groups]


def _forest_row(ax: Any, at: int, row: _Row) -> None:
    e, look = row.estimate, row.look
    if np.isnan(e):
        ax.annotate(reason_of(e), (0.0, at), (4, 0), **_in_row(), color=GREY)
        return
    if np.isfinite(e.low) and np.isfinite(e.high):
        ax.plot([e.low, e.high], [at, at], color=look.colour, linewidth=1.6, solid_capstyle="butt")
    ax.plot([float(e)], [at], color=look.colour, marker=look.marker, markersize=5, linestyle="none")


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
    width: Width = "text",
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
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One line per model, averaged over its runs; at most ten of them have pointwise intervals, each of which holds at its
        coverage, not for the whole curve. The axis is cut where few instances make a band wide. The legend gives the area
        under the curve (AURC).

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
    said = [
        f"{'' if score else f' ({plain(score_label(s))})'}  AURC {significant(float(area[m, s]))}" for m, s in chosen
    ]
    labels = legend_names([m for m, _ in chosen], room_for(ax, width), said)
    ax = axes_for(ax, width, 2.6, legend=labels)
    coverages = np.array([c for c in COVERAGES if c * assay.n_instances >= 1])
    tops, handles, banded = [0.0], [], len(chosen) <= BANDED
    for place, ((model, own), label) in enumerate(zip(chosen, labels, strict=True)):
        look = looks(assay)[model]
        risk, low, high = risk_curve(assay, model, own, coverages.tolist())
        style = {"linestyle": look.line, "marker": look.marker, "markersize": 4, "linewidth": 1.4}
        every = (0.06 + 0.03 * (place % 4), 0.2)  # markers of different models apart
        ax.plot(coverages, risk, color=look.colour, markevery=every, label=label, **style)
        if banded:
            ax.fill_between(coverages, low, high, color=look.colour, alpha=0.15, linewidth=0)
        tops += [np.nanmax(risk[coverages >= 0.05]), np.nan_to_num(high[coverages >= 0.2]).max()]
        handles.append(swatch(look, label))
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.05 * max(tops) or 1.0)
    risk_label = "risk: votes against the prediction" if assay.labels.ndim == 2 else "risk: error rate of what is kept"
    label_axes(ax, "coverage: share of the instances kept, least uncertain first", risk_label, taken=beside(ax, labels))
    by = "each model's best score" if score is None else plain(score_label(score))
    bands = f"bands: pointwise {interval_level(assay)} intervals" if banded else ""
    headline(ax, resampled_units(assay), f"uncertainty: {by}", bands, taken=beside(ax, labels))
    if handles:
        draw_legend(ax, handles)
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
