"""Assays and studies in folders: plain values as JSON, arrays in `arrays.npz`; written whole or not at all, nothing pickled."""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay._files import draft_of
from uqassay._json import plain, read_json
from uqassay.errors import FileFormatError, InputError
from uqassay.notes import Note
from uqassay.predictions.file_limits import check_fits
from uqassay.predictions.file_numpy import read_npz
from uqassay.predictions.file_opening import check_exists, problems_named

__all__ = [
    "ARRAYS",
    "SavedKind",
    "checked_array",
    "note_from_values",
    "note_values",
    "read_arrays",
    "read_folder",
    "save_folder",
]

Thing = TypeVar("Thing")

ARRAYS = "arrays.npz"
DAMAGED = (
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)  # KeyError is told apart below


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
        facts = read_json(source / kind.facts)
        found = facts.get("schema") if isinstance(facts, dict) else None
        if found != kind.schema:
            raise FileFormatError(
                str(source),
                f"holds {kind.a} {kind.thing} of another kind or version",
                f"its schema is {found!r}, this version reads {kind.schema!r}",
                f"check the path, or make the {kind.thing} again",
                code="unreadable",
            )
        arrays = read_arrays(source / ARRAYS)
    except FileFormatError as problem:
        if problem.parameter == str(source):
            raise
        reason = ": ".join(filter(None, (problem.source, problem.parameter, problem.rule)))
        raise _damaged(source, kind, f"{reason}, {problem.got}" if problem.got else reason) from problem
    except OSError as problem:
        raise _damaged(source, kind, str(problem.strerror or problem)) from problem
    try:
        return assemble(facts, arrays)
    except InputError as problem:
        if problem.code == "size":
            raise FileFormatError(
                str(source), f"{problem.parameter} {problem.rule}", problem.got, problem.remedy, code="size"
            ) from problem
        reason = f"{problem.parameter} {problem.rule}" + (f"; {problem.got}" if problem.got else "")
        raise _damaged(source, kind, reason) from problem
    except KeyError as problem:
        raise _damaged(source, kind, f"there is no entry {problem}") from problem
    except DAMAGED as problem:
        raise _damaged(source, kind, f"{type(problem).__name__} in {kind.facts} or {ARRAYS}") from problem


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an archive that `numpy.savez` wrote; together they take no more memory than the archive has bytes.

    Raises
    ------
    FileFormatError
        No plain file, no archive, arrays that are compressed, damaged or objects, or that overlap in the file.
    """
    with problems_named(path):
        check_exists(path)
        if not path.is_file():
            raise InputError("file", "must be a file", "it is a folder", "check the path", code="not-a-file")
        with zipfile.ZipFile(path) as archive:
            needed = sum(info.file_size for info in archive.infolist())
        check_fits("arrays", (needed,), 1, path.stat().st_size)  # entries may be compressed, or share their bytes
        return {name: np.array(array.read()) for name, array in read_npz(path).arrays.items()}


def checked_array(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    kinds: str,
    shape: Sequence[int | None],
    *,
    low: float | None = None,
    high: float | None = None,
    finite: bool = False,
) -> NDArray[Any]:
    """The array of a name, of one of the kinds of dtype and of a shape; numbers to compute with as int64, float64 or float32.

    Parameters
    ----------
    arrays : mapping
    name : str
    kinds : str
        Letters of `numpy.dtype.kind`.
    shape : sequence of int or None
        None: any length.
    low, high : float, optional
        Bounds of the values; nan passes unless they must be finite.
    finite : bool

    Raises
    ------
    InputError
        It is missing, or of another type, shape or range.
    """
    if name not in arrays:
        raise InputError(name, "is missing", "", "", code="missing")
    array = arrays[name]
    if array.dtype.kind not in kinds:
        raise InputError(name, f"must have a dtype of kind {' or '.join(kinds)}", f"got {array.dtype}", "", code="type")
    if array.ndim != len(shape) or any(b is not None and a != b for a, b in zip(array.shape, shape, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise InputError(name, f"must have shape ({wanted})", f"got {array.shape}", "", code="shape")
    if finite and not np.isfinite(array).all():
        raise InputError(name, "must hold finite numbers", "", "", code="finite")
    if (low is not None and (array < low).any()) or (high is not None and (array > high).any()):
        raise InputError(name, f"must lie between {low} and {high}", "", "", code="range")
    if set(kinds) <= {"i", "u"}:
        return array.astype(np.int64, copy=False)
    if kinds == "f" and array.dtype != np.float32:
        return array.astype(np.float64, copy=False)  # kernels take no other type, nor another order of bytes
    return array


def _damaged(source: Path, kind: SavedKind, reason: str) -> FileFormatError:
    return FileFormatError(
        str(source),
        f"must be a folder that {kind.writer} wrote",
        reason,
        f"check the path, or make the {kind.thing} again",
        code="unreadable",
    )
