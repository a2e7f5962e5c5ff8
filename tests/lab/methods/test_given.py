"""``module:Class``: a class of the user behaves as the methods here do."""

import sys
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import clone
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.methods import build_method
from uqassay.lab.methods.given import GivenMethod, given_class, option_names, taken_options
from uqassay.lab.methods.registry import label_of, option_names_of


class Shares:
    """Shares of the classes, the same for every instance; with `wide` two members."""

    def __init__(self, wide=False, epochs=7, random_state=None):
        self.wide, self.epochs, self.random_state = wide, epochs, random_state

    def fit(self, X, y):
        self.seen, counts = np.unique(y, return_counts=True)
        self.shares = counts / counts.sum()
        self.X = X

    def predict_uncertainty(self, X):
        point = np.tile(self.shares, (len(X), 1))
        return np.stack([point, point[:, ::-1]], axis=1) if self.wide else uq.Point(point)


class OnlyProbabilities:
    def fit(self, X, y):
        self.k = len(set(y))
        return self

    def predict_proba(self, X):
        return np.full((len(X), self.k), 1 / self.k)


class Unable:
    def __init__(self, size):
        self.size = size

    def fit(self, X, y): ...

    def predict_proba(self, X): ...


@pytest.fixture(autouse=True)
def module(monkeypatch):
    made = ModuleType("made_for_this_test")
    made.Shares, made.OnlyProbabilities, made.Unable, made.number = Shares, OnlyProbabilities, Unable, 3
    monkeypatch.setitem(sys.modules, "made_for_this_test", made)
    given_class.cache_clear()
    yield
    given_class.cache_clear()


NAME = "made_for_this_test:Shares"
X, Y = np.arange(12.0).reshape(6, 2), np.array(["a", "a", "a", "b", "b", "c"])


def test_a_class_is_a_method():
    model = build_method(NAME, wide=True, random_state=3)
    assert model.fit(X, Y).predict_uncertainty(X).probs.shape == (6, 2, 3)
    assert (model.classes_.tolist(), model.model_.random_state, model.epochs) == (["a", "b", "c"], 3, 7)
    assert isinstance(build_method(NAME).fit(X, Y).predict_uncertainty(X), uq.Point)
    np.testing.assert_allclose(build_method("made_for_this_test:OnlyProbabilities").fit(X, Y).predict_proba(X), 1 / 3)
    assert label_of(NAME) == "Shares"


def test_copies_and_options():
    model = build_method(NAME, wide=True).set_params(epochs=2, classes=("a", "b", "c"))
    copy = clone(model)
    assert isinstance(copy, GivenMethod)
    assert copy.get_params() == model.get_params()
    assert copy.fit(X, Y).model_.epochs == 2
    assert option_names_of(NAME) == ["wide", "epochs", "random_state", "classes"]
    assert taken_options(NAME, {"epochs": 3, "batch_size": 8, "random_state": 1}) == {"epochs": 3}
    assert list(option_names(NAME)) == ["wide", "epochs", "random_state"]
    with refuses("depth", "choice"):
        build_method(NAME, depth=3)


@pytest.mark.parametrize("wide", [False, True])
def test_columns_of_classes_that_were_not_seen_are_put_in(wide):
    seen = Y != "b"
    said = build_method(NAME, wide=wide, classes=("a", "b", "c")).fit(X[seen], Y[seen]).predict_uncertainty(X)
    assert said.n_classes == 3
    np.testing.assert_array_equal(said.probs[..., 1], 0)
    np.testing.assert_allclose(said.mean_probs().sum(axis=1), 1)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("made_for_this_test:", "choice"),
        (":Shares", "choice"),
        ("made_for_this_test:Other", "choice"),
        ("made_for_this_test:number", "type"),
        ("no_module_of_this_name:Shares", "missing"),
    ],
)
def test_refusals(name, code):
    with refuses("method", code):
        given_class(name)


def test_a_class_that_cannot_be_made_is_refused():
    with refuses("method", "type", got="size"):
        build_method("made_for_this_test:Unable").check_options()


def test_predictions_of_a_wrong_shape_are_refused():
    model = build_method(NAME).fit(X, Y)
    model.model_.shares = np.full(4, 0.25)
    with refuses("method", "shape", got="6 and 4"):
        model.predict_uncertainty(X)
