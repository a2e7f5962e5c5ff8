"""One calibration test, drawn: its draws, weights and diagrams."""

import dataclasses

import numpy as np
import pytest
from matplotlib import colors
from tests.refusals import refuses
from tests.report.calibration_cases import ensembles, made_up, with_tests
from tests.report.figures.cases import blank, drawn

import uqassay as uq
from uqassay.notes import Note
from uqassay.report import figures
from uqassay.text import pvalue_text


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=300)


def one(assay, model, measure="kuiper-confidence"):
    return next(t for t in assay.calibration if (t.model, t.measure) == (model, measure))


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
