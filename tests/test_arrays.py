"""Rows of arrays on disk, and seeds."""

import numpy as np
import pytest

from tests.refusals import refuses
from uqassay._array import SCATTERED_ROWS, generator, taken


@pytest.mark.parametrize("shape", [(50, 3), (1000, 4, 5), (40, 70_000)])
def test_rows_taken_from_a_map_are_those_of_the_array(tmp_path, random_generator, shape):
    values = random_generator.random(shape, dtype=np.float32)
    np.save(tmp_path / "values.npy", values)
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    n = len(values)
    scattered = random_generator.integers(-n, n, 3 * SCATTERED_ROWS + 1)
    for rows in (scattered, random_generator.random(n) < 0.4, np.array([], dtype=np.intp), slice(3, 17, 2)):
        found = taken(mapped, rows)
        np.testing.assert_array_equal(found, values[rows])
        assert found.dtype == np.float32
    assert not isinstance(taken(mapped, scattered), np.memmap)
    with pytest.raises(IndexError, match=f"index {n} is out of bounds"):
        taken(mapped, np.array([0, n]))


@pytest.mark.parametrize("rng", [-1, 0.5, "seed"])
def test_no_seed(rng):
    with refuses("rng", "range"):
        generator(rng)
