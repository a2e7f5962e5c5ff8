"""What the means hide: the spread of losses by correctness, and the credal sets of single instances."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay.errors import InputError
from uqassay.metrics.unified import check_tradeoff
from uqassay.report.distributions import correct_mask, densities
from uqassay.report.figures.style import (
    axes_for,
    count,
    draw_legend,
    headline,
    looks,
    loss_label,
    matplotlib_module,
    named_model,
    number,
    plain,
    quantity_label,
    resampled_units,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.assay.result import Assay

__all__ = ["plot_by_correctness", "plot_set_sizes"]

Array = NDArray[np.float64]
HALF = 0.42  # height of half a violin, rows are 1 apart
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
