"""The table of error rates against the counts from which it is made."""

import numpy as np
from benchmarks.credal_error_rates import SOURCE, table
from tests.experiments.credal_calibration.made import SMALL

from uqassay.experiments.credal_calibration.runs import ALPHAS, MEASURES, ErrorRates
from uqassay.experiments.credal_calibration.scenarios import SCENARIOS


def test_shares_of_errors_by_measure_and_scenario():
    n = 8
    rejected = {(s, m): np.zeros((n, len(ALPHAS)), dtype=bool) for s in SCENARIOS for m in MEASURES}
    rejected["S1", "skce-ul"][0, ALPHAS.index(0.1) :] = True  # one of eight, at .1 and above
    rejected["S3", "skce-ul"][:] = True
    pvalues = {key: np.ones(n) for key in rejected}
    made = table(ErrorRates(SMALL, pvalues, rejected, {}, 0.0))
    assert made.rows[0] == ["`skce-ul`", "0 / .125 / .125 / .125", "1 / 1 / 1 / 1", "0 / 0 / 0 / 0"]
    assert [row[0] for row in made.rows] == [f"`{measure}`" for measure in MEASURES]
    assert len(made.markdown()) == 2 + len(MEASURES)
    assert len(SOURCE.code()) == 64
