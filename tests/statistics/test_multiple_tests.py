"""Adjusted p-values: against brute force, SciPy and the step-down and step-up procedures."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.refusals import refuses

from uqassay.statistics import (
    benjamini_hochberg,
    holm,
)

PVALUES = hnp.arrays(np.float64, st.integers(0, 12), elements=st.one_of(st.floats(0, 1), st.just(np.nan)))


def brute_force_holm(pvalues):
    """The smallest level at which the step-down procedure rejects, hypothesis by hypothesis."""
    defined = sorted((p, i) for i, p in enumerate(pvalues) if not np.isnan(p))
    adjusted, highest = [np.nan] * len(pvalues), 0.0
    for rank, (p, i) in enumerate(defined):
        highest = max(highest, (len(defined) - rank) * p)
        adjusted[i] = min(1.0, highest)
    return adjusted


@given(PVALUES)
@settings(deadline=None, max_examples=100)
def test_holm_against_brute_force(pvalues):
    adjusted = holm(pvalues)
    np.testing.assert_allclose(adjusted, brute_force_holm(pvalues), rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(adjusted), np.isnan(pvalues))
    assert (adjusted >= pvalues)[~np.isnan(pvalues)].all()


@given(PVALUES, st.floats(0.001, 0.999))
@settings(deadline=None, max_examples=100)
def test_holm_agrees_with_the_step_down_procedure(pvalues, alpha):
    tests = np.sort(pvalues[~np.isnan(pvalues)])
    rejected = 0
    while rejected < tests.size and tests[rejected] * (tests.size - rejected) <= alpha:
        rejected += 1
    assert np.sum(holm(pvalues) <= alpha) == rejected


@given(PVALUES)
@settings(deadline=None, max_examples=100)
def test_benjamini_hochberg_against_scipy(pvalues):
    defined = ~np.isnan(pvalues)
    adjusted = benjamini_hochberg(pvalues)
    np.testing.assert_array_equal(np.isnan(adjusted), ~defined)
    if defined.any():
        np.testing.assert_allclose(adjusted[defined], scipy.stats.false_discovery_control(pvalues[defined]), rtol=1e-12)


@given(PVALUES, st.floats(0.001, 0.999))
@settings(deadline=None, max_examples=100)
def test_benjamini_hochberg_agrees_with_the_step_up_procedure(pvalues, alpha):
    tests = np.sort(pvalues[~np.isnan(pvalues)])
    passed = [k for k in range(1, tests.size + 1) if tests[k - 1] * tests.size / k <= alpha]
    assert np.sum(benjamini_hochberg(pvalues) <= alpha) == max(passed, default=0)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_adjustments_keep_shapes_and_refuse_invalid_pvalues(adjust, random_generator):
    pvalues = random_generator.random((3, 4))
    np.testing.assert_array_equal(adjust(pvalues), adjust(pvalues.ravel()).reshape(3, 4))
    assert adjust(0.3).shape == ()
    assert float(adjust(0.3)) == 0.3
    assert adjust([]).shape == (0,)
    with refuses("pvalues", "range", got=r"index \(1,\) has 1.5"):
        adjust([0.5, 1.5])
