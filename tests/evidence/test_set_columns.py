"""Columns of sets: of models with sets alone, equal to the measure."""

import numpy as np

import uqassay as uq
from uqassay.evidence.scoring import SET_COLUMNS, set_columns


def test_columns_are_the_measure_and_the_label(random_generator):
    p = random_generator.dirichlet(np.ones(4), size=(30, 3))
    y = random_generator.integers(4, size=30)
    found = set_columns(y, uq.Members(p))
    assert tuple(found) == SET_COLUMNS
    for rule in uq.credal.CLASS_RULES:
        sets = uq.measures.not_ruled_out(p, rule=rule)
        np.testing.assert_array_equal(found[f"covered-by-{rule}"], sets[np.arange(30), y])
        np.testing.assert_array_equal(found[f"set-size-by-{rule}"], sets.sum(axis=1))


def test_an_assay_keeps_them_for_models_with_sets_alone(random_generator):
    p = random_generator.dirichlet(np.ones(3), size=(20, 2))
    a = uq.assay({"set": p, "point": p[:, 0]}, np.zeros(20, dtype=int), calibration=(), n_draws=10)
    assert set(SET_COLUMNS) <= set(a["set"].columns)
    assert set(SET_COLUMNS).isdisjoint(a["point"].columns)
    assert (a["vacuous"].columns["set-size-by-maximality"] == 3).all()
