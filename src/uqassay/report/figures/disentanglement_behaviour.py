"""Figures of the behaviour of estimates: correlation matrix, epistemic uncertainty by share of the data, sources of doubt."""

from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.report.figures.style import GREY, PALETTE, axes_for, headline, plain
from uqassay.wording import ABSENT, estimate_text, number, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.metrics import DoubtSources, EpistemicTrend, EstimateCorrelations

__all__ = ["plot_doubt_sources", "plot_epistemic_trend", "plot_estimate_correlations"]

SOURCES = {"seed": "seed", "few-data": "few data", "bias": "bias of the family"}
DARK = 0.55  # correlations beyond this are written in white
MOST_CELLS = 12  # estimates whose correlations are written into the cells


def plot_estimate_correlations(found: "EstimateCorrelations", *, ax: "Axes | None" = None) -> "Axes":
    """Rank correlations of every estimate with every other, as a matrix of colours and numbers.

    Parameters
    ----------
    found : EstimateCorrelations
    ax : matplotlib Axes, optional

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
    names = [plain(name, limit=40) for name in found.names]
    size = 1.2 + 0.5 * j
    ax = axes_for(ax, (size, size), names=names)
    image = ax.imshow(np.ma.masked_invalid(matrix), cmap="RdBu_r", vmin=-1, vmax=1)
    for a, b in np.ndindex(j, j):
        value = float(matrix[a, b])
        if np.isnan(value):
            ax.text(b, a, "×", ha="center", va="center", color=GREY)
        elif j <= MOST_CELLS:
            colour = "white" if abs(value) > DARK else "black"
            ax.text(b, a, number(value, 2), ha="center", va="center", color=colour, fontsize="x-small")
    ax.set_xticks(range(j), names, rotation=90, fontsize="small")
    ax.set_yticks(range(j), names, fontsize="small")
    ax.tick_params(length=0)
    ax.figure.colorbar(image, ax=ax, shrink=0.7, label="Spearman correlation")
    headline(ax, "Correlations of the estimates", found.notes[0].text)
    return ax


def plot_epistemic_trend(found: "EpistemicTrend", *, ax: "Axes | None" = None) -> "Axes":
    """Epistemic uncertainty by the share of the training instances: each run, and bands of the instances.

    Parameters
    ----------
    found : EpistemicTrend
    ax : matplotlib Axes, optional

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
    ax = axes_for(ax, (5.2, 3.4))
    x = np.arange(len(found.shares))
    colour, orange = PALETTE[0], PALETTE[1]
    low, lower, _, upper, high = found.quantiles
    ax.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0, label="90 % of the instances")
    ax.fill_between(x, lower, upper, color=colour, alpha=0.22, linewidth=0, label="50 % of the instances")
    for i, means in enumerate(found.means):
        ax.plot(x, means, color=colour, linewidth=0.6, alpha=0.6, label="mean of a run" if i == 0 else None)
    overall = found.means.mean(axis=0)
    ax.plot(x, overall, color=colour, linewidth=2.2, marker="o", markersize=4, label="mean of the runs")
    rising = [k for k, step in enumerate(found.steps) if step.rises]
    for k in rising:
        label = "a step that rises" if k == rising[0] else None
        ax.plot(x[k : k + 2], overall[k : k + 2], color=orange, linewidth=2.6, label=label)
    ax.set_xticks(x, [_share(share) for share in found.shares])
    ax.set_xlabel("share of the training instances")
    ax.set_ylabel("epistemic uncertainty")
    ax.set_ylim(bottom=min(0.0, float(low.min())))
    tau = found.mean_tau
    headline(ax, f"mean τ {estimate_text(float(tau), tau.low, tau.high, level=tau.level, decimals=2)}")
    ax.legend(fontsize="x-small", frameon=False)
    return ax


def plot_doubt_sources(found: "DoubtSources", *, ax: "Axes | None" = None) -> "Axes":
    """How an epistemic estimate follows seed, few data and bias, at each share of the training instances.

    Parameters
    ----------
    found : DoubtSources
    ax : matplotlib Axes, optional

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
    ax = axes_for(ax, (5.2, 3.4))
    ax.axhline(0, color=GREY, linewidth=0.8)
    places = {float(share): i for i, share in enumerate(found.shares)}
    for k, (source, label) in enumerate(SOURCES.items()):
        rows: list[Any] = [one for one in found.found if one.source == source and np.isfinite(float(one.correlation))]
        x = np.array([places[one.share] for one in rows], dtype=float) + 0.12 * (k - 1)
        y = np.array([float(one.correlation) for one in rows])
        ends = np.array([(one.correlation.low, one.correlation.high) for one in rows]).reshape(-1, 2)
        reach = np.abs(np.nan_to_num(ends - y[:, None])).T
        style: dict[str, Any] = {
            "color": PALETTE[k],
            "marker": "os^"[k],
            "markersize": 4,
            "linewidth": 1.2,
            "capsize": 2,
        }
        ax.errorbar(x, y, yerr=reach if y.size else None, label=label if y.size else f"{label}: {ABSENT}", **style)
    ax.set_xticks(range(len(found.shares)), [_share(share) for share in found.shares])
    ax.set_xlim(-0.5, len(found.shares) - 0.5)
    ax.set_ylim(-1.0, 1.0)
    ax.set_xlabel("share of the training instances")
    ax.set_ylabel("correlation with the source")
    headline(ax, "Sources of doubt that the estimate follows", found.notes[0].text)
    ax.legend(fontsize="small", frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    return ax


def _share(share: float) -> str:
    return percent(float(share), 0 if float(100 * share) % 1 < 1e-9 else 1)
