"""Error rate and power of the scale check's sentence, coverage of its best scale, and the time it takes.

Run: python benchmarks/bench_scale_check.py [DATA_SETS]   (1,000 data sets a cell: about five minutes on one core)

Two classes; the members of every instance span the segment centre ± w about the true label distribution, so all expectations
have a closed form. In the columns "none" λ is such that a wider set has the same expected E as the set itself, and every other
scale of the check a higher one: the share of data sets with a sentence is an error rate. First the scales are 1 and 3 alone,
whose single test is exact where the whole check is not; then all, with equal E at 1 and 1.5. "power" is with all scales and
0.7 of the second λ. The last column is the share of intervals that hold the best scale, which is 2 at a third λ.
"""

import os
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from scipy.optimize import brentq

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import uqassay as uq

CENTRE, WIDTH = 0.7, 0.05


def members(n: int) -> uq.Members:
    ends = np.array([CENTRE - WIDTH, CENTRE + WIDTH])
    return uq.Members(np.broadcast_to(np.stack([1 - ends, ends], axis=1), (n, 2, 2)))


def expected(scale: float, tradeoff: float) -> float:
    """Expected E of the scaled segment."""
    s = scale * WIDTH
    d = -CENTRE * np.log(min(CENTRE + s, 1.0)) - (1 - CENTRE) * np.log(min(1 - CENTRE + s, 1.0))
    return float(d + tradeoff * 2 * s * np.log(2))


def tradeoff_of_best(scale: float) -> float:
    """λ at which this scale has the lowest expected E."""
    s = scale * WIDTH
    return float((CENTRE / (CENTRE + s) + (1 - CENTRE) / (1 - CENTRE + s)) / (2 * np.log(2)))


def indifferent(scale: float) -> float:
    """λ at which this scale and 1 have the same expected E."""
    return float(brentq(lambda t: expected(scale, t) - expected(1.0, t), 0.1, 5.0))


def labels(n: int, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Labels, equal inside groups with probability 1/2."""
    y = rng.random(n) < CENTRE
    if groups is None:
        return y.astype(int)
    same = (rng.random(groups.max() + 1) < CENTRE)[groups]
    return np.where(rng.random(n) < 0.5, same, y).astype(int)


def cell(n: int, n_groups: int, n_sets: int, rng: np.random.Generator) -> list[float]:
    """Shares of data sets: a false sentence of two scales and of all, a right one, an interval that holds the best scale 2."""
    groups = rng.integers(n_groups, size=n) if n_groups else None
    model, none = members(n), indifferent(1.5)
    counts = np.zeros(4)
    for _ in range(n_sets):
        y = labels(n, groups, rng)
        two = uq.assay({"m": model}, y, groups=groups, calibration=(), n_draws=1, scales=(1, 3))
        a = uq.assay({"m": model}, y, groups=groups, calibration=(), n_draws=1)
        (m,) = a.scale_check(tradeoff_of_best(2.0)).models
        said = [
            c.sentence != "" for c in (two.scale_check(indifferent(3)), a.scale_check(none), a.scale_check(0.7 * none))
        ]
        counts += [*said, m.best_low <= 2.0 <= m.best_high]
    return (counts / n_sets).tolist()


def speed() -> tuple[float, float]:
    """Seconds of ten models on 10,000 instances with ten members and classes: scaling, and one check."""
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=10_000)
    right = 0.3 * np.eye(10)[y][:, None]
    models = {f"m{j}": uq.Members(right + 0.7 * rng.dirichlet(np.full(10, 0.3), (10_000, 10))) for j in range(10)}
    taken = []
    for scales in ((), (0.0, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 5.0, 10.0)):
        start = time.perf_counter()
        a = uq.assay(models, y, calibration=(), scales=scales)
        taken.append(time.perf_counter() - start)
    start = time.perf_counter()
    a.scale_check(0.2)
    return taken[1] - taken[0], time.perf_counter() - start


def main() -> None:
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = np.random.default_rng(0)
    print(f"{n_sets} data sets a cell; λ of no gain {indifferent(3):.3f} and {indifferent(1.5):.3f}")
    print("     n  groups  none (1, 3)   none  power  interval")
    for n, n_groups in ((50, 0), (200, 0), (1000, 0), (5000, 0), (300, 10), (300, 30)):
        two, false, right, inside = cell(n, n_groups, n_sets, rng)
        print(f"{n:6d}  {n_groups or '–':>6}  {two:11.3f}  {false:5.3f}  {right:5.3f}  {inside:8.3f}", flush=True)
    scaling, check = speed()
    print(f"ten models, 10,000 instances, ten members, ten classes: {scaling:.1f} s, then {check:.2f} s for each λ")


if __name__ == "__main__":
    main()
