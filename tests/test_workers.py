"""Calls shared among processes: the results of one process, the same refusals and warnings, and no process left over."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.refusals import refuses
from uqassay import _workers
from uqassay._workers import VARIABLE, Workers, packed, unpacked, wanted_processes
from uqassay.arrays import available_cores, limited_cores

SECONDS = 100.0  # of estimated work: worth workers

# Calls that workers can import: a module of its own, because workers do not have the folder of the tests in front.
MODULE = '''
import os
import signal
import threading
import time
import warnings

import numpy as np

from uqassay.arrays import available_cores
from uqassay.errors import InputError


def wait_for(path, progress):
    """Until another process has made this file."""
    progress("waiting")
    while not os.path.exists(path):
        time.sleep(0.01)
    return "done"


def touch(path, number, progress):
    """The first call waits for the second: two workers compute at once."""
    if number == 0:
        return wait_for(path, progress)
    progress("made by a worker")
    open(path, "w").close()
    return "made"


def layout(array, progress):
    return os.getpid(), array.strides, array.dtype.str, float(array.sum()), available_cores()


def received(number, array, progress):
    array += number
    return os.getpid(), array


class Breaks:
    """Cannot be unpickled in a worker."""

    def __init__(self, first):
        self.first = first

    def __reduce__(self):
        return _made, (self.first,)


def _made(first):
    if os.getpid() != first:
        raise RuntimeError("not here")
    return Breaks(first)


def takes(number, it, progress):
    return number


def refused(number, progress):
    if number in (3, 5):
        raise InputError("number", "must be another", f"got {number}", "choose", code="range")
    return number


def warned(number, progress):
    warnings.warn(f"call {number}", RuntimeWarning, stacklevel=1)
    return number


def dies(number, first, progress):
    if os.getpid() != first:
        os._exit(1)
    return number


def hears_interrupts(number, progress):
    return os.getpid(), signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def fails(number, progress):
    if number == 2:
        raise RuntimeError("a fault")
    print("nothing of this comes between the answers")
    return number
'''


@pytest.fixture
def calls(tmp_path, monkeypatch):
    (tmp_path / "shared_calls.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(VARIABLE, "2")
    import shared_calls  # type: ignore[import-not-found]

    yield shared_calls
    del sys.modules["shared_calls"]


def shared(function, arguments, progress=None):
    with Workers() as workers:
        found = workers.share(function, arguments, seconds=SECONDS, progress=progress)
        processes = list(workers._pool.executor._processes) if workers._pool else []
    assert not any(_runs(process) for process in processes)
    return found


def test_workers_do_the_calls_and_say_so(calls, tmp_path):
    said = []
    found = shared(calls.touch, [(str(tmp_path / "mark"), n) for n in range(2)], said.append)
    assert found == ["done", "made"]
    assert sorted(said) == ["made by a worker", "waiting"]


def test_large_calls_and_answers_arrive_in_their_order(calls):
    arrays = [np.full(50_000, float(i)) for i in range(24)]
    found = shared(calls.received, list(enumerate(arrays)))
    assert os.getpid() not in {process for process, _ in found}
    for i, (_, array) in enumerate(found):
        np.testing.assert_array_equal(array, arrays[i] + i)
        array[0] = 0.0  # answers can be written to


def test_calls_that_a_worker_cannot_read_are_done_here(calls):
    it = calls.Breaks(os.getpid())
    assert shared(calls.takes, [(n, it) for n in range(6)]) == list(range(6))


def test_arrays_arrive_in_their_layout(calls):
    members = np.random.default_rng(0).random((5, 7, 3))
    arrays = [members, members.transpose(1, 0, 2), np.asfortranarray(members, dtype=np.float32), np.ones(())]
    found = shared(calls.layout, [(array,) for array in arrays])
    assert [each[1:4] for each in found] == [(a.strides, a.dtype.str, float(a.sum())) for a in arrays]
    assert {each[4] for each in found} == {max(1, available_cores() // 2)}


def test_the_first_refusal_is_raised_as_in_one_process(calls):
    for arguments in ([(1,), (3,), (5,), (6,)], [(5,), (3,)], [(1,), (2,), (4,), (3,)]):
        expected = next(n for (n,) in arguments if n in (3, 5))
        with refuses("number", "range", got=f"got {expected}"):
            shared(calls.refused, arguments)


def test_warnings_of_workers_are_those_of_one_process(calls):
    with pytest.warns(RuntimeWarning) as seen:
        assert shared(calls.warned, [(n,) for n in range(6)]) == list(range(6))
    assert sorted(str(w.message) for w in seen) == [f"call {n}" for n in range(6)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="call"):
            shared(calls.warned, [(n,) for n in range(6)])


def test_calls_of_a_worker_that_ends_are_done_here(calls):
    assert shared(calls.dies, [(n, os.getpid()) for n in range(5)]) == list(range(5))


def test_a_fault_is_raised_with_its_own_kind(calls):
    with pytest.raises(RuntimeError, match="a fault"):
        shared(calls.fails, [(n,) for n in range(4)])
    assert shared(calls.fails, [(0,), (1,), (3,)]) == [0, 1, 3]


def test_what_cannot_be_sent_is_done_here(calls, monkeypatch):
    assert shared(lambda x, progress: x + 1, [(1,), (2,), (3,)]) == [2, 3, 4]
    monkeypatch.setattr(_workers, "MOST_BYTES", 100)
    assert [each[0] for each in shared(calls.layout, [(np.ones(1000),)] * 3)] == [os.getpid()] * 3


def test_no_worker_is_started_for_little_work_or_where_none_can_be(calls, monkeypatch):
    def started(*_):
        raise AssertionError("a worker was started")

    with monkeypatch.context() as patched, Workers() as workers:
        patched.setattr(_workers, "_started", started)
        assert workers.share(calls.fails, [(0,), (1,)], seconds=1.0) == [0, 1]
        assert workers.share(calls.fails, [(0,)], seconds=SECONDS) == [0]
        assert workers.share(calls.fails, [], seconds=SECONDS) == []
    for executable in ("/opt/blender/blender", None, "/no/such/python"):
        monkeypatch.setattr(sys, "executable", executable)
        assert shared(calls.fails, [(0,), (1,), (3,)]) == [0, 1, 3]


def test_number_of_processes(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert wanted_processes() == available_cores()
    monkeypatch.setenv(VARIABLE, " 3 ")
    assert wanted_processes() == 3
    for text in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv(VARIABLE, text)
        with refuses(VARIABLE, "type", got=text):
            wanted_processes()
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(_workers.multiprocessing, "parent_process", object)
    assert wanted_processes() == 1


def test_cores_are_limited_within_a_block():
    cores = available_cores()
    with limited_cores(1):
        assert available_cores() == 1
        with limited_cores(10**6):
            assert available_cores() == cores
        assert available_cores() == 1
    assert available_cores() == cores


SCRIPT = """
import threading
import numpy as np
import uqassay as uq
from uqassay import _workers
_workers.WORTH_SECONDS = 0.0
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("begun")  # a script that workers ran again would print it again
g = np.random.default_rng(0)
p = {name: uq.Point(g.dirichlet(np.ones(3), 50)) for name in "abc"}
print(len(uq.assay(p, g.integers(3, size=50), n_draws=10).calibration), "tests")
"""


@pytest.mark.parametrize("how", ["file", "-c", "stdin"])
def test_scripts_need_no_guard(how, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    command = {"file": [str(path)], "-c": ["-c", SCRIPT], "stdin": ["-"]}[how]
    environment = os.environ | {VARIABLE: "2", "PYTHONPATH": str(Path(_workers.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, *command],
        input=SCRIPT if how == "stdin" else None,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n6 tests\n", "")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")
def test_workers_end_with_a_process_that_is_killed(tmp_path):
    program = textwrap.dedent(
        """
        import sys, time
        from uqassay import _workers
        pool = _workers._started(2)
        print(*pool.executor._processes, flush=True)
        time.sleep(600)
        """
    )
    environment = os.environ | {"PYTHONPATH": str(Path(_workers.__file__).parents[1])}
    first = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, text=True)
    assert first.stdout is not None
    workers = [int(each) for each in first.stdout.readline().split()]
    first.kill()
    first.wait()
    first.stdout.close()
    assert workers
    while any(map(_runs, workers)):
        time.sleep(0.05)


def _runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_ends_the_processes_without_a_word_of_theirs(calls, tmp_path):
    program = textwrap.dedent(
        f"""
        import os, sys
        sys.path.insert(0, {str(tmp_path)!r})
        from shared_calls import wait_for
        from uqassay._workers import Workers
        def say(text):
            os.write(1, (text + "\\n").encode())  # whole, wherever the interrupt strikes
        try:
            with Workers() as workers:
                workers.share(wait_for, [("/no/such/file",)] * 2, seconds=100, progress=say)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    environment = os.environ | {"PYTHONPATH": str(Path(_workers.__file__).parents[1])}
    first = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,
    )
    assert first.stdout is not None
    assert first.stdout.readline() == "waiting\n"
    os.killpg(first.pid, signal.SIGINT)  # as a terminal does
    said, errors = first.communicate(timeout=60)
    assert said.removeprefix("waiting\n") == "interrupted\n"  # the second call may have begun, too
    # loky's tracker of semaphores counts one too many in some hundred runs, and says so
    assert "Traceback" not in errors
    assert "KeyboardInterrupt" not in errors


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signal masks on this system")
def test_processes_never_hear_interrupts_not_even_while_they_start(calls):
    with Workers() as workers:
        answers = workers.share(calls.hears_interrupts, [(0,), (1,)], seconds=SECONDS)
    assert [(pid != os.getpid(), hears) for pid, hears in answers] == [(True, False)] * 2
    assert calls.hears_interrupts(0, None) == (os.getpid(), True)


def arrays_of_layouts(folder):
    rng = np.random.default_rng(0)
    np.save(folder / "map.npy", rng.random((6, 4)))
    members = rng.random((5, 7, 3))
    return [
        members,
        members.transpose(1, 0, 2),
        members.transpose(2, 1, 0),
        np.asfortranarray(members, dtype=np.float32),
        np.broadcast_to(members[:1], members.shape),
        np.load(folder / "map.npy", mmap_mode="r"),
        members[:, :0],
        np.ones(()),
        members.astype(">f8"),
    ]


def test_packed_arrays_keep_their_layout(tmp_path):
    for array in arrays_of_layouts(tmp_path):
        again = unpacked(packed(array))
        np.testing.assert_array_equal(again, array)
        assert (again.dtype, type(again)) == (array.dtype, np.ndarray)
        if array.size and 0 not in array.strides:
            assert again.strides == array.strides
