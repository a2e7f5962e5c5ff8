"""Time the training of several small networks side by side against one after another, and check that they are the same.

Run: python benchmarks/bench_stacked_training.py [EPOCHS]   (100 unless given; about half a minute)

Ten networks 64-64-64-10 learn the 1,257 training digits of scikit-learn's set; the loop fits ten `StandardNetwork`, the stack
fits the same ten by `fit_together`. The second part is a whole experiment: seven sizes of the training set of wine and five
runs of an ensemble of ten, 350 networks 13-32-32-16-3, against the first ten of them one by one. All on one thread.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import torch
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split

from uqassay.lab.methods import DeepEnsemble, MCDropout, StandardNetwork, fit_together

torch.set_num_threads(1)
REPEATS = 3
FRACTIONS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
N_RUNS = 5


def fastest(work: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def digits(epochs: int) -> None:
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x, y, test_size=0.3, stratify=y, random_state=0)
    for method in (StandardNetwork(epochs=epochs), MCDropout(epochs=epochs)):
        apart = [clone(method).set_params(random_state=r) for r in range(10)]
        together = [clone(net) for net in apart]
        method.fit(x, y)  # the first call of a library is slower
        loop = fastest(lambda nets=apart: [net.fit(x, y) for net in nets])
        stack = fastest(lambda nets=together: fit_together(nets, [(x, y)] * 10))
        gap = max(
            np.abs(a.predict_proba(test_x) - b.predict_proba(test_x)).max()
            for a, b in zip(apart, together, strict=True)
        )
        accuracy = np.mean([net.score(test_x, test_y) for net in together])
        name = type(method).__name__
        print(f"digits, 10 × {name:16s} loop {loop:6.2f} s   stack {stack:6.2f} s   ratio {loop / stack:4.1f}   "
              f"largest difference {gap:.1e}   accuracy {accuracy:.3f}")  # fmt: skip


def wine(epochs: int) -> None:
    x, y = load_wine(return_X_y=True)
    estimators, datasets = [], []
    for run in range(N_RUNS):
        train_x, _, train_y, _ = train_test_split(x, y, test_size=0.2, stratify=y, random_state=run)
        for fraction in FRACTIONS:
            rows = np.concatenate(
                [np.flatnonzero(train_y == k)[: max(1, int(fraction * (train_y == k).sum()))] for k in range(3)]
            )
            estimators.append(DeepEnsemble(backbone=(32, 32, 16), epochs=int(epochs / fraction / 10), random_state=run))
            datasets.append((train_x[rows], train_y[rows]))
    stack = fastest(lambda: fit_together([clone(e) for e in estimators], datasets), 1)
    singles = [
        StandardNetwork(**{k: v for k, v in e.get_params().items() if k not in ("head", "convention", "n_members")})
        for e in estimators[: len(FRACTIONS)]
    ]
    one_run = fastest(lambda: [net.fit(*data) for net, data in zip(singles, datasets, strict=False)], 1)
    loop = one_run * N_RUNS * 10  # every other network takes as long as its like in the first run
    print(f"wine, {len(estimators) * 10} networks: loop {loop:6.1f} s (from {len(singles)} of them)   "
          f"stack {stack:6.1f} s   ratio {loop / stack:4.1f}")  # fmt: skip


if __name__ == "__main__":
    n_epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    digits(n_epochs)
    wine(n_epochs)
