"""The test with the choices of the authors' code."""

from dataclasses import replace

import numpy as np
import pytest

from tests.calibration.made_up_data import random_ensemble
from tests.calibration.test_credal_hypothesis import MEASURES
from uqassay.calibration.credal import cobyla_minimum, credal_calibration_test, paper_code_measure, quantile_pvalue
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.metrics.measures import CALIBRATION_MEASURES, calibration_measure


def test_paper_code(random_generator):
    labels, members = random_ensemble(random_generator, n=30)
    for measure in MEASURES:
        test = credal_calibration_test(
            labels, members, measure=measure, null="random", convention="paper-code", n_draws=100
        )
        variant = paper_code_measure(calibration_measure(measure))
        assert (test.measure, test.convention) == (variant.name, "paper-code")
        assert test.statistic == pytest.approx(float(variant.prepare(test.weights @ members).values(labels)), abs=1e-9)
        for alpha in (0.05, 0.2, 0.5, 0.9):
            assert test.reject(alpha) == (abs(test.statistic) > np.quantile(test.null, 1 - alpha))
            assert test.reject(alpha) == (test.pvalue < alpha)


def test_paper_code_variants():
    named = {name: paper_code_measure(calibration_measure(name)).name for name in MEASURES}
    assert named == {
        "ece-confidence": "ece-confidence",
        **{name: f"{name}-paper-code" for name in MEASURES[1:]},
    }
    assert set(named.values()) <= set(CALIBRATION_MEASURES)
    assert paper_code_measure(calibration_measure("hosmer-lemeshow", n_bins=3)).n_bins == 3


def test_quantile_pvalue_against_the_quantile(random_generator):
    null = random_generator.normal(size=100)
    for statistic in (-9.0, -0.3, 0.0, 0.7, 9.0, null[3]):
        p = quantile_pvalue(statistic, null)
        if 0 < p < 1:
            assert np.quantile(null, 1 - p) == pytest.approx(statistic)
    assert (quantile_pvalue(9.0, null), quantile_pvalue(-9.0, null)) == (0.0, 1.0)


@pytest.mark.parametrize("n_draws", [1, 2, 20])
def test_quantile_pvalue_with_ties_against_the_quantile(n_draws, random_generator):
    alphas = np.arange(0.005, 1, 0.01)
    for _ in range(30):
        null = random_generator.integers(0, 5, n_draws).astype(float)
        quantiles = np.quantile(null, 1 - alphas)
        for statistic in (*np.unique(null), -1.0, 1.5, 9.0):
            p = quantile_pvalue(statistic, null)
            told = np.abs(alphas - p) > 1e-9
            np.testing.assert_array_equal((p < alphas)[told], (statistic > quantiles)[told])


def test_paper_code_with_ties_rejects_where_the_pvalue_says_so():
    labels, half = [0, 1] * 9 + [0, 0], np.full((20, 1, 2), 0.5)
    test = credal_calibration_test(labels, half, null="random", convention="paper-code", n_draws=19)
    assert (test.null == test.statistic).sum() > 1
    assert [test.reject(alpha) for alpha in (0.3, 0.5, 0.6, 0.7, 0.9)] == [
        test.pvalue < a for a in (0.3, 0.5, 0.6, 0.7, 0.9)
    ]


def test_paper_code_statistic_is_the_measure_where_cobyla_stops(random_generator):
    members = random_generator.dirichlet(np.ones(3), (40, 4))
    members[..., 2] = 0.0
    members /= members.sum(axis=2, keepdims=True)
    labels = np.arange(40) % 3
    test = credal_calibration_test(
        labels, members, measure="log-loss", null="random", convention="paper-code", n_draws=19
    )
    assert (test.statistic, test.pvalue) == (np.inf, 0.0)
    assert test.reject(0.05) is True


def test_a_user_measure_has_no_variant_even_with_a_built_in_name():
    for name in MEASURES[1:]:
        own = replace(calibration_measure(name), prepare=calibration_measure("brier").prepare)
        assert paper_code_measure(own) is own
    wide = replace(calibration_measure("ece-classwise"), prepare=calibration_measure("ece-classwise", n_bins=4).prepare)
    assert paper_code_measure(wide) is wide


def test_absolute_value_is_what_makes_skce_exceed_its_level(random_generator):
    # a least value far below 0 is good news under the printed rule, and a rejection under the authors'
    labels, members = random_ensemble(random_generator, n=60, m=8)
    code = credal_calibration_test(labels, members, measure="skce-ul", null="random", convention="paper-code")
    printed = credal_calibration_test(labels, members, measure="skce-ul", null="random")
    assert code.statistic < 0
    assert code.pvalue < printed.pvalue


def test_cobyla_is_no_better_than_the_search(random_generator):
    labels, members = random_ensemble(random_generator, n=50, m=5)
    for measure in ("ece-confidence", "skce-ul"):
        objective = MixtureObjective(Mixtures(members), labels[None], calibration_measure(measure))
        value, weights, evaluations = cobyla_minimum(objective)
        ours = credal_calibration_test(labels, members, measure=measure, null="random")
        assert ours.statistic <= value + 1e-3 * ours.null.std()
        assert abs(weights.sum() - 1) < 0.01
        assert 5 < evaluations < 1000
