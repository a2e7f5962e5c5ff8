"""A folder that keeps the results of a benchmark's cells, each whole or not there at all.

    cells/ab/ab12…/prediction.npz    the prediction with its labels
    cells/ab/ab12…/scores.npz        uncertainties that the prediction does not contain, where there are any
    cells/ab/ab12…/metadata.json     times, accuracy, versions, and the SHA-256 of each file
    index.sqlite                     the state of each cell
    drafts/                          what is being written

The files are what counts. They are written to a draft on the same file system, flushed to the disk, and renamed into their
place as one folder; only then does the index say done, and it is believed only as long as the files are there with their
hashes. Files whose process ended before it could record them are found and recorded.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._files import flush, whole_file
from uqassay.bench.cell import Cell, CellResult, canonical_json
from uqassay.bench.files import METADATA, SCHEMA, folder_problems
from uqassay.bench.index import Index, lapsed, tables_version
from uqassay.bench.owner import is_abandoned, this_process
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions import Prediction
from uqassay.predictions.files import file_hash, load, load_labels, save

__all__ = ["Store", "StoredResult"]

PREDICTION, SCORES = "prediction.npz", "scores.npz"
LEASE_SECONDS = 120.0  # of a cell that runs; its worker renews it every quarter


@final
@dataclass(frozen=True, eq=False)
class StoredResult:
    """What is kept of one cell.

    Attributes
    ----------
    prediction : Prediction
    labels : array (n,) or (n, K)
    scores : dict of str to array (n,)
    metadata : dict
        ``cell``, ``seconds``, ``accuracy``, ``facts``, ``versions``, ``files`` (their SHA-256) and ``hash`` (of them all).
    """

    prediction: Prediction
    labels: NDArray[Any]
    scores: dict[str, NDArray[Any]]
    metadata: dict[str, Any]


@final
class Store:
    """Results in a folder, shared by any number of processes.

    Parameters
    ----------
    folder : path
        Made where it does not exist.
    create : bool
        False is for reading: nothing is made, and a folder that holds no benchmark is refused.
    required : bool
        False reads a folder without an index, or that is not there, as one with nothing recorded.
    lease_seconds : float
        How long a process that says nothing keeps the cell it runs.

    Raises
    ------
    FolderProblem
        A folder that cannot be made or written to, or belongs to a newer version.
    InputError
        With `create` False, a folder that holds no benchmark.

    Examples
    --------
    >>> import tempfile, uqassay as uq
    >>> scratch = tempfile.TemporaryDirectory()
    >>> store = Store(scratch.name)
    >>> cell = Cell("json:dumps", dataset="toy", method="constant", seed=0)
    >>> store.index.add([cell])
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
        self.owner = this_process()
        with folder_problems(self.folder):
            if not tables_version(self.folder) and not create and required:
                raise InputError("folder", f"{self.folder} holds no benchmark", "", "check the path", code="missing")
            if not create and any(path.is_file() for path in (self.folder, *self.folder.parents)):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.folder))
            for part in ("cells", "drafts") if create else ():
                (self.folder / part).mkdir(parents=True, exist_ok=True)
        self.index = Index(self.folder, create=create)

    # -- what is there ------------------------------------------------------------------------------------------------

    def counts(self, keys: Sequence[str] | None = None) -> dict[str, int]:
        """How many of the given cells, or of all, are in each state."""
        states = [row["state"] for row in self.index.rows(keys)]
        return {state: states.count(state) for state in ("queued", "running", "done", "failed")}

    def result(self, key: str) -> StoredResult:
        """The result of a cell that is done.

        Raises
        ------
        InputError
            There is none, or its files are not those that were written.
        """
        metadata = self.checked_metadata(key)
        if metadata is None:
            raise InputError(
                "key", f"{key[:12]} has no whole result in {self.folder}", "", "run the benchmark again", code="missing"
            )
        place = self.place(key)
        scores: dict[str, NDArray[Any]] = {}
        if SCORES in metadata["files"]:
            with np.load(place / SCORES, allow_pickle=False) as archive:
                scores = {name: archive[name] for name in archive.files}
        return StoredResult(load(place / PREDICTION), load_labels(place / PREDICTION), scores, metadata)

    def checked_metadata(self, key: str) -> dict[str, Any] | None:
        """Metadata of a cell whose files are all there with their hashes; None for any other."""
        place = self.place(key)
        try:
            metadata = json.loads((place / METADATA).read_text(encoding="utf-8"))
            files = metadata["files"]
            whole = (
                metadata["schema"] == SCHEMA
                and metadata["key"] == key
                and metadata["hash"] == _hash_of(files)
                and PREDICTION in files
                and isinstance(metadata["seconds"], (int, float))
                and isinstance(metadata["accuracy"], (int, float, type(None)))
                and all(file_hash(place / name) == digest for name, digest in files.items())
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, FileFormatError):  # missing or damaged
            return None
        return metadata if whole else None

    def place(self, key: str) -> Path:
        """Folder of a cell's files."""
        return self.folder / "cells" / key[:2] / key

    # -- a cell's life ------------------------------------------------------------------------------------------------

    def claim(self, key: str) -> bool:
        """Make a cell this process's own: one process at most gets True."""
        return self.index.claim(key, self.owner, self.lease_seconds)

    def finish(self, cell: Cell, result: CellResult, *, seconds: float) -> bool:
        """Write a result and record it; False where another process has counted the cell.

        Raises
        ------
        InputError
            What the function returned is not a result.
        FolderProblem
            The folder takes no more files.
        """
        key = cell.key
        with folder_problems(self.folder):
            draft = self._draft()
            try:
                metadata = _write(draft, cell, result, seconds)
                found = self._put(draft, key)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        return self.index.finish(key, self.owner, metadata if found is None else found)

    def fail(self, key: str, traceback: str) -> bool:
        """Record the traceback of a cell that this process ran."""
        return self.index.fail(key, self.owner, traceback)

    def release(self, key: str) -> None:
        """Give a cell back that this process could not finish."""
        row = self.index.row(key)
        if row is not None and row["state"] == "running" and row["owner"] == self.owner:
            self.index.requeue(row)

    def renew(self, key: str) -> bool:
        """Say that the cell still runs."""
        return self.index.renew(key, self.owner, self.lease_seconds)

    def recover(self, keys: Sequence[str] | None = None) -> None:
        """Make the index agree with the files, free cells whose process ended, and remove abandoned drafts."""
        for row in self.index.rows(keys):
            state, metadata = self._recovered(row)
            if state == row["state"]:
                continue
            if metadata is not None:
                self.index.finish(row["key"], None, metadata)
            else:
                self.index.requeue(row)
        for draft in (self.folder / "drafts").iterdir():
            if is_abandoned(draft):
                shutil.rmtree(draft, ignore_errors=True)

    def foreseen(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """Key, data set, method, state and seconds of each cell as `recover` would leave it; nothing is changed."""
        known = {row["key"]: row for row in self.index.rows([cell.key for cell in cells])}
        found = []
        for cell in cells:
            row = known.get(cell.key, {"key": cell.key, "state": "queued", "hash": None, "seconds": None})
            state, metadata = self._recovered(row)
            seconds = row["seconds"] if metadata is None else metadata["seconds"]
            facts = {"key": cell.key, "dataset": cell.dataset, "method": cell.method}
            found.append({**facts, "state": state, "seconds": seconds})
        return found

    def _recovered(self, row: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """State of a cell by its files and its owner, and the metadata where these make it done."""
        state = str(row["state"])
        metadata = self.checked_metadata(row["key"]) if state != "failed" else None
        if state == "done":
            return ("queued" if metadata is None or metadata["hash"] != row["hash"] else "done"), None
        if state == "queued" or (state == "running" and lapsed(row)):
            return ("queued" if metadata is None else "done"), metadata
        return state, None

    # -- files --------------------------------------------------------------------------------------------------------

    def scratch(self) -> Path:
        """A folder of this process's own among the drafts; removed by `recover` once the process has ended."""
        with folder_problems(self.folder):
            return self._draft()

    def _draft(self) -> Path:
        draft = self.folder / "drafts" / f"{self.owner}+{secrets.token_hex(4)}"
        draft.mkdir(parents=True)
        return draft

    def _put(self, draft: Path, key: str) -> dict[str, Any] | None:
        """Rename the draft into its place; metadata of what is there already where that is whole."""
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
                return None
            if (found := self.checked_metadata(key)) is not None:  # the same cell, so the same result
                return found
            aside = self._draft()
            with suppress(FileNotFoundError):  # another process was faster
                os.rename(place, aside / "damaged")
            shutil.rmtree(aside, ignore_errors=True)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _write(draft: Path, cell: Cell, result: CellResult, seconds: float) -> dict[str, Any]:
    """Files of a result, flushed to the disk; returns the metadata."""
    from uqassay import __version__

    n = result.prediction.n_instances
    if len(result.labels) != n:
        raise InputError(
            "labels",
            f"must have one row for each of {n} predictions",
            f"got {len(result.labels)}",
            "mend the method",
            code="undefined",
        )
    save(result.prediction, draft / PREDICTION, labels=result.labels)
    if result.scores:
        scores = {name: np.asarray(values, dtype=np.float64) for name, values in result.scores.items()}
        for name, values in scores.items():
            if values.shape != (n,):
                raise InputError(
                    name,
                    f"must be ({n},), one score for each instance",
                    f"got {values.shape}",
                    "mend the method",
                    code="shape",
                )
        with whole_file(draft / SCORES) as stream:
            np.savez(stream, **dict(sorted(scores.items())))  # type: ignore[arg-type]
    files = {path.name: file_hash(path) for path in sorted(draft.iterdir())}
    metadata = {
        "schema": SCHEMA,
        "key": cell.key,
        "cell": json.loads(cell.to_json()),
        "files": files,
        "hash": _hash_of(files),
        "seconds": seconds,
        "accuracy": _accuracy(result),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "facts": json.loads(canonical_json(dict(result.facts), "facts")),
        "versions": {"uqassay": __version__, **_versions()},
    }
    with whole_file(draft / METADATA) as stream:
        stream.write(json.dumps(metadata, allow_nan=False, indent=1).encode())
    return metadata


def _hash_of(files: dict[str, str]) -> str:
    return hashlib.sha256(canonical_json(files).encode()).hexdigest()


def _accuracy(result: CellResult) -> float | None:
    """Share of the instances whose most probable class is the label; None for label distributions."""
    labels = np.asarray(result.labels)
    if labels.ndim != 1 or not len(labels):
        return None
    return float((result.prediction.mean_probs().argmax(axis=1) == labels).mean())


def _versions() -> dict[str, str]:
    """Of Python and of the packages in use that the numbers may depend on."""
    import platform
    import sys

    found = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "sklearn", "torch"):
        if name in sys.modules:
            found[name] = str(sys.modules[name].__version__)
    return found
