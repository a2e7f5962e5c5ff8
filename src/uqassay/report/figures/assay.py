"""Figures of an assay: rankings, λ, mistakes, costs, coverage, average ranks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.evidence.data import Judged
from uqassay.evidence.mistakes import METRICS
from uqassay.evidence.ranking import MARKS, metric_label, ranked_at
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.measures.nonspecificities import NONSPECIFICITIES
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.notes import reason
from uqassay.report.definitions import DEFINITIONS, score_label
from uqassay.report.figures.calibration import draw_bins
from uqassay.report.figures.frame import (
    BANDED,
    GREY,
    Look,
    Width,
    at_tradeoff,
    axes_for,
    beside,
    columns_width,
    draw_legend,
    every,
    fitting,
    fitting_columns,
    given_looks,
    headline,
    interval_level,
    label_axes,
    legend_names,
    look_at,
    looks,
    loss_label,
    mark,
    matplotlib_module,
    named_model,
    plain,
    points_of,
    quantity_label,
    resampled_units,
    room_for,
    swatch,
    text_size,
    text_width,
    tradeoff_grid,
    window,
    wrapped,
    write_columns,
)
from uqassay.report.sections import COVERAGES, best_scores, confidence_lines, mean_regions, ranked_scores, risk_curve
from uqassay.statistics.many_data_sets import maximal_groups
from uqassay.statistics.units import check_choice
from uqassay.text import (
    ABSENT,
    count,
    counted,
    decimals_for,
    level_text,
    number,
    percent,
    percent_interval,
    pvalue,
    pvalue_text,
    rank_range,
    share_of_draws,
    significant,
    tradeoff,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence import Assay, Ranked
    from uqassay.evidence.data_sets import DataSetComparison
    from uqassay.evidence.scale import CoverageCurve
    from uqassay.evidence.scoring import ModelScores
    from uqassay.metrics.expected_cost import ExpectedCost
    from uqassay.metrics.reliability_diagrams import Reliability
    from uqassay.statistics import Estimate, PairwiseComparisons, RankSets

__all__ = [
    "DrawnCoverage",
    "cut_outline",
    "draw_coverage_curves",
    "draw_reliability",
    "draw_risk_coverage",
    "plot_confidence",
    "plot_coverage_curve",
    "plot_critical_difference",
    "plot_distance_nonspecificity",
    "plot_expected_cost",
    "plot_members",
    "plot_mistake_ranking",
    "plot_rank_sets",
    "plot_ranking",
    "plot_ranking_comparisons",
    "plot_reliability",
    "plot_risk_coverage",
    "plot_top_group",
    "plot_tradeoff",
    "plot_width_nonspecificity",
    "plot_win_shares",
    "possible_means",
    "tenths_of",
]


# At one λ: the ranking, and how it depends on the members.


def plot_ranking(
    assay: Judged, tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Forest plot of the ranking at one λ: mean E with its interval, and in numbers how sure each place is.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ.
    ax : matplotlib Axes, optional
        Where to draw; the columns of numbers stand to the right of it.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One row per model and baseline, best first (row i at y = i), with as many columns of numbers as there is room for.
        Before a name stand the ranks that the model can have (`Assay.rank_sets`). The axis is cut to the models: an arrow at
        its end stands for a baseline beyond it. p is the test against the best model, adjusted for all pairs, with † ‡ § for
        what alone keeps it from being significant (losses not seen, skewness, few runs). A star marks a model where a
        baseline has a lower mean E.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"a": uq.Point([[0.9, 0.1]] * 9), "b": uq.Point([[0.6, 0.4]] * 9)}, [0] * 8 + [1])
    >>> [t.get_text() for t in plot_ranking(a, ax=Figure().subplots()).get_yticklabels()]
    ['vacuous', 'class-prior', '1–2  a *', '1–2  b *']
    """
    rows = ranked_at(assay, tradeoff)
    places = decimals_for((r.estimate.low, r.estimate.high) for r in rows if r.rank is not None)
    header = (f"mean E [{interval_level(assay)}]", "resamples won", "p (adjusted)")
    table = list(zip(header, *(_ranking_cells(row, places, assay.settings.n_draws) for row in rows), strict=True))
    room = room_for(ax, width)
    names = _row_names(rows, 0.34 * room)
    taken = text_width(names) + 12
    columns = fitting_columns(table, room - taken, first=(2, 0, 1))
    taken += columns_width(columns)
    ax = axes_for(ax, width, 0.9 + 0.19 * len(rows))
    left, right = window(
        np.array([x for r in rows if r.rank is not None for x in (float(r.estimate), r.estimate.low, r.estimate.high)]),
        from_zero=False,
    )
    best = next(float(r.estimate) for r in rows if r.rank == 1)
    if np.isfinite(best):
        ax.axvline(best, color="0.6", linewidth=0.8, linestyle=":")
    for i, row in enumerate(rows):
        look, e = looks(assay)[row.model], row.estimate
        if left <= e <= right:
            if np.isfinite(e.low):
                ax.plot([e.low, e.high], [i, i], color=look.colour, linewidth=1.6, solid_capstyle="butt")
            ax.plot([float(e)], [i], color=look.colour, marker=look.marker, markersize=5, linestyle="none")
        else:
            at, arrow = (left, "<") if e < left else (right, ">")
            ax.plot([at], [i], color=look.colour, marker=arrow, markersize=5, linestyle="none", clip_on=False)
    ax.set_xlim(left, right)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks(range(len(rows)), names)
    for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
        tick.set_style("italic" if row.rank is None else "normal")
    write_columns(ax, columns, range(len(rows)), top=-0.5)
    label_axes(ax, f"mean {loss_label(assay)},  {at_tradeoff(tradeoff)}", taken=taken)
    headline(
        ax,
        at_tradeoff(tradeoff),
        resampled_units(assay),
        f"ranks: {interval_level(assay)} for all at once",
        "* a baseline has a lower mean E" if any(r.below for r in rows) else "",
        taken=taken,
    )
    return ax


def _row_names(rows: Sequence["Ranked"], points: float) -> list[str]:
    """The ranks that each model can have, its name, and a mark where a baseline has a lower mean."""
    ranks = [
        "" if r.rank_low is None or r.rank_high is None else f"{rank_range(r.rank_low, r.rank_high)}  " for r in rows
    ]
    names = fitting([r.model for r in rows], points - text_width([f"{text} *" for text in ranks]))
    return [f"{a}{name}{' *' if r.below else ''}" for a, name, r in zip(ranks, names, rows, strict=True)]


def _ranking_cells(row: "Ranked", places: int, n_draws: int) -> tuple[str, str, str]:
    """The numbers of one row in words."""
    e = row.estimate
    mean = number(float(e), places)
    if e.high > e.low:
        mean += f" [{number(e.low, places)}, {number(e.high, places)}]"
    wins = "" if row.win_share is None else share_of_draws(row.win_share, n_draws)
    mark = MARKS.get(row.limited_by, "")
    return mean, wins, "" if np.isnan(row.pvalue_adjusted) else f"{pvalue(row.pvalue_adjusted)}{mark}"


def plot_members(
    assays: Mapping[int, "Assay"],
    tradeoff: float = DEFAULT_TRADEOFF,
    *,
    coloured_as: "Assay | Mapping[str, Look] | None" = None,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Mean E of every model against the number of members or draws that span its sets.

    Parameters
    ----------
    assays : dict of int to Assay
        Assays of the same models on the same instances by number of members M, as `uq.assay(..., common_members=M)`
        makes them.
    tradeoff : float
        λ.
    coloured_as : Assay, or dict of str to Look, optional
        Gives each of its models the colour that the model has in its figures; by default the assay of the smallest M.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One line per model with the intervals of `Assay.ranked`. A single model is named in the title, several in a legend.
        Baselines are left out.

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figure 13: E grows with M, since the sets do.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> p = uq.Members(np.random.default_rng(0).dirichlet([1, 1, 1], size=(20, 8)))
    >>> assays = {m: uq.assay({"ensemble": p}, [0, 1] * 10, common_members=m, n_draws=20) for m in (2, 4, 8)}
    >>> plot_members(assays, ax=Figure().subplots()).get_xlabel()
    'members M'
    """
    sizes = sorted(assays)
    if not sizes or sizes[0] < 1:
        fail(
            "assays",
            "needs an Assay for at least one number of members ≥ 1",
            f"got {sizes}",
            "pass {M: assay}",
            code="empty",
        )
    first = assays[sizes[0]]
    for m in sizes[1:]:
        if _frame(assays[m]) != _frame(first):
            fail(
                "assays",
                "all must judge the same labels with the same distance and measure",
                f"M = {m} differs from M = {sizes[0]}",
                "make them by the same call with another common_members",
                code="mismatch",
            )
    names = list(dict.fromkeys(name for m in sizes for name in assays[m].model_names))
    found = {m: {r.model: r.estimate for r in assays[m].ranked(tradeoff)} for m in sizes}
    given = given_looks(coloured_as)
    labels = legend_names(names, room_for(ax, width))
    ax = axes_for(ax, width, 2.6, legend=labels if len(names) > 1 else ())
    handles = []
    for j, (name, label) in enumerate(zip(names, labels, strict=True)):
        look = given.get(name) or look_at(j)
        at = [m for m in sizes if name in found[m]]
        mean, low, high = (
            np.array([get(found[m][name]) for m in at]) for get in (float, lambda e: e.low, lambda e: e.high)
        )
        reach = np.nan_to_num(np.stack([mean - low, high - mean]), nan=0.0)
        ax.errorbar(
            at,
            mean,
            reach,
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=4,
            capsize=2,
            label=label,
        )
        handles.append(swatch(look, label))
    if sizes[-1] > 8 * sizes[0]:
        ax.set_xscale("log")
    ax.set_xticks(sizes, [str(m) for m in sizes])
    ax.minorticks_off()
    label_axes(ax, "members M", f"mean {loss_label(first)},  {at_tradeoff(tradeoff)}")
    alone = plain(names[0]) if len(names) == 1 else ""
    title = at_tradeoff(tradeoff), resampled_units(first), f"bars: {interval_level(first)} intervals"
    headline(ax, alone, *title, taken=beside(ax, labels if len(names) > 1 else ()))
    if len(handles) > 1:
        draw_legend(ax, handles)
    return ax


def _frame(assay: "Assay") -> tuple[Any, ...]:
    s = assay.settings
    return assay.labels.tobytes(), assay.n_classes, s.distance, s.nonspecificity, s.convention, s.level


# Which ranks each model can have: at one λ or by another metric, and the top group along λ.

HEIGHT = 0.6  # of a bar, rows being 1 apart
PALE = 0.35


def plot_rank_sets(
    assay: "Assay",
    tradeoff: float = DEFAULT_TRADEOFF,
    *,
    metric: str = "unified",
    score: str | None = None,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """The ranks that each model can have, as bars, with the top group in full colour.

    Parameters
    ----------
    assay : Assay
    tradeoff, metric, score
        As in `Assay.rank_sets`.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One row per model, best first; the bar covers all ranks that the tests leave open, the dot is the rank in this test set.
        Bars of models that some model is shown to be better than are pale. Dashed lines are baselines that models lie below.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> right, wrong = uq.Point([[0.8, 0.2]] * 300), uq.Point([[0.3, 0.7]] * 300)
    >>> a = uq.assay({"a": right, "b": right, "c": wrong}, [0] * 300)
    >>> ax = plot_rank_sets(a, metric="accuracy", ax=Figure().subplots())
    >>> [t.get_text() for t in ax.get_yticklabels()]
    ['a  1–2', 'b  1–2', 'c  3']
    """
    ranks = assay.rank_sets(tradeoff, metric=metric, score=score)
    order = _order(ranks)
    words = [f"  {rank_range(int(ranks.low[k]), int(ranks.high[k]))}" for k in order]
    between = _baselines_between(ranks, order)
    right = text_width([name for _, name in between])
    names = fitting([ranks.names[k] for k in order], 0.45 * room_for(ax, width) - right - text_width(words))
    labels = [f"{name}{word}" for name, word in zip(names, words, strict=True)]
    taken = text_width(labels) + right + 20
    ax = axes_for(ax, width, 0.95 + 0.17 * len(order))
    for i, k in enumerate(order):
        look, low, high = looks(assay)[ranks.names[k]], int(ranks.low[k]), int(ranks.high[k])
        ax.barh(i, high - low + 1, HEIGHT, left=low - 0.5, color=look.colour, alpha=1.0 if ranks.top[k] else PALE)
        if np.isfinite(ranks.values[k]):
            ax.plot([i + 1], [i], "o", color="white", markeredgecolor="black", markersize=4.5)
    for place, name in between:
        ax.axhline(place, color=GREY, linestyle="--", linewidth=1.0)
        ax.annotate(
            plain(name),
            (1.0, place),
            (4, 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize=text_size(),
            color=GREY,
            annotation_clip=False,
        )
    ax.set_xlim(0.5, len(order) + 0.5)
    step = next((s for s in (1, 5, 10, 20, 50) if len(order) <= 6 * s), 100)
    ax.set_xticks(sorted({1, *range(step, len(order) + 1, step)}))
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_yticks(range(len(order)), labels)
    by = metric_label(metric, "" if score is None else score_label(score))
    label_axes(ax, f"rank by {by}" + (f",  {at_tradeoff(tradeoff)}" if metric == "unified" else ""), taken=taken)
    headline(
        ax,
        f"{interval_level(assay)} for all at once",
        resampled_units(assay),
        "full colour: none shown to be better",
        taken=taken,
    )
    return ax


def _order(ranks: "RankSets") -> list[int]:
    """Models from the best value to the worst, undefined ones last."""
    found: list[int] = np.argsort(-ranks.values if ranks.greater_is_better else ranks.values, kind="stable").tolist()
    return found


def _baselines_between(ranks: "RankSets", order: list[int]) -> list[tuple[float, str]]:
    """Baselines that some model lies below: their place between the rows, and their name."""
    compared, sign = ranks.comparisons, -1.0 if ranks.greater_is_better else 1.0
    values = sign * ranks.values[order]
    lines: dict[float, list[str]] = {}
    for name in compared.references:
        ahead = int((values <= sign * compared.values[compared.names.index(name)]).sum())
        if ahead < len(order) and np.isfinite(values[ahead]):
            lines.setdefault(ahead - 0.5, []).append(name)
    return [(place, ", ".join(names)) for place, names in lines.items()]


def plot_top_group(
    assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """For each model a strip of the λ at which no model is shown to be better.

    Parameters
    ----------
    assay : Assay
    tradeoffs : array (T,), optional
        The λ tested, at least two; by default 101 from 0 to the largest λ of the assay, and past the last change of the winner
        where that is near. An end of a strip lies half-way between two of them.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One row per model, in the order of the assay. Pale: no model is shown to be better, but a baseline has a lower mean E.
        The level holds for all λ at once.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> right, wrong = uq.Point([[0.8, 0.2]] * 300), uq.Point([[0.3, 0.7]] * 300)
    >>> a = uq.assay({"a": right, "b": right, "c": wrong}, [0] * 300)
    >>> ax = plot_top_group(a, tradeoffs=[0, 0.5, 1], ax=Figure().subplots())
    >>> [len(collection.get_paths()) for collection in ax.collections]
    [1, 1, 0]
    """
    grid = tradeoff_grid(assay, tradeoffs, 101)
    edges = np.concatenate([grid[:1], (grid[1:] + grid[:-1]) / 2, grid[-1:]])
    top, behind = _top_along(assay, grid)
    names = fitting(assay.model_names, 0.4 * room_for(ax, width))
    taken = text_width(names) + 16
    ax = axes_for(ax, width, 0.95 + 0.17 * len(names))
    for j, look in enumerate(list(looks(assay).values())[: len(names)]):
        spans = [(edges[i], edges[k] - edges[i], pale) for i, k, pale in _stretches(top[:, j], behind[:, j])]
        colours = [(look.colour, PALE if pale else 1.0) for _, _, pale in spans]
        ax.broken_barh([span[:2] for span in spans], (j - HEIGHT / 2, HEIGHT), facecolors=colours or None, linewidth=0)
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), names)
    label_axes(ax, "trade-off λ", taken=taken)
    pale = bool((top & behind).any())
    headline(
        ax,
        f"no model shown to be better, {interval_level(assay)} for all λ at once",
        resampled_units(assay),
        "pale: a baseline has a lower mean E" if pale else "",
        taken=taken,
    )
    return ax


def _top_along(assay: "Assay", grid: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each model is in the top group, and whether a baseline has a lower mean E, ``(T, J)`` each."""
    top, behind = [], []
    for at in grid.tolist():
        ranks = assay.rank_sets(at)
        compared = ranks.comparisons
        least = min(compared.values[compared.names.index(name)] for name in compared.references)
        top.append(ranks.top)
        behind.append(ranks.values > least)
    return np.array(top), np.array(behind)


def _stretches(top: NDArray[np.bool_], behind: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """Runs of the grid in the top group, [i, k), cut where a baseline comes to lie ahead."""
    state = np.where(top, 1 + behind.astype(int), 0)
    starts = [0, *(np.flatnonzero(np.diff(state)) + 1).tolist()]
    ends = [*starts[1:], len(state)]
    return [(i, k, bool(state[i] == 2)) for i, k in zip(starts, ends, strict=True) if state[i]]


# Along λ: mean E of every model with its interval, who has the lowest, and how sure that is.

STRIP = 11.0  # points of the strip above the axes
SEEN = 0.005  # a share of resamples below this is no area that an eye can see


def plot_tradeoff(
    assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Mean E of every model against λ with its interval, the baselines, and a strip of who has the lowest.

    Parameters
    ----------
    assay : Assay
    tradeoffs : array (T,), optional
        The λ drawn, at least two; by default from 0 to the largest λ of the assay, and past the last change of the
        winner where that is near.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Lines are the models in order, then the baselines (dashed, grey); markers stand at the λ of the findings, bands (of at
        most ten models) are the intervals of `Assay.ranked`. Dotted lines and the numbers above the strip are the exact
        breakpoints. The axis is cut to the models: the legend says where a baseline lies above it.

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figure 2 and Table 8.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"a": uq.Point([[0.9, 0.1]] * 9), "b": uq.Point([[0.6, 0.4]] * 9)}, [0, 1] * 4 + [0])
    >>> ax = plot_tradeoff(a, ax=Figure().subplots())
    >>> ax.get_xlabel(), round(float(ax.lines[0].get_ydata()[0]), 3)
    ('trade-off λ', 1.082)
    """
    grid = tradeoff_grid(assay, tradeoffs, 11)  # lines are straight, and their bands nearly
    mean, low, high = _bands(assay, grid)  # (T, J) each
    n = len(assay.candidates)
    bottom, top = window(np.concatenate([a[:, :n].ravel() for a in (mean, low, high)]), from_zero=True)
    said = [_beyond(mean[:, j], top, m.baseline) for j, m in enumerate(assay.models)]
    labels = legend_names([m.name for m in assay.models], room_for(ax, width), said)
    ax = axes_for(ax, width, 2.9, legend=labels)
    marked = np.flatnonzero(np.isin(grid, assay.tradeoffs))
    marked = marked[:: 1 + len(marked) // 12]
    handles = []
    for j, (look, label) in enumerate(zip(looks(assay).values(), labels, strict=True)):
        if j >= n:
            look = look._replace(marker="")
        ax.plot(
            grid,
            mean[:, j],
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markevery=marked.tolist(),
            markersize=4,
            linewidth=1.4 if j < n else 1.0,
            label=label,
        )
        if j < n <= BANDED:
            ax.fill_between(grid, low[:, j], high[:, j], color=look.colour, alpha=0.15, linewidth=0)
        handles.append(swatch(look, label))
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(bottom, top)
    label_axes(ax, "trade-off λ", f"mean {loss_label(assay)}")
    taken = beside(ax, labels)
    changes = _winner_strip(ax, assay, grid[0], grid[-1], points_of(ax) - taken)
    headline(
        ax,
        resampled_units(assay),
        f"bands: {interval_level(assay)} intervals" if n <= BANDED else "",
        "strip: lowest mean E",
        pad=STRIP + 8 + (text_size() + 3 if changes else 0),
        taken=taken,
    )
    draw_legend(ax, handles)
    return ax


def _beyond(mean: Floats, top: float, baseline: bool) -> str:
    """How far a line lies above the axes, as its entry of the legend says it."""
    if not np.isfinite(mean).all():
        return " (E = ∞)"
    return f" (above: {significant(float(mean.min()))})" if baseline and mean.min() > top else ""


def plot_win_shares(
    assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """How sure the choice is: each model's share of the resamples that it wins, stacked, against λ.

    Parameters
    ----------
    assay : Assay
    tradeoffs, ax, width
        As in `plot_tradeoff`.

    Returns
    -------
    Axes
        One area per model, in order from below; dotted lines are the breakpoints of the means. Models whose share is
        nowhere visible (below 0.5 %) share one legend entry.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"a": uq.Point([[0.9, 0.1]] * 9), "b": uq.Point([[0.6, 0.4]] * 9)}, [0] * 9)
    >>> plot_win_shares(a, ax=Figure().subplots()).get_ylabel()
    'share of resamples'
    """
    grid = tradeoff_grid(assay, tradeoffs, 201)
    shares = assay.win_shares(grid)  # (T, J)
    above = np.cumsum(shares, axis=1)
    seen = shares.max(axis=0) >= SEEN  # (J,)
    unseen = int((~seen).sum())
    rest = f"{counted(unseen, 'other')}: below {percent(SEEN)}"
    shown = [name for name, any_share in zip(assay.model_names, seen.tolist(), strict=True) if any_share]
    labels = legend_names(shown, room_for(ax, width))
    label_of, entries = dict(zip(shown, labels, strict=True)), [*labels, rest][: len(labels) + (unseen > 0)]
    ax = axes_for(ax, width, 2.6, legend=entries)
    handles = [matplotlib_module("lines").Line2D([], [], linestyle="none", label=rest)] if unseen else []
    for j, name in enumerate(assay.model_names):
        look = looks(assay)[name]
        area = ax.fill_between(
            grid,
            above[:, j] - shares[:, j],
            above[:, j],
            facecolor=look.colour,
            edgecolor="white",
            linewidth=0.6,
            hatch=look.hatch or None,
            label=label_of.get(name, "_"),
        )
        if seen[j]:
            handles.append(area)
    for low, _, _ in assay.winners():
        if grid[0] < low < grid[-1]:
            ax.axvline(low, color="white", linewidth=1.4)
            ax.axvline(low, color="black", linewidth=0.9, linestyle=":")
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(0.0, 1.0)
    label_axes(ax, "trade-off λ", "share of resamples")
    runs = " and training runs" if any(m.n_runs > 1 for m in assay.candidates) else ""
    title = f"share of {count(assay.settings.n_draws)} resamples of {resampled_units(assay)}{runs}"
    headline(ax, title, taken=beside(ax, entries))
    draw_legend(ax, handles[::-1])  # from above, as the areas lie
    return ax


def _bands(assay: "Assay", grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean E, low and high of every model and baseline at every λ, (T, J) each: those of `Assay.ranked`."""
    names = [m.name for m in assay.models]
    ranked = [{r.model: r.estimate for r in assay.ranked(t)} for t in grid.tolist()]
    mean, low, high = (
        np.array([[value(found[name]) for name in names] for found in ranked])
        for value in (float, lambda e: e.low, lambda e: e.high)
    )
    return mean, low, high


def _winner_strip(ax: Any, assay: "Assay", left: float, right: float, points: float) -> int:
    """Strip above the axes with the lowest mean E on each interval of λ; the number of breakpoints shown."""
    transforms, rectangle = matplotlib_module("transforms"), matplotlib_module("patches").Rectangle
    top = transforms.ScaledTranslation(0.0, 1.0, ax.transAxes)  # from here upwards in points
    upwards = transforms.Affine2D().scale(1 / 72) + ax.figure.dpi_scale_trans + top
    across = transforms.blended_transform_factory(ax.transData, upwards)
    style: dict[str, Any] = {"transform": across, "ha": "center", "fontsize": text_size()}
    changes, written = 0, -np.inf
    for low, high, names in assay.winners():
        start, end = max(low, left), min(high, right)
        if start >= end:
            continue
        look, middle = looks(assay)[names[0]], (start + end) / 2
        face = {"facecolor": look.colour, "edgecolor": "white", "clip_on": False}
        ax.add_patch(rectangle((start, 3), end - start, STRIP, transform=across, **face))
        text = plain(" = ".join(names))
        if text_width([text]) < (end - start) / (right - left) * points - 4:
            ax.text(middle, 3 + STRIP / 2, text, va="center_baseline", color=_ink(look), **style)
        if low > left:
            changes += 1
            ax.axvline(low, color="0.35", linewidth=0.9, linestyle=":", zorder=1)
            place = (low - left) / (right - left) * points
            if place - written > text_width([tradeoff(low)]) + 6:
                ax.text(low, STRIP + 5, tradeoff(low), va="bottom", **style)
                written = place
    return changes


def _ink(look: Look) -> str:
    red, green, blue = (int(look.colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"


# Why a model wins at one λ: mean distance against mean non-specificity.


def plot_distance_nonspecificity(
    assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Why a model wins: mean distance against mean non-specificity with confidence ellipses, and lines of equal E.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ, the slope of the lines of equal E.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One point per model at (mean NS, mean d) with the joint confidence region of the two; the line through the best
        model is dashed. A region is the part of an ellipse where both means are possible (no distance below 0, no
        non-specificity beyond its greatest value): it covers the true means, which are possible, as often as the ellipse.
        Models and baselines outside the axes, which are cut to the finite models, are named in the title.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"a": uq.Intervals([[0.7, 0.1]] * 9, [[0.9, 0.3]] * 9)}, [0] * 9)
    >>> ax = plot_distance_nonspecificity(a, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('mean non-specificity (nats)', 'mean KL divergence (nats)')
    """
    check_tradeoff(tradeoff)
    regions = [r for r in mean_regions(assay)["all"] if r is not None]
    ends = possible_means(assay)
    drawn: dict[str, tuple[Floats, Floats]] = {r["model"]: _region_outline(r, ends) for r in regions}
    totals = [float(drawn[m.name][0] @ (tradeoff, 1.0)) for m in assay.models]
    names = [m.name for m in assay.models]
    labels = legend_names(names, room_for(ax, width), [f"  E = {significant(e)}" for e in totals])
    ax = axes_for(ax, width, 2.9, legend=labels)
    inside = [np.concatenate([np.c_[centre], outline], axis=1) for centre, outline in drawn.values()]
    chosen = np.concatenate(inside[: len(assay.candidates)], axis=1)
    (left, right), (bottom, top) = (window(c, from_zero=False) for c in chosen)
    left = left - 0.05 * (right - left) if left == 0.0 else left  # points at NS = 0 off the frame
    _equal_lines(ax, tradeoff, (left, right), (bottom, top), min(totals[: len(assay.candidates)]))
    handles, outside = [], []
    for label, (name, look) in zip(labels, looks(assay).items(), strict=True):
        (x, y), outline = drawn[name]
        if left <= x <= right and bottom <= y <= top:
            ax.fill(*outline, facecolor=(look.colour, 0.25), edgecolor=look.colour, linewidth=1.2)
            ax.plot([x], [y], color=look.colour, marker=look.marker, markersize=6, linestyle="none", zorder=3)
            handles.append(swatch(look, label, line=False))
        else:
            outside.append(f"{plain(name)} ({significant(x)}, {significant(y)})")
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    label_axes(ax, f"mean {quantity_label(assay, 'nonspecificity')}", f"mean {quantity_label(assay, 'distance')}")
    headline(
        ax,
        resampled_units(assay),
        f"{interval_level(assay)} regions",
        f"grey: equal E at {at_tradeoff(tradeoff)}",
        f"outside, (NS, d): {', '.join(outside)}" if outside else "",
        pad=13,
        taken=beside(ax, labels),
    )
    draw_legend(ax, handles, apart=10 + text_width(["0.0000"]))
    return ax


def _region_outline(region: dict[str, Any], ends: Floats) -> tuple[Floats, Floats]:
    """Centre (2,) and outline (2, V) of the joint confidence region of (mean NS, mean d), within `ends` (2, 2)."""
    centre = np.array([region["nonspecificity"][0], region["distance"][0]])
    h_d, h_ns = region["half_widths"]
    if not (np.isfinite(h_d) and np.isfinite(h_ns)):
        return centre, np.full((2, 73), np.nan)
    scales, axes = np.linalg.eigh([[h_ns**2, region["covariance"]], [region["covariance"], h_d**2]])
    turn = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    outline = centre[:, None] + axes @ (np.sqrt(np.maximum(scales, 0.0))[:, None] * circle)
    for axis, (low, high) in enumerate(ends):
        outline = cut_outline(cut_outline(outline, axis, float(low), 1.0), axis, float(high), -1.0)
    return centre, outline


def possible_means(assay: "Assay") -> Floats:
    """Ends between which the means of non-specificity and of distance must lie, (2, 2)."""
    settings, vacuous = assay.settings, [m for m in assay.models if m.baseline and m.name == "vacuous"]
    highest = max((float(m.columns["nonspecificity"].max()) for m in vacuous), default=np.inf)
    return np.array(
        [[NONSPECIFICITIES[settings.nonspecificity].least, highest], [0.0, settings.distance_entry.greatest]]
    )


def cut_outline(outline: Floats, axis: int, end: float, sign: float) -> Floats:
    """Part of a polygon (2, V) on one side of a line: where `axis` is at least (`sign` 1) or at most (−1) `end`."""
    with np.errstate(invalid="ignore"):
        inside = sign * (outline[axis] - end) >= -1e-12
    if not np.isfinite(end) or inside.all():
        return outline
    kept = []
    for i in range(outline.shape[1]):
        before, here = outline[:, i - 1], outline[:, i]
        if inside[i - 1] != inside[i]:
            kept.append(before + (end - before[axis]) / (here[axis] - before[axis]) * (here - before))
        if inside[i]:
            kept.append(here)
    return np.array(kept).T


def _equal_lines(ax: Any, tradeoff: float, x: tuple[float, float], y: tuple[float, float], best: float) -> None:
    """Lines d = E − λ NS at round values of E, and the one through the best model."""
    low, high = y[0] + tradeoff * x[0], y[1] + tradeoff * x[1]
    ends = np.array(x)
    style = {"textcoords": "offset points", "fontsize": text_size(), "color": GREY, "annotation_clip": False}
    for e in matplotlib_module("ticker").MaxNLocator(6).tick_values(low, high).tolist():
        ax.plot(ends, e - tradeoff * ends, color="0.82", linewidth=0.8, zorder=0)
        at_right = e - tradeoff * x[1]
        if y[0] <= at_right <= y[1]:
            ax.annotate(f"{e:.4g}", (x[1], at_right), (3, 0), **style, ha="left", va="center")
        elif tradeoff > 0 and x[0] <= (e - y[1]) / tradeoff <= x[1] - 0.05 * (x[1] - x[0]):
            ax.annotate(f"{e:.4g}", ((e - y[1]) / tradeoff, y[1]), (0, 3), **style, ha="center", va="bottom")
    if np.isfinite(best):
        ax.plot(ends, best - tradeoff * ends, color=GREY, linewidth=1.0, linestyle="--", zorder=1)


# Against confidence: accuracy, non-specificity and entropy; and non-specificity against the sets' width.

CELLS = 50  # of a heat map in each direction
BARRED = 92.0  # points that the y axis and a bar of colours take


def plot_reliability(
    assay: "Assay",
    models: Sequence[str] | None = None,
    *,
    n_bins: int = 10,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Accuracy against confidence in equal-width bins, with joint intervals; the diagonal is perfect calibration.

    Parameters
    ----------
    assay : Assay
    models : sequence of str, optional
        All models by default.
    n_bins : int
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        The intervals hold in all bins of a model together. The area of a marker grows with the share of the instances in
        its bin, and it is open with fewer than 30; for a single model the number of instances stands next to it.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.7, 0.3]])}, [0, 1])
    >>> ax = plot_reliability(a, ax=Figure().subplots())
    >>> [t.get_text() for t in ax.texts]
    ['1', '1']
    """
    names = list(assay.model_names if models is None else models)
    if not names:
        fail("models", "needs at least one model", "got none", "leave it out for all", code="empty")
    bins = {name: assay.reliability(named_model(assay, name).name, n_bins=n_bins) for name in names}
    labels = legend_names(names, room_for(ax, width))
    ax = axes_for(ax, width, 2.8, legend=labels)
    draw_reliability(ax, assay, bins)
    if len(names) == 1:
        _write_counts(ax, bins[names[0]])
    size = "numbers: cases" if len(names) == 1 else "marker area: share of cases"
    headline(ax, resampled_units(assay), f"{interval_level(assay)} bands", size, taken=beside(ax, labels))
    draw_legend(ax, [swatch(looks(assay)[name], label) for name, label in zip(names, labels, strict=True)])
    return ax


def draw_reliability(ax: Any, assay: "Assay", bins: Mapping[str, "Reliability"]) -> None:
    """The diagonal, and the diagram of each model with its band; a model is found by the class of its place, "m0"."""
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    places = {m.name: j for j, m in enumerate(assay.models)}
    for name, b in bins.items():
        draw_bins(ax, b, looks(assay)[name], f"m{places[name]}", f"{name}: ")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label_axes(ax, "confidence", "accuracy")


def _write_counts(ax: Any, bins: "Reliability") -> None:
    """Number of instances under each interval, or above it where the axis ends."""
    for x, low, high, n in zip(bins.confidence, bins.band_low, bins.band_high, bins.count.tolist(), strict=True):
        if n:
            above = low < 0.07
            ax.annotate(
                count(n),
                (x, high if above else low),
                (0, 4 if above else -6),
                textcoords="offset points",
                ha="right" if x > 0.93 else "center",
                va="bottom" if above else "top",
                fontsize=text_size(),
            )


def plot_width_nonspecificity(assay: "Assay", model: str, *, ax: "Axes | None" = None, width: Width = "text") -> "Axes":
    """How non-specificity follows the width of the credal sets: heat map of one model's instances, log counts.

    Parameters
    ----------
    assay : Assay
        With "credal-width" among its measures, as by default.
    model : str
    ax : matplotlib Axes, optional
        The colour bar becomes an inset of it and takes no room from other axes.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        All instances and runs.

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figure 18.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Intervals([[0.5, 0.1], [0.3, 0.6]], [[0.9, 0.5], [0.4, 0.7]])}, [0, 1])
    >>> plot_width_nonspecificity(a, "m", ax=Figure().subplots()).get_xlabel()
    'credal width, mean over classes'
    """
    scores = named_model(assay, model)
    x, y = _column(assay, scores, "credal-width"), _column(assay, scores, "nonspecificity")
    ax = axes_for(ax, width, 2.6)
    _heat_map(ax, x, y, x_end=float(x.max(initial=0.0)))
    label_axes(ax, quantity_label(assay, "credal-width"), quantity_label(assay, "nonspecificity"), taken=BARRED)
    headline(ax, plain(model), _counted(assay, scores), taken=BARRED)
    return ax


def plot_confidence(
    assay: "Assay",
    model: str,
    quantity: str = "nonspecificity",
    *,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Whether an uncertainty says more than confidence does: heat map of one model's instances, and the mean per bin.

    Parameters
    ----------
    assay : Assay
    model : str
    quantity : str
        "nonspecificity", or one of the assay's measures such as "total-entropy".
    ax, width
        As in `plot_width_nonspecificity`.

    Returns
    -------
    Axes
        All instances and runs; the line is the mean in ten equal-width bins of confidence.

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figure 17.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Intervals([[0.5, 0.1], [0.3, 0.6]], [[0.9, 0.5], [0.4, 0.7]])}, [0, 1])
    >>> plot_confidence(a, "m", "total-entropy", ax=Figure().subplots()).get_ylabel()
    'total entropy (nats)'
    """
    scores = named_model(assay, model)
    y, confidence = _column(assay, scores, quantity), scores.columns["confidence"].ravel()
    ax = axes_for(ax, width, 2.6)
    _heat_map(ax, confidence, y, x_end=1.0)
    look = looks(assay)[model]
    line = confidence_lines(assay, (quantity,))[quantity][assay.model_names.index(model)]
    ax.plot(line["confidence"], line["mean"], color="white", linewidth=3.2)
    ax.plot(line["confidence"], line["mean"], color=look.colour, marker=look.marker, markersize=4, linewidth=1.4)
    label_axes(ax, "confidence in the predicted class", quantity_label(assay, quantity), taken=BARRED)
    headline(ax, plain(model), _counted(assay, scores), "line: mean per bin", taken=BARRED)
    return ax


def _column(assay: "Assay", scores: "ModelScores", name: str) -> Floats:
    """All runs and instances of one column, ``(R · n,)``."""
    if name != "nonspecificity" and name not in assay.settings.measures:
        known = ", ".join(("nonspecificity", *assay.settings.measures))
        fail(
            "measures",
            f"{name!r} was not computed, only {known}",
            "",
            f"pass measures=[{name!r}, …] to assay",
            code="undefined",
        )
    values = scores.columns[name].ravel()
    if not np.isfinite(values).any():
        fail(
            "measures",
            f"{name} of {scores.name!r} is nowhere finite ({scores.kind})",
            "",
            "choose another one",
            code="finite",
        )
    return values


def _counted(assay: "Assay", scores: "ModelScores") -> str:
    return resampled_units(assay) + (f", {scores.n_runs} runs" if scores.n_runs > 1 else "")


def _heat_map(ax: Any, x: Floats, y: Floats, *, x_end: float) -> None:
    """Counts per cell from 0 to the greatest values, with a colour bar next to the axes."""
    kept = np.isfinite(x) & np.isfinite(y)
    x, y = x[kept], y[kept]
    ends = [x_end if x_end > 0 else 1.0, float(y.max(initial=0.0)) or 1.0]
    counts, x_edges, y_edges = np.histogram2d(
        x, y, bins=CELLS, range=[[min(0.0, x.min()), ends[0]], [min(0.0, y.min()), ends[1]]]
    )
    colors = matplotlib_module("colors")
    greys = colors.LinearSegmentedColormap.from_list("instances", ["0.85", "0.1"])  # the models have the hues
    mesh = ax.pcolormesh(
        x_edges,
        y_edges,
        np.ma.masked_equal(counts.T, 0),
        norm=colors.LogNorm(1, max(counts.max(), 10)),
        cmap=greys,
        rasterized=True,
    )
    bar = ax.figure.colorbar(mesh, cax=ax.inset_axes([1.03, 0.0, 0.035, 1.0]))
    bar.set_label("cases", size=text_size())
    bar.ax.tick_params(labelsize=text_size())
    ax.set_xlim(x_edges[0] - 0.01 * ends[0], 1.02 * ends[0])
    ax.set_ylim(y_edges[0] - 0.01 * ends[1], 1.03 * ends[1])
    left_out = len(kept) - int(kept.sum())
    if left_out:
        ax.text(
            0.98,
            0.98,
            f"{count(left_out)} not finite, left out",
            transform=ax.transAxes,
            ha="right",
            va="top",
            fontsize=text_size(),
        )


# Does the uncertainty rank the mistakes: the metrics with their intervals, and risk-coverage curves.

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
        fail("metric", f"must be one of {', '.join(METRICS)}", f"got {metric!r}", "choose one of them", code="choice")
    shown = candidate_names(assay, models)
    groups = _forest_groups(assay, metric, scores, shown)
    rows = [row for group in groups for row in group.rows]
    places = decimals_for((row.estimate.low, row.estimate.high) for row in rows)
    better = 1 if RANKING_METRICS[metric].higher_is_better else -1
    lines = _in_order(groups, better)
    given = [row for _, row in lines if row is not None]
    room = room_for(ax, width)
    names = _names_of_rows(given, 0.38 * room)
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
    left_out = f"left out: {constant} that are the same in every case" if constant and scores is None else ""
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


def _names_of_rows(rows: list[_Row], points: float) -> list[str]:
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

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]])}, [0, 0, 1, 0])
    >>> ax = plot_risk_coverage(a, ax=Figure().subplots())
    >>> float(ax.lines[0].get_ydata()[-1]), ax.get_xlabel()
    (0.25, 'coverage: share of the cases kept, least uncertain first')
    """
    chosen = models_with(assay, score, models)
    area = {(r.model, r.score): r.estimate for r in assay.mistake_ranking() if r.run is None and r.metric == "aurc"}
    said = [
        f"{'' if score else f' ({plain(score_label(s))})'}  AURC {significant(float(area[m, s]))}" for m, s in chosen
    ]
    labels = legend_names([m for m, _ in chosen], room_for(ax, width), said)
    ax = axes_for(ax, width, 2.6, legend=labels)
    coverages = [c for c in COVERAGES if c * assay.n_instances >= 1]
    curves = {pair: risk_curve(assay, *pair, coverages) for pair in chosen}
    draw_risk_coverage(ax, assay, coverages, curves, banded=len(chosen) <= BANDED)
    for line, label in zip(ax.lines, labels, strict=True):
        line.set_label(label)
    handles = [swatch(looks(assay)[m], label) for (m, _), label in zip(chosen, labels, strict=True)]
    label_axes(ax, *_risk_labels(assay), taken=beside(ax, labels))
    by = "each model's best score" if score is None else plain(score_label(score))
    bands = f"bands: pointwise {interval_level(assay)} intervals" if len(chosen) <= BANDED else ""
    headline(ax, resampled_units(assay), f"uncertainty: {by}", bands, taken=beside(ax, labels))
    if handles:
        draw_legend(ax, handles)
    return ax


def draw_risk_coverage(
    ax: Any,
    assay: "Assay",
    coverages: Sequence[float],
    curves: Mapping[tuple[str, str], Floats],
    *,
    banded: bool,
    classes: Mapping[tuple[str, str], str] | None = None,
) -> None:
    """The curve of each (model, score): risk, low and high (3, B), with a mark at every tenth.

    `classes` are those of a page, next to that of the model.
    """
    shown = np.array(coverages)
    tenths = tenths_of(coverages)
    places, tops = {m.name: j for j, m in enumerate(assay.models)}, [0.0]
    for (model, score), (risk, low, high) in curves.items():
        more = "" if classes is None else classes[model, score]
        look = looks(assay)[model]
        style = {"linestyle": look.line, "marker": look.marker, "markersize": 3.5, "linewidth": 1.4}
        (line,) = ax.plot(shown, risk, color=look.colour, markevery=tenths, **style)
        ends = [percent_interval(low[i], high[i]) for i in tenths]
        words = [
            f"{model}: of the {percent(coverages[i], 0)} kept, {percent(risk[i])} are wrong{'' if e == ABSENT else f' ({e})'}"
            for i, e in zip(tenths, ends, strict=True)
        ]
        mark(line, f"m{places[model]} {more}".strip(), words)
        tops.append(np.nanmax(risk[shown >= 0.05], initial=0.0))
        if banded:
            band = ax.fill_between(shown, low, high, color=look.colour, alpha=0.15, linewidth=0)
            mark(band, f"m{places[model]} band {more}".strip())
            tops.append(np.nan_to_num(high[shown >= 0.2]).max(initial=0.0))
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.05 * max(tops) or 1.0)


def tenths_of(coverages: Sequence[float]) -> list[int]:
    """The places of 10 %, 20 %, and so on."""
    return [i for i, c in enumerate(coverages) if round(100 * c) % 10 == 0]


def _risk_labels(assay: "Assay") -> tuple[str, str]:
    wrong = "votes against the prediction" if assay.labels.ndim == 2 else "error rate of what is kept"
    return "coverage: share of the cases kept, least uncertain first", f"risk: {wrong}"


# -- arguments --------------------------------------------------------------------------------------------------------


def candidate_names(assay: "Assay", models: Sequence[str] | None) -> list[str]:
    """Names of the models asked for, by default all; never a baseline."""
    if models is None:
        return list(assay.model_names)
    if not models:
        fail("models", "needs at least one model", "got none", "leave it out for all of them", code="empty")
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


# Could the difference between two rankings of the mistakes be chance: the matrix of paired tests.

BETTER, WORSE = "#0072B2", "#D55E00"  # Okabe and Ito's blue and vermilion
SAME = "same\norder"


def plot_ranking_comparisons(
    assay: "Assay",
    pairs: Sequence[tuple[str, str]] | str | None = None,
    *,
    metric: str = "uq-auc",
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Matrix of paired tests: could the difference between two rankings be chance?

    Parameters
    ----------
    assay : Assay
    pairs : sequence of (model, score), str, or None
        What is compared; a score's name stands for all models that have it. None: each model by its score of the highest
        UQ-AUC, or the scores of the only model.
    metric : str
        "uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc" or "prediction-rejection".
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        In each cell the row minus the column, and the p-value adjusted for all pairs of the matrix (Shaffer); blue where the
        row ranks better, orange where it ranks worse, both only where p is at most 1 − level. The diagonal holds the
        metric itself. Cells too narrow for numbers have a + or a − where the difference is significant. What is undefined is
        named in the title with the reason.

    Notes
    -----
    Where the scores were chosen as the best on the same instances, the p-values are somewhat too small.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> p = uq.Point([[0.8, 0.1, 0.1], [0.6, 0.4, 0.0], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
    >>> a = uq.assay({"m": p}, [0, 0, 1, 1])
    >>> ax = plot_ranking_comparisons(a, [("m", "margin"), ("m", "total-entropy")], ax=Figure().subplots())
    >>> [t.get_text() for t in ax.get_yticklabels()], ax.texts[1].get_text()
    (['margin', 'total entropy'], '−0.125\\np = .54')
    """
    if metric not in METRICS:
        fail("metric", f"must be one of {', '.join(METRICS)}", f"got {metric!r}", "choose one of them", code="choice")
    wanted = _wanted(assay, pairs)
    undefined = {pair: reason for pair in wanted if (reason := _undefined(assay, pair, metric))}
    kept = [pair for pair in wanted if pair not in undefined]
    room = room_for(ax, width)
    labels = dict(zip(wanted, fitting(_pair_labels(wanted), 0.3 * room), strict=True))
    names = [labels[pair] for pair in kept]
    found = assay.pairwise_uncertainties(kept, metric=metric) if kept else None
    texts = [] if found is None else _cell_texts(found)
    taken = text_width(names) + 20
    cell = (room - taken) / max(len(kept), 1)
    written = text_width([text for row in texts for text in row]) + 5 <= cell
    row = (3.1 if written else 1.6) * text_size()
    ax = axes_for(ax, width, (row * max(len(kept), 3) + 0.7 * text_width(names) + 45) / 72)
    if found is not None:
        better = 1 if RANKING_METRICS[metric].higher_is_better else -1
        _draw_matrix(ax, found, better, texts if written else None)
    else:
        ax.annotate(
            "nothing to compare", (0.5, 0.5), xycoords="axes fraction", ha="center", color=GREY, fontsize=text_size()
        )
    steep = not written and len(kept) > 6
    turned: dict[str, Any] = {"rotation": 90} if steep else {"rotation": 40, "rotation_mode": "anchor"}
    step = every(cell) if steep else 1
    ax.set_xticks(range(len(kept))[::step], names[::step], ha="center" if steep else "right", **turned)
    ax.set_yticks(range(len(kept)), names)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    absent = ", ".join(f"{labels[pair]} ({reason})" for pair, reason in undefined.items())
    n_pairs = len(kept) * (len(kept) - 1) // 2
    headline(
        ax,
        f"{DEFINITIONS[metric].title}, row minus column",
        f"p adjusted for {n_pairs} pairs" if n_pairs > 1 else "",
        "" if written or not texts else "+ ranks better, − worse, both significant",
        f"not compared: {absent}" if absent else "",
        taken=taken,
    )
    return ax


def _cell_texts(found: "PairwiseComparisons") -> list[list[str]]:
    """The numbers of every cell."""
    j = len(found.names)
    below = np.tril_indices(j, -1)
    places = decimals_for(zip(found.low[below], found.high[below], strict=True))

    def text(row: int, column: int) -> str:
        d, p = found.difference[row, column], found.adjusted[row, column]
        if row == column:
            return number(found.values[row], places)
        if d == found.low[row, column] == found.high[row, column] == 0:
            return SAME
        return f"{_signed(d, places)}\n{_tested(p)}"

    return [[text(row, column) for column in range(j)] for row in range(j)]


def _draw_matrix(ax: Any, found: "PairwiseComparisons", better: int, texts: list[list[str]] | None) -> None:
    """Colours of the significant differences, and in the cells the numbers, or a sign where there are none."""
    j = len(found.names)
    patches = matplotlib_module("patches")
    ax.set_xlim(-0.5, j - 0.5)
    ax.set_ylim(j - 0.5, -0.5)
    for row, column in np.ndindex(j, j):
        text = "" if texts is None else texts[row][column]
        significant = row != column and found.adjusted[row, column] <= 1 - found.level
        look: dict[str, Any] = {"color": GREY} if row == column or text == SAME else {}
        if row == column:
            look["fontstyle"] = "italic"
        elif significant:
            ahead = better * found.difference[row, column] > 0
            face = BETTER if ahead else WORSE
            corner = (column - 0.5, row - 0.5)
            ax.add_patch(patches.Rectangle(corner, 1, 1, facecolor=face, alpha=0.2, linewidth=0))
            text, look = text or ("+" if ahead else "−"), {"fontweight": "bold"}
        if text:
            ax.text(column, row, text, ha="center", va="center", fontsize=text_size(), linespacing=1.15, **look)
    for at in np.arange(j + 1) - 0.5:
        ax.axhline(at, color="0.85", linewidth=0.6, zorder=0)
        ax.axvline(at, color="0.85", linewidth=0.6, zorder=0)


def _signed(d: float, places: int) -> str:
    """A difference with its sign."""
    text = number(d, places, bounded=True)
    return f"+{text}" if d > 0 and text[0].isdigit() else text


def _tested(p: float) -> str:
    return "no test" if np.isnan(p) else pvalue_text(p)


def _wanted(assay: "Assay", pairs: Sequence[tuple[str, str]] | str | None) -> list[tuple[str, str]]:
    """Models and scores to compare."""
    if isinstance(pairs, str):
        return models_with(assay, pairs, None)
    if pairs is None:
        if len(assay.model_names) == 1:
            return [(m, s) for m in assay.model_names for s in ranked_scores(assay, m)]
        return models_with(assay, None, None)
    wanted = [(named_model(assay, m).name, s) for m, s in pairs]
    for m, s in wanted:
        if s not in assay.uncertainty_names(m):
            raise no_score(assay, s, m)
    return list(dict.fromkeys(wanted))


def _undefined(assay: "Assay", pair: tuple[str, str], metric: str) -> str:
    """Why a metric is undefined; "" where it is not."""
    found = {(r.model, r.score): r.estimate for r in assay.mistake_ranking() if r.run is None and r.metric == metric}
    return reason_of(found[pair]) if np.isnan(found[pair]) else ""


def _pair_labels(pairs: list[tuple[str, str]]) -> list[str]:
    """The part in which pairs differ: model, score, or both."""
    if len({s for _, s in pairs}) <= 1 < len({m for m, _ in pairs}):
        return [m for m, _ in pairs]
    if len({m for m, _ in pairs}) <= 1:
        return [score_label(s) for _, s in pairs]
    return [f"{m}, {score_label(s)}" for m, s in pairs]


# Expected cost against the price of passing a case on.


def plot_expected_cost(
    costs: "ExpectedCost | Mapping[str, ExpectedCost]", *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Expected cost per case against the price of passing a case on, in units of a mistake.

    Parameters
    ----------
    costs : ExpectedCost, or mapping of name to ExpectedCost
        From `metrics.expected_cost_curve` or `Assay.expected_cost`.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One line per curve with pointwise intervals (of at most ten curves). The dashed line of the same colour is the cost of
        keeping every case, the dotted grey one that of passing every case on. Where the line lies below both, refusing by the
        score pays.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> found = uq.metrics.expected_cost_curve([0, 0, 0, 1] * 50, np.arange(200) % 4)
    >>> ax = plot_expected_cost(found, ax=Figure().subplots())
    >>> len(ax.lines), ax.get_xlabel()
    (3, 'price of passing a case on (a mistake costs 1)')
    """
    named = dict(costs) if isinstance(costs, Mapping) else {"refusing by the score": costs}
    if not named:
        fail("costs", "needs at least one curve", "got none", "pass one", code="empty")
    labels = legend_names(list(named), room_for(ax, width))
    simple = ["keep every case", "pass every case on"]
    ax = axes_for(ax, width, 2.6, legend=[*labels, *simple])
    from matplotlib.lines import Line2D

    handles, top, end = [], 0.0, 0.0
    for place, (found, label) in enumerate(zip(named.values(), labels, strict=True)):
        look, order = look_at(place), np.argsort(found.prices)
        prices = np.array(found.prices)[order]
        value, low, high = np.array([(float(found.costs[k]), found.costs[k].low, found.costs[k].high) for k in order]).T
        style = {"linestyle": look.line, "marker": look.marker, "markersize": 4, "linewidth": 1.4}
        every = (0.06 + 0.03 * (place % 4), 0.2)  # markers of different curves apart
        ax.plot(prices, value, color=look.colour, markevery=every, **style)
        if len(named) <= BANDED:
            ax.fill_between(prices, low, high, color=look.colour, alpha=0.15, linewidth=0)
        ax.axhline(float(found.keep_all), color=look.colour, linestyle="--", linewidth=0.9)
        handles.append(swatch(look, label))
        top = max(top, float(found.keep_all), float(np.nan_to_num(high).max()))
        end = max(end, float(prices[-1]))
    (passed,) = ax.plot([0.0, end], [0.0, end], color=GREY, linestyle=":", linewidth=1.2, label=simple[1])
    kept = Line2D([], [], color=GREY, linestyle="--", linewidth=0.9, label=simple[0])
    ax.set_xlim(0.0, end or 1.0)
    ax.set_ylim(0.0, 1.1 * top or 1.0)
    label_axes(
        ax,
        "price of passing a case on (a mistake costs 1)",
        "expected cost per case",
        taken=beside(ax, [*labels, *simple]),
    )
    first = next(iter(named.values()))
    bands = f"bands: pointwise {level_text(first.level)} intervals" if len(named) <= BANDED else ""
    headline(ax, counted(first.keep_all.n, "case"), bands, taken=beside(ax, [*labels, *simple]))
    draw_legend(ax, [*handles, kept, passed])
    return ax


# Coverage of labels against the size of the sets, as the sets are stretched.


def plot_coverage_curve(
    curves: "CoverageCurve | Mapping[str, CoverageCurve]", *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Share of the labels that the sets leave against their mean non-specificity, along the scales.

    Parameters
    ----------
    curves : CoverageCurve, or mapping of name to CoverageCurve
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One line for each model, with pointwise intervals of the coverage as a band (of at most ten models). The marker is at
        s = 1, the sets as they are.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> pair = uq.Members([[[0.6, 0.4], [0.55, 0.45]]] * 4)
    >>> ax = plot_coverage_curve(uq.evidence.coverage_curve([0, 0, 0, 1], pair, scales=(1, 5)), ax=Figure().subplots())
    >>> ax.lines[0].get_ydata().tolist()
    [0.75, 1.0]
    """
    named = dict(curves) if isinstance(curves, Mapping) else {"": curves}
    labels = legend_names(list(named), room_for(ax, width)) if len(named) > 1 else []
    ax = axes_for(ax, width, 2.7, legend=labels)
    draw_coverage_curves(ax, [_drawn_curve(curve) for curve in named.values()], [look_at(k) for k in range(len(named))])
    handles = [swatch(look_at(k), label) for k, label in enumerate(labels)]
    label_axes(ax, "mean non-specificity (nats)", "share of the labels covered")
    first = next(iter(named.values()))
    said = (counted(first.coverage[0].n, "case"), f"{level_text(first.coverage[0].level)} intervals")
    if labels:
        headline(ax, *said, taken=beside(ax, labels))
        draw_legend(ax, handles)
    else:
        headline(ax, *said)
    return ax


class DrawnCoverage(NamedTuple):
    """One curve: at each scale of the sets (S,) the mean non-specificity and the share of the labels covered."""

    size: Floats
    share: Floats
    low: Floats
    high: Floats
    own: int  #: The place of the scale 1.
    classes: str = ""  #: On a page.
    words: tuple[str, ...] = ()


def _drawn_curve(curve: "CoverageCurve") -> DrawnCoverage:
    share, low, high = np.array([(float(e), e.low, e.high) for e in curve.coverage]).T
    return DrawnCoverage(np.array([float(e) for e in curve.nonspecificity]), share, low, high, curve.own)


def draw_coverage_curves(ax: Any, curves: Sequence[DrawnCoverage], drawn: Sequence[Look]) -> None:
    """A line for each model, a point for each scale, and a larger mark at the scale 1; bands of at most ten models."""
    for curve, look in zip(curves, drawn, strict=True):
        ax.plot(curve.size, curve.share, color=look.colour, linestyle=look.line, linewidth=1.4)
        mark(ax.lines[-1], curve.classes)
        (points,) = ax.plot(curve.size, curve.share, color=look.colour, marker="o", markersize=2.5, linestyle="none")
        mark(points, curve.classes, curve.words)
        (own,) = ax.plot(
            *(v[curve.own : curve.own + 1] for v in curve[:2]), color=look.colour, marker=look.marker, markersize=6
        )
        mark(own, curve.classes, curve.words[curve.own : curve.own + 1])
        if len(curves) <= BANDED:
            band = ax.fill_between(curve.size, curve.low, curve.high, color=look.colour, alpha=0.15, linewidth=0)
            mark(band, f"{curve.classes} band".strip())


# Average ranks of models over data sets, with bars that join the models that cannot be told apart.

BAR = "#0072B2"
STEP = 6.0  # points between two bars
GAP = 4.0  # points between a line and its name
ELBOW = 5.0  # points from the end of the axis to the end of a line
LEAST_AXIS = 80.0  # points of the axis below which the average ranks beside the names are left out
TESTS = {"signed-rank": "signed-rank tests, Holm", "nemenyi": "Nemenyi"}

Group = tuple[int, ...]


def plot_critical_difference(
    found: "DataSetComparison",
    *,
    test: Literal["signed-rank", "nemenyi"] = "signed-rank",
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Average ranks of the models on one axis; a bar joins the models of a group of which no two can be told apart.

    Parameters
    ----------
    found : DataSetComparison
        Of `evidence.compare_over_data_sets` or `evidence.compare_table`.
    test : {"signed-rank", "nemenyi"}
        Which test joins: that of the sentences, or Nemenyi's, whose critical difference is drawn above the axis.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Rank 1, the best, is at the left. Dots on a bar are its models: a line that crosses a bar without a dot is of a model
        that is told apart from some of the group.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Figure 1.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from uqassay.evidence import compare_table
    >>> rows = [[0.9, 0.86, 0.88], [0.8, 0.83, 0.81], [0.75, 0.69, 0.72], [0.97, 0.91, 0.93]] * 2
    >>> found = compare_table(rows, models=["DE", "EDL", "SNN"], greater_is_better=True, label="accuracy")
    >>> ax = plot_critical_difference(found, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts][:3]
    ['DE  1.50', 'SNN  2.00', '2.50  EDL']
    """
    check_choice(test, "test", tuple(TESTS))
    order, ranks = found.order(), found.average_ranks
    groups = _joined(found, test)
    levels = _levels(groups, ranks)
    room = room_for(ax, width)
    left, right = _labels([found.models[k] for k in order], [f"{ranks[k]:.2f}" for k in order], room)
    taken = [text_width(side) + GAP + ELBOW for side in (left, right)]
    axis = max(room - sum(taken) - 10.0, 20.0)  # points from rank 1 to the last rank
    title = [
        *wrapped(f"average rank by {found.label} over {counted(found.n_data_sets, 'data set')}", room - 10),
        *wrapped(f"joined: not told apart at {level_text(found.level)} for all pairs ({TESTS[test]})", room - 10),
    ]
    line, above = 1.35 * text_size(), 1.0 + (2.6 * text_size() if test == "nemenyi" else 0.0)
    depth = STEP * (1.5 + max(levels, default=-1) + 1)  # of the bars below the axis
    total = depth + line * len(left)
    head = 1.25 * text_size() * (len(title) + 1.6)
    ax = axes_for(ax, width, (total + above + head + 10) / 72 - (0.3 if width == "column" else 0.0))
    end = max(len(order), 2)
    reach = ELBOW * (end - 1) / axis  # in ranks
    for i, k in enumerate(order):
        row, side = (i, -1) if i < len(left) else (len(order) - 1 - i, 1)
        x, y = (1 - reach if side < 0 else end + reach), depth + line * (row + 0.5)
        ax.plot([ranks[k], ranks[k], x], [0, y, y], color="black", linewidth=0.8, clip_on=False)
        text = left[row] if side < 0 else right[row]
        _write(ax, text, (x, y), (side * GAP, 0), ha="right" if side < 0 else "left", va="center")
    for group, level in zip(groups, levels, strict=True):
        y = STEP * (level + 1.25)
        at = sorted(float(ranks[k]) for k in group)
        ax.plot([at[0], at[-1]], [y, y], color=BAR, linewidth=2.0, solid_capstyle="round", zorder=3)
        ax.plot(at, [y] * len(at), "o", color=BAR, markersize=3.6, zorder=4)
    _draw_axis(ax, end, total, above, axis)
    if test == "nemenyi":
        _draw_difference(ax, found.critical_difference, end, above)
    corner = (-taken[0], 2.1 * text_size() if above == 1 else 0.9 * text_size())
    _write(ax, "\n".join(title), (0, 1), corner, xycoords="axes fraction", ha="left", va="bottom", linespacing=1.25)
    return ax


def _labels(names: list[str], numbers: list[str], room: float) -> tuple[list[str], list[str]]:
    """Names with their average ranks, to the left of the axis and to the right; without the ranks where there is no room."""
    n_left = (len(names) + 1) // 2
    beside = text_width([f"  {number}" for number in numbers]) + GAP + ELBOW
    sides = room - min(max(LEAST_AXIS, 10.0 * len(names)), 0.5 * room)
    short = fitting(names, 0.5 * sides - beside)
    if 2 * (text_width(short) + beside) > sides:
        short, numbers = fitting(names, 0.5 * sides - GAP - ELBOW), [""] * len(names)
    left = [f"{name}  {number}".rstrip() for name, number in zip(short[:n_left], numbers, strict=False)]
    right = [f"{number}  {name}".lstrip() for name, number in zip(short[n_left:], numbers[n_left:], strict=True)]
    return left, right[::-1]  # both from the ends of the axis inwards


# -- groups and their places -----------------------------------------------------------------------------------------------


def _joined(found: "DataSetComparison", test: str) -> list[Group]:
    """Groups of at least two models that a bar joins, from the best to the worst."""
    if test == "nemenyi":
        ranks = found.average_ranks
        apart: NDArray[np.bool_] = np.abs(ranks[:, np.newaxis] - ranks) >= found.critical_difference - 1e-12
    else:
        apart = found.better() | found.better().T
    groups = [group for group in maximal_groups(apart) if len(group) > 1]
    return sorted(groups, key=lambda group: sorted(found.average_ranks[list(group)]))


def _levels(groups: list[Group], ranks: NDArray[np.float64]) -> list[int]:
    """The line on which each bar is drawn, 0 for the uppermost, so that no two bars of a line touch."""
    ends: list[float] = []  # of the last bar of each line
    found = []
    apart = 0.05 * len(ranks)
    for group in groups:
        low, high = float(ranks[list(group)].min()), float(ranks[list(group)].max())
        level = next((i for i, end in enumerate(ends) if end + apart < low), len(ends))
        ends[level:] = [high, *ends[level + 1 :]]
        found.append(level)
    return found


# -- the axis ----------------------------------------------------------------------------------------------------------------


def _draw_axis(ax: Any, end: int, total: float, above: float, points: float) -> None:
    """The axis of ranks at y = 0; y are points downwards from it."""
    ax.set_xlim(1, end)
    ax.set_ylim(total, -above)
    widest = 1.8 * text_width([str(end)])
    step = next((s for s in (1, 5, 10, 20, 50) if s * points / (end - 1) >= widest), 100)
    ax.set_yticks([])
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.spines["top"].set_visible(True)
    ax.spines["top"].set_position(("data", 0))
    ax.xaxis.set_ticks_position("top")
    ax.set_xticks(sorted({1, *range(step, end + 1, step)}))


def _draw_difference(ax: Any, difference: float, end: int, above: float) -> None:
    """The critical difference as a bar from rank 1."""
    shown, y = min(difference, end - 1.0), 1 - above
    ax.plot([1, 1 + shown], [y, y], color="black", linewidth=1.2, marker="|", markersize=5, clip_on=False)
    _write(ax, f"CD {difference:.2f}", (1 + shown, y), (GAP, 0), va="center")


def _write(ax: Any, text: str, at: tuple[float, float], offset: tuple[float, float], **more: Any) -> None:
    ax.annotate(text, at, offset, textcoords="offset points", fontsize=text_size(), annotation_clip=False, **more)
