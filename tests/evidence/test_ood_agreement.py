"""Two samples that do not belong together are refused, with what differs."""

from dataclasses import replace

import pytest
from tests.evidence.cases import SETS, judge
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.ood import detect_ood, detect_ood_in_predictions


def test_what_differs_between_the_two_is_refused(both):
    inside, outside, y, z = both
    own = judge(inside, y, n_draws=10)
    with refuses("outside", "mismatch", got="'Point'"):
        detect_ood(own, {})
    with refuses("outside", "mismatch", got="lacks 'Members'"):
        detect_ood(own, {k: v for k, v in outside.items() if k != "Members"})
    with refuses("outside", "mismatch", got="'other'"):
        detect_ood(own, outside | {"other": outside["Point"]})
    with refuses("outside", "mismatch", got="Point in distribution, Members out of it"):
        detect_ood(own, outside | {"Point": outside["Members"]})
    with refuses("outside", "mismatch", got="1 in distribution, 2 out of it"):
        detect_ood(own, outside | {"Point": [outside["Point"], outside["Point"]]})
    with refuses("outside", "type", got="got Point"):
        detect_ood(own, outside["Point"])
    with refuses("outside['Members']", "mismatch", got="45 instances"):
        detect_ood(own, outside | {"Point": outside["Point"][:10]})
    with refuses("outside", "mismatch", got="convention is 'exact' in distribution, 'paper' out of it"):
        detect_ood(own, judge(outside, z, convention="paper", n_draws=10))
    with refuses("groups", "conflict"):
        detect_ood(own, judge(outside, z, n_draws=10), groups=z)
    with refuses("uncertainties", "conflict"):
        detect_ood(own, judge(outside, z, n_draws=10), uncertainties={})
    paper = {"convention": "paper", "n_draws": 10}
    with refuses("outside", "mismatch", got="focal_sets differ"):
        detect_ood(judge(inside, y, **paper, focal_sets=SETS), judge(outside, z, **paper))
    with refuses("positive", "choice", got="got 'ood'"):
        detect_ood(own, outside, positive="ood")
    with refuses("level", "range", got="must lie strictly between 0 and 1"):
        detect_ood(own, outside, level=95)
    with refuses("scores", "choice", got="got 'density'"):
        detect_ood_in_predictions(inside, outside, scores=["density"])


def test_classes_must_be_the_same(random_generator):
    inside = random_prediction("Point", random_generator, 20, 3)
    other = random_prediction("Point", random_generator, 10, 4)
    with refuses("outside", "mismatch", got="K = 3 in distribution, K = 4 out of it"):
        detect_ood_in_predictions({"m": inside}, {"m": other})
    named, swapped = ({"m": replace(inside, class_names=tuple(names))} for names in ("abc", "acb"))
    assert detect_ood_in_predictions(named, swapped).outside.class_names == ("a", "b", "c")  # put into one order
    other = {"m": replace(inside, class_names=("a", "b", "d"))}
    with refuses("outside", "mismatch"):
        detect_ood_in_predictions(named, other)
    y = random_generator.integers(3, size=20)
    assert detect_ood(judge({"m": inside}, y), named).rows()  # classes without names contradict no names
    with refuses("outside", "mismatch", got="'d', number 3 out of distribution, is not in distribution"):
        detect_ood(judge(named, y), other)
    with refuses("outside", "mismatch", got="number 2 is 'c' out of distribution, 'b' in distribution"):
        detect_ood(judge(named, y), judge(swapped, y))


def test_a_score_that_no_model_has_is_refused():
    pair = uq.Point([[0.9, 0.1], [0.2, 0.8]])
    members = uq.Members([[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.3, 0.7]]])
    with refuses("scores", "choice", got="got 'vote-entropy', and the scores there are least-confidence, margin"):
        detect_ood_in_predictions({"m": pair}, {"m": [pair]}, scores=["margin", "vote-entropy"])
    found = detect_ood_in_predictions({"m": pair, "d": members}, {"m": pair, "d": members}, scores=["vote-entropy"])
    assert found.score_names("m") == ()
    assert found.score_names("d") == ("vote-entropy",)


@pytest.mark.parametrize("judged", [True, False])
def test_passes_on_one_side_and_draws_on_the_other_are_refused(judged, random_generator):
    mean, variance = random_generator.normal(size=(20, 9, 3)), random_generator.uniform(size=(20, 9, 3))
    passes, draws = (
        {"m": uq.GaussianLogits(mean, variance, variance_is=meaning, n_draws=9)}
        for meaning in ("aleatoric", "epistemic")
    )
    inside = judge(passes, random_generator.integers(0, 3, 20), n_draws=5) if judged else passes
    detect = detect_ood if judged else detect_ood_in_predictions
    with refuses("outside", "mismatch", got="passes in distribution, draws out of it"):
        detect(inside, draws)
    assert detect(inside, passes)
