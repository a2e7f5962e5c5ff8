"""Coverage of the intervals of calibration errors, and error rates of the bands of reliability diagrams.

The test measures a few cells. The command measures all of them and prints the tables of docs/evidence-calibration.md:

    python -m tests.metrics.calibration.test_error_coverage [data sets]
"""

import sys
from functools import cache

import numpy as np
import pytest
from tests.calibration.made_up_data import softmax
from tests.calibration.test_group_error_rates import dependent_labels

from uqassay.calibration.power import Miscalibration
from uqassay.metrics import calibration_error_estimate, reliability_diagram

TRUTHS = {"calibrated": 1.0, "slightly overconfident": 1.25, "strongly overconfident": 2.0, "underconfident": 0.7}
SCALES = {"accuracy .69": 2.0, "accuracy .88": 6.0}  # of the logits
SIZES = (100, 300, 2000)
CLASSES = 4
N_GROUPS = 30


def truths(probs, name):
    """True probabilities for the stated ones."""
    return Miscalibration.temperature(TRUTHS[name]).truth(probs)


def group_sizes(n):
    """Sizes of 30 groups that fall by a tenth from one to the next."""
    sizes = np.maximum(1, n * 0.9 ** np.arange(N_GROUPS) / (0.9 ** np.arange(N_GROUPS)).sum()).astype(int)
    sizes[0] += n - sizes.sum()
    return sizes


def true_gaps(confidence, accuracy):
    """Share and mean gap of the filled ones of ten bins."""
    place = np.maximum(np.ceil(confidence * 10 - 1e-12).astype(int) - 1, 0)
    size = np.bincount(place, minlength=10)
    return size / len(place), np.bincount(place, confidence - accuracy, 10) / np.maximum(size, 1), size > 0


@cache
def true_errors(name, scale):
    """The expected and the root-mean-square calibration error of the population."""
    if name == "calibrated":
        return 0.0, 0.0
    probs = softmax(scale * np.random.default_rng(0).standard_normal((400_000, CLASSES)))
    top = probs.argmax(axis=1)[:, np.newaxis]
    share, gap, _ = true_gaps(probs.max(axis=1), np.take_along_axis(truths(probs, name), top, axis=1)[:, 0])
    return float(share @ np.abs(gap)), float(share @ gap**2) ** 0.5


def coverage(name, scale, n, n_sets, *, correlation=None, seed=0):
    """Shares of data sets in which intervals hold the truth, their median widths, and rates of wrong bands and claims.

    With a correlation, the instances come in 30 groups of unequal size, in which correct predictions go together.
    """
    found = []
    for run in range(n_sets):
        rng = np.random.default_rng([seed, run, n])
        probs = softmax(scale * rng.standard_normal((n, CLASSES)))
        true = truths(probs, name)
        groups = np.arange(n) if correlation is None else np.repeat(np.arange(N_GROUPS), group_sizes(n))
        y = dependent_labels(rng, true, groups, correlation or 0.0, "errors")
        units = None if correlation is None else groups
        row = []
        for norm, truth in zip(("l1", "l2"), true_errors(name, scale), strict=True):
            e = calibration_error_estimate(y, probs, norm=norm, groups=units)
            row += [e.low <= truth <= e.high, e.high - e.low]
        diagram = reliability_diagram(y, probs, groups=units)
        accuracy = np.take_along_axis(true, probs.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
        _, gap, filled = true_gaps(probs.max(axis=1), accuracy)
        real = diagram.confidence - gap
        missed = filled & ((diagram.band_low > real + 1e-9) | (diagram.band_high < real - 1e-9))
        false = (diagram.over & (gap <= 1e-12)) | (diagram.under & (gap >= -1e-12))
        found.append([*row, missed.any(), false.any(), (diagram.over | diagram.under).any()])
    each = np.array(found, dtype=float)
    keys = ("l1", "l1 width", "l2", "l2 width", "missed", "false", "claimed")
    return {k: float(np.median(c) if "width" in k else c.mean()) for k, c in zip(keys, each.T, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "correlation"),
    [("calibrated", 100, None), ("strongly overconfident", 300, None), ("calibrated", 300, 0.5)],
)
def test_intervals_hold_the_truth_and_bands_accuse_nobody(name, n, correlation):
    found = coverage(name, 2.0, n, 40, correlation=correlation)
    assert min(found["l1"], found["l2"]) >= 0.95 - 3 * (0.05 * 0.95 / 40) ** 0.5
    assert max(found["missed"], found["false"]) <= 0.05 + 3 * (0.05 * 0.95 / 40) ** 0.5


def rows(n_sets):
    """Cells of the table: the truth, accuracy, groups, and one dict for each number of instances."""
    for scale_name, scale in SCALES.items():
        for name in TRUTHS:
            yield name, scale_name, "none", [coverage(name, scale, n, n_sets) for n in SIZES]
    for correlation in (0.5, 1.0):
        for name in ("calibrated", "strongly overconfident"):
            cells = [coverage(name, 2.0, n, n_sets, correlation=correlation) for n in SIZES]
            yield name, "accuracy .69", f"correlation {correlation:g}", cells


def main(n_sets=200):
    """Print the numbers."""
    for name, scale, groups, cells in rows(n_sets):
        print(f"{name}, {scale}, groups: {groups}")
        for n, c in zip(SIZES, cells, strict=True):
            print(f"  n = {n:5}: " + ", ".join(f"{k} {v:.3f}" for k, v in c.items()), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
