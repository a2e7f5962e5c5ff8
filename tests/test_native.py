"""Compiled kernels and threads: which are in use, BLAS on one thread, calls shared among threads."""

import importlib.metadata
import json
import subprocess
import sys
import threading
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import uqassay as uq
from uqassay import native as ours
from uqassay.arrays import available_cores
from uqassay.native import share_on_threads, single_blas_thread

# -- Which compiled kernels are in use, and the sentence that says why not ---------------------------------------------


@pytest.fixture
def put(monkeypatch):
    """Put a module in the place of the extension; None means that there is none."""

    def putting(module):
        monkeypatch.delenv("UQASSAY_PURE", raising=False)
        monkeypatch.setitem(sys.modules, ours._MODULE, module)
        ours._loaded.cache_clear()

    yield putting
    ours._loaded.cache_clear()


def made_up(**attributes):
    module = ModuleType("uqassay._kernels")
    vars(module).update({"interface": ours.INTERFACE, **attributes})
    return module


@pytest.fixture
def installed(monkeypatch):
    """Pretend an installation: what pip wrote of its origin."""

    def pretend(origin):
        found = SimpleNamespace(read_text=lambda name: origin)
        monkeypatch.setattr(importlib.metadata, "distribution", lambda name: found)

    return pretend


def test_a_kernel_is_picked_by_its_name(put):
    put(made_up(doubled=lambda x: 2 * x, yardsticks=ModuleType("yardsticks")))
    assert ours.kernel("doubled")(4) == 8
    assert ours.kernel("halved") is None
    assert uq.kernels() == ours.Kernels(("doubled",), "")
    assert str(uq.kernels()) == "compiled kernels: doubled"


def test_the_variable_switches_kernels_off_at_every_call(put, monkeypatch):
    put(made_up(doubled=lambda x: 2 * x))
    monkeypatch.setenv("UQASSAY_PURE", "1")
    assert ours.kernel("doubled") is None
    assert str(uq.kernels()).startswith("compiled kernels: none, UQASSAY_PURE=1 asks for the formulas")
    monkeypatch.setenv("UQASSAY_PURE", "0")
    assert ours.kernel("doubled") is not None


@pytest.mark.parametrize(
    ("origin", "what"),
    [
        (None, "uqassay"),
        ({"url": "file:///clone", "dir_info": {}}, ". in the clone of uqassay"),
        ({"url": "file:///clone", "dir_info": {"editable": True}}, "--editable . in the clone of uqassay"),
    ],
)
def test_without_the_module_the_listing_says_how_to_build_it(put, installed, origin, what):
    installed(origin and json.dumps(origin))
    put(None)  # import of this name raises ModuleNotFoundError
    assert ours.kernel("doubled") is None
    command = f"pip install --force-reinstall --no-deps --no-cache-dir {what}"
    assert uq.kernels().reason == f"they were not built; with a C++ compiler, run {command}"


@pytest.mark.parametrize("interface", [ours.INTERFACE + 1, ours.INTERFACE - 1, None])
def test_kernels_of_other_sources_are_ignored(put, interface):
    put(made_up(doubled=lambda x: 2 * x, interface=interface))
    assert ours.kernel("doubled") is None
    assert uq.kernels().reason.startswith(
        f"they were built from other sources (version {interface}, not {ours.INTERFACE}); run pip install"
    )


def test_an_extension_that_cannot_be_loaded_is_ignored_with_the_reason(put, monkeypatch, tmp_path):
    (tmp_path / "_kernels.py").write_text("raise ImportError('wrong ELF class')\n")
    put(None)
    monkeypatch.delitem(sys.modules, "uqassay._kernels")
    monkeypatch.setattr(uq, "__path__", [str(tmp_path)])
    assert ours.kernel("doubled") is None
    assert uq.kernels().reason.startswith("they cannot be loaded (wrong ELF class); run pip install")


def test_import_neither_loads_kernels_nor_says_anything():
    code = "import sys, uqassay, uqassay.statistics; print('uqassay._kernels' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


# -- Threads of NumPy's matrix products: one within the block, as many as before after the last of overlapping bloc ----


@pytest.fixture
def counted(monkeypatch):
    """Numbers of threads that were set, from four on."""
    numbers = [4]
    monkeypatch.setattr(ours, "_openblas", lambda: (lambda: numbers[-1], numbers.append))
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
    threads, limit = ours._openblas()
    before = threads()
    try:
        limit(2)
        with single_blas_thread():
            assert threads() == 1
        assert threads() == 2
    finally:
        limit(before)


def test_another_blas_is_left_alone(monkeypatch):
    monkeypatch.setattr(ours, "GETTERS", ("no_such_function",))
    threads, limit = ours._openblas.__wrapped__()
    limit(3)
    assert threads() == 1


# -- Calls shared among threads: results in order, the first failure, progress in the calling thread, cores divided ----


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
    monkeypatch.setattr(ours, "available_cores", lambda: 6)
    monkeypatch.setattr("uqassay.arrays.os.sched_getaffinity", lambda _: range(6), raising=False)
    monkeypatch.setattr("uqassay.arrays.os.cpu_count", lambda: 6)
    for threads, cores in ((2, 3), (4, 1), (8, 1)):
        assert (
            share_on_threads(lambda progress: available_cores(), [()] * threads, threads=threads) == [cores] * threads
        )
    assert available_cores() == 6


def test_matrix_products_take_one_thread_meanwhile(monkeypatch):
    numbers = [4]
    monkeypatch.setattr(ours, "_openblas", lambda: (lambda: numbers[-1], numbers.append))
    assert share_on_threads(lambda progress: numbers[-1], [(), ()], threads=2) == [1, 1]
    assert numbers[-1] == 4
