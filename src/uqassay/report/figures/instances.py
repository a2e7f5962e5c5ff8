"""Behind the means: the spread of losses by correctness, and the credal sets of single instances."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay.errors import InputError
from uqassay.evidence.conclusion import PICTURED_POINTS
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.report.distributions import densities
from uqassay.report.figures.columns import PLOT
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
from uqassay.report.figures.style import (
    at_tradeoff,
    looks,
    loss_label,
    matplotlib_module,
    named_model,
    plain,
    quantity_label,
    resampled_units,
)
from uqassay.wording import count, percent, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = ["plot_by_correctness", "plot_set_sizes"]

Array = NDArray[np.float64]
HALF = 0.42  # height of half a violin, rows are 1 apart
SHOWN_SETS = 50


def plot_by_correctness(
    assay: "Assay",
    quantity: Literal["distance", "nonspecificity", "unified"] = "distance",
    *,
    tradeoff: float = DEFAULT_TRADEOFF,
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Distribution of a loss over the instances that each model gets right (full, above) and wrong (pale, below its line).

    Parameters
    ----------
    assay : Assay
    quantity : {"distance", "nonspecificity", "unified"}
    tradeoff : float
        λ, for "unified".
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One row per model, all instances and runs, on a logarithmic axis since losses spread over many powers of ten. Values
        at or below its left end, zeros included, are a narrow bar there, as tall as their share, which stands at the
        right. Each half is scaled to its own peak. Dots are medians, bars quartiles.

    Raises
    ------
    InputError
        An unknown quantity, or λ negative or not finite.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figures 2, 6 and 9.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]])}, [0, 1, 0])
    >>> plot_by_correctness(a, ax=Figure().subplots()).get_xlabel()
    'KL divergence (nats)'
    """
    if quantity not in ("distance", "nonspecificity", "unified"):
        raise InputError(
            "quantity",
            "must be one of distance, nonspecificity, unified",
            f"got {quantity!r}",
            "choose one of them",
            code="choice",
        )
    check_tradeoff(tradeoff)
    found = densities(assay, tradeoff)[quantity]
    axis = np.asarray(found["axis"])
    models = found["models"][-1] if quantity == "unified" else found["models"]  # the last λ is the one asked for
    room = room_for(ax, width)
    names = fitting(assay.model_names, 0.34 * room)
    notes = _fitting_notes(assay, models, room - text_width(names) - 20 - PLOT)
    taken = text_width(names) + 12 + text_width([note for pair in notes for note in pair])
    ax = axes_for(ax, width, 1.0 + 0.42 * len(models))
    highest = max((max(p["density"]) for parts in models for p in parts.values() if p is not None), default=0.0)
    for i, (model, parts) in enumerate(zip(assay.candidates, models, strict=True)):
        colour = looks(assay)[model.name].colour
        ax.axhline(i, color="0.8", linewidth=0.6, zorder=0)
        for part, side, alpha, note in (("correct", -1, 0.75, notes[i][0]), ("wrong", 1, 0.28, notes[i][1])):
            if parts[part] is not None:
                _half_violin(ax, i + 0.03 * side, side, axis, parts[part], (colour, alpha), highest)
            ax.annotate(
                note,
                (1.0, i + side * 0.2),
                (6, 0),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                va="center",
                fontsize=text_size(),
                annotation_clip=False,
            )
    _logarithmic(ax, _heap(axis)[0] / 1.15, axis[-1] * 1.1)
    ax.set_ylim(len(models) - 0.5, -0.5)
    ax.set_yticks(range(len(models)), names)
    ax.tick_params(axis="y", length=0)
    label = (
        f"{loss_label(assay)},  {at_tradeoff(tradeoff)}" if quantity == "unified" else quantity_label(assay, quantity)
    )
    if len(axis) == 1:  # no positive value anywhere
        ax.set_xticks([], [])
        label += ": 0 wherever it is finite"
    label_axes(ax, label, taken=taken)
    headline(
        ax,
        resampled_units(assay),
        at_tradeoff(tradeoff) if quantity == "unified" else "",
        "full, above: correct",
        "pale, below: wrong",
        "dots: medians",
        "bars: quartiles",
        taken=taken,
    )
    return ax


def _fitting_notes(assay: "Assay", models: list[dict[str, Any]], points: float) -> list[tuple[str, str]]:
    """What stands at the right of each row: in full, or the counts alone, or nothing, as there is room."""
    full = [_part_notes(assay, m, parts) for m, parts in zip(assay.candidates, models, strict=True)]
    counts = [(above.split(",")[0], below.split(",")[0]) for above, below in full]
    for notes in (full, counts):
        if text_width([note for pair in notes for note in pair]) <= points:
            return notes
    return [("", "")] * len(full)


def _part_notes(assay: "Assay", model: "ModelScores", parts: dict[str, Any]) -> tuple[str, str]:
    """How many instances are in each half, and how many of them the axis does not show."""
    hit = assay.hits(model.name)
    notes = []
    for part, total in (("correct", int(hit.sum())), ("wrong", int((~hit).sum()))):
        found = parts[part]
        text = f"{count(total)} {part}"
        if found is not None and found["at_end"] >= 0.005:
            text += f", {percent(found['at_end'], 0)} at the left end"
        finite = 0 if found is None else found["n"]
        notes.append(text + (f", {count(total - finite)} infinite" if total > finite else ""))
    return notes[0], notes[1]


def _half_violin(
    ax: Any, base: float, side: int, axis: Array, part: dict[str, Any], face: tuple[str, float], highest: float
) -> None:
    """Density on one side of a row, scaled to its peak unless next to nothing lies there, and the heap at the left end."""
    density = np.asarray(part["density"])
    if highest > 0:
        height = HALF * density / max(density.max(), 0.1 * highest)
        ax.fill_between(axis, base, base + side * height, facecolor=face, edgecolor=face[0], linewidth=0.6)
    if part["at_end"] > 0:
        tall = np.full(2, base + side * HALF * part["at_end"])
        ax.fill_between(_heap(axis), base, tall, facecolor=face, edgecolor=face[0], linewidth=0.6)
    low, middle, high = (max(q, _heap(axis).mean()) for q in part["quartiles"])
    at = base + side * 0.1
    ax.plot([low, high], [at, at], color="black", linewidth=1.0, solid_capstyle="butt")
    dot: dict[str, Any] = {"color": "white", "markeredgecolor": "black", "markeredgewidth": 0.8, "linestyle": "none"}
    ax.plot([middle], [at], marker="o", markersize=3.5, **dot)


def _logarithmic(ax: Any, low: float, high: float) -> None:
    """Logarithmic axis with plain decimals, 1-2-5 where there are few powers of ten."""
    ticker = matplotlib_module("ticker")
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,)))
    ax.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def _heap(axis: Array) -> Array:
    """Ends of the narrow bar that stands for the values at or below the left end of the axis."""
    step = (axis[-1] / axis[0]) ** 0.035 if len(axis) > 1 else 1.2
    return axis[0] / step ** np.array([1.3, 0.4])


def plot_set_sizes(
    assay: "Assay", model: str, *, rows: ArrayLike | None = None, ax: "Axes | None" = None, width: Width = "text"
) -> "Axes":
    """Lower to upper probability of the predicted class, instance by instance.

    Parameters
    ----------
    assay : Assay
    model : str
    rows : int array (k,), optional
        Instances in the order to draw them, out of `assay.sets[model].rows`; by default 50 chosen at random (by the
        assay's seed, the same for all models), sorted by the mean probability.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One bar per instance (first run): in the model's colour where the prediction is right, hollow where it is wrong;
        a tick or a cross on it is the mean prediction.

    Raises
    ------
    InputError
        An unknown model or a baseline, or rows whose sets were not kept.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Notes
    -----
    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figures 14 to 16.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Intervals([[0.5, 0.1], [0.3, 0.6]], [[0.9, 0.5], [0.4, 0.7]])}, [0, 1])
    >>> plot_set_sizes(a, "m", ax=Figure().subplots()).get_ylabel()
    'probability of the predicted class'
    """
    scores, sample = named_model(assay, model), assay.sets[model]
    chosen = _typical_rows(assay, sample.rows) if rows is None else as_numeric(rows, "rows", ndim=1)
    order = np.argsort(sample.rows, kind="stable")
    at = order[np.minimum(np.searchsorted(sample.rows[order], chosen), len(order) - 1)]
    missing = np.flatnonzero(sample.rows[at] != chosen)
    if len(missing):
        raise InputError(
            "rows",
            f"the credal set of instance {chosen[missing[0]]} was not kept",
            "",
            f"choose among assay.sets[{model!r}].rows",
            code="undefined",
        )
    label = scores.columns["label"][0].astype(np.int64)[sample.rows[at]]
    low, high, mean = (a[at, label].astype(np.float64) for a in (sample.lower, sample.upper, sample.mean))  # (k,)
    if rows is None:
        ranks = np.lexsort((chosen, -mean))
        chosen, at, low, high, mean = (a[ranks] for a in (chosen, at, low, high, mean))
    hit = assay.hits(scores.name)[0][sample.rows[at]]
    counts = count(int(hit.sum())), count(int((~hit).sum()))
    labels = [f"correct ({counts[0]})", "its mean prediction", f"wrong ({counts[1]})", "its mean prediction"]
    ax = axes_for(ax, width, 2.2, legend=labels)
    below = 0.0
    look, place = looks(assay)[model], np.arange(len(at))
    for which, face in ((hit, look.colour), (~hit, "none")):
        ax.bar(
            place[which],
            np.maximum(high - low, 0.0)[which],
            bottom=low[which],
            width=0.7,
            facecolor=face,
            edgecolor=look.colour,
            linewidth=1.0,
        )
    ax.hlines(mean[hit], place[hit] - 0.35, place[hit] + 0.35, color="black", linewidth=1.2)
    ax.plot(place[~hit], mean[~hit], color="black", marker="x", markersize=5, linestyle="none", zorder=3)
    ax.set_xlim(-0.8, len(at) - 0.2)
    ax.set_ylim(0.0, 1.02)
    if len(at) <= 25:
        names = chosen if assay.ids is None else assay.ids[chosen]
        words = fitting([str(name) for name in names], 60)
        ax.set_xticks(place, words, rotation=90)
        below, label = text_width(words) - text_size(), "instance"
    else:
        ax.set_xticks([])
        label = "instances, by mean probability" if rows is None else "instances, in the order given"
    label_axes(ax, label, "probability of the predicted class")
    size = np.maximum(high - low, 0.0)
    headline(
        ax,
        plain(model),
        f"{count(len(at))} of {resampled_units(assay)}" + (" at random" if rows is None else ""),
        f"width: mean {significant(float(size.mean()))}, greatest {significant(float(size.max()))}",
        taken=beside(ax, labels),
    )
    patch, line = matplotlib_module("patches").Patch, matplotlib_module("lines").Line2D
    black: dict[str, Any] = {"color": "black", "linestyle": "none"}
    handles = [
        patch(facecolor=look.colour, edgecolor=look.colour, label=labels[0]),
        line([], [], marker="_", markersize=8, markeredgewidth=1.2, label=labels[1], **black),
        patch(facecolor="none", edgecolor=look.colour, label=labels[2]),
        line([], [], marker="x", markersize=5, label=labels[1], **black),
    ]
    draw_legend(ax, handles, below=below)
    return ax


def _typical_rows(assay: "Assay", held: NDArray[np.int64]) -> NDArray[np.int64]:
    """Instances at random out of those held; the extremes, which are always held, do not count."""
    if len(held) < assay.n_instances:
        held = np.setdiff1d(held, np.concatenate(list(assay.extreme_instances(PICTURED_POINTS).values())))
    order = np.random.default_rng(assay.settings.seed).permutation(np.sort(held))
    return order[:SHOWN_SETS]
