"""Predictions over dask arrays: what is named, what is refused before anything is computed."""

import subprocess
import sys

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.predictions import check_chunks, is_dask_array


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
