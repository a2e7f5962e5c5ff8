"""Sentences around the calibration tests: outcomes, captions, cautions and judgements follow from the numbers."""

import numpy as np
import pytest
from tests.report.calibration_cases import made_up

from uqassay.evidence.calibration import judged_tests
from uqassay.metrics.measures import CALIBRATION_MEASURES
from uqassay.notes import Note
from uqassay.report.sections import null_histogram
from uqassay.report.sentences import (
    captions,
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


def captions_of(**changes):
    (one,) = judged(made_up("DE", "ece-confidence", **{"pvalue": 0.4, **changes}))
    return captions(one, null_histogram(one.test.null, one.test.statistic), 1, 0.95)


def test_words_are_the_claim_and_what_follows():
    (one,) = judged(made_up("DE", "ece-confidence", pvalue=0.01, mean_pvalue=0.01))
    assert words_of_test(one) == (
        "No mixture of the 3 members of DE is confidence calibrated (confidence ECE, p = .01). "
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


def test_the_caption_of_the_null_makes_the_pvalue():
    text = captions_of(statistic=0.05, pvalue=0.56, null_kind="minimised")["null"]
    reach = int((np.linspace(0.01, 0.1, 99) >= 0.05).sum())
    assert f"{reach} of 99 draws reach the minimum found (coloured); so p = (1 + {reach}) / (1 + 99) = .56." in text
    assert "single members" in text
    many = captions_of(statistic=0.2, pvalue=0.001, n_draws=999)["null"]
    assert "0 of 99 draws reach" in many
    assert "900 further draws are valued at a few mixtures, which can only raise the p-value; p = .001." in many
    parts = captions_of(statistic=0.2, pvalue=0.00001, n_parts=3, tested="mean", n_members=1)["null"]
    assert "the p-values of 3 parts of the instances, tested apart, are combined (Fisher); p < .001." in parts
    assert "1 of 99 draws reaches" in captions_of(statistic=0.1)["null"]


def test_the_caption_of_a_sequential_test_says_whether_its_draws_ended():
    ended = captions_of(statistic=0.05, pvalue=0.56, null_kind="sequential")["null"]
    assert "so most bars left of it are upper bounds." in ended
    assert "draws reach the minimum found (coloured), and no more were made; so p = (1 + " in ended
    assert "and no more were made" not in captions_of(statistic=0.05, pvalue=0.1, null_kind="sequential")["null"]
    assert "and no more were made" not in captions_of(statistic=0.05, pvalue=0.56, null_kind="minimised")["null"]


def test_captions_of_a_single_distribution():
    found = captions_of(tested="mean", n_members=1, weights=np.ones(1), member_values=np.empty(0))
    assert found["null_title"] == "Could chance explain its miscalibration?"
    assert found["before_title"] == "Reliability of its confidence"
    assert "weights" not in found
    assert "after" not in found
    assert "the value found" in found["null"]


def test_captions_of_what_cannot_be_drawn():
    nan, nothing = float("nan"), np.full(3, np.nan)
    undefined = captions_of(pvalue=nan, statistic=nan, weights=nothing, null=np.empty(0))
    assert undefined["no_null"] == "No draw is finite."
    assert undefined["no_weights"] == "No mixture is the best where the measure is undefined."
    assert captions_of(statistic=np.inf)["no_null"] == "The minimum found is infinite."
    assert "these weights mean nothing" in captions_of(statistic=np.inf)["weights"]
    assert captions_of(weights=nothing)["no_weights"] == "No weights were kept."


def test_many_members_are_summed_up():
    weights = np.r_[0.5, 0.3, 0.16, np.full(7, 0.04 / 7)]
    text = captions_of(weights=weights, n_members=10, noun="vertices")["weights"]
    assert "3 of the 10 vertices carry 95 % of the weight." in text


def test_gaps_of_the_captions_against_brute_force():
    test = made_up("DE", "ece-confidence", pvalue=0.4)
    bins = test.before
    gap = sum(n * abs(a - c) for n, a, c in zip(bins.count, bins.accuracy, bins.confidence, strict=True) if n) / 200
    assert f"Accuracy 70.0 %, mean gap {100 * gap:.1f} points." in captions_of()["before"]
    assert "Accuracy 71.0 %" in captions_of()["after"]


def test_the_caption_adjusts_the_pvalue_for_all_tests():
    tests = [made_up("DE", m, pvalue=0.56) for m in list(CALIBRATION_MEASURES)[:2]]
    one = judged(*tests)[0]
    text = captions(one, null_histogram(one.test.null, one.test.statistic), 2, 0.95)["null"]
    assert text.count("p = ") == 1
    assert "(1 + 55) / (1 + 99) = .56; adjusted for the 2 tests, p = 1.00." in text


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
    ("n_tested", "words"), [(200, "Tested on all 200 instances."), (50, "Tested on 50 of the 200 instances.")]
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
    assert confidence_text(-0.1, 0.7, 0.8) == "too timid"
    assert confidence_text(0.05, 0.7, 0.8) == "within the interval"
    assert confidence_text(0.0, 0.5, 0.5) == "no interval to judge by"


def test_decimals_show_two_digits():
    for value in (0.0123, 0.5, 3.0, 1e-9):
        places = decimals_of([value])
        assert places == 5 or 10 <= round(value * 10**places) < 100 or places == 0


def test_votes_are_explained():
    assert "share of the votes" in reliability_sentences(0.9, votes=True, tested=False)["note"]
    found = reliability_sentences(0.9, votes=False, tested=True)
    assert "together (90 %)" in found["caption"]
    assert found["title"]
