"""What all figures share: layout, style, names, and the gallery of the guide."""

import re
import subprocess
import sys

import matplotlib
import pytest
from docs import gallery
from matplotlib import cbook, colors, pyplot
from matplotlib.figure import Figure
from tests.refusals import refuses
from tests.report.figures.cases import HOSTILE, blank, hostile, legend_texts
from tests.report.figures.every_figure import drawings, long_name, unreadable, ways

import uqassay as uq
from uqassay.report import figures
from uqassay.report.figures.frame import (
    axes_for,
    draw_legend,
    fitting,
    label_axes,
    look_at,
    short_names,
    swatch,
    text_size,
    text_width,
    wrapped,
)

# -- Every figure at its final size in a paper: nothing is cut, on something else, or too small to be read -------------
from uqassay.text import drawable

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
    lines = wrapped("coverage: share of the cases kept, least uncertain first", 90.0)
    assert " ".join(lines) == "coverage: share of the cases kept, least uncertain first"
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


# -- What all figures share: they touch the axes given and nothing else, and survive whatever the data say -------------


ASSAY_FIGURES = {
    "tradeoff": figures.plot_tradeoff,
    "winning": figures.plot_win_shares,
    "ranking": lambda a, ax=None: figures.plot_ranking(a, 0.5, ax=ax),
    "regions": lambda a, ax=None: figures.plot_distance_nonspecificity(a, 0.5, ax=ax),
    "distance": figures.plot_by_correctness,
    "nonspecificity": lambda a, ax=None: figures.plot_by_correctness(a, "nonspecificity", ax=ax),
    "unified": lambda a, ax=None: figures.plot_by_correctness(a, "unified", tradeoff=0.3, ax=ax),
    "width": lambda a, ax=None: figures.plot_width_nonspecificity(a, a.model_names[0], ax=ax),
    "confidence": lambda a, ax=None: figures.plot_confidence(a, a.model_names[-1], ax=ax),
    "entropy": lambda a, ax=None: figures.plot_confidence(a, a.model_names[0], "total-entropy", ax=ax),
    "reliability": figures.plot_reliability,
    "one reliability": lambda a, ax=None: figures.plot_reliability(a, a.model_names[:1], ax=ax),
    "sizes": lambda a, ax=None: figures.plot_set_sizes(a, a.model_names[0], ax=ax),
    "members": lambda a, ax=None: figures.plot_members({2: a, 40: a}, 0.5, ax=ax),
    "mistakes": figures.plot_mistake_ranking,
    "mistakes by rejection": lambda a, ax=None: figures.plot_mistake_ranking(a, metric="prediction-rejection", ax=ax),
    "risk coverage": figures.plot_risk_coverage,
    "risk coverage, best": lambda a, ax=None: figures.plot_risk_coverage(a, None, ax=ax),
    "comparisons": figures.plot_ranking_comparisons,
    "comparisons of one score": lambda a, ax=None: figures.plot_ranking_comparisons(a, "total-entropy", ax=ax),
}


# options of one function, which take turns with the assays
OPTIONS = [
    *(["distance", "nonspecificity", "unified"], ["confidence", "entropy"], ["reliability", "one reliability"]),
    *(["mistakes", "mistakes by rejection"], ["risk coverage", "risk coverage, best"]),
    ["comparisons", "comparisons of one score"],
]
OPTIONS += [[figure] for figure in ASSAY_FIGURES if not any(figure in options for options in OPTIONS)]
# assays that every option meets
WORST = ("one instance", "infinite losses", "all infinite", "names")
MET = [
    (figure, kind)
    for options in OPTIONS
    for turn, kind in enumerate(HOSTILE)
    for figure in (options if kind in WORST else [options[turn % len(options)]])
]


# values, numbers of models and names that pixels may not hold; the others are laid out alone, with their texts and ticks
RASTERISED = ("twelve models", "infinite losses", "all infinite", "names")


@pytest.mark.parametrize(("figure", "kind"), MET)
def test_every_figure_survives_and_touches_its_axes_only(figure, kind):
    from matplotlib import pyplot

    before, open_figures = dict(matplotlib.rcParams), pyplot.get_fignums()
    ax = blank()
    assert ASSAY_FIGURES[figure](hostile(kind), ax=ax) is ax
    if kind in RASTERISED:
        ax.figure.canvas.draw()  # warnings are errors here
    else:
        ax.figure.draw_without_rendering()
    assert ax.figure.axes == [ax]
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == open_figures
    for text in ax.figure.findobj(matplotlib.text.Text):
        if not text.get_text().startswith("$\\mathdefault"):  # ticks of the logarithmic colour bar
            assert not cbook.is_math_text(text.get_text())


@pytest.mark.parametrize("figure", [*(options[0] for options in OPTIONS), "simplex"])
def test_without_axes_one_pyplot_figure_is_made(figure, assay):
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    before = pyplot.get_fignums()
    ax = figures.plot_simplex([0.2, 0.3, 0.5]) if figure == "simplex" else ASSAY_FIGURES[figure](assay)
    try:
        assert len(pyplot.get_fignums()) == len(before) + 1
        assert pyplot.gca() is ax
        ax.figure.draw_without_rendering()
        room = ax.figure.bbox
        shown = ax.get_tightbbox()
        assert shown.x0 > room.x0 - 1  # nothing is cut off
        assert shown.x1 < room.x1 + 1
        assert shown.y0 > room.y0 - 1
        assert shown.y1 < room.y1 + 1
    finally:
        pyplot.close(ax.figure)


def test_hostile_names_are_shown_letter_by_letter():
    ax = figures.plot_ranking(hostile("names"), 0.5, ax=blank())
    texts = [t.get_text().removesuffix(" *").replace(r"\$", "$") for t in ax.get_yticklabels()]
    shown = {text.split("  ", 1)[-1] for text in texts}  # behind the ranks
    assert {"$x_1$", " _hidden", r"\alpha $", "two lines", "%s {0} \\"} <= shown
    assert any(t.startswith("nnn") and "…" in t and len(t) <= 32 for t in shown)
    legend = legend_texts(figures.plot_tradeoff(hostile("names"), ax=blank()))
    assert len(legend) == 8


def test_a_model_has_one_colour_in_every_figure(assay):
    wanted = figures.model_colours(assay)["Members"].lower()
    tradeoff = figures.plot_tradeoff(assay, ax=blank()).lines[1].get_color()
    winning = figures.plot_win_shares(assay, ax=blank()).collections[1].get_facecolor()
    row = [r.model for r in assay.ranked()].index("Members")
    ranking = [
        line.get_color()
        for line in figures.plot_ranking(assay, ax=blank()).lines
        if line.get_marker() == "s" and line.get_ydata()[0] == row
    ]
    regions = figures.plot_distance_nonspecificity(assay, ax=blank()).patches[1].get_edgecolor()
    reliability = figures.plot_reliability(assay, ["Members"], ax=blank()).lines[-1].get_color()
    sizes = figures.plot_set_sizes(assay, "Members", ax=blank()).patches[0].get_edgecolor()
    for colour in (tradeoff, winning[0], *ranking, regions, reliability, sizes):
        assert colors.to_hex(colour) == wanted
    assert len(ranking) == 1
    looks = figures.frame.looks(uq.assay({str(j): uq.Point([[0.5, 0.5]]) for j in range(20)}, [0], n_draws=2))
    assert len({(look.colour, look.marker) for look in looks.values()}) == 22


def test_importing_the_figures_does_not_import_matplotlib():
    code = "import sys, uqassay.report.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- Names in little room: short, distinct, letter by letter -----------------------------------------------------------


def at_most(n):
    return lambda name: len(name) <= n


def test_names_that_fit_stay():
    assert short_names(["deep ensemble", "MC dropout"], at_most(13)) == ["deep ensemble", "MC dropout"]
    assert short_names([], at_most(5)) == []


@pytest.mark.parametrize("n", [2, 6, 30])
@pytest.mark.parametrize("most", [12, 20, 40])
def test_short_names_are_distinct_and_keep_what_tells_them_apart(n, most):
    names = [long_name(j) for j in range(n)]
    short = short_names(names, at_most(most))
    assert len(set(short)) == n
    assert all(len(name) <= max(most, 20) for name in short)
    for whole, name in zip(names, short, strict=True):
        parts = [part for part in name.split("…") if part]
        assert parts, "nothing is left of a name"
        assert all(part in whole for part in parts)


def test_what_all_have_in_common_goes_first():
    names = [f"a network of depth fifty, seed {j}, trained twice" for j in range(3)]
    assert short_names(names, at_most(20)) == ["…0…", "…1…", "…2…"]
    assert short_names(["x" * 40, "x" * 41], at_most(10))[0] != short_names(["x" * 40, "x" * 41], at_most(10))[1]


def test_equal_names_stay_equal():
    name = "one of the models that stands in two groups of rows"
    assert len(set(short_names([name, name], at_most(15)))) == 1
    assert len(short_names([name, name], at_most(15))[0]) <= 15


def test_text_of_data_is_no_markup():
    assert drawable("$x$") == r"\$x\$"
    assert short_names(["two\nlines", "_hidden"], at_most(30)) == [r"two\nlines", " _hidden"]
    ax = Figure().subplots()
    ax.plot([0], [0], label=short_names(["_hidden"], at_most(30))[0])
    assert [t.get_text() for t in ax.legend().get_texts()] == [" _hidden"]


# -- The pictures of the guide are those that the functions draw; `make pictures` renews them --------------------------


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
