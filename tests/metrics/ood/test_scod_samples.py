"""Losses of errors and out-of-distribution inputs together: areas against brute force, influences against differences."""

import numpy as np
import pytest
from tests.metrics.ood.sides import sides
from tests.refusals import refuses

from uqassay.metrics.ood import augrc, aurc, risk_at, scod_samples, two_samples, with_errors
from uqassay.metrics.risk import rank_errors

STATISTICS = {"aurc": aurc, "augrc": augrc, "risk": risk_at(0.7)}


def case(rng, m=30, n=20, levels=9, **options):
    is_out, s = sides(rng.integers(0, levels, m) / 2, rng.integers(1, levels + 2, n) / 2)
    errors = np.where(is_out, np.nan, rng.random(m + n) < 0.3)
    return scod_samples(is_out, errors, s, **options)


def curve_by_hand(samples, coverages):
    """Mean loss of all inputs that are kept, A(c), where every tie is kept in equal parts."""
    w = np.ones(samples.errors.size) if samples.mixed is None else samples.mixed
    w, s, loss = w / w.sum(), samples.samples.uncertainty, samples.losses
    found = []
    for c in coverages:
        kept = mass = 0.0
        for level in np.unique(s):
            here = s == level
            part = min(1.0, max(0.0, (c - kept) / w[here].sum()))
            mass += part * float((w[here] * loss[here]).sum())
            kept += float(w[here].sum())
        found.append(mass)
    return np.array(found)


@pytest.mark.parametrize("options", [{}, {"error_cost": 0.8, "share_out": 0.1}, {"error_cost": 0.0}])
def test_values_against_the_integral_of_the_curve(options, random_generator):
    samples = case(random_generator, **options)
    c = (np.arange(500) + 0.5) / 500
    mass = curve_by_hand(samples, c)
    assert samples.linearised(aurc).value == pytest.approx((mass / c).mean(), abs=1e-3)
    assert samples.linearised(augrc).value == pytest.approx(mass.mean(), abs=1e-5)
    assert samples.linearised(risk_at(0.7)).value == pytest.approx(curve_by_hand(samples, [0.7])[0] / 0.7)


def test_costs_and_shares(random_generator):
    samples = case(random_generator, error_cost=0.75)
    assert set(samples.losses[samples.samples.is_out]) == {0.25}
    assert set(samples.losses[~samples.samples.is_out]) == {0.0, 0.75}
    assert samples.share_out == 0.4
    assert samples.mixed is None
    mixed = case(random_generator, share_out=0.1).mixed
    assert mixed[30:].sum() / mixed.sum() == pytest.approx(0.1)
    weighted = case(random_generator, share_out=0.5, sample_weight=np.arange(1.0, 51.0)).mixed
    assert weighted[30:].sum() == pytest.approx(weighted[:30].sum())
    assert weighted[1] / weighted[0] == pytest.approx(2)


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("options", [{}, {"error_cost": 0.8, "share_out": 0.1}])
def test_influences_against_finite_differences(name, options, random_generator):
    """One instance gains weight and its sample keeps its own. At the threshold a risk has a corner, and no derivative."""
    samples = case(random_generator, levels=5, **options)
    n, found = 50, samples.linearised(STATISTICS[name])
    for row in range(n):
        values = []
        for sign in (1, -1):
            w = np.ones(n)
            w[row] += sign * 1e-6
            side = samples.samples.is_out == samples.samples.is_out[row]
            w[side] *= side.sum() / w[side].sum()
            two = two_samples(samples.samples.is_out, samples.samples.uncertainty, sample_weight=w)
            values.append(with_errors(two, samples.errors, **options).linearised(STATISTICS[name]).value)
        expected = (values[0] - values[1]) / 2e-6
        if name == "risk":  # the mean loss near the threshold is measured in a window
            assert found.influence[row] / n == pytest.approx(expected, abs=0.01)
        else:
            assert found.influence[row] / n == pytest.approx(expected, abs=1e-8)
    np.testing.assert_allclose(found.parts[0] + found.parts[1], found.influence)


@pytest.mark.parametrize("name", STATISTICS)
def test_no_order_is_beyond_the_extremes(name, random_generator):
    for error_cost in (0.0, 0.3, 0.5, 0.9, 1.0):
        best = worst = None
        for _ in range(20):
            samples = case(random_generator, error_cost=error_cost, share_out=0.3)
            low, high = samples.extremes(STATISTICS[name])
            best, worst = (low, high) if best is None else (best, worst)
            assert (low, high) == (best, worst)
            assert low - 1e-12 <= samples.linearised(STATISTICS[name]).value <= high + 1e-12
    is_out, s = sides(np.zeros(30), np.ones(20))
    perfect = scod_samples(is_out, np.zeros(50), s)
    assert perfect.linearised(STATISTICS[name]).value == pytest.approx(perfect.extremes(STATISTICS[name])[0])
    reverse = scod_samples(is_out, np.ones(50), -s, error_cost=0.2)
    assert reverse.linearised(STATISTICS[name]).value == pytest.approx(reverse.extremes(STATISTICS[name])[1])


def test_a_replaced_share_is_one_more_instance(random_generator):
    samples = case(random_generator)
    found = samples.contaminated(aurc, 0.1, out=False, wrong=True, first=True)
    loss, s = np.append(samples.losses, 0.5), np.append(samples.samples.uncertainty, -1.0)
    w = np.r_[np.full(30, 0.9), np.ones(20), 3.0]
    assert found == pytest.approx(aurc(rank_errors(loss, s, w)).value)
    assert samples.contaminated(aurc, 0.0, out=True, wrong=False, first=False) == pytest.approx(
        samples.linearised(aurc).value
    )
    assert samples.without_errors.losses[:30].max() == 0


def test_bad_input_is_refused():
    is_out, errors, s = [0, 0, 1], [0, 1, 0], [0.1, 0.2, 0.3]
    with refuses("error_cost", "range", got="got 2"):
        scod_samples(is_out, errors, s, error_cost=2)
    with refuses("share_out", "range", got="got 1"):
        scod_samples(is_out, errors, s, share_out=1)
    with refuses("errors", "mismatch", got="got 2, not 3"):
        scod_samples(is_out, [0, 1], s)
    with refuses("errors", "range", got="row 1 is 2"):
        scod_samples(is_out, [0, 2, 0], s)
    with refuses("errors", "finite"):
        scod_samples(is_out, [0, np.nan, 0], s)
    with refuses("is_out", "empty"):
        scod_samples([0, 0, 0], errors, s)
