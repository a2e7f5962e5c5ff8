"""The smallest difference that could have been shown: against the noncentral t, its guards, and ordinary inputs."""

import numpy as np
import pytest
from scipy import stats

from uqassay.errors import InputError
from uqassay.statistics import DetectableDifference, MeanLines, detectable_difference


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    common = rng.normal(size=300)
    return common + rng.normal(size=300), common + rng.normal(size=300)


def test_difference_against_the_power_of_scipy(pair):
    a, b = pair
    d = a - b
    found = detectable_difference(a, b)
    error, skewness = d.std(ddof=1) / 300**0.5, float(stats.skew(d)) / 300**0.5
    assert abs(skewness) < 0.02  # so that Student's and Hall's thresholds agree
    q = stats.t.ppf(0.975, 299)
    assert stats.nct.sf(q, 299, found.difference / error) == pytest.approx(0.8, abs=0.02)
    assert (found.power, found.level, found.observed) == (0.8, 0.95, pytest.approx(d.mean()))


def test_it_does_not_depend_on_the_observed_difference(pair):
    a, b = pair
    found = [detectable_difference(a + shift, b).difference for shift in (0.0, 1.0, -3.0)]
    np.testing.assert_allclose(found, found[0])


def test_as_many_instances_as_needed_show_the_observed_difference():
    rng = np.random.default_rng(1)
    d = rng.normal(size=400)
    d = (d - d.mean()) / d.std(ddof=1) + 0.1
    found = detectable_difference(d, np.zeros(400))
    n = int(found.instances)
    assert n == pytest.approx((2.8 / 0.1) ** 2, rel=0.02)
    q = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(q, n - 1, 0.1 * n**0.5 / d.std(ddof=1))
    assert power == pytest.approx(0.8, abs=0.01)
    assert np.isnan(found.groups)
    assert np.isnan(found.times_runs)
    assert detectable_difference(d + 1, np.zeros(400)).instances == 400  # shown already


def test_bound_raises_it_to_what_unseen_losses_leave(pair):
    a, b = pair
    without, low, high = (detectable_difference(a, b, bound=bound).difference for bound in (None, 1.0, 36.0))
    assert low == without < high
    assert high > 36 * (0.05 ** (-1 / 300) - 1)
    assert np.isinf(detectable_difference(a, b, bound=np.inf).difference)
    assert np.isinf(detectable_difference(a, b, bound=np.inf).instances)


def test_groups_and_runs():
    rng = np.random.default_rng(2)
    effect = rng.normal(size=30)[np.repeat(np.arange(30), 10)]
    a, b = effect + rng.normal(size=300), np.zeros(300)
    alone, grouped = detectable_difference(a, b), detectable_difference(a, b, groups=np.repeat(np.arange(30), 10))
    assert grouped.difference > 1.5 * alone.difference
    assert grouped.groups >= 30
    runs = a + 0.3 * rng.normal(size=(3, 1))
    found = detectable_difference(runs + 0.05, runs[::-1])
    assert found.times_runs > 1
    assert found.difference > alone.difference


def test_levels_of_several_models():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 100))
    lines = MeanLines({name: (v,) for name, v in zip("abc", x, strict=True)})
    options = {"bounds": np.zeros(2), "extra": np.zeros(2), "plans": False}
    found = lines.detectable((1.0,), ("a", "b"), "c", alphas=[0.05, 0.01], **options)
    assert found[0].difference == pytest.approx(detectable_difference(x[0], x[2]).difference)
    assert found[1].difference == pytest.approx(detectable_difference(x[1], x[2], level=0.99).difference)
    assert np.isnan(found[0].instances)


@pytest.mark.parametrize(("a", "b"), [([1.0], [2.0]), ([np.inf, 1.0, 2.0], [0.0, 1.0, 3.0])])
def test_without_a_test_nothing_is_known(a, b):
    found = detectable_difference(a, b)
    assert isinstance(found, DetectableDifference)
    assert np.isnan([found.difference, found.instances]).all()


def test_equal_differences_have_no_spread():
    found = detectable_difference([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    assert (found.difference, found.instances) == (0.0, 3.0)


@pytest.mark.parametrize(
    ("options", "match"), [({"power": 1.0}, "power"), ({"level": 2}, "level"), ({"bound": -1}, "bound")]
)
def test_bad_options_are_refused(options, match):
    with pytest.raises(InputError, match=f"^{match}: "):
        detectable_difference([1.0, 2.0], [2.0, 1.0], **options)
