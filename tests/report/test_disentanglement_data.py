"""Data of the figures of the disentanglement page: a table for each figure, with the numbers that it draws."""

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study
from tests.report.html_pages import ParsedPage

from uqassay.evidence.disentanglement import disentanglement_behaviour
from uqassay.evidence.disentanglement_runs import Contender, rank_disentanglement
from uqassay.report.figures.studies import computed_curves
from uqassay.report.study_pages import (
    behaviour_data,
    behaviour_figures,
    contender_data,
    contender_figures,
    ranking_data,
)
from uqassay.report.study_sentences import disentanglement_text
from uqassay.text import number

IT = "information-theoretic"
TEXT = disentanglement_text()


def n_rows(markup):
    return [tag for tag, _ in ParsedPage(markup).tags].count("tr") - 1


@pytest.mark.parametrize("without", [(), ("dataset-size",), ("label-noise", "left-out-class")])
def test_every_figure_has_its_data(without):
    one = Contender("a <b>", made_study("perfect", without=without, n_runs=2), IT)
    data = contender_data(one, TEXT, level=0.95)
    assert list(data) == list(contender_figures(one, name="c", level=0.95))
    assert all("a <b>" in ParsedPage(held).text for held in data.values())


def test_curves_and_terms_are_those_drawn():
    one = Contender("a", made_study("perfect", n_runs=3), IT)
    data = contender_data(one, TEXT, level=0.95)
    drawn = computed_curves(one, "dataset-size", level=0.95)
    text = ParsedPage(data["dataset-size"]).text
    assert n_rows(data["dataset-size"]) == len(drawn.conditions)
    for values in (*(band.mean for band in drawn.bands.values()), *drawn.expected.values()):
        assert all(number(float(v), 3) in text for v in values)
    assert n_rows(data["terms"]) == 4
    for term in one.disentanglement().terms:
        assert number(float(term.deviation), 3) in ParsedPage(data["terms"]).text


def test_ranking_with_the_lines_of_its_figure():
    ranked = rank_disentanglement([Contender(name, made_study(name, n_runs=2), IT) for name in ("perfect", "swapped")])
    held = ranking_data("Ranking", ranked, TEXT)
    assert n_rows(held) == 2 + 3
    assert number(ranked[0].found.floor, 3) in ParsedPage(held).text
    without = Contender("a", made_study("perfect", without=("label-noise",)), IT)
    assert ranking_data("Ranking", rank_disentanglement([without]), TEXT) == ""


def test_further_findings():
    found = disentanglement_behaviour(made_study("perfect", n_runs=6, jitter=0.02), IT)
    data = behaviour_data(found, TEXT)
    assert list(data) == list(behaviour_figures(found, name="c"))
    assert n_rows(data["trend"]) == len(found.trend.shares)
    assert number(float(np.mean(found.trend.means[:, 0])), 3) in ParsedPage(data["trend"]).text
