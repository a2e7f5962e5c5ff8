"""Paired tests of statistics with influences: against tests of means, DeLong and each other."""

import numpy as np
import pytest
from tests.notes import said
from tests.refusals import refuses
from tests.statistics.test_linearised import ends, mean_of

from uqassay.statistics import paired_mean_test
from uqassay.statistics.auc import auc_linearised, delong_covariance
from uqassay.statistics.linearised import Linearised, linearised_estimate
from uqassay.statistics.paired_tests import paired_statistic_test, pairwise_statistic_tests


def test_a_difference_of_means_is_the_paired_t_test(random_generator):
    a, b = random_generator.normal(size=(2, 40))
    groups = np.arange(40) // 3
    for g in (None, groups):
        mine = paired_statistic_test(mean_of(a), mean_of(b), groups=g)
        expected = paired_mean_test(a, b, groups=g)
        assert (mine.statistic, mine.pvalue) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
        assert ends(mine.difference) == pytest.approx(ends(expected.difference), abs=1e-12)


def test_a_difference_of_runs_is_the_paired_t_test_of_runs(random_generator):
    a, b = random_generator.normal(size=(3, 40)), random_generator.normal(size=(5, 40))
    mine = paired_statistic_test([mean_of(run) for run in a], [mean_of(run) for run in b])
    expected = paired_mean_test(a, b)
    assert (mine.statistic, mine.pvalue) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)


def test_a_difference_of_areas_has_delongs_variance(random_generator):
    positive = random_generator.integers(0, 2, 60)
    scores = random_generator.normal(size=(2, 60)) + positive
    areas, covariance = delong_covariance(positive, scores)
    found = paired_statistic_test(*(auc_linearised(positive.astype(float), s, None) for s in scores))
    z = (areas[0] - areas[1]) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert found.statistic == pytest.approx(z, rel=1e-10)


def test_two_models_whose_samples_overlap_keep_the_covariance(random_generator):
    """An instance can be an error of one model only; the covariance of its two influences counts."""
    scores = random_generator.normal(size=(2, 300))
    first = random_generator.integers(0, 2, 300).astype(float)
    a, b = auc_linearised(first, scores[0], None), auc_linearised(1 - first, scores[1], None)
    found = paired_statistic_test(a, b)
    by_hand = np.sqrt(((a.influence - b.influence) ** 2).sum()) / 300
    assert (a.value - b.value) / found.statistic == pytest.approx(by_hand, rel=0.01)


def test_equal_statistics_are_equal_and_not_undefined(random_generator):
    found = paired_statistic_test(mean_of([1.0, 2.0, 4.0]), mean_of([1.0, 2.0, 4.0]))
    assert (found.statistic, found.pvalue) == (0.0, 1.0)
    assert "the two agree on every instance" in said(found)
    shifted = paired_statistic_test(mean_of([1.0, 2.0, 4.0]), mean_of([2.0, 3.0, 5.0]))
    assert np.isnan(shifted.pvalue)
    assert "does not vary over the instances" in said(shifted)


def test_pairwise_tests_are_the_paired_tests_adjusted(random_generator):
    values = {name: random_generator.normal(size=60) + shift for name, shift in (("a", 0), ("b", 0.2), ("c", 0.9))}
    found = pairwise_statistic_tests({name: mean_of(v) for name, v in values.items()})
    raw = {}
    for i, j in ((1, 0), (2, 0), (2, 1)):
        pair = paired_mean_test(values["abc"[i]], values["abc"[j]])
        raw[i, j] = pair.pvalue
        assert found.pvalue[i, j] == found.pvalue[j, i] == pytest.approx(pair.pvalue, abs=1e-14)
        assert found.difference[i, j] == -found.difference[j, i] == pytest.approx(float(pair.difference), abs=1e-14)
        assert found.low[i, j] == -found.high[j, i] == pytest.approx(pair.difference.low, abs=1e-13)
    ordered = sorted(raw, key=raw.get)
    running = 0.0
    for k, pair in enumerate(ordered):
        running = max(
            running, min(1.0, raw[pair] * (3, 1, 1)[k])
        )  # of three means, two pairs cannot be the only equal ones
        assert found.adjusted[pair] == pytest.approx(running, abs=1e-15)
    assert np.isnan(found.pvalue.diagonal()).all()
    assert found.reject(0.05).sum() == 2 * sum(found.adjusted[pair] <= 0.05 for pair in raw)


def test_an_undefined_statistic_leaves_the_others_alone(random_generator):
    values = random_generator.normal(size=(2, 30))
    found = pairwise_statistic_tests(
        {"a": mean_of(values[0]), "none": Linearised(np.nan, np.zeros(30)), "b": mean_of(values[1])}
    )
    assert np.isnan(found.pvalue[1]).all()
    assert found.adjusted[2, 0] == found.pvalue[2, 0] == pytest.approx(paired_mean_test(values[1], values[0]).pvalue)


def test_bad_input_is_refused():
    with refuses("b", "mismatch", got="got 3"):
        paired_statistic_test(mean_of([1.0, 2.0]), mean_of([1.0, 2.0, 3.0]))
    with refuses("statistics", "empty"):
        pairwise_statistic_tests({})
    with refuses("scale", "choice"):
        linearised_estimate(mean_of([1.0, 2.0]), scale="probit")
    with refuses("a", "empty"):
        paired_statistic_test([], mean_of([1.0, 2.0]))


def test_an_interval_of_a_difference_ends_where_differences_do(random_generator):
    errors = np.array([0.0, 1.0, 0.0, 1.0])
    a, b = (auc_linearised(errors, s, None, imaginary=0.3) for s in (np.arange(4.0), -np.arange(4.0)))
    found = paired_statistic_test(a, b, bound=1.0).difference
    assert -1.0 <= found.low <= found <= found.high <= 1.0
