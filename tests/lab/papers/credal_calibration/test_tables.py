"""Cells and text of error rates."""

import numpy as np
from tests.lab.papers.credal_calibration.made import invented

from uqassay.lab.papers.credal_calibration.error_rates import (
    ALPHAS,
    MEASURES,
    PRINTED_ALGORITHM,
    SHOWN,
    Plan,
    error_cells,
    read_rates,
    reference,
)
from uqassay.lab.papers.credal_calibration.protocol import FIGURES
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS


def test_cells_have_rates_and_intervals():
    rates = invented(400, Plan(FIGURES["1"]))
    cells = {cell.name: cell for cell in error_cells("1", rates)}
    assert len(cells) == len(SCENARIOS) * len(MEASURES) * len(ALPHAS)
    for alpha in (0.05, 0.5):
        cell = cells[f"figure1/exact/S1/ece-confidence/alpha={alpha:g}"]
        assert cell.ours == (rates.pvalues["S1", "ece-confidence"] <= alpha).mean()
        assert cell.low < cell.ours < cell.high
        assert (cell.agrees, np.isnan(cell.paper)) == (None, True)
    assert cells["figure1/exact/S2/skce-ul/alpha=0.05"].ours == 0.0
    assert cells["figure1/exact/S3/skce-ul/alpha=0.05"].ours == 1.0
    assert cells["figure1/exact/S2/skce-ul/alpha=0.05"].note == "reference 0.99, outside our interval"
    assert cells["figure1/exact/S1/skce-ul/alpha=0.25"].note == ""


def test_references_belong_to_their_settings():
    plan = Plan(FIGURES["1"])
    assert reference(invented(2, plan), "S2", "ece-confidence", 0.05) == 0.30
    for other in (
        Plan(FIGURES["2"]),
        Plan(FIGURES["1"], null="minimised", resample=False),
        Plan(FIGURES["1"], resample=False),
    ):
        assert np.isnan(reference(invented(2, other), "S2", "ece-confidence", 0.05))
    code = invented(2, Plan(FIGURES["1"], convention="paper-code", resample=False))
    assert [reference(code, "S1", "skce-ul", alpha) for alpha in SHOWN] == [0.128, 0.205, 0.412, 0.978]
    assert np.isnan(reference(code, "S1", "ece-confidence", 0.05))
    assert set(PRINTED_ALGORITHM) == {(s, m) for s in SCENARIOS for m in MEASURES}


def test_the_reading_says_what_exceeds_the_level():
    rates = invented(300, Plan(FIGURES["2"]))
    assert "In S1 no measure exceeds α by more than chance" in "\n".join(read_rates("2", [rates]))
    rates.rejected["S1", "skce-ul"][:, ALPHAS.index(0.05)] = np.arange(300) % 5 == 0
    text = "\n".join(read_rates("2", [rates]))
    assert "exceed α by more than chance: skce-ul (most clearly at α = 0.05: .200" in text
    assert "K = 10, u = 0.1; D = 100, random null, instances resampled." in text
    assert "no evidence" in read_rates("2", [invented(4, Plan(FIGURES["2"]))])[0]
    rates.pvalues["S2", "skce-ul"][:7] = np.nan
    assert "Tests without a p-value, which reject nothing: 7." in "\n".join(read_rates("2", [rates]))
