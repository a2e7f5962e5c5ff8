"""Fitted classifiers of scikit-learn in place of predictions: order of classes, members of ensembles, refusals."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError
from uqassay.predictions.adapters import from_classifier, is_classifier, member_probs

ensemble = pytest.importorskip("sklearn.ensemble")
linear_model = pytest.importorskip("sklearn.linear_model")
N, NAMES = 90, np.array(["setosa", "lily", "fern"])  # not in the order of the alphabet


@pytest.fixture(scope="module")
def data():
    g = np.random.default_rng(0)
    y = np.arange(N) % 3
    return g.normal(size=(N, 2)) + 2 * np.array([[0, 1], [1, 0], [-1, -1]])[y], NAMES[y]


@pytest.fixture(scope="module")
def forest(data):
    return ensemble.RandomForestClassifier(7, min_samples_leaf=4, random_state=0).fit(*data)


def accuracy(found, model):
    return found[model].columns["correct"].mean()


def test_classifiers_stand_for_their_predictions(data, forest):
    X, y = data
    logistic = linear_model.LogisticRegression().fit(X, y)
    found = uq.assay({"forest": forest, "logistic": logistic}, y, X=X, calibration=())
    assert found.class_names == tuple(sorted(NAMES)) == tuple(forest.classes_)
    given = {
        name: uq.Point(c.predict_proba(X), class_names=c.classes_)
        for name, c in (("forest", forest), ("logistic", logistic))
    }
    assert repr(found.ranked()) == repr(uq.assay(given, y, calibration=()).ranked())
    for name, fitted in (("forest", forest), ("logistic", logistic)):
        assert accuracy(found, name) == pytest.approx(fitted.score(X, y))


def test_a_classifier_alone_is_named_by_its_type(data, forest):
    assert uq.assay(forest, data[1], X=data[0], calibration=()).model_names == ("RandomForestClassifier",)


def test_runs_and_predictions_stand_beside_classifiers(data, forest):
    X, y = data
    point = uq.Point(forest.predict_proba(X), class_names=forest.classes_)
    found = uq.assay({"runs": [forest, forest], "point": point}, y, X=X, calibration=())
    assert [m.n_runs for m in found.candidates] == [2, 1]
    assert accuracy(found, "runs") == accuracy(found, "point")


def test_classes_that_the_labels_lack(data, forest):
    X, y = data
    some = y != "lily"
    found = uq.assay(forest, y[some], X=X[some], calibration=())
    assert accuracy(found, "RandomForestClassifier") == pytest.approx(forest.score(X[some], y[some]))


@pytest.mark.parametrize(
    "labels",
    [np.array([0, 1, 2]), np.array([3, 1, 2]), np.array([10.0, 20.0, 5.0]), np.array([True, False, True])],
)
def test_labels_that_are_numbers(data, labels):
    X, y = data
    coded = labels[np.searchsorted(np.sort(NAMES), y)]
    fitted = linear_model.LogisticRegression().fit(X, coded)
    found = uq.assay(fitted, coded, X=X, calibration=())
    assert accuracy(found, "LogisticRegression") == pytest.approx(fitted.score(X, coded))


def test_labels_in_a_series_are_aligned_to_the_rows_of_a_table(data):
    X = pd.DataFrame(data[0], columns=["a", "b"], index=np.arange(500, 500 + N))
    y = pd.Series(data[1], index=X.index)
    fitted = linear_model.LogisticRegression().fit(X, y)
    shuffled = y.sample(frac=1, random_state=0)
    found = uq.assay(fitted, shuffled, X=X, calibration=())
    assert accuracy(found, "LogisticRegression") == pytest.approx(fitted.score(X, y))
    assert found.ids.tolist() == X.index.tolist()
    twice = X.set_axis(np.zeros(N, int))
    assert from_classifier(fitted, twice).ids is None
    assert from_classifier(fitted, X, ids=np.arange(N)).ids.tolist() == list(range(N))


def ensembles():
    logistic = linear_model.LogisticRegression
    yield ensemble.RandomForestClassifier(5, random_state=0)
    yield ensemble.ExtraTreesClassifier(5, random_state=0)
    yield ensemble.BaggingClassifier(logistic(), 4, max_features=1, random_state=0)
    yield ensemble.BaggingClassifier(n_estimators=4, max_samples=10, random_state=0)
    yield ensemble.VotingClassifier([("a", logistic()), ("b", logistic(C=0.01))], voting="soft")


@pytest.mark.parametrize("made", list(ensembles()), ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("table", [False, True])
def test_the_average_of_the_members_is_what_the_ensemble_predicts(data, made, table):
    X = pd.DataFrame(data[0], columns=["a", "b"]) if table else data[0]
    fitted = made.fit(X, data[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        members = from_classifier(fitted, X, members=True)
    assert members.probs.shape == (N, len(fitted.estimators_), 3)
    np.testing.assert_allclose(members.probs.mean(axis=1), fitted.predict_proba(X), atol=1e-12)
    assert members.class_names == tuple(sorted(NAMES))
    assert type(from_classifier(fitted, X)) is uq.Point


def test_a_member_gives_0_to_a_class_that_it_has_not_seen():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    nearest = pytest.importorskip("sklearn.neighbors").KNeighborsClassifier(1)
    bagged = ensemble.BaggingClassifier(nearest, 8, max_samples=2, random_state=0).fit(X, y)
    unseen = [(m, k) for m, one in enumerate(bagged.estimators_) for k in set(range(3)) - set(one.classes_.astype(int))]
    assert unseen
    probs = member_probs(bagged, X)
    assert all((probs[:, m, k] == 0).all() for m, k in unseen)


@pytest.mark.parametrize(
    "made", [ensemble.AdaBoostClassifier(n_estimators=3), ensemble.GradientBoostingClassifier(n_estimators=3)]
)
@pytest.mark.parametrize("coded", [False, True])
def test_ensembles_that_are_no_average_have_no_members(data, made, coded):
    X, y = data
    fitted = made.fit(X, np.searchsorted(np.sort(NAMES), y) if coded else y)
    with refuses("classifier", "type", type(made).__name__):
        from_classifier(fitted, X, members=True)


def test_weighted_votes_are_no_average(data):
    logistic = linear_model.LogisticRegression
    vote = ensemble.VotingClassifier([("a", logistic()), ("b", logistic(C=0.01))], voting="soft", weights=[3, 1])
    with refuses("classifier", "type", "Voting"):
        from_classifier(vote.fit(*data), data[0], members=True)


def test_methods_of_the_package_state_their_own_kind(data):
    from uqassay.lab.methods import RandomForest

    fitted = RandomForest(n_members=5).fit(*data)
    found = uq.assay({"trees": fitted}, data[1], X=data[0], calibration=())
    assert found["trees"].kind == "Members"
    assert found["trees"].n_points == 5


def test_pipelines_are_classifiers(data):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipe = make_pipeline(StandardScaler(), linear_model.LogisticRegression())
    with refuses("models['p']", "missing", "Pipeline"):
        uq.assay({"p": pipe}, data[1], X=data[0])
    found = uq.assay(pipe.fit(*data), data[1], X=data[0], calibration=())
    assert accuracy(found, "Pipeline") == pytest.approx(pipe.score(*data))


def test_what_is_missing_is_named(data, forest):
    X, y = data
    with refuses("X", "missing", "models\\['f'\\]"):
        uq.assay({"f": forest}, y)
    with refuses("X", "conflict"):
        uq.assay({"f": forest.predict_proba(X)}, y, X=X)
    for unfitted in (ensemble.RandomForestClassifier(), ensemble.RandomForestClassifier):
        with refuses("models['f']", "missing", "RandomForestClassifier"):
            uq.assay({"f": unfitted}, y, X=X)
    with refuses("models['f'][1]", "missing"):
        uq.assay({"f": [forest, ensemble.RandomForestClassifier()]}, y, X=X)


def test_classifiers_without_probabilities_are_refused(data):
    from sklearn.svm import LinearSVC

    with refuses("models['svm']", "type", "LinearSVC"):
        uq.assay({"svm": LinearSVC().fit(*data)}, data[1], X=data[0])


def test_inputs_that_do_not_fit_are_refused(data, forest):
    X, y = data
    with refuses("X", "shape", "2 columns.*\\(90, 3\\)"):
        uq.assay({"f": forest}, y, X=np.column_stack([X, y == "lily"]))
    with refuses("X", "type", "RandomForestClassifier"):
        uq.assay({"f": forest}, y, X=[["a", "b"]] * N)
    with pytest.raises(InputError, match="89"):
        uq.assay({"f": forest}, y, X=X[1:])


def test_several_outputs_are_refused(data):
    X, y = data
    fitted = ensemble.RandomForestClassifier(3, random_state=0).fit(X, np.column_stack([y, y]))
    with refuses("classifier"):
        from_classifier(fitted, X)


class Anything:
    """Answers to every name, as objects of dask do."""

    def __getattr__(self, name):
        return lambda *given: None


@pytest.mark.parametrize(
    "other", [np.eye(2), [[0.5, 0.5]], {"probs": 1}, uq.Point([[0.5, 0.5]]), None, "text", Anything()]
)
def test_predictions_are_no_classifiers(other):
    assert not is_classifier(other)
