"""The random order of the instances: the same in parts as in the whole, groups together, every instance as likely."""

import numpy as np
import pytest
from scipy.stats import chisquare

from uqassay.evidence.kept_rows import random_keys, sample_reaching, sample_within


@pytest.mark.parametrize("groups", [None, np.arange(1000) // 7, (np.arange(1000) % 90).astype(str)])
def test_a_sample_of_all_lies_in_the_samples_of_all_parts(groups):
    keys = random_keys(1000, groups, 3)
    whole = set(sample_reaching(keys, 120).tolist())
    for start in (0, 300, 990):
        part = None if groups is None else groups[start : start + 400]
        n = min(400, 1000 - start)
        own = random_keys(n, part, 3, first_row=start)
        np.testing.assert_array_equal(own, keys[start : start + 400])
        assert {r for r in whole if start <= r < start + n} <= {r + start for r in sample_reaching(own, 120).tolist()}


def test_keys_differ_between_rows_and_seeds():
    keys = random_keys(100_000, None, 0)
    assert len(np.unique(keys)) == 100_000
    assert not np.isin(random_keys(1000, None, 1), keys).any()


def test_keys_are_uniform():
    counts = np.bincount((random_keys(100_000, None, 0) >> np.uint64(58)).astype(int), minlength=64)
    assert chisquare(counts).pvalue > 1e-3
    named = np.bincount((random_keys(50_000, np.arange(50_000), 0) >> np.uint64(58)).astype(int), minlength=64)
    assert chisquare(named).pvalue > 1e-3


def test_pairs_of_rows_are_chosen_independently():
    both = np.array([np.isin([0, 1], sample_reaching(random_keys(20, None, seed), 10)) for seed in range(2000)])
    expected = 10 / 20 * 9 / 19
    assert abs(both.all(axis=1).mean() - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 2000)


def test_a_group_is_taken_whole_or_not_at_all():
    groups = np.arange(1000) // 7
    keys = random_keys(1000, groups, 0)
    for sample, fits in ((sample_reaching, lambda n: 100 <= n < 107), (sample_within, lambda n: 93 < n <= 100)):
        rows = sample(keys, 100)
        assert fits(len(rows))
        assert rows.tolist() == np.flatnonzero(np.isin(groups, groups[rows])).tolist()
    assert len(sample_within(keys, 3)) == 7  # one group, though it is larger


def test_as_many_as_there_are():
    keys = random_keys(5, None, 0)
    assert sample_reaching(keys, 9).tolist() == sample_within(keys, 5).tolist() == [0, 1, 2, 3, 4]
