"""Two samples of one score: checks of the input, and the joint ranking."""

import numpy as np
import pytest
from tests.metrics.ood.sides import sides
from tests.metrics.ood.test_detection import tied
from tests.refusals import refuses

from uqassay.metrics.ood import joined_groups, rank_samples, two_samples


def test_weights_row_order_bit_for_bit(random_generator):
    a, b = tied(random_generator, 300, 200, 4)
    v, w = random_generator.exponential(size=300), random_generator.exponential(size=200)
    i, j = random_generator.permutation(300), random_generator.permutation(200)
    first = rank_samples(two_samples(*sides(a, b), sample_weight=np.r_[v, w]), "out")
    second = rank_samples(two_samples(*sides(a[i], b[j]), sample_weight=np.r_[v[i], w[j]]), "out")
    np.testing.assert_array_equal(first.detected, second.detected)
    np.testing.assert_array_equal(first.passed, second.passed)


@pytest.mark.parametrize("kind", [list, np.array, lambda x: np.array(x, dtype=bool), lambda x: np.array(x, dtype="f2")])
def test_sides_are_booleans_or_0_and_1(kind):
    found = two_samples(kind([0, 1, 1]), [0.1, 0.2, 0.3])
    assert found.is_out.tolist() == [False, True, True]


def test_groups_are_separate_in_the_two_samples():
    found = two_samples([0, 1, 0, 1], np.arange(4.0), groups=["a", "a", "a", "b"])
    assert found.groups[0] == found.groups[2]
    assert len(set(found.groups)) == 3


def test_weights_are_relative_to_the_greatest():
    assert two_samples([0, 1], [0.1, 0.2], sample_weight=[2, 8]).weights.tolist() == [0.25, 1.0]
    assert two_samples([0, 1], [0.1, 0.2]).weights is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((["a", "b", "a"], ["a", "a"]), [0, 1, 0, 2, 2]),
        ((None, ["a", "a"]), [0, 1, 2, 3, 3]),
        ((["a", "a", "b"], None), [0, 0, 1, 2, 3]),
    ],
)
def test_joined_groups(given, expected):
    assert joined_groups(*given, 3, 2).tolist() == expected


def test_joined_groups_name_the_side_of_an_error():
    assert joined_groups(None, None, 3, 2) is None
    with refuses("groups_in", "shape", got="(2,)"):
        joined_groups(["a", "b"], None, 3, 2)
    with refuses("groups_out", "finite", got="row 1"):
        joined_groups(None, [1.0, np.nan], 3, 2)


def test_the_curve_is_read_along_ties():
    ranked = rank_samples(two_samples([0, 0, 1, 1], [1.0, 2.0, 2.0, 3.0]), "out")
    assert (ranked.fpr(0.0), ranked.fpr(0.5), ranked.fpr(0.75), ranked.fpr(1.0)) == (0.0, 0.0, 0.25, 0.5)
    assert ranked.fpr(1.1) == 1.0
    assert not ranked.tied_at(0.5)
    assert ranked.n_positive == 2.0
