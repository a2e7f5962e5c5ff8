"""Which calibration tests a figure shows, and how it names them."""

import pytest
from tests.refusals import refuses
from tests.report.calibration_cases import ensembles, made_up, with_tests
from tests.report.figures.cases import blank, drawn

import uqassay as uq
from uqassay.report import figures
from uqassay.report.figures.calibration import all_tests, instances_tested, named_run, one_test


@pytest.fixture(scope="module")
def assay():
    return ensembles(n=300)


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
    assert instances_tested(assay.calibration[0]) == "300 instances"
    part = made_up("ensemble", "ece-confidence", pvalue=0.5, n_tested=1, n_instances=2000)
    assert instances_tested(part) == "1 of 2,000 instances"
    assert named_run(assay, assay.calibration[0]) == "ensemble"
