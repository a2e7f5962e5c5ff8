"""Results over runs against the runs; ties and single runs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.evidence.gain_data import made_sample, made_study
from tests.notes import codes
from tests.shown_results import check_shown

from uqassay.evidence import GainRun, GainSample, GainStudy
from uqassay.evidence.gain_words import result_sentences
from uqassay.evidence.over_runs import OVER_RUNS


def test_means_deviations_and_intervals_over_runs():
    result = made_study("large", n_runs=4, n=300).result()
    values = [float(run.raw.error) for run in result.runs]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert float(result.error) == pytest.approx(np.mean(values))
    assert result.error.sd == pytest.approx(np.std(values, ddof=1))
    assert (result.error.estimate.low, result.error.estimate.high) == pytest.approx((low, high))
    assert result.error.estimate.method == OVER_RUNS
    assert float(result.reduction) == pytest.approx(float(result.error) - float(result.calibrated_error))
    per_run = [run.means["gain"] for run in result.runs]
    np.testing.assert_allclose(result.bins.gain.mean, np.mean(per_run, axis=0))
    np.testing.assert_allclose(result.bins.gain.sd, np.std(per_run, axis=0, ddof=1))
    np.testing.assert_allclose(result.delay.random.mean[-1], float(result.mean_gain))
    assert result.delay.gained.mean[-1] == pytest.approx(float(result.mean_gain))
    assert result.delay.at(0.1)[0] == pytest.approx(result.delay.gained.mean[2])


def test_one_run_has_the_intervals_of_its_instances():
    result = made_study(n_runs=1, n=300).result()
    run = result.runs[0]
    assert (result.correlation.estimate.low, result.error.estimate.high) == (run.correlation.low, run.raw.error.high)
    assert result.correlation.estimate.method.endswith("over instances, 1 run")
    np.testing.assert_array_equal(result.bins.gain.low, run.raw.gain_low)
    np.testing.assert_array_equal(result.delay.gained.high, run.delay.high)
    assert np.isnan(result.reduction.estimate.low)
    assert codes(result.reduction.estimate) == ["no-interval"]


def test_runs_with_fewer_intervals_are_aligned_at_the_greatest_estimates():
    rng = np.random.default_rng(0)
    plain, tied = (made_sample("calibrated", rng, 100) for _ in range(2))
    half = tied.epistemic["entropy"].copy()
    half[np.argsort(half)[:50]] = 0.0
    second = GainSample(tied.gain, {"entropy": half}, tied.correct_before, tied.correct_after)
    result = GainStudy("m", "d", (GainRun(0, plain), GainRun(1, second))).result("entropy", bins=4)
    assert result.bins.count.tolist() == [[25, 25, 25, 25], [0, 50, 25, 25]]
    top = [sample.gain["zero-one"][np.argsort(sample.epistemic["entropy"])[-25:]].mean() for sample in (plain, second)]
    assert result.bins.gain.mean[-1] == pytest.approx(np.mean(top))
    assert result.bins.gain.mean[0] == pytest.approx(result.runs[0].means["gain"][0])
    assert "left-out" in codes(result)


def test_calibration_instances_outside_the_intervals_are_counted_once():
    notes = [note for note in made_study(n_runs=3, n=200).result().notes if note.code == "assumption"]
    assert len(notes) == 1
    assert notes[0].facts["instances"] == 600


def test_few_gains_are_told_once_for_all_runs():
    study = made_study(n_runs=3, n=60)
    one = study.runs[0]

    def with_gains(count):
        gain = np.r_[np.ones(count), np.zeros(one.test.n_instances - count)]
        right = {"correct_before": gain == 0, "correct_after": np.ones(len(gain), dtype=bool)}
        return replace(one, seed=count, test=replace(one.test, gain={"zero-one": gain}, **right))

    runs = tuple(map(with_gains, (2, 5, 9)))
    found = replace(study, runs=runs).result("entropy")
    told = [note.text for note in found.notes if note.code == "few"]
    assert told == ["3 of 3 runs have only 2 to 9 gains other than 0: rough intervals"]


def test_it_is_shown_by_the_sentences_of_its_verdict():
    result = made_study(n_runs=2, n=120).result(bins=5)
    shown = " ".join(check_shown(result, result.score).split())
    assert all(sentence in shown for sentence in result_sentences(result))
