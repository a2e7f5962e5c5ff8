"""Processor time of the ranking kernels, relative to their formulas, to sorts of the same array, kendalltau and scikit-learn.

Run: python benchmarks/bench_native.py [LARGEST]   (LARGEST 1e7 unless given; about three minutes)

UQ-AUC and UQ-C-index are the public functions, so each time includes checks, standard error and interval; "pairs" counts
concordant pairs for every instance and nothing else. 10 % of the instances are errors. The radix sort is a plain one in C++,
8 bits a pass. Times are the shortest of several runs, all in this process, on one core; only ratios of one run compare well.
np.sort differs between processors and versions of NumPy by a factor of up to ten.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
from scipy.stats import kendalltau

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import uqassay as uq
from uqassay.metrics import uq_auc_score, uq_c_index_score
from uqassay.statistics import concordance

AREA_SIZES = (10_000, 1_000_000, 10_000_000)
PAIR_SIZES = (10_000, 100_000, 1_000_000)


def cheapest(function: Callable[[], object], n: int) -> float:
    """Least processor time of several runs, in seconds."""
    best = np.inf
    for _ in range(40 if n <= 10_000 else 5 if n <= 1_000_000 else 3):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def both_ways(function: Callable[[], object], n: int) -> tuple[float, float]:
    """Time with kernels and time of the formula."""
    found = []
    for pure in ("0", "1"):
        os.environ["UQASSAY_PURE"] = pure
        found.append(cheapest(function, n))
    os.environ["UQASSAY_PURE"] = "0"
    return found[0], found[1]


def areas(native: ModuleType, largest: float) -> None:
    try:
        from sklearn.metrics import roc_auc_score
    except ImportError:
        roc_auc_score = None
    print("UQ-AUC with interval, and other times relative to it")
    print("         n  dtype     kernel   formula   radix sort   np.sort   scikit-learn")
    for n in (size for size in AREA_SIZES if size <= largest):
        rng = np.random.default_rng(0)
        errors = rng.random(n) < 0.1
        normal = rng.normal(size=n) + errors
        for scores in (normal.astype(np.float32), normal):
            own, formula = both_ways(lambda: uq_auc_score(errors, scores), n)  # noqa: B023
            sort = cheapest(lambda: native.yardsticks.radix_sort(scores), n)  # noqa: B023
            fast = cheapest(lambda: np.sort(scores), n)  # noqa: B023
            peer = cheapest(lambda: roc_auc_score(errors, scores), n) if roc_auc_score else np.nan  # noqa: B023
            print(
                f"{n:10,}  {scores.dtype}  {1e3 * own:7.2f} ms {formula / own:7.2f} {sort / own:10.2f} {fast / own:10.2f}"
                f" {peer / own:12.1f}",
                flush=True,
            )


def orders(n: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Truth and scores."""
    rng = np.random.default_rng(0)
    truth, other = rng.random(n), rng.random(n)
    for ties, decimals in (("", 17), (", tied", 2)):
        g, s = truth.round(decimals), other.round(decimals)
        yield f"random{ties}", g, s
        yield f"concordant{ties}", g, g
        yield f"discordant{ties}", g, -g


def pairs(largest: float) -> None:
    print("Concordant pairs of every instance, and other times relative to them")
    print("         n  order                kernel   formula   kendalltau   UQ-C-index with interval")
    for n in (size for size in PAIR_SIZES if size <= largest):
        for name, g, s in orders(n):
            own, formula = both_ways(lambda: concordance(g, s), n)  # noqa: B023
            tau = cheapest(lambda: kendalltau(g, s), n)  # noqa: B023
            whole = cheapest(lambda: uq_c_index_score(g, s), n)  # noqa: B023
            print(
                f"{n:10,}  {name:18} {1e3 * own:7.2f} ms {formula / own:7.2f} {tau / own:10.2f} {whole / own:12.2f}",
                flush=True,
            )


def main(largest: float) -> None:
    os.environ["UQASSAY_PURE"] = "0"
    print(uq.kernels())
    if not uq.kernels().names:
        sys.exit(1)
    import _uqassay_native

    areas(_uqassay_native, largest)
    pairs(largest)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1e7)
