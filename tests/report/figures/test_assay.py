"""Figures of an assay: rankings, sets of ranks, trade-offs, the plane, confidence, instances, mistakes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import colors
from matplotlib.figure import Figure
from matplotlib.path import Path
from tests.kinds import random_prediction
from tests.refusals import refuses
from tests.report.figures.cases import HOSTILE, KINDS, band, blank, drawn, hostile, legend_texts, members, texts

import uqassay as uq
from uqassay.credal import box_vertices, permutation_vertices
from uqassay.errors import InputError
from uqassay.report import figures
from uqassay.report.figures.assay import cut_outline, possible_means
from uqassay.report.figures.frame import PLOT, columns_width, fitting_columns, looks, plain, write_columns
from uqassay.report.figures.sets import CORNERS
from uqassay.report.sections import mean_regions
from uqassay.text import pvalue_text, rank_range, share_of_draws, significant

# -- At one λ: the ranking, and how it depends on the members ----------------------------------------------------------


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


# -- Rank sets as bars, and the top group along λ, against the numbers of the assay ------------------------------------


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


# -- Along λ: lines, bands, winners and shares of resamples are those of the assay -------------------------------------


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
    dotted = [line.get_xdata()[0] for line in figures.plot_win_shares(a, ax=blank()).lines[::2]]
    np.testing.assert_allclose(dotted, [low for low, _, _ in winners[1:]])


def test_default_axis_reaches_past_a_near_breakpoint(cifar10):
    models = {"three": uq.Members(cifar10["three"]), "average": uq.Point(cifar10["de_avg"])}
    a = uq.assay(models, cifar10["labels"], n_draws=20, measures=(), calibration=())
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
    ax = figures.plot_win_shares(a, tradeoffs=grid[::-1], ax=blank())
    shares = a.win_shares(grid)
    for j, area in enumerate(ax.collections):
        x, low, high = band(area)
        np.testing.assert_allclose(x, grid)
        np.testing.assert_allclose(high - low, shares[:, j], atol=1e-12)
    np.testing.assert_allclose(band(ax.collections[-1])[2], 1.0)
    assert ("runs" in ax.get_title(loc="left")) == (name == "grouped")


def test_losers_share_one_legend_entry():
    good, bad = np.full((50, 2), [0.99, 0.01]), np.full((50, 2), [0.01, 0.99])
    models = {"good": uq.Point(good), "bad": uq.Point(bad), "worse": uq.Point(bad)}
    ax = figures.plot_win_shares(uq.assay(models, np.zeros(50, dtype=int), n_draws=50), ax=blank())
    assert legend_texts(ax) == ["good", "2 others: below 0.5 %"]


@pytest.mark.parametrize("tradeoffs", [[0.5], [], [-1.0, 1.0], [0.0, np.inf], [0.0, np.nan]])
def test_tradeoffs_that_make_no_axis_are_refused(assay, tradeoffs):
    for plot in (figures.plot_tradeoff, figures.plot_win_shares):
        with pytest.raises(InputError) as refused:
            plot(assay, tradeoffs=tradeoffs)
        assert refused.value.parameter in ("tradeoff", "tradeoffs")


# -- Distance against non-specificity: points, regions within what is possible, and lines of equal E -------------------


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
        ends = possible_means(a)
        cut = (abs(patch.get_xy()[:, :, None] - ends) < 1e-9).any(axis=(1, 2))
        away = patch.get_xy()[~cut if h_ns > 0 else ...] - [ns, d]
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


def test_regions_end_where_a_mean_is_impossible():
    """Of an ellipse that reaches below 0, exactly the part in the possible range is drawn."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=8)
    p = np.where(np.eye(3)[y] > 0, 0.98, 0.01)
    p[0] = np.roll(p[0], 1)
    half = np.where(np.arange(8) == 2, 0.02, 0.0)[:, None]
    a = uq.assay({"m": uq.Intervals(np.maximum(p - half, 0), np.minimum(p + half, 1))}, y, n_draws=20)
    region = mean_regions(a)["all"][0]
    h_d, h_ns = region["half_widths"]
    assert region["distance"][0] < h_d  # the ellipse reaches below 0
    assert region["nonspecificity"][0] < h_ns
    drawn = Path(figures.plot_distance_nonspecificity(a, ax=blank()).patches[0].get_xy())
    assert drawn.vertices.min() >= 0.0
    shape = np.linalg.inv([[h_ns**2, region["covariance"]], [region["covariance"], h_d**2]])
    centre = np.array([region["nonspecificity"][0], region["distance"][0]])
    at = rng.uniform(-1.2, 1.2, (5000, 2)) * [h_ns, h_d] + centre
    within = np.einsum("pi,ij,pj->p", at - centre, shape, at - centre) < 0.97
    outside = np.einsum("pi,ij,pj->p", at - centre, shape, at - centre) > 1.03
    found, possible = drawn.contains_points(at), (at > 0).all(axis=1)
    assert found[within & possible].all()
    assert not found[outside | (at < 0).any(axis=1)].any()
    assert (within & ~possible).any()


def test_a_polygon_cut_at_a_line():
    square = np.array([[0.0, 2.0, 2.0, 0.0], [0.0, 0.0, 2.0, 2.0]])
    left = cut_outline(square, 0, 1.0, -1.0)
    assert left.max(axis=1).tolist() == [1.0, 2.0]
    assert left.min(axis=1).tolist() == [0.0, 0.0]
    assert cut_outline(square, 1, 5.0, -1.0) is square
    assert cut_outline(square, 1, np.inf, -1.0) is square


def test_possible_means_of_distances_and_measures():
    models, y = {"m": uq.Members(np.full((6, 2, 4), 0.25))}, [0, 1, 2, 3, 0, 1]
    np.testing.assert_allclose(possible_means(uq.assay(models, y)), [[0.0, np.log(4)], [0.0, np.inf]])
    bounded = uq.assay(models, y, distance="js", nonspecificity="korner")
    np.testing.assert_allclose(possible_means(bounded), [[1.0, 4.0], [0.0, np.log(2)]])


def test_baselines_outside_the_axes_are_named():
    title = figures.plot_distance_nonspecificity(hostile("twelve models"), ax=blank()).get_title(loc="left")
    assert "outside, (NS, d): vacuous (1.10, 0.00)" in title.replace("\n", " ")


# -- What goes with confidence: every instance is counted --------------------------------------------------------------


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
        np.testing.assert_allclose(drawn, np.c_[bins.band_low, bins.band_high][filled])
        assert np.argmax(marks.get_sizes()) == np.argmax(bins.count[filled])
    alone = figures.plot_reliability(assay, ["Members"], ax=blank())
    assert sum(int(t) for t in texts(alone)) == assay.n_instances
    with refuses("models", "empty"):
        figures.plot_reliability(assay, [])


# -- What the means hide: spreads by correctness, and the sizes of single sets -----------------------------------------


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


def test_losses_of_one_power_of_ten_have_plain_ticks():
    ax = figures.plot_by_correctness(hostile("one instance"), ax=blank())
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.get_xticklabels() if t.get_text()]
    assert {"0.5", "1"} <= set(shown)
    nothing = figures.plot_by_correctness(hostile("perfect"), ax=blank())
    assert nothing.get_xlabel() == "KL divergence (nats): 0 wherever it is finite"


# -- One credal set in the triangle: polygons against brute force, the label, the projection, what cannot be drawn -----


def shares_of(xy):
    """Barycentric coordinates of points in the triangle."""
    top = xy[:, 1] / CORNERS[2, 1]
    return np.c_[1 - xy[:, 0] - top / 2, xy[:, 0] - top / 2, top]


def polygon(ax):
    """Corners of the set drawn, (V, 3)."""
    return shares_of(ax.patches[0].get_xy()[:-1])


def same_hull(a, b):
    """Whether two sets of points have the same convex hull, by its extent in many directions."""
    turn = np.linspace(0, 2 * np.pi, 181)
    directions = np.stack([np.cos(turn), np.sin(turn)])
    np.testing.assert_allclose(
        (a @ CORNERS @ directions).max(axis=0), (b @ CORNERS @ directions).max(axis=0), atol=1e-9
    )


def given_three(vertices, classes):
    three = vertices[:, classes]
    three = three[three.sum(axis=1) > 1e-12]
    return three / three.sum(axis=1, keepdims=True)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 6))
def test_simplex_polygons_against_brute_force(seed, k):
    rng = np.random.default_rng(seed)
    classes = rng.permutation(k)[:3].tolist()
    intervals = random_prediction("Intervals", rng, 2, k)
    lower, upper = intervals.bounds()
    vertices, counts = box_vertices(lower, upper)
    drawn = polygon(figures.plot_simplex(intervals, 1, classes=classes, ax=blank()))
    same_hull(drawn, given_three(vertices[1, : counts[1]], classes))
    masses = random_prediction("Masses", rng, 2, k)
    drawn = polygon(figures.plot_simplex(masses, -1, classes=classes, ax=blank()))
    same_hull(drawn, given_three(permutation_vertices(masses.masses[1:], masses.focal_sets)[0], classes))
    ensemble = random_prediction("Members", rng, 2, k, 7)
    ax = figures.plot_simplex(ensemble, 1, classes=classes, ax=blank())
    same_hull(polygon(ax), given_three(ensemble.probs[1], classes))
    dots = next(line for line in ax.lines if line.get_marker() == ".")
    np.testing.assert_allclose(shares_of(dots.get_xydata()), given_three(ensemble.probs[1], classes), atol=1e-12)


def test_simplex_outline_has_no_corner_inside_and_keeps_the_mean():
    points = np.array(
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2], [0.45, 0.45, 0.1], [0.8, 0.1, 0.1]]
    )
    ax = figures.plot_simplex(points, ax=blank())
    assert len(ax.patches[0].get_xy()) == 4  # three corners, closed
    assert {tuple(p) for p in polygon(ax).round(9)} == {tuple(p) for p in points[:3]}
    mean = next(line for line in ax.lines if line.get_marker() == "D")
    np.testing.assert_allclose(shares_of(mean.get_xydata())[0], points[:-1].mean(axis=0))  # the last repeats the first


def test_simplex_takes_the_label_among_its_corners():
    p = uq.Point([[0.5, 0.3, 0.15, 0.05]], class_names=["cat", "dog", "frog", "ship"])
    assert texts(figures.plot_simplex(p, ax=blank())) == ["cat", "dog", "frog"]
    ax = figures.plot_simplex(p, label="ship", ax=blank())
    assert texts(ax) == ["cat", "dog", "ship (label)"]
    star = next(line for line in ax.lines if line.get_marker() == "*")
    np.testing.assert_allclose(star.get_xydata(), CORNERS[[2]])
    assert "0.850" in ax.get_title(loc="left")  # what the three have of the probability
    ax = figures.plot_simplex(p, classes=["d", 0, 2], names=["a", "b", "c", "d"], ax=blank())
    assert texts(ax) == ["d", "a", "c"]
    np.testing.assert_allclose(shares_of(ax.lines[-1].get_xydata()), [[0.05 / 0.7, 0.5 / 0.7, 0.15 / 0.7]])


def test_simplex_of_two_classes_is_a_line():
    ax = figures.plot_simplex(uq.Intervals([[0.1, 0.2]], [[0.6, 0.9]]), label=1, ax=blank())
    np.testing.assert_allclose(np.unique(ax.patches[0].get_xy().round(9), axis=0), [[0.4, 0.0], [0.9, 0.0]])
    assert texts(ax) == ["0", "1 (label)"]


def test_simplex_says_which_points_it_cannot_show():
    points = [[0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
    ax = figures.plot_simplex(points, classes=[0, 1, 2], ax=blank())
    assert "1 not shown: 0 for these classes" in ax.get_title(loc="left")
    with refuses("classes", "range"):
        figures.plot_simplex([[0.0, 0.0, 0.0, 1.0]], classes=[0, 1, 2])


def test_simplex_draws_of_a_dirichlet_are_those_of_its_row():
    d = uq.Dirichlet(np.random.default_rng(0).gamma(2.0, size=(6, 3)), n_draws=20)
    ax = figures.plot_simplex(d, 4, ax=blank())
    dots = next(line for line in ax.lines if line.get_marker() == ".")
    np.testing.assert_allclose(shares_of(dots.get_xydata()), d.hull_points()[4], atol=1e-12)
    assert "20 draws" in [t.get_text() for t in ax.get_legend().get_texts()]


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"row": 5}, "row", "range", "got 5"),
        ({"label": "lion"}, "label", "choice", "lion"),
        ({"label": 9}, "label", "choice", "got 9"),
        ({"classes": [0, 1]}, "classes", "mismatch", r"\[0, 1\]"),
        ({"classes": [0, 1, 1]}, "classes", "mismatch", r"\[0, 1, 1\]"),
        ({"names": ["a"]}, "names", "mismatch", "got 1"),
    ],
)
def test_simplex_refuses(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        figures.plot_simplex(random_prediction("Members", np.random.default_rng(0), 2, 4), **options)


def test_simplex_refuses_masses_that_are_no_belief_function():
    signed = uq.Masses.from_beliefs([[0.9, 0.9, 1.0]], [[0], [1], [0, 1, 2]], n_classes=3)
    with refuses("beliefs", "not-belief-functions"):
        figures.plot_simplex(signed)


@pytest.mark.parametrize("kind", ["Point", "Members", "Dirichlet", "Intervals", "Masses", "Vertices", "GaussianLogits"])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_simplex_of_every_kind_holds_its_mean(kind, k):
    masses = kind == "Masses" and k == 10
    p = (
        uq.Masses(np.full((3, 2), 0.5), [[0, 4], range(10)], n_classes=10)
        if masses
        else random_prediction(kind, np.random.default_rng(3), 3, k)
    )
    ax = figures.plot_simplex(p, 2, label=1, names=["$a$", *map(str, range(1, k))], ax=blank())
    ax.figure.canvas.draw()  # warnings are errors here
    mean = next(line for line in ax.lines if line.get_marker() == "D").get_xydata()[0]
    if kind == "Point":
        assert not ax.patches
        return
    outline = ax.patches[0].get_xy()
    turn = np.linspace(0, 2 * np.pi, 61)
    directions = np.stack([np.cos(turn), np.sin(turn)])
    assert (mean @ directions <= (outline @ directions).max(axis=0) + 1e-9).all()


@pytest.mark.parametrize(("meaning", "words"), [("aleatoric", "2 passes"), ("epistemic", "100 draws")])
def test_the_points_of_gaussian_logits_are_named_by_their_meaning(meaning, words):
    mean = np.array([[[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]])
    ax = figures.plot_simplex(uq.GaussianLogits(mean, np.ones_like(mean), variance_is=meaning), ax=blank())
    assert words in [text.get_text() for text in ax.get_legend().get_texts()]


# -- Does the uncertainty rank the mistakes: forests and curves are those of the assay ---------------------------------


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


# -- The matrix of paired tests is that of the assay -------------------------------------------------------------------


@pytest.mark.parametrize(("name", "metric"), [("assay", "uq-auc"), ("grouped", "uq-c-index"), ("assay", "augrc")])
def test_matrix_of_tests_against_the_assay(name, metric, request):
    a = request.getfixturevalue(name)
    pairs = [(m, s) for m in a.model_names for s in ("total-entropy", "margin")]
    ax = figures.plot_ranking_comparisons(a, pairs, metric=metric, ax=blank())
    own = a.pairwise_uncertainties(pairs, metric=metric)
    j = len(pairs)
    shown = np.array(texts(ax)).reshape(j, j)
    for row, column in zip(*np.nonzero(~np.eye(j, dtype=bool)), strict=True):
        text, d, p = shown[row, column], own.difference[row, column], own.adjusted[row, column]
        if text == "same\norder":
            assert d == 0
            continue
        difference, test = text.split("\n")
        assert difference.lstrip("<>")[0] == ("+" if d > 0 and difference[0] != "<" else "−" if d < 0 else "0")
        assert float(difference.lstrip("<>+−")) == pytest.approx(abs(d), rel=0.5, abs=0.01)
        assert test == pvalue_text(p)
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


# -- Expected cost against the price: lines, bands and names are those of the curves -----------------------------------


SCORES = np.random.default_rng(0).random(200)
CURVE = uq.metrics.expected_cost_curve(SCORES > 0.85, SCORES, prices=[0.2, 0.05, 0.1])


def test_a_line_between_the_lines_of_two_simple_rules():
    ax = drawn(figures.plot_expected_cost(CURVE, ax=blank()))
    cost, kept, passed = ax.lines
    assert cost.get_xdata().tolist() == [0.05, 0.1, 0.2]
    assert cost.get_ydata() == pytest.approx([float(CURVE.costs[k]) for k in (1, 2, 0)])
    assert set(kept.get_ydata()) == {float(CURVE.keep_all)}
    assert passed.get_ydata().tolist() == [0.0, 0.2]
    assert len(ax.collections) == 1
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["refusing by the score", "keep every case", "pass every case on"]


def test_several_models_have_their_names():
    ax = drawn(figures.plot_expected_cost({"a": CURVE, "$b$": CURVE}, ax=blank()))
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["a", r"\$b\$"]
    assert len(ax.lines) == 5
    with refuses("costs", "empty"):
        figures.plot_expected_cost({}, ax=blank())


# -- Columns of numbers next to a figure: the more important ones first, each with its head ----------------------------


COLUMNS = [("mean", "0.512 [0.480, 0.544]", "0.1"), ("won", "12 %", ""), ("p", ".04", "1.00")]


def test_columns_that_leave_the_axes_their_room():
    whole = columns_width(COLUMNS)
    assert fitting_columns(COLUMNS, PLOT + whole + 0.1, first=(2, 0, 1)) == COLUMNS
    assert fitting_columns(COLUMNS, PLOT + columns_width(COLUMNS[1:]) + 0.1, first=(2, 0, 1)) == COLUMNS[1:]
    assert fitting_columns(COLUMNS, PLOT + columns_width(COLUMNS[2:]) + 0.1, first=(2, 0, 1)) == COLUMNS[2:]
    assert fitting_columns(COLUMNS, PLOT, first=(2, 0, 1)) == []


def test_cells_stand_in_their_rows_and_columns():
    figure = Figure(dpi=100)
    ax = figure.subplots()
    ax.set_ylim(1.5, -0.5)
    write_columns(ax, COLUMNS, [0, 1], top=-0.5, bold=[False, True])
    found = [(t.get_text(), t.xy[1], t.get_fontweight()) for t in ax.texts]
    assert ("mean", -0.5, "bold") in found
    assert (".04", 0, "normal") in found
    assert ("1.00", 1, "bold") in found
    assert len(found) == 8  # an empty cell is not drawn
    places = {t.get_text(): t.xyann[0] for t in ax.texts}
    assert places["mean"] < places["won"] < places["p"] == places[".04"]
