"""One credal set as a picture: its polygon in the triangle of three classes, its spanning points, its mean, and the label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_class_count, check_rows, tolerance_of
from uqassay.credal.vertices import box_vertices, permutation_vertices
from uqassay.errors import InputError
from uqassay.predictions import Box, Drawn, Masses, Point, Prediction, Vertices
from uqassay.report.figures.layout import Width, axes_for, draw_legend, fitting, headline, points_of, text_size
from uqassay.report.figures.style import matplotlib_module, plain
from uqassay.wording import count, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_simplex"]

Array = NDArray[np.float64]
SPANNED_BY = {"Members": "members", "Vertices": "vertices"}
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


@dataclass(frozen=True)
class Projected:
    """One credal set seen from three classes (two where K = 2).

    Attributes
    ----------
    outline : array (H, 3)
        Corners of the set's image in cyclic order.
    points : array (V, 3)
        Images of what spans the set; none for intervals and masses.
    mean : array (3,) or None
        Image of the mean prediction; None where it gives the three classes nothing.
    low, high : float
        Lower and upper probability of the three classes together.
    lost : int
        Spanning points that give the three classes nothing.
    """

    outline: Array
    points: Array
    mean: Array | None
    low: float
    high: float
    lost: int


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

    Raises
    ------
    InputError
        A row, class or label that does not exist, masses that are no belief function, or a set none of whose points gives
        the chosen classes a positive probability.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

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
            raise InputError(
                "row", f"must lie in 0 … {prediction.n_instances - 1}", f"got {row}", "choose an instance", code="range"
            )
        credal = prediction[row % prediction.n_instances].credal()
        names = names if names is not None else prediction.class_names
        title = f"instance {_called(prediction, row)}"
    else:
        source = credal = _as_points(points_or_prediction)
        title = ""
    k = credal.n_classes
    shown = tuple(str(c) for c in (range(k) if names is None else names))
    if len(shown) != k:
        raise InputError(
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
    raise InputError(
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
            raise InputError(
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
        raise InputError(
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


def _interval_vertices(credal: Box, corners: list[int], inside: NDArray[np.bool_]) -> Array:
    """Vertices of the set over the three classes and "another one", without that column, (V, 3)."""
    l, u = (bound[0] for bound in credal.bounds())
    low, high = l[corners], u[corners]
    if not inside.all():
        low = np.append(low, l[~inside].sum())
        high = np.append(high, min(u[~inside].sum(), 1.0))
    vertices, counts = box_vertices(low[None], high[None])
    return vertices[0, : counts[0], : len(corners)]


def _mass_vertices(credal: Masses, corners: list[int], inside: NDArray[np.bool_]) -> Array:
    """The same from masses: of a focal set stay its classes among the three, and whether it holds another one."""
    sets = credal.focal_sets[:, corners]
    if not inside.all():
        sets = np.column_stack([sets, credal.focal_sets[:, ~inside].any(axis=1)])
    merged, which = np.unique(sets, axis=0, return_inverse=True)
    masses = np.bincount(which.reshape(-1), weights=credal.checked_masses()[0], minlength=len(merged))
    return permutation_vertices(masses[None], merged)[0, :, : len(corners)]


def _hull(images: Array) -> Array:
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
