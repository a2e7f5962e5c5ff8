"""Measured error rates of the test of votes against a credal set, and of the share of compatible instances.

Run as a script, this file prints the tables of docs/evidence-calibration.md; as a test it measures fewer instances.
"""

import sys

import numpy as np
import pytest

from uqassay.calibration import vote_compatibility_test
from uqassay.calibration.votes import compatible_share

TRUTHS = ("mean", "inside", "corner")  # of the members, a random mixture, one member
CELLS = [(3, 3, 10), (3, 3, 50), (10, 3, 10), (10, 3, 50), (10, 10, 50), (10, 1, 50)]  # classes, members, votes
SHARE_CELLS = [(100, 0), (300, 0), (2000, 0), (300, 30), (2000, 100)]
POWER_CELLS = [(3, 3, 10), (3, 3, 50), (10, 3, 10), (10, 3, 50), (10, 10, 50)]
MOVED = (
    0.0,
    0.1,
    0.2,
    0.3,
    0.5,
)  # how far the truth lies from the set towards the class that the set makes least likely


def world(rng, n, classes, members):
    """Members of n instances that agree in part, (n, M, K)."""
    concentration = np.full(classes, 3 / classes)
    own = rng.dirichlet(concentration, size=(n, members))
    return 0.5 * own + 0.5 * rng.dirichlet(concentration, size=(n, 1))


def true_points(rng, points, truth):
    """A point of each hull, (n, K)."""
    n, members = points.shape[:2]
    weights = {
        "mean": np.full((n, members), 1 / members),
        "inside": rng.dirichlet(np.ones(members), n),
        "corner": np.eye(members)[rng.integers(members, size=n)],
    }[truth]
    p = np.einsum("nm,nmk->nk", weights, points)
    return p / p.sum(axis=1, keepdims=True)


def share_rejected(cell, truth, n, seed=0):
    """Rejections of true points: p at 5 % and 10 %, and at 10 % with ties broken at random, as the share counts them."""
    classes, members, votes = cell
    rng = np.random.default_rng([seed, *cell, TRUTHS.index(truth)])
    points = world(rng, n, classes, members)
    found = vote_compatibility_test(
        rng.multinomial(votes, true_points(rng, points, truth)), points, votes_are="counts", rng=1
    )
    return float((found.pvalues <= 0.05).mean()), float((found.pvalues <= 0.1).mean()), 1 - float(found.kept)


def moved_truth(points, truth, share):
    """A truth (n, K) that gives this share to the class that the set makes least likely."""
    least = np.eye(points.shape[2])[points.max(axis=1).argmin(axis=1)]
    moved = (1 - share) * truth + share * least
    return moved / moved.sum(axis=1, keepdims=True)


def power(cell, share, n, seed=0):
    """Share of instances with p ≤ .10 whose truth is moved from a random point of the set by `share`."""
    classes, members, votes = cell
    rng = np.random.default_rng([seed, *cell])
    points = world(rng, n, classes, members)
    counts = rng.multinomial(votes, moved_truth(points, true_points(rng, points, "inside"), share))
    return float((vote_compatibility_test(counts, points, votes_are="counts", rng=1).pvalues <= 0.1).mean())


def unequal_groups(n, n_groups):
    """Groups whose sizes rise evenly, the greatest five times the least."""
    sizes = np.linspace(1, 5, n_groups)
    return np.searchsorted(np.cumsum(sizes) / sizes.sum(), (np.arange(n) + 0.5) / n)


def half_compatible(rng, n, n_groups):
    """Votes and members of n instances, half of which (or of the groups) have a truth far from the hull."""
    points = world(rng, n, 6, 3)
    truth = true_points(rng, points, "inside")
    groups = unequal_groups(n, n_groups) if n_groups else None
    far = rng.random(n_groups or n) < 0.5
    far = far if groups is None else far[groups]
    truth[far] = moved_truth(points[far], truth[far], 0.7)
    return rng.multinomial(50, truth / truth.sum(axis=1, keepdims=True)), points, groups


def share_covered(n, n_groups, n_samples, seed=0):
    """Mean estimate of the share of compatible instances, which is .5, and coverage of its 95 % interval."""
    rng = np.random.default_rng([seed, n, n_groups])
    samples = [half_compatible(rng, n, n_groups) for _ in range(n_samples)]
    votes, points = (np.concatenate(parts) for parts in list(zip(*samples, strict=True))[:2])
    found = vote_compatibility_test(votes, points, n_draws=59, rng=1, votes_are="counts")  # instance by instance
    kept = found.kept_instances.reshape(n_samples, n)
    shares = [compatible_share(k, found.alpha, groups=s[2])[0] for k, s in zip(kept, samples, strict=True)]
    return float(np.mean(shares)), float(np.mean([s.low <= 0.5 <= s.high for s in shares]))


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "truth"), [((3, 3, 10), "corner"), ((10, 1, 50), "mean")])
def test_true_points_are_rejected_at_the_level(cell, truth):
    rejected = share_rejected(cell, truth, 200)
    assert rejected[0] <= 0.09
    assert rejected[1] <= 0.16
    assert rejected[2] >= 0.04


@pytest.mark.slow
def test_votes_from_far_away_are_rejected():
    assert power((10, 3, 50), 0.5, 150) > 0.95
    assert power((3, 3, 10), 0.5, 150) > power((3, 3, 10), 0.2, 150) > power((3, 3, 10), 0.0, 150)


def rejection_rows(n):
    """Rows of the table of rejections in percent."""
    for cell in CELLS:
        for truth in TRUTHS if cell[1] > 1 else TRUTHS[:1]:
            yield ", ".join(map(str, cell)), truth, [100 * rate for rate in share_rejected(cell, truth, n)]


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    for cell, truth, rates in rejection_rows(size):
        print(cell.ljust(12), truth.ljust(8), *(f"{rate:6.1f}" for rate in rates), flush=True)
    for cell in POWER_CELLS:
        print(str(cell).ljust(14), *(f"{100 * power(cell, share, size // 4):6.1f}" for share in MOVED), flush=True)
    for cell in SHARE_CELLS:
        mean, covered = share_covered(*cell, max(size // 20, 1))
        print(str(cell).ljust(14), f"{mean:.3f} {100 * covered:6.1f}", flush=True)
