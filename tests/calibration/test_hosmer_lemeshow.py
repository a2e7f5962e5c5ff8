"""The chi-squared test by the Hosmer-Lemeshow statistic."""

import math

import numpy as np
import pytest
from scipy import stats

import uqassay as uq
from tests.calibration.made_up_data import draw_labels
from tests.notes import said, texts
from tests.refusals import refuses
from uqassay.calibration.one_classifier import hosmer_lemeshow_test
from uqassay.metrics.calibration import hosmer_lemeshow_statistic


def rejection_rates(k, n_bins, n, repeats, alpha=0.05):
    """Share rejected with classwise and common bins, by the degrees of freedom of held-out data and of fitted models."""
    generator = np.random.default_rng(1)
    rejected = []
    for _ in range(repeats // 100):
        probs = generator.dirichlet(np.ones(k), (100, n))
        y = draw_labels(generator, probs)
        found = [
            hosmer_lemeshow_statistic(y, probs, n_bins=n_bins, bins=bins, batched=True)
            for bins in ("classwise", "common")
        ]
        held_out, fitted = (stats.chi2.isf(alpha, (k - 1) * b) for b in (n_bins, n_bins - 2))
        rejected.append([(s >= limit).mean() for limit in (held_out, fitted) for s in found])
    return np.mean(rejected, axis=0)


def test_pvalue_and_degrees_of_freedom_against_scipy(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 500)
    y = draw_labels(random_generator, probs)
    held_out = hosmer_lemeshow_test(y, probs, n_bins=6)
    assert held_out.degrees_of_freedom == 3 * 6
    assert held_out.pvalue == pytest.approx(stats.chi2.sf(held_out.statistic, 18))
    assert held_out.statistic == hosmer_lemeshow_statistic(y, probs, n_bins=6)
    assert texts(held_out) == ["held-out data: (K − 1) B degrees of freedom"]
    assert not held_out.fitted
    fitted = hosmer_lemeshow_test(y, probs, n_bins=6, bins="common", fitted=True)
    assert (fitted.degrees_of_freedom, fitted.n_bins, fitted.bins, fitted.fitted) == (3 * 4, 6, "common", True)
    assert fitted.pvalue == pytest.approx(stats.chi2.sf(fitted.statistic, 12))
    assert texts(fitted) == ["fitted to these instances: (K − 1) (B − 2) degrees of freedom"]


def test_notes():
    tied = hosmer_lemeshow_test([0, 1, 1, 0], np.full((4, 2), 0.5))
    assert tied.degrees_of_freedom == 1
    assert texts(tied) == ["held-out data: (K − 1) B degrees of freedom with 1 of 5 bins that have instances"]
    rare = hosmer_lemeshow_test([0] * 10, np.tile([0.9, 0.1], (10, 1)) + np.arange(10)[:, None] * [1e-3, -1e-3])
    assert "5 of 10 expected counts are below 1, so the p-value is rough: take fewer bins" in said(rare)


def test_batches_are_refused():
    with refuses("y_true", "shape", got=r"got shape \(1, 2\)"):
        hosmer_lemeshow_test([[0, 1]], [[0.5, 0.5], [0.5, 0.5]])
    with refuses("form", "choice", got="must be 'counts' or 'proportions'"):
        hosmer_lemeshow_statistic([0], [[0.5, 0.5]], form="both")


def test_held_out_degrees_of_freedom_hold_and_fitted_ones_do_not():
    for k, n_bins in ((2, 5), (10, 5)):
        classwise, common, classwise_fitted, common_fitted = rejection_rates(k, n_bins, 500, 400)
        assert classwise < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
        assert common < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
        assert min(classwise_fitted, common_fitted) > (0.1 if k == 2 else 0.4)


@pytest.mark.slow
def test_fitted_degrees_of_freedom_hold_for_the_data_of_the_fit(needs):
    needs("sklearn")
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(6)
    pvalues = {"fitted": [], "held out": []}
    for _ in range(100):
        x = generator.normal(size=(600, 1))
        true = np.exp(x * [0.0, 0.5, 1.0])
        y = draw_labels(generator, true / true.sum(axis=1, keepdims=True))
        probs = LogisticRegression(C=1e6, tol=1e-6).fit(x, y).predict_proba(x)
        for kind, found in pvalues.items():
            fitted = kind == "fitted"
            found.append(hosmer_lemeshow_test(y, probs, n_bins=10, bins="common", fitted=fitted).pvalue)
    for alpha in (0.05, 0.2, 0.5):
        error = 3 * math.sqrt(alpha * (1 - alpha) / 100)
        assert abs((np.array(pvalues["fitted"]) <= alpha).mean() - alpha) < error
    assert (np.array(pvalues["held out"]) <= 0.5).mean() < 0.5 - error  # a fit to the same data hides faults


if __name__ == "__main__":
    for k, n_bins in ((2, 5), (3, 5), (10, 5), (10, 10)):
        print(f"{k}, {n_bins}:", *(f"{rate:.3f}" for rate in rejection_rates(k, n_bins, 1000, 4000)))


def test_groups_and_classes_with_one_bin_are_noted(random_generator):
    probs = np.full((9, 5), 0.2)
    labels = random_generator.integers(0, 5, 9)
    found = hosmer_lemeshow_test(labels, uq.Point(probs, groups=np.arange(9)), least_expected=1)
    assert "5 of 5 classes are too rare to show underconfidence" in said(found)
    assert "labels count as independent" in said(found)
    plain = hosmer_lemeshow_test(labels, probs)
    assert not any(words in said(plain) for words in ("one bin", "independent"))
