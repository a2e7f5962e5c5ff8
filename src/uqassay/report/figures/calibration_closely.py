"""One calibration test, closely: its null draws, the weights of the best mixture, and the diagrams before and after."""

from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.calibration_verdict import measure_label
from uqassay.report.figures.calibration_choice import instances_tested, named_run, one_test
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    headline,
    label_axes,
    room_for,
    text_size,
)
from uqassay.report.figures.style import GREY, Look, interval_level, looks, swatch
from uqassay.report.histograms import null_histogram
from uqassay.wording import count, counted, pvalue_text, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay
    from uqassay.metrics.calibration.reliability import Reliability

__all__ = ["plot_calibration_before_after", "plot_calibration_null", "plot_ensemble_weights"]

MANY_MEMBERS = 24  # more stand in the order of their weights


def plot_calibration_null(
    assay: "Assay",
    model: str | None = None,
    measure: str | None = None,
    *,
    run: int = 0,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Null draws of one calibration test, with the least value that was found and that of the model's mean.

    Parameters
    ----------
    assay : Assay
    model : str, optional
        By default the first that was tested.
    measure : str, optional
        By default the first.
    run : int
        0 for the first.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Draws that reach what was found have the model's colour; of a model with members, most others are upper bounds. The
        ticks at the bottom are single members.

    Raises
    ------
    InputError
        A test that is not there, or has no finite draws.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Members([[[0.9, 0.1], [0.4, 0.6]]] * 4)}, [0, 0, 1, 0])
    >>> ax = plot_calibration_null(a, ax=Figure().subplots())
    >>> int(sum(bar.get_height() for bar in ax.patches))
    15
    """
    t = one_test(assay, model, measure, run)
    bars = null_histogram(t.null, t.statistic)
    if not bars["counts"] or not np.isfinite(t.statistic):
        raise InputError(
            "model",
            "needs finite draws and a finite minimum",
            f"{t.model!r} has none by {t.measure} ({t.reason or 'infinite'})",
            "choose another measure",
            code="finite",
        )
    look = looks(assay)[t.model]
    left = bars["start"] + bars["width"] * np.arange(len(bars["counts"]))
    mixed, members = t.n_members > 1, np.asarray(t.member_values)[np.isfinite(t.member_values)]
    ends = min(left[0], t.statistic), max(left[-1] + bars["width"], t.statistic, t.mean_value)
    near = members[(members >= ends[0] - 0.1 * np.ptp(ends)) & (members <= ends[1] + 0.8 * np.ptp(ends))]
    beyond = f", {len(members) - len(near)} beyond the axis" if len(near) < len(members) else ""
    found = f"{'minimum' if mixed else 'found'} {significant(t.statistic)}"
    mean, single = f"model's mean {significant(t.mean_value)}", f"single members{beyond}"
    legend = [found, *([mean] if mixed else []), *([single] if members.size else [])]
    ax = axes_for(ax, width, 2.3, legend=legend)
    colours = [look.colour if start > t.statistic - bars["width"] / 2 else "0.75" for start in left]
    ax.bar(left, bars["counts"], bars["width"], align="edge", color=colours, edgecolor="white", linewidth=0.5)
    handles = [ax.axvline(t.statistic, color="black", linewidth=1.4, label=found)]
    if mixed:
        handles.append(ax.axvline(t.mean_value, color=GREY, linewidth=1.2, linestyle="--", label=mean))
    highest = max(bars["counts"])
    if members.size:
        ticks = np.full(len(near), -0.03 * highest)
        handles += ax.plot(near, ticks, "|", color=look.colour, markersize=6, label=single)
    ax.axhline(0.0, color="black", linewidth=0.6)
    ax.set_ylim(-0.06 * highest if members.size else 0.0, 1.08 * highest)
    label_axes(ax, measure_label(t.measure), "null draws")
    infinite = f"{counted(bars['infinite'], 'draw')} infinite, not drawn" if bars["infinite"] else ""
    test = f"{pvalue_text(t.pvalue)}, {count(t.n_draws)} draws"
    headline(ax, named_run(assay, t), instances_tested(t), test, infinite, taken=beside(ax, legend))
    draw_legend(ax, handles)
    return ax


def plot_ensemble_weights(
    assay: "Assay",
    model: str | None = None,
    measure: str | None = None,
    *,
    run: int = 0,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Weights of the mixture that one calibration measure likes best, against the same weight 1/M for all.

    Parameters
    ----------
    assay : Assay
    model : str, optional
        By default the first whose members were mixed.
    measure : str, optional
        By default the first.
    run : int
        0 for the first.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Up to 24 members in their order; more by their weights, the heaviest first.

    Raises
    ------
    InputError
        A test that is not there, or of a model whose mean was tested.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Members([[[0.9, 0.1], [0.4, 0.6]]] * 4)}, [0, 0, 1, 0])
    >>> ax = plot_ensemble_weights(a, ax=Figure().subplots())
    >>> round(float(sum(bar.get_height() for bar in ax.patches)), 6)
    1.0
    """
    t = one_test(assay, model, measure, run, mixed=True)
    look, weights = looks(assay)[t.model], np.asarray(t.weights)
    many = len(weights) > MANY_MEMBERS
    ax = axes_for(ax, width, 2.1)
    x = np.arange(1, len(weights) + 1)
    ax.bar(x, np.sort(weights)[::-1] if many else weights, 0.85 if many else 0.65, color=look.colour)
    ax.axhline(1 / len(weights), color="black", linewidth=1.0, linestyle="--")
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    ax.annotate("1/M", (1.0, 1 / len(weights)), (3, 0), **place, va="center", fontsize=text_size())
    ax.set_xlim(0.4, len(weights) + 0.6)
    if not many:
        ax.set_xticks(x[:: 1 + int(16 * len(x) / room_for(ax, width))])
    label_axes(ax, f"{t.noun}, the heaviest first" if many else t.noun, "weight in the mixture")
    label = measure_label(t.measure)
    least = f"least {label}: {significant(t.statistic)}, model's mean {significant(t.mean_value)}"
    headline(ax, named_run(assay, t), least)
    return ax


def plot_calibration_before_after(
    assay: "Assay",
    model: str | None = None,
    measure: str | None = None,
    *,
    run: int = 0,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Reliability diagrams of the model's mean and of the best mixture, with joint intervals.

    Parameters
    ----------
    assay : Assay
    model : str, optional
        By default the first whose members were mixed.
    measure : str, optional
        By default the first.
    run : int
        0 for the first.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        The area of a marker grows with the share of the instances in its bin.

    Raises
    ------
    InputError
        A test that is not there, or of a model whose mean was tested.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Notes
    -----
    The weights were fitted to the instances of the diagram, which flatters the mixture.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Members([[[0.9, 0.1], [0.4, 0.6]]] * 4)}, [0, 0, 1, 0])
    >>> ax = plot_calibration_before_after(a, ax=Figure().subplots())
    >>> [t.get_text().split(",")[0] for t in ax.get_legend().get_texts()]
    ["model's mean", 'best mixture']
    """
    t = one_test(assay, model, measure, run, mixed=True)
    look = looks(assay)[t.model]
    accuracies = significant(t.accuracy_mean), significant(t.accuracy_weighted)
    labels = [f"{name}, accuracy {a}" for name, a in zip(("model's mean", "best mixture"), accuracies, strict=True)]
    ax = axes_for(ax, width, 2.8, legend=labels)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    handles = []
    sides = ((t.before, Look(GREY, "s", ":", ""), -0.006), (t.after, look, 0.006))
    for label, (bins, own, shift) in zip(labels, sides, strict=True):
        assert bins is not None  # as weights are defined
        _draw_bins(ax, bins, own, shift)
        handles.append(swatch(own, label))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label_axes(ax, "confidence", "accuracy")
    best = f"mixture of least {measure_label(t.measure)}"
    parts = named_run(assay, t), instances_tested(t), f"{interval_level(assay)} bands", best
    headline(ax, *parts, taken=beside(ax, labels))
    draw_legend(ax, handles)
    return ax


def _draw_bins(ax: Any, bins: "Reliability", look: Look, shift: float) -> None:
    filled = bins.count > 0
    x, y = bins.confidence[filled] + shift, bins.accuracy[filled]
    ax.vlines(x, bins.band_low[filled], bins.band_high[filled], color=look.colour, linewidth=1.2, alpha=0.7)
    ax.plot(x, y, color=look.colour, linewidth=1.0, linestyle=look.line)
    share = bins.count[filled] / bins.count.sum()
    style = {"color": look.colour, "marker": look.marker, "edgecolor": "white", "linewidth": 0.5, "zorder": 3}
    ax.scatter(x, y, s=14 + 90 * share, **style)
