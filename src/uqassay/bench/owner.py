"""Who works on a cell: a process that others can tell to be alive or dead."""

import os
import platform
import re
import time
from functools import cache
from pathlib import Path

__all__ = ["is_abandoned", "is_dead", "is_owner", "this_process"]

OWNER = re.compile(r"[A-Za-z0-9_-]+\.(?:0|[0-9a-f]{8})\.[0-9]{1,9}\.[0-9]*")  # as this_process writes it
DRAFT = re.compile(r"(.+)\+[0-9a-f]{8}")  # the name of what an owner is writing
STRANGER_SECONDS = 3600.0  # after which a draft of another host is taken for abandoned; writing one takes seconds


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


def is_owner(text: object) -> bool:
    """Whether a text has the form of `this_process`.

    Examples
    --------
    >>> is_owner(this_process()), is_owner("v1.2.3.4"), is_owner("thesis"), is_owner(None)
    (True, False, False, False)
    """
    return isinstance(text, str) and OWNER.fullmatch(text) is not None


def is_dead(owner: object) -> bool:
    """Whether the process has certainly ended; of another host's nothing is known, and what names no process has ended.

    Examples
    --------
    >>> is_dead("elsewhere.0.1.0"), is_dead("nobody")
    (False, True)
    """
    if not is_owner(owner):
        return True
    host, boot, pid, start = str(owner).split(".")
    if host != _host():
        return False
    return boot != _boot() or _start(int(pid)) != start


def is_abandoned(draft: Path) -> bool:
    """Whether an entry is a draft of a store, by its name, with which nobody will go on."""
    named = DRAFT.fullmatch(draft.name)
    if named is None or not is_owner(owner := named[1]) or draft.is_symlink() or not draft.is_dir():
        return False
    if owner.partition(".")[0] == _host():
        return is_dead(owner)
    try:
        return time.time() - draft.stat().st_mtime > STRANGER_SECONDS
    except FileNotFoundError:
        return False


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
