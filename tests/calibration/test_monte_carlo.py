"""Labels from probabilities, Monte-Carlo p-values and thresholds."""

import numpy as np

from uqassay.calibration.monte_carlo import labels_from, monte_carlo_pvalue, null_threshold


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
