"""Distance against non-specificity: points, regions within what is possible, and lines of equal E."""

import numpy as np
import pytest
from matplotlib.path import Path
from tests.report.figures.cases import blank, hostile

import uqassay as uq
from uqassay.report import figures
from uqassay.report.figures.assay import cut_outline, possible_means
from uqassay.report.sections import mean_regions


@pytest.mark.parametrize("name", ["assay", "grouped"])
def test_regions_and_equal_lines_against_their_definition(name, request):
    a = request.getfixturevalue(name)
    ax = figures.plot_distance_nonspecificity(a, 0.4, ax=blank())
    points = {tuple(np.r_[line.get_xdata(), line.get_ydata()]) for line in ax.lines if len(line.get_xdata()) == 1}
    totals = {}
    for patch, model in zip(ax.patches, a.candidates, strict=False):
        d, ns = (model.columns[c].mean() for c in ("distance", "nonspecificity"))
        totals[model.name] = d + 0.4 * ns
        assert any(p == pytest.approx((ns, d)) for p in points)
        region = mean_regions(a)["all"][a.model_names.index(model.name)]
        h_d, h_ns = region["half_widths"]
        ends = possible_means(a)
        cut = (abs(patch.get_xy()[:, :, None] - ends) < 1e-9).any(axis=(1, 2))
        away = patch.get_xy()[~cut if h_ns > 0 else ...] - [ns, d]
        if h_ns > 0:
            shape = np.array([[h_ns**2, region["covariance"]], [region["covariance"], h_d**2]])
            np.testing.assert_allclose(np.einsum("pi,ij,pj->p", away, np.linalg.inv(shape), away), 1.0, rtol=1e-6)
        else:
            np.testing.assert_allclose(away[:, 0], 0.0, atol=1e-12)
            assert abs(away[:, 1]).max() == pytest.approx(h_d, rel=1e-2)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    for line in lines:
        (x0, x1), (y0, y1) = line.get_xdata(), line.get_ydata()
        assert (y1 - y0) / (x1 - x0) == pytest.approx(-0.4)
    dashed = [line for line in lines if line.get_linestyle() == "--"]
    assert dashed[0].get_ydata()[0] + 0.4 * dashed[0].get_xdata()[0] == pytest.approx(min(totals.values()))


def test_regions_end_where_a_mean_is_impossible():
    """Of an ellipse that reaches below 0, exactly the part in the possible range is drawn."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=8)
    p = np.where(np.eye(3)[y] > 0, 0.98, 0.01)
    p[0] = np.roll(p[0], 1)
    half = np.where(np.arange(8) == 2, 0.02, 0.0)[:, None]
    a = uq.assay({"m": uq.Intervals(np.maximum(p - half, 0), np.minimum(p + half, 1))}, y, n_draws=20)
    region = mean_regions(a)["all"][0]
    h_d, h_ns = region["half_widths"]
    assert region["distance"][0] < h_d  # the ellipse reaches below 0
    assert region["nonspecificity"][0] < h_ns
    drawn = Path(figures.plot_distance_nonspecificity(a, ax=blank()).patches[0].get_xy())
    assert drawn.vertices.min() >= 0.0
    shape = np.linalg.inv([[h_ns**2, region["covariance"]], [region["covariance"], h_d**2]])
    centre = np.array([region["nonspecificity"][0], region["distance"][0]])
    at = rng.uniform(-1.2, 1.2, (5000, 2)) * [h_ns, h_d] + centre
    within = np.einsum("pi,ij,pj->p", at - centre, shape, at - centre) < 0.97
    outside = np.einsum("pi,ij,pj->p", at - centre, shape, at - centre) > 1.03
    found, possible = drawn.contains_points(at), (at > 0).all(axis=1)
    assert found[within & possible].all()
    assert not found[outside | (at < 0).any(axis=1)].any()
    assert (within & ~possible).any()


def test_a_polygon_cut_at_a_line():
    square = np.array([[0.0, 2.0, 2.0, 0.0], [0.0, 0.0, 2.0, 2.0]])
    left = cut_outline(square, 0, 1.0, -1.0)
    assert left.max(axis=1).tolist() == [1.0, 2.0]
    assert left.min(axis=1).tolist() == [0.0, 0.0]
    assert cut_outline(square, 1, 5.0, -1.0) is square
    assert cut_outline(square, 1, np.inf, -1.0) is square


def test_possible_means_of_distances_and_measures():
    models, y = {"m": uq.Members(np.full((6, 2, 4), 0.25))}, [0, 1, 2, 3, 0, 1]
    np.testing.assert_allclose(possible_means(uq.assay(models, y)), [[0.0, np.log(4)], [0.0, np.inf]])
    bounded = uq.assay(models, y, distance="js", nonspecificity="korner")
    np.testing.assert_allclose(possible_means(bounded), [[1.0, 4.0], [0.0, np.log(2)]])


def test_baselines_outside_the_axes_are_named():
    title = figures.plot_distance_nonspecificity(hostile("twelve models"), ax=blank()).get_title(loc="left")
    assert "outside, (NS, d): vacuous (1.10, 0.00)" in title.replace("\n", " ")
