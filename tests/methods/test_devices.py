"""PyTorch's global state is left as it was found."""

import io
import sys

import pytest
import torch

from uqassay.errors import InputError
from uqassay.methods import progress
from uqassay.methods.devices import chosen_device, private_torch, torch_threads


def test_devices_by_name():
    assert chosen_device("cpu") == torch.device("cpu")
    assert chosen_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for wrong in ("gpu", "mps", "meta", ""):
        with pytest.raises(InputError, match='device: must be "auto", "cpu" or "cuda"'):
            chosen_device(wrong)
    with pytest.raises(InputError, match="device: 'cuda:99' is not on this machine"):
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("shown", "terminal", "appears"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_bar_on_a_terminal_alone(monkeypatch, needs, shown, terminal, appears):
    needs("rich")
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress_bar("training 3 networks", 10, shown=shown) as show:
        show(5)
    assert ("training 3 networks" in stream.getvalue()) == appears


def test_no_bar_for_what_is_quick_or_without_rich(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.progress_bar("work", 10, shown=True) as show:
        show(5)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with progress.progress_bar("work", 10, shown=True) as show:
        show(5)
    assert stream.getvalue() == ""
