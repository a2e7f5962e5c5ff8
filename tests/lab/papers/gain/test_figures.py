"""Figures 1 to 4 of paper 002."""

import numpy as np
import pytest
from tests.lab.papers.gain.made import row
from tests.refusals import refuses

from uqassay.lab.datasets import cluster_grid, disc_layout
from uqassay.lab.papers.gain.choices import ToyPlan
from uqassay.lab.papers.gain.tables import COLOURS, DISC, draw_discs, draw_intervals, draw_split, write_gain_figures


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("matplotlib", "sklearn")


@pytest.fixture(scope="module")
def toy():
    return cluster_grid(6000, spread=0.25, rng=0)


def new_figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(11, 5), layout="constrained")


def drawn_points(ax):
    return sum(len(one.get_offsets()) for one in ax.collections if len(one.get_offsets()) > 1)


def test_the_disc_of_figure_1_keeps_few_points():
    assert disc_layout("figure-2").train_share[DISC] == 0.04


def test_figure_1_fills_the_disc_in_the_augmented_set(toy):
    figure = new_figure()
    draw_split(figure, toy)
    train, augmented, test = figure.axes
    assert drawn_points(train) < drawn_points(augmented)
    centre, radius = disc_layout("figure-2").centres[DISC], disc_layout("figure-2").radius

    def inside(ax):
        points = np.concatenate([one.get_offsets() for one in ax.collections if len(one.get_offsets()) > 1])
        return (np.linalg.norm(points - centre, axis=1) <= radius).mean()

    assert inside(train) < 0.1 < inside(augmented) < inside(test)


def test_figure_2_has_the_discs_of_evaluation_and_calibration(toy):
    figure = new_figure()
    draw_discs(figure, toy, plan=ToyPlan())
    left, right = figure.axes
    assert (len(left.lines), len(right.lines)) == (30, 12)
    assert {text.get_text() for text in right.texts} == {"1 %", "2 %", "4 %", "10 %", "25 %", "50 %"}
    three = new_figure()
    draw_discs(three, toy, plan=ToyPlan(calibration="three-discs"))
    assert len(three.axes[1].lines) == 3
    assert len(COLOURS) == 2
    other = new_figure()
    draw_discs(other, toy, plan=ToyPlan(train_share=0.05))
    assert {text.get_text() for ax in other.axes for text in ax.texts} == {"5 %"}


def test_figure_3_has_a_panel_for_each_estimate():
    figure = new_figure()
    one = row(3)
    draw_intervals(figure, one)
    assert [ax.get_title(loc="left").partition(",")[0] for ax in figure.axes] == ["mutual information", "entropy"]
    assert "± one standard deviation over 3 runs" in figure.axes[0].get_title(loc="left")
    gain = one.results["entropy"].bins.gain.mean
    assert any(np.array_equal(line.get_ydata(), gain) for line in figure.axes[1].lines)


def test_files(tmp_path, monkeypatch):
    monkeypatch.setattr("uqassay.lab.papers.figure_files.DPI", 50)
    rows = [row(2), row(2, dataset="toy-mismatch-1"), row(2, dataset="digits", method="random-forest")]
    written = write_gain_figures(tmp_path, rows, n=2000)
    assert [path.name for path in written] == [
        "epistemic_gain_figure1.png",
        "epistemic_gain_figure2.png",
        "epistemic_gain_figure2_toy-mismatch-1.png",
        "epistemic_gain_figure3_toy_spread=0.35_local-gp.png",
        "epistemic_gain_figure3_toy-mismatch-1_spread=0.35_local-gp.png",
        "epistemic_gain_figure4_digits_random-forest.png",
    ]
    assert all(path.stat().st_size > 2000 for path in written)
    only_real = write_gain_figures(tmp_path / "real", rows[2:])
    assert [path.name for path in only_real] == ["epistemic_gain_figure4_digits_random-forest.png"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    path = tmp_path / "taken"
    path.write_text("")
    with refuses("figures", "unwritable"):
        write_gain_figures(path, [row(1)])
