"""The fewest members that explain the labels, against all faces of the simplex written out."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

from tests.calibration.made_up_data import given_of
from uqassay.calibration.credal import CONTRADICTED, fewest_members
from uqassay.calibration.one_classifier import labels_from


def most_likely(given, kept):
    """Greatest log-likelihood of mixtures of these members, and its weights, by a general solver."""
    m = given.shape[1]
    if len(kept) == 1:
        weights = np.eye(m)[kept[0]]
        return np.log(given @ weights).sum(), weights

    def loss(free):
        logs = free - np.logaddexp.reduce(free)
        return -np.log(given[:, kept] @ np.exp(logs)).sum()

    free = minimize(loss, np.zeros(len(kept)), method="BFGS", options={"gtol": 1e-9}).x
    weights = np.zeros(m)
    weights[list(kept)] = np.exp(free - np.logaddexp.reduce(free))
    return np.log(given @ weights).sum(), weights


@pytest.mark.parametrize("case", range(8))
def test_against_the_likelihood_of_every_face(case):
    rng = np.random.default_rng(case)
    m = 3
    members = rng.dirichlet(np.ones(3), (60, m))
    labels = labels_from(np.einsum("nmk,m->nk", members, rng.dirichlet(np.full(m, 0.5))), 1, rng)[0]
    given = given_of(members, labels)
    faces = {kept: most_likely(given, kept) for size in (1, 2, 3) for kept in combinations(range(m), size)}
    best = faces[0, 1, 2]
    support = tuple(np.flatnonzero(best[1] > 1e-4))
    kept, found = support, best[1]
    while len(kept) > 1:
        least = min(kept, key=lambda j: found[j])
        rest = tuple(j for j in kept if j != least)
        if 2 * (best[0] - faces[rest][0]) > chi2.ppf(CONTRADICTED, len(support) - len(rest)):
            break
        found = faces[rest][1]
        kept = tuple(j for j in rest if found[j] > 1e-4)
    few = fewest_members(members, labels)
    if len(kept) == m:
        assert few is None
    else:
        np.testing.assert_allclose(few, found, atol=2e-3)


def test_a_member_that_is_needed_stays():
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.full(3, 0.2), (400, 3))
    labels = labels_from(members[:, :2].mean(axis=1), 1, rng)[0]
    few = fewest_members(members, labels)
    assert few[2] == 0
    np.testing.assert_allclose(few[:2], 0.5, atol=0.15)
    assert fewest_members(members, labels_from(members.mean(axis=1), 1, rng)[0]) is None


def test_the_true_member_is_left_out_as_often_as_the_level_says():
    # with the truth at a corner, the face that is found misses it in 1 − confidence of the data sets at most
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        members = rng.dirichlet(np.ones(3), (80, 3))
        members[:, 0] = rng.dirichlet(np.full(3, 10.0), 80)
        few = fewest_members(members, labels_from(members[:, 0], 1, rng)[0], 0.8)
        missed += few is None or few[0] < 1
    assert 4 <= missed <= 60  # .02 to .3


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_instances_need_one_member(n):
    members = np.random.default_rng(n).dirichlet(np.ones(2), (n, 3))
    few = fewest_members(members, np.zeros(n, dtype=np.intp))
    assert few is None if n == 0 else (np.count_nonzero(few), few.sum()) == (1, 1.0)


def test_a_member_without_chance_for_some_label_is_not_left_alone():
    members = np.zeros((40, 2, 3))
    members[:, 0, 0] = members[:, 1, 1] = 1.0
    labels = np.array([0] * 39 + [1])
    assert fewest_members(members, labels) is None  # each of the two alone makes some label impossible
    labels[-1] = 2  # impossible for both, so it says nothing
    assert fewest_members(members, labels).tolist() == [1.0, 0.0]
    assert fewest_members(members, np.full(40, 2)) is None
    assert fewest_members(members[:, :1], labels) is None
