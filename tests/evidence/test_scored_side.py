"""Scores of one sample, computed as the other side computes them."""

import pytest
from tests.evidence.cases import judge, row_of, same
from tests.kinds import random_prediction
from tests.metrics.ood.sides import sides
from tests.notes import texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.ood import detect_ood, detect_ood_in_predictions
from uqassay.metrics.ood import ood_auc_score


def test_many_classes_share_the_random_orders(random_generator):
    inside, outside = ({"m": random_prediction("Members", random_generator, 20, 20)} for _ in range(2))
    y = random_generator.integers(20, size=20)
    own = judge(inside, y, measures=[])
    assert own["m"].nonspecificity_error > 0
    same(detect_ood(own, outside).rows(), detect_ood(own, judge(outside, y, measures=[])).rows())


def test_members_are_as_many_as_inside(random_generator):
    inside, outside = (random_prediction("Members", random_generator, n, 3, n_members=6) for n in (50, 40))
    y = random_generator.integers(3, size=50)
    fewer = judge({"m": inside}, y, common_members=3, rng=5)
    found = detect_ood(fewer, {"m": outside}).estimate("m", "epistemic-entropy")
    a, b = (uq.measures.uncertainty_score(p.subset(3, 5), "epistemic-entropy") for p in (inside, outside))
    assert float(found) == pytest.approx(float(ood_auc_score(*sides(a, b))))
    with refuses("outside", "mismatch", got="3 in distribution"):
        detect_ood(fewer, {"m": outside.subset(2)})


def test_logits_of_one_side_only(random_generator):
    logits = random_generator.normal(size=(30, 3))
    found = detect_ood_in_predictions(
        {"m": random_prediction("Point", random_generator, 30, 3)}, {"m": uq.Point.from_logits(logits)}
    )
    row = row_of(found.rows(), score="free-energy", metric="aupr-out")
    assert texts(row) == ["free-energy is not known for the cases in distribution"]
