"""Errors in the order of their uncertainty: blocks of ties, running sums, places of coverages, notes."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.metrics.risk import once, once_for_errors, rank_errors
from uqassay.statistics.units import make_units


@pytest.mark.parametrize("weighted", [False, True])
def test_running_sums_against_their_definition(weighted, random_generator):
    errors, s = random_generator.random(40).round(1), random_generator.integers(0, 7, 40)
    w = random_generator.integers(0, 3, 40) if weighted else np.ones(40)
    found = rank_errors(errors, s, w if weighted else None)
    thresholds = np.unique(s[w > 0])
    np.testing.assert_array_equal(found.thresholds, thresholds)
    kept = np.array([w[s <= t].sum() for t in thresholds])
    wrong = np.array([(w * errors)[s <= t].sum() for t in thresholds])
    np.testing.assert_allclose(found.coverage, kept / kept[-1], rtol=1e-12)
    np.testing.assert_allclose(found.wrong / found.kept, wrong / kept, rtol=1e-12)
    assert found.error_rate == pytest.approx(np.average(errors, weights=w))


def test_values_by_order_go_back_to_their_rows(random_generator):
    s = random_generator.normal(size=20)
    found = rank_errors(np.zeros(20), s)
    np.testing.assert_array_equal(found.unranked(s[found.order]), s)
    assert found.block is None
    absent = rank_errors([0, 1, 0], [3, 2, 1], [1, 0, 1])
    assert absent.unranked(np.ones(2)).tolist() == [1, 0, 1]


def test_a_coverage_ends_in_a_block_and_takes_a_share_of_it():
    found = rank_errors([0, 1, 0, 1], [1, 2, 2, 2])
    k, share = found.place(np.array([0.25, 0.5, 0.999999999999999, 1.0]))
    assert k.tolist() == [0, 1, 1, 1]
    np.testing.assert_allclose(share, [1, 1 / 3, 1, 1])
    assert found.of_rows(np.array([10.0, 20.0])).tolist() == [10, 20, 20, 20]


def test_the_rate_near_a_threshold_is_that_of_its_neighbours():
    errors = np.repeat([0.0, 1.0, 0.0], 1000)
    found = rank_errors(errors, np.arange(3000))
    assert found.local_rate(np.array([0.1, 0.5, 0.9])).tolist() == [0, 1, 0]
    np.testing.assert_allclose(found.local_rate(np.array([1 / 3])), 0.5, atol=0.02)


@pytest.mark.parametrize(
    ("errors", "scores", "groups", "expected"),
    [
        ([0] * 30, range(30), None, ["none"]),
        ([1] * 30, range(30), None, ["none"]),
        ([0] * 30 + [1], range(31), None, ["few"]),
        ([0] * 30 + [1] * 30, range(60), None, []),
        ([0] * 30 + [1] * 30, [7] * 60, None, ["constant-scores"]),
        ([0] * 30 + [1] * 30, range(60), [0] * 30 + [1] * 30, ["few", "few"]),
    ],
)
def test_notes_by_their_codes(errors, scores, groups, expected):
    units = make_units(len(errors), groups, None)
    assert [note.code for note in rank_errors(errors, list(scores)).notes(units)] == expected


def test_refusals():
    with refuses("uncertainty", "mismatch", got="got 2"):
        rank_errors([0, 1, 1], [1, 2])
    with refuses("errors", "range", got="row 2 is 2"):
        rank_errors([0, 1, 2], [1, 2, 3])
    with refuses("uncertainty", "finite", got="row 0"):
        rank_errors([0, 1], [np.nan, 2])


def test_what_is_computed_once_is_computed_once_for_each_ranking():
    calls = []

    @once
    def total(ranked):
        calls.append(ranked)
        return ranked.wrong[-1]

    first, second = rank_errors([1, 0], [1, 2]), rank_errors([1, 1], [1, 2])
    assert [total(first), total(second), total(first)] == [1, 2, 1]
    assert [one is two for one, two in zip(calls, (first, second), strict=True)] == [True, True]


def test_what_no_order_changes_is_computed_once_for_all_orders_of_the_errors():
    calls = []

    @once_for_errors
    def number(ranked):
        calls.append(ranked)
        return ranked.errors.sum()

    first = rank_errors([1, 0, 1], [1, 2, 3])
    second, third = rank_errors([1, 0, 1], [3, 2, 1], like=first), rank_errors([1, 0, 0], [1, 2, 3])
    assert [number(one) for one in (first, second, third)] == [2, 2, 1]
    assert [one is two for one, two in zip(calls, (first, third), strict=True)] == [True, True]
    assert second.memberships is first.memberships
    np.testing.assert_array_equal(second.memberships[0], [1, 0, 1])
