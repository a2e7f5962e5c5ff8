"""Figures of the page: those of the experiments that were run, each once."""

import re

import pytest
from tests.evidence.disentanglement_data import made_study

from uqassay.evidence.disentanglement import disentanglement_behaviour
from uqassay.evidence.disentanglement_runs import Contender, rank_disentanglement
from uqassay.report.study_pages import behaviour_figures, contender_figures, expected_figures, ranking_figure

IT = "information-theoretic"


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        ((), ["dataset-size", "label-noise", "terms", "left-out-class"]),
        (("dataset-size",), ["label-noise", "left-out-class"]),
        (("label-noise", "left-out-class"), ["dataset-size"]),
    ],
)
def test_figures_of_the_experiments_that_were_run(without, expected):
    one = Contender("a <b>", made_study("perfect", without=without, n_runs=2), IT)
    figures = contender_figures(one, name="c0", level=0.95)
    assert list(figures) == expected
    ids = [name for figure in figures.values() for name in re.findall(r'\bid="([^"]+)"', figure)]
    assert len(set(ids)) == len(ids)
    assert all("a &lt;b&gt;" in figure and "<b>" not in figure for figure in figures.values())


def test_colours_of_the_kinds_follow_the_scheme():
    figures = expected_figures()
    assert list(figures) == ["dataset-size", "label-noise", "left-out-class"]
    for name in ("--aleatoric", "--epistemic", "--accuracy"):
        assert f"var({name})" in figures["dataset-size"]
    assert not re.search(r"#(000000|d55e00|0072b2|009e73)\b", "".join(figures.values()))


def test_ranking_is_empty_without_errors():
    one = Contender("a", made_study("perfect", without=("label-noise",)), IT)
    assert ranking_figure(rank_disentanglement([one]), name="r", level=0.95) == ""
    whole = Contender("b", made_study("perfect"), IT)
    assert "disentanglement error" in ranking_figure(rank_disentanglement([one, whole]), name="r", level=0.95)


def test_further_findings():
    found = disentanglement_behaviour(made_study("perfect", n_runs=6, jitter=0.02), IT)
    assert any("falls with more training data" in text for text in found.sentences)
    assert set(behaviour_figures(found, name="c")) >= {"trend"}
