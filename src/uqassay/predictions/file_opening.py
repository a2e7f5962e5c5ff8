"""Opening a file of predictions: its format, whether it may be read at all, and problems told in one sentence."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from uqassay.errors import FileFormatError, InputError, UqassayError
from uqassay.predictions import fd_shifts, file_formats, file_tables
from uqassay.predictions.file_formats import Arrays, Contents


@dataclass(frozen=True)
class Format:
    """How one format is read and written."""

    read: Callable[[Path], Contents]
    write: Callable[[Path, Arrays], None]


FORMATS = {
    ".npz": Format(file_formats.read_npz, file_formats.write_npz),
    ".npy": Format(file_formats.read_npy, file_formats.write_npy),
    ".csv": Format(file_tables.read_csv, file_tables.write_csv),
    ".parquet": Format(file_tables.read_parquet, file_tables.write_parquet),
    ".safetensors": Format(file_formats.read_safetensors, file_formats.write_safetensors),
    ".zarr": Format(file_formats.read_zarr, file_formats.write_zarr),
    ".pt": Format(file_formats.read_pt, file_formats.write_pt),
}
TABLES = (".csv", ".parquet")
PICKLES = (".pkl", ".pickle", ".joblib", ".dill")


def format_of(path: Path) -> Format:
    """The format behind the extension; pickles are refused by name."""
    suffix = path.suffix.lower()
    if suffix in PICKLES:
        raise FileFormatError(
            "extension",
            f"{suffix} files are pickles, which can run any code and are never loaded",
            "",
            "save the arrays as .npz, for example np.savez(path, probs=probs)",
            code="unreadable",
        )
    if suffix not in FORMATS:
        raise FileFormatError(
            "extension",
            f"must be one of {', '.join(FORMATS)}",
            f"got {suffix or 'none'!r}",
            "convert or rename the file",
            code="choice",
        )
    return FORMATS[suffix]


def open_contents(path: Path, kind: str | None = None) -> Contents:
    """What a file holds, after the checks that need no reading; nothing large is read yet."""
    read = format_of(path).read
    check_exists(path)
    if path.is_dir() != (path.suffix.lower() == ".zarr"):
        found, wanted = ("a folder", "a file") if path.is_dir() else ("a file", "a folder")
        raise FileFormatError(
            "path", f"is {found}, and {path.suffix} must be {wanted}", "", "check the path", code="type"
        )
    if path.is_file() and path.stat().st_size == 0:
        raise FileFormatError("size", "the file is empty (0 bytes)", "", "write it again", code="empty")
    contents = read(path)
    if asks_fd_shifts(kind) or fd_shifts.is_fd_shifts(path, contents):
        return fd_shifts.read_fd_shifts(path, contents)
    return contents


def check_exists(path: Path) -> None:
    """Refuse a path where nothing is, or neither a file nor a folder: a pipe would be waited for without end."""
    try:
        mode = path.stat().st_mode
    except PermissionError:
        raise
    except (OSError, ValueError) as problem:
        what = f"there is no such file in {path.absolute().parent}"
        if os.path.islink(path):
            what = "is a symbolic link that leads to no file"
        raise FileFormatError("path", what, "", "check the path", code="undefined") from problem
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FileFormatError("path", "is a pipe or a device", "", "write it to a file first", code="undefined")


def asks_fd_shifts(kind: str | None) -> bool:
    """Whether `kind` names the output of FD-Shifts."""
    return isinstance(kind, str) and kind.lower().replace("_", "-") == "fd-shifts"


@contextmanager
def problems_named(path: Path, done: str = "read") -> Iterator[None]:
    """Every problem with a file becomes one sentence that begins with the file's name."""
    try:
        yield
    except InputError as problem:
        message = " ".join(str(problem).split())  # names from a file may hold line breaks
        raise FileFormatError(path.name, message, code="undefined") from problem
    except (UqassayError, MemoryError):
        raise
    except PermissionError as problem:
        raise FileFormatError(
            path.name, f"may not be {done}", "", f"check the permissions of {path.absolute()}", code="undefined"
        ) from problem
    except Exception as problem:  # whatever a damaged file makes its reader raise
        reason = str(problem).strip().partition("\n")[0].split(". ")[0].rstrip(".")
        reason = reason if " " in reason else f"{type(problem).__name__} {reason}".strip()
        if done == "read":
            remedy = "it is damaged, incomplete or of another kind, so write it again"
        else:
            remedy = "an older file of that name is as it was; choose another format or folder"
        raise FileFormatError(
            path.name, f"cannot be {done} as {path.suffix} ({reason})", "", remedy, code="undefined"
        ) from problem
