"""Moments over groups by their sizes: against the spread of the combined differences, and the factors of units in classes."""

import numpy as np
import pytest

from uqassay.statistics.spreads import MOST_SIZES, GroupMoments, PairSample
from uqassay.statistics.units import bell_mccaffrey, make_units, spread_of_mean

MEMBERS = np.repeat([1, 2, 3, 7, 19], [30, 5, 11, 6, 1])
STARTS = np.cumsum(MEMBERS) - MEMBERS
GROUPS = np.repeat(np.arange(MEMBERS.size), MEMBERS)
N = GROUPS.size


def columns(rng, n=N, groups=GROUPS):
    """Two columns of four models, which share effects of groups; one is constant in a column."""
    common = rng.exponential(size=n) + rng.normal(size=groups.max() + 1)[groups]
    first = [common + 0.3 * rng.normal(size=n) ** 3, common, 1e4 + rng.exponential(size=groups.max() + 1)[groups]]
    second = [rng.beta(2, 3, size=n), np.full(n, 0.25), rng.normal(size=n)]
    return [*first, np.zeros(n)], [*second, np.zeros(n)]


@pytest.mark.parametrize("coefficients", [(1.0, 0.0), (1.0, 0.5), (1.0, 1e6), (0.0, 1.0), (2.0, -3.0)])
def test_spread_against_that_of_the_combined_differences(coefficients, random_generator):
    both, units = columns(random_generator), make_units(N, GROUPS, None)
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


def test_one_column_and_any_order_of_asking_give_the_same(random_generator):
    both = columns(random_generator)
    a, b = np.triu_indices(4, 1)
    single, double = GroupMoments(both[:1], STARTS), GroupMoments(both, STARTS)
    for i, j in [(3, 1), (2, 0)]:
        one = double.spread((1.0, 0.0), np.array([i]), np.array([j]))
        np.testing.assert_allclose(single.spread((1.0,), np.array([i]), np.array([j])), one, rtol=1e-12)
    for x, y in zip(single.spread((1.0,), a, b), double.spread((1.0, 0.0), a, b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_what_cancels_or_is_equal_is_not_relied_on(random_generator):
    x, zero = random_generator.normal(size=N), np.zeros(N)
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
    first, second = columns(random_generator, groups.size, groups)
    units = make_units(groups.size, groups, None)
    sample = PairSample([[x[np.newaxis], y[np.newaxis]] for x, y in zip(first, second, strict=True)], units)
    found = sample.spreads((1.0, 0.5), np.array([0]), np.array([1]))
    x = first[0] - first[1] + 0.5 * (second[0] - second[1])
    expected = spread_of_mean(x - x.mean(), units)
    assert found.scale[0] * found.inside[0] ** 0.5 == pytest.approx(expected.standard_error, rel=1e-10)
    assert found.dof[0] == pytest.approx(expected.dof, rel=1e-10)
