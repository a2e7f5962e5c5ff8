"""Overlapping sets of classes by brute force, and classes of embeddings with a known covariance."""

from itertools import combinations

import numpy as np

CROSS = {d: np.concatenate([np.eye(d), -np.eye(d)]) for d in (1, 2, 3)}  # covariance 2/(2d−1)·I


def exhaustive(u, weights, n_sets, max_size):
    scored = []
    for size in range(2, max_size + 1):
        for classes in combinations(range(len(u)), size):
            rows = np.asarray(u, dtype=float)[list(classes)]
            intersection = (rows.min(axis=0) * weights).sum()
            if intersection > 0:
                union = (rows.max(axis=0) * weights).sum()
                scored.append((-round(float(intersection / union), 12), size, classes))
    return [classes for _, _, classes in sorted(scored)[:n_sets]]
