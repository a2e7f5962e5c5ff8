"""Claims: one process at most gets a cell, and it keeps it while it renews its lease or until it ends."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.lab.bench.bench_work import DEAD, HOST

import uqassay as uq
from uqassay.lab.bench import store as bench_claims
from uqassay.lab.bench.store import LEASE_SECONDS, Claims, has_ended, read_claim, this_process

SHOWS_PROCESSES = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cell.claim"


def claims(tmp_path, owner="", lease=60.0):
    made = Claims(tmp_path / "drafts", lease)
    made.owner = owner or made.owner
    return made


def age(path, seconds):
    os.utime(path, (time.time() - seconds,) * 2)


def drafts(tmp_path):
    return {entry.name for entry in (tmp_path / "drafts").iterdir()}


def test_claim_of_a_living_process_is_not_taken(tmp_path, path):
    ours, other = claims(tmp_path), claims(tmp_path, "elsewhere.1.1")
    assert ours.take(path)
    assert not ours.take(path)
    assert not other.take(path)
    assert (ours.holds(path), other.holds(path)) == (True, False)
    assert (other.renew(path), other.give_back(path)) == (False, False)
    assert ours.give_back(path)
    assert not path.exists()
    assert other.take(path)
    assert drafts(tmp_path) == set()


@SHOWS_PROCESSES
def test_claim_of_a_dead_process_of_this_host_is_taken_at_once(tmp_path, path):
    late, other = claims(tmp_path, DEAD), claims(tmp_path)
    assert late.take(path)
    assert other.take(path)
    assert not late.renew(path)
    assert not late.give_back(path)
    assert other.holds(path)


def test_lease_decides_for_another_host_and_renewing_keeps_it(tmp_path, path):
    theirs, other = claims(tmp_path, "elsewhere.1.1", lease=10.0), claims(tmp_path, "distant.1.1", lease=999.0)
    assert theirs.take(path)
    age(path, 9.0)
    assert not other.take(path)
    aged = path.stat().st_mtime
    assert theirs.renew(path)
    assert path.stat().st_mtime > aged + 5.0
    age(path, 11.0)  # its own lease counts, not that of the one who asks
    assert other.take(path)
    assert not theirs.renew(path)
    assert read_claim(path).owner == "distant.1.1"


@pytest.mark.parametrize("skew", [-3600.0, 3600.0])
def test_clock_of_the_file_system_counts_and_not_that_of_the_host(tmp_path, path, monkeypatch, skew):
    theirs, other = claims(tmp_path, "elsewhere.1.1", lease=10.0), claims(tmp_path, "distant.1.1")
    now = time.time()
    assert theirs.take(path)
    monkeypatch.setattr(time, "time", lambda: now + skew)
    assert not other.take(path)
    os.utime(path, (now - 11.0,) * 2)
    assert other.take(path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"owner": 1, "lease": -5}', '{"lease": NaN}', "\xff"])
def test_damaged_claim_lapses_by_the_usual_lease(tmp_path, path, text):
    path.write_text(text, encoding="latin-1")
    assert read_claim(path).lease == LEASE_SECONDS
    assert not claims(tmp_path).take(path)  # its process may be about to write it
    age(path, LEASE_SECONDS + 5.0)
    assert claims(tmp_path).take(path)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_entry_that_is_no_file_lapses_too(tmp_path, path, make):
    make(path)
    age(path, LEASE_SECONDS + 5.0)
    assert claims(tmp_path).take(path)
    assert path.is_file()


def test_claim_from_the_future_does_not_last_for_ever(tmp_path, path):
    assert claims(tmp_path, "elsewhere.1.1").take(path)
    age(path, -1e6)
    assert claims(tmp_path).take(path)


def test_claim_that_was_replaced_while_we_looked_stays(tmp_path, path, monkeypatch):
    stale, fast, slow = (claims(tmp_path, f"{name}.1.1") for name in ("stale", "fast", "slow"))
    assert stale.take(path)
    age(path, 100.0)
    moved = os.rename

    def rename(source, target):
        monkeypatch.setattr(os, "rename", moved)
        assert fast.take(path)  # another process, between the look and the removal
        moved(source, target)

    monkeypatch.setattr(os, "rename", rename)
    assert not slow.take(path)
    assert fast.holds(path)
    assert fast.renew(path)
    assert drafts(tmp_path) == set()


def test_claim_that_cannot_be_written_leaves_nothing(tmp_path, path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bench_claims.json, "dumps", refuse)
    with pytest.raises(OSError, match="No space"):
        claims(tmp_path).take(path)
    assert not path.exists()


@SHOWS_PROCESSES
def test_process_that_ended_is_dead_and_a_zombie_too():
    program = "from uqassay.lab.bench.store import this_process\nprint(this_process())"
    source = Path(uq.__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    ) as child:
        owner = child.stdout.read().strip()
        deadline = time.monotonic() + 120  # it is not waited for yet
        while not has_ended(owner) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert has_ended(owner)
    host, pid, start = this_process().split(".")
    assert not has_ended(f"{host}.{pid}.{start}")
    assert has_ended(f"{host}.{pid}.{start}0")  # another process with the same PID
    assert not has_ended(f"{host}x.{pid}.{start}0")
    for malformed in ("", "nobody", "a.b.c", "v1.2.3.4", f"{host}.{'9' * 11}.1"):
        assert not has_ended(malformed)


def test_without_proc_the_lease_alone_decides(tmp_path, path, monkeypatch):
    monkeypatch.setattr(bench_claims, "_started", lambda pid: "")
    assert not has_ended(DEAD)
    late = claims(tmp_path, f"{HOST}.1.", lease=10.0)
    assert late.take(path)
    assert not claims(tmp_path).take(path)
    age(path, 11.0)
    assert claims(tmp_path).take(path)


@SHOWS_PROCESSES
def test_drafts_of_ended_processes_are_removed_and_those_of_others_stay(tmp_path):
    ours = claims(tmp_path)
    new, old = "elsewhere.1.0+0123abcd", "elsewhere.1.0+00000000"
    names = {f"{DEAD}+0123abcd": False, f"{ours.owner}+0123abcd": True, new: True, old: False}
    for name in names:
        (tmp_path / "drafts" / name).mkdir(parents=True)
        (tmp_path / "drafts" / name / "half").touch()
    os.utime(tmp_path / "drafts" / old, (0, 0))
    ours.clear_drafts()
    assert drafts(tmp_path) == {name for name, stays in names.items() if stays}


def test_drafts_folder_of_somebody_keeps_what_is_there(tmp_path):
    theirs = ["thesis", "v1.2.3", "v1.2.3.4+0123abcd", f"{DEAD}+1", f"{DEAD}+0123ABCD", DEAD, f"{DEAD}+0123abcde"]
    for name in theirs:
        (tmp_path / "drafts" / name).mkdir(parents=True)
        (tmp_path / "drafts" / name / "t.tex").write_text("mine")
        os.utime(tmp_path / "drafts" / name, (0, 0))
    (tmp_path / "drafts" / f"{DEAD}+00000000").write_text("a file")
    (tmp_path / "drafts" / f"{DEAD}+00000001").symlink_to(tmp_path / "drafts" / "thesis")
    claims(tmp_path).clear_drafts()
    assert drafts(tmp_path) == {*theirs, f"{DEAD}+00000000", f"{DEAD}+00000001"}
    assert all((tmp_path / "drafts" / name / "t.tex").read_text() == "mine" for name in theirs)
