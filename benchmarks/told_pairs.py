"""How many pairs of real models a test set can tell: the tests of an assay beside Student's t with Bonferroni.

Run: python -m benchmarks.told_pairs FOLDER            CIFAR-10 at four sizes, and single against double precision (two minutes)
     python -m benchmarks.told_pairs FOLDER --sixteen  sixteen test sets of 150 to 10,000 cases (three minutes)

FOLDER holds, for the 10,000 test images of CIFAR-10, the classes in `labels.npy`, `three_networks.npz` with `probs`
(10000, 3, 10), and `snn.npz` and `deep_ensemble_average.npz` with `probs` (10000, 10). The package has none of these files. The
other sets are classifiers of scikit-learn on its data of breast cancer and digits, and on generated tables like cover types.

Each n is drawn several times. A pair is told against the order where the mean losses on all images say the opposite. The last
line counts the pairs that are told in double precision and not in single precision, or the other way round.
"""

import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import uqassay as uq

SIZES, DRAWS, METRICS = (300, 500, 1000, 3000), 20, ("log-loss", "brier")
OF_CIFAR, OF_DIGITS, OF_COVER = (300, 500, 1000, 3000, 10000), (200, 400, 900), (200, 500, 1000, 2000, 5000)


class Told(NamedTuple):
    """Pairs that are told, and whether the first has the lower mean; by the assay and by Student's t with Bonferroni."""

    ours: dict[tuple[str, str], bool]
    t: dict[tuple[str, str], bool]


def models_of(folder: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Probabilities (n, K) by model, and the classes."""
    three = np.load(folder / "three_networks.npz")["probs"]
    found = {f"network {k + 1}": three[:, k] for k in range(3)} | {"mean of three": three.mean(axis=1)}
    found |= {name: np.load(folder / f"{name}.npz")["probs"] for name in ("snn", "deep_ensemble_average")}
    return found, np.load(folder / "labels.npy")


def told(models: dict[str, np.ndarray], y: np.ndarray, metric: str) -> Told:
    """Pairs that are told by the mean E of the models, which is this loss as none of them has a set."""
    predictions = {name: uq.Point(p) for name, p in models.items()}
    options: dict[str, Any] = {"calibration": (), "scales": (), "n_draws": 20, "measures": ()}
    a = uq.assay(predictions, y, distance={"log-loss": "kl", "brier": "brier"}[metric], **options)
    ranks, pairs = a.rank_sets(), list(combinations(models, 2))
    ours = {(i, j): ranks.is_better(i, j) for i, j in pairs if ranks.is_better(i, j) or ranks.is_better(j, i)}
    losses = {name: a.loss(name)[0] for name in models}
    tested = {(i, j): stats.ttest_rel(losses[i], losses[j]) for i, j in pairs}
    alpha = 0.05 / len(pairs)
    return Told(ours, {pair: t.statistic < 0 for pair, t in tested.items() if t.pvalue <= alpha})


# -- sixteen sets ----------------------------------------------------------------------------------------------------------


def sixteen(folder: Path) -> Iterator[tuple[str, dict[str, np.ndarray], np.ndarray]]:
    """Name, models and labels of each set."""
    from sklearn import datasets

    rng = np.random.default_rng(0)
    models, y = models_of(folder)
    for n in OF_CIFAR:
        rows = rng.choice(len(y), n, replace=False)
        yield f"CIFAR-10, {n:,}", {name: p[rows].astype(np.float64) for name, p in models.items()}, y[rows]
    for n in (150, 285):
        yield f"breast cancer, {n}", *trained(*datasets.load_breast_cancer(return_X_y=True), n)
    for n in OF_DIGITS:
        yield f"digits, {n}", *trained(*datasets.load_digits(return_X_y=True), n)
    for n in OF_COVER:
        shape = {"n_samples": n + 3000, "n_features": 30, "n_informative": 12, "n_classes": 7, "random_state": 1}
        yield f"like cover types, {n:,}", *trained(*datasets.make_classification(flip_y=0.05, **shape), n)
    shape = {"n_samples": 4000, "n_features": 20, "n_informative": 6, "n_classes": 2, "random_state": 2}
    yield "two classes, 1,000", *trained(*datasets.make_classification(flip_y=0.1, **shape), 1000)


def trained(x: np.ndarray, y: np.ndarray, n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Probabilities of five classifiers for n test cases, trained on the others."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    order = np.random.default_rng(n).permutation(len(y))
    test, train = order[:n], order[n:]
    made = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "forest": RandomForestClassifier(200, random_state=0),
        "extra trees": ExtraTreesClassifier(200, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
        "naive Bayes": make_pipeline(StandardScaler(), GaussianNB()),
    }
    return {name: m.fit(x[train], y[train]).predict_proba(x[test]) for name, m in made.items()}, y[test]


def table_of_sixteen(folder: Path) -> None:
    """Told by the assay and by t, for both losses."""
    print("| test set | KL: told by uqassay, by t | Brier: told by uqassay, by t | pairs |\n|---|---|---|---|")
    totals, against = np.zeros(4, dtype=int), 0
    whole = {metric: told(*models_of(folder), metric).t for metric in METRICS}
    for name, models, y in sixteen(folder):
        counts = []
        for metric in METRICS:
            found = told(models, y, metric)
            counts += [len(found.ours), len(found.t)]
            if name.startswith("CIFAR"):
                against += sum(
                    pair in whole[metric] and whole[metric][pair] != first for pair, first in found.ours.items()
                )
        totals += counts
        pairs = len(models) * (len(models) - 1) // 2
        print(f"| {name} | {counts[0]}, {counts[1]} | {counts[2]}, {counts[3]} | {pairs} |", flush=True)
    print(f"| all | {totals[0]}, {totals[1]} | {totals[2]}, {totals[3]} | |")
    print(f"\nAgainst the order on all images of CIFAR-10: {against}")


# -- CIFAR-10, drawn several times -------------------------------------------------------------------------------------------


def table_of_draws(folder: Path) -> None:
    """Shares of all pairs that are told, and verdicts in single precision."""
    models, y = models_of(folder)
    rng = np.random.default_rng(0)
    print(
        "| n | loss | uqassay, % told | t with Bonferroni, % told | against the order on all images |\n|---|---|---|---|---|"
    )
    other = every = 0
    for n in SIZES:
        for metric in METRICS:
            counts, wrong = [0, 0], [0, 0]
            whole = told(models, y, metric).t
            for _ in range(DRAWS):
                rows = rng.choice(len(y), n, replace=False)
                part = {m: p[rows].astype(np.float64) for m, p in models.items()}
                in_single = told({m: p.astype(np.float32) for m, p in part.items()}, y[rows], metric).ours
                in_double = told(part, y[rows], metric)
                other += len(in_single.items() ^ in_double.ours.items())
                every += len(part) * (len(part) - 1) // 2
                for k, found in enumerate(in_double):
                    counts[k] += len(found)
                    wrong[k] += sum(pair in whole and whole[pair] != first for pair, first in found.items())
            all_pairs = DRAWS * len(models) * (len(models) - 1) // 2
            shares = [f"{100 * count / all_pairs:.0f}" for count in counts]
            print(f"| {n:,} | {metric} | {shares[0]} | {shares[1]} | {wrong[0]}, {wrong[1]} |", flush=True)
    print(f"\nAnother verdict in single precision: {other:,} of {every:,} pairs")


if __name__ == "__main__":
    (table_of_sixteen if "--sixteen" in sys.argv else table_of_draws)(Path(sys.argv[1]))
