"""Figures 1 to 4: the scenarios and the curves are drawn from their numbers, and the files are written."""

import numpy as np
import pytest
from tests.lab.papers.credal_calibration.made import SMALL, invented
from tests.refusals import refuses

from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration import error_rates as figures
from uqassay.lab.papers.credal_calibration.error_rates import ALPHAS, MEASURES, Plan, rates_of, reference
from uqassay.lab.papers.credal_calibration.protocol import FIGURES
from uqassay.lab.papers.credal_calibration.scenarios import draw_examples


@pytest.fixture(scope="module")
def exact():
    return invented(50, Plan(FIGURES["1"]))


@pytest.fixture(scope="module")
def code():
    return invented(50, Plan(FIGURES["1"], convention="paper-code", resample=False))


@pytest.fixture
def drawn(needs, monkeypatch, tmp_path):
    """Draws the figure of some runs without a file; its panels by scenario, and the figure."""
    needs("matplotlib")
    from matplotlib.figure import Figure

    def draw(*runs, number="1"):
        figure = Figure(layout="constrained")
        monkeypatch.setattr(figures, "write_figure", lambda folder, name, size, fill: fill(figure))
        figures.write_error_figure(tmp_path, number, runs)
        return dict(zip(("S1", "S2", "S3"), figure.axes, strict=True)), figure

    return draw


def curves(ax):
    """Lines of one panel but the diagonal."""
    return [line for line in ax.get_lines() if line.get_linestyle() != ":"]


def test_curves_are_the_error_rates(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        assert len(curves(ax)) == len(MEASURES)
        for measure, line in zip(MEASURES, curves(ax), strict=True):
            found = exact.rejected[scenario, measure].mean(axis=0)
            expected = found if scenario == "S1" else 1 - found  # type II error: no rejection
            np.testing.assert_allclose(line.get_xdata(), ALPHAS)
            np.testing.assert_allclose(line.get_ydata(), expected, atol=1e-12)


def test_bands_are_the_intervals(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        bands = [c for c in ax.collections if type(c).__name__ != "PathCollection"]
        assert len(bands) == len(MEASURES)
        ends = rates_of(exact, scenario, MEASURES[0])
        outline = bands[0].get_paths()[0].vertices[:, 1]
        assert outline.min() == pytest.approx(min(e.low for e in ends))
        assert outline.max() == pytest.approx(max(e.high for e in ends))


def test_the_level_is_drawn_where_the_error_is_of_type_i(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        levels = [line for line in ax.get_lines() if line.get_linestyle() == ":"]
        assert len(levels) == (scenario == "S1")
        assert ("type I " in f"{ax.get_ylabel()} ") == (scenario == "S1")


def test_the_authors_code_is_dashed_and_named(drawn, exact, code):
    panels, figure = drawn(exact, code)
    styles = [line.get_linestyle() for line in curves(panels["S2"])]
    assert styles == ["-"] * len(MEASURES) + ["--"] * len(MEASURES)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum("authors’ code" in name for name in names) == len(MEASURES)
    assert len(names) == 2 * len(MEASURES) + 1  # each once, and the level


def test_crosses_are_the_references(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        crosses = [c for c in ax.collections if type(c).__name__ == "PathCollection"]
        values = [reference(exact, scenario, m, alpha) for m in MEASURES for alpha in ALPHAS]
        known = [value for value in values if not np.isnan(value)]
        shown = np.concatenate([c.get_offsets()[:, 1] for c in crosses]) if crosses else np.empty(0)
        np.testing.assert_allclose(shown, known)


def test_a_setting_of_no_figure_has_no_crosses(drawn):
    panels, figure = drawn(invented(7, SMALL), number="9")
    assert not [c for ax in panels.values() for c in ax.collections if type(c).__name__ == "PathCollection"]
    assert figure.get_suptitle().startswith("Figure 9: N = 20, M = 3, K = 3, u = 0.1; 7 data sets, D = 19,")


def test_figures_are_written(tmp_path, needs, exact, code):
    needs("matplotlib")
    path = figures.write_error_figure(tmp_path, "1", [exact, code])
    assert path.name == "credal_calibration_figure1.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, needs, exact):
    needs("matplotlib")
    (tmp_path / "taken").write_text("")
    with refuses("figures", "unwritable", got="taken"):
        figures.write_error_figure(tmp_path / "taken", "1", [exact])


def test_the_scenarios_are_drawn_where_their_points_are(needs, monkeypatch, tmp_path):
    needs("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    monkeypatch.setattr(figures, "write_figure", lambda folder, name, size, fill: fill(figure))
    figures.write_scenario_figure(tmp_path, seed=2)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    for ax, example in zip(figure.axes, draw_examples(seed=2), strict=True):
        by_label = {line.get_label(): np.array(line.get_data()).T for line in ax.get_lines()}
        np.testing.assert_allclose(by_label["truths"], example.truths @ corners)
        np.testing.assert_allclose(by_label["centre p_e"], example.centre[None] @ corners)
        assert ("boundary" in by_label) == ("corner" in by_label) == (example.scenario != "S1")
        if example.scenario != "S1":
            np.testing.assert_allclose(by_label["boundary"], example.boundary @ corners)
            np.testing.assert_allclose(by_label["corner"], corners[example.corners])
        assert ax.get_title(loc="left").startswith(example.scenario)
        assert ax.get_legend() is None
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["credal set", "10 members", "mean", "truths", "centre p_e", "boundary", "corner"]


def test_figure_1_writes_both_its_parts(tmp_path, needs):
    needs("matplotlib")
    found = reproduce("credal-calibration", preset="smoke", runs=1, figures=tmp_path)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["credal_calibration_figure1.png", "credal_calibration_figure1_left.png"]
    assert sum(line.startswith("figure: ") for line in found.reading) == 2
