"""Files in a benchmark's folder: how they are read and written, and one error for everything the file system refuses."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from uqassay._files import read_bytes, whole_file
from uqassay._json import read_json
from uqassay.errors import FileFormatError, InputError

__all__ = [
    "KEY",
    "METADATA",
    "PLAN_SCHEMA",
    "RESULT_SCHEMA",
    "FolderProblem",
    "folder_problems",
    "holds_benchmark",
    "json_object",
    "text_of",
    "write_text",
]

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
