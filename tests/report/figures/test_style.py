"""What all figures share: they touch the axes given and nothing else, and survive whatever the data say."""

import subprocess
import sys

import matplotlib
import pytest
from matplotlib import cbook, colors
from tests.refusals import refuses
from tests.report.figures.cases import HOSTILE, blank, hostile, legend_texts

import uqassay as uq
from uqassay.errors import MissingDependencyError
from uqassay.report import figures

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


def test_without_matplotlib_the_remedy_is_named(assay, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with refuses("matplotlib", "package", error=MissingDependencyError):
        figures.plot_reliability(assay)


def test_importing_the_figures_does_not_import_matplotlib():
    code = "import sys, uqassay.report.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
