"""Figures of calibration: all models, one test closely, second order."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.arrays import Floats
from uqassay.calibration.nulls import ROUNDING
from uqassay.checks import fail
from uqassay.evidence.calibration import adjusted_pvalues
from uqassay.evidence.sentences import measure_label
from uqassay.report.figures.frame import (
    GREY,
    Look,
    Width,
    axes_for,
    beside,
    columns_width,
    draw_legend,
    fitting,
    fitting_columns,
    headline,
    interval_level,
    label_axes,
    legend_names,
    look_at,
    looks,
    mark,
    matplotlib_module,
    named_model,
    plain,
    room_for,
    swatch,
    text_size,
    text_width,
    write_columns,
)
from uqassay.report.sentences import FEW
from uqassay.text import count, counted, level_text, number, percent, percent_interval, pvalue, pvalue_text, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.calibration import SecondOrderTest
    from uqassay.evidence.data import ModelCalibration
    from uqassay.evidence.result import Assay
    from uqassay.metrics.reliability_diagrams import Reliability

__all__ = [
    "all_tests",
    "draw_bins",
    "draw_tests",
    "instances_tested",
    "named_run",
    "null_histogram",
    "one_test",
    "plot_calibration_before_after",
    "plot_calibration_null",
    "plot_calibration_tests",
    "plot_ensemble_weights",
    "plot_second_order",
]


# Which calibration tests a figure shows, and how it names them.


def _made(assay: "Assay") -> list["ModelCalibration"]:
    matplotlib_module()  # without it, say so first
    made = [t for t in assay.calibration if t.tested != "nothing"]
    if not made:
        fail(
            "assay",
            "needs calibration tests",
            "this one has none",
            "pass calibration=('kuiper-confidence', 'ece-classwise') to assay, and one label for each instance",
            code="missing",
        )
    return made


def _measure_of(made: list["ModelCalibration"], measure: str | None) -> str:
    known = list(dict.fromkeys(t.measure for t in made))
    if measure is not None and measure not in known:
        fail("measure", f"must be one of {', '.join(known)}", f"got {measure!r}", "choose one of them", code="choice")
    return known[0] if measure is None else measure


def all_tests(assay: "Assay", measure: str | None, models: Sequence[str] | None) -> list["ModelCalibration"]:
    """The tests of one measure."""
    made = _made(assay)
    chosen = _measure_of(made, measure)
    names = list(assay.model_names) if models is None else [named_model(assay, name).name for name in models]
    if not names:
        fail("models", "needs at least one model", "got none", "leave it out for all of them", code="empty")
    return [t for name in names for t in made if (t.model, t.measure) == (name, chosen)]


def one_test(
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
        fail(
            "model",
            f"{which} has no members that were mixed",
            "its mean was tested",
            "choose an ensemble",
            code="missing",
        )
    runs = [t for t in fitting if t.model == fitting[0].model]
    for t in runs:
        if t.run == run and mixed and np.isnan(t.weights).any():
            fail(
                "measure",
                f"{t.measure} of {t.model!r} has no best mixture ({t.reason})",
                "",
                "choose another measure",
                code="missing",
            )
        if t.run == run:
            return t
    fail("run", f"must be among {', '.join(str(t.run) for t in runs)}", f"got {run}", "0 is the first", code="choice")


# -- words --------------------------------------------------------------------------------------------------------------


def instances_tested(t: "ModelCalibration") -> str:
    """On how many instances a test was made."""
    if t.n_tested == t.n_instances:
        return counted(t.n_tested, "case")
    return f"{count(t.n_tested)} of {counted(t.n_instances, 'case')}"


def run_of(assay: "Assay", t: "ModelCalibration") -> str:
    """The run of a test, where its model has several, as it follows the name."""
    runs = {o.run for o in assay.calibration if o.model == t.model}
    return f", run {t.run + 1}" if len(runs) > 1 else ""


def named_run(assay: "Assay", t: "ModelCalibration") -> str:
    """The model of a test, with its run where there are several."""
    return plain(t.model) + run_of(assay, t)


# Can it be calibrated: the calibration tests of all models by one measure.

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
    draw_tests(ax, assay, tests, labels)
    write_columns(ax, columns, range(len(tests)), top=-0.6, bold=[adjusted[id(t)] <= rejected for t in tests])
    label_axes(ax, measure_label(tests[0].measure), taken=taken)
    n_tests = int((~np.isnan(list(adjusted.values()))).sum())
    headline(
        ax,
        instances_tested(tests[0]),
        f"p by Holm over {n_tests} tests" if n_tests > 1 else "",
        taken=taken,
    )
    draw_legend(ax, handles, apart=8 + columns_width(columns))
    return ax


def draw_tests(ax: Any, assay: "Assay", tests: Sequence["ModelCalibration"], labels: Sequence[str]) -> None:
    """A row for each test."""
    adjusted = dict(zip(map(id, assay.calibration), adjusted_pvalues(assay.calibration).tolist(), strict=True))
    for at, t in enumerate(tests):
        _test_row(ax, at, t, looks(assay)[t.model], f"{t.model}{run_of(assay, t)}: ", adjusted[id(t)])
    ax.set_ylim(len(tests) - 0.4, -0.6)
    ax.set_yticks(range(len(tests)), labels)
    ax.margins(x=0.04)


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


def _test_row(ax: Any, at: int, t: "ModelCalibration", look: Look, named: str, adjusted: float) -> None:
    draws = t.null[np.isfinite(t.null)]
    if draws.size:
        ends = float(draws.min()), float(np.quantile(draws, NULL))
        (bar,) = ax.plot(ends, [at, at], color="0.78", linewidth=6, solid_capstyle="butt", zorder=1)
        span = f"{significant(ends[0])} to {significant(ends[1])}"
        mark(bar, "", [f"{named}{100 * NULL:g} % of the null draws from {span}"])
    known = np.flatnonzero(np.isfinite(t.member_values))
    if known.size:
        ticks = {"color": look.colour, "alpha": 0.5, "markersize": 8, "linestyle": "none"}
        (single,) = ax.plot(t.member_values[known], np.full(len(known), at), marker="|", zorder=2, **ticks)
        mark(single, "", [named + words_of_member(t, i) for i in known.tolist()])
    drawn: dict[str, Any] = {"marker": look.marker, "linestyle": "none", "color": look.colour, "markersize": 5}
    if t.n_members > 1 and np.isfinite(t.mean_value):
        (mean,) = ax.plot([t.mean_value], [at], **drawn, markerfacecolor="white", zorder=3)
        said = "" if np.isnan(t.mean_pvalue) else f", {pvalue_text(t.mean_pvalue)}"
        mark(mean, "", [f"{named}model’s mean {significant(t.mean_value)}{said}"])
    if np.isfinite(t.statistic):
        (found,) = ax.plot([t.statistic], [at], **drawn, zorder=4)
        what = "best mixture" if t.n_members > 1 else "found"
        mark(found, "", [f"{named}{what} {significant(t.statistic)}, {pvalue_text(adjusted)} (adjusted by Holm)"])
    else:
        style: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        why = "infinite" if np.isinf(t.statistic) else t.reason or "undefined"
        ax.annotate(why, (0.0, at), (4, 0), **style, va="center", color=GREY, fontsize=text_size())


def words_of_member(t: "ModelCalibration", i: int) -> str:
    """A single member in words: its value, the p-value of its own test, and its weight in the best mixture."""
    own = f"{'vertex' if t.noun == 'vertices' else 'member'} {i + 1}: {significant(float(t.member_values[i]))}"
    if len(t.member_pvalues) and not np.isnan(t.member_pvalues[i]):
        own += f", {pvalue_text(float(t.member_pvalues[i]))}"
    if not np.isnan(t.weights).any():
        own += f", weight {number(float(t.weights[i]), 2, bounded=True)}"
    return own


# One calibration test, closely: its null draws, the weights of the best mixture, and the diagrams before and after.

MANY_MEMBERS = 24  # more stand in the order of their weights
MOST_BARS = 40


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
        fail(
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


def null_histogram(null: Floats, statistic: float) -> dict[str, Any]:
    """Histogram of the null draws with a bin edge at the observed statistic, so that the p-value can be read off.

    Parameters
    ----------
    null : array (D,)
    statistic : float

    Returns
    -------
    dict
        "start" of the first bar, "width", "counts"; "infinite": draws that are +inf; "reach": how many draws are at least as
        great as the statistic. No bars where no draw is finite.

    Examples
    --------
    >>> bars = null_histogram(np.array([0.1, 0.2, 0.3, 0.3]), 0.3)
    >>> sum(bars["counts"]), bars["counts"][-1], bars["reach"]
    (4, 2, 2)
    """
    draws = np.asarray(null, dtype=np.float64)
    finite = np.sort(draws[np.isfinite(draws)])
    margin = ROUNDING * abs(statistic) + 1e-15 if np.isfinite(statistic) else 0.0  # as in the p-value
    least = float(statistic) - margin
    out: dict[str, Any] = {
        "start": None,
        "width": None,
        "counts": [],
        "infinite": int(np.isposinf(draws).sum()),
        "reach": int((draws >= least).sum()),
    }
    if not finite.size:
        return out
    edge = least if np.isfinite(least) else float(finite[0])
    span = float(finite[-1] - finite[0])
    spread = float(np.subtract(*np.quantile(finite, [0.75, 0.25])))
    width = max(2 * spread * finite.size ** (-1 / 3), span / MOST_BARS)  # Freedman and Diaconis
    if not width > 1e-9 * max(abs(edge), float(np.abs(finite).max()), 1e-300):  # all draws are equal
        width = max(abs(edge), abs(float(finite[0]))) / MOST_BARS or 1.0
    place = np.floor((finite - edge) / width).astype(np.int64)
    place = np.where(
        finite >= edge, np.maximum(place, 0), np.minimum(place, -1)
    )  # rounding moves no draw past the edge
    counts = np.bincount(place - place[0])
    return out | {"start": edge + int(place[0]) * width, "width": width, "counts": counts.tolist()}


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
        draw_bins(ax, bins, own, shift=shift)
        handles.append(swatch(own, label))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    label_axes(ax, "confidence", "accuracy")
    best = f"mixture of least {measure_label(t.measure)}"
    parts = named_run(assay, t), instances_tested(t), f"{interval_level(assay)} bands", best
    headline(ax, *parts, taken=beside(ax, labels))
    draw_legend(ax, handles)
    return ax


def draw_bins(
    ax: Any, bins: "Reliability", look: Look, marked: str = "", named: str = "", *, shift: float = 0.0
) -> None:
    """A reliability diagram with its band; `marked` and `named` begin its classes and its words on a page."""
    filled = bins.count > 0
    x, y, counts = bins.confidence[filled] + shift, bins.accuracy[filled], bins.count[filled]
    low, high = bins.band_low[filled], bins.band_high[filled]
    band = ax.vlines(x, low, high, color=look.colour, linewidth=1.2, alpha=0.7)
    mark(band, f"{marked} band")
    mark(ax.plot(x, y, color=look.colour, linewidth=1.0, linestyle=look.line)[0], marked)
    faces = ["white" if n < FEW else look.colour for n in counts.tolist()]
    edges = [look.colour if n < FEW else "white" for n in counts.tolist()]
    size = 14 + 90 * counts / counts.sum()
    points = ax.scatter(x, y, s=size, c=faces, marker=look.marker, edgecolors=edges, linewidth=0.8, zorder=3)
    mark(points, f"{marked} marks", [named + words for words in words_of_bins(bins)])


def words_of_bins(bins: "Reliability") -> list[str]:
    """Each bin that holds instances, in words."""
    filled = np.flatnonzero(bins.count > 0)
    ends = [
        percent_interval(low, high, 0) for low, high in zip(bins.edges[filled], bins.edges[filled + 1], strict=True)
    ]
    bands = [percent_interval(bins.band_low[b], bins.band_high[b]) for b in filled]
    return [
        f"confidence {at}: accuracy {percent(float(bins.accuracy[b]))} ({band}), {counted(int(bins.count[b]), 'case')}"
        for at, band, b in zip(ends, bands, filled, strict=True)
    ]


# Stated against observed epistemic variance, bucket by bucket.


def plot_second_order(
    tests: "SecondOrderTest | Mapping[str, SecondOrderTest]", *, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Observed epistemic variance of each bucket of instances against the stated one, with intervals.

    Parameters
    ----------
    tests : SecondOrderTest, or mapping of name to SecondOrderTest
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Points on the dashed diagonal are second-order calibrated; above it, the model states too little variance. The size
        of the buckets follows from the `buckets` of the test.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> members = np.random.default_rng(0).dirichlet([1, 1], (40, 3))
    >>> found = uq.calibration.second_order_test(np.full((40, 2), 2), uq.Members(members), buckets=4)
    >>> ax = plot_second_order(found, ax=Figure().subplots())
    >>> len(ax.containers)
    1
    """
    named = dict(tests) if isinstance(tests, Mapping) else {"": tests}
    labels = legend_names(list(named), room_for(ax, width)) if len(named) > 1 else []
    ax = axes_for(ax, width, 2.7, legend=labels)
    handles, greatest = [], 0.0
    for place, test in enumerate(named.values()):
        look, stated = look_at(place), test.buckets.stated
        observed = np.array([float(o) for o in test.buckets.observed])
        low, high = (np.array([getattr(o, end) for o in test.buckets.observed]) for end in ("low", "high"))
        reach = np.stack([np.nan_to_num(observed - low), np.nan_to_num(high - observed)])
        ax.errorbar(
            stated,
            observed,
            yerr=np.maximum(reach, 0.0),
            color=look.colour,
            marker=look.marker,
            linestyle="none",
            markersize=4.5,
            linewidth=1.2,
        )
        handles += [swatch(look, labels[place], line=False)] if labels else []
        greatest = max(greatest, float(stated.max()), float(np.nanmax(observed)))
    ax.plot([0.0, greatest], [0.0, greatest], color=GREY, linestyle="--", linewidth=1.0, zorder=0)
    label_axes(ax, "stated epistemic variance", "observed epistemic variance")
    first = next(iter(named.values()))
    level = f"{level_text(first.observed.level)} intervals"
    if len(named) > 1:
        headline(ax, counted(first.n, "case"), level, taken=beside(ax, labels))
        draw_legend(ax, handles)
    else:
        headline(ax, counted(first.n, "case"), f"{first.by} {pvalue_text(first.pvalue)}", level)
    return ax
