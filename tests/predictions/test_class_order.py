"""Classes and what belongs to them follow their names."""

import numpy as np
import pandas as pd
import pytest
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.predictions.keys import classes_in_order, label_columns, values_of_classes

NAMES = ("a", "b", "c")


@pytest.mark.parametrize("kind", ["Point", "Members", "Dirichlet", "Intervals", "ClassSets", "Vertices", "Masses"])
def test_a_prediction_follows_its_names(kind, random_generator):
    named = random_prediction(kind, random_generator, 4, 3).with_metadata(class_names=NAMES)
    moved = classes_in_order(named, ("c", "a", "b"), "after")
    assert moved.class_names == ("c", "a", "b")
    assert np.allclose(moved.mean_probs(), named.mean_probs()[:, [2, 0, 1]])
    if kind != "Dirichlet":  # whose bounds are those of random draws
        assert np.allclose(moved.upper_probs(), named.upper_probs()[:, [2, 0, 1]])
    assert classes_in_order(named, None, "after") is named
    with refuses("after.class_names", "ids", got="'d' first"):
        classes_in_order(named, ("a", "b", "d"), "after")


def test_values_of_classes_follow_their_labels():
    costs = pd.DataFrame([[0, 1], [2, 0]], index=["b", "a"], columns=["b", "a"])
    assert values_of_classes(costs, ("a", "b"), 2, "costs").tolist() == [[0, 2], [1, 0]]
    assert values_of_classes([[0, 1], [2, 0]], ("a", "b"), 2, "costs").tolist() == [[0, 1], [2, 0]]
    assert values_of_classes(pd.Series([0.1, 0.9]), ("a", "b"), 2, "prior").tolist() == [0.1, 0.9]
    assert values_of_classes(pd.Series([0.1, 0.9], index=[1, 0]), None, 2, "prior").tolist() == [0.9, 0.1]
    with refuses("costs", "ids"):  # the rows have no names
        values_of_classes(costs.reset_index(drop=True), ("a", "b"), 2, "costs")
    with refuses("prior", "ids", got="'b' first"):
        values_of_classes(pd.Series([0.1, 0.9], index=["a", "x"]), ("a", "b"), 2, "prior")


def test_label_distributions_follow_their_columns():
    table = pd.DataFrame([[0.25, 0.75]], columns=["b", "a"])
    assert label_columns(table, ("a", "b"), "label_probs").tolist() == [[0.75, 0.25]]
    assert label_columns(table.to_numpy(), ("a", "b"), "label_probs").tolist() == [[0.25, 0.75]]


def test_the_prior_of_an_assay_is_named(random_generator):
    p = random_generator.dirichlet(np.ones(3), 50)
    y = random_generator.integers(0, 3, 50)
    point = uq.Point(p, class_names=NAMES)
    prior = pd.Series([0.5, 0.3, 0.2], index=list(NAMES))
    results = [uq.assay({"m": point}, y, prior=each) for each in (prior.to_numpy(), prior[::-1])]
    assert results[0].findings().equals(results[1].findings())
