"""Epistemic correlation: Spearman's ρ of estimates and gains, with its notes."""

import numpy as np
import pytest
from scipy import stats
from tests.metrics.gain_worlds import zero_one
from tests.notes import codes, said
from tests.refusals import refuses

from uqassay.metrics import epistemic_correlation_score
from uqassay.statistics import spearman_estimate


def test_value_against_scipy():
    drawn = zero_one(np.random.default_rng(0), 3000)
    found = epistemic_correlation_score(drawn.gain, drawn.epistemic)
    assert float(found) == pytest.approx(stats.spearmanr(drawn.epistemic, drawn.gain).statistic)
    assert found.low > 0  # more uncertain cases gain more
    other = spearman_estimate(drawn.epistemic, drawn.gain)
    assert (found.low, found.high) == (other.low, other.high)


def test_shuffled_estimates_have_correlation_0():
    rng = np.random.default_rng(1)
    drawn = zero_one(rng, 3000)
    values = [float(epistemic_correlation_score(drawn.gain, rng.permutation(drawn.epistemic))) for _ in range(100)]
    assert abs(np.mean(values)) < 4 * np.std(values) / 10


def test_greatest_value_against_theory():
    """√(3 p (1 − p)) where a share p of the gains is 1 and they are those of the greatest estimates."""
    gains = np.zeros(20_000)
    gains[-1000:] = 1.0
    assert float(epistemic_correlation_score(gains, np.arange(20_000))) == pytest.approx(
        np.sqrt(3 * 0.05 * 0.95), abs=1e-4
    )


def test_any_monotone_map_of_the_estimates_changes_nothing():
    drawn = zero_one(np.random.default_rng(2), 500, groups=20)
    a = epistemic_correlation_score(drawn.gain, drawn.epistemic, groups=drawn.groups)
    b = epistemic_correlation_score(drawn.gain, np.sqrt(drawn.epistemic) - 3, groups=drawn.groups)
    assert (float(a), a.low, a.high) == (float(b), b.low, b.high)
    alone = epistemic_correlation_score(drawn.gain, drawn.epistemic)
    assert (a.low, a.high) != (alone.low, alone.high)
    assert "groups" in codes(a)


def test_constant_input_is_nan_with_a_reason():
    for gains, estimates, name in (([0, 0, 0], [1, 2, 3], "gain"), ([0, 1, 0], [2, 2, 2], "epistemic")):
        found = epistemic_correlation_score(gains, estimates)
        assert np.isnan([float(found), found.low, found.high]).all()
        assert codes(found) == ["undefined"]
        assert name in said(found)


def test_bad_input():
    with refuses("gain", "mismatch"):
        epistemic_correlation_score([0, 1, 0], [0.1, 0.2])
    with refuses("epistemic", "finite"):
        epistemic_correlation_score([0, 1], [0.1, np.nan])
    with refuses("level", "range"):
        epistemic_correlation_score([0, 1], [0.1, 0.2], level=1)
