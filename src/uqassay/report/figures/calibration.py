"""Can it be calibrated: the calibration tests of all models by one measure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.calibration_result import adjusted_pvalues
from uqassay.evidence.calibration_verdict import measure_label
from uqassay.report.figures.calibration_choice import all_tests, instances_tested, run_of
from uqassay.report.figures.columns import columns_width, fitting_columns, write_columns
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    fitting,
    headline,
    label_axes,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.figures.style import GREY, Look, looks, matplotlib_module
from uqassay.wording import pvalue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.calibration_result import ModelCalibration
    from uqassay.evidence.result import Assay

__all__ = ["plot_calibration_tests"]

NULL = 0.95  # share of the null draws that a grey bar spans


def plot_calibration_tests(
    assay: "Assay",
    measure: str | None = None,
    *,
    models: Sequence[str] | None = None,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Statistic of every model by one calibration measure, against its null distribution.

    Parameters
    ----------
    assay : Assay
    measure : str, optional
        One of those tested; by default the first.
    models : sequence of str, optional
        By default all that were tested.
    ax : matplotlib Axes, optional
        Where to draw; the p-values stand to the right of it.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One row per model and run. The grey bar reaches from the least null draw to their 95 % quantile (of a model with
        members, draws below the marker are upper bounds), the marker is the least value over all mixtures of the members (of a
        model without members, its own), the hollow one the model's mean, the ticks are single members. p is adjusted by Holm
        for all tests of the assay.

    Raises
    ------
    InputError
        A measure or a model that was not tested.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Members([[[0.9, 0.1], [0.4, 0.6]]] * 4)}, [0, 0, 1, 0])
    >>> ax = plot_calibration_tests(a, ax=Figure().subplots())
    >>> [t.get_text() for t in ax.get_yticklabels()], ax.get_xlabel()
    (['m'], 'Kuiper on confidence')
    """
    tests = all_tests(assay, measure, models)
    adjusted = {id(t): p for t, p in zip(assay.calibration, adjusted_pvalues(assay.calibration).tolist(), strict=True)}
    runs = [run_of(assay, t) for t in tests]
    room = room_for(ax, width)
    handles = _handles(tests)
    legend = [handle.get_label() for handle in handles]
    names = fitting([t.model for t in tests], 0.32 * room - text_width(runs))
    labels = [f"{name}{run}" for name, run in zip(names, runs, strict=True)]
    taken = text_width(labels) + 12
    words = ["p (adjusted)", *(pvalue(adjusted[id(t)]) for t in tests)]
    columns = fitting_columns([words], room - taken, first=(0,))
    ax = axes_for(ax, width, 0.75 + 0.19 * len(tests), legend=legend)
    taken += columns_width(columns) + beside(ax, legend) - beside(ax, ())
    rejected = 1 - assay.settings.level + 1e-12
    for at, t in enumerate(tests):
        _test_row(ax, at, t, looks(assay)[t.model])
    write_columns(ax, columns, range(len(tests)), top=-0.6, bold=[adjusted[id(t)] <= rejected for t in tests])
    ax.set_ylim(len(tests) - 0.4, -0.6)
    ax.set_yticks(range(len(tests)), labels)
    label_axes(ax, measure_label(tests[0].measure), taken=taken)
    ax.margins(x=0.04)
    n_tests = int((~np.isnan(list(adjusted.values()))).sum())
    headline(
        ax,
        instances_tested(tests[0]),
        f"p by Holm over {n_tests} tests" if n_tests > 1 else "",
        taken=taken,
    )
    draw_legend(ax, handles, apart=8 + columns_width(columns))
    return ax


def _handles(tests: "Sequence[ModelCalibration]") -> list[Any]:
    """Entries of the legend: what is drawn in a row."""
    line = matplotlib_module("lines").Line2D
    mixed, grey = any(t.n_members > 1 for t in tests), {"color": GREY, "linestyle": "none", "markersize": 5}
    handles = [line([], [], color="0.78", linewidth=5, label=f"{100 * NULL:g} % of the null draws")]
    handles.append(line([], [], marker="o", label="best mixture" if mixed else "found", **grey))
    if mixed:
        handles.append(line([], [], marker="o", markerfacecolor="white", label="model's mean", **grey))
    if any(len(t.member_values) for t in tests):
        handles.append(line([], [], label="single members", **{**grey, "marker": "|", "markersize": 7}))
    return handles


def _test_row(ax: Any, at: int, t: "ModelCalibration", look: Look) -> None:
    draws = t.null[np.isfinite(t.null)]
    if draws.size:
        end = float(np.quantile(draws, NULL))
        ax.plot([float(draws.min()), end], [at, at], color="0.78", linewidth=6, solid_capstyle="butt", zorder=1)
    members = t.member_values[np.isfinite(t.member_values)]
    if members.size:
        ax.plot(members, np.full(len(members), at), "|", color=look.colour, alpha=0.5, markersize=8, zorder=2)
    drawn: dict[str, Any] = {"marker": look.marker, "linestyle": "none", "color": look.colour, "markersize": 5}
    if t.n_members > 1 and np.isfinite(t.mean_value):
        ax.plot([t.mean_value], [at], **drawn, markerfacecolor="white", zorder=3)
    if np.isfinite(t.statistic):
        ax.plot([t.statistic], [at], **drawn, zorder=4)
    else:
        style: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        ax.annotate(t.reason or "undefined", (0.0, at), (4, 0), **style, va="center", color=GREY, fontsize=text_size())
