"""Figures of made predictions: every file is a whole picture; a figure without its predictors is left out and named."""

from dataclasses import replace

import numpy as np
import pytest
from tests.lab.papers.unified.made import made, whole_set

import uqassay as uq
from uqassay.lab.papers.unified.figures import FIGURES, n_unified_figures, write_unified_figures
from uqassay.lab.papers.unified.judging import judge_predictions
from uqassay.report.figures.frame import model_colours


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("matplotlib")


def judged(said, y):
    return judge_predictions("made data", {name: [run] for name, run in said.items()}, y, np.full(3, 30))


def test_there_are_figures_of_both_conventions():
    assert len(FIGURES) == 22
    assert {name.removesuffix("_exact") for name in FIGURES if name.endswith("_exact")} == {
        name.removesuffix("_paper") for name in FIGURES if name.endswith("_paper")
    }


# Their other convention is drawn here, by the same function of the convention; both of Figures 6 to 10 in
# `test_ablation_figures`.
DRAWN_ELSEWHERE = (
    "figure2_paper",
    "figure6_exact",
    "figure7_exact",
    "figure8_paper",
    "figure9_exact",
    "figure10_exact",
)


ONE_BY_ONE = ("figure14_set_sizes", "figure17_confidence", "figure18_width")  # a panel or a row for each predictor


def of_few(drawing, few):
    return replace(drawing, size=lambda _: drawing.size(few), draw=lambda figure, _: drawing.draw(figure, few))


@pytest.mark.slow
def test_every_figure_is_a_whole_picture(tmp_path, monkeypatch):
    from matplotlib.image import imread

    monkeypatch.setattr("uqassay.lab.papers.figure_files.DPI", 40)
    for name in DRAWN_ELSEWHERE:
        monkeypatch.delitem(FIGURES, name)
    judged = whole_set()[2]
    few = {convention: replace(found, models=found.models[::2]) for convention, found in judged.ranked.items()}
    for name in ONE_BY_ONE:
        monkeypatch.setitem(FIGURES, name, of_few(FIGURES[name], replace(judged, ranked=few)))
    told = []
    lines = write_unified_figures(tmp_path, [judged], told.append)
    names = ["unified_figure1_types", *(f"unified_made_{name}" for name in FIGURES)]
    assert lines[:-1] == [f"figure: {tmp_path / name}.png" for name in names]
    assert lines[-1] == (
        "figure13_members of made: DE's curve ends at 5 members, the paper's at 30; the option members trains more"
    )
    assert len(told) == n_unified_figures(1)
    for name in names:
        assert np.ptp(imread(tmp_path / f"{name}.png")[..., :3]) > 0.5


def test_figure_2_has_e_at_the_papers_tradeoff():
    from matplotlib.figure import Figure

    figure = Figure(figsize=(20, 7), layout="constrained")
    FIGURES["figure2_exact"].draw(figure, whole_set()[2])
    assert [ax.get_xlabel() for ax in figure.axes] == [
        "KL divergence (nats)",
        "non-specificity (nats)",
        "E = d + λ·NS (nats),  λ = 1",
    ]


def test_figure_13_has_the_colours_of_the_other_figures():
    from matplotlib.colors import same_color
    from matplotlib.figure import Figure

    found, figure = whole_set()[2], Figure(figsize=(11, 7), layout="constrained")
    FIGURES["figure13_members"].draw(figure, found)
    drawn = [ax.containers[0][0].get_color() for ax in figure.axes]
    for ax, name, colour in zip(figure.axes, ("DE", "DE", "LB-BNN", "LB-BNN"), drawn, strict=True):
        assert name in ax.get_title(loc="left")
        assert same_color(colour, model_colours(found.assays["exact"])[name])
    assert len(set(drawn)) == 2


def test_figures_without_their_predictors_are_left_out_and_named(tmp_path):
    said, y = made(np.random.default_rng(0), n=40)
    one = judged({"CreINN": said["E-CNN"]}, y)
    chosen = {name: FIGURES[name] for name in ("figure3_averages", "figure4_beliefs", "figure13_members")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uqassay.lab.papers.unified.figures.FIGURES", chosen)
        lines = write_unified_figures(tmp_path, [one], lambda step: None)
    assert lines[1:] == [
        "figure3_averages of made data is left out: there is no LB-BNN",
        "figure4_beliefs of made data is left out: there is no RS-NN",
        "figure13_members of made data is left out: there is no DE or LB-BNN",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["unified_figure1_types.png"]


def test_points_alone_have_only_the_first_figure(tmp_path):
    y = np.arange(30) % 3
    one = judged({"SNN": uq.Point(0.7 * np.eye(3)[y] + 0.1)}, y)
    lines = write_unified_figures(tmp_path, [one], lambda step: None)
    assert len(lines) == n_unified_figures(1)
    assert "figure2_exact of made data is left out: no predictor states sets" in lines
    assert len(list(tmp_path.iterdir())) == 1
