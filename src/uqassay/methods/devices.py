"""Where networks are trained, and how PyTorch's global state is left as it was found."""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from uqassay.errors import InputError

__all__ = ["chosen_device", "private_torch", "torch_threads"]


class _OneThread:
    """A lock on PyTorch's random state, which all threads of a process share; a forked child starts with it open."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.lock = threading.RLock()


ONE_THREAD = _OneThread()


def chosen_device(device: str) -> torch.device:
    """The device named: "auto" is the GPU where there is one, else the CPU.

    Raises
    ------
    InputError
        A device that PyTorch does not know, or that this machine lacks.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        named = torch.device(device)
    except (RuntimeError, TypeError) as problem:
        raise InputError(
            "device", 'must be "auto", "cpu" or "cuda"', f"got {device!r}", "name one of them", code="type"
        ) from problem
    if named.type not in ("cpu", "cuda"):
        raise InputError(
            "device", 'must be "auto", "cpu" or "cuda"', f"got {device!r}", "name one of them", code="type"
        )
    if named.type == "cuda" and (named.index or 0) >= torch.cuda.device_count():
        raise InputError("device", f"{device!r} is not on this machine", "", 'use "auto" or "cpu"', code="undefined")
    return named


@contextmanager
def private_torch(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Draw PyTorch's global random numbers from a seed of our own, deterministically, and put its state back afterwards.

    Initial weights of layers and the dropout inside a given module can draw from nothing else. Threads of one process take
    turns, since they share that state.
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
    """Run PyTorch on n threads of the CPU for a while; None leaves their number alone."""
    before = torch.get_num_threads()
    if n is None or n == before:
        yield
        return
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
