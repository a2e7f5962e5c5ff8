"""Imprecision of class sets against the sum over all events, and for more classes than can be enumerated."""

import numpy as np
import pytest
from scipy.special import binom

import uqassay as uq
from uqassay.measures.imprecision import imprecision_of_class_sets, set_sizes


def test_against_all_events():
    rng = np.random.default_rng(0)
    sets = rng.random((40, 7)) < 0.5
    prediction, weights = uq.ClassSets(sets), rng.random(6)
    events = (np.arange(2**7)[:, None] >> np.arange(7)) & 1 > 0
    filled = sets | ~sets.any(axis=1, keepdims=True)
    lower = (~(filled[:, None] & ~events).any(axis=2)).astype(float)  # 1 if the event holds the set
    sizes = events.sum(axis=1)
    expected = sum(weights[k - 1] * (k / 7 - lower[:, sizes == k].sum(axis=1) / binom(7, k)) for k in range(1, 7))
    np.testing.assert_allclose(imprecision_of_class_sets(prediction, weights), expected, atol=1e-12)
    assert set_sizes(prediction).min() >= 1


@pytest.mark.parametrize("n_classes", [2, 5, 16, 17, 300, 1000])
def test_hartley_is_the_logarithm_of_the_size(n_classes):
    sizes = np.unique(np.geomspace(1, n_classes, 12).astype(int))
    prediction = uq.ClassSets(np.arange(n_classes) < sizes[:, None])
    found = uq.measures.generalised_hartley(prediction)
    np.testing.assert_allclose(found.values, np.log(sizes), atol=1e-9)
    assert not found.standard_error.any()
    pal = uq.measures.nonspecificity(prediction, "pal")
    np.testing.assert_allclose(pal.values, 1 / sizes, atol=1e-9)
