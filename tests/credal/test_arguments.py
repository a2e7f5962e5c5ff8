"""Checks that several files of the room share."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.checks import finite_matrix, whole_number


def test_matrices_come_back_as_float64_in_c_order():
    given = np.asfortranarray(np.arange(6, dtype=np.float16).reshape(2, 3))
    given.flags.writeable = False
    matrix = finite_matrix("m", given, 3)
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(matrix, given)
    assert finite_matrix("m", [[1, 2]]).shape == (1, 2)


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        (np.zeros(3), "shape", r"\(3,\)"),
        (np.zeros((0, 3)), "shape", r"\(0, 3\)"),
        (np.zeros((2, 4)), "shape", r"\(2, 4\)"),
        ([[0.0, 1.0, 2.0], [0.0, np.nan, 1.0]], "finite", "row 1"),
        ([[0.0, -np.inf, 2.0]], "finite", "row 0"),
    ],
)
def test_other_matrices_are_refused(values, code, got):
    with refuses("m", code, got=got):
        finite_matrix("m", values, 3)


def test_whole_numbers_of_every_integer_type():
    assert whole_number("k", np.int8(3), 1) == 3
    assert type(whole_number("k", np.uint64(3), 1)) is int
    for value in (0, 2.0, "2", None, np.float64(3)):
        with refuses("k", "range", got=f"got {value!r}".replace("(", r"\(").replace(")", r"\)")):
            whole_number("k", value, 1)
