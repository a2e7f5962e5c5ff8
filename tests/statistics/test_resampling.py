"""Inner loops of resampling: draws do not depend on the block size; sign flips against all flips."""

import itertools

import numpy as np
import pytest

from uqassay.statistics import bootstrap_means, resampling
from uqassay.statistics.units import make_units


def test_draws_do_not_depend_on_the_number_of_draws(random_generator):
    values = random_generator.normal(size=(37, 5))
    long = bootstrap_means(values, n_draws=200, rng=3)
    for n_draws in (1, 63, 64, 65, 199):
        np.testing.assert_array_equal(bootstrap_means(values, n_draws=n_draws, rng=3), long[:n_draws])


@pytest.mark.parametrize("block", [1, 3, 64, 1000])
def test_draws_do_not_depend_on_the_block_size(block, monkeypatch, random_generator):
    integers = random_generator.integers(0, 1000, size=(37, 5))  # sums of integers are exact
    floats = random_generator.normal(size=(37, 5))
    before = bootstrap_means(integers, n_draws=130), bootstrap_means(floats, n_draws=130)
    monkeypatch.setattr(resampling, "_BLOCK_DRAWS", block)
    np.testing.assert_array_equal(bootstrap_means(integers, n_draws=130), before[0])
    np.testing.assert_allclose(bootstrap_means(floats, n_draws=130), before[1], rtol=1e-11, atol=1e-14)
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 74)  # many instances: two draws at a time
    np.testing.assert_array_equal(bootstrap_means(integers, n_draws=130), before[0])


def test_draws_with_infinite_values_are_infinite(random_generator):
    values = random_generator.normal(size=(6, 3))
    values[2, 1], values[4, 2], values[5, 2] = np.inf, -np.inf, np.inf
    rng = np.random.default_rng(0)
    with np.errstate(invalid="ignore"):
        expected = np.array([values[rng.integers(0, 6, size=6)].mean(axis=0) for _ in range(40)])
    assert np.isinf(expected).any()
    assert np.isfinite(expected[:, 1:]).any(axis=0).all()
    assert np.isnan(expected[:, 2]).any()
    np.testing.assert_allclose(bootstrap_means(values, n_draws=40), expected, rtol=1e-12)


def test_sign_flips_against_all_flips(random_generator):
    d = random_generator.normal(0.4, 1, size=10)
    units = make_units(10, None, None)
    flips = np.array(list(itertools.product([-1, 1], repeat=10)))
    exact = np.mean(np.abs(flips @ d) >= abs(d.sum()) - 1e-12)
    found = resampling.sign_flip_pvalue(d, units, 40_000, random_generator)
    assert abs(found - exact) <= 5 * np.sqrt(exact * (1 - exact) / 40_000)


def test_signs_belong_to_whole_groups(random_generator):
    """Two groups: the four sums are ±(u + v) and ±(u − v), so half of all flips reach |u + v|."""
    units = make_units(6, [0, 0, 0, 1, 1, 1], None)
    found = resampling.sign_flip_pvalue(np.array([1.0, 2, 3, 1, 1, 1]), units, 20_000, random_generator)
    assert found == pytest.approx(0.5, abs=0.02)


def test_run_effects_have_the_variance_of_a_mean_over_runs(random_generator):
    means = random_generator.normal(size=(4, 2))
    effects = resampling.draw_run_effects(means, 40_000, random_generator)
    np.testing.assert_allclose(effects.var(axis=0), means.var(axis=0, ddof=1) / 4, rtol=0.05)
    np.testing.assert_allclose(effects.mean(axis=0), 0, atol=0.02)


def test_run_effects_of_a_column_with_an_infinite_mean_are_zero(random_generator):
    effects = resampling.draw_run_effects(np.array([[1.0, np.inf], [2.0, 3.0]]), 20, random_generator)
    assert (effects[:, 1] == 0).all()
    assert (effects[:, 0] != 0).any()
