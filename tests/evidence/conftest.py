"""Predictions of every kind that several tests of evidence share."""

import pytest
from tests.kinds import KINDS, random_prediction


@pytest.fixture
def all_kinds(random_generator):
    """Every kind on the same 60 instances with 4 classes, and labels."""
    models = {kind: random_prediction(kind, random_generator, 60, 4) for kind in KINDS}
    return models, random_generator.integers(4, size=60)


@pytest.fixture
def both(random_generator):
    """Every kind on 60 instances inside and 45 outside, with labels for both."""
    inside = {kind: random_prediction(kind, random_generator, 60, 4) for kind in KINDS}
    outside = {kind: random_prediction(kind, random_generator, 45, 4) for kind in KINDS}
    return inside, outside, random_generator.integers(4, size=60), random_generator.integers(4, size=45)
