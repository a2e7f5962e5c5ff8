"""Tests of one distribution: the draws of the library, an early end, and parts of the instances where no draw is as great."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import combine_pvalues
from tests.evidence.cases import drawn

from uqassay.calibration.mixtures import IN_GROUPS
from uqassay.calibration.nulls import sign_test
from uqassay.calibration.one_classifier import calibration_test
from uqassay.evidence import calibration as of_points
from uqassay.metrics.measures import calibration_measure

MEASURES = [calibration_measure(name) for name in ("ece-confidence", "ece-classwise", "brier")]


@pytest.fixture
def sample(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 80)
    return drawn(probs, random_generator), probs


def test_draws_are_those_of_the_library(sample):
    y, p = sample
    found = of_points.point_tests(y, p, MEASURES, 199, seed=(3, 23))
    for measure, test in zip(MEASURES, found, strict=True):
        expected = calibration_test(y, p, measure=measure, n_draws=199, rng=np.random.default_rng([3, 23]))
        assert (test.statistic, test.pvalue, test.n_parts) == (expected.statistic, expected.pvalue, 0)
        assert test.null.tolist() == expected.null.tolist()


def test_draws_end_with_a_tenth_that_reach_the_statistic(sample):
    y, p = sample
    whole = of_points.point_tests(y, p, MEASURES, 199, seed=(3, 23))
    ended = of_points.point_tests(y, p, MEASURES, 199, seed=(3, 23), stop=True)
    for measure, a, b in zip(MEASURES, whole, ended, strict=True):
        assert b.null.tolist() == a.null[: len(b.null)].tolist()
        reached = np.cumsum(a.null >= a.statistic)
        if measure.sides == "both":
            reached = np.minimum(reached, np.cumsum(a.null <= a.statistic))
        if reached[-1] < 20:
            assert b.pvalue == a.pvalue
        else:  # Besag and Clifford: h / L at the L-th draw, which is the h-th to reach the statistic
            last = np.flatnonzero(reached == 20)[0] + 1
            assert len(b.null) == last - 1
            assert b.pvalue == pytest.approx((2 if measure.sides == "both" else 1) * 20 / last)
        (alone,) = of_points.point_tests(y, p, [measure], 199, seed=(3, 23), stop=True)
        assert alone.null.tolist() == b.null.tolist()  # the other measures do not matter
    assert any(len(test.null) < 199 for test in ended)


def test_parts_are_combined_by_fisher_where_no_draw_is_as_great(random_generator):
    p = random_generator.dirichlet(np.ones(3), 300)
    y = (drawn(p, random_generator) + 1) % 3
    parts = of_points.parts_of(300, None, 0)
    (found,) = of_points.point_tests(y, p, MEASURES[:1], 99, seed=(0, 23), parts=parts)
    each = [
        of_points.point_tests(y[rows], p[rows], MEASURES[:1], of_points.PART_DRAWS, seed=(0, 23, 1 + i), stop=True)[0]
        for i, rows in enumerate(parts)
    ]
    assert found.pvalue == pytest.approx(combine_pvalues([test.pvalue for test in each], method="fisher").pvalue)
    assert (found.n_parts, len(found.null)) == (3, 99)
    assert found.pvalue < 1e-4


def test_parts_hold_every_instance_once_and_whole_groups():
    for groups in (None, np.repeat(np.arange(20), 5)):
        parts = of_points.parts_of(100, groups, 7)
        assert sorted(np.concatenate(parts).tolist()) == list(range(100))
        assert all(30 <= len(rows) <= 40 for rows in parts)
        if groups is not None:
            assert sum(len(set(groups[rows])) for rows in parts) == 20
    assert of_points.parts_of(2, None, 0) == []
    assert of_points.parts_of(9, np.repeat([0, 1], [4, 5]), 0) == []


def test_pvalues_keep_every_level_below_and_above_the_least_of_the_draws(monkeypatch):
    """Calibrated predictions of 30 instances: P(p ≤ α) ≤ α, with 9 draws of all and 9 of each part."""
    monkeypatch.setattr(of_points, "PART_DRAWS", 9)
    measures, pvalues = MEASURES[:2], []
    for seed in range(1500):
        generator = np.random.default_rng([5, seed])
        p = generator.dirichlet(np.ones(3), 30)
        y, parts = drawn(p, generator), of_points.parts_of(30, None, seed)
        pvalues.append(
            [t.pvalue for t in of_points.point_tests(y, p, measures, 9, seed=(seed,), stop=True, parts=parts)]
        )
    for alpha in (0.2, 0.1, 0.05, 0.02):
        allowed = alpha + 3 * np.sqrt(alpha * (1 - alpha) / 1500)
        assert (np.mean(np.array(pvalues) <= alpha, axis=0) <= allowed).all()
    assert np.min(pvalues) < 0.05


@pytest.mark.parametrize(("n_groups", "n_parts"), [(10, 0), (100, 3)])
def test_groups_are_tested_by_their_signs(n_groups, n_parts, random_generator):
    p = random_generator.dirichlet(np.ones(3), 400)
    y, groups = drawn(p, random_generator), np.arange(400) % n_groups
    (fine,) = of_points.fine_tests(y, p, MEASURES[:1], groups, 2)
    expected = sign_test(y, p, MEASURES[0], groups, of_points.SIGN_DRAWS, np.random.default_rng([2, 26, 0]))
    assert (fine.pvalue, fine.null_kind, fine.n_parts, fine.notes) == (expected.pvalue, "signs", 0, ())
    (bad,) = of_points.fine_tests((y + 1) % 3, p, MEASURES[:1], groups, 2)
    assert bad.pvalue <= 0.01
    assert bad.n_parts == n_parts
    (none,) = of_points.fine_tests(y, p, MEASURES[:1], np.zeros(400), 2)
    assert np.isnan(none.pvalue)
    assert none.notes == (of_points.ONE_GROUP,)


def test_measures_without_sums_over_groups_take_labels_as_independent(random_generator):
    p = random_generator.dirichlet(np.ones(3), 60)
    y, groups = drawn(p, random_generator), np.arange(60) % 20
    own = dataclasses.replace(MEASURES[0], name="own", prepare=lambda probs: Plain(MEASURES[0].prepare(probs)))
    found = of_points.fine_tests(y, p, [own, MEASURES[0]], groups, 0)
    assert [(t.null_kind, t.notes) for t in found] == [("single", (IN_GROUPS,)), ("signs", ())]
    (alone,) = of_points.fine_tests(y, p, MEASURES[:1], None, 0)
    assert (found[0].pvalue, found[0].null.tolist()) == (alone.pvalue, alone.null.tolist())


class Plain:
    """A prepared measure that offers its values alone."""

    def __init__(self, prepared):
        self.values = prepared.values


def test_undefined_values_have_no_pvalue():
    found = of_points.point_tests(
        np.array([0]), np.array([[0.5, 0.5]]), [calibration_measure("skce-ul"), MEASURES[0]], 19, seed=(0,)
    )
    assert np.isnan([found[0].statistic, found[0].pvalue]).all()
    assert np.isfinite(found[1].pvalue)


def test_a_given_number_of_draws_accounts_for_groups(random_generator):
    p = random_generator.dirichlet(np.ones(3), 60)
    y, groups = drawn(p, random_generator), np.arange(60) % 20
    own = dataclasses.replace(MEASURES[0], name="own", prepare=lambda probs: Plain(MEASURES[0].prepare(probs)))
    labels, signs = of_points.given_tests(y, p, [own, MEASURES[0]], groups, 39, 2)
    expected = sign_test(y, p, MEASURES[0], groups, 39, np.random.default_rng([2, 26, 0]))
    assert (signs.pvalue, signs.null.tolist(), signs.notes) == (expected.pvalue, expected.null.tolist(), ())
    (alone,) = of_points.given_tests(y, p, MEASURES[:1], None, 39, 2)
    assert (labels.pvalue, labels.notes, alone.notes) == (alone.pvalue, (IN_GROUPS,), ())
    assert len(alone.null) == 39
    (one,) = of_points.given_tests(y, p, MEASURES[:1], np.zeros(60), 39, 2)
    assert np.isnan(one.pvalue)
    assert one.notes == (of_points.ONE_GROUP,)
