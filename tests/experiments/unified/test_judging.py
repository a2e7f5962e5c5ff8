"""Judging of made predictions: the models of each assay, the concentrations and events of each convention, the sizes."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.experiments.unified.judging import CONVENTIONS, judge, judge_predictions


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    alpha = rng.gamma(2.0, 4.0, (60, 3))
    sets = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=bool)
    said = {
        "SNN": [uq.Point(rng.dirichlet(np.ones(3), 60))],
        "RS-NN": [uq.Masses(rng.dirichlet(np.ones(5), 60), sets)],
        "DE": [uq.Members(rng.dirichlet(np.ones(3), (60, 7)))],
        "EDL": [uq.Dirichlet(alpha)],
    }
    y = rng.integers(0, 3, 60)
    return said, y, judge_predictions("made", said, y, np.array([30, 20, 10]))


def test_models_are_those_of_the_papers_tables(judged):
    _, _, found = judged
    assert found.n_train == 60
    for convention in CONVENTIONS:
        names = [m.name for m in found.assays[convention].models if not m.baseline]
        assert names == ["DE", "EDL", "RS-NN", "SNN", "DE Avg"]
        assert found.ranked[convention].model_names == ("DE", "EDL", "RS-NN")
        assert list(found.members[convention]["DE"]) == [2, 5]  # up to 7 members


def test_conventions_differ_in_concentrations_and_events(judged):
    said, y, found = judged
    sets = said["RS-NN"][0].focal_sets
    raw = uq.losses.unified_loss(y, said["EDL"][0]).nonspecificity
    alpha = said["EDL"][0].alpha
    divided = uq.losses.unified_loss(
        y,
        uq.Dirichlet(alpha / alpha.sum(axis=1, keepdims=True)),
        convention="paper",
        focal_sets=sets[~sets.all(axis=1)],
    ).nonspecificity
    for convention, expected in {"exact": raw, "paper": divided}.items():
        column = found.assays[convention]["EDL"].columns["nonspecificity"]
        np.testing.assert_allclose(np.ravel(column), expected, rtol=1e-9)


def test_a_folder_without_predictions_has_no_judgement(tmp_path):
    assert judge(tmp_path, []) is None
