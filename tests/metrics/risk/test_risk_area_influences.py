"""Influences on the areas under risk-coverage curves against finite differences; training runs."""

import numpy as np
import pytest
from tests.metrics.risk.test_risk_areas import random_case
from tests.notes import said

from uqassay.metrics.risk import (
    area_estimate,
    augrc_linearised,
    aurc,
    aurc_trapezoid,
    e_aurc,
    prediction_rejection,
    rank_errors,
    small_sample_ratio,
)


def aurc_linearised(errors, uncertainty, weights=None):
    return aurc(rank_errors(errors, uncertainty, weights))


def e_aurc_linearised(errors, uncertainty, weights=None):
    return e_aurc(rank_errors(errors, uncertainty, weights))


def selective_ratio(errors, uncertainty, weights=None):
    return small_sample_ratio(rank_errors(errors, uncertainty, weights), "selective")


def generalised_ratio(errors, uncertainty, weights=None):
    return prediction_rejection(rank_errors(errors, uncertainty, weights), "generalised")


def aurc_by_trapezoids(errors, uncertainty, weights=None):
    return aurc_trapezoid(rank_errors(errors, uncertainty, weights))


def e_aurc_by_trapezoids(errors, uncertainty, weights=None):
    return e_aurc(rank_errors(errors, uncertainty, weights), "trapezoid")


EXACT = (aurc_linearised, e_aurc_linearised, augrc_linearised, generalised_ratio, selective_ratio)
KERNELS = (*EXACT, aurc_by_trapezoids, e_aurc_by_trapezoids)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("levels", [4, 10**6])
@pytest.mark.parametrize("weighted", [False, True])
def test_influence_against_finite_differences_of_the_weights(kernel, soft, levels, weighted):
    errors, uncertainty, weights = random_case(4, levels=levels, soft=soft)
    w = weights if weighted else np.ones(30)
    found = kernel(errors, uncertainty, weights if weighted else None)
    assert (w * found.influence).sum() == pytest.approx(0.0, abs=1e-12)
    assert np.abs(found.influence).max() > 1e-3
    for i in range(30):
        step = np.zeros(30)
        step[i] = 1e-5
        change = kernel(errors, uncertainty, w + step).value - kernel(errors, uncertainty, w - step).value
        assert found.influence[i] == pytest.approx(w.sum() * change / 2e-5, abs=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_instances_of_weight_zero_are_absent(kernel):
    errors, uncertainty, weights = random_case(5)
    weights[::3] = 0
    found, kept = kernel(errors, uncertainty, weights), weights > 0
    other = kernel(errors[kept], uncertainty[kept], weights[kept])
    assert found.value == other.value
    np.testing.assert_array_equal(found.influence[kept], other.influence)
    assert (found.influence[~kept] == 0).all()


def test_several_runs_are_averaged_and_their_spread_is_added():
    cases = [random_case(seed, n=200, levels=10**6)[:2] for seed in range(4)]
    runs = [aurc_linearised(e, s, None) for e, s in cases]
    found = area_estimate(runs, "aurc")
    values = [run.value for run in runs]
    assert found == pytest.approx(np.mean(values))
    assert "4 runs" in said(found)
    same = area_estimate([runs[0]] * 4, "aurc")
    one = area_estimate(runs[0], "aurc")
    assert (same.low, same.high) == pytest.approx((one.low, one.high))
    # one run far from the others: s² / R of the values is added to the variance
    apart = area_estimate([runs[0], runs[0], runs[0], aurc_linearised(cases[0][0], cases[0][0], None)], "aurc")
    assert apart.high - apart.low > 1.5 * (one.high - one.low)
