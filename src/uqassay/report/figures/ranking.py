"""At one λ: the ranking, its two parts (distance against non-specificity), and how it depends on the members."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.evidence.ranking_words import MARKS
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.report.distributions import mean_regions
from uqassay.report.figures.style import (
    GREY,
    at_tradeoff,
    axes_for,
    draw_legend,
    headline,
    interval_level,
    look_at,
    looks,
    loss_label,
    matplotlib_module,
    plain,
    quantity_label,
    resampled_units,
    swatch,
    text_width,
    window,
)
from uqassay.wording import decimals_for, number, pvalue, rank_range, share_of_draws, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence import Assay, Ranked

__all__ = ["plot_distance_nonspecificity", "plot_members", "plot_ranking"]

Array = NDArray[np.float64]


def plot_ranking(assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None) -> "Axes":
    """Forest plot of the ranking at one λ: mean E with its interval, and in numbers how sure each place is.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ.
    ax : matplotlib Axes, optional
        Where to draw; the columns of numbers stand to the right of it.

    Returns
    -------
    Axes
        One row per model and baseline, best first (row i at y = i). Before a name stand the ranks that the model can have
        (`Assay.rank_sets`). The axis is cut to the models: an arrow at its end stands for a baseline beyond it. p is the test
        against the best model, adjusted for all pairs, with † ‡ § for what alone keeps it from being significant (losses not
        seen, skewness, few runs). A star marks a model where a baseline has a lower mean E.

    Raises
    ------
    InputError
        λ negative or not finite.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"a": uq.Point([[0.9, 0.1]] * 9), "b": uq.Point([[0.6, 0.4]] * 9)}, [0] * 8 + [1])
    >>> [t.get_text() for t in plot_ranking(a, ax=Figure().subplots()).get_yticklabels()]
    ['vacuous', 'class-prior', '1–2  a *', '1–2  b *']
    """
    rows = assay.ranked(tradeoff)
    places = decimals_for((r.estimate.low, r.estimate.high) for r in rows if r.rank is not None)
    header = (f"mean E [{interval_level(assay)}]", "resamples won", "p (adjusted)")
    table = [header, *(_ranking_cells(row, places, assay.settings.n_draws) for row in rows)]
    columns = [text_width(cells, "small") + 14 for cells in zip(*table, strict=True)]
    names = [_row_name(r) for r in rows]
    size = 3.0 + (sum(columns) + text_width(names, "medium")) / 72, 0.9 + 0.32 * len(rows)
    ax = axes_for(ax, size)
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
                ax.plot([e.low, e.high], [i, i], color=look.colour, linewidth=2.0, solid_capstyle="butt")
            ax.plot([float(e)], [i], color=look.colour, marker=look.marker, markersize=6, linestyle="none")
        else:
            at, arrow = (left, "<") if e < left else (right, ">")
            ax.plot([at], [i], color=look.colour, marker=arrow, markersize=5, linestyle="none", clip_on=False)
    ax.set_xlim(left, right)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks(range(len(rows)), names)
    for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
        tick.set_style("italic" if row.rank is None else "normal")
    offsets = np.cumsum([10.0, *columns[:-1]])  # in points, so that the columns keep their distance at any size
    for i, cells in enumerate(table):
        for offset, text in zip(offsets.tolist(), cells, strict=True):
            ax.annotate(
                text,
                (1.0, i - 1 if i else -0.5),
                (offset, 0 if i else 4),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                va="center" if i else "bottom",
                fontsize="small",
                fontweight="normal" if i else "bold",
                annotation_clip=False,
            )
    ax.set_xlabel(f"mean {loss_label(assay)},  {at_tradeoff(tradeoff)}")
    headline(
        ax,
        at_tradeoff(tradeoff),
        resampled_units(assay),
        f"ranks: {interval_level(assay)} for all at once",
        "* a baseline has a lower mean E" if any(r.below for r in rows) else "",
        taken=sum(columns),
    )
    return ax


def _row_name(row: "Ranked") -> str:
    """The ranks that a model can have, its name, and a mark where a baseline has a lower mean."""
    ranks = "" if row.rank_low is None or row.rank_high is None else f"{rank_range(row.rank_low, row.rank_high)}  "
    return f"{ranks}{plain(row.model)}{' *' if row.below else ''}"


def _ranking_cells(row: "Ranked", places: int, n_draws: int) -> tuple[str, str, str]:
    """The numbers of one row in words."""
    e = row.estimate
    mean = number(float(e), places)
    if e.high > e.low:
        mean += f" [{number(e.low, places)}, {number(e.high, places)}]"
    wins = "" if row.win_share is None else share_of_draws(row.win_share, n_draws)
    mark = MARKS.get(row.limited_by, "")
    return mean, wins, "" if np.isnan(row.pvalue_adjusted) else f"{pvalue(row.pvalue_adjusted)}{mark}"


def plot_distance_nonspecificity(
    assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None
) -> "Axes":
    """Why a model wins: mean distance against mean non-specificity with confidence ellipses, and lines of equal E.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ, the slope of the lines of equal E.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        One point per model at (mean NS, mean d) with the joint confidence region of the two; the line through the best
        model is dashed. Models and baselines outside the axes, which are cut to the finite models, are named in the title.

    Raises
    ------
    InputError
        λ negative or not finite.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
    drawn: dict[str, tuple[Array, Array]] = {r["model"]: _region_outline(r) for r in regions}
    totals = [float(drawn[m.name][0] @ (tradeoff, 1.0)) for m in assay.models]
    labels = [f"{plain(m.name)}  E = {significant(e)}" for m, e in zip(assay.models, totals, strict=True)]
    ax = axes_for(ax, (5.2, 4.2), names=labels)
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
    ax.set_xlabel(f"mean {quantity_label(assay, 'nonspecificity')}")
    ax.set_ylabel(f"mean {quantity_label(assay, 'distance')}")
    headline(
        ax,
        resampled_units(assay),
        f"{interval_level(assay)} regions",
        f"grey: equal E at {at_tradeoff(tradeoff)}",
        f"outside, (NS, d): {', '.join(outside)}" if outside else "",
    )
    draw_legend(ax, handles, "right")
    return ax


def _region_outline(region: dict[str, Any]) -> tuple[Array, Array]:
    """Centre (2,) and outline (2, 73) of the joint confidence region of (mean NS, mean d)."""
    centre = np.array([region["nonspecificity"][0], region["distance"][0]])
    h_d, h_ns = region["half_widths"]
    if not (np.isfinite(h_d) and np.isfinite(h_ns)):
        return centre, np.full((2, 73), np.nan)
    scales, axes = np.linalg.eigh([[h_ns**2, region["covariance"]], [region["covariance"], h_d**2]])
    turn = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    return centre, centre[:, None] + axes @ (np.sqrt(np.maximum(scales, 0.0))[:, None] * circle)


def _equal_lines(ax: Any, tradeoff: float, x: tuple[float, float], y: tuple[float, float], best: float) -> None:
    """Lines d = E − λ NS at round values of E, and the one through the best model."""
    low, high = y[0] + tradeoff * x[0], y[1] + tradeoff * x[1]
    ends = np.array(x)
    for e in matplotlib_module("ticker").MaxNLocator(8).tick_values(low, high).tolist():
        ax.plot(ends, e - tradeoff * ends, color="0.82", linewidth=0.8, zorder=0)
        at_right = e - tradeoff * x[1]
        if y[0] <= at_right <= y[1] - 0.04 * (y[1] - y[0]):
            ax.annotate(f"E = {e:.4g}", (x[1], at_right), (-3, 1), **_BESIDE, ha="right", va="bottom")
        elif tradeoff > 0 and x[0] <= (e - y[1]) / tradeoff <= x[1]:
            ax.annotate(f"{e:.4g}", ((e - y[1]) / tradeoff, y[1]), (0, 2), **_BESIDE, ha="center", va="bottom")
    if np.isfinite(best):
        ax.plot(ends, best - tradeoff * ends, color=GREY, linewidth=1.0, linestyle="--", zorder=1)


_BESIDE: dict[str, Any] = {
    "textcoords": "offset points",
    "fontsize": "x-small",
    "color": "0.45",
    "annotation_clip": False,
}


def plot_members(
    assays: Mapping[int, "Assay"],
    tradeoff: float = DEFAULT_TRADEOFF,
    *,
    coloured_as: "Assay | None" = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Mean E of every model against the number of members or draws that span its sets.

    Parameters
    ----------
    assays : dict of int to Assay
        Assays of the same models on the same instances by number of members M, as `uq.assay(..., common_members=M)`
        makes them.
    tradeoff : float
        λ.
    coloured_as : Assay, optional
        Gives each of its models the colour that the model has in its figures; by default the assay of the smallest M.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        One line per model with the intervals of `Assay.ranked`. A single model is named in the title, several in a legend.
        Baselines are left out.

    Raises
    ------
    InputError
        No assay, numbers below 1, or assays of different instances, distances or measures.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
        raise InputError(
            "assays",
            "needs an Assay for at least one number of members ≥ 1",
            f"got {sizes}",
            "pass {M: assay}",
            code="empty",
        )
    first = assays[sizes[0]]
    for m in sizes[1:]:
        if _frame(assays[m]) != _frame(first):
            raise InputError(
                "assays",
                "all must judge the same labels with the same distance and measure",
                f"M = {m} differs from M = {sizes[0]}",
                "make them by the same call with another common_members",
                code="mismatch",
            )
    names = list(dict.fromkeys(name for m in sizes for name in assays[m].model_names))
    found = {m: {r.model: r.estimate for r in assays[m].ranked(tradeoff)} for m in sizes}
    given = {} if coloured_as is None else looks(coloured_as)
    ax = axes_for(ax, (6.0, 3.8))
    handles = []
    for j, name in enumerate(names):
        look = given.get(name) or look_at(j)
        at = [m for m in sizes if name in found[m]]
        mean, low, high = (
            np.array([get(found[m][name]) for m in at]) for get in (float, lambda e: e.low, lambda e: e.high)
        )
        label = plain(name)
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
    ax.set_xlabel("members M")
    ax.set_ylabel(f"mean {loss_label(first)},  {at_tradeoff(tradeoff)}")
    alone = plain(names[0]) if len(names) == 1 else ""
    headline(ax, alone, at_tradeoff(tradeoff), resampled_units(first), f"bars: {interval_level(first)} intervals")
    if len(handles) > 1:
        draw_legend(ax, handles)
    return ax


def _frame(assay: "Assay") -> tuple[Any, ...]:
    s = assay.settings
    return assay.labels.tobytes(), assay.n_classes, s.distance, s.nonspecificity, s.convention, s.level
