"""Checks of calibration predictions; `test_gain` has them on the command line."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.cli.lenses import check_calibration
from uqassay.evidence import sample_of_pair
from uqassay.predictions import as_prediction


@pytest.fixture
def made():
    """Sample and prediction of n instances with these ids."""

    def make(seed, ids=None, n=6):
        rng = np.random.default_rng(seed)
        before = as_prediction(rng.dirichlet([1, 1], n), "before")
        y, after = rng.integers(0, 2, n), rng.dirichlet([1, 1], n)
        return sample_of_pair(y, before, after), before if ids is None else before.with_metadata(ids=ids)

    return make


def test_other_instances_are_fine(made):
    assert check_calibration(*made(0), *made(1)) == []
    assert check_calibration(*made(0, list("abcdef")), *made(1, list("ghijkl"))) == []
    assert check_calibration(*made(0), *made(1, list("abcdef"))) == []
    (note,) = check_calibration(*made(0, list("abcdef")), *made(1, list("fghijk")))
    assert (note.code, note.facts["shared"]) == ("assumption", 1)


def test_the_test_instances_are_refused(made):
    with refuses("--calibration", "duplicate"):
        check_calibration(*made(0), *made(0))
    assert check_calibration(*made(0, n=1), *made(0, n=1)) == []
