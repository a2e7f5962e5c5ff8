"""Time upper and lower entropy of probability boxes, side by side with per-instance solvers.

Run: python benchmarks/bench_credal_entropy.py   (under a minute, one core)

The boxes are the envelopes of five members drawn from a flat Dirichlet distribution. "SciPy" is the plain way: one
`scipy.optimize.minimize` (SLSQP) per instance from the members' mean, with exact gradients. It and probly run on a
small subsample; their times are per instance on that subsample, extrapolated to N. A local solver started once often
misses the lower entropy, whose minimum is one of many: the column "not optimal" counts misses by more than 1e-4 nats.
With uqassay-native, "formula" is uqassay without its compiled kernels (UQASSAY_PURE=1). Times are processor time.
"""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

# One core for everybody; the libraries read this when they are loaded.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

from uqassay._kernels import kernel, kernels
from uqassay.credal.box_entropy import box_lower_entropy, box_upper_entropy
from uqassay.credal.hull_entropy import hull_upper_entropy

SIZES = ((10, 10_000), (100, 10_000))  # classes, instances
N_MEMBERS = 5
SUBSAMPLE = {"SciPy": {10: 100, 100: 10}, "probly": {10: 40, 100: 3}}
REPEATS = 3
TINY = 1e-300


def scipy_extreme(members: np.ndarray, sign: float) -> np.ndarray:
    """SLSQP once per instance; sign = 1 for the lower entropy, -1 for the upper."""
    out = np.empty(len(members))
    for i, p in enumerate(members):
        solution = minimize(
            lambda x: -sign * float((x * np.log(np.maximum(x, TINY))).sum()),
            p.mean(axis=0),
            jac=lambda x: -sign * (np.log(np.maximum(x, TINY)) + 1.0),
            bounds=list(zip(p.min(axis=0), p.max(axis=0), strict=True)),
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": np.ones_like},
        )
        out[i] = sign * solution.fun
    return out


def probly_functions() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """probly's functions of members (n, M, K), in nats; none where it is not installed or has another interface."""
    try:
        from probly.quantification import classification
    except ImportError:
        return {}
    classification.tqdm = lambda steps: steps  # no progress bars in a table
    names = {"upper": "upper_entropy", "lower": "lower_entropy"}
    return {
        side: partial(getattr(classification, name), base=np.e)
        for side, name in names.items()
        if hasattr(classification, name)
    }


def seconds(function: Callable[[], object], repeats: int) -> float:
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def formulas(jobs: dict[str, Callable[[], np.ndarray]], found: dict[str, np.ndarray]) -> dict[str, float]:
    """Times without kernels, after a look at the values; nothing where there are no kernels."""
    if kernel("box_upper_entropy") is None:
        return {}
    os.environ["UQASSAY_PURE"] = "1"
    for side, job in jobs.items():
        np.testing.assert_allclose(job(), found[side], rtol=0, atol=2e-12)
    times = {side: seconds(job, 1) for side, job in jobs.items()}
    del os.environ["UQASSAY_PURE"]
    return times


def compare(K: int, n: int, peers: dict[str, Callable[[np.ndarray], np.ndarray]]) -> None:
    members = np.random.default_rng(0).dirichlet(np.ones(K), size=(n, N_MEMBERS))
    l, u = members.min(axis=1), members.max(axis=1)
    found = box_lower_entropy(l, u)
    exact = {"upper": box_upper_entropy(l, u), "lower": found.values}
    jobs = {"upper": lambda: box_upper_entropy(l, u), "lower": lambda: box_lower_entropy(l, u).values}
    ours = {side: seconds(job, REPEATS) for side, job in jobs.items()}
    pure = formulas(jobs, exact)
    for side, sign in (("upper", -1.0), ("lower", 1.0)):
        print(f"{K:4d} {n:6d}  {side:5s}  {'uqassay':8s} {n:6d} {ours[side] * 1e3:11.1f} ms  {'1':>8s}  {'':11s}")
        if pure:
            print(
                f"{K:4d} {n:6d}  {side:5s}  {'formula':8s} {n:6d} {pure[side] * 1e3:11.1f} ms  {pure[side] / ours[side]:8.1f}"
            )
        others = {"SciPy": partial(scipy_extreme, sign=sign)}
        if side in peers:
            others["probly"] = peers[side]
        for name, function in others.items():
            few = members[: SUBSAMPLE[name][K]]
            start = time.process_time()
            values = function(few)
            total = (time.process_time() - start) / len(few) * n
            error = values - exact[side][: len(few)]
            missed = np.mean(error > 1e-4) if side == "lower" else np.mean(error < -1e-4)
            print(
                f"{K:4d} {n:6d}  {side:5s}  {name:8s} {len(few):6d} {total * 1e3:11.0f} ms* "
                f"{total / ours[side]:8.0f}  {missed:10.0%}"
            )
    print(f"{K:4d} {n:6d}  lower: {found.steps.mean():.1f} nodes per instance, at most {found.steps.max()}")


def main() -> None:
    peers = probly_functions()
    yardstick = np.random.default_rng(0).random(10**6)
    print(f"{kernels()}; np.sort of 1e6 doubles takes {seconds(lambda: np.sort(yardstick), REPEATS) * 1e3:.0f} ms")
    print("   K      N  side   by         run on         time      ratio  not optimal")
    for K, n in SIZES:
        compare(K, n, peers)
    for n, V, K in ((10_000, 15, 10), (1_000, 100, 10)):
        points = np.random.default_rng(0).dirichlet(np.ones(K), size=(n, V))
        found = hull_upper_entropy(points)
        took = seconds(lambda points=points: hull_upper_entropy(points), REPEATS)
        print(
            f"{K:4d} {n:6d}  upper entropy over the hull of {V} points: {took * 1e3:.0f} ms, "
            f"{found.steps.mean():.1f} steps, largest gap {found.gap.max():.1e} nats"
        )
    print("* extrapolated to N from the time per instance on the number of instances in the column `run on`")
    if not peers:
        print("probly is not installed, or has another interface: not compared")


if __name__ == "__main__":
    main()
