"""Measured coverage of intervals and type-I error of tests.

Run as a script, this file prints the tables of `mean_estimate`, `paired_mean_test` and `rank_sets` in
docs/evidence-comparisons.md (those whose name begins with the word given, if there is one); as a test it measures fewer samples
and asserts what the tables say.
"""

import sys

import numpy as np
import pytest
from scipy import special
from tests.statistics import rank_worlds

from uqassay.statistics import (
    bootstrap_means,
    mean_estimate,
    paired_mean_test,
    pairwise_mean_tests,
    percentile_interval,
)

# losses of one instance and their mean; -ln p with p ~ Beta(0.5, 0.1) has mean 0.42 and skewness 4.5, much as
# the log loss of a good image classifier
LOSSES = {
    "normal": (lambda rng, size: rng.normal(size=size), 0.0),
    "exponential": (lambda rng, size: rng.exponential(size=size), 1.0),
    "Bernoulli .3": (lambda rng, size: (rng.random(size) < 0.3).astype(float), 0.3),
    "Bernoulli .05": (lambda rng, size: (rng.random(size) < 0.05).astype(float), 0.05),
    "log loss": (lambda rng, size: -np.log(rng.beta(0.5, 0.1, size=size)), special.psi(0.6) - special.psi(0.5)),
    "heavy tails": (lambda rng, size: np.log(rng.beta(0.5, 0.1, size=size) / rng.beta(0.5, 0.1, size=size)), 0.0),
    "lognormal": (lambda rng, size: rng.lognormal(size=size), np.exp(0.5)),
}
ICC = 0.3


def group_labels(n, unequal, rng):
    """Groups of about 10 (of 3 in small samples); unequal ones have geometric sizes."""
    size = 3 if n <= 30 else 10
    if unequal:
        sizes = rng.geometric(1 / size, size=n // size)
        return np.repeat(np.arange(sizes.size), sizes)
    return np.arange(n) // size


def grouped_losses(rng, n, *, skewed=False, unequal=False):
    """Losses with intraclass correlation .3 and mean 0, and their groups."""
    labels = group_labels(n, unequal, rng)
    effects = rng.exponential(size=labels.max() + 1) - 1 if skewed else rng.normal(size=labels.max() + 1)
    return np.sqrt(ICC) * effects[labels] + np.sqrt(1 - ICC) * rng.normal(size=labels.size), labels


def run_losses(rng, n, runs, *, run_sd):
    """Crossed effects of instances (sd 1), runs (run_sd) and their interaction (sd 0.5) with mean 0."""
    return rng.normal(size=n) + run_sd * rng.normal(size=(runs, 1)) + 0.5 * rng.normal(size=(runs, n))  # (R, n)


def share_covered(draw, truth, *, n_samples, seed, weighted=False, **options):
    """Share of intervals that hold the truth; draw(rng) gives (values, groups); weights are exponential."""
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(n_samples):
        values, groups = draw(rng)
        weights = rng.exponential(size=np.shape(values)[-1]) if weighted else None
        estimate = mean_estimate(values, groups=groups, sample_weight=weights, **options)
        covered += estimate.low <= truth <= estimate.high
    return covered / n_samples


def pvalues(draw, *, n_samples, seed, **options):
    """P-values of tests; draw(rng) gives (a, b, groups)."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(n_samples):
        a, b, groups = draw(rng)
        result.append(paired_mean_test(a, b, groups=groups, **options).pvalue)
    return np.array(result)


def within_binomial(share, expected, n_samples, errors=4.0):
    return abs(share - expected) <= errors * np.sqrt(expected * (1 - expected) / n_samples)


# ---------------------------------------------------------------------------------------------------- coverage


@pytest.mark.slow
@pytest.mark.parametrize(("n", "level"), [(2, 0.95), (5, 0.8), (5, 0.99), (30, 0.95), (200, 0.95)])
def test_student_coverage_against_theory_for_normal_values(n, level):
    share = share_covered(
        lambda rng: (rng.normal(size=n), None), 0.0, n_samples=600, seed=n, level=level, method="student-t"
    )
    assert within_binomial(share, level, 600)  # the normal quantile covers .70 at n = 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "method", "low", "high"),
    [
        ("exponential", 30, "student-t", 0.91, 0.945),
        ("exponential", 30, "hall", 0.935, 0.965),
        ("Bernoulli .05", 30, "student-t", 0.74, 0.82),  # no success at all in 21 of 100 samples
        ("Bernoulli .05", 200, "student-t", 0.91, 0.95),
        ("Bernoulli .05", 200, "hall", 0.96, 0.99),
        ("log loss", 30, "student-t", 0.815, 0.875),
        ("log loss", 30, "hall", 0.93, 0.97),
        ("log loss", 1000, "student-t", 0.93, 0.965),
        ("heavy tails", 30, "student-t", 0.95, 0.98),
        ("heavy tails", 30, "hall", 0.875, 0.915),
        ("lognormal", 30, "student-t", 0.85, 0.9),
        ("lognormal", 30, "hall", 0.905, 0.94),
    ],
)
def test_coverage_for_skewed_values_is_as_documented(name, n, method, low, high):
    draw, truth = LOSSES[name]
    share = share_covered(lambda rng: (draw(rng, n), None), truth, n_samples=1500, seed=1, method=method)
    assert low <= share <= high  # where both methods stand, each lies outside the bounds of the other


@pytest.mark.slow
@pytest.mark.parametrize(("name", "low", "high"), [("normal", 0.91, 0.965), ("log loss", 0.82, 0.9)])
def test_bca_coverage_is_as_documented(name, low, high):
    draw, truth = LOSSES[name]
    share = share_covered(lambda rng: (draw(rng, 30), None), truth, n_samples=400, seed=2, method="bca", n_draws=200)
    assert low <= share <= high


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 200, 1000])
def test_coverage_for_groups_against_theory(n):
    n_samples = 500  # a coverage of .88 is found with probability .98
    share = share_covered(lambda rng: grouped_losses(rng, n), 0.0, n_samples=n_samples, seed=n)
    assert within_binomial(share, 0.95, n_samples)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 200])
def test_coverage_for_groups_of_unequal_size_is_as_documented(n):
    share = share_covered(lambda rng: grouped_losses(rng, n, unequal=True), 0.0, n_samples=1200, seed=n)
    assert 0.93 <= share <= 0.97  # 92 % with the factor G/(G−1) and G − 1 degrees of freedom


@pytest.mark.slow
def test_coverage_collapses_when_groups_are_ignored():
    share = share_covered(lambda rng: (grouped_losses(rng, 200)[0], None), 0.0, n_samples=300, seed=3)
    assert share < 0.80  # design effect 1 + 9·0.3 = 3.7: coverage 69 %


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 200])
def test_coverage_for_weights_is_as_documented(n):
    share = share_covered(
        lambda rng: (rng.normal(size=n), None), 0.0, n_samples=1000, seed=n, weighted=True, level=0.95
    )
    assert 0.94 <= share <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("run_sd", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("n", [30, 200])
def test_coverage_for_five_runs(n, run_sd):
    share = share_covered(lambda rng: (run_losses(rng, n, 5, run_sd=run_sd), None), 0.0, n_samples=500, seed=4)
    # the interaction is counted twice, so coverage may exceed the level; it must not fall below. Without the part of the
    # runs it is about .45 at sd .5 and n = 200
    assert 0.95 - 4 * np.sqrt(0.95 * 0.05 / 500) <= share <= 0.99


@pytest.mark.slow
def test_coverage_collapses_when_one_run_stands_for_the_method():
    share = share_covered(lambda rng: (run_losses(rng, 200, 1, run_sd=0.5), None), 0.0, n_samples=300, seed=5)
    assert share < 0.45


@pytest.mark.slow
def test_percentile_coverage_of_bootstrap_draws():
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(800):
        low, high = percentile_interval(bootstrap_means(rng.normal(size=100), n_draws=200, rng=rng))
        covered += low <= 0 <= high
    assert 0.915 <= covered / 800 <= 0.965


# ------------------------------------------------------------------------------------------- type-I error, power


def equal_pairs(name, n):
    """Two models with the same distribution of losses, half of it shared through the instance."""
    draw, _ = LOSSES[name]

    def pair(rng):
        common = draw(rng, n)
        return common + draw(rng, n), common + draw(rng, n), None

    return pair


def skewed_differences(rng, n):
    """Equal means, but b is wrong rarely and badly: the differences are exponential, centred."""
    b = rng.exponential(size=n)
    return np.ones(n), b, None


@pytest.mark.slow
@pytest.mark.parametrize(("method", "n_samples"), [("student-t", 900), ("permutation", 600)])
@pytest.mark.parametrize("name", ["normal", "log loss"])
def test_type_one_error_for_exchangeable_models(name, method, n_samples):
    p = pvalues(equal_pairs(name, 50), n_samples=n_samples, seed=7, method=method, n_draws=199)
    for alpha in (0.01, 0.05, 0.1):
        share = np.mean(p <= alpha)
        if name == "normal" or method == "permutation":
            assert within_binomial(share, alpha, n_samples)
        else:  # heavy symmetric tails
            assert share <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / n_samples)


@pytest.mark.slow
def test_type_one_error_for_skewed_differences_is_as_documented():
    shares = {
        method: np.mean(
            pvalues(lambda rng: skewed_differences(rng, 30), n_samples=800, seed=8, method=method, n_draws=199) <= 0.05
        )
        for method in ("student-t", "permutation")
    }
    assert 0.06 <= shares["student-t"] <= 0.09
    assert 0.06 <= shares["permutation"] <= 0.09


@pytest.mark.slow
@pytest.mark.parametrize("method", ["student-t", "permutation"])
def test_type_one_error_for_groups(method):
    n_samples = 500  # at α = .05 a rate of .13 is found with probability .99

    def draw(rng):
        values, labels = grouped_losses(rng, 200)
        return values, np.zeros(200), labels

    p = pvalues(draw, n_samples=n_samples, seed=9, method=method, n_draws=199)
    for alpha in (0.01, 0.05, 0.1):
        assert within_binomial(np.mean(p <= alpha), alpha, n_samples)


@pytest.mark.slow
def test_type_one_error_for_runs():
    def draw(rng):
        instances = rng.normal(size=100)
        return (instances + run_losses(rng, 100, 5, run_sd=0.3), instances + run_losses(rng, 100, 3, run_sd=0.1), None)

    p = pvalues(draw, n_samples=600, seed=10)
    for alpha in (0.01, 0.05, 0.1):
        assert np.mean(p <= alpha) <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / 600)
    assert np.mean(p <= 0.05) > 0.02  # not vacuous


@pytest.mark.slow
@pytest.mark.parametrize("method", ["student-t", "permutation"])
def test_power_against_theory(method):
    n, n_samples = 50, 250
    powers = []
    for effect in (0.0, 0.2, 0.4):
        p = pvalues(
            lambda rng, effect=effect: (rng.normal(effect, 1, size=n), np.zeros(n), None),
            n_samples=n_samples,
            seed=11,
            method=method,
            n_draws=199,
        )
        powers.append(np.mean(p <= 0.05))
        # noncentral t; 199 flips cost a little power
        q = special.stdtrit(n - 1, 0.975)
        shift = effect * np.sqrt(n)
        theory = 1 - special.nctdtr(n - 1, shift, q) + special.nctdtr(n - 1, shift, -q)
        assert abs(powers[-1] - theory) <= 4 * np.sqrt(theory * (1 - theory) / n_samples) + 0.02
    assert powers == sorted(powers)


# ------------------------------------------------------------------------------------------------------ rank sets


@pytest.mark.parametrize(
    ("name", "n_models"),
    [
        ("normal, n = 100", 2),
        ("normal, n = 100", 10),
        ("exponential, n = 300", 5),
        ("2 % near the floor of 36 nats, n = 100", 5),
        ("0.5 % near the floor of 16 nats, n = 300", 5),
        ("5 clusters of 60·.75^i", 5),
        ("3 runs, n = 300, no interaction", 3),
        ("means rise by 0.1, n = 300", 5),
    ],
)
def test_few_data_sets_have_a_false_pair_or_a_rank_set_that_misses(name, n_models):
    false, missed = rank_worlds.errors(rank_worlds.worlds()[name], n_models, n_samples=120, seed=12)
    assert missed <= false <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 120)


def test_two_equal_models_are_separated_as_often_as_the_level_says():
    false, _ = rank_worlds.errors(rank_worlds.light("normal", 100), 2, n_samples=300, seed=13)
    assert within_binomial(false, 0.05, 300)


def test_power_of_all_pairs_is_nearly_that_of_the_studentised_maximum():
    pairs, by_max_t, from_best, by_holm, by_holm_of_all, top = rank_worlds.power(10, 0.1, 300, n_samples=15, seed=14)
    assert 0.9 * by_max_t <= pairs <= 1.02 * by_max_t
    assert by_holm_of_all - 0.5 <= from_best <= by_holm
    assert 1 < top < 5


@pytest.mark.parametrize("world", [rank_worlds.clusters(5, equal=True), rank_worlds.runs(2, 0.0)])
def test_few_groups_or_runs_make_no_model_too_sure(world):
    assert rank_worlds.too_sure(world, n_samples=200, seed=16) <= 0.1 + 4 * np.sqrt(0.1 * 0.9 / 200)  # a bootstrap: .2


def test_power_for_two_models_against_theory():
    rng, separated = np.random.default_rng(15), 0
    for _ in range(200):
        x, _, _ = rank_worlds.light("normal", 300, 0.2)(rng, 2)
        separated += pairwise_mean_tests({"a": x[0], "b": x[1]}).reject()[0, 1]
    assert within_binomial(separated / 200, rank_worlds.expected_power(0.2 / 2**0.5, 300), 200)


# ------------------------------------------------------------------------------------------------------ tables


def print_tables(only, n_samples=20_000):
    """Print every table, or the rows whose name begins with `only`."""
    sizes = (30, 200, 1000)
    methods = {"student-t": {}, "hall": {}, "bca": {"n_draws": 500}}
    cases = {
        **{name: (lambda rng, n, draw=draw: (draw(rng, n), None), truth) for name, (draw, truth) in LOSSES.items()},
        "groups": (lambda rng, n: grouped_losses(rng, n), 0.0),
        "groups, unequal": (lambda rng, n: grouped_losses(rng, n, unequal=True), 0.0),
        "groups, skewed": (lambda rng, n: grouped_losses(rng, n, skewed=True), 0.0),
        "weights": (lambda rng, n: (rng.normal(size=n), None), 0.0),
        "5 runs, sd .05": (lambda rng, n: (run_losses(rng, n, 5, run_sd=0.05), None), 0.0),
        "5 runs, sd .5": (lambda rng, n: (run_losses(rng, n, 5, run_sd=0.5), None), 0.0),
    }
    for name, (draw, truth) in cases.items():
        if not name.startswith(only):
            continue
        cells = []
        for method, options in methods.items():
            for n in sizes:
                share = share_covered(
                    lambda rng, n=n, draw=draw: draw(rng, n),
                    truth,
                    n_samples=n_samples if method != "bca" else n_samples // 20,
                    seed=n,
                    method=method,
                    weighted=name == "weights",
                    **options,
                )
                cells.append(f"{100 * share:5.1f}")
        print(f"{name:16s}", *cells, flush=True)

    def grouped_pair(rng):
        values, labels = grouped_losses(rng, 200)
        return values, np.zeros(200), labels

    def run_pair(rng):
        common = rng.normal(size=100)
        return common + run_losses(rng, 100, 5, run_sd=0.3), common + run_losses(rng, 100, 3, run_sd=0.1), None

    pairs = {
        "pairs: normal, n 50": equal_pairs("normal", 50),
        "pairs: log loss, n 50": equal_pairs("log loss", 50),
        "pairs: skewed, n 30": lambda rng: skewed_differences(rng, 30),
        "pairs: skewed, n 200": lambda rng: skewed_differences(rng, 200),
        "pairs: 20 groups": grouped_pair,
        "pairs: 5 and 3 runs": run_pair,
    }
    for name, pair in pairs.items():
        if not name.startswith(only):
            continue
        cells = []
        for method in ("student-t", "permutation"):
            if name == "pairs: 5 and 3 runs" and method == "permutation":
                continue
            n = n_samples if method != "permutation" else n_samples // 5
            p = pvalues(pair, n_samples=n, seed=1, method=method, n_draws=999)
            cells.append(" / ".join(f"{100 * np.mean(p <= alpha):.1f}" for alpha in (0.01, 0.05, 0.1)))
        print(f"{name:16s}", "    ".join(cells), flush=True)
    if "rank sets".startswith(only):
        rank_worlds.print_error_rates(n_samples // 20)


if __name__ == "__main__":
    print_tables(sys.argv[1] if len(sys.argv) > 1 else "")
