"""Buckets of equal statements, nearly equal in size."""

import numpy as np
import pytest

from uqassay.calibration.votes import buckets_by_statement
from uqassay.statistics import mean_estimate


def test_sizes_and_means(random_generator):
    stated = random_generator.permutation(np.arange(100) / 100)
    observed = stated + random_generator.normal(size=100)
    found = buckets_by_statement(observed, stated, 4)
    assert found.count.tolist() == [25] * 4
    assert found.edges.tolist() == [0.0, 0.25, 0.5, 0.75, 0.99]
    np.testing.assert_allclose(found.stated, [0.12, 0.37, 0.62, 0.87])
    expected = mean_estimate(observed[stated < 0.25], method="hall")
    assert (float(found.observed[0]), found.observed[0].low) == (float(expected), expected.low)


def test_equal_statements_stay_together():
    stated = np.array([0.0] * 60 + [0.1] * 5 + [0.2] * 35)
    found = buckets_by_statement(stated, stated, 10)
    assert found.count.tolist() == [60, 5, 35]
    assert found.edges.tolist() == [0.0, 0.1, 0.2, 0.2]


@pytest.mark.parametrize("stated", [[0.3], [0.3, 0.3, 0.3]])
def test_one_statement_is_one_bucket(stated):
    found = buckets_by_statement(np.array(stated), np.array(stated), 5)
    assert (found.count.tolist(), found.edges.tolist()) == ([len(stated)], [0.3, 0.3])


def test_more_buckets_than_instances():
    found = buckets_by_statement(np.arange(3.0), np.arange(3.0), 10)
    assert found.count.tolist() == [1, 1, 1]
    assert all(np.isnan(o.low) for o in found.observed)


def test_groups_inside_buckets():
    stated, observed = np.repeat([0.1, 0.2], 8), np.random.default_rng(0).normal(size=16)
    labels = np.tile(np.repeat(list("ab"), 4), 2)
    found = buckets_by_statement(observed, stated, 2, groups=labels, level=0.9)
    expected = mean_estimate(observed[:8], groups=labels[:8], level=0.9, method="hall")
    assert (found.observed[0].low, found.observed[0].high) == (expected.low, expected.high)


def test_rows_are_plain():
    row = buckets_by_statement(np.arange(4.0), np.arange(4.0), 2).rows()[1]
    assert (row["from"], row["to"], row["n"], row["stated"]) == (2.0, 3.0, 2, 2.5)
    assert row["observed"]["estimate"] == 2.5
