"""Words of the answer card: they claim what the answer holds, and no more."""

import re
from dataclasses import replace

import pytest
from tests.evidence.verdict_cases import judged

import uqassay as uq
from uqassay.evidence.answer import Recommendation, Stretch
from uqassay.evidence.cautions import CAUTIONS
from uqassay.report.sentences import (
    CONCERNING,
    FURTHER,
    answer_choices,
    answer_remarks,
    axis_text,
    caution_finding,
    depends_sentence,
    meanings,
    stretch_text,
)

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def two_choices():
    return judged({"a": (0.15, 0.3), "b": (0.4, 0.0)}, 2000).answer()


def test_every_choice_has_its_range(two_choices):
    first, middle, second = answer_choices(two_choices)
    assert (first.before, first.models) == ("Choose", ("a",))
    assert first.where.startswith("for every λ from 0.39 to 0.8")
    assert first.others == (("Not as good at any of these λ", ("b",)),)
    assert middle.models == ("a", "b")
    assert middle.others == (("Where each of the two is better cannot be told.", ()),)
    assert second.models == ("b",)
    assert [kind for kind, _ in answer_remarks(two_choices)] == ["none", "open"]


def test_a_condition_stands_with_the_choice_that_rests_on_it():
    (choice,) = answer_choices(judged({"a": (0.02, 0.0), "b": (0.3, 0.05)}, 12, floor=None, width=0.01).answer())
    assert choice.where.endswith(", unless a rare huge loss is missing from these 12 cases, too few to rule that out")
    (choice,) = answer_choices(judged({"a": (0.15, 0.05), "b": (0.3, 0.05)}, 300, floor=None).answer())
    assert re.search(
        r", if a gives the true class probability 0 in at most 1 of [\d,]+ cases unlike these$", choice.where
    )


def test_what_several_choices_rest_on_is_said_once(two_choices):
    assert depends_sentence(two_choices) == "The choice depends on λ."
    resting = replace(two_choices, condition="groups", grouped=True, n_units=12)
    assert depends_sentence(resting) == (
        "The choice depends on λ, and holds unless huge losses strike whole groups, which 12 groups cannot rule out."
    )
    assert not any("unless" in choice.where for choice in answer_choices(resting))
    one = replace(resting, choices=resting.choices[:1])
    assert depends_sentence(one) == ""
    (choice,) = answer_choices(one)
    assert choice.where.endswith(", unless huge losses strike whole groups, which 12 groups cannot rule out")


def test_one_model_is_worth_using_or_not():
    (choice,) = answer_choices(judged({"only": (0.15, 0.05)}, 2000).answer())
    assert (choice.before, choice.models, choice.after, choice.others) == ("", ("only",), "is worth using", ())
    (choice,) = answer_choices(judged({"bad": (0.75, 0.25)}, 2000, width=0.02).answer())
    assert (choice.models, choice.after) == (("bad",), "is not worth using")


def test_no_model_is_worth_using():
    answer = judged({"bad": (0.75, 0.25), "worse": (0.8, 0.1)}, 2000, width=0.02).answer()
    (choice,) = answer_choices(answer)
    assert (choice.before, choice.models) == ("No model is worth using", ())
    assert answer_remarks(answer) == []


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"b": ((0.3, 0.83),)}, "Not as good up to λ = 0.83"),
        ({"b": ((1.34, 1.9),)}, "Not as good from λ = 1.34 on"),
        ({"b": ((0.7, 0.9),)}, "Not as good at some of these λ"),
        ({"b": ((0.3, 0.5), (0.7, 1.9))}, "Not as good at some of these λ"),
        ({"b": ((0.3, 0.9),), "c": ((0.4, 1.0),)}, "Not as good at some of these λ"),
    ],
)
def test_where_others_are_worse(told, said):
    answer = judged(dict.fromkeys("abc", (0.15, 0.05)), 50).answer()
    choice = Recommendation(0.3, 1.9, ("a",), tuple(set("bc") - set(told)), tuple(told), told, (), (), {}, None)
    (found,) = answer_choices(replace(answer, kind="choose", choices=(choice,), condition=""))
    assert dict(found.others)[said] == tuple(told)


def test_without_sets_the_card_does_not_speak_of_the_trade_off():
    y = [0, 1] * 300
    right, wrong = uq.Point([[0.8, 0.2], [0.2, 0.8]] * 300), uq.Point([[0.7, 0.3], [0.3, 0.7]] * 300)
    answer = uq.assay({"a": right, "b": wrong}, y, calibration=(), n_draws=20).answer()
    (card,) = answer_choices(answer)
    assert (card.before, card.models, card.others) == ("Choose", ("a",), (("Not as good", ("b",)),))
    assert "λ" not in card.where
    tied = uq.assay({"a": right, "b": uq.Point([[0.8, 0.2], [0.21, 0.79]] * 300)}, y, calibration=(), n_draws=20)
    (card,) = answer_choices(tied.answer())
    assert card.where == "" or "λ" not in card.where


def test_the_axis_in_words(two_choices):
    text = axis_text(two_choices, 0.5)
    assert text["whole"].startswith("λ from 0 to 2: no model is worth using from 0 to 0.3")
    for stretch in two_choices.stretches:
        assert (stretch_text(stretch, two_choices.top) in text["whole"]) == (stretch.low < two_choices.top)
    assert stretch_text(Stretch(0.1, 0.2, "open"), 2.0) == "nothing can be told from 0.1 to 0.2"


def test_every_caution_has_a_word():
    assert CONCERNING.keys() | FURTHER.keys() == CAUTIONS.keys()
    assert not CONCERNING.keys() & FURTHER.keys()
    for code in CAUTIONS:
        assert caution_finding([code]).startswith("1 warning")


def test_meanings_follow_labels_and_baselines():
    said = dict(meanings(["vacuous", "class-prior"], "mean E", votes=False, price=False))
    assert "true class the probability 1" in said["Distance: how wrong"]
    assert said["Worth using"].count("than ") == 2
    assert "λ" not in said
    said = dict(meanings(["class-prior"], "mean E", votes=True, price=True))
    assert "distribution of the labels" in said["Distance: how wrong"]
    assert said["Worth using"] == "Shown to have a lower mean E than always giving the class frequencies."
    assert said["λ"].startswith("How much a vague answer costs you")
    said = dict(meanings(["class-prior"], "log loss", votes=False, price=True))
    assert list(said) == ["Log loss", "Worth using", "Could be as good"]
    alone = dict(meanings(["class-prior"], "log loss", votes=False, price=True, several=False))
    assert list(alone) == ["Log loss", "Worth using"]
    assert said["Worth using"] == "Shown to have a lower log loss than always giving the class frequencies."
