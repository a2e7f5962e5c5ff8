"""A folder with the results of a benchmark's cells. Each result is there whole or not at all.

    cells/ab/ab12…/prediction.npz    done: the prediction with its labels
    cells/ab/ab12…/scores.npz        uncertainties that the prediction does not contain, if any
    cells/ab/ab12…/metadata.json     times, accuracy, versions, and the SHA-256 of each file
    cells/ab/ab12….claim             running: who runs the cell; see `uqassay.bench.claims`
    cells/ab/ab12….failed            failed: the traceback
    plans/                           lists of the cells that were asked for
    drafts/                          files that are being written

The files alone say in which state a cell is: done before failed, failed before running, running before queued. A result is
written to a draft on the same file system, flushed to the disk and renamed into its place as one folder. If a process ends
between two steps, the files still say one state: a cell with a result and a claim is done.
"""

import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import final

from uqassay._files import flush
from uqassay.bench.cell import Cell, CellResult, canonical_json
from uqassay.bench.claims import LEASE_SECONDS, Claims, read_claim
from uqassay.bench.files import KEY, PLAN_SCHEMA, folder_problems, holds_benchmark, json_object, text_of
from uqassay.bench.results import StoredResult, metadata_of, read_result, whole_metadata, write_result
from uqassay.bench.states import CellState, named
from uqassay.errors import InputError

__all__ = ["Store"]

CLAIM, FAILED = ".claim", ".failed"
NO_TRACEBACK = "No traceback was recorded."


@final
class Store:
    """Results in a folder, shared by any number of processes.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    create : bool
        False is for reading: nothing is made or changed, and a folder without a benchmark is refused.
    required : bool
        False takes a folder without a benchmark, or a missing one, for an empty benchmark.
    lease_seconds : float
        How long a process keeps the cell it runs without renewing the claim.

    Raises
    ------
    FolderProblem
        A folder that cannot be made or written to.
    InputError
        With `create` False, a folder that holds no benchmark.

    Examples
    --------
    >>> import tempfile, numpy as np, uqassay as uq
    >>> scratch = tempfile.TemporaryDirectory()
    >>> store = Store(scratch.name)
    >>> cell = Cell("json:dumps", dataset="toy", method="constant", seed=0)
    >>> store.add([cell])
    >>> store.claim(cell.key), store.claim(cell.key)
    (True, False)
    >>> store.finish(cell, CellResult(uq.Point([[0.9, 0.1]]), np.array([0])), seconds=0.5)
    True
    >>> store.counts()
    {'queued': 0, 'running': 0, 'done': 1, 'failed': 0}
    >>> scratch.cleanup()
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        create: bool = True,
        required: bool = True,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self.folder = Path(folder)
        self.lease_seconds = lease_seconds
        self.claims = Claims(self.folder / "drafts", lease_seconds)
        self._read_only = not create
        self._seen: dict[str, CellState] = {}  # done cells whose metadata were read
        with folder_problems(self.folder):
            if not create and any(path.is_file() for path in (self.folder, *self.folder.parents)):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.folder))
            if not create and required and not holds_benchmark(self.folder):
                raise InputError(
                    "folder", "must hold a benchmark", f"got {self.folder}", "check the path", code="missing"
                )
            for part in ("cells", "drafts", "plans") if create else ():
                (self.folder / part).mkdir(parents=True, exist_ok=True)

    # -- reading ------------------------------------------------------------------------------------------------------

    def states(self, keys: Sequence[str] | None = None, *, verify: bool = False) -> list[CellState]:
        """States of the given cells in their order, or of all in the order of their keys; nothing is changed.

        Parameters
        ----------
        keys : sequence of str, optional
        verify : bool
            Compare the SHA-256 of all files of results; by default their metadata are believed.
        """
        planned = self._planned() if keys is None else {}
        with folder_problems(self.folder):
            entries = self._entries(None if keys is None else {key[:2] for key in keys})
            clock = cache(self._clock)  # looked up once, and only if a cell is claimed
            wanted = sorted(entries.keys() | planned.keys()) if keys is None else keys
            return [
                self._state(planned.get(key) or CellState(key=key), entries.get(key, ()), clock, verify=verify)
                for key in wanted
            ]

    def counts(self, keys: Sequence[str] | None = None) -> dict[str, int]:
        """Number of the given cells, or of all, in each state."""
        states = [found.state for found in self.states(keys)]
        return {state: states.count(state) for state in ("queued", "running", "done", "failed")}

    def result(self, key: str) -> StoredResult:
        """The result of a cell that is done.

        Raises
        ------
        InputError
            There is none, or its files are damaged.
        """
        place = self.place(key)
        metadata = whole_metadata(place, key)
        if metadata is None:
            raise InputError(
                "key",
                "must be that of a cell with a whole result",
                f"got {key[:12]} in {self.folder}",
                "run the benchmark again",
                code="missing",
            )
        return read_result(place, metadata)

    def place(self, key: str) -> Path:
        """Folder of a cell's files."""
        return self.folder / "cells" / key[:2] / key

    # -- a cell's life ------------------------------------------------------------------------------------------------

    def add(self, cells: Sequence[Cell]) -> None:
        """Keep the list of cells, so that the status can name those that wait."""
        listed = [{"key": cell.key, "cell": json.loads(cell.to_json())} for cell in cells]
        text = canonical_json({"schema": PLAN_SCHEMA, "cells": listed})
        path = self.folder / "plans" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
        with folder_problems(self.folder):
            if not path.exists():
                self._put_text(path, text)

    def claim(self, key: str) -> bool:
        """Claim a queued cell for this process: one process at most gets True."""
        path = self._file(key, CLAIM)
        with folder_problems(self.folder):
            path.parent.mkdir(exist_ok=True)
            if self._is_settled(key) or not self.claims.take(path):
                return False
            if self._is_settled(key):  # another process finished it between the two steps
                self.claims.give_back(path)
                return False
            return True

    def finish(self, cell: Cell, result: CellResult, *, seconds: float) -> bool:
        """Put a result into its place; False if the result of another process is there, which is then kept.

        Raises
        ------
        InputError
            The function of the cell did not return a valid result.
        FolderProblem
            The folder takes no more files.
        """
        key = cell.key
        with folder_problems(self.folder):
            with self.claims.draft() as draft:
                write_result(draft, cell, result, seconds)
                first = self._put(draft, key)
            self._file(key, FAILED).unlink(missing_ok=True)
            self.claims.give_back(self._file(key, CLAIM))
        return first

    def fail(self, key: str, traceback: str) -> bool:
        """Keep the traceback of a cell that this process ran; False if the cell is no longer this process's."""
        with folder_problems(self.folder):
            if not self.claims.holds(self._file(key, CLAIM)):
                return False
            self._put_text(self._file(key, FAILED), traceback)
            self.claims.give_back(self._file(key, CLAIM))
        return True

    def release(self, key: str) -> bool:
        """Give back a cell that this process could not finish."""
        with folder_problems(self.folder):
            return self.claims.give_back(self._file(key, CLAIM))

    def renew(self, key: str) -> bool:
        """Renew the claim of a cell that still runs; False if the cell is no longer this process's."""
        with folder_problems(self.folder):
            return self.claims.renew(self._file(key, CLAIM))

    def retry(self, key: str) -> None:
        """Queue a failed cell again."""
        with folder_problems(self.folder):
            self._file(key, FAILED).unlink(missing_ok=True)

    def recover(self, keys: Sequence[str]) -> None:
        """Remove damaged results of the given cells, claims beside results, and drafts of processes that have ended."""
        states = self.states(keys, verify=True)
        with folder_problems(self.folder):
            for found in states:
                if found.state == "done":
                    self._file(found.key, CLAIM).unlink(missing_ok=True)
                elif os.path.lexists(self.place(found.key)):
                    self._remove_damaged(found.key)
            self.claims.clear_drafts()

    def scratch(self) -> Path:
        """A new folder of this process among the drafts; `recover` removes it once the process has ended."""
        with folder_problems(self.folder):
            return self.claims.new_draft()

    # -- states -------------------------------------------------------------------------------------------------------

    def _entries(self, parts: set[str] | None) -> dict[str, tuple[str, ...]]:
        """Suffixes of the files of each cell, "" for the folder of its result; one listing for each folder of cells."""
        if parts is None:
            parts = set(_names(self.folder / "cells"))
        found: dict[str, tuple[str, ...]] = {}
        for part in parts:
            for name in _names(self.folder / "cells" / part):
                key, dot, suffix = name.partition(".")
                if KEY.fullmatch(key) and key[:2] == part:
                    found[key] = (*found.get(key, ()), dot + suffix)
        return found

    def _state(
        self, known: CellState, suffixes: Sequence[str], clock: Callable[[], float], *, verify: bool
    ) -> CellState:
        key = known.key
        if "" in suffixes and (done := self._done(key, verify=verify)) is not None:
            return done
        if FAILED in suffixes:
            text = text_of(self._file(key, FAILED)) or ""
            return replace(known, state="failed", traceback=text if text.strip() else NO_TRACEBACK)
        if CLAIM in suffixes:
            claim = read_claim(self._file(key, CLAIM))
            if claim is not None and not claim.has_lapsed(clock()):
                return replace(known, state="running")
        return known

    def _done(self, key: str, *, verify: bool) -> CellState | None:
        if not verify and key in self._seen:
            return self._seen[key]
        metadata = (whole_metadata if verify else metadata_of)(self.place(key), key)
        if metadata is None:
            return None
        self._seen[key] = CellState(
            key=key,
            state="done",
            seconds=metadata["seconds"],
            accuracy=metadata["accuracy"],
            hash=metadata["hash"],
            **named(metadata["cell"]),
        )
        return self._seen[key]

    def _planned(self) -> dict[str, CellState]:
        """The cells of all plans, as queued."""
        found: dict[str, CellState] = {}
        for path in sorted((self.folder / "plans").glob("*.json")):
            plan = json_object(path) or {}
            entries = plan.get("cells") if plan.get("schema") == PLAN_SCHEMA else None
            for entry in entries if isinstance(entries, list) else ():
                key = entry.get("key") if isinstance(entry, dict) else None
                if isinstance(key, str) and KEY.fullmatch(key):
                    found[key] = CellState(key=key, **named(entry.get("cell")))
        return found

    def _clock(self) -> float:
        return time.time() if self._read_only else self.claims.clock()

    def _is_settled(self, key: str) -> bool:
        """Whether a cell is done or failed."""
        return os.path.lexists(self._file(key, FAILED)) or whole_metadata(self.place(key), key) is not None

    # -- files --------------------------------------------------------------------------------------------------------

    def _file(self, key: str, suffix: str) -> Path:
        place = self.place(key)
        return place.with_name(place.name + suffix)

    def _put(self, draft: Path, key: str) -> bool:
        """Rename the draft into its place; False if a whole result is there."""
        place = self.place(key)
        place.parent.mkdir(exist_ok=True)
        while True:
            try:
                os.rename(draft, place)
            except OSError as problem:
                if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
            else:
                flush(place.parent)
                flush(place.parent.parent)
                return True
            if whole_metadata(place, key) is not None:  # the same cell, so the same result
                return False
            self._remove_damaged(key)

    def _remove_damaged(self, key: str) -> None:
        """Remove a result that is not whole; one that another process has put there meanwhile stays."""
        place = self.place(key)
        with self.claims.draft() as aside:
            try:
                os.rename(place, aside / key)
            except FileNotFoundError:  # another process was faster
                return
            if whole_metadata(aside / key, key) is not None:
                with suppress(OSError):  # again another one, with the same result
                    os.rename(aside / key, place)
        self._seen.pop(key, None)

    def _put_text(self, path: Path, text: str) -> None:
        """Write a text file through a draft, so that it is there whole or not at all."""
        path.parent.mkdir(exist_ok=True)
        with self.claims.draft() as draft:
            (draft / path.name).write_text(text, encoding="utf-8", errors="backslashreplace")
            flush(draft / path.name)
            os.replace(draft / path.name, path)
        flush(path.parent)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
