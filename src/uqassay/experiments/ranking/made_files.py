"""Prediction files that are made here: each whole or not at all, and made once for the same code, model and instances."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay._files import whole_file
from uqassay.bench.cell import canonical_json
from uqassay.errors import InputError
from uqassay.predictions.files import problems_named
from uqassay.wording import listed

__all__ = ["FileJob", "digest_of", "make_missing", "place_of"]

KEY = "made"  # the array of a file that holds the digest of everything the others depend on

Arrays = Mapping[str, NDArray[Any]]


@final
@dataclass(frozen=True)
class FileJob:
    """One file to be made.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    facts : dict
        Everything that its arrays depend on, the code included, as plain values.
    make : callable
        Gives the arrays.
    """

    name: str
    facts: Mapping[str, Any]
    make: Callable[[], Arrays] = field(repr=False)

    @property
    def key(self) -> str:
        """Digest of the facts."""
        return hashlib.sha256(canonical_json(dict(self.facts), "facts").encode()).hexdigest()


def place_of(folder: Path) -> Path:
    """The folder for the files, made if its parent exists.

    Raises
    ------
    InputError
        It cannot be made.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise InputError(
            "data",
            "must be a folder that can be made or written to",
            f"{folder}: {problem.strerror or type(problem).__name__}",
            "choose another folder",
            code="unwritable",
        ) from problem
    return folder


def make_missing(folder: Path, jobs: Sequence[FileJob], say: Callable[[str], None]) -> list[str]:
    """Make the files that are not there, one after another, and those that other code, models or instances have made.

    Parameters
    ----------
    folder : Path
    jobs : sequence of FileJob
    say : callable
        Called with a line of text for every file.

    Returns
    -------
    list of str
        Notes on files that were made again, and on those of the same name that were not made here and are used as they are.

    Raises
    ------
    InputError
        The folder takes no files.
    """
    again, foreign = [], []
    for job in jobs:
        path = folder / f"{job.name}.npz"
        found = _key_of(path) if path.is_file() else ""
        if found is None:
            foreign.append(path.name)
        if found in (None, job.key):
            say(f"{path.name} is there")
            continue
        if found:
            again.append(path.name)
        say(f"making {path.name}")
        arrays = dict(job.make()) | {KEY: np.array(job.key)}
        try:
            with whole_file(path) as stream:
                np.savez(stream, **arrays)  # type: ignore[arg-type]
        except OSError as problem:
            raise InputError(
                "data",
                "must be a folder with room that takes files",
                f"{path.name}: {problem.strerror or type(problem).__name__}",
                "make room, and run it again: finished files are kept",
                code="unwritable",
            ) from problem
    notes = []
    if again:
        notes.append(f"made again, since other code, options or data had made them: {listed(again, most=5)}")
    if foreign:
        notes.append(f"not made here and used as they are: {listed(foreign, most=5)}")
    return notes


def digest_of(values: Sequence[str]) -> str:
    """Digest of several texts in their order."""
    digest = hashlib.sha256()
    for value in values:
        coded = value.encode()
        digest.update(len(coded).to_bytes(8, "big") + coded)
    return digest.hexdigest()


def _key_of(path: Path) -> str | None:
    """The key in a file; None if it has none."""
    with problems_named(path), np.load(path, allow_pickle=False) as held:
        return str(held[KEY]) if KEY in held.files else None
