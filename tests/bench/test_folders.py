"""Whose a folder is, what it would be after a recovery, and rows that somebody else has changed."""

import json
import os
import sqlite3

import pytest
from tests.bench.bench_work import DEAD, WORK, state

from uqassay.bench import index as bench_index
from uqassay.bench.cell import Cell
from uqassay.bench.files import holds_benchmark
from uqassay.bench.index import INDEX, FolderProblem
from uqassay.bench.runner import cost_estimate, run_cells
from uqassay.bench.status import read_status
from uqassay.bench.store import METADATA, Store


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE notes (a)", "CREATE TABLE cells (a)", "CREATE TABLE cells (a); PRAGMA user_version = 1",
        "CREATE TABLE notes (a); PRAGMA user_version = 99", "PRAGMA journal_mode = wal; CREATE TABLE notes (a)",
        "PRAGMA user_version = 7",
    ],
)  # fmt: skip
def test_foreign_database_is_refused_and_nothing_is_touched(tmp_path, cell, statements):
    base = sqlite3.connect(tmp_path / INDEX)
    base.executescript(statements)
    base.close()
    before = (tmp_path / INDEX).read_bytes()
    for attempt in (
        lambda: Store(tmp_path), lambda: Store(tmp_path, create=False), lambda: holds_benchmark(tmp_path),
        lambda: Store(tmp_path, create=False, required=False), lambda: run_cells([cell], tmp_path, workers=0),
        lambda: cost_estimate([cell], tmp_path),
    ):  # fmt: skip
        with pytest.raises(FolderProblem, match=r"index\.sqlite was not written by uqassay, so .* holds no benchmark"):
            attempt()
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]
    assert (tmp_path / INDEX).read_bytes() == before


def test_foreign_database_that_is_written_meanwhile_is_refused(tmp_path):
    base = sqlite3.connect(tmp_path / INDEX)
    base.executescript("PRAGMA journal_mode = wal; CREATE TABLE notes (a)")  # in the log alone
    with pytest.raises(FolderProblem, match="was not written by uqassay"):
        Store(tmp_path)
    assert base.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    assert base.execute("PRAGMA user_version").fetchone() == (0,)
    assert not (tmp_path / "cells").exists()
    base.close()


def test_table_made_by_somebody_at_the_last_moment_is_refused(tmp_path, monkeypatch):
    base = sqlite3.connect(tmp_path / INDEX)
    base.executescript("CREATE TABLE notes (a)")
    base.close()
    monkeypatch.setattr(bench_index, "tables_version", lambda folder: 0)
    before = (tmp_path / INDEX).read_bytes()
    with pytest.raises(FolderProblem, match="was not written by uqassay"):
        bench_index.Index(tmp_path)
    assert (tmp_path / INDEX).read_bytes() == before


def test_folder_in_the_place_of_the_index_is_refused(tmp_path):
    (tmp_path / INDEX).mkdir()
    with pytest.raises(FolderProblem, match="was not written by uqassay"):
        Store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]


def test_empty_file_becomes_an_index(tmp_path, cell):
    (tmp_path / INDEX).touch()
    store = Store(tmp_path)
    store.index.add([cell])
    assert (state(store, cell), store.index.journal) == ("queued", "wal")


# -- whose folder it is -----------------------------------------------------------------------------------------------


def test_proof_of_a_benchmark_is_its_index_or_its_cells(done, cell, tmp_path):
    assert not holds_benchmark(tmp_path / "none")
    assert holds_benchmark(done.folder)
    for file in done.folder.glob(f"{INDEX}*"):
        file.unlink()
    assert holds_benchmark(done.folder)
    facts = json.loads((done.place(cell.key) / METADATA).read_text())
    for change in ({"schema": "other/1"}, {"key": "0" * 64}):
        (done.place(cell.key) / METADATA).write_text(json.dumps(facts | change))
        assert not holds_benchmark(done.folder)
    for text in ("[]", "{", '"x"'):
        (done.place(cell.key) / METADATA).write_text(text)
        assert not holds_benchmark(done.folder)
    moved = done.folder / "cells" / "zz" / cell.key  # in the wrong place
    (done.place(cell.key) / METADATA).write_text(json.dumps(facts))
    moved.parent.mkdir()
    done.place(cell.key).rename(moved)
    assert not holds_benchmark(done.folder)


def test_folder_with_cells_of_its_own_is_no_benchmark(tmp_path):
    (tmp_path / "cells" / "ab" / ("ab" + "0" * 62)).mkdir(parents=True)
    assert not holds_benchmark(tmp_path)


def test_what_recovery_would_find_is_told_without_a_change(done, cell):
    other = Cell(f"{WORK}:draw", dataset="toy", method="draw", seed=4)
    for change in ("state = 'queued'", "state = 'running', owner = 'garbage'", "state = 'done', hash = 'x'", None):
        if change is None:
            (done.folder / INDEX).unlink()
        else:
            with sqlite3.connect(done.folder / INDEX) as base:
                base.execute(f"UPDATE cells SET {change}")
            base.close()
        (done.folder / "drafts" / f"{DEAD}+0123abcd").mkdir(exist_ok=True)
        before = {path: path.read_bytes() for path in done.folder.rglob("*") if path.is_file()}
        reader = Store(done.folder, create=False, required=False)
        told = [(row["state"], row["seconds"]) for row in reader.foreseen([cell, other])]
        assert {path: path.read_bytes() for path in done.folder.rglob("*") if path.is_file()} == before
        assert (done.folder / "drafts" / f"{DEAD}+0123abcd").is_dir()
        again = Store(done.folder)
        again.index.add([cell, other])
        again.recover()
        assert [row["state"] for row in again.index.rows([cell.key, other.key])] == [one for one, _ in told]
        assert told[1] == ("queued", None)


@pytest.mark.parametrize("owner", ["garbage", None, "a.b.c", "v1.2.3.4", b"\xff", "h.0.99999999999.1"])
@pytest.mark.parametrize("lease", [1e12, None, "abc"])
def test_running_cell_of_no_process_is_to_do(store, cell, owner, lease):
    store.claim(cell.key)
    with sqlite3.connect(store.folder / INDEX) as base:
        base.execute("UPDATE cells SET owner = ?, lease = ?", (owner, lease))
    base.close()
    assert read_status(store.folder).count("queued") == 1
    assert cost_estimate([cell], store.folder).queued == 1
    assert run_cells([cell], store.folder, workers=0).n_ran == 1
    assert state(store, cell) == "done"


def test_rows_that_somebody_changed_are_read_without_what_is_no_number(done, cell):
    with sqlite3.connect(done.folder / INDEX) as base:
        base.execute("UPDATE cells SET seconds = 'abc', accuracy = 'x', attempt = 'y', dataset = x'00'")
    base.close()
    (row,) = read_status(done.folder).rows
    assert (row.done, row.accuracy, row.seconds) == (1, None, None)
    assert cost_estimate([cell], done.folder).done == 1
    assert run_cells([cell], done.folder, workers=0).n_kept == 1
    with sqlite3.connect(done.folder / INDEX) as base:
        base.execute("UPDATE cells SET state = 'failed', traceback = NULL")
    base.close()
    assert "Failed: b'\\x00', draw, seed 3: No traceback was recorded." in read_status(done.folder).sentences()
    assert list(run_cells([cell], done.folder, workers=0).failed.values()) == ["No traceback was recorded."]


@pytest.mark.parametrize("change", [{"seconds": "abc"}, {"accuracy": "x"}, {"seconds": None}])
def test_metadata_with_no_number_do_not_count(done, cell, change):
    facts = json.loads((done.place(cell.key) / METADATA).read_text())
    (done.place(cell.key) / METADATA).write_text(json.dumps(facts | change))
    done.recover()
    assert state(done, cell) == "queued"


@pytest.mark.parametrize("logged", [False, True])
def test_status_reads_a_folder_that_may_not_be_written(done, monkeypatch, logged):
    keeper = sqlite3.connect(done.folder / INDEX) if logged else None
    if keeper is not None:  # a process at work, whose changes are in the log
        keeper.execute("UPDATE cells SET attempt = 7")
        keeper.commit()
    before = {path.name for path in done.folder.iterdir()}
    connected, asked = sqlite3.connect, []

    def connect(place, **options):
        asked.append(place.rpartition("?")[2])
        return connected(place, **options)

    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(sqlite3, "connect", connect)
    found = read_status(done.folder)
    assert (found.count("done"), found.journal) == (1, "wal")
    assert Store(done.folder, create=False).index.rows()[0]["attempt"] == (7 if logged else 1)
    assert set(asked) == ({"mode=ro"} if logged else {"immutable=1"})
    assert {path.name for path in done.folder.iterdir()} == before
    if keeper is not None:
        keeper.close()
