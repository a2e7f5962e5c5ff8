"""What `Assay.ood` found is on the page, in the terminal and in Markdown: the newest result, and nothing before it is asked."""

import re

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.report import print_report
from uqassay.evidence.ood import QUESTION, ood_figures
from uqassay.report.page import render


@pytest.fixture
def sides(random_generator):
    inside = random_generator.dirichlet([6.0, 1.0, 1.0], (80, 4))
    outside = random_generator.dirichlet([2.0, 2.0, 2.0], (50, 4))
    models = {"ensemble": uq.Members(inside), "point": uq.Point(inside[:, 0])}
    others = {"ensemble": uq.Members(outside), "point": uq.Point(outside[:, 0])}
    return uq.assay(models, np.zeros(80, int), n_draws=10, calibration=()), others


def test_nothing_is_shown_before_it_is_asked(sides, capsys):
    assay, _ = sides
    print_report(assay)
    assert QUESTION not in capsys.readouterr().out + render(assay) + assay.to_markdown()


def test_the_newest_result_is_shown_everywhere(sides, capsys):
    assay, others = sides
    assay.ood(others)
    found = assay.ood(others, level=0.8)
    best = max(found.rows(), key=lambda row: row["estimate"] if row["metric"] == "ood-auc" else -1)
    title = "Out-of-distribution detection by 2 models (ensemble and point): 80 cases in distribution, 50 cases out."
    section = re.search(r'<details class="section" id="lens-ood".*?</details>', render(assay), re.DOTALL)[0]
    print_report(assay)
    terminal, markdown = capsys.readouterr().out, assay.to_markdown()
    for text in (section, terminal, markdown):
        assert QUESTION in text
        assert title in text
        assert "80 % intervals" in text
    assert f">{best['model']}</td>" in section
    assert "<svg" in section
    row = next(line for line in terminal.splitlines() if best["score"] in line)
    assert row.split()[:2] == [best["model"], best["score"]]
    assert f"{best['estimate']:.3f}".removeprefix("0") in row


def test_the_figure_has_the_areas_with_their_intervals(sides):
    from matplotlib.figure import Figure

    assay, others = sides
    found = assay.ood(others)
    ((title, draw),) = ood_figures(found).items()
    assert title.endswith("another distribution")
    ax = Figure().subplots()
    draw(ax)
    (points,) = ax.containers
    rows = {f"{r['model']}: {r['score']}": r for r in found.rows() if r["metric"] == "ood-auc"}
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == min(15, len(rows))
    assert points[0].get_xdata().tolist() == [rows[name]["estimate"] for name in names]
    assert sorted(points[0].get_xdata()) == points[0].get_xdata().tolist()
    (bars,) = points[2]
    ends = [segment[:, 0].tolist() for segment in bars.get_segments()]
    np.testing.assert_allclose(ends, [(rows[name]["low"], rows[name]["high"]) for name in names])
