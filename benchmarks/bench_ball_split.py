"""Time the split by balls in the plane and in fifty dimensions, side by side with trees and with a plain loop.

Run: python benchmarks/bench_ball_split.py   (about two minutes on one core)

In the plane the data are the toy grid of the paper on epistemic gain, 142,693 points; in fifty dimensions 270,000 points of
49 round groups with falling variances, which is the size of Kuzushiji-49 after the principal components. `BallSplit` tries
2,000 random rows. The others only find the members of the balls: a tree of SciPy or scikit-learn, its construction included,
and a loop over centres in NumPy. They do so for a few centres, and the time is extrapolated to 2,000. All must find the same
members. The yardstick for the machine is `numpy.sort` of as many random numbers.
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
from scipy.spatial import cKDTree

from uqassay.lab.datasets import BallSplit, cluster_grid, suggested_radius
from uqassay.lab.datasets.ball_split import RadiusSearch

CANDIDATES = 2000
FEW = 60  # centres of the peers


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time, which is the wall time of one thread on an idle machine; and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def fifty_dimensions(n: int = 270_000) -> np.ndarray:
    g = np.random.default_rng(0)
    centres = 3.0 * g.standard_normal((49, 50))
    scatter = g.standard_normal((n, 50)) * np.linspace(2.0, 0.3, 50)
    return (centres[g.integers(0, 49, n)] + scatter).astype(np.float32)


def ball_tree(points: np.ndarray) -> Any:
    from sklearn.neighbors import BallTree

    return BallTree(points)


def of_loop(points: np.ndarray, centres: np.ndarray, radius: float) -> list[np.ndarray]:
    wide = points.astype(np.float64)
    return [np.flatnonzero(((wide - centre) ** 2).sum(axis=1) <= radius**2) for centre in centres.astype(np.float64)]


def compare(name: str, points: np.ndarray, radius: float) -> None:
    n = len(points)
    numbers = np.random.default_rng(0).random(n)
    sort, _ = seconds(lambda: np.sort(numbers))
    split = BallSplit(radius, n_candidates=CANDIDATES, min_neighbours=100)
    ours, division = seconds(lambda: split.divide(points))
    centres = points[np.random.default_rng(1).choice(n, FEW, replace=False)]
    expected = [np.flatnonzero(inside) for inside in RadiusSearch(points, radius).each(centres)]
    print(
        f"{name}: {n:,} points, radius {radius:.3g}, {division.sizes['balls']} balls, {division.n_overlapping:,} shared"
    )
    print(
        f"  BallSplit, {CANDIDATES:,} candidates   {ours:8.2f} s   ({ours / sort:.0f} times numpy.sort, {1e3 * sort:.1f} ms)"
    )
    for peer, build, query in (
        ("SciPy cKDTree", cKDTree, lambda tree: tree.query_ball_point(centres, radius)),
        ("scikit-learn BallTree", ball_tree, lambda tree: tree.query_radius(centres, radius)),
        ("a loop in NumPy", lambda _: None, lambda _: of_loop(points, centres, radius)),
    ):  # fmt: skip
        building, tree = seconds(lambda build=build: build(points))
        asking, found = seconds(lambda query=query, tree=tree: query(tree))
        different = sum(len(np.setxor1d(a, b)) for a, b in zip(found, expected, strict=True))
        assert different <= 1e-5 * sum(map(len, expected)), (peer, different)  # trees add up in another order
        total = building + asking * CANDIDATES / FEW
        print(f"  {peer:22s} members only {total:8.2f} s   {total / ours:6.1f} times ours", flush=True)


if __name__ == "__main__":
    BallSplit(1.0, centres=[[3, 3]]).divide(cluster_grid(2000).X)  # the first call of a library is slower
    compare("plane", cluster_grid().X, 1.5)
    many = fifty_dimensions()
    taken, found_radius = seconds(lambda: suggested_radius(many, 500))
    print(f"suggested_radius of 500 neighbours: {taken:.2f} s")
    compare("fifty dimensions", many, found_radius)
