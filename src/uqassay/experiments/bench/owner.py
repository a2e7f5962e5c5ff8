"""Who works on a cell: a process that others can tell to be alive or dead."""

import os
import platform
import re
from functools import cache
from pathlib import Path

__all__ = ["is_dead", "is_stranger", "this_process"]


def this_process() -> str:
    """Host, start of the machine, process and start of the process, with dots between them.

    A number of a process is given out again; together with the time of its start it is not.

    Examples
    --------
    >>> is_dead(this_process())
    False
    """
    pid = os.getpid()
    return f"{_host()}.{_boot()}.{pid}.{_start(pid)}"


def is_dead(owner: str) -> bool:
    """Whether the process has certainly ended; of another host's nothing is known.

    Examples
    --------
    >>> is_dead("elsewhere.0.1.0")
    False
    """
    host, boot, pid, start = owner.split(".")
    if host != _host():
        return False
    return boot != _boot() or _start(int(pid)) != start


def is_stranger(owner: str) -> bool:
    """Whether the process is another host's, so that nothing is known of its end."""
    return owner.partition(".")[0] != _host()


@cache
def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", platform.node()) or "host"


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:  # no Linux
        return "0"


def _start(pid: int) -> str:
    """Clock ticks from the start of the machine to that of a process; empty where there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = stat.rpartition(")")[2].split()  # the name of the program may hold blanks and brackets
        return "" if fields[0] in "ZX" else fields[19]  # a zombie has ended
    except FileNotFoundError:
        return _signalled(pid) if not Path("/proc/self/stat").exists() else ""
    except ProcessLookupError:  # it ended while it was read
        return ""


def _signalled(pid: int) -> str:
    """What can be told without /proc: whether some process has the number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "0"
