"""The size of the calibration error that `uqassay calibration-test` prints after its tests."""

import numpy as np
from tests.cli.calibration_words import words

import uqassay as uq
from uqassay.cli.calibration import errors_of_means


def test_json_is_that_of_the_library(files, run):
    ran = run("calibration-test", *words(files, "DE", "P"), "--draws", "39", "--measure", "ece-confidence", "--json")
    y, errors = np.load(files / "labels.npy"), ran.json()["errors"]
    assert [e["model"] for e in errors] == ["DE", "P"]
    for error, file in zip(errors, ("de", "point"), strict=True):
        p = uq.load(files / f"{file}.npz").mean_probs()
        for key, norm in (("ece", "l1"), ("rms_calibration_error", "l2")):
            expected = uq.metrics.calibration_error_estimate(y, p, norm=norm)
            assert error[key] == expected.to_dict()
        assert error["ece_of_calibrated"] > 0
        assert error["sentence"] == uq.metrics.reliability_diagram(y, p).sentence()


def test_the_terminal_has_a_table_and_a_sentence(files, run):
    ran = run("calibration-test", *words(files, "DE", "P"), "--draws", "39", "--measure", "ece-confidence")
    assert "Calibration error of the confidence, of the mean" in ran.out
    assert "95 % interval" in ran.out
    assert ran.out.count("oo sure") == 2


def test_groups_rows_and_runs(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (2, 80))
    y, groups, rows = random_generator.integers(0, 3, 80), np.arange(80) // 8, np.arange(0, 80, 2)
    runs = [uq.Point(p) for p in probs]
    first, second = errors_of_means({"m": runs}, y, groups, rows, 0.9)
    assert (first.name, second.name) == ("m, run 1", "m, run 2")
    expected = uq.metrics.calibration_error_estimate(y[rows], probs[1][rows], groups=groups[rows], level=0.9)
    assert second.ece.to_dict() == expected.to_dict()
    lone = errors_of_means({"m": runs[:1]}, y, np.zeros(80), rows, 0.9)[0]
    assert np.isnan(lone.of_calibrated)
    assert lone.name == "m"
