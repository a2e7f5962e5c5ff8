"""Resampling of means and of pairs of models: against theory, NumPy and brute force."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special
from tests.refusals import refuses

from uqassay import native as _blas
from uqassay.statistics import (
    bca_interval,
    bootstrap_means,
    paired_mean_test,
    percentile_interval,
    resampling,
    student_draws,
    win_shares,
)
from uqassay.statistics.units import make_units

# Resampling against theory and brute force.

# ------------------------------------------------------------------------------------------------ bootstrap_means


def test_means_against_brute_force(random_generator):
    values, weights = random_generator.normal(size=(9, 3)), random_generator.random(9)
    rng = np.random.default_rng(5)
    rows = [rng.integers(0, 9, size=9) for _ in range(70)]  # over one block of draws
    np.testing.assert_allclose(
        bootstrap_means(values, n_draws=70, rng=5), [values[i].mean(axis=0) for i in rows], rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(
        bootstrap_means(values, n_draws=70, sample_weight=weights, rng=5),
        [np.average(values[i], axis=0, weights=weights[i]) for i in rows],
        rtol=1e-12,
        atol=1e-14,
    )


def test_group_means_against_brute_force(random_generator):
    values, weights = random_generator.normal(size=(9, 2)), random_generator.random(9)
    labels = np.array(["b", "a", "b", "c", "a", "c", "c", "b", "d"])
    members = [np.flatnonzero(labels == g) for g in "bacd"]  # by first appearance
    rng = np.random.default_rng(5)
    expected = []
    for _ in range(20):
        rows = np.concatenate([members[g] for g in rng.integers(0, 4, size=4)])
        expected.append(np.average(values[rows], axis=0, weights=weights[rows]))
    draws = bootstrap_means(values, n_draws=20, groups=labels, sample_weight=weights, rng=5)
    np.testing.assert_allclose(draws, expected, rtol=1e-12, atol=1e-14)


def test_covariance_against_theory(random_generator):
    values = random_generator.normal(size=(50, 3)) @ np.array([[1.0, 0.5, -0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 0.2]])
    draws = bootstrap_means(values, n_draws=20000)
    expected = np.cov(values.T, ddof=0) / 50
    np.testing.assert_allclose(draws.mean(axis=0), values.mean(axis=0), atol=5 * np.sqrt(expected.max() / 20000))
    np.testing.assert_allclose(np.cov(draws.T), expected, atol=0.05 * expected.max())


def test_group_variance_against_linearisation(random_generator):
    labels = np.repeat(np.arange(60), random_generator.integers(1, 8, size=60))
    values = random_generator.normal(size=60)[labels] + random_generator.normal(size=labels.size)
    u = np.bincount(labels, weights=values - values.mean()) / labels.size
    standard_error = np.sqrt((u**2).sum())
    draws = bootstrap_means(values, groups=labels, n_draws=10000)
    assert draws.shape == (10000,)
    assert draws.std() == pytest.approx(standard_error, rel=0.05)
    assert bootstrap_means(values, n_draws=2000).std() < 0.8 * standard_error


def test_same_seed_same_numbers(random_generator):
    values = random_generator.normal(size=(10, 2))
    first = bootstrap_means(values, n_draws=10)
    np.testing.assert_array_equal(first, bootstrap_means(values, n_draws=10, rng=0))
    np.testing.assert_array_equal(first, bootstrap_means(values, n_draws=10, rng=np.random.default_rng(0)))
    assert (first != bootstrap_means(values, n_draws=10, rng=1)).all()
    np.testing.assert_array_equal(first[:, 0], bootstrap_means(values[:, 0], n_draws=10))


def test_groups_of_one_instance_are_no_groups(random_generator):
    values, labels = random_generator.normal(size=(20, 2)), random_generator.permutation(20)
    np.testing.assert_array_equal(
        bootstrap_means(values, groups=labels, n_draws=50), bootstrap_means(values, n_draws=50)
    )


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_samples(n):
    draws = bootstrap_means(np.arange(n, dtype=np.float16)[:, np.newaxis], n_draws=3)
    assert draws.shape == (3, 1)
    assert draws.dtype == np.float64
    assert set(draws[:, 0]) <= {0.0, 0.5, 1.0}


@pytest.mark.parametrize(
    ("values", "options", "parameter", "code", "got"),
    [
        (np.ones((2, 2, 2)), {}, "values", "shape", r"got shape \(2, 2, 2\)"),
        ([1.0], {"n_draws": 2.0}, "n_draws", "type", "got 2.0"),
    ],
)
def test_bad_values_are_refused(values, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        bootstrap_means(values, **options)


# ------------------------------------------------------------------------------------------------------ intervals


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.floats(-1e6, 1e6)))
@settings(deadline=None, max_examples=50)
def test_percentiles_against_numpy(draws):
    low, high = percentile_interval(draws, level=0.9)
    np.testing.assert_allclose(low, np.quantile(draws, 0.05, axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(high, np.quantile(draws, 0.95, axis=0), rtol=1e-9, atol=1e-9)
    assert percentile_interval(draws[:, 0], level=0.9) == (low[0], high[0])


def test_percentiles_with_infinite_draws():
    assert percentile_interval([0.0, 1.0, np.inf, np.inf], level=0.5) == (0.75, np.inf)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bca_against_scipy(level, random_generator):
    values = random_generator.lognormal(size=25)
    theirs = scipy.stats.bootstrap((values,), np.mean, confidence_level=level, n_resamples=999, method="BCa", rng=2)
    jackknife = np.array([np.delete(values, i).mean() for i in range(25)])
    ours = bca_interval(values.mean(), theirs.bootstrap_distribution, jackknife, level=level)
    np.testing.assert_allclose(ours, theirs.confidence_interval, rtol=1e-10)


def test_bca_of_columns_is_bca_of_each(random_generator):
    draws, jackknife = random_generator.normal(size=(300, 3)), random_generator.exponential(size=(20, 3))
    low, high = bca_interval([0.1, 0.0, -0.1], draws, jackknife)
    for c, centre in enumerate((0.1, 0.0, -0.1)):
        assert bca_interval(centre, draws[:, c], jackknife[:, c]) == (low[c], high[c])


def test_bca_without_bias_or_acceleration_is_the_percentile_interval(random_generator):
    draws = random_generator.normal(size=1001)
    np.testing.assert_allclose(
        bca_interval(np.median(draws), draws, [1.0, 2.0, 3.0]), percentile_interval(draws), rtol=1e-12
    )


def test_bca_is_nan_where_it_is_undefined():
    assert np.isnan(bca_interval(5.0, [1.0, 2.0], [1.0, 2.0])).all()
    assert np.isnan(bca_interval(np.inf, [1.0, np.inf], [1.0, np.inf])).all()
    assert bca_interval(1.0, [1.0, 1.0], [1.0, 1.0]) == (1.0, 1.0)


def test_bca_beyond_the_pole_ends_at_an_extreme_draw(random_generator):
    draws = random_generator.normal(size=2000)
    jackknife = -np.eye(1, 100)[0]  # one instance carries everything: acceleration 1/6
    low, high = bca_interval(np.quantile(draws, 0.999), draws, jackknife, level=0.9999)
    assert low <= high
    assert high == draws.max()


def test_bad_intervals_are_refused():
    with refuses("draws", "finite"):
        percentile_interval([1.0, np.nan])
    with refuses("level", "range", got="got 95"):
        percentile_interval([1.0], level=95)
    with refuses("jackknife", "mismatch"):
        bca_interval([1.0, 2.0], np.ones((5, 2)), np.ones((4, 3)))


# -------------------------------------------------------------------------------------------- win_shares


def brute_force_shares(draws, tradeoffs):
    shares = np.zeros((len(tradeoffs), draws.shape[1]))
    for t, tradeoff in enumerate(tradeoffs):
        for draw in draws:
            totals = [d + tradeoff * ns for d, ns in draw]
            winners = [j for j, total in enumerate(totals) if total == min(totals)]
            for j in winners:
                shares[t, j] += 1 / len(winners) / len(draws)
    return shares


@given(
    hnp.arrays(np.int8, st.tuples(st.integers(1, 20), st.integers(1, 4), st.just(2)), elements=st.integers(0, 3)),
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=5),
)
@settings(deadline=None, max_examples=60)
def test_win_shares_against_brute_force_with_ties(draws, tradeoffs):
    shares = win_shares(draws, tradeoffs)
    np.testing.assert_allclose(shares, brute_force_shares(draws, tradeoffs), atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(win_shares(draws[..., 0]), win_shares(draws, [0.0])[0])


def test_win_shares_against_bivariate_normal(random_generator):
    # (d, ns) of two models: a normal vector of four, so each λ compares two normals
    root = random_generator.normal(size=(4, 4))
    centre = np.array([1.0, 0.5, 1.4, 0.2])
    draws = (centre + random_generator.normal(size=(40000, 4)) @ root.T).reshape(-1, 2, 2)
    tradeoffs = np.array([0.0, 0.3, 1.0, 4.0])
    contrast = np.stack([np.ones(4), tradeoffs, -np.ones(4), -tradeoffs], axis=1)  # total of 0 minus total of 1
    sd = np.sqrt(np.einsum("ti,ij,tj->t", contrast, root @ root.T, contrast))
    expected = scipy.stats.norm.cdf(-(contrast @ centre) / sd)
    shares = win_shares(draws, tradeoffs)
    np.testing.assert_allclose(shares[:, 0], expected, atol=5 * 0.5 / np.sqrt(40000))
    np.testing.assert_allclose(shares[:, 1], 1 - expected, atol=5 * 0.5 / np.sqrt(40000))


def test_win_shares_of_bootstrap_draws_against_normal_limit(random_generator):
    common = random_generator.normal(size=(500, 1))
    losses = common + random_generator.normal(size=(500, 2)) + np.array([0.0, 0.05])
    shares = win_shares(bootstrap_means(losses, n_draws=20000))
    d = losses[:, 0] - losses[:, 1]
    assert shares[0] == pytest.approx(scipy.stats.norm.cdf(-d.mean() / d.std() * np.sqrt(500)), abs=0.02)


def test_the_same_model_twice_shares_its_wins(random_generator):
    losses = random_generator.random((50, 3))
    draws = bootstrap_means(np.column_stack([losses, losses[:, 1], losses[:, 1]]), n_draws=400)
    shares = win_shares(draws * (1 + 1e-15 * np.arange(5)))
    np.testing.assert_allclose(shares[1], shares[3:])
    assert 3 * shares[1] == pytest.approx(win_shares(draws[:, :3])[1])


def test_infinite_losses_never_win_against_finite_ones():
    assert win_shares([[np.inf, 1.0], [2.0, 1.5]]).tolist() == [0.0, 1.0]
    assert np.isnan(win_shares([[np.inf, np.inf]])).all()
    assert win_shares([[[np.inf, 0.0], [1.0, 5.0]]], [0.0, 2.0]).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert win_shares([[-np.inf, 1.0]]).tolist() == [1.0, 0.0]


def test_tradeoffs_in_blocks(monkeypatch, random_generator):
    import uqassay.statistics.resampling as module

    draws, tradeoffs = random_generator.random((30, 4, 2)), np.linspace(0, 3, 17)
    whole = win_shares(draws, tradeoffs)
    monkeypatch.setattr(module, "_TOTALS_AT_ONCE", 500)
    np.testing.assert_array_equal(win_shares(draws, tradeoffs), whole)


@pytest.mark.parametrize(
    ("draws", "tradeoffs", "parameter", "code", "got"),
    [
        (np.ones((3, 2, 2)), None, "draws", "shape", r"got shape \(3, 2, 2\)"),
        (np.ones((3, 2)), [1.0], "draws", "shape", r"got shape \(3, 2\)"),
        (np.ones((3, 2, 3)), [1.0], "draws", "shape", ""),
        (np.ones((3, 2, 2)), [1.0, -0.5], "tradeoffs", "finite", "row 1 has -0.5"),
        (np.ones((3, 2, 2)), 1.0, "tradeoffs", "shape", r"got shape \(\)"),
        (np.full((3, 2, 2), np.inf), [1.0], "draws", "finite", ""),
        ([[np.nan, 1.0]], None, "draws", "finite", ""),
    ],
)
def test_bad_draws_are_refused(draws, tradeoffs, parameter, code, got):
    with refuses(parameter, code, got=got):
        win_shares(draws, tradeoffs)


# Joint draws with Student's t: against the paired test, with groups, runs, ties and infinite means.

N_DRAWS = 40_000


def share(a, b, **options):
    """Share of draws in which the mean of a is below that of b."""
    draws = student_draws(
        [np.atleast_2d(a)[..., np.newaxis], np.atleast_2d(b)[..., np.newaxis]], n_draws=N_DRAWS, **options
    )
    return win_shares(draws[..., 0])[0]


@pytest.mark.parametrize("groups", [None, np.arange(12) // 2, np.arange(12) // 4])
def test_shares_against_the_paired_test(groups, random_generator):
    a, b = random_generator.normal(size=(2, 12))
    test = paired_mean_test(a, b, groups=groups)
    expected = test.pvalue / 2 if test.statistic > 0 else 1 - test.pvalue / 2
    assert share(a, b, groups=groups) == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(N_DRAWS))


def test_unequal_groups_and_weights_have_few_degrees_of_freedom(random_generator):
    groups = np.repeat(np.arange(5), [60, 20, 6, 2, 2])
    a, b = random_generator.normal(size=(2, 90)) + random_generator.normal(size=(2, 5))[:, groups]
    test = paired_mean_test(a, b, groups=groups)
    sure = max(share(a, b, groups=groups), share(b, a, groups=groups))
    assert 0.5 < sure <= 1 - test.pvalue / 2 + 0.02
    weights = random_generator.exponential(size=90)
    weighted = paired_mean_test(a, b, sample_weight=weights)
    expected = weighted.pvalue / 2 if weighted.statistic > 0 else 1 - weighted.pvalue / 2
    assert share(a, b, sample_weight=weights) == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(N_DRAWS))


def test_runs_have_their_own_degrees_of_freedom(random_generator):
    effects = random_generator.normal(size=(3, 1))
    draws = student_draws([np.zeros((3, 50, 1)) + effects[:, np.newaxis]], n_draws=N_DRAWS)[:, 0, 0]
    error = effects.std(ddof=1) / np.sqrt(3)
    for level in (0.5, 0.9, 0.95):
        q = special.stdtrit(2, 0.5 + level / 2) * error
        assert (np.abs(draws - effects.mean()) <= q).mean() == pytest.approx(level, abs=0.01)


def test_columns_are_drawn_together(random_generator):
    x = random_generator.normal(size=(2, 200))
    y = 2 * x[0] - 1
    stacked = [np.stack([x[0], y], axis=1)[np.newaxis], np.stack([x[1], x[1]], axis=1)[np.newaxis]]
    draws = student_draws(stacked, n_draws=N_DRAWS)
    np.testing.assert_allclose(draws[:, 0, 1], 2 * draws[:, 0, 0] - 1, atol=1e-12)
    covariance = np.cov(draws[:, :, 0].T)
    np.testing.assert_allclose(covariance, np.cov(x) / 200 * 199 / 197, atol=5 * 1 / 200 * np.sqrt(2 / N_DRAWS))


def test_equal_models_tie_in_every_draw(random_generator):
    x = random_generator.normal(size=(4, 30))
    models = [v[np.newaxis, :, np.newaxis] for v in (x[0], x[1], x[0], x[2], x[3])]
    shares = win_shares(student_draws(models, n_draws=500)[..., 0])
    assert shares[0] == shares[2]


def test_infinite_means_and_single_units(random_generator):
    x = random_generator.normal(size=(1, 20, 2))
    infinite = x.copy()
    infinite[0, 3, 0] = np.inf
    draws = student_draws([x, infinite], n_draws=50)
    assert np.isposinf(draws[:, 1, 0]).all()
    assert np.isfinite(draws[:, 1, 1]).all()
    assert draws[:, 1, 1].std() > 0
    assert win_shares(draws[..., 0]).tolist() == [1.0, 0.0]
    runs = student_draws([np.concatenate([x, infinite]), x], n_draws=50)
    assert np.isposinf(runs[:, 0, 0]).all()
    one = student_draws([x[:, :1], x[:, 1:2]], n_draws=3)
    np.testing.assert_array_equal(one, np.repeat([[x[0, 0], x[0, 1]]], 3, axis=0))


def test_seeds_repeat(random_generator):
    x = random_generator.normal(size=(2, 20, 1))
    np.testing.assert_array_equal(student_draws([x], n_draws=9), student_draws([x], n_draws=9, rng=0))
    assert (student_draws([x], n_draws=9) != student_draws([x], n_draws=9, rng=1)).all()


@pytest.mark.parametrize(
    ("models", "options", "parameter", "code"),
    [
        ([], {}, "models", "empty"),
        ([np.zeros((1, 3))], {}, "models[0]", "shape"),
    ],
)
def test_bad_input_is_refused(models, options, parameter, code):
    with refuses(parameter, code):
        student_draws(models, **options)


def test_a_seed_repeats_draws_and_a_generator_moves_on():
    x = np.random.default_rng(0).normal(size=(2, 1, 40, 1))

    def twice(rng):
        return [student_draws(x, n_draws=20, rng=rng) for _ in range(2)]

    for seed in (None, 3):
        np.testing.assert_array_equal(*twice(seed))
    for state in (np.random.default_rng(3), np.random.PCG64(3)):
        first, second = twice(state)
        assert not (first == second).any()
    assert not (student_draws(x, n_draws=20, rng=3) == student_draws(x, n_draws=20, rng=4)).any()


def test_the_root_of_the_covariance_is_found_by_one_thread(monkeypatch):
    threads, used = [4], []
    monkeypatch.setattr(_blas, "_openblas", lambda: (lambda: threads[-1], threads.append))
    qr = np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda *given, **options: used.append(threads[-1]) or qr(*given, **options))
    student_draws(np.random.default_rng(0).normal(size=(2, 1, 40, 1)), n_draws=20)
    assert used == [1]
    assert threads[-1] == 4


# Inner loops of resampling: draws do not depend on the block size; sign flips against all flips.


def test_draws_do_not_depend_on_the_number_of_draws(random_generator):
    values = random_generator.normal(size=(37, 5))
    long = bootstrap_means(values, n_draws=200, rng=3)
    for n_draws in (1, 63, 64, 65, 199):
        np.testing.assert_array_equal(bootstrap_means(values, n_draws=n_draws, rng=3), long[:n_draws])


@pytest.mark.parametrize("block", [1, 3, 64, 1000])
def test_draws_do_not_depend_on_the_block_size(block, monkeypatch, random_generator):
    integers = random_generator.integers(0, 1000, size=(37, 5))  # sums of integers are exact
    floats = random_generator.normal(size=(37, 5))
    before = bootstrap_means(integers, n_draws=130), bootstrap_means(floats, n_draws=130)
    monkeypatch.setattr(resampling, "_BLOCK_DRAWS", block)
    np.testing.assert_array_equal(bootstrap_means(integers, n_draws=130), before[0])
    np.testing.assert_allclose(bootstrap_means(floats, n_draws=130), before[1], rtol=1e-11, atol=1e-14)
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 74)  # many instances: two draws at a time
    np.testing.assert_array_equal(bootstrap_means(integers, n_draws=130), before[0])


def test_draws_with_infinite_values_are_infinite(random_generator):
    values = random_generator.normal(size=(6, 3))
    values[2, 1], values[4, 2], values[5, 2] = np.inf, -np.inf, np.inf
    rng = np.random.default_rng(0)
    with np.errstate(invalid="ignore"):
        expected = np.array([values[rng.integers(0, 6, size=6)].mean(axis=0) for _ in range(40)])
    assert np.isinf(expected).any()
    assert np.isfinite(expected[:, 1:]).any(axis=0).all()
    assert np.isnan(expected[:, 2]).any()
    np.testing.assert_allclose(bootstrap_means(values, n_draws=40), expected, rtol=1e-12)


def test_sign_flips_against_all_flips(random_generator):
    d = random_generator.normal(0.4, 1, size=10)
    units = make_units(10, None, None)
    flips = np.array(list(itertools.product([-1, 1], repeat=10)))
    exact = np.mean(np.abs(flips @ d) >= abs(d.sum()) - 1e-12)
    found = resampling.sign_flip_pvalue(d, units, 40_000, random_generator)
    assert abs(found - exact) <= 5 * np.sqrt(exact * (1 - exact) / 40_000)


def test_signs_belong_to_whole_groups(random_generator):
    """Two groups: the four sums are ±(u + v) and ±(u − v), so half of all flips reach |u + v|."""
    units = make_units(6, [0, 0, 0, 1, 1, 1], None)
    found = resampling.sign_flip_pvalue(np.array([1.0, 2, 3, 1, 1, 1]), units, 20_000, random_generator)
    assert found == pytest.approx(0.5, abs=0.02)


def test_run_effects_have_the_variance_of_a_mean_over_runs(random_generator):
    means = random_generator.normal(size=(4, 2))
    effects = resampling.draw_run_effects(means, 40_000, random_generator)
    np.testing.assert_allclose(effects.var(axis=0), means.var(axis=0, ddof=1) / 4, rtol=0.05)
    np.testing.assert_allclose(effects.mean(axis=0), 0, atol=0.02)


def test_run_effects_of_a_column_with_an_infinite_mean_are_zero(random_generator):
    effects = resampling.draw_run_effects(np.array([[1.0, np.inf], [2.0, 3.0]]), 20, random_generator)
    assert (effects[:, 1] == 0).all()
    assert (effects[:, 0] != 0).any()
