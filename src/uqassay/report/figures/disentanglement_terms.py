"""Disentanglement errors as pictures: the four terms, the ranking of contenders, and the classes left out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.disentanglement_measured import KINDS
from uqassay.evidence.disentanglement_ranking import Contender, RankedContender
from uqassay.metrics.disentanglement import Term, expected_absolute_correlation
from uqassay.report.figures.disentanglement_curves import LOOKS
from uqassay.report.figures.layout import (
    Width,
    axes_for,
    beside,
    draw_legend,
    fitting,
    label_axes,
    points_of,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.figures.style import GREY, swatch
from uqassay.wording import level_text, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "INK",
    "TERMS",
    "plot_disentanglement_ranking",
    "plot_disentanglement_terms",
    "plot_left_out_classes",
    "shown_classes",
]

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

    Raises
    ------
    InputError
        No contender has an error, or there are several data sets.
    """
    rows = [(row, row.found) for row in ranked if row.found is not None]
    datasets = {row.contender.study.dataset for row, _ in rows}
    if not rows:
        raise InputError(
            "ranked",
            "must hold a contender with a disentanglement error",
            f"got none among {len(ranked)}",
            "run the dataset-size and the label-noise experiment",
            code="empty",
        )
    if len(datasets) > 1:
        raise InputError(
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
