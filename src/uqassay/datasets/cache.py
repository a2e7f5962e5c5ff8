"""One folder for the files of data sets: found again without a network, fetched once with one, never half written.

The folder is that of the environment variable ``UQASSAY_DATA``, else ``uqassay`` in the user's cache folder. Beside a
file ``NAME`` stands ``NAME.checked.json``: the checksums that were seen, with the size and the time of change of the
file they belong to, so that an unchanged file is not read again. Where the publisher gives no checksum, the first one
seen is kept and must stay (trust on first use). MD5 sums are as published; they find damage, not forgery.
"""

import gzip
import hashlib
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from uqassay._files import DRAFT, whole_file
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.file_opening import problems_named

__all__ = ["Progress", "cache_folder", "fetch"]

Progress = Callable[[str, int, int | None], None]

VARIABLE = "UQASSAY_DATA"
SCHEMES = ("https", "http", "file")
BLOCK = 2**20
ABANDONED = 24 * 3600.0  # seconds; a draft that old belongs to a process that was killed
AGENT = {"User-Agent": "uqassay"}  # some servers refuse the default of Python


def cache_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder given, else that of ``UQASSAY_DATA``, else ``uqassay`` in the user's cache folder; not created yet.

    The user's cache folder is ``$XDG_CACHE_HOME`` or ``~/.cache``, on macOS ``~/Library/Caches``, on Windows
    ``%LOCALAPPDATA%``.

    Examples
    --------
    >>> cache_folder("my-data").name
    'my-data'
    """
    if folder is not None:
        if not isinstance(folder, str | os.PathLike):
            raise InputError(
                "cache",
                "must be the path of a folder",
                f"got {folder!r}",
                "leave it out for the user's own",
                code="type",
            )
        return Path(folder).expanduser().absolute()
    named = os.environ.get(VARIABLE, "")
    if named:
        return Path(named).expanduser().absolute()
    home = Path("~").expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "uqassay" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "uqassay"
    stated = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(stated) if os.path.isabs(stated) else home / ".cache") / "uqassay"  # a relative one is not valid


def fetch(
    name: str,
    url: str | None = None,
    digest: str | None = None,
    size: int | None = None,
    *,
    content_digest: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    timeout: float = 30.0,
    progress: Progress | None = None,
) -> Path:
    """A file of the cache folder, downloaded when it is not there yet, with its checksum checked.

    Parameters
    ----------
    name : str
        Path inside the cache folder, with "/" between the parts.
    url : str, optional
        http, https or file; None: the file cannot be downloaded and must be put in place by hand.
    digest : str, optional
        ``"md5:…"`` or ``"sha256:…"`` as published; None: the first file seen is trusted, and a later one must be equal.
    size : int, optional
        Bytes.
    content_digest : str, optional
        Checksum of what a ``.gz`` holds. A file that was packed again, or that lies there unpacked without ``.gz``, is
        accepted by it.
    folder : path, optional
        Instead of `cache_folder`.
    timeout : float
        Seconds without any answer after which a download ends.
    progress : callable, optional
        Called with the name, the bytes so far and the bytes in all (None where unknown).

    Returns
    -------
    Path

    Raises
    ------
    InputError
        No network (the message says which file to put where), a wrong checksum, a folder that cannot be written.

    Notes
    -----
    A download goes to a name of its own, is checked, forced to the disk and renamed: two processes that fetch the same
    file both end with the whole file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> source = pathlib.Path(place.name, "made.txt")
    >>> _ = source.write_text("data")
    >>> fetch("copy.txt", source.as_uri(), "md5:8d777f385d3dfec8815d20f7496026dc", folder=place.name).read_text()
    'data'
    >>> place.cleanup()
    """
    parts = name.split("/")
    if not all(part.strip(". ") and "\\" not in part and ":" not in part for part in parts):
        raise InputError(
            "name",
            "must stay inside the cache folder",
            f"got {name!r}",
            "give names with / between them",
            code="undefined",
        )
    path = cache_folder(folder).joinpath(*parts)
    unpacked = path.with_name(path.name.removesuffix(".gz"))
    for there in dict.fromkeys((path, unpacked)):
        if there.is_file():
            _check(there, content_digest if there != path else digest, content_digest)
            return there
    if url is None:
        raise InputError(
            name, "is not there and cannot be downloaded", "", f"put it at {path}, or {_elsewhere()}", code="unreadable"
        )
    if urlsplit(url).scheme not in SCHEMES:
        raise InputError(
            "url", f"must begin with one of {', '.join(SCHEMES)}", f"got {url}", "correct the address", code="type"
        )
    _download(name, url, path, (digest, size), timeout, progress)
    return path


# -- downloads --------------------------------------------------------------------------------------------------------


def _download(
    name: str,
    url: str,
    path: Path,
    expected: tuple[str | None, int | None],
    timeout: float,
    progress: Progress | None,
) -> None:
    digest, size = expected
    sums = {"md5": hashlib.md5(usedforsecurity=False), "sha256": hashlib.sha256()}
    with _into_cache(path) as stream:
        done = 0
        for block, total in _blocks(name, url, path, size, timeout):
            stream.write(block)
            for each in sums.values():
                each.update(block)
            done += len(block)
            if progress is not None:
                progress(name, done, total)
        if size is not None and done != size:
            raise InputError(
                name,
                f"must have {size} bytes",
                f"{url} gave {done}",
                f"try again, or put the right file at {path}",
                code="undefined",
            )
        found = {kind: each.hexdigest() for kind, each in sums.items()}
        due = digest or _first_seen(path)
        if due is not None and not _agrees(due, found):
            raise InputError(
                name,
                f"must have the checksum {due}",
                f"{url} gave {_shown(due, found)}",
                f"the address holds another file now, so put the right one at {path} by hand",
                code="undefined",
            )
    _remember(path, found, digest)


def _blocks(name: str, url: str, path: Path, size: int | None, timeout: float) -> Iterator[tuple[bytes, int | None]]:
    """Blocks of the answer with the announced length; every network problem becomes one sentence."""
    try:
        with closing(urllib.request.urlopen(urllib.request.Request(url, headers=AGENT), timeout=timeout)) as answer:
            if urlsplit(answer.url).scheme not in SCHEMES:
                raise InputError(
                    "url",
                    f"{url} leads to {answer.url}, which is none of {', '.join(SCHEMES)}",
                    "",
                    "avoid it",
                    code="choice",
                )
            announced = answer.headers.get("Content-Length")
            total = int(announced) if announced and announced.isdigit() else size
            done = 0
            while block := answer.read(BLOCK):
                done += len(block)
                if size is not None and done > size:
                    return  # longer than it can be: not read to an end that may never come
                yield block, total
            if total is not None and done < total:
                raise http.client.IncompleteRead(b"", total - done)
    except (OSError, http.client.HTTPException, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            name,
            f"cannot be downloaded from {url} ({_reason(problem)})",
            "",
            f"put that file at {path}, or {_elsewhere()}",
            code="unreadable",
        ) from problem


def _reason(problem: Exception) -> str:
    if isinstance(problem, urllib.error.HTTPError):
        return f"answer {problem.code}"
    if isinstance(problem, http.client.IncompleteRead):
        return f"it ended {problem.expected} bytes early"
    inner = getattr(problem, "reason", None) or getattr(problem, "strerror", None) or problem
    return " ".join(str(getattr(inner, "strerror", None) or inner).split()) or type(problem).__name__


def _elsewhere() -> str:
    return f"set {VARIABLE} to the folder that holds it"


# -- checksums --------------------------------------------------------------------------------------------------------


def _check(path: Path, digest: str | None, content_digest: str | None) -> None:
    """Refuse a file whose checksum is not the published one, or (none published) not the one first seen."""
    status = path.stat()
    known = _remembered(path)
    if (known.get("size"), known.get("time")) == (status.st_size, status.st_mtime_ns) and known.get("as") == digest:
        return
    with problems_named(path), path.open("rb") as stream:
        found = _sums(stream)
    if digest is None:
        first = _first_seen(path)
        if first is not None and not _agrees(first, found):
            raise InputError(
                path.name,
                "has changed since it was first used",
                f"{path} now has SHA-256 {found['sha256']}",
                f"bring the old file back, or delete {_side(path).name} beside it if the change is meant",
                code="undefined",
            )
    elif not _agrees(digest, found) and not _content_agrees(path, content_digest):
        raise InputError(
            path.name,
            f"must have the checksum {digest}",
            f"{path} has {_shown(digest, found)}",
            "delete it, so that it is downloaded again, or put the right file there",
            code="undefined",
        )
    _remember(path, found, digest)


def _sums(stream: Any) -> dict[str, str]:
    sums = {"md5": hashlib.md5(usedforsecurity=False), "sha256": hashlib.sha256()}
    while block := stream.read(BLOCK):
        for each in sums.values():
            each.update(block)
    return {kind: each.hexdigest() for kind, each in sums.items()}


def _content_agrees(path: Path, content_digest: str | None) -> bool:
    if content_digest is None or path.suffix != ".gz":
        return False
    try:
        with gzip.open(path, "rb") as stream:
            return _agrees(content_digest, _sums(stream))
    except (OSError, EOFError, zlib.error) as problem:
        raise FileFormatError(
            path.name, "cannot be unpacked", f"{path} is damaged or incomplete", "delete it", code="unreadable"
        ) from problem


def _agrees(digest: str, found: dict[str, str]) -> bool:
    kind, _, value = digest.partition(":")
    return found.get(kind) == value.lower()


def _shown(digest: str, found: dict[str, str]) -> str:
    kind = digest.partition(":")[0]
    return f"{kind}:{found.get(kind)}"


def _first_seen(path: Path) -> str | None:
    """The checksum that a file without a published one had when it was first used."""
    known = _remembered(path)
    return f"sha256:{known['sha256']}" if known.get("as") is None and "sha256" in known else None


def _side(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked.json")


def _remembered(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(_side(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # nothing there, or not what we wrote
        return {}
    return facts if isinstance(facts, dict) else {}


def _remember(path: Path, found: dict[str, str], digest: str | None) -> None:
    """What cannot be remembered, as in a folder that may only be read, is found anew next time."""
    status = path.stat()
    facts = {"size": status.st_size, "time": status.st_mtime_ns, "as": digest, **found}
    try:
        with _into_cache(_side(path)) as stream:
            stream.write(json.dumps(facts, indent=1).encode())
    except InputError:
        return


# -- the disk ---------------------------------------------------------------------------------------------------------


@contextmanager
def _into_cache(path: Path) -> Iterator[IO[bytes]]:
    """A stream to a file of the cache folder, which is made where it is not there; the file appears whole or not at all.

    Raises
    ------
    InputError
        The folder cannot be made or written, or is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path.parent)
        with whole_file(path) as stream:
            yield stream
    except OSError as problem:
        raise InputError(
            "cache",
            f"{path.name} cannot be written to {path.parent} ({problem.strerror or problem})",
            "",
            f"set {VARIABLE} to a folder that may be written and has room",
            code="unwritable",
        ) from problem


def _remove_abandoned(folder: Path) -> None:
    for draft in folder.glob(f"{DRAFT}*"):
        with suppress(OSError):  # another process was faster, or it belongs to somebody else
            if time.time() - draft.stat().st_mtime > ABANDONED:
                draft.unlink()
