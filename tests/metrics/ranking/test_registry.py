"""The ranking metrics by name: each against its function, its direction, and its runs."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay import metrics
from uqassay.metrics.ranking import RANKING_METRICS, is_constant
from uqassay.metrics.risk import rank_errors
from uqassay.statistics.linearised import Linearised

FUNCTIONS = {
    "uq-auc": metrics.uq_auc_score,
    "uq-c-index": metrics.uq_c_index_score,
    "aurc": metrics.aurc_loss,
    "e-aurc": metrics.e_aurc_loss,
    "augrc": metrics.augrc_loss,
    "prediction-rejection": metrics.prediction_rejection_score,
    "g-auc": metrics.g_auc_score,
    "h-auc": metrics.h_auc_score,
}


def case(rng, n=80):
    errors = (rng.random(n) < 0.3).astype(float)
    return errors, rng.normal(size=n) + errors


def test_every_name_has_its_function():
    assert set(RANKING_METRICS) == set(FUNCTIONS)
    assert all(name == metric.name for name, metric in RANKING_METRICS.items())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("grouped", [False, True])
def test_one_run_is_the_function(name, grouped, random_generator):
    truth, s = case(random_generator)
    groups = np.arange(80) // 4 if grouped else None
    found = RANKING_METRICS[name].estimate(truth[np.newaxis], s[np.newaxis], groups=groups)
    expected = FUNCTIONS[name](truth, s, groups=groups)
    np.testing.assert_allclose([found, found.low, found.high], [expected, expected.low, expected.high], rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_better_score_is_better_in_the_stated_direction(name, random_generator):
    truth, s = case(random_generator, 400)
    metric = RANKING_METRICS[name]
    good, poor = (
        float(metric.estimate(truth[np.newaxis], x[np.newaxis])) for x in (s, random_generator.permutation(s))
    )
    assert (good > poor) == metric.higher_is_better


@pytest.mark.parametrize("name", FUNCTIONS)
def test_runs_are_averaged(name, random_generator):
    cases = [case(random_generator) for _ in range(3)]
    truths, scores = (np.stack(part) for part in zip(*cases, strict=True))
    metric = RANKING_METRICS[name]
    found = metric.estimate(truths, scores)
    each = [float(metric.estimate(truths[r : r + 1], scores[r : r + 1])) for r in range(3)]
    assert float(found) == pytest.approx(np.mean(each))
    statistics = metric.runs(truths, scores)
    assert [type(s) for s in statistics] == [Linearised] * 3
    one, weights = metric.linearised_of(*cases[0])
    np.testing.assert_allclose(one.influence, statistics[0].influence)
    assert weights is None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_run_needs_no_axis_of_its_own(name, random_generator):
    truth, s = case(random_generator)
    metric = RANKING_METRICS[name]
    assert metric.estimate(truth, s) == metric.estimate(truth[np.newaxis], s[np.newaxis])
    with refuses("uncertainty", "shape"):
        metric.estimate(truth, np.stack([s, s]))
    with refuses("uncertainty", "finite"):
        metric.estimate(truth, np.where(s == s[3], np.nan, s))


def test_constant_scores_of_every_run():
    assert is_constant(np.array([[1.0, 1.0], [2.0, 2.0]]))
    assert not is_constant(np.array([[1.0, 1.0], [2.0, 3.0]]))


@pytest.mark.parametrize("errors", ["labels", "shares"])
def test_metrics_that_share_a_ranking_find_the_same(errors, random_generator):
    n = 200
    e = (
        random_generator.random((2, n))
        if errors == "shares"
        else random_generator.integers(2, size=(2, n)).astype(float)
    )
    s = random_generator.integers(30, size=(2, n)).astype(float)
    groups = np.arange(n) // 3
    ranked = [rank_errors(*run) for run in zip(e, s, strict=True)]
    names = [name for name, metric in RANKING_METRICS.items() if metric.of_ranked is not None]
    assert names == ["uq-auc", "aurc", "e-aurc", "augrc", "prediction-rejection"]
    for name in [*names, *reversed(names)]:
        alone = RANKING_METRICS[name].estimate(e, s, groups=groups)
        shared = RANKING_METRICS[name].estimate(e, s, groups=groups, ranked=ranked)
        assert (shared.to_dict(), float(shared)) == (alone.to_dict(), float(alone))


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("errors", ["labels", "shares", "none"])
@pytest.mark.parametrize("levels", [9, 10**6])
def test_the_ratio_follows_from_uq_auc(runs, errors, levels, random_generator):
    n = 200
    e = random_generator.random((runs, n))
    e = {"labels": (e < 0.06).astype(float), "shares": e, "none": np.zeros((runs, n))}[errors]
    s = random_generator.integers(levels, size=(runs, n)) + 0.3 * levels * e
    ratio = RANKING_METRICS["prediction-rejection"]
    for groups in (None, np.arange(n) // 3):
        # orders of the same errors share what no order changes
        first = [rank_errors(run, run) for run in e]
        ranked = [rank_errors(one, by, like=like) for one, by, like in zip(e, s, first, strict=True)]
        auc = RANKING_METRICS["uq-auc"].estimate(e, s, groups=groups, ranked=ranked)
        alone = ratio.estimate(e, s, groups=groups)
        found = ratio.estimate(e, s, groups=groups, ranked=ranked, auc=auc)
        assert (found.notes, found.method, found.n) == (alone.notes, alone.method, alone.n)
        np.testing.assert_allclose([found, found.low, found.high], [alone, alone.low, alone.high], rtol=1e-12)
