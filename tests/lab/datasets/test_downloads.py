"""One download: what is written, counted and reported, and the reason of each failure."""

import hashlib
import io
import socket

import pytest
from tests.refusals import refuses

from uqassay.lab.datasets.cache import BLOCK, download, is_local

DATA = bytes(range(256)) * 9000  # 2.3 MB: three blocks


def test_content_checksums_and_progress(server):
    (server.folder / "f.bin").write_bytes(DATA)
    stream, told = io.BytesIO(), []
    sums = download("f", server.address + "f.bin", stream, by_hand="put it there", progress=lambda *a: told.append(a))
    assert stream.getvalue() == DATA
    assert sums == {"md5": hashlib.md5(DATA).hexdigest(), "sha256": hashlib.sha256(DATA).hexdigest()}
    assert told[-1] == ("f", len(DATA), len(DATA))
    assert len(told) == -(-len(DATA) // BLOCK)


def test_compressed_files_arrive_as_they_are(server):
    """A server that packs answers must not do so: the checksum is that of the file."""
    (server.folder / "f.gz").write_bytes(b"\x1f\x8b no gzip at all")
    stream = io.BytesIO()
    download("f.gz", server.address + "f.gz", stream, by_hand="put it there")
    assert stream.getvalue() == b"\x1f\x8b no gzip at all"


@pytest.mark.parametrize(("status", "words"), [(404, "answer 404"), (503, "answer 503")])
def test_answers_of_failure(server, status, words):
    server.status = status
    with refuses("f", "unreadable", got=words):
        download("f", server.address + "f.bin", io.BytesIO(), by_hand="put it there")


def test_short_long_and_silent_answers(server):
    (server.folder / "f.bin").write_bytes(DATA)
    server.cut = 1000
    with refuses("f", "unreadable", got=r"\(it ended early\); ; put it there"):
        download("f", server.address + "f.bin", io.BytesIO(), by_hand="put it there")
    server.cut, server.endless = 0, True
    stream = io.BytesIO()
    with refuses("f", "mismatch", got=f"gave more than {len(DATA)}"):
        download("f", server.address + "f.bin", stream, size=len(DATA), by_hand="put it there")
    assert len(stream.getvalue()) <= len(DATA)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with refuses("f", "unreadable", got=r"no answer in 0\.2 s"):
            address = f"http://127.0.0.1:{silent.getsockname()[1]}/f.bin"
            download("f", address, io.BytesIO(), timeout=0.2, by_hand="put it there")


def test_files_of_this_machine(tmp_path):
    path = tmp_path / "two words.bin"
    path.write_bytes(DATA)
    stream = io.BytesIO()
    download("f", path.as_uri(), stream, by_hand="put it there")
    assert stream.getvalue() == DATA
    with refuses("f", "unreadable", got="No such file"):
        download("f", (tmp_path / "none").as_uri(), io.BytesIO(), by_hand="put it there")


@pytest.mark.parametrize("url", ["ftp://host/f.bin", "data:text/plain,abc", "/etc/hostname", ""])
def test_other_addresses_are_refused(url):
    with refuses("url", "choice"):
        is_local(url)
