"""The index of a benchmark's folder: one SQLite row for each cell, whose state changes by one statement at a time.

Write-ahead logging needs memory that all processes share, which network file systems do not give; there, and wherever SQLite
refuses it, the index keeps a rollback journal instead.
"""

import math
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, final

from uqassay.bench.cell import Cell, canonical_json
from uqassay.bench.owner import is_dead
from uqassay.errors import InputError

__all__ = ["INDEX", "FolderProblem", "Index", "State", "lapsed", "tables_version"]

State = Literal["queued", "running", "done", "failed"]
INDEX = "index.sqlite"
VERSION = 1  # of the tables
BUSY_SECONDS = 60.0  # that a statement waits for another process's
LEAST_FREE = 2**16  # bytes; SQLite maps 32 kB of memory beside the log
NETWORK = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "lustre", "gpfs", "beegfs", "ceph", "afs", "glusterfs")
TABLE = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, cell TEXT NOT NULL,
    dataset TEXT NOT NULL, method TEXT NOT NULL, params TEXT NOT NULL, condition TEXT NOT NULL, seed INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    owner TEXT, lease REAL, attempt INTEGER NOT NULL DEFAULT 0,
    hash TEXT, seconds REAL, accuracy REAL, traceback TEXT
)"""
COLUMNS = {
    "key",
    "cell",
    "dataset",
    "method",
    "state",
    "owner",
    "lease",
    "attempt",
    "hash",
}  # by which the table is known
FREE = "owner = NULL, lease = NULL"
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@final
class FolderProblem(InputError):
    """The folder of a benchmark takes no files or entries: the fault of no cell."""


@final
class Index:
    """States of the cells in a folder; every call opens the database anew, so any thread or process may use it.

    Parameters
    ----------
    folder : Path
        An existing folder.
    create : bool
        False is for reading alone: nothing is made, and without a database there are no rows.

    Raises
    ------
    FolderProblem
        The database is of something else, which is left as it is; or it cannot be opened or written, is damaged, or was made
        by a newer version.
    """

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder, self.create = folder, create
        self.there = tables_version(folder) > 0 or create
        self.journal = "wal" if self.there and _logs_ahead(folder / INDEX) else "delete"
        if not create:
            return
        with self._open() as base:
            base.execute("BEGIN IMMEDIATE")
            if _version(base, folder) == 0:  # nobody made the table since
                base.execute(TABLE)
                base.execute(f"PRAGMA user_version = {VERSION}")
            base.execute("COMMIT")
            self.journal = _journal(base, folder)

    # -- what is there ------------------------------------------------------------------------------------------------

    def rows(self, keys: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Rows of the given cells in their order, or of all in the order of their keys."""
        if not self.there:
            return []
        with self._open() as base:
            found = {row["key"]: _readable(row) for row in base.execute("SELECT * FROM cells ORDER BY key")}
        return list(found.values()) if keys is None else [found[key] for key in keys if key in found]

    def row(self, key: str) -> dict[str, Any] | None:
        """One row, or None where the cell is unknown."""
        with self._open() as base:
            found = base.execute("SELECT * FROM cells WHERE key = ?", (key,)).fetchone()
        return None if found is None else _readable(found)

    def add(self, cells: Sequence[Cell]) -> None:
        """Queue the cells that are new."""
        values = [
            (
                *(cell.key, cell.to_json(), cell.dataset, cell.method),
                *(canonical_json(cell.params), canonical_json(cell.condition), cell.seed),
            )
            for cell in cells
        ]
        with self._open() as base:
            base.execute("BEGIN IMMEDIATE")
            base.executemany(
                "INSERT OR IGNORE INTO cells (key, cell, dataset, method, params, condition, seed) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            base.execute("COMMIT")

    # -- transitions --------------------------------------------------------------------------------------------------

    def claim(self, key: str, owner: str, seconds: float) -> bool:
        """Make a queued cell ours; one that is running too, where its owner is dead or its lease has ended."""
        row = self.row(key)
        if row is None or row["state"] not in ("queued", "running") or (row["state"] == "running" and not lapsed(row)):
            return False
        return self._change(
            "state = 'running', owner = ?, lease = ?, attempt = attempt + 1, traceback = NULL",
            "key = ? AND state = ? AND owner IS ? AND lease IS ?",
            [owner, time.time() + seconds, key, row["state"], row["owner"], row["lease"]],
        )

    def renew(self, key: str, owner: str, seconds: float) -> bool:
        """Make the lease longer; False where the cell is no longer ours."""
        where = "key = ? AND state = 'running' AND owner = ?"
        return self._change("lease = ?", where, [time.time() + seconds, key, owner])

    def finish(self, key: str, owner: str | None, metadata: dict[str, Any]) -> bool:
        """Record files that are in place, as the owner, or for files found without a record (None).

        False where somebody else has recorded, or will: a cell is counted once.
        """
        change = f"state = 'done', hash = ?, seconds = ?, accuracy = ?, traceback = NULL, {FREE}"
        where = "key = ? AND state = 'running' AND owner = ?" if owner else "key = ? AND state != 'done'"
        values = [metadata["hash"], metadata["seconds"], metadata["accuracy"], key]
        return self._change(change, where, [*values, owner] if owner else values)

    def fail(self, key: str, owner: str, traceback: str) -> bool:
        """Record why a cell that is ours failed."""
        where = "key = ? AND state = 'running' AND owner = ?"
        return self._change(f"state = 'failed', traceback = ?, {FREE}", where, [traceback, key, owner])

    def requeue(self, row: dict[str, Any]) -> bool:
        """Queue a cell again, unless it changed since its row was read."""
        where = "key = ? AND state = ? AND owner IS ? AND lease IS ?"
        change = f"state = 'queued', hash = NULL, seconds = NULL, accuracy = NULL, {FREE}"
        return self._change(change, where, [row["key"], row["state"], row["owner"], row["lease"]])

    # -- the database -------------------------------------------------------------------------------------------------

    def _change(self, change: str, where: str, values: Sequence[Any]) -> bool:
        with self._open() as base:
            return base.execute(f"UPDATE cells SET {change} WHERE {where}", values).rowcount == 1

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection that commits each statement; what SQLite cannot do is told in one sentence."""
        path = self.folder / INDEX
        how = "mode=rwc" if self.create else "mode=rw"
        if not self.create and not (os.access(path, os.W_OK) and os.access(self.folder, os.W_OK)):
            how = "mode=ro" if _has_log(path) else "immutable=1"
        try:
            with _connected(path, how) as base:
                base.row_factory = sqlite3.Row
                yield base
        except sqlite3.Error as problem:
            raise _refusal(self.folder, problem) from problem


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < LEAST_FREE
    except OSError:  # the folder has gone
        return False


def lapsed(row: dict[str, Any]) -> bool:
    """Whether nobody works any more on a cell that is recorded as running."""
    return is_dead(row["owner"]) or not isinstance(row["lease"], (int, float)) or row["lease"] < time.time()


# -- whose database it is ---------------------------------------------------------------------------------------------


def tables_version(folder: Path) -> int:
    """Version of the tables in a folder's index, 0 where there is none or an empty one; nothing is touched.

    Raises
    ------
    FolderProblem
        The index is of something else, damaged, or of a newer version.
    """
    path = folder / INDEX
    if path.exists() and not path.is_file():
        raise _foreign(folder)
    if not path.exists() or not path.stat().st_size:
        return 0
    ways = ["immutable=1", "mode=ro"]  # the first leaves no log beside the file, the second waits for who writes
    for how in reversed(ways) if _has_log(path) else ways:
        try:
            with _connected(path, how) as base:
                return _version(base, folder)
        except sqlite3.Error as problem:
            cause = problem
    raise _refusal(folder, cause) from cause


def _version(base: sqlite3.Connection, folder: Path) -> int:
    """Version of the tables in a database; 0 in an empty one, and a refusal of any other's."""
    version = int(base.execute("PRAGMA user_version").fetchone()[0])
    columns = {row[1] for row in base.execute("PRAGMA table_info(cells)")}
    if version == 0 and not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return 0
    if version < 1 or not columns >= COLUMNS:
        raise _foreign(folder)
    if version > VERSION:
        raise FolderProblem(
            f"folder: {folder} was written by a newer version of uqassay (tables of version {version}, this one knows "
            f"{VERSION}); update uqassay or choose another folder."
        )
    return version


def _foreign(folder: Path) -> FolderProblem:
    return FolderProblem(
        f"folder: {folder / INDEX} was not written by uqassay, so {folder} holds no benchmark; check the path, or choose "
        "another folder."
    )


def _refusal(folder: Path, problem: sqlite3.Error) -> FolderProblem:
    """What SQLite cannot do, in one sentence."""
    path, reason = folder / INDEX, str(problem).rstrip(".")
    if _is_full(folder):  # which SQLite calls an input or output error, too
        return FolderProblem(f"folder: there is no space left for {folder}; free some, and run the same command again.")
    if getattr(problem, "sqlite_errorcode", 0) & 0xFF in DAMAGED:  # the low byte of SQLite's longer codes
        return FolderProblem(
            f"folder: the index {path} cannot be used ({reason}); delete it where it is a benchmark's, and the same command "
            "recovers everything from the cells, or choose another folder."
        )
    return FolderProblem(
        f"folder: the index {path} cannot be used ({reason}); check space and permissions, or choose another folder."
    )


def _readable(row: sqlite3.Row) -> dict[str, Any]:
    """A row with what somebody else wrote into it left out; owner and lease stay, since a change asks for them."""
    found = dict(row)
    for name in ("seconds", "accuracy"):
        if not isinstance(found[name], (int, float)) or not math.isfinite(found[name]):
            found[name] = None
    for name in ("dataset", "method"):
        found[name] = str(found[name])
    if not isinstance(found["attempt"], int):
        found["attempt"] = 0
    if found["state"] == "failed" and not (isinstance(found["traceback"], str) and found["traceback"].strip()):
        found["traceback"] = "No traceback was recorded."
    return found


# -- connections and journals -----------------------------------------------------------------------------------------


@contextmanager
def _connected(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    """A connection of the given kind, closed afterwards."""
    place = f"{path.absolute().as_uri()}?{how}"
    with closing(sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, uri=True)) as base:
        yield base


def _has_log(path: Path) -> bool:
    """Whether changes may wait in a log beside the file."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _logs_ahead(path: Path) -> bool:
    """Whether a database keeps a write-ahead log, by the format in its header."""
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(20)[18:] == b"\2\2"
    return False


def _journal(base: sqlite3.Connection, folder: Path) -> str:
    """Choose write-ahead logging where it is safe, and return the journal in use."""
    wanted = "delete" if _file_system(folder).startswith(NETWORK) else "wal"
    for attempt in range(10):
        try:
            used = str(base.execute("PRAGMA journal_mode").fetchone()[0])
            return used if used == wanted else str(base.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0])
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem) and "protocol" not in str(problem):
                raise
            time.sleep(0.05 * attempt)  # SQLite does not wait by itself while the journal changes
    return str(base.execute("PRAGMA journal_mode = delete").fetchone()[0])


def _file_system(folder: Path) -> str:
    """Type of the file system that holds a folder; empty where the system does not say."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    place = os.path.realpath(folder)
    best, kind = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = before.split()[4].replace("\\040", " ")
        if (place == point or place.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind
