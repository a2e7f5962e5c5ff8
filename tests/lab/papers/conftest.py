"""Ensembles in a folder; pictures of few points, whose resolution only the tests of `figure_files` look at.

Papers are reproduced with PyTorch and scikit-learn; without them none of these tests runs.
"""

import importlib.util

import numpy as np
import pytest
from tests.conftest import REQUIRE_ALL

from uqassay.lab.papers import figure_files

PRESENT = all(importlib.util.find_spec(name) for name in ("torch", "sklearn"))
# where the run promised to have everything, importing fails the tests instead
collect_ignore_glob = [] if PRESENT or REQUIRE_ALL else ["test_*.py", "*/test_*.py"]


@pytest.fixture(autouse=True, scope="module")
def _small_pictures():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figure_files, "DPI", 50)
        yield


@pytest.fixture
def ensembles(tmp_path):
    """A folder with an ensemble of three, a single classifier, five answers to two questions, and a file without labels."""
    rng = np.random.default_rng(8)
    truth = rng.dirichlet([1.0, 1.0, 1.0], 200)
    labels = (truth.cumsum(axis=1)[:, :-1] <= rng.random((200, 1))).sum(axis=1)
    sharp = truth**3 / (truth**3).sum(axis=1, keepdims=True)
    members = np.stack([truth, sharp, np.full((200, 3), 1 / 3)], axis=1)
    (tmp_path / "inner").mkdir()
    np.savez(tmp_path / "three.npz", probs=members, labels=labels, members=np.array(["true", "sharp", "flat"]))
    np.savez(tmp_path / "inner" / "single.npz", probs=sharp)
    np.save(tmp_path / "labels.npy", labels)
    yes = rng.random((60, 2))
    np.savez(
        tmp_path / "inner" / "questions.npz",
        probs=np.stack([yes] * 5),
        gold=(rng.random((60, 2)) < yes).astype(np.int8),
    )
    np.savez(tmp_path / "sets.npz", lower=np.zeros((200, 3)), upper=np.ones((200, 3)))
    return tmp_path
