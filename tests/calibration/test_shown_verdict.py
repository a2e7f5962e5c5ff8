"""Tests of calibration are shown by their sentence, statistic and p-value."""

import numpy as np
import pytest

import uqassay as uq
from tests.calibration.made_up_data import draw_labels, random_predictions
from tests.shown_results import check_shown


@pytest.fixture(scope="module")
def data():
    probs = random_predictions(1, 120, 3)
    return draw_labels(np.random.default_rng(2), probs), probs


def results(labels, probs):
    generator = np.random.default_rng(0)
    members = generator.dirichlet([1, 1, 1], (len(labels), 3))
    votes = generator.multinomial(5, probs)
    yield uq.calibration.calibration_test(labels, probs, n_draws=99)
    yield uq.calibration.calibration_test(labels, probs, measure="skce-ul", method="asymptotic")
    yield uq.calibration.credal_calibration_test(labels, members, n_draws=39)
    yield uq.calibration.instance_dependent_calibration_test(labels, members, probs, n_draws=39)
    yield uq.calibration.second_order_test(votes, uq.Members(members))


def test_every_test_is_shown_by_its_sentence(data):
    for found in results(*data):
        shown = " ".join(check_shown(found).split())
        assert found.sentence() in shown
        assert ("caution" in shown) == bool(found.notes)


def test_numbers_are_those_of_the_result(data):
    found = uq.calibration.calibration_test(*data, n_draws=99)
    (row,) = found._shown_table().rows
    assert float(row.cells[0].text) == pytest.approx(found.statistic, rel=0.01)
    assert row.cells[2].text == "99"


def test_an_undefined_result_is_shown():
    found = uq.calibration.calibration_test([0, 1, 0], [[0.5, 0.5]] * 3, measure="hosmer-lemeshow", n_draws=19)
    check_shown(found)
