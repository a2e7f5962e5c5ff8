"""Curves of the disentanglement benchmark: both estimates and the accuracy over the conditions, with the expected behaviour."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.disentanglement_measured import EXPERIMENTS, KINDS, chosen
from uqassay.evidence.disentanglement_ranking import Contender
from uqassay.evidence.over_runs import Curve, curve_over_runs
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    headline,
    label_axes,
    points_of,
    text_size,
)
from uqassay.report.figures.style import GREY, Look, plain, swatch
from uqassay.wording import counted, level_text, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "LOOKS",
    "DrawnCurves",
    "accuracy_axes",
    "computed_curves",
    "curve_handles",
    "draw_disentanglement_grid",
    "plot_disentanglement_curves",
    "plot_expected_behaviour",
]

Array = NDArray[np.float64]

# Okabe and Ito (2008): orange, blue and green as in the paper; markers tell them apart without colour
LOOKS = {
    "aleatoric": Look("#D55E00", "o", "-", ""),
    "epistemic": Look("#0072B2", "s", "-", ""),
    "accuracy": Look("#009E73", "^", "-", ""),
}
X_LABELS = {"dataset-size": "share of the training data", "label-noise": "share of permuted labels"}
TITLES = {"dataset-size": "More training data", "label-noise": "More label noise", "left-out-class": "Classes left out"}
TARGET = {"dataset-size": "epistemic", "label-noise": "aleatoric"}
LEAST_MOVEMENT = (
    0.2  # of an expected curve, relative to its mean: so that its direction shows where the estimate is flat
)
THIN: dict[str, Any] = {"linewidth": 1.2, "markersize": 3.2}
WIDTHS = {"aleatoric": {"linewidth": 2.4, "markersize": 5.0}}  # wider, so that it shows below an equal epistemic curve
RIGHT = 40.0  # points that the axis of the accuracy takes
TICK = 26.0  # points between two labels of the x axis
WIDE = 10.0  # ratio of conditions from which the axis is logarithmic


@final
class DrawnCurves(NamedTuple):
    """Everything that one panel shows, before it is drawn: means with their bands, and the expected behaviour, by kind."""

    conditions: Array
    bands: dict[str, Curve]
    expected: dict[str, Array]


def plot_disentanglement_curves(
    contender: Contender,
    experiment: str,
    *,
    ax: "Axes | None" = None,
    level: float = 0.95,
    expected: bool = True,
    legend: bool = True,
    width: Width = "text",
) -> "Axes":
    """Mean aleatoric and epistemic estimates (left axis) and accuracy (right axis) over the conditions of one experiment.

    Parameters
    ----------
    contender : Contender
    experiment : {"dataset-size", "label-noise"}
    ax : Axes, optional
        The axes of the estimates; a twin of it shows the accuracy.
    level : float
        Of the bands, which are t intervals over the runs at each condition; a single run has none.
    expected : bool
        Draw the expected behaviour dashed: the estimate that should not move stays at its mean, and the other one is linear
        in the accuracy, with its own mean and range. The size of a movement is not part of the expectation.
    legend : bool
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Of the estimates. As in Figures 2, 4 and 8 to 13 of paper 004.
    """
    chosen("experiment", experiment, EXPERIMENTS[:2])
    drawn = computed_curves(contender, experiment, level=level)
    handles = curve_handles(level, contender.study.n_runs, expected=expected) if legend else []
    labels = [handle.get_label() for handle in handles]
    ax = axes_for(ax, width, 2.3, legend=labels)
    right = accuracy_axes(ax)
    _draw(ax, right, drawn, expected=expected)
    _x_axis(ax, experiment, drawn.conditions)
    _from_zero(ax)
    label_axes(ax, y="mean uncertainty")
    label_axes(right, y="accuracy")
    headline(ax, f"{TITLES[experiment]}: {plain(contender.label, limit=60)}", taken=beside(ax, labels) + RIGHT)
    if legend:
        draw_legend(ax, handles, apart=RIGHT + 8)
    return ax


def draw_disentanglement_grid(
    figure: "Figure", contenders: Sequence[Sequence[Contender | None]], experiment: str, *, level: float = 0.95
) -> None:
    """Panels of several contenders in one experiment: rows are decompositions, columns are methods.

    Parameters
    ----------
    figure : Figure
        With a layout engine.
    contenders : rows of columns of Contender or None
        None leaves a panel out.
    experiment : {"dataset-size", "label-noise"}
    level : float
        Of the bands.
    """
    n_columns = max(len(row) for row in contenders)
    panels = figure.subplots(len(contenders), n_columns, squeeze=False, sharey="row")
    runs = 0
    for i, row in enumerate(contenders):
        for j in range(n_columns):
            ax, one = panels[i, j], row[j] if j < len(row) else None
            if one is None:
                ax.set_axis_off()
                continue
            ax.tick_params(labelsize=text_size())
            right, drawn = accuracy_axes(ax), computed_curves(one, experiment, level=level)
            runs = max(runs, one.study.n_runs)
            _draw(ax, right, drawn, expected=True)
            lowest = all(j >= len(below) or below[j] is None for below in contenders[i + 1 :])
            _x_axis(ax, experiment, drawn.conditions, labelled=lowest)
            last = j == n_columns - 1 or all(other is None for other in row[j + 1 :])
            right.tick_params(labelright=last)
            if last:
                label_axes(right, y="accuracy")
            if j == 0:
                ax.set_ylabel(f"{plain(one.decomposition)}\nmean uncertainty", fontsize=text_size())
            if all(j >= len(above) or above[j] is None for above in contenders[:i]):
                ax.set_title(plain(one.study.method), loc="left", fontsize=text_size())
        if any(one is not None for one in row):
            _from_zero(next(panels[i, j] for j, one in enumerate(row) if one is not None))
    handles = curve_handles(level, runs, expected=True)
    columns = len(handles) if n_columns > 1 else 2
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=text_size())


def plot_expected_behaviour(
    experiment: str, *, ax: "Axes | None" = None, legend: bool = True, width: Width = "text"
) -> "Axes":
    """The behaviour of perfectly disentangled estimates as a drawing (Figure 1 of paper 004).

    Parameters
    ----------
    experiment : {"dataset-size", "label-noise", "left-out-class"}
    ax : Axes, optional
    legend : bool
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.
    """
    chosen("experiment", experiment, EXPERIMENTS)
    handles = [swatch(LOOKS[kind], kind) for kind in LOOKS]
    shown = [handle.get_label() for handle in handles] if legend and experiment != EXPERIMENTS[2] else []
    ax = axes_for(ax, width, 2.0, legend=shown)  # the third one names its estimates at the axis
    if experiment == EXPERIMENTS[2]:
        _draw_expected_classes(ax)
    else:
        right = accuracy_axes(ax)
        x = np.linspace(0, 1, 60)
        if experiment == EXPERIMENTS[0]:
            accuracy, moving, still = 0.9 - 0.55 * np.exp(-4 * x), 0.2 + 0.6 * np.exp(-4 * x), np.full(60, 0.35)
        else:
            accuracy, moving, still = 0.9 - 0.6 * x, 0.2 + 0.6 * x, np.full(60, 0.15)
        other = next(kind for kind in KINDS if kind != TARGET[experiment])
        for axis, kind, values in ((ax, TARGET[experiment], moving), (ax, other, still), (right, "accuracy", accuracy)):
            axis.plot(x, values, color=LOOKS[kind].colour, marker=LOOKS[kind].marker, markevery=15, **THIN)
        ax.set(ylim=(0, 1), yticks=[], xticks=[])
        right.set_yticks([])
        label_axes(ax, f"{X_LABELS[experiment]} →", "mean uncertainty")
        label_axes(right, y="accuracy")
    headline(ax, TITLES[experiment])
    if shown:
        draw_legend(ax, handles, apart=RIGHT)
    return ax


def curve_handles(level: float, n_runs: int, *, expected: bool) -> list[Any]:
    """Entries of the legend of the curves."""
    bands = f" ({level_text(level)} bands over {counted(n_runs, 'run')})" if n_runs > 1 else " (1 run)"
    handles = [swatch(look, f"{kind} uncertainty") for kind, look in LOOKS.items() if kind != "accuracy"]
    handles.append(swatch(LOOKS["accuracy"], f"accuracy{bands}"))
    if expected:
        handles.append(swatch(Look(GREY, "", "--", ""), "expected"))
    return handles


def accuracy_axes(ax: Any) -> Any:
    """The axes of the accuracy, with the same x axis, from 0 to 100 %."""
    right = ax.twinx()
    right.set_ylim(0, 1.03)
    right.set_yticks([0, 0.25, 0.5, 0.75, 1.0], [percent(v, 0) for v in (0, 0.25, 0.5, 0.75, 1.0)])
    right.tick_params(labelsize=text_size())
    for axes in (ax, right):
        axes.spines["top"].set_visible(False)
    ax.set_zorder(right.get_zorder() + 1)  # estimates above the accuracy
    ax.patch.set_visible(False)
    return right


# -- compute ------------------------------------------------------------------------------------------------------------


def computed_curves(contender: Contender, experiment: str, *, level: float) -> DrawnCurves:
    """Numbers of the curves of one contender in one experiment; parameters as in `plot_disentanglement_curves`."""
    curves = contender.study.experiment(experiment).curves(contender.decomposition)
    bands = {kind: _band(getattr(curves, kind), level, highest=1.0 if kind == "accuracy" else np.inf) for kind in LOOKS}
    return DrawnCurves(np.array(curves.conditions), bands, _expected(bands, experiment))


def _band(values: Array, level: float, *, highest: float) -> Curve:
    """The interval is cut at 0, if all values are above it, and at the highest possible value; a single run has none."""
    found = curve_over_runs(list(values), level=level, ends=(values[0], values[0]))
    lowest = 0.0 if values.min() >= 0 else -np.inf
    return replace(found, low=np.maximum(found.low, lowest), high=np.minimum(found.high, highest))


def _expected(bands: dict[str, Curve], experiment: str) -> dict[str, Array]:
    """The still estimate at its mean; the other one linear in the accuracy (r = 1) with its own mean and range."""
    target = TARGET[experiment]
    still = next(kind for kind in KINDS if kind != target)
    error = 1 - bands["accuracy"].mean
    reach = float(np.ptp(error))
    mean = float(bands[target].mean.mean())
    size = max(float(np.ptp(bands[target].mean)), LEAST_MOVEMENT * abs(mean))
    slope = size / reach if reach > 0 else 0.0
    return {
        still: np.full_like(error, bands[still].mean.mean()),
        target: mean + slope * (error - error.mean()),
    }


# -- draw ---------------------------------------------------------------------------------------------------------------


def _draw(ax: Any, right: Any, drawn: DrawnCurves, *, expected: bool) -> None:
    for kind, band in drawn.bands.items():
        axis, look = (right if kind == "accuracy" else ax), LOOKS[kind]
        axis.fill_between(drawn.conditions, band.low, band.high, color=look.colour, alpha=0.18, linewidth=0)
        axis.plot(
            drawn.conditions, band.mean, color=look.colour, marker=look.marker, clip_on=False, **WIDTHS.get(kind, THIN)
        )
    if expected:
        for kind, values in drawn.expected.items():
            ax.plot(drawn.conditions, values, color=LOOKS[kind].colour, linestyle="--", linewidth=1.0)


def _from_zero(ax: Any) -> None:
    """Let the axis of the estimates start at 0; called when every panel that shares it is drawn."""
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.0), high)


def _x_axis(ax: Any, experiment: str, conditions: Array, *, labelled: bool = True) -> None:
    positive = conditions.min() > 0
    logarithmic = positive and conditions.max() / conditions.min() >= WIDE
    if logarithmic:
        ax.set_xscale("log")
    places = np.log(conditions) if logarithmic else conditions
    span = float(np.ptp(places)) or 1.0
    room = points_of(ax) - 80
    kept: list[int] = []
    order = np.argsort(places, kind="stable").tolist()
    for i in [order[-1], *order]:  # the last one first, then from the left as they fit
        if all(abs(places[i] - places[j]) / span * room >= TICK for j in kept):
            kept.append(i)
    ax.set_xticks(conditions[kept], [percent(float(conditions[i]), 0) for i in kept])
    ax.minorticks_off()
    if labelled:
        label_axes(ax, X_LABELS[experiment], taken=80)


def _draw_expected_classes(ax: Any) -> None:
    for place, (kind, low, high, mean) in enumerate((("aleatoric", 0.47, 0.53, 0.5), ("epistemic", 0.55, 0.97, 0.76))):
        ax.plot([low, high], [1 - place] * 2, color=LOOKS[kind].colour, linewidth=6, alpha=0.35, solid_capstyle="butt")
        ax.plot([mean], [1 - place], color=LOOKS[kind].colour, marker=LOOKS[kind].marker, markersize=6)
    ax.axvline(0.5, color=GREY, linewidth=0.8)
    ax.set(xlim=(0.4, 1.0), ylim=(-0.6, 1.6), yticks=[1, 0])
    ax.set_yticklabels(["aleatoric", "epistemic"])
    label_axes(ax, "ROC-AUC for the class left out")
