"""Claims: one file for each cell that is running, which says who runs it.

A claim file is created exclusively (``O_EXCL``), so only one process gets the cell. Its modification time is the lease: the
worker touches the file from time to time, and a claim that was not touched for its lease has lapsed. The claim of a process of
this host that has ended lapses at once.

A claim saves work; it does not guard the result. In rare cases two processes run the same cell: the lease lapses while the
worker is suspended, or two processes replace the same lapsed claim in the same instant. Both then compute the same result, and
the store keeps the first one.
"""

import json
import math
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

from uqassay.bench.files import json_object

__all__ = ["LEASE_SECONDS", "CellClaim", "Claims", "has_ended", "read_claim", "this_process"]

LEASE_SECONDS = 120.0  # the worker renews it every quarter
STRANGER_SECONDS = 3600.0  # a draft of another host is abandoned after this time; writing one takes seconds
OWNER = re.compile(r"[A-Za-z0-9_-]+\.[0-9]{1,10}\.[0-9]*")  # as `this_process` writes it
DRAFT = re.compile(r"(.+)\+[0-9a-f]{8}")  # the name of a draft: its owner and a random number


@final
@dataclass(frozen=True)
class CellClaim:
    """The content of a claim file.

    Attributes
    ----------
    owner : str
        As `this_process` writes it; empty in a file that is damaged or not yet written.
    lease : float
        Seconds after which the claim lapses unless it is renewed.
    touched : float
        When it was made or last renewed, by the clock of the file system.
    """

    owner: str
    lease: float
    touched: float

    def has_lapsed(self, now: float) -> bool:
        """Whether nobody works on the cell any more."""
        return has_ended(self.owner) or not abs(now - self.touched) <= self.lease


@final
class Claims:
    """The claims that this process makes in one folder.

    Parameters
    ----------
    drafts : Path
        Folder for temporary entries, on the same file system as the claims.
    lease_seconds : float
    """

    def __init__(self, drafts: Path, lease_seconds: float) -> None:
        self.drafts, self.lease_seconds = drafts, lease_seconds
        self.owner = this_process()

    def take(self, path: Path) -> bool:
        """Claim a cell; True for one process at most."""
        for _ in range(2):  # a second time after a lapsed claim was removed
            try:
                self._create(path)
            except FileExistsError:
                found = read_claim(path)
                if found is not None and not (found.has_lapsed(self.clock()) and self._remove(path, found)):
                    return False
            else:
                return True
        return False

    def holds(self, path: Path) -> bool:
        """Whether the claim is this process's."""
        found = read_claim(path)
        return found is not None and found.owner == self.owner

    def renew(self, path: Path) -> bool:
        """Touch the claim; False if it is no longer this process's."""
        if not self.holds(path):
            return False
        try:
            os.utime(path)  # without a time: a file server then takes its own clock
        except FileNotFoundError:
            return False
        return True

    def give_back(self, path: Path) -> bool:
        """Remove the claim; False if it is not this process's."""
        found = read_claim(path)
        return found is not None and found.owner == self.owner and self._remove(path, found)

    def clock(self) -> float:
        """Time by the clock of the file system, which all hosts share; by this host's if nothing can be written there."""
        try:
            with self.draft() as probe:
                return probe.stat().st_mtime
        except OSError:
            return time.time()

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """A new folder among the drafts, removed at the end of the block."""
        made = self.new_draft()
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def new_draft(self) -> Path:
        """A new folder among the drafts, which `clear_drafts` removes once this process has ended."""
        made = self.drafts / f"{self.owner}+{secrets.token_hex(4)}"
        made.mkdir(parents=True)
        return made

    def clear_drafts(self) -> None:
        """Remove the drafts of processes that have ended."""
        now = self.clock()
        for entry in self.drafts.iterdir():
            if _is_abandoned(entry, now):
                shutil.rmtree(entry, ignore_errors=True)

    def _create(self, path: Path) -> None:
        with path.open("x", encoding="ascii") as stream:
            try:
                stream.write(json.dumps({"owner": self.owner, "lease": self.lease_seconds}))
                stream.flush()
            except OSError:  # a full disk takes the name but not the text
                path.unlink(missing_ok=True)
                raise

    def _remove(self, path: Path, seen: CellClaim) -> bool:
        """Remove the claim that was seen; False if another one has taken its place since.

        Reading and removing are two steps, between which another process may put its own claim there. So the file is moved
        away first and looked at again: only one process can move it, and a claim that is not the one seen is put back.
        """
        with self.draft() as aside:
            try:
                os.rename(path, aside / "claim")
            except FileNotFoundError:
                return False
            if read_claim(aside / "claim") == seen:
                return True
            if not path.exists():
                with suppress(OSError):
                    os.rename(aside / "claim", path)
            return False


def read_claim(path: Path) -> CellClaim | None:
    """The claim in a file, or None if there is no file; a damaged one has no owner and the usual lease."""
    try:
        touched = path.lstat().st_mtime
    except FileNotFoundError:
        return None
    found = json_object(path) or {}
    owner, lease = found.get("owner"), found.get("lease")
    return CellClaim(
        owner if isinstance(owner, str) else "",
        float(lease) if isinstance(lease, (int, float)) and 0 < lease < math.inf else LEASE_SECONDS,
        touched,
    )


# -- processes ---------------------------------------------------------------------------------------------------------


def this_process() -> str:
    """Host, PID and start time of the process, with dots between them. PIDs are reused; PID plus start time is unique.

    Examples
    --------
    >>> has_ended(this_process())
    False
    """
    pid = os.getpid()
    return f"{_host()}.{pid}.{_started(pid)}"


def has_ended(owner: str) -> bool:
    """True if the process is known to have ended; False for processes of other hosts and for malformed owners.

    Examples
    --------
    >>> has_ended("elsewhere.1.0"), has_ended("nobody")
    (False, False)
    """
    if not OWNER.fullmatch(owner):
        return False
    host, pid, start = owner.split(".")
    return host == _host() and _started(os.getpid()) != "" and _started(int(pid)) != start


@cache
def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", platform.node()) or "host"


def _started(pid: int) -> str:
    """Clock ticks from the start of the machine to that of a process; empty if it has ended, or without /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()  # the program's name may hold blanks and brackets
    return "" if fields[0] in "ZX" else fields[19]  # a zombie has ended


def _is_abandoned(entry: Path, now: float) -> bool:
    """Whether an entry among the drafts has the name of a draft, and its process has ended."""
    named = DRAFT.fullmatch(entry.name)
    if named is None or not OWNER.fullmatch(named[1]) or entry.is_symlink() or not entry.is_dir():
        return False
    if named[1].partition(".")[0] == _host():
        return has_ended(named[1])
    try:
        return now - entry.stat().st_mtime > STRANGER_SECONDS
    except FileNotFoundError:
        return False
