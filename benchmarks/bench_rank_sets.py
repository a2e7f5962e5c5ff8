"""Time the rank sets of fifty models on 10,000 instances at ten λ, beside a loop of SciPy's paired t test over the pairs.

Run: python benchmarks/bench_rank_sets.py   (about ten seconds)

The loop finds Student's p-values alone, of the same pairs of models (without the baselines). Both must find the same ones. Then
groups of ten instances, and the shares of resamples. The yardstick for the machine is `numpy.sort` of as many random numbers as
one λ compares.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np
import scipy.stats

import uqassay as uq

MODELS, INSTANCES, TRADEOFFS = 50, 10_000, tuple(i / 10 for i in range(1, 11))


def seconds(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU time, wall time and the result."""
    start, wall = time.process_time(), time.perf_counter()
    result = work()
    return time.process_time() - start, time.perf_counter() - wall, result


def models(rng: np.random.Generator, y: np.ndarray) -> dict[str, uq.Intervals]:
    """Intervals around probabilities that are right by ever more."""
    found = {}
    for k in range(MODELS):
        p = rng.beta(4 + 0.05 * k, 1.5, INSTANCES)
        probs = np.where(np.arange(3) == y[:, np.newaxis], p[:, np.newaxis], (1 - p[:, np.newaxis]) / 2)
        found[f"model {k}"] = uq.Intervals(0.95 * probs, np.minimum(0.95 * probs + 0.05, 1.0))
    return found


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=INSTANCES)
    told = models(rng, y)
    options: dict[str, Any] = {"calibration": (), "measures": ("total-entropy",)}
    a = uq.assay(told, y, **options)
    grouped = uq.assay(told, y, groups=np.arange(INSTANCES) // 10, **options)
    losses = np.stack([a.loss(name, TRADEOFFS[0])[0] for name in a.model_names])
    first, second = np.triu_indices(MODELS, 1)

    def peer() -> np.ndarray:
        pairs = zip(first, second, strict=True)
        return np.array([scipy.stats.ttest_rel(losses[i], losses[j]).pvalue for i, j in pairs])

    def plain() -> uq.statistics.PairwiseComparisons:
        return uq.statistics.pairwise_mean_tests(dict(zip(a.model_names, losses, strict=True)))

    numbers = rng.random(len(first) * INSTANCES)
    rows: list[tuple[str, Callable[[], Any]]] = [
        ("rank sets at 10 λ", lambda: [a.rank_sets(at) for at in TRADEOFFS]),
        ("rank sets at 10 λ, 1,000 groups", lambda: [grouped.rank_sets(at) for at in TRADEOFFS]),
        ("shares of resamples at 10 λ", lambda: a.win_shares(TRADEOFFS)),
        ("one λ: all pairs, three p-values", plain),
        ("one λ: loop of scipy.stats.ttest_rel", peer),
        (f"numpy.sort of {len(numbers):,} numbers", lambda: np.sort(numbers)),
    ]
    results = {}
    print(f"{MODELS} models, {INSTANCES:,} instances, {len(first):,} pairs")
    for name, work in rows:
        cpu, wall, results[name] = seconds(work)
        print(f"{name:40s} {cpu:7.2f} s CPU {wall:7.2f} s wall", flush=True)
    mine, theirs = results[rows[3][0]].pvalue[first, second], results[rows[4][0]]
    same = np.isclose(mine, theirs, rtol=1e-8)
    assert (same | (mine > theirs)).all()  # the greatest of three p-values
    print(f"Student's p-values are the greatest of three in {same.mean():.0%} of the pairs")


if __name__ == "__main__":
    main()
