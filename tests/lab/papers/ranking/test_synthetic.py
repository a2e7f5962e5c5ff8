"""The synthetic ranking experiment: the claims of the paper, the protocol, its options."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets.generated import TwoGaussians
from uqassay.lab.papers.ranking import synthetic
from uqassay.lab.papers.ranking.grid import PAIRS, grid
from uqassay.lab.papers.ranking.scorings import Scoring, study
from uqassay.lab.papers.ranking.synthetic import reproduce_ranking_synthetic, run_grid, steps_of_ranking_synthetic

# ---- what the paper claims -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.1, 0.15])
def test_the_correlation_comes_from_pooling(small, error):
    run = small if error == small.bayes_error else run_grid("smoke", TwoGaussians(error))
    found = study(run.scorings, "fisher")
    entropies = study([s for s in run.scorings if s.score == "total-entropy"], "fisher")
    for pair in PAIRS:
        assert float(found[pair]) > 0.9
        assert float(entropies[pair]) < 0.5


@pytest.mark.slow
def test_the_grid_against_the_paper_claim(monkeypatch):
    """Every seventeenth of the 216 predictors."""
    some = synthetic.grid("cpu")[::17]
    monkeypatch.setattr(synthetic, "grid", lambda preset: some)
    run = run_grid("cpu", TwoGaussians(0.15), one_sample=True)
    assert len(run.scorings) == 61
    assert all(isinstance(s, Scoring) and s.defined for s in run.scorings)
    found = study(run.scorings, "fisher")
    for pair in PAIRS:
        assert float(found[pair]) > 0.9
    assert float(found["UQ-C-index", "misalignment"]) > 0.98
    entropies = study([s for s in run.scorings if s.score == "total-entropy"], "fisher")
    assert float(entropies["UQ-AUC", "misclassification"]) < 0.8


# ---- the protocol ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_cells_and_their_rule(smoke):
    names = [cell.name for cell in smoke.rows]
    assert names == [
        *(f"table1/Synth/{metric}/{truth}" for metric, truth in PAIRS),
        "section8/ECE/misclassification",
        "section8/ECE/misalignment",
    ]
    assert [cell.paper for cell in smoke.rows] == [94.56, 93.44, 98.81, 99.62, 0.09, -10.57]
    for cell in smoke.rows:
        assert cell.low < cell.ours < cell.high
        assert cell.agrees is None  # other predictors than the paper's whole grid


@pytest.mark.slow
def test_the_whole_grid_is_compared(monkeypatch):
    monkeypatch.setattr(synthetic, "grid", lambda preset: grid("smoke"))
    monkeypatch.setattr(synthetic, "NEIGHBOURS", ())
    cells = reproduce_ranking_synthetic(preset="cpu").rows
    assert [cell.agrees for cell in cells] == [cell.low <= cell.paper <= cell.high for cell in cells]
    assert all(bool(cell.note) == (cell.agrees is False) for cell in cells)


@pytest.mark.slow
def test_the_rows_leave_out_whole_predictors(smoke, small):
    by_model, alone = study(small.scorings, "jackknife", by_model=True), study(small.scorings, "fisher")
    for cell, pair in zip(smoke.rows[:4], PAIRS, strict=True):
        np.testing.assert_allclose(
            [cell.low, cell.high], [100 * by_model[pair].low - 0.005, 100 * by_model[pair].high + 0.005]
        )
        np.testing.assert_allclose(cell.ours, 100 * float(alone[pair]))


@pytest.mark.slow
def test_what_was_lost_and_what_is_read_are_said(smoke):
    text = smoke.summary()
    for words in (
        "the means, the standard deviation and the class prior are lost",
        "jackknife over predictors",
        "bootstrap over predictors",
        "Fisher's z",
        "have a negative τ with φ",
        "total-entropy",
        "a smoke run only checks that the code runs",
        "stay as they are.",
    ):
        assert words in text, words
    assert text.index("table1/Synth") < text.index("are lost") < text.index("jackknife over predictors  ")


def test_progress_steps_count_every_predictor():
    assert steps_of_ranking_synthetic(preset="cpu") == 3 * 216
    assert steps_of_ranking_synthetic(preset="cpu", bayes_error=0.1) == 2 * 216
    assert steps_of_ranking_synthetic(preset="cpu", sweep=True) == 33 * 216


def test_a_run_that_is_stopped_leaves_no_folder(tmp_path, monkeypatch):

    def stopped(*_, **__):
        raise KeyboardInterrupt("stopped by hand")

    monkeypatch.setattr(synthetic, "run_grid", stopped)
    with pytest.raises(KeyboardInterrupt, match="stopped by hand"):
        reproduce_ranking_synthetic(preset="smoke", figures=tmp_path / "new" / "figures")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_sweep_shows_both_ways_to_sample(monkeypatch):
    monkeypatch.setattr(synthetic, "SWEEP_SEEDS", 1)
    monkeypatch.setattr(synthetic, "SWEEP_ERRORS", (0.1, 0.2))
    few = synthetic.grid("smoke")[::5]
    monkeypatch.setattr(synthetic, "grid", lambda preset: few)
    lines = reproduce_ranking_synthetic(preset="smoke", sweep=True).reading
    start = next(i for i, line in enumerate(lines) if line.startswith("Sweep"))
    assert [line.split()[:3] for line in lines[start + 2 : start + 6]] == [
        ["0.1", "each", "its"],
        ["0.2", "each", "its"],
        ["0.1", "one", "for"],
        ["0.2", "one", "for"],
    ]


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"preset": "gpu"}, "preset", "choice", "got 'gpu'"),
        ({"seed": -1}, "seed", "range", "got -1"),
        ({"seed": 1.5}, "seed", "type", "got 1.5"),
        ({"bayes_error": 0.7}, "bayes_error", "range", r"got 0\.7"),
        ({"figures": __file__}, "figures", "unwritable", "synthetic.py"),
        ({"figures": f"{__file__}/below/it"}, "figures", "unwritable", "synthetic.py"),
    ],
)
def test_bad_options_are_refused_before_anything_is_trained(options, parameter, code, got, monkeypatch):
    monkeypatch.setattr(synthetic, "run_grid", lambda *a, **k: pytest.fail("trained"))
    with refuses(parameter, code, got=got):
        reproduce_ranking_synthetic(**options)
