"""Values for strict JSON."""

import json

import numpy as np
import pytest

from tests.refusals import refuses
from uqassay.notes import Note
from uqassay.results import number_from_json, plain, read_json


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


def test_a_file_of_json_and_what_is_none(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"é": [1, null]}', encoding="utf-8")
    assert read_json(path) == {"é": [1, None]}
    for content in (b"", b"\xff", b"{", b"[" * 200_000):
        path.write_bytes(content)
        with refuses("path", "unreadable", got=r"a\.json does not"):
            read_json(path)
    path.write_bytes(b" " * 10)
    with refuses("path", "size", got="at most 9 bytes"):
        read_json(path, 9)
