"""Sentences on the experiments and on the classes left out: each claims the conclusion of its reading, and no more."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study

from uqassay.evidence.disentanglement_words import class_sentences, experiment_sentences, read_classes, read_experiments
from uqassay.text import number

IT = "information-theoretic"
KINDS = ("total", "aleatoric", "epistemic")


def both(kind, **options):
    """The sentences of the dataset-size and of the label-noise experiment."""
    study = made_study(kind, **{"seed": 3, **options})
    return [" ".join(experiment_sentences(reading)) for reading in read_experiments(study, IT)]


def test_leaks_are_named_with_their_direction():
    size, noise = both("together")
    assert "epistemic uncertainty falls while the accuracy rises, as it should" in size
    assert "The aleatoric uncertainty, which should not move, falls as well" in size
    assert "The epistemic uncertainty, which should not move, rises as well" in noise
    assert "about as closely as the aleatoric uncertainty" in noise


def test_wrong_directions_are_named():
    size, noise = both("reversed")
    assert "epistemic uncertainty rises, the wrong direction: r = −1.00" in size
    assert "aleatoric uncertainty falls, the wrong direction" in noise


def test_flat_curves_are_named():
    size, noise = both("constant")
    assert "epistemic uncertainty stays constant in all runs, although it should fall" in size
    assert "The epistemic uncertainty stays constant, as it should" in noise


def test_jitter_claims_no_movement():
    for text in both("jitter"):
        assert text.count("5 runs do not show") == 2
        for claim in ("falls as well", "wrong direction", "as it should be", "stays constant"):
            assert claim not in text


def test_numbers_are_those_of_the_reading():
    study = made_study("swapped", seed=3)
    for reading in read_experiments(study, IT):
        text = " ".join(experiment_sentences(reading))
        r = reading.target.correlation
        assert f"r = {number(float(r), 2)} ({number(r.low, 2)} to {number(r.high, 2)})" in text


def test_an_accuracy_that_does_not_move_says_little():
    study = made_study("perfect")
    measured = study.measured["label-noise"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape))
    study = replace(study, measured={**study.measured, "label-noise": still})
    (text,) = experiment_sentences(read_experiments(study, IT)[1])
    assert "the accuracy is not shown to fall (change 0.0 percentage points), so" in text
    assert "as it should" not in text


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("perfect", "higher for classes left out of the training, as it should be"),
        ("swapped", "The aleatoric uncertainty reacts to these classes, which it should not"),
        ("swapped", "it separates them better than the epistemic one"),
        ("together", "which of the two separates them better cannot be told"),
        ("jitter", "8 runs do not show that the aleatoric uncertainty reacts to these classes"),
    ],
)
def test_classes_left_out(kind, said):
    assert said in " ".join(class_sentences(read_classes(made_study(kind, seed=6, n_runs=8), IT)))


def test_classes_without_test_instances():
    study = made_study("perfect", n_runs=3)
    measured = study.measured["left-out-class"]
    empty = replace(measured, labels=np.zeros_like(measured.labels))
    study = replace(study, measured={**study.measured, "left-out-class": empty})
    (text,) = class_sentences(read_classes(study, IT))
    assert text.startswith("There is no ROC-AUC for the classes left out: ")


def test_a_change_of_accuracy_is_in_percentage_points():
    study = made_study("perfect")
    measured = study.measured["label-noise"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape).copy())
    still.probs[0, -1, :3] = np.roll(
        measured.probs[0, 0, :3], 1, axis=-1
    )  # at most 3 of 90 predictions of one run change
    reading = read_experiments(replace(study, measured={**study.measured, "label-noise": still}), IT)[1]
    change = reading.accuracy_change
    (text,) = experiment_sentences(reading)
    ends = f"{number(100 * change.low, 1)} to {number(100 * change.high, 1)}"
    assert f"(change {number(100 * float(change), 1)} percentage points, 95 % interval {ends})" in text
    assert "%)" not in text


def test_one_run_with_a_constant_accuracy_says_little():
    study = made_study("perfect", n_runs=1)
    measured = study.measured["dataset-size"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape))
    (text,) = experiment_sentences(
        read_experiments(replace(study, measured={**study.measured, "dataset-size": still}), IT)[0]
    )
    assert "the accuracy is not shown to rise (change 0.0 percentage points), so" in text
    assert "constant" not in text


def test_classes_that_the_means_do_not_hold_are_named():
    study = made_study("perfect", n_runs=3)
    measured = study.measured["left-out-class"]
    partly = replace(measured, labels=np.where(measured.labels == 2, 0, measured.labels))
    for n_runs, study_ in ((3, study), (1, made_study("perfect", n_runs=1))):
        given = replace(study_, measured={"left-out-class": replace(partly, **_first(partly, n_runs))})
        said = class_sentences(read_classes(given, IT))
        assert said[-1] == "Not in these means, for want of test instances: virginica."


def _first(measured, n_runs):
    parts = {IT: replace(measured.parts[IT], **{k: getattr(measured.parts[IT], k)[:n_runs] for k in KINDS})}
    return {"labels": measured.labels[:n_runs], "probs": measured.probs[:n_runs], "parts": parts}
