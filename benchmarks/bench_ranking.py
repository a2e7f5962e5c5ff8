"""Time UQ-AUC, UQ-C-index and AURC with their intervals, side by side with what people use for the plain numbers.

Run: python benchmarks/bench_ranking.py [LARGEST]   (LARGEST 1e7 unless given; about two minutes)

10 % of the instances are mistakes; scores are normal, shifted by 1 for mistakes, and the gap is a noisy function of them.
scikit-learn and torchmetrics give the area alone, lifelines and SciPy's kendalltau the concordance alone; ours come with
standard error and interval. All see the same arrays in one run; the shortest of three runs counts (of one where a run takes
over ten seconds). lifelines, which walks through the instances in Python, is left out above 1e6.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

from uqassay.metrics.ranking.auc_and_c_index import uq_auc_score, uq_c_index_score
from uqassay.metrics.risk.risk_areas import aurc_loss

SIZES = (100_000, 1_000_000, 10_000_000)
LIFELINES_UP_TO = 1_000_000


def area_peers() -> dict[str, Callable[[np.ndarray, np.ndarray], float]]:
    """Functions of (errors, uncertainty) that give the area, of what is installed."""
    peers: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {}
    try:
        from sklearn.metrics import roc_auc_score

        peers["scikit-learn"] = roc_auc_score
    except ImportError:
        pass
    try:
        import torch
        from torchmetrics.functional.classification import binary_auroc

        def torch_area(errors: np.ndarray, scores: np.ndarray) -> float:
            # a sigmoid keeps the order and the scores inside [0, 1], as torchmetrics asks
            return float(binary_auroc(torch.sigmoid(torch.from_numpy(scores)), torch.from_numpy(errors).long()))

        peers["torchmetrics"] = torch_area
    except ImportError:
        pass
    return peers


def concordance_peers(n: int) -> dict[str, Callable[[np.ndarray, np.ndarray], float]]:
    """Functions of (gap, uncertainty) that give the C-index, of what is installed."""
    peers = {"SciPy kendalltau": lambda gap, s: 0.5 + 0.5 * float(kendalltau(gap, s).statistic)}
    if n <= LIFELINES_UP_TO:
        try:
            from lifelines.utils import concordance_index

            peers["lifelines"] = concordance_index
        except ImportError:
            pass
    return peers


def seconds(function: Callable[[], object]) -> float:
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
        if best > 10:
            break
    return best


def compare(title: str, ours: Callable[[], float], peers: dict[str, Callable[[], float]], tolerance: float) -> None:
    value, own = float(ours()), seconds(ours)
    print(f"  {title:34} {own:8.3f} s")
    for name, function in peers.items():
        theirs = float(function())
        assert abs(theirs - value) < tolerance, (name, theirs, value)
        taken = seconds(function)
        print(f"  {name:34} {taken:8.3f} s   {taken / own:6.1f} times ours")


def main(largest: float) -> None:
    for n in (size for size in SIZES if size <= largest):
        rng = np.random.default_rng(0)
        errors = rng.random(n) < 0.1
        scores = rng.normal(size=n) + errors
        gap = scores + rng.normal(size=n)
        print(f"n = {n:,}")
        compare(
            "UQ-AUC with DeLong interval",
            lambda: uq_auc_score(errors, scores),  # noqa: B023
            {name: lambda f=f: f(errors, scores) for name, f in area_peers().items()},  # noqa: B023
            2e-4,  # torchmetrics computes in float32
        )
        compare(
            "UQ-C-index with interval",
            lambda: uq_c_index_score(gap, scores),  # noqa: B023
            {name: lambda f=f: f(gap, scores) for name, f in concordance_peers(n).items()},  # noqa: B023
            1e-9,
        )
        for title, s in (
            ("AURC with interval", scores),
            ("the same, 97 % of the scores tied", np.minimum(scores, -1.8)),
        ):
            compare(title, lambda s=s: aurc_loss(errors, s), {}, 0.0)  # noqa: B023


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1e7)
