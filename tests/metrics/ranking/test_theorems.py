"""The theorems of the paper on ranking metrics on finite populations, exhaustively over the orders of up to 7 inputs.

A population has inputs x with P(x), label distributions p(y|x) and a model's probabilities f(x). Run as a script, this file
prints how often the order of ψ misses the best UQ-C-index where there are more than two classes.
"""

from itertools import permutations, product

import numpy as np
import pytest

import uqassay as uq
from uqassay.metrics.ranking import uq_auc_score, uq_c_index_score
from uqassay.metrics.truths import misalignment_truth, misclassification_truth

SEEDS = range(12)
# ------------------------------------------------------------------------------------------- populations by brute force


def population(rng, n, n_classes):
    """P (n,), p (n, K) and f (n, K), uniform on their simplices."""
    draw = rng.dirichlet
    return draw(np.ones(n)), draw(np.ones(n_classes), size=n), draw(np.ones(n_classes), size=n)


def truths(p, f):
    prediction = uq.Point(f)
    return misclassification_truth(p, prediction), misalignment_truth(p, prediction)


def errors_of(p, f):
    """mis(x, y), (n, K)."""
    return (np.arange(p.shape[1]) != f.argmax(axis=1)[:, None]).astype(float)


def pair_weights(weight, p, loss):
    """P(X = x, X' = x', loss(X, Y) < loss(X', Y')), (n, n), by summing over both labels."""
    n, k = p.shape
    found = np.zeros((n, n))
    for x, z in product(range(n), repeat=2):
        for y, v in product(range(k), repeat=2):
            found[x, z] += weight[x] * p[x, y] * weight[z] * p[z, v] * (loss[x, y] < loss[z, v])
    return found


def concordance_of(scores, pairs):
    """P(s(X) < s(X') | loss < loss'), ties ½, for scores (…, n)."""
    s = np.asarray(scores)
    less = (s[..., :, None] < s[..., None, :]) + 0.5 * (s[..., :, None] == s[..., None, :])
    return (less * pairs).sum(axis=(-2, -1)) / pairs.sum()


def all_orders(n):
    return np.array(list(permutations(range(n))))


def all_weak_orders(n):
    """Every order with ties, as ranks without gaps."""
    ranks = np.array(list(product(range(n), repeat=n)))
    dense = [row for row in ranks if len(set(row)) == row.max() + 1]
    return np.array(dense)


def enumerated(weight, p, values):
    """Every (x, y) as a weighted instance: values (n, K) or (n,) and weights, each (n·K,)."""
    values = np.broadcast_to(values if np.ndim(values) == 2 else np.asarray(values)[:, None], p.shape)
    return values.ravel(), (weight[:, None] * p).ravel()


def differs(truth):
    """Pairs that the truth puts in an order, (n, n): x before x'."""
    return truth[:, None] < truth[None, :]


# -------------------------------------------------------------------------------------------------- theorem 2.3: φ


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_phi_maximises_uq_auc_over_all_orders_of_7_inputs(seed, n_classes):
    weight, p, f = population(np.random.default_rng([seed, n_classes]), 7, n_classes)
    phi, _ = truths(p, f)
    pairs = pair_weights(weight, p, errors_of(p, f))
    values = concordance_of(all_orders(7), pairs)
    best = concordance_of(phi, pairs)
    assert best == pytest.approx(values.max(), abs=1e-12)
    assert best > values.min() + 1e-3
    maximisers = all_orders(7)[values > best - 1e-12]
    assert len(maximisers) == 1  # φ has no ties here
    assert (maximisers[0] == phi.argsort().argsort()).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_every_maximiser_of_uq_auc_has_the_order_of_phi_with_ties(seed):
    rng = np.random.default_rng(seed)
    weight, p, f = population(rng, 5, 3)
    twin = rng.permutation(5)[:2]
    p[twin[1]], f[twin[1]] = p[twin[0]], f[twin[0]]  # two inputs with one φ
    phi, _ = truths(p, f)
    pairs = pair_weights(weight, p, errors_of(p, f))
    orders = all_weak_orders(5)
    assert len(orders) == 541
    values = concordance_of(orders, pairs)
    assert values.max() == pytest.approx(concordance_of(phi, pairs), abs=1e-12)
    maximal = values > values.max() - 1e-12
    kept = (orders[:, :, None] < orders[:, None, :])[:, differs(phi)].all(axis=1)  # φ's order where φ differs
    assert (maximal == kept).all()
    assert maximal.sum() == 3  # the twins tied, or one before the other


# -------------------------------------------------------------------------------------------------- theorem 2.5: ψ


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_psi_maximises_the_c_index_for_two_classes_over_all_orders_of_7_inputs(seed):
    weight, p, f = population(np.random.default_rng(seed), 7, 2)
    _, psi = truths(p, f)
    pairs = pair_weights(weight, p, 1 - f)
    values = concordance_of(all_orders(7), pairs)
    assert concordance_of(psi, pairs) == pytest.approx(values.max(), abs=1e-12)
    maximisers = all_orders(7)[values > values.max() - 1e-12]
    assert len(maximisers) == 1
    assert (maximisers[0] == psi.argsort().argsort()).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_every_maximiser_of_the_c_index_has_the_order_of_psi_for_two_classes(seed):
    weight, p, f = population(np.random.default_rng(seed), 5, 2)
    _, psi = truths(p, f)
    orders = all_weak_orders(5)
    values = concordance_of(orders, pair_weights(weight, p, 1 - f))
    kept = (orders[:, :, None] < orders[:, None, :])[:, differs(psi)].all(axis=1)
    assert ((values > values.max() - 1e-12) == kept).all()
    assert kept.sum() == 1


def test_phi_does_not_maximise_the_c_index_nor_psi_the_uq_auc():
    missed = np.zeros(2)
    for seed in SEEDS:
        weight, p, f = population(np.random.default_rng(seed), 5, 2)
        phi, psi = truths(p, f)
        for i, (loss, other) in enumerate(((errors_of(p, f), psi), (1 - f, phi))):
            pairs = pair_weights(weight, p, loss)
            missed[i] += concordance_of(other, pairs) < concordance_of(all_orders(5), pairs).max() - 1e-9
    assert (missed > len(SEEDS) / 2).all()


def test_psi_misses_the_best_c_index_for_three_classes_in_the_documented_example():
    weight = np.array([0.5, 0.5])
    p = np.array([[0.4, 0.3, 0.3], [1.0, 0.0, 0.0]])
    f = np.array([[0.6, 0.2, 0.2], [0.5, 0.3, 0.2]])
    _, psi = truths(p, f)
    np.testing.assert_allclose(psi, [0.4, 0.5])
    pairs = pair_weights(weight, p, 1 - f)
    # the first has the gap .4 with probability .4 and .8 with .6; the second always has .5
    np.testing.assert_allclose([pairs[0, 1], pairs[1, 0]], [0.25 * 0.4, 0.25 * 0.6])
    assert concordance_of(psi, pairs) < 0.5 < concordance_of(-psi, pairs)


def share_missed(n_classes, n_inputs, n_models, seed=0):
    """Share of random models whose best C-index ψ misses, and what the index loses there on average."""
    rng = np.random.default_rng(seed)
    orders = all_orders(n_inputs)
    lost = np.zeros(n_models)
    for i in range(n_models):
        weight, p, f = population(rng, n_inputs, n_classes)
        gap = 1 - f
        masses = weight[:, None] * p
        less = (gap[:, :, None, None] < gap) * masses[:, :, None, None] * masses
        pairs = less.sum(axis=(1, 3))
        lost[i] = concordance_of(orders, pairs).max() - concordance_of(truths(p, f)[1], pairs)
    return float((lost > 1e-12).mean()), float(lost[lost > 1e-12].mean()) if (lost > 1e-12).any() else 0.0


def test_share_of_random_models_whose_best_c_index_psi_misses_is_as_documented():
    assert share_missed(2, 4, 100) == (0.0, 0.0)
    missed, lost = share_missed(3, 4, 300)
    assert 0.25 < missed < 0.41
    assert 0.015 < lost < 0.04


# ------------------------------------------------------------------------------- theorems 2.1 and 2.2: sub-level sets


def sublevel_shares(truth, weight, chance):
    """Distinct values t of the truth, E[chance | truth ≤ t] for each, and each value's share of its sub-level set."""
    order = np.argsort(truth)
    values, first = np.unique(truth[order], return_index=True)
    masses = np.add.reduceat(weight[order], first)
    hits = np.add.reduceat((weight * chance)[order], first)
    return values, np.cumsum(hits) / np.cumsum(masses), masses / np.cumsum(masses)


def assert_every_value_is_reached(reached, atoms, wanted):
    """Between its extremes the path passes within one atom of every value wanted."""
    for value in wanted:
        k = int(np.argmin(np.abs(reached - value)))
        assert abs(reached[k] - value) <= atoms[max(k, 1) : k + 2].max()


@pytest.mark.parametrize("seed", SEEDS)
def test_sublevel_sets_of_phi_reach_any_accuracy_between_its_extremes(seed):
    weight, p, f = population(np.random.default_rng(seed), 4000, 3)
    phi, _ = truths(p, f)
    _, accuracy, atoms = sublevel_shares(phi, weight, 1 - phi)
    assert accuracy[0] == pytest.approx(1 - phi.min())
    assert accuracy[-1] == pytest.approx(1 - weight @ phi)
    assert (np.diff(accuracy) < 0).all()
    assert_every_value_is_reached(accuracy, atoms, np.linspace(accuracy[-1], accuracy[0], 200))
    assert np.abs(np.diff(accuracy[500:])).max() < 2e-3  # small atoms, small steps


@pytest.mark.parametrize("seed", SEEDS)
def test_sublevel_sets_of_phi_with_atoms_step_over_some_accuracies(seed):
    weight, p, f = population(np.random.default_rng(seed), 6, 3)
    phi, _ = truths(p, f)
    values, accuracy, atoms = sublevel_shares(phi, weight, 1 - phi)
    # the definition, set by set
    expected = [(weight * (1 - phi))[phi <= t].sum() / weight[phi <= t].sum() for t in values]
    np.testing.assert_allclose(accuracy, expected, rtol=1e-12)
    assert (np.diff(accuracy) < 0).all()
    np.testing.assert_array_less(-np.diff(accuracy), atoms[1:])


@pytest.mark.parametrize("seed", SEEDS)
def test_sublevel_sets_of_psi_reach_any_agreement_with_the_bayes_label_for_two_classes(seed):
    weight, p, f = population(np.random.default_rng(seed), 4000, 2)
    _, psi = truths(p, f)
    agrees = (p.argmax(axis=1) == f.argmax(axis=1)).astype(float)
    values, agreement, atoms = sublevel_shares(psi, weight, agrees)
    np.testing.assert_allclose(agreement[values < 0.5], 1.0, rtol=1e-12)
    assert (values < 0.5).sum() > 1000
    assert (np.diff(agreement[values > 0.5]) < 0).all()
    assert agreement[-1] == pytest.approx(weight @ agrees)
    assert_every_value_is_reached(agreement, atoms, np.linspace(agreement[-1], 1.0, 200))


def test_agreement_is_not_monotone_on_sublevel_sets_of_psi_for_three_classes():
    p = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    f = np.array([[0.45, 0.5, 0.05], [0.4, 0.3, 0.3]])  # ψ = .55 and disagrees; ψ = .6 and agrees
    _, psi = truths(p, f)
    _, agreement, _ = sublevel_shares(psi, np.array([0.5, 0.5]), (p.argmax(axis=1) == f.argmax(axis=1)).astype(float))
    np.testing.assert_allclose(agreement, [0.0, 0.5])


# ----------------------------------------------------------------------- theorems 2.4 and 2.6: no scoring dominates φ, ψ


def path(order, chance):
    """Share of the inputs in each sub-level set of a scoring, and the mean chance in it; inputs of equal weight."""
    inside = order <= np.unique(order)[:, None]  # (levels, n)
    return inside.mean(axis=1), (inside * chance).sum(axis=1) / inside.sum(axis=1)


def has_property(order, chance):
    """Conditions (10) and (11): the risk grows from each sub-level set to the next."""
    return bool((np.diff(path(order, chance)[1]) > 1e-12).all())


def coverages(order, chance, risks):
    """The greatest sub-level set whose risk is at most each of the given risks, as a share of the inputs."""
    share, risk = path(order, chance)
    return np.where(risk <= risks[:, None] + 1e-12, share, 0.0).max(axis=1)


def rivals_of(truth, chance):
    """Coverage of the truth at every risk that any scoring reaches, and that of each other scoring with the property."""
    orders = [order for order in all_weak_orders(len(truth)) if has_property(order, chance)]
    risks = np.unique(np.concatenate([path(order, chance)[1] for order in orders]))
    return coverages(truth, chance, risks), [(order, coverages(order, chance, risks)) for order in orders]


@pytest.mark.parametrize("seed", range(4))
def test_no_scoring_dominates_phi(seed):
    _, p, f = population(np.random.default_rng(seed), 5, 3)
    phi, _ = truths(p, f)
    own, rivals = rivals_of(phi, phi)
    assert len(rivals) > 30
    for order, other in rivals:
        assert (own >= other).all()  # at no accuracy does another scoring keep more
        same = np.array_equal(np.argsort(order, kind="stable"), np.argsort(phi)) and len(set(order)) == len(phi)
        assert (own > other).any() != same


@pytest.mark.parametrize("seed", range(4))
def test_no_scoring_dominates_psi_for_two_classes(seed):
    rng = np.random.default_rng(seed)
    p, f = rng.dirichlet([1, 1], size=5), rng.dirichlet([1, 1], size=5)
    f[0], f[1], f[4] = p[0], p[1], 1 - p[4]  # two agree with the Bayes label, and one does not
    _, psi = truths(p, f)
    misaligned = (p.argmax(axis=1) != f.argmax(axis=1)).astype(float)
    own, rivals = rivals_of(psi, misaligned)
    for _, other in rivals:
        assert (own >= other).all()
    assert any((own > other).any() for _, other in rivals)


def test_neither_of_two_scorings_dominates_the_other_for_every_phi():
    """The model and both scorings stay; only what is true changes, and with it the better scoring."""
    f = np.array([[0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
    first, second = np.array([0, 1, 2]), np.array([1, 0, 2])
    risks = np.linspace(0.05, 0.5, 46)
    for correct, better, worse in (((0.9, 0.8, 0.6), first, second), ((0.8, 0.9, 0.6), second, first)):
        p = np.column_stack([correct, 1 - np.array(correct)])
        phi, _ = truths(p, f)
        assert has_property(better, phi)
        kept, less = coverages(better, phi, risks), coverages(worse, phi, risks)
        assert (kept >= less).all()
        assert (kept > less).any()
        pairs = pair_weights(np.full(3, 1 / 3), p, errors_of(p, f))
        assert concordance_of(better, pairs) > concordance_of(worse, pairs)


def test_neither_of_two_scorings_dominates_the_other_for_every_model():
    """The truth and both scorings stay; only the model changes, and with it the better scoring for ψ."""
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    first, second = np.array([0, 1, 2]), np.array([2, 1, 0])
    risks = np.linspace(0.0, 0.9, 91)
    for kept_probs, better, worse in (((0.9, 0.8, 0.2), first, second), ((0.2, 0.8, 0.9), second, first)):
        f = np.column_stack([kept_probs, 1 - np.array(kept_probs)])
        _, psi = truths(p, f)
        np.testing.assert_allclose(psi, 1 - np.array(kept_probs))
        misaligned = (f.argmax(axis=1) != 0).astype(float)
        kept, less = coverages(better, misaligned, risks), coverages(worse, misaligned, risks)
        assert (kept >= less).all()
        assert (kept > less).any()
        pairs = pair_weights(np.full(3, 1 / 3), p, 1 - f)
        assert concordance_of(better, pairs) > concordance_of(worse, pairs)


# ------------------------------------------------------------------------------------- calibration versus ranking


def softmax(logits, temperature=1.0):
    z = logits / temperature
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def both_metrics(weight, p, f):
    scores = 1 - f.max(axis=1)
    return np.array([concordance_of(scores, pair_weights(weight, p, loss)) for loss in (errors_of(p, f), 1 - f)])


@pytest.mark.parametrize("seed", SEEDS)
def test_temperature_leaves_both_metrics_of_the_softmax_score_for_two_classes(seed):
    rng = np.random.default_rng(seed)
    weight, p, _ = population(rng, 7, 2)
    logits = rng.normal(size=(7, 2))
    reference = both_metrics(weight, p, softmax(logits))
    for temperature in (0.25, 0.8, 3.0, 20.0):
        np.testing.assert_allclose(both_metrics(weight, p, softmax(logits, temperature)), reference, rtol=1e-12)


def test_temperature_may_change_both_metrics_for_three_classes():
    logits = np.array([[2.0, 0.0, 0.0], [2.1, 0.6, -6.0], [1.0, 0.5, 0.0]])
    weight, p = np.ones(3) / 3, np.array([[0.7, 0.2, 0.1], [0.9, 0.1, 0.0], [0.4, 0.3, 0.3]])
    one, other = (both_metrics(weight, p, softmax(logits, temperature)) for temperature in (0.3, 3.0))
    assert (np.abs(one - other) > 0.01).all()


# --------------------------------------------------------------------------------------------- through the library


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_of_the_enumerated_population_against_brute_force(seed, n_classes):
    rng = np.random.default_rng([seed, n_classes])
    weight, p, f = population(rng, 5, n_classes)
    for scores in (*truths(p, f), rng.integers(0, 3, size=5).astype(float)):
        s, w = enumerated(weight, p, scores)
        for metric, loss in ((uq_auc_score, errors_of(p, f)), (uq_c_index_score, 1 - f)):
            expected = concordance_of(scores, pair_weights(weight, p, loss))
            assert float(metric(enumerated(weight, p, loss)[0], s, sample_weight=w)) == pytest.approx(
                expected, abs=1e-12
            )


# Theorem 9.1 and the set-valued classifier (12) of the paper on ranking metrics on finite populations, by enumeration.

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


if __name__ == "__main__":
    for n_inputs in (3, 4, 5, 6):
        for n_classes in (2, 3, 4, 10):
            missed, lost = share_missed(n_classes, n_inputs, 1000)
            print(f"{n_inputs} inputs, {n_classes} classes: missed {missed:.3f}, lost there {lost:.4f}", flush=True)
