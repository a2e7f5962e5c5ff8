"""Coverage of labels against the size of the sets, as the sets are stretched."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

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
from uqassay.report.figures.style import BANDED, look_at, swatch
from uqassay.wording import counted, level_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.coverage_curves import CoverageCurve

__all__ = ["plot_coverage_curve"]


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

    Raises
    ------
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
    handles = []
    for place, curve in enumerate(named.values()):
        look = look_at(place)
        size = np.array([float(e) for e in curve.nonspecificity])
        share, low, high = np.array([(float(e), e.low, e.high) for e in curve.coverage]).T
        ax.plot(
            size,
            share,
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markevery=[curve.own],
            markersize=6,
            linewidth=1.4,
        )
        if len(named) <= BANDED:
            ax.fill_between(size, low, high, color=look.colour, alpha=0.15, linewidth=0)
        handles += [swatch(look, labels[place])] if labels else []
    label_axes(ax, "mean non-specificity (nats)", "share of the labels covered")
    first = next(iter(named.values()))
    said = (counted(first.coverage[0].n, "instance"), f"{level_text(first.coverage[0].level)} intervals")
    if labels:
        headline(ax, *said, taken=beside(ax, labels))
        draw_legend(ax, handles)
    else:
        headline(ax, *said)
    return ax
