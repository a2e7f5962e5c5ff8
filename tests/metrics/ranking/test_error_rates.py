"""Measured coverage of the ranking metrics' intervals, type-I error and power of their paired tests.

Run as a script, this file prints the tables of docs/evidence-ranking.md (a number of samples and names in TABLES may follow).
As a test it measures fewer samples and asserts what the tables say.
"""

import sys
from functools import cache

import numpy as np
import pytest
from scipy import special, stats
from tests.metrics.ranking import equal_rankings, tied_rankings

from uqassay.metrics.ranking import g_auc_score, h_auc_score, paired_ranking_test, uq_auc_score, uq_c_index_score

pytestmark = pytest.mark.usefixtures("without_detectable")

AUCS = (0.6, 0.8, 0.95)
SIZES = ((2, 198), (4, 196), (10, 190), (20, 180), (20, 980), (20, 20), (60, 140), (100, 900), (300, 700))


# -- samples ----------------------------------------------------------------------------------------------------------
def binormal(rng, wrong, right, auc, levels=None):
    """Errors, normal scores shifted for errors, and the true area; with `levels` the scores are cut into that many levels."""
    shift = np.sqrt(2) * stats.norm.ppf(auc)
    errors = np.r_[np.ones(wrong), np.zeros(right)]
    scores = rng.normal(size=wrong + right) + shift * errors
    if levels is None:
        return errors, scores, auc
    cuts, truth = level_cuts(wrong / (wrong + right), shift, levels)
    return errors, np.searchsorted(cuts, scores).astype(float), truth


@cache
def level_cuts(error_rate, shift, levels):
    """Thresholds that cut the mixture into equally frequent levels, and the area of the level."""
    grid = np.linspace(-6, 10, 40001)
    mixture = error_rate * stats.norm.cdf(grid - shift) + (1 - error_rate) * stats.norm.cdf(grid)
    cuts = np.interp(np.arange(1, levels) / levels, mixture, grid)
    p, q = (np.diff(np.r_[0.0, stats.norm.cdf(cuts - s), 1.0]) for s in (shift, 0.0))
    return cuts, float(p @ (np.cumsum(q) - 0.5 * q))


def random_errors(rng, n, rate, auc, levels=None):
    """`binormal` with a random number of errors."""
    wrong = max(1, min(n - 1, rng.binomial(n, rate)))
    return binormal(rng, wrong, n - wrong, auc, levels)


def grouped(rng, n, rate, auc, *, unequal=False):
    """Errors and scores with group effects: correlation .3 in both, ten instances per group."""
    sizes = rng.geometric(0.1, size=n // 10) if unequal else np.full(n // 10, 10)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    m = len(groups)
    latent = np.sqrt(0.3) * rng.normal(size=len(sizes))[groups] + np.sqrt(0.7) * rng.normal(size=m)
    errors = (latent < stats.norm.ppf(rate)).astype(float)
    effect = np.sqrt(0.3) * rng.normal(size=len(sizes))[groups] + np.sqrt(0.7) * rng.normal(size=m)
    return errors, effect + np.sqrt(2) * stats.norm.ppf(auc) * errors, groups


def whole_groups(rng, wrong, right, auc, correlation):
    """Groups of 25 with correlated scores. All instances of a group are errors, or all are right."""
    errors = np.repeat(np.r_[np.ones(wrong), np.zeros(right)], 25)
    groups = np.repeat(np.arange(wrong + right), 25)
    shared = np.sqrt(correlation) * rng.normal(size=wrong + right)[groups]
    scores = shared + np.sqrt(1 - correlation) * rng.normal(size=len(groups))
    return errors, scores + np.sqrt(2) * stats.norm.ppf(auc) * errors, groups


def unequal_models(rng, wrong, n, auc):
    """Two models with different numbers of errors and independent scores."""
    found = []
    for count in wrong:
        errors = (rng.permutation(n) < count).astype(float)
        found.append((errors, rng.normal(size=n) + np.sqrt(2) * stats.norm.ppf(auc) * errors))
    return found


def gaps(rng, n, kind):
    """Gap and entropy-like uncertainty of a classifier that is a little over-confident."""
    if kind == "10 classes":
        logits = rng.normal(0, 3, (n, 10))
        logits[:, 0] += 8 * rng.random(n)
        p, f = special.softmax(logits, axis=1), special.softmax(1.5 * logits, axis=1)
        y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, 9)
        return 1 - f[np.arange(n), y], 1 - f.max(axis=1)
    spread = {"binary, hard": 1.0, "binary": 2.5, "binary, easy": 6.0, "binary, tied": 2.5}[kind]
    z = rng.normal(0, spread, n)
    y = rng.random(n) < special.expit(z)
    f = special.expit(1.5 * z + rng.normal(0, 0.5, n))
    if kind == "binary, tied":
        f = np.round(f, 1)
    return np.where(y, 1 - f, f), -np.abs(np.round(f, 12) - 0.5)


def two_scores(rng, n, rate, aucs, correlation):
    """Errors of one model, with two scores."""
    errors = np.zeros(n)
    errors[: max(1, min(n - 1, rng.binomial(n, rate)))] = 1
    noise = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=n)
    shifts = np.sqrt(2) * stats.norm.ppf(aucs)
    return [(errors, noise[:, k] + shifts[k] * errors) for k in range(2)]


def two_models(rng, n, rate, aucs, correlation):
    """Two models with different errors and scores. Errors and scores are correlated between the models."""
    covariance = [[1, correlation], [correlation, 1]]
    latent, noise = (rng.multivariate_normal([0, 0], covariance, size=n) for _ in range(2))
    errors = (latent < stats.norm.ppf(rate)).astype(float)
    errors[0], errors[1] = 0.0, 1.0
    return [(errors[:, k], noise[:, k] + np.sqrt(2) * stats.norm.ppf(aucs[k]) * errors[:, k]) for k in range(2)]


# -- shares -----------------------------------------------------------------------------------------------------------


def coverage(draw, n_samples, seed, **options):
    """Shares of intervals that contain the truth, lie above it and below it; draw(rng) gives (errors, scores, truth)."""
    rng = np.random.default_rng(seed)
    above = below = 0
    for _ in range(n_samples):
        errors, scores, truth = draw(rng)
        found = uq_auc_score(errors, scores, **options)
        above, below = above + (found.low > truth), below + (found.high < truth)
    return 1 - (above + below) / n_samples, above / n_samples, below / n_samples


def grouped_coverage(n, rate, auc, n_samples, seed, *, unequal=False, use_groups=True):
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(n_samples):
        errors, scores, groups = grouped(rng, n, rate, auc, unequal=unequal)
        found = uq_auc_score(errors, scores, groups=groups if use_groups else None)
        covered += found.low <= auc <= found.high
    return covered / n_samples


def whole_group_coverage(wrong, right, auc, n_samples, seed):
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(n_samples):
        errors, scores, groups = whole_groups(rng, wrong, right, auc, 0.9)
        found = uq_auc_score(errors, scores, groups=groups)
        covered += found.low <= auc <= found.high
    return covered / n_samples


def g_auc_of(a, u):
    return a * a + 2 * a * (1 - a) * u


def h_auc_of(a, u):
    return a * (1 - a) * u


def area_coverage(score, form, wrong, right, auc, n_samples, seed):
    """Coverage of a function of accuracy and area where the number of errors is random."""
    rng = np.random.default_rng(seed)
    n, rate = wrong + right, wrong / (wrong + right)
    truth = form(1 - rate, auc)
    covered = 0
    for _ in range(n_samples):
        errors, scores, _ = random_errors(rng, n, rate, auc)
        found = score(errors, scores)
        covered += found.low <= truth <= found.high
    return covered / n_samples


def c_index_coverage(kind, n, n_samples, seed):
    g, s = gaps(np.random.default_rng(1), 400_000, kind)
    truth = float(uq_c_index_score(g, s))
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(n_samples):
        found = uq_c_index_score(*gaps(rng, n, kind))
        covered += found.low <= truth <= found.high
    return covered / n_samples


def rejections(draw, n_samples, seed, **options):
    """Share of p-values at or below .01, .05 and .1; draw(rng) gives the two rankings."""
    rng = np.random.default_rng(seed)
    p = np.array([paired_ranking_test(*draw(rng), **options).pvalue for _ in range(n_samples)])
    return tuple(float((p <= alpha).mean()) for alpha in (0.01, 0.05, 0.1))


def grouped_rejections(n, rate, n_samples, seed):
    """Share of p-values at or below .01, .05 and .1 for two equally good scores on grouped instances."""
    rng = np.random.default_rng(seed)
    p = []
    for _ in range(n_samples):
        errors, first, groups = grouped(rng, n, rate, 0.8)
        shared = np.sqrt(0.3) * rng.normal(size=n // 10)[groups] + np.sqrt(0.7) * rng.normal(size=n)
        second = shared + np.sqrt(2) * stats.norm.ppf(0.8) * errors
        p.append(paired_ranking_test((errors, first), (errors, second), groups=groups).pvalue)
    return tuple(float((np.array(p) <= alpha).mean()) for alpha in (0.01, 0.05, 0.1))


# -- tables -----------------------------------------------------------------------------------------------------------


def percent(shares, digits=1):
    return " / ".join(f"{100 * share:.{digits}f}" for share in shares)


def print_areas(n_samples):
    print("coverage of UQ-AUC: errors, right predictions, levels; AUC .6 / .8 / .95 / .99; adjusted, then plain DeLong")
    for wrong, right in SIZES:
        for levels in (None, 5):
            row = []
            for method in ("adjusted", "delong"):
                row.append(
                    percent(
                        coverage(lambda r: binormal(r, wrong, right, auc, levels), n_samples, 3, method=method)[0]  # noqa: B023
                        for auc in (*AUCS, 0.99)
                    )
                )
            print(f"{wrong:5d} {right:5d} {levels or '-'}   {row[0]:29} {row[1]}", flush=True)
    print("random number of errors: n, rate")
    for n in (200, 1000):
        for rate in (0.02, 0.1, 0.3):
            shares = [coverage(lambda r: random_errors(r, n, rate, auc), n_samples, 4)[0] for auc in AUCS]  # noqa: B023
            print(f"{n:5d} {rate:.2f}  {percent(shares)}", flush=True)
    print("G-AUC and H-AUC: errors, right predictions; AUC .6 / .8 / .95")
    for wrong, right in ((20, 180), (20, 980), (60, 140)):
        rows = [
            percent(area_coverage(score, form, wrong, right, auc, n_samples, 14) for auc in AUCS)
            for score, form in ((g_auc_score, g_auc_of), (h_auc_score, h_auc_of))
        ]
        print(f"{wrong:5d} {right:5d}  {rows[0]}   {rows[1]}", flush=True)


def print_groups(n_samples):
    print("groups of ten, correlation .3: n, rate, AUC; equal, unequal, and groups ignored")
    for n in (200, 1000):
        for rate in (0.1, 0.3):
            for auc in AUCS:
                shares = [
                    grouped_coverage(n, rate, auc, n_samples // 2, 5),
                    grouped_coverage(n, rate, auc, n_samples // 2, 5, unequal=True),
                    grouped_coverage(n, rate, auc, n_samples // 2, 5, use_groups=False),
                ]
                print(f"{n:5d} {rate:.2f} {auc}  {percent(shares)}", flush=True)
    print(
        "groups of 25, all errors or all right: groups of errors, of right predictions; correlation .9; AUC .6 / .8 / .95"
    )
    for wrong, right in ((20, 20), (20, 180)):
        shares = [whole_group_coverage(wrong, right, auc, n_samples // 4, 15) for auc in AUCS]
        print(f"{wrong:5d} {right:5d}  {percent(shares)}", flush=True)


def print_concordance(n_samples):
    print("coverage of UQ-C-index: n = 40 / 200 / 1000")
    for kind in ("binary, hard", "binary", "binary, easy", "binary, tied", "10 classes"):
        print(f"{kind:14} {percent(c_index_coverage(kind, n, n_samples // 2, 6) for n in (40, 200, 1000))}", flush=True)


def print_tests(n_samples):
    print("type-I error in percent at 1 / 5 / 10: two scores, two models; n, rate, AUC; correlation .5")
    for n, rate in ((200, 0.05), (200, 0.1), (200, 0.3), (1000, 0.02), (1000, 0.1)):
        for auc in AUCS:
            cells = [
                percent(rejections(lambda r: draw(r, n, rate, (auc, auc), 0.5), n_samples, 7))  # noqa: B023
                for draw in (two_scores, two_models)
            ]
            print(f"{n:5d} {rate:.2f} {auc}   {cells[0]:20} {cells[1]}", flush=True)
    print("two models with unequal numbers of errors, independent scores: errors, n, AUC")
    for wrong, n, auc in (((20, 200), 400, 0.9), ((10, 200), 1000, 0.8)):
        found = rejections(lambda r: unequal_models(r, wrong, n, auc), n_samples // 2, 12)  # noqa: B023
        print(f"{wrong} {n:5d} {auc}   {percent(found)}", flush=True)
    print("other metrics, two scores, n = 1000, rate .1, AUC .8")
    for metric in ("uq-c-index", "aurc", "e-aurc", "augrc", "prediction-rejection"):
        found = rejections(lambda r: two_scores(r, 1000, 0.1, (0.8, 0.8), 0.5), n_samples // 2, 8, metric=metric)
        print(f"{metric:21} {percent(found)}", flush=True)
    print(f"groups of ten         {percent(grouped_rejections(1000, 0.2, n_samples // 2, 9))}", flush=True)
    print("permutation, n = 200, rate .1, AUC .8: two scores, two models")
    for draw in (two_scores, two_models):
        found = rejections(
            lambda r: draw(r, 200, 0.1, (0.8, 0.8), 0.5),  # noqa: B023
            max(n_samples // 20, 100),
            10,
            method="permutation",
            n_draws=199,
        )
        print(f"  {percent(found)}", flush=True)


def print_power(n_samples):
    print("power in percent at 5 %: AUC .8 against .8 + d, rate .1, correlation .5; two scores, two models")
    for n in (200, 1000, 5000):
        for d in (0.02, 0.05, 0.1):
            cells = [
                rejections(lambda r: draw(r, n, 0.1, (0.8, 0.8 + d), 0.5), max(n_samples // 10, 200), 11)[1]  # noqa: B023
                for draw in (two_scores, two_models)
            ]
            print(f"{n:5d} {d:.2f}  {percent(cells, 0)}", flush=True)


TABLES = {
    "areas": print_areas,
    "ties": tied_rankings.print_ties,
    "groups": print_groups,
    "concordance": print_concordance,
    "tests": print_tests,
    "power": print_power,
    "sets": equal_rankings.print_rank_sets,
    "two": equal_rankings.print_groups_of_two,
}


# -- tests of the tables -----------------------------------------------------------------------------------------------


ERRORS = 3.3  # standard errors that a share may differ by: a correct interval or test fails with probability .001


def not_below(share, n_samples, least):
    """True if a measured share is not significantly below `least`."""
    return share >= least - ERRORS * np.sqrt(least * (1 - least) / n_samples)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [None, 5])
@pytest.mark.parametrize("auc", AUCS)
@pytest.mark.parametrize(("wrong", "right"), [(20, 180), (20, 980), (20, 20), (60, 140), (300, 700)])
def test_uq_auc_covers_from_20_errors_and_20_right_predictions_on(wrong, right, auc, levels):
    n_samples = 120  # an interval that covers in .80 is found with probability .99
    share, _, _ = coverage(lambda r: binormal(r, wrong, right, auc, levels), n_samples, 31)
    assert not_below(share, n_samples, 0.95)
    if wrong >= 60:
        assert abs(share - 0.95) <= ERRORS * np.sqrt(0.95 * 0.05 / n_samples)


@pytest.mark.slow
@pytest.mark.parametrize(("auc", "plain_fails"), [(0.6, False), (0.8, False), (0.95, True)])
def test_few_errors_widen_the_interval_where_plain_delong_fails(auc, plain_fails):
    def draw(r):
        return binormal(r, 4, 196, auc)

    assert not_below(coverage(draw, 200, 32)[0], 200, 0.95)
    if plain_fails:
        assert coverage(draw, 200, 32, method="delong")[0] < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("unequal", [False, True])
def test_grouped_intervals_cover_and_ignoring_groups_does_not(unequal):
    assert not_below(grouped_coverage(1000, 0.2, 0.8, 150, 33, unequal=unequal), 150, 0.93)
    assert grouped_coverage(1000, 0.3, 0.8, 150, 33, unequal=unequal, use_groups=False) < 0.92


@pytest.mark.slow
def test_imaginary_groups_keep_the_coverage_near_separation():
    """A group in which all instances are errors carries little more information than one instance."""
    assert not_below(whole_group_coverage(20, 180, 0.95, 150, 37), 150, 0.93)


@pytest.mark.slow
@pytest.mark.parametrize(("score", "form"), [(g_auc_score, g_auc_of), (h_auc_score, h_auc_of)])
def test_areas_of_accuracy_cover(score, form):
    assert not_below(area_coverage(score, form, 20, 180, 0.8, 180, 38), 180, 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["binary, hard", "binary, easy", "binary, tied", "10 classes"])
def test_c_index_covers(kind):
    share = c_index_coverage(kind, 200, 150, 34)
    assert abs(share - 0.95) <= ERRORS * np.sqrt(0.95 * 0.05 / 150)


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "auc"), [(two_scores, 0.6), (two_models, 0.8)])
def test_paired_tests_keep_their_level(draw, auc):
    found = rejections(lambda r: draw(r, 200, 0.2, (auc, auc), 0.5), 300, 35)
    for share, alpha in zip(found, (0.01, 0.05, 0.1), strict=True):
        assert abs(share - alpha) <= ERRORS * np.sqrt(alpha * (1 - alpha) / 300) + 0.01


@pytest.mark.slow
def test_two_models_with_unequal_numbers_of_errors_keep_the_level():
    found = rejections(lambda r: unequal_models(r, (10, 200), 1000, 0.8), 300, 39)
    assert found[1] <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["uq-c-index", "aurc", "augrc", "prediction-rejection"])
def test_paired_tests_of_every_metric_keep_their_level(metric):
    found = rejections(lambda r: two_scores(r, 300, 0.2, (0.7, 0.7), 0.5), 300, 40, metric=metric)
    assert 0.01 <= found[1] <= 0.095


@pytest.mark.slow
def test_power_grows_with_the_difference_and_the_sample():
    shares = [
        rejections(lambda r: two_scores(r, n, 0.1, (0.8, 0.8 + d), 0.5), 120, 36)[1]  # noqa: B023
        for n, d in ((200, 0.05), (1000, 0.05), (1000, 0.1))
    ]
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.9


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    for table in sys.argv[2:] or TABLES:
        TABLES[table](size)
