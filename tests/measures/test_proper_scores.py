"""Decompositions of proper scores: from the mean and pairwise, against loops over all pairs of members."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import (
    entropy_decomposition,
    proper_score_decomposition,
    variance_decomposition,
    zero_one_decomposition,
)
from uqassay.measures.proper import PROPER_SCORES, REFERENCES

PARTS = ("total", "aleatoric", "epistemic")


def loss(score, p, y):
    """Loss of the forecast p if the label is y; of classes that tie, one is guessed at random."""
    match score:
        case "log":
            return -np.log(p[y])
        case "brier":
            return sum((float(c == y) - p[c]) ** 2 for c in range(len(p)))
        case "spherical":
            return 1 - p[y] / np.sqrt(sum(x * x for x in p))
    best = [c for c in range(len(p)) if p[c] == max(p)]
    return 1 - (y in best) / len(best)


def expected_loss(score, truth, forecast):
    return sum(truth[y] * loss(score, forecast, y) for y in range(len(truth)) if truth[y] > 0)


def shares_of(weights, n, m):
    w = np.broadcast_to(1.0 if weights is None else weights, (n, m))
    return w / w.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.0, 5.0], "own"])
@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("score", PROPER_SCORES)
def test_parts_are_expected_losses_by_brute_force(score, reference, weights, random_generator):
    probs = random_generator.dirichlet(np.ones(3), (12, 4))
    weights = random_generator.random((12, 4)) if isinstance(weights, str) else weights
    found = proper_score_decomposition(uq.Members(probs, weights), score, reference=reference)
    for i, w in enumerate(shares_of(weights, 12, 4)):
        mean = [sum(w[m] * probs[i, m, c] for m in range(4)) for c in range(3)]
        aleatoric = sum(w[m] * expected_loss(score, probs[i, m], probs[i, m]) for m in range(4))
        if reference == "mean":
            total = sum(w[m] * expected_loss(score, probs[i, m], mean) for m in range(4))
        else:
            total = sum(
                w[m] * w[o] * expected_loss(score, probs[i, m], probs[i, o]) for m in range(4) for o in range(4)
            )
        assert found.total[i] == pytest.approx(total, rel=1e-11)
        assert found.aleatoric[i] == pytest.approx(aleatoric, rel=1e-11)
        assert found.epistemic[i] == pytest.approx(total - aleatoric, abs=1e-13)


def test_from_the_mean_three_scores_are_decompositions_of_other_names(random_generator):
    for kind in ("Point", "Members", "Dirichlet", "GaussianLogits"):
        prediction = random_prediction(kind, random_generator)
        for score, other in (
            ("log", entropy_decomposition),
            ("brier", variance_decomposition),
            ("zero-one", zero_one_decomposition),
        ):
            found, expected = proper_score_decomposition(prediction, score), other(prediction)
            for part in PARTS:
                np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_two_members_in_closed_form():
    """(a, 1 − a) and (1 − a, a): a pair is drawn with probability ½."""
    a = np.array([0.5, 0.6, 0.75, 0.99])
    two = uq.Members(np.stack([np.stack([a, 1 - a], axis=1), np.stack([1 - a, a], axis=1)], axis=1))
    found = {score: proper_score_decomposition(two, score, reference="pairwise").epistemic for score in PROPER_SCORES}
    np.testing.assert_allclose(found["log"], (2 * a - 1) * np.log(a / (1 - a)) / 2, atol=1e-15)
    np.testing.assert_allclose(found["brier"], (2 * a - 1) ** 2, atol=1e-15)
    norm = np.sqrt(a**2 + (1 - a) ** 2)
    np.testing.assert_allclose(found["spherical"], (norm - 2 * a * (1 - a) / norm) / 2, atol=1e-15)
    np.testing.assert_allclose(found["zero-one"], (2 * a - 1) / 2, atol=1e-15)
    mean = proper_score_decomposition(two, "spherical")
    np.testing.assert_allclose(mean.total, 1 - np.sqrt(0.5), rtol=1e-14)
    np.testing.assert_allclose(mean.epistemic, norm - np.sqrt(0.5), atol=1e-15)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("score", PROPER_SCORES)
@pytest.mark.parametrize("n_members", [1, 3, 7, 100])
def test_members_that_agree_have_no_epistemic_part(n_members, score, reference, random_generator):
    p = random_generator.dirichlet(np.full(4, 0.3), (60, 1))
    p[0], p[1] = [1, 0, 0, 0], [0.5, 0.5, 0, 0]
    probs = np.repeat(p, n_members, axis=1)
    for members in (uq.Members(probs), uq.Members(np.concatenate([probs, np.nextafter(p, 1.0)], axis=1))):
        found = proper_score_decomposition(members, score, reference=reference)
        positive = (members.probs > 0).all(axis=(1, 2)) | (members.probs == p).all(axis=(1, 2))
        assert (found.epistemic[positive] == 0).all()
        np.testing.assert_array_equal(found.aleatoric[positive], found.total[positive])


@pytest.mark.parametrize("score", PROPER_SCORES)
def test_pairs_disagree_at_least_as_much_as_members_and_mean(score, random_generator):
    """E D(p, q) ≥ E D(p, p̄), because the mean is the best forecast."""
    members = uq.Members(random_generator.dirichlet(np.full(5, 0.5), (300, 6)))
    mean, pairs = (proper_score_decomposition(members, score, reference=reference) for reference in REFERENCES)
    assert (pairs.epistemic >= mean.epistemic - 1e-15).all()
    np.testing.assert_array_equal(pairs.aleatoric, mean.aleatoric)
    np.testing.assert_allclose(mean.total, mean.aleatoric + mean.epistemic, rtol=1e-12)


def test_a_class_ruled_out_by_one_member_makes_the_pairwise_divergence_infinite():
    members = uq.Members(
        [
            [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]],
            [[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]],
            [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
            [[0.5, 0.5, 0.0], [0.5, 0.4, 0.1]],
        ]
    )
    found = proper_score_decomposition(members, "log", reference="pairwise")
    assert np.isinf(found.epistemic).tolist() == [True, False, False, True]
    assert np.isinf(found.total).tolist() == [True, False, False, True]
    assert np.isfinite(found.aleatoric).all()
    assert found.epistemic[2] == 0.0
    assert found.epistemic[1] == pytest.approx(0.25 * np.log(3) / 4)
    ignored = uq.Members(members.probs, weights=[1, 0])
    assert (proper_score_decomposition(ignored, "log", reference="pairwise").epistemic == 0).all()


def test_least_numbers_of_a_float_do_not_overflow():
    tiny = np.array([[[5e-324, 1.0], [0.0, 1.0]], [[5e-324, 1.0], [1e-300, 1.0]]])
    for score in PROPER_SCORES:
        for reference in REFERENCES:
            found = proper_score_decomposition(uq.Members(tiny), score, reference=reference)
            assert not np.isnan(found.epistemic).any(), score
            assert np.isfinite(found.epistemic[1]), score


@pytest.mark.parametrize("spread", [1e-3, 1e-9, 1e-13])
def test_small_differences_keep_their_digits(spread, random_generator):
    """To second order: KL both ways ½ Σ d² / p̄ each, spherical ‖d⊥‖² / 2‖p̄‖."""
    base = random_generator.dirichlet(np.full(3, 5.0), 20)
    step = spread * random_generator.uniform(0.5, 1, 20)[:, None] * np.array([1.0, -0.5, -0.5]) * base.min()
    members = uq.Members(np.stack([base + step, base - step], axis=1))
    d = (members.probs[:, 0] - members.probs[:, 1]) / 2
    rtol = max(20 * spread, 1e-15 / spread)
    found = proper_score_decomposition(members, "log", reference="pairwise").epistemic
    np.testing.assert_allclose(found, (d**2 / base).sum(axis=1), rtol=rtol)
    norm = np.linalg.norm(base, axis=1)
    across = (d**2).sum(axis=1) - ((d * base).sum(axis=1) / norm) ** 2
    expected = across / (2 * norm)
    np.testing.assert_allclose(proper_score_decomposition(members, "spherical").epistemic, expected, rtol=20 * rtol)
    found = proper_score_decomposition(members, "spherical", reference="pairwise").epistemic
    np.testing.assert_allclose(found, 2 * expected, rtol=20 * rtol)


@pytest.mark.parametrize("unit", [False, True])
def test_pairwise_scores_of_a_dirichlet_against_many_draws(unit):
    dirichlet = uq.Dirichlet([[3.0, 2.0, 4.0], [20.0, 10.0, 5.0]], unit_concentration=unit)
    concentration = np.ones(2) if unit else dirichlet.alpha.sum(axis=1)
    found = proper_score_decomposition(dirichlet, "log", reference="pairwise")
    np.testing.assert_allclose(found.epistemic, 2 / concentration, rtol=1e-14)
    sampled = uq.Members(dirichlet.sample(10_000, rng=3))
    if not unit:
        many = proper_score_decomposition(sampled, "log", reference="pairwise")
        np.testing.assert_allclose(found.epistemic, many.epistemic, rtol=0.03)
        np.testing.assert_allclose(found.aleatoric, many.aleatoric, rtol=0.01)
    found = proper_score_decomposition(dirichlet, "brier", reference="pairwise")
    many = proper_score_decomposition(sampled, "brier", reference="pairwise")
    np.testing.assert_allclose(found.epistemic, many.epistemic, rtol=0.03)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_short_numbers(dtype, random_generator):
    probs = random_generator.dirichlet(np.ones(4), (30, 5)).astype(dtype)
    for score in PROPER_SCORES:
        for reference in REFERENCES:
            found = proper_score_decomposition(uq.Members(probs), score, reference=reference)
            assert all(getattr(found, part).dtype == np.float64 for part in PARTS)
            assert (found.epistemic >= 0).all()
            np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, atol=2e-3)


def test_unknown_scores_references_and_sets_are_refused(random_generator):
    members = random_prediction("Members", random_generator)
    with refuses("score", "choice", got="got 'kl'"):
        proper_score_decomposition(members, "kl")
    with refuses("reference", "choice", got="got 'pairs'"):
        proper_score_decomposition(members, "log", reference="pairs")
    for kind in ("Intervals", "Masses", "Vertices"):
        assert kind in KINDS
        for score in PROPER_SCORES:
            for reference in REFERENCES:
                with refuses("prediction", "no-distribution", got=f"got {kind}"):
                    proper_score_decomposition(random_prediction(kind, random_generator), score, reference=reference)
