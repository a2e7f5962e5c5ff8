"""Cost of class sets against loops; the default costs are those of accuracy."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.metrics import set_decision_cost, set_utility_score

CHOICES = {"mean": np.mean, "best": np.min, "worst": np.max}


@pytest.mark.parametrize("resolved", CHOICES)
def test_costs_against_a_loop(random_generator, resolved):
    costs = random_generator.random((4, 4))
    sets = random_generator.random((50, 4)) < 0.5
    y = random_generator.integers(4, size=50)
    expected = []
    for s, c in zip(sets, y, strict=True):
        classes = np.flatnonzero(s) if s.any() else np.arange(4)
        expected.append(CHOICES[resolved](costs[c, classes]) + 0.1 * (len(classes) - 1))
    found = set_decision_cost(y, sets, costs=costs, resolved=resolved, price=0.1)
    assert float(found) == pytest.approx(np.mean(expected))
    votes = np.eye(4)[y]
    of_votes = set_decision_cost(votes, sets, costs=costs, resolved=resolved, price=0.1)
    assert float(of_votes) == pytest.approx(float(found))


def test_default_costs_are_one_minus_the_discounted_accuracy(random_generator):
    p = random_generator.dirichlet(np.ones(3), size=(30, 2))
    y = random_generator.integers(3, size=30)
    cost = set_decision_cost(y, p, groups=np.arange(30) // 3)
    assert float(cost) == pytest.approx(1 - float(set_utility_score(y, p, utility="discounted")))
    assert cost.notes[0].code == "groups"


def test_someone_who_finds_the_true_class_pays_for_each_vote():
    cost = set_decision_cost([[0.75, 0.25]], np.array([[True, True]]), resolved="best", price=0.5)
    assert float(cost) == 0.5


def test_refusals():
    sets = np.array([[True, False]])
    with refuses("costs", "shape", r"\(3, 3\)"):
        set_decision_cost([0], sets, costs=np.eye(3))
    with refuses("costs", "finite"):
        set_decision_cost([0], sets, costs=[[0, np.inf], [1, 0]])
    with refuses("price", "range", "-1"):
        set_decision_cost([0], sets, price=-1)
    with refuses("resolved", "choice"):
        set_decision_cost([0], sets, resolved="luck")
