"""Figures: they draw the assay's numbers, touch the axes given and nothing else, and survive whatever the data say."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import cbook, colors
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError, MissingDependencyError
from uqassay.report import figures
from uqassay.report.distributions import mean_regions

KINDS = ("Point", "Members", "Intervals", "Masses")
ASSAY_FIGURES = {
    "tradeoff": figures.plot_tradeoff,
    "winning": figures.plot_winning_probability,
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


def blank():
    """Axes of a figure that pyplot knows nothing of."""
    figure = Figure(dpi=50)
    FigureCanvasAgg(figure)
    return figure.subplots()


def members(rng, n=60, k=4, m=3, sharp=1.0):
    return uq.Members(rng.dirichlet(np.full(k, sharp), (n, m)))


@pytest.fixture(scope="module")
def assay():
    """Four kinds on 60 instances of 4 classes."""
    rng = np.random.default_rng(5)
    models = {kind: random_prediction(kind, rng, 60, 4) for kind in KINDS}
    return uq.assay(models, rng.integers(4, size=60), tradeoffs=(0.25, 0.5, 1.0), n_draws=200)


@pytest.fixture(scope="module")
def grouped():
    """Three runs of one model, two of another, in groups of five, so that nothing is quadratic in λ."""
    rng = np.random.default_rng(6)
    models = {"a": [members(rng) for _ in range(3)], "b": [members(rng, sharp=0.3) for _ in range(2)]}
    y = rng.integers(4, size=60)
    return uq.assay(models, y, groups=np.repeat(np.arange(12), 5), tradeoffs=(0.5,), n_draws=100)


def band(collection):
    """x, lower edge and upper edge of a filled band."""
    v = collection.get_paths()[0].vertices
    n = (len(v) - 3) // 2
    below, above = v[1 : n + 1], v[n + 2 : 2 * n + 2][::-1]
    np.testing.assert_array_equal(below[:, 0], above[:, 0])
    return below[:, 0], below[:, 1], above[:, 1]


def texts(ax):
    return [t.get_text() for t in ax.texts]


def legend_texts(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


# -- along λ ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["assay", "grouped"])
def test_tradeoff_lines_and_bands_against_the_ranking(name, request):
    a = request.getfixturevalue(name)
    ax = figures.plot_tradeoff(a, ax=blank())
    names = [m.name for m in a.models]
    n = len(a.model_names)
    for j, (line, model) in enumerate(zip(ax.lines, names, strict=False)):
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
            e = {r.model: r.estimate for r in a.ranked(x)}[model]
            assert y == pytest.approx(float(e))
            if j < n:
                at, low, high = band(ax.collections[j])
                i = np.flatnonzero(at == x)[0]
                assert (low[i], high[i]) == pytest.approx((e.low, e.high))
    marked = ax.lines[0].get_xdata()[ax.lines[0].get_markevery()]
    np.testing.assert_allclose(marked, a.tradeoffs)
    assert len(ax.collections) == n


def test_breakpoints_and_strip_against_the_winners():
    rng = np.random.default_rng(0)
    models = {"wide": members(rng, m=8), "narrow": members(rng, m=2), "point": uq.Point(rng.dirichlet(np.ones(4), 60))}
    a = uq.assay(models, rng.integers(4, size=60), n_draws=50)
    winners = a.winners()
    assert len(winners) > 1
    top = 1.5 * winners[-1][0]
    ax = figures.plot_tradeoff(a, tradeoffs=[0.0, top / 2, top], ax=blank())
    vertical = [line.get_xdata()[0] for line in ax.lines[len(a.models) :]]
    np.testing.assert_allclose(vertical, [low for low, _, _ in winners[1:]])
    strip = [(p.get_x(), p.get_x() + p.get_width(), colors.to_hex(p.get_facecolor())) for p in ax.patches]
    colour = {name: c.lower() for name, c in figures.model_colours(a).items()}
    for (left, right, face), (low, high, (name,)) in zip(strip, winners, strict=True):
        assert (left, right) == pytest.approx((low, min(high, top)))
        assert face == colour[name]
    dotted = [line.get_xdata()[0] for line in figures.plot_winning_probability(a, ax=blank()).lines[::2]]
    np.testing.assert_allclose(dotted, [low for low, _, _ in winners[1:]])


def test_default_axis_reaches_past_a_near_breakpoint(cifar10):
    models = {"three": uq.Members(cifar10["three"]), "average": uq.Point(cifar10["de_avg"])}
    a = uq.assay(models, cifar10["labels"], n_draws=20)
    last = a.winners()[-1][0]
    assert 1 < last < 2
    ax = figures.plot_tradeoff(a, ax=blank())
    assert ax.get_xlim() == pytest.approx((0.0, 1.25 * last))
    assert f"{last:.2f}" in texts(ax)


def test_a_baseline_above_the_axis_is_said_so(assay):
    sharp = uq.Point(np.where(np.eye(4)[np.arange(60) % 4] > 0, 0.97, 0.01))
    a = uq.assay({"sharp": sharp}, np.arange(60) % 4, n_draws=20)
    ax = figures.plot_tradeoff(a, ax=blank())
    assert ax.get_ylim()[1] < np.log(4)
    assert legend_texts(ax) == ["sharp", "vacuous", "class-prior (above: 1.39)"]


@pytest.mark.parametrize("name", ["assay", "grouped"])
def test_winning_areas_against_the_draws(name, request):
    a = request.getfixturevalue(name)
    grid = np.array([0.0, 0.3, 0.9])
    ax = figures.plot_winning_probability(a, tradeoffs=grid[::-1], ax=blank())
    shares = a.winning_probabilities(grid)
    for j, area in enumerate(ax.collections):
        x, low, high = band(area)
        np.testing.assert_allclose(x, grid)
        np.testing.assert_allclose(high - low, shares[:, j], atol=1e-12)
    np.testing.assert_allclose(band(ax.collections[-1])[2], 1.0)
    assert ("runs" in ax.get_title(loc="left")) == (name == "grouped")


def test_losers_share_one_legend_entry():
    good, bad = np.full((50, 2), [0.99, 0.01]), np.full((50, 2), [0.01, 0.99])
    models = {"good": uq.Point(good), "bad": uq.Point(bad), "worse": uq.Point(bad)}
    ax = figures.plot_winning_probability(uq.assay(models, np.zeros(50, dtype=int), n_draws=50), ax=blank())
    assert legend_texts(ax) == ["good", "2 others: below 0.5 %"]


# -- at one λ ---------------------------------------------------------------------------------------------------------


def test_ranking_against_the_table(assay):
    rows = assay.ranked(0.25)
    ax = figures.plot_ranking(assay, 0.25, ax=blank())
    assert [t.get_text() for t in ax.get_yticklabels()] == [r.model + (" †" if r.below else "") for r in rows]
    left, right = ax.get_xlim()
    points = {line.get_ydata()[0]: line.get_xdata()[0] for line in ax.lines if line.get_marker() not in ("None", "")}
    spans = {line.get_ydata()[0]: tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2}
    for i, r in enumerate(rows):
        assert points[i] == pytest.approx(float(np.clip(float(r.estimate), left, right)))
        if r.rank is not None:
            assert spans[i] == pytest.approx((r.estimate.low, r.estimate.high))
            assert f"{100 * r.win_probability:.0f} %" in texts(ax) or 0 < r.win_probability < 0.01
    assert sum(t.startswith(("< .001", ".")) for t in texts(ax)) == len(KINDS) - 1


def test_ranking_says_who_is_worse_than_silence():
    a = uq.assay({"bad": uq.Point(np.full((50, 2), [0.1, 0.9]))}, np.zeros(50, dtype=int), n_draws=20)
    ax = figures.plot_ranking(a, 1.0, ax=blank())
    assert [t.get_text() for t in ax.get_yticklabels()] == ["class-prior", "vacuous", "bad †"]
    assert "† worse than a baseline" in ax.get_title(loc="left")


@pytest.mark.parametrize("name", ["assay", "grouped"])
def test_regions_and_equal_lines_against_their_definition(name, request):
    a = request.getfixturevalue(name)
    ax = figures.plot_distance_nonspecificity(a, 0.4, ax=blank())
    points = {tuple(np.r_[line.get_xdata(), line.get_ydata()]) for line in ax.lines if len(line.get_xdata()) == 1}
    totals = {}
    for patch, model in zip(ax.patches, a.candidates, strict=False):
        d, ns = (model.columns[c].mean() for c in ("distance", "nonspecificity"))
        totals[model.name] = d + 0.4 * ns
        assert any(p == pytest.approx((ns, d)) for p in points)
        region = mean_regions(a)["all"][a.model_names.index(model.name)]
        h_d, h_ns = region["half_widths"]
        away = patch.get_xy() - [ns, d]
        if h_ns > 0:
            shape = np.array([[h_ns**2, region["covariance"]], [region["covariance"], h_d**2]])
            np.testing.assert_allclose(np.einsum("pi,ij,pj->p", away, np.linalg.inv(shape), away), 1.0, rtol=1e-6)
        else:
            np.testing.assert_allclose(away[:, 0], 0.0, atol=1e-12)
            assert abs(away[:, 1]).max() == pytest.approx(h_d, rel=1e-2)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    for line in lines:
        (x0, x1), (y0, y1) = line.get_xdata(), line.get_ydata()
        assert (y1 - y0) / (x1 - x0) == pytest.approx(-0.4)
    dashed = [line for line in lines if line.get_linestyle() == "--"]
    assert dashed[0].get_ydata()[0] + 0.4 * dashed[0].get_xdata()[0] == pytest.approx(min(totals.values()))


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


def test_members_of_other_instances_are_refused(assay, grouped):
    with refuses("assays", "mismatch", got="M = 4 differs from M = 2"):
        figures.plot_members({2: assay, 4: grouped})
    with refuses("assays", "empty"):
        figures.plot_members({})


# -- instances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", ["distance", "nonspecificity", "unified"])
def test_medians_and_counts_by_correctness(assay, quantity):
    ax = figures.plot_by_correctness(assay, quantity, tradeoff=0.7, ax=blank())
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    expected, counts = [], []
    for m in assay.candidates:
        hit = m.columns["label"][0] == assay.labels
        values = assay.loss(m.name, 0.7)[0] if quantity == "unified" else m.columns[quantity][0]
        expected += [np.median(values[hit]), np.median(values[~hit])]
        counts += [f"{hit.sum()} correct", f"{(~hit).sum()} wrong"]
    left = ax.get_xlim()[0]
    for dot, median in zip(dots, expected, strict=True):
        x = dot.get_xdata()[0]
        if median > 2 * left:
            assert x == pytest.approx(median, rel=1e-3)
        else:
            assert left < x < 2 * left
    for written, wanted in zip(texts(ax), counts, strict=True):
        assert written.startswith(wanted)
    assert texts(ax)[0].endswith("100 % at the left end") == (quantity == "nonspecificity")


def test_heat_maps_count_every_instance(assay, grouped):
    for a, model in ((assay, "Members"), (grouped, "a")):
        n = a[model].n_runs * a.n_instances
        for ax in (
            figures.plot_width_nonspecificity(a, model, ax=blank()),
            figures.plot_confidence(a, model, ax=blank()),
            figures.plot_confidence(a, model, "epistemic-entropy", ax=blank()),
        ):
            assert ax.collections[0].get_array().sum() == n
    ax = figures.plot_confidence(assay, "Members", ax=blank())
    columns = assay["Members"].columns
    which = np.ceil(columns["confidence"][0] * 10).astype(int)
    wanted = [columns["nonspecificity"][0][which == b].mean() for b in np.unique(which)]
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), wanted)


def test_measures_that_are_not_there_are_refused(assay):
    with refuses("measures", "undefined", got="'upper-entropy' was not computed"):
        figures.plot_confidence(assay, "Members", "upper-entropy")
    with refuses("measures", "finite", got="epistemic-entropy of 'Masses' is nowhere finite"):
        figures.plot_confidence(assay, "Masses", "epistemic-entropy")
    with refuses("model", "type", got="got the baseline 'vacuous'"):
        figures.plot_width_nonspecificity(assay, "vacuous")
    with refuses("model", "choice"):
        figures.plot_set_sizes(assay, "nobody")
    with refuses("quantity", "choice"):
        figures.plot_by_correctness(assay, "accuracy")


def test_reliability_against_its_bins(assay):
    ax = figures.plot_reliability(assay, ["Members", "Masses"], n_bins=5, ax=blank())
    segments = [c for c in ax.collections if hasattr(c, "get_segments")]
    dots = [c for c in ax.collections if not hasattr(c, "get_segments")]
    for name, bars, marks in zip(("Members", "Masses"), segments, dots, strict=True):
        bins = assay.reliability(name, n_bins=5)
        filled = bins.count > 0
        np.testing.assert_allclose(marks.get_offsets(), np.c_[bins.confidence, bins.accuracy][filled])
        drawn = np.array([s[:, 1] for s in bars.get_segments()])
        np.testing.assert_allclose(drawn, np.c_[bins.low, bins.high][filled])
        assert np.argmax(marks.get_sizes()) == np.argmax(bins.count[filled])
    alone = figures.plot_reliability(assay, ["Members"], ax=blank())
    assert sum(int(t) for t in texts(alone)) == assay.n_instances
    with refuses("models", "empty"):
        figures.plot_reliability(assay, [])


def test_set_sizes_against_the_predictions(assay):
    rng = np.random.default_rng(5)
    prediction = {kind: random_prediction(kind, rng, 60, 4) for kind in KINDS}["Members"]
    rows = [7, 3, 50]
    ax = figures.plot_set_sizes(assay, "Members", rows=rows, ax=blank())
    bars = sorted(ax.patches, key=lambda p: p.get_x())
    labels = prediction.labels()
    for bar, row in zip(bars, rows, strict=True):
        low, high = (p[row, labels[row]] for p in (prediction.lower_probs(), prediction.upper_probs()))
        assert (bar.get_y(), bar.get_height()) == pytest.approx((low, high - low), abs=1e-6)
        assert bar.get_fill()
        hollow = colors.to_rgba(bar.get_facecolor())[3] == 0
        assert hollow == (labels[row] != assay.labels[row])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["7", "3", "50"]
    default = figures.plot_set_sizes(assay, "Members", ax=blank())
    assert len(default.patches) == 50
    with refuses("rows", "undefined", got="credal set of instance 60 was not kept"):
        figures.plot_set_sizes(assay, "Members", rows=[3, 60])


# -- does the uncertainty rank the mistakes ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["assay", "grouped"])
@pytest.mark.parametrize("metric", ["uq-auc", "uq-c-index", "aurc"])
def test_forest_rows_against_the_findings(name, metric, request):
    a = request.getfixturevalue(name)
    scores = ["total-entropy", "credal-width"]
    ax = figures.plot_mistake_ranking(a, metric=metric, scores=scores, ax=blank())
    found = {(r.model, r.score): r.estimate for r in a.mistake_ranking if r.run is None and r.metric == metric}
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
    from uqassay.report.mistakes import best_scores

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
    aurc = next(r.estimate for r in a.mistake_ranking if (r.run, r.score, r.metric) == (None, "total-entropy", "aurc"))
    assert legend_texts(ax)[0] == f"{a.model_names[0]}  AURC {figures.style.number(float(aurc))}"


@pytest.mark.parametrize(("name", "metric"), [("assay", "uq-auc"), ("grouped", "uq-c-index"), ("assay", "augrc")])
def test_matrix_of_tests_against_the_assay(name, metric, request):
    a = request.getfixturevalue(name)
    pairs = [(m, s) for m in a.model_names for s in ("total-entropy", "margin")]
    ax = figures.plot_ranking_comparisons(a, pairs, metric=metric, ax=blank())
    own = a.pairwise_uncertainties(pairs, metric=metric)
    j = len(pairs)
    shown = np.array(texts(ax)).reshape(j, j)
    for row, column in zip(*np.nonzero(~np.eye(j, dtype=bool)), strict=True):
        text, d, p = shown[row, column], own.difference[row, column], own.holm[row, column]
        if text == "same\norder":
            assert d == 0
            continue
        difference, test = text.split("\n")
        assert difference[0] == ("+" if d > 0 else "−")
        assert float(difference[1:]) == pytest.approx(abs(d), rel=0.5, abs=0.01)
        assert test == ("p < .001" if p < 0.001 else test)
        if p >= 0.001:
            assert float(test.removeprefix("p ")) == pytest.approx(p, abs=0.0051)
    sure = {(round(r.get_y() + 0.5), round(r.get_x() + 0.5)): colors.to_hex(r.get_facecolor()) for r in ax.patches}
    assert set(sure) == {(int(r), int(c)) for r, c in zip(*np.nonzero(own.reject(0.05)), strict=True)}
    sign = -1 if metric == "augrc" else 1
    for (row, column), face in sure.items():
        assert (face == "#0072b2") == (sign * own.difference[row, column] > 0)


def test_what_is_undefined_is_named_in_the_matrix():
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=60)
    models = {"right": uq.Point(0.7 * np.eye(3)[y] + 0.1), "a": uq.Point(rng.dirichlet(np.ones(3), 60))}
    models |= {"b": uq.Point(rng.dirichlet(np.ones(3), 60))}
    ax = figures.plot_ranking_comparisons(uq.assay(models, y, n_draws=20), "total-entropy", ax=blank())
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    assert "not compared: right (no errors)" in ax.get_title(loc="left").replace("\n", " ")


def test_rankings_that_are_not_there_are_refused(assay):
    with refuses("metric", "choice"):
        figures.plot_mistake_ranking(assay, metric="accuracy")
    with refuses("metric", "choice"):
        figures.plot_ranking_comparisons(assay, metric="accuracy")
    with pytest.raises(InputError, match=r"score: no model has it, only .*; got 'vote'"):
        figures.plot_risk_coverage(assay, "vote")
    with pytest.raises(InputError, match=r"score: 'Point' has .*; got 'epistemic-entropy'"):
        figures.plot_risk_coverage(assay, "epistemic-entropy", models=["Members", "Point"])
    with pytest.raises(InputError, match=r"score: 'Point' has .*; got 'credal-width'"):
        figures.plot_ranking_comparisons(assay, [("Point", "credal-width"), ("Members", "margin")])
    with refuses("models", "empty"):
        figures.plot_mistake_ranking(assay, models=[])
    with refuses("model", "type", got="got the baseline 'vacuous'"):
        figures.plot_mistake_ranking(assay, models=["vacuous"])


# -- everything at once -----------------------------------------------------------------------------------------------


def hostile(kind):
    """An assay that figures must survive."""
    rng = np.random.default_rng(11)
    n, k, floor, groups = 40, 3, None, None
    models = {"m": members(rng, n, k)}
    y = rng.integers(k, size=n)
    match kind:
        case "twelve models":
            models = {f"model {j}": members(rng, n, k, sharp=0.2 + 0.2 * j) for j in range(12)}
        case "two classes":
            y, models = y % 2, {"m": members(rng, n, 2), "p": uq.Point(rng.dirichlet([1, 1], n))}
        case "ten classes":
            models = {name: random_prediction(name, rng, n, 10) for name in ("Members", "Intervals", "Dirichlet")}
        case "one instance":
            y, models = y[:1], {"m": members(rng, 1, k), "p": uq.Point(rng.dirichlet(np.ones(k), 1))}
        case "constant values":
            y, models = np.zeros(n, dtype=int), {"m": uq.Point(np.full((n, 3), [0.5, 0.25, 0.25]))}
        case "perfect":
            models = {"m": uq.Point(np.eye(k)[y]), "v": uq.Intervals(np.zeros((n, k)), np.ones((n, k)))}
        case "infinite losses":
            floor, zero = 0.0, uq.Point(np.eye(k)[(y + (np.arange(n) % 5 == 0)) % k])
            models = {"infinite": zero, "m": members(rng, n, k)}
        case "all infinite":
            floor, models = 0.0, {"infinite": uq.Point(np.eye(k)[(y + 1) % k])}
        case "names":
            names = ("$x_1$", "_hidden", r"\alpha $", "two\nlines", "%s {0} \\", "n" * 90)
            models = {name: members(rng, n, k) for name in names}
        case "groups and runs":
            groups, models = np.arange(n) // 4, {"m": [members(rng, n, k) for _ in range(2)], "v": members(rng, n, k)}
        case "label distributions":
            y = rng.dirichlet(np.ones(k), n)
    return uq.assay(models, y, floor=floor, groups=groups, n_draws=20, tradeoffs=(0.5, 1.0))


HOSTILE = (
    *("one model", "twelve models", "two classes", "ten classes", "one instance", "constant values", "perfect"),
    *("infinite losses", "all infinite", "names", "groups and runs", "label distributions"),
)


@pytest.fixture(scope="module")
def hostile_assays():
    return {kind: hostile(kind) for kind in HOSTILE}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("figure", ASSAY_FIGURES)
def test_every_figure_survives_and_touches_its_axes_only(figure, kind, hostile_assays):
    from matplotlib import pyplot

    before, open_figures = dict(matplotlib.rcParams), pyplot.get_fignums()
    ax = blank()
    assert ASSAY_FIGURES[figure](hostile_assays[kind], ax=ax) is ax
    ax.figure.canvas.draw()  # warnings are errors here
    assert ax.figure.axes == [ax]
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == open_figures
    for text in ax.figure.findobj(matplotlib.text.Text):
        if not text.get_text().startswith("$\\mathdefault"):  # ticks of the logarithmic colour bar
            assert not cbook.is_math_text(text.get_text())


@pytest.mark.parametrize("figure", [*ASSAY_FIGURES, "simplex"])
def test_without_axes_one_pyplot_figure_is_made(figure, assay):
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    before = pyplot.get_fignums()
    ax = figures.plot_simplex([0.2, 0.3, 0.5]) if figure == "simplex" else ASSAY_FIGURES[figure](assay)
    try:
        assert len(pyplot.get_fignums()) == len(before) + 1
        assert pyplot.gca() is ax
        ax.figure.canvas.draw()
        room = ax.figure.bbox
        shown = ax.get_tightbbox()
        assert shown.x0 > room.x0 - 1  # nothing is cut off
        assert shown.x1 < room.x1 + 1
        assert shown.y0 > room.y0 - 1
        assert shown.y1 < room.y1 + 1
    finally:
        pyplot.close(ax.figure)


def test_hostile_names_are_shown_letter_by_letter(hostile_assays):
    ax = figures.plot_ranking(hostile_assays["names"], 0.5, ax=blank())
    shown = {t.get_text().removesuffix(" †").replace(r"\$", "$") for t in ax.get_yticklabels()}
    assert {"$x_1$", " _hidden", r"\alpha $", "two lines", "%s {0} \\"} <= shown
    assert any(t.startswith("nnn") and "…" in t and len(t) <= 32 for t in shown)
    legend = legend_texts(figures.plot_tradeoff(hostile_assays["names"], ax=blank()))
    assert len(legend) == 8


def test_a_model_has_one_colour_in_every_figure(assay):
    wanted = figures.model_colours(assay)["Members"].lower()
    tradeoff = figures.plot_tradeoff(assay, ax=blank()).lines[1].get_color()
    winning = figures.plot_winning_probability(assay, ax=blank()).collections[1].get_facecolor()
    row = [r.model for r in assay.ranked(1.0)].index("Members")
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
    looks = figures.style.looks(uq.assay({str(j): uq.Point([[0.5, 0.5]]) for j in range(20)}, [0], n_draws=2))
    assert len({(look.colour, look.marker) for look in looks.values()}) == 22


@pytest.mark.parametrize("tradeoffs", [[0.5], [], [-1.0, 1.0], [0.0, np.inf], [0.0, np.nan]])
def test_tradeoffs_that_make_no_axis_are_refused(assay, tradeoffs):
    for plot in (figures.plot_tradeoff, figures.plot_winning_probability):
        with pytest.raises(InputError, match="tradeoff"):
            plot(assay, tradeoffs=tradeoffs)


@pytest.mark.parametrize("plot", [figures.plot_ranking, figures.plot_distance_nonspecificity])
def test_a_negative_tradeoff_is_refused(assay, plot):
    with refuses("tradeoff", "finite", got="must be finite and at least 0"):
        plot(assay, -0.5)


def test_without_matplotlib_the_remedy_is_named(assay, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with refuses("matplotlib", "package", error=MissingDependencyError):
        figures.plot_reliability(assay)


def test_importing_the_figures_does_not_import_matplotlib():
    code = "import sys, uqassay.report.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_losses_of_one_power_of_ten_have_plain_ticks(hostile_assays):
    ax = figures.plot_by_correctness(hostile_assays["one instance"], ax=blank())
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.get_xticklabels() if t.get_text()]
    assert {"0.5", "1"} <= set(shown)
    nothing = figures.plot_by_correctness(hostile_assays["perfect"], ax=blank())
    assert nothing.get_xlabel() == "KL divergence (nats): 0 wherever it is finite"
