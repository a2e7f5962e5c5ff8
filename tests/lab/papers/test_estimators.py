"""Estimators at hand: copies with seeds, and refusals."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers.identity import check_estimator, run_seeds, unfitted_copy


class Own:
    """Written by hand, without get_params."""

    def __init__(self, epochs=3):
        self.epochs, self.random_state, self.table = epochs, None, [1, 2]

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


def test_options_are_set_where_the_estimator_has_them():
    template = Own()
    model = unfitted_copy(template, {"random_state": 7, "epochs": 5, "classes": (0, 1)})
    assert (model.random_state, model.epochs) == (7, 5)
    assert not hasattr(model, "classes")
    model.table.append(3)
    assert (template.random_state, template.epochs, template.table) == (None, 3, [1, 2])


def test_seeds_inside_a_pipeline_are_set_where_they_are_none(needs):
    needs("sklearn")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(5))

    def said(seed):
        return unfitted_copy(pipe, {"random_state": seed}).fit(X, y).predict_proba(X)

    np.testing.assert_array_equal(said(1), said(1))
    assert (said(1) != said(2)).any()
    assert pipe.get_params()["randomforestclassifier__random_state"] is None
    fixed = make_pipeline(RandomForestClassifier(5, random_state=4))
    assert unfitted_copy(fixed, {"random_state": 1}).get_params()["randomforestclassifier__random_state"] == 4


def test_more_runs_contain_the_fewer():
    assert run_seeds(3, 5)[:2] == run_seeds(3, 2)
    assert len({*run_seeds(3, 5), *run_seeds(4, 5)}) == 10


def test_refusals():
    check_estimator(Own(), probabilities_suffice=True)
    with refuses("estimator", "type", got="must have predict_uncertainty; got Own"):
        check_estimator(Own())
    with refuses("estimator", "type", got="must have predict_uncertainty or predict_proba; got object"):
        model = type("object", (), {"fit": lambda self, X, y: self})()
        check_estimator(model, probabilities_suffice=True)
    with refuses("estimator", "type", got="must have fit;"):
        check_estimator(object(), probabilities_suffice=True)
    with refuses("estimator", "type", got="the class Own"):
        check_estimator(Own)
    for runs, code in ((0, "range"), (-1, "range"), (1.5, "type"), (True, "type"), (None, "type")):
        with refuses("runs", code):
            run_seeds(0, runs)


@pytest.mark.parametrize("seed", [None, 3])
def test_no_seed_changes_nothing_inside(seed, needs):
    needs("sklearn")
    from sklearn.linear_model import LogisticRegression

    model = unfitted_copy(LogisticRegression(), {"random_state": seed})
    assert model.random_state == seed
