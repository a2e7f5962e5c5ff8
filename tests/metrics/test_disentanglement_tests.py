import json
from itertools import permutations, product

import numpy as np
import pytest
from tests.notes import codes
from tests.refusals import refuses

from uqassay.metrics import below_chance_test, disentanglement_error, paired_disentanglement_test, swap_test
from uqassay.metrics.disentanglement import Curves
from uqassay.statistics import paired_mean_test


def random_curves(rng, n_runs, sizes=(7, 11)):
    return tuple(Curves(*rng.random((3, n_runs, n)), conditions=range(n)) for n in sizes)


def with_accuracy(curves, accuracy):
    return Curves(accuracy, curves.aleatoric, curves.epistemic, curves.conditions)


def all_errors(size, noise, *, per_run):
    """Errors under every permutation of the accuracy, one for all runs or one for each, by brute force."""
    found = []
    choices = [list(permutations(range(one.n_conditions))) for one in (size, noise)]
    repeat = size.n_runs if per_run else 1
    for orders in product(product(choices[0], repeat=repeat), product(choices[1], repeat=repeat)):
        turned = []
        for one, rows in zip((size, noise), orders, strict=True):
            rows = rows if per_run else rows * one.n_runs
            turned.append(with_accuracy(one, np.stack([a[list(o)] for a, o in zip(one.accuracy, rows, strict=True)])))
        found.append(float(disentanglement_error(*turned, n_draws=1).error))
    return np.array(found)


@pytest.mark.parametrize(("permuted", "n_runs", "sizes"), [("conditions", 2, (3, 4)), ("runs", 2, (2, 3))])
def test_below_chance_against_brute_force(permuted, n_runs, sizes):
    size, noise = random_curves(np.random.default_rng(1), n_runs, sizes)
    null = all_errors(size, noise, per_run=permuted == "runs")
    test = below_chance_test(size, noise, permuted=permuted)
    assert test.exact
    np.testing.assert_allclose(np.sort(test.null), np.sort(null), atol=1e-12)
    observed = float(disentanglement_error(size, noise).error)
    assert test.statistic == pytest.approx(observed)
    assert test.pvalue == pytest.approx(np.mean(null <= observed + 1e-12))
    assert (test.alternative, test.n) == ("less", n_runs)


@pytest.mark.parametrize("permuted", ["conditions", "runs"])
def test_below_chance_by_draws_against_exact(permuted, monkeypatch):
    size, noise = random_curves(np.random.default_rng(2), 1, (5, 4))
    exact = below_chance_test(size, noise, permuted=permuted)
    assert exact.exact
    assert exact.n_draws == 120 * 24
    monkeypatch.setattr("uqassay.metrics.disentanglement._MOST_EXACT", 0)
    drawn = below_chance_test(size, noise, permuted=permuted, n_draws=20_000)
    assert not drawn.exact
    assert drawn.pvalue == pytest.approx(exact.pvalue, abs=4 * np.sqrt(exact.pvalue * (1 - exact.pvalue) / 20_000))
    assert drawn.null.mean() == pytest.approx(exact.null.mean(), abs=0.01)


def test_below_chance_draws_do_not_depend_on_their_number():
    curves = random_curves(np.random.default_rng(3), 3)
    few, many = (below_chance_test(*curves, n_draws=n, rng=5) for n in (600, 1200))
    np.testing.assert_allclose(few.null, many.null[:600], atol=1e-14)
    assert below_chance_test(*curves, n_draws=600, rng=5).pvalue == few.pvalue
    assert below_chance_test(*curves, n_draws=600, rng=6).pvalue != few.pvalue


def test_below_chance_mean_of_the_null_is_chance():
    rng = np.random.default_rng(4)
    size, noise = (Curves(rng.random((1, n)), *rng.normal(size=(2, 1, n)), conditions=range(n)) for n in (7, 11))
    test = below_chance_test(size, noise, n_draws=20_000)
    assert test.null.mean() == pytest.approx(disentanglement_error(size, noise).chance, abs=0.02)


def test_below_chance_of_constant_estimates_is_undecided():
    """All four correlations are 0 under every permutation."""
    accuracy, still = np.random.default_rng(0).random((2, 7)), np.ones((2, 7))
    curves = Curves(accuracy, still, still, range(7))
    test = below_chance_test(curves, curves, n_draws=99)
    assert (test.statistic, test.pvalue) == (0.5, 1.0)


def test_below_chance_refusals():
    size, noise = random_curves(np.random.default_rng(0), 2)
    with refuses("label_noise", "missing"):
        below_chance_test(size, None)
    with refuses("permuted", "choice", "shared"):
        below_chance_test(size, noise, permuted="shared")
    with refuses("n_draws", "range"):
        below_chance_test(size, noise, n_draws=0)
    with refuses("alpha", "range"):
        below_chance_test(size, noise, n_draws=9).reject(5)


def test_swap_against_brute_force():
    size, noise = random_curves(np.random.default_rng(5), 6)
    differences = (
        disentanglement_error(size, noise).per_run - disentanglement_error(size.swapped, noise.swapped).per_run
    )
    test = swap_test(size, noise)
    means = np.array([np.dot(signs, differences) / 6 for signs in product((1, -1), repeat=6)])
    assert test.statistic == pytest.approx(differences.mean())
    assert test.pvalue == pytest.approx(np.mean(means <= differences.mean() + 1e-12))
    assert test.n_draws == 64
    assert swap_test(size.swapped, noise.swapped).statistic == pytest.approx(-test.statistic)


def test_swap_of_one_estimate_given_twice():
    rng = np.random.default_rng(6)
    size, noise = (Curves(*rng.random((2, 5, n))[[0, 1, 1]], conditions=range(n)) for n in (7, 11))
    test = swap_test(size, noise)
    assert (test.statistic, test.pvalue) == (0.0, 1.0)


def test_swap_of_many_runs_draws_signs():
    curves = random_curves(np.random.default_rng(7), 16)
    test = swap_test(*curves, n_draws=500, rng=1)
    assert (test.exact, test.n_draws) == (False, 500)
    assert swap_test(*curves, n_draws=500, rng=1).pvalue == test.pvalue


def test_swap_of_four_runs_cannot_reach_five_percent():
    test = swap_test(*random_curves(np.random.default_rng(8), 4))
    assert test.smallest_pvalue == 1 / 16
    assert codes(test) == ["few"]


def test_paired_against_the_t_test_and_brute_force():
    rng = np.random.default_rng(9)
    a, b = (disentanglement_error(*random_curves(rng, 6)) for _ in range(2))
    test = paired_disentanglement_test(a, b)
    expected = paired_mean_test(a.per_run, b.per_run)
    assert (test.statistic, test.pvalue) == (expected.statistic, expected.pvalue)
    assert (float(test.difference), test.difference.low) == (float(expected.difference), expected.difference.low)
    differences = a.per_run - b.per_run
    means = np.array([np.dot(signs, differences) for signs in product((1, -1), repeat=6)])
    assert test.sign_flips.pvalue == pytest.approx(np.mean(np.abs(means) >= abs(differences.sum()) - 1e-12))
    from_arrays = paired_disentanglement_test(a.per_run, b.per_run.tolist())
    assert from_arrays.pvalue == test.pvalue
    assert test.reject(0.9999)
    json.dumps(test.to_dict(), allow_nan=False)


def test_paired_of_one_run_and_of_equal_methods():
    test = paired_disentanglement_test([0.4], [0.5])
    assert np.isnan([test.pvalue, test.difference.low]).all()
    assert not test.reject()
    assert codes(test) == ["no-test"]
    same = paired_disentanglement_test([0.4, 0.5], [0.4, 0.5])
    assert (float(same.difference), same.pvalue, same.sign_flips.pvalue) == (0.0, 1.0, 1.0)


def test_paired_refusals():
    rng = np.random.default_rng(10)
    curves = random_curves(rng, 3)
    a = disentanglement_error(*curves)
    with refuses("b", "mismatch", "got 4, not 3"):
        paired_disentanglement_test(a, disentanglement_error(*random_curves(rng, 4)))
    with refuses("b", "mismatch", "sum against mean"):
        paired_disentanglement_test(a, disentanglement_error(*curves, aggregate="sum"))
    with refuses("b", "mismatch"):
        paired_disentanglement_test(a, disentanglement_error(*random_curves(rng, 3, (6, 11))))
    with refuses("a", "finite"):
        paired_disentanglement_test([np.nan, 0.1], [0.1, 0.2])
    with refuses("b", "shape"):
        paired_disentanglement_test([0.2, 0.1], [[0.1, 0.2]])


def test_equal_differences_are_tested_by_sign_flips():
    """The t test has no spread then: p = 0 from two runs, although two runs agree by chance."""
    for n_runs, expected in ((2, 0.5), (5, 0.0625)):
        test = paired_disentanglement_test(np.full(n_runs, 0.3), np.full(n_runs, 0.4))
        assert test.pvalue == test.sign_flips.pvalue == expected
    assert np.isnan(paired_disentanglement_test([0.3], [0.4]).pvalue)
