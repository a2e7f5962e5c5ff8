"""One scoring against brute force; correlations against NumPy; lines of text about scorings; temperature scaling."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.datasets.generated import TwoGaussians
from uqassay.lab.papers import printed_table
from uqassay.lab.papers.ranking import printed as printed_intervals
from uqassay.lab.papers.ranking.grid import (
    PAIRS,
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
from uqassay.lab.papers.ranking.printed import (
    METRICS,
    TRUTHS,
    implied_counts,
    printed_cells,
    reproduce_ranking_intervals,
)
from uqassay.lab.papers.ranking.scorings import Scoring, columns, judge, study
from uqassay.measures.registry import uncertainty_score
from uqassay.predictions import Point
from uqassay.statistics import Estimate


def test_a_scoring_against_brute_force():
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    predictor = next(p for p in grid("smoke") if p.method == "deep ensemble")
    trained = train(predictor, TwoGaussians(0.15), 1)
    f, q, y = trained.prediction.mean_probs(), trained.test.label_probs, trained.test.y
    rows = np.arange(400)
    predicted, best = f.argmax(axis=1), q.argmax(axis=1)
    gap = 1 - f[rows, y]
    for scoring in trained.scorings():
        s = uncertainty_score(trained.prediction, scoring.score)
        above, further = np.sign(s[:, None] - s), gap[:, None] > gap
        c_index = (above[further] * 0.5 + 0.5).mean()
        found = (*scoring.metrics, *scoring.taus)
        expected = (
            roc_auc_score(predicted != y, s),
            c_index,
            kendalltau(1 - q[rows, predicted], s).statistic,
            kendalltau(1 - f[rows, best], s).statistic,
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_correlations_against_numpy(small):
    metrics, taus = columns([s for s in small.scorings if s.defined])
    found = study(small.scorings, "fisher")
    for metric, truth in PAIRS:
        expected = np.corrcoef(metrics[:, METRICS.index(metric)], taus[:, TRUTHS.index(truth)])[0, 1]
        np.testing.assert_allclose(found[metric, truth], expected, rtol=1e-9)


def test_undefined_scorings_are_left_out(small):
    sure = Point([[0.9, 0.1]] * 5)
    (constant,) = judge(sure, [0] * 5, [[0.8, 0.2]] * 5, ("total-entropy",), model="m", method="softmax")
    assert not constant.defined
    with_it = study([*small.scorings, constant], "fisher")
    assert float(with_it[PAIRS[0]]) == float(study(small.scorings, "fisher")[PAIRS[0]])
    with refuses("scorings", "empty", got="got 0"):
        study([constant], "fisher")


def test_printed_cells_ask_for_a_reason_only_if_they_disagree(small):
    found = study(small.scorings, "fisher")
    asked = []
    cells = printed_cells("Synth", found, lambda *cell: asked.append(cell) or "why")
    assert [cell.name for cell in cells] == [f"table1/Synth/{metric}/{truth}" for metric, truth in PAIRS]
    assert len(asked) == sum(cell.agrees is False for cell in cells)
    for cell in cells:
        assert cell.note == ("why" if cell.agrees is False else "")


# -- The printed intervals: Fisher's formula, the misprints that are there, and those put in.


TABLE = "ground_truth_free_table1"


@pytest.mark.parametrize("seed", range(4))
def test_limits_against_scipy(seed):
    from scipy.stats import pearsonr

    rng = np.random.default_rng(seed)
    x, n = rng.normal(size=40 + seed), 40 + seed
    found = pearsonr(x, x + rng.normal(size=n))
    interval = found.confidence_interval()
    moved = [float(printed_intervals._moved(100 * found.statistic, sign, np.array(n))) for sign in (-1, 1)]
    np.testing.assert_allclose(moved, [100 * interval.low, 100 * interval.high], rtol=1e-9)


def test_known_misprints_against_paper_table():
    result = reproduce_ranking_intervals()
    assert len(result.rows) == 48
    found = {cell.name.removeprefix("table1/"): cell for cell in result.misprints}
    assert set(found) == {
        "Synth/UQ-AUC/misalignment/high",  # 94.3 for 94.63
        "CIFAR10-H/UQ-AUC/misclassification/low",  # 53.99 for 52.99
        "CIFAR10-H/UQ-C-index/misclassification/r",  # a share for a percentage
        "R-ImageNet/UQ-AUC/misalignment/low",
        "R-ImageNet/UQ-AUC/misalignment/high",
    }
    near = next(cell for cell in result.rows if cell.name == "table1/R-ImageNet/UQ-C-index/misalignment/r")
    assert (near.paper, near.agrees, near.note) == (88.07, True, "")  # .0002 outside of what rounding alone allows
    assert near.low < near.paper < near.low + 0.01
    assert round(found["Synth/UQ-AUC/misalignment/high"].ours, 2) == 94.63
    assert found["CIFAR10-H/UQ-AUC/misclassification/low"].ours == pytest.approx(52.99, abs=0.01)
    assert found["CIFAR10-H/UQ-C-index/misclassification/r"].ours == pytest.approx(-3.93, abs=0.01)
    assert "no two of the three numbers fit together" in found["R-ImageNet/UQ-AUC/misalignment/low"].note
    assert all(cell.note for cell in result.misprints)


def test_numbers_of_scorings_against_paper_table():
    assert implied_counts("CIFAR10-H") == (111,)
    assert implied_counts("R-ImageNet") == (114,)
    assert implied_counts("OASST2") == (69,)
    synth = implied_counts("Synth")
    assert synth[0] >= 355
    assert synth[-1] <= 375
    assert any("OASST2: the intervals are those of 69 scorings" in note for note in reproduce_ranking_intervals().notes)


def consistent(seed: int) -> list[dict[str, str]]:
    """The same table as another paper would print it: true Fisher intervals, each number rounded once."""
    rng = np.random.default_rng(seed)
    rows = printed_table(TABLE)
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        n = int(rng.integers(30, 900))
        for row in (row for row in rows if row["dataset"] == dataset):
            for truth, suffix in (("misclassification", ""), ("misalignment", "2")):
                z = rng.uniform(-0.5, 2.5)
                half = 1.959964 / (n - 3) ** 0.5
                numbers = [100 * np.tanh(z + d) for d in (0.0, -half, half)]
                keys = (f"corr_{truth}_percent", f"low{suffix}", f"high{suffix}")
                row |= {key: f"{value:.2f}" for key, value in zip(keys, numbers, strict=True)}
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_a_consistent_table_is_not_accused(seed, monkeypatch):
    monkeypatch.setattr(printed_intervals, "printed_table", lambda name: consistent(seed))
    assert reproduce_ranking_intervals().misprints == ()


@pytest.mark.parametrize("seed", range(8))
def test_a_misprint_is_found(seed, monkeypatch):
    rows, rng = consistent(seed), np.random.default_rng(seed)
    row = rows[rng.integers(len(rows))]
    column, part = [("corr_misalignment_percent", "r"), ("low2", "low"), ("high2", "high")][rng.integers(3)]
    row[column] = f"{float(row[column]) + rng.choice([-1, 1]) * rng.uniform(0.3, 0.6):.2f}"
    monkeypatch.setattr(printed_intervals, "printed_table", lambda name: rows)
    (found,) = reproduce_ranking_intervals().misprints
    assert found.name == f"table1/{row['dataset']}/{row['metric']}/misalignment/{part}"


# -- lines of text about scorings --------------------------------------------------------------------------------------


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


def test_temperature_moves_calibration_and_no_ranking():
    trained = train(grid("smoke")[0], TwoGaussians(0.15), 0)
    ece, auc, c_index = np.array(at_temperatures(trained)).T
    assert len(ece) == len(TEMPERATURES)
    assert np.ptp(ece) > 0.1
    assert np.ptp(auc) < 1e-12
    assert np.ptp(c_index) < 1e-12
