"""Files and folders that appear whole or not at all: the one way in which this package writes.

What is written goes to a draft beside its target, is brought to the disk, and takes the target's place by one rename. So a
reader sees the older content or the new one and never a half, whenever the process or the machine stops; two writers each
have a draft of their own, and the last one stays. A symbolic link stays, and what it leads to is replaced.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from uqassay.errors import FileFormatError

__all__ = ["DRAFT", "draft_of", "flush", "plain_target", "whole_file"]

DRAFT = ".uqassay-"  # begins the name of every draft; one that stays belongs to a process that was killed


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
    """The path of a draft, for writers that want a name; it takes the place of `path` at the end of the block.

    Parameters
    ----------
    path : path
        In a folder that exists. Whether a folder there may be replaced is for the caller to know.
    folder : bool
        The draft is a folder, which the block makes. Folders change places by two renames: where the process is killed
        between them, the older one has the name of a draft.

    Yields
    ------
    Path
        An empty file with the permissions of the file that it replaces, else those of any new file; or the name of a
        folder that does not exist yet.

    Raises
    ------
    FileFormatError
        The target of a file is a folder, a pipe or a device.
    OSError
        What the file system refuses, told of `path`: no such folder, no space left, no permission to write the folder or the
        file that would be replaced.
    """
    target = Path(os.path.realpath(path)) if folder else plain_target(Path(path))
    draft = _new_name(target)
    try:
        permissions = None if folder else _made(draft, target)
        yield draft
        if permissions is None:
            for place, _, names in os.walk(draft):
                for part in (*(Path(place, name) for name in names), Path(place)):
                    flush(part)
        else:
            flush(draft)
            if stat.S_IMODE(draft.stat().st_mode) != permissions:  # some writers make files for their owner alone
                draft.chmod(permissions)
        _put(draft, target, folder)
        flush(target.parent)
    except OSError as problem:
        own = problem.filename is None or os.fspath(problem.filename).startswith(os.fspath(draft))
        if problem.errno is None or not (own or problem.filename2 is not None):
            raise
        raise OSError(problem.errno, problem.strerror, os.fspath(path)) from problem
    finally:
        _remove(draft)


def plain_target(path: Path) -> Path:
    """Where a file written at `path` belongs: behind symbolic links, so that these stay; only a file is replaced.

    Raises
    ------
    FileFormatError
        A folder, a pipe or a device is there.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return target
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise FileFormatError(f"path: {path} is {what}; give the name of a file.")
    return target


def flush(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk; for a folder, as far as the system can."""
    folder = path.is_dir()
    if folder and not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    try:
        handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    except PermissionError:
        if not folder:
            raise
        return  # one that takes files and shows none
    try:
        os.fsync(handle)
    except OSError as problem:
        if not (folder and problem.errno == errno.EINVAL):  # some network file systems
            raise
    finally:
        os.close(handle)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _new_name(target: Path) -> Path:
    """Beside the target, with its extension, which some writers look at; no longer than a file system takes."""
    return target.with_name(f"{DRAFT}{secrets.token_hex(8)}{target.suffix[:16]}")


def _made(draft: Path, target: Path) -> int:
    """Make the draft of a file, and return the permissions that the file is to have."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(draft))
    draft.open("xb").close()
    permissions = stat.S_IMODE((target if target.exists() else draft).stat().st_mode)
    if stat.S_IMODE(draft.stat().st_mode) != permissions:  # at once, so that nobody else reads a draft either
        draft.chmod(permissions | stat.S_IRUSR | stat.S_IWUSR)
    return permissions


def _put(draft: Path, target: Path, folder: bool) -> None:
    if not (folder and target.is_dir()):
        os.replace(draft, target)
        return
    older = _new_name(target)
    os.replace(target, older)
    try:
        os.replace(draft, target)
    except BaseException:
        os.replace(older, target)
        raise
    shutil.rmtree(older, ignore_errors=True)


def _remove(draft: Path) -> None:
    with suppress(OSError):  # a folder that may no longer be written keeps it
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)
