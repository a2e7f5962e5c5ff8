"""Sums over parts that several differences share, against the difference of the whole statistics."""

from dataclasses import replace

import numpy as np
import pytest

from uqassay.statistics.auc import IMAGINARY, auc_linearised
from uqassay.statistics.linearised import (
    AveragedStatistic,
    Linearised,
    combined,
    spread_of,
    spread_of_difference,
    sums_of_parts,
    uneven_dof,
    variance_of_alike,
)
from uqassay.statistics.units import make_units, spread_of_mean


def statistics(rng, n=200):
    errors = [rng.random(n) < rate for rate in (0.2, 0.4)]
    scores = [e + rng.normal(size=n) for e in errors]
    scores[1] = scores[1].round(1)  # ties
    return [
        auc_linearised(e.astype(float), s, None, None, imaginary=IMAGINARY) for e, s in zip(errors, scores, strict=True)
    ]


@pytest.mark.parametrize("options", [{}, {"groups": np.arange(200) // 3}, {"sample_weight": 1.0 + np.arange(200) % 4}])
def test_a_difference_from_shared_sums_equals_the_difference_of_the_statistics(random_generator, options):
    a, b = statistics(random_generator)
    units = make_units(200, options.get("groups"), options.get("sample_weight"))
    two, one = AveragedStatistic.of([a, replace(a, value=a.value + 0.1)], units), AveragedStatistic.of([b], units)
    assert bool(one.sums) == (not options)  # groups and weights have factors of the whole difference
    found = spread_of_difference(two, one, units)
    assert found == spread_of(two.whole - b, units)


def test_statistics_with_other_numbers_of_parts_are_subtracted_whole(random_generator):
    a, _ = statistics(random_generator)
    x = random_generator.normal(size=200)
    b = Linearised(float(x.mean()), x - x.mean())
    units = make_units(200, None, None)
    assert spread_of_difference(AveragedStatistic.of(a, units), AveragedStatistic.of(b, units), units) == spread_of(
        a - b, units
    )


def test_two_samples_against_welch():
    x, y = np.array([0.1, 0.5, 0.4, 0.9]), np.array([1.0, 1.4, 0.7])
    parts = np.concatenate([x - x.mean(), 0 * y]) * 7 / 4, np.concatenate([0 * x, y - y.mean()]) * 7 / 3
    inside = np.arange(7) < 4, np.arange(7) >= 4
    statistic = Linearised(x.mean() + y.mean(), parts[0] + parts[1], parts=parts, inside=inside)
    _, variance, dof = combined(sums_of_parts(statistic, make_units(7, None, None)), 0.0)
    own = x.var(ddof=1) / 4, y.var(ddof=1) / 3
    assert variance == pytest.approx(sum(own))
    assert dof == pytest.approx(sum(own) ** 2 / (own[0] ** 2 / 3 + own[1] ** 2 / 2))


@pytest.mark.parametrize("scale", [1.0, 1e-100])
def test_variance_of_alike_against_a_mean_and_its_fourth_moment(random_generator, scale):
    x = random_generator.exponential(size=50) ** 4 * scale
    variance, dof = variance_of_alike(x - x.mean(), uneven=True)
    spread = spread_of_mean(x - x.mean(), make_units(50, None, None))
    np.testing.assert_allclose([variance**0.5, dof], [spread.standard_error, uneven_dof(x - x.mean())], rtol=1e-12)
    assert dof < 40
    assert variance_of_alike(x - x.mean(), uneven=False) == (variance, 49.0)
    assert variance_of_alike(np.zeros(3), uneven=True) == (0.0, 2.0)
