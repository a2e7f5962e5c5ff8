"""Workloads of scores that rank mistakes: areas and concordance with their intervals."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy.stats import kendalltau, mannwhitneyu

from benchmarks.speed.machine import native_yardsticks
from benchmarks.speed.workload import LOOPS, Case, Peer, Repeats, Workload, by_formulas
from uqassay.metrics import uq_auc_score, uq_c_index_score
from uqassay.metrics.risk import aurc_loss

__all__ = ["RANKS"]

SLOW_PEERS = 1_000_000  # instances, above which peers in Python and SciPy are left out
NO_INTERVAL = "no interval"


def mistakes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """10 % of the instances are mistakes, with scores that are higher by one standard deviation; float32."""
    rng = np.random.default_rng(0)
    errors = rng.random(n) < 0.1
    return errors, (rng.normal(size=n) + errors).astype(np.float32)


def area(quick: bool, n: int) -> Case:
    errors, scores = mistakes(n // 10 if quick else n)
    call = partial(uq_auc_score, errors, scores)
    native = native_yardsticks()
    loop = None
    if native is not None:

        def sort() -> None:
            native.radix_sort(scores)

        loop = Peer(LOOPS[1], sort, lacks="only sorts the scores")
    return Case(
        call, float, [*by_formulas(call, 1e-12), *area_peers(errors, scores)], loop, scores.nbytes + errors.nbytes
    )


def area_peers(errors: np.ndarray, scores: np.ndarray) -> list[Peer]:
    """Packages that give the area; none of them has an interval."""
    peers = []

    def add(module: str, name: str, function: Callable[[], object], tolerance: float) -> None:
        if find_spec(module) is not None:
            peers.append(Peer(name, function, tolerance=tolerance, lacks=NO_INTERVAL))

    def sklearn() -> float:
        from sklearn.metrics import roc_auc_score

        return roc_auc_score(errors, scores)

    def torchmetrics() -> float:
        import torch
        from torchmetrics.functional.classification import binary_auroc

        torch.set_num_threads(1)
        # a sigmoid keeps the order, and torchmetrics wants scores inside [0, 1]
        return float(binary_auroc(torch.sigmoid(torch.from_numpy(scores)), torch.from_numpy(errors).long()))

    def fastauc() -> float:
        from fastauc.fast_auc import CppAuc

        return CppAuc().roc_auc_score(errors, scores)

    def probly() -> float:
        from probly.metrics import roc_auc_score

        return float(roc_auc_score(errors.astype(int), scores))

    def scipy() -> float:
        wrong, right = scores[errors], scores[~errors]
        return mannwhitneyu(wrong, right, method="asymptotic").statistic / len(wrong) / len(right)

    add("sklearn", "scikit-learn", sklearn, 1e-9)
    add("torchmetrics", "torchmetrics", torchmetrics, 2e-4)  # in float32
    add("fastauc", "fastauc (C++)", fastauc, 2e-4)  # sums in float32
    add("probly", "probly", probly, 1e-9)
    if len(errors) <= SLOW_PEERS:
        add("scipy", "SciPy mannwhitneyu", scipy, 1e-6)  # in float32
    return peers


def orders(n: int, order: str, tied: bool) -> tuple[np.ndarray, np.ndarray]:
    """Truth and scores; tied: two decimals."""
    rng = np.random.default_rng(0)
    truth, other = rng.random(n), rng.random(n)
    if tied:
        truth, other = truth.round(2), other.round(2)
    return truth, {"random": other, "concordant": truth, "discordant": -truth}[order]


def concordance(quick: bool, n: int, order: str, tied: bool) -> Case:
    truth, scores = orders(n // 10 if quick else n, order, tied)
    call = partial(uq_c_index_score, truth, scores)
    peers = by_formulas(call, 1e-12)
    if not tied:  # tau-b counts ties otherwise
        peers.append(Peer("SciPy kendalltau", lambda: (1 + kendalltau(truth, scores).statistic) / 2, lacks=NO_INTERVAL))
    else:

        def tau() -> None:  # tau-b leaves ties out, so its value is another one
            kendalltau(truth, scores)

        peers.append(Peer("SciPy kendalltau", tau, lacks="tau-b, no interval"))
    if len(truth) <= 100_000 and order == "random" and find_spec("lifelines") is not None:

        def lifelines() -> float:
            from lifelines.utils import concordance_index

            return concordance_index(truth, scores)

        peers.append(Peer("lifelines", lifelines, lacks=NO_INTERVAL))
    return Case(call, float, peers, None, truth.nbytes + scores.nbytes)


def risk_area(quick: bool, n: int) -> Case:
    errors, scores = mistakes(n // 10 if quick else n)
    call = partial(aurc_loss, errors, scores)
    return Case(call, float, by_formulas(call, 1e-12), None, scores.nbytes + errors.nbytes)


RANKS = (
    *(
        Workload(f"UQ-AUC with DeLong's interval, float32, n = {n:,}", partial(area, n=n), compared=n < 10**7)
        for n in (10**5, 10**6)
    ),
    Workload(
        f"UQ-AUC with DeLong's interval, float32, n = {10**7:,}",
        partial(area, n=10**7),
        compared=False,
        repeats=Repeats(1.0, 3, 5),
    ),
    *(
        Workload(
            f"UQ-C-index with interval, {order}{', tied' * tied}, n = {10**5:,}",
            partial(concordance, n=10**5, order=order, tied=tied),
        )
        for order in ("random", "concordant", "discordant")
        for tied in (False, True)
    ),
    Workload(
        f"UQ-C-index with interval, random, n = {10**6:,}",
        partial(concordance, n=10**6, order="random", tied=False),
        compared=False,
    ),
    Workload(f"AURC with interval, n = {10**6:,}", partial(risk_area, n=10**6)),
)
