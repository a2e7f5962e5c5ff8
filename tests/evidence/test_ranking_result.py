"""The ranking to be read: its sentence from the rank sets, its cells from `Ranked`, spreads over runs."""

import sys

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.refusals import refuses
from tests.shown_results import check_shown

import uqassay as uq
from uqassay.errors import MissingDependencyError
from uqassay.evidence.ranking import ranking_table

N = 600


def softmax(z):
    return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def judged():
    """Two models alike, each with three runs, and one that is far worse; names with markup."""
    g = np.random.default_rng(0)
    y = g.integers(0, 3, N)
    good = [[uq.Point(softmax(2.5 * np.eye(3)[y] + g.normal(size=(N, 3)))) for _ in range(3)] for _ in range(2)]
    bad = uq.Point(softmax(g.normal(size=(N, 3))))
    return judge({"a_1": good[0], "b|2": good[1], "<c>": bad}, y, n_draws=50)


def test_models_that_are_not_told_apart_are_named_together(judged):
    ranking = judged.ranking(0.5)
    top = judged.rank_sets(0.5).top_names
    assert set(top) == {"a_1", "b|2"}
    assert "<c>" in ranking._shown_sentences()[0].partition(";")[2]
    assert all(name in ranking._shown_sentences()[0].partition(";")[0] for name in top)
    check_shown(ranking, "a_1", "b|2", "<c>")


def test_marks_follow_the_rank_sets(judged):
    table = ranking_table(judged.ranking(0.5))
    marked = {row.cells[1].text: (row.cells[1].best, row.cells[1].tied) for row in table.rows}
    first, second = (r.model for r in judged.ranked(0.5)[:2])
    assert marked[first][0]
    assert marked[second] == (False, True)
    assert marked["<c>"] == marked["class-prior (baseline)"] == (False, False)
    assert "vacuous (baseline)" not in marked  # no model is vague


def test_numbers_are_those_of_the_table(judged):
    ranking = judged.ranking(0.3)
    frame = ranking.table()
    assert frame.to_dict("records")[0]["tradeoff"] == 0.3
    shown = [float(row.cells[2].text) for row in ranking_table(ranking).rows]
    np.testing.assert_allclose(shown, frame.estimate[frame.model != "vacuous"], atol=5e-4)
    assert [row["model"] for row in ranking.rows()] == frame.model.tolist() == [r.model for r in ranking.models]


def test_the_spread_over_runs(judged):
    ranking = judged.ranking(0.5)
    best = ranking.models[0].model
    deviation = judged.loss(best, 0.5).mean(axis=1).std(ddof=1)
    cells = {row.cells[1].text: row.cells[3].text for row in ranking_table(ranking, "runs").rows}
    assert float(cells[best].removeprefix("± ")) == pytest.approx(deviation, abs=5e-4)
    assert cells["<c>"] == ""
    assert r"$\pm$" in ranking.to_latex(spread="runs")
    assert "±" in ranking.to_markdown(spread="runs")
    with refuses("spread", "choice", "'sd'"):
        ranking.to_latex(spread="sd")


def test_the_spread_over_runs_needs_runs():
    single = judge({"m": uq.Point([[0.9, 0.1]] * 20)}, [0] * 20)
    with refuses("spread", "conflict"):
        single.ranking().to_latex(spread="runs")


def test_one_model_is_compared_with_nothing():
    ranking = judge({"m": uq.Point([[0.6, 0.4]] * 50)}, [0, 1] * 25).ranking()
    assert "better" not in repr(ranking)
    assert "baseline" in ranking._shown_sentences()[0]
    table = ranking_table(ranking)
    assert "p (adjusted)" not in table.header
    assert not any(cell.best or cell.tied for row in table.rows for cell in row.cells)


def test_models_with_the_same_mean_are_both_the_best():
    same = uq.Point([[0.7, 0.3]] * 100)
    table = ranking_table(judge({"a": same, "b": same}, [0] * 100).ranking())
    assert [row.cells[1].best for row in table.rows if not row.reference] == [True, True]


def test_infinite_means_are_shown_and_none_is_the_best():
    wrong = uq.Point([[1.0, 0.0]] * 9)
    ranking = judge({"a": wrong, "b": wrong}, [1] * 9, floor=0).ranking()
    check_shown(ranking)
    assert not any(cell.best for row in ranking_table(ranking).rows for cell in row.cells)


def test_a_difference_that_only_unseen_losses_limit_is_explained():
    y = np.zeros(20, int)
    close, far = uq.Point([[0.99, 0.01]] * 20), uq.Point([[0.7, 0.3]] * 20)
    ranking = judge({"close": close, "far": far}, y).ranking()
    assert [r.limited_by for r in ranking.models if r.model == "far"] == ["unseen"]
    assert "†: " in ranking_table(ranking).caption
    assert "†" in ranking.to_markdown().partition("Mean E")[0]


def test_without_pandas_all_but_the_table_is_there(judged, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    ranking = judged.ranking(0.5)
    check_shown(ranking)
    with refuses("pandas", "package", error=MissingDependencyError):
        ranking.table()
