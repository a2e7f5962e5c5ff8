"""The table of error rates against the counts from which it is made."""

import numpy as np
from benchmarks.credal_error_rates import FURTHER, FURTHER_SOURCE, SHOWN, SOURCE, further_table, table
from tests.lab.papers.credal_calibration.made import SMALL, invented

from uqassay.lab.papers.credal_calibration.error_rates import ALPHAS, MEASURES, ErrorRates, Plan
from uqassay.lab.papers.credal_calibration.run import FIGURES
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS


def test_shares_of_errors_by_measure_and_scenario():
    n = 8
    rejected = {(s, m): np.zeros((n, len(ALPHAS)), dtype=bool) for s in SCENARIOS for m in MEASURES}
    rejected["S1", "skce-ul"][0, ALPHAS.index(0.1) :] = True  # one of eight, at .1 and above
    rejected["S3", "skce-ul"][:] = True
    pvalues = {key: np.ones(n) for key in rejected}
    made = table(ErrorRates(SMALL, pvalues, rejected, {}, 0.0))
    assert made.rows[0] == ["`skce-ul`", "0 / .125 / .125 / .125", "1 / 1 / 1 / 1", "0 / 0 / 0 / 0"]
    assert [row[0] for row in made.rows] == [f"`{measure}`" for measure in MEASURES]
    assert len(made.markdown()) == 2 + len(MEASURES) + 2
    assert made.text == ["8 data sets: the 95 % intervals reach at most .224 up and down."]  # Wilson at 1 of 8
    assert len(SOURCE.code()) == 64


def test_the_table_of_figure_1_counts_references_and_failed_searches():
    made = table(invented(50, Plan(FIGURES["1"])))
    assert " of the 48 references lie inside them. In 0 of the 200 minimisations of S1 " in made.text[0]


def test_further_settings_have_intervals_and_say_what_exceeds_the_level():
    always = invented(60, SMALL)
    always.rejected["S1", "ece-classwise"][:] = True
    made = further_table({"one": invented(60, SMALL), "two": always})
    assert [row[0] for row in made.rows] == ["one; 60 data sets", "", "", "", "two; 60 data sets", "", "", ""]
    assert made.rows[7][:4] == ["", "`ece-classwise`", "1 (.940 to 1.000)", "1 (.940 to 1.000)"]  # Wilson: 60 of 60
    assert made.text == ["In S1 these exceed α by more than chance (most clearly at): `ece-classwise` in two (.01)."]
    assert further_table({"one": invented(60, SMALL)}).text == ["In S1 nothing exceeds α."]
    assert made.columns[2:4] == tuple(f"S1, type I, α = {level:g}".replace("0.", ".") for level in SHOWN)
    assert len(made.markdown()) == 2 + 8 + 2
    assert [plan.setting for plan, _ in FURTHER.values()] == [FIGURES[n] for n in "23441"]
    assert FURTHER_SOURCE.function == SOURCE.function
