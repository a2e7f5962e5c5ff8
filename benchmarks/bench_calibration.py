"""Time the search for the best calibrated mixture of an ensemble, side by side with SciPy's COBYLA.

Run: python benchmarks/bench_calibration.py [DATA SETS] [MEASURE,...]   (1000 and all unless given; two minutes on two cores)

Every data set has 100 instances, 10 classes and 10 members ~ Dir(K p / u) around p ~ Dir(1/K), u = 0.01, 0.1 or 1; its labels
come from a random mixture of the members, or from a point between their mean and the most probable class. COBYLA starts
from equal weights with its default tolerances, once on a plain loop over instances, bins and classes for one mixture (how
such code is usually written) and once on our own batched measures with one mixture at a time. Its infeasible end points
are projected. Distances are in standard deviations of the measure under calibration.

The second part is what the test of paper 001 needs for many data sets: for each of four measures 100 weights ~ Dir(1), labels
drawn from these mixtures, the measure of each, and the minimum over all mixtures, on as many processes as there are cores.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# One thread each; the libraries read this when they are loaded.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

from uqassay._array import available_cores
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.simplex_search import PATIENT, QUICK, THOROUGH, onto_simplex, search_simplex
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES

N, M, K = 100, 10, 10
SETTINGS = [(u, scenario) for u in (0.01, 0.1, 1.0) for scenario in ("S1", "S2")]
N_COMPARED = 12
N_DRAWS = 100


# -- data ---------------------------------------------------------------------------------------------------------------


def dirichlet(alpha: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirichlet draws for parameters (..., K) however small, in logarithms: G(a) = G(a + 1) U^(1/a)."""
    with np.errstate(divide="ignore"):
        logs = np.log(rng.standard_gamma(alpha + 1)) + np.log(rng.random(alpha.shape)) / np.maximum(alpha, 1e-300)
    parts = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return parts / parts.sum(axis=-1, keepdims=True)


def simulated(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([2026, seed])
    u, scenario = SETTINGS[seed % len(SETTINGS)]
    centre = dirichlet(np.full((N, K), 1 / K), rng)
    members = dirichlet(np.repeat(K * centre[:, np.newaxis] / u, M, axis=1), rng)
    if scenario == "S1":
        truth = np.einsum("m,nmk->nk", rng.dirichlet(np.ones(M)), members)
    else:
        share = rng.random((N, 1))
        truth = (1 - share) * members.mean(axis=1) + share * np.eye(K)[centre.argmax(axis=1)]
    return members, (np.cumsum(truth, axis=1)[:, :-1] <= rng.random((N, 1))).sum(axis=1)


# -- the plain way: one mixture, loops over bins and classes ------------------------------------------------------------


def plain_confidence(probs: np.ndarray, labels: np.ndarray, n_bins: int = 10) -> float:
    confidence, correct, total = probs.max(axis=1), probs.argmax(axis=1) == labels, 0.0
    for b in range(n_bins):
        inside = (confidence > b / n_bins) & (confidence <= (b + 1) / n_bins)
        if inside.any():
            total += abs(correct[inside].mean() - confidence[inside].mean()) * inside.mean()
    return total


def plain_classwise(probs: np.ndarray, labels: np.ndarray, n_bins: int = 10) -> float:
    total = 0.0
    for k in range(probs.shape[1]):
        for b in range(n_bins):
            inside = (probs[:, k] > b / n_bins) & (probs[:, k] <= (b + 1) / n_bins)
            if b == 0:
                inside |= probs[:, k] == 0
            if inside.any():
                total += abs((labels[inside] == k).mean() - probs[inside, k].mean()) * inside.mean()
    return total / probs.shape[1]


def plain_kuiper(probs: np.ndarray, labels: np.ndarray) -> float:
    confidence, correct = probs.max(axis=1), probs.argmax(axis=1) == labels
    total, greatest, least = 0.0, 0.0, 0.0
    for value in np.unique(confidence):
        total += (confidence - correct)[confidence == value].sum()
        greatest, least = max(greatest, total), min(least, total)
    return (greatest - least) / len(probs)


def plain_hosmer_lemeshow(probs: np.ndarray, labels: np.ndarray, n_bins: int = 5) -> float:
    total = 0.0
    for k in range(probs.shape[1]):
        starts = np.sort(probs[:, k])[np.arange(1, n_bins) * len(probs) // n_bins]
        place = np.searchsorted(starts, probs[:, k], side="right")
        merged = [[0.0, 0]]  # expected and observed events of bins that are joined until they expect one event
        for b in range(n_bins):
            inside = place == b
            expected, observed = probs[inside, k].sum(), (labels[inside] == k).sum()
            if expected == 0 and observed > 0:
                return float("inf")
            merged[-1] = [merged[-1][0] + expected, merged[-1][1] + observed]
            if merged[-1][0] >= 1:
                merged.append([0.0, 0])
        if len(merged) > 1:
            rest = merged.pop()
            merged[-1] = [merged[-1][0] + rest[0], merged[-1][1] + rest[1]]
        total += sum((observed - expected) ** 2 / expected for expected, observed in merged if expected > 0)
    return float(total)


def plain_skce(probs: np.ndarray, labels: np.ndarray) -> float:
    one_hot, total = np.eye(probs.shape[1])[labels], 0.0
    for i in range(0, len(probs) // 2 * 2, 2):
        kernel = np.exp(-np.abs(probs[i] - probs[i + 1]).sum() / 2)
        total += kernel * (probs[i] - one_hot[i]) @ (probs[i + 1] - one_hot[i + 1])
    return float(total / (len(probs) // 2))


PLAIN: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "ece-confidence": plain_confidence,
    "kuiper-confidence": plain_kuiper,
    "ece-classwise": plain_classwise,
    "hosmer-lemeshow": plain_hosmer_lemeshow,
    "skce-ul": plain_skce,
}
PAPER = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")


# -- one minimisation ---------------------------------------------------------------------------------------------------


def cobyla(function: Callable[[np.ndarray], float]) -> tuple[np.ndarray, int]:
    from scipy.optimize import minimize

    constraints = [
        {"type": "ineq", "fun": lambda weights: weights},
        {"type": "ineq", "fun": lambda weights: weights.sum() - 1},
        {"type": "ineq", "fun": lambda weights: 1 - weights.sum()},
    ]
    end = minimize(function, np.full(M, 1 / M), method="COBYLA", constraints=constraints)
    return onto_simplex(end.x), int(end.nfev)


def compare(name: str) -> None:
    """One row for each way of minimising this measure, on the same data sets."""
    measure, rows = CALIBRATION_MEASURES[name], []
    for i in (0, *range(N_COMPARED)):  # the first once more, before the clock counts
        members, labels = simulated(i)
        mixtures, rng = Mixtures(members), np.random.default_rng(i)
        objective = MixtureObjective(mixtures, labels[np.newaxis], measure)

        def fast(weights: np.ndarray, objective: MixtureObjective = objective) -> float:
            return float(objective.shared(weights[np.newaxis])[0, 0])

        def plain(weights: np.ndarray, members: np.ndarray = members, labels: np.ndarray = labels) -> float:
            return PLAIN[name](np.einsum("m,nmk->nk", weights, members), labels)

        weights = np.linspace(1, 2, M) / np.linspace(1, 2, M).sum()
        assert abs(plain(weights) - fast(weights)) <= 1e-9 * max(1, abs(fast(weights))), name
        truths = rng.dirichlet(np.ones(M), N_DRAWS)
        sd = measure.prepare(mixtures.probs(truths)).values(mixtures.draw_labels(truths, rng)).std()
        row = []
        for search in (THOROUGH, QUICK, PATIENT):
            start = time.process_time()
            found = search_simplex(objective, search, np.random.default_rng(i))
            row.append((time.process_time() - start, found.values[0] / sd, found.evaluations))
        for function in (plain, fast):
            start = time.process_time()
            end, evaluations = cobyla(function)
            row.append((time.process_time() - start, fast(end) / sd, evaluations))
        rows.append(row)
    table = np.array(rows[1:])  # data set, way, (seconds, value, evaluations)
    own = table[:, 0]
    for j, way in enumerate(
        ("uqassay, thorough", "uqassay, quick", "uqassay, patient", "COBYLA, plain loop", "COBYLA, batched code")
    ):
        took, _, evaluations = table[:, j].mean(axis=0)
        line = f"{name:16} {way:22} {took * 1e3:8.1f} ms {took / own[:, 0].mean():7.1f} {evaluations:8.0f}"
        gap = table[:, j, 1] - own[:, 1]
        print(line if j == 0 else f"{line} {np.median(gap):10.3f} {np.mean(gap < -1e-9):12.0%}", flush=True)


# -- a thousand data sets -----------------------------------------------------------------------------------------------


def all_measures(seed: int) -> dict[str, float]:
    """p-values of one data set, the random null."""
    members, labels = simulated(seed)
    mixtures, rng = Mixtures(members), np.random.default_rng(seed)
    pvalues = {}
    for name in PAPER:
        measure = CALIBRATION_MEASURES[name]
        truths = rng.dirichlet(np.ones(M), N_DRAWS)
        null = measure.prepare(mixtures.probs(truths)).values(mixtures.draw_labels(truths, rng))
        least = search_simplex(MixtureObjective(mixtures, labels[np.newaxis], measure), THOROUGH, rng).values[0]
        pvalues[name] = (1 + float((null >= least).sum())) / (N_DRAWS + 1)
    return pvalues


def main(n_sets: int, names: Sequence[str]) -> None:
    print(f"Minimum over mixtures of {M} members, {N} instances, {K} classes: means over {N_COMPARED} data sets")
    print("measure          by                         time    ratio   judged  median gap  ours is above")
    for name in names:
        compare(name)
    if not n_sets:
        return
    cores = available_cores()
    start = time.perf_counter()
    with ProcessPoolExecutor(cores) as pool:
        found = list(pool.map(all_measures, range(n_sets), chunksize=max(1, min(20, n_sets // cores))))
    took = time.perf_counter() - start
    print(f"{n_sets} data sets, 4 measures, {N_DRAWS} draws and a minimum each: {took:.1f} s on {cores} cores")
    for j, (u, scenario) in enumerate(SETTINGS):
        shares = ", ".join(
            f"{name} {np.mean([f[name] <= 0.05 for f in found[j :: len(SETTINGS)]]):.3f}" for name in PAPER
        )
        print(f"  rejected at 0.05, random null, u = {u:g}, {scenario}: {shares}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2].split(",") if len(sys.argv) > 2 else tuple(PLAIN))
