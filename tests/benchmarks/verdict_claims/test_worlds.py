"""Data sets of the simulation: calibrated posteriors, exchangeable models, rare losses with the same mean."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from benchmarks.verdict_claims.cells import CELLS, SHRINKING, chosen
from benchmarks.verdict_claims.worlds import Cell, Kind, data_set, mean_log_loss

from benchmarks.verdict_claims import worlds

A = 1.3


@pytest.fixture(autouse=True)
def fewer_samples_of_mean(monkeypatch):
    monkeypatch.setattr(worlds, "SAMPLES_OF_MEAN", 400_000)
    mean_log_loss.cache_clear()
    yield
    mean_log_loss.cache_clear()


PAIR = Cell("pair", (Kind(2, signal=A),), classes=2)


def expected(value):
    """Mean of a function of the logit of the label's class, of two classes: N(a², 2a²)."""
    law = scipy.stats.norm(A**2, np.sqrt(2) * A)
    return scipy.integrate.quad(lambda x: value(x) * law.pdf(x), A**2 - 12 * A, A**2 + 12 * A)[0]


def log_losses(cell, size, seed=0):
    data = data_set(cell, np.random.default_rng(seed), size=size)
    at = np.arange(size)
    return {
        name: -np.log(np.maximum(runs[0][at, data.labels], np.finfo(np.float64).eps))
        for name, runs in data.runs.items()
    }


def test_mean_log_loss_against_integration():
    assert mean_log_loss(A, 1.0, 2) == pytest.approx(expected(lambda x: np.log1p(np.exp(-x))), abs=0.005)
    assert mean_log_loss(A, 2.0, 2) == pytest.approx(expected(lambda x: np.log1p(np.exp(-2 * x))), abs=0.01)


def test_predictions_are_calibrated():
    data = data_set(Cell("three", (Kind(1),)), np.random.default_rng(0), size=60_000)
    p = data.runs["m0"][0]
    for low, high in ((0.0, 0.05), (0.3, 0.4), (0.8, 0.9)):
        rows = (p[:, 1] > low) & (p[:, 1] < high)
        hits = data.labels[rows] == 1
        assert hits.mean() == pytest.approx(p[rows, 1].mean(), abs=4 * np.sqrt(0.25 / rows.sum()))


def test_models_of_a_kind_have_equal_means_and_share_mistakes():
    a, b = log_losses(PAIR, 60_000).values()
    assert a.mean() == pytest.approx(b.mean(), abs=4 * (a - b).std() / np.sqrt(60_000))
    assert 0.2 < np.corrcoef(a, b)[0, 1] < 0.8


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rare_losses_keep_the_mean(dtype):
    calm = Kind(1, signal=1.1, dtype=dtype)
    rare = replace(calm, rare=0.02)
    a, b = log_losses(Cell("rare", (calm, rare), classes=10), 60_000).values()
    huge = b > -np.log(2 * np.finfo(np.float64).eps)
    assert huge.mean() == pytest.approx(0.02, abs=0.003)
    # with the share of huge losses that was drawn put right, the means agree closely
    assert 0.98 * b[~huge].mean() + 0.02 * b[huge].mean() == pytest.approx(a.mean(), abs=0.02)


def test_rare_losses_above_the_mean_are_refused():
    cell = Cell("impossible", (Kind(1, signal=4.0, rare=0.02),))
    with pytest.raises(ValueError, match="the rare losses alone exceed the mean log loss 0"):
        data_set(cell, np.random.default_rng(0))


def test_losses_of_a_group_are_correlated():
    cell = Cell("groups", (Kind(2),), groups=(2,) * 4000, correlation=0.5)
    data = data_set(cell, np.random.default_rng(0))
    assert len(data.labels) == 8000
    assert data.groups[:4].tolist() == [0, 0, 1, 1]
    p = data.runs["m0"][0]
    signal = np.log(p[np.arange(8000), data.labels]).reshape(-1, 2)
    same = data.labels.reshape(-1, 2)[:, 0] == data.labels.reshape(-1, 2)[:, 1]
    assert np.corrcoef(signal[same].T)[0, 1] > 0.3
    alone = data_set(replace(cell, correlation=0.0), np.random.default_rng(0))
    again = np.log(alone.runs["m0"][0][np.arange(8000), alone.labels]).reshape(-1, 2)
    assert abs(np.corrcoef(again.T)[0, 1]) < 0.06


def test_runs_parts_scores_and_blind_models():
    kinds = (Kind(2, runs=3, run_spread=0.1), Kind(1, scores=("chance", "backward")), Kind(1, blind=True))
    data = data_set(Cell("all", kinds, n=4000, parts=4), np.random.default_rng(0))
    assert [len(data.runs[name]) for name in ("m0", "m1", "m2", "m3")] == [3, 3, 1, 1]
    assert not np.array_equal(data.runs["m0"][0], data.runs["m0"][1])
    assert np.unique(data.subgroups["site"]).tolist() == [0, 1, 2, 3]
    wrong = data.runs["m2"][0].argmax(axis=1) != data.labels
    chance, backward = (data.scores["m2"][key][0] for key in ("chance", "backward"))
    assert abs(chance[wrong].mean() - chance[~wrong].mean()) < 0.15
    assert backward[wrong].mean() < backward[~wrong].mean() - 0.1
    p = data.runs["m3"][0]
    wrong = p.argmax(axis=1) != data.labels
    assert p.max(axis=1)[wrong].mean() == pytest.approx(p.max(axis=1)[~wrong].mean(), abs=0.03)
    assert np.allclose(p.sum(axis=1), 1)


def test_a_part_in_which_a_model_is_behind():
    cell = Cell("part", (Kind(1, signal=2.0, first_part=0.5),), n=4000, parts=2)
    data = data_set(cell, np.random.default_rng(0))
    right = data.runs["m0"][0].argmax(axis=1) == data.labels
    first = data.subgroups["site"] == 0
    assert right[first].mean() < right[~first].mean() - 0.2


def test_the_cells_asked_for_are_there():
    assert {name[name.index("-") :] for name in CELLS if name.startswith("equal-") and name[6].isdigit()} >= {
        f"-{j}-300" for j in (2, 3, 5, 10, 20)
    }
    assert [cell.size for cell in chosen(["groups-5-10", "groups-10-10"])] == [sum(SHRINKING[5]), sum(SHRINKING[10])]
    assert len(chosen(["rare-*"])) == 16
    assert len({repr(cell) for cell in chosen([])}) == len(CELLS)
    with pytest.raises(SystemExit, match="no cell nothing"):
        chosen(["nothing"])
