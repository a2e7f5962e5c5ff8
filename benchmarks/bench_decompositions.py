"""Time the decompositions of uncertainty, relative to that of entropy and to the plain formulas.

Run: python benchmarks/bench_decompositions.py   (under a minute, one core)

"plain" is the definition in a few lines of NumPy over the whole array (n, M, K): total, aleatoric part, and their
difference. Before anything is timed, both are compared. Expected pairwise KL in plain NumPy takes O(M²), so it runs on a
subsample.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

# One core for everybody; the libraries read this when they are loaded.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import uqassay as uq
from uqassay.measures import decompose, decomposition_names, proper_score_decomposition

SIZES = ((10_000, 10, 10), (2_000, 50, 3), (2_000, 10, 100))  # instances, members, classes
SUBSAMPLE = 200  # instances of the plain pairwise divergence
REPEATS = 3
ALIASES = ("brier", "log")

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def best_time(call: Callable[[], object]) -> float:
    """Seconds of the fastest of a few calls."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1)


def gini(p: np.ndarray) -> np.ndarray:
    return (p * (1 - p)).sum(axis=-1)


def binary_entropies(p: np.ndarray) -> np.ndarray:
    return entropy(np.stack([p, 1 - p], axis=-1)).sum(axis=-1)


GENERALISED = {
    "information-theoretic": entropy,
    "variance": gini,
    "label-wise": binary_entropies,
    "zero-one": lambda p: 1 - p.max(axis=-1),
    "spherical": lambda p: 1 - np.sqrt((p * p).sum(axis=-1)),
}


def plain(p: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Total, aleatoric and epistemic part of members (n, M, K)."""
    total, aleatoric = GENERALISED[name](p.mean(axis=1)), GENERALISED[name](p).mean(axis=1)
    return total, aleatoric, total - aleatoric


def plain_pairwise(p: np.ndarray) -> np.ndarray:
    """Expected KL divergence between two members, over all pairs."""
    log = np.log(p)
    return (p[:, :, None] * (log[:, :, None] - log[:, None])).sum(axis=-1).mean(axis=(1, 2))


def compare(n: int, m: int, k: int) -> None:
    rng = np.random.default_rng(0)
    members = uq.Members(rng.dirichlet(np.full(k, 0.5), (n, m)))
    base = best_time(lambda: decompose(members))
    print(f"\n{n} instances, {m} members, {k} classes; information-theoretic: {base * 1e3:.0f} ms")
    print(f"{'decomposition':<24}{'of that':>9}{'plain':>9}")
    for name in (name for name in decomposition_names(members) if name not in ALIASES):
        found, expected = decompose(members, name), plain(members.probs, name)
        for part, values in zip((found.total, found.aleatoric, found.epistemic), expected, strict=True):
            assert np.allclose(part, values, atol=1e-10), name
        ours = best_time(lambda name=name: decompose(members, name))
        theirs = best_time(lambda name=name: plain(members.probs, name))
        print(f"{name:<24}{ours / base:>9.2f}{theirs / base:>9.2f}")
    few = np.maximum(members.probs[:SUBSAMPLE], 1e-300)
    pairwise = proper_score_decomposition(members, "log", reference="pairwise").epistemic
    finite = np.isfinite(pairwise[:SUBSAMPLE])
    assert np.allclose(pairwise[:SUBSAMPLE][finite], plain_pairwise(few)[finite])
    ours = best_time(lambda: proper_score_decomposition(members, "log", reference="pairwise"))
    theirs = best_time(lambda: plain_pairwise(few)) * n / len(few)
    print(f"{'pairwise KL':<24}{ours / base:>9.2f}{theirs / base:>9.2f}")
    shape = (n, m, k)
    logits = uq.GaussianLogits(rng.normal(size=shape), rng.gamma(1.0, size=shape), variance_is="aleatoric")
    print(f"{'gaussian-logits':<24}{best_time(lambda: decompose(logits, 'gaussian-logits')) / base:>9.2f}{'–':>9}")


if __name__ == "__main__":
    for size in SIZES:
        compare(*size)
