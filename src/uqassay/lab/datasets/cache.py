"""One folder for the files of data sets: downloaded once, checked by hash, used without a network."""

import gzip
import hashlib
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from uqassay.checks import fail
from uqassay.errors import FileFormatError, InputError
from uqassay.files import DRAFT, optional_package, problems_named, whole_file
from uqassay.text import listed

__all__ = [
    "BLOCK",
    "Progress",
    "cache_folder",
    "download",
    "fetch",
    "is_local",
]


# One download into a stream, by pooch: blocks are written, hashed, counted and reported; failures are said in few
# words.

Progress = Callable[[str, int, int | None], None]

SCHEMES = ("https", "http", "file")
BLOCK = 2**20
EARLY = "it ended early"
HEADERS = {"User-Agent": "uqassay", "Accept-Encoding": "identity"}  # some servers refuse Python's own name


def checksums() -> dict[str, Any]:
    """New hash objects by the kinds of checksums that publishers give."""
    return {"md5": hashlib.md5(usedforsecurity=False), "sha256": hashlib.sha256()}


def is_local(url: str) -> bool:
    """Whether an address is that of a file on this machine."""
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        fail("url", f"must begin with {listed(SCHEMES, last='or')}", f"got {url}", "correct the address", code="choice")
    return scheme == "file"


def download(
    name: str,
    url: str,
    stream: IO[bytes],
    *,
    size: int | None = None,
    timeout: float = 30.0,
    progress: Progress | None = None,
    by_hand: str,
) -> dict[str, str]:
    """Write the content of an address to a stream.

    Parameters
    ----------
    name : str
        For errors and progress.
    size : int, optional
        Number of bytes that the content must have.
    timeout : float
        Seconds without an answer after which the download ends.
    progress : callable, optional
        Called with the name, the bytes so far and the number of all bytes (None if unknown).
    by_hand : str
        The remedy of errors: where to put the file by hand.

    Returns
    -------
    dict of str to str
        Checksums of the content by their kind, in hexadecimal digits.
    """
    sink = _Sink(name, url, stream, size, progress, by_hand)
    reason = _copy(sink) if is_local(url) else _fetch(sink, timeout)
    if not reason and sink.done < sink.total:  # older versions of urllib3 do not notice
        reason = EARLY
    if reason:
        fail(name, f"cannot be downloaded from {url} ({reason})", "", by_hand, code="unreadable")
    if size is not None and sink.done != size:
        raise sink.wrong_size(str(sink.done))
    return {kind: each.hexdigest() for kind, each in sink.sums.items()}


@final
class _Sink:
    """Takes the blocks; it is also the progress bar of pooch, which sets `total` to the announced length or 0."""

    def __init__(
        self, name: str, url: str, stream: IO[bytes], size: int | None, progress: Progress | None, by_hand: str
    ) -> None:
        self.name, self.url, self.stream, self.size, self.progress = name, url, stream, size, progress
        self.by_hand = by_hand
        self.done = self.total = 0
        self.sums = checksums()

    def write(self, block: bytes) -> int:
        self.done += len(block)
        if self.size is not None and self.done > self.size:  # an answer without end must not fill the disk
            raise self.wrong_size(f"more than {self.size}")
        for each in self.sums.values():
            each.update(block)
        if self.progress is not None:
            self.progress(self.name, self.done, self.total or self.size)
        return self.stream.write(block)

    def wrong_size(self, got: str) -> InputError:
        return InputError(
            self.name, f"must have {self.size} bytes", f"{self.url} gave {got}", self.by_hand, code="mismatch"
        )

    def _ignored(self, *_: object) -> None:
        """Calls of pooch that need no answer: `write` has reported the progress, and the owner closes the stream."""

    flush = update = reset = close = _ignored


def _fetch(sink: _Sink, timeout: float) -> str:
    """Download over http; the reason of a failure in words, or an empty text."""
    purpose = f"the download of {sink.name}"
    pooch, requests = (optional_package(p, "lab", purpose, otherwise=sink.by_hand) for p in ("pooch", "requests"))
    answers: list[Any] = []

    def keep(answer: Any, *_: object, **__: object) -> None:
        answers.append(answer)

    options = {"timeout": timeout, "headers": HEADERS, "hooks": {"response": keep}}
    problems = requests.exceptions
    try:
        pooch.HTTPDownloader(progressbar=sink, chunk_size=BLOCK, **options)(sink.url, sink, None)
    except problems.HTTPError as problem:
        return f"answer {problem.response.status_code}"
    except problems.ChunkedEncodingError:
        return EARLY
    except problems.Timeout:
        return f"no answer in {timeout:g} s"
    except problems.ConnectionError:
        return "no connection"
    except problems.RequestException as problem:
        return type(problem).__name__
    finally:
        for answer in answers:  # pooch leaves them open if the download fails
            answer.close()
    return ""


def _copy(sink: _Sink) -> str:
    """Copy a file of this machine; the reason of a failure in words, or an empty text."""
    path = Path(url2pathname(urlsplit(sink.url).path))
    try:
        source = path.open("rb")
    except OSError as problem:
        return problem.strerror or type(problem).__name__
    with source:
        sink.total = os.fstat(source.fileno()).st_size
        while block := source.read(BLOCK):
            sink.write(block)
    return ""


# One folder for the files of data sets: downloaded once by pooch, used without a network afterwards, never half
# written.
#
# The folder is that of the environment variable ``UQASSAY_DATA``, else ``uqassay`` in the user's cache folder. For each
# file ``NAME`` there is a file ``NAME.checked.json`` with its checksum, its size and its time of change, so that an
# unchanged file is not read again. If the publisher gives no checksum, that of the first file is kept, and later files
# must have the same one (trust on first use). MD5 sums are used as published: they detect damage, not forgery.

VARIABLE = "UQASSAY_DATA"
ABANDONED = 24 * 3600.0  # seconds; an older draft belongs to a process that was killed


def cache_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The given folder, else that of ``UQASSAY_DATA``, else ``uqassay`` in the user's cache folder; it is not created.

    The user's cache folder is ``$XDG_CACHE_HOME`` or ``~/.cache``, on macOS ``~/Library/Caches``, on Windows
    ``%LOCALAPPDATA%``.

    Examples
    --------
    >>> cache_folder("my-data").name
    'my-data'
    """
    if folder is not None:
        if not isinstance(folder, str | os.PathLike):
            fail(
                "cache", "must be the path of a folder", f"got {folder!r}", "leave it out for the default", code="type"
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
    """A file of the cache folder with its checksum checked; a missing file is downloaded.

    Parameters
    ----------
    name : str
        Path inside the cache folder, with "/" between the parts.
    url : str, optional
        http, https or file; None if the file must be put in place by hand.
    digest : str, optional
        ``"md5:…"`` or ``"sha256:…"`` as published; None trusts the first file, and later files must be equal to it.
    size : int, optional
        Bytes.
    content_digest : str, optional
        Checksum of the unpacked content of a ``.gz`` file. A file that was packed again, or that is there unpacked without
        ``.gz``, is accepted if its content agrees.
    folder : path, optional
        Instead of `cache_folder`.
    timeout : float
        Seconds without an answer after which a download ends.
    progress : callable, optional
        Called with the name, the bytes so far and the number of all bytes (None if unknown).

    Returns
    -------
    Path

    Raises
    ------
    InputError
        No network (the message says which file to put where), a wrong checksum, a folder that cannot be written.
    MissingDependencyError
        A download without pooch.

    Notes
    -----
    A download is written to a draft, checked, flushed to the disk and renamed, so two processes that fetch the same file both
    end with the whole file.

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
        rule = "must stay inside the cache folder"
        fail("name", rule, f"got {name!r}", "separate the names of folders by /", code="range")
    path = cache_folder(folder).joinpath(*parts)
    unpacked = path.with_name(path.name.removesuffix(".gz"))
    for there in dict.fromkeys((path, unpacked)):
        if there.is_file():
            _check(there, content_digest if there != path else digest, content_digest)
            return there
    if url is None:
        fail(name, "is not there and cannot be downloaded", "", f"put it at {path}, or {_elsewhere()}", code="missing")
    is_local(url)  # refuses an address of another kind before anything is made
    _download(name, url, path, (digest, size), timeout, progress)
    return path


# -- downloads --------------------------------------------------------------------------------------------------------


def _download(
    name: str, url: str, path: Path, expected: tuple[str | None, int | None], timeout: float, progress: Progress | None
) -> None:
    digest, size = expected
    by_hand = f"put that file at {path}, or {_elsewhere()}"
    with _into_cache(path) as stream:
        found = download(name, url, stream, size=size, timeout=timeout, progress=progress, by_hand=by_hand)
        due = digest or _first_seen(path)
        if due is not None and not _agrees(due, found):
            remedy = f"the address holds another file now, so put the right one at {path} by hand"
            fail(name, f"must have the checksum {due}", f"{url} gave {_shown(due, found)}", remedy, code="mismatch")
    _remember(path, found, digest)


def _elsewhere() -> str:
    return f"set {VARIABLE} to the folder that holds it"


# -- checksums --------------------------------------------------------------------------------------------------------


def _check(path: Path, digest: str | None, content_digest: str | None) -> None:
    """Refuse a file whose checksum is not the published one, or without one, not that of the first file."""
    status = path.stat()
    known = _remembered(path)
    if (known.get("size"), known.get("time")) == (status.st_size, status.st_mtime_ns) and known.get("as") == digest:
        return
    with problems_named(path), path.open("rb") as stream:
        found = _sums(stream)
    if digest is None:
        first = _first_seen(path)
        if first is not None and not _agrees(first, found):
            rule = "has changed since it was first used"
            remedy = f"bring the old file back, or delete {_side(path).name} in the same folder if the change is meant"
            fail(path.name, rule, f"{path} now has SHA-256 {found['sha256']}", remedy, code="mismatch")
    elif not _agrees(digest, found) and not _content_agrees(path, content_digest):
        got = f"{path} has {_shown(digest, found)}"
        remedy = "delete it, so that it is downloaded again, or put the right file there"
        fail(path.name, f"must have the checksum {digest}", got, remedy, code="mismatch")
    _remember(path, found, digest)


def _sums(stream: Any) -> dict[str, str]:
    sums = checksums()
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
        got = f"{path} is damaged or incomplete"
        remedy = "delete it, so that it is downloaded again"
        raise FileFormatError(path.name, "must be a whole gzip file", got, remedy, code="unreadable") from problem


def _agrees(digest: str, found: dict[str, str]) -> bool:
    kind, _, value = digest.partition(":")
    return found.get(kind) == value.lower()


def _shown(digest: str, found: dict[str, str]) -> str:
    kind = digest.partition(":")[0]
    return f"{kind}:{found.get(kind)}"


def _first_seen(path: Path) -> str | None:
    """Checksum of the first file under this name, if none is published."""
    known = _remembered(path)
    return f"sha256:{known['sha256']}" if known.get("as") is None and "sha256" in known else None


def _side(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked.json")


def _remembered(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(_side(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # missing, or not written by us
        return {}
    return facts if isinstance(facts, dict) else {}


def _remember(path: Path, found: dict[str, str], digest: str | None) -> None:
    """Store the checksums of a file; in a read-only folder they are not stored and are computed again next time."""
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
    """A stream to a file of the cache folder, which is made if needed; the file appears whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path.parent)
        with whole_file(path) as stream:
            yield stream
    except OSError as problem:
        rule = "must be a folder with room that takes files"
        got = f"{path.name} cannot be written to {path.parent} ({problem.strerror or type(problem).__name__})"
        raise InputError("cache", rule, got, f"set {VARIABLE} to another folder", code="unwritable") from problem


def _remove_abandoned(folder: Path) -> None:
    for draft in folder.glob(f"{DRAFT}*"):
        with suppress(OSError):  # deleted by another process, or owned by another user
            if time.time() - draft.stat().st_mtime > ABANDONED:
                draft.unlink()
