"""From what users give to arrays: conversion, finite values, chunks of rows."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import uqassay as uq
from tests.refusals import refuses
from uqassay.arrays import (
    SCATTERED_ROWS,
    argmax_of_rows,
    as_array,
    as_bfloat16,
    as_labels,
    as_numeric,
    check_rows,
    draw_per_row,
    generator,
    lone_surrogates,
    release,
    row_chunks,
    scratch,
    still_whole,
    taken,
    tolerance_of,
)
from uqassay.errors import InputError
from uqassay.text import shown

# -- Checks of rows, tolerances, labels and seeds ----------------------------------------------------------------------


@pytest.mark.parametrize("rng", [-1, 0.5, "seed", {}, np.zeros((2, 2))])
def test_no_seed(rng):
    with refuses("rng", "range", got="whole number from 0 up, a generator or None; got"):
        generator(rng)
    with refuses("rng", "range"):
        draw_per_row(lambda g, i: g.random(1), np.empty((1, 1)), np.arange(1), rng)


def test_draws_depend_on_the_row_number():
    rows = np.array([7, 3, 7])
    out = draw_per_row(lambda g, i: g.random(4), np.empty((3, 4)), rows, 5)
    np.testing.assert_array_equal(out[0], out[2])
    np.testing.assert_array_equal(draw_per_row(lambda g, i: g.random(4), np.empty((1, 4)), rows[1:2], 5)[0], out[1])


def test_the_tolerance_follows_the_precision():
    assert tolerance_of(np.zeros(2)) == tolerance_of([0.5]) == tolerance_of(np.zeros(2, int)) == 1e-6
    assert tolerance_of(np.zeros(2), np.zeros(2, np.float16)) == 1e-3
    coarse = np.array([[0.333251953125, 0.66650390625]])  # float16 of 1/3 and 2/3, and a multiple of 2⁻¹²
    assert [tolerance_of(coarse.astype(t)) for t in (np.float16, np.float32, np.float64)] == [1e-3, 1e-4, 1e-6]
    marked = as_bfloat16(np.array([[0.5, 0.5]], np.float32))
    for kept in (marked, marked[:1], marked.T, marked.copy(), as_numeric(marked, "a"), np.ascontiguousarray(marked)):
        assert tolerance_of(kept) == 8e-3
    assert tolerance_of(np.array(marked.tolist())) == 1e-6


@pytest.mark.parametrize("neighbours", [[[0.5, 0.5]], [[1 / 3, 2 / 3]], [[0.2, 0.8]] * 5])
def test_whether_a_row_is_valid_is_independent_of_its_neighbours(neighbours):
    row = np.array([[0.333251953125, 0.66650390625]])  # sums to 0.99976
    for probs in (row, np.concatenate([row, neighbours]), np.concatenate([row, neighbours]).astype(np.float32)):
        with refuses("probs", "sum", got=r"row 0 sums to 0\.999756"):
            check_rows(probs, "probs", tolerance=tolerance_of(probs))


def test_the_first_broken_row_is_named_in_every_chunk():
    probs = np.full((300_000, 8), 0.125)
    probs[299_999, 3] += 1e-3
    with refuses("probs", "sum", got=r"row 299999 sums to 1\.001") as refusal:
        check_rows(probs, "probs", tolerance=1e-6)
    assert refusal.value.facts == {"row": 299_999, "look": "counts"}
    probs[250_000, 7] = np.nan
    with refuses("probs", "finite", got=r"row 250000 holds nan at \[250000, 7\]"):
        check_rows(probs, "probs", tolerance=1e-6)


@pytest.mark.parametrize(
    ("labels", "code", "got"),
    [
        ([0, 3], "range", "0 … 2; row 1 holds 3"),
        ([-1, 0], "range", "row 0 holds -1"),
        ([0.5, 0], "type", r"row 0 holds 0\.5"),
        ([0], "mismatch", "2 instances; got 1"),
        (np.ma.masked_array([0, 1], [True, False]), "masked", ""),
        (np.array([0, None], dtype=object), "type", "NoneType"),
        ([[1, 2], [0, 1]], "mismatch", "3 classes; got 2"),
        ([[1, 2, -1], [0, 1, 0]], "range", "row 0 holds -1"),
        ([[0, 0, 0], [0, 1, 0]], "empty", "row 0 has none"),
    ],
)
def test_labels_that_are_refused(labels, code, got):
    with refuses("y", code, got=got):
        as_labels(labels, 3, n_instances=2, name="y")


def test_votes_become_shares_even_beyond_the_largest_number():
    votes = as_labels([[1, 3, 0], [0, 0, 5]], 3)
    assert votes.tolist() == [[0.25, 0.75, 0], [0, 0, 1]]
    assert as_labels([[1e308, 1e308, 0.0]], 3).tolist() == [[0.5, 0.5, 0]]


def test_a_sum_that_is_not_one_is_shown_with_its_digits():
    with pytest.raises(InputError, match=r"sums to 1\.000002;"):
        check_rows(np.array([[0.5, 0.500002]]), "probs", tolerance=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_classes_on_another_axis_are_recognised(axis):
    probs = np.random.default_rng(0).dirichlet(np.ones(4), (5, 3))
    moved = np.moveaxis(probs, -1, axis)
    with pytest.raises(InputError, match=f"move the classes to the last axis: the values along axis {axis} sum to 1"):
        check_rows(moved, "probs", tolerance=1e-6)


# -- Conversion to plain arrays; refusal of masked, sparse, ragged and object arrays and of missing values -------------


HALF = np.full((2, 2), 0.5)


def test_arrays_and_memory_maps_are_not_copied(tmp_path):
    np.save(tmp_path / "a.npy", HALF)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert as_numeric(HALF, "a") is HALF
    assert as_numeric(mapped, "a") is mapped
    table = pd.DataFrame(HALF)
    np.testing.assert_array_equal(as_numeric(table, "a"), HALF)
    assert type(as_numeric(scipy.sparse.coo_matrix(HALF).todense(), "a")) is np.ndarray


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        (np.ma.masked_array(HALF, [[True, False], [False, False]]), "masked", r"MaskedArray of shape \(2, 2\)"),
        (np.ma.masked_array(HALF), "masked", "MaskedArray"),
        ([np.ma.masked_array([0.5, 0.5], [True, False]), [0.5, 0.5]], "masked", r"MaskedArray of shape \(2,\)"),
        (scipy.sparse.csr_array(HALF), "sparse", r"csr_array of shape \(2, 2\)"),
        (scipy.sparse.coo_matrix(HALF), "sparse", "coo_matrix"),
        (HALF.astype(object), "type", "got dtype object with numbers in it; .*astype"),
        (np.array([[0.5, None]]), "type", "NoneType"),
        (np.array([["a"]]), "type", "got dtype <U1; give the columns or rows of numbers alone"),
        (HALF.astype(complex), "type", "got dtype complex128"),
        (None, "missing", "it is None"),
        ({"a": 1}, "type", "got dict"),
        ({0.5}, "type", "got set"),
        (uq.Point(HALF), "type", "got Point"),
        ([[0.5], [0.5, 0.5]], "ragged", "unequal lengths"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0.5, 0.5]}), "missing", "row 1 holds"),
    ],
)
def test_refused(values, code, got):
    with refuses("a", code, got=got):
        as_numeric(values, "a")


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_tensors(needs):
    needs("torch")
    import torch

    tensor = torch.tensor(HALF, requires_grad=True)
    np.testing.assert_array_equal(as_numeric(tensor, "a"), HALF)
    np.testing.assert_array_equal(as_numeric([tensor, tensor], "a"), [HALF, HALF])
    assert as_numeric(tensor.to(torch.bfloat16), "a").dtype == np.float32
    np.testing.assert_array_equal(as_numeric(tensor.T, "a"), HALF)
    np.testing.assert_array_equal(as_numeric([torch.tensor(1), torch.tensor(2)], "a"), [1, 2])
    for sparse in (tensor.detach().to_sparse(), tensor.detach().to_sparse(1)):
        with refuses("a", "sparse", got=r"Tensor of shape \(2, 2\)"):
            as_numeric(sparse, "a")
    with refuses("a", "masked"):
        as_numeric(torch.masked.masked_tensor(tensor.detach(), tensor.detach() > 0.6), "a")


def test_text_and_dates_are_arrays_but_not_numbers():
    assert as_array(["a", "b"], "a").dtype.kind == "U"
    assert as_array(pd.Series(["a", "b"]), "a").tolist() == ["a", "b"]
    assert as_array(pd.Series([True, False], dtype="boolean"), "a").tolist() == [1, 0]


@pytest.mark.parametrize("measure", [uq.measures.upper_entropy, uq.measures.least_confidence])
def test_masks_are_refused_where_arrays_are_taken_for_predictions(measure):
    with refuses("prediction", "masked"):
        measure(np.ma.masked_array([[0.2, 0.8]], [[True, False]]))


def test_values_are_shown_in_one_short_line():
    assert shown(HALF) == "ndarray of shape (2, 2)"
    assert shown("x" * 100) == "str"
    assert shown(10**400) == "a whole number beyond 1e+30"
    assert shown(None) == "None"


def test_lone_surrogates_in_every_shape_and_byte_order():
    texts = [["a\ud800", "b"], ["\U0001f600", "\udfff"]]
    for order in "<>":
        assert lone_surrogates(np.array(texts, dtype=f"{order}U2")).tolist() == [[True, False], [False, True]]
    assert lone_surrogates("x\udc00").tolist() == [True]
    assert lone_surrogates(np.empty((0, 2), "U3")).shape == (0, 2)
    assert not lone_surrogates(np.ones(3)).any()


# -- Rows of memory maps: selection, release of pages, refusal of truncated files --------------------------------------


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
