"""What several test files of this room share."""

import itertools

import numpy as np
from tests.calibration.kernel_cases import (
    term,
)


def defined(labels, probs, k, estimator, block=2):
    """The estimators as loops over pairs."""
    n = len(labels)
    h = [[term(probs[i], labels[i], probs[j], labels[j], k) for j in range(n)] for i in range(n)]
    if estimator == "biased":
        return float(np.mean(h))
    block = {"quadratic": n, "linear": 2, "block": block}[estimator]
    means = []
    for start in range(0, n - block + 1, block):
        inside = itertools.combinations(range(start, start + block), 2)
        means.append(np.mean([h[i][j] for i, j in inside]))
    return float(np.mean(means))
