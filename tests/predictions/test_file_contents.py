"""What readers return, and text that goes into metadata."""

import json
import warnings

import numpy as np
import pytest

from uqassay.predictions.file_contents import StoredArray, quiet, split_text, text_from_json


def test_text_and_numbers_come_apart():
    arrays = {"ids": np.array(["a", "b"]), "probs": np.asfortranarray(np.eye(3, dtype=">f4"))}
    numbers, text = split_text(arrays)
    assert text == {"ids": ["a", "b"]}
    assert numbers["probs"].dtype == np.dtype("f4").newbyteorder("=")
    assert numbers["probs"].flags.c_contiguous
    np.testing.assert_array_equal(numbers["probs"], np.eye(3))


@pytest.mark.parametrize("value", ["{", "[" * 10**5, [1, 2], [], {"a": 1}, None, "5", ["a", 1]])
def test_other_values_than_lists_of_text_are_passed_over(value):
    assert text_from_json({"notes": value}, 10**6) == {}


def test_lists_of_text_are_taken_from_json_and_as_they_are():
    for value in (["a", "ö"], json.dumps(["a", "ö"])):
        assert text_from_json({"class_names": value}, 10)["class_names"].read().tolist() == ["a", "ö"]


def test_an_array_in_memory_knows_shape_and_type():
    stored = StoredArray.in_memory(np.ones((2, 3), np.float32))
    assert (stored.shape, stored.dtype) == ((2, 3), "float32")


def test_warnings_of_readers_are_dropped(recwarn):
    import warnings

    with quiet():
        warnings.warn("of a reader", stacklevel=1)
    assert not recwarn.list


def test_the_last_of_overlapping_blocks_restores_the_filters_of_warnings():
    before = list(warnings.filters)
    first, second = quiet(), quiet()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    warnings.warn("inside the second block", stacklevel=1)
    second.__exit__(None, None, None)
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="outside"):
        warnings.warn("outside", stacklevel=1)
