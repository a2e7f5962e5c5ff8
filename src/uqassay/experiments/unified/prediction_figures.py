"""Figures 1, 3, 4 and 5 of paper 000: types of predictions, and single predictions of the networks trained here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.credal import box_vertices, mass_event_bounds, permutation_vertices
from uqassay.experiments.unified.four_classes import given_classes
from uqassay.losses import unified_loss
from uqassay.predictions import Box, Dirichlet, Intervals, Masses, Members, Point, Prediction, Vertices
from uqassay.report import figures
from uqassay.report.figures.layout import headline
from uqassay.report.figures.style import GREY, look_at, looks, matplotlib_module, plain
from uqassay.wording import number, percent, significant

if TYPE_CHECKING:
    from uqassay.experiments.unified.judging import JudgedDataSet

__all__ = [
    "Averaged",
    "BeliefExample",
    "Closure",
    "PredictionType",
    "averaged_examples",
    "belief_example",
    "closures",
    "draw_averages",
    "draw_beliefs",
    "draw_closures",
    "draw_types",
    "types_of_predictions",
]

Array = NDArray[np.float64]
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # as `plot_simplex` has them
TRUTH = 1  # class b of Figure 1, (0, 1, 0)
ROUNDING = 1e-9
SHOWN_CLASSES, SHOWN_SETS = 12, 32
QUANTILES = (1.0, 0.99, 0.95)  # of NS, the instances of Figure 5


# ---- Figure 1: types of predictions ----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class PredictionType:
    """One panel of Figure 1.

    Attributes
    ----------
    title : str
    prediction : Prediction
        One instance of three classes.
    nearest : array (3,)
        The distribution in its credal set from which the arrow goes to the label.
    distance, nonspecificity : float
        KL and NS of the exact convention.
    """

    title: str
    prediction: Prediction
    nearest: Array
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


def _spanning(prediction: Prediction) -> Array:
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
    """One row of Figure 3.

    Attributes
    ----------
    row : int
        Of the test set.
    label : int
    samples : array (M, K)
        Draws from the prediction of LB-BNN.
    average : array (K,)
        Their mean.
    nonspecificity : float
    """

    row: int
    label: int
    samples: Array
    average: Array
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
    colour = looks(judged.assays["exact"])["LB-BNN"].colour
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


def _most_probable(values: Array, most: int) -> NDArray[np.intp]:
    """Classes of the greatest values, in the order of the classes."""
    return np.sort(np.argsort(-values, kind="stable")[:most])


# ---- Figure 4: belief, mass, pignistic probability -------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class BeliefExample:
    """The prediction of Figure 4.

    Attributes
    ----------
    row, label : int
    sets : bool array (F', K)
        Focal sets of greatest mass, in the order of the network's family.
    beliefs, masses : array (F',)
    pignistic : array (K,)
    hidden : float
        Mass of the sets that are not shown.
    """

    row: int
    label: int
    sets: NDArray[np.bool_]
    beliefs: Array
    masses: Array
    pignistic: Array
    hidden: float


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
    colour = looks(judged.assays["exact"])["RS-NN"].colour
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
    """One simplex of Figure 5.

    Attributes
    ----------
    row, label : int
    classes : tuple of three int
        Those of greatest mean probability, in the order of the classes.
    points : array (M, 3)
        Draws of LB-BNN given these classes.
    vertices : array (V, 3)
        Of the credal set of their lower probabilities, in cyclic order.
    share : float
        Area of the draws' hull over that of the credal set; nan if the latter has none.
    """

    row: int
    label: int
    classes: tuple[int, ...]
    points: Array
    vertices: Array
    share: float


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
    of_model = looks(judged.assays["exact"])
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


def _dashed(ax: Any, vertices: Array, colour: str) -> None:
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


def _cyclic(vertices: Array) -> Array:
    """Vertices of a convex polygon in the plane Σ p = 1 in cyclic order."""
    flat = vertices @ CORNERS
    centred = flat - flat.mean(axis=0)
    return vertices[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))]


def _area(polygon: Array) -> float:
    """Area of a polygon of distributions, by the shoelace formula."""
    x, y = (polygon @ CORNERS).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _hull(points: Array) -> Any:
    """Convex hull of distributions in the plane; None if they lie on a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return ConvexHull(points @ CORNERS)
    except QhullError:
        return None
