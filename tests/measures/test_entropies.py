"""Entropies and their parts against definitions in long arithmetic and against sampling."""

import mpmath
import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.measures import entropy, entropy_decomposition
from uqassay.measures.entropies import agreeing_rows, second_order_members, varied_members


def test_entropy_against_long_arithmetic(random_generator):
    probs = random_generator.dirichlet(np.full(6, 0.2), 30)
    for p, found in zip(probs, entropy(probs), strict=True):
        exact = -sum(mpmath.mpf(float(x)) * mpmath.log(mpmath.mpf(float(x))) for x in p if x > 0)
        assert found == pytest.approx(float(exact), rel=1e-13)
    assert entropy(np.array([1.0, 0.0, 0.0])) == 0.0
    assert not np.signbit(entropy(np.array([1.0, 0.0])))


@pytest.mark.parametrize("kind", KINDS)
def test_entropy_of_a_prediction_is_that_of_its_mean(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20, n_classes=4)
    np.testing.assert_array_equal(entropy(prediction), entropy(prediction.mean_probs()))


def test_entropy_of_an_array_is_that_of_every_distribution_and_of_a_mapping_that_of_the_mean(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (5, 2))
    assert entropy(probs).shape == (5, 2)
    np.testing.assert_array_equal(entropy({"probs": probs}), entropy(uq.Members(probs).mean_probs()))
    assert entropy([[0.5, 0.5]]).tolist() == [np.log(2)]


@pytest.mark.parametrize("given", ["half", None, object(), 0.5, [["a", "b"]], [[0.5, 0.5], [1.0]]])
def test_entropy_refuses_what_has_no_distributions(given):
    with refuses("probs"):
        entropy(given)


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_of_members_against_their_definitions(weighted, random_generator):
    probs = random_generator.dirichlet(np.ones(4), (25, 3))
    weights = np.array([1.0, 2.0, 5.0]) if weighted else np.ones(3)
    found = entropy_decomposition(uq.Members(probs, weights=weights if weighted else None))
    share = weights / weights.sum()
    mean = np.einsum("m,nmk->nk", share, probs)
    np.testing.assert_allclose(found.total, entropy(mean), rtol=1e-12)
    np.testing.assert_allclose(found.aleatoric, entropy(probs) @ share, rtol=1e-12)
    np.testing.assert_allclose(found.epistemic, entropy(mean) - entropy(probs) @ share, atol=1e-12)


def test_tiny_disagreement_is_not_lost_in_the_difference_of_entropies():
    """A spread of 1e-9 gives a mutual information near 1e-18, below the rounding of either entropy."""
    spread = 1e-9
    probs = np.array([[[0.3 + spread, 0.7 - spread], [0.3 - spread, 0.7 + spread]]])
    found = float(entropy_decomposition(uq.Members(probs)).epistemic[0])
    with mpmath.workdps(60):
        p = [mpmath.mpf(float(x)) for x in probs[0, :, 0]]
        q = [mpmath.mpf(float(x)) for x in probs[0, :, 1]]
        mean = (sum(p) / 2, sum(q) / 2)
        exact = sum(a * mpmath.log(a / mean[0]) + b * mpmath.log(b / mean[1]) for a, b in zip(p, q, strict=True)) / 2
    assert found == pytest.approx(float(exact), rel=1e-2)


@pytest.mark.parametrize("pure", ["0", "1"])
def test_the_epistemic_part_of_close_members_against_fifty_digits(pure, monkeypatch):
    """Formula and kernel: no digit is lost to the difference of entropies or of p ln(p / p̄) and p − p̄."""
    monkeypatch.setenv("UQASSAY_PURE", pure)
    for gap in (2.0**-4, 2.0**-12, 2.0**-20, 2.0**-27):
        probs = np.array([[[0.5 - gap, 0.5 + gap], [0.5 + gap, 0.5 - gap]]])
        with mpmath.workdps(50):
            exact = float(sum(mpmath.mpf(p) * mpmath.log(mpmath.mpf(p) / 0.5) for p in probs[0, 0]))
        found = entropy_decomposition(uq.Members(probs)).epistemic[0]
        assert found == pytest.approx(exact, rel=1e-15)


def test_equal_members_have_no_epistemic_part_at_all():
    probs = np.tile(np.random.default_rng(1).dirichlet(np.ones(7), (50, 1)), (1, 9, 1))
    found = entropy_decomposition(uq.Members(probs))
    assert (found.epistemic == 0).all()
    np.testing.assert_array_equal(found.aleatoric, found.total)
    np.testing.assert_array_equal(agreeing_rows(uq.Members(probs), found.epistemic), np.arange(50))


def test_subnormal_probabilities_have_finite_parts():
    """1 / 1e-310 is infinite; 1e-310 ln 1e-310 adds nothing to the entropy of the other classes."""
    with np.errstate(all="raise", under="ignore"):
        d = entropy_decomposition(
            uq.Members([[[1e-310, 0.4, 0.6], [3e-310, 0.6, 0.4]], [[0.0, 0.5, 0.5], [5e-324, 0.5, 0.5]]])
        )
    expected = entropy_decomposition(uq.Members([[[0.4, 0.6], [0.6, 0.4]], [[0.5, 0.5], [0.5, 0.5]]]))
    for part in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(d, part), getattr(expected, part), rtol=1e-12, atol=1e-300)


def test_dirichlet_against_sampling():
    alpha = np.array([[0.5, 2.0, 3.0], [40.0, 1.0, 0.2], [1e-3, 1e-3, 5.0]])
    found = entropy_decomposition(uq.Dirichlet(alpha))
    rng = np.random.default_rng(0)
    for i, a in enumerate(alpha):
        draws = entropy(rng.dirichlet(a, 200_000))
        assert found.aleatoric[i] == pytest.approx(draws.mean(), abs=5 * draws.std() / np.sqrt(len(draws)) + 1e-12)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic, rtol=1e-12)


def test_dirichlets_of_great_concentration_keep_a_small_positive_epistemic_part():
    found = entropy_decomposition(uq.Dirichlet(np.array([[3e9, 7e9]])))
    assert float(found.epistemic[0]) == pytest.approx(1 / (2 * 1e10), rel=1e-6)  # (K − 1) / (2 α₀)


@pytest.mark.parametrize("kind", ["Intervals", "Masses", "Vertices"])
def test_sets_without_a_distribution_are_refused(kind, random_generator):
    for function in (entropy_decomposition, second_order_members, varied_members):
        with refuses("prediction", "no-distribution", got=f"got {kind}"):
            function(random_prediction(kind, random_generator))


def test_a_point_has_no_members_that_could_differ(random_generator):
    point = random_prediction("Point", random_generator)
    with refuses("prediction", "no-members", got="got Point"):
        varied_members(point)
    assert (entropy_decomposition(point).epistemic == 0).all()
    assert (entropy_decomposition(point.probs).epistemic == 0).all()


@pytest.mark.parametrize(
    ("values", "code", "got"),
    [
        (np.zeros((3, 4), dtype=int), "sum", r"row 0"),
        (np.array([[0.5, 0.5], [2.0, -1.0]]), "not-probabilities", r"row 1"),
        (np.array([[0.5, 0.5], [0.5, np.nan]]), "finite", r"row 1"),
    ],
)
def test_what_is_no_distribution_has_no_entropy(values, code, got):
    with refuses("probs", code, got=got):
        entropy(values)
