"""Files written whole or not at all, and packages that are imported when they are needed."""

import errno
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from uqassay.errors import FileFormatError, InputError, MissingDependencyError, UqassayError
from uqassay.text import said, visible

__all__ = [
    "DRAFT",
    "MAX_TEXT",
    "draft_of",
    "flush",
    "installation",
    "optional_package",
    "plain_target",
    "problems_named",
    "read_bytes",
    "whole_file",
]


# Files and folders that appear whole or not at all: the one way in which this package writes; and its text files read.
#
# Content is written to a draft in the target's folder, flushed to the disk, and renamed to the target in one step. A
# reader therefore sees the older content or the new content, never a part, even if the process or the machine stops.
# Several writers at the same time use different drafts, and the last rename wins. A folder is replaced by two renames,
# and a reader finds no folder between them; see `draft_of`. A symbolic link is kept, and the file that it leads to is
# replaced.

DRAFT = ".uqassay-"  # prefix of every draft; a draft that stays was left by a process that was killed
TAKEN = (errno.EEXIST, errno.ENOTEMPTY)  # errors of a rename onto a folder that is not empty
MAX_TEXT = 2**26  # bytes of a text file that is read
ATTEMPTS = 100  # to rename a folder into its place; one fails only where another writer has succeeded


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream of bytes whose file appears at the end of the block, and not at all where the block raises.

    Parameters
    ----------
    path : path
        As in `draft_of`.

    Yields
    ------
    binary file

    Raises
    ------
    FileFormatError, OSError
        As in `draft_of`.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "numbers.txt")
    >>> with whole_file(path) as stream:
    ...     _ = stream.write(b"1 2 3")
    ...     path.exists()
    False
    >>> path.read_text()
    '1 2 3'
    >>> folder.cleanup()
    """
    with draft_of(path) as draft, draft.open("wb") as stream:
        yield stream


@contextmanager
def draft_of(path: str | os.PathLike[str], *, folder: bool = False) -> Iterator[Path]:
    """The path of a draft, for writers that need a file name; it is renamed to `path` at the end of the block.

    Parameters
    ----------
    path : path
        In a folder that exists. The caller decides whether a folder of this name may be replaced.
    folder : bool
        The draft is a folder, which the block makes. A folder is replaced in two steps: the older one is renamed, then the
        new one. Between the two a reader finds nothing at `path`; a reader that opens one file after another may get files of
        both. If the process is killed between the steps, the older folder stays under the name of a draft. No writer fails
        because of another writer.

    Yields
    ------
    Path
        An empty file with the permissions of the file that it replaces, or of a new file; or the name of a folder that does
        not exist yet and that gets the permissions of the folder that it replaces.

    Raises
    ------
    FileFormatError
        The target of a file is a folder, a pipe or a device, or its name ends in a separator.
    OSError
        The file system refuses, and the error names `path`: no such folder, no space left, no permission to write the folder
        or the file that would be replaced.
    """
    target = Path(os.path.realpath(path)) if folder else plain_target(path)
    draft = _new_name(target)
    try:
        permissions = _permissions(target) if folder else _made(draft, target)
        yield draft
        if folder:
            for place, _, names in os.walk(draft):
                for part in (*(Path(place, name) for name in names), Path(place)):
                    flush(part)
            _put_folder(draft, target, permissions)
        else:
            flush(draft)
            _permit(draft, permissions)  # some writers make files for their owner alone
            os.replace(draft, target)
        flush(target.parent)
    except OSError as problem:
        own = problem.filename is None or os.fspath(problem.filename).startswith(os.fspath(draft))
        if problem.errno is None or not (own or problem.filename2 is not None):
            raise
        raise OSError(problem.errno, problem.strerror, os.fspath(path)) from problem
    finally:
        _remove(draft)


def plain_target(path: str | os.PathLike[str]) -> Path:
    """The file to replace when `path` is written: symbolic links are followed, and only a file is replaced."""
    if os.path.basename(os.fspath(path)) in ("", "."):
        raise FileFormatError(
            "path", "must be the name of a file", f"{os.fspath(path)!r} is that of a folder", code="not-a-file"
        )
    target = Path(os.path.realpath(path))
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return target
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise FileFormatError(
            "path", "only a file is replaced", f"{path} is {what}", "give the name of a file", code="not-a-file"
        )
    return target


def read_bytes(path: str | os.PathLike[str], most: int = MAX_TEXT) -> bytes:
    """The content of a regular file. A pipe is never waited for, and a device never read.

    Parameters
    ----------
    path : path
    most : int
        Greatest number of bytes.

    Raises
    ------
    FileFormatError
        A folder, a pipe, a device, or a longer file.
    OSError
        There is no such file, or it may not be read.
    """
    # what is opened is looked at, since the name may lead elsewhere a moment later; O_NONBLOCK opens a pipe without a writer
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENXIO):  # ENXIO: a socket
            raise _no_plain_file(path, "a socket, or a link that leads nowhere") from problem
        raise
    try:
        mode, content = os.fstat(handle).st_mode, bytearray()
        if not stat.S_ISREG(mode):
            raise _no_plain_file(path, "a folder" if stat.S_ISDIR(mode) else "a pipe or a device")
        while len(content) <= most and (part := os.read(handle, min(most + 1 - len(content), 2**20))):
            content += part
    finally:
        os.close(handle)
    if len(content) > most:
        raise FileFormatError(
            "path",
            f"must have at most {most:,} bytes",
            f"{os.fspath(path)} has more",
            "check that it is the file you mean",
            code="size",
        )
    return bytes(content)


def flush(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk; a system that cannot flush folders is not an error."""
    folder = path.is_dir()
    if folder and not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    try:
        handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    except PermissionError:
        if not folder:
            raise
        return  # a folder that may be written and not read
    try:
        os.fsync(handle)
    except OSError as problem:
        if not (folder and problem.errno == errno.EINVAL):  # some network file systems
            raise
    finally:
        os.close(handle)


@contextmanager
def problems_named(path: Path, done: str = "read") -> Iterator[None]:
    """Every problem with a file becomes a `FileFormatError` whose source is the file's name.

    Readers of damaged files raise errors of every class. They are all given as causes here, with their own words.
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
        reason = said(problem).partition(". ")[0]
        reason = reason if " " in reason else f"{type(problem).__name__} {reason}".strip()
        if done == "read":
            remedy, code = "write it again, since it is damaged, incomplete or of another kind", "unreadable"
        else:
            remedy, code = "choose another format or folder; an older file of that name is as it was", "unwritable"
        rule = f"cannot be {done} as {path.suffix}" if path.suffix else f"cannot be {done}"
        raise FileFormatError("file", rule, reason, remedy, code=code, source=_one_line(path.name)) from problem


# -- helpers ----------------------------------------------------------------------------------------------------------


def _no_plain_file(path: str | os.PathLike[str], what: str) -> FileFormatError:
    found = f"{os.fspath(path)} is {what}"
    return FileFormatError("path", "must be a plain file", found, "give the name of a file", code="not-a-file")


def _new_name(target: Path) -> Path:
    """A new name in the target's folder, with its extension, which some writers need, and short enough for a file system."""
    return target.with_name(f"{DRAFT}{secrets.token_hex(8)}{target.suffix[:16]}")


def _made(draft: Path, target: Path) -> int:
    """Make the draft of a file, and return the permissions for the file."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(draft))
    draft.open("xb").close()
    permissions = stat.S_IMODE((target if target.exists() else draft).stat().st_mode)
    if stat.S_IMODE(draft.stat().st_mode) != permissions:  # before it has content, which others must not read
        draft.chmod(permissions | stat.S_IRUSR | stat.S_IWUSR)
    return permissions


def _permissions(target: Path) -> int | None:
    """Permissions of the target; None if it does not exist, perhaps because another writer has renamed it."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None


def _permit(draft: Path, permissions: int | None) -> None:
    if permissions is not None and stat.S_IMODE(draft.stat().st_mode) != permissions:
        draft.chmod(permissions)


def _put_folder(draft: Path, target: Path, permissions: int | None) -> None:
    """Rename the draft to the target, repeatedly if other writers put folders there; the original permissions are kept."""
    for left in reversed(range(ATTEMPTS)):
        found = _permissions(target)
        permissions = permissions if found is None else found
        _permit(draft, permissions)
        older = _set_aside(target)
        try:
            os.replace(draft, target)
        except BaseException as problem:  # Ctrl-C between the two renames, too
            if older is not None:
                _put_back(older, target)
            if not (left and isinstance(problem, OSError) and problem.errno in TAKEN):
                raise
        else:
            if older is not None:
                _remove(older)
            return


def _set_aside(target: Path) -> Path | None:
    """Rename the older folder, and return its new name; None if there is none, or another writer has renamed it."""
    older = _new_name(target)
    try:
        if target.is_dir():
            os.replace(target, older)
            return older
    except FileNotFoundError:
        pass
    return None


def _put_back(older: Path, target: Path) -> None:
    try:
        os.replace(older, target)
    except OSError as problem:
        if problem.errno not in TAKEN:
            raise
        _remove(older)  # another writer's folder is there, and newer


def _remove(draft: Path) -> None:
    with suppress(OSError):  # in a folder that may no longer be written the draft stays
        if draft.is_dir() and not draft.is_symlink():
            draft.chmod(stat.S_IRWXU)  # it may have permissions that allow no deletion
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


def _one_line(text: str) -> str:
    """Text from a file on one line, without characters that a terminal would obey."""
    return visible(" ".join(text.split()))


# Import of optional packages; the error for a missing one names the command that installs it.

_NAMES = {
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "PIL": "pillow",
}  # names of packages that differ from their modules


EXTRAS = ("files", "lab")


def installation(needed: str) -> str:
    """The remedy for a package that is not installed.

    Parameters
    ----------
    needed : str
        The extra of uqassay that installs it, or, for a package with a single use, its requirement.

    Examples
    --------
    >>> installation("files")
    "run pip install 'uqassay[files]'"
    >>> installation("timm>=1.0")
    "run pip install 'timm>=1.0'"
    """
    return f"run pip install 'uqassay[{needed}]'" if needed in EXTRAS else f"run pip install '{needed}'"


def installed_again() -> str:
    """The remedy for an installation without kernels: the same installation once more, past pip's cache of what it built."""
    from importlib.metadata import PackageNotFoundError, distribution

    again = "run pip install --force-reinstall --no-deps --no-cache-dir"
    try:
        origin = distribution("uqassay").read_text("direct_url.json")  # of pip, for what is not from an index
    except PackageNotFoundError:  # found on PYTHONPATH
        origin = "{}"
    if origin is None:
        return f"{again} uqassay"
    editable = json.loads(origin).get("dir_info", {}).get("editable", False)
    return f"{again} {'--editable ' if editable else ''}. in the clone of uqassay"


def optional_package(module: str, needed: str, purpose: str, *, otherwise: str = "") -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Name of the module, such as "pyarrow.parquet".
    needed : str
        What installs the package, as `installation` takes it.
    purpose : str
        Subject of the sentence "… needs it", such as "a zarr file".
    otherwise : str
        An alternative to the installation, such as "write the file as TOML".

    Raises
    ------
    MissingDependencyError
        The package or one of its dependencies is not installed.

    Examples
    --------
    >>> optional_package("numpy", "files", "an npy file").__name__
    'numpy'
    >>> optional_package("no_such_package", "files", "a parquet file")
    Traceback (most recent call last):
    uqassay.errors.MissingDependencyError: no_such_package: is not installed; a parquet file needs it; run pip install
    'uqassay[files]'.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as problem:
        top = (problem.name or module).partition(".")[0]
        remedy = installation(needed)
        raise MissingDependencyError(
            _NAMES.get(top, top),
            "is not installed",
            f"{purpose} needs it",
            f"{remedy}, or {otherwise}" if otherwise else remedy,
            code="package",
            facts={"needed": needed},
        ) from problem
