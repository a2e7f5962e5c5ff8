"""Theorem 9.1 and the set-valued classifier (12) of paper 003 on finite populations, by enumeration.

The text has lost formula (12). Here the classifier gives its label alone where the score is at most t, all classes elsewhere.
"""

from itertools import product

import numpy as np
import pytest
from tests.metrics.ranking.test_theorems import all_weak_orders, population, truths

from uqassay.metrics.ranking import uq_auc_score

# -------------------------------------------------------------------------- theorem 9.1: equivalent scorings, one family


def equivalent(s, other):
    """Whether two scorings put every pair of inputs in the same order, ties included."""
    return bool((np.sign(s[:, None] - s) == np.sign(other[:, None] - other)).all())


def family(s, possible):
    """Sub-level sets among the inputs that are possible."""
    return {tuple((s <= t)[possible]) for t in s[possible]}


@pytest.mark.parametrize("impossible", [None, 0])
def test_two_scorings_share_their_sublevel_sets_if_and_only_if_they_are_equivalent(impossible):
    possible = np.arange(4) != impossible
    orders = [np.asarray(order, dtype=float) for order in all_weak_orders(4)]
    n_equivalent = 0
    for s, other in product(orders, repeat=2):
        same = equivalent(s[possible], other[possible])
        assert same == (family(s, possible) == family(other, possible))
        n_equivalent += same
        if same:
            for t in s[possible]:  # (31): the greatest score of the other one within the set
                there = other[(s <= t) & possible].max()
                np.testing.assert_array_equal((s <= t)[possible], (other <= there)[possible])
    assert n_equivalent == 75 if impossible is None else n_equivalent > 75


# --------------------------------------------------------------------------------- (12): the label alone, or all classes


def said(f, scores, t):
    """The classes in the classifier's set, (n, K)."""
    label = f.argmax(axis=1)[:, None] == np.arange(f.shape[1])
    return label | (scores > t)[:, None]


@pytest.mark.parametrize("seed", range(6))
def test_the_set_valued_classifier_reaches_any_coverage_down_to_the_accuracy(seed):
    weight, p, f = population(np.random.default_rng(seed), 1000, 3)
    phi, _ = truths(p, f)
    levels = np.sort(phi)
    covered = [(said(f, phi, t) * p).sum(axis=1) for t in levels]
    marginal = np.array([weight @ each for each in covered])
    within = np.array([np.average(each, weights=weight * (phi <= t)) for t, each in zip(levels, covered, strict=True)])
    assert (np.diff(marginal) < 0).all()
    assert (np.diff(within) < 0).all()  # (10): the coverage on the sub-level set is the accuracy there
    assert within[-1] == pytest.approx(marginal[-1])
    assert marginal[-1] == pytest.approx(1 - weight @ phi)
    assert 1 - marginal[0] <= (weight * phi).max()
    assert -np.diff(marginal).min() <= (weight * phi).max() + 1e-12  # no step is longer than one input


@pytest.mark.parametrize("seed", range(6))
def test_no_choice_of_inputs_gives_smaller_sets_at_the_coverage_of_phi(seed):
    _, p, f = population(np.random.default_rng(seed), 9, 3)
    phi, _ = truths(p, f)
    chosen = np.array(list(product([0, 1], repeat=9)))  # inputs that get their label alone, all 512 choices
    coverage, size = 1 - chosen @ phi / 9, 3 - 2 * chosen.mean(axis=1)
    for t in phi:
        sets = said(f, phi, t)
        own, own_size = (sets * p).sum() / 9, sets.sum() / 9
        assert size[coverage >= own - 1e-12].min() == pytest.approx(own_size)


def test_an_equivalent_scoring_has_the_same_coverages_and_uq_auc():
    rng = np.random.default_rng(0)
    _, p, f = population(rng, 300, 4)
    phi, _ = truths(p, f)
    phi = phi.round(1)  # with ties
    other, errors = np.exp(3 * phi) - 7, rng.random(300) < phi
    assert equivalent(phi, other)
    for s in (phi, other):
        found = {(said(f, s, t) * p).sum() for t in s}
        np.testing.assert_allclose(sorted(found), sorted({(said(f, phi, t) * p).sum() for t in phi}))
    assert uq_auc_score(errors, other) == pytest.approx(uq_auc_score(errors, phi))
