"""Small data and splits for studies of the gain, and estimators written by hand."""

from types import SimpleNamespace

import numpy as np


def stripes(n=240, seed=0, k=3):
    """Instances in the unit square; the class is the stripe that an instance lies in."""
    X = np.random.default_rng(seed).random((n, 2))
    return X, np.minimum((X[:, 0] * k).astype(int), k - 1)


class Corner:
    """Divides rows by a corner of the plane: few of its rows train, some test, the rest is added."""

    def __init__(self, edge=0.6, train_share=0.1, test_share=0.5):
        self.edge, self.train_share, self.test_share, self.random_state = edge, train_share, test_share, None

    def divide(self, X, random_state):
        rng = np.random.default_rng(random_state)
        inside = rng.permutation(np.flatnonzero((self.edge + X > 1).all(axis=1)))
        n_test, n_train = int(self.test_share * len(inside)), int(self.train_share * len(inside))
        test, added = inside[:n_test], inside[n_test + n_train :]
        rest = np.setdiff1d(np.arange(len(X)), test)
        return SimpleNamespace(train=np.setdiff1d(rest, added), test=test, augmented=rest)


class Rows:
    """Gives the rows that it was made with."""

    def __init__(self, train, test, augmented):
        self.rows = SimpleNamespace(train=train, test=test, augmented=augmented)

    def divide(self, X, random_state):
        return self.rows


class Nearest:
    """One nearest neighbour in each half of the training data, as two members; it knows only the classes that it saw."""

    def __init__(self, sharpness=5.0):
        self.sharpness, self.random_state = sharpness, None

    def fit(self, X, y):
        self.labels = np.unique(y)
        self.halves = [(X[i::2], y[i::2]) for i in (0, 1)]

    def predict_uncertainty(self, X):
        members = []
        for known, y in self.halves:
            distance = np.stack(
                [((X[:, None] - known[None, y == k]) ** 2).sum(axis=2).min(axis=1, initial=4.0) for k in self.labels],
                axis=1,
            )
            weight = np.exp(-self.sharpness * distance)
            members.append(weight / weight.sum(axis=1, keepdims=True))
        return np.stack(members, axis=1)
