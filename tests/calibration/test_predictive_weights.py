"""Weights for null labels: against SciPy's minimiser and cross-validation written out."""

import numpy as np
import pytest
from scipy.optimize import minimize

from uqassay.calibration.weights import N_FOLDS, STRENGTHS, log_loss_weights, predictive_weights


def drawn(probs, rng):
    cumulated = probs.cumsum(axis=1)
    return (rng.random((len(probs), 1)) * cumulated[:, -1:] >= cumulated[:, :-1]).sum(axis=1)


def penalised(given, strength):
    """Weights with the greatest Σ ln p_λ(y) + c Σ ln λ, by a general solver on unbounded parameters."""

    def loss(free):
        logs = free - np.logaddexp.reduce(free)
        weights = np.exp(logs)
        shares = given * weights / (given @ weights)[:, np.newaxis]
        slope = (weights - shares).sum(axis=0) + strength * (len(free) * weights - 1)
        return -np.log(given @ weights).sum() - strength * logs.sum(), slope

    free = minimize(loss, np.zeros(given.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return np.exp(free - np.logaddexp.reduce(free))


@pytest.mark.parametrize("case", range(6))
def test_against_cross_validation_written_out(case):
    rng = np.random.default_rng(case)
    n, m, k = 24 + case, 3, 3
    members = rng.dirichlet(np.ones(k), (n, m))
    labels = drawn(np.einsum("nmk,m->nk", members, rng.dirichlet(np.ones(m))), rng)
    given = np.take_along_axis(members, labels[:, None, None], axis=2)[..., 0]
    order = np.random.default_rng(100 + case).permutation(n)
    losses = np.zeros(len(STRENGTHS) + 1)
    for c, strength in enumerate((*STRENGTHS, np.inf)):
        for fold in range(N_FOLDS):
            left_out = order[np.arange(n) % N_FOLDS == fold]
            rest = np.setdiff1d(np.arange(n), left_out)
            weights = np.full(m, 1 / m) if strength == np.inf else penalised(given[rest], strength)
            losses[c] -= np.log(given[left_out] @ weights).sum()
    best = int(losses.argmin())
    found = predictive_weights(members, labels, np.random.default_rng(100 + case))
    assert np.diff(np.sort(losses))[0] > 1e-4, "a tie would say nothing"
    expected = np.full(m, 1 / m) if best == len(STRENGTHS) else penalised(given, STRENGTHS[best])
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_the_truth_at_a_vertex_is_kept():
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.full(4, 0.2), (300, 20))
    found = predictive_weights(members, drawn(members[:, 3], rng), rng)
    assert found.argmax() == 3
    assert found[3] > 0.9


def test_many_similar_members_keep_their_weights():
    # the most likely weights lie on a few of 80 members that differ by chance only
    rng = np.random.default_rng(1)
    centre = rng.dirichlet(np.ones(3), 150)
    members = np.stack([rng.dirichlet(40 * p + 1e-3, 80) for p in centre])
    labels = drawn(members.mean(axis=1), rng)
    likely = log_loss_weights(members, labels)[0]
    found = predictive_weights(members, labels, rng)
    assert (likely > 1e-3).sum() < 20
    assert np.abs(found - 1 / 80).sum() < 0.5 * np.abs(likely - 1 / 80).sum()


def test_the_generator_determines_the_result():
    rng = np.random.default_rng(5)
    members = rng.dirichlet(np.ones(3), (50, 4))
    labels = rng.integers(0, 3, 50)
    first, again = (predictive_weights(members, labels, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_few_instances(n):
    rng = np.random.default_rng(n)
    members = rng.dirichlet(np.ones(2), (n, 3))
    found = predictive_weights(members, np.zeros(n, dtype=np.intp), rng)
    assert found.shape == (3,)
    assert abs(found.sum() - 1) < 1e-12
    assert (found >= 0).all()


def test_labels_impossible_for_all_members_are_ignored():
    members = np.zeros((30, 2, 3))
    members[:, 0, 0], members[:, 0, 1] = 0.9, 0.1
    members[:, 1, 0], members[:, 1, 1] = 0.5, 0.5
    labels = np.array([0] * 22 + [1] * 3 + [2] * 5)  # nobody gives class 2 a chance
    possible = labels < 2
    found = predictive_weights(members, labels, np.random.default_rng(0))
    np.testing.assert_array_equal(
        found, predictive_weights(members[possible], labels[possible], np.random.default_rng(0))
    )
    np.testing.assert_array_equal(
        predictive_weights(members, np.full(30, 2), np.random.default_rng(0)), np.full(2, 0.5)
    )


def test_sparse_members_never_leave_a_label_out_without_chance():
    # each member is certain, and all labels that came are explained by one member or the other
    members = np.zeros((40, 2, 2))
    members[:, 0, 0] = members[:, 1, 1] = 1.0
    labels = np.array([0] * 39 + [1])
    found = predictive_weights(members, labels, np.random.default_rng(0))
    assert 0.005 < found[1] < 0.2
