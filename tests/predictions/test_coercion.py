"""Conversion of arguments: predictions, arrays and objects of other libraries."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.predictions import as_prediction

PROBS = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])


def test_predictions_pass_and_arrays_become_points_and_members():
    point = uq.Point(PROBS, ids=["a", "b"])
    assert as_prediction(point) is point
    assert isinstance(as_prediction(PROBS), uq.Point)
    assert isinstance(as_prediction(PROBS.tolist()), uq.Point)
    assert as_prediction(np.stack([PROBS] * 4, axis=1)).n_members == 4
    assert isinstance(as_prediction({"alpha": PROBS}), uq.Dirichlet)
    table = as_prediction(pd.DataFrame(PROBS, columns=["x", "y", "z"]))
    assert table.class_names == ("x", "y", "z")


def test_refusals_name_the_parameter_of_the_caller():
    with refuses("models['DE']", "sum", got=r"row 1 sums to 1\.1"):
        as_prediction([[0.5, 0.5], [0.5, 0.6]], "models['DE']")
    with refuses("models['DE'].upper", "bounds"):
        as_prediction({"lower": [[0.1, 0.1]], "upper": [[0.2, 0.2]]}, "models['DE']")
    for odd in (None, "probs.npz", 3.5, object()):
        with refuses("prediction", "type", got=f"got {type(odd).__name__}"):
            as_prediction(odd)


def test_a_list_of_models_is_not_three_instances(needs):
    with refuses("prediction", "member-axis", got=r"got 3 arrays, the first of shape \(2, 3\)"):
        as_prediction([PROBS, PROBS, PROBS])
    with refuses("obj", "member-axis", got="member_axis=0"):
        uq.from_object([PROBS, PROBS, PROBS])
    with refuses("probs", "member-axis"):
        uq.Members([PROBS, PROBS, PROBS])
    for members in (uq.from_object([PROBS] * 3, member_axis=0), uq.Members([PROBS] * 3, member_axis=0)):
        assert (members.n_instances, members.n_members) == (2, 3)
    assert uq.Members([PROBS] * 3, member_axis=1).n_instances == 3
    needs("torch")
    import torch

    tensors = [torch.tensor(PROBS, requires_grad=True) for _ in range(3)]
    with refuses("prediction", "member-axis"):
        as_prediction(tensors)
    assert uq.from_object(tensors, member_axis=0).n_members == 3
    assert as_prediction(list(torch.tensor(PROBS))).n_instances == 2  # a list of rows


@pytest.mark.parametrize(
    "function",
    [
        lambda p: uq.losses.unified_loss([0], p).total,
        lambda p: uq.losses.log_loss([0], p),
        lambda p: uq.losses.brier_loss([0], p),
        lambda p: uq.losses.is_correct([0], p),
        lambda p: uq.measures.nonspecificity(p),
        lambda p: uq.measures.upper_entropy(p),
        lambda p: uq.measures.lower_entropy(p),
        lambda p: uq.measures.entropy_decomposition(p).total,
        lambda p: uq.measures.variance_decomposition(p).total,
        lambda p: uq.measures.uncertainty_score(p, "margin"),
        lambda p: uq.measures.least_confidence(p),
        lambda p: uq.measures.margin_uncertainty(p),
        lambda p: uq.measures.credal_width(p),
        lambda p: uq.measures.credal_uncertainty(p),
    ],
)
def test_functions_of_predictions_accept_arrays(function):
    members = np.array([[[0.7, 0.3], [0.5, 0.5]]])
    for array, prediction in ((members, uq.Members(members)), (members[:, 0], uq.Point(members[:, 0]))):
        np.testing.assert_array_equal(np.asarray(function(array)), np.asarray(function(prediction)))


def test_gaussian_logits_need_a_meaning_of_their_variance_and_the_remedy_gives_one(needs):
    mapping = {"mean": PROBS, "variance": PROBS}
    with refuses("models['DE'].variance_is", "missing") as refusal:
        as_prediction(mapping, "models['DE']")
    assert "uq.from_object" in refusal.value.remedy
    assert uq.from_object(mapping, variance_is="epistemic").spanned_by == "draws"
    assert as_prediction(mapping | {"variance_is": "aleatoric"}).spanned_by == "passes"
    needs("torch")
    import torch

    normal = torch.distributions.Normal(torch.zeros(4, 3), 1.0)
    with refuses("prediction.variance_is", "missing"):
        as_prediction(normal)
    assert uq.from_object(normal, variance_is="aleatoric").variance_is == "aleatoric"


def test_a_meaning_may_be_repeated_but_not_changed():
    stated = uq.GaussianLogits([[0.0, 1.0]], [[1.0, 1.0]], variance_is="aleatoric")
    assert uq.from_object(stated, variance_is="aleatoric") is stated
    with refuses("variance_is", "conflict", got="'epistemic', and the key states 'aleatoric'"):
        uq.from_object(stated, variance_is="epistemic")
    with refuses("variance_is", "conflict", got="found probs"):
        uq.from_object(PROBS, variance_is="aleatoric")
