"""Type-I error, power and coverage of second-order calibration.

As a test this measures small data sets. As a script it prints the tables of the documentation:

    python -m tests.calibration.test_second_order_error_rates [--runs 2000] [--kernel-runs 400]
"""

import argparse
from functools import cache

import numpy as np
import pytest

from tests.calibration.second_order_worlds import Setting, draw
from uqassay.calibration import second_order_test

TRUE_RATIO = {"as stated": 1.0, "states half": 2.0, "states double": 0.5}


@cache
def results(setting, n_runs, by="overall"):
    """Rejected at 5 %, gap, and ends of the interval of the ratio, for each run; a run has the same data for every test."""
    found = []
    for run in range(n_runs):
        rng = np.random.default_rng([run, setting.n, setting.votes, setting.size])
        votes, stated, groups = draw(setting, rng)
        groups = None if setting.size == 1 else groups
        test = second_order_test(votes, stated, by=by, buckets=1, groups=groups, rng=run)
        found.append((test.reject(0.05), float(test.gap), test.ratio.low, test.ratio.high))
    return np.array(found)


def rejections(setting, n_runs, by="overall"):
    return float(results(setting, n_runs, by)[:, 0].mean())


def wrong_claims(setting, n_runs):
    """Share of the runs whose sentence is false: any claim on a calibrated model, the wrong direction on another."""
    rejected, gap, _, _ = results(setting, n_runs).T
    return float(np.mean((rejected > 0) & (np.sign(gap) != np.sign(TRUE_RATIO[setting.truth] - 1))))


def coverage(setting, n_runs):
    _, _, low, high = results(setting, n_runs).T
    true = TRUE_RATIO[setting.truth]
    return float(np.mean((low <= true) & (true <= high)))


def highest(alpha, n_runs, errors=3.3):
    """Bound that an observed rate exceeds with probability .0005 if the true rate is α (normal approximation)."""
    return alpha + errors * np.sqrt(alpha * (1 - alpha) / n_runs)


# -- as tests ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("world", ["even", "confident", "dirichlet"])
@pytest.mark.parametrize("votes", [2, 5, 50])
def test_overall_keeps_its_level_and_the_interval_covers(world, votes):
    runs = 300
    setting = Setting(world, n=200, votes=votes)
    assert rejections(setting, runs) <= highest(0.06, runs)
    assert 1 - coverage(setting, runs) <= highest(0.06, runs)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["kernel", "moments"])
@pytest.mark.parametrize("votes", [2, 50])
def test_kernel_keeps_its_level(by, votes):
    runs = 250
    assert rejections(Setting("even", n=60, votes=votes), runs, by) <= highest(0.06, runs)


@pytest.mark.slow
def test_groups_keep_the_level_and_ignoring_them_does_not():
    runs = 300
    grouped = Setting("confident", n=400, votes=5, size=10)
    assert rejections(grouped, runs) <= highest(0.06, runs)
    kernel = Setting("even", n=200, votes=5, size=10)
    assert rejections(kernel, 120, "kernel") <= highest(0.06, 120)


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["states half", "states double"])
def test_half_and_double_are_found(truth):
    runs = 60
    setting = Setting("even", truth, n=500, votes=5)
    assert rejections(setting, runs) > 0.9
    assert wrong_claims(setting, runs) == 0.0
    assert 1 - coverage(setting, 200) <= highest(0.06, 200)


@pytest.mark.slow
def test_the_kernel_finds_what_is_right_on_average():
    setting = Setting("even", "mixed", n=500, votes=50)
    assert rejections(setting, 40, "kernel") > 0.9


@pytest.mark.slow
def test_moments_find_a_wrong_mean_at_the_right_distance():
    setting = Setting("even", "shifted", n=200, votes=5)
    assert rejections(setting, 40, "moments") > 0.9


# -- as a script ------------------------------------------------------------------------------------------------------


def percent(values):
    return " / ".join(f"{100 * value:.1f}" for value in values)


def row(name, cells):
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def over_votes(setting, measure):
    return percent(
        measure(Setting(setting.world, setting.truth, setting.n, votes, setting.size)) for votes in (2, 5, 50)
    )


def print_tables(n_runs, n_kernel):
    sizes = (100, 1000)
    cases = [("even", 1), ("confident", 1), ("dirichlet", 1), ("even", 10), ("confident", 10)]
    print("level: rejections of calibrated models, votes 2 / 5 / 50; coverage of the ratio")
    for world, size in cases:
        cells = []
        for n in sizes:
            at = Setting(world, n=n, size=size)
            cells += [over_votes(at, lambda s: rejections(s, n_runs)), over_votes(at, lambda s: coverage(s, n_runs))]
        row(f"{world}, groups of {size}", cells)
    print("level by kernel and by moments")
    for world, size in cases:
        cells = [
            over_votes(Setting(world, n=n, size=size), lambda s, by=by: rejections(s, n_kernel, by))
            for by in ("kernel", "moments")
            for n in sizes
        ]
        row(f"{world}, groups of {size}", cells)
    print("power overall, coverage, wrong claims, n = 100 and 1,000")
    for world in ("even", "confident"):
        for truth in ("states half", "states double"):
            cells = []
            for n in sizes:
                at = Setting(world, truth, n)
                cells += [
                    over_votes(at, lambda s: rejections(s, n_runs)),
                    over_votes(at, lambda s: coverage(s, n_runs)),
                    over_votes(at, lambda s: wrong_claims(s, n_runs)),
                ]
            row(f"{world}, {truth}", cells)
    print("power of the three tests, even world")
    for truth in ("states half", "states double", "mixed", "shifted"):
        for n in sizes:
            cells = [
                over_votes(Setting("even", truth, n), lambda s, by=by: rejections(s, n_kernel, by))
                for by in ("overall", "kernel", "moments")
            ]
            row(f"{truth}, n = {n}", cells)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--kernel-runs", type=int, default=400)
    given = parser.parse_args()
    print_tables(given.runs, given.kernel_runs)
