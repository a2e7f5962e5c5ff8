"""Wilson intervals: closed form, coverage, groups and runs."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.notes import texts
from tests.refusals import refuses

from uqassay.statistics import mean_estimate, proportion_estimate


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (930, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_against_scipy(successes, n, level):
    found = proportion_estimate(np.arange(n) < successes, level=level)
    expected = binomtest(successes, n).proportion_ci(level, method="wilson")
    assert float(found) == successes / n
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.93])
@pytest.mark.parametrize("n", [30, 200])
def test_coverage(p, n, random_generator):
    samples = random_generator.random((1500, n)) < p
    found = [proportion_estimate(s) for s in samples]
    covered = np.mean([e.low <= p <= e.high for e in found])
    assert 0.93 <= covered <= 0.985  # discrete: Wilson's own coverage swings about 0.95


def test_coverage_with_groups(random_generator):
    # a group's accuracy varies: Beta(18, 2) around 0.9
    covered = []
    for _ in range(1000):
        share = random_generator.beta(9, 1, 40)
        values = random_generator.random((40, 12)) < share[:, None]
        e = proportion_estimate(values.ravel(), groups=np.repeat(np.arange(40), 12))
        covered.append(e.low <= 0.9 <= e.high)
    assert 0.92 <= np.mean(covered) <= 0.975


def test_groups_of_copies_count_once(random_generator):
    values = (random_generator.random(60) < 0.8).astype(float)
    copied = proportion_estimate(np.repeat(values, 5), groups=np.repeat(np.arange(60), 5))
    t = mean_estimate(values)
    # the same effective size, up to n against n − 1 and the t quantile
    plain = proportion_estimate(values)
    assert copied.high - copied.low == pytest.approx(plain.high - plain.low, rel=0.05)
    assert float(copied) == pytest.approx(float(t))


def test_runs_widen_the_interval(random_generator):
    one = random_generator.random(300) < 0.8
    runs = np.stack([random_generator.random(300) < p for p in (0.6, 0.8, 0.95)])
    assert np.ptp([proportion_estimate(runs).low, proportion_estimate(runs).high]) > 2 * np.ptp(
        [proportion_estimate(one).low, proportion_estimate(one).high]
    )


def test_edge_cases():
    assert np.isnan(proportion_estimate([1.0]).low)
    assert texts(proportion_estimate([1.0])) == ["1 instance: no interval"]
    perfect = proportion_estimate([1, 1, 1, 1], groups=[0, 0, 1, 1])
    assert perfect.high == 1.0
    assert perfect.low < proportion_estimate([1, 1, 1, 1]).low
    with refuses("values", "range", got=r"index \(0, 1\) is 2"):
        proportion_estimate([1, 2])
