"""Rankings by mean E: places, sets of ranks, words, choices for λ, and methods that compare."""

import itertools
import json

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.evidence.verdict_cases import claims, predicted
from tests.evidence.verdict_cases import judged as judged_cases
from tests.refusals import refuses
from tests.shown_results import check_shown

import uqassay as uq
from uqassay.evidence.baselines import loss_of
from uqassay.evidence.choice import choices
from uqassay.evidence.data import N_COLOURS, colour_order, one_run
from uqassay.evidence.excess import TERMS
from uqassay.evidence.findings import loss_estimate
from uqassay.evidence.order import order_of, rank_sets_at
from uqassay.evidence.pair_tests import (
    LossReading,
    detectable_at,
    excess_over,
    greatest_excess,
    loss_lines,
    margin_test_at,
    mean_metrics,
    no_worse_at,
    smallest_shown,
)
from uqassay.evidence.ranking import MARKS, draws_of, limit_notes, metric_label, ranking_table
from uqassay.metrics import RANKING_METRICS
from uqassay.report.figures.frame import PALETTE, looks
from uqassay.report.page import payload
from uqassay.report.sections import PLAIN_METRICS, RANKING_METRICS_SHOWN
from uqassay.statistics import (
    detectable_difference,
    no_worse_than_best,
    paired_margin_test,
    paired_mean_test,
    pairwise_mean_tests,
)

pytestmark = pytest.mark.usefixtures("without_calibration")

# -- The order of models at one λ, and how sure it is ------------------------------------------------------------------


def test_ranking_table_says_what_beats_what():
    y = np.arange(400) % 2
    good, bad = np.where(np.eye(2)[y] > 0, 0.9, 0.1), np.where(np.eye(2)[y] > 0, 0.1, 0.9)
    good[:3] = 0.5
    result = uq.assay({"good": uq.Point(good), "bad": uq.Point(bad)}, y, n_draws=100)
    table = result.ranking(1.0).table().set_index("model")
    assert table["rank"].tolist()[0] == 1
    assert table.win_share["good"] == 1
    assert table.below["bad"] == "vacuous, class-prior"
    assert table.loc[["good", "bad"], ["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2]]
    assert table.top[["good", "bad"]].tolist() == [True, False]
    assert table.loc[["vacuous", "class-prior"], ["rank", "rank_low", "rank_high", "top"]].isna().all(axis=None)
    assert (table.limited_by == "").all()
    assert table.pvalue_adjusted["bad"] < 1e-9
    assert np.isnan(table.pvalue["good"])
    assert np.isnan(table.win_share["vacuous"])
    comparison = result.compare("bad", "good")
    assert float(comparison.difference) == pytest.approx(table.difference["bad"])
    assert comparison.reject(0.01)


def test_identical_models_tie():
    p = uq.Point([[0.7, 0.3], [0.4, 0.6], [0.5, 0.5]])
    result = uq.assay({"a": p, "b": p}, [0, 1, 0], n_draws=20)
    assert result.winners()[0][2] == ("a", "b")
    np.testing.assert_allclose(result.win_shares([0.0, 1.0]), 0.5)
    assert [r.pvalue for r in result.ranked(0.3) if r.rank == 2] == [1.0]


def test_baselines_stand_in_every_ranking(all_kinds):
    models, y = all_kinds
    result = uq.assay(models, y, n_draws=20, prior=[0.1, 0.2, 0.3, 0.4])
    for tradeoff in (0.0, 0.1, 2.0):
        rows = {r.model: r for r in result.ranked(tradeoff)}
        assert float(rows["vacuous"].estimate) == pytest.approx(tradeoff * np.log(4), abs=1e-10)
        assert float(rows["class-prior"].estimate) == pytest.approx(-np.log(np.array([0.1, 0.2, 0.3, 0.4]))[y].mean())


def test_error_of_an_estimated_nonspecificity_is_in_every_comparison(random_generator):
    y = random_generator.integers(40, size=80)
    probs = random_generator.dirichlet(np.full(40, 0.2), (80, 6))
    models = {"many": uq.Members(probs), "few": uq.Members(probs[:, :3]), "mean": uq.Point(probs.mean(axis=1))}
    result = judge(models, y, n_draws=4000)
    many, few, mean = result.candidates
    assert many.nonspecificity_error == pytest.approx(np.std(many.order_deviations, ddof=1) / np.sqrt(32))
    assert mean.order_deviations == ()
    d = np.subtract(many.order_deviations, few.order_deviations)
    assert d.std(ddof=1) < np.std(many.order_deviations, ddof=1)  # shared orders: the errors partly cancel
    tradeoff = 2.0
    for other, deviations in ((few, d), (mean, np.array(many.order_deviations))):
        error = tradeoff * deviations.std(ddof=1) / np.sqrt(32)
        plain = uq.statistics.paired_mean_test(result.loss("many", tradeoff)[0], result.loss(other.name, tradeoff)[0])
        found = result.compare("many", other.name, tradeoff=tradeoff).alone
        half = (plain.difference.high - plain.difference.low) / 2
        assert (found.difference.high - found.difference.low) / 2 == pytest.approx(
            np.hypot(half, 1.96 * error), rel=1e-3
        )
        assert found.pvalue >= plain.pvalue - 1e-12
    # and the winning probability knows it: the draws of NS spread by both errors
    spread = draws_of(result)[:, 0, 1].std()
    sampling = many.columns["nonspecificity"].std() / np.sqrt(80)
    assert spread == pytest.approx(np.hypot(sampling, many.nonspecificity_error * np.sqrt(31 / 32)), rel=0.05)


def test_pvalues_are_those_of_all_pairs_with_the_baselines(all_kinds):
    models, y = all_kinds
    result = uq.assay(models, y, n_draws=20)
    ranks = result.rank_sets(0.5)
    rows = result.ranked(0.5)
    best = ranks.comparisons.names.index(rows[0].model if rows[0].rank else next(r.model for r in rows if r.rank == 1))
    for row in rows:
        j = ranks.comparisons.names.index(row.model)
        np.testing.assert_array_equal(
            [row.pvalue, row.pvalue_adjusted],
            [ranks.comparisons.pvalue[j, best], ranks.comparisons.adjusted[j, best]],
        )
        assert row.limited_by == ranks.comparisons.limited_by[j, best]
        if row.rank is not None:
            k = ranks.names.index(row.model)
            assert (row.rank_low, row.rank_high, row.top) == (ranks.low[k], ranks.high[k], ranks.top[k])
            assert row.rank_low <= row.rank <= row.rank_high


def test_few_instances_cannot_tell_log_losses_of_statements_that_are_this_sure():
    """The surer model could have lost ln(.3/.01) more than the other one on any of the inputs."""
    y = np.zeros(20, dtype=int)
    result = uq.assay({"sure": uq.Point([[0.99, 0.01]] * 20), "less": uq.Point([[0.7, 0.3]] * 20)}, y, n_draws=20)
    second = next(r for r in result.ranked(0.0) if r.rank == 2)
    w, d = np.log(0.3 / 0.01), np.log(0.99 / 0.7)
    assert second.pvalue == pytest.approx((w / (w + d)) ** 20, rel=1e-6)
    assert (second.limited_by, second.rank_low, second.top) == ("unseen", 1, True)


def test_shares_of_resamples_know_how_few_groups_there_are(random_generator):
    """With 5 groups, one of two models wins 95 % of the draws where the paired test has p = .1."""
    groups = np.repeat(np.arange(5), 40)
    confidence = 0.7 + 0.05 * random_generator.normal(size=(2, 5))[:, groups]
    points = {name: uq.Point(np.stack([c, 1 - c], axis=1)) for name, c in zip("ab", confidence, strict=True)}
    result = uq.assay(points, np.zeros(200, dtype=int), groups=groups, n_draws=20_000)
    test = result.compare("a", "b", tradeoff=0.0).alone
    expected = test.pvalue / 2 if test.statistic > 0 else 1 - test.pvalue / 2
    assert result.win_shares([0.0])[0, 0] == pytest.approx(expected, abs=0.015)


# -- The ranking to be read: its sentence from the rank sets, its cells from `Ranked`, spreads over runs ---------------


N = 600


def softmax(z):
    return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def judged():
    """Two models alike, each with three runs, and one that is far worse; names with markup."""
    g = np.random.default_rng(0)
    y = g.integers(0, 3, N)
    good = [[uq.Point(softmax(2.5 * np.eye(3)[y] + g.normal(size=(N, 3)))) for _ in range(3)] for _ in range(2)]
    bad = uq.Point(softmax(g.normal(size=(N, 3))))
    return judge({"a_1": good[0], "b|2": good[1], "<c>": bad}, y, n_draws=50)


def test_models_that_are_not_told_apart_are_named_together(judged):
    ranking = judged.ranking(0.5)
    top = judged.rank_sets(0.5).top_names
    assert set(top) == {"a_1", "b|2"}
    assert "<c>" in ranking._shown_sentences()[0].partition(";")[2]
    assert all(name in ranking._shown_sentences()[0].partition(";")[0] for name in top)
    check_shown(ranking, "a_1", "b|2", "<c>")


def test_marks_follow_the_rank_sets(judged):
    table = ranking_table(judged.ranking(0.5))
    marked = {row.cells[1].text: (row.cells[1].best, row.cells[1].tied) for row in table.rows}
    first, second = (r.model for r in judged.ranked(0.5)[:2])
    assert marked[first][0]
    assert marked[second] == (False, True)
    assert marked["<c>"] == marked["class-prior (baseline)"] == (False, False)
    assert "vacuous (baseline)" not in marked  # no model is vague


def test_numbers_are_those_of_the_table(judged):
    ranking = judged.ranking(0.3)
    frame = ranking.table()
    assert frame.to_dict("records")[0]["tradeoff"] == 0.3
    shown = [float(row.cells[2].text) for row in ranking_table(ranking).rows]
    np.testing.assert_allclose(shown, frame.estimate[frame.model != "vacuous"], atol=5e-4)
    assert [row["model"] for row in ranking.rows()] == frame.model.tolist() == [r.model for r in ranking.models]


def test_the_spread_over_runs(judged):
    ranking = judged.ranking(0.5)
    best = ranking.models[0].model
    deviation = judged.loss(best, 0.5).mean(axis=1).std(ddof=1)
    cells = {row.cells[1].text: row.cells[3].text for row in ranking_table(ranking, "runs").rows}
    assert float(cells[best].removeprefix("± ")) == pytest.approx(deviation, abs=5e-4)
    assert cells["<c>"] == ""
    assert r"$\pm$" in ranking.to_latex(spread="runs")
    assert "±" in ranking.to_markdown(spread="runs")
    with refuses("spread", "choice", "'sd'"):
        ranking.to_latex(spread="sd")


def test_the_spread_over_runs_needs_runs():
    single = judge({"m": uq.Point([[0.9, 0.1]] * 20)}, [0] * 20)
    with refuses("spread", "conflict"):
        single.ranking().to_latex(spread="runs")


def test_one_model_is_compared_with_nothing():
    ranking = judge({"m": uq.Point([[0.6, 0.4]] * 50)}, [0, 1] * 25).ranking()
    assert "better" not in repr(ranking)
    assert "baseline" in ranking._shown_sentences()[0]
    table = ranking_table(ranking)
    assert "p (adjusted)" not in table.header
    assert not any(cell.best or cell.tied for row in table.rows for cell in row.cells)


def test_models_with_the_same_mean_are_both_the_best():
    same = uq.Point([[0.7, 0.3]] * 100)
    table = ranking_table(judge({"a": same, "b": same}, [0] * 100).ranking())
    assert [row.cells[1].best for row in table.rows if not row.reference] == [True, True]


def test_infinite_means_are_shown_and_none_is_the_best():
    wrong = uq.Point([[1.0, 0.0]] * 9)
    ranking = judge({"a": wrong, "b": wrong}, [1] * 9, floor=0).ranking()
    check_shown(ranking)
    assert not any(cell.best for row in ranking_table(ranking).rows for cell in row.cells)


def test_a_difference_that_only_unseen_losses_limit_is_explained():
    y = np.zeros(20, int)
    close, far = uq.Point([[0.99, 0.01]] * 20), uq.Point([[0.7, 0.3]] * 20)
    ranking = judge({"close": close, "far": far}, y).ranking()
    assert [r.limited_by for r in ranking.models if r.model == "far"] == ["unseen"]
    assert "†: " in ranking_table(ranking).caption
    assert "†" in ranking.to_markdown().partition("Mean E")[0]


# -- Words of rankings: every limit that a test knows has a note and a mark --------------------------------------------


def assay(**options):
    p = np.random.default_rng(0).dirichlet([1, 1], size=50)
    return uq.assay({"m": uq.Point(p)}, [0, 1] * 25, calibration=(), n_draws=20, **options)


def test_every_limit_has_a_mark():
    assert set(limit_notes(assay())) == set(MARKS) == {"unseen", "skewness", "runs"}


@pytest.mark.parametrize(("distance", "names_others"), [("kl", True), ("tv", False)])
def test_bounded_scores_are_named_where_the_distance_is_not_bounded(distance, names_others):
    unseen = limit_notes(assay(distance=distance))["unseen"]
    assert "50 cases" in unseen
    assert ("Brier" in unseen) == names_others


@pytest.mark.parametrize("metric", [*PLAIN_METRICS, *RANKING_METRICS_SHOWN, "unified", "nonspecificity"])
def test_metrics_are_named_in_words(metric):
    assert metric_label(metric) != metric or metric == "accuracy"


# -- Rank sets of an assay: by every metric, with the baselines, and the greatest loss on one instance by brute for ----


N_RANKED = 300


@pytest.fixture(scope="module")
def assay_of_rank_sets():
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=N_RANKED)
    right = np.eye(3)[y]
    models = {
        "good": uq.Members(0.7 * right[:, None] + 0.3 * rng.dirichlet(np.ones(3), (N_RANKED, 4))),
        "fair": uq.Members(0.6 * right[:, None] + 0.4 * rng.dirichlet(np.ones(3), (N_RANKED, 4))),
        "bad": uq.Point(0.1 * right + 0.9 * rng.dirichlet(np.ones(3), N_RANKED)),
    }
    return uq.assay(models, y, n_draws=20, calibration=())


def test_every_mean_metric_has_rank_sets(assay_of_rank_sets):
    for metric in mean_metrics(assay_of_rank_sets):
        found = assay_of_rank_sets.rank_sets(0.2, metric=metric)
        assert found.names == ("good", "fair", "bad")
        own = {
            r["model"]: r["estimate"]
            for r in assay_of_rank_sets.rows("findings")
            if r["metric"] == metric and r["run"] == "all"
        }
        if metric == "unified":
            own = {r.model: float(r.estimate) for r in assay_of_rank_sets.ranked(0.2)}
        for name, value in zip(found.comparisons.names, found.comparisons.values, strict=True):
            assert value == pytest.approx(own[name], rel=1e-12)
        assert set(found.comparisons.references) == {"vacuous", "class-prior"} - (
            {"vacuous"} if metric in ("accuracy", "log-loss", "brier") else set()
        )
    assert assay_of_rank_sets.rank_sets(metric="brier").top_names == ("good",)
    assert assay_of_rank_sets.rank_sets(metric="accuracy").greater_is_better
    assert assay_of_rank_sets.rank_sets(metric="accuracy").is_better("good", "class-prior")
    assert assay_of_rank_sets.rank_sets(metric="nonspecificity").top_names == ("bad",)  # a point claims the most


def test_ranking_metrics_have_rank_sets_of_a_score(assay_of_rank_sets):
    for metric, properties in RANKING_METRICS.items():
        found = assay_of_rank_sets.rank_sets(metric=metric, score="total-entropy")
        pairs = [(name, "total-entropy") for name in found.names]
        expected = assay_of_rank_sets.pairwise_uncertainties(pairs, metric=metric)
        np.testing.assert_array_equal(found.comparisons.adjusted, expected.adjusted)
        assert found.greater_is_better == properties.higher_is_better
    assert assay_of_rank_sets.rank_sets(metric="uq-auc", score="epistemic-entropy").names == (
        "good",
        "fair",
    )  # a point has no members


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"metric": "f1"}, "metric", "choice", "'f1'"),
        ({"metric": ["brier"]}, "metric", "choice", "'brier'"),
        ({"metric": "uq-auc"}, "score", "missing", ""),
        ({"metric": "uq-auc", "score": "density"}, "score", "choice", "'density'"),
        ({"metric": "brier", "score": "total-entropy"}, "score", "conflict", ""),
        ({"tradeoff": -1.0}, "tradeoff", "range", "-1"),
    ],
)
def test_bad_options_are_refused(assay_of_rank_sets, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        assay_of_rank_sets.rank_sets(**options)


# ------------------------------------------------------------------------------------------- the greatest excess


def extremes(n_classes):
    """Points, ensembles and intervals at the corners of the simplex, one row for each label and prediction."""
    corners = np.eye(n_classes)
    pairs = list(itertools.product(range(n_classes), repeat=2))
    y = np.array([label for label, _ in pairs])
    said = corners[[c for _, c in pairs]]
    members = np.stack(
        [said, corners[(said.argmax(axis=1) + 1) % n_classes], np.full_like(said, 1 / n_classes)], axis=1
    )
    wide = uq.Intervals(np.zeros_like(said), np.ones_like(said))
    return y, {"points": uq.Point(said), "members": uq.Members(members), "wide": wide}


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("distance", ["kl", "js", "js_distance", "tv", "hellinger", "brier"])
@pytest.mark.parametrize("nonspecificity", ["hartley", "korner", "pal", "credal-uncertainty", "credal-uncertainty-box"])
def test_no_loss_exceeds_another_by_more_and_some_reach_it(distance, nonspecificity, n_classes):
    y, models = extremes(n_classes)
    options = {"calibration": (), "n_draws": 10, "distance": distance, "nonspecificity": nonspecificity}
    found = uq.assay(models, y, **options)
    for metric, tradeoff in ((found.settings.distance_metric, 0.0), ("nonspecificity", 0.0), ("unified", 0.7)):
        column = {"nonspecificity": "nonspecificity"}.get(metric, "distance")
        values = {
            m.name: found.loss(m.name, tradeoff)[0] if metric == "unified" else m.columns[column][0]
            for m in found.models
        }
        least = min(v.min() for v in values.values())
        for m in found.models:
            assert values[m.name].max() - least <= greatest_excess(found, m, metric, tradeoff) + 1e-9
        if metric != "unified":
            widest = max(greatest_excess(found, m, metric) for m in found.models)
            assert max(v.max() for v in values.values()) - least == pytest.approx(widest, rel=1e-6)


def test_credal_uncertainty_of_the_paper_is_in_bits_and_of_points_too():
    said = np.vstack([np.full((1, 4), 0.25), np.eye(4)[:1]])
    options = {"convention": "paper", "nonspecificity": "credal-uncertainty", "calibration": (), "n_draws": 10}
    found = uq.assay(
        {"points": uq.Point(said), "members": uq.Members(np.stack([said, said], axis=1))}, [0, 1], **options
    )
    for m in found.candidates:
        np.testing.assert_allclose(m.columns["nonspecificity"][0], [0.0, 2.0])
        assert greatest_excess(found, m, "nonspecificity") == pytest.approx(2.0)
        assert greatest_excess(found, m, "unified", 0.5) == pytest.approx(1.0 - np.log(1e-10))


def test_ranges_of_the_mean_prediction_and_of_the_baselines(assay_of_rank_sets):
    y, models = extremes(3)
    found = uq.assay({"points": models["points"]}, y, calibration=(), n_draws=10)
    (points,) = found.candidates
    for metric, column in (("log-loss", "log-loss"), ("brier", "brier"), ("accuracy", "correct")):
        values = points.columns[column]
        assert values.max() - values.min() == pytest.approx(greatest_excess(found, points, metric))
    vacuous, prior = assay_of_rank_sets["vacuous"], assay_of_rank_sets["class-prior"]
    assert greatest_excess(assay_of_rank_sets, vacuous, "unified", 0.5) == pytest.approx(0.5 * np.log(3))
    assert greatest_excess(assay_of_rank_sets, vacuous, "kl") == 0.0
    rarest = np.bincount(assay_of_rank_sets.labels).min() / N_RANKED
    assert greatest_excess(assay_of_rank_sets, prior, "unified", 0.5) == pytest.approx(-np.log(rarest))
    absent = uq.assay({"m": uq.Point([[0.5, 0.3, 0.2]] * 4)}, [0, 0, 1, 1], calibration=(), n_draws=10)
    assert greatest_excess(absent, absent["class-prior"], "kl") == pytest.approx(-np.log(np.finfo(float).eps))


def test_floors_bound_the_losses():
    p = np.array([[0.9, 0.1], [0.2, 0.8]])
    options = {"calibration": (), "n_draws": 10}
    for floor, expected in ((0.0, np.inf), (1e-3, -np.log(1e-3))):
        found = uq.assay({"m": uq.Point(p)}, [0, 1], floor=floor, **options)
        assert greatest_excess(found, found["m"], "kl") == pytest.approx(expected)
        assert greatest_excess(found, found["m"], "log-loss") == pytest.approx(expected)
    single = uq.assay({"m": uq.Point(p.astype(np.float32))}, [0, 1], **options)
    assert greatest_excess(single, single["m"], "kl") == pytest.approx(52 * np.log(2))
    paper = uq.assay({"m": uq.Point(p)}, [0, 1], convention="paper", **options)
    assert greatest_excess(paper, paper["m"], "kl") == pytest.approx(-np.log(1e-10))
    assert greatest_excess(paper, paper["m"], "log-loss") == pytest.approx(-np.log(np.finfo(float).eps))
    unbounded = uq.assay({"a": uq.Point([[0.9, 0.1]] * 400), "b": uq.Point([[0.2, 0.8]] * 400)}, [0] * 400, floor=0.0)
    assert unbounded.rank_sets(0.0).top_names == ("a",)  # an infinite loss, not yet seen, would turn them around
    assert "in none of the cases unlike these" in " ".join(unbounded.verdict())
    assert unbounded.rank_sets(metric="brier").top_names == ("a",)


def test_label_distributions_and_odd_inputs():
    rng = np.random.default_rng(1)
    votes = rng.dirichlet(np.ones(3), 200)
    found = uq.assay({"a": uq.Point(votes), "b": uq.Point(rng.dirichlet(np.ones(3), 200))}, votes, n_draws=10)
    assert found.rank_sets(0.5, metric="brier").top_names == ("a",)
    assert greatest_excess(found, found["class-prior"], "kl") == pytest.approx(-np.log(np.finfo(float).eps))
    one = uq.assay({"a": uq.Point([[0.9, 0.1]]), "b": uq.Point([[0.2, 0.8]])}, [0], n_draws=10, calibration=())
    assert one.rank_sets().high.tolist() == [2, 2]
    infinite = uq.assay({"a": uq.Point([[1.0, 0.0]] * 9), "b": uq.Point([[0.5, 0.5]] * 9)}, [1] + [0] * 8, floor=0.0)
    assert infinite.rank_sets().top_names == infinite.rank_sets(metric="log-loss").top_names == ("b",)


def test_runs_and_groups_reach_the_tests():
    rng = np.random.default_rng(2)
    y, groups = rng.integers(2, size=120), np.arange(120) // 6
    right = np.eye(2)[y]
    runs = [uq.Point(0.5 * right + 0.5 * rng.dirichlet(np.ones(2), 120)) for _ in range(3)]
    found = uq.assay({"runs": runs, "one": uq.Point(0.3 * right + 0.35)}, y, groups=groups, n_draws=10, calibration=())
    comparisons = found.rank_sets(0.0, metric="brier").comparisons
    losses = {"runs": found["runs"].columns["brier"], "one": found["one"].columns["brier"][0]}
    bound = found.excess.over[TERMS.index("brier")]
    single = uq.statistics.pairwise_mean_tests(losses, groups=groups, bound=bound)
    assert bound[0, 1] < 2.0
    assert comparisons.pvalue[0, 1] == pytest.approx(single.pvalue[0, 1])


def test_rank_sets_are_in_the_json(assay_of_rank_sets):
    text = json.loads(json.dumps(assay_of_rank_sets.to_json([0.1, 0.5]), allow_nan=False))
    assert [entry["tradeoff"] for entry in text["rank_sets"]] == [0.1, 0.5]
    ranks = assay_of_rank_sets.rank_sets(0.5)
    rows = {row["model"]: row for row in text["rank_sets"][1]["models"]}
    for j, name in enumerate(ranks.names):
        assert (rows[name]["rank_low"], rows[name]["rank_high"], rows[name]["top"]) == (
            ranks.low[j],
            ranks.high[j],
            ranks.top[j],
        )
    assert text["rank_sets"][1]["level"] == 0.95
    assert (["good", "bad"] in text["rank_sets"][1]["better"]) == ranks.is_better("good", "bad")


def test_rank_sets_of_several_tradeoffs_are_those_of_each():
    y = np.arange(120) % 3
    models = {
        name: uq.Point(np.eye(3)[(y + (np.arange(120) % k == 0)) % 3] * 0.7 + 0.1) for name, k in (("a", 9), ("b", 5))
    }
    together, alone = uq.assay(models, y), uq.assay(models, y)
    tradeoffs = [0.0, 0.5, 3.0]
    for at, found in zip(tradeoffs, rank_sets_at(together, tradeoffs), strict=True):
        expected = alone.rank_sets(at)
        assert together.rank_sets(at) is found
        np.testing.assert_allclose(found.comparisons.adjusted, expected.comparisons.adjusted, rtol=1e-12)
        np.testing.assert_array_equal([found.low, found.high], [expected.low, expected.high])


# -- Which models to choose for which λ --------------------------------------------------------------------------------


N_CHOSEN = 2000


def test_one_clear_model():
    (found,) = choices(judged_cases({"a": (0.15, 0.1), "b": (0.3, 0.1)}, N_CHOSEN))
    assert found.names == ("a",)
    assert list(found.worse) == ["b"]
    assert (found.tied, dict(found.partly), found.conditional) == ((), {}, False)


def test_two_leaders_are_told_apart_on_both_sides_of_their_crossing():
    """a: .15 + .3 λ, b: .4: they cross at λ = 5/6, and around it either may be better."""
    a = judged_cases({"a": (0.15, 0.3), "b": (0.4, 0.0)}, N_CHOSEN)
    first, middle, last = choices(a)
    assert (first.names, middle.names, last.names) == (("a",), ("a", "b"), ("b",))
    assert first.high == middle.low < 0.25 / 0.3 < middle.high == last.low
    assert first.high > 0.7
    assert last.low < 1.0
    assert last.high > 100
    assert claims(a, "worse", models=("b",), others=("a",), high=first.high)
    assert claims(a, "worse", models=("a",), others=("b",), low=last.low)
    assert not [c for c in claims(a, "worse") if c.low < middle.high and c.high > middle.low]


def test_two_leaders_that_cannot_be_told_apart_are_one_choice():
    a = judged_cases({"a": (0.150, 0.21), "b": (0.151, 0.209)}, 300)
    (found,) = choices(a)
    assert found.names == ("a", "b")
    assert not claims(a, "worse")
    (group,) = [c for c in claims(a, "top-group") if "lowest" in c.facts]
    (_, change, _), (start, _, _) = group.facts["lowest"]
    assert change == start == pytest.approx(1.0, rel=0.3)


def test_a_range_ends_where_one_of_two_leaders_is_told():
    """b: the lower line from λ = 1 on, and told from a at great λ only."""
    a = judged_cases({"a": (0.15, 0.2), "b": (0.16, 0.19)}, 300)
    both, alone = choices(a)
    assert (both.names, alone.names) == (("a", "b"), ("b",))
    assert 1 < both.high == alone.low < alone.high
    assert a.rank_sets(both.high * 1.02).is_better("b", "a")
    assert not a.rank_sets(both.high * 0.98).is_better("b", "a")


def test_models_that_lead_only_beyond_the_usual_tradeoffs_are_no_choice_before():
    """c: the lowest from λ = 5 on; it cannot be told from a below."""
    a = judged_cases({"a": (0.150, 0.05), "c": (0.155, 0.049)}, 200)
    first, beyond = choices(a)
    assert first.names == ("a",)
    assert first.tied == ("c",)
    assert first.high == beyond.low == pytest.approx(5.0, rel=0.7)
    assert first.high > a.answer().top
    assert "c" in beyond.names


def test_others_that_can_be_told_in_a_part_only():
    """b is worse by λ · 0.004: told from a at large λ, not at small ones."""
    (found,) = choices(judged_cases({"a": (0.15, 0.1), "b": (0.1502, 0.104), "c": (0.1501, 0.1)}, 1000))
    assert found.names == ("a",)
    assert list(found.partly) == ["b"]
    ((low, high),) = found.partly["b"]
    assert found.low < low < high == found.high
    assert found.tied == ("c",)


def test_nothing_is_chosen_where_a_baseline_is_better():
    """Never a range of λ in which the chosen model has a greater mean than a baseline."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        means = {f"m{j}": (rng.uniform(0.16, 0.6), rng.uniform(0.05, 0.25)) for j in range(4)}
        a = judged_cases(means, 500)
        for choice in choices(a):
            for led in choice.leaders:
                for at in (led.low, min(led.high, 1e4)):
                    e = {m.name: float(a.loss(m.name, at).mean()) for m in a.models}
                    assert e[led.model] < min(e["vacuous"], e["class-prior"])
                    assert e[led.model] == pytest.approx(min(e.values()))


def test_no_model_is_better_than_all_baselines():
    assert choices(judged_cases({"a": (0.8, 0.25), "b": (0.9, 0.1)}, 300, width=0.02)) == ()


def test_one_model_has_no_others():
    (found,) = choices(judged_cases({"m": (0.15, 0.2)}, N_CHOSEN))
    assert (found.names, dict(found.worse), found.tied) == (("m",), {}, ())


def test_models_that_are_equal_everywhere():
    n = 400
    same = predicted(0.15, 0.1, n)
    a = uq.assay(
        {"a": same, "b": same}, np.zeros(n, dtype=int), floor=0.2, prior=[0.5, 0.5], calibration=(), n_draws=50
    )
    (found,) = choices(a)
    assert found.names == ("a", "b")
    assert found.tied == ()


# -- Methods of an assay that compare: a margin given to the call, or that of the assay --------------------------------


@pytest.fixture(scope="module")
def assay_of_compared():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.6, 0.9, 500)
    a, b = (np.stack([v, 1 - v], axis=1) for v in (p, p + rng.uniform(-0.05, 0.05, 500)))
    return uq.assay(
        {"a": uq.Point(a), "b": [uq.Point(b), uq.Point(a)]}, np.zeros(500, int), distance="brier", calibration=()
    )


def test_a_margin_says_more(assay_of_compared):
    plain, found = assay_of_compared.compare("a", "b"), assay_of_compared.compare("a", "b", margin=0.1)
    assert plain.margin is None
    assert found.margin.verdict == "equivalent"
    assert found.pvalue == plain.pvalue
    assert found.detectable == plain.detectable


def test_the_margin_of_the_assay_is_the_default():
    p = uq.Point([[0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
    q = uq.Point([[0.7, 0.3], [0.8, 0.2], [0.5, 0.5]])
    a = uq.assay({"a": p, "b": q}, [0, 0, 0], margin=0.3, calibration=())
    assert a.compare("a", "b").margin.margin == 0.3
    assert a.compare("a", "b", margin=0.2, method="permutation").margin.margin == 0.2


def test_variance_of_a_model_and_of_a_difference(assay_of_compared):
    assert assay_of_compared.variance("b").n_runs == (2,)
    assert assay_of_compared.variance("a", "b").n_runs == (1, 2)
    assert float(assay_of_compared.variance("a", "b").value) == pytest.approx(
        float(assay_of_compared.compare("a", "b").difference)
    )


# -- Margins and detectable differences of an assay against the functions of arrays ------------------------------------


@pytest.fixture(scope="module")
def assay_of_pair_margins():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.6, 0.95, (3, 600)) - np.array([0.0, 0.002, 0.05])[:, np.newaxis]
    models = {name: uq.Point(np.stack([v, 1 - v], axis=1)) for name, v in zip("abc", p, strict=True)}
    groups = np.repeat(np.arange(60), 10)
    y = (np.arange(600) % 5 == 0).astype(int)
    return uq.assay(models, y, groups=groups, distance="brier", calibration=(), scales=(), n_draws=20, margin=0.05)


def test_margin_test_against_the_losses(assay_of_pair_margins):
    found = margin_test_at(assay_of_pair_margins, "a", "b", 0.5, 0.05)
    losses = [assay_of_pair_margins.loss(name)[0] for name in "ab"]
    expected = paired_margin_test(*losses, margin=0.05, groups=assay_of_pair_margins.groups, bound=2.0)
    for name in ("pvalue_no_worse", "pvalue_no_better", "pvalue_difference"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name))
    assert found.verdict == expected.verdict


def test_detectable_difference_against_the_losses(assay_of_pair_margins):
    found = detectable_at(assay_of_pair_margins, "a", "b", 0.5, 0.05)
    losses = [assay_of_pair_margins.loss(name)[0] for name in "ab"]
    expected = detectable_difference(*losses, groups=assay_of_pair_margins.groups, bound=2.0)
    assert found.difference == pytest.approx(expected.difference)
    assert (found.instances, found.groups) == (expected.instances, expected.groups)


def test_adjusted_pvalues_against_all_pairs(assay_of_pair_margins):
    pairs = np.zeros((3, 3))
    for i, a in enumerate("abc"):
        for j, b in enumerate("abc"):
            pairs[i, j] = 0.0 if i == j else margin_test_at(assay_of_pair_margins, a, b, 0.5, 0.05).pvalue_no_worse
    assert list(no_worse_at(assay_of_pair_margins, 0.5, 0.05).values()) == pytest.approx(
        no_worse_than_best(pairs).tolist()
    )


def test_the_level_of_all_pairs_takes_more_to_show(assay_of_pair_margins):
    shown = smallest_shown(
        assay_of_pair_margins, "a", ["b"], 0.5, [order_of(assay_of_pair_margins).level_of("a", "b")]
    )["b"]
    assert shown >= detectable_at(assay_of_pair_margins, "a", "b", 0.5, 0.05).difference
    assert smallest_shown(assay_of_pair_margins, "a", [], 0.5, []) == {}


def test_both_readings_of_the_class_frequencies_count(assay_of_pair_margins):
    found = margin_test_at(assay_of_pair_margins, "a", "class-prior", 0.5, 0.05)
    losses = [assay_of_pair_margins.loss(name)[0] for name in ("a", "class-prior")]
    readings = [LossReading(assay_of_pair_margins[name]) for name in ("a", "class-prior")]
    bound = float(excess_over(assay_of_pair_margins, *readings, "unified", 0.5))
    alone = paired_margin_test(*losses, margin=0.05, groups=assay_of_pair_margins.groups, bound=bound)
    assert found.pvalue_no_worse >= alone.pvalue_no_worse - 1e-12
    assert found.difference.high >= alone.difference.high - 1e-12


def test_the_ranking_has_both(assay_of_pair_margins):
    rows = {r.model: r for r in assay_of_pair_margins.ranked(0.5)}
    winner = next(r.model for r in rows.values() if r.rank == 1)
    assert np.isnan(rows[winner].detectable)
    assert not np.isnan(rows["c"].pvalue_no_worse)
    assert np.isnan(rows["vacuous"].pvalue_no_worse)
    assert {"detectable", "pvalue_no_worse"} <= set(assay_of_pair_margins.rows("ranking")[0])


def test_three_networks_on_cifar10(cifar10):
    models = {
        name: uq.Point(p) for name, p in zip(("vgg", "resnet", "wrn"), cifar10["three"].swapaxes(0, 1), strict=True)
    }
    a = uq.assay(models, cifar10["labels"], calibration=(), scales=(), n_draws=20, margin=0.05)
    rows = {r.model: r for r in a.ranked(0.5)}
    assert rows["vgg"].pvalue_adjusted > 0.05  # the difference from resnet could be chance,
    assert rows["vgg"].pvalue_no_worse < 0.001  # but is less than 0.05
    assert rows["wrn"].pvalue_no_worse == 1
    assert a.compare("vgg", "resnet").margin.verdict == "equivalent"
    assert a.compare("vgg", "resnet", margin=0.001).margin.verdict == "cannot tell"


# -- Mean E as lines in λ: against the tests and estimates of the losses at each λ, with groups, runs and random or ----


TABLES = ("values", "difference", "low", "high", "pvalue", "adjusted")


@pytest.fixture(params=["instances", "groups"])
def found(request, random_generator):
    y = random_generator.integers(3, size=90)

    def members(m):
        z = np.exp(np.eye(3)[y][:, np.newaxis] + random_generator.normal(size=(90, m, 3)))
        return z / z.sum(axis=2, keepdims=True)

    one, runs = members(4), [uq.Members(members(2)) for _ in range(3)]
    points = {"point": uq.Point(one[:, 0]), "class-prior of the others": uq.Point(one[:, 1])}
    models = {"a": uq.Members(one), "runs": runs, **points}
    return judge(models, y, groups=np.arange(90) // 4 if request.param == "groups" else None)


@pytest.mark.parametrize("tradeoff", [0.0, 0.5, 20.0])
def test_tests_and_estimates_against_those_of_the_losses(found, tradeoff):
    lines = loss_lines(found)
    prior = LossReading(found["class-prior"], held_out=True)
    readings = [*(LossReading(m) for m in found.models), prior]
    losses = {str(k): one_run(loss_of(r.model, tradeoff, held_out=r.held_out)) for k, r in enumerate(readings)}
    bound = [3.0] * len(readings)
    _, tests = lines.tests(
        readings,
        [tradeoff + 1, tradeoff],
        bounds=np.full((2, len(readings), len(readings)), 3.0),
        references=readings[-3:],
    )
    expected = pairwise_mean_tests(losses, groups=found.groups, bound=bound, references=list(losses)[-3:])
    for table in TABLES:
        np.testing.assert_allclose(getattr(tests, table), getattr(expected, table), rtol=1e-9, atol=1e-10)
    for m, estimate in zip(found.models, lines.estimates(found.models, tradeoff), strict=True):
        direct = loss_estimate(found, m, found.loss(m.name, tradeoff), tradeoff)
        np.testing.assert_allclose(ends(estimate), ends(direct), rtol=1e-10)
        assert estimate.method == direct.method
    single = paired_mean_test(losses["0"], losses[str(len(readings) - 1)], groups=found.groups)
    (test,) = lines.differences([readings[0]], prior, tradeoff)
    np.testing.assert_allclose(
        [*ends(test.difference), test.pvalue], [*ends(single.difference), single.pvalue], rtol=1e-9
    )


def ends(estimate):
    return [float(estimate), estimate.low, estimate.high]


def test_lines_are_made_once_for_an_assay(found):
    assert loss_lines(found) is loss_lines(found)
    assert found.ranked(0.7) is found.ranked(0.7)
    assert found.rank_sets(0.7) is found.rank_sets(0.7)
    assert found.scale_check(0.7) is found.scale_check(0.7)
    assert found.rank_sets(0.7) is not found.rank_sets(0.8)
    assert found.rank_sets(metric="accuracy") is found.rank_sets(0.8, metric="accuracy")


def test_numbers_of_instances_and_runs_are_found_only_where_they_are_wanted(found):
    others, options = (
        [LossReading(found["runs"]), LossReading(found["point"])],
        {"bounds": np.zeros(2), "alphas": [0.05, 0.01]},
    )
    with_plans, without = (
        loss_lines(found).detectable(others, LossReading(found["a"]), 0.5, plans=plans, **options)
        for plans in (True, False)
    )
    assert [one.difference for one in without] == [one.difference for one in with_plans]
    assert np.isnan([[one.instances, one.times_runs] for one in without]).all()
    assert not np.isnan([one.instances for one in with_plans]).any()


# -- Few models take colours as given, many by their mean E ------------------------------------------------------------


def assay_of(n_models):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    skill = rng.permutation(n_models) / n_models
    models = {f"m{j}": uq.Point(np.where(np.eye(2)[y] > 0, 0.5 + 0.4 * s, 0.5 - 0.4 * s)) for j, s in enumerate(skill)}
    return uq.assay(models, y, n_draws=5, calibration=(), measures=())


def test_few_models_keep_their_order():
    a = assay_of(N_COLOURS)
    assert colour_order(a) == a.model_names


def test_best_of_many_models_have_different_colours():
    a = assay_of(20)
    ranked = [r.model for r in a.ranked(0.5) if r.model in a.model_names]
    assert colour_order(a) == tuple(ranked) != a.model_names
    assert [looks(a)[name].colour for name in ranked[:N_COLOURS]] == list(PALETTE)


def test_page_has_the_same_order():
    a = assay_of(12)
    places = {m["name"]: m["colour"] for m in payload(a)["models"]}
    assert [places[name] for name in colour_order(a)] == list(range(12))
    assert places["vacuous"] is None
