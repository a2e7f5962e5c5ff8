"""Along λ: mean E of every model with its interval, who has the lowest, and how sure that is."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.report.figures.style import (
    Look,
    axes_for,
    count,
    draw_legend,
    finite_winners,
    headline,
    level_text,
    looks,
    loss_label,
    matplotlib_module,
    number,
    plain,
    resampled_units,
    swatch,
    tradeoff_grid,
    window,
)
from uqassay.statistics import mean_estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.assay.result import Assay

__all__ = ["plot_tradeoff", "plot_winning_probability"]

Array = NDArray[np.float64]
SEEN = 0.005  # a winning probability below this is no area that an eye can see


def plot_tradeoff(assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None) -> "Axes":
    """Mean E of every model against λ with its interval, the baselines, and a strip of who has the lowest.

    Parameters
    ----------
    assay : Assay
    tradeoffs : array (T,), optional
        The λ drawn, at least two; by default from 0 to the largest λ of the assay, and past the last change of the
        winner where that is near.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Lines are the models in order, then the baselines (dashed, grey); markers stand at the λ of the findings, bands
        are the intervals of `Assay.ranked`. Dotted lines and the numbers above the strip are the exact breakpoints. The
        axis is cut to the models: the legend says where a baseline lies above it.

    Raises
    ------
    InputError
        λ that are negative, not finite, or fewer than two.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
    grid = tradeoff_grid(assay, tradeoffs, 21)
    mean, low, high = _bands(assay, grid)  # (T, J) each
    ax = axes_for(ax, (6.4, 4.2))
    n = len(assay.candidates)
    bottom, top = window(np.concatenate([a[:, :n].ravel() for a in (mean, low, high)]), from_zero=True)
    marked = np.flatnonzero(np.isin(grid, assay.tradeoffs))
    if len(marked) > 12:
        marked = marked[:: len(marked) // 10]
    handles = []
    for j, (name, look) in enumerate(looks(assay).items()):
        label, baseline = plain(name), j >= n
        if not np.isfinite(mean[:, j]).all():
            label += " (E = ∞)"
        elif baseline and mean[:, j].min() > top:
            label += f" ({number(mean[:, j].min())} or more, above)"
        ax.plot(
            grid,
            mean[:, j],
            color=look.colour,
            linestyle=look.line,
            marker="" if baseline else look.marker,
            markevery=marked.tolist(),
            markersize=4,
            linewidth=1.2 if baseline else 1.6,
            label=label,
        )
        if not baseline:
            ax.fill_between(grid, low[:, j], high[:, j], color=look.colour, alpha=0.18, linewidth=0)
        handles.append(swatch(look._replace(marker="" if baseline else look.marker), label))
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(bottom, top)
    ax.set_xlabel("trade-off λ")
    ax.set_ylabel(f"mean {loss_label(assay)}")
    changes = _winner_strip(ax, assay, grid[0], grid[-1])
    headline(
        ax,
        f"{resampled_units(assay)}; bands: {level_text(assay)} intervals; strip: lowest mean E",
        pad=30 if changes else 19,
    )
    draw_legend(ax, handles)
    return ax


def plot_winning_probability(assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None) -> "Axes":
    """How sure the choice is: each model's share of the paired bootstrap draws that it wins, stacked, against λ.

    Parameters
    ----------
    assay : Assay
    tradeoffs, ax
        As in `plot_tradeoff`.

    Returns
    -------
    Axes
        One area per model, in order from below; dotted lines are the breakpoints of the means. Models whose share is
        nowhere visible (below 0.5 %) share one legend entry.

    Raises
    ------
    InputError, MissingDependencyError
        As in `plot_tradeoff`.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"a": uq.Point([[0.9, 0.1]] * 9), "b": uq.Point([[0.6, 0.4]] * 9)}, [0] * 9)
    >>> plot_winning_probability(a, ax=Figure().subplots()).get_ylabel()
    'winning probability'
    """
    grid = tradeoff_grid(assay, tradeoffs, 201)
    shares = assay.winning_probabilities(grid)  # (T, J)
    above = np.cumsum(shares, axis=1)
    ax = axes_for(ax, (6.4, 3.6))
    handles, unseen = [], 0
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
            label=plain(name),
        )
        if shares[:, j].max() >= SEEN:
            handles.append(area)
        else:
            unseen += 1
    if unseen:
        label = f"{unseen} other{'s' if unseen > 1 else ''}: below {100 * SEEN:g} % everywhere"
        handles.insert(0, matplotlib_module("lines").Line2D([], [], linestyle="none", label=label))
    for low, _, _ in finite_winners(assay):
        if grid[0] < low < grid[-1]:
            ax.axvline(low, color="white", linewidth=1.4)
            ax.axvline(low, color="black", linewidth=0.9, linestyle=":")
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(0.0, 1.0)
    ax.set_xlabel("trade-off λ")
    ax.set_ylabel("winning probability")
    runs = " and training runs" if any(m.n_runs > 1 for m in assay.candidates) else ""
    headline(ax, f"share of {count(assay.settings.n_draws)} bootstrap draws of {resampled_units(assay)}{runs}")
    draw_legend(ax, handles[::-1], outside=True)  # from above, as the areas lie
    return ax


def _bands(assay: "Assay", grid: Array) -> tuple[Array, Array, Array]:
    """Mean E, low and high of every model and baseline at every λ, (T, J) each: the numbers of `Assay.ranked`.

    The variance of a mean of d + λ NS is quadratic in λ. So is the squared half width where the degrees of freedom are
    n − 1 whatever λ: with one run and no groups three λ give it for all.
    """
    options: dict[str, Any] = {"groups": assay.groups, "level": assay.settings.level}
    top = grid[-1]
    mean, half = np.empty((len(grid), len(assay.models))), np.empty((len(grid), len(assay.models)))
    for j, model in enumerate(assay.models):
        plain_case = assay.groups is None and model.n_runs == 1
        nodes = np.array([0.0, 0.5 * top, top]) if plain_case else grid
        found = [assay._widened(mean_estimate(assay.loss(model.name, t), **options), model, t) for t in nodes.tolist()]
        value = np.array([float(e) for e in found])
        width = np.array([(e.high - e.low) / 2 for e in found])
        if plain_case:
            at = grid / top
            a, b, c = width**2
            half[:, j] = np.sqrt(np.maximum(a + at * (4 * b - 3 * a - c) + at**2 * (2 * a - 4 * b + 2 * c), 0.0))
            mean[:, j] = value[0] + (at * (value[2] - value[0]) if np.isfinite(value[0]) else 0.0)
        else:
            mean[:, j], half[:, j] = value, width
    return mean, mean - half, mean + half


def _winner_strip(ax: Any, assay: "Assay", left: float, right: float) -> int:
    """Strip above the axes with the lowest mean E on each interval of λ; the number of breakpoints shown."""
    rectangle = matplotlib_module("patches").Rectangle
    across = ax.get_xaxis_transform()  # x in data, y in axes
    changes, written = 0, -np.inf
    for low, high, names in finite_winners(assay):
        start, end = max(low, left), min(high, right)
        if start >= end:
            continue
        look = looks(assay)[names[0]]
        ax.add_patch(
            rectangle(
                (start, 1.015),
                end - start,
                0.05,
                transform=across,
                facecolor=look.colour,
                edgecolor="white",
                clip_on=False,
            )
        )
        share, text = (end - start) / (right - left), plain(" = ".join(names))
        if 0.017 * len(text) < share:  # about the width of a small letter
            ax.text(
                (start + end) / 2,
                1.039,
                text,
                transform=across,
                ha="center",
                va="center",
                fontsize="x-small",
                color=_ink(look),
            )
        if low > left:
            changes += 1
            ax.axvline(low, color="0.35", linewidth=0.9, linestyle=":", zorder=1)
            if (low - written) / (right - left) > 0.06:
                ax.text(low, 1.075, number(low), transform=across, ha="center", va="bottom", fontsize="x-small")
                written = low
    return changes


def _ink(look: Look) -> str:
    red, green, blue = (int(look.colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
