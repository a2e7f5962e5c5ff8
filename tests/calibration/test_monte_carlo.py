"""Labels from probabilities, Monte-Carlo p-values and thresholds."""

import numpy as np
import pytest

from uqassay.arrays import CACHE_BYTES
from uqassay.calibration.single import LabelDraws, draws_before_stop, labels_from, monte_carlo_pvalue, null_threshold
from uqassay.native import kernel


def test_labels_from_against_their_probabilities(random_generator):
    probs = random_generator.dirichlet(np.full(5, 0.3), 8)
    probs[0], probs[1], probs[2] = [0, 1, 0, 0, 0], [0.5, 0, 0, 0.5, 0], [1, 0, 0, 0, 0]
    labels = labels_from(probs, 20_000, random_generator)
    found = np.stack([(labels == k).mean(axis=0) for k in range(5)], axis=1)
    assert np.abs(found - probs).max() < 0.015
    assert (found[probs == 0] == 0).all()


def test_labels_from_needs_no_exact_sum(random_generator):
    probs = np.array([[0.2, 0.2], [0.0, 1.001]])
    labels = labels_from(probs, 4000, random_generator)
    assert abs(labels[:, 0].mean() - 0.5) < 0.04
    assert (labels[:, 1] == 1).all()


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize(("n", "k"), [(1, 2), (9, 3), (70, 10), (11, 48), (8, 49), (13, 100), (3, 1000)])
def test_labels_against_one_inversion_at_a_time(n, k, pure, monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    rng = np.random.default_rng([n, k])
    probs = rng.dirichlet(np.full(k, 0.2), n)
    probs[0] = np.eye(k)[k // 2]
    drawn = LabelDraws(np.asfortranarray(probs)).draw(5, np.random.default_rng(7))
    aims = np.random.default_rng(7).random((5, n))
    for i in range(n):
        # above 48 classes numbers are compared after a shift by i, which rounds them
        shift = i if k > 48 else 0
        steps = (np.cumsum(probs[i]) / np.cumsum(probs[i])[-1])[:-1] + shift
        found = [int((steps <= min(shift + u, np.nextafter(shift + 1, 0))).sum()) for u in aims[:, i]]
        assert drawn[:, i].tolist() == found


class ExtremeNumbers:
    """The least and the greatest random number, in turns."""

    def random(self, shape):
        return np.where(np.arange(np.prod(shape)).reshape(shape) % 2, np.nextafter(1, 0), 0.0)


@pytest.mark.parametrize("k", [2, 10, 60])
def test_labels_at_the_ends_of_the_unit_interval(k, monkeypatch):
    probs = np.tile(np.eye(k)[[0, k - 1]], (40, 1))
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        assert (labels_from(probs, 3, ExtremeNumbers()) == probs.argmax(axis=1)).all()


@pytest.mark.parametrize("k", [5, 60])
def test_labels_do_not_depend_on_chunks(k, monkeypatch):
    probs = np.random.default_rng(k).dirichlet(np.ones(k), 50)
    whole = labels_from(probs, 4, np.random.default_rng(1))
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        monkeypatch.setattr("uqassay.calibration.single.CACHE_BYTES", 8 * k * 7)
        np.testing.assert_array_equal(labels_from(probs, 4, np.random.default_rng(1)), whole)
        monkeypatch.setattr("uqassay.calibration.single.CACHE_BYTES", CACHE_BYTES)
        np.testing.assert_array_equal(labels_from(probs, 4, np.random.default_rng(1)), whole)


@pytest.mark.skipif(kernel("found_steps") is None, reason="needs uqassay-native")
def test_kernels_of_labels_refuse_shapes_that_do_not_fit():
    steps, aims = np.full((4, 3), 0.5), np.full((2, 5), 0.1)
    for call in (lambda: kernel("counted_steps")(steps, aims), lambda: kernel("found_steps")(steps, aims, 0)):
        with pytest.raises(ValueError, match="one random number for each instance"):
            call()
    with pytest.raises(ValueError, match="numbered from 0"):
        kernel("found_steps")(steps, np.full((2, 4), 0.1), -1)


def test_pvalue_counts_ties_against_rejection_and_forgives_rounding():
    assert monte_carlo_pvalue(1.0, np.array([0.5, 1.0, 2.0])) == 3 / 4
    assert monte_carlo_pvalue(0.1 + 0.2, np.array([0.3, 0.0])) == 2 / 3
    assert monte_carlo_pvalue(np.inf, np.array([np.inf, 1.0])) == 2 / 3
    assert np.isnan(monte_carlo_pvalue(np.nan, np.ones(3)))
    assert np.isnan(monte_carlo_pvalue(1.0, np.array([1.0, np.nan])))


def test_threshold_agrees_with_the_pvalue(random_generator):
    null = random_generator.normal(size=59)
    for alpha in (0.02, 0.05, 0.1, 0.5, 0.9):
        for statistic in np.sort(null)[::3] + 1e-3:
            assert (monte_carlo_pvalue(statistic, null) <= alpha) == (statistic > null_threshold(null, alpha))


def test_a_sequential_pvalue_keeps_every_level(random_generator):
    """Each of 41 exchangeable values, ties or not, is the statistic in turn: its p-value is never too small."""
    for rounded in (False, True):
        found = []
        for _ in range(150):
            values = random_generator.random(41)
            values = values.round(1) if rounded else values
            for i in range(len(values)):
                null = random_generator.permutation(np.delete(values, i))
                end = draws_before_stop(values[i], null, 4)
                found.append(monte_carlo_pvalue(values[i], null[:end]))
        found = np.array(found)
        for level in (0.05, 0.1, 0.2, 0.5, 0.8):
            share, deviation = (found <= level + 1e-12).mean(), np.sqrt(level * (1 - level) / 150)
            assert share <= level + 3 * deviation, (rounded, level)
            assert rounded or share >= level - 3 * deviation - 0.03
        assert (found.min(), found.max()) == (1 / 41, 1.0)


def test_a_stop_on_both_sides_waits_for_both():
    null = np.array([2.0, 3.0, 0.0, 4.0, 0.5])
    assert draws_before_stop(1.0, null, 2) == 1
    assert draws_before_stop(1.0, null, 2, "both") == 4
    assert draws_before_stop(1.0, null, 3, "both") is None
    assert draws_before_stop(np.inf, np.array([1.0, np.inf]), 1) == 1
