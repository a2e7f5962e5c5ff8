"""Error rate and power of the scale check's sentence, coverage of its best scale, and the time it takes.

Run: python -m benchmarks.bench_scale_check [DATA_SETS] [--store]   (1,000 data sets a cell: about five minutes on one core)

--store keeps the table for the guide; see benchmarks/docs_numbers.py.

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

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

import uqassay as uq
from benchmarks.stored_tables import Source, Table, golden_numbers, store
from uqassay.text import number

CENTRE, WIDTH = 0.7, 0.05
SIZES = {  # instances and groups
    "50": (50, 0),
    "200": (200, 0),
    "1,000": (1000, 0),
    "5,000": (5000, 0),
    "300 in 10 groups, correlation ¼": (300, 10),
    "300 in 30 groups, correlation ¼": (300, 30),
}
COLUMNS = (
    "instances",
    "false sentence, scales 1 and 3",
    "false sentence, all scales",
    "sentence found",
    "interval holds the best scale",
)
SOURCE = Source(
    "python -m benchmarks.bench_scale_check 500 --store",
    "benchmarks.bench_scale_check:golden",
    "about three minutes on one core",
)


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
            c.sentence() != ""
            for c in (two.scale_check(indifferent(3)), a.scale_check(none), a.scale_check(0.7 * none))
        ]
        counts += [*said, m.best_low <= 2.0 <= m.best_high]
    return (counts / n_sets).tolist()


def golden() -> object:
    """The check of two small data sets."""
    rng = np.random.default_rng(0)
    checks = (uq.assay({"m": members(n)}, labels(n, None, rng), calibration=(), n_draws=1) for n in (60, 200))
    return [model for a in checks for model in a.scale_check(1.0).models]


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
    words = [word for word in sys.argv[1:] if word != "--store"]
    n_sets = int(words[0]) if words else 1000
    numbers, rows = golden_numbers(SOURCE), []
    rng = np.random.default_rng(0)
    print(f"{n_sets} data sets a cell; λ of no gain {indifferent(3):.3f} and {indifferent(1.5):.3f}")
    print(" | ".join(COLUMNS))
    for name, (n, n_groups) in SIZES.items():
        rows.append([name, *(number(share) for share in cell(n, n_groups, n_sets, rng))])
        print(" | ".join(rows[-1]), flush=True)
    if "--store" in sys.argv:
        store("scale-check", Table(COLUMNS, rows), SOURCE, golden=numbers)
        return
    scaling, check = speed()
    print(f"ten models, 10,000 instances, ten members, ten classes: {scaling:.1f} s, then {check:.2f} s for each λ")


if __name__ == "__main__":
    main()
