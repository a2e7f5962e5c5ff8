"""Tables of the reproduction: rows, averages, comparison with the printed numbers, conventions, text."""

import numpy as np
import pytest
from scipy import stats
from tests.evidence.disentanglement_data import made_study
from tests.lab.papers.disentangling.made import a_row as judged
from tests.refusals import refuses

from uqassay.evidence.disentanglement_runs import Contender
from uqassay.lab.papers.disentangling.figures import PAPER_FIGURES, curve_grid, write_disentanglement_figures
from uqassay.lab.papers.disentangling.tables import convention_lines, mean_of_datasets, table_cells, table_lines
from uqassay.lab.papers.reproduction import further_runs
from uqassay.text import interval

IT = "information-theoretic"


# ---- rows ------------------------------------------------------------------------------------------------------------


def test_rows_hold_the_study_and_the_printed_numbers():
    one = judged()
    cells = {cell.name: cell for cell in table_cells([one])}
    found = one.study.error(IT)
    error = cells["table2/wine/MC-Dropout/IT"]
    assert (error.paper, error.ours) == (0.645, float(found.error))
    assert (error.low, error.high) == further_runs(found.per_run, 5)
    ours = cells["table2/wine/MC-Dropout/IT/interval"]
    assert (ours.low, ours.high, ours.agrees) == (found.error.low, found.error.high, None)
    assert cells["table2/wine/MC-Dropout/IT/ci95"].ours == pytest.approx(2 * np.std(found.per_run) / 5)
    assert cells["table2/wine/MC-Dropout/IT/ci95"].paper == 0.041
    printed = {
        "table3/{}/aleatoric": -0.875,
        "table3/{}/epistemic": 0.728,
        "table4/{}/aleatoric": 0.943,
        "table4/{}/epistemic": -0.873,
    }
    for k, (name, paper) in enumerate(printed.items()):
        cell, pooled = (cells[name.format("wine/MC-Dropout/IT") + end] for end in ("", "/pooled"))
        assert (cell.paper, cell.ours) == (paper, float(found.terms[k].correlation))
        assert (cell.agrees, cell.low) == (None, found.terms[k].correlation.low)
        assert (pooled.paper, pooled.ours) == (paper, found.pooled.correlations[k])
        assert pooled.low <= pooled.ours <= pooled.high
    detection = one.study.detection(IT)
    assert cells["table5/wine/MC-Dropout/IT/aleatoric"].ours == float(detection.aleatoric_mean)
    assert cells["table5/wine/MC-Dropout/IT/epistemic"].paper == 0.670
    assert not any(name.startswith("table1/") for name in cells)


def test_a_printed_value_agrees_if_further_runs_may_give_it():
    cells = {cell.name: cell for cell in table_cells([judged()])}
    error = cells["table2/wine/MC-Dropout/IT"]  # a good disentangler is far from the paper's 0.645
    assert error.agrees is False
    assert error.note == "outside the range of 5 further runs, from our 4 runs"
    assert cells["table3/wine/MC-Dropout/IT/epistemic/pooled"].agrees is False
    assert all(
        cell.agrees == (cell.low <= cell.paper <= cell.high) for cell in cells.values() if cell.agrees is not None
    )


def test_range_of_pooled_correlations_against_a_loop():
    one = judged()
    curves = one.study.experiment("label-noise").curves(IT)
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(2000):
        runs = rng.integers(curves.n_runs, size=5)
        drawn.append(np.corrcoef(curves.accuracy[runs].mean(axis=0), -curves.epistemic[runs].mean(axis=0))[0, 1])
    low, high = one.values["table4", "epistemic"].pooled_range
    assert low == pytest.approx(np.quantile(drawn, 0.025), abs=0.1)
    assert high == pytest.approx(np.quantile(drawn, 0.975), abs=0.1)
    assert np.isnan(judged(compared=False).values["table4", "epistemic"].pooled_range).all()


def test_nothing_is_compared_on_a_slice_or_on_other_data():
    assert all(cell.agrees is None for cell in table_cells([judged(compared=False)]))
    cells = table_cells([judged("digits", printed_as="")])
    assert all(cell.agrees is None and np.isnan(cell.paper) for cell in cells)
    assert all(np.isfinite(cell.ours) for cell in cells)


def test_one_run_has_no_interval_for_the_error():
    cell = table_cells([judged(runs=1)])[0]
    assert np.isnan(cell.low)
    assert cell.agrees is None


def test_table_1_is_cifar_10():
    cells = {cell.name: cell for cell in table_cells([judged("cifar-10")])}
    assert cells["table1/cifar-10/MC-Dropout/IT/epistemic"].paper == 0.649
    assert (
        cells["table1/cifar-10/MC-Dropout/IT/epistemic"].ours == cells["table5/cifar-10/MC-Dropout/IT/epistemic"].ours
    )


def test_experiments_that_were_not_run_have_no_rows():
    cells = table_cells([judged(classes=False)])
    assert {cell.name.split("/")[0] for cell in cells} == {"table2", "table3", "table4"}


# ---- averages --------------------------------------------------------------------------------------------------------

FOUR = ("cifar-10", "fashion-mnist", "wine", "bci")


def test_averages_over_all_four_data_sets_are_compared():
    rows = [judged(name, seed=k, runs=9 if name == "bci" else 5) for k, name in enumerate(FOUR)]
    cells = {cell.name: cell for cell in table_cells(rows)}
    average = cells["table2/average/MC-Dropout/IT"]
    assert average.paper == 0.460
    assert average.agrees is False
    assert average.ours == pytest.approx(np.mean([float(one.study.error(IT).error) for one in rows]))
    absolute = cells["table3/average/MC-Dropout/IT/aleatoric"]  # by absolute values, as in the caption
    per_run = [np.abs(one.study.error(IT).terms[0].per_run) for one in rows]
    assert absolute.ours == pytest.approx(np.mean([runs.mean() for runs in per_run]))
    plain = cells["table4/average/MC-Dropout/IT/aleatoric"]
    assert plain.ours == pytest.approx(np.mean([one.study.error(IT).terms[2].per_run.mean() for one in rows]))


def test_averages_over_some_data_sets_are_shown_and_not_compared():
    cells = {cell.name: cell for cell in table_cells([judged("wine"), judged("cifar-10", seed=1)])}
    average = cells["table5/average/MC-Dropout/IT/epistemic"]
    assert (average.agrees, average.note, average.paper) == (None, "over wine and cifar-10 only", 0.649)
    assert "table2/average/MC-Dropout/IT" not in {cell.name for cell in table_cells([judged("wine")])}
    other = [judged("wine"), judged("digits", printed_as="")]
    assert not any("average" in cell.name for cell in table_cells(other))


def test_the_interval_of_two_data_sets_against_welch():
    """For two data sets the mean's interval has the half-width of half of Welch's for their difference."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.4, 0.1, 5), rng.normal(0.6, 0.3, 9)
    mean, low, high = mean_of_datasets([a, b])
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert mean == pytest.approx((a.mean() + b.mean()) / 2)
    assert high - low == pytest.approx((welch.high - welch.low) / 2)
    assert mean_of_datasets([a])[1:] == pytest.approx(stats.t.interval(0.95, 4, a.mean(), stats.sem(a)))


def test_coverage_of_the_interval_over_data_sets():
    """The docstring of `mean_of_datasets` states this figure."""
    rng = np.random.default_rng(0)
    sds, runs = (0.02, 0.05, 0.1, 0.15), (5, 5, 5, 9)
    n = 3000
    hits = sum(
        low <= 0.5 <= high
        for low, high in (
            mean_of_datasets([rng.normal(0.5, sd, r) for sd, r in zip(sds, runs, strict=True)])[1:] for _ in range(n)
        )
    )
    assert hits / n == pytest.approx(0.954, abs=0.012)


def test_odd_runs_of_data_sets():
    mean, low, high = mean_of_datasets([np.array([0.5]), np.array([0.1, 0.3])])
    assert (mean, np.isnan(low), np.isnan(high)) == (pytest.approx(0.35), True, True)
    assert mean_of_datasets([np.array([0.5, 0.5])] * 2) == (0.5, 0.5, 0.5)


# -- Figures of the paper: which files, which panels.


PNG = b"\x89PNG"


def contender(method, decomposition, **options):
    study = made_study("perfect", method, decomposition=decomposition, n_runs=2, n=30, **options)
    return Contender(f"{method}, {decomposition}", study, decomposition)


def test_rows_are_decompositions_and_columns_methods():
    field = [contender(m, d) for m in ("dropout", "ensemble") for d in ("variance", "zero-one")]
    field.append(contender("flipout", "variance"))
    grid = curve_grid(field, "dataset-size")
    labels = [[one and one.label for one in row] for row in grid]
    assert labels == [
        ["dropout, variance", "ensemble, variance", "flipout, variance"],
        ["dropout, zero-one", "ensemble, zero-one", None],
    ]
    assert curve_grid([contender("a", "variance", without=("dataset-size",))], "dataset-size") == []


def test_the_first_of_two_alike_is_drawn():
    first, second = contender("dropout", "variance"), contender("dropout", "variance", seed=1)
    assert curve_grid([first, second], "label-noise") == [[first]]


@pytest.mark.parametrize(("dataset", "numbers"), [("Wine", (9, 12)), ("cifar-10", (2, 4))])
def test_files_of_the_papers_data_sets_have_its_numbers(tmp_path, dataset, numbers):
    written = write_disentanglement_figures(tmp_path / "new", [contender("dropout", "variance", dataset=dataset)])
    assert [path.name for path in written] == [f"disentanglement_figure{n}.png" for n in (1, *numbers)]
    assert all(path.read_bytes().startswith(PNG) for path in written)


def test_files_of_other_data_sets_have_their_names(tmp_path):
    field = [contender("dropout", "variance", dataset="my data/1", without=("dataset-size",))]
    written = write_disentanglement_figures(tmp_path, field)
    assert [path.name for path in written] == [
        "disentanglement_figure1.png",
        "disentanglement_my_data_1_label-noise.png",
    ]


def test_every_figure_of_curves_has_a_number():
    assert sorted(PAPER_FIGURES.values()) == [2, 4, *range(8, 14)]


# -- tables of the reproduction as text, and the table of conventions ---------------------------------------------------


def test_text_has_every_table_and_the_printed_numbers():
    text = "\n".join(table_lines([judged()]))
    for part in (
        "IT – MC-Dropout",
        "0.645 ± 0.041",
        "pooled",
        "−0.875",
        "ROC-AUC",
        "0.943",
        "± as authors",
        "mean over all classes",
    ):
        assert part in text
    assert "printed (pooled)" not in "\n".join(table_lines([judged("digits", printed_as="")]))
    assert "ROC-AUC" not in "\n".join(table_lines([judged(classes=False)]))


def test_text_of_several_data_sets_is_refused():
    with refuses("judged", "mismatch", got="got several"):
        table_lines([judged("wine"), judged("digits")])


def test_conventions_stand_in_one_table_with_paired_differences():
    exact, other = judged(), judged(gap=2.0, convention="ten-levels")
    lines = convention_lines([exact, other], {"ten-levels": "ten levels"})
    difference = other.study.error(IT).per_run - exact.study.error(IT).per_run
    low, high = stats.t.interval(0.95, 3, difference.mean(), stats.sem(difference))
    assert lines[0] == "ten-levels: ten levels"
    assert "IT – MC-Dropout" in lines[-1]
    assert f"{difference.mean():.3f}" in lines[-1]
    assert interval(low, high) in lines[-1]
    assert convention_lines([exact], {}) == []
    assert "table2/wine/MC-Dropout/IT/ten-levels" in {cell.name for cell in table_cells([exact, other])}
