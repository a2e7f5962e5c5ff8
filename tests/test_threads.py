"""Calls shared among threads: results in order, the first failure, progress in the calling thread, cores divided."""

import threading

import pytest

from uqassay import native as _blas
from uqassay import native as _threads
from uqassay.arrays import available_cores
from uqassay.native import share_on_threads

WAIT = 60.0  # seconds, after which a barrier gives up: the test then fails


def test_calls_run_at_the_same_time_and_come_back_in_order():
    meeting = threading.Barrier(3)

    def call(number, progress):
        meeting.wait(WAIT)  # passed only by three threads at once
        return number, threading.get_ident()

    found = share_on_threads(call, [(n,) for n in range(6)], threads=3)
    assert [number for number, _ in found] == list(range(6))
    assert len({thread for _, thread in found}) == 3


def test_one_thread_is_the_calling_one():
    def call(progress):
        progress("said")
        return threading.get_ident()

    said = []
    assert share_on_threads(call, [()] * 3, threads=1, progress=said.append) == [threading.get_ident()] * 3
    assert said == ["said"] * 3
    assert share_on_threads(call, [()], threads=8) == [threading.get_ident()]
    assert share_on_threads(call, [], threads=8) == []


def test_progress_is_told_in_the_calling_thread():
    said = []

    def call(number, progress):
        progress(f"begin {number}")
        progress(f"end {number}")

    share_on_threads(
        call, [(n,) for n in range(4)], threads=2, progress=lambda text: said.append((text, threading.get_ident()))
    )
    assert {thread for _, thread in said} == {threading.get_ident()}
    assert sorted(text for text, _ in said) == sorted(f"{when} {n}" for n in range(4) for when in ("begin", "end"))


def test_the_first_failure_is_raised_and_later_calls_are_left_out():
    begun, second_failed = [], threading.Event()

    def call(number, progress):
        begun.append(number)
        if number == 1:
            second_failed.set()
            raise ValueError("call 1")
        if number == 0:
            assert second_failed.wait(WAIT)
            raise ValueError("call 0")

    with pytest.raises(ValueError, match="call 0"):
        share_on_threads(call, [(n,) for n in range(50)], threads=2)
    assert len(begun) < 50


def test_a_failure_of_progress_stops_the_calls():
    begun, told = [], threading.Event()

    def call(number, progress):
        begun.append(number)
        progress("stop")
        assert told.wait(WAIT)

    def fail(text):
        told.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share_on_threads(call, [(n,) for n in range(500)], threads=2, progress=fail)
    assert len(begun) < 500


def test_threads_divide_the_cores(monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: 6)
    monkeypatch.setattr("uqassay.arrays.os.sched_getaffinity", lambda _: range(6), raising=False)
    monkeypatch.setattr("uqassay.arrays.os.cpu_count", lambda: 6)
    for threads, cores in ((2, 3), (4, 1), (8, 1)):
        assert (
            share_on_threads(lambda progress: available_cores(), [()] * threads, threads=threads) == [cores] * threads
        )
    assert available_cores() == 6


def test_matrix_products_take_one_thread_meanwhile(monkeypatch):
    numbers = [4]
    monkeypatch.setattr(_blas, "_openblas", lambda: (lambda: numbers[-1], numbers.append))
    assert share_on_threads(lambda progress: numbers[-1], [(), ()], threads=2) == [1, 1]
    assert numbers[-1] == 4
