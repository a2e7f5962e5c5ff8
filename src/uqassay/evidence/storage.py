"""Records in folders: plain values as JSON, arrays in `arrays.npz`; written whole or not at all, nothing pickled."""

import json
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from uqassay.errors import FileFormatError, InputError
from uqassay.files import draft_of
from uqassay.predictions import read_arrays
from uqassay.records import packed, unpacked
from uqassay.results import read_json

__all__ = ["Saved"]

ARRAYS = "arrays.npz"
DAMAGED = (
    TypeError,
    ValueError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)  # in the words of others


class Saved:
    """Gives a record `save` and `load`."""

    _schema: ClassVar[str]  #: Name and version, such as "uqassay.gain-study/2".
    _thing: ClassVar[str] = "study"  #: For errors; THING.json holds the plain values.

    def save(self, folder: str | Path) -> Path:
        """Keep it in a folder, written whole or not at all; one of the same kind that is there is replaced."""
        target, name = Path(folder), f"{self._thing}.json"
        if target.exists() and not (target / name).is_file():
            rule, remedy = f"exists and does not hold {_a(self._thing)}", "choose another folder"
            raise FileFormatError(str(target), rule, remedy=remedy, code="unwritable")
        values, arrays = packed(self)
        text = json.dumps({"schema": self._schema, **values}, allow_nan=False, indent=1)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with draft_of(target, folder=True) as draft:
                draft.mkdir()
                with (draft / ARRAYS).open("wb") as file:
                    np.savez(file, **arrays)  # type: ignore[arg-type]
                (draft / name).write_text(text, encoding="utf-8")
        except OSError as problem:
            remedy = "choose a folder below one that can be written to"
            got = str(problem.strerror or problem)
            raise FileFormatError(str(target), "cannot be written", got, remedy, code="unwritable") from problem
        return target

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what `save` kept."""
        source = Path(folder)
        try:
            values = read_json(source / f"{cls._thing}.json")
            found = values.pop("schema", None) if isinstance(values, dict) else None
            if found != cls._schema:
                raise FileFormatError(
                    str(source),
                    f"holds {_a(cls._thing)} of another kind or version",
                    f"its schema is {found!r:.80}, this version reads {cls._schema!r}",
                    f"check the path, or make the {cls._thing} again",
                    code="unreadable",
                )
            arrays = read_arrays(source / ARRAYS)
        except FileFormatError as problem:
            if problem.parameter == str(source):
                raise
            reason = ": ".join(filter(None, (problem.source, problem.parameter, problem.rule)))
            raise cls._damaged(source, f"{reason}, {problem.got}" if problem.got else reason) from problem
        except OSError as problem:
            raise cls._damaged(source, str(problem.strerror or problem)) from problem
        try:
            return unpacked(cls, values, arrays)
        except InputError as problem:
            if problem.code == "size":
                rule = f"{problem.parameter} {problem.rule}"
                raise FileFormatError(str(source), rule, problem.got, problem.remedy, code="size") from problem
            reason = f"{problem.parameter} {problem.rule}" + (f"; {problem.got}" if problem.got else "")
            raise cls._damaged(source, reason) from problem
        except DAMAGED as problem:
            raise cls._damaged(source, f"{type(problem).__name__} in {cls._thing}.json or {ARRAYS}") from problem

    @classmethod
    def _damaged(cls, source: Path, reason: str) -> FileFormatError:
        rule = f"must be a folder that {cls.__name__}.save wrote"
        return FileFormatError(
            str(source), rule, reason, f"check the path, or make the {cls._thing} again", code="unreadable"
        )


def _a(thing: str) -> str:
    return f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}"
