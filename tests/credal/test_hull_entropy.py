"""Upper and lower entropy over a hull: SLSQP, closed forms, certified gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from tests.credal.random_sets import entropy, member_sets
from tests.refusals import refuses

from uqassay.arrays import as_bfloat16
from uqassay.credal.entropy import hull_lower_entropy, hull_upper_entropy


@settings(deadline=None, max_examples=100)
@given(member_sets(max_classes=8))
def test_hull_upper_against_slsqp(members):
    M = len(members)
    solution = minimize(
        lambda w: -entropy(np.maximum(w @ members, 0)),
        np.full(M, 1 / M),
        bounds=[(0, 1)] * M,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = hull_upper_entropy(members[None])
    weights = np.clip(solution.x, 0, 1)
    reached = entropy(weights / weights.sum() @ members)
    assert found.gap[0] <= 1e-9
    assert found.values[0] + found.gap[0] >= reached - 1e-12
    np.testing.assert_allclose(found.values[0], reached, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("n", "V", "K", "concentration"),
    [(300, 15, 10, 1.0), (100, 100, 10, 0.05), (100, 5, 100, 0.1), (300, 40, 2, 0.1), (50, 300, 3, 0.3), (20, 1, 5, 1)],
)
def test_hull_upper_gap_is_certified(random_generator, n, V, K, concentration):
    P = random_generator.dirichlet(np.full(K, concentration), size=(n, V))
    found = hull_upper_entropy(P)
    assert (found.gap <= 1e-9).all()
    assert (found.gap >= 0).all()
    mixtures = np.einsum("nsv,nvk->nsk", random_generator.dirichlet(np.ones(V), size=(n, 200)), P)
    assert (entropy(mixtures) <= (found.values + found.gap)[:, None] + 1e-12).all()
    tighter = hull_upper_entropy(P, tolerance=1e-11)
    np.testing.assert_allclose(found.values, tighter.values, rtol=0, atol=1.1e-9)


@pytest.mark.parametrize("scale", [1e-6, 0.3, 5.0, 60.0, 400.0])
def test_hull_upper_converges_for_sharp_and_for_alike_members(random_generator, scale):
    logits = random_generator.normal(size=(200, 1, 10)) * 10 + random_generator.normal(size=(200, 12, 10)) * scale
    P = np.exp(logits - logits.max(axis=-1, keepdims=True))
    assert (hull_upper_entropy(P / P.sum(axis=-1, keepdims=True)).gap <= 1e-9).all()


def test_hull_upper_against_theory(random_generator):
    one_hot = np.eye(5)[None]  # all of the simplex
    np.testing.assert_allclose(hull_upper_entropy(one_hot).values, np.log(5), rtol=0, atol=1e-9)
    three = np.eye(5)[None, [0, 2, 2, 4]]  # a face, with a member twice
    np.testing.assert_allclose(hull_upper_entropy(three).values, np.log(3), rtol=0, atol=1e-9)
    # two members of two classes: the mixture nearest to (1/2, 1/2)
    a = random_generator.uniform(0, 1, size=(50, 2))
    nearest = np.clip(0.5, a.min(axis=1), a.max(axis=1))
    found = hull_upper_entropy(np.stack([a, 1 - a], axis=2))
    np.testing.assert_allclose(found.values, entropy(np.stack([nearest, 1 - nearest], axis=1)), rtol=0, atol=1e-9)


def test_hull_upper_of_members_that_sum_to_one_only_roughly(random_generator):
    # Within the tolerance of half precision members are used as they are; the certificate must hold for them too.
    P = random_generator.dirichlet(np.ones(4), size=(100, 2)) * random_generator.uniform(0.9995, 1.0005, (100, 2, 1))
    t = np.linspace(0, 1, 5001)[:, None]
    grid = entropy(t * P[:, None, 0] + (1 - t) * P[:, None, 1]).max(axis=1)
    found = hull_upper_entropy(P)
    assert (found.gap <= 1e-9).all()
    assert (grid <= found.values + found.gap + 1e-13).all()
    np.testing.assert_allclose(found.values, grid, rtol=0, atol=1e-6)


def test_hull_lower_is_at_a_member(random_generator):
    P = random_generator.dirichlet(np.ones(4), size=(50, 6))
    np.testing.assert_allclose(hull_lower_entropy(P), entropy(P).min(axis=1), rtol=1e-13)
    mixtures = np.einsum("nsv,nvk->nsk", random_generator.dirichlet(np.ones(6) * 0.2, size=(50, 500)), P)
    assert (entropy(mixtures) >= hull_lower_entropy(P)[:, None] - 1e-12).all()


def test_points_in_bfloat16_have_its_tolerance():
    points = as_bfloat16(np.array([[[0.20019531, 0.80078125]]], np.float32) + np.float32(0.002))
    assert hull_upper_entropy(points).values[0] == pytest.approx(0.503, abs=5e-3)
    with refuses("points", "sum"):
        hull_upper_entropy(np.array(points.tolist()))
