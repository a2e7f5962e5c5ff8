"""Exact measures of two-class Gaussian logits, against many draws and against the general formulas at the nodes of a rule."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.measures.entropies import is_two_class_gaussian, two_class_parts, two_class_regrets, two_class_votes
from uqassay.measures.variance import predicted_class_variance, variation_ratio, vote_shares

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
EXACT = ("information-theoretic", "variance", "label-wise", "log", "brier")


def logits(n=7, m=1, variance_is="epistemic", scale=1.0, **options):
    g = np.random.default_rng([n, m])
    mean, variance = 2.0 * g.normal(size=(n, m, 2)), scale * g.gamma(2.0, size=(n, m, 2))
    return uq.GaussianLogits(mean, variance, variance_is=variance_is, **options)


def at_nodes(prediction):
    """The same distribution as weighted members: 120 Gauss-Hermite nodes for each pass."""
    mean, deviation = prediction.two_class_logits()
    z = (mean[..., None] + deviation[..., None] * NODES).reshape(len(mean), -1)
    share = np.tile(WEIGHTS / WEIGHTS.sum(), prediction.n_passes) / prediction.n_passes
    return uq.Members(np.stack([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))], axis=2), weights=share)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("name", EXACT)
def test_decompositions_against_the_members_of_a_rule(name, m):
    prediction = logits(m=m, scale=0.3)
    assert is_two_class_gaussian(prediction)
    found, expected = uq.measures.decompose(prediction, name), uq.measures.decompose(at_nodes(prediction), name)
    for part in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(found, part), getattr(expected, part), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("score", ["log", "brier"])
def test_pairwise_scores_against_the_members_of_a_rule(score, m):
    prediction = logits(m=m, scale=0.3)
    found, expected = (
        uq.measures.proper_score_decomposition(p, score, reference="pairwise")
        for p in (prediction, at_nodes(prediction))
    )
    np.testing.assert_allclose(found.epistemic, expected.epistemic, rtol=1e-9)


@pytest.mark.parametrize("m", [1, 3])
def test_everything_against_many_draws(m):
    prediction = logits(m=m)
    many = uq.Members(prediction.sample(4000, 1))  # standard errors of at most 0.008 for values in [0, 1]
    np.testing.assert_allclose(prediction.mean_probs(), many.mean_probs(), atol=0.03)
    for name in (*EXACT, "zero-one"):
        found, expected = uq.measures.decompose(prediction, name), uq.measures.decompose(many, name)
        for part in ("total", "aleatoric", "epistemic"):
            np.testing.assert_allclose(getattr(found, part), getattr(expected, part), atol=0.06)
    np.testing.assert_allclose(predicted_class_variance(prediction), predicted_class_variance(many), atol=0.015)
    np.testing.assert_allclose(vote_shares(prediction), vote_shares(many), atol=0.03)
    np.testing.assert_allclose(variation_ratio(prediction), variation_ratio(many), atol=0.03)
    found, expected = (
        uq.measures.proper_score_decomposition(p, "zero-one", reference="pairwise") for p in (prediction, many)
    )
    np.testing.assert_allclose(found.epistemic, expected.epistemic, atol=0.03)


def test_neither_seed_nor_number_of_draws_matters_but_to_the_set():
    one, other = logits(n_draws=100, seed=0), logits(n_draws=17, seed=5)
    np.testing.assert_array_equal(one.mean_probs(), other.mean_probs())
    np.testing.assert_array_equal(two_class_parts(one), two_class_parts(other))
    assert not np.array_equal(one.upper_probs(), other.upper_probs())
    assert not np.array_equal(
        uq.measures.decompose(one, "spherical").epistemic, uq.measures.decompose(other, "spherical").epistemic
    )


def test_aleatoric_passes_are_exact_points():
    prediction = logits(m=4, variance_is="aleatoric")
    each = [
        uq.GaussianLogits(prediction.mean[:, t], prediction.variance[:, t], variance_is="epistemic") for t in range(4)
    ]
    np.testing.assert_array_equal(prediction.hull_points(), np.stack([one.mean_probs() for one in each], axis=1))
    assert not is_two_class_gaussian(prediction)
    d = uq.measures.entropy_decomposition(prediction)
    np.testing.assert_allclose(d.total, uq.measures.entropy(prediction), rtol=1e-12)


def test_equal_passes_are_one_and_their_order_does_not_matter():
    one = logits()
    three = uq.GaussianLogits(one.mean.repeat(3, axis=1), one.variance.repeat(3, axis=1), variance_is="epistemic")
    np.testing.assert_allclose(two_class_parts(three), two_class_parts(one), rtol=1e-14)
    mixed = logits(m=5)
    turned = uq.GaussianLogits(mixed.mean[:, ::-1], mixed.variance[:, ::-1], variance_is="epistemic")
    np.testing.assert_array_equal(turned.mean_probs(), mixed.mean_probs())
    np.testing.assert_allclose(two_class_parts(turned), two_class_parts(mixed), rtol=1e-13)
    np.testing.assert_array_equal(two_class_votes(turned), two_class_votes(mixed))


def test_relabelling_the_classes_changes_nothing():
    prediction = logits(m=2)
    swapped = uq.GaussianLogits(prediction.mean[..., ::-1], prediction.variance[..., ::-1], variance_is="epistemic")
    np.testing.assert_array_equal(swapped.mean_probs(), prediction.mean_probs()[:, ::-1])
    np.testing.assert_allclose(two_class_parts(swapped), two_class_parts(prediction), rtol=1e-12)
    np.testing.assert_array_equal(two_class_regrets(swapped)[1], two_class_regrets(prediction)[1][:, ::-1])
    np.testing.assert_array_equal(two_class_votes(swapped), two_class_votes(prediction)[:, ::-1])
    assert uq.GaussianLogits([[1.0, 1.0]], [[2.0, 3.0]], variance_is="epistemic").mean_probs().tolist() == [[0.5, 0.5]]


def test_certain_impossible_and_extreme_logits():
    mean = [[2.0, 0.0], [0.0, 0.0], [-np.inf, 1.0], [1e300, -1e300], [0.0, 0.0]]
    variance = [[0.0, 0.0], [0.0, 0.0], [4.0, 4.0], [1e300, 1e300], [1e300, 1e300]]
    prediction = uq.GaussianLogits(mean, variance, variance_is="epistemic")
    parts = two_class_parts(prediction)
    assert np.isfinite(np.stack(parts)).all()
    assert parts.epistemic[:4].tolist() == parts.among[:4].tolist() == [0.0] * 4
    np.testing.assert_array_equal(parts.total[:4], parts.aleatoric[:4])
    np.testing.assert_allclose([parts.total[4], parts.epistemic[4]], np.log(2), rtol=1e-12)  # p is 0 or 1
    assert vote_shares(prediction).tolist() == [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
    mixed = uq.GaussianLogits([[[-np.inf, 0.0], [0.0, 0.0]]], np.ones((1, 2, 2)), variance_is="epistemic")
    assert two_class_parts(mixed).pairwise.tolist() == [np.inf]
    both = uq.GaussianLogits([[[-np.inf, 0.0], [-np.inf, 0.0]]], np.ones((1, 2, 2)), variance_is="epistemic")
    assert np.stack(two_class_parts(both)).tolist() == [[0.0]] * 6


def test_one_versus_rest_of_two_classes_is_the_same_distribution():
    prediction = logits(class_names=("no", "yes"))
    first, second = prediction.one_versus_rest("no"), prediction.one_versus_rest(1)
    assert first.class_names == ("not no", "no")
    np.testing.assert_array_equal(first.mean_probs(), prediction.mean_probs()[:, ::-1])
    np.testing.assert_array_equal(second.mean_probs(), prediction.mean_probs())
    np.testing.assert_array_equal(first.upper_probs(), prediction.upper_probs()[:, ::-1])
    with pytest.raises(uq.InputError, match="must have two classes"):
        uq.GaussianLogits(np.zeros((1, 3)), np.ones((1, 3)), variance_is="epistemic").two_class_logits()
