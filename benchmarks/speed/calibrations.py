"""Workloads of calibration: errors, the least error over mixtures of an ensemble, the credal test."""

from functools import partial
from importlib.util import find_spec

import numpy as np

import uqassay as uq
from benchmarks.speed import plain
from benchmarks.speed.workload import Case, Peer, Repeats, Workload, by_formulas
from uqassay.calibration.credal import credal_calibration_tests
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.search import PATIENT, THOROUGH, search_simplex
from uqassay.metrics.measures import CALIBRATION_MEASURES

__all__ = ["CALIBRATIONS", "simulated"]

N, M, K = 100, 10, 10  # instances, members and classes of the searches
SETTINGS = [(u, scenario) for u in (0.01, 0.1, 1.0) for scenario in ("S1", "S2")]
DATA_SETS = len(SETTINGS)
N_DRAWS = 100
PAPER = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")


def dirichlet(alpha: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirichlet draws for parameters (..., K) however small, in logarithms: G(a) = G(a + 1) U^(1/a)."""
    with np.errstate(divide="ignore"):
        logs = np.log(rng.standard_gamma(alpha + 1)) + np.log(rng.random(alpha.shape)) / np.maximum(alpha, 1e-300)
    parts = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return parts / parts.sum(axis=-1, keepdims=True)


def simulated(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Members ~ Dir(K p / u) around p ~ Dir(1 / K), and labels from a random mixture or near the most probable class."""
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


def error(quick: bool, name: str) -> Case:
    n = 10_000 if quick else 100_000
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(K, 0.3), n)
    labels = (probs.cumsum(axis=1)[:, :-1] <= rng.random((n, 1))).sum(axis=1)
    call = partial(getattr(uq.metrics, f"{name}_calibration_error"), labels, probs)
    by_hand = plain.MEASURES[f"ece-{name}"]
    peers = [*by_formulas(call, 1e-12), Peer("plain NumPy", lambda: by_hand(probs, labels), tolerance=1e-10)]
    if name == "confidence" and find_spec("torchmetrics") is not None:

        def torchmetrics() -> float:
            import torch
            from torchmetrics.functional.classification import multiclass_calibration_error

            torch.set_num_threads(1)
            return float(
                multiclass_calibration_error(
                    torch.from_numpy(probs), torch.from_numpy(labels), num_classes=K, n_bins=10
                )
            )

        peers.append(Peer("torchmetrics", torchmetrics, tolerance=1e-5))
    return Case(call, float, peers, None, probs.nbytes + labels.nbytes)


def least_error(quick: bool, name: str) -> Case:
    """The least value of a measure over all mixtures of the members, for several data sets."""
    measure, count = CALIBRATION_MEASURES[name], 2 if quick else DATA_SETS
    found = [simulated(i) for i in range(count)]
    objectives = [MixtureObjective(Mixtures(members), labels[np.newaxis], measure) for members, labels in found]

    def ours(search: object = THOROUGH) -> np.ndarray:
        results = [search_simplex(o, search, np.random.default_rng(i)) for i, o in enumerate(objectives)]
        return np.array([float(one.values[0]) for one in results])

    def by_batches() -> np.ndarray:
        from uqassay.calibration.search import onto_simplex

        ends = []
        for objective in objectives:

            def value(weights: np.ndarray, objective: MixtureObjective = objective) -> float:
                return float(objective.shared(weights[np.newaxis])[0, 0])

            ends.append(value(onto_simplex(plain.cobyla(value, M))))
        return np.array(ends)

    def by_hand() -> np.ndarray:
        from uqassay.calibration.search import onto_simplex

        ends = []
        for members, labels in found[:1]:

            def value(weights: np.ndarray, members: np.ndarray = members, labels: np.ndarray = labels) -> float:
                return plain.MEASURES[name](np.einsum("m,nmk->nk", weights, members), labels)

            ends.append(value(onto_simplex(plain.cobyla(value, M))))
        return np.array(ends)

    worse = {"worse": 1, "tolerance": 1e-9}
    peers = [
        Peer("SciPy COBYLA on measures of uqassay", by_batches, **worse),
        Peer("SciPy COBYLA on plain NumPy", by_hand, rows=1, **worse),
        Peer("uqassay, PATIENT", partial(ours, PATIENT), worse=-1, tolerance=1e-9, word="lower"),
    ]
    return Case(ours, np.asarray, peers)


def credal_test(quick: bool) -> Case:
    """p-values of four measures by the random null: 100 draws of each, and the least error."""
    count = 2 if quick else 24

    def pvalues(seed: int) -> list[float]:
        members, labels = simulated(seed)
        options = {"null": "random", "n_draws": N_DRAWS, "rng": seed}
        return [test.pvalue for test in credal_calibration_tests(labels, members, measures=PAPER, **options)]

    return Case(lambda: [pvalues(seed) for seed in range(count)])


CALIBRATIONS = (
    Workload("confidence calibration error, n = 100,000", partial(error, name="confidence")),
    Workload("classwise calibration error, n = 100,000", partial(error, name="classwise")),
    *(
        Workload(f"least {name} over mixtures, {DATA_SETS} data sets of {N}", partial(least_error, name=name))
        for name in plain.MEASURES
    ),
    Workload(f"credal test, 24 data sets of {N}, 4 measures", credal_test, repeats=Repeats(0.5, 2, 10)),
)
