"""Areas and risks of errors and out-of-distribution inputs together, against `aurc_loss` and invariances."""

import numpy as np
import pytest
from tests.metrics.ood.test_scod_error_rates import draw
from tests.refusals import refuses

from uqassay.metrics.ood import SCOD_METRICS, scod_augrc_loss, scod_aurc_loss, scod_risk_loss, scod_samples
from uqassay.metrics.risk import augrc_loss, aurc_loss, risk_coverage_curve

FUNCTIONS = {"scod-aurc": scod_aurc_loss, "scod-augrc": scod_augrc_loss, "scod-risk80": scod_risk_loss}


@pytest.fixture(params=[None, 5], ids=["continuous", "tied"])
def arrays(request):
    return draw(np.random.default_rng(4), 60, 40, -1.6, request.param)[:3]


def trapezoids_of_rows(losses, s, *, generalised=False):
    """The area as torch-uncertainty computes it: risks at k/n, trapezoids, over 1 − 1/n."""
    n = losses.size
    c = np.arange(1, n + 1) / n
    curve = np.cumsum(losses[np.argsort(s, kind="stable")]) / np.arange(1, n + 1) * (c if generalised else 1)
    return np.trapezoid(curve, c) / (1 - 1 / n)


def test_equal_costs_are_half_the_areas_of_all_mistakes(arrays):
    is_out, errors, s = arrays
    mistakes = np.where(is_out, 1.0, errors)
    assert float(scod_aurc_loss(*arrays)) == pytest.approx(float(aurc_loss(mistakes, s)) / 2)
    assert float(scod_augrc_loss(*arrays)) == pytest.approx(float(augrc_loss(mistakes, s)) / 2)
    risk = risk_coverage_curve(mistakes, s).at([0.8]).risk[0]
    assert float(scod_risk_loss(*arrays)) == pytest.approx(risk / 2)


def test_values_against_the_sums_of_torch_uncertainty():
    is_out, errors, s, _ = draw(np.random.default_rng(5), 3000, 2000, -1.6)
    losses = np.where(is_out, 0.3, 0.7 * errors)
    found = scod_aurc_loss(is_out, errors, s, error_cost=0.7)
    assert float(found) == pytest.approx(trapezoids_of_rows(losses, s), abs=1 / 5000)
    found = scod_augrc_loss(is_out, errors, s, error_cost=0.7)
    assert float(found) == pytest.approx(trapezoids_of_rows(losses, s, generalised=True), abs=1 / 5000)
    assert float(scod_risk_loss(is_out, errors, s, error_cost=0.7)) == pytest.approx(
        losses[np.argsort(s)[:4000]].mean()
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_order_of_rows_scale_and_kind_of_array_do_not_matter(name, arrays, random_generator):
    is_out, errors, s = arrays
    score, expected = FUNCTIONS[name], FUNCTIONS[name](*arrays, share_out=0.2)
    rows = random_generator.permutation(s.size)
    found = score(is_out[rows], errors[rows], np.exp(s[rows]), share_out=0.2)
    assert float(found) == pytest.approx(float(expected), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    s.flags.writeable = False
    again = score(is_out.tolist(), np.repeat(errors.astype(np.float16), 2)[::2], s, share_out=0.2)
    assert float(again) == float(expected)
    outside = np.where(is_out, np.nan, errors)
    assert repr(score(is_out, outside, s, share_out=0.2)) == repr(expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_weights_are_repetitions(name, arrays, random_generator):
    is_out, errors, s = arrays
    w = random_generator.integers(0, 4, s.size)
    repeated = FUNCTIONS[name](*(np.repeat(a, w) for a in arrays), share_out=0.3)
    weighted = FUNCTIONS[name](is_out, errors, s, sample_weight=w, share_out=0.3)
    assert float(weighted) == pytest.approx(float(repeated))


def test_the_registry_is_the_functions(arrays):
    is_out, errors, s = arrays
    samples = scod_samples(is_out, errors, s, error_cost=0.7)
    for name, metric in SCOD_METRICS.items():
        assert metric.name == name
        assert not metric.higher_is_better
        expected = FUNCTIONS[name](is_out, errors, s, error_cost=0.7, level=0.9)
        assert repr(metric.interval([samples], level=0.9)) == repr(expected)
        assert metric.statistic(samples).value == float(expected)


def test_options_are_checked(arrays):
    with refuses("coverage", "range", got="got 0"):
        scod_risk_loss(*arrays, coverage=0)
    with refuses("level", "range"):
        scod_aurc_loss(*arrays, level=1.0)
