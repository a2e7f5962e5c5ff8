"""What several test files of this room share."""

import numpy as np

from uqassay.calibration.monte_carlo import labels_from

NULLS = ("minimised", "random", "berger-boos")


def ensemble(rng, n=40, m=3, k=3, truth=None):
    """Members, and labels from member 0 or from another truth."""
    members = rng.dirichlet(np.ones(k), (n, m))
    return labels_from(members[:, 0] if truth is None else truth, 1, rng)[0], members
