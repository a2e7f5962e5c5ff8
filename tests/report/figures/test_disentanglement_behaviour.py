"""Figures of correlations, trend and sources of doubt: the numbers drawn are those of the results."""

import numpy as np
import pytest
from tests.evidence.test_disentanglement import BY, family_study

from uqassay.evidence.disentanglement import disentanglement_behaviour
from uqassay.metrics import epistemic_trend_test, estimate_correlations
from uqassay.report.figures.studies import plot_doubt_sources, plot_epistemic_trend, plot_estimate_correlations


@pytest.fixture(scope="module")
def behaviour():
    return disentanglement_behaviour(family_study(("seed", "few-data"), n_runs=4, n=60), BY)


@pytest.fixture
def ax(needs):
    needs("matplotlib")
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()


def test_correlations_are_written_into_the_cells(behaviour, ax):
    plot_estimate_correlations(behaviour.correlations, ax=ax)
    written = np.array([text.get_text() for text in ax.texts]).reshape(3, 3)
    assert written.tolist() == [[f"{v:.2f}" for v in row] for row in behaviour.correlations.matrix]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(behaviour.correlations.names)
    np.testing.assert_allclose(ax.images[0].get_array(), behaviour.correlations.matrix)
    ax.figure.canvas.draw()


def test_constant_estimates_have_a_cross_and_names_are_plain(ax):
    found = estimate_correlations({"$a$": [1.0, 2.0, 3.0], "flat": [1.0, 1.0, 1.0]})
    plot_estimate_correlations(found, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["1.00", "×", "×", "×"]
    assert ax.get_yticklabels()[0].get_text() == r"\$a\$"


def test_many_estimates_have_colours_alone(ax):
    rng = np.random.default_rng(1)
    plot_estimate_correlations(estimate_correlations({f"e{i}": rng.random((2, 9)) for i in range(24)}), ax=ax)
    assert len(ax.texts) == 0


def test_trend_draws_runs_bands_and_steps_that_rise(ax):
    values = np.random.default_rng(2).random((3, 4, 20))
    values[:, 2] += 0.5
    found = epistemic_trend_test(values, [0.1, 0.25, 0.5, 1.0])
    plot_epistemic_trend(found, ax=ax)
    lines = [line.get_ydata() for line in ax.lines]
    np.testing.assert_allclose(lines[:3], found.means)
    np.testing.assert_allclose(lines[3], found.means.mean(axis=0))
    assert len(lines) == 4 + len(found.holes)
    assert len(found.holes) >= 1
    assert [label.get_text() for label in ax.get_xticklabels()] == ["10 %", "25 %", "50 %", "100 %"]
    assert len(ax.collections) == 2


def test_sources_are_drawn_where_they_are_defined(behaviour, ax):
    plot_doubt_sources(behaviour.doubts, ax=ax)
    drawn = {bars.get_label(): bars[0].get_ydata() for bars in ax.containers}
    assert [len(values) for values in drawn.values()] == [4, 3, 4]
    assert drawn["seed"][0] == float(behaviour.doubts.at(0.1, "seed").correlation)
    ax.figure.canvas.draw()


def test_sources_that_are_absent_stay_in_the_legend(ax):
    found = disentanglement_behaviour(family_study(("seed",), n_runs=4, n=30, shares=(0.1, 0.25)), BY)
    plot_doubt_sources(found.doubts, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["seed: –", "few data: –"]
