"""Labels on another device are checked there, in the sentences of NumPy arrays."""

import numpy as np
import pytest
from tests.other_arrays import LIBRARIES, force_computation_elsewhere, library, numbers
from tests.refusals import refuses

import uqassay as uq
from uqassay.predictions.devices import labels_on_device, probs_on_device
from uqassay.predictions.labels import labels_for

PROBS = np.full((4, 3, 5), 0.2)
SIZES = {"n_instances": 4, "n_classes": 5, "n_members": 3}
LABELS = {
    "indices": np.array([0, 4, 2, 2]),
    "whole fractions": np.array([0.0, 4.0, 2.0, 2.0]),
    "votes": np.array([[1, 2, 0, 0, 1]] * 3 + [[0, 0, 0, 0, 4]]),
    "shares": np.full((4, 5), 0.2),
    "negative": np.array([0, 1, -1, 2]),
    "too large": np.array([0, 5, 1, 2]),
    "fraction": np.array([0, 1, 1.5, 2]),
    "nan": np.array([0, 1, 1, np.nan]),
    "too few": np.array([0, 1]),
    "one for each member": np.array([0, 1, 2]),
    "columns": np.ones((4, 3)),
    "three axes": np.ones((4, 5, 1)),
    "negative votes": np.array([[1.0, 0, 0, 0, 0]] * 3 + [[2, -1, 0, 0, 0]]),
    "no votes": np.array([[1.0, 0, 0, 0, 0]] * 3 + [[0, 0, 0, 0, 0]]),
    "votes that are nan": np.array([[1.0, 0, 0, 0, 0]] * 3 + [[0, np.nan, 0, 0, 0]]),
}


@pytest.mark.parametrize(
    ("which", "case"),
    [*((which, case) for which in ("strict", "torch") for case in LABELS), ("jax", "indices"), ("jax", "fraction")],
)
def test_against_labels_of_numpy(needs, monkeypatch, which, case):
    needs(LIBRARIES[which])
    force_computation_elsewhere(monkeypatch)
    used = library(which)
    probs = probs_on_device(used.make(PROBS))
    try:
        expected = labels_for(LABELS[case], **SIZES)
    except uq.InputError as problem:
        expected = problem
    if isinstance(expected, uq.InputError):
        for given in (used.make(LABELS[case]), LABELS[case]):
            with refuses("y_true", expected.code) as refusal:
                labels_on_device(given, probs)
            assert str(refusal.value) == str(expected)
        return
    for given in (used.make(LABELS[case]), LABELS[case], LABELS[case].tolist()):
        found = labels_on_device(given, probs)
        assert type(found) is type(probs.probs)
        np.testing.assert_allclose(numbers(found), expected, rtol=2 * used.eps)


def test_labels_on_a_third_device_are_refused(needs):
    needs("array_api_strict")
    import array_api_strict as xp

    probs = probs_on_device(library("strict").make(PROBS))
    with refuses("y_true", "mismatch", got="device2"):
        labels_on_device(xp.asarray([0, 1, 2, 3], device=xp.Device("device2")), probs)


def test_huge_votes(needs):
    needs("array_api_strict")
    probs = probs_on_device(library("strict").make(np.full((1, 5), 0.2)))
    found = labels_on_device(library("strict").make(np.array([[1e308, 1e308, 0, 0, 0]])), probs)
    assert numbers(found).tolist() == [[0.5, 0.5, 0, 0, 0]]
