"""Scores from elsewhere that do not have the shape of scores."""

import re

import numpy as np
import pytest

import uqassay as uq
from uqassay.errors import InputError

POINT = uq.Point(np.array([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3]]))
MASKED = np.ma.masked_array([0.1, 0.2, 0.3], [False, True, False])


@pytest.mark.parametrize(
    ("uncertainties", "message"),
    [
        (np.array([0.1, 0.2, 0.3]), "uncertainties: must be a dict from models to dicts of scores; got ndarray"),
        ([0.1, 0.2, 0.3], "uncertainties: must be a dict from models to dicts of scores; got list"),
        ([], "uncertainties: must be a dict from models to dicts of scores; got list"),
        ({"m": {"s": [[0.1, 0.2], [0.3]]}}, "uncertainties: 's' of 'm' must be a regular array; its rows differ"),
        ({"m": {"s": MASKED}}, "uncertainties: 's' of 'm': must not be masked; 1 of 3 values are masked"),
    ],
)
def test_what_holds_no_scores_is_refused(uncertainties, message):
    with pytest.raises(InputError, match=re.escape(message)):
        uq.assay({"m": POINT}, [0, 1, 1], uncertainties=uncertainties, n_draws=20)
