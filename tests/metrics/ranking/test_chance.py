"""Wilcoxon's test of errors that are independent of the uncertainty, with ties, groups and runs."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm, permutation_test, rankdata

from uqassay.metrics.ranking import chance_pvalue


def sample(seed, n=120, rate=0.2, levels=6):
    rng = np.random.default_rng(seed)
    return (rng.random(n) < rate).astype(float), rng.integers(0, levels, n).astype(float)


@pytest.mark.parametrize("levels", [2, 6, 10**6])
def test_against_scipy_up_to_the_tails_of_students_t(levels):
    errors, scores = sample(1, n=4000, levels=levels)
    found = mannwhitneyu(scores[errors == 1], scores[errors == 0], use_continuity=False, method="asymptotic")
    assert chance_pvalue(errors, scores) == pytest.approx(found.pvalue, abs=2e-4)


def test_against_random_orders_of_the_errors():
    errors, scores = sample(2)
    shares = np.round(np.clip(errors * 0.6 + 0.2 * np.random.default_rng(2).random(120), 0, 1), 1)
    ranks = rankdata(scores)
    for e in (errors, shares):
        found = permutation_test(
            (e,), lambda x, axis=-1: np.sum(x * ranks, axis=axis), permutation_type="pairings", n_resamples=4000, rng=3
        )
        assert chance_pvalue(e, scores) == pytest.approx(float(found.pvalue), abs=0.03)


def test_no_error_among_few_untied_instances_is_no_evidence():
    errors, scores = np.zeros(200), np.zeros(200)
    errors[:10], scores[-6:] = 1, np.arange(1, 7)
    assert chance_pvalue(errors, scores) > 0.5


def test_runs_are_averaged_with_their_deviations():
    errors, scores = sample(4)
    one = chance_pvalue(errors, scores)
    assert chance_pvalue(np.stack([errors] * 3), np.stack([scores] * 3)) == pytest.approx(one)
    assert chance_pvalue(np.stack([errors] * 2), np.stack([scores, -scores])) == pytest.approx(1.0)


def test_groups_of_one_and_groups_of_copies():
    errors, scores = sample(5, n=60)
    plain = chance_pvalue(errors, scores)
    assert chance_pvalue(errors, scores, groups=np.arange(60)) == pytest.approx(plain)
    copied = chance_pvalue(np.repeat(errors, 5), np.repeat(scores, 5), groups=np.repeat(np.arange(60), 5))
    assert copied == pytest.approx(plain, rel=0.02)
    assert chance_pvalue(np.repeat(errors, 5), np.repeat(scores, 5)) < 0.5 * plain


def test_undefined_where_nothing_varies():
    errors, scores = sample(6)
    for e, s in ((np.zeros(120), scores), (errors, np.zeros(120)), ([1.0], [0.5])):
        assert np.isnan(chance_pvalue(e, s))
    assert np.isnan(chance_pvalue(errors, scores, groups=np.zeros(120)))


@pytest.mark.slow
@pytest.mark.parametrize("grouped", [False, True])
def test_share_of_rejections_at_five_percent(grouped):
    rng, rejected, n_samples = np.random.default_rng(7), 0, 1000
    groups = np.arange(300) // 10
    for _ in range(n_samples):
        common = rng.normal(size=(2, 30))[:, groups]
        z, u = (
            np.sqrt(0.5) * common + np.sqrt(0.5) * rng.normal(size=(2, 300)) if grouped else rng.normal(size=(2, 300))
        )
        errors = (z < norm.ppf(0.2)).astype(float)
        rejected += chance_pvalue(errors, np.round(u, 1), groups=groups if grouped else None) <= 0.05
    assert 0.02 < rejected / n_samples < 0.07
