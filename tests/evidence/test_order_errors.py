"""Errors that random orders of the classes add to differences, against sums over the orders."""

import numpy as np
import pytest

from uqassay.evidence.pair_tests import order_error, order_errors


def by_hand(apart):
    mean = sum(apart) / len(apart)
    return np.sqrt(sum((x - mean) ** 2 for x in apart) / (len(apart) - 1) / len(apart))


def test_one_pair_against_the_sum_over_orders(random_generator):
    a, b = random_generator.normal(size=(2, 32))
    assert order_error(a, b) == pytest.approx(by_hand(a - b))
    assert order_error(a, (), 0.3) == order_error((), a, 0.3) == pytest.approx(0.3 * by_hand(a))
    assert order_error(tuple(a), tuple(a)) == 0  # shared orders cancel
    assert order_error((), ()) == 0


def test_all_pairs_but_those_of_references(random_generator):
    deviations = dict(zip("abcd", [*random_generator.normal(size=(3, 8)), ()], strict=True))
    found = order_errors(deviations, 0.5, references=("b", "d"))
    for i, a in enumerate("abcd"):
        for j, b in enumerate("abcd"):
            told = 0.0 if {a, b} <= {"b", "d"} else order_error(deviations[a], deviations[b], 0.5)
            assert found[i, j] == told
    assert found[0, 3] > 0
    assert not order_errors(deviations, 0.0).any()
    assert order_errors({"a": (), "b": np.empty(0)}, 1.0).tolist() == [[0, 0], [0, 0]]
