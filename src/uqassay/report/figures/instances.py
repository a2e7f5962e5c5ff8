"""What the means hide: losses by correctness, uncertainty against confidence and width, calibration, single sets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay.errors import InputError
from uqassay.metrics.unified import check_tradeoff
from uqassay.report.distributions import confidence_lines, correct_mask, densities
from uqassay.report.figures.style import (
    axes_for,
    count,
    draw_legend,
    headline,
    level_text,
    looks,
    loss_label,
    matplotlib_module,
    named_model,
    number,
    plain,
    quantity_label,
    resampled_units,
    swatch,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.assay.result import Assay
    from uqassay.assay.scoring import ModelScores

__all__ = ["plot_by_correctness", "plot_confidence", "plot_reliability", "plot_set_sizes", "plot_width_nonspecificity"]

Array = NDArray[np.float64]
HALF = 0.42  # height of half a violin, rows are 1 apart
CELLS = 50  # of a heat map in each direction
SHOWN_SETS = 50


def plot_by_correctness(
    assay: "Assay",
    quantity: Literal["distance", "nonspecificity", "unified"] = "distance",
    *,
    tradeoff: float = 1.0,
    ax: "Axes | None" = None,
) -> "Axes":
    """Distribution of a loss over the instances that each model gets right (above) and wrong (below its line).

    Parameters
    ----------
    assay : Assay
    quantity : {"distance", "nonspecificity", "unified"}
    tradeoff : float
        λ, for "unified".
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        One row per model, all instances and runs, on a logarithmic axis since losses spread over many powers of ten; what
        lies below its left end, zeros included, is heaped there and its share written at the right. Each half is scaled
        to its own peak. Dots are medians, bars quartiles.

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
            f"quantity: must be one of distance, nonspecificity, unified; got {quantity!r}; choose one of them."
        )
    check_tradeoff(tradeoff)
    found = densities(assay, tradeoff)[quantity]
    axis = np.asarray(found["axis"])
    models = found["models"][-1] if quantity == "unified" else found["models"]  # the last λ is the one asked for
    ax = axes_for(ax, (6.8, 1.1 + 0.62 * len(models)))
    for i, (model, parts) in enumerate(zip(assay.candidates, models, strict=True)):
        colour, hit = looks(assay)[model.name].colour, correct_mask(assay, model)
        ax.axhline(i, color="0.8", linewidth=0.6, zorder=0)
        for part, side, alpha, total in (("correct", -1, 0.35, hit.sum()), ("wrong", 1, 0.85, (~hit).sum())):
            text = f"{count(int(total))} {part}"
            if parts[part] is not None:
                _half_violin(ax, i, side, axis, parts[part], colour, alpha)
                if total > parts[part]["n"]:
                    text += f", {count(int(total) - parts[part]['n'])} infinite"
                if parts[part]["at_end"] >= 0.005:
                    text += f", {100 * parts[part]['at_end']:.0f} % at the left end"
            ax.text(1.01, i + side * 0.2, text, transform=ax.get_yaxis_transform(), va="center", fontsize="x-small")
    ax.set_xscale("log")
    ax.set_xlim(axis[0] / 1.3, axis[-1] * 1.1)
    ax.set_ylim(len(models) - 0.5, -0.5)
    ax.set_yticks(range(len(models)), [plain(m.name) for m in assay.candidates])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(
        f"{loss_label(assay)},  λ = {tradeoff:g}" if quantity == "unified" else quantity_label(assay, quantity)
    )
    headline(ax, f"{resampled_units(assay)}; pale, above: correct; full, below: wrong; dots: medians, bars: quartiles")
    return ax


def _half_violin(ax: Any, row: int, side: int, axis: Array, part: dict[str, Any], colour: str, alpha: float) -> None:
    height = np.asarray(part["density"])
    height = HALF * height / height.max()
    ax.fill_between(axis, row, row + side * height, facecolor=colour, alpha=alpha, edgecolor=colour, linewidth=0.6)
    low, middle, high = (max(q, axis[0]) for q in part["quartiles"])
    at = row + side * 0.1
    ax.plot([low, high], [at, at], color="black", linewidth=1.0, solid_capstyle="butt")
    ax.plot([middle], [at], color="white", marker="o", markersize=4.5, markeredgecolor="black", linestyle="none")


# -- heat maps --------------------------------------------------------------------------------------------------------


def plot_width_nonspecificity(assay: "Assay", model: str, *, ax: "Axes | None" = None) -> "Axes":
    """How non-specificity follows the width of the credal sets: heat map of one model's instances, log counts.

    Parameters
    ----------
    assay : Assay
        With "credal-width" among its measures, as by default.
    model : str
    ax : matplotlib Axes, optional
        The colour bar becomes an inset of it and takes no room from other axes.

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
    ax = axes_for(ax, (5.0, 3.9))
    _heat_map(ax, x, y, x_end=float(x.max(initial=0.0)))
    ax.set_xlabel(quantity_label(assay, "credal-width"))
    ax.set_ylabel(quantity_label(assay, "nonspecificity"))
    headline(ax, f"{plain(model)}; {_counted(assay, scores)}")
    return ax


def plot_confidence(
    assay: "Assay", model: str, quantity: str = "nonspecificity", *, ax: "Axes | None" = None
) -> "Axes":
    """Whether an uncertainty says more than confidence does: heat map of one model's instances, and the mean per bin.

    Parameters
    ----------
    assay : Assay
    model : str
    quantity : str
        "nonspecificity", or one of the assay's measures such as "total-entropy".
    ax : matplotlib Axes, optional
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
    ax = axes_for(ax, (5.0, 3.9))
    _heat_map(ax, confidence, y, x_end=1.0)
    look = looks(assay)[model]
    line = confidence_lines(assay, (quantity,))[quantity][assay.model_names.index(model)]
    ax.plot(line["confidence"], line["mean"], color="white", linewidth=3.2)
    ax.plot(line["confidence"], line["mean"], color=look.colour, marker=look.marker, markersize=4, linewidth=1.4)
    ax.set_xlabel("confidence in the predicted class")
    ax.set_ylabel(quantity_label(assay, quantity))
    headline(ax, f"{plain(model)}; {_counted(assay, scores)}; line: mean per bin")
    return ax


def _column(assay: "Assay", scores: "ModelScores", name: str) -> Array:
    """All runs and instances of one column, ``(R · n,)``."""
    if name != "nonspecificity" and name not in assay.settings.measures:
        known = ", ".join(("nonspecificity", *assay.settings.measures))
        raise InputError(
            f"quantity: must be one of {known}; got {name!r}; pass measures=[{name!r}, …] to assay for it."
        )
    values = scores.columns[name].ravel()
    if np.isnan(values).all():
        raise InputError(f"quantity: {name} is not defined for {scores.kind}; got {scores.name!r}; choose another one.")
    return values


def _counted(assay: "Assay", scores: "ModelScores") -> str:
    return resampled_units(assay) + (f", {scores.n_runs} runs" if scores.n_runs > 1 else "")


def _heat_map(ax: Any, x: Array, y: Array, *, x_end: float) -> None:
    """Counts per cell from 0 to the greatest values, with a colour bar beside the axes."""
    kept = np.isfinite(x) & np.isfinite(y)
    x, y = x[kept], y[kept]
    ends = [x_end if x_end > 0 else 1.0, float(y.max(initial=0.0)) or 1.0]
    counts, x_edges, y_edges = np.histogram2d(
        x, y, bins=CELLS, range=[[min(0.0, x.min()), ends[0]], [min(0.0, y.min()), ends[1]]]
    )
    norm = matplotlib_module("colors").LogNorm(1, max(counts.max(), 10))
    shown = np.ma.masked_equal(counts.T, 0)
    mesh = ax.pcolormesh(x_edges, y_edges, shown, norm=norm, cmap="cividis_r", rasterized=True)
    ax.figure.colorbar(mesh, cax=ax.inset_axes([1.03, 0.0, 0.035, 1.0]), label="instances")
    left_out = len(kept) - int(kept.sum())
    if left_out:
        ax.text(
            0.98,
            0.98,
            f"{count(left_out)} not finite, left out",
            transform=ax.transAxes,
            ha="right",
            va="top",
            fontsize="x-small",
        )


# -- calibration ------------------------------------------------------------------------------------------------------


def plot_reliability(
    assay: "Assay", models: Sequence[str] | None = None, *, n_bins: int = 10, ax: "Axes | None" = None
) -> "Axes":
    """Accuracy against confidence in equal-width bins, with Wilson intervals; the diagonal is perfect calibration.

    Parameters
    ----------
    assay : Assay
    models : sequence of str, optional
        All models by default.
    n_bins : int
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        The area of a marker grows with the share of the instances in its bin; for a single model the number of
        instances stands beside it.

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
        raise InputError("models: needs at least one model; got none; leave it out for all.")
    bins = {name: assay.reliability(named_model(assay, name).name, n_bins=n_bins) for name in names}
    ax = axes_for(ax, (4.8, 4.4))
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    handles = []
    for name in names:
        look, b = looks(assay)[name], bins[name]
        filled = b.count > 0
        x, y = b.confidence[filled], b.accuracy[filled]
        ax.vlines(x, b.low[filled], b.high[filled], color=look.colour, linewidth=1.2, alpha=0.7)
        ax.plot(x, y, color=look.colour, linewidth=1.0, linestyle=look.line)
        share = b.count[filled] / b.count.sum()
        ax.scatter(
            x, y, s=14 + 90 * share, color=look.colour, marker=look.marker, edgecolor="white", linewidth=0.5, zorder=3
        )
        if len(names) == 1:
            for at, height, n in zip(x, b.low[filled], b.count[filled].tolist(), strict=True):
                ax.annotate(
                    count(n),
                    (at, height),
                    (0, -3),
                    textcoords="offset points",
                    ha="center",
                    va="top",
                    fontsize="x-small",
                )
        handles.append(swatch(look, plain(name)))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("confidence")
    ax.set_ylabel("accuracy")
    size = "numbers: instances" if len(names) == 1 else "marker area: share of instances"
    headline(ax, f"{resampled_units(assay)}; {level_text(assay)} intervals; {size}")
    draw_legend(ax, handles)
    return ax


# -- single credal sets -----------------------------------------------------------------------------------------------


def plot_set_sizes(assay: "Assay", model: str, *, rows: ArrayLike | None = None, ax: "Axes | None" = None) -> "Axes":
    """Lower to upper probability of the predicted class, instance by instance.

    Parameters
    ----------
    assay : Assay
    model : str
    rows : int array (k,), optional
        Instances in the order to draw them, out of `assay.sets[model].rows`; by default 50 chosen at random (by the
        assay's seed, the same for all models), sorted by the mean probability.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        One bar per instance (first run): in the model's colour where the prediction is right, hollow where it is wrong;
        the tick on it is the mean prediction.

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
            f"rows: the credal set of instance {chosen[missing[0]]} was not kept; choose among assay.sets[{model!r}].rows."
        )
    label = scores.columns["label"][0].astype(np.int64)[sample.rows[at]]
    low, high, mean = (a[at, label].astype(np.float64) for a in (sample.lower, sample.upper, sample.mean))  # (k,)
    if rows is None:
        ranks = np.lexsort((chosen, -mean))
        chosen, at, low, high, mean = (a[ranks] for a in (chosen, at, low, high, mean))
    hit = correct_mask(assay, scores)[0][sample.rows[at]]
    ax = axes_for(ax, (6.8, 3.2))
    look, place = looks(assay)[model], np.arange(len(at))
    for which, face, name in ((hit, look.colour, "correct"), (~hit, "none", "wrong")):
        ax.bar(
            place[which],
            np.maximum(high - low, 0.0)[which],
            bottom=low[which],
            width=0.7,
            facecolor=face,
            edgecolor=look.colour,
            linewidth=1.0,
            label=f"{name} ({count(int(which.sum()))})",
        )
    ax.hlines(mean, place - 0.35, place + 0.35, color="black", linewidth=1.2)
    ax.set_xlim(-0.8, len(at) - 0.2)
    ax.set_ylim(0.0, 1.02)
    if len(at) <= 25:
        names = chosen if assay.ids is None else assay.ids[chosen]
        ax.set_xticks(place, [plain(name, limit=14) for name in names], rotation=90, fontsize="x-small")
        ax.set_xlabel("instance")
    else:
        ax.set_xticks([])
        ax.set_xlabel("instances, by mean probability" if rows is None else "instances, in the order given")
    ax.set_ylabel("probability of the predicted class")
    width = np.maximum(high - low, 0.0)
    which_ones = f"{count(len(at))} of {resampled_units(assay)}" + (" at random" if rows is None else "")
    headline(ax, f"{plain(model)}; {which_ones}; width: mean {number(width.mean())}, greatest {number(width.max())}")
    patch = matplotlib_module("patches").Patch
    draw_legend(
        ax,
        [
            patch(facecolor=look.colour, edgecolor=look.colour, label=f"correct ({count(int(hit.sum()))})"),
            patch(facecolor="none", edgecolor=look.colour, label=f"wrong ({count(int((~hit).sum()))})"),
        ],
    )
    return ax


def _typical_rows(assay: "Assay", held: NDArray[np.int64]) -> NDArray[np.int64]:
    """Instances at random out of those held; the extremes, which are held whatever chance says, do not count."""
    if len(held) < assay.n_instances:
        held = np.setdiff1d(held, np.concatenate(list(assay.extreme_instances(30).values())))
    order = np.random.default_rng(assay.settings.seed).permutation(np.sort(held))
    return order[:SHOWN_SETS]
