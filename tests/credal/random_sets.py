"""Random credal sets for tests, and their entropies and vertices by brute force."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

ALL_SETS = {k: np.array([s for s in product([False, True], repeat=k) if any(s)]) for k in (2, 3, 4)}


def entropy(p):
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1)


def enumerate_vertices(l, u):
    """Every point of one box ∩ simplex with all classes but one at a bound."""
    K = len(l)
    corners = np.array(list(product((False, True), repeat=K)))
    p = np.where(corners, u, l)  # (2^K, K)
    points = []
    for free in range(K):
        q = p.copy()
        q[:, free] = 1.0 - np.delete(p, free, axis=1).sum(axis=1)
        points.append(q[(q[:, free] >= l[free] - 1e-12) & (q[:, free] <= u[free] + 1e-12)])
    return np.maximum(np.concatenate(points), 0.0)


@st.composite
def member_sets(draw, max_classes=6):
    """Members on a coarse grid: ties between classes, zeros, equal bounds and equal members all occur."""
    K = draw(st.integers(2, max_classes))
    M = draw(st.integers(1, 4))
    counts = draw(st.lists(st.lists(st.integers(0, 6), min_size=K, max_size=K), min_size=M, max_size=M))
    p = np.array(counts, dtype=float)
    p[p.sum(axis=1) == 0, draw(st.integers(0, K - 1))] = 1.0
    return p / p.sum(axis=1, keepdims=True)  # (M, K)


@st.composite
def boxes(draw, max_classes=6):
    """Boxes around a distribution, of unlike widths, reachable or not, some of width zero."""
    K = draw(st.integers(2, max_classes))
    unit = st.floats(0, 1, allow_subnormal=False)
    centre = np.array(draw(st.lists(unit, min_size=K, max_size=K))) + 1e-3
    centre /= centre.sum()
    down, up = (np.array(draw(st.lists(st.one_of(unit, st.just(0.0)), min_size=K, max_size=K))) for _ in range(2))
    return centre * (1.0 - down), np.minimum(centre * (1.0 + 3.0 * up), 1.0)


def flat_boxes(n, K, M=5, seed=0):
    p = np.random.default_rng(seed).dirichlet(np.ones(K), size=(n, M))
    return p.min(axis=1), p.max(axis=1)


def random_points(seed, n, n_points, k, concentration=1.0):
    rng = np.random.default_rng(seed)
    return rng, rng.dirichlet(np.full(k, concentration), (n, n_points))


def random_masses(seed, n, k, concentration=0.3):
    rng = np.random.default_rng(seed)
    return rng, rng.dirichlet(np.full(len(ALL_SETS[k]), concentration), n), ALL_SETS[k]
