"""Type-I error, power and coverage of second-order calibration.

As a test this measures small data sets. As a script it prints the tables of the documentation:

    python -m tests.calibration.test_second_order_error_rates [--runs 1500] [--kernel-runs 300] [--only TEXT]
"""

import argparse
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.calibration.second_order_worlds import Setting, draw
from uqassay.calibration import second_order_test

TRUE_RATIO = {"as stated": 1.0, "states half": 2.0, "states double": 0.5}


@cache
def results(setting, n_runs, by="overall", groups=True):
    """Rejected at 5 %, gap, and ends of the interval of the ratio, for each run; a run has the same data for every test."""
    found = []
    for run in range(n_runs):
        rng = np.random.default_rng([run, setting.n, setting.votes, setting.size])
        votes, stated, labels = draw(setting, rng)
        labels = labels if groups and setting.size > 1 else None
        test = second_order_test(votes, stated, by=by, buckets=1, groups=labels, rng=run)
        found.append((test.reject(0.05), float(test.gap), test.ratio.low, test.ratio.high))
    return np.array(found)


def rejections(setting, n_runs, by="overall", groups=True):
    return float(results(setting, n_runs, by, groups)[:, 0].mean())


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
@pytest.mark.parametrize(("world", "votes"), [("even", 2), ("even", 50), ("confident", 5), ("dirichlet", 2)])
def test_overall_keeps_its_level_and_the_interval_covers(world, votes):
    runs = 120  # a rate of .22 exceeds the bound with probability .99
    setting = Setting(world, n=200, votes=votes)
    assert rejections(setting, runs) <= highest(0.06, runs)
    assert 1 - coverage(setting, runs) <= highest(0.06, runs)


@pytest.mark.slow
@pytest.mark.parametrize(("by", "votes"), [("kernel", 2), ("moments", 50)])
def test_kernel_keeps_its_level(by, votes):
    runs = 120
    assert rejections(Setting("even", n=60, votes=votes), runs, by) <= highest(0.06, runs)


@pytest.mark.slow
def test_groups_keep_the_level_and_ignoring_them_does_not():
    runs = 100  # a rate of .23 exceeds the bound with probability .99
    grouped = Setting("even", n=400, votes=50, size=10)
    assert rejections(grouped, runs) <= highest(0.06, runs)
    assert rejections(grouped, 60, groups=False) > 0.2
    smaller = Setting("even", n=200, votes=50, size=10)
    assert rejections(smaller, 40, "kernel") <= highest(0.06, 40)
    assert rejections(smaller, 15, "kernel", groups=False) > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["states half", "states double"])
def test_half_and_double_are_found(truth):
    runs = 30
    setting = Setting("even", truth, n=500, votes=5)
    assert rejections(setting, runs) > 0.9
    assert wrong_claims(setting, runs) == 0.0
    assert 1 - coverage(setting, 60) <= highest(0.06, 60)


@pytest.mark.slow
def test_the_kernel_finds_what_is_right_on_average():
    setting = Setting("even", "mixed", n=500, votes=50)
    assert rejections(setting, 10, "kernel") > 0.85


@pytest.mark.slow
def test_moments_find_a_wrong_mean_at_the_right_distance():
    setting = Setting("even", "shifted", n=200, votes=5)
    assert rejections(setting, 40, "moments") > 0.9


# -- as a script ------------------------------------------------------------------------------------------------------

SIZES = (100, 1000)
CASES = [("even", 1), ("confident", 1), ("dirichlet", 1), ("even", 10), ("confident", 10)]


def over_votes(setting, measure):
    """A measure in percent with 2, 5 and 50 votes."""
    worlds = [replace(setting, votes=votes) for votes in (2, 5, 50)]
    return " / ".join(f"{100 * measure(world):.1f}" for world in worlds)


def level_overall(world, size, n_runs, n_kernel):
    for n in SIZES:
        at = Setting(world, n=n, size=size)
        yield over_votes(at, lambda s: rejections(s, n_runs))
        yield over_votes(at, lambda s: coverage(s, n_runs))


def level_of_kernels(world, size, n_runs, n_kernel):
    for by in ("kernel", "moments"):
        for n in SIZES:
            yield over_votes(Setting(world, n=n, size=size), lambda s, by=by: rejections(s, n_kernel, by))


def power_overall(world, truth, n_runs, n_kernel):
    for n in SIZES:
        at = Setting(world, truth, n)
        for measure in (rejections, coverage, wrong_claims):
            yield over_votes(at, lambda s, measure=measure: measure(s, n_runs))


def power_of_tests(truth, n, n_runs, n_kernel):
    for by in ("overall", "kernel", "moments"):
        yield over_votes(Setting("even", truth, n), lambda s, by=by: rejections(s, n_kernel // 3, by))


def tables():
    """Title, rows as (name, function, arguments)."""
    cases = [(f"{world}{', groups of 10' if size > 1 else ''}", (world, size)) for world, size in CASES]
    yield "level: rejected and covered, n = 100 and 1,000", [(f"level {a}", level_overall, b) for a, b in cases]
    yield "level by kernel and moments", [(f"kernel {a}", level_of_kernels, b) for a, b in cases]
    wrong = [(world, truth) for world in ("even", "confident") for truth in ("states half", "states double")]
    yield "power: rejected, covered, wrongly claimed", [(f"power {w}, {t}", power_overall, (w, t)) for w, t in wrong]
    truths = [(truth, n) for truth in ("states half", "states double", "mixed", "shifted") for n in SIZES]
    yield "power of the tests", [(f"tests {t}, n = {n}", power_of_tests, (t, n)) for t, n in truths]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1500)
    parser.add_argument("--kernel-runs", type=int, default=300)
    parser.add_argument("--only", default="", help="print only rows with this text in their names")
    given = parser.parse_args()
    for title, rows in tables():
        print(title)
        for name, cells_of, arguments in rows:
            if given.only in name:
                print(f"| {name} | {' | '.join(cells_of(*arguments, given.runs, given.kernel_runs))} |", flush=True)
