"""The cache folder and its downloads: found again without a network, never half written, checksums, sentences."""

import errno
import gzip
import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets import cache, cache_folder, fetch

DATA = bytes(range(256)) * 5000  # 1.28 MB: more than one block
MD5 = "md5:" + hashlib.md5(DATA).hexdigest()
SHA256 = "sha256:" + hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "two words.bin"
    path.write_bytes(DATA)
    return path


def left_behind(folder):
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


# ---- where -----------------------------------------------------------------------------------------------------------


def test_the_folder_is_given_or_named_by_the_environment_or_the_users(tmp_path, monkeypatch):
    assert cache_folder() == tmp_path / "cache"
    assert cache_folder(tmp_path / "other") == tmp_path / "other"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("UQASSAY_DATA", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "uqassay"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/not/valid")
    assert cache_folder() == tmp_path / ".cache" / "uqassay"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "uqassay"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "uqassay" / "Cache"


@pytest.mark.parametrize("name", ["../f.bin", "/etc/hostname", "a//b", "a/./b", "", "C:f.bin", "a\\b"])
def test_names_stay_inside_the_folder(name):
    with refuses("name", "range"):
        fetch(name)


# ---- downloads -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digest", [MD5, SHA256, None])
def test_download_then_no_network(server, own_cache, digest):
    (server.folder / "f.bin").write_bytes(DATA)
    told = []
    path = fetch("d/f.bin", server.address + "f.bin", digest, len(DATA), progress=lambda *a: told.append(a))
    assert path == own_cache / "d" / "f.bin"
    assert path.read_bytes() == DATA
    assert told[-1] == ("d/f.bin", len(DATA), len(DATA))
    assert [done for _, done, _ in told] == sorted({done for _, done, _ in told})
    assert len(told) >= 2
    assert left_behind(own_cache) == ["f.bin", "f.bin.checked.json"]
    assert fetch("d/f.bin", server.address + "f.bin", digest) == path
    assert server.asked == ["/f.bin"]


def test_download_from_a_file_address(source, own_cache):
    assert fetch("f.bin", source.as_uri(), SHA256).read_bytes() == DATA


@pytest.mark.parametrize("url", ["ftp://host/f.bin", "data:text/plain,abc", "/etc/hostname", ""])
def test_other_addresses_are_refused(url):
    with refuses("url", "choice"):
        fetch("f.bin", url)


def test_wrong_checksum_of_a_download(server, own_cache):
    (server.folder / "f.bin").write_bytes(DATA[:-1] + b"x")
    with refuses("f.bin", "mismatch", got=rf"must have the checksum {MD5}; http\S+ gave md5:[0-9a-f]{{32}}; "):
        fetch("f.bin", server.address + "f.bin", MD5)
    assert left_behind(own_cache) == []


def test_wrong_size_of_a_download(source, own_cache):
    with refuses("f.bin", "mismatch", got=rf"must have {len(DATA) + 1} bytes; file\S+ gave {len(DATA)}"):
        fetch("f.bin", source.as_uri(), None, len(DATA) + 1)
    assert left_behind(own_cache) == []


def test_truncated_download(server, own_cache):
    (server.folder / "f.bin").write_bytes(DATA)
    server.cut = 1000
    with refuses("f.bin", "unreadable", got=r"cannot be downloaded from http\S+ \(it ended early\)"):
        fetch("f.bin", server.address + "f.bin")
    assert left_behind(own_cache) == []


def test_an_answer_without_end_is_not_followed(server, own_cache):
    (server.folder / "f.bin").write_bytes(DATA)
    server.endless = True
    with refuses("f.bin", "mismatch", got=rf"http\S+ gave more than {len(DATA)}"):
        fetch("f.bin", server.address + "f.bin", MD5, len(DATA))
    assert left_behind(own_cache) == []


@pytest.mark.parametrize("status", [404, 503])
def test_server_error(server, status):
    server.status = status
    with refuses("f.bin", "unreadable", got=rf"cannot be downloaded from http\S+ \(answer {status}\)"):
        fetch("f.bin", server.address + "f.bin")


def test_compressed_files_arrive_as_they_are(server):
    """A server that packs answers must not do so: the checksum is that of the file."""
    (server.folder / "f.gz").write_bytes(b"\x1f\x8b no gzip at all")
    assert fetch("f.gz", server.address + "f.gz").read_bytes() == b"\x1f\x8b no gzip at all"


def refused_address():
    """An address on this machine where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/f.bin"


@pytest.mark.parametrize(
    "address",
    ["http://no-such-host.invalid/f.bin", refused_address(), "file:///no/such/file"],
    ids=["no host", "refused", "no file"],
)
def test_no_network_says_which_file_goes_where(address, own_cache):
    with refuses("d/f.bin", "unreadable") as caught:
        fetch("d/f.bin", address, MD5, timeout=5)
    told = str(caught.value)
    assert told.startswith(f"d/f.bin: cannot be downloaded from {address} (")
    assert told.endswith(
        f"put that file at {own_cache / 'd' / 'f.bin'}, or set UQASSAY_DATA to the folder that holds it."
    )
    assert "\n" not in told
    assert left_behind(own_cache) == []


def test_silence_ends(own_cache):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with refuses("f.bin", "unreadable", got=r"no answer in 0\.2 s"):
            fetch("f.bin", f"http://127.0.0.1:{silent.getsockname()[1]}/f.bin", timeout=0.2)


def test_what_cannot_be_downloaded_says_where_it_goes(own_cache):
    with refuses("d/f.bin", "missing", got=f"put it at {own_cache}/d/f.bin"):
        fetch("d/f.bin")


def test_without_pooch_the_error_says_where_the_file_goes(own_cache, source, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with refuses("pooch", "package", got=f"put that file at {own_cache}/f.bin", error=MissingDependencyError):
        fetch("f.bin", "http://host/f.bin", MD5)
    put(own_cache, "f.bin", DATA)
    assert fetch("f.bin", "http://host/f.bin", MD5).read_bytes() == DATA
    assert fetch("g.bin", source.as_uri(), MD5).read_bytes() == DATA


# ---- files that are there --------------------------------------------------------------------------------------------


def put(folder, name, data):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_given_file_is_checked_once(own_cache, monkeypatch):
    path = put(own_cache, "f.bin", DATA)
    reads = []
    honest = cache._sums
    monkeypatch.setattr(cache, "_sums", lambda stream: reads.append(1) or honest(stream))
    for _ in range(3):
        assert fetch("f.bin", None, MD5) == path
    assert len(reads) == 1
    os.utime(path, (1, 1))  # looks changed, so is read again
    fetch("f.bin", None, MD5)
    fetch("f.bin", None, SHA256)  # another checksum is due
    assert len(reads) == 3
    (own_cache / "f.bin.checked.json").write_text("[broken")
    fetch("f.bin", None, MD5)
    assert len(reads) == 4


def test_a_wrong_given_file(own_cache):
    path = put(own_cache, "f.bin", b"other")
    with refuses("f.bin", "mismatch", got=rf"must have the checksum {MD5}; {path} has md5:[0-9a-f]+; delete it"):
        fetch("f.bin", None, MD5)
    assert path.read_bytes() == b"other"


def test_a_file_that_changes_after_its_check_is_noticed(own_cache):
    put(own_cache, "f.bin", DATA)
    fetch("f.bin", None, MD5)
    put(own_cache, "f.bin", DATA[:-1])
    with refuses("f.bin", "mismatch"):
        fetch("f.bin", None, MD5)


def test_a_given_file_that_may_not_be_read(own_cache, monkeypatch):
    path = put(own_cache, "f.bin", DATA)

    def refused(self, *_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "open", refused)
    with refuses("path", "unreadable", got=str(path), source="f.bin"):
        fetch("f.bin", None, MD5)


def test_trust_on_first_use(own_cache, source):
    put(own_cache, "f.bin", b"first")
    fetch("f.bin")
    kept = json.loads((own_cache / "f.bin.checked.json").read_text())
    assert kept["sha256"] == hashlib.sha256(b"first").hexdigest()
    os.utime(own_cache / "f.bin", (1, 1))
    fetch("f.bin")  # the same bytes at another time
    put(own_cache, "f.bin", b"second")
    with refuses("f.bin", "mismatch"):
        fetch("f.bin")
    (own_cache / "f.bin").unlink()
    with refuses("f.bin", "mismatch", got=r"file\S+ gave sha256"):
        fetch("f.bin", source.as_uri())  # a new download must be the old file, too
    (own_cache / "f.bin.checked.json").unlink()
    assert fetch("f.bin", source.as_uri()).read_bytes() == DATA


def test_packed_anew_or_unpacked_is_known_by_its_content(own_cache):
    packed = put(own_cache, "a.gz", gzip.compress(DATA, 1, mtime=5))
    published = "md5:" + "0" * 32
    assert fetch("a.gz", None, published, content_digest=MD5) == packed
    put(own_cache, "b.gz", gzip.compress(b"else"))
    with refuses("b.gz", "mismatch", got=f"must have the checksum {published}"):
        fetch("b.gz", None, published, content_digest=MD5)
    plain = put(own_cache, "c", DATA)
    assert fetch("c.gz", None, published, content_digest=MD5) == plain
    put(own_cache, "d.gz", gzip.compress(DATA)[:-20])
    with refuses("d.gz", "unreadable", got=" is damaged or incomplete"):
        fetch("d.gz", None, published, content_digest=MD5)


# ---- the disk --------------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made(tmp_path, source):
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    with refuses("cache", "unwritable"):
        fetch("f.bin", source.as_uri(), folder=blocked / "inside")


def test_a_folder_that_may_only_be_read(own_cache, source, monkeypatch):
    honest = Path.open

    def guarded(self, mode="r", *args, **kwargs):
        if "x" in mode:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return honest(self, mode, *args, **kwargs)

    put(own_cache, "there.bin", DATA)
    monkeypatch.setattr(Path, "open", guarded)
    with refuses("cache", "unwritable"):
        fetch("f.bin", source.as_uri())
    assert fetch("there.bin", None, MD5).read_bytes() == DATA  # reading needs no writing
    assert left_behind(own_cache) == ["there.bin"]


def test_a_full_disk(own_cache, source, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with refuses("cache", "unwritable"):
        fetch("f.bin", source.as_uri(), MD5)
    assert left_behind(own_cache) == []


def test_an_interrupted_download_leaves_nothing(own_cache, source):
    def stop(*_):
        raise KeyboardInterrupt("stop")

    with pytest.raises(KeyboardInterrupt, match="stop"):
        fetch("f.bin", source.as_uri(), MD5, progress=stop)
    assert left_behind(own_cache) == []


def test_a_killed_process_leaves_a_draft_that_goes_after_a_day(server, own_cache):
    (server.folder / "f.bin").write_bytes(DATA)
    address = server.address + "f.bin"
    code = (
        "from uqassay.lab.datasets import fetch\n"
        "import os, signal\n"
        f"fetch('f.bin', {address!r}, {MD5!r}, progress=lambda *a: os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -9
    (draft,) = own_cache.iterdir()
    assert draft.name.startswith(".uqassay-")
    fetch("f.bin", address, MD5)
    assert draft.exists()  # it might belong to a process that still runs
    (own_cache / "f.bin").unlink()
    os.utime(draft, (1, 1))
    assert fetch("f.bin", address, MD5).read_bytes() == DATA
    assert left_behind(own_cache) == ["f.bin", "f.bin.checked.json"]


def test_two_processes_that_fetch_the_same_file(server, own_cache):
    (server.folder / "f.bin").write_bytes(DATA)
    code = (
        "from uqassay.lab.datasets import fetch\n"
        "import time\n"
        f"p = fetch('f.bin', {server.address + 'f.bin'!r}, {MD5!r}, progress=lambda *a: time.sleep(0.05))\n"
        "import hashlib\n"
        "print(hashlib.md5(p.read_bytes()).hexdigest())\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate(timeout=600)[0].strip() for process in running]
    assert said == [MD5.removeprefix("md5:")] * 3
    assert [process.returncode for process in running] == [0, 0, 0]
    assert left_behind(own_cache) == ["f.bin", "f.bin.checked.json"]
    assert fetch("f.bin", None, MD5).read_bytes() == DATA


def test_importing_is_light():
    code = (
        "import sys, uqassay.lab.datasets\n"
        "print([m for m in ('sklearn', 'pandas', 'torch', 'PIL', 'datasets', 'moabb', 'scipy.io', 'scipy.stats', "
        "'pooch', 'requests', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
