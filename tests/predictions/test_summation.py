"""Sums that do not depend on the order."""

from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from uqassay.predictions import OrderFreeSum, sum_over_classes


@settings(deadline=None, max_examples=30)
@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_no_order_changes_a_bit(values):
    found = set()
    for order in permutations(values):
        total = OrderFreeSum(1)
        for value in order:
            total.add(np.array([value]))
        found.add(float(total.value()[0]))
    assert len(found) == 1
    assert len({float(sum_over_classes(np.array(order))) for order in permutations(values)}) == 1


def test_sums_against_exact_fractions(random_generator):
    from fractions import Fraction

    values = random_generator.random((200, 7))
    total = OrderFreeSum(200)
    for column in values.T:
        total.add(column)
    exact = [float(sum(map(Fraction, row))) for row in values]
    np.testing.assert_array_equal(total.value(), exact)
    np.testing.assert_allclose(sum_over_classes(values), exact, rtol=1e-15)
