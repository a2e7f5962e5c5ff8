"""Yardsticks, the sentence on the machine, versions of peers."""

import numpy as np
import pytest
from benchmarks.speed.machine import PEERS, describe, least, versions, yardsticks
from benchmarks.speed.workload import Clock

import uqassay as uq


@pytest.fixture
def ticking():
    """A clock that goes on by a second whenever it is read."""
    seconds = iter(range(10**6))
    return Clock(lambda: next(seconds), lambda: 0.0)


def test_yardsticks_on_a_given_clock(ticking):
    radix = {"radix": 1.0} if uq.kernels().names else {}
    assert yardsticks(ticking) == {"sort": 1.0, **radix, "bandwidth": 2 * 8e7}


def test_the_better_of_two_measurements():
    assert least({"sort": 1.0, "bandwidth": 5.0}, {"sort": 2.0, "bandwidth": 7.0}) == {"sort": 1.0, "bandwidth": 7.0}


def test_the_machine_says_whether_kernels_are_in_use(monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", "1")
    assert describe().endswith(", no compiled kernels.")
    assert f"NumPy {np.__version__}" in describe()


def test_peers_that_are_not_installed_have_no_version(monkeypatch):
    import scipy

    monkeypatch.setitem(PEERS, "no such package", "no_such_module")
    found = versions()
    assert found["SciPy"] == scipy.__version__
    assert found["no such package"] == ""
