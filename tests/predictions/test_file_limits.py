"""Limits on what a file may make of memory."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.predictions.file_limits import (
    FREE_BYTES,
    GREATEST_BYTES,
    GREATEST_RATIO,
    VARIABLE,
    check_expansion,
    check_fits,
    text_array,
)


def test_a_stored_array_must_fit_exactly_to_the_byte():
    check_fits("a", (3, 4), 8, 96)
    with refuses("a", "truncated", got=r"shape \(3, 4\) needs 96 bytes and 95 bytes are there"):
        check_fits("a", (3, 4), 8, 95)


@pytest.mark.parametrize(
    ("stored", "limit"),
    [
        (0, FREE_BYTES),
        (FREE_BYTES // GREATEST_RATIO, FREE_BYTES),
        (10**7, GREATEST_RATIO * 10**7),
        (10**12, GREATEST_BYTES),
    ],
)
def test_what_a_compressed_array_may_take(stored, limit):
    check_expansion("a", (limit,), 1, stored)
    with refuses("a", "size", got=VARIABLE) as refusal:
        check_expansion("a", (limit + 1,), 1, stored)
    assert refusal.value.facts == {"needed": limit + 1, "limit": limit}


def test_the_variable_replaces_the_limits(monkeypatch):
    monkeypatch.setenv(VARIABLE, "100")
    check_expansion("a", (100,), 1, 10**9)
    with refuses("a", "size"):
        check_expansion("a", (101,), 1, 10**9)
    monkeypatch.setenv(VARIABLE, "1e9")
    with refuses(VARIABLE, "type", got="'1e9'"):
        check_expansion("a", (1,), 1, 1)


@pytest.mark.parametrize(("shape", "itemsize"), [((-1, 2), 8), ((2, -(2**70)), 8), ((10**18,), 0)])
def test_lengths_that_no_array_has(shape, itemsize):
    for check in (check_fits, check_expansion):
        with refuses("a", "unreadable"):
            check("a", shape, itemsize, 10**30)


def test_sizes_beyond_64_bits_do_not_overflow():
    with refuses("a", "size", got="e"):
        check_expansion("a", (2**62, 2**62, 4), 8, 10**6)
    check_fits("a", (0, 2**62), 8, 0)


def test_text_takes_the_memory_of_its_longest_value():
    assert text_array(["a", "bcd"], "a", 10).dtype == np.dtype("<U3")
    assert text_array([], "a", 0).shape == (0,)
    with refuses("a", "size"):
        text_array(["x"] * 1999 + ["y" * 10_000], "a", 12_000)
