"""The store: states that follow from the files alone, whatever order they were written in and whoever is at work."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab.bench.bench_work import DEAD, WORK, claim_of, draw, files_of, found, state, write_claim

import uqassay as uq
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.report import read_status
from uqassay.lab.bench.runner import cost_estimate, run_cells
from uqassay.lab.bench.store import PREDICTION, Store


def another(seed):
    return Cell(f"{WORK}:draw", dataset="toy", method="draw", seed=seed)


# -- a cell's life ----------------------------------------------------------------------------------------------------


def test_cell_goes_from_queued_to_done(store, cell):
    assert state(store, cell) == "queued"
    assert store.claim(cell.key)
    assert not Store(store.folder).claim(cell.key)
    assert state(store, cell) == "running"
    assert store.renew(cell.key)
    assert store.finish(cell, draw(cell), seconds=2.0)
    one = found(store, cell)
    assert (one.state, one.seconds, one.dataset, one.method, one.seed) == ("done", 2.0, "toy", "draw", 3)
    assert not claim_of(store, cell).exists()
    assert not store.claim(cell.key)
    assert not store.renew(cell.key)
    assert not store.fail(cell.key, "late")


def test_failed_cell_keeps_its_traceback_until_it_is_tried_again(store, cell):
    store.claim(cell.key)
    assert store.fail(cell.key, "Traceback:\n  File a\nValueError: no\udcff")
    one = found(store, cell)
    assert (one.state, one.reason) == ("failed", "ValueError: no\\udcff")
    assert not store.claim(cell.key)
    store.recover([cell.key])
    assert state(store, cell) == "failed"
    store.retry(cell.key)
    assert state(store, cell) == "queued"
    assert store.claim(cell.key)
    assert store.finish(cell, draw(cell), seconds=0.0)
    assert state(store, cell) == "done"


@pytest.mark.parametrize("text", ["", " \n", "\udcff"])
def test_failure_without_a_readable_traceback_is_still_one(store, cell, text):
    store.place(cell.key).parent.mkdir()
    claim_of(store, cell).with_suffix(".failed").write_text(text, errors="surrogateescape")
    assert (state(store, cell), found(store, cell).reason) == ("failed", "No traceback was recorded.")


def test_released_cell_is_queued(store, cell):
    store.claim(cell.key)
    assert store.release(cell.key)
    assert state(store, cell) == "queued"
    assert not store.release(cell.key)
    write_claim(store, cell, owner="elsewhere.1.1")
    assert not store.release(cell.key)  # another process's
    assert state(store, cell) == "running"


def test_lapsed_lease_of_a_living_worker_costs_a_second_run_and_no_result(store, cell):
    late = Store(store.folder)
    late.claims.owner = "elsewhere.1.1"
    assert late.claim(cell.key)
    os.utime(claim_of(store, cell), (0, 0))
    assert store.claim(cell.key)
    assert late.finish(cell, draw(cell), seconds=1.0)  # both finish: the first result is kept and counted once
    assert state(store, cell) == "done"
    assert not store.finish(cell, draw(cell), seconds=2.0)
    assert found(Store(store.folder), cell).seconds == 1.0
    assert [path.name for path in store.place(cell.key).parent.iterdir()] == [cell.key]


def test_result_of_a_cell_that_another_process_gave_up_counts(store, cell):
    store.claim(cell.key)
    claim_of(store, cell).with_suffix(".failed").write_text("WorkerEnded: no")
    assert store.finish(cell, draw(cell), seconds=1.0)
    assert state(store, cell) == "done"
    assert not claim_of(store, cell).with_suffix(".failed").exists()


def test_result_with_a_claim_left_beside_it_is_done(done, cell):
    write_claim(done, cell)  # its process was killed between the two steps
    assert state(done, cell) == "done"
    assert not done.claim(cell.key)
    done.recover([cell.key])
    assert not claim_of(done, cell).exists()
    assert run_cells([cell], done.folder, workers=0).n_kept == 1


def test_result_that_came_between_the_look_and_the_claim_is_kept(done, cell, tmp_path, monkeypatch):
    elsewhere = tmp_path / "away"
    shutil.move(done.place(cell.key), elsewhere)
    taken = done.claims.take

    def take(path):
        shutil.move(elsewhere, done.place(cell.key))
        return taken(path)

    monkeypatch.setattr(type(done.claims), "take", lambda _, path: take(path))
    assert not done.claim(cell.key)
    assert not claim_of(done, cell).exists()
    assert state(done, cell) == "done"


@pytest.mark.parametrize(
    ("owner", "age", "expected"),
    [(DEAD, 0, "queued"), ("elsewhere.1.1", 0, "running"), ("elsewhere.1.1", 61, "queued"), ("garbage", 0, "running"),
     ("garbage", 61, "queued"), (None, 61, "queued"), ([1], 61, "queued")],
)  # fmt: skip
def test_claims_of_others_count_while_they_last(store, cell, owner, age, expected):
    write_claim(store, cell, owner=owner, age=age)
    assert state(store, cell) == expected
    assert read_status(store.folder).count(expected) == 1
    assert getattr(cost_estimate([cell], store.folder), expected) == 1
    if expected == "queued":
        assert run_cells([cell], store.folder, workers=0).n_ran == 1
        assert state(store, cell) == "done"


def test_claims_of_many_processes_at_once_give_each_cell_to_one(tmp_path):
    Store(tmp_path)
    program = f"""if True:
        import sys
        from uqassay.lab.bench.cell import Cell
        from uqassay.lab.bench.store import Store
        cells = [Cell("{WORK}:draw", dataset="toy", method="draw", seed=seed) for seed in range(30)]
        store = Store(sys.argv[1])
        won = [c.seed for c in cells if store.claim(c.key)]
        print(won)
        sys.stdin.read()  # stays alive, so that nobody takes over
    """
    path = os.pathsep.join([str(Path(uq.__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[3])])
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


# -- what a folder says -----------------------------------------------------------------------------------------------


def test_plans_name_the_cells_that_wait_and_are_written_once(tmp_path):
    store, some = Store(tmp_path), [another(seed) for seed in range(3)]
    store.add(some)
    store.add(some)
    store.add(some[:1])
    assert len(list((tmp_path / "plans").iterdir())) == 2
    assert {(one.key, one.dataset, one.seed) for one in store.states()} == {(c.key, "toy", c.seed) for c in some}
    assert store.counts() == {"queued": 3, "running": 0, "done": 0, "failed": 0}


def test_lost_or_damaged_plans_take_nothing_from_the_results(done, cell):
    (plan,) = (done.folder / "plans").iterdir()
    for text in (
        "",
        "[]",
        '{"schema": "uqassay.plan/1", "cells": 5}',
        '{"schema": "uqassay.plan/1", "cells": [5, {}]}',
    ):
        plan.write_text(text)
        (one,) = Store(done.folder, create=False).states()
        assert (one.key, one.state, one.dataset) == (cell.key, "done", "toy")
    shutil.rmtree(done.folder / "plans")
    shutil.rmtree(done.folder / "drafts")
    assert run_cells([cell], done.folder, workers=0).n_kept == 1


def test_entries_of_somebody_among_the_cells_are_left_alone(done, cell):
    theirs = ["notes.txt", "ab/readme", f"{cell.key[:2]}/{cell.key}.bak", f"zz/{cell.key}/x", f"{cell.key[:2]}/thesis"]
    for name in theirs:
        (done.folder / "cells" / name).parent.mkdir(parents=True, exist_ok=True)
        (done.folder / "cells" / name).write_text("mine")
    assert done.counts() == {"queued": 0, "running": 0, "done": 1, "failed": 0}
    done.recover([cell.key])
    assert all((done.folder / "cells" / name).read_text() == "mine" for name in theirs)


@pytest.mark.parametrize("spoil", ["claim", "failure", "byte", "none"])
def test_what_recovery_would_find_is_told_without_a_change(done, cell, spoil):
    other = another(4)
    if spoil == "claim":
        shutil.rmtree(done.place(cell.key))
        write_claim(done, cell)
    elif spoil == "failure":
        write_claim(done, other)
        claim_of(done, other).with_suffix(".failed").write_text("Traceback\nValueError: no")
    elif spoil == "byte":
        data = (done.place(cell.key) / PREDICTION).read_bytes()
        (done.place(cell.key) / PREDICTION).write_bytes(data[:-1] + b"x")
    (done.folder / "drafts" / f"{DEAD}+0123abcd").mkdir()
    before = files_of(done.folder)
    reader = Store(done.folder, create=False, required=False)
    told = [(one.state, one.seconds) for one in reader.states([cell.key, other.key], verify=True)]
    assert files_of(done.folder) == before
    assert (done.folder / "drafts" / f"{DEAD}+0123abcd").is_dir()
    again = Store(done.folder)
    again.recover([cell.key, other.key])
    assert [one.state for one in again.states([cell.key, other.key])] == [one for one, _ in told]
    assert told[0] == (("done", 1.5) if spoil in ("failure", "none") else ("queued", None))
    assert told[1] == ("failed" if spoil == "failure" else "queued", None)


def test_folder_that_may_only_be_read_is_read(done, cell, monkeypatch):
    other = another(4)
    done.add([cell, other])
    write_claim(done, other, owner="elsewhere.1.1")
    before = files_of(done.folder)
    os.chmod(done.folder / "cells" / cell.key[:2], 0o555)
    try:
        monkeypatch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("a reader makes nothing"))
        monkeypatch.setattr(os, "rename", lambda *_, **__: pytest.fail("a reader moves nothing"))
        status = read_status(done.folder)
        assert (status.count("done"), status.count("running")) == (1, 1)
        assert cost_estimate([cell], done.folder).done == 1
        assert Store(done.folder, create=False).result(cell.key).prediction.n_instances == 20
    finally:
        os.chmod(done.folder / "cells" / cell.key[:2], 0o755)
    assert files_of(done.folder) == before


def test_states_of_many_cells_take_one_listing_for_each_folder_of_cells(done, cell, monkeypatch):
    place = done.place(cell.key)
    keys = [f"{i % 256:02x}{i:062x}" for i in range(3000)]
    for key in keys:
        done.place(key).parent.mkdir(exist_ok=True)
        done.place(key).with_name(f"{key}.failed").write_text("Traceback\nValueError: no")
    listed, listdir = [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: (listed.append(path), listdir(path))[1])
    assert Store(done.folder, create=False).counts()["failed"] == 3000
    assert len(listed) <= 258
    listed.clear()
    assert done.states([cell.key])[0].state == "done"
    assert listed == [place.parent]
