"""Measured coverage of the intervals of class sets: coverage, size, determinacy, accuracies, u65, u80.

Run as a script, this file prints the table of docs/evidence-calibration.md; as a test it measures fewer samples.
"""

import sys

import numpy as np
import pytest

from uqassay.metrics.sets import CLASS_SET_SCORES, UTILITIES, scores_of_columns

SIZES = np.array([1, 2, 3, 6])
EASY = np.array([0.88, 0.08, 0.03, 0.01]), np.array([0.98, 0.97, 0.95, 1.0])  # shares of the sizes, coverage of each
HARD = np.array([0.55, 0.25, 0.15, 0.05]), np.array([0.85, 0.85, 0.9, 0.95])
CELLS = [(100, 0), (300, 0), (2000, 0), (300, 10), (300, 30), (2000, 30), (2000, 100)]


def group_sizes(n, n_groups):
    """Unequal sizes with the sum n: the largest group is five times the smallest."""
    shares = np.linspace(1, 5, n_groups)
    ends = np.round(n * np.cumsum(shares) / shares.sum()).astype(int)
    return np.diff(ends, prepend=0)


def true_values():
    """The scores of the population, half of whose instances (or groups) are easy, in the order of CLASS_SET_SCORES."""
    share = (EASY[0] + HARD[0]) / 2
    hit = (EASY[0] * EASY[1] + HARD[0] * HARD[1]) / 2
    worth = {name: a / SIZES + b / SIZES**2 for name, (a, b) in UTILITIES.items()}
    return {
        "coverage": hit.sum(),
        "size": (share * SIZES).sum(),
        "determinacy": share[0],
        "single_accuracy": hit[0] / share[0],
        "set_accuracy": hit[1:].sum() / share[1:].sum(),
        **{name: (hit * w).sum() for name, w in worth.items()},
    }


def draw(rng, n, n_groups):
    """Whether each label is covered, sizes of the sets, and groups whose instances are all easy or all hard."""
    groups = np.repeat(np.arange(n_groups), group_sizes(n, n_groups)) if n_groups else None
    hard = rng.random(n_groups or n) < 0.5
    hard = hard if groups is None else hard[groups]
    place = np.where(hard, rng.choice(4, n, p=HARD[0]), rng.choice(4, n, p=EASY[0]))
    covered = rng.random(n) < np.where(hard, HARD[1][place], EASY[1][place])
    return covered.astype(float), SIZES[place].astype(float), groups


def shares_covered(n, n_groups, n_samples, seed):
    """Share of the 95 % intervals that hold the true value, by score."""
    rng, truth = np.random.default_rng([seed, n, n_groups]), true_values()
    held = dict.fromkeys(CLASS_SET_SCORES, 0)
    for _ in range(n_samples):
        covered, size, groups = draw(rng, n, n_groups)
        found = scores_of_columns(covered, size, groups=groups)
        for name in held:
            e = getattr(found, name)
            held[name] += bool(e.low <= truth[name] <= e.high)
    return [held[name] / n_samples for name in CLASS_SET_SCORES]


def test_true_values_against_a_large_sample(random_generator):
    covered, size, _ = draw(random_generator, 200_000, 0)
    found = scores_of_columns(covered, size)
    for name, value in true_values().items():
        assert float(getattr(found, name)) == pytest.approx(value, abs=0.012), name


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_groups"), [(100, 0), (300, 30)])
def test_coverage_of_intervals(n, n_groups):
    shares = shares_covered(n, n_groups, 100, seed=1)
    assert min(shares) >= 0.87, shares
    assert max(shares) <= 1.0, shares


if __name__ == "__main__":
    print("n, groups".ljust(14), *(name.rjust(16) for name in CLASS_SET_SCORES))
    for cell in CELLS:
        found = shares_covered(*cell, int(sys.argv[1]) if len(sys.argv) > 1 else 2000, seed=0)
        print(f"{cell[0]}, {cell[1]}".ljust(14), *(f"{100 * share:16.1f}" for share in found), flush=True)
