"""Writing into a benchmark's folder: to the disk before it counts, and one sentence where the file system refuses."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uqassay._files import whole_file
from uqassay.errors import FileFormatError
from uqassay.experiments.bench.index import FolderProblem

__all__ = ["folder_problems", "write_text"]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


def write_text(path: Path, text: str) -> None:
    """Write a text file so that it appears whole or not at all.

    Raises
    ------
    FolderProblem
        The folder takes no files.
    """
    with folder_problems(path.parent), whole_file(path) as stream:
        stream.write(text.encode())


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
