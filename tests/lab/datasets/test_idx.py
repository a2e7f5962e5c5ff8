"""The idx format: round trips, and headers that lie."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets.images import read_idx


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("name", ["a-idx", "a-idx.gz"])
def test_round_trip(tmp_path, write_idx, dtype, name):
    array = np.arange(-12, 12).reshape(2, 3, 4).astype(dtype)
    read = read_idx(write_idx(tmp_path / name, array))
    np.testing.assert_array_equal(read, array)
    assert read.dtype == np.dtype(dtype)
    assert read.dtype.isnative


def test_empty_array(tmp_path, write_idx):
    assert read_idx(write_idx(tmp_path / "a", np.zeros((0, 3), dtype=np.uint8))).shape == (0, 3)


def head(kind, *shape):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("data", "code", "got"),
    [
        (b"", "size", "ends after 0"),
        (b"\0\0\x08", "size", "ends after 3"),
        (b"\x80\x04\x95\x00rest", "unreadable", "begins with"),
        (head(7, 1) + b"a", "unreadable", "begins with"),
        (b"\0\0\x08\0", "unreadable", "begins with"),
        (bytes([0, 0, 8, 255]) + bytes(4 * 255), "unreadable", "begins with"),
        (head(8, 2, 3)[:9], "size", "ends after 5"),
        (head(8, 2, 3) + b"12345", "size", "6 more bytes"),
        (head(8, 2, 3) + b"1234567", "size", "after the 6 bytes"),
        (head(14, 2**32 - 1, 2**32 - 1, 2**32 - 1) + b"1", "size", "can hold at most"),
        (head(8, 2**31) + b"1", "size", "can hold at most"),
    ],
)
def test_headers_that_lie(tmp_path, data, code, got, packed):
    path = tmp_path / ("a.gz" if packed else "a")
    path.write_bytes(gzip.compress(data) if packed else data)
    with refuses("file", code, got=got, source=path.name, error=FileFormatError):
        read_idx(path)


def test_broken_gzip_and_no_file(tmp_path, write_idx):
    path = write_idx(tmp_path / "a.gz", np.zeros((50, 50), dtype=np.uint8))
    path.write_bytes(path.read_bytes()[:-9])
    with refuses("file", "unreadable", source="a.gz", error=FileFormatError):
        read_idx(path)
    path.write_bytes(b"no gzip at all")
    with refuses("file", "unreadable", source="a.gz", error=FileFormatError):
        read_idx(path)
    with refuses("path", "missing", source="b.gz", error=FileFormatError):
        read_idx(tmp_path / "b.gz")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(data=st.binary(max_size=64), start=st.sampled_from([b"", b"\0\0\x08\x01", b"\0\0\x0b\x02", b"\0\0\x0e\x03"]))
def test_any_bytes_are_an_array_or_refused(tmp_path, data, start):
    path = tmp_path / "a"
    path.write_bytes(start + data)
    try:
        array = read_idx(path)
    except FileFormatError:
        return
    assert array.nbytes == len(start + data) - 4 - 4 * array.ndim
