"""Workloads of whole assays: scoring, calibration tests, the page, streams, rank sets."""

import tempfile
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import uqassay as uq
from benchmarks.speed.workload import Case, Peer, Repeats, Workload, by_formulas

__all__ = ["ASSAYS", "models", "whole"]

ONCE, TWICE = Repeats(0.0, 1, 1), Repeats(1.0, 2, 5)
SHAPES = ("10 x 10,000 x 10 x 10", "4 x 50,000 x 5 x 10", "4 x 10,000 x 10 x 100", "100 x 10,000 x 1 x 10")
SMALL = "4 x 2,000 x 10 x 10"


def softmax(z: np.ndarray) -> np.ndarray:
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def models(shape: str, quick: bool) -> tuple[dict[str, Any], np.ndarray]:
    """Models × instances × members × classes on the same labels: right 70 to 85 % of the time, the odd ones too sure."""
    n_models, n, members, classes = (int(part.replace(",", "")) for part in shape.split("x"))
    n = n // 10 if quick else n
    generator = np.random.default_rng(0)
    logits = 1.2 * np.sqrt(2 * np.log(classes)) * generator.normal(size=(n, classes))
    y = (generator.random((n, 1)) > softmax(logits).cumsum(axis=1)).sum(axis=1).clip(max=classes - 1)
    found: dict[str, Any] = {}
    for j in range(n_models):
        seen = logits + 0.1 * (j % 7) * generator.normal(size=logits.shape)
        seen *= 1.3 if j % 2 else 1.0
        if members == 1:
            found[f"model {j}"] = uq.Point(softmax(seen))
        else:
            apart = 0.4 * generator.normal(size=(n, members, classes))
            found[f"model {j}"] = uq.Members(softmax(seen[:, np.newaxis] + apart))
    return found, y


def findings(assay: uq.Assay) -> np.ndarray:
    return assay.findings()["estimate"].to_numpy(dtype=float)


def scored(quick: bool) -> Case:
    predictions, y = models(SMALL, quick)
    call = partial(uq.assay, predictions, y, calibration=())
    return Case(call, findings, by_formulas(lambda: findings(call()), 1e-9))


def tested(quick: bool) -> Case:
    predictions, y = models(SMALL, quick)
    call = partial(uq.assay, predictions, y)
    return Case(call, findings, by_formulas(lambda: findings(call()), 1e-9))


def page(quick: bool) -> Case:
    """The size of the page is its answer. Each call begins with an assay that has computed nothing but its scores."""
    predictions, y = models(SMALL, quick)
    assay = uq.assay(predictions, y, calibration=())
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "assay")
        assay.save(kept)
        loaded = uq.Assay.load(kept)
        given = {field.name: getattr(loaded, field.name) for field in fields(uq.Assay) if field.init}

    def write() -> int:
        with tempfile.TemporaryDirectory() as folder:
            return uq.Assay(**given).to_html(Path(folder, "report.html")).stat().st_size

    return Case(write, lambda size: np.ones(1))


def whole(quick: bool, shape: str) -> Case:
    """Everything that `uqassay report` does after reading."""
    predictions, y = models(shape, quick)

    def report(given: dict[str, Any] = predictions, labels: Any = y) -> uq.Assay:
        found = uq.assay(given, labels)
        with tempfile.TemporaryDirectory() as folder:
            found.to_html(Path(folder, "report.html"))
        return found

    report({"warm": uq.Point([[0.5, 0.5]] * 4)}, [0, 1, 0, 1])  # imports are not counted
    return Case(report, findings, (), None, sum(getattr(p, "probs", np.empty(0)).nbytes for p in predictions.values()))


def stream(quick: bool) -> Case:
    predictions, y = models("2 x 20,000 x 5 x 10", quick)

    def in_chunks() -> uq.Assay:
        stream = uq.AssayStream(calibration=())
        for start in range(0, len(y), 4000):
            rows = slice(start, start + 4000)
            stream.update({name: p[rows] for name, p in predictions.items()}, y[rows])
        return stream.compute()

    at_once = Peer("uq.assay at once", lambda: findings(uq.assay(predictions, y, calibration=())), tolerance=0.0)
    return Case(in_chunks, findings, [at_once])


def rank_sets(quick: bool) -> Case:
    """Paired tests of every two models at one λ; the loop has Student's p-value alone, ours is the greatest of three."""
    from scipy.stats import ttest_rel

    n_models, n = (10, 1000) if quick else (50, 10_000)
    rng = np.random.default_rng(0)
    common = rng.gamma(2.0, size=n)
    losses = {f"model {j}": common + 0.5 * rng.gamma(1 + 0.002 * j, size=n) for j in range(n_models)}
    first, second = np.triu_indices(n_models, 1)
    values = list(losses.values())

    def loop() -> np.ndarray:
        return np.array([ttest_rel(values[i], values[j]).pvalue for i, j in zip(first, second, strict=True)])

    peer = Peer(
        "SciPy ttest_rel in a loop", loop, worse=-1, tolerance=1e-8, word="smaller", lacks="one of three p-values"
    )
    call = partial(uq.statistics.pairwise_mean_tests, losses)
    return Case(call, lambda found: found.pvalue[first, second], [peer])


ASSAYS = (
    Workload(f"assay without calibration tests, {SMALL}", scored, repeats=TWICE),
    Workload(f"assay, {SMALL}", tested, repeats=TWICE),
    Workload(f"page of an assay, {SMALL}", page, repeats=TWICE),
    *(
        Workload(f"assay and page, {shape}", partial(whole, shape=shape), several=True, compared=False, repeats=ONCE)
        for shape in SHAPES
    ),
    Workload("stream of 20,000 instances in 5 chunks", stream, repeats=TWICE),
    Workload("paired tests of 50 models, 10,000 instances", rank_sets),
)
