"""Data sets of equal and of ranked models, on which the error rates of rank sets are measured.

A world is a function of (rng, number of models). It gives the values of each model, (J, n) or (J, R, n), their true means (J,),
and options of `pairwise_mean_tests`.
"""

import numpy as np
from scipy import special

from uqassay.statistics import holm, paired_mean_test, pairwise_mean_tests, rank_sets, student_draws, win_shares

MODELS = (2, 3, 5, 10, 20)
SIZES = (100, 300, 2000)
FLOORS = {"36": 36.0, "16": 16.0}  # nats: −ln of the machine epsilon of float64 and float32
ICC = 0.3
SURE = (
    "normal, n = 100",
    "5 clusters of 20",
    "5 clusters of 60·.75^i",
    "2 runs, n = 300, no interaction",
    "5 runs, n = 300, no interaction",
)


def light(name, n, gap=0.0):
    """Losses with a part that all models share; the means rise by `gap` from model to model."""

    def world(rng, j):
        draw = rng.exponential if name == "exponential" else rng.normal
        means = gap * np.arange(j)
        return draw(size=(j, n)) + draw(size=n) + means[:, np.newaxis], means, {}

    return world


def huge(share, floor, n):
    """Half of the models are better but for a share of losses near the floor; all means are equal."""

    def world(rng, j):
        x = rng.gamma(2, 0.15, size=(j, n))
        h = j // 2
        x[:h] = np.where(rng.random((h, n)) < share, 0.9 * floor, x[:h])
        x[h:] += share * (0.9 * floor - 0.3)
        return x, np.zeros(j), {"bound": floor}

    return world


def cluster_sizes(n_groups, *, equal):
    """Sizes of clusters: 20 each, or 60 and ever fewer."""
    return np.full(n_groups, 20) if equal else np.maximum(1, np.round(60 * 0.75 ** np.arange(n_groups))).astype(int)


def clusters(n_groups, *, equal):
    """Normal losses with correlation .3 inside clusters, of each model separately."""
    codes = np.repeat(np.arange(n_groups), cluster_sizes(n_groups, equal=equal))

    def world(rng, j):
        effects = rng.normal(size=(j, n_groups))[:, codes]
        x = np.sqrt(ICC) * effects + np.sqrt(1 - ICC) * rng.normal(size=(j, codes.size))
        return x, np.zeros(j), {"groups": codes}

    return world


def huge_in_clusters(share, n_groups, *, whole):
    """Equal means with huge losses of single instances, or of whole clusters, in 20 instances each."""
    codes = np.repeat(np.arange(n_groups), 20)

    def world(rng, j):
        x = rng.gamma(2, 0.15, size=(j, codes.size))
        h = j // 2
        hit = rng.random((h, n_groups))[:, codes] < share if whole else rng.random((h, codes.size)) < share
        x[:h] = np.where(hit, 0.9 * 36.0, x[:h])
        x[h:] += share * (0.9 * 36.0 - 0.3)
        return x, np.zeros(j), {"bound": 36.0, "groups": codes}

    return world


def runs(n_runs, interaction, n=300, sd=0.1):
    """Crossed effects of instances (sd 1), of the runs of each model and their interaction."""

    def world(rng, j):
        x = rng.normal(size=(j, 1, n)) + sd * rng.normal(size=(j, n_runs, 1))
        return x + interaction * rng.normal(size=(j, n_runs, n)), np.zeros(j), {}

    return world


def worlds():
    """Name → world, of the table of error rates."""
    found = {}
    for n in SIZES:
        found |= {f"{name}, n = {n:,}": light(name, n) for name in ("normal", "exponential")}
        for share in (0.02, 0.005):
            for label, floor in FLOORS.items():
                found[f"{100 * share:g} % near the floor of {label} nats, n = {n:,}"] = huge(share, floor, n)
    for n_groups in (5, 10, 30):
        for equal in (True, False):
            kind = "of 20" if equal else "of 60·.75^i"
            found[f"{n_groups} clusters {kind}"] = clusters(n_groups, equal=equal)
    for whole in (False, True):
        of = "whole clusters" if whole else "instances"
        found[f"2 % of {of} near the floor, 30 clusters of 20"] = huge_in_clusters(0.02, 30, whole=whole)
    for n_runs in (2, 3, 5):
        for interaction in (0.0, 0.5):
            told = "with interaction" if interaction else "no interaction"
            found[f"{n_runs} runs, n = 300, {told}"] = runs(n_runs, interaction)
        found[f"{n_runs} runs of sd .3, n = 300"] = runs(n_runs, 0.0, sd=0.3)
    for gap in (0.02, 0.1):
        found[f"means rise by {gap:g}, n = 300"] = light("normal", 300, gap)
    return found


def errors(world, n_models, *, n_samples, seed):
    """Shares of data sets with a false pair, and with a rank set that misses, at 5 %."""
    rng = np.random.default_rng(seed)
    false = missed = 0
    for _ in range(n_samples):
        x, means, options = world(rng, n_models)
        ranks = rank_sets(pairwise_mean_tests({str(k): v for k, v in enumerate(x)}, **options))
        below = means[:, np.newaxis] < means  # the model of the row is better
        false += bool((ranks.better & ~below).any())
        missed += bool(((ranks.low > 1 + below.sum(axis=0)) | (ranks.high < n_models - below.sum(axis=1))).any())
    return false / n_samples, missed / n_samples


# -- power --------------------------------------------------------------------------------------------------------------


def power(n_models, gap, n, *, n_samples, seed):
    """Mean numbers of pairs separated by Shaffer and by max-t, of models separated from the winner, and of the top group.

    From the winner: all pairs by Shaffer, Holm of the J − 1 tests against it (which errs too often), and J/2 times that.
    """
    rng = np.random.default_rng(seed)
    world, found = light("normal", n, gap), np.zeros(6)
    for _ in range(n_samples):
        x, _, _ = world(rng, n_models)
        ranks = rank_sets(pairwise_mean_tests({str(k): v for k, v in enumerate(x)}))
        best = int(np.argmin(x.mean(axis=1)))
        rivals = holm([paired_mean_test(v, x[best]).pvalue for k, v in enumerate(x) if k != best])
        found += [
            ranks.better.sum(),
            max_t(x, rng),
            ranks.better[best].sum(),
            (rivals <= 0.05).sum(),
            (rivals <= 0.1 / n_models).sum(),
            ranks.top.sum(),
        ]
    return found / n_samples


def max_t(x, rng, n_draws=1000):
    """Number of pairs separated at 5 % by the studentised maximum, step-down, with Gaussian multipliers."""
    j, n = x.shape
    a, b = np.triu_indices(j, 1)
    means = x.mean(axis=1)
    u = (x - means[:, np.newaxis]) / n
    se = np.sqrt(((u[a] - u[b]) ** 2).sum(axis=1) * n / (n - 1))
    t = np.abs(means[a] - means[b]) / se
    drawn = rng.standard_normal((n_draws, n)) @ u.T
    z = np.abs(drawn[:, a] - drawn[:, b]) / se
    order = np.argsort(-t)
    highest = np.maximum.accumulate(z[:, order][:, ::-1], axis=1)[:, ::-1]  # of this pair and all less clear ones
    p = np.maximum.accumulate((1 + (highest >= t[order]).sum(axis=0)) / (1 + n_draws))
    return int((p <= 0.05).sum())


def too_sure(world, *, n_samples, seed):
    """Share of data sets in which one of two equal models wins at least 95 % of the resamples; 10 % is right."""
    rng, found = np.random.default_rng(seed), 0
    for _ in range(n_samples):
        x, _, options = world(rng, 2)
        models = [np.atleast_2d(v)[..., np.newaxis] for v in x]
        draws = student_draws(models, n_draws=500, groups=options.get("groups"))
        found += win_shares(draws[..., 0]).max() >= 0.95
    return found / n_samples


def print_error_rates(n_samples=1000):
    """Print the table of false pairs, those of shares of resamples and of power."""
    for number, (name, world) in enumerate(worlds().items()):
        cells = [errors(world, j, n_samples=n_samples, seed=[number, j]) for j in MODELS]
        missed = max(m - f for f, m in cells)
        told = f"(rank sets that miss: {100 * max(m for _, m in cells):.1f})" if missed > 0 else ""
        print(f"| {name} |", " | ".join(f"{100 * f:.1f}" for f, _ in cells), f"| {told}", flush=True)
    all_worlds = worlds()
    for name in SURE:
        print(f"| {name} | {100 * too_sure(all_worlds[name], n_samples=n_samples, seed=1):.1f} |", flush=True)
    for n_models, gap, n in ((2, 0.1, 1000), (5, 0.05, 1000), (10, 0.05, 1000), (10, 0.02, 2000), (20, 0.02, 2000)):
        found = power(n_models, gap, n, n_samples=max(n_samples // 10, 2), seed=n_models)
        pairs = n_models * (n_models - 1) // 2
        print(f"| {n_models}, {gap}, {n:,} | {pairs} |", " | ".join(f"{v:.1f}" for v in found), "|", flush=True)


def expected_power(effect, n):
    """Probability that a two-sided t test at 5 % rejects, for a difference of `effect` standard deviations."""
    q = special.stdtrit(n - 1, 0.975)
    shift = effect * np.sqrt(n)
    return 1 - special.nctdtr(n - 1, shift, q) + special.nctdtr(n - 1, shift, -q)
