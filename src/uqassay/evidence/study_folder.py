"""Studies in folders: plain values in `study.json`, arrays in `arrays.npz`; written whole or not at all, nothing pickled."""

import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from uqassay._files import draft_of
from uqassay._json import plain
from uqassay.errors import FileFormatError, InputError
from uqassay.notes import Note

__all__ = ["ARRAYS", "FACTS", "note_from_values", "note_values", "read_study_folder", "save_study_folder"]

Study = TypeVar("Study")

FACTS, ARRAYS = "study.json", "arrays.npz"
# RecursionError: deeply nested JSON; zlib.error: a damaged compressed array
DAMAGED = (
    *(KeyError, TypeError, ValueError, AttributeError, IndexError, EOFError, OverflowError, RecursionError),
    *(NotImplementedError, zipfile.BadZipFile, zlib.error),
)


def note_values(note: Note) -> dict[str, Any]:
    """A note with its facts, as plain values."""
    return {**note.to_dict(), "facts": dict(note.facts)}


def note_from_values(values: Mapping[str, Any]) -> Note:
    """The note that `note_values` wrote."""
    return Note(values["code"], values["text"], values["facts"])


def save_study_folder(folder: str | Path, facts: Mapping[str, Any], arrays: Mapping[str, Any], *, schema: str) -> Path:
    """Write a study into a folder, whole or not at all; a folder with a study is replaced.

    Parameters
    ----------
    folder : str or Path
    facts : mapping
        Values for strict JSON, without the schema.
    arrays : mapping of str to array
        Without object arrays, which would be pickled.
    schema : str
        Name and version of what is written, such as "uqassay.gain-study/1".

    Raises
    ------
    FileFormatError
        A path that holds something else than a study, or cannot be written.
    """
    target = Path(folder)
    if target.exists() and not (target / FACTS).is_file():
        raise FileFormatError(
            str(target), "exists and does not hold a study", remedy="choose another folder", code="unwritable"
        )
    text = json.dumps(plain({"schema": schema, **facts}), allow_nan=False, indent=1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(target, folder=True) as draft:
            draft.mkdir()
            with (draft / ARRAYS).open("wb") as file:
                np.savez(file, **arrays)
            (draft / FACTS).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise FileFormatError(
            str(target),
            "cannot be written",
            str(problem.strerror or problem),
            "choose a folder below one that can be written to",
            code="unwritable",
        ) from problem
    return target


def read_study_folder(
    folder: str | Path,
    assemble: Callable[[dict[str, Any], dict[str, np.ndarray]], Study],
    *,
    schema: str,
    writer: str,
) -> Study:
    """Read a study: `assemble` makes it from the facts and the arrays.

    Parameters
    ----------
    folder : str or Path
    assemble : callable
        Whatever it raises for want of a value, or of a fitting one, is reported as damage to the folder.
    schema : str
        As it was written.
    writer : str
        Name of the method that writes such folders, for the error.

    Raises
    ------
    FileFormatError
        A folder that holds no study, one of another version or kind, or a damaged one.
    """
    source = Path(folder)
    try:
        facts = json.loads((source / FACTS).read_text(encoding="utf-8"))
        found = facts.get("schema")
        if found != schema:
            raise FileFormatError(
                str(source),
                "holds a study of another kind or version",
                f"its schema is {found!r}, and {schema!r} is read",
                "check the path, or make the study again",
                code="unreadable",
            )
        with (source / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return assemble(facts, dict(archive))
    except FileFormatError:
        raise
    except InputError as problem:
        raise FileFormatError(
            str(source),
            f"{problem.parameter} {problem.rule}",
            problem.got,
            "make the study again",
            code="unreadable",
        ) from problem
    except OSError as problem:
        raise _damaged(source, writer, str(problem.strerror or problem)) from problem
    except DAMAGED as problem:
        raise _damaged(source, writer, f"{type(problem).__name__} in {FACTS} or {ARRAYS}") from problem


def _damaged(source: Path, writer: str, reason: str) -> FileFormatError:
    return FileFormatError(
        str(source),
        f"must be a folder that {writer} wrote",
        reason,
        "check the path, or make the study again",
        code="unreadable",
    )
