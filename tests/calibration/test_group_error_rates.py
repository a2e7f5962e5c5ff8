"""Error rates and power of the calibration tests with groups.

The test measures a few cells. The command measures all of them and prints the tables of docs/evidence-calibration.md:

    python -m tests.calibration.test_group_error_rates [runs] [measure,...] [classes,...] [level|power]
"""

import sys

import numpy as np
import pytest
from scipy.special import ndtr

from tests.calibration.made_up_data import softmax
from uqassay.calibration.one_classifier import calibration_test
from uqassay.calibration.power import Miscalibration

MEASURES = (
    "ece-confidence",
    "ece-classwise",
    "kuiper-confidence",
    "ks-classwise",
    "brier",
    "log-loss",
    "hosmer-lemeshow",
    "skce-uq",
)
SIZES = {
    "10 × 30": np.full(10, 30),
    "30 × 10": np.full(30, 10),
    "100 × 5": np.full(100, 5),
    "300 × 1": np.full(300, 1),
    "60·.75^i": np.maximum(1, 60 * 0.75 ** np.arange(30)).astype(int),
}
WORLDS = (("errors", 0.0), ("errors", 0.5), ("errors", 1.0), ("classes", 0.5), ("classes", 1.0))


def dependent_labels(rng, probs, groups, correlation, together):
    """Labels from probabilities (n, K); normal scores of a group have this correlation.

    `together` are "errors", if the classes are ordered by their probabilities in each instance, or "classes", if by number.
    """
    common = rng.standard_normal(groups.max() + 1)[groups]
    uniform = ndtr(correlation**0.5 * common + (1 - correlation) ** 0.5 * rng.standard_normal(len(groups)))
    order = (
        np.argsort(-probs, axis=1) if together == "errors" else np.broadcast_to(np.arange(probs.shape[1]), probs.shape)
    )
    steps = np.take_along_axis(probs, order, axis=1).cumsum(axis=1)
    place = (uniform[:, np.newaxis] * steps[:, -1:] >= steps[:, :-1]).sum(axis=1)
    return order[np.arange(len(probs)), place]


def data_set(run, sizes, k, truth, correlation, together):
    """Labels, predictions and groups; the accuracy is about .8."""
    rng = np.random.default_rng([run, k])
    groups = np.repeat(np.arange(len(sizes)), sizes)
    probs = softmax({2: 2.0, 3: 2.5, 10: 3.5}[k] * rng.standard_normal((len(groups), k)))
    return dependent_labels(rng, truth.truth(probs), groups, correlation, together), probs, groups


def rates(runs, sizes, k, truth, world, measures, *, grouped=True, n_draws=199, alpha=0.05):
    """Share of data sets in which each measure rejects."""
    together, correlation = world
    rejected = dict.fromkeys(measures, 0)
    for run in runs:
        labels, probs, groups = data_set(run, sizes, k, truth, correlation, together)
        for measure in measures:
            test = calibration_test(
                labels, probs, measure=measure, groups=groups if grouped else None, n_draws=n_draws, rng=run
            )
            rejected[measure] += test.pvalue <= alpha
    return {measure: count / len(runs) for measure, count in rejected.items()}


@pytest.mark.slow
@pytest.mark.parametrize("world", [("errors", 1.0), ("classes", 1.0)])
def test_few_groups_whose_labels_go_together_keep_the_level(world):
    # independent labels reject in .4 or more
    found = rates(range(60), SIZES["10 × 30"], 3, Miscalibration.none(), world, ("ece-confidence", "brier"), n_draws=39)
    assert max(found.values()) <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5


@pytest.mark.slow
def test_independent_labels_leave_most_of_the_power():
    truth = Miscalibration.temperature(0.6)
    found = rates(range(30), SIZES["30 × 10"], 3, truth, ("errors", 0.0), ("ece-confidence", "brier"), n_draws=39)
    assert min(found.values()) > 0.6


def row(*cells):
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def level(runs, measures, classes):
    row("K", "groups", "together", "correlation", *measures)
    row(*["---"] * (4 + len(measures)))
    for k in classes:
        for name, sizes in SIZES.items():
            for world in WORLDS[:1] if name == "300 × 1" else WORLDS:
                found = rates(runs, sizes, k, Miscalibration.none(), world, measures)
                row(k, name, *world, *(f"{100 * share:.1f}" for share in found.values()))


def power(runs, measures, classes):
    row("K", "truth", "groups", "test", *measures)
    row(*["---"] * (4 + len(measures)))
    for k in classes:
        for temperature in (0.7, 1.4):
            for name, sizes in SIZES.items():
                for grouped in (True, False):
                    truth = Miscalibration.temperature(temperature)
                    found = rates(runs, sizes, k, truth, WORLDS[0], measures, grouped=grouped)
                    test = "groups" if grouped else "independent"
                    row(k, f"T = {temperature:g}", name, test, *(f"{100 * share:.0f}" for share in found.values()))


def main(n_runs="400", measures=None, classes="3,10", what="level,power"):
    for part in what.split(","):
        {"level": level, "power": power}[part](
            range(int(n_runs)),
            tuple(measures.split(",")) if measures else MEASURES,
            [int(k) for k in classes.split(",")],
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
