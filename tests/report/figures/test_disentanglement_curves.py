"""Curves of the disentanglement benchmark against the numbers of the study."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats
from tests.evidence.disentanglement_data import NOISE, SHARES, made_study
from tests.refusals import refuses
from tests.report.figures.cases import band, blank, legend_texts

from uqassay.evidence.disentanglement_runs import Contender
from uqassay.report.figures.studies import (
    LOOKS,
    draw_disentanglement_grid,
    plot_disentanglement_curves,
    plot_expected_behaviour,
)

IT = "information-theoretic"


def contender(kind, **options):
    return Contender(kind, made_study(kind, jitter=0.03, **options), IT)


def lines(ax):
    """Full lines by their kind, dashed ones by theirs with a hyphen."""
    names = {look.colour: kind for kind, look in LOOKS.items()}
    return {("-" if line.get_linestyle() == "--" else "") + names[line.get_color()]: line for line in ax.lines}


def right_axes(ax):
    return next(other for other in ax.figure.axes if other is not ax)


@pytest.mark.parametrize(("experiment", "conditions"), [("dataset-size", SHARES), ("label-noise", NOISE)])
def test_lines_and_bands_are_means_and_t_intervals(experiment, conditions):
    one = contender("perfect")
    ax = plot_disentanglement_curves(one, experiment, ax=blank(), level=0.9)
    curves = one.study.experiment(experiment).curves(IT)
    drawn = {**lines(ax), **lines(right_axes(ax))}
    for kind in LOOKS:
        values = getattr(curves, kind)
        np.testing.assert_allclose(drawn[kind].get_xdata(), conditions)
        np.testing.assert_allclose(drawn[kind].get_ydata(), values.mean(axis=0))
    x, low, high = band(ax.collections[0])
    expected = [stats.t.interval(0.9, 4, loc=v.mean(), scale=stats.sem(v)) for v in curves.aleatoric.T]
    np.testing.assert_allclose(x, conditions)
    np.testing.assert_allclose(np.c_[low, high], expected)


@pytest.mark.parametrize(("experiment", "target"), [("dataset-size", "epistemic"), ("label-noise", "aleatoric")])
@pytest.mark.parametrize("kind", ["perfect", "reversed", "constant", "swapped"])
def test_expected_curves_are_ideal(experiment, target, kind):
    """The dashed target has r = 1 with its observed mean, the other one does not move, whatever the study does."""
    one = contender(kind)
    ax = plot_disentanglement_curves(one, experiment, ax=blank())
    drawn, accuracy = lines(ax), lines(right_axes(ax))["accuracy"].get_ydata()
    other = "aleatoric" if target == "epistemic" else "epistemic"
    assert np.corrcoef(-drawn[f"-{target}"].get_ydata(), accuracy)[0, 1] == pytest.approx(1)
    assert np.ptp(drawn[f"-{other}"].get_ydata()) == 0
    for name in (target, other):
        assert drawn[f"-{name}"].get_ydata().mean() == pytest.approx(drawn[name].get_ydata().mean())


def test_axes_start_at_zero_and_accuracy_has_a_right_axis():
    ax = plot_disentanglement_curves(contender("together"), "dataset-size", ax=blank())
    assert ax.get_ylim()[0] == 0
    assert right_axes(ax).get_ylabel() == "accuracy"
    assert ax.get_xscale() == "log"
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels[0] == "100 %"
    assert "1 %" in labels


def test_expected_behaviour_can_be_left_out():
    ax = plot_disentanglement_curves(contender("perfect"), "label-noise", ax=blank(), expected=False, legend=False)
    assert not [name for name in lines(ax) if name.startswith("-")]
    assert ax.get_legend() is None


def test_one_run_has_no_bands_and_the_legend_says_so():
    ax = plot_disentanglement_curves(contender("perfect", n_runs=1), "label-noise", ax=blank())
    _, low, high = band(ax.collections[0])
    np.testing.assert_array_equal(low, high)
    assert any("1 run" in text for text in legend_texts(ax))


def test_grid_has_a_panel_for_each_contender():
    figure = Figure(layout="constrained")
    grid = [[contender("perfect"), None], [contender("jitter"), contender("swapped")]]
    draw_disentanglement_grid(figure, grid, "dataset-size")
    shown = [ax for ax in figure.axes if ax.axison and ax.lines]
    assert len(shown) == 2 * 3
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    assert titles == ["made up", "made up"]
    left = [ax for ax in shown if ax.get_ylabel().startswith(IT)]
    assert len(left) == 2
    assert len(figure.legends) == 1


@pytest.mark.parametrize("experiment", ["dataset-size", "label-noise", "left-out-class"])
def test_expected_behaviour_as_a_drawing(experiment):
    ax = plot_expected_behaviour(experiment, ax=blank())
    drawn = lines(ax) if experiment != "left-out-class" else {}
    if experiment == "dataset-size":
        assert (np.diff(drawn["epistemic"].get_ydata()) < 0).all()
        assert np.ptp(drawn["aleatoric"].get_ydata()) == 0
    elif experiment == "label-noise":
        assert (np.diff(drawn["aleatoric"].get_ydata()) > 0).all()
        assert np.ptp(drawn["epistemic"].get_ydata()) == 0
    else:
        assert [label.get_text() for label in ax.get_yticklabels()] == ["aleatoric", "epistemic"]


def test_unknown_experiments_are_refused():
    with refuses("experiment", "choice", got="left-out-class"):
        plot_disentanglement_curves(contender("perfect"), "left-out-class", ax=blank())
    with refuses("experiment", "choice"):
        plot_expected_behaviour("size", ax=blank())


def test_bands_of_two_runs_stay_among_the_possible_values():
    one = Contender("a", made_study("perfect", n_runs=2, n=9, jitter=0.5), IT)
    ax = plot_disentanglement_curves(one, "label-noise", ax=blank(), legend=False)
    for axes, highest in ((ax, np.inf), (right_axes(ax), 1.0)):
        for collection in axes.collections:
            ends = np.concatenate([path.vertices[:, 1] for path in collection.get_paths()])
            assert ends.max() <= highest
    accuracy = np.concatenate([path.vertices[:, 1] for c in right_axes(ax).collections for path in c.get_paths()])
    assert accuracy.min() >= 0
