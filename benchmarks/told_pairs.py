"""How many pairs of real models a test set of n images can tell: the tests of an assay beside Student's t with Bonferroni.

Run: python -m benchmarks.told_pairs FOLDER   (two minutes)

FOLDER holds, for the 10,000 test images of CIFAR-10, the classes in `labels.npy`, `three_networks.npz` with `probs`
(10000, 3, 10), and `snn.npz` and `deep_ensemble_average.npz` with `probs` (10000, 10). The package has none of these files.

Each n is drawn several times. A pair is told against the order where the mean losses on all images say the opposite. The last
line counts the pairs that are told in double precision and not in single precision, or the other way round.
"""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

import uqassay as uq

SIZES, DRAWS, METRICS = (300, 500, 1000, 3000), 20, ("log-loss", "brier")


def models_of(folder: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Probabilities (n, K) by model, and the classes."""
    three = np.load(folder / "three_networks.npz")["probs"]
    found = {f"network {k + 1}": three[:, k] for k in range(3)} | {"mean of three": three.mean(axis=1)}
    found |= {name: np.load(folder / f"{name}.npz")["probs"] for name in ("snn", "deep_ensemble_average")}
    return found, np.load(folder / "labels.npy")


def told(models: dict[str, np.ndarray], y: np.ndarray, metric: str) -> dict[str, dict[tuple[str, str], bool]]:
    """Pairs that are told, by procedure, and whether the first has the lower mean."""
    a = uq.assay(
        {name: uq.Point(p) for name, p in models.items()}, y, calibration=(), scales=(), n_draws=20, measures=()
    )
    ranks, pairs = a.rank_sets(metric=metric), list(combinations(models, 2))
    ours = {(i, j): ranks.is_better(i, j) for i, j in pairs if ranks.is_better(i, j) or ranks.is_better(j, i)}
    losses = {name: a[name].columns[metric][0] for name in models}
    tested = {(i, j): stats.ttest_rel(losses[i], losses[j]) for i, j in pairs}
    alpha = 0.05 / len(pairs)
    return {"uqassay": ours, "t": {pair: t.statistic < 0 for pair, t in tested.items() if t.pvalue <= alpha}}


def main() -> None:
    models, y = models_of(Path(sys.argv[1]))
    rng = np.random.default_rng(0)
    print(
        "| n | loss | uqassay, % told | t with Bonferroni, % told | against the order on all images |\n|---|---|---|---|---|"
    )
    other = every = 0
    for n in SIZES:
        for metric in METRICS:
            counts, wrong = {"uqassay": 0, "t": 0}, {"uqassay": 0, "t": 0}
            whole = told(models, y, metric)["t"]
            for _ in range(DRAWS):
                rows = rng.choice(len(y), n, replace=False)
                part = {m: p[rows].astype(np.float64) for m, p in models.items()}
                in_single = told({m: p.astype(np.float32) for m, p in part.items()}, y[rows], metric)["uqassay"]
                in_double = told(part, y[rows], metric)
                other += len(in_single.items() ^ in_double["uqassay"].items())
                every += len(part) * (len(part) - 1) // 2
                for name, found in in_double.items():
                    counts[name] += len(found)
                    wrong[name] += sum(pair in whole and whole[pair] != first for pair, first in found.items())
            all_pairs = DRAWS * len(models) * (len(models) - 1) // 2
            shares = [f"{100 * counts[name] / all_pairs:.0f}" for name in counts]
            print(f"| {n:,} | {metric} | {shares[0]} | {shares[1]} | {wrong['uqassay']}, {wrong['t']} |", flush=True)
    print(f"\nAnother verdict in single precision: {other:,} of {every:,} pairs")


if __name__ == "__main__":
    main()
