"""Sums that do not depend on the order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uqassay.native import kernel
from uqassay.predictions import OrderFreeSum, sum_over_classes
from uqassay.predictions.points import not_negative

needs_kernels = pytest.mark.skipif(kernel("sorted_sums") is None, reason="uqassay-native is absent or switched off")


@settings(deadline=None, max_examples=30)
@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_no_order_changes_a_bit(values):
    found = set()
    for order in permutations(values):
        total = OrderFreeSum(1)
        for value in order:
            total.add(np.array([value]))
        found.add(float(total.value()[0]))
    assert len(found) == 1
    assert len({float(sum_over_classes(np.array(order))) for order in permutations(values)}) == 1


def test_sums_against_exact_fractions(random_generator):
    from fractions import Fraction

    values = random_generator.random((200, 7))
    total = OrderFreeSum(200)
    for column in values.T:
        total.add(column)
    exact = [float(sum(map(Fraction, row))) for row in values]
    np.testing.assert_array_equal(total.value(), exact)
    np.testing.assert_allclose(sum_over_classes(values), exact, rtol=1e-15)


def odd_values(rng, shape):
    """Values of many sizes and both signs, with ties, infinities and nan."""
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-9, 9, shape)
    values[..., :1] = values[..., -1:]
    values[0] = np.nan
    values[1, ..., 0] = np.inf
    return values


@needs_kernels
@pytest.mark.parametrize("n_classes", [1, 2, 3, 7, 8, 9, 10, 16, 31, 33, 100, 127, 128, 129])
def test_sums_over_classes_have_the_bits_of_the_formula(n_classes, monkeypatch, random_generator):
    values = odd_values(random_generator, (37, n_classes))
    layouts = values, np.asfortranarray(values), values[::-2], values.reshape(1, 37, n_classes), values[3]
    found = [sum_over_classes(one) for one in layouts]
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for one, by_kernel in zip(layouts, found, strict=True):
        by_formula = sum_over_classes(one)
        assert by_kernel.shape == by_formula.shape
        np.testing.assert_array_equal(by_kernel, by_formula)


@needs_kernels
def test_order_free_sum_has_the_bits_of_the_formula(monkeypatch, random_generator):
    terms = odd_values(random_generator, (9, 37, 5))[2:]
    terms[3] = np.asfortranarray(terms[3])

    def summed():
        total = OrderFreeSum((37, 5))
        for term in terms:
            total.add(term)
        total.add(np.float64(0.1))
        return total.value()

    found = summed()
    monkeypatch.setenv("UQASSAY_PURE", "1")
    np.testing.assert_array_equal(found, summed())


@needs_kernels
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ">f8", "int64"])
def test_rows_of_one_member_have_the_bits_of_the_formula(dtype, monkeypatch, random_generator):
    members = (10 * random_generator.normal(size=(37, 4, 6))).astype(dtype)
    slices = [members[:, 1], members[::-1, 2], members[:, 1, ::2], members[:, :, 3], members[3], members[:0, 1]]
    found = [not_negative(one) for one in slices]
    monkeypatch.setenv("UQASSAY_PURE", "1")
    for one, by_kernel in zip(slices, found, strict=True):
        assert by_kernel.dtype == np.float64
        assert by_kernel.flags.c_contiguous
        np.testing.assert_array_equal(by_kernel, not_negative(one))


@needs_kernels
def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="1 to 128 numbers"):
        kernel("sorted_sums")(np.ones((2, 129)))
    with pytest.raises(ValueError, match="as many errors and terms"):
        kernel("add_order_free")(np.zeros(2), np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="neighbours in memory"):
        kernel("rows_not_negative")(np.ones((3, 4))[:, ::2])
