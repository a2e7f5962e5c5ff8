"""A folder with the results of a benchmark's cells; each result is there whole or not at all."""

import errno
import hashlib
import json
import math
import os
import platform
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.errors import FileFormatError, InputError
from uqassay.evidence.storage import read_arrays
from uqassay.files import flush, read_bytes, whole_file
from uqassay.lab.bench.cell import Cell, CellResult, canonical_json
from uqassay.predictions import Prediction
from uqassay.predictions.files import file_hash, load, load_labels, save
from uqassay.predictions.labels import class_indices
from uqassay.results import read_json
from uqassay.text import counted

__all__ = [
    "LEASE_SECONDS",
    "METADATA",
    "PREDICTION",
    "SCORES",
    "CellState",
    "Claims",
    "FolderProblem",
    "Store",
    "StoredResult",
    "count_older",
    "has_ended",
    "holds_benchmark",
    "json_object",
    "named",
    "named_labels",
    "older_notes",
    "older_sentence",
    "read_claim",
    "reason_of",
    "text_of",
    "this_process",
    "whole_metadata",
    "write_text",
]


# Files in a benchmark's folder: how they are read and written, and one error for everything the file system refuses.

METADATA = "metadata.json"  # in the folder of a cell's result
RESULT_SCHEMA, PLAN_SCHEMA = "uqassay.result/1", "uqassay.plan/1"
KEY = re.compile("[0-9a-f]{64}")  # the name of a cell's folder
MOST_TEXT = 2**28  # bytes; a plan may list many cells
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


@final
class FolderProblem(InputError):
    """The folder of a benchmark cannot be used. No cell is to blame, so the run stops.

    The code is "unwritable"; ``facts["errno"]`` holds the error number of the system.
    """


@contextmanager
def folder_problems(folder: Path) -> Iterator[None]:
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
    with folder_problems(path.parent), whole_file(path) as stream:
        stream.write(text.encode())


def text_of(path: Path) -> str | None:
    """The text of a regular file; None if there is none, or if it cannot be read as UTF-8."""
    try:
        return read_bytes(path, MOST_TEXT).decode("utf-8")
    except (OSError, FileFormatError, UnicodeDecodeError):
        return None


def json_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None if there is none."""
    try:
        found = read_json(path, MOST_TEXT)
    except (OSError, FileFormatError):
        return None
    return found if isinstance(found, dict) else None


def holds_benchmark(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds the plan or a result of a benchmark; nothing is changed."""
    folder = Path(folder)
    try:
        return any(map(_is_plan, (folder / "plans").glob("*.json"))) or any(
            map(_is_result, (folder / "cells").glob("??/*"))
        )
    except OSError:
        return False


# -- helpers -----------------------------------------------------------------------------------------------------------


def _is_plan(path: Path) -> bool:
    return (json_object(path) or {}).get("schema") == PLAN_SCHEMA


def _is_result(place: Path) -> bool:
    """Whether a folder is a cell's result, by its name and its metadata."""
    if not KEY.fullmatch(place.name) or place.parent.name != place.name[:2]:
        return False
    metadata = json_object(place / METADATA) or {}
    return metadata.get("schema") == RESULT_SCHEMA and metadata.get("key") == place.name


def _refusal(folder: Path, problem: OSError) -> FolderProblem:
    rule, remedy = f"{folder} cannot be used ({problem.strerror or problem})", "choose another folder"
    if problem.errno in FULL:
        rule, remedy = f"there is no space left for {folder}", "free some, and run the same command again"
    elif problem.errno in REFUSED:
        rule, remedy = f"nothing may be written to {folder}", "check its permissions or choose another folder"
    elif problem.errno in (errno.EEXIST, errno.ENOTDIR):
        rule = f"{_file_in_the_way(folder, problem)} is a file where a folder is needed"
        remedy = "move that file, or choose another folder"
    return FolderProblem("folder", rule, "", remedy, code="unwritable", facts={"errno": problem.errno})


def _file_in_the_way(folder: Path, problem: OSError) -> Path:
    """The file that the system could not take for a folder."""
    named = Path(os.fsdecode(problem.filename)) if isinstance(problem.filename, (str, bytes)) else folder
    return next((path for path in (named, *named.parents) if path.is_file()), folder)


# The files of one cell's result: prediction, further scores, and metadata with the SHA-256 of each.

PREDICTION, SCORES = "prediction.npz", "scores.npz"


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


def write_result(folder: Path, cell: Cell, result: CellResult, seconds: float) -> None:
    """Write the files of a result into an empty folder and flush them to the disk."""
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
        with whole_file(folder / SCORES) as stream:
            np.savez(stream, **dict(sorted(scores.items())))  # type: ignore[arg-type]
    files = {path.name: file_hash(path) for path in sorted(folder.iterdir())}
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
        "versions": {"uqassay": __version__, **_versions()},
    }
    with whole_file(folder / METADATA) as stream:
        stream.write(json.dumps(metadata, allow_nan=False, indent=1).encode())


def metadata_of(folder: Path, key: str) -> dict[str, Any] | None:
    """The metadata of a cell's result, None if they are missing or damaged; the other files are not looked at."""
    metadata = json_object(folder / METADATA) or {}
    files = metadata.get("files")
    whole = (
        metadata.get("schema") == RESULT_SCHEMA
        and metadata.get("key") == key
        and isinstance(metadata.get("cell"), dict)
        and isinstance(files, dict)
        and isinstance(sizes := metadata.get("bytes"), dict)
        and sizes.keys() == files.keys()
        and all(isinstance(digest, str) for digest in files.values())
        and PREDICTION in files
        and files.keys() <= {PREDICTION, SCORES}
        and metadata.get("hash") == _hash_of(files)
        and _is_number(metadata.get("seconds"))
        and ("accuracy" in metadata and (metadata["accuracy"] is None or _is_number(metadata["accuracy"])))
    )
    return metadata if whole else None


def whole_metadata(folder: Path, key: str) -> dict[str, Any] | None:
    """The metadata of a cell's result whose files all have their recorded SHA-256; None for any other."""
    metadata = metadata_of(folder, key)
    if metadata is None:
        return None
    try:
        # opening a pipe would wait without end, and a file that was made longer may have any size
        same = all(
            (folder / name).is_file()
            and (folder / name).stat().st_size == metadata["bytes"][name]
            and file_hash(folder / name) == digest
            for name, digest in metadata["files"].items()
        )
    except (OSError, ValueError, FileFormatError):
        return None
    return metadata if same else None


def read_result(folder: Path, metadata: dict[str, Any]) -> StoredResult:
    """The result whose metadata `whole_metadata` has found."""
    scores: dict[str, NDArray[Any]] = {}
    if SCORES in metadata["files"]:
        scores = read_arrays(folder / SCORES)
    prediction, labels = load(folder / PREDICTION), np.asarray(load_labels(folder / PREDICTION))
    names = prediction.class_names
    if names is not None and labels.ndim == 1:
        labels = class_indices(labels, names)
    return StoredResult(prediction.without_class_names(), labels, scores, metadata, names)


def named_labels(labels: NDArray[Any], class_names: Sequence[str] | None) -> NDArray[Any]:
    """Class indices as class names, because a file or an assay takes numbers for names where the names are numbers."""
    return labels if class_names is None or np.ndim(labels) != 1 else np.array(class_names)[np.asarray(labels)]


# -- helpers ----------------------------------------------------------------------------------------------------------


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


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


# Claims: one file for each cell that is running, which says who runs it.
#
# A claim file is created exclusively (``O_EXCL``), so only one process gets the cell. Its modification time is the
# lease: the worker touches the file from time to time, and a claim that was not touched for its lease has lapsed. The
# claim of a process of this host that has ended lapses at once.
#
# A claim saves work; it does not guard the result. In rare cases two processes run the same cell: the lease lapses
# while the worker is suspended, or two processes replace the same lapsed claim in the same instant. Both then compute
# the same result, and the store keeps the first one.

LEASE_SECONDS = 120.0  # the worker renews it every quarter
STRANGER_SECONDS = 3600.0  # a draft of another host is abandoned after this time; writing one takes seconds
OWNER = re.compile(r"[A-Za-z0-9_-]+\.[0-9]{1,10}\.[0-9]*")  # as `this_process` writes it
DRAFT = re.compile(r"(.+)\+[0-9a-f]{8}")  # the name of a draft: its owner and a random number


@final
@dataclass(frozen=True)
class CellClaim:
    """The content of a claim file."""

    owner: str  #: As `this_process` writes it; empty in a file that is damaged or not yet written
    lease: float  #: Seconds after which the claim lapses unless it is renewed
    touched: float  #: When it was made or last renewed, by the clock of the file system

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


# The state of one cell, as the files of a benchmark's folder give it.


@final
@dataclass(frozen=True, kw_only=True)
class CellState:
    """The state of one cell, with its facts."""

    key: str
    #: {"queued", "running", "done", "failed"}: A cell whose claim has lapsed is queued
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


# Each result is there whole or not at all.
#
#     cells/ab/ab12…/prediction.npz    done: the prediction with its labels
#     cells/ab/ab12…/scores.npz        uncertainties that the prediction does not contain, if any
#     cells/ab/ab12…/metadata.json     times, accuracy, versions, and the SHA-256 of each file
#     cells/ab/ab12….claim             running: who runs the cell; see `uqassay.lab.bench.store`
#     cells/ab/ab12….failed            failed: the traceback
#     plans/                           lists of the cells that were asked for
#     drafts/                          files that are being written
#
# The files alone say in which state a cell is: done before failed, failed before running, running before queued. A
# result is written to a draft on the same file system, flushed to the disk and renamed into its place as one folder. If
# a process ends between two steps, the files still say one state: a cell with a result and a claim is done.

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
                fail("folder", "must hold a benchmark", f"got {self.folder}", "check the path", code="missing")
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
        """The result of a cell that is done."""
        place = self.place(key)
        metadata = whole_metadata(place, key)
        if metadata is None:
            rule = "must be that of a cell with a whole result"
            fail("key", rule, f"got {key[:12]} in {self.folder}", "run the benchmark again", code="missing")
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


# What is said of results that another version made: one sentence, for every kind of stored result.


def older_sentence(n: int, noun: str, folder: str | os.PathLike[str], by: str = "another version of uqassay") -> str:
    """That results are older and not used, and what to do with them.

    Parameters
    ----------
    n : int
        Number of results.
    noun : str
        What one of them is.
    by : str
        What made them.

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
    """A note if the folder has results of the same cells that another version made, which are not used.

    Parameters
    ----------
    cells : sequence of Cell
        With the keys of the present version.
    folder : path
        As in `uqassay.lab.bench.store.Store`; it need not be there.
    noun : str
        What a result is called.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    keys = {cell.key for cell in cells}
    wanted = {_without_place(json.loads(cell.to_json())) for cell in cells}
    n = sum(key not in keys and _without_place(cell) in wanted for key, cell in _stored_cells(folder))
    return [older_sentence(n, noun, folder)] if n else []


def count_older(folder: str | os.PathLike[str]) -> int:
    """How many results of a folder were made by another version than the present one."""
    return sum(_present_key(cell) != key for key, cell in _stored_cells(folder))


# -- helpers -----------------------------------------------------------------------------------------------------------


def _stored_cells(folder: str | os.PathLike[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The key of each result in a folder, and the fields of its cell."""
    for path in Path(folder).glob(f"cells/??/*/{METADATA}"):
        cell = (json_object(path) or {}).get("cell")
        if isinstance(cell, dict):
            yield path.parent.name, cell


def _present_key(cell: dict[str, Any]) -> str:
    """The key of a cell by the present code; empty if that cannot be found, or the cell has other fields."""
    try:
        return Cell.from_json(json.dumps(cell)).key
    except (InputError, TypeError, KeyError):
        return ""


def _without_place(cell: dict[str, Any]) -> str:
    """The fields of a cell without those that say where its data and, in older versions, its code lie."""
    return json.dumps(
        {name: value for name, value in cell.items() if name not in ("source", "rests_on")}, sort_keys=True
    )
