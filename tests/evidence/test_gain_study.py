"""A study of the gain: its runs, and the results it gives."""

import numpy as np
import pytest
from tests.evidence.gain_data import made_sample, made_study
from tests.refusals import refuses
from tests.shown_results import check_shown

from uqassay.evidence import GainRun, GainSample, GainStudy, gain_sentences


def test_a_study_knows_what_its_runs_share():
    study = made_study(n_runs=2, n=30)
    other = GainSample(
        {"zero-one": study.runs[0].test.gain["zero-one"]},
        {"entropy": np.arange(30)},
        study.runs[0].test.correct_before,
        study.runs[0].test.correct_after,
    )
    mixed = GainStudy("m", "d", (*study.runs, GainRun(7, other)))
    assert (mixed.n_runs, mixed.seeds, mixed.scores, mixed.losses) == (3, (0, 1, 7), ("entropy",), ("zero-one",))


@pytest.mark.parametrize(
    ("runs", "facts", "parameter", "code", "got"),
    [
        ((), {}, "runs", "empty", ""),
        ((1,), {}, r"runs[0]", "type", "1"),
        ("twice", {}, "runs", "duplicate", r"\[0, 0\]"),
        ("apart", {}, "runs", "mismatch", "score"),
        ("one", [1], "facts", "type", ""),
    ],
)
def test_studies_that_do_not_fit(runs, facts, parameter, code, got):
    (run,) = made_study(n_runs=1, n=20).runs
    plain = run.test
    apart = GainSample(plain.gain, {"margin": np.arange(20)}, plain.correct_before, plain.correct_after)
    given = {"twice": (run, run), "apart": (GainRun(0, plain), GainRun(1, apart)), "one": (run,)}
    with refuses(parameter, code, got=got):
        GainStudy("m", "d", given.get(runs, runs) if isinstance(runs, str) else runs, facts)


def test_results_are_kept_and_options_reach_them():
    study = made_study(n_runs=1, n=100)
    first = study.result("entropy", bins=5)
    assert study.result("entropy", bins=5) is first
    assert (first.bins.n_bins, first.score, first.level) == (5, "entropy", 0.95)
    assert study.result("entropy", bins=4, binning="equal-width", level=0.9).options.binning == "equal-width"
    assert [one.score for one in study.results()] == ["mutual-information", "entropy"]
    with refuses("score", "choice", got="'margin'"):
        study.result("margin")
    with refuses("loss", "choice", got="'log'"):
        study.result("entropy", "log")
    with refuses("bins", "range", got="0"):
        study.result(bins=0)


@pytest.mark.parametrize("n", [1, 2])
def test_a_study_of_one_or_two_instances(n):
    sample = made_sample("constant", np.random.default_rng(0), n)
    result = GainStudy("m", "d", (GainRun(0, sample),)).result()
    assert np.isnan(result.correlation.estimate)
    assert result.calibrated_error is None


def test_calibration_samples_come_before_folds():
    study = made_study(n_runs=2, n=60)
    assert study.result("entropy", bins=3).n_folds == 0
    alone = made_study(n_runs=2, n=60, calibration=False)
    result = alone.result("entropy", bins=3, cross_fit=2)
    assert (result.n_folds, alone.rows("scores", bins=3)[0]["folds"]) == (2, 5)
    assert result.excess_calibrated is None
    before = [float(run.cross_fit.before) - float(run.calibrated.error) for run in result.runs]
    assert float(result.reduction) == pytest.approx(np.mean(before))
    assert alone.result("entropy", cross_fit=0).reduction is None
    for folds in (1, 2.0, -1, 101, True):
        with refuses("cross_fit", "range"):
            study.result(cross_fit=folds)


def test_it_is_shown_by_the_sentences_of_its_verdict():
    study = made_study(n_runs=2, n=120)
    shown = " ".join(check_shown(study, *study.scores).split())
    assert all(" ".join(sentence.split()) in shown for sentence in gain_sentences([study]))
    assert [row.cells[0].text for row in study._shown_table().rows] == list(study.scores)


def test_without_the_zero_one_loss_the_first_is_shown():
    study = made_study(n_runs=2, n=60)
    runs = [
        GainRun(
            run.seed,
            GainSample({"log": run.test.gain["zero-one"] * 0.5}, run.test.epistemic, *([True] * 60, [True] * 60)),
        )
        for run in study.runs
    ]
    assert "Loss: log." in check_shown(GainStudy("m", "", tuple(runs))) + GainStudy("m", "", tuple(runs)).summary()
