"""Can it be calibrated: all tests of one measure, and of one test the null draws, the weights and the diagrams."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.calibration_result import holm_adjusted
from uqassay.report.calibration import null_histogram, pvalue_words
from uqassay.report.definitions import measure_label
from uqassay.report.figures.style import (
    GREY,
    Look,
    axes_for,
    axes_points,
    count,
    draw_legend,
    headline,
    level_text,
    looks,
    matplotlib_module,
    named_model,
    number,
    plain,
    swatch,
    text_width,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.calibration_result import ModelCalibration
    from uqassay.evidence.result import Assay
    from uqassay.metrics.calibration.reliability import Reliability

__all__ = [
    "plot_calibration_before_after",
    "plot_calibration_null",
    "plot_calibration_tests",
    "plot_ensemble_weights",
]

WIDTH = 3.6  # inches of the rows alone
MANY_MEMBERS = 24  # more stand in the order of their weights
NULL = 0.95  # share of the null draws that a grey bar spans


def plot_calibration_tests(
    assay: "Assay", measure: str | None = None, *, models: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """What was found for every model by one calibration measure, against what chance gives.

    Parameters
    ----------
    assay : Assay
    measure : str, optional
        One of those tested; by default the first.
    models : sequence of str, optional
        By default all that were tested.
    ax : matplotlib Axes, optional
        Where to draw; the p-values stand to the right of it.

    Returns
    -------
    Axes
        One row per model and run. The grey bar reaches from the least null draw to their 95 % quantile, the marker is the
        least value over all mixtures of the members (of a model without members, its own), the hollow one the model's mean,
        the ticks are single members. p is adjusted by Holm for all tests of the assay.

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
    (['m'], 'confidence ECE')
    """
    tests = _tests_of(assay, measure, models)
    adjusted = {id(t): p for t, p in zip(assay.calibration, holm_adjusted(assay.calibration).tolist(), strict=True)}
    names = [_named(assay, t) for t in tests]
    words = [pvalue_words(adjusted[id(t)]) if not np.isnan(adjusted[id(t)]) else "undefined" for t in tests]
    size = WIDTH + (text_width(names, "medium") + text_width(words, "small")) / 72, 1.2 + 0.3 * len(tests)
    given = ax is not None
    ax = axes_for(ax, size)
    rejected = 1 - assay.settings.level + 1e-12
    for at, (t, word) in enumerate(zip(tests, words, strict=True)):
        _test_row(ax, at, t, looks(assay)[t.model])
        weight = "bold" if adjusted[id(t)] <= rejected else "normal"
        ax.annotate(word, (1.0, at), (10, 0), **_BESIDE, va="center", fontweight=weight)
    ax.set_ylim(len(tests) - 0.4, -0.6)
    ax.set_yticks(range(len(tests)), names)
    ax.set_xlabel(measure_label(tests[0].measure))
    ax.margins(x=0.04)
    n_tests = int((~np.isnan(list(adjusted.values()))).sum())
    headline(
        ax,
        _tested_words(tests[0]),
        f"p by Holm over {n_tests} tests" if n_tests > 1 else "",
        f"grey: {100 * NULL:g} % of the null draws",
        "filled: best mixture" if any(t.n_members > 1 for t in tests) else "",
        "hollow: model's mean" if any(t.n_members > 1 for t in tests) else "",
        "ticks: members" if any(len(t.member_values) for t in tests) else "",
        taken=0.0 if given else max(axes_points(ax) - 72 * WIDTH, 0.0),
    )
    return ax


def plot_calibration_null(
    assay: "Assay", model: str | None = None, measure: str | None = None, *, run: int = 0, ax: "Axes | None" = None
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

    Returns
    -------
    Axes
        Draws that reach what was found have the model's colour; the ticks at the bottom are single members.

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
    99
    """
    t = _test_of(assay, model, measure, run)
    bars = null_histogram(t.null, t.statistic)
    if not bars["counts"] or not np.isfinite(t.statistic):
        raise InputError(
            "model",
            f"{t.model!r} has no finite draws or minimum by {t.measure} ({t.reason or 'infinite'})",
            "",
            "choose another measure",
            code="finite",
        )
    look = looks(assay)[t.model]
    ax = axes_for(ax, (5.2, 3.4))
    left = bars["start"] + bars["width"] * np.arange(len(bars["counts"]))
    reaching = left > t.statistic - bars["width"] / 2
    colours = [look.colour if r else "0.75" for r in reaching]
    ax.bar(left, bars["counts"], bars["width"], align="edge", color=colours, edgecolor="white", linewidth=0.5)
    mixed = t.n_members > 1
    name = "minimum" if mixed else "found"
    ax.axvline(t.statistic, color="black", linewidth=1.6, label=f"{name} {number(t.statistic)}")
    if mixed:
        ax.axvline(
            t.mean_value, color=GREY, linewidth=1.2, linestyle="--", label=f"model's mean {number(t.mean_value)}"
        )
    if len(t.member_values):
        at = np.asarray(t.member_values)[np.isfinite(t.member_values)]
        ends = min(left[0], t.statistic), max(left[-1] + bars["width"], t.statistic, t.mean_value)
        near = at[(at >= ends[0] - 0.1 * np.ptp(ends)) & (at <= ends[1] + 0.8 * np.ptp(ends))]
        beyond = f", {len(at) - len(near)} beyond the axis" if len(near) < len(at) else ""
        label = f"single members{beyond}"
        height = -0.03 * max(bars["counts"])
        ax.plot(near, np.full(len(near), height), "|", color=look.colour, markersize=7, label=label)
    ax.axhline(0.0, color="black", linewidth=0.6)
    ax.set_ylim(-0.06 * max(bars["counts"]) if len(t.member_values) else 0.0, 1.08 * max(bars["counts"]))
    ax.set_xlabel(measure_label(t.measure))
    ax.set_ylabel("null draws")
    infinite = f"{count(bars['infinite'])} draws infinite, not drawn" if bars["infinite"] else ""
    headline(ax, _named(assay, t), _tested_words(t), f"{pvalue_words(t.pvalue)}, {count(t.n_draws)} draws", infinite)
    ax.legend(fontsize="small", framealpha=0.85)
    return ax


def plot_ensemble_weights(
    assay: "Assay", model: str | None = None, measure: str | None = None, *, run: int = 0, ax: "Axes | None" = None
) -> "Axes":
    """Weights λ of the mixture that one calibration measure likes best, against the same weight 1/M for all.

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
    t = _test_of(assay, model, measure, run, mixed=True)
    look, weights = looks(assay)[t.model], np.asarray(t.weights)
    many = len(weights) > MANY_MEMBERS
    ax = axes_for(ax, (5.2, 3.2))
    x = np.arange(1, len(weights) + 1)
    ax.bar(x, np.sort(weights)[::-1] if many else weights, 0.85 if many else 0.65, color=look.colour)
    ax.axhline(1 / len(weights), color="black", linewidth=1.0, linestyle="--")
    ax.annotate("1/M", (1.0, 1 / len(weights)), (3, 0), **_BESIDE, va="center")
    ax.set_xlim(0.4, len(weights) + 0.6)
    if not many:
        ax.set_xticks(x)
    noun = "members" if assay[t.model].kind == "Members" else "vertices"
    ax.set_xlabel(f"{noun}, the heaviest first" if many else noun)
    ax.set_ylabel("weight λ")
    label = measure_label(t.measure)
    least = f"least {label}: {number(t.statistic)}, model's mean {number(t.mean_value)}"
    headline(ax, _named(assay, t), least)
    return ax


def plot_calibration_before_after(
    assay: "Assay", model: str | None = None, measure: str | None = None, *, run: int = 0, ax: "Axes | None" = None
) -> "Axes":
    """Reliability diagrams of the model's mean and of the best mixture, with Wilson intervals.

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
    t = _test_of(assay, model, measure, run, mixed=True)
    look = looks(assay)[t.model]
    ax = axes_for(ax, (4.6, 4.3))
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    handles = []
    sides = (
        ("model's mean", t.before, t.accuracy_mean, Look(GREY, "s", ":", ""), -0.006),
        ("best mixture", t.after, t.accuracy_weighted, look, 0.006),
    )
    for name, bins, accuracy, own, shift in sides:
        assert bins is not None  # as weights are defined
        _draw_bins(ax, bins, own, shift)
        handles.append(swatch(own, f"{name}, accuracy {number(accuracy)}"))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("confidence")
    ax.set_ylabel("accuracy")
    best = f"mixture of least {measure_label(t.measure)}"
    headline(ax, _named(assay, t), _tested_words(t), f"{level_text(assay)} intervals", best)
    draw_legend(ax, handles, "lower right")
    return ax


# -- pieces ------------------------------------------------------------------------------------------------------------

_BESIDE: dict[str, Any] = {
    "xycoords": ("axes fraction", "data"),
    "textcoords": "offset points",
    "fontsize": "small",
    "annotation_clip": False,
}


def _test_row(ax: Any, at: int, t: "ModelCalibration", look: Look) -> None:
    draws = t.null[np.isfinite(t.null)]
    if draws.size:
        end = float(np.quantile(draws, NULL))
        ax.plot([float(draws.min()), end], [at, at], color="0.78", linewidth=7, solid_capstyle="butt", zorder=1)
    members = t.member_values[np.isfinite(t.member_values)]
    if members.size:
        ax.plot(members, np.full(len(members), at), "|", color=look.colour, alpha=0.5, markersize=8, zorder=2)
    style = {"marker": look.marker, "linestyle": "none", "color": look.colour, "markersize": 6}
    if t.n_members > 1 and np.isfinite(t.mean_value):
        ax.plot([t.mean_value], [at], **style, markerfacecolor="white", zorder=3)
    if np.isfinite(t.statistic):
        ax.plot([t.statistic], [at], **style, zorder=4)
    else:
        ax.annotate(t.reason or "undefined", (0.0, at), (4, 0), **_BESIDE, va="center", color=GREY)


def _draw_bins(ax: Any, bins: "Reliability", look: Look, shift: float) -> None:
    filled = bins.count > 0
    x, y = bins.confidence[filled] + shift, bins.accuracy[filled]
    ax.vlines(x, bins.low[filled], bins.high[filled], color=look.colour, linewidth=1.2, alpha=0.7)
    ax.plot(x, y, color=look.colour, linewidth=1.0, linestyle=look.line)
    share = bins.count[filled] / bins.count.sum()
    style = {"color": look.colour, "marker": look.marker, "edgecolor": "white", "linewidth": 0.5, "zorder": 3}
    ax.scatter(x, y, s=14 + 90 * share, **style)


def _tested_words(t: "ModelCalibration") -> str:
    n = f"{count(t.n_tested)} instance{'s' if t.n_tested != 1 else ''}"
    return n if t.n_tested == t.n_instances else f"{count(t.n_tested)} of {count(t.n_instances)} instances"


def _named(assay: "Assay", t: "ModelCalibration") -> str:
    runs = {o.run for o in assay.calibration if o.model == t.model}
    return plain(t.model) + (f", run {t.run + 1}" if len(runs) > 1 else "")


# -- what is asked for -------------------------------------------------------------------------------------------------


def _made(assay: "Assay") -> list["ModelCalibration"]:
    matplotlib_module()  # without it, say so first
    made = [t for t in assay.calibration if t.tested != "nothing"]
    if not made:
        raise InputError(
            "assay",
            "needs calibration tests",
            "this one has none",
            "pass calibration=('ece-confidence', 'ece-classwise') to assay, and one label for each instance",
            code="missing",
        )
    return made


def _measure_of(made: list["ModelCalibration"], measure: str | None) -> str:
    known = list(dict.fromkeys(t.measure for t in made))
    if measure is not None and measure not in known:
        raise InputError(
            "measure", f"must be one of {', '.join(known)}", f"got {measure!r}", "choose one of them", code="choice"
        )
    return known[0] if measure is None else measure


def _tests_of(assay: "Assay", measure: str | None, models: Sequence[str] | None) -> list["ModelCalibration"]:
    """The tests of one measure."""
    made = _made(assay)
    chosen = _measure_of(made, measure)
    names = list(assay.model_names) if models is None else [named_model(assay, name).name for name in models]
    if not names:
        raise InputError("models", "needs at least one model", "got none", "leave it out for all of them", code="empty")
    return [t for name in names for t in made if (t.model, t.measure) == (name, chosen)]


def _test_of(
    assay: "Assay", model: str | None, measure: str | None, run: int, *, mixed: bool = False
) -> "ModelCalibration":
    """One test; `mixed` asks for one whose mixtures were tested."""
    made = _made(assay)
    chosen = _measure_of(made, measure)
    if model is not None:
        named_model(assay, model)
    tests = [t for t in made if t.measure == chosen and (model is None or t.model == model)]
    fitting = [t for t in tests if not mixed or t.n_members > 1]
    if not fitting:
        which = "every model" if model is None else repr(model)
        raise InputError(
            "model",
            f"{which} has no members that were mixed",
            "its mean was tested",
            "choose an ensemble",
            code="missing",
        )
    runs = [t for t in fitting if t.model == fitting[0].model]
    for t in runs:
        if t.run == run and mixed and np.isnan(t.weights).any():
            raise InputError(
                "measure",
                f"{t.measure} of {t.model!r} has no best mixture ({t.reason})",
                "",
                "choose another measure",
                code="missing",
            )
        if t.run == run:
            return t
    raise InputError(
        "run", f"must be among {', '.join(str(t.run) for t in runs)}", f"got {run}", "0 is the first", code="choice"
    )
