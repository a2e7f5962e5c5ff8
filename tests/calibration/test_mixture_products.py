"""Products of weights and members: the same rounding for one mixture and for many."""

import numpy as np
import pytest

from uqassay.calibration.mixtures import products_of, quick_numbers


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_do_not_depend_on_their_number(dtype):
    rng = np.random.default_rng(0)
    by_member = rng.random((5, 103)).astype(dtype)
    weights = rng.dirichlet(np.ones(5), 21)
    together = products_of(weights, by_member)
    assert together.dtype == dtype
    np.testing.assert_allclose(together, weights @ by_member, rtol=1e-5)
    for i, one in enumerate(weights):
        np.testing.assert_array_equal(products_of(one[np.newaxis], by_member, "test")[0], together[i])
    assert products_of(weights, by_member[:, :0]).shape == (21, 0)


def test_subnormal_numbers_keep_their_order():
    probs = np.array([0.0, 5e-324, 1e-320, 1e-310, 1e-300, 1e-3])
    for dtype in (np.float64, np.float32):
        quick = quick_numbers(probs, dtype)
        assert quick[0] == 0
        assert (np.diff(quick) > 0).all()
        assert quick[1] > 10 * np.finfo(dtype).tiny
        assert quick[-1] == dtype(1e-3)
