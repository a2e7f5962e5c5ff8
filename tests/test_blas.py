"""Threads of NumPy's matrix products: one within the block, as many as before after the last of overlapping blocks."""

import sys

import numpy as np
import pytest

from uqassay import native as _blas
from uqassay.native import single_blas_thread


@pytest.fixture
def counted(monkeypatch):
    """Numbers of threads that were set, from four on."""
    numbers = [4]
    monkeypatch.setattr(_blas, "_openblas", lambda: (lambda: numbers[-1], numbers.append))
    return numbers


def test_one_thread_within_the_block_and_as_many_as_before_after_it(counted):
    with single_blas_thread():
        assert counted[-1] == 1
    assert counted[-1] == 4


def test_a_failure_restores_the_number(counted):
    with pytest.raises(ValueError, match="inside"), single_blas_thread():
        raise ValueError("inside")
    assert counted[-1] == 4


def test_the_last_of_overlapping_blocks_restores_the_number(counted):
    first, second = single_blas_thread(), single_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert counted[-1] == 1
    second.__exit__(None, None, None)
    assert counted[-1] == 4


@pytest.mark.skipif(sys.platform != "linux", reason="NumPy's wheels for Linux hold OpenBLAS")
def test_the_openblas_of_numpy_obeys():
    config = np.show_config(mode="dicts")
    if "openblas" not in config["Build Dependencies"]["blas"]["name"]:
        pytest.skip("NumPy has another BLAS")
    threads, limit = _blas._openblas()
    before = threads()
    try:
        limit(2)
        with single_blas_thread():
            assert threads() == 1
        assert threads() == 2
    finally:
        limit(before)


def test_another_blas_is_left_alone(monkeypatch):
    monkeypatch.setattr(_blas, "GETTERS", ("no_such_function",))
    threads, limit = _blas._openblas.__wrapped__()
    limit(3)
    assert threads() == 1
