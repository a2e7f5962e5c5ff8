"""The calibration tests in words: the outcome of every test is data, and each sentence says what its tests say."""

import dataclasses

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles, made_up

import uqassay as uq
from uqassay.calibration.mixtures import IN_GROUPS
from uqassay.calibration.one_classifier import UPPER_ALONE
from uqassay.evidence.calibration import judged_tests, point_models
from uqassay.evidence.sentences import (
    advice,
    calibration_sentence,
    calibration_sentences,
    claim,
    measure_label,
    rejection_sentence,
)
from uqassay.metrics.measures import CALIBRATION_MEASURES
from uqassay.notes import Note

ALPHA = 0.05
SINGLE = {"tested": "mean", "n_members": 1, "weights": np.ones(1)}
NAMES = ("ece-confidence", "ece-classwise", "skce-ul")


def made_up_tests(*models, measures=NAMES[:1], n_draws=999, **changes):
    """Made-up tests of (model, p-value) by some measures."""
    return [made_up(model, m, pvalue=p, n_draws=n_draws, **changes) for model, p in models for m in measures]


def said(tests, **options):
    return calibration_sentences(judged_tests(tests, ALPHA, **options))


@pytest.mark.parametrize(
    ("changes", "words", "more"),
    [
        (
            {"pvalue": 0.4, "mean_pvalue": 0.3},
            "The test could not tell some mixture of the 3 members of DE from one with the right probabilities of single "
            "classes (classwise ECE, p = .40).",
            ("Weights .50/.30/.20.",),
        ),
        (
            {"pvalue": 0.4, "mean_pvalue": 0.01, "weights": np.full(100, 0.01), "n_members": 100},
            "The test could not tell some mixture of the 100 members of DE from one with the right probabilities of single "
            "classes (classwise ECE, p = .40).",
            (),
        ),
        (
            {"pvalue": 0.01, "mean_pvalue": 0.21},
            "Reweighting the 3 members of DE cannot calibrate the probabilities of single classes (classwise ECE, p = .01).",
            ("Recalibrate it, or widen the set.",),
        ),
        (
            {"pvalue": 0.01, "mean_pvalue": 0.02, "noun": "vertices"},
            "Reweighting the 3 vertices of DE cannot calibrate the probabilities of single classes (classwise ECE, p = .01).",
            ("Recalibrate it, or widen the set.",),
        ),
        (
            {"pvalue": float("nan"), "notes": (Note("undefined", "the measure is undefined"),)},
            "Whether some mixture of the 3 members of DE has the right probabilities of single classes is undefined (classwise "
            "ECE): the measure is undefined.",
            (),
        ),
    ],
)
def test_one_test_in_words(changes, words, more):
    (judged,) = judged_tests([made_up("DE", "ece-classwise", **changes)], ALPHA)
    assert claim(judged) == words
    assert advice(judged) == more


@pytest.mark.parametrize(
    ("points", "pvalue", "words"),
    [
        (["m"], 0.01, "The confidence of m is off (confidence ECE, p = .01)."),
        ([], 0.01, "The confidence of the mean of m is off (confidence ECE, p = .01)."),
        (None, 0.01, "The confidence of m is off (confidence ECE, p = .01)."),
        (
            ["m"],
            0.3,
            "The test could not tell m from a classifier with the right confidence (confidence ECE, p = .30).",
        ),
        (
            [],
            0.3,
            "The test could not tell the mean of m from a classifier with the right confidence "
            "(confidence ECE, p = .30).",
        ),
    ],
)
def test_a_mean_in_words(points, pvalue, words):
    (judged,) = judged_tests([made_up("m", "ece-confidence", pvalue=pvalue, **SINGLE)], ALPHA, points=points)
    assert claim(judged) == words
    assert advice(judged) == (("Recalibrate it.",) if pvalue == 0.01 else ())


def test_one_adjusted_pvalue_is_told():
    tests = [made_up("DE", m, pvalue=0.01) for m in list(CALIBRATION_MEASURES)[:6]]
    judged = judged_tests(tests, ALPHA)
    assert claim(judged[0]) == (
        "The test could not tell some mixture of the 3 members of DE from one with the right confidence "
        "(confidence ECE, p = .06)."
    )
    assert said(tests) == (
        "The calibration tests could not tell the best mixture of the members from a calibrated one "
        "(least p = .06 by Holm in 6 tests).",
    )


def test_all_tests_in_sentences():
    mixed = made_up_tests(("DE", 0.001), ("DF", 0.001), measures=NAMES, mean_pvalue=0.01)
    passing = made_up_tests(("point", 0.5), measures=NAMES, **SINGLE)
    assert said(mixed + passing) == (
        "Reweighting the members of DE or DF cannot calibrate the confidence, probabilities of single classes or probabilities "
        "as a whole (p ≤ .009), adjusted by Holm for 9 tests.",
        "Not rejected by any measure: point.",
    )
    assert said(mixed[:1] + passing[:1]) == (
        "Reweighting the 3 members of DE cannot calibrate the confidence (p = .002), adjusted by Holm for 2 tests.",
        "Not rejected: point.",
    )
    assert said(made_up_tests(("point", 0.001), measures=NAMES[:2], **SINGLE)) == (
        "The confidence and probabilities of single classes of point are off (p ≤ .002), adjusted by Holm for 2 tests.",
    )
    assert said(made_up_tests(("a", 0.001), ("b", 0.001), **SINGLE), points=[])[0].startswith(
        "The confidence of the mean of a and of b is off (p ≤ .002)"
    )


def test_models_with_the_same_rejections_share_a_clause():
    assert said(made_up_tests(("a", 0.001), ("b", 0.001), **SINGLE)) == (
        "The confidence of a and b is off (p ≤ .002), adjusted by Holm for 2 tests.",
    )


def test_runs_are_counted():
    tests = [
        made_up("DE", "ece-confidence", pvalue=p, n_draws=999, run=r, mean_pvalue=0.01)
        for r, p in enumerate((0.001, 0.6))
    ]
    assert said(tests)[0] == (
        "Reweighting the 3 members of DE cannot calibrate the confidence (in 1 of 2 runs, p = .002), adjusted by Holm for 2 "
        "tests."
    )


def test_notions_that_fail_in_other_runs_have_clauses_of_their_own():
    tests = [
        made_up("m", measure, pvalue=p, run=r, **SINGLE)
        for measure, ps in (("ece-confidence", (0.0001, 0.6)), ("ece-classwise", (0.6, 0.0001)))
        for r, p in enumerate(ps)
    ]
    assert said(tests) == (
        "The confidence of m is off (in 1 of 2 runs, p < .001); the probabilities of single classes of m are off (in 1 of 2 "
        "runs, p < .001), adjusted by Holm for 4 tests.",
    )


def test_many_names_are_counted():
    tests = made_up_tests(*((f"m{i}", 0.0001) for i in range(7)), n_draws=9999, **SINGLE)
    assert said(tests)[0].startswith("The confidence of m0, m1, m2, m3 and 3 others is off (p < .001)")


def test_a_part_of_the_instances_is_told_of_each_model():
    part = {"n_tested": 1000, "n_instances": 20000}
    (rejected,) = said(made_up_tests(("m", 0.001), **part, **SINGLE))
    assert rejected == "The confidence of m is off (p = .001 on 1,000 of 20,000 cases), in a test."
    (passed,) = said(made_up_tests(("m", 0.4), **part, **SINGLE))
    assert passed == (
        "The calibration tests could not tell m from a calibrated one (p = .40 on 1,000 of 20,000 cases)."
    )
    whole = made_up("a", "ece-confidence", pvalue=0.0001, n_tested=20000, n_instances=20000, **SINGLE)
    mixed = made_up("DE", "ece-confidence", pvalue=0.001, **part)
    assert said([whole, mixed])[0] == (
        "The confidence of a is off (p < .001); reweighting the 3 members of DE cannot calibrate the confidence "
        "(p = .001 on 1,000 of 20,000 cases), adjusted by Holm for 2 tests."
    )


def test_undefined_tests_are_counted_and_claim_nothing():
    undefined = made_up_tests(("DE", float("nan")), notes=(Note("undefined", "why"),))
    assert said(undefined) == ("1 of the 1 test is undefined.",)
    assert rejection_sentence(judged_tests(undefined, ALPHA)) == ""
    assert said(undefined + made_up_tests(("m", 0.001), **SINGLE))[-1] == "1 of the 2 tests is undefined."


def test_the_sentence_of_an_assay_is_the_first_of_its_tests():
    a = ensembles(n=200)
    judged = judged_tests(a.calibration, 0.05, points=point_models(a))
    assert calibration_sentence(a) == calibration_sentences(judged)[0]
    assert calibration_sentence(a) not in a.verdict()  # told once, beside the tests
    assert point_models(a) == {"point"}
    none = uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0], calibration=())
    assert calibration_sentence(none) == ""


def test_every_measure_has_a_label_of_its_own():
    labels = {measure_label(name) for name in CALIBRATION_MEASURES}
    assert len(labels) == len(CALIBRATION_MEASURES)


def test_what_mixtures_leave_out_is_told():
    (judged,) = judged_tests([made_up("DE", "brier", pvalue=0.4, notes=(UPPER_ALONE, IN_GROUPS))], ALPHA)
    assert claim(judged) == (
        "The test could not tell some mixture of the 3 members of DE from one with the right probabilities as a whole "
        "(Brier score, p = .40, labels taken as independent); of mixtures, this score shows overconfidence alone."
    )
    assert judged.test.row()["ignores_groups"]
    bad, good = made_up("DE", "ece-confidence", pvalue=0.001, notes=(IN_GROUPS,)), made_up("P", "brier", pvalue=0.5)
    assert said([bad])[0] == (
        "Reweighting the 3 members of DE cannot calibrate the confidence (p = .001, labels taken as independent), in a test."
    )
    passed = dataclasses.replace(bad, pvalue=0.5)
    assert said([passed, good])[0] == (
        "The calibration tests could not tell the best mixture of any model's members from a calibrated one "
        "(least p = 1.00 by Holm in 2 tests, labels taken as independent for DE)."
    )
