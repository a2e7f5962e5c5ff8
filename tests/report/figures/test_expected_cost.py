"""Expected cost against the price: lines, bands and names are those of the curves."""

import numpy as np
import pytest
from tests.refusals import refuses
from tests.report.figures.cases import blank, drawn

import uqassay as uq
from uqassay.report import figures

SCORES = np.random.default_rng(0).random(200)
CURVE = uq.metrics.expected_cost_curve(SCORES > 0.85, SCORES, prices=[0.2, 0.05, 0.1])


def test_a_line_between_the_lines_of_two_simple_rules():
    ax = drawn(figures.plot_expected_cost(CURVE, ax=blank()))
    cost, kept, passed = ax.lines
    assert cost.get_xdata().tolist() == [0.05, 0.1, 0.2]
    assert cost.get_ydata() == pytest.approx([float(CURVE.costs[k]) for k in (1, 2, 0)])
    assert set(kept.get_ydata()) == {float(CURVE.keep_all)}
    assert passed.get_ydata().tolist() == [0.0, 0.2]
    assert len(ax.collections) == 1
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["refusing by the score", "keep every case", "pass every case on"]


def test_several_models_have_their_names():
    ax = drawn(figures.plot_expected_cost({"a": CURVE, "$b$": CURVE}, ax=blank()))
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["a", r"\$b\$"]
    assert len(ax.lines) == 5
    with refuses("costs", "empty"):
        figures.plot_expected_cost({}, ax=blank())
