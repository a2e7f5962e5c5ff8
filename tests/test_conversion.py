"""Conversion to plain arrays; refusal of masked, sparse, ragged and object arrays and of missing values."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import uqassay as uq
from tests.refusals import refuses
from uqassay.arrays import as_array, as_numeric, lone_surrogates
from uqassay.text import shown

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
