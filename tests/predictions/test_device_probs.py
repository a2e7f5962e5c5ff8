"""Probabilities on another device are refused in the sentences of NumPy arrays, with their rows."""

import numpy as np
import pytest
from tests.other_arrays import LIBRARIES, library, numbers

import uqassay as uq
from uqassay.predictions import as_prediction
from uqassay.predictions.devices import first_true, probs_on_device

PROBS = np.random.default_rng(1).dirichlet(np.ones(4), (6, 3))


def changed(*at_and_value):
    *at, value = at_and_value
    probs = PROBS.copy()
    probs[tuple(at)] = value
    return probs


BROKEN = {
    "nan": changed(3, 1, 2, np.nan),
    "infinite": changed(2, 0, 0, np.inf),
    "negative": changed(4, 2, 1, -0.5),
    "above 1": changed(5, 0, 0, 1.5),
    "sum": changed(3, 1, 2, 0.9),
    "sum, with a negative row": np.concatenate([changed(0, 1, 2, 0.9), [[[-1e-9, 1 + 1e-9, 0, 0]] * 3]]),
    "sets of classes": np.ones((3, 2, 2)),
    "one class": np.ones((3, 1)),
    "no instance": np.ones((0, 3)),
    "one axis": np.ones(3),
    "no member": np.ones((2, 0, 3)),
    "four axes": np.ones((2, 2, 2, 2)) / 2,
}


@pytest.mark.parametrize(
    ("which", "case"),
    [*((which, case) for which in ("strict", "torch") for case in BROKEN), ("jax", "nan"), ("jax", "sum")],
)
def test_refusals_are_those_of_numpy(needs, which, case):
    needs(LIBRARIES[which])
    used = library(which)
    for probs in (
        BROKEN[case],
        BROKEN[case][:, 0] if BROKEN[case].ndim == 3 and BROKEN[case].shape[1] else BROKEN[case],
    ):
        given = used.cast(probs)
        sentences = []
        for take in (lambda g=given: as_prediction(g), lambda g=given: probs_on_device(used.make(g))):
            try:
                take()
            except uq.InputError as problem:
                sentences.append((str(problem), problem.code, problem.facts))
            else:
                sentences.append(None)
        assert sentences[0] == sentences[1]


@pytest.mark.parametrize("which", LIBRARIES)
def test_against_members_and_points(needs, which):
    needs(LIBRARIES[which])
    used = library(which)
    for probs in (PROBS, PROBS[:, 0], PROBS[:1], PROBS[:, :1])[
        : 1 if which == "jax" else None
    ]:  # JAX compiles each shape
        expected, found = as_prediction(used.cast(probs)), probs_on_device(used.make(probs))
        assert (len(found), found.n_classes, found.is_point) == (len(expected), 4, isinstance(expected, uq.Point))
        for name in ("mean_probs", "lower_probs", "upper_probs", "labels"):
            np.testing.assert_allclose(numbers(getattr(found, name)()), getattr(expected, name)(), rtol=4 * used.eps)
        y = np.array([0, 3, 1, 2, 2, 0])[: len(expected)]
        of_label = expected.upper_probs()[np.arange(len(y)), y]
        np.testing.assert_allclose(numbers(found.upper_of_label(found.whole(y))), of_label, rtol=used.eps)


def test_small_negative_values_within_the_tolerance_count_as_0(needs):
    needs("array_api_strict")
    probs = probs_on_device(library("strict").make([[-1e-9, 1.0 + 1e-9]]))
    assert numbers(probs.mean_probs()).tolist() == [[0.0, 1.0 + 1e-9]]


def test_the_first_row_that_is_true():
    assert first_true(np, np.array([False, True, True])) == 1
    assert first_true(np, np.zeros(3, dtype=bool)) is None


@pytest.mark.parametrize("which", LIBRARIES)
def test_whole_numbers(needs, which):
    needs(LIBRARIES[which])
    probs = probs_on_device(library(which).make(np.eye(3, dtype=np.int32)[None]))
    np.testing.assert_allclose(numbers(probs.mean_probs()), 1 / 3, rtol=library(which).eps)
