"""The pictures of the guide are those that the functions draw; `make pictures` renews them."""

import re

import pytest
from docs import gallery

from uqassay.report import figures

FUNCTIONS = sorted(name for name in figures.__all__ if name.startswith("plot_"))
# The palette of a stored picture costs up to 7, a marker of another shape makes 11, another digit in a title 19.
SAME_VERSION = 9.0
# Between matplotlib 3.9 and 3.11 up to 11.3, as texts move; the pictures of two functions differ by 16 or more as a rule.
OTHER_VERSION = 14.0


def test_the_page_calls_every_function_and_shows_its_picture():
    assert sorted(gallery.calls()) == FUNCTIONS
    page = gallery.PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"^`figures\.(\w+)\(.*?^!\[(.+?)\]\(pictures/figures/(\w+)\.png\)$", page, flags=re.M | re.S)
    assert [(name, picture) for name, _, picture in shown] == [(name, name) for name in gallery.calls()]
    assert sorted(path.stem for path in gallery.PICTURES.iterdir()) == FUNCTIONS


def test_stored_pictures_are_small():
    assert sum(path.stat().st_size for path in gallery.PICTURES.iterdir()) < 1_500_000


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pictures_are_those_stored(name):
    drawn, stored = gallery.drawn(name), gallery.stored(name)
    assert gallery.coarse_difference(drawn, stored) < OTHER_VERSION, "run `make pictures` and look at the picture"
    if gallery.stored_by(name) == gallery.version():
        assert gallery.difference(drawn, stored) < SAME_VERSION, "run `make pictures` and look at the picture"


def test_a_changed_mark_is_a_difference(monkeypatch):
    monkeypatch.setattr(figures.frame, "MARKERS", ("s", *figures.frame.MARKERS[1:]))
    assert gallery.difference(gallery.drawn("plot_members"), gallery.stored("plot_members")) > SAME_VERSION
    assert gallery.difference(gallery.drawn("plot_ranking"), gallery.stored("plot_members")) == 255.0
