"""Measured coverage of the intervals of out-of-distribution detection, and type-I error and power of paired tests.

Run as a script, this file prints the tables of docs/evidence-ranking.md; as a test it measures fewer samples and asserts
what the tables say.
"""

import sys
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from scipy import stats
from tests.metrics.ood.sides import sides

from uqassay.metrics.ood import OOD_METRICS, aupr_score, fpr_at_tpr_error, ood_auc_score, two_samples
from uqassay.statistics.paired_tests import paired_statistic_test

pytestmark = pytest.mark.usefixtures("without_detectable")

AUCS = (0.6, 0.8, 0.95)
SIZES = ((200, 200), (1000, 200), (200, 1000), (1000, 1000), (50, 50))
METRICS = {"ROC-AUC": ood_auc_score, "FPR95": fpr_at_tpr_error, "AUPR": aupr_score}
WHOLE = {"FPR95, whole ties": partial(fpr_at_tpr_error, ties="whole")}
ICC = 0.3


# -- samples and truths -----------------------------------------------------------------------------------------------


def shift_of(auc):
    return np.sqrt(2) * stats.norm.ppf(auc)


@cache
def cuts_of(m, n, auc, levels):
    """Thresholds that cut the two normal samples together into equally frequent levels."""
    if levels is None:
        return None
    grid = np.linspace(-6, 10, 40001)
    mixture = (m * stats.norm.cdf(grid) + n * stats.norm.cdf(grid - shift_of(auc))) / (m + n)
    return np.interp(np.arange(1, levels) / levels, mixture, grid)


@cache
def truth(metric, m, n, auc, levels):
    """The metric in the population, with the share of positives in the samples."""
    cuts = cuts_of(m, n, auc, levels)
    thresholds = np.linspace(14, -9, 400_001) if cuts is None else np.append(cuts[::-1], -np.inf)
    true, false = stats.norm.sf(thresholds - shift_of(auc)), stats.norm.sf(thresholds)
    if metric == "FPR95":
        return float(np.interp(0.95, np.append(0.0, true), np.append(0.0, false)))
    if metric in WHOLE:
        return float(false[np.argmax(true >= 0.95)])
    recalled, rejected = np.diff(true, prepend=0.0), np.diff(false, prepend=0.0)
    if metric == "ROC-AUC":
        return float(recalled @ (1 - false + rejected / 2))
    precision = n * true / np.maximum(n * true + m * false, 1e-300)
    if cuts is None:  # an integral: precision in the middle of each step
        precision = (precision + np.append(1.0, precision[:-1])) / 2
    return float(recalled @ precision)


def draw(rng, m, n, auc, levels=None, grouped=False):
    """Normal scores, shifted out of distribution; with groups, ten instances per group and correlation .3."""
    samples, groups = [], []
    for size, shift in ((m, 0.0), (n, shift_of(auc))):
        noise = rng.normal(size=size)
        if grouped:
            labels = np.arange(size) // 10
            noise = np.sqrt(ICC) * rng.normal(size=labels.max() + 1)[labels] + np.sqrt(1 - ICC) * noise
            groups.append(labels)
        s = noise + shift
        samples.append(s if levels is None else np.searchsorted(cuts_of(m, n, auc, levels), s).astype(float))
    return samples, {"groups": np.concatenate(groups)} if groups else {}


def two_scores(rng, m, n, aucs, correlation):
    """Two scores of the same instances."""
    covariance = [[1, correlation], [correlation, 1]]
    inside, outside = (rng.multivariate_normal([0, 0], covariance, size=size).T for size in (m, n))
    return [two_samples(*sides(inside[k], outside[k] + shift_of(aucs[k]))) for k in range(2)]


# -- shares -----------------------------------------------------------------------------------------------------------


def coverage(metric, m, n, auc, n_samples, seed, *, levels=None, grouped=False):
    """Shares of intervals that contain the truth, lie above it and below it."""
    rng = np.random.default_rng(seed)
    expected = truth(metric, m, n, auc, levels)
    above = below = 0
    for _ in range(n_samples):
        samples, groups = draw(rng, m, n, auc, levels, grouped)
        found = (METRICS | WHOLE)[metric](*sides(*samples), **groups)
        above, below = above + (found.low > expected), below + (found.high < expected)
    return 1 - (above + below) / n_samples, above / n_samples, below / n_samples


def rejections(name, m, n, aucs, correlation, n_samples, seed):
    """Share of p-values at or below .01, .05 and .1."""
    rng = np.random.default_rng(seed)
    statistic = OOD_METRICS[name].statistic
    p = np.array(
        [
            paired_statistic_test(*map(statistic, two_scores(rng, m, n, aucs, correlation))).pvalue
            for _ in range(n_samples)
        ]
    )
    return tuple(float((p <= alpha).mean()) for alpha in (0.01, 0.05, 0.1))


# -- tests ------------------------------------------------------------------------------------------------------------


ERRORS = 3.3  # standard errors that a share may differ by: a correct interval or test fails with probability .001


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("options", [{}, {"levels": 5}, {"grouped": True}], ids=["continuous", "tied", "grouped"])
def test_coverage_at_200_against_200(metric, options):
    share, above, below = coverage(metric, 200, 200, 0.8, 200, 1, **options)
    assert share >= 0.95 - ERRORS * np.sqrt(0.95 * 0.05 / 200)
    assert max(above, below) <= 0.025 + ERRORS * np.sqrt(0.025 * 0.975 / 200)


def test_coverage_where_the_curve_has_a_corner_at_the_threshold():
    """Five levels, areas of .95: the third level ends at a true-positive rate of .95."""
    share, _, _ = coverage("FPR95", 200, 200, 0.95, 200, 2, levels=5)
    assert share >= 0.95 - ERRORS * np.sqrt(0.95 * 0.05 / 200)


@pytest.mark.parametrize("auc", [0.8, 0.95])
def test_coverage_where_ties_pass_whole(auc):
    """At .95 a level ends at a true-positive rate of .95, so that the rate jumps from sample to sample."""
    share, _, _ = coverage("FPR95, whole ties", 200, 200, auc, 100, 7, levels=5)
    assert share >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 100)


def test_groups_that_are_ignored_make_intervals_too_short():
    rng, held = np.random.default_rng(3), dict.fromkeys(METRICS, 0)
    for _ in range(120):
        samples, _ = draw(rng, 200, 200, 0.8, grouped=True)
        for name, metric in METRICS.items():
            found = metric(*sides(*samples))
            held[name] += found.low <= truth(name, 200, 200, 0.8, None) <= found.high
    assert max(held.values()) < 0.9 * 120


@pytest.mark.parametrize("name", ["ood-auc", "fpr95-out", "aupr-out"])
def test_type_i_error_and_power_of_paired_tests(name):
    share = rejections(name, 200, 200, (0.8, 0.8), 0.5, 200, 4)[1]
    assert share <= 0.05 + ERRORS * np.sqrt(0.05 * 0.95 / 200)
    assert rejections(name, 1000, 1000, (0.8, 0.88), 0.5, 40, 5)[1] >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "sizes", "auc", "levels"),
    [
        (*cell, auc, levels)
        for i, cell in enumerate(product(METRICS, SIZES[1:4]))
        for auc, levels in [[(0.6, None), (0.95, 5), (0.6, 5), (0.95, None)][i % 4]]
    ],
)
def test_coverage_at_other_sizes(metric, sizes, auc, levels):
    """Every metric at every size, the other options in turn; an interval that covers in .81 is found with probability .99."""
    share, _, _ = coverage(metric, *sizes, auc, 120, 6, levels=levels)
    assert share >= 0.94 - ERRORS * np.sqrt(0.95 * 0.05 / 120)


# -- tables -----------------------------------------------------------------------------------------------------------


def print_tables(n_samples, metrics):
    for metric in metrics:
        print(f"coverage of {metric}: m, n; AUC .6 / .8 / .95; continuous, 5 levels, groups", flush=True)
        for m, n in SIZES:
            cells = []
            for options in ({}, {"levels": 5}, {"grouped": True}):
                if options.get("grouped") and m == 50:
                    continue
                shares = [coverage(metric, m, n, auc, n_samples, 11, **options) for auc in AUCS]
                text = " / ".join(f"{100 * s[0]:.1f}" for s in shares)
                sides = " ".join(f"({100 * s[1]:.1f},{100 * s[2]:.1f})" for s in shares)
                cells.append(f"{text} {sides}")
            print(f"{m:5d} {n:5d}  " + "   ".join(cells), flush=True)
    print("type-I error in percent at 1 / 5 / 10, power at 5: m, n, AUC; two scores of correlation .5")
    for name in ("ood-auc", "fpr95-out", "aupr-out"):
        for m, n in ((200, 200), (1000, 200), (1000, 1000)):
            for auc in AUCS:
                found = rejections(name, m, n, (auc, auc), 0.5, n_samples, 12)
                power = rejections(name, m, n, (auc, auc + 0.3 * (1 - auc)), 0.5, n_samples // 10, 13)[1]
                cell = " / ".join(f"{100 * s:.1f}" for s in found)
                print(f"{name:10} {m:5d} {n:5d} {auc}   {cell}   {100 * power:.0f}", flush=True)


if __name__ == "__main__":
    print_tables(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, sys.argv[2:] or list(METRICS))
