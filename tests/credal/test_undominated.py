"""Classes that a credal set does not rule out, against linear programs and dense grids."""

import numpy as np
import pytest
from scipy.optimize import linprog

from uqassay.credal import admissible_in_hull, reachable, undominated_in_box, undominated_in_core, undominated_in_hull
from uqassay.credal.undominated import CLASS_RULES


def rules_by_programs(k, **constraints):
    """The three rules for one set of distributions {p ≥ 0, Σ p = 1, further constraints}, each by linear programs."""

    def least(cost):
        found = linprog(cost, bounds=(0, 1), **constraints)
        return found.fun if found.status == 0 else np.inf

    size = constraints["A_eq"].shape[1]
    unit = np.eye(size)[:k]
    lower = np.array([least(unit[j]) for j in range(k)])
    upper = np.array([-least(-unit[j]) for j in range(k)])
    dominated = (upper >= lower.max() - 1e-9) & (upper > 1e-9)
    maximal = [upper[j] > 1e-9 and all(least(unit[i] - unit[j]) <= 1e-9 for i in range(k) if i != j) for j in range(k)]
    admissible = []
    for j in range(k):
        rows = np.array([unit[i] - unit[j] for i in range(k) if i != j])
        a_ub = np.concatenate([constraints.get("A_ub", np.empty((0, size))), rows])
        b_ub = np.concatenate([constraints.get("b_ub", []), np.zeros(k - 1)])
        options = constraints | {"A_ub": a_ub, "b_ub": b_ub}
        admissible.append(linprog(np.zeros(size), bounds=(0, 1), **options).status == 0)
    return np.array([dominated, maximal, admissible])


def of_hull(points):
    """Variables: p, and the weights of the points."""
    m, k = points.shape
    a_eq = np.zeros((k + 1, k + m))
    a_eq[:k, :k], a_eq[:k, k:], a_eq[k, k:] = np.eye(k), -points.T, 1
    return rules_by_programs(k, A_eq=a_eq, b_eq=np.append(np.zeros(k), 1))


def of_core(masses, sets):
    """Variables: p, and what each focal set gives to each class in it."""
    k, (owner, to) = sets.shape[1], np.nonzero(sets)
    a_eq = np.zeros((k + len(sets), k + len(owner)))
    a_eq[:k, :k] = -np.eye(k)
    a_eq[to, k + np.arange(len(owner))] = 1
    a_eq[k + owner, k + np.arange(len(owner))] = 1
    return rules_by_programs(k, A_eq=a_eq, b_eq=np.append(np.zeros(k), masses))


def of_box(lower, upper):
    k = len(lower)
    return rules_by_programs(
        k, A_eq=np.ones((1, k)), b_eq=[1], A_ub=np.concatenate([np.eye(k), -np.eye(k)]), b_ub=np.append(upper, -lower)
    )


@pytest.mark.parametrize(("m", "k"), [(2, 2), (2, 4), (3, 3), (6, 5)])
def test_hulls_against_linear_programs(random_generator, m, k):
    points = random_generator.dirichlet(np.full(k, 2.0), size=(2, m))
    found = np.array(undominated_in_hull(points))
    for i, p in enumerate(points):
        np.testing.assert_array_equal(found[:, i], of_hull(p))


def test_bounds_that_are_known_are_not_computed_again(random_generator):
    points = random_generator.dirichlet(np.ones(4), size=(20, 3))
    known = points.min(axis=1), points.max(axis=1)
    np.testing.assert_array_equal(undominated_in_hull(points, bounds=known), undominated_in_hull(points))
    vacuous = np.zeros((20, 4)), np.ones((20, 4))
    assert undominated_in_hull(points, bounds=vacuous)[0].all()


def test_hulls_against_a_dense_grid_of_mixtures(random_generator):
    centre = random_generator.dirichlet(np.full(3, 30.0), size=(60, 1))
    points = 0.7 * centre + 0.3 * random_generator.dirichlet(np.ones(3), size=(60, 3))
    w = np.array([(a, b, 80 - a - b) for a in range(81) for b in range(81 - a)]) / 80
    mixtures = np.einsum("wm,nmk->nwk", w, points)
    by_grid = (mixtures >= mixtures.max(axis=2, keepdims=True)).any(axis=1)
    found = undominated_in_hull(points)[2]
    assert (found | ~by_grid).all()
    assert np.mean(found == by_grid) > 0.97  # the grid misses small regions
    assert {1, 2, 3} <= set(found.sum(axis=1).tolist())


def test_boxes_against_linear_programs(random_generator):
    p = random_generator.dirichlet(np.full(4, 5.0), 4)
    lower = p * random_generator.uniform(0.3, 1, p.shape)
    upper = p + (1 - p) * random_generator.uniform(0, 0.3, p.shape)
    found = np.array(undominated_in_box(*reachable(lower, upper)))
    for i in range(len(p)):
        np.testing.assert_array_equal(found[:, i], of_box(lower[i], upper[i]))
    assert (found[1] != found[2]).any()


@pytest.mark.parametrize("k", [3, 5])
def test_cores_against_linear_programs(random_generator, k):
    for _ in range(2):
        chosen = random_generator.integers(1, 2**k, 7)
        sets = (np.unique(chosen)[:, None] >> np.arange(k)) % 2 == 1
        masses = random_generator.dirichlet(np.full(len(sets), 0.4), 2)
        found = np.array(undominated_in_core(masses, sets))
        for i, m in enumerate(masses):
            np.testing.assert_array_equal(found[:, i], of_core(m, sets))


def test_cores_that_need_the_transport_problem():
    """Equal parts give class 0 too much, but it can leave the mass of {0, 1} to class 1."""
    sets = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=bool)
    masses = np.array([[0.36, 0.2, 0.3, 0.14], [0.5, 0.2, 0.3, 0.0], [0.58, 0.2, 0.22, 0.0], [0.7, 0.1, 0.2, 0.0]])
    found = np.array(undominated_in_core(masses, sets))
    for i, m in enumerate(masses):
        np.testing.assert_array_equal(found[:, i], of_core(m, sets))
    assert found[2, :, 2].tolist() == [True, False, False, False]


def test_the_rules_are_nested_and_the_last_one_asked_for_ends_the_list(random_generator):
    points = random_generator.dirichlet(np.full(12, 1.0), size=(200, 4))
    wide, middle, narrow = undominated_in_hull(points)
    assert (wide >= middle).all()
    assert (middle >= narrow).all()
    assert wide.sum() > middle.sum() > narrow.sum()
    for i, rule in enumerate(CLASS_RULES):
        np.testing.assert_array_equal(undominated_in_hull(points, last=rule)[-1], (wide, middle, narrow)[i])
        bounds = points.min(axis=1), points.max(axis=1)
        assert len(undominated_in_box(*bounds, last=rule)) == i + 1
        assert len(undominated_in_core(points[:, 0], np.eye(12, dtype=bool), last=rule)) == i + 1


def test_points_keep_their_modes_alone_with_ties():
    points = np.array([[[0.4, 0.4, 0.2]], [[0.2, 0.3, 0.5]], [[1 / 3, 1 / 3, 1 / 3]]])
    expected = [[True, True, False], [False, False, True], [True, True, True]]
    for found in (
        *undominated_in_hull(points),
        *undominated_in_box(points[:, 0], points[:, 0]),
        *undominated_in_core(points[:, 0], np.eye(3, dtype=bool)),
    ):
        assert found.tolist() == expected


def test_a_class_that_is_impossible_in_the_whole_set_is_ruled_out():
    points = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    bounds = points.min(axis=1), points.max(axis=1)
    core = np.ones((1, 1)), np.array([[True, True, False]])
    for found in (*undominated_in_hull(points), *undominated_in_box(*bounds), *undominated_in_core(*core)):
        assert found.tolist() == [[True, True, False]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_class_of_each_hull_as_in_the_whole_set(random_generator, dtype):
    """Also where points tie, hold zeros, or are equal."""
    points = random_generator.dirichlet(np.full(5, 0.7), size=(300, 4))
    points[:80] = np.round(5 * points[:80]) / 5
    points[80:120, :, 2] = 0
    points[120:140] = points[120:140, :1]
    points = points.astype(dtype)
    whole = undominated_in_hull(points)[-1]
    for j in range(5):
        np.testing.assert_array_equal(admissible_in_hull(points, np.full(300, j)), whole[:, j])
    assert (undominated_in_hull(points)[1] != whole).mean() > 0.05  # programs are solved, not only modes found
    mixed = random_generator.integers(0, 5, 300)
    np.testing.assert_array_equal(admissible_in_hull(points, mixed), whole[np.arange(300), mixed])
    assert admissible_in_hull(points[:0], mixed[:0]).shape == (0,)
