"""Measured coverage of the intervals of the disentanglement error, and type-I error and power of its tests.

Run as a script, this file prints the tables in docs/evidence-disentanglement.md (those whose name begins with the word given,
if there is one); as a test it measures fewer samples and asserts what the tables say.
"""

import sys
from functools import cache, partial

import numpy as np
import pytest

from uqassay.metrics import below_chance_test, disentanglement_error, paired_disentanglement_test, swap_test
from uqassay.metrics.disentanglement import Curves, curve_correlations, error_of

SHARES = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0])
LEVELS = np.linspace(0, 1, 11)
ACCURACY = (0.97 - 0.6 * np.exp(-SHARES / 0.12), 0.95 - 0.6 * LEVELS)

# slope of the confidence in the standardised accuracy, the spread of that slope between runs, and the jitter
SHAPES = {
    "near 1": (1.0, 0.0, 0.05),
    "strong": (1.0, 0.0, 0.35),
    "moderate": (1.0, 0.0, 1.5),
    "unrelated": (0.0, 0.0, 1.0),
    "near −1": (-1.0, 0.0, 0.1),
    "varies": (0.5, 1.0, 0.5),
}
# shapes of the four curves, in the order of the terms
METHODS = {
    "good": ("unrelated", "near 1", "strong", "unrelated"),
    "leaking": ("moderate", "strong", "near 1", "near −1"),
    "unstable": ("varies", "varies", "moderate", "varies"),
    "unrelated": ("unrelated", "unrelated", "unrelated", "unrelated"),
}


def simulated(rng, n_runs, shapes):
    """Curves of both experiments; each run has its own jitter of the accuracy and of the estimates."""
    found = []
    for k, mean in enumerate(ACCURACY):
        accuracy = mean + rng.normal(0, 0.02, (n_runs, mean.size))
        standard = (mean - mean.mean()) / mean.std()
        estimates = []
        for shape in shapes[2 * k : 2 * k + 2]:
            slope, between, jitter = SHAPES[shape]
            slopes = slope + between * rng.normal(size=(n_runs, 1))
            estimates.append(3 - slopes * standard + jitter * rng.normal(size=(n_runs, mean.size)))
        found.append(Curves(accuracy, *estimates, conditions=(SHARES, LEVELS)[k]))
    return tuple(found)


@cache
def truths(shapes, n_runs=30_000, seed=1):
    """The estimands: tanh E z, E r and E |r − ideal| of the four terms, and E of the error."""
    r, _ = curve_correlations(*simulated(np.random.default_rng(seed), n_runs, shapes))
    return {
        "correlation": np.tanh(np.arctanh(np.clip(r, -1 + 1e-6, 1 - 1e-6)).mean(axis=0)),
        "bootstrap": r.mean(axis=0),
        "deviation": np.abs(r - [0, 1, 1, 0]).mean(axis=0),
        "error": np.array([error_of(r).mean()]),
    }


def coverage(shapes, n_runs, *, n_samples, seed, n_draws=400):
    """Share of intervals that hold the truth: three kinds of four terms each, and the error."""
    rng = np.random.default_rng(seed)
    true = truths(shapes)
    covered = {name: np.zeros(values.size) for name, values in true.items()}
    for _ in range(n_samples):
        result = disentanglement_error(*simulated(rng, n_runs, shapes), n_draws=n_draws)
        for name in ("correlation", "bootstrap", "deviation"):
            intervals = np.array([(getattr(t, name).low, getattr(t, name).high) for t in result.terms])
            covered[name] += (intervals[:, 0] <= true[name]) & (true[name] <= intervals[:, 1])
        covered["error"] += result.error.low <= true["error"] <= result.error.high
    return {name: count / n_samples for name, count in covered.items()}


# -- samples of the tests ----------------------------------------------------------------------------------------------


def exchangeable(rng, n_runs, *, effect=0.0, trend=False):
    """Estimates unrelated to the accuracy, correlated with each other; `effect`: share of jitter that all runs have in common.

    `trend`: each estimate is a straight line over the conditions instead, with one random sign for all runs.
    """
    found = []
    for k, mean in enumerate(ACCURACY):
        accuracy = mean + rng.normal(0, 0.02, (n_runs, mean.size))
        own, common = rng.normal(size=(n_runs, 3, mean.size)), rng.normal(size=(1, 3, mean.size))
        jitter = np.sqrt(1 - effect) * own + np.sqrt(effect) * common
        estimates = jitter[:, :2] + jitter[:, 2:]
        if trend:
            line = np.linspace(-1, 1, mean.size) * rng.choice([-1, 1], size=(1, 2, 1))
            estimates = line + 0.1 * own[:, :2]
        found.append(Curves(accuracy, estimates[:, 0], estimates[:, 1], conditions=(SHARES, LEVELS)[k]))
    return tuple(found)


def renamed(rng, curves):
    """Both names exchanged in a random half of the runs, in both experiments alike."""
    flip = rng.random(curves[0].n_runs)[:, None] < 0.5
    return tuple(
        Curves(
            one.accuracy,
            np.where(flip, one.epistemic, one.aleatoric),
            np.where(flip, one.aleatoric, one.epistemic),
            one.conditions,
        )
        for one in curves
    )


def total_twice(rng, n_runs):
    """One estimate that follows the accuracy closely, given as both with a little jitter of each."""
    return simulated(rng, n_runs, ("near 1",) * 4)


def changed(draw, change, rng, n_runs):
    return change(rng, draw(rng, n_runs))


def chance_rates(draw, *, permuted, n_samples, seed, n_draws=199, alpha=0.05):
    rng = np.random.default_rng(seed)
    return np.mean(
        [
            below_chance_test(*draw(rng), permuted=permuted, n_draws=n_draws, rng=rng).reject(alpha)
            for _ in range(n_samples)
        ]
    )


def swap_rates(draw, *, n_samples, seed, alpha=0.05):
    rng = np.random.default_rng(seed)
    return np.mean([swap_test(*draw(rng)).reject(alpha) for _ in range(n_samples)])


def paired_pvalues(n_runs, shift, *, skewed=False, n_samples, seed):
    """P-values of the t test and of sign flips: errors of two methods that share half of the variance between runs."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_samples):
        shared, own = 0.08 * rng.normal(size=n_runs), 0.08 * rng.normal(size=(2, n_runs))
        if skewed:
            own[0] = 0.08 * (rng.exponential(size=n_runs) - 1)
            own[1] = 0.0
        a, b = 0.5 + shared + own[0] + shift, 0.5 + shared + own[1]
        test = paired_disentanglement_test(a, b)
        found.append((test.pvalue, test.sign_flips.pvalue))
    return np.array(found).T


def near(share, expected, n_samples, errors=4.0):
    return abs(share - expected) <= errors * np.sqrt(expected * (1 - expected) / n_samples)


def at_most(share, expected, n_samples, errors=4.0):
    return share <= expected + errors * np.sqrt(expected * (1 - expected) / n_samples)


# -- coverage ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_coverage_over_five_runs(method):
    found = coverage(METHODS[method], 5, n_samples=100, seed=5, n_draws=200)
    assert (found["correlation"] >= 0.87).all()
    assert found["correlation"].mean() <= 0.98  # intervals wider by half cover .995
    assert (found["deviation"] >= 0.78).all()
    assert 0.88 <= found["error"][0] <= 0.99
    assert (found["bootstrap"] <= 0.97).all()
    assert (found["bootstrap"] >= 0.8).all()


@pytest.mark.slow
def test_bootstrap_over_three_runs_covers_at_most_three_quarters():
    found = coverage(METHODS["unrelated"], 3, n_samples=150, seed=3, n_draws=200)
    assert all(at_most(share, 0.75, 150) for share in found["bootstrap"])
    assert all(near(share, 0.95, 150) for share in found["correlation"])


# -- tests ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("permuted", ["conditions", "runs"])
@pytest.mark.parametrize("n_runs", [1, 5])
def test_below_chance_has_its_level_for_exchangeable_estimates(permuted, n_runs):
    share = chance_rates(lambda rng: exchangeable(rng, n_runs), permuted=permuted, n_samples=180, seed=n_runs)
    assert near(share, 0.05, 180, errors=3.3)  # a rate of .18 is found with probability .99


@pytest.mark.slow
def test_below_chance_with_effects_of_the_conditions():
    rates = {
        permuted: chance_rates(lambda rng: exchangeable(rng, 5, effect=0.7), permuted=permuted, n_samples=180, seed=7)
        for permuted in ("conditions", "runs")
    }
    assert near(rates["conditions"], 0.05, 180, errors=3.3)
    assert rates["runs"] > 0.12


@pytest.mark.slow
def test_below_chance_power():
    rates = {
        method: chance_rates(
            lambda rng, method=method: simulated(rng, 5, METHODS[method]), permuted="conditions", n_samples=90, seed=2
        )
        for method in ("good", "unrelated")
    }
    assert rates["good"] > 0.95
    assert rates["unrelated"] < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("method", ["good", "leaking", "unrelated"])
@pytest.mark.parametrize("n_runs", [5, 9])
def test_swap_has_its_level_for_interchangeable_names(method, n_runs):
    share = swap_rates(lambda rng: renamed(rng, simulated(rng, n_runs, METHODS[method])), n_samples=180, seed=n_runs)
    assert at_most(share, 0.05, 180, errors=3.3)  # a rate of .18 is found with probability .99


@pytest.mark.slow
def test_swap_power():
    assert swap_rates(lambda rng: simulated(rng, 5, METHODS["good"]), n_samples=100, seed=1) > 0.95
    assert swap_rates(lambda rng: simulated(rng, 4, METHODS["good"]), n_samples=50, seed=1) == 0


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [3, 5, 9, 20])
def test_paired_test_has_its_level_and_power(n_runs):
    t, flips = paired_pvalues(n_runs, 0.0, n_samples=180, seed=n_runs)
    assert near(np.mean(t <= 0.05), 0.05, 180, errors=3.3)
    assert at_most(np.mean(flips <= 0.05), 0.05, 180, errors=3.3)
    t, flips = paired_pvalues(n_runs, 0.2, n_samples=90, seed=n_runs)
    assert np.mean(t <= 0.05) > {3: 0.2, 5: 0.6, 9: 0.95, 20: 0.99}[n_runs]
    assert np.mean(flips <= 0.05) > {3: -1, 5: -1, 9: 0.9, 20: 0.99}[n_runs]


# -- tables --------------------------------------------------------------------------------------------------------------


def percent(share):
    return f"{100 * share:.1f}"


def print_coverage(n_samples=1000):
    print("| method, term | E r | Fisher's z | bootstrap | deviation |")
    terms = ("7: aleatoric", "7: epistemic", "11: aleatoric", "11: epistemic")
    for method, shapes in METHODS.items():
        found = [coverage(shapes, n, n_samples=n_samples, seed=n) for n in (3, 5, 9, 20)]
        means = truths(shapes)["bootstrap"]
        for k, term in enumerate(terms):
            cells = (
                " / ".join(percent(one[name][k]) for one in found) for name in ("correlation", "bootstrap", "deviation")
            )
            print(f"| {method}, {term}, {shapes[k]} | {means[k]:.2f} | {' | '.join(cells)} |", flush=True)
        print(f"| {method}, error | {' / '.join(percent(one['error'][0]) for one in found)} |", flush=True)
    print("| Fisher's z of one run |")
    for method, shapes in METHODS.items():
        found = coverage(shapes, 1, n_samples=n_samples, seed=1, n_draws=2)
        print(f"| {method} | {' | '.join(percent(x) for x in found['correlation'])} |", flush=True)


def print_chance(n_samples=1000):
    draws = {
        "exchangeable": exchangeable,
        "effects of the conditions": partial(exchangeable, effect=0.7),
        "trends of random sign": partial(exchangeable, trend=True),
        **{name: partial(simulated, shapes=shapes) for name, shapes in METHODS.items()},
        "total twice": total_twice,
    }
    for name, draw in draws.items():
        cells = []
        for permuted in ("conditions", "runs"):
            rates = (
                chance_rates(partial(draw, n_runs=r), permuted=permuted, n_samples=n_samples, seed=r)
                for r in (1, 3, 5, 9)
            )
            cells.append(" / ".join(map(percent, rates)))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def print_swap(n_samples=2000):
    draws = {name: partial(simulated, shapes=shapes) for name, shapes in METHODS.items()} | {"total twice": total_twice}
    for name, draw in draws.items():
        cells = []
        for change in (renamed, lambda _, curves: curves):
            rates = (
                swap_rates(partial(changed, draw, change, n_runs=r), n_samples=n_samples, seed=r) for r in (5, 9, 20)
            )
            cells.append(" / ".join(map(percent, rates)))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def print_paired(n_samples=4000):
    for name, shift, skewed in (
        ("normal, equal", 0.0, False),
        ("skewed, equal", 0.0, True),
        ("difference .05", 0.05, False),
        ("difference .1", 0.1, False),
        ("difference .2", 0.2, False),
    ):
        found = [paired_pvalues(r, shift, skewed=skewed, n_samples=n_samples, seed=r) for r in (3, 5, 9, 20)]
        cells = (" / ".join(percent(np.mean(p[k] <= 0.05)) for p in found) for k in (0, 1))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


TABLES = {"coverage": print_coverage, "chance": print_chance, "swap": print_swap, "paired": print_paired}

if __name__ == "__main__":
    for wanted, table in TABLES.items():
        if not sys.argv[1:] or wanted.startswith(sys.argv[1]):
            table()
