"""The smooth calibration error against its definition."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import smooth_calibration_error

# relplot 1.0.3, whose search takes steps of 1/1024:
#     rng = np.random.default_rng(7)
#     f = 0.5 + 0.45 * rng.random(500)
#     h = (rng.random(500) < f**2).astype(float)
#     [relplot.smECE_sigma(f, h, s) for s in (0.1, 0.03, 0.01, 0.005)], relplot.smECE(f, h)
RELPLOT = {0.1: 0.137529, 0.03: 0.137705, 0.01: 0.139424, 0.005: 0.144377}
OF_RELPLOT = 0.137564


def binary(confidence, hits):
    """Labels and probabilities of two classes, where class 0 is predicted."""
    return (1 - hits).astype(int), np.stack([confidence, 1 - confidence], axis=1)


def by_integral(confidence, hits, bandwidth, n_points=20_001):
    """The integral of the definition by the midpoint rule, with five reflections."""
    t = (np.arange(n_points) + 0.5) / n_points
    smooth = np.zeros(n_points)
    for c, d in zip(confidence, confidence - hits, strict=True):
        for k in range(-2, 3):
            for at in (2 * k + c, 2 * k - c):
                smooth += d * np.exp(-0.5 * ((t - at) / bandwidth) ** 2)
    return np.abs(smooth).mean() / (bandwidth * np.sqrt(2 * np.pi) * len(confidence))


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    confidence = np.concatenate([rng.uniform(0.5, 1, 10), [0.5, 1.0, 1.0, 0.9999]])
    return confidence, (rng.random(14) < confidence**1.5).astype(float)


@pytest.mark.parametrize("bandwidth", [0.5, 0.1, 0.03, 0.004])
def test_against_the_integral(sample, bandwidth):
    found = smooth_calibration_error(*binary(*sample), bandwidth=bandwidth)
    assert found == pytest.approx(by_integral(*sample, bandwidth), rel=1e-3)


def test_is_the_bandwidth_that_equals_its_error(sample):
    found = smooth_calibration_error(*binary(*sample))
    assert found == pytest.approx(by_integral(*sample, found), rel=1e-3)
    assert found == pytest.approx(smooth_calibration_error(*binary(*sample), bandwidth=found), rel=1e-6)


def test_against_relplot():
    rng = np.random.default_rng(7)
    f = 0.5 + 0.45 * rng.random(500)
    y, probs = binary(f, (rng.random(500) < f**2).astype(float))
    for bandwidth, value in RELPLOT.items():
        assert smooth_calibration_error(y, probs, bandwidth=bandwidth) == pytest.approx(value, rel=2e-3)
    assert OF_RELPLOT <= smooth_calibration_error(y, probs) <= OF_RELPLOT + 1 / 1024


def test_small_errors_get_a_finer_grid():
    confidence = np.full(100_000, 0.75)
    hits = np.arange(100_000) < 75_010
    assert smooth_calibration_error(*binary(confidence, hits)) == pytest.approx(1e-4, rel=2e-3)
    assert smooth_calibration_error(*binary(confidence, np.arange(100_000) < 75_000)) == 0


def test_cancels_within_the_bandwidth_and_bounds():
    y, probs = binary(np.array([0.6, 0.62]), np.array([1.0, 0.0]))  # gaps −.4 and .62
    assert smooth_calibration_error(y, probs, bandwidth=10.0) == pytest.approx(0.11)  # the mean gap
    assert smooth_calibration_error(y, probs, bandwidth=1e-4) == pytest.approx(0.51, rel=1e-3)  # the mean absolute gap
    assert smooth_calibration_error(y, probs) > 0.11


def test_ordinary_inputs(random_generator):
    assert smooth_calibration_error([1], [[0.25, 0.75]]) == pytest.approx(0.25)
    assert smooth_calibration_error([0, 0], np.array([[1, 0], [1, 0]], np.float16)) == 0
    assert smooth_calibration_error([1, 1], [[1.0, 0.0], [1.0, 0.0]]) == pytest.approx(1)
    probs = random_generator.dirichlet(np.ones(3), (60, 2))
    y, order = random_generator.integers(0, 3, 60), random_generator.permutation(60)
    found = smooth_calibration_error(y, uq.Members(probs))
    assert found == pytest.approx(smooth_calibration_error(y[order], probs.mean(axis=1)[order]), abs=1e-12)
    half = probs.mean(axis=1)[::2]
    half.flags.writeable = False
    assert 0 < smooth_calibration_error(y[::2], half) < 1


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.nan, np.inf, True, "0.1"])
def test_refuses(bandwidth):
    with refuses("bandwidth", "range" if type(bandwidth) in (int, float) else "type"):
        smooth_calibration_error([0], [[0.5, 0.5]], bandwidth=bandwidth)


def test_cifar_10_against_the_mean_gap(cifar10):
    y, probs = cifar10["labels"], cifar10["three"][:, 0]
    gap = (probs.max(axis=1) - (probs.argmax(axis=1) == y)).mean()
    assert gap <= smooth_calibration_error(y, probs) < gap + 0.001
