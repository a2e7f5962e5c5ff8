"""Writing into a benchmark's folder: to the disk before it counts, and one sentence where the file system refuses."""

import errno
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uqassay._files import whole_file
from uqassay.bench.index import FolderProblem, tables_version
from uqassay.errors import FileFormatError

__all__ = ["METADATA", "SCHEMA", "folder_problems", "holds_benchmark", "write_text"]

METADATA, SCHEMA = "metadata.json", "uqassay.result/1"  # of a cell's result
KEY = re.compile("[0-9a-f]{64}")  # the name of its folder
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


def holds_benchmark(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder's index is a benchmark's or, where that has gone, one of its cells; nothing is touched.

    Raises
    ------
    FolderProblem
        The index is of something else, damaged, or of a newer version.
    """
    folder = Path(folder)
    return tables_version(folder) > 0 or any(map(_is_cell, (folder / "cells").glob("??/*")))


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


# -- helpers -----------------------------------------------------------------------------------------------------------


def _is_cell(place: Path) -> bool:
    """Whether a folder has the form of a cell's, by its name and its metadata."""
    if not KEY.fullmatch(place.name) or place.parent.name != place.name[:2]:
        return False
    try:
        metadata = json.loads((place / METADATA).read_text(encoding="utf-8"))
        return bool(metadata["schema"] == SCHEMA and metadata["key"] == place.name)
    except (OSError, ValueError, KeyError, TypeError):  # missing or damaged
        return False


def _refusal(folder: Path, problem: OSError) -> FolderProblem:
    if problem.errno in FULL:
        return FolderProblem(f"folder: there is no space left for {folder}; free some, and run the same command again.")
    if problem.errno in REFUSED:
        return FolderProblem(
            f"folder: nothing may be written to {folder}; check its permissions or choose another folder."
        )
    if problem.errno in (errno.EEXIST, errno.ENOTDIR):
        return FolderProblem(
            f"folder: {_file_in_the_way(folder, problem)} cannot be a folder, since a file is in its place; move that file, "
            "or choose another folder."
        )
    return FolderProblem(f"folder: {folder} cannot be used ({problem.strerror or problem}); choose another one.")


def _file_in_the_way(folder: Path, problem: OSError) -> Path:
    """The file that the system could not take for a folder."""
    named = Path(os.fsdecode(problem.filename)) if isinstance(problem.filename, (str, bytes)) else folder
    return next((path for path in (named, *named.parents) if path.is_file()), folder)
