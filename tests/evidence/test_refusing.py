"""Certified refusal in an assay: the numbers are those of the metric, and the choice is made on the choosing part."""

import json

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.refusals import refuses

import uqassay as uq

N = 900


@pytest.fixture(scope="module")
def two():
    """A useful model, and one whose confidence is noise."""
    rng = np.random.default_rng(0)
    p = rng.beta(6.0, 1.0, N)
    y = (rng.random(N) > p).astype(int)
    noise = rng.permutation(p)
    good, bad = (uq.Point(np.column_stack([q, 1 - q])) for q in (p, noise))
    return judge({"noise": bad, "good": good}, y, groups=np.arange(N) // 2)


def test_the_numbers_are_those_of_the_metric(two):
    found = two.certified_refusal("good", "total-entropy", risk=0.12)
    errors, scores = 1 - two["good"].columns["correct"][0], two["good"].columns["total-entropy"][0]
    expected = uq.metrics.certified_refusal(errors, scores, risk=0.12, groups=two.groups)
    assert found.refusal.to_dict() == expected.to_dict()
    assert found.threshold == expected.threshold
    assert (found.model, found.score, found.run, found.certified) == ("good", "total-entropy", None, True)
    assert found.sentence() == expected.sentence(score="total-entropy", model="good")
    assert len(found.considered) == 1


def test_the_choice_does_not_look_at_the_certifying_part(two):
    choosing = np.arange(N) < 300
    found = two.certified_refusal(risk=0.12, choosing=choosing)
    assert found.model == "good"
    assert len({one.model for one in found.considered}) == 2
    assert [one.coverage for one in found.considered] == sorted(
        (one.coverage for one in found.considered), reverse=True
    )
    labels = np.where(choosing, two.labels, 1 - two.labels)  # other labels in the certifying part
    other = judge({m.name: m_prediction(m) for m in two.candidates}, labels, groups=two.groups)
    assert other.certified_refusal(risk=0.12, choosing=choosing).considered == found.considered


def m_prediction(model):
    p = model.columns["confidence"][0]
    first = model.columns["label"][0] == 0
    return uq.Point(np.column_stack([np.where(first, p, 1 - p), np.where(first, 1 - p, p)]))


def test_scores_may_be_named(two):
    found = two.certified_refusal(score=["margin", "total-entropy"], risk=0.12)
    assert {one.score for one in found.considered} == {"margin", "total-entropy"}
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["sentence"] == found.sentence()
    assert "Chosen among 4 scores on the choosing part alone." in found.summary()
    assert found.sentence() in " ".join(repr(found).split())


def test_a_threshold_belongs_to_one_run():
    rng = np.random.default_rng(1)
    runs = [uq.Point(rng.dirichlet([8.0, 1.0], 200)) for _ in range(2)]
    a = judge({"m": runs}, np.zeros(200, int))
    with refuses("run", "missing", got="'m' has 2"):
        a.certified_refusal(risk=0.3)
    with refuses("run", "range"):
        a.certified_refusal(risk=0.3, run=2)
    found = a.certified_refusal("m", "margin", risk=0.3, run=1)
    errors, scores = 1 - a["m"].columns["correct"][1], a["m"].columns["margin"][1]
    assert found.refusal.to_dict() == uq.metrics.certified_refusal(errors, scores, risk=0.3).to_dict()
    assert "Keep every case of m (run 2):" in found.sentence()
    assert found.to_dict()["run"] == 2


def test_label_distributions_have_no_mistakes_to_count():
    a = judge({"m": uq.Point([[0.8, 0.2]] * 4)}, [[0.7, 0.3]] * 4)
    with refuses("y_true", "type"):
        a.certified_refusal(risk=0.1)
    with refuses("y_true", "type"):
        a.expected_cost("m")


def test_what_is_not_there_is_refused(two):
    with refuses("score", "choice"):
        two.certified_refusal(score="nonsense", risk=0.1)
    with refuses("score", "choice"):
        two.certified_refusal(score=[], risk=0.1)
    with refuses("model", "choice"):
        two.certified_refusal("nobody", risk=0.1)


def test_the_expected_cost_is_that_of_the_metric(two):
    found = two.expected_cost("good", prices=[0.1, 0.3])
    errors, scores = 1 - two["good"].columns["correct"][0], two["good"].columns["total-entropy"][0]
    expected = uq.metrics.expected_cost_curve(errors, scores, prices=[0.1, 0.3], groups=two.groups)
    assert found.to_dict() == expected.to_dict()
    assert two.expected_cost("good", "margin", prices=[0.1]).to_dict() != found.to_dict()
