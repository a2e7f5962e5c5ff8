"""Stated against observed epistemic variance, bucket by bucket."""

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
from uqassay.report.figures.style import GREY, look_at, swatch
from uqassay.wording import counted, level_text, pvalue_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.calibration import SecondOrderTest

__all__ = ["plot_second_order"]


def plot_second_order(
    tests: "SecondOrderTest | Mapping[str, SecondOrderTest]", *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Observed epistemic variance of each bucket of instances against the stated one, with intervals.

    Parameters
    ----------
    tests : SecondOrderTest, or mapping of name to SecondOrderTest
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Points on the dashed diagonal are second-order calibrated; above it, the model states too little variance. The size
        of the buckets follows from the `buckets` of the test.

    Raises
    ------
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> members = np.random.default_rng(0).dirichlet([1, 1], (40, 3))
    >>> found = uq.calibration.second_order_test(np.full((40, 2), 2), uq.Members(members), buckets=4)
    >>> ax = plot_second_order(found, ax=Figure().subplots())
    >>> len(ax.containers)
    1
    """
    named = dict(tests) if isinstance(tests, Mapping) else {"": tests}
    labels = legend_names(list(named), room_for(ax, width)) if len(named) > 1 else []
    ax = axes_for(ax, width, 2.7, legend=labels)
    handles, greatest = [], 0.0
    for place, test in enumerate(named.values()):
        look, stated = look_at(place), test.buckets.stated
        observed = np.array([float(o) for o in test.buckets.observed])
        low, high = (np.array([getattr(o, end) for o in test.buckets.observed]) for end in ("low", "high"))
        reach = np.stack([np.nan_to_num(observed - low), np.nan_to_num(high - observed)])
        ax.errorbar(
            stated,
            observed,
            yerr=np.maximum(reach, 0.0),
            color=look.colour,
            marker=look.marker,
            linestyle="none",
            markersize=4.5,
            linewidth=1.2,
        )
        handles += [swatch(look, labels[place], line=False)] if labels else []
        greatest = max(greatest, float(stated.max()), float(np.nanmax(observed)))
    ax.plot([0.0, greatest], [0.0, greatest], color=GREY, linestyle="--", linewidth=1.0, zorder=0)
    label_axes(ax, "stated epistemic variance", "observed epistemic variance")
    first = next(iter(named.values()))
    level = f"{level_text(first.observed.level)} intervals"
    if len(named) > 1:
        headline(ax, counted(first.n, "instance"), level, taken=beside(ax, labels))
        draw_legend(ax, handles)
    else:
        headline(ax, counted(first.n, "instance"), f"{first.by} {pvalue_text(first.pvalue)}", level)
    return ax
