"""Paired tests of means: against SciPy, closed forms and enumeration; error rates are measured in test_error_rates.py."""

import itertools
import json
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special, stats
from tests.notes import codes, said, texts
from tests.refusals import refuses

from uqassay.errors import InputError
from uqassay.notes import has_note
from uqassay.statistics import (
    DetectableDifference,
    MeanLines,
    PairedComparison,
    agreeing_comparisons,
    benjamini_hochberg,
    detectable_difference,
    holm,
    mean_estimate,
    paired_mean_test,
    pairwise_mean_tests,
    permutation_test,
    resampling,
    shaffer,
    sign_flip_test,
)
from uqassay.statistics.paired_tests import noncentrality, pairs_tested
from uqassay.statistics.resampling import run_means
from uqassay.statistics.spreads import PairSample
from uqassay.statistics.units import make_units, spread_of_mean

# Paired tests and adjustments against closed forms; type-I error and power are measured in test_error_rates.py.

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
        (paired_mean_test([1.0], [2.0], method=method), "1 case: no interval and no test"),
        (
            paired_mean_test([1.0, 2], [2.0, 4], groups=[1, 1], method=method),
            "1 group | 1 group: no interval and no test",
        ),
        (
            paired_mean_test([1.0, np.inf], [2.0, 4], method=method),
            "infinite values in 1 of 2 cases: no interval and no test",
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
        ([1.0], [1.0], {"method": "bca"}, "method", "choice", "got 'bca'"),
        (np.ones((2, 3)), np.ones(3), {"method": "permutation"}, "method", "conflict", ""),
    ],
)
def test_bad_pairs_are_refused(a, b, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        paired_mean_test(a, b, **options)


# Tests of all pairs of means: against the paired test, Hall's interval and the law of losses that are not seen.

GROUPS = np.repeat(np.arange(9), [1, 9, 4, 4, 2, 7, 3, 5, 5])
WEIGHTS = np.random.default_rng(8).exponential(size=40) * (np.arange(40) % 6 > 0)
CASES = {
    "plain": {},
    "groups": {"groups": GROUPS},
    "mixed groups": {"groups": GROUPS[np.random.default_rng(9).permutation(40)]},
    "equal groups": {"groups": np.arange(40) // 4},
    "groups of one": {"groups": np.arange(40)},
    "weights": {"sample_weight": WEIGHTS},
    "groups and weights": {"groups": GROUPS, "sample_weight": WEIGHTS},
}


def models(rng, n=40):
    common = rng.normal(size=n) + rng.normal(size=9)[GROUPS]
    return {
        "one": common + rng.normal(size=n),
        "runs": common + rng.normal(size=(3, n)) + rng.normal(size=(3, 1)),
        "more": rng.exponential(size=(5, n)),
        "near": common + 0.01 * rng.normal(size=n) ** 3,
    }


@pytest.mark.parametrize("name", CASES)
def test_pairs_against_the_paired_test_and_halls_interval(name, random_generator):
    values, options = models(random_generator), CASES[name]
    found = pairwise_mean_tests(values, level=0.9, **options)
    for (i, a), (j, b) in itertools.permutations(enumerate(values), 2):
        single = paired_mean_test(values[a], values[b], level=0.9, **options)
        expected = [single.difference, single.difference.low, single.difference.high]
        np.testing.assert_allclose([found.difference[i, j], found.low[i, j], found.high[i, j]], expected, rtol=1e-8)
        if {a, b} & {"runs", "more"}:  # the degrees of freedom of runs have a guard of their own
            assert found.pvalue[i, j] >= single.pvalue * (1 - 1e-9)
            continue
        # the p-value is the least level at which both intervals exclude 0
        p = found.pvalue[i, j]
        inside = [ends_hold_zero(values[a], values[b], 1 - factor * p, options) for factor in (1.001, 0.999)]
        assert inside == [False, True]
    upper = np.triu_indices(4, 1)
    np.testing.assert_array_equal(found.adjusted, shaffer(found.pvalue))
    np.testing.assert_array_equal(found.benjamini_hochberg[upper], benjamini_hochberg(found.pvalue[upper]))
    assert np.isnan(found.pvalue.diagonal()).all()
    assert found.level == 0.9
    assert found.values == pytest.approx([float(mean_estimate(v, **options)) for v in values.values()])


def ends_hold_zero(a, b, level, options):
    """Whether Student's or Hall's interval of the difference holds 0."""
    if not 0 < level < 1:
        return True
    a, b = np.atleast_2d(a).astype(float), np.atleast_2d(b).astype(float)
    units = make_units(a.shape[1], options.get("groups"), options.get("sample_weight"))
    a, b = units.keep(a), units.keep(b)
    d = a.mean(axis=0) - b.mean(axis=0)
    value = units.mean(d)
    spread = spread_of_mean(d - value, units, [run_means(a, units), run_means(b, units)])
    ends = [spread.interval(value, level, method) for method in ("student-t", "hall")]
    return any(low <= 0 <= high for low, high in ends)


def test_many_pairs_in_blocks_agree_with_few(random_generator):
    values = {str(k): v for k, v in enumerate(random_generator.normal(size=(9, 30000)))}
    found = pairwise_mean_tests(values)  # a block holds 4 pairs
    for i, j in ((0, 1), (3, 7), (7, 8)):
        few = pairwise_mean_tests({k: values[k] for k in (str(i), str(j))})
        assert found.pvalue[i, j] == pytest.approx(few.pvalue[0, 1], rel=1e-12)


def test_large_common_parts_and_tiny_losses_do_not_cancel(random_generator):
    x = random_generator.exponential(size=(2, 50))
    plain = pairwise_mean_tests({"a": x[0], "b": x[1]})
    for shift, scale, rel in ((2.0**30, 1.0, 1e-5), (0.0, 1e-200, 1e-12), (0.0, 1e150, 1e-12)):
        moved = pairwise_mean_tests({"a": scale * x[0] + shift, "b": scale * x[1] + shift})
        assert moved.pvalue[0, 1] == pytest.approx(plain.pvalue[0, 1], rel=rel)
        assert moved.difference[0, 1] == pytest.approx(scale * plain.difference[0, 1], rel=rel)


def test_equal_differences_are_those_of_the_paired_test():
    values = {"a": [0.1, 0.5, 0.3], "same": [0.1, 0.5, 0.3], "more": [1.1, 1.5, 1.3], "all": [2.0, 2.0, 2.0]}
    found = pairwise_mean_tests(values)
    assert (found.difference[0, 1], found.low[0, 1], found.high[0, 1], found.pvalue[0, 1]) == (0.0, 0.0, 0.0, 1.0)
    assert (found.low[0, 2], found.high[0, 2], found.pvalue[0, 2]) == (-1.0, -1.0, 0.0)
    single = paired_mean_test(values["a"], values["more"])
    assert (single.difference.low, single.pvalue) == (-1.0, 0.0)
    runs = pairwise_mean_tests({"a": [[0.1, 0.2], [0.3, 0.4]], "b": [0.1, 0.2]})  # all variance is of the runs
    assert runs.pvalue[0, 1] == pytest.approx(paired_mean_test([[0.1, 0.2], [0.3, 0.4]], [0.1, 0.2]).pvalue)


@pytest.mark.parametrize("r", [2, 3, 5])
def test_degrees_of_freedom_of_runs_are_those_of_an_upper_limit(r, random_generator):
    x, noise = random_generator.normal(size=60), random_generator.normal(size=60)
    y = x + noise - noise.mean() + 1.5
    runs = x + 0.2 * random_generator.normal(size=(r, 1))
    found = pairwise_mean_tests({"runs": runs, "one": y}, level=0.999)
    inside, between = noise.var(ddof=1) / 60, runs.mean(axis=1).var(ddof=1) / r
    upper = between * (r - 1) / special.chdtri(r - 1, 0.9 if r == 2 else 0.8)
    dof = min((inside + v) ** 2 / (inside**2 / 59 + v**2 / (r - 1)) for v in (between, upper))
    t = found.difference[0, 1] / np.sqrt(inside + between)
    k = -((noise - noise.mean()) ** 3).sum() / 60**3 / (inside + between) ** 1.5
    g = t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6
    assert found.pvalue[0, 1] == pytest.approx(2 * special.stdtr(dof, -min(abs(t), abs(g))), rel=1e-9)
    assert found.pvalue[0, 1] > paired_mean_test(runs, y).pvalue
    limited = pairwise_mean_tests({"runs": runs, "one": y}, level=1 - found.pvalue[0, 1] * 0.99)
    assert limited.limited_by[0, 1] in ("runs", "skewness")
    assert pairwise_mean_tests({"runs": runs, "one": y}, level=0.5).limited_by[0, 1] == ""


def test_groups_that_balance_out_have_the_mean_difference():
    groups, balanced = [0, 0, 1, 1], np.array([0.75, 0.25, 0.25, 0.75])
    found = pairwise_mean_tests({"a": balanced, "b": np.zeros(4)}, groups=groups)
    single = paired_mean_test(balanced, np.zeros(4), groups=groups)
    for ends in ([found.difference[0, 1], found.low[0, 1]], [float(single.difference), single.difference.low]):
        assert ends == [0.5, 0.5]


def test_infinite_values_single_units_and_single_models(random_generator):
    x = random_generator.normal(size=(2, 20))
    found = pairwise_mean_tests({"a": x[0], "inf": np.r_[np.inf, x[1, 1:]], "b": x[1]})
    assert np.isnan(found.pvalue[1]).all()
    assert found.values[1] == np.inf
    assert found.difference[0, 1] == -np.inf
    assert np.isnan(found.low[0, 1])
    assert found.adjusted[0, 2] == found.pvalue[0, 2]  # the only test
    assert has_note(found.notes, "no-test")
    both = pairwise_mean_tests({"a": [np.inf, 1.0], "b": [np.inf, 2.0]})
    assert np.isnan([both.difference[0, 1], both.pvalue[0, 1]]).all()
    for options in ({}, {"groups": [1] * 20}):
        one = pairwise_mean_tests({"a": x[0, : 20 if options else 1], "b": x[1, : 20 if options else 1]}, **options)
        assert np.isnan([one.pvalue[0, 1], one.low[0, 1], one.adjusted[0, 1]]).all()
        assert one.difference[0, 1] == one.values[0] - one.values[1]
        assert has_note(one.notes, "no-test")
        assert not one.reject().any()
    alone = pairwise_mean_tests({"a": x[0]})
    assert np.isnan(alone.pvalue).all()
    assert alone.values == pytest.approx([x[0].mean()])


# --------------------------------------------------------------------------------------------------- losses unseen


def test_probability_of_not_seeing_what_reverses_the_order():
    """A share q of instances costs the better model B and nothing the other: at q = d/(d + B) the means are equal."""
    n, d, bound = 7, 0.3, 2.0
    found = pairwise_mean_tests({"better": np.zeros(n), "worse": np.full(n, d)}, bound=bound)
    q = d / (d + bound)
    assert (1 - q) * d - q * bound == pytest.approx(0)
    assert found.pvalue[0, 1] == pytest.approx((1 - q) ** n)
    rng = np.random.default_rng(5)
    share = (rng.random((100_000, n)) >= q).all(axis=1).mean()  # samples that show nothing of it
    assert found.pvalue[0, 1] == pytest.approx(share, abs=4 * np.sqrt(share / 100_000))


def test_the_bound_is_that_of_the_better_model(random_generator):
    x = random_generator.normal(size=(2, 30)) * 0.01
    values = {"a": x[0], "b": x[1] + 1.0}
    p = {
        bounds: pairwise_mean_tests(values, bound=bounds).pvalue[0, 1]
        for bounds in ((5.0, 0.0), (0.0, 5.0), (5.0, 9.0))
    }
    d = x[1].mean() + 1 - x[0].mean()
    assert p[5.0, 0.0] == p[5.0, 9.0] == pytest.approx((5 / (5 + d)) ** 30)
    assert p[0.0, 5.0] < 1e-20
    assert pairwise_mean_tests(values, bound=np.inf).pvalue[0, 1] == 1.0
    assert pairwise_mean_tests(values).pvalue[0, 1] == p[0.0, 5.0]


def test_groups_and_weights_leave_fewer_independent_instances(random_generator):
    d, bound, groups = 0.5, 5.0, np.repeat(np.arange(6), 10)
    together = np.repeat(random_generator.normal(size=6), 10)
    values = {"a": np.zeros(60), "b": d + 1e-3 * (together - together.mean())}
    alone = (bound / (bound + d)) ** 60
    assert pairwise_mean_tests(values, bound=bound).pvalue[0, 1] == pytest.approx(alone)
    assert pairwise_mean_tests(values, bound=bound, groups=groups).pvalue[0, 1] == pytest.approx(
        (bound / (bound + d)) ** 6
    )
    alternating = {
        "a": np.zeros(60),
        "b": d + 1e-3 * np.tile([1.0, -1.0], 30) + 1e-9 * (together - together.mean()),
    }  # no correlation inside groups
    assert pairwise_mean_tests(alternating, bound=bound, groups=groups).pvalue[0, 1] == pytest.approx(alone)
    weights = np.r_[np.ones(4), np.full(56, 1e-3)]
    found = pairwise_mean_tests(alternating, bound=bound, sample_weight=weights)
    heaviest = weights.sum() / weights.max()  # rare losses may strike the instances of the greatest weight alone
    assert found.pvalue[0, 1] == pytest.approx((bound / (bound + abs(found.difference[0, 1]))) ** heaviest)


def test_what_limits_a_pair_is_named(random_generator):
    n = 40
    noise = 0.01 * random_generator.normal(size=n)
    clear = {"a": noise, "b": noise[::-1] + 0.5}
    assert pairwise_mean_tests(clear).limited_by.tolist() == [["", ""], ["", ""]]
    assert pairwise_mean_tests(clear, bound=36.0).limited_by[0, 1] == "unseen"
    assert pairwise_mean_tests({"a": noise, "b": noise[::-1]}, bound=36.0).limited_by[0, 1] == ""  # nothing to limit
    skewed = np.r_[np.zeros(n - 6), np.full(6, 3.0)] + noise
    found = pairwise_mean_tests({"a": np.zeros(n), "b": skewed})
    tail = pairwise_mean_tests({"a": np.full(n, 0.9), "b": skewed})  # the long tail points towards the other
    limits = {found.limited_by[0, 1], tail.limited_by[0, 1]}
    assert limits == {"", "skewness"}
    for pair in (found, tail):
        student = paired_mean_test(np.zeros(n) if pair is found else np.full(n, 0.9), skewed).pvalue
        assert (pair.limited_by[0, 1] == "skewness") == (student <= 0.05 < pair.pvalue[0, 1])


# ------------------------------------------------------------------------------------- other errors, references


def test_an_error_of_another_source_widens(random_generator):
    x = random_generator.normal(size=(3, 30))
    values = dict(zip("abc", x, strict=True))
    extra = np.zeros((3, 3))
    extra[0, 1] = extra[1, 0] = 0.4
    plain, wider = pairwise_mean_tests(values), pairwise_mean_tests(values, extra_error=extra)
    q = special.stdtrit(29, 0.975)
    half = (wider.high - wider.low)[0, 1] / 2
    assert half == pytest.approx(q * np.hypot((plain.high - plain.low)[0, 1] / 2 / q, 0.4))
    assert wider.pvalue[0, 1] > plain.pvalue[0, 1]
    assert wider.pvalue[0, 2] == plain.pvalue[0, 2]
    same = pairwise_mean_tests({"a": x[0], "b": x[0]}, extra_error=[[0, 0.1], [0.1, 0]])
    assert (same.pvalue[0, 1], same.high[0, 1]) == (1.0, pytest.approx(0.1 * q))


def test_pairs_with_combinations_of_their_own(random_generator):
    lines, t = MeanLines(lines_of_models(random_generator)), np.array([(1.0, 0.0), (1.0, 0.5), (2.0, -3.0)])
    first, second = ["one", "runs", "apart"], ["runs", "apart", "one"]
    found = lines.of_pairs(t, first, second, bounds=(np.arange(3.0), np.ones(3)), extra_error=np.arange(3.0) / 20)
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        alone = lines.of_pairs(t[k : k + 1], [a], [b], bounds=(float(k), 1.0), extra_error=k / 20)
        np.testing.assert_allclose([part[k] for part in found], [part[0] for part in alone], rtol=1e-10, atol=1e-14)


def test_references_are_not_compared_with_each_other(random_generator):
    x = random_generator.normal(size=(4, 30)) + np.arange(4)[:, np.newaxis] / 3
    found = pairwise_mean_tests(dict(zip("abcd", x, strict=True)), references=["c", "d"])
    every = pairwise_mean_tests(dict(zip("abcd", x, strict=True)))
    assert np.isnan(found.pvalue[2, 3])
    assert np.isnan(found.pvalue).sum() == 6
    expected = every.pvalue.copy()
    expected[2, 3] = expected[3, 2] = np.nan
    np.testing.assert_array_equal(found.pvalue, expected)
    assert found.adjusted[0, 1] == every.pvalue[0, 1]  # the only pair of two models
    with_references = expected[:2, 2:]
    np.testing.assert_array_equal(found.adjusted[:2, 2:], holm(with_references))
    np.testing.assert_array_equal(found.adjusted, found.adjusted.T)
    assert found.references == ("c", "d")


@pytest.mark.parametrize(
    ("values", "options", "parameter", "code", "got"),
    [
        ({}, {}, "values", "empty", "got none"),
        ([[1.0]], {}, "values", "type", r"got \[\[1\.0\]\]"),
        ({1: [1.0, 2.0], "1": [1.0, 3.0]}, {}, "values", "duplicate", "'1' occurs more than once"),
        ({"a": [1.0]}, {"bound": -1.0}, "bound", "range", "-1"),
        ({"a": [1.0]}, {"bound": np.nan}, "bound", "finite", ""),
        ({"a": [1.0]}, {"bound": [1.0, 2.0]}, "bound", "shape", r"got shape \(2,\)"),
        ({"a": [1.0]}, {"extra_error": [[1.0, 2.0]]}, "extra_error", "shape", ""),
        ({"a": [1.0]}, {"extra_error": [[-1.0]]}, "extra_error", "range", ""),
        ({"a": [1.0]}, {"references": ["b"]}, "references", "choice", "'b'"),
    ],
)
def test_bad_input_is_refused(values, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        pairwise_mean_tests(values, **options)


# Tests of pairs of means: against SciPy, for skewed values, without any spread, and for losses that have not been seen.

N = 40


def spreads(*values):
    """Of the first model minus each other one."""
    sample = PairSample([[np.atleast_2d(v)] for v in values], make_units(N, None, None))
    others = np.arange(1, len(values))
    return sample.spreads((1.0,), np.zeros_like(others), others)


def test_skewness_moves_hall_alone():
    skewed = np.where(np.arange(N) < 4, 9.0, 0.0)
    found = pairs_tested(spreads(skewed, np.full(N, 0.2), np.full(N, 1.6)), *np.zeros((3, 2)))
    assert np.all(found.hall != found.student)
    symmetric = np.where(np.arange(N) % 2, 1.0, -1.0) + 0.1
    found = pairs_tested(spreads(symmetric, np.zeros(N)), *np.zeros((3, 1)))
    assert found.hall[0] == pytest.approx(found.student[0], rel=1e-9)


# Means that are linear in a coefficient: against the tests and estimates of the values themselves at that coefficient.

N_LINES = 300
OPTIONS = {
    "plain": {},
    "groups": {"groups": np.arange(N_LINES) // 7},
    "groups of one": {"groups": np.arange(N_LINES)},
    "weights": {"sample_weight": np.arange(N_LINES) % 4},
}
TABLES = ("values", "difference", "low", "high", "pvalue", "adjusted", "benjamini_hochberg")


def lines_of_models(rng):
    """Distances and non-specificities of ordinary and awkward models."""
    common = rng.exponential(size=N_LINES)
    found = {
        "one": (common + 0.3 * rng.normal(size=N_LINES) ** 3, rng.beta(2, 3, size=N_LINES)),
        "runs": (common + 0.3 * rng.normal(size=(3, N_LINES)), rng.beta(2, 3, size=(3, N_LINES))),
        "silent": (np.zeros(N_LINES), np.full(N_LINES, np.log(10))),
        "precise": (common * rng.exponential(size=N_LINES), np.zeros(N_LINES)),
    }
    d, ns = found["one"]
    found |= {"copy": (d.copy(), ns.copy()), "line": (d + 0.5 * ns, np.zeros(N_LINES)), "apart": (d + 2.0, ns)}
    return found | {"infinite": (np.where(np.arange(N_LINES) == 9, np.inf, d), ns)}


@pytest.mark.parametrize("tradeoff", [0.0, 0.5, 3.0, 1e6])
@pytest.mark.parametrize("name", OPTIONS)
def test_against_the_values_at_each_tradeoff(name, tradeoff, random_generator):
    columns, options = lines_of_models(random_generator), OPTIONS[name]
    lines = MeanLines(columns, **options)
    losses = {name: d + tradeoff * ns for name, (d, ns) in columns.items()}
    given = {"level": 0.9, "bound": 25.0, "references": ("silent", "precise")}
    found, expected = lines.tests((1.0, tradeoff), **given), pairwise_mean_tests(losses, **given, **options)
    for table in TABLES:
        a, b = getattr(found, table), getattr(expected, table)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * (1 + tradeoff), err_msg=table)
    np.testing.assert_array_equal(found.limited_by, expected.limited_by)
    assert found.notes == expected.notes
    for estimate, values in zip(
        lines.estimates((1.0, tradeoff), list(losses), method="hall"), losses.values(), strict=True
    ):
        agree(estimate, mean_estimate(values, method="hall", **options))
    for test, values in zip(lines.differences((1.0, tradeoff), list(losses), "one"), losses.values(), strict=True):
        single = paired_mean_test(values, losses["one"], **options)
        agree(test.difference, single.difference)
        np.testing.assert_allclose(
            [test.statistic, test.pvalue], [single.statistic, single.pvalue], rtol=1e-7, atol=1e-12
        )


@pytest.mark.parametrize("name", OPTIONS)
def test_one_against_others_as_in_the_tests_of_all(name, random_generator):
    columns, options = lines_of_models(random_generator), OPTIONS[name]
    lines, others = MeanLines(columns, **options), ["apart", "infinite", "runs", "copy"]
    bounds, extra = [25.0, 3.0, 25.0, 0.0, 1.0], [0.0, 0.1, 0.2, 0.0]
    errors = np.zeros((5, 5))
    errors[0, 1:] = errors[1:, 0] = extra
    each = (bounds[1:], [bounds[0]] * 4)
    ones = ["one"] * len(others)
    difference, pvalue = lines.of_pairs([(1.0, 0.5)], others, ones, bounds=each, extra_error=extra)
    found = lines.tests((1.0, 0.5), names=["one", *others], bound=bounds, extra_error=errors, references=others)
    np.testing.assert_allclose(difference, found.difference[1:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(pvalue, found.pvalue[1:, 0], rtol=1e-10)
    assert np.isposinf(difference[1])
    assert np.isnan(lines.of_pairs([(1.0, 0.5)], others, ["infinite"] * 4)[1]).all()


@pytest.mark.parametrize("name", OPTIONS)
def test_several_combinations_at_once_are_those_of_each(name, random_generator):
    lines, others = (
        MeanLines(lines_of_models(random_generator), **OPTIONS[name]),
        ["apart", "infinite", "runs", "line"],
    )
    combinations = np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0], [2.0, -3.0]])
    bounds, extra = np.arange(20.0).reshape(4, 5), np.arange(16.0).reshape(4, 4) / 50
    over, under = bounds[:, 1:], np.repeat(bounds[:, :1], 4, axis=1)
    ones = ["one"] * len(others)
    found = lines.of_pairs(combinations[:, np.newaxis], others, ones, bounds=(over, under), extra_error=extra)
    names, errors = ["one", *others], [e * (1 - np.eye(5)) for e in (0.0, 0.1, 0.2, 0.3)]
    tables = lines.tests_at(
        combinations,
        names=names,
        level=0.9,
        bounds=[np.repeat(b[:, np.newaxis], 5, axis=1) for b in bounds],
        extra_errors=errors,
        references=["runs", "line"],
    )
    for k, t in enumerate(combinations):
        expected = lines.of_pairs([t], others, ones, bounds=(over[k], under[k]), extra_error=extra[k])
        np.testing.assert_allclose([part[k] for part in found], expected, rtol=1e-10, atol=1e-14)
        options = {"names": names, "level": 0.9, "bound": bounds[k], "references": ["runs", "line"]}
        single = lines.tests(t, extra_error=errors[k], **options)
        for table in TABLES:
            np.testing.assert_allclose(getattr(tables[k], table), getattr(single, table), rtol=1e-9, atol=1e-13)
        assert tables[k].notes == single.notes


def agree(found, expected):
    ends = [[float(e), e.low, e.high, e.level, e.n] for e in (found, expected)]
    np.testing.assert_allclose(*ends, rtol=1e-9, atol=1e-12)
    assert (found.method, found.notes) == (expected.method, expected.notes)


def test_a_choice_of_models_in_any_order(random_generator):
    columns = lines_of_models(random_generator)
    lines = MeanLines(columns)
    lines.tests((1.0, 0.5))
    names = ("precise", "one", "runs")
    found, expected = lines.tests((1.0, 2.0), names=names), MeanLines({k: columns[k] for k in names}).tests((1.0, 2.0))
    assert found.names == names
    np.testing.assert_allclose(found.pvalue, expected.pvalue, rtol=1e-9)
    np.testing.assert_allclose(found.difference, expected.difference, rtol=1e-12)


def test_one_instance_one_model_and_no_coefficient(random_generator):
    single = MeanLines({"a": ([0.5], [0.1]), "b": ([0.25], [0.3])})
    assert np.isnan(single.tests((1.0, 1.0)).pvalue).all()
    assert [e.notes[0].code for e in single.estimates((1.0, 1.0), ["a", "b"])] == ["no-interval"] * 2
    assert np.isnan(single.differences((1.0, 1.0), ["a"], "b")[0].pvalue)
    alone = MeanLines({"a": (random_generator.normal(size=9),)})
    assert alone.tests((1.0,)).pvalue.shape == (1, 1)
    assert alone.values("a", (0.0,)).tolist() == [0.0] * 9
    nothing = MeanLines({"a": ([0.5, 0.7], [0.1, 0.2]), "b": ([0.2, 0.1], [0.3, 0.4])}).tests((0.0, 0.0))
    assert nothing.difference.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_columns_that_do_not_fit_are_refused():
    with refuses("values['b']", "mismatch", got=r"shapes \(1, 2\)"):
        MeanLines({"a": ([0.1, 0.2], [0.0, 0.1]), "b": ([0.1, 0.2],)})
    with refuses("values['a']", "mismatch", got=r"\(1, 2\), \(2, 2\)"):
        MeanLines({"a": ([0.1, 0.2], [[0.0, 0.1], [0.1, 0.2]])})
    with refuses("values['b']", "mismatch", got="3"):
        MeanLines({"a": ([0.1, 0.2],), "b": ([0.1, 0.2, 0.3],)})


# The smallest difference that could have been shown: against the noncentral t, its guards, and ordinary inputs.


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    common = rng.normal(size=300)
    return common + rng.normal(size=300), common + rng.normal(size=300)


def test_difference_against_the_power_of_scipy(pair):
    a, b = pair
    d = a - b
    found = detectable_difference(a, b)
    error, skewness = d.std(ddof=1) / 300**0.5, float(stats.skew(d)) / 300**0.5
    assert abs(skewness) < 0.02  # so that Student's and Hall's thresholds agree
    q = stats.t.ppf(0.975, 299)
    assert stats.nct.sf(q, 299, found.difference / error) == pytest.approx(0.8, abs=0.02)
    assert (found.power, found.level, found.observed) == (0.8, 0.95, pytest.approx(d.mean()))


def test_it_does_not_depend_on_the_observed_difference(pair):
    a, b = pair
    found = [detectable_difference(a + shift, b).difference for shift in (0.0, 1.0, -3.0)]
    np.testing.assert_allclose(found, found[0])


def test_as_many_instances_as_needed_show_the_observed_difference():
    rng = np.random.default_rng(1)
    d = rng.normal(size=400)
    d = (d - d.mean()) / d.std(ddof=1) + 0.1
    found = detectable_difference(d, np.zeros(400))
    n = int(found.instances)
    assert n == pytest.approx((2.8 / 0.1) ** 2, rel=0.02)
    q = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(q, n - 1, 0.1 * n**0.5 / d.std(ddof=1))
    assert power == pytest.approx(0.8, abs=0.01)
    assert np.isnan(found.groups)
    assert np.isnan(found.times_runs)
    assert detectable_difference(d + 1, np.zeros(400)).instances == 400  # shown already


def test_bound_raises_it_to_what_unseen_losses_leave(pair):
    a, b = pair
    without, low, high = (detectable_difference(a, b, bound=bound).difference for bound in (None, 1.0, 36.0))
    assert low == without < high
    assert high > 36 * (0.05 ** (-1 / 300) - 1)
    assert np.isinf(detectable_difference(a, b, bound=np.inf).difference)
    assert np.isinf(detectable_difference(a, b, bound=np.inf).instances)


def test_groups_and_runs():
    rng = np.random.default_rng(2)
    effect = rng.normal(size=30)[np.repeat(np.arange(30), 10)]
    a, b = effect + rng.normal(size=300), np.zeros(300)
    alone, grouped = detectable_difference(a, b), detectable_difference(a, b, groups=np.repeat(np.arange(30), 10))
    assert grouped.difference > 1.5 * alone.difference
    assert grouped.groups >= 30
    runs = a + 0.3 * rng.normal(size=(3, 1))
    found = detectable_difference(runs + 0.05, runs[::-1])
    assert found.times_runs > 1
    assert found.difference > alone.difference


def test_levels_of_several_models():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 100))
    lines = MeanLines({name: (v,) for name, v in zip("abc", x, strict=True)})
    options = {"bounds": np.zeros(2), "extra": np.zeros(2), "plans": False}
    found = lines.detectable((1.0,), ("a", "b"), "c", alphas=[0.05, 0.01], **options)
    assert found[0].difference == pytest.approx(detectable_difference(x[0], x[2]).difference)
    assert found[1].difference == pytest.approx(detectable_difference(x[1], x[2], level=0.99).difference)
    assert np.isnan(found[0].instances)


@pytest.mark.parametrize(("a", "b"), [([1.0], [2.0]), ([np.inf, 1.0, 2.0], [0.0, 1.0, 3.0])])
def test_without_a_test_nothing_is_known(a, b):
    found = detectable_difference(a, b)
    assert isinstance(found, DetectableDifference)
    assert np.isnan([found.difference, found.instances]).all()


def test_equal_differences_have_no_spread():
    found = detectable_difference([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    assert (found.difference, found.instances) == (0.0, 3.0)


@pytest.mark.parametrize(
    ("options", "match"), [({"power": 1.0}, "power"), ({"level": 2}, "level"), ({"bound": -1}, "bound")]
)
def test_bad_options_are_refused(options, match):
    with pytest.raises(InputError, match=f"^{match}: "):
        detectable_difference([1.0, 2.0], [2.0, 1.0], **options)


# Noncentralities against SciPy's noncentral t and against draws of the standard error.


@pytest.mark.parametrize("dof", [1.0, 2.5, 10.0, 99.0, 1e4])
def test_noncentrality_against_scipy(dof):
    threshold = stats.t.ppf(0.975, dof)
    (found,) = noncentrality(np.array([threshold]), np.array([dof]), 0.8)
    assert stats.nct.sf(threshold, dof, found) == pytest.approx(0.8, abs=0.002)


@pytest.mark.parametrize("dof", [2.0, 5.0, 30.0])
def test_mean_power_over_the_unknown_standard_error(dof):
    threshold = np.array([stats.t.ppf(0.975, dof)])
    (found,) = noncentrality(threshold, np.array([dof]), 0.8, np.array([dof]))
    rng = np.random.default_rng(0)
    first, second = np.sqrt(rng.chisquare(dof, (2, 200_000)) / dof)  # s/σ of the data that plan, and of those that test
    t = (rng.normal(size=second.size) + found * first) / second
    assert np.mean(t > threshold) == pytest.approx(0.8, abs=0.02)


def test_with_many_degrees_of_freedom_both_are_the_same():
    threshold, dof = np.array([2.0]), np.array([1000.0])
    assert noncentrality(threshold, dof, 0.8, dof) == noncentrality(threshold, dof, 0.8)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("n", [1, 2, 6, 9])
def test_sign_flips_against_brute_force(alternative, n):
    rng = np.random.default_rng(n)
    d = rng.normal(0.3, 1, n)
    means = np.array([np.mean(np.multiply(signs, d)) for signs in product((1, -1), repeat=n)])
    extreme = {
        "two-sided": np.abs(means) >= abs(d.mean()) - 1e-12,
        "less": means <= d.mean() + 1e-12,
        "greater": means >= d.mean() - 1e-12,
    }[alternative]
    test = sign_flip_test(d, alternative=alternative)
    assert test.exact
    assert test.pvalue == pytest.approx(extreme.mean())
    np.testing.assert_allclose(np.sort(test.null), np.sort(means), atol=1e-12)


def test_ties_of_rounding_count():
    """All patterns with the same number of flips have the same sum, in whatever order it is rounded."""
    test = sign_flip_test([0.1] * 6 + [-0.1], alternative="greater")
    assert test.pvalue == pytest.approx((1 + 7) / 128)


def test_zero_differences_reject_nothing():
    assert sign_flip_test([0.0] * 8, alternative="less").pvalue == 1.0


def test_many_differences_are_drawn():
    d = np.random.default_rng(0).normal(0.3, 1, 15)
    exact = sign_flip_test(d, alternative="greater")
    drawn = sign_flip_test([*d, 0.0], alternative="greater", n_draws=20_000)  # a difference of 0 changes no p-value
    assert (exact.exact, exact.n_draws, drawn.exact, drawn.n_draws) == (True, 2**15, False, 20_000)
    assert drawn.pvalue == pytest.approx(exact.pvalue, abs=4 * np.sqrt(exact.pvalue / 20_000))
    assert sign_flip_test([*d, 0.0], rng=3, n_draws=200).pvalue == sign_flip_test([*d, 0.0], rng=3, n_draws=200).pvalue


@pytest.mark.parametrize(("n", "alternative", "noted"), [(4, "less", True), (5, "less", False), (5, "two-sided", True)])
def test_few_differences_are_noted(n, alternative, noted):
    test = sign_flip_test(-1 - np.arange(n), alternative=alternative)
    assert codes(test) == ["few"] * noted
    assert test.pvalue == test.smallest_pvalue
    assert test.reject(0.05) is (not noted)


def test_draws_add_one_and_exact_shares_do_not():
    null = np.arange(1.0, 100.0)
    assert permutation_test(0.5, null, alternative="less").pvalue == 1 / 100
    assert permutation_test(1.0, null, alternative="less", exact=True).pvalue == 1 / 99
    assert permutation_test(99.0, null, alternative="greater").pvalue == 2 / 100
    assert permutation_test(-99.0, null - 100, alternative="two-sided").pvalue == 2 / 100
    assert permutation_test(0.5, null, alternative="less").smallest_pvalue == 1 / 100


def test_reject_at_the_level_itself():
    test = permutation_test(0.5, np.arange(1.0, 20.0), alternative="less")
    assert test.pvalue == 0.05
    assert test.reject(0.05)
    assert not test.reject(0.049)
    assert json.loads(json.dumps(test.to_dict(), allow_nan=False))["n_draws"] == 19


def test_refusals():
    with refuses("differences", "finite", "row 1"):
        sign_flip_test([0.1, np.inf])
    with refuses("differences", "finite"):
        sign_flip_test([0.1, np.nan])
    with refuses("alternative", "choice", "below"):
        sign_flip_test([0.1], alternative="below")
    with refuses("n_draws", "range"):
        sign_flip_test([0.1], n_draws=0)
    with refuses("null", "shape"):
        permutation_test(0.1, [])
    with refuses("alpha", "range"):
        sign_flip_test([0.1]).reject(0)


# Two readings of the same values: what both tell, against the tests of each.

N_READ = 60


@pytest.fixture(scope="module")
def losses():
    rng = np.random.default_rng(3)
    common = rng.normal(size=N_READ)
    return {name: gap + common + 0.2 * rng.normal(size=N_READ) for name, gap in (("a", 0.0), ("b", 0.2), ("c", 0.5))}


def readings(losses, added):
    first = pairwise_mean_tests(losses)
    second = pairwise_mean_tests(losses | {"a": losses["a"] + added}, references=("b", "c"))
    return first, second, agreeing_comparisons(first, second)


def test_what_both_readings_tell_is_told_with_the_greater_pvalue(losses):
    first, second, both = readings(losses, 0.1)
    for b in (1, 2):
        assert both.pvalue[0, b] == both.pvalue[b, 0] == max(first.pvalue[0, b], second.pvalue[0, b])
        assert both.low[0, b] == min(first.low[0, b], second.low[0, b])
        assert both.high[0, b] == max(first.high[0, b], second.high[0, b])
        assert both.low[b, 0] == -both.high[0, b]
    assert both.pvalue[1, 2] == first.pvalue[1, 2]  # the second reading has not tested it
    assert (both.low[1, 2], both.high[1, 2]) == (first.low[1, 2], first.high[1, 2])
    np.testing.assert_array_equal(both.difference, first.difference)
    np.testing.assert_array_equal(both.adjusted, shaffer(both.pvalue))
    upper = np.triu_indices(3, 1)
    np.testing.assert_array_equal(both.benjamini_hochberg[upper], benjamini_hochberg(both.pvalue[upper]))


def test_readings_that_contradict_each_other_tell_nothing(losses):
    first, second, both = readings(losses, 0.35)  # above b, below c
    assert first.pvalue[0, 1] < 0.05
    assert second.pvalue[0, 1] < 0.05
    assert both.pvalue[0, 1] == 1.0
    assert both.low[0, 1] < 0 < both.high[0, 1]
    assert both.pvalue[0, 2] < 0.05


def test_pairs_without_a_test_stay_without_one(losses):
    first = pairwise_mean_tests(losses | {"c": np.full(N_READ, np.inf)})
    both = agreeing_comparisons(first, pairwise_mean_tests(losses, references=("b", "c")))
    assert np.isnan(both.pvalue[0, 2])
    assert np.isnan(both.adjusted[0, 2])
    assert both.pvalue[0, 1] == first.pvalue[0, 1]


def test_limits_stay_only_where_nothing_is_told(losses):
    first = pairwise_mean_tests(losses, bound=30.0)
    both = agreeing_comparisons(first, pairwise_mean_tests(losses, bound=30.0))
    np.testing.assert_array_equal(both.limited_by, first.limited_by)
    assert "unseen" in both.limited_by


def test_other_names_are_refused(losses):
    first = pairwise_mean_tests(losses)
    with refuses("second", "mismatch", got="got a, b against a, b, c"):
        agreeing_comparisons(first, pairwise_mean_tests({k: losses[k] for k in "ab"}))
