"""The sentence on refusal: the best of the models compared, with the verb and the caution that its gain allows."""

import dataclasses

import numpy as np
import pytest

import uqassay as uq
from uqassay.report.sentences import Refused, refusal_sentence

NAN = float("nan")
GAIN = Refused("a", "margin", 0.8, (0.85, 0.82, 0.88), (0.05, 0.02, 0.08))


@pytest.fixture(scope="module")
def assay():
    p = uq.Point([[0.9, 0.1], [0.3, 0.7]])
    return uq.assay({"a": p, "b": p}, [0, 0], n_draws=5, measures=(), calibration=())


@pytest.mark.parametrize(
    ("changes", "outcome", "words"),
    [
        (
            {},
            "gain",
            "raises the accuracy of a from 80.0 % to 85.0 % (82.0 to 88.0 %), a gain of 5.0 points (2.0 to 8.0).",
        ),
        (
            {"kept": (0.7, 0.66, 0.74), "gain": (-0.1, -0.13, -0.07)},
            "loss",
            "lowers the accuracy of a from 80.0 % to 70.0 % (66.0 to 74.0 %), because its right predictions are the more "
            "uncertain ones; the change is −10.0 points (−13.0 to −7.0).",
        ),
        (
            {"kept": (0.81, 0.78, 0.84), "gain": (0.01, -0.02, 0.04)},
            "none",
            "changes the accuracy of a from 80.0 % to 81.0 % (78.0 to 84.0 %); the change of 1.0 points (−2.0 to 4.0) could be "
            "chance.",
        ),
        (
            {"kept": (0.8, 0.77, 0.83), "gain": (0.0, -0.03, 0.03)},
            "none",
            "leaves the accuracy of a at 80.0 % (77.0 to 83.0 %); the change of 0.0 points (−3.0 to 3.0) could be chance.",
        ),
        (
            {"kept": (0.81, 0.78, 0.84), "gain": (0.01, -0.02, 0.04), "shown": 0.0351},
            "none",
            "changes the accuracy of a from 80.0 % to 81.0 % (78.0 to 84.0 %); the change of 1.0 points (−2.0 to 4.0) could be "
            "chance; a true gain of 3.5 points would have been found 4 times in 5.",
        ),
        (
            {"kept": (0.8, 0.77, 0.83), "gain": (0.0, -0.03, 0.03), "shown": float("inf")},
            "none",
            "leaves the accuracy of a at 80.0 % (77.0 to 83.0 %); the change of 0.0 points (−3.0 to 3.0) could be chance; no "
            "gain could have been found.",
        ),
        (
            {"kept": (0.7, NAN, NAN), "gain": (-0.1, NAN, NAN)},
            "unknown",
            "lowers the accuracy of a from 80.0 % to 70.0 %; how surely cannot be said (1 case: no interval).",
        ),
    ],
)
def test_every_outcome_has_its_words(assay, changes, outcome, words):
    one = dataclasses.replace(GAIN, **changes)
    assert one.outcome == outcome
    assert refusal_sentence(assay, 0.1, "", [one]) == f"Refusing the 10 % most uncertain (by margin) {words}"


def test_of_several_models_the_most_accurate_on_the_rest_is_told(assay):
    better = dataclasses.replace(GAIN, model="b", score="entropy", kept=(0.9, 0.87, 0.93))
    text = refusal_sentence(assay, 0.02, "each model's best score", [GAIN, better])
    assert text.startswith(
        "Refusing the 2 % most uncertain (by each model's best score) raises the accuracy of b from "
    )
    assert text.endswith("; no other model does better.")
    low = [dataclasses.replace(r, kept=(0.4, 0.3, 0.5)) for r in (GAIN, better)]  # the models are right on half
    assert refusal_sentence(assay, 0.02, "", low).endswith(
        "; no other model does better, though some model is more accurate without refusing."
    )


def test_digits_follow_the_intervals(assay):
    near = dataclasses.replace(GAIN, kept=(0.85, 0.849, 0.851), gain=(0.05, 0.049, 0.051))
    assert "to 85.0 % (84.9 to 85.1 %)" in refusal_sentence(assay, 0.1, "", [near])
    close = dataclasses.replace(GAIN, kept=(0.85, 0.8498, 0.8502), gain=(0.05, 0.0498, 0.0502))
    assert "to 85.00 % (84.98 to 85.02 %)" in refusal_sentence(assay, 0.1, "", [close])


def test_votes_and_groups_are_named():
    p, q = uq.Point([[0.9, 0.1], [0.3, 0.7]]), np.array([[0.8, 0.2], [0.5, 0.5]])
    votes = uq.assay({"a": p}, q, n_draws=5, measures=(), calibration=())
    assert "raises the accuracy (share of the votes) of a from" in refusal_sentence(votes, 0.1, "", [GAIN])
    grouped = uq.assay({"a": p}, [0, 0], groups=[1, 1], n_draws=5, measures=(), calibration=())
    unknown = dataclasses.replace(GAIN, gain=(0.05, NAN, NAN))
    assert "(1 group: no interval)" in refusal_sentence(grouped, 0.1, "", [unknown])
