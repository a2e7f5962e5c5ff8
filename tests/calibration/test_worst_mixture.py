"""The greatest p-value over the mixtures that the labels leave possible."""

import numpy as np
import pytest

from tests.calibration.made_up_data import given_of
from uqassay.calibration.credal import BETA, NullAtMixture, credal_calibration_test, likelihood_region, worst_mixture
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.one_classifier import labels_from
from uqassay.calibration.search import QUICK
from uqassay.calibration.weights import log_loss_weights
from uqassay.metrics.measures import calibration_measure


@pytest.mark.parametrize(
    ("pvalues", "greatest"), [((0.1, 0.3, 0.2), 0.3), ((0.1, np.nan, 0.2), np.nan), ((np.nan,), np.nan)]
)
def test_an_undefined_candidate_makes_the_greatest_pvalue_undefined(pvalues, greatest, random_generator, monkeypatch):
    members = random_generator.dirichlet(np.ones(3), (30, 3))
    labels = labels_from(members[:, 0], 1, random_generator)[0]
    best = log_loss_weights(members, labels)[0]
    region = likelihood_region(given_of(members, labels), best, 0.001, random_generator)
    found = iter(pvalues)

    def null_at(objective, truth, *others):
        return NullAtMixture(truth, 0.0, truth, np.zeros(1), next(found, 0.0), 0.0), 1

    monkeypatch.setattr("uqassay.calibration.credal.null_at", null_at)
    objective = MixtureObjective(Mixtures(members), labels[np.newaxis], calibration_measure("ece-confidence"))
    worst = worst_mixture(objective, region, 9, QUICK, np.array([1, 2]), np.random.default_rng(0))[0]
    assert worst.pvalue == pytest.approx(greatest, nan_ok=True)


@pytest.mark.parametrize("measure", ["ece-confidence", "skce-ul"])
def test_never_below_the_minimised_null(measure, random_generator):
    for seed in range(4):
        members = random_generator.dirichlet(np.ones(3), (40, 3))
        labels = labels_from(random_generator.dirichlet(np.ones(3), 40), 1, random_generator)[0]
        tests = [
            credal_calibration_test(labels, members, measure=measure, null=null, n_draws=39, rng=seed)
            for null in ("minimised", "berger-boos")
        ]
        assert tests[1].pvalue >= min(1.0, tests[0].pvalue + BETA) - 1e-12
