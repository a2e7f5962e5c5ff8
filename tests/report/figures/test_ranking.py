"""At one λ: the ranking, and how it depends on the members."""

from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses
from tests.report.figures.cases import blank, members, texts

import uqassay as uq
from uqassay.report import figures
from uqassay.report.figures.frame import looks, plain
from uqassay.text import rank_range, share_of_draws


def ranked_name(row):
    ranks = "" if row.rank is None else f"{rank_range(row.rank_low, row.rank_high)}  "
    return f"{ranks}{row.model}{' *' if row.below else ''}"


def test_ranking_against_the_table(assay):
    rows = assay.ranked(0.25)
    ax = figures.plot_ranking(assay, 0.25, ax=blank())
    assert [t.get_text() for t in ax.get_yticklabels()] == [ranked_name(r) for r in rows]
    left, right = ax.get_xlim()
    points = {line.get_ydata()[0]: line.get_xdata()[0] for line in ax.lines if line.get_marker() not in ("None", "")}
    spans = {line.get_ydata()[0]: tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2}
    for i, r in enumerate(rows):
        assert points[i] == pytest.approx(float(np.clip(float(r.estimate), left, right)))
        if r.rank is not None:
            assert spans[i] == pytest.approx((r.estimate.low, r.estimate.high))
            assert share_of_draws(r.win_share, 200) in texts(ax)
    assert sum(t.startswith(("<.001", ".", "1.00")) for t in texts(ax)) == len(rows) - 1  # baselines are tested as well


def test_ranking_says_who_is_worse_than_silence():
    a = uq.assay({"bad": uq.Point(np.full((50, 2), [0.1, 0.9]))}, np.zeros(50, dtype=int), n_draws=20)
    ax = figures.plot_ranking(a, 1.0, ax=blank())
    assert [t.get_text() for t in ax.get_yticklabels()] == ["class-prior", "vacuous", "1  bad *"]
    assert "* a baseline has a lower mean E" in ax.get_title(loc="left")


def test_members_against_the_rankings():
    rng = np.random.default_rng(2)
    y, ensemble, point = rng.integers(4, size=60), members(rng, m=8), uq.Point(rng.dirichlet(np.ones(4), 60))
    assays = {m: uq.assay({"ensemble": ensemble, "point": point}, y, common_members=m, n_draws=20) for m in (8, 2, 4)}
    ax = figures.plot_members(assays, 0.5, ax=blank())
    for container, name in zip(ax.containers, ("ensemble", "point"), strict=True):
        line, _, (bars,) = container
        np.testing.assert_array_equal(line.get_xdata(), [2, 4, 8])
        for m, y_drawn, bar in zip((2, 4, 8), line.get_ydata(), bars.get_segments(), strict=True):
            e = {r.model: r.estimate for r in assays[m].ranked(0.5)}[name]
            assert y_drawn == pytest.approx(float(e))
            np.testing.assert_allclose(bar[:, 1], [e.low, e.high])
    assert np.ptp(ax.containers[1][0].get_ydata()) == 0


def test_a_single_model_of_members_is_named_in_the_title_and_has_its_colour(assay):
    name = assay.model_names[1]
    alone = replace(assay, models=tuple(m for m in assay.models if m.name == name))
    ax = figures.plot_members({2: alone}, ax=blank(), coloured_as=assay)
    assert ax.get_legend() is None
    assert plain(name) in ax.get_title(loc="left")
    assert ax.containers[0][0].get_color() == looks(assay)[name].colour
    several = figures.plot_members({2: assay}, ax=blank())
    assert len(several.get_legend().get_texts()) == len(assay.model_names)


def test_members_of_other_instances_are_refused(assay, grouped):
    with refuses("assays", "mismatch", got="M = 4 differs from M = 2"):
        figures.plot_members({2: assay, 4: grouped})
    with refuses("assays", "empty"):
        figures.plot_members({})


@pytest.mark.parametrize("plot", [figures.plot_ranking, figures.plot_distance_nonspecificity])
def test_a_negative_tradeoff_is_refused(assay, plot):
    with refuses("tradeoff", "range", got="must be a number from 0 to 1e\\+100"):
        plot(assay, -0.5)


def test_the_default_tradeoff_stands_in_every_title(assay):
    for plot in (figures.plot_ranking, figures.plot_distance_nonspecificity):
        assert "λ = 0.5" in plot(assay, ax=blank()).get_title(loc="left")
        assert "λ = 0.25" in plot(assay, 0.25, ax=blank()).get_title(loc="left")
    assert "λ = 0.5" in figures.plot_members({2: assay}, ax=blank()).get_title(loc="left")
    assert "λ = 0.5" in figures.plot_by_correctness(assay, "unified", ax=blank()).get_title(loc="left")
    assert "λ" not in figures.plot_by_correctness(assay, ax=blank()).get_title(loc="left")
