"""Assays and studies in folders: plain values as JSON, arrays in `arrays.npz`; written whole or not at all, nothing pickled."""

import json
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from uqassay._files import draft_of
from uqassay._json import plain
from uqassay.errors import FileFormatError, InputError
from uqassay.notes import Note

__all__ = ["ARRAYS", "SavedKind", "note_from_values", "note_values", "read_folder", "save_folder"]

Thing = TypeVar("Thing")

ARRAYS = "arrays.npz"
# KeyError is told apart below; RecursionError: deeply nested JSON; the others: damaged archives and headers of arrays
DAMAGED = (
    *(TypeError, ValueError, AttributeError, IndexError, EOFError, OverflowError, RecursionError, NotImplementedError),
    *(SyntaxError, tokenize.TokenError, struct.error, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)


@final
@dataclass(frozen=True)
class SavedKind:
    """What a folder holds.

    Attributes
    ----------
    schema : str
        Name and version, such as "uqassay.gain-study/1".
    writer : str
        Name of the method that writes such folders, for errors.
    a, thing : str
        "a" and "study", for errors; THING.json holds the plain values.
    """

    schema: str
    writer: str
    a: str = "a"
    thing: str = "study"

    @property
    def facts(self) -> str:
        """Name of the file of plain values."""
        return f"{self.thing}.json"


def note_values(note: Note) -> dict[str, Any]:
    """A note with its facts, as plain values."""
    return {**note.to_dict(), "facts": dict(note.facts)}


def note_from_values(values: Mapping[str, Any]) -> Note:
    """The note that `note_values` wrote."""
    return Note(values["code"], values["text"], values["facts"])


def save_folder(folder: str | Path, facts: Mapping[str, Any], arrays: Mapping[str, Any], kind: SavedKind) -> Path:
    """Write values and arrays into a folder, whole or not at all; a folder with the same thing is replaced.

    Parameters
    ----------
    folder : str or Path
    facts : mapping
        Values for strict JSON, without the schema.
    arrays : mapping of str to array
        Without object arrays, which would be pickled.
    kind : SavedKind

    Raises
    ------
    FileFormatError
        A path that holds something else, or cannot be written.
    """
    target = Path(folder)
    if target.exists() and not (target / kind.facts).is_file():
        raise FileFormatError(
            str(target),
            f"exists and does not hold {kind.a} {kind.thing}",
            remedy="choose another folder",
            code="unwritable",
        )
    text = json.dumps(plain({"schema": kind.schema, **facts}), allow_nan=False, indent=1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(target, folder=True) as draft:
            draft.mkdir()
            with (draft / ARRAYS).open("wb") as file:
                np.savez(file, **arrays)
            (draft / kind.facts).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise FileFormatError(
            str(target),
            "cannot be written",
            str(problem.strerror or problem),
            "choose a folder below one that can be written to",
            code="unwritable",
        ) from problem
    return target


def read_folder(
    folder: str | Path, assemble: Callable[[dict[str, Any], dict[str, np.ndarray]], Thing], kind: SavedKind
) -> Thing:
    """Read what `save_folder` wrote: `assemble` makes it from the values and the arrays.

    Parameters
    ----------
    folder : str or Path
    assemble : callable
        Whatever it raises for want of a value, or of a fitting one, is reported as damage to the folder.
    kind : SavedKind

    Raises
    ------
    FileFormatError
        A folder that holds no such thing, one of another version or kind, or a damaged one.
    """
    source = Path(folder)
    try:
        facts = json.loads((source / kind.facts).read_text(encoding="utf-8"))
        found = facts.get("schema") if isinstance(facts, dict) else None
        if found != kind.schema:
            raise FileFormatError(
                str(source),
                f"holds {kind.a} {kind.thing} of another kind or version",
                f"its schema is {found!r}, this version reads {kind.schema!r}",
                f"check the path, or make the {kind.thing} again",
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
            f"make the {kind.thing} again",
            code="unreadable",
        ) from problem
    except OSError as problem:
        raise _damaged(source, kind, str(problem.strerror or problem)) from problem
    except KeyError as problem:
        raise _damaged(source, kind, f"there is no entry {problem}") from problem
    except DAMAGED as problem:
        raise _damaged(source, kind, f"{type(problem).__name__} in {kind.facts} or {ARRAYS}") from problem


def _damaged(source: Path, kind: SavedKind, reason: str) -> FileFormatError:
    return FileFormatError(
        str(source),
        f"must be a folder that {kind.writer} wrote",
        reason,
        f"check the path, or make the {kind.thing} again",
        code="unreadable",
    )
