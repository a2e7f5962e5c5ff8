"""Along λ: mean E of every model with its interval, who has the lowest, and how sure that is."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.report.figures.style import (
    Look,
    axes_for,
    axes_points,
    draw_legend,
    headline,
    interval_level,
    looks,
    loss_label,
    matplotlib_module,
    plain,
    resampled_units,
    swatch,
    text_width,
    tradeoff_grid,
    window,
)
from uqassay.wording import count, counted, percent, significant, tradeoff

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay

__all__ = ["plot_tradeoff", "plot_win_shares"]

Array = NDArray[np.float64]
SEEN = 0.005  # a share of resamples below this is no area that an eye can see


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
    grid = tradeoff_grid(assay, tradeoffs, 11)  # lines are straight, and their bands nearly
    mean, low, high = _bands(assay, grid)  # (T, J) each
    n = len(assay.candidates)
    bottom, top = window(np.concatenate([a[:, :n].ravel() for a in (mean, low, high)]), from_zero=True)
    labels = [_line_label(m.name, mean[:, j], top, m.baseline) for j, m in enumerate(assay.models)]
    ax = axes_for(ax, (5.6, 4.0), names=labels)
    marked = np.flatnonzero(np.isin(grid, assay.tradeoffs))
    marked = marked[:: 1 + len(marked) // 12]
    handles = []
    for j, (look, label) in enumerate(zip(looks(assay).values(), labels, strict=True)):
        if j >= n:
            look = look._replace(marker="")
        ax.plot(
            grid,
            mean[:, j],
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markevery=marked.tolist(),
            markersize=4,
            linewidth=1.6 if j < n else 1.2,
            label=label,
        )
        if j < n:
            ax.fill_between(grid, low[:, j], high[:, j], color=look.colour, alpha=0.18, linewidth=0)
        handles.append(swatch(look, label))
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(bottom, top)
    ax.set_xlabel("trade-off λ")
    ax.set_ylabel(f"mean {loss_label(assay)}")
    changes = _winner_strip(ax, assay, grid[0], grid[-1])
    headline(
        ax,
        resampled_units(assay),
        f"bands: {interval_level(assay)} intervals",
        "strip: lowest mean E",
        pad=30 if changes else 19,
    )
    draw_legend(ax, handles, "right")
    return ax


def _line_label(name: str, mean: Array, top: float, baseline: bool) -> str:
    if not np.isfinite(mean).all():
        return f"{plain(name)} (E = ∞)"
    if baseline and mean.min() > top:
        return f"{plain(name)} (above: {significant(float(mean.min()))})"
    return plain(name)


def plot_win_shares(assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None) -> "Axes":
    """How sure the choice is: each model's share of the resamples that it wins, stacked, against λ.

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
    >>> plot_win_shares(a, ax=Figure().subplots()).get_ylabel()
    'share of resamples'
    """
    grid = tradeoff_grid(assay, tradeoffs, 201)
    shares = assay.win_shares(grid)  # (T, J)
    above = np.cumsum(shares, axis=1)
    seen = shares.max(axis=0) >= SEEN  # (J,)
    unseen = int((~seen).sum())
    rest = f"{counted(unseen, 'other')}: below {percent(SEEN)}"
    ax = axes_for(ax, (5.2, 3.6), names=[plain(name) for name in assay.model_names] + [rest])
    handles = [matplotlib_module("lines").Line2D([], [], linestyle="none", label=rest)] if unseen else []
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
        if seen[j]:
            handles.append(area)
    for low, _, _ in assay.winners():
        if grid[0] < low < grid[-1]:
            ax.axvline(low, color="white", linewidth=1.4)
            ax.axvline(low, color="black", linewidth=0.9, linestyle=":")
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(0.0, 1.0)
    ax.set_xlabel("trade-off λ")
    ax.set_ylabel("share of resamples")
    runs = " and training runs" if any(m.n_runs > 1 for m in assay.candidates) else ""
    headline(ax, f"share of {count(assay.settings.n_draws)} resamples of {resampled_units(assay)}{runs}")
    draw_legend(ax, handles[::-1], "right")  # from above, as the areas lie
    return ax


def _bands(assay: "Assay", grid: Array) -> tuple[Array, Array, Array]:
    """Mean E, low and high of every model and baseline at every λ, (T, J) each: those of `Assay.ranked`."""
    names = [m.name for m in assay.models]
    ranked = [{r.model: r.estimate for r in assay.ranked(t)} for t in grid.tolist()]
    mean, low, high = (
        np.array([[value(found[name]) for name in names] for found in ranked])
        for value in (float, lambda e: e.low, lambda e: e.high)
    )
    return mean, low, high


def _winner_strip(ax: Any, assay: "Assay", left: float, right: float) -> int:
    """Strip above the axes with the lowest mean E on each interval of λ; the number of breakpoints shown."""
    rectangle = matplotlib_module("patches").Rectangle
    across = ax.get_xaxis_transform()  # x in data, y in axes
    changes, written = 0, -np.inf
    for low, high, names in assay.winners():
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
        text = plain(" = ".join(names))
        if text_width([text], "x-small") < (end - start) / (right - left) * axes_points(ax):
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
                ax.text(low, 1.075, tradeoff(low), transform=across, ha="center", va="bottom", fontsize="x-small")
                written = low
    return changes


def _ink(look: Look) -> str:
    red, green, blue = (int(look.colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
