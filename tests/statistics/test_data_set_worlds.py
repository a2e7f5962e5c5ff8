"""A few simulated comparisons over data sets: no more false pairs than stated, and power where data sets suffice."""

import pytest
from tests.statistics import data_set_worlds as worlds


@pytest.mark.parametrize(("name", "j"), [("normal", 5), ("errors of 20 instances (ties)", 2), ("lognormal", 5)])
def test_the_sentence_names_few_false_pairs(name, j):
    false, _, _ = worlds.false_claims(worlds.WORLDS[name], 10, j, n_samples=150, seed=1)
    assert false <= 0.05 + 4 * (0.05 * 0.95 / 150) ** 0.5


def test_nothing_is_shown_by_five_data_sets_and_nearly_all_by_thirty():
    assert worlds.shown(2.0, 5, 5, n_samples=20, seed=1)[0] == 0.0
    assert worlds.shown(2.0, 30, 5, n_samples=20, seed=1)[0] > 0.95
