"""Along λ: lines, bands, winners and shares of resamples are those of the assay."""

import numpy as np
import pytest
from matplotlib import colors
from tests.report.figures.cases import band, blank, legend_texts, members, texts

import uqassay as uq
from uqassay.errors import InputError
from uqassay.report import figures


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
