"""Scores for scikit-learn: in its own tools, for two classes and several, numbers and names, points and sets."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import UncertaintyScorer, prediction_metric

METRICS = ("unified", "accuracy", "brier", "uq-auc", "uq-c-index", "aurc")
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
@pytest.mark.parametrize("metric", METRICS)
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


def test_refusals(random_generator):
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
