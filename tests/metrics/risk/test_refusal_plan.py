"""Candidates of a certified refusal: their order, their promise, and counts at thresholds against brute force."""

import numpy as np
import pytest
from scipy import stats

from uqassay.metrics.certified_thresholds import plan_refusal, short_number
from uqassay.statistics.risk_bounds import bet_pvalues
from uqassay.statistics.units import make_units


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    scores = np.round(rng.random(400), 2)
    errors = (rng.random(400) < 0.4 * scores**2).astype(float)
    return errors, scores, np.arange(400) // 3


def plan(sample, *, groups=False, risk=0.08, n_other=400):
    errors, scores, codes = sample
    units = make_units(400, codes if groups else None, None)
    return plan_refusal(errors, scores, units, risk=risk, alpha=0.05, n_other=n_other, largest=3.0 if groups else 1.0)


@pytest.mark.parametrize("groups", [False, True])
def test_counts_and_pvalues_against_brute_force(sample, groups):
    errors, scores, codes = sample
    found = plan(sample, groups=groups)
    units = make_units(400, codes if groups else None, None)
    tested = found.test(errors, scores, units)
    kept = scores[:, np.newaxis] <= found.thresholds
    assert tested.kept == pytest.approx(kept.sum(axis=0))
    assert tested.errors == pytest.approx(errors @ kept)
    if groups:
        sums = [np.stack([x[codes == g].sum(axis=0) for g in range(134)]) for x in (kept * errors[:, np.newaxis], kept)]
        assert tested.pvalues == pytest.approx(bet_pvalues(*sums, 0.08, found.bets, 3.0))
    else:
        assert tested.pvalues == pytest.approx(stats.binom.cdf(tested.errors, tested.kept, 0.08))
    for at in (0, -1):
        high = found.upper_bound(at % found.thresholds.size, errors, scores, units)
        assert (high <= 0.08) == (tested.pvalues[at] <= 0.05)


@pytest.mark.parametrize("groups", [False, True])
def test_candidates_ascend_in_steps_to_keeping_everything(sample, groups):
    found = plan(sample, groups=groups)
    assert (np.diff(found.thresholds) > 0).all()
    assert found.thresholds[-1] == np.inf
    assert (np.diff(found.coverage) > 0).all()
    assert found.coverage.size <= 100
    assert found.coverage[-1] == 1.0
    assert (found.bets is not None) == groups


def test_the_first_candidate_is_the_one_of_greatest_power(sample):
    errors, scores, _ = sample
    found = plan(sample)
    power = {}
    for t in np.unique(scores):
        n, k = (scores <= t).sum(), errors[scores <= t].sum()
        counts = np.arange(n + 1)
        most = counts[stats.binom.cdf(counts, n, 0.08) <= 0.05]
        power[t] = stats.binom.cdf(most[-1], n, (k + 0.5) / (n + 1)) if most.size else 0.0
    first = max(t for t in power if t < found.thresholds[0])
    assert found.promise[1] == pytest.approx(power[first])
    assert power[first] > max(power.values()) - 0.02  # candidates are a hundredth of the instances apart
    likely = max(t for t in power if power[t] >= 0.5)
    assert found.promise[0] == pytest.approx((scores <= likely).mean(), abs=0.02)


def test_too_little_data_for_any_candidate(sample):
    found = plan(sample, n_other=10)
    assert found.promise == (0.0, 0.0)
    assert found.thresholds.size >= 1


def test_short_numbers_lie_strictly_between():
    rng = np.random.default_rng(1)
    for low, high in np.sort(rng.normal(size=(50, 2)) * 10.0 ** rng.integers(-9, 9, (50, 1)), axis=1):
        assert low < short_number(low, high) < high
    assert short_number(1.0, np.nextafter(1.0, 2.0)) == 1.0
    assert short_number(-np.inf, 1.0) == -np.inf
    assert -1.7e308 < short_number(-1.7e308, 1.7e308) < 1.7e308


def test_groups_needed_grow_as_the_evidence_shrinks(sample):
    errors, scores, codes = sample
    found = plan(sample, groups=True)
    units = make_units(400, codes, None)
    few, more = (found.groups_needed(e, scores, units) for e in (errors * 0, errors))
    assert few < more
    assert found.groups_needed(errors * 0 + 1, scores, units) is None
