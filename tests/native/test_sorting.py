"""Sorting kernels against SciPy, NumPy and counting pair by pair, on arrays that sorts get wrong."""

import numpy as np
import pytest
from scipy import stats
from tests.native.awkward_floats import DTYPES, SIZES, awkward_arrays, squared_ties, twice_placements


@pytest.mark.parametrize("dtype", DTYPES)
def test_midranks_against_scipy(compiled, random_generator, dtype):
    for n in (*SIZES, 70_000, 150_000):
        for values in awkward_arrays(random_generator, n, dtype):
            np.testing.assert_array_equal(compiled.midranks(values), stats.rankdata(values))


@pytest.mark.parametrize("dtype", DTYPES)
def test_plain_sort_against_numpy(compiled, random_generator, dtype):
    for values in awkward_arrays(random_generator, 1_000, dtype):
        found = compiled.yardsticks.radix_sort(values)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.sort(values))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_placements_against_brute_force(compiled, random_generator, dtype):
    for n in SIZES[:-2]:
        for values in awkward_arrays(random_generator, n, dtype):
            first = random_generator.random(n) < random_generator.random()
            x, y = values[first], values[~first]
            below, above = twice_placements(x, y), twice_placements(y, x)
            assert compiled.placement_sums(values, first) == (
                (len(x), len(y)),
                (sum(below), sum(above)),
                (sum(b * b for b in below), sum(a * a for a in above)),
                (squared_ties(x), squared_ties(y)),
                len(np.unique(values)),
            )


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_placements_of_large_arrays_against_ranks(compiled, random_generator, dtype):
    """An array outside the cache is divided first. Ranks in all and within a sample give the placements."""
    tied = [random_generator.integers(levels, size=70_000) for levels in (9, 30, 5_000, 100_000)]  # 9 levels of 7,800
    for values in (*awkward_arrays(random_generator, 70_000, dtype), *(array.astype(dtype) for array in tied)):
        first = random_generator.random(len(values)) < 0.3
        ranks = stats.rankdata(values)
        sizes, sums, squares, ties, levels = compiled.placement_sums(values, first)
        assert levels == len(np.unique(values))
        for p, inside in enumerate((first, ~first)):
            twice = np.rint(2 * (ranks[inside] - stats.rankdata(values[inside]))).astype(np.int64)
            expected = len(twice), int(twice.sum()), int((twice * twice).sum()), squared_ties(values[inside])
            assert (sizes[p], sums[p], squares[p], ties[p]) == expected


def test_squares_beyond_64_bits_are_exact(compiled):
    n = 3_000_000
    values, first = np.arange(n, dtype=np.float32), np.zeros(n, dtype=bool)
    first[n // 2 :] = True
    sizes, sums, squares, ties, levels = compiled.placement_sums(values, first)
    half = n // 2
    assert squares == (half * n**2, 0)
    assert squares[0] > 2**63
    assert (sizes, sums, ties, levels) == ((half, half), (half * n, 0), (half, half), n)


def test_empty_arrays(compiled):
    for dtype in DTYPES:
        empty = np.array([], dtype=dtype)
        assert compiled.midranks(empty).shape == compiled.yardsticks.radix_sort(empty).shape == (0,)
        assert compiled.placement_sums(empty, np.array([], dtype=bool)) == ((0, 0), (0, 0), (0, 0), (0, 0), 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_nan_is_found(compiled, dtype, sign):
    values = np.array([0.5, sign * np.nan, np.inf, -np.inf], dtype=dtype)
    values = np.copysign(values, np.array([1, sign, 1, -1], dtype=dtype))
    assert compiled.placement_sums(values, np.array([True, False, True, False])) is None


def test_other_dtypes_and_layouts_are_refused(compiled):
    first = np.ones(4, dtype=bool)
    for values in (np.arange(4), np.arange(4, dtype=np.float16), np.arange(8.0)[::2], np.arange(4, dtype=">f8")):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            compiled.placement_sums(values, first)
    with pytest.raises(ValueError, match="one membership for each value"):
        compiled.placement_sums(np.arange(3.0), first)


def test_arguments_are_read_only_and_unchanged(compiled, random_generator):
    values, first = random_generator.random(500), random_generator.random(500) < 0.5
    before = values.copy(), first.copy()
    for array in (values, first):
        array.setflags(write=False)
    compiled.placement_sums(values, first)
    compiled.midranks(values)
    np.testing.assert_array_equal(values, before[0])
    np.testing.assert_array_equal(first, before[1])
