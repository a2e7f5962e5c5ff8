import json
from itertools import product

import numpy as np
import pytest
from tests.notes import codes
from tests.refusals import refuses

from uqassay.statistics import permutation_test, sign_flip_test


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
