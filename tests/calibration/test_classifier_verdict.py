import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import draw_labels, random_predictions
from tests.notes import texts
from tests.refusals import refuses
from uqassay.calibration.one_classifier import calibration_test
from uqassay.text import pvalue_text


@pytest.fixture
def data():
    probs = random_predictions(1, 120, 3)
    return draw_labels(np.random.default_rng(2), probs), probs


def flattened(probs):
    """Underconfident probabilities."""
    return probs**0.4 / (probs**0.4).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("measure", ["brier", "log-loss"])
@pytest.mark.parametrize("method", ["resampled", "asymptotic"])
def test_scores_are_tested_on_both_sides(data, measure, method):
    labels, probs = data
    found = calibration_test(labels, flattened(probs), measure=measure, method=method, n_draws=199)
    assert found.sides == "both"
    assert found.pvalue < 0.03
    assert found.direction == "underconfident"
    assert found.sentence().endswith("; it is underconfident.")
    assert not calibration_test(labels, probs, measure=measure, method=method, n_draws=199).reject()


def test_both_sides_need_twice_the_draws(data):
    found = calibration_test(*data, measure="brier", n_draws=19)
    assert found.smallest_pvalue == pytest.approx(0.1)
    with refuses("alpha", "needs-draws", got="n_draws=39"):
        found.reject(0.05)
    low, high = calibration_test(*data, measure="brier", n_draws=39).thresholds(0.05)
    assert low < found.statistic < high


def test_few_groups_are_told(data):
    labels, probs = data
    found = calibration_test(labels, flattened(probs), groups=np.arange(120) % 5)
    assert (found.method, found.n_groups, found.n_draws, found.smallest_pvalue) == ("signs", 5, 15, 1 / 16)
    assert found.sentence().startswith("5 groups are too few to tell at this level")
    with refuses("alpha", "range", got="got 0.05"):
        found.reject(0.05)
    six = calibration_test(labels, flattened(probs), measure="brier", groups=np.arange(120) % 6)
    assert six.smallest_pvalue == 1 / 32
    assert six.reject(0.05) == (six.pvalue <= 0.05)


def test_one_group_has_no_test(data):
    found = calibration_test(*data, groups=np.zeros(120))
    assert np.isnan(found.pvalue)
    assert texts(found) == ["1 group: no p-value"]


def test_groups_of_the_prediction_are_taken(data):
    labels, probs = data
    groups = np.arange(120) // 4
    own = calibration_test(labels, uq.Point(probs, groups=groups))
    assert own.pvalue == calibration_test(labels, probs, groups=groups).pvalue
    assert own.n_groups == 30


def test_a_label_of_probability_0_with_groups():
    probs = np.array([[1.0, 0.0]] * 20)
    found = calibration_test(np.arange(20) % 2, probs, measure="log-loss", groups=np.arange(20) // 2, n_draws=99)
    assert found.statistic == np.inf
    assert found.pvalue == found.smallest_pvalue


@pytest.mark.parametrize("other", [{"resample": True}, {"method": "asymptotic"}])
def test_groups_go_with_no_other_null(data, other):
    with refuses("groups", "conflict", got="120 groups"):
        calibration_test(*data, measure="skce-ul", groups=np.arange(120), **other)


def test_pairs_inside_groups_tell_nothing(data):
    found = calibration_test(*data, measure="skce-ul", groups=np.arange(120) // 10, n_draws=99)
    assert found.pvalue == 1.0
    assert "it cannot reject here" in texts(found)[1]
    assert calibration_test(*data, measure="skce-uq", groups=np.arange(120) // 10, n_draws=99).pvalue < 1.0


def test_a_printed_result_leaves_out_the_draws(data):
    found = calibration_test(*data, n_draws=99)
    assert len(found.null) == 99
    assert "null" not in repr(found)
    assert pvalue_text(found.pvalue) in " ".join(repr(found).split())
