"""The variance of the predicted class where several classes are predicted alike."""

from itertools import permutations

import numpy as np
import pytest

import uqassay as uq
from uqassay.measures.variance import predicted_class_variance

# both first classes have mean .4 in the first instance; the first and the last in the second; all in the third
TIED = np.array(
    [
        [[0.6, 0.35, 0.05], [0.2, 0.45, 0.35]],
        [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]],
        [[0.5, 0.3, 0.2], [1 / 6, 11 / 30, 7 / 15]],
    ]
)


def test_tied_classes_are_averaged():
    assert predicted_class_variance(uq.Members(TIED))[:2].tolist() == pytest.approx([(0.04 + 0.0025) / 2, 0.09])
    expected = np.var(TIED[2], axis=0).mean()
    assert predicted_class_variance(uq.Members(TIED))[2] == pytest.approx(expected)


@pytest.mark.parametrize("weights", [None, [1.0, 1.0], [[0.5, 0.5], [2.0, 1.0], [1.0, 1.0]]])
def test_the_order_of_the_classes_does_not_matter(weights):
    expected = predicted_class_variance(uq.Members(TIED, weights=weights))
    for order in permutations(range(3)):
        found = predicted_class_variance(uq.Members(TIED[..., list(order)], weights=weights))
        assert found.tolist() == expected.tolist()


def test_members_that_agree_have_no_variance_where_classes_tie():
    same = np.repeat([[[0.3, 0.3, 0.3, 0.1]]], 7, axis=1)
    assert predicted_class_variance(uq.Members(same)).tolist() == [0.0]
