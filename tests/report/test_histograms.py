"""Null draws as bars: no draw is lost, and the coloured bars make the p-value."""

import numpy as np
import pytest

from uqassay.report.figures.calibration import null_histogram


@pytest.mark.parametrize(
    ("null", "statistic"),
    [
        (np.random.default_rng(0).gamma(2.0, size=199), 2.5),
        (np.random.default_rng(1).integers(0, 5, 99) / 40, 2 / 40),  # ties with the statistic
        (np.full(99, 0.25), 0.25),
        (np.zeros(99), 0.0),
        (np.zeros(99), 0.3),
        (np.r_[np.linspace(-0.01, 0.02, 98), 5.0], -0.004),  # one far off
        (np.array([0.1]), 0.2),
        (np.r_[np.linspace(0, 1, 97), np.inf, np.inf], 0.5),
        (np.linspace(0, 1, 99), np.inf),
        (np.linspace(0, 1, 99), np.nan),
    ],
)
def test_bars_of_the_null_against_brute_force(null, statistic):
    bars = null_histogram(null, statistic)
    finite = null[np.isfinite(null)]
    assert bars["infinite"] == np.isinf(null).sum()
    assert bars["reach"] == sum(x >= statistic for x in null)
    assert sum(bars["counts"]) == len(finite)
    assert len(bars["counts"]) <= 42
    ends = bars["start"] + bars["width"] * np.arange(len(bars["counts"]) + 1)
    assert ends[0] <= finite.min() + 1e-9
    assert ends[-1] >= finite.max() - 1e-9
    if np.isfinite(statistic):
        reached = sum(c for x, c in zip(ends, bars["counts"], strict=False) if x > statistic - bars["width"] / 2)
        assert reached == sum(x >= statistic for x in finite)


def test_no_bars_without_finite_draws():
    bars = null_histogram(np.full(9, np.inf), np.inf)
    assert bars == {"start": None, "width": None, "counts": [], "infinite": 9, "reach": 9}
