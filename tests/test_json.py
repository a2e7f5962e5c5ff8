"""Values for strict JSON."""

import json

import numpy as np
import pytest

from uqassay._json import number_from_json, plain
from uqassay.notes import Note


def test_everything_a_result_holds_becomes_strict_json():
    value = {
        1: np.float32(0.5),
        "numbers": (0.5, -0.0),
        "list": (np.nan, np.inf, -np.inf, np.int8(3), np.bool_(True), None, "text"),
        "array": np.array([[0.25, np.nan]]),
        "notes": (Note("few", "3 errors", {"count": 3}),),
    }
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == {
        "1": 0.5,
        "numbers": [0.5, -0.0],
        "list": [None, "Infinity", "-Infinity", 3, True, None, "text"],
        "array": [[0.25, None]],
        "notes": [{"code": "few", "text": "3 errors"}],
    }


@pytest.mark.parametrize("number", [0.1, -0.0, np.inf, -np.inf, np.nan, 5e-324])
def test_numbers_come_back(number):
    np.testing.assert_equal(number_from_json(json.loads(json.dumps(plain(number)))), number)
