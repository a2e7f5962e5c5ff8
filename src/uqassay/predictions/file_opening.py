"""Opening a file of predictions: its format, the checks before it is read, and errors that carry its name."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from uqassay.errors import FileFormatError, InputError, UqassayError
from uqassay.predictions import fd_shifts
from uqassay.predictions.file_contents import Arrays, Contents
from uqassay.predictions.file_csv import read_csv, write_csv
from uqassay.predictions.file_json_lines import read_json_lines, write_json_lines
from uqassay.predictions.file_numpy import read_npy, read_npz, write_npy, write_npz
from uqassay.predictions.file_parquet import read_parquet, write_parquet
from uqassay.predictions.file_tensors import read_pt, read_safetensors, write_pt, write_safetensors
from uqassay.predictions.file_zarr import read_zarr, write_zarr
from uqassay.wording import listed, visible

__all__ = [
    "FORMATS",
    "PICKLES",
    "TABLES",
    "Format",
    "as_path",
    "asks_fd_shifts",
    "check_exists",
    "format_of",
    "open_contents",
    "parts_of",
    "problems_named",
]


@dataclass(frozen=True)
class Format:
    """How one format is read and written."""

    read: Callable[[Path], Contents]
    write: Callable[[Path, Arrays], None]


FORMATS = {
    ".npz": Format(read_npz, write_npz),
    ".npy": Format(read_npy, write_npy),
    ".csv": Format(read_csv, write_csv),
    ".parquet": Format(read_parquet, write_parquet),
    ".jsonl": Format(read_json_lines, write_json_lines),
    ".safetensors": Format(read_safetensors, write_safetensors),
    ".zarr": Format(read_zarr, write_zarr),
    ".pt": Format(read_pt, write_pt),
}
TABLES = (".csv", ".parquet")
CONVERSIONS = {  # what to do with files of other formats
    ".tsv": "rename it to .csv, which may have tabs",
    ".txt": "write a line such as label above the values, and rename it to .csv",
    ".json": "write one object to a line, without brackets and commas around them, and name it .jsonl",
    ".xlsx": "save it as .csv",
    ".xls": "save it as .csv",
    ".pth": "save the tensors as .pt, for example torch.save({'probs': probs}, path)",
}
MOST_NAMES = 2000  # of a folder that are looked at for a message
PICKLES = (".pkl", ".pickle", ".joblib", ".dill")


def as_path(path: Any) -> Path:
    """The path given as str or path object.

    Raises
    ------
    InputError
        Another type, an empty name, or a NUL character.
    """
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise InputError("path", "must be a str or a path", f"got {type(path).__name__}", "pass a name", code="type")
    if not text or "\0" in text:
        raise InputError("path", "must be the name of a file", f"got {text!r:.60}", "check the path", code="empty")
    return Path(text)


def format_of(path: Path, *, to_write: bool = False) -> Format:
    """The format behind the extension; pickles are refused by name."""
    suffix = path.suffix.lower()
    if suffix in PICKLES:
        raise FileFormatError(
            "extension",
            "pickles can run any code and are never loaded",
            f"got {suffix}",
            "save the arrays as .npz, for example np.savez(path, probs=probs)",
            code="pickle",
        )
    if suffix not in FORMATS:
        raise FileFormatError(
            "extension",
            f"must be one of {', '.join(FORMATS)}",
            f"got {suffix or 'none'!r}",
            "end the name of the file in one of them"
            if to_write
            else CONVERSIONS.get(suffix, "convert or rename the file"),
            code="choice",
        )
    return FORMATS[suffix]


def open_contents(path: Path, kind: str | None = None) -> Contents:
    """Names, shapes and types of what a file holds, after the checks that need no reading."""
    check_exists(path)
    folder = path.suffix.lower() == ".zarr"
    if path.is_dir() and not folder:
        held = sorted(part.name for part in islice(path.iterdir(), MOST_NAMES) if part.suffix.lower() in FORMATS)
        remedy = f"give the files in it, such as {path / held[0]}" if held else "give a file"
        remedy = "give a kept assay alone, or read it by uq.Assay.load" if (path / "assay.json").is_file() else remedy
        raise FileFormatError("path", "must be a file", "it is a folder", remedy, code="type")
    read = format_of(path).read
    if folder and not path.is_dir():
        raise FileFormatError("path", ".zarr must be a folder", "it is a file", "check the path", code="type")
    if folder:
        parts_of(path)  # a pipe in a store would be waited for without end
    elif path.stat().st_size == 0:
        raise FileFormatError("file", "must not be empty", "it has 0 bytes", "write it again", code="empty")
    contents = read(path)
    if asks_fd_shifts(kind) or fd_shifts.is_fd_shifts(path, contents):
        return fd_shifts.read_fd_shifts(path, contents)
    if set(contents.arrays) == {"arr_0"}:  # np.savez wrote one array without a name
        return Contents({"array": contents.arrays["arr_0"]}, bare=True)
    return contents


def check_exists(path: Path) -> None:
    """Refuse a path that leads nowhere, or to a pipe or device, which would be waited for without end."""
    try:
        mode = path.stat().st_mode
    except PermissionError:
        raise
    except (OSError, ValueError) as problem:
        link = os.path.islink(path)
        raise FileFormatError(
            "path",
            "must lead to a file",
            "it is a symbolic link that leads nowhere"
            if link
            else f"there is none of this name in {path.absolute().parent}",
            _nearest(path),
            code="missing",
        ) from problem
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _no_plain_file("path", "it is a pipe or a device")


def _nearest(path: Path) -> str:
    """The remedy for a path that leads nowhere: the files in its folder that are named most alike."""
    try:
        names = [entry.name for entry in islice(os.scandir(path.absolute().parent), MOST_NAMES)]
    except OSError:
        return "check the path"
    same = [name for name in sorted(names) if Path(name).stem == path.stem and Path(name).suffix.lower() in FORMATS]
    alike = same[:3] or get_close_matches(path.name, names, n=3, cutoff=0.75)
    return f"did you mean {listed(alike, last='or')}" if alike else "check the path"


def parts_of(path: Path) -> list[Path]:
    """The files of which a file or folder consists, sorted; a file consists of itself.

    Folders behind symbolic links are not entered.

    Raises
    ------
    InputError
        A pipe, a device or a broken link in the folder.
    """
    if not path.is_dir():
        return [path]
    parts = []
    for place, _, names in os.walk(path):
        for name in names:
            part = Path(place, name)
            try:
                plain = stat.S_ISREG(part.stat().st_mode)
            except OSError:
                plain = False
            if not plain:
                raise _no_plain_file("path", f"{part.relative_to(path)} is a pipe, a device or a broken link")
            parts.append(part)
    return sorted(parts)


def asks_fd_shifts(kind: str | None) -> bool:
    """Whether `kind` names the output of FD-Shifts."""
    return isinstance(kind, str) and kind.lower().replace("_", "-") == "fd-shifts"


@contextmanager
def problems_named(path: Path, done: str = "read") -> Iterator[None]:
    """Every problem with a file becomes a `FileFormatError` whose source is the file's name.

    Readers of damaged files raise errors of every class. They are all given as causes here, with their own words.

    Parameters
    ----------
    path : Path
    done : str
        "read" or "written".
    """
    try:
        yield
    except InputError as problem:
        raise FileFormatError(
            _one_line(problem.parameter) or "file",
            _one_line(problem.rule),
            _one_line(problem.got),
            _one_line(problem.remedy),
            code=problem.code,
            source=problem.source or _one_line(path.name),
            facts=problem.facts,
        ) from problem
    except UqassayError:
        raise
    except MemoryError as problem:
        raise FileFormatError(
            "file", "must fit into memory", "", "use .npy, which is mapped", code="size", source=_one_line(path.name)
        ) from problem
    except PermissionError as problem:
        raise FileFormatError(
            "path",
            f"must allow to be {done}",
            f"{path.absolute()} does not",
            "check its permissions",
            code="unreadable" if done == "read" else "unwritable",
            source=_one_line(path.name),
        ) from problem
    except Exception as problem:  # zipfile, zlib, torch, pyarrow, zarr and safetensors have no common base class
        reason = _one_line(str(problem)).partition(". ")[0].rstrip(".")
        reason = reason if " " in reason else f"{type(problem).__name__} {reason}".strip()
        if done == "read":
            remedy, code = "write it again, since it is damaged, incomplete or of another kind", "unreadable"
        else:
            remedy, code = "choose another format or folder; an older file of that name is as it was", "unwritable"
        rule = f"cannot be {done} as {path.suffix}" if path.suffix else f"cannot be {done}"
        raise FileFormatError("file", rule, reason[:200], remedy, code=code, source=_one_line(path.name)) from problem


def _no_plain_file(parameter: str, found: str) -> FileFormatError:
    return FileFormatError(parameter, "must be a plain file", found, "write it to a file first", code="not-a-file")


def _one_line(text: str) -> str:
    """Text from a file on one line, without characters that a terminal would obey."""
    return visible(" ".join(text.split()))
