"""Why a model wins at one λ: mean distance against mean non-specificity."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.report.distributions import mean_regions
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    headline,
    label_axes,
    legend_names,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.figures.style import (
    GREY,
    at_tradeoff,
    interval_level,
    looks,
    matplotlib_module,
    plain,
    quantity_label,
    resampled_units,
    swatch,
    window,
)
from uqassay.wording import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay

__all__ = ["cut_outline", "plot_distance_nonspecificity", "possible_means"]

Array = NDArray[np.float64]
GREATEST = {
    "js": np.log(2),
    "js_distance": np.sqrt(np.log(2)),
    "tv": 1.0,
    "hellinger": 1.0,
}  # distances; others are unbounded
LEAST = {"korner": 1.0}  # non-specificities; others begin at 0


def plot_distance_nonspecificity(
    assay: "Assay", tradeoff: float = DEFAULT_TRADEOFF, *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Why a model wins: mean distance against mean non-specificity with confidence ellipses, and lines of equal E.

    Parameters
    ----------
    assay : Assay
    tradeoff : float
        λ, the slope of the lines of equal E.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One point per model at (mean NS, mean d) with the joint confidence region of the two; the line through the best
        model is dashed. A region is the part of an ellipse where both means are possible (no distance below 0, no
        non-specificity beyond its greatest value): it covers the true means, which are possible, as often as the ellipse.
        Models and baselines outside the axes, which are cut to the finite models, are named in the title.

    Raises
    ------
    InputError
        λ negative or not finite.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"a": uq.Intervals([[0.7, 0.1]] * 9, [[0.9, 0.3]] * 9)}, [0] * 9)
    >>> ax = plot_distance_nonspecificity(a, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('mean non-specificity (nats)', 'mean KL divergence (nats)')
    """
    check_tradeoff(tradeoff)
    regions = [r for r in mean_regions(assay)["all"] if r is not None]
    ends = possible_means(assay)
    drawn: dict[str, tuple[Array, Array]] = {r["model"]: _region_outline(r, ends) for r in regions}
    totals = [float(drawn[m.name][0] @ (tradeoff, 1.0)) for m in assay.models]
    names = [m.name for m in assay.models]
    labels = legend_names(names, room_for(ax, width), [f"  E = {significant(e)}" for e in totals])
    ax = axes_for(ax, width, 2.9, legend=labels)
    inside = [np.concatenate([np.c_[centre], outline], axis=1) for centre, outline in drawn.values()]
    chosen = np.concatenate(inside[: len(assay.candidates)], axis=1)
    (left, right), (bottom, top) = (window(c, from_zero=False) for c in chosen)
    left = left - 0.05 * (right - left) if left == 0.0 else left  # points at NS = 0 off the frame
    _equal_lines(ax, tradeoff, (left, right), (bottom, top), min(totals[: len(assay.candidates)]))
    handles, outside = [], []
    for label, (name, look) in zip(labels, looks(assay).items(), strict=True):
        (x, y), outline = drawn[name]
        if left <= x <= right and bottom <= y <= top:
            ax.fill(*outline, facecolor=(look.colour, 0.25), edgecolor=look.colour, linewidth=1.2)
            ax.plot([x], [y], color=look.colour, marker=look.marker, markersize=6, linestyle="none", zorder=3)
            handles.append(swatch(look, label, line=False))
        else:
            outside.append(f"{plain(name)} ({significant(x)}, {significant(y)})")
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    label_axes(ax, f"mean {quantity_label(assay, 'nonspecificity')}", f"mean {quantity_label(assay, 'distance')}")
    headline(
        ax,
        resampled_units(assay),
        f"{interval_level(assay)} regions",
        f"grey: equal E at {at_tradeoff(tradeoff)}",
        f"outside, (NS, d): {', '.join(outside)}" if outside else "",
        pad=13,
        taken=beside(ax, labels),
    )
    draw_legend(ax, handles, apart=10 + text_width(["0.0000"]))
    return ax


def _region_outline(region: dict[str, Any], ends: Array) -> tuple[Array, Array]:
    """Centre (2,) and outline (2, V) of the joint confidence region of (mean NS, mean d), within `ends` (2, 2)."""
    centre = np.array([region["nonspecificity"][0], region["distance"][0]])
    h_d, h_ns = region["half_widths"]
    if not (np.isfinite(h_d) and np.isfinite(h_ns)):
        return centre, np.full((2, 73), np.nan)
    scales, axes = np.linalg.eigh([[h_ns**2, region["covariance"]], [region["covariance"], h_d**2]])
    turn = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    outline = centre[:, None] + axes @ (np.sqrt(np.maximum(scales, 0.0))[:, None] * circle)
    for axis, (low, high) in enumerate(ends):
        outline = cut_outline(cut_outline(outline, axis, float(low), 1.0), axis, float(high), -1.0)
    return centre, outline


def possible_means(assay: "Assay") -> Array:
    """Ends between which the means of non-specificity and of distance must lie, (2, 2)."""
    settings, vacuous = assay.settings, [m for m in assay.models if m.baseline and m.name == "vacuous"]
    highest = max((float(m.columns["nonspecificity"].max()) for m in vacuous), default=np.inf)
    return np.array(
        [[LEAST.get(settings.nonspecificity, 0.0), highest], [0.0, GREATEST.get(settings.distance, np.inf)]]
    )


def cut_outline(outline: Array, axis: int, end: float, sign: float) -> Array:
    """Part of a polygon (2, V) on one side of a line: where `axis` is at least (`sign` 1) or at most (−1) `end`."""
    with np.errstate(invalid="ignore"):
        inside = sign * (outline[axis] - end) >= -1e-12
    if not np.isfinite(end) or inside.all():
        return outline
    kept = []
    for i in range(outline.shape[1]):
        before, here = outline[:, i - 1], outline[:, i]
        if inside[i - 1] != inside[i]:
            kept.append(before + (end - before[axis]) / (here[axis] - before[axis]) * (here - before))
        if inside[i]:
            kept.append(here)
    return np.array(kept).T


def _equal_lines(ax: Any, tradeoff: float, x: tuple[float, float], y: tuple[float, float], best: float) -> None:
    """Lines d = E − λ NS at round values of E, and the one through the best model."""
    low, high = y[0] + tradeoff * x[0], y[1] + tradeoff * x[1]
    ends = np.array(x)
    style = {"textcoords": "offset points", "fontsize": text_size(), "color": GREY, "annotation_clip": False}
    for e in matplotlib_module("ticker").MaxNLocator(6).tick_values(low, high).tolist():
        ax.plot(ends, e - tradeoff * ends, color="0.82", linewidth=0.8, zorder=0)
        at_right = e - tradeoff * x[1]
        if y[0] <= at_right <= y[1]:
            ax.annotate(f"{e:.4g}", (x[1], at_right), (3, 0), **style, ha="left", va="center")
        elif tradeoff > 0 and x[0] <= (e - y[1]) / tradeoff <= x[1] - 0.05 * (x[1] - x[0]):
            ax.annotate(f"{e:.4g}", ((e - y[1]) / tradeoff, y[1]), (0, 3), **style, ha="center", va="bottom")
    if np.isfinite(best):
        ax.plot(ends, best - tradeoff * ends, color=GREY, linewidth=1.0, linestyle="--", zorder=1)
