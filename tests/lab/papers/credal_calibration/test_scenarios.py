"""Synthetic ensembles: their distribution, and truths inside (S1) or outside (S2, S3) of the credal sets."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog
from tests.refusals import refuses

from uqassay.credal.convex_hull import closest_corner, in_hull
from uqassay.lab.papers.credal_calibration.scenarios import (
    N_CANDIDATES,
    SCENARIOS,
    SHOWN_SETTING,
    CredalSetting,
    draw_ensemble,
    draw_examples,
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


# -- Figure 1, left: the truths of S1 lie in the credal set, boundary points on it, and the truths of S2 and S3 outside.


@pytest.fixture(scope="module", params=[0, 7])
def examples(request):
    return draw_examples(n_truths=60, seed=request.param)


def holds(members, p):
    """Whether weights exist that mix the members to p: a linear programme of SciPy's."""
    equal = np.vstack([members.T, np.ones(len(members))])
    found = linprog(np.zeros(len(members)), A_eq=equal, b_eq=np.append(p, 1.0), bounds=(0, None), method="highs")
    return found.status == 0


def farthest(members, start, corner):
    """The greatest t with (1 − t) start + t e_corner in the hull: a linear programme over the weights and t."""
    direction = np.eye(members.shape[1])[corner] - start
    equal = np.vstack([np.column_stack([members.T, -direction]), np.append(np.ones(len(members)), 0.0)])
    cost = np.append(np.zeros(len(members)), -1.0)
    bounds = [(0, None)] * len(members) + [(0, 1)]
    found = linprog(cost, A_eq=equal, b_eq=np.append(start, 1.0), bounds=bounds, method="highs")
    assert found.status == 0
    return found.x[-1]


def test_one_instance_in_three_scenarios(examples):
    assert [example.scenario for example in examples] == list(SCENARIOS)
    for example in examples:
        np.testing.assert_array_equal(example.members, examples[0].members)
        np.testing.assert_array_equal(example.centre, examples[0].centre)
        assert example.members.shape == (SHOWN_SETTING.n_members, 3)
        np.testing.assert_allclose(example.truths.sum(axis=1), 1.0)
    assert holds(examples[0].members, examples[0].centre)


def test_truths_of_s1_lie_in_the_hull(examples):
    assert all(holds(examples[0].members, p) for p in examples[0].truths)
    assert len(examples[0].corners) == len(examples[0].boundary) == 0
    assert len(np.unique(examples[0].truths.round(9), axis=0)) == 60  # each has its own weights


@pytest.mark.parametrize("place", [1, 2])
def test_boundary_points_lie_on_the_hull_and_truths_beyond_it(examples, place):
    example = examples[place]
    for boundary, corner in zip(example.boundary, example.corners, strict=True):
        direction = np.eye(3)[corner] - example.centre
        t = farthest(example.members, example.centre, corner)
        np.testing.assert_allclose(boundary, example.centre + t * direction, atol=1e-8)
        assert holds(example.members, boundary - 1e-6 * direction)
        assert not holds(example.members, boundary + 1e-6 * direction)
    assert not any(holds(example.members, p) for p in example.truths)
    ends = example.boundary[:, None], np.eye(3)[example.corners][:, None]
    shares = (example.truths - ends[0])[..., 0] / (ends[1] - ends[0])[..., 0]  # along each segment, by the first class
    away = np.abs(ends[0] + shares[..., None] * (ends[1] - ends[0]) - example.truths).max(axis=-1)
    nearest = away.argmin(axis=0)
    assert away.min(axis=0).max() < 1e-9  # every truth lies on one of the segments
    on = shares[nearest, np.arange(60)]
    assert (on >= 0).all()
    assert (on <= 1).all()
    assert 0.3 < on.mean() < 0.7


def test_s2_has_the_closest_corner_and_s3_all(examples):
    assert examples[1].corners.tolist() == [examples[1].centre.argmax()]
    assert examples[2].corners.tolist() == [0, 1, 2]


def test_the_widest_set_that_holds_its_centre_is_shown():
    shown = draw_examples(n_truths=1, seed=7)[0]
    drawn = draw_ensemble(CredalSetting(N_CANDIDATES, 10, 3, SHOWN_SETTING.spread), np.random.default_rng(7))
    inside = in_hull(drawn.members, drawn.centre)
    scatter = drawn.members.var(axis=1).sum(axis=1)
    assert 0 < inside.sum() < N_CANDIDATES
    assert shown.members.var(axis=0).sum() == pytest.approx(scatter[inside].max())


def test_sets_that_hold_no_centre_are_drawn_as_well():
    s1, s2, s3 = draw_examples(CredalSetting(n_members=2, n_classes=3, spread=0.1), n_truths=5)
    assert not in_hull(s1.members[None], s1.centre[None])[0]
    assert in_hull(s2.members[None], s2.boundary).all()
    assert len(s3.truths) == 5
