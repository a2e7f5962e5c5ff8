"""Measured coverage of the intervals of errors and out-of-distribution inputs together, and type-I error of paired tests.

Run as a script, this file prints the coverages; `python -m benchmarks.measured coverage-scod` stores them for the guide. As a
test it measures fewer samples.
"""

import sys
from functools import cache

import numpy as np
from scipy import special, stats
from tests.metrics.ood.sides import sides

from uqassay.metrics.ood import SCOD_METRICS, scod_samples
from uqassay.statistics.paired_tests import paired_statistic_test

# name: intercept of the log odds of an error, share of errors it leads to
RATES = {"25 %": -1.6, "6 %": -3.6, "1 %": -5.5}
SIZES = ((100, 100), (300, 300), (2000, 300), (300, 2000), (2000, 2000))
SHIFT = 1.5  # of the scores out of distribution: ROC-AUC .86
ICC = 0.3
SETTINGS = {
    "continuous": {},
    "5 distinct scores": {"levels": 5},
    "groups": {"grouped": True},
    "β = .9, α = .1": {"error_cost": 0.9, "share_out": 0.1},
}


def error_probability(s, intercept):
    """Errors become more frequent with the score."""
    return special.expit(intercept + 1.2 * s)


def cut(s, levels):
    return s if levels is None else np.digitize(s, np.linspace(-1.0, SHIFT + 1.0, levels - 1)).astype(float)


@cache
def truth(name, intercept, levels=None, error_cost=0.5, share=0.5, n=20_000):
    """The metric in the population: a fine grid of quantiles, with probabilities of an error."""
    z = stats.norm.ppf((np.arange(n) + 0.5) / n)
    is_out, s = sides(z, z + SHIFT)
    e = error_probability(s, intercept)
    found = scod_samples(is_out, e, cut(s, levels), error_cost=error_cost, share_out=share)
    return found.linearised(SCOD_METRICS[name].area).value


def draw(rng, m, n, intercept, levels=None, grouped=False):
    """Normal scores and errors; with groups of unequal size, scores of correlation .3."""
    scores, groups = [], []
    for size, shift in ((m, 0.0), (n, SHIFT)):
        noise = rng.normal(size=size)
        if grouped:  # groups of 5 and of 15
            labels = np.repeat(np.arange(size // 10), np.tile([5, 15], size // 20 + 1)[: size // 10])[:size]
            labels = np.append(labels, np.full(size - labels.size, size // 10))
            noise = np.sqrt(ICC) * rng.normal(size=labels.max() + 1)[labels] + np.sqrt(1 - ICC) * noise
            groups.append(labels)
        scores.append(noise + shift)
    is_out, s = sides(*scores)
    errors = (rng.random(s.size) < error_probability(s, intercept)).astype(float)
    return is_out, errors, cut(s, levels), np.concatenate(groups) if groups else None


def coverage(name, m, n, intercept, n_samples, seed, *, levels=None, grouped=False, error_cost=0.5, share_out=None):
    """Shares of intervals that contain the truth, lie above it and below it."""
    rng = np.random.default_rng(seed)
    share = n / (m + n) if share_out is None else share_out
    expected = truth(name, intercept, levels, error_cost, share)
    above = below = 0
    for _ in range(n_samples):
        is_out, errors, s, groups = draw(rng, m, n, intercept, levels, grouped)
        samples = scod_samples(is_out, errors, s, groups=groups, error_cost=error_cost, share_out=share_out)
        found = SCOD_METRICS[name].interval([samples])
        above, below = above + (found.low > expected), below + (found.high < expected)
    return 1 - (above + below) / n_samples, above / n_samples, below / n_samples


def rejections(name, m, n, intercept, n_samples, seed, *, better=0.0):
    """Share of p-values at or below .05 of two scores, equally good unless the second is less noisy."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(n_samples):
        is_out, errors, s, _ = draw(rng, m, n, intercept)
        noisy = [s + rng.normal(size=s.size) * scale for scale in (1.0, 1.0 - better)]
        pair = [SCOD_METRICS[name].statistic(scod_samples(is_out, errors, one)) for one in noisy]
        hits += paired_statistic_test(*pair).pvalue <= 0.05
    return hits / n_samples


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in SCOD_METRICS:
        for setting, options in SETTINGS.items():
            for m, n in SIZES:
                shares = [coverage(name, m, n, intercept, size, 1, **options) for intercept in RATES.values()]
                cells = " / ".join(f"{100 * a:.1f} ({100 * b:.1f}, {100 * c:.1f})" for a, b, c in shares)
                print(f"{name:12} {setting:18} {m:5d} {n:5d}  {cells}", flush=True)
        print(name, "type-I", [rejections(name, m, n, -3.6, size, 2) for m, n in SIZES[:2]], flush=True)
