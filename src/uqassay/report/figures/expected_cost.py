"""Expected cost against the price of passing a case on."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from uqassay.errors import InputError
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    headline,
    label_axes,
    legend_names,
    room_for,
)
from uqassay.report.figures.style import BANDED, GREY, look_at, swatch
from uqassay.wording import counted, level_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.metrics.risk.expected_cost import ExpectedCost

__all__ = ["plot_expected_cost"]


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

    Raises
    ------
    InputError
        An empty mapping.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
        raise InputError("costs", "needs at least one curve", "got none", "pass one", code="empty")
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
    headline(ax, counted(first.keep_all.n, "instance"), bands, taken=beside(ax, [*labels, *simple]))
    draw_legend(ax, [*handles, kept, passed])
    return ax
