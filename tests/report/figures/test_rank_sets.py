"""Rank sets as bars, and the top group along λ, against the numbers of the assay."""

import numpy as np
import pytest
from tests.refusals import refuses
from tests.report.figures.cases import HOSTILE, blank, hostile, texts

import uqassay as uq
from uqassay.report import figures
from uqassay.text import rank_range


@pytest.fixture(scope="module")
def apart():
    """Models that 400 instances tell apart, around the class prior."""
    n = 400
    y = np.arange(n) % 2
    sure = np.where(np.arange(n) % 10 == 0, 1 - y, y)  # right in nine of ten
    p = np.eye(2)[sure]
    models = {"c": 0.1 + 0.8 * p[:, ::-1], "a": 0.1 + 0.8 * p, "b": 0.11 + 0.78 * p}
    return uq.assay({name: uq.Point(probs) for name, probs in models.items()}, y, calibration=(), n_draws=20)


@pytest.mark.parametrize(("metric", "score"), [("unified", None), ("brier", None), ("uq-auc", "total-entropy")])
def test_bars_against_the_rank_sets(assay, metric, score):
    found = assay.rank_sets(0.25, metric=metric, score=score)
    ax = figures.plot_rank_sets(assay, 0.25, metric=metric, score=score, ax=blank())
    order = np.argsort(-found.values if found.greater_is_better else found.values, kind="stable")
    assert len(ax.patches) == len(order)
    for i, (k, bar) in enumerate(zip(order, ax.patches, strict=True)):
        assert bar.get_x() + 0.5 == found.low[k]
        assert bar.get_x() + bar.get_width() - 0.5 == found.high[k]
        assert bar.get_y() + bar.get_height() / 2 == pytest.approx(i)
        assert (bar.get_alpha() == 1.0) == found.top[k]
        expected = f"{found.names[k]}  {rank_range(found.low[k], found.high[k])}"
        assert ax.get_yticklabels()[i].get_text() == expected


def test_a_baseline_is_a_line_where_models_lie_below_it(apart):
    ax = figures.plot_rank_sets(apart, metric="brier", ax=blank())
    assert [t.get_text().split()[0] for t in ax.get_yticklabels()] == ["a", "b", "c"]
    (line,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert line.get_ydata()[0] == 1.5  # between b and c
    assert texts(ax) == ["class-prior"]
    assert [bar.get_alpha() == 1.0 for bar in ax.patches] == apart.rank_sets(metric="brier").top[[1, 2, 0]].tolist()
    assert not apart.rank_sets(metric="brier").top[0]


def test_strips_against_the_rank_sets(apart):
    grid = np.linspace(0, 2, 9)
    ax = figures.plot_top_group(apart, tradeoffs=grid, ax=blank())
    drawn = np.zeros((len(grid), 3), dtype=bool)
    pale = np.zeros_like(drawn)
    for j, strip in enumerate(ax.collections):
        for path, colour in zip(strip.get_paths(), strip.get_facecolor(), strict=False):
            left, right = path.vertices[:, 0].min(), path.vertices[:, 0].max()
            inside = (left <= grid) & (grid <= right)
            drawn[inside, j] = True
            pale[inside, j] = colour[3] < 1
    for i, at in enumerate(grid):
        rows = {r.model: r for r in apart.ranked(at)}
        assert drawn[i].tolist() == [rows[name].top for name in apart.model_names]
        assert pale[i].tolist() == [bool(rows[name].top and rows[name].below) for name in apart.model_names]
    assert pale.any()
    assert not drawn.all()


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_assays_are_drawn(kind):
    a = hostile(kind)
    for ax in (figures.plot_rank_sets(a, ax=blank()), figures.plot_top_group(a, tradeoffs=[0, 0.5, 1], ax=blank())):
        ax.figure.canvas.draw()
        assert len(ax.get_yticklabels()) == len(a.candidates)


def test_an_unknown_metric_is_refused(assay):
    with refuses("metric", "choice", got="'nothing'"):
        figures.plot_rank_sets(assay, metric="nothing", ax=blank())
