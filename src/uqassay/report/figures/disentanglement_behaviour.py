"""Figures of the behaviour of estimates: correlation matrix, epistemic uncertainty by share of the data, sources of doubt."""

from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    every,
    fitting,
    headline,
    label_axes,
    points_of,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.figures.style import GREY, LINES, MARKERS, PALETTE
from uqassay.wording import ABSENT, estimate_text, number, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.metrics import DoubtSources, EpistemicTrend, EstimateCorrelations

__all__ = ["SOURCES", "plot_doubt_sources", "plot_epistemic_trend", "plot_estimate_correlations"]

SOURCES = {"seed": "seed", "few-data": "few data", "bias": "bias of the family"}
DARK = 0.55  # correlations beyond this are written in white
BARRED = 70.0  # points that the bar of colours takes
TREND = ("90 % of the instances", "50 % of the instances", "mean of a run", "mean of the runs", "a step that rises")


def plot_estimate_correlations(
    found: "EstimateCorrelations", *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Rank correlations of every estimate with every other, as a matrix of colours and numbers.

    Parameters
    ----------
    found : EstimateCorrelations
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Blue for opposite orders, red for equal ones. A cross marks an estimate that is constant in some run.

    Raises
    ------
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from uqassay.metrics import estimate_correlations
    >>> found = estimate_correlations({"aleatoric": [[1, 2, 3, 4]], "epistemic": [[2, 1, 4, 3]]})
    >>> ax = plot_estimate_correlations(found, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['1.00', '0.60', '0.60', '1.00']
    """
    matrix, j = found.matrix, len(found.names)
    room = room_for(ax, width)
    names = fitting(found.names, 0.3 * room)
    taken = text_width(names) + BARRED
    cell, row = (room - taken) / j, 2.4 * text_size()  # points of a cell
    written = cell >= text_width(["−0.00"]) + 4
    ax = axes_for(ax, width, (row * j + text_width(names) + 45) / 72)
    image = ax.imshow(np.ma.masked_invalid(matrix), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    for a, b in np.ndindex(j, j):
        value = float(matrix[a, b])
        if np.isnan(value):
            ax.text(b, a, "×", ha="center", va="center", color=GREY, fontsize=text_size())
        elif written:
            colour = "white" if abs(value) > DARK else "black"
            ax.text(b, a, number(value, 2), ha="center", va="center", color=colour, fontsize=text_size())
    step = every(cell)
    ax.set_xticks(range(j)[::step], names[::step], rotation=90)
    ax.set_yticks(range(j), names)
    ax.tick_params(length=0)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.9)
    bar.set_label("Spearman correlation", size=text_size())
    bar.ax.tick_params(labelsize=text_size())
    headline(ax, "Correlations of the estimates", found.notes[0].text, taken=taken)
    return ax


def plot_epistemic_trend(found: "EpistemicTrend", *, ax: "Axes | None" = None, width: Width = "text") -> "Axes":
    """Epistemic uncertainty by the share of the training instances: each run, and bands of the instances.

    Parameters
    ----------
    found : EpistemicTrend
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        The bands hold 90 % and 50 % of the instances of all runs, thin lines are the means of the runs, the thick line is
        their mean. Steps where it rises are orange.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from uqassay.metrics import epistemic_trend_test
    >>> found = epistemic_trend_test(np.linspace(1.0, 0.1, 24).reshape(2, 3, 4), [0.1, 0.5, 1.0])
    >>> plot_epistemic_trend(found, ax=Figure().subplots()).get_ylabel()
    'epistemic uncertainty'
    """
    rising = [k for k, step in enumerate(found.steps) if step.rises]
    labels = TREND if rising else TREND[:-1]
    ax = axes_for(ax, width, 2.3, legend=labels)
    x = np.arange(len(found.shares))
    colour, orange = PALETTE[0], PALETTE[1]
    low, lower, _, upper, high = found.quantiles
    handles: list[Any] = [
        ax.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0),
        ax.fill_between(x, lower, upper, color=colour, alpha=0.3, linewidth=0),
    ]
    runs = [ax.plot(x, means, color=colour, linewidth=0.6, alpha=0.6)[0] for means in found.means]
    overall = found.means.mean(axis=0)
    handles += [runs[0], *ax.plot(x, overall, color=colour, linewidth=1.8, marker="o", markersize=4)]
    steps = [ax.plot(x[k : k + 2], overall[k : k + 2], "--", color=orange, linewidth=2.2)[0] for k in rising]
    for handle, label in zip([*handles, *steps[:1]], labels, strict=True):
        handle.set_label(label)
    shares = [_share(share) for share in found.shares]
    _share_axis(ax, shares)
    label_axes(ax, "share of the training instances", "epistemic uncertainty")
    ax.set_ylim(bottom=min(0.0, float(low.min())))
    tau = found.mean_tau
    title = f"mean τ {estimate_text(float(tau), tau.low, tau.high, level=tau.level, decimals=2)}"
    headline(ax, title, taken=beside(ax, labels))
    draw_legend(ax, [*handles, *steps[:1]])
    return ax


def plot_doubt_sources(found: "DoubtSources", *, ax: "Axes | None" = None, width: Width = "text") -> "Axes":
    """How an epistemic estimate follows seed, few data and bias, at each share of the training instances.

    Parameters
    ----------
    found : DoubtSources
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Correlations with their intervals. At share 1 there is no source "few data".

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from uqassay.metrics import doubt_sources
    >>> probs = np.random.default_rng(0).dirichlet([1, 1], (4, 2, 30))
    >>> found = doubt_sources(probs, probs.std(axis=-1), np.zeros(30, dtype=int), [0.5, 1.0])
    >>> plot_doubt_sources(found, ax=Figure().subplots()).get_ylabel()
    'correlation with the source'
    """
    defined = {one.source for one in found.found if np.isfinite(float(one.correlation))}
    labels = [label if source in defined else f"{label}: {ABSENT}" for source, label in SOURCES.items()]
    ax = axes_for(ax, width, 2.3, legend=labels)
    ax.axhline(0, color=GREY, linewidth=0.8)
    places = {float(share): i for i, share in enumerate(found.shares)}
    handles = []
    for k, source in enumerate(SOURCES):
        rows: list[Any] = [one for one in found.found if one.source == source and np.isfinite(float(one.correlation))]
        x = np.array([places[one.share] for one in rows], dtype=float) + 0.12 * (k - 1)
        y = np.array([float(one.correlation) for one in rows])
        ends = np.array([(one.correlation.low, one.correlation.high) for one in rows]).reshape(-1, 2)
        reach = np.abs(np.nan_to_num(ends - y[:, None])).T
        style: dict[str, Any] = {
            "color": PALETTE[k],
            "marker": MARKERS[k],
            "linestyle": LINES[k],
            "markersize": 4,
            "linewidth": 1.2,
            "capsize": 2,
        }
        handles.append(ax.errorbar(x, y, yerr=reach if y.size else None, label=labels[k], **style))
    _share_axis(ax, [_share(share) for share in found.shares])
    ax.set_xlim(-0.5, len(found.shares) - 0.5)
    ax.set_ylim(-1.0, 1.0)
    label_axes(ax, "share of the training instances", "correlation with the source")
    headline(ax, "Sources of doubt that the estimate follows", found.notes[0].text, taken=beside(ax, labels))
    draw_legend(ax, handles)
    return ax


def _share(share: float) -> str:
    return percent(float(share), 0 if float(100 * share) % 1 < 1e-9 else 1)


def _share_axis(ax: Any, shares: list[str]) -> None:
    """As many shares at the x axis as have room, the last one among them."""
    step = 1 + int(len(shares) * (text_width(shares) + 6) / max(points_of(ax) - 60, 1.0))
    places = range(len(shares))[::-step][::-1]
    ax.set_xticks(places, [shares[i] for i in places])
