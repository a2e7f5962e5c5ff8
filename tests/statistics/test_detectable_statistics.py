"""The smallest difference of two rankings that could have been shown: against simulations, by hand, and over pairs."""

import numpy as np
import pytest
from scipy import special, stats

import uqassay as uq
from uqassay.metrics import paired_ranking_test, pairwise_ranking_tests

# n, error rate, UQ-AUC, levels of the scores, size of groups
CELLS = {
    "200, 10 % errors, area .8": (200, 0.1, 0.8, None, 1),
    "1,000, 10 %, .8": (1000, 0.1, 0.8, None, 1),
    "1,000, 10 %, .95": (1000, 0.1, 0.95, None, 1),
    "2,000, 5 %, .8": (2000, 0.05, 0.8, None, 1),
    "1,000, 10 %, .8, scores rounded": (1000, 0.1, 0.8, 1, 1),
    "1,000, 10 %, .8, 100 groups": (1000, 0.1, 0.8, None, 10),
}


def drawn(rng, areas, n, rate, levels, size):
    """Two scores of one model with these areas, correlation .5; instances of one group share half of the variance."""
    errors = (rng.random(n) < rate).astype(float)
    errors[:2] = 0, 1
    codes = np.arange(n) // size

    def noise():
        return (
            (0.5**0.5 * rng.normal(size=n) + 0.5**0.5 * rng.normal(size=n)[codes]) if size > 1 else rng.normal(size=n)
        )

    common = noise()
    scores = [2**0.5 * special.ndtri(area) * errors + 0.5**0.5 * (common + noise()) for area in areas]
    return errors, [s if levels is None else np.round(levels * s) for s in scores], codes if size > 1 else None


def shown(n, rate, area, levels, size, *, n_samples, seed):
    """How often a difference that one data set could have shown is shown by the next: of a greater and of a smaller area."""
    rng, counts = np.random.default_rng(seed), np.zeros(2)
    for _ in range(n_samples):
        errors, (a, b), groups = drawn(rng, (area, area), n, rate, levels, size)
        least = paired_ranking_test((errors, a), (errors, b), groups=groups).detectable.difference
        for k, sign in enumerate((1, -1)):
            other = min(area + sign * least, 0.9999)
            errors, (a, b), groups = drawn(rng, (other, area), n, rate, levels, size)
            found = paired_ranking_test((errors, a), (errors, b), groups=groups)
            counts[k] += found.pvalue <= 0.05 and np.sign(float(found.difference)) == sign
    return counts / n_samples


def print_shown(n_samples):
    """The table of the guide."""
    for name, cell in CELLS.items():
        print(f"| {name} |", " | ".join(f"{100 * c:.0f}" for c in shown(*cell, n_samples=n_samples, seed=3)), "|")


@pytest.mark.slow
def test_a_difference_of_this_size_is_shown_with_about_the_power():
    greater, smaller = shown(*CELLS["1,000, 10 %, .8, 100 groups"], n_samples=50, seed=1)
    assert 0.55 < smaller < 0.92
    assert 0.65 < greater < 0.98


def test_many_instances_against_the_normal_approximation():
    errors, (a, b), _ = drawn(np.random.default_rng(0), (0.8, 0.75), 20_000, 0.1, None, 1)
    found = paired_ranking_test((errors, a), (errors, b))
    error = float(found.difference) / found.statistic
    by_hand = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error
    assert found.detectable.difference == pytest.approx(by_hand, rel=0.002)
    assert found.detectable.observed == float(found.difference)
    assert found.detectable.instances == 20_000  # shown as it is


def test_data_that_show_the_difference_observed():
    errors, (a, b), groups = drawn(np.random.default_rng(2), (0.8, 0.78), 2000, 0.1, None, 4)
    plain = paired_ranking_test((errors, a), (errors, b)).detectable
    assert plain.difference > abs(plain.observed)
    assert plain.instances == pytest.approx(2000 * (plain.difference / plain.observed) ** 2, rel=0.02)
    assert np.isnan(plain.groups)
    grouped = paired_ranking_test((errors, a), (errors, b), groups=groups).detectable
    assert grouped.groups == pytest.approx(grouped.instances / 4, abs=1)


def test_runs_count():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)

    def run():
        p = special.expit((2 * y - 1) + 1.5 * rng.normal(size=600))
        return uq.Point(np.stack([1 - p, p], axis=1))

    a = uq.assay({"a": [run() for _ in range(4)], "b": [run() for _ in range(4)]}, y, calibration=())
    found = a.compare_uncertainties(("a", "total-entropy"), ("b", "total-entropy")).detectable
    assert found.difference > 0
    assert found.times_runs >= 1


def test_pairs_are_tested_at_the_level_that_the_adjustment_leaves():
    rng = np.random.default_rng(4)
    errors, (a, b), _ = drawn(rng, (0.8, 0.79), 1000, 0.1, None, 1)
    three = {"a": (errors, a), "b": (errors, b), "c": (errors, a + 0.5 * rng.normal(size=1000))}
    found = pairwise_ranking_tests(three)
    alone = paired_ranking_test((errors, a), (errors, b), level=1 - 0.05 / 3).detectable.difference
    assert not found.reject().any()
    assert found.detectable[0, 1] == found.detectable[1, 0] == pytest.approx(alone, rel=1e-6)
    assert np.isnan(np.diagonal(found.detectable)).all()


def test_no_test_and_no_possible_difference():
    errors, s = np.array([0, 1, 0, 1, 0]), np.arange(5.0)
    same = paired_ranking_test((errors, s), (errors, s))
    assert same.detectable is None
    few = paired_ranking_test((errors, s), (errors, s[::-1]))
    assert few.detectable.difference == np.inf
    matrix = pairwise_ranking_tests({"a": (errors, s), "b": (errors, s), "c": (errors, s[::-1])}).detectable
    assert np.isnan(matrix[0, 1])
    assert matrix[0, 2] == np.inf
