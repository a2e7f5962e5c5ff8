"""Measuring of one workload: least times on a given clock, extrapolation, agreement of peers."""

import os

import numpy as np
import pytest
from benchmarks.speed.workload import Case, Peer, Repeats, Workload, by_formulas, measure, timed
from tests.benchmarks.speed.counted import Watch

import uqassay as uq

ONCE = Repeats(0.0, 1, 1)


def record(*peers, answer=(1.0, 2.0, 4.0, 8.0), loop=None, took=2.0, watch=None):
    watch = watch or Watch()

    def call():
        watch.work(took)
        return np.array(answer)

    return measure(
        Workload("w", lambda quick: Case(call, np.asarray, peers, loop, 80), repeats=ONCE), clock=watch.clock()
    )


def test_least_time_of_the_wanted_repeats():
    watch, lasts = Watch(), iter((3.0, 1.0, 2.0, 9.0))
    assert timed(lambda: watch.work(next(lasts)), watch.clock(), Repeats(5.5, 1, 30)) == (1.0, 1.0)
    assert next(lasts) == 9.0  # 6 seconds were enough
    calls = []
    timed(lambda: calls.append(watch.work(1e-9)), watch.clock(), Repeats(1.0, 2, 7))
    assert len(calls) == 7


def test_a_peer_on_some_rows_is_extrapolated():
    watch = Watch()
    peer = Peer("plain", lambda: watch.work(3.0) or [1.0, 2.0], rows=2)
    found = record(peer, watch=watch)
    assert (found["processor"], found["bytes"], found["loop"]) == (2.0, 80, None)
    (beside,) = found["peers"]
    assert (beside["ratio"], beside["difference"], beside["agrees"]) == (3.0, 0.0, True)


def test_the_loop_is_a_yardstick_in_seconds():
    watch = Watch()
    found = record(loop=Peer("plain C loop", lambda: watch.work(0.5)), watch=watch)
    assert found["loop"] == 0.5
    assert found["peers"][0] | {"ratio": 0} == {
        "name": "plain C loop",
        "rows": None,
        "lacks": "",
        "word": "worse",
        "ratio": 0,
        "difference": None,
        "share": None,
        "agrees": True,
    }


@pytest.mark.parametrize(
    ("theirs", "worse", "agrees", "share"),
    [
        ([1.0, 2.0, 4.0, 8.0 + 1e-9], 0, True, None),
        ([1.0, 2.0, 4.0, 8.1], 0, False, None),
        ([1.0, 2.5, 4.5, 8.0], 1, True, 0.5),  # misses two minima
        ([1.0, 1.5, 4.0, 8.0], 1, False, 0.25),  # finds a lower one
        ([1.0, 1.5, 4.0, 8.0], -1, True, 0.25),
        ([1.0, 2.0, 4.0, np.nan], 0, False, None),
    ],
)
def test_agreement(theirs, worse, agrees, share):
    (beside,) = record(Peer("peer", lambda: theirs, worse=worse))["peers"]
    assert (beside["agrees"], beside["share"]) == (agrees, share)


def test_undefined_and_infinite_values_may_be_equal():
    (beside,) = record(Peer("peer", lambda: [np.nan, np.inf]), answer=(np.nan, np.inf))["peers"]
    assert (beside["difference"], beside["agrees"]) == (0.0, True)


def test_a_peer_that_fails_is_told():
    (beside,) = record(Peer("peer", lambda: 1 / 0))["peers"]
    assert beside["failed"] == "ZeroDivisionError: division by zero"


def test_formulas_alone_are_without_kernels(monkeypatch):
    monkeypatch.delenv("UQASSAY_PURE", raising=False)
    peers = by_formulas(lambda: float(not uq.kernels().names))
    assert [peer.call() for peer in peers] == [1.0] * len(peers)
    assert len(peers) == bool(uq.kernels().names)
    assert "UQASSAY_PURE" not in os.environ
