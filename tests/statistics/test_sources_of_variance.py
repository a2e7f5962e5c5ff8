"""Variance components: against the analysis of variance, for ordinary inputs, plans; bias and coverage.

Run as a script, this file prints the table of docs/evidence-comparisons.md; a number is that of the data sets.
"""

import sys

import numpy as np
import pytest
from scipy import stats

from uqassay.errors import InputError
from uqassay.statistics import mean_estimate, paired_mean_test, variance_components
from uqassay.statistics.components import (
    bias_of_debiased,
    debiased_absolute,
    excess_scale,
    folded_mean,
    greatest_bias,
    variance_of_absolute,
    variance_of_debiased,
)


def crossed(rng, runs, n, *, sd=0.1, interaction=0.5, skewed=False, codes=None):
    """Effects of runs (sd), instances or groups (sd 1) and their interaction."""
    g = n if codes is None else codes.max() + 1
    instances = rng.exponential(size=g) - 1 if skewed else rng.normal(size=g)
    both = rng.normal(size=(runs, g))
    if codes is not None:
        instances, both = instances[codes], both[:, codes]
    return sd * rng.normal(size=(runs, 1)) + instances + interaction * both


def test_components_against_the_analysis_of_variance():
    y = crossed(np.random.default_rng(0), 6, 50)
    r, n = y.shape
    rows, columns, m = y.mean(axis=1), y.mean(axis=0), y.mean()
    ms_a, ms_b = n * rows.var(ddof=1), r * columns.var(ddof=1)
    ms_e = ((y - rows[:, np.newaxis] - columns + m) ** 2).sum() / ((r - 1) * (n - 1))
    found = variance_components(y)
    assert found.runs == pytest.approx((ms_a - ms_e) / n / r)
    assert found.instances == pytest.approx((ms_b - ms_e) / r / n)
    assert found.interaction == pytest.approx(ms_e / r / n)
    assert sum(share.share for share in found.shares.values()) == pytest.approx(1)


def test_interval_of_the_ratio_against_the_f_distribution():
    y = np.random.default_rng(1).normal(size=40) + 0.3 * np.random.default_rng(2).normal(size=(5, 1))  # no interaction
    found = variance_components(y)
    ratio = y.mean(axis=1).var(ddof=1) / 5 / (y.mean(axis=0).var(ddof=1) / 40)
    u = y.mean(axis=0) - y.mean()
    dof = 2 / (2 / 39 + max(stats.kurtosis(u), 0) / 40)
    low, high = (ratio / stats.f.ppf(p, 4, dof) for p in (0.975, 0.025))
    assert found.shares["runs"][1:] == pytest.approx((low / (1 + low), high / (1 + high)))


def test_half_width_is_that_of_the_mean():
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(20), rng.integers(1, 9, 20))
    y = crossed(rng, 4, codes.size, codes=codes, sd=0.5)
    z = crossed(rng, 3, codes.size, codes=codes, sd=0.5)
    for groups in (None, codes):
        one = mean_estimate(y, groups=groups)
        assert variance_components(y, groups=groups).half_width() == pytest.approx((one.high - one.low) / 2)
        pair = paired_mean_test(y, z, groups=groups).difference
        assert variance_components(y, z, groups=groups).half_width() == pytest.approx((pair.high - pair.low) / 2)


def test_plans_reach_their_goal():
    found = variance_components(crossed(np.random.default_rng(4), 5, 300))
    goal = 0.8 * found.half_width()
    more = found.for_half_width(goal)
    assert found.half_width(instances=more.instances) <= goal < found.half_width(instances=more.instances - 1)
    assert found.half_width(times_runs=more.runs[0] / 5) <= goal if np.isfinite(more.runs[0]) else True
    never = found.for_half_width(1e-9)
    assert np.isinf(never.instances)
    assert np.isinf(never.runs[0])
    assert found.to_show(0.5).instances < found.to_show(0.2).instances


def test_groups_are_the_instances():
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(40), 5)
    y = crossed(rng, 4, 200, codes=codes)
    whole, means = variance_components(y, groups=codes), variance_components(y[:, ::5])
    for name in ("runs", "instances", "interaction"):
        assert getattr(whole, name) == pytest.approx(getattr(means, name))
    assert whole.n_groups == 40
    assert whole.for_half_width(0.1).groups > 40


def test_one_run_shows_no_variance_between_runs():
    found = variance_components([0.1, 0.4, 0.2])
    assert np.isnan([found.runs, found.interaction, *found.shares["runs"]]).all()
    assert found.instances == pytest.approx(np.var([0.1, 0.4, 0.2], ddof=1) / 3)
    assert found.for_half_width(0.01).runs == ()
    assert any(note.code == "undefined" for note in found.notes)


def test_two_runs_say_that_they_say_little():
    found = variance_components(np.random.default_rng(6).normal(size=(2, 50)))
    (few,) = [note.text for note in found.notes if note.code == "few"]
    assert few == "2 runs say little: the variance of such means may be 0.2 to 1,018 times what they show"
    assert not [n for n in variance_components(np.random.default_rng(6).normal(size=(5, 50))).notes if n.code == "few"]


@pytest.mark.parametrize("values", [np.ones((3, 1)), np.full((2, 4), np.inf)])
def test_without_units_nothing_is_known(values):
    found = variance_components(values)
    assert np.isnan([found.runs, found.instances, found.half_width(), found.for_half_width(1.0).instances]).all()


def test_equal_values_have_no_shares():
    found = variance_components(np.ones((3, 5)))
    assert (found.runs, found.instances, found.interaction) == (0, 0, 0)
    assert np.isnan(found.shares["runs"].share)
    assert found.half_width() == 0


def test_bad_input_is_refused():
    y = np.random.default_rng(7).normal(size=(2, 5))
    with pytest.raises(InputError, match=r"^other: must have one value for each instance of values"):
        variance_components(y, y[:, :4])
    with pytest.raises(InputError, match=r"^half_width: must be positive"):
        variance_components(y).for_half_width(0)
    with pytest.raises(InputError, match=r"^difference: must not be 0"):
        variance_components(y).to_show(0)


# -- bias and coverage -------------------------------------------------------------------------------------------------


def worlds():
    """Name → runs and options of `crossed`."""
    sizes = np.maximum(1, np.round(60 * 0.9 ** np.arange(30))).astype(int)
    codes = np.repeat(np.arange(30), sizes)
    found = {}
    for runs in (2, 3, 5, 10):
        for n in (100, 300, 2000):
            found[f"{runs} runs, n = {n:,}"] = (runs, {"n": n, "sd": 0.1})
    found["5 runs, n = 300, no difference between runs"] = (5, {"n": 300, "sd": 0.0})
    found["5 runs, n = 300, runs of sd .5"] = (5, {"n": 300, "sd": 0.5})
    found["5 runs, n = 300, exponential instances"] = (5, {"n": 300, "sd": 0.1, "skewed": True})
    found["5 runs, 30 groups of 60·.9^i"] = (5, {"n": codes.size, "sd": 0.2, "codes": codes})
    return found


def measured(runs, options, *, n_samples, seed):
    """True share of the runs, mean ratios of the components to the true ones, and coverage of the shares' intervals."""
    rng, options = np.random.default_rng(seed), dict(options)
    n, sd, codes = options["n"], options["sd"], options.get("codes")
    units = n if codes is None else n**2 / (np.bincount(codes) ** 2).sum()
    truth = np.array([sd**2 / runs, 1 / units, 0.25 / units / runs])
    sums, covered = np.zeros(3), 0
    for _ in range(n_samples):
        found = variance_components(crossed(rng, runs, **options), groups=codes)
        sums += found.runs, found.instances, found.interaction
        _, low, high = found.shares["runs"]
        covered += low <= truth[0] / truth.sum() <= high
    with np.errstate(divide="ignore"):
        return truth[0] / truth.sum(), sums / n_samples / truth, covered / n_samples


@pytest.mark.parametrize("name", ["3 runs, n = 100", "5 runs, 30 groups of 60·.9^i"])
def test_components_have_little_bias_and_their_shares_cover(name):
    _, ratios, covered = measured(*worlds()[name], n_samples=60, seed=8)
    assert np.all(np.abs(ratios[1:] - 1) < 0.2)
    assert covered >= 0.95 - 4 * (0.95 * 0.05 / 150) ** 0.5


def print_table(n_samples=1000):
    """Print the table."""
    print("| runs and instances | true share of the runs | runs | instances | interaction | coverage of the share |")
    for name, (runs, options) in worlds().items():
        share, ratios, covered = measured(runs, options, n_samples=n_samples, seed=23)
        cells = ["–" if not np.isfinite(r) else f"{r:.2f}" for r in ratios]
        print(f"| {name} | {100 * share:.1f} |", " | ".join([*cells, f"{100 * covered:.1f}"]), "|", flush=True)


# Moments of folded and debiased absolute values, against simulation.

TRUE = np.array([0.0, 0.3, 1.0, 2.0, 3.0, 6.0])


@pytest.fixture(scope="module")
def draws():
    return TRUE + np.random.default_rng(0).standard_normal((400_000, TRUE.size))


def test_moments_against_simulation(draws):
    debiased = debiased_absolute(draws, np.ones(TRUE.size))
    np.testing.assert_allclose(np.abs(draws).mean(axis=0), folded_mean(TRUE, 1.0), atol=0.01)
    np.testing.assert_allclose(np.abs(draws).var(axis=0), variance_of_absolute(TRUE), atol=0.02)
    np.testing.assert_allclose(debiased.mean(axis=0) - TRUE, bias_of_debiased(TRUE), atol=0.01)
    np.testing.assert_allclose(debiased.var(axis=0), variance_of_debiased(TRUE), atol=0.02)


def test_bias_is_0_at_0_and_far_away():
    assert bias_of_debiased(np.array([0.0]))[0] == pytest.approx(0.0, abs=1e-12)
    assert bias_of_debiased(np.array([8.0]))[0] == pytest.approx(0.0, abs=1e-6)
    dense = np.linspace(0, 10, 10_001)
    bias = bias_of_debiased(dense)
    assert (bias <= 1e-12).all()
    for estimate in (0.0, 2.0, 3.5, 5.0, 7.0):
        near = bias[np.abs(dense - estimate) <= 2.0]
        assert greatest_bias(np.array([estimate]))[0] == pytest.approx(-near.min(), abs=1e-3) or estimate < 1


def test_values_scale_with_their_errors():
    values, errors = np.array([0.2, -1.0]), np.array([0.5, 0.5])
    np.testing.assert_allclose(debiased_absolute(10 * values, 10 * errors), 10 * debiased_absolute(values, errors))
    assert debiased_absolute(np.array([-0.3]), np.zeros(1)).tolist() == [0.3]


def test_scale_makes_the_mean_of_skewed_errors_0():
    rng = np.random.default_rng(1)
    counts = rng.binomial(10, 0.02, (100_000, 1)) / 10 - 0.02
    scale = excess_scale(counts)
    assert debiased_absolute(counts, np.sqrt((counts**2).mean(axis=0)), scale).mean() == pytest.approx(0.0, abs=1e-12)
    assert scale[0] < 0.95  # rare events have a smaller mean deviation than normal ones
    assert excess_scale(rng.standard_normal((200_000, 1)))[0] == pytest.approx(1.0, abs=0.01)
    assert excess_scale(np.zeros((5, 1))).tolist() == [0.0]


if __name__ == "__main__":
    print_table(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
