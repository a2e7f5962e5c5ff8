"""What weights found on some instances do on the others."""

import numpy as np
import pytest
from tests.cli.calibration_words import words

import uqassay as uq
from uqassay import text as wording
from uqassay.calibration.weighted_average import weighted_average_effect


def test_held_out_effects_are_those_of_the_library(files, run):
    from uqassay.calibration.mixtures import shared_members

    argv = [*words(files, "DE", "P", "box"), "--held-out", "0.25", "--level", "0.9", "--measure", "ece-confidence"]
    found = run("calibration-test", *argv, "--json").json()["held_out"]
    assert [e["model"] for e in found] == ["DE", "box"]
    y = np.load(files / "labels.npy")
    for e, file in zip(found, ("de", "intervals"), strict=True):
        points = shared_members(uq.load(files / f"{file}.npz")).probs
        options = {"fraction": 0.75, "level": 0.9, "rng": np.random.default_rng([0, 24])}
        effect = weighted_average_effect(y, points, **options)
        assert e["error_difference"] == effect.error_difference.to_dict()
        assert e["accuracy_difference"] == effect.accuracy_difference.difference.to_dict()
        assert e["weights"] == effect.weights.tolist()
        assert (e["n_weighed"], e["n_held_out"]) == (len(effect.calibration_rows), len(effect.held_out_rows))
    out = run("calibration-test", *argv).out
    assert "Weights found on 45 cases, and what they do on 15 held-out ones\n" in out
    assert "Note: P: nothing to weigh.\n" in out
    lines = [line for line in out.splitlines() if line.startswith("DE ")]
    assert any("accuracy, by ece-confidence" in line and line.count(" to ") == 3 for line in lines)
    alone = run("calibration-test", *words(files, "P"), "--held-out", "0.5")
    assert alone.out.endswith("Nothing to weigh: no model has several members or vertices.\n")


@pytest.mark.parametrize("null", ["minimised", "random", "berger-boos"])
def test_held_out_effects_follow_the_null_and_the_draws(null, files, run):
    argv = [*words(files, "DE"), "--held-out", "0.5", "--measure", "ece-confidence", "--null", null, "--draws", "19"]
    ran = run("calibration-test", *argv, "--alpha", "0.1", "--json")
    (found,) = ran.json()["held_out"]
    y, members = np.load(files / "labels.npy"), uq.load(files / "de.npz").probs
    effect = weighted_average_effect(y, members, null=null, null_draws=19, rng=np.random.default_rng([0, 24]))
    assert (found["pvalue"], found["n_draws"], found["null_kind"]) == (effect.test.pvalue, 19, null)
    of_draws = found["pvalue"] - (0.001 if null == "berger-boos" else 0.0)
    assert 20 * min(of_draws, 1.0) == pytest.approx(round(20 * min(of_draws, 1.0)))
    shown = run("calibration-test", *argv, "--alpha", "0.1").out
    line = next(line for line in shown.splitlines() if line.startswith("DE     ece-confidence") and " to " in line)
    assert line.split()[-1] == wording.pvalue(found["pvalue"])


def test_weights_that_do_not_exist_do_nothing_to_held_out_instances(files, run):
    argv = [*words(files, "DE"), "--instances", "3", "--measure", "skce-ul", "--held-out", "0.6"]
    (found,) = run("calibration-test", *argv, "--json").json()["held_out"]
    assert (found["n_weighed"], found["pvalue"], found["weights"]) == (1, None, [None] * 5)
    names = ("accuracy_weighted", "accuracy_difference", "error_weighted", "error_difference")
    assert [found[name] for name in names] == [None] * 4
    assert found["accuracy"]["n"] == 2
    shown = run("calibration-test", *argv).out
    assert "Weights found on 1 case, and what they do on 2 held-out ones\n" in shown
    line = next(line for line in shown.splitlines() if "accuracy, by skce-ul" in line)
    assert line.split()[-5:] == ["–"] * 5
