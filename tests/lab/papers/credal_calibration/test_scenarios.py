"""Synthetic ensembles: their distribution, and truths inside (S1) or outside (S2, S3) of the credal sets."""

import numpy as np
import pytest
from scipy import stats
from tests.refusals import refuses

from uqassay.credal.hull import closest_corner, in_hull
from uqassay.lab.papers.credal_calibration.scenarios import (
    SCENARIOS,
    CredalSetting,
    draw_ensemble,
    draw_truth,
    log_dirichlet,
)


def test_log_dirichlet_against_theory(random_generator):
    a = np.array([0.05, 0.3, 2.0])
    log_values = log_dirichlet(np.broadcast_to(np.log(a), (20_000, 3)), random_generator)
    probs = np.exp(log_values) / np.exp(log_values).sum(axis=1, keepdims=True)
    for k in range(3):
        assert stats.kstest(probs[:, k], stats.beta(a[k], a.sum() - a[k]).cdf).pvalue > 0.001


def test_tiny_concentrations_keep_their_order_of_size(random_generator):
    """ln G(a) is about −E/a with E exponential, far below the smallest float."""
    a = 1e-6
    log_values = log_dirichlet(np.broadcast_to(np.log([a, 1.0]), (4000, 2)), random_generator)
    assert stats.kstest(-log_values[:, 0] * a, stats.expon.cdf).pvalue > 0.001
    assert not np.isnan(log_dirichlet(np.array([[-1e6, 0.0]]), random_generator)).any()


@pytest.mark.parametrize("u", [0.01, 0.1, 1.0])
def test_members_scatter_about_their_centre(u, random_generator):
    drawn = draw_ensemble(CredalSetting(n_instances=40, n_members=400, n_classes=3, spread=u), random_generator)
    assert np.isfinite(drawn.members).all()
    np.testing.assert_allclose(drawn.members.sum(axis=-1), 1.0)
    variance = drawn.centre * (1 - drawn.centre) / (3 / u + 1)
    error = np.abs(drawn.members.mean(axis=1) - drawn.centre)
    plain = (drawn.centre > 0.1) & (drawn.centre < 0.9)  # the others have too long tails for 400 members
    assert plain.sum() > 20
    assert (error <= 4.5 * np.sqrt(variance / 400))[plain].all()
    np.testing.assert_allclose(drawn.members.var(axis=1)[plain], variance[plain], rtol=0.5)


@pytest.mark.parametrize("setting", [CredalSetting(), CredalSetting(n_members=3, n_classes=3, spread=1.0)])
@pytest.mark.parametrize("convention", ["exact", "paper-code"])
def test_truths_lie_inside_in_s1_and_outside_in_s2_and_s3(setting, convention, random_generator):
    ensemble = draw_ensemble(setting, random_generator)
    s1 = draw_truth(ensemble, "S1", random_generator, convention=convention)
    np.testing.assert_allclose(s1.truth, np.einsum("m,nmk->nk", s1.weights, ensemble.members))
    assert in_hull(ensemble.members, s1.truth).all()
    for scenario in ("S2", "S3"):
        sample = draw_truth(ensemble, scenario, random_generator, convention=convention)
        reached = ensemble.members.max(axis=(1, 2)) > 1 - 1e-6  # the set has a corner itself, and nothing lies beyond
        assert reached.mean() < 0.8
        assert not in_hull(ensemble.members, sample.truth, tolerance=1e-13)[~reached].any()
        assert sample.weights is None
        np.testing.assert_allclose(sample.truth.sum(axis=1), 1.0)


def test_the_closest_corner_is_that_of_the_centre_and_the_random_one_any(random_generator):
    ensemble = draw_ensemble(CredalSetting(n_instances=300, n_classes=4), random_generator)
    for scenario, agreeing in (("S2", (0.999, 1.0)), ("S3", (0.15, 0.35))):
        sample = draw_truth(ensemble, scenario, random_generator, convention="paper-code")
        certain = ~sample.segment.inside  # there the truth is the corner
        share = (sample.labels == closest_corner(ensemble.centre))[certain].mean()
        assert agreeing[0] <= share <= agreeing[1]
        assert (sample.truth[certain].max(axis=1) == 1.0).all()


def test_where_the_centre_lies_in_the_set_both_conventions_agree(random_generator):
    ensemble = draw_ensemble(CredalSetting(n_members=60, n_classes=2, spread=2.0), random_generator)
    exact, code = (draw_truth(ensemble, "S3", np.random.default_rng(5), convention=c) for c in ("exact", "paper-code"))
    assert 0.5 < exact.segment.inside.mean() < 1.0
    np.testing.assert_array_equal(exact.truth[exact.segment.inside], code.truth[exact.segment.inside])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_labels_follow_the_truth(scenario):
    rng = np.random.default_rng(11)
    ensemble = draw_ensemble(CredalSetting(n_instances=5000, n_members=2, n_classes=3, spread=1.0), rng)
    sample = draw_truth(ensemble, scenario, rng)
    expected, observed = sample.truth.sum(axis=0), np.bincount(sample.labels, minlength=3)
    deviation = np.sqrt((sample.truth * (1 - sample.truth)).sum(axis=0))
    assert (np.abs(observed - expected) < 4 * deviation).all()


def test_smallest_sizes_and_bad_ones(random_generator):
    ensemble = draw_ensemble(CredalSetting(1, 1, 2), random_generator)
    for scenario in SCENARIOS:
        assert draw_truth(ensemble, scenario, random_generator).labels.shape == (1,)
    with refuses("n_classes", "range", got="got 1"):
        CredalSetting(n_classes=1)
    with refuses("spread", "range", got="got 0"):
        CredalSetting(spread=0.0)
    with refuses("scenario", "choice", got="got 'S4'"):
        draw_truth(ensemble, "S4", random_generator)
    with refuses("convention", "choice"):
        draw_truth(ensemble, "S1", random_generator, convention="paper")
