"""Figures of made predictions: every file is a whole picture; the numbers of Figures 1, 3, 4, 5 computed anew."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from tests.lab.papers.unified.made import made, whole_set

import uqassay as uq
from uqassay.lab.papers.unified.figures import (
    FIGURES,
    averaged_examples,
    belief_example,
    closures,
    draw_averages,
    draw_beliefs,
    draw_closures,
    draw_types,
    model_looks,
    n_unified_figures,
    types_of_predictions,
    write_unified_figures,
)
from uqassay.lab.papers.unified.judging import judge_predictions
from uqassay.report.figures.frame import model_colours


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


def colours_of_violins(ax):
    """Colour of each model in a panel by correctness: each row has the name of its model beside it."""
    from matplotlib.colors import to_hex

    found = {}
    for violin in ax.collections:
        row = round(float(np.mean(violin.get_paths()[0].vertices[:, 1])))
        found.setdefault(ax.get_yticklabels()[row].get_text(), set()).add(to_hex(violin.get_facecolor()[0]))
    return found


@pytest.mark.parametrize("name", [f"figure{n}_{c}" for n in (2, 6, 9) for c in ("exact", "paper")])
def test_a_model_has_one_colour_in_all_panels_and_no_two_share_one(name):
    from matplotlib.figure import Figure

    judged = whole_set()[2]
    figure = Figure(figsize=(20, 7), layout="constrained")
    FIGURES[name].draw(figure, judged)
    expected = {model: look.colour.lower() for model, look in model_looks(judged).items()}
    assert len(expected) == len(set(expected.values())) == 10
    shown = set()
    for ax in figure.axes:
        for model, colours in colours_of_violins(ax).items():
            assert colours == {expected[model]}
            shown.add(model)
    assert shown == set(expected if name[6] in "26" else judged.ranked["exact"].model_names)


def test_figure_13_has_the_colours_of_the_other_figures():
    from matplotlib.colors import same_color
    from matplotlib.figure import Figure

    found, figure = whole_set()[2], Figure(figsize=(11, 7), layout="constrained")
    FIGURES["figure13_members"].draw(figure, found)
    drawn = [ax.containers[0][0].get_color() for ax in figure.axes]
    for ax, name, colour in zip(figure.axes, ("DE", "DE", "LB-BNN", "LB-BNN"), drawn, strict=True):
        assert name in ax.get_title(loc="left")
        assert same_color(colour, model_looks(found)[name].colour)
        assert same_color(colour, model_colours(found.ranked["exact"])[name])  # of the figures of these models alone
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


# -- the numbers of Figures 1, 3, 4 and 5 against independent computation -----------------------------------------------


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


@pytest.fixture
def figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(13, 9), layout="constrained")


# ---- Figure 1 --------------------------------------------------------------------------------------------------------


def test_arrow_starts_at_the_nearest_distribution_of_the_set():
    kinds = []
    for one in types_of_predictions():
        kinds.append(type(one.prediction).__name__)
        assert one.nearest.sum() == pytest.approx(1.0)
        assert -np.log(one.nearest[1]) == pytest.approx(one.distance)
        low, high = one.prediction.lower_probs()[0], one.prediction.upper_probs()[0]
        assert np.all(one.nearest >= low - 1e-12)
        assert np.all(one.nearest <= high + 1e-12)
    assert kinds == ["Point", "Members", "Dirichlet", "Intervals", "Masses", "Vertices"]


def test_distance_of_members_and_intervals_by_linear_programming():
    found = {type(one.prediction).__name__: one for one in types_of_predictions()}
    members = found["Members"].prediction.probs[0]
    best = linprog(-members[:, 1], A_eq=np.ones((1, len(members))), b_eq=[1.0])
    assert found["Members"].distance == pytest.approx(-np.log(-best.fun))
    intervals = found["Intervals"].prediction
    bounds = list(zip(intervals.lower[0], intervals.upper[0], strict=True))
    best = linprog([0, -1, 0], A_eq=np.ones((1, 3)), b_eq=[1.0], bounds=bounds)
    assert found["Intervals"].distance == pytest.approx(-np.log(-best.fun))


def test_arrows_end_at_the_label(figure):
    draw_types(figure)
    for ax, one in zip(figure.axes, types_of_predictions(), strict=True):
        (arrow,) = [text for text in ax.texts if text.get_text() == ""]
        np.testing.assert_allclose(arrow.xy, CORNERS[1])
        np.testing.assert_allclose(arrow.xyann, one.nearest @ CORNERS)


# ---- Figure 3 --------------------------------------------------------------------------------------------------------


def test_draws_and_their_average(figure):
    said, y, judged = whole_set()
    run = uq.Dirichlet(said["LB-BNN"][0].alpha, n_draws=30)
    ns = uq.measures.generalised_hartley(run).values
    least, greatest = averaged_examples(judged)
    assert (least.row, greatest.row) == (ns.argmin(), ns.argmax())
    for one in (least, greatest):
        np.testing.assert_array_equal(one.samples, run.sample(30, 0)[one.row])
        np.testing.assert_allclose(one.average, one.samples.mean(axis=0))
        assert one.label == y[one.row]
        assert one.nonspecificity == pytest.approx(ns[one.row])
    draw_averages(figure, judged)
    left, right = figure.axes[2:]
    assert len(left.lines) == 30
    np.testing.assert_allclose([bar.get_height() for bar in right.patches], greatest.average)
    assert [tick.get_text() for tick in right.get_xticklabels()] == list(judged.class_names)


# ---- Figure 4 --------------------------------------------------------------------------------------------------------


def test_beliefs_masses_and_pignistic_probabilities(figure):
    said, y, judged = whole_set()
    run = said["RS-NN"][0]
    one = belief_example(judged)
    ns = run.masses @ np.log(run.focal_sets.sum(axis=1))
    hit = run.labels() == y
    assert one.row == np.where(hit, ns, -1).argmax()
    np.testing.assert_array_equal(one.masses, run.masses[one.row])
    inside = np.array([[not (b & ~a).any() for b in run.focal_sets] for a in run.focal_sets])
    np.testing.assert_allclose(one.beliefs, inside @ run.masses[one.row])
    shares = run.focal_sets / run.focal_sets.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(one.pignistic, run.masses[one.row] @ shares)
    assert one.hidden == pytest.approx(0.0)
    draw_beliefs(figure, judged)
    drawn = [[bar.get_width() for bar in ax.patches] for ax in figure.axes]
    for values, expected in zip(drawn, (one.beliefs, one.masses, one.pignistic), strict=True):
        np.testing.assert_allclose(values, expected)
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert names[:2] == ["{air}", "{bird}"]
    assert names[-2:] == ["{air, deer}", "Ω"]


def test_of_many_sets_those_of_greatest_mass_are_shown():
    rng = np.random.default_rng(0)
    sets = np.array([[code >> c & 1 for c in range(6)] for code in range(1, 64)], dtype=bool)
    masses = rng.dirichlet(np.full(63, 0.3), 90)
    judged = whole_set()[2]
    one = belief_example(replace(judged, said={**judged.said, "RS-NN": uq.Masses(masses, sets)}))
    held = masses[one.row]
    assert sorted(one.masses) == sorted(held)[-32:]
    assert one.hidden == pytest.approx(sum(sorted(held)[:-32]))
    for members, belief in zip(one.sets, one.beliefs, strict=True):
        assert belief == pytest.approx(held[~(sets & ~members).any(axis=1)].sum())


# ---- Figure 5 --------------------------------------------------------------------------------------------------------


def test_closure_lies_in_the_credal_set_of_its_lower_probabilities(figure):
    said, y, judged = whole_set()
    alpha = said["LB-BNN"][0].alpha
    found = closures(judged)
    assert len({one.row for one in found}) == 3
    for one in found:
        assert one.label == y[one.row]
        greatest = np.sort(np.argsort(-alpha[one.row])[:3])
        assert one.classes == tuple(greatest)
        given = uq.Dirichlet(alpha[one.row : one.row + 1, greatest], n_draws=30)
        np.testing.assert_allclose(one.points, given.sample(30, 0)[0])
        # edges parallel to the simplex's: every vertex has two coordinates at a bound, and the hull touches every bound
        low, high = one.points.min(axis=0), one.points.max(axis=0)
        assert np.all(one.vertices >= low - 1e-9)
        assert np.all(one.vertices <= high + 1e-9)
        at_bound = np.isclose(one.vertices, low) | np.isclose(one.vertices, high)
        assert np.all(at_bound.sum(axis=1) >= 2)
        outer = ConvexHull(one.vertices @ CORNERS)
        assert len(outer.vertices) == len(one.vertices)
        steps = {abs(int(a) - int(b)) for a, b in pairwise([*outer.vertices, outer.vertices[0]])}
        assert steps <= {1, len(one.vertices) - 1}  # in cyclic order
        assert one.share == pytest.approx(ConvexHull(one.points @ CORNERS).volume / outer.volume)
        assert 0 < one.share <= 1
    draw_closures(figure, judged)
    below = figure.axes[3:]
    for ax, one in zip(below, found, strict=True):
        np.testing.assert_allclose(ax.lines[0].get_xydata(), one.points @ CORNERS)
        dashed = ax.patches[-1].get_xy()
        np.testing.assert_allclose(dashed[:-1], one.vertices @ CORNERS)
