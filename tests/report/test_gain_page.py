"""The page on the gain: every sentence, every number, the figures of each estimate; the rest is in test_static_page."""

import re

import numpy as np
import pytest
from tests.evidence.gain_data import made_study
from tests.refusals import refuses
from tests.report.html_pages import ParsedPage
from tests.report.static_cases import HOSTILE, STATIC_CASES, TURNED

from uqassay.evidence import GainRun, GainSample, GainStudy
from uqassay.evidence.gain_words import gain_sentences, result_sentences, untold_sentences
from uqassay.report.study_pages import render_gain

ODD = np.array([True, False, True])
FAST = {"bins": 5, "shares": (0.0, 0.1, 1.0), "cross_fit": 0}


@pytest.fixture(scope="module")
def studies():
    return STATIC_CASES["gain"].subjects


@pytest.fixture(scope="module")
def markup(studies):
    return render_gain(studies, **FAST)


@pytest.fixture
def _no_figures(monkeypatch):
    monkeypatch.setattr("uqassay.report.drawings.inline_svg", lambda *_, **__: "")


def test_every_sentence_is_on_the_page(markup, studies):
    results = [one for study in studies for one in study.results(**FAST)]
    expected = [*gain_sentences(studies, **FAST), *untold_sentences(results)]
    expected += [sentence for one in results for sentence in result_sentences(one)]
    text = ParsedPage(markup).text
    assert not [sentence for sentence in expected if sentence not in text]


def test_figures_are_there_and_a_map_only_where_one_was_fitted(markup):
    maps = re.findall(r'aria-label="Map γ: ([^"]*)"', markup)
    assert len(set(maps)) == 2
    assert all("dull" not in label for label in maps)
    assert len(re.findall(r'<svg class="drawn"', markup)) == 1 + 4 * 2 + 2


def test_numbers_can_be_taken_from_the_page(markup, studies):
    rows = ParsedPage(markup).payload["rows"]
    assert {row["finding"] for row in rows} == {"scores", "runs", "bins", "delay"}
    rows = [row for row in rows if row["finding"] == "scores"]
    assert [row["method"] for row in rows] == [HOSTILE, HOSTILE, TURNED, TURNED]
    assert rows[0]["error"] == float(studies[0].result(**FAST).error)


@pytest.mark.usefixtures("_no_figures")
def test_a_cross_fitted_map_is_named():
    text = ParsedPage(render_gain([made_study(n_runs=1, n=100, calibration=False)], **{**FAST, "cross_fit": 3})).text
    assert "Thin: without one fold each" in text
    assert "never on the test instances" not in text
    assert "cross-fitted in 3 folds" in text
    assert "Cross-fitting maps each fold of the test cases" in text


@pytest.mark.usefixtures("_no_figures")
def test_several_data_sets_and_losses_have_their_own_tables(studies):
    other = made_study("calibrated", "b", dataset="digits", n_runs=1, n=60)
    text = render_gain([studies[0], other], **FAST)
    assert "Estimates of epistemic uncertainty: digits, zero-one loss" in text
    assert "<h2>digits, zero-one loss</h2>" in text
    with refuses("studies", "duplicate"):
        render_gain([other, other])


@pytest.mark.usefixtures("_no_figures")
def test_studies_of_different_losses():
    log = GainStudy("other", "toy", [GainRun(0, GainSample({"log": [0.1, -0.2, 0.3]}, {"s": [1, 2, 3]}, ODD, ~ODD))])
    text = render_gain([made_study(n_runs=1, n=60), log], **FAST)
    assert "In accuracy:" in text
    assert "Under the log loss:" in text
    assert "nats of log loss" in text
    assert "In accuracy:" not in render_gain([log], **FAST)


@pytest.mark.usefixtures("_no_figures")
def test_warnings_are_told_once_for_all_estimates():
    text = ParsedPage(render_gain([made_study("constant", name, n_runs=1, n=60) for name in "ab"], **FAST)).text
    assert text.count("all estimates are in one bin") == 1
    estimates = "'a, mutual-information', 'a, entropy', 'b, mutual-information' and 'b, entropy'"
    assert f"{estimates}: all estimates are in one bin" in text
