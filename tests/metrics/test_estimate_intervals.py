"""Intervals of the estimates: equal mass with any ties, equal width, and edges that are given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from uqassay.metrics.epistemic_gain import checked_edges, gain_bins, place_in_intervals

values = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=60).map(np.array)


def counts(estimates, edges):
    place, outside = place_in_intervals(estimates, edges)
    assert not outside.any()
    return np.bincount(place, minlength=len(edges) - 1)


def by_hand(value, edges):
    """Interval of a value as the docstring says it."""
    last = len(edges) - 2
    for m in range(last + 1):
        if edges[m] <= value < edges[m + 1] or (m == last and value == edges[m + 1]):
            return m
    raise AssertionError(value)


@settings(deadline=None, max_examples=80)
@given(estimates=values, bins=st.integers(1, 30), binning=st.sampled_from(["equal-mass", "equal-width"]))
def test_every_estimate_has_one_interval(estimates, bins, binning):
    edges = gain_bins(estimates, bins, binning)
    assert 1 <= len(edges) - 1 <= bins
    assert (np.diff(edges[:-1]) > 0).all()
    place, _ = place_in_intervals(estimates, edges)
    assert place.tolist() == [by_hand(value, edges) for value in estimates]
    np.testing.assert_array_equal(gain_bins(estimates[::-1], bins, binning), edges)
    np.testing.assert_array_equal(checked_edges(edges), edges)
    if binning == "equal-mass":
        assert (counts(estimates, edges) > 0).all()


def test_equal_mass_without_ties_divides_evenly():
    rng = np.random.default_rng(0)
    for n, bins in ((200, 20), (203, 20), (5, 20), (1, 20)):
        estimates = rng.random(n)
        found = counts(estimates, gain_bins(estimates, bins))
        assert found.max() - found.min() <= 1
        assert len(found) == min(n, bins)


def test_mostly_tied_estimates():
    """The 90 % of equal estimates share one interval, wherever they lie."""
    rest = np.linspace(0.1, 0.9, 10)
    low, high = np.concatenate([np.zeros(90), rest]), np.concatenate([np.ones(90), rest])
    assert counts(low, gain_bins(low)).tolist() == [90, 5, 5]
    assert counts(high, gain_bins(high)).tolist() == [5, 5, 90]
    assert gain_bins(high)[-2:].tolist() == [1.0, 1.0]


def test_one_value_is_one_interval():
    assert gain_bins([0.3] * 5).tolist() == [0.3, 0.3]
    assert gain_bins([0.3] * 5, 4, "equal-width").tolist() == [0.3, 0.3]
    assert counts(np.array([0.3]), np.array([0.3, 0.3])).tolist() == [1]


def test_equal_width_covers_the_range():
    edges = gain_bins([-0.2, 0.0, 0.8], 5, "equal-width")
    np.testing.assert_allclose(edges, [-0.2, 0.0, 0.2, 0.4, 0.6, 0.8])
    tight = gain_bins([1.0, np.nextafter(1.0, 2)], 20, "equal-width")
    assert counts(np.array([1.0, np.nextafter(1.0, 2)]), tight).sum() == 2


def test_outside_values_are_in_the_outer_intervals():
    place, outside = place_in_intervals(np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), np.array([0.0, 0.5, 1.0]))
    assert place.tolist() == [0, 0, 1, 1, 1]
    assert outside.tolist() == [True, False, False, False, True]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_odd_arrays(dtype):
    estimates = np.arange(40).astype(dtype)[::-2]
    estimates.flags.writeable = False
    assert len(gain_bins(estimates, 4)) == 5


def test_bad_input():
    for bins in (0, 2.5, True, None, 10**6):
        with refuses("bins", "range" if bins in (0, 10**6) else "type"):
            gain_bins([0.1, 0.2], bins)
    with refuses("binning", "choice"):
        gain_bins([0.1, 0.2], 2, "width")
    with refuses("epistemic", "finite", got="row 1"):
        gain_bins([0.1, np.inf])
    with refuses("epistemic", "finite"):
        gain_bins([0.1, np.nan])
    for edges in ([0.5], [0.5, 0.1], [0.0, 0.0, 1.0], [0.0, np.inf, np.inf]):
        with refuses("bins", "range"):
            checked_edges(edges)
    assert checked_edges([-np.inf, 0.5, np.inf]).size == 3
