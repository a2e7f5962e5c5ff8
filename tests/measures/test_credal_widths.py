"""Credal width: the difference of bounds in three readings."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures.imprecision import credal_width


@dataclass(frozen=True)
class Bounds:
    """Stand-in for a prediction."""

    lower: np.ndarray
    upper: np.ndarray
    predicted: np.ndarray

    def lower_probs(self):
        return self.lower

    def upper_probs(self):
        return self.upper

    def labels(self):
        return self.predicted


def members_as_bounds(n, M, K, seed=0, dtype=np.float64):
    p = np.random.default_rng(seed).dirichlet(np.ones(K), size=(n, M)).astype(dtype)
    return Bounds(p.min(axis=1), p.max(axis=1), p.mean(axis=1).argmax(axis=1))


def test_width_against_hand_computation():
    prediction = Bounds(
        np.array([[0.5, 0.1, 0.1], [0.0, 0.0, 0.0], [0.2, 0.3, 0.5]]),
        np.array([[0.8, 0.2, 0.3], [1.0, 1.0, 1.0], [0.2, 0.3, 0.5]]),
        np.array([1, 2, 0]),
    )
    np.testing.assert_allclose(credal_width(prediction), [0.2, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(credal_width(prediction, of="predicted"), [0.1, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(credal_width(prediction, of="max"), [0.3, 1.0, 0.0], atol=1e-15)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(1, 5), st.integers(2, 12), st.integers(0, 2**31))
def test_width_against_loop(n, M, K, seed):
    prediction = members_as_bounds(n, M, K, seed)
    gaps = [
        [float(b - a) for a, b in zip(*row, strict=True)]
        for row in zip(prediction.lower, prediction.upper, strict=True)
    ]
    np.testing.assert_allclose(credal_width(prediction), [sum(g) / K for g in gaps], atol=1e-14)
    np.testing.assert_array_equal(credal_width(prediction, of="max"), [max(g) for g in gaps])
    np.testing.assert_array_equal(
        credal_width(prediction, of="predicted"), [g[k] for g, k in zip(gaps, prediction.predicted, strict=True)]
    )


def test_more_members_never_narrow_the_set(random_generator):
    p = random_generator.dirichlet(np.ones(6), size=(100, 8))
    label = p.mean(axis=1).argmax(axis=1)
    few, many = (Bounds(q.min(axis=1), q.max(axis=1), label) for q in (p[:, :3], p))
    for of in ("mean", "predicted", "max"):
        assert (credal_width(many, of=of) >= credal_width(few, of=of)).all()


@pytest.mark.parametrize("of", ["mean", "predicted", "max"])
def test_no_row_depends_on_another_bit_for_bit(of):
    whole = members_as_bounds(50, 4, 33)
    widths = credal_width(whole, of=of)
    one_by_one = [
        credal_width(Bounds(whole.lower[i : i + 1], whole.upper[i : i + 1], whole.predicted[i : i + 1]), of=of)
        for i in range(50)
    ]
    np.testing.assert_array_equal(np.concatenate(one_by_one), widths)
    columns_first = Bounds(np.asfortranarray(whole.lower), np.asfortranarray(whole.upper), whole.predicted)
    np.testing.assert_array_equal(credal_width(columns_first, of=of), widths)


def test_single_precision_is_computed_in_double():
    prediction = members_as_bounds(20, 3, 5, dtype=np.float32)
    found = credal_width(prediction)
    assert found.dtype == np.float64
    wide = Bounds(prediction.lower.astype(np.float64), prediction.upper.astype(np.float64), prediction.predicted)
    np.testing.assert_array_equal(found, credal_width(wide))


@pytest.mark.parametrize("of", ["mean", "predicted", "max"])
def test_a_point_has_no_width(of, random_generator):
    probs = random_generator.dirichlet(np.ones(3), 5)
    np.testing.assert_array_equal(credal_width(uq.Point(probs), of=of), np.zeros(5))
    np.testing.assert_array_equal(credal_width(uq.Members(probs[:, np.newaxis]), of=of), np.zeros(5))


def test_unknown_choice_is_refused():
    with refuses("of", "choice", got="got 'median'"):
        credal_width(members_as_bounds(2, 2, 2), of="median")
