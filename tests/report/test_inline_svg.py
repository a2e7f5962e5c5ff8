"""Figures as elements of a page: the same bytes, ids of their own, the page's colours."""

import io
import re
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from uqassay.report.drawings import FONT_SIZE, inline_svg


def draw(figure):
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], color="#123456", marker="o")
    ax.fill_between([0, 1], [0, 0], [1, 1], alpha=0.2)
    ax.set_xlabel("an <axis> & more")


@pytest.fixture(scope="module")
def element():
    return inline_svg(draw, (3, 2), name="a1", label='a "label" <b>', colours={"#123456": "var(--mark)"})


def test_the_same_figure_has_the_same_bytes(element):
    again = inline_svg(draw, (3, 2), name="a1", label='a "label" <b>', colours={"#123456": "var(--mark)"})
    assert again == element
    assert not re.search(r"20\d\d-\d\d|<metadata|<!DOCTYPE|<!--", element)


def test_it_is_one_element_with_escaped_text(element):
    root = ElementTree.fromstring(element)
    assert root.attrib["aria-label"] == 'a "label" <b>'
    assert "an <axis> & more" in "".join(root.itertext())


def test_ids_have_the_prefix_and_references_lead_to_them(element):
    ids = re.findall(r'\bid="([^"]+)"', element)
    assert ids
    assert all(name.startswith("a1-") for name in ids)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', element)) <= set(ids)


def test_colours_are_those_of_the_page(element):
    assert "var(--mark)" in element
    assert "#123456" not in element
    kept = inline_svg(draw, (3, 2), name="b", label="", colours={})
    assert "#123456" in kept
    assert 'class="drawn paper"' in kept
    assert "var(" not in kept
    assert "var(--ink)" in inline_svg(draw, (3, 2), name="c", label="")


def test_text_is_text_in_the_fonts_of_the_page(element):
    assert "<text" in element
    assert "DejaVu" not in element


def test_it_is_no_wider_than_drawn(element):
    assert "max-width: 288px" in element


def test_letters_that_the_fonts_lack_are_no_warning():
    element = inline_svg(lambda figure: figure.text(0.5, 0.5, "日本語 مرحبا"), (3, 2), name="d", label="")
    assert "日本語" in element


def test_it_is_the_figure_that_savefig_draws():
    """Drawn once, with the same layout as by `savefig`, which draws twice."""
    stream = io.StringIO()
    with mpl.rc_context({"font.size": FONT_SIZE, "svg.fonttype": "none", "svg.hashsalt": "uqassay"}):
        figure = Figure(figsize=(3, 2), layout="constrained")
        draw(figure)
        figure.savefig(stream, format="svg", transparent=True)
    element = inline_svg(draw, (3, 2), name="e", label="")
    shapes = [re.findall(r' d="([^"]*)"', text) for text in (stream.getvalue(), element)]
    whole, short = (list(map(re.compile(r"[A-Za-z]|-?[\d.]+").findall, paths)) for paths in shapes)
    for path, other in zip(whole, short, strict=True):  # the page has two decimals
        assert [part for part in path if part.isalpha()] == [part for part in other if part.isalpha()]
        numbers = ([float(part) for part in one if not part.isalpha()] for one in (path, other))
        np.testing.assert_allclose(*numbers, rtol=0, atol=0.0101)
