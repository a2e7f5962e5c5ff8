"""The lens of the epistemic gain: pairs, samples, runs, studies, readings, rows, sentences, and what is kept."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.evidence.disentanglement_data import made_study as disentanglement_study
from tests.evidence.gain_claims import claim_rates, list_rates
from tests.evidence.gain_data import made_sample, made_study
from tests.evidence.saved_folders import change_arrays, change_facts
from tests.notes import codes
from tests.refusals import refuses
from tests.shown_results import check_shown

import uqassay as uq
from uqassay.calibration import cross_fitted_map
from uqassay.calibration.epistemic_map import EpistemicMap
from uqassay.errors import FileFormatError
from uqassay.evidence import (
    DisentanglementStudy,
    GainRun,
    GainSample,
    GainStudy,
    gain_lines,
    gain_sentences,
    sample_of_pair,
)
from uqassay.evidence.gain import GAIN_TABLES, GainOptions, gain_of_run
from uqassay.evidence.gain_words import (
    check_studies,
    gain_legend,
    read_gain,
    result_sentences,
    side_of,
    study_sentence,
    untold_sentences,
)
from uqassay.evidence.over_runs import OVER_RUNS
from uqassay.metrics.epistemic_gain import (
    delay_curve_of_gains,
    epistemic_calibration_error,
    epistemic_correlation_score,
)
from uqassay.results import plain
from uqassay.statistics import Estimate
from uqassay.text import number

# -- From a pair of predictions to gains and estimates -----------------------------------------------------------------


@pytest.fixture
def pair():
    """Labels, five members without and with more data, for 40 instances of three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    members = rng.dirichlet([1.0, 1.0, 1.0], (40, 5))
    after = 0.7 * np.eye(3)[y] + 0.3 * rng.dirichlet([1.0, 1.0, 1.0], 40)
    return y, uq.Members(members), uq.Point(after)


def test_gains_and_scores_against_their_definitions(pair):
    y, before, after = pair
    found = sample_of_pair(y, before, after, losses=["zero-one", "brier"])
    right = before.mean_probs().argmax(axis=1) == y
    np.testing.assert_array_equal(found.correct_before, right)
    np.testing.assert_array_equal(found.gain["zero-one"], (after.probs.argmax(axis=1) == y) * 1.0 - right)
    brier = [((p - np.eye(3)[y]) ** 2).sum(axis=1) for p in (before.mean_probs(), after.probs)]
    np.testing.assert_allclose(found.gain["brier"], brier[0] - brier[1])
    assert list(found.epistemic) == ["mutual-information", "entropy"]
    p = before.mean_probs()
    np.testing.assert_allclose(found.epistemic["entropy"], -(p * np.log(p)).sum(axis=1))
    expected = -(before.probs * np.log(before.probs)).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(found.epistemic["mutual-information"], found.epistemic["entropy"] - expected)


def test_rows_and_columns_are_put_into_one_order(pair):
    y, before, after = pair
    names, ids, order = ("a", "b", "c"), np.arange(40) + 100, np.random.default_rng(1).permutation(40)
    first = uq.Members(before.probs, class_names=names, ids=ids, groups=np.arange(40) // 4)
    second = uq.Point(after.probs[order][:, [2, 0, 1]], class_names=("c", "a", "b"), ids=ids[order])
    found, plain = (
        sample_of_pair(pd.Series(np.array(names)[y], index=ids), first, second),
        sample_of_pair(y, before, after),
    )
    np.testing.assert_array_equal(found.gain["zero-one"], plain.gain["zero-one"])
    np.testing.assert_array_equal(found.groups, np.arange(40) // 4)


@pytest.mark.parametrize("side", ["before", "after"])
def test_class_names_of_one_prediction_alone_are_refused(pair, side):
    y, before, after = pair
    both = {"before": before, "after": after}
    both[side] = both[side].with_metadata(class_names=("a", "b", "c"))
    other = "after" if side == "before" else "before"
    with refuses(f"models['{other}']", "missing", got="the other has a, b and c"):
        sample_of_pair(y, both["before"], both["after"])
    both[other] = both[other].with_metadata(class_names=("a", "b", "d"))
    with refuses("models['after'].class_names", "mismatch", got="'(c|d)', number 3"):
        sample_of_pair(y, both["before"], both["after"])


def test_scores_by_name_or_as_arrays(pair):
    y, before, after = pair
    assert list(sample_of_pair(y, after, before).epistemic) == ["entropy"]  # the mutual information of a point is 0
    named = sample_of_pair(y, before, after, scores=["margin", "epistemic-entropy", "margin"])
    assert list(named.epistemic) == ["margin", "epistemic-entropy"]
    own = sample_of_pair(y, before, after, scores={"mine": np.arange(40)})
    assert own.epistemic["mine"].tolist() == list(range(40))
    box = uq.Intervals(np.zeros((40, 3)), np.ones((40, 3)))
    with refuses("scores", "choice", got="'mutual-information'"):
        sample_of_pair(y, box, before, scores=["mutual-information"])
    with refuses("scores", "type"):
        sample_of_pair(y, before, after, scores="entropy")
    with refuses("losses", "duplicate"):
        sample_of_pair(y, before, after, losses=["log", "log"])


def test_known_label_probabilities(pair):
    y, before, after = pair
    truth = sample_of_pair(y, before, after, label_probs=after.probs).truth
    p = after.probs
    chosen = np.take_along_axis(p, before.mean_probs().argmax(axis=1)[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(truth.epistemic, p.max(axis=1) - chosen)


def test_pairs_that_do_not_fit(pair):
    y, before, after = pair
    with refuses("models['after']", "mismatch", got="39 instances"):
        sample_of_pair(y, before, after[:39])
    with refuses("y_true", "shape", got="votes"):
        sample_of_pair(np.eye(3)[y], before, after)


# -- Samples and runs of the gain: what they take and what they refuse -------------------------------------------------


RIGHT, WRONG = [True, False, False], [True, True, False]


def sample(**changes):
    fields = {
        "gain": {"zero-one": [0, 1, 0]},
        "epistemic": {"entropy": [0.1, 0.6, 0.2]},
        "correct_before": RIGHT,
        "correct_after": WRONG,
    }
    return GainSample(**(fields | changes))


def test_arrays_of_any_kind_become_floats():
    wide = np.zeros((3, 2), dtype=np.float16)
    wide.flags.writeable = False
    found = sample(epistemic={"entropy": wide[:, 0]}, groups=["a", "a", None])
    assert found.epistemic["entropy"].dtype == found.gain["zero-one"].dtype == np.float64
    assert found.groups.dtype.kind == "U"
    assert (found.n_instances, found.accuracy_before, found.accuracy_after) == (
        3,
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )


@pytest.mark.parametrize(
    ("changes", "parameter", "code", "got"),
    [
        ({"correct_before": [1, 0, 0]}, "correct_before", "shape", "int64"),
        ({"correct_before": []}, "correct_before", "shape", r"\(0,\)"),
        ({"correct_after": [True]}, "correct_after", "mismatch", "1 row, not 3"),
        ({"gain": {}}, "gain", "empty", r"{}"),
        ({"gain": [0, 1, 0]}, "gain", "type", ""),
        ({"gain": {"hinge": [0, 1, 0]}}, "gain", "choice", "'hinge'"),
        (
            {"gain": {"zero-one": [0, -1, 0]}},
            "gain['zero-one']",
            "mismatch",
            "row 1 has -1, and is wrong before and right",
        ),
        ({"epistemic": {"entropy": [0.1, np.nan, 0.2]}}, "epistemic['entropy']", "finite", "1 of 3 .* in row 1"),
        ({"epistemic": {"entropy": [0.1, 0.2]}}, "epistemic['entropy']", "mismatch", "2 rows, not 3"),
        ({"epistemic": {"entropy": [[0.1], [0.2], [0.3]]}}, "epistemic['entropy']", "shape", r"\(3, 1\)"),
        ({"epistemic": {"entropy": ["a", "b", "c"]}}, "epistemic['entropy']", "shape", "<U1"),
        ({"truth": [0.1, 0.2, 0.3]}, "truth", "type", ""),
        ({"groups": [0, 1]}, "groups", "shape", r"\(2,\) for 3 instances"),
    ],
)
def test_samples_that_do_not_fit(changes, parameter, code, got):
    with refuses(parameter, code, got=got):
        sample(**changes)


def test_runs():
    run = GainRun(3, sample(), sample(), {"train": np.int64(7)})
    assert (run.seed, run.sizes, run.notes) == (3, {"train": 7}, ())
    with refuses("seed", "type", got="True"):
        GainRun(True, sample())
    with refuses("test", "type"):
        GainRun(0, {"zero-one": [0]})
    with refuses("sizes", "type"):
        GainRun(0, sample(), None, [3])
    for size in (1.5, -1, float("inf"), True):
        with refuses("sizes['train']", "type"):
            GainRun(0, sample(), None, {"train": size})
    with refuses("calibration.epistemic", "mismatch", got="lacks entropy"):
        GainRun(0, sample(), sample(epistemic={"margin": [0.1, 0.2, 0.3]}))


# -- The numbers of one run against the metrics they are made of, and against sums over intervals by hand --------------


@pytest.fixture(scope="module")
def run():
    return made_study("large", n_runs=1, n=400, groups=4, truth=True).runs[0]


@pytest.fixture(scope="module")
def found(run):
    return gain_of_run(run, GainOptions("mutual-information", bins=10))


def test_numbers_against_the_metrics(run, found):
    g, e, groups = run.test.gain["zero-one"], run.test.epistemic["mutual-information"], run.test.groups
    assert float(found.correlation) == float(epistemic_correlation_score(g, e, groups=groups))
    raw = epistemic_calibration_error(g, e, bins=10, groups=groups)
    assert (float(found.raw.error), found.raw.pvalue) == (float(raw.error), raw.pvalue)
    delay = delay_curve_of_gains(g, e, shares=[0.1], groups=groups)
    at = int(np.flatnonzero(np.isclose(found.delay.shares, 0.1))[0])
    assert found.delay.gained[at] == pytest.approx(float(delay.gained[0]))
    assert float(found.above_random[at]) == pytest.approx(float(delay.above_random(0.1)))
    assert float(found.excess) == pytest.approx((e - g).mean())


def test_mapped_estimates_stay_in_the_intervals_of_the_estimates(run, found):
    g, e = run.test.gain["zero-one"], run.test.epistemic["mutual-information"]
    own = run.calibration
    fitted = EpistemicMap(n_bins=10).fit(own.epistemic["mutual-information"], own.gain["zero-one"], evaluation=e)
    mapped = fitted.transform(e)
    order = np.argsort(e, kind="stable").reshape(10, 40)  # ten intervals of forty instances, without ties
    error = np.mean([abs(g[rows].mean() - mapped[rows].mean()) for rows in order])
    assert float(found.calibrated.error) == pytest.approx(error, abs=1e-14)
    np.testing.assert_allclose(found.means["calibrated"], [mapped[rows].mean() for rows in order])
    np.testing.assert_allclose(found.means["gain"], [g[rows].mean() for rows in order])
    np.testing.assert_allclose(found.means["true"], [run.test.truth.epistemic[rows].mean() for rows in order])


def test_a_run_without_calibration_has_no_map():
    run = made_study(n_runs=1, n=100, calibration=False).runs[0]
    found = gain_of_run(run, GainOptions("entropy", cross_fit=0))
    assert found.gain_map is found.calibrated is found.excess_calibrated is None
    assert "calibrated" not in found.means


def test_without_calibration_the_map_is_cross_fitted():
    run = made_study(n_runs=1, n=400, groups=4, calibration=False).runs[0]
    found = gain_of_run(run, GainOptions("entropy", bins=10, cross_fit=4))
    g, e = run.test.gain["zero-one"], run.test.epistemic["entropy"]
    expected = cross_fitted_map(g, e, bins=10, n_folds=4, groups=run.test.groups)
    assert float(found.calibrated.error) == float(expected.calibration.error)
    assert found.excess_calibrated is None
    assert found.gain_map.n_instances == 400
    place = np.searchsorted(found.raw.edges[1:-1], e, side="right")
    np.testing.assert_allclose(found.means["calibrated"], np.bincount(place, expected.mapped) / np.bincount(place))


def test_few_groups_are_not_cross_fitted():
    run = made_study(n_runs=1, n=90, groups=10, calibration=False).runs[0]
    found = gain_of_run(run, GainOptions("entropy", bins=3))
    assert found.gain_map is found.cross_fit is found.calibrated is None
    assert any("9 groups for 5 folds" in note.text for note in found.notes)


def test_a_map_in_its_own_intervals():
    run = made_study(n_runs=1, n=400).runs[0]
    found = gain_of_run(run, GainOptions("entropy", bins=10, map_bins="own"))
    fitted = EpistemicMap(bins="own", n_bins=10)
    fitted.fit(run.calibration.epistemic["entropy"], run.calibration.gain["zero-one"])
    np.testing.assert_array_equal(found.gain_map.transform([0.1, 0.5]), fitted.transform([0.1, 0.5]))


# -- A study of the gain: its runs, and the results it gives -----------------------------------------------------------


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


# -- Results over runs against the runs; ties and single runs ----------------------------------------------------------


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


def test_a_result_is_shown_by_its_sentences():
    result = made_study(n_runs=2, n=120).result(bins=5)
    shown = " ".join(check_shown(result, result.score).split())
    assert all(sentence in shown for sentence in result_sentences(result))


# -- Conclusions from results of the gain, and how often they are false where there is nothing to find -----------------


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [
        (0.1, 0.2, "above"),
        (-0.2, -0.1, "below"),
        (-0.1, 0.1, "unclear"),
        (0.0, 0.1, "unclear"),
        (np.nan, 1, "undefined"),
    ],
)
def test_sides_of_zero(low, high, side):
    assert side_of(Estimate(0.0, low=low, high=high, level=0.95, n=3, method="some")) == side


@pytest.mark.parametrize(
    ("kind", "order", "shown", "excess", "delay"),
    [
        ("calibrated", "above", False, "unclear", "above"),
        ("large", "above", True, "above", "above"),
        ("shuffled", "unclear", True, "unclear", "unclear"),
        ("reversed", "below", True, "above", "below"),
        ("constant", "undefined", False, "unclear", "unclear"),
    ],
)
@pytest.mark.parametrize("n_runs", [1, 5])
def test_what_studies_show(kind, order, shown, excess, delay, n_runs):
    found = read_gain(made_study(kind, n_runs=n_runs, n=2000, seed=5).result(bins=10, shares=(0.1,)))
    assert (found.order, found.raw.shown, found.raw.excess, found.delay.side) == (order, shown, excess, delay)
    assert found.gain == "above"
    assert found.delay.share == 0.1
    assert found.reduction == ("undefined" if n_runs == 1 else "above" if shown else found.reduction)
    assert found.raw.shown == (found.raw.pvalue <= 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("n_runs", "n"), [(1, 300), (3, 200)])
def test_claims_are_seldom_false(n_runs, n):
    """If each rate is 5 %, 5 or more of 20 are false with a chance of .3 %, and if one is 45 %, with one of 98 %."""
    rates = claim_rates(20, n_runs=n_runs, n=n, seed=1)
    for name in ("order", "delay", "not_calibrated", "size", "no_help"):
        assert getattr(rates, name) <= 4 / 20, rates


@pytest.mark.parametrize("n_runs", [1, 2, 3, 6])
def test_pvalues_of_runs_together_against_the_cauchy_distribution(n_runs):
    result = made_study("calibrated", n_runs=n_runs, n=60, calibration=False).result(bins=5, shares=(0.1,))
    each = np.array([run.raw.pvalue for run in result.runs])
    expected = stats.cauchy.sf(stats.cauchy.isf(np.minimum(each, 0.99)).mean()) if n_runs > 1 else each[0]
    assert read_gain(result).raw.pvalue == pytest.approx(expected)


@pytest.mark.slow
def test_calibration_over_runs_that_share_their_instances_is_seldom_refused():
    """Of 25 studies of equal runs 6 or more would be refused with a chance of .1 %, if 5 % are; if 45 % are, with one of 99 %.

    Each run has small bins.
    """
    refused = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        whole = made_sample("calibrated", rng, 300)
        parts = [rng.permutation(300)[:200] for _ in range(4)]
        runs = [GainRun(r, rows_of(whole, rows)) for r, rows in enumerate(parts)]
        refused += read_gain(GainStudy("m", "", runs).result(bins=20, shares=(0.1,), cross_fit=0)).raw.shown
    assert refused <= 5


def rows_of(sample, rows):
    gains = {name: values[rows] for name, values in sample.gain.items()}
    estimates = {"mutual-information": sample.epistemic["mutual-information"][rows]}
    return GainSample(gains, estimates, sample.correct_before[rows], sample.correct_after[rows])


def test_no_pvalue_for_one_instance():
    result = made_study("calibrated", n_runs=2, n=1, calibration=False).result(shares=(0.1,))
    found = read_gain(result).raw
    assert np.isnan(found.pvalue)
    assert not found.shown


# -- Rows and tables of a study of the gain ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study():
    return made_study(n_runs=2, n=120)


@pytest.mark.parametrize("name", list(GAIN_TABLES))
def test_tables_have_the_columns_of_the_rows(study, name):
    rows = study.rows(name, bins=5)
    assert {tuple(row) for row in rows} == {tuple(GAIN_TABLES[name][1])}
    assert len(study.table(name, bins=5)) == len(rows)
    json.dumps(plain(rows), allow_nan=False)


def test_rows_hold_the_numbers_of_the_result(study):
    result = study.result("entropy", bins=5)
    row = study.rows("scores", bins=5)[1]
    assert (row["score"], row["runs"], row["error"]) == ("entropy", 2, float(result.error))
    assert row["correlation_sd"] == result.correlation.sd
    runs = [row for row in study.rows("runs", bins=5) if row["score"] == "entropy"]
    assert [row["raw_pvalue"] for row in runs] == [run.raw.pvalue for run in result.runs]
    assert [row["interval"] for row in study.rows("bins", bins=5)] == [1, 2, 3, 4, 5] * 2
    assert study.rows("delay", bins=5)[2]["gained"] == result.runs[0].delay.gained[2] * 0.5 + (
        study.result(bins=5).runs[1].delay.gained[2] * 0.5
    )
    with refuses("name", "choice", got="'curves'"):
        study.rows("curves")


def test_without_a_map_its_fields_are_empty():
    row = made_study(n_runs=1, n=60, calibration=False).rows("scores", cross_fit=0)[0]
    assert row["calibrated_error"] is row["calibrated_error_low"] is row["reduction"] is None


# -- Sentences on the gain: they say what the readings hold, in whole sentences, with the numbers of the result --------


FAST = {"bins": 10, "shares": (0.1,)}


def said(kind, *, cross_fit=0, **options):
    study = made_study(kind, n=options.pop("n", 1000), **options)
    result = study.result(**FAST, cross_fit=cross_fit)
    return study, result, " ".join(result_sentences(result))


@pytest.mark.parametrize("n_runs", [1, 4])
def test_good_estimates(n_runs):
    _, result, text = said("calibrated", n_runs=n_runs)
    rho, random = number(float(result.correlation), 2), number(100 * result.delay.random.mean[0], 1)
    assert f"The estimates order the gain: ρ = {rho} (95 % interval " in text
    assert "The estimates are not calibrated" not in text
    gained = number(100 * result.delay.gained.mean[0], 1)
    assert f"would gain {gained} percentage points of accuracy (95 % interval " in text
    assert f"more than a random choice of as many, which would gain {random}." in text
    assert study_sentence(result).startswith("made up: more data gain ")


def test_estimates_that_are_too_large():
    _, result, text = said("large", n_runs=4)
    before, after = number(float(result.error), 4), number(float(result.calibrated_error), 4)
    assert f"The estimates are not calibrated, too large on average: EECE {before}, p < .001, without its bias " in text
    assert f"The map γ lowers EECE from {before} to {after}." in text
    _, _, text = said("large", n_runs=1)
    assert "too large on average: EECE " in text
    assert ", p < .001, without its bias " in text
    assert "before the map γ and" in text


def test_cross_fitted_maps():
    """The error before the map is that in the intervals of the folds, and the name of the method is said."""
    _, result, text = said("large", n_runs=4, calibration=False, cross_fit=5)
    after = float(result.calibrated_error)
    before = number(after + float(result.reduction), 4)
    change = f"The map γ (cross-fitted in 5 folds) lowers EECE in the folds from {before} to {number(after, 4)}."
    assert change in text
    assert (
        f"The mapped estimates are calibrated within what the test sets of 4 runs can show: EECE {number(after, 4)}"
        in text
    )
    _, result, text = said("reversed", n_runs=1, n=3000, calibration=False, cross_fit=4)
    assert "before the map γ (cross-fitted in 4 folds) and" in text
    assert "No rising map calibrates the estimates: EECE " in text
    assert "Cross-fitting maps each fold" in " ".join(untold_sentences([result]))


def test_estimates_without_order():
    _, _, text = said("shuffled", n_runs=3, calibration=False, seed=7)
    assert "The data do not show that the estimates order the gain: ρ = " in text
    assert "and the data do not show a difference." in text
    assert "map" not in text
    _, _, text = said("constant", n_runs=1)
    assert "Whether the estimates order the gain cannot be told (" in text
    _, _, text = said("reversed", n_runs=4)
    assert "The estimates order the gain in the wrong direction: ρ = −" in text


def test_limits_are_told():
    one = made_study(n_runs=1, n=60, calibration=False).result(**FAST, cross_fit=0)
    several = made_study(n_runs=2, n=60).result(**FAST)
    alone, both = " ".join(untold_sentences([one])), " ".join(untold_sentences([one, several]))
    assert "One run says nothing about other splits" in alone
    assert "No map was fitted for mutual-information" in alone
    assert "Intervals over the runs" not in alone
    assert "Intervals over the runs" in both
    assert "in nats" in alone
    assert len(gain_legend([one])) == 4
    assert "(Bonferroni)" in gain_legend([one, several], lists=True)[-1]


@pytest.mark.parametrize("alone", [{"n": 1}, {"n": 40, "groups": 40}])
def test_one_instance_or_group_claims_nothing(alone):
    _, _, text = said("calibrated", n_runs=1, calibration=False, **alone)
    assert "Whether the estimates are calibrated cannot be told: EECE " in text
    assert "calibrated within" not in text
    assert "–" not in text


def test_lines_for_a_terminal():
    study = made_study("calibrated", "evil\u202ename", n_runs=2, n=200)
    lines = gain_lines([study], **FAST)
    text = "\n".join(lines)
    assert "\u202e" not in text
    assert r"evil\u202ename, entropy" in text
    for result in study.results(**FAST):
        for sentence in result_sentences(result):
            assert sentence in text


def test_studies_to_compare():
    with refuses("studies", "empty"):
        check_studies([])
    with refuses("studies", "duplicate", got="'made up' occurs twice on 'toy'"):
        check_studies([made_study(n_runs=1, n=10)] * 2)
    check_studies([made_study(n_runs=1, n=10), made_study(n_runs=1, n=10, dataset="other")])


# -- The first sentences on several studies: lists that hold as a whole ------------------------------------------------


def test_headlines_of_several_studies():
    studies = [made_study(kind, kind, n_runs=3, n=800) for kind in ("calibrated", "shuffled")]
    text = " ".join(gain_sentences(studies, **FAST))
    assert "More data gain on average, in percentage points of accuracy: calibrated " in text
    assert "The estimates of calibrated (mutual-information) (ρ = " in text
    assert "The data do not show that the estimates of shuffled (mutual-information) (ρ = " in text
    assert (
        "Delaying the 10 % most uncertain cases would gain more than a random choice of as many (in brackets)" in text
    )
    both = " ".join(gain_sentences([made_study(dataset=name, n_runs=1, n=60) for name in "ab"], **FAST))
    assert "On a:" in both
    assert "On b:" in both


def test_lists_name_every_side():
    kinds = ("calibrated", "large", "reversed", "constant")
    text = " ".join(gain_sentences([made_study(kind, kind, n_runs=4, n=3000) for kind in kinds], **FAST))
    assert "The estimates of reversed (mutual-information) (ρ = −" in text
    assert "order the gain in the wrong direction." in text
    assert (
        "The estimates of reversed (mutual-information) and reversed (entropy) choose the 10 % of the cases that"
        in text
    )
    assert "Whether the estimates of constant (mutual-information) and constant (entropy) order the gain cannot" in text
    assert "The map γ lowers EECE of " in text
    calibrated = [sentence for sentence in text.split(". ") if "are not calibrated" in sentence]
    assert len(calibrated) == 1
    assert "calibrated (mutual-information)" not in calibrated[0]
    assert "large (entropy)" in calibrated[0]


def test_a_list_holds_as_a_whole():
    """An estimate that is shown to order the gain by itself is not in a long list, if it is barely shown."""
    options = {**FAST, "cross_fit": 0}
    for seed in range(1, 40):
        barely = made_study("calibrated", "barely", n_runs=3, n=150, seed=seed, calibration=False)
        alone = read_gain(barely.result(**options))
        wide = read_gain(barely.result(**options, level=1 - 0.05 / 24))
        if (alone.order, wide.order) == ("above", "unclear"):
            break
    others = [made_study("shuffled", f"m{i}", n_runs=3, n=150, seed=(9, i), calibration=False) for i in range(11)]
    said = gain_sentences([barely, *others], **options)
    assert not [one for one in said if one.startswith("The estimates of barely") and one.endswith("order the gain.")]
    assert gain_sentences([barely], **options)[1].startswith("The estimates of mutual-information")


@pytest.mark.slow
def test_lists_are_seldom_false():
    """Of 20 lists over four estimates 5 or more would hold a false name with a chance of .3 %, if 5 % are false; if 45 % are,
    with one of 98 %.
    """
    rates = list_rates(20, n_methods=4, n_runs=1, n=150, seed=2)
    assert max(rates.values()) <= 4 / 20, rates


# -- Studies of the gain in folders: all of them comes back, and what does not fit is refused; see test_saved_folde ----


def test_saved_studies_come_back(tmp_path):
    study = made_study("large", n_runs=2, n=40, groups=4, truth=True)
    folder = study.save(tmp_path / "runs" / "study")
    again = GainStudy.load(folder)
    assert (again.method, again.dataset, again.seeds, again.facts) == ("made up", "toy", (0, 1), {"instances": 40})
    for mine, other in zip(study.runs, again.runs, strict=True):
        assert mine.sizes == other.sizes
        for a, b in ((mine.test, other.test), (mine.calibration, other.calibration)):
            np.testing.assert_array_equal(a.gain["zero-one"], b.gain["zero-one"])
            np.testing.assert_array_equal(a.epistemic["entropy"], b.epistemic["entropy"])
            np.testing.assert_array_equal(a.correct_after, b.correct_after)
            np.testing.assert_array_equal(a.truth.epistemic, b.truth.epistemic)
            np.testing.assert_array_equal(a.groups, b.groups)
    assert made_study("large", n_runs=1, n=40, calibration=False).save(folder) == folder
    assert GainStudy.load(folder).runs[0].calibration is None


@pytest.fixture
def kept(tmp_path):
    return made_study(n_runs=1, n=10).save(tmp_path / "study")


def test_a_study_of_another_kind_is_refused(tmp_path, kept):
    other = disentanglement_study("perfect", n_runs=2, n=12).save(tmp_path / "other")
    with refuses(str(other), "unreadable", got="disentanglement-study/2", error=FileFormatError):
        GainStudy.load(other)
    with refuses(str(kept), "unreadable", got="gain-study/2", error=FileFormatError):
        DisentanglementStudy.load(kept)


def first_run(facts, **values):
    facts["runs"][0] |= values


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda facts: facts.update(schema="uqassay.gain-study/0"), "study/0"),
        (lambda facts: facts.pop("runs"), "runs is missing"),
        (lambda facts: facts.update(runs=[]), "got none"),
        (lambda facts: facts.update(runs=facts["runs"] * 2), "runs/1/test/gain/zero-one must be"),
        (lambda facts: first_run(facts, test=None), "runs/0/test must be an object; got None"),
        (lambda facts: first_run(facts, seed="a"), "'a'"),
        (lambda facts: facts.update(facts=[1]), "1"),
        (lambda facts: first_run(facts, sizes={"test": float("inf")}), "inf"),
    ],
)
def test_damaged_folders_are_refused(kept, change, got):
    change_facts(kept, change)
    with refuses(str(kept), "unreadable", got=got, error=FileFormatError):
        GainStudy.load(kept)


def test_arrays_that_do_not_fit_are_refused(kept):
    change_arrays(
        kept, lambda arrays: arrays.update({"runs/0/test/correct_before": ~arrays["runs/0/test/correct_before"]})
    )
    with refuses(str(kept), "unreadable", got="row 0", error=FileFormatError):
        GainStudy.load(kept)
