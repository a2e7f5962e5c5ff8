"""The calibration tests in words: the outcome of every test is data, and each sentence says what its tests say."""

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles, made_up

import uqassay as uq
from uqassay.evidence.calibration_verdict import (
    advice,
    calibration_sentence,
    calibration_sentences,
    claim,
    judged_tests,
    measure_label,
    outcome_of,
    point_models,
    rejection_sentence,
)
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES
from uqassay.notes import Note

ALPHA = 0.05
SINGLE = {"tested": "mean", "n_members": 1, "weights": np.ones(1)}
NAMES = ("ece-confidence", "ece-classwise", "skce-ul")


def made_up_tests(*models, measures=NAMES[:1], n_draws=999, **changes):
    """Made-up tests of (model, p-value) by some measures."""
    return [made_up(model, m, pvalue=p, n_draws=n_draws, **changes) for model, p in models for m in measures]


def said(tests, **options):
    return calibration_sentences(judged_tests(tests, ALPHA, **options), ALPHA)


@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_outcomes_against_their_definition(alpha):
    for p, adjusted in ((alpha, alpha), (alpha, 2 * alpha), (2 * alpha, 4 * alpha), (0.0, 0.0), (0.0, 1.0)):
        expected = "rejected" if adjusted <= alpha else "doubtful" if p <= alpha else "passed"
        assert outcome_of(p, adjusted, alpha) == expected
    assert outcome_of(float("nan"), float("nan"), alpha) == "undefined"


def test_tests_are_judged_together_or_alone():
    tests = made_up_tests(("a", 0.02), ("b", 0.03), ("c", 0.5))
    assert [j.outcome for j in judged_tests(tests, ALPHA)] == ["doubtful", "doubtful", "passed"]
    assert [j.adjusted for j in judged_tests(tests, ALPHA)] == pytest.approx([0.06, 0.06, 0.5])
    assert [j.outcome for j in judged_tests(tests, ALPHA, adjust=False)] == ["rejected", "rejected", "passed"]


@pytest.mark.parametrize(
    ("changes", "words", "more"),
    [
        (
            {"pvalue": 0.4, "mean_pvalue": 0.3},
            "The test could not tell some mixture of the 3 members of DE from one that is classwise calibrated "
            "(classwise ECE, p = .40).",
            ("Weights .50/.30/.20.", "Its mean passes, too (p = .30)."),
        ),
        (
            {"pvalue": 0.4, "mean_pvalue": 0.01, "weights": np.full(100, 0.01), "n_members": 100},
            "The test could not tell some mixture of the 100 members of DE from one that is classwise calibrated "
            "(classwise ECE, p = .40).",
            ("Its mean alone does not pass (p = .01).",),
        ),
        (
            {"pvalue": 0.01, "mean_pvalue": 0.21},
            "No mixture of the 3 members of DE is classwise calibrated (classwise ECE, p = .01).",
            (
                "Recalibrate it, or widen the set.",
                "Yet its mean, tested alone, is not rejected (p = .21): take this with care.",
            ),
        ),
        (
            {"pvalue": 0.01, "mean_pvalue": 0.02, "noun": "vertices"},
            "No mixture of the 3 vertices of DE is classwise calibrated (classwise ECE, p = .01).",
            ("Recalibrate it, or widen the set.",),
        ),
        (
            {"pvalue": float("nan"), "notes": (Note("undefined", "the measure is undefined"),)},
            "Whether some mixture of the 3 members of DE is classwise calibrated is undefined (classwise ECE): "
            "the measure is undefined.",
            (),
        ),
    ],
)
def test_one_test_in_words(changes, words, more):
    (judged,) = judged_tests([made_up("DE", "ece-classwise", **changes)], ALPHA)
    assert claim(judged) == words
    assert advice(judged, ALPHA) == more


@pytest.mark.parametrize(
    ("points", "pvalue", "words"),
    [
        (["m"], 0.01, "m is not confidence calibrated (confidence ECE, p = .01)."),
        ([], 0.01, "The mean of m is not confidence calibrated (confidence ECE, p = .01)."),
        (None, 0.01, "m is not confidence calibrated (confidence ECE, p = .01)."),
        (
            ["m"],
            0.3,
            "The test could not tell m from a classifier that is confidence calibrated (confidence ECE, p = .30).",
        ),
        (
            [],
            0.3,
            "The test could not tell the mean of m from a classifier that is confidence calibrated "
            "(confidence ECE, p = .30).",
        ),
    ],
)
def test_a_mean_in_words(points, pvalue, words):
    (judged,) = judged_tests([made_up("m", "ece-confidence", pvalue=pvalue, **SINGLE)], ALPHA, points=points)
    assert claim(judged) == words
    assert advice(judged, ALPHA) == (("Recalibrate it.",) if pvalue == 0.01 else ())


def test_a_doubtful_test_says_both_pvalues():
    tests = [made_up("DE", m, pvalue=0.01) for m in list(CALIBRATION_MEASURES)[:6]]
    judged = judged_tests(tests, ALPHA)
    assert claim(judged[0], 6) == (
        "Whether some mixture of the 3 members of DE is confidence calibrated is doubtful "
        "(confidence ECE, p = .01 alone, p = .06 among the 6 tests)."
    )
    assert said(tests) == (
        "The calibration tests could not tell the best mixture of the members from a calibrated one "
        "(least p = .06 by Holm in 6 tests, where 99 draws could reject none).",
        "6 of the 6 tests would reject alone, but not after the adjustment.",
    )


def test_all_tests_in_sentences():
    mixed = made_up_tests(("DE", 0.001), ("DF", 0.001), measures=NAMES, mean_pvalue=0.01)
    passing = made_up_tests(("point", 0.5), measures=NAMES, **SINGLE)
    assert said(mixed + passing) == (
        "No mixture of the members of DE or DF is confidence or classwise or strongly calibrated (p ≤ .009), adjusted by Holm "
        "for 9 tests.",
        "point passes by every measure.",
    )
    assert said(mixed[:1] + passing[:1]) == (
        "No mixture of the 3 members of DE is confidence calibrated (p = .002), adjusted by Holm for 2 tests.",
        "point passes.",
    )
    assert said(made_up_tests(("point", 0.001), measures=NAMES[:2], **SINGLE)) == (
        "point is neither confidence nor classwise calibrated (p ≤ .002), adjusted by Holm for 2 tests.",
    )
    assert said(made_up_tests(("a", 0.001), ("b", 0.001), **SINGLE), points=[])[0].startswith(
        "The mean of a and of b is not confidence calibrated (p ≤ .002)"
    )


def test_a_name_keeps_its_letters_at_the_start():
    assert said(made_up_tests(("a", 0.001), ("b", 0.001), **SINGLE)) == (
        "a and b are not confidence calibrated (p ≤ .002), adjusted by Holm for 2 tests.",
    )


def test_runs_are_counted():
    tests = [
        made_up("DE", "ece-confidence", pvalue=p, n_draws=999, run=r, mean_pvalue=0.01)
        for r, p in enumerate((0.001, 0.6))
    ]
    assert said(tests)[0] == (
        "No mixture of the 3 members of DE is confidence calibrated (in 1 of 2 runs, p = .002), adjusted by Holm for 2 tests."
    )


def test_many_names_are_counted():
    tests = made_up_tests(*((f"m{i}", 0.0001) for i in range(7)), n_draws=9999, **SINGLE)
    assert said(tests)[0].startswith("m0, m1, m2, m3 and 3 others are not confidence calibrated (p < .001)")


def test_a_mean_that_passes_where_every_mixture_is_rejected_is_told():
    sentence = rejection_sentence(judged_tests(made_up_tests(("DE", 0.001), mean_pvalue=0.3), ALPHA), ALPHA)
    assert sentence == (
        "No mixture of the 3 members of DE is confidence calibrated (p = .001) (yet the mean of DE, tested alone, is not "
        "rejected), in a test."
    )


def test_a_part_of_the_instances_is_told():
    part = {"n_tested": 1000, "n_instances": 20000}
    rejected = rejection_sentence(judged_tests(made_up_tests(("m", 0.001), **part, **SINGLE), ALPHA), ALPHA)
    assert rejected == "m is not confidence calibrated (p = .001), in a test on 1,000 of 20,000 instances."
    passed = rejection_sentence(judged_tests(made_up_tests(("m", 0.4), **part, **SINGLE), ALPHA), ALPHA)
    assert passed == (
        "The calibration tests could not tell m from a calibrated one (p = .40 on 1,000 of 20,000 instances)."
    )


def test_undefined_tests_are_counted_and_claim_nothing():
    undefined = made_up_tests(("DE", float("nan")), notes=(Note("undefined", "why"),))
    assert said(undefined) == ("1 of the 1 tests is undefined.",)
    assert rejection_sentence(judged_tests(undefined, ALPHA), ALPHA) == ""
    assert said(undefined + made_up_tests(("m", 0.001), **SINGLE))[-1] == "1 of the 2 tests is undefined."


def test_the_sentence_of_an_assay_is_the_first_of_its_tests():
    a = ensembles(n=200)
    judged = judged_tests(a.calibration, 0.05, points=point_models(a))
    assert calibration_sentence(a) == calibration_sentences(judged, 0.05)[0]
    assert calibration_sentence(a) in a.verdict()
    assert point_models(a) == {"point"}
    none = uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0], calibration=())
    assert calibration_sentence(none) == ""


def test_every_measure_has_a_label_of_its_own():
    labels = {measure_label(name) for name in CALIBRATION_MEASURES}
    assert len(labels) == len(CALIBRATION_MEASURES)
