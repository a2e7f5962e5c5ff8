"""Rank sets of an assay: by every metric, with the baselines, and the greatest loss on one instance by brute force."""

import itertools
import json

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.excess import TERMS
from uqassay.evidence.order import rank_sets_at
from uqassay.evidence.pair_tests import greatest_excess, mean_metrics
from uqassay.metrics import RANKING_METRICS

N = 300


@pytest.fixture(scope="module")
def assay():
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=N)
    right = np.eye(3)[y]
    models = {
        "good": uq.Members(0.7 * right[:, None] + 0.3 * rng.dirichlet(np.ones(3), (N, 4))),
        "fair": uq.Members(0.6 * right[:, None] + 0.4 * rng.dirichlet(np.ones(3), (N, 4))),
        "bad": uq.Point(0.1 * right + 0.9 * rng.dirichlet(np.ones(3), N)),
    }
    return uq.assay(models, y, n_draws=20, calibration=())


def test_every_mean_metric_has_rank_sets(assay):
    for metric in mean_metrics(assay):
        found = assay.rank_sets(0.2, metric=metric)
        assert found.names == ("good", "fair", "bad")
        own = {r["model"]: r["estimate"] for r in assay.rows("findings") if r["metric"] == metric and r["run"] == "all"}
        if metric == "unified":
            own = {r.model: float(r.estimate) for r in assay.ranked(0.2)}
        for name, value in zip(found.comparisons.names, found.comparisons.values, strict=True):
            assert value == pytest.approx(own[name], rel=1e-12)
        assert set(found.comparisons.references) == {"vacuous", "class-prior"} - (
            {"vacuous"} if metric in ("accuracy", "log-loss", "brier") else set()
        )
    assert assay.rank_sets(metric="brier").top_names == ("good",)
    assert assay.rank_sets(metric="accuracy").greater_is_better
    assert assay.rank_sets(metric="accuracy").is_better("good", "class-prior")
    assert assay.rank_sets(metric="nonspecificity").top_names == ("bad",)  # a point claims the most


def test_ranking_metrics_have_rank_sets_of_a_score(assay):
    for metric, properties in RANKING_METRICS.items():
        found = assay.rank_sets(metric=metric, score="total-entropy")
        pairs = [(name, "total-entropy") for name in found.names]
        expected = assay.pairwise_uncertainties(pairs, metric=metric)
        np.testing.assert_array_equal(found.comparisons.adjusted, expected.adjusted)
        assert found.greater_is_better == properties.higher_is_better
    assert assay.rank_sets(metric="uq-auc", score="epistemic-entropy").names == (
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
def test_bad_options_are_refused(assay, options, parameter, code, got):
    with refuses(parameter, code, got=got):
        assay.rank_sets(**options)


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


def test_ranges_of_the_mean_prediction_and_of_the_baselines(assay):
    y, models = extremes(3)
    found = uq.assay({"points": models["points"]}, y, calibration=(), n_draws=10)
    (points,) = found.candidates
    for metric, column in (("log-loss", "log-loss"), ("brier", "brier"), ("accuracy", "correct")):
        values = points.columns[column]
        assert values.max() - values.min() == pytest.approx(greatest_excess(found, points, metric))
    vacuous, prior = assay["vacuous"], assay["class-prior"]
    assert greatest_excess(assay, vacuous, "unified", 0.5) == pytest.approx(0.5 * np.log(3))
    assert greatest_excess(assay, vacuous, "kl") == 0.0
    rarest = np.bincount(assay.labels).min() / N
    assert greatest_excess(assay, prior, "unified", 0.5) == pytest.approx(-np.log(rarest))
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


def test_rank_sets_are_in_the_json(assay):
    text = json.loads(json.dumps(assay.to_json([0.1, 0.5]), allow_nan=False))
    assert [entry["tradeoff"] for entry in text["rank_sets"]] == [0.1, 0.5]
    ranks = assay.rank_sets(0.5)
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
