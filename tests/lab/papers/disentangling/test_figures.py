"""Maps over the plane: conditions as printed, values as predicted, numbers that say what the pictures show, and the files."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.refusals import refuses

from uqassay.lab.papers.disentangling.figures import (
    MOONS,
    TRIANGLE,
    Maps,
    Panel,
    Setting,
    draw_maps,
    mean_by_distance,
    mean_by_side,
    triangle_maps,
    two_moons_maps,
    write_map_figures,
)

SMALL = Setting(n_train=60, hidden=(8, 8), n_passes=5, epochs=3, n_grid=12)


@pytest.fixture(scope="module")
def by_size():
    return two_moons_maps(values=(0.1, 0.5, 1.0), setting=SMALL)


def test_sizes_and_epochs_of_figure_3(by_size):
    for panels in by_size.panels.values():
        assert [panel.epochs for panel in panels] == [30, 6, 3]
        assert [len(panel.y) for panel in panels] == [6, 30, 60]
        assert [int(panel.y.sum()) for panel in panels] == [3, 15, 30]
    assert by_size.values == (0.1, 0.5, 1.0)
    assert list(by_size.panels) == ["gaussian-logits", "information-theoretic"]
    assert "3 epochs / share" in by_size.caption()


def test_constant_epochs_of_figure_7():
    maps = two_moons_maps(values=(0.1, 0.5, 1.0), epochs_by_share=False, setting=SMALL)
    assert [panel.epochs for panel in maps.panels["information-theoretic"]] == [3, 3, 3]
    assert maps.caption().endswith("3 epochs")


def test_label_noise_keeps_classes_balanced():
    maps = two_moons_maps("label-noise", values=(0.0, 0.5, 1.0), setting=SMALL)
    same = [np.mean(panel.y == maps.data.y_train) for panel in maps.panels["gaussian-logits"]]
    assert same[0] == 1
    assert same[2] < same[0]
    assert all(panel.y.sum() == 30 for panel in maps.panels["gaussian-logits"])
    assert not maps.epochs_by_share


def test_maps_are_the_predictions_at_their_points(by_size):
    """The network trained alone predicts the same values at single points of the plane."""
    from uqassay.lab.methods import MCDropout
    from uqassay.measures import decompose

    panel = by_size.panels["information-theoretic"][1]
    alone = MCDropout(backbone=(8, 8), n_samples=5, epochs=6, classes=(0, 1), standardise=False, progress=False).fit(
        panel.X, panel.y
    )
    x, y = np.linspace(-2.5, 3.5, 12), np.linspace(-2.0, 2.5, 12)
    for i, j in ((0, 0), (3, 7), (11, 2)):
        parts = decompose(alone.predict_uncertainty([[x[j], y[i]]]))
        assert panel.aleatoric[i, j] == pytest.approx(parts.aleatoric[0], abs=1e-4)
        assert panel.epistemic[i, j] == pytest.approx(parts.epistemic[0], abs=1e-4)


def test_means_by_distance_and_side_against_brute_force(by_size):
    grid = by_size.setting.grid()
    distance = np.array([np.sqrt(((by_size.data.X_train - point) ** 2).sum(axis=1)).min() for point in grid])
    rows = mean_by_distance(by_size)
    assert len(rows) == 2 * 2 * 3
    panel = by_size.panels["gaussian-logits"][2]
    (row,) = [r for r in rows if (r["decomposition"], r["part"], r["value"]) == ("gaussian-logits", "epistemic", 1.0)]
    assert row["near"] == pytest.approx(panel.epistemic.ravel()[distance <= 0.25].mean())
    assert row["far"] == pytest.approx(panel.epistemic.ravel()[distance >= 1].mean())

    setting = Setting(n_grid=31, extent=(-1.0, 2.0, -1.5, 1.5))
    ramp = np.broadcast_to(np.linspace(-1, 2, 31), (31, 31))
    made = Panel("information-theoretic", 1.0, ramp, 1 - ramp, by_size.data.X_train, by_size.data.y_train, 1, 0.9)
    sides = mean_by_side(Maps("triangle", False, (1.0,), {"information-theoretic": (made,)}, by_size.data, setting))
    assert [sides[0][name] for name in ("left", "inside", "right")] == pytest.approx([-0.55, 0.5, 1.55])
    assert sides[1]["left"] == pytest.approx(1.55)


def test_refusals():
    with refuses("experiment", "choice", got="left-out"):
        two_moons_maps("left-out", setting=SMALL)
    with refuses("shares"):
        two_moons_maps(values=(0.5, 1.0), setting=SMALL)


@pytest.mark.slow
def test_triangle_hides_epistemic_uncertainty_where_classes_overlap():
    """Fig. 6: aleatoric uncertainty grows to the right, epistemic uncertainty is on the left of the data, not on the right."""
    aleatoric, epistemic = mean_by_side(triangle_maps(setting=replace(TRIANGLE, n_grid=30)))
    assert aleatoric["right"] > 1.5 * aleatoric["left"]
    assert epistemic["left"] > 1.5 * epistemic["right"]


@pytest.mark.slow
def test_underfitting_raises_aleatoric_uncertainty_on_few_data():
    """Fig. 7 against Fig. 3: with constant epochs the smallest share has more aleatoric uncertainty near to the data."""
    setting = replace(MOONS, n_train=500, epochs=20, n_grid=30)
    near = {}
    for by_share in (True, False):
        maps = two_moons_maps(values=(0.04, 0.5, 1.0), epochs_by_share=by_share, setting=setting)
        (row,) = [
            r
            for r in mean_by_distance(maps)
            if (r["decomposition"], r["part"], r["value"]) == ("information-theoretic", "aleatoric", 0.04)
        ]
        near[by_share] = row["near"]
    assert near[False] > 1.5 * near[True]


# -- files of Figures 3, 6 and 7 ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    maps = two_moons_maps(values=(0.1, 0.5, 1.0), setting=SMALL)
    figure = Figure()
    draw_maps(figure, maps)
    return maps, figure


def test_panels_hold_the_maps_on_one_scale_per_row(drawn):
    maps, figure = drawn
    panels = [ax for ax in figure.axes if ax.images]
    assert len(panels) == 4 * 3
    rows = [(name, part) for name in maps.panels for part in ("aleatoric", "epistemic")]
    for k, (name, part) in enumerate(rows):
        line = panels[3 * k : 3 * k + 3]
        assert len({ax.images[0].get_clim() for ax in line}) == 1
        for ax, panel in zip(line, maps.panels[name], strict=True):
            np.testing.assert_array_equal(ax.images[0].get_array(), getattr(panel, part))
            assert sum(len(dots.get_offsets()) for dots in ax.collections) == len(panel.y)
            assert ax.images[0].get_extent() == list(SMALL.extent)


def test_lighter_is_more_uncertain_and_the_caption_states_the_choices(drawn):
    _, figure = drawn
    image = next(ax for ax in figure.axes if ax.images).images[0]
    low, high = (np.dot(image.cmap(value)[:3], (0.2126, 0.7152, 0.0722)) for value in (0.0, 1.0))
    assert high > low + 0.5
    assert "MC-Dropout 2-8-8-2" in figure.get_supxlabel()
    assert [ax.get_title() for ax in figure.axes[:3]] == ["10 % of the data", "50 % of the data", "100 % of the data"]


def test_triangle_has_its_two_parts_alone():
    figure = Figure()
    draw_maps(figure, triangle_maps(setting=replace(SMALL, extent=(-1.0, 2.0, -1.5, 1.5))))
    assert [ax.get_title() for ax in figure.axes if ax.images] == ["Aleatoric", "Epistemic"]


def test_files_and_their_numbers(tmp_path):
    names = []
    written = write_map_figures(tmp_path / "new", moons=SMALL, triangle=SMALL, progress=names.append)
    assert len(names) == len(written) == 4
    for path, rows in written.items():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert {"part", "accuracy"} <= set(rows[0])
