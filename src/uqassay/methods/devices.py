"""The device on which networks are trained, and blocks that leave PyTorch's global state unchanged."""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch

from uqassay.errors import InputError

__all__ = ["check_device", "chosen_device", "private_torch", "torch_threads"]


class _OneThread:
    """A lock on PyTorch's random state, which all threads of a process share; it is open in a forked child."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.lock = threading.RLock()


ONE_THREAD = _OneThread()


def check_device(device: Any) -> None:
    """Refuse a name that is not "auto" and not one of a CPU or GPU, such as "cuda:1"; the machine may lack the device."""
    named = None
    if device != "auto":
        with suppress(RuntimeError):
            named = torch.device(device) if isinstance(device, str) else None
        if named is None or named.type not in ("cpu", "cuda"):
            raise InputError(
                "device", 'must be "auto", "cpu" or "cuda"', f"got {device!r}", "choose one of them", code="choice"
            )


def chosen_device(device: str) -> torch.device:
    """The device of this name: "auto" is the GPU if the machine has one, else the CPU.

    Raises
    ------
    InputError
        A device that PyTorch does not know, or that this machine lacks.
    """
    check_device(device)
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    named = torch.device(device)
    if named.type == "cuda" and (named.index or 0) >= torch.cuda.device_count():
        raise InputError(
            "device", "must be a device of this machine", f"got {device!r}", 'use "auto" or "cpu"', code="missing"
        )
    return named


@contextmanager
def private_torch(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Seed PyTorch's global random numbers for the block, and restore their state afterwards.

    Initial weights of layers, and dropout inside a given module, can only be drawn from the global state. Threads share that
    state, so they take turns.
    """
    on_gpu = device is not None and device.type == "cuda"
    with ExitStack() as kept:
        kept.enter_context(ONE_THREAD.lock)
        kept.enter_context(torch.random.fork_rng(devices=[device] if on_gpu else []))
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            kept.enter_context(torch.cuda.device(device))
            torch.cuda.manual_seed(seed)
            kept.enter_context(torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True))
        yield


@contextmanager
def torch_threads(n: int | None) -> Iterator[None]:
    """Run PyTorch on n CPU threads within the block; None changes nothing."""
    before = torch.get_num_threads()
    if n is None or n == before:
        yield
        return
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
