"""The smallest gain of a refusal that could have been shown: against simulations, and at its edges."""

import numpy as np
import pytest

from uqassay.metrics import selective_gain
from uqassay.metrics.risk import detectable_gain, independent_instances
from uqassay.statistics import proportion_estimate

# n, error rate, share kept
CELLS = [(200, 0.1, 0.9), (1000, 0.1, 0.9), (300, 0.3, 0.8), (1000, 0.02, 0.9), (2000, 0.05, 0.5), (2000, 0.05, 0.95)]


def share_shown(n, rate, coverage, *, n_samples, seed):
    """How often the interval of a gain of just this size lies above 0."""
    rng, hits = np.random.default_rng(seed), 0
    gain, n_kept = detectable_gain(rate, coverage, n), round(coverage * n)
    kept = np.arange(n) < n_kept
    chance = np.where(kept, rate - gain, rate + gain * coverage / (1 - coverage))
    for _ in range(n_samples):
        errors = rng.random(n) < chance
        hits += selective_gain(errors, rng.random(n) + ~kept, coverage=n_kept / n).gain.low > 0
    return hits / n_samples


def print_shown(n_samples):
    """The table of the guide."""
    for n, rate, coverage in CELLS:
        share, gain = share_shown(n, rate, coverage, n_samples=n_samples, seed=4), detectable_gain(rate, coverage, n)
        cells = (
            f"{n:,}",
            f"{100 * rate:g} %",
            f"{100 - 100 * coverage:.3g} %",
            f"{100 * gain:.2g}",
            f"{100 * share:.0f}",
        )
        print("|", " | ".join(cells), "|")


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS[:3])
def test_a_gain_of_this_size_is_shown_with_about_the_power(cell):
    assert 0.68 < share_shown(*cell, n_samples=250, seed=1) < 0.9


def test_more_instances_a_lower_level_and_less_power_show_smaller_gains():
    gain = detectable_gain(0.1, 0.9, 1000)
    assert detectable_gain(0.1, 0.9, 4000) < gain < detectable_gain(0.1, 0.9, 500)
    assert detectable_gain(0.1, 0.9, 1000, level=0.8) < gain < detectable_gain(0.1, 0.9, 1000, level=0.999)
    assert detectable_gain(0.1, 0.9, 1000, power=0.5) < gain
    assert 0 < gain < 0.1


@pytest.mark.parametrize(("rate", "coverage", "n"), [(0.0, 0.9, 1000), (1.0, 0.9, 1000), (0.5, 0.5, 2), (0.1, 0.9, 1)])
def test_where_nothing_can_be_shown(rate, coverage, n):
    assert detectable_gain(rate, coverage, n) == np.inf


@pytest.mark.parametrize(("wrong", "n"), [(0, 40), (3, 50), (90, 100), (700, 10_000)])
def test_independent_instances_undo_the_interval(wrong, n):
    every = proportion_estimate(np.arange(n) < wrong)
    found = independent_instances(float(every), every.low, every.high, level=0.95, most=10 * n)
    assert found == pytest.approx(n, rel=0.06)


def test_groups_count_as_fewer_instances_and_no_width_as_all():
    values, groups = np.repeat(np.arange(60) % 4 == 0, 5), np.repeat(np.arange(60), 5)
    every = proportion_estimate(values, groups=groups)
    assert 40 < independent_instances(float(every), every.low, every.high, level=0.95, most=300) < 80
    assert independent_instances(0.1, 0.1, 0.1, level=0.95, most=300) == 300
