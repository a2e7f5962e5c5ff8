"""Time the unified evaluation, side by side with a straightforward per-instance implementation.

Run: python benchmarks/bench_unified.py   (about a minute)

Two jobs, on members drawn from flat Dirichlet distributions:

* the paper's pipeline: lower probability of all 2^K events, Möbius inverse, clipping, non-specificity and distance;
* the generalised Hartley measure: exactly at K = 10, by 32 random orders at K = 100 and 1,000.

"plain" walks through the instances one by one and treats the events of each in array form: the paper's pipeline with the
subsets of every event looked up in a table made once, the Hartley measure with a fast Möbius transform, the estimator with
one cumulative sum per order. It runs on a subsample, and its time is per instance there, extrapolated to N. probly, if
installed, is called once per batch on a subsample in the same way. Both answers are compared before any time is printed.

With uqassay-native, "formula" is uqassay without its compiled kernels (UQASSAY_PURE=1), and "C loop" a plain loop over
instances, compiled like the kernels. The bits of kernels and formulas are compared, too. Times are processor time.
"""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # one core for everybody; read when the libraries are loaded

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import uqassay as uq
from uqassay._kernels import kernel
from uqassay.measures.hartley import order_of_classes

N = 10_000
PLAIN = 100  # instances that the plain implementation walks through
REPEATS = 3


def plain_paper(members: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """KL and non-specificity of the paper's convention, instance by instance, (n, 2)."""
    n_classes = members.shape[2]
    events = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 > 0
    sizes = events.sum(axis=1)
    subsets = [np.flatnonzero((np.arange(2**n_classes) & ~a) == 0) for a in range(2**n_classes)]
    signs = [(-1.0) ** (sizes[a] - sizes[b]) for a, b in enumerate(subsets)]
    out = np.empty((len(members), 2))
    for i, member in enumerate(members):
        lower = (member @ events.T).min(axis=0)
        masses = np.array([sign @ lower[b] for b, sign in zip(subsets, signs, strict=True)])
        masses = np.maximum(masses, 0.0)
        masses[-1] += max(0.0, 1.0 - masses.sum())
        masses /= masses.sum()
        out[i] = -np.log(masses[events[:, labels[i]]].sum()), masses @ np.log(np.maximum(sizes, 1))
    return out


def plain_hartley(members: np.ndarray) -> np.ndarray:
    """Generalised Hartley measure by the full Möbius sum, instance by instance, (n,)."""
    n_classes = members.shape[2]
    events = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 > 0
    sizes = events.sum(axis=1)
    out = np.empty(len(members))
    for i, member in enumerate(members):
        masses = (member @ events.T).min(axis=0)
        for c in range(n_classes):  # fast Möbius transform
            pairs = masses.reshape(-1, 2, 2**c)
            pairs[:, 1] -= pairs[:, 0]
        out[i] = masses @ np.log(np.maximum(sizes, 1))
    return out


def plain_order(members: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The estimator over given orders, instance by instance, (n,)."""
    n_classes = members.shape[2]
    c = uq.measures.hartley_weights(n_classes)
    out = np.zeros(len(members))
    for i, member in enumerate(members):
        for order in orders:
            sums = member[:, order].cumsum(axis=1)[:, :-1]
            forward = c @ (sums[0] - sums.min(axis=0))
            reverse = c[::-1] @ (sums.max(axis=0) - sums[0])
            out[i] += 0.5 * (forward + reverse) / len(orders)
    return out


def probly_hartley() -> Callable[[np.ndarray], np.ndarray] | None:
    """probly's generalised Hartley measure of members (n, M, K), base 2, where it is installed and has one."""
    try:
        from probly.quantification import classification
    except ImportError:
        return None
    if not hasattr(classification, "generalised_hartley"):
        return None
    classification.tqdm = lambda steps: steps  # no progress bars in a table
    return lambda members: np.asarray(classification.generalised_hartley(members, base=2)) * np.log(2)


def best_time(job: Callable[[], object], repeats: int = REPEATS) -> float:
    """Least processor time of some repeats, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


def by_formula(job: Callable[[], np.ndarray]) -> dict[str, float]:
    """Time of the job without kernels, after a look at its bits; nothing where there are no kernels."""
    if kernel("hull_imprecision") is None:
        return {}
    compiled = job()
    os.environ["UQASSAY_PURE"] = "1"
    np.testing.assert_array_equal(job(), compiled)
    seconds = best_time(job, 2)
    del os.environ["UQASSAY_PURE"]
    return {"formula": seconds}


def c_loop(probs: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Time of the paper's pipeline in plain C; nothing where it is not compiled."""
    if kernel("clipped_hull") is None:
        return {}
    from _uqassay_native import yardsticks

    np.testing.assert_allclose(
        yardsticks.clipped_terms(probs, labels)[:5], plain_paper(probs[:5], labels[:5]), atol=1e-8
    )
    return {"C loop": best_time(lambda: yardsticks.clipped_terms(probs, labels))}


def totals(labels: np.ndarray, members: uq.Members, convention: str) -> np.ndarray:
    return uq.losses.unified_loss(labels, members, convention=convention).total


def values(members: uq.Members) -> np.ndarray:
    return uq.measures.generalised_hartley(members).values


def row(name: str, ours: float, others: dict[str, float]) -> None:
    beside = "   ".join(f"{other} {seconds:8.3f} s ({seconds / ours:7.1f} x)" for other, seconds in others.items())
    print(f"{name:44s} uqassay {ours:7.4f} s   {beside}")


def main() -> None:
    """Print one line per job."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # chunks run on as many threads as there are cores
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=N)
    peer = probly_hartley()
    print(f"N = {N:,}; one core; NumPy {np.__version__}; plain and probly extrapolated from a subsample")
    sort = best_time(partial(np.sort, np.random.default_rng(1).random(10**6)))
    print(f"{uq.kernels()}; np.sort of 1e6 doubles takes {sort * 1e3:.0f} ms")
    for n_members in (15, 100):
        probs = rng.dirichlet(np.ones(10), (N, n_members))
        members = uq.Members(probs)
        loss = uq.losses.unified_loss(labels, members, convention="paper")
        expected = plain_paper(probs[:5], labels[:5])
        np.testing.assert_allclose(np.stack([loss.distance, loss.nonspecificity], axis=1)[:5], expected, atol=1e-8)
        paper = partial(totals, labels, members, "paper")
        others = by_formula(paper) | c_loop(probs, labels)
        others["plain"] = best_time(lambda p=probs: plain_paper(p[:PLAIN], labels[:PLAIN]), 1) * N / PLAIN
        row(f"paper pipeline, M = {n_members}, K = 10", best_time(paper), others)

        np.testing.assert_allclose(
            uq.measures.generalised_hartley(members).values[:5], plain_hartley(probs[:5]), atol=1e-8
        )
        hartley = partial(values, members)
        others = by_formula(hartley) | {"plain": best_time(lambda p=probs: plain_hartley(p[:PLAIN]), 1) * N / PLAIN}
        if peer is not None:
            np.testing.assert_allclose(peer(probs[:3]), plain_hartley(probs[:3]), atol=1e-6)
            others["probly"] = best_time(lambda p=probs: peer(p[:10]), 1) * N / 10
        row(f"generalised Hartley, exact, M = {n_members}, K = 10", best_time(hartley), others)
        both = partial(totals, labels, members, "exact")
        row(f"generalised Hartley and KL, M = {n_members}, K = 10", best_time(both), by_formula(both))
    for n_classes, n in ((100, 2_000), (1_000, 500)):
        probs = rng.dirichlet(np.full(n_classes, 0.1), (n, 10))
        members = uq.Members(probs)
        found = uq.measures.generalised_hartley(members)
        seed = int(np.random.default_rng(0).integers(2**63))
        orders = np.array([order_of_classes(seed, i, n_classes) for i in range(found.n_orders)])
        np.testing.assert_allclose(found.values[:3], plain_order(probs[:3], orders), atol=1e-8)
        hartley = partial(values, members)
        others = by_formula(hartley) | {
            "plain": best_time(lambda p=probs, o=orders: plain_order(p[:20], o), 1) * n / 20
        }
        error = f"standard error {found.standard_error.mean():.3f} of {found.values.mean():.2f}"
        row(f"generalised Hartley, M = 10, K = {n_classes}, N = {n}", best_time(hartley), others)
        print(f"{'':44s} {error} per instance, {found.mean_standard_error:.4f} in the mean")


if __name__ == "__main__":
    main()
