"""Stratified splits, shares of classes, permuted rows: sizes, nothing lost, nothing twice, nested for one seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refuses

from uqassay.lab.datasets import stratified_split
from uqassay.lab.datasets.dataset import (
    LIMIT,
    NOISE,
    SUBSET,
    TRAINING,
    child_of,
    class_shares,
    count_of,
    permuted_rows,
    run_stream,
    seed_source,
)


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    share=st.floats(0.05, 0.9),
    seed=st.integers(0, 2**31),
)
def test_every_class_gives_its_share(counts, share, seed):
    counts = np.array(counts)
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    n_test = round(share * len(y))
    if not 0 < n_test <= len(y) - len(counts):
        return
    train, test = stratified_split(y, n_test, seed)
    assert len(test) == n_test
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
    in_train = np.bincount(y[train], minlength=len(counts))
    assert (in_train >= 1).all()
    exact = counts * n_test / len(y)
    capped = np.minimum(np.floor(exact + 1e-9), counts - 1)
    in_test = counts - in_train
    assert (in_test >= capped).all()
    if (exact <= counts - 1).all():
        assert (np.abs(in_test - exact) < 1 + 1e-9).all()


def test_same_seed_same_split_and_random_order():
    y = np.repeat([0, 1, 2], 40)
    first, again, other = (stratified_split(y, 0.25, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[1], again[1])
    assert set(first[1].tolist()) != set(other[1].tolist())
    assert not (np.diff(first[0]) > 0).all()  # not sorted by class as y is


def test_labels_need_not_begin_at_zero():
    train, test = stratified_split(np.array([7, 7, -1, -1]), 2)
    assert len(train) == len(test) == 2


@pytest.mark.parametrize("size", [0, 4, 5, -1, 0.0, 1.0, 1.5, 0.01, -0.5])
def test_sizes_that_leave_a_part_empty(size):
    with refuses("test_size", "range", got=r"must be a share in \(0, 1\) or a number of instances in 1 … 3"):
        stratified_split([0, 0, 1, 1], size)


def test_every_class_must_stay_in_training():
    with refuses("test_size", "range", got="got 3 of 4"):
        stratified_split([0, 0, 1, 1], 3)


def test_shares_are_counted_in_decimal():
    for n in (7, 100, 142_693):
        for percent in range(101):
            assert count_of(percent / 100, n) == percent * n // 100


@pytest.mark.parametrize("size", ["a", None, float("nan"), float("inf")])
def test_sizes_that_are_none(size):
    with refuses("test_size", "range", got=r"must be a share in \(0, 1\) or a number of instances in 1 … 3"):
        stratified_split([0, 0, 1, 1], size)


# ---- streams of a run, shares of classes, permuted rows --------------------------------------------------------------


def test_streams_of_a_run_differ_and_repeat():
    first = {stream: run_stream(7, stream).generate_state(2).tolist() for stream in (SUBSET, NOISE, TRAINING, LIMIT)}
    assert first == {stream: run_stream(7, stream).generate_state(2).tolist() for stream in first}
    assert len({tuple(state) for state in first.values()}) == 4
    assert child_of(run_stream(7, NOISE), 1).generate_state(2).tolist() != first[NOISE]


def test_seed_source_of_every_kind_of_rng():
    assert seed_source(None).entropy == seed_source(0).entropy == 0
    source = run_stream(3, NOISE)
    assert seed_source(source) is source
    g = np.random.default_rng(4)
    assert seed_source(g).entropy != seed_source(g).entropy  # a generator advances
    for bad in (-1, 0.5, "a"):
        with refuses("rng", "range", got="got"):
            seed_source(bad)


@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=5).filter(any),
    seed=st.integers(0, 2**31),
    shares=st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)),
)
def test_shares_of_classes_are_nested_and_keep_every_class(counts, seed, shares):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    small, large = (class_shares(y, len(counts), share, seed) for share in sorted(shares))
    assert set(small) <= set(large)
    np.testing.assert_array_equal(large, np.unique(large))
    expected = [max(1, count_of(max(shares), n)) if n else 0 for n in counts]
    assert np.bincount(y[large], minlength=len(counts)).tolist() == expected


@given(n=st.integers(1, 60), seed=st.integers(0, 2**31), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_permuted_rows_are_a_permutation_of_few_rows(n, seed, shares):
    for share in shares:
        came_from = permuted_rows(n, share, run_stream(seed, NOISE))
        np.testing.assert_array_equal(np.sort(came_from), np.arange(n))
        assert (came_from != np.arange(n)).sum() <= count_of(share, n)


def test_permuted_rows_of_a_greater_share_contain_those_of_a_smaller_one():
    n, source = 4000, run_stream(1, NOISE)
    stays = {share: permuted_rows(n, share, source) == np.arange(n) for share in (0.1, 0.2, 0.6, 1.0)}
    for small, large in ((0.1, 0.2), (0.2, 0.6), (0.6, 1.0)):
        moved = ~stays[small]
        # a row that is permuted stays where it is with probability 1/m, m the number of permuted rows
        assert (stays[large] & moved).sum() <= 10
        assert moved.sum() >= count_of(small, n) - 10
