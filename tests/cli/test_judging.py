"""Checks end a command with the code of the worst: 1 failed, 3 cannot tell."""

import numpy as np
import pytest
from tests.cli.calibration_words import words


@pytest.fixture
def models(files):
    return [f"{name}={files / file}.npz" for name, file in (("DE", "de"), ("EDL", "edl"), ("box", "intervals"))]


@pytest.mark.parametrize(("check", "code"), [("accuracy<0.99", 1), ("accuracy<0.01", 0), ("EDL:kl>0", 1)])
def test_fail_if(check, code, files, models, run):
    ran = run("rank", *models, "--labels", files / "labels.npy", "--json", "--fail-if", check)
    assert ran.code == code
    assert bool(ran.err) == (code == 1)
    assert all(line.startswith(f"Check {check} failed: ") for line in ran.err.splitlines())
    ran.json()  # the numbers are printed all the same


def test_fail_if_says_which_models_it_leaves_out(files, run):
    np.savez(files / "perfect.npz", probs=0.7 * np.eye(3)[np.load(files / "labels.npy")] + 0.1)
    models = (f"right={files / 'perfect.npz'}", f"DE={files / 'de.npz'}")
    ran = run("rank", *models, "--labels", files / "labels.npy", "--json", "--fail-if", "uq-auc@total-entropy<0.01")
    assert ran.code == 0
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("Check uq-auc@total-entropy<0.01 leaves right out: no errors")
    ran.json()


def test_checks_know_the_pvalues(files, wrong, run):
    argv = ["rank", *words(files, "DE", "P")[:2], "--labels", wrong, "--fail-if"]
    ran = run(*argv, "DE:calibration-pvalue<0.05")
    assert ran.code == 1
    assert ran.err.splitlines()[0].startswith(
        "Check DE:calibration-pvalue<0.05 failed: calibration-pvalue of kuiper-confidence of DE is 0.0"
    )
    assert len(ran.err.splitlines()) == 2
    ran = run(*argv, "calibration-pvalue@ece-classwise<0.05")
    said = [line.partition(" failed: ")[2].partition(" is ")[0] for line in ran.err.splitlines()]
    assert said == [f"calibration-pvalue of ece-classwise of {model}" for model in ("DE", "P")]
    ran = run(*argv, "calibration-pvalue@margin<0.05")
    assert ran.code == 2
    assert "calibration-pvalue is known for the measures kuiper-confidence, ece-classwise" in ran.err
    plain = run(*argv[:-1])
    assert plain.code == 0


@pytest.mark.parametrize(
    ("checks", "code"),
    [
        (["accuracy<0.01"], 0),
        (["accuracy<{estimate}"], 3),
        (["accuracy<0.99"], 1),
        (["accuracy<{estimate}", "accuracy<0.01"], 3),
        (["accuracy<{estimate}", "accuracy<0.99"], 1),
    ],
)
@pytest.mark.parametrize("command", ["rank", "report"])
def test_checks_on_intervals_fail_pass_or_cannot_tell(checks, code, command, files, run):
    y = np.load(files / "labels.npy")
    estimate = (np.load(files / "point.npz")["probs"].argmax(axis=1) == y).mean()
    given = [word for check in checks for word in ("--fail-if", check.format(estimate=estimate))]
    argv = (command, f"m={files / 'point.npz'}", "--labels", files / "labels.npy", "--draws", "10", "--json")
    ran = run(*argv, *given, "--on-intervals")
    assert ran.code == code
    said = ran.err.splitlines()
    assert sum(" cannot tell: accuracy of m is " in line for line in said) == sum("{" in check for check in checks)
    assert sum(" failed: accuracy of m is " in line for line in said) == (code == 1)
    ran.json()  # the numbers are printed all the same
