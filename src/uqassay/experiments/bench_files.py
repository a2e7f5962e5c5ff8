"""Writing into a benchmark's folder: to the disk before it counts, and one sentence where the file system refuses."""

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uqassay.errors import FileFormatError
from uqassay.experiments.bench_index import FolderProblem

__all__ = ["flush", "folder_problems", "write_flushed", "write_whole"]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that it appears whole or not at all.

    Raises
    ------
    FolderProblem
        The folder takes no files.
    """
    draft = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    with folder_problems(path.parent):
        try:
            with draft.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def folder_problems(folder: Path) -> Iterator[None]:
    """What the file system refuses, in one sentence."""
    try:
        yield
    except FileFormatError as problem:  # from the writer of predictions
        cause = problem.__cause__
        if isinstance(cause, OSError):
            raise _refusal(folder, cause) from problem
        raise
    except OSError as problem:
        raise _refusal(folder, problem) from problem


def _refusal(folder: Path, problem: OSError) -> FolderProblem:
    if problem.errno in FULL:
        return FolderProblem(f"folder: there is no space left for {folder}; free some, and run the same command again.")
    if problem.errno in REFUSED:
        return FolderProblem(
            f"folder: nothing may be written to {folder}; check its permissions or choose another folder."
        )
    if problem.errno in (errno.EEXIST, errno.ENOTDIR):
        return FolderProblem(f"folder: {folder} cannot be a folder, since a file is in its place; choose another one.")
    return FolderProblem(f"folder: {folder} cannot be used ({problem.strerror or problem}); choose another one.")


def write_flushed(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a new file by a function of its stream, and bring it to the disk."""
    with path.open("xb") as stream:
        write(stream)
        stream.flush()
        os.fsync(stream.fileno())


def flush(path: Path) -> None:
    """Bring a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
