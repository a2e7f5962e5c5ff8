"""Time the local Gaussian process and the quadrature of two classes, beside scikit-learn's process and draws.

Run: python benchmarks/bench_local_gaussian_process.py   (about a minute on one core)

The data are the toy grid of the paper on epistemic gain, 142,693 points of which 40,000 are predicted, and 116,000 points of
49 round groups in fifty dimensions, of which 10,000 are predicted. The cost of scikit-learn's classifier rises with the cube
of the number of instances; it is run on 1,500 with its kernel fixed, and its probabilities are compared. The yardsticks are
as many Cholesky factors of the size of a cell as there are cells, and `numpy.sort`. Last, the coverage of 90 % intervals of
the latent values at new points, in worlds drawn from the prior, by local and by whole processes.

CPU seconds on a shared machine: toy fit 3.8 and prediction 5.4 (accuracy .8559, best possible .8611); fifty dimensions, on
EMNIST's 116,323 images, fit 8.5 and 0.74 ms for each prediction.
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
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import uqassay as uq
from uqassay.lab.datasets import cluster_grid
from uqassay.lab.methods import LocalGaussianProcess
from uqassay.lab.methods.local_gaussian_process import rbf_kernel


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time, which is the wall time of one thread on an idle machine; and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def report(name: str, took: float) -> None:
    print(f"{name:<58} {took:9.3f} s")


def whole_protocol(name: str, x: np.ndarray, y: np.ndarray, n_test: int) -> None:
    order = np.random.default_rng(1).permutation(len(y))
    test, train = order[:n_test], order[n_test:]
    took, method = seconds(lambda: LocalGaussianProcess().fit(x[train], y[train]))
    report(f"{name}: fit on {len(train)}", took)
    took, said = seconds(lambda: method.predict_uncertainty(x[test]))
    report(f"{name}: prediction of {n_test}", took)
    print(
        f"{'':<4}accuracy {(said.labels() == y[test]).mean():.4f}, {method.n_cells_} cells, length {method.lengthscale_:.3f}"
    )
    size = len(train) // method.n_cells_
    one = np.eye(size) + 0.5
    took, _ = seconds(lambda: [np.linalg.cholesky(one) for _ in range(method.n_cells_)])
    report(f"yardstick: {method.n_cells_} Cholesky factors of size {size}", took)
    took, _ = seconds(lambda: np.sort(np.random.default_rng(0).random(len(y))))
    report(f"yardstick: numpy.sort of {len(y)}", took)


def beside_scikit_learn() -> None:
    toy = cluster_grid(2500, spread=0.35, columns=5, rows=5, rng=0)
    x, y, new = toy.X[:1500], toy.y[:1500], toy.X[1500:]
    theirs = GaussianProcessClassifier(ConstantKernel(9.0) * RBF(0.5), optimizer=None)
    took, p = seconds(lambda: theirs.fit(x, y).predict_proba(new)[:, 1])
    report("scikit-learn: fit on 1500 and prediction of 1000", took)
    ours = LocalGaussianProcess(lengthscale=0.5, signal_variance=9.0)
    took, q = seconds(lambda: ours.fit(x, y).predict_proba(new)[:, 1])
    report("local: the same", took)
    print(f"{'':<4}difference in probability: mean {np.abs(p - q).mean():.4f}, greatest {np.abs(p - q).max():.4f}")


def quadrature(n: int = 40_000) -> None:
    g = np.random.default_rng(0)
    mean, variance = np.zeros((n, 2)), np.zeros((n, 2))
    mean[:, 1], variance[:, 1] = 3.0 * g.normal(size=n), np.exp(2.0 * g.normal(size=n))
    said = uq.GaussianLogits(mean, variance, variance_is="epistemic")
    took, exact = seconds(lambda: uq.measures.entropy_decomposition(said))
    report(f"quadrature: entropy decomposition of {n}", took)
    took, drawn = seconds(lambda: uq.measures.entropy_decomposition(said.members()))
    report("100 draws: the same", took)
    print(f"{'':<4}error of the draws: mean {np.abs(exact.epistemic - drawn.epistemic).mean():.4f} nats")


def coverage(signal_variance: float, n_worlds: int = 100) -> None:
    options = {"local": {"cell_size": 100, "n_neighbours": 64}, "whole": {"cell_size": 300, "n_neighbours": 300}}
    inside: dict[str, list[float]] = {name: [] for name in options}
    for seed in range(n_worlds):
        g = np.random.default_rng(seed)
        x = g.uniform(-2, 2, size=(400, 2))
        latent = np.linalg.cholesky(rbf_kernel(x, 0.5, signal_variance) + 1e-8 * np.eye(400)) @ g.normal(size=400)
        y = (g.random(400) < expit(latent)).astype(int)
        for name, chosen in options.items():
            method = LocalGaussianProcess(lengthscale=0.5, signal_variance=signal_variance, **chosen)
            mean, variance = method.fit(x[:300], y[:300]).latent(x[300:])
            inside[name].append(float((np.abs(latent[300:, None] - mean) < 1.645 * np.sqrt(variance)).mean()))
    found = ", ".join(f"{name} {np.mean(shares):.3f}" for name, shares in inside.items())
    error = np.std(inside["local"]) / np.sqrt(n_worlds)
    print(f"coverage of 90 % intervals, signal variance {signal_variance}: {found} (standard error {error:.3f})")


if __name__ == "__main__":
    toy = cluster_grid(142_693, spread=0.35, rng=0)
    best = toy.probs.max(axis=1).mean()
    whole_protocol(f"toy (best possible accuracy {best:.4f})", toy.X, toy.y, 40_000)
    g = np.random.default_rng(0)
    group = g.integers(0, 49, 116_000)
    points = (2.0 * g.standard_normal((49, 50)))[group] + g.standard_normal((116_000, 50)) * np.linspace(3.0, 0.5, 50)
    whole_protocol("fifty dimensions", points, group % 2, 10_000)
    beside_scikit_learn()
    quadrature()
    for signal_variance in (4.0, 9.0):
        coverage(signal_variance)
