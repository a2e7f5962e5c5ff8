"""A folder with the results of a benchmark's cells; each result is there whole or not at all."""

import errno
import hashlib
import json
import math
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.errors import FileFormatError, InputError
from uqassay.files import DRAFT, draft_of, optional_package, read_bytes, whole_file
from uqassay.lab.bench.cell import Cell, CellResult, canonical_json
from uqassay.predictions import Prediction, class_indices, load, load_labels, read_arrays, save
from uqassay.records import packed, unpacked
from uqassay.results import read_json
from uqassay.text import counted

__all__ = [
    "METADATA",
    "PREDICTION",
    "RECORD",
    "SCORES",
    "TRACEBACK",
    "CellState",
    "FolderProblem",
    "Store",
    "StoredResult",
    "count_older",
    "holds_benchmark",
    "json_object",
    "named",
    "named_labels",
    "older_notes",
    "older_sentence",
    "reason_of",
    "write_text",
]

# A cell is one folder, written as a draft and renamed into its place, and a lock.
#
#     cells/ab/ab12…/prediction.npz    done: the prediction with its labels
#     cells/ab/ab12…/scores.npz        uncertainties that the prediction does not contain, if any
#     cells/ab/ab12…/record.npz        arrays of the record of a result, if any; its values are in the metadata
#     cells/ab/ab12…/metadata.json     times, accuracy, versions, and the SHA-256 of each file
#     cells/ab/ab12…/traceback.txt     failed, instead of the files above
#     cells/ab/ab12….lock              locked while a process runs the cell; the empty file stays
#     plans/                           lists of the cells that were asked for
#
# The operating system frees a lock when its process ends, so a cell of a killed process is queued at once. Several hosts can
# share a folder if the network file system supports locks (flock).

PREDICTION, SCORES, RECORD = "prediction.npz", "scores.npz", "record.npz"
METADATA, TRACEBACK = "metadata.json", "traceback.txt"
RESULT_SCHEMA, PLAN_SCHEMA = "uqassay.result/1", "uqassay.plan/1"
Kind = TypeVar("Kind")
KEY = re.compile("[0-9a-f]{64}")  # the name of a cell's folder
MOST_TEXT = 2**28  # bytes; a plan may list many cells
LOCK_SECONDS = 0.1  # that a claim waits, because whoever reads the status holds a lock for microseconds


@final
@dataclass(frozen=True)
class Relied:
    """What others rely on in the metadata of a cell that is done."""

    cell: dict[str, Any]
    files: dict[str, str]
    bytes: dict[str, int]
    hash: str
    seconds: float
    accuracy: float | None


@final
@dataclass(frozen=True, eq=False)
class StoredResult:
    """The stored result of one cell."""

    prediction: Prediction  #: Without class names, since `labels` are indices
    labels: NDArray[Any]  #: (n,) or (n, K): Class indices, or label distributions
    scores: dict[str, NDArray[Any]]  #: (n,) each
    #: ``cell``, ``seconds``, ``accuracy``, ``facts``, ``versions``, ``files`` (the SHA-256 of each) and ``hash`` (of them
    #: all)
    metadata: dict[str, Any]
    class_names: tuple[str, ...] | None = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)  #: Of the record, by their places

    def record(self, kind: type[Kind]) -> Kind:
        """The record of this class that was stored with the result."""
        return unpacked(kind, self.metadata.get("record"), self.arrays)


@final
@dataclass(frozen=True, kw_only=True)
class CellState:
    """The state of one cell, with its facts."""

    key: str
    #: {"queued", "running", "done", "failed"}: A cell whose process was killed is queued
    state: Literal["queued", "running", "done", "failed"] = "queued"
    #: Empty if neither a result nor a plan names them
    dataset: str = ""
    method: str = ""
    seed: int | None = None
    #: Of a cell that is done
    seconds: float | None = None
    accuracy: float | None = None
    hash: str = ""  #: Digest of the files of a cell that is done
    traceback: str = ""  #: Of a cell that failed

    @property
    def is_open(self) -> bool:
        """Whether the cell is still to be finished."""
        return self.state in ("queued", "running")

    @property
    def reason(self) -> str:
        """The exception of the traceback, as `reason_of` writes it."""
        return reason_of(self.traceback)


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
    >>> store.counts()
    {'queued': 0, 'running': 0, 'done': 1, 'failed': 0}
    >>> scratch.cleanup()
    """

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = True, required: bool = True) -> None:
        self.folder = Path(folder)
        self._locks: dict[str, Any] = {}  # of the cells that this process runs
        self._seen: dict[str, CellState] = {}  # done cells whose metadata were read
        with _folder_problems(self.folder):
            if not create and any(path.is_file() for path in (self.folder, *self.folder.parents)):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.folder))
            if not create and required and not holds_benchmark(self.folder):
                fail("folder", "must hold a benchmark", f"got {self.folder}", "check the path", code="missing")
            for part in ("cells", "plans") if create else ():
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
        planned: dict[str, CellState] = {}
        if keys is None:
            planned = self._planned()
            keys = sorted(planned.keys() | self._kept())
        with _folder_problems(self.folder):
            return [self._state(planned.get(key) or CellState(key=key), verify=verify) for key in keys]

    def counts(self, keys: Sequence[str] | None = None) -> dict[str, int]:
        """Number of the given cells, or of all, in each state."""
        states = [found.state for found in self.states(keys)]
        return {state: states.count(state) for state in ("queued", "running", "done", "failed")}

    def result(self, key: str) -> StoredResult:
        """The result of a cell that is done."""
        place = self.place(key)
        metadata = _metadata_of(place, verify=True)
        if metadata is None:
            rule = "must be that of a cell with a whole result"
            fail("key", rule, f"got {key[:12]} in {self.folder}", "run the benchmark again", code="missing")
        scores, arrays = (read_arrays(place / name) if name in metadata["files"] else {} for name in (SCORES, RECORD))
        prediction, labels = load(place / PREDICTION), np.asarray(load_labels(place / PREDICTION))
        names = prediction.class_names
        if names is not None and labels.ndim == 1:
            labels = class_indices(labels, names)
        return StoredResult(prediction.without_class_names(), labels, scores, metadata, names, arrays)

    def place(self, key: str) -> Path:
        """Folder of a cell's files."""
        return self.folder / "cells" / key[:2] / key

    # -- a cell's life ------------------------------------------------------------------------------------------------

    def add(self, cells: Sequence[Cell]) -> None:
        """Keep the list of cells, so that the status can name those that wait."""
        listed = [{"key": cell.key, "cell": json.loads(cell.to_json())} for cell in cells]
        text = canonical_json({"schema": PLAN_SCHEMA, "cells": listed})
        path = self.folder / "plans" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
        if not path.exists():
            write_text(path, text)

    def claim(self, key: str) -> bool:
        """Lock a queued cell for this process: one process at most gets True, until it ends or settles the cell."""
        if key in self._locks or not self._lock(key):
            return False
        with _folder_problems(self.folder):
            if self._state(CellState(key=key), verify=True).is_open:
                return True
        self.release(key)
        return False

    def finish(self, cell: Cell, result: CellResult, *, seconds: float) -> None:
        """Put the result of a cell that this process has claimed into its place.

        Raises
        ------
        InputError
            The function of the cell did not return a valid result.
        FolderProblem
            The folder takes no more files.
        """
        with self._draft(cell.key) as draft:
            _write_result(draft, cell, result, seconds)
        self.release(cell.key)

    def fail(self, key: str, traceback: str) -> None:
        """Keep the traceback of a cell that this process has claimed."""
        with self._draft(key) as draft:
            (draft / TRACEBACK).write_text(traceback, encoding="utf-8", errors="backslashreplace")
        self.release(key)

    def release(self, key: str) -> None:
        """Give back a cell that this process has claimed; a settled one was given back."""
        lock = self._locks.pop(key, None)
        if lock is not None:
            lock.release()

    def retry(self, key: str) -> None:
        """Queue a failed cell again."""
        if self._lock(key):
            with _folder_problems(self.folder):
                if self._state(CellState(key=key)).state == "failed":
                    _remove(self.place(key))
            self.release(key)

    def recover(self, keys: Sequence[str]) -> None:
        """Remove damaged results of the given cells, and drafts of processes that were killed."""
        for found in self.states(keys, verify=True):
            if found.state == "queued" and os.path.lexists(self.place(found.key)) and self.claim(found.key):
                with _folder_problems(self.folder):
                    _remove(self.place(found.key))
                self.release(found.key)
        for part in {self.place(key).parent for key in keys}:
            # who writes a draft holds a lock in the same folder: if all are free after the draft was seen, nobody writes it
            drafts = list(part.glob(f"{DRAFT}*"))
            if drafts and not any(map(_is_locked, part.glob("*.lock"))):
                for draft in drafts:
                    shutil.rmtree(draft, ignore_errors=True)  # another process may do the same

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _state(self, known: CellState, *, verify: bool = False) -> CellState:
        key, place = known.key, self.place(known.key)
        if key in self._seen and not verify:
            return self._seen[key]
        metadata = _metadata_of(place, verify=verify)
        if metadata is not None:
            facts = {name: metadata[name] for name in ("seconds", "accuracy", "hash")}
            self._seen[key] = CellState(key=key, state="done", **facts, **named(metadata["cell"]))
            return self._seen[key]
        self._seen.pop(key, None)
        if (place / TRACEBACK).is_file():
            with suppress(OSError, FileFormatError):
                text = read_bytes(place / TRACEBACK, MOST_TEXT).decode("utf-8", "backslashreplace")
                return replace(known, state="failed", traceback=text if text.strip() else "No traceback was recorded.")
        return replace(known, state="running") if _is_locked(_lock_of(place)) else known

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

    def _kept(self) -> set[str]:
        """Keys of the cells that have a folder or a lock."""
        with _folder_problems(self.folder):
            return {
                path.name.removesuffix(".lock")
                for path in (self.folder / "cells").glob("??/*")
                if KEY.fullmatch(path.name.removesuffix(".lock")) and path.name[:2] == path.parent.name
            }

    def _lock(self, key: str) -> bool:
        filelock = optional_package("filelock", "lab", "a benchmark's folder")
        path = _lock_of(self.place(key))
        with _folder_problems(self.folder):
            path.parent.mkdir(exist_ok=True)
            lock = filelock.FileLock(path, thread_local=False)
            try:
                lock.acquire(timeout=LOCK_SECONDS, poll_interval=LOCK_SECONDS / 10)
            except filelock.Timeout:
                return False
        self._locks[key] = lock
        return True

    @contextmanager
    def _draft(self, key: str) -> Iterator[Path]:
        """A new folder that is renamed to that of a claimed cell, in place of a damaged one."""
        if key not in self._locks:
            rule, remedy = "must be that of a cell that this process has claimed", "claim it first"
            fail("key", rule, f"got {key[:12]}", remedy, code="missing")
        place = self.place(key)
        with _folder_problems(self.folder):
            if place.is_file():
                place.unlink()
            with draft_of(place, folder=True) as draft:
                draft.mkdir()
                yield draft


def holds_benchmark(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds the plan or a result of a benchmark; nothing is changed."""
    folder = Path(folder)
    try:
        plans = (json_object(path) or {} for path in (folder / "plans").glob("*.json"))
        return any(plan.get("schema") == PLAN_SCHEMA for plan in plans) or any(
            _is_own(json_object(place / METADATA) or {}, place) for place in (folder / "cells").glob("??/*")
        )
    except OSError:
        return False


def named(cell: object) -> dict[str, Any]:
    """Data set, method and seed from the JSON fields of a cell; malformed fields are left empty.

    Examples
    --------
    >>> named({"dataset": "digits", "method": "snn", "seed": 3})
    {'dataset': 'digits', 'method': 'snn', 'seed': 3}
    """
    facts: Mapping[str, Any] = cell if isinstance(cell, Mapping) else {}
    seed = facts.get("seed")
    return {
        "dataset": str(facts.get("dataset", "")),
        "method": str(facts.get("method", "")),
        "seed": seed if isinstance(seed, int) else None,
    }


def reason_of(traceback: str) -> str:
    r"""The exception of a traceback with its notes in parentheses, on one line: the lines below the last frame.

    Examples
    --------
    >>> reason_of("Traceback:\n  File a\nValueError: no\nIn the run of seed 0.\n")
    'ValueError: no (In the run of seed 0.)'
    """
    lines = [line for line in traceback.splitlines() if line.strip()]
    below = list(takewhile(lambda line: not line.startswith(" "), reversed(lines)))[::-1]
    first, *notes = [line.strip() for line in below or lines[-1:]] or [""]
    return f"{first} ({' '.join(notes)})" if notes else first


def named_labels(labels: NDArray[Any], class_names: Sequence[str] | None) -> NDArray[Any]:
    """Class indices as class names, because a file or an assay takes numbers for names where the names are numbers."""
    return labels if class_names is None or np.ndim(labels) != 1 else np.array(class_names)[np.asarray(labels)]


# -- helpers ----------------------------------------------------------------------------------------------------------


def _write_result(folder: Path, cell: Cell, result: CellResult, seconds: float) -> None:
    from uqassay import __version__

    n = result.prediction.n_instances
    if len(result.labels) != n:
        rule = "must have one row for each instance of the prediction"
        got = f"got {len(result.labels)} rows for {n} instances"
        fail("labels", rule, got, "correct the cell's function", code="mismatch")
    save(result.prediction, folder / PREDICTION, labels=named_labels(result.labels, result.prediction.class_names))
    if result.scores:
        scores = {name: np.asarray(values, dtype=np.float64) for name, values in result.scores.items()}
        for name, values in scores.items():
            if values.shape != (n,):
                rule = f"must have shape ({n},), one score for each instance"
                fail(f"scores[{name!r}]", rule, f"got {values.shape}", "correct the cell's function", code="shape")
        with (folder / SCORES).open("wb") as stream:
            np.savez(stream, **dict(sorted(scores.items())))  # type: ignore[arg-type]
    record, arrays = (None, {}) if result.record is None else packed(result.record)
    if arrays:
        with (folder / RECORD).open("wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
    files = {path.name: _digest(path) for path in sorted(folder.iterdir())}
    metadata = {
        "schema": RESULT_SCHEMA,
        "key": cell.key,
        "cell": json.loads(cell.to_json()),
        "files": files,
        "bytes": {name: (folder / name).stat().st_size for name in files},
        "hash": _hash_of(files),
        "seconds": seconds,
        "accuracy": _accuracy(result),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "facts": json.loads(canonical_json(dict(result.facts), "facts")),
        **({} if record is None else {"record": record}),
        "versions": {"uqassay": __version__, **_versions()},
    }
    (folder / METADATA).write_text(json.dumps(metadata, allow_nan=False, indent=1), encoding="utf-8")


def _metadata_of(place: Path, *, verify: bool) -> dict[str, Any] | None:
    """The metadata in the folder of a cell that is done; None if they are missing or damaged.

    With `verify`, each file must have its recorded SHA-256.
    """
    metadata = json_object(place / METADATA) or {}
    try:
        names = [field.name for field in fields(Relied) if field.name in metadata]
        found = unpacked(Relied, {name: metadata[name] for name in names}, {})
    except InputError:
        return None
    whole = (
        _is_own(metadata, place)
        and {PREDICTION} <= found.files.keys() <= {PREDICTION, SCORES, RECORD}
        and found.bytes.keys() == found.files.keys()
        and found.hash == _hash_of(found.files)
        and math.isfinite(found.seconds)
        and (found.accuracy is None or math.isfinite(found.accuracy))
    )
    if whole and verify:
        whole = all(_is_whole(place / name, found.bytes[name], found.files[name]) for name in found.files)
    return metadata if whole else None


def _is_own(metadata: Mapping[str, Any], place: Path) -> bool:
    """Whether metadata are those of the cell of a folder."""
    named = KEY.fullmatch(place.name) is not None and place.parent.name == place.name[:2]
    return named and (metadata.get("schema"), metadata.get("key")) == (RESULT_SCHEMA, place.name)


def _is_whole(path: Path, size: int, digest: str) -> bool:
    with suppress(OSError):
        return path.is_file() and path.stat().st_size == size and _digest(path) == digest
    return False


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _hash_of(files: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical_json(dict(files)).encode()).hexdigest()


def _accuracy(result: CellResult) -> float | None:
    """Share of the instances whose most probable class is the label; None for label distributions."""
    labels = np.asarray(result.labels)
    if labels.ndim != 1 or not len(labels):
        return None
    return float((result.prediction.mean_probs().argmax(axis=1) == labels).mean())


def _versions() -> dict[str, str]:
    """Versions of Python and of the loaded packages on which the numbers may depend."""
    found = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "sklearn", "torch"):
        if name in sys.modules:
            found[name] = str(sys.modules[name].__version__)
    return found


def _lock_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.lock")


def _is_locked(path: Path) -> bool:
    """Whether a process holds the lock; where that cannot be tried, as on a read-only network share, it counts as held."""
    try:
        try:
            handle = os.open(path, os.O_RDWR)
        except PermissionError:
            handle = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    try:
        filelock = optional_package("filelock", "lab", "a benchmark's folder")
        return not filelock.lock_descriptor(handle, blocking=False)
    except OSError:
        return True
    finally:
        os.close(handle)  # frees the lock


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# Files in a benchmark's folder, and one error for everything the file system refuses.

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


@final
class FolderProblem(InputError):
    """The folder of a benchmark cannot be used. No cell is to blame, so the run stops.

    The code is "unwritable"; ``facts["errno"]`` holds the error number of the system.
    """


@contextmanager
def _folder_problems(folder: Path) -> Iterator[None]:
    """Turn the errors of the file system within the block into `FolderProblem`."""
    try:
        yield
    except FileFormatError as problem:  # from the writer of predictions
        cause = problem.__cause__
        if isinstance(cause, OSError):
            raise _refusal(folder, cause) from problem
        raise
    except OSError as problem:
        raise _refusal(folder, problem) from problem


def write_text(path: Path, text: str) -> None:
    """Write a text file that appears whole or not at all.

    Raises
    ------
    FolderProblem
        The folder takes no files.
    """
    with _folder_problems(path.parent), whole_file(path) as stream:
        stream.write(text.encode())


def json_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None if there is none."""
    try:
        found = read_json(path, MOST_TEXT)
    except (OSError, FileFormatError):
        return None
    return found if isinstance(found, dict) else None


def _refusal(folder: Path, problem: OSError) -> FolderProblem:
    rule, remedy = f"{folder} cannot be used ({problem.strerror or problem})", "choose another folder"
    if problem.errno in FULL:
        rule, remedy = f"there is no space left for {folder}", "free some, and run the same command again"
    elif problem.errno in REFUSED:
        rule, remedy = f"nothing may be written to {folder}", "check its permissions or choose another folder"
    elif problem.errno in WITHOUT_LOCKS:
        rule, remedy = f"the file system of {folder} supports no locks", "choose a folder on another one"
    elif problem.errno in (errno.EEXIST, errno.ENOTDIR):
        rule = f"{_file_in_the_way(folder, problem)} is a file where a folder is needed"
        remedy = "move that file, or choose another folder"
    return FolderProblem("folder", rule, "", remedy, code="unwritable", facts={"errno": problem.errno})


def _file_in_the_way(folder: Path, problem: OSError) -> Path:
    """The file that the system could not take for a folder."""
    named = Path(os.fsdecode(problem.filename)) if isinstance(problem.filename, (str, bytes)) else folder
    return next((path for path in (named, *named.parents) if path.is_file()), folder)


# What is said of results that another version made: one sentence, for every kind of stored result.


def older_sentence(n: int, noun: str, folder: str | os.PathLike[str], by: str = "another version of uqassay") -> str:
    """That n results, each called `noun`, are older and not used, and what to do with them.

    Examples
    --------
    >>> older_sentence(1, "line", "run", "other code")
    '1 line in run was made by other code and is not used; it is made again, and the older files may be deleted'
    """
    was, told, they = ("was", "is", "it is") if n == 1 else ("were", "are", "they are")
    return (
        f"{counted(n, noun)} in {os.fspath(folder)} {was} made by {by} and {told} not used; "
        f"{they} made again, and the older files may be deleted"
    )


def older_notes(cells: Sequence[Cell], folder: str | os.PathLike[str], *, noun: str = "training") -> list[str]:
    """A note if the folder, which need not be there, has results of these cells that another version made; else none."""

    def fields(
        cell: Mapping[str, Any],
    ) -> str:  # without those that say where its data and, in older versions, its code lie
        return json.dumps({name: cell[name] for name in cell if name not in ("source", "rests_on")}, sort_keys=True)

    keys, wanted = {cell.key for cell in cells}, {fields(json.loads(cell.to_json())) for cell in cells}
    n = sum(key not in keys and fields(cell) in wanted for key, cell in _stored_cells(folder))
    return [older_sentence(n, noun, folder)] if n else []


def count_older(folder: str | os.PathLike[str]) -> int:
    """How many results of a folder were made by another version than the present one."""

    def is_older(key: str, cell: dict[str, Any]) -> bool:
        try:
            return Cell.from_json(json.dumps(cell)).key != key
        except (InputError, TypeError, KeyError):  # it has other fields
            return True

    return sum(is_older(key, cell) for key, cell in _stored_cells(folder))


def _stored_cells(folder: str | os.PathLike[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The key of each result in a folder, and the fields of its cell."""
    for path in Path(folder).glob(f"cells/??/[0-9a-f]*/{METADATA}"):
        cell = (json_object(path) or {}).get("cell")
        if isinstance(cell, dict):
            yield path.parent.name, cell
