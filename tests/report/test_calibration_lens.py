"""The part of the page on calibration: its numbers and words are those of the assay's tests."""

import dataclasses
import json

import numpy as np
import pytest
from tests.report.calibration_cases import ensembles, made_up, softmax

import uqassay as uq
from uqassay.evidence.calibration_result import holm_adjusted
from uqassay.metrics.calibration.measures import CALIBRATION_MEASURES
from uqassay.notes import Note
from uqassay.report.calibration import calibration, null_histogram, outcome_of, pvalue_words
from uqassay.report.definitions import DEFINITIONS, calibration_definitions, measure_label
from uqassay.report.lenses import LENSES, lens_sections


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=300)


@pytest.fixture(scope="module")
def lens(assay):
    return json.loads(json.dumps(calibration(assay)))


def with_tests(assay, *tests):
    return dataclasses.replace(assay, calibration=tests)


def rows_of(assay):
    return calibration(assay)["tests"]["rows"]


# -- numbers ------------------------------------------------------------------------------------------------------------


def test_rows_against_the_tests_of_the_assay(assay, lens):
    rows, adjusted = lens["tests"]["rows"], holm_adjusted(assay.calibration)
    assert len(rows) == len(assay.calibration) == 8
    for row, t, p in zip(rows, assay.calibration, adjusted, strict=True):
        assert (row["model"], row["run"], row["measure"], row["n_tested"]) == (t.model, t.run, t.measure, t.n_tested)
        shown = [row["statistic"], row["pvalue"], row["holm"], row["width"], *row["mean"], *row["accuracy"]]
        own = [t.statistic, t.pvalue, p, t.width, t.mean_value, t.mean_pvalue, t.accuracy_mean, t.accuracy_weighted]
        np.testing.assert_allclose(shown, own, rtol=1e-3)
        np.testing.assert_allclose(row["weights"], t.weights, rtol=5e-3)
        np.testing.assert_allclose(row["members"], t.member_values, rtol=1e-3)
        np.testing.assert_allclose(row["member_pvalues"], t.member_pvalues, rtol=1e-2)
        assert row["outcome"] == outcome_of(t.pvalue, p, 0.05)


def test_diagrams_against_the_tests(assay, lens):
    for row, t in zip(lens["tests"]["rows"], assay.calibration, strict=True):
        for side in ("before", "after") if t.n_members > 1 else ("before",):
            bins, filled = getattr(t, side), getattr(t, side).count > 0
            assert row[side]["count"] == bins.count[filled].tolist()
            assert sum(row[side]["count"]) == t.n_tested
            for name in ("confidence", "accuracy", "low", "high"):
                np.testing.assert_allclose(row[side][name], getattr(bins, name)[filled], rtol=1e-4, atol=1e-9)
        if t.n_members < 2:
            assert row["after"] is None


def test_coloured_draws_make_the_pvalue(assay, lens):
    for row, t in zip(lens["tests"]["rows"], assay.calibration, strict=True):
        bars = row["null"]
        left = bars["start"] + bars["width"] * np.arange(len(bars["counts"]))
        coloured = sum(c for x, c in zip(left, bars["counts"], strict=True) if x > t.statistic - bars["width"] / 2)
        assert coloured == bars["reach"]
        assert sum(bars["counts"]) == len(t.null)
        if t.n_draws == len(t.null):
            assert t.pvalue == pytest.approx((1 + coloured) / (1 + len(t.null)))


@pytest.mark.parametrize(
    ("null", "statistic"),
    [
        (np.random.default_rng(0).gamma(2.0, size=199), 2.5),
        (np.random.default_rng(1).integers(0, 5, 99) / 40, 2 / 40),  # ties with the statistic
        (np.full(99, 0.25), 0.25),
        (np.zeros(99), 0.0),
        (np.zeros(99), 0.3),
        (np.r_[np.linspace(-0.01, 0.02, 98), 5.0], -0.004),  # one far off
        (np.array([0.1]), 0.2),
        (np.r_[np.linspace(0, 1, 97), np.inf, np.inf], 0.5),
        (np.linspace(0, 1, 99), np.inf),
        (np.linspace(0, 1, 99), np.nan),
    ],
)
def test_bars_of_the_null_against_brute_force(null, statistic):
    bars = null_histogram(null, statistic)
    finite = null[np.isfinite(null)]
    assert bars["infinite"] == np.isinf(null).sum()
    assert bars["reach"] == sum(x >= statistic for x in null)
    assert sum(bars["counts"]) == len(finite)
    assert len(bars["counts"]) <= 42
    ends = bars["start"] + bars["width"] * np.arange(len(bars["counts"]) + 1)
    assert ends[0] <= finite.min() + 1e-9
    assert ends[-1] >= finite.max() - 1e-9
    if np.isfinite(statistic):
        reached = sum(c for x, c in zip(ends, bars["counts"], strict=False) if x > statistic - bars["width"] / 2)
        assert reached == sum(x >= statistic for x in finite)


def test_no_bars_without_finite_draws():
    bars = null_histogram(np.full(9, np.inf), np.inf)
    assert bars == {"start": None, "width": None, "counts": [], "infinite": 9, "reach": 9}


# -- words --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"pvalue": 0.4, "mean_pvalue": 0.3},
            "Some mixture of its 3 members passes by classwise ECE (p = .40): weights .50/.30/.20. "
            "Its mean passes, too (p = .30).",
        ),
        (
            {"pvalue": 0.4, "mean_pvalue": 0.01},
            "Some mixture of its 3 members passes by classwise ECE (p = .40): weights .50/.30/.20. "
            "Its mean alone does not (p = .01).",
        ),
        (
            {"pvalue": 0.01, "mean_pvalue": 0.21},
            "No mixture of its 3 members is classwise calibrated (classwise ECE, p = .01): recalibrate it, or widen the set. "
            "Yet its mean, tested alone, is not rejected (p = .21): take this with care.",
        ),
        (
            {"pvalue": 0.01, "mean_pvalue": 0.02},
            "No mixture of its 3 members is classwise calibrated (classwise ECE, p = .01): recalibrate it, or widen the set.",
        ),
        (
            {"pvalue": float("nan"), "notes": (Note("undefined", "the measure is undefined"),)},
            "Whether some mixture of its 3 members is classwise calibrated is open (classwise ECE): the measure is undefined.",
        ),
        (
            {"pvalue": 0.6, "weights": np.full(100, 0.01), "n_members": 100, "mean_pvalue": float("nan")},
            "Some mixture of its 100 members passes by classwise ECE (p = .60).",
        ),
    ],
)
def test_one_test_in_words(assay, changes, words):
    a = with_tests(assay, made_up("ensemble", "ece-classwise", **changes))
    found = calibration(a)["tests"]
    assert [r["words"] for r in found["rows"]] == [words]
    assert found["lead"] == ""
    assert found["n_tests"] == (not np.isnan(changes["pvalue"]))


@pytest.mark.parametrize(
    ("model", "pvalue", "words"),
    [
        ("point", 0.01, "It is not confidence calibrated (confidence ECE, p = .01): recalibrate it."),
        ("point", 0.3, "It passes by confidence ECE (p = .30)."),
        ("ensemble", 0.01, "Its mean is not confidence calibrated (confidence ECE, p = .01): recalibrate it."),
        ("ensemble", 0.3, "Its mean passes by confidence ECE (p = .30)."),
    ],
)
def test_a_mean_in_words(assay, model, pvalue, words):
    t = made_up(model, "ece-confidence", pvalue=pvalue, tested="mean", n_members=1, weights=np.ones(1))
    assert [r["words"] for r in rows_of(with_tests(assay, t))] == [words]


def test_tests_that_are_too_many_for_their_draws_are_doubtful(assay):
    tests = [made_up("ensemble", m, pvalue=0.01) for m in CALIBRATION_MEASURES][:6]
    found = calibration(with_tests(assay, *tests))["tests"]
    assert {r["outcome"] for r in found["rows"]} == {"doubtful"}
    assert found["rows"][0]["words"].endswith("is doubtful (confidence ECE, p = .01 alone, p = .06 among the 6 tests).")
    assert found["cautions"] == [
        "The p-values of 6 of the 6 tests are the least that their draws can give (p = .01 of 99), which among so many tests "
        "rejects nothing; more draws would tell."
    ]
    assert found["lead"] == "6 of the 6 tests would reject alone, but not among so many."


def test_all_tests_in_a_sentence_or_two(assay):
    tests = []
    for model, p in (("ensemble", 0.001), ("sharp", 0.001), ("point", 0.5)):
        single = {"tested": "mean", "n_members": 1, "weights": np.ones(1)} if model == "point" else {}
        tests += [
            made_up(model, m, pvalue=p, n_draws=999, **single) for m in ("ece-confidence", "ece-classwise", "skce-ul")
        ]
    words = "confidence calibrated or classwise calibrated or calibrated in the strong sense"
    lead = calibration(with_tests(assay, *tests))["tests"]["lead"]
    assert lead == f"No mixture of ensemble or sharp is {words}. point passes by every measure."
    lead = calibration(with_tests(assay, *tests[:2], *tests[6:8]))["tests"]["lead"]
    assert lead == "No mixture of ensemble is confidence or classwise calibrated. point passes by every measure."
    lead = calibration(with_tests(assay, tests[0], tests[3]))["tests"]["lead"]
    assert lead == "No mixture of any model is confidence calibrated."
    both = [dataclasses.replace(t, pvalue=0.001) for t in tests[6:8]]
    lead = calibration(with_tests(assay, *both))["tests"]["lead"]
    assert lead == "point is neither confidence nor classwise calibrated."


def test_runs_are_counted(assay):
    tests = [made_up("ensemble", "ece-confidence", pvalue=p, n_draws=999, run=r) for r, p in enumerate((0.001, 0.6))]
    lead = calibration(with_tests(assay, *tests))["tests"]["lead"]
    assert lead == "No mixture of ensemble (1 of 2 runs) is confidence calibrated."


def test_notes_are_told_once_with_whose_they_are(assay):
    both = (Note("sample", "tested on 300 of 400 instances"), Note("assumption", "groups are not accounted for"))
    sharp = (Note("assumption", "only 2K vertices"), Note("option", "n_draws=999 tells more"))
    tests = [
        made_up(m, "ece-confidence", pvalue=0.5, notes=both + own) for m, own in (("ensemble", ()), ("sharp", sharp))
    ]
    cautions = calibration(with_tests(assay, *tests))["tests"]["cautions"]
    assert cautions == ["Groups are not accounted for.", "Only 2K vertices (sharp)."]


@pytest.mark.parametrize(
    ("p", "words"), [(1.0, "p = 1.00"), (0.0094, "p = .009"), (0.05, "p = .05"), (0.0, "p < .001")]
)
def test_pvalues_in_words(p, words):
    assert pvalue_words(p) == words


# -- what is shown ------------------------------------------------------------------------------------------------------


def test_without_tests_the_part_is_about_the_confidence_alone():
    rng = np.random.default_rng(0)
    a = uq.assay({"m": uq.Point(softmax(rng.normal(size=(40, 3))))}, rng.integers(0, 3, 40), n_draws=10, calibration=())
    section = next(s for s in lens_sections(a) if s["id"] == "calibration")
    assert section["title"] == "Is its confidence calibrated?"
    assert "tests" not in section
    assert section["models"][0]["model"] == "m"


def test_label_distributions_are_not_tested():
    q = np.random.default_rng(0).dirichlet(np.ones(3), 30)
    section = calibration(uq.assay({"m": uq.Point(q)}, q[::-1], n_draws=10))
    assert set(section) == {"models"}


def test_a_set_whose_measure_is_undefined():
    one = uq.assay({"DE": uq.Members([[[0.9, 0.1], [0.4, 0.6]]])}, [0], n_draws=5, calibration=["skce-ul"])
    (row,) = calibration(one)["tests"]["rows"]
    assert (row["outcome"], row["weights"], row["after"], row["n_members"]) == ("undefined", [], None, 2)
    assert row["before"]["count"] == [1]
    assert row["words"] == (
        "Whether some mixture of its 2 members is calibrated in the strong sense is open (SKCE, linear): "
        "the measure is undefined for these labels with 1 instance."
    )


def test_with_tests_the_part_has_another_title(assay):
    section = next(s for s in lens_sections(assay) if s["id"] == "calibration")
    assert section["title"] == "Can it be calibrated?"
    assert [lens.id for lens in LENSES].count("calibration") == 1


def test_the_part_is_small(assay, lens):
    null = np.random.default_rng(0).gamma(2.0, size=9999)
    big = {"weights": np.full(100, 0.01), "n_members": 100, "member_values": null[:100], "member_pvalues": null[:100]}
    tests = [
        made_up("ensemble", m, pvalue=0.5, null=null, n_draws=9999, run=r, **big)
        for r in range(10)
        for m in list(CALIBRATION_MEASURES)[:4]
    ]
    size = len(json.dumps(calibration(with_tests(assay, *tests))["tests"], separators=(",", ":")))
    assert size < 40 * 6_000
    assert len(json.dumps(lens["tests"], separators=(",", ":"))) < 8 * 3_500


# -- definitions --------------------------------------------------------------------------------------------------------


def test_every_measure_has_a_definition(lens):
    names = list(CALIBRATION_MEASURES)
    found = {**DEFINITIONS, **calibration_definitions(names)}
    assert set(names) <= set(found)
    for name in (*names, "calibration-pvalue", "calibration-minimum", "calibration-width"):
        assert found[name].title
        assert found[name].sentence.rstrip().endswith(".")
        assert "paper 0" not in found[name].source
    assert len({measure_label(name) for name in names}) == len(names)
    for m in lens["tests"]["measures"]:
        assert m["measure"] in {**DEFINITIONS, **lens["tests"]["definitions"]}
