"""Ranking findings of an assay equal the metrics' own functions; runs, groups, subgroups, given scores, comparisons."""

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.kinds import PREDICTING, random_prediction
from tests.notes import said
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.mistakes import METRICS
from uqassay.losses.unified import prediction_errors, probability_gap
from uqassay.measures.registry import score_names
from uqassay.metrics.ranking import paired_ranking_test, pairwise_ranking_tests, uq_auc_score, uq_c_index_score
from uqassay.metrics.risk import selective_gain


def ends(estimate):
    return [float(estimate), estimate.low, estimate.high]


@pytest.fixture(scope="module")
def judged():
    g = np.random.default_rng(11)
    logits = g.normal(0, 1.5, (300, 4, 3)) + 2 * g.normal(size=(300, 1, 3))
    y = logits[:, 0].argmax(axis=1)
    y[:60] = g.integers(0, 3, 60)
    members = uq.Members.from_logits(logits)
    models = {"ensemble": members, "one": uq.Point(members.probs[:, 1]), "two runs": [members[::1], members[::1]]}
    models["two runs"] = [uq.Point(members.probs[:, 2]), uq.Point(members.probs[:, 3])]
    sites = np.repeat(["a", "b", "c"], 100)
    given = {"one": {"noise": g.normal(size=300)}}
    found = judge(models, y, subgroups={"site": sites}, uncertainties=given, n_draws=20, tradeoffs=[0.5])
    return found, models, y, given


@pytest.mark.parametrize(
    "score", ["total-entropy", "epistemic-entropy", "vote-entropy", "free-energy", "nonspecificity"]
)
def test_findings_are_the_metrics_own_numbers(judged, score):
    assay, models, y, _ = judged
    p = models["ensemble"]
    values = uq.measures.SCORES[score](p)
    rows = {r["metric"]: r for r in assay.rows("findings") if r["model"] == "ensemble" and r["score"] == score}
    expected = {
        "uq-auc": uq_auc_score(prediction_errors(y, p), values),
        "uq-c-index": uq_c_index_score(probability_gap(y, p), values),
        "aurc": uq.metrics.aurc_loss(prediction_errors(y, p), values),
        "e-aurc": uq.metrics.e_aurc_loss(prediction_errors(y, p), values),
        "augrc": uq.metrics.augrc_loss(prediction_errors(y, p), values),
        "prediction-rejection": uq.metrics.prediction_rejection_score(prediction_errors(y, p), values),
    }
    assert set(METRICS) == set(expected)
    for metric, estimate in expected.items():
        row = rows[metric]
        assert [row["estimate"], row["low"], row["high"]] == pytest.approx(ends(estimate), abs=1e-12)
        assert (row["n"], row["method"], said(row)) == (300, estimate.method, said(estimate))


def test_every_score_that_a_model_can_offer_is_judged(judged):
    assay, models, _, _ = judged
    assert assay.uncertainty_names("ensemble") == (*score_names(models["ensemble"]), "nonspecificity")
    of_one = assay.uncertainty_names("one")
    assert "noise" in of_one
    assert not {"epistemic-entropy", "credal-width", "nonspecificity", "free-energy", "vote-entropy"} & set(of_one)
    judged_scores = {r.score for r in assay.mistake_ranking() if r.model == "one"}
    assert judged_scores == set(of_one)
    assert not {r.model for r in assay.mistake_ranking()} & {"vacuous", "class-prior"}


def test_runs_are_averaged_and_shown_one_by_one(judged):
    assay, models, y, _ = judged
    rows = [
        r for r in assay.rows("findings") if (r["model"], r["metric"], r["score"]) == ("two runs", "uq-auc", "margin")
    ]
    assert [r["run"] for r in rows] == ["all", "1", "2"]
    each = [uq_auc_score(prediction_errors(y, p), uq.measures.SCORES["margin"](p)) for p in models["two runs"]]
    for row, estimate in zip(rows[1:], each, strict=True):
        assert [row["estimate"], row["low"], row["high"]] == pytest.approx(ends(estimate), abs=1e-12)
    assert rows[0]["estimate"] == pytest.approx(np.mean([float(e) for e in each]), abs=1e-12)
    assert rows[0]["low"] < rows[0]["estimate"] < rows[0]["high"]
    assert "2 runs" in said(rows[0])


def test_given_scores_are_judged(judged):
    assay, models, y, given = judged
    row = next(r for r in assay.rows("findings") if (r["score"], r["metric"]) == ("noise", "uq-auc"))
    expected = uq_auc_score(prediction_errors(y, models["one"]), given["one"]["noise"])
    assert [row["estimate"], row["low"], row["high"]] == pytest.approx(ends(expected), abs=1e-12)
    assert np.isnan(assay["ensemble"].columns["noise"]).all()


def test_groups_reach_the_intervals(judged):
    _, models, y, _ = judged
    groups = np.arange(300) // 5
    found = judge({"m": models["ensemble"]}, y, groups=groups, n_draws=20, tradeoffs=[0.5])
    row = next(r for r in found.rows("findings") if (r["score"], r["metric"]) == ("margin", "uq-auc"))
    p = models["ensemble"]
    expected = uq_auc_score(prediction_errors(y, p), uq.measures.SCORES["margin"](p), groups=groups)
    assert [row["low"], row["high"]] == pytest.approx([expected.low, expected.high], abs=1e-12)
    assert "60 groups" in said(row)


def test_subgroups_have_their_own_ranking(judged):
    assay, models, y, _ = judged
    rows = assay.rows("subsets", by="site")
    row = next(
        r
        for r in rows
        if (r["subset"], r["model"], r["metric"], r["score"]) == ("b", "ensemble", "uq-auc", "total-entropy")
    )
    part = models["ensemble"][100:200]
    expected = uq_auc_score(prediction_errors(y[100:200], part), uq.measures.SCORES["total-entropy"](part))
    assert [row["estimate"], row["low"], row["high"]] == pytest.approx(ends(expected), abs=1e-12)
    assert not [r for r in assay.rows("subsets", by="site", ranking=False) if r["metric"] == "uq-auc"]


def test_comparisons_are_the_paired_tests(judged):
    assay, models, y, _ = judged
    rankings = {}
    for model in ("ensemble", "one"):
        p = models[model]
        rankings[f"{model}: margin"] = (prediction_errors(y, p), uq.measures.SCORES["margin"](p))
    mine = assay.compare_uncertainties(("ensemble", "margin"), ("one", "margin"))
    expected = paired_ranking_test(*rankings.values())
    assert (mine.pvalue, mine.statistic) == pytest.approx((expected.pvalue, expected.statistic), rel=1e-10)
    many = assay.pairwise_uncertainties([("ensemble", "margin"), ("one", "margin"), ("two runs", "margin")])
    pair = pairwise_ranking_tests(rankings)
    assert many.names[:2] == pair.names
    assert many.pvalue[0, 1] == pytest.approx(pair.pvalue[0, 1], rel=1e-10)
    with refuses("score", "choice", got="got 'vote-entropy'"):
        assay.compare_uncertainties(("one", "vote-entropy"), ("ensemble", "margin"))
    with refuses("metric", "choice"):
        assay.compare_uncertainties(("one", "margin"), ("ensemble", "margin"), metric="auc")


def test_refusal_and_risk_coverage(judged):
    assay, models, y, _ = judged
    p = models["ensemble"]
    errors, s = prediction_errors(y, p), uq.measures.SCORES["total-entropy"](p)
    mine, expected = assay.refusal("ensemble", "total-entropy", 0.8), selective_gain(errors, s, coverage=0.8)
    for name in ("accuracy_all", "accuracy_kept", "gain"):
        assert ends(getattr(mine, name)) == pytest.approx(ends(getattr(expected, name)), abs=1e-12)
    assert mine.threshold == expected.threshold
    curve = uq.metrics.risk_coverage_curve(errors, s).at([0.5, 0.8, 1.0])
    bands = assay.risk_coverage("ensemble", "total-entropy", [0.5, 0.8, 1.0])
    assert [float(e) for e in bands] == pytest.approx(curve.risk, abs=1e-12)
    assert [e.low for e in bands] == pytest.approx(curve.low, abs=1e-9)
    assert [e.high for e in bands] == pytest.approx(curve.high, abs=1e-9)
    runs = assay.risk_coverage("two runs", "margin", [0.8])[0]
    assert runs.low < runs < runs.high


@pytest.mark.parametrize("kind", PREDICTING)
def test_every_kind_and_votes_have_a_ranking(kind, random_generator):
    p = random_prediction(kind, random_generator, n=30)
    for y in (random_generator.integers(0, 4, 30), random_generator.integers(1, 5, (30, 4))):
        found = judge({"m": p}, y, n_draws=5, tradeoffs=[0.5])
        values = [r.estimate for r in found.mistake_ranking() if r.metric in ("uq-auc", "uq-c-index")]
        assert values
        assert all(0 <= v <= 1 for v in values)


def test_degenerate_assays_say_why():
    found = judge({"m": uq.Point([[0.9, 0.1], [0.8, 0.2]])}, [0, 0])
    rows = {(r["metric"], r["score"]): r for r in found.rows("findings")}
    row = rows["uq-auc", "total-entropy"]
    assert np.isnan(row["estimate"])
    assert "no errors" in said(row)
    one = judge({"m": uq.Point([[0.9, 0.1]])}, [0])
    assert all(np.isnan(r.estimate.low) for r in one.mistake_ranking() if r.metric == "uq-c-index")


def test_saved_and_loaded_findings_agree(judged, tmp_path):
    assay = judged[0]
    again = uq.Assay.load(assay.save(tmp_path / "kept"))
    assert again.uncertainty_names("one") == assay.uncertainty_names("one")
    first, second = (
        [(r.model, r.score, r.metric, *ends(r.estimate)) for r in a.mistake_ranking()] for a in (assay, again)
    )
    assert [row[:3] for row in first] == [row[:3] for row in second]
    assert np.array([row[3:] for row in first]) == pytest.approx(np.array([row[3:] for row in second]), nan_ok=True)


def test_one_error_in_one_of_many_runs_is_no_more_certain_than_none(random_generator):
    """Averaged over runs an error weighs a tenth, yet the share of errors may be as large as where none was seen."""
    n, y = 700, np.zeros(700, dtype=int)
    sure = np.column_stack([random_generator.uniform(0.6, 0.99, n), np.zeros(n)])
    sure[:, 1] = 1 - sure[:, 0]
    runs = [uq.Point(sure) for _ in range(10)]
    wrong = sure.copy()
    wrong[sure[:, 0].argmax()] = 0.01, 0.99
    none = judge({"m": runs}, y, n_draws=5).risk_coverage("m", "total-entropy", [0.9])[0]
    one = judge({"m": [*runs[:9], uq.Point(wrong)]}, y, n_draws=5).risk_coverage("m", "total-entropy", [0.9])[0]
    assert one > none
    assert one.high >= none.high


def test_pairs_are_pairs(judged):
    with refuses("a", "type"):
        judged[0].compare_uncertainties("ensemble", "margin")
    with refuses("pairs", "type"):
        judged[0].pairwise_uncertainties(["ensemble", "margin"])
    with refuses("coverage", "type"):
        judged[0].refusal("ensemble", "margin", "x")
