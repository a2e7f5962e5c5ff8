"""`uqassay gain --fail-if`: exit codes and sentences."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.gain_data import made_study
from tests.refusals import refuses

from uqassay.cli.fail_if import GAIN_METRICS, gain_outcome, parse_check


@pytest.fixture(scope="module")
def results():
    return made_study("large", "GP", n_runs=3, n=300).results(bins=5, shares=(0.1,))


@pytest.mark.parametrize("metric", list(GAIN_METRICS))
def test_every_metric_can_be_checked(results, metric):
    outcome = gain_outcome(parse_check(f"{metric}@entropy<1000"), results)
    value = float(GAIN_METRICS[metric](results[1]))
    assert len(outcome.failed) == 1
    assert f"{value:.4g}".replace("-", "−")[:5] in outcome.failed[0]
    assert "GP, entropy" in outcome.failed[0]
    assert gain_outcome(parse_check(f"GP:{metric}>1000"), results).sentences() == ()


def test_intervals_that_cannot_tell(results):
    rho = results[0].correlation.estimate
    inside = f"correlation@mutual-information<{float(rho) + 1e-6}"
    assert gain_outcome(parse_check(inside), results).failed
    assert gain_outcome(parse_check(inside), results, on_intervals=True).unclear


def test_what_cannot_be_checked(results):
    for text, got in (("accuracy<0.9", "'accuracy'"), ("DE:eece>0.1", "'DE'"), ("eece@margin>0.1", "'margin'")):
        with refuses("--fail-if", "choice", got=got):
            gain_outcome(parse_check(text), results)
    with refuses("--fail-if", "conflict", got="0.5"):
        gain_outcome(parse_check("eece@0.5>0.1"), results)
    without = made_study("constant", n_runs=1, n=30, calibration=False).results(cross_fit=0)
    with refuses("--fail-if", "undefined", got="no map"):
        gain_outcome(parse_check("eece-mapped>0.1"), without)
    found = gain_outcome(parse_check("correlation<0.1"), without)
    assert found.word == "cannot tell"
    (said,) = found.sentences()
    assert "is undefined (" in said
    assert "constant" in said


def test_a_score_of_another_model(results):
    other = made_study("large", "DE", n_runs=1, n=30, calibration=False)
    runs = tuple(replace(run, test=replace(run.test, epistemic={"margin": np.arange(30.0)})) for run in other.runs)
    both = [*results, *replace(other, runs=runs).results()]
    with refuses("--fail-if", "undefined", got="DE has no score entropy"):
        gain_outcome(parse_check("DE:eece@entropy>0.1"), both)


def test_exit_codes(results, run, tmp_path):
    folder = made_study("large", "GP", n_runs=3, n=300).save(tmp_path / "study")
    assert run("gain", folder, "--bins", "5", "--fail-if", "correlation<-0.9").code == 0
    failed = run("gain", folder, "--bins", "5", "--fail-if", "eece>0.1", "--json")
    assert failed.code == 1
    assert failed.err.startswith("Check eece>0.1 failed: eece of GP, mutual-information is ")
    value = float(results[0].correlation)
    unclear = run("gain", folder, "--bins", "5", "--fail-if", f"correlation@entropy<{value}", "--on-intervals")
    assert unclear.code == 3
