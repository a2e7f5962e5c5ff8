"""Lines of text about the scorings, from made scorings with known numbers; temperature scaling."""

import numpy as np

from uqassay.lab.datasets.generated import TwoGaussians
from uqassay.lab.papers.ranking.grid import (
    TEMPERATURES,
    at_temperatures,
    by_bayes_error,
    by_part,
    grid,
    interval_methods,
    negative_shares,
    sweep_table,
    train,
)
from uqassay.lab.papers.ranking.scorings import Scoring, study
from uqassay.statistics import Estimate


def made(n: int = 12) -> list[Scoring]:
    """Scorings of n models whose metrics rise with τ; every third τ with φ is negative."""
    rng = np.random.default_rng(0)
    found = []
    for i in range(n):
        taus = (0.5 - 0.25 * (i % 3) - 0.1 * (i % 3 == 2), 0.3 + 0.01 * i)
        metrics = tuple(0.5 + 0.4 * tau + 0.01 * rng.normal() for tau in taus)
        pair = [Estimate(v, low=v - 0.01, high=v + 0.01, level=0.95, n=100, method="made") for v in (*metrics, *taus)]
        found.append(Scoring(f"model {i // 2}", "softmax", "total-entropy", tuple(pair[:2]), tuple(pair[2:])))
    return found


def test_intervals_by_every_method():
    lines = interval_methods(made())
    assert len(lines) == 6
    assert [line.split()[0] for line in lines[3:]] == ["jackknife", "bootstrap", "Fisher's"]
    found = study(made(), "fisher")["UQ-AUC", "misclassification"]
    assert f"{100 * found.low:.2f} to {100 * found.high:.2f}" in lines[5]


def test_parts_have_their_correlations_and_mean_truths():
    lines = by_part(made())
    rows = {line.split()[0]: line.split() for line in lines[3:]}
    assert set(rows) == {"all", "total-entropy", "softmax"}
    taus = np.array([s.taus for s in made()]).mean(axis=0)
    assert rows["all"][-2:] == [f"{value:.3f}" for value in taus]


def test_negative_truths_are_counted():
    lines = negative_shares(made())
    assert lines[1].startswith(
        "33.3 % of the scorings have a negative τ with φ; the UQ-AUC of 100 % of these is below ½"
    )
    assert lines[2] == "0.0 % of the scorings have a negative τ with ψ."


def test_other_bayes_errors_are_shown_if_there_are_any():
    assert by_bayes_error([(0.15, made())]) == []
    lines = by_bayes_error([(0.1, made()), (0.2, made())])
    assert [line.split()[0] for line in lines[3:]] == ["0.1", "0.2"]
    assert lines[-1].endswith("33.3 %")


def test_a_sweep_shows_the_least_and_the_greatest_correlation():
    studies = [study(made(), "fisher"), study(made(9), "fisher")]
    line = sweep_table([(0.1, True, studies, 0.125)])[-1]
    ends = sorted(100 * float(one["UQ-AUC", "misclassification"]) for one in studies)
    assert f"{ends[0]:.2f} to {ends[1]:.2f}" in line
    assert line.endswith("12.5 %")


def test_temperature_moves_calibration_and_no_ranking(needs):
    needs("torch", "sklearn")
    trained = train(grid("smoke")[0], TwoGaussians(0.15), 0)
    ece, auc, c_index = np.array(at_temperatures(trained)).T
    assert len(ece) == len(TEMPERATURES)
    assert np.ptp(ece) > 0.1
    assert np.ptp(auc) < 1e-12
    assert np.ptp(c_index) < 1e-12
