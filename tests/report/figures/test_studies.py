"""Figures of studies: the gain, the disentanglement, comparisons over many data sets."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats
from tests.evidence.disentanglement_data import NOISE, SHARES, made_study
from tests.evidence.gain_data import made_study as gain_study
from tests.evidence.test_disentanglement import BY, family_study
from tests.refusals import refuses
from tests.report.figures.cases import band, blank, legend_texts, texts
from tests.statistics import printed_comparisons as printed

from uqassay.evidence import compare_table
from uqassay.evidence.disentanglement import disentanglement_behaviour
from uqassay.evidence.disentanglement_runs import Contender, rank_disentanglement
from uqassay.metrics import epistemic_trend_test, estimate_correlations
from uqassay.metrics.disentanglement import expected_absolute_correlation
from uqassay.report import figures
from uqassay.report.figures import plot_delay_curve, plot_epistemic_map, plot_gain_by_uncertainty
from uqassay.report.figures.assay import BAR
from uqassay.report.figures.studies import (
    LOOKS,
    MOST_CLASSES,
    draw_disentanglement_grid,
    plot_disentanglement_curves,
    plot_disentanglement_ranking,
    plot_disentanglement_terms,
    plot_doubt_sources,
    plot_epistemic_trend,
    plot_estimate_correlations,
    plot_expected_behaviour,
    plot_left_out_classes,
    shown_classes,
)

# -- Figures of the gain: they draw the numbers of the result ----------------------------------------------------------


@pytest.fixture
def constrained():
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def study():
    return gain_study("calibrated", "a $m$ <b>", n_runs=3, n=300, truth=True)


def words(constrained):
    legend = constrained.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_gain_by_uncertainty_draws_means_and_bands(constrained, study):
    result = study.result(bins=8)
    assert plot_gain_by_uncertainty(result, ax=constrained) is constrained
    drawn = {tuple(np.round(line.get_ydata(), 9)) for line in constrained.lines}
    for name in ("gain", "calibrated", "epistemic", "true"):
        assert tuple(np.round(getattr(result.bins, name).mean, 9)) in drawn
    assert len(constrained.collections) == 4
    bands = constrained.collections[0].get_paths()[0].vertices[:, 1]
    assert bands.max() == pytest.approx(np.nanmax(result.bins.gain.high))
    assert words(constrained) == ["mean gain", "mapped estimate", "true epistemic uncertainty", "estimate"]


def test_standard_deviations_as_in_the_paper(constrained, study):
    result = study.result(bins=8)
    plot_gain_by_uncertainty(result, ax=constrained, band="sd", legend=False)
    bands = constrained.collections[0].get_paths()[0].vertices[:, 1]
    assert bands.max() == pytest.approx(np.max(result.bins.gain.mean + result.bins.gain.sd))
    assert words(constrained) == []


def test_estimates_that_would_flatten_the_gain_are_told_not_drawn(constrained, study):
    large = gain_study("large", n_runs=1, n=200)
    result = large.result("entropy", bins=5)
    plot_gain_by_uncertainty(result, ax=constrained)
    assert ("estimate" in words(constrained)) == (
        result.bins.epistemic.mean.max() <= 4 * np.abs(result.bins.gain.mean).max()
    )
    other = Figure().subplots()
    plot_gain_by_uncertainty(result, ax=other, estimates=False)
    assert words(other)[-1].startswith("estimate not drawn: mean 0.")
    with refuses("band", "choice", got="'se'"):
        plot_gain_by_uncertainty(result, ax=constrained, band="se")


def test_one_interval_and_one_run(constrained):
    result = gain_study("constant", n_runs=1, n=50).result()
    plot_gain_by_uncertainty(result, ax=constrained)
    plot_delay_curve(result, ax=Figure().subplots())
    plot_epistemic_map(result, ax=Figure().subplots())
    assert result.bins.n_bins == 1


def test_delay_curves_of_several_results(constrained, study):
    other = gain_study("shuffled", "other", n_runs=1, n=200).result()
    results = [*study.results(), other]
    plot_delay_curve(results, ax=constrained)
    drawn = {tuple(np.round(line.get_ydata(), 9)) for line in constrained.lines}
    for one in results:
        assert tuple(np.round(one.delay.gained.mean, 9)) in drawn
        assert tuple(np.round(one.delay.random.mean, 9)) in drawn
    assert words(constrained) == [
        *(r"a \$m\$ <b>, mutual-information", r"a \$m\$ <b>, entropy", "other, mutual-information"),
        "random choice",
    ]
    with refuses("results", "mismatch", got="none"):
        plot_delay_curve([], ax=constrained)


def test_the_map_of_every_run(constrained, study):
    result = study.result()
    plot_epistemic_map(result, ax=constrained)
    x, y = constrained.lines[0].get_data()
    np.testing.assert_allclose(y, result.runs[0].gain_map.transform(x))
    np.testing.assert_allclose(
        constrained.lines[3].get_ydata(), np.mean([line.get_ydata() for line in constrained.lines[:3]], axis=0)
    )
    with refuses("result", "missing"):
        plot_epistemic_map(gain_study(n_runs=1, n=30, calibration=False).result(cross_fit=0), ax=constrained)


@pytest.mark.parametrize("n_runs", [1, 2])
def test_maps_of_folds_and_of_all_instances(constrained, n_runs):
    result = gain_study(n_runs=n_runs, n=100, calibration=False).result(bins=4, cross_fit=3)
    plot_epistemic_map(result, ax=constrained)
    x, y = constrained.lines[1].get_data()
    np.testing.assert_allclose(y, result.runs[0].cross_fit.fold_maps[1].transform(x))
    whole = np.mean([run.gain_map.transform(x) for run in result.runs], axis=0)
    np.testing.assert_allclose(constrained.lines[3 * n_runs].get_ydata(), whole)
    name = "map γ of all cases" if n_runs == 1 else "mean"
    assert words(constrained)[:2] == ["map γ without one fold", name]


def test_without_axes_a_figure_is_made(study):
    import matplotlib.pyplot as plt

    for width, inches in (("column", 3.3), ("text", 6.8)):
        constrained = plot_delay_curve(study.result(), width=width)
        assert constrained.figure.get_size_inches()[0] == inches
        plt.close(constrained.figure)


# -- Curves of the disentanglement benchmark against the numbers of the study ------------------------------------------


IT = "information-theoretic"


def contender(kind, **options):
    return Contender(kind, made_study(kind, jitter=0.03, **options), IT)


def lines(ax):
    """Full lines by their kind, dashed ones by theirs with a hyphen."""
    names = {look.colour: kind for kind, look in LOOKS.items()}
    return {("-" if line.get_linestyle() == "--" else "") + names[line.get_color()]: line for line in ax.lines}


def right_axes(ax):
    return next(other for other in ax.figure.axes if other is not ax)


@pytest.mark.parametrize(("experiment", "conditions"), [("dataset-size", SHARES), ("label-noise", NOISE)])
def test_lines_and_bands_are_means_and_t_intervals(experiment, conditions):
    one = contender("perfect")
    ax = plot_disentanglement_curves(one, experiment, ax=blank(), level=0.9)
    curves = one.study.experiment(experiment).curves(IT)
    drawn = {**lines(ax), **lines(right_axes(ax))}
    for kind in LOOKS:
        values = getattr(curves, kind)
        np.testing.assert_allclose(drawn[kind].get_xdata(), conditions)
        np.testing.assert_allclose(drawn[kind].get_ydata(), values.mean(axis=0))
    x, low, high = band(ax.collections[0])
    expected = [stats.t.interval(0.9, 4, loc=v.mean(), scale=stats.sem(v)) for v in curves.aleatoric.T]
    np.testing.assert_allclose(x, conditions)
    np.testing.assert_allclose(np.c_[low, high], expected)


@pytest.mark.parametrize(("experiment", "target"), [("dataset-size", "epistemic"), ("label-noise", "aleatoric")])
@pytest.mark.parametrize("kind", ["perfect", "reversed", "constant", "swapped"])
def test_expected_curves_are_ideal(experiment, target, kind):
    """The dashed target has r = 1 with its observed mean, the other one does not move, whatever the study does."""
    one = contender(kind)
    ax = plot_disentanglement_curves(one, experiment, ax=blank())
    drawn, accuracy = lines(ax), lines(right_axes(ax))["accuracy"].get_ydata()
    other = "aleatoric" if target == "epistemic" else "epistemic"
    assert np.corrcoef(-drawn[f"-{target}"].get_ydata(), accuracy)[0, 1] == pytest.approx(1)
    assert np.ptp(drawn[f"-{other}"].get_ydata()) == 0
    for name in (target, other):
        assert drawn[f"-{name}"].get_ydata().mean() == pytest.approx(drawn[name].get_ydata().mean())


def test_axes_start_at_zero_and_accuracy_has_a_right_axis():
    ax = plot_disentanglement_curves(contender("together"), "dataset-size", ax=blank())
    assert ax.get_ylim()[0] == 0
    assert right_axes(ax).get_ylabel() == "accuracy"
    assert ax.get_xscale() == "log"
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels[0] == "100 %"
    assert "1 %" in labels


def test_expected_behaviour_can_be_left_out():
    ax = plot_disentanglement_curves(contender("perfect"), "label-noise", ax=blank(), expected=False, legend=False)
    assert not [name for name in lines(ax) if name.startswith("-")]
    assert ax.get_legend() is None


def test_one_run_has_no_bands_and_the_legend_says_so():
    ax = plot_disentanglement_curves(contender("perfect", n_runs=1), "label-noise", ax=blank())
    _, low, high = band(ax.collections[0])
    np.testing.assert_array_equal(low, high)
    assert any("1 run" in text for text in legend_texts(ax))


def test_grid_has_a_panel_for_each_contender():
    figure = Figure(layout="constrained")
    grid = [[contender("perfect"), None], [contender("jitter"), contender("swapped")]]
    draw_disentanglement_grid(figure, grid, "dataset-size")
    shown = [ax for ax in figure.axes if ax.axison and ax.lines]
    assert len(shown) == 2 * 3
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    assert titles == ["made up", "made up"]
    left = [ax for ax in shown if ax.get_ylabel().startswith(IT)]
    assert len(left) == 2
    assert len(figure.legends) == 1


@pytest.mark.parametrize("experiment", ["dataset-size", "label-noise", "left-out-class"])
def test_expected_behaviour_as_a_drawing(experiment):
    ax = plot_expected_behaviour(experiment, ax=blank())
    drawn = lines(ax) if experiment != "left-out-class" else {}
    if experiment == "dataset-size":
        assert (np.diff(drawn["epistemic"].get_ydata()) < 0).all()
        assert np.ptp(drawn["aleatoric"].get_ydata()) == 0
    elif experiment == "label-noise":
        assert (np.diff(drawn["aleatoric"].get_ydata()) > 0).all()
        assert np.ptp(drawn["epistemic"].get_ydata()) == 0
    else:
        assert [label.get_text() for label in ax.get_yticklabels()] == ["aleatoric", "epistemic"]


def test_unknown_experiments_are_refused():
    with refuses("experiment", "choice", got="left-out-class"):
        plot_disentanglement_curves(contender("perfect"), "left-out-class", ax=blank())
    with refuses("experiment", "choice"):
        plot_expected_behaviour("size", ax=blank())


def test_bands_of_two_runs_stay_among_the_possible_values():
    one = Contender("a", made_study("perfect", n_runs=2, n=9, jitter=0.5), IT)
    ax = plot_disentanglement_curves(one, "label-noise", ax=blank(), legend=False)
    for axes, highest in ((ax, np.inf), (right_axes(ax), 1.0)):
        for collection in axes.collections:
            ends = np.concatenate([path.vertices[:, 1] for path in collection.get_paths()])
            assert ends.max() <= highest
    accuracy = np.concatenate([path.vertices[:, 1] for c in right_axes(ax).collections for path in c.get_paths()])
    assert accuracy.min() >= 0


# -- Terms, ranking and left-out classes as pictures, against the numbers ----------------------------------------------


def named_contender(kind, label="", **options):
    return Contender(label or kind, made_study(kind, **options), IT)


def test_bars_are_the_deviations():
    one = named_contender("perfect")
    ax = plot_disentanglement_terms(one, ax=blank())
    terms = one.disentanglement().terms
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([float(term.deviation) for term in terms])
    spans = [tuple(line.get_xdata()) for line in ax.lines if line.get_linestyle() == "-"]
    np.testing.assert_allclose(spans, [(term.deviation.low, term.deviation.high) for term in terms])
    dotted = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert dotted == pytest.approx([expected_absolute_correlation(7), expected_absolute_correlation(11)])
    assert len([text for text in texts(ax) if text.startswith("r = ")]) == 4


def test_bars_of_one_run_have_no_intervals():
    ax = plot_disentanglement_terms(named_contender("jitter", n_runs=1), ax=blank())
    assert not [line for line in ax.lines if line.get_linestyle() == "-"]


def test_ranking_against_the_rows():
    rows = rank_disentanglement(
        [
            named_contender("jitter", seed=1),
            named_contender("perfect", seed=2),
            named_contender("constant"),
        ]
    )
    ax = plot_disentanglement_ranking(rows, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["perfect", "constant", "jitter"]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in points] == pytest.approx([float(row.found.error) for row in rows])
    filled = [line.get_markerfacecolor() == line.get_color() for line in points]
    assert filled == [not row.told_apart() for row in rows]
    found = rows[0].found
    lines = {line.get_xdata()[0] for line in ax.lines if line.get_linestyle() in (":", "-.", "--")}
    assert lines == {found.floor, found.together, found.chance}
    assert {"floor", "chance"} <= set(texts(ax))


def test_ranking_leaves_out_contenders_without_an_error():
    rows = rank_disentanglement(
        [
            named_contender("jitter", without=("label-noise",)),
            named_contender("perfect"),
        ]
    )
    ax = plot_disentanglement_ranking(rows, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["perfect"]


def test_ranking_refuses_nothing_and_several_data_sets():
    none = rank_disentanglement([named_contender("jitter", without=("label-noise",))])
    with refuses("ranked", "empty"):
        plot_disentanglement_ranking(none, ax=blank())
    two = rank_disentanglement([named_contender("jitter"), named_contender("perfect", dataset="other")])
    with refuses("ranked", "mismatch", got="2 data sets"):
        plot_disentanglement_ranking(two, ax=blank())


def test_left_out_classes_against_the_study():
    one = named_contender("perfect")
    ax = plot_left_out_classes(one, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["mean", "setosa", "versicolor", "virginica"]
    found = one.study.detection(IT)
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() in ("o", "s")]
    expected = [
        value
        for kind in ("aleatoric", "epistemic")
        for value in (getattr(found, f"{kind}_mean"), *(found.of_class(k, kind) for k in range(3)))
    ]
    assert points == pytest.approx([float(value) for value in expected])


def test_of_many_classes_the_extremes_are_shown():
    one = named_contender("perfect", names=tuple(f"class {k}" for k in range(30)), n_runs=2)
    shown = shown_classes(one)
    means = one.study.detection(IT).epistemic.mean(axis=0)
    hidden = [k for k in range(30) if k not in shown]
    assert len(shown) == MOST_CLASSES
    assert min(means[list(shown)]) == min(means)
    assert max(means[list(shown)]) == max(means)
    middle = np.sort(means)[MOST_CLASSES // 2 : -(MOST_CLASSES // 2)]
    np.testing.assert_array_equal(np.sort(means[hidden]), middle)
    ax = plot_left_out_classes(one, ax=blank())
    assert len(ax.get_yticklabels()) == MOST_CLASSES + 1


def test_names_with_markup_are_plain():
    rows = rank_disentanglement(
        [
            named_contender("perfect", "$x_1$"),
            named_contender("jitter", "_hidden", seed=1),
        ]
    )
    ax = plot_disentanglement_ranking(rows, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"\$x_1\$", " _hidden"]


# -- Figures of correlations, trend and sources of doubt: the numbers drawn are those of the results -------------------


@pytest.fixture(scope="module")
def behaviour():
    return disentanglement_behaviour(family_study(("seed", "few-data"), n_runs=4, n=60), BY)


def test_correlations_are_written_into_the_cells(behaviour, constrained):
    plot_estimate_correlations(behaviour.correlations, ax=constrained)
    written = np.array([text.get_text() for text in constrained.texts]).reshape(3, 3)
    assert written.tolist() == [[f"{v:.2f}" for v in row] for row in behaviour.correlations.matrix]
    assert [label.get_text() for label in constrained.get_yticklabels()] == list(behaviour.correlations.names)
    np.testing.assert_allclose(constrained.images[0].get_array(), behaviour.correlations.matrix)
    constrained.figure.canvas.draw()


def test_constant_estimates_have_a_cross_and_names_are_plain(constrained):
    found = estimate_correlations({"$a$": [1.0, 2.0, 3.0], "flat": [1.0, 1.0, 1.0]})
    plot_estimate_correlations(found, ax=constrained)
    assert [text.get_text() for text in constrained.texts] == ["1.00", "×", "×", "×"]
    assert constrained.get_yticklabels()[0].get_text() == r"\$a\$"


def test_many_estimates_have_colours_alone(constrained):
    rng = np.random.default_rng(1)
    plot_estimate_correlations(estimate_correlations({f"e{i}": rng.random((2, 9)) for i in range(24)}), ax=constrained)
    assert len(constrained.texts) == 0


def test_trend_draws_runs_bands_and_steps_that_rise(constrained):
    values = np.random.default_rng(2).random((3, 4, 20))
    values[:, 2] += 0.5
    found = epistemic_trend_test(values, [0.1, 0.25, 0.5, 1.0])
    plot_epistemic_trend(found, ax=constrained)
    lines = [line.get_ydata() for line in constrained.lines]
    np.testing.assert_allclose(lines[:3], found.means)
    np.testing.assert_allclose(lines[3], found.means.mean(axis=0))
    assert len(lines) == 4 + len(found.holes)
    assert len(found.holes) >= 1
    assert [label.get_text() for label in constrained.get_xticklabels()] == [
        "10 %",
        "25 %",
        "50 %",
        "100 %",
    ]
    assert len(constrained.collections) == 2


def test_sources_are_drawn_where_they_are_defined(behaviour, constrained):
    plot_doubt_sources(behaviour.doubts, ax=constrained)
    drawn = {bars.get_label(): bars[0].get_ydata() for bars in constrained.containers}
    assert [len(values) for values in drawn.values()] == [4, 3, 4]
    assert drawn["seed"][0] == float(behaviour.doubts.at(0.1, "seed").correlation)
    constrained.figure.canvas.draw()


def test_sources_that_are_absent_stay_in_the_legend(constrained):
    found = disentanglement_behaviour(family_study(("seed",), n_runs=4, n=30, shares=(0.1, 0.25)), BY)
    plot_doubt_sources(found.doubts, ax=constrained)
    assert [text.get_text() for text in constrained.get_legend().get_texts()][:2] == [
        "seed: –",
        "few data: –",
    ]


# -- Average ranks and bars against the numbers of the comparison ------------------------------------------------------


@pytest.fixture(scope="module")
def c45():
    return compare_table(printed.AUC, models=printed.MODELS, greater_is_better=True, label="AUC")


def bars(ax):
    """Ranks of the dots of each bar, and the place of the bar."""
    found = []
    for line in ax.lines:
        if line.get_color() == BAR and line.get_marker() == "o":
            found.append((np.round(line.get_xdata(), 2).tolist(), line.get_ydata()[0]))
    return found


def test_names_ranks_and_bars_against_the_comparison(c45):
    ax = figures.plot_critical_difference(c45, ax=blank())
    assert texts(ax)[:4] == ["C4.5+m+cf  1.93", "C4.5+m  2.00", "2.93  C4.5+cf", "3.14  C4.5"]
    assert "average rank by AUC over 14 data sets" in texts(ax)[4]
    stems = [line.get_xdata()[0] for line in ax.lines if line.get_color() == "black"]
    assert stems == pytest.approx(sorted(c45.average_ranks))
    assert [at for at, _ in bars(ax)] == [[1.93, 2.0, 2.93], [1.93, 2.93, 3.14]]
    assert bars(ax)[0][1] < bars(ax)[1][1]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "3", "4"]


def test_nemenyi_joins_by_its_critical_difference(c45):
    ax = figures.plot_critical_difference(c45, test="nemenyi", ax=blank())
    assert [at for at, _ in bars(ax)] == [[1.93, 2.0, 2.93, 3.14]]
    assert "CD 1.25" in texts(ax)
    (scale,) = [line for line in ax.lines if line.get_marker() == "|"]
    assert scale.get_xdata() == pytest.approx([1, 1 + c45.critical_difference])


def test_bars_that_do_not_touch_share_a_line():
    values = np.random.default_rng(0).normal(size=(30, 4)) * 0.1 + [0, 0, 5, 5]
    found = compare_table(values, greater_is_better=False)
    assert len(found.groups()) == 2
    (_, first), (_, second) = bars(figures.plot_critical_difference(found, ax=blank()))
    assert first == second


@pytest.mark.parametrize("test", ["signed-rank", "nemenyi"])
def test_two_models_equal_models_and_formulas_in_names(test):
    apart = compare_table([[0.9, 0.1]] * 9, models=["$a$", "_b"], greater_is_better=True)
    ax = figures.plot_critical_difference(apart, test=test, ax=blank())
    assert bars(ax) == []
    assert any(r"\$a\$" in text for text in texts(ax))
    equal = compare_table(np.ones((3, 5)), greater_is_better=True)
    assert bars(figures.plot_critical_difference(equal, test=test, ax=blank()))[0][0] == [3.0] * 5


def test_another_test_is_refused(c45):
    with refuses("test", "choice"):
        figures.plot_critical_difference(c45, test="friedman", ax=blank())
