"""Sentences around the calibration tests: outcomes, cautions and judgements follow from the numbers."""

import pytest
from tests.report.calibration_cases import made_up

from uqassay.evidence.calibration import judged_tests
from uqassay.notes import Note
from uqassay.report.sentences import (
    cautions,
    confidence_text,
    decimals_of,
    outcome_text,
    reliability_sentences,
    sentences_around_tests,
    words_of_test,
)

ALPHA = 0.05


def judged(*tests):
    return judged_tests(tests, ALPHA)


def test_words_are_the_claim_and_what_follows():
    (one,) = judged(made_up("DE", "ece-confidence", pvalue=0.01, mean_pvalue=0.01))
    assert words_of_test(one) == (
        "Reweighting the 3 members of DE cannot calibrate the confidence (confidence ECE, p = .01). "
        "Recalibrate it, or widen the set."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pvalue": 0.01}, "no mixture is"),
        ({"pvalue": 0.01, "n_members": 1}, "not calibrated"),
        ({"pvalue": 0.4}, "not rejected"),
        ({"pvalue": float("nan")}, "undefined"),
        ({"pvalue": float("nan"), "tested": "nothing"}, "not tested"),
    ],
)
def test_outcomes_in_a_cell(changes, words):
    (one,) = judged(made_up("DE", "ece-confidence", **changes))
    assert outcome_text(one) == words


def test_notes_are_told_once_with_whose_they_are():
    shared = (Note("sample", "tested on 300 of 400 instances"), Note("assumption", "groups are not accounted for"))
    own = (Note("assumption", "only 2K vertices"), Note("option", "p from 99 draws"))
    tests = [made_up(m, "ece-confidence", pvalue=0.5, notes=shared + n) for m, n in (("a", ()), ("b", own))]
    assert cautions(judged(*tests)) == ["Groups are not accounted for.", "Only 2K vertices (b)."]


def test_searches_that_differ_are_told_once_with_the_widest_difference():
    def note(spread):
        return (Note("not-settled", f"searches differ by {spread}", {"spread": spread}),)

    tests = [made_up(m, "ece-confidence", pvalue=0.5, notes=note(s)) for m, s in (("a", 1.4), ("b", 2.5), ("b", 1.2))]
    assert cautions(judged(*tests, made_up("c", "ece-confidence", pvalue=0.5))) == ["Searches differ by 2.5 (a and b)."]


@pytest.mark.parametrize(
    ("n_tested", "words"), [(200, "Tested on all 200 cases."), (50, "Tested on 50 of the 200 cases.")]
)
def test_how_many_instances_were_tested(n_tested, words):
    found = sentences_around_tests(judged(made_up("DE", "ece-confidence", pvalue=0.4, n_tested=n_tested)), 1)
    assert found["how"].startswith(words)
    assert "Holm" not in found["how"]
    assert found["pvalue_title"] == "p"
    several = sentences_around_tests(judged(*(made_up("DE", m, pvalue=0.4) for m in ("ece-confidence", "brier"))), 2)
    assert "adjusted by Holm for the 2 tests" in several["how"]
    assert several["pvalue_title"] == "p"


def test_judgements_against_the_interval():
    assert confidence_text(-0.1, 0.7, 0.8) == "too unsure"
    assert confidence_text(0.05, 0.7, 0.8) == "within the interval"
    assert confidence_text(0.0, 0.5, 0.5) == "no interval to judge by"


def test_decimals_show_two_digits():
    for value in (0.0123, 0.5, 3.0, 1e-9):
        places = decimals_of([value])
        assert places == 5 or 10 <= round(value * 10**places) < 100 or places == 0


def test_votes_are_explained():
    assert "share of the votes" in reliability_sentences(0.9, votes=True, tested=False)["note"]
    assert "together at 90 %" in reliability_sentences(0.9, votes=False, tested=True)["shown"]
