"""Random numbers of some rows are those of all rows."""

import numpy as np

from uqassay.calibration.search import RowNumbers


def test_some_rows_have_the_numbers_that_they_have_among_all():
    every, some = (RowNumbers(np.random.default_rng(3), 5, rows) for rows in (np.arange(5), np.array([4, 1])))
    for shape, whole, axis in (((2, 4), (5, 4), 0), ((6, 2), (15, 2), 0), ((2, 6, 2), (2, 15, 2), 1)):
        each = shape[axis] // 2
        places = np.concatenate([np.arange(4 * each, 5 * each), np.arange(each, 2 * each)])
        np.testing.assert_array_equal(some.random(shape, axis), every.random(whole, axis).take(places, axis=axis))
    some.keep(np.array([1]))
    np.testing.assert_array_equal(some.random((1, 2)), every.random((5, 2))[1:2])


def test_numbers_of_all_rows_stay_the_same_whichever_rows_go_on():
    every, some = (RowNumbers(np.random.default_rng(3), 5, rows) for rows in (np.arange(5), np.array([4, 1])))
    np.testing.assert_array_equal(some.of_all(3), every.of_all(3))
    np.testing.assert_array_equal(some.random((2, 3)), every.random((5, 3))[[4, 1]])
