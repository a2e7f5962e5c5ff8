"""Figures of the gain and of the disentanglement."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, final

import numpy as np

from uqassay.arrays import Floats
from uqassay.checks import fail
from uqassay.evidence.disentanglement_runs import EXPERIMENTS, KINDS, Contender, RankedContender, chosen
from uqassay.evidence.gain import GainResult
from uqassay.evidence.over_runs import Curve, curve_over_runs
from uqassay.metrics.disentanglement import Term, expected_absolute_correlation
from uqassay.report.figures.frame import (
    GREY,
    LINES,
    MARKERS,
    PALETTE,
    Look,
    Width,
    axes_for,
    beside,
    draw_legend,
    every,
    fitting,
    headline,
    label_axes,
    look_at,
    matplotlib_module,
    plain,
    points_of,
    room_for,
    swatch,
    text_size,
    text_width,
)
from uqassay.statistics.units import check_choice
from uqassay.text import ABSENT, counted, estimate_text, level_text, listed, number, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from uqassay.metrics import DoubtSources, EpistemicTrend, EstimateCorrelations

__all__ = [
    "GAIN_LOOKS",
    "INK",
    "LOOKS",
    "SOURCES",
    "TERMS",
    "computed_curves",
    "draw_disentanglement_grid",
    "plot_delay_curve",
    "plot_disentanglement_curves",
    "plot_disentanglement_ranking",
    "plot_disentanglement_terms",
    "plot_doubt_sources",
    "plot_epistemic_map",
    "plot_epistemic_trend",
    "plot_estimate_correlations",
    "plot_expected_behaviour",
    "plot_gain_by_uncertainty",
    "plot_left_out_classes",
    "shown_classes",
]


# Figures of the gain from more data: gain by uncertainty, delay curves, and the map of estimates to gains.

Band = Literal["interval", "sd", "none"]

# Okabe and Ito (2008)
GAIN_LOOKS = {
    "gain": Look("#D55E00", "o", "-", ""),
    "calibrated": Look("#E69F00", "s", "-", ""),
    "epistemic": Look("#0072B2", "^", "-", ""),
    "true": Look("#009E73", "D", "--", ""),
}
NAMES = {
    "gain": "mean gain",
    "calibrated": "mapped estimate",
    "epistemic": "estimate",
    "true": "true epistemic uncertainty",
}
Y_LABELS = {"zero-one": "gain in accuracy", "log": "gain in log loss (nats)", "brier": "gain in Brier loss"}
TOO_LARGE = 4.0  # estimates that are so many times the gain would flatten it, and are left out
LONGEST = 20  # characters of a method beside its score in a legend
GRID = 200  # points of the map


@final
class _Drawn(NamedTuple):
    """The curves of one panel, and the estimates that are too large to be drawn."""

    curves: dict[str, Curve]
    left_out: float  # mean of the estimates; nan where they are drawn


def plot_gain_by_uncertainty(
    result: GainResult,
    *,
    ax: "Axes | None" = None,
    band: Band = "interval",
    estimates: bool | None = None,
    legend: bool = True,
    width: Width = "text",
) -> "Axes":
    """Mean gain, mean estimate and mean mapped estimate in each interval of the estimates (epistemic gain, Figures 3 and 4).

    Parameters
    ----------
    result : GainResult
    ax : Axes, optional
    band : {"interval", "sd", "none"}
        Confidence intervals; one standard deviation over the runs, as in the paper; or no bands.
    estimates : bool, optional
        Draw the estimates as they are. By default where they are not so large that they would flatten the other curves; the
        legend tells their mean where they are left out.
    legend : bool
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
    """
    check_choice(band, "band", ("interval", "sd", "none"))
    drawn = _computed(result, estimates)
    labels = [NAMES[name] for name in drawn.curves]
    if not np.isnan(drawn.left_out):
        labels.append(f"estimate not drawn: mean {number(drawn.left_out, 2)}")
    shown = labels if legend else []
    ax = axes_for(ax, width, 2.3, legend=shown)
    x = np.arange(1, result.bins.n_bins + 1)
    handles = []
    for name, curve in drawn.curves.items():
        look = GAIN_LOOKS[name]
        low, high = _ends(curve, band)
        if band != "none" and np.isfinite(low).any():
            if len(x) > 1:
                ax.fill_between(x, low, high, color=look.colour, alpha=0.18, linewidth=0)
            else:
                ax.plot([1, 1], [low[0], high[0]], color=look.colour, linewidth=1.0)
        ax.plot(
            x, curve.mean, color=look.colour, marker=look.marker, linestyle=look.line, markersize=3.5, linewidth=1.3
        )
        handles.append(swatch(look, NAMES[name]))
    if not np.isnan(drawn.left_out):
        handles.append(swatch(Look(GREY, "", "", ""), labels[-1], line=False))
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    _interval_axis(ax, len(x))
    taken = beside(ax, shown)
    label_axes(ax, "interval of the estimates, from the least to the greatest", Y_LABELS[result.loss], taken=taken)
    headline(ax, f"{plain(result.label, limit=60)} ({_band_words(result, band)})", taken=taken)
    if legend:
        draw_legend(ax, handles)
    return ax


def plot_delay_curve(
    results: GainResult | Sequence[GainResult],
    *,
    ax: "Axes | None" = None,
    band: Band = "interval",
    legend: bool = True,
    width: Width = "text",
) -> "Axes":
    """Gain over all cases against the share of the most uncertain cases that wait for more data.

    Parameters
    ----------
    results : GainResult or sequence of them
        Under one loss. Each has its own colour; dashed lines are random choices of as many cases.
    ax : Axes, optional
    band : {"interval", "sd", "none"}
    legend : bool
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
    """
    check_choice(band, "band", ("interval", "sd", "none"))
    found = [results] if isinstance(results, GainResult) else list(results)
    if len({one.loss for one in found}) != 1:
        fail(
            "results",
            "must be results under one loss, at least one",
            f"got {listed([one.loss for one in found]) or 'none'}",
            "draw each loss on its own axes",
            code="mismatch",
        )
    labels = [*(_legend_name(one, found) for one in found), "random choice"]
    shown = labels if legend else []
    ax = axes_for(ax, width, 2.3, legend=shown)
    handles: list[Any] = []
    random: dict[tuple[str, str], tuple[Floats, Floats, str]] = {}
    for place, one in enumerate(found):  # wider below narrower lines, so that equal curves show
        look, curve = look_at(place), one.delay.gained
        low, high = _ends(curve, band)
        x = one.delay.shares
        if band != "none" and np.isfinite(low).any():
            ax.fill_between(x, low, high, color=look.colour, alpha=0.15, linewidth=0)
        style = {"linestyle": look.line, "linewidth": 1.3 + 0.5 * min(len(found) - 1 - place, 4)}
        every = (0.06 + 0.03 * (place % 4), 0.2)  # markers of different results apart
        ax.plot(x, curve.mean, color=look.colour, marker=look.marker, markersize=4, markevery=every, **style)
        handles.append(swatch(look, labels[place]))
        random.setdefault((one.method, one.dataset), (x, one.delay.random.mean, look.colour))
    for x, mean, colour in random.values():
        ax.plot(x, mean, color=GREY if len(random) == 1 else colour, linestyle="--", linewidth=1.0)
    handles.append(swatch(Look(GREY, "", "--", ""), labels[-1]))
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    percents = matplotlib_module("ticker").PercentFormatter(1.0, decimals=0, symbol=" %")
    ax.xaxis.set_major_formatter(percents)
    ax.set_xlim(0, 1)
    taken = beside(ax, shown)
    label_axes(ax, "share of the cases that wait, the most uncertain first", Y_LABELS[found[0].loss], taken=taken)
    headline(ax, f"Delay curve ({_band_words(found[0], band)})", taken=taken)
    if legend:
        draw_legend(ax, handles)
    return ax


def plot_epistemic_map(
    result: GainResult, *, ax: "Axes | None" = None, legend: bool = True, width: Width = "text"
) -> "Axes":
    """The map γ of estimates to gains: one line for each run, fitted on its calibration instances.

    For a cross-fitted map: a thin line for each fold, fitted on the other folds, and a black one for the map of all instances
    (over several runs: their mean).

    Parameters
    ----------
    result : GainResult
    ax : Axes, optional
    legend : bool
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        With a dotted line where estimate and gain are equal.
    """
    maps = [run.gain_map for run in result.runs if run.gain_map is not None]
    if not maps:
        fail(
            "result",
            "has no map",
            "its runs have no calibration instances and no folds",
            "make the study with calibration instances, or pass cross_fit=5 to its result",
            code="missing",
        )
    longest = ["map γ of all cases"] * (3 if legend else 0)
    ax = axes_for(ax, width, 2.3, legend=longest)
    look = GAIN_LOOKS["calibrated"]
    knots = np.concatenate([one.knots for one in maps])
    low, high = float(knots[:, 0].min()), float(knots[:, 0].max())
    margin = 0.03 * (high - low) or 0.05 * abs(high) or 0.05
    x = np.linspace(low - margin, high + margin, GRID)
    folds = [one for run in result.runs if run.cross_fit is not None for one in run.cross_fit.fold_maps]
    drawn = folds or maps
    for one in drawn:
        ax.plot(x, one.transform(x), color=look.colour, linewidth=1.0 if len(drawn) > 1 else 1.8, alpha=0.7)
    many = f"map γ of each of {len(maps)} runs" if len(maps) > 1 else "map γ"
    handles = [swatch(look._replace(marker=""), "map γ without one fold" if folds else many)]
    if len(drawn) > 1:
        ax.plot(x, np.mean([one.transform(x) for one in maps], axis=0), color="#000000", linewidth=1.6)
        name = "mean" if len(maps) > 1 else "map γ of all cases"
        handles.append(swatch(Look("#000000", "", "-", ""), name))
    bottom, top = ax.get_ylim()
    same = x[(x >= bottom) & (x <= top)]
    if same.size:
        ax.plot(same, same, color=GREY, linestyle=":", linewidth=1.0)
        handles.append(swatch(Look(GREY, "", ":", ""), "estimate = gain"))
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    label_axes(ax, "estimate of epistemic uncertainty", Y_LABELS[result.loss])
    headline(ax, f"Map γ: {plain(result.label, limit=60)}", taken=beside(ax, longest))
    if legend:
        draw_legend(ax, handles)
    return ax


# -- compute ------------------------------------------------------------------------------------------------------------


def _computed(result: GainResult, estimates: bool | None) -> _Drawn:
    bins = result.bins
    curves = {name: curve for name in ("gain", "calibrated", "true") if (curve := getattr(bins, name)) is not None}
    greatest = max(float(np.nanmax(np.abs(curve.mean))) for curve in curves.values())
    mean = bins.epistemic.mean
    shown = float(np.nanmax(np.abs(mean))) <= TOO_LARGE * greatest if estimates is None else estimates
    if shown:
        return _Drawn(curves | {"epistemic": bins.epistemic}, float("nan"))
    return _Drawn(curves, float(result.mean_epistemic))


def _ends(curve: Curve, band: Band) -> tuple[Floats, Floats]:
    return (curve.mean - curve.sd, curve.mean + curve.sd) if band == "sd" else (curve.low, curve.high)


def _band_words(result: GainResult, band: Band) -> str:
    runs = counted(result.n_runs, "run")
    if band == "none" or (band == "sd" and result.n_runs == 1):
        return runs
    return f"{runs}, {'bands ± 1 SD' if band == 'sd' else f'{level_text(result.level)} bands'}"


# -- draw ---------------------------------------------------------------------------------------------------------------


def _interval_axis(ax: Any, n: int) -> None:
    step = 1 if n <= 10 else 5
    ax.set_xticks([m for m in range(1, n + 1) if m == 1 or m % step == 0])
    ax.set_xlim(0.5, n + 0.5)


def _legend_name(result: GainResult, results: Sequence[GainResult]) -> str:
    parts = [plain(result.method, limit=LONGEST)] if len({one.method for one in results}) > 1 else []
    parts += [plain(result.score)] if len({one.score for one in results}) > 1 or not parts else []
    return ", ".join(parts)


# Curves of the disentanglement benchmark: both estimates and the accuracy over the conditions, with the expected
# behaviour.

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

    conditions: Floats
    bands: dict[str, Curve]
    expected: dict[str, Floats]


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
        Of the estimates. As in Figures 2, 4 and 8 to 13 of the paper on disentanglement.
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
    """The behaviour of perfectly disentangled estimates as a drawing (Figure 1 of the paper on disentanglement).

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


def _band(values: Floats, level: float, *, highest: float) -> Curve:
    """The interval is cut at 0, if all values are above it, and at the highest possible value; a single run has none."""
    found = curve_over_runs(list(values), level=level, ends=(values[0], values[0]))
    lowest = 0.0 if values.min() >= 0 else -np.inf
    return replace(found, low=np.maximum(found.low, lowest), high=np.minimum(found.high, highest))


def _expected(bands: dict[str, Curve], experiment: str) -> dict[str, Floats]:
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


def _x_axis(ax: Any, experiment: str, conditions: Floats, *, labelled: bool = True) -> None:
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


# Disentanglement errors as pictures: the four terms, the ranking of contenders, and the classes left out.

TERMS = {
    ("dataset-size", "aleatoric"): "more data: aleatoric stays",
    ("dataset-size", "epistemic"): "more data: epistemic falls",
    ("label-noise", "aleatoric"): "label noise: aleatoric rises",
    ("label-noise", "epistemic"): "label noise: epistemic stays",
}
INK = "#111111"
MOST_CLASSES = 20  # rows of the figure of the classes left out


def plot_disentanglement_terms(
    contender: Contender, *, ax: "Axes | None" = None, level: float = 0.95, width: Width = "text"
) -> "Axes":
    """Deviation of the four correlations from their ideals, with intervals over the runs; the error is their mean.

    Dotted: the mean deviation of mere jitter, for the two estimates that should not move.

    Parameters
    ----------
    contender : Contender
        With both experiments.
    ax : Axes, optional
    level : float
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.
    """
    found = contender.disentanglement(level=level)
    names = [TERMS[_key(term)] for term in found.terms]
    if text_width(names) > 0.4 * room_for(ax, width):
        names = [name.replace(": ", ":\n") for name in names]
    taken = text_width(names) + 12
    ax = axes_for(ax, width, 1.8)
    highest = 1.0
    for place, term in enumerate(found.terms):
        look, deviation = LOOKS[term.estimate], term.deviation
        ax.barh(-place, float(deviation), color=look.colour, alpha=0.55, height=0.62)
        if np.isfinite(deviation.low):
            ax.plot(
                [deviation.low, deviation.high], [-place] * 2, color=look.colour, linewidth=2.2, solid_capstyle="butt"
            )
        ends = [value for value in (float(deviation), deviation.high) if np.isfinite(value)]
        highest = max(highest, *ends)
        ax.annotate(
            f"r = {number(float(term.correlation), 2)}",
            (max(ends), -place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=text_size(),
        )
        if term.ideal == 0:
            conditions = found.conditions[0 if term.experiment == "dataset-size" else 1]
            jitter = expected_absolute_correlation(len(conditions))
            ax.plot([jitter] * 2, [-place - 0.38, -place + 0.38], color=GREY, linewidth=1.2, linestyle=":")
    ax.set_yticks([-i for i in range(4)], names)
    said = text_width(["r = −0.00"]) + 8  # right of the longest bar
    axes = max(points_of(ax) - taken, 2 * said)
    ax.set_xlim(0, highest * axes / (axes - said))
    label_axes(ax, f"|r − ideal|, {level_text(level)} intervals", taken=taken)
    return ax


def plot_disentanglement_ranking(
    ranked: Sequence[RankedContender], *, ax: "Axes | None" = None, level: float = 0.95, width: Width = "text"
) -> "Axes":
    """Disentanglement errors of the contenders of one data set with intervals, next to floor and chance.

    Parameters
    ----------
    ranked : sequence of RankedContender
        Of one data set, from `rank_disentanglement`. Those without a rank are not drawn.
    ax : Axes, optional
    level : float
        At which a contender is told from the best one: those that are not have filled markers.
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.
    """
    rows = [(row, row.found) for row in ranked if row.found is not None]
    datasets = {row.contender.study.dataset for row, _ in rows}
    if not rows:
        fail(
            "ranked",
            "must hold a contender with a disentanglement error",
            f"got none among {len(ranked)}",
            "run the dataset-size and the label-noise experiment",
            code="empty",
        )
    if len(datasets) > 1:
        fail(
            "ranked",
            "must hold contenders of one data set",
            f"got {len(datasets)} data sets",
            "rank the contenders of one data set",
            code="mismatch",
        )
    labels = fitting([row.contender.label for row, _ in rows], 0.4 * room_for(ax, width))
    taken = text_width(labels) + 12
    ax = axes_for(ax, width, 1.05 + 0.19 * len(rows))
    for place, (row, found) in enumerate(rows):
        error = found.error
        apart = row.told_apart(level)
        colour = GREY if apart else INK
        if np.isfinite(error.low):
            ax.plot([error.low, error.high], [-place] * 2, color=colour, linewidth=1.6, solid_capstyle="butt")
        fill = "#FFFFFF" if apart else colour
        ax.plot(
            [float(error)], [-place], marker="o", markersize=6, color=colour, markerfacecolor=fill, linestyle="none"
        )
    found = rows[0][1]
    for value, name, line in (
        (found.floor, "floor", ":"),
        (found.together, "one estimate\ntwice", "-."),
        (found.chance, "chance", "--"),
    ):
        ax.axvline(value, color=GREY, linewidth=0.9, linestyle=line, zorder=0)
        ax.annotate(
            name,
            (value, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right" if name.startswith("one") else "left" if name == "chance" else "center",
            fontsize=text_size(),
            color=GREY,
        )
    ends = [end for _, one in rows for end in (float(one.error), one.error.high)]
    ax.set_xlim(0, 1.04 * max([found.chance, *(end for end in ends if np.isfinite(end))]))
    ax.set_ylim(-len(rows) + 0.4, 0.6)
    ax.set_yticks([-i for i in range(len(rows))], labels)
    label_axes(ax, f"disentanglement error, {level_text(level)} intervals over the runs", taken=taken)
    return ax


def plot_left_out_classes(
    contender: Contender, *, ax: "Axes | None" = None, level: float = 0.95, width: Width = "text"
) -> "Axes":
    """ROC-AUC of both estimates for each class left out of the training, and their means.

    Parameters
    ----------
    contender : Contender
        Whose study has left-out classes.
    ax : Axes, optional
    level : float
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.
    """
    found = contender.study.detection(contender.decomposition, level=level)
    shown = shown_classes(contender)
    names = fitting([contender.study.class_names[k] for k in shown], 0.35 * room_for(ax, width))
    labels = ["mean", *names]
    taken = text_width(labels) + 12
    ax = axes_for(ax, width, 0.75 + 0.2 * len(labels), legend=KINDS)
    for shift, kind in zip((0.16, -0.16), KINDS, strict=True):
        look = LOOKS[kind]
        estimates = [getattr(found, f"{kind}_mean"), *(found.of_class(k, kind) for k in shown)]
        for place, auc in enumerate(estimates):
            if not np.isfinite(auc):
                continue
            y = shift - place
            if np.isfinite(auc.low):
                ax.plot(
                    [auc.low, auc.high], [y] * 2, color=look.colour, linewidth=1.8, alpha=0.7, solid_capstyle="butt"
                )
            ax.plot([float(auc)], [y], color=look.colour, marker=look.marker, markersize=5 if place else 6.5)
    ax.axvline(0.5, color=GREY, linewidth=0.9, linestyle="--", zorder=0)
    ax.axhline(-0.5, color=GREY, linewidth=0.5)
    ax.set_yticks([-i for i in range(len(labels))], labels)
    ax.set_ylim(-len(labels) + 0.45, 0.55)
    low, high = ax.get_xlim()
    ax.set_xlim(max(0.0, min(low, 0.45)), min(1.02, max(high, 0.6)))
    taken += beside(ax, KINDS) - beside(ax, ())
    label_axes(ax, f"ROC-AUC, {level_text(level)} intervals; 0.5: no reaction", taken=taken)
    draw_legend(ax, [swatch(LOOKS[kind], kind, line=False) for kind in KINDS])
    return ax


def shown_classes(contender: Contender) -> tuple[int, ...]:
    """Classes that the figure shows: all, or of many those with the least and the greatest epistemic ROC-AUC."""
    found = contender.study.detection(contender.decomposition)
    means = found.epistemic.mean(axis=0)
    if len(found.classes) <= MOST_CLASSES:
        return found.classes
    defined = [i for i in np.argsort(means, kind="stable").tolist() if np.isfinite(means[i])]
    half = MOST_CLASSES // 2
    kept = {*defined[:half], *defined[-half:]}
    return tuple(k for i, k in enumerate(found.classes) if i in kept)


def _key(term: Term) -> Any:
    return term.experiment, term.estimate


# Figures of the behaviour of estimates: correlation matrix, epistemic uncertainty by share of the data, sources of
# doubt.

SOURCES = {"seed": "seed", "few-data": "few data", "bias": "bias of the family"}
DARK = 0.55  # correlations beyond this are written in white
BARRED = 70.0  # points that the bar of colours takes
TREND = ("90 % of the cases", "50 % of the cases", "mean of a run", "mean of the runs", "a step that rises")


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
    label_axes(ax, "share of the training cases", "epistemic uncertainty")
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
    label_axes(ax, "share of the training cases", "correlation with the source")
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
