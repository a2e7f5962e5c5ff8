"""Does the uncertainty rank the mistakes: forests and curves are those of the assay."""

import numpy as np
import pytest
from tests.refusals import refuses
from tests.report.figures.cases import band, blank, legend_texts

import uqassay as uq
from uqassay.report import figures
from uqassay.text import significant


@pytest.mark.parametrize("name", ["assay", "grouped"])
@pytest.mark.parametrize("metric", ["uq-auc", "uq-c-index", "aurc"])
def test_forest_rows_against_the_findings(name, metric, request):
    a = request.getfixturevalue(name)
    scores = ["total-entropy", "credal-width"]
    ax = figures.plot_mistake_ranking(a, metric=metric, scores=scores, ax=blank())
    found = {(r.model, r.score): r.estimate for r in a.mistake_ranking() if r.run is None and r.metric == metric}
    rows = [(s, m) for s in scores for m in a.model_names if (m, s) in found]
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert len(names) == len(rows)
    sign = 1 if metric == "aurc" else -1
    wanted = [
        m for s in scores for m in sorted(a.model_names, key=lambda m: sign * found.get((m, s), 0)) if (m, s) in found
    ]
    assert names == wanted
    points = [line for line in ax.lines if line.get_linestyle() == "None"]
    bars = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
    at = iter(wanted)
    for score in scores:
        for _ in range(sum(s == score for s, _ in rows)):
            e = found[next(at), score]
            point, bar = points.pop(0), bars.pop(0)
            assert point.get_xdata()[0] == float(e)
            np.testing.assert_array_equal(bar.get_xdata(), [e.low, e.high])
    assert not points
    headings = [t.get_text() for t in ax.texts if t.get_fontweight() == "bold"]
    assert headings[:2] == ["total entropy", "credal width"]


def test_the_line_at_one_half_is_drawn_where_it_is_near(cifar10):
    near = uq.assay({"p": uq.Point(np.random.default_rng(0).dirichlet(np.ones(3), 80))}, np.arange(80) % 3, n_draws=20)
    far = uq.assay({"average": uq.Point(cifar10["de_avg"])}, cifar10["labels"], n_draws=20)
    halves = [
        [line for line in figures.plot_mistake_ranking(a, ax=blank()).lines if line.get_linestyle() == "--"]
        for a in (near, far)
    ]
    assert halves[0][0].get_xdata()[0] == 0.5
    assert halves[1] == []


def test_the_default_forest_shows_the_best_scores_and_total_entropy(assay):
    from uqassay.report.sections import best_scores

    ax = figures.plot_mistake_ranking(assay, ax=blank())
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert len(names) == 8
    for model, score in best_scores(assay).items():
        assert f"{model} ({score.replace('-', ' ').replace('nonspecificity', 'non-specificity')})" in names
        assert model in names


@pytest.mark.parametrize("name", ["assay", "grouped"])
def test_risk_coverage_curves_against_the_assay(name, request):
    a = request.getfixturevalue(name)
    ax = figures.plot_risk_coverage(a, ax=blank())
    assert len(ax.lines) == len(a.model_names)
    for line, filled, model in zip(ax.lines, ax.collections, a.model_names, strict=True):
        own = a.risk_coverage(model, "total-entropy", line.get_xdata())
        np.testing.assert_allclose(line.get_ydata(), [float(e) for e in own], atol=1e-12)
        at, low, high = band(filled)
        np.testing.assert_allclose(at, line.get_xdata())
        np.testing.assert_allclose(low, [e.low for e in own], atol=1e-9)
        np.testing.assert_allclose(high, [e.high for e in own], atol=1e-9)
    assert "pointwise 95 % intervals" in ax.get_title(loc="left").replace("\n", " ")
    aurc = next(
        r.estimate for r in a.mistake_ranking() if (r.run, r.score, r.metric) == (None, "total-entropy", "aurc")
    )
    assert legend_texts(ax)[0] == f"{a.model_names[0]}  AURC {significant(float(aurc))}"


def test_rankings_that_are_not_there_are_refused(assay):
    with refuses("metric", "choice"):
        figures.plot_mistake_ranking(assay, metric="accuracy")
    with refuses("metric", "choice"):
        figures.plot_ranking_comparisons(assay, metric="accuracy")
    with refuses("score", "choice", got=r"the models have least-confidence, .*; got 'vote'"):
        figures.plot_risk_coverage(assay, "vote")
    with refuses("score", "choice", got="'Point' has .*; got 'epistemic-entropy'"):
        figures.plot_risk_coverage(assay, "epistemic-entropy", models=["Members", "Point"])
    with refuses("score", "choice", got="'Point' has .*; got 'credal-width'"):
        figures.plot_ranking_comparisons(assay, [("Point", "credal-width"), ("Members", "margin")])
    with refuses("models", "empty"):
        figures.plot_mistake_ranking(assay, models=[])
    with refuses("model", "type", got="got the baseline 'vacuous'"):
        figures.plot_mistake_ranking(assay, models=["vacuous"])
