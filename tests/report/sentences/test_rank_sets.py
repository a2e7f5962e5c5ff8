"""Words of the rank sets: the level is that of the assay."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.report.sentences import rank_set_sentences

pytestmark = pytest.mark.usefixtures("without_calibration")


def assay(**options):
    p = np.random.default_rng(0).dirichlet([1, 1], size=50)
    return uq.assay({"m": uq.Point(p)}, [0, 1] * 25, calibration=(), n_draws=20, **options)


def test_the_level_is_that_of_the_assay():
    text = rank_set_sentences(assay(level=0.9))
    assert "90 % for all models at once" in text["note"]
    assert "90 % for all λ at once" in text["top_note"]
