"""Weights of least score against SLSQP, a grid and fixed points."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.calibration.made_up_data import grid_of_weights, labelled_by_a_mixture
from uqassay.calibration.weights import EnsembleWeights, brier_weights, log_loss_weights
from uqassay.metrics.measures import calibration_measure

SOLVERS = {"log-loss": log_loss_weights, "brier": brier_weights}


def score(name, members, labels, weights):
    mixed = np.einsum("nmk,m->nk", members, weights)
    if name == "log-loss":
        return -np.log([mixed[i, label] for i, label in enumerate(labels)]).mean()
    return np.mean([((row - np.eye(len(row))[label]) ** 2).sum() for row, label in zip(mixed, labels, strict=True)])


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(("seed", "n", "m", "k"), [(0, 40, 2, 3), (1, 200, 5, 4), (2, 25, 8, 2), (3, 7, 3, 10)])
def test_scores_against_slsqp(name, seed, n, m, k):
    members, labels = labelled_by_a_mixture(seed, n, m, k, 0.5)
    weights, value, gap = SOLVERS[name](members, labels)
    by_scipy = minimize(
        lambda w: score(name, members, labels, np.maximum(w, 0)),
        np.full(m, 1 / m),
        method="SLSQP",
        bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert value == pytest.approx(score(name, members, labels, weights), abs=1e-12)
    mixed = np.einsum("nmk,m->nk", members, weights)
    assert value == pytest.approx(float(calibration_measure(name).prepare(mixed).values(labels)), abs=1e-9)
    assert value <= by_scipy.fun + 1e-9
    assert gap <= 1e-9
    assert value == pytest.approx(by_scipy.fun, abs=1e-5)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("m", [2, 3])
def test_scores_against_a_grid(name, m):
    members, labels = labelled_by_a_mixture(10 + m, 30, m, 3)
    weights, value, _ = SOLVERS[name](members, labels)
    found = [score(name, members, labels, w) for w in grid_of_weights(m, 50)]
    assert value <= min(found) + 1e-10
    assert value > min(found) - 0.01
    assert np.abs(grid_of_weights(m, 50)[int(np.argmin(found))] - weights).max() < 0.06


def test_log_loss_weights_are_the_fixed_point_of_em():
    members, labels = labelled_by_a_mixture(5, 500, 6, 4)
    weights = EnsembleWeights("log-loss").fit(members, labels).weights_
    given = members[np.arange(500), :, labels]
    ratios = (given / (given @ weights)[:, None]).mean(axis=0)
    assert weights * ratios == pytest.approx(weights, abs=1e-6)
    assert ratios.max() <= 1 + 1e-9


def test_impossible_labels_give_an_infinite_loss_and_the_weights_of_the_others():
    members, labels = labelled_by_a_mixture(34, 50, 3, 3)
    impossible = np.tile([1.0, 0.0, 0.0], (1, 3, 1))
    with_it = EnsembleWeights("log-loss").fit(np.concatenate([members, impossible]), np.append(labels, 2))
    assert np.isinf(with_it.value_)
    assert with_it.weights_ == pytest.approx(EnsembleWeights("log-loss").fit(members, labels).weights_, abs=1e-9)
    none = EnsembleWeights("log-loss").fit(np.array([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]]), [2])
    assert none.weights_.tolist() == [0.5, 0.5]
    tiny = np.array([[[1 - 1e-300, 1e-300], [1 - 2e-300, 2e-300]]])
    assert log_loss_weights(tiny, np.array([1]))[0] == pytest.approx([0, 1], abs=1e-6)


def test_many_members_and_few_instances_reach_the_gap():
    members, labels = labelled_by_a_mixture(36, 30, 100, 3, 0.1)
    for solver in SOLVERS.values():
        weights, _, gap = solver(members, labels)
        assert gap <= 1e-9
        assert weights.sum() == pytest.approx(1, abs=1e-12)
