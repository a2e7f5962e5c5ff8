"""The confidence region for λ and the greatest p-value over it."""

import numpy as np
import pytest
from scipy import integrate, special

from tests.calibration.made_up_data import given_of
from uqassay.calibration.credal import credal_calibration_test, likelihood_region
from uqassay.calibration.one_classifier import labels_from
from uqassay.calibration.weights import log_loss_weights


def test_marginal_likelihood_against_quadrature(random_generator):
    given = random_generator.random((25, 2))

    def density(share):
        prior = share**-0.5 * (1 - share) ** -0.5 / np.pi  # Dir(½, ½)
        return prior * np.prod(given @ [share, 1 - share]) * 1e12

    exact = np.log(integrate.quad(density, 0, 1, epsabs=0, epsrel=1e-8)[0]) - np.log(1e12)
    best = np.array([0.5, 0.5])
    found = [likelihood_region(given, best, 0.001, np.random.default_rng(i)).threshold for i in range(20)]
    assert np.abs(np.array(found) - (exact - np.log(1000))).max() < 0.15


def test_marginal_likelihood_against_the_dirichlet_multinomial():
    # members that are certain of one class each: ∫ Π λ_{y_i} dπ = Γ(½M) Π Γ(n_m + ½) / (Γ(n + ½M) Γ(½)^M)
    counts = np.array([7, 1, 0, 4])
    given = np.eye(4)[np.repeat(np.arange(4), counts)]
    exact = special.gammaln(2) + special.gammaln(counts + 0.5).sum() - special.gammaln(14) - 4 * special.gammaln(0.5)
    region = likelihood_region(given, counts / 12, 0.01, np.random.default_rng(0))
    assert region.threshold == pytest.approx(exact + np.log(0.01), abs=0.1)


def test_region_misses_the_truth_at_most_beta(random_generator):
    beta, missed = 0.2, 0
    for run in range(150):
        members = random_generator.dirichlet(np.ones(3), (30, 3))
        truth = np.eye(3)[0] if run % 2 else random_generator.dirichlet(np.ones(3))
        labels = labels_from(truth @ members, 1, random_generator)[0]
        region = likelihood_region(
            given_of(members, labels), log_loss_weights(members, labels)[0], beta, random_generator
        )
        missed += not region.contains(truth[None])[0]
    assert missed / 150 <= beta


def test_border_points_lie_on_the_border(random_generator):
    members = random_generator.dirichlet(np.full(3, 0.5), (80, 4))
    labels = labels_from(members[:, 1], 1, random_generator)[0]
    best = log_loss_weights(members, labels)[0]
    region = likelihood_region(given_of(members, labels), best, 0.001, random_generator)
    reached = region.towards(np.eye(4))
    assert np.allclose(reached.sum(axis=1), 1)
    assert (reached >= 0).all()
    assert region.contains(reached).all()
    at_corner = np.isclose(reached, np.eye(4)).all(axis=1)
    assert not at_corner.all()
    beyond = reached + 1e-6 * (np.eye(4) - best)
    assert not region.contains(beyond[~at_corner]).any()


def test_impossible_labels_leave_everything_possible():
    members = np.zeros((3, 2, 3))
    members[:, 0, 0], members[:, 1, 1] = 1.0, 1.0
    given = given_of(members, np.array([2, 0, 1]))
    region = likelihood_region(given, np.array([0.5, 0.5]), 0.001, np.random.default_rng(0))
    assert region.contains(np.array([[1.0, 0.0], [0.3, 0.7]])).all()
    test = credal_calibration_test([2, 0, 1], members, null="berger-boos", n_draws=19)
    assert 0 < test.pvalue <= 1
