"""The gain from more data and the uncertainties under known label probabilities."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import GAIN_LOSSES, gain, true_uncertainty

seeds = st.integers(0, 2**32 - 1)


def random_probs(rng, n, k):
    return rng.dirichlet(np.ones(k), n)


@pytest.mark.parametrize("loss", GAIN_LOSSES)
@settings(deadline=None, max_examples=20)
@given(seed=seeds, k=st.integers(2, 6))
def test_gain_against_brute_force(loss, seed, k):
    rng = np.random.default_rng(seed)
    y, before, after = rng.integers(k, size=15), random_probs(rng, 15, k), random_probs(rng, 15, k)

    def loss_of(p, label):
        if loss == "zero-one":
            return float(p.argmax() != label)
        return -np.log(p[label]) if loss == "log" else sum((p[c] - (c == label)) ** 2 for c in range(k))

    expected = [loss_of(b, label) - loss_of(a, label) for b, a, label in zip(before, after, y, strict=True)]
    np.testing.assert_allclose(gain(y, before, after, loss=loss), expected, atol=1e-12)


def test_predicted_labels_and_predictions_agree():
    rng = np.random.default_rng(0)
    y, before, after = rng.integers(4, size=50), random_probs(rng, 50, 4), random_probs(rng, 50, 4)
    expected = gain(y, before, after)
    assert set(expected) <= {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(gain(y, before.argmax(1), after.argmax(1)), expected)
    np.testing.assert_array_equal(gain(y, before.argmax(1), after), expected)
    np.testing.assert_array_equal(gain(y, before, after.argmax(1)), expected)
    members = uq.Members(np.stack([before, before], axis=1))
    np.testing.assert_array_equal(gain(y, members, uq.Point(after)), expected)


def test_names_of_classes():
    before = uq.Point([[0.9, 0.1], [0.2, 0.8]], class_names=("cat", "dog"))
    assert gain(["cat", "cat"], before, ["cat", "cat"]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("loss", GAIN_LOSSES)
def test_label_distributions_give_the_expected_gain(loss):
    """Of the zero-one and the log loss; the Brier loss differs by the same constant before and after."""
    rng = np.random.default_rng(1)
    votes, before, after = rng.integers(1, 9, (20, 3)), random_probs(rng, 20, 3), random_probs(rng, 20, 3)
    shares = votes / votes.sum(axis=1, keepdims=True)
    by_label = np.stack([gain(np.full(20, c), before, after, loss=loss) for c in range(3)], axis=1)
    np.testing.assert_allclose(gain(votes, before, after, loss=loss), (shares * by_label).sum(axis=1), atol=1e-12)
    if loss == "zero-one":
        np.testing.assert_allclose(gain(votes, before.argmax(1), after.argmax(1)), (shares * by_label).sum(axis=1))


def test_logarithms_share_one_floor():
    """The same zero in float32 and float64 is no gain."""
    zero = np.array([[0.0, 1.0]])
    assert gain([0], zero.astype(np.float32), zero, loss="log").tolist() == [0.0]


def test_exchange_changes_the_sign():
    rng = np.random.default_rng(2)
    y, before, after = rng.integers(3, size=30), random_probs(rng, 30, 3), random_probs(rng, 30, 3)
    for loss in GAIN_LOSSES:
        np.testing.assert_array_equal(gain(y, before, after, loss=loss), -gain(y, after, before, loss=loss))


# -- true uncertainty --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", GAIN_LOSSES)
@settings(deadline=None, max_examples=20)
@given(seed=seeds, k=st.integers(2, 6))
def test_true_uncertainty_against_expected_losses(loss, seed, k):
    rng = np.random.default_rng(seed)
    true, predicted = random_probs(rng, 12, k), random_probs(rng, 12, k)
    found = true_uncertainty(true, predicted, loss=loss)
    np.testing.assert_array_equal(found.total, found.aleatoric + found.epistemic)
    assert (found.epistemic >= 0).all()
    best = true  # P(y|x) is the best prediction under each of the three losses
    gains = np.stack([gain(np.full(12, c), predicted, best, loss=loss) for c in range(k)], axis=1)
    np.testing.assert_allclose(found.epistemic, (true * gains).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(true_uncertainty(true, true, loss=loss).epistemic, 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", GAIN_LOSSES)
def test_mean_gain_is_the_true_epistemic_uncertainty(loss):
    """A closed-form world: labels drawn from P(y|x), `after` the best prediction."""
    rng = np.random.default_rng(3)
    n = 40_000
    true, predicted = random_probs(rng, n, 3), random_probs(rng, n, 3)
    y = (rng.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1)
    difference = gain(y, predicted, true, loss=loss) - true_uncertainty(true, predicted, loss=loss).epistemic
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(n)


def test_true_uncertainty_of_labels_and_zeros():
    found = true_uncertainty([[1.0, 0.0], [0.5, 0.5]], [1, 0])
    assert (found.aleatoric.tolist(), found.epistemic.tolist()) == ([0.0, 0.5], [1.0, 0.0])
    certain = true_uncertainty([[1.0, 0.0]], [[1.0, 0.0]], loss="log")
    assert (certain.aleatoric.tolist(), certain.epistemic.tolist()) == ([0.0], [0.0])


# -- input -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_odd_arrays(dtype):
    probs = np.tile(np.array([[0.25, 0.75]], dtype=dtype), (4, 1))[::2]
    probs.flags.writeable = False
    assert gain(np.array([1, 0], dtype=np.int8), probs, probs, loss="brier").tolist() == [0.0, 0.0]


def test_bad_input():
    p = np.array([[0.5, 0.5], [0.5, 0.5]])
    with refuses("after", "mismatch", got="2"):
        gain([0, 1], p, p[:1])
    with refuses("after", "mismatch", got="3"):
        gain([0, 1], p, np.full((2, 3), 1 / 3))
    with refuses("before", "one-column"):
        gain([0, 1], [0, 1], p, loss="log")
    with refuses("y_true", "mismatch"):
        gain([0, 1, 1], p, p)
    with refuses("before", "range", got="2"):
        gain([0, 1], [0, 2], p)
    with refuses("loss", "choice"):
        gain([0, 1], p, p, loss="hinge")
    with refuses("before", "finite"):
        gain([0, 1], [[np.nan, 0.5], [0.5, 0.5]], p)
    with refuses("before", "type"):
        gain([0, 1], None, p)
    with refuses("y_true", "missing"):
        gain(None, [0, 1], [0, 1])
    with refuses("label_probs", "sum"):
        true_uncertainty([[0.5, 0.6]], [0])
    with refuses("label_probs", "shape"):
        true_uncertainty([0.5, 0.5], [0, 1])
    with refuses("predicted", "mismatch"):
        true_uncertainty(p, np.full((2, 3), 1 / 3))
    with refuses("predicted", "range"):
        true_uncertainty(p, [0, 2])


def named_world(rng):
    ids, names = [f"case {i}" for i in range(40)], ["a", "b", "c"]
    before, after = (pd.DataFrame(rng.dirichlet(np.ones(3), 40), index=ids, columns=names) for _ in range(2))
    return pd.Series(rng.choice(names, 40), index=ids), before, after


@pytest.mark.parametrize("loss", GAIN_LOSSES)
def test_rows_and_classes_follow_their_names(random_generator, loss):
    y, before, after = named_world(random_generator)
    codes = y.map({"a": 0, "b": 1, "c": 2}).to_numpy()
    wanted = gain(codes, before.to_numpy(), after.to_numpy(), loss=loss)
    moved = after.sample(frac=1.0, random_state=1)[["c", "a", "b"]]
    assert gain(y.sample(frac=1.0, random_state=2), before, moved, loss=loss) == pytest.approx(wanted)
    curve = uq.metrics.delay_curve(y, before, moved, pd.Series(np.arange(40.0), index=y.index)[::-1], loss=loss)
    plain = uq.metrics.delay_curve(codes, before.to_numpy(), after.to_numpy(), np.arange(40.0), loss=loss)
    assert curve.gained == pytest.approx(plain.gained)
    assert curve.accuracy == pytest.approx(plain.accuracy)
    with refuses("y_true", "ids"):  # an array beside two orders
        gain(codes, before, moved, loss=loss)
    with refuses("after.class_names", "ids"):
        gain(y, before, after.set_axis(["a", "b", "d"], axis=1), loss=loss)


def test_label_probabilities_follow_their_names(random_generator):
    _, truth, predicted = named_world(random_generator)
    wanted = true_uncertainty(truth.to_numpy(), predicted.to_numpy(), loss="log").epistemic
    moved = truth.sample(frac=1.0, random_state=1)[["b", "c", "a"]]
    assert true_uncertainty(moved, predicted, loss="log").epistemic == pytest.approx(wanted)
    guesses = pd.Series(truth.columns[predicted.to_numpy().argmax(axis=1)], index=truth.index)
    assert true_uncertainty(moved, guesses).total == pytest.approx(
        true_uncertainty(truth.to_numpy(), predicted.to_numpy()).total
    )
