"""Checks of rows, tolerances, labels and seeds."""

import numpy as np
import pytest

from tests.refusals import refuses
from uqassay.arrays import as_bfloat16, as_labels, as_numeric, check_rows, draw_per_row, generator, tolerance_of
from uqassay.errors import InputError


@pytest.mark.parametrize("rng", [-1, 0.5, "seed", {}, np.zeros((2, 2))])
def test_no_seed(rng):
    with refuses("rng", "range", got="whole number from 0 up, a generator or None; got"):
        generator(rng)
    with refuses("rng", "range"):
        draw_per_row(lambda g, i: g.random(1), np.empty((1, 1)), np.arange(1), rng)


def test_draws_depend_on_the_row_number():
    rows = np.array([7, 3, 7])
    out = draw_per_row(lambda g, i: g.random(4), np.empty((3, 4)), rows, 5)
    np.testing.assert_array_equal(out[0], out[2])
    np.testing.assert_array_equal(draw_per_row(lambda g, i: g.random(4), np.empty((1, 4)), rows[1:2], 5)[0], out[1])


def test_the_tolerance_follows_the_precision():
    assert tolerance_of(np.zeros(2)) == tolerance_of([0.5]) == tolerance_of(np.zeros(2, int)) == 1e-6
    assert tolerance_of(np.zeros(2), np.zeros(2, np.float16)) == 1e-3
    coarse = np.array([[0.333251953125, 0.66650390625]])  # float16 of 1/3 and 2/3, and a multiple of 2⁻¹²
    assert [tolerance_of(coarse.astype(t)) for t in (np.float16, np.float32, np.float64)] == [1e-3, 1e-4, 1e-6]
    marked = as_bfloat16(np.array([[0.5, 0.5]], np.float32))
    for kept in (marked, marked[:1], marked.T, marked.copy(), as_numeric(marked, "a"), np.ascontiguousarray(marked)):
        assert tolerance_of(kept) == 8e-3
    assert tolerance_of(np.array(marked.tolist())) == 1e-6


@pytest.mark.parametrize("neighbours", [[[0.5, 0.5]], [[1 / 3, 2 / 3]], [[0.2, 0.8]] * 5])
def test_whether_a_row_is_valid_is_independent_of_its_neighbours(neighbours):
    row = np.array([[0.333251953125, 0.66650390625]])  # sums to 0.99976
    for probs in (row, np.concatenate([row, neighbours]), np.concatenate([row, neighbours]).astype(np.float32)):
        with refuses("probs", "sum", got=r"row 0 sums to 0\.999756"):
            check_rows(probs, "probs", tolerance=tolerance_of(probs))


def test_the_first_broken_row_is_named_in_every_chunk():
    probs = np.full((300_000, 8), 0.125)
    probs[299_999, 3] += 1e-3
    with refuses("probs", "sum", got=r"row 299999 sums to 1\.001") as refusal:
        check_rows(probs, "probs", tolerance=1e-6)
    assert refusal.value.facts == {"row": 299_999, "look": "counts"}
    probs[250_000, 7] = np.nan
    with refuses("probs", "finite", got=r"row 250000 holds nan at \[250000, 7\]"):
        check_rows(probs, "probs", tolerance=1e-6)


@pytest.mark.parametrize(
    ("labels", "code", "got"),
    [
        ([0, 3], "range", "0 … 2; row 1 holds 3"),
        ([-1, 0], "range", "row 0 holds -1"),
        ([0.5, 0], "type", r"row 0 holds 0\.5"),
        ([0], "mismatch", "2 instances; got 1"),
        (np.ma.masked_array([0, 1], [True, False]), "masked", ""),
        (np.array([0, None], dtype=object), "type", "NoneType"),
        ([[1, 2], [0, 1]], "mismatch", "3 classes; got 2"),
        ([[1, 2, -1], [0, 1, 0]], "range", "row 0 holds -1"),
        ([[0, 0, 0], [0, 1, 0]], "empty", "row 0 has none"),
    ],
)
def test_labels_that_are_refused(labels, code, got):
    with refuses("y", code, got=got):
        as_labels(labels, 3, n_instances=2, name="y")


def test_votes_become_shares_even_beyond_the_largest_number():
    votes = as_labels([[1, 3, 0], [0, 0, 5]], 3)
    assert votes.tolist() == [[0.25, 0.75, 0], [0, 0, 1]]
    assert as_labels([[1e308, 1e308, 0.0]], 3).tolist() == [[0.5, 0.5, 0]]


def test_a_sum_that_is_not_one_is_shown_with_its_digits():
    with pytest.raises(InputError, match=r"sums to 1\.000002;"):
        check_rows(np.array([[0.5, 0.500002]]), "probs", tolerance=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_classes_on_another_axis_are_recognised(axis):
    probs = np.random.default_rng(0).dirichlet(np.ones(4), (5, 3))
    moved = np.moveaxis(probs, -1, axis)
    with pytest.raises(InputError, match=f"move the classes to the last axis: the values along axis {axis} sum to 1"):
        check_rows(moved, "probs", tolerance=1e-6)
