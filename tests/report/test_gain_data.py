"""Data of the figures of the gain page: the numbers of the results, one table for each figure."""

import pytest
from tests.evidence.gain_data import made_study
from tests.report.html_pages import ParsedPage

from uqassay.report.study_pages import delay_data, gain_data, map_data
from uqassay.report.study_sentences import gain_text
from uqassay.text import number

TEXT = gain_text()


@pytest.fixture(scope="module")
def results():
    return made_study("large", "<m>", n_runs=2, n=200, truth=True).results(bins=4, shares=(0.0, 0.5, 1.0))


def shape(markup):
    tags = [tag for tag, _ in ParsedPage(markup).tags]
    return tags.count("tr"), tags.count("th") + tags.count("td")


def test_intervals_of_the_estimates(results):
    one = results[0]
    held = gain_data(one, TEXT)
    assert shape(held) == (5, 5 * 5)  # four intervals; estimate, gain, mapped and true in each
    text = ParsedPage(held).text
    for curve in (one.bins.epistemic, one.bins.gain, one.bins.calibrated, one.bins.true):
        assert number(float(curve.mean[2]), 4) in text
    assert "<m>" in text


def test_shares_that_wait(results):
    one = ParsedPage(delay_data(results[:1], "c", TEXT))
    assert [tag for tag, _ in one.tags].count("tr") == 4
    both = delay_data(results, "c", TEXT)
    assert shape(both) == (4, 4 * (1 + len(results) + 1))
    assert all(result.label in ParsedPage(both).text for result in results)
    for share in range(3):
        assert number(float(results[1].delay.gained.mean[share]), 4) in ParsedPage(both).text


def test_maps_of_runs_and_folds(results):
    knots = [run.gain_map.knots for run in results[0].runs]
    assert shape(map_data(results[0], TEXT)) == (1 + sum(map(len, knots)), 3 * (1 + sum(map(len, knots))))
    folded = made_study("large", "m", n_runs=1, n=100, calibration=False).result(bins=4, cross_fit=3)
    text = ParsedPage(map_data(folded, TEXT)).text
    assert "run 1, without fold 3" in text
    assert "fold 4" not in text
