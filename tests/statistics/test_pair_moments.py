"""Moments of differences of pairs: against sums in extended precision, and where they must not be relied on."""

import numpy as np
import pytest

from uqassay.statistics.spreads import PairMoments

N = 5000


def columns(rng, n=N):
    """Two columns of five models: near each other, of other sizes, one of them constant in a column."""
    common = rng.exponential(size=n)
    first = [common + 0.01 * rng.normal(size=n), common + 1e-6 * rng.normal(size=n), 1e8 + 30 * common, common**3]
    second = [rng.beta(2, 3, size=n), rng.beta(1, 9, size=n), np.full(n, 0.25), 5 * rng.normal(size=n)]
    return [*first, common], [*second, np.zeros(n)]


@pytest.mark.parametrize("coefficients", [(1.0, 0.0), (1.0, 0.5), (1.0, 1e6), (0.0, 1.0), (2.0, -3.0)])
def test_moments_against_sums_in_extended_precision(coefficients, random_generator):
    both = columns(random_generator)
    a, b = np.triu_indices(5, 1)
    found = PairMoments(both).spread(coefficients, a, b)
    for k, (i, j) in enumerate(zip(a, b, strict=True)):
        apart = [np.longdouble(column[i]) - np.longdouble(column[j]) for column in both]
        x = sum(t * one for t, one in zip(coefficients, apart, strict=True))
        size = max(
            abs(t) * np.abs(column[m]).max() for t, column in zip(coefficients, both, strict=True) for m in (i, j)
        )
        assert found.mean[k] == pytest.approx(float(x.mean()), rel=1e-13, abs=1e-14 * size)
        if found.reliable[k]:
            residual = x - x.mean()
            assert found.inside[k] == pytest.approx(float((residual**2).sum()) / (N * (N - 1)), rel=1e-10)
            third = float((residual**3).sum()) / N**3
            assert found.third[k] == pytest.approx(third, abs=1e-8 * float((residual**2).sum() ** 1.5) / N**3)
    assert found.reliable.sum() >= 9


def test_one_column_and_any_order_of_asking_give_the_same(random_generator):
    first, second = columns(random_generator)
    a, b = np.triu_indices(5, 1)
    at_once = PairMoments([first, second]).spread((1.0, 0.5), a, b)
    asked = PairMoments([first, second])
    for i, j in [(3, 1), (0, 4), (4, 2), (1, 0)]:  # also backwards, one by one
        one = asked.spread((1.0, 0.5), np.array([i]), np.array([j]))
        k = int(np.flatnonzero((a == min(i, j)) & (b == max(i, j)))[0])
        sign = 1.0 if i < j else -1.0
        np.testing.assert_allclose(one.mean[0], sign * at_once.mean[k], rtol=1e-12)
        np.testing.assert_allclose(one.inside[0], at_once.inside[k], rtol=1e-12)
        np.testing.assert_allclose(one.third[0], sign * at_once.third[k], rtol=1e-9, atol=1e-12 * one.inside[0] ** 1.5)
    single = PairMoments([first]).spread((1.0,), a, b)
    double = PairMoments([first, second]).spread((1.0, 0.0), a, b)
    for x, y in zip(single, double, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_what_cancels_or_may_be_constant_or_is_near_the_ends_of_numbers_is_not_relied_on(random_generator):
    x = random_generator.normal(size=N)
    pair = np.array([0]), np.array([1])
    zero = np.zeros(N)
    cases = {
        "equal": ([x, x], [x, x]),
        "apart by a constant": ([x, x + 0.1], [zero, zero]),
        "cancels at λ = 0.5": ([x, zero], [-2 * x, zero]),
        "tiny": ([1e-200 * x, zero], [zero, zero]),
        "huge": ([1e200 * x, zero], [zero, zero]),
    }
    for name, both in cases.items():
        assert not PairMoments(both).spread((1.0, 0.5), *pair).reliable[0], name
    assert PairMoments(cases["cancels at λ = 0.5"]).spread((1.0, 0.4), *pair).reliable[0]


@pytest.mark.parametrize("one_column", [False, True])
def test_kernel_and_formula_agree(one_column, monkeypatch, random_generator):
    both = columns(random_generator)[: 1 if one_column else 2]
    a, b = np.triu_indices(5, 1)
    found = []
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        found.append(PairMoments(both).spread((1.0, 0.5)[: len(both)], a, b))
    kernel, formula = found
    sure = kernel.reliable
    np.testing.assert_array_equal(sure, formula.reliable)
    assert sure.sum() >= 9
    np.testing.assert_allclose(kernel.mean, formula.mean, rtol=1e-12)
    np.testing.assert_allclose(kernel.inside[sure], formula.inside[sure], rtol=1e-10)
    np.testing.assert_allclose(kernel.third[sure], formula.third[sure], atol=1e-8 * formula.inside[sure].max() ** 1.5)
