"""Rows of memory maps: selection, release of pages, refusal of truncated files."""

import os

import numpy as np
import pytest

import uqassay as uq
from tests.refusals import refuses
from uqassay.arrays import SCATTERED_ROWS, argmax_of_rows, release, row_chunks, scratch, still_whole, taken


@pytest.fixture
def mapped(tmp_path, random_generator):
    """Members in a memory map of 1000 rows, and the path of its file."""
    path = tmp_path / "members.npy"
    np.save(path, random_generator.dirichlet(np.ones(16), (1000, 4)))
    return np.load(path, mmap_mode="r"), path


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


def test_chunks_cover_all_rows_once():
    for n, size in ((0, 8), (1, 8), (1000, 8), (7, 10**12)):
        rows = [i for part in row_chunks(n, size, chunk_bytes=64) for i in range(part.start, part.stop)]
        assert rows == list(range(n))


@pytest.mark.parametrize("shape", [(1, 5, 4, 3), (3, 2_000, 1_000), (300, 2)])
def test_the_greatest_of_each_row_is_found_in_any_layout(random_generator, shape):
    array = random_generator.integers(5, size=shape)  # with ties: the first one counts
    by_class = np.swapaxes(np.ascontiguousarray(np.swapaxes(array, -1, -2)), -1, -2)
    np.testing.assert_array_equal(argmax_of_rows(array), array.argmax(axis=-1))
    np.testing.assert_array_equal(argmax_of_rows(by_class), array.argmax(axis=-1))


def test_a_buffer_is_used_again_unless_it_is_large():
    first = scratch("a name of this test", (10, 10))
    assert np.shares_memory(first, scratch("a name of this test", (5, 20)))
    assert not np.shares_memory(first, scratch("another name of this test", (10, 10)))
    large = scratch("a name of this test", (3000, 3000))
    assert not np.shares_memory(large, scratch("a name of this test", (3000, 3000)))


PASSES = {
    "mean": lambda p: p.mean_probs(),
    "lower": lambda p: p.lower_probs(),
    "upper": lambda p: p.upper_probs(),
    "rows": lambda p: p[[5, 900]],
    "slice": lambda p: p[900:],
    "again": lambda p: p.with_metadata(class_names=[str(k) for k in range(16)]),
    "draws": lambda p: p.sample(3),
    "one class": lambda p: p.one_versus_rest(1),
    "measure": lambda p: uq.measures.upper_entropy(p),
    "loss": lambda p: uq.losses.unified_loss(np.zeros(1000, int), p),
}


@pytest.mark.parametrize("name", PASSES)
def test_a_truncated_file_is_refused_before_each_pass(mapped, name):
    members = uq.Members(mapped[0])
    PASSES[name](members)
    os.truncate(mapped[1], 100_000)
    with refuses("file", "unreadable", got=r"members\.npy holds 100000 bytes, and the array needs 512128"):
        PASSES[name](members)


def test_views_copies_and_growing_files_are_accepted(mapped):
    values, path = mapped
    for view in (values, values[3:], values.swapaxes(0, 1), np.asarray(values), values[..., 0], values.view()):
        still_whole(view)
        release(view)
    with path.open("ab") as file:
        file.write(b"more")
    still_whole(values)
    held = np.array(values)
    os.truncate(path, 0)
    still_whole(held)
    for view in (values[3:], values.swapaxes(0, 1), np.asarray(values), values[..., 0]):
        with refuses("file", "unreadable"):
            still_whole(view)


def test_a_copy_on_write_map_is_checked_too(tmp_path):
    path = tmp_path / "probs.npy"
    np.save(path, np.full((1000, 2), 0.5))
    point = uq.Point(np.load(path, mmap_mode="c"))
    os.truncate(path, 200)
    with refuses("file", "unreadable"):
        point.mean_probs()
