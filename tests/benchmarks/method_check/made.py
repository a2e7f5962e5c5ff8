"""Made results of trainings, whose verdicts are known."""

import numpy as np

import uqassay as uq
from uqassay.lab.bench.store import StoredResult


def result_of(prediction, labels, scores=None, **facts):
    known = {"train_accuracy": 1.0, "fit_seconds": 1.0, "cores": 2, "n_train": 8, "n_test": len(labels)}
    return StoredResult(prediction, np.asarray(labels), scores or {}, {"facts": {**known, **facts}})


def ensemble(rng, n, member_noise):
    """Five members around the truth; without noise they are all the same."""
    y = rng.integers(0, 3, n)
    logits = 2.0 * np.eye(3)[y][:, None] + rng.normal(size=(n, 1, 3)) + member_noise * rng.normal(size=(n, 5, 3))
    return uq.Members.from_logits(logits), y


def right_in(share, n=200):
    """A point prediction that is right for so large a share of labels 0."""
    wrong = np.arange(n) >= share * n
    return uq.Point(np.stack([1.0 - wrong, wrong], axis=1)), np.zeros(n, dtype=int)
