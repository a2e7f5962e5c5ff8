"""Figures of the gain: they draw the numbers of the result."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.evidence.gain_data import made_study
from tests.refusals import refuses

from uqassay.report.figures import plot_delay_curve, plot_epistemic_map, plot_gain_by_uncertainty


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def study():
    return made_study("calibrated", "a $m$ <b>", n_runs=3, n=300, truth=True)


def words(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_gain_by_uncertainty_draws_means_and_bands(ax, study):
    result = study.result(bins=8)
    assert plot_gain_by_uncertainty(result, ax=ax) is ax
    drawn = {tuple(np.round(line.get_ydata(), 9)) for line in ax.lines}
    for name in ("gain", "calibrated", "epistemic", "true"):
        assert tuple(np.round(getattr(result.bins, name).mean, 9)) in drawn
    assert len(ax.collections) == 4
    bands = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert bands.max() == pytest.approx(np.nanmax(result.bins.gain.high))
    assert words(ax) == ["mean gain", "mapped estimate", "true epistemic uncertainty", "estimate"]


def test_standard_deviations_as_in_the_paper(ax, study):
    result = study.result(bins=8)
    plot_gain_by_uncertainty(result, ax=ax, band="sd", legend=False)
    bands = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert bands.max() == pytest.approx(np.max(result.bins.gain.mean + result.bins.gain.sd))
    assert words(ax) == []


def test_estimates_that_would_flatten_the_gain_are_told_not_drawn(ax, study):
    large = made_study("large", n_runs=1, n=200)
    result = large.result("entropy", bins=5)
    plot_gain_by_uncertainty(result, ax=ax)
    assert ("estimate" in words(ax)) == (result.bins.epistemic.mean.max() <= 4 * np.abs(result.bins.gain.mean).max())
    other = Figure().subplots()
    plot_gain_by_uncertainty(result, ax=other, estimates=False)
    assert words(other)[-1].startswith("estimate not drawn: mean 0.")
    with refuses("band", "choice", got="'se'"):
        plot_gain_by_uncertainty(result, ax=ax, band="se")


def test_one_interval_and_one_run(ax):
    result = made_study("constant", n_runs=1, n=50).result()
    plot_gain_by_uncertainty(result, ax=ax)
    plot_delay_curve(result, ax=Figure().subplots())
    plot_epistemic_map(result, ax=Figure().subplots())
    assert result.bins.n_bins == 1


def test_delay_curves_of_several_results(ax, study):
    other = made_study("shuffled", "other", n_runs=1, n=200).result()
    results = [*study.results(), other]
    plot_delay_curve(results, ax=ax)
    drawn = {tuple(np.round(line.get_ydata(), 9)) for line in ax.lines}
    for one in results:
        assert tuple(np.round(one.delay.gained.mean, 9)) in drawn
        assert tuple(np.round(one.delay.random.mean, 9)) in drawn
    assert words(ax) == [
        *(r"a \$m\$ <b>, mutual-information", r"a \$m\$ <b>, entropy", "other, mutual-information"),
        "random choice",
    ]
    with refuses("results", "mismatch", got="none"):
        plot_delay_curve([], ax=ax)


def test_the_map_of_every_run(ax, study):
    result = study.result()
    plot_epistemic_map(result, ax=ax)
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, result.runs[0].gain_map.transform(x))
    np.testing.assert_allclose(ax.lines[3].get_ydata(), np.mean([line.get_ydata() for line in ax.lines[:3]], axis=0))
    with refuses("result", "missing"):
        plot_epistemic_map(made_study(n_runs=1, n=30, calibration=False).result(cross_fit=0), ax=ax)


@pytest.mark.parametrize("n_runs", [1, 2])
def test_maps_of_folds_and_of_all_instances(ax, n_runs):
    result = made_study(n_runs=n_runs, n=100, calibration=False).result(bins=4, cross_fit=3)
    plot_epistemic_map(result, ax=ax)
    x, y = ax.lines[1].get_data()
    np.testing.assert_allclose(y, result.runs[0].cross_fit.fold_maps[1].transform(x))
    whole = np.mean([run.gain_map.transform(x) for run in result.runs], axis=0)
    np.testing.assert_allclose(ax.lines[3 * n_runs].get_ydata(), whole)
    name = "map γ of all instances" if n_runs == 1 else "mean"
    assert words(ax)[:2] == ["map γ without one fold", name]


def test_without_axes_a_figure_is_made(study):
    import matplotlib.pyplot as plt

    for width, inches in (("column", 3.3), ("text", 6.8)):
        ax = plot_delay_curve(study.result(), width=width)
        assert ax.figure.get_size_inches()[0] == inches
        plt.close(ax.figure)
