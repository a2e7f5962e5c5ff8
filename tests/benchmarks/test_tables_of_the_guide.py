"""Tables of the guide against what they are made of: error rates of Figure 1, printed numbers beside ours."""

import numpy as np
from benchmarks.measured.reproduction import disentanglement_printed, ranking_misprints, unified_misprints
from tests.lab.papers.credal_calibration.made import SMALL, invented

from benchmarks import credal_error_rates
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration.error_rates import ALPHAS, MEASURES, ErrorRates, Plan
from uqassay.lab.papers.credal_calibration.run import FIGURES
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS

# -- The table of error rates against the counts from which it is made -------------------------------------------------


def test_shares_of_errors_by_measure_and_scenario():
    n = 8
    rejected = {(s, m): np.zeros((n, len(ALPHAS)), dtype=bool) for s in SCENARIOS for m in MEASURES}
    rejected["S1", "skce-ul"][0, ALPHAS.index(0.1) :] = True  # one of eight, at .1 and above
    rejected["S3", "skce-ul"][:] = True
    pvalues = {key: np.ones(n) for key in rejected}
    made = credal_error_rates.table(ErrorRates(SMALL, pvalues, rejected, {}, 0.0))
    assert made.rows[0] == ["`skce-ul`", "0 / .125 / .125 / .125", "1 / 1 / 1 / 1", "0 / 0 / 0 / 0"]
    assert [row[0] for row in made.rows] == [f"`{measure}`" for measure in MEASURES]
    assert len(made.markdown()) == 2 + len(MEASURES) + 2
    assert made.text == ["8 data sets: the 95 % intervals reach at most .224 up and down."]  # Wilson at 1 of 8


def test_the_table_of_figure_1_counts_references_and_failed_searches():
    made = credal_error_rates.table(invented(50, Plan(FIGURES["1"])))
    assert " of the 48 references lie inside them. In 0 of the 200 minimisations of S1 " in made.text[0]


# -- Tables of printed numbers beside ours on the page of the reproductions --------------------------------------------


def test_every_misprint_stands_in_a_table():
    rows = unified_misprints().rows
    result = reproduce("unified-tables")
    lines = [cell for cell in result.misprints if cell.name.startswith("table5")]
    parts = [cell for cell in result.misprints if cell.name.startswith("table7")]
    assert len(rows) == len(result.misprints) - len(lines) - len(parts) + 2
    assert rows[1][:3] == ["Table 2, λ = 0.2, RS-NN, e", "0.309", "0.400 (0.399 to 0.401)"]
    assert rows[-2][1] == "0.250, 0.392, 0.681, 1.810, 2.280"  # unified evaluation, Table 5, JS at λ = 1
    assert rows[-1][1] == f"{len(parts)} cells"
    for cell in parts:
        assert cell.name.split("/")[2] in rows[-1][0]


def test_printed_correlations_stand_beside_those_that_fit():
    rows = ranking_misprints().rows
    assert [row[1] for row in rows] == ["94.30", "53.99", "−0.04", "23.47", "53.75"]
    assert rows[2][2] == "−3.93 (−3.94 to −3.91)"


def test_every_table_on_disentanglement_is_counted():
    rows = disentanglement_printed().rows
    assert [row[:3] for row in rows] == [
        ["1", "16", "0"], ["2", "80", "18"], ["3", "80", "0"], ["4", "80", "0"], ["5", "80", "0"]
    ]  # fmt: skip
