"""Single credal sets as pictures, and the losses behind the means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_numeric, check_class_count, check_rows, tolerance_of
from uqassay.checks import fail
from uqassay.credal.vertices import box_vertices, permutation_vertices
from uqassay.evidence.stream import PICTURED_POINTS
from uqassay.losses.unified import DEFAULT_TRADEOFF, check_tradeoff
from uqassay.predictions import Box, Drawn, Masses, Point, Prediction, Vertices
from uqassay.report.figures.frame import (
    PLOT,
    Look,
    Width,
    at_tradeoff,
    axes_for,
    beside,
    draw_legend,
    fitting,
    given_looks,
    headline,
    label_axes,
    looks,
    loss_label,
    matplotlib_module,
    named_model,
    plain,
    points_of,
    quantity_label,
    resampled_units,
    room_for,
    text_size,
    text_width,
)
from uqassay.report.sections import densities
from uqassay.text import count, percent, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = [
    "plot_by_correctness",
    "plot_set_sizes",
    "plot_simplex",
]


# One credal set as a picture: its polygon in the triangle of three classes, its spanning points, its mean, and the
# label.

SPANNED_BY = {"Members": "members", "Vertices": "vertices"}
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


@dataclass(frozen=True)
class Projected:
    """One credal set seen from three classes (two where K = 2)."""

    outline: Floats  #: Corners of the set's image in cyclic order.
    points: Floats  #: (V, 3): Images of what spans the set; none for intervals and masses.
    mean: Floats | None  #: (3,): Image of the mean prediction; None where it gives the three classes nothing.
    #: low, high: Lower and upper probability of the three classes together.
    low: float
    high: float
    lost: int  #: Spanning points that give the three classes nothing.


def plot_simplex(
    points_or_prediction: Prediction | ArrayLike,
    row: int = 0,
    *,
    classes: Sequence[int | str] | None = None,
    label: int | str | None = None,
    names: Sequence[str] | None = None,
    color: str = "#0072B2",
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Draw one instance's credal set in the simplex of three classes.

    Parameters
    ----------
    points_or_prediction : Prediction, or array (V, K) or (K,)
        Any kind of prediction, or the points that span one credal set.
    row : int
        Instance of the prediction; negative ones count from the end.
    classes : sequence of three int or str, optional
        The corners (lower left, lower right, top), where K > 3; by default the label, if given, and those of greatest
        upper probability, in the order of the classes.
    label : int or str, optional
        The true class; its corner is marked.
    names : sequence of str, length K, optional
        Names of the classes; by default those of the prediction, or numbers.
    color : str
        Of the set; `model_colours` gives that of a model.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        Without a frame, with equal scales, the corners at (0, 0), (1, 0) and (½, √¾).

    Notes
    -----
    With K > 3 every distribution is shown as what it says *given that one of the three classes is true*, p(c) / p(T). This
    is a central projection: straight lines stay straight, so the picture of the set is the hull of the pictures of its
    vertices and nothing is approximated. Merging the other classes instead would put a fourth corner into a plane, or
    make one corner mean many classes. What the projection hides is how much the three classes have in all; the title says
    it.

    Points (members, vertices, draws) are drawn with their hull. Intervals and masses are exact for any K: the other
    classes merged into one bound or focal element leave a set over four outcomes whose vertices are few, and which has
    the same conditional distributions. K = 2 is drawn on the line between the two corners.

    Source: "A Unified Evaluation Framework for Epistemic Predictions", Figures 1 and 5.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> p = uq.Intervals([[0.2, 0.3, 0.1]], [[0.5, 0.6, 0.3]], class_names=("cat", "dog", "frog"))
    >>> ax = plot_simplex(p, label="cat", ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['cat (label)', 'dog', 'frog']
    """
    if isinstance(points_or_prediction, Prediction):
        source = prediction = points_or_prediction
        if not -prediction.n_instances <= row < prediction.n_instances:
            fail(
                "row", f"must lie in 0 … {prediction.n_instances - 1}", f"got {row}", "choose an instance", code="range"
            )
        credal = prediction[row % prediction.n_instances].credal()
        names = names if names is not None else prediction.class_names
        title = f"case {_called(prediction, row)}"
    else:
        source = credal = _as_points(points_or_prediction)
        title = ""
    k = credal.n_classes
    shown = tuple(str(c) for c in (range(k) if names is None else names))
    if len(shown) != k:
        fail(
            "names",
            f"needs one name for each of the {k} classes",
            f"got {len(shown)}",
            "give them in class order",
            code="mismatch",
        )
    truth = None if label is None else _class_index(label, shown, "label")
    corners = _corners(credal, classes, truth, shown)
    seen = _project(credal, corners)
    marks = ["credal set", "probabilities", "prediction"]  # at most
    ax = axes_for(ax, width, 2.6 if k > 2 else 1.2, legend=marks)
    _triangle(ax, [shown[c] for c in corners], None if truth is None else [c == truth for c in corners])
    noun = source.spanned_by if isinstance(source, Drawn) else SPANNED_BY.get(type(source).__name__, "points")
    _draw_set(ax, seen, color, noun)
    share = (
        significant(seen.low) if seen.high - seen.low < 5e-4 else f"{significant(seen.low)} to {significant(seen.high)}"
    )
    headline(
        ax,
        title,
        f"given one of these {len(corners)} of {k} classes" if k > 3 else "",
        f"probability of these: {share}" if k > 3 else "",
        f"{count(seen.lost)} not shown: 0 for these classes" if seen.lost else "",
        taken=0.45 * points_of(ax) if points_of(ax) >= 300 else 0.0,
    )
    return ax


# -- which set, which corners -----------------------------------------------------------------------------------------


def _called(prediction: Prediction, row: int) -> str:
    """How the instance is called: its id, or its row in the data it was sliced from."""
    at = row % prediction.n_instances
    if prediction.ids is not None:
        return plain(prediction.ids[at])
    return str(at if prediction.row_numbers is None else int(prediction.row_numbers[at]))


def _as_points(points: ArrayLike) -> Prediction:
    array = np.atleast_2d(as_numeric(points, "points", ndim=(1, 2)))
    check_class_count(array.shape[1], "points")
    check_rows(array, "points", tolerance=tolerance_of(array), remedy="give distributions over the classes")
    return Point(array) if len(array) == 1 else Vertices(array[None])


def _class_index(wanted: int | str, names: tuple[str, ...], parameter: str) -> int:
    if isinstance(wanted, (int, np.integer)) and 0 <= wanted < len(names):
        return int(wanted)
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    fail(
        parameter,
        f"must be a class, 0 … {len(names) - 1} or one of {', '.join(names[:5])}{(' …' if len(names) > 5 else '')}",
        f"got {wanted!r}",
        "choose one of them",
        code="choice",
    )


def _corners(
    credal: Prediction, classes: Sequence[int | str] | None, truth: int | None, names: tuple[str, ...]
) -> list[int]:
    k = len(names)
    if classes is not None:
        chosen = [_class_index(c, names, "classes") for c in classes]
        if len(set(chosen)) != min(k, 3) or len(chosen) != min(k, 3):
            fail(
                "classes",
                f"needs {min(k, 3)} different classes",
                f"got {list(classes)}",
                "name the corners",
                code="mismatch",
            )
        return chosen
    greatest = credal.upper_probs()[0].copy()
    if truth is not None:
        greatest[truth] = np.inf
    return sorted(np.argsort(-greatest, kind="stable")[:3].tolist())


# -- the projection ---------------------------------------------------------------------------------------------------


def _project(credal: Prediction, corners: list[int]) -> Projected:
    """Image of the set of the only instance of `credal` under p → p(c) / p(T)."""
    k, inside = credal.n_classes, np.isin(np.arange(credal.n_classes), corners)
    if isinstance(credal, Box):
        spanning, points = _interval_vertices(credal, corners, inside), np.empty((0, len(corners)))
    elif isinstance(credal, Masses):
        spanning, points = _mass_vertices(credal, corners, inside), np.empty((0, len(corners)))
    else:
        hull = credal.mean_probs()[:, None] if isinstance(credal, Point) else credal.hull_points()
        spanning = points = np.asarray(hull[0], dtype=np.float64)[:, corners]
    totals = spanning.sum(axis=1) if k > len(corners) else np.ones(len(spanning))
    kept = totals > 0
    if not kept.any():
        fail(
            "classes",
            "no point of the set gives these classes a positive probability",
            f"got {corners}",
            "choose others",
            code="range",
        )
    images = spanning[kept] / spanning[kept].sum(axis=1, keepdims=True)
    mean = credal.mean_probs()[0, corners]
    return Projected(
        outline=_hull(images),
        points=images if len(points) else points,
        mean=mean / mean.sum() if mean.sum() > 0 else None,
        low=float(totals.min()),
        high=float(totals.max()),
        lost=int((~kept).sum()) if len(points) else 0,
    )


def _interval_vertices(credal: Box, corners: list[int], inside: NDArray[np.bool_]) -> Floats:
    """Vertices of the set over the three classes and "another one", without that column, (V, 3)."""
    l, u = (bound[0] for bound in credal.bounds())
    low, high = l[corners], u[corners]
    if not inside.all():
        low = np.append(low, l[~inside].sum())
        high = np.append(high, min(u[~inside].sum(), 1.0))
    vertices, counts = box_vertices(low[None], high[None])
    return vertices[0, : counts[0], : len(corners)]


def _mass_vertices(credal: Masses, corners: list[int], inside: NDArray[np.bool_]) -> Floats:
    """The same from masses: of a focal set stay its classes among the three, and whether it holds another one."""
    sets = credal.focal_sets[:, corners]
    if not inside.all():
        sets = np.column_stack([sets, credal.focal_sets[:, ~inside].any(axis=1)])
    merged, which = np.unique(sets, axis=0, return_inverse=True)
    masses = np.bincount(which.reshape(-1), weights=credal.checked_masses()[0], minlength=len(merged))
    return permutation_vertices(masses[None], merged)[0, :, : len(corners)]


def _hull(images: Floats) -> Floats:
    """Corners of the convex hull in cyclic order, by Andrew's monotone chain; one or two where it is degenerate."""
    flat = np.unique((images @ CORNERS[: images.shape[1]]).round(12), axis=0, return_index=True)
    order = flat[1].tolist()  # from left to right
    xy = flat[0].tolist()
    if len(order) <= 2:
        return images[order]

    def chain(places: Sequence[int]) -> list[int]:
        out: list[int] = []
        for i in places:
            while len(out) > 1 and _turn(xy[out[-2]], xy[out[-1]], xy[i]) <= 0:
                out.pop()
            out.append(i)
        return out

    below, above = chain(range(len(order))), chain(range(len(order) - 1, -1, -1))
    return images[[order[i] for i in below[:-1] + above[:-1]]]


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


# -- drawing ----------------------------------------------------------------------------------------------------------


def _triangle(ax: Any, names: list[str], is_label: list[bool] | None) -> None:
    corners = CORNERS[: len(names)]
    if len(names) == 3:
        for share in (0.25, 0.5, 0.75):
            for a in range(3):  # where the class of corner a has this share
                ends = share * corners[a] + (1 - share) * corners[[(a + 1) % 3, (a + 2) % 3]]
                ax.plot(*ends.T, color="0.88", linewidth=0.7, zorder=0)
    else:
        for share in (0.25, 0.5, 0.75):
            ax.plot([share, share], [-0.015, 0.015], color="0.6", linewidth=0.7, zorder=0)
    ax.plot(*corners[[*range(len(names)), 0]].T, color="0.3", linewidth=1.0, zorder=1)
    for i, name in enumerate(fitting(names, 0.25 * points_of(ax))):
        marked = is_label is not None and is_label[i]
        if marked:
            ax.plot(*corners[i], marker="*", markersize=10, color="black", linestyle="none", clip_on=False, zorder=5)
        low = i < 2
        ax.annotate(
            name + (" (label)" if marked else ""),
            tuple(corners[i]),
            (0, -10 if low else 9),
            textcoords="offset points",
            ha="center",
            va="top" if low else "bottom",
            fontsize=text_size(),
            fontweight="bold" if marked else "normal",
        )
    ax.set_aspect("equal")
    ax.set_xlim(-0.12, 1.12)
    ax.set_ylim((-0.14, 1.0) if len(names) == 3 else (-0.16, 0.16))
    ax.set_axis_off()


def _draw_set(ax: Any, seen: Projected, color: str, spanned_by: str) -> None:
    corners = CORNERS[: seen.outline.shape[1]]
    outline, handles = seen.outline @ corners, []
    if len(outline) > 1:
        width = 1.6 if len(outline) > 2 else 4.0  # without an area
        ax.fill(*outline.T, facecolor=(color, 0.3), edgecolor=color, linewidth=width, joinstyle="round", zorder=2)
        handles.append(matplotlib_module("patches").Patch(facecolor=(color, 0.3), edgecolor=color, label="credal set"))
    line = matplotlib_module("lines").Line2D
    if len(seen.points) > 1:
        many = len(seen.points) > 30
        style: dict[str, Any] = {"marker": ".", "markersize": 3 if many else 7, "linestyle": "none", "color": color}
        ax.plot(*(seen.points @ corners).T, **style, zorder=3)
        handles.append(line([], [], **style, label=f"{len(seen.points)} {spanned_by}"))
    if seen.mean is not None:
        style = {"marker": "D", "markersize": 5.5, "linestyle": "none", "color": "white", "markeredgecolor": "black"}
        ax.plot(*(seen.mean @ corners)[:, None], **style, zorder=4)
        handles.append(line([], [], **style, label="mean" if len(outline) > 1 else "prediction"))
    draw_legend(ax, handles)


# Behind the means: the spread of losses by correctness, and the credal sets of single instances.

HALF = 0.42  # height of half a violin, rows are 1 apart
SHOWN_SETS = 50


def plot_by_correctness(
    assay: "Assay",
    quantity: Literal["distance", "nonspecificity", "unified"] = "distance",
    *,
    tradeoff: float = DEFAULT_TRADEOFF,
    coloured_as: "Assay | Mapping[str, Look] | None" = None,
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
    coloured_as : Assay, or dict of str to Look, optional
        Gives each of its models the colour that the model has in its figures; by default `assay`.
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        One row per model, all instances and runs, on a logarithmic axis since losses spread over many powers of ten. Values
        at or below its left end, zeros included, are a narrow bar there, as tall as their share, which stands at the
        right. Each half is scaled to its own peak. Dots are medians, bars quartiles.

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
        fail(
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
    of_model = {**looks(assay), **given_looks(coloured_as)}
    for i, (model, parts) in enumerate(zip(assay.candidates, models, strict=True)):
        colour = of_model[model.name].colour
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
    ax: Any, base: float, side: int, axis: Floats, part: dict[str, Any], face: tuple[str, float], highest: float
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


def _heap(axis: Floats) -> Floats:
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
        fail(
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
        below, label = text_width(words) - text_size(), "case"
    else:
        ax.set_xticks([])
        label = "cases, by mean probability" if rows is None else "cases, in the order given"
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
