"""The main table of a paper: each metric with its own best and its own ties, from the rank sets."""

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.ranking import metric_table

N = 500


@pytest.fixture(scope="module")
def judged():
    g = np.random.default_rng(1)
    y = g.integers(0, 3, N)

    def members(noise):
        z = 2 * np.eye(3)[y][:, None] + noise * g.normal(size=(N, 1, 3)) + 0.3 * g.normal(size=(N, 4, 3))
        return uq.Members(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))

    return judge({"good": [members(1.0), members(1.0)], "bad": members(3.0)}, y, n_draws=50)


def cells(judged, *metrics, at=0.5, score=None, spread="interval"):
    """Of every metric the cells by model."""
    table = metric_table(judged, at, metrics, score, spread)
    return [{row.cells[0].text: row.cells[i + 1] for row in table.rows} for i in range(len(metrics))]


def test_values_and_intervals_are_those_of_the_findings(judged):
    rows = {(r["model"], r["metric"]): r for r in judged.rows("findings") if r["run"] == "all"}
    for metric, found in zip(("accuracy", "brier", "kl"), cells(judged, "accuracy", "brier", "kl"), strict=True):
        for model in ("good", "bad"):
            row = rows[model, metric]
            assert float(found[model].text) == pytest.approx(row["estimate"], abs=5e-4)
            low, high = map(float, found[model].after.strip("[]").split(", "))
            assert (low, high) == pytest.approx((row["low"], row["high"]), abs=5e-4)


def test_the_best_is_the_greatest_where_greater_is_better(judged):
    accuracy, loss = cells(judged, "accuracy", "log-loss")
    assert accuracy["good"].best
    assert loss["good"].best
    assert not accuracy["bad"].best
    assert float(accuracy["good"].text) > float(accuracy["bad"].text)
    assert float(loss["good"].text) < float(loss["bad"].text)


def test_ties_are_those_of_the_rank_sets(judged):
    for metric, score in (("accuracy", None), ("unified", None), ("uq-auc", "total-entropy")):
        (found,) = cells(judged, metric, score=score)
        top = judged.rank_sets(0.5, metric=metric, score=score).top_names
        assert {m for m in ("good", "bad") if found[m].best or found[m].tied} == set(top)


def test_non_specificity_has_no_best(judged):
    (found,) = cells(judged, "nonspecificity")
    assert not any(cell.best or cell.tied for cell in found.values())


def test_e_is_taken_at_any_tradeoff(judged):
    (found,) = cells(judged, "unified", at=0.37)
    assert float(found["good"].text) == pytest.approx(judged.loss("good", 0.37).mean(), abs=5e-4)


def test_baselines_without_the_metric_have_a_dash(judged):
    (found,) = cells(judged, "accuracy")
    assert found["vacuous"].text == "–"
    assert float(found["class-prior"].text) > 0


@pytest.mark.parametrize("metric", ["unified", "accuracy"])
def test_the_spread_over_runs(judged, metric):
    (found,) = cells(judged, metric, spread="runs")
    column = judged.loss("good", 0.5) if metric == "unified" else judged["good"].columns["correct"]
    assert float(found["good"].after.removeprefix("± ")) == pytest.approx(column.mean(axis=1).std(ddof=1), abs=5e-4)
    assert found["bad"].after == ""


def test_unknown_metrics_and_scores_are_refused(judged):
    with refuses("metrics", "choice", "'f1'"):
        judged.to_latex(metrics=["f1"])
    with refuses("score", "missing"):
        judged.to_latex(metrics=["uq-auc"])
    with refuses("spread", "choice"):
        judged.to_latex(spread="sd")
    with refuses("tradeoff", "range"):
        judged.to_latex(-1.0)


def test_headers_name_the_direction_and_the_distance(judged):
    latex = judged.to_latex()
    assert (
        r"accuracy $\uparrow$ & KL distance $\downarrow$ & non-specificity & mean E, $\lambda$ = 0.5 $\downarrow$"
        in latex
    )
