"""Paired tests and adjustments against closed forms; type-I error and power are measured in test_error_rates.py."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.notes import said, texts
from tests.refusals import refuses

from uqassay.statistics import PairedComparison, mean_estimate, paired_mean_test, resampling

METHODS = ["student-t", "permutation"]


def ends(estimate):
    return [float(estimate), estimate.low, estimate.high]


# ---------------------------------------------------------------------------------------------- paired_mean_test


@given(hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(2, 20)), elements=st.integers(-20, 20)))
@settings(deadline=None, max_examples=50)
def test_student_against_scipy(pair):
    a, b = pair
    result = paired_mean_test(a, b, level=0.9)
    if np.ptp(a - b) == 0:
        return
    expected = scipy.stats.ttest_rel(a, b)
    interval = expected.confidence_interval(0.9)
    np.testing.assert_allclose([result.statistic, result.pvalue], [expected.statistic, expected.pvalue], rtol=1e-9)
    np.testing.assert_allclose(ends(result.difference), [(a - b).mean(), *interval], rtol=1e-9, atol=1e-9)
    assert (result.n, result.method, said(result)) == (a.size, "student-t", "")


def test_the_interval_is_that_of_the_differences_and_agrees_with_the_test(random_generator):
    a, b = random_generator.exponential(size=(2, 30))
    labels, weights = np.arange(30) // 2, random_generator.random(30)
    options = {"groups": labels, "sample_weight": weights}
    result = paired_mean_test(a, b, **options)
    assert ends(result.difference) == ends(mean_estimate(a - b, **options))
    # at the level 1 − p the interval just touches zero
    edge = paired_mean_test(a, b, level=1 - result.pvalue, **options).difference
    assert min(abs(edge.low), abs(edge.high)) < 1e-9


def test_groups_against_brute_force(random_generator):
    a, b = random_generator.normal(size=(2, 30))
    labels = random_generator.permutation(np.arange(30) % 6)
    d = a - b
    u = np.array([(d - d.mean())[labels == g].sum() for g in range(6)])
    t = d.mean() / np.sqrt(6 / 5 * (u**2).sum() / 30**2)
    result = paired_mean_test(a, b, groups=labels)
    np.testing.assert_allclose([result.statistic, result.pvalue], [t, 2 * scipy.stats.t.sf(abs(t), 5)], rtol=1e-10)
    assert said(result) == said(result.difference) == "6 groups"


def test_runs_against_brute_force(random_generator):
    rng = random_generator
    a, b = rng.normal(size=(3, 20)) + rng.normal(size=(3, 1)), rng.normal(size=(5, 20)) + 0.5
    parts = [
        ((a.mean(axis=0) - b.mean(axis=0)).var(ddof=1) / 20, 19),
        (a.mean(axis=1).var(ddof=1) / 3, 2),
        (b.mean(axis=1).var(ddof=1) / 5, 4),
    ]
    variance = sum(v for v, _ in parts)
    dof = variance**2 / sum(v**2 / k for v, k in parts)
    t = (a.mean() - b.mean()) / np.sqrt(variance)
    result = paired_mean_test(a, b)
    np.testing.assert_allclose([result.statistic, result.pvalue], [t, 2 * scipy.stats.t.sf(abs(t), dof)], rtol=1e-10)
    assert texts(result) == ["3 and 5 runs"]
    mixed = paired_mean_test(a, b[0])
    assert texts(mixed) == ["3 and 1 runs: variation between runs is left out where there is only 1"]


def test_permutation_against_all_sign_flips(random_generator):
    a, b = random_generator.normal(0.3, 1, size=(2, 9))
    b -= 0.6
    d = a - b
    flips = np.array(list(itertools.product([-1, 1], repeat=9)))
    exact = np.mean(np.abs(flips @ d) >= abs(d.sum()) - 1e-12)
    result = paired_mean_test(a, b, method="permutation", n_draws=20000)
    assert abs(result.pvalue - exact) <= 5 * np.sqrt(exact * (1 - exact) / 20000)
    assert result.statistic == paired_mean_test(a, b).statistic
    assert result.method == "permutation"
    assert result.difference.method == "student-t"


def test_group_permutation_against_all_sign_flips_with_weights(random_generator):
    d, weights, labels = random_generator.normal(0.5, 1, size=16), random_generator.random(16), np.arange(16) // 2
    u = (weights * d).reshape(8, 2).sum(axis=1)
    flips = np.array(list(itertools.product([-1, 1], repeat=8)))
    exact = np.mean(np.abs(flips @ u) >= abs(u.sum()) - 1e-12)
    result = paired_mean_test(
        d, np.zeros(16), groups=labels, sample_weight=weights, method="permutation", n_draws=20000
    )
    assert abs(result.pvalue - exact) <= 5 * np.sqrt(exact * (1 - exact) / 20000)


def test_permutation_pvalue_is_a_count_and_never_zero(random_generator):
    a = random_generator.normal(5, 1, size=100)
    assert paired_mean_test(a, np.zeros(100), method="permutation", n_draws=99).pvalue == 0.01
    p = paired_mean_test(a, a[::-1], method="permutation", n_draws=99).pvalue * 100
    assert p == pytest.approx(round(p))


def test_permutation_with_tied_sums():
    # ±0.1 ±0.2 ±0.3: |sum| = 0.6 in 2 of 8 flips, in whichever order it is added up
    result = paired_mean_test([0.1, 0.2, 0.3], [0.0, 0.0, 0.0], method="permutation", n_draws=20000)
    assert result.pvalue == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 20000))


@pytest.mark.parametrize("n", [5, 32, 33])
def test_permutation_does_not_depend_on_the_block_size(n, monkeypatch, random_generator):
    a, b = random_generator.normal(size=(2, n))
    before = paired_mean_test(a, b, method="permutation", n_draws=300)
    monkeypatch.setattr(resampling, "_BLOCK_DRAWS", 7)
    assert paired_mean_test(a, b, method="permutation", n_draws=300) == before


def test_permutation_repeats_itself_and_follows_its_seed(random_generator):
    a, b = random_generator.normal(size=(2, 20))
    first = paired_mean_test(a, b, method="permutation", n_draws=500)
    assert first == paired_mean_test(a, b, method="permutation", n_draws=500, rng=0)
    assert first.pvalue != paired_mean_test(a, b, method="permutation", n_draws=500, rng=1).pvalue


@pytest.mark.parametrize("method", METHODS)
def test_swapping_the_models_changes_only_the_sign(method, random_generator):
    a, b = random_generator.exponential(size=(2, 25))
    forth, back = paired_mean_test(a, b, method=method), paired_mean_test(b, a, method=method)
    assert forth.pvalue == pytest.approx(back.pvalue, rel=1e-10)
    assert forth.statistic == pytest.approx(-back.statistic, rel=1e-10)
    np.testing.assert_allclose(
        ends(forth.difference), [-float(back.difference), -back.difference.high, -back.difference.low], rtol=1e-10
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", [{}, {"groups": [0, 0, 1, 2]}, {"sample_weight": [0.1, 0.2, 0.3, 0]}])
def test_no_difference_at_all(method, options):
    result = paired_mean_test([0.1, 0.7, 0.3, 9.0], [0.1, 0.7, 0.3, 9.0], method=method, **options)
    assert (result.statistic, result.pvalue) == (0.0, 1.0)
    assert ends(result.difference) == [0.0, 0.0, 0.0]
    assert "all differences are equal" in said(result)
    assert not result.reject()


def test_a_constant_difference_of_runs_that_vary_is_not_certain():
    a, b = np.ones((2, 5)) * [[0.0], [1.0]], np.zeros((2, 5))
    result = paired_mean_test(a, b)
    assert result.statistic == pytest.approx(1.0)  # 0.5 over √(0.5 / 2)
    assert result.pvalue == pytest.approx(2 * scipy.stats.t.sf(1, 1))


def test_no_difference_between_several_runs():
    result = paired_mean_test(np.ones((2, 5)), np.ones((3, 5)))
    assert (result.statistic, result.pvalue, float(result.difference)) == (0.0, 1.0, 0.0)


def test_a_constant_difference_is_certain():
    result = paired_mean_test([1.5, 2.5, 3.5], [1.0, 2.0, 3.0])
    assert (result.statistic, result.pvalue) == (np.inf, 0.0)
    assert ends(result.difference) == [0.5, 0.5, 0.5]
    assert paired_mean_test([1.0, 2.0], [1.5, 2.5]).statistic == -np.inf


@pytest.mark.parametrize("method", METHODS)
def test_undefined_tests_are_nan_with_a_reason(method):
    for result, note in (
        (paired_mean_test([1.0], [2.0], method=method), "1 instance: no interval and no test"),
        (
            paired_mean_test([1.0, 2], [2.0, 4], groups=[1, 1], method=method),
            "1 group | 1 group: no interval and no test",
        ),
        (
            paired_mean_test([1.0, np.inf], [2.0, 4], method=method),
            "infinite values in 1 of 2 instances: no interval and no test",
        ),
    ):
        assert np.isnan([result.statistic, result.pvalue, result.difference.low, result.difference.high]).all()
        assert said(result) == said(result.difference) == note
        assert not result.reject()
    assert float(paired_mean_test([1.0, np.inf], [2.0, 4.0], method=method).difference) == np.inf
    assert float(paired_mean_test([1.0, 2.0], [np.inf, 4.0], method=method).difference) == -np.inf
    assert np.isnan(paired_mean_test([1.0, np.inf], [2.0, np.inf], method=method).difference)


@pytest.mark.parametrize("method", METHODS)
def test_weight_zero_is_absence(method, random_generator):
    a, b = random_generator.normal(size=(2, 20))
    weights = np.arange(20) % 3
    kept = weights > 0
    assert paired_mean_test(a, b, sample_weight=weights, method=method, n_draws=99) == paired_mean_test(
        a[kept], b[kept], sample_weight=weights[kept], method=method, n_draws=99
    )


@pytest.mark.parametrize("method", METHODS)
def test_weights_as_repetition_within_a_group(method, random_generator):
    a, b = random_generator.normal(size=(2, 20))
    weights = random_generator.integers(1, 4, size=20)
    weighted = paired_mean_test(a, b, sample_weight=weights, method=method, n_draws=99)
    repeated = paired_mean_test(
        np.repeat(a, weights),
        np.repeat(b, weights),
        groups=np.repeat(np.arange(20), weights),
        method=method,
        n_draws=99,
    )
    np.testing.assert_allclose([weighted.statistic, weighted.pvalue], [repeated.statistic, repeated.pvalue], rtol=1e-9)
    np.testing.assert_allclose(ends(weighted.difference), ends(repeated.difference), rtol=1e-9)


def test_result_is_frozen_and_rejects():
    result = paired_mean_test([0.1, 0.4, 0.2, 0.3], [0.3, 0.5, 0.5, 0.4])
    assert isinstance(result, PairedComparison)
    with pytest.raises(AttributeError, match="cannot assign to field 'pvalue'"):
        result.pvalue = 0.0
    assert result.reject(result.pvalue)
    assert not result.reject(result.pvalue * (1 - 1e-12))
    with refuses("alpha", "range", got="got 5"):
        result.reject(5)


@pytest.mark.parametrize(
    ("a", "b", "options", "parameter", "code", "got"),
    [
        ([1.0, 2.0], [1.0], {}, "b", "mismatch", "got 1, not 2"),
        ([1.0, np.nan], [1.0, 2.0], {}, "a", "finite", "1 of 2 values are nan, the first at row 1"),
        ([1.0, 2.0], [1.0, np.nan], {}, "b", "finite", ""),
        ([1.0], [1.0], {"method": "bca"}, "method", "choice", "got 'bca'"),
        (np.ones((2, 3)), np.ones(3), {"method": "permutation"}, "method", "conflict", ""),
        ([1.0], [1.0], {"method": "permutation", "n_draws": -1}, "n_draws", "range", ""),
        ([1.0], [1.0], {"level": 0}, "level", "range", ""),
    ],
)
def test_bad_pairs_are_refused(a, b, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        paired_mean_test(a, b, **options)
