"""Parts of the EECE: mean gains with intervals, and the unbiased square, against plain loops over pairs."""

import itertools

import numpy as np
import pytest

from uqassay.metrics.epistemic_gain import debiased_square, epistemic_calibration_error, mapped_calibration_error
from uqassay.statistics.units import make_units


@pytest.mark.parametrize("grouped", [False, True])
def test_debiased_square_against_pairs_of_instances(grouped):
    g = np.random.default_rng(1)
    deviation, place = g.normal(size=24), np.sort(g.integers(0, 3, 24))
    groups = g.integers(0, 8, 24) if grouped else np.arange(24)
    expected = 0.0
    for m in range(3):
        rows = np.flatnonzero(place == m)
        pairs = [deviation[i] * deviation[j] for i, j in itertools.permutations(rows, 2) if groups[i] != groups[j]]
        expected += len(rows) / 24 * np.mean(pairs)
    units = make_units(24, groups if grouped else None, None)
    assert debiased_square(deviation, place, units) == pytest.approx(expected, abs=1e-12)


def test_debiased_square_has_no_bias_over_all_outcomes():
    # two bins of two gains in {0, 1} with P(1) = .3 and .8; estimates .1 and .9
    place, estimate, rate = np.array([0, 0, 1, 1]), np.array([0.1, 0.1, 0.9, 0.9]), np.array([0.3, 0.3, 0.8, 0.8])
    mean = 0.0
    for outcome in itertools.product((0.0, 1.0), repeat=4):
        gain = np.array(outcome)
        chance = np.where(gain == 1, rate, 1 - rate).prod()
        mean += chance * debiased_square(gain - estimate, place, make_units(4, None, None))
    assert mean == pytest.approx(((rate - estimate) ** 2).mean(), abs=1e-12)


def test_mapped_estimates_that_are_all_equal_keep_the_intervals():
    g = np.random.default_rng(2)
    estimate = g.random(400)
    gain = (g.random(400) < estimate).astype(float)
    raw = epistemic_calibration_error(gain, estimate, bins=4)
    found = mapped_calibration_error(gain, np.full(400, 0.5), estimate, edges=raw.edges)
    np.testing.assert_array_equal(found.count, raw.count)
    np.testing.assert_allclose(found.mean_gain, raw.mean_gain)
    assert float(found.error) == pytest.approx(np.abs(raw.mean_gain - 0.5).mean())
    same = mapped_calibration_error(gain, estimate, estimate, edges=raw.edges)
    assert float(same.error) == float(raw.error)
    assert same.pvalue == raw.pvalue
