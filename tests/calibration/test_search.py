import numpy as np
import pytest

from uqassay.calibration.search import (
    RowNumbers,
    best_of,
    dealt_out,
    first_mixtures,
    moved_mixtures,
    onto_simplex,
    refined,
    sizes,
    step_lengths,
    survivors,
)

# -- mixture populations ---------------------------------------------------------------------------------------------
#
# Starting mixtures, populations and their moves.


@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_onto_simplex_against_a_quadratic_program(m):
    from scipy.optimize import minimize

    points = np.random.default_rng(m).normal(0.3, 1.0, (12, m))
    for point, ours in zip(points, onto_simplex(points), strict=True):
        theirs = minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            np.full(m, 1 / m),
            jac=lambda x, point=point: 2 * (x - point),
            method="SLSQP",
            bounds=[(0, 1)] * m,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-15},
        ).x
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_onto_simplex_leaves_its_points_and_reaches_corners():
    inside = np.random.default_rng(0).dirichlet(np.ones(6), (4, 5))
    np.testing.assert_allclose(onto_simplex(inside), inside, atol=1e-15)
    np.testing.assert_array_equal(onto_simplex(np.array([9.0, 0.0, -3.0])), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(onto_simplex(np.full(4, -7.0)), 0.25)


@pytest.mark.parametrize("m", [1, 2, 3, 9])
def test_first_mixtures_are_mixtures_with_the_mean_and_the_members_in_front(m):
    first = first_mixtures(m, 60, np.random.default_rng(0))
    assert first.min() >= 0
    np.testing.assert_allclose(first.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(first[0], 1 / m)
    if m > 1:
        np.testing.assert_array_equal(first[1 : m + 1], np.eye(m))
        assert len(first) == m + 1 + (180 if m == 2 else 60)


def test_the_best_mixtures_are_dealt_out_in_turn():
    first, values = np.arange(6.0)[:, None] * [1.0, 0.0], np.array([[5.0, 1.0, 4.0, 0.0, 2.0, 3.0]])
    weights, dealt = dealt_out(first, values, 2, 2)
    assert dealt.tolist() == [[[0.0, 2.0], [1.0, 3.0]]]
    assert weights[..., 0].tolist() == [[[3.0, 4.0], [1.0, 5.0]]]


def test_populations_shrink_linearly_to_the_size_left():
    assert sizes(10, 2, 4) == [8, 6, 4, 2]
    assert sizes(3, 5, 2) == [3, 3]


def test_moves_stay_on_the_simplex_and_survivors_are_the_better_of_both():
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(4), (3, 8))
    children = moved_mixtures(weights, RowNumbers(rng, 3, np.arange(3)))
    assert children.min() >= 0
    np.testing.assert_allclose(children.sum(axis=2), 1, atol=1e-12)
    assert (children != weights).any(axis=2).mean() > 0.9
    values, found = np.sort(rng.random((3, 8)), axis=1), rng.random((3, 8))
    kept, least = survivors(weights, values, children, found, 5)
    better = np.minimum(values, found)
    np.testing.assert_array_equal(least, np.sort(better, axis=1)[:, :5])
    for t in range(3):
        for i in range(5):
            (at,) = np.flatnonzero(better[t] == least[t, i])
            np.testing.assert_array_equal(kept[t, i], (children if found[t, at] <= values[t, at] else weights)[t, at])
    np.testing.assert_array_equal(best_of(weights, found, 2)[1], np.sort(found, axis=1)[:, :2])


# -- mixture refinement ----------------------------------------------------------------------------------------------
#
# Rounds of refinement.


@pytest.mark.parametrize("m", [2, 5])
def test_rounds_never_get_worse_and_reach_the_minimum_of_a_quadratic(m):
    rng = np.random.default_rng(m)
    aims, weights = rng.dirichlet(np.ones(m), 4)[:, None], rng.dirichlet(np.ones(m), (4, 2))

    def values_of(mixtures):
        return ((mixtures - aims[:, :, None]) ** 2).sum(axis=-1)

    values, last, numbers = (
        values_of(weights[:, :, None])[..., 0],
        np.zeros_like(weights),
        RowNumbers(rng, 4, np.arange(4)),
    )
    for r in range(6):
        before = values
        lengths = step_lengths(r // 2, numbers.random((4, 2, 16, 1)))
        weights, values, last = refined(values_of, weights, values, last, lengths, numbers)
        assert (values <= before).all()
        assert weights.min() >= 0
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-12)
        np.testing.assert_allclose(values, values_of(weights[:, :, None])[..., 0], atol=1e-15)
    assert values.max() < 1e-2


def test_step_lengths_become_finer_from_round_to_round():
    for r in range(3):
        lengths = step_lengths(r, np.random.default_rng(r).random(500))
        assert 16.0 ** -(r + 1) <= lengths.min() < lengths.max() <= 16.0 ** -(r / 2)


# -- row numbers -----------------------------------------------------------------------------------------------------
#
# Random numbers of some rows are those of all rows.


def test_some_rows_have_the_numbers_that_they_have_among_all():
    every, some = (RowNumbers(np.random.default_rng(3), 5, rows) for rows in (np.arange(5), np.array([4, 1])))
    for shape, whole, axis in (((2, 4), (5, 4), 0), ((6, 2), (15, 2), 0), ((2, 6, 2), (2, 15, 2), 1)):
        each = shape[axis] // 2
        places = np.concatenate([np.arange(4 * each, 5 * each), np.arange(each, 2 * each)])
        np.testing.assert_array_equal(some.random(shape, axis), every.random(whole, axis).take(places, axis=axis))
    some.keep(np.array([1]))
    np.testing.assert_array_equal(some.random((1, 2)), every.random((5, 2))[1:2])


def test_numbers_of_all_rows_stay_the_same_whichever_rows_go_on():
    every, some = (RowNumbers(np.random.default_rng(3), 5, rows) for rows in (np.arange(5), np.array([4, 1])))
    np.testing.assert_array_equal(some.of_all(3), every.of_all(3))
    np.testing.assert_array_equal(some.random((2, 3)), every.random((5, 3))[[4, 1]])
