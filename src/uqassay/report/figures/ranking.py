"""At one λ: the ranking, and how it depends on the members."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.ranking_words import MARKS
from uqassay.losses.unified import DEFAULT_TRADEOFF
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
    text_width,
)
from uqassay.report.figures.style import (
    at_tradeoff,
    interval_level,
    look_at,
    looks,
    loss_label,
    plain,
    resampled_units,
    swatch,
    window,
)
from uqassay.wording import decimals_for, number, pvalue, rank_range, share_of_draws

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence import Assay, Ranked

__all__ = ["plot_members", "plot_ranking"]


def plot_ranking(
    assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None, width: Width = "text"
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
    coloured_as: "Assay | None" = None,
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
    coloured_as : Assay, optional
        Gives each of its models the colour that the model has in its figures; by default the assay of the smallest M.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

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
