"""The label-wise decomposition: loops, K = 2, one_versus_rest, Beta distributions, and exact zeros."""

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import entropy_decomposition, label_wise_decomposition, label_wise_parts, variance_decomposition

PARTS = ("total", "aleatoric", "epistemic")


def binary_entropy(p):
    return 0.0 if p in (0.0, 1.0) else float(-p * np.log(p) - (1 - p) * np.log1p(-p))


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.0], "own"])
def test_parts_against_brute_force(weights, random_generator):
    probs = random_generator.dirichlet(np.ones(4), (20, 3))
    probs[0] = np.eye(4)[:3]
    weights = random_generator.random((20, 3)) if isinstance(weights, str) else weights
    found = label_wise_parts(uq.Members(probs, weights))
    share = np.broadcast_to(1.0 if weights is None else weights, (20, 3))
    for i in range(20):
        w = [float(x) / float(sum(share[i])) for x in share[i]]
        for k in range(4):
            total = binary_entropy(sum(w[m] * probs[i, m, k] for m in range(3)))
            aleatoric = sum(w[m] * binary_entropy(probs[i, m, k]) for m in range(3))
            assert found.total[i, k] == pytest.approx(total, rel=1e-12, abs=1e-15)
            assert found.aleatoric[i, k] == pytest.approx(aleatoric, rel=1e-12, abs=1e-15)
            assert found.epistemic[i, k] == pytest.approx(total - aleatoric, abs=1e-14)


@pytest.mark.parametrize("kind", [uq.Members, uq.Dirichlet, uq.Point])
def test_each_label_is_the_two_class_problem(kind, random_generator):
    if kind is uq.Dirichlet:
        prediction = uq.Dirichlet(random_generator.gamma(1.0, 3.0, (30, 5)) + 0.01)
    else:
        prediction = kind(random_generator.dirichlet(np.ones(5), (30, 4) if kind is uq.Members else 30))
    parts, summed = label_wise_parts(prediction), label_wise_decomposition(prediction)
    for part in PARTS:
        each = [getattr(entropy_decomposition(prediction.one_versus_rest(k)), part) for k in range(5)]
        np.testing.assert_allclose(getattr(parts, part), np.stack(each, axis=1), rtol=1e-9, atol=1e-16)
        np.testing.assert_allclose(getattr(summed, part), np.sum(each, axis=0), rtol=1e-9, atol=1e-15)


def test_two_classes_have_twice_the_entropies(random_generator):
    for prediction in (
        uq.Members(random_generator.dirichlet([0.3, 0.3], (50, 6))),
        uq.Dirichlet(random_generator.gamma(1.0, 1.0, (50, 2)) + 0.01),
    ):
        found, half = label_wise_decomposition(prediction), entropy_decomposition(prediction)
        for part in PARTS:
            np.testing.assert_allclose(getattr(found, part), 2 * getattr(half, part), rtol=1e-9, atol=1e-16)


@pytest.mark.parametrize("unit", [False, True])
def test_beta_marginals_of_a_dirichlet_against_quadrature(unit):
    alpha = np.array([[0.7, 2.0, 3.5], [12.0, 1.0, 1.5]])
    found = label_wise_parts(uq.Dirichlet(alpha, unit_concentration=unit))
    used = alpha / alpha.sum(axis=1, keepdims=True) if unit else alpha
    for i, a in enumerate(used):
        for k in range(3):
            beta = stats.beta(a[k], a.sum() - a[k])
            expected = integrate.quad(lambda u, beta=beta: binary_entropy(float(beta.ppf(u))), 0, 1, limit=200)[0]
            assert found.aleatoric[i, k] == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-12)


def test_dirichlets_of_great_concentration_keep_a_small_positive_epistemic_part():
    found = label_wise_parts(uq.Dirichlet([[3e9, 6e9, 1e9]]))
    np.testing.assert_allclose(found.epistemic, 1 / (2 * 1e10), rtol=1e-5)


@pytest.mark.parametrize("spread", [1e-3, 1e-9, 1e-13])
def test_small_differences_of_confident_members_keep_their_digits(spread, random_generator):
    small = spread * random_generator.uniform(0.1, 1.0, (10, 3, 2))
    probs = np.concatenate([1.0 - small.sum(axis=2, keepdims=True), small], axis=2)
    found = label_wise_parts(uq.Members(probs)).epistemic
    with mpmath.workdps(60):
        for i in range(10):
            rest = [mpmath.mpf(float(a)) + mpmath.mpf(float(b)) for a, b in small[i]]  # of class 0
            events = [[1 - q for q in rest], *([mpmath.mpf(float(x)) for x in small[i, :, k]] for k in range(2))]
            for k, event in enumerate(events):
                mean = sum(event) / 3
                exact = sum(p * mpmath.log(p / mean) + (1 - p) * mpmath.log((1 - p) / (1 - mean)) for p in event) / 3
                assert found[i, k] == pytest.approx(float(exact), rel=max(1e-9, 1e-15 / spread))


@pytest.mark.parametrize("n_members", [1, 3, 7, 100])
def test_classes_in_which_the_members_agree_have_no_epistemic_part(n_members, random_generator):
    p = random_generator.dirichlet(np.ones(4), (40, 1))
    found = label_wise_decomposition(uq.Members(np.repeat(p, n_members, axis=1)))
    assert (found.epistemic == 0).all()
    np.testing.assert_array_equal(found.aleatoric, found.total)
    some = np.array([[[0.3, 0.5, 0.2], [0.3, 0.1, 0.6]]])
    parts = label_wise_parts(uq.Members(some))
    assert parts.epistemic[0, 0] == 0.0
    assert parts.aleatoric[0, 0] == parts.total[0, 0]
    assert (parts.epistemic[0, 1:] > 0.01).all()
    other = label_wise_parts(uq.Members(some, weights=[0, 1]))
    assert (other.epistemic == 0).all()


def test_with_the_variance_it_would_be_the_variance_decomposition(random_generator):
    """The reason why label-wise means entropy here: Σ_k Var[k or not] is the variance of the one-hot label."""
    probs = random_generator.dirichlet(np.ones(4), (20, 5))
    found = variance_decomposition(uq.Members(probs))
    np.testing.assert_allclose(found.epistemic, sum(probs[..., k].var(axis=1) for k in range(4)), rtol=1e-12)


def test_the_order_of_classes_and_members_changes_no_bit(random_generator):
    probs = random_generator.dirichlet(np.full(6, 0.3), (100, 5))
    expected = label_wise_decomposition(uq.Members(probs))
    classes, members = random_generator.permutation(6), random_generator.permutation(5)
    found = label_wise_decomposition(uq.Members(probs[:, members][..., classes]))
    for part in PARTS:
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_rows_of_16_bits_that_do_not_sum_to_1(random_generator):
    probs = random_generator.dirichlet(np.full(5, 0.5), (200, 4)).astype(np.float16)
    found = label_wise_decomposition(uq.Members(probs))
    assert (found.epistemic >= 0).all()
    wide = probs.astype(np.float64)
    rest = 1 - wide
    with np.errstate(divide="ignore", invalid="ignore"):
        h = -np.where(wide > 0, wide * np.log(wide), 0) - np.where(rest > 0, rest * np.log(rest), 0)
    np.testing.assert_allclose(found.aleatoric, h.mean(axis=1).sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(found.aleatoric + found.epistemic, found.total, atol=1e-12)


def test_sets_are_refused():
    for function in (label_wise_decomposition, label_wise_parts):
        with refuses("prediction", "no-distribution"):
            function(uq.Intervals([[0.1, 0.3]], [[0.5, 0.8]]))
