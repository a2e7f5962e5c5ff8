"""The index of a benchmark's folder: one SQLite row for each cell, whose state changes by one statement at a time.

Write-ahead logging needs memory that all processes share, which network file systems do not give; there, and wherever SQLite
refuses it, the index keeps a rollback journal instead.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, final

from uqassay.errors import InputError
from uqassay.experiments.bench.cell import Cell, canonical_json
from uqassay.experiments.bench.owner import is_dead

__all__ = ["INDEX", "FolderProblem", "Index", "State", "lapsed"]

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
FREE = "owner = NULL, lease = NULL"


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
        False refuses a database without the table of cells, and leaves it as it is.

    Raises
    ------
    InputError
        With `create` False, a database of something else.
    FolderProblem
        The database cannot be opened or written, is damaged, or was made by a newer version.
    """

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder = folder
        with self._open() as base:
            version = base.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise FolderProblem(
                    f"folder: {folder} was written by a newer version of uqassay (tables of version {version}, this one knows "
                    f"{VERSION}); update uqassay or choose another folder."
                )
            if version < VERSION and not create:
                raise InputError(f"folder: {folder} holds no benchmark; check the path.")
            self.journal = _journal(base, folder)
            if version < VERSION:
                base.execute("BEGIN IMMEDIATE")
                base.execute(TABLE)
                base.execute(f"PRAGMA user_version = {VERSION}")
                base.execute("COMMIT")

    # -- what is there ------------------------------------------------------------------------------------------------

    def rows(self, keys: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Rows of the given cells in their order, or of all in the order of their keys."""
        with self._open() as base:
            found = {row["key"]: dict(row) for row in base.execute("SELECT * FROM cells ORDER BY key")}
        return list(found.values()) if keys is None else [found[key] for key in keys if key in found]

    def row(self, key: str) -> dict[str, Any] | None:
        """One row, or None where the cell is unknown."""
        with self._open() as base:
            found = base.execute("SELECT * FROM cells WHERE key = ?", (key,)).fetchone()
        return None if found is None else dict(found)

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
        try:
            with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as base:
                base.row_factory = sqlite3.Row
                yield base
        except sqlite3.Error as problem:
            reason = str(problem).rstrip(".")
            if _is_full(self.folder):  # which SQLite calls an input or output error, too
                raise FolderProblem(
                    f"folder: there is no space left for {self.folder}; free some, and run the same command again."
                ) from problem
            raise FolderProblem(
                f"folder: the index {path} cannot be used ({reason}); check space and permissions, or choose another folder."
            ) from problem


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < LEAST_FREE
    except OSError:  # the folder has gone
        return False


def lapsed(row: dict[str, Any]) -> bool:
    """Whether nobody works any more on a cell that is recorded as running."""
    return is_dead(row["owner"]) or row["lease"] < time.time()


# -- journals ---------------------------------------------------------------------------------------------------------


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
