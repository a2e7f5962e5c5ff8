"""Which ranks each model can have: at one λ or by another metric, and the top group along λ."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.evidence.ranking_words import metric_label
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.report.definitions import score_label
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    fitting,
    headline,
    label_axes,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.figures.style import (
    GREY,
    at_tradeoff,
    interval_level,
    looks,
    plain,
    resampled_units,
    tradeoff_grid,
)
from uqassay.wording import rank_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay
    from uqassay.statistics import RankSets

__all__ = ["plot_rank_sets", "plot_top_group"]

Array = NDArray[np.float64]
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

    Raises
    ------
    InputError
        As `Assay.rank_sets`.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
        The level holds at each λ by itself.

    Raises
    ------
    InputError
        λ that are negative, not finite, or fewer than two.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
        f"no model shown to be better, {interval_level(assay)} at each λ",
        resampled_units(assay),
        "pale: a baseline has a lower mean E" if pale else "",
        taken=taken,
    )
    return ax


def _top_along(assay: "Assay", grid: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
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
