"""Estimates of epistemic uncertainty: names, functions and stated ranges."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.gain.trainings import chosen_estimates

MEMBERS = uq.Members([[[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.8, 0.2]], [[0.5, 0.5], [0.7, 0.3]]])


def entropy(p):
    return -(p * np.log(p)).sum(axis=-1)


def test_defaults_against_their_definitions():
    found = chosen_estimates(None)(MEMBERS, "a model")
    assert list(found) == ["mutual-information", "entropy"]
    total = entropy(MEMBERS.probs.mean(axis=1))
    np.testing.assert_allclose(found["entropy"], total)
    np.testing.assert_allclose(found["mutual-information"], total - entropy(MEMBERS.probs).mean(axis=1), atol=1e-15)


def test_a_point_and_a_set_offer_the_entropy_alone():
    for prediction in (uq.Point([[0.5, 0.5]]), uq.Intervals([[0.1, 0.3]], [[0.7, 0.9]])):
        assert list(chosen_estimates(None)(prediction, "a model")) == ["entropy"]


def test_names_of_the_registry_and_functions():
    def spread(prediction):
        return prediction.probs.std(axis=1)[:, 0]

    found = chosen_estimates(["margin", spread])(MEMBERS, "a model")
    assert list(found) == ["margin", "spread"]
    np.testing.assert_allclose(found["spread"], [0.4, 0.0, 0.1], atol=1e-15)
    np.testing.assert_allclose(found["margin"], uq.measures.uncertainty_score(MEMBERS, "margin"))
    named = chosen_estimates({"width": (spread, (0, 1)), "other": "entropy"})
    assert list(named(MEMBERS, "a model")) == ["width", "other"]
    assert named.ranges == {"width": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        (np.zeros(2), "shape", r"must give 3 numbers.*\(2,\)"),
        (np.zeros((3, 1)), "shape", r"\(3, 1\)"),
        (np.array(["a", "b", "c"]), "shape", "<U1"),
        ([0.0, np.nan, 0.0], "finite", "row 1 of the test instances is nan, from Forest"),
        ([0.0, 0.0, np.inf], "finite", "row 2 of the test instances is inf"),
        ([0.0, 1.5, -1.0], "range", "between 0.000 and 1.000, as stated; row 1 of the test instances is 1.5"),
    ],
)
def test_values_of_a_function_that_are_refused(values, code, got):
    with refuses("scores['mine']", code, got):
        chosen_estimates({"mine": (lambda prediction: values, (0, 1))})(MEMBERS, "Forest")


def test_refusals_before_any_prediction():
    with refuses("scores", "choice", got="got 'entropie'"):
        chosen_estimates("entropie")
    with refuses("scores", "empty"):
        chosen_estimates([])
    for wrong in ((1, 0), (0,), (0, "1"), (0, np.nan), 3):
        with refuses("scores['mine']", "range", got="low < high"):
            chosen_estimates({"mine": (len, wrong)})
    with refuses("scores", "no-distribution", got="epistemic-variance needs a distribution.*Intervals from Forest"):
        chosen_estimates("epistemic-variance")(uq.Intervals([[0.1, 0.3]], [[0.7, 0.9]]), "Forest")
