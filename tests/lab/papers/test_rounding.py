"""Intervals of rounded numbers, against brute force and against data that were rounded on purpose."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from uqassay.lab.papers.rounding import (
    Rounded,
    common_line,
    implied_share,
    mixture_mean,
    mixture_sd,
    rank_bounds,
    sd_bounds,
)


def rounded(value: float, decimals: int = 3) -> Rounded:
    return Rounded.read(f"{value:.{decimals}f}")


def covers(interval: Rounded, value: float) -> bool:
    return interval.low - 1e-9 <= value <= interval.high + 1e-9


@pytest.mark.parametrize(("text", "half"), [("0.409", 0.0005), ("83.5", 0.05), ("0.00007", 5e-6), ("2", 0.5)])
def test_half_a_unit_of_the_last_printed_place(text, half):
    number = Rounded.read(text)
    assert number.value == float(text)
    np.testing.assert_allclose([number.half, number.high - number.value], half, rtol=1e-9)


def test_nothing_printed_is_nan():
    assert all(math.isnan(end) for end in (Rounded.read("").value, Rounded.read("").low, Rounded.read("").high))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_intervals_cover_what_was_rounded_against_theory(seed):
    rng = np.random.default_rng(seed)
    kl, ns = rng.gamma(0.5, 1.0, 400), rng.gamma(0.7, 0.5, 400)
    correct = rng.random(400) < rng.uniform(0.3, 0.95)
    share = Rounded(correct.mean(), correct.mean(), correct.mean())
    means = rounded(kl[correct].mean()), rounded(kl[~correct].mean())
    sds = rounded(kl[correct].std()), rounded(kl[~correct].std())
    assert covers(mixture_mean(share, *means), kl.mean())
    assert covers(mixture_sd(share, means, sds), kl.std())
    assert covers(sd_bounds(rounded(kl.std()), rounded(0.3 * ns.std())), (kl + 0.3 * ns).std())
    implied = implied_share(rounded(kl.mean()), *means)
    assert implied is None or covers(implied, correct.mean())


def test_mixture_sd_against_brute_force():
    share = Rounded(0.5, 0.2, 0.8)  # wide on purpose: the greatest variance lies inside the range
    means, sds = (Rounded(0.0, -0.1, 0.1), Rounded(2.0, 1.9, 2.1)), (Rounded(0.5, 0.4, 0.6), Rounded(0.6, 0.5, 0.7))
    grid = np.array(
        [
            math.sqrt(s * a * a + (1 - s) * b * b + s * (1 - s) * g * g)
            for s in np.linspace(0.2, 0.8, 121)
            for a in (0.4, 0.6)
            for b in (0.5, 0.7)
            for g in (1.8, 2.2)
        ]
    )
    found = mixture_sd(share, means, sds)
    np.testing.assert_allclose(found.low, grid.min(), rtol=1e-9)
    np.testing.assert_allclose(found.high, grid.max(), rtol=1e-3)
    assert found.high >= grid.max()


def test_no_share_is_implied_by_equal_parts():
    assert implied_share(Rounded.read("1.609"), Rounded.read("1.609"), Rounded.read("1.610")) is None


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_common_line_against_linear_programming(seed):
    rng = np.random.default_rng(seed)
    tradeoffs = np.round(np.linspace(0.1, 1.0, 10), 1)
    intercept, slope = rng.uniform(0, 1, 2)
    totals = [rounded(intercept + t * slope) for t in tradeoffs]
    line = common_line(tradeoffs, totals)
    assert all(line.fits)
    a = np.column_stack([np.ones(10), tradeoffs])
    bounds = np.concatenate([[e.high for e in totals], [-e.low for e in totals]])
    for tradeoff in (0.3, 1.0):
        ends = [
            sign * linprog([sign, sign * tradeoff], np.vstack([a, -a]), bounds, bounds=(None, None)).fun
            for sign in (1, -1)
        ]
        np.testing.assert_allclose([line.at(tradeoff).low, line.at(tradeoff).high], ends, atol=1e-7)


def test_common_line_leaves_out_the_fewest_points():
    tradeoffs = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    totals = [rounded(0.4 + 0.009 * t) for t in tradeoffs]
    totals[1] = totals[4] = Rounded.read("0.309")
    line = common_line(tradeoffs, totals, slope=Rounded.read("0.009"))
    assert line.fits == (True, False, True, True, False, True)
    assert np.all((line.corners[:, 1] > 0.0084) & (line.corners[:, 1] < 0.0096))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 10**6))
def test_rank_bounds_with_ties_against_brute_force(values, seed):
    totals = [Rounded(v / 10, v / 10 - 0.15, v / 10 + 0.15) for v in values]
    rng = np.random.default_rng(seed)
    bounds = rank_bounds(totals)
    for _ in range(50):
        drawn = np.array([rng.uniform(t.low, t.high) for t in totals])
        ranks = 1 + (drawn[None, :] < drawn[:, None]).sum(axis=1)
        assert all(b.low <= rank <= b.high for b, rank in zip(bounds, ranks, strict=True))
    for bound, total in zip(bounds, totals, strict=True):
        assert bound.low == 1 + sum(other.high < total.low - 1e-9 for other in totals)
        assert bound.value == 1 + sum(other.value < total.value for other in totals)


def test_rank_of_an_unknown_total_is_nan():
    unknown, known = rank_bounds([Rounded(np.nan, np.nan, np.nan), Rounded.read("0.1")])
    assert math.isnan(unknown.value)
    assert (known.low, known.high) == (1, 2)
