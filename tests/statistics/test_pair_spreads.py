"""Spreads of differences of pairs: those from moments against those from the instances."""

import numpy as np
import pytest

from uqassay.statistics.spreads import PairSample
from uqassay.statistics.units import make_units, spread_of_mean

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
