"""What was compared, in a sentence, and what each model predicts."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.report.sentences import compared_sentence, kind_text

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_groups_and_votes_are_told():
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    models = {"a": uq.Point(p), "b": uq.Point(p[:, ::-1])}
    a = uq.assay(models, [0, 0, 0], groups=["x", "x", "y"], n_draws=5)
    assert compared_sentence(a) == "2 models on 3 cases (2 groups, resampled whole) of 2 classes."
    votes = uq.assay(models, p, n_draws=5)
    assert compared_sentence(votes).endswith(", labelled by distributions.")


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (uq.Point([[0.9, 0.1]]), "point prediction"),
        (uq.Members([[[0.9, 0.1]]]), "1 member"),
        (uq.Members([[[0.9, 0.1], [0.8, 0.2]]]), "2 members"),
        (uq.Vertices([[[0.9, 0.1], [0.8, 0.2]]]), "2 vertices"),
        (uq.Intervals([[0.5, 0.1]], [[0.9, 0.5]]), "probability intervals"),
        ([uq.Point([[0.9, 0.1]])] * 3, "point prediction · 3 runs"),
    ],
)
def test_kinds_in_words(prediction, words):
    assert kind_text(uq.assay({"m": prediction}, [0], n_draws=5)["m"]) == words


def test_draws_and_baselines_in_words():
    a = uq.assay({"m": uq.Dirichlet([[2.0, 1.0]])}, [0], n_draws=5)
    assert kind_text(a["m"]) == f"Dirichlet, {a['m'].n_points} draws"
    assert kind_text(a["vacuous"]) == "baseline"


@pytest.mark.parametrize(
    ("meaning", "n_passes", "words"),
    [
        ("aleatoric", 1, "Gaussian logits"),
        ("aleatoric", 2, "Gaussian logits, 2 passes"),
        ("epistemic", 2, "Gaussian logits, 100 draws"),
    ],
)
def test_passes_and_draws_are_told_apart(meaning, n_passes, words):
    g = uq.GaussianLogits(np.zeros((1, n_passes, 2)), np.ones((1, n_passes, 2)), variance_is=meaning)
    assert kind_text(uq.assay({"m": g}, [0], n_draws=5)["m"]) == words
