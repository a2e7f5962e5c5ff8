"""Direction of miscalibration. The command measures how often a direction is told, and the wrong one:

python -m tests.calibration.test_direction [data sets]
"""

import math
import sys

import numpy as np
import pytest

from tests.calibration.made_up_data import softmax
from tests.calibration.test_group_error_rates import SIZES, dependent_labels
from uqassay.calibration.one_classifier import UPPER_ALONE, confidence_gap, unseen_notes
from uqassay.calibration.power import Miscalibration
from uqassay.metrics.measures import calibration_measure

SCALE = {2: 2.0, 10: 3.5, 100: 5.0}  # of the logits: the accuracy is about .8
SHARP = 12.0  # accuracy about .97


def test_the_gap_is_mean_confidence_minus_accuracy():
    probs = np.tile([0.7, 0.3], (100, 1))
    for share, word in ((0.2, "overconfident"), (0.7, ""), (0.95, "underconfident")):
        labels = (np.arange(100) >= 100 * share).astype(int)
        gap = confidence_gap(labels, probs)
        assert gap.value == pytest.approx(0.7 - share)
        assert gap.low < gap.value < gap.high
        assert gap.direction() == word


def test_no_error_among_few_instances_tells_no_direction():
    # all deviations are equal: Student's t would be infinite
    probs = np.tile([0.99, 0.01], (100, 1))
    assert confidence_gap(np.zeros(100, dtype=int), probs).direction() == ""


def test_one_group_has_no_direction():
    gap = confidence_gap(np.zeros(20, dtype=int), np.tile([0.6, 0.4], (20, 1)), np.zeros(20))
    assert math.isnan(gap.pvalue)
    assert gap.direction() == ""


def test_classes_with_one_bin_are_noted(random_generator):
    measure = calibration_measure("hosmer-lemeshow")
    probs = random_generator.dirichlet(np.full(5, 20.0), 60)  # twelve events in five bins of each class
    assert unseen_notes(measure, probs) == ()
    (note,) = unseen_notes(measure, probs[:8])
    assert (note.code, note.facts) == ("assumption", {"single": 5, "classes": 5})
    for rare, single in ((2, ()), (3, (3,))):  # of five classes
        p = probs * np.where(np.arange(5) < rare, 0.02, 1.0)
        assert tuple(n.facts["single"] for n in unseen_notes(measure, p / p.sum(axis=1, keepdims=True))) == single
    for other in ("hosmer-lemeshow-proportions", "ece-classwise"):
        assert unseen_notes(calibration_measure(other), probs[:8]) == ()


def test_scores_of_several_members_are_noted():
    probs = np.full((9, 3), 1 / 3)
    for name, notes in (("brier", (UPPER_ALONE,)), ("log-loss", (UPPER_ALONE,)), ("kuiper-confidence", ())):
        assert unseen_notes(calibration_measure(name), probs, 3) == notes
        assert unseen_notes(calibration_measure(name), probs) == ()


def balanced(probs, groups):
    """Overconfident above the median confidence and underconfident below, by as much: the true gap is 0."""
    truth, confidence = probs.copy(), probs.max(axis=1)
    rows, top = np.arange(len(probs)), probs.argmax(axis=1)
    move = np.minimum(0.5 * (1 - confidence), 0.1)
    sharp = confidence > np.median(confidence)
    move = np.where(sharp, -move * move[~sharp].sum() / max(move[sharp].sum(), 1e-12), move)
    truth[rows, top] += move
    others = np.maximum(1 - confidence, 1e-12)
    truth *= ((1 - truth[rows, top]) / others)[:, np.newaxis]
    truth[rows, top] = confidence + move
    return np.clip(truth, 0.0, None)


def told(n_sets, n, k, truth, *, scale=None, sizes=None, correlation=0.0):
    """Share of data sets in which overconfidence is told, and in which underconfidence is."""
    counts = {"overconfident": 0, "underconfident": 0, "": 0}
    for run in range(n_sets):
        rng = np.random.default_rng([run, n, k])
        groups = np.arange(n) if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
        probs = softmax((scale or SCALE[k]) * rng.standard_normal((len(groups), k)))
        labels = dependent_labels(rng, truth(probs, groups), groups, correlation, "errors")
        counts[confidence_gap(labels, probs, None if sizes is None else groups).direction()] += 1
    return counts["overconfident"] / n_sets, counts["underconfident"] / n_sets


def calibrated(probs, groups):
    return probs


def tempered(temperature):
    truth = Miscalibration.temperature(temperature).truth
    return lambda probs, groups: truth(probs)


@pytest.mark.parametrize("truth", [calibrated, balanced])
def test_a_direction_is_seldom_told_where_there_is_none(truth):
    over, under = told(100, 300, 10, truth)
    assert over + under <= 0.05 + 3.3 * (0.05 * 0.95 / 100) ** 0.5


def test_the_wrong_direction_is_hardly_ever_told():
    assert told(60, 500, 10, tempered(0.7))[0] <= 0.02
    assert told(60, 500, 10, tempered(1.4))[1] <= 0.02


def main(n_sets):
    print("| truth | K | n | overconfident | underconfident |\n|---|---|---|---|---|")
    for name, truth in (
        ("calibrated", calibrated),
        ("balanced", balanced),
        ("T = 0.8", tempered(0.8)),
        ("T = 1.25", tempered(1.25)),
    ):
        for k in (2, 10):
            for n in (100, 500, 2000):
                over, under = told(n_sets, n, k, truth)
                print(f"| {name} | {k} | {n} | {100 * over:.1f} | {100 * under:.1f} |", flush=True)
    for n in (100, 500, 2000):
        over, under = told(n_sets, n, 10, calibrated, scale=SHARP)
        print(f"| calibrated, sharp | 10 | {n} | {100 * over:.1f} | {100 * under:.1f} |", flush=True)
    for name, sizes in SIZES.items():
        for correlation in (0.0, 0.5, 1.0):
            over, under = told(n_sets, 0, 10, calibrated, sizes=sizes, correlation=correlation)
            cell = f"calibrated, groups {name}, correlation {correlation:g}"
            print(f"| {cell} | 10 | {sizes.sum()} | {100 * over:.1f} | {100 * under:.1f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
