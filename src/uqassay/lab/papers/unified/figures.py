"""Figures 1 to 20 of the unified evaluation for predictors trained here."""

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.credal import box_vertices, mass_event_bounds, permutation_vertices
from uqassay.lab.papers.figure_files import check_folder, write_figure
from uqassay.lab.papers.options import Say
from uqassay.lab.papers.unified.judging import MEMBERS, given_classes
from uqassay.lab.papers.unified.tables import LINE, METRICS, PARTS, TRADEOFFS, Value, interval_text, means_by_part
from uqassay.losses import unified_loss
from uqassay.predictions import Box, Dirichlet, Intervals, Masses, Members, Point, Prediction, Vertices
from uqassay.report import figures
from uqassay.report.figures.frame import (
    GREY,
    PALETTE,
    Look,
    draw_legend,
    headline,
    look_at,
    matplotlib_module,
    plain,
    quantity_label,
    swatch,
)
from uqassay.text import count, counted, listed, number, percent, significant

if TYPE_CHECKING:
    from uqassay.evidence import Assay
    from uqassay.lab.papers.unified.judging import JudgedDataSet

__all__ = [
    "FIGURES",
    "averaged_examples",
    "belief_example",
    "closures",
    "draw_averages",
    "draw_beliefs",
    "draw_closures",
    "draw_distances",
    "draw_mean_e",
    "draw_measures",
    "draw_scatter",
    "draw_types",
    "mean_terms",
    "model_looks",
    "n_unified_figures",
    "scattered",
    "types_of_predictions",
    "write_unified_figures",
]


# A model has one colour in all figures and panels, and no two models share one.

FURTHER_COLOURS = ("#8C510A", "#6A3D9A")  # ten models with the averages, and eight colours in the figures of an assay


def model_looks(judged: "JudgedDataSet") -> dict[str, Look]:
    """Looks by model: first the models that state sets, as in the figures that show them alone, then the others."""
    sets, names = (found["exact"].model_names for found in (judged.ranked, judged.assays))
    found = {name: look_at(place) for place, name in enumerate(dict.fromkeys((*sets, *names)))}
    further = list(found)[len(PALETTE) :]
    return found | {n: found[n]._replace(colour=c) for n, c in zip(further, FURTHER_COLOURS, strict=False)}


# Figures 1, 3, 4 and 5 of the unified evaluation: types of predictions, and single predictions of the networks trained here.

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # as `plot_simplex` has them
TRUTH = 1  # class b of Figure 1, (0, 1, 0)
ROUNDING = 1e-9
SHOWN_CLASSES, SHOWN_SETS = 12, 32
QUANTILES = (1.0, 0.99, 0.95)  # of NS, the instances of Figure 5


# ---- Figure 1: types of predictions ----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class PredictionType:
    """One panel of Figure 1."""

    title: str
    prediction: Prediction  #: One instance of three classes
    nearest: Floats  #: (3,): The distribution in its credal set from which the arrow goes to the label
    #: KL and NS of the exact convention
    distance: float
    nonspecificity: float


def types_of_predictions() -> list[PredictionType]:
    """The panels of Figure 1: chosen predictions of each type about an instance of class b.

    Examples
    --------
    >>> [(one.title, round(one.distance, 3), round(one.nonspecificity, 3)) for one in types_of_predictions()][:2]
    [('point (SNN, DDU)', 0.799, 0.0), ('members (deep ensemble)', 0.545, 0.249)]
    """
    names = ("a", "b", "c")
    members = [[0.40, 0.40, 0.20], [0.22, 0.58, 0.20], [0.30, 0.35, 0.35], [0.45, 0.25, 0.30], [0.33, 0.47, 0.20]]
    sets = [[0], [1], [0, 1], [1, 2], [0, 1, 2]]
    bounds = np.array([[0.20, 0.30, 0.10]]), np.array([[0.50, 0.55, 0.35]])
    corners = np.array([[[0.2, 0.6, 0.2], [0.55, 0.3, 0.15], [0.4, 0.2, 0.4], [0.15, 0.4, 0.45]]])
    predictions: dict[str, Prediction] = {
        "point (SNN, DDU)": Point(np.array([[0.30, 0.45, 0.25]]), class_names=names),
        "members (deep ensemble)": Members(np.array([members]), class_names=names),
        "Dirichlet draws (LB-BNN, EDL)": Dirichlet(np.array([[6.0, 8.0, 5.0]]), class_names=names),
        "probability intervals (CreINN)": Intervals(*bounds, class_names=names),
        "belief function (RS-NN, E-CNN)": Masses([[0.25, 0.25, 0.2, 0.15, 0.15]], sets, n_classes=3, class_names=names),
        "credal set by its vertices": Vertices(corners, class_names=names),
    }
    found = []
    for title, prediction in predictions.items():
        loss = unified_loss([TRUTH], prediction, tradeoff=1.0)
        points = _spanning(prediction)
        greatest = points[:, TRUTH].max()
        nearest = points[points[:, TRUTH] > greatest - 1e-12].mean(axis=0)  # all of an edge may be as near
        found.append(PredictionType(title, prediction, nearest, float(loss.distance[0]), float(loss.nonspecificity[0])))
    return found


def draw_types(figure: Any) -> None:
    """Figure 1: one simplex for each type, the arrow goes from the nearest distribution to the label."""
    found = types_of_predictions()
    for i, (ax, one) in enumerate(zip(figure.subplots(2, 3).ravel(), found, strict=True)):
        figures.plot_simplex(one.prediction, label=TRUTH, color=look_at(i).colour, ax=ax)
        ax.annotate(
            "",
            tuple(CORNERS[TRUTH]),
            tuple(one.nearest @ CORNERS),
            arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 1.6, "shrinkA": 0, "shrinkB": 7},
            zorder=6,
        )
        e = significant(one.distance + one.nonspecificity)
        ax.set_title(
            f"{one.title}\nKL {significant(one.distance)} (arrow) + NS {significant(one.nonspecificity)} = E {e}, λ = 1",
            loc="left",
            fontsize="medium",
        )


def _spanning(prediction: Prediction) -> Floats:
    """Points whose hull is the credal set of a single instance, ``(V, K)``."""
    if isinstance(prediction, Box):
        return box_vertices(*prediction.bounds())[0][0]
    if isinstance(prediction, Masses):
        return permutation_vertices(prediction.checked_masses(), prediction.focal_sets)[0]
    return np.asarray(prediction.credal().hull_points()[0], dtype=np.float64)


# ---- Figure 3: draws before averaging --------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Averaged:
    """One row of Figure 3."""

    row: int  #: Of the test set
    label: int
    samples: Floats  #: (M, K): Draws from the prediction of LB-BNN
    average: Floats  #: (K,): Their mean
    nonspecificity: float


def averaged_examples(judged: "JudgedDataSet") -> list[Averaged]:
    """The instances of the first run of LB-BNN with the least and with the greatest NS."""
    run, found = judged.said["LB-BNN"], judged.assays["exact"]
    ns = found["LB-BNN"].columns["nonspecificity"][0]
    examples = []
    for row in (int(ns.argmin()), int(ns.argmax())):
        samples = np.asarray(run[row : row + 1].hull_points()[0], dtype=np.float64)
        examples.append(Averaged(row, int(found.classes[row]), samples, samples.mean(axis=0), float(ns[row])))
    return examples


def draw_averages(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 3: the draws of two instances, and their averages."""
    colour = model_looks(judged)["LB-BNN"].colour
    for (left, right), one in zip(figure.subplots(2, 2), averaged_examples(judged), strict=True):
        classes = _most_probable(one.samples.max(axis=0), SHOWN_CLASSES)
        at = np.arange(len(classes))
        left.plot(at, one.samples[:, classes].T, color=(colour, 0.25), marker=".", markersize=4, linewidth=0.7)
        right.bar(at, one.average[classes], color=colour, width=0.7)
        truth = plain(judged.class_names[one.label], limit=14)
        hidden = (
            f"{len(classes)} most probable of {len(one.average)} classes" if len(classes) < len(one.average) else ""
        )
        headline(left, f"instance {one.row}", f"true class {truth}", f"{len(one.samples)} draws", hidden)
        ns = one.nonspecificity if one.nonspecificity > ROUNDING else 0.0
        headline(right, "their average", f"NS of the draws {number(ns, 3)}")
        for ax in (left, right):
            names = [plain(judged.class_names[c], limit=14) for c in classes]
            ax.set_xticks(at, names, rotation=45 if max(map(len, names)) > 3 else 0, ha="center")
            ax.set_ylim(-0.02, 1.02)
            ax.set_ylabel("probability")


def _most_probable(values: Floats, most: int) -> NDArray[np.intp]:
    """Classes of the greatest values, in the order of the classes."""
    return np.sort(np.argsort(-values, kind="stable")[:most])


# ---- Figure 4: belief, mass, pignistic probability -------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class BeliefExample:
    """The prediction of Figure 4."""

    row: int
    label: int
    sets: NDArray[np.bool_]  #: (F', K): Focal sets of greatest mass, in the order of the network's family
    #: (F',)
    beliefs: Floats
    masses: Floats
    pignistic: Floats  #: (K,)
    hidden: float  #: Mass of the sets that are not shown


def belief_example(judged: "JudgedDataSet") -> BeliefExample:
    """The correct prediction of RS-NN's first run with the greatest NS; without a correct one the greatest of all."""
    run, found = judged.said["RS-NN"], judged.assays["exact"]
    ns = found["RS-NN"].columns["nonspecificity"][0]
    hit = found.hits("RS-NN")[0]
    row = int(np.where(hit, ns, -1.0).argmax()) if hit.any() else int(ns.argmax())
    one = run[row : row + 1]
    if not isinstance(one, Masses):
        raise TypeError(f"RS-NN predicts masses, got {type(one).__name__}")
    masses = np.asarray(one.checked_masses()[0], dtype=np.float64)
    shown = np.sort(np.argsort(-masses, kind="stable")[:SHOWN_SETS])
    beliefs = mass_event_bounds(masses[None], one.focal_sets, one.focal_sets[shown])[0][0]
    return BeliefExample(
        row=row,
        label=int(found.classes[row]),
        sets=one.focal_sets[shown],
        beliefs=beliefs,
        masses=masses[shown],
        pignistic=one.mean_probs()[0],
        hidden=float(1.0 - masses[shown].sum()),
    )


def draw_beliefs(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 4: belief and mass of the focal sets, and the pignistic probability of the classes."""
    one = belief_example(judged)
    left, middle, right = figure.subplots(1, 3)
    labels = [_set_name(members, judged.class_names) for members in one.sets]
    colour = model_looks(judged)["RS-NN"].colour
    hidden = f"mass {significant(one.hidden)} on sets not shown" if one.hidden > 5e-4 else ""
    for ax, values, what in ((left, one.beliefs, "belief"), (middle, one.masses, "mass")):
        holds = one.sets[:, one.label]
        ax.barh(np.arange(len(values)), values, color=np.where(holds, colour, GREY), height=0.75)
        ax.set_yticks(range(len(labels)), labels if ax is left else [""] * len(labels), fontsize="small")
        ax.set_ylim(len(labels) - 0.4, -0.6)
        ax.set_xlabel(what)
    truth = plain(judged.class_names[one.label], limit=14)
    headline(left, f"RS-NN, instance {one.row}", f"true class {truth}", "coloured: sets that hold it")
    headline(middle, hidden)
    classes = _most_probable(one.pignistic, SHOWN_SETS)
    of_class = np.where(classes == one.label, colour, GREY)
    right.barh(np.arange(len(classes)), one.pignistic[classes], color=of_class, height=0.75)
    names = [plain(judged.class_names[c], limit=14) for c in classes]
    right.set_yticks(range(len(names)), names, fontsize="small")
    right.set_ylim(len(names) - 0.4, -0.6)
    right.set_xlabel("pignistic probability")


def _set_name(members: NDArray[np.bool_], names: Sequence[str]) -> str:
    """A set of classes in braces; all of them are Ω."""
    if members.all():
        return "Ω"
    return "{" + plain(", ".join(names[c] for c in np.flatnonzero(members).tolist()), limit=28) + "}"


# ---- Figure 5: hull and credal set -----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Closure:
    """One simplex of Figure 5."""

    row: int
    label: int
    classes: tuple[int, ...]  #: Those of greatest mean probability, in the order of the classes
    points: Floats  #: (M, 3): Draws of LB-BNN given these classes
    vertices: Floats  #: (V, 3): Of the credal set of their lower probabilities, in cyclic order
    share: float  #: Area of the draws' hull over that of the credal set; nan if the latter has none


def closures(judged: "JudgedDataSet") -> list[Closure]:
    """Instances of LB-BNN's first run at `QUANTILES` of its NS, each on three classes.

    With three classes the events are the classes and their complements, so that the credal set of the lower probabilities
    is that of the probability intervals.
    """
    run, found = judged.said["LB-BNN"], judged.assays["exact"]
    ns = found["LB-BNN"].columns["nonspecificity"][0]
    examples = []
    for quantile in QUANTILES:
        row = int(np.argsort(ns, kind="stable")[round(quantile * (len(ns) - 1))])
        one = run[row : row + 1]
        classes = tuple(_most_probable(one.mean_probs()[0], 3).tolist())
        points = np.asarray(given_classes(one, classes).hull_points()[0], dtype=np.float64)
        low, high = points.min(axis=0), points.max(axis=0)
        vertices, counts = box_vertices(low[None], high[None])
        polygon = _cyclic(vertices[0, : counts[0]])
        outer = _area(polygon)
        hull = _hull(points)
        share = hull.volume / outer if hull is not None and outer > 0 else np.nan
        examples.append(Closure(row, int(found.classes[row]), classes, points, polygon, float(share)))
    return examples


def draw_closures(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 5: the hull of the draws inside the credal set of their lower probabilities, and the same enlarged."""
    of_model = model_looks(judged)
    colour, outer = of_model["LB-BNN"].colour, look_at(1).colour
    found = closures(judged)
    above, below = figure.subplots(2, len(found), squeeze=False)
    for whole, part, one in zip(above, below, found, strict=True):
        names = [judged.class_names[c] for c in one.classes]
        label = one.classes.index(one.label) if one.label in one.classes else None
        figures.plot_simplex(Vertices(one.points[None]), names=names, label=label, color=colour, ax=whole)
        whole.get_legend().remove()
        _dashed(whole, one.vertices, outer)
        truth = plain(judged.class_names[one.label], limit=14)
        area = "" if np.isnan(one.share) else f"the closure has {percent(one.share, 0)} of the credal set's area"
        headline(whole, f"instance {one.row}", f"true class {truth}", area)
        _enlarged(part, one, colour)
        _dashed(part, one.vertices, outer)
    lines, patches = matplotlib_module("lines"), matplotlib_module("patches")
    handles = [
        lines.Line2D([], [], marker=".", linestyle="none", color=colour, label="draws"),
        patches.Patch(facecolor=(colour, 0.3), edgecolor=colour, label="their convex closure"),
        lines.Line2D([], [], linestyle="--", color=outer, label="credal set of their lower probabilities"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)


def _dashed(ax: Any, vertices: Floats, colour: str) -> None:
    ax.fill(*(vertices @ CORNERS).T, facecolor="none", edgecolor=colour, linewidth=1.4, linestyle="--", zorder=3)


def _enlarged(ax: Any, one: Closure, colour: str) -> None:
    """The draws and their hull on axes that the credal set fills."""
    flat, polygon = one.points @ CORNERS, one.vertices @ CORNERS
    hull = _hull(one.points)
    if hull is not None:
        ax.fill(*flat[hull.vertices].T, facecolor=(colour, 0.3), edgecolor=colour, linewidth=1.4, zorder=2)
    ax.plot(*flat.T, color=colour, marker=".", markersize=4, linestyle="none", zorder=3)
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    half = 0.55 * max(float((high - low).max()), ROUNDING)
    middle = (low + high) / 2
    ax.set_xlim(middle[0] - half, middle[0] + half)
    ax.set_ylim(middle[1] - half, middle[1] + half)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    headline(ax, f"enlarged {significant(1 / (2 * half))} times")


def _cyclic(vertices: Floats) -> Floats:
    """Vertices of a convex polygon in the plane Σ p = 1 in cyclic order."""
    flat = vertices @ CORNERS
    centred = flat - flat.mean(axis=0)
    return vertices[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))]


def _area(polygon: Floats) -> float:
    """Area of a polygon of distributions, by the shoelace formula."""
    x, y = (polygon @ CORNERS).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _hull(points: Floats) -> Any:
    """Convex hull of distributions in the plane; None if they lie on a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return ConvexHull(points @ CORNERS)
    except QhullError:
        return None


# Figures 6 to 10 of the unified evaluation for predictors trained here: KL against JS, and NS against credal uncertainty (CU).

Draw = Callable[[Any, "JudgedDataSet"], None]
DOTS = 1000  # of a model in a panel of Figure 8
REACH = 2.0  # greatest mean E times this: longer intervals are cut, and stand in numbers beside the bars


class MeanTerms(NamedTuple):
    """Means of a model over its correct or its incorrect predictions, λ = 1."""

    model: str
    distance: float
    nonspecificity: float
    e: Value


def mean_terms(found: "Assay", part: str) -> list[MeanTerms]:
    """Mean distance, NS and E of every model over its "correct" or "wrong" predictions; models without any are left out."""
    means = means_by_part(found, "correct", terms=True)
    key = METRICS[found.settings.distance_metric]
    return [
        MeanTerms(name, means[name, part, key].mean, means[name, part, "ns"].mean, means[name, part, "e"])
        for name in found.model_names
        if (name, part, "e") in means
    ]


def scattered(found: "Assay", part: str) -> dict[str, tuple[Floats, Floats]]:
    """NS and distance of single instances of the first run, at most `DOTS` a model, by the rows' order at random."""
    points = {}
    for model in found.candidates:
        hit = found.hits(model.name)[0]
        rows = np.flatnonzero(hit if part == "correct" else ~hit)
        if len(rows) > DOTS:
            rows = np.sort(np.random.default_rng(0).permutation(rows)[:DOTS])
        points[model.name] = model.columns["nonspecificity"][0, rows], model.columns["distance"][0, rows]
    return points


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def draw_distances(convention: str) -> Draw:
    """Figure 6: KL and JS by correctness, all models."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        kl, js = figure.subplots(1, 2)
        figures.plot_by_correctness(judged.assays[convention], "distance", coloured_as=model_looks(judged), ax=kl)
        figures.plot_by_correctness(
            judged.jensen_shannon[convention], "distance", coloured_as=model_looks(judged), ax=js
        )

    return draw


def draw_measures(convention: str) -> Draw:
    """Figure 9: NS and credal uncertainty by correctness, models that state sets."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        ns, cu = figure.subplots(1, 2)
        figures.plot_by_correctness(judged.ranked[convention], "nonspecificity", coloured_as=model_looks(judged), ax=ns)
        figures.plot_by_correctness(_sets(judged, convention), "nonspecificity", coloured_as=model_looks(judged), ax=cu)

    return draw


def draw_mean_e(convention: str, other: str) -> Draw:
    """Figure 7 (`other` = "JS") or 10 ("CU"): mean E as the sum of its terms, for correct and for incorrect predictions."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        first = judged.assays[convention]
        changed = judged.jensen_shannon if other == "JS" else judged.credal_uncertainty
        names = [("KL", "NS"), ("JS", "NS") if other == "JS" else ("KL", "CU")]
        rows = figure.subplots(2, 2, squeeze=False)
        colours = {name: look.colour for name, look in model_looks(judged).items()}
        for column, part in enumerate(PARTS):
            parts = []
            for axes, found, terms in zip(rows, (first, changed[convention]), names, strict=True):
                bars = mean_terms(found, part)
                parts += bars
                _bars(axes[column], bars, colours)
                axes[column].set_xlabel(f"mean E = {terms[0]} + {terms[1]}, λ = 1")
                headline(axes[column], f"{terms[0]} with {terms[1]}", f"{PARTS[part]} predictions", _hint(terms))
            for axes in rows:
                axes[column].set_xlim(0.0, _end(parts))

    return draw


def draw_scatter(convention: str) -> Draw:
    """Figure 8: KL and JS against NS, single instances of the models that state sets."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        rows = figure.subplots(2, 2, squeeze=False)
        names = judged.ranked[convention].model_names
        of_model = model_looks(judged)
        for axes, whole in zip(rows, (judged.assays[convention], judged.jensen_shannon[convention]), strict=True):
            found = replace(whole, models=tuple(m for m in whole.models if m.name in names))
            for ax, part in zip(axes, PARTS, strict=True):
                points = scattered(found, part)
                for name, (ns, distance) in points.items():
                    look = of_model[name]
                    style = {"marker": look.marker, "markersize": 4.5, "linestyle": "none", "alpha": 0.6}
                    ax.plot(ns, distance, color=look.colour, markeredgewidth=0.0, rasterized=True, **style)
                ax.set_xlabel(quantity_label(found, "nonspecificity"))
                ax.set_ylabel(quantity_label(found, "distance"))
                ax.set_xlim(left=-0.02 * max([1e-9, *(ns.max(initial=0.0) for ns, _ in points.values())]))
                headline(ax, f"{PARTS[part]} predictions", f"first run, at most {count(DOTS)} instances of a model")
        handles = [swatch(of_model[name], plain(name), line=False) for name in names]
        draw_legend(rows[0, 1], handles)

    return draw


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _sets(judged: "JudgedDataSet", convention: str) -> "Assay":
    """Credal uncertainty of the models that state sets."""
    found, names = judged.credal_uncertainty[convention], judged.ranked[convention].model_names
    return replace(found, models=tuple(m for m in found.models if m.name in names))


def _hint(terms: tuple[str, str]) -> str:
    return f"dark: {terms[0]}; pale: {terms[1]}; lines: 95 % intervals of E"


def _end(bars: list[MeanTerms]) -> float:
    """Right end of the axis: all bars, and their intervals unless they are very long."""
    longest = max((bar.e.mean for bar in bars), default=0.0)
    furthest = max((bar.e.high for bar in bars if np.isfinite(bar.e.high)), default=longest)
    return 1.03 * max(longest, min(furthest, REACH * longest)) or 1.0


def _bars(ax: Any, bars: list[MeanTerms], colours: dict[str, str]) -> None:
    """One stacked bar for each model, with its E and the interval in numbers."""
    for i, bar in enumerate(bars):
        colour = colours[bar.model]
        ax.barh(i, bar.distance, color=colour, height=0.7)
        ax.barh(i, bar.nonspecificity, left=bar.distance, color=(colour, 0.35), edgecolor=colour, height=0.7)
        if np.isfinite(bar.e.low):
            ax.plot([max(bar.e.low, 0.0), bar.e.high], [i, i], color="0.45", linewidth=1.4)
        ax.annotate(
            interval_text(bar.e),
            (1.0, i),
            (5, 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize="x-small",
            annotation_clip=False,
        )
    ax.set_yticks(range(len(bars)), [plain(bar.model) for bar in bars])
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


# Figures 1 to 20 of the unified evaluation for predictors trained here; all but Figure 1 once for each data set.
#
# Figures 11 and 12 are Figure 2 of other data sets.

Size = Callable[["JudgedDataSet"], tuple[float, float]]  # inches


@final
@dataclass(frozen=True)
class Drawing:
    """One file of figures."""

    title: str
    size: Size  #: Width and height in inches for a data set
    draw: Draw  #: Takes the matplotlib Figure and the data set
    needs: tuple[str, ...] = ()  #: Predictors, any of which the figure can show; none: those that state sets


def write_unified_figures(
    folder: str | os.PathLike[str], judged: "Sequence[JudgedDataSet]", progress: Say
) -> list[str]:
    """Draw the figures of data sets as PNG files.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    progress : callable
        Takes the name of each figure, `n_unified_figures` times.

    Returns
    -------
    list of str
        One line with the path of each file, and one for each figure that is left out, with the reason.
    """
    place = check_folder(folder)
    progress("drawing figure1_types")
    lines = [f"figure: {write_figure(place, 'unified_figure1_types', (13.5, 10.0), _types)}"]
    for one in judged:
        data = re.sub(r"[^A-Za-z0-9._-]+", "-", one.dataset).strip("-")
        for name, drawing in FIGURES.items():
            progress(f"drawing {name}, {one.dataset}")
            missing = _missing(drawing, one)
            if missing:
                lines.append(f"{name} of {one.dataset} is left out: {missing}")
                continue

            def on(figure: Any, drawing: Drawing = drawing, one: "JudgedDataSet" = one) -> None:
                figure.suptitle(f"{drawing.title} – {one.dataset}", fontsize="large")
                drawing.draw(figure, one)

            lines.append(f"figure: {write_figure(place, f'unified_{data}_{name}', drawing.size(one), on)}")
        lines += _shorter_curve(one)
    return lines


def n_unified_figures(n_data_sets: int) -> int:
    """Number of calls of ``progress`` in `write_unified_figures`."""
    return 1 + n_data_sets * len(FIGURES)


def _shorter_curve(judged: "JudgedDataSet") -> list[str]:
    """A line if DE has fewer members than in the paper's Figure 13."""
    sizes = judged.members["exact"].get("DE", {})
    if not sizes or max(sizes) >= MEMBERS["DE"][-1]:
        return []
    return [
        f"figure13_members of {judged.dataset}: DE's curve ends at {counted(max(sizes), 'member')}, the paper's at "
        f"{MEMBERS['DE'][-1]}; the option members trains more"
    ]


def _missing(drawing: Drawing, judged: "JudgedDataSet") -> str:
    """Why a figure cannot be drawn; empty if it can."""
    if drawing.needs and not any(name in judged.said for name in drawing.needs):
        return f"there is no {listed(drawing.needs, last='or')}"
    return "" if judged.ranked["exact"].candidates else "no predictor states sets"


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def _types(figure: Any) -> None:
    figure.suptitle("Figure 1: types of predictions of an instance of class b, three classes", fontsize="large")
    draw_types(figure)


def _losses(convention: str) -> Draw:
    """Figure 2: KL, NS and E by correctness; NS of the models that state sets."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        whole, ranked = judged.assays[convention], judged.ranked[convention]
        kl, ns, e = figure.subplots(1, 3)
        figures.plot_by_correctness(whole, "distance", coloured_as=model_looks(judged), ax=kl)
        figures.plot_by_correctness(ranked, "nonspecificity", coloured_as=model_looks(judged), ax=ns)
        figures.plot_by_correctness(whole, "unified", tradeoff=1.0, coloured_as=model_looks(judged), ax=e)

    return draw


def _tradeoff(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 2, last panel: E against λ."""
    for ax, (convention, found) in zip(figure.subplots(1, 2), judged.ranked.items(), strict=True):
        figures.plot_tradeoff(found, tradeoffs=(0.0, *TRADEOFFS), ax=ax)
        _above(ax, LINE[convention], room=30.0)


def _regions(figure: Any, judged: "JudgedDataSet") -> None:
    """Mean KL against mean NS with the joint region of the two."""
    for ax, (convention, found) in zip(figure.subplots(1, 2), judged.ranked.items(), strict=True):
        figures.plot_distance_nonspecificity(found, 1.0, ax=ax)
        _above(ax, LINE[convention], room=16.0)


def _winners(figure: Any, judged: "JudgedDataSet") -> None:
    """Table 2 as a picture: how sure the choice is at every λ."""
    for ax, (convention, found) in zip(figure.subplots(1, 2), judged.ranked.items(), strict=True):
        figures.plot_win_shares(found, ax=ax)
        _above(ax, LINE[convention])


def _members(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 13: E against the number of members or draws."""
    names = list(judged.members["exact"])
    rows = figure.subplots(len(names), 2, squeeze=False)
    for axes, name in zip(rows, names, strict=True):
        for ax, (convention, by_model) in zip(axes, judged.members.items(), strict=True):
            figures.plot_members(by_model[name], 1.0, coloured_as=model_looks(judged), ax=ax)
            drawn = by_model[name][min(by_model[name])][name].kind == "Dirichlet"
            ax.set_xlabel("draws M" if drawn else "members M")
            _above(ax, LINE[convention])


def _each_model(plot: Callable[..., Any]) -> Draw:
    """One panel for each model that states sets, two side by side."""

    def draw(figure: Any, judged: "JudgedDataSet") -> None:
        found = judged.ranked["exact"]
        names = found.model_names
        panels = figure.subplots(math.ceil(len(names) / 2), 2, squeeze=False).ravel()
        for ax, name in zip(panels, names, strict=False):
            plot(found, name, ax=ax)
        for ax in panels[len(names) :]:
            ax.set_axis_off()

    return draw


def _confidence(figure: Any, judged: "JudgedDataSet") -> None:
    """Figure 17: entropy and NS, one row for each model."""
    found = judged.ranked["exact"]
    rows = figure.subplots(len(found.model_names), 2, squeeze=False)
    for axes, name in zip(rows, found.model_names, strict=True):
        for ax, quantity in zip(axes, ("total-entropy", "nonspecificity"), strict=True):
            figures.plot_confidence(found, name, quantity, ax=ax)


def _above(ax: Any, text: str, *, room: float = 6.0) -> None:
    """Put a line above the title of a panel, `room` points above the axes."""
    ax.set_title(f"{text}\n{ax.get_title(loc='left')}", loc="left", fontsize="small", pad=room)


def _fixed(width: float, height: float) -> Size:
    return lambda judged: (width, height)


def _rows(width: float, height: float, *, of: int = 2) -> Size:
    """Height for each row of `of` models."""
    return lambda judged: (width, 0.4 + height * math.ceil(len(judged.ranked["exact"].model_names) / of))


def _by_model(judged: "JudgedDataSet") -> tuple[float, float]:
    """A row for each model of Figure 13."""
    return 11.0, 0.4 + 3.4 * len(judged.members["exact"])


def _both(figure: str, title: str, size: Size, draw: Callable[[str], Draw]) -> dict[str, Drawing]:
    """A figure of each convention."""
    return {
        f"{figure}_{convention}": Drawing(f"{title}, {LINE[convention]}", size, draw(convention)) for convention in LINE
    }


SAMPLED = ("LB-BNN",)  # the predictor of Figures 3 and 5
FIGURES: dict[str, Drawing] = {
    **_both("figure2", "Figure 2: KL, NS and E by correctness", _fixed(20.0, 7.4), _losses),
    "figure2_tradeoff": Drawing("Figure 2: E against λ", _fixed(13.0, 4.8), _tradeoff),
    "figure2_regions": Drawing("Mean KL and NS with their joint regions", _fixed(13.0, 4.8), _regions),
    "table2_winners": Drawing("Table 2: who has the lowest E, and how surely", _fixed(12.5, 4.4), _winners),
    "figure3_averages": Drawing(
        "Figure 3: draws of LB-BNN before averaging, and their average", _fixed(12.0, 7.6), draw_averages, SAMPLED
    ),
    "figure4_beliefs": Drawing(
        "Figure 4: belief, mass and pignistic probability", _fixed(13.0, 7.2), draw_beliefs, ("RS-NN",)
    ),
    "figure5_closures": Drawing(
        "Figure 5: convex closure of LB-BNN's draws and credal set of their lower probabilities",
        _fixed(13.0, 8.6),
        draw_closures,
        SAMPLED,
    ),
    **_both("figure6", "Figure 6: KL and JS by correctness", _fixed(14.5, 7.4), draw_distances),
    **_both("figure7", "Figure 7: mean E with KL and with JS", _fixed(14.0, 8.6), partial(draw_mean_e, other="JS")),
    **_both("figure8", "Figure 8: KL and JS against NS", _fixed(12.5, 8.6), draw_scatter),
    **_both("figure9", "Figure 9: NS and credal uncertainty by correctness", _fixed(14.5, 5.2), draw_measures),
    **_both(
        "figure10",
        "Figure 10: mean E with NS and with credal uncertainty",
        _fixed(13.0, 8.6),
        partial(draw_mean_e, other="CU"),
    ),
    "figure13_members": Drawing(
        "Figure 13: E against the number of members or draws", _by_model, _members, tuple(MEMBERS)
    ),
    "figure14_set_sizes": Drawing(
        "Figures 14 to 16: sizes of the credal sets", _rows(14.0, 3.3), _each_model(figures.plot_set_sizes)
    ),
    "figure17_confidence": Drawing("Figure 17: entropy and NS against confidence", _rows(10.8, 3.2, of=1), _confidence),
    "figure18_width": Drawing(
        "Figures 18 to 20: width of the sets and NS", _rows(10.4, 3.9), _each_model(figures.plot_width_nonspecificity)
    ),
}
