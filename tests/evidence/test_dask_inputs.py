"""Inputs cut into chunks: the widest dask array decides, or the bytes of predictions in memory."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay._workers import unpacked
from uqassay.evidence import dask as dask_inputs
from uqassay.evidence.dask import DaskInputs, holds_dask
from uqassay.frames import FromFile


@pytest.fixture
def da(needs):
    needs("dask")
    import dask.array

    return dask.array


def inputs(predictions, n=12, y_true=None, **more):
    y_true = np.arange(n) % 2 if y_true is None else y_true
    return DaskInputs.of(predictions, y_true, here=lambda value: value, **more)


def cuts(found):
    return [(chunk.start, chunk.stop) for chunk in found.chunks(lambda tasks: tasks)]


def test_the_widest_array_decides_where_chunks_begin(da):
    narrow, wide = np.full((12, 2), 0.5), np.full((12, 5, 2), 0.5)
    found = inputs({"a": da.from_array(narrow, chunks=(5, 2)), "b": da.from_array(wide, chunks=(8, 2, 1))})
    assert cuts(found) == [(0, 8), (8, 12)]
    first, second = found.chunks(lambda tasks: tasks)
    assert [first.arguments[name][0][0].compute(scheduler="sync").shape for name in "ab"] == [(8, 2), (8, 5, 2)]
    assert second.y_true.tolist() == [0, 1, 0, 1]


def test_predictions_in_memory_are_cut_by_their_bytes(da, monkeypatch):
    p = np.full((12, 5, 2), 0.5)
    monkeypatch.setattr(dask_inputs, "CHUNK_BYTES", 400)
    assert cuts(inputs({"m": p})) == [(0, 5), (5, 10), (10, 12)]
    monkeypatch.setattr(dask_inputs, "MOST_SENT", 900)
    with refuses("models['m']", "size", got=r"\.zarr"):
        inputs({"m": p})


def test_groups_of_a_prediction_are_those_of_all(da):
    groups = np.repeat(["a", "b", "c"], 4)
    memory = uq.Point(np.full((12, 2), 0.5), groups=groups)
    found = inputs({"a": da.from_array(np.full((12, 2), 0.5), chunks=(5, 2)), "b": memory})
    assert found.others(4, 6)["groups"].tolist() == ["b", "b"]
    lazy = uq.DaskPrediction(
        uq.Point, da.from_array(np.full((12, 2), 0.5), chunks=(5, 2)), groups=da.from_array(groups)
    )
    found = DaskInputs.of({"m": lazy}, np.arange(12) % 2, here=lambda value: getattr(value, "compute", lambda: value)())
    assert found.groups.tolist() == groups.tolist()
    with refuses("groups", "type", got="both"):
        inputs({"b": memory}, groups=np.array([1, "a"] * 6, dtype=object))


def test_lists_with_a_dask_array_hold_runs(da):
    p = np.full((12, 2), 0.5)
    assert holds_dask({"m": [p, da.from_array(p)]})
    found = inputs({"m": [uq.Point(p), da.from_array(p, chunks=(6, 2))]})
    assert [run.packed for run in found.models["m"]] == [True, False]
    with refuses("predictions", "empty"):
        inputs({})
    with refuses("predictions", "duplicate"):
        inputs({1: da.from_array(p), "1": p})
    with refuses("predictions", "choice", got="vacuous"):
        inputs({"vacuous": da.from_array(p)})


def test_rows_follow_the_ids_of_the_first_model(da):
    ids, p = np.array(list("wxyz")), np.array([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    first = uq.DaskPrediction(uq.Point, da.from_array(p, chunks=(2, 2)), ids=ids)
    models, labels = {"a": first, "b": uq.Point(p[::-1], ids=ids[::-1])}, pd.Series([1, 0, 1, 0], index=ids[::-1])
    found = inputs(models, n=4, y_true=labels)
    assert found.y_true.tolist() == [0, 1, 0, 1]
    with refuses("y_true", "ids"):
        inputs(models, n=4)
    moved = unpacked(found.chunks(lambda tasks: tasks)[1].arguments["b"][0][0])
    assert (moved.probs.tolist(), moved.ids.tolist()) == (p[2:].tolist(), ["y", "z"])
    with refuses("models['b'].ids", "ids", got="row 0"):
        inputs({"a": first, "b": uq.DaskPrediction(uq.Point, da.from_array(p), ids=ids[::-1])}, n=4)
    with refuses("models['b']", "ids"):
        inputs({"a": first, "b": uq.Point(p, ids=list("wxyq"))}, n=4)


@pytest.mark.parametrize("told", [True, False])
def test_masked_arrays_are_refused_as_those_of_numpy_are(told):
    import dask.array as da

    values, mask = np.full((8, 2), 0.5), np.arange(16).reshape(8, 2) == 9
    if told:
        array = da.from_array(np.ma.masked_array(values, mask=mask), chunks=(4, 2))
    else:  # dask does not know that the chunks are masked
        hide = {"dtype": float, "meta": np.empty((0, 0))}
        array = da.map_blocks(
            lambda part: np.ma.masked_array(part, mask=part < 1), da.from_array(values, chunks=(4, 2)), **hide
        )
    for model in (array, uq.DaskPrediction(uq.Point, array)):
        with refuses("models['m'].probs", "masked", got="MaskedArray"):
            uq.assay({"m": model}, [0, 1] * 4)
    hidden = da.from_array(np.ma.masked_array(np.arange(8) // 4, mask=np.arange(8) == 7), chunks=4)
    plain = da.from_array(values, chunks=(4, 2))
    with refuses("y_true", "masked"):
        uq.assay({"m": plain}, hidden)
    for name in ("ids", "groups"):
        with refuses(name, "masked"):
            uq.assay({"m": uq.DaskPrediction(uq.Point, plain, **{name: hidden})}, [0, 1] * 4)


def test_labels_of_a_file_keep_their_own_order_of_classes(da):
    """Indices among class names that stand beside the labels, and a column that tells the rows."""
    p = np.array([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    key = np.array(list("wxyz"))
    held = uq.Point(p, class_names=("no", "yes"), keys={"image": key})
    labels = FromFile([0, 1, 1, 0], class_names=("yes", "no"), keys={"image": key[::-1]})  # of z, y, x, w
    models = {"a": uq.DaskPrediction(uq.Point, da.from_array(p), class_names=("no", "yes")), "b": held}
    for order in ("ab", "ba"):
        found = uq.assay({name: models[name] for name in order}, labels, calibration=(), n_draws=10)
        assert found.labels.tolist() == [1, 0, 0, 1]
