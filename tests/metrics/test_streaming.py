import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.interrupts import interrupt_everywhere
from tests.refusals import refuses

import uqassay as uq
from uqassay.cli.fail_if import parse_check
from uqassay.metrics import RANKING_METRICS, StreamingMetric, UncertaintyScorer, prediction_metric
from uqassay.metrics.names import ALIASES, metric_name
from uqassay.metrics.streaming import HIGHER_IS_BETTER, PredictionMetric

# -- streaming metric ------------------------------------------------------------------------------------------------
#
# A metric in batches against one batch with all instances; tensors without the package importing PyTorch.


METRICS = ("unified", "distance", "nonspecificity", "accuracy", "log-loss", "brier", *RANKING_METRICS)


def fields(estimate):
    return float(estimate), estimate.low, estimate.high, estimate.n, estimate.method, estimate.notes


def updated(metric, p, y, cuts, **options):
    for a, b in pairwise(cuts):
        groups = {name: values[a:b] for name, values in options.items()}
        metric.update(p[a:b], y[a:b], **groups)
    return metric


@pytest.mark.parametrize("name", METRICS)
def test_batches_against_one_call(name, random_generator):
    p, y = random_generator.dirichlet(np.ones(4), (70, 3)), random_generator.integers(0, 4, 70)
    expected = fields(prediction_metric(y, p, metric=name))
    first = updated(StreamingMetric(name), p, y, [0, 1, 30])
    assert fields(updated(StreamingMetric(name), p, y, [0, 1, 30, 70]).compute()) == expected
    others = [pickle.loads(pickle.dumps(updated(StreamingMetric(name), p, y, cut))) for cut in ([30, 69], [69, 70])]
    first.merge_state(others)
    assert fields(first.compute()) == expected
    assert first.n_instances == 70
    first.reset()
    assert first.n_instances == 0
    assert fields(updated(first, p, y, [0, 70]).compute()) == expected


def test_many_classes_draws_and_groups(random_generator):
    many = random_generator.dirichlet(np.ones(18), (30, 3))
    y, groups = random_generator.integers(0, 18, 30), np.arange(30) // 3
    found = updated(StreamingMetric("unified"), many, y, [0, 11, 30]).compute()
    assert fields(found) == fields(prediction_metric(y, many))
    assert any(note.code == "widened" for note in found.notes)
    grouped = updated(StreamingMetric("accuracy"), many, y, [0, 11, 30], groups=groups).compute()
    assert fields(grouped) == fields(uq.statistics.proportion_estimate(uq.losses.is_correct(y, many), groups=groups))
    alpha = random_generator.gamma(2.0, size=(30, 3)) + 0.1
    y = random_generator.integers(0, 3, 30)
    metric = StreamingMetric("nonspecificity")
    for rows in (slice(0, 7), slice(7, 30)):
        metric.update(uq.Dirichlet(alpha[rows]), y[rows])
    assert fields(metric.compute()) == fields(prediction_metric(y, uq.Dirichlet(alpha), metric="nonspecificity"))


def test_tensors(random_generator):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    p, y = random_generator.dirichlet(np.ones(3), (40, 4)).astype(np.float32), random_generator.integers(0, 3, 40)
    probs, target = torch.tensor(p, requires_grad=True), torch.tensor(y)
    for name in ("unified", "uq-auc"):
        found = updated(StreamingMetric(name), probs, target, [0, 13, 40]).compute()
        assert fields(found) == fields(prediction_metric(y, p, metric=name))


def test_pytorch_is_not_imported():
    code = (
        "import sys, uqassay as uq; m = uq.metrics.StreamingMetric('uq-auc'); m.update([[.9, .1], [.4, .6]], [0, 0]); "
        "uq.metrics.UncertaintyScorer(); print([x for x in ('torch', 'sklearn', 'pandas') if x in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_direction():
    assert {name for name in METRICS if StreamingMetric(name).higher_is_better} == {
        "accuracy",
        *(name for name, metric in RANKING_METRICS.items() if metric.higher_is_better),
    }


def test_refusals(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), 4), np.array([0, 1, 2, 0])
    metric = StreamingMetric("accuracy")
    with refuses("preds", "empty"):
        metric.compute()
    with refuses("y_true", "mismatch"):
        metric.update(p, y[:3])
    with refuses("groups", "shape"):
        metric.update(p, y, groups=[1, 2])
    assert metric.n_instances == 0
    metric.update(p, y)
    with refuses("groups", "mismatch"):
        metric.update(p, y, groups=y)
    for other in (StreamingMetric("brier"), 3):
        with refuses("others", "mismatch"):
            metric.merge_state([other])
    grouped = StreamingMetric("accuracy")
    grouped.update(p, y, groups=y)
    with refuses("groups", "mismatch"):
        metric.merge_state(grouped)
    assert metric.n_instances == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unified", "accuracy", "uq-auc"])
def test_an_interrupted_update_or_merge_leaves_the_metric_as_it_was(name, random_generator):
    p, y = random_generator.dirichlet(np.ones(4), (30, 3)), random_generator.integers(0, 4, 30)
    groups = np.arange(30) // 2

    def begun():
        return updated(StreamingMetric(name), p, y, [0, 10], groups=groups)

    metric, before = begun(), fields(begun().compute())

    def unchanged():
        assert fields(metric.compute()) == before

    assert interrupt_everywhere(lambda: metric.update(p[10:], y[10:], groups=groups[10:]), unchanged, step=7) > 50
    assert metric.n_instances == 30
    others = [updated(StreamingMetric(name), p, y, [10, 20, 30], groups=groups), begun()]
    metric = begun()
    interrupt_everywhere(lambda: metric.merge_state(others), unchanged)
    assert metric.n_instances == 40
    assert [other.n_instances for other in others] == [20, 10]


def test_arrays_of_the_caller_may_be_filled_anew_after_an_update(random_generator):
    p, y = random_generator.dirichlet(np.ones(4), (30, 3)), random_generator.integers(0, 4, 30)
    groups, buffers = np.arange(30) // 3, [np.empty((10, 3, 4)), np.empty(10, int), np.empty(10, int)]
    for name in METRICS:
        metric = StreamingMetric(name)
        for a in (0, 10, 20):
            for buffer, values in zip(buffers, (p, y, groups), strict=True):
                buffer[...] = values[a : a + 10]
            metric.update(buffers[0], buffers[1], groups=buffers[2])
        assert fields(metric.compute()) == fields(
            updated(StreamingMetric(name), p, y, [0, 30], groups=groups).compute()
        )


def test_a_batch_with_its_classes_in_another_order(random_generator):
    names = ["a", "b", "c"]
    probs = pd.DataFrame(random_generator.dirichlet(np.ones(3), 60), columns=names)
    y = random_generator.integers(0, 3, 60)
    whole = StreamingMetric("brier")
    whole.update(probs, y)
    parts, labels = StreamingMetric("brier"), np.array(names)[y]
    parts.update(probs[:20], labels[:20])
    with refuses("y_true", "class-order"):  # numbers may mean the columns of this batch, or those of the first
        parts.update(probs[20:][["c", "a", "b"]], y[20:])
    parts.update(probs[20:][["c", "a", "b"]], labels[20:])
    assert float(parts.compute()) == pytest.approx(float(whole.compute()))
    with refuses("preds.class_names", "ids", got="'c' first"):
        parts.update(probs.set_axis(["a", "b", "d"], axis=1), y)


def test_labels_and_groups_of_a_batch_follow_their_index(random_generator):
    probs = pd.DataFrame(random_generator.dirichlet(np.ones(3), 60))
    y = pd.Series(random_generator.integers(0, 3, 60))
    groups = pd.Series(np.arange(60) // 3)
    found = []
    for target, units in ((y, groups), (y.sample(frac=1.0, random_state=1), groups[::-1])):
        metric = StreamingMetric("accuracy")
        metric.update(probs, target, groups=units)
        found.append(metric.compute())
    assert (float(found[0]), found[0].low) == (float(found[1]), found[1].low)
    point = uq.Point(probs)
    assert float(prediction_metric(y[::-1], point, metric="brier")) == float(
        prediction_metric(y, point, metric="brier")
    )


# -- scorers ---------------------------------------------------------------------------------------------------------
#
# Scores for scikit-learn: in its own tools, for two classes and several, numbers and names, points and sets.


SCORERS_METRICS = ("unified", "accuracy", "brier", "uq-auc", "uq-c-index", "aurc")
CLASSIFIER = make_pipeline(StandardScaler(), LogisticRegression(C=0.05))


def iris(kind):
    X, y = load_iris(return_X_y=True)
    match kind:
        case "names":
            return X, np.array(["setosa", "versicolor", "virginica"])[y]
        case "two":
            return X[y > 0], y[y > 0] - 1
        case "two names":
            return X[y > 0], np.array(["no", "yes"])[y[y > 0] - 1]
        case "other numbers":
            return X[y > 0], np.array([-1, 1])[y[y > 0] - 1]
    return X, y


@pytest.mark.parametrize("kind", ["numbers", "names", "two", "two names", "other numbers"])
@pytest.mark.parametrize("metric", SCORERS_METRICS)
def test_make_scorer_and_own_scorer_in_cross_validation(kind, metric):
    X, y = iris(kind)
    own = UncertaintyScorer(metric)
    up = metric in ("accuracy", "uq-auc", "uq-c-index")
    made = make_scorer(
        prediction_metric, response_method="predict_proba", greater_is_better=up, metric=metric, labels=np.unique(y)
    )
    found = [cross_val_score(CLASSIFIER, X, y, scoring=scoring, cv=2) for scoring in (own, made)]
    np.testing.assert_array_equal(found[0], found[1])
    assert np.isfinite(found[0]).all()
    expected = {"accuracy": "accuracy", "unified": "neg_log_loss"}.get(metric)  # of points E is the log loss
    if expected:
        scikit = cross_val_score(CLASSIFIER, X, y, scoring=get_scorer(expected), cv=2)
        np.testing.assert_allclose(found[0], scikit, rtol=1e-12)


def test_a_grid_search_chooses_by_the_sign():
    X, y = iris("names")
    grid = {"logisticregression__C": [1e-4, 1.0]}
    for metric in ("unified", "uq-auc"):
        search = GridSearchCV(CLASSIFIER, grid, scoring=UncertaintyScorer(metric), cv=2).fit(X, y)
        scores = search.cv_results_["mean_test_score"]
        assert search.best_index_ == scores.argmax()
    assert search.best_score_ == scores.max()
    loss = GridSearchCV(CLASSIFIER, grid, scoring=UncertaintyScorer("log-loss"), cv=2).fit(X, y)
    assert loss.best_params_["logisticregression__C"] == 1.0


class Ensemble:
    """A classifier that states a set."""

    classes_ = np.array(["a", "b", "c"])

    def __init__(self, probs):
        self.probs = probs

    def predict_uncertainty(self, X):
        return uq.Members(self.probs[X])


def test_sets_are_scored_as_sets(random_generator):
    probs, y = random_generator.dirichlet(np.ones(3), (40, 5)), random_generator.integers(0, 3, 40)
    loss = uq.losses.unified_loss(y, uq.Members(probs), tradeoff=0.7)
    found = UncertaintyScorer("unified", tradeoff=0.7)(Ensemble(probs), np.arange(40), Ensemble.classes_[y])
    assert found == -float(loss.total.mean())
    assert loss.nonspecificity.mean() > 0.1


def test_the_estimates_are_those_of_an_assay(random_generator):
    probs, y = random_generator.dirichlet(np.ones(3), (60, 5)), random_generator.integers(0, 3, 60)
    rows = uq.assay({"m": probs}, y, tradeoffs=(0.5,), calibration=(), n_draws=5).rows("findings")
    by_name = {(r["metric"], r["score"]): r for r in rows if r["model"] == "m"}
    for metric, score in (
        ("unified", "hartley"),
        ("nonspecificity", "hartley"),
        ("accuracy", ""),
        ("log-loss", ""),
        ("brier", ""),
        *((name, "total-entropy") for name in ("uq-auc", "uq-c-index", "aurc")),
    ):
        found, row = prediction_metric(y, probs, metric=metric), by_name[metric, score]
        assert (float(found), found.low, found.high, found.n) == (row["estimate"], row["low"], row["high"], row["n"])
    assert float(prediction_metric(y, probs, metric="distance")) == by_name["kl", ""]["estimate"]


def test_refusals_of_scorers(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), 4), [0, 1, 2, 0]
    with refuses("metric", "choice"):
        UncertaintyScorer("auc")
    with refuses("score", "choice"):
        prediction_metric(y, p, metric="uq-auc", score="entropy")
    with refuses("tradeoff", "range"):
        UncertaintyScorer(tradeoff=-1)
    with refuses("labels", "mismatch"):
        prediction_metric(y, p, labels=["a", "b"])
    with refuses("y_true", got="labels=estimator.classes_"):
        prediction_metric(["a", "b", "c", "a"], p)
    with refuses("y_true", "range", got="labels=estimator.classes_"):
        prediction_metric([1, 2, 3, 1], p)
    with refuses("estimator", "type"):
        UncertaintyScorer()(object(), np.zeros(3), [0, 1, 0])


# -- prediction metrics ----------------------------------------------------------------------------------------------
#
# Metrics by name, in two steps, against the losses and scores they are made of.


def test_parts_hold_the_columns(random_generator):
    p, y = uq.Members(random_generator.dirichlet(np.ones(3), (9, 4))), random_generator.integers(0, 3, 9)
    loss = uq.losses.unified_loss(y, p, distance="tv")
    part = PredictionMetric(metric="unified", distance="tv").part(y, p)
    np.testing.assert_array_equal(part.columns[0], loss.distance)
    np.testing.assert_array_equal(part.sizes.values, loss.nonspecificity)
    for score in ("least-confidence", "nonspecificity"):
        errors, uncertainty = PredictionMetric(metric="uq-auc", score=score).part(y, p).columns
        np.testing.assert_array_equal(errors, uq.losses.prediction_errors(y, p))
        expected = loss.nonspecificity if score == "nonspecificity" else uq.measures.uncertainty_score(p, score)
        np.testing.assert_array_equal(uncertainty, expected)


@pytest.mark.parametrize("metric", HIGHER_IS_BETTER)
def test_whole_numbers_that_name_the_classes(metric, random_generator):
    probs, y = random_generator.dirichlet(np.ones(3), 40), random_generator.integers(0, 3, 40)
    named, labels = uq.Point(probs, class_names=["2", "0", "1"]), np.array([2, 0, 1])[y]
    expected = uq.metrics.prediction_metric(y, probs, metric=metric)
    assert repr(uq.metrics.prediction_metric(labels, named, metric=metric)) == repr(expected)
    assert repr(uq.metrics.prediction_metric(labels, named, metric=metric, labels=[0, 1, 2])) == repr(expected)
    streamed = uq.metrics.StreamingMetric(metric)
    streamed.update(named, labels)
    assert repr(streamed.compute()) == repr(expected)


def test_unknown_distance():
    with refuses("distance", "choice"):
        PredictionMetric(distance="far")


# -- names -----------------------------------------------------------------------------------------------------------
#
# Names of metrics that people use.


FINDINGS = ("ece", "ece-classwise", "rms-calibration-error")


def test_every_alias_is_a_metric_and_no_metric_has_another_name():
    assert set(ALIASES.values()) <= {*HIGHER_IS_BETTER, *FINDINGS}
    assert not set(ALIASES) & {*HIGHER_IS_BETTER, *FINDINGS}
    assert all(metric_name(name) == name for name in (*HIGHER_IS_BETTER, *FINDINGS, "js_distance"))


@pytest.mark.parametrize(("alias", "name"), [("nll", "log-loss"), ("acc", "accuracy"), ("auroc", "uq-auc")])
def test_aliases_wherever_metrics_have_names(alias, name):
    rng = np.random.default_rng(0)
    probs, y = rng.dirichlet(np.ones(3), 60), rng.integers(3, size=60)
    assert uq.metrics.prediction_metric(y, probs, metric=alias) == uq.metrics.prediction_metric(y, probs, metric=name)
    metric = uq.metrics.StreamingMetric(alias.upper())
    metric.update(probs, y)
    assert metric.compute() == uq.metrics.prediction_metric(y, probs, metric=name)
    assert uq.metrics.UncertaintyScorer(alias)._definition.metric == name
    assert parse_check(f"low({alias})<0.5").metric == name
    if name != "uq-auc":
        found = uq.assay({"a": probs, "b": probs[::-1]}, y, n_draws=5, calibration=())
        assert found.rank_sets(metric=alias).to_dict() == found.rank_sets(metric=name).to_dict()
