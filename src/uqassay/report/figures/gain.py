"""Figures of the gain from more data: gain by uncertainty, delay curves, and the map of estimates to gains."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.evidence.gain_result import GainResult
from uqassay.evidence.over_runs import Curve
from uqassay.report.figures.layout import Width, axes_for, beside, draw_legend, headline, label_axes
from uqassay.report.figures.style import GREY, Look, look_at, matplotlib_module, plain, swatch
from uqassay.statistics.samples import check_choice
from uqassay.wording import counted, level_text, listed, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GAIN_LOOKS", "plot_delay_curve", "plot_epistemic_map", "plot_gain_by_uncertainty"]

Array = NDArray[np.float64]
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
    """Mean gain, mean estimate and mean mapped estimate in each interval of the estimates (Figures 3 and 4 of paper 002).

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

    Raises
    ------
    InputError
        No result, or results under different losses.
    """
    check_choice(band, "band", ("interval", "sd", "none"))
    found = [results] if isinstance(results, GainResult) else list(results)
    if len({one.loss for one in found}) != 1:
        raise InputError(
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
    random: dict[tuple[str, str], tuple[Array, Array, str]] = {}
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

    Raises
    ------
    InputError
        There is no map.
    """
    maps = [run.gain_map for run in result.runs if run.gain_map is not None]
    if not maps:
        raise InputError(
            "result",
            "has no map",
            "its runs have no calibration instances and no folds",
            "make the study with calibration instances, or pass cross_fit=5 to its result",
            code="missing",
        )
    longest = ["map γ of all instances"] * (3 if legend else 0)
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
        name = "mean" if len(maps) > 1 else "map γ of all instances"
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


def _ends(curve: Curve, band: Band) -> tuple[Array, Array]:
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
