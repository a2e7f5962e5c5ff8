"""Density calibration error against its definition with SciPy's densities, and against known errors."""

import importlib
import itertools

import numpy as np
import pytest
from scipy import stats
from tests.refusals import refuses

from uqassay.metrics.smooth import density_bandwidth, density_calibration_error

# the function of this name stands before the module in uqassay.metrics
module = importlib.import_module("uqassay.metrics.smooth")

NOTIONS = ("canonical", "classwise", "confidence")


def draw_labels(rng, probs):
    return (probs.cumsum(axis=-1)[..., :-1] < rng.random(probs.shape[:-1])[..., np.newaxis]).sum(axis=-1)


def leave_one_out(points, h):
    """Weights w_ji from SciPy's densities, (n, n)."""
    n = len(points)
    density = [
        [0.0 if i == j else stats.dirichlet.pdf(points[j] / points[j].sum(), points[i] / h + 1) for i in range(n)]
        for j in range(n)
    ]
    return np.array(density) / np.sum(density, axis=1, keepdims=True)


def views(labels, probs, notion):
    """Points of the kernels, predicted and observed, for every view."""
    n_classes = probs.shape[1]
    if notion == "canonical":
        return [(probs, probs, np.eye(n_classes)[labels])]
    if notion == "classwise":
        shares = [(probs[:, c], labels == c) for c in range(n_classes)]
    else:
        shares = [(probs.max(axis=1), labels == probs.argmax(axis=1))]
    return [(np.stack([s, 1 - s], axis=1), s[:, np.newaxis], 1.0 * hit[:, np.newaxis]) for s, hit in shares]


def defined(labels, probs, notion, p, h, debiased=False):
    """The estimators as loops over instances."""
    values = []
    for points, predicted, observed in views(labels, probs, notion):
        w, errors, n = leave_one_out(points, h), observed - predicted, len(labels)
        top = bottom = 0.0
        for j in range(n):
            if debiased:
                for i, k in itertools.permutations(range(n), 2):
                    top += w[j, i] * w[j, k] * float(errors[i] @ errors[k])
                    bottom += w[j, i] * w[j, k]
            else:
                top += (np.abs(w[j] @ observed - predicted[j]) ** p).sum()
                bottom += 1
        values.append(top / bottom)
    return float(np.mean(values))


@pytest.mark.parametrize("notion", NOTIONS)
def test_against_brute_force_with_ties(notion):
    rng = np.random.default_rng(1)
    for n_classes, h in ((2, 0.3), (4, 0.05)):
        probs, labels = rng.dirichlet(np.ones(n_classes), 9), rng.integers(0, n_classes, 9)
        probs[4] = probs[7]
        for p, debiased in ((1, False), (2, False), (2, True)):
            got = density_calibration_error(labels, probs, notion=notion, p=p, bandwidth=h, debiased=debiased)
            assert isinstance(got, float)
            assert got == pytest.approx(defined(labels, probs, notion, p, h, debiased), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("notion", NOTIONS)
def test_bandwidth_against_likelihood_of_scipy(notion):
    rng = np.random.default_rng(2)
    probs = rng.dirichlet([2.0, 1.0, 1.0], 12)
    wanted = []
    for points, _, _ in views(np.zeros(12, dtype=int), probs, notion):
        likelihood = [
            sum(
                np.log(sum(stats.dirichlet.pdf(points[j], points[i] / h + 1) for i in range(12) if i != j))
                for j in range(12)
            )
            for h in module.GRID[6:]
        ]
        wanted.append(module.GRID[6:][int(np.argmax(likelihood))])
    assert density_bandwidth(probs, notion=notion).tolist() == wanted


def test_two_classes_canonical_is_twice_classwise():
    rng = np.random.default_rng(3)
    probs, labels = rng.dirichlet([1.0, 1.0], 40), rng.integers(0, 2, 40)
    for p, debiased in ((1, False), (2, False), (2, True)):
        options = {"p": p, "debiased": debiased, "bandwidth": 0.1}
        canonical = density_calibration_error(labels, probs, **options)
        assert canonical == pytest.approx(2 * density_calibration_error(labels, probs, notion="classwise", **options))


@pytest.mark.parametrize("notion", NOTIONS)
def test_debiased_is_zero_in_expectation_by_enumeration(notion):
    probs = np.random.default_rng(4).dirichlet([1.0] * 3, 3)
    vectors = np.array(list(itertools.product(range(3), repeat=3)))
    chances = np.prod([probs[i, vectors[:, i]] for i in range(3)], axis=0)
    values = density_calibration_error(vectors, probs, notion=notion, debiased=True, bandwidth=0.5, batched=True)
    assert float(chances @ values) == pytest.approx(0, abs=1e-15)
    assert np.abs(values).max() > 0.1


def test_known_error_is_found():
    """Predictions 0.2 too high for class 0: the squared error is 0.04 for each of two classes."""
    rng = np.random.default_rng(5)
    share = rng.uniform(0.3, 0.9, 1500)
    probs = np.stack([share, 1 - share], axis=1)
    labels = (rng.random(1500) > share - 0.2).astype(int)
    assert density_calibration_error(labels, probs, debiased=True, bandwidth=0.02) == pytest.approx(0.08, abs=0.02)
    assert density_calibration_error(labels, probs, p=1, bandwidth=0.02) == pytest.approx(0.4, abs=0.04)
    calibrated = draw_labels(rng, probs)
    assert density_calibration_error(calibrated, probs, debiased=True) == pytest.approx(0, abs=0.006)
    assert density_calibration_error(calibrated, probs, p=1, bandwidth=0.02) < 0.12


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("debiased", [False, True])
def test_batch_equals_loop(notion, debiased):
    rng = np.random.default_rng(6)
    probs, labels = rng.dirichlet([0.5] * 3, (4, 1, 10)), rng.integers(0, 3, (5, 10))
    options = {"notion": notion, "debiased": debiased}
    got = density_calibration_error(labels, probs, **options, batched=True)
    want = [[density_calibration_error(y, p[0], **options) for y in labels] for p in probs]
    assert got == pytest.approx(np.array(want), rel=1e-9, abs=1e-12)


def test_chunk_size_does_not_change_results(monkeypatch):
    rng = np.random.default_rng(7)
    probs, labels = rng.dirichlet([0.5] * 3, (2, 1, 31)), rng.integers(0, 3, (3, 31))
    want = [density_calibration_error(labels, probs, notion=notion, batched=True) for notion in NOTIONS]
    monkeypatch.setattr(module, "CHUNK_BYTES", 2000)
    got = [density_calibration_error(labels, probs, notion=notion, batched=True) for notion in NOTIONS]
    assert np.array(got) == pytest.approx(np.array(want), rel=1e-12)


def test_certain_predictions_and_single_instances():
    certain = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    assert density_calibration_error([0, 1, 2, 0, 1, 2], certain) == pytest.approx(0, abs=1e-12)
    assert density_calibration_error([1, 2, 0, 1, 2, 0], certain, p=1) == pytest.approx(2)
    # the only neighbour within reach: a pair of errors never meets
    assert np.isnan(density_calibration_error([0, 1], [[0.5, 0.5], [0.4, 0.6]], debiased=True))
    for notion in NOTIONS:
        assert np.isnan(density_calibration_error([0], [[0.5, 0.5]], notion=notion))
    constant = np.full((6, 2), 0.5)
    assert density_calibration_error([0, 1] * 3, constant, p=1) == pytest.approx(2 * abs(0.5 - 2 / 5))
    half = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]], dtype=np.float16)
    want = density_calibration_error([0, 1, 0], half.astype(float), bandwidth=0.1)
    assert density_calibration_error([0, 1, 0], half, bandwidth=0.1) == want


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"notion": "strong"}, ("notion", "choice")),
        ({"p": 3}, ("p", "choice", "got 3")),
        ({"p": 1, "debiased": True}, ("debiased", "conflict")),
        ({"bandwidth": 0.0}, ("bandwidth", "range")),
        ({"bandwidth": "median"}, ("bandwidth", "range")),
        ({"y_true": [0]}, ("y_true", "mismatch")),
        ({"probs": [[0.5, 0.4]] * 2}, ("probs", "sum")),
    ],
)
def test_invalid_input_is_refused(change, refusal):
    options = {"y_true": [0, 1], "probs": [[0.5, 0.5], [0.3, 0.7]], **change}
    with refuses(*refusal):
        density_calibration_error(**options)
