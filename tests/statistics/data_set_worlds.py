"""Models compared over simulated data sets, on which the error rate and the power of the sentence are measured.

    python -m tests.statistics.data_set_worlds [SIZE]
    python -m benchmarks.measured data-sets-false      the tables of docs/evidence-comparisons.md

A world is a function of (rng, number of data sets, number of models). It gives the values (N, J), of which smaller ones are
better, and the group of equal models of each model (J,).
"""

import sys

import numpy as np

from uqassay.statistics import bayesian_signed_rank_test, friedman_test, nemenyi_difference, pairwise_signed_rank_tests

SIZES = (5, 10, 30)
MODELS = (2, 5, 10)


def continuous(rng, n, j):
    """How hard a data set is, and normal deviations of sd 1."""
    return rng.normal(scale=3, size=(n, 1)) + rng.normal(size=(n, j)), np.zeros(j)


def tied(rng, n, j):
    """Errors among 20 instances of each data set, whose rate lies in .05 … .25."""
    return rng.binomial(20, rng.uniform(0.05, 0.25, (n, 1)), size=(n, j)) / 20, np.zeros(j)


def heavy(rng, n, j):
    """Lognormal deviations: rarely a model fails badly on a data set."""
    return rng.normal(scale=3, size=(n, 1)) + rng.lognormal(sigma=1.5, size=(n, j)), np.zeros(j)


def unequal(rng, n, j):
    """The first half of the models varies five times as much about the same centre."""
    spread = np.where(np.arange(j) < (j + 1) // 2, 5.0, 1.0)
    return rng.normal(scale=3, size=(n, 1)) + spread * rng.normal(size=(n, j)), np.zeros(j)


def two_groups(rng, n, j):
    """The first half of the models is better by far; within both halves all are equal, and the worse half varies more."""
    half = (np.arange(j) >= j // 2).astype(float)
    return rng.normal(scale=3, size=(n, 1)) + 30 * half + (1 + 4 * half) * rng.normal(size=(n, j)), half


def skewed(rng, n, j):
    """Equal means, but the last model is better on most data sets and worse by far on a few (limit of the claim)."""
    values = rng.normal(scale=3, size=(n, 1)) + 0.5 * rng.normal(size=(n, j))
    values[:, -1] += rng.exponential(size=n) - 1
    return values, np.zeros(j)


def rising(gap):
    """Centres that rise by a gap from model to model; the deviations have sd 1."""

    def world(rng, n, j):
        return continuous(rng, n, j)[0] + gap * np.arange(j), np.arange(j)

    return world


WORLDS = {
    "normal": continuous,
    "errors of 20 instances (ties)": tied,
    "lognormal": heavy,
    "half of the models vary 5 times as much": unequal,
    "half are better by far, and vary less": two_groups,
    "equal means, one model skewed": skewed,
}


def named_pairs(values):
    """Pairs that the sentence and Nemenyi's test name, ``(J, J)`` each: the model of the row is better."""
    tests = pairwise_signed_rank_tests(values)
    friedman = friedman_test(values)
    lower = friedman.ranks[:, np.newaxis] - friedman.ranks
    apart = -lower >= nemenyi_difference(values.shape[1], len(values)) - 1e-12
    return tests.better(), apart, friedman.reject()


def false_claims(world, n, j, *, n_samples, seed):
    """Shares of samples in which the sentence names a false pair, Nemenyi's test does, and Friedman's test rejects."""
    rng, false = np.random.default_rng(seed), np.zeros(3)
    for _ in range(n_samples):
        values, group = world(rng, n, j)
        wrong = group[:, np.newaxis] >= group  # not better
        sentence, nemenyi, rejected = named_pairs(values)
        false += [(sentence & wrong).any(), (nemenyi & wrong).any(), rejected]
    return false / n_samples


def shown(gap, n, j, *, n_samples, seed):
    """Mean share of the pairs of rising models that the sentence and Nemenyi's test name."""
    rng, found = np.random.default_rng(seed), np.zeros(2)
    for _ in range(n_samples):
        sentence, nemenyi, _ = named_pairs(rising(gap)(rng, n, j)[0])
        found += [sentence.sum(), nemenyi.sum()]
    return found / n_samples / (j * (j - 1) / 2)


def practical_claims(rope, gap, n, *, n_samples, seed):
    """Shares of samples in which one of two models is called practically better, or both practically equal, with P ≥ .95."""
    rng, found = np.random.default_rng(seed), np.zeros(2)
    for _ in range(n_samples):
        values, _ = rising(gap)(rng, n, 2)
        test = bayesian_signed_rank_test(values[:, 0] - values[:, 1], rope=rope, n_draws=500, rng=rng)
        found += [max(test.left, test.right) >= 0.95, test.rope >= 0.95]
    return found / n_samples


# -- tables ---------------------------------------------------------------------------------------------------------------


def print_false_claims(size=1000):
    """Rows of the table of false claims."""
    for name, world in WORLDS.items():
        for n in SIZES:
            models = [j for j in MODELS if j > 2 or world is not two_groups]
            rates = [false_claims(world, n, j, n_samples=size, seed=n) for j in models]
            cells = [" / ".join(f"{100 * rate[k]:.1f}" for rate in rates) for k in range(3)]
            cells = [cell if len(models) == 3 else f"– / {cell}" for cell in cells]
            cells[2] = cells[2] if world is not two_groups else "–"
            print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


def print_power(size=1000):
    """Rows of the table of power."""
    for gap in (0.5, 1.0, 2.0):
        for n in SIZES:
            rates = [shown(gap, n, j, n_samples=size // 2, seed=n) for j in MODELS]
            cells = [" / ".join(f"{100 * rate[k]:.0f}" for rate in rates) for k in range(2)]
            print(f"| {gap:g} | {n} | {' | '.join(cells)} |", flush=True)


def print_practical_claims(size=1000):
    """Rows of the table of the Bayesian test of two models."""
    for rope in (0.0, 0.25, 1.0):
        for n in SIZES:
            rates = [practical_claims(rope, gap, n, n_samples=size // 2, seed=n) for gap in (0.0, 0.5, 1.0, 2.0)]
            cells = [" / ".join(f"{100 * share:.0f}" for share in rate) for rate in rates]
            print(f"| {rope:g} | {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    for table in (print_false_claims, print_power, print_practical_claims):
        print(f"\n{table.__doc__}")
        table(*map(int, sys.argv[1:]))
