"""Imprecision of hulls on another device, against the formulas of NumPy."""

from itertools import product

import numpy as np
import pytest
from tests.other_arrays import LIBRARIES, library, numbers

from uqassay.measures import generalised_hartley, hartley_weights
from uqassay.measures.imprecision import BLOCK, estimated_imprecision, imprecision_of_all_events, order_of_classes
from uqassay.predictions import probs_on_device

RNG = np.random.default_rng(2)


@pytest.mark.parametrize(
    ("which", "n_members", "n_classes"),
    [*product(("strict", "torch"), (1, 2, BLOCK, BLOCK + 1, 2 * BLOCK + 3), (2, 3, 9)), ("jax", BLOCK + 1, 5)],
)
def test_all_events_against_brute_force(needs, which, n_members, n_classes):
    needs(LIBRARIES[which])
    used = library(which)
    probs = used.cast(RNG.dirichlet(np.ones(n_classes), (4, n_members)))
    events = (np.arange(2 ** (n_classes - 1))[:, None] >> np.arange(n_classes)) & 1
    below, above = RNG.random((2, len(events)))
    sums = np.einsum("nmk,ek->nme", probs.astype(float), events)
    gaps = (sums[:, 0] - sums.min(axis=1)) * below + (sums.max(axis=1) - sums[:, 0]) * above
    found = imprecision_of_all_events(probs_on_device(used.make(probs)), below, above)
    np.testing.assert_allclose(numbers(found), gaps.sum(axis=1), rtol=len(events) * used.eps, atol=50 * used.eps)


@pytest.mark.parametrize("which", [*("strict", "torch"), pytest.param("jax", marks=pytest.mark.slow)])
def test_orders_against_numpy_with_its_errors(needs, which):
    needs(LIBRARIES[which])
    used, k = library(which), 25
    probs = used.cast(RNG.dirichlet(np.full(k, 0.3), (30, 4)))
    expected = generalised_hartley(probs, rng=3)
    seed = int(np.random.default_rng(3).integers(2**63))
    orders = [order_of_classes(seed, i, k) for i in range(32)]
    values, errors, sums = estimated_imprecision(probs_on_device(used.make(probs)), hartley_weights(k), orders)
    np.testing.assert_allclose(numbers(values), expected.values, rtol=100 * used.eps)
    np.testing.assert_allclose(numbers(errors), expected.standard_error, rtol=1e4 * used.eps)
    by_order = np.array(sums) / (30 * 2.0**52)
    np.testing.assert_allclose(by_order - by_order.mean(), expected.order_deviations, atol=20 * used.eps)


def test_the_error_of_the_mean_is_kept_by_the_complement(needs):
    needs("array_api_strict")
    found = generalised_hartley(library("strict").make(RNG.dirichlet(np.ones(20), (9, 3))))
    rest = found.complement()
    assert rest.mean_standard_error == pytest.approx(found.mean_standard_error)
    assert found.mean_standard_error > 0
    np.testing.assert_array_equal(numbers(rest.values), 1.0 - numbers(found.values))
    np.testing.assert_allclose(rest.order_deviations, -found.order_deviations, atol=1e-15)
