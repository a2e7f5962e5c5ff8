import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from tests.refusals import refuses

from uqassay.credal.distances import DISTANCES
from uqassay.credal.nearest import divergence, one_hot_distance

CLOSED = [name for name in DISTANCES if name != "brier"]


@settings(deadline=None, max_examples=60)
@given(st.floats(0, 1), st.sampled_from(CLOSED), st.integers(0, 1000))
def test_one_hot_depends_on_the_true_class_alone(u, distance, seed):
    rest = np.random.default_rng(seed).dirichlet(np.ones(4)) * (1 - u)
    expected = divergence(np.eye(5)[0], np.r_[u, rest], distance)
    np.testing.assert_allclose(one_hot_distance(u, distance), expected, atol=3e-8, rtol=1e-12)


def test_one_hot_near_one_against_theory():
    rest = 2.0 ** -np.array([20, 30, 40, 50])  # leading terms of the expansion in 1 - u
    js = 0.5 * (rest * np.log(2) + rest**2 / 4)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "js"), js, rtol=1e-10)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "js_distance"), np.sqrt(js), rtol=1e-10)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "hellinger"), np.sqrt(rest / 2 + rest**2 / 8), rtol=1e-10)
    np.testing.assert_allclose(one_hot_distance(1 - rest, "kl"), rest + rest**2 / 2, rtol=1e-10)
    np.testing.assert_array_equal(one_hot_distance(1 - rest, "tv"), rest)


def test_one_hot_extremes():
    u = np.array([0.0, 1.0, np.nextafter(np.float32(1), np.float32(2), dtype=np.float32)])
    expected = {"kl": np.inf, "js": np.log(2), "js_distance": np.sqrt(np.log(2)), "tv": 1.0, "hellinger": 1.0}
    for distance in CLOSED:
        np.testing.assert_allclose(one_hot_distance(u, distance), [expected[distance], 0, 0], rtol=1e-15)
    np.testing.assert_allclose(one_hot_distance(u, "kl", floor=1e-10), [-np.log(1e-10), 0, 0])
    assert not np.signbit(one_hot_distance(u, "kl")).any()
    assert one_hot_distance(np.float16(0.5), "tv").dtype == np.float64
    assert one_hot_distance(np.full((2, 3), 0.5), "js").shape == (2, 3)


def test_divergence_against_scipy_and_definitions():
    rng = np.random.default_rng(5)
    y, p = rng.dirichlet(np.full(6, 0.3), (2, 40))
    y[0], p[1] = np.eye(6)[2], np.eye(6)[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(y > 0, y * np.log(y / p), 0).sum(axis=-1)
    np.testing.assert_allclose(divergence(y, p, "kl"), kl, rtol=1e-12)
    np.testing.assert_allclose(divergence(y, p, "js_distance"), jensenshannon(y, p, axis=-1), rtol=1e-9)
    np.testing.assert_allclose(divergence(y, p, "js"), jensenshannon(y, p, axis=-1) ** 2, rtol=1e-9)
    np.testing.assert_allclose(divergence(y, p, "tv"), 0.5 * np.abs(y - p).sum(axis=-1))
    np.testing.assert_allclose(divergence(y, p, "hellinger") ** 2, 1 - np.sqrt(y * p).sum(axis=-1), atol=1e-14)
    np.testing.assert_allclose(divergence(y, p, "brier"), ((p - y) ** 2).sum(axis=-1))


def test_divergence_broadcasts_and_floors():
    y, p = np.array([[0.5, 0.5, 0], [0, 0, 1]]), np.array([[1, 0, 0], [0, 0.5, 0.5], [0.2, 0.3, 0.5]])
    for distance in DISTANCES:
        table = divergence(y[:, None], p, distance)
        assert table.shape == (2, 3)
        np.testing.assert_array_equal(table[1, 2], divergence(y[1], p[2], distance))
    assert divergence(y[0], p[0], "kl") == np.inf
    floored = divergence(y[0], p[0], "kl", floor=1e-6)
    np.testing.assert_allclose(floored, 0.5 * np.log(0.5) + 0.5 * np.log(0.5 / 1e-6))
    np.testing.assert_allclose(divergence(y[1], y[0], "js"), np.log(2), rtol=1e-14)  # the maximum


def test_divergence_of_near_twins_does_not_cancel():
    y = np.array([0.2, 0.3, 0.5])
    p = y + 1e-9 * np.array([1, -1, 0])
    np.testing.assert_allclose(divergence(y, p, "js_distance"), np.sqrt((1e-18 / 8) * (1 / 0.2 + 1 / 0.3)), rtol=1e-5)
    np.testing.assert_allclose(divergence(y, p, "hellinger"), np.sqrt((1e-18 / 8) * (1 / 0.2 + 1 / 0.3)), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: one_hot_distance(0.5, "brier"), ("distance", "missing")),
        (lambda: one_hot_distance([0.5, 1.1], "kl"), ("upper", "range", "row 1 has 1.1")),
        (lambda: one_hot_distance(0.5, "kld"), ("distance", "choice", "got 'kld'")),
        (lambda: one_hot_distance(0.5, "kl", floor=-1), ("floor", "range", "got -1")),
        (
            lambda: divergence([0.5, 0.5], [0.2, 0.3, 0.5], "tv"),
            ("probs", "shape", r"got \(3,\)"),
        ),
        (lambda: divergence([0.5, 0.5], [1.5, -0.5], "tv"), ("probs", "range", "row 1 has -0.5")),
    ],
)
def test_refusals_name_the_argument_and_the_remedy(call, refusal):
    with refuses(*refusal):
        call()
