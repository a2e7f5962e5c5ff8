"""Refusing for the class that matters: against loops, and the measured coverage of its intervals.

The test measures a few samples. The command prints the table of docs/evidence-ranking.md:

    python -m tests.metrics.risk.test_critical_class [samples]
"""

import sys
from functools import cache

import numpy as np
import pytest
from tests.metrics.sets.test_error_rates import CELLS, group_sizes
from tests.refusals import refuses

from uqassay.metrics import critical_class_refusal
from uqassay.metrics.critical_class import CRITICAL_SHARES, kept_shares

FREQUENCIES = np.array([0.5, 0.3, 0.2])
COVERAGE = 0.9


def draw(rng, n, n_groups, critical=2):
    """Classes, predictions and uncertainties; the critical class is missed more often, and groups differ in difficulty."""
    groups = np.repeat(np.arange(n_groups), group_sizes(n, n_groups)) if n_groups else None
    hard = rng.normal(size=n) if groups is None else 0.7 * rng.normal(size=n_groups)[groups] + 0.7 * rng.normal(size=n)
    y = rng.choice(3, n, p=FREQUENCIES)
    doubt = hard + 0.8 * (y == critical) + 0.6 * rng.normal(size=n)
    wrong = hard + 0.8 * (y == critical) + 0.6 * rng.normal(size=n) > 0.9
    return y, np.where(wrong, (y + 1) % 3, y), doubt, groups


@cache
def truths(n_groups):
    """The shares of a large sample; with groups as many independent difficulties, because each group has its own."""
    y, predicted, doubt, _ = draw(np.random.default_rng(0), 400_000, 0)
    if n_groups:  # the same distribution of a case: the variances of both parts of the difficulty sum to 0.98
        rng = np.random.default_rng(0)
        y, predicted, doubt, _ = draw(rng, 400_000, 100_000)
    found = critical_class_refusal(y, predicted, doubt, critical=2, coverage=COVERAGE)
    return {name: float(getattr(found, name)) for name in CRITICAL_SHARES}


def shares_covered(n, n_groups, n_samples, seed):
    """Share of the 95 % intervals that hold the truth, by share; of those that are defined."""
    rng, truth = np.random.default_rng([seed, n, n_groups]), truths(bool(n_groups))
    held, made = dict.fromkeys(CRITICAL_SHARES, 0), dict.fromkeys(CRITICAL_SHARES, 0)
    for _ in range(n_samples):
        y, predicted, doubt, groups = draw(rng, n, n_groups)
        found = critical_class_refusal(y, predicted, doubt, critical=2, coverage=COVERAGE, groups=groups)
        for name in CRITICAL_SHARES:
            one = getattr(found, name)
            if not np.isnan(one.low):
                made[name] += 1
                held[name] += bool(one.low <= truth[name] <= one.high)
    return [held[name] / made[name] for name in CRITICAL_SHARES]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_groups"), [(100, 0), (300, 30)])
def test_coverage_of_intervals(n, n_groups):
    assert min(shares_covered(n, n_groups, 150, seed=1)) >= 0.88


def test_shares_against_a_loop(random_generator):
    y, predicted, doubt, _ = draw(random_generator, 200, 0)
    found = critical_class_refusal(y, predicted, doubt, critical=2, coverage=0.8)
    kept = set(np.argsort(doubt)[:160].tolist())
    mine = [i for i in range(200) if y[i] == 2]
    missed = [i for i in mine if predicted[i] != 2]
    left = [i for i in mine if i in kept]
    expected = {
        "recall": 1 - len(missed) / len(mine),
        "recall_kept": sum(predicted[i] == 2 for i in left) / len(left),
        "missed": sum(i in kept for i in missed) / len(mine),
        "caught": sum(i not in kept for i in missed) / len(missed),
        "refused": 1 - len(left) / len(mine),
        "refused_others": sum(i not in kept and y[i] != 2 for i in range(200)) / (200 - len(mine)),
    }
    assert {name: float(getattr(found, name)) for name in CRITICAL_SHARES} == pytest.approx(expected)
    assert found.n == len(mine)


def test_ties_are_the_mean_over_their_orders(random_generator):
    y, predicted, doubt, _ = draw(random_generator, 60, 0)
    doubt = np.round(doubt)
    tied = critical_class_refusal(y, predicted, doubt, critical=2, coverage=0.7)
    each = [
        critical_class_refusal(y, predicted, doubt + 1e-6 * random_generator.permutation(60), critical=2, coverage=0.7)
        for _ in range(800)
    ]
    for name in ("missed", "caught", "refused", "refused_others"):
        assert float(getattr(tied, name)) == pytest.approx(np.mean([float(getattr(e, name)) for e in each]), abs=0.02)
    assert kept_shares(np.zeros(10), 0.3).tolist() == [0.3] * 10


def test_weights_are_repetitions_and_runs_are_averaged(random_generator):
    y, predicted, doubt, _ = draw(random_generator, 80, 0)
    w = random_generator.integers(0, 4, 80)
    weighted = critical_class_refusal(y, predicted, doubt, critical=2, sample_weight=w)
    repeated = critical_class_refusal(*(np.repeat(x, w) for x in (y, predicted, doubt)), critical=2)
    for name in CRITICAL_SHARES:
        assert float(getattr(weighted, name)) == pytest.approx(float(getattr(repeated, name)))
    runs = critical_class_refusal(y, np.stack([predicted, y]), np.stack([doubt, doubt]), critical=2)
    alone = critical_class_refusal(y, predicted, doubt, critical=2)
    assert float(runs.recall) == pytest.approx((float(alone.recall) + 1) / 2)
    assert float(runs.refused) == pytest.approx(float(alone.refused))


def test_shares_without_cases_are_undefined():
    absent = critical_class_refusal([0, 1], [0, 1], [0.1, 0.2], critical=2)
    assert absent.n == 0
    assert np.isnan(absent.recall)
    assert absent.recall.notes[0].code == "undefined"
    right = critical_class_refusal([0, 1], [0, 1], [0.1, 0.2], critical=1)
    assert np.isnan(right.caught)
    assert np.isnan(critical_class_refusal([1, 1], [1, 0], [0.1, 0.2], critical=1).refused_others)


def test_refusals():
    with refuses("critical", "range"):
        critical_class_refusal([0, 1], [0, 1], [0.1, 0.2], critical=-1)
    with refuses("y_true", "type"):
        critical_class_refusal([0.5, 1], [0, 1], [0.1, 0.2], critical=1)
    with refuses("coverage", "range"):
        critical_class_refusal([0, 1], [0, 1], [0.1, 0.2], critical=1, coverage=0)


def test_what_is_no_class_is_refused():
    y, doubt = np.array([0, 1, 1, 0]), np.array([0.1, 0.4, 0.2, 0.3])
    with refuses("predicted", "type"):
        critical_class_refusal(y, [0.2, 0.7, 0.9, 0.4], doubt, critical=1)  # probabilities
    with refuses("y_true", "type"):
        critical_class_refusal(y - 1, y, doubt, critical=1)
    with refuses("uncertainty", "mismatch"):
        critical_class_refusal(y, np.stack([y, y]), np.stack([doubt] * 3), critical=1)


def main(n_samples):
    print("n, groups".ljust(14), *(name.rjust(14) for name in CRITICAL_SHARES))
    for cell in CELLS:
        found = shares_covered(*cell, n_samples, seed=0)
        print(f"{cell[0]}, {cell[1]}".ljust(14), *(f"{100 * share:14.1f}" for share in found), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
