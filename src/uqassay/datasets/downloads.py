"""One download into a stream, by pooch: blocks are written, hashed, counted and reported; failures are said in few words."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from uqassay._optional import optional_package
from uqassay.errors import InputError
from uqassay.wording import listed

__all__ = ["BLOCK", "Progress", "checksums", "download", "is_local"]

Progress = Callable[[str, int, int | None], None]

SCHEMES = ("https", "http", "file")
BLOCK = 2**20
EARLY = "it ended early"
HEADERS = {"User-Agent": "uqassay", "Accept-Encoding": "identity"}  # some servers refuse Python's own name


def checksums() -> dict[str, Any]:
    """New hash objects by the kinds of checksums that publishers give."""
    return {"md5": hashlib.md5(usedforsecurity=False), "sha256": hashlib.sha256()}


def is_local(url: str) -> bool:
    """Whether an address is that of a file on this machine.

    Raises
    ------
    InputError
        Another scheme than https, http and file.
    """
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        raise InputError(
            "url", f"must begin with {listed(SCHEMES, last='or')}", f"got {url}", "correct the address", code="choice"
        )
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
    url : str
    stream : binary file
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

    Raises
    ------
    InputError
        No answer, an incomplete one, or one of another size.
    MissingDependencyError
        pooch is missing.
    """
    sink = _Sink(name, url, stream, size, progress, by_hand)
    reason = _copy(sink) if is_local(url) else _fetch(sink, timeout)
    if not reason and sink.done < sink.total:  # older versions of urllib3 do not notice
        reason = EARLY
    if reason:
        raise InputError(name, f"cannot be downloaded from {url} ({reason})", "", by_hand, code="unreadable")
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
    pooch, requests = (optional_package(p, "datasets", purpose, otherwise=sink.by_hand) for p in ("pooch", "requests"))
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
