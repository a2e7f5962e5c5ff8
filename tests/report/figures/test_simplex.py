"""One credal set in the triangle: polygons against brute force, the label, the projection, what cannot be drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.credal import box_vertices, permutation_vertices
from uqassay.report import figures
from uqassay.report.figures.sets import CORNERS


def blank():
    return Figure(dpi=50).subplots()


def texts(ax):
    return [t.get_text() for t in ax.texts]


def shares_of(xy):
    """Barycentric coordinates of points in the triangle."""
    top = xy[:, 1] / CORNERS[2, 1]
    return np.c_[1 - xy[:, 0] - top / 2, xy[:, 0] - top / 2, top]


def polygon(ax):
    """Corners of the set drawn, (V, 3)."""
    return shares_of(ax.patches[0].get_xy()[:-1])


def same_hull(a, b):
    """Whether two sets of points have the same convex hull, by its extent in many directions."""
    turn = np.linspace(0, 2 * np.pi, 181)
    directions = np.stack([np.cos(turn), np.sin(turn)])
    np.testing.assert_allclose(
        (a @ CORNERS @ directions).max(axis=0), (b @ CORNERS @ directions).max(axis=0), atol=1e-9
    )


def given_three(vertices, classes):
    three = vertices[:, classes]
    three = three[three.sum(axis=1) > 1e-12]
    return three / three.sum(axis=1, keepdims=True)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 6))
def test_simplex_polygons_against_brute_force(seed, k):
    rng = np.random.default_rng(seed)
    classes = rng.permutation(k)[:3].tolist()
    intervals = random_prediction("Intervals", rng, 2, k)
    lower, upper = intervals.bounds()
    vertices, counts = box_vertices(lower, upper)
    drawn = polygon(figures.plot_simplex(intervals, 1, classes=classes, ax=blank()))
    same_hull(drawn, given_three(vertices[1, : counts[1]], classes))
    masses = random_prediction("Masses", rng, 2, k)
    drawn = polygon(figures.plot_simplex(masses, -1, classes=classes, ax=blank()))
    same_hull(drawn, given_three(permutation_vertices(masses.masses[1:], masses.focal_sets)[0], classes))
    ensemble = random_prediction("Members", rng, 2, k, 7)
    ax = figures.plot_simplex(ensemble, 1, classes=classes, ax=blank())
    same_hull(polygon(ax), given_three(ensemble.probs[1], classes))
    dots = next(line for line in ax.lines if line.get_marker() == ".")
    np.testing.assert_allclose(shares_of(dots.get_xydata()), given_three(ensemble.probs[1], classes), atol=1e-12)


def test_simplex_outline_has_no_corner_inside_and_keeps_the_mean():
    points = np.array(
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2], [0.45, 0.45, 0.1], [0.8, 0.1, 0.1]]
    )
    ax = figures.plot_simplex(points, ax=blank())
    assert len(ax.patches[0].get_xy()) == 4  # three corners, closed
    assert {tuple(p) for p in polygon(ax).round(9)} == {tuple(p) for p in points[:3]}
    mean = next(line for line in ax.lines if line.get_marker() == "D")
    np.testing.assert_allclose(shares_of(mean.get_xydata())[0], points[:-1].mean(axis=0))  # the last repeats the first


def test_simplex_takes_the_label_among_its_corners():
    p = uq.Point([[0.5, 0.3, 0.15, 0.05]], class_names=["cat", "dog", "frog", "ship"])
    assert texts(figures.plot_simplex(p, ax=blank())) == ["cat", "dog", "frog"]
    ax = figures.plot_simplex(p, label="ship", ax=blank())
    assert texts(ax) == ["cat", "dog", "ship (label)"]
    star = next(line for line in ax.lines if line.get_marker() == "*")
    np.testing.assert_allclose(star.get_xydata(), CORNERS[[2]])
    assert "0.850" in ax.get_title(loc="left")  # what the three have of the probability
    ax = figures.plot_simplex(p, classes=["d", 0, 2], names=["a", "b", "c", "d"], ax=blank())
    assert texts(ax) == ["d", "a", "c"]
    np.testing.assert_allclose(shares_of(ax.lines[-1].get_xydata()), [[0.05 / 0.7, 0.5 / 0.7, 0.15 / 0.7]])


def test_simplex_of_two_classes_is_a_line():
    ax = figures.plot_simplex(uq.Intervals([[0.1, 0.2]], [[0.6, 0.9]]), label=1, ax=blank())
    np.testing.assert_allclose(np.unique(ax.patches[0].get_xy().round(9), axis=0), [[0.4, 0.0], [0.9, 0.0]])
    assert texts(ax) == ["0", "1 (label)"]


def test_simplex_says_which_points_it_cannot_show():
    points = [[0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
    ax = figures.plot_simplex(points, classes=[0, 1, 2], ax=blank())
    assert "1 not shown: 0 for these classes" in ax.get_title(loc="left")
    with refuses("classes", "range"):
        figures.plot_simplex([[0.0, 0.0, 0.0, 1.0]], classes=[0, 1, 2])


def test_simplex_draws_of_a_dirichlet_are_those_of_its_row():
    d = uq.Dirichlet(np.random.default_rng(0).gamma(2.0, size=(6, 3)), n_draws=20)
    ax = figures.plot_simplex(d, 4, ax=blank())
    dots = next(line for line in ax.lines if line.get_marker() == ".")
    np.testing.assert_allclose(shares_of(dots.get_xydata()), d.hull_points()[4], atol=1e-12)
    assert "20 draws" in [t.get_text() for t in ax.get_legend().get_texts()]


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"row": 5}, "row", "range", "got 5"),
        ({"label": "lion"}, "label", "choice", "lion"),
        ({"label": 9}, "label", "choice", "got 9"),
        ({"classes": [0, 1]}, "classes", "mismatch", r"\[0, 1\]"),
        ({"classes": [0, 1, 1]}, "classes", "mismatch", r"\[0, 1, 1\]"),
        ({"names": ["a"]}, "names", "mismatch", "got 1"),
    ],
)
def test_simplex_refuses(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        figures.plot_simplex(random_prediction("Members", np.random.default_rng(0), 2, 4), **options)


def test_simplex_refuses_masses_that_are_no_belief_function():
    signed = uq.Masses.from_beliefs([[0.9, 0.9, 1.0]], [[0], [1], [0, 1, 2]], n_classes=3)
    with refuses("beliefs", "not-belief-functions"):
        figures.plot_simplex(signed)


@pytest.mark.parametrize("kind", ["Point", "Members", "Dirichlet", "Intervals", "Masses", "Vertices", "GaussianLogits"])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_simplex_of_every_kind_holds_its_mean(kind, k):
    masses = kind == "Masses" and k == 10
    p = (
        uq.Masses(np.full((3, 2), 0.5), [[0, 4], range(10)], n_classes=10)
        if masses
        else random_prediction(kind, np.random.default_rng(3), 3, k)
    )
    ax = figures.plot_simplex(p, 2, label=1, names=["$a$", *map(str, range(1, k))], ax=blank())
    ax.figure.canvas.draw()  # warnings are errors here
    mean = next(line for line in ax.lines if line.get_marker() == "D").get_xydata()[0]
    if kind == "Point":
        assert not ax.patches
        return
    outline = ax.patches[0].get_xy()
    turn = np.linspace(0, 2 * np.pi, 61)
    directions = np.stack([np.cos(turn), np.sin(turn)])
    assert (mean @ directions <= (outline @ directions).max(axis=0) + 1e-9).all()


@pytest.mark.parametrize(("meaning", "words"), [("aleatoric", "2 passes"), ("epistemic", "100 draws")])
def test_the_points_of_gaussian_logits_are_named_by_their_meaning(meaning, words):
    mean = np.array([[[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]])
    ax = figures.plot_simplex(uq.GaussianLogits(mean, np.ones_like(mean), variance_is=meaning), ax=blank())
    assert words in [text.get_text() for text in ax.get_legend().get_texts()]
