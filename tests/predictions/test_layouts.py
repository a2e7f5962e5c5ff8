"""Outputs of FD-Shifts: one array without names, known by the file's name."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions.files import inspect_file

LOGITS = np.random.default_rng(0).normal(0, 3, size=(6, 4))
LABELS = np.array([0, 3, 1, 2, 2, 0])
SETS = np.array([0, 0, 1, 1, 1, 5])


def softmax(values: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(values - values.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_logits_labels_and_data_sets_come_apart(tmp_path, dtype):
    table = np.column_stack([LOGITS, LABELS, SETS]).astype(dtype)
    np.savez_compressed(tmp_path / "raw_logits.npz", table)
    prediction = uq.load(tmp_path / "raw_logits.npz")
    assert isinstance(prediction, uq.Point)
    np.testing.assert_allclose(prediction.probs, softmax(table[:, :4].astype(float), 1), rtol=1e-12)
    labels = uq.load_labels(tmp_path / "raw_logits.npz")
    dataset_idx = uq.load_labels(tmp_path / "raw_logits.npz", key="dataset_idx")
    assert labels.tolist() == LABELS.tolist()
    assert dataset_idx.tolist() == SETS.tolist()
    (note,) = prediction.notes
    assert (note.code, note.facts["rows"]) == ("data-sets", {0: 2, 1: 3, 5: 1})
    assert prediction[dataset_idx == 1].n_instances == 3


def test_one_data_set_needs_no_note(tmp_path):
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([LOGITS, LABELS, np.zeros(6)]))
    assert uq.load(tmp_path / "raw_logits.npz").notes == ()


def test_softmax_outputs_of_older_versions(tmp_path):
    probs = softmax(LOGITS, 1)
    np.savez(tmp_path / "raw_output.npz", np.column_stack([probs, LABELS, SETS]))
    np.testing.assert_array_equal(uq.load(tmp_path / "raw_output.npz").probs, probs)


@pytest.mark.parametrize("name", ["raw_logits_dist.npz", "raw_output_dist.npz"])
def test_dropout_passes_become_members(tmp_path, name):
    passes = np.random.default_rng(1).normal(0, 3, size=(6, 4, 10))  # (N, C, M)
    probs = softmax(passes, 1)
    np.savez(tmp_path / name, passes if "logits" in name else probs)
    prediction = uq.load(tmp_path / name)
    assert prediction.probs.shape == (6, 10, 4)
    np.testing.assert_allclose(prediction.probs[2, 7], probs[2, :, 7], rtol=1e-12)
    with refuses("key", "missing", source=name, error=FileFormatError):
        uq.load_labels(tmp_path / name)


def test_only_the_name_or_the_kind_makes_it_one(tmp_path):
    table = np.column_stack([LOGITS, LABELS, SETS])
    np.savez(tmp_path / "other.npz", table)
    with refuses("probs", "not-probabilities", got="row 0 holds", source="other.npz", error=FileFormatError):
        uq.load(tmp_path / "other.npz")
    np.testing.assert_allclose(uq.load(tmp_path / "other.npz", kind="fd-shifts").probs, softmax(LOGITS, 1), rtol=1e-12)
    np.savez(tmp_path / "raw_logits.npz", probs=softmax(LOGITS, 1))  # named keys speak for themselves
    np.testing.assert_array_equal(uq.load(tmp_path / "raw_logits.npz").probs, softmax(LOGITS, 1))


@pytest.mark.parametrize(
    ("arrays", "parameter", "code", "got"),
    [
        ({"arr_0": LOGITS + 0.5}, "arr_0", "type", "row 0 holds .* as label"),
        ({"arr_0": np.column_stack([LOGITS, LABELS, SETS + 0.5])}, "arr_0", "type", "row 0 holds 0.5 as dataset_idx"),
        ({"arr_0": LOGITS[:, :3]}, "arr_0", "shape", r"got shape \(6, 3\)"),
        ({"arr_0": LOGITS, "arr_1": LOGITS}, "kind", "missing", "found arr_0, arr_1"),
    ],
)
def test_what_is_not_of_that_form_is_refused(tmp_path, arrays, parameter, code, got):
    np.savez(tmp_path / "raw_logits.npz", **arrays)
    with refuses(parameter, code, got=got, source="raw_logits.npz", error=FileFormatError):
        uq.load(tmp_path / "raw_logits.npz", kind="fd-shifts")


def test_inspection_tells_the_parts(tmp_path):
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([LOGITS, LABELS, SETS]))
    found = inspect_file(tmp_path / "raw_logits.npz")
    assert (found["kind"], found["n_instances"], found["n_classes"], found["labels"]) == ("point", 6, 4, True)
    assert found["ignored"] == ["dataset_idx"]
