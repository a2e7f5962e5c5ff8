"""The generalised Hartley measure: its weights, and the estimator for many classes."""

import time
from functools import partial
from math import comb

import numpy as np
import pytest
from scipy.integrate import quad
from tests.kinds import random_prediction

import uqassay as uq
from uqassay.measures import generalised_hartley, hartley_weights
from uqassay.measures.imprecision import Nonspecificity, imprecision, joined_nonspecificities


@pytest.mark.parametrize("n_classes", range(2, 13))
def test_weights_against_quadrature_and_alternating_sum(n_classes):
    weights = hartley_weights(n_classes)
    for k in range(1, n_classes):

        def integrand(t, k=k):
            return comb(n_classes, k) * t ** (k - 1) * (1 - t) ** (n_classes - k) / -np.log(t)

        assert weights[k - 1] == pytest.approx(quad(integrand, 0, 1, epsabs=1e-12, epsrel=1e-12)[0], rel=1e-9)
        # GH as a linear function of L: the coefficient of one L(B) is −c_k / C(K, k) = Σ_j (−1)^j C(K−k, j) ln(k+j)
        alternating = sum((-1) ** j * comb(n_classes - k, j) * np.log(k + j) for j in range(n_classes - k + 1))
        assert -weights[k - 1] / comb(n_classes, k) == pytest.approx(alternating, rel=1e-6, abs=1e-10)
    # the vacuous set has ln K: every L(B) is 0
    assert (weights * np.arange(1, n_classes) / n_classes).sum() == pytest.approx(np.log(n_classes), abs=1e-10)


def test_monotone_in_the_credal_set(random_generator):
    probs = random_generator.dirichlet(np.ones(8), (40, 6))
    values = [generalised_hartley(uq.Members(probs[:, : m + 1])).values for m in range(6)]
    assert (np.diff(values, axis=0) >= -1e-12).all()


@pytest.mark.slow
def test_estimator_is_unbiased_with_an_honest_error_against_the_exact_value(random_generator, monkeypatch):
    exact = generalised_hartley(uq.Members(probs := random_generator.dirichlet(np.full(10, 0.3), (30, 4)))).values
    monkeypatch.setattr("uqassay.measures.imprecision.MAX_ENUMERATED_CLASSES", 9)
    runs = [generalised_hartley(uq.Members(probs), rng=seed) for seed in range(400)]
    values = np.array([r.values for r in runs])
    z = (values.mean(axis=0) - exact) / (values.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    assert np.abs(z).max() < 4.5  # 30 instances
    assert np.sqrt((z**2).mean()) < 1.6
    # the reported error is the spread over runs, and its intervals cover
    ratio = np.sqrt(np.mean([r.standard_error**2 for r in runs], axis=0)) / values.std(axis=0, ddof=1)
    np.testing.assert_allclose(ratio, 1.0, atol=0.15)
    covered = np.mean([np.abs(r.values - exact) <= 2.04 * r.standard_error for r in runs])  # t with 31 degrees
    assert 0.92 < covered < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [100, 1000])
def test_estimator_against_long_runs(n_classes, random_generator):
    members = uq.Members(random_generator.dirichlet(np.full(n_classes, 0.1), (6, 5)))
    long = generalised_hartley(members, rng=1, tolerance=2e-3)
    assert (long.standard_error <= 2e-3).all()
    runs = [generalised_hartley(members, rng=seed) for seed in range(2, 42)]
    values = np.array([r.values for r in runs])
    error = np.hypot(long.standard_error, values.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    assert (np.abs(values.mean(axis=0) - long.values) < 4.5 * error).all()
    covered = np.mean([np.abs(r.values - long.values) <= 2.04 * np.hypot(r.standard_error, 2e-3) for r in runs])
    assert covered > 0.9


def test_estimator_of_intervals_against_the_exact_value(random_generator, monkeypatch):
    prediction = random_prediction("Intervals", random_generator, 5, 8)
    exact = generalised_hartley(prediction).values
    monkeypatch.setattr("uqassay.measures.imprecision.MAX_ENUMERATED_CLASSES", 7)
    found = generalised_hartley(prediction, tolerance=1e-3)
    assert (found.standard_error <= 1e-3).all()
    assert (np.abs(found.values - exact) < 5 * found.standard_error + 1e-12).all()


def test_estimator_is_exact_for_a_precise_and_for_a_vacuous_set():
    precise = uq.Members(np.full((1, 3, 50), 1 / 50))
    found = generalised_hartley(precise)
    assert found.values[0] == 0
    assert found.standard_error[0] == 0
    vacuous = generalised_hartley(uq.Intervals(np.zeros((1, 50)), np.ones((1, 50))))
    assert vacuous.values[0] == pytest.approx(np.log(50), abs=1e-10)


@pytest.mark.parametrize("tolerance", [None, 2e-3])
def test_joined_parts_against_one_call(tolerance, random_generator):
    whole = uq.Members(random_generator.dirichlet(np.ones(20), (9, 3)))
    measured = partial(imprecision, weights=1.0 / np.arange(1, 20), rng=3, tolerance=tolerance)
    for change in (lambda ns: ns, Nonspecificity.complement):
        one = change(measured(whole))
        parts = joined_nonspecificities(
            [change(measured(whole[rows])) for rows in (slice(0, 1), slice(1, 7), slice(7, 9))]
        )
        for name in ("values", "standard_error", "mean_standard_error", "n_orders", "order_deviations", "order_sums"):
            np.testing.assert_array_equal(getattr(parts, name), getattr(one, name), err_msg=name)
    plain, turned = measured(whole), measured(whole).complement()
    np.testing.assert_allclose(turned.order_deviations, -plain.order_deviations, atol=1e-14)
    assert turned.mean_standard_error == pytest.approx(plain.mean_standard_error)


@pytest.mark.parametrize("n_classes", [20, 5000])
def test_vacuous_sets_have_the_logarithm_at_once(n_classes):
    """5,000 classes took 38 s."""
    lower, upper = np.zeros((3, n_classes)), np.ones((3, n_classes))
    lower[1, 0], upper[1, 1:] = 0.9, 0.1
    start = time.process_time()
    found = generalised_hartley(uq.Intervals(lower[[0, 2]], upper[[0, 2]]))
    assert time.process_time() - start < 5
    # the weights come from logarithms of binomials, which grow with K
    np.testing.assert_allclose(found.values, np.log(n_classes), rtol=max(1e-12, 1e-15 * n_classes))
    assert not found.standard_error.any()
    if n_classes == 20:
        both = generalised_hartley(uq.Intervals(lower, upper))
        np.testing.assert_allclose(both.values[[0, 2]], np.log(20), rtol=1e-12)
        alone = generalised_hartley(uq.Intervals(lower[1:2], upper[1:2]))
        assert (both.values[1], both.standard_error[1]) == (alone.values[0], alone.standard_error[0])
        corners = generalised_hartley(uq.Members(np.eye(20)[None]))
        np.testing.assert_allclose(corners.values, np.log(20), rtol=1e-12)
