"""The squared distance of the truth is without bias, by enumeration of all votes."""

from itertools import product
from math import prod

import numpy as np
import pytest

import uqassay as uq
from uqassay.losses import counts_of_votes, second_order_gap, squared_truth_distance
from uqassay.losses.votes import checked_votes


def all_votes(truth, m):
    """Every sequence of m votes with its probability."""
    sequences = list(product(range(len(truth)), repeat=m))
    return np.array(sequences), np.array([prod(truth[k] for k in s) for s in sequences])


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("truth", [(0.3, 0.7), (0.2, 0.5, 0.3), (1.0, 0.0, 0.0)])
def test_expectations_by_enumeration(m, truth):
    sequences, chance = all_votes(truth, m)
    mean = np.linspace(1.0, 2.0, len(truth)) / np.linspace(1.0, 2.0, len(truth)).sum()
    point = uq.Point(np.tile(mean, (len(sequences), 1)))
    held = checked_votes(counts_of_votes(sequences, len(truth)), point)
    np.testing.assert_allclose(chance @ held.shares(), truth, atol=1e-14)
    np.testing.assert_allclose(chance @ held.agreement(), np.square(truth), atol=1e-14)
    assert chance @ squared_truth_distance(held.counts, point) == pytest.approx(
        np.square(truth - mean).sum(), abs=1e-14
    )


def test_expected_gap_is_zero_over_the_statement_by_enumeration():
    members, weights = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3], [0.2, 0.2, 0.6]]), np.array([0.5, 0.2, 0.3])
    expected = 0.0
    for truth, weight in zip(members, weights, strict=True):
        sequences, chance = all_votes(truth, 2)
        stated = uq.Members(np.tile(members, (len(sequences), 1, 1)), weights=weights)
        expected += weight * float(chance @ second_order_gap(counts_of_votes(sequences, 3), stated))
    assert expected == pytest.approx(0.0, abs=1e-14)


def test_two_formulas_agree(random_generator):
    counts = random_generator.multinomial(7, [0.2, 0.3, 0.5], 40)
    mean = random_generator.dirichlet([1, 1, 1], 40)
    held = checked_votes(counts, uq.Point(mean))
    written = (held.agreement() - 2 * mean * held.shares() + mean**2).sum(axis=1)
    np.testing.assert_allclose(held.squared_distance(mean), written, atol=1e-14)


def test_the_order_of_the_classes_does_not_matter(random_generator):
    counts = random_generator.multinomial(5, [0.2, 0.3, 0.5], 30)
    members = random_generator.dirichlet([1, 1, 1], (30, 4))
    order = [2, 0, 1]
    first = second_order_gap(counts, uq.Members(members))
    np.testing.assert_allclose(first, second_order_gap(counts[:, order], uq.Members(members[..., order])), atol=1e-14)


def test_one_row_alone(random_generator):
    counts = random_generator.multinomial(5, [0.2, 0.3, 0.5], 6)
    p = random_generator.dirichlet([1, 1, 1], (6, 4))
    whole = second_order_gap(counts, p)
    assert [second_order_gap(counts[[i]], p[[i]])[0] for i in range(6)] == whole.tolist()


def test_a_point_states_no_variance(random_generator):
    p, counts = random_generator.dirichlet([1, 1], 5), np.full((5, 2), 3)
    np.testing.assert_array_equal(second_order_gap(counts, uq.Point(p)), squared_truth_distance(counts, uq.Point(p)))


@pytest.mark.parametrize("dtype", ["float16", "uint8", "int64", ">f8"])
def test_counts_of_every_number_type(dtype):
    counts = np.asfortranarray(np.array([[3, 1], [0, 4]], dtype=dtype))
    counts.setflags(write=False)
    np.testing.assert_allclose(squared_truth_distance(counts, [[0.5, 0.5]] * 2), [0.0, 0.5], atol=1e-15)
