"""Reachable bounds of probability intervals against linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.refusals import refuses

from uqassay.credal import intersection_probability, reachable

seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(2, 6))
def test_reachable_bounds_are_attained_against_linear_programs(seed, n_classes):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes))
    lower, upper = p * rng.uniform(0, 1, n_classes), p + (1 - p) * rng.uniform(0, 1, n_classes)
    l, u = reachable(lower[None], upper[None])
    for c in range(n_classes):
        for sign, bound in ((1, l[0, c]), (-1, u[0, c])):
            cost = np.zeros(n_classes)
            cost[c] = sign
            found = linprog(cost, A_eq=np.ones((1, n_classes)), b_eq=[1], bounds=np.stack([lower, upper], axis=1))
            assert sign * found.fun == pytest.approx(bound, abs=1e-9)
    q = intersection_probability(l, u)[0]
    assert q.sum() == pytest.approx(1, abs=1e-12)
    assert (q >= l[0] - 1e-12).all()
    assert (q <= u[0] + 1e-12).all()


@pytest.mark.parametrize(
    ("lower", "upper", "refusal"),
    [
        ([[0.9, 0.9]], [[1, 1]], ("lower", "sum", "row 0 sums to 1.8")),
        ([[0, 0]] * 3, [[1, 1], [1, 0], [0.3, 0.4]], ("upper", "sum")),
        ([[0, 0], [0.6, 0]], [[1, 1], [0.5, 1]], ("lower", "range", "row 1 has lower 0.6 and upper 0.5 for class 0")),
        ([[0, np.nan]], [[1, 1]], ("lower", "range", "row 0 has lower nan")),
        ([[0.501, 0.5001]], [[1, 1]], ("lower", "sum", "row 0 sums to 1.0011")),
        ([0.1, 0.2], [0.5, 0.9], ("lower", "shape", r"got \(2,\)")),
        ([[0.1, 0.2]], [[0.5, 0.9, 1]], ("upper", "shape", r"got \(1, 3\)")),
        ([["a", "b"]], [[1, 1]], ("lower", "type")),
    ],
)
def test_intervals_without_a_distribution_are_refused(lower, upper, refusal):
    with refuses(*refusal):
        reachable(lower, upper)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_rounding_of_every_dtype_is_allowed(random_generator, dtype):
    p = random_generator.dirichlet(np.ones(7), 500).astype(dtype)
    l, u = reachable(p, p)
    assert l.dtype == np.float64
    np.testing.assert_array_equal(l, p.astype(np.float64))
    np.testing.assert_array_equal(u, l)
    assert reachable(p[:0], p[:0])[0].shape == (0, 7)
