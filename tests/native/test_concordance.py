"""Concordant pairs against counting every pair and against the array formula, on arrays that sorts get wrong."""

import numpy as np
import pytest
from scipy import stats
from tests.native.awkward_floats import awkward_arrays

from uqassay.statistics import concordance


def pair_by_pair(truth, scores):
    different = truth[:, None] != truth[None, :]
    tied = different & (scores[:, None] == scores[None, :])
    same_way = (truth[:, None] > truth[None, :]) == (scores[:, None] > scores[None, :])
    concordant = np.where(tied, 0.5, different & same_way)
    return concordant.sum(axis=1), different.sum(axis=1), tied.sum(axis=1)


def test_pairs_against_brute_force(compiled, random_generator):
    for n in (1, 2, 3, 15, 16, 17, 33, 100):
        for truth in awkward_arrays(random_generator, n, np.float64):
            for scores in awkward_arrays(random_generator, n, np.float64):
                for found, expected in zip(
                    compiled.concordant_pairs(truth, scores), pair_by_pair(truth, scores), strict=True
                ):
                    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [1_000, 70_000])
def test_pairs_against_the_formula_bit_for_bit(compiled, random_generator, monkeypatch, n):
    monkeypatch.setenv("UQASSAY_PURE", "1")
    truths = list(awkward_arrays(random_generator, n, np.float64))
    for truth, scores in zip(truths, [*truths[3:], *truths[:3]], strict=True):
        expected = concordance(truth, scores)
        found = compiled.concordant_pairs(truth, scores)
        np.testing.assert_array_equal(found[0], expected.concordant)
        np.testing.assert_array_equal(found[1], expected.comparable)
        np.testing.assert_array_equal(found[2], expected.tied)


def test_share_of_a_million_instances_against_kendall(compiled, random_generator):
    truth = random_generator.random(1_000_000)
    scores = truth + random_generator.normal(size=truth.size)
    concordant, comparable, _ = compiled.concordant_pairs(truth, scores)
    tau = stats.kendalltau(truth, scores).statistic
    assert concordant.sum() / comparable.sum() == pytest.approx((1 + tau) / 2, rel=1e-12)


def test_empty_arrays_and_lengths_that_differ(compiled):
    empty = np.array([])
    assert [found.shape for found in compiled.concordant_pairs(empty, empty)] == [(0,)] * 3
    with pytest.raises(ValueError, match="one score for each truth"):
        compiled.concordant_pairs(empty, np.ones(2))
