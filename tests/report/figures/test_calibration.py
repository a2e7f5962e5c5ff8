"""Figures of the calibration: diagrams, closer looks, the choice of mixtures, second-order tests."""

import dataclasses

import numpy as np
import pytest
from matplotlib import colors
from tests.calibration.second_order_worlds import Setting, draw
from tests.refusals import refuses
from tests.report.calibration_cases import ensembles, made_up, with_tests
from tests.report.figures.cases import blank, drawn

import uqassay as uq
from uqassay.calibration import second_order_test
from uqassay.evidence.calibration import adjusted_pvalues
from uqassay.notes import Note
from uqassay.report import figures
from uqassay.report.figures.calibration import all_tests, instances_tested, named_run, one_test
from uqassay.text import pvalue, pvalue_text

# -- The calibration tests of all models, drawn: numbers and words of the assay ----------------------------------------


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=300)


def one(assay, model, measure="kuiper-confidence"):
    return next(t for t in assay.calibration if (t.model, t.measure) == (model, measure))


@pytest.mark.parametrize("measure", ["kuiper-confidence", "ece-classwise"])
def test_rows_against_the_tests(assay, measure):
    ax = drawn(figures.plot_calibration_tests(assay, measure, ax=blank()))
    assert [t.get_text() for t in ax.get_yticklabels()] == list(assay.model_names)
    adjusted = dict(zip(map(id, assay.calibration), adjusted_pvalues(assay.calibration), strict=True))
    head, *cells = ax.texts
    assert head.get_text() == "p (adjusted)"
    for at, name in enumerate(assay.model_names):
        t = one(assay, name, measure)
        mine = [line for line in ax.lines if line.get_ydata()[0] == at]
        bar = next(line for line in mine if line.get_linewidth() == 6)
        np.testing.assert_allclose(bar.get_xdata(), [t.null.min(), np.quantile(t.null, 0.95)])
        hollow = [line for line in mine if line.get_markerfacecolor() == "white"]
        assert [line.get_xdata()[0] for line in hollow] == ([t.mean_value] if t.n_members > 1 else [])
        assert mine[-1].get_xdata()[0] == t.statistic
        assert colors.to_hex(mine[-1].get_color()) == figures.model_colours(assay)[name].lower()
        ticks = [x for line in mine if line.get_marker() == "|" for x in line.get_xdata()]
        assert ticks == t.member_values.tolist()
        assert cells[at].get_text() == pvalue(adjusted[id(t)])
        assert (cells[at].get_fontweight() == "bold") == (adjusted[id(t)] <= 0.05)
    legend = [t.get_text() for t in ax.get_legend().get_texts()]
    assert legend == ["95 % of the null draws", "best mixture", "model's mean", "single members"]
    assert "p by Holm over 8 tests" in ax.get_title(loc="left").replace("\n", " ")


def test_undefined_tests_are_named(assay):
    notes = (Note("undefined", "undefined here"),)
    t = made_up("ensemble", "hosmer-lemeshow", pvalue=float("nan"), statistic=float("nan"), notes=notes)
    ax = drawn(figures.plot_calibration_tests(with_tests(assay, t), ax=blank()))
    assert [x.get_text() for x in ax.texts] == ["undefined here", "p (adjusted)", pvalue(float("nan"))]


# -- One calibration test, drawn: its draws, weights and diagrams ------------------------------------------------------


@pytest.mark.parametrize("model", ["ensemble", "sharp", "point", "box"])
def test_null_draws_against_the_test(assay, model):
    t = one(assay, model)
    ax = drawn(figures.plot_calibration_null(assay, model, ax=blank()))
    coloured = colors.to_rgba(figures.model_colours(assay)[model])
    reached = sum(bar.get_height() for bar in ax.patches if bar.get_facecolor() == coloured)
    assert reached == (t.null >= t.statistic).sum()
    assert sum(bar.get_height() for bar in ax.patches) == len(t.null)
    assert ax.lines[0].get_xdata()[0] == t.statistic
    assert any(line.get_xdata()[0] == t.mean_value for line in ax.lines if line.get_linestyle() == "--") == (
        t.n_members > 1
    )
    assert pvalue_text(t.pvalue) in ax.get_title(loc="left").replace("\n", " ")


def test_weights_against_the_test(assay):
    t = one(assay, "ensemble", "ece-classwise")
    ax = drawn(figures.plot_ensemble_weights(assay, "ensemble", "ece-classwise", ax=blank()))
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], t.weights)
    assert ax.lines[0].get_ydata()[0] == pytest.approx(1 / 3)
    assert ax.get_xlabel() == "members"
    assert drawn(figures.plot_ensemble_weights(assay, "box", ax=blank())).get_xlabel() == "vertices"


def test_many_members_stand_by_their_weights(assay):
    weights = np.random.default_rng(0).dirichlet(np.full(100, 0.1))
    many = dataclasses.replace(one(assay, "ensemble"), weights=weights, n_members=100)
    ax = drawn(figures.plot_ensemble_weights(with_tests(assay, many), ax=blank()))
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], np.sort(weights)[::-1])
    assert ax.get_xlabel() == "members, the heaviest first"


def test_before_and_after_against_the_bins(assay):
    t = one(assay, "sharp")
    ax = drawn(figures.plot_calibration_before_after(assay, "sharp", ax=blank()))
    dots = [c for c in ax.collections if not hasattr(c, "get_segments")]
    bars = [c for c in ax.collections if hasattr(c, "get_segments")]
    for bins, marks, lines in zip((t.before, t.after), dots, bars, strict=True):
        filled = bins.count > 0
        np.testing.assert_allclose(marks.get_offsets()[:, 1], bins.accuracy[filled])
        np.testing.assert_allclose(marks.get_offsets()[:, 0], bins.confidence[filled], atol=0.01)
        ends = np.array([segment[:, 1] for segment in lines.get_segments()])
        np.testing.assert_allclose(ends, np.c_[bins.band_low, bins.band_high][filled])


@pytest.mark.parametrize("name", ["plot_ensemble_weights", "plot_calibration_before_after"])
def test_what_has_no_best_mixture_is_refused(name):
    a = uq.assay({"DE": uq.Members([[[0.9, 0.1], [0.4, 0.6]]])}, [0], n_draws=5, calibration=["skce-ul"])
    with refuses("measure", "missing", got=r"skce-ul of 'DE' has no best mixture \(the measure is undefined for these"):
        getattr(figures, name)(a, ax=blank())


def test_null_draws_without_a_finite_minimum_are_refused(assay):
    notes = (Note("undefined", "undefined here"),)
    t = made_up("ensemble", "hosmer-lemeshow", pvalue=float("nan"), statistic=float("nan"), notes=notes)
    with refuses("model", "finite", got=r"'ensemble' has none by hosmer-lemeshow \(undefined here\)"):
        figures.plot_calibration_null(with_tests(assay, t), ax=blank())


# -- Which calibration tests a figure shows, and how it names them -----------------------------------------------------


FIGURES = {
    "tests": figures.plot_calibration_tests,
    "null": figures.plot_calibration_null,
    "weights": figures.plot_ensemble_weights,
    "before and after": figures.plot_calibration_before_after,
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_stands_alone_and_says_what_was_tested(assay, name):
    from matplotlib import pyplot

    ax = FIGURES[name](assay)
    assert ax.figure.number in pyplot.get_fignums()
    drawn(ax)
    pyplot.close(ax.figure)


@pytest.mark.parametrize("name", FIGURES)
def test_hostile_names_and_runs(name):
    a = ensembles(n=60, names=("$\\frac{1", "_hidden", "two lines", "x" * 200))
    drawn(FIGURES[name](a, ax=blank()))
    runs = tuple(made_up("_hidden", "ece-confidence", pvalue=p, run=r) for r, p in enumerate((0.001, 0.5)))
    a = with_tests(a, *runs)
    ax = drawn(FIGURES[name](a, ax=blank()))
    labels = [t.get_text() for t in ax.get_yticklabels()] if name == "tests" else [ax.get_title(loc="left")]
    assert "_hidden, run 1" in labels[0]


def test_what_was_not_tested_is_refused(assay):
    with refuses("measure", "choice", got="got 'brier'"):
        figures.plot_calibration_tests(assay, "brier")
    with refuses("model", "choice"):
        figures.plot_calibration_null(assay, "nobody")
    with refuses("model", "type", got="got the baseline 'vacuous'"):
        figures.plot_calibration_tests(assay, models=["vacuous"])
    with refuses("models", "empty"):
        figures.plot_calibration_tests(assay, models=[])
    with refuses("model", "missing", got="its mean was tested"):
        figures.plot_ensemble_weights(assay, "point")
    with refuses("run", "choice", got="got 3"):
        figures.plot_calibration_before_after(assay, "ensemble", run=3)
    untested = uq.assay({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [0, 1], n_draws=10, calibration=())
    for plot in FIGURES.values():
        with refuses("assay", "missing"):
            plot(untested)


def test_choices_against_the_tests(assay):
    assert [t.model for t in all_tests(assay, "ece-classwise", None)] == list(assay.model_names)
    assert one_test(assay, None, None, 0) is assay.calibration[0]
    assert one_test(assay, "sharp", "ece-classwise", 0, mixed=True).model == "sharp"
    assert instances_tested(assay.calibration[0]) == "300 cases"
    part = made_up("ensemble", "ece-confidence", pvalue=0.5, n_tested=1, n_instances=2000)
    assert instances_tested(part) == "1 of 2,000 cases"
    assert named_run(assay, assay.calibration[0]) == "ensemble"


# -- Stated against observed epistemic variance: points, intervals and names are those of the tests --------------------


@pytest.fixture
def found():
    votes, stated, _ = draw(Setting("even", n=120, votes=5), np.random.default_rng(0))
    return second_order_test(votes, stated, buckets=6)


def points_of(ax, place=0):
    return ax.containers[place].lines[0].get_xydata()


def test_points_and_intervals_are_the_buckets(found):
    ax = drawn(figures.plot_second_order(found, ax=blank()))
    expected = np.column_stack([found.buckets.stated, [float(o) for o in found.buckets.observed]])
    np.testing.assert_allclose(points_of(ax), expected)
    bars = np.array(ax.containers[0].lines[2][0].get_segments())  # (B, 2, 2)
    np.testing.assert_allclose(bars[:, 0, 1], [o.low for o in found.buckets.observed])
    np.testing.assert_allclose(bars[:, 1, 1], [o.high for o in found.buckets.observed])
    assert pvalue_text(found.pvalue) in ax.get_title(loc="left")
    diagonal = ax.lines[-1].get_xydata()
    np.testing.assert_array_equal(diagonal[:, 0], diagonal[:, 1])


def test_several_models_have_a_legend(found):
    ax = drawn(figures.plot_second_order({"a": found, "$b$": found}, ax=blank()))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", r"\$b\$"]
    np.testing.assert_array_equal(points_of(ax, 0), points_of(ax, 1))


def test_buckets_without_intervals_are_drawn():
    found = second_order_test([[2, 0], [1, 2]], uq.Members([[[0.5, 0.5], [0.6, 0.4]], [[0.1, 0.9], [0.5, 0.5]]]))
    assert len(points_of(drawn(figures.plot_second_order(found, ax=blank())))) == 2
