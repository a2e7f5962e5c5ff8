"""Keys of estimators and functions: equal for equal ones, different where results may differ."""

from functools import partial

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.bench.cell import canonical_json
from uqassay.lab.papers.estimators import identity_of


class Own:
    def __init__(self, size=3, table=None):
        self.size, self.table, self.random_state = size, table, 0

    def fit(self, X, y):
        return self


def key(value):
    return canonical_json(identity_of(value))


def test_options_count_and_seeds_do_not():
    one = Own()
    one.random_state = 5
    assert key(one) == key(Own())
    assert len({key(Own()), key(Own(4)), key(Own(3.0)), key(Own(None)), key(Own("3"))}) == 5
    tables = [np.arange(3.0), np.arange(3.0) + 1, np.arange(3), np.arange(3.0)[:, None]]
    assert len({key(Own(table=table)) for table in tables}) == 4
    assert key(Own(table=np.arange(6.0)[::2])) == key(Own(table=np.array([0.0, 2.0, 4.0])))


def test_seeds_of_an_estimator_inside_another_count():
    """They are not set for each training, as those of the outer one are."""
    from sklearn.tree import DecisionTreeClassifier

    inner = [DecisionTreeClassifier(random_state=seed) for seed in (0, 1)]
    assert key(Own(inner[0])) == key(Own(DecisionTreeClassifier(random_state=0))) != key(Own(inner[1]))


def test_estimators_of_scikit_learn_and_of_this_package():
    from sklearn.tree import DecisionTreeClassifier

    from uqassay.lab.methods import Bagging, RandomForest

    assert key(RandomForest(random_state=3)) == key(RandomForest(n_jobs=2)) != key(RandomForest(n_members=3))
    small, large = (Bagging(estimator=DecisionTreeClassifier(max_depth=d)) for d in (1, 2))
    assert key(small) != key(large)
    assert identity_of(DecisionTreeClassifier())["version"]


@pytest.mark.parametrize("value", [object(), {1: 2}, {1, 2}, np.array([None])])
def test_other_objects_are_refused(value):
    with refuses("folder", "type", got="estimator.table is of type"):
        identity_of(Own(table=value))


def test_options_of_a_splitter_that_no_run_sets():
    class Splitter:
        def __init__(self, classes, random_state):
            self.classes, self.random_state = classes, random_state

        def divide(self, X, random_state=None):
            return None

    assert key(Splitter((0,), 0)) != key(Splitter((1,), 0))
    assert key(Splitter((0,), 0)) != key(Splitter((0,), 1))


def halved(x):
    return x / 2


def test_functions_count_by_name_and_version():
    assert identity_of(halved) == {"name": f"{__name__}:halved"}
    assert identity_of(np.log) == {"name": "numpy:log", "version": np.__version__} != identity_of(np.exp)
    assert key(partial(np.quantile, q=0.5)) != key(partial(np.quantile, q=0.6))
    assert key(float("inf")) == '"inf"'


def test_functions_without_a_name_need_a_key():
    def inner(x):
        return x

    for function in (inner, lambda x: x, Own().fit):
        with refuses("folder", "type", got='give key="…"'):
            identity_of(Own(function))
        assert identity_of(Own(function), key="first")["options"]["size"]["name"].startswith(__name__)
