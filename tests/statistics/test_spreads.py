"""Spreads of differences of pairs: against those of each difference, instance by instance."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from uqassay.metrics.risk import aurc, rank_errors
from uqassay.statistics import MeanLines
from uqassay.statistics import spreads as influence_pairs
from uqassay.statistics.auc import IMAGINARY, auc_linearised
from uqassay.statistics.correlation import concordance_linearised
from uqassay.statistics.linearised import AveragedStatistic, Linearised, spread_of
from uqassay.statistics.spreads import (
    MOST_SIZES,
    GroupMoments,
    PairMoments,
    PairSample,
    row_products,
    statistic_spreads,
)
from uqassay.statistics.units import bell_mccaffrey, make_units, spread_of_mean

# Spreads of differences of pairs: those from moments against those from the instances.

N = 400
PAIRS = np.triu_indices(4, 1)


def runs(rng):
    """Two columns of four models, two of them with several runs."""
    common = rng.exponential(size=N)
    shapes = [(1, N), (3, N), (2, N), (1, N)]
    return [[common + 0.3 * rng.normal(size=s) ** 3, rng.beta(2, 3, size=s)] for s in shapes]


@pytest.mark.parametrize("options", [{}, {"groups": np.arange(N) // 3}, {"sample_weight": np.arange(1.0, N + 1)}])
def test_spreads_against_those_of_the_combined_values(options, random_generator):
    models, units = runs(random_generator), make_units(N, options.get("groups"), options.get("sample_weight"))
    sample = PairSample(models, units)
    found = sample.spreads((1.0, 0.7), *PAIRS)
    for k, (i, j) in enumerate(zip(*PAIRS, strict=True)):
        a, b = (d + 0.7 * ns for d, ns in (models[i], models[j]))
        difference = a.mean(axis=0) - b.mean(axis=0)
        value = units.mean(difference)
        means = [np.array([units.mean(run) for run in model]) for model in (a, b)]
        expected = spread_of_mean(difference - value, units, means)
        variance = found.variance[k]
        assert found.difference[k] == pytest.approx(value, rel=1e-10)
        assert found.scale[k] * variance**0.5 == pytest.approx(expected.standard_error, rel=1e-10)
        assert found.total_dof[k] == pytest.approx(expected.dof, rel=1e-9)
        assert found.third[k] / variance**1.5 == pytest.approx(expected.skewness, rel=1e-8)


def test_equal_differences_are_found_among_the_instances(random_generator):
    x = random_generator.integers(9, size=(1, N)).astype(float)  # sums of which are exact
    ones = np.ones((1, N))
    sample = PairSample([[x, ones], [x, 3 * ones], [2 * x, ones]], make_units(N, None, None))
    found = sample.spreads((1.0, 0.5), np.array([0, 0]), np.array([1, 2]))
    assert found.equal.tolist() == [True, False]
    assert found.regular.tolist() == [False, True]
    assert found.difference[0] == -1.0
    assert found.inside[0] == 0.0


# Moments of differences of pairs: against sums in extended precision, and where they must not be relied on.

N_MOMENTS = 5000


def columns(rng, n=N_MOMENTS):
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
            assert found.inside[k] == pytest.approx(
                float((residual**2).sum()) / (N_MOMENTS * (N_MOMENTS - 1)), rel=1e-10
            )
            third = float((residual**3).sum()) / N_MOMENTS**3
            assert found.third[k] == pytest.approx(third, abs=1e-8 * float((residual**2).sum() ** 1.5) / N_MOMENTS**3)
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
    x = random_generator.normal(size=N_MOMENTS)
    pair = np.array([0]), np.array([1])
    zero = np.zeros(N_MOMENTS)
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


# Moments over groups by their sizes: against the spread of the combined differences, and the factors of units in classes.

MEMBERS = np.repeat([1, 2, 3, 7, 19], [30, 5, 11, 6, 1])
STARTS = np.cumsum(MEMBERS) - MEMBERS
GROUPS = np.repeat(np.arange(MEMBERS.size), MEMBERS)
N_GROUPED = GROUPS.size


def grouped_columns(rng, n=N_GROUPED, groups=GROUPS):
    """Two columns of four models, which share effects of groups; one is constant in a column."""
    common = rng.exponential(size=n) + rng.normal(size=groups.max() + 1)[groups]
    first = [common + 0.3 * rng.normal(size=n) ** 3, common, 1e4 + rng.exponential(size=groups.max() + 1)[groups]]
    second = [rng.beta(2, 3, size=n), np.full(n, 0.25), rng.normal(size=n)]
    return [*first, np.zeros(n)], [*second, np.zeros(n)]


@pytest.mark.parametrize("coefficients", [(1.0, 0.0), (1.0, 0.5), (1.0, 1e6), (0.0, 1.0), (2.0, -3.0)])
def test_spread_against_that_of_the_combined_differences(coefficients, random_generator):
    both, units = grouped_columns(random_generator), make_units(N_GROUPED, GROUPS, None)
    a, b = np.triu_indices(4, 1)
    found = GroupMoments(both, STARTS).spread(coefficients, a, b)
    for k in np.flatnonzero(found.reliable).tolist():
        x = sum(t * (column[a[k]] - column[b[k]]) for t, column in zip(coefficients, both, strict=True))
        expected = spread_of_mean(x - x.mean(), units)
        assert found.mean[k] == pytest.approx(x.mean(), rel=1e-12)
        assert found.inside[k] ** 0.5 == pytest.approx(expected.standard_error, rel=1e-9)
        assert found.dof[k] == pytest.approx(expected.dof, rel=1e-9)
        assert found.third[k] / found.inside[k] ** 1.5 == pytest.approx(expected.skewness, rel=1e-7, abs=1e-9)
    assert found.reliable.sum() >= 5  # two models may be the same in one column


def test_one_column_and_any_order_of_asking_give_the_same_by_groups(random_generator):
    both = grouped_columns(random_generator)
    a, b = np.triu_indices(4, 1)
    single, double = GroupMoments(both[:1], STARTS), GroupMoments(both, STARTS)
    for i, j in [(3, 1), (2, 0)]:
        one = double.spread((1.0, 0.0), np.array([i]), np.array([j]))
        np.testing.assert_allclose(single.spread((1.0,), np.array([i]), np.array([j])), one, rtol=1e-12)
    for x, y in zip(single.spread((1.0,), a, b), double.spread((1.0, 0.0), a, b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_what_cancels_or_is_equal_is_not_relied_on(random_generator):
    x, zero = random_generator.normal(size=N_GROUPED), np.zeros(N_GROUPED)
    x -= (np.bincount(GROUPS, x) / MEMBERS)[GROUPS] * (MEMBERS[GROUPS] > 1)  # no sums of larger groups
    pair = np.array([0]), np.array([1])
    assert GroupMoments(([x, zero], [zero, zero]), STARTS).spread((1.0, 0.5), *pair).reliable[0]
    for both in (([x, x], [x, x]), ([x, x + 0.5], [zero, zero]), ([x, zero], [-2 * x, zero])):
        assert not GroupMoments(both, STARTS).spread((1.0, 0.5), *pair).reliable[0]


def test_units_of_one_size_stand_together_in_the_factors():
    tau = np.array([0.5, 2.0, 3.5, 20.0])
    sizes, counts = np.array([1.0, 2.0, 3.0, 19.0]), np.array([30, 5, 11, 1])
    for last in (1, 3):
        counts[-1] = last
        factors, dof = bell_mccaffrey(np.stack([tau, sizes**2]), sizes, counts)
        each = np.repeat(np.arange(4), counts)
        expected, expected_dof = bell_mccaffrey(np.stack([tau, sizes**2])[:, each], sizes[each])
        np.testing.assert_allclose(factors[:, each], expected, rtol=1e-12)
        np.testing.assert_allclose(dof, expected_dof, rtol=1e-12)


def test_groups_of_many_sizes_are_looked_at_one_by_one(random_generator):
    members = np.arange(1, MOST_SIZES + 2)
    groups = np.repeat(np.arange(members.size), members)
    first, second = grouped_columns(random_generator, groups.size, groups)
    units = make_units(groups.size, groups, None)
    sample = PairSample([[x[np.newaxis], y[np.newaxis]] for x, y in zip(first, second, strict=True)], units)
    found = sample.spreads((1.0, 0.5), np.array([0]), np.array([1]))
    x = first[0] - first[1] + 0.5 * (second[0] - second[1])
    expected = spread_of_mean(x - x.mean(), units)
    assert found.scale[0] * found.inside[0] ** 0.5 == pytest.approx(expected.standard_error, rel=1e-10)
    assert found.dof[0] == pytest.approx(expected.dof, rel=1e-10)


# Spreads of all pairs from products of influences, against those of each difference.

N_RANKED = 300
UNITS = make_units(N_RANKED, None, None)


def areas(rng, *, noise, coarse=False):
    """UQ-AUC of scores with a common part; errors differ between models."""
    latent, common = rng.normal(size=(2, N_RANKED))
    found = []
    for _ in range(6):
        errors = (latent + 0.5 * rng.normal(size=N_RANKED) > 1).astype(float)
        scores = common + errors + noise * rng.normal(size=N_RANKED)
        found.append(auc_linearised(errors, scores.round(1) if coarse else scores, None, imaginary=IMAGINARY))
    return found


def concordances(rng, *, noise, coarse=False):
    gap, common = rng.normal(size=(2, N_RANKED))
    scores = [common + gap + noise * rng.normal(size=N_RANKED) for _ in range(6)]
    return [concordance_linearised(gap, s.round(1) if coarse else s, None, imaginary=IMAGINARY) for s in scores]


def losses(rng, *, noise, coarse=False):
    """AURC, whose influences are those of all instances together."""
    latent, common = rng.normal(size=(2, N_RANKED))
    scores = [common + (latent > 1) + noise * rng.normal(size=N_RANKED) for _ in range(6)]
    return [aurc(rank_errors(latent > 1, s.round(1) if coarse else s)) for s in scores]


@pytest.mark.parametrize("statistics", [areas, concordances, losses])
@pytest.mark.parametrize("noise", [1.0, 1e-2, 1e-6])  # the last: differences far smaller than the influences
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("at_once", [influence_pairs.CELLS, 1])
def test_products_against_each_difference(random_generator, monkeypatch, statistics, noise, coarse, at_once):
    monkeypatch.setattr(influence_pairs, "CELLS", at_once)
    single = statistics(random_generator, noise=noise, coarse=coarse)
    a, b = np.tril_indices(len(single), -1)
    found = statistic_spreads([AveragedStatistic.of(one, UNITS) for one in single], a, b, UNITS)
    expected = [spread_of(single[i] - single[j], UNITS) for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(found.variance**0.5, [e.standard_error for e in expected], rtol=1e-10)
    np.testing.assert_allclose(found.total_dof, [e.dof for e in expected], rtol=1e-8)


def test_runs_against_each_difference(random_generator):
    runs = [areas(random_generator, noise=1.0)[:r] for r in (1, 2, 3)]
    means = [AveragedStatistic.of(several, UNITS) for several in runs]
    a, b = np.tril_indices(3, -1)
    found = statistic_spreads(means, a, b, UNITS)
    for k, (i, j) in enumerate(zip(a, b, strict=True)):
        expected = spread_of(means[i].whole - means[j].whole, UNITS, [means[i].values, means[j].values])
        assert found.variance[k] ** 0.5 == pytest.approx(expected.standard_error, rel=1e-10)
        assert found.total_dof[k] == pytest.approx(expected.dof, rel=1e-8)


def test_the_same_statistic_twice_has_no_spread(random_generator):
    one = AveragedStatistic.of(areas(random_generator, noise=1.0)[0], UNITS)
    found = statistic_spreads([one, one], np.array([1]), np.array([0]), UNITS)
    assert found.variance.tolist() == [0.0]


def test_statistics_of_other_parts_have_the_spread_of_their_difference(random_generator):
    x = random_generator.normal(size=N_RANKED)
    plain = Linearised(float(x.mean()), x - x.mean())
    area, concordant = areas(random_generator, noise=1.0)[0], concordances(random_generator, noise=1.0)[0]
    three = [AveragedStatistic.of(one, UNITS) for one in (area, plain, concordant)]
    a, b = np.tril_indices(3, -1)
    found = statistic_spreads(three, a, b, UNITS)
    expected = [spread_of(three[i].whole - three[j].whole, UNITS).standard_error for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(found.variance**0.5, expected, rtol=1e-12)


def test_threads_of_matrix_products_change_no_bit(random_generator):
    n = 20_000
    units = make_units(n, None, None)
    several = [
        AveragedStatistic.of(Linearised(0.0, x - x.mean(), uneven=True), units)
        for x in random_generator.normal(size=(80, n))
    ]
    a, b = np.tril_indices(80, -1)
    spreads = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            spreads.append(statistic_spreads(several, a, b, units))
    np.testing.assert_array_equal(spreads[0].variance, spreads[1].variance)
    np.testing.assert_array_equal(spreads[0].dof, spreads[1].dof)


def test_kernel_and_formula_of_products_agree(monkeypatch, random_generator):
    u, v = random_generator.normal(size=(2, 3, 1300))
    found = []
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        found.append(row_products(u, v))
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found[1], (u[:, np.newaxis] * v).sum(axis=2), rtol=0, atol=1e-11)


@pytest.mark.parametrize("groups", [None, np.arange(20_000) % 700])
@pytest.mark.parametrize("columns", [1, 2])
def test_sums_of_a_pair_do_not_depend_on_the_pairs_asked_for_before(columns, groups):
    """So many instances are summed in several chunks, whose size must not follow the number of pairs."""
    rng = np.random.default_rng(5)
    values = {name: [rng.gamma(1.0, size=20_000) for _ in range(columns)] for name in "abcdef"}
    t = np.ones(columns)
    whole = MeanLines(values, groups=groups)
    expected = whole.tests(t)
    for seed in range(4):
        lines, order = MeanLines(values, groups=groups), np.random.default_rng(seed)
        for _ in range(3):
            some = order.permutation(list("abcdef"))[: order.integers(2, 6)].tolist()
            lines.differences(t, some[1:], some[0])
            lines.of_pairs(t[np.newaxis], some[:1], some[-1:])
        found = lines.tests(t)
        assert np.array_equal(whole._sample._moments._third, lines._sample._moments._third)
        for name in ("difference", "low", "high", "pvalue", "adjusted"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
