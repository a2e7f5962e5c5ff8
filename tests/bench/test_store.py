"""The store: whole results or none, states that change once, and one sentence where the folder takes no more."""

import errno
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.bench.bench_work import DEAD, WORK, draw, state
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.bench import index as bench_index
from uqassay.bench import owner as bench_owner
from uqassay.bench.cell import Cell, CellResult
from uqassay.bench.files import write_text
from uqassay.bench.index import INDEX, FolderProblem
from uqassay.bench.runner import run_cells
from uqassay.bench.store import METADATA, PREDICTION, SCORES, Store
from uqassay.errors import InputError

# -- results ----------------------------------------------------------------------------------------------------------


def test_result_comes_back_as_it_was(done, cell):
    said, kept = draw(cell), done.result(cell.key)
    np.testing.assert_array_equal(kept.prediction.probs, said.prediction.probs)
    np.testing.assert_array_equal(kept.labels, said.labels)
    np.testing.assert_array_equal(kept.scores["density"], said.scores["density"])
    expected = (said.prediction.probs.mean(axis=1).argmax(axis=1) == said.labels).mean()
    assert kept.metadata["accuracy"] == pytest.approx(expected, abs=1e-12)
    assert Cell.from_json(json.dumps(kept.metadata["cell"])) == cell
    assert (kept.metadata["seconds"], kept.metadata["facts"]) == (1.5, {"device": "cpu"})
    assert kept.metadata["versions"]["numpy"] == np.__version__
    assert done.counts() == {"queued": 0, "running": 0, "done": 1, "failed": 0}
    assert list((done.folder / "drafts").iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_prediction_is_kept(store, cell, kind, random_generator):
    said = random_prediction(kind, random_generator)
    store.claim(cell.key)
    store.finish(cell, CellResult(said, np.zeros(said.n_instances, dtype=int)), seconds=0.0)
    kept = store.result(cell.key)
    assert type(kept.prediction) is type(said)
    for name in said.array_names():
        np.testing.assert_array_equal(getattr(kept.prediction, name), getattr(said, name))
    assert kept.scores == {}


def test_label_distributions_have_no_accuracy(store, cell):
    store.claim(cell.key)
    store.finish(cell, CellResult(uq.Point([[0.5, 0.5]]), np.array([[3, 1]])), seconds=0.0)
    assert store.result(cell.key).metadata["accuracy"] is None
    assert store.index.row(cell.key)["accuracy"] is None


def test_equal_results_are_equal_files(tmp_path, cell):
    hashes = []
    for name in ("a", "b"):
        store = Store(tmp_path / name)
        store.index.add([cell])
        store.claim(cell.key)
        store.finish(cell, draw(cell), seconds=time.perf_counter())
        hashes.append(store.index.row(cell.key)["hash"])
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (
            CellResult(uq.Point([[0.5, 0.5]]), np.array([0, 1])),
            "labels: must have one row for each of 1 predictions; got 2",
        ),
        (CellResult(uq.Point([[0.5, 0.5]]), np.array([0]), scores={"s": np.zeros(2)}), r"s: must be \(1,\)"),
        (CellResult(uq.Point([[0.5, 0.5]]), np.array([0]), facts={"x": object()}), "facts: must be made of text"),
    ],
)
def test_results_that_do_not_fit_are_refused_and_leave_nothing(store, cell, result, words):
    store.claim(cell.key)
    with pytest.raises(InputError, match=words):
        store.finish(cell, result, seconds=0.0)
    assert not store.place(cell.key).exists()
    assert list((store.folder / "drafts").iterdir()) == []
    assert state(store, cell) == "running"


# -- what counts as done ----------------------------------------------------------------------------------------------


def damage(store, cell, how):
    place = store.place(cell.key)
    if how == "folder gone":
        shutil.rmtree(place)
    elif how == "file gone":
        (place / SCORES).unlink()
    elif how == "metadata cut":
        text = (place / METADATA).read_text()
        (place / METADATA).write_text(text[: len(text) // 2])
    elif how == "one byte":
        data = bytearray((place / PREDICTION).read_bytes())
        data[len(data) // 2] ^= 1
        (place / PREDICTION).write_bytes(data)
    elif how == "of another cell":
        facts = json.loads((place / METADATA).read_text())
        (place / METADATA).write_text(json.dumps(facts | {"key": "0" * 64}))
    elif how == "no files":
        facts = json.loads((place / METADATA).read_text())
        (place / METADATA).write_text(json.dumps(facts | {"files": {}}))
    elif how == "no object":
        (place / METADATA).write_text("[]")


HOW = ["folder gone", "file gone", "metadata cut", "one byte", "of another cell", "no files", "no object"]


@pytest.mark.parametrize("how", HOW)
def test_damaged_results_do_not_count_and_are_replaced(done, cell, how):
    damage(done, cell, how)
    with refuses("key", "missing"):
        done.result(cell.key)
    done.recover()
    assert state(done, cell) == "queued"
    assert done.claim(cell.key)
    assert done.finish(cell, draw(cell), seconds=0.1)
    np.testing.assert_array_equal(done.result(cell.key).prediction.probs, draw(cell).prediction.probs)
    assert list((done.folder / "drafts").iterdir()) == []


def test_result_that_is_not_the_recorded_one_does_not_count(done, cell):
    with sqlite3.connect(done.folder / INDEX) as base:
        base.execute("UPDATE cells SET hash = 'x'")
    base.close()
    done.recover()
    assert state(done, cell) == "queued"


@pytest.mark.parametrize("left", ["queued", "running"])
def test_files_without_a_record_are_adopted(done, cell, left):
    with sqlite3.connect(done.folder / INDEX) as base:
        base.execute("UPDATE cells SET state = ?, owner = ?, lease = 1e12, hash = NULL, accuracy = NULL", (left, DEAD))
    base.close()
    done.recover()
    row = done.index.row(cell.key)
    assert (row["state"], row["owner"], row["attempt"]) == ("done", None, 1)
    assert row["hash"] == done.result(cell.key).metadata["hash"]
    assert row["accuracy"] == done.result(cell.key).metadata["accuracy"]


def test_index_that_is_lost_is_made_again_from_the_files(done, cell):
    for file in done.folder.glob(f"{INDEX}*"):
        file.unlink()
    again = Store(done.folder)
    again.index.add([cell])
    again.recover()
    assert state(again, cell) == "done"


def test_second_writer_of_a_cell_keeps_the_first_result(done, cell, tmp_path):
    before = (done.place(cell.key) / METADATA).read_text()
    assert not done.finish(cell, draw(cell), seconds=99.0)  # as a worker whose lease had ended
    assert (done.place(cell.key) / METADATA).read_text() == before
    assert list((done.folder / "drafts").iterdir()) == []


# -- owners and leases ------------------------------------------------------------------------------------------------


def test_cell_of_a_living_process_is_not_taken(store, cell):
    assert store.claim(cell.key)
    assert not Store(store.folder).claim(cell.key)
    store.recover()
    assert state(store, cell) == "running"


def test_cell_of_a_dead_process_is_taken_and_counted_once(store, cell):
    late = Store(store.folder)
    late.owner = DEAD
    assert late.claim(cell.key)
    assert store.claim(cell.key)
    assert not late.finish(cell, draw(cell), seconds=0.0)  # its files are there, but the cell is another's
    assert store.finish(cell, draw(cell), seconds=0.0)
    assert store.index.row(cell.key)["attempt"] == 2


def test_lease_that_ended_frees_the_cell_and_renewing_keeps_it(tmp_path, cell, monkeypatch):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    store = Store(tmp_path, lease_seconds=10.0)
    other = Store(tmp_path)
    other.owner = "elsewhere.0.1.0"  # on another host, so nothing but the lease is known
    store.owner = "elsewhere.0.2.0"
    store.index.add([cell])
    assert store.claim(cell.key)
    monkeypatch.setattr(time, "time", lambda: now + 9.0)
    assert not other.claim(cell.key)
    assert store.renew(cell.key)
    monkeypatch.setattr(time, "time", lambda: now + 18.0)
    assert not other.claim(cell.key)
    monkeypatch.setattr(time, "time", lambda: now + 20.0)
    assert other.claim(cell.key)
    assert not store.renew(cell.key)
    assert not store.fail(cell.key, "late")


def test_unknown_and_failed_cells_cannot_be_claimed(store, cell):
    assert not store.claim("0" * 64)
    store.claim(cell.key)
    assert store.fail(cell.key, "Traceback\nValueError: no")
    assert not store.claim(cell.key)
    store.recover()
    assert store.index.row(cell.key)["traceback"] == "Traceback\nValueError: no"


def test_released_cell_is_queued(store, cell):
    store.claim(cell.key)
    store.release(cell.key)
    assert state(store, cell) == "queued"
    store.release(cell.key)  # not ours any more: nothing happens
    assert state(store, cell) == "queued"


def test_drafts_of_ended_processes_are_removed_and_those_of_others_stay(store):
    new, old = "elsewhere.0.1.0+0123abcd", "elsewhere.0.1.0+00000000"
    names = {f"{DEAD}+0123abcd": False, f"{store.owner}+0123abcd": True, new: True, old: False}
    for name in names:
        (store.folder / "drafts" / name).mkdir()
        (store.folder / "drafts" / name / "half").touch()
    os.utime(store.folder / "drafts" / old, (0, 0))
    store.recover()
    assert {path.name for path in (store.folder / "drafts").iterdir()} == {
        name for name, stays in names.items() if stays
    }


def test_drafts_folder_of_somebody_keeps_what_is_there(tmp_path, cell):
    theirs = ["thesis", "v1.2.3.4", "v1.2.3.4+0123abcd", f"{DEAD}+1", f"{DEAD}+0123ABCD", DEAD, f"{DEAD}+0123abcde"]
    for name in theirs:
        (tmp_path / "drafts" / name).mkdir(parents=True)
        (tmp_path / "drafts" / name / "t.tex").write_text("mine")
        os.utime(tmp_path / "drafts" / name, (0, 0))
    (tmp_path / "drafts" / f"{DEAD}+00000000").write_text("a file")
    (tmp_path / "drafts" / f"{DEAD}+00000001").symlink_to(tmp_path / "drafts" / "thesis")
    store = Store(tmp_path)
    store.index.add([cell])
    store.recover()
    assert store.claim(cell.key)
    assert store.finish(cell, draw(cell), seconds=0.0)
    assert {path.name for path in (tmp_path / "drafts").iterdir()} == {
        *theirs, f"{DEAD}+00000000", f"{DEAD}+00000001"
    }  # fmt: skip
    assert all((tmp_path / "drafts" / name / "t.tex").read_text() == "mine" for name in theirs)


def test_process_that_ended_is_dead_and_a_zombie_too():
    program = "from uqassay.bench.owner import this_process\nprint(this_process())"
    path = Path(uq.__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(path)}
    ) as child:
        owner = child.stdout.read().strip()
        deadline = time.monotonic() + 10  # it is not waited for yet
        while not bench_owner.is_dead(owner) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert bench_owner.is_dead(owner)
    host, boot, pid, begin = bench_owner.this_process().split(".")
    assert not bench_owner.is_dead(f"{host}.{boot}.{pid}.{begin}")
    assert bench_owner.is_dead(f"{host}.{boot}.{pid}.{begin}0")  # its number was given out again
    assert bench_owner.is_dead(f"{host}.{boot[::-1]}x.{pid}.{begin}")  # the machine was started again


# -- what a folder refuses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "there is no space left for"), (errno.EDQUOT, "there is no space left for"),
        (errno.EROFS, "nothing may be written to"), (errno.EIO, r".* cannot be used \(Input/output error\)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", ["fsync", "rename"])
def test_write_that_fails_is_one_sentence_and_leaves_nothing(store, cell, monkeypatch, code, words, step):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    store.claim(cell.key)
    with monkeypatch.context() as patch:
        patch.setattr(f"os.{step}", refuse)
        with pytest.raises(FolderProblem, match=f"folder: {words}"):
            store.finish(cell, draw(cell), seconds=0.0)
    assert not store.place(cell.key).exists()
    assert list((store.folder / "drafts").iterdir()) == []
    assert state(store, cell) == "running"
    assert store.finish(cell, draw(cell), seconds=0.0)


def test_space_that_ends_while_a_prediction_is_written_is_one_sentence(store, cell, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store.claim(cell.key)
    monkeypatch.setattr("numpy.savez", refuse)
    with pytest.raises(FolderProblem, match="there is no space left for"):
        store.finish(cell, draw(cell), seconds=0.0)


def test_limit_on_the_size_of_files_is_one_sentence(store):
    program = f"""if True:
        import resource, sys
        from {WORK} import cells
        from uqassay.errors import InputError
        from uqassay.bench.runner import run_cells
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        try:
            run_cells(cells(2, 0.0), sys.argv[1], workers=0)
        except InputError as problem:
            print(problem)
    """
    path = os.pathsep.join([str(Path(uq.__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])])
    for folder in (store.folder, store.folder / "new"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("folder: ")
        assert done.stdout.count("\n") == 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000


def test_folder_that_cannot_be_one_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        for create in (True, False):
            with pytest.raises(FolderProblem, match="/file cannot be a folder, since a file is in its place"):
                Store(path, create=create, required=False)


def test_file_in_the_place_of_a_folder_of_cells_is_named(store, cell):
    store.claim(cell.key)
    store.place(cell.key).parent.touch()
    with pytest.raises(FolderProblem, match=rf"cells/{cell.key[:2]} cannot be a folder, since a file is in its place"):
        store.finish(cell, draw(cell), seconds=0.0)


def test_folder_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FolderProblem, match=r"nothing may be written to .*; check its permissions"):
        Store(tmp_path / "run")


def test_folder_without_a_benchmark_is_refused_where_one_is_read(tmp_path):
    with refuses("folder", "missing"):
        Store(tmp_path, create=False)
    assert list(tmp_path.iterdir()) == []


def test_database_of_something_else_is_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / INDEX) as base:
        base.execute("CREATE TABLE patients (name TEXT)")
    base.close()
    before = (tmp_path / INDEX).read_bytes()
    with pytest.raises(InputError, match="holds no benchmark; check the path"):
        Store(tmp_path, create=False)
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]
    assert (tmp_path / INDEX).read_bytes() == before


def test_text_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    write_text(tmp_path / "a.txt", "one")

    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(FolderProblem, match="there is no space left"):
        write_text(tmp_path / "a.txt", "two")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "one")]


# -- the index --------------------------------------------------------------------------------------------------------


def test_index_keeps_a_write_ahead_log(store):
    assert store.index.journal == "wal"
    base = sqlite3.connect(store.folder / INDEX)
    assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    base.close()


def test_network_file_systems_get_a_rollback_journal(tmp_path, cell, monkeypatch):
    monkeypatch.setattr(bench_index, "_file_system", lambda folder: "nfs4")
    store = Store(tmp_path)
    assert store.index.journal == "delete"
    store.index.add([cell])
    assert store.claim(cell.key)
    assert store.finish(cell, draw(cell), seconds=0.0)


def test_file_system_is_that_of_the_longest_mount_point(tmp_path, monkeypatch):
    lines = (
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
        "23 22 0:5 / /net/my\\040disk rw shared:2 - nfs4 server:/x rw\n"
        "24 22 0:6 / /net rw - tmpfs tmpfs rw\n"
    )
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: lines)
    for folder, kind in (("/net/my disk/run", "nfs4"), ("/net/mine", "tmpfs"), ("/network", "ext4"), ("/", "ext4")):
        assert bench_index._file_system(Path(folder)) == kind


def test_newer_index_is_refused(store):
    with sqlite3.connect(store.folder / INDEX) as base:
        base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(FolderProblem, match=r"written by a newer version of uqassay .*tables of version 99"):
        Store(store.folder)


def test_file_that_is_no_index_is_refused(tmp_path):
    (tmp_path / INDEX).write_text("this is no database at all, but it is long enough to look like one" * 10)
    with pytest.raises(FolderProblem, match=r"the index .* cannot be used \(file is not a database\); delete it where"):
        Store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]


def test_damaged_index_is_refused_and_without_it_the_cells_are_found(done, cell):
    data = (done.folder / INDEX).read_bytes()
    (done.folder / INDEX).write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))  # the schema is left
    with pytest.raises(FolderProblem, match=r"\(database disk image is malformed\); delete it .* recovers everything"):
        run_cells([cell], done.folder, workers=0)
    (done.folder / INDEX).unlink()
    assert run_cells([cell], done.folder, workers=0).n_kept == 1


def test_full_disk_under_the_index_is_one_sentence(store, cell, monkeypatch):
    def refuse(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(
        FolderProblem, match=r"cannot be used \(database or disk is full\); check space and permissions"
    ):
        store.claim(cell.key)


def test_claims_of_many_processes_at_once_give_each_cell_to_one(tmp_path):
    cells = [Cell(f"{WORK}:draw", dataset="toy", method="draw", seed=seed) for seed in range(30)]
    Store(tmp_path).index.add(cells)
    program = f"""if True:
        import sys
        from uqassay.bench.cell import Cell
        from uqassay.bench.store import Store
        cells = [Cell("{WORK}:draw", dataset="toy", method="draw", seed=seed) for seed in range(30)]
        store = Store(sys.argv[1])
        won = [c.seed for c in cells if store.claim(c.key)]
        print(won)
        sys.stdin.read()  # stays alive, so that nobody takes over
    """
    path = os.pathsep.join([str(Path(uq.__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])])
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    won = [json.loads(racer.stdout.readline()) for racer in racers]
    for racer in racers:
        racer.communicate("")
    assert sorted(seed for part in won for seed in part) == list(range(30))
