"""The files of Figs. 3, 6 and 7: one panel for each part and condition, with one scale in each row."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from tests.lab.papers.disentangling.test_maps import SMALL

from uqassay.lab.papers.disentangling.maps import draw_maps, triangle_maps, two_moons_maps, write_map_figures


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
