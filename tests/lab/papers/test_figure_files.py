"""Figures as whole PNG files in a folder."""

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.figure_files import check_figures, check_folder, write_figure


def test_a_figure_that_fails_leaves_nothing_behind(tmp_path):
    def draw(figure):
        figure.subplots().set_title("$unfinished")
        raise RuntimeError("no more")

    (tmp_path / "a.png").write_bytes(b"older")
    with pytest.raises(RuntimeError, match="no more"):
        write_figure(tmp_path, "a", (2.0, 2.0), draw)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"older"


def test_a_figure_is_a_png_file_of_its_name_in_a_new_folder(tmp_path):
    folder = check_folder(tmp_path / "new" / "figures")
    path = write_figure(folder, "one", (2.0, 2.0), lambda figure: figure.subplots())
    assert path == tmp_path / "new" / "figures" / "one.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with refuses("figures", "unwritable", got="file"):
            check_folder(place)
        with refuses("figures", "unwritable", got="file"):
            check_figures(place)
    check_figures(None)
