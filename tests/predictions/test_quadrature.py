"""Expectations over Gaussian logits."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import entr, expit, ndtr, softmax
from tests.refusals import refuses

from uqassay.predictions.quadrature import (
    GROUPS,
    TINY,
    WIDE,
    binary_entropy,
    expected_regret,
    logistic_normal,
    normal_points,
    softmax_normal,
    softmax_points,
    two_class_probs,
)

# Expectations of the logistic function under a Gaussian, against adaptive quadrature and closed forms.


MEANS = (0.0, -0.3, 2.0, -7.5, 19.3, -40.0)
# on both sides of every change of rule
DEVIATIONS = sorted(
    {0.0, 1e-9, TINY, 0.05, 15.0, 30.0, *(s * near for s in (TINY, *GROUPS) for near in (0.999, 1.001))}
)


def integral(function, mean, s, low=-np.inf):
    """E[function(z)] over z > low by SciPy's adaptive rule, between breaks that suit both functions."""
    if s == 0.0:
        return float(function(mean)) if mean > low else 0.0
    ends = [max((low - mean) / s, -12.0), 12.0]  # of t = (z − mean) / s
    breaks = np.array([*np.arange(-8, 9, 2), *(np.array([-40, -20, -10, -4, 0, 4, 10, 20, 40]) - mean) / s])
    edges = np.unique([ends[0], *breaks[(breaks > ends[0]) & (breaks < ends[1])], ends[1]])
    if ends[0] >= ends[1]:
        return 0.0
    found = [
        quad(lambda t: function(mean + s * t) * np.exp(-0.5 * t * t), a, b, epsabs=1e-15, epsrel=1e-13)
        for a, b in pairwise(edges)
    ]
    return sum(value for value, _ in found) / np.sqrt(2 * np.pi)


def entropy(z):
    return float(entr(expit(z)) + entr(expit(-z)))


@pytest.mark.parametrize("s", DEVIATIONS)
def test_all_parts_against_adaptive_quadrature(s):
    found = logistic_normal(MEANS, np.full(len(MEANS), s))
    regret = expected_regret(MEANS, np.full(len(MEANS), s))
    probs = two_class_probs(MEANS, np.full(len(MEANS), s))
    for i, mean in enumerate(MEANS):
        low, other = integral(expit, -abs(mean), s), integral(lambda z: expit(-z), -abs(mean), s)
        whole = float(entr(low) + entr(1 - low))
        aleatoric = integral(entropy, mean, s)
        within = integral(lambda z: expit(z) * expit(-z), mean, s)
        expected = (low, whole, aleatoric, whole - aleatoric, within, low * other - within)
        got = tuple(float(part[i]) for part in found)
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-12)
        np.testing.assert_allclose(
            regret[i], integral(lambda z: np.tanh(z / 2), -abs(mean), s, low=0.0), rtol=0, atol=1e-13
        )
        np.testing.assert_allclose(probs[i], (low, other) if mean > 0 else (other, low), rtol=0, atol=2e-12)
        np.testing.assert_allclose(got[0], low, rtol=1e-11 if s < WIDE else 1e-6)  # digits of small probabilities


def test_small_deviations_keep_the_digits_of_the_epistemic_parts():
    s = np.geomspace(1e-12, 1e-3, 19)
    for mean in (0.0, 1.0, -9.0):
        found, slope = logistic_normal(np.full(19, mean), s), expit(mean) * expit(-mean)
        np.testing.assert_allclose(found.epistemic, s**2 * slope / 2, rtol=2e-6)
        np.testing.assert_allclose(found.among, (s * slope) ** 2, rtol=2e-6)


def test_wide_gaussians_against_the_step_function():
    for s in (1e3, 1e8, 1e150):
        mean = np.array([-2.0, 0.0, 0.5]) * s
        probs = two_class_probs(mean, np.full(3, s))
        np.testing.assert_allclose(probs[:, 1], ndtr([-2.0, 0.0, 0.5]), rtol=0, atol=1 / s)
        # σ' has mass 1 at scale 1, so E[p (1 − p)] is the density at 0
        within = logistic_normal(mean, np.full(3, s)).within
        np.testing.assert_allclose(within * s, np.exp(-0.5 * (mean / s) ** 2) / np.sqrt(2 * np.pi), rtol=1e-5)


def test_mean_is_near_that_of_a_probit_function():
    # σ(z) and Φ(z / 1.702) differ by less than 0.0095 everywhere, and so do their means
    mean, s = np.array([0.2, 1.0, 4.0]), np.array([0.3, 2.0, 9.0])
    p = two_class_probs(mean, s)[:, 1]
    assert (np.abs(p - ndtr(mean / np.sqrt(s**2 + 1.702**2))) < 0.0095).all()


def test_probability_rises_with_the_mean_and_all_parts_stay_in_range():
    mean = np.arange(-1200, 1201) / 20
    for s in DEVIATIONS:
        found, probs = logistic_normal(mean, np.full(mean.size, s)), two_class_probs(mean, np.full(mean.size, s))
        assert (np.diff(probs[:, 1]) >= -1e-15).all()
        assert (np.diff(found.low[mean <= 0]) >= 0).all()
        np.testing.assert_array_equal(probs, probs[::-1, ::-1])
        np.testing.assert_allclose(probs.sum(axis=1), 1.0, rtol=1e-15)
        for part in found:
            assert (part >= 0.0).all()
            np.testing.assert_array_equal(part, part[::-1])
        assert (found.total <= np.log(2) * (1 + 1e-15)).all()
        np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.within + found.among, found.low * (1 - found.low), rtol=0, atol=1e-12)


def test_without_deviation_and_with_infinite_means():
    found = logistic_normal([3.0, -np.inf, np.inf], [0.0, 1.0, 1e150])
    np.testing.assert_allclose(found.low, [expit(-3.0), 0, 0], rtol=1e-15)
    assert found.epistemic.tolist() == found.among.tolist() == [0.0, 0.0, 0.0]
    assert two_class_probs([-np.inf, np.inf], [1.0, 0.0]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert expected_regret([3.0, -np.inf], [0.0, 2.0]).tolist() == [0.0, 0.0]
    assert logistic_normal([], []).low.shape == (0,)


def test_rows_do_not_depend_on_their_company():
    g = np.random.default_rng(0)
    mean, s = 5 * g.normal(size=9000), np.exp(2 * g.normal(size=9000))
    whole, some = logistic_normal(mean, s), np.array([5, 8999, 17])
    for part, alone in zip(whole, logistic_normal(mean[some], s[some]), strict=True):
        np.testing.assert_allclose(part[some], alone, rtol=1e-13)


def test_binary_entropy():
    np.testing.assert_allclose(
        binary_entropy(np.array([0.0, 0.25, 0.5])), [0.0, 0.5623351446188083, np.log(2)], rtol=1e-15
    )


@pytest.mark.parametrize("deviation", [1e-5, 1e-3, 0.03, 0.1, 0.32, 0.49, 0.6, 3.0])
def test_probabilities_that_underflow(deviation):
    mean = np.array([-2000.0, -800.0, -746.0, -740.0, -700.0, 800.0])
    parts = logistic_normal(mean, np.full(6, deviation))
    assert all(np.isfinite(part).all() for part in parts)
    epistemic = parts[3]
    assert (epistemic >= 0.0).all()
    assert (epistemic <= 1e-290).all()


# Expectations of softmax over Gaussian logits against the integrals of two classes, tensor quadrature and draws.


def worlds(n, k, seed=0):
    g = np.random.default_rng(seed)
    return 3.0 * g.normal(size=(n, k)), np.minimum(np.exp(1.2 * g.normal(size=(n, k))), 32.0)


def test_two_classes_against_exact_integrals():
    mean, deviation = worlds(1000, 2)
    deviation[:100, 0] = 0.0
    deviation[50:150, 1] = 0.0
    exact = two_class_probs(mean[:, 1] - mean[:, 0], np.hypot(*deviation.T))
    np.testing.assert_allclose(softmax_normal(mean, deviation), exact, atol=1e-9)  # measured: 3e-11


@pytest.mark.parametrize("s", [0.05, 0.374, 0.376, 0.499, 0.501, 1.0, 3.0, 20.0])
def test_two_classes_at_the_ends_of_the_rules(s):
    mean = 3.0 * np.random.default_rng(0).normal(size=(200, 2))
    deviation = np.full((200, 2), s)
    exact = two_class_probs(mean[:, 1] - mean[:, 0], np.hypot(*deviation.T))
    np.testing.assert_allclose(softmax_normal(mean, deviation), exact, atol=1e-9)


def test_three_classes_against_tensor_quadrature():
    node, weight = np.polynomial.hermite_e.hermegauss(70)
    weight /= weight.sum()
    weights = weight[:, None, None] * weight[:, None] * weight
    g = np.random.default_rng(0)
    for deviation in g.uniform(0.02, 1.2, size=(4, 3)):
        mean = 2.0 * g.normal(size=3)
        z = np.stack(np.meshgrid(*(m + s * node for m, s in zip(mean, deviation, strict=True)), indexing="ij"), axis=-1)
        exact = (softmax(z, axis=-1) * weights[..., None]).sum(axis=(0, 1, 2))
        np.testing.assert_allclose(softmax_normal([mean], [deviation])[0], exact, atol=1e-9)  # measured: 4e-13


def test_many_classes_against_draws():
    mean, deviation = worlds(3, 12, seed=1)
    z = mean[:, None] + deviation[:, None] * np.random.default_rng(0).normal(size=(3, 200_000, 12))
    p = softmax(z, axis=2)
    error = p.std(axis=1) / np.sqrt(200_000)
    assert (np.abs(softmax_normal(mean, deviation) - p.mean(axis=1)) < 4.5 * error + 1e-6).all()


def test_without_deviation_it_is_the_softmax():
    mean, _ = worlds(20, 4)
    np.testing.assert_allclose(softmax_normal(mean, np.zeros((20, 4))), softmax(mean, axis=1), atol=1e-11)


def test_symmetries():
    mean, deviation = worlds(30, 5)
    found = softmax_normal(mean, deviation)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-14)
    order = [3, 0, 4, 1, 2]
    np.testing.assert_allclose(softmax_normal(mean[:, order], deviation[:, order]), found[:, order], atol=1e-12)
    np.testing.assert_allclose(softmax_normal(mean + 7.3, deviation), found, atol=1e-11)
    np.testing.assert_allclose(softmax_normal(np.full((1, 4), 9.0), np.full((1, 4), 2.0)), 0.25, atol=1e-14)


def test_equal_rows_have_equal_results_in_any_company(monkeypatch):
    mean, deviation = worlds(60, 3)
    whole = softmax_normal(mean, deviation)
    np.testing.assert_array_equal(softmax_normal(mean[[7, 7, 50]], deviation[[7, 7, 50]]), whole[[7, 7, 50]])
    monkeypatch.setattr("uqassay.predictions.quadrature.SOFTMAX_CHUNK", 1)
    np.testing.assert_array_equal(softmax_normal(mean, deviation), whole)
    assert softmax_normal(np.empty((0, 3)), np.empty((0, 3))).shape == (0, 3)


def test_logits_far_apart():
    mean = [[0.0, -300.0, 5.0], [0.0, -800.0, -900.0], [1e6, 0.0, 3.0]]
    deviation = [[0.0, 9.0, 0.0], [0.0, 0.0, 30.0], [0.0, 0.0, 1.0]]
    found = softmax_normal(mean, deviation)
    np.testing.assert_allclose(found[0], [1 / (1 + np.exp(5)), 0.0, 1 / (1 + np.exp(-5))], atol=1e-11)
    np.testing.assert_allclose(found[1:], [[1.0, 0.0, 0.0]] * 2, atol=1e-11)


def test_deviations_that_are_too_great_are_refused():
    with refuses("deviation", "range", got="at most 32; got 33"):
        softmax_normal([[0.0, 1.0]], [[1.0, 33.0]])


# Points of softmax(z) that all rows share, with the exact mean.


def latents(n=5, k=3):
    g = np.random.default_rng(k)
    return 2.0 * g.normal(size=(n, k)), g.gamma(2.0, size=(n, k))


def test_softmax_points_are_moved_little():
    mean, variance = latents(60, 3)
    found, plain = softmax_points(mean, variance, 128), softmax_points(mean, variance, 4096)
    z = normal_points(128, 3)
    points = softmax(mean[:, None] + np.sqrt(variance)[:, None] * z, axis=2)
    assert 0 < np.abs(found - points).max() < 0.05
    for row in range(60):  # a common offset of the logits of each row
        offset = np.log(found[row]) - np.log(points[row])
        assert np.ptp(offset - offset[:, :1], axis=0).max() < 1e-5
    np.testing.assert_allclose(found.mean(axis=1), plain.mean(axis=1), atol=1e-12)


def test_rows_with_great_deviations_keep_the_mean_of_their_points():
    mean, variance = latents(4, 3)
    variance[2, 1] = 1e8
    found = softmax_points(mean, variance, 64)
    assert np.isfinite(found).all()
    deviation = np.sqrt(variance)
    plain = softmax(mean[2] + deviation[2] * normal_points(64, 3), axis=1).mean(axis=0)
    np.testing.assert_allclose(found[2].mean(axis=0), plain, atol=1e-12)
    others = [0, 1, 3]
    np.testing.assert_allclose(
        found[others].mean(axis=1), softmax_normal(mean, np.minimum(deviation, 32))[others], atol=1e-12
    )


def test_impossible_classes_have_probability_0():
    mean, variance = latents(6, 4)
    mean[:3, 2] = -np.inf
    found = softmax_points(mean, variance, 64)
    assert (found[:3, :, 2] == 0.0).all()
    possible = [0, 1, 3]
    expected = softmax_normal(mean[:3][:, possible], np.sqrt(variance[:3][:, possible]))
    np.testing.assert_allclose(found[:3][..., possible].mean(axis=1), expected, atol=1e-12)


def test_another_seed_has_other_points_and_the_same_mean():
    mean, variance = latents()
    a, b = (softmax_points(mean, variance, 64, seed=seed) for seed in (0, 1))
    assert np.abs(a - b).max() > 0.01
    np.testing.assert_allclose(a.mean(axis=1), b.mean(axis=1), atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(128, 2), (100, 47), (1, 3)])
def test_points_are_standard_normal(n, d):
    points = normal_points(n, d)
    assert points.shape == (n, d)
    np.testing.assert_array_equal(points, normal_points(n, d))
    if n >= 100:
        np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=0.06)
        np.testing.assert_allclose(points.std(axis=0), 1.0, atol=0.06)
        assert np.abs(np.corrcoef(points.T) - np.eye(d)).mean() < 0.08  # single pairs of 47 coordinates reach 0.5
