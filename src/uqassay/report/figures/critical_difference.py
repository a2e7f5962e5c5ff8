"""Average ranks of models over data sets, with bars that join the models that cannot be told apart."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from uqassay.report.figures.layout import (
    Width,
    axes_for,
    fitting,
    room_for,
    text_size,
    text_width,
    wrapped,
)
from uqassay.statistics.samples import check_choice
from uqassay.statistics.signed_rank_pairs import maximal_groups
from uqassay.wording import counted, level_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.data_sets_result import DataSetComparison

__all__ = ["plot_critical_difference"]

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

    Raises
    ------
    InputError
        Another test.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
