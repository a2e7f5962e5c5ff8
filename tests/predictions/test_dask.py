"""Predictions in dask arrays, and rows of files."""

import subprocess
import sys

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions import check_chunks, is_dask_array
from uqassay.predictions import dask as file_rows
from uqassay.predictions.dask import file_on_dask, has_rows

# Predictions over dask arrays: what is named, what is refused before anything is computed.


@pytest.fixture
def dask_array(needs):
    needs("dask")
    import dask.array

    return lambda values, chunks=2: dask.array.from_array(np.asarray(values), chunks=chunks)


P = np.full((5, 3), 1 / 3)


def test_arguments_are_named_as_those_of_the_kind(dask_array):
    found = uq.DaskPrediction(
        uq.Intervals, dask_array(P / 2), upper=dask_array(P * 2), ids=np.arange(5), class_names=["a", "b", "c"]
    )
    assert list(found.arrays) == ["lower", "upper"]
    assert (found.n_instances, found.class_names, found.ids.tolist()) == (5, ["a", "b", "c"], list(range(5)))
    assert uq.DaskPrediction(uq.Point, dask_array(P), groups=[1, 1, 2, 2, 3]).groups == [1, 1, 2, 2, 3]
    assert (
        repr(uq.DaskPrediction(uq.Point.from_logits, dask_array(P)))
        == "DaskPrediction(Point.from_logits, logits=(5, 3))"
    )


def test_refusals_before_anything_is_computed(dask_array):
    x = dask_array(P)
    with refuses("kind", "type", got="str"):
        uq.DaskPrediction("members", x)
    with refuses("arrays", "type", got=r"ndarray.*Point"):
        uq.DaskPrediction(uq.Point, P)
    with refuses("arrays", "usage", got="n_drawn"):
        uq.DaskPrediction(uq.Dirichlet, x, n_drawn=3)
    with refuses("upper", "mismatch", got="5.*4"):
        uq.DaskPrediction(uq.Intervals, x, x[:4])
    with refuses("ids", "mismatch", got="5.*3"):
        uq.DaskPrediction(uq.Point, x, ids=[1, 2, 3])
    with refuses("groups", "mismatch", got="5.*4"):
        uq.DaskPrediction(uq.Point, x, groups=np.arange(4))
    with refuses("member_axis", "conflict", got="moveaxis"):
        uq.DaskPrediction(uq.Members, x, member_axis=0)


def test_unknown_chunks_are_refused_with_a_remedy(dask_array):
    x = dask_array(P)
    with refuses("probs", "shape", got=r"nan.*compute_chunk_sizes"):
        uq.DaskPrediction(uq.Point, x[x[:, 0] > 0.1])
    with refuses("probs", "empty"):
        uq.DaskPrediction(uq.Point, x[:0])
    assert check_chunks(x[x[:, 0] > 0.1].compute_chunk_sizes(), "probs") == 5


def test_what_is_a_dask_array(dask_array):
    assert is_dask_array(dask_array(P))
    assert not is_dask_array(P)


def test_naming_a_class_does_not_load_dask():
    code = "import sys, uqassay; uqassay.DaskPrediction, uqassay.assay; print('dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# Files of which workers read rows: every kind and format gives the prediction of the whole file, cut.


@pytest.fixture(autouse=True)
def _dask(needs):
    needs("dask", "zarr", "safetensors")


def cut(lazy, rows):
    """The prediction that a worker makes of a block of rows."""
    return lazy.kind(lazy.arrays["rows"][rows].compute(scheduler="synchronous"), **lazy.settings)


@pytest.mark.parametrize("suffix", ["npz", "zarr", "safetensors"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_every_kind(kind, suffix, tmp_path, random_generator):
    whole, path = random_prediction(kind, random_generator, 9, 4), tmp_path / f"p.{suffix}"
    uq.save(whole, path)
    assert has_rows(path)
    lazy = file_on_dask(path)
    assert (type(cut(lazy, slice(0, 1))), lazy.n_instances) == (type(whole), 9)
    part = cut(lazy, slice(3, 8))
    for name in whole.array_names():
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[3:8])
        assert getattr(part, name).dtype == getattr(whole, name).dtype


def test_weights_of_members_of_all_and_of_each_instance(tmp_path, random_generator):
    p = random_generator.dirichlet(np.ones(3), (6, 2))
    for weights in (np.array([1.0, 3.0]), random_generator.random((6, 2))):
        path = tmp_path / f"w{weights.ndim}.npz"
        whole = uq.Members(p, weights)
        uq.save(whole, path)
        np.testing.assert_array_equal(cut(file_on_dask(path), slice(2, 5)).mean_probs(), whole[2:5].mean_probs())


def test_bare_arrays_in_both_orders_and_chunks_by_bytes(tmp_path, random_generator, monkeypatch):
    p = random_generator.dirichlet(np.ones(3), (8, 5))
    monkeypatch.setattr(file_rows, "CHUNK_BYTES", 3 * p[:1].nbytes)
    for name, array in (("c", p), ("f", np.asfortranarray(p))):
        path = tmp_path / f"{name}.npy"
        np.save(path, array)
        lazy = file_on_dask(path)
        assert lazy.arrays["rows"].chunks == ((3, 3, 2),)
        part = cut(lazy, slice(3, 6)).probs
        np.testing.assert_array_equal(part, p[3:6])
        assert part.strides == array[3:6].strides  # the last bits of sums depend on it


def test_ids_groups_and_names_come_here(tmp_path, random_generator):
    whole = uq.Point(
        random_generator.dirichlet(np.ones(2), 4), ids=["d", "c", "b", "a"], groups=[1, 1, 2, 2], class_names=["x", "y"]
    )
    uq.save(whole, tmp_path / "p.npz")
    lazy = file_on_dask(tmp_path / "p.npz")
    assert (lazy.ids.tolist(), lazy.groups.tolist(), lazy.class_names) == (list("dcba"), [1, 1, 2, 2], ("x", "y"))
    part = lazy.kind(np.array([2, 3]), ids=lazy.ids[2:], class_names=lazy.class_names)
    assert (part.ids.tolist(), part.class_names) == (["b", "a"], ("x", "y"))


def test_compressed_files_tables_and_beliefs_have_no_rows(tmp_path):
    np.savez(tmp_path / "b.npz", beliefs=np.ones((2, 3)), focal_sets=np.eye(3, dtype=bool))
    assert not has_rows(tmp_path / "b.npz")
    np.savez_compressed(tmp_path / "p.npz", probs=np.full((3, 2), 0.5))
    assert not has_rows(tmp_path / "p.npz")
    assert not has_rows(tmp_path / "p.csv")


def test_a_worker_that_finds_another_file_refuses_it(tmp_path):
    path = tmp_path / "p.npy"
    np.save(path, np.full((6, 2), 0.5))
    lazy = file_on_dask(path)
    np.save(path, np.full((5, 2), 0.5))
    with refuses("array", "mismatch", got=r"\(5, 2\).*\(6, 2\)", source="p.npy", error=FileFormatError):
        cut(lazy, slice(0, 2))
    path.unlink()
    with refuses("path", error=FileFormatError):
        cut(lazy, slice(0, 2))
