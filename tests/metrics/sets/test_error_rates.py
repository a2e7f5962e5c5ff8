"""Measured coverage of the intervals of class sets: their scores, and coverage of every class and size together.

The test measures a few samples. The command prints the tables of docs/evidence-calibration.md:

    python -m tests.metrics.sets.test_error_rates [samples]
"""

import sys

import numpy as np
import pytest

from uqassay.metrics.sets import CLASS_SET_SCORES, UTILITIES, coverage_of_parts, scores_of_columns, sizes_as_parts

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


# Coverage of every class and size together: classes of unequal frequency, and groups in which all are covered more or less.

FREQUENCIES = np.array([0.35, 0.25, 0.2, 0.1, 0.07, 0.03])
ALIKE = np.full(6, 0.9)
UNLIKE = np.array([0.96, 0.94, 0.92, 0.85, 0.7, 0.6])
WORSE = np.array([0.92, 0.92, 0.92, 0.92, 0.6, 0.92])  # one class in 14 is covered less
BY_GROUP = 0.04  # more in one half of the groups, less in the other
TARGET = 0.9
PART_RATES = ("classes hold", "sizes hold", "gap holds", "gap to target", "false below", "below target", "worse found")


def draw_parts(rng, n, n_groups, coverage):
    """Whether each label is covered, its class, and the groups."""
    groups = np.repeat(np.arange(n_groups), group_sizes(n, n_groups)) if n_groups else None
    sign = rng.choice([-1.0, 1.0], n if groups is None else n_groups)
    classes = rng.choice(len(coverage), n, p=FREQUENCIES)
    covered = rng.random(n) < coverage[classes] + BY_GROUP * (sign if groups is None else sign[groups])
    return covered.astype(float), classes, groups


def part_rates(n, n_groups, n_samples, seed):
    """Shares of the samples in which all intervals of the classes, and of the sizes, hold; the gap's does; false claims."""
    rng, count = np.random.default_rng([seed, n, n_groups]), dict.fromkeys(PART_RATES, 0)
    for _ in range(n_samples):
        covered, classes, groups = draw_parts(rng, n, n_groups, UNLIKE)
        size = 1.0 + classes // 2  # two classes have each size
        true_sizes = {(k + 1,) * 2: UNLIKE[2 * k : 2 * k + 2] @ FREQUENCIES[2 * k : 2 * k + 2] for k in range(3)}
        true_sizes = {part: v / FREQUENCIES[2 * part[0] - 2 : 2 * part[0]].sum() for part, v in true_sizes.items()}
        parts, overall = {k: classes == k for k in range(6)}, UNLIKE @ FREQUENCIES
        found = coverage_of_parts(covered, parts, groups=groups)
        held = [one.low <= UNLIKE[k] <= one.high for k, one in enumerate(found.coverage) if not np.isnan(one.low)]
        count["classes hold"] += all(held) and found.overall.low <= overall <= found.overall.high
        of_sizes = coverage_of_parts(covered, sizes_as_parts(size), by="size", groups=groups)
        pairs = list(zip(of_sizes.parts, of_sizes.coverage, strict=True))
        count["sizes hold"] += all(
            one.low <= true_sizes[part] <= one.high for part, one in pairs if not np.isnan(one.low)
        )
        there = np.array([not np.isnan(one) for one in found.coverage])
        count["gap holds"] += found.gap.low <= np.abs(UNLIKE - overall)[there].mean() <= found.gap.high
        promised = coverage_of_parts(covered, parts, groups=groups, target=TARGET)
        count["gap to target"] += promised.gap.low <= np.abs(UNLIKE - TARGET)[there].mean() <= promised.gap.high
        covered, classes, groups = draw_parts(rng, n, n_groups, ALIKE)
        parts = {k: classes == k for k in range(6)}
        count["false below"] += bool(coverage_of_parts(covered, parts, groups=groups).below)
        count["below target"] += bool(coverage_of_parts(covered, parts, groups=groups, target=TARGET).below)
        covered, classes, groups = draw_parts(rng, n, n_groups, WORSE)
        found = coverage_of_parts(covered, {k: classes == k for k in range(6)}, groups=groups)
        count["worse found"] += 4 in found.below
    return [count[name] / n_samples for name in PART_RATES]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_groups"), [(100, 0), (300, 30)])
def test_intervals_of_all_parts_hold_together(n, n_groups):
    *held, false, below_target, _ = part_rates(n, n_groups, 100, seed=1)
    assert min(held) >= 0.88
    assert max(false, below_target) <= 0.06


def main(n_samples):
    for names, rates in ((CLASS_SET_SCORES, shares_covered), (PART_RATES, part_rates)):
        print("n, groups".ljust(14), *(name.rjust(16) for name in names))
        for cell in CELLS:
            found = rates(*cell, n_samples, seed=0)
            print(f"{cell[0]}, {cell[1]}".ljust(14), *(f"{100 * share:16.1f}" for share in found), flush=True)
        print()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
