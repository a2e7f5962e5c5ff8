"""Along λ: mean E of every model with its interval, who has the lowest, and how sure that is."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    headline,
    label_axes,
    legend_names,
    points_of,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.figures.style import (
    BANDED,
    Look,
    interval_level,
    looks,
    loss_label,
    matplotlib_module,
    plain,
    resampled_units,
    swatch,
    tradeoff_grid,
    window,
)
from uqassay.wording import count, counted, percent, significant, tradeoff

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay

__all__ = ["plot_tradeoff", "plot_win_shares"]

Array = NDArray[np.float64]
STRIP = 11.0  # points of the strip above the axes
SEEN = 0.005  # a share of resamples below this is no area that an eye can see


def plot_tradeoff(
    assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Mean E of every model against λ with its interval, the baselines, and a strip of who has the lowest.

    Parameters
    ----------
    assay : Assay
    tradeoffs : array (T,), optional
        The λ drawn, at least two; by default from 0 to the largest λ of the assay, and past the last change of the
        winner where that is near.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Lines are the models in order, then the baselines (dashed, grey); markers stand at the λ of the findings, bands (of at
        most ten models) are the intervals of `Assay.ranked`. Dotted lines and the numbers above the strip are the exact
        breakpoints. The axis is cut to the models: the legend says where a baseline lies above it.

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
    said = [_beyond(mean[:, j], top, m.baseline) for j, m in enumerate(assay.models)]
    labels = legend_names([m.name for m in assay.models], room_for(ax, width), said)
    ax = axes_for(ax, width, 2.9, legend=labels)
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
            linewidth=1.4 if j < n else 1.0,
            label=label,
        )
        if j < n <= BANDED:
            ax.fill_between(grid, low[:, j], high[:, j], color=look.colour, alpha=0.15, linewidth=0)
        handles.append(swatch(look, label))
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(bottom, top)
    label_axes(ax, "trade-off λ", f"mean {loss_label(assay)}")
    taken = beside(ax, labels)
    changes = _winner_strip(ax, assay, grid[0], grid[-1], points_of(ax) - taken)
    headline(
        ax,
        resampled_units(assay),
        f"bands: {interval_level(assay)} intervals" if n <= BANDED else "",
        "strip: lowest mean E",
        pad=STRIP + 8 + (text_size() + 3 if changes else 0),
        taken=taken,
    )
    draw_legend(ax, handles)
    return ax


def _beyond(mean: Array, top: float, baseline: bool) -> str:
    """How far a line lies above the axes, as its entry of the legend says it."""
    if not np.isfinite(mean).all():
        return " (E = ∞)"
    return f" (above: {significant(float(mean.min()))})" if baseline and mean.min() > top else ""


def plot_win_shares(
    assay: "Assay", *, tradeoffs: ArrayLike | None = None, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """How sure the choice is: each model's share of the resamples that it wins, stacked, against λ.

    Parameters
    ----------
    assay : Assay
    tradeoffs, ax, width
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
    shown = [name for name, any_share in zip(assay.model_names, seen.tolist(), strict=True) if any_share]
    labels = legend_names(shown, room_for(ax, width))
    label_of, entries = dict(zip(shown, labels, strict=True)), [*labels, rest][: len(labels) + (unseen > 0)]
    ax = axes_for(ax, width, 2.6, legend=entries)
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
            label=label_of.get(name, "_"),
        )
        if seen[j]:
            handles.append(area)
    for low, _, _ in assay.winners():
        if grid[0] < low < grid[-1]:
            ax.axvline(low, color="white", linewidth=1.4)
            ax.axvline(low, color="black", linewidth=0.9, linestyle=":")
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(0.0, 1.0)
    label_axes(ax, "trade-off λ", "share of resamples")
    runs = " and training runs" if any(m.n_runs > 1 for m in assay.candidates) else ""
    title = f"share of {count(assay.settings.n_draws)} resamples of {resampled_units(assay)}{runs}"
    headline(ax, title, taken=beside(ax, entries))
    draw_legend(ax, handles[::-1])  # from above, as the areas lie
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


def _winner_strip(ax: Any, assay: "Assay", left: float, right: float, points: float) -> int:
    """Strip above the axes with the lowest mean E on each interval of λ; the number of breakpoints shown."""
    transforms, rectangle = matplotlib_module("transforms"), matplotlib_module("patches").Rectangle
    top = transforms.ScaledTranslation(0.0, 1.0, ax.transAxes)  # from here upwards in points
    upwards = transforms.Affine2D().scale(1 / 72) + ax.figure.dpi_scale_trans + top
    across = transforms.blended_transform_factory(ax.transData, upwards)
    style: dict[str, Any] = {"transform": across, "ha": "center", "fontsize": text_size()}
    changes, written = 0, -np.inf
    for low, high, names in assay.winners():
        start, end = max(low, left), min(high, right)
        if start >= end:
            continue
        look, middle = looks(assay)[names[0]], (start + end) / 2
        face = {"facecolor": look.colour, "edgecolor": "white", "clip_on": False}
        ax.add_patch(rectangle((start, 3), end - start, STRIP, transform=across, **face))
        text = plain(" = ".join(names))
        if text_width([text]) < (end - start) / (right - left) * points - 4:
            ax.text(middle, 3 + STRIP / 2, text, va="center_baseline", color=_ink(look), **style)
        if low > left:
            changes += 1
            ax.axvline(low, color="0.35", linewidth=0.9, linestyle=":", zorder=1)
            place = (low - left) / (right - left) * points
            if place - written > text_width([tradeoff(low)]) + 6:
                ax.text(low, STRIP + 5, tradeoff(low), va="bottom", **style)
                written = place
    return changes


def _ink(look: Look) -> str:
    red, green, blue = (int(look.colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
