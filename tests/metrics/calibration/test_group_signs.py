"""Signs of groups: sums and products against loops, and the sparse form against the dense one."""

import numpy as np
import pytest

from uqassay.metrics import calibration as group_signs
from uqassay.metrics.calibration import GroupProducts, GroupSums, summed


@pytest.fixture(params=["dense", "sparse"])
def form(request, monkeypatch):
    if request.param == "sparse":
        monkeypatch.setattr(group_signs, "DENSE", 0)
    return request.param


def test_sums_against_a_loop(random_generator, form):
    groups, cells = random_generator.integers(0, 4, 50), random_generator.integers(0, 3, 50)
    amounts = random_generator.standard_normal(50)
    sums = GroupSums(summed(groups, cells, amounts, (4, 3)), lambda over_all: np.abs(over_all).sum(axis=1))
    signs = random_generator.integers(0, 2, (7, 4)) * 2.0 - 1.0
    expected = [
        sum(abs((signs[d][groups] * amounts)[cells == c].sum()) for c in range(3))  # each cell on its own
        for d in range(7)
    ]
    np.testing.assert_allclose(sums.values(signs), expected, atol=1e-12)
    assert isinstance(sums.sums, np.ndarray) == (form == "dense")


def test_products_against_a_loop(random_generator, form):
    first, second = random_generator.integers(0, 4, 50), random_generator.integers(0, 4, 50)
    amounts = random_generator.standard_normal(50)
    products = GroupProducts(summed(first, second, amounts, (4, 4)))
    signs = random_generator.integers(0, 2, (7, 4)) * 2.0 - 1.0
    expected = [(signs[d][first] * signs[d][second] * amounts).sum() for d in range(7)]
    np.testing.assert_allclose(products.values(signs), expected, atol=1e-12)
