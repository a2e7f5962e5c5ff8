"""The simplex method on many programs at once against SciPy's HiGHS, one at a time."""

import numpy as np
import pytest
from scipy.optimize import linprog

from uqassay.credal.convex_hull import (
    Tableaux,
    boundary_towards_corner,
    l1_projection,
    l1_tableau,
    pivot_to_optimum,
    variable_values,
)
from uqassay.native import kernel


def solved(points, target):
    """Weights of the nearest mixture in the L1 distance, ``(n, M)``."""
    n_points, k = points.shape[1:]
    end = pivot_to_optimum(l1_tableau(points, target, None), np.ones(n_points + k, dtype=bool), errors_from=n_points)
    return variable_values(end)[:, :n_points]


def least_l1(points, target):
    """min Σ|target − Σ w p| over the simplex, by HiGHS."""
    n_points, k = points.shape
    cost = np.r_[np.zeros(n_points), np.ones(2 * k)]
    equal = np.block([[points.T, np.eye(k), -np.eye(k)], [np.ones((1, n_points)), np.zeros((1, 2 * k))]])
    return linprog(cost, A_eq=equal, b_eq=np.r_[target, 1.0]).fun


@pytest.mark.parametrize(("n_points", "k"), [(1, 2), (2, 3), (5, 3), (4, 10), (12, 4)])
def test_optimum_against_highs(n_points, k):
    rng = np.random.default_rng(n_points * 100 + k)
    points, target = rng.dirichlet(np.ones(k), (20, n_points)), rng.dirichlet(np.ones(k), 20)
    weights = solved(points, target)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    assert weights.min() > -1e-9
    found = np.abs(target - np.einsum("nm,nmk->nk", weights, points)).sum(axis=1)
    np.testing.assert_allclose(found, [least_l1(p, t) for p, t in zip(points, target, strict=True)], atol=1e-9)


def test_equal_points_and_targets_at_a_corner():
    points = np.repeat([[[1.0, 0.0, 0.0]]], 4, axis=1)
    np.testing.assert_allclose(np.einsum("nm,nmk->nk", solved(points, points[:, 0]), points), points[:, 0], atol=1e-12)


def test_an_instance_does_not_depend_on_the_others_bit_for_bit():
    rng = np.random.default_rng(4)
    points, target = rng.dirichlet(np.ones(4), (30, 6)), rng.dirichlet(np.ones(4), 30)
    together = solved(points, target)
    for i in (0, 7, 29):
        np.testing.assert_array_equal(solved(points[i : i + 1], target[i : i + 1])[0], together[i])


def test_no_instances_and_single_columns_are_returned_as_they_are():
    rng = np.random.default_rng(5)
    none = l1_tableau(np.empty((0, 3, 2)), np.empty((0, 2)), None)
    assert isinstance(pivot_to_optimum(none, np.ones(5, dtype=bool), errors_from=3), Tableaux)
    point = rng.dirichlet(np.ones(3), (2, 1))
    np.testing.assert_allclose(solved(point, rng.dirichlet(np.ones(3), 2)), 1.0)


@pytest.mark.skipif(kernel("solved_tableaux") is None, reason="needs uqassay-native")
@pytest.mark.parametrize(
    ("n_points", "k", "concentration"), [(1, 2, 1), (5, 3, 1), (10, 10, 0.1), (40, 6, 1), (6, 4, 0.01)]
)
def test_kernel_and_formula_agree_to_the_last_bit(n_points, k, concentration, monkeypatch):
    """Also for equal points, zeros, targets among the points and at corners."""
    rng = np.random.default_rng(n_points)
    points, target = rng.dirichlet(np.full(k, concentration), (40, n_points)), rng.dirichlet(np.ones(k), 40)
    points[:9] = points[:9].round(1) + 0.0
    points[:9] /= np.maximum(points[:9].sum(axis=-1, keepdims=True), 1e-9)
    points[:9][points[:9].sum(axis=-1) == 0] = 1 / k
    target[:4], target[4:9], points[9:12, -1] = np.eye(k)[0], points[4:9, 0], points[9:12, 0]
    corner = rng.integers(0, k, 40)

    def found():
        projection = l1_projection(points, target)
        boundary = boundary_towards_corner(points, points.mean(axis=1), corner)
        return [projection.weights, projection.point, projection.dual, boundary.t, boundary.point, boundary.weights]

    monkeypatch.setenv("UQASSAY_PURE", "0")
    compiled = found()
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for one, other in zip(compiled, found(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(kernel("solved_tableaux") is None, reason="needs uqassay-native")
def test_the_kernel_refuses_parts_that_do_not_fit():
    start = l1_tableau(np.full((2, 3, 2), 0.5), np.full((2, 2), 0.5), None)
    allowed = np.ones(5, dtype=bool)
    with pytest.raises(ValueError, match="do not fit"):
        kernel("solved_tableaux")(start.table[:1].copy(), *start[1:], allowed, 3)
    with pytest.raises(ValueError, match="no number"):
        kernel("solved_tableaux")(start.table, start.basic + 5, *start[2:], allowed, 3)
