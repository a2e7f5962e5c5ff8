"""Every figure at its final size in a paper: nothing is cut, on something else, or too small to be read."""

import matplotlib
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from tests.refusals import refuses
from tests.report.figures.every_figure import drawings, unreadable, ways

from uqassay.report import figures
from uqassay.report.figures.frame import (
    axes_for,
    draw_legend,
    fitting,
    label_axes,
    look_at,
    swatch,
    text_size,
    text_width,
    wrapped,
)

FUNCTIONS = sorted(name for name in figures.__all__ if name.startswith("plot_"))


@pytest.fixture(autouse=True)
def no_window():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def test_every_public_function_is_drawn_here():
    assert sorted(drawings("two models")) == FUNCTIONS


@pytest.mark.parametrize(("name", "size", "width"), [(name, *way) for name in FUNCTIONS for way in ways(name)])
def test_every_text_can_be_read(name, size, width):
    ax = drawings(size)[name](width)
    assert ax.figure.get_size_inches()[0] == {"column": 3.3, "text": 6.8}[width]
    assert unreadable(ax.figure) == []


def test_what_cannot_be_read_is_found():
    figure = Figure(figsize=(3.3, 2.0))
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], label="a line")
    ax.text(0.5, 0.5, "one")
    ax.text(0.52, 0.5, "another")
    ax.text(0.1, 0.9, "small", fontsize=6)
    ax.text(0.9, 0.1, "a text that is longer than the room to the right of it")
    ax.legend()
    found = " ".join(unreadable(figure))
    for what in ("on one another: 'another', 'one'", "6.0 points: 'small'", "outside: 'a text", "legend on the data"):
        assert what in found


@pytest.mark.parametrize(("given", "points"), [(6.0, 7.0), (10.0, 7.5), (20.0, 15.0)])
def test_texts_follow_the_settings_and_are_never_tiny(given, points, two_models):
    with matplotlib.rc_context({"font.size": given}):
        ax = figures.plot_tradeoff(two_models, ax=Figure().subplots())
    assert text_size() == 7.5
    sizes = {t.get_fontsize() for t in (ax.xaxis.label, ax.yaxis.label, *ax.get_legend().get_texts())}
    assert sizes == {points}


@pytest.fixture(scope="module")
def two_models():
    from tests.report.figures.every_figure import assay_of

    return assay_of("two models")


def test_another_width_is_refused(two_models):
    with refuses("width", "choice", got="got 'page'"):
        figures.plot_tradeoff(two_models, width="page")


def test_vectors_keep_text_as_text(two_models, tmp_path):
    ax = figures.plot_ranking(two_models, width="column")
    with matplotlib.rc_context({"svg.fonttype": "none", "pdf.fonttype": 42}):
        for kind in ("svg", "pdf"):
            ax.figure.savefig(tmp_path / f"ranking.{kind}")
    assert "vacuous</text>" in (tmp_path / "ranking.svg").read_text(encoding="utf-8")
    assert b"/FontFile2" in (tmp_path / "ranking.pdf").read_bytes()


def test_widths_of_texts_are_those_drawn():
    figure = Figure(dpi=200)
    text = figure.text(0, 0, "a text of some length", fontsize=text_size())
    assert text_width([text.get_text()]) == pytest.approx(text.get_window_extent().width * 72 / 200, abs=1.0)
    assert text_width(["short", "two\nlines"]) == text_width(["lines", "short"])


@pytest.mark.parametrize(
    "settings", [{"font.family": "monospace"}, {"font.sans-serif": "DejaVu Serif"}, {"font.size": 20.0}]
)
def test_widths_of_texts_follow_the_settings(settings):
    texts = ["a text of some length"]
    before = text_width(texts)
    with matplotlib.rc_context(settings):
        changed = text_width(texts)
    assert abs(changed - before) > 0.1
    assert text_width(texts) == before < text_width(texts, weight="bold")


def test_names_and_lines_that_fit():
    names = [f"a model with a name of some length, number {j}" for j in range(3)]
    short = fitting(names, 60.0)
    assert text_width(short) <= 60.0
    assert len(set(short)) == 3
    lines = wrapped("coverage: share of the instances kept, least uncertain first", 90.0)
    assert " ".join(lines) == "coverage: share of the instances kept, least uncertain first"
    assert text_width(lines) <= 90.0


@pytest.mark.parametrize(("width", "n", "beside"), [("text", 4, True), ("text", 20, False), ("column", 2, False)])
def test_legends_stand_outside_where_there_is_room(width, n, beside):
    handles = [swatch(look_at(j), f"model {j}") for j in range(n)]
    ax = axes_for(None, width, 2.0, legend=[handle.get_label() for handle in handles])
    label_axes(ax, "x", "y")
    draw_legend(ax, handles)
    ax.figure.canvas.draw()
    place, inner = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert (place.x0 > inner.x1) == beside
    assert (place.y1 < inner.y0) == (not beside)
    assert ax.figure.get_size_inches()[1] > 2.0 or beside
