"""What several test files of this room share."""

from itertools import product

import numpy as np

ALL_SETS = {k: np.array([s for s in product([False, True], repeat=k) if any(s)]) for k in (2, 3, 4)}


def random_points(seed, n, n_points, k, concentration=1.0):
    rng = np.random.default_rng(seed)
    return rng, rng.dirichlet(np.full(k, concentration), (n, n_points))


def random_masses(seed, n, k, concentration=0.3):
    rng = np.random.default_rng(seed)
    return rng, rng.dirichlet(np.full(len(ALL_SETS[k]), concentration), n), ALL_SETS[k]
