"""Sums of placements, by the formula and by the kernel, against counting pair by pair; input of every kind."""

import numpy as np
import pytest
from tests.native.awkward_floats import DTYPES, awkward_arrays, squared_ties, twice_placements
from tests.refusals import refuses

from uqassay.metrics import uq_auc_score
from uqassay.statistics.auc import PlacementSums, placement_sums


@pytest.fixture(params=["formula", "kernel"])
def way(request, monkeypatch, needs):
    """Both ways to count."""
    monkeypatch.setenv("UQASSAY_PURE", "1" if request.param == "formula" else "0")
    if request.param == "kernel":
        needs("_uqassay_native")
    return request.param


def tied_by_definition(values):
    m = len(values)
    return 0.0 if m < 2 else (squared_ties(values) - m) / (m * m - m)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_against_brute_force(way, random_generator, dtype):
    for n in (1, 2, 3, 40, 300):
        for values in awkward_arrays(random_generator, n, dtype):
            first = random_generator.random(n) < random_generator.random()
            found = placement_sums(first, values, "scores")
            x, y = values[first], values[~first]
            b = np.array(twice_placements(x, y)) / 2
            a = len(x) - np.array(twice_placements(y, x)) / 2
            assert found.sizes == (len(x), len(y))
            assert found.tied == pytest.approx((tied_by_definition(x), tied_by_definition(y)), abs=1e-15)
            assert found.constant == (len(np.unique(values)) == 1)
            assert (found.below[0], found.above[0]) == (b.sum(), a.sum())
            assert (found.below[1], found.above[1]) == pytest.approx((float(b @ b), float(a @ a)), rel=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.int32, np.uint8, ">f4", ">f8", np.longdouble])
def test_every_dtype_counts_like_its_numbers(way, random_generator, dtype):
    values = random_generator.integers(0, 30, 200).astype(dtype)
    first = random_generator.random(200) < 0.4
    assert placement_sums(first, values, "scores") == placement_sums(first, values.astype(np.float64), "scores")


def test_views_and_read_only_arrays(way, random_generator):
    values, first = random_generator.random(300), random_generator.random(300) < 0.4
    plain = placement_sums(first[::3].copy(), values[::-3].copy(), "scores")
    for array in (values, first):
        array.setflags(write=False)
    assert placement_sums(first[::3], values[::-3], "scores") == plain


def test_nan_is_refused(way):
    with refuses("scores", "finite", got="1 of 3 values are nan, the first at row 1"):
        placement_sums(np.array([True, False, True]), np.array([1.0, np.nan, 2.0]), "scores")


def test_one_sample_is_empty(way):
    assert placement_sums(np.zeros(3, dtype=bool), np.array([1.0, 2.0, 2.0]), "scores") == PlacementSums(
        (0, 3), (0.0, 0.0), (0.0, 0.0), (0.0, 1 / 3), False
    )


@pytest.mark.parametrize("n", [2, 30, 5_000])
def test_scores_in_single_precision_have_the_same_estimate(way, random_generator, n):
    scores = random_generator.normal(size=n).astype(np.float32)
    errors = scores + random_generator.normal(size=n) > 1
    errors[:2] = True, False
    single, double = uq_auc_score(errors, scores), uq_auc_score(errors, scores.astype(np.float64))
    assert (float(single), single.low, single.high, single.notes) == (
        float(double),
        double.low,
        double.high,
        double.notes,
    )


def test_formula_and_kernel_give_one_estimate(needs, monkeypatch, random_generator):
    needs("_uqassay_native")
    for n in (10, 300, 20_000):
        scores, errors = random_generator.normal(size=n), random_generator.random(n) < 0.3
        errors[:2] = True, False
        monkeypatch.setenv("UQASSAY_PURE", "1")
        formula = uq_auc_score(errors, scores)
        monkeypatch.setenv("UQASSAY_PURE", "0")
        kernel = uq_auc_score(errors, scores)
        assert (float(kernel), kernel.notes, kernel.n) == (float(formula), formula.notes, formula.n)
        assert (kernel.low, kernel.high) == pytest.approx((formula.low, formula.high), rel=1e-12)
