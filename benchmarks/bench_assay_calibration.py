"""Time of the calibration tests of an assay, with the number of instances tested and the p-values.

    python benchmarks/bench_assay_calibration.py [points] [sets] [large]

points: ten single distributions on 10,000 instances and ten classes; sets: an ensemble of ten members alone and beside nine
others; large: one single distribution on 1,000,000 instances and ten classes. Half of the models are calibrated. CPU seconds of
one process (set OMP_NUM_THREADS=1, `taskset -c 0` for one core), of whole assays with and without
the tests, by the array formulas and by the compiled kernels in one run, beside a sort of 1,000,000 numbers.
"""

import os
import sys
import time

import numpy as np

import uqassay as uq

CLASSES = 10


def models(n, j, m, generator):
    """Models on the same labels, the even ones calibrated and the odd ones too sure."""
    logits = 1.5 * generator.normal(size=(n, CLASSES))
    truth = softmax(logits)
    y = (generator.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(max=CLASSES - 1)
    found = {}
    for i in range(j):
        sharp = softmax(logits * (1.3 if i % 2 else 1.0))
        if m == 1:
            found[f"model {i}"] = uq.Point(sharp)
        else:
            noise = 0.3 * generator.normal(size=(n, m, CLASSES))
            noise[:, 0] = 0
            found[f"model {i}"] = uq.Members(softmax(np.log(sharp)[:, np.newaxis] + noise))
    return found, y


def softmax(z):
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def measured(name, n, j, m):
    predictions, y = models(n, j, m, np.random.default_rng(0))
    for pure in ("1", "0"):
        os.environ["UQASSAY_PURE"] = pure
        seconds = []
        for calibration in ((), uq.evidence.CALIBRATION):
            start = time.process_time()
            assay = uq.assay(predictions, y, calibration=calibration, tradeoffs=[0.5], n_draws=100)
            seconds.append(time.process_time() - start)
        tests = assay.calibration
        sizes, p = {t.n_tested for t in tests}, [f"{t.pvalue:.2g}" for t in tests[:4]]
        way = "formulas" if pure == "1" else "kernels"
        print(
            f"{name}, {way}: {seconds[0]:.2f} s without tests, {seconds[1]:.2f} s with; on {sizes} of {n} instances, "
            f"p {', '.join(p)}",
            flush=True,
        )


def sort_of_a_million():
    """Processor seconds of np.sort, the least of five."""
    numbers, seconds = np.random.default_rng(0).random(10**6), []
    for _ in range(5):
        start = time.process_time()
        np.sort(numbers)
        seconds.append(time.process_time() - start)
    return min(seconds)


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["points", "sets", "large"]
    os.environ["UQASSAY_PROCESSES"] = "1"  # the time of further processes is not counted
    print(f"np.sort of 1,000,000 numbers: {sort_of_a_million():.4f} s; {uq.kernels()}")
    if "points" in chosen:
        measured("ten points", 10_000, 10, 1)
    if "sets" in chosen:
        measured("one ensemble of 10", 10_000, 1, 10)
        measured("ten ensembles of 10", 10_000, 10, 10)
    if "large" in chosen:
        measured("one overconfident and one calibrated point", 1_000_000, 2, 1)
