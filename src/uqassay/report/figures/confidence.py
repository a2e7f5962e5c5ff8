"""Against confidence: accuracy, non-specificity and entropy; and non-specificity against the sets' width."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.report.distributions import confidence_lines
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
)
from uqassay.report.figures.style import (
    interval_level,
    looks,
    matplotlib_module,
    named_model,
    plain,
    quantity_label,
    resampled_units,
    swatch,
)
from uqassay.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores
    from uqassay.metrics.calibration.reliability import Reliability

__all__ = ["plot_confidence", "plot_reliability", "plot_width_nonspecificity"]

Array = NDArray[np.float64]
CELLS = 50  # of a heat map in each direction
BARRED = 92.0  # points that the y axis and a bar of colours take


def plot_reliability(
    assay: "Assay",
    models: Sequence[str] | None = None,
    *,
    n_bins: int = 10,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Accuracy against confidence in equal-width bins, with joint intervals; the diagonal is perfect calibration.

    Parameters
    ----------
    assay : Assay
    models : sequence of str, optional
        All models by default.
    n_bins : int
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        The intervals hold in all bins of a model together. The area of a marker grows with the share of the instances in
        its bin; for a single model the number of instances stands next to it.

    Raises
    ------
    InputError
        Unknown models or baselines, or no bin.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.7, 0.3]])}, [0, 1])
    >>> ax = plot_reliability(a, ax=Figure().subplots())
    >>> [t.get_text() for t in ax.texts]
    ['1', '1']
    """
    names = list(assay.model_names if models is None else models)
    if not names:
        raise InputError("models", "needs at least one model", "got none", "leave it out for all", code="empty")
    bins = {name: assay.reliability(named_model(assay, name).name, n_bins=n_bins) for name in names}
    labels = legend_names(names, room_for(ax, width))
    ax = axes_for(ax, width, 2.8, legend=labels)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    handles = []
    for name, label in zip(names, labels, strict=True):
        look, b = looks(assay)[name], bins[name]
        filled = b.count > 0
        x, y = b.confidence[filled], b.accuracy[filled]
        ax.vlines(x, b.band_low[filled], b.band_high[filled], color=look.colour, linewidth=1.2, alpha=0.7)
        ax.plot(x, y, color=look.colour, linewidth=1.0, linestyle=look.line)
        share = b.count[filled] / b.count.sum()
        ax.scatter(
            x, y, s=14 + 90 * share, color=look.colour, marker=look.marker, edgecolor="white", linewidth=0.5, zorder=3
        )
        if len(names) == 1:
            _write_counts(ax, b)
        handles.append(swatch(look, label))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label_axes(ax, "confidence", "accuracy")
    size = "numbers: instances" if len(names) == 1 else "marker area: share of instances"
    headline(ax, resampled_units(assay), f"{interval_level(assay)} bands", size, taken=beside(ax, labels))
    draw_legend(ax, handles)
    return ax


def _write_counts(ax: Any, bins: "Reliability") -> None:
    """Number of instances under each interval, or above it where the axis ends."""
    for x, low, high, n in zip(bins.confidence, bins.band_low, bins.band_high, bins.count.tolist(), strict=True):
        if n:
            above = low < 0.07
            ax.annotate(
                count(n),
                (x, high if above else low),
                (0, 4 if above else -6),
                textcoords="offset points",
                ha="right" if x > 0.93 else "center",
                va="bottom" if above else "top",
                fontsize=text_size(),
            )


def plot_width_nonspecificity(assay: "Assay", model: str, *, ax: "Axes | None" = None, width: Width = "text") -> "Axes":
    """How non-specificity follows the width of the credal sets: heat map of one model's instances, log counts.

    Parameters
    ----------
    assay : Assay
        With "credal-width" among its measures, as by default.
    model : str
    ax : matplotlib Axes, optional
        The colour bar becomes an inset of it and takes no room from other axes.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        All instances and runs.

    Raises
    ------
    InputError
        An unknown model or a baseline, or widths that were not computed.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figure 18.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Intervals([[0.5, 0.1], [0.3, 0.6]], [[0.9, 0.5], [0.4, 0.7]])}, [0, 1])
    >>> plot_width_nonspecificity(a, "m", ax=Figure().subplots()).get_xlabel()
    'credal width, mean over classes'
    """
    scores = named_model(assay, model)
    x, y = _column(assay, scores, "credal-width"), _column(assay, scores, "nonspecificity")
    ax = axes_for(ax, width, 2.6)
    _heat_map(ax, x, y, x_end=float(x.max(initial=0.0)))
    label_axes(ax, quantity_label(assay, "credal-width"), quantity_label(assay, "nonspecificity"), taken=BARRED)
    headline(ax, plain(model), _counted(assay, scores), taken=BARRED)
    return ax


def plot_confidence(
    assay: "Assay",
    model: str,
    quantity: str = "nonspecificity",
    *,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Whether an uncertainty says more than confidence does: heat map of one model's instances, and the mean per bin.

    Parameters
    ----------
    assay : Assay
    model : str
    quantity : str
        "nonspecificity", or one of the assay's measures such as "total-entropy".
    ax, width
        As in `plot_width_nonspecificity`.

    Returns
    -------
    Axes
        All instances and runs; the line is the mean in ten equal-width bins of confidence.

    Raises
    ------
    InputError
        An unknown model or a baseline, or a measure that was not computed or has no meaning for this kind.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figure 17.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Intervals([[0.5, 0.1], [0.3, 0.6]], [[0.9, 0.5], [0.4, 0.7]])}, [0, 1])
    >>> plot_confidence(a, "m", "total-entropy", ax=Figure().subplots()).get_ylabel()
    'total entropy (nats)'
    """
    scores = named_model(assay, model)
    y, confidence = _column(assay, scores, quantity), scores.columns["confidence"].ravel()
    ax = axes_for(ax, width, 2.6)
    _heat_map(ax, confidence, y, x_end=1.0)
    look = looks(assay)[model]
    line = confidence_lines(assay, (quantity,))[quantity][assay.model_names.index(model)]
    ax.plot(line["confidence"], line["mean"], color="white", linewidth=3.2)
    ax.plot(line["confidence"], line["mean"], color=look.colour, marker=look.marker, markersize=4, linewidth=1.4)
    label_axes(ax, "confidence in the predicted class", quantity_label(assay, quantity), taken=BARRED)
    headline(ax, plain(model), _counted(assay, scores), "line: mean per bin", taken=BARRED)
    return ax


def _column(assay: "Assay", scores: "ModelScores", name: str) -> Array:
    """All runs and instances of one column, ``(R · n,)``."""
    if name != "nonspecificity" and name not in assay.settings.measures:
        known = ", ".join(("nonspecificity", *assay.settings.measures))
        raise InputError(
            "measures",
            f"{name!r} was not computed, only {known}",
            "",
            f"pass measures=[{name!r}, …] to assay",
            code="undefined",
        )
    values = scores.columns[name].ravel()
    if not np.isfinite(values).any():
        raise InputError(
            "measures",
            f"{name} of {scores.name!r} is nowhere finite ({scores.kind})",
            "",
            "choose another one",
            code="finite",
        )
    return values


def _counted(assay: "Assay", scores: "ModelScores") -> str:
    return resampled_units(assay) + (f", {scores.n_runs} runs" if scores.n_runs > 1 else "")


def _heat_map(ax: Any, x: Array, y: Array, *, x_end: float) -> None:
    """Counts per cell from 0 to the greatest values, with a colour bar next to the axes."""
    kept = np.isfinite(x) & np.isfinite(y)
    x, y = x[kept], y[kept]
    ends = [x_end if x_end > 0 else 1.0, float(y.max(initial=0.0)) or 1.0]
    counts, x_edges, y_edges = np.histogram2d(
        x, y, bins=CELLS, range=[[min(0.0, x.min()), ends[0]], [min(0.0, y.min()), ends[1]]]
    )
    colors = matplotlib_module("colors")
    greys = colors.LinearSegmentedColormap.from_list("instances", ["0.85", "0.1"])  # the models have the hues
    mesh = ax.pcolormesh(
        x_edges,
        y_edges,
        np.ma.masked_equal(counts.T, 0),
        norm=colors.LogNorm(1, max(counts.max(), 10)),
        cmap=greys,
        rasterized=True,
    )
    bar = ax.figure.colorbar(mesh, cax=ax.inset_axes([1.03, 0.0, 0.035, 1.0]))
    bar.set_label("instances", size=text_size())
    bar.ax.tick_params(labelsize=text_size())
    ax.set_xlim(x_edges[0] - 0.01 * ends[0], 1.02 * ends[0])
    ax.set_ylim(y_edges[0] - 0.01 * ends[1], 1.03 * ends[1])
    left_out = len(kept) - int(kept.sum())
    if left_out:
        ax.text(
            0.98,
            0.98,
            f"{count(left_out)} not finite, left out",
            transform=ax.transAxes,
            ha="right",
            va="top",
            fontsize=text_size(),
        )
