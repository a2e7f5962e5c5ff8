"""Joint draws with Student's t: against the paired test, with groups, runs, ties and infinite means."""

import numpy as np
import pytest
from scipy import special
from tests.refusals import refuses

from uqassay import native as _blas
from uqassay.statistics import paired_mean_test, student_draws, win_shares

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
        ([np.zeros((1, 3, 1)), np.zeros((1, 2, 1))], {}, "models[1]", "mismatch"),
        ([np.full((1, 3, 1), np.nan)], {}, "models[0]", "finite"),
        ([np.zeros((1, 3, 1))], {"n_draws": 0}, "n_draws", "range"),
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
