"""How it was computed, in facts that follow from the settings and the inputs."""

import numpy as np

import uqassay as uq
from uqassay.report.sentences import method_sentences


def facts(assay):
    text = method_sentences(assay)
    return dict([*text["conventions"], *text["procedures"]])


def one(prediction=None, y=(0, 1), **options):
    return uq.assay({"m": prediction or uq.Point([[0.9, 0.1], [0.4, 0.6]])}, y, n_draws=5, **options)


def test_facts_follow_the_settings():
    sets = uq.Members([[[0.9, 0.1], [0.8, 0.2]], [[0.4, 0.6], [0.3, 0.7]]])
    found = facts(one(sets, distance="js", nonspecificity="pal", tradeoffs=(0.25, 1.0), level=0.9, measures=()))
    assert found["distance"] == "JS"
    assert found["non-specificity"] == "pal"
    assert found["λ of the findings"] == "0.25, 1"
    assert "λ of the findings" not in facts(one())  # without sets nothing depends on λ
    assert found["intervals"].startswith("90 %; means: ")
    assert found["further measures"] == "none"
    assert found["focal sets"] == "all events"
    assert facts(one(focal_sets=[[0], [1], [0, 1]], convention="paper"))["focal sets"] == "3 sets"


def test_floors_and_conventions():
    assert facts(one())["floor of probabilities"] == "2.22e−16, the same for all number types"
    assert facts(one(floor=0.001))["floor of probabilities"] == "0.001"
    assert facts(one(convention="paper"))["convention"].startswith("paper")
    assert facts(one(convention="paper"))["floor of probabilities"] == "1e−10, that of the paper's code"


def test_repaired_masses_are_told():
    beliefs = uq.Masses.from_beliefs([[0.6, 0.6, 1.0], [0.2, 0.3, 1.0]], [[0], [1], [0, 1]], n_classes=2)
    assert "were repaired" in facts(one(beliefs, repair=True))["convention"]
    assert facts(one())["convention"] == "exact: masses are never clipped"


def test_groups_are_told():
    assert ", over 2 groups; shares: Wilson" in facts(one(groups=["a", "b"]))["intervals"]


def test_intervals_of_the_ranking_of_mistakes_are_told_apart_from_those_of_means():
    rng = np.random.default_rng(0)
    found = facts(one(uq.Point(rng.dirichlet(np.ones(3), 60)), rng.integers(0, 3, 60)))["intervals"]
    means, ranking = found.split("; shares: Wilson; ranking of mistakes: ")
    assert means == "95 %; means: Student t corrected for skewness (Hall)"
    assert "DeLong (adjusted, logit scale)" in ranking
    assert "U-statistic (logit scale)" in ranking
