"""The test of one classifier."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import uqassay as uq
from tests.notes import texts
from tests.refusals import refuses
from uqassay.calibration.one_classifier import (
    calibration_test,
    check_alpha,
    hosmer_lemeshow_test,
    known_mixture_null,
    labels_from,
    skce_pvalue,
)
from uqassay.metrics.kernel_error import PrepareKernel
from uqassay.metrics.measures import calibration_measure
from uqassay.text import pvalue_text

MEASURES = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul", "skce-uq")


@pytest.fixture
def data(random_generator):
    probs = random_generator.dirichlet(np.full(4, 0.7), 60)
    return labels_from(probs, 1, random_generator)[0], probs


@pytest.mark.parametrize("measure", MEASURES)
def test_pvalue_against_enumeration_of_all_labels(measure):
    probs = np.array([[0.6, 0.4], [0.9, 0.1], [0.3, 0.7], [0.45, 0.55], [0.8, 0.2]])
    y = np.array([1, 1, 1, 0, 0])
    prepared = calibration_measure(measure).prepare(probs)
    observed, exact = float(prepared.values(y)), 0.0
    for labels in product((0, 1), repeat=5):
        chance = np.prod(probs[np.arange(5), labels])
        exact += chance * (float(prepared.values(np.array(labels))) >= observed - 1e-12)
    test = calibration_test(y, probs, measure=measure, n_draws=4000)
    assert test.statistic == pytest.approx(observed)
    assert abs(test.pvalue - exact) <= 4 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4000


def test_result_is_plain(data):
    test = calibration_test(*data, n_draws=19)
    again = json.loads(json.dumps(test.to_dict(), allow_nan=False))
    assert again["pvalue"] == test.pvalue
    assert again["null"] == test.null.tolist()
    assert (test.n_draws, test.n_instances, test.n_classes, test.smallest_pvalue) == (19, 60, 4, 0.05)
    assert (test.measure, test.notion, test.method) == ("kuiper-confidence", "confidence", "resampled")
    assert test.reject(0.05) == (test.statistic > test.threshold(0.05))


def test_point_array_list_and_dtype_agree(data):
    labels, probs = data
    expected = calibration_test(labels, probs).to_dict()
    assert calibration_test(labels.tolist(), uq.Point(probs)).to_dict() == expected
    assert calibration_test(labels, np.asfortranarray(probs)).to_dict() == expected
    readonly = probs.copy()
    readonly.flags.writeable = False
    assert calibration_test(labels.astype(np.int16), readonly).to_dict() == expected
    for dtype, tolerance in ((np.float32, 1e-5), (np.float16, 5e-3)):
        assert abs(calibration_test(labels, probs.astype(dtype)).statistic - expected["statistic"]) < tolerance


def test_chunks_change_nothing(data, monkeypatch):
    measure = calibration_measure("ece-classwise")
    whole = known_mixture_null(data[1], measure, 50, np.random.default_rng(1))
    monkeypatch.setattr("uqassay.calibration.one_classifier.DRAWS_BYTES", 5000)
    assert (known_mixture_null(data[1], measure, 50, np.random.default_rng(1)) == whole).all()
    small = calibration_test(*data, resample=True, n_draws=30).null
    monkeypatch.setattr("uqassay.calibration.one_classifier.DRAWS_BYTES", 10**9)
    assert np.allclose(calibration_test(*data, resample=True, n_draws=30).null, small, rtol=1e-12, atol=0)


def test_resampled_instances_leave_bins_empty(data):
    labels, probs = data
    kept = calibration_test(labels, probs, measure="ece-classwise", n_draws=400)
    resampled = calibration_test(labels, probs, measure="ece-classwise", n_draws=400, resample=True)
    assert kept.statistic == resampled.statistic
    assert resampled.null.mean() < kept.null.mean() - 2 * kept.null.std() / 20


def test_asymptotic_tests_are_those_of_the_measures(data):
    labels, probs = data
    linear = calibration_test(labels, probs, measure="skce-ul", method="asymptotic")
    assert (linear.pvalue, linear.n_draws) == (skce_pvalue(labels, probs, estimator="linear").pvalue, 0)
    quadratic = calibration_test(labels, probs, measure="skce-uq", method="asymptotic", n_draws=200)
    assert quadratic.pvalue == skce_pvalue(labels, probs, n_draws=200).pvalue
    chi_squared = calibration_test(labels, probs, measure="hosmer-lemeshow", method="asymptotic")
    assert chi_squared.pvalue == hosmer_lemeshow_test(labels, probs, least_expected=1.0).pvalue
    assert np.isnan(chi_squared.threshold())
    assert chi_squared.reject(1e-6) is False
    fewer = calibration_measure("hosmer-lemeshow", n_bins=3)
    assert calibration_test(labels, probs, measure=fewer, method="asymptotic").statistic == pytest.approx(
        calibration_test(labels, probs, measure=fewer, n_draws=1).statistic
    )


def test_asymptotic_tests_ignore_the_name_of_the_measure(data):
    labels, probs = data
    narrow = replace(calibration_measure("skce-uq"), prepare=PrepareKernel(kernel="rbf", bandwidth=0.2))
    found = calibration_test(labels, probs, measure=narrow, method="asymptotic", n_draws=99)
    expected = skce_pvalue(labels, probs, kernel="rbf", bandwidth=0.2, n_draws=99)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    assert found.statistic == pytest.approx(calibration_test(labels, probs, measure=narrow, n_draws=9).statistic)
    for name in ("skce-uq", "hosmer-lemeshow"):
        own = replace(calibration_measure(name), prepare=calibration_measure("ece-classwise").prepare)
        with refuses("method", "conflict", got=f"got measure '{name}'"):
            calibration_test(labels, probs, measure=own, method="asymptotic")
    with refuses("method", "conflict", got=".*got measure 'hosmer-lemeshow-width'"):
        calibration_test(labels, probs, measure="hosmer-lemeshow-width", method="asymptotic")


def test_draws_of_signs_limit_the_level(data):
    test = calibration_test(*data, measure="skce-uq", method="asymptotic", n_draws=9)
    assert (test.n_draws, test.smallest_pvalue, test.to_dict()["n_draws"]) == (9, 0.1, 9)
    with refuses("alpha", "needs-draws", got="got 0.05"):
        test.reject(0.05)
    assert test.sentence(0.05).startswith("9 draws are too few")
    assert test.reject(0.5) == (test.pvalue <= 0.5)
    linear = calibration_test(*data, measure="skce-ul", method="asymptotic", n_draws=9)
    assert (linear.n_draws, linear.smallest_pvalue) == (0, 0.0)


def test_half_precision_in_asymptotic_tests():
    probs = np.random.default_rng(0).dirichlet(np.ones(30), 50).astype(np.float16)
    assert np.abs(probs.sum(axis=1, dtype=np.float64) - 1).max() > 1e-6
    for measure in ("skce-ul", "skce-uq", "hosmer-lemeshow"):
        found = calibration_test(np.arange(50) % 30, probs, measure=measure, method="asymptotic", n_draws=99)
        assert found.statistic == pytest.approx(
            calibration_test(np.arange(50) % 30, uq.Point(probs), measure=measure, n_draws=1).statistic, rel=1e-9
        )


def test_masked_arrays_are_refused(data):
    labels, probs = data
    with refuses("y_true", "masked", got=r"shape \(60,\)"):
        calibration_test(np.ma.masked_array(labels, np.arange(60) == 7), probs)
    masked = np.ma.masked_array(probs, probs < 0.1)
    with refuses("probs", "masked"):
        calibration_test(labels, masked)


def test_undefined_is_nan_with_a_reason():
    test = calibration_test([1], [[0.4, 0.6]], measure="skce-ul")
    assert np.isnan(test.pvalue)
    assert texts(test) == ["the measure is undefined for these labels with 1 instance"]
    assert test.reject(0.05) is False
    assert test.to_dict()["pvalue"] is None
    assert test.sentence() == (
        "Whether the classifier is calibrated in the strong sense is undefined: the measure is undefined for these labels "
        "with 1 instance."
    )


def test_ordinary_edge_cases():
    one = calibration_test([0], [[1.0, 0.0]])
    assert (one.statistic, one.pvalue) == (0.0, 1.0)
    impossible = calibration_test([1, 0], [[1.0, 0.0], [0.5, 0.5]], measure="hosmer-lemeshow", n_draws=99)
    assert (impossible.statistic, impossible.pvalue) == (np.inf, 0.01)
    assert impossible.to_dict()["statistic"] == "Infinity"
    constant = calibration_test(np.arange(30) % 3, np.full((30, 3), 1 / 3))
    assert constant.pvalue > 0.9


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"measure": "ece"}, ("measure", "choice")),
        (
            {"measure": "skce-ul", "method": "asymptotic", "resample": True},
            ("resample", "conflict"),
        ),
        ({"n_draws": 0}, ("n_draws", "range", "got 0")),
        ({"method": "exact"}, ("method", "choice", "got 'exact'")),
        (
            {"method": "asymptotic"},
            ("method", "conflict", "got measure 'kuiper-conf"),
        ),
    ],
)
def test_options_are_checked(data, change, refusal):
    with refuses(*refusal):
        calibration_test(*data, **change)


def test_data_are_checked(data):
    labels, probs = data
    with refuses("y_true", "mismatch", got="got 59"):
        calibration_test(labels[1:], probs)
    with refuses("y_true", "range", got="row 0 holds 4"):
        calibration_test(np.full(60, 4), probs)
    with refuses("y_true", "shape"):
        calibration_test(probs, probs)
    with refuses("probs", "sum", got="row 0 sums to 0.5"):
        calibration_test(labels, probs / 2)


def test_levels_out_of_reach_are_refused_with_the_smallest_pvalue(data):
    test = calibration_test(*data, n_draws=9)
    with refuses("alpha", "needs-draws", got="got 0.05"):
        test.reject(0.05)
    with refuses("alpha", "needs-draws", got="pass n_draws=19 or more"):
        test.threshold(0.05)
    assert test.sentence(0.05).startswith(
        "9 draws are too few to tell at this level whether the classifier is confidence"
    )
    with refuses("alpha", "range", got="got 1.5"):
        test.reject(1.5)
    check_alpha(0.05, 19)
    check_alpha(0.1, 9)


def test_pvalues_in_words():
    assert [pvalue_text(p) for p in (np.nan, 0.0001, 0.004, 0.05, 1.0)] == [
        "p undefined",
        "p < .001",
        "p = .004",
        "p = .05",
        "p = 1.00",
    ]
