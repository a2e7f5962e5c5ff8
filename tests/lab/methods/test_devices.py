"""PyTorch's global state is left as it was found."""

import os
import threading
import time

import pytest
import torch
from tests.refusals import refuses

from uqassay.lab.methods import training as devices
from uqassay.lab.methods.training import chosen_device, private_torch, torch_threads


def test_devices_by_name():
    assert chosen_device("cpu") == torch.device("cpu")
    assert chosen_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for wrong in ("gpu", "mps", "meta", ""):
        with refuses("device", "choice", got='must be "auto", "cpu" or "cuda"'):
            chosen_device(wrong)
    with refuses("device", "missing", got="'cuda:99'"):
        chosen_device("cuda:99")


def test_private_random_numbers():
    before = torch.get_rng_state()
    with private_torch(3):
        first = torch.rand(3)
    with private_torch(3, torch.device("cpu")):
        second = torch.rand(3)
    assert torch.equal(first, second)
    assert torch.equal(before, torch.get_rng_state())
    with pytest.raises(KeyError, match="x"), private_torch(4):
        raise KeyError("x")
    assert torch.equal(before, torch.get_rng_state())


def test_threads_take_turns_with_the_random_numbers():
    def drawn():
        with private_torch(3):
            first = torch.rand(3)
            time.sleep(0.05)  # long enough for another thread to interfere, if it could
            found.append(torch.cat([first, torch.rand(3)]))

    found = []
    before = torch.get_rng_state()
    drawn()
    threads = [threading.Thread(target=drawn) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [torch.equal(found[0], one) for one in found] == [True] * 4
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_child_of_a_process_that_trains_is_not_locked_out():
    held, leave = threading.Event(), threading.Event()

    def hold():
        with private_torch(0):
            held.set()
            leave.wait(600)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(600)
    child = os.fork()
    if child == 0:  # the lock is another thread's, which the child does not have
        free = devices.ONE_THREAD.lock.acquire(timeout=60)
        os._exit(0 if free else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


def test_threads_come_back():
    before = torch.get_num_threads()
    with torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
        with torch_threads(None):
            assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    with pytest.raises(KeyError, match="x"), torch_threads(before + 2):
        raise KeyError("x")
    assert torch.get_num_threads() == before
