"""Kernels of sums over pairs of rows against extended precision; a sum does not depend on the other rows."""

import numpy as np
import pytest

LENGTHS = (0, 1, 7, 8, 9, 511, 512, 513, 1200)


@pytest.mark.parametrize("n", LENGTHS)
def test_products_of_rows_against_extended_precision(compiled, n, random_generator):
    u, v = random_generator.normal(size=(6, n)), random_generator.normal(size=(5, n))
    found = compiled.row_products(u, v)
    assert found.dtype == np.float64
    exact = (u[:, np.newaxis].astype(np.longdouble) * v).sum(axis=2)
    np.testing.assert_allclose(found, exact.astype(np.float64), rtol=0, atol=1e-13 * (1 + n))
    for rows, columns in ((slice(0, 1), slice(0, 1)), (slice(1, 6), slice(2, 5))):
        np.testing.assert_array_equal(compiled.row_products(u[rows], v[columns]), found[rows, columns])


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("columns", [1, 2])
def test_sums_of_differences_against_extended_precision(compiled, n, columns, random_generator):
    values = random_generator.normal(size=(columns, 4, n))
    first, second = np.triu_indices(4, 1)
    shift = random_generator.normal(size=(columns, first.size))
    found = compiled.difference_sums(values, shift, first, second)
    exact = values.astype(np.longdouble)
    d = exact[:, first] - exact[:, second] - shift[..., np.newaxis]
    x, y = d[0], d[-1]
    monomials = (x, x * x, x**3) if columns == 1 else (x, y, x * x, x * y, y * y, x**3, x * x * y, x * y * y, y**3)
    sums = np.stack([one.sum(axis=1) for one in monomials]).astype(np.float64)
    np.testing.assert_allclose(found, sums, rtol=0, atol=1e-12 * (1 + n))
    one_pair = compiled.difference_sums(values, shift[:, 2:3].copy(), first[2:3], second[2:3])
    np.testing.assert_array_equal(one_pair, found[:, 2:3])


def test_places_and_shapes_are_checked(compiled):
    values, shift, pair = np.zeros((1, 2, 3)), np.zeros((1, 1)), np.array([0])
    with pytest.raises(ValueError, match="places of rows"):
        compiled.difference_sums(values, shift, pair, np.array([2]))
    with pytest.raises(ValueError, match="places of rows"):
        compiled.difference_sums(values, shift, np.array([-1]), pair)
    with pytest.raises(ValueError, match="for each pair"):
        compiled.difference_sums(values, np.zeros((2, 1)), pair, pair)
    with pytest.raises(ValueError, match="one or two columns"):
        compiled.difference_sums(np.zeros((3, 2, 3)), np.zeros((3, 1)), pair, pair)
    with pytest.raises(ValueError, match="one length"):
        compiled.row_products(np.zeros((2, 3)), np.zeros((2, 4)))
