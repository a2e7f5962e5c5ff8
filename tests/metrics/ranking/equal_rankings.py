"""Data sets of equally good rankings, on which the error rates of paired tests and rank sets by ranking metrics are measured.

A world is a function of (rng, number of rankings). It gives (errors, scores), each (R, n), of every ranking, and the groups or
None. All rankings are exchangeable, so every metric has the same expectation for all.
"""

import numpy as np
from scipy import special
from tests.metrics.risk.test_error_rates import Population

from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.statistics import rank_sets
from uqassay.statistics.linearised import spread_of
from uqassay.statistics.paired_tests import paired_statistic_test, pairwise_statistic_tests
from uqassay.statistics.units import make_units

RANKINGS = (2, 5, 10)
METRICS = ("uq-auc", "uq-c-index", "aurc")
CORRELATION = 0.5


def scores_of_one_model(n, wrong, auc, kind=""):
    """Several scores of one model, whose errors they share."""
    population = Population(wrong / n, auc, kind)

    def world(rng, j):
        errors = rng.permutation(n) < wrong
        noise = _shared(rng, j, n)
        return [(errors[np.newaxis] * 1.0, population.coarse(u + population.shift * errors)) for u in noise], None

    return world


def models(n, wrong, auc, kind="", *, runs=1, sizes=None):
    """Several models with errors and scores of their own; with `sizes`, instances of one group are correlated."""
    population = Population(wrong / n, auc, kind)
    groups = None if sizes is None else np.repeat(np.arange(len(sizes)), sizes)

    def world(rng, j):
        size = n if groups is None else groups.size
        latent, noise = (_shared(rng, j, size, groups) for _ in range(2))
        found = []
        for z, u in zip(latent, noise, strict=True):
            own = np.sqrt(0.8) * z + np.sqrt(0.2) * rng.normal(size=(runs, size)) if runs > 1 else z
            errors = (own < special.ndtri(wrong / n)).astype(float)
            if not errors.any(axis=1).all():
                errors[:, 0] = 1.0
            spread = np.sqrt(0.8) * u + np.sqrt(0.2) * rng.normal(size=(runs, size)) if runs > 1 else u
            found.append((errors, population.coarse(spread + population.shift * errors)))
        return found, groups

    return world


def _shared(rng, j, n, groups=None):
    """Normal values, (J, 1, n), correlated between rankings, and inside groups."""
    own, common = rng.normal(size=(j, 1, n)), rng.normal(size=n)
    if groups is not None:
        effect = rng.normal(size=(j, 1, groups.max() + 1))[:, :, groups]
        own, common = np.sqrt(0.3) * effect + np.sqrt(0.7) * own, 0 * common
        return own
    return np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * own


def tests(rankings, groups, metric):
    """All paired tests of rankings by a metric. Gaps are errors plus noise between 0 and 1 that is fixed by the instance."""
    chosen = RANKING_METRICS[metric]
    statistics = {}
    for number, (errors, scores) in enumerate(rankings):
        truths = errors
        if chosen.truth == "gap":
            truths = (errors + np.random.default_rng(0).random(errors.shape[-1])) / 2
        runs = chosen.runs(truths, scores, groups)
        statistics[str(number)] = runs if len(runs) > 1 else runs[0]
    return pairwise_statistic_tests(statistics, groups=groups, bound=chosen.bound)


def false_pairs(world, n_rankings, metrics, *, n_samples, seed):
    """Share of data sets in which any pair of equal rankings is separated at 5 %, by each metric."""
    rng, false = np.random.default_rng(seed), np.zeros(len(metrics))
    for _ in range(n_samples):
        rankings, groups = world(rng, n_rankings)
        for k, metric in enumerate(metrics):
            sets = rank_sets(
                tests(rankings, groups, metric), greater_is_better=RANKING_METRICS[metric].higher_is_better
            )
            false[k] += bool(sets.better.any())
    return false / n_samples


def group_sizes(n_groups, *, equal):
    """Sizes of 5, 10 or 30 groups: 240 instances in equal groups, or 60, 45, 34, …, 1."""
    if equal:
        return np.full(n_groups, 240 // n_groups)
    return np.maximum(1, np.round(60 * 0.75 ** np.arange(n_groups))).astype(int)


def error_of_two(sizes, wrong, *, n_samples, seed):
    """Share of p-values ≤ .05 of two equal UQ-AUCs in groups, and standard error over standard deviation of the difference."""
    world, rng, found = models(100, wrong, 0.7, sizes=sizes), np.random.default_rng(seed), []
    for _ in range(n_samples):
        rankings, groups = world(rng, 2)
        first, second = (RANKING_METRICS["uq-auc"].runs(*ranking, groups)[0] for ranking in rankings)
        test = paired_statistic_test(first, second, groups=groups, bound=1.0)
        error = spread_of(first - second, make_units(groups.size, groups, None)).standard_error
        found.append((test.pvalue, float(test.difference), error))
    p, differences, errors = np.array(found).T
    return float((p <= 0.05).mean()), float(np.sqrt((errors**2).mean()) / differences.std())


def print_groups_of_two(n_samples):
    """Two equal UQ-AUCs in groups: percent rejected at 5 %, and the ratio of the standard error."""
    print("two models, UQ-AUC: groups, sizes, errors; percent rejected at 5 %, standard error / standard deviation")
    for n_groups in (5, 10, 30):
        for equal in (True, False):
            for wrong in (10, 30):
                sizes = group_sizes(n_groups, equal=equal)
                share, ratio = error_of_two(sizes, wrong, n_samples=n_samples, seed=[n_groups, wrong])
                name = "equal" if equal else "60, 45, …, 1"
                print(f"| {n_groups} | {name} | {wrong} % | {100 * share:.1f} | {ratio:.2f} |", flush=True)


def worlds():
    """Name → world, of the table of error rates."""
    found = {}
    kinds = {"no ties": "", "97 % tied, certain": "97 certain", "two values": "binary"}
    for g in (5, 10, 30):
        sizes = group_sizes(g, equal=False)
        for name in ("no ties", "97 % tied, certain"):
            found[f"models, {g} groups, 10 % errors, {name}"] = models(100, 10, 0.7, kinds[name], sizes=sizes)
    for n, wrong in ((100, 10), (300, 30), (2000, 100), (100, 3)):
        for label, make in (("scores", scores_of_one_model), ("models", models)):
            for name, kind in kinds.items():
                found[f"{label}, {n:,}, {wrong} errors, {name}"] = make(n, wrong, 0.7, kind)
    for runs in (2, 3):
        for name in ("no ties", "97 % tied, certain"):
            found[f"models of {runs} runs, 300, 30 errors, {name}"] = models(300, 30, 0.7, kinds[name], runs=runs)
    return found


def print_rank_sets(n_samples, only=""):
    """Any false pair in percent, for 2 / 5 / 10 rankings, by each metric."""
    print("|  |", " | ".join(METRICS), "|")
    for number, (name, world) in enumerate(worlds().items()):
        if only in name:
            cells = [false_pairs(world, j, METRICS, n_samples=n_samples, seed=[number, j]) for j in RANKINGS]
            columns = [" / ".join(f"{100 * share:.1f}" for share in column) for column in zip(*cells, strict=True)]
            print(f"| {name} |", " | ".join(columns), "|", flush=True)
