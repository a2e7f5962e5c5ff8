"""Assays that the figures are judged on."""

import numpy as np
import pytest
from tests.kinds import random_prediction
from tests.report.figures.cases import KINDS, members

import uqassay as uq


@pytest.fixture(scope="session")
def assay():
    """Four kinds on 60 instances of 4 classes."""
    rng = np.random.default_rng(5)
    models = {kind: random_prediction(kind, rng, 60, 4) for kind in KINDS}
    return uq.assay(models, rng.integers(4, size=60), tradeoffs=(0.25, 0.5, 1.0), n_draws=200)


@pytest.fixture(scope="session")
def grouped():
    """Three runs of one model, two of another, in groups of five, so that nothing is quadratic in λ."""
    rng = np.random.default_rng(6)
    models = {"a": [members(rng) for _ in range(3)], "b": [members(rng, sharp=0.3) for _ in range(2)]}
    y = rng.integers(4, size=60)
    return uq.assay(models, y, groups=np.repeat(np.arange(12), 5), tradeoffs=(0.5,), n_draws=100)
